"""The messages that show what a judgement says, and the proofs that nothing is to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from acpgen.compat.changes import Change, FieldChange, LimitChange
from acpgen.compat.diff.pairs import Pair, PlacedChange, Step
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.findings import Revision, Witness
from acpgen.compat.protocol.candidates import Leaf, exactly, type_of
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.located import name_of
from acpgen.compat.protocol.check.routes import DIRECTIONS, Joined, pair_of
from acpgen.compat.rules import Judgement
from acpgen.schema.walk import BY_KIND, Schema

if TYPE_CHECKING:
    from schema_inclusion import Relation


class Evidence:
    """Looks for the witness of a judgement at a place."""

    def __init__(self, on: Inquiry) -> None:
        self.on = on

    def refusal(self, judgement: Judgement, steps: Sequence[Step], joined: Joined) -> Witness | None:
        if judgement.leaf is None or judgement.accepted_by is None:
            return None
        return self.on.court.refusal(joined.sides, steps, judgement.accepted_by, judgement.leaf)

    def counterexample(self, judgement: Judgement, found: PlacedChange, joined: Joined) -> Witness | None:
        """A refusal shown by a value that the prover finds: of an alternative where its plainest value fits another one, of a limit where
        that which breaks it must be of a format, and of a member that may be left out where something else must then be there.
        """
        change, pair = found.change, found.pair
        if judgement.accepted_by is None:
            return None
        lacking = self.lacking(found, judgement.accepted_by)
        if lacking is not None:
            return self.refusal(replace(judgement, leaf=lacking), found.steps, joined)
        if isinstance(change, LimitChange):
            beyond = (self._within(found, each).witness for each in change.all if each.demand is not None)
            value = self.on.doubts.counterexample(pair, judgement.accepted_by, json_type=_judged_by(change))
            values = [each.value for each in beyond if each is not None] if change.demand is not None else value
            return self.refusal(replace(judgement, leaf=exactly(*values)), found.steps, joined) if values else None
        if change.kind != "alternative":
            return None
        sides = (
            (pair.old, type_of(change.one, pair.new))
            if change.new is not None
            else (type_of(change.one, pair.old), pair.new)
        )
        value = self.on.doubts.counterexample(Pair(*sides), judgement.accepted_by)
        if value is None:
            return None
        return self.on.court.refusal(joined.sides, found.steps, judgement.accepted_by, exactly(*value))

    def lacking(self, found: PlacedChange, sender: Revision) -> Leaf | None:
        """What a sender sends without a member that must be there for the receiver; `None` where the change says nothing of the kind, or
        where nothing of it was found.
        """
        name = _lacked(found.change, sender)
        witness = self.on.doubts.within(found.pair, sender, {"required": [name]}, "object").witness if name else None
        return None if witness is None else exactly(witness.value)

    def is_implied(self, found: PlacedChange) -> bool:
        """Whether a limit is one that its sender keeps to by other keywords: a list that contains something has at least one item."""
        change = found.change
        if not isinstance(change, LimitChange) or any(each.demand is None for each in change.all):
            return False
        return all(self._within(found, each).verdict.value == "yes" for each in change.all)

    def _within(self, found: PlacedChange, limit: LimitChange) -> Relation:
        """Whether what is sent keeps to a limit."""
        assert limit.demand is not None
        return self.on.doubts.within(found.pair, limit.admitted_by, limit.demand, _judged_by(limit))

    def there(self, judgement: Judgement, found: PlacedChange, joined: Joined) -> Witness | Literal["none"] | None:
        """What whole messages show of a place, where one that is made for it shows nothing: one that is refused there; "none" if it is
        proven that there is none, `None` if it is not known.
        """
        sender = judgement.accepted_by
        if sender is None:
            return None
        if self.on.doubts.included(pair_of(joined), sender) == "yes":
            return "none"
        relation = self.on.doubts.inside(pair_of(joined), found.steps, found.pair, sender)
        if relation is None:
            return None
        if relation.witness is None:
            return "none" if relation.verdict.value == "yes" else None
        return self.on.court.shown(joined.sides, found.steps, sender, relation.witness.value)

    def is_harmless(self, judgement: Judgement, found: PlacedChange, joined: Joined) -> bool:
        """Whether a doubt about acceptance is settled by a proof of inclusion: at the place, of the definition around it, or of the whole
        message, where no union could take what it refuses for another variant. A limit is a matter of the values that it judges.
        """
        sender = judgement.accepted_by
        if sender is None or (judgement.carried_by is not None and found.change.kind != "alternative"):
            return False
        pairs = _around(found, joined)
        within_variant = any(step.kind == "variant" for step in found.steps)
        if any(self.on.doubts.included(pair, sender) == "yes" for pair in (pairs[:-1] if within_variant else pairs)):
            return True
        judged = _judged_by(found.change) if isinstance(found.change, LimitChange) else ""
        return bool(judged) and self.on.doubts.included(found.pair, sender, json_type=judged) == "yes"

    def is_kept(self, judgement: Judgement, found: PlacedChange, joined: Joined) -> bool:
        """Whether no name has lost its meaning: the receiver accepts and declares all that the sender declares, at the place or of what is
        around it, or the sender can never send the field.
        """
        sender = judgement.carried_by
        if sender is None or found.free or found.change.what not in _OF_NAMES:
            return False
        if any(
            self.on.doubts.included(pair, sender)
            == self.on.doubts.heard(pair, pair.on(sender), sender).verdict.value
            == "yes"
            for pair in _around(found, joined)
        ):
            return True
        if not isinstance(found.change, FieldChange) or found.change.what != "field-removed" or found.change.pattern:
            return False
        never: Schema = {"not": {"required": [found.change.one.name]}}
        return self.on.doubts.within(found.pair, sender, never, "object").verdict.value == "yes"

    def mistaken(self, judgement: Judgement, found: PlacedChange, joined: Joined) -> tuple[Judgement, Witness] | None:
        """The finding where a variant refuses a message and another branch of its union takes it, and does not declare all of it."""
        sender, leaf = judgement.accepted_by, judgement.leaf
        if sender is None or leaf is None or all(step.kind != "variant" for step in found.steps):
            return None
        for value in self.on.court.messages(joined.sides, found.steps, sender, leaf):
            held = self.on.court.held(joined.sides, sender, value)
            verified = (
                all(self.on.court.accepts(joined.sides, revision, value) for revision, _ in DIRECTIONS)
                and self.on.doubts.declares(pair_of(joined), sender, held) == "no"
            )
            if verified:
                told = replace(
                    judgement,
                    weight="lost" if sender == "old" else "otherwise",
                    message=f"{judgement.message} Another branch of the union accepts it and decodes it as something else.",
                    accepted_by=None,
                    carried_by=sender,
                )
                return told, self.on.court.carried(joined.sides, value, sender)
        return None

    def overlooked(
        self, judgement: Judgement, found: PlacedChange, joined: Joined
    ) -> tuple[Judgement, Witness | None] | None:
        """The finding where all that an alternative sends is accepted by others, and some of it is no member that they declare; `None`
        where they declare all of it.
        """
        sender, change = judgement.accepted_by, found.change
        if sender is None or change.kind != "alternative":
            return None
        if joined.alone and name_of(change.one) in self.on.messages[sender]:
            return None  # the union lists messages, which their methods tell apart
        alternative = type_of(change.one, found.pair.on(sender))
        relation = self.on.doubts.heard(found.pair, alternative, sender)
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
            if self.on.doubts.heard(found.pair, alternative, sender, needed).verdict.value == "yes":
                told = replace(
                    judgement,
                    weight="claimed",
                    message=f"The alternative {change.one.name} was added: another one with more optional fields.",
                    advice="None: old peers ignore the fields.",
                    accepted_by=None,
                    carried_by=None,
                )
                return told, None
        leaf = judgement.leaf if relation.witness is None else exactly(relation.witness.value)
        witness = None if leaf is None else self.on.court.loss(joined.sides, found.steps, sender, leaf)
        return told, None if relation.witness is None else witness


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


def _lacked(change: Change, sender: Revision) -> str:
    """The member that must be there for the receiver and that what is sent lacks; empty where the change says nothing of the kind."""
    lacks = change.kind in ("required", "field") and change.what.endswith("added" if sender == "old" else "removed")
    return change.one.name if lacks and change.one.required else ""


def _judged_by(limit: LimitChange) -> str:
    """The JSON type whose values a limit judges; empty where it judges any value."""
    return next((kind for kind, keywords in BY_KIND.items() if limit.keyword in keywords), "")
