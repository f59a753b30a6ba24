"""What a file holds beside the schemas that are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from acpgen.input.walk import KEYWORDS, is_array, is_object
from acpgen.pointers import plain_pointer, pointer


def unread(roots: Mapping[str, Any], read: Collection[str]) -> dict[tuple[str, str], Any]:
    """The members of roots that are no keywords and hold what looks like schemas, without what is read, by file and key.

    `roots` are the schemas of files by path, `read` places such as `file#/components/schemas/Thing`.
    """
    found: dict[tuple[str, str], Any] = {}
    places = frozenset(read)
    for path, root in roots.items():
        for key in root if is_object(root) else ():
            if key not in KEYWORDS and not key.startswith("x-"):
                left = without_places(root[key], f"{path}{pointer(key)}", places)
                if holds_schemas(left):
                    found[path, key] = left
    return found


def holds_schemas(value: Any) -> bool:
    """Whether something that is no part of a schema looks as if it held some."""
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
    """What is left of a tree that stands at `file#/pointer` without what stands at places of its own."""
    if at in places:
        return None
    if is_object(value):
        return {key: without_places(inner, f"{at}{plain_pointer(key)}", places) for key, inner in value.items()}
    if is_array(value):
        return [without_places(inner, f"{at}/{index}", places) for index, inner in enumerate(value)]
    return value
