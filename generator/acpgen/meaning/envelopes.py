"""Messages around params and results, and the schemas of such messages, in the protocol's envelope."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from acpgen import ir

Message: TypeAlias = "dict[str, ir.JSON]"

Schema: TypeAlias = "dict[str, Any]"

Held: TypeAlias = Literal["params", "result", "error"]
"""The content of a message."""

CONTENTS: Final[tuple[Held, ...]] = ("params", "result", "error")
"""The members of a JSON-RPC message that hold content."""

_VERSION: Final = {"jsonrpc": "2.0"}
_ID: Final[Schema] = {"type": ["string", "integer", "null"]}
_NUMBER: Final[Schema] = {"type": "integer"}


class Absent:
    """Marks params or a result that are omitted."""


ABSENT: Final = Absent()


def call(envelope: ir.Envelope, method: ir.Method, params: ir.JSON | Absent = ABSENT, *, id_: ir.JSON = 1) -> Message:
    """A request or notification."""
    if envelope == "dap":
        is_request = method.kind == "request"
        message: Message = {"seq": id_, "type": "request" if is_request else "event"}
        message["command" if is_request else "event"] = method.name
    else:
        message = dict(_VERSION) if envelope == "json-rpc" else {}
        if method.kind == "request":
            message["id"] = id_
        message["method"] = method.name
    if not isinstance(params, Absent):
        message[get_key(envelope, method, "params")] = params
    return message


def answer(envelope: ir.Envelope, method: ir.Method | None, result: ir.JSON | Absent, *, id_: ir.JSON = 1) -> Message:
    """The response to a request that succeeded."""
    members: Message = {} if isinstance(result, Absent) else {"body" if envelope == "dap" else "result": result}
    if envelope == "dap":
        return {**_build_answer(id_, method, success=True), **members}
    return {**(_VERSION if envelope == "json-rpc" else {}), "id": id_, **members}


def make_failure(envelope: ir.Envelope, method: ir.Method | None, error: ir.JSON, *, id_: ir.JSON = 1) -> Message:
    """The response to a request that failed. In the envelope of DAP, `error` is the body."""
    if envelope == "dap":
        return {**_build_answer(id_, method, success=False), "body": error}
    return {**(_VERSION if envelope == "json-rpc" else {}), "id": id_, "error": error}


def get_key(envelope: ir.Envelope, method: ir.Method, content: Held) -> str:
    """The member that holds the params, the result or the error."""
    if envelope != "dap":
        return content
    return "arguments" if content == "params" and method.kind == "request" else "body"


def make_frame(envelope: ir.Envelope, method: ir.Method | None, content: Held, inner: Schema | bool) -> Schema:
    """The schema of messages whose content matches `inner`."""
    if envelope == "dap":
        return _make_dap_frame(method, content, inner)
    properties: Schema = {
        **({"jsonrpc": {"const": "2.0"}} if envelope == "json-rpc" else {}),
        "id": _ID,
        content: inner,
    }
    required = [*(["jsonrpc"] if envelope == "json-rpc" else []), "id", content]
    if method is not None and content == "params":
        properties["method"] = {"const": method.name}
        required = [*required[:-2], *(["id"] if method.kind == "request" else []), "method", content]
        if method.kind == "notification":
            properties["id"] = False
    return {"type": "object", "properties": properties, "required": required}


def _make_dap_frame(method: ir.Method | None, content: Held, inner: Schema | bool) -> Schema:
    is_answer = content != "params"
    is_event = method is not None and method.kind == "notification"
    kind = "response" if is_answer else "event" if is_event else "request"
    name, inside = "event" if is_event else "command", "arguments" if kind == "request" else "body"
    properties: Schema = {"seq": _NUMBER, "type": {"const": kind}, inside: inner}
    properties[name] = {"const": method.name} if method is not None else {"type": "string"}
    required = ["seq", "type", name, inside]
    if is_answer:
        properties |= {"request_seq": _NUMBER, "success": {"const": content == "result"}}
        required += ["request_seq", "success"]
    return {"type": "object", "properties": properties, "required": required}


def _build_answer(id_: ir.JSON, method: ir.Method | None, *, success: bool) -> Message:
    command = method.name if method is not None else "command"
    return {"seq": 2, "type": "response", "request_seq": id_, "success": success, "command": command}
