"""JSON Pointers (RFC 6901), and the references of JSON Schema, which are pointers in a URI fragment."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, unquote

_IN_FRAGMENTS: Final = "/$~!&'()*+,;=:@?"
"""Characters that a URI fragment may contain unescaped, besides letters, digits, `-`, `.` and `_`."""


def escape(key: object) -> str:
    """A key or an index as an escaped token of a pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """The key of an escaped token of a pointer."""
    return step.replace("~1", "/").replace("~0", "~")


def write_plain_pointer(*keys: str | int) -> str:
    """The JSON Pointer of these keys and indices: `/$defs/a~1b`."""
    steps = [*map(str, keys)]
    text = "/".join(["", *steps])
    is_plain = "~" not in text and text.count("/") == len(steps)
    return text if is_plain else "".join([f"/{escape(step)}" for step in steps])


def write_pointer(*keys: str | int) -> str:
    """The JSON Pointer of these keys and indices, as a URI fragment without percent-encoding: `#/$defs/a~1b`."""
    return f"#{write_plain_pointer(*keys)}"


def split_pointer(text: str) -> tuple[str, ...]:
    """The keys of a JSON Pointer, with `#` or without."""
    return tuple(map(unescape, text.removeprefix("#").split("/")[1:]))


def split_place(at: str) -> tuple[str, ...]:
    """The keys of the pointer in a place such as `file#/$defs/a~1b`."""
    return split_pointer(at.partition("#")[2])


def resolve(value: Any, text: str) -> Any:
    """The value at a JSON Pointer. Raises `KeyError` if there is none."""
    return follow(value, split_pointer(text))


def follow(value: Any, keys: Iterable[str]) -> Any:
    """The value at a path of keys. Raises `KeyError` if there is none."""
    for key in keys:
        container: Any = value  # any JSON
        if isinstance(value, dict) and key in value:
            value = container[key]
        elif isinstance(value, list) and key.isascii() and key.isdecimal() and int(key) < len(container):
            value = container[int(key)]
        else:
            raise KeyError(key)
    return value


def find_value(value: Any, keys: Iterable[str]) -> Any:
    """The value at a path of keys; `None` if there is none."""
    try:
        return follow(value, keys)
    except KeyError:
        return None


@lru_cache(maxsize=4096)
def write_reference(definition: str, *below: str) -> str:
    """The `$ref` to a definition, or to a place inside it, percent-encoded as a URI fragment: `#/$defs/Reply%3CText%3E`."""
    return as_fragment(write_plain_pointer("$defs", definition, *below))


def as_fragment(text: str) -> str:
    """A JSON Pointer as a URI fragment."""
    return f"#{quote(text, safe=_IN_FRAGMENTS)}"


@lru_cache(maxsize=4096)
def read_reference(ref: str) -> str:
    """The name of the definition that a local reference refers to."""
    return split_pointer(unquote(ref))[1]
