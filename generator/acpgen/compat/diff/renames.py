"""Renames of members of definitions, methods and definitions: declared by `x-was`, or inferred."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice
from typing import Final, TypeAlias, TypeVar
from urllib.parse import unquote

from acpgen import ir
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.numbers import dumps, loads
from acpgen.pointers import split_place, split_pointer

Member: TypeAlias = "ir.Field | ir.Variant | ir.EnumValue"

_K = TypeVar("_K")


def find_declared_renames(before: Mapping[_K, Member], after: Mapping[_K, Member]) -> dict[_K, _K]:
    """The renames that `x-was` declares: from the key of the old member to the key of the new one."""
    removed_members = {key: member for key, member in before.items() if key not in after}
    renames: dict[_K, _K] = {}
    for key, member in after.items():
        if key not in before and member.was:
            candidates = (
                was for was, old in removed_members.items() if was not in renames and _is_declared(old, member)
            )
            renames |= dict.fromkeys(islice(candidates, 1), key)
    return renames


def _is_declared(old: Member, new: Member) -> bool:
    """Whether a member declares that it was another member before: by its place in the old files, or by its name, tag or value."""
    place = split_place(old.at)
    places = (place, (_SYNONYMS.get(place[0], place[0]), *place[1:])) if place else ()
    return any(split_pointer(unquote(was)) in places if was.startswith("#") else was == name_of(old) for was in new.was)


_SYNONYMS: Final = {"$defs": "definitions", "definitions": "$defs"}


def name_of(member: Member) -> str:
    """The name, tag or value of a member."""
    return str(
        member.name if isinstance(member, ir.Field) else member.tag if isinstance(member, ir.Variant) else member.value
    )


ALIKE: Final = 0.7
"""The minimum similarity of the names of two members that are taken as one; 1 is equal except for case and separators."""


def find_likely_renames(removed_members: Mapping[str, object], added_members: Mapping[str, object]) -> dict[str, str]:
    """The new name of each old member that was probably renamed, by similarity of names.

    The members have their contents by name: only members with equal contents match. The most similar come first, each once; of equally
    similar candidates none is taken.
    """
    scored = [
        (score, old, new)
        for old, content in removed_members.items()
        for new, new_content in added_members.items()
        if content == new_content and (score := measure_likeness(old, new)) >= ALIKE
    ]
    olds, news = Counter((score, old) for score, old, _ in scored), Counter((score, new) for score, _, new in scored)
    renames: dict[str, str] = {}
    targets: set[str] = set()
    for score, old, new in sorted(scored, key=lambda candidate: (-candidate[0], candidate[1:])):
        is_single = olds[score, old] == news[score, new] == 1
        if is_single and old not in renames and new not in targets:
            renames[old] = new
            targets.add(new)
    return renames


def describe_content(member: Member, texts: Mapping[str, str], tags: Collection[str] = ()) -> object:
    """The content of a member without its name; `texts` are those of the definitions, `tags` the tag members of variants."""
    match member:
        case ir.Field():
            return _describe_type(member.type, texts)
        case ir.Variant():
            return _without(texts.get(member.type, member.type), tags)
        case ir.EnumValue():
            return type(member.value).__name__


def _describe_type(type_: ir.Type, texts: Mapping[str, str]) -> object:
    """A type with the texts of its definitions instead of their names."""
    match type_:
        case ir.Ref(name):
            return texts.get(name, name)
        case ir.AnyOf(types):
            return tuple(_describe_type(branch, texts) for branch in types)
        case ir.Array(items=items):
            return replace(type_, items=ir.Anything()), _describe_type(items, texts)
        case ir.Map(values):
            return "map", _describe_type(values, texts)
        case _:
            return type_


def _without(text: str, tags: Collection[str]) -> object:
    """The text of a definition without the tag members of variants."""
    if not text.startswith("{"):
        return text
    schema = loads(text)
    for tag in tags:
        schema.get("properties", {}).pop(tag, None)
    return dumps(schema, sort_keys=True)


def measure_likeness(old: str, new: str) -> float:
    """The similarity of two names, from 0 to 1; high if one contains all words of the other."""
    old_words, new_words = _split_words(old), _split_words(new)
    if old_words == new_words:
        return 1.0
    if old_words and new_words and (set(old_words) <= set(new_words) or set(new_words) <= set(old_words)):
        return 0.9
    return SequenceMatcher(None, "".join(old_words), "".join(new_words), autojunk=False).ratio()


def _split_words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def find_successor(method: ir.Method, methods: Iterable[ir.Method]) -> ir.Method | None:
    """The counterpart of a method: the method with the same name, or the one that declares this former name by `x-was`."""
    candidates = [candidate for candidate in methods if (candidate.side, candidate.kind) == (method.side, method.kind)]
    same = next((candidate for candidate in candidates if candidate.name == method.name), None)
    return same or next((candidate for candidate in candidates if method.name in candidate.was), None)


def find_renamed_methods(old: SchemaRevision, new: SchemaRevision) -> dict[str, str]:
    """The renamed methods, from the old name to the new one."""
    pairs = ((method.name, find_successor(method, new.methods)) for method in old.methods)
    return {
        name: counterpart.name for name, counterpart in pairs if counterpart is not None and counterpart.name != name
    }


def find_renamed_definitions(old: Collection[str], new: SchemaRevision) -> dict[str, str]:
    """The definitions whose renames `x-was` declares, from the old name to the new one."""
    return {
        was: name
        for name in new.definitions
        for was in new.list_former_names(name)
        if was in old and was not in new.definitions
    }
