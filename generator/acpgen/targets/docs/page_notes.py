"""What is known of methods, types and their members beside the schema: since when they are published, how they stand to upstream, and what
the documents demand of them. Who makes the pages tells it; without it, the pages say nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from acpgen.diagnostics.markup import Markdown, code, prose
from acpgen.targets.docs.codes import codes_in
from acpgen.targets.docs.page_paths import Linker, join_markdown

Kind: TypeAlias = Literal["field", "variant", "value"]

Member: TypeAlias = tuple[str, Kind, str]
"""A definition, and its field, the tag of its variant, or its value."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Since which schema release there are methods, types and members of types.

    A text is one of `1.21.0 (0.13.5 lacks it)`, `0.4.0 or earlier`, `in schema releases up to 0.4.1` and `not in a schema release yet`.
    """

    methods: Mapping[str, str] = field(default_factory=dict[str, str])
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    members: Mapping[Member, str] = field(default_factory=dict[Member, str])

    def note(self, definition: str, kind: Kind, name: str) -> Markdown:
        """What is to be said of a member: nothing where it is as old as its type."""
        said = self.members.get((definition, kind, name))
        if said is None or said == self.types.get(definition):
            return Markdown()
        text = since_phrase(said)
        return Markdown(f"{text[0].upper()}{text[1:]}.")


NO_AVAILABILITY: Final = Availability()


def since_phrase(said: str | None) -> Markdown:
    """An age as a phrase: `since schema release 1.21.0`, `not in a schema release yet`; empty where it is not known."""
    if said is None:
        return Markdown()
    return prose(said if said.startswith(("not ", "in ")) else f"since schema release {said}")


# --- upstream --------------------------------------------------------------------------------------------------------

Way: TypeAlias = Literal["kept", "added", "stricter", "more lenient", "different"]
"""How something differs from upstream's newest release; `kept` is what an earlier release had."""

WAYS: Final[tuple[Way, ...]] = ("kept", "added", "stricter", "different", "more lenient")
"""In the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """One way in which a type, a member of it or a method differs from upstream, and why; `why` is empty where nobody says it.

    `members` are those of the type that differ so, where it is not the type as a whole. `gone` is the last release that has what is kept.
    """

    way: Way
    why: str = ""
    members: tuple[str, ...] = ()
    gone: str = ""


@dataclass(frozen=True, slots=True)
class Origins:
    """How a protocol version stands to `upstream`, its newest release there: nothing is known where that is empty.

    `types` has each type that can be compared; one without an origin is as upstream. `parts` are the types that stand inside another one of
    the schema. `methods` are those that upstream does not have. `typescript` is the npm package with its types, empty where there is none.
    """

    upstream: str = ""
    types: Mapping[str, tuple[Divergence, ...]] = field(default_factory=dict[str, tuple[Divergence, ...]])
    members: Mapping[Member, tuple[Divergence, ...]] = field(default_factory=dict[Member, tuple[Divergence, ...]])
    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    methods: Mapping[str, Divergence] = field(default_factory=dict[str, Divergence])
    typescript: str = ""

    def of_type(self, name: str, linker: Linker) -> Markdown:
        """What the page of a type says; empty where nothing is known."""
        whole = self.parts.get(name, name)
        found = self.types.get(whole)
        if found is None:
            return Markdown()
        if whole != name and found:
            return Markdown(f"Part of {linker.type(whole)}, which differs from upstream.")
        return (
            join_markdown(map(self._describe, found), " ")
            if found
            else Markdown(f"As upstream ({prose(self.upstream)}).")
        )

    def of_method(self, name: str, types: Iterable[str], linker: Linker) -> Markdown:
        """What the page of a method says that holds these types, its own and those that they name; empty where nothing is known."""
        if not self.upstream:
            return Markdown()
        own = self.methods.get(name)
        if own is not None:
            return self._describe(own)
        names = list(dict.fromkeys(self.parts.get(each, each) for each in types))
        by_way: dict[Way, list[str]] = {way: [each for each in names if self._has(each, way)] for way in WAYS}
        sentences = [
            f" {_SHORT[way]}: {join_markdown(map(linker.type, found))}." for way, found in by_way.items() if found
        ]
        return Markdown(f"As upstream ({prose(self.upstream)}).{''.join(sentences)}")

    def note(self, definition: str, kind: Kind, name: str) -> Markdown:
        """What is to be said of a member: nothing where it is as upstream."""
        return join_markdown(
            (_sentence(f"{_MEMBER[each.way]}.", each.why) for each in self.members.get((definition, kind, name), ())),
            " ",
        )

    def _has(self, name: str, way: Way) -> bool:
        return any(each.way == way for each in self.types.get(name, ()))

    def _describe(self, origin: Divergence) -> Markdown:
        upstream = prose(self.upstream)
        where = f": {join_markdown(map(code, origin.members))}" if origin.members else ""
        said = {
            "kept": f"Kept here, removed upstream after {prose(origin.gone)}.",
            "added": f"Extended here beyond upstream ({upstream}){where}."
            if origin.members
            else f"Of this project; upstream ({upstream}) does not have it.",
            "stricter": f"Stricter here than upstream ({upstream}){where}.",
            "different": f"Different from upstream ({upstream}){where}.",
            "more lenient": f"More lenient here than upstream ({upstream}){where}.",
        }
        return _sentence(said[origin.way], origin.why)


NO_ORIGINS: Final = Origins()

_SHORT: Final[Mapping[Way, str]] = {
    "kept": "Kept here",
    "added": "Added here",
    "stricter": "Stricter here",
    "different": "Different here",
    "more lenient": "More lenient here",
}
_MEMBER: Final[Mapping[Way, str]] = {
    "kept": "Kept here; upstream has removed it",
    "added": "Upstream does not have it",
    "stricter": "Stricter here than upstream",
    "different": "Different from upstream",
    "more lenient": "More lenient here than upstream",
}


def _sentence(said: str, why: str) -> Markdown:
    return Markdown(f"{said} {prose(why)}" if why else said)


def together(origins: Iterable[tuple[str, Divergence]]) -> Iterator[Divergence]:
    """The origins of members, each with its name, told of their type: those of one way as one, and why only where no member says it."""
    by_way: dict[Way, list[str]] = {}
    for name, origin in origins:
        by_way.setdefault(origin.way, []).append(name)
    yield from (Divergence(way, members=tuple(dict.fromkeys(by_way[way]))) for way in WAYS if way in by_way)


# --- requirements ----------------------------------------------------------------------------------------------------

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


def notes_by_side(notes: Iterable[RequirementNote]) -> list[tuple[str, list[RequirementNote]]]:
    """The requirements by whom they bind, what is normative first: of each side, and of all."""
    found: dict[str, list[RequirementNote]] = {}
    for note in sorted(notes, key=lambda note: note.level in _TOLD):
        found.setdefault(note.who, []).append(note)
    return sorted(found.items(), key=lambda entry: all(note.level in _TOLD for note in entry[1]))
