"""The pages that a project adds to its docs: taken as they are written, once it is sure that their links lead somewhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from acpgen.config.docs_inputs import PAGES, Material, title
from acpgen.config.faults import BAD_MATERIAL
from acpgen.diagnostics.markup import Markdown
from acpgen.errors import Fault, Faults
from acpgen.publish.pages import INDEX, Page
from acpgen.targets.docs.templates import lay_out

MACHINES: Final = "llms.txt"

_CODE: Final = re.compile(r"^(```+|~~~+).*?^\1\s*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\(\s*<?([^)\s>]+)")
_FOREIGN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def read_project_pages(material: Material, taken: Collection[str]) -> list[Page]:
    """The pages but for the home page: those of a folder stand below its name, the folder's own page first and the others in the order in
    which it links to them, then those of no folder. Raises `Faults` for those whose path is `taken`.
    """
    found = [_make_page(material, path) for path in material.pages if path != INDEX]
    faults = [
        BAD_MATERIAL(at=page.source, reason="a page of this name is made from the schemas", remedy="Rename it")
        for page in found
        if page.path in taken
    ]
    if faults:
        raise Faults(faults)
    folders = list(dict.fromkeys(posixpath.dirname(page.path) for page in found))
    linked = {folder: _find_linked_pages(material, f"{folder}/{INDEX}") for folder in folders}

    def order(page: Page) -> tuple[bool, int, int]:
        folder = posixpath.dirname(page.path)
        known = linked[folder]
        return (
            not folder,
            folders.index(folder),
            known.index(page.path) if folder and page.path in known else len(known),
        )

    return sorted(found, key=order)


def _make_page(material: Material, path: str) -> Page:
    text = material.pages[path]
    folder, _, name = path.rpartition("/")
    said = title(text) or path
    above = (f"{folder[:1].upper()}{folder[1:]}",) if folder else ()
    place = (*above, "Overview" if folder and name == INDEX else said)
    return Page(path, f"{text.strip()}\n", place, about=said, source=_find_source(material, path))


def add_home_page(material: Material, found: Sequence[Page], versions: Sequence[Mapping[str, Any]]) -> list[Page]:
    """These pages with the home page before them and the list for machines behind. Raises `Faults` for links of pages by hand that lead
    to no page.
    """
    text = material.pages.get(INDEX)
    head = Markdown(text.strip()) if text is not None else None
    above = [(page.about, page.path) for page in found if page.about]
    linked = _find_linked_pages(material, INDEX)
    more = [(said, path) for said, path in above if path not in linked]
    home = lay_out("home", path=INDEX, head=head, versions=versions, pages=more)
    listed = lay_out("llms.txt", path=MACHINES, versions=versions, pages=above)
    source = _find_source(material, INDEX) if text is not None else ""
    every = [Page(INDEX, home, ("Home",), source=source), *found, Page(MACHINES, listed)]
    paths = {page.path for page in every}
    faults = [fault for path in material.pages for fault in _find_dangling_links(material, path, paths)]
    if faults:
        raise Faults(faults)
    return every


def _find_linked_pages(material: Material, path: str) -> list[str]:
    """A page and those to which it links, in its order."""
    return [path, *(_resolve_link(path, link) for link in _find_links(material.pages.get(path, "")))]


def _find_dangling_links(material: Material, path: str, paths: Collection[str]) -> Iterator[Fault]:
    for link in _find_links(material.pages[path]):
        page = link.partition("#")[0]
        if page and not _FOREIGN.match(link) and _resolve_link(path, link) not in paths:
            reason = f"the link to {link} leads to no page of the docs"
            yield BAD_MATERIAL(
                at=_find_source(material, path),
                reason=reason,
                remedy="Name a page by its path there, such as acp/v1/index.md",
            )


def _find_links(text: str) -> Iterator[str]:
    return iter(dict.fromkeys(_LINK.findall(_CODE.sub("", text))))


def _resolve_link(path: str, link: str) -> str:
    """The path of the page to which a link on a page leads."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(link.partition("#")[0])))


def _find_source(material: Material, path: str) -> str:
    return f"{material.root}/{PAGES}/{path}".lstrip("/")
