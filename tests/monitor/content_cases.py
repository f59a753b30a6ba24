"""Cases of what one message shows, of elicitation and of lists: what breaks each rule, and nearest to it what keeps it."""

from __future__ import annotations

from typing import Any, Final

from monitor.scripts import (
    CWD,
    Case,
    Said,
    agent,
    chosen,
    client,
    error,
    info,
    opened,
    permission_v2,
    prompt,
    result,
    text,
    update,
    v1,
    v2,
)

OPEN: Final = [*v1(), *opened()]
OPEN_2: Final = [*v2(), *opened()]
BOTH: Final[dict[str, Any]] = {"elicitation": {"form": {}, "url": {}}}
ASKS: Final = [*v2(caps=BOTH), *opened()]
ASKS_1: Final = [*v1(caps=BOTH), *opened()]
TTY: Final = {"type": "terminal", "methodId": "tty", "name": "Terminal"}
WEB: Final = {"type": "agent", "methodId": "web", "name": "Web"}
TWICE: Final = [{"name": "TZ", "value": "UTC"}, {"name": "TZ", "value": "CET"}]
SWELL: Final = {"value": "swell", "name": "Swell"}
TIDE: Final = {"value": "tide", "name": "Tide"}
PATCH: Final = f"""diff --git {CWD}/a.py {CWD}/a.py
--- {CWD}/a.py
+++ {CWD}/a.py
@@ -1,2 +1 @@
--- a
 b
"""
MOVED: Final = f"""diff --git {CWD}/a.py {CWD}/b.py
similarity index 100%
rename from {CWD}/a.py
rename to {CWD}/b.py
"""
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 8},
        "kind": {"type": "string", "enum": ["tide", "swell"]},
        "titled": {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
        "depth": {"type": "integer", "minimum": 0, "maximum": 9},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean"},
        "ports": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
        "later": {"type": "_colour"},
    },
    "required": ["name"],
}


def select(*values: Any, current: str = "swell") -> dict[str, Any]:
    return {"configId": "m", "name": "Model", "type": "select", "currentValue": current, "options": list(values)}


def told(*options: Any) -> Said:
    return update(sessionUpdate="config_option_update", configOptions=list(options))


def commands(*names: str) -> Said:
    listed_ = [{"type": "command", "name": name, "description": "Does it"} for name in names]
    return update(sessionUpdate="available_commands_update", availableCommands=listed_)


def patched(patch: str) -> Said:
    diff: dict[str, Any] = {"type": "diff", "changes": [], "patch": {"format": "git_patch", "text": patch}}
    return update(sessionUpdate="tool_call_update", toolCallId="t", title="Edit", content=[diff])


def linked(source: str) -> dict[str, Any]:
    return {"type": "resource_link", "uri": "file:///a", "name": "a", "icons": [{"src": source}]}


def visit(name: str = "e", id_: Any = "visit", **scope: Any) -> Said:
    asked = {"mode": "url", "message": "Log in", "elicitationId": name, "url": "https://a.example/e"}
    return agent("elicitation/create", {**asked, **(scope or {"sessionId": "s"})}, id_=id_)


def form(schema: Any = FORM, id_: Any = "form") -> Said:
    asked = {"mode": "form", "message": "Which?", "sessionId": "s", "requestedSchema": schema}
    return agent("elicitation/create", asked, id_=id_)


def accepted(id_: Any = "form", **content: Any) -> Said:
    return result("client", id_, {"action": "accept", "content": content})


def unfit(title: str, path: str, /, **content: Any) -> Case:
    return Case("elicitation-content-unfit", [*ASKS, form(), accepted(**content)], path, -2, name=title)


def output(sender: str = "agent", *updates: dict[str, Any]) -> Said:
    calls = [{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": u}} for u in updates]
    return sender, calls


def chunk(terminal: str = "t") -> dict[str, Any]:
    return {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal, "data": "AA=="}


CONTENT_CASES: Final = (
    # --- configuration options and commands ---
    Case(
        "config-option-inconsistent",
        [*OPEN_2, told(select(SWELL, current="ebb"))],
        "/params/update/configOptions/0/currentValue",
    ),
    Case(
        "config-option-inconsistent",
        [*v2(), *opened(answer={"configOptions": [select(SWELL, TIDE, SWELL)]})],
        "/result/configOptions/0/options/2/value",
        name="a value twice",
    ),
    Case(
        "config-option-inconsistent",
        [
            *OPEN_2,
            told(
                select(
                    {"groupId": "a", "name": "A", "options": [SWELL]},
                    {"groupId": "b", "name": "B", "options": [TIDE, SWELL]},
                )
            ),
        ],
        "/params/update/configOptions/0/options/1/options/1/value",
        name="a value in two groups",
    ),
    Case("command-name-invalid", [*OPEN_2, commands("web", "two words")], "/params/update/availableCommands/1/name"),
    Case(
        "command-name-invalid",
        [*OPEN_2, commands("web", "plan", "web")],
        "/params/update/availableCommands/2/name",
        name="twice",
    ),
    Case(
        "login-variable-repeated",
        v2(caps={"auth": {"terminal": {}}}, authMethods=[WEB, {**TTY, "env": TWICE}]),
        "/result/authMethods/1/env/1/name",
    ),
    Case(
        "server-variable-repeated",
        [
            *v2(session={"mcp": {"stdio": {}}}),
            client(
                "session/new",
                {"cwd": CWD, "mcpServers": [{"type": "stdio", "name": "a", "command": "/bin/a", "env": TWICE}]},
                id_="new",
            ),
        ],
        "/params/mcpServers/0/env/1/name",
    ),
    # --- text with a form of its own ---
    Case(
        "base64-malformed",
        [
            *v2(session={"prompt": {"image": {}}}),
            *opened(),
            prompt(
                {"type": "image", "mimeType": "image/png", "data": "AA=="},
                {"type": "image", "mimeType": "a/b", "data": "A"},
            ),
        ],
        "/params/prompt/1/data",
    ),
    Case(
        "base64-malformed",
        [
            *OPEN,
            update(
                sessionUpdate="agent_message_chunk",
                content={"type": "resource", "resource": {"uri": "file:///a", "blob": "_-8="}},
            ),
        ],
        "/params/update/content/resource/blob",
        name="the alphabet of URLs",
    ),
    Case(
        "base64-malformed",
        [
            *OPEN_2,
            update(
                sessionUpdate="agent_message",
                messageId="m",
                content=[{"type": "audio", "mimeType": "a/b", "data": "AA"}],
            ),
        ],
        "/params/update/content/0/data",
        name="a sound without padding",
    ),
    Case(
        "base64-malformed",
        [*OPEN_2, update(sessionUpdate="terminal_output_chunk", terminalId="t", data="AA\nAA")],
        "/params/update/data",
        name="output of a terminal",
    ),
    Case(
        "base64-malformed",
        [*OPEN_2, update(sessionUpdate="terminal_update", terminalId="t", command="ls", output={"data": "plain"})],
        "/params/update/output/data",
        name="a snapshot of a terminal",
    ),
    Case(
        "base64-malformed",
        [
            *OPEN_2,
            update(
                sessionUpdate="agent_message",
                messageId="m",
                content=[{"type": "resource", "resource": {"uri": "file:///a", "blob": "é==="}}],
            ),
        ],
        "/params/update/content/0/resource/blob",
        name="another letter",
    ),
    Case("patch-malformed", [*OPEN_2, patched(PATCH.replace(f"{CWD}/", "a/"))], "/params/update/content/0/patch/text"),
    Case(
        "patch-malformed",
        [*OPEN_2, patched(f"From 1f2e\n\n{PATCH}")],
        "/params/update/content/0/patch/text",
        name="the head of a commit",
    ),
    Case(
        "patch-malformed",
        [*OPEN_2, patched(MOVED.replace(f"rename to {CWD}/", "rename to "))],
        "/params/update/content/0/patch/text",
        name="renamed to a relative path",
    ),
    Case("icon-not-fetchable", [*OPEN_2, prompt(linked("file:///a.png"))], "/params/prompt/0/icons/0/src"),
    Case(
        "terminal-updates-in-one-batch",
        [*OPEN_2, output("agent", chunk(), chunk("other"), chunk())],
        "/2",
    ),
    # --- elicitation ---
    Case("elicitation-id-in-use", [*ASKS, visit(), visit(id_="again")], "/params/elicitationId", -2),
    Case(
        "elicitation-id-in-use",
        [*ASKS_1, visit(), visit(id_="again")],
        "/params/elicitationId",
        -2,
        name="in version 1",
    ),
    *(
        Case(
            "elicitation-url-with-credentials",
            [*asks, visit(sessionId="s", url="https://mara:tide@harbour.example/login")],
            "/params/url",
            name=f"in version {version}",
        )
        for version, asks in ((1, ASKS_1), (2, ASKS))
    ),
    Case(
        "elicitation-not-asked",
        [*ASKS_1, agent("elicitation/complete", {"elicitationId": "e"})],
        "/params/elicitationId",
        name="in version 1",
    ),
    Case(
        "elicitation-of-unknown-request",
        [*ASKS, client("auth/login", {"methodId": "web"}, id_="in"), result("agent", "in", {}), visit(requestId="in")],
        "/params/requestId",
        -2,
        others=frozenset({"auth-method-not-offered"}),
    ),
    Case(
        "elicitation-not-asked", [*ASKS, agent("elicitation/complete", {"elicitationId": "e"})], "/params/elicitationId"
    ),
    Case(
        "elicitation-refused-otherwise",
        [*v2(caps={"elicitation": {"form": {}}}), *opened(), visit(), error("client", "visit", -32603)],
        "/error/code",
        -2,
        others=frozenset({"variant-used-without-capability"}),
    ),
    unfit("a required field is missing", "/result/content", kind="tide"),
    Case(
        "elicitation-content-unfit",
        [*ASKS_1, form(), accepted(kind="tide")],
        "/result/content",
        -2,
        name="in version 1",
    ),
    unfit("text for a number", "/result/content/depth", name="Mara", depth="3"),
    unfit("a number that is not whole", "/result/content/depth", name="Mara", depth=1.5),
    unfit("a number that is too high", "/result/content/depth", name="Mara", depth=10),
    unfit("text that is too short", "/result/content/name", name="M"),
    unfit("a choice that is none", "/result/content/kind", name="Mara", kind="ebb"),
    unfit("a titled choice that is none", "/result/content/titled", name="Mara", titled="A"),
    unfit("one of several choices that is none", "/result/content/ports", name="Mara", ports=["a", "c"]),
    unfit("too few choices", "/result/content/ports", name="Mara", ports=[]),
    unfit("text for yes or no", "/result/content/deep", name="Mara", deep="yes"),
    # --- lists ---
    Case("cursor-not-given", [*OPEN_2, client("session/list", {"cursor": "page 2"}, id_="list")], "/params/cursor"),
    Case(
        "cursor-not-given",
        [*OPEN, client("session/list", {"cursor": ""}, id_="list")],
        "/params/cursor",
        name="an empty one in version 1",
    ),
    # --- beginning and end ---
    Case("logout-not-offered", [*v2(), client("auth/logout", {}, id_="out")], "/method", -2),
    Case(
        "auth-method-not-offered",
        [*v2(), client("auth/login", {"methodId": "web"}, id_="in")],
        "/params/methodId",
        -2,
        name="there is none",
    ),
    Case(
        "advertised-method-missing",
        [*v2(authMethods=[WEB]), client("auth/login", {"methodId": "web"}, id_="in"), error("agent", "in", -32601)],
        "/error/code",
        -2,
        name="logging in",
    ),
    Case(
        "advertised-method-missing",
        [*v2(authMethods=[WEB]), client("auth/logout", {}, id_="out"), error("agent", "out", -32601)],
        "/error/code",
        -2,
        name="logging out",
    ),
    Case(
        "version-above-requested",
        [
            client("initialize", {"protocolVersion": 1}, id_="init"),
            result("agent", "init", {"protocolVersion": 2, "info": {"name": "tour", "version": "1"}}),
        ],
        "/result/protocolVersion",
        -2,
    ),
)

QUIET_CONTENT: Final[dict[str, list[Said]]] = {
    "choices of every kind": [
        *OPEN_2,
        told(
            select(SWELL, TIDE),
            {"configId": "b", "name": "B", "type": "boolean", "currentValue": False},
            {"configId": "c", "name": "C", "type": "_colour", "currentValue": "red"},
            {**select({"groupId": "a", "name": "A", "options": [SWELL]}), "configId": "g"},
        ),
        commands("web", "plan"),
        commands("web"),
    ],
    "one variable in two places": [
        *v2(
            session={"mcp": {"stdio": {}}},
            caps={"auth": {"terminal": {}}},
            authMethods=[{**TTY, "env": TWICE[:1]}, {**TTY, "methodId": "b", "env": TWICE[1:]}],
        ),
        *opened(mcpServers=[{"type": "stdio", "name": "a", "command": "/bin/a", "env": TWICE[:1]}]),
    ],
    "base64 where it is demanded and anything elsewhere": [
        *OPEN_2,
        update(sessionUpdate="terminal_output_chunk", terminalId="t", data=""),
        update(sessionUpdate="terminal_update", terminalId="t", output=None),
        update(
            sessionUpdate="tool_call_update",
            toolCallId="t",
            title="Draw",
            rawOutput={"type": "image", "data": "no base64"},
            content=[{"type": "content", "content": {"type": "image", "mimeType": "a/b", "data": "+/8="}}],
            _meta={"a": {"type": "image", "data": "?"}},
        ),
        update(sessionUpdate="agent_message", messageId="m", content=[{"type": "_chart", "data": "1,2"}, text("data")]),
    ],
    "patches with absolute paths": [
        *OPEN_2,
        patched(PATCH + MOVED),
        patched(PATCH.replace(f"--- {CWD}/a.py", "--- /dev/null")),
        patched('diff --git "/home/m\\303\\244ra/a" "/home/m\\303\\244ra/a"\nnew file mode 100644\n'),
        patched("diff --git C:/tour/a C:/tour/a\n--- C:\\tour\\a\n+++ \\\\nas\\tour\\a\n"),
        patched(f"diff --git {CWD}/p.png {CWD}/p.png\nGIT binary patch\nliteral 4\n--- a\n"),
    ],
    "icons to be fetched": [*OPEN_2, prompt(linked("https://a.example/a.png"), linked("data:image/png;base64,AA=="))],
    "terminals in one batch": [
        *OPEN_2,
        output(
            "agent",
            chunk(),
            chunk("other"),
            {"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 0}},
        ),
    ],
    "questions one after another": [
        *ASKS,
        visit(),
        result("client", "visit", {"action": "accept"}),
        agent("elicitation/complete", {"elicitationId": "e"}),
        visit(),
        result("client", "visit", {"action": "decline"}),
        visit(),
        error("client", "visit", -32603),
        form(),
        accepted(
            name="Mara", kind="tide", titled="a", depth=9.0, ratio=1, deep=True, ports=["a", "b"], later=3, more=1
        ),
        form(),
        result("client", "form", {"action": "cancel"}),
        agent(
            "elicitation/create",
            {"mode": "_poll", "message": "a", "sessionId": "s", "elicitationId": "e"},
            id_="poll",
        ),
        error("client", "poll", -32602),
    ],
    "a question for a request that is open": [
        *v2(caps=BOTH, authMethods=[WEB]),
        client("auth/login", {"methodId": "web"}, id_="in"),
        visit(requestId="in"),
        result("client", "visit", {"action": "accept"}),
        result("agent", "in", {}),
        client("auth/logout", {}, id_="out"),
        result("agent", "out", {}),
    ],
    "a list read page by page": [
        *v2(),
        client("session/list", {}, id_=1),
        result("agent", 1, {"sessions": [info("old")], "nextCursor": ""}),
        client("session/list", {"cursor": ""}, id_=2),
        result("agent", 2, {"sessions": []}),
        client("session/resume", {"sessionId": "old", "cwd": f"{CWD}/."}, id_=3),
        update("old", sessionUpdate="state_update", state="idle"),
        result("agent", 3, {}),
    ],
    "permission by option after a question": [*ASKS, permission_v2(), chosen("yes")],
}
