"""The parts of values that two schemas constrain differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from acpgen.input.walk import Schema, is_object

if TYPE_CHECKING:
    from acpgen.ir import JSON
    from schema_inclusion import Part
    from schema_inclusion.validation import Path

_Located: TypeAlias = "tuple[JSON, tuple[str, ...]]"
"""A schema and the keys that lead there."""


@dataclass(frozen=True, slots=True)
class DifferentPart:
    """A part of values: the steps that lead there, and the keys that lead to its schemas in both revisions."""

    steps: tuple[str | Part, ...]
    old_keys: tuple[str, ...]
    new_keys: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The steps as a path in an example."""
        from schema_inclusion import Part

        return tuple(0 if step is Part.ITEM else "*" if step is Part.MEMBER else str(step) for step in self.steps)


def pair_parts(old: JSON, new: JSON) -> Iterator[DifferentPart]:
    """Yield the innermost parts that two schemas constrain differently, as far as members and items lead to them."""
    return _pair_below(_select_object(old), _select_object(new), ())


def _select_object(schema: Any) -> _Located:
    """The only alternative of a union that declares members; the schema itself if there is not one such alternative."""
    if not is_object(schema) or "properties" in schema:
        return schema, ()
    for keyword in ("anyOf", "oneOf"):
        branches = [(branch, (keyword, str(at))) for at, branch in enumerate(schema.get(keyword, ()))]
        objects = [(branch, keys) for branch, keys in branches if is_object(branch) and "properties" in branch]
        if len(objects) == 1:
            return objects[0]
    return schema, ()


def _pair_below(old: _Located, new: _Located, steps: tuple[str | Part, ...]) -> Iterator[DifferentPart]:
    from schema_inclusion import Part

    (before, old_keys), (after, new_keys) = old, new
    if before == after:
        return
    if not (is_object(before) and is_object(after)) or (
        steps and any(before.get(key) != after.get(key) for key in {*before, *after} - {"properties", *_OF_ALL})
    ):
        yield DifferentPart(steps, old_keys, new_keys)
        return
    for name in dict.fromkeys((*before.get("properties", {}), *after.get("properties", {}))):
        for old_member in _find_member(before, old_keys, name):
            for new_member in _find_member(after, new_keys, name):
                yield from _pair_below(old_member, new_member, (*steps, name))
    for key, step in zip(_OF_ALL, (Part.ITEM, Part.MEMBER), strict=True):
        if is_object(before.get(key)) and is_object(after.get(key)):
            yield from _pair_below((before[key], (*old_keys, key)), (after[key], (*new_keys, key)), (*steps, step))


_OF_ALL = ("items", "additionalProperties")


def _find_member(schema: Schema, keys: tuple[str, ...], name: str) -> Iterator[_Located]:
    """Yield the schema of a member, unless it is declared by a pattern or any value is accepted."""
    if name in schema.get("properties", {}):
        yield schema["properties"][name], (*keys, "properties", name)
    elif "additionalProperties" in schema and "patternProperties" not in schema:
        yield schema["additionalProperties"], (*keys, "additionalProperties")
