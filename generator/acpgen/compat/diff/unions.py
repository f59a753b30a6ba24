"""Differences between several objects or arrays at one place: which correspond, and which variants are removed, added or renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeAlias

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff import records, scalars
from acpgen.compat.diff.pairs import DOUBT, EXTENSION, Comparison, FindForm, Step
from acpgen.compat.diff.scalars import MOST_PAIRS
from acpgen.compat.diff.shapes import Alternative, Constants, Objects, find_kind, get_object_type, locate
from acpgen.compat.findings import Sides
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.equality import make_key
from acpgen.meaning.definition_order import list_references
from acpgen.meaning.discriminators import find_type


def diff_alternatives(
    work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...], *, several: bool = False
) -> None:
    """Compare alternatives pair by pair; with `several`, the place has more alternatives than these."""
    matching = match_alternatives(work, old, new)
    if matching is None:
        work.note(
            Change("undecided", detail="there are too many alternatives to compare each with each", **work.places)
        )
        return
    pairs, removed_alternatives, added_alternatives = matching
    several = several or len(old) > 1 or len(new) > 1
    for before, after in pairs:
        _diff_alternative(work, before, after, Step("alternative", old=before, new=after) if several else None)
    for alternative in removed_alternatives:
        at = locate(alternative) or work.old_at
        work.note(Change("alternative", alternative, None, old_at=at, new_at=work.new_at))
    for alternative in added_alternatives:
        at = locate(alternative) or work.new_at
        work.note(Change("alternative", None, alternative, old_at=work.old_at, new_at=at))


def _diff_alternative(work: Comparison, old: Alternative, new: Alternative, step: Step | None) -> None:
    match old, new:
        case (ir.Array() | ir.Tuple(), ir.Array() | ir.Tuple()) if step is not None:
            work.add_child(step, old, new)
        case (Objects() | ir.TaggedUnion(), Objects() | ir.TaggedUnion()) if step is not None:
            work.add_child(step, get_object_type(old), get_object_type(new))
        case Objects(), Objects():
            records.diff_records(work, old, new)
        case ir.Array(), ir.Array():
            work.add_child(Step("item", old=old, new=new), old.items, new.items)
            work.note(*scalars.join_changes(scalars.diff_array_limits(old, new, work.places)))
        case ir.Tuple(), ir.Tuple() if len(old.first) == len(new.first):
            entries = zip((*old.first, old.rest), (*new.first, new.rest), strict=True)
            for index, (old_entry, new_entry) in enumerate(entries):
                work.add_child(Step("item", index, old=old, new=new), old_entry, new_entry)
            if (old.min_items, old.max_items, old.unique) != (new.min_items, new.max_items, new.unique):
                work.note(Change("undecided", detail=DOUBT, **work.places))
        case _:
            work.note(Change("undecided", detail=DOUBT, **work.places))


def diff_objects(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
    """Compare the objects of a place: as unions with a tag member, or as records one by one."""
    tags = [alternative.tag for alternative in (*old, *new) if isinstance(alternative, ir.TaggedUnion)]
    tag = tags[0] if tags else tag_of(work, old, new)
    if tag is None:
        diff_alternatives(work, old, new)
        return
    old_union, new_union = (as_union(work.before, old, tag), as_union(work.after, new, tag)) if tags else (None, None)
    match old, new:
        case _ if old_union is not None and new_union is not None:
            diff_unions(work, old_union, new_union)
        case (ir.TaggedUnion() as before,), (ir.TaggedUnion() as after,):
            work.note(Change("tag", before, after, old_at=before.at, new_at=after.at))
        case _:
            (old_union, old_rest), (new_union, new_rest) = split(work.before, old, tag), split(work.after, new, tag)
            diff_variants(work, old_union, new_union)
            diff_alternatives(work, old_rest, new_rest, several=True)


# --- tagged unions ---


def tag_of(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> str | None:
    """The member whose constants distinguish most of these records, at least two on one side; `None` if there is no such member."""
    counts: dict[str, int] = {}
    for alternatives, side in ((old, work.before), (new, work.after)):
        records = [record for record in alternatives if isinstance(record, Objects)] if len(alternatives) > 1 else []
        required = [field for record in records for field in record.fields if field.required]
        marks = Counter(field.name for field in required if _is_marked(field, side))
        for name in (name for name in dict.fromkeys(field.name for field in required) if marks[name] > 1):
            union, _ = split(side, alternatives, name)
            counts[name] = max(counts.get(name, 0), len({variant.type for variant in union.variants}))
    return max((name for name in counts if counts[name] > 1), key=lambda name: counts[name], default=None)


def _is_marked(field: ir.Field, side: SchemaRevision) -> bool:
    return any(isinstance(alternative, Constants) for alternative in side.get_shape(field.type).alternatives)


def diff_unions(work: Comparison, old: ir.TaggedUnion, new: ir.TaggedUnion) -> None:
    """Compare two unions, each discriminated by one member."""
    at: ChangePlaces = {"old_at": old.at or work.old_at, "new_at": new.at or work.new_at}
    if old.tag != new.tag:
        work.note(Change("tag", old, new, **at))
        return
    diff_variants(work, old, new)
    if old.default is not None and new.default is not None:
        work.add_child(Step("untagged"), ir.Ref(old.default), ir.Ref(new.default), new.tag)
    elif old.default is not None or new.default is not None:
        work.note(Change("untagged", old.default, new.default, Sides(old, new), **at))
    if old.openness != new.openness:
        work.note(Change("unknown", old.openness, new.openness, Sides(old, new), **at))
    elif old.openness == "open" and old.fallback is not None and new.fallback is not None:
        work.add_child(Step("variant", EXTENSION), ir.Ref(old.fallback), ir.Ref(new.fallback), new.tag)


def diff_variants(work: Comparison, old: ir.TaggedUnion, new: ir.TaggedUnion) -> None:
    """Compare the variants of two unions with the same tag member."""
    at: ChangePlaces = {"old_at": old.at or work.old_at, "new_at": new.at or work.new_at}
    before = {make_key(v.tag): v for v in old.variants if work.before.keeps(v.unstable)}
    after = {make_key(v.tag): v for v in new.variants if work.after.keeps(v.unstable)}
    foreseen = replace(old, openness="open") if old.openness == "closed" and _foresees(work, old) else old
    for old_variant, new_variant, likely in work.pair_members(before, after, (old.tag, new.tag)):
        if old_variant is None or new_variant is None:
            old_at = _locate_variant(old_variant, old, work.before.definitions) if old_variant else ""
            new_at = _locate_variant(new_variant, new, work.after.definitions) if new_variant else ""
            places = ChangePlaces(old_at=old_at or at["old_at"], new_at=new_at or at["new_at"])
            within = Sides(foreseen if old_variant is None else old, new)
            work.note(Change("variant", old_variant, new_variant, within, likely=likely, **places))
            continue
        at_variant = ChangePlaces(old_at=old_variant.at, new_at=new_variant.at)
        is_renamed = make_key(old_variant.tag) != make_key(new_variant.tag)
        if is_renamed:
            work.note(Change("variant", old_variant, new_variant, Sides(old, new), **at_variant))
        tag, was = new_variant.tag, old_variant.tag if is_renamed else None
        old_type = find_type(old_variant.type, old.tag, old_variant.tag, work.before.definitions)
        new_type = find_type(new_variant.type, new.tag, tag, work.after.definitions)
        step = Step("variant", tag, was=was, tag=new.tag, **at_variant)
        work.add_child(step, ir.Ref(old_type), ir.Ref(new_type), new.tag)
        work.note_gate(f"variant {tag!r}", f"({tag})", old_variant.capability, new_variant.capability, **at_variant)
        work.note_description(f"{tag!r}", old_variant.doc, new_variant.doc, **at_variant)


def _locate_variant(variant: ir.Variant, union: ir.TaggedUnion, definitions: Mapping[str, ir.Definition]) -> str:
    """The place of a variant: its branch or, if one record represents several variants, the field with their tags."""
    record = definitions.get(variant.type)
    if not isinstance(record, ir.Record) or sum(branch.type == variant.type for branch in union.variants) < 2:
        return variant.at
    return next((field.at for field in record.fields if field.name == union.tag), variant.at)


def _foresees(work: Comparison, union: ir.TaggedUnion) -> bool:
    """Whether the branch of the old side that may lack the tag has known values for it and accepts unknown ones."""
    default = work.before.get_shape(ir.Ref(union.default)).select("object") if union.default else ()
    fields = (field for record in default if isinstance(record, Objects) for field in record.fields)
    shapes = (work.before.get_shape(field.type) for field in fields if field.name == union.tag)
    alternatives = (alternative for shape in shapes for alternative in shape.alternatives)
    return any(isinstance(alternative, Constants) and alternative.openness != "closed" for alternative in alternatives)


def split(
    side: SchemaRevision, alternatives: tuple[Alternative, ...], tag: str
) -> tuple[ir.TaggedUnion, tuple[Objects, ...]]:
    """The alternatives that a constant of the tag member selects, as a union, and all others."""
    groups: list[tuple[ir.Variant, ...]] = []
    names: list[str | None] = []
    rest: list[Objects] = []
    is_open = False
    for alternative in alternatives:
        if isinstance(alternative, ir.TaggedUnion):
            if alternative.tag == tag:
                groups.extend((variant,) for variant in alternative.variants)
                is_open |= alternative.openness == "open"
            else:
                names.extend(variant.type for variant in alternative.variants)
            names += [alternative.fallback, *alternative.fallback_shapes, alternative.default]
        elif isinstance(alternative, Objects):
            union = as_union(side, (alternative,), tag)
            if union is not None and union.variants and union.default is None and union.fallback is None:
                groups.append(union.variants)
            else:
                rest.append(alternative)
    times = Counter(make_key(variant.tag) for group in groups for variant in group)
    variants: list[ir.Variant] = []
    for group in groups:
        if all(times[make_key(variant.tag)] == 1 for variant in group):
            variants.extend(group)
        else:  # the constant does not tell it from another one
            names.extend(variant.type for variant in group)
    shapes = [side.get_shape(ir.Ref(name)) for name in dict.fromkeys(names) if name is not None]
    rest.extend(record for shape in shapes for record in shape.select("object") if isinstance(record, Objects))
    union = ir.TaggedUnion(
        name="",
        tag=tag,
        variants=tuple(variants),
        openness="open" if is_open else "closed",
        fallback=None,
        default=rest[0].name or "" if rest else None,
        at=next((at for alternative in alternatives if (at := locate(alternative))), ""),
    )
    return union, tuple(dict.fromkeys(rest))


def as_union(side: SchemaRevision, alternatives: tuple[Alternative, ...], tag: str) -> ir.TaggedUnion | None:
    """One tagged union with this tag; `None` if the alternatives cannot be read as one.

    A record with a constant tag is a variant, one with an enumeration represents several, one with any string is the fallback for
    unknown tags, and one that may lack the tag is the branch without it.
    """
    if len(alternatives) == 1 and isinstance(union := alternatives[0], ir.TaggedUnion):
        return None if union.tag != tag else replace(union, default=None) if union.default in side.empty else union
    variants: list[ir.Variant] = []
    default: str | None = None
    fallback: str | None = None
    for record in alternatives:
        if not isinstance(record, Objects) or record.name is None:
            return None
        name, at = record.name, record.at
        field = next((field for field in record.fields if field.name == tag), None)
        shape = None if field is None else side.get_shape(field.type)
        groups = [] if shape is None else [group for group in shape.alternatives if isinstance(group, Constants)]
        for group in groups:
            variants.extend(
                ir.Variant(tag=v.value, type=name, capability=v.capability, unstable=v.unstable, at=v.at or at)
                for v in group.values
                if v.value is not None
            )
            if group.openness == "open":
                fallback = name
        if (
            field is not None
            and shape is not None
            and any(isinstance(scalar, ir.String) for scalar in shape.alternatives)
        ):
            if fallback is not None:
                return None
            fallback = name
            if field.required and not shape.nullable:
                continue
        if not groups or field is None or not field.required or (shape is not None and shape.nullable):
            if default is not None:
                return None
            default = name
    if len({make_key(v.tag) for v in variants}) != len(variants):
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
        at=locate(alternatives[0]),
    )


# --- which belong together ---


Matched: TypeAlias = "tuple[list[tuple[Alternative, Alternative]], list[Alternative], list[Alternative]]"
"""The pairs, and the alternatives that only the old or only the new revision has."""


def match_alternatives(work: Comparison, old: Sequence[Alternative], new: Sequence[Alternative]) -> Matched | None:
    """The corresponding alternatives of both sides, and those without a counterpart; `None` if there are too many candidate pairs."""
    if len(old) == len(new) == 1:
        return [(old[0], new[0])], [], []
    named = {
        alternative.name: j
        for j, alternative in enumerate(new)
        if isinstance(alternative, Objects | ir.TaggedUnion) and alternative.name
    }
    matches = _match_equal(work, old, new)
    for i, alternative in enumerate(old):
        j = named.get(alternative.name or "") if isinstance(alternative, Objects | ir.TaggedUnion) else None
        if j is not None and type(alternative) is type(new[j]) and i not in matches and j not in matches.values():
            matches[i] = j
    old_rest = [i for i in range(len(old)) if i not in matches]
    new_rest = set(range(len(new))).difference(matches.values())
    if len(old_rest) * len(new_rest) > MOST_PAIRS:
        return None
    scored = ((_measure_likeness(work, old[i], new[j]), i, j) for i in old_rest for j in sorted(new_rest))
    for _, i, j in sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: (-pair[0], pair[1], pair[2])):
        if i not in matches and j in new_rest:
            matches[i] = j
            new_rest.remove(j)
    pairs = [(old[i], new[j]) for i, j in matches.items()]
    return pairs, [old[i] for i in old_rest if i not in matches], [new[j] for j in sorted(new_rest)]


def _match_equal(work: Comparison, old: Sequence[Alternative], new: Sequence[Alternative]) -> dict[int, int]:
    """The alternatives that accept the same values, by index: those that are written alike, then those with the same normal form."""
    matches: dict[int, int] = {}

    def match(find: FindForm) -> None:
        """Match what is left by what is found of its type."""
        forms: dict[object, list[int]] = {}
        matched = {*matches.values()}
        for j, alternative in enumerate(new):
            if j not in matched and (form := find(_get_type(alternative), "new")) is not None:
                forms.setdefault(form, []).append(j)
        for i, alternative in enumerate(old):
            if forms and i not in matches and (candidates := forms.get(find(_get_type(alternative), "old"))):
                matches[i] = candidates.pop(0)

    match(lambda type_, _: type_ if work.rewritten.isdisjoint(list_references(type_)) else None)
    if len(matches) < min(len(old), len(new)):
        match(work.find_form)
    return matches


def _get_type(alternative: Alternative) -> ir.Type:
    if isinstance(alternative, Objects | ir.TaggedUnion):
        return get_object_type(alternative)
    assert not isinstance(alternative, Constants)
    return alternative


def _measure_likeness(work: Comparison, old: Alternative, new: Alternative) -> float:
    """The similarity of two alternatives, from 0 to 3."""
    if isinstance(old, ir.Array) and isinstance(new, ir.Array):
        if old.items == new.items:
            return 3
        before, after = work.before.get_shape(old.items), work.after.get_shape(new.items)
        old_item, new_item = (
            shape.alternatives[0] if len(shape.alternatives) == 1 else None for shape in (before, after)
        )
        if old_item is not None and new_item is not None and find_kind(old_item) == find_kind(new_item):
            return _measure_likeness(work, old_item, new_item) or (0.1 if find_kind(old_item) != "object" else 0)
        return 0.05 if before.anything == after.anything and not old_item and not new_item else 0
    if isinstance(old, Objects) and isinstance(new, Objects):
        if old.name is not None and new.name is not None:
            if old.name == new.name:
                return 3
            if old.name in work.after.list_former_names(new.name):
                return 2.5
        if _is_marked_apart(work, old, new):
            return 0
        if not old.fields and not new.fields:
            return 2 if old.extra == new.extra else 0.2
        overlap = _measure_overlap({f.name for f in old.fields}, {f.name for f in new.fields})
        required = {f.name for f in old.fields if f.required}, {f.name for f in new.fields if f.required}
        essential = _measure_overlap(*required) if any(required) else overlap
        return overlap + essential if essential else 0
    if isinstance(old, ir.Tuple) and isinstance(new, ir.Tuple):
        return 3 if old == new else 1 if len(old.first) == len(new.first) else 0.05
    return 0


def _is_marked_apart(work: Comparison, old: Objects, new: Objects) -> bool:
    """Whether a field of both has only constants, and none that both accept: as tags do, these tell the objects apart."""
    old_marks, new_marks = work.before.get_marks(old), work.after.get_marks(new)
    return any(old_marks[name].isdisjoint(new_marks[name]) for name in old_marks.keys() & new_marks.keys())


def _measure_overlap(old: AbstractSet[str], new: AbstractSet[str]) -> float:
    return len(old & new) / len(old | new)
