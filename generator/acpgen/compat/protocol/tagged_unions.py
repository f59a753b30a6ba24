"""Facts about unions that a member tells apart: which variants are gone, new, renamed, or hold something else now."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Literal

from acpgen import ir
from acpgen.compat.protocol.comparison import Comparison
from acpgen.compat.protocol.facts import (
    FactPlaces,
    OpennessChanged,
    TagRenamed,
    UntaggedChanged,
    VariantAdded,
    VariantRemoved,
    VariantRenamed,
)
from acpgen.compat.protocol.heirs import heirs, likely
from acpgen.compat.protocol.placed import EXTENSION, Step
from acpgen.compat.protocol.shapes import Alternative, Constants, Objects, at_of, key_of_value
from acpgen.meaning.discriminators import type_with_tag


def tag_of(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> str | None:
    """The member whose constants tell most of these records apart, at least two of one side."""
    found: dict[str, int] = {}
    sides: tuple[tuple[tuple[Alternative, ...], Literal[0, 1]], ...] = ((old, 0), (new, 1))
    for alternatives, side in sides:
        listed = [each.fields for each in alternatives if isinstance(each, Objects)] if len(alternatives) > 1 else []
        required = [each for fields in listed for each in fields if each.required]
        marks = Counter(each.name for each in required if _is_marked(work, each, side))
        for name in (name for name in dict.fromkeys(each.name for each in required) if marks[name] > 1):
            union, _ = split(work, alternatives, name, side)
            found[name] = max(found.get(name, 0), len({variant.type for variant in union.variants}))
    return max((name for name in found if found[name] > 1), key=lambda name: found[name], default=None)


def _is_marked(work: Comparison, found: ir.Field, side: Literal[0, 1]) -> bool:
    return any(isinstance(each, Constants) for each in work.both.shape(found.type, side).alternatives)


def union(work: Comparison, old: ir.TaggedUnion, new: ir.TaggedUnion) -> None:
    """Two unions, each discriminated by one member."""
    at: FactPlaces = {"old_at": old.at or work.old_at, "new_at": new.at or work.new_at}
    if old.tag != new.tag:
        work.fact(TagRenamed(old, new, **at))
        return
    variants(work, old, new)
    if old.default is not None and new.default is not None:
        work.child(Step("untagged"), ir.Ref(old.default), ir.Ref(new.default), new.tag)
    elif old.default is not None:
        work.fact(UntaggedChanged(old, old.default, added=False, other=new, **at))
    elif new.default is not None:
        work.fact(UntaggedChanged(new, new.default, added=True, other=old, **at))
    if old.openness != new.openness:
        shut = new if old.openness == "open" else old
        has_default = shut.default is not None
        name = new.name or old.name
        work.fact(OpennessChanged("union", name, new.tag, old.openness, new.openness, has_default, **at))
    elif old.openness == "open" and old.fallback is not None and new.fallback is not None:
        work.child(Step("variant", EXTENSION), ir.Ref(old.fallback), ir.Ref(new.fallback), new.tag)


def variants(work: Comparison, old: ir.TaggedUnion, new: ir.TaggedUnion) -> None:
    """The variants of two unions with one tag."""
    at: FactPlaces = {"old_at": old.at or work.old_at, "new_at": new.at or work.new_at}
    before = {key_of_value(v.tag): v for v in old.variants if work.both.old.keeps(v.unstable)}
    after = {key_of_value(v.tag): v for v in new.variants if work.both.new.keeps(v.unstable)}
    called = heirs(before, after)
    gone = [one for key, one in before.items() if key not in after and key not in called]
    added = [one for key, one in after.items() if key not in before and key not in called.values()]
    seems = likely(gone, added, work.said(gone, added, (old.tag, new.tag)))
    for key, variant in before.items():
        other = after.get(called.get(key, key))
        if other is None:
            places: FactPlaces = {"old_at": variant.at or at["old_at"], "new_at": at["new_at"]}
            work.fact(VariantRemoved(old, new, variant, seems.get(str(variant.tag)), **places))
            continue
        if key in called:
            work.fact(VariantRenamed(old, new, variant, other, old_at=variant.at, new_at=other.at))
        was = variant.tag if key in called else None
        step = Step("variant", other.tag, was=was, tag=new.tag, old_at=variant.at, new_at=other.at)
        left = type_with_tag(variant.type, old.tag, variant.tag, work.both.old.definitions)
        right = type_with_tag(other.type, new.tag, other.tag, work.both.new.definitions)
        work.child(step, ir.Ref(left), ir.Ref(right), new.tag)
        work.gate(
            f"variant {other.tag!r}", f"({other.tag})", variant.capability, other.capability, variant.at, other.at
        )
        work.words(f"{other.tag!r}", variant.doc, other.doc, variant.at, other.at)
    foreseen = bool(added) and _foresees(work, old)
    for variant in added:
        places = {"old_at": at["old_at"], "new_at": variant.at or at["new_at"]}
        work.fact(VariantAdded(old, new, variant, foreseen, **places))


def _foresees(work: Comparison, union: ir.TaggedUnion) -> bool:
    """Whether the branch of the old side that may lack the tag knows values of it, and takes others for values too."""
    default = work.both.shape(ir.Ref(union.default), 0).of("object") if union.default else ()
    fields = [
        field for each in default if isinstance(each, Objects) for field in each.fields if field.name == union.tag
    ]
    shapes = [work.both.shape(field.type, 0) for field in fields]
    return any(isinstance(each, Constants) and each.openness != "closed" for one in shapes for each in one.alternatives)


def split(
    work: Comparison, alternatives: tuple[Alternative, ...], tag: str, side: Literal[0, 1]
) -> tuple[ir.TaggedUnion, tuple[Objects, ...]]:
    """The alternatives that a constant under the tag tells apart, as a union, and all others."""
    told: list[tuple[ir.Variant, ...]] = []
    names: list[str | None] = []
    rest: list[Objects] = []
    is_open = False
    for each in alternatives:
        if isinstance(each, ir.TaggedUnion):
            if each.tag == tag:
                told.extend((variant,) for variant in each.variants)
                is_open |= each.openness == "open"
            else:
                names.extend(variant.type for variant in each.variants)
            names += [each.fallback, *each.fallback_shapes, each.default]
        elif isinstance(each, Objects):
            found = as_union(work, (each,), tag, side)
            if found is not None and found.variants and found.default is None and found.fallback is None:
                told.append(found.variants)
            else:
                rest.append(each)
    times = Counter(key_of_value(variant.tag) for group in told for variant in group)
    variants: list[ir.Variant] = []
    for group in told:
        if all(times[key_of_value(variant.tag)] == 1 for variant in group):
            variants.extend(group)
        else:  # the constant does not tell it from another one
            names.extend(variant.type for variant in group)
    shapes = [work.both.shape(ir.Ref(name), side) for name in dict.fromkeys(names) if name is not None]
    rest.extend(one for shape in shapes for one in shape.of("object") if isinstance(one, Objects))
    union = ir.TaggedUnion(
        name="",
        tag=tag,
        variants=tuple(variants),
        openness="open" if is_open else "closed",
        fallback=None,
        default=rest[0].name or "" if rest else None,
        at=next((at for each in alternatives if (at := at_of(each))), ""),
    )
    return union, tuple(dict.fromkeys(rest))


def as_union(
    work: Comparison, alternatives: tuple[Alternative, ...], tag: str, side: Literal[0, 1]
) -> ir.TaggedUnion | None:
    """One tagged union with this tag, if the alternatives can be read as one.

    A record with a constant under the tag is a variant, one with an enumeration stands for several, one with any string is what
    takes unknown tags, and one that may lack the tag is the branch without it.
    """
    if len(alternatives) == 1 and isinstance(union := alternatives[0], ir.TaggedUnion):
        empty = (work.both.old, work.both.new)[side].empty
        return None if union.tag != tag else replace(union, default=None) if union.default in empty else union
    variants: list[ir.Variant] = []
    default: str | None = None
    fallback: str | None = None
    for each in alternatives:
        if not isinstance(each, Objects) or each.name is None:
            return None
        field = next((f for f in each.fields if f.name == tag), None)
        shape = None if field is None else work.both.shape(field.type, side)
        groups = [] if shape is None else [g for g in shape.alternatives if isinstance(g, Constants)]
        for group in groups:
            variants.extend(
                ir.Variant(
                    tag=v.value, type=each.name, capability=v.capability, unstable=v.unstable, at=v.at or each.at
                )
                for v in group.values
                if v.value is not None
            )
            if group.openness == "open":
                fallback = each.name
        if field is not None and shape is not None and any(isinstance(g, ir.String) for g in shape.alternatives):
            if fallback is not None:
                return None
            fallback = each.name
            if field.required and not shape.nullable:
                continue
        if not groups or field is None or not field.required or (shape is not None and shape.nullable):
            if default is not None:
                return None
            default = each.name
    if len({key_of_value(v.tag) for v in variants}) != len(variants):
        return None
    if fallback == default:
        fallback = None  # as the IR has it: a branch that may lack the tag takes unknown ones too
    return ir.TaggedUnion(
        name="",
        tag=tag,
        variants=tuple(variants),
        openness="open" if fallback else "closed",
        fallback=fallback,
        default=default,
        at=at_of(alternatives[0]),
    )
