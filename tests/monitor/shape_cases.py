"""Cases of single messages that no type of the schema refuses, and of answers that nobody asked for; nearest to each what is right."""

from __future__ import annotations

from typing import Any

from monitor.scripts import (
    CWD,
    Case,
    Said,
    agent,
    client,
    error,
    info,
    listed,
    mcp,
    opened,
    permission_v2,
    result,
    text,
    update,
    v1,
    v2,
)

OPEN = [*v1(), *opened()]
OPEN_2 = [*v2(), *opened()]
TOLD = {"name": "tour", "version": "1"}
NETWORK = {"subject": {"type": "_network", "host": "tides.example.org"}}
ENDED = result("agent", "p", {"stopReason": "end_turn"})
NEWS = client("notifications/roots/list_changed")


def said(block: dict[str, Any]) -> Said:
    return update(sessionUpdate="agent_message_chunk", content=block)


def opening(cwd: str, *roots: str) -> Said:
    return client("session/new", {"cwd": cwd, "mcpServers": [], "additionalDirectories": list(roots)}, id_="n")


def exposed(*uris: str, id_: Any = 1) -> Said:
    return result("client", id_, {"roots": [{"uri": uri} for uri in uris]})


def ask(id_: Any) -> Said:
    return "server", {"jsonrpc": "2.0", "id": id_, "method": "roots/list"}


SHAPE_CASES = (
    Case(
        "field-unknown",
        [*OPEN, client("session/prompt", {"sessionId": "s", "prompt": [text()], "trace": 1}, id_="p")],
        "/params/trace",
    ),
    Case("field-unknown", [*OPEN, said({**text(), "_colour": "red"})], "/params/update/content/_colour", name="nested"),
    Case(
        "field-unknown",
        [*OPEN, client("session/prompt", {"sessionId": "s", "prompt": [text(), {**text(), "x": 1}]}, id_="p")],
        "/params/prompt/1/x",
        name="in an array",
    ),
    Case(
        "field-unknown",
        [*v1(), opened()[0], result("agent", "new", {"sessionId": "s", "id": 1})],
        "/result/id",
        name="of a result",
    ),
    Case(
        "field-unknown",
        [*OPEN, update(sessionUpdate="tool_call", toolCallId="t", title="Look", rawinput={})],
        "/params/update/rawinput",
        name="of a variant",
    ),
    Case(
        "field-unknown",
        [*OPEN_2, permission_v2(toolCall={"toolCallId": "t"})],
        "/params/toolCall",
        requirements=(100,),
        name="which version 2 has in the subject",
    ),
    Case(
        "field-unknown",
        [client("initialize", {"protocolVersion": 1, "clientCapabilities": {}, "extra": True}, id_="init")],
        "/params/extra",
        name="of no version in the handshake",
    ),
    Case(
        "field-unknown",
        [*v1(), opened()[0], result("agent", "new", {"sessionId": "s", "models": {}})],
        "/result/models",
        level="note",
        name="that was unstable upstream",
    ),
    Case(
        "method-unknown",
        [*v1(), client("session/set_model", {}, id_=1)],
        "/method",
        level="note",
        name="that was unstable upstream",
    ),
    Case(
        "result-malformed",
        v1({"additionalDirectories": True}),
        "/result/agentCapabilities/sessionCapabilities/additionalDirectories",
        requirements=(3,),
        name="a capability that is true",
    ),
    Case(
        "result-malformed",
        v2({"additionalDirectories": True}),
        "/result/capabilities/session/additionalDirectories",
        requirements=(3,),
        name="a capability of version 2 that is true",
    ),
    Case(
        "roots-malformed",
        [*v1(), opening("/w", "/a", "C:\\x")],
        "/params/additionalDirectories/1",
        requirements=(13,),
        name="mixed",
    ),
    Case(
        "roots-malformed",
        [*v2(), opening("C:\\w", "\\\\tide\\x", "/a")],
        "/params/additionalDirectories/1",
        requirements=(13,),
        name="mixed, below a drive",
    ),
    Case(
        "roots-malformed",
        [*v1(), *listed(info(additionalDirectories=["C:/x"]))],
        "/result/sessions/0/additionalDirectories/0",
        requirements=(13,),
        name="mixed in a list",
    ),
    Case(
        "malformed-roots-accepted",
        [*v1(), opening("/w", "C:\\x"), result("agent", "n", {"sessionId": "s"})],
        "/result",
        -2,
        (37, 41, 44),
        others=frozenset({"roots-malformed"}),
        name="mixed",
    ),
    Case(
        "result-malformed",
        v1(authMethods=[{"id": "k", "name": "Key", "type": "env_var", "vars": [{"name": "KEY", "x": 1}]}]),
        "/result/authMethods/0/type",
        name="a variant that is not known, and its fields",
        level="note",
    ),
    Case("permission-title-blank", [*OPEN_2, permission_v2(title="")], "/params/title", requirements=(90,)),
    Case(
        "permission-title-blank",
        [*OPEN_2, permission_v2(title=" \u2003\n")],
        "/params/title",
        requirements=(90,),
        name="of spaces",
    ),
    Case(
        "unknown-subject-refused",
        [*OPEN_2, permission_v2(**NETWORK), error("client", "ask", -32602)],
        "/error/code",
        -2,
        (96,),
    ),
    Case(
        "result-malformed",
        [
            *v1({"additionalDirectories": True, "list": {}}),
            *opened(additionalDirectories=["/a"]),
            *listed({"sessionId": "s", "cwd": CWD}),
        ],
        "/result/agentCapabilities/sessionCapabilities/additionalDirectories",
        requirements=(3,),
        at=-5,
        name="a capability that is true, from which nothing follows",
    ),
    Case(
        "envelope-malformed",
        [*OPEN, ("client", {"method": "_acme/y"}), error("agent", None, -32600)],
        "",
        at=-2,
        name="a notification, which may be refused",
    ),
    Case(
        "extension-refused-otherwise", [*OPEN, client("_acme/x", id_=1), error("agent", 1, -32603)], "/error/code", -2
    ),
    Case(
        "notification-answered",
        [*OPEN, client("session/cancel", {"sessionId": "s"}), error("agent", None, -32602)],
        "/id",
        -2,
    ),
    Case(
        "notification-answered",
        [*OPEN_2, agent("_acme/x"), error("client", None, -32601)],
        "/id",
        -2,
        name="of an extension, in version 2",
    ),
    Case(
        "notification-answered",
        [*OPEN, client("_acme/x"), error("agent", None, -32700)],
        "/id",
        -2,
        level="note",
        name="which may be about a line that was not recorded",
    ),
)

MCP_SHAPE_CASES = (
    *(
        Case(rule, [*mcp({}), exposed("file:///a", uri)], "/result/roots/1/uri", requirements=(number,), name=uri)
        for rule, number, uri in (
            ("root-with-traversal", 81, "file:///x%2fy"),
            ("root-with-traversal", 81, "file:///x%5C..%5Cy"),
            ("root-with-traversal", 81, "file:///C:%5Cy"),
            ("root-with-traversal", 81, "file:///a%00b"),
            ("root-without-path", 77, "file://"),
            ("root-without-path", 77, "file://localhost"),
        )
    ),
    Case(
        "root-change-unannounced",
        [*mcp({"listChanged": True}), exposed("file:///a"), ask(2), exposed("file:///a", "file:///b", id_=2)],
        "/result/roots",
        -3,
        (75,),
        end=True,
    ),
    Case(
        "notification-answered",
        [*mcp({})[:3], error("server", None, -32601)],
        "/id",
        -2,
    ),
)

QUIET_SHAPES: dict[str, list[Said]] = {
    "what implementations add stands in `_meta`, everywhere": [
        *v1({"_meta": {"acme.example": {"x": True}}}),
        opened(_meta={"a": 1})[0],
        result("agent", "new", {"sessionId": "s", "_meta": {"a": 1}}),
        client("session/prompt", {"sessionId": "s", "prompt": [{**text(), "_meta": {"a": 1}}], "_meta": {}}, id_="p"),
        said({**text(), "annotations": {"priority": 1, "_meta": {"x": 1}}}),
        update(sessionUpdate="tool_call", toolCallId="t", title="Look", rawInput={"a": {"b": 1}}, rawOutput=[{"c": 2}]),
        result("agent", "p", {"stopReason": "end_turn", "_meta": {}}),
    ],
    "extensions have the fields that they like": [
        *OPEN,
        client("_acme/x", {"sessionId": "s", "a": 1}, id_=1),
        result("agent", 1, {"b": 2}),
        agent("_acme/y", {"c": 3}),
    ],
    "variants that are not known have the fields that they like": [
        *OPEN_2,
        update(sessionUpdate="_acme", x={"y": 1}),
        update(sessionUpdate="agent_message_chunk", messageId="m", content={"type": "_acme", "x": 1}),
        permission_v2(**NETWORK),
        result("client", "ask", {"outcome": {"outcome": "cancelled"}}),
    ],
    "answers to a form have the fields of the form": [
        *OPEN,
        agent(
            "elicitation/create",
            {
                "sessionId": "s",
                "mode": "form",
                "message": "?",
                "requestedSchema": {"type": "object", "properties": {"harbour": {"type": "string"}}},
            },
            id_=1,
        ),
        result("client", 1, {"action": "accept", "content": {"harbour": "Vlissingen"}}),
    ],
    "a server of MCP has the fields of its transport": [
        *v1(),
        *opened(mcpServers=[{"name": "tides", "command": "/bin/tides", "args": [], "env": []}]),
    ],
    "a client offers two versions at once": [
        client(
            "initialize",
            {
                "protocolVersion": 2,
                "info": TOLD,
                "capabilities": {},
                "clientInfo": TOLD,
                "clientCapabilities": {"fs": {"readTextFile": True}},
            },
            id_=0,
        ),
        result("agent", 0, {"protocolVersion": 1}),
    ],
    "a version from the future has fields that nobody knows here": [
        client("initialize", {"protocolVersion": 99, "info": TOLD, "capabilities": {}, "future": 1}, id_=0),
        result("agent", 0, {"protocolVersion": 2, "info": TOLD, "capabilities": {}}),
    ],
    "paths of one platform have several spellings": [
        *v1(),
        *opened(cwd="C:\\w", additionalDirectories=["d:/x", "\\\\tide\\x", "//tide/y"]),
    ],
    "roots may be shared paths of either platform": [
        *v1(),
        *opened(cwd="//tide/y", additionalDirectories=["/a", "/b"]),
    ],
    "a title of one letter is a title": [
        *OPEN_2,
        permission_v2(title="?"),
        result("client", "ask", {"outcome": {"outcome": "selected", "optionId": "yes"}}),
    ],
    "a subject that is not known is declined": [
        *OPEN_2,
        permission_v2(**NETWORK),
        result("client", "ask", {"outcome": {"outcome": "cancelled"}}),
    ],
    "a subject that is not known is withdrawn": [
        *OPEN_2,
        permission_v2(**NETWORK),
        agent("$/cancel_request", {"requestId": "ask"}),
        error("client", "ask", -32603),
    ],
    "a permission without a subject cannot be asked for": [
        *OPEN_2,
        permission_v2(),
        error("client", "ask", -32603),
    ],
    "an extension that is not known is refused": [*OPEN, agent("_acme/x", id_=1), error("client", 1, -32601)],
    "an error without an id is about a request, and notifications came after it": [
        *OPEN,
        client("_acme/x", id_=1),
        client("_acme/y"),
        error("agent", None, -32600),
    ],
}

QUIET_MCP_SHAPES: dict[str, list[Said]] = {
    "roots change and that is said before they are shown": [
        *mcp({"listChanged": True}),
        exposed("file:///a"),
        NEWS,
        ask(2),
        exposed("file:///b", id_=2),
    ],
    "roots change and that is said afterwards": [
        *mcp({"listChanged": True}),
        exposed("file:///a"),
        ask(2),
        exposed("file:///b", id_=2),
        NEWS,
    ],
    "roots are shown in another order": [
        *mcp({"listChanged": True}),
        exposed("file:///a", "file:///b"),
        ask(2),
        exposed("file:///b", "file:///a", id_=2),
    ],
    "roots change and nobody promised news": [*mcp({}), exposed("file:///a"), ask(2), exposed("file:///b", id_=2)],
    "roots have odd names that lead nowhere else": [
        *mcp({}),
        exposed(
            "file:///", "file:///a%20b", "file:///%C3%A9..x", "file://localhost/a", "file:///C:/x", "file:///a%25b"
        ),
    ],
}
