"""The objects of a call that the rules on content look at: data, links and patches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .events import Event
from .json_values import Path, Place, get_text, is_array, is_object

WITH_CONTENT: Final = ("session/prompt", "session/update", "session/request_permission")
ENCODED: Final = {"image": "data", "audio": "data", "resource": "blob"}
"""Kinds of content with base64 text, with the field that holds it."""

OUTPUTS: Final = ("terminal_output_chunk", "terminal_update")
"""Updates that hold base64 text themselves."""

CONTENT_TYPES: Final = frozenset({*ENCODED, "resource_link", "diff", *OUTPUTS})
"""The types of objects, and the kinds of updates, that the rules on content look at."""

_FREE: Final = frozenset({"_meta", "rawInput", "rawOutput"})
"""Fields that may hold anything."""

_MAX_DEPTH: Final = 16


def find_content(event: Event) -> tuple[Place, ...]:
    """The objects of a call that the rules on content look at, with their paths in the body."""
    if event.method not in WITH_CONTENT or event.kind not in ("request", "notification"):
        return ()
    objects = tuple(place for place in _walk_objects(event.body) if get_text(place[1], "type") in CONTENT_TYPES)
    update = event.update
    if event.update_kind in OUTPUTS and all(value is not update for _, value in objects):
        return (*objects, (("update",), update))
    return objects


def _walk_objects(value: Any, path: Path = ()) -> Iterator[Place]:
    """Yield every object of a body, without fields that may hold anything."""
    if len(path) > _MAX_DEPTH:
        return
    if is_object(value):
        yield path, value
        for name, inner in value.items():
            if name not in _FREE and (is_object(inner) or is_array(inner)):
                yield from _walk_objects(inner, (*path, name))
    elif is_array(value):
        for index, inner in enumerate(value):
            yield from _walk_objects(inner, (*path, index))
