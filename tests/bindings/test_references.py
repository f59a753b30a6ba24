"""Types that refer to one another, in chains, rings and unions: each is decoded, whatever leads to it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Any, Final

import pytest

from bindings.subjects import Subject, Subjects
from jsonrpc_bindings import UNSET


def reference(name: str) -> dict[str, str]:
    """A reference to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def record(following: str) -> dict[str, Any]:
    """A record with one field."""
    return {"type": "object", "properties": {"next": reference(following)}}


def chain(count: int) -> dict[str, Any]:
    """So many records, each of which refers to the next one."""
    return {f"R{index}": record(f"R{index + 1}") for index in range(count)} | {f"R{count}": {"type": "object"}}


def ring(count: int) -> dict[str, Any]:
    """So many records, each of which refers to the next one, and the last to the first."""
    return {f"R{index}": record(f"R{(index + 1) % count}") for index in range(count)}


LISTS: dict[str, Any] = {
    **{f"R{index}": {"type": "array", "items": reference(f"R{index + 1}")} for index in range(60)},
    "R60": {"type": "string"},
}


def nested(levels: int, innermost: Any, field: str = "next", **fields: Any) -> Any:
    """A value so deep inside others."""
    value = innermost
    for _ in range(levels):
        value = {**fields, field: value}
    return value


MORE: Final = 4
"""So many times the records are read in a second schema."""
MOST: Final = 2 * MORE
"""So many times the steps it may take: they grow as the records do, not as their square."""


def steps(subject: Subject, name: str, value: Any) -> int:
    """How many functions of Python are called to read a value and write it. The first time, most of them make the schema of its type."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read(subject, name, value)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(("made", "count"), [(chain, 400), (ring, 80)])
def test_a_record_is_read_and_written_however_long_the_chain_of_records_behind_it(
    subjects: Subjects, made: Callable[[int], dict[str, Any]], count: int
) -> None:
    name = made.__name__
    shorter, subject = subjects.small(f"{name}_shorter", made(count // MORE)), subjects.small(name, made(count))
    few, many = (steps(each, "R0", nested(3, {})) for each in (shorter, subject))
    assert many < MOST * few
    read(subject, "R0", nested(70, {}))
    read(subject, "R50", nested(20, {}))
    (problem,) = subject.problems("R0", nested(40, 5))
    assert (problem.pointer, problem.sentence) == ("/next" * 40, "an object is expected, not 5")
    assert subject.module.R30(next={"next": {}}).next.next.next is UNSET


def test_an_array_is_read_however_many_definitions_of_arrays_stand_behind_it(subjects: Subjects) -> None:
    subject = subjects.small("lists", LISTS)
    value: Any = "text"
    for _ in range(60):
        value = [value]
    read(subject, "R0", value)
    (problem,) = subject.problems("R0", [[[5]]])
    assert problem.pointer == "/0/0/0"


def read(subject: Subject, name: str, value: Any) -> None:
    """Decode a value, and write it as it came."""
    assert subject.encoded(subject.module.decode_as(subject.type(name), value)) == value


# --- unions of records that say nothing of what is no object ----------------------------------------------------------


def resources(count: int) -> dict[str, Any]:
    """Records without a type, each of which refers to others and to the union of all."""
    found: dict[str, Any] = {
        f"R{index}": {
            "properties": {
                "kind": {"const": f"r{index}"},
                "any": reference("Resource"),
                **{f"m{step}": reference(f"R{(index + step * step + 1) % count}") for step in range(8)},
                "list": {"type": "array", "items": reference(f"R{(index * 5 + 2) % count}")},
            },
            "required": ["kind"],
            "additionalProperties": False,
        }
        for index in range(count)
    }
    return {**found, "Resource": {"oneOf": [reference(name) for name in found]}}


@pytest.fixture(scope="module")
def large(subjects: Subjects) -> Subject:
    """Bindings of a union of many records."""
    return subjects.small("resources", resources(40))


def test_a_union_of_many_records_is_read_in_steps_that_grow_as_the_records_do(subjects: Subjects) -> None:
    value: Any = {"kind": "r0", "m0": {"kind": "r1", "list": []}}
    few, many = (
        steps(subjects.small(f"resources_{count}", resources(count)), "Resource", value) for count in (10, 10 * MORE)
    )
    assert many < MOST * few


def test_an_object_of_such_a_union_is_the_record_of_its_tag(large: Subject) -> None:
    found = large.module.decode_as(large.module.Resource, {"kind": "r7"})
    assert type(found) is large.module.R7Object


def test_such_a_union_refuses_what_is_no_object_and_each_record_alone_takes_it(large: Subject) -> None:
    assert large.problems("Resource", "text")
    assert large.problems("Resource", None)
    read(large, "R3", "text")


def test_a_value_deep_inside_such_unions_is_read_and_a_wrong_one_told_at_its_place(large: Subject) -> None:
    read(large, "Resource", nested(20, {"kind": "r1"}, "any", kind="r0"))
    wrong = nested(20, {"kind": "nobody"}, "any", kind="r0")
    (problem,) = large.problems("Resource", wrong)
    assert problem.pointer == "/any" * 20 + "/kind"
    (violation,) = import_module(f"{large.top}.api.methods").validate_as(large.module.Resource, wrong)
    assert violation.pointer == "/any" * 20 + "/kind"


def test_alternatives_of_one_record_are_told_by_its_tag_where_its_type_stands_beside_them(subjects: Subjects) -> None:
    definitions = resources(3)
    definitions["Resource"]["type"] = "object"
    subject = subjects.small("typed", definitions)
    (problem,) = subject.problems("Resource", {"kind": "r1", "m0": {"kind": "r1"}})
    assert problem.pointer == "/m0/kind"
    assert subject.problems("Resource", 5)


def test_what_two_of_three_records_accept_is_refused_however_they_refer_to_one_another(subjects: Subjects) -> None:
    keys = {
        f"K{index}": {
            "type": "object",
            "properties": {f"k{index}": {"type": "string"}, "other": reference("Keys")},
            "required": [f"k{index}"],
        }
        for index in range(3)
    }
    subject = subjects.small("keys", {**keys, "Keys": {"oneOf": [reference(name) for name in keys]}})
    read(subject, "Keys", {"k0": "a", "other": {"k2": "b"}})
    assert subject.problems("Keys", {"k0": "a", "k1": "b"})
    assert subject.problems("Keys", {"k0": "a", "other": {"k1": "b", "k2": "c"}})
