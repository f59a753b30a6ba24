"""The table of cases. A case is one small function: what it sends, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from acpgen.probe.cases import MODULES
from acpgen.probe.citations import list_tested_rows, read_requirements
from acpgen.probe.clauses import CLAUSES, Clause, Strength

if TYPE_CHECKING:
    from acpgen.probe.case_context import Trial

Start: TypeAlias = Literal["program", "connection", "session"]
"""Where a case begins: at a program that was sent nothing, after `initialize`, or with a session open."""


@dataclass(frozen=True, slots=True)
class ProbeCase:
    """One case. `id` is a section of the specification and a name, `versions` are the protocol versions with such a section.

    Cases with `is_strict` test more than MUSTs; `sides` are the sides that they test.
    """

    id: str
    strength: Strength
    clause: Clause | None
    doc: str
    start: Start
    versions: tuple[int, ...]
    sides: tuple[str, ...]
    run: Callable[[Trial], None] = field(repr=False, compare=False)

    def list_requirements(self, version: int) -> tuple[int | str, ...]:
        """The rows of the table of requirements that it tests in a version; empty if only JSON-RPC demands it."""
        foreign_prefix = f"acp/v{2 if version == 1 else 1}/"
        return tuple(row for row in list_tested_rows().get(self.id, ()) if not str(row).startswith(foreign_prefix))

    @property
    def is_extra(self) -> bool:
        """Whether it only runs on request: no document of the protocol demands it."""
        return self.id.startswith("registry/")

    def find_clause(self, version: int) -> Clause:
        """The demand that it tests in a version: its own clause, or the first row of the table that it tests."""
        rows = self.list_requirements(version)
        if self.clause is not None:
            return replace(self.clause, number=rows[0]) if rows else self.clause
        rows = rows or list_tested_rows().get(self.id, ())
        assert rows, f"{self.id}: neither a clause nor a row of schema/requirements.json says what it tests"
        number, row = rows[0], read_requirements()[rows[0]]
        return Clause(row.document, row.section, self.strength, row.says, number)

    @property
    def is_strict(self) -> bool:
        """Whether its violation breaks no MUST."""
        return self.strength != "must"


OF_REGISTRIES: Final = (
    *("registry", "initialization/answer", "initialization/supported-version"),
    "json-rpc/unknown-method",
)
"""The cases of `--registry`: what registries of agents check before they list one, and a little more."""

BOTH: Final = ("agent", "client")

CASES: Final[dict[str, ProbeCase]] = {}
"""Every registered case by its id."""


def case(
    name: str,
    demand: str,
    start: Start = "connection",
    versions: tuple[int, ...] = (1, 2),
    sides: tuple[str, ...] = ("agent",),
) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
    """Register a function in the table. `demand` is a strength, if the table of requirements has the text, or the name of a clause."""

    def enter(run: Callable[[Trial], None]) -> Callable[[Trial], None]:
        assert name not in CASES, name
        assert run.__doc__, name
        clause = CLAUSES.get(demand)
        strength: Any = demand if clause is None else clause.strength
        assert strength in get_args(Strength), demand
        CASES[name] = ProbeCase(name, strength, clause, cleandoc(run.__doc__), start, versions, sides, run)
        return run

    return enter


def load() -> dict[str, ProbeCase]:
    """The whole table, in the order in which the cases run."""
    for name in MODULES:
        import_module(f"acpgen.probe.cases.{name}")  # where they enter themselves
    order = {f"acpgen.probe.cases.{name}": place for place, name in enumerate(MODULES)}
    return dict(sorted(CASES.items(), key=lambda item: order[item[1].run.__module__]))


def name_case(case: ProbeCase, version: int) -> str:
    """The name of a case in a report, with its version. Handshake cases have no version."""
    return case.id if case.start == "program" else f"v{version}/{case.id}"


def select_cases(patterns: Iterable[str], names: Iterable[str]) -> set[str]:
    """The names at or below the selected ones: `transports`, `transports/junk`, `v1/transports`, `v2`."""
    matches: set[str] = set()
    for name in names:
        bare = name.partition("/")[2] if name[:2] in ("v1", "v2") else name
        if any(
            pattern in (name, bare) or f"{name}/".startswith(f"{pattern}/") or f"{bare}/".startswith(f"{pattern}/")
            for pattern in patterns
        ):
            matches.add(name)
    return matches
