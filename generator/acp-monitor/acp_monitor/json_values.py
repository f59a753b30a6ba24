"""Parsed JSON: what a value is, what stands at a path of it, and how a sentence shows it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias, TypeGuard

Path: TypeAlias = tuple["str | int", ...]
Place: TypeAlias = tuple[Path, Any]
"""A path below the body of a message, and the value that stands there."""

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
    """What stands at a path of a JSON value; `None` where there is nothing."""
    for step in path:
        if isinstance(step, str):
            if value.__class__ is not dict:  # not by a call: this runs some thirty times a message
                return None
            value = value.get(step)
        else:
            value = value[step] if is_array(value) and 0 <= step < len(value) else None
    return value


def text(value: Any, *path: str | int) -> str | None:
    """The string at a path; `None` where there is none."""
    found = reach(value, *path)
    return found if isinstance(found, str) else None


def integer(value: Any, *path: str | int) -> int | None:
    """The integer at a path; `None` where there is none."""
    found = reach(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def items(value: Any, *path: str | int) -> list[Any]:
    """The array at a path; empty where there is none."""
    found = reach(value, *path)
    return found if is_array(found) else []


def json_pointer(path: Iterable[str | int]) -> str:
    """The JSON Pointer of a path of keys and indices."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def pointer_steps(pointer: str) -> tuple[str, ...]:
    """The keys and indices of a JSON Pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def shown(value: object) -> str:
    """A value in a sentence, cut at 80 characters."""
    whole = _WORDS[value] if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, str):
        whole = repr(value)
    return whole if len(whole) <= 80 else f"{whole[:77]}..."
