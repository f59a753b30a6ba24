"""Numbers of JSON as the prover has them, exactly as their text denotes them; and validators that judge by such schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schema_inclusion.values import MOST_DIGITS, ExactNumber, dumps, loads, number, with_decimals

__all__ = ["MOST_DIGITS", "ExactNumber", "dumps", "loads", "number", "validator", "with_decimals"]

if TYPE_CHECKING:
    import jsonschema_rs


class WrittenInteger:
    """The keyword `x-integer`: draft-04 takes `1.0` for no integer."""

    def __init__(self, parent_schema: object, value: object, schema_path: object) -> None: ...

    def validate(self, instance: object) -> None:
        """Raise `ValueError` for an integer that is written with a fraction."""
        if isinstance(instance, float) and instance.is_integer():
            raise ValueError("an integer is written with a fraction")


def validator(schema: Any, **options: Any) -> jsonschema_rs.Draft202012Validator:
    """The validator of a bundled schema; the options are those of `jsonschema_rs`."""
    import jsonschema_rs  # the command starts without it

    return jsonschema_rs.Draft202012Validator(with_decimals(schema), keywords={"x-integer": WrittenInteger}, **options)
