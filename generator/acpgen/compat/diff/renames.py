"""What members of definitions are called now: as `x-was` declares it, or as it seems."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Final, TypeAlias, TypeVar
from urllib.parse import unquote

from acpgen import ir
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.numbers import dumps, loads
from acpgen.pointers import place_parts, pointer_parts

Member: TypeAlias = "ir.Field | ir.Variant | ir.EnumValue"

_K = TypeVar("_K")


def declared_renames(before: Mapping[_K, Member], after: Mapping[_K, Member]) -> dict[_K, _K]:
    """What was called otherwise before, as `x-was` declares it: the key of the old member, and that of the new one."""
    gone = {key: one for key, one in before.items() if key not in after}
    found: dict[_K, _K] = {}
    for key, member in after.items():
        if key not in before and member.was:
            was = next((old for old, one in gone.items() if old not in found and _is_declared(one, member)), None)
            if was is not None:
                found[was] = key
    return found


def _is_declared(old: Member, new: Member) -> bool:
    """Whether a member says that it was another one: by its place in the old files, or by its name, tag or value."""
    place = place_parts(old.at)
    places = (place, (_OTHER.get(place[0], place[0]), *place[1:])) if place else ()
    return any(pointer_parts(unquote(was)) in places if was.startswith("#") else was == name_of(old) for was in new.was)


_OTHER: Final = {"$defs": "definitions", "definitions": "$defs"}


def name_of(member: Member) -> str:
    """What people call a member: its name, tag or value."""
    return str(
        member.name if isinstance(member, ir.Field) else member.tag if isinstance(member, ir.Variant) else member.value
    )


ALIKE: Final = 0.7
"""Names of two members that seem to be one are at least so much alike, where 1 is equal but for capitals and separators."""


def likely_renames(gone: Iterable[Member], added: Iterable[Member], said: Mapping[str, object]) -> dict[str, str]:
    """Which of the new members each old one seems to be, by names. `said` is what a member says: only equals are taken for one.

    The likest come first, each once; of those that are equally alike, none is, since nothing speaks for either.
    """
    scored = [
        (likeness(name_of(one), name_of(other)), name_of(one), name_of(other))
        for one in gone
        for other in added
        if said[f"old {name_of(one)}"] == said[f"new {name_of(other)}"]
    ]
    found: dict[str, str] = {}
    for score, old, new in sorted(scored, key=lambda each: (-each[0], each[1:])):
        rivals = [one for one in scored if one[0] == score and (one[1] == old) != (one[2] == new)]
        if score >= ALIKE and old not in found and new not in found.values() and not rivals:
            found[old] = new
    return found


def content_of(member: Member, texts: Mapping[str, str], tags: Collection[str] = ()) -> object:
    """What a member says but for its name; `texts` are the definitions as they are written, `tags` members that tell variants."""
    match member:
        case ir.Field():
            return _type(member.type, texts)
        case ir.Variant():
            return _without(texts.get(member.type, member.type), tags)
        case ir.EnumValue():
            return type(member.value).__name__


def _type(type_: ir.Type, texts: Mapping[str, str]) -> object:
    """A type with the texts of the definitions in it instead of their names."""
    match type_:
        case ir.Ref(name):
            return texts.get(name, name)
        case ir.AnyOf(types):
            return tuple(_type(each, texts) for each in types)
        case ir.Array(items=items):
            return replace(type_, items=ir.Anything()), _type(items, texts)
        case ir.Map(values):
            return "map", _type(values, texts)
        case _:
            return type_


def _without(text: str, tags: Collection[str]) -> object:
    """The text of a definition without the members that tell variants."""
    if not text.startswith("{"):
        return text
    schema = loads(text)
    for tag in tags:
        schema.get("properties", {}).pop(tag, None)
    return dumps(schema, sort_keys=True)


def likeness(old: str, new: str) -> float:
    """How much alike two names are, from 0 to 1: names of which one holds all words of the other are."""
    one, other = _words(old), _words(new)
    if one == other:
        return 1.0
    if one and other and (set(one) <= set(other) or set(other) <= set(one)):
        return 0.9
    return SequenceMatcher(None, "".join(one), "".join(other), autojunk=False).ratio()


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def successor(method: ir.Method, methods: Iterable[ir.Method]) -> ir.Method | None:
    """Which of the methods does what another one did: the one of its name, or the one that says by `x-was` that it had this name."""
    alike = [each for each in methods if (each.side, each.kind) == (method.side, method.kind)]
    same = next((each for each in alike if each.name == method.name), None)
    return same or next((each for each in alike if method.name in each.was), None)


def renamed_methods(old: SchemaRevision, new: SchemaRevision) -> dict[str, str]:
    """The methods that have another name now, by their old one."""
    joined = ((method.name, successor(method, new.methods)) for method in old.methods)
    return {name: found.name for name, found in joined if found is not None and found.name != name}


def renamed_definitions(old: Collection[str], new: SchemaRevision) -> dict[str, str]:
    """The definitions that have another name now, as `x-was` declares it, by their old one."""
    return {
        was: name
        for name in new.definitions
        for was in new.former_names(name)
        if was in old and was not in new.definitions
    }
