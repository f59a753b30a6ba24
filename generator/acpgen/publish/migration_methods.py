"""The methods in a migration guide: the status of each in both versions, its changes, and a message of both versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from acpgen import ir
from acpgen.compat.diff.renames import renamed_methods
from acpgen.compat.findings import Reach
from acpgen.compat.protocol.messages import Part, Route, example, message
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.diagnostics.markup import block
from acpgen.input.walk import is_object
from acpgen.publish import migration_entries

_VERSION: Final = "protocolVersion"


def group_methods(old: SchemaRevision, new: SchemaRevision, findings: Iterable[Reach]) -> list[tuple[str, list[str]]]:
    """The names of the new, removed, changed and unchanged methods, each group with its heading."""
    before, after = ({method.name for method in side.methods} for side in (old, new))
    names_now = renamed_methods(old, new)
    before, after = before - set(names_now), after - set(names_now.values())
    names = list(dict.fromkeys(method.name for side in (old, new) for method in side.methods))
    hard = {each.method for each in findings if each.severity in ("breaking", "risky", "undecided")}
    return [
        ("New", [name for name in names if name in after - before]),
        ("Gone", [name for name in names if name in before - after]),
        ("Changed in a way that needs your action", [name for name in names if name in before & after & hard]),
        ("Unchanged or only extended", [name for name in names if name in (before & after) - hard]),
    ]


def group_by_area(old: SchemaRevision, new: SchemaRevision) -> dict[str, list[str]]:
    """The methods of both versions by area, those of the new version first."""
    areas: dict[str, list[str]] = {}
    visited: set[str] = set()
    for side in (new, old):
        for method in side.methods:
            if method.name not in visited:
                visited.add(method.name)
                areas.setdefault(find_area(method.at, side), []).append(method.name)
    return dict(sorted(areas.items()))


def find_area(at: str, side: SchemaRevision) -> str:
    """The title of the schema file that contains a place; if it has none, a title derived from the file name."""
    file = at.partition("#")[0]
    words = PurePosixPath(file).name.partition(".")[0].replace("-", " ").replace("_", " ")
    return side.bundle.title(file) or words[:1].upper() + words[1:]


def make_section(name: str, findings: list[Reach], old: SchemaRevision, new: SchemaRevision) -> dict[str, Any]:
    """The template values of one method: required and optional actions by side.

    Includes example messages if an action is required or the method is new or removed.
    """
    before, after = (next((each for each in side.methods if each.name == name), None) for side in (old, new))
    names_now = renamed_methods(old, new)
    groups: dict[tuple[str, str], list[Reach]] = {}
    for each in findings:
        how = "must" if migration_entries.is_demanded(each, old, new) else "may"
        groups.setdefault((how, migration_entries.find_actor(each)), []).append(each)
    is_new_or_gone = before is None or after is None
    return {
        "name": name,
        "doc": after.doc if after is not None else "",
        "now": names_now.get(name),
        "was": [was for was, now in names_now.items() if now == name],
        "status": "New" if before is None else "Gone" if after is None else "",
        "see": [move.title for of, move in new.bundle.moves.items() if name in (of, *move.to)],
        "groups": [
            (f"{who[:1].upper()}{who[1:]} {how}", list(migration_entries.make_entries(groups[how, who], old, new)))
            for how, who in sorted(groups, reverse=True)
        ],
        "messages": list(_make_messages(before, after, old, new))
        if is_new_or_gone or any(how == "must" for how, _ in groups)
        else [],
        "is_told": bool(findings) or is_new_or_gone,
    }


def _make_messages(
    before: ir.Method | None, after: ir.Method | None, old: SchemaRevision, new: SchemaRevision
) -> Iterator[tuple[str, SchemaRevision, ir.JSON]]:
    """Yield an example message and response of each version, unless both versions have the same one."""
    parts: tuple[Part, ...] = ("params", "result")
    for part in parts:
        examples = [
            (_make_example(method, part, side, new), side) for method, side in ((before, old), (after, new)) if method
        ]
        messages = [(value, side) for value, side in examples if value is not None]
        if len({block(value) for value, _ in messages}) == len(messages):
            what = "A message" if part == "params" else "A response"
            yield from ((what, side, value) for value, side in messages)


def _make_example(method: ir.Method, part: Part, side: SchemaRevision, like: SchemaRevision) -> ir.JSON:
    """Make a message from the first of the schema's `examples`; without any, a minimal one, with texts as in the version `like`.

    `None` if the method lacks this part or no example can be made.
    """
    name = method.params if part == "params" else method.result
    if name is None:
        return None
    examples = side.bundle.definitions[name].get("examples")
    candidate = (examples[0],) if examples else example(side, name, like)
    if candidate is None:
        return None
    (value,) = candidate
    version = side.protocol.version
    if is_object(value) and type(value.get(_VERSION)) is type(version):
        value = {**value, _VERSION: version}  # a reader copies this, and a peer of this version announces itself
    return message(side.protocol.envelope, Route(part, method), value)
