"""Information on methods, types and members that is not in the schema: since which release they are published, how they differ from
upstream, and which requirements apply. The caller that generates the pages supplies it; otherwise the pages omit it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from acpgen.diagnostics.markup import Markdown, write_code, write_prose
from acpgen.targets.docs.codes import find_codes
from acpgen.targets.docs.page_paths import Linker, join_markdown

Kind: TypeAlias = Literal["field", "variant", "value"]

Member: TypeAlias = tuple[str, Kind, str]
"""A definition, the kind of a member, and the name, tag or value of the member."""


@dataclass(frozen=True, slots=True)
class Availability:
    """The schema release since which methods, types and members of types are available.

    A text is one of `1.21.0 (0.13.5 lacks it)`, `0.4.0 or earlier`, `in schema releases up to 0.4.1` and `not in a schema release yet`.
    """

    methods: Mapping[str, str] = field(default_factory=dict[str, str])
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    members: Mapping[Member, str] = field(default_factory=dict[Member, str])

    def describe_member(self, definition: str, kind: Kind, name: str) -> Markdown:
        """The availability of a member as a sentence; empty if it is the same as that of its type."""
        release_text = self.members.get((definition, kind, name))
        if release_text is None or release_text == self.types.get(definition):
            return Markdown()
        text = describe_since(release_text)
        return Markdown(f"{text[0].upper()}{text[1:]}.")


NO_AVAILABILITY: Final = Availability()


def describe_since(release_text: str | None) -> Markdown:
    """An availability as a phrase: `since schema release 1.21.0`, `not in a schema release yet`; empty if it is unknown."""
    if release_text is None:
        return Markdown()
    return write_prose(
        release_text if release_text.startswith(("not ", "in ")) else f"since schema release {release_text}"
    )


# --- upstream --------------------------------------------------------------------------------------------------------

Way: TypeAlias = Literal["kept", "added", "stricter", "different", "more lenient"]
"""How something differs from upstream's newest release; `kept` means that only an earlier release had it."""

WAYS: Final[Mapping[Way, str]] = {
    "kept": "Kept here; upstream has removed it",
    "added": "Upstream does not have it",
    "stricter": "Stricter here than upstream",
    "different": "Different from upstream",
    "more lenient": "More lenient here than upstream",
}
"""What is said of a member that differs, in the order in which differences are reported."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """One difference of a type, a member or a method from upstream, with its reason; `why` is empty if none is documented.

    `members` are the members of the type that differ; empty if the type differs as a whole. `gone` is the last upstream release that has
    what is kept here.
    """

    way: Way
    why: str = ""
    members: tuple[str, ...] = ()
    gone: str = ""


@dataclass(frozen=True, slots=True)
class Origins:
    """How a protocol version differs from `upstream`, its newest release there; nothing is known if that is empty.

    `types` holds each type that can be compared; one without a divergence is the same as upstream. `parts` maps types that are nested in
    another type of the schema to that type. `methods` are those that upstream does not have. `typescript` is the npm package with
    upstream's types, empty if there is none.
    """

    upstream: str = ""
    types: Mapping[str, tuple[Divergence, ...]] = field(default_factory=dict[str, tuple[Divergence, ...]])
    members: Mapping[Member, tuple[Divergence, ...]] = field(default_factory=dict[Member, tuple[Divergence, ...]])
    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    methods: Mapping[str, Divergence] = field(default_factory=dict[str, Divergence])
    typescript: str = ""

    def describe_type(self, name: str, linker: Linker) -> Markdown:
        """The text for the page of a type; empty if nothing is known."""
        whole = self.parts.get(name, name)
        divergences = self.types.get(whole)
        if divergences is None:
            return Markdown()
        if not divergences:
            return Markdown(f"As upstream ({write_prose(self.upstream)}).")
        if whole != name:
            return Markdown(f"Part of {linker.link_type(whole)}, which differs from upstream.")
        return join_markdown(map(self._describe, divergences), " ")

    def describe_method(self, name: str, types: Iterable[str], linker: Linker) -> Markdown:
        """The text for the page of a method with these types, including those they refer to; empty if nothing is known."""
        if not self.upstream:
            return Markdown()
        if name in self.methods:
            return self._describe(self.methods[name])
        text = f"As upstream ({write_prose(self.upstream)})."
        names = dict.fromkeys(self.parts.get(type_, type_) for type_ in types)
        for kind in WAYS:
            links = [
                linker.link_type(type_)
                for type_ in names
                if any(divergence.way == kind for divergence in self.types.get(type_, ()))
            ]
            text += f" {kind.capitalize()} here: {join_markdown(links)}." if links else ""
        return Markdown(text)

    def describe_member(self, definition: str, kind: Kind, name: str) -> Markdown:
        """The difference of a member from upstream; empty if there is none."""
        divergences = self.members.get((definition, kind, name), ())
        return join_markdown(
            (_write_sentence(f"{WAYS[divergence.way]}.", divergence.why) for divergence in divergences), " "
        )

    def _describe(self, origin: Divergence) -> Markdown:
        upstream = write_prose(self.upstream)
        where = f": {join_markdown(map(write_code, origin.members))}" if origin.members else ""
        if origin.way == "kept":
            sentence = f"Kept here, removed upstream after {write_prose(origin.gone)}."
        elif origin.way == "added" and not where:
            sentence = f"Of this project; upstream ({upstream}) does not have it."
        else:
            relation = "Extended here beyond upstream" if origin.way == "added" else WAYS[origin.way]
            sentence = f"{relation} ({upstream}){where}."
        return _write_sentence(sentence, origin.why)


NO_ORIGINS: Final = Origins()


def _write_sentence(sentence: str, reason: str) -> Markdown:
    return Markdown(f"{sentence} {write_prose(reason)}" if reason else sentence)


def merge_divergences(origins: Iterable[tuple[str, Divergence]]) -> Iterator[Divergence]:
    """Yield the divergences of a type merged from those of its named members: one for each kind of difference, without reasons."""
    by_way: dict[Way, list[str]] = {}
    for name, origin in origins:
        by_way.setdefault(origin.way, []).append(name)
    yield from (Divergence(way, members=tuple(dict.fromkeys(by_way[way]))) for way in WAYS if way in by_way)


# --- requirements ----------------------------------------------------------------------------------------------------

_TOLD: Final = ("fact", "guidance")


@dataclass(frozen=True, slots=True)
class RequirementNote:
    """One requirement: its level (`MUST`, `SHOULD`, …, or `fact`), whom it binds, and its text.

    `checks` describes what checks it, and is empty if nothing does. `href` is its link, relative to the folder above all versions.
    """

    level: str
    who: str
    says: str
    checks: str
    href: str

    @property
    def codes(self) -> tuple[int, ...]:
        """The error codes that it names."""
        return find_codes(self.says)


def group_by_side(notes: Iterable[RequirementNote]) -> list[tuple[str, list[RequirementNote]]]:
    """Group requirements by the side that they bind; within and among sides, normative ones come first."""
    by_side: dict[str, list[RequirementNote]] = {}
    for note in sorted(notes, key=lambda note: note.level in _TOLD):
        by_side.setdefault(note.who, []).append(note)
    return sorted(by_side.items(), key=lambda entry: all(note.level in _TOLD for note in entry[1]))
