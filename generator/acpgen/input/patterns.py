"""Schemas with patterns in the syntax of an engine: the engine validates with translations, users see the patterns of the schema."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from acpgen.input.expressions import list_patterns, translate_pattern
from acpgen.input.walk import DEFINITIONS, Schema, find_sources, is_object, list_children, map_subschemas
from acpgen.pointers import as_fragment, read_reference, split_pointer, write_plain_pointer

Path: TypeAlias = tuple["str | int", ...]


class Patterns:
    """The patterns of schemas that an engine needs in another syntax.

    `texts` maps each of them to its translation, `None` if the engine does not support it. No text stands for two patterns, so that a
    message can name the pattern of the schema. `unsure` are those that the engine lacks, or for which it matches more than they say.
    """

    def __init__(self, schemas: Iterable[Any]) -> None:
        patterns = dict.fromkeys(pattern for schema in schemas for pattern, _ in list_patterns(schema))
        used_texts = set(patterns)
        texts: dict[str, str | None] = {}
        for pattern in patterns:
            text = translate_pattern(pattern).strict
            if text == pattern:
                continue
            while text in used_texts:
                text = f"{text}(?:)"
            texts[pattern] = text
            used_texts.update(() if text is None else (text,))
        self.texts: Final[Mapping[str, str | None]] = texts
        self.own_texts: Final = {text: pattern for pattern, text in texts.items() if text is not None}
        self.unsure: Final = frozenset(
            pattern for pattern, text in texts.items() if text is None or translate_pattern(pattern).gap
        )

    def restore_text(self, text: str) -> str:
        """The pattern of the schema for a text of the engine."""
        return self.own_texts.get(text, text)

    def restore_place(self, place: Path) -> Path:
        """Map a path that the engine reports to a path in the schema."""
        return tuple(
            self.restore_text(str(step)) if index and place[index - 1] == "patternProperties" else step
            for index, step in enumerate(place)
        )

    def translate_changed(self, definitions: Mapping[str, Any]) -> dict[str, Any]:
        """The definitions that the translation changes."""
        translated = self.translate({"$defs": definitions})["$defs"]
        return {name: schema for name, schema in translated.items() if schema != definitions[name]}

    def translate(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Translate a schema with its definitions for the engine. Where a pattern is missing, it accepts what only that pattern could
        refuse.
        """
        return dict(self._translate(document, self.find_uncertain(document)) if self.texts else document)

    def find_uncertain(self, document: Mapping[str, Any]) -> frozenset[str]:
        """The definitions of a document that depend on a pattern that the engine lacks or widens."""
        definitions: Mapping[str, Any] = document.get("$defs", {}) if self.unsure else {}
        parts = {name: [*_walk_outside_definitions(definition)] for name, definition in definitions.items()}
        holders = [name for name, subschemas in parts.items() if any(map(self._has_unsure, subschemas))]
        return frozenset(
            find_sources(holders, {name: map(_read_reference, subschemas) for name, subschemas in parts.items()})
        )

    def _has_unsure(self, schema: Schema) -> bool:
        patterns = [schema.get("pattern"), *schema.get("patternProperties", ())]
        return any(isinstance(pattern, str) and pattern in self.unsure for pattern in patterns)

    def _translate(self, schema: Any, uncertain: Collection[str]) -> Any:
        if not is_object(schema):
            return schema
        translation = map_subschemas(schema, lambda _keys, child: self._translate(child, uncertain))
        if isinstance(schema.get("$ref"), str) and "/patternProperties/" in schema["$ref"]:
            translation.pop("$ref")
            place = self._map_place(split_pointer(unquote(schema["$ref"])))
            translation.update({} if place is None else {"$ref": as_fragment(write_plain_pointer(*place))})
        pattern_properties = translation.get("patternProperties")
        if is_object(pattern_properties):
            translation["patternProperties"] = {
                self.texts.get(name, name): inner
                for name, inner in pattern_properties.items()
                if name not in self.unsure
            }
        pattern = translation.pop("pattern", None)
        text = self.texts.get(pattern, pattern) if isinstance(pattern, str) else None
        if text is not None:
            translation["pattern"] = text
        if self.unsure:
            self._weaken(schema, translation, uncertain)
        return translation

    def _map_place(self, place: Path) -> Path | None:
        """Map a path in the schema to one in the translation; `None` if the engine lacks the pattern."""
        steps: list[str | int] = []
        for index, step in enumerate(place):
            is_pattern = index and place[index - 1] == "patternProperties"
            if is_pattern and step in self.unsure:
                return None
            steps.append(self.texts.get(str(step)) or step if is_pattern else step)
        return tuple(steps)

    def _weaken(self, schema: Schema, translation: Schema, uncertain: Collection[str]) -> None:
        """Remove the keywords of a translated schema that could refuse a value because a subschema accepts too much."""

        def is_unsure(part: Any) -> bool:
            parts = _walk_outside_definitions(part)
            return any(self._has_unsure(subschema) or _read_reference(subschema) in uncertain for subschema in parts)

        if not is_unsure(schema):
            return
        if not self.unsure.isdisjoint(schema.get("patternProperties", ())):
            translation.pop("additionalProperties", None)
        translation.pop("unevaluatedProperties", None)
        translation.pop("unevaluatedItems", None)
        if is_unsure(schema.get("not")):
            del translation["not"]
        if is_unsure(schema.get("if")):
            for keyword in ("if", "then", "else"):
                translation.pop(keyword, None)
        if is_unsure(schema.get("contains")):
            translation.pop("maxContains", None)
        if any(map(is_unsure, schema.get("oneOf", ()))):
            translation["allOf"] = [*translation.get("allOf", ()), {"anyOf": translation.pop("oneOf")}]


def _read_reference(schema: Schema) -> str:
    """The definition that a schema refers to or into; empty if there is none."""
    reference = schema.get("$ref")
    return read_reference(reference) if isinstance(reference, str) and reference.startswith("#/$defs/") else ""


def _walk_outside_definitions(schema: Any) -> Iterator[Schema]:
    """Yield a schema and its subschemas at any depth, but for those in definitions."""
    if is_object(schema):
        yield schema
        for keys, child in list_children(schema):
            if keys[0] not in DEFINITIONS:
                yield from _walk_outside_definitions(child)
