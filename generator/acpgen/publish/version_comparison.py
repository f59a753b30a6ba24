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
    for other in others:
        there, matches = version_paths[other.name], match_pages(version, other)
        for page, counterparts in versions_by_page.items():
            match, differences = matches.get(page, (page if page in there.every else None, None))
            target = there.locate(match) if match is not None else None
            counterparts.append(OtherVersion(other.name, target, other.home, differences))
    return versions_by_page


def write_page(old: Version, new: Version, path: str, guide: str, version_paths: VersionPaths) -> str:
    """Write the methods and types of two versions side by side; `guide` is the page that names replacements of what was removed."""
    before, after = version_paths[old.name], version_paths[new.name]
    matches = match_pages(old, new)
    there = {match for match, _ in matches.values()}
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
        added=[link_new(page) for page in after.methods.values() if page not in there],
        changed_types=[link_old(page) for page in old_types if page in matches and matches[page][1]],
        removed_types=[link_old(page) for page in old_types if page not in matches],
        added_types=[link_new(page) for page in new_types if page not in there],
    )


def _make_linker(path: str, paths: PagePaths) -> Callable[[str], Markdown]:
    """A function that writes the link from a page to the page of a method or type of a version."""
    names = {page: name for group in (paths.methods, paths.types) for name, page in group.items()}
    return lambda page: Markdown(f"[{write_code(names[page])}]({relativize(path, paths.locate(page))})")


def match_pages(here: Version, there: Version) -> Mapping[str, tuple[str, Sequence[tuple[str, str, str]]]]:
    """The pages of methods and types that have a counterpart in another version, each with the counterpart and the differences."""
    ours, theirs, old, new = here.make_page_paths(), there.make_page_paths(), here.protocol, there.protocol
    matches: dict[str, tuple[str, Sequence[tuple[str, str, str]]]] = {}
    for method in old.methods:
        earlier = (other for other in new.methods if find_successor(other, [method]) is not None)
        other = find_successor(method, new.methods) or next(earlier, None)
        if other is not None:
            differences = [*_find_method_differences(old, method, new, other)]
            matches[ours.methods[method.name]] = theirs.methods[other.name], differences
    for name, match in _match_types(here, there).items():
        definition, counterpart = old.definitions[name], new.definitions[match]
        renamed = [("name", name, match)] if match != name else []
        differences = [*renamed, *_find_differences(_list_facts(definition), _list_facts(counterpart))]
        matches[ours.types[name]] = theirs.types[match], differences
    return matches


def _match_types(here: Version, there: Version) -> Mapping[str, str]:
    """Match the types of one version with those of another: by the same name, or a name that one of the two had before."""
    ours, theirs = (SchemaRevision(each.protocol, each.bundle) for each in (here, there))
    later, earlier = (
        find_renamed_definitions(ours.definitions, theirs),
        find_renamed_definitions(theirs.definitions, ours),
    )
    same = {name: name for name in ours.definitions if name in theirs.definitions}
    return {**{name: was for was, name in earlier.items()}, **later, **same}


# --- differences -----------------------------------------------------------------------------------------------------


def _find_method_differences(here: ir.Protocol, method: ir.Method, there: ir.Protocol, other: ir.Method) -> Differences:
    yield from _find_differences(_describe_method(method), _describe_method(other))
    for part, mine, theirs in (("params", method.params, other.params), ("result", method.result, other.result)):
        facts = _list_facts(here.definitions.get(mine or "")), _list_facts(there.definitions.get(theirs or ""))
        for what, here_text, there_text in _find_differences(*facts):
            yield f"{part}.{what}" if what else part, here_text, there_text


def _find_differences(here: Mapping[str, str], there: Mapping[str, str]) -> Differences:
    """Yield the facts that differ, those of this version first."""
    for what in dict.fromkeys((*here, *there)):
        if here.get(what) != there.get(what):
            yield what, here.get(what, ""), there.get(what, "")


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
