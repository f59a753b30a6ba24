"""The list of pages that the files of the docs, the navigation, the home page and the links to sources are made from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from acpgen.errors import Faults, suggest_name
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.targets.docs.page_paths import INDEX, Page

__all__ = ["INDEX", "Entry", "Page", "arrange_navigation", "map_texts"]

Entry: TypeAlias = "tuple[str, str | list[Entry]]"
"""A title in the navigation, and its page or the entries below it."""

Sections: TypeAlias = Collection[tuple[str, Sequence[str]]]
"""Groups of pages in the navigation, each with its title and the paths of its pages."""


def map_texts(pages: Iterable[Page]) -> Mapping[str, str]:
    """The text of each page by its path."""
    return {page.path: page.text for page in pages}


def arrange_navigation(pages: Iterable[Page], sections: Sections = ()) -> list[Entry]:
    """Arrange the navigation: the home page, the sections, then the pages that are in no section.

    The path of the first page of a group stands for the whole group, except pages that sections list separately. Raises `Faults` for
    unknown paths.
    """
    navigation_pages = [page for page in pages if page.place]
    section_paths = {path for _, paths in sections for path in paths}
    if missing := sorted(section_paths - {page.path for page in navigation_pages}):
        at, page_paths = "pyproject.toml: tool.acpgen.site.sections", [page.path for page in navigation_pages]
        raise Faults(
            [UNKNOWN_NAME(at, kind="page", name=path, hint=suggest_name(path, page_paths)) for path in missing]
        )
    section_entries: dict[str, Entry] = {}

    def list_remaining(entries: Sequence[Entry]) -> Iterator[Entry]:
        for entry in entries:
            heading, below = entry
            if isinstance(below, str):
                if below in section_paths:
                    section_entries[below] = entry
                else:
                    yield entry
                continue
            first = below[0][1]
            if isinstance(first, str) and first in section_paths:
                remaining = [*list_remaining(below[1:])]
                section_entries[first] = (heading, [below[0], *remaining] if remaining else first)
            elif remaining := [*list_remaining(below)]:
                yield heading, remaining

    unlisted = [*list_remaining(_nest([(page.place, page.path) for page in navigation_pages]))]
    home = [entry for entry in unlisted if entry[1] == INDEX]
    arranged: list[Entry] = [(name, [section_entries[path] for path in paths]) for name, paths in sections]
    return [*home, *arranged, *(entry for entry in unlisted if entry not in home)]


def _nest(places: Iterable[tuple[tuple[str, ...], str]]) -> list[Entry]:
    """Nest pages below the titles that lead to them, in the order of the first occurrence of each title."""
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
