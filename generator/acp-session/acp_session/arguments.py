"""Checks for arguments that would not mean what the caller intends."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, cast, get_args

from acp_bindings import v2


def make_content_block(content: str | v2.ContentBlock) -> v2.ContentBlock:
    """Convert text to a content block. Raises `ValueError` for lone surrogates, which cannot be sent."""
    if not isinstance(content, str):
        return content
    content.encode()
    return v2.TextContent(text=content)


def omit_none(**fields: Any) -> dict[str, Any]:
    """The fields whose value is not `None`."""
    return {name: value for name, value in fields.items() if value is not None}


def refuse_text(**arguments: object) -> None:
    """Raise `ValueError` for a string where a collection is expected: it would be iterated by character."""
    for name, value in arguments.items():
        if isinstance(value, str | bytes):
            raise ValueError(f"'{name}' takes several values: write [{value!r}] for one")


def list_values(type_: object) -> tuple[str, ...]:
    """The values of a literal type of the schema."""
    values = get_args(type_)
    return values if isinstance(values[0], str) else list_values(values[0])


def refuse_unknown(allowed_values: object, **arguments: str | Collection[str] | None) -> None:
    """Raise `ValueError` for a value that is not one of `allowed_values`, a tuple or a literal type of the schema.

    Values with `_` are the author's.
    """
    names = (
        cast("tuple[str, ...]", allowed_values) if isinstance(allowed_values, tuple) else list_values(allowed_values)
    )
    for name, argument in arguments.items():
        for value in (argument,) if isinstance(argument, str) else argument or ():
            if value not in names and not value.startswith("_"):
                raise ValueError(f"'{name}' cannot be {value!r}; known are {', '.join(names)}")


def require_instance(base: type[Any], **arguments: object) -> None:
    """Raise `ValueError` unless each argument is an initialized instance of `base` whose overrides of coroutines are coroutines, with
    no method whose name is almost that of a hook.
    """
    for name, value in arguments.items():
        if isinstance(value, type):
            raise ValueError(f"'{name}' takes an object, not the class: write {value.__name__}()")
        if not isinstance(value, base):
            raise ValueError(f"'{name}' must be an object of a class of {base.__name__}, not {value!r}")
        if not hasattr(value, "info"):
            raise ValueError(
                f"'{name}' was not initialized: call super().__init__() in {type(value).__name__}.__init__"
            )
        hooks = [method for method in vars(base) if method.startswith("on_")]
        derived = [class_ for class_ in type(value).__mro__ if issubclass(class_, base) and class_ is not base]
        for method in {method for class_ in derived for method in vars(class_)} - set(hooks):
            near = get_close_matches(method, hooks, 1, 0.8) if method.startswith("on_") else []
            if near:
                raise ValueError(f"{base.__name__} never calls {method!r} of {type(value).__name__}: write {near[0]!r}")
        for method, definition in vars(base).items():
            function = getattr(type(value), method)
            is_plain = inspect.isfunction(function) and not hasattr(function, "__wrapped__")
            if inspect.iscoroutinefunction(definition) and is_plain and not inspect.iscoroutinefunction(function):
                raise ValueError(
                    f"'{function.__qualname__}' must be a coroutine: write 'async def {method}', without 'yield'"
                )
