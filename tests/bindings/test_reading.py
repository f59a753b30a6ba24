"""What `schema/pages/reading.md` says of the ways to read, held against every class of a protocol."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import Any, Final

import pytest
from pydantic import TypeAdapter, ValidationError, create_model

from acpgen import ir
from acpgen.schema.walk import is_array, is_object
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


def keys(value: Any) -> Iterator[str]:
    """The names of all members, however deep."""
    for item in value.values() if is_object(value) else value if is_array(value) else ():
        yield from keys(item)
    if is_object(value):
        yield from value


def test_decode_as_and_model_validate_take_the_same_and_hold_the_same(subject: Subject) -> None:
    module, taken, refused = subject.module, 0, 0
    for name, class_, value in cases(subject):
        whole = plain(value)
        decoded = read(lambda: module.decode_as(class_, whole, lenient=False))  # noqa: B023 - called at once
        checked = read(lambda: class_.model_validate(whole))  # noqa: B023
        text = read(lambda: class_.model_validate_json(json.dumps(whole)))  # noqa: B023
        assert decoded == checked == text, (name, whole)
        if decoded is None:
            refused += 1
            continue
        taken += 1
        assert subject.encoded(decoded) == subject.encoded(checked) == subject.encoded(text), (name, whole)
        assert decoded == read(lambda: module.decode_as(class_, value, lenient=False)), (name, value)  # noqa: B023
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
        assert decoded == subject.module.decode_as(name, value, lenient=False) == class_.model_validate(plain(value))
        assert plain(subject.encoded(decoded)) == plain(value), name
    assert fine > 300


def test_names_of_python_are_read_where_they_are_asked_for_alone(subject: Subject) -> None:
    """By name: fields of the schema. Otherwise a member that is called like an attribute is one that the schema does not know."""
    model: Any = importlib.import_module(f"{subject.runtime.__name__}.model")
    seen = 0
    python_names = {name for names in subject.names.fields.values() for wire, name in names.items() if wire != name}
    for name, class_, value in cases(subject):
        if not python_names.isdisjoint(keys(value)):
            continue
        attributes = {wire: python for python, wire in model.wire_names(class_).items() if wire != python}
        decoded = read(lambda: subject.module.decode_as(class_, value, lenient=False))  # noqa: B023
        if decoded is None or attributes.keys().isdisjoint(value):
            continue
        seen += 1
        python = {attributes.get(key, key): item for key, item in plain(value).items()}
        assert class_.model_validate(python, by_name=True) == decoded, (name, value)
        for one in (
            read(lambda: subject.module.decode_as(class_, python, lenient=False)),  # noqa: B023
            read(lambda: class_.model_validate(python)),  # noqa: B023
            read(lambda: TypeAdapter(class_).validate_python(python)),  # noqa: B023
            read(lambda: TypeAdapter(list[class_]).validate_json(json.dumps([python]))[0]),  # type: ignore[valid-type]  # noqa: B023
        ):
            if one is not None:  # nothing that is required was left out
                assert plain(subject.encoded(one)) == python, (name, python)
                assert (one.model_extra or {}).keys() >= {attributes[key] for key in value.keys() & attributes.keys()}
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
        assert one.meta == {"a": 1} and one.model_extra == {"meta": {"b": 2}}
        assert {type(name) for name in one.model_extra} == {str}
        assert "meta" not in other.model_fields_set and other.model_extra == {"meta": None}
        assert [subject.encoded(one), subject.encoded(other)] == given["many"]


def test_what_each_forgives(subject: Subject) -> None:
    """The rows of the page."""
    module = subject.module
    broken = {"name": "n", "version": 5, "title": "t"}
    with pytest.raises(subject.runtime.DecodeError):
        module.decode_as(module.Implementation, broken)
    with pytest.raises(ValidationError):
        module.Implementation.model_validate(broken)
    assert module.validate_as("Implementation", broken)

    fraction = {"code": -32603.0, "message": "m"}  # an integer, as JSON Schema has it
    assert module.decode_as(module.Error, fraction).code == -32603
    assert module.validate_as(module.Error, fraction) == ()
    with pytest.raises(ValidationError):
        module.Error.model_validate(fraction)

    known = {"type": "text", "text": "a", "annotations": {"audience": 5}}
    assert subject.encoded(module.decode_as("ContentBlock", known)) == {"type": "text", "text": "a", "annotations": {}}
    with pytest.raises(subject.runtime.DecodeError):
        module.decode_as("ContentBlock", known, lenient=False)
    with pytest.raises(ValidationError):
        module.TextContent.model_validate(known)
