"""The two ways to read a line say the same: msgspec in one call, and readers on what a parser gives."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from bindings import notes_protocol as p
from bindings.test_codec import GOOD, line, tell
from jsonrpc_bindings.errors import INVALID_PARAMS, DecodeError
from jsonrpc_bindings.json_types import is_array, is_object
from jsonrpc_bindings.module_registry import SchemaModule
from jsonrpc_bindings.parse import parse
from jsonrpc_bindings.strict import Strict

VALUES: list[Any] = [
    *(None, True, 0, -1, 1.0, 1.5, 2**53 + 1, 10**25, "", "x", "text", "_own", "http", "body", "progress"),
    *(
        [],
        {},
        [None],
        {"a": 1},
        {"type": "text", "text": "a:b"},
        {"kind": "progress", "done": 0.5},
        {"x": {"y": [None]}},
    ),
]
KEYS = ["type", "kind", "x", "new:1", "text", "_meta", "name", "id", "result", "title", "\x7f(notes)", "callId"]
TEXTS = [(b'"x"', b"1e16"), (b'"x"', b"9007199254740993.0"), (b'"x"', b"1e400"), (b":", b" :  "), (b"a", b"\\u0061")]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Each place in a value."""
    inner: Any = value.items() if is_object(value) else enumerate(value) if is_array(value) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def mutated(message: Any, random: Random) -> bytes:
    """A line of a message of which something was changed."""
    message = copy.deepcopy(message)
    for _ in range(random.choice((1, 1, 2, 3))):
        found = places(message)[1:]
        if not found:
            break
        *way, last = random.choice(found)
        owner = message
        for step in way:
            owner = owner[step]
        match random.choice("vvdak"):
            case "v":
                owner[last] = copy.deepcopy(random.choice(VALUES))
            case "d":
                del owner[last]
            case "a" if isinstance(owner[last], dict):
                owner[last][random.choice(KEYS)] = copy.deepcopy(random.choice(VALUES))
            case _ if isinstance(owner, dict):
                owner[random.choice(KEYS)] = copy.deepcopy(random.choice(VALUES))
            case _:
                pass
    text = line(message)
    if random.random() < 0.2:
        text = text.replace(*random.choice(TEXTS))
    if random.random() < 0.1:
        start = text.find(b"{", random.randrange(len(text)))
        text = text[: start + 1] + random.choice((b'"x":1,', b'"callId":":",', b'"type":"text",')) + text[start + 1 :]
    return text


def answer(read: Callable[[bytes], Any], text: bytes) -> Any:
    """What decoding says: the message and how it is written again, or the first problem."""
    try:
        found = read(text)
    except DecodeError as error:
        return error.code, error.problems[0]
    return found, json.loads(p.CODEC.encode(found))


def native(text: bytes) -> Any:
    return p.CODEC.decode(text, sender="agent")


def general(text: bytes) -> Any:
    return p.CODEC.read(parse(text), sender="agent")


def test_both_ways_say_the_same() -> None:
    random = Random(7)
    taken = 0
    for _ in range(3000):
        text = mutated(random.choice(GOOD), random)
        quick = answer(native, text)
        assert quick == answer(general, text), text
        taken += not isinstance(quick[0], int)
    assert 500 < taken < 2500


@pytest.mark.parametrize("depth", [10, 140, 160, 190, 220])
@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ('["]",', ',"["]'), ('["\\\\\\"]",', "]")])
def test_both_ways_go_equally_deep_whatever_the_texts_hold(depth: int, opens: str, closes: str) -> None:
    value = f"[{opens * depth}1{closes * depth}{',{}' * 200}]"
    for name in ("json", "new"):
        text = line({**tell(), "params": {**tell()["params"], name: "here"}}).replace(b'"here"', value.encode())
        assert answer(native, text) == answer(general, text), text


@pytest.mark.parametrize("text", ["a:b", "<p>", "\\u003a", "\\u003A", "\\u003cp\\u003e", "\\\\u003a", "é\\n"])
def test_both_ways_keep_an_unknown_field_whatever_its_text_holds(text: str) -> None:
    whole = line(tell(new={"x": "here"})).replace(b"here", text.encode())
    assert answer(native, whole) == answer(general, whole)
    twice = whole.replace(b'"new":', b'"new":{"y":":"},"new":')
    assert answer(native, twice) == answer(general, twice)
    assert answer(native, twice)[0] == -32600


@pytest.mark.parametrize("number", ["1e-400", "-1E-0999", "123456789012345678.5", "1.5"])
def test_no_way_takes_an_id_whose_fraction_is_lost(number: str) -> None:
    text = b'{"jsonrpc":"2.0","id":%s,"method":"_own"}' % number.encode()
    assert answer(native, text) == answer(general, text)
    assert answer(native, text)[0] == -32600


def test_a_number_that_is_the_whole_message_is_told_exactly() -> None:
    with pytest.raises(DecodeError, match=r"not 9007199254740993$"):
        native(b"9007199254740993.0")


IDS = {"type": ["integer", "string", "null"]}
SIDES = {"sides": ["agent", "client"], "batch": True}
STRICT = Strict(
    (dataclasses.replace(row, params=None, result=None) for row in p.METHODS.values()),
    SchemaModule(p.__name__, lambda: {"$defs": {"RequestId": IDS}, "x-protocol": SIDES}),
)


def refusal(text: bytes) -> DecodeError | None:
    try:
        native(text)
    except DecodeError as error:
        return error
    return None


def test_decoding_says_of_an_envelope_what_the_judge_says() -> None:
    random = Random(11)
    faults = 0
    for _ in range(1500):
        text = mutated(random.choice(GOOD), random)
        error = refusal(text)
        if error is None or error.code == INVALID_PARAMS:
            continue
        first = error.problems[0]
        if first.pointer.startswith("/error") or "is pending" in first.sentence:
            continue
        said = {(one.code, one.pointer, one.sentence) for one in STRICT.validate(text, sender="agent", limit=None)}
        assert {(one.pointer, one.sentence) for one in error.problems} <= {one[1:] for one in said}, text
        assert (error.code, first.pointer, first.sentence) in said
        faults += 1
    assert faults > 100
