"""Params that are sent by position: what both revisions accept and read otherwise, because the order of the params has changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acpgen import ir
from acpgen.compat.changes import Change
from acpgen.compat.protocol.declared import schema_of
from acpgen.schema.walk import Schema, is_array

if TYPE_CHECKING:
    from acpgen.compat.protocol.acceptance import Acceptance


@dataclass(frozen=True, slots=True)
class Misread:
    """Params that both revisions accept and read otherwise. `value` is `None` where it is not known whether there are any."""

    value: ir.JSON


def moved(old: ir.Method, new: ir.Method, *, is_named: bool) -> Change | None:
    """What has changed in the order of params. `is_named`: they may be sent by name too, so a param that is gone is told there."""
    others = [(one, other) for one, other in zip(old.positions, new.positions, strict=False) if one != other]
    is_moved = any(one in new.positions or other in old.positions for one, other in others)
    if not others or (is_named and not is_moved):
        return None
    return Change("positions", old.positions, new.positions, old_at=old.at, new_at=new.at)


def misread(acceptance: Acceptance, old: ir.Method, new: ir.Method) -> Misread | None:
    """Params that one revision takes for other params than the other; `None` where all such params are refused."""
    if old.params is None or new.params is None:
        return None
    refuses = {"not": schema_of(ir.Ref(new.params))}

    def common(wanted: Schema) -> tuple[ir.JSON, bool]:
        """Params of both revisions, if any were found, and whether that there are none is not known."""
        relation = acceptance.between({"allOf": [schema_of(ir.Ref(old.params or "")), wanted]}, refuses, "old")
        found = None if relation.witness is None else relation.witness.value
        return found, found is None and relation.verdict.value != "yes"

    is_open = False
    for index, becomes in _changes(old.positions, new.positions):
        found, doubtful = common({"type": "array", "minItems": index + 1})
        if is_array(found) and becomes is not None and becomes < len(found) and found[index] == found[becomes]:
            found, doubtful = common(_apart(index, becomes, found[index]))
        if found is not None:
            return Misread(found)
        is_open |= doubtful
    return Misread(None) if is_open else None


def _changes(old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[tuple[int, int | None]]:
    """The positions that have another param now, each with the position that its param has got; `None` where it has none."""
    for index, name in enumerate(old[: len(new)]):
        if new[index] != name:
            yield index, new.index(name) if name in new else None


def _apart(index: int, other: int, value: ir.JSON) -> Schema:
    """Lists that have a value at one position and another value at the other."""
    entries: list[Any] = [{}] * (max(index, other) + 1)
    entries[index], entries[other] = {"const": value}, {"not": {"const": value}}
    return {"type": "array", "minItems": len(entries), "prefixItems": entries}
