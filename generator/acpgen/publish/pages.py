"""The list of pages that everything else is made from: the files of the docs, the navigation, the home page and the links to sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from acpgen.errors import Faults, did_you_mean
from acpgen.input.faults import UNKNOWN_NAME

INDEX: Final = "index.md"

Entry: TypeAlias = "tuple[str, str | list[Entry]]"
"""A title in the navigation, and the page or the entries below it."""

Sections: TypeAlias = Collection[tuple[str, Sequence[str]]]
"""Pages that stand together in the navigation, by the title above them."""


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the docs: `place` are the titles that lead to it in the navigation, none for a file that machines read. `about` is what
    the home page calls it, where it is about no single version; `source` the file of the project that people edit to change it.
    """

    path: str
    text: str = field(repr=False)
    place: tuple[str, ...] = ()
    about: str = ""
    source: str = ""


def map_texts(pages: Iterable[Page]) -> Mapping[str, str]:
    """The text of each page by its path."""
    return {page.path: page.text for page in pages}


def arrange_navigation(pages: Iterable[Page], sections: Sections = ()) -> list[Entry]:
    """The navigation: the home page, the sections, and after those what no section names.

    The path of the first page of a group names the group: all of it that no section names apart. Raises `Faults` for unknown paths.
    """
    listed = [page for page in pages if page.place]
    named = {path for _, paths in sections for path in paths}
    if missing := sorted(named - {page.path for page in listed}):
        at, known = "pyproject.toml: tool.acpgen.site.sections", [page.path for page in listed]
        raise Faults([UNKNOWN_NAME(at, kind="page", name=path, hint=did_you_mean(path, known)) for path in missing])
    chosen: dict[str, Entry] = {}

    def remaining(entries: Sequence[Entry]) -> Iterator[Entry]:
        for entry in entries:
            heading, below = entry
            if isinstance(below, str):
                if below in named:
                    chosen[below] = entry
                else:
                    yield entry
                continue
            first = below[0][1]
            if isinstance(first, str) and first in named:
                inside = [*remaining(below[1:])]
                chosen[first] = (heading, [below[0], *inside] if inside else first)
            elif inside := [*remaining(below)]:
                yield heading, inside

    rest = [*remaining(_nest([(page.place, page.path) for page in listed]))]
    home = [entry for entry in rest if entry[1] == INDEX]
    arranged: list[Entry] = [(name, [chosen[path] for path in paths]) for name, paths in sections]
    return [*home, *arranged, *(entry for entry in rest if entry not in home)]


def _nest(places: Iterable[tuple[tuple[str, ...], str]]) -> list[Entry]:
    """Pages below the titles that lead to them, in the order in which each title comes first."""
    groups: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    entries: list[tuple[str, str | list[tuple[tuple[str, ...], str]]]] = []
    for (first, *below), path in places:
        if not below:
            entries.append((first, path))
            continue
        if first not in groups:
            groups[first] = []
            entries.append((first, groups[first]))
        groups[first].append((tuple(below), path))
    return [(title, below if isinstance(below, str) else _nest(below)) for title, below in entries]
