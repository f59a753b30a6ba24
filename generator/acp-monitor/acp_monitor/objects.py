"""The objects in a call that the rules on content look at: what holds data, links or patches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .events import Event, Path, Place, reach, text
from .json_types import is_array, is_object

BLOCKS: Final = ("session/prompt", "session/update", "session/request_permission")
ENCODED: Final = {"image": "data", "audio": "data", "resource": "blob"}
"""Kinds of content that hold base64 text, with the field that does."""

_OUTPUTS: Final = ("terminal_output_chunk", "terminal_update")
"""Updates that hold base64 text themselves."""

WORDS: Final = frozenset({*ENCODED, "resource_link", "diff", *_OUTPUTS})
"""The types of objects, and the kinds of updates, that the rules on content look at."""

_FREE: Final = frozenset({"_meta", "rawInput", "rawOutput"})
"""Fields in which anything may stand."""

_DEEPEST: Final = 16


def contents(event: Event) -> tuple[Place, ...]:
    """The objects in a call that the rules on content look at, with their paths in the body."""
    if event.method not in BLOCKS or event.kind not in ("request", "notification"):
        return ()
    found = tuple(place for place in _objects(event.body) if text(place[1], "type") in WORDS)
    update = reach(event.body, "update")
    if text(update, "sessionUpdate") in _OUTPUTS and all(value is not update for _, value in found):
        return (*found, (("update",), update))
    return found


def _objects(value: Any, path: Path = ()) -> Iterator[Place]:
    """Every object within a body, without what stands where anything may."""
    if len(path) > _DEEPEST:
        return
    if is_object(value):
        yield path, value
        for name, inner in value.items():
            if name not in _FREE and (is_object(inner) or is_array(inner)):
                yield from _objects(inner, (*path, name))
    elif is_array(value):
        for index, inner in enumerate(value):
            yield from _objects(inner, (*path, index))
