"""JSON Pointers (RFC 6901) into messages and into the schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

from .json_types import is_array


def json_pointer(path: Iterable[str | int]) -> str:
    """The JSON Pointer of a path of keys and indices."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def steps(pointer: str) -> tuple[str, ...]:
    """The keys and indices of a JSON Pointer, all as strings."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def schema_pointer(place: Iterable[str | int]) -> str:
    """The pointer to a path in the schema, for display."""
    return "#" + json_pointer(place)


def reference(place: Iterable[str | int]) -> str:
    """The `$ref` to a path in the schema."""
    return "#" + quote(json_pointer(place), safe="/$~")


def referred(reference: str) -> tuple[str, ...]:
    """The path that a reference within the schema points to."""
    return steps(unquote(reference))


def find(document: Any, place: Iterable[str | int]) -> Any:
    """The subschema of a document at a path. Raises `KeyError` or `IndexError` if there is none."""
    node: Any = document
    for step in place:
        node = node[int(step)] if is_array(node) else node[str(step)]
    return node
