"""Holes in values, where paths lead in them: a value without its parts there, and the schema of all values around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acpgen import ir
from acpgen.input.walk import Schema, is_array, is_object

if TYPE_CHECKING:
    from schema_inclusion import Part

ValueStep: TypeAlias = "str | int | Part | dict[str, Any]"
ValuePath: TypeAlias = "list[ValueStep]"
"""A path into a value, in the form that the prover expects."""


HOLE: Final[Any] = object()
"""What stands for any value at a place in a value, or for none."""


def cut_hole(value: Any, path: Sequence[Any]) -> Any:
    """A value with a hole at the end of a path of names and indices; schemas in it are passed over, and its last member may be missing."""
    if not path:
        return HOLE
    step, *inner_path = path
    if is_object(step):
        return cut_hole(value, inner_path)
    if is_object(value):
        return value | {step: cut_hole(value.get(step), inner_path)}
    return [cut_hole(inner, inner_path) if index == step else inner for index, inner in enumerate(value)]


def fill_holes(value: Any) -> ir.JSON:
    """A value without the members and items that are holes."""
    if is_object(value):
        return {name: fill_holes(inner) for name, inner in value.items() if inner is not HOLE}
    return [fill_holes(inner) for inner in value if inner is not HOLE] if is_array(value) else value


def write_around_holes(value: Any) -> Schema:
    """The schema of a value with anything in its holes."""
    if value is HOLE:
        return {}
    if is_object(value):
        properties: Schema = {name: write_around_holes(inner) for name, inner in value.items()}
        required = [name for name, inner in value.items() if inner is not HOLE]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    if is_array(value):
        entries = [write_around_holes(inner) for inner in value]
        return {"type": "array", "prefixItems": entries, "items": False, "minItems": len(entries)}
    return {"const": value}
