"""The run-time's reader of JSON text by itself: what it gives, what it refuses, and with which code and place."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import pytest

from jsonrpc_bindings import json_types
from jsonrpc_bindings.errors import LIMIT, DecodeError
from jsonrpc_bindings.parse import TooManyValues, copy_value, parse, parse_with_duplicates
from test_doubling import ending

NOT_JSON, INVALID = -32700, -32600


def refused(line: Any, **options: Any) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        parse(line, **options)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        *("null", "true", "0", "-0", "1.5", "1e2", '""', '"a"', "[]", "{}", "[[],{}]", '{"":""}', ' {"a" : [1, 2 ] } '),
        *('"\\u00e9\\n\\"\\\\\\/"', '"\\ud83d\\ude00"', '"é😀"', "12345678901234567890123", "\t\r\n1\n", '{"a:":":"}'),
    ],
)
@pytest.mark.parametrize("kind", [str, bytes, bytearray])
def test_json_text_is_read_as_the_standard_library_reads_it(text: str, kind: Any) -> None:
    line = text if kind is str else kind(text, "utf-8")
    found, expected = parse(line), json.loads(text)
    assert found == expected and type(found) is type(expected)
    assert parse_with_duplicates(line) == (expected, ())


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            " ",
            "nul",
            "{",
            "[1,]",
            '{"a":1,}',
            "{'a':1}",
            "01",
            "1.",
            ".5",
            "+1",
            "--1",
            "1 2",
            '"a',
            '"\x01"',
            "//a",
        ),
        *(
            "NaN",
            "Infinity",
            "-Infinity",
            "[NaN]",
            '{"a":-Infinity}',
            '"\\x"',
            '"\\ud800"',
            '"\\ude00\\ud83d"',
            "[" * 5000,
        ),
        *(b'"\xff"', b'"\xc3"', b'"\xed\xa0\x80"', b"\xff\xfe1\x00", "\ufeff1", "1\x00", '"\ud800"'),
    ],
)
def test_what_is_not_json_is_refused_as_such(line: Any) -> None:
    error = refused(line)
    assert (error.code, error.id, error.method) == (NOT_JSON, None, None)
    (problem,) = error.problems
    assert (problem.pointer, problem.schema) == ("", "") and problem.sentence.startswith("this is not JSON: ")


BEYOND = 2**53 + 1
"""The smallest integer that no binary number is equal to."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{BEYOND}.0", BEYOND),
        (f"-{BEYOND}.000", -BEYOND),
        (f"{BEYOND}00e-2", BEYOND),
        ("9.007199254740993e15", BEYOND),
        ("12345678901234567890.0", 12345678901234567890),
        ("9007199254740992.0", 2.0**53),
        ("1.0000000000000000", 1.0),
        ("0.0000000000000000e9", 0.0),
        ("1.00000000000000000000e23", 1e23),  # which Python writes with the digits that the text has
        ("9007199254740993.5", 9007199254740994.0),
        ("1.00000000000000000001", 1.0),
        ("1.0000000000000000e-9999999999999999999", 0.0),
        ("1.2345678901234567", 1.2345678901234567),
    ],
)
def test_a_number_without_a_fraction_is_the_integer_that_its_text_denotes(text: str, expected: float) -> None:
    for found in (parse(text), parse(f'[{{"a":"\\u00e9","b":[{text},-0]}}]')[0]["b"][0]):
        assert (found, type(found)) == (expected, type(expected))
    assert parse_with_duplicates(f'{{"a":{text},"a":{text}}}')[1]


@pytest.mark.parametrize(
    "id_", ["1.00000000000000000001", "9007199254740993.5", "-1.0000000000000000e-400", "1e-400", "-1E-0999"]
)
def test_an_id_whose_fraction_is_lost_is_refused_as_no_answer_could_carry_it(id_: str) -> None:
    call = f'{{"jsonrpc":"2.0","id":{id_},"method":"m","params":{{"id":{id_}}}}}'
    for line, pointer in ((call, "/id"), (f'[{{"id":"x"}},{call}]', "/1/id")):
        error = refused(line, duplicates="last")
        assert (error.code, error.id, error.method) == (INVALID, None, "m")
        (problem,) = error.problems
        assert problem.pointer == pointer and "fraction, which is lost" in problem.sentence
    assert parse(f'{{"params":{{"id":{id_}}}}}')


@pytest.mark.parametrize("digits", [200_000, 400_000])
def test_long_numbers_are_read_in_time_that_grows_with_them(digits: int) -> None:
    with ending():
        assert parse(f'[2.0,"{"1" * digits}"]') == [2.0, "1" * digits]
        assert parse(f"[2.{'0' * digits}]") == [2.0]
        assert parse("[" + "9007199254740993.0," * (digits // 20) + "1]")[0] == BEYOND


@pytest.mark.parametrize("line", ["1e999", "-1e999", '{"a":[{"b":1e999}]}', '[1,"x",[2,[-1e999]]]'])
def test_a_number_that_overflows_is_refused_wherever_it_stands(line: str) -> None:
    error = refused(line)
    assert error.code == NOT_JSON and "a number is too large" in error.problems[0].sentence


@pytest.mark.parametrize(
    ("line", "pointers"),
    [
        ('{"a":1,"a":1}', ["/a"]),
        ('{"a":1,"\\u0061":2}', ["/a"]),
        ('{"a" : 1 , "a"\t:\n2}', ["/a"]),
        ('{"":1,"":2}', ["/"]),
        ('{"a/b~":1,"a/b~":2}', ["/a~1b~0"]),
        ('[[],{"x":{"a":1,"a":2,"a":3}}]', ["/1/x/a"]),
        ('{"b":{"c":1,"c":2},"a":1,"b":{"d":1,"d":2},"a":2}', ["/b", "/a", "/b/d"]),
        ('[{"a":1,"a":2},{"b":1},{"c":{"d":1,"d":2}}]', ["/0/a", "/2/c/d"]),
        ('{"k\\\\":1,"k\\\\":2}', ["/k\\"]),
        ('{"k\\"":1,"k\\"":2}', ['/k"']),
        ('{"t":"a\\":","a":1,"a":2}', ["/a"]),
        ('{"t":"::::","a":1,"a":2}', ["/a"]),
    ],
)
def test_each_key_that_an_object_gives_twice_is_named_by_its_place(line: str, pointers: list[str]) -> None:
    error = refused(line)
    assert error.code == INVALID
    assert [problem.pointer for problem in error.problems] == pointers
    assert all("occurs more than once in one object" in problem.sentence for problem in error.problems)
    value, problems = parse_with_duplicates(line)
    assert value == json.loads(line) == parse(line, duplicates="last")
    assert problems == error.problems


def test_what_the_last_of_equal_keys_hides_is_not_told() -> None:
    value, problems = parse_with_duplicates('{"a":{"b":1,"b":2},"a":3}')
    assert value == {"a": 3} and [problem.pointer for problem in problems] == ["/a"]


@pytest.mark.parametrize(
    "line",
    [
        *('{"a":1,"A":1}', '{"a":{"a":{"a":1}}}', '[{"a":1},{"a":1}]', '{"a":"\\"a\\":","b":"{\\"a\\":1,\\"a\\":2}"}'),
        *('{"é":1,"e\u0301":1}', '{"a":":","b":"\\\\"}', '{"\\\\":1,"\\\\\\\\":1}', '{"a":1,"a ":1}'),
    ],
)
def test_keys_that_differ_are_no_duplicates(line: str) -> None:
    assert parse(line) == json.loads(line)


@pytest.mark.parametrize(
    ("line", "id_", "method"),
    [
        ('{"id":7,"method":"m","a":1,"a":2}', 7, "m"),
        ('{"id":"7","method":"m","params":{"id":1,"id":2,"method":"n","method":"o"}}', "7", "m"),
        ('{"id":1.5,"id":7,"method":"m"}', None, "m"),
        ('{"id":1.5,"method":"m","method":"n"}', 1.5, None),
        ('{"id":[],"method":{},"a":1,"a":2}', None, None),
        ('[{"id":1,"id":2}]', None, None),
    ],
)
def test_the_error_tells_of_the_envelope_what_is_not_in_doubt(line: str, id_: Any, method: str | None) -> None:
    error = refused(line)
    assert (error.code, error.id, error.method) == (INVALID, id_, method)


def test_a_hundred_keys_are_told_and_that_there_are_more() -> None:
    def problems(count: int) -> tuple[Any, ...]:
        return refused("{" + ",".join(f'"k{n}":1,"k{n}":2' for n in range(count)) + "}").problems

    assert len(problems(LIMIT)) == LIMIT and problems(LIMIT)[-1].pointer == f"/k{LIMIT - 1}"
    more = problems(LIMIT + 1)
    assert len(more) == LIMIT + 1 and more[-1].pointer == "" and "more problems" in more[-1].sentence


@pytest.mark.parametrize(
    ("line", "values"),
    [
        *(("1", 1), ("[]", 1), ("{}", 1), ("[ \t\r\n]", 1), ("[1]", 2), ("[1,2]", 3), ("[[],[]]", 3), ("[[[]]]", 3)),
        *(('{"a":1}', 2), ('{"a":{"b":[1,2]}}', 5), ('{"a":",,,[[[{{{"}', 2), ('["\\",[",1]', 3), ('["\\\\",[1]]', 4)),
        *((f"[{'[],' * 50}1]", 52), (f"[{'{},' * 50}1]", 52), (f"[{','.join('1' * 99)}]", 100)),
    ],
)
def test_values_are_counted_as_json_has_them(line: str, values: int) -> None:
    for count in (values, values + 1):
        assert parse(line, values=count) == json.loads(line)
    for count in range(1, values):
        error = refused(line, values=count)
        assert isinstance(error, TooManyValues) and error.code == INVALID
        assert error.problems[0].sentence == f"the message holds more than {count} values"


def test_too_many_values_are_refused_before_anything_else_is_looked_at() -> None:
    for line in ('[1,2,3,"', "[" * 100_000, '{"a":1,"a":2,"b":3}', "[1e999,1,1]"):
        assert isinstance(refused(line, values=3, duplicates="last"), TooManyValues)


def test_a_parsed_value_is_read_as_its_text_would_be() -> None:
    value: dict[str, Any] = {"a": [1, 2.5, None, True, "é"], "b": {}, "c": (1, 2)}
    assert copy_value(value) == {**value, "c": [1, 2]}
    assert copy_value({Name("a"): Name("b"), "n": [Colour.RED]}) == {"a": "b", "n": [1]}
    assert type(copy_value(10**30)) is int


class Name(str):
    """Text of its own class."""

    __slots__ = ()


class Colour(IntEnum):
    """A number of its own class."""

    RED = 1


@pytest.mark.parametrize(
    ("value", "pointer", "said"),
    [
        *((b"{}", "", ""), (bytearray(b"1"), "", ""), ({1, 2}, "", "set"), ("\ud800", "", "surrogate")),
        *((float("nan"), "", "compliant"), ({"a": ["x", float("inf")]}, "/a/1", "compliant")),
        *(
            ({key: 2}, "", f"the keys of an object are strings, not {key!r}")
            for key in (1, 1.5, None, True, (1,), b"x")
        ),
        ({1: 2, "1": 3}, "", "strings, not 1"),
        ({"a": [{"b": ({Colour.RED: 1},)}]}, "/a/0/b/0", "strings, not <Colour.RED: 1>"),
        ([{Name("a"): {2: Name("b")}}], "/0/a", "strings, not 2"),
    ],
)
def test_a_value_that_no_json_holds_is_refused(value: Any, pointer: str, said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        copy_value(value)
    assert caught.value.code == NOT_JSON
    assert caught.value.problems[0].pointer == pointer and said in str(caught.value)


def test_bytes_in_the_place_of_a_parsed_value_are_told_apart() -> None:
    with pytest.raises(DecodeError, match=r"pass json\.loads"):
        copy_value(b"{}")


def test_a_value_within_itself_or_nested_without_end_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    for value in (endless, deep):
        with pytest.raises(DecodeError) as caught:
            copy_value(value)
        assert caught.value.code == NOT_JSON
    with pytest.raises(TooManyValues):
        copy_value([1, 2, 3], values=3)


@pytest.mark.parametrize(
    ("value", "whole"),
    [(1e23, 10**23), (-1e23, -(10**23)), (2.0**53, 2**53), (2.0**53 - 1, 2**53 - 1), (-0.0, 0), (1e300, 10**300)],
)
def test_a_number_without_a_fraction_is_the_integer_of_its_text(value: float, whole: int) -> None:
    assert json_types.to_integer(value) == whole


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        *(({}, (True, False)), ([], (False, True)), ((), (False, False)), ("", (False, False)), (None, (False, False))),
    ],
)
def test_what_a_value_is(value: Any, kinds: tuple[bool, bool]) -> None:
    assert (json_types.is_object(value), json_types.is_array(value)) == kinds
