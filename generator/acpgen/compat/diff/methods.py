"""Differences between the methods of two revisions: additions, removals, and the declarations of each method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.renames import find_successor
from acpgen.compat.protocol.revision import SchemaRevision


def pair_methods(old: SchemaRevision, new: SchemaRevision) -> Iterator[tuple[ir.Method, ir.Method]]:
    """Yield the methods of the old revision with their counterparts in the new one."""
    for method in old.methods:
        counterpart = find_successor(method, new.methods)
        if counterpart is not None:
            yield method, counterpart


def compare(old: SchemaRevision, new: SchemaRevision) -> Iterator[Change]:
    """Yield the changes of all methods; `within` has both methods, or twice the one that only one revision has."""
    yield from _diff_unpaired(old, new)
    for one, other in pair_methods(old, new):
        at: ChangePlaces = {"old_at": one.at, "new_at": other.at}
        if one.capability != other.capability and not (one.capability is None and old.may_gate(other.capability)):
            yield Change("gate", one.capability, other.capability, (one, other), detail=f"method {other.name!r}", **at)
        if one.null_result != other.null_result:
            yield Change("null-result", one.null_result or None, other.null_result or None, (one, other), **at)
        if one.batch != other.batch and old.protocol.batch == new.protocol.batch:
            batches = one.batch is None or None, other.batch is None or None
            yield Change("batch", *batches, (one, other), name=other.name, **at)


def _diff_unpaired(old: SchemaRevision, new: SchemaRevision) -> Iterator[Change]:
    """Yield the changes of methods that only one revision has, including those whose kind or name changed."""
    before, after = ({(m.name, m.side, m.kind): m for m in side.methods} for side in (old, new))
    removed_methods = {key: method for key, method in before.items() if key not in after}
    added_methods = {key: method for key, method in after.items() if key not in before}
    kinds = Counter((m.name, m.side) for m in new.methods)
    candidates = {key[:2]: method for key, method in added_methods.items() if kinds[key[:2]] == 1}
    for key, method in removed_methods.items():
        twin = candidates.get(key[:2])
        if twin is not None:
            yield Change("method-kind", method, twin, (method, method), old_at=method.at, new_at=twin.at)
            continue
        new_method = find_successor(method, new.methods)
        yield Change(
            "method", method, new_method, (method, method), old_at=method.at, new_at=new_method.at if new_method else ""
        )
    twins = {key[:2] for key in removed_methods}
    for key, method in added_methods.items():
        if key[:2] not in twins and not any(find_successor(each, [method]) for each in removed_methods.values()):
            yield Change("method", None, method, (method, method), new_at=method.at)
