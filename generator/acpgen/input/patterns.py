"""Schemas with patterns in the syntax of an engine: the engine validates with translations, users see the patterns of the schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from acpgen.input.expressions import translations
from acpgen.input.walk import LISTS, MAPS, SINGLE, is_array, is_object
from acpgen.pointers import as_fragment, pointer, pointer_parts, target

Path: TypeAlias = tuple["str | int", ...]


class Patterns:
    """The patterns of schemas that an engine needs in another syntax. `is_partial`: it lacks some, or matches more than they say."""

    def __init__(self, schemas: Iterable[Any]) -> None:
        translation = translations(schemas)
        self.is_partial: Final = translation.is_partial
        self._written: Final = translation.table
        self.own_texts: Final = {text: pattern for pattern, text in translation.table.items() if text is not None}
        self._unsure: Final = {pattern for pattern, text in translation.table.items() if text is None}.union(
            translation.loose
        )

    def own(self, text: str) -> str:
        """The pattern of the schema for a text of the engine."""
        return self.own_texts.get(text, text)

    def place(self, place: Path) -> Path:
        """Map a path that the engine reports to a path in the schema."""
        return tuple(
            self.own(str(step)) if index and place[index - 1] == "patternProperties" else step
            for index, step in enumerate(place)
        )

    def _written_place(self, place: Path) -> Path | None:
        """Map a path in the schema to one in the translation; `None` if the engine lacks the pattern."""
        steps: list[str | int] = []
        for index, step in enumerate(place):
            is_pattern = index and place[index - 1] == "patternProperties"
            if is_pattern and step in self._unsure:
                return None
            steps.append(self._written.get(str(step)) or step if is_pattern else step)
        return tuple(steps)

    def translated(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Translate a schema with its definitions for the engine. Where a pattern is missing, it accepts what only that pattern could
        refuse.
        """
        if not self._written:
            return dict(document)
        translation: dict[str, Any] = self._translated(document, self.uncertain(document) if self._unsure else None)
        return translation

    def changed(self, definitions: Mapping[str, Any]) -> dict[str, Any]:
        """The definitions that the translation changes."""
        translated = self.translated({"$defs": definitions})["$defs"]
        return {name: schema for name, schema in translated.items() if schema != definitions[name]}

    def _translated(self, schema: Any, unsure: Uncertain | None) -> Any:
        if not is_object(schema):
            return schema
        translation: dict[str, Any] = {}
        for key, value in schema.items():
            if key in SINGLE:
                translation[key] = self._translated(value, unsure)
            elif key in LISTS and is_array(value):
                translation[key] = [self._translated(item, unsure) for item in value]
            elif key in MAPS and is_object(value):
                translation[key] = {name: self._translated(item, unsure) for name, item in value.items()}
            else:
                translation[key] = value
        if isinstance(schema.get("$ref"), str) and "/patternProperties/" in schema["$ref"]:
            translation.pop("$ref")
            place = self._written_place(pointer_parts(unquote(schema["$ref"])))
            translation.update({} if place is None else {"$ref": as_fragment(pointer(*place))})
        pattern_properties = translation.get("patternProperties")
        if is_object(pattern_properties):
            translation["patternProperties"] = {
                self._written.get(name, name): inner
                for name, inner in pattern_properties.items()
                if name not in self._unsure
            }
        pattern = translation.pop("pattern", None)
        text = self._written.get(pattern, pattern) if isinstance(pattern, str) else None
        if text is not None:
            translation["pattern"] = text
        if unsure is not None and unsure(schema):
            self._weaken(schema, translation, unsure)
        return translation

    def _weaken(self, schema: Mapping[str, Any], translation: dict[str, Any], unsure: Uncertain) -> None:
        """Remove the keywords of a translated schema that could refuse a value because a subschema accepts too much."""
        if not self._unsure.isdisjoint(schema.get("patternProperties", ())):
            translation.pop("additionalProperties", None)
        translation.pop("unevaluatedProperties", None)
        translation.pop("unevaluatedItems", None)
        if unsure(schema.get("not")):
            del translation["not"]
        if unsure(schema.get("if")):
            for keyword in ("if", "then", "else"):
                translation.pop(keyword, None)
        if unsure(schema.get("contains")):
            translation.pop("maxContains", None)
        if any(map(unsure, schema.get("oneOf", ()))):
            translation["allOf"] = [*translation.get("allOf", ()), {"anyOf": translation.pop("oneOf")}]

    def uncertain(self, document: Mapping[str, Any]) -> Uncertain:
        """Find the schemas of a document that depend on a pattern that the engine lacks or widens."""
        holding: dict[int, bool] = {}
        users: dict[str, list[str]] = {}
        names = [
            name for name, schema in document.get("$defs", {}).items() if self._holds(schema, holding, users, name)
        ]
        self._holds(document, holding, {}, "")
        definitions = set(names)
        while names:
            fresh = [name for name in users.get(names.pop(), ()) if name not in definitions]
            definitions.update(fresh)
            names.extend(fresh)
        return Uncertain(frozenset(definitions), holding)

    def _holds(self, schema: Any, holding: dict[int, bool], users: dict[str, list[str]], name: str) -> bool:
        """Whether a schema contains such a pattern. `users` maps each definition to those that refer to it."""
        if not is_object(schema):
            return False
        patterns = [schema.get("pattern"), *schema.get("patternProperties", ())]
        is_holder = any(isinstance(each, str) and each in self._unsure for each in patterns)
        if isinstance(schema.get("$ref"), str):
            users.setdefault(_definition(schema["$ref"]), []).append(name)
        for inner in _inner(schema):
            is_holder = self._holds(inner, holding, users, name) or is_holder
        holding[id(schema)] = is_holder
        return is_holder


class Uncertain:
    """Says whether a schema depends, directly or through a definition, on a pattern that the engine lacks or widens."""

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
    """The definition that a reference leads to or into."""
    return target(reference) if reference.startswith("#/$defs/") else ""


def _inner(schema: Mapping[str, Any]) -> list[Any]:
    """The direct subschemas of a schema, without definitions."""
    subschemas: list[Any] = []
    for key, value in schema.items():
        if key in SINGLE:
            subschemas.append(value)
        elif key in LISTS and is_array(value):
            subschemas.extend(value)
        elif key in MAPS and key != "$defs" and is_object(value):
            subschemas.extend(value.values())
    return subschemas
