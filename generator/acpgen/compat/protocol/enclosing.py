"""The schema around an error of a validator."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from acpgen.pointers import pointer_parts
from acpgen.schema.walk import LISTS, MAPS, Schema, is_array, is_object

_INSIDE: Final = frozenset({"properties", "patternProperties", "additionalProperties", "prefixItems", "items"})
"""Keywords whose schemas judge what is one level inside a value."""


def judging(root: Schema, error: Any, depth: int) -> Schema:
    """The outermost schema that an error of `jsonschema` passed with the value at the first so many steps of its path.

    The schema of the error itself may be a part that says little, such as a `then`. It is returned where the way is not known.
    """
    schema: Any = {key: value for key, value in root.items() if key not in ("$schema", "$defs")}
    steps, left = iter(error.absolute_schema_path), depth
    while left:
        step = next(steps, None)
        passed: set[str] = set()
        while is_object(schema) and step not in schema and schema.get("$ref", step) not in (step, *passed):
            passed.add(schema["$ref"])
            schema = _at(root, schema["$ref"])
        if not is_object(schema) or step not in schema:
            return error.schema  # type: ignore[no-any-return]
        schema = schema[step]
        if step in MAPS or (step in LISTS and is_array(schema)):
            schema = _at_step(schema, next(steps, None))
        left -= step in _INSIDE
    return schema if is_object(schema) else error.schema


def declared_names(root: Schema, schema: Schema) -> set[str]:
    """The members that a schema names itself, through references and `allOf`, and not in an alternative."""
    found: set[str] = set()
    pending, seen = [schema], set[int]()
    while pending:
        one = pending.pop()
        if is_object(one) and id(one) not in seen:
            seen.add(id(one))
            found.update(one.get("properties", ()))
            pending.extend(one.get("allOf", ()))
            if isinstance(one.get("$ref"), str):
                pending.append(_at(root, one["$ref"]))
    return found


def _at(root: Schema, ref: str) -> Any:
    found: Any = root
    for key in pointer_parts(unquote(ref)):
        found = _at_step(found, key)
    return found


def _at_step(value: Any, key: Any) -> Any:
    if is_object(value):
        return value.get(key)
    return value[key] if is_array(value) and isinstance(key, int) and key < len(value) else None
