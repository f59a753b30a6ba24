"""Where the pages of versions are. One that extends another, as a channel of what is not stable does, has pages only for what differs."""

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
"""The places of each version, by its name."""


def find_page_paths(versions: Sequence[Version], *, for_site: bool) -> VersionPaths:
    """Where the pages of each version are: on a site all of them, in a repository without pages of types."""
    found: dict[str, PagePaths] = {}
    for version in versions:
        whole = docs.page_paths(version.protocol, version.bundle)
        stable = find_extended(version, versions)
        if stable is not None:
            found[version.protocol.name] = with_replacements(
                whole, stable.protocol.name, dict(_find_equal_pages(version, stable, whole))
            )
        else:
            found[version.protocol.name] = whole if for_site else with_types_in_areas(whole)
    return found


def _find_equal_pages(version: Version, stable: Version, places: PagePaths) -> Iterator[tuple[str, str]]:
    """The pages of a version that would say what those of the version that it extends say, each with the address of the other."""
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
        named = {part.name for part in content.values() if isinstance(part, ir.Definition)}
        if content == about(stable.protocol) and types.issuperset(named):
            yield page, other(page)


def _is_equal_type(name: str, version: Version, stable: Version) -> bool:
    """Whether two versions say the same of a type, in words and examples too."""
    here, there = version.protocol.definitions[name], stable.protocol.definitions.get(name)
    return here == there and version.bundle.definitions.get(name) == stable.bundle.definitions.get(name)


def _is_equal_method(name: str, version: Version, stable: Version, types: set[str]) -> bool:
    """Whether two versions have the same methods of a name, and all that their messages hold is of these types."""
    here, there = (_find_methods(name, each.protocol) for each in (version, stable))
    named = [part for method, _ in here for part in (method.params, method.result) if part is not None]
    return here == there and types.issuperset(reachable_types(version.protocol, named))


def _find_methods(name: str, protocol: ir.Protocol) -> list[tuple[ir.Method, str]]:
    return [(method, method.doc) for method in protocol.methods if method.name == name]


def _describe_messages(protocol: ir.Protocol) -> Mapping[str, object]:
    framing = {"envelope": protocol.envelope, "stream": protocol.stream, "batch": protocol.batch}
    return {**framing, **about_messages(protocol)}


def _outline_scenario(plan: Scenario) -> list[tuple[str, bool, tuple[str, ...]]]:
    return [(step.method.name, step.is_answer, step.carries) for step in plan.steps]
