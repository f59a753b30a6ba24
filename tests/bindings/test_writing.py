"""The quick way of encoding gives what the general way gives: the same text, and the same refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import inf, nan
from random import Random
from typing import Any, Final

import pytest
from acp_bindings import MISSING, EncodeError, v1, v2
from acp_bindings.unstable import v1 as unstable_v1
from acp_bindings.unstable import v2 as unstable_v2
from jsonrpc_bindings.writing import quickly
from pydantic import BaseModel, field_serializer

from acpgen.schema.walk import is_array, is_object
from bindings.subjects import Subjects
from conformance.vectors import rows_of_methods
from jsonrpc_bindings import codec

MODULES: Final = {"v1": v1, "v2": v2, "unstable/v1": unstable_v1, "unstable/v2": unstable_v2}


class Words(str):
    """Text of a class of its own."""

    __slots__ = ()


DEEP: Final[list[Any]] = []
for _ in range(300):
    DEEP[:] = [list(DEEP)]

OTHERS: Final[tuple[Any, ...]] = (
    *(
        "tide",
        "text",
        "é",
        "\ud800",
        "NaN",
        Words("tide"),
        1,
        0,
        True,
        False,
        1 << 70,
        -(1 << 63),
        1.5,
        nan,
        inf,
        None,
        MISSING,
        b"x",
    ),
    *([], ["tide"], [None], {}, {"a": 1}, {1: 2}, {"a": {"b": [nan]}}, ("a",), {"a"}, DEEP, object()),
    v1.TextContent(text="tide"),
    v2.TextContent(text="tide"),
    [v1.TextContent(text="tide")],
    {"a": v1.TextContent(text="tide")},
    v1.AgentMessageChunk(content=v1.TextContent(text="tide")),
)


@pytest.fixture(params=MODULES)
def payloads(request: pytest.FixtureRequest) -> list[BaseModel]:
    """The records that the messages of the vectors hold."""
    module = MODULES[request.param]
    found: list[BaseModel] = []
    for row in rows_of_methods(f"acp/{request.param}"):
        try:
            message = module.decode(row["message"], sender=row["sender"], method=row.get("method"))
        except (KeyError, ValueError):
            continue
        parts = (getattr(one, name, None) for one in _list(message) for name in ("params", "result", "error"))
        found += [part for part in parts if isinstance(part, BaseModel)]
    return found


def _list(value: Any) -> list[Any]:
    return value if is_array(value) else [value]


def _general(_record: object) -> None:
    """Nothing is sure the quick way."""


def outcome(record: BaseModel, monkeypatch: pytest.MonkeyPatch, *, is_quick: bool) -> bytes | str:
    """The text of a record, or why it is refused."""
    with monkeypatch.context() as patch:
        if not is_quick:
            patch.setattr(codec, "quickly", _general)
        try:
            return codec.to_json(record)
        except EncodeError as error:
            return str(error)


def records(value: Any) -> Iterator[BaseModel]:
    """The records within a value, itself included."""
    if isinstance(value, BaseModel):
        yield value
        for held in vars(value).values():
            yield from records(held)
    elif is_object(value) or is_array(value):
        for held in value.values() if is_object(value) else value:
            yield from records(held)


def test_vectors(payloads: list[BaseModel], monkeypatch: pytest.MonkeyPatch) -> None:
    quick = 0
    for payload in payloads:
        for record in records(payload):
            wanted = outcome(record, monkeypatch, is_quick=False)
            assert outcome(record, monkeypatch, is_quick=True) == wanted
            quick += quickly(record) is not None
    assert quick > len(payloads) / 2, "most are written the quick way"


def test_values_that_do_not_belong(payloads: list[BaseModel], monkeypatch: pytest.MonkeyPatch) -> None:
    """Set behind the back of the record, which would refuse most of them."""
    chance, refused = Random(7), 0
    for payload in payloads:
        for _ in range(3):
            record = chance.choice(list(records(payload)))
            held: dict[str, Any] = vars(record)
            before, known, extra = dict(held), set(record.__pydantic_fields_set__), record.__pydantic_extra__
            name = chance.choice([*held, "unheard"])
            match chance.randrange(5):
                case 0:
                    record.__pydantic_fields_set__.discard(name)
                case 1:
                    record.__pydantic_fields_set__.add(name)
                case 2:
                    held.pop(name, None)
                case 3 if extra is not None:
                    extra["unheard"] = chance.choice(OTHERS)
                case _:
                    held[name] = chance.choice(OTHERS)
                    record.__pydantic_fields_set__.add(name)
            wanted = outcome(payload, monkeypatch, is_quick=False)
            assert outcome(payload, monkeypatch, is_quick=True) == wanted, (record, name)
            refused += isinstance(wanted, str)
            held.clear()
            held.update(before)
            object.__setattr__(record, "__pydantic_fields_set__", known)
            if extra is not None:
                extra.pop("unheard", None)
    assert refused > 50


def test_serializers_of_somebody_elses_own() -> None:
    class Loud(v1.TextContent):
        @field_serializer("text")
        def _shout(self, text: str) -> str:
            return text.upper()

    chunk = v1.AgentMessageChunk(content=v1.TextContent(text="tide"))
    vars(chunk)["content"] = Loud(text="tide")
    assert quickly(Loud(text="tide")) is None
    assert quickly(chunk) is None
    assert json.loads(v1.encode(Loud(text="tide"))) == {"type": "text", "text": "TIDE"}


def test_a_record_with_fields_of_a_named_type_is_written_inside_a_union(subjects: Subjects) -> None:
    thing = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    several = {"anyOf": [{"type": "object", "additionalProperties": {"$ref": "#/$defs/Thing"}}, {"type": "string"}]}
    subject = subjects.small(
        "extras_in_a_union", {"Thing": thing, "Box": {"type": "object", "properties": {"things": several}}}
    )
    value = {"things": {"one": {"name": "a", "size": 1}, "two": {}}}
    decoded = subject.module.decode_as(subject.type("Box"), value)
    assert subject.encoded(decoded) == value
    one = decoded.things["one"]
    assert one.model_extra == {"size": 1}
    assert "__pydantic_extra__" not in vars(one)


LACKING: Final = v1.TextContent.model_construct(type="text")


@pytest.mark.parametrize("value", [LACKING, {"y": [LACKING]}, [[LACKING]]], ids=["itself", "in a map", "in a list"])
def test_a_record_that_lacks_a_field_is_refused_wherever_it_lies(value: object) -> None:
    with pytest.raises(EncodeError, match="the field 'text' is required"):
        v1.encode(v1.TextContent(text="tide", meta={"x": value}))
