"""Validation with jsonschema-rs against subschemas of one document. The library and the schema are loaded at the first validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from .contract import Path
from .json_types import is_object
from .pointers import find, resolve_reference, split_pointer, write_reference, write_schema_pointer

if TYPE_CHECKING:
    from .explain import Explainer, SchemaError


class Validator(Protocol):
    """The interface of a `jsonschema_rs` validator that is used here."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the schema accepts an instance."""
        ...


class WrittenInteger:
    """The keyword `x-integer`: in draft-04, `1.0` is not an integer."""

    def __init__(self, parent_schema: object, value: object, schema_path: object) -> None: ...

    def validate(self, instance: object) -> None:
        """Raise `ValueError` for an integer that is written with a fraction."""
        if isinstance(instance, float) and instance.is_integer():
            raise ValueError("an integer is written with a fraction")


class Engine:
    """Validates instances against subschemas of one document.

    `schema` returns the document, and `patterns` the original patterns by those that replace them in the document. Instances are parsed
    JSON: the engine does not terminate for a value that contains itself or is nested ten thousand levels deep.
    """

    def __init__(self, schema: Callable[[], Mapping[str, Any]], patterns: Callable[[], Mapping[str, str]]) -> None:
        self._schema: Final = schema
        self._patterns: Final = patterns
        self._document: Mapping[str, Any] | None = None
        self._options: dict[str, Any] = {}
        self._validators: dict[Path, Validator] = {}
        self._explainer: Explainer | None = None

    def forget(self) -> None:
        """Discard the document, which has been extended, so that it is loaded again."""
        self._document = self._explainer = None
        self._validators.clear()

    def get_validator(self, place: Path) -> Validator:
        """The validator for the subschema at a path; for one that only refers to another, that of the other."""
        validator = self._validators.get(place)
        if validator is None:
            schema = find(self.document, place)
            is_reference = is_object(schema) and "$ref" in schema and schema.keys() <= _OF_REFERENCE
            target = resolve_reference(schema["$ref"]) if is_reference else place
            validator = self._validators.get(target) or self.compile(_refer(target))
            self._keep(validator, target, place)
        return validator

    def get_union_validator(self, place: Path, keyword: str) -> Validator:
        """The validator for the branches of a union at a path, of which `anyOf` or `oneOf` of them has to accept a value."""
        key = *place, keyword
        validator = self._validators.get(key)
        if validator is None:
            branches = range(len(find(self.document, place)))
            validator = self.compile({keyword: [_refer((*place, index)) for index in branches]})
            self._keep(validator, key)
        return validator

    def _keep(self, validator: Validator, *keys: Path) -> None:
        if len(self._validators) + len(keys) > CAPACITY:
            self._validators.clear()
        self._validators.update(dict.fromkeys(keys, validator))

    def is_valid(self, place: Path, value: Any) -> bool:
        """Whether the subschema at a path accepts a value."""
        return self.get_validator(place).is_valid(value)

    def find_problems(self, place: Path, value: Any) -> Iterator[SchemaError]:
        """Yield the distinct problems of a value by the subschema at a path, with the original paths and patterns."""
        if self.is_valid(place, value):
            return
        for error in self.explainer.find_problems(place, value):
            place = split_pointer(error.schema)
            if "patternProperties" in place:
                place = tuple(
                    self.restore_pattern(step) if place[index - 1] == "patternProperties" else step
                    for index, step in enumerate(place)
                )
            yield error._replace(schema=write_schema_pointer(place))

    @property
    def explainer(self) -> Explainer:
        """The explainer of validation errors."""
        if self._explainer is None:
            from .explain import Explainer

            self._explainer = Explainer(self)
        return self._explainer

    def restore_pattern(self, pattern: str) -> str:
        """The original of a pattern in the document."""
        return self._patterns().get(pattern, pattern)

    @property
    def document(self) -> Mapping[str, Any]:
        """The schema in the form that the engine takes."""
        if self._document is None:
            import jsonschema_rs

            engine: Any = jsonschema_rs
            self._document = self._schema()
            self._options = {"registry": engine.Registry([(_BASE, {"$defs": self._document["$defs"]})])}
            if b'"x-integer"' in msgspec.json.encode(self._document):  # with it, each verdict takes half as long again
                self._options["keywords"] = {"x-integer": WrittenInteger}
        return self._document

    def compile(self, schema: Mapping[str, Any]) -> Validator:
        """Compile a schema to a validator."""
        import jsonschema_rs

        engine: Any = jsonschema_rs
        options = self._options if self.document else {}
        validator: Validator = engine.Draft202012Validator(schema, **options)
        return validator


def _refer(place: Path) -> dict[str, Any]:
    return {"$ref": _BASE + write_reference(place)}


CAPACITY: Final = 1024
"""The maximum number of validators that an engine keeps: that of a large union takes a megabyte, and a schema has thousands of places."""

_BASE: Final = "urn:document"
_OF_REFERENCE: Final = frozenset(
    {
        *("$ref", "description", "title", "default", "x-capability", "x-null", "x-deserialize-default-on-error"),
        *("x-deserialize-default-on-null", "x-deserialize-skip-invalid-items"),
    }
)
"""Keywords of a subschema that accepts what the one accepts to which it refers."""
