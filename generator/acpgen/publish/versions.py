"""Protocol versions whose docs are made together: their order of succession, and where their pages are.

A version that extends another one, such as the channel of unstable definitions, has pages only for what differs.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.diagnostics.markup import make_identifier
from acpgen.publish.pages import INDEX
from acpgen.targets import docs
from acpgen.targets.docs.page_paths import ERRORS, MESSAGES, PagePaths
from acpgen.targets.docs.scenarios import Scenario, list_scenarios
from acpgen.targets.docs.usages import list_reachable_types
from acpgen.targets.docs.version_docs import describe_errors, describe_messages
from acpgen.targets.interface import Settings

VersionPaths: TypeAlias = Mapping[str, PagePaths]
"""The page paths of each version by its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A protocol version whose docs are to be made.

    `at` converts a place in its files to one that users can open; `extends` is the name of the version that it extends, empty if there
    is none. Compared by identity: Python considers schemas equal if one has `1` where the other has `true`.
    """

    protocol: ir.Protocol
    bundle: Bundle
    settings: Settings
    at: Callable[[str], str] = str
    extends: str = ""

    @property
    def name(self) -> str:
        return self.protocol.name

    @property
    def family(self) -> str:
        """The part of the name that all versions share: `acp` of `acp/v1`."""
        return self.name.rpartition("/")[0] or self.name

    @property
    def home(self) -> str:
        """The path of its first page."""
        return self.locate(INDEX)

    def locate(self, page: str) -> str:
        """The path of a page, or the address of a part of it, relative to the docs root."""
        return posixpath.normpath(posixpath.join(self.settings.prefix, page))

    def make_page_paths(self) -> PagePaths:
        """The paths of all its pages. Raises `Faults`."""
        return docs.find_page_paths(self.protocol, self.bundle, self.settings.prefix)


def find_extended(version: Version, versions: Sequence[Version]) -> Version | None:
    """The version that this one extends; `None` if it is not among `versions`."""
    return next((candidate for candidate in versions if version.extends and candidate.name == version.extends), None)


def find_successions(versions: Sequence[Version]) -> Iterator[tuple[Version, Version]]:
    """Yield each version with the next one of the same protocol, in the order given."""
    for index, old in enumerate(versions):
        new = next((candidate for candidate in versions[index + 1 :] if candidate.family == old.family), None)
        if new is not None:
            yield old, new


def find_page_paths(versions: Sequence[Version], *, for_site: bool) -> VersionPaths:
    """The page paths of each version: all pages on a site; in a repository, anchors on the pages of areas instead of pages of types."""
    version_paths: dict[str, PagePaths] = {}
    for version in versions:
        paths, stable = version.make_page_paths(), find_extended(version, versions)
        if stable is not None:
            paths = replace(paths, replacements=_find_equal_pages(version, stable, paths), extended=stable.name)
        elif not for_site:
            areas = {name: paths.areas[paths.area_of[name]] for name in paths.types}
            anchors = {page: f"{areas[name]}#{make_identifier(name)}" for name, page in paths.types.items()}
            paths = replace(paths, replacements=anchors)
        version_paths[version.name] = paths
    return version_paths


def _find_equal_pages(version: Version, stable: Version, paths: PagePaths) -> Mapping[str, str]:
    """The pages of a version whose content equals that of the version it extends, each with the relative path of the other page."""
    protocol, stable_protocol, stable_paths = version.protocol, stable.protocol, stable.make_page_paths()
    types = {name for name in protocol.definitions if _is_equal_type(name, version, stable)}
    methods = {name for name in paths.methods if _is_equal_method(name, version, stable, types)}
    changed_areas = {paths.area_of[name] for name in protocol.definitions if name not in types}
    changed_areas |= {
        paths.area_of.get(method.params or method.result or "", "")
        for method in protocol.methods
        if method.name not in methods
    }
    outlines = {plan.name: _outline_scenario(plan) for plan in list_scenarios(stable_protocol)}
    plans = [plan.name for plan in list_scenarios(protocol) if outlines.get(plan.name) == _outline_scenario(plan)]
    pages = _pair_pages(types, paths.types, stable_paths.types) | _pair_pages(
        methods, paths.methods, stable_paths.methods
    )
    pages |= _pair_pages(paths.areas.keys() - changed_areas, paths.areas, stable_paths.areas)
    pages |= _pair_pages(plans, paths.conversations, stable_paths.conversations)
    for page, about in ((ERRORS, describe_errors), (MESSAGES, _describe_messages)):
        content = about(protocol)
        type_names = {part.name for part in content.values() if isinstance(part, ir.Definition)}
        if content == about(stable_protocol) and types.issuperset(type_names):
            pages[page] = page
    start = f"/{version.settings.prefix}"
    return {page: posixpath.relpath(f"/{stable.locate(stable_page)}", start) for page, stable_page in pages.items()}


def _pair_pages(names: Iterable[str], pages: Mapping[str, str], stable_pages: Mapping[str, str]) -> dict[str, str]:
    return {pages[name]: stable_pages[name] for name in names}


def _is_equal_type(name: str, version: Version, stable: Version) -> bool:
    """Whether a type is equal in two versions, including descriptions and examples."""
    definition, counterpart = version.protocol.definitions[name], stable.protocol.definitions.get(name)
    return definition == counterpart and version.bundle.definitions.get(name) == stable.bundle.definitions.get(name)


def _is_equal_method(name: str, version: Version, stable: Version, types: set[str]) -> bool:
    """Whether two versions have equal methods of this name whose messages refer only to the given types."""
    methods, stable_methods = (
        [(method, method.doc) for method in side.protocol.methods if method.name == name] for side in (version, stable)
    )
    message_types = [part for method, _ in methods for part in (method.params, method.result) if part is not None]
    return methods == stable_methods and types.issuperset(list_reachable_types(version.protocol, message_types))


def _describe_messages(protocol: ir.Protocol) -> Mapping[str, object]:
    framing = {"envelope": protocol.envelope, "stream": protocol.stream, "batch": protocol.batch}
    return {**framing, **describe_messages(protocol)}


def _outline_scenario(plan: Scenario) -> list[tuple[str, bool, tuple[str, ...]]]:
    return [(step.method.name, step.is_answer, step.carries) for step in plan.steps]
