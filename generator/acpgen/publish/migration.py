"""The migration guide between two versions, for those who must change their code.

It combines what the new version states about the old one with the findings of the check. The first page has a checklist for each kind of
reader. A page for each area (the schema file of a definition) shows what moved and why, and for each method a minimal message of both
versions, what the sender must change, and what it may do in addition. Further pages cover what concerns many methods: the frames of
messages, capabilities, and types that were added, removed or renamed.

Removals are computed; replacements are not. The new version states them by `x-migration`; if it does not, the guide says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from acpgen.bundle.bundle import Moved
from acpgen.compat.diff.renames import renamed_methods
from acpgen.compat.findings import Reach
from acpgen.compat.protocol.revision import SchemaRevision, without_prose
from acpgen.compat.report_cache import find_or_compare
from acpgen.diagnostics.markup import Markdown, identifier, plain
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.input.numbers import dumps
from acpgen.naming.identifiers import assign
from acpgen.publish import migration_entries, migration_methods, migration_notes, migration_types
from acpgen.targets.docs.templates import lay_out, relative

EVERY_MESSAGE: Final = "Every message"
CAPABILITIES: Final = "Capabilities"
TYPES: Final = "Types"


def name_first_page(old: str, new: str) -> str:
    """The file name of the first page of the guide between two versions, from their names."""
    return f"migration-{old.rpartition('/')[2]}-{new.rpartition('/')[2]}.md"


def make_guide(old: SchemaRevision, new: SchemaRevision, cache: Cache = NO_CACHE) -> Mapping[str, tuple[str, str]]:
    """Make the pages of the guide from one version to the next, the first page first: by path, the area of the page and its Markdown.

    Raises `Faults` for an example message that its version rejects.
    """
    migration_notes.require_valid(old, new)
    findings = _check_facts(old, new, cache)
    return dict(_Guide(old, new, findings).pages())


def _check_facts(old: SchemaRevision, new: SchemaRevision, cache: Cache) -> tuple[Reach, ...]:
    """Check two revisions; prose is neither a finding nor part of the cache key."""
    bundles = [[without_prose(side.bundle.schema), dict(side.bundle.origins)] for side in (old, new)]
    methods = [[(each.name, each.side, each.kind, each.at) for each in side.methods] for side in (old, new)]
    inputs = ("facts", dumps([*bundles, methods, old.protocol.envelope, new.protocol.envelope]))

    def findings() -> tuple[Reach, ...]:
        from acpgen.compat.protocol.check.check import check

        return tuple(each for each in check(old, new).reaches if each.rule != "text-reworded")

    return find_or_compare(cache, inputs, findings)


class _Guide:
    def __init__(self, old: SchemaRevision, new: SchemaRevision, findings: tuple[Reach, ...]) -> None:
        self.old, self.new, self.findings = old, new, findings
        self.relevant = [each for each in findings if each.severity != "editorial"]
        self.first = name_first_page(old.protocol.name, new.protocol.name)
        self.methods = migration_methods.group_by_area(old, new)
        self.moves: dict[str, list[tuple[str, Moved]]] = {}
        for of, move in new.bundle.moves.items():
            self.moves.setdefault(migration_methods.find_area(move.at, new), []).append((of, move))
        titles = dict.fromkeys((*sorted({*self.methods, *self.moves}), EVERY_MESSAGE, CAPABILITIES, TYPES))
        folder = self.first.removesuffix(".md")
        names = assign({title: (_make_slug(title), identifier(title).casefold()) for title in titles})
        self.paths = {title: f"{folder}/{names[title]}.md" for title in titles}
        self.about = {move.title: area for area, moves in self.moves.items() for _, move in moves}

    def pages(self) -> Iterator[tuple[str, tuple[str, str]]]:
        old, new = self.old, self.new
        everywhere = [each for each in self.relevant if each.method is None]
        further: Mapping[str, Mapping[str, Sequence[object]]] = {
            EVERY_MESSAGE: {"everywhere": list(migration_entries.make_entries(everywhere, old, new))},
            CAPABILITIES: {"capabilities": migration_types.pair_capabilities(old, new)},
            TYPES: {"types": migration_types.compare_types(old, new)},
        }
        page_paths = {
            title: path
            for title, path in self.paths.items()
            if title in self.moves or title in self.methods or any(further.get(title, {}).values())
        }
        yield self.first, ("", self._first(page_paths))
        for title, path in page_paths.items():
            methods = (
                migration_methods.make_section(name, [each for each in self.relevant if each.method == name], old, new)
                for name in self.methods.get(title, ())
            )
            text = lay_out(
                "guide-area",
                title=title,
                old=old,
                new=new,
                first=self.first,
                has_tasks=any(move.does for move in new.bundle.moves.values()),
                moves=self.moves.get(title, ()),
                methods=list(methods),
                href=partial(self._href, path),
                **{"everywhere": (), "capabilities": (), "types": (), **further.get(title, {})},
            )
            yield path, (plain(title), text)

    def _first(self, page_paths: Mapping[str, str]) -> str:
        checklists = migration_notes.make_checklists(self.new, self.about)
        return lay_out(
            "guide",
            old=self.old,
            new=self.new,
            contents=[*checklists, "Methods", "Details"],
            anchor=_anchor,
            checklists=checklists,
            href=partial(self._href, self.first),
            changes=migration_methods.group_methods(self.old, self.new, self.findings),
            renamed=renamed_methods(self.old, self.new),
            areas=[
                (title, path, [move for _, move in self.moves.get(title, ())], self.methods.get(title, ()))
                for title, path in page_paths.items()
            ],
        )

    def _href(self, page: str, title: str) -> Markdown:
        """The link target of the section about a move, by the move's title, relative to a page."""
        there = self.paths[self.about[title]]
        return Markdown(f"{'' if there == page else relative(page, there)}#{_anchor(title)}")


def _anchor(title: str) -> Markdown:
    """The anchor of a heading as generated by the site generator and GitHub."""
    return Markdown(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"))


def _make_slug(title: str) -> str:
    return identifier("-".join(title.casefold().split()))
