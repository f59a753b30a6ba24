"""Compares the two types of a pair: null, JSON kinds, and within a kind what its module knows."""

from __future__ import annotations

from typing import Literal

from acpgen import ir
from acpgen.compat.protocol import alternatives, scalars
from acpgen.compat.protocol.comparison import UNTOLD, Comparison
from acpgen.compat.protocol.facts import DefinitionRenamed, KindChanged, NullChanged, Reworded, Undetermined
from acpgen.compat.protocol.shapes import KINDS, Alternative, Objects, Shape, kind_of


def compare(work: Comparison) -> None:
    """Note all facts of one pair, and the pairs inside it."""
    _names(work)
    _residue(work)
    if work.old.anything != work.new.anything:
        _anything(work)
        return
    if work.old.nullable != work.new.nullable:
        work.fact(NullChanged(work.new.nullable, lenient=False, **work.at()))
    for kind in KINDS:
        _kind(work, kind, work.old.of(kind), work.new.of(kind))
    gone, come = (
        tuple(next(iter(one.of(kind))) for kind in KINDS if one.of(kind) and not other.of(kind))
        for one, other in ((work.old, work.new), (work.new, work.old))
    )
    if gone or come:
        work.fact(KindChanged(_kinds(work.old), _kinds(work.new), gone, come, **work.at()))
    for sender, receiver in ((work.old, work.new), (work.new, work.old)):
        if receiver.exclusive and sender != receiver and _may_fit_two(sender, receiver):
            work.fact(Undetermined("values may fit two branches of 'oneOf' at once", **work.at()))
            break


def _names(work: Comparison) -> None:
    """Renamed definitions. The name of a pair is the outermost definition on each side."""
    old = work.pair.old.name if isinstance(work.pair.old, ir.Ref) else None
    new = work.pair.new.name if isinstance(work.pair.new, ir.Ref) else None
    if old is not None and new is not None:
        before, after = work.both.old.definitions[old], work.both.new.definitions[new]
        if old != new and new not in work.both.old.definitions:
            declared = old in work.both.new.former_names(new)
            work.fact(DefinitionRenamed(old, new, declared=declared, old_at=before.at, new_at=after.at))
        if before.doc != after.doc and before.doc:
            work.fact(Reworded(new, old_at=before.at, new_at=after.at))


def _residue(work: Comparison) -> None:
    known = [[name for name in shape.names if name not in work.both.apart] for shape in (work.old, work.new)]
    before, after = work.both.old.residue(known[0]), work.both.new.residue(known[1])
    if before != after:
        work.fact(Undetermined(UNTOLD, **work.at()))


def _anything(work: Comparison) -> None:
    admitted_by: Literal["old", "new"] = "old" if work.old.anything else "new"
    work.fact(KindChanged(_kinds(work.old), _kinds(work.new), anything=admitted_by, **work.at()))


def _kind(work: Comparison, kind: str, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
    if not old or not new:
        return  # told together with the other kinds that only one side has
    match kind:
        case "boolean":
            scalars.booleans(work, old, new)
        case "number" | "string":
            scalars.scalars(work, old, new)
        case "array":
            alternatives.pairwise(work, old, new)
        case _:
            alternatives.objects(work, old, new)


def _kinds(shape: Shape) -> str:
    if shape.anything:
        return "any value"
    kinds: dict[str, list[Alternative]] = {}
    for each in shape.alternatives:
        kinds.setdefault(kind_of(each), []).append(each)
    names = ["integer" if all(map(_is_integer, group)) else kind for kind, group in kinds.items()]
    return " or ".join([*names, *(["null"] if shape.nullable else [])]) or "no value"


def _is_integer(alternative: Alternative) -> bool:
    return isinstance(alternative, ir.Number) and alternative.integer


def _may_fit_two(sender: Shape, receiver: Shape) -> bool:
    """Whether something that a sender declares may fit two of the receiver's alternatives, judged by what these require."""
    if len(receiver.alternatives) < 2:
        return False
    required: list[set[str]] = []
    for each in receiver.alternatives:
        if not isinstance(each, Objects):
            return True
        required.append({field.name for field in each.fields if field.required})
    for each in sender.alternatives:
        if not isinstance(each, Objects):
            continue
        declared = {field.name for field in each.fields}
        if sum(needed <= declared for needed in required) > 1:
            return True
    return False
