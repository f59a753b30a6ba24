"""JSON-RPC: text, envelopes, ids, batches, and that each message has the shape that the schema gives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .events import Event, Found, reach, shown
from .json_types import is_object
from .rootpaths import is_about_roots
from .rule import rule
from .state import Connection, key

_WHERE: Final[dict[tuple[str, str], tuple[int, ...]]] = {
    ("session/request_permission", "title"): (90,),
    ("session/request_permission", "description"): (91,),
    ("session/request_permission", "subject"): (92, 93, 97),
    ("session/request_permission", "options"): (94,),
    ("initialize", "clientCapabilities"): (102,),
    ("fs/read_text_file", ""): (105,),
    ("fs/write_text_file", ""): (106,),
    ("roots/list", ""): (76, 77, 78),
}
"""The requirements behind malformed params and results, by method and field; an empty field stands for every one."""

_SHAPES: Final = (76, 77, 78, 90, 91, 92, 93, 94, 97, 102, 105, 106)


@rule("unreadable")
def not_json(event: Event, _connection: Connection) -> Iterator[Found]:
    """A line is not UTF-8 text of one JSON value. Only messages belong on the connection; logs go to standard error."""
    for problem in event.problems:
        yield Found(event.at, problem.sentence)


@rule("malformed", "request", "notification", "result", "error")
def envelope_malformed(event: Event, _connection: Connection) -> Iterator[Found]:
    """A message is no JSON-RPC 2.0 request, notification or response: `jsonrpc`, `id` or `method` is missing or wrong, or both
    `result` and `error` are there.
    """
    for problem in event.problems:
        if problem.rule == "envelope":
            yield _at(event, problem.pointer, problem.sentence)


@rule("batch")
def batch_empty(event: Event, _connection: Connection) -> Iterator[Found]:
    """A batch holds no message."""
    if not event.value:
        yield Found(event.at, "a batch must hold at least one message")


@rule("batch")
def batch_mixed(event: Event, _connection: Connection) -> Iterator[Found]:
    """A batch holds calls and answers together."""
    answers = [is_object(item) and "method" not in item for item in event.value]
    if len(set(answers)) > 1:
        yield Found((answers.index(not answers[0]),), "a batch holds either calls or answers, not both")


@rule("request")
def batch_of_unbatchable(event: Event, _connection: Connection) -> Iterator[Found]:
    """A request whose method the schema keeps out of batches (`x-batch`) came in one."""
    if event.at and event.route is not None and event.route.batch == "never":
        yield Found((*event.at, "method"), f"{event.method!r} may not be part of a batch")


@rule("request", "notification")
def method_unknown(event: Event, connection: Connection) -> Iterator[Found]:
    """A method is called that this version of the protocol does not have and that is no extension (`_…`)."""
    if connection.strict is None or connection.strict.contract.name.startswith("mcp/"):
        return  # the schema of MCP holds the part about roots alone
    for problem in event.problems:
        if problem.rule == "method" and event.route is None:
            yield _at(event, problem.pointer, problem.sentence)


@rule("request", "notification")
def method_misdirected(event: Event, _connection: Connection) -> Iterator[Found]:
    """A peer calls a method that it handles itself."""
    for problem in event.problems:
        if problem.rule == "method" and event.route is not None:
            yield _at(event, problem.pointer, problem.sentence)


@rule("request", "notification", requirements=_SHAPES)
def params_malformed(event: Event, _connection: Connection) -> Iterator[Found]:
    """The params of a call do not have the shape that the schema gives them. What concerns roots has a rule of its own."""
    yield from _malformed(event, "params")


@rule("result", requirements=_SHAPES)
def result_malformed(event: Event, _connection: Connection) -> Iterator[Found]:
    """A result does not have the type of its request's method."""
    yield from _malformed(event, "result")


@rule("error")
def error_malformed(event: Event, _connection: Connection) -> Iterator[Found]:
    """The error of a response has no integer code, no message, or data of a shape that its code does not have."""
    yield from _malformed(event, "error")


@rule("result", "error")
def response_without_request(event: Event, connection: Connection) -> Iterator[Found]:
    """A response answers no open request: the id was never used, or it was answered before."""
    if event.request is not None or not connection.whole or connection.pending[event.receiver].forgot:
        return
    name = key(event.id)
    if name is None or (event.id is None and event.kind == "error"):
        return  # the answer to a message whose id could not be read
    before = connection.answered[event.receiver].get(name)
    if before is not None:
        yield Found((*event.at, "id"), f"the request {shown(event.id)} was answered before", before)
    else:
        yield Found((*event.at, "id"), f"no request with the id {shown(event.id)} is open")


@rule("request")
def id_in_use(event: Event, connection: Connection) -> Iterator[Found]:
    """A request has the id of another request of the same peer that still waits for its answer."""
    other = connection.pending[event.sender].get(key(event.id) or "")
    if other is not None:
        yield Found((*event.at, "id"), f"the id {shown(event.id)} is in use by {other.method!r}", other.index)


@rule("notification", methods=("$/cancel_request",), level="note")
def cancel_of_unknown_request(event: Event, connection: Connection) -> Iterator[Found]:
    """A peer withdraws a request that it never made. Receivers ignore that; an answer may also have crossed the withdrawal."""
    name = key(reach(event.body, "requestId"))
    if name is None or not connection.whole or connection.pending[event.sender].forgot:
        return
    if connection.pending[event.sender].get(name) is None and connection.answered[event.sender].get(name) is None:
        yield Found(
            event.below("requestId"), f"no request {shown(reach(event.body, 'requestId'))} was made by this side"
        )


@rule("end")
def cancelled_request_unanswered(_event: Event, connection: Connection) -> Iterator[Found]:
    """A request that was cancelled never got an answer. Cancelling does not waive it: a result or error -32800 is still due."""
    for side in connection.sides:
        for request in connection.pending[side].values():
            if request.cancelled is not None:
                sentence = f"{request.method!r} of the {side} was cancelled and never answered"
                yield Found((), sentence, request.cancelled, about=request.index)


@rule("end", level="note")
def request_unanswered(_event: Event, connection: Connection) -> Iterator[Found]:
    """The conversation ended while a request waited for its answer."""
    for side in connection.sides:
        for request in connection.pending[side].values():
            if request.cancelled is None:
                yield Found((), f"{request.method!r} of the {side} was never answered", about=request.index)


def _malformed(event: Event, part: str) -> Iterator[Found]:
    for problem in event.problems:
        if problem.rule in ("envelope", "method", "json") or is_about_roots(problem.pointer):
            continue
        yield _at(
            event, problem.pointer, problem.sentence, _requirements(event, part, problem.pointer, problem.sentence)
        )


def _requirements(event: Event, part: str, pointer: str, sentence: str) -> tuple[int, ...]:
    parts = pointer.split("/")
    field = parts[2] if len(parts) > 2 and parts[1] == part else ""
    for (method, name), numbers in _WHERE.items():
        missing = not field and f"'{name}'" in sentence
        if method == event.method and (not name or name == field or missing):
            return numbers
    return ()


def _at(event: Event, pointer: str, sentence: str, requirements: tuple[int, ...] | None = None) -> Found:
    """What the schema said of a message, placed in the line that it came in."""
    steps = tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    return Found((*event.at, *steps), sentence, requirements=requirements)
