"""What a rule is, and the table of all of them. A rule is one small function: its id is its name, its docstring says what is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Final, Literal, TypeAlias

from .events import Event, Found, Kind, Level, Requirement
from .state import Connection

Sees: TypeAlias = Literal[
    "all", "problems", "unknown", "uses", "repeated", "contents", "batch", "gate", "handshake", "session"
]
"""`problems`: what the schema says against a message; `unknown`: fields that it does not know; `uses`: places that depend on
capabilities; `repeated`: keys that are given twice; `contents`: objects that hold data, links or patches; `batch`: that the message stands
in one; `gate`: a capability on which its method depends; `handshake`: that this was not answered yet; `session`: that none is known by
the name in the message, or that the one is being opened or closed, was closed, played back or cancelled.
"""

Check: TypeAlias = Callable[[Event, Connection], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a conversation.

    `requirements` are those of the project's table that `BEHIND` does not list, `level` is what the documents make of it. `kinds` and
    `methods` are the messages that it looks at; no methods means all; of updates of a session only those of the kinds `updates`, if
    it names some. `protocols` are those that it is about; none means all that have such messages. `sees` is what of a message it looks
    at: where there is none of that, it is not asked.
    """

    id: str
    requirements: tuple[Requirement, ...]
    level: Level
    kinds: tuple[Kind, ...]
    methods: tuple[str, ...]
    updates: tuple[str, ...]
    protocols: tuple[str, ...]
    sees: Sees
    doc: str
    check: Check = field(repr=False, compare=False)


ACP: Final = ("acp/v1", "acp/v2")

RULES: Final[dict[str, Rule]] = {}
"""Every rule by its id, in the order in which they look at a message."""

REMARKS: Final = {
    "messages-missed": "Lines of the conversation were not read. What is known of open requests and sessions is given up.",
    "more": "A line breaks more than the limit. This counts the findings that are left out, and has the highest level among them.",
    "not-judged": "Messages were not judged, or only in part. The sentence counts them and says why.",
    "only-unstable": "A message holds what only the unstable channel of its version defines.",
}
"""What a breach may be named that is no rule, and what that says."""


def rule(
    *kinds: Kind,
    methods: tuple[str, ...] = (),
    updates: Iterable[str] = (),
    requirements: tuple[Requirement, ...] = (),
    level: Level = "must",
    protocols: tuple[str, ...] = (),
    sees: Sees = "all",
) -> Callable[[Check], Check]:
    """Enter a function into the table."""

    def enter(check: Check) -> Check:
        name = check.__name__.replace("_", "-")
        assert name not in RULES, name
        assert check.__doc__, name
        doc = cleandoc(check.__doc__)
        RULES[name] = Rule(name, requirements, level, kinds, methods, tuple(updates), protocols, sees, doc, check)
        return check

    return enter
