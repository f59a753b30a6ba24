"""How a receiver treats what a sender has at the place of a change: the question that each finding answers.

The receiver refuses it, it accepts it and reads it as something else, a name in it has lost its meaning, or it understands all of it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from acpgen import ir
from acpgen.compat.changes import Change
from acpgen.compat.diff.pairs import Pair, PlacedChange
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.findings import Answer, Revision, Witness, get_opposite
from acpgen.compat.protocol.check.context import Context
from acpgen.compat.protocol.check.counterparts import MessagePair, name_of
from acpgen.compat.protocol.culprits import NOTHING, find_value_path, select_type
from acpgen.compat.protocol.sender_schemas import list_member_names, write_schema
from acpgen.compat.protocol.value_parts import ValuePath, cut_hole, write_around_holes
from acpgen.compat.rule import Judgement
from acpgen.compat.rules import KINDS
from acpgen.input.walk import Schema
from acpgen.pointers import write_reference

if TYPE_CHECKING:
    from schema_inclusion import Culprit, Relation
    from schema_inclusion import Witness as Proof


class Received(NamedTuple):
    """The judgement of a rule, adapted to how a receiver treats the change, with the message that shows it; `None` if none was found."""

    judgement: Judgement
    witness: Witness | None


class Receiver(Struct, frozen=True):
    """Determines how a change is received at its place in one kind of message."""

    context: Context
    placed: PlacedChange
    messages: MessagePair

    def receive(self, judgement: Judgement) -> Received | None:
        """How what a rule is about is received, if the revision that the rule names sends it.

        `None` if the receiver understands all of it, or if there is no such message.
        """
        sender = judgement.accepted_by or judgement.carried_by
        culprit = None if sender is None else self.find_culprit(sender)
        if sender is None or (culprit is None and judgement.accepted_by is not None):
            return Received(judgement, None)
        answer: Answer = "yes"
        if culprit is not None:
            if any(step.kind == "field" and step.was is not None for step in self.placed.steps):
                witness = self._find_loss(culprit, sender)  # under the sender's name nobody reads it
            else:
                answer, witness = self.find_refusal(culprit, sender)
            if witness is not None:
                return Received(judgement, witness)
        if judgement.carried_by is not None and self._is_understood(judgement.carried_by):
            return None
        if culprit is not None and judgement.accepted_by is not None:
            if self.placed.change.kind == "alternative" and answer == "yes":
                return self._receive_alternative(judgement, sender)
            is_within = judgement.effect != "taken" and any(step.kind == "variant" for step in self.placed.steps)
            witness = self._find_misread(culprit, sender) if is_within else None
            if witness is not None:
                words = _ALTERNATIVE if self.placed.change.kind == "alternative" else _BRANCH
                return Received(as_misread(judgement, sender, words), witness)
        if judgement.carried_by is not None:
            without_meaning = self.find_culprit(sender, is_lost=True)
            if without_meaning is None:
                return Received(judgement, None)
            sent = self.context.acceptance.find_carried(self.messages.pair, sender, without_meaning, declared=True)
            if sent.verdict.value == "yes":
                return None
            understood = self._is_understood_elsewhere(without_meaning, sender)
            if understood == "yes":
                return None
            return Received(judgement, self._find_loss(without_meaning, sender) if understood == "no" else None)
        return None if answer == "yes" else Received(judgement, None)

    def find_culprit(self, sender: Revision, *, is_lost: bool = False) -> Culprit | None:
        """What the receiver refuses of the change in the sender's values, at its place, or with `is_lost`, what has no meaning; `None`
        for nothing.
        """
        placed, acceptance, whole = self.placed, self.context.acceptance, self.messages.pair
        change, kind = placed.change, KINDS[placed.change.kind]
        culprit = (kind.make_lost_culprit if is_lost else kind.culprit)(change, placed.pair, sender)
        if culprit is None and change.what == f"field-{'removed' if sender == 'old' else 'added'}":
            is_open = acceptance.is_included(whole, sender) == "yes"
            never = not is_open and acceptance.never_accepts(placed.pair, get_opposite(sender), change.part.name)
            culprit = kind.make_lost_culprit(change, placed.pair, sender) if never else None
        if culprit is None:
            return None
        path = find_value_path(placed.steps, sender, whole, self.context.walk)
        return replace(culprit, at=(*path, *culprit.at))

    def find_refusal(self, culprit: Culprit, sender: Revision) -> tuple[Answer, Witness | None]:
        """Whether all values with the culprit are accepted, and a message that is refused because of it."""
        whole, acceptance, validator = self.messages.pair, self.context.acceptance, self.context.validator
        relation = acceptance.find_relation(whole, sender)
        if relation.verdict.value == "yes":
            return "yes", None
        shows = validator.make_culprit_test(sender, culprit)
        if relation.witness is None or not shows(relation.witness.value):
            relation = acceptance.with_culprit(whole, sender, culprit)
        if relation.verdict.value == "yes" or self._is_taken(culprit, sender, relation):
            return "yes", None
        relation = self._find_isolated(culprit, sender, relation)
        answer: Answer = "no" if relation.witness is not None else relation.verdict.value
        return answer, validator.make_witness(self.messages.routes, sender, relation.witness, shows, is_refused=True)

    def _find_isolated(self, culprit: Culprit, sender: Revision, relation: Relation) -> Relation:
        """The relation with a message that is refused because of the culprit, and if possible of nothing else.

        It is accepted without the culprit, or no message with the culprit is accepted. If some are, only what surrounds the culprit in one
        of them is varied, and the relation is a "yes" if all of these are accepted.
        """
        acceptance, whole, validator = self.context.acceptance, self.messages.pair, self.context.validator
        if relation.witness is None:
            return relation
        culprits = validator.list_culprits(sender, relation.witness.value, culprit)
        places = [self._find_varied(part) for part in culprits]
        if not all(places) or validator.accepts_without(self.messages.routes, sender, relation.witness.value, places):
            return relation

        def include_around(part: Culprit, common: Proof, path: ValuePath) -> Relation:
            within = write_around_holes(cut_hole(common.value, path))
            return acceptance.with_culprit(whole, sender, part, within=within)

        isolated = relation
        for part, place in zip(culprits, places, strict=True):
            is_member = isinstance(place[-1], str)
            around = place[:-1] if is_member else place
            if (common := acceptance.find_common(whole, sender, part).witness) is None:
                holder: Schema = {"type": "object"} if is_member else {}
                without = replace(part, at=around, accepted=holder, refused=NOTHING)
                if (common := acceptance.find_common(whole, sender, without).witness) is not None:
                    isolated = include_around(part, common, place)
                return isolated if isolated.verdict.value == "no" else relation
            isolated = include_around(part, common, around)
            if isolated.verdict.value != "yes":
                break
        return relation if isolated.verdict.value == "undecided" else isolated

    def _find_varied(self, culprit: Culprit) -> ValuePath:
        """The path to what tells a value with a culprit from one without; empty for the whole value."""
        change, path = self.placed.change, [*culprit.at]
        is_of_member = change.kind == "required" or change.what in ("field-added", "field-removed")
        return [*path, change.part.name] if is_of_member and path[-1:] != [change.part.name] else path

    def _is_taken(self, culprit: Culprit, sender: Revision, relation: Relation) -> bool:
        """Whether another branch of the outermost union around a place accepts all values with the culprit.

        The message of a witness is then refused for a different reason.
        """
        union, around = self._find_union(sender)
        if union is None or not around:
            return False
        union_refuses = replace(culprit, at=around, accepted={}, refused=write_schema(union.on(get_opposite(sender))))
        shows = self.context.validator.make_culprit_test(sender, union_refuses)
        if relation.witness is not None and shows(relation.witness.value):
            return False
        inner_culprit = replace(culprit, at=culprit.at[len(around) :])
        return self.context.acceptance.with_culprit(union, sender, inner_culprit).verdict.value == "yes"

    def _is_understood_elsewhere(self, culprit: Culprit, sender: Revision) -> Answer:
        """Whether the receiver declares all values with the culprit: in another branch of the outermost union around the place or, for a
        field that it accepts, by another keyword than `properties`.
        """
        placed, acceptance, (union, around) = self.placed, self.context.acceptance, self._find_union(sender)
        if placed.free or placed.change.what not in _OF_NAMES:
            return "no"
        if union is not None:
            inner_culprit = replace(culprit, at=culprit.at[len(around) :])
            return acceptance.with_culprit(union, sender, inner_culprit, declared=True).verdict.value
        named = placed.change.within.new.name if placed.change.what == "field-removed" else None
        start, schemas = {"$ref": write_reference(named or "")}, self.context.new.stable_schemas
        if named is None or placed.change.part.name not in list_member_names(start, schemas)[0]:
            return "no"  # the new objects do not name the removed field, by whatever keyword
        return acceptance.find_tolerated(placed.pair, sender, replace(culprit, at=culprit.at[-1:])).verdict.value

    def _find_union(self, sender: Revision) -> tuple[Pair | None, ValuePath]:
        """The outermost union around the place, or the place that has gained or lost a branch, with the path to it; `None` for none."""
        steps, walk, whole = self.placed.steps, self.context.walk, self.messages.pair
        kinds = [*(step.kind for step in steps), self.placed.change.kind]
        depth = next((depth for depth, kind in enumerate(kinds) if kind in _BRANCHES), None)
        if depth is None:
            return None, []
        return walk.find_below(whole, steps[:depth]), find_value_path(steps[:depth], sender, whole, walk)

    def _find_loss(self, culprit: Culprit, sender: Revision) -> Witness | None:
        """A message with the culprit, whatever the receiver accepts."""
        proof = self.context.acceptance.find_carried(self.messages.pair, sender, culprit).witness
        shows = self.context.validator.make_culprit_test(sender, culprit)
        return self.context.validator.make_witness(self.messages.routes, sender, proof, shows, is_refused=False)

    def _is_understood(self, sender: Revision) -> bool:
        """Whether the receiver accepts and declares everything that the sender declares, at the place or around it."""
        placed, acceptance = self.placed, self.context.acceptance
        if placed.free or placed.change.what not in _OF_NAMES:
            return False
        around = () if placed.declaration is None else (placed.declaration.pair,)
        return any(
            acceptance.are_equal(pair)
            or (
                acceptance.is_included(pair, sender) == "yes"
                and acceptance.find_understood(pair, pair.on(sender), sender).verdict.value == "yes"
            )
            for pair in dict.fromkeys((placed.pair, *around, self.messages.pair))
        )

    def _find_misread(self, culprit: Culprit, sender: Revision) -> Witness | None:
        """A message that a variant refuses, and that another branch of its union accepts without declaring all of it."""
        relation = self.context.acceptance.with_culprit(self.messages.pair, sender, culprit, declared=True)
        validator, routes = self.context.validator, self.messages.routes
        witness = validator.make_witness(routes, sender, relation.witness, is_refused=False)
        return witness if witness and validator.accepts(routes, get_opposite(sender), witness.value) else None

    def _receive_alternative(self, judgement: Judgement, sender: Revision) -> Received | None:
        """How an alternative is received if other alternatives accept all of its values, perhaps without declaring all of them."""
        placed, acceptance = self.placed, self.context.acceptance
        part = placed.change.part
        if self.messages.alone and name_of(part) in self.context.messages[sender]:
            return None  # the union lists messages, which their methods tell apart
        alternative = select_type(part, placed.pair.on(sender))
        relation = acceptance.find_understood(placed.pair, alternative, sender)
        if relation.verdict.value == "yes":
            return None
        if sender == "new" and isinstance(part, Objects):
            required_names = [field.name for field in part.fields if field.required]
            if acceptance.find_understood(placed.pair, alternative, sender, required_names).verdict.value == "yes":
                message = f"The alternative {part.name} was added: another one with more optional fields."
                addition = replace(judgement, effect="claimed", message=message, accepted_by=None, carried_by=None)
                return Received(replace(addition, advice="None: old peers ignore the fields."), None)
        misread = as_misread(judgement, sender, _ALTERNATIVE)
        culprit = self.find_culprit(sender, is_lost=True)
        if relation.witness is None or culprit is None:
            return Received(misread, None)
        misread_culprit = replace(culprit, accepted={"const": relation.witness.value})
        return Received(misread, self._find_loss(misread_culprit, sender))


def as_misread(judgement: Judgement, sender: Revision, words: str) -> Judgement:
    """The judgement if everything is accepted and read as something else."""
    return replace(
        judgement,
        effect="lost" if sender == "old" else "otherwise",
        message=f"{_REFUSAL.sub('.', judgement.message)} {words}",
        accepted_by=None,
        carried_by=sender,
    )


_REFUSAL: Final = re.compile(r"; (?:old|new) peers (?:reject|ignore)[^;]*\.$")
"""The end of a message that says who refuses what is not understood."""


def is_meaningless(change: Change) -> bool:
    """Whether a change beside anything is one of plain types that only one revision names: their values have no names to know."""
    return change.what in ("type-added", "type-removed") and all(isinstance(part, _PLAIN) for part in change.part)


def judge_as_misread(judgement: Judgement, change: Change) -> Judgement:
    """The judgement if any value is accepted: what would be refused is read as a value of unknown form."""
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
    return as_misread(judgement, sender, _ANYTHING.format(get_opposite(sender)))


_ALTERNATIVE: Final = "Another alternative accepts its values and does not declare all of their members."
_BRANCH: Final = "Another branch of the union accepts it and decodes it as something else."
_ANYTHING: Final = "Any value is accepted here, so {} peers do not recognise it."

_PLAIN: Final = (ir.Boolean, ir.Number, ir.String)
_BRANCHES: Final = frozenset({"alternative", "untagged", "variant"})
_OF_NAMES: Final = frozenset(
    {
        *("field-added", "field-removed", "value-removed", "variant-added", "variant-removed"),
        *("alternative-added", "alternative-removed"),
    }
)
"""Changes of a name or shape that one revision declares."""
