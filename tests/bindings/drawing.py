"""Values drawn from JSON Schema as it was written, by its keywords alone: most are valid, and a judge says which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from acpgen.input.walk import is_array, is_object
from acpgen.pointers import follow, split_pointer
from bindings.instances import ANYTHING, NUMBERS, TEXTS, Chooser
from schema_inclusion.patterns import Query, find_example

_DEEPEST: Final = 7
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "object": ("properties", "required", "patternProperties", "additionalProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "contains"),
    "string": ("pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_JOINED: Final = ("anyOf", "oneOf")


class Drawing:
    """Values of the schemas in one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.texts: dict[str, str | None] = {}

    def value(self, choose: Chooser, schema: Any, depth: int = 0) -> Any:
        """A value that the schema means, as far as its keywords say it one by one."""
        if not is_object(schema):
            return choose.pick(ANYTHING)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return choose.pick(schema["enum"])
        if schema.get("examples") and is_array(schema["examples"]) and choose.once_in(8):
            return choose.pick(schema["examples"])
        found = [self.value(choose, part, depth + 1) for part in self._parts(choose, schema, depth)]
        own = self._own(choose, schema, depth, found)
        if not found:
            return own
        if is_object(own) or own is None:
            joined: dict[str, Any] = {}
            for part in (*found, own):
                joined |= part if is_object(part) else {}
            if joined or all(map(is_object, found)):
                return joined
        return found[-1]

    def _parts(self, choose: Chooser, schema: Mapping[str, Any], depth: int) -> list[Any]:
        """The schemas that a value must be of as well; of a union, one branch."""
        if depth > _DEEPEST:
            return []
        parts = list(schema.get("allOf", ()))
        if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
            parts.append(follow(self.document, split_pointer(schema["$ref"][1:])))
        parts += [choose.pick(schema[keyword]) for keyword in _JOINED if schema.get(keyword)]
        return parts

    def _own(self, choose: Chooser, schema: Mapping[str, Any], depth: int, found: list[Any]) -> Any:
        listed = schema.get("type")
        implied = [kind for kind, keywords in _KINDS.items() if any(keyword in schema for keyword in keywords)]
        if listed is None and found and not implied:
            return None
        kinds = listed if is_array(listed) else [listed] if listed is not None else implied
        match choose.pick(kinds) if kinds else None:
            case "object":
                return self._object(choose, schema, depth)
            case "array":
                return self._array(choose, schema, depth)
            case "string":
                return self._string(choose, schema)
            case "integer":
                return self._number(choose, schema, is_integer=True)
            case "number":
                return self._number(choose, schema, is_integer=False)
            case "boolean":
                return choose.pick((False, True))
            case "null":
                return None
            case _:
                return choose.pick(ANYTHING)

    def _object(self, choose: Chooser, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        needed = [key for key in schema.get("required", ()) if isinstance(key, str)]
        rest = schema.get("additionalProperties", True)
        value: dict[str, Any] = {}
        for key, member in properties.items():
            if key in needed or (depth < _DEEPEST and choose.once_in(max(2 + depth, len(properties) // 6))):
                value[key] = self.value(choose, member, depth + 1)
        for key in needed:
            value.setdefault(key, self.value(choose, rest, depth + 1))
        if depth < _DEEPEST:
            for pattern, member in schema.get("patternProperties", {}).items():
                key = self._matching(choose, pattern)
                if key is not None and choose.once_in(2):
                    value.setdefault(key, self.value(choose, member, depth + 1))
            names = schema.get("propertyNames")
            while rest is not False and len(value) < schema.get("minProperties", int(choose.once_in(4))):
                key = self.value(choose, names, depth + 1) if is_object(names) else choose.pick(TEXTS)
                value.setdefault(key if isinstance(key, str) else f"x{len(value)}", self.value(choose, rest, depth + 1))
        return value

    def _array(self, choose: Chooser, schema: Mapping[str, Any], depth: int) -> list[Any]:
        items = schema.get("items", True)
        first = schema.get("prefixItems") or (items if is_array(items) else [])
        rest = schema.get("additionalItems", True) if is_array(items) else items
        least = int(schema.get("minItems", 0))
        length = choose.pick((least, least + 1, len(first), least + 2) if depth < _DEEPEST else (least,))
        value = [self.value(choose, first[i] if i < len(first) else rest, depth + 1) for i in range(min(length, 50))]
        if "contains" in schema:
            value.append(self.value(choose, schema["contains"], depth + 1))
        return value

    def _string(self, choose: Chooser, schema: Mapping[str, Any]) -> str | None:
        if "pattern" in schema:
            return self._matching(choose, schema["pattern"])
        least, most = schema.get("minLength", 0), schema.get("maxLength", 400)
        fitting = [text for text in TEXTS if least <= len(text) <= most]
        return choose.pick(fitting) if fitting else "x" * int(least)

    def _matching(self, choose: Chooser, pattern: str) -> str | None:
        """A text that a pattern finds itself in; `None` where none is known."""
        if pattern not in self.texts:
            known = [text for text in TEXTS if _finds(pattern, text)]
            made = find_example(Query(matching=(pattern,))) if not known else None
            self.texts[pattern] = choose.pick(known) if known else getattr(made, "text", None)
        return self.texts[pattern]

    def _number(self, choose: Chooser, schema: Mapping[str, Any], *, is_integer: bool) -> Any:
        limits = [schema[keyword] for keyword in _KINDS["number"] if isinstance(schema.get(keyword), int | float)]
        near = [limit + step for limit in limits if not isinstance(limit, bool) for step in (0, 1, -1)]
        numbers = [*near, *NUMBERS]
        return choose.pick([one for one in numbers if one == int(one)] if is_integer else numbers)


def _finds(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False
