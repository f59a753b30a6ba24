"""The bundle: one standard JSON Schema made of many files, in which everything has a name.

References are local. Each inline object, inline union and inline enumeration of a field is a definition of its own. Each variant of a
union is self-contained: what a union's object demands in common is distributed over its branches (`A and (B or C)` becomes `(A and B) or
(A and C)`), so that each variant is one record.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from acpgen import ir
from acpgen.bundle.collect import MIGRATION, collect
from acpgen.bundle.hoist import Bundler
from acpgen.errors import Fault, Faults, show
from acpgen.importers.documents import translate
from acpgen.input.complexity import require_short_chains
from acpgen.input.drafts import restore_keywords
from acpgen.input.faults import DANGLING_REFERENCE
from acpgen.input.load import Documents
from acpgen.input.positions import relocate
from acpgen.input.schema_nodes import Schemas
from acpgen.input.step_budget import limit_steps
from acpgen.input.tagged_unions import Tagged
from acpgen.input.walk import Schema, is_object, list_references
from acpgen.methods.discovery import Gaps, add_alternatives
from acpgen.methods.profile import MARKED, Profile, choose
from acpgen.naming.name_overrides import NameOverrides
from acpgen.pointers import write_pointer

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Moved:
    """A detailed migration entry in `x-migration`: how something of the previous version changed. `at` is its place.

    `to` names the replacements, `does` has the instructions by kind of reader, `before` and `after` are example messages of the two
    versions. A guide sorts entries by `order`; those without one come last.
    """

    at: str = field(compare=False)
    title: str
    change: Literal["changed", "moved", "removed", "renamed", "replaced"]
    says: str
    why: str
    to: tuple[str, ...] = ()
    does: Mapping[str, str] = field(default_factory=dict[str, str])
    before: tuple[Schema | list[Schema], ...] = ()
    after: tuple[Schema | list[Schema], ...] = ()
    order: float = math.inf


@dataclass(frozen=True, slots=True)
class Bundle:
    """One version of a protocol as one JSON Schema 2020-12; read-only.

    - `origins`: the place of each definition in the source files, `file#/pointer`.
    - `files`: the title and description of each of these files, empty if absent; `sources`: their content.
    - `migration`: the texts of `x-migration` on the previous version; `moves`: the detailed entries.
    - `references`: those of each definition in the source, before unions are distributed over the branches of others.
    - `unions`: the tagged union, if any, of each definition; not for those in `framing`, which only describe the framing of messages.
    - `unmatched`: the entries of shared names that match nothing here.
    - `notes`: content of the files that has no meaning and was omitted.
    - `profile`: where methods are defined; `gaps`: what it leaves open.
    - `methods`: those that the profile finds, except marked ones, which are in the definitions.
    - `places`: from a place in a translated document to the place in the original.
    - `unread`: for each foreign document, members about messages that are not read, by a phrase that names them.
    - `size`: the number of characters read.
    """

    name: str
    schema: Schema = field(repr=False)
    origins: Mapping[str, str] = field(repr=False)
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]], repr=False)
    migration: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    moves: Mapping[str, Moved] = field(default_factory=dict[str, "Moved"], repr=False)
    sources: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    references: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]], repr=False)
    unions: Mapping[str, Tagged | None] = field(default_factory=dict[str, "Tagged | None"], repr=False)
    framing: frozenset[str] = field(default=frozenset(), repr=False)
    unmatched: frozenset[str] = field(default=frozenset(), repr=False)
    notes: tuple[Fault, ...] = field(default=(), repr=False)
    profile: Profile = field(default=MARKED, repr=False)
    methods: tuple[ir.Method, ...] = field(default=(), repr=False)
    gaps: Gaps = field(default_factory=Gaps, repr=False)
    places: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    unread: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"], repr=False)
    size: int = field(default=0, repr=False)

    @property
    def definitions(self) -> Mapping[str, Schema]:
        """The definitions by name, in the order of the source."""
        return self.schema["$defs"]  # type: ignore[no-any-return]

    def make_nodes(self) -> Schemas:
        """The definitions as nodes that share caches; each call makes new ones."""
        return Schemas(self.definitions, self.origins, unions=self.unions, places=self.places)

    def get_title(self, file: str) -> str:
        """The title of a file; empty if it has none. "Base protocol" for one of several files that has the title of the whole protocol."""
        title, _ = self.files.get(file, ("", ""))
        return "Base protocol" if title and len(self.files) > 1 and title == self.schema.get("title") else title

    def limit_steps(self) -> AbstractContextManager[None]:
        """Count the steps of a block towards the budget of this protocol; see `step_budget.limit_steps`."""
        return limit_steps(next(iter(self.files), self.name), self.size)

    def describe_unread(self) -> Iterator[tuple[str, str]]:
        """Yield the file and a sentence for each member about messages that foreign documents have and no importer reads."""
        for path, members in self.unread.items():
            yield from ((f"{path}#", f"{show(phrase)} is not read, and has no effect.") for phrase in members)

    @property
    def version(self) -> int | str | None:
        """The protocol version: the part after the slash of the name, an integer for `v1`; `None` for a file without one."""
        _, slash, last = self.name.rpartition("/")
        numbered = re.fullmatch(r"v(\d+)", last)
        if numbered:
            return int(numbered[1])
        return last if slash else None


def bundle(
    documents: Documents,
    *,
    names: Mapping[str, str] | None = None,
    shared: Collection[str] = (),
    may_count: bool = False,
    methods: Profile | None = None,
    is_apart: bool = False,
) -> Bundle:
    """Bundle the files of one protocol version.

    `names` maps places of the source to generated names, in the forms that `name_overrides` describes. A place that matches nothing is a
    fault, unless it is `shared` with other protocols; so is a pointer that counts the variants of a tagged union, unless `may_count`.
    `methods` is the profile that states where methods are defined; without one, it is detected from the documents, or guessed.
    `is_apart` is for comparisons of revisions: a body is never merged with the tag of its variant, and so stays the same when a second
    variant refers to it. Raises `Faults`.
    """
    with limit_steps(documents.documents[0].path, documents.size):
        profile = choose(documents, methods)
        foreign = translate(documents, profile)
        try:
            sides = profile.sides if profile.at else ()
            overrides = NameOverrides(names or {})
            collected = collect(foreign.documents, overrides, sides, foreign.unread, foreign.read)
            require_short_chains(collected.definitions, collected.origins)
            add_alternatives(collected.definitions, collected.origins, profile)
            schema_files = {
                document.path: document.value for document in foreign.documents.documents if is_object(document.value)
            }
            beside = {at.partition("#")[0] for at in collected.origins.values()} - schema_files.keys()
            opened = {path: document.value for path in sorted(beside) if (document := documents.find(path)) is not None}
            files = {**schema_files, **opened}
            work = Bundler(collected, overrides, files, shared, profile, may_count=may_count, is_apart=is_apart)
            work.run()
        except Faults as caught:
            raise Faults(_move_fault(fault, foreign.places) for fault in caught.faults) from None
    sources = {document.path: document.value for document in documents.documents if is_object(document.value)}
    definitions = work.order_definitions()
    root = {key: value for key, value in collected.root.items() if key not in ("$schema", "$id")}
    return Bundle(
        name=documents.name,
        schema={"$schema": DIALECT, **root, "$defs": definitions},
        origins={name: relocate(restore_keywords(at, files), foreign.places) for name, at in work.origins.items()},
        files={path: (_get_text(value, "title"), _get_text(value, "description")) for path, value in sources.items()},
        migration={
            key: entry if isinstance(entry, str) else entry["says"] for _, key, entry in _list_migration(sources)
        },
        moves=_read_moves(sources),
        sources={**sources, **opened},
        references={name: frozenset(list_references(source)) for name, source in work.sources.items()},
        unions=work.tagged,
        framing=work.framing,
        unmatched=frozenset(work.unused),
        notes=tuple(note.move_to(relocate(note.at, foreign.places)) for note in collected.notes),
        profile=replace(profile, sides=work.calls.sides or profile.sides),
        methods=work.methods
        if profile.document is None
        else foreign.bind(Schemas(definitions, work.origins), profile.envelope),
        gaps=work.calls.gaps,
        places={**foreign.places, **work.field_places},
        unread=foreign.unread,
        size=documents.size,
    )


def _move_fault(fault: Fault, places: Mapping[str, str]) -> Fault:
    """A fault with its place in the original file."""
    values = dict(fault.values)
    if fault.kind == DANGLING_REFERENCE and (ref := str(values["ref"])).startswith("#"):
        path = fault.at.partition("#")[0]
        values["ref"] = relocate(f"{path}{ref}", places).removeprefix(path)
    return Fault(fault.kind, relocate(fault.at, places), values)


def _get_text(document: Schema, keyword: str) -> str:
    return value if isinstance(value := document.get(keyword), str) else ""


def _list_migration(files: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the path, key and value of each `x-migration` entry: a text, or an object."""
    for path, value in files.items():
        for key, entry in value.get(MIGRATION, {}).items():
            yield path, key, entry


def _read_moves(files: Mapping[str, Any]) -> Mapping[str, Moved]:
    """The detailed migration entries, in the order of a guide."""
    moves: dict[str, Moved] = {}
    for path, key, entry in _list_migration(files):
        if is_object(entry):
            lists: dict[str, Any] = {part: tuple(entry[part]) for part in ("to", "before", "after") if part in entry}
            moves[key] = Moved(at=f"{path}{write_pointer(MIGRATION, key)}", **{**entry, **lists})
    return dict(sorted(moves.items(), key=lambda item: item[1].order))
