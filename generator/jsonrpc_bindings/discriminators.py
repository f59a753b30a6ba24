"""What tells the branches of a union apart: a field whose constants differ, or the one field that each branch requires."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias

from .json_types import is_array, is_object

SCALARS: Final = (str, int, float, NoneType)
"""The types of what a tag may be."""

Key: TypeAlias = "tuple[bool, Any]"
"""What tells a tag from others: true is not 1."""


def key_of(tag: Any) -> Key:
    """What tells a tag from others."""
    return isinstance(tag, bool), tag


class Discriminator(NamedTuple):
    """How a union is discriminated: the field, the branches that own each known tag, and those that own none.

    `untagged` are those that take an object without the field.
    """

    field: str
    known: dict[Key, list[int]]
    others: tuple[int, ...]
    untagged: tuple[int, ...]

    def tags(self) -> list[Any]:
        """The known tags."""
        return [tag for _, tag in self.known]


class _Flat(NamedTuple):
    """What a schema says of an object: fields that are bound to some constants, and fields that are required."""

    constants: dict[str, list[Key]]
    required: set[str]


class Unions:
    """Reads the unions of one document. `at` gives the schema that a reference leads to."""

    def __init__(self, at: Callable[[str], Any]) -> None:
        self._at: Final = at
        self._flats: dict[str, _Flat] = {}
        self._constants: dict[str, list[Any] | None] = {}

    def discriminator(self, branches: Sequence[Any], real: Sequence[int]) -> Discriminator | None:
        """The field that tells branches apart best; `real` are the branches that are not null alone."""
        flats = {index: self._flat(branches[index]) for index in real}
        fields = Counter(name for flat in flats.values() for name in flat.constants)
        fields.update(name for flat in flats.values() for name in flat.constants if name in flat.required)
        found = [_discriminator(field, flats) for field, count in fields.items() if count > 1]
        telling = [one for one in found if len(set(map(tuple, one.known.values()))) + len(one.others) > 1]
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

    def types(self, schema: Any, seen: frozenset[str] = frozenset()) -> set[str]:
        """The types that a schema declares, or the definition that it refers to, or its own branches."""
        if not is_object(schema):
            return set()
        declared: str | Sequence[str] = schema.get("type", ())
        reference = schema.get("$ref")
        if declared:
            return {declared} if isinstance(declared, str) else {*declared}
        parts: list[set[str]] = [
            self.types(one, seen) for keyword in ("anyOf", "oneOf") for one in schema.get(keyword, ())
        ]
        if isinstance(reference, str) and reference not in seen:
            parts.append(self.types(self._at(reference), seen | {reference}))
        return set[str]().union(*parts)

    def _flat(self, schema: Any) -> _Flat:
        """The fields that a schema binds to some constants, and those that it requires, references and parts followed."""
        flat = _Flat({}, set())
        if not is_object(schema):
            return flat
        for name, sub in schema.get("properties", {}).items():
            values = self.values(sub)
            if values and all(isinstance(value, SCALARS) for value in values):
                flat.constants[name] = list(map(key_of, values))
        flat.required.update(schema.get("required", ()))
        parts = list(map(self._flat, schema.get("allOf", ())))
        if isinstance(schema.get("$ref"), str):
            reference = schema["$ref"]
            if reference not in self._flats:
                self._flats[reference] = _Flat({}, set())  # until it is read
                self._flats[reference] = self._flat(self._at(reference))
            parts.append(self._flats[reference])
        unions = [schema[keyword] for keyword in ("anyOf", "oneOf") if schema.get(keyword)]
        parts += [_any_of(list(map(self._flat, branches))) for branches in unions]
        for part in parts:
            for name, keys in part.constants.items():
                flat.constants[name] = [key for key in flat.constants.get(name, keys) if key in keys]
            flat.required.update(part.required)
        return flat

    def values(self, schema: Any) -> list[Any] | None:
        """The constants that a schema admits at most, if it lists any; references, parts and alternatives are followed."""
        if not is_object(schema):
            return None
        lists = [constants(schema)] if "const" in schema or "enum" in schema else []
        lists += [[None]] if schema.get("type") == "null" else []
        lists += map(self.values, schema.get("allOf", ()))
        if isinstance(schema.get("$ref"), str):
            reference = schema["$ref"]
            if reference not in self._constants:
                self._constants[reference] = None  # until it is read
                self._constants[reference] = self.values(self._at(reference))
            lists.append(self._constants[reference])
        for keyword in ("anyOf", "oneOf"):
            branches = list(map(self.values, schema.get(keyword, ())))
            if branches and None not in branches:
                lists.append([value for branch in branches for value in branch or ()])
        return min((found for found in lists if found is not None), key=len, default=None)


def constants(schema: Any) -> list[Any] | None:
    """The constants that a branch admits, if it admits nothing else."""
    if not is_object(schema):
        return None
    return [schema["const"]] if "const" in schema else schema["enum"] if is_array(schema.get("enum")) else None


def is_null(schema: Any) -> bool:
    """Whether a branch is null alone."""
    return is_object(schema) and (schema.get("type") == "null" or ("const" in schema and schema["const"] is None))


def _any_of(branches: Sequence[_Flat]) -> _Flat:
    """What holds in every branch."""
    first, *others = branches
    shared = [name for name in first.constants if all(name in other.constants for other in others)]
    listed = {name: list(dict.fromkeys(key for one in branches for key in one.constants[name])) for name in shared}
    return _Flat(listed, first.required.intersection(*(other.required for other in others)))


def _discriminator(field: str, flats: Mapping[int, _Flat]) -> Discriminator:
    """How a field discriminates branches."""
    known: dict[Key, list[int]] = {}
    for index, flat in flats.items():
        for key in flat.constants.get(field, ()):
            known.setdefault(key, []).append(index)
    others = tuple(index for index, flat in flats.items() if field not in flat.constants)
    untagged = tuple(index for index, flat in flats.items() if field not in flat.required)
    return Discriminator(field, known, others, untagged)


def _precision(tag: Discriminator) -> tuple[bool, int, int]:
    """How well a union is told apart: no tag that two branches own comes first, then the branches with a tag, then few tags."""
    owners = list(tag.known.values())
    marked = {index for own in owners for index in own}
    return all(len(own) == 1 for own in owners), len(marked), -len(owners)
