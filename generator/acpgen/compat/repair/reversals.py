"""What to change in a new text so that it says what the old one says, in pieces as small as can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acpgen.schema.edits import Edit, Keys
from acpgen.schema.keywords import PROSE, TABLE
from acpgen.schema.numbers import dumps
from acpgen.schema.walk import DEFINITIONS, LISTS, MAPS, SINGLE, is_array, is_object

_SETS: Final = ("required", "enum", "type")
_ORDERED: Final = ("prefixItems", "items", "params")
"""Lists whose order counts: the last are the params of a method in an OpenRPC document."""
_WHOLE: Final = frozenset(
    {each.name for each in TABLE} - {*SINGLE, *LISTS, *MAPS, *DEFINITIONS, *_SETS, "dependencies"}
)
"""Keywords whose value is put back as a whole. What is no keyword may hold schemas, in a document of methods."""

_SILENT: Final = frozenset({*PROSE, "x-docs-ignore", "x-migration", "x-name", "x-was", "$comment"})
"""Keywords of which no message can notice anything."""


def reversals(old: Any, new: Any, at: Keys = (), *, schema: bool = True) -> Iterator[Edit]:
    """The edits that make the new value, which stands at a place, say what the old one does. `schema`: the value is a schema."""
    if same(old, new):
        return
    if is_object(old) and is_object(new):
        yield from _members(old, new, at, schema)
    elif is_array(old) and is_array(new):
        yield from _items(old, new, at)
    else:
        yield Edit("replace", at, old)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; `1` and `true` are not."""
    return one == other and dumps(one, sort_keys=True) == dumps(other, sort_keys=True)


def _members(old: dict[str, Any], new: dict[str, Any], at: Keys, schema: bool) -> Iterator[Edit]:
    before = ""
    for key, value in old.items():
        if key not in new and not (schema and key in _SILENT):
            yield Edit("add", (*at, key), value, before)
        if key in new:
            before = key
    for key, value in new.items():
        if schema and key in _SILENT:
            continue
        if key not in old:
            yield Edit("remove", (*at, key))
        elif schema and key in _WHOLE:
            if not same(old[key], value):
                yield Edit("replace", (*at, key), old[key])
        else:
            yield from reversals(old[key], value, (*at, key), schema=not (schema and key in (*MAPS, *DEFINITIONS)))


def _items(old: list[Any], new: list[Any], at: Keys) -> Iterator[Edit]:
    """Items that belong together, those that are gone, and those that have come."""
    partner = _partners(old, new)
    if at and at[-1] in _ORDERED and (len(old) != len(new) or list(partner.values()) != sorted(partner.values())):
        yield Edit("replace", at, old)
        return
    following = 0
    for index, value in enumerate(old):
        if index in partner:
            following = partner[index] + 1
            yield from reversals(value, new[partner[index]], (*at, partner[index]))
        else:
            yield Edit("add", (*at, following), value)
    taken = set(partner.values())
    yield from (Edit("remove", (*at, index)) for index in range(len(new)) if index not in taken)


def _partners(old: list[Any], new: list[Any]) -> dict[int, int]:
    """For items of the old list those of the new one that they became: equal, or alike in what tells branches apart."""
    found: dict[int, int] = {}
    for marks in (_text, _mark, _keywords):
        known = [marks(item) for item in new]
        for index, item in enumerate(old):
            mark = marks(item)
            if index not in found and mark is not None:
                free = (i for i, other in enumerate(known) if other == mark and i not in found.values())
                match = next(free, None)
                if match is not None:
                    found[index] = match
    return found


def _text(item: Any) -> str | None:
    return dumps(item, sort_keys=True)


def _keywords(item: Any) -> str | None:
    """The keywords of a branch that nothing else tells apart."""
    return dumps(sorted(item)) if is_object(item) and _mark(item) is None else None


def _mark(item: Any) -> str | None:
    """What a branch is known by: its constant, the constants of its properties, what it refers to, its title."""
    if not is_object(item):
        return None
    members: Any = item.get("properties") or {}
    constants = {name: inner["const"] for name, inner in members.items() if is_object(inner) and "const" in inner}
    named = item.get("name") if isinstance(item.get("name"), str) else None  # a method, or a param
    for mark in (item.get("const"), constants, item.get("$ref"), named, item.get("title"), item.get("type")):
        if mark not in (None, {}):
            return dumps(mark, sort_keys=True)
    return None
