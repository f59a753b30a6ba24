"""Strict parsing of JSON text: whatever is not JSON is rejected, always with the same exception."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import Any, Final, Literal, TypeAlias

import jiter
import msgspec

from .errors import INVALID_REQUEST, PARSE_ERROR, DecodeError, Problem, describe_key, limit_problems, quote
from .json_types import Mismatch, is_array, is_object, is_sequence, to_integer
from .pointers import json_pointer

Duplicates: TypeAlias = Literal["refuse", "last"]
"""The treatment of an object with a duplicate key: it is rejected, or the last value counts."""

LineReader: TypeAlias = Callable[[bytes, int], Any]
"""Decodes the text of a message that has at most this number of values."""

VALUES: Final = 500_000
"""The default limit of values in one message: each is at least two bytes of text, and up to 250 bytes once decoded."""

DEEPEST: Final = 200
"""The nesting depth that every parser reads: their limits differ. Each level is one bracket."""

_STEPS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|,|[\[{](?![ \t\r\n]*[\]}])', re.DOTALL)
"""Each string, and each character outside of strings after which a further value follows."""

BACKSLASH: Final = ord("\\")
"""An integer: Python finds it in `bytes` faster than another `bytes`."""

FAILURES: Final = (Mismatch, msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
"""What msgspec and its hooks raise for a value that they cannot encode or decode."""


class TooManyValues(DecodeError):
    """A message that has more values than the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(INVALID_REQUEST, (Problem("", "", f"the message holds more than {limit} values"),))


def parse(line: bytes | bytearray | str, *, duplicates: Duplicates = "refuse", values: int = VALUES) -> Any:
    """Parse a line of UTF-8 text.

    A number without a fraction becomes the integer of its text: no double equals 9007199254740993.0, so it becomes an `int`.

    Raises `DecodeError`: with -32700 for text that is not JSON; with -32600 and the pointer of each duplicate key, unless the last value
    is to count. Such text is grammatical, so it can be parsed, but which value is meant is undefined. Also with -32600 if the id of a
    message is a number whose fraction would be lost: no response could have that id. Raises `TooManyValues`, a `DecodeError`, with
    -32600 for text of more than `values` values, before it is parsed.
    """
    value, problems = parse_with_duplicates(line, values=values)
    if problems and duplicates == "refuse":
        raise DecodeError(INVALID_REQUEST, problems, **_read_envelope(value, {problem.pointer for problem in problems}))
    return value


def parse_with_duplicates(line: bytes | bytearray | str, *, values: int = VALUES) -> tuple[Any, tuple[Problem, ...]]:
    """Parse JSON; the last value of a duplicate key counts. Returns the value, and a problem for each duplicate key.

    Raises as `parse`.
    """
    text = to_text(line)
    if len(text) > values and _holds_more(text, values):
        raise TooManyValues(values)
    try:
        return read_untyped(text, len(text)), ()
    except FAILURES:
        pass
    try:
        jiter.from_json(text, allow_inf_nan=False)  # which is stricter, and says what is wrong
    except ValueError as error:
        raise make_json_error(str(error)) from None
    return _parse_exactly(text)


def is_plain(value: Any) -> bool:
    """Whether a value is plain JSON as a parser returns it. A value that is nested too deep, or contains itself, is not."""
    try:
        refuse_deep(_write_sorted(value))
    except FAILURES:
        return False
    return True


def to_float(text: str) -> float:
    """The value of a number with a fraction or an exponent. Raises `Mismatch` if the float may differ from the number in the text."""
    value = float(text)
    if value - value != 0 or (len(text) > (15 if value else 4) and value.is_integer()):  # so short, nothing was rounded
        raise Mismatch
    return value


untyped: Final = msgspec.json.Decoder(float_hook=to_float).decode
"""Parses JSON text to plain values; the last value of a duplicate key counts. Raises `Mismatch` as `to_float`."""

write_untyped: Final = msgspec.json.Encoder().encode
"""Writes plain values as JSON text."""

_write_sorted: Final = msgspec.json.Encoder(order="deterministic").encode
"""Writes plain values as JSON text. With an order, msgspec rejects keys that are no strings, which it writes as text otherwise."""


def make_line_reader(
    decode: Callable[[bytes], Any],
    encode: Callable[[Any], bytes],
    keep: Callable[[Any, bytes, int], None] | None = None,
    recover: Callable[[bytes, int, str], Any] | None = None,
) -> LineReader:
    """A line reader that detects keys which the decoder skipped: each has a colon, which is missing in what `encode` writes of the
    value.

    `keep` gets the number of missing colons; without it, none may be missing. `recover` decodes what the decoder rejects, and gets the
    error. The reader raises one of `FAILURES` for a line that the decoder rejects, that may have more `values` or is nested too deep, or
    whose keys cannot be counted this way.
    """

    def read(line: bytes, values: int) -> Any:
        size = len(line)
        if size > values and not holds_at_most(line, values):
            raise Mismatch
        try:
            value = decode(line)
        except msgspec.ValidationError as error:
            if recover is None:
                raise
            return recover(line, values, str(error))
        colons = line.count(b":")
        if size > FLAT + colons and colons + size - len(line.replace(b"[", b"")) > DEEPEST:
            refuse_deep(line)
        if BACKSLASH in line and (
            line.find(b"\\u003a") >= 0 or line.find(b"\\u003A") >= 0 or line.find(b"\\u0000") >= 0
        ):
            raise Mismatch
        remaining = colons - encode(value).count(b":")
        if remaining:
            if keep is None:
                raise Mismatch
            keep(value, line, remaining)
        return value

    return read


read_untyped: Final = make_line_reader(untyped, write_untyped)
"""Parses plain values without duplicate keys."""


def copy_value(value: Any, *, values: int = VALUES) -> Any:
    """Copy a parsed JSON value, with the checks of `parse`."""
    if isinstance(value, bytes | bytearray):
        raise DecodeError(PARSE_ERROR, (Problem("", "", _UNPARSED),))
    return parse(_serialize(value), values=values)


def to_text(line: Any) -> bytes:
    """JSON text as UTF-8; any other value is taken as parsed JSON and serialized. Raises `DecodeError`."""
    if isinstance(line, bytes | bytearray):
        return bytes(line)  # bytes stay what they are
    return _encode(line) if isinstance(line, str) else _serialize(line)


def _serialize(value: Any) -> bytes:
    try:
        text = _dump(value)
        _write_sorted(value)  # which refuses keys that are no strings, and subclasses of the types of JSON
    except FAILURES:
        _refuse_misfit(value)
        text = _dump(value)
    return text


def _dump(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise make_json_error(str(error)) from None
    return _encode(text)


def _refuse_misfit(root: Any) -> None:
    """Raise `DecodeError` for the first part of a value that JSON cannot express; not for a value that is nested too deep to search."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    while stack and len(stack[-1][0]) <= DEEPEST:
        path, value = stack.pop()
        try:
            keys: Any = value if is_object(value) else ()
            for key in (key for key in keys if not isinstance(key, str)):
                raise make_json_error(describe_key(key))
            if not (is_object(value) or is_sequence(value)):
                _dump(value)
        except DecodeError as error:
            raise DecodeError(error.code, (replace(error.problems[0], pointer=json_pointer(path)),)) from None
        members = value.items() if is_object(value) else enumerate(value) if is_sequence(value) else ()
        stack += [((*path, key), item) for key, item in reversed(list(members))]


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise make_json_error(f"a string holds {_HALF}") from None


def holds_at_most(line: bytes, values: int) -> bool:
    """Whether a line has at most this number of values, from a count of its commas and opening brackets."""
    return line.count(b",") + _count(line, b"[") + _count(line, b"{") < values


def _count(line: bytes, byte: bytes) -> int:
    """Count a byte in a line that has few of them; `replace` is faster than comparing each byte."""
    return len(line) - len(line.replace(byte, b""))


def refuse_deep(line: bytes) -> None:
    """Raise `ValueError` for a line that is nested deeper than the other parser allows."""
    if len(line) <= FLAT:
        return
    arrays = _count(line, b"[")
    if arrays + len(line) // 5 <= DEEPEST or arrays + _count(line, b"{") <= DEEPEST:  # an object takes five characters
        return
    if BACKSLASH not in line:
        brackets = b"".join(line.translate(None, _TEXT).replace(b'""', b"").split(b'"')[::2])
        for _ in range(_LEVELS):  # most lines have few levels, each of which goes at once
            brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if len(brackets) <= DEEPEST:
            return
    jiter.from_json(line, cache_mode="keys")


_TEXT: Final = bytes(byte for byte in range(256) if byte not in b'"[]{}')
_LEVELS: Final = 12
FLAT: Final = 2 * DEEPEST
"""The length up to which text, without its colons, cannot be nested too deep: each level takes two brackets."""


def _holds_more(text: bytes, limit: int) -> bool:
    """Whether JSON text has more values than these, without parsing it."""
    if holds_at_most(text, limit):
        return False
    quote, count = b'"'[0], 1
    for match in _STEPS.finditer(text):
        count += text[match.start()] != quote
        if count > limit:
            return True
    return False


def _parse_exactly(text: bytes) -> tuple[Any, tuple[Problem, ...]]:
    """Parse JSON text, with the exact integers of its numbers, and a problem for each duplicate key.

    Raises `DecodeError` for a number that overflows, and for an id whose fraction is lost.
    """
    rounded_numbers: list[float] = []
    twice: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            times = Counter(key for key, _ in pairs)
            twice[id(value)] = value, [key for key in times if times[key] > 1]
        return value

    value = json.loads(
        text, object_pairs_hook=keep, parse_int=_parse_integer, parse_float=make_number_parser(rounded_numbers.append)
    )
    rounded = set(map(id, rounded_numbers))
    for path, message in [((index,), item) for index, item in enumerate(value)] if is_array(value) else [((), value)]:
        if is_object(message) and id(message.get("id")) in rounded:
            problem = Problem(json_pointer((*path, "id")), "", _LOST)
            raise DecodeError(INVALID_REQUEST, (problem,), method=_read_envelope(message, set())["method"])
    return value, limit_problems(_find_duplicates(value, twice)) if twice else ()


def _parse_integer(literal: str) -> Any:
    return jiter.from_json(literal.encode())


def make_number_parser(on_loss: Callable[[float], object] | None = None) -> Callable[[str], int | float]:
    """A parser of numbers with a fraction or an exponent: an integral one that no double equals becomes an `int`.

    `on_loss` gets each integral float whose text has a fraction that was lost.
    """

    def read(literal: str) -> int | float:
        number = float(literal)
        if isinf(number):
            raise make_json_error("a number is too large")
        if not number.is_integer():
            return number
        try:
            decimal = Decimal(literal)
        except InvalidOperation:  # so small that it has no place among decimals
            decimal = None
        if decimal is not None and decimal == decimal.to_integral_value():
            return number if decimal == to_integer(number) else int(decimal)
        if on_loss is not None:
            on_loss(number)
        return number

    return read


def _find_duplicates(root: Any, twice: Mapping[int, tuple[Any, list[str]]]) -> Iterator[Problem]:
    """Yield a problem for each duplicate key in a value, in which the last value of each key counts."""
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(root, ())]
    while stack:
        value, path = stack.pop()
        for key in twice[id(value)][1] if id(value) in twice else ():
            sentence = (
                f"the key {quote(key)} occurs more than once in one object, and readers differ in which value they take"
            )
            yield Problem(json_pointer((*path, key)), "", sentence)
        if is_object(value):
            stack.extend((item, (*path, key)) for key, item in reversed(value.items()))
        elif is_array(value):
            stack.extend((item, (*path, index)) for index, item in reversed(list(enumerate(value))))


def _read_envelope(value: Any, doubtful: set[str]) -> dict[str, Any]:
    """The id and the method of a message, unless their keys are duplicates."""
    members = value if is_object(value) else {}
    id_, method = members.get("id"), members.get("method")
    return {
        "id": id_ if isinstance(id_, str | int | float) and "/id" not in doubtful else None,
        "method": method if isinstance(method, str) and "/method" not in doubtful else None,
    }


_LOST: Final = "the id of a message is text or an integer; this number has a fraction, which is lost when it is read"
_UNPARSED: Final = "these are bytes, and what is read here is parsed JSON: pass json.loads(value)"


_HALF: Final = "half of a surrogate pair; write both halves, or the character itself"

_SENTENCES: Final = {
    "EOF while parsing a list": "the text ends inside an array; close it with ']'",
    "EOF while parsing a string": "the text ends inside a string; close it with '\"'",
    "EOF while parsing a value": "the text ends where a value is expected; a message must be whole",
    "EOF while parsing an object": "the text ends inside an object; close it with '}'",
    "control character (\\u0000-\\u001F) found while parsing a string": "a string holds a control character; escape it, such as \\n",
    "expected `,` or `]`": "expected ',' or ']' after an item",
    "expected `,` or `}`": "expected ',' or '}' after a member",
    "expected `:`": "expected ':' after a key",
    "expected ident": "expected true, false or null; put text in double quotes",
    "expected value": "expected a value; put text in double quotes",
    "invalid escape": "this escape is not known; write a backslash as \\\\",
    "invalid number": "a number has this form: -1, 0.5, 2e9",
    "invalid unicode code point": "this byte is not UTF-8; encode the text as UTF-8",
    "key must be a string": "expected a key in double quotes",
    "lone leading surrogate in hex escape": f"this is {_HALF}",
    "number out of range": "this number is too long",
    "recursion limit exceeded": "this is nested too deep",
    "trailing characters": "something follows the value; send each message by itself",
    "trailing comma": "no ',' may stand before a closing bracket; remove it",
    "unexpected end of hex escape": f"this is {_HALF}",
}
"""Sentences for users in place of the messages of the parser."""


def make_json_error(reason: str) -> DecodeError:
    """The error for text that is not JSON, with a reason: a message of the parser, which ends with the position, or a sentence of this
    module.
    """
    match = re.fullmatch(r"(.*) at (line \d+) (column \d+)", reason, re.DOTALL)
    if match:
        sentence, semicolon, remedy = _SENTENCES.get(match[1], match[1]).partition(";")
        # a line of a file has a number of its own
        place = match[3] if match[2] == "line 1" else f"{match[2]}, {match[3]}"
        reason = f"{sentence} at {place}{semicolon}{remedy}"
    return DecodeError(PARSE_ERROR, (Problem("", "", f"this is not JSON: {reason}"),))
