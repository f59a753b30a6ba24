"""Elicitation: An agent asks the user in a mode that the client supports and for a request that waits, and the answer fits the form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .events import Event, Found, error_code, reach, shown, text
from .forms import misfits
from .json_types import is_object
from .kept import key
from .rule import ACP, rule
from .state import Connection

_CREATE: Final = "elicitation/create"
_MODE: Final = "client:{}.elicitation.{}"
_CREDENTIALS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#@:]*:[^/?#@]+@")


@rule("request", methods=(_CREATE,), protocols=ACP)
def elicitation_id_in_use(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent asks in URL mode with the id of another question that still waits for its answer."""
    name = key(text(event.body, "elicitationId")) if text(event.body, "mode") == "url" else None
    for question in connection.questions.values() if name not in (None, "null") else ():
        if question.visit == name:
            sentence = f"the id {shown(text(event.body, 'elicitationId'))} is already used by an open elicitation"
            yield Found(event.below("elicitationId"), sentence, question.index)
            return


@rule("request", methods=(_CREATE,), protocols=ACP)
def elicitation_url_with_credentials(event: Event, _connection: Connection) -> Iterator[Found]:
    """The URL of a question holds a user name and a password before its host. Of other secrets no judge can tell."""
    url = text(event.body, "url") if text(event.body, "mode") == "url" else None
    if url is not None and _CREDENTIALS.match(url):
        yield Found(event.below("url"), "the URL contains a password before its host")


@rule("request", methods=(_CREATE,), protocols=ACP)
def elicitation_of_unknown_request(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent asks on behalf of a request that it has answered, or that the client never made."""
    if not is_object(event.body):
        return
    name = key(event.body["requestId"]) if "requestId" in event.body else None
    client = connection.sides[0]
    if name is None or not connection.whole or connection.pending[client].forgot or "sessionId" in event.body:
        return
    if connection.pending[client].get(name) is None:
        asked = shown(reach(event.body, "requestId"))
        yield Found(
            event.below("requestId"), f"no request {asked} of the client is open", connection.answered[client].get(name)
        )


@rule("notification", methods=("elicitation/complete",), protocols=ACP)
def elicitation_not_asked(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent says that a visit to a web page is over for which it never asked on this connection."""
    name = text(event.body, "elicitationId")
    if name is None or not connection.whole or connection.visits.forgot or connection.strict is None:
        return
    if connection.visits.get(key(name) or "") is None:
        yield Found(event.below("elicitationId"), f"no elicitation has the id {shown(name)}")


@rule("error", methods=(_CREATE,), level="should", protocols=ACP)
def elicitation_refused_otherwise(event: Event, connection: Connection) -> Iterator[Found]:
    """A client that has elicitation refuses a mode that it does not have with another code than -32602."""
    question = connection.questions.get(key(event.id) or "")
    at = "capabilities" if connection.version == 2 else "clientCapabilities"
    if question is None or question.mode not in ("form", "url") or connection.strict is None:
        return
    has = connection.advertises(_MODE.format(at, "form")), connection.advertises(_MODE.format(at, "url"))
    if any(has) and connection.advertises(_MODE.format(at, question.mode)) is False:
        code = error_code(event.body)
        if code != -32602:
            sentence = f"an unsupported mode must be refused with -32602, not {shown(code)}"
            yield Found(event.below("code"), sentence, question.index)


@rule("result", methods=(_CREATE,), level="should", protocols=ACP)
def elicitation_content_unfit(event: Event, connection: Connection) -> Iterator[Found]:
    """What a client accepted does not fit the form: a field is missing, or its value is none that the form allows."""
    question = connection.questions.get(key(event.id) or "")
    if question is None or question.form is None or text(event.body, "action") != "accept":
        return
    content = reach(event.body, "content")
    for path, sentence in misfits(question.form, {} if content is None else content):
        yield Found(event.below("content", *path), sentence, question.index)
