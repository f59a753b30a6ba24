"""The migration guide between two versions: what the new version says of the old one, and what the check found, told to those who must
change their code.

What was found is grouped by area (the schema file in which a method stands) and method. Each method shows a smallest message of both
versions, what the sender does differently, and what it may do besides. Two tables hold what stands in many methods: capabilities, and
the types that have come, gone or been renamed.

That something is gone is computed; what takes its place is not. The new version says it by `x-migration`; where it does not, the guide
says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final, assert_never

from acpgen import ir
from acpgen.compat import moves
from acpgen.compat.protocol.candidates import Examples, NoExample
from acpgen.compat.protocol.check import Judged, check
from acpgen.compat.protocol.messages import Part, Route, message
from acpgen.compat.protocol.revision import Revised
from acpgen.markup import code, plain, prose
from acpgen.pointers import place_parts
from acpgen.schema.walk import is_object

_VERSION: Final = "protocolVersion"

INSTEAD: Final[Mapping[str, str]] = {
    "alternative-added": "Be ready to receive this new form.",
    "alternative-removed": "Do not send this form any more.",
    "batch-allowed": "Be ready to receive messages in batches.",
    "batch-withdrawn": "Send each message on its own, not in batches.",
    "closed-field-added": "You may send it.",
    "closed-value-added": "Be ready to receive it.",
    "closed-value-removed": "Do not send this value any more.",
    "closed-variant-added": "Be ready to receive it.",
    "closed-variant-removed": "Do not send this variant any more.",
    "default-changed": "Send the value instead of leaving it out.",
    "demand-changed": "See which capability demands it now.",
    "extension-declared": "Send nothing else under the name.",
    "extension-undeclared": "It stays allowed as an extension.",
    "field-added": "You may send it.",
    "field-became-optional": "Be ready to receive messages without it.",
    "field-became-required": "Always send it.",
    "field-removed": "Stop sending it: receivers ignore it.",
    "field-renamed": "Use the new name.",
    "gate-added": "Send it only to peers that advertise the capability.",
    "gate-moved": "Look at the new capability before you send it.",
    "gate-removed": "Be ready to receive it without having advertised anything.",
    "leniency-added": "Invalid values are decoded leniently now.",
    "leniency-withdrawn": "Send valid values.",
    "limit-changed": "Keep to the new limit.",
    "limit-loosened": "Be ready to receive more values.",
    "limit-tightened": "Keep to the new limit.",
    "method-added": "You may send it where its description allows that.",
    "method-kind-changed": "Change what you wait for: requests are answered, notifications are not.",
    "method-removed": "Do not send it any more.",
    "method-renamed": "Use the new name.",
    "null-allowed": "Be ready to receive null.",
    "null-forbidden": "Send a value instead of null; leave the field out where it is optional.",
    "null-meaning-changed": "Check what null means before you send it.",
    "null-result-withdrawn": "Answer with an object, not with null.",
    "object-closed": "Send declared members only.",
    "object-opened": "Be ready to receive members that are not declared.",
    "position-changed": "Send each item at its new position.",
    "required-field-added": "Send it.",
    "required-field-removed": "Stop sending it, and do not require it of others.",
    "tag-renamed": "Name the variant in the new member.",
    "tolerance-added": "Keep variants that you do not know.",
    "tolerance-withdrawn": "Refuse variants that you do not know.",
    "type-changed": "Send the new type only.",
    "type-narrowed": "Send the new type only.",
    "type-widened": "Be ready to receive the new type.",
    "unknown-accepted": "Keep what you do not know instead of refusing it.",
    "unknown-refused": "Send known values only.",
    "untagged-variant-added": "Be ready to receive this form without a tag.",
    "untagged-variant-removed": "Give every variant its tag.",
    "value-added": "You may send it; be ready to receive it.",
    "value-removed": "Do not send this value any more.",
    "values-named": "Some values have a known meaning now.",
    "values-unnamed": "Do not rely on known values.",
    "variant-added": "You may send it; be ready to receive it.",
    "variant-beside-default-added": "Be ready to receive it.",
    "variant-renamed": "Use the new tag.",
    "variant-removed": "Do not send this variant any more.",
}
"""What a reader does about a finding. What is not listed needs nothing to be done."""

REMOVED: Final = frozenset(
    {
        *(
            "closed-value-removed",
            "closed-variant-removed",
            "field-removed",
            "method-removed",
            "required-field-removed",
        ),
        *("untagged-variant-removed", "value-removed", "variant-removed"),
    }
)
"""The rules about what only the old version has."""

REPLACED: Final = frozenset({"default-changed", "null-forbidden", "type-changed", "type-narrowed", "type-widened"})
"""The rules about what has another form now, which `x-migration` tells better than the difference of the schemas."""

_UNTOLD: Final = "The schema does not say whether anything takes its place."


def guide(old: Revised, new: Revised) -> str:
    """The guide from one version to the next, as Markdown."""
    return "\n".join(_lines(old, new)).rstrip() + "\n"


def _lines(old: Revised, new: Revised) -> Iterator[str]:
    judged = check(old, new).judged
    mine = [each for each in judged if each.severity != "editorial"]
    begins = (
        "what the new version says of the old one, who has to do what, and all that was found"
        if new.bundle.moves
        else "found"
    )
    yield f"# Migration guide: {plain(old.protocol.name)} to {plain(new.protocol.name)}\n"
    yield (
        f"What changes for those who speak {code(old.protocol.name)} and move to {code(new.protocol.name)}: {begins} by the two schemas, "
        "with every message in this guide checked against the schema of its version.\n"
    )
    yield from _overview(old, new, judged)
    yield from moves.lines(old, new)
    yield "\n## What the schemas say\n"
    yield "All that differs between the schemas of the two versions, by method. It is computed, so nothing is left out.\n"
    for area, methods in _areas(old, new).items():
        yield f"\n## {plain(area)}: methods"
        for name in methods:
            yield from _method(name, [each for each in mine if each.method == name], old, new)
    rest = [each for each in mine if each.method is None]
    if rest:
        yield "\n## Every message\n"
        yield from _grouped(rest, old, new)
    yield from _capabilities(old, new)
    yield from _types(old, new)


def _overview(old: Revised, new: Revised, judged: Iterable[Judged]) -> Iterator[str]:
    before, after = ({method.name for method in side.methods} for side in (old, new))
    renamed = _renamed(old, new)
    before, after = before - set(renamed), after - set(renamed.values())
    names = list(dict.fromkeys(method.name for side in (old, new) for method in side.methods))
    hard = {each.method for each in judged if each.severity in ("breaking", "risky", "undecided")}
    rows = (
        ("New", [name for name in names if name in after - before]),
        ("Gone", [name for name in names if name in before - after]),
        ("Changed so that you must act", [name for name in names if name in before & after & hard]),
        ("As they were, or only with more", [name for name in names if name in (before & after) - hard]),
    )
    yield "| Methods | |\n| --- | --- |"
    for heading, found in rows:
        yield f"| {heading} | {', '.join(map(code, found)) or '—'} |"
    if renamed:
        yield f"| Renamed | {', '.join(f'{code(was)} is {code(now)}' for was, now in renamed.items())} |"


def _renamed(old: Revised, new: Revised) -> dict[str, str]:
    """The methods that have another name now, by their old one."""
    before, after = ({method.name for method in side.methods} for side in (old, new))
    return {
        was: method.name
        for method in new.methods
        for was in method.was
        if was in before - after and method.name not in before
    }


def _areas(old: Revised, new: Revised) -> dict[str, list[str]]:
    """The methods of both versions by area, those of the new version first."""
    areas: dict[str, list[str]] = {}
    placed: set[str] = set()
    for side in (new, old):
        for method in side.methods:
            if method.name not in placed:
                placed.add(method.name)
                areas.setdefault(_area(method.at, side), []).append(method.name)
    return dict(sorted(areas.items()))


def _area(at: str, side: Revised) -> str:
    """What the file of a method calls itself; its name, where it has no title."""
    file = at.partition("#")[0]
    title, _ = side.bundle.files.get(file, ("", ""))
    words = PurePosixPath(file).name.partition(".")[0].replace("-", " ").replace("_", " ")
    return title or words[:1].upper() + words[1:]


def _method(name: str, judged: list[Judged], old: Revised, new: Revised) -> Iterator[str]:
    before, after = _named(name, old), _named(name, new)
    yield f"\n### {code(name)}\n"
    if after is not None and after.doc:
        yield f"{prose(after.doc)}\n"
    renamed = _renamed(old, new)
    earlier = [was for was, now in renamed.items() if now == name]
    if name in renamed:
        yield f"It is {code(renamed[name])} now.\n"
    elif earlier:
        yield f"It was {', '.join(map(code, earlier))}.\n"
    elif before is None or after is None:
        yield f"{'New' if before is None else 'Gone'}.\n"
    told = [f"[{plain(title)}](#{_anchor(title)})" for title in moves.about(name, new)]
    if told:
        yield f"See {', '.join(told)}.\n"
    if not judged:
        yield "Nothing changes.\n"
    if judged or before is None or after is None:
        yield from _folded("Each change", _changes(judged, before, after, old, new))


def _anchor(title: str) -> str:
    """The address of a heading, as the site generator and GitHub make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _folded(summary: str, told: Iterable[str]) -> Iterator[str]:
    """Lines that a reader opens."""
    yield f'<details markdown="1">\n<summary>{summary}</summary>\n'
    yield from told
    yield "</details>"


def _changes(
    judged: list[Judged], before: ir.Method | None, after: ir.Method | None, old: Revised, new: Revised
) -> Iterator[str]:
    """What was found about a method, and its messages."""
    must = [each for each in judged if _demands(each, old, new)]
    may = [each for each in judged if not _demands(each, old, new)]
    for heading, found in (("You must", must), ("You may", may)):
        if found:
            yield f"{heading}:\n"
            yield from _grouped(found, old, new)
            yield ""
    if must or before is None or after is None:
        yield from _messages(before, after, old, new)


def _demands(each: Judged, old: Revised, new: Revised) -> bool:
    """Whether a reader must act; not on a default of which the new version says in words what its absence means."""
    is_told = each.rule == "default-changed" and _key(each, old) in new.bundle.migration
    return each.severity in ("breaking", "undecided", "risky") and not is_told


def _grouped(found: list[Judged], old: Revised, new: Revised) -> Iterator[str]:
    """One entry a finding; findings about leniency that say the same of several fields share one."""
    by_rule: dict[tuple[str, str, str], list[Judged]] = {}
    for each in found:
        said = _nameless(each) if each.rule.startswith("leniency") else ""
        by_rule.setdefault((each.rule, each.flow, said), []).append(each)
    for (rule, _, said), group in by_rule.items():
        if said and len(group) > 1:
            places = ", ".join(dict.fromkeys(code(each.location) for each in group))
            yield f"- {places} ({_who(group[0])}): {plain(said)} {INSTEAD[rule]}"
            continue
        for each in group:
            yield _entry(each, old, new)


def _nameless(each: Judged) -> str:
    """What a finding about a field says, without the name of the field."""
    name = repr(each.location.rpartition(".")[2])
    said = each.message.removeprefix(f"{name} ")
    return said[:1].upper() + said[1:]


def _entry(each: Judged, old: Revised, new: Revised) -> str:
    told = new.bundle.migration.get(_key(each, old))
    instead = INSTEAD.get(each.rule, "")
    if each.rule in REMOVED:
        does = f"{_gone(each)} {prose(told)}" if told else f"{plain(each.message)} {instead} {_UNTOLD}"
    elif told and each.rule in REPLACED:
        does = prose(told)
    elif each.rule == "gate-added" and (advertiser := _advertiser(each)) == each.flow.partition("-to-")[0]:
        capability = str(each.subject).rpartition(":")[2]
        does = f"It is sent only once the {plain(advertiser)} has advertised {code(capability)}. Advertise it before you send this."
    else:
        does = f"{plain(each.message)} {instead}"
    return f"- {code(each.location)} ({_who(each)}): {does}".rstrip()


def _gone(each: Judged) -> str:
    """That something is gone, where another sentence says what takes its place: a field may have gone to another place."""
    name = each.location.rpartition(".")[2]
    return plain(f"The field {name!r} is gone from here." if "field" in each.rule else each.message)


def _advertiser(each: Judged) -> str:
    """The side that advertises the capability which a finding about a gate names."""
    return str(each.subject).rpartition(" ")[2].partition(":")[0]


def _key(each: Judged, old: Revised) -> str:
    """What `x-migration` calls the old thing that a finding is about."""
    if each.rule == "method-removed":
        return each.method or ""
    if each.rule == "untagged-variant-removed":
        return each.location.rpartition("(")[2].rstrip(")")
    return _members(old).get(each.old_at) or _field_key(each.old_at)


def _members(side: Revised) -> dict[str, str]:
    """The variants and values of a version by their places."""
    found: dict[str, str] = {}
    for definition in side.definitions.values():
        match definition:
            case ir.TaggedUnion():
                found |= {variant.at: f"{definition.name}({variant.tag})" for variant in definition.variants}
            case ir.Enum():
                found |= {value.at: f"{definition.name}({value.value})" for value in definition.values}
            case _:
                pass
    return found


def _field_key(at: str) -> str:
    """The name of the definition or field at a place, a field's with the fields on the way to it; empty where there is none."""
    parts = place_parts(at)
    names = [name for before, name in pairwise(parts) if before == "properties"]
    return ".".join((parts[1], *names)) if len(parts) == 2 or (len(parts) > 1 and names) else ""


def _who(each: Judged) -> str:
    sender, arrow, receiver = each.flow.partition("-to-")
    return f"{sender} → {receiver}" if arrow else "either side"


def _messages(before: ir.Method | None, after: ir.Method | None, old: Revised, new: Revised) -> Iterator[str]:
    parts: tuple[Part, ...] = ("params", "result")
    for part in parts:
        shown = [
            (_example(method, part, side, new), side)
            for method, side in ((before, old), (after, new))
            if method is not None
        ]
        texts = [(json.dumps(value, indent=2, ensure_ascii=False), side) for value, side in shown if value is not None]
        if len({text for text, _ in texts}) < len(texts):
            continue
        for text, side in texts:
            what = "A message" if part == "params" else "An answer"
            yield f"{what} in {code(side.protocol.name)}:\n\n```json\n{text}\n```\n"


def _example(method: ir.Method, part: Part, side: Revised, like: Revised) -> ir.JSON:
    """A message with the first example that the schema gives; else a smallest one, with texts as the version `like` shows them."""
    name = method.params if part == "params" else method.result
    if name is None:
        return None
    given = side.bundle.definitions[name].get("examples")
    try:
        value = given[0] if given else Examples(side, like).of(ir.Ref(name))
    except NoExample:
        return None
    version = side.protocol.version
    if is_object(value) and type(value.get(_VERSION)) is type(version):
        value = {**value, _VERSION: version}  # a reader copies this, and a peer of this version announces itself
    return message(side.protocol.envelope, Route(part, method), value)


# --- capabilities and types ------------------------------------------------------------------------------------------


def _capabilities(old: Revised, new: Revised) -> Iterator[str]:
    """Every marker of both versions and what advertises it, those of one name beside one another."""
    rows: list[tuple[str, str, str]] = []
    lacks = f"none in {code(old.protocol.name)}"
    for side in dict.fromkeys((*old.protocol.sides, *new.protocol.sides)):
        before, after = (dict(_markers(revised, side)) for revised in (old, new))
        matches = _counterparts(tuple(before), tuple(after))
        for path, sign in before.items():
            match = matches.get(path)
            there = f"{code(match)} {after[match]}" if match else _covered(f"{side}:{path}", old, new)
            rows.append((side, f"{code(path)} {sign}", there))
        matched = set(matches.values())
        rows += [(side, lacks, f"{code(path)} {sign}") for path, sign in after.items() if path not in matched]
    if rows:
        yield "\n## Capabilities\n"
        yield "What each side can advertise in its part of `initialize`, and by which value: `true`, or an object, which may be empty.\n"
        yield f"| Side | {code(old.protocol.name)} | {code(new.protocol.name)} |\n| --- | --- | --- |"
        yield from (f"| {plain(side)} | {was} | {now} |" for side, was, now in rows)


def _covered(gate: str, old: Revised, new: Revised) -> str:
    """What is said of a capability that the new version does not have: what its methods need there."""
    renamed = _renamed(old, new)
    names = [renamed.get(method.name, method.name) for method in old.methods if method.capability == gate]
    left = [method for method in new.methods if method.name in names]
    needs = [
        f"{code(method.name)} needs {code(method.capability.partition(':')[2]) if method.capability else 'none'}"
        for method in left
    ]
    return "; ".join((f"none in {code(new.protocol.name)}", *needs))


def _markers(revised: Revised, side: str) -> Iterator[tuple[str, str]]:
    """The paths of the capabilities that a side has, with the value that advertises each."""
    for method in revised.methods:
        if method.name == "initialize" and method.kind == "request":
            start = method.result if method.side == side else method.params
            record = revised.definitions.get(start or "")
            for field in revised.stable(record.fields) if isinstance(record, ir.Record) else ():
                if field.name.lower().endswith("capabilities"):
                    yield field.name, "`{}`"
                    yield from _markers_below(revised, field.type, field.name, frozenset())


def _markers_below(revised: Revised, type_: ir.Type, path: str, seen: frozenset[str]) -> Iterator[tuple[str, str]]:
    for name in _references(type_):
        definition = revised.definitions[name]
        if not isinstance(definition, ir.Record) or name in seen:
            continue
        for field in revised.stable(definition.fields):
            if field.name == "_meta":
                continue
            below = f"{path}.{field.name}"
            is_marker = any(isinstance(revised.definitions[each], ir.Record) for each in _references(field.type))
            yield below, "`{}`" if is_marker else "`true`" if field.type == ir.Boolean() else ""
            yield from _markers_below(revised, field.type, below, seen | {name})


def _references(type_: ir.Type) -> Iterator[str]:
    if isinstance(type_, ir.Ref):
        yield type_.name
    elif isinstance(type_, ir.AnyOf):
        for member in type_.types:
            yield from _references(member)


def _counterparts(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """The capabilities that both versions have, by their old paths: those of one name, and those that hold the same ones."""
    found: dict[str, str] = {}
    for path in before:
        match = _counterpart(path, before, [each for each in after if each not in found.values()])
        if match:
            found[path] = match
    for path in before:
        around = {there.rpartition(".")[0] for was, there in found.items() if was.rpartition(".")[0] == path}
        if path not in found and len(around) == 1 and around <= set(after) - set(found.values()):
            found[path] = around.pop()
    return found


def _counterpart(path: str, before: Sequence[str], after: Sequence[str]) -> str:
    """The capability that has this name alone in both versions, with the one around it or by itself; empty if there is none."""
    for names in (2, 1):
        tail = _tail(path, names)
        there = [other for other in after if _tail(other, names) == tail]
        if len(there) == 1 and [other for other in before if _tail(other, names) == tail] == [path]:
            return there[0]
    return ""


def _tail(path: str, names: int) -> tuple[str, ...]:
    """The last names of a path; the first of all stands for the same in every version."""
    return ("", *path.split(".")[1:])[-names:]


def _types(old: Revised, new: Revised) -> Iterator[str]:
    """The types that only one version has, with what the new ones hold, and those that have another name."""
    before, after = _own(old), _own(new)
    renamed = {was: name for name in after for was in new.former_names(name) if was in before and was not in after}
    gone = [name for name in before if name not in after and name not in renamed]
    added = [name for name in after if name not in before and name not in renamed.values()]
    for heading, found in (
        ("Renamed", [f"{code(was)} is {code(name)}" for was, name in renamed.items()]),
        ("Gone", [f"{code(name)}{_heir(name, new)}" for name in gone]),
        ("New", [f"{code(name)}{_held(new.definitions[name])}" for name in added]),
    ):
        if found:
            yield f"\n## {heading} types\n"
            yield from (f"- {entry}" for entry in sorted(found))


def _heir(name: str, new: Revised) -> str:
    """What takes the place of a type, as a second line of its entry."""
    told = new.bundle.migration.get(name)
    return f"\n  {prose(told)}" if told else ""


def _own(side: Revised) -> list[str]:
    """The types that have their name from the schema; what else is named stands inside of them."""
    return [
        name
        for name, at in side.bundle.origins.items()
        if at.endswith((f"#/$defs/{name}", f"#/definitions/{name}"))
        if name in side.definitions and side.keeps(side.definitions[name].unstable)
    ]


def _held(definition: ir.Definition) -> str:
    """What a type holds, as the end of a line."""
    match definition:
        case ir.Record():
            names = [field.name for field in definition.fields if field.name != "_meta"]
        case ir.TaggedUnion():
            names = [f"{definition.tag}: {variant.tag}" for variant in definition.variants]
        case ir.Enum():
            names = [str(value.value) for value in definition.values]
        case ir.Alias():
            names = []
        case _:
            assert_never(definition)
    return f": {', '.join(map(code, names))}" if names else ""


def _named(name: str, side: Revised) -> ir.Method | None:
    return next((method for method in side.methods if method.name == name), None)
