"""The judge of values: jsonschema-rs, by the places of one schema. It is imported, and the schema read, when the first value is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from .contract import Path
from .patterns import Patterns
from .pointers import reference, schema_pointer, steps

if TYPE_CHECKING:
    from .explain import Said
    from .pieces import Pieces


class Validator(Protocol):
    """What is asked of a validator of the library `jsonschema_rs`."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the schema accepts a value."""
        ...

    def iter_errors(self, instance: Any) -> Iterator[Any]:
        """What the schema refuses in a value."""
        ...


class WrittenInteger:
    """The keyword `x-integer`: draft-04 takes `1.0` for no integer."""

    def __init__(self, parent_schema: object, value: object, schema_path: object) -> None: ...

    def validate(self, instance: object) -> None:
        """Raise `ValueError` for an integer that is written with a fraction."""
        if isinstance(instance, float) and instance.is_integer():
            raise ValueError("an integer is written with a fraction")


class Engine:
    """Judges values by the places of one document. `schema` gives it, and `patterns` those that the engine takes as another text.

    Values are JSON as a parser gives it: the engine does not come back from one that is nested ten thousand deep, or holds itself.
    """

    def __init__(self, schema: Callable[[], Mapping[str, Any]], patterns: Callable[[], Patterns]) -> None:
        self._schema: Final = schema
        self._patterns: Final = patterns
        self._translated: Any = None
        self._keywords: dict[str, Any] | None = None  # with any, each verdict takes half as long again
        self._validators: dict[Path, Validator] = {}
        self._pieces: Pieces | None = None

    def forget(self) -> None:
        """Read the document again: it says more than it did."""
        self._translated = self._pieces = None
        self._validators.clear()

    def validator(self, place: Path) -> Validator:
        """What judges by the schema at a place."""
        found = self._validators.get(place)
        if found is None:
            found = self._validators[place] = self._compile({"$ref": reference(place)})
        return found

    def is_valid(self, place: Path, value: Any) -> bool:
        """Whether the schema at a place accepts a value."""
        return self.validator(place).is_valid(value)

    def problems(self, place: Path, value: Any) -> Iterator[Said]:
        """What the schema at a place refuses in a value, each thing once. Places and patterns are those that people wrote."""
        if self.is_valid(place, value):
            return
        if self._pieces is None:
            from .pieces import Pieces

            self._pieces = Pieces(self._document, self._compile, own=self._patterns().own)
        for said in self._pieces.problems(place, value):
            yield said._replace(schema=schema_pointer(self._patterns().place(steps(said.schema))))

    @property
    def _document(self) -> Mapping[str, Any]:
        """The schema as the engine takes it."""
        if self._translated is None:
            self._translated = self._patterns().translated(self._schema())
            if b'"x-integer"' in msgspec.json.encode(self._translated):
                self._keywords = {"x-integer": WrittenInteger}
        found: Mapping[str, Any] = self._translated
        return found

    def _compile(self, schema: Mapping[str, Any]) -> Validator:
        import jsonschema_rs

        engine: Any = jsonschema_rs
        whole = {**schema, "$defs": self._document["$defs"]}
        made: Validator = engine.Draft202012Validator(whole, keywords=self._keywords)
        return made
