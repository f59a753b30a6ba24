"""A fact at a place becomes findings: judged, shown by a message or proven harmless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from acpgen import ir
from acpgen.compat.diff.pairs import PlacedFact
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
from acpgen.compat.protocol.facts import (
    AlternativeChanged,
    Fact,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    FormatChanged,
    KindChanged,
    LimitChanged,
    ValueAdded,
    VariantAdded,
)
from acpgen.compat.protocol.rules.judgement import Judgement
from acpgen.compat.protocol.rules.rulebook import judge
from acpgen.schema.walk import Schema
from schema_inclusion import FORMATS


class Statements:
    """Makes the findings of facts at places."""

    def __init__(self, on: Inquiry, rulings: Rulings) -> None:
        self.on = on
        self.rulings = rulings
        self.evidence = Evidence(on)

    def each_told(self, found: PlacedFact, joined: Joined) -> Iterator[Judged]:
        """The findings of a fact: one, but where a change goes both ways and only one direction is refused, one for each direction."""
        whole = self.told(found, joined)
        parts = found.fact.parts if isinstance(found.fact, KindChanged | LimitChanged) else ()
        if len(parts) < 2 or found.free or (whole is not None and len(whole.refuses) == len(parts)):
            parts = ()
            if whole is not None:
                yield whole
        for part in parts:
            told = self.told(replace(found, fact=part), joined)
            if told is not None:
                yield told

    def told(self, given: PlacedFact, joined: Joined) -> Judged | None:
        """The finding of a fact; `None` where it is proven that nothing is refused after all."""
        found = replace(given, fact=self._asserted(given.fact)) if self.on.formats and not given.free else given
        if isinstance(found.fact, FieldAdded | FieldRemoved) and found.fact.by:
            example = self._example(found.fact)
            if example is None:
                return None
            found = replace(found, fact=example)
        if isinstance(found.fact, FieldAdded | FieldRemoved) and (found.free or _is_mark(found.fact, joined)):
            found = replace(found, fact=replace(found.fact, harmless=True))
        if self.evidence.is_implied(found):
            return None
        rule, judgement = judge(found.fact)
        said = judgement.message
        if found.free:
            judgement = _only_read(judgement, found.fact)
        location = location_of(joined.new[0], found.steps)
        witness = self.evidence.refusal(judgement, found.steps, joined) or self.evidence.counterexample(
            judgement, found, joined
        )
        if witness is None and judgement.weight == "taken" and isinstance(found.fact, FieldAdded | FieldRemoved):
            return self.told(replace(given, fact=replace(found.fact, harmless=True)), joined)
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
            replace(found.fact, **places_of(self.on, found)),
            joined.method,
            location,
            witness,
            proven=witness is not None,
            cause=cause_of(self.on, found, joined, location, judgement.within, said),
        )
        if isinstance(found.fact, FormatChanged) and found.fact.doubtful:
            told = replace(told, doubtful=tuple(dict.fromkeys((*told.doubtful, *found.fact.doubtful))))
        return self._both_ways(told, judgement, found, joined)

    def _example(self, fact: FieldAdded | FieldRemoved) -> FieldAdded | FieldRemoved | None:
        """The fact with a name that its pattern matches and the other revision does not declare; `None` where there is none."""
        names, patterns = fact.others
        ours: Schema = {"type": "string", **({"pattern": fact.pattern} if fact.pattern else {"const": fact.field.name})}
        theirs: Schema = {"anyOf": [{"enum": list(names)}, *({"pattern": each} for each in patterns)]}
        by_old = isinstance(fact, FieldRemoved)
        relation = self.on.doubts.between(*((ours, theirs) if by_old else (theirs, ours)), "old" if by_old else "new")
        if relation.verdict.value == "yes":
            return None
        name = relation.witness.value if relation.witness is not None else fact.field.name
        return replace(fact, field=replace(fact.field, name=str(name)))

    def _asserted(self, fact: Fact) -> Fact:
        """A changed format with what it refuses, as far as that is known."""
        if not isinstance(fact, FormatChanged) or fact.keyword != "format":
            return fact
        unknown = sorted({each.format for strings in fact.strings for each in strings if each.format} - FORMATS.keys())
        if unknown or not all(fact.strings):
            name = unknown[0] if unknown else fact.new or fact.old
            return replace(fact, doubtful=("new", "old"), doubt=f"what the format {name!r} refuses is not known")
        refused: list[tuple[Revision, str]] = []
        doubtful: dict[Revision, str] = {}
        for (sender, receiver), (strings, others) in zip(DIRECTIONS, (fact.strings, fact.strings[::-1]), strict=True):
            relation = self.on.doubts.between(*_of_formats(sender, strings, others), sender)
            if relation.witness is not None and isinstance(relation.witness.value, str):
                refused.append((sender, relation.witness.value))
            elif relation.verdict.value != "yes":
                doubtful[receiver] = relation.reason
        doubt = next(iter(doubtful.values()), "")
        return replace(fact, refused=tuple(refused), doubtful=tuple(doubtful), doubt=doubt)

    def _both_ways(self, told: Judged, judgement: Judgement, found: PlacedFact, joined: Joined) -> Judged:
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


def _is_mark(fact: FieldAdded | FieldRemoved, joined: Joined) -> bool:
    """Whether the field is one of what peers advertise."""
    return joined.advertises and not fact.field.name.startswith("_")


def _only_read(judgement: Judgement, fact: Fact) -> Judgement:
    """The judgement where everything is accepted: what would be refused is read as something of no known form."""
    if judgement.accepted_by is None:
        return judgement
    if isinstance(fact, FieldRemoved):
        return replace(judgement, weight="lost", accepted_by=None, carried_by="old", leaf=having(fact.field.name))
    if isinstance(fact, FieldRenamed):
        return replace(judgement, accepted_by=None, back=None)
    if judgement.accepted_by == "old":
        return replace(
            judgement,
            weight="lost",
            message=f"{judgement.message} Any value is accepted here, so new peers do not recognise it.",
            accepted_by=None,
            carried_by="old",
        )
    if isinstance(fact, AlternativeChanged | KindChanged | ValueAdded | VariantAdded):
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
