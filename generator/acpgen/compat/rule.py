"""What the table of rules consists of: the kinds of changes, and the rules, with their effect on peers, for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from acpgen.compat.changes import Change, Kind
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import NO_ACTION, Effect, Revision, Severity
from acpgen.compat.protocol.culprits import NOTHING
from acpgen.input.walk import Schema

if TYPE_CHECKING:
    from schema_inclusion import Culprit

RuleEffect: TypeAlias = Literal[
    "refused",  # one side rejects a value that the other sends
    "unknown",  # a strict receiver of a closed shape rejects an unknown name
    "taken",  # a name that peers may use freely for extensions has a specific type on the other side
    "otherwise",  # nothing is rejected, but something is read differently
    "lost",  # a name loses its meaning
    "claimed",  # a name that was free gets a meaning
    "added",  # an addition that affects no peer
    "renamed",  # without effect on messages
    "reworded",  # without effect on messages
    "undetermined",  # neither proven nor refuted
]
"""The effect of a change on messages, more specific than the reported effect."""

Gate: TypeAlias = Literal["none", "fresh", "known"]
"""How a capability gates a change; fresh: by a capability that no old peer can advertise, so nothing is sent to old peers; known: by one
that an old peer may advertise.
"""

Flow: TypeAlias = Literal["to-handler", "to-caller", "both", "nobody"]
"""The receivers: the side that handles the method (params), the side that calls it (results), both, or nobody if no method reaches the
part.
"""

EFFECTS: Final[Mapping[RuleEffect, tuple[Effect, Severity, Severity]]] = {
    "refused": ("refused", "breaking", "breaking"),  # what is refused without being new cannot be held back by a gate
    "unknown": ("refused", "risky", "additive"),
    "taken": ("refused", "risky", "risky"),  # who has not heard of the name does not ask for its gate
    "otherwise": ("lost", "risky", "additive"),
    "lost": ("lost", "breaking", "breaking"),
    "claimed": ("claimed", "additive", "additive"),
    "added": ("added", "additive", "additive"),
    "renamed": ("renamed", "editorial", "editorial"),
    "reworded": ("reworded", "editorial", "editorial"),
    "undetermined": ("refused", "undecided", "undecided"),
}
"""The reported effect, the severity between peers, and the severity behind a fresh gate, by effect."""


def decide_severity(effect: RuleEffect, flow: Flow, gate: Gate) -> Severity:
    """The severity of a change.

    Both exchanges are always checked, an old sender with a new receiver and the reverse, so the flow only decides who breaks; a part
    that nobody receives breaks nobody.
    """
    _, plain, fresh = EFFECTS[effect]
    return "editorial" if flow == "nobody" else fresh if gate == "fresh" else plain


NEW_TO_OLD: Final = "a new {sender} that talks to an old {receiver}"
OLD_TO_NEW: Final = "an old {sender} that talks to a new {receiver}"
OLD_FROM_NEW: Final = "an old {receiver} that receives from a new {sender}"
NEW_FROM_OLD: Final = "a new {receiver} that receives from an old {sender}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a rule, named by its id, for a change.

    A rejection names the revision that accepts (`accepted_by`), a loss the one that carries the meaning (`carried_by`); with both, a
    rejection is searched first. `gate` is the capability that gates an addition; `ungated` describes the effect without one, `None` if
    no capability can gate it. `within` is the place inside the pair, `subject` identifies the finding among those of the same rule at
    the same place; `None` if only the two texts do. `between` are the failing exchanges if neither revision's messages are rejected or
    lose meaning: texts with `{sender}` and `{receiver}`. `unaware` are the revisions that refuse messages because they know no such
    method.
    """

    rule: str
    effect: RuleEffect
    message: str
    advice: str
    within: str = ""
    subject: str | None = ""
    accepted_by: Revision | None = None
    carried_by: Revision | None = None
    gate: str | None = None
    ungated: str | None = None
    between: tuple[str, ...] = ()
    unaware: tuple[Revision, ...] = ()


Text: TypeAlias = "str | Callable[[Any], str]"
"""A text about a change: a template over its attributes and the words of its kind, or a function."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row; rows with the same `id` are one rule.

    The first row of a rule has its documentation, and its mirror or the reason for none. `on` is a kind of change, or `Change.what`;
    empty for findings without a change. `when` selects among the rows of one kind: exactly one applies. `sender` is the revision whose
    messages are rejected or lose meaning; with `or_lost`, a rejection is searched first. `renamed` is the rule for a rename, by which old
    peers lose the same as by a removal. The other columns are as in `Judgement`.
    """

    id: str
    on: str = ""
    effect: RuleEffect | Callable[[Any], RuleEffect] = "reworded"
    _: KW_ONLY
    sender: Revision | Callable[[Any], Revision] | None = None
    or_lost: bool = False
    when: Callable[[Any], bool] = lambda _: True
    gate: Callable[[Any], str | None] = lambda _: None
    ungated: Text | None = None
    between: tuple[str, ...] = ()
    unaware: tuple[Revision, ...] = ()
    renamed: str = ""
    mirror: str = ""
    unmirrored: str = ""
    doc: str = ""
    message: Text = ""
    advice: Text = NO_ACTION


@dataclass(frozen=True, slots=True)
class ChangeKind:
    """What the rules for one kind of change share.

    `within` is the place of a change inside its pair, `subject` identifies it among those of its rule at its place; `None` if only the
    two texts do. `culprit` is what the receiver refuses in a sender's value because of the change; `lost` is what has no meaning for the
    receiver, by default the culprit, refused or not. `remainder` are a sender's values without the culprit, by default all others.
    `words` are names for templates.
    """

    kind: Kind
    within: Text = ""
    subject: str | Callable[[Any], str | None] | None = ""
    culprit: Callable[[Any, Pair, Revision], Culprit | None] = lambda _, __, ___: None
    lost: Callable[[Any], Culprit | None] | None = None
    remainder: Callable[[Any, Revision], Schema] | None = None
    words: Mapping[str, Callable[[Any], str]] = field(default_factory=dict[str, "Callable[[Any], str]"])

    def apply(self, rule: Rule, change: Change) -> Judgement:
        """The result of one of its rules for a change."""
        names = _Names(change, self.words)

        def fill(cell: Any) -> Any:
            return cell.format_map(names) if isinstance(cell, str) else cell(change) if callable(cell) else cell

        effect, sender = fill(rule.effect), fill(rule.sender)
        return Judgement(
            rule=rule.id,
            effect=effect,
            message=fill(rule.message),
            advice=fill(rule.advice),
            within=fill(self.within),
            subject=fill(self.subject),
            accepted_by=sender if rule.or_lost or effect in ("refused", "unknown", "taken") else None,
            carried_by=sender if rule.or_lost or effect in ("lost", "otherwise") else None,
            gate=rule.gate(change),
            ungated=fill(rule.ungated),
            between=rule.between,
            unaware=rule.unaware,
        )

    def make_lost_culprit(self, change: Change, pair: Pair, sender: Revision) -> Culprit | None:
        """The culprit in a sender's value that has lost its meaning for the receiver, whether it is refused or not."""
        culprit = self.culprit(change, pair, sender) if self.lost is None else self.lost(change)
        return None if culprit is None else replace(culprit, refused=NOTHING)

    def write_remainder(self, change: Change, pair: Pair, sender: Revision) -> Schema | None:
        """The schema of a sender's values of a pair without those that the receiver refuses; `None` if no schema expresses it."""
        culprit = self.culprit(change, pair, sender)
        if culprit is None:
            return None
        if self.remainder is not None:
            return self.remainder(change, sender)
        negation: Schema = {"not": culprit.accepted}
        return {"properties": {str(culprit.at[0]): negation}} if culprit.at else negation


class _Names(dict[str, Any]):
    """What a template may name: the words of its kind of change, and the attributes of the change."""

    def __init__(self, change: Change, words: Mapping[str, Callable[[Any], str]]) -> None:
        super().__init__()
        self.change, self.words = change, words

    def __missing__(self, key: str) -> Any:
        return self.words[key](self.change) if key in self.words else getattr(self.change, key)
