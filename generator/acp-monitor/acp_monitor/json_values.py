"""Parsed JSON: types of values, access by path, and values in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias, TypeGuard

Path: TypeAlias = tuple["str | int", ...]
Place: TypeAlias = tuple[Path, Any]
"""A path below the body of a message, and the value there."""

REDACTED: Final = "[redacted]"
"""What `acpgen tap --redact` records in place of a text. What such a text was is not known, so rules do not judge it."""

_WORDS: Final = {None: "null", True: "true", False: "false"}


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def reach(value: Any, *path: str | int) -> Any:
    """The value at a path; `None` if there is none."""
    for step in path:
        if isinstance(step, str):
            if value.__class__ is not dict:  # not by a call: this runs some thirty times a message
                return None
            value = value.get(step)
        else:
            value = value[step] if is_array(value) and 0 <= step < len(value) else None
    return value


def is_redacted(value: object) -> bool:
    """Whether a value is a text that stands for another one, or a name that does."""
    return isinstance(value, str) and REDACTED[:-1] in value


def get_text(value: Any, *path: str | int) -> str | None:
    """The string at a path; `None` if there is none, or if it is not known because it is redacted."""
    member = reach(value, *path)
    return member if isinstance(member, str) and not is_redacted(member) else None


def get_integer(value: Any, *path: str | int) -> int | None:
    """The integer at a path, also as 1.0; `None` if there is none."""
    member = reach(value, *path)
    return int(member) if is_number(member) and (isinstance(member, int) or member.is_integer()) else None


def get_items(value: Any, *path: str | int) -> list[Any]:
    """The array at a path; empty if there is none."""
    member = reach(value, *path)
    return member if is_array(member) else []


def write_pointer(path: Iterable[str | int]) -> str:
    """The JSON Pointer of a path of keys and indices."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def split_pointer(pointer: str) -> tuple[str, ...]:
    """The keys and indices of a JSON Pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def show(value: object) -> str:
    """A value in a sentence, cut at 80 characters."""
    whole = _WORDS[value] if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, str):
        whole = repr(value)
    return whole if len(whole) <= 80 else f"{whole[:77]}..."
