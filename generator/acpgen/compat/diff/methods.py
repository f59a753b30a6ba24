"""What differs between the methods of two revisions: which there are, and what each says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.renames import successor
from acpgen.compat.protocol.revision import SchemaRevision


def same_methods(old: SchemaRevision, new: SchemaRevision) -> Iterator[tuple[ir.Method, ir.Method]]:
    """The methods of the old revision with those of the new one that do the same."""
    for method in old.methods:
        found = successor(method, new.methods)
        if found is not None:
            yield method, found


def compare(old: SchemaRevision, new: SchemaRevision) -> Iterator[Change]:
    """The changes of all methods; `within` are the methods, of one that only one revision has that one twice."""
    yield from _alone(old, new)
    for one, other in same_methods(old, new):
        at: ChangePlaces = {"old_at": one.at, "new_at": other.at}
        if one.capability != other.capability and not (one.capability is None and old.may_gate(other.capability)):
            yield Change("gate", one.capability, other.capability, (one, other), detail=f"method {other.name!r}", **at)
        if one.null_result != other.null_result:
            yield Change("null-result", one.null_result or None, other.null_result or None, (one, other), **at)
        if one.batch != other.batch and old.protocol.batch == new.protocol.batch:
            allowed = one.batch is None or None, other.batch is None or None
            yield Change("batch", *allowed, (one, other), name=other.name, **at)


def _alone(old: SchemaRevision, new: SchemaRevision) -> Iterator[Change]:
    """The methods that only one revision has, those of another kind or name among them."""
    before, after = ({(m.name, m.side, m.kind): m for m in side.methods} for side in (old, new))
    gone = {key: method for key, method in before.items() if key not in after}
    come = {key: method for key, method in after.items() if key not in before}
    kinds = Counter((m.name, m.side) for m in new.methods)
    named = {key[:2]: method for key, method in come.items() if kinds[key[:2]] == 1}
    for key, method in gone.items():
        twin = named.get(key[:2])
        if twin is not None:
            yield Change("method-kind", method, twin, (method, method), old_at=method.at, new_at=twin.at)
            continue
        new_method = successor(method, new.methods)
        yield Change(
            "method", method, new_method, (method, method), old_at=method.at, new_at=new_method.at if new_method else ""
        )
    twins = {key[:2] for key in gone}
    for key, method in come.items():
        if key[:2] not in twins and not any(successor(each, [method]) for each in gone.values()):
            yield Change("method", None, method, (method, method), new_at=method.at)
