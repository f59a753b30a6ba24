"""The pages that a project adds to its docs, included verbatim after a check of their links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from acpgen.config.docs_inputs import PAGES, DocsInputs, read_title
from acpgen.config.faults import BAD_PROJECT_FILE
from acpgen.diagnostics.markup import Markdown
from acpgen.errors import Fault, Faults
from acpgen.publish.pages import INDEX, Page
from acpgen.targets.docs.templates import lay_out

MACHINES: Final = "llms.txt"

_CODE: Final = re.compile(r"^(```+|~~~+).*?^\1\s*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\(\s*<?([^)\s>]+)")
_FOREIGN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def read_project_pages(docs_inputs: DocsInputs, generated_paths: Collection[str]) -> list[Page]:
    """Read the pages of the project, except the home page.

    The pages of a folder are grouped under its name: its index page first, the others in the order in which the index links to them.
    Pages in no folder come last. Raises `Faults` for pages whose path is among the `generated_paths`.
    """
    pages = [_make_page(docs_inputs, path) for path in docs_inputs.pages if path != INDEX]
    faults = [
        BAD_PROJECT_FILE(at=page.source, reason="a page of this name is made from the schemas", remedy="Rename it")
        for page in pages
        if page.path in generated_paths
    ]
    if faults:
        raise Faults(faults)
    folders = list(dict.fromkeys(posixpath.dirname(page.path) for page in pages))
    linked_pages = {folder: _find_linked_pages(docs_inputs, f"{folder}/{INDEX}") for folder in folders}

    def order(page: Page) -> tuple[bool, int, int]:
        folder = posixpath.dirname(page.path)
        page_order = linked_pages[folder]
        return (
            not folder,
            folders.index(folder),
            page_order.index(page.path) if folder and page.path in page_order else len(page_order),
        )

    return sorted(pages, key=order)


def _make_page(docs_inputs: DocsInputs, path: str) -> Page:
    text = docs_inputs.pages[path]
    folder, _, name = path.rpartition("/")
    heading = read_title(text) or path
    above = (f"{folder[:1].upper()}{folder[1:]}",) if folder else ()
    place = (*above, "Overview" if folder and name == INDEX else heading)
    return Page(path, f"{text.strip()}\n", place, about=heading, source=_find_source(docs_inputs, path))


def add_home_page(docs_inputs: DocsInputs, pages: Sequence[Page], versions: Sequence[Mapping[str, Any]]) -> list[Page]:
    """Add the home page before these pages and the list for machines after them.

    Raises `Faults` for links in pages of the project that lead to no page.
    """
    text = docs_inputs.pages.get(INDEX)
    head = Markdown(text.strip()) if text is not None else None
    above = [(page.about, page.path) for page in pages if page.about]
    linked_paths = _find_linked_pages(docs_inputs, INDEX)
    unlinked = [(label, path) for label, path in above if path not in linked_paths]
    home = lay_out("home", path=INDEX, head=head, versions=versions, pages=unlinked)
    machine_index = lay_out("llms.txt", path=MACHINES, versions=versions, pages=above)
    source = _find_source(docs_inputs, INDEX) if text is not None else ""
    all_pages = [Page(INDEX, home, ("Home",), source=source), *pages, Page(MACHINES, machine_index)]
    paths = {page.path for page in all_pages}
    faults = [fault for path in docs_inputs.pages for fault in _find_dangling_links(docs_inputs, path, paths)]
    if faults:
        raise Faults(faults)
    return all_pages


def _find_linked_pages(docs_inputs: DocsInputs, path: str) -> list[str]:
    """The path of a page followed by the paths that it links to, in the order of the links."""
    return [path, *(_resolve_link(path, link) for link in _find_links(docs_inputs.pages.get(path, "")))]


def _find_dangling_links(docs_inputs: DocsInputs, path: str, paths: Collection[str]) -> Iterator[Fault]:
    for link in _find_links(docs_inputs.pages[path]):
        page = link.partition("#")[0]
        if page and not _FOREIGN.match(link) and _resolve_link(path, link) not in paths:
            reason = f"the link to {link} leads to no page of the docs"
            yield BAD_PROJECT_FILE(
                at=_find_source(docs_inputs, path),
                reason=reason,
                remedy="Name a page by its path there, such as acp/v1/index.md",
            )


def _find_links(text: str) -> Iterator[str]:
    return iter(dict.fromkeys(_LINK.findall(_CODE.sub("", text))))


def _resolve_link(path: str, link: str) -> str:
    """Resolve a link on a page to the path of its target page."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(link.partition("#")[0])))


def _find_source(docs_inputs: DocsInputs, path: str) -> str:
    return f"{docs_inputs.root}/{PAGES}/{path}".lstrip("/")
