"""Cases of turns, their cancellation and their end, and of history: what breaks each rule, and nearest to it what keeps it."""

from __future__ import annotations

from typing import Any

from monitor.scripts import (
    CWD,
    Case,
    Said,
    chosen,
    client,
    error,
    info,
    listed,
    opened,
    permission,
    permission_v2,
    prompt,
    result,
    text,
    update,
    v1,
    v2,
)

OPEN = [*v1(), *opened()]
OPEN_2 = [*v2(), *opened()]
CANCEL = client("session/cancel", {"sessionId": "s"})
CLOSE = client("session/close", {"sessionId": "s"}, id_="close")
CLOSED = result("agent", "close", {})
REFUSED = result("client", "ask", {"outcome": {"outcome": "cancelled"}})
TAKEN = result("agent", "p", {"messageId": "u"})
ECHO = update(sessionUpdate="user_message", messageId="u", content=[text()])


def ended(reason: str = "end_turn") -> Said:
    return result("agent", "p", {"stopReason": reason})


def state(name: str, reason: str | None = None) -> Said:
    return update(sessionUpdate="state_update", state=name, **({} if reason is None else {"stopReason": reason}))


def said(kind: str = "agent_message_chunk", message: str = "m") -> Said:
    return update(sessionUpdate=kind, messageId=message, content=text())


def tool(kind: str = "tool_call", **more: Any) -> Said:
    return update(sessionUpdate=kind, toolCallId="t", title="Look", **more)


def restore(method: str, **more: Any) -> Said:
    return client(method, {"sessionId": "s", "cwd": CWD, "mcpServers": [], **more}, id_="back")


BACK = result("agent", "back", {})
FROM_START = {"replayFrom": {"type": "start"}}
TERMINAL, CALL = {"type": "terminal", "terminalId": "t"}, {"type": "tool_call", "toolCallId": "t"}
STARTED = update(sessionUpdate="terminal_update", terminalId="t", command="make")
EXITED = update(sessionUpdate="terminal_update", terminalId="t", exitStatus={"exitCode": 0})


def resting(*work: Any, **more: Any) -> Said:
    return update(sessionUpdate="state_update", state="idle", background=list(work), **more)


AT_WORK = [*OPEN_2, prompt(), TAKEN, ECHO, state("running")]

TURN_CASES = (
    Case("background-not-announced", [*OPEN_2, resting(TERMINAL)], "/params/update/background/0"),
    Case(
        "background-not-announced",
        [*OPEN_2, STARTED, resting(TERMINAL, CALL)],
        "/params/update/background/1",
        name="a tool call of the same id as a terminal",
    ),
    Case(
        "background-end-not-reported",
        [*OPEN_2, STARTED, resting(TERMINAL), resting()],
        "/params/update/background",
        -2,
    ),
    Case(
        "background-end-not-reported",
        [*OPEN_2, tool("tool_call_update", status="in_progress"), resting(CALL), resting({"type": "_upload"})],
        "/params/update/background",
        -2,
        name="of a tool call",
    ),
    Case(
        "background-left-out",
        [*OPEN_2, STARTED, resting(TERMINAL), state("running")],
        "/params/update",
        -2,
    ),
    Case(
        "background-left-out", [*OPEN_2, resting(), state("running")], "/params/update", -2, name="after an empty list"
    ),
    Case(
        "cancelled-turn-ended-otherwise",
        [*OPEN, prompt(), CANCEL, *listed(), ended()],
        "/result/stopReason",
        -4,
    ),
    Case(
        "cancelled-turn-ended-otherwise",
        [*OPEN, prompt(), CANCEL, ended("max_tokens")],
        "/result/stopReason",
        -2,
        level="note",
        name="which may have crossed",
    ),
    Case(
        "cancelled-turn-ended-otherwise",
        [*AT_WORK, CANCEL, *listed(), state("idle", "error")],
        "/params/update/stopReason",
        -4,
        name="in version 2",
    ),
    Case(
        "cancelled-turn-ended-otherwise",
        [*AT_WORK, CANCEL, state("idle", "end_turn")],
        "/params/update/stopReason",
        -2,
        level="note",
        name="in version 2, which may have crossed",
    ),
    Case("cancelled-prompt-failed", [*OPEN, prompt(), CANCEL, *listed(), error("agent", "p", -32603)], "/error", -4),
    Case(
        "cancelled-prompt-failed",
        [*OPEN, prompt(), CANCEL, *listed(), error("agent", "p", -32800)],
        "/error",
        -4,
        name="as a request that was cancelled",
    ),
    Case(
        "cancelled-prompt-failed",
        [*OPEN, prompt(), CANCEL, error("agent", "p", -32603)],
        "/error",
        -2,
        level="note",
        name="which may have crossed",
    ),
    Case(
        "close-without-cancel",
        [*OPEN, prompt(), CLOSE, CLOSED, ended()],
        "/result/stopReason",
        -2,
    ),
    Case(
        "close-without-cancel",
        [*OPEN, prompt(), CLOSE, CLOSED, error("agent", "p", -32602)],
        "/error",
        -2,
        name="and the prompt fails",
    ),
    Case(
        "close-without-cancel",
        [*OPEN, prompt(), CLOSE, *listed(), ended(), CLOSED],
        "/result/stopReason",
        -5,
        at=-2,
        name="whose answer comes later",
    ),
    Case(
        "close-without-cancel",
        [*OPEN, prompt(), CLOSE, ended(), CLOSED],
        "/result/stopReason",
        -3,
        at=-2,
        level="note",
        name="which may have crossed",
    ),
    Case("close-without-cancel", [*AT_WORK, CLOSE, CLOSED], "/result", -3, name="in version 2"),
    Case(
        "cancelled-request-unanswered",
        [*OPEN, prompt(), CLOSE, CLOSED, *listed()],
        "",
        -3,
        at=-5,
        end=True,
        name="by closing its session",
    ),
    Case(
        "update-after-cancelled",
        [*OPEN, prompt(), CANCEL, ended("cancelled"), said()],
        "/params/update/sessionUpdate",
        -2,
    ),
    Case(
        "update-after-cancelled",
        [*OPEN, prompt(), tool(), CANCEL, ended("cancelled"), tool("tool_call_update", status="failed")],
        "/params/update/sessionUpdate",
        -2,
        name="of a tool call",
    ),
    Case(
        "update-after-cancelled",
        [*AT_WORK, said(), CANCEL, state("idle", "cancelled"), said()],
        "/params/update/sessionUpdate",
        -2,
        name="in version 2",
    ),
    Case(
        "update-after-cancelled",
        [*AT_WORK, tool("tool_call_update"), CANCEL, state("idle", "cancelled"), tool("tool_call_update")],
        "/params/update/sessionUpdate",
        -2,
        level="note",
        name="in version 2, perhaps in the background",
    ),
    Case(
        "permission-not-cancelled",
        [*OPEN, prompt(), permission(), CANCEL, chosen("yes")],
        "/result/outcome/outcome",
        -2,
    ),
    Case(
        "permission-not-cancelled",
        [*OPEN, prompt(), CANCEL, permission(), chosen("yes")],
        "/result/outcome/outcome",
        -3,
        name="asked for after the turn was cancelled",
    ),
    Case(
        "permission-not-cancelled",
        [*AT_WORK, permission_v2(), state("requires_action"), CANCEL, chosen("yes")],
        "/result/outcome/outcome",
        -2,
        name="in version 2",
    ),
    Case("idle-without-stop-reason", [*AT_WORK, state("idle")], "/params/update", -2),
    Case(
        "idle-without-stop-reason",
        [*AT_WORK, CANCEL, update(sessionUpdate="state_update", state="idle", stopReason=None)],
        "/params/update",
        -3,
        name="which is null",
    ),
    Case(
        "idle-without-running", [*OPEN_2, prompt(), TAKEN, ECHO, state("idle", "end_turn")], "/params/update/stopReason"
    ),
    Case(
        "prompt-not-reported",
        [*OPEN_2, prompt(), TAKEN, state("running"), state("idle", "end_turn"), CLOSE, CLOSED],
        "/result",
        -6,
    ),
    Case(
        "history-not-requested",
        [*v1(), restore("session/resume"), said("user_message_chunk")],
        "/params/update/sessionUpdate",
        -2,
    ),
    Case(
        "history-not-requested",
        [*v2(), restore("session/resume", replayFrom=None), ECHO],
        "/params/update/sessionUpdate",
        -2,
        name="in version 2",
    ),
    Case(
        "history-not-requested",
        [*OPEN, restore("session/resume"), said()],
        "/params/update/sessionUpdate",
        -2,
        level="note",
        name="of a session that is open",
    ),
    Case("state-missing-on-resume", [*v2(), restore("session/resume"), BACK], "/result", -2),
    Case(
        "state-missing-on-resume",
        [*OPEN_2, state("idle"), restore("session/resume"), BACK],
        "/result",
        -2,
        name="since it was asked for",
    ),
    Case(
        "session-in-other-directory",
        [*v1(), *listed({**info(), "cwd": "/elsewhere"}), restore("session/load")],
        "/params/cwd",
        -2,
        name="than it is listed with",
    ),
    Case(
        "session-in-other-directory",
        [*OPEN_2, client("session/resume", {"sessionId": "s", "cwd": "/elsewhere"}, id_="back")],
        "/params/cwd",
        -3,
    ),
    Case(
        "initialize-repeated",
        [*OPEN_2, ("client", {**v2()[0][1], "id": 9})],
        "/method",
        -5,
        name="after a session was made",
    ),
    Case(
        "history-after-answer",
        [*v1(), restore("session/load"), BACK, said("user_message_chunk")],
        "/params/update/sessionUpdate",
        -2,
    ),
    Case(
        "history-after-answer",
        [*v1(), restore("session/load"), BACK, tool(status="completed")],
        "/params/update/sessionUpdate",
        -2,
        name="a tool call",
    ),
    Case(
        "history-after-answer",
        [*v1(), restore("session/load"), BACK, said()],
        "/params/update/sessionUpdate",
        -2,
        level="note",
        name="perhaps news",
    ),
    Case(
        "history-after-answer",
        [*v2(), restore("session/resume", **FROM_START), state("idle"), BACK, ECHO],
        "/params/update/sessionUpdate",
        -2,
        name="in version 2",
    ),
)

QUIET_TURNS: dict[str, list[Said]] = {
    "work in the background is announced, listed, ended and listed no more": [
        *OPEN_2,
        STARTED,
        tool("tool_call_update", status="in_progress"),
        resting(TERMINAL, CALL, {"type": "_upload"}),
        tool("tool_call_update"),
        EXITED,
        tool("tool_call_update", status="completed"),
        resting(),
    ],
    "a terminal is announced by the tool call that shows it, and goes on in the background": [
        *OPEN_2,
        tool("tool_call_update", content=[{"type": "terminal", "terminalId": "t"}]),
        resting(TERMINAL),
        resting(TERMINAL),
    ],
    "a resumed session has work in the background that was announced on another connection": [
        *v2(),
        restore("session/resume"),
        resting(TERMINAL),
        BACK,
    ],
    "a turn is cancelled, goes on for a while and ends as cancelled": [
        *OPEN,
        prompt(),
        tool(),
        CANCEL,
        *listed(),
        said(),
        tool("tool_call_update", status="failed"),
        ended("cancelled"),
    ],
    "news that belong to no turn come after it was cancelled": [
        *OPEN,
        prompt(),
        CANCEL,
        ended("cancelled"),
        update(sessionUpdate="available_commands_update", availableCommands=[]),
        update(sessionUpdate="session_info_update", title="Tide"),
        update(sessionUpdate="usage_update", used=1, size=2),
    ],
    "the next turn begins after one was cancelled": [
        *OPEN,
        prompt(),
        CANCEL,
        ended("cancelled"),
        prompt(),
        said(),
        tool(),
        ended(),
    ],
    "a turn was over when it was cancelled": [*OPEN, prompt(), ended(), CANCEL, *listed(), said()],
    "two turns are open and both are cancelled": [
        *OPEN,
        prompt(id_=1),
        prompt(id_=2),
        CANCEL,
        result("agent", 1, {"stopReason": "cancelled"}),
        said(),
        result("agent", 2, {"stopReason": "cancelled"}),
    ],
    "another session is cancelled": [
        *OPEN,
        *opened("t", id_=8),
        prompt(),
        client("session/cancel", {"sessionId": "t"}),
        *listed(),
        ended(),
    ],
    "a turn is over when the next is asked for and the first was cancelled": [
        *OPEN,
        prompt(id_=1),
        CANCEL,
        prompt(id_=2),
        result("agent", 1, {"stopReason": "cancelled"}),
        said(),
        permission(),
        chosen("yes"),
        result("agent", 2, {"stopReason": "end_turn"}),
    ],
    "a request was answered that came before the cancellation": [
        *OPEN,
        prompt(),
        client("session/list", {}, id_="list"),
        CANCEL,
        result("agent", "list", {"sessions": []}),
        error("agent", "p", -32000),
    ],
    "a session is closed in the middle of a turn, which is cancelled": [
        *OPEN,
        prompt(),
        CLOSE,
        ended("cancelled"),
        CLOSED,
    ],
    "a turn is cancelled after its session was closed": [*OPEN, prompt(), CLOSE, CLOSED, ended("cancelled")],
    "a close that fails leaves the turn as it was": [
        *OPEN,
        prompt(),
        CLOSE,
        error("agent", "close", -32603),
        said(),
        ended(),
    ],
    "a session is closed between turns": [*OPEN, prompt(), ended(), CLOSE, CLOSED],
    "work of version 2 is cancelled": [
        *AT_WORK,
        said(),
        permission_v2(),
        state("requires_action"),
        CANCEL,
        REFUSED,
        *listed(),
        said(),
        state("idle", "cancelled"),
    ],
    "work of version 2 is cancelled by closing the session": [*AT_WORK, CLOSE, state("idle", "cancelled"), CLOSED],
    "work goes on in the background after it was cancelled": [
        *AT_WORK,
        CANCEL,
        state("idle", "cancelled"),
        said(message="of the background"),
        update(sessionUpdate="usage_update", used=1, size=2),
        state("running"),
        said(),
        state("idle", "end_turn"),
    ],
    "a state is told twice": [
        *AT_WORK,
        state("running"),
        state("idle", "end_turn"),
        state("idle"),
        state("idle", "end_turn"),
        CANCEL,
        *listed(),
        state("idle", "end_turn"),
    ],
    "the user message is told before the prompt is accepted": [
        *OPEN_2,
        prompt(),
        ECHO,
        state("running"),
        TAKEN,
        state("idle", "end_turn"),
        CLOSE,
        CLOSED,
    ],
    "a state is told before the session's id": [
        *v2(),
        opened()[0],
        state("running"),
        opened()[1],
        state("idle", "end_turn"),
    ],
    "a permission is withdrawn by both sides": [
        *AT_WORK,
        permission_v2(),
        CANCEL,
        ("agent", {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "ask"}}),
        REFUSED,
        state("idle", "cancelled"),
    ],
    "a handshake is made again before anything else": [
        *v2(),
        *v2({"delete": {}}),
        *opened(),
        client("session/delete", {"sessionId": "s"}, id_=1),
        result("agent", 1, {}),
    ],
    "a session is reopened in its directory, spelt otherwise": [
        *v1(),
        *listed(info()),
        client("session/load", {"sessionId": "s", "cwd": f"{CWD}/.", "mcpServers": []}, id_="back"),
        BACK,
    ],
    "history comes before the answer": [
        *v1(),
        restore("session/load"),
        said("user_message_chunk"),
        said(),
        tool(status="completed"),
        BACK,
        update(sessionUpdate="available_commands_update", availableCommands=[]),
        prompt(),
        said("user_message_chunk"),
        said(),
        ended(),
    ],
    "what is no history comes while a session is resumed": [
        *v1(),
        restore("session/resume"),
        update(sessionUpdate="available_commands_update", availableCommands=[]),
        update(sessionUpdate="session_info_update", title="Tide"),
        BACK,
    ],
    "a session is resumed in the middle of a turn": [
        *OPEN,
        prompt(),
        restore("session/resume"),
        said(),
        tool(),
        BACK,
        said(),
        ended(),
    ],
    "history is played back from a place that is not known here": [
        *v2(),
        restore("session/resume", replayFrom={"type": "_since_tide"}),
        ECHO,
        said(),
        state("idle"),
        BACK,
    ],
    "work of a session goes on that is resumed": [
        *v2(),
        restore("session/resume"),
        state("running"),
        said(),
        BACK,
        said(),
        state("idle", "end_turn"),
    ],
}
