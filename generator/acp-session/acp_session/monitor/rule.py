"""What a rule is, and the table of all of them. A rule is one small function: its id is its name, its docstring says what is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Final, Literal, TypeAlias

from .events import Event, Found, Kind, Level, Requirement
from .state import Connection

Sees: TypeAlias = Literal["all", "problems", "unknown", "uses"]
"""`problems`: what the schema says against a message; `unknown`: fields that it does not know; `uses`: places that depend on
capabilities."""

Check: TypeAlias = Callable[[Event, Connection], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a conversation.

    `requirements` are those of the project's table that `BEHIND` does not list, `level` is what the documents make of it. `kinds` and
    `methods` are the messages that it looks at; no methods means all. `protocols` are those that it is about; none means all that
    have such messages. `sees` is what of a message it looks at: where there is none of that, it is not asked.
    """

    id: str
    requirements: tuple[Requirement, ...]
    level: Level
    kinds: tuple[Kind, ...]
    methods: tuple[str, ...]
    protocols: tuple[str, ...]
    sees: Sees
    doc: str
    check: Check = field(repr=False, compare=False)


ACP: Final = ("acp/v1", "acp/v2")

RULES: Final[dict[str, Rule]] = {}
"""Every rule by its id, in the order in which they look at a message."""


def rule(
    *kinds: Kind,
    methods: tuple[str, ...] = (),
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
        RULES[name] = Rule(name, requirements, level, kinds, methods, protocols, sees, cleandoc(check.__doc__), check)
        return check

    return enter
