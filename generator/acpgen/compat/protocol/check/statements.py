"""A fact at a place becomes findings: judged, shown by a message or proven harmless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from acpgen import ir
from acpgen.compat.diff.pairs import PlacedFact
from acpgen.compat.findings import Answer, Revision, Witness, opposite
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
from acpgen.meaning import texts
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
        rule, judgement = judge(found.fact)
        said = judgement.message
        shown = self._shown(judgement, found, joined)
        if found.free and (shown is None or shown[1] is None or shown[1].refused_by is None):
            judgement = _only_read(judgement, found.fact)
            shown = self._shown(judgement, found, joined)
        if judgement.weight == "taken" and (shown is None or shown[1] is None):
            assert isinstance(found.fact, FieldAdded | FieldRemoved)
            return self.told(replace(given, fact=replace(found.fact, harmless=True)), joined)
        if shown is None:
            return None
        judgement, witness = shown
        location = location_of(joined.new[0], found.steps)
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

    def _shown(
        self, judgement: Judgement, found: PlacedFact, joined: Joined
    ) -> tuple[Judgement, Witness | None] | None:
        """The judgement as messages bear it out, with one that does; `None` where it is proven that there is none."""
        sender = judgement.accepted_by or judgement.carried_by
        if sender is None:
            return judgement, None
        answer: Answer = "yes"
        culprit = None
        if judgement.accepted_by is not None:
            culprit = self.evidence.culprit(found, joined, sender)
            if culprit is None:
                return judgement, None
            if any(
                step.was is not None for step in found.steps
            ):  # under the sender's name it stands where nobody reads it
                witness = self.evidence.loss(culprit, joined, sender)
            else:
                answer, witness = self.evidence.refusal(culprit, joined, sender)
            if witness is not None:
                return judgement, witness
        if self.evidence.is_kept(judgement, found, joined):
            return None
        if culprit is not None and isinstance(found.fact, AlternativeChanged) and answer == "yes":
            return self.evidence.overlooked(judgement, found, joined, sender)
        if culprit is not None and judgement.weight != "taken" and any(step.kind == "variant" for step in found.steps):
            mistaken = self.evidence.mistaken(judgement, culprit, joined, sender)
            if mistaken is not None:
                return mistaken
        if judgement.carried_by is not None:
            gone = self.evidence.culprit(found, joined, sender, is_lost=True)
            return judgement, None if gone is None else self.evidence.loss(gone, joined, sender)
        return None if answer == "yes" else (judgement, None)

    def _example(self, fact: FieldAdded | FieldRemoved) -> FieldAdded | FieldRemoved | None:
        """The fact with a name that its pattern matches and the other revision does not declare; `None` where there is none."""
        names, patterns = fact.others
        ours: Schema = {"type": "string", **({"pattern": fact.pattern} if fact.pattern else {"const": fact.field.name})}
        theirs: Schema = {"anyOf": [{"enum": list(names)}, *({"pattern": each} for each in patterns)]}
        by_old = isinstance(fact, FieldRemoved)
        relation = self.on.acceptance.between(
            *((ours, theirs) if by_old else (theirs, ours)), "old" if by_old else "new"
        )
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
        return replace(fact, refused=tuple(refused), doubtful=tuple(doubtful), doubt=doubt)

    def _both_ways(self, told: Judged, judgement: Judgement, found: PlacedFact, joined: Joined) -> Judged:
        """The finding with the refusal that the change brings the other way round, where there is one."""
        if told.sender is None or found.free:
            return told
        sender = opposite(told.sender)
        culprit = self.evidence.culprit(found, joined, sender)
        if culprit is None or self.evidence.refusal(culprit, joined, sender)[1] is None:
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
        return replace(judgement, weight="lost", accepted_by=None, carried_by="old")
    if isinstance(fact, FieldRenamed):
        return replace(judgement, accepted_by=None)
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


def _formats_alone(strings: Sequence[ir.String]) -> Sequence[ir.String]:
    """What a receiver takes for its format. One that has a single one is asked about that alone: its limits are told elsewhere."""
    return [replace(ir.String(), format=each.format) for each in strings] if len(strings) == 1 else strings
