"""What a rule is, and the table of all of them. A rule is one small function: its id is its name, its docstring says what is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Final, Literal, TypeAlias

from .connection import Connection
from .events import Event, Finding, Kind, Level
from .requirements import Requirement, requirements_of

Aspect: TypeAlias = Literal[
    "all", "problems", "undeclared", "uses", "duplicates", "content", "batch", "capability", "handshake", "session"
]
"""What of a message a rule looks at. `problems`: what the schema says against it; `undeclared`: fields and values that it does not name;
`uses`: places that depend on capabilities; `duplicates`: keys that are given twice; `content`: objects that hold data, links or patches;
`batch`: that the message stands in one; `capability`: one on which its method depends; `handshake`: that this was not answered yet;
`session`: that none is known by the name in the message, or that the one is being opened or closed, was closed, replayed or cancelled.
"""

Check: TypeAlias = Callable[[Event, Connection], Iterator[Finding]]

V1: Final = ("acp/v1",)
V2: Final = ("acp/v2",)
ACP: Final = (*V1, *V2)
MCP: Final = ("mcp/2025-06-18",)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a conversation.

    `level` is what the documents make of it. `kinds` and `methods` are the messages that it looks at; no methods means all; of updates
    of a session only those of the kinds `updates`, if it names some. `protocols` are those that it is about; none means all that have
    such messages. A rule is asked about messages that have the aspect `needs`.
    """

    id: str
    level: Level
    kinds: tuple[Kind, ...]
    methods: tuple[str, ...]
    updates: tuple[str, ...]
    protocols: tuple[str, ...]
    needs: Aspect
    doc: str
    check: Check = field(repr=False, compare=False)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements of the project's table that it enforces."""
        return requirements_of(self.id)

    def applies(self, version: object) -> bool:
        """Whether it is about a version. A version of another protocol than ACP meets all rules but those of one version of ACP."""
        if version in (1, 2):
            return not self.protocols or f"acp/v{version}" in self.protocols
        return self.protocols not in (V1, V2)


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
    protocols: tuple[str, ...] = (),
    level: Level = "must",
    needs: Aspect = "all",
) -> Callable[[Check], Check]:
    """Enter a function into the table."""

    def enter(check: Check) -> Check:
        name = check.__name__.replace("_", "-")
        assert name not in RULES, name
        assert check.__doc__, name
        RULES[name] = Rule(
            name, level, kinds, methods, tuple(updates), protocols, needs, cleandoc(check.__doc__), check
        )
        return check

    return enter
