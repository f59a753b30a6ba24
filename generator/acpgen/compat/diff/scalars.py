"""Differences of booleans, strings and numbers at one place: known constants and limits, with a value that only one side admits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces, FormatChange, LimitChange, join_limits
from acpgen.compat.diff.pairs import Comparison
from acpgen.compat.diff.shapes import Alternative, Constants
from acpgen.compat.findings import Revision, Sides
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
    at = work.places
    backward = _diff_one_way(work, old_values, old_free, new_values, new_free, "old")
    forward = _diff_one_way(work, new_values, new_free, old_values, old_free, "new")
    yield from join_changes([*backward, *forward])
    if not old_free or not new_free:
        return
    strings = Sides(*(tuple(type_ for type_ in free if isinstance(type_, ir.String)) for free in (old_free, new_free)))
    old, new = (_join_words(type_.format for type_ in free) for free in (old_free, new_free))
    if old != new:
        yield FormatChange("format", old, new, strings, **at)
    old, new = (_join_words(string.encoding for string in side) for side in strings)
    if old != new:
        yield FormatChange("format", old, new, keyword="contentEncoding", **at)


def _join_words(names: Iterable[str | None]) -> str | None:
    """The values of one keyword in several types, in words; `None` if none has it."""
    texts = sorted({name or "" for name in names})
    return " or ".join(name or "unspecified" for name in texts) if any(texts) else None


def join_changes(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes of one declaration, with all its limits joined into one change."""
    all_changes = list(changes)
    limits = [change for change in all_changes if isinstance(change, LimitChange)]
    if limits:
        yield join_limits(limits)
    yield from (change for change in all_changes if not isinstance(change, LimitChange))


def diff_array_limits(old: ir.Array, new: ir.Array, at: ChangePlaces) -> Iterator[Change]:
    """Yield the changed limits on the number of items and on their uniqueness."""
    words = _describe_items(old), _describe_items(new)
    directions: tuple[tuple[Revision, ir.Array, ir.Array], ...] = (("old", old, new), ("new", new, old))
    for admitted_by, loose, tight in directions:

        def limit(keyword: str, demand: ir.JSON, by: Revision = admitted_by) -> LimitChange:
            return LimitChange("limit", *words, keyword=keyword, admitted_by=by, demand={keyword: demand}, **at)

        low, least, most = loose.min_items or 0, tight.min_items or 0, loose.max_items
        if low < least and (most is None or most >= low):
            yield limit("minItems", least)
        if tight.max_items is not None and (most is None or most > tight.max_items):
            yield limit("maxItems", tight.max_items)
        if tight.unique and not loose.unique and (most is None or most > 1):
            yield limit("uniqueItems", True)


def describe(free: Free, values: Constants | None = None) -> str:
    """Scalar types in words; without any, the known constants."""
    return " or ".join(map(_describe_scalar, free)) or _list_values(values)


def _diff_one_way(
    work: Comparison,
    sent_values: Constants | None,
    sent_free: Free,
    accepted_values: Constants | None,
    accepted_free: Free,
    sender: Revision,
) -> Iterator[Change]:
    """Yield the changes of one direction: what a sender's constants and free types admit and the receiver refuses."""
    at = work.places
    sent, accepted = describe(sent_free, sent_values), describe(accepted_free, accepted_values)
    old, new = (sent, accepted) if sender == "old" else (accepted, sent)
    free_schema: Schema = {"anyOf": [write_schema(type_) for type_ in accepted_free]}
    accepted_schema = free_schema if accepted_free else _write_constants(accepted_values)
    uncovered = [type_ for type_ in sent_free if type_ not in accepted_free]
    if len(uncovered) * len(accepted_free) > MOST_PAIRS:
        yield Change("undecided", detail="there are too many alternatives to compare each with each", **at)
        return
    questions: list[tuple[str, Written]] = []
    if sent_values is not None and accepted_values is None:
        questions.append(("enum", _write_constants(sent_values)))
    if accepted_free or sent_values is None:
        questions += [(_find_keyword(type_, accepted_free), write_schema(type_)) for type_ in uncovered]
    for keyword, sent_schema in questions:
        relation = work.comparer.include(sent_schema, accepted_schema)
        if relation.verdict.value == "no":
            yield LimitChange("limit", old, new, keyword=keyword, admitted_by=sender, **at)
        elif relation.verdict.value == "undecided":
            yield Change("undecided", detail=relation.reason.removeprefix(UNPROVEN).rstrip("."), **at)


def _write_constants(values: Constants | None) -> Schema:
    return {"enum": [] if values is None else [constant.value for constant in values.values]}


def _find_keyword(type_: ir.Number | ir.String, accepted_free: Free) -> str:
    """The first keyword that differs."""
    if not accepted_free:
        return "enum"
    of_numbers = {"integer": "type", "without_fraction": "type", **OF_NUMBERS}
    keywords = (OF_STRINGS if isinstance(type_, ir.String) else of_numbers).items()
    return next((word for name, word in keywords if getattr(type_, name) != getattr(accepted_free[0], name)), "type")


def _describe_scalar(type_: ir.Number | ir.String) -> str:
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
    texts = [repr(const) if isinstance(const, str) else dumps(const) for const in (v.value for v in values.values[:6])]
    return f"one of {', '.join(texts)}{', …' if len(values.values) > 6 else ''}"


def diff_booleans(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
    """Compare which of true and false each side admits."""
    before, after = _list_booleans(old), _list_booleans(new)
    words = _write_booleans(before), _write_booleans(after)
    directions: tuple[tuple[Revision, object], ...] = (("old", before - after), ("new", after - before))
    limits = (
        LimitChange("limit", *words, keyword="enum", admitted_by=side, **work.places)
        for side, rest in directions
        if rest
    )
    work.note(*join_changes(limits))


def _list_booleans(alternatives: Iterable[Alternative]) -> set[ir.JSON]:
    groups = [alternative.values if isinstance(alternative, Constants) else None for alternative in alternatives]
    return {True, False} if None in groups else {value.value for group in groups for value in group or ()}


def _write_booleans(values: Iterable[object]) -> str:
    return ", ".join(sorted(str(value).lower() for value in values)) or "nothing"


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
    within = Sides(old, new)
    for old_value, new_value, likely in work.pair_members(before, after):
        if old_value is not None and new_value is not None and make_key(old_value.value) == make_key(new_value.value):
            name, places = repr(old_value.value), ChangePlaces(old_at=old_value.at, new_at=new_value.at)
            work.note_gate(f"value {name}", "", old_value.capability, new_value.capability, **places)
            work.note_description(name, old_value.doc, new_value.doc, **places)
            continue
        if old_value is not None:
            renamed = None if new_value is None else str(new_value.value)
            places = ChangePlaces(old_at=old_value.at or at["old_at"], new_at=at["new_at"])
            work.note(Change("value", old_value, None, within, declared=renamed, likely=likely, **places))
        if new_value is not None:
            was = None if old_value is None else str(old_value.value)
            places = ChangePlaces(old_at=at["old_at"], new_at=new_value.at or at["new_at"])
            work.note(Change("value", None, new_value, within, declared=was, **places))
    if old.openness != new.openness:
        work.note(Change("unknown", old.openness, new.openness, within, **at))


def _merge_constants(alternatives: Iterable[Alternative]) -> Constants | None:
    """All known constants of one JSON type as a single set; open if any of the alternatives admits others."""
    groups, free = [group for group in alternatives if isinstance(group, Constants)], _list_free(alternatives)
    if not groups:
        return None
    first = groups[0]
    if len(groups) == 1 and not free:
        return first
    openness: ir.Openness = "open" if free else first.openness
    values = {make_key(v.value): v for group in reversed(groups) for v in group.values}
    return Constants(tuple(values.values()), openness, free[0] if free else None, first.name, first.at)


def _list_free(alternatives: Iterable[Alternative]) -> tuple[ir.Number | ir.String, ...]:
    """The scalar types that admit more than known constants."""
    types: list[ir.Number | ir.String] = []
    for alternative in alternatives:
        type_ = alternative.base if isinstance(alternative, Constants) else alternative
        types += [type_] if isinstance(type_, ir.Number | ir.String) else []
    return tuple(dict.fromkeys(types))
