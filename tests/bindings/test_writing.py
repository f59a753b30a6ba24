"""The native way to write records gives what plain JSON gives: the same values, and a refusal of the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import inf, nan
from random import Random
from typing import Any, Final

import pytest
from acp_bindings import UNSET, DecodeError, EncodeError, v1, v2
from acp_bindings.unstable import v1 as unstable_v1
from acp_bindings.unstable import v2 as unstable_v2

from acpgen.input.walk import is_array, is_object
from bindings.subjects import Subjects
from conformance.vectors import rows_of_methods
from jsonrpc_bindings import Record
from jsonrpc_bindings.fields import get_shape, get_value, put
from jsonrpc_bindings.writers import to_plain

MODULES: Final = {"v1": v1, "v2": v2, "unstable/v1": unstable_v1, "unstable/v2": unstable_v2}

OTHERS: Final[tuple[Any, ...]] = (
    *("tide", "text", "é", "\ud800", "NaN", 1, 0, True, False, 1 << 70, -(1 << 63), 1.5, nan, inf, None, UNSET, b"x"),
    *([], ["tide"], [None], {}, {"a": 1}, {1: 2}, {"a": {"b": [nan]}}, ("a",), {"a"}, object()),
    v1.TextContent(text="tide"),
    v2.TextContent(text="tide"),
    [v1.TextContent(text="tide")],
    {"a": v1.TextContent(text="tide")},
    v1.AgentMessageChunk(content=v1.TextContent(text="tide")),
)


@pytest.fixture(params=MODULES)
def module(request: pytest.FixtureRequest) -> Any:
    """One protocol version."""
    return request.param


def payloads(name: str) -> Iterator[Any]:
    """The records that the messages of the vectors hold."""
    for row in rows_of_methods(f"acp/{name}"):
        try:
            message = MODULES[name].decode(row["message"], sender=row["sender"], method=row.get("method"))
        except (KeyError, ValueError):
            continue
        messages: list[Any] = message if is_array(message) else [message]
        for one in messages:
            parts = (getattr(one, part, None) for part in ("params", "result", "error"))
            yield from (part for part in parts if isinstance(part, Record))


def records(value: Any) -> Iterator[Any]:
    """The records within a value, itself included."""
    if isinstance(value, Record):
        yield value
        for field in get_shape(type(value)).fields.values():
            yield from records(get_value(value, field))
    elif is_object(value) or is_array(value):
        for item in value.values() if is_object(value) else value:
            yield from records(item)


def test_vectors(module: str) -> None:
    count = 0
    for payload in payloads(module):
        for record in records(payload):
            count += 1
            assert json.loads(MODULES[module].encode(record)) == to_plain(record)
    assert count > 50


def test_values_that_do_not_belong(module: str) -> None:
    """Set behind the back of the record, which would refuse most of them: what is written, a receiver reads."""
    chance, refused, written = Random(7), 0, 0
    api: Any = MODULES[module]
    for payload in payloads(module):
        for _ in range(3):
            record = chance.choice(list(records(payload)))
            fields = get_shape(type(record)).fields
            if not fields:
                continue
            field = chance.choice(list(fields.values()))
            before = get_value(record, field)
            put(record, field.name, chance.choice(OTHERS))
            try:
                text = api.encode(payload)
            except EncodeError:
                refused += 1
            else:
                written += 1
                found = api.decode_as(type(payload), json.loads(text), lenient=False)
                assert json.loads(api.encode(found)) == json.loads(text), (record, field.name)
            put(record, field.name, before)
    assert refused > 50
    assert written > 20


def test_an_assignment_refuses_what_does_not_belong() -> None:
    block = v1.TextContent(text="tide")
    others: list[Any] = [1, None, [], {"a": 1}, b"x", object()]
    for other in others:
        with pytest.raises(DecodeError):
            block.text = other
    assert json.loads(v1.encode(block)) == {"type": "text", "text": "tide"}


def test_a_record_with_fields_of_a_named_type_is_written_inside_a_union(subjects: Subjects) -> None:
    thing = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    several = {"anyOf": [{"type": "object", "additionalProperties": {"$ref": "#/$defs/Thing"}}, {"type": "string"}]}
    subject = subjects.small(
        "extras_in_a_union", {"Thing": thing, "Box": {"type": "object", "properties": {"things": several}}}
    )
    value = {"things": {"one": {"name": "a", "size": 1}, "two": {}}}
    decoded = subject.module.decode_as(subject.type("Box"), value)
    assert subject.encoded(decoded) == value
    assert decoded.things["one"].unknown_fields == {"size": 1}
    decoded.things["one"].unknown_fields["size"] = "large"
    with pytest.raises(EncodeError, match="/things/one/size: an integer is expected"):
        subject.module.encode(decoded)
