"""Conversations as data: an opening that breaks nothing, and for each rule of the monitor the messages that break it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Said: TypeAlias = "tuple[str, Any]"
"""Who says it, and the message: JSON, or bytes that are none."""

CWD, EXTRA = "/home/mara/tidewatch", "/home/mara/almanac"


@dataclass(frozen=True)
class Case:
    """A conversation in which exactly one message breaks a rule.

    `at` counts from the end (-1 is the last message), `earlier` likewise. `level` is lower than the rule's where nothing proves the
    breach. `others` are rules that cannot but be broken too. `end` is set where the breach shows when the conversation is over.
    """

    rule: str
    said: Sequence[Said]
    pointer: str
    earlier: int | None = None
    requirements: tuple[int, ...] = ()
    at: int = -1
    others: frozenset[str] = frozenset()
    end: bool = False
    name: str = ""
    level: str = ""


def numbers(requirements: Iterable[int | str]) -> tuple[int, ...]:
    """The requirements that a case names. Those with an id are the table's to name."""
    return tuple(each for each in requirements if isinstance(each, int))


def client(method: str, params: Any = None, *, id_: Any = None) -> Said:
    return "client", call(method, params, id_)


def agent(method: str, params: Any = None, *, id_: Any = None) -> Said:
    return "agent", call(method, params, id_)


def call(method: str, params: Any, id_: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0"} | ({} if id_ is None else {"id": id_}) | {"method": method}
    return message | ({} if params is None else {"params": params})


def result(sender: str, id_: Any, value: Any) -> Said:
    return sender, {"jsonrpc": "2.0", "id": id_, "result": value}


def error(sender: str, id_: Any, code: int, **more: Any) -> Said:
    return sender, {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": "no", **more}}


V1_CLIENT: dict[str, Any] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
}
V1_SESSION: dict[str, Any] = {
    "list": {},
    "resume": {},
    "close": {},
    "delete": {},
    "fork": {},
    "additionalDirectories": {},
}


def v1(session: Any = None, caps: Any = None, **more: Any) -> list[Said]:
    """The handshake of version 1."""
    capabilities = {"loadSession": True, "sessionCapabilities": V1_SESSION if session is None else session}
    return [
        client(
            "initialize", {"protocolVersion": 1, "clientCapabilities": V1_CLIENT if caps is None else caps}, id_="init"
        ),
        result("agent", "init", {"protocolVersion": 1, "agentCapabilities": capabilities, **more}),
    ]


def v2(session: Any = None, caps: Any = None, **more: Any) -> list[Said]:
    """The handshake of version 2."""
    session = {"additionalDirectories": {}, "delete": {}, "fork": {}} if session is None else session
    info = {"name": "tour", "version": "1"}
    return [
        client("initialize", {"protocolVersion": 2, "info": info, "capabilities": caps or {}}, id_="init"),
        result(
            "agent",
            "init",
            {"protocolVersion": 2, "info": info, "capabilities": {"session": session} if session else {}, **more},
        ),
    ]


def opened(
    name: str = "s", id_: Any = "new", answer: Any = None, method: str = "session/new", **params: Any
) -> list[Said]:
    """A session, made by its request and answer."""
    stored: dict[str, Any] = {} if method == "session/new" else {"sessionId": params.pop("source", name)}
    asked: dict[str, Any] = {"cwd": CWD, "mcpServers": [], **stored, **params}
    told: dict[str, Any] = {"sessionId": name} if method in ("session/new", "session/fork") else {}
    return [client(method, asked, id_=id_), result("agent", id_, {**told, **(answer or {})})]


def info(name: str = "s", **more: Any) -> dict[str, Any]:
    return {"sessionId": name, "cwd": CWD, "additionalDirectories": [], **more}


def listed(*sessions: dict[str, Any], id_: Any = "list", **params: Any) -> list[Said]:
    return [client("session/list", params, id_=id_), result("agent", id_, {"sessions": list(sessions)})]


def prompt(*blocks: Any, session: str = "s", id_: Any = "p") -> Said:
    return client(
        "session/prompt", {"sessionId": session, "prompt": list(blocks) or [{"type": "text", "text": "hi"}]}, id_=id_
    )


def update(session: str = "s", **fields: Any) -> Said:
    return agent("session/update", {"sessionId": session, "update": fields})


def text(words: str = "hi") -> dict[str, Any]:
    return {"type": "text", "text": words}


OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def permission(id_: Any = "ask", options: Any = None) -> Said:
    asked = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": OPTIONS if options is None else options}
    return agent("session/request_permission", asked, id_=id_)


def permission_v2(id_: Any = "ask", **more: Any) -> Said:
    return agent(
        "session/request_permission", {"sessionId": "s", "title": "May I?", "options": OPTIONS, **more}, id_=id_
    )


def chosen(option: str, id_: Any = "ask") -> Said:
    return result("client", id_, {"outcome": {"outcome": "selected", "optionId": option}})


def read(path: str, id_: Any = "r") -> Said:
    return agent("fs/read_text_file", {"sessionId": "s", "path": path}, id_=id_)


def mcp(roots: Any = None, agreed: str = "2025-06-18") -> list[Said]:
    """The handshake of MCP."""
    told = {"name": "tour", "version": "1"}
    capabilities = {} if roots is None else {"roots": roots}
    asked = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": told}
    answer = {"protocolVersion": agreed, "capabilities": {}, "serverInfo": told}
    return [
        client("initialize", asked, id_=0),
        result("server", 0, answer),
        client("notifications/initialized"),
        ("server", call("roots/list", None, 1)),
    ]
