"""Elicitation: An agent asks the user in a mode that the client supports and for a request that waits, and the answer fits the form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from .bounded import make_key
from .connection import Connection
from .events import Event, Finding
from .json_values import (
    Path,
    get_integer,
    get_items,
    get_text,
    is_array,
    is_number,
    is_object,
    is_redacted,
    reach,
    show,
)
from .rule import ACP, rule

_CREATE: Final = "elicitation/create"
_MODE: Final = "client:{}.elicitation.{}"
_CREDENTIALS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#@:]*:[^/?#@]+@")
_FIELD_TYPES: Final = ("string", "number", "integer", "boolean", "array")


@rule("request", methods=(_CREATE,), protocols=ACP)
def elicitation_id_in_use(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent asks in URL mode with the id of another question that still waits for its answer."""
    name = get_text(event.body, "elicitationId") if get_text(event.body, "mode") == "url" else None
    for question in connection.pending[event.sender].values() if name is not None else ():
        if get_text(question.body, "mode") == "url" and get_text(question.body, "elicitationId") == name:
            sentence = f"the id {show(name)} is already used by an open elicitation"
            yield Finding(event.extend_path("elicitationId"), sentence, question.index)
            return


@rule("request", methods=(_CREATE,), protocols=ACP)
def elicitation_url_with_credentials(event: Event, _connection: Connection) -> Iterator[Finding]:
    """The URL of a question holds a user name and a password before its host. Of other secrets no judge can tell."""
    url = get_text(event.body, "url") if get_text(event.body, "mode") == "url" else None
    if url is not None and _CREDENTIALS.match(url):
        yield Finding(event.extend_path("url"), "the URL contains a password before its host")


@rule("request", methods=(_CREATE,), protocols=ACP)
def elicitation_of_unknown_request(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent asks on behalf of a request that it has answered, or that the client never made."""
    if not is_object(event.body) or "requestId" not in event.body or "sessionId" in event.body:
        return
    request_id, client = event.body["requestId"], connection.sides[0]
    if connection.lacks(connection.pending[client], request_id):
        sentence = f"no request {show(request_id)} of the client is open"
        yield Finding(
            event.extend_path("requestId"), sentence, connection.answers[client].get(make_key(request_id) or "")
        )


@rule("notification", methods=("elicitation/complete",), protocols=ACP)
def elicitation_not_asked(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent says that a visit to a web page is over for which it never asked on this connection."""
    name = get_text(event.body, "elicitationId")
    if name is not None and connection.strict is not None and connection.lacks(connection.visits, name):
        yield Finding(event.extend_path("elicitationId"), f"no elicitation has the id {show(name)}")


@rule("error", methods=(_CREATE,), level="should", protocols=ACP)
def elicitation_refused_otherwise(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client that has elicitation refuses a mode that it does not have with another code than -32602."""
    question, code = event.request, event.error_code
    at = "capabilities" if connection.version == 2 else "clientCapabilities"
    mode = "" if question is None else get_text(question.body, "mode")
    if question is None or mode not in ("form", "url") or connection.strict is None or code == -32602:
        return
    has = {mode: connection.advertises(_MODE.format(at, mode)) for mode in ("form", "url")}
    if any(has.values()) and has[mode] is False:
        sentence = f"an unsupported mode must be refused with -32602, not {show(code)}"
        yield Finding(event.extend_path("code"), sentence, question.index)


@rule("result", methods=(_CREATE,), level="should", protocols=ACP)
def elicitation_content_unfit(event: Event, _connection: Connection) -> Iterator[Finding]:
    """What a client accepted does not fit the form: a field is missing, or its value is none that the form allows."""
    question = event.request
    if question is None or not question.well_formed or get_text(event.body, "action") != "accept":
        return
    form, content = reach(question.body, "requestedSchema"), reach(event.body, "content")
    if get_text(question.body, "mode") == "url" or not is_object(form):
        return
    for path, sentence in _find_misfits(form, {} if content is None else content):
        yield Finding(event.extend_path("content", *path), sentence, question.index)


def _find_misfits(form: Any, content: Any) -> Iterator[tuple[Path, str]]:
    """Yield what a form does not allow in accepted content, as paths and sentences. Patterns, formats, fields of unknown types and
    what is redacted are not checked.
    """
    if not is_object(content):
        return
    for name in () if any(map(is_redacted, content)) else get_items(form, "required"):
        if isinstance(name, str) and name not in content and not is_redacted(name):
            yield (), f"the form requires {show(name)}"
    fields = reach(form, "properties")
    for name, field in fields.items() if is_object(fields) else ():
        if name in content and not is_redacted(name) and is_object(field) and get_text(field, "type") in _FIELD_TYPES:
            sentence = _find_objection(field, content[name])
            if sentence is not None:
                yield (name,), sentence


def _find_objection(field: Any, value: Any) -> str | None:
    kind = get_text(field, "type") or ""
    if not _is_of(kind, value):
        return f"{show(value)} is no {kind}"
    choices: list[str] | None = None
    size, least, most = value, field.get("minimum"), field.get("maximum")
    match kind:
        case "string":
            size, least, most = len(value), field.get("minLength"), field.get("maxLength")
            choices = _list_choices(field, "enum", "oneOf")
        case "array":
            size, least, most = len(value), field.get("minItems"), field.get("maxItems")
            choices = _list_choices(field.get("items"), "enum", "anyOf")
        case "boolean":
            return None
        case _:
            pass
    values = value if kind == "array" else [value]
    if any(map(is_redacted, (*values, *(choices or ())))):
        return None
    for choice in values if choices is not None else ():
        if choice not in (choices or ()):
            return f"{show(choice)} is not one of the {len(choices or ())} choices"
    if is_number(least) and size < least:
        return f"{show(value)} is below the minimum, {least}"
    if is_number(most) and size > most:
        return f"{show(value)} is above the maximum, {most}"
    return None


def _is_of(kind: str, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return is_array(value)
        case "integer":
            return get_integer(value) is not None
        case _:
            return is_number(value)


def _list_choices(field: Any, plain: str, titled: str) -> list[str] | None:
    """The values that a field lets the user choose from; `None` if it takes any."""
    if is_array(reach(field, plain)):
        return [value for value in get_items(field, plain) if isinstance(value, str)]
    if is_array(reach(field, titled)):
        values = (reach(option, "const") for option in get_items(field, titled))
        return [value for value in values if isinstance(value, str)]
    return None
