"""What a subclass overrides wins over what a host does, for every method of each side and version, and is advertised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from acp_bindings import NotAdvertised, PeerError, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.hosted import HostedAgent as Agent1
from acp_session.hosted import HostedClient as Client1
from acp_session.permission import Prompt
from acp_session.v2.hosted import HostedAgent as Agent2
from acp_session.v2.hosted import HostedClient as Client2
from jsonrpc_bindings.peers import Side

ME1 = v1.Implementation(name="lantern", version="1")
ME2 = v2.Implementation(name="lantern", version="1")
AT = {"sessionId": "s"}
FILE, TERMINAL = {**AT, "path": "/srv/a"}, {**AT, "terminalId": "t"}
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
FORM: dict[str, Any] = {**AT, "mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
TEXT = {"type": "text", "text": "."}
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": TEXT}
SELECTED = {"outcome": {"outcome": "selected", "optionId": "yes"}}
ROOTS: dict[str, Any] = {"cwd": "/srv", "mcpServers": []}

Table = dict[str, tuple[Any, Any]]
"""The params of each method, and its result."""

CLIENT1: Table = {
    "elicitation/create": (FORM, {"action": "decline"}),
    "fs/read_text_file": (FILE, {"content": "own"}),
    "fs/write_text_file": ({**FILE, "content": ""}, {}),
    "session/request_permission": ({**AT, "toolCall": {"toolCallId": "c"}, "options": OPTIONS}, SELECTED),
    "terminal/create": ({**AT, "command": "true"}, {"terminalId": "t"}),
    "terminal/output": (TERMINAL, {"output": "own", "truncated": False}),
    "terminal/wait_for_exit": (TERMINAL, {"exitCode": 0}),
    "terminal/kill": (TERMINAL, {}),
    "terminal/release": (TERMINAL, {}),
    "session/update": ({**AT, "update": CHUNK}, None),
    "elicitation/complete": ({"elicitationId": "e"}, None),
}
CLIENT2: Table = {
    "elicitation/create": (FORM, {"action": "decline"}),
    "session/request_permission": ({**AT, "title": "?", "options": OPTIONS}, SELECTED),
    "session/update": ({**AT, "update": {**CHUNK, "messageId": "m"}}, None),
    "elicitation/complete": ({"elicitationId": "e"}, None),
}
AGENT1: Table = {
    "authenticate": ({"methodId": "m"}, {}),
    "logout": ({}, {}),
    "session/set_config_option": ({**AT, "configId": "c", "value": "v"}, {"configOptions": []}),
    "initialize": ({"protocolVersion": 1}, {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}),
    "session/prompt": ({**AT, "prompt": []}, {"stopReason": "max_tokens"}),
    "session/new": (ROOTS, {"sessionId": "own"}),
    "session/load": ({**AT, **ROOTS}, {}),
    "session/resume": ({**AT, **ROOTS}, {}),
    "session/fork": ({**AT, **ROOTS}, {"sessionId": "own"}),
    "session/list": ({}, {"sessions": []}),
    "session/delete": (AT, {}),
    "session/close": (AT, {}),
    "session/set_mode": ({**AT, "modeId": "m"}, {}),
    "session/cancel": (AT, None),
}
AGENT2: Table = {
    "auth/login": ({"methodId": "m"}, {}),
    "auth/logout": ({}, {}),
    "session/set_config_option": ({**AT, "configId": "c", "type": "id", "value": "v"}, {"configOptions": []}),
    "initialize": (
        {"protocolVersion": 2, "info": {"name": "a", "version": "1"}},
        {"protocolVersion": 2, "info": {"name": "own", "version": "1"}, "capabilities": {}},
    ),
    "session/prompt": ({**AT, "prompt": [TEXT]}, {"messageId": "own"}),
    "session/new": (ROOTS, {"sessionId": "own"}),
    "session/load": ({**AT, **ROOTS}, {}),
    "session/list": ({}, {"sessions": []}),
    "session/resume": ({**AT, **ROOTS}, {}),
    "session/fork": ({**AT, **ROOTS}, {"sessionId": "own"}),
    "session/close": (AT, {}),
    "session/delete": (AT, {}),
    "terminal/cancel": (TERMINAL, {}),
    "tool_call/cancel": ({**AT, "toolCallId": "c"}, {}),
    "session/cancel": (AT, None),
}
SIDES: dict[str, tuple[Any, type[Side], Table]] = {
    "client of v1": (v1, Client1, CLIENT1),
    "client of v2": (v2, Client2, CLIENT2),
    "agent of v1": (v1, Agent1, AGENT1),
    "agent of v2": (v2, Agent2, AGENT2),
}
CASES = [(name, method) for name, (_, _, table) in SIDES.items() for method in table]


@pytest.mark.parametrize("name", SIDES)
def test_the_tables_have_every_method(name: str) -> None:
    _, side, table = SIDES[name]
    assert set(table) == {*side.requests, *side.notifications} - {"$/cancel_request"}


async def met(client: Any, agent: Any, ask: Callable[[Any, Any], Any], *, initialize: bool = True) -> Any:
    peers: Any = peers1 if isinstance(client, Client1) else peers2
    info: Any = ME1 if isinstance(client, Client1) else ME2
    async with asyncio.timeout(30), peers.join(agent, client) as (to_agent, to_client):
        if initialize:
            await client.host.initialize(info)
        return await ask(to_agent, to_client)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_an_override_is_called_and_its_answer_sent(name: str, method: str) -> None:
    version, side, table = SIDES[name]
    given, answer = table[method]
    row = version.methods.CODEC.methods[method]
    result = None if answer is None else version.decode_as(row.result, answer)
    heard: list[Any] = []
    done = asyncio.Event()

    async def own(_: Any, params: Any, /) -> Any:
        heard.append(params)
        done.set()
        return result

    attribute = {**side.requests, **side.notifications}[method]
    overriding: Any = type("Own", (side,), {attribute: own})
    options: Any = {"modes": ("form", "url")} if "elicitation" in method else {}
    if method == "elicitation/complete":
        options["elicit"] = lambda params: None  # pyright: ignore[reportUnknownLambdaType]

    async def ask(to_agent: Any, to_client: Any) -> Any:
        calls = to_client if side in (Client1, Client2) else to_agent
        found = await getattr(calls, attribute)(version.decode_as(row.params, given))
        await done.wait()
        return found

    other = Agent1() if version is v1 else Agent2(ME2)
    if side in (Client1, Client2):
        found = asyncio.run(met(overriding(**options), other, ask))
    else:
        agent = overriding() if version is v1 else overriding(ME2)
        client: Any = Client1() if version is v1 else Client2()
        found = asyncio.run(met(client, agent, ask, initialize=method != "initialize"))
    assert found == result
    assert len(heard) == 1


ALL = [name for method, name in Client1.requests.items() if method.startswith("terminal/")]


@pytest.mark.parametrize(
    ("overridden", "options", "offers"),
    [
        ([], {"files": None, "terminals": None}, []),
        (["fs_read_text_file"], {"files": None, "terminals": None}, ["read"]),
        (["fs_write_text_file"], {"files": None, "terminals": None}, ["write"]),
        (ALL, {"files": None, "terminals": None}, ["terminal"]),
        (ALL[1:], {"files": None, "terminals": None}, []),  # nobody serves terminal/create
        (["elicitation_create"], {"files": None, "terminals": None}, ["form"]),
        (["elicitation_create"], {"files": None, "terminals": None, "modes": ("url",)}, ["url"]),
        (["session_request_permission"], {"files": None, "terminals": None}, []),
    ],
)
def test_what_is_overridden_is_advertised_and_no_more(
    overridden: list[str], options: dict[str, Any], offers: list[str]
) -> None:
    async def own(_: Any, params: Any, /) -> Any: ...

    overriding: Any = type("Own", (Client1,), dict.fromkeys(overridden, own))
    told: Any = overriding(**options).host.capabilities()
    asks = told.elicitation
    found = {
        "read": told.fs.read_text_file,
        "write": told.fs.write_text_file,
        "terminal": told.terminal,
        "form": asks is not None and asks.form is not None,
        "url": asks is not None and asks.url is not None,
    }
    assert [name for name, value in found.items() if value] == offers


def test_an_override_may_ask_the_host_and_add_to_its_answer() -> None:
    class Own(Client1):
        async def session_request_permission(
            self, params: v1.RequestPermissionRequest, /
        ) -> v1.RequestPermissionResponse:
            asked.append(params.tool_call.title)
            return await super().session_request_permission(params)

    asked: list[Any] = []

    async def ask(to_agent: Any, to_client: Any) -> Any:
        session = await client.host.new("/")
        call = v1.ToolCallUpdate(tool_call_id="c", title="Run it")
        options = [v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        request = v1.RequestPermissionRequest(session_id=session.id, tool_call=call, options=options)
        return await to_client.session_request_permission(request)

    def first(prompt: Prompt) -> str:
        return prompt.options[0].option_id

    client = Own(granted=["/"], permission=first)
    answer = asyncio.run(met(client, Agent1(), ask))
    assert (answer.outcome.option_id, asked) == ("yes", ["Run it"])


def test_the_host_takes_note_of_updates_beside_an_override() -> None:
    class Own(Client1):
        async def session_update(self, params: v1.SessionNotification, /) -> None:
            seen.append(params.update)

    class Speaking(Agent1):
        async def turn(self, turn: Any) -> v1.StopReason:
            await turn.say("tide")
            return "end_turn"

    seen: list[Any] = []

    async def ask(to_agent: Any, to_client: Any) -> Any:
        session = await client.host.new("/")
        await client.host.prompt(session.id, "?")
        return [one.text for one in session.transcript.messages]

    client = Own(granted=["/"])
    assert asyncio.run(met(client, Speaking(), ask)) == ["tide"]
    assert len(seen) == 1


def test_what_nobody_serves_is_refused_as_before() -> None:
    async def ask(to_agent: Any, to_client: Any) -> Any:
        with pytest.raises(NotAdvertised):
            await to_client.fs_read_text_file(v1.ReadTextFileRequest(session_id="s", path="/a"))
        with pytest.raises(PeerError) as failed:
            await to_client.extension_request("_tide", {})
        return failed.value.code

    assert asyncio.run(met(Client1(files=None), Agent1(), ask)) == -32601
