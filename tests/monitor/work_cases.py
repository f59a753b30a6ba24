"""Breaches about files, terminals, deleting and withdrawing, and conversations like them in which nothing is wrong."""

from __future__ import annotations

from typing import Any, Final

from monitor.scripts import (
    CWD,
    Case,
    Said,
    agent,
    client,
    error,
    opened,
    prompt,
    result,
    text,
    update,
    v1,
    v2,
)

OPEN: Final = [*v1(), *opened()]
OPEN_2: Final = [*v2(), *opened()]


def shows(terminal: str, **more: Any) -> Said:
    """A tool call that shows a terminal."""
    content = [{"type": "terminal", "terminalId": terminal}]
    return update(sessionUpdate="tool_call", toolCallId="c", title="Tides", content=content, **more)


def deleted(session: str, id_: int) -> list[Said]:
    return [client("session/delete", {"sessionId": session}, id_=id_), result("agent", id_, {})]


def terminal(limit: int | None = None) -> list[Said]:
    asked: dict[str, Any] = {"sessionId": "s", "command": "tides"}
    return [
        agent("terminal/create", asked if limit is None else {**asked, "outputByteLimit": limit}, id_=1),
        result("client", 1, {"terminalId": "t"}),
    ]


def output(told: str) -> list[Said]:
    return [
        agent("terminal/output", {"sessionId": "s", "terminalId": "t"}, id_=2),
        result("client", 2, {"output": told, "truncated": True}),
    ]


def lines(limit: int, told: str) -> list[Said]:
    return [
        agent("fs/read_text_file", {"sessionId": "s", "path": f"{CWD}/a", "limit": limit}, id_="r"),
        result("client", "r", {"content": told}),
    ]


def withdrawn(*answer: Said) -> list[Said]:
    """A request that is withdrawn, and answered when the agent has read of that."""
    return [
        client("session/list", {}, id_=1),
        client("$/cancel_request", {"requestId": 1}),
        client("session/list", {}, id_=2),
        result("agent", 2, {"sessions": []}),
        *answer,
    ]


WORK_CASES: Final = (
    Case("file-longer-than-asked", [*OPEN, *lines(2, "ebb\nflow\ntide")], "/result/content", earlier=-2),
    Case("output-over-limit", [*OPEN, *terminal(5), *output("fl\u00fcten")], "/result/output"),
    Case("terminal-not-created", [*OPEN, prompt(), shows("t")], "/params/update/content/0/terminalId"),
    Case(
        "terminal-not-created",
        [*OPEN, prompt(), shows("t", _meta={"acme.example/terminal": True})],
        "/params/update/content/0/terminalId",
        level="note",
        name="with a meaning of the peers' own",
    ),
    Case(
        "elicitation-refused-otherwise",
        [
            *OPEN,
            agent(
                "elicitation/create",
                {"sessionId": "s", "mode": "url", "message": "?", "url": "https://a.example/1", "elicitationId": "e"},
                id_=1,
            ),
            error("client", 1, -32603),
        ],
        "/error/code",
        earlier=-2,
        others=frozenset({"variant-used-without-capability"}),
        name="in version 1",
    ),
    Case(
        "repeated-delete-refused",
        [*OPEN, *deleted("s", 1), deleted("s", 2)[0], error("agent", 2, -32602)],
        "/error",
        earlier=-3,
    ),
    Case(
        "repeated-delete-refused",
        [*OPEN_2, *deleted("s", 1), deleted("s", 2)[0], error("agent", 2, -32602)],
        "/error",
        earlier=-3,
        name="in version 2",
    ),
    Case(
        "withdrawn-request-failed-otherwise",
        [*OPEN_2, *withdrawn(error("agent", 1, -32603))],
        "/error/code",
        earlier=-4,
        name="in version 2",
    ),
    Case(
        "withdrawn-request-failed-otherwise",
        [*OPEN, *withdrawn(error("agent", 1, -32603))],
        "/error/code",
        earlier=-4,
    ),
    Case(
        "prompt-not-reported",
        [
            *OPEN_2,
            prompt(),
            result("agent", "p", {"messageId": "m"}),
            update(sessionUpdate="state_update", state="running"),
            update(sessionUpdate="state_update", state="idle", stopReason="end_turn"),
        ],
        "",
        earlier=-4,
        end=True,
        level="note",
        name="at the end",
    ),
)

QUIET_WORK: Final[dict[str, list[Said]]] = {
    "a file is read up to its limit": [*OPEN, *lines(2, "ebb\nflow\n"), *lines(2, "ebb\nflow"), *lines(1, "")],
    "a terminal keeps what it may keep": [*OPEN, *terminal(5), *output("f\ufffdte\ufffd")],
    "a terminal has no limit": [*OPEN, *terminal(), *output("flow" * 1000)],
    "a tool call shows its terminal, also when it is released": [
        *OPEN,
        prompt(),
        *terminal(),
        shows("t"),
        agent("terminal/release", {"sessionId": "s", "terminalId": "t"}, id_=3),
        result("client", 3, {}),
        shows("t"),
        result("agent", "p", {"stopReason": "end_turn"}),
    ],
    "a session of before shows a terminal of before": [
        *v1(),
        client("session/load", {"sessionId": "s", "cwd": CWD, "mcpServers": []}, id_="load"),
        shows("old"),
        result("agent", "load", {}),
    ],
    "a session is deleted, made again and deleted": [
        *OPEN,
        *deleted("s", 1),
        *deleted("s", 2),
        *opened(method="session/load", id_=3),
        client("session/delete", {"sessionId": "s"}, id_=4),
        error("agent", 4, -32603),
    ],
    "a withdrawn request is answered as one": [*OPEN, *withdrawn(error("agent", 1, -32800))],
    "a withdrawn request is answered all the same": [*OPEN, *withdrawn(result("agent", 1, {"sessions": []}))],
    "a withdrawn request was wrong anyway": [*OPEN, *withdrawn(error("agent", 1, -32602))],
    "a prompt is reported after its turn has begun": [
        *OPEN_2,
        prompt(),
        result("agent", "p", {"messageId": "m"}),
        update(sessionUpdate="state_update", state="running"),
        update(sessionUpdate="user_message", messageId="m", content=[text()]),
        update(sessionUpdate="state_update", state="idle", stopReason="end_turn"),
    ],
}
