"""What tells the branches of a union apart: a field whose constants differ, or the one field that each branch requires."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from acpgen import ir
from acpgen.pointers import resolve
from acpgen.schema.walk import Schema, is_object

Key: TypeAlias = "tuple[bool, Any]"
"""What tells a constant from others: true is not 1."""


class Discriminator(NamedTuple):
    """How a field tells branches apart: the branches that own each constant, those that own none, and those that take objects without
    the field.
    """

    field: str
    known: tuple[tuple[ir.JSON, tuple[int, ...]], ...]
    others: tuple[int, ...]
    untagged: tuple[int, ...]


class _Flat(NamedTuple):
    """What a schema says of an object: fields that are bound to some constants, and fields that are required."""

    constants: dict[str, list[Key]]
    required: set[str]


class Tags:
    """Reads the unions of one schema document."""

    def __init__(self, document: Schema) -> None:
        self._document = document
        self._flats: dict[str, _Flat] = {}
        self._values: dict[str, list[Any] | None] = {}

    def of(self, branches: Sequence[Any], real: Sequence[int]) -> Discriminator | None:
        """The field that tells branches apart best; `real` are the branches that are not null alone."""
        flats = {index: self._flat(branches[index]) for index in real}
        fields = Counter(name for flat in flats.values() for name in flat.constants)
        fields.update(name for flat in flats.values() for name in flat.constants if name in flat.required)
        found = [_tag(field, flats) for field, count in fields.items() if count > 1]
        telling = [one for one in found if len({owners for _, owners in one.known}) + len(one.others) > 1]
        return max(telling, key=_precision, default=None)

    def keys(self, branches: Sequence[Any], real: Sequence[int]) -> Mapping[int, str]:
        """The one field that each branch for objects requires, where these differ; empty for other unions."""
        found: dict[int, str] = {}
        for index in real:
            schema, seen = branches[index], set[str]()
            while is_object(schema) and isinstance(schema.get("$ref"), str) and schema["$ref"] not in seen:
                seen.add(schema["$ref"])
                schema = self._at(schema["$ref"])
            if is_object(schema) and schema.get("type") == "object":
                required = schema.get("required", ())
                if len(required) != 1:
                    return {}
                found[index] = required[0]
        return found if len(set(found.values())) == len(found) > 1 else {}

    def _flat(self, schema: Any) -> _Flat:
        flat = _Flat({}, set())
        if not is_object(schema):
            return flat
        for name, sub in schema.get("properties", {}).items():
            values = self._constants(sub)
            if values and all(isinstance(value, str | int | float) for value in values):
                flat.constants[name] = [(isinstance(value, bool), value) for value in values]
        flat.required.update(schema.get("required", ()))
        parts = [self._flat(one) for one in schema.get("allOf", ())]
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference not in self._flats:
                self._flats[reference] = _Flat({}, set())  # until it is read
                self._flats[reference] = self._flat(self._at(reference))
            parts.append(self._flats[reference])
        unions = [schema[keyword] for keyword in ("anyOf", "oneOf") if schema.get(keyword)]
        parts += [_any_of([self._flat(one) for one in branches]) for branches in unions]
        for part in parts:
            for name, keys in part.constants.items():
                flat.constants[name] = [key for key in flat.constants.get(name, keys) if key in keys]
            flat.required.update(part.required)
        return flat

    def _constants(self, schema: Any) -> list[Any] | None:
        """The constants that a schema admits at most, if it lists any."""
        if not is_object(schema):
            return None
        lists: list[list[Any] | None] = []
        if "const" in schema:
            lists.append([schema["const"]])
        elif isinstance(schema.get("enum"), list):
            lists.append(schema["enum"])
        lists += [self._constants(one) for one in schema.get("allOf", ())]
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference not in self._values:
                self._values[reference] = None  # until it is read
                self._values[reference] = self._constants(self._at(reference))
            lists.append(self._values[reference])
        for keyword in ("anyOf", "oneOf"):
            branches = [self._constants(one) for one in schema.get(keyword, ())]
            if branches and None not in branches:
                lists.append([value for branch in branches for value in branch or ()])
        return min((found for found in lists if found is not None), key=len, default=None)

    def _at(self, reference: str) -> Any:
        return resolve(self._document, unquote(reference))


def _any_of(branches: Sequence[_Flat]) -> _Flat:
    """What holds in every branch."""
    first, *others = branches
    shared = [name for name in first.constants if all(name in other.constants for other in others)]
    constants = {name: list(dict.fromkeys(key for one in branches for key in one.constants[name])) for name in shared}
    return _Flat(constants, first.required.intersection(*(other.required for other in others)))


def _tag(field: str, flats: Mapping[int, _Flat]) -> Discriminator:
    known: dict[Key, list[int]] = {}
    for index, flat in flats.items():
        for key in flat.constants.get(field, ()):
            known.setdefault(key, []).append(index)
    others = tuple(index for index, flat in flats.items() if field not in flat.constants)
    untagged = tuple(index for index, flat in flats.items() if field not in flat.required)
    return Discriminator(field, tuple((value, tuple(owners)) for (_, value), owners in known.items()), others, untagged)


def _precision(tag: Discriminator) -> tuple[bool, int, int]:
    """How well a union is told apart: no tag that two branches own comes first, then the branches with a tag, then few tags."""
    marked = {index for _, owners in tag.known for index in owners}
    return all(len(owners) == 1 for _, owners in tag.known), len(marked), -len(tag.known)
