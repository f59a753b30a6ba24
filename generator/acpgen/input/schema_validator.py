"""A validator of schemas with patterns of ECMA-262 and exact numbers, for what acpgen itself validates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from acpgen import embedded
from acpgen.input.numbers import with_decimals
from acpgen.input.patterns import Patterns
from acpgen.pointers import write_reference

if TYPE_CHECKING:
    import jsonschema_rs


class Validator:
    """Validates values by one 2020-12 schema with its definitions. `options` are those of `jsonschema_rs`, whose errors it raises.

    `uncertain` are the definitions that accept more than the schema says, because no engine supports one of their patterns.
    """

    def __init__(self, schema: Mapping[str, Any], **options: Any) -> None:
        import jsonschema_rs  # the command starts without it

        self._patterns: Final = Patterns([schema])
        self.uncertain: Final = self._patterns.find_uncertain(schema)
        self._engine: Final = jsonschema_rs.Draft202012Validator(
            with_decimals(self._patterns.translate(schema)),
            keywords={"x-integer": embedded.engine.WrittenInteger},
            **options,
        )

    def is_valid(self, value: Any) -> bool:
        """Whether the schema accepts a value."""
        return self._engine.is_valid(with_decimals(value))

    def list_errors(self, value: Any) -> Iterator[jsonschema_rs.ValidationError]:
        """The errors of the engine for a value."""
        return iter(self._engine.iter_errors(with_decimals(value)))

    def locate(self, error: jsonschema_rs.ValidationError) -> tuple[str | int, ...]:
        """The path in the schema of what refuses."""
        place = tuple(error.schema_path)
        path: tuple[str | int, ...] = self._patterns.restore_place(place) if "patternProperties" in place else place
        return path

    def describe(self, error: jsonschema_rs.ValidationError) -> str:
        """The message of the engine, with the pattern as the schema has it."""
        head, mark, pattern = error.message.rpartition(_MISMATCH)
        return (
            f'{head}{mark}{self._patterns.restore_text(pattern[:-1])}"'
            if mark and pattern.endswith('"')
            else error.message
        )


def compile_definitions(definitions: Mapping[str, Any], references: Iterable[str] = ()) -> Validator:
    """Compile definitions into one validator. An instance is an object that holds a value under the reference to its definition.

    `references` are further places in the definitions.
    """
    keys = (*map(write_reference, definitions), *references)
    return Validator({"$defs": definitions, "properties": {key: {"$ref": key} for key in keys}})


_MISMATCH: Final = ' does not match "'
