"""What `schema/pages/reading.md` says of the ways to read, held against every class of a protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import Any, Final

import pytest
from pydantic import TypeAdapter, ValidationError, create_model

from acpgen import ir
from acpgen.input.walk import is_array, is_object
from bindings.instances import Chooser, Instances
from bindings.subjects import Subject, Subjects

TIMES: Final = 5
"""Values of each class."""

_EXACT: Final = 2**53
"""Above this, a float and the integer that is written so are two numbers in Python."""

Case = tuple[str, Any, Any]
"""A definition, its class, and a value."""


@pytest.fixture(scope="module", params=["own_v1", "own_v2"])
def subject(request: pytest.FixtureRequest, subjects: Subjects) -> Subject:
    return subjects(request.param)


def cases(subject: Subject) -> Iterator[Case]:
    """Values for every class: some of what it takes, some with a mistake."""
    instances = Instances(subject.meaning)
    for definition in subject.protocol.definitions.values():
        type_ = subject.type(definition.name)
        if not isinstance(definition, ir.Record) or not isinstance(type_, type):
            continue
        for index in range(TIMES):
            choose = Chooser(f"{subject.name} {definition.name} {index}")
            make = instances.valid if index % 2 else instances.damaged
            value = make(choose, definition.name)
            if not any(isinstance(one, float) and abs(one) > _EXACT for one in leaves(value)):
                yield definition.name, type_, value


def read(call: Callable[[], Any]) -> Any:
    """What a call reads; `None` where it refuses."""
    try:
        return call()
    except ValueError as error:
        if isinstance(error, ValidationError) or type(error).__name__ == "DecodeError":
            return None
        raise


def plain(value: Any) -> Any:
    """A value with whole numbers as integers."""
    if is_object(value):
        return {key: plain(item) for key, item in value.items()}
    if is_array(value):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def leaves(value: Any) -> Iterator[Any]:
    """What is neither an object nor an array."""
    items: Any = value.values() if is_object(value) else value if is_array(value) else None
    if items is None:
        yield value
        return
    for item in items:
        yield from leaves(item)


def test_decode_as_and_an_adapter_of_pydantic_take_the_same_and_hold_the_same(subject: Subject) -> None:
    module, taken, refused = subject.module, 0, 0
    for name, class_, value in cases(subject):
        adapter: TypeAdapter[Any] = TypeAdapter(class_)
        decoded = read(lambda: module.decode_as(class_, value, lenient=False))  # noqa: B023 - called at once
        checked = read(lambda: adapter.validate_python(value))  # noqa: B023
        text = read(lambda: adapter.validate_json(json.dumps(value)))  # noqa: B023
        assert decoded == checked == text, (name, value)
        if decoded is None:
            refused += 1
            continue
        taken += 1
        assert subject.encoded(decoded) == subject.encoded(checked) == subject.encoded(text), (name, value)
        assert adapter.dump_python(checked) == subject.encoded(decoded), (name, value)
        lenient = module.decode_as(class_, value)
        assert subject.encoded(lenient) == subject.encoded(decoded), (name, value)
    assert taken > 300
    assert refused > 50


def test_what_the_schema_accepts_each_of_them_reads_and_writes_back(subject: Subject) -> None:
    fine = 0
    for name, class_, value in cases(subject):
        if name not in subject.bundle.definitions:  # receivers alone know it
            with pytest.raises(KeyError):
                subject.module.validate_as(class_, value)
            continue
        problems = subject.module.validate_as(class_, value)
        assert problems == subject.module.validate_as(name, value)
        if problems:
            continue
        fine += 1
        decoded = subject.module.decode_as(class_, value, lenient=False)
        assert decoded == subject.module.decode_as(name, value, lenient=False)
        assert plain(subject.encoded(decoded)) == plain(value), name
    assert fine > 300


def test_names_of_python_set_no_field(subject: Subject) -> None:
    """A member that is called like an attribute is one that the schema does not know."""
    seen = 0
    for name, class_, value in cases(subject):
        wires = subject.names.fields[name]
        attributes = {wire: python for wire, python in wires.items() if wire != python and python not in wires}
        decoded = read(lambda: subject.module.decode_as(class_, value, lenient=False))  # noqa: B023
        if (
            decoded is None
            or attributes.keys().isdisjoint(value)
            or not attributes.keys().isdisjoint(attributes.values())
        ):
            continue
        seen += 1
        python = {attributes.get(key, key): item for key, item in value.items()}
        for one in (
            read(lambda: subject.module.decode_as(class_, python, lenient=False)),  # noqa: B023
            read(lambda: TypeAdapter(class_).validate_python(python)),  # noqa: B023
            read(lambda: TypeAdapter(list[class_]).validate_json(json.dumps([python]))[0]),  # type: ignore[valid-type]  # noqa: B023
        ):
            if one is not None:  # nothing that is required was left out
                assert plain(subject.encoded(one)) == plain(python), (name, python)
                assert one.unknown_fields.keys() >= {attributes[key] for key in value.keys() & attributes.keys()}
    assert seen > 100


def test_an_adapter_a_field_and_a_route_read_by_the_names_of_the_schema_alone(subject: Subject) -> None:
    error: Any = subject.module.Error
    fields: dict[str, Any] = {"error": (error, ...), "many": (GenericAlias(list, subject.module.Implementation), ...)}
    model: Any = create_model("Body", **fields)
    implementation = {"name": "n", "version": "1", "_meta": {"a": 1}, "meta": {"b": 2}}
    given = {
        "error": {"code": 1, "message": "m"},
        "many": [implementation, {"name": "n", "version": "1", "meta": None}],
    }
    for body in (model.model_validate(given), model.model_validate_json(json.dumps(given))):
        one, other = body.many
        assert one.meta == {"a": 1} and one.unknown_fields == {"meta": {"b": 2}}
        assert other.unknown_fields == {"meta": None}
        assert [subject.encoded(one), subject.encoded(other)] == given["many"]


def test_what_each_forgives(subject: Subject) -> None:
    """The rows of the page."""
    module = subject.module
    broken = {"name": "n", "version": 5, "title": "t"}
    with pytest.raises(subject.runtime.DecodeError):
        module.decode_as(module.Implementation, broken)
    with pytest.raises(ValidationError):
        TypeAdapter(module.Implementation).validate_python(broken)
    assert module.validate_as("Implementation", broken)

    fraction = {"code": -32603.0, "message": "m"}  # an integer, as JSON Schema has it
    assert module.decode_as(module.Error, fraction).code == -32603
    assert module.validate_as(module.Error, fraction) == ()
    assert TypeAdapter(module.Error).validate_python(fraction).code == -32603

    known = {"type": "text", "text": "a", "annotations": {"audience": 5}}
    assert subject.encoded(module.decode_as("ContentBlock", known)) == {"type": "text", "text": "a", "annotations": {}}
    with pytest.raises(subject.runtime.DecodeError):
        module.decode_as("ContentBlock", known, lenient=False)
    with pytest.raises(ValidationError):
        TypeAdapter(module.TextContent).validate_python(known)
