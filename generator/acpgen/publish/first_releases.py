"""Since when: the first kept release that has a method, type, field, variant or value, told by the names that stand on the wire.

Releases between two that are kept may have had it too, so the one before is named beside it.

A type is known again by the name that its file gives it, as the params or result of a method, or by its fields in a variant. Of what cannot
be known again nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from acpgen import ir
from acpgen.publish.release_contents import Kind, TypeContents, find_variants, is_own, list_members
from acpgen.publish.release_verdicts import History, Past
from acpgen.publish.versions import Version
from acpgen.targets.docs.page_notes import Availability, Member

UNRELEASED: Final = "not in a schema release yet"


def find_availability(version: Version, releases: History | None) -> Availability:
    """How old everything in a version is; nothing without releases."""
    if releases is None:
        return Availability()
    methods: dict[str, str] = {}
    for method in version.protocol.methods:
        since = _describe_since(releases, [find_released_method(method, past) is not None for past in releases])
        if since is not None:
            methods[method.name] = since
    unions: dict[str, list[tuple[str, str]]] = {}
    for union in version.protocol.definitions.values():
        for tag, name in find_variants(union):
            unions.setdefault(name, []).append((union.name, tag))
    types: dict[str, str] = {}
    inside: dict[Member, str] = {}
    for name, definition in version.protocol.definitions.items():
        found = [find_released_type(version, name, past) for past in releases]
        as_variant = [_find_variant_fields(version, unions.get(name, []), past) for past in releases]
        since = _describe_since(
            releases, [there is not None or bool(fields) for there, fields in zip(found, as_variant, strict=True)]
        )
        if since is None or not any(found):
            continue
        types[name] = since
        for kind, member in list_members(definition):
            there = [
                member in fields or _has_member(same, kind, member)
                for same, fields in zip(found, as_variant, strict=True)
            ]
            since = _describe_since(releases, there)
            if since is not None:
                inside[(name, kind, member)] = since
    return Availability(methods, types, inside)


def _describe_since(releases: Sequence[Past], present: Sequence[bool | None]) -> str | None:
    """Since which release something is there, through to the newest; `None` where that cannot be told."""
    if present[-1] is None:
        return None
    if not present[-1]:
        if None in present:
            return None
        last = max((index for index, there in enumerate(present) if there), default=None)
        return UNRELEASED if last is None else f"in schema releases up to {releases[last].title}"
    first = len(present) - 1
    while first > 0 and present[first - 1]:
        first -= 1
    title = releases[first].title
    if first == 0 or present[first - 1] is None:
        return f"{title} or earlier"
    return f"{title} ({releases[first - 1].title} lacks it)"


def find_released_type(version: Version, name: str, past: Past) -> TypeContents | None:
    """The same type in a release."""
    types = past.verdict.types
    same = types.get(name)
    if same is not None and same.named and is_own(name, version.bundle.origins.get(name, "")):
        return same
    for method in version.protocol.methods:
        if name in (method.params, method.result):
            params, result = find_released_method(method, past) or (None, None)
            found = params if name == method.params else result
            return types[found] if found else None
    return None


def _find_variant_fields(version: Version, unions: Iterable[tuple[str, str]], past: Past) -> frozenset[str]:
    """The fields that the variants of these unions and tags have in a release."""
    same = [(find_released_type(version, union, past), tag) for union, tag in unions]
    return frozenset(name for there, tag in same if there is not None for name in there.fields.get(tag, ()))


def find_released_method(method: ir.Method, past: Past) -> tuple[str | None, str | None] | None:
    """The params and result of the method of this very name in a release; `None` where there is none."""
    verdict = past.verdict
    return (verdict.request if method.kind == "request" else verdict.notification).get(method.name)


def _has_member(there: TypeContents | None, kind: Kind, name: str) -> bool | None:
    """Whether a type of a release has a member; `None` where it is of another kind."""
    if there is None:
        return False
    return name in there.members if there.kind == kind else None
