"""Tagged unions: a known tag with a bad body is an error at the exact place, for every variant of every union."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pytest

from acpgen import ir
from acpgen.walk import is_object
from bindings.instances import smallest, smallest_of, wrong_for
from bindings.meaning import Meaning, pointer
from bindings.subjects import SOURCES, Subject, Subjects, same


def unions_of(subject: Subject) -> list[ir.TaggedUnion]:
    """The tagged unions of a subject."""
    return [one for one in subject.protocol.definitions.values() if isinstance(one, ir.TaggedUnion)]


def records_of(meaning: Meaning, name: str, tags: tuple[str, ...]) -> list[tuple[ir.Record, tuple[str, ...]]]:
    """The records that a definition may be, each with the tags that it is told by: branches may be unions themselves."""
    definition = meaning.definitions[name]
    match definition:
        case ir.Record():
            return [(definition, tags)]
        case ir.TaggedUnion():
            branches = [*(variant.type for variant in definition.variants), definition.default, definition.fallback]
            inner = (*tags, definition.tag)
            return [found for branch in branches if branch is not None for found in records_of(meaning, branch, inner)]
        case ir.Alias(type=ir.AnyOf(types=types)):
            return [found for one in types if isinstance(one, ir.Ref) for found in records_of(meaning, one.name, tags)]
        case _:
            return []


def whole(meaning: Meaning, record: ir.Record) -> dict[str, Any]:
    """A value of a record with every field, those that cannot be drawn left out."""
    value = smallest(meaning, record.name)
    for field in record.fields:
        value.setdefault(field.name, smallest_of(meaning, field.type))
    found: dict[str, Any] = value
    return found


@pytest.mark.parametrize("source", SOURCES)
def test_a_bad_body_under_a_known_tag_is_an_error_at_its_exact_place(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    meaning, broken = subject.meaning, Counter[str]()
    for union in unions_of(subject):
        for variant in union.variants:
            for record, tags in records_of(meaning, variant.type, (union.tag,)):
                value = whole(meaning, record)
                assert meaning.accepts(union.name, value), (union.name, variant.tag, value)
                for field in record.fields:
                    if field.name in tags:
                        continue
                    for bad in wrong_for(meaning, field.type):
                        broken[union.name] += refused_at(subject, union, {**value, field.name: bad}, field.name)
    assert set(+broken) == {union.name for union in unions_of(subject)} - WITHOUT_BODIES.get(source, set())


WITHOUT_BODIES: Final[dict[str, set[str]]] = {}


def refused_at(subject: Subject, union: ir.TaggedUnion, value: Any, field: str) -> bool:
    """See that a value is refused at a field of it; false where a foreign default branch takes it."""
    if subject.meaning.accepts(union.name, value):
        assert union.default_admits_known, (union.name, value)
        found = subject.module.decode_as(subject.type(union.name), value, lenient=False)
        assert isinstance(found, subject.type(union.default or ""))
        assert same(subject.encoded(found), value)
        return False
    problems = subject.problems(union.name, value)
    for problem in problems:
        assert stands(subject.bundle.schema, problem.schema), (union.name, field, problem.schema)
    pointers = {problem.pointer for problem in problems}
    here = pointer((field,))
    assert here in pointers or any(one.startswith(f"{here}/") for one in pointers), (union.name, field, value, pointers)
    assert all(one == here or one.startswith(f"{here}/") for one in pointers), (union.name, field, value, pointers)
    return True


def stands(schema: Any, place: str) -> bool:
    """Whether there is something at a pointer into a schema."""
    for step in place.removeprefix("#/").split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not is_object(schema) or key not in schema:
            return False
        schema = schema[key]
    return True


@pytest.mark.parametrize("source", SOURCES)
def test_a_required_field_that_is_missing_is_named_and_nothing_else_is(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    meaning = subject.meaning
    for union in unions_of(subject):
        for variant in union.variants:
            for record, tags in records_of(meaning, variant.type, (union.tag,)):
                value = smallest(meaning, record.name)
                for field in record.fields:
                    left = {key: item for key, item in value.items() if key != field.name}
                    if not field.required or field.name in tags or meaning.accepts(union.name, left):
                        continue
                    problems = subject.problems(union.name, left)
                    assert [problem.pointer for problem in problems] == [""], (union.name, field.name, problems)
                    shapes = len(records_of(meaning, variant.type, ())) > 1  # of several, the nearest is told
                    assert field.name in problems[0].sentence or (shapes and "is required" in problems[0].sentence)
