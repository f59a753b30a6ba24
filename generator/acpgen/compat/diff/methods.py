"""Differences between the methods of two revisions: additions, removals, and the declarations of each method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.renames import find_successor
from acpgen.compat.findings import Sides
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
    for before, after in pair_methods(old, new):
        within, at = Sides(before, after), ChangePlaces(old_at=before.at, new_at=after.at)
        gate, new_gate = before.capability, after.capability
        if gate != new_gate and not (gate is None and old.may_gate(new_gate)):
            yield Change("gate", gate, new_gate, within, detail=f"method {after.name!r}", **at)
        if before.null_result != after.null_result:
            yield Change("null-result", before.null_result or None, after.null_result or None, within, **at)
        if before.batch != after.batch and old.protocol.batch == new.protocol.batch:
            batches = before.batch is None or None, after.batch is None or None
            yield Change("batch", *batches, within, name=after.name, **at)


def _diff_unpaired(old: SchemaRevision, new: SchemaRevision) -> Iterator[Change]:
    """Yield the changes of methods that only one revision has, including those whose kind or name changed."""
    before, after = (
        {(method.name, method.side, method.kind): method for method in side.methods} for side in (old, new)
    )
    removed_methods = {key: method for key, method in before.items() if key not in after}
    added_methods = {key: method for key, method in after.items() if key not in before}
    kinds = Counter((method.name, method.side) for method in new.methods)
    candidates = {key[:2]: method for key, method in added_methods.items() if kinds[key[:2]] == 1}
    for key, method in removed_methods.items():
        within = Sides(method, method)
        successor = candidates.get(key[:2])
        if successor is not None:
            yield Change("method-kind", method, successor, within, old_at=method.at, new_at=successor.at)
            continue
        successor = find_successor(method, new.methods)
        new_at = successor.at if successor else ""
        yield Change("method", method, successor, within, old_at=method.at, new_at=new_at)
    changed_kinds = {key[:2] for key in removed_methods}
    for key, method in added_methods.items():
        is_renamed = any(find_successor(removed, [method]) for removed in removed_methods.values())
        if key[:2] not in changed_kinds and not is_renamed:
            yield Change("method", None, method, Sides(method, method), new_at=method.at)
