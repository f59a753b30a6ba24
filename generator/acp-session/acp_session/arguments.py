"""Arguments that are refused because they would mean something else than what was written."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import Any, cast, get_args

from acp_bindings import v2


def content_block(content: str | v2.ContentBlock) -> v2.ContentBlock:
    """A text as a content block. Raises `ValueError` for one that is not Unicode, which cannot be sent."""
    if not isinstance(content, str):
        return content
    content.encode()
    return v2.TextContent(text=content)


def omit_none(**fields: Any) -> dict[str, Any]:
    """The fields that have a value: `None` leaves one out."""
    return {name: value for name, value in fields.items() if value is not None}


def refuse_text(**arguments: object) -> None:
    """Raise `ValueError` for a text where several are taken: its characters would be taken one by one."""
    for name, value in arguments.items():
        if isinstance(value, str | bytes):
            raise ValueError(f"'{name}' takes several values: write [{value!r}] for one")


def values_of(type_: object) -> tuple[str, ...]:
    """The values that a type of the schema names."""
    found = get_args(type_)
    return found if isinstance(found[0], str) else values_of(found[0])


def refuse_unknown(known: object, **arguments: str | Collection[str] | None) -> None:
    """Raise `ValueError` for what is none of these values, which may be a type of the schema. Those with `_` are the author's."""
    names = cast("tuple[str, ...]", known) if isinstance(known, tuple) else values_of(known)
    for name, found in arguments.items():
        for value in (found,) if isinstance(found, str) else found or ():
            if value not in names and not value.startswith("_"):
                raise ValueError(f"'{name}' cannot be {value!r}; known are {', '.join(names)}")


def require_instance(base: type[Any], **arguments: object) -> None:
    """Raise `ValueError` for what is no object of this class that was initialized, and for a coroutine that is overridden by none."""
    for name, value in arguments.items():
        if isinstance(value, type):
            raise ValueError(f"'{name}' takes an object, not the class: write {value.__name__}()")
        if not isinstance(value, base):
            raise ValueError(f"'{name}' must be an object of a class of {base.__name__}, not {value!r}")
        if not hasattr(value, "info"):
            raise ValueError(
                f"'{name}' was not initialized: call super().__init__() in {type(value).__name__}.__init__"
            )
        for method, own in vars(base).items():
            found = getattr(type(value), method)
            is_plain = inspect.isfunction(found) and not hasattr(found, "__wrapped__")
            if inspect.iscoroutinefunction(own) and is_plain and not inspect.iscoroutinefunction(found):
                raise ValueError(
                    f"'{found.__qualname__}' must be a coroutine: write 'async def {method}', without 'yield'"
                )
