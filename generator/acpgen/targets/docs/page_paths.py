"""The location of each subject in the documentation: pages named by subject, and anchors by name, never by number."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.diagnostics.markup import Markdown, make_identifier, write_code
from acpgen.naming.identifiers import assign, make_file_name, make_method_key, spell_out
from acpgen.targets.docs.scenarios import list_scenarios

INDEX: Final = "index.md"
METHODS: Final = "methods.md"
TYPES: Final = "types.md"
CAPABILITIES: Final = "capabilities.md"
ERRORS: Final = "errors.md"
MESSAGES: Final = "messages.md"
FIXED: Final = (INDEX, METHODS, TYPES, CAPABILITIES, ERRORS, MESSAGES)
"""The pages that every protocol has."""

WHOLE: Final = "single-file.md"
"""All pages in one file, for machines; not a page of the site."""

_NO_ID: Final = re.compile(r"[^A-Za-z0-9_.+-]")


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the docs.

    `place` are the titles that lead to it in the navigation, empty for a machine-readable file. `about` is its label on the home page if
    it is about no single version; `source` is the file to edit in order to change it.
    """

    path: str
    text: str = field(repr=False)
    place: tuple[str, ...] = ()
    about: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class PagePaths:
    """The pages of one protocol version, relative to its `folder`. `areas` are the source files, without extension.

    `replacements` maps each page that does not exist to the link to use instead, which may be outside of the folder; if it has no anchor,
    that of the original link applies. `extended` is the version to which the replacements lead, if it is another one.
    """

    folder: str
    methods: Mapping[str, str]
    types: Mapping[str, str]
    areas: Mapping[str, str]
    conversations: Mapping[str, str]
    area_of: Mapping[str, str] = field(repr=False)
    replacements: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    extended: str = ""

    @property
    def every(self) -> frozenset[str]:
        """The pages of the version, those that are replaced included."""
        groups = (self.methods, self.types, self.areas, self.conversations)
        return frozenset((*FIXED, *(page for group in groups for page in group.values())))

    def find_address(self, page: str, anchor: str = "") -> str:
        """The link to a page or to an anchor on it, or to its replacement, relative to the folder of the version."""
        target = self.replacements.get(page, page)
        return target if "#" in target or not anchor else f"{target}#{anchor}"

    def locate(self, page: str, anchor: str = "") -> str:
        """The link to a page or to an anchor on it, or to its replacement, relative to the folder above all versions."""
        return posixpath.normpath(posixpath.join(self.folder, self.find_address(page, anchor)))

    def has_page(self, name: str) -> bool:
        """Whether a type has its own page, here or in the version that this one extends."""
        return "#" not in self.find_address(self.types[name])


def find_page_paths(protocol: ir.Protocol, bundle: Bundle, folder: str = "") -> PagePaths:
    """The pages of a protocol, with unique paths even on case-insensitive file systems. Raises `Faults`."""
    places = {name: definition.at or bundle.origins.get(name, "") for name, definition in protocol.definitions.items()}
    area_of = {name: posixpath.basename(at.partition("#")[0]).removesuffix(".json") for name, at in places.items()}
    area_of = {name: area or "schema" for name, area in area_of.items()}
    methods = _name_pages({method.name: make_method_key(method.name) or method.name for method in protocol.methods})
    types = _name_pages({name: name for name in protocol.definitions})
    return PagePaths(
        folder,
        methods={name: f"methods/{key}.md" for name, key in methods.items()},
        types={name: f"types/{key}.md" for name, key in types.items()},
        areas={area: f"areas/{make_file_name(make_identifier(area))}.md" for area in dict.fromkeys(area_of.values())},
        conversations={scenario.name: f"conversations/{scenario.name}.md" for scenario in list_scenarios(protocol)},
        area_of=area_of,
    )


def _name_pages(names: Mapping[str, str]) -> Mapping[str, str]:
    """The page name of each subject, without extension."""
    plain = {name: make_file_name(make_identifier(text)) for name, text in names.items()}
    distinct = assign(
        {name: (key.casefold(), make_identifier(spell_out(name)).casefold()) for name, key in plain.items()}
    )
    return {name: key if distinct[name] == key.casefold() else distinct[name] for name, key in plain.items()}


@dataclass(frozen=True, slots=True)
class Linker:
    """Writes links and anchors for one page; `whole` is for the file that contains all pages. `types` are those that the page shows in
    full.
    """

    paths: PagePaths
    page: str
    whole: bool = False
    types: frozenset[str] = frozenset()

    def make_href(self, page: str, anchor: str = "") -> str:
        """The link to a page or to an anchor on it, relative to this page."""
        if self.whole:
            return f"#{_prefix_anchor(page, anchor)}"
        page, _, anchor = self.paths.find_address(page, anchor).partition("#")
        path = "" if page == self.page else posixpath.relpath(self._resolve(page), self._resolve(self.page, ".."))
        return f"{path}#{anchor}" if anchor else path or posixpath.basename(page)

    def link(self, text: Markdown, page: str, anchor: str = "") -> Markdown:
        return Markdown(f"[{text}]({self.make_href(page, anchor)})")

    def write_anchor(self, name: str) -> Markdown:
        """The HTML of an anchor on this page. The empty name is the anchor of the page itself."""
        anchor_id = _prefix_anchor(self.page, name) if self.whole else name
        assert not _NO_ID.search(anchor_id), anchor_id
        return Markdown(f'<a id="{anchor_id}"></a>') if anchor_id else Markdown()

    def link_type(self, name: str, anchor: str = "") -> Markdown:
        """A link to a type: to its page; if it has none, to its section on this page, or else to its area."""
        if name in self.types and not self.paths.has_page(name) and not self.whole:
            return Markdown(f"[{write_code(name)}](#{name_type_anchor(name)})")
        return self.link(write_code(name), self.paths.types[name], anchor)

    def link_details(self, name: str) -> Markdown:
        """A link to the full documentation of a type that this page shows; only its name if there is none elsewhere."""
        page = self.paths.types[name]
        is_here = not self.whole and self.paths.find_address(page).partition("#")[0] == self.page
        return write_code(name) if is_here else self.link(write_code(name), page)

    def write_type_anchor(self, name: str) -> Markdown:
        """The anchor of a type that this page shows; empty if the type has its own page."""
        return Markdown() if self.whole or self.paths.has_page(name) else self.write_anchor(name_type_anchor(name))

    def link_method(self, name: str, anchor: str = "") -> Markdown:
        return self.link(write_code(name), self.paths.methods[name], anchor)

    def link_capability(self, path: str) -> Markdown:
        return self.link(write_code(path.partition(":")[2] or path), CAPABILITIES, name_capability_anchor(path))

    def _resolve(self, *path: str) -> str:
        return posixpath.normpath(posixpath.join("/", self.paths.folder, *path))


def name_type_anchor(name: str) -> str:
    """The anchor of a type on the page of a method."""
    return f"type-{make_identifier(name)}"


def name_capability_anchor(path: str) -> str:
    """The anchor of a capability, e.g. `agent-capabilities.session`."""
    return make_identifier(path.replace(":", "-", 1))


def join_markdown(items: Iterable[str], between: str = ", ") -> Markdown:
    """Join pieces of Markdown with a separator, which is not escaped."""
    return Markdown(between.join(items))


def _prefix_anchor(page: str, anchor: str) -> str:
    key = page.removesuffix(".md").replace("/", "-")
    return f"{key}-{anchor}" if anchor else key
