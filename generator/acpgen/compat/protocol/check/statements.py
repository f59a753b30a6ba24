"""A change at a place becomes findings: judged, shown by a message or proven harmless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from acpgen import ir
from acpgen.compat.changes import Change, FieldChange, FormatChange
from acpgen.compat.diff.pairs import PlacedChange
from acpgen.compat.findings import Answer, Revision, Witness, opposite
from acpgen.compat.protocol.check.declaring import cause_of, places_of
from acpgen.compat.protocol.check.evidence import Evidence
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.located import location_of
from acpgen.compat.protocol.check.routes import DIRECTIONS, Joined
from acpgen.compat.protocol.check.rulings import Rulings, breaks_of
from acpgen.compat.protocol.declared import schema_of
from acpgen.compat.rules import Judgement, judge
from acpgen.meaning import texts
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
        rule, judgement = judge(found.change)
        said = judgement.message
        shown = self._shown(judgement, found, joined)
        if found.free and (shown is None or shown[1] is None or shown[1].refused_by is None):
            judgement = _only_read(judgement, found.change)
            shown = self._shown(judgement, found, joined)
        if judgement.weight == "taken" and (shown is None or shown[1] is None):
            assert isinstance(found.change, FieldChange)
            return self.told(replace(given, change=replace(found.change, harmless=True)), joined)
        if shown is None:
            return None
        judgement, witness = shown
        location = location_of(joined.new[0], found.steps)
        told = self.rulings.judged(
            rule,
            judgement,
            joined,
            replace(found.change, **places_of(self.on, found)),
            joined.method,
            location,
            witness,
            cause=cause_of(self.on, found, joined, location, judgement.within, said),
        )
        if isinstance(found.change, FormatChange) and found.change.doubtful:
            told = replace(told, doubtful=tuple(dict.fromkeys((*told.doubtful, *found.change.doubtful))))
        return self._both_ways(told, judgement, found, joined)

    def _shown(
        self, judgement: Judgement, found: PlacedChange, joined: Joined
    ) -> tuple[Judgement, Witness | None] | None:
        """The judgement as messages bear it out, with one that does; `None` where it is proven that there is none."""
        sender = judgement.accepted_by or judgement.carried_by
        if sender is None:
            return judgement, None
        answer: Answer = "yes"
        culprit = self.evidence.culprit(found, joined, sender)
        if culprit is None and judgement.accepted_by is not None:
            return judgement, None
        if culprit is not None:
            if any(step.kind == "field" and step.was is not None for step in found.steps):
                witness = self.evidence.loss(culprit, joined, sender)  # under the sender's name nobody reads it
            else:
                answer, witness = self.evidence.refusal(culprit, found, joined, sender)
            if witness is not None:
                return judgement, witness
        if self.evidence.is_kept(judgement, found, joined):
            return None
        if culprit is not None and judgement.accepted_by is not None:
            if found.change.kind == "alternative" and answer == "yes":
                return self.evidence.overlooked(judgement, found, joined, sender)
            is_within = judgement.weight != "taken" and any(step.kind == "variant" for step in found.steps)
            mistaken = self.evidence.mistaken(judgement, culprit, joined, sender) if is_within else None
            if mistaken is not None:
                return mistaken
        if judgement.carried_by is not None:
            gone = self.evidence.culprit(found, joined, sender, is_lost=True)
            return judgement, None if gone is None else self.evidence.loss(gone, joined, sender)
        return None if answer == "yes" else (judgement, None)

    def _example(self, change: FieldChange) -> FieldChange | None:
        """The change with a name that its pattern matches and the other revision does not declare; `None` where there is none."""
        names, patterns = change.others
        ours: Schema = {
            "type": "string",
            **({"pattern": change.pattern} if change.pattern else {"const": change.one.name}),
        }
        theirs: Schema = {"anyOf": [{"enum": list(names)}, *({"pattern": each} for each in patterns)]}
        by_old = change.new is None
        relation = self.on.acceptance.between(
            *((ours, theirs) if by_old else (theirs, ours)), "old" if by_old else "new"
        )
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
            likely = [text for each in strings for text in texts.of_format(each.format)]
            taken: Schema = {"anyOf": [schema_of(each) for each in _formats_alone(others)]}
            sent: Schema = {"anyOf": [schema_of(each) for each in strings]}
            relation = self.on.acceptance.asked({"allOf": [sent, {"enum": likely}]}, taken, sender)
            if not likely or relation.witness is None:
                relation = self.on.acceptance.asked(sent, taken, sender)
            if relation.witness is not None and isinstance(relation.witness.value, str):
                refused.append((sender, relation.witness.value))
            elif relation.verdict.value != "yes":
                doubtful[receiver] = relation.reason
        doubt = next(iter(doubtful.values()), "")
        return replace(change, refused=tuple(refused), doubtful=tuple(doubtful), detail=doubt)

    def _both_ways(self, told: Judged, judgement: Judgement, found: PlacedChange, joined: Joined) -> Judged:
        """The finding with the refusal that the change brings the other way round, where there is one."""
        if told.sender is None or found.free:
            return told
        sender = opposite(told.sender)
        culprit = self.evidence.culprit(found, joined, sender)
        if culprit is None or self.evidence.refusal(culprit, found, joined, sender)[1] is None:
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
        return replace(judgement, weight="lost", accepted_by=None, carried_by="old")
    if change.what == "field-changed":
        return replace(judgement, accepted_by=None)
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


def _formats_alone(strings: Sequence[ir.String]) -> Sequence[ir.String]:
    """What a receiver takes for its format. One that has a single one is asked about that alone: its limits are told elsewhere."""
    return [replace(ir.String(), format=each.format) for each in strings] if len(strings) == 1 else strings
