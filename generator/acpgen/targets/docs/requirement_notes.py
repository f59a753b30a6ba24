"""What the documents of a protocol demand, beside what it is about: the requirements of methods and types, by who must keep them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from acpgen.diagnostics.markup import Markdown
from acpgen.targets.docs.codes import codes_in

_TOLD: Final = ("fact", "guidance")


@dataclass(frozen=True, slots=True)
class RequirementNote:
    """One requirement: its level (`MUST`, `SHOULD`, …, or `fact`), whom it binds, and what it says.

    `checks` says in words what checks it, and is empty if nothing does. `href` is its address as seen from the folder above all versions.
    """

    level: str
    who: str
    says: str
    checks: str
    href: str

    @property
    def codes(self) -> tuple[int, ...]:
        """The error codes that it names."""
        return codes_in(self.says)


@dataclass(frozen=True, slots=True)
class RequirementNotes:
    """The requirements of one protocol version: of each method and each type by name, and those that are about none of them, by area and of
    messages as such.
    """

    methods: Mapping[str, tuple[RequirementNote, ...]] = field(default_factory=dict[str, tuple[RequirementNote, ...]])
    types: Mapping[str, tuple[RequirementNote, ...]] = field(default_factory=dict[str, tuple[RequirementNote, ...]])
    areas: Mapping[str, tuple[RequirementNote, ...]] = field(default_factory=dict[str, tuple[RequirementNote, ...]])
    messages: tuple[RequirementNote, ...] = ()


NO_REQUIREMENTS: Final = RequirementNotes()


@dataclass(frozen=True, slots=True)
class RequirementLine:
    """A requirement as a page shows it, with its address as seen from there; none in the file that holds all pages."""

    note: RequirementNote
    href: Markdown | None


def by_side(lines: Iterable[RequirementLine]) -> list[tuple[str, list[RequirementLine]]]:
    """The requirements by whom they bind, what is normative first: of each side, and of all."""
    found: dict[str, list[RequirementLine]] = {}
    for line in sorted(lines, key=lambda line: line.note.level in _TOLD):
        found.setdefault(line.note.who, []).append(line)
    return sorted(found.items(), key=lambda entry: all(line.note.level in _TOLD for line in entry[1]))
