"""The capabilities and types in a migration guide: capabilities of both versions side by side, and types that one version lacks or
renames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from acpgen import ir
from acpgen.compat.diff.renames import find_renamed_definitions, find_renamed_methods
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.diagnostics.markup import Markdown, write_code, write_prose
from acpgen.publish.release_contents import find_own_name, list_members
from acpgen.targets.docs.type_text import list_type_references


def pair_capabilities(old: SchemaRevision, new: SchemaRevision) -> list[tuple[str, Markdown, Markdown]]:
    """The capability markers of both versions by side, each with the value that advertises it; matching ones share a row."""
    rows: list[tuple[str, Markdown, Markdown]] = []
    lacks = Markdown(f"none in {write_code(old.protocol.name)}")
    for side in dict.fromkeys((*old.protocol.sides, *new.protocol.sides)):
        before, after = (dict(_find_markers(revised, side)) for revised in (old, new))
        matches = _match_capabilities(tuple(before), tuple(after))
        for path, sign in before.items():
            match = matches.get(path)
            counterpart = (
                f"{write_code(match)} {after[match]}" if match else _describe_coverage(f"{side}:{path}", old, new)
            )
            rows.append((side, Markdown(f"{write_code(path)} {sign}"), Markdown(counterpart)))
        matched_paths = set(matches.values())
        rows += [
            (side, lacks, Markdown(f"{write_code(path)} {sign}"))
            for path, sign in after.items()
            if path not in matched_paths
        ]
    return rows


def _describe_coverage(gate: str, old: SchemaRevision, new: SchemaRevision) -> str:
    """Describe a capability that the new version lacks: what the methods that needed it require there."""
    now = find_renamed_methods(old, new)
    names = [now.get(method.name, method.name) for method in old.methods if method.capability == gate]
    remaining = [method for method in new.methods if method.name in names]
    needs = [
        f"{write_code(method.name)} needs {write_code(method.capability.partition(':')[2]) if method.capability else 'none'}"
        for method in remaining
    ]
    return "; ".join((f"none in {write_code(new.protocol.name)}", *needs))


def _find_markers(revised: SchemaRevision, side: str) -> Iterator[tuple[str, str]]:
    """Yield the paths of the capabilities of a side, each with the value that advertises it."""
    for method in revised.methods:
        if method.name == "initialize" and method.kind == "request":
            start = method.result if method.side == side else method.params
            for field in _list_fields(revised, start or ""):
                if field.name.lower().endswith("capabilities"):
                    yield field.name, "`{}`"
                    yield from _find_markers_below(revised, field.type, field.name, frozenset())


def _find_markers_below(
    revised: SchemaRevision, type_: ir.Type, path: str, visited: frozenset[str]
) -> Iterator[tuple[str, str]]:
    for name in list_type_references(type_):
        for field in _list_fields(revised, name) if name not in visited else ():
            if field.name != "_meta":
                below = f"{path}.{field.name}"
                is_marker = any(
                    isinstance(revised.definitions[target], ir.Record) for target in list_type_references(field.type)
                )
                yield below, "`{}`" if is_marker else "`true`" if field.type == ir.Boolean() else ""
                yield from _find_markers_below(revised, field.type, below, visited | {name})


def _list_fields(revised: SchemaRevision, name: str) -> Iterable[ir.Field]:
    """The stable fields of a record; none of another definition."""
    record = revised.definitions.get(name)
    return revised.list_stable(record.fields) if isinstance(record, ir.Record) else ()


def _match_capabilities(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """The capabilities that both versions have, old path to new path: those with the same name, and those that contain the same ones."""
    matches: dict[str, str] = {}
    for path in before:
        match = _match_capability(path, before, [candidate for candidate in after if candidate not in matches.values()])
        if match:
            matches[path] = match
    for path in before:
        new_paths = {new.rpartition(".")[0] for old, new in matches.items() if old.rpartition(".")[0] == path}
        if path not in matches and len(new_paths) == 1 and new_paths <= set(after) - set(matches.values()):
            matches[path] = new_paths.pop()
    return matches


def _match_capability(path: str, before: Sequence[str], after: Sequence[str]) -> str:
    """The new path of the capability whose name, with its parent or alone, is unique in both versions; empty if there is none."""
    for names in (2, 1):
        tail = _cut_tail(path, names)
        candidates = [option for option in after if _cut_tail(option, names) == tail]
        if len(candidates) == 1 and [option for option in before if _cut_tail(option, names) == tail] == [path]:
            return candidates[0]
    return ""


def _cut_tail(path: str, names: int) -> tuple[str, ...]:
    """The last names of a path; the first name of all paths counts as equal, since it may differ between versions."""
    return ("", *path.split(".")[1:])[-names:]


def compare_types(old: SchemaRevision, new: SchemaRevision) -> list[tuple[str, list[Markdown]]]:
    """The types that only one version has, the new ones with their members, and the renamed types."""
    before, after = _find_own_types(old), _find_own_types(new)
    renames = find_renamed_definitions(old.definitions, new)
    renamed = {was: name for was, name in renames.items() if was in before and name in after}
    removed_names = [name for name in before if name not in after and name not in renamed]
    new_names = [name for name in after if name not in before and name not in renamed.values()]
    notes = new.bundle.migration
    sections = (
        ("Renamed", [Markdown(f"{write_code(was)} is {write_code(name)}") for was, name in renamed.items()]),
        (
            "Gone",
            [
                Markdown(write_code(name) + (f"\n  {write_prose(notes[name])}" if name in notes else ""))
                for name in removed_names
            ],
        ),
        ("New", [Markdown(f"{write_code(name)}{_describe_members(new.definitions[name])}") for name in new_names]),
    )
    return [(heading, sorted(entries)) for heading, entries in sections if entries]


def _find_own_types(side: SchemaRevision) -> list[str]:
    """The names of types that come from the schema itself; all other types are nested in these."""
    return [
        name
        for name, at in side.bundle.origins.items()
        if find_own_name(at) and name in side.definitions and side.keeps(side.definitions[name].unstable)
    ]


def _describe_members(definition: ir.Definition) -> str:
    """The members of a type, as the end of a line."""
    head = f"{definition.tag}: " if isinstance(definition, ir.TaggedUnion) else ""
    names = [f"{head}{name}" for _, name in list_members(definition) if name != "_meta"]
    return f": {', '.join(map(write_code, names))}" if names else ""
