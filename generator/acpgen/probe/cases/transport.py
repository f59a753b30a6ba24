"""Transports: how messages are split into lines, and how a program treats lines that are not messages."""

from __future__ import annotations

import json
from typing import Any

from acpgen.input.walk import is_object
from acpgen.probe.case_context import SkipCase, Trial
from acpgen.probe.connection import write_id
from acpgen.probe.registry import BOTH, case

_METHOD = "_acpgen.dev/frame"


@case("transports/split-line", "must", sides=BOTH)
def split_line(trial: Trial) -> None:
    """A request that is written in pieces, with pauses. Expected: it is answered."""
    connection = trial.connection
    id_, data = _request(trial)
    cuts = sorted(trial.random.sample(range(1, len(data)), 3))
    connection.send_pieces(data + b"\n", cuts)
    _require_answer(trial, id_, "a request written in pieces")


@case("transports/joined-lines", "must", sides=BOTH)
def joined_lines(trial: Trial) -> None:
    """Two requests in one write. Expected: both are answered."""
    first_id, first_line = _request(trial)
    second_id, second_line = _request(trial)
    trial.connection.send_lines([first_line, second_line])
    _require_answer(trial, first_id, "the first of two requests in one write")
    _require_answer(trial, second_id, "the second of two requests in one write")


@case("transports/white-space", "must", sides=BOTH)
def white_space(trial: Trial) -> None:
    """Requests with the white space around tokens that JSON allows, a carriage return at the end among it. Expected: answers."""
    for pattern in (b"  %s", b"%s \t", b"%s\r"):
        id_, data = _request(trial)
        trial.connection.send(pattern % data)
        _require_answer(trial, id_, f"a request within white space ({pattern!r})")


@case("transports/separators-in-text", "must", sides=BOTH)
def separators(trial: Trial) -> None:
    """A request whose text holds U+2028, U+2029, U+0085, vertical tab and form feed as escapes or as they are. Expected: an answer:
    only a line feed ends a message.
    """
    for character in ("\u2028", "\u2029", "\u0085", "\u001e"):
        escaped = character < " "
        id_ = trial.connection.make_id()
        message = trial.make_ping(id_, f"a{character}b")
        trial.connection.send(json.dumps(message, ensure_ascii=escaped).encode())
        _require_answer(trial, id_, f"a request with U+{ord(character):04X} in a text")


@case("transports/blank-lines", "robust", sides=BOTH)
def blank_lines(trial: Trial) -> None:
    """Lines with nothing in them, or only spaces. Expected: the program goes on."""
    for line in (b"", b"   ", b"\r"):
        _survives(trial, line, f"a line that holds {line!r}")


@case("transports/long-line", "long", sides=BOTH)
def long_line(trial: Trial) -> None:
    """Requests of one and of four megabytes. Expected: an answer, be it an error."""
    for size in (1 << 20, 4 << 20):
        id_ = trial.connection.make_id()
        trial.connection.send(trial.make_ping(id_, "x" * size))
        _require_answer(trial, id_, f"a request of {size >> 20} MiB", trial.slow)


@case("transports/junk", "robust", sides=BOTH)
def junk(trial: Trial) -> None:
    """Lines that are no JSON: words, an open bracket, zero bytes, half a message. Expected: an error at most; the program goes on."""
    draw = trial.random
    noise = bytes(draw.choice((*range(1, 10), *range(11, 256))) for _ in range(24))
    for line in (b"hello", b"{", b'{"jsonrpc":"2.0","id":', b"\x00\x00", b"]", noise):
        _survives(trial, line, f"the line {line!r}")


@case("transports/no-message", "robust", sides=BOTH)
def no_message(trial: Trial) -> None:
    """JSON that is no message: numbers, text, null, objects without `method`, another `jsonrpc`, a number for a method. Expected:
    an error at most; the program goes on.
    """
    values: tuple[Any, ...] = (
        *(5, "text", None, True, {}, {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": "no-method"}),
        {"jsonrpc": "1.0", "id": "old", "method": _METHOD},
        {"id": "bare", "method": _METHOD},
        {"jsonrpc": "2.0", "id": "number", "method": 5},
        {"jsonrpc": "2.0", "id": "both", "method": _METHOD, "result": {}},
    )
    for value in values:
        if is_object(value) and "id" in value:
            trial.connection.tolerated.add(write_id(value["id"]))
        _survives(trial, json.dumps(value).encode(), f"the line {json.dumps(value)}")


@case("transports/stray-responses", "robust", sides=BOTH)
def stray_responses(trial: Trial) -> None:
    """Responses to requests that the program never made. Expected: they are passed over."""
    strays: tuple[dict[str, Any], ...] = (
        {"jsonrpc": "2.0", "id": "never-asked", "result": {}},
        {"jsonrpc": "2.0", "id": 987654321, "error": {"code": -32603, "message": "stray"}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "stray"}},
    )
    for value in strays:
        _survives(trial, json.dumps(value).encode(), f"a response with the id {value['id']!r} that nobody waits for")


@case("transports/repeated-keys", "robust", sides=BOTH)
def repeated_keys(trial: Trial) -> None:
    """A request with two ids, and one with two methods. Expected: the program goes on; which one counts is not said."""
    first, second = trial.connection.make_id(), trial.connection.make_id()
    trial.connection.tolerated |= {write_id(first), write_id(second), write_id(None)}
    line = b'{"jsonrpc":"2.0","id":%d,"id":%d,"method":"_acpgen.dev/frame"}' % (first, second)
    _survives(trial, line, "a request with two ids")
    id_ = trial.connection.make_id()
    trial.connection.tolerated.add(write_id(id_))
    line = b'{"jsonrpc":"2.0","id":%d,"method":"_acpgen.dev/one","method":"_acpgen.dev/two"}' % id_
    _survives(trial, line, "a request with two methods")


@case("transports/invalid-utf-8", "robust", sides=BOTH)
def invalid_utf_8(trial: Trial) -> None:
    """Requests with bytes that are no UTF-8, and a surrogate without its half. Expected: an error at most; the program goes on."""
    for text in (b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\\ud800"):
        id_ = trial.connection.make_id()
        trial.connection.tolerated |= {write_id(id_), write_id(None)}
        line = b'{"jsonrpc":"2.0","id":%d,"method":"_acpgen.dev/frame","params":{"text":"%s"}}' % (id_, text)
        _survives(trial, line, f"a text with the bytes {text!r}")


@case("transports/deep-nesting", "robust", sides=BOTH)
def deep_nesting(trial: Trial) -> None:
    """A request whose params are nested 1000 arrays deep. Expected: an answer or an error; the program goes on."""
    id_ = trial.connection.make_id()
    trial.connection.tolerated |= {write_id(id_), write_id(None)}
    nested_arrays = b"[" * 1000 + b"]" * 1000
    line = b'{"jsonrpc":"2.0","id":%d,"method":"_acpgen.dev/frame","params":{"deep":%s}}' % (id_, nested_arrays)
    _survives(trial, line, "params nested 1000 deep")


@case("transports/batch", "robust", versions=(1,))
def batch_of_v1(trial: Trial) -> None:
    """A batch, which this version does not have: its messages are individual. Expected: an answer or an error; the program goes on."""
    first, second = trial.connection.make_id(), trial.connection.make_id()
    trial.connection.tolerated |= {write_id(first), write_id(second), write_id(None)}
    calls = [{"jsonrpc": "2.0", "id": id_, "method": _METHOD} for id_ in (first, second)]
    _survives(trial, json.dumps(calls).encode(), "a batch of two requests")
    _survives(trial, b"[]", "an empty batch")


@case("transports/batch-of-requests", "should", versions=(2,))
def batch_of_requests(trial: Trial) -> None:
    """A batch of two requests and a notification. Expected: an array with two responses."""
    connection = trial.connection
    ids = [connection.make_id(), connection.make_id()]
    calls = [trial.make_ping(id_) for id_ in ids]
    before = len(connection.batches)
    index = connection.send([*calls, {"jsonrpc": "2.0", "method": "_acpgen.dev/note"}])
    message_sent = connection.sent
    if not trial.require_alive("a batch", index, "answered"):
        return
    connection.wait(lambda: all(write_id(id_) in connection.answers for id_ in ids), connection.clock.answer)
    answered = [id_ for id_ in ids if write_id(id_) in connection.answers]
    if len(answered) < 2:
        trial.fail(
            f"{len(answered)} of the two requests of a batch were answered", index, index + 6, message_sent=message_sent
        )
    elif not any(len(responses) == 2 for _, responses in connection.batches[before:]):
        trial.fail(
            "the responses to a batch did not come in one array",
            index,
            len(connection.rows) - 1,
            message_sent=message_sent,
        )


@case("transports/empty-batch", "must", versions=(2,))
def empty_batch(trial: Trial) -> None:
    """An empty batch. Expected: one error -32600 with the id null, not in an array."""
    connection = trial.connection
    before, batches = len(connection.bare), len(connection.batches)
    index = connection.send([])
    message_sent = connection.sent
    if not trial.require_alive("an empty batch", index, "robust"):
        return
    if len(connection.batches) > batches:
        trial.fail(
            "an empty batch is answered with an array",
            index,
            connection.batches[batches][0],
            message_sent=message_sent,
            level="should",
        )
    elif len(connection.bare) == before:
        trial.fail("an empty batch is ignored silently", index, index + 2, message_sent=message_sent, level="note")


@case("transports/batch-of-notifications", "must", versions=(2,))
def batch_of_notifications(trial: Trial) -> None:
    """A batch of two notifications. Expected: nothing."""
    connection = trial.connection
    before, batches = len(connection.bare), len(connection.batches)
    index = connection.send([{"jsonrpc": "2.0", "method": "_acpgen.dev/note"}] * 2)
    message_sent = connection.sent
    if trial.require_alive("a batch of notifications", index, "robust"):
        answers = (
            *(place for place, _ in connection.batches[batches:]),
            *(response.index for response in connection.bare[before:]),
        )
        for place in answers[:1]:
            trial.fail("a batch of notifications is answered", index, place, message_sent=message_sent)


def _request(trial: Trial) -> tuple[int, bytes]:
    id_ = trial.connection.make_id()
    return id_, json.dumps(trial.make_ping(id_)).encode()


def _require_answer(trial: Trial, id_: int, description: str, seconds: float | None = None) -> None:
    """Report a program that does not answer a valid request, though it answers the next one."""
    connection = trial.connection
    index, message_sent = len(connection.rows) - 1, connection.sent
    if connection.answer(id_, seconds) is not None:
        return
    refusals = connection.bare[-1:] if connection.bare and connection.bare[-1].index > index else []
    if not trial.require_alive(description, index):
        raise SkipCase("the connection was lost")
    if write_id(id_) in connection.answers:
        return
    how = f"is refused: {refusals[0].reason}" if refusals else "is not answered, though the next request is"
    trial.fail(f"{description} {how}", index, len(connection.rows) - 1, message_sent=message_sent, place=description)


def _survives(trial: Trial, line: bytes, description: str) -> None:
    if not trial.require_alive(description, trial.connection.send(line), "robust"):
        raise SkipCase("the connection was lost")
