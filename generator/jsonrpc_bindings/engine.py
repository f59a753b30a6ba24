"""The judge of values: jsonschema-rs, by the places of one schema. It is imported, and the schema read, when the first value is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from .contract import Path
from .pointers import reference, schema_pointer, steps

if TYPE_CHECKING:
    from .explain import Explainer, SchemaError


class Validator(Protocol):
    """What is asked of a validator of the library `jsonschema_rs`."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the schema accepts a value."""
        ...


class WrittenInteger:
    """The keyword `x-integer`: draft-04 takes `1.0` for no integer."""

    def __init__(self, parent_schema: object, value: object, schema_path: object) -> None: ...

    def validate(self, instance: object) -> None:
        """Raise `ValueError` for an integer that is written with a fraction."""
        if isinstance(instance, float) and instance.is_integer():
            raise ValueError("an integer is written with a fraction")


class Engine:
    """Judges values by the places of one document. `schema` gives it, and `patterns` those that people wrote by those that stand there.

    Values are JSON as a parser gives it: the engine does not come back from one that is nested ten thousand deep, or holds itself.
    """

    def __init__(self, schema: Callable[[], Mapping[str, Any]], patterns: Callable[[], Mapping[str, str]]) -> None:
        self._schema: Final = schema
        self._patterns: Final = patterns
        self._document: Mapping[str, Any] | None = None
        self._options: dict[str, Any] = {}
        self._validators: dict[Path, Validator] = {}
        self._explainer: Explainer | None = None

    def forget(self) -> None:
        """Read the document again: it says more than it did."""
        self._document = self._explainer = None
        self._validators.clear()

    def validator(self, place: Path) -> Validator:
        """What judges by the schema at a place."""
        found = self._validators.get(place)
        if found is None:
            found = self._validators[place] = self.compile({"$ref": _BASE + reference(place)})
        return found

    def is_valid(self, place: Path, value: Any) -> bool:
        """Whether the schema at a place accepts a value."""
        return self.validator(place).is_valid(value)

    def problems(self, place: Path, value: Any) -> Iterator[SchemaError]:
        """What the schema at a place refuses in a value, each thing once. Places and patterns are those that people wrote."""
        if self.is_valid(place, value):
            return
        for said in self.explainer.problems(place, value):
            place = steps(said.schema)
            if "patternProperties" in place:
                place = tuple(
                    self.own(step) if place[index - 1] == "patternProperties" else step
                    for index, step in enumerate(place)
                )
            yield said._replace(schema=schema_pointer(place))

    @property
    def explainer(self) -> Explainer:
        """What says what is wrong."""
        if self._explainer is None:
            from .explain import Explainer

            self._explainer = Explainer(self)
        return self._explainer

    def own(self, pattern: str) -> str:
        """The pattern that people wrote for one in the document."""
        return self._patterns().get(pattern, pattern)

    @property
    def document(self) -> Mapping[str, Any]:
        """The schema as the engine takes it."""
        if self._document is None:
            import jsonschema_rs

            engine: Any = jsonschema_rs
            self._document = self._schema()
            self._options = {"registry": engine.Registry([(_BASE, {"$defs": self._document["$defs"]})])}
            if b'"x-integer"' in msgspec.json.encode(self._document):  # with it, each verdict takes half as long again
                self._options["keywords"] = {"x-integer": WrittenInteger}
        return self._document

    def compile(self, schema: Mapping[str, Any]) -> Validator:
        """A validator of a schema."""
        import jsonschema_rs

        engine: Any = jsonschema_rs
        options = self._options if self.document else {}
        made: Validator = engine.Draft202012Validator(schema, **options)
        return made


_BASE: Final = "urn:document"
