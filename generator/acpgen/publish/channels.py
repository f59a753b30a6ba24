"""The paths of the pages of versions.

A version that extends another one, such as the channel of unstable definitions, has pages only for what differs.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from acpgen import ir
from acpgen.publish.versions import Version, find_extended
from acpgen.targets import docs
from acpgen.targets.docs.page_paths import ERRORS, MESSAGES, PagePaths, with_replacements, with_types_in_areas
from acpgen.targets.docs.scenarios import Scenario, scenarios
from acpgen.targets.docs.usages import reachable_types
from acpgen.targets.docs.version_docs import about_errors, about_messages

VersionPaths: TypeAlias = Mapping[str, PagePaths]
"""The page paths of each version by its name."""


def find_page_paths(versions: Sequence[Version], *, for_site: bool) -> VersionPaths:
    """The page paths of each version: all pages on a site, no pages of types in a repository."""
    paths: dict[str, PagePaths] = {}
    for version in versions:
        whole = docs.page_paths(version.protocol, version.bundle)
        stable = find_extended(version, versions)
        if stable is not None:
            paths[version.protocol.name] = with_replacements(
                whole, stable.protocol.name, dict(_find_equal_pages(version, stable, whole))
            )
        else:
            paths[version.protocol.name] = whole if for_site else with_types_in_areas(whole)
    return paths


def _find_equal_pages(version: Version, stable: Version, places: PagePaths) -> Iterator[tuple[str, str]]:
    """Yield the pages of a version whose content equals that of the version it extends, each with the relative path of the other page."""
    there = docs.page_paths(stable.protocol, stable.bundle)

    def other(page: str) -> str:
        return posixpath.relpath(f"/{stable.path(page)}", f"/{version.settings.prefix}")

    types = {name for name in version.protocol.definitions if _is_equal_type(name, version, stable)}
    yield from ((places.types[name], other(there.types[name])) for name in types)
    methods = {name for name in places.methods if _is_equal_method(name, version, stable, types)}
    yield from ((places.methods[name], other(there.methods[name])) for name in methods)
    protocol = version.protocol
    own = {places.area_of[name] for name in protocol.definitions if name not in types}
    own |= {places.area_of.get(m.params or m.result or "", "") for m in protocol.methods if m.name not in methods}
    yield from ((page, other(there.areas[area])) for area, page in places.areas.items() if area not in own)
    steps = {plan.name: _outline_scenario(plan) for plan in scenarios(stable.protocol)}
    alike = [plan.name for plan in scenarios(protocol) if steps.get(plan.name) == _outline_scenario(plan)]
    yield from ((places.conversations[name], other(there.conversations[name])) for name in alike)
    for page, about in ((ERRORS, about_errors), (MESSAGES, _describe_messages)):
        content = about(protocol)
        type_names = {part.name for part in content.values() if isinstance(part, ir.Definition)}
        if content == about(stable.protocol) and types.issuperset(type_names):
            yield page, other(page)


def _is_equal_type(name: str, version: Version, stable: Version) -> bool:
    """Whether a type is equal in two versions, including descriptions and examples."""
    here, there = version.protocol.definitions[name], stable.protocol.definitions.get(name)
    return here == there and version.bundle.definitions.get(name) == stable.bundle.definitions.get(name)


def _is_equal_method(name: str, version: Version, stable: Version, types: set[str]) -> bool:
    """Whether two versions have equal methods of this name whose messages refer only to the given types."""
    here, there = (_find_methods(name, each.protocol) for each in (version, stable))
    message_types = [part for method, _ in here for part in (method.params, method.result) if part is not None]
    return here == there and types.issuperset(reachable_types(version.protocol, message_types))


def _find_methods(name: str, protocol: ir.Protocol) -> list[tuple[ir.Method, str]]:
    return [(method, method.doc) for method in protocol.methods if method.name == name]


def _describe_messages(protocol: ir.Protocol) -> Mapping[str, object]:
    framing = {"envelope": protocol.envelope, "stream": protocol.stream, "batch": protocol.batch}
    return {**framing, **about_messages(protocol)}


def _outline_scenario(plan: Scenario) -> list[tuple[str, bool, tuple[str, ...]]]:
    return [(step.method.name, step.is_answer, step.carries) for step in plan.steps]
