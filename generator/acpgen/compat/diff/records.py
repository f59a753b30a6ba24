"""Differences between two records: fields, undeclared members, and demands of keywords other than those for fields."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces, DemandChange, FieldChange
from acpgen.compat.diff.pairs import DOUBT, Comparison, Step
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.findings import REVISIONS, Sides, get_opposite
from acpgen.compat.protocol.revision import SchemaRevision, list_fields
from acpgen.compat.protocol.sender_schemas import (
    close_for,
    declares_nothing,
    find_conditional_members,
    list_permitted_patterns,
)
from acpgen.input.equality import is_equal
from acpgen.meaning.samples import read_instead
from acpgen.pointers import split_pointer, write_plain_pointer

_CLOSING: Final = frozenset({"/additionalProperties", "/unevaluatedProperties"})
"""The places in a definition of the keywords for undeclared members."""


def diff_records(work: Comparison, old: Objects, new: Objects) -> None:
    """Compare two records: their fields, their undeclared members, and the demands of other keywords."""
    at = ChangePlaces(old_at=old.at or work.old_at, new_at=new.at or work.new_at)
    tag = work.pair.tag
    before = {field.name: field for field in work.before.list_stable(old.fields) if field.name != tag}
    after = {field.name: field for field in work.after.list_stable(new.fields) if field.name != tag}
    for old_field, new_field, likely in work.pair_members(before, after):
        if old_field is None or new_field is None or old_field.name != new_field.name:
            old_at = (old_field.at if old_field else "") or at["old_at"]
            new_at = (new_field.at if new_field else "") or at["new_at"]
            was = old if new_field is None else close_for(new_field.name, old, work.before.stable_schemas)
            now = new if old_field is None else close_for(old_field.name, new, work.after.stable_schemas)
            within = Sides(was, now)
            work.note(FieldChange("field", old_field, new_field, within, likely=likely, old_at=old_at, new_at=new_at))
            if old_field is not None and not isinstance(now.extra, ir.Anything | ir.Nothing):
                step = Step("field", old_field.name, old_at=old_field.at, new_at=at["new_at"])
                work.add_child(step, old_field.type, now.extra)
            if new_field is not None and not isinstance(was.extra, ir.Anything | ir.Nothing):
                step = Step("field", new_field.name, old_at=at["old_at"], new_at=new_field.at)
                work.add_child(step, was.extra, new_field.type)
        if old_field is not None and new_field is not None:
            _diff_field(work, old_field, new_field)
    _diff_undeclared(work, old, new, at)
    _diff_unenforced(work, old, new, at)


def _diff_undeclared(work: Comparison, old: Objects | ir.Record, new: Objects | ir.Record, at: ChangePlaces) -> None:
    """Compare the undeclared members of a record; `at` is the place of the record."""
    was_closed, is_closed = isinstance(old.extra, ir.Nothing), isinstance(new.extra, ir.Nothing)
    if was_closed != is_closed:
        patterns = Sides(
            None if was_closed else list_permitted_patterns(old.name, work.before.stable_schemas),
            None if is_closed else list_permitted_patterns(new.name, work.after.stable_schemas),
        )
        work.note(Change("openness", *patterns, Sides(old, new), **at))
    elif not was_closed and (old.extra, new.extra) != (ir.Anything(), ir.Anything()):
        work.add_child(Step("value", **at), old.extra, new.extra)


def _diff_unenforced(work: Comparison, old: Objects, new: Objects, at: ChangePlaces) -> None:
    """Compare keywords that the IR does not represent, and excluded constants: they are equal on both sides, or the change is undecided."""
    demands = Sides(
        {place: work.before.write_demand(place) for place in old.unenforced},
        {place: work.after.write_demand(place) for place in new.unenforced},
    )
    _diff_inline(work, old, new, demands)
    old_constants, new_constants = (
        [repr(constant) for constant in objects.excluded if constant[0] != work.pair.tag] for objects in (old, new)
    )
    bases: dict[str, set[str]] = {}
    for side, texts, opposite in ((work.before, demands.old, demands.new), (work.after, demands.new, demands.old)):
        for place, text in texts.items():
            if text not in opposite.values() or work.is_rewritten([text]):
                name, rest = side.find_owner(place)
                is_shared = name in work.before.definitions and name in work.after.definitions
                bases.setdefault(name if is_shared and name not in (old.name, new.name) else "", set()).add(rest)
    before, after = [*demands.old.values(), *old_constants], [*demands.new.values(), *new_constants]
    if bases or old_constants != new_constants:
        _diff_conditional(work, old, new, at)
    if old_constants != new_constants:
        bases = {}
    for base in bases.keys() - {""}:
        _diff_closed(work, base, bases[base], old, new)
    only_base = next(iter(bases)) if len(bases) == 1 else ""
    work.add_doubt(before, after, _locate_base(work, only_base) if only_base else at)


def _diff_inline(work: Comparison, old: Objects, new: Objects, demands: Sides[dict[str, str]]) -> None:
    """Record the demands on lists and maps in fields that differ, and remove them from `demands`, which are by place."""
    objects = Sides(old, new)
    places: dict[tuple[str, ...], Sides[list[str]]] = {}
    for side in REVISIONS:
        for place, text in demands.on(side).items():
            name, rest = work.revisions.on(side).find_owner(place)
            path = split_pointer(rest)[:-1]
            is_inner = path[:1] == ("properties",) and _INNER.issuperset(path[2:])
            if name == objects.on(side).name and is_inner and "$ref" not in text:
                places.setdefault(path, Sides([], [])).on(side).append(place)
    for path, side_places in places.items():
        texts = Sides(*(tuple(sorted(demands.on(side)[place] for place in side_places.on(side))) for side in REVISIONS))
        has_both = all(work.revisions.on(side).has_place(objects.on(side).name or "", path) for side in REVISIONS)
        if texts.old == texts.new or not has_both:
            continue
        pointer = write_plain_pointer(*path)
        at = ChangePlaces(old_at=old.at + pointer, new_at=new.at + pointer)
        name = list_fields(pointer).removeprefix(".")
        work.note(DemandChange("undecided", within=texts, name=name, detail=DOUBT, path=path, **at))
        for side in REVISIONS:
            for place in side_places.on(side):
                del demands.on(side)[place]


_INNER: Final = frozenset({"items", "additionalProperties"})
"""The keywords that lead to all values inside a list or a map."""


def _locate_base(work: Comparison, base: str) -> ChangePlaces:
    return {"old_at": work.before.definitions[base].at, "new_at": work.after.definitions[base].at}


def _diff_closed(work: Comparison, base: str, rests: Collection[str], old: Objects, new: Objects) -> None:
    """Compare what a base says about undeclared members, which applies to the records that extend it too."""
    if _CLOSING.isdisjoint(rests) or ir.Nothing() in (old.extra, new.extra):
        return
    before, after = work.before.definitions[base], work.after.definitions[base]
    if isinstance(before, ir.Record) and isinstance(after, ir.Record):
        _diff_undeclared(work, before, after, _locate_base(work, base))


def _diff_conditional(work: Comparison, old: Objects, new: Objects, at: ChangePlaces) -> None:
    """Record members that only one side declares, by keywords other than `properties`, and that are undeclared for the other side.

    Where the other side declares nothing at all, its members are free, and the difference is decided by what it accepts.
    """
    objects, sides = Sides(old, new), ((old, work.before), (new, work.after))
    tables = (find_conditional_members(record, side.stable_schemas, side.bundle.origins) for record, side in sides)
    members = Sides(*tables)
    for side in REVISIONS:
        opposite = get_opposite(side)
        record, opposite_members = objects.on(opposite), members.on(opposite)
        if record.extra != ir.Anything() or declares_nothing(record, work.revisions.on(opposite).stable_schemas):
            continue
        names = {field.name for field in record.fields} | {name for name, pattern in opposite_members if not pattern}
        patterns = tuple(pattern for _, pattern in opposite_members if pattern)
        for (name, pattern), (by, schema, place) in members.on(side).items():
            if (name, pattern) in opposite_members or (not pattern and name in names):
                continue
            field = ir.Field(name=name, type=ir.Anything(), required=False, owner=objects.on(side).name or "", at=place)
            change = FieldChange("field", within=objects, by=by, schema=schema, pattern=pattern, **at)
            change = replace(change, opposite_names=tuple(sorted(names)), opposite_patterns=patterns)
            is_old = side == "old"
            work.note(replace(change, old=field, old_at=place) if is_old else replace(change, new=field, new_at=place))


def _diff_field(work: Comparison, old: ir.Field, new: ir.Field) -> None:
    at: ChangePlaces = {"old_at": old.at, "new_at": new.at}
    if old.required != new.required and old.name == new.name:
        work.note(Change("required", old if old.required else None, new if new.required else None, **at))
    old_default, new_default = (None if field.default is None else field.default.value for field in (old, new))
    # No default equals one of null.
    referred = _find_default(old, work.before), _find_default(new, work.after)
    is_same = is_equal(old_default, new_default) or is_equal(*referred)
    if not old.required and not new.required and not is_same:
        is_grown = old.default is not None and new.default is not None and _contains(new_default, old_default)
        detail = "grown" if is_grown else ""
        work.note(Change("default", old.default, new.default, name=new.name, detail=detail, **at))
    if old.null != new.null:
        work.note(Change("null-meaning", old.null, new.null, name=new.name, **at))
    for keyword in ("default_on_error", "skip_invalid_items", "default_on_null"):
        before, after = getattr(old.leniency, keyword), getattr(new.leniency, keyword)
        if before == after:
            continue
        if keyword == "default_on_null" and _reads_null(old, work.before) == _reads_null(new, work.after):
            continue
        instead = read_instead(*((new, work.after.definitions) if after else (old, work.before.definitions)))
        was, now = (None, instead) if after else (instead, None)
        work.note(Change("leniency", was, now, name=new.name, detail=keyword, **at))
    work.note_gate(f"field {new.name!r}", new.name, old.capability, new.capability, old.at, new.at)
    if old.required_with != new.required_with and not work.before.may_gate(new.required_with):
        work.note(Change("demand", old.required_with, new.required_with, name=new.name, **at))
    work.note_description(new.name, old.doc, new.doc, old.at, new.at)
    was = None if old.name == new.name else old.name
    work.add_child(Step("field", new.name, was=was, **at), *_diff_lenient_null(work, old, new, at))


def _find_default(field: ir.Field, side: SchemaRevision) -> ir.JSON:
    """The default of a field or, without one, of the definition that it refers to; `None` for none."""
    if field.default is not None or not isinstance(field.type, ir.Ref):
        return None if field.default is None else field.default.value
    return side.stable_schemas.get(field.type.name, {}).get("default")


def _reads_null(field: ir.Field, side: SchemaRevision) -> bool:
    """Whether null falls back to the default: by its own declaration, or like any invalid value."""
    leniency = field.leniency
    return leniency.default_on_null or (leniency.default_on_error and not side.get_shape(field.type).nullable)


def _diff_lenient_null(work: Comparison, old: ir.Field, new: ir.Field, at: ChangePlaces) -> tuple[ir.Type, ir.Type]:
    """The types of a field; null is reported here if the side that refuses it decodes it leniently."""
    before, after = work.before.get_shape(old.type), work.after.get_shape(new.type)
    if before.nullable != after.nullable and not before.anything and not after.anything:
        strict = new if before.nullable else old
        if not strict.required and (strict.leniency.default_on_error or strict.leniency.default_on_null):
            work.note(Change("null", before.nullable or None, after.nullable or None, name=new.name, **at))
            return ir.AnyOf((old.type, ir.Null())), ir.AnyOf((new.type, ir.Null()))
    return old.type, new.type


def _contains(large: ir.JSON, small: ir.JSON) -> bool:
    """Whether a value is another one with more members, at any depth."""
    if isinstance(large, dict) and isinstance(small, dict):
        return all(key in large and _contains(large[key], value) for key, value in small.items())
    return is_equal(large, small)
