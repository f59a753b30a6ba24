"""Decoding and encoding: what was on the wire comes back, and what is wrong is said."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any, cast

import pytest

from bindings import notes_protocol as p
from jsonrpc_bindings.codec import Codec
from jsonrpc_bindings.errors import DecodeError, EncodeError
from jsonrpc_bindings.jsonrpc import Notification, Request, Response
from jsonrpc_bindings.parse import DEEPEST

decode, encode = p.CODEC.decode, p.CODEC.encode
UPDATE = {"kind": "progress", "done": 1}


def test_an_unknown_way_with_duplicates_is_refused() -> None:
    with pytest.raises(ValueError, match="'refuse' or 'last'"):
        p.CODEC.decode(b"{}", sender="agent", duplicates="lst")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the sender is one of"):
        p.CODEC.decode(b"{}", sender="bogus", method="draw")


def tell(**params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "tell", "params": {"update": UPDATE, **params}}


def line(message: Any) -> bytes:
    return json.dumps(message).encode()


GOOD: list[dict[str, Any]] = [
    tell(),
    tell(_meta=None),
    tell(_meta={"a": {"b": [1.5, None, "é"]}}),
    tell(new={"x": [1]}),
    tell(update={"kind": "progress", "done": 1.5, "state": "other"}),
    tell(update={"kind": "progress", "done": 1e300}),
    tell(update={"kind": "_own", "x": {"y": None}}),
    tell(update={"kind": "body", "callId": "c", "parts": [{"type": "text", "text": "a:b", "title": None, "z": 1}]}),
    tell(update={"kind": "body", "callId": "c", "parts": [{"type": "audio", "note": None, "x": 1}]}),
    tell(server={"command": "a"}, content={"bytes": "x"}, keys={"words": ["a"]}),
    tell(server={"type": "http", "url": "u", "more": 1}, keys="text"),
    tell(tree={"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}),
    tell(json={"a": [1, {"b": None, "c": 1.5}]}, x=1),
    tell(json=None),
    tell(odd={"is": True, 'a"b': "x", "c\nd": None, "\x7f(notes)": "y"}),
    tell(odd={"is": True, 'a"b': "x", "new": 1}),
    tell(abilities={}, alone={"callId": "c", "kind": "body"}),
    tell(abilities={"image": False, "tags": []}),
    tell(closed={"version": "1", "name": "a"}, counts={"total": 1, "x": 2}),
    tell(other={"name": "a", "type": "_x"}),
    tell(counts={"total": 123456789012345678901234567890}),
    {**tell(), "extra": 1},
    {"jsonrpc": "2.0", "id": None, "method": "ping"},
    {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": None},
    {"jsonrpc": "2.0", "id": 7, "method": "choose", "params": {"command": "a"}},
    {"jsonrpc": "2.0", "id": 7.0, "method": "choose", "params": {"type": "http", "url": "u"}},
    {"jsonrpc": "2.0", "method": "stop"},
    {"jsonrpc": "2.0", "method": "stop", "params": None},
    {"jsonrpc": "2.0", "method": "_own", "params": [1]},
]


@pytest.mark.parametrize("message", GOOD, ids=range(len(GOOD)))
def test_what_was_on_the_wire_comes_back(message: dict[str, Any]) -> None:
    for text in (line(message), json.dumps(message, ensure_ascii=False, indent=1), message):
        found = decode(text, sender="agent")
        assert json.loads(encode(found)) == message
        for other in (copy.deepcopy(found), copy.copy(found), pickle.loads(pickle.dumps(found))):
            assert other == found
            assert json.loads(encode(other)) == message


def test_results() -> None:
    for method, message in (
        ("do", {"jsonrpc": "2.0", "id": 1, "result": {"reason": "end"}}),
        ("do", {"jsonrpc": "2.0", "id": 1, "result": {"reason": "end", "x": 1}}),
        ("list", {"jsonrpc": "2.0", "id": 1, "result": None}),
        ("do", {"jsonrpc": "2.0", "id": None, "error": {"code": 5, "message": "m", "data": None}}),
        ("_own", {"jsonrpc": "2.0", "id": 1, "result": [1]}),
    ):
        found = decode(line(message), sender="agent", method=method)
        assert found.method == method
        assert json.loads(encode(found)) == message
        assert decode(line(message), sender="agent", pending={1: method, None: method}) == found


@pytest.mark.parametrize(
    ("text", "pointer", "said"),
    [
        (line(tell(update={"kind": "progress", "done": "x"})), "/params/update/done", "a number is expected, not 'x'"),
        (line(tell(update={"kind": "body"})), "/params/update", "the field 'callId' is required"),
        (line(tell(update={})), "/params/update", "the field 'kind' is required"),
        (line(tell(closed={"name": "", "version": "1", "x": 1})), "/params/closed", "is not allowed here"),
        (line(tell(counts={"total": 1, "x": -1})), "/params/counts/x", "must be 0 or more"),
        (line(tell(server={"type": "ftp", "command": "a"})), "/params/server/type", "is not a known value"),
        (line(tell(code="A")), "/params/code", "does not match the pattern"),
        (line(tell(other={"name": "", "type": "http"})), "/params/other", ""),
        (line(tell(tree={"name": "a", "children": [{"name": 1}]})), "/params/tree/children/0/name", "a string"),
        (b'{"jsonrpc":"2.0","method":"stop","params":{"image":true,"image":true}}', "/params/image", "more than once"),
        (b'{"jsonrpc":"2.0","method":"stop","params":{"im\\u0061ge":true,"image":true}}', "/params/image", "more than"),
        (b'{"jsonrpc":"2.0","method":"stop","params":{"x":"\\u003a","x":1}}', "/params/x", "more than once"),
        (b'{"jsonrpc":"2.0","id":123456789012345678.5,"method":"ping"}', "/id", "a fraction, which is lost"),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', "/id", "an id must be"),
        (b'{"jsonrpc":"2.0","method":"stop","params":{"x":1e400}}', "", "too large"),
        (b'{"jsonrpc":"2.0","method":"stop","params":{"x":NaN}}', "", "not JSON"),
        (b'{"jsonrpc":"2.0","method":"nothing"}', "/method", "is not known"),
        (b'{"jsonrpc":"2.0","method":"do","params":{}}', "/method", "is a request"),
        (b'{"method":"stop","params":{}}', "", 'must be "2.0"'),
        (b"[]", "", "a batch must hold"),
        (b'{"jsonrpc":"2.0","method":"stop","params":{"x":' + b"[" * 5000 + b"]" * 5000 + b"}}", "", "not JSON"),
        (b'{"jsonrpc":"2.0","method":"stop","params":{"\x7f(notes)":{},"image":5}}', "/params/image", "true or false"),
    ],
)
def test_what_is_wrong_is_said(text: bytes, pointer: str, said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(text, sender="agent")
    problem = caught.value.problems[0]
    assert problem.pointer == pointer
    assert said in str(caught.value).replace("a request id", "an id")


def test_numbers_are_exact() -> None:
    text = b'{"jsonrpc":"2.0","method":"stop","params":{"x":9007199254740993.0,"y":[1e300,1e-400,1.0]}}'
    found = decode(text, sender="agent").params.unknown_fields
    assert found["x"] == 9007199254740993
    assert type(found["x"]) is int
    assert decode(line(tell(counts={"total": 1.0})), sender="agent").params.counts.total == 1


def test_values_have_a_budget() -> None:
    with pytest.raises(DecodeError, match="more than 50 values"):
        decode(line(tell(new=[1] * 60)), sender="agent", values=50)


def test_a_batch() -> None:
    batch = [tell(), {"jsonrpc": "2.0", "id": 1, "method": "ping"}]
    found = decode(line(batch), sender="agent")
    assert [type(one) for one in found] == [type(decode(line(tell()), sender="agent")), type(found[1])]
    assert isinstance(found[0], Notification)
    assert isinstance(found[1], Request)
    assert json.loads(encode(found)) == batch


def test_a_message_that_is_built_is_one_that_came() -> None:
    params = p.Everything(update=p.Progress(done=1))
    built = Notification("tell", params)
    came = decode(line(tell()), sender="agent")
    assert built == came
    assert json.loads(encode(built)) == tell()
    assert repr(built) == repr(came)
    match came:
        case Notification("tell", p.Everything(update=p.Progress(done=done))):
            assert done == 1
        case _:
            pytest.fail("no match")
    assert Response(1, p.Done(reason="end"), "do") == Response(1, p.Done(reason="end"), method="do")


@pytest.mark.parametrize(
    "message",
    [
        Notification("tell", p.Done(reason="end")),
        Notification("stop", {"image": 5}),
        Notification("stop", p.Abilities(extra={"x": float("nan")})),
        Notification("stop", p.Abilities(), extra={"method": "x"}),
        Notification("_own", {"x": float("inf")}),
        Notification("_own", object()),
        Request(cast("Any", []), "ping", None),
    ],
    ids=range(7),
)
def test_what_cannot_be_written_is_refused(message: Any) -> None:
    with pytest.raises(EncodeError):
        encode(message)


def test_what_was_changed_in_place_is_checked() -> None:
    found = decode(line(tell(tree={"name": "a", "children": []})), sender="agent")
    found.params.tree.children.append(5)
    with pytest.raises(EncodeError, match="an object is expected"):
        encode(found)
    found = decode(line(tell(_meta={})), sender="agent")
    found.params.meta["x"] = float("nan")
    with pytest.raises(EncodeError, match=r"/params/_meta/x: .* not finite"):
        encode(found)
    deep: list[Any] = []
    for _ in range(DEEPEST):
        deep = [deep]
    found.params.meta["x"] = deep
    with pytest.raises(EncodeError, match="too deep"):
        encode(found)
    found.params.meta["x"] = deep[0][0][0][0]
    assert decode(encode(found), sender="agent") == found


def test_the_envelope_of_what_is_written_is_checked() -> None:
    found = decode(line({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}), sender="agent")
    with pytest.raises(AttributeError):
        found.jsonrpc = "1.0"
    others: list[Any] = [1.5, True, [], {}]
    for wrong in others:
        found.id = wrong
        with pytest.raises(EncodeError, match="an id must be"):
            encode(found)
    found.id = "a"
    assert json.loads(encode(found)) == {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {}}


def test_a_record_with_names_that_msgspec_cannot_write_is_written_where_anything_may_be() -> None:
    odd = p.CODEC.decode_as("Odd", {"is": True, 'a"b': "x", "new": 1})
    found = decode(line(tell(json=1)), sender="agent")
    found.params.json = odd
    assert json.loads(encode(found)) == tell(json={"is": True, 'a"b': "x", "new": 1})


def test_a_mark_of_ours_in_a_message_is_kept() -> None:
    for message in (tell(new=1, _meta={"\x7f(notes)": 0, "y": 1}), tell(**{"\x7f(notes)": 0, "y": {}})):
        assert json.loads(encode(decode(line(message), sender="agent"))) == message


def test_types_of_their_own() -> None:
    assert p.CODEC.decode_as(p.Server, {"command": "a"}) == p.Local(command="a")
    assert p.CODEC.decode_as(p.Part, {"type": "text", "text": "a"}) == p.Text(text="a")
    assert p.CODEC.decode_as(list[p.Done], [{"reason": "end"}]) == [p.Done(reason="end")]
    with pytest.raises(DecodeError, match="is not one of"):
        p.CODEC.decode_as(p.Done, {"reason": "x"})


@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        (tell(), None),
        (tell(_new=1, update={"kind": "_own", "x": 1}), None),
        (tell(new=1), "/params/new"),
        (tell(update={"kind": "own"}), "/params/update/kind"),
        (tell(update={"kind": "progress", "done": 1, "state": "other"}), "/params/update/state"),
        (
            tell(update={"kind": "body", "callId": "c", "parts": [{"type": "text", "text": "", "x": 1}]}),
            "/params/update/parts/0/x",
        ),
        (tell(counts={"total": 1, "x": 2}), None),
        ({**tell(), "more": 1}, "/more"),
    ],
    ids=range(8),
)
def test_a_strict_sender_names_what_the_schema_names(message: dict[str, Any], pointer: str | None) -> None:
    found = decode(line(message), sender="agent")
    if pointer is None:
        assert json.loads(encode(found, strict=True)) == message
        return
    with pytest.raises(EncodeError) as caught:
        encode(found, strict=True)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_messages_are_no_batch_where_the_protocol_has_none() -> None:
    alone: Codec[Any, Any] = Codec(p.METHODS, p.CODEC.receiving, null_id=True, sides=("agent", "client"))
    message = decode(line(tell()), sender="agent")
    assert json.loads(encode([message])) == [tell()]
    with pytest.raises(EncodeError, match="has no batches"):
        alone.encode([message])
