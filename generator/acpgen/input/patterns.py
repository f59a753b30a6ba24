"""Schemas with patterns in the syntax of engines: these judge by the translation of a pattern, and people read the schema's own text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from acpgen.input.expressions import translations
from acpgen.input.walk import LISTS, MAPS, SINGLE, is_array, is_object
from acpgen.pointers import as_fragment, pointer, pointer_parts, target

Path: TypeAlias = tuple["str | int", ...]


class Patterns:
    """The patterns of schemas that an engine takes as another text. `is_partial`: it cannot have some, or finds more by them."""

    def __init__(self, schemas: Iterable[Any]) -> None:
        found = translations(schemas)
        self.is_partial: Final = found.is_partial
        self._written: Final = found.table
        self.own_texts: Final = {written: pattern for pattern, written in found.table.items() if written is not None}
        self._unsure: Final = {pattern for pattern, written in found.table.items() if written is None}.union(
            found.loose
        )

    def own(self, written: str) -> str:
        """The pattern that the schema has for a text of the engine."""
        return self.own_texts.get(written, written)

    def place(self, place: Path) -> Path:
        """A place of the schema for the one that the engine names."""
        return tuple(
            self.own(str(step)) if index and place[index - 1] == "patternProperties" else step
            for index, step in enumerate(place)
        )

    def _written_place(self, place: Path) -> Path | None:
        """A place of the translation for one of the schema; `None` if the engine cannot have it."""
        found: list[str | int] = []
        for index, step in enumerate(place):
            is_pattern = index and place[index - 1] == "patternProperties"
            if is_pattern and step in self._unsure:
                return None
            found.append(self._written.get(str(step)) or step if is_pattern else step)
        return tuple(found)

    def translated(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A schema with its definitions for the engine. Where that lacks a pattern, it accepts what the pattern alone could refuse."""
        if not self._written:
            return dict(document)
        found: dict[str, Any] = self._translated(document, self.uncertain(document) if self._unsure else None)
        return found

    def changed(self, definitions: Mapping[str, Any]) -> dict[str, Any]:
        """The definitions that the engine takes otherwise than they are."""
        translated = self.translated({"$defs": definitions})["$defs"]
        return {name: schema for name, schema in translated.items() if schema != definitions[name]}

    def _translated(self, schema: Any, unsure: Uncertain | None) -> Any:
        if not is_object(schema):
            return schema
        found: dict[str, Any] = {}
        for key, value in schema.items():
            if key in SINGLE:
                found[key] = self._translated(value, unsure)
            elif key in LISTS and is_array(value):
                found[key] = [self._translated(item, unsure) for item in value]
            elif key in MAPS and is_object(value):
                found[key] = {name: self._translated(item, unsure) for name, item in value.items()}
            else:
                found[key] = value
        if isinstance(schema.get("$ref"), str) and "/patternProperties/" in schema["$ref"]:
            found.pop("$ref")
            place = self._written_place(pointer_parts(unquote(schema["$ref"])))
            found.update({} if place is None else {"$ref": as_fragment(pointer(*place))})
        named = found.get("patternProperties")
        if is_object(named):
            found["patternProperties"] = {
                self._written.get(name, name): inner for name, inner in named.items() if name not in self._unsure
            }
        pattern = found.pop("pattern", None)
        written = self._written.get(pattern, pattern) if isinstance(pattern, str) else None
        if written is not None:
            found["pattern"] = written
        if unsure is not None and unsure(schema):
            self._weaken(schema, found, unsure)
        return found

    def _weaken(self, schema: Mapping[str, Any], found: dict[str, Any], unsure: Uncertain) -> None:
        """Leave out of a schema what could refuse a value because a schema in it accepts too much."""
        if not self._unsure.isdisjoint(schema.get("patternProperties", ())):
            found.pop("additionalProperties", None)
        found.pop("unevaluatedProperties", None)
        found.pop("unevaluatedItems", None)
        if unsure(schema.get("not")):
            del found["not"]
        if unsure(schema.get("if")):
            for keyword in ("if", "then", "else"):
                found.pop(keyword, None)
        if unsure(schema.get("contains")):
            found.pop("maxContains", None)
        if any(map(unsure, schema.get("oneOf", ()))):
            found["allOf"] = [*found.get("allOf", ()), {"anyOf": found.pop("oneOf")}]

    def uncertain(self, document: Mapping[str, Any]) -> Uncertain:
        """Tells the schemas of a document that hang on a pattern which the engine does not have as it is."""
        holding: dict[int, bool] = {}
        users: dict[str, list[str]] = {}
        names = [
            name for name, schema in document.get("$defs", {}).items() if self._holds(schema, holding, users, name)
        ]
        self._holds(document, holding, {}, "")
        found = set(names)
        while names:
            fresh = [name for name in users.get(names.pop(), ()) if name not in found]
            found.update(fresh)
            names.extend(fresh)
        return Uncertain(frozenset(found), holding)

    def _holds(self, schema: Any, holding: dict[int, bool], users: dict[str, list[str]], name: str) -> bool:
        """Whether such a pattern stands in a schema. `users` are the definitions that refer to each."""
        if not is_object(schema):
            return False
        patterns = [schema.get("pattern"), *schema.get("patternProperties", ())]
        found = any(isinstance(each, str) and each in self._unsure for each in patterns)
        if isinstance(schema.get("$ref"), str):
            users.setdefault(_definition(schema["$ref"]), []).append(name)
        for inner in _inner(schema):
            found = self._holds(inner, holding, users, name) or found
        holding[id(schema)] = found
        return found


class Uncertain:
    """Tells whether a schema hangs on a pattern which the engine does not have as it is, itself or by a definition that it refers to."""

    def __init__(self, definitions: frozenset[str], holding: Mapping[int, bool]) -> None:
        self.definitions: Final = definitions
        self._holding: Final = holding
        self._known: dict[int, bool] = {}

    def __call__(self, schema: Any) -> bool:
        if not is_object(schema):
            return False
        if id(schema) not in self._known:
            self._known[id(schema)] = (
                self._holding[id(schema)]
                or (isinstance(schema.get("$ref"), str) and _definition(schema["$ref"]) in self.definitions)
                or any(map(self, _inner(schema)))
            )
        return self._known[id(schema)]


def _definition(reference: str) -> str:
    """The definition that a reference leads to, or into."""
    return target(reference) if reference.startswith("#/$defs/") else ""


def _inner(schema: Mapping[str, Any]) -> list[Any]:
    """The schemas directly below one, but for definitions."""
    found: list[Any] = []
    for key, value in schema.items():
        if key in SINGLE:
            found.append(value)
        elif key in LISTS and is_array(value):
            found.extend(value)
        elif key in MAPS and key != "$defs" and is_object(value):
            found.extend(value.values())
    return found
