"""Content of a file beside the schemas that are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from acpgen.input.walk import KEYWORDS, is_array, is_object
from acpgen.pointers import write_plain_pointer, write_pointer


def find_unread_members(roots: Mapping[str, Any], read: Collection[str]) -> dict[tuple[str, str], Any]:
    """Members of roots that are not keywords and look like schemas, without the places that are read, by file and key.

    `roots` maps paths of files to their schemas; `read` holds places such as `file#/components/schemas/Thing`.
    """
    members: dict[tuple[str, str], Any] = {}
    places = frozenset(read)
    for path, root in roots.items():
        for key in root if is_object(root) else ():
            if key not in KEYWORDS and not key.startswith("x-"):
                unread = without_places(root[key], f"{path}{write_pointer(key)}", places)
                if holds_schemas(unread):
                    members[path, key] = unread
    return members


def holds_schemas(value: Any) -> bool:
    """Whether a value outside any schema looks as if it contained schemas."""
    pending = [value]
    while pending:
        node = pending.pop()
        if is_object(node):
            if (
                isinstance(node.get("$ref"), str)
                or isinstance(node.get("type"), str)
                or is_object(node.get("properties"))
            ):
                return True
            pending.extend(node.values())
        elif is_array(node):
            pending.extend(node)
    return False


def without_places(value: Any, at: str, places: frozenset[str]) -> Any:
    """A tree at `file#/pointer` without its parts at the given places."""
    if at in places:
        return None
    if is_object(value):
        return {key: without_places(inner, f"{at}{write_plain_pointer(key)}", places) for key, inner in value.items()}
    if is_array(value):
        return [without_places(inner, f"{at}/{index}", places) for index, inner in enumerate(value)]
    return value
