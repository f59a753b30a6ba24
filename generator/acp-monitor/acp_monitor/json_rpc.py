"""Shape and framing: A message has the JSON-RPC envelope or is a batch, its id answers a request that waits, and its content has the
shape that the schema gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from .bounded import make_key
from .connection import Connection
from .events import Event, Finding, Level
from .json_values import get_text, is_object, reach, show, split_pointer
from .paths import is_about_roots
from .records import Pending
from .rule import ACP, rule
from .unstable import UNSTABLE_METHODS

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Violation

_OWN_ANSWERS: Final = frozenset({-32601, -32800, -32000})
"""Codes that may refuse an extension: no such method, cancelled, authentication required."""


@rule("unreadable", needs="problems")
def not_json(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A line is not UTF-8 text of one JSON value. Only messages belong on the connection; logs go to standard error."""
    for problem in event.problems:
        yield Finding(event.at, problem.sentence)


@rule("malformed", "request", "notification", "result", "error", needs="problems")
def envelope_malformed(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A message is no JSON-RPC 2.0 request, notification or response: `jsonrpc`, `id` or `method` is missing or wrong, or both
    `result` and `error` are there.
    """
    for problem in event.problems:
        if problem.rule == "envelope":
            yield _make_finding(event, problem)


@rule("malformed", "request", "notification", "result", "error", needs="duplicates")
def duplicate_key(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An object of the message gives one key twice. Readers differ in which value counts, so that what one peer checks need not be
    what the other does. Here the last one counts.
    """
    for problem in event.duplicates:
        yield _make_finding(event, problem)


@rule("batch")
def batch_empty(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A batch holds no message."""
    if not event.value:
        yield Finding(event.at, "a batch must hold at least one message")


@rule("batch")
def batch_mixed(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A batch holds calls and answers together."""
    answers = [is_object(item) and "method" not in item for item in event.value]
    if len(set(answers)) > 1:
        yield Finding((answers.index(not answers[0]),), "a batch holds either calls or answers, not both")


@rule("request", level="should", needs="batch")
def batch_of_unbatchable(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A request whose method the schema keeps out of batches (`x-batch`) came in one."""
    if event.at and event.route is not None and event.route.batch == "never":
        yield Finding(event.locate_member("method"), f"{event.method!r} may not be part of a batch")


@rule("request", "notification", protocols=ACP, needs="problems")
def method_unknown(event: Event, connection: Connection) -> Iterator[Finding]:
    """A method is called that this version of the protocol does not have and that is neither an extension (`_…`) nor a
    notification of the protocol's own level (`$/…`). A note where upstream's unstable schemas have the method, or had it.
    """
    if event.unjudged or event.route is not None:
        return
    name = connection.strict.contract.name if connection.strict is not None else ""
    for finding in (_make_finding(event, problem) for problem in event.problems if problem.rule == "method"):
        if event.method in UNSTABLE_METHODS.get(name, ()):
            sentence = f"{name} has the method {show(event.method)} only upstream, as unstable"
            yield finding._replace(sentence=sentence, level="note")
        else:
            yield finding


@rule("request", "notification", needs="problems")
def method_misdirected(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A peer calls a method that it handles itself."""
    for problem in event.problems:
        if problem.rule == "method" and event.route is not None:
            yield _make_finding(event, problem)


@rule("request", "notification", needs="problems")
def params_malformed(event: Event, _connection: Connection) -> Iterator[Finding]:
    """The params of a call do not have the shape that the schema gives them. What concerns roots has a rule of its own."""
    yield from _check_envelope(event)


@rule("result", needs="problems")
def result_malformed(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A result does not have the type of its request's method. A note where an authentication method is of a type that the version does not
    have: receivers keep it as one that they do not know.
    """
    for finding in _check_envelope(event) if not _is_null_result(event) else ():
        login = _find_unknown_login(event, finding)
        if login is None:
            yield finding
        else:
            sentence = f"this version defines no authentication method of the type {show(login)}; receivers keep it as an unknown one"
            yield finding._replace(sentence=sentence, level="note")


@rule("result", level="note")
def result_null(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A result is null where the schema has an object without required fields. Receivers read it as the empty object."""
    if _is_null_result(event):
        yield Finding(event.extend_path(), f"the result of {event.method!r} is an object; null is read as {{}}")


@rule("error", needs="problems")
def error_malformed(event: Event, _connection: Connection) -> Iterator[Finding]:
    """The error of a response has no integer code, no message, or data of a shape that its code does not have."""
    yield from _check_envelope(event)


@rule("result", "error")
def response_without_request(event: Event, connection: Connection) -> Iterator[Finding]:
    """A response answers no open request: the id was never used, or it was answered before."""
    if event.request is not None or not connection.is_complete or connection.pending[event.receiver].evicted:
        return
    name = make_key(event.id)
    if name is None or (event.id is None and event.kind == "error"):
        return  # the answer to a message whose id could not be read
    before = connection.answers[event.receiver].get(name)
    sentence = f"no request with the id {show(event.id)} is open"
    if before is not None:
        sentence = f"the request {show(event.id)} was answered before"
    yield Finding(event.locate_member("id"), sentence, before)


@rule("error")
def notification_answered(event: Event, connection: Connection) -> Iterator[Finding]:
    """An error without an id answers a notification: the other side had no open request and sent no line that is no message. A note
    for the code that says that a line could not be read: what was not recorded may have been such.
    """
    notified, pending = connection.last_notification.get(event.receiver), connection.pending[event.receiver]
    if event.id is not None or event.request is not None or notified is None or not connection.is_complete:
        return
    if len(pending) or pending.evicted or connection.strays[event.receiver]:
        return
    level: Level | None = "note" if event.error_code == -32700 else None
    sentence = "no request was open, and notifications are never answered"
    yield Finding(event.locate_member("id"), sentence, notified, level=level)


@rule("error", protocols=ACP, level="note")
def extension_refused_otherwise(event: Event, connection: Connection) -> Iterator[Finding]:
    """A peer answers an extension request (`_…`) with another code than -32601. A peer that does not know the method answers that one;
    reported once for each method. A request that is none, by its version or its id, may be refused as such.
    """
    code, request = event.error_code, event.request
    if request is None or not event.method.startswith("_") or code in _OWN_ANSWERS or request.first_cancellation:
        return
    if request.well_formed and connection.remember(f"extension refused: {event.sender} {event.method}"):
        sentence = f"a peer that does not know the method {show(event.method)} answers -32601, not {show(code)}"
        yield Finding(event.extend_path("code"), sentence, request.index)


@rule("request")
def id_in_use(event: Event, connection: Connection) -> Iterator[Finding]:
    """A request has the id of another request of the same peer that still waits for its answer."""
    open_request = connection.pending[event.sender].get(make_key(event.id) or "")
    if open_request is not None and open_request.refusal is None:
        sentence = f"the id {show(event.id)} is in use by {show(open_request.method)}"
        yield Finding(event.locate_member("id"), sentence, open_request.index)


@rule("notification", methods=("$/cancel_request",), level="note")
def cancel_of_unknown_request(event: Event, connection: Connection) -> Iterator[Finding]:
    """A peer withdraws a request that it never made. Receivers ignore that; an answer may also have crossed the withdrawal."""
    request_id = reach(event.body, "requestId")
    if all(connection.lacks(table[event.sender], request_id) for table in (connection.pending, connection.answers)):
        yield Finding(event.extend_path("requestId"), f"no request {show(request_id)} was made by this side")


@rule("end")
def cancelled_request_unanswered(_event: Event, connection: Connection) -> Iterator[Finding]:
    """A request that was cancelled never got an answer, though the other side answered one that came after the cancellation.
    Cancelling does not waive it: a result or error -32800 is still due.
    """
    for request, is_overdue in _find_unanswered(connection):
        if is_overdue:
            sentence = f"{show(request.method)} of the {request.sender} was cancelled and never answered"
            yield Finding((), sentence, request.first_cancellation, about=request)


@rule("end", level="note")
def request_unanswered(_event: Event, connection: Connection) -> Iterator[Finding]:
    """The conversation ended while a request waited for its answer. An error without an id may have refused it."""
    for request, is_overdue in _find_unanswered(connection):
        if not is_overdue:
            doubt = "" if request.refusal is None else ", unless an error without an id refused it"
            sentence = f"{show(request.method)} of the {request.sender} was never answered{doubt}"
            yield Finding((), sentence, request.refusal, about=request)


def _find_unanswered(connection: Connection) -> Iterator[tuple[Pending, bool]]:
    """Yield the open requests, and whether the side that owes the answer has read the cancellation and answered another request since."""
    for side in connection.sides:
        for request in connection.pending[side].values():
            if not request.is_refused:
                has_read = connection.has_read(connection.get_peer(side), request.first_cancellation)
                yield request, request.refusal is None and has_read


def _is_null_result(event: Event) -> bool:
    return event.body is None and event.route is not None and event.route.null_result


def _find_unknown_login(event: Event, finding: Finding) -> str | None:
    """The type of an authentication method, if the finding is that the version does not have it."""
    match finding.path[len(event.at) :]:
        case ("result", "authMethods", str(place), "type") if event.method == "initialize" and place.isdigit():
            return get_text(event.body, "authMethods", int(place), "type")
        case _:
            return None


def _check_envelope(event: Event) -> Iterator[Finding]:
    for problem in event.problems:
        if problem.rule not in ("envelope", "method", "json") and not is_about_roots(problem.pointer):
            yield _make_finding(event, problem)._replace(words=_list_fields(event, problem))


def _list_fields(event: Event, problem: Violation) -> tuple[str, ...]:
    """The fields of the body that are missing or refused: keys of the index of requirements."""
    name, (part, *steps) = event.definition, split_pointer(problem.pointer) or ("",)
    if part != event.part:
        return ()
    fields = dict.fromkeys((*steps[:1], *steps[-1:]))
    if problem.missing and (not steps or steps[-1].isdigit()):  # the body itself or an item of an array lacks the field
        fields[problem.missing] = None
    direct = f"{name} without {problem.missing}" if problem.missing and not steps else ""
    if len(steps) == 1 and not problem.missing:
        direct = f"{name}/{steps[0]}"
    return (*(f"{name}.{field}" for field in fields), direct)


def _make_finding(event: Event, problem: Violation) -> Finding:
    """An error of the schema as a finding, located in the line that it came in."""
    return Finding((*event.at, *split_pointer(problem.pointer)), problem.sentence)
