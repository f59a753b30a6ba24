"""The migration guide between two versions: what the new version says of the old one, and what the check found, for those who must
change their code.

Its first page has a checklist for each kind of reader. A page for each area (the schema file in which something stands) tells what moved
and why, and each method: a smallest message of both versions, what the sender does differently, and what it may do besides. Further pages
hold what stands in many methods: the frames of messages, capabilities, and the types that have come, gone or been renamed.

That something is gone is computed; what takes its place is not. The new version says it by `x-migration`; where it does not, the guide
says so.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Final

from acpgen.bundle.bundle import Moved
from acpgen.compat.findings import Reach
from acpgen.compat.protocol.check.check import check
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.report_cache import find_or_make
from acpgen.diagnostics.markup import code, identifier, plain
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.files.serialization import to_json
from acpgen.input.numbers import dumps
from acpgen.naming.identifiers import assign
from acpgen.publish import migration_entries, migration_methods, migration_notes, migration_types

EVERY_MESSAGE: Final = "Every message"
CAPABILITIES: Final = "Capabilities"
TYPES: Final = "Types"


def first_page(old: str, new: str) -> str:
    """The name of the first page of the guide between two versions, by their names."""
    return f"migration-{old.rpartition('/')[2]}-{new.rpartition('/')[2]}.md"


def guide(old: SchemaRevision, new: SchemaRevision, cache: Cache = NO_CACHE) -> Mapping[str, tuple[str, str]]:
    """The pages of the guide from one version to the next, the first page first: the area that each is about, and Markdown. Raises `Faults`
    for a message that its version refuses.
    """
    migration_notes.require_valid(old, new)
    findings = _check_facts(old, new, cache)
    pages = _Guide(old, new, findings).pages()
    return {path: (area, "\n".join(lines).rstrip() + "\n") for path, area, lines in pages}


def _check_facts(old: SchemaRevision, new: SchemaRevision, cache: Cache) -> tuple[Reach, ...]:
    """Check two revisions as if nobody had described anything: what the words of a schema say is neither a finding nor an input."""
    before, after = old.without_prose(), new.without_prose()
    inputs = chain(("facts",), (dumps(to_json(side)) for side in (before, after)))
    return find_or_make(cache, inputs, lambda: check(before, after).reaches)


class _Guide:
    def __init__(self, old: SchemaRevision, new: SchemaRevision, findings: tuple[Reach, ...]) -> None:
        self.old, self.new, self.findings = old, new, findings
        self.relevant = [each for each in findings if each.severity != "editorial"]
        self.first = first_page(old.protocol.name, new.protocol.name)
        self.methods = migration_methods.areas(old, new)
        self.moves: dict[str, list[tuple[str, Moved]]] = {}
        for of, move in new.bundle.moves.items():
            self.moves.setdefault(migration_methods.area(move.at, new), []).append((of, move))
        titles = dict.fromkeys((*sorted({*self.methods, *self.moves}), EVERY_MESSAGE, CAPABILITIES, TYPES))
        folder = self.first.removesuffix(".md")
        names = assign({title: (_slug(title), identifier(title).casefold()) for title in titles})
        self.paths = {title: f"{folder}/{names[title]}.md" for title in titles}
        self.about = {move.title: area for area, found in self.moves.items() for _, move in found}

    def pages(self) -> Iterator[tuple[str, str, list[str]]]:
        further = {
            EVERY_MESSAGE: list(
                migration_entries.entries([e for e in self.relevant if e.method is None], self.old, self.new)
            ),
            CAPABILITIES: list(migration_types.capabilities(self.old, self.new)),
            TYPES: list(migration_types.types(self.old, self.new)),
        }
        sections = {title: [*self._area(title), *further.get(title, ())] for title in self.paths}
        sections = {title: lines for title, lines in sections.items() if lines}
        yield self.first, "", list(self._first(list(sections)))
        between = f"{plain(self.old.protocol.name)} to {plain(self.new.protocol.name)}"
        for title, lines in sections.items():
            more = "the checklists and " if migration_notes.readers(self.new) else ""
            back = f"[The migration guide](../{self.first}), with {more}the other areas.\n"
            yield self.paths[title], plain(title), [f"# {plain(title)}: {between}\n", back, *lines]

    def _first(self, titles: list[str]) -> Iterator[str]:
        old, new = self.old, self.new
        yield f"# Migration guide: {plain(old.protocol.name)} to {plain(new.protocol.name)}\n"
        where = "where each thing went, and " if self.moves else ""
        where = f"checklists by role, {where}" if migration_notes.readers(new) else where
        yield (
            f"How to move an implementation from {code(old.protocol.name)} to {code(new.protocol.name)}: {where}every difference between "
            "the two schemas. Every message in this guide was checked against the schema of its version.\n"
        )
        titles_here = [*map(migration_notes.heading, migration_notes.readers(new)), "Methods", "Details"]
        yield f"On this page: {', '.join(f'[{title}](#{migration_notes.anchor(title)})' for title in titles_here)}.\n"
        yield from migration_notes.checklists(new, self.about, self._href(self.first))
        yield "\n## Methods\n"
        yield from migration_methods.overview(old, new, self.findings)
        yield "\n## Details\n"
        if not titles:
            yield "The schemas of the two versions do not differ.\n"
            return
        yield "All differences between the schemas of the two versions. They are computed, so none is left out.\n"
        for title in titles:
            inside = [plain(move.title) for _, move in self.moves.get(title, ())]
            inside += [code(name) for name in self.methods.get(title, ())]
            yield f"- [{plain(title)}]({self.paths[title]}){': ' if inside else ''}{', '.join(inside)}"

    def _area(self, title: str) -> Iterator[str]:
        here = self._href(self.paths[title])
        if title in self.moves:
            yield "## What moved, and why"
            yield from migration_notes.lines(self.moves[title], self.old, self.new)
        if title in self.methods:
            yield "\n## Methods"
        for name in self.methods.get(title, ()):
            findings = [each for each in self.relevant if each.method == name]
            yield from migration_methods.section(name, findings, self.old, self.new, here)

    def _href(self, page: str) -> Callable[[str], str]:
        """What turns the title of a move into its address as seen from a page."""

        def href(title: str) -> str:
            there = self.paths[self.about[title]]
            path = "" if there == page else posixpath.relpath(f"/{there}", posixpath.dirname(f"/{page}"))
            return f"{path}#{migration_notes.anchor(title)}"

        return href


def _slug(title: str) -> str:
    return identifier("-".join(title.casefold().split()))
