"""The counterpart of a method or type in another version of its protocol, what differs, and the page that lists all that differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from acpgen import ir
from acpgen.compat.diff.renames import find_renamed_definitions, find_successor
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.diagnostics.markup import Markdown, write_code
from acpgen.input.numbers import dumps
from acpgen.publish.versions import Version, VersionPaths
from acpgen.targets.docs.page_paths import PagePaths
from acpgen.targets.docs.templates import lay_out, relativize
from acpgen.targets.docs.type_text import describe_type_as_text
from acpgen.targets.docs.version_docs import OtherVersion, OtherVersions

Differences: TypeAlias = Iterator[tuple[str, str, str]]
"""What differs, how it is in the one version, and how in the other; empty for a version that lacks it."""


def find_other_versions(version: Version, others: Sequence[Version], version_paths: VersionPaths) -> OtherVersions:
    """Find for each page of a version the page on the same subject in every other version."""
    versions_by_page: dict[str, list[OtherVersion]] = {page: [] for page in version_paths[version.name].every}
    for other_version in others:
        paths, matches = version_paths[other_version.name], match_pages(version, other_version)
        for page, counterparts in versions_by_page.items():
            match, differences = matches.get(page, (page if page in paths.every else None, None))
            target = paths.locate(match) if match is not None else None
            counterparts.append(OtherVersion(other_version.name, target, other_version.home, differences))
    return versions_by_page


def write_page(old: Version, new: Version, path: str, guide: str, version_paths: VersionPaths) -> str:
    """Write the methods and types of two versions side by side; `guide` is the page that names replacements of what was removed."""
    before, after = version_paths[old.name], version_paths[new.name]
    matches = match_pages(old, new)
    matched_pages = {match for match, _ in matches.values()}
    link_old, link_new = (_make_linker(path, paths) for paths in (before, after))
    old_types, new_types = ([page for _, page in sorted(paths.types.items())] for paths in (before, after))
    return lay_out(
        "changes",
        guide=relativize(path, guide),
        old=old.name,
        new=new.name,
        methods=[
            (link_old(page), link_new(matches[page][0]) if page in matches else None, matches.get(page, ("", ()))[1])
            for page in before.methods.values()
        ],
        added=[link_new(page) for page in after.methods.values() if page not in matched_pages],
        changed_types=[link_old(page) for page in old_types if page in matches and matches[page][1]],
        removed_types=[link_old(page) for page in old_types if page not in matches],
        added_types=[link_new(page) for page in new_types if page not in matched_pages],
    )


def _make_linker(path: str, paths: PagePaths) -> Callable[[str], Markdown]:
    """A function that writes the link from a page to the page of a method or type of a version."""
    names = {page: name for group in (paths.methods, paths.types) for name, page in group.items()}
    return lambda page: Markdown(f"[{write_code(names[page])}]({relativize(path, paths.locate(page))})")


def match_pages(left: Version, right: Version) -> Mapping[str, tuple[str, Sequence[tuple[str, str, str]]]]:
    """The pages of methods and types that have a counterpart in another version, each with the counterpart and the differences."""
    left_pages, right_pages = left.make_page_paths(), right.make_page_paths()
    matches: dict[str, tuple[str, Sequence[tuple[str, str, str]]]] = {}
    for method in left.protocol.methods:
        earlier = (candidate for candidate in right.protocol.methods if find_successor(candidate, [method]) is not None)
        counterpart = find_successor(method, right.protocol.methods) or next(earlier, None)
        if counterpart is not None:
            differences = [*_find_method_differences(left.protocol, method, right.protocol, counterpart)]
            matches[left_pages.methods[method.name]] = right_pages.methods[counterpart.name], differences
    for name, match in _match_types(left, right).items():
        definition, match_definition = left.protocol.definitions[name], right.protocol.definitions[match]
        renamed = [("name", name, match)] if match != name else []
        differences = [*renamed, *_find_differences(_list_facts(definition), _list_facts(match_definition))]
        matches[left_pages.types[name]] = right_pages.types[match], differences
    return matches


def _match_types(left: Version, right: Version) -> Mapping[str, str]:
    """Match the types of one version with those of another: by the same name, or a name that one of the two had before."""
    left_revision, right_revision = (SchemaRevision(version.protocol, version.bundle) for version in (left, right))
    later, earlier = (
        find_renamed_definitions(left_revision.definitions, right_revision),
        find_renamed_definitions(right_revision.definitions, left_revision),
    )
    same_names = {name: name for name in left_revision.definitions if name in right_revision.definitions}
    return {**{name: was for was, name in earlier.items()}, **later, **same_names}


# --- differences -----------------------------------------------------------------------------------------------------


def _find_method_differences(
    left: ir.Protocol, left_method: ir.Method, right: ir.Protocol, right_method: ir.Method
) -> Differences:
    yield from _find_differences(_describe_method(left_method), _describe_method(right_method))
    for part, left_type, right_type in (
        ("params", left_method.params, right_method.params),
        ("result", left_method.result, right_method.result),
    ):
        facts = _list_facts(left.definitions.get(left_type or "")), _list_facts(right.definitions.get(right_type or ""))
        for fact, left_text, right_text in _find_differences(*facts):
            yield f"{part}.{fact}" if fact else part, left_text, right_text


def _find_differences(left: Mapping[str, str], right: Mapping[str, str]) -> Differences:
    """Yield the facts that differ, those of the left version first."""
    for fact in dict.fromkeys((*left, *right)):
        if left.get(fact) != right.get(fact):
            yield fact, left.get(fact, ""), right.get(fact, "")


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
    return {fact: text for fact, text in facts.items() if text}


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
        parts.append(f"lenient about {' and '.join(subject for is_set, subject in lenient if is_set)}")
    if field.unstable:
        parts.append("unstable")
    return ", ".join(parts)


def _describe_variant(variant: ir.Variant) -> str:
    parts = [variant.body or "variant"]
    if variant.capability is not None:
        parts.append(f"needs {variant.capability.partition(':')[2]}")
    return ", ".join(parts)
