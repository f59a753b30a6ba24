"""Lenient decoding: what the annotations `x-deserialize-…` of a schema allow to drop is dropped where it is invalid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from .contract import Path
from .engine import Engine
from .errors import Dropped, Problem
from .explain import SchemaError
from .json_types import is_array, is_object
from .pointers import json_pointer, resolve_reference

MOST: Final = 16_000
"""The maximum number of values that are dropped from one message."""
EXAMINED: Final = 1000
"""The maximum number of problems of an object that are examined for a missing field."""


class TooMuch(Exception):
    """More of a message is invalid than may be dropped."""


class Leniency:
    """Drops what is invalid from a value: the innermost place that the schema allows to drop. `drops` are the dropped values.

    `problem` converts an error, given its path in the message.
    """

    def __init__(self, engine: Engine, at: Path, problem: Callable[[SchemaError, Path], Problem]) -> None:
        self.drops: list[Dropped] = []
        self._engine: Final = engine
        self._at: Final = at
        self._problem: Final = problem
        self._retained: dict[Path, list[int]] = {}

    def find_problems(self, places: Sequence[Path], value: Any, path: Path = ()) -> Iterator[Problem]:
        """Yield the problems of what remains of the value at a path, with the paths of the message."""
        for place in places:
            for error in self._engine.find_problems(place, value):
                yield self._problem(error, self._map_path((*path, *error.path)))

    def repair(self, places: Sequence[Path], value: Any, path: Path = (), *, skips: bool = False) -> Any:
        """A value without what may be dropped; `skips`: its items may. `places` are the subschemas that apply to it.

        Raises `TooMuch`.
        """
        if self._fits(places, value):
            return value
        schemas = list(self._list_subschemas(places, value))
        members: dict[Any, list[Path]] = {}
        for place, schema in schemas:
            for member, key in self._engine.explainer.list_members(place, schema, value):
                members.setdefault(key, []).append(member)
        if is_object(value):
            return self._repair_object(places, schemas, members, value, path)
        if not is_array(value):
            return value
        items: list[Any] = []
        indices: list[int] = []
        for index, item in enumerate(value):
            item_path, mark, item_places = (*path, index), len(self.drops), members.get(index, ())
            result = self.repair(item_places, item, item_path)
            if skips and not self._fits(item_places, result):
                self._drop(mark, item_path, item, self.find_problems(item_places, result, item_path))
            else:
                items.append(result)
                indices.append(index)
        self._retained[path] = indices
        return items

    def _repair_object(
        self,
        places: Sequence[Path],
        schemas: Iterable[tuple[Path, Any]],
        members: dict[Any, list[Path]],
        value: dict[str, Any],
        path: Path,
    ) -> dict[str, Any]:
        explainer = self._engine.explainer
        fields: dict[str, list[Path]] = {}
        for place, schema in schemas:
            for name in schema.get("properties", ()):
                fields.setdefault(name, []).append((*place, "properties", name))
        result = dict(value)
        requirable = self._find_requirable(places)
        for name in dict.fromkeys((*value, *fields)):
            field_path, mark, field_places = (*path, name), len(self.drops), members.get(name, ())
            property_places = [place for place in fields.get(name, ()) if is_object(explainer.get_subschema(place))]
            keywords = {
                keyword
                for place in property_places
                for keyword, setting in explainer.get_subschema(place).items()
                if setting
            }
            is_list = {type_ for place in property_places for type_ in explainer.list_types(place)} - {"null"} == {
                "array"
            }
            if name in value:
                skips = is_list and "x-deserialize-skip-invalid-items" in keywords
                field_value = result[name] = self.repair(field_places, value[name], field_path, skips=skips)
                is_dropped = "x-deserialize-default-on-error" in keywords or (
                    value[name] is None and "x-deserialize-default-on-null" in keywords
                )
                if is_dropped and not self._fits(field_places, field_value):
                    if name not in requirable or next(self._list_missing(places, value, name), None) is None:
                        del result[name]
                    elif is_list and self._fits(field_places, []):
                        result[name] = []
                    else:
                        continue
                    self._drop(mark, field_path, value[name], self.find_problems(field_places, field_value, field_path))
            elif (
                name in requirable
                and is_list
                and "x-deserialize-default-on-error" in keywords
                and self._fits(property_places, [])
            ):
                error = next(self._list_missing(places, value, name), None)
                if error is not None:
                    result[name] = []
                    self._drop(mark, field_path, None, iter([self._problem(error, self._map_path(path))]))
        return result

    def _drop(self, mark: int, path: Path, value: Any, problems: Iterator[Problem]) -> None:
        """Record that a value is dropped, and not those parts of it that have been since the drops had this number."""
        del self.drops[mark:]
        if len(self.drops) == MOST:
            raise TooMuch
        self.drops.append(Dropped(json_pointer(self._map_path(path)), value, next(problems)))

    def _list_missing(self, places: Iterable[Path], value: dict[str, Any], name: str) -> Iterator[SchemaError]:
        """Yield the errors that an object lacks a required field once it has none of this name."""
        remainder = {key: item for key, item in value.items() if key != name}
        for place in places:
            errors = islice(self._engine.find_problems(place, remainder), EXAMINED)
            yield from (error for error in errors if error.missing == name and not error.path)

    def _find_requirable(self, places: Iterable[Path]) -> set[str]:
        """The names of the fields that a subschema may require of the same value: whether it does is much more work."""
        names: set[str] = set()
        worklist, visited = [*places], set[Path]()
        for place in worklist:  # which grows
            schema = self._engine.explainer.get_subschema(place)
            if place in visited or not is_object(schema):
                continue
            visited.add(place)
            names.update(schema.get("required", ()), *schema.get("dependentRequired", {}).values())
            worklist += [resolve_reference(schema["$ref"])] if "$ref" in schema else []
            worklist += [(*place, keyword) for keyword in ("then", "else") if keyword in schema]
            for keyword in ("allOf", "anyOf", "oneOf"):
                worklist += [(*place, keyword, index) for index in range(len(schema.get(keyword, ())))]
            worklist += [(*place, "dependentSchemas", name) for name in schema.get("dependentSchemas", ())]
        return names

    def _list_subschemas(self, places: Iterable[Path], value: Any) -> Iterator[tuple[Path, Any]]:
        """Yield the subschemas by which a value is judged, with their paths; of a union, the branch that the value was meant for."""
        explainer = self._engine.explainer
        worklist, visited = [*places], set[Path]()
        for place in worklist:  # which grows
            schema = explainer.get_subschema(place)
            if place not in visited and is_object(schema):
                visited.add(place)
                yield place, schema
                worklist += explainer.list_applicators(place, schema, value)
                unions = ((*place, keyword) for keyword in ("anyOf", "oneOf") if keyword in schema)
                worklist += [branch for union in unions for branch in explainer.find_branches(union, value)]

    def _fits(self, places: Iterable[Path], value: Any) -> bool:
        return all(self._engine.is_valid(place, value) for place in places)

    def _map_path(self, path: Path) -> Path:
        """The path in the message for a path in what remains of the value."""
        original_path: Path = ()
        for step in path:
            indices = self._retained.get(original_path)
            original_path = (*original_path, step if indices is None else indices[int(step)])
        return (*self._at, *original_path)
