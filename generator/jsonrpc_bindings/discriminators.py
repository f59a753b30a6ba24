"""Discriminators of unions: a field whose constants differ, or the one field that each branch requires."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, NamedTuple

from .json_types import is_array, is_object, make_scalar_key

SCALARS: Final = (str, int, float, NoneType)
"""The types that a tag may have."""


class Discriminator(NamedTuple):
    """How a union is discriminated: by a field. `owners` are the branches of each known tag, by `make_scalar_key`; `free` have no tag.

    `untagged` are the branches that accept an object without the field.
    """

    field: str
    owners: dict[Any, list[int]]
    free: tuple[int, ...]
    untagged: tuple[int, ...]

    def list_tags(self) -> list[Any]:
        """The known tags."""
        return [tag for _, tag in self.owners]


class _Flat(NamedTuple):
    """The properties of an object schema that are restricted to constants, and those that are required."""

    constants: dict[str, list[Any]]
    required: set[str]


class Unions:
    """The unions of one document. `at` resolves a reference."""

    def __init__(self, at: Callable[[str], Any]) -> None:
        self._at: Final = at
        self._flats: dict[str, _Flat] = {}
        self._constants: dict[str, list[Any] | None] = {}

    def find_discriminator(self, branches: Sequence[Any], real: Sequence[int]) -> Discriminator | None:
        """The field that discriminates the branches best; `real` are the indices of the branches that are not just null."""
        flats = {index: self._flatten(branches[index]) for index in real}
        fields = Counter(name for flat in flats.values() for name in flat.constants)
        fields.update(name for flat in flats.values() for name in flat.constants if name in flat.required)
        candidates = [_make_discriminator(field, flats) for field, count in fields.items() if count > 1]
        of_objects = {index for index in real if "object" in (self.list_types(branches[index]) or ("object",))}
        telling = [
            candidate
            for candidate in candidates
            if len({*map(tuple, candidate.owners.values())}) + len(of_objects.intersection(candidate.free)) > 1
        ]
        return max(telling, key=_rank, default=None)

    def find_keys(self, branches: Sequence[Any], real: Sequence[int]) -> Mapping[int, str]:
        """The one field that each object branch requires, if these differ; empty for other unions."""
        required_fields: dict[int, str] = {}
        for index in real:
            schema, visited = branches[index], set[str]()
            while is_object(schema) and isinstance(schema.get("$ref"), str) and schema["$ref"] not in visited:
                visited.add(schema["$ref"])
                schema = self._at(schema["$ref"])
            if is_object(schema) and schema.get("type") == "object":
                required = schema.get("required", ())
                if len(required) != 1:
                    return {}
                required_fields[index] = required[0]
        return required_fields if len(set(required_fields.values())) == len(required_fields) > 1 else {}

    def list_types(self, schema: Any, visited: frozenset[str] = frozenset()) -> set[str]:
        """The types that a schema declares, by itself, by the definition that it refers to, or by its branches."""
        if not is_object(schema):
            return set()
        types: str | Sequence[str] = schema.get("type", ())
        reference = schema.get("$ref")
        if types:
            return {types} if isinstance(types, str) else {*types}
        parts: list[set[str]] = [
            self.list_types(branch, visited) for keyword in ("anyOf", "oneOf") for branch in schema.get(keyword, ())
        ]
        if isinstance(reference, str) and reference not in visited:
            parts.append(self.list_types(self._at(reference), visited | {reference}))
        return set[str]().union(*parts)

    def _flatten(self, schema: Any) -> _Flat:
        """The properties that a schema restricts to constants, and those that it requires, including references, `allOf` and unions."""
        flat = _Flat({}, set())
        if not is_object(schema):
            return flat
        for name, sub in schema.get("properties", {}).items():
            values = self.list_values(sub)
            if values and all(isinstance(value, SCALARS) for value in values):
                flat.constants[name] = list(map(make_scalar_key, values))
        flat.required.update(schema.get("required", ()))
        parts = list(map(self._flatten, schema.get("allOf", ())))
        if isinstance(schema.get("$ref"), str):
            reference = schema["$ref"]
            if reference not in self._flats:
                self._flats[reference] = _Flat({}, set())  # until it is read
                self._flats[reference] = self._flatten(self._at(reference))
            parts.append(self._flats[reference])
        unions = [schema[keyword] for keyword in ("anyOf", "oneOf") if schema.get(keyword)]
        parts += [_join_branches(list(map(self._flatten, branches))) for branches in unions]
        for part in parts:
            for name, keys in part.constants.items():
                flat.constants[name] = [key for key in flat.constants.get(name, keys) if key in keys]
            flat.required.update(part.required)
        return flat

    def list_values(self, schema: Any) -> list[Any] | None:
        """An upper bound of the constants that a schema accepts, if it has one; references, `allOf` and unions are followed."""
        if not is_object(schema):
            return None
        lists = [list_constants(schema)] if "const" in schema or "enum" in schema else []
        lists += [[None]] if schema.get("type") == "null" else []
        lists += map(self.list_values, schema.get("allOf", ()))
        if isinstance(schema.get("$ref"), str):
            reference = schema["$ref"]
            if reference not in self._constants:
                self._constants[reference] = None  # until it is read
                self._constants[reference] = self.list_values(self._at(reference))
            lists.append(self._constants[reference])
        for keyword in ("anyOf", "oneOf"):
            branches = list(map(self.list_values, schema.get(keyword, ())))
            if branches and None not in branches:
                lists.append([value for branch in branches for value in branch or ()])
        return min((candidate for candidate in lists if candidate is not None), key=len, default=None)


def list_constants(schema: Any) -> list[Any] | None:
    """The constants of a branch; `None` if it is not a `const` or `enum`."""
    if not is_object(schema):
        return None
    return [schema["const"]] if "const" in schema else schema["enum"] if is_array(schema.get("enum")) else None


def is_null(schema: Any) -> bool:
    """Whether a branch accepts only null."""
    return is_object(schema) and (schema.get("type") == "null" or ("const" in schema and schema["const"] is None))


def _join_branches(branches: Sequence[_Flat]) -> _Flat:
    """The restrictions that hold in every branch."""
    first, *others = branches
    shared_fields = [name for name in first.constants if all(name in branch.constants for branch in others)]
    constants_by_field = {
        name: list(dict.fromkeys(key for branch in branches for key in branch.constants[name]))
        for name in shared_fields
    }
    return _Flat(constants_by_field, first.required.intersection(*(branch.required for branch in others)))


def _make_discriminator(field: str, flats: Mapping[int, _Flat]) -> Discriminator:
    """The discriminator of branches by a field."""
    owners: dict[Any, list[int]] = {}
    for index, flat in flats.items():
        for key in flat.constants.get(field, ()):
            owners.setdefault(key, []).append(index)
    free = tuple(index for index, flat in flats.items() if field not in flat.constants)
    untagged = tuple(index for index, flat in flats.items() if field not in flat.required)
    return Discriminator(field, owners, free, untagged)


def _rank(tag: Discriminator) -> tuple[bool, int, int]:
    """How well a union is discriminated: tags with a single branch first, then more branches with a tag, then fewer tags."""
    owners = list(tag.owners.values())
    tagged = {index for indices in owners for index in indices}
    return all(len(indices) == 1 for indices in owners), len(tagged), -len(owners)
