"""Schemas of every draft and values for them, drawn by chance from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from acpgen.input.drafts import MODERN, Draft

NAMES: Final = ("a", "b", "c", "ab")
VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    1,
    2,
    -1,
    1.0,
    1.5,
    "",
    "a",
    "ab",
    "abc",
    [],
    {},
)


class Maker:
    """Draws schemas as people write them for a draft: most keywords are of the draft, some are of others, and mean nothing there."""

    def __init__(self, seed: int, draft: Draft) -> None:
        self.chance = random.Random(f"{seed} {draft.name}")
        self.draft = draft
        self.old = draft.name == "draft-04"

    def document(self) -> dict[str, Any]:
        """A document whose root is judged, with definitions that it may refer to."""
        definitions = {name: self.schema(2) for name in ("One", "Two")}
        keyword = "definitions" if self.draft.is_lone_ref else "$defs"
        root = self.schema(3)
        return {"$schema": f"{self.draft.address}#", **root, keyword: definitions}

    def value(self, depth: int = 3) -> Any:
        """A value that such schemas may accept."""
        kind = self.chance.random()
        if depth and kind < 0.5:
            names = self.chance.sample(NAMES, self.chance.randint(0, 3))
            return {name: self.value(depth - 1) for name in names}
        if depth and kind < 0.7:
            return [self.value(depth - 1) for _ in range(self.chance.randint(0, 3))]
        return self.chance.choice(VALUES)

    def schema(self, depth: int) -> Any:
        """A schema of the draft's form."""
        if depth < 3 and not self.old and self.chance.random() < 0.1:
            return self.chance.choice((True, False))
        if depth == 0:
            return self.leaf()
        drawn = self.chance.sample(KEYWORDS, self.chance.randint(1, 3))
        found: dict[str, Any] = {}
        for make in drawn:
            found |= make(self, depth - 1)
        if "$ref" in found and not self.chance.random() < 0.3:
            found = {"$ref": found["$ref"]} if self.draft.is_lone_ref else found
        return found

    def leaf(self) -> dict[str, Any]:
        return self.chance.choice(
            (
                {},
                {"type": self.chance.choice(("string", "integer", "number", "boolean", "null", "object", "array"))},
                {"type": ["string", "null"]},
                {"enum": [1, "a", None]},
                {"minLength": 2},
                {"minimum": 1},
                {"maximum": 1, "exclusiveMaximum": True} if self.old else {"exclusiveMaximum": 1},
                {"const": 1},
                {"minItems": 1 if self.old else 1.0},
                {"maxProperties": 1},
                {"pattern": "^a"},
                {"multipleOf": 2},
                {"required": ["a"]},
            )
        )

    def fields(self, depth: int) -> dict[str, Any]:
        return {name: self.schema(depth) for name in self.chance.sample(NAMES, 2)}

    def several(self, depth: int) -> list[Any]:
        return [self.schema(depth) for _ in range(self.chance.randint(1, 3))]

    def tuple_(self, depth: int) -> dict[str, Any]:
        if self.draft is MODERN:
            return {"prefixItems": self.several(depth), "items": self.schema(depth)}
        return {"items": self.several(depth), "additionalItems": self.schema(depth)}

    def dependency(self, depth: int) -> dict[str, Any]:
        if self.draft.is_lone_ref:
            return {"dependencies": {"a": self.chance.choice((["b"], self.schema(min(depth, 2))))}}
        return {"dependentSchemas": {"a": self.schema(depth)}, "dependentRequired": {"b": ["a"]}}


def _one(keyword: str) -> Callable[[Maker, int], dict[str, Any]]:
    return lambda maker, depth: {keyword: maker.schema(depth)}


def _list(keyword: str) -> Callable[[Maker, int], dict[str, Any]]:
    return lambda maker, depth: {keyword: maker.several(depth)}


def _conditional(maker: Maker, depth: int) -> dict[str, Any]:
    return {"if": maker.schema(depth), "then": maker.schema(depth), "else": maker.schema(depth)}


def _counted(maker: Maker, depth: int) -> dict[str, Any]:
    return {"contains": maker.schema(depth), "minContains": maker.chance.randint(0, 2), "maxContains": 2}


def _ref(maker: Maker, depth: int) -> dict[str, Any]:
    place = "definitions" if maker.draft.is_lone_ref else "$defs"
    return {"$ref": f"#/{place}/{maker.chance.choice(('One', 'Two'))}"} if depth == 2 else {"type": "object"}


KEYWORDS: Final[tuple[Callable[[Maker, int], dict[str, Any]], ...]] = (
    *(_one(keyword) for keyword in ("items", "not", "contains", "propertyNames", "additionalProperties")),
    *(_one(keyword) for keyword in ("unevaluatedProperties", "unevaluatedItems") * 2),
    *(_list(keyword) for keyword in ("allOf", "anyOf", "oneOf") * 2),
    *(lambda maker, depth: {"properties": maker.fields(depth)} for _ in range(3)),
    lambda maker, depth: {"patternProperties": {"^a": maker.schema(depth)}},
    lambda maker, depth: {"type": "object", "properties": maker.fields(depth), "required": ["a"]},
    lambda maker, depth: {"type": "object", "properties": maker.fields(depth), "additionalProperties": False},
    lambda maker, _: maker.leaf(),
    Maker.tuple_,
    Maker.dependency,
    _conditional,
    _counted,
    _ref,
    _ref,
)
"""What a schema is made of, each by a way to draw it."""
