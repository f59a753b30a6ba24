"""From text to JSON values, strictly: what no JSON may hold is refused and never raises anything else."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from pydantic_core import from_json

from .errors import PARSE_ERROR, DecodeError, Problem
from .json_types import is_array, is_object

# Digits read as 0, both forms of the exponent's letter as e, everything else as a blank: a number that may overflow shows
# as an exponent, or as very many digits.
_SHAPE: Final = bytes(48 if 48 <= i <= 57 else 101 if i in (69, 101) else 32 for i in range(256))
_MANY: Final = b"0" * 300


def parse(line: bytes | bytearray | str) -> Any:
    """The JSON value of a line of UTF-8 text. Raises `DecodeError` with -32700."""
    try:
        text = line.encode() if isinstance(line, str) else line
        value = from_json(text, allow_inf_nan=False)
    except (ValueError, UnicodeError) as error:
        raise not_json(str(error)) from None
    shape = text.translate(_SHAPE)
    if (b"0e" in shape or _MANY in shape) and _overflowed(value):
        raise not_json("a number is too large")
    return value


def copied(value: Any) -> Any:
    """A parsed JSON value as `parse` would give it: refused where it is none. Raises `DecodeError` with -32700."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise not_json(str(error)) from None
    return parse(text)


def _overflowed(value: Any) -> bool:
    if isinstance(value, float):
        return math.isinf(value)
    if is_object(value):
        return any(_overflowed(item) for item in value.values())
    return is_array(value) and any(_overflowed(item) for item in value)


def not_json(reason: str) -> DecodeError:
    """The error for text that is not JSON."""
    return DecodeError(PARSE_ERROR, (Problem("", "", f"this is not JSON: {reason}"),))
