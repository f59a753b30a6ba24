"""Availability: the first release in the project that has a method, type, field, variant or value, matched by its name in messages.

A release that is not in the project may have had it earlier, so the preceding known release is named too. A type is identified by the
name in its file, as the params or result of a method, or by its fields in a variant. Types that cannot be identified get no
availability.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from acpgen import ir
from acpgen.publish.release_contents import Kind, TypeContents, find_own_name, find_variants, list_members
from acpgen.publish.release_verdicts import History, Past
from acpgen.publish.versions import Version
from acpgen.targets.docs.page_notes import Availability, Member

UNRELEASED: Final = "not in a schema release yet"


def find_availability(version: Version, releases: History | None) -> Availability:
    """The availability of everything in a version; empty without releases."""
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
    members: dict[Member, str] = {}
    for name, definition in version.protocol.definitions.items():
        released_types = [find_released_type(version, name, past) for past in releases]
        as_variant = [_find_variant_fields(version, unions.get(name, []), past) for past in releases]
        since = _describe_since(
            releases,
            [contents is not None or bool(fields) for contents, fields in zip(released_types, as_variant, strict=True)],
        )
        if since is None or not any(released_types):
            continue
        types[name] = since
        for kind, member in list_members(definition):
            presence = [
                member in fields or _has_member(contents, kind, member)
                for contents, fields in zip(released_types, as_variant, strict=True)
            ]
            since = _describe_since(releases, presence)
            if since is not None:
                members[(name, kind, member)] = since
    return Availability(methods, types, members)


def _describe_since(releases: Sequence[Past], present: Sequence[bool | None]) -> str | None:
    """The releases that have something, up to the newest one, as text; `None` if they cannot be determined."""
    if present[-1] is None:
        return None
    if not present[-1]:
        if None in present:
            return None
        last_index = max((index for index, is_present in enumerate(present) if is_present), default=None)
        return UNRELEASED if last_index is None else f"in schema releases up to {releases[last_index].title}"
    first = len(present) - 1
    while first > 0 and present[first - 1]:
        first -= 1
    title = releases[first].title
    if first == 0 or present[first - 1] is None:
        return f"{title} or earlier"
    return f"{title} ({releases[first - 1].title} lacks it)"


def find_released_type(version: Version, name: str, past: Past) -> TypeContents | None:
    """The contents of the same type in a release; `None` if it is not found."""
    types = past.verdict.types
    contents = types.get(find_own_name(version.bundle.origins.get(name, "")))
    if contents is not None and contents.named:
        return contents
    for method in version.protocol.methods:
        if name in (method.params, method.result):
            params, result = find_released_method(method, past) or (None, None)
            type_name = params if name == method.params else result
            return types[type_name] if type_name else None
    return None


def _find_variant_fields(version: Version, unions: Iterable[tuple[str, str]], past: Past) -> frozenset[str]:
    """The names of the fields that the variants with these unions and tags have in a release."""
    contents_by_tag = [(find_released_type(version, union, past), tag) for union, tag in unions]
    return frozenset(
        name for contents, tag in contents_by_tag if contents is not None for name in contents.fields.get(tag, ())
    )


def find_released_method(method: ir.Method, past: Past) -> tuple[str | None, str | None] | None:
    """The params and result of the method with the same name and kind in a release; `None` if there is none."""
    verdict = past.verdict
    return (verdict.request if method.kind == "request" else verdict.notification).get(method.name)


def _has_member(contents: TypeContents | None, kind: Kind, name: str) -> bool | None:
    """Whether a type of a release has a member; `None` if the type is of another kind."""
    if contents is None:
        return False
    return name in contents.members if contents.kind == kind else None
