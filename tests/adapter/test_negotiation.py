"""Which version is spoken: agents and clients of one version, the other or both, over standard input and output and in memory."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, PeerError
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_monitor import Monitor
from acp_session.negotiation import UnsupportedVersion, connect_agent, serve_agent, spawn_agent
from adapter.programs import ME1, ME2, Agent1, Agent2, Client1, Client2, run
from adapter.test_conversations import NEW1, NEW2, PROMPT1, PROMPT2, busy1, busy2, kinds
from jsonrpc_bindings.transport import Memory, pair

TESTS = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}


async def converse1(agent: peers1.RemoteAgent, client: Client1) -> None:
    await agent.session_new(NEW1)
    assert (await agent.session_prompt(PROMPT1)).stop_reason == "end_turn"
    assert "tool_call" in kinds(client.updates) and len(client.asked) == 1


async def converse2(agent: peers2.RemoteAgent, client: Client2) -> None:
    await agent.session_new(NEW2)
    await agent.session_prompt(PROMPT2)
    await client.idle.wait()
    assert "tool_call_update" in kinds(client.updates) and len(client.asked) == 1
    assert client.updates[-1]["stopReason"] == "end_turn"


@pytest.mark.parametrize(
    ("agent", "client", "version"),
    [
        ("1 2", "1 2", 2),
        pytest.param("1 2", "1", 1, marks=pytest.mark.exhaustive),
        pytest.param("1 2", "2", 2, marks=pytest.mark.exhaustive),
        pytest.param("1", "1 2", 2, marks=pytest.mark.exhaustive),  # the agent's adapter speaks v2
        ("2", "1", 1),  # the agent's adapter speaks v1
        pytest.param("1 only", "1 2", 1, marks=pytest.mark.exhaustive),
        pytest.param("1 only", "2", 1, marks=pytest.mark.exhaustive),  # the client's adapter speaks v1
        pytest.param("2 only", "1 2", 2, marks=pytest.mark.exhaustive),
        ("2 only", "1", 2),  # the client's adapter speaks v2
        pytest.param("2 only", "2", 2, marks=pytest.mark.exhaustive),
    ],
)
def test_programs_agree_on_a_version_and_talk(agent: str, client: str, version: int) -> None:
    breaches: list[Any] = []

    async def work() -> None:
        one, two = Client1(), Client2()
        command = [sys.executable, "-W", "error", "-m", "adapter.program", *agent.split()]
        offers: Any = {"v1": (one, ME1), "v2": (two, ME2)}
        offers = {name: offers[name] for name in offers if name[1] in client.split()}
        options: Any = {"env": ENVIRONMENT, "monitor": Monitor(), "told": breaches.append, "strict": True}
        spawn: Any = spawn_agent
        found: Any
        async with spawn(command, **offers, **options) as found:
            assert found.version == version
            if isinstance(found.agent, peers2.RemoteAgent):
                assert found.answer.info.name == "compass"
                await converse2(found.agent, two)
            else:
                assert found.answer.agent_info.name == "compass"
                await converse1(found.agent, one)

    run(work)
    assert breaches == []


@pytest.mark.parametrize(("agent", "client"), [("1 only die", "2"), ("2 only die", "1")])
def test_when_an_agent_dies_in_a_turn_behind_the_adapter_nobody_waits(agent: str, client: str) -> None:
    async def work() -> None:
        one, two = Client1(), Client2()
        command = [sys.executable, "-m", "adapter.program", *agent.split()]
        if client == "2":
            async with spawn_agent(command, v2=(two, ME2), env=ENVIRONMENT) as agreed:
                await agreed.agent.session_new(NEW2)
                await agreed.agent.session_prompt(PROMPT2)
                await two.idle.wait()
                assert two.updates[-1]["stopReason"] == "error"
                await agreed.agent.connection.ended()
        else:
            async with spawn_agent(command, v1=(one, ME1), env=ENVIRONMENT) as older:
                await older.agent.session_new(NEW1)
                with pytest.raises((PeerError, ConnectionClosed)):
                    await older.agent.session_prompt(PROMPT1)
                await older.agent.connection.ended()

    run(work)


# --- what the wire shows ---------------------------------------------------------------------------------------------


class Wire:
    """A client that writes and reads lines, at an agent that negotiates."""

    def __init__(self, **handlers: Any) -> None:
        near, far = pair()
        self.link: Memory = near
        self.serving = asyncio.ensure_future(serve_agent(far, **handlers))

    async def ask(self, number: int, method: str, **params: Any) -> Any:
        self.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await self.read()

    def write(self, value: Any) -> None:
        self.link.send(value if isinstance(value, bytes) else json.dumps(value).encode())

    async def read(self) -> Any:
        line = await self.link.receive()
        return None if line is None else json.loads(line)

    async def end(self) -> None:
        await self.link.close()
        await self.serving


INFO = {"name": "a", "version": "1"}


@pytest.mark.parametrize(("asked", "spoken"), [(1, 1), (2, 2), (3, 2), (65535, 2)])
def test_an_agent_answers_with_the_newest_version_that_the_client_may_speak(asked: int, spoken: int) -> None:
    async def work() -> None:
        wire = Wire(v1=Agent1(busy1), v2=Agent2(busy2))
        answer = await wire.ask(0, "initialize", protocolVersion=asked, info=INFO)
        assert answer["result"]["protocolVersion"] == spoken
        await wire.end()

    run(work)


def test_what_comes_before_a_usable_initialize_is_answered_with_an_error_and_the_connection_lives_on() -> None:
    async def work() -> None:
        wire = Wire(v2=Agent2(busy2))
        found = await wire.ask(1, "session/new", cwd="/w")
        assert (found["id"], found["error"]["code"]) == (1, -32600)
        wire.write({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}})
        wire.write(b"{")
        assert (await wire.read())["error"]["code"] == -32700
        wire.write([])
        assert (await wire.read())["error"]["code"] == -32600
        found = await wire.ask(2, "initialize", protocolVersion="2", info=INFO)
        assert (found["id"], found["error"]["code"]) == (2, -32602)
        found = await wire.ask(3, "initialize", protocolVersion=0, info=INFO)
        assert (found["error"]["code"], found["error"]["data"]) == (-32022, {"requested": 0, "supported": [1, 2]})
        found = await wire.ask(4, "initialize", protocolVersion=2)  # no info: the agent of v2 refuses it
        assert found["error"]["code"] == -32602
        found = await wire.ask(5, "initialize", protocolVersion=1)  # and the client goes back to v1
        assert found["result"]["protocolVersion"] == 1
        found = await wire.ask(6, "session/new", cwd="/w", mcpServers=[])
        assert found["result"]["sessionId"] == "s"
        found = await wire.ask(7, "initialize", protocolVersion=2, info=INFO)  # too late: v1 is spoken
        assert found.get("result", {}).get("protocolVersion") != 2
        await wire.end()

    run(work)


def test_a_client_tells_that_it_does_not_speak_the_version_of_the_agent_and_closes() -> None:
    async def work() -> None:
        near, far = pair()

        async def answer() -> None:
            line = await far.receive()
            assert line is not None
            asked = json.loads(line)
            assert asked["params"]["protocolVersion"] == 2
            assert "clientCapabilities" in asked["params"]  # an agent of v1 finds what it looks for
            far.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"protocolVersion": 7}}).encode())
            assert await far.receive() is None

        answering = asyncio.ensure_future(answer())
        with pytest.raises(UnsupportedVersion) as found:
            async with connect_agent(near, v2=(Client2(), ME2)):
                pass
        assert (found.value.version, found.value.known) == (7, (1, 2))
        await answering

    run(work)


def test_a_client_goes_back_to_v1_where_an_agent_cannot_answer_v2_and_hears_what_came_before() -> None:
    async def work() -> None:
        near, far = pair()
        client = Client1()

        async def answer() -> None:
            asked = json.loads(await far.receive() or b"")
            error = {"code": -32602, "message": "unknown version"}
            far.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}).encode())
            asked = json.loads(await far.receive() or b"")
            assert asked["params"]["protocolVersion"] == 1 and "info" not in asked["params"]
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "early"}}
            early = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
            far.send(json.dumps(early).encode())
            far.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"protocolVersion": 1}}).encode())

        answering = asyncio.ensure_future(answer())
        async with connect_agent(near, v1=(client, ME1), v2=(Client2(), ME2)) as agreed:
            assert agreed.version == 1
            while not client.updates:
                await asyncio.sleep(0)
        await answering

    run(work)


def test_an_agent_that_ends_or_refuses_everything_is_told() -> None:
    async def work() -> None:
        near, far = pair()
        await far.close()
        with pytest.raises(ConnectionClosed):
            async with connect_agent(near, v2=(Client2(), ME2)):
                pass
        near, far = pair()

        async def refuse() -> None:
            while (line := await far.receive()) is not None:
                error = {"code": -32000, "message": "no"}
                far.send(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": error}).encode())

        refusing = asyncio.ensure_future(refuse())
        with pytest.raises(PeerError) as found:
            async with connect_agent(near, v2=(Client2(), ME2)):
                pass
        assert found.value.code == -32000
        await refusing

    run(work)


def test_without_a_handler_there_is_nothing_to_speak() -> None:
    near, _ = pair()
    with pytest.raises(ValueError, match="handler"):
        run(lambda: serve_agent(near))
    nothing: Any = {}
    with pytest.raises(ValueError, match="handler"):
        connect_agent(near, **nothing)


@pytest.mark.parametrize(
    "answer",
    [
        '{"jsonrpc":"2.0","id":0}',
        '{"jsonrpc":"2.0","id":0,"result":{},"result":{}}',
        '{"jsonrpc":"2.0","id":0,"result":[' + "[]," * 600_000 + "[]]}",
        '{"result":[' + "[]," * 600_000 + '[]],"id":0}',
    ],
    ids=["empty", "doubled", "large", "large with its id at the end"],
)
def test_nobody_waits_for_an_answer_to_initialize_that_cannot_be_read(answer: str) -> None:
    async def work() -> None:
        near, far = pair()

        async def say() -> None:
            await far.receive()
            far.send(answer.encode())

        saying = asyncio.ensure_future(say())
        with pytest.raises(ConnectionClosed, match="the agent's answer to `initialize` cannot be read: "):
            async with connect_agent(near, v2=(Client2(), ME2)):
                pass
        await saying

    run(work)


def test_an_initialize_that_is_too_large_is_answered_by_its_id() -> None:
    async def work() -> None:
        wire = Wire(v2=Agent2(busy2))
        wire.write(b'{"jsonrpc":"2.0","id":3,"method":"initialize","params":[' + b"[]," * 600_000 + b"[]]}")
        found = await wire.read()
        assert (found["id"], found["error"]["code"]) == (3, -32600)
        await wire.end()

    run(work)
