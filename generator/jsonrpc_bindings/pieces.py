"""What is wrong with a value of any size: a small one is judged as a whole, a large one piece by piece, and only as far as is asked.

An engine that tells all errors of a value at once holds a copy of the value with each of them, and for a union those of every branch.
Here the schema is followed down to the pieces that it refuses, so that no error is about much more than it tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from itertools import chain, islice
from math import inf, log
from typing import Any, Final, TypeAlias

from .contract import Path
from .engine import Validator
from .explain import EXCLUDED, TOO_MANY, Explainer, Said, distance, explain, wrong_type
from .json_types import is_array, is_object
from .pointers import reference, referred, schema_pointer

Compile: TypeAlias = Callable[[Mapping[str, Any]], Validator]

SMALL: Final = 64
"""How many values make a piece that is judged as a whole; so much text counts as one."""
_TEXT: Final = 256
_BRANCHES: Final = 1_000
"""So many branches of unions within one another are told as a whole."""
_DEEPEST: Final = 30
"""How far down a large value is taken to pieces: the steps of the walk are Python's, which has only so many."""

_UNTOLD: Final = "the value does not match the schema here"

_FOLLOWED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "properties", "items", "additionalProperties"})
"""The keywords that lead to pieces."""
_GROUPS: Final = (
    *(("const",), ("enum",), ("uniqueItems",), ("contains", "minContains", "maxContains"), ("prefixItems",)),
    *(("propertyNames",), ("dependentSchemas",), ("if", "then", "else"), ("not",)),
)
"""The keywords that look further than at the value itself and lead to no pieces, those together that mean something together."""
_DEEP: Final = frozenset(keyword for group in _GROUPS for keyword in group)
_COUNTED: Final = ("additionalProperties", "minProperties", "maxProperties")
"""The keywords that ask for every member of an object. Each is told at most once."""
_ENTANGLED: Final = frozenset({"unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "patternProperties"})
"""The keywords that change what others beside them mean."""


class Pieces:
    """Judges values by the places of one schema. `compile_` makes a validator of a schema that may refer to the definitions.

    `own` gives the pattern that people wrote for the one in the schema.
    """

    def __init__(
        self, schema: Mapping[str, Any], compile_: Compile, small: int = SMALL, own: Callable[[str], str] = str
    ) -> None:
        self.schema: Final = schema
        self.small: Final = small
        self._compile = compile_
        self._explainer: Final = Explainer(schema, None, own)
        self._validators: dict[tuple[Path, str], Validator] = {}
        self._levels: Final = _levels(_widest(schema))
        self._known: dict[tuple[Path, Path], Replay] = {}

    def is_valid(self, place: Path, value: Any) -> bool:
        """Whether the schema at a place accepts a value."""
        return self._validator(place).is_valid(value)

    def problems(self, place: Path, value: Any) -> Iterator[Said]:
        """What the schema at a place refuses in a value, each thing once."""
        seen: set[tuple[Path, str]] = set()  # a base may say the same as what extends it
        one = copy(self)
        one._known = {}
        try:
            for said in one._problems(place, value, ()):
                if (said.path, said.sentence) not in seen:
                    seen.add((said.path, said.sentence))
                    yield said
        except RecursionError:
            if not seen:
                yield Said((), schema_pointer(place), _UNTOLD, "schema")

    def _problems(self, place: Path, value: Any, path: Path) -> Iterator[Said]:
        """What the schema at a place refuses in the value at a path, found once: branches of a union may lead to it all."""
        known = self._known.get((place, path))
        if known is None:
            known = self._known[place, path] = Replay(self._found(place, value, path))
        return iter(known)

    def _found(self, place: Path, value: Any, path: Path) -> Iterator[Said]:
        validator = self._validator(place)
        if validator.is_valid(value):
            return
        schema = self._explainer.at(place)
        if _is_small(value, self.small, self._levels) or not is_object(schema) or not _FOLLOWED & schema.keys():
            found = explain(validator.iter_errors(value), value, self.schema, self._explainer.own)
            yield from (said._replace(path=(*path, *said.path)) for said in found)
            return
        refused = self._refused(place, schema, value, path) if len(path) < _DEEPEST else iter(())
        first = next(refused, None)
        if first is None:
            yield Said(path, schema_pointer(place), _UNTOLD, "schema")
        else:
            yield from chain((first,), refused)

    def _refused(self, place: Path, schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Said]:
        """What is wrong with a large value: with itself, with its pieces, and what only the whole of it can tell."""
        if _ENTANGLED & schema.keys():
            yield from self._as_a_whole(place, schema, value, path, min(_ENTANGLED & schema.keys()))
            return
        count = 0
        for said in chain(self._itself(place, schema, value, path), self._below(place, schema, value, path)):
            count += 1
            yield said
        for group in _GROUPS:
            there = {keyword: schema[keyword] for keyword in group if keyword in schema}
            if there and (group != ("not",) or not count):
                rule = next(iter(there))
                yield from self._as_a_whole((*place, rule), there, value, path, rule)

    def _itself(self, place: Path, schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Said]:
        """The problems that a value has without what it holds."""
        rest = {keyword: schema[keyword] for keyword in schema if keyword not in _FOLLOWED | _DEEP}
        if schema.get("additionalProperties") is False:
            rest["additionalProperties"] = False
        rest["properties"] = dict.fromkeys(schema.get("properties", {}), True)
        if not is_object(value):
            yield from self._bare(place, "itself", rest, [None] * len(value) if is_array(value) else value, path)
            return
        counted: dict[str, Any] = {keyword: rest.pop(keyword) for keyword in _COUNTED if keyword in rest}
        yield from self._bare(place, "itself", rest, self._named(rest, value), path)
        if counted:
            counted["properties"] = rest["properties"]
            yield from self._bare(place, "members", counted, dict.fromkeys(value), path)

    def _named(self, schema: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, None]:
        """The members of an object that a schema names, and some others, one of which may be meant for what is missing.

        Each error is about a copy of the object, and an object may have very many members.
        """
        needs: Mapping[str, Sequence[str]] = schema.get("dependentRequired", {})
        names = {*schema["properties"], *schema.get("required", ()), *needs, *chain.from_iterable(needs.values())}
        others = islice((name for name in value if name not in names), SMALL)
        return dict.fromkeys(chain((name for name in value if name in names), others))

    def _bare(self, place: Path, part: str, schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Said]:
        """What a part of the schema at a place refuses in a value without what it holds."""
        errors = self._validator(place, part, schema).iter_errors(value)
        for said in explain(errors, value, schema, self._explainer.own):
            yield said._replace(path=(*path, *said.path), schema=schema_pointer(place) + said.schema[1:])

    def _below(self, place: Path, schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Said]:
        if "$ref" in schema:
            yield from self._problems(referred(schema["$ref"]), value, path)
        for index in range(len(schema.get("allOf", ()))):
            yield from self._problems((*place, "allOf", index), value, path)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._union((*place, keyword), schema[keyword], value, path)
        if is_object(value):
            declared = schema.get("properties", {})
            for name, item in value.items():
                if name in declared:
                    yield from self._problems((*place, "properties", name), item, (*path, name))
                elif schema.get("additionalProperties", True) not in (True, False):
                    yield from self._problems((*place, "additionalProperties"), item, (*path, name))
        if is_array(value) and "items" in schema:
            for index in range(len(schema.get("prefixItems", ())), len(value)):
                yield from self._problems((*place, "items"), value[index], (*path, index))

    def _as_a_whole(self, place: Path, schema: Mapping[str, Any], value: Any, path: Path, rule: str) -> Iterator[Said]:
        """What cannot be told of a large value in pieces is told in a word."""
        if not self._validator(place, "whole", schema).is_valid(value):
            sentence = EXCLUDED if rule == "not" else f"the value does not satisfy the keyword {rule!r}"
            yield Said(path, schema_pointer(place), sentence, rule)

    # --- unions ---

    def _union(self, place: Path, branches: Sequence[Any], value: Any, path: Path) -> Iterator[Said]:
        failed = [index for index in range(len(branches)) if not self.is_valid((*place, index), value)]
        taken = len(branches) - len(failed)
        if taken == 1 or (taken and place[-1] == "anyOf"):
            return
        if taken:
            yield Said(path, schema_pointer(place), TOO_MANY, "oneOf")
            return
        yield from self._explainer.union(
            place,
            path,
            value,
            failed,
            lambda index: self._problems((*place, index), value, path),
            lambda indices: self._nearest(place, indices, value, path),
        )

    def _nearest(self, place: Path, indices: Sequence[int], value: Any, path: Path) -> Iterator[Said]:
        """What is wrong by the branch that comes nearest, told by the first problems of each."""
        told_by = {index: self._problems((*place, index), value, path) for index in indices}
        first = {index: list(islice(found, FIRST)) for index, found in told_by.items()}
        best = min(first, key=lambda index: _distance(first[index], path))
        if _distance(first[best], path)[0]:
            types = {name for index in indices for name in self._types((*place, index))}
            yield Said(path, schema_pointer(place), wrong_type(types, value), "type")
        else:
            yield from chain(first[best], told_by[best])

    def _types(self, place: Path) -> tuple[str, ...]:
        """The types that a branch declares, or the definition that it refers to."""
        schema = self._explainer.at(place)
        if is_object(schema) and "type" not in schema and "$ref" in schema:
            return self._types(referred(schema["$ref"]))
        declared = schema.get("type", ()) if is_object(schema) else ()
        return (declared,) if isinstance(declared, str) else tuple(declared)

    def _validator(self, place: Path, part: str = "", schema: Mapping[str, Any] | None = None) -> Validator:
        """The validator of what stands at a place, or of a part of it; each is made once."""
        found = self._validators.get((place, part))
        if found is None:
            found = self._compile(schema if schema is not None else {"$ref": reference(place)})
            self._validators[place, part] = found
        return found


class Replay:
    """What an iterator gives, to several who ask."""

    def __init__(self, source: Iterator[Said]) -> None:
        self._source: Final = source
        self._given: Final[list[Said]] = []

    def __iter__(self) -> Iterator[Said]:
        index = 0
        while True:
            if index == len(self._given):
                following = next(self._source, None)
                if following is None:
                    return
                self._given.append(following)
            yield self._given[index]
            index += 1


def _is_small(value: Any, most: int, levels: float) -> bool:
    waiting = [(value, 0)]
    for item, level in waiting:  # which grows
        if isinstance(item, str):
            most -= len(item) // _TEXT
        elif is_object(item) or is_array(item):
            if level == levels or len(waiting) + len(item) > most:
                return False
            waiting.extend((inner, level + 1) for inner in (item.values() if is_object(item) else item))
            most -= sum(len(key) for key in item) // _TEXT if is_object(item) else 0
    return most > 0


def _levels(widest: int) -> float:
    """How many levels of a value are told as a whole."""
    return log(_BRANCHES, widest) // 1 if widest > 1 else inf


def _widest(schema: Mapping[str, Any]) -> int:
    """How many branches of one union lead back to it at most, so that each level of a value takes all of them."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    users: dict[str, set[str]] = {}
    for name, definition in definitions.items():
        for referred_to in _references(definition):
            users.setdefault(referred_to, set()).add(name)
    widest = 1
    for name, definition in definitions.items():
        unions = [union for union in _unions(definition) if len(union) > widest]
        if not unions:
            continue
        leading, waiting = {name}, [name]  # the definitions that lead to this one
        while waiting:
            more = users.get(waiting.pop(), set()) - leading
            leading |= more
            waiting.extend(more)
        widest = max(widest, *(sum(not leading.isdisjoint(_references(one)) for one in union) for union in unions))
    return widest


def _references(schema: Any) -> Iterator[str]:
    for part in _parts(schema):
        if isinstance(part.get("$ref"), str):
            yield from referred(part["$ref"])[1:2]


def _unions(schema: Any) -> Iterator[Sequence[Any]]:
    return (part[key] for part in _parts(schema) for key in ("anyOf", "oneOf") if is_array(part.get(key)))


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in a schema, at any depth."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if is_object(part):
            yield part
        waiting.extend(part.values() if is_object(part) else part if is_array(part) else ())


FIRST: Final = 100
"""How many problems of each branch are looked at, to find the nearest one."""


def _distance(said: Sequence[Said], path: Path) -> tuple[bool, bool, int, int]:
    return distance([one.rule for one in said if one.path == path], len(said))
