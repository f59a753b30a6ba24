"""The messages that show what a judgement says, and the proofs that nothing is to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from acpgen.compat.changes import FieldChange
from acpgen.compat.diff.pairs import Pair, PlacedChange
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.findings import Answer, Revision, Witness, opposite
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.located import name_of
from acpgen.compat.protocol.check.routes import Joined, pair_of
from acpgen.compat.protocol.culprits import lost, refused, type_of, way
from acpgen.compat.protocol.declared import schema_of
from acpgen.compat.rules import Judgement
from acpgen.schema.walk import Schema

if TYPE_CHECKING:
    from schema_inclusion import Culprit, Relation


class Evidence:
    """Looks for the messages of a sender that show a change at a place."""

    def __init__(self, on: Inquiry) -> None:
        self.on = on

    def culprit(
        self, found: PlacedChange, joined: Joined, sender: Revision, *, is_lost: bool = False
    ) -> Culprit | None:
        """What is refused of a change in what a sender sends, at its place, or with `is_lost` has no meaning; `None` for nothing."""
        there = (lost if is_lost else refused)(found.change, found.pair, sender)
        if there is None and found.change.what == f"field-{'removed' if sender == 'old' else 'added'}":
            is_open = self.on.acceptance.included(pair_of(joined), sender) == "yes"
            never = not is_open and self.on.acceptance.never(found.pair, opposite(sender), found.change.one.name)
            there = lost(found.change, found.pair, sender) if never else None
        if there is None:
            return None
        leading = way(found.steps, sender, pair_of(joined).on(sender), self.on.walk.shape)
        return replace(there, at=(*leading, *there.at))

    def refusal(
        self, culprit: Culprit, found: PlacedChange, joined: Joined, sender: Revision
    ) -> tuple[Answer, Witness | None]:
        """Whether all that has the culprit is accepted, and a message that is refused for it."""
        whole = pair_of(joined)
        relation = self.on.acceptance.relation(whole, sender)
        if relation.verdict.value == "yes":
            return "yes", None
        shows = self.on.court.standing(sender, culprit)
        if relation.witness is None or not shows(relation.witness.value):
            relation = self.on.acceptance.shown(whole, sender, culprit)
        if relation.verdict.value == "yes" or self._is_taken(culprit, found, joined, sender, relation):
            return "yes", None
        if relation.witness is None:
            return relation.verdict.value, None
        return "no", self.on.court.refusal(joined.sides, sender, relation.witness.value, shows)

    def _is_taken(
        self, culprit: Culprit, found: PlacedChange, joined: Joined, sender: Revision, relation: Relation
    ) -> bool:
        """Whether the outermost union around a place takes all that has the culprit, by another branch: the message of a witness is refused
        for something else then.
        """
        depth = next((depth for depth, step in enumerate(found.steps) if step.kind in _BRANCHES), 0)
        union = self.on.walk.below(pair_of(joined), found.steps[:depth]) if depth else None
        if union is None:
            return False
        around = way(found.steps[:depth], sender, pair_of(joined).on(sender), self.on.walk.shape)
        refused = replace(culprit, at=around, accepted={}, refused=schema_of(union.on(opposite(sender))))
        if relation.witness is not None and self.on.court.standing(sender, refused)(relation.witness.value):
            return False
        inside = replace(culprit, at=culprit.at[len(around) :])
        return self.on.acceptance.shown(union, sender, inside).verdict.value == "yes"

    def loss(self, culprit: Culprit, joined: Joined, sender: Revision) -> Witness | None:
        """A message that has the culprit, whoever accepts it."""
        value = self.on.acceptance.carried(pair_of(joined), sender, culprit)
        shows = self.on.court.standing(sender, culprit)
        return None if value is None else self.on.court.loss(joined.sides, sender, *value, shows)

    def is_kept(self, judgement: Judgement, found: PlacedChange, joined: Joined) -> bool:
        """Whether no name has lost its meaning: the receiver accepts and declares all that the sender declares, at the place or of what is
        around it, or the sender can never send the field.
        """
        sender = judgement.carried_by
        if sender is None or found.free or found.change.what not in _OF_NAMES:
            return False
        if any(
            self.on.acceptance.included(pair, sender) == "yes"
            and self.on.acceptance.heard(pair, pair.on(sender), sender).verdict.value == "yes"
            for pair in _around(found, joined)
        ):
            return True
        if not isinstance(found.change, FieldChange) or found.change.what != "field-removed" or found.change.pattern:
            return False
        never: Schema = {"not": {"required": [found.change.one.name]}}
        return self.on.acceptance.within(found.pair, sender, never, "object").verdict.value == "yes"

    def mistaken(
        self, judgement: Judgement, culprit: Culprit, joined: Joined, sender: Revision
    ) -> tuple[Judgement, Witness] | None:
        """The finding where a variant refuses a message and another branch of its union takes it, and does not declare all of it."""
        relation = self.on.acceptance.misread(pair_of(joined), sender, culprit)
        if relation.witness is None:
            return None
        witness = self.on.court.loss(joined.sides, sender, relation.witness.value)
        if witness is None or not self.on.court.accepts(joined.sides, opposite(sender), witness.value):
            return None
        told = replace(
            judgement,
            weight="lost" if sender == "old" else "otherwise",
            message=f"{judgement.message} Another branch of the union accepts it and decodes it as something else.",
            accepted_by=None,
            carried_by=sender,
        )
        return told, witness

    def overlooked(
        self, judgement: Judgement, found: PlacedChange, joined: Joined, sender: Revision
    ) -> tuple[Judgement, Witness | None] | None:
        """The finding where all that an alternative sends is accepted by others, and some of it is no member that they declare; `None`
        where they declare all of it.
        """
        change = found.change
        if joined.alone and name_of(change.one) in self.on.messages[sender]:
            return None  # the union lists messages, which their methods tell apart
        alternative = type_of(change.one, found.pair.on(sender))
        relation = self.on.acceptance.heard(found.pair, alternative, sender)
        if relation.verdict.value == "yes":
            return None
        told = replace(
            judgement,
            weight="lost" if sender == "old" else "otherwise",
            message=f"{judgement.message} Another alternative accepts its values and does not declare all of their members.",
            accepted_by=None,
            carried_by=sender,
        )
        if sender == "new" and isinstance(change.one, Objects):
            needed = [field.name for field in change.one.fields if field.required]
            if self.on.acceptance.heard(found.pair, alternative, sender, needed).verdict.value == "yes":
                told = replace(
                    judgement,
                    weight="claimed",
                    message=f"The alternative {change.one.name} was added: another one with more optional fields.",
                    advice="None: old peers ignore the fields.",
                    accepted_by=None,
                    carried_by=None,
                )
                return told, None
        culprit = self.culprit(found, joined, sender, is_lost=True)
        if relation.witness is None or culprit is None:
            return told, None
        return told, self.loss(replace(culprit, accepted={"const": relation.witness.value}), joined, sender)


_BRANCHES: Final = frozenset({"alternative", "untagged", "variant"})

_OF_NAMES: Final = frozenset(
    {
        *("field-added", "field-removed", "value-removed", "variant-added", "variant-removed"),
        *("alternative-added", "alternative-removed"),
    }
)
"""Changes of a name or shape that one revision declares."""


def _around(found: PlacedChange, joined: Joined) -> Sequence[Pair]:
    """The pair of a change, that of the definition around it, and that of the whole message."""
    home = () if found.home is None else (found.home.pair,)
    return tuple(dict.fromkeys((found.pair, *home, pair_of(joined))))
