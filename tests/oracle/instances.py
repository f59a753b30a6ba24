"""Instances of a schema, drawn from it by a seeded generator, and damaged copies of instances."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias

from oracle.values import Schema, is_array, is_object

Path: TypeAlias = "tuple[str | int, ...]"

DEEPEST: Final = 7
NAMES: Final = ("_meta", "type", "title", "cwd", "additionalDirectories", "mode", "value", "subject", "_vendor")
TEXTS: Final = (
    "",
    "a",
    "tide-4f81c0",
    "/home/mara/tidewatch",
    "C:\\work",
    "src/forecast.py",
    "_custom",
    "later",
    "EUR",
)
JUNK: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 1.0, 1.5, 2**40, -32000, [], {}, [None], ["a"], [{}], {"type": "text"}),
    *TEXTS,
)


class Maker:
    """Draws instances from the definitions of one schema. Most are valid; nothing promises it."""

    def __init__(self, definitions: Mapping[str, Any], random: Random) -> None:
        """`random` decides everything, so that one seed gives the same instances always."""
        self.definitions = definitions
        self.random = random
        self.tags = sorted({tag for schema in definitions.values() for tag in _constants(schema)})

    def make(self, schema: Any, depth: int = 0) -> Any:
        """One instance."""
        if not is_object(schema):
            return self.random.choice(JUNK)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        parts = [self.make(part, depth) for part in self._parts(schema, depth)]
        if "properties" in schema or schema.get("type") == "object":
            parts.append(self._object(schema, depth))
        elif "type" in schema and not any(is_object(part) for part in parts):
            parts.append(self._plain(schema, depth))
        return self._joined(parts)

    def _parts(self, schema: Schema, depth: int) -> Iterator[Any]:
        """The schemas that judge the same value and stand below this one: one branch of each union."""
        if "$ref" in schema:
            yield self.definitions[schema["$ref"].removeprefix("#/$defs/")]
        yield from schema.get("allOf", ())
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword, [])
            if branches:
                is_deep = depth > DEEPEST and any(branch.get("type") == "null" for branch in branches)
                yield {"type": "null"} if is_deep else self.random.choice(branches)

    def _joined(self, parts: Sequence[Any]) -> Any:
        """One value from what several schemas demand of it: objects are merged, otherwise the last wins."""
        if not parts:
            return copy.deepcopy(self.random.choice(JUNK))
        merged: dict[str, Any] = {}
        for part in parts:
            if is_object(part):
                merged |= part
        return merged if merged or is_object(parts[-1]) else parts[-1]

    def _object(self, schema: Schema, depth: int) -> Any:
        types = schema.get("type", "object")
        if is_array(types) and self.random.random() < 0.3:
            return self._plain(schema, depth)
        required = schema.get("required", ())
        chance = 0.5 if depth < DEEPEST else 0.0
        result = {
            name: self._tag(sub) if schema.get("not") and name in required else self.make(sub, depth + 1)
            for name, sub in schema.get("properties", {}).items()
            if name in required or self.random.random() < chance
        }
        values = schema.get("additionalProperties", True)
        if values is not False and self.random.random() < 0.2:
            result[self.random.choice(NAMES)] = self.make(values, depth + 1)
        return result

    def _tag(self, schema: Any) -> Any:
        """A value for a field of a branch that excludes tags: mostly one that nobody knows."""
        value = self.make(schema, DEEPEST)
        if not isinstance(value, str):
            return value
        return self.random.choice(("_custom", "later", "_", value, self.random.choice(self.tags)))

    def _plain(self, schema: Schema, depth: int) -> Any:
        types = schema["type"]
        name = self.random.choice(types) if is_array(types) else types
        match name:
            case "null":
                return None
            case "boolean":
                return self.random.random() < 0.5
            case "integer" | "number":
                low, high = schema.get("minimum", -3), schema.get("maximum", 70000)
                number = self.random.choice((low, low + 1, high, 7))
                return number if name == "integer" or self.random.random() < 0.5 else number + 0.5
            case "array":
                count = self.random.choice((0, 1, 2)) if depth < DEEPEST else 0
                return [
                    self.make(schema.get("items", True), depth + 1)
                    for _ in range(max(count, schema.get("minItems", 0)))
                ]
            case "object":
                return self._object({**schema, "type": "object"}, depth)
            case _:
                return self._text(schema)

    def _text(self, schema: Schema) -> str:
        if "pattern" in schema or schema.get("format") == "absolute-path":
            return self.random.choice(("/home/mara/tidewatch", "C:\\work", "file:///home/mara", "EUR", "src"))
        return self.random.choice(TEXTS)


def damaged(instance: Any, random: Random) -> Any:
    """A copy with one to three places removed, replaced, added or swapped."""
    copied = {"": copy.deepcopy(instance)}
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = [place for place in _places(copied) if place]
        *above, last = random.choice(places)
        node: Any = copied
        for part in above:
            node = node[part]
        match random.choice(("remove", "replace", "replace", "add", "swap")):
            case "remove" if above:
                del node[last]
            case "add" if is_object(node[last]):
                node[last][random.choice(NAMES)] = copy.deepcopy(random.choice(JUNK))
            case "add" if is_array(node[last]):
                node[last].append(copy.deepcopy(random.choice(JUNK)))
            case "swap":
                other: Any = copied
                for part in random.choice(places):
                    other = other[part]
                node[last] = copy.deepcopy(other)
            case _:
                node[last] = copy.deepcopy(random.choice(JUNK))
    return copied.get("")


def _places(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if is_object(value):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif is_array(value):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, index))


def _constants(schema: Any) -> Iterator[str]:
    if is_object(schema):
        if isinstance(schema.get("const"), str):
            yield schema["const"]
        for inner in schema.values():
            yield from _constants(inner)
    elif is_array(schema):
        for inner in schema:
            yield from _constants(inner)
