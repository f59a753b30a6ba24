"""Whether the answer to a form fits it: the few kinds of fields that forms have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from .events import items, reach, shown, text
from .json_types import is_array, is_object

_TYPES: Final = ("string", "number", "integer", "boolean", "array")


def misfits(form: Any, content: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What of an accepted content a form does not allow, as paths and sentences. Patterns and formats are not looked at, nor fields of
    a type that is not known.
    """
    if not is_object(content):
        return
    for name in items(form, "required"):
        if isinstance(name, str) and name not in content:
            yield (), f"the form requires {shown(name)}"
    fields = reach(form, "properties")
    for name, field in fields.items() if is_object(fields) else ():
        if name in content and is_object(field) and text(field, "type") in _TYPES:
            sentence = _objection(field, content[name])
            if sentence is not None:
                yield (name,), sentence


def _objection(field: Any, value: Any) -> str | None:
    kind = text(field, "type") or ""
    if not _is_of(kind, value):
        return f"{shown(value)} is no {kind}"
    if kind == "string":
        size: float = len(value)
        least, most, choices = field.get("minLength"), field.get("maxLength"), _choices(field, "enum", "oneOf")
    elif kind == "array":
        size = len(value)
        least, most = field.get("minItems"), field.get("maxItems")
        choices = _choices(field.get("items"), "enum", "anyOf")
    else:
        size, choices = value, None
        least, most = (None, None) if kind == "boolean" else (field.get("minimum"), field.get("maximum"))
    if choices is not None:
        for one in value if kind == "array" else [value]:
            if one not in choices:
                return f"{shown(one)} is not one of the {len(choices)} choices"
    if _is_number(least) and size < least:
        return f"{shown(value)} is below the minimum, {least}"
    if _is_number(most) and size > most:
        return f"{shown(value)} is above the maximum, {most}"
    return None


def _is_of(kind: str, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return is_array(value)
        case "integer":
            return _is_number(value) and float(value).is_integer() if not isinstance(value, int) else _is_number(value)
        case _:
            return _is_number(value)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _choices(field: Any, plain: str, titled: str) -> list[str] | None:
    """The values among which a field lets the user choose; `None` where it takes any."""
    if is_array(reach(field, plain)):
        return [value for value in items(field, plain) if isinstance(value, str)]
    if is_array(reach(field, titled)):
        return [value for value in (text(option, "const") for option in items(field, titled)) if value is not None]
    return None
