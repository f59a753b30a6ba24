"""Facts about several shapes of one kind at one place: which belong together, and which stand alone."""

from __future__ import annotations

from acpgen import ir
from acpgen.compat.protocol import leaves, record_fields, tagged_unions
from acpgen.compat.protocol.comparison import UNTOLD, Comparison
from acpgen.compat.protocol.facts import AlternativeChanged, TagRenamed, Undetermined
from acpgen.compat.protocol.placed import Step
from acpgen.compat.protocol.shapes import Alternative, Objects, at_of, type_of_array, type_of_object


def pairwise(
    work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...], *, several: bool = False
) -> None:
    """`several`: these are some of the alternatives of a place, and there are others."""
    found = work.both.matching.matched(old, new)
    if found is None:
        work.fact(Undetermined("there are too many alternatives to compare each with each", **work.at()))
        return
    matched, removed, added = found
    several = several or len(old) > 1 or len(new) > 1
    for one, other in matched:
        step = Step("alternative", old=one, new=other) if several else None
        _alternative(work, one, other, step)
    for alternative in removed:
        at = at_of(alternative) or work.old_at
        work.fact(AlternativeChanged(alternative, added=False, old_at=at, new_at=work.new_at))
    for alternative in added:
        at = at_of(alternative) or work.new_at
        work.fact(AlternativeChanged(alternative, added=True, old_at=work.old_at, new_at=at))


def _alternative(work: Comparison, old: Alternative, new: Alternative, step: Step | None) -> None:
    if isinstance(old, ir.Tuple) or isinstance(new, ir.Tuple):
        if step is not None:
            work.child(step, type_of_array(old), type_of_array(new))
        else:
            _tuple(work, old, new)
        return
    if isinstance(old, ir.Array) and isinstance(new, ir.Array):
        if step is not None:
            work.child(step, old, new)
            return
        work.child(Step("item", old=old, new=new), old.items, new.items)
        work.fact(*leaves.together(leaves.array_limits(old, new, work.at())))
        return
    if step is not None and isinstance(old, Objects | ir.TaggedUnion) and isinstance(new, Objects | ir.TaggedUnion):
        work.child(step, type_of_object(old), type_of_object(new))
    else:
        _object(work, old, new)


def _tuple(work: Comparison, old: Alternative, new: Alternative) -> None:
    """Two tuples entry by entry; what else is an array cannot be held against a tuple so."""
    if not isinstance(old, ir.Tuple) or not isinstance(new, ir.Tuple) or len(old.first) != len(new.first):
        work.fact(Undetermined(UNTOLD, **work.at()))
        return
    entries = zip((*old.first, old.rest), (*new.first, new.rest), strict=True)
    for index, (one, other) in enumerate(entries):
        work.child(Step("item", index, old=old, new=new), one, other)
    limits = [(each.min_items, each.max_items, each.unique) for each in (old, new)]
    if limits[0] != limits[1]:
        work.fact(Undetermined(UNTOLD, **work.at()))


def objects(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
    """The objects of a place: unions that a member tells apart, or records one by one."""
    tagged = [each for each in (*old, *new) if isinstance(each, ir.TaggedUnion)]
    if not tagged:
        tag = tagged_unions.tag_of(work, old, new)
        if tag is None:
            pairwise(work, old, new)
        else:
            _apart(work, tagged_unions.split(work, old, tag, 0), tagged_unions.split(work, new, tag, 1))
        return
    one = tagged_unions.as_union(work, old, tagged[0].tag, 0)
    other = tagged_unions.as_union(work, new, tagged[0].tag, 1)
    if one is not None and other is not None:
        tagged_unions.union(work, one, other)
    elif len(old) == len(new) == 1 and isinstance(old[0], ir.TaggedUnion) and isinstance(new[0], ir.TaggedUnion):
        work.fact(TagRenamed(old[0], new[0], old_at=old[0].at, new_at=new[0].at))
    else:
        _apart(work, tagged_unions.split(work, old, tagged[0].tag, 0), tagged_unions.split(work, new, tagged[0].tag, 1))


def _apart(
    work: Comparison, old: tuple[ir.TaggedUnion, tuple[Objects, ...]], new: tuple[ir.TaggedUnion, tuple[Objects, ...]]
) -> None:
    """Variants against variants, and what no tag tells apart against the same of the other side."""
    tagged_unions.variants(work, old[0], new[0])
    pairwise(work, old[1], new[1], several=True)


def _object(work: Comparison, old: Alternative, new: Alternative) -> None:
    match old, new:
        case Objects(), Objects():
            record_fields.record(work, old, new)
        case ir.TaggedUnion(), ir.TaggedUnion():
            tagged_unions.union(work, old, new)
        case _:
            work.fact(Undetermined("two different kinds of types are compared", **work.at()))
