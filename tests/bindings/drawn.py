"""Schemas in which keywords of every kind stand beside each other, and values for them. Every decision is a choice of a `Chooser`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from acpgen.input.walk import is_object
from bindings.instances import Chooser

KEYS: Final = ("a", "b", "kind", "x-y", "camelCase")
TEXTS: Final = ("", "a", "b", "ab", "x1", "12", "kind")
NUMBERS: Final = (0, 1, 2, -1, 1.0, 1.5, 0.1, 7.5, 3.0, 10**20)
LEAVES: Final[tuple[Any, ...]] = (
    *(True, {}, {"type": "string"}, {"type": "integer"}, {"type": "null"}, {"type": "boolean"}, {"type": "number"}),
    *({"const": 1}, {"enum": ["a", "b"]}, {"type": ["string", "null"]}, {"enum": [1, True, None]}, False),
    *({"type": "object"}, {"type": "array"}, {"const": {"a": 1}}, {"const": 1.0}, {"pattern": "^a"}),
)
_KINDS: Final = ("object", "object", "object", "array", "string", "number", "integer", ["object", "null"], None, None)
_TAGS: Final[tuple[Any, ...]] = ("a", "b", 1, 1.0, 2.5, True)

Schema = dict[str, Any]


class Maker:
    """Makes definitions that refer to one another, and values."""

    def __init__(self, chooser: Chooser, names: tuple[str, ...]) -> None:
        self.chooser = chooser
        self.names = names

    def definitions(self) -> dict[str, Any]:
        """The definitions, each of a schema of its own."""
        return {name: self.schema(3) for name in self.names}

    def schema(self, depth: int) -> Any:
        """A schema that nests so deep at most."""
        if depth <= 0 or self.chooser.once_in(8):
            return self.chooser.pick(LEAVES)
        if self.chooser.once_in(8):
            return {"$ref": f"#/$defs/{self.chooser.pick(self.names)}"}
        kind = self.chooser.pick(_KINDS)
        schema: Schema = {} if kind is None else {"type": kind}
        for keywords in (self._of_objects, self._of_arrays, self._of_scalars, self._of_any):
            if keywords == self._of_any or kind is None or self._is_for(kind, keywords):
                for keyword, (times, make) in keywords(depth - 1).items():
                    if self.chooser.once_in(times):
                        schema[keyword] = make()
        if "if" in schema:
            schema.update({key: self.schema(depth - 1) for key in self.chooser.pick((("then",), ("then", "else"), ()))})
        return schema

    def _is_for(self, kind: Any, keywords: Any) -> bool:
        wanted = self._of_objects if "object" in kind else self._of_arrays if kind == "array" else self._of_scalars
        return bool(keywords == wanted)

    def _of_objects(self, depth: int) -> dict[str, tuple[int, Callable[[], Any]]]:
        return {
            "properties": (2, lambda: {key: self.schema(depth) for key in self._keys()}),
            "required": (3, self._keys),
            "additionalProperties": (4, lambda: self.chooser.pick((False, False, self.schema(depth)))),
            "patternProperties": (6, lambda: {self.chooser.pick(("^x", "a", "^(?!x)")): self.schema(depth)}),
            "propertyNames": (
                10,
                lambda: self.chooser.pick(({"pattern": "^[a-z]+$"}, {"minLength": 2}, {"enum": ["a"]})),
            ),
            "minProperties": (10, lambda: self.chooser.pick((1, 2.0))),
            "maxProperties": (10, lambda: self.chooser.pick((0, 1))),
            "dependentRequired": (10, lambda: {"a": ["b"]}),
            "dependentSchemas": (10, lambda: {self.chooser.pick(KEYS): self.schema(depth)}),
            "unevaluatedProperties": (8, lambda: self.chooser.pick((False, self.schema(depth)))),
        }

    def _of_arrays(self, depth: int) -> dict[str, tuple[int, Callable[[], Any]]]:
        return {
            "items": (3, lambda: self.schema(depth)),
            "prefixItems": (4, lambda: [self.schema(depth) for _ in range(self.chooser.pick((1, 2)))]),
            "minItems": (6, lambda: 1),
            "maxItems": (6, lambda: 2.0),
            "uniqueItems": (6, lambda: True),
            "contains": (6, lambda: self.schema(depth)),
            "minContains": (8, lambda: self.chooser.pick((0, 2))),
            "maxContains": (8, lambda: 1),
            "unevaluatedItems": (8, lambda: self.chooser.pick((False, self.schema(depth)))),
        }

    def _of_scalars(self, _: int) -> dict[str, tuple[int, Callable[[], Any]]]:
        return {
            "minLength": (5, lambda: 1.0),
            "maxLength": (6, lambda: 1),
            "pattern": (6, lambda: self.chooser.pick(("^a", "(?!x)a", r"^\d+$", "[ab]"))),
            "minimum": (6, lambda: self.chooser.pick((0, 0.5))),
            "exclusiveMaximum": (6, lambda: self.chooser.pick((1, 1.5))),
            "multipleOf": (6, lambda: self.chooser.pick((2, 0.1, 0.5, 1e-7))),
        }

    def _of_any(self, depth: int) -> dict[str, tuple[int, Callable[[], Any]]]:
        return {
            "allOf": (7, lambda: self._some(depth)),
            "anyOf": (7, lambda: self._some(depth)),
            "oneOf": (6, lambda: self._tagged(depth) if self.chooser.once_in(3) else self._some(depth)),
            "not": (9, lambda: self.schema(depth)),
            "if": (9, lambda: self.schema(depth)),
            "enum": (12, lambda: [self.chooser.pick(("a", 1, None, True, {"a": 1}, [1], 1.5)) for _ in range(2)]),
            "const": (20, lambda: self.chooser.pick(("a", 1.0, {"a": 1}, [1, True]))),
            "$ref": (9, lambda: f"#/$defs/{self.chooser.pick(self.names)}"),
        }

    def _some(self, depth: int) -> list[Any]:
        return [self.schema(depth) for _ in range(self.chooser.pick((1, 2, 3)))]

    def _tagged(self, depth: int) -> list[Any]:
        """Objects told apart by a constant, and at times one more without."""
        found: list[Any] = []
        for tag in dict.fromkeys(self.chooser.pick(_TAGS) for _ in range(2)):
            more: Any = self.schema(depth) if self.chooser.once_in(3) else {}
            kept = more if is_object(more) and "properties" not in more else {}
            found.append({**kept, "type": "object", "properties": {"kind": {"const": tag}}, "required": ["kind"]})
        if self.chooser.once_in(3):
            rest = {
                key: make() for key, (times, make) in self._of_objects(depth).items() if self.chooser.once_in(times)
            }
            found.append({"type": "object", **rest})
        return found

    def _keys(self) -> list[str]:
        return list(dict.fromkeys(self.chooser.pick(KEYS) for _ in range(self.chooser.pick((1, 2)))))

    def value(self, depth: int = 3) -> Any:
        """Any JSON value, with the keys and constants that the schemas know."""
        if depth == 0 or self.chooser.once_in(3):
            return self.chooser.pick((None, True, False, *NUMBERS, *TEXTS))
        if self.chooser.once_in(3):
            return [self.value(depth - 1) for _ in range(self.chooser.pick((0, 1, 1, 2, 3)))]
        keys = {self.chooser.pick((*KEYS, "zz", "camel_case")) for _ in range(self.chooser.pick((0, 1, 1, 2, 3)))}
        found = {key: self.value(depth - 1) for key in sorted(keys)}
        if self.chooser.once_in(3):
            found["kind"] = self.chooser.pick((*_TAGS, "z", None))
        return found
