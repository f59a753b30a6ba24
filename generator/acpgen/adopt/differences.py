"""The differences between the facts of two schemas, as fine-grained as possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from acpgen.adopt.facts import UNIONS, Key, Parts, extract_facts, find_union_keyword, key_branches, state_the_same
from acpgen.adopt.layout import format_line
from acpgen.input.walk import MAPS, SINGLE, Schema, is_array, is_object
from acpgen.pointers import write_pointer

LONGEST: Final = 72


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that changed. `None` means absent."""

    at: Parts
    old: Any
    new: Any
    kind: Literal["keyword", "member", "order", "required"] = "keyword"
    """What changed: a keyword; a whole definition, field or branch; the order of these; or a required name."""


def find_differences(old: Any, new: Any, at: Parts = ()) -> Iterator[Difference]:
    """Yield the differences between the facts of two schemas. Fields are matched by name, branches by `key_branches`."""
    if old is None or new is None:
        if old is not new:
            yield Difference(at, extract_facts(old), extract_facts(new), "member")
        return
    if state_the_same(old, new):
        return
    if not is_object(old) or not is_object(new):
        yield Difference(at, old, new)
        return
    before, after = extract_facts(old), extract_facts(new)
    visited_keywords: set[str] = set()
    keywords = find_union_keyword(before), find_union_keyword(after)
    if keywords[0] is not None and keywords[1] is not None:
        visited_keywords.update(UNIONS)
        if keywords[0] != keywords[1]:
            yield Difference(at, *keywords)
        yield from _find_member_differences(
            key_branches(before[keywords[0]]), key_branches(after[keywords[1]]), (*at, keywords[1])
        )
    for keyword in dict.fromkeys((*before, *after)):
        if keyword in visited_keywords:
            continue
        location = (*at, keyword)
        was, now = before.get(keyword), after.get(keyword)
        if keyword in MAPS:
            yield from _find_member_differences(was or {}, now or {}, location)
        elif keyword == "required":
            names: list[list[str]] = [before.get(keyword, []), after.get(keyword, [])]
            yield from (Difference(location, name, None, "required") for name in names[0] if name not in names[1])
            yield from (Difference(location, None, name, "required") for name in names[1] if name not in names[0])
        elif keyword in SINGLE:
            yield from find_differences(was, now, location)
        elif not state_the_same({keyword: was}, {keyword: now}):
            yield Difference(location, was, now)


def _find_member_differences(old: Mapping[Any, Any], new: Mapping[Any, Any], at: Parts) -> Iterator[Difference]:
    for name in dict.fromkeys((*old, *new)):
        yield from find_differences(old.get(name), new.get(name), (*at, name))
    old_order = [name for name in old if name in new]
    order = [name for name in new if name in old]
    if old_order != order:
        yield Difference(at, [_name_part(name) for name in old_order], [_name_part(name) for name in order], "order")


def find_pointer(root: Schema, at: Parts) -> str:
    """The JSON Pointer of a location in a schema; parts that no longer exist are appended in words after the last existing one."""
    plain: list[str] = []
    node: Any = root
    for index, part in enumerate(at):
        name = part
        if isinstance(part, tuple):
            places = list(key_branches(node)) if is_array(node) else []
            if part not in places:
                return f"{write_pointer(*plain)} ({', '.join(_name_part(step) for step in at[index:])})"
            name = str(places.index(part))
        assert isinstance(name, str)
        if is_object(node):
            node = node.get(name)
        elif is_array(node) and name.isdigit():
            node = node[int(name)]
        elif node is not None:
            break
        plain.append(name)
    return write_pointer(*plain)


def _name_part(name: str | Key) -> str:
    """The displayed name of a part: the name of a field, or what identifies a branch."""
    if isinstance(name, str):
        return name
    match name:
        case ("tag", tag, value, *_):
            return f"{tag} {value}"
        case (keyword, value, *_):
            return f"{keyword} {value}"
        case _:
            return "a branch"


def shorten(value: Any) -> str:
    """A value as JSON, truncated to `LONGEST` characters."""
    if value is None:
        return "nothing"
    text = format_line(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def join_names(names: Sequence[str], most: int = 6) -> str:
    """Join names for a sentence; at most `most` of them are listed."""
    remainder = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + remainder
