"""What is right and wrong with the frames of the Debug Adapter Protocol, whatever they carry."""

from __future__ import annotations

from typing import Any, TypeGuard

from .contract import Path


def frame_problems(value: dict[str, Any], least: int | None) -> list[tuple[str, Path]]:
    """What is wrong with the frame of a message, each with its place: what it carries is not looked at."""
    found: list[tuple[str, Path]] = []
    kind = value.get("type")
    if kind not in ("request", "response", "event"):
        found.append(
            ("the field 'type' must be 'request', 'response' or 'event'", ("type",) if "type" in value else ())
        )
    numbers = ("seq", "request_seq") if kind == "response" else ("seq",)
    for name in numbers:
        number = value.get(name)
        if not is_integer(number):
            found.append((f"the field {name!r} must be an integer", (name,) if name in value else ()))
        elif least is not None and number < least:
            found.append((f"the field {name!r} must be at least {least}", (name,)))
    texts = ("event",) if kind == "event" else ("command",) if kind in ("request", "response") else ()
    found.extend(
        (f"the field {name!r} must be a string", (name,) if name in value else ())
        for name in texts
        if not isinstance(value.get(name), str)
    )
    if kind == "response" and not isinstance(value.get("success"), bool):
        found.append(("the field 'success' must be true or false", ("success",) if "success" in value else ()))
    if kind == "response" and "message" in value and not isinstance(value["message"], str):
        found.append(("the field 'message' must be a string", ("message",)))
    return found


def is_integer(value: Any) -> TypeGuard[int | float]:
    """Whether a value of JSON is an integer, however it is written."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
