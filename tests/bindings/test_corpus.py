"""The corpus: real messages come back as they were, with whatever the future or a stranger puts into them."""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pytest

from acpgen import ir
from acpgen.pointers import write_plain_pointer
from bindings.corpus import Row, decoded, is_part, rows, tagged, typed_part
from bindings.meaning import Path, Place, Step, at, changed, held
from bindings.subjects import Subject, Subjects, same

UPSTREAM: Final = {"acp_v1": 1, "acp_v2": 2, "acp_v1_keep": 1}
OURS: Final = {"own_v1": 1, "own_v2": 2}
BINDINGS: Final = {**UPSTREAM, **OURS}

STRANGE: Final = {"a": [1, None, {"b": "é"}], "_meta": 1}
TAGS: Final = ("_vendor.thing", "thing_of_the_future")


def valid_rows(subject: Subject) -> list[Row]:
    """The rows that a subject must read: those valid upstream, and for our own schemas those that these admit."""
    found = [tagged(subject, row) for row in rows(BINDINGS[subject.name]) if row.valid]
    found = [row for row in found if not is_part(subject, row)]
    if subject.name in OURS:
        found = [row for row in found if admitted(subject, row)]
    return found


def admitted(subject: Subject, row: Row) -> bool:
    """Whether our own schema means to accept a row."""
    if not row.is_message and row.type not in subject.protocol.definitions:
        return False
    part = typed_part(subject, row)
    return part is None or subject.meaning.accepts(part[1], at(row.message, part[0]))


def places(subject: Subject, row: Row) -> Iterator[Place]:
    """Every definition that stands in a row's message."""
    part = typed_part(subject, row)
    if part is not None:
        path, name = part
        yield from subject.meaning.places(name, at(row.message, path), path)


def held_in(subject: Subject, row: Row, found: Any, path: Path) -> Any:
    """What stands at a path of a decoded row."""
    return held(getattr(found, str(path[0])), path[1:]) if row.is_message else held(found, path)


def comes_back(subject: Subject, row: Row, message: Any) -> Any:
    """Decode a row's message and see that encoding gives it back; the decoded value."""
    before = copy.deepcopy(message)
    found = decoded(subject, row, message, lenient=False)
    assert same(subject.encoded(found), message), (row.source, message, found)
    assert same(message, before), "decoding changed what it was given"
    return found


# --- what is lost: nothing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BINDINGS)
def test_every_valid_row_comes_back_as_it_was(subjects: Subjects, name: str) -> None:
    subject = subjects(name)
    found = valid_rows(subject)
    for row in found:
        comes_back(subject, row, row.message)
    assert len(found) >= (190 if BINDINGS[name] == 1 else 110)


def test_our_own_schemas_differ_from_upstream_in_the_listed_rows_only(subjects: Subjects) -> None:
    refused = {
        name: [
            row.message
            for row in (tagged(subjects(name), one) for one in rows(version) if one.valid)
            if not is_part(subjects(name), row) and not admitted(subjects(name), row)
        ]
        for name, version in OURS.items()
    }
    relative = {"own_v1": 2, "own_v2": 1}
    for name, messages in refused.items():
        assert len(messages) == relative[name], messages


@pytest.mark.parametrize("name", BINDINGS)
def test_an_unknown_tag_is_kept_wherever_a_union_is_open_or_tolerated(subjects: Subjects, name: str) -> None:
    subject = subjects(name)
    kept: Counter[str] = Counter()
    for row in valid_rows(subject):
        for place in places(subject, row):
            union = place.meaning
            if not isinstance(union, ir.TaggedUnion) or union.openness == "closed" or union.tag not in place.value:
                continue
            for tag in TAGS:
                there = {**place.value, union.tag: tag}
                found = comes_back(subject, row, changed(row.message, place.path, there))
                unknown = held_in(subject, row, found, place.path)
                assert isinstance(unknown, subject.runtime.Unknown), (row.source, place.path)
                names = union.fallback_shapes or (union.fallback,)
                assert type(unknown) in [subject.type(one) for one in names if one is not None]
                assert unknown.tag == tag
                assert same(unknown.payload, there)
                assert unknown.is_extension is tag.startswith("_")
                assert unknown.is_reserved is not unknown.is_extension
                kept[union.name] += 1
    assert len(kept) >= (4 if name == "acp_v1" else 5), kept


@pytest.mark.parametrize("name", BINDINGS)
def test_an_unknown_field_is_kept_in_every_record(subjects: Subjects, name: str) -> None:
    subject = subjects(name)
    planted = 0
    for row in valid_rows(subject):
        message = row.message
        for place in places(subject, row):
            if isinstance(place.meaning, ir.Record) and isinstance(place.meaning.extra, ir.Anything):
                message = changed(message, place.path, {**at(message, place.path), "x-unknown field": STRANGE})
                planted += 1
        if row.is_message:
            message = {**message, "x-trace": STRANGE}
        comes_back(subject, row, message)
    assert planted > 200


@pytest.mark.parametrize("name", BINDINGS)
def test_an_unknown_field_that_is_called_like_a_python_name_is_kept_and_counts_for_no_other(
    subjects: Subjects, name: str
) -> None:
    subject = subjects(name)
    planted = set[str]()
    for row in valid_rows(subject):
        message = row.message
        for place in places(subject, row):
            if isinstance(place.meaning, ir.Record) and isinstance(place.meaning.extra, ir.Anything):
                declared = {field.name for field in place.meaning.fields}
                namesakes = set[str](subject.type(place.meaning.name).__shape__.fields) - declared
                there = {**at(message, place.path), **dict.fromkeys(namesakes, STRANGE)}
                message = changed(message, place.path, there)
                planted |= namesakes
        comes_back(subject, row, message)
    assert len(planted) > 30


@pytest.mark.parametrize("name", BINDINGS)
def test_an_unknown_value_is_kept_in_every_open_enumeration(subjects: Subjects, name: str) -> None:
    subject = subjects(name)
    kept: Counter[str] = Counter()
    for row in valid_rows(subject):
        for place in places(subject, row):
            if isinstance(place.meaning, ir.Enum) and place.meaning.openness != "closed":
                new = 987654 if isinstance(place.value, int) else "value_of_the_future"
                found = comes_back(subject, row, changed(row.message, place.path, new))
                value = held_in(subject, row, found, place.path)
                assert type(value) is type(new)
                assert value == new
                kept[place.meaning.name] += 1
    assert kept if name != "acp_v1" else set(kept) >= {"SessionConfigOptionCategory"}


# --- what is refused, and where --------------------------------------------------------------------------------------


def closed_places(subject: Subject) -> Iterator[tuple[Row, Place, Path, Any]]:
    """Rows with an unknown constant at one closed place: the row, the place, where the constant stands, the message.

    Left out is what another branch of a union takes all the same.
    """
    for row in valid_rows(subject):
        for place in places(subject, row):
            match place.meaning:
                case ir.Enum(openness="closed"):
                    path = place.path
                case ir.TaggedUnion(openness="closed", tag=tag) if tag in place.value:
                    path = (*place.path, tag)
                case _:
                    continue
            message = changed(row.message, path, "constant_of_the_future")
            if not admitted(subject, dataclasses.replace(row, message=message)):
                yield row, place, path, message


CLOSED: Final = {
    "acp_v1": {"StopReason", "PermissionOptionKind", "RequestPermissionOutcome"},
    "own_v1": {"StopReason", "McpServer"},
}
"""Some of what must be refused in the rows of a corpus."""


def places_of(error: Any) -> set[str]:
    """The pointers that an error names."""
    return {problem.pointer for problem in error.problems}


def told_at(error: Any, place: Place, path: Path) -> bool:
    """Whether an error names the unknown constant and nothing else, save what a default branch asks for in its place."""
    others = places_of(error) - {write_plain_pointer(*path)}
    below = getattr(place.meaning, "default", None) is not None and all(
        one.startswith(write_plain_pointer(*place.path)) for one in others
    )
    return write_plain_pointer(*path) in places_of(error) and (not others or below)


def forgiving(steps: tuple[Step, ...], path: Path) -> Path | None:
    """What leniency drops when `path` is bad: the nearest field that forgives, or the bad item of its array."""
    for step in reversed(steps):
        if step.field.leniency.skip_invalid_items and len(path) > len(step.path):
            return path[: len(step.path) + 1]
        if step.field.leniency.default_on_error:
            return step.path
    return None


@pytest.mark.parametrize("name", ["acp_v1", "acp_v2", "own_v1", "own_v2"])
def test_an_unknown_constant_at_a_closed_place_is_refused_there(subjects: Subjects, name: str) -> None:
    subject = subjects(name)
    refused: Counter[str] = Counter()
    for row, place, path, message in closed_places(subject):
        with pytest.raises(subject.runtime.DecodeError) as caught:
            decoded(subject, row, message, lenient=False)
        assert told_at(caught.value, place, path), (row.source, place)
        assert caught.value.code == (-32600 if path[:1] == ("error",) else -32602)
        refused[place.meaning.name] += 1
    assert refused["ElicitationSchemaType"] >= 2
    assert set(refused) >= CLOSED.get(name, set()), refused


@pytest.mark.parametrize("name", ["acp_v1", "acp_v2", "own_v1", "own_v2"])
def test_an_unknown_constant_at_a_closed_place_is_dropped_and_told_where_the_schema_forgives(
    subjects: Subjects, name: str
) -> None:
    subject = subjects(name)
    verdicts: Counter[bool] = Counter()
    for row, place, path, message in closed_places(subject):
        if place.by_shape:
            continue
        told: list[Any] = []
        expected = forgiving(place.steps, path)
        if expected is None:
            with pytest.raises(subject.runtime.DecodeError) as caught:
                decoded(subject, row, message, on_drop=told.append)
            assert told_at(caught.value, place, path), (row.source, place)
            assert not told
        else:
            found = decoded(subject, row, message, on_drop=told.append)
            assert [drop.pointer for drop in told] == [write_plain_pointer(*expected)], (row.source, place)
            assert same(told[0].value, at(message, expected))
            assert told[0].problem.pointer == write_plain_pointer(*path)
            again = decoded(subject, row, subject.encoded(found), lenient=False)
            assert again == found
        verdicts[expected is None] += 1
    assert verdicts[True] > 0
    assert verdicts[False] > 0 or name.startswith("own") or name == "acp_v2", verdicts


# --- what upstream's own decoder does --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["acp_v1", "acp_v2"])
def test_where_upstream_forgives_so_does_decode_or_the_row_is_listed(subjects: Subjects, name: str) -> None:
    subject = subjects(name)
    stricter: list[tuple[str | None, Any]] = []
    for row in rows(BINDINGS[name]):
        if row.rust != "ok" or row.valid or row.type is None or row.type not in subject.protocol.definitions:
            continue
        told: list[Any] = []
        try:
            found = decoded(subject, row, row.message, on_drop=told.append)
        except subject.runtime.DecodeError:
            stricter.append((row.type, row.message))
            continue
        assert told, row
        assert subject.meaning.accepts(row.type, subject.encoded(found))
    assert stricter == STRICTER_THAN_UPSTREAM[name]


STRICTER_THAN_UPSTREAM: Final[dict[str, list[tuple[str, Any]]]] = {
    "acp_v1": [],
    # Upstream's decoder forgives a bad type here; its schema says nothing of it.
    "acp_v2": [("ElicitationSchema", {"type": "array", "properties": {"name": {"type": "string"}}})],
}
