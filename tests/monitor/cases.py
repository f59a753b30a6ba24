"""One breach a case: for every rule of the monitor at least one conversation that breaks it and nothing else."""

from __future__ import annotations

import json

from monitor.content_cases import CONTENT_CASES
from monitor.scripts import (
    CWD,
    EXTRA,
    OPTIONS,
    Case,
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
from monitor.shape_cases import MCP_SHAPE_CASES, SHAPE_CASES
from monitor.turn_cases import TURN_CASES
from monitor.value_cases import VALUE_CASES
from monitor.version_two_cases import VERSION_TWO_CASES
from monitor.work_cases import WORK_CASES

ROOTS = [EXTRA]
LISTED = info(additionalDirectories=ROOTS)
OPEN = [*v1(), *opened()]
OPEN_2 = [*v2(), *opened()]
WITH_ROOTS = [*v1(), *opened(additionalDirectories=ROOTS)]
TERMINAL = [
    agent("terminal/create", {"sessionId": "s", "command": "ls"}, id_="t"),
    result("client", "t", {"terminalId": "term"}),
]
SELECT = {
    "id": "model",
    "name": "Model",
    "type": "select",
    "currentValue": "swell",
    "options": [{"value": "swell", "name": "Swell"}],
}

SWITCH = {"id": "calm", "name": "Calm seas", "type": "boolean", "currentValue": True}


def set_option(name: str, value: str) -> tuple[str, object]:
    return client("session/set_config_option", {"sessionId": "s", "configId": name, "value": value}, id_="o")


def malformed(roots: object) -> list[tuple[str, object]]:
    return [client("session/new", {"cwd": CWD, "mcpServers": [], "additionalDirectories": roots}, id_="n")]


OWN_CASES = (
    # --- JSON-RPC ---
    Case("not-json", [*v1(), ("agent", b"starting up...")], ""),
    Case("not-json", [*v1(), ("client", b"Host: tides.example.org")], "", name="by the client"),
    Case(
        "not-json",
        [*v1(), ("agent", b'{"jsonrpc":"2.0","method":"_x","params":"\\ud800"}')],
        "",
        name="half a surrogate pair",
    ),
    Case("envelope-malformed", [*v1(), ("client", {"id": 1, "method": "_x"})], ""),
    Case("envelope-malformed", [*v1(), ("client", [])], "", name="a batch in version 1"),
    Case(
        "envelope-malformed",
        [*OPEN, ("client", [prompt()[1]]), result("agent", "p", {"stopReason": "end_turn"})],
        "",
        at=-2,
        name="a batch in version 1 that is answered",
    ),
    Case("envelope-malformed", [*v1(), client("_x", id_=True)], "/id", name="an id that is true"),
    Case(
        "duplicate-key",
        [*OPEN, ("agent", json.dumps(permission()[1]).replace('"kind"', '"optionId":"a~/b","kind"', 1).encode())],
        "/params/options/0/optionId",
    ),
    Case(
        "duplicate-key",
        [
            *OPEN_2,
            ("agent", b'[{"jsonrpc":"2.0","method":"_x"},{"jsonrpc":"2.0","method":"_y","params":{"a/b":1,"a/b":2}}]'),
        ],
        "/1/params/a~1b",
        name="in a batch",
    ),
    Case(
        "duplicate-key",
        [*v1(), ("client", b'{"jsonrpc":"2.0","method":"_x","method":"_y"}')],
        "/method",
        name="of the method",
    ),
    Case("batch-empty", [*v2(), ("client", [])], ""),
    Case(
        "batch-mixed",
        [*OPEN_2, permission_v2(), ("client", [client("_x", id_=7)[1], chosen("yes")[1]])],
        "/1",
    ),
    Case(
        "batch-of-unbatchable",
        [*OPEN_2, ("client", [prompt()[1]]), result("agent", "p", {"messageId": "m"})],
        "/0/method",
        at=-2,
    ),
    Case("method-unknown", [*v1(), client("session/promt", {}, id_=1)], "/method"),
    Case(
        "method-unknown",
        [*v1(), client("session/cancel", {"sessionId": "s"}, id_=1)],
        "/method",
        name="a notification as request",
    ),
    Case(
        "method-misdirected", [*OPEN, agent("session/prompt", {"sessionId": "s", "prompt": [text()]}, id_=1)], "/method"
    ),
    Case(
        "params-malformed",
        [*OPEN, client("session/prompt", {"sessionId": "s", "prompt": "hi"}, id_=1)],
        "/params/prompt",
    ),
    Case("params-malformed", [*OPEN_2, permission_v2(title=7)], "/params/title", requirements=(90,), name="a title"),
    Case(
        "params-malformed",
        [*OPEN_2, permission_v2(description=7)],
        "/params/description",
        requirements=(91,),
        name="a description",
    ),
    Case(
        "params-malformed",
        [*OPEN_2, permission_v2(options=[])],
        "/params/options",
        requirements=(94,),
        name="no options",
    ),
    Case(
        "params-malformed",
        [*OPEN_2, permission_v2(subject={"type": "tool_call"})],
        "/params/subject",
        requirements=(92, 93, 97),
        name="a known subject with a bad body",
    ),
    Case(
        "params-malformed",
        [*OPEN, agent("fs/read_text_file", {"sessionId": "s", "uri": "/x"}, id_=1)],
        "/params",
        requirements=(105,),
        name="uri in place of path",
    ),
    Case(
        "params-malformed",
        [*OPEN, agent("fs/write_text_file", {"sessionId": "s", "path": "a.txt", "content": ""}, id_=1)],
        "/params/path",
        requirements=(106,),
        name="a relative path",
    ),
    Case(
        "params-malformed",
        [client("initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": "yes"}}}, id_=0)],
        "/params/clientCapabilities/fs/readTextFile",
        requirements=(102,),
        name="a capability that is no boolean",
    ),
    Case("result-malformed", [*OPEN, prompt(), result("agent", "p", {"stopReason": "bored"})], "/result/stopReason"),
    Case(
        "result-malformed",
        [*v1(), client("session/new", {"cwd": CWD, "mcpServers": []}, id_=1), result("agent", 1, {})],
        "/result",
    ),
    Case(
        "error-malformed",
        [*OPEN, prompt(), ("agent", {"jsonrpc": "2.0", "id": "p", "error": {"code": "no"}})],
        "/error",
    ),
    Case("response-without-request", [*v1(), result("agent", 99, {})], "/id"),
    Case(
        "response-without-request",
        [*OPEN, prompt(), *[result("agent", "p", {"stopReason": "end_turn"})] * 2],
        "/id",
        earlier=-2,
        name="the second answer",
    ),
    Case("id-in-use", [*OPEN, prompt(id_=1), client("session/list", {}, id_=1)], "/id", earlier=-2),
    Case(
        "cancelled-request-unanswered",
        [*OPEN, prompt(), client("session/cancel", {"sessionId": "s"}), *listed()],
        "",
        earlier=-3,
        at=-4,
        end=True,
    ),
    Case(
        "cancelled-request-unanswered",
        [
            *OPEN_2,
            permission_v2(),
            agent("$/cancel_request", {"requestId": "ask"}),
            agent("_acme/x", id_=1),
            error("client", 1, -32601),
        ],
        "",
        earlier=-3,
        at=-4,
        end=True,
        name="by $/cancel_request",
    ),
    Case("request-unanswered", [*OPEN, prompt()], "", end=True),
    Case(
        "request-unanswered",
        [
            *OPEN,
            prompt(),
            client("session/cancel", {"sessionId": "s"}),
            update(sessionUpdate="agent_message_chunk", content=text()),
        ],
        "",
        at=-3,
        end=True,
        name="cancelled as the conversation ended",
    ),
    Case(
        "result-null",
        [*v1(), *opened(method="session/load")[:1], result("agent", "new", None)],
        "/result",
        name="of a load",
    ),
    Case(
        "result-null",
        [
            *OPEN,
            agent("fs/write_text_file", {"sessionId": "s", "path": f"{CWD}/a", "content": ""}, id_=1),
            result("client", 1, None),
        ],
        "/result",
        requirements=(106,),
    ),
    Case(
        "result-malformed",
        [*v2(), *opened(method="session/load")[:1], result("agent", "new", None)],
        "/result",
        name="null in version 2",
    ),
    Case(
        "result-malformed",
        [*OPEN, read(f"{CWD}/a"), result("client", "r", {"text": "sea"})],
        "/result",
        requirements=(105,),
        name="no content",
    ),
    Case(
        "result-malformed",
        [
            *OPEN,
            agent("fs/write_text_file", {"sessionId": "s", "path": f"{CWD}/a", "content": ""}, id_=1),
            result("client", 1, "done"),
        ],
        "/result",
        requirements=(106,),
        name="success that is no object",
    ),
    Case("cancel-of-unknown-request", [*v1(), client("$/cancel_request", {"requestId": 5})], "/params/requestId"),
    # --- the beginning ---
    Case("message-before-initialize", [client("session/new", {"cwd": CWD, "mcpServers": []}, id_=1)], "/method"),
    Case("message-before-initialize", [v1()[0], client("_x")], "/method", earlier=-2, name="while it waits"),
    Case(
        "message-before-initialize",
        [v1()[0], error("agent", "init", -32603), client("_x")],
        "/method",
        earlier=-2,
        name="after it was refused",
    ),
    Case("initialize-repeated", [*v1(), ("client", {**v1()[0][1], "id": 9})], "/method", earlier=-3),
    Case(
        "initialize-repeated",
        [v1()[0], error("agent", "init", -32603), *v1(), ("client", {**v1()[0][1], "id": 9})],
        "/method",
        earlier=-3,
        name="after a second try",
    ),
    Case("version-unknown", [v1()[0], result("agent", "init", {"protocolVersion": 7})], "/result/protocolVersion"),
    Case(
        "marker-without-meaning",
        v2({"load": {}}),
        "/result/capabilities/session/load",
        requirements=(66, 67),
    ),
    Case(
        "auth-method-not-offered",
        [*v1(authMethods=[{"id": "web", "name": "Web"}]), client("authenticate", {"methodId": "key"}, id_=1)],
        "/params/methodId",
        earlier=-2,
    ),
    Case(
        "auth-method-not-offered",
        [
            *v2(
                caps={"auth": {"terminal": {}}},
                authMethods=[{"type": "terminal", "methodId": "tty", "name": "Terminal"}],
            ),
            client("auth/login", {"methodId": "tty"}, id_=1),
        ],
        "/params/methodId",
        earlier=-2,
        name="of type terminal",
    ),
    Case(
        "auth-method-of-unknown-type",
        [
            *v2(authMethods=[{"type": "env_var", "methodId": "key", "name": "Key"}]),
            client("auth/login", {"methodId": "key"}, id_=1),
        ],
        "/params/methodId",
        earlier=-2,
        others=frozenset({"value-unknown"}),
    ),
    # --- capabilities ---
    Case("method-used-without-capability", [*v1({}), client("session/list", {}, id_=1)], "/method", -2, (72,)),
    Case(
        "method-used-without-capability",
        [*v2({"prompt": {}}), client("session/delete", {"sessionId": "s"}, id_=1)],
        "/method",
        -2,
        (70,),
    ),
    Case(
        "method-used-without-capability",
        [*v2({}), client("session/new", {"cwd": CWD}, id_=1)],
        "/method",
        -2,
        (71,),
        name="sessions of an agent without any",
    ),
    Case(
        "method-used-without-capability",
        [*v1(caps={}), *opened(), read(f"{CWD}/a")],
        "/method",
        -5,
        (104,),
        name="files",
    ),
    Case(
        "method-used-without-capability",
        [*v1(caps={}), *opened(), agent("terminal/create", {"sessionId": "s", "command": "ls"}, id_=1)],
        "/method",
        -5,
        name="terminals",
    ),
    Case(
        "field-used-without-capability",
        [*v1({}), opened(additionalDirectories=ROOTS)[0]],
        "/params/additionalDirectories",
        -2,
        (1, 2),
    ),
    Case(
        "field-used-without-capability",
        [*v2({"prompt": {}}), client("session/list", {"additionalDirectories": []}, id_=1)],
        "/params/additionalDirectories",
        -2,
        (1, 2),
        name="as a filter",
    ),
    Case(
        "variant-used-without-capability",
        [*OPEN, prompt({"type": "image", "data": "", "mimeType": "image/png"})],
        "/params/prompt/0/type",
        -4,
    ),
    Case(
        "variant-used-without-capability",
        [*v1(), opened(mcpServers=[{"type": "http", "name": "a", "url": "http://a", "headers": []}])[0]],
        "/params/mcpServers/0/type",
        -2,
        name="a server",
    ),
    Case(
        "variant-used-without-capability",
        [*OPEN, prompt({"type": "audio", "data": "", "mimeType": "audio/wav"})],
        "/params/prompt/0/type",
        -4,
        name="a sound",
    ),
    Case(
        "variant-used-without-capability",
        [*OPEN, prompt({"type": "resource", "resource": {"uri": "file:///a", "text": "a"}})],
        "/params/prompt/0/type",
        -4,
        name="an embedded resource",
    ),
    Case(
        "variant-used-without-capability",
        [*OPEN, update(sessionUpdate="config_option_update", configOptions=[SWITCH])],
        "/params/update/configOptions/0/type",
        -5,
        name="a switch",
    ),
    Case(
        "variant-used-without-capability",
        [*OPEN, update(sessionUpdate="notice", severity="warning", title="Tide")],
        "/params/update/sessionUpdate",
        -5,
        name="an update",
    ),
    Case(
        "required-once-advertised", [*v1(), *listed({"sessionId": "s", "cwd": CWD})], "/result/sessions/0", -3, (7, 8)
    ),
    Case("advertised-method-missing", [*OPEN_2, listed()[0], error("agent", "list", -32601)], "/error/code", -5, (65,)),
    Case(
        "advertised-method-missing",
        [*OPEN, read(f"{CWD}/a"), error("client", "r", -32601)],
        "/error/code",
        -6,
        (103,),
        name="files",
    ),
    Case(
        "advertised-method-missing",
        [*v1(), opened()[0], error("agent", "new", -32601)],
        "/error/code",
        -2,
        name="session/new",
    ),
    Case(
        "advertised-method-missing",
        [*OPEN, TERMINAL[0], error("client", "t", -32601)],
        "/error/code",
        -6,
        (103,),
        name="terminals",
    ),
    *(
        Case(
            "advertised-method-missing",
            [*OPEN, asked, error("client" if asked[0] == "agent" else "agent", asked[1]["id"], -32601)],
            "/error/code",
            -2,
            name=asked[1]["method"],
        )
        for asked in (prompt(), permission())
    ),
    # --- roots ---
    Case("roots-malformed", [*v1(), *malformed(None)], "/params/additionalDirectories", requirements=(15,)),
    Case(
        "roots-malformed",
        [*v1(), *malformed("/a")],
        "/params/additionalDirectories",
        requirements=(12,),
        name="no array",
    ),
    Case(
        "roots-malformed",
        [*v1(), *malformed([7])],
        "/params/additionalDirectories/0",
        requirements=(12,),
        name="no string",
    ),
    Case(
        "roots-malformed",
        [*v1(), *malformed([""])],
        "/params/additionalDirectories/0",
        requirements=(13, 51),
        name="empty",
    ),
    Case(
        "roots-malformed",
        [*v1(), *malformed(["/a", "b"])],
        "/params/additionalDirectories/1",
        requirements=(13, 51),
        name="relative",
    ),
    *(
        Case(
            "malformed-roots-accepted",
            [*v1(), *malformed(roots), result("agent", "n", {"sessionId": "s"})],
            "/result",
            -2,
            numbers,
            others=frozenset({"roots-malformed"}),
            name=str(roots),
        )
        for roots, numbers in (
            (None, (15, 37, 44)),
            ("/a", (37, 38, 44)),
            ([7], (37, 39, 44)),
            ([""], (14, 37, 40, 44)),
            (["a"], (37, 41, 44)),
        )
    ),
    Case(
        "malformed-roots-refused-otherwise",
        [*v1(), *malformed(["a"]), error("agent", "n", -32603)],
        "/error/code",
        -2,
        (42,),
        others=frozenset({"roots-malformed"}),
    ),
    Case(
        "roots-repeated",
        [*v1(), opened(additionalDirectories=[EXTRA, EXTRA])[0]],
        "/params/additionalDirectories/1",
        requirements=(16,),
    ),
    Case(
        "root-equals-cwd",
        [*v1(), opened(additionalDirectories=[CWD])[0]],
        "/params/additionalDirectories/0",
        requirements=(17,),
    ),
    Case(
        "roots-not-resent",
        [*v1(), *listed(LISTED), client("session/resume", {"sessionId": "s", "cwd": CWD}, id_=1)],
        "/params",
        -2,
        (27, 52),
    ),
    Case(
        "roots-not-resent",
        [*WITH_ROOTS, client("session/load", {"sessionId": "s", "cwd": CWD, "mcpServers": []}, id_=1)],
        "/params",
        -3,
        (27, 52),
        name="of a session that is open",
    ),
    Case(
        "list-result-outside-filter",
        [*v1(), *listed(LISTED, additionalDirectories=[])],
        "/result/sessions/0/additionalDirectories",
        -2,
        (9, 11),
    ),
    Case(
        "list-result-outside-filter",
        [*v1(), *listed(info(additionalDirectories=["/b", "/a"]), additionalDirectories=["/a", "/b"])],
        "/result/sessions/0/additionalDirectories",
        -2,
        (9,),
        name="in another order",
    ),
    Case(
        "list-result-outside-filter",
        [*v2(), *listed(info(), cwd="/elsewhere")],
        "/result/sessions/0/cwd",
        -2,
        name="elsewhere",
    ),
    Case(
        "list-result-outside-filter",
        [*v2(), *listed(LISTED, cwd=CWD, additionalDirectories=["/b"])],
        "/result/sessions/0/additionalDirectories",
        -2,
        (9, 10),
        name="by its roots where both are asked for",
    ),
    Case(
        "list-result-outside-filter",
        [*v2(), *listed(LISTED, cwd="/elsewhere", additionalDirectories=ROOTS)],
        "/result/sessions/0/cwd",
        -2,
        (10,),
        name="elsewhere, where both are asked for",
    ),
    Case("roots-kept", [*OPEN, *listed(LISTED)], "/result/sessions/0/additionalDirectories", -4, (22,)),
    Case(
        "roots-kept",
        [*v1(), *opened(method="session/resume"), *listed(LISTED)],
        "/result/sessions/0/additionalDirectories",
        -4,
        (23, 24, 25),
        name="resumed",
    ),
    Case(
        "roots-kept",
        [
            *v1(),
            *opened("f", id_="f", method="session/fork", source="s"),
            *listed(info("f", additionalDirectories=ROOTS)),
        ],
        "/result/sessions/0/additionalDirectories",
        -4,
        (28, 29),
        name="forked from a stored session",
    ),
    Case(
        "roots-kept",
        [
            *WITH_ROOTS,
            *opened("f", id_="f", method="session/fork", source="s", additionalDirectories=["/z"]),
            *listed(info("f", additionalDirectories=["/z", EXTRA])),
        ],
        "/result/sessions/0/additionalDirectories",
        -4,
        (28, 29),
        name="forked with other roots",
    ),
    Case(
        "roots-kept",
        [
            *WITH_ROOTS,
            client("session/close", {"sessionId": "s"}, id_=1),
            result("agent", 1, {}),
            *opened("f", id_="f", method="session/fork", source="s"),
            *listed(info("f", additionalDirectories=ROOTS)),
        ],
        "/result/sessions/0/additionalDirectories",
        -4,
        (28, 29),
        name="forked from a closed session",
    ),
    Case(
        "roots-kept",
        [
            *WITH_ROOTS,
            *opened("f", id_="f", method="session/fork", source="s"),
            *listed(info("f", additionalDirectories=[EXTRA, "/z"])),
        ],
        "/result/sessions/0/additionalDirectories",
        -4,
        (28, 29),
        name="forked, with more than its source has",
    ),
    Case("roots-dropped", [*WITH_ROOTS, *listed(info())], "/result/sessions/0/additionalDirectories", -4, (31, 44)),
    Case(
        "roots-reordered",
        [*v1(), *opened(additionalDirectories=["/a", "/b"]), *listed(info(additionalDirectories=["/b", "/a"]))],
        "/result/sessions/0/additionalDirectories",
        -4,
        (18, 63),
    ),
    Case(
        "roots-where-none-belong",
        [*v1(), *opened(answer={"additionalDirectories": []})],
        "/result/additionalDirectories",
        requirements=(32,),
    ),
    Case(
        "roots-where-none-belong",
        [*OPEN, update(sessionUpdate="session_info_update", title="Tide", additionalDirectories=ROOTS)],
        "/params/update/additionalDirectories",
        requirements=(33,),
        name="in an update",
    ),
    # --- files ---
    Case(
        "file-access-outside-roots",
        [*WITH_ROOTS, read(f"{CWD}/../secret"), result("client", "r", {"content": ""})],
        "/result",
        -2,
        (21, 55, 107),
    ),
    Case(
        "file-error-as-authentication",
        [*OPEN, read(f"{CWD}/a"), error("client", "r", -32000)],
        "/error/code",
        requirements=(110,),
    ),
    Case(
        "file-error-without-path",
        [*OPEN, read(f"{CWD}/a"), error("client", "r", -32001)],
        "/error",
        requirements=(110,),
    ),
    Case(
        "file-error-of-other-code",
        [*OPEN, read(f"{CWD}/a"), error("client", "r", 2)],
        "/error/code",
        requirements=(109, 111),
    ),
    # --- sessions ---
    Case("session-not-open", [*v1(), prompt()], "/params/sessionId"),
    Case(
        "session-not-open",
        [*OPEN, update("t", sessionUpdate="agent_message_chunk", content=text())],
        "/params/sessionId",
        name="news",
    ),
    Case(
        "session-closed",
        [*OPEN, client("session/close", {"sessionId": "s"}, id_=1), result("agent", 1, {}), prompt()],
        "/params/sessionId",
        -2,
    ),
    Case(
        "session-closed",
        [*OPEN, client("session/close", {"sessionId": "s"}, id_=1), prompt()],
        "/params/sessionId",
        -2,
        name="while closing",
    ),
    Case(
        "session-closed",
        [
            *OPEN_2,
            client("session/close", {"sessionId": "s"}, id_=1),
            result("agent", 1, {}),
            update(sessionUpdate="state_update", state="idle"),
        ],
        "/params/sessionId",
        -2,
        name="news",
    ),
    Case("session-id-in-use", [*OPEN, *opened(id_="again")], "/result/sessionId", -4),
    Case(
        "deleted-session-listed",
        [*OPEN, client("session/delete", {"sessionId": "s"}, id_=1), result("agent", 1, {}), *listed(info())],
        "/result/sessions/0/sessionId",
        -3,
    ),
    Case(
        "permission-options-repeated",
        [*OPEN, permission(options=[OPTIONS[0], OPTIONS[0]])],
        "/params/options/1/optionId",
    ),
    Case("permission-outcome-not-offered", [*OPEN, permission(), chosen("perhaps")], "/result/outcome/optionId", -2),
    Case(
        "mode-not-offered",
        [
            *v1(),
            *opened(answer={"modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}}),
            client("session/set_mode", {"sessionId": "s", "modeId": "act"}, id_=1),
        ],
        "/params/modeId",
        -3,
    ),
    Case(
        "config-option-not-offered",
        [*v1(), *opened(answer={"configOptions": [SELECT]}), set_option("depth", "1")],
        "/params/configId",
        -3,
    ),
    Case(
        "config-option-not-offered",
        [*v1(), *opened(answer={"configOptions": [SELECT]}), set_option("model", "x")],
        "/params/value",
        -3,
        name="a value",
    ),
    Case(
        "terminal-not-open",
        [*OPEN, agent("terminal/output", {"sessionId": "s", "terminalId": "term"}, id_=1)],
        "/params/terminalId",
    ),
    Case(
        "terminal-not-open",
        [
            *OPEN,
            *TERMINAL,
            agent("terminal/release", {"sessionId": "s", "terminalId": "term"}, id_=1),
            result("client", 1, {}),
            agent("terminal/output", {"sessionId": "s", "terminalId": "term"}, id_=2),
        ],
        "/params/terminalId",
        -3,
        name="after its release",
    ),
    Case(
        "cancel-not-offered",
        [
            *OPEN_2,
            update(sessionUpdate="tool_call_update", toolCallId="t", title="Look"),
            client("tool_call/cancel", {"sessionId": "s", "toolCallId": "t"}, id_=1),
        ],
        "/params/toolCallId",
    ),
)

CASES = (*OWN_CASES, *TURN_CASES, *SHAPE_CASES, *VALUE_CASES, *CONTENT_CASES, *VERSION_TWO_CASES, *WORK_CASES)

MCP_CASES = (
    *MCP_SHAPE_CASES,
    Case("initialized-not-sent", [*mcp({})[:2], client("tools/list", {}, id_=7)], "", earlier=-2, end=True),
    Case(
        "initialized-not-sent",
        [*mcp({})[:2], mcp({})[3], result("client", 1, {"roots": []})],
        "",
        earlier=-3,
        end=True,
        name="an answer",
        others=frozenset({"request-before-initialized"}),
    ),
    Case("request-before-initialized", [*mcp({})[:2], mcp({})[3]], "/method", earlier=-2),
    Case(
        "message-before-initialize",
        [mcp({})[0], client("tools/list", {}, id_=1)],
        "/method",
        earlier=-2,
        level="should",
        name="in MCP while it waits for its answer",
    ),
    Case(
        "message-before-initialize",
        [mcp({})[0], mcp({})[3]],
        "/method",
        earlier=-2,
        level="should",
        name="by a server of MCP",
    ),
    Case("version-differs", mcp({}, "2025-11-25")[:2], "/result/protocolVersion"),
    Case("message-before-initialize", [client("tools/list", {}, id_=1)], "/method", name="in MCP"),
    Case(
        "root-with-traversal",
        [*mcp({}), result("client", 1, {"roots": [{"uri": "file:///a/%2e%2E/b"}]})],
        "/result/roots/0/uri",
        requirements=(81,),
    ),
    Case(
        "root-on-other-host",
        [*mcp({}), result("client", 1, {"roots": [{"uri": "file://there/a"}]})],
        "/result/roots/0/uri",
        requirements=(77,),
    ),
    Case(
        "result-malformed",
        [*mcp({}), result("client", 1, {"roots": [{"uri": "http://a"}]})],
        "/result/roots/0/uri",
        requirements=(76, 77),
        name="a root of another scheme",
    ),
    Case(
        "result-malformed",
        [*mcp({}), result("client", 1, {"roots": [{"name": "Tidewatch"}]})],
        "/result/roots/0",
        requirements=(76, 77),
        name="a root without a URI",
    ),
    Case(
        "result-malformed",
        [*mcp({}), result("client", 1, {"roots": [{"uri": "file:///a", "name": 7}]})],
        "/result/roots/0/name",
        requirements=(76, 78),
        name="a root whose name is no text",
    ),
    Case(
        "result-malformed",
        [*mcp({}), result("client", 1, {})],
        "/result",
        requirements=(76,),
        name="no list of roots",
    ),
    Case(
        "params-malformed",
        [*mcp({})[:-1], ("server", {"jsonrpc": "2.0", "id": 1, "method": "roots/list", "params": {"_meta": 7}})],
        "/params/_meta",
        requirements=(76,),
        name="of a request for roots",
    ),
    Case("roots-refused-otherwise", [*mcp({}), error("client", 1, -32000)], "/error/code", requirements=(79,)),
    Case("method-used-without-capability", mcp(), "/method", -4, (73, 88)),
    Case(
        "method-used-without-capability",
        [*mcp({}), client("notifications/roots/list_changed")],
        "/method",
        -5,
        (73, 74),
        name="news of changes that were not announced",
    ),
)
