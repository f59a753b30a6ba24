"""Differences of booleans, strings and numbers at one place: known constants and limits, with a value that only one side admits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces, FormatChange, LimitChange, join_limits
from acpgen.compat.diff.pairs import Comparison
from acpgen.compat.diff.shapes import Alternative, Constants
from acpgen.compat.findings import Revision
from acpgen.compat.protocol.sender_schemas import Written, write_schema
from acpgen.errors import count_noun
from acpgen.input.equality import make_key
from acpgen.input.numbers import dumps
from acpgen.input.walk import Schema
from acpgen.meaning.limits import OF_NUMBERS, OF_STRINGS

Free: TypeAlias = "tuple[ir.Number | ir.String, ...]"

MOST_PAIRS: Final = 1_000_000
"""The maximum number of pairs of alternatives that are compared with each other."""

UNPROVEN: Final = "No proof and no witness: "
"""The prefix of the prover's reason for an undecided answer."""


def diff_scalar_limits(
    work: Comparison, old_values: Constants | None, old_free: Free, new_values: Constants | None, new_free: Free
) -> Iterator[Change]:
    """Yield what one side's strings or numbers admit and the other's refuse. Two sets of known constants are not compared here."""
    at = work.at()
    backward = _diff_one_way(work, old_values, old_free, new_values, new_free, "old")
    forward = _diff_one_way(work, new_values, new_free, old_values, old_free, "new")
    yield from join_changes([*backward, *forward])
    if not old_free or not new_free:
        return
    before, after = ([each for each in free if isinstance(each, ir.String)] for free in (old_free, new_free))
    old, new = (_join_words(each.format for each in free) for free in (old_free, new_free))
    if old != new:
        yield FormatChange("format", old, new, (tuple(before), tuple(after)), **at)
    old, new = (_join_words(each.encoding for each in strings) for strings in (before, after))
    if old != new:
        yield FormatChange("format", old, new, keyword="contentEncoding", **at)


def _join_words(names: Iterable[str | None]) -> str | None:
    """The values of one keyword in several types, in words; `None` if none has it."""
    texts = sorted({name or "" for name in names})
    return " or ".join(name or "unspecified" for name in texts) if any(texts) else None


def join_changes(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes of one declaration, with all its limits joined into one change."""
    all_changes = list(changes)
    limits = [each for each in all_changes if isinstance(each, LimitChange)]
    if limits:
        yield join_limits(limits)
    yield from (each for each in all_changes if not isinstance(each, LimitChange))


def diff_array_limits(old: ir.Array, new: ir.Array, at: ChangePlaces) -> Iterator[Change]:
    """Yield the changed limits on the number of items and on their uniqueness."""
    words = _describe_items(old), _describe_items(new)
    sides: tuple[tuple[Revision, ir.Array, ir.Array], ...] = (("old", old, new), ("new", new, old))
    for admitted_by, loose, tight in sides:

        def limit(keyword: str, demand: ir.JSON, by: Revision = admitted_by) -> LimitChange:
            return LimitChange("limit", *words, keyword=keyword, admitted_by=by, demand={keyword: demand}, **at)

        low, least, most = loose.min_items or 0, tight.min_items or 0, loose.max_items
        if low < least and (most is None or most >= low):
            yield limit("minItems", least)
        if tight.max_items is not None and (most is None or most > tight.max_items):
            yield limit("maxItems", tight.max_items)
        if tight.unique and not loose.unique and (most is None or most > 1):
            yield limit("uniqueItems", True)


def describe(free: Free) -> str:
    """A scalar type in words."""
    return " or ".join(_describe_one(each) for each in free) or "nothing"


def _diff_one_way(
    work: Comparison,
    values: Constants | None,
    free: Free,
    other_values: Constants | None,
    other_free: Free,
    admitted_by: Revision,
) -> Iterator[Change]:
    """Yield the changes of one direction: what a sender's constants and free types admit and the receiver refuses."""
    at = work.at()
    words = (
        describe(free) if free else _list_values(values),
        describe(other_free) if other_free else _list_values(other_values),
    )
    old, new = words if admitted_by == "old" else words[::-1]
    accepted_schema: Schema = (
        {"anyOf": [write_schema(each) for each in other_free]} if other_free else _write_constants(other_values)
    )
    uncovered = [each for each in free if each not in other_free]
    if len(uncovered) * len(other_free) > MOST_PAIRS:
        yield Change("undecided", detail="there are too many alternatives to compare each with each", **at)
        return
    questions: list[tuple[str, Written]] = []
    if values is not None and other_values is None:
        questions.append(("enum", _write_constants(values)))
    if other_free or values is None:
        questions += [(_find_keyword(each, other_free), write_schema(each)) for each in uncovered]
    for keyword, sent_schema in questions:
        relation = work.comparer.include(sent_schema, accepted_schema)
        if relation.verdict.value == "no":
            yield LimitChange("limit", old, new, keyword=keyword, admitted_by=admitted_by, **at)
        elif relation.verdict.value == "undecided":
            yield Change("undecided", detail=relation.reason.removeprefix(UNPROVEN).rstrip("."), **at)


def _write_constants(values: Constants | None) -> Schema:
    return {"enum": [] if values is None else [each.value for each in values.values]}


def _find_keyword(type_: ir.Number | ir.String, other_free: Free) -> str:
    """The first keyword that differs."""
    names = (
        OF_STRINGS if isinstance(type_, ir.String) else {"integer": "type", "without_fraction": "type", **OF_NUMBERS}
    )
    if not other_free:
        return "enum"
    other = other_free[0]
    return next((word for name, word in names.items() if getattr(type_, name) != getattr(other, name)), "type")


def _describe_one(type_: ir.Number | ir.String) -> str:
    parts: list[str] = []
    if isinstance(type_, ir.String):
        if type_.min_length or type_.max_length is not None:
            parts.append(f"of {_describe_count(type_.min_length, type_.max_length, 'character')}")
        if type_.pattern is not None:
            parts.append(f"matching {type_.pattern!r}")
        return " ".join(["a string", *parts]) if parts else "any string"
    for limit, word in (
        (type_.minimum, "at least"),
        (type_.exclusive_minimum, "above"),
        (type_.maximum, "at most"),
        (type_.exclusive_maximum, "below"),
        (type_.multiple_of, "a multiple of"),
    ):
        if limit is not None:
            parts.append(f"{word} {limit}")
    noun = "integer" if type_.integer else "number"
    if type_.without_fraction:
        parts.append("written without a fraction")
    if not parts:
        return f"any {noun}"
    of = " of" if parts[0].startswith("at ") else ""
    return f"{'an' if type_.integer else 'a'} {noun}{of} {' and '.join(parts)}"


def _describe_count(least: int | None, most: int | None, noun: str) -> str:
    """How many of something there may be, with one limit or both."""
    if most is None or not least:
        return f"at least {count_noun(least or 0, noun)}" if most is None else f"at most {count_noun(most, noun)}"
    return f"exactly {count_noun(most, noun)}" if least == most else f"{least} to {count_noun(most, noun)}"


def _describe_items(array: ir.Array) -> str:
    parts: list[str] = []
    if array.min_items or array.max_items is not None:
        parts.append(_describe_count(array.min_items, array.max_items, "item"))
    if array.unique:
        parts.append("no duplicates")
    return " and ".join(parts) or "any number of items"


def _list_values(values: Constants | None) -> str:
    if values is None:
        return "nothing"
    texts = [repr(each) if isinstance(each, str) else dumps(each) for each in (v.value for v in values.values[:6])]
    return f"one of {', '.join(texts)}{', …' if len(values.values) > 6 else ''}"


def diff_booleans(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
    """Compare which of true and false each side admits."""
    values = [a for a in old if isinstance(a, Constants)], [a for a in new if isinstance(a, Constants)]
    free = any(isinstance(a, ir.Boolean) for a in old), any(isinstance(a, ir.Boolean) for a in new)
    if free == (True, True):
        return
    constants = [{v.value for group in side for v in group.values} for side in values]
    admitted_values = [
        {True, False} if is_free else side_constants for is_free, side_constants in zip(free, constants, strict=True)
    ]
    before, after = admitted_values
    words = _set(before), _set(after)
    sides: tuple[tuple[Revision, object], ...] = (("old", before - after), ("new", after - before))
    limit_changes = [
        LimitChange("limit", *words, keyword="enum", admitted_by=by, **work.at()) for by, alone in sides if alone
    ]
    work.note(*join_changes(limit_changes))


def diff_scalars(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
    """Compare strings or numbers: their known constants, and the limits of the other types."""
    old_values, new_values = _merge_constants(old), _merge_constants(new)
    old_free, new_free = _list_free(old), _list_free(new)
    if old_values is not None and new_values is not None:
        diff_values(work, old_values, new_values)
    elif new_values is not None and old_free and new_free:
        work.note(Change("values", None, new_values, old_at=work.old_at, new_at=new_values.at))
    elif old_values is not None and new_free and old_free:
        work.note(Change("values", old_values, None, old_at=old_values.at, new_at=work.new_at))
    work.note(*diff_scalar_limits(work, old_values, old_free, new_values, new_free))


def diff_values(work: Comparison, old: Constants, new: Constants) -> None:
    """Compare two sets of known constants, and how others are treated."""
    at: ChangePlaces = {"old_at": old.at or work.old_at, "new_at": new.at or work.new_at}
    before = {make_key(v.value): v for v in old.values}
    after = {make_key(v.value): v for v in new.values}
    for one, other, likely in work.pair_members(before, after):
        if one is not None and other is not None and make_key(one.value) == make_key(other.value):
            work.note_gate(f"value {one.value!r}", "", one.capability, other.capability, one.at, other.at)
            work.note_description(f"{one.value!r}", one.doc, other.doc, one.at, other.at)
            continue
        if one is not None:
            name = str(other.value) if other is not None else None
            places: ChangePlaces = {"old_at": one.at or at["old_at"], "new_at": at["new_at"]}
            work.note(Change("value", one, None, (old, new), declared=name, likely=likely, **places))
        if other is not None:
            name = str(one.value) if one is not None else None
            places = {"old_at": at["old_at"], "new_at": other.at or at["new_at"]}
            work.note(Change("value", None, other, (old, new), declared=name, **places))
    if old.openness != new.openness:
        work.note(Change("unknown", old.openness, new.openness, (old, new), **at))


def _merge_constants(alternatives: Iterable[Alternative]) -> Constants | None:
    """All known constants of one JSON type as a single set; open if any of the alternatives admits others."""
    groups = [each for each in alternatives if isinstance(each, Constants)]
    if not groups:
        return None
    first = groups[0]
    if len(groups) == 1 and not _list_free(alternatives):
        return first
    free = _list_free(alternatives)
    openness: ir.Openness = "open" if free else first.openness
    values = {make_key(v.value): v for group in reversed(groups) for v in group.values}
    return Constants(tuple(values.values()), openness, free[0] if free else None, first.name, first.at)


def _list_free(alternatives: Iterable[Alternative]) -> tuple[ir.Number | ir.String, ...]:
    """The scalar types that admit more than known constants."""
    types: list[ir.Number | ir.String] = []
    for each in alternatives:
        if isinstance(each, ir.Number | ir.String):
            types.append(each)
        elif isinstance(each, Constants) and isinstance(each.base, ir.Number | ir.String):
            types.append(each.base)
    return tuple(dict.fromkeys(types))


def _set(values: Iterable[object]) -> str:
    return ", ".join(sorted(str(value).lower() for value in values)) or "nothing"
