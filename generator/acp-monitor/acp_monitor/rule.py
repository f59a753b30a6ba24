"""The definition of a rule, and the table of all rules. A rule is one small function: its id is its name, its docstring says what is
broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Final, Literal, TypeAlias

from .connection import Connection
from .events import Event, Finding, Kind, Level
from .requirements import Requirement, list_requirements

Aspect: TypeAlias = Literal[
    "all", "problems", "undeclared", "uses", "duplicates", "content", "batch", "capability", "handshake", "session"
]
"""The aspect of a message that a rule looks at. `problems`: errors of the schema; `undeclared`: fields and values that it does not
declare; `uses`: places that depend on capabilities; `duplicates`: duplicate keys; `content`: objects with data, links or patches;
`batch`: the message is part of one; `capability`: its method depends on one; `handshake`: this is not answered yet; `session`: the named
session is unknown, being opened or closed, closed, replayed or cancelled.
"""

Check: TypeAlias = Callable[[Event, Connection], Iterator[Finding]]

V1: Final = ("acp/v1",)
V2: Final = ("acp/v2",)
ACP: Final = (*V1, *V2)
MCP: Final = ("mcp/2025-06-18",)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a conversation.

    `level` is that of the documents. `kinds` and `methods` are the messages that it looks at; no methods means all. `updates` limits it
    to session updates of these kinds. `protocols` are those that it applies to; none means all that have such messages. A rule is run on
    messages that have the aspect `needs`.
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
        return list_requirements(self.id)

    def applies(self, version: object) -> bool:
        """Whether it applies to a version. A version of another protocol than ACP gets all rules except those of a single version of
        ACP.
        """
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
"""Names of breaches that are not rules, and what they say."""


def rule(
    *kinds: Kind,
    methods: tuple[str, ...] = (),
    updates: Iterable[str] = (),
    protocols: tuple[str, ...] = (),
    level: Level = "must",
    needs: Aspect = "all",
) -> Callable[[Check], Check]:
    """Register a function in the table."""

    def enter(check: Check) -> Check:
        name = check.__name__.replace("_", "-")
        assert name not in RULES, name
        assert check.__doc__, name
        RULES[name] = Rule(
            name, level, kinds, methods, tuple(updates), protocols, needs, cleandoc(check.__doc__), check
        )
        return check

    return enter
