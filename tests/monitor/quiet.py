"""Conversations in which nobody does anything wrong, though it may look so: answers out of order, messages that cross, words left out."""

from __future__ import annotations

from typing import Any, Final

from monitor.cases import OPEN, OPEN_2, SELECT
from monitor.content_cases import QUIET_CONTENT
from monitor.scripts import (
    CWD,
    EXTRA,
    V1_CLIENT,
    V1_SESSION,
    Said,
    agent,
    chosen,
    client,
    error,
    info,
    listed,
    mcp,
    opened,
    permission,
    permission_v2,
    prompt,
    read,
    result,
    text,
    update,
    v1,
    v2,
)
from monitor.shape_cases import QUIET_MCP_SHAPES, QUIET_SHAPES
from monitor.turn_cases import QUIET_TURNS
from monitor.value_cases import QUIET_VALUES
from monitor.work_cases import QUIET_WORK

ROOTS: Final = [EXTRA]
LISTED: Final = info(additionalDirectories=ROOTS)
PEER: Final = {"name": "tour", "version": "1"}
LOAD: Final = client("session/load", {"sessionId": "s", "cwd": CWD, "mcpServers": []}, id_="load")
LOADED: Final = result("agent", "load", {})
CANCEL: Final = client("session/cancel", {"sessionId": "s"})
ENDED: Final = result("agent", "p", {"stopReason": "end_turn"})
STOPPED: Final = result("agent", "p", {"stopReason": "cancelled"})
REFUSED: Final = result("client", "ask", {"outcome": {"outcome": "cancelled"}})
COMMANDS: Final[dict[str, Any]] = {"sessionUpdate": "available_commands_update", "availableCommands": []}
MODES: Final = {"modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}}
OPTIONS: Final[dict[str, Any]] = {"sessionUpdate": "config_option_update", "configOptions": [SELECT]}
SET_OPTION: Final = [
    client("session/set_config_option", {"sessionId": "s", "configId": "model", "value": "swell"}, id_="set"),
    result("agent", "set", {"configOptions": [SELECT]}),
]
WRITE: Final = agent("fs/write_text_file", {"sessionId": "s", "path": f"{CWD}/a", "content": ""}, id_="w")


def batch(sender: str, *said: Said) -> Said:
    return sender, [message for _, message in said]


def list_of(*sessions: dict[str, Any], id_: Any = "list", **params: Any) -> Said:
    return listed(*sessions, id_=id_, **params)[1]


ASK_LIST: Final = client("session/list", {}, id_="list")

QUIET: Final[dict[str, list[Said]]] = {
    # --- JSON-RPC ---
    "extensions go both ways, with ids of their own": [
        *OPEN,
        client("_acme/x", {"a": 1}, id_=1),
        agent("_acme/y", [1], id_=1),
        result("client", 1, 7),
        error("agent", 1, -32601),
        client("_acme/z"),
    ],
    "what the protocol may add below itself is ignored": [*OPEN, agent("$/progress", {"a": 1}), client("$/trace")],
    "a number is the same number however it is written": [
        *v1(),
        client("session/list", {}, id_=1),
        ("agent", b'{"jsonrpc":"2.0","id":1.0,"result":{"sessions":[]}}'),
    ],
    "an id is used again after its answer": [*OPEN, prompt(), ENDED, prompt(), ENDED],
    "text that was no JSON is answered without an id": [*v1(), error("agent", None, -32700)],
    "a cancelled request is refused without an id": [
        *OPEN,
        prompt(),
        CANCEL,
        error("agent", None, -32600),
        *listed(),
    ],
    "one of two cancelled requests is refused without an id": [
        *OPEN,
        prompt(),
        client("$/cancel_request", {"requestId": "p"}),
        ASK_LIST,
        error("agent", None, -32600),
        list_of(),
        *opened("t", id_=5),
    ],
    "an id is used again after a refusal without an id": [
        *v1(),
        opened()[0],
        error("agent", None, -32600),
        *opened(),
    ],
    "a beginning that is refused without an id is tried again": [
        v1()[0],
        error("agent", None, -32600),
        *v1(),
        *opened(),
    ],
    "a close that is refused without an id changes nothing": [
        *OPEN,
        client("session/close", {"sessionId": "s"}, id_=1),
        error("agent", None, -32600),
        prompt(),
        ENDED,
    ],
    "an error without an id is about a line that was no message, and the request is answered later": [
        *OPEN,
        prompt(),
        error("agent", None, -32700),
        ENDED,
    ],
    "batches mix calls and news, and are answered in parts": [
        *OPEN_2,
        batch(
            "agent",
            update(sessionUpdate="state_update", state="running"),
            permission_v2(),
            agent("_acme/x", id_=3),
        ),
        chosen("yes"),
        batch("client", error("client", 3, -32601)),
        batch("agent", update(sessionUpdate="state_update", state="idle", stopReason="end_turn")),
    ],
    "a batch is answered by a batch in another order": [
        *OPEN_2,
        batch("client", ASK_LIST, CANCEL, client("session/close", {"sessionId": "s"}, id_=2)),
        batch("agent", result("agent", 2, {}), list_of()),
    ],
    "a version that nobody here knows has batches too": [
        v1()[0],
        result("agent", "init", {"protocolVersion": 7}),
        batch("client", client("x", id_=1), client("y", id_=2)),
        result("agent", 2, {}),
        result("agent", 1, {}),
    ],
    "null is read as an empty result": [*v1(), LOAD, result("agent", "load", None), WRITE, result("client", "w", None)],
    # --- the beginning ---
    "a refused beginning is tried again": [v1()[0], error("agent", "init", -32603), *v1(), *opened()],
    "a client of two versions is taken at its word in the older one": [
        client(
            "initialize",
            {"protocolVersion": 2, "info": PEER, "capabilities": {}, "clientCapabilities": V1_CLIENT},
            id_=0,
        ),
        result("agent", 0, {"protocolVersion": 1}),
        *opened(),
        read(f"{CWD}/a"),
        result("client", "r", {"content": ""}),
    ],
    "a version from the future is negotiated down": [
        client("initialize", {"protocolVersion": 99, "info": PEER, "capabilities": {}}, id_=0),
        result("agent", 0, {"protocolVersion": 2, "info": PEER, "capabilities": {"session": {}}}),
        *opened(),
    ],
    "capabilities are null": [
        client("initialize", {"protocolVersion": 1, "clientInfo": None}, id_=0),
        result("agent", 0, {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"list": None}}}),
        *opened(),
    ],
    "capabilities of version 2 are null": [
        client("initialize", {"protocolVersion": 2, "info": PEER, "capabilities": {"elicitation": None}}, id_=0),
        result("agent", 0, {"protocolVersion": 2, "info": PEER, "capabilities": {"session": {"delete": None}}}),
        *opened(),
    ],
    "an extension is announced in `_meta`": [
        *v1({**V1_SESSION, "_meta": {"acme.example": {"x": True}}}),
        client("_acme/x", {}, id_=1),
        result("agent", 1, None),
    ],
    "a session is refused until the client has logged in": [
        *v1(authMethods=[{"id": "web", "name": "Web"}]),
        opened()[0],
        error("agent", "new", -32000),
        client("authenticate", {"methodId": "web"}, id_=1),
        result("agent", 1, {}),
        *opened(),
    ],
    # --- sessions ---
    "two sessions are answered in another order, with news in between": [
        *v1(),
        opened(id_=1)[0],
        opened(id_=2)[0],
        result("agent", 2, {"sessionId": "b"}),
        update("b", **COMMANDS),
        update("a", **COMMANDS),
        result("agent", 1, {"sessionId": "a"}),
    ],
    "news of a fork comes before its id is told": [
        *OPEN,
        client("session/fork", {"sessionId": "s", "cwd": CWD, "mcpServers": []}, id_=1),
        update("f", **COMMANDS),
        result("agent", 1, {"sessionId": "f"}),
        prompt(session="f"),
        ENDED,
    ],
    "a closed session is opened again": [
        *OPEN,
        client("session/close", {"sessionId": "s"}, id_=1),
        result("agent", 1, {}),
        *opened(id_=4, method="session/load"),
        prompt(),
        ENDED,
    ],
    "what was asked before the close is answered after it": [
        *OPEN,
        prompt(),
        permission(),
        client("session/close", {"sessionId": "s"}, id_=1),
        update(sessionUpdate="agent_message_chunk", content=text()),
        REFUSED,
        result("agent", 1, {}),
        STOPPED,
    ],
    "of two loads one fails": [
        *v1(),
        LOAD,
        client("session/load", {"sessionId": "s", "cwd": CWD, "mcpServers": []}, id_=2),
        error("agent", "load", -32603),
        update("s", **COMMANDS),
        result("agent", 2, {}),
        prompt(),
        ENDED,
    ],
    "a conversation is replayed from its start": [
        *v2(),
        client("session/resume", {"sessionId": "s", "cwd": CWD, "replayFrom": {"type": "start"}}, id_=1),
        update(sessionUpdate="user_message", messageId="m", content=[text()]),
        result("agent", 1, {}),
        prompt(),
        result("agent", "p", {"messageId": "m"}),
        update(sessionUpdate="state_update", state="idle", stopReason="end_turn"),
    ],
    "a terminal is awaited, killed and released": [
        *OPEN,
        agent("terminal/create", {"sessionId": "s", "command": "ls"}, id_=1),
        result("client", 1, {"terminalId": "t"}),
        agent("terminal/wait_for_exit", {"sessionId": "s", "terminalId": "t"}, id_=2),
        agent("terminal/kill", {"sessionId": "s", "terminalId": "t"}, id_=3),
        result("client", 3, {}),
        agent("terminal/release", {"sessionId": "s", "terminalId": "t"}, id_=5),
        result("client", 5, {}),
        result("client", 2, {"exitCode": None, "signal": "SIGKILL"}),
    ],
    "a question is asked and answered": [
        *OPEN,
        agent(
            "elicitation/create",
            {
                "sessionId": "s",
                "mode": "form",
                "message": "?",
                "requestedSchema": {"type": "object", "properties": {}},
            },
            id_=1,
        ),
        result("client", 1, {"action": "accept", "content": {}}),
    ],
    "tags of the future and of others stand in open unions": [
        *OPEN_2,
        update(sessionUpdate="_acme", x=1),
        update(sessionUpdate="tide_table", x=1),
    ],
    # --- cancelling ---
    "a permission is asked for after the turn was cancelled": [*OPEN, prompt(), CANCEL, permission(), REFUSED, STOPPED],
    "a question is withdrawn while its answer is on the way": [
        *OPEN,
        prompt(),
        permission(),
        agent("$/cancel_request", {"requestId": "ask"}),
        chosen("yes"),
        ENDED,
    ],
    "a withdrawn question is answered with the code for it": [
        *OPEN_2,
        permission_v2(),
        agent("$/cancel_request", {"requestId": "ask"}),
        error("client", "ask", -32800),
    ],
    "a prompt is withdrawn as a request and fails": [
        *OPEN,
        prompt(),
        client("$/cancel_request", {"requestId": "p"}),
        error("agent", "p", -32603),
    ],
    "a turn is cancelled while its refusal is on the way": [*OPEN, prompt(), CANCEL, error("agent", "p", -32000)],
    "what is answered already is cancelled": [
        *OPEN,
        prompt(),
        ENDED,
        client("$/cancel_request", {"requestId": "p"}),
        CANCEL,
    ],
    "a turn is cancelled and the client leaves": [
        *OPEN,
        prompt(),
        CANCEL,
        update(sessionUpdate="agent_message_chunk", content=text()),
    ],
    "a tool call stops offering to be cancelled while that is on the way": [
        *OPEN_2,
        update(sessionUpdate="tool_call_update", toolCallId="t", title="Look", capabilities={"cancel": {}}),
        update(sessionUpdate="tool_call_update", toolCallId="t", capabilities=None),
        client("tool_call/cancel", {"sessionId": "s", "toolCallId": "t"}, id_=1),
        error("agent", 1, -32602),
    ],
    # --- modes and options ---
    "a mode is set and the agent says so": [
        *v1(),
        *opened(answer=MODES),
        client("session/set_mode", {"sessionId": "s", "modeId": "ask"}, id_=1),
        update(sessionUpdate="current_mode_update", currentModeId="ask"),
        result("agent", 1, {}),
    ],
    "a session that is resumed keeps its modes without repeating them": [
        *v1(),
        *opened(answer=MODES),
        *opened(method="session/resume", id_=7),
        client("session/set_mode", {"sessionId": "s", "modeId": "ask"}, id_=1),
        result("agent", 1, {}),
    ],
    "options come while the session is loaded": [*v1(), LOAD, update(**OPTIONS), LOADED, *SET_OPTION],
    "options come before the session's id is told": [*v1(), opened()[0], update(**OPTIONS), opened()[1], *SET_OPTION],
    "an option is withdrawn while it is set": [
        *v1(),
        *opened(answer={"configOptions": [SELECT]}),
        update(sessionUpdate="config_option_update", configOptions=[]),
        SET_OPTION[0],
        error("agent", "set", -32602),
    ],
    # --- roots ---
    "a list was asked for before the session was loaded": [*v1(), ASK_LIST, LOAD, LOADED, list_of(LISTED)],
    "a list was asked for while the session was loaded": [*v1(), LOAD, ASK_LIST, LOADED, list_of(LISTED)],
    "a list was asked for before the session was loaded with other roots": [
        *v1(),
        *opened(additionalDirectories=ROOTS),
        ASK_LIST,
        *opened(method="session/load", id_=2, additionalDirectories=["/z"]),
        list_of(LISTED),
    ],
    "a load that fails leaves the roots as they were": [
        *v1(),
        *opened(additionalDirectories=ROOTS),
        LOAD,
        error("agent", "load", -32603),
        *listed(LISTED),
    ],
    "a list was asked for before the session was deleted": [
        *OPEN,
        ASK_LIST,
        client("session/delete", {"sessionId": "s"}, id_=2),
        result("agent", 2, {}),
        list_of(info()),
    ],
    "a filtered list has pages, and another cursor no filter": [
        *v1(),
        *opened(additionalDirectories=ROOTS),
        client("session/list", {"additionalDirectories": ROOTS, "cwd": CWD}, id_=1),
        result("agent", 1, {"sessions": [LISTED], "nextCursor": "c"}),
        client("session/list", {"cursor": "c", "additionalDirectories": ROOTS, "cwd": CWD}, id_=1),
        result("agent", 1, {"sessions": [info("o", additionalDirectories=ROOTS)]}),
        client("session/list", {}, id_=1),
        result("agent", 1, {"sessions": [LISTED], "nextCursor": "d"}),
        client("session/list", {"cursor": "d"}, id_=1),
        result("agent", 1, {"sessions": [info("q")]}),
    ],
    "roots are listed in another spelling": [
        *v1(),
        *opened(additionalDirectories=["/a/", "/b"]),
        *listed(info(additionalDirectories=["/a", "/b/."])),
    ],
    "windows does not tell letters apart": [
        *v1(),
        client("session/new", {"cwd": "C:\\w", "mcpServers": [], "additionalDirectories": ["D:\\x"]}, id_=1),
        result("agent", 1, {"sessionId": "s"}),
        read("d:/x/y"),
        result("client", "r", {"content": ""}),
        *listed({"sessionId": "s", "cwd": "c:\\w\\", "additionalDirectories": ["D:/x/"]}, cwd="C:/W"),
    ],
    "a fork is given the roots of its source": [
        *v1(),
        *opened(additionalDirectories=ROOTS),
        *opened("f", id_=1, method="session/fork", source="s", additionalDirectories=ROOTS),
        *listed(info("f", additionalDirectories=ROOTS), LISTED),
    ],
    "a fork takes over the roots that are in force for its source": [
        *v1(),
        *opened(additionalDirectories=ROOTS),
        *opened("f", id_=1, method="session/fork", source="s"),
        *opened("g", id_=2, method="session/fork", source="f"),
        *listed(info("f", additionalDirectories=ROOTS), LISTED, info("g", additionalDirectories=ROOTS)),
        agent("fs/read_text_file", {"sessionId": "g", "path": f"{EXTRA}/a"}, id_="r"),
        result("client", "r", {"content": ""}),
        client("session/close", {"sessionId": "s"}, id_=3),
        result("agent", 3, {}),
        *listed(info("f", additionalDirectories=ROOTS)),
    ],
    "a fork takes over the roots that a list has shown": [
        *v1(),
        *listed(LISTED),
        *opened("f", id_=1, method="session/fork", source="s"),
        *listed(info("f", additionalDirectories=ROOTS)),
    ],
    "a source is given other roots while it is forked": [
        *v1(),
        *opened(additionalDirectories=ROOTS),
        client(
            "session/load", {"sessionId": "s", "cwd": CWD, "mcpServers": [], "additionalDirectories": ["/z"]}, id_=1
        ),
        client("session/fork", {"sessionId": "s", "cwd": CWD, "mcpServers": []}, id_=2),
        result("agent", 1, {}),
        result("agent", 2, {"sessionId": "f"}),
        *listed(info("f", additionalDirectories=["/z"])),
    ],
    "the root of the file system holds everything": [
        *v1(),
        client("session/new", {"cwd": "/", "mcpServers": []}, id_=1),
        result("agent", 1, {"sessionId": "s"}),
        read("/etc/x"),
        result("client", "r", {"content": ""}),
    ],
}

QUIET.update(QUIET_TURNS)
QUIET.update(QUIET_CONTENT)
QUIET.update(QUIET_SHAPES)
QUIET.update(QUIET_VALUES)
QUIET.update(QUIET_WORK)

QUIET_MCP: Final[dict[str, list[Said]]] = {
    "roots are listed and change": [
        *mcp({"listChanged": True}),
        result("client", 1, {"roots": [{"uri": "file:///a/b%20c", "name": "b c"}]}),
        client("notifications/roots/list_changed"),
    ],
    "a server pings before the client is ready": [
        *mcp({})[:2],
        ("server", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        result("client", 1, {}),
        *mcp({})[2:],
        result("client", 1, {"roots": []}),
    ],
    "a handshake is cut off": mcp({})[:2],
    "a client without roots says so": [*mcp()[:3], client("ping", id_=5), result("server", 5, {})],
}

QUIET_MCP.update(QUIET_MCP_SHAPES)
