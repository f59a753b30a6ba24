"""The counterpart of a method or type in another version of its protocol, and the differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from acpgen import ir
from acpgen.compat.diff.renames import renamed_definitions, successor
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.numbers import dumps
from acpgen.publish.channels import VersionPaths
from acpgen.publish.versions import Version
from acpgen.targets import docs
from acpgen.targets.docs.type_text import describe_type_as_text
from acpgen.targets.docs.version_docs import OtherVersion, OtherVersions, VersionDifference


def find_other_versions(version: Version, others: Sequence[Version], version_paths: VersionPaths) -> OtherVersions:
    """Find for each page of a version the page on the same subject in every other version."""
    versions_by_page: dict[str, list[OtherVersion]] = {}
    for other in others:
        matches, where = dict(match_pages(version, other)), version_paths[other.protocol.name]
        there = _list_pages(other)
        for page in _list_pages(version):
            target, differences = matches.get(page, (page if page in there else None, None))
            versions_by_page.setdefault(page, []).append(
                OtherVersion(
                    version=other.protocol.name,
                    page=other.path(where.address(target)) if target is not None else None,
                    home=other.home(),
                    differences=differences,
                )
            )
    return {page: tuple(counterparts) for page, counterparts in versions_by_page.items()}


def _list_pages(version: Version) -> Iterable[str]:
    protocol, bundle = version.protocol, version.bundle
    return docs.places(protocol, bundle, docs.page_paths(protocol, bundle))


def match_pages(
    here: Version, there: Version
) -> Iterator[tuple[str, tuple[str | None, tuple[VersionDifference, ...] | None]]]:
    """Yield the pages of methods and types, each with its counterpart and the differences; both `None` without a counterpart."""
    pages_here, pages_there = docs.page_paths(here.protocol, here.bundle), docs.page_paths(there.protocol, there.bundle)
    for method in here.protocol.methods:
        other = find_same_method(method, there.protocol)
        if other is None:
            yield pages_here.methods[method.name], (None, None)
        else:
            differences = tuple(_find_method_differences(here.protocol, method, there.protocol, other))
            yield pages_here.methods[method.name], (pages_there.methods[other.name], differences)
    same = _match_types(here, there)
    for name, definition in here.protocol.definitions.items():
        counterpart = there.protocol.definitions.get(same.get(name, ""))
        if counterpart is None:
            yield pages_here.types[name], (None, None)
        else:
            renamed = [VersionDifference("name", name, counterpart.name)] if counterpart.name != name else []
            differences = (*renamed, *_find_differences(_list_facts(definition), _list_facts(counterpart)))
            yield pages_here.types[name], (pages_there.types[counterpart.name], differences)


def find_same_method(method: ir.Method, protocol: ir.Protocol) -> ir.Method | None:
    """The method of another version with the same name, or a name that one of the two had before; `None` if there is none."""
    earlier = (other for other in protocol.methods if successor(other, [method]) is not None)
    return successor(method, protocol.methods) or next(earlier, None)


def _match_types(here: Version, there: Version) -> Mapping[str, str]:
    """Match the types of one version with those of another: by the same name, or a name that one of the two had before."""
    ours, theirs = (SchemaRevision(each.protocol, each.bundle) for each in (here, there))
    later, earlier = renamed_definitions(ours.definitions, theirs), renamed_definitions(theirs.definitions, ours)
    same = {name: name for name in ours.definitions if name in theirs.definitions}
    return {**{name: was for was, name in earlier.items()}, **later, **same}


# --- differences -----------------------------------------------------------------------------------------------------


def _find_method_differences(
    here: ir.Protocol, method: ir.Method, there: ir.Protocol, other: ir.Method
) -> Iterator[VersionDifference]:
    yield from _find_differences(_describe_method(method), _describe_method(other))
    for part, mine, theirs in (("params", method.params, other.params), ("result", method.result, other.result)):
        yield from (
            VersionDifference(f"{part}.{row.what}" if row.what else part, row.here, row.there)
            for row in _find_differences(
                _list_facts(here.definitions.get(mine or "")), _list_facts(there.definitions.get(theirs or ""))
            )
        )


def _find_differences(here: Mapping[str, str], there: Mapping[str, str]) -> Iterator[VersionDifference]:
    """Yield the facts that differ, those of this version first."""
    for what in dict.fromkeys((*here, *there)):
        if here.get(what) != there.get(what):
            yield VersionDifference(what, here.get(what, ""), there.get(what, ""))


def _describe_method(method: ir.Method) -> Mapping[str, str]:
    facts = {
        "name": method.name,
        "kind": method.kind,
        "handled by": method.side,
        "capability": method.capability or "",
        "in a batch": method.batch or "",
        "null as result": "stands for the empty result" if method.null_result else "",
        "tier": "unstable" if method.unstable else "",
    }
    return {what: text for what, text in facts.items() if text}


def _list_facts(definition: ir.Definition | None) -> Mapping[str, str]:
    """The facts of a definition: a text for each member by its name; other keys are for the whole definition."""
    match definition:
        case None:
            return {}
        case ir.Record():
            return {field.name: _describe_field(field) for field in definition.fields}
        case ir.TaggedUnion():
            facts = {str(variant.tag): _describe_variant(variant) for variant in definition.variants}
            return {"unknown tags": definition.openness, **facts}
        case ir.Enum():
            return {"unknown values": definition.openness, **{str(item.value): "value" for item in definition.values}}
        case ir.Alias():
            return {"type": describe_type_as_text(definition.type)}
        case _:
            assert_never(definition)


def _describe_field(field: ir.Field) -> str:
    parts = [describe_type_as_text(field.type), "required" if field.required else "optional"]
    if field.null is not None:
        parts.append(f"null {field.null}" if field.null == "clears" else "null means omitted")
    if field.default is not None:
        parts.append(f"default {dumps(field.default.value, ensure_ascii=False)}")
    if field.capability is not None:
        parts.append(f"needs {field.capability.partition(':')[2]}")
    if field.required_with is not None:
        parts.append(f"required with {field.required_with.partition(':')[2]}")
    lenient = (
        (field.leniency.default_on_error, "invalid values"),
        (field.leniency.skip_invalid_items, "invalid items"),
        (field.leniency.default_on_null, "null"),
    )
    if any(is_set for is_set, _ in lenient):
        parts.append(f"lenient about {' and '.join(what for is_set, what in lenient if is_set)}")
    if field.unstable:
        parts.append("unstable")
    return ", ".join(parts)


def _describe_variant(variant: ir.Variant) -> str:
    parts = [variant.body or "variant"]
    if variant.capability is not None:
        parts.append(f"needs {variant.capability.partition(':')[2]}")
    return ", ".join(parts)
