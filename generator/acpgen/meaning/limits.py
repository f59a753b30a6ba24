"""The limits of numbers, strings and arrays: their keywords, and whether a value is within them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from acpgen import ir
from acpgen.input.equality import to_fraction
from acpgen.input.numbers import ExactNumber

OF_NUMBERS: Final[Mapping[str, str]] = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusive_minimum": "exclusiveMinimum",
    "exclusive_maximum": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
OF_STRINGS: Final[Mapping[str, str]] = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"}
OF_ARRAYS: Final[Mapping[str, str]] = {"min_items": "minItems", "max_items": "maxItems"}
"""The keywords by their names in the IR."""


def list_limits(type_: ir.Number | ir.String | ir.Array | ir.Tuple) -> dict[str, Any]:
    """The limits of a type, by keyword."""
    names = OF_NUMBERS if isinstance(type_, ir.Number) else OF_STRINGS if isinstance(type_, ir.String) else OF_ARRAYS
    limits = {keyword: getattr(type_, name) for name, keyword in names.items()}
    return {keyword: limit for keyword, limit in limits.items() if limit is not None}


def is_number_within(type_: ir.Number, value: int | float) -> bool:
    """Whether a number matches a type."""
    if isinstance(value, float) and not (isinstance(value, ExactNumber) or math.isfinite(value)):
        return False
    number, limits = to_fraction(value), {keyword: to_fraction(limit) for keyword, limit in list_limits(type_).items()}
    return (
        (not type_.integer or number.denominator == 1)
        and not (type_.without_fraction and isinstance(value, float))
        and number >= limits.get("minimum", number)
        and number <= limits.get("maximum", number)
        and ("exclusiveMinimum" not in limits or number > limits["exclusiveMinimum"])
        and ("exclusiveMaximum" not in limits or number < limits["exclusiveMaximum"])
        and ("multipleOf" not in limits or (number / limits["multipleOf"]).denominator == 1)
    )


def is_length_within(type_: ir.String, text: str) -> bool:
    """Whether the length of a text is within the limits of a type; the pattern is ignored."""
    return (type_.min_length or 0) <= len(text) <= (len(text) if type_.max_length is None else type_.max_length)
