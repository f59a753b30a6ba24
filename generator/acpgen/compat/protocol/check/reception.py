"""What a receiver makes of what a sender has at the place of a change: the one question whose answer a finding is.

It refuses it, it accepts it and reads it as something else, a name in it has lost its meaning, or all of it is understood.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from acpgen.compat.changes import Change, FieldChange
from acpgen.compat.diff.pairs import Pair, PlacedChange
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.findings import Answer, Revision, Witness, opposite
from acpgen.compat.protocol.check.context import Context
from acpgen.compat.protocol.check.message_pairs import MessagePair, name_of
from acpgen.compat.protocol.culprits import lost_culprit, refused_culprit, type_of, way
from acpgen.compat.protocol.sender_schemas import schema_of
from acpgen.compat.rules import Judgement

if TYPE_CHECKING:
    from schema_inclusion import Culprit, Relation

Kind: TypeAlias = Literal["ruled", "misread", "ignored", "kept"]


@dataclass(frozen=True, slots=True)
class Reception:
    """What becomes of what a sender has at a place, with the message that shows it, `None` where none was found.

    ruled: what the rule says · misread: the receiver takes it for something else · ignored: for the same with fewer members ·
    kept: it understands all of it, or there is no such message.
    """

    kind: Kind
    witness: Witness | None = None


KEPT: Final = Reception("kept")
UNPROVEN: Final = Reception("ruled")


@dataclass(frozen=True, slots=True)
class Receiver:
    """Asks what becomes of a change at its place in one kind of message."""

    context: Context
    found: PlacedChange
    messages: MessagePair

    def reception(self, judgement: Judgement) -> Reception:
        """What becomes of what a rule speaks of, sent by the revision that it names."""
        sender = judgement.accepted_by or judgement.carried_by
        if sender is None:
            return UNPROVEN
        answer: Answer = "yes"
        culprit = self.culprit(sender)
        if culprit is None and judgement.accepted_by is not None:
            return UNPROVEN
        if culprit is not None:
            if any(step.kind == "field" and step.was is not None for step in self.found.steps):
                witness = self._loss(culprit, sender)  # under the sender's name nobody reads it
            else:
                answer, witness = self.refusal(culprit, sender)
            if witness is not None:
                return Reception("ruled", witness)
        if judgement.carried_by is not None and self._is_understood(judgement.carried_by):
            return KEPT
        if culprit is not None and judgement.accepted_by is not None:
            if self.found.change.kind == "alternative" and answer == "yes":
                return self._alternative(sender)
            is_within = judgement.effect != "taken" and any(step.kind == "variant" for step in self.found.steps)
            witness = self._misread(culprit, sender) if is_within else None
            if witness is not None:
                return Reception("misread", witness)
        if judgement.carried_by is not None:
            gone = self.culprit(sender, is_lost=True)
            return UNPROVEN if gone is None else Reception("ruled", self._loss(gone, sender))
        return KEPT if answer == "yes" else UNPROVEN

    def culprit(self, sender: Revision, *, is_lost: bool = False) -> Culprit | None:
        """What is refused of the change in what a sender sends, at its place, or with `is_lost` has no meaning; `None` for nothing."""
        found, acceptance, whole = self.found, self.context.acceptance, self.messages.pair
        there = (lost_culprit if is_lost else refused_culprit)(found.change, found.pair, sender)
        if there is None and found.change.what == f"field-{'removed' if sender == 'old' else 'added'}":
            is_open = acceptance.included(whole, sender) == "yes"
            never = not is_open and acceptance.never(found.pair, opposite(sender), found.change.one.name)
            there = lost_culprit(found.change, found.pair, sender) if never else None
        if there is None:
            return None
        leading = way(found.steps, sender, whole.on(sender), self.context.walk.shape)
        return replace(there, at=(*leading, *there.at))

    def refusal(self, culprit: Culprit, sender: Revision) -> tuple[Answer, Witness | None]:
        """Whether all that has the culprit is accepted, and a message that is refused for it."""
        whole, acceptance, validator = self.messages.pair, self.context.acceptance, self.context.validator
        relation = acceptance.relation(whole, sender)
        if relation.verdict.value == "yes":
            return "yes", None
        shows = validator.standing(sender, culprit)
        if relation.witness is None or not shows(relation.witness.value):
            relation = acceptance.with_culprit(whole, sender, culprit)
        if relation.verdict.value == "yes" or self._is_taken(culprit, sender, relation):
            return "yes", None
        if relation.witness is None:
            return relation.verdict.value, None
        return "no", validator.refusal(self.messages.sides, sender, relation.witness.value, shows)

    def _is_taken(self, culprit: Culprit, sender: Revision, relation: Relation) -> bool:
        """Whether the outermost union around a place takes all that has the culprit, by another branch: the message of a witness is refused
        for something else then.
        """
        steps, walk, whole = self.found.steps, self.context.walk, self.messages.pair
        depth = next((depth for depth, step in enumerate(steps) if step.kind in _BRANCHES), 0)
        union = walk.below(whole, steps[:depth]) if depth else None
        if union is None:
            return False
        around = way(steps[:depth], sender, whole.on(sender), walk.shape)
        union_refuses = replace(culprit, at=around, accepted={}, refused=schema_of(union.on(opposite(sender))))
        standing = self.context.validator.standing(sender, union_refuses)
        if relation.witness is not None and standing(relation.witness.value):
            return False
        inside = replace(culprit, at=culprit.at[len(around) :])
        return self.context.acceptance.with_culprit(union, sender, inside).verdict.value == "yes"

    def _loss(self, culprit: Culprit, sender: Revision) -> Witness | None:
        """A message that has the culprit, whoever accepts it."""
        sent = self.context.acceptance.carried(self.messages.pair, sender, culprit).witness
        shows = self.context.validator.standing(sender, culprit)
        return None if sent is None else self.context.validator.loss(self.messages.sides, sender, sent.value, shows)

    def _is_understood(self, sender: Revision) -> bool:
        """Whether no name has lost its meaning: the receiver accepts and declares all that the sender declares, at the place or of what is
        around it, or the sender can never send the field.
        """
        found, acceptance = self.found, self.context.acceptance
        if found.free or found.change.what not in _OF_NAMES:
            return False
        if any(
            acceptance.included(pair, sender) == "yes"
            and acceptance.understood(pair, pair.on(sender), sender).verdict.value == "yes"
            for pair in _around(found, self.messages)
        ):
            return True
        if not isinstance(found.change, FieldChange) or found.change.what != "field-removed" or found.change.pattern:
            return False
        return acceptance.never(found.pair, sender, found.change.one.name, declared=True)

    def _misread(self, culprit: Culprit, sender: Revision) -> Witness | None:
        """A message that a variant refuses and another branch of its union takes, and does not declare all of."""
        relation = self.context.acceptance.misread(self.messages.pair, sender, culprit)
        if relation.witness is None:
            return None
        validator, sides = self.context.validator, self.messages.sides
        witness = validator.loss(sides, sender, relation.witness.value)
        return witness if witness and validator.accepts(sides, opposite(sender), witness.value) else None

    def _alternative(self, sender: Revision) -> Reception:
        """What becomes of an alternative all of whose values others accept: some may be no member that these declare."""
        found, acceptance = self.found, self.context.acceptance
        one = found.change.one
        if self.messages.alone and name_of(one) in self.context.messages[sender]:
            return KEPT  # the union lists messages, which their methods tell apart
        alternative = type_of(one, found.pair.on(sender))
        relation = acceptance.understood(found.pair, alternative, sender)
        if relation.verdict.value == "yes":
            return KEPT
        if sender == "new" and isinstance(one, Objects):
            needed = [field.name for field in one.fields if field.required]
            if acceptance.understood(found.pair, alternative, sender, needed).verdict.value == "yes":
                return Reception("ignored")
        culprit = self.culprit(sender, is_lost=True)
        if relation.witness is None or culprit is None:
            return Reception("misread")
        return Reception("misread", self._loss(replace(culprit, accepted={"const": relation.witness.value}), sender))


def adapt_judgement(judgement: Judgement, change: Change, kind: Kind) -> Judgement:
    """The judgement of a rule with what becomes of the change."""
    sender = judgement.accepted_by
    if sender is None or kind == "ruled":
        return judgement
    if kind == "ignored":
        return replace(
            judgement,
            effect="claimed",
            message=f"The alternative {change.one.name} was added: another one with more optional fields.",
            advice="None: old peers ignore the fields.",
            accepted_by=None,
            carried_by=None,
        )
    return as_misread(judgement, sender, _ALTERNATIVE if change.kind == "alternative" else _BRANCH)


def as_misread(judgement: Judgement, sender: Revision, words: str) -> Judgement:
    """The judgement where all is accepted and taken for something else."""
    return replace(
        judgement,
        effect="lost" if sender == "old" else "otherwise",
        message=f"{judgement.message} {words}",
        accepted_by=None,
        carried_by=sender,
    )


def of_anything(judgement: Judgement, change: Change) -> Judgement:
    """The judgement where any value is accepted: what would be refused is read as something of no known form."""
    sender = judgement.accepted_by
    if sender is None:
        return judgement
    if change.what == "field-removed":
        return replace(judgement, effect="lost", accepted_by=None, carried_by="old")
    if change.what == "field-changed":
        return replace(judgement, accepted_by=None)
    is_addition = change.kind in ("alternative", "type") or change.what in ("value-added", "variant-added")
    if sender == "new" and is_addition:
        return replace(judgement, effect="claimed", accepted_by=None, carried_by=None)
    return as_misread(judgement, sender, _ANYTHING.format(opposite(sender)))


_ALTERNATIVE: Final = "Another alternative accepts its values and does not declare all of their members."
_BRANCH: Final = "Another branch of the union accepts it and decodes it as something else."
_ANYTHING: Final = "Any value is accepted here, so {} peers do not recognise it."

_BRANCHES: Final = frozenset({"alternative", "untagged", "variant"})
_OF_NAMES: Final = frozenset(
    {
        *("field-added", "field-removed", "value-removed", "variant-added", "variant-removed"),
        *("alternative-added", "alternative-removed"),
    }
)
"""Changes of a name or shape that one revision declares."""


def _around(found: PlacedChange, messages: MessagePair) -> tuple[Pair, ...]:
    """The pair of a change, that of the definition around it, and that of the whole message."""
    around = () if found.declaration is None else (found.declaration.pair,)
    return tuple(dict.fromkeys((found.pair, *around, messages.pair)))
