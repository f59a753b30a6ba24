"""The pages that a project adds to its docs: taken as they are written, once it is sure that their links lead somewhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import unquote

from acpgen.config.docs_inputs import PAGES, Material, title
from acpgen.config.faults import BAD_MATERIAL
from acpgen.errors import Fault, Faults, did_you_mean
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.publish.versions import INDEX
from acpgen.targets.docs import Markdown

Entry: TypeAlias = "tuple[str, str | list[Entry]]"
"""A title in the navigation, and the page or the entries below it."""

Sections: TypeAlias = Sequence[tuple[str, Sequence[str]]]
"""Pages that stand together in the navigation, by the title above them."""

_CODE: Final = re.compile(r"^(```+|~~~+).*?^\1\s*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\(\s*<?([^)\s>]+)")
_FOREIGN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def head(material: Material) -> Markdown | None:
    """What stands at the top of the home page; `None` where the project has written nothing for it."""
    text = material.pages.get(INDEX)
    return Markdown(text.strip()) if text is not None else None


def linked(material: Material) -> frozenset[str]:
    """The pages to which the top of the home page links. They need no other link there."""
    return frozenset(_there(INDEX, link) for link in _links(material.pages.get(INDEX, "")))


def added(material: Material, made: Mapping[str, str]) -> Mapping[str, str]:
    """The other pages. Raises `Faults` for those whose name is taken."""
    found = {path: f"{text.strip()}\n" for path, text in material.pages.items() if path != INDEX}
    faults = [
        BAD_MATERIAL(at=_at(material, path), reason="a page of this name is made from the schemas", remedy="Rename it")
        for path in found
        if path in made
    ]
    if faults:
        raise Faults(faults)
    return found


def navigation(material: Material) -> list[Entry]:
    """The pages but for the home page: those of a folder stand below its name, the folder's own page first and the others in the order in
    which it links to them, then those of no folder.
    """
    folders: dict[str, list[tuple[str, str]]] = {}
    others: list[Entry] = []
    for path, text in material.pages.items():
        folder, _, name = path.rpartition("/")
        if folder:
            entry = "Overview" if name == INDEX else title(text) or path
            folders.setdefault(folder, []).append((entry, path))
        elif path != INDEX:
            others.append((title(text) or path, path))
    above: list[Entry] = [
        (f"{folder[:1].upper()}{folder[1:]}", _as_linked(material, folder, found)) for folder, found in folders.items()
    ]
    return [*above, *others]


def arrange(entries: Sequence[Entry], sections: Sections) -> list[Entry]:
    """The entries with the sections after the home page, and after those what no section names.

    The path of the first page of a group names the group: all of it that no section names apart. Raises `Faults` for unknown paths.
    """
    named = {path for _, paths in sections for path in paths}
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

    rest = [*remaining(entries)]
    if missing := sorted(named - chosen.keys()):
        at, known = "pyproject.toml: tool.acpgen.site.sections", [*_paths(entries)]
        raise Faults([UNKNOWN_NAME(at, kind="page", name=path, hint=did_you_mean(path, known)) for path in missing])
    home = [entry for entry in rest if entry[1] == INDEX]
    arranged: list[Entry] = [(name, [chosen[path] for path in paths]) for name, paths in sections]
    return [*home, *arranged, *(entry for entry in rest if entry not in home)]


def _paths(entries: Sequence[Entry]) -> Iterator[str]:
    for _, below in entries:
        yield from [below] if isinstance(below, str) else _paths(below)


def _as_linked(material: Material, folder: str, entries: Sequence[tuple[str, str]]) -> list[Entry]:
    """The pages of a folder in the order in which its own page links to them; what it does not link to follows."""
    own = f"{folder}/{INDEX}"
    linked = [own, *(_there(own, link) for link in _links(material.pages.get(own, "")))]
    return [*sorted(entries, key=lambda entry: linked.index(entry[1]) if entry[1] in linked else len(linked))]


def require_links(material: Material, files: Mapping[str, str]) -> None:
    """Raise `Faults` for links of these pages that lead to no page of the docs."""
    faults = [fault for path in material.pages for fault in _dangling(material, path, files)]
    if faults:
        raise Faults(faults)


def _dangling(material: Material, path: str, files: Mapping[str, str]) -> Iterator[Fault]:
    for link in _links(material.pages[path]):
        page = link.partition("#")[0]
        if page and not _FOREIGN.match(link) and _there(path, link) not in files:
            reason = f"the link to {link} leads to no page of the docs"
            yield BAD_MATERIAL(
                at=_at(material, path), reason=reason, remedy="Name a page by its path there, such as acp/v1/index.md"
            )


def _links(text: str) -> Iterator[str]:
    return iter(dict.fromkeys(_LINK.findall(_CODE.sub("", text))))


def _there(path: str, link: str) -> str:
    """The path of the page to which a link on a page leads."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(link.partition("#")[0])))


def source(material: Material, path: str) -> str:
    """The file of a page that the project adds."""
    return _at(material, path)


def _at(material: Material, path: str) -> str:
    return f"{material.root}/{PAGES}/{path}".lstrip("/")
