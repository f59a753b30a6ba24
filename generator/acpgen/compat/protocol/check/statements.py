"""A change at a place becomes findings: judged, shown by a message or proven harmless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from acpgen import ir
from acpgen.compat.changes import Change, FieldChange, FormatChange
from acpgen.compat.diff.pairs import PlacedChange
from acpgen.compat.findings import Revision, opposite
from acpgen.compat.protocol.candidates import having
from acpgen.compat.protocol.check.declaring import cause_of, places_of
from acpgen.compat.protocol.check.evidence import Evidence
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.located import location_of
from acpgen.compat.protocol.check.routes import DIRECTIONS, Joined
from acpgen.compat.protocol.check.rulings import Rulings, breaks_of
from acpgen.compat.protocol.declared import schema_of
from acpgen.compat.rules import Judgement, judge
from acpgen.schema.walk import Schema
from schema_inclusion import FORMATS


class Statements:
    """Makes the findings of changes at places."""

    def __init__(self, on: Inquiry, rulings: Rulings) -> None:
        self.on = on
        self.rulings = rulings
        self.evidence = Evidence(on)

    def each_told(self, found: PlacedChange, joined: Joined) -> Iterator[Judged]:
        """The findings of a change: one, but where a change goes both ways and only one direction is refused, one for each direction."""
        whole = self.told(found, joined)
        parts = found.change.parts
        if len(parts) < 2 or found.free or (whole is not None and len(whole.refuses) == len(parts)):
            parts = ()
            if whole is not None:
                yield whole
        for part in parts:
            told = self.told(replace(found, change=part), joined)
            if told is not None:
                yield told

    def told(self, given: PlacedChange, joined: Joined) -> Judged | None:
        """The finding of a change; `None` where it is proven that nothing is refused after all."""
        found = replace(given, change=self._asserted(given.change)) if self.on.formats and not given.free else given
        if isinstance(found.change, FieldChange) and found.change.by:
            example = self._example(found.change)
            if example is None:
                return None
            found = replace(found, change=example)
        if _is_alone(found.change) and (found.free or _is_mark(found.change, joined)):
            found = replace(found, change=replace(found.change, harmless=True))
        if self.evidence.is_implied(found):
            return None
        rule, judgement = judge(found.change)
        said = judgement.message
        if found.free:
            judgement = _only_read(judgement, found.change)
        location = location_of(joined.new[0], found.steps)
        witness = self.evidence.refusal(judgement, found.steps, joined) or self.evidence.counterexample(
            judgement, found, joined
        )
        if witness is None and judgement.weight == "taken" and _is_alone(found.change):
            return self.told(replace(given, change=replace(found.change, harmless=True)), joined)
        if witness is None and judgement.accepted_by is not None and judgement.leaf is not None:
            witness = self.on.court.loss_by_name(joined.sides, found.steps, judgement.accepted_by, judgement.leaf)
        if witness is None and self.evidence.is_kept(judgement, found, joined):
            return None
        if witness is None and self.evidence.is_harmless(judgement, found, joined):
            overlooked = self.evidence.overlooked(judgement, found, joined)
            if overlooked is None:
                return None
            judgement, witness = overlooked
        elif witness is None and (mistaken := self.evidence.mistaken(judgement, found, joined)) is not None:
            judgement, witness = mistaken
        elif witness is None and judgement.carried_by is None:
            there = self.evidence.there(judgement, found, joined)
            if there == "none":
                return None
            witness = there
        elif witness is None and judgement.carried_by is not None and judgement.leaf is not None:
            lost = (joined.sides, found.steps, judgement.carried_by)
            for leaf in (judgement.leaf, self.evidence.lacking(found, judgement.carried_by)):
                if witness is None and leaf is not None:
                    witness = self.on.court.refusal(*lost, leaf) or self.on.court.loss(*lost, leaf)
        told = self.rulings.judged(
            rule,
            judgement,
            joined,
            replace(found.change, **places_of(self.on, found)),
            joined.method,
            location,
            witness,
            proven=witness is not None,
            cause=cause_of(self.on, found, joined, location, judgement.within, said),
        )
        if isinstance(found.change, FormatChange) and found.change.doubtful:
            told = replace(told, doubtful=tuple(dict.fromkeys((*told.doubtful, *found.change.doubtful))))
        return self._both_ways(told, judgement, found, joined)

    def _example(self, change: FieldChange) -> FieldChange | None:
        """The change with a name that its pattern matches and the other revision does not declare; `None` where there is none."""
        names, patterns = change.others
        ours: Schema = {
            "type": "string",
            **({"pattern": change.pattern} if change.pattern else {"const": change.one.name}),
        }
        theirs: Schema = {"anyOf": [{"enum": list(names)}, *({"pattern": each} for each in patterns)]}
        by_old = change.new is None
        relation = self.on.doubts.between(*((ours, theirs) if by_old else (theirs, ours)), "old" if by_old else "new")
        if relation.verdict.value == "yes":
            return None
        name = relation.witness.value if relation.witness is not None else change.one.name
        example = replace(change.one, name=str(name))
        return replace(change, old=example) if by_old else replace(change, new=example)

    def _asserted(self, change: Change) -> Change:
        """A changed format with what it refuses, as far as that is known."""
        if not isinstance(change, FormatChange) or change.keyword != "format":
            return change
        unknown = sorted({each.format for strings in change.within for each in strings if each.format} - FORMATS.keys())
        if unknown or not all(change.within):
            name = unknown[0] if unknown else change.new or change.old
            return replace(change, doubtful=("new", "old"), detail=f"what the format {name!r} refuses is not known")
        refused: list[tuple[Revision, str]] = []
        doubtful: dict[Revision, str] = {}
        for (sender, receiver), (strings, others) in zip(DIRECTIONS, (change.within, change.within[::-1]), strict=True):
            relation = self.on.doubts.between(*_of_formats(sender, strings, others), sender)
            if relation.witness is not None and isinstance(relation.witness.value, str):
                refused.append((sender, relation.witness.value))
            elif relation.verdict.value != "yes":
                doubtful[receiver] = relation.reason
        doubt = next(iter(doubtful.values()), "")
        return replace(change, refused=tuple(refused), doubtful=tuple(doubtful), detail=doubt)

    def _both_ways(self, told: Judged, judgement: Judgement, found: PlacedChange, joined: Joined) -> Judged:
        """The finding with the refusal that the change brings the other way round, where there is one."""
        if judgement.back is None or told.sender is None:
            return told
        sender = opposite(told.sender)
        if self.on.court.refusal(joined.sides, found.steps, sender, judgement.back) is None:
            return told
        breaks = dict.fromkeys(
            (told.breaks, breaks_of(replace(judgement, accepted_by=sender, carried_by=None), joined))
        )
        return replace(told, refuses=(*told.refuses, told.sender), breaks="; ".join(filter(None, breaks)))


def _is_alone(change: Change) -> TypeGuard[FieldChange]:
    """Whether it is a field that one revision alone has."""
    return change.what in ("field-added", "field-removed")


def _is_mark(change: FieldChange, joined: Joined) -> bool:
    """Whether the field is one of what peers advertise."""
    return joined.advertises and not change.one.name.startswith("_")


def _only_read(judgement: Judgement, change: Change) -> Judgement:
    """The judgement where everything is accepted: what would be refused is read as something of no known form."""
    if judgement.accepted_by is None:
        return judgement
    if change.what == "field-removed":
        return replace(judgement, weight="lost", accepted_by=None, carried_by="old", leaf=having(change.one.name))
    if change.what == "field-changed":
        return replace(judgement, accepted_by=None, back=None)
    if judgement.accepted_by == "old":
        return replace(
            judgement,
            weight="lost",
            message=f"{judgement.message} Any value is accepted here, so new peers do not recognise it.",
            accepted_by=None,
            carried_by="old",
        )
    if change.kind in ("alternative", "type") or change.what in ("value-added", "variant-added"):
        return replace(judgement, weight="claimed", accepted_by=None, carried_by=None)
    return replace(
        judgement,
        weight="otherwise",
        message=f"{judgement.message} Any value is accepted here, so old peers do not recognise it.",
        accepted_by=None,
        carried_by="new",
    )


def _of_formats(sender: Revision, strings: Sequence[ir.String], others: Sequence[ir.String]) -> tuple[Schema, Schema]:
    """The question which strings of a sender the receiver refuses for its format, as the schemas of the old side and the new one.

    A receiver with one format is asked about that alone: its limits are told elsewhere.
    """
    formats = [replace(ir.String(), format=each.format) for each in others] if len(others) == 1 else others
    sent, taken = ({"anyOf": [schema_of(each) for each in side]} for side in (strings, formats))
    return (sent, taken) if sender == "old" else (taken, sent)
