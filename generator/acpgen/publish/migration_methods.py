"""What a migration guide says of methods: all of them in a table, then each with its changes and a message of both versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final

from acpgen import ir
from acpgen.compat.diff.renames import renamed_methods
from acpgen.compat.findings import Reach
from acpgen.compat.protocol.messages import Part, Route, example, message
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.diagnostics.markup import block, code, plain, prose
from acpgen.input.walk import is_object
from acpgen.publish import migration_entries, migration_notes

_VERSION: Final = "protocolVersion"


def overview(old: SchemaRevision, new: SchemaRevision, findings: Iterable[Reach]) -> Iterator[str]:
    """Which methods are new, gone, changed or renamed, as a table."""
    before, after = ({method.name for method in side.methods} for side in (old, new))
    names_now = renamed_methods(old, new)
    before, after = before - set(names_now), after - set(names_now.values())
    names = list(dict.fromkeys(method.name for side in (old, new) for method in side.methods))
    hard = {each.method for each in findings if each.severity in ("breaking", "risky", "undecided")}
    rows = (
        ("New", [name for name in names if name in after - before]),
        ("Gone", [name for name in names if name in before - after]),
        ("Changed in a way that needs your action", [name for name in names if name in before & after & hard]),
        ("Unchanged or only extended", [name for name in names if name in (before & after) - hard]),
    )
    yield "| Change | Methods |\n| --- | --- |"
    for heading, found in rows:
        yield f"| {heading} | {', '.join(map(code, found)) or '—'} |"
    if names_now:
        yield f"| Renamed | {', '.join(f'{code(was)} is {code(now)}' for was, now in names_now.items())} |"


def areas(old: SchemaRevision, new: SchemaRevision) -> dict[str, list[str]]:
    """The methods of both versions by area, those of the new version first."""
    areas: dict[str, list[str]] = {}
    placed: set[str] = set()
    for side in (new, old):
        for method in side.methods:
            if method.name not in placed:
                placed.add(method.name)
                areas.setdefault(area(method.at, side), []).append(method.name)
    return dict(sorted(areas.items()))


def area(at: str, side: SchemaRevision) -> str:
    """What the file of a place calls itself; its name, where it has no title."""
    file = at.partition("#")[0]
    words = PurePosixPath(file).name.partition(".")[0].replace("-", " ").replace("_", " ")
    return side.bundle.title(file) or words[:1].upper() + words[1:]


def section(
    name: str, findings: list[Reach], old: SchemaRevision, new: SchemaRevision, href: Callable[[str], str]
) -> Iterator[str]:
    """What changes about one method; `href` is where a move is described, by its title."""
    before, after = (next((each for each in side.methods if each.name == name), None) for side in (old, new))
    yield f"\n### {code(name)}\n"
    if after is not None and after.doc:
        yield f"{prose(after.doc)}\n"
    names_now = renamed_methods(old, new)
    earlier = [was for was, now in names_now.items() if now == name]
    if name in names_now:
        yield f"It is {code(names_now[name])} now.\n"
    elif earlier:
        yield f"It was {', '.join(map(code, earlier))}.\n"
    elif before is None or after is None:
        yield f"{'New' if before is None else 'Gone'}.\n"
    links = [f"[{plain(title)}]({href(title)})" for title in migration_notes.about(name, new)]
    if links:
        yield f"See {', '.join(links)}.\n"
    if not findings:
        yield "Nothing changes.\n"
    if findings or before is None or after is None:
        yield from _folded("Each change", _changes(findings, before, after, old, new))


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines that a reader opens."""
    yield f'<details markdown="1">\n<summary>{summary}</summary>\n'
    yield from lines
    yield "</details>"


def _changes(
    findings: list[Reach], before: ir.Method | None, after: ir.Method | None, old: SchemaRevision, new: SchemaRevision
) -> Iterator[str]:
    """What was found about a method, and its messages."""
    groups: dict[tuple[str, str], list[Reach]] = {}
    for each in findings:
        how = "must" if migration_entries.is_demanded(each, old, new) else "may"
        groups.setdefault((how, migration_entries.actor(each)), []).append(each)
    for how, who in sorted(groups, reverse=True):
        yield f"{who[:1].upper()}{who[1:]} {how}:\n"
        yield from migration_entries.entries(groups[how, who], old, new)
        yield ""
    if any(how == "must" for how, _ in groups) or before is None or after is None:
        yield from _messages(before, after, old, new)


def _messages(
    before: ir.Method | None, after: ir.Method | None, old: SchemaRevision, new: SchemaRevision
) -> Iterator[str]:
    parts: tuple[Part, ...] = ("params", "result")
    for part in parts:
        shown = [
            (_example(method, part, side, new), side)
            for method, side in ((before, old), (after, new))
            if method is not None
        ]
        texts = [(block(value), side) for value, side in shown if value is not None]
        if len({text for text, _ in texts}) < len(texts):
            continue
        for text, side in texts:
            what = "A message" if part == "params" else "A response"
            yield f"{what} in {code(side.protocol.name)}:\n\n{text}\n"


def _example(method: ir.Method, part: Part, side: SchemaRevision, like: SchemaRevision) -> ir.JSON:
    """A message with the first example that the schema gives; else a smallest one, with texts as the version `like` shows them."""
    name = method.params if part == "params" else method.result
    if name is None:
        return None
    given = side.bundle.definitions[name].get("examples")
    made = (given[0],) if given else example(side, name, like)
    if made is None:
        return None
    (value,) = made
    version = side.protocol.version
    if is_object(value) and type(value.get(_VERSION)) is type(version):
        value = {**value, _VERSION: version}  # a reader copies this, and a peer of this version announces itself
    return message(side.protocol.envelope, Route(part, method), value)
