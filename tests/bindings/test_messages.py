"""JSON-RPC: envelopes, dispatch, error codes. Whatever comes in, `DecodeError` is the only exception."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acpgen import ir
from acpgen.input.walk import is_array, is_object
from bindings.corpus import rows
from bindings.instances import ANYTHING, nodes
from bindings.meaning import changed
from bindings.subjects import Subject, Subjects, same
from jsonrpc_bindings import EncodeError, to_builtins
from jsonrpc_bindings.errors import DecodeError

PARSE, ENVELOPE, METHOD, PARAMS = -32700, -32600, -32601, -32602

NEW: Final[dict[str, Any]] = {"cwd": "/w", "mcpServers": []}
REQUEST: Final[dict[str, Any]] = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": NEW}
CANCEL: Final[dict[str, Any]] = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}
RESULT: Final[dict[str, Any]] = {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}
ERROR: Final[dict[str, Any]] = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "m"}}


@pytest.fixture(scope="session")
def v1(subjects: Subjects) -> Subject:
    """The bindings of ACP v1."""
    return subjects("acp_v1")


@pytest.fixture(scope="session")
def batches(subjects: Subjects) -> Subject:
    """The bindings of our ACP v2, which has batches."""
    return subjects("own_v2")


@pytest.fixture(scope="session")
def v2(subjects: Subjects) -> Subject:
    """The bindings of ACP v2."""
    return subjects("acp_v2")


def error_of(subject: Subject, line: Any, sender: str = "client", **options: Any) -> Any:
    """The error of a message that must be refused. It survives pickling and echoes no long value."""
    with pytest.raises(subject.runtime.DecodeError) as caught:
        subject.module.decode(line, sender=sender, **options)
    error = caught.value
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.problems, again.id, again.method) == (error.code, error.problems, error.id, error.method)
    assert str(again) == str(error)
    assert error.problems
    assert all(problem.sentence for problem in error.problems)
    return error


def refusal(subject: Subject, line: Any, **options: Any) -> Any:
    """The `DecodeError` of a message, if it is refused."""
    try:
        subject.module.decode(line, **options)
    except subject.runtime.DecodeError as error:
        return error
    return None


# --- text ------------------------------------------------------------------------------------------------------------

NOT_JSON: Final[dict[str, Any]] = {
    "nothing": b"",
    "spaces": b"  \n",
    "a word": b"hello",
    "cut off": b'{"jsonrpc": "2.0", "id": 1, "meth',
    "two values": b"{} {}",
    "a trailing comma": b'{"a": 1,}',
    "single quotes": b"{'a': 1}",
    "a comment": b'{"a": 1} // x',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "Latin-1": '{"a": "é"}'.encode("latin-1"),
    "bytes of half a surrogate pair": b'{"a": "\xed\xa0\x80"}',
    "an overlong encoding": b'{"a": "\xc0\xaf"}',
    "half a surrogate pair, escaped": b'{"a": "\\ud800"}',
    "half a surrogate pair in a key": b'{"\\udc00": 1}',
    "half a surrogate pair as text": '{"a": "\ud800"}',
    "a control character in a string": b'{"a": "\x01"}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": Infinity}',
    "minus infinity": b'{"a": -Infinity}',
    "a number that overflows": b'{"a": 1e999}',
    "a number that overflows below zero": b'{"a": [-1E+400]}',
    "a number that overflows by its digits": b'{"a": 1' + b"0" * 250 + b"e99}",
    "a long number that overflows": b'{"a": 1' + b"0" * 309 + b".0}",
    "a leading zero": b'{"a": 01}',
    "a bare point": b'{"a": 1.}',
    "a hexadecimal number": b'{"a": 0x1}',
    "nested without end": b"[" * 100_000,
    "nested too deep": b"[" * 5000 + b"]" * 5000,
    "a byte of zero": b'\x00{"a": 1}',
}


@pytest.mark.parametrize("case", NOT_JSON)
def test_what_is_not_json_gets_the_code_for_it(v1: Subject, v2: Subject, case: str) -> None:
    for subject in (v1, v2):
        error = error_of(subject, NOT_JSON[case])
        assert error.code == PARSE
        assert [problem.pointer for problem in error.problems] == [""]
        assert error.id is None
        assert error.method is None


TWICE: Final[dict[str, tuple[str, list[str]]]] = {
    "the answer to a question of permission": (
        '{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"deny","optionId":"allow"}}}',
        ["/result/outcome/optionId"],
    ),
    "a key and the same one escaped": (
        '{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled","\\u006futcome":"cancelled"}}}',
        ["/result/outcome/outcome"],
    ),
    "blanks before the colon": (
        '{"jsonrpc":"2.0","id":1,"result" : {"outcome"\t:{"a"\n:1,"a" :2}}}',
        ["/result/outcome/a"],
    ),
    "a key that ends in a backslash": ('{"jsonrpc":"2.0","id":1,"result":{"a\\\\":1,"a\\\\":2}}', ["/result/a\\"]),
    "an empty key, and one that needs escaping": ('{"jsonrpc":"2.0","":1,"":2,"a/b":{"~":1,"~":2}}', ["/", "/a~1b/~0"]),
    "keys of the message": ('{"jsonrpc":"2.0","id":1,"id":2,"result":{},"result":{}}', ["/id", "/result"]),
    "in an array": (
        '{"jsonrpc":"2.0","id":1,"result":[[{"a":1,"a":1}],{"b":1,"b":1}]}',
        ["/result/0/0/a", "/result/1/b"],
    ),
    "in a value that the last one replaces": ('{"jsonrpc":"2.0","id":1,"x":{"a":1,"a":2},"x":0}', ["/x"]),
    "in the value that counts": ('{"jsonrpc":"2.0","id":1,"x":0,"x":{"a":1,"a":2}}', ["/x", "/x/a"]),
    "beside text that looks like keys": ('{"jsonrpc":"2.0","id":1,"x":"\\":,\\\\\\":","x":"::"}', ["/x"]),
    "thrice, and whole numbers of any length": (
        '{"jsonrpc":"2.0","id":1,"x":[1e5,' + "9" * 400 + '],"x":1,"x":2}',
        ["/x"],
    ),
}


@pytest.mark.parametrize("case", TWICE)
def test_a_key_that_an_object_gives_twice_is_refused_at_its_place(v1: Subject, v2: Subject, case: str) -> None:
    text, pointers = TWICE[case]
    for subject in (v1, v2):
        for line in (text, text.encode(), bytearray(text.encode())):
            error = error_of(subject, line, "client", method="session/request_permission")
            assert error.code == ENVELOPE
            assert [problem.pointer for problem in error.problems] == pointers
            assert error.id == (None if "/id" in pointers or '"id"' not in text else 1)
        found = subject.module.validate(text, sender="client")
        assert [one.pointer for one in found if one.rule == "duplicate-key"] == pointers


def test_a_key_given_twice_counts_as_the_last_one_where_that_is_asked_for(v1: Subject) -> None:
    text, _ = TWICE["the answer to a question of permission"]
    found = v1.module.decode(text, sender="client", method="session/request_permission", duplicates="last")
    assert found.result.outcome.option_id == "allow"
    rest = v1.module.validate('{"jsonrpc":"2.0","id":{},"x":1,"x":2,"method":"session/new"}', sender="client")
    assert [(one.rule, one.pointer) for one in rest][:2] == [("duplicate-key", "/x"), ("envelope", "/id")]


def test_a_batch_with_a_key_given_twice_is_refused_at_the_key(batches: Subject) -> None:
    line = f'[{json.dumps(CANCEL)},{{"jsonrpc":"2.0","method":"_x","params":{{"a":1,"a":2}}}}]'
    error = error_of(batches, line)
    assert [problem.pointer for problem in error.problems] == ["/1/params/a"]
    assert len(batches.module.decode(line, sender="client", duplicates="last")) == 2


def test_keys_that_are_no_strings_are_refused_in_every_way(v1: Subject) -> None:
    said = "the keys of an object are strings, not 1"
    params = {"sessionId": "s", "_meta": {"a": [{1: 1, "1": 2}]}}
    for problem in (
        *error_of(v1, {**CANCEL, "params": params}).problems,
        *v1.module.validate({**CANCEL, "params": params}, sender="client"),
    ):
        assert (problem.pointer, problem.sentence) == ("/params/_meta/a/0", f"this is not JSON: {said}")
    assert [one.pointer for one in v1.problems("CancelNotification", params)] == ["/_meta/a/0"]
    assert {one.rule for one in v1.module.validate_as("CancelNotification", params)} == {"json"}
    message = v1.module.decode(CANCEL, sender="client")
    message.params.meta = params["_meta"]
    ways: dict[str, tuple[Callable[[], object], str]] = {
        "encode": (lambda: v1.module.encode(message), "/params/_meta/a/0"),
        "encode, strict": (lambda: v1.module.encode(message, strict=True), "/params/_meta/a/0"),
        "encode a record": (lambda: v1.module.encode(message.params), "/_meta/a/0"),
        "encode a value": (lambda: v1.module.encode([message.params.meta]), "/0/a/0"),
        "to_builtins": (lambda: to_builtins(message.params), "/_meta/a/0"),
    }
    for way, (write, pointer) in ways.items():
        with pytest.raises(EncodeError) as caught:
            write()
        assert str(caught.value) == f"{pointer}: {said}", way
        assert [(one.pointer, one.sentence) for one in caught.value.problems] == [(pointer, said)]


@given(
    st.recursive(
        st.sampled_from([0, "", ":", '":', '\\":', "a", "\\"]),
        lambda item: (
            st.lists(item, max_size=3)
            | st.lists(st.tuples(st.sampled_from(["a", "a\\", '"', ":"]), item), max_size=3).map(tuple)
        ),
        max_leaves=12,
    ),
    st.sampled_from(["", " ", "\t\n"]),
    st.booleans(),
)
@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_exactly_the_keys_that_are_given_twice_are_found(v1: Subject, value: Any, blank: str, escaped: bool) -> None:
    def members(item: Any) -> Iterable[tuple[str, Any]] | None:
        return cast("Iterable[tuple[str, Any]]", item) if isinstance(item, tuple) else None

    def text_of(item: Any) -> str:
        given = members(item)
        if given is not None:
            return "{" + ",".join(f"{text_of(key)}{blank}:{blank}{text_of(each)}" for key, each in given) + "}"
        if is_array(item):
            return "[" + ",".join(map(text_of, item)) + "]"
        text = json.dumps(item)
        return text.replace("a", "\\u0061", 1) if escaped else text

    def twice(item: Any) -> bool:
        given = [*(members(item) or ())]
        inside: list[Any] = item if is_array(item) else [each for _, each in given]
        keys = [key for key, _ in given]
        return len({*keys}) != len(keys) or any(map(twice, inside))

    error = refusal(v1, f'{{"jsonrpc":"2.0","method":"_x","params":[{text_of(value)}]}}', sender="client")
    assert (error is not None) is twice(value)


NO_JSON_VALUES: Final[dict[str, Any]] = {
    "NaN": {"a": float("nan")},
    "infinity": [float("inf")],
    "half a surrogate pair": {"a": "\ud800"},
    "a set": {"a": {1}},
    "bytes inside": {"a": b"x"},
    "an object of Python": object(),
    "a key that is a tuple": {(1, 2): 3},
}


@pytest.mark.parametrize("case", NO_JSON_VALUES)
def test_a_python_value_that_no_json_is_gets_the_same_code(v1: Subject, case: str) -> None:
    assert error_of(v1, NO_JSON_VALUES[case]).code == PARSE
    with pytest.raises(v1.runtime.DecodeError) as caught:
        v1.module.decode_as(v1.type("RequestId"), NO_JSON_VALUES[case])
    assert caught.value.code == PARSE


@pytest.mark.parametrize("value", [b'{"sessionId": "s"}', bytearray(b"{}")])
def test_bytes_in_place_of_parsed_json_are_told_how_to_be_passed(v1: Subject, value: bytes | bytearray) -> None:
    with pytest.raises(v1.runtime.DecodeError, match=r"pass json\.loads\(value\)") as caught:
        v1.module.decode_as(v1.type("CancelNotification"), value)
    assert "not JSON" not in str(caught.value)
    (problem,) = v1.module.validate_as("CancelNotification", value)
    assert problem.sentence == caught.value.problems[0].sentence


def test_a_value_that_holds_itself_is_refused(v1: Subject) -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert error_of(v1, loop).code == PARSE
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert error_of(v1, deep).code == PARSE


def test_numbers_as_large_as_json_may_write_are_kept(v1: Subject) -> None:
    for number in (
        "1e308",
        "-1e308",
        "1e-400",
        "123456789012345678901234567890",
        "0.1",
        "1" + "0" * 400,
        "9007199254740993",
        "-0.0",
    ):
        line = f'{{"jsonrpc":"2.0","method":"_x","params":{{"n":{number}}}}}'.encode()
        found = v1.module.decode(line, sender="client")
        assert same(v1.encoded(found), json.loads(line)), number


def test_what_is_decoded_is_a_copy(v1: Subject) -> None:
    message: Any = {**REQUEST, "params": {**NEW, "_meta": {"a": [1]}}, "x": {"y": [1]}}
    before = copy.deepcopy(message)
    found = v1.module.decode(message, sender="client")
    found.params.meta["a"].append(2)
    found.extra["x"]["y"].append(2)
    assert message == before


# --- envelopes -------------------------------------------------------------------------------------------------------

NO_ENVELOPES: Final[dict[str, tuple[Any, ...]]] = {
    "a number": (5, ""),
    "null": (None, ""),
    "an empty object": ({}, "", ""),
    "no version": ({"id": 1, "method": "session/new", "params": NEW}, ""),
    "version 1": ({**REQUEST, "jsonrpc": "1.0"}, "/jsonrpc"),
    "version as a number": ({**REQUEST, "jsonrpc": 2.0}, "/jsonrpc"),
    "version null": ({**REQUEST, "jsonrpc": None}, "/jsonrpc"),
    "neither method nor result": ({"jsonrpc": "2.0", "id": 1}, ""),
    "a method that is a number": ({**REQUEST, "method": 5}, "/method"),
    "a method that is null": ({**REQUEST, "method": None}, "/method"),
    "an id with a fraction": ({**REQUEST, "id": 1.5}, "/id"),
    "an id that is true": ({**REQUEST, "id": True}, "/id"),
    "an id that is an object": ({**REQUEST, "id": {}}, "/id"),
    "an id that is an array": ({**REQUEST, "id": [1]}, "/id"),
    "a method and a result": ({**REQUEST, "result": {}}, "", "/method"),
    "a method and an error": ({**REQUEST, "error": {"code": 1, "message": "m"}}, "", "/method"),
    "a result and an error": ({**RESULT, "error": ERROR["error"]}, ""),
    "a result without an id": ({"jsonrpc": "2.0", "result": {}}, ""),
    "an error without an id": ({"jsonrpc": "2.0", "error": ERROR["error"]}, ""),
    "a result with a method that is null": ({**RESULT, "method": None}, "/method"),
    "a result whose id is null": ({**RESULT, "id": True}, "/id"),
    "a result whose id has a fraction": ({**RESULT, "id": 0.5}, "/id"),
    "an error whose id is an object": ({**ERROR, "id": {}}, "/id"),
    "an error that is text": ({**ERROR, "error": "m"}, "/error"),
    "an error that is null": ({**ERROR, "error": None}, "/error"),
    "an error without a message": ({**ERROR, "error": {"code": 1}}, "/error"),
    "an error whose code is text": ({**ERROR, "error": {"code": "1", "message": "m"}}, "/error/code"),
    "an error whose code is true": ({**ERROR, "error": {"code": True, "message": "m"}}, "/error/code"),
    "a batch in a batch": ([[REQUEST]], "/0"),
    "a number in a batch": ([5], "/0"),
    "a bad id in a batch": ([REQUEST, {**REQUEST, "id": 1.5}], "/1/id"),
    "an empty batch": ([], ""),
}


@pytest.mark.parametrize("case", NO_ENVELOPES)
def test_what_is_no_envelope_is_refused_at_its_place(v1: Subject, v2: Subject, batches: Subject, case: str) -> None:
    message, *pointers = NO_ENVELOPES[case]
    for subject in (batches,) if is_array(message) else (v1, v2, batches):
        sender = "agent" if is_object(message) and ("result" in message or "error" in message) else "client"
        error = error_of(subject, message, sender, method=None if sender == "client" else "session/new")
        assert error.code == ENVELOPE
        assert [problem.pointer for problem in error.problems] == pointers


def test_a_protocol_without_batches_refuses_them(v1: Subject) -> None:
    for message in ([], [REQUEST]):
        assert error_of(v1, message).code == ENVELOPE


def test_a_null_id_is_a_request_in_v1_and_refused_in_v2(v1: Subject, v2: Subject) -> None:
    message = {**REQUEST, "id": None}
    found = v1.module.decode(message, sender="client")
    assert found == v1.runtime.Request(None, "session/new", found.params)
    assert same(v1.encoded(found), message)
    error = error_of(v2, message)
    assert (error.code, error.problems[0].pointer) == (ENVELOPE, "/id")


@pytest.mark.parametrize("id_", [0, -1, 2**60, "", "é", "1", 1.0])
def test_ids_come_back_as_they_were(v1: Subject, v2: Subject, id_: Any) -> None:
    for subject in (v1, v2):
        for message, sender in (
            ({**REQUEST, "id": id_}, "client"),
            ({**RESULT, "id": id_}, "agent"),
            ({**ERROR, "id": id_}, "agent"),
        ):
            found = subject.module.decode(message, sender=sender, method="session/new")
            assert found.id == id_
            assert same(subject.encoded(found), message)


def test_an_error_may_answer_no_request_at_all(v1: Subject, v2: Subject) -> None:
    for subject in (v1, v2):
        message = {**ERROR, "id": None}
        found = subject.module.decode(message, sender="agent")
        assert found.id is None
        assert found.error.code == -32603
        assert same(subject.encoded(found), message)


@pytest.mark.parametrize(
    "code", [-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002, 0, 1, 2**31 - 1, -(2**31)]
)
def test_every_code_and_data_of_an_error_come_back(v1: Subject, v2: Subject, code: int) -> None:
    for subject in (v1, v2):
        for data in (
            {},
            {"data": None},
            {"data": "d"},
            {"data": {"sessionId": "s", "a": [1]}},
            {"data": [0.5]},
            {"x": 1},
        ):
            message = {**ERROR, "error": {"code": code, "message": "", **data}}
            found = subject.module.decode(message, sender="agent", pending={1: "session/new"})
            assert isinstance(found, subject.runtime.ErrorResponse)
            assert (found.error.code, found.method) == (code, "session/new")
            assert same(subject.encoded(found), message)


def test_what_an_envelope_holds_beside_is_kept(v1: Subject, v2: Subject) -> None:
    more = {"trace": {"id": [1, None]}, "Params": 1, "": 2}
    for subject in (v1, v2):
        for message, sender in ((REQUEST, "client"), (CANCEL, "client"), (RESULT, "agent"), (ERROR, "agent")):
            found = subject.module.decode({**message, **more}, sender=sender, method="session/new")
            assert found.extra == more
            assert same(subject.encoded(found), {**message, **more})
    for message in (RESULT, ERROR):
        odd = {**message, "params": {"a": 1}}
        assert same(v1.encoded(v1.module.decode(odd, sender="agent", method="session/new")), odd)


# --- methods ---------------------------------------------------------------------------------------------------------


def test_an_unknown_method_gets_the_code_for_it(v1: Subject, v2: Subject) -> None:
    for subject in (v1, v2):
        for name in ("", "session/new2", "Session/new", "session/", "x" * 500, "$/progress", "é"):
            for message in ({**REQUEST, "method": name}, {**CANCEL, "method": name}):
                error = error_of(subject, message)
                assert (error.code, error.method) == (METHOD, name)
                assert error.id == message.get("id")
                assert error.problems[0].pointer == "/method"
                assert len(error.problems[0].sentence) < 200


def test_a_method_of_the_other_side_is_refused(v1: Subject, v2: Subject) -> None:
    for subject in (v1, v2):
        for row in subject.module.METHODS.values():
            if row.side not in ("agent", "client"):
                continue
            note: dict[str, Any] = {"jsonrpc": "2.0", "method": row.name, "params": {}}
            request: dict[str, Any] = {**note, "id": 1}
            message, other = (request, note) if row.kind == "request" else (note, request)
            error = error_of(subject, message, sender=row.side)
            assert error.code == METHOD
            assert row.side in error.problems[0].sentence
            sender = "client" if row.side == "agent" else "agent"
            error = error_of(subject, other, sender=sender)
            assert error.code == METHOD
            assert row.kind in error.problems[0].sentence


ANY_PARAMS: Final[list[Any]] = [{}, {"a": [1, None]}, [], [1], None, "text", 5]


def test_a_sender_that_the_protocol_does_not_have_is_refused(v1: Subject, batches: Subject, subjects: Subjects) -> None:
    for subject in (v1, batches):
        with pytest.raises(ValueError, match="the sender is one of"):
            subject.module.decode(CANCEL, sender="server")
        with pytest.raises(ValueError, match="the sender is one of"):
            subject.module.validate(CANCEL, sender="clients")
    subjects("own_roots").module.decode({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, sender="server")


def test_whoever_calls_the_methods_of_a_protocol_is_a_side_of_it(subjects: Subjects) -> None:
    ping = {"type": "object", "x-method": "ping"}
    for side, other in (("agent", "client"), ("server", "client"), ("client", "server")):
        name = f"calls_of_{other}_to_{side}"
        found = subjects.small(
            name, {"PingRequest": {**ping, "x-side": side}, "PingResponse": {**ping, "x-side": side}}
        )
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert found.module.decode(request, sender=other).method == "ping"
        assert not found.module.validate(request, sender=other)
        assert error_of(found, request, sender=side).code == METHOD


@pytest.mark.parametrize(
    ("definition", "good", "bad"),
    [({"type": "string"}, "s", 7), ({"enum": ["a", "b"]}, "b", "c"), ({"type": "object"}, {}, [])],
    ids=["text", "constants", "record"],
)
def test_a_schema_may_hold_one_kind_of_definition_alone(
    subjects: Subjects, definition: Any, good: Any, bad: Any, request: pytest.FixtureRequest
) -> None:
    found = subjects.small(f"alone_{request.node.callspec.id}", {"Thing": definition})
    assert found.encoded(found.module.decode_as(found.type("Thing"), good)) == good
    assert found.problems("Thing", bad)


def test_what_a_bound_refuses_is_said_in_words_of_json(subjects: Subjects) -> None:
    bounded = {
        "Few": {"type": "array", "items": True, "minItems": 1, "maxItems": 2},
        "Short": {"type": "string", "minLength": 1, "maxLength": 2},
        "Small": {"type": "integer", "minimum": 1, "maximum": 2},
        "Letter": {"type": "string", "pattern": "^[a-z]$"},
    }
    whole = {"type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in bounded}}
    found = subjects.small("bounds", {**bounded, "All": whole})
    said = {
        ("Few", ()): "the array's length must be 1 or more",
        ("Few", (1, 2, 3)): "the array's length may be 2 at most",
        ("Short", ""): "the string's length must be 1 or more",
        ("Short", "abc"): "the string's length may be 2 at most",
        ("Small", 0): "the number must be 1 or more",
        ("Small", 3): "the number may be 2 at most",
        ("Letter", "A"): "'A' does not match the pattern '^[a-z]$'",
    }
    for (name, value), sentence in said.items():
        there = {name: list(value) if isinstance(value, tuple) else value}
        assert [problem.sentence for problem in found.problems("All", there)] == [sentence]
        assert [problem.sentence for problem in found.module.validate_as("All", there)] == [sentence]


def test_methods_of_both_sides_are_read_from_both(v1: Subject, subjects: Subjects) -> None:
    message = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}}
    for sender in ("agent", "client"):
        found = v1.module.decode(message, sender=sender)
        assert found.params.request_id == 3
        assert same(v1.encoded(found), message)


@pytest.mark.parametrize("params", ANY_PARAMS)
def test_extension_methods_carry_any_params_of_json_rpc_and_any_result(v1: Subject, v2: Subject, params: Any) -> None:
    is_structured = params is None or isinstance(params, dict | list)
    for subject in (v1, v2):
        for sender in ("agent", "client"):
            messages: tuple[dict[str, Any], ...] = (
                {"jsonrpc": "2.0", "id": 7, "method": "_vendor/do", "params": params},
                {"jsonrpc": "2.0", "method": "_vendor/did", "params": params},
            )
            for message in messages:
                assert (subject.module.validate(message, sender=sender) == ()) == is_structured
                if not is_structured:
                    with pytest.raises(DecodeError, match="the params must be an object or an array") as refused:
                        subject.module.decode(message, sender=sender)
                    assert refused.value.code == -32600
                    continue
                found = subject.module.decode(message, sender=sender)
                assert same(found.params, params)
                assert same(subject.encoded(found), message)
            answer: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "result": params}
            found = subject.module.decode(answer, sender=sender, pending={7: "_vendor/do"})
            assert (found.method, found.id) == ("_vendor/do", 7)
            assert same(subject.encoded(found), answer)


def test_a_result_of_null_alone_is_judged(subjects: Subjects) -> None:
    definitions = {
        "TideRequest": {"type": "object", "x-method": "tide/get", "x-side": "agent"},
        "TideResponse": {"type": "null", "x-method": "tide/get", "x-side": "agent"},
    }
    found = subjects.small("null_result", definitions)
    answer = {"jsonrpc": "2.0", "id": 7, "result": None}
    assert same(found.encoded(found.module.decode(answer, sender="agent", method="tide/get")), answer)
    with pytest.raises(DecodeError, match="null is expected, not 5"):
        found.module.decode({**answer, "result": 5}, sender="agent", method="tide/get")
    assert found.module.validate({**answer, "result": 5}, sender="agent", method="tide/get")


def test_extension_methods_may_have_no_params(v1: Subject) -> None:
    for message in ({"jsonrpc": "2.0", "id": 7, "method": "_x"}, {"jsonrpc": "2.0", "method": "_x"}):
        found = v1.module.decode(message, sender="agent")
        assert found.params is None
        assert same(v1.encoded(found), message)


def test_absent_and_null_params_read_as_an_empty_object_and_stay_as_they_were(v1: Subject, v2: Subject) -> None:
    for subject, method in ((v1, "session/list"), (v2, "session/list")):
        forms: list[dict[str, Any]] = [{}, {"params": None}, {"params": {}}, {"params": {"_meta": None}}]
        for params in forms:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, **params}
            found = subject.module.decode(message, sender="client")
            assert isinstance(found.params, subject.type("ListSessionsRequest"))
            assert same(subject.encoded(found), message)


def test_params_that_were_absent_are_written_once_something_is_set(v1: Subject) -> None:
    found = v1.module.decode({"jsonrpc": "2.0", "id": 1, "method": "session/list"}, sender="client")
    found.params.cwd = "/w"
    assert v1.encoded(found)["params"] == {"cwd": "/w"}


def test_params_that_were_null_are_written_once_something_unknown_is_set(v1: Subject) -> None:
    found = v1.module.decode({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": None}, sender="client")
    found.params.unknown_fields["x"] = 1
    assert v1.encoded(found)["params"] == {"x": 1}


def test_what_is_beside_the_envelope_cannot_take_its_place(v1: Subject) -> None:
    notification = v1.runtime.Notification("_x", None, {"method": "_y"})
    with pytest.raises(v1.runtime.EncodeError, match="method"):
        v1.module.encode(notification)


def test_absent_params_are_refused_where_something_is_required(v1: Subject) -> None:
    for params in ({}, {"params": None}):
        error = error_of(v1, {"jsonrpc": "2.0", "id": 1, "method": "session/new", **params})
        assert error.code == PARAMS
        assert {problem.pointer for problem in error.problems} == {"/params"}
        assert "'cwd'" in str(error)


@pytest.mark.parametrize("params", [5, "text", [], [NEW], True, 0.5])
def test_params_that_are_no_object_are_refused(v1: Subject, params: Any) -> None:
    error = error_of(v1, {**REQUEST, "params": params})
    assert (error.code, error.id, error.method) == (PARAMS, 1, "session/new")
    assert [problem.pointer for problem in error.problems] == ["/params"]


# --- responses -------------------------------------------------------------------------------------------------------


def test_a_response_is_read_by_its_method_or_by_the_pending_table(v1: Subject, v2: Subject) -> None:
    for subject in (v1, v2):
        by_method = subject.module.decode(RESULT, sender="agent", method="session/new")
        by_table = subject.module.decode(RESULT, sender="agent", pending={1: "session/new", "1": "session/list"})
        assert by_method == by_table
        assert isinstance(by_method.result, subject.type("NewSessionResponse"))
        assert by_method.method == "session/new"
        for pending in (None, {}, {"1": "session/new"}, {2: "session/new"}):
            error = error_of(subject, RESULT, "agent", pending=pending)
            assert (error.code, error.id) == (ENVELOPE, 1)


def test_a_response_to_an_unknown_method_or_from_the_wrong_side_is_refused(v1: Subject) -> None:
    assert error_of(v1, RESULT, "agent", method="session/gone").code == METHOD
    assert error_of(v1, RESULT, "client", method="session/new").code == ENVELOPE
    assert error_of(v1, RESULT, "agent", method="session/cancel").code == METHOD


def test_a_bad_result_is_an_error_at_its_place(v1: Subject) -> None:
    results: list[tuple[Any, str]] = [({}, ""), ({"sessionId": 5}, "/sessionId"), ([], ""), (None, "")]
    for result, pointer in results:
        error = error_of(v1, {**RESULT, "result": result}, "agent", method="session/new")
        assert (error.code, error.id) == (PARAMS, 1)
        assert [problem.pointer for problem in error.problems] == [f"/result{pointer}"]


def test_a_null_result_is_the_empty_one_where_the_schema_says_so(subjects: Subjects) -> None:
    found = 0
    for name in ("own_v1", "own_v2"):
        subject = subjects(name)
        for row in subject.module.METHODS.values():
            if row.kind != "request" or row.result is None:
                continue
            message = {"jsonrpc": "2.0", "id": 1, "result": None}
            if not row.null_result:
                assert error_of(subject, message, row.side, method=row.name).code == PARAMS
                continue
            answer = subject.module.decode(message, sender=row.side, method=row.name)
            assert answer.result == subject.module.decode_as(row.result, {})
            assert same(subject.encoded(answer), message)
            found += 1
    assert found > 0


# --- batches ---------------------------------------------------------------------------------------------------------


def test_a_batch_decodes_to_a_list_and_comes_back(batches: Subject) -> None:
    batch = [REQUEST, CANCEL, {**REQUEST, "id": "2"}, {"jsonrpc": "2.0", "method": "_x"}]
    found = batches.module.decode(json.dumps(batch), sender="client")
    assert [type(one).__name__ for one in found] == ["Request", "Notification", "Request", "Notification"]
    assert same(batches.encoded(found), batch)
    answers = [RESULT, {**ERROR, "id": 2}]
    read = batches.module.decode(answers, sender="agent", pending={1: "session/new", 2: "session/list"})
    assert same(batches.encoded(read), answers)


def test_a_fault_in_a_batch_names_its_message(batches: Subject) -> None:
    error = error_of(batches, [REQUEST, {**REQUEST, "id": 9, "params": {**NEW, "cwd": 5}}])
    assert (error.code, error.id, error.method) == (PARAMS, 9, "session/new")
    assert [problem.pointer for problem in error.problems] == ["/1/params/cwd"]


# --- errors ----------------------------------------------------------------------------------------------------------


def test_no_value_is_echoed_beyond_eighty_characters(v1: Subject, v2: Subject) -> None:
    long = "secret " * 1000
    huge = 10**5000
    for subject in (v1, v2):
        for value in (long, [long] * 100, {"a": long}, {long: 1}, huge, [huge]):
            for message, sender in (
                (value, "client"),
                ({**REQUEST, "params": value}, "client"),
                ({**REQUEST, "params": {**NEW, "cwd": value}}, "client"),
                ({**REQUEST, "params": {**NEW, "mcpServers": [value]}}, "client"),
                ({**REQUEST, "params": {**NEW, "mcpServers": [{"type": value}]}}, "client"),
                ({**REQUEST, "id": [value]}, "client"),
                ({**REQUEST, "method": f"x{value}" if isinstance(value, str) else value}, "client"),
                ({**REQUEST, "jsonrpc": value}, "client"),
                ({**RESULT, "result": value}, "agent"),
                ({**RESULT, "result": {"sessionId": value}}, "agent"),
            ):
                line = message if value is not huge and value != [huge] else _written(message)
                error = refusal(subject, line, sender=sender, method="session/new", lenient=False)
                assert error is None or all(len(problem.sentence) < 300 for problem in error.problems)


def _written(value: Any) -> str:
    """JSON text with integers that Python's own writer refuses for their length."""
    if isinstance(value, int) and value > 10**4000:
        return "1" + "0" * 5000
    if is_object(value):
        return "{" + ",".join(f"{json.dumps(key)}:{_written(item)}" for key, item in value.items()) + "}"
    if is_array(value):
        return "[" + ",".join(map(_written, value)) + "]"
    return json.dumps(value)


def test_an_unknown_tag_lists_the_known_ones(v1: Subject) -> None:
    value = {"sessionId": "s", "update": {"sessionUpdate": "new_thing"}}
    error = error_of(v1, {"jsonrpc": "2.0", "method": "session/update", "params": value}, "agent")
    assert [problem.pointer for problem in error.problems] == ["/params/update/sessionUpdate"]
    union = v1.protocol.definitions["SessionUpdate"]
    assert isinstance(union, ir.TaggedUnion)
    known = [variant.tag for variant in union.variants]
    assert len(known) > 8
    assert all(repr(tag) in str(error) for tag in known)


def test_what_cannot_be_written_is_an_encode_error(v1: Subject) -> None:
    text = v1.type("TextContent")
    notification = v1.runtime.Notification
    for value in (text(text="\ud800"), notification("_x", {"a": "\udfff"}), notification("_x", {"\ud800": 1})):
        with pytest.raises(v1.runtime.EncodeError):
            v1.module.encode(value)
    for number in (float("nan"), float("inf"), -float("inf")):
        for value in (notification("_x", {"a": [number]}), text(text="NaN", _meta={"a": number}), {"a": number}):
            with pytest.raises(v1.runtime.EncodeError):
                v1.module.encode(value)
    loop: list[Any] = []
    loop.append(loop)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (loop, deep, object(), {"a": object()}):
        with pytest.raises(v1.runtime.EncodeError):
            v1.module.encode(notification("_x", value))


def test_text_that_looks_like_no_number_is_written(v1: Subject) -> None:
    for text in ("NaN", "Infinity", "-Infinity", '"NaN', "1e999"):
        block = v1.type("TextContent")(text=text)
        assert v1.encoded(block) == {"type": "text", "text": text}


@pytest.mark.parametrize("depth", [10, 50, 90, 150])
def test_what_is_nested_deep_is_read_and_written_or_refused(v1: Subject, depth: int) -> None:
    value: Any = "end"
    for _ in range(depth):
        value = {"a": [value]}
    message = {**REQUEST, "params": {**NEW, "_meta": value, "x": value}, "y": value}
    error = refusal(v1, message, sender="client")
    if error is None:
        assert same(v1.encoded(v1.module.decode(message, sender="client")), message)
    else:
        assert error.code == PARSE
        assert depth > 90


# --- whatever comes in -----------------------------------------------------------------------------------------------


@settings(
    max_examples=300,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(line=st.one_of(st.binary(max_size=60), st.text(max_size=60)), sender=st.sampled_from(["agent", "client"]))
def test_random_text_raises_nothing_else(v1: Subject, v2: Subject, line: Any, sender: str) -> None:
    for subject in (v1, v2):
        with pytest.raises(subject.runtime.DecodeError):
            subject.module.decode(line, sender=sender)


@pytest.mark.parametrize("version", [1, 2])
def test_random_damage_to_real_messages_raises_nothing_else(subjects: Subjects, version: int) -> None:
    subject, chance = subjects(f"acp_v{version}"), random.Random(version)
    messages = [row for row in rows(version) if row.is_message]
    verdicts = {True: 0, False: 0}
    for _ in range(1500):
        row = chance.choice(messages)
        message = row.message
        for _ in range(chance.choice((1, 1, 2, 3))):
            message = changed(message, chance.choice(list(nodes(message))), chance.choice(ANYTHING))
        lenient = chance.random() < 0.5
        error = refusal(subject, message, sender=row.sender, method=row.method, lenient=lenient)
        verdicts[error is None] += 1
        if error is not None:
            assert error.code in (PARSE, ENVELOPE, METHOD, PARAMS)
            continue
        found = subject.module.decode(message, sender=row.sender, method=row.method, lenient=lenient)
        written = subject.encoded(found)
        assert lenient or same(written, message)
        assert subject.module.decode(written, sender=row.sender, method=row.method, lenient=False) == found
    assert min(verdicts.values()) > 100, verdicts


@pytest.mark.parametrize("version", [1, 2])
def test_random_damage_to_the_text_of_real_messages_raises_nothing_else(subjects: Subjects, version: int) -> None:
    subject, chance = subjects(f"acp_v{version}"), random.Random(version)
    messages = [row for row in rows(version) if row.is_message]
    for _ in range(1500):
        row = chance.choice(messages)
        line = bytearray(json.dumps(row.message, ensure_ascii=chance.random() < 0.5).encode())
        for _ in range(chance.choice((1, 1, 2, 5))):
            place = chance.randrange(len(line))
            there = bytes(chance.choices(b'{}[]":,0123e-.x\\u\xff\x00tn', k=chance.choice((0, 1, 2))))
            line[place : place + chance.choice((0, 1, 1, 20))] = there
        try:
            found = subject.module.decode(bytes(line), sender=row.sender, method=row.method, lenient=False)
        except subject.runtime.DecodeError:
            continue
        assert same(subject.encoded(found), json.loads(line))
