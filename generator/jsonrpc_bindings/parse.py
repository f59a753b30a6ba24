"""From text to JSON values, strictly: what no JSON may hold is refused and never raises anything else."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import Any, Final, Literal, TypeAlias

import jiter
import msgspec

from .errors import INVALID_REQUEST, PARSE_ERROR, DecodeError, Problem, limited, quote
from .json_types import Mismatch, integer_of, is_array, is_object
from .pointers import json_pointer

Duplicates: TypeAlias = Literal["refuse", "last"]
"""What becomes of an object that gives one key twice: it is refused, or the last value counts."""

LineReader: TypeAlias = Callable[[bytes, int], Any]
"""Reads the text of a message that holds no more values than these."""

VALUES: Final = 500_000
"""How many values one message may hold, where nothing else is asked for: one is two bytes or more, and up to 250 once it is read."""

DEEPEST: Final = 150
"""So deep a value may be nested that every parser reads: they differ in how deep they go. Each level takes a bracket."""

_STEPS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|,|[\[{](?![ \t\r\n]*[\]}])', re.DOTALL)
"""Each string, and each character outside of them that a further value follows."""

BACKSLASH: Final = ord("\\")
"""An integer is found faster than bytes."""

FAILURES: Final = (Mismatch, msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
"""What msgspec and its hooks raise for a value that they do not write, or do not read."""


class TooManyValues(DecodeError):
    """A message that holds more values than are read."""

    def __init__(self, most: int) -> None:
        super().__init__(INVALID_REQUEST, (Problem("", "", f"the message holds more than {most} values"),))


def parse(line: bytes | bytearray | str, *, duplicates: Duplicates = "refuse", values: int = VALUES) -> Any:
    """The JSON value of a line of UTF-8 text.

    A number without a fraction is the integer that its text denotes: 9007199254740993.0 is no binary number, and becomes an `int`.

    Raises `DecodeError`: with -32700 for what is not JSON; with -32600 and the pointer of each key that an object gives twice, unless the
    last is to count. Such text is JSON by its grammar, so it can be parsed; which of the values was meant cannot be told. With -32600 also
    for the id of a message if it is a number with a fraction that is lost when it is read: no answer could carry that id. Raises
    `TooManyValues`, a `DecodeError`, with -32600 for text that holds more `values` than these, before it is read.
    """
    value, problems = parse_with_duplicates(line, values=values)
    if problems and duplicates == "refuse":
        raise DecodeError(INVALID_REQUEST, problems, **_envelope(value, {problem.pointer for problem in problems}))
    return value


def parse_with_duplicates(line: bytes | bytearray | str, *, values: int = VALUES) -> tuple[Any, tuple[Problem, ...]]:
    """The JSON value, in which the last of equal keys counts, and a problem for each key that an object gives twice.

    Raises as `parse`.
    """
    text = text_of(line)
    if len(text) > values and _holds_more(text, values):
        raise TooManyValues(values)
    try:
        return read_untyped(text, len(text)), ()
    except FAILURES:
        pass
    try:
        jiter.from_json(text, allow_inf_nan=False)  # which is stricter, and says what is wrong
    except ValueError as error:
        raise not_json(str(error)) from None
    return _exactly(text)


def is_plain(value: Any) -> bool:
    """Whether a value is what a parser gives. One that is nested too deep is not, nor one that holds itself."""
    try:
        refuse_deep(_write(value))
    except FAILURES:
        return False
    return True


def float_of(text: str) -> float:
    """The value of a number that has a fraction or an exponent. Raises `Mismatch` where that is not the number that is meant."""
    value = float(text)
    if value - value != 0 or (len(text) > (15 if value else 4) and value.is_integer()):  # so short, nothing was rounded
        raise Mismatch
    return value


untyped: Final = msgspec.json.Decoder(float_hook=float_of).decode
"""Reads JSON text as plain values; the last of equal keys counts. Raises `Mismatch` as `float_of`."""

_write: Final = msgspec.json.Encoder().encode


def colons_of(value: Any) -> int:
    """How many colons the text of plain JSON has."""
    return _write(value).count(b":")


def line_reader(
    decode: Callable[[bytes], Any],
    encode: Callable[[Any], bytes],
    keep: Callable[[Any, bytes, int], None],
    mend: Callable[[bytes, int, str], Any] | None = None,
) -> LineReader:
    """What reads a line by a decoder that passes over keys: each takes a colon, which is missing in what `encode` writes of the value.

    `keep` is told how many are missing, and `mend` reads what the decoder refuses, and why. The reader raises one of `FAILURES` for a line
    that the decoder refuses, that may hold more `values` or is nested too deep, or of which the keys cannot be counted so.
    """

    def read(line: bytes, values: int) -> Any:
        if len(line) > values and not holds_at_most(line, values):
            raise Mismatch
        try:
            value = decode(line)
        except msgspec.ValidationError as error:
            if mend is None:
                raise
            return mend(line, values, str(error))
        colons = line.count(b":")
        if len(line) > _FLAT + colons and colons + len(line) - len(line.replace(b"[", b"")) > DEEPEST:
            refuse_deep(line)
        if BACKSLASH in line and (
            line.find(b"\\u003a") >= 0 or line.find(b"\\u003A") >= 0 or line.find(b"\\u0000") >= 0
        ):
            raise Mismatch
        left = colons - encode(value).count(b":")
        if left:
            keep(value, line, left)
        return value

    return read


def _lose(_: Any, __: bytes, ___: int) -> None:
    """Where a key is missing, it was given twice."""
    raise Mismatch


read_untyped: Final = line_reader(untyped, _write, _lose)
"""Reads plain values in which no key is given twice."""


def copied(value: Any, *, duplicates: Duplicates = "refuse", values: int = VALUES) -> Any:
    """A parsed JSON value as `parse` gives it, and refused as there: Python tells the key 1 from "1", and JSON does not."""
    if isinstance(value, bytes | bytearray):
        raise DecodeError(PARSE_ERROR, (Problem("", "", _UNPARSED),))
    return parse(_written(value), duplicates=duplicates, values=values)


def text_of(line: Any) -> bytes:
    """JSON text as UTF-8; what is no text is a parsed value, and written. Raises `DecodeError`."""
    if isinstance(line, bytes | bytearray):
        return bytes(line)  # bytes stay what they are
    return _encoded(line) if isinstance(line, str) else _written(line)


def _written(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise not_json(str(error)) from None
    return _encoded(text)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise not_json(f"a string holds {_HALF}") from None


def holds_at_most(line: bytes, values: int) -> bool:
    """Whether a line holds no more values than these, told by what a further value follows."""
    return line.count(b",") + _count(line, b"[") + _count(line, b"{") < values


def _count(line: bytes, one: bytes) -> int:
    """How often a byte stands in a line that has few of them: to look for the next one is faster than to compare each."""
    return len(line) - len(line.replace(one, b""))


def refuse_deep(line: bytes) -> None:
    """Raise `ValueError` for a line that is nested deeper than the other parser goes."""
    if len(line) <= _FLAT or _count(line, b"{") + _count(line, b"[") <= DEEPEST:
        return
    if BACKSLASH not in line:
        brackets = b"".join(line.translate(None, _TEXT).replace(b'""', b"").split(b'"')[::2])
        for _ in range(_LEVELS):  # most lines have few levels, each of which goes at once
            brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if len(brackets) <= DEEPEST:
            return
    jiter.from_json(line, cache_mode="keys")


_TEXT: Final = bytes(one for one in range(256) if one not in b'"[]{}')
_LEVELS: Final = 12
_FLAT: Final = 2 * DEEPEST
"""So long a text is no deeper, but for its colons: each level takes two brackets."""


def _holds_more(text: bytes, most: int) -> bool:
    """Whether JSON text holds more values than these, told without reading them."""
    if holds_at_most(text, most):
        return False
    quote, count = b'"'[0], 1
    for found in _STEPS.finditer(text):
        count += text[found.start()] != quote
        if count > most:
            return True
    return False


def _exactly(text: bytes) -> tuple[Any, tuple[Problem, ...]]:
    """The value of JSON text with the integers that its numbers denote, and a problem for each key that an object gives twice.

    Raises `DecodeError` for a number that overflows, and for an id whose fraction is lost.
    """
    lost: list[float] = []
    twice: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            times = Counter(key for key, _ in pairs)
            twice[id(value)] = value, [key for key in times if times[key] > 1]
        return value

    value = json.loads(text, object_pairs_hook=keep, parse_int=_integer, parse_float=meant(lost.append))
    rounded = set(map(id, lost))
    for path, message in [((index,), item) for index, item in enumerate(value)] if is_array(value) else [((), value)]:
        if is_object(message) and id(message.get("id")) in rounded:
            problem = Problem(json_pointer((*path, "id")), "", _LOST)
            raise DecodeError(INVALID_REQUEST, (problem,), method=_envelope(message, set())["method"])
    return value, limited(_duplicates(value, twice)) if twice else ()


def _integer(written: str) -> Any:
    return jiter.from_json(written.encode())


def meant(on_loss: Callable[[float], object] | None = None) -> Callable[[str], int | float]:
    """Reads numbers that are not written as integers: one without a fraction as the integer that it is, if no binary number is as large.

    `on_loss` gets the binary integers that stand for numbers with a fraction.
    """

    def read(written: str) -> int | float:
        number = float(written)
        if isinf(number):
            raise not_json("a number is too large")
        if not number.is_integer():
            return number
        try:
            decimal = Decimal(written)
        except InvalidOperation:  # so small that it has no place among decimals
            decimal = None
        if decimal is not None and decimal == decimal.to_integral_value():
            return number if decimal == integer_of(number) else int(decimal)
        if on_loss is not None:
            on_loss(number)
        return number

    return read


def _duplicates(whole: Any, twice: Mapping[int, tuple[Any, list[str]]]) -> Iterator[Problem]:
    """A problem for each key that an object gives twice, of the objects that the value holds where the last counts."""
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(whole, ())]
    while waiting:
        value, path = waiting.pop()
        for key in twice[id(value)][1] if id(value) in twice else ():
            sentence = (
                f"the key {quote(key)} occurs more than once in one object, and readers differ in which value they take"
            )
            yield Problem(json_pointer((*path, key)), "", sentence)
        if is_object(value):
            waiting.extend((item, (*path, key)) for key, item in reversed(value.items()))
        elif is_array(value):
            waiting.extend((item, (*path, index)) for index, item in reversed(list(enumerate(value))))


def _envelope(value: Any, doubtful: set[str]) -> dict[str, Any]:
    """The id and the method of a message, as far as they are not given twice."""
    found = value if is_object(value) else {}
    id_, method = found.get("id"), found.get("method")
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
"""What the parser says, for people."""


def not_json(reason: str) -> DecodeError:
    """The error for text that is not JSON, with a reason of the parser, which ends with the place, or one of ours."""
    found = re.fullmatch(r"(.*) at (line \d+) (column \d+)", reason, re.DOTALL)
    if found:
        sentence, semicolon, remedy = _SENTENCES.get(found[1], found[1]).partition(";")
        reason = f"{sentence} at {found[2]}, {found[3]}{semicolon}{remedy}"
    return DecodeError(PARSE_ERROR, (Problem("", "", f"this is not JSON: {reason}"),))
