"""Cases of version 2 for rules that both versions have: what the pages of version 2 demand is broken there."""

from __future__ import annotations

from typing import Any, Final

from monitor.scripts import (
    CWD,
    EXTRA,
    OPTIONS,
    Case,
    Said,
    agent,
    call,
    chosen,
    client,
    error,
    info,
    listed,
    opened,
    permission_v2,
    prompt,
    result,
    text,
    update,
    v2,
)

OPEN: Final = [*v2(), *opened()]
ROOTS: Final = [EXTRA]
ASKED: Final = v2()[:1]
SELECT: Final = {
    "configId": "model",
    "name": "Model",
    "type": "select",
    "currentValue": "swell",
    "options": [{"value": "swell", "name": "Swell"}],
}
IN_TERMINAL: Final = {"sessionId": "s", "terminalId": "t"}
IN_CALL: Final = {"sessionId": "s", "toolCallId": "t"}
STORED: Final[dict[str, Any]] = {"sessionId": "s", "cwd": CWD}
EARLY: Final[dict[str, dict[str, Any]]] = {
    "session/new": {"cwd": CWD},
    "session/load": STORED,
    "session/resume": STORED,
    "session/list": {},
    "session/delete": {"sessionId": "s"},
    "session/prompt": {"sessionId": "s", "prompt": [text()]},
}
CONTENT: Final[dict[str, dict[str, Any]]] = {
    "image": {"type": "image", "mimeType": "image/png", "data": ""},
    "audio": {"type": "audio", "mimeType": "audio/wav", "data": ""},
    "embeddedContext": {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}},
}
SERVERS: Final[dict[str, dict[str, Any]]] = {
    "stdio": {"type": "stdio", "name": "a", "command": "/bin/a"},
    "http": {"type": "http", "name": "a", "url": "https://a.example"},
}
QUESTIONS: Final[dict[str, dict[str, Any]]] = {
    "form": {"mode": "form", "requestedSchema": {"type": "object", "properties": {}}},
    "url": {"mode": "url", "elicitationId": "e", "url": "https://a.example"},
}
REMOVED: Final = (
    *("fs/read_text_file", "fs/write_text_file", "terminal/create"),
    *("session/set_mode", "authenticate"),
)
BASELINE: Final[dict[str, dict[str, Any]]] = {
    "session/resume": {"sessionId": "old", "cwd": CWD},
    "session/list": {},
    "session/close": {"sessionId": "s"},
}


def from_either(method: str) -> Said:
    by = "agent" if method.partition("/")[0] in ("fs", "terminal") else "client"
    return by, call(method, {}, "x")


def asking(mode: str) -> list[Said]:
    other = {"form": "url", "url": "form"}[mode]
    asked = {"message": "Which?", "sessionId": "s", **QUESTIONS[mode]}
    return [
        *v2(caps={"elicitation": {other: {}}}),
        *opened(),
        agent("elicitation/create", asked, id_="ask"),
    ]


def missing(method: str, params: Any) -> list[Said]:
    return [*OPEN, client(method, params, id_="m"), error("agent", "m", -32601)]


VERSION_TWO_CASES: Final = (
    Case("not-json", [*v2(), ("agent", b"ready")], "", name="the agent in version 2"),
    Case("not-json", [*v2(), ("client", b"\xff")], "", name="the client in version 2"),
    Case("envelope-malformed", [*v2(), ("agent", {"method": "_x"})], "", name="the agent in version 2"),
    Case("envelope-malformed", [*v2(), ("client", {"method": "_x"})], "", name="the client in version 2"),
    Case(
        "error-malformed",
        [*OPEN, prompt(), ("agent", {"jsonrpc": "2.0", "id": "p", "error": {"code": 1}})],
        "/error",
        name="version 2",
    ),
    Case("response-without-request", [*OPEN, result("agent", "x", {})], "/id", name="version 2"),
    Case("id-in-use", [*OPEN, permission_v2(), permission_v2()], "/id", -2, name="version 2"),
    *(
        Case(
            "message-before-initialize",
            [*ASKED, client(method, params, id_="x")],
            "/method",
            -2,
            others=frozenset({"session-not-open"} if method == "session/prompt" else ()),
            name=f"{method} in version 2",
        )
        for method, params in EARLY.items()
    ),
    *(
        Case("method-unknown", [*OPEN, from_either(method)], "/method", name=f"{method} in version 2")
        for method in REMOVED
    ),
    *(
        Case(
            "variant-used-without-capability",
            [*OPEN, prompt(block)],
            "/params/prompt/0",
            -4,
            name=f"{word} in version 2",
        )
        for word, block in CONTENT.items()
    ),
    *(
        Case(
            "variant-used-without-capability",
            [*v2(), client("session/new", {"cwd": CWD, "mcpServers": [server]}, id_="n")],
            "/params/mcpServers/0",
            -2,
            name=f"{word} in version 2",
        )
        for word, server in SERVERS.items()
    ),
    *(
        Case("variant-used-without-capability", asking(mode), "/params", -5, name=f"a {mode} in version 2")
        for mode in QUESTIONS
    ),
    Case(
        "variant-used-without-capability",
        v2(authMethods=[{"type": "terminal", "methodId": "tty", "name": "Terminal"}]),
        "/result/authMethods/0",
        -2,
        name="a login at a terminal in version 2",
    ),
    *(
        Case(
            "advertised-method-missing",
            missing(method, params),
            "/error/code",
            -5,
            (65,),
            name=f"{method} in version 2",
        )
        for method, params in BASELINE.items()
    ),
    Case(
        "advertised-method-missing",
        missing("session/load", STORED),
        "/error/code",
        -5,
        (65,),
        name="session/load in version 2, which newer texts have removed",
        level="note",
    ),
    Case(
        "advertised-method-missing",
        [*OPEN, permission_v2(), error("client", "ask", -32601)],
        "/error/code",
        -2,
        name="permission in version 2",
    ),
    Case(
        "advertised-method-missing",
        [
            *v2(),
            *opened(answer={"configOptions": [SELECT]}),
            client(
                "session/set_config_option",
                {"sessionId": "s", "configId": "model", "type": "id", "value": "swell"},
                id_="o",
            ),
            error("agent", "o", -32601),
        ],
        "/error/code",
        -5,
        name="options in version 2",
    ),
    Case(
        "roots-not-resent",
        [*v2(), *listed(info(additionalDirectories=ROOTS)), client("session/resume", STORED, id_=1)],
        "/params",
        -2,
        (27, 52),
        name="version 2",
    ),
    Case(
        "roots-where-none-belong",
        [*OPEN, update(sessionUpdate="session_info_update", title="Tide", additionalDirectories=ROOTS)],
        "/params/update/additionalDirectories",
        requirements=(33,),
        name="in an update of version 2",
    ),
    Case("session-id-in-use", [*OPEN, *opened(id_="again")], "/result/sessionId", -4, name="version 2"),
    Case("session-not-open", [*v2(), prompt()], "/params/sessionId", name="a prompt in version 2"),
    *(
        Case(
            "session-closed",
            [*OPEN, client("session/close", {"sessionId": "s"}, id_="c"), result("agent", "c", {}), said],
            "/params/sessionId",
            -2,
            name=f"{said[1]['method']} in version 2",
        )
        for said in (update(sessionUpdate="agent_message", messageId="m"), permission_v2())
    ),
    Case(
        "deleted-session-listed",
        [
            *v2(),
            client("session/delete", {"sessionId": "old"}, id_="d"),
            result("agent", "d", {}),
            *listed(info("old")),
        ],
        "/result/sessions/0/sessionId",
        -3,
        name="version 2",
    ),
    Case(
        "permission-options-repeated",
        [*OPEN, permission_v2(options=[OPTIONS[0], OPTIONS[0]])],
        "/params/options/1/optionId",
        name="version 2",
    ),
    Case(
        "permission-outcome-not-offered",
        [*OPEN, permission_v2(), chosen("maybe")],
        "/result/outcome/optionId",
        -2,
        name="version 2",
    ),
    Case(
        "config-option-not-offered",
        [
            *v2(),
            *opened(answer={"configOptions": [SELECT]}),
            client(
                "session/set_config_option",
                {"sessionId": "s", "configId": "model", "type": "id", "value": "ebb"},
                id_="o",
            ),
        ],
        "/params/value",
        -3,
        name="a value in version 2",
    ),
    Case(
        "cancel-not-offered",
        [*OPEN, client("terminal/cancel", IN_TERMINAL, id_=1)],
        "/params/terminalId",
        name="a terminal",
    ),
    Case(
        "cancel-not-offered",
        [*OPEN, client("tool_call/cancel", IN_CALL, id_=1)],
        "/params/toolCallId",
        name="a tool call",
    ),
    Case(
        "cancel-of-unknown-request",
        [*OPEN, client("$/cancel_request", {"requestId": "x"})],
        "/params/requestId",
        name="version 2",
    ),
)
