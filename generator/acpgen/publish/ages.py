"""Since when: the first kept release that has a method, type, field, variant or value, told by the names that stand on the wire.

Releases between two that are kept may have had it too, so the one before is named beside it.

A type is known again by the name that its file gives it, or as the params or result of a method. Of what cannot be known again nothing
is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never

from acpgen import ir
from acpgen.publish.history import History, Past, is_own
from acpgen.publish.versions import Version
from acpgen.targets.docs.age_notes import Ages, Kind, Member

UNRELEASED: Final = "not in a release yet"


def ages(version: Version, history: History | None) -> Ages:
    """How old everything in a version is; nothing without a history."""
    if history is None:
        return Ages()
    releases = history.releases
    methods: dict[str, str] = {}
    for method in version.protocol.methods:
        since = _since(releases, [_published(method, past) is not None for past in releases])
        if since is not None:
            methods[method.name] = since
    types: dict[str, str] = {}
    members: dict[Member, str] = {}
    for name, definition in version.protocol.definitions.items():
        found = [_same(version, name, past) for past in releases]
        since = _since(releases, [there is not None for there in found])
        if since is None or not any(found):
            continue
        types[name] = since
        for kind, member in _members(definition):
            since = _since(releases, [_has(there, kind, member) for there in found])
            if since is not None:
                members[(name, kind, member)] = since
    return Ages(methods, types, members)


def _since(releases: Sequence[Past], present: Sequence[bool | None]) -> str | None:
    """Since which release something is there, through to the newest; `None` where that cannot be told."""
    if present[-1] is None:
        return None
    if not present[-1]:
        if None in present:
            return None
        last = max((index for index, there in enumerate(present) if there), default=None)
        return UNRELEASED if last is None else f"in releases up to {releases[last].version}"
    first = len(present) - 1
    while first > 0 and present[first - 1]:
        first -= 1
    version = releases[first].version
    if first == 0 or present[first - 1] is None:
        return f"{version} or earlier"
    return f"{version} ({releases[first - 1].version} lacks it)"


def _same(version: Version, name: str, past: Past) -> ir.Definition | None:
    """The same type in a release."""
    there = past.revised.definitions
    if name in past.names and is_own(name, version.bundle.origins.get(name, "")):
        return there[name]
    for method in version.protocol.methods:
        if name in (method.params, method.result):
            other = _published(method, past)
            found = other and (other.params if name == method.params else other.result)
            return there[found] if found else None
    return None


def _published(method: ir.Method, past: Past) -> ir.Method | None:
    """The method of this very name in a release."""
    return next(
        (each for each in past.revised.protocol.methods if (each.name, each.kind) == (method.name, method.kind)), None
    )


def _members(definition: ir.Definition) -> Iterator[tuple[Kind, str]]:
    match definition:
        case ir.Record():
            for field in definition.fields:
                yield "field", field.name
        case ir.TaggedUnion():
            for variant in definition.variants:
                yield "variant", str(variant.tag)
        case ir.Enum():
            for value in definition.values:
                yield "value", str(value.value)
        case ir.Alias():
            pass
        case _:
            assert_never(definition)


_OWNERS: Final[Mapping[Kind, type[ir.Definition]]] = {"field": ir.Record, "variant": ir.TaggedUnion, "value": ir.Enum}


def _has(definition: ir.Definition | None, kind: Kind, name: str) -> bool | None:
    """Whether a type of a release has a member; `None` where it is of another kind."""
    if definition is None:
        return False
    return (kind, name) in tuple(_members(definition)) if isinstance(definition, _OWNERS[kind]) else None
