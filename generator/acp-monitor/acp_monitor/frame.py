"""JSON-RPC: A message is valid JSON text and a valid envelope or batch, its id answers a request that waits, and its content has the
shape that the schema gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from .events import Event, Found, Level, Requirement, error_code, pointer_steps, reach, shown, text
from .json_types import is_object
from .kept import key
from .records import Pending
from .requirements import SHAPED
from .rootpaths import is_about_roots
from .rule import ACP, rule
from .state import Connection
from .upstream import UNSTABLE_METHODS

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Violation

_OWN_ANSWERS: Final = frozenset({-32601, -32800, -32000})
"""Codes with which an extension is refused: no such method, cancelled, log in first."""

_WHERE: Final[dict[tuple[str, str, str], tuple[int, ...]]] = {
    ("params", "session/request_permission", "title"): (90,),
    ("params", "session/request_permission", "description"): (91,),
    ("params", "session/request_permission", "subject"): (92, 93, 97),
    ("params", "session/request_permission", "options"): (94,),
    ("params", "initialize", "clientCapabilities"): (102,),
    ("params", "fs/read_text_file", ""): (105,),
    ("params", "fs/write_text_file", ""): (106,),
    ("params", "roots/list", ""): (76,),
    ("result", "initialize", "additionalDirectories"): (3,),
    ("result", "fs/read_text_file", ""): (105,),
    ("result", "fs/write_text_file", ""): (106,),
    ("result", "roots/list", "uri"): (77,),
    ("result", "roots/list", "name"): (78,),
    ("result", "roots/list", ""): (76,),
}
"""The requirements behind malformed params and results, by method and field; an empty field stands for every other one."""


def _behind(part: str) -> tuple[int, ...]:
    return tuple(sorted({number for where, numbers in _WHERE.items() if where[0] == part for number in numbers}))


@rule("unreadable", sees="problems")
def not_json(event: Event, _connection: Connection) -> Iterator[Found]:
    """A line is not UTF-8 text of one JSON value. Only messages belong on the connection; logs go to standard error."""
    for problem in event.problems:
        yield Found(event.at, problem.sentence)


@rule("malformed", "request", "notification", "result", "error", sees="problems")
def envelope_malformed(event: Event, _connection: Connection) -> Iterator[Found]:
    """A message is no JSON-RPC 2.0 request, notification or response: `jsonrpc`, `id` or `method` is missing or wrong, or both
    `result` and `error` are there.
    """
    for problem in event.problems:
        if problem.rule == "envelope":
            yield _at(event, problem.pointer, problem.sentence)


@rule("malformed", "request", "notification", "result", "error", sees="repeated")
def duplicate_key(event: Event, _connection: Connection) -> Iterator[Found]:
    """An object of the message gives one key twice. Readers differ in which value counts, so that what one peer checks need not be
    what the other does. Here the last one counts.
    """
    for problem in event.repeated:
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


@rule("request", level="should", sees="batch")
def batch_of_unbatchable(event: Event, _connection: Connection) -> Iterator[Found]:
    """A request whose method the schema keeps out of batches (`x-batch`) came in one."""
    if event.at and event.route is not None and event.route.batch == "never":
        yield Found((*event.at, "method"), f"{event.method!r} may not be part of a batch")


@rule("request", "notification", protocols=ACP, sees="problems")
def method_unknown(event: Event, connection: Connection) -> Iterator[Found]:
    """A method is called that this version of the protocol does not have and that is neither an extension (`_…`) nor a
    notification of the protocol's own level (`$/…`). A note where upstream's unstable schemas have the method, or had it.
    """
    if event.unjudged:
        return
    name = connection.strict.contract.name if connection.strict is not None else ""
    for problem in event.problems:
        if problem.rule != "method" or event.route is not None:
            continue
        if event.method in UNSTABLE_METHODS.get(name, ()):
            sentence = f"{name} has the method {shown(event.method)} only upstream, as unstable"
            yield Found((*event.at, *pointer_steps(problem.pointer)), sentence, level="note")
        else:
            yield _at(event, problem.pointer, problem.sentence)


@rule("request", "notification", sees="problems")
def method_misdirected(event: Event, _connection: Connection) -> Iterator[Found]:
    """A peer calls a method that it handles itself."""
    for problem in event.problems:
        if problem.rule == "method" and event.route is not None:
            yield _at(event, problem.pointer, problem.sentence)


@rule("request", "notification", requirements=_behind("params"), sees="problems")
def params_malformed(event: Event, _connection: Connection) -> Iterator[Found]:
    """The params of a call do not have the shape that the schema gives them. What concerns roots has a rule of its own."""
    yield from _malformed(event, "params")


@rule("result", requirements=_behind("result"), sees="problems")
def result_malformed(event: Event, _connection: Connection) -> Iterator[Found]:
    """A result does not have the type of its request's method. A note where an authentication method is of a type that the version does not
    have: receivers keep it as one that they do not know.
    """
    for found in _malformed(event, "result") if not _is_null_result(event) else ():
        login = _unknown_login(event, found)
        if login is None:
            yield found
        else:
            sentence = f"this version defines no authentication method of the type {shown(login)}; receivers keep it as an unknown one"
            yield found._replace(sentence=sentence, level="note")


@rule("result", requirements=(106,), level="note")
def result_null(event: Event, _connection: Connection) -> Iterator[Found]:
    """A result is null where the schema has an object without required fields. Receivers read it as the empty object."""
    if _is_null_result(event):
        numbers = (106,) if event.method == "fs/write_text_file" else ()
        yield Found(event.below(), f"the result of {event.method!r} is an object; null is read as {{}}", None, numbers)


@rule("error", sees="problems")
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


@rule("error")
def notification_answered(event: Event, connection: Connection) -> Iterator[Found]:
    """An error without an id answers a notification: the other side had no open request and sent no line that is no message. A note
    for the code that says that a line could not be read: what was not recorded may have been such.
    """
    asked = connection.notified.get(event.receiver)
    if event.id is not None or event.request is not None or asked is None or not connection.whole:
        return
    pending = connection.pending[event.receiver]
    if len(pending) or pending.forgot or connection.strays[event.receiver]:
        return
    level: Level | None = "note" if error_code(event.body) == -32700 else None
    yield Found((*event.at, "id"), "no request was open, and notifications are never answered", asked, level=level)


@rule("error", protocols=ACP, level="note")
def extension_refused_otherwise(event: Event, connection: Connection) -> Iterator[Found]:
    """A peer answers an extension request (`_…`) with another code than -32601. A peer that does not know the method answers that one;
    told once for each method. A request that is none, by its version or its id, may be refused as such.
    """
    code, asked = error_code(event.body), event.request
    if asked is None or not event.method.startswith("_") or code in _OWN_ANSWERS or asked.cancelled:
        return
    if not asked.well_formed:
        return
    if connection.once(f"extension refused: {event.sender} {event.method}"):
        sentence = f"a peer that does not know the method {shown(event.method)} answers -32601, not {shown(code)}"
        yield Found(event.below("code"), sentence, asked.index)


@rule("request")
def id_in_use(event: Event, connection: Connection) -> Iterator[Found]:
    """A request has the id of another request of the same peer that still waits for its answer."""
    other = connection.pending[event.sender].get(key(event.id) or "")
    if other is not None and other.refused is None:
        yield Found((*event.at, "id"), f"the id {shown(event.id)} is in use by {shown(other.method)}", other.index)


@rule("notification", methods=("$/cancel_request",), level="note")
def cancel_of_unknown_request(event: Event, connection: Connection) -> Iterator[Found]:
    """A peer withdraws a request that it never made. Receivers ignore that; an answer may also have crossed the withdrawal."""
    name = key(reach(event.body, "requestId"))
    tables = (connection.pending[event.sender], connection.answered[event.sender])
    if name is None or not connection.whole or any(table.forgot for table in tables):
        return
    if all(table.get(name) is None for table in tables):
        yield Found(
            event.below("requestId"), f"no request {shown(reach(event.body, 'requestId'))} was made by this side"
        )


@rule("end")
def cancelled_request_unanswered(_event: Event, connection: Connection) -> Iterator[Found]:
    """A request that was cancelled never got an answer, though the other side answered one that came after the cancellation.
    Cancelling does not waive it: a result or error -32800 is still due.
    """
    for request in _unanswered(connection):
        if _is_passed_over(request, connection):
            sentence = f"{shown(request.method)} of the {request.sender} was cancelled and never answered"
            yield Found((), sentence, request.cancelled, about=request)


@rule("end", level="note")
def request_unanswered(_event: Event, connection: Connection) -> Iterator[Found]:
    """The conversation ended while a request waited for its answer. An error without an id may have refused it."""
    for request in _unanswered(connection):
        if not _is_passed_over(request, connection):
            doubt = "" if request.refused is None else ", unless an error without an id refused it"
            yield Found(
                (),
                f"{shown(request.method)} of the {request.sender} was never answered{doubt}",
                request.refused,
                about=request,
            )


def _unanswered(connection: Connection) -> Iterator[Pending]:
    for side in connection.sides:
        yield from (request for request in connection.pending[side].values() if not request.is_refused)


def _is_passed_over(request: Pending, connection: Connection) -> bool:
    """Whether the answer to a cancelled request was due: the side that owes it has read the cancellation, and answered another."""
    if request.refused is not None:
        return False
    return connection.has_read(connection.other(request.sender), request.cancelled)


def _is_null_result(event: Event) -> bool:
    return event.body is None and event.route is not None and event.route.null_result


def _unknown_login(event: Event, found: Found) -> str | None:
    """The type of an authentication method, where what is found is that the version does not have it."""
    match found.path[len(event.at) :]:
        case ("result", "authMethods", str(place), "type") if event.method == "initialize" and place.isdigit():
            return text(event.body, "authMethods", int(place), "type")
        case _:
            return None


def _malformed(event: Event, part: str) -> Iterator[Found]:
    for problem in event.problems:
        if problem.rule in ("envelope", "method", "json") or is_about_roots(problem.pointer):
            continue
        yield _at(event, problem.pointer, problem.sentence, _requirements(event, part, problem))


def _requirements(event: Event, part: str, problem: Violation) -> tuple[Requirement, ...]:
    """What the table has behind a field of the body that is missing, or whose value is refused."""
    steps = pointer_steps(problem.pointer)[1:]
    protocol = "" if event.strict is None else event.strict.contract.name.replace("/unstable/", "/")
    field = f"{event.definition} without {problem.missing}" if problem.missing and not steps else ""
    if len(steps) == 1 and not problem.missing:
        field = f"{event.definition}/{steps[0]}"
    return (*_numbers(event, part, problem), *SHAPED.get(protocol, {}).get(field, ()))


def _numbers(event: Event, part: str, problem: Violation) -> tuple[int, ...]:
    steps = pointer_steps(problem.pointer)[1:] if problem.pointer.startswith(f"/{part}/") else ()
    fields = {*steps[:1], *steps[-1:]}
    if not steps or steps[-1].isdigit():  # the body itself or an item of an array lacks the field
        fields.add(problem.missing)
    for (where, method, name), numbers in _WHERE.items():
        if (where, method) == (part, event.method) and (not name or name in fields):
            return numbers
    return ()


def _at(event: Event, pointer: str, sentence: str, requirements: tuple[Requirement, ...] | None = None) -> Found:
    """What the schema said of a message, placed in the line that it came in."""
    return Found((*event.at, *pointer_steps(pointer)), sentence, requirements=requirements)
