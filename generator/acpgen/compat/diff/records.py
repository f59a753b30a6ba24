"""Differences between two records: fields, undeclared members, and demands of keywords other than those for fields."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from msgspec import structs

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces, DemandChange, FieldChange
from acpgen.compat.diff.pairs import DOUBT, Comparison, Step
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.protocol.revision import SchemaRevision, list_fields
from acpgen.compat.protocol.sender_schemas import declares_nothing, find_conditional_members, list_permitted_patterns
from acpgen.input.equality import is_equal
from acpgen.meaning.samples import read_instead
from acpgen.pointers import split_pointer, write_plain_pointer
from schema_inclusion.patterns import matches

_CLOSING: Final = frozenset({"/additionalProperties", "/unevaluatedProperties"})
"""The places in a definition of the keywords for undeclared members."""


def diff_records(work: Comparison, old: Objects, new: Objects) -> None:
    """Compare two records: their fields, their undeclared members, and the demands of other keywords."""
    old_at, new_at = old.at or work.old_at, new.at or work.new_at
    tag = work.pair.tag
    before = {f.name: f for f in work.before.list_stable(old.fields) if f.name != tag}
    after = {f.name: f for f in work.after.list_stable(new.fields) if f.name != tag}
    for one, other, likely in work.pair_members(before, after):
        if one is None or other is None or one.name != other.name:
            places: ChangePlaces = {
                "old_at": (one.at if one else "") or old_at,
                "new_at": (other.at if other else "") or new_at,
            }
            was = old if other is None else _close_for(other.name, old, work.before)
            now = new if one is None else _close_for(one.name, new, work.after)
            work.note(FieldChange("field", one, other, (was, now), likely=likely, **places))
            if one is not None and not isinstance(now.extra, ir.Anything | ir.Nothing):
                work.add_child(Step("field", one.name, old_at=one.at, new_at=new_at), one.type, now.extra)
            if other is not None and not isinstance(was.extra, ir.Anything | ir.Nothing):
                work.add_child(Step("field", other.name, old_at=old_at, new_at=other.at), was.extra, other.type)
        if one is not None and other is not None:
            _diff_field(work, one, other)
    at: ChangePlaces = {"old_at": old_at, "new_at": new_at}
    _diff_undeclared(work, old, new, at)
    _diff_unenforced(work, old, new, at)


def _close_for(name: str, objects: Objects, side: SchemaRevision) -> Objects:
    """The record as it treats one undeclared name: closed if it accepts undeclared names by patterns alone, and none of them matches."""
    patterns = list_permitted_patterns(objects.name, side.stable_schemas)
    is_refused = bool(patterns) and all(matches(each, name) is False for each in patterns)
    return structs.replace(objects, extra=ir.Nothing()) if is_refused else objects


def _diff_undeclared(work: Comparison, old: Objects | ir.Record, new: Objects | ir.Record, at: ChangePlaces) -> None:
    """Compare the undeclared members of a record; `at` is the place of the record."""
    shut = isinstance(old.extra, ir.Nothing), isinstance(new.extra, ir.Nothing)
    if shut[0] != shut[1]:
        open_, side = (old, work.before) if shut[1] else (new, work.after)
        patterns = list_permitted_patterns(open_.name, side.stable_schemas)
        one, other = (patterns, None) if shut[1] else (None, patterns)
        work.note(Change("openness", one, other, (old, new), **at))
    elif not any(shut) and (old.extra, new.extra) != (ir.Anything(), ir.Anything()):
        work.add_child(Step("value", **at), old.extra, new.extra)


def _diff_unenforced(work: Comparison, old: Objects, new: Objects, at: ChangePlaces) -> None:
    """Compare keywords that the IR does not represent, and excluded constants: they are equal on both sides, or the change is undecided."""
    sides = (work.before, old), (work.after, new)
    demands = [{place: side.write_demand(place) for place in objects.unenforced} for side, objects in sides]
    _diff_inline(work, old, new, demands)
    excluded = [[repr(each) for each in objects.excluded if each[0] != work.pair.tag] for _, objects in sides]
    before, after = ([*texts.values(), *constants] for texts, constants in zip(demands, excluded, strict=True))
    bases: dict[str, set[str]] = {}
    for (side, _), texts, others in zip(sides, demands, demands[::-1], strict=True):
        for place, text in texts.items():
            if text not in others.values() or work.is_rewritten([text]):
                name, rest = side.find_owner(place)
                is_base = name not in (old.name, new.name) and all(name in each.definitions for each, _ in sides)
                bases.setdefault(name if is_base else "", set()).add(rest)
    if bases or excluded[0] != excluded[1]:
        _diff_other_declarations(work, old, new, at)
    if excluded[0] != excluded[1]:
        bases = {}
    for base in bases.keys() - {""}:
        _diff_closed(work, base, bases[base], old, new)
    alone = next(iter(bases)) if len(bases) == 1 else ""
    work.add_doubt(before, after, _locate_base(work, alone) if alone else at)


def _diff_inline(work: Comparison, old: Objects, new: Objects, demands: Sequence[dict[str, str]]) -> None:
    """Record the demands on lists and maps in fields that differ, and remove them from `demands`, which are by place."""
    sides = (work.before, old), (work.after, new)
    places: dict[tuple[str, ...], tuple[list[str], list[str]]] = {}
    for number, ((side, objects), own) in enumerate(zip(sides, demands, strict=True)):
        for place, text in own.items():
            name, rest = side.find_owner(place)
            way = split_pointer(rest)[:-1]
            if (
                name == objects.name
                and way[:1] == ("properties",)
                and _INNER.issuperset(way[2:])
                and "$ref" not in text
            ):
                places.setdefault(way, ([], []))[number].append(place)
    for way, both in places.items():
        texts = [sorted(own[place] for place in inside) for own, inside in zip(demands, both, strict=True)]
        if texts[0] == texts[1] or not all(side.has_place(objects.name or "", way) for side, objects in sides):
            continue
        at = [objects.at + write_plain_pointer(*way) for _, objects in sides]
        name = list_fields(write_plain_pointer(*way)).removeprefix(".")
        within = tuple(texts[0]), tuple(texts[1])
        work.note(
            DemandChange("undecided", within=within, name=name, detail=DOUBT, way=way, old_at=at[0], new_at=at[1])
        )
        for own, inside in zip(demands, both, strict=True):
            for place in inside:
                del own[place]


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


def _diff_other_declarations(work: Comparison, old: Objects, new: Objects, at: ChangePlaces) -> None:
    """Record members that only one side declares, by keywords other than `properties`, and that are undeclared for the other side.

    Where the other side declares nothing at all, its members are free, and the difference is decided by what it accepts.
    """
    sides = (old, work.before), (new, work.after)
    members = [find_conditional_members(objects, side.stable_schemas, side.bundle.origins) for objects, side in sides]
    names = [
        (
            tuple({*(field.name for field in objects.fields), *(name for name, pattern in own if not pattern)}),
            tuple(pattern for _, pattern in own if pattern),
        )
        for (objects, _), own in zip(sides, members, strict=True)
    ]
    for number, (objects, _) in enumerate(sides):
        other, beyond = sides[1 - number]
        if other.extra != ir.Anything() or declares_nothing(other, beyond.stable_schemas):
            continue
        for (name, pattern), (by, schema, place) in members[number].items():
            if (name, pattern) in members[1 - number] or (not pattern and name in names[1 - number][0]):
                continue
            field_ = ir.Field(name=name, type=ir.Anything(), required=False, owner=objects.name or "", at=place)
            old_field, new_field = (None, field_) if number else (field_, None)
            places: ChangePlaces = {**at, "new_at": place} if number else {**at, "old_at": place}
            others = names[1 - number]
            change = partial(FieldChange, "field", old_field, new_field, (old, new), **places)
            work.note(change(by=by, schema=schema, pattern=pattern, others=others))


def _diff_field(work: Comparison, old: ir.Field, new: ir.Field) -> None:
    at: ChangePlaces = {"old_at": old.at, "new_at": new.at}
    if old.required != new.required and old.name == new.name:
        work.note(Change("required", old if old.required else None, new if new.required else None, **at))
    defaults = [None if each.default is None else each.default.value for each in (old, new)]
    if not old.required and not new.required and not is_equal(*defaults):  # no default equals one of null
        is_grown = old.default is not None and new.default is not None and _contains(defaults[1], defaults[0])
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
    one, other = _diff_lenient_null(work, old, new, at)
    former = None if old.name == new.name else old.name
    work.add_child(Step("field", new.name, was=former, **at), one, other)


def _reads_null(field: ir.Field, side: SchemaRevision) -> bool:
    """Whether null falls back to the default: by its own declaration, or like any invalid value."""
    leniency = field.leniency
    return leniency.default_on_null or (leniency.default_on_error and not side.get_shape(field.type).nullable)


def _diff_lenient_null(work: Comparison, old: ir.Field, new: ir.Field, at: ChangePlaces) -> tuple[ir.Type, ir.Type]:
    """The types of a field; null is reported here if the side that refuses it decodes it leniently."""
    shapes = work.before.get_shape(old.type), work.after.get_shape(new.type)
    if shapes[0].nullable != shapes[1].nullable and not any(shape.anything for shape in shapes):
        strict = new if shapes[0].nullable else old
        if not strict.required and (strict.leniency.default_on_error or strict.leniency.default_on_null):
            work.note(Change("null", shapes[0].nullable or None, shapes[1].nullable or None, name=new.name, **at))
            return _make_nullable(old.type), _make_nullable(new.type)
    return old.type, new.type


def _make_nullable(type_: ir.Type) -> ir.Type:
    return ir.AnyOf((type_, ir.Null()))


def _contains(large: ir.JSON, small: ir.JSON) -> bool:
    """Whether a value is another one with more members, at any depth."""
    if isinstance(large, dict) and isinstance(small, dict):
        return all(key in large and _contains(large[key], value) for key, value in small.items())
    return is_equal(large, small)
