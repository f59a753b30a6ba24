"""New parts get upstream's facts and a placeholder for documentation: an empty description, which lint reports."""

from __future__ import annotations

from typing import Any, Final

from acpgen.adopt.facts import UNIONS, Conventions, Key
from acpgen.input.tagged_unions import find_branches, find_constant, is_null
from acpgen.input.walk import Schema, is_object, map_subschemas

PLACEHOLDER: Final = ""


def add_with_placeholder(name: str | Key, theirs: Any, conventions: Conventions) -> Any:
    """An upstream definition or field, by name, or a branch, by key, in the form in which it enters our files."""
    schema = conventions.adapt_field(name, theirs) if isinstance(name, str) else theirs
    return _add_placeholder(add_placeholders(schema, conventions))


def add_placeholders(theirs: Any, conventions: Conventions) -> Any:
    """Upstream's facts with a placeholder description in every field and branch below."""
    if not is_object(theirs):
        return theirs

    def add_below(path: tuple[str, ...], child: Any) -> Any:
        if path[0] == "properties":
            return add_with_placeholder(path[1], child, conventions)
        if path[0] in UNIONS:
            return add_with_placeholder((), child, conventions)
        return child if path[0] == "not" else add_placeholders(child, conventions)

    return map_subschemas({key: theirs[key] for key in sorted(theirs, key=lambda key: key.startswith("x-"))}, add_below)


def _add_placeholder(schema: Any) -> Any:
    if not is_object(schema):
        return schema
    title = {"title": schema["title"]} if "title" in schema else {}
    return {**title, "description": PLACEHOLDER, **{key: schema[key] for key in schema if key != "title"}}


def remove_needless_placeholders(schema: Any, owners: tuple[Schema, ...] = ()) -> Any:
    """A schema without empty descriptions where lint requires none: on constants, on `_meta`, on unions that only add null."""
    if not is_object(schema):
        return schema
    branches = [branch for keyword in UNIONS for branch in schema.get(keyword, ()) if not is_null(branch)]

    def remove_below(path: tuple[str, ...], child: Any) -> Any:
        plain = remove_needless_placeholders(child, (schema, *owners))
        if path[0] == "properties":
            return _make_field(path[1], plain, schema, owners)
        is_alone = path[0] in UNIONS and (is_null(child) or len(branches) < 2)
        return _remove_placeholder(plain) if is_alone else plain

    return map_subschemas(schema, remove_below)


def remove_placeholders(schema: Any) -> Any:
    """A schema without empty descriptions at any depth."""
    if not is_object(schema):
        return schema
    return _remove_placeholder(map_subschemas(schema, lambda _, child: remove_placeholders(child)))


def _make_field(name: str, schema: Any, owner: Schema, owners: tuple[Schema, ...]) -> Any:
    is_branch = bool(owners) and any(owner is branch for branch in (find_branches(owners[0]) or ("", []))[1])
    is_repeated = is_branch and any(name in outer.get("properties", {}) for outer in owners)
    is_reference = name == "_meta" and is_object(schema) and "$ref" in schema
    return _remove_placeholder(schema) if find_constant(schema) is not None or is_repeated or is_reference else schema


def _remove_placeholder(schema: Any) -> Any:
    if is_object(schema) and schema.get("description") == PLACEHOLDER:
        return {key: value for key, value in schema.items() if key != "description"}
    return schema
