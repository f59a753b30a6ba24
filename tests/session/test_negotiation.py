"""Which version is spoken: agents and clients of one version, the other or both, over standard input and output and in memory."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from acp_monitor import Monitor
from acp_session import (
    Agent,
    Client,
    ClientSession,
    ConnectionClosed,
    InvalidMessage,
    PeerError,
    Turn,
    UnsupportedVersion,
    connect_agent,
    serve_agent,
    spawn_agent,
)
from acp_session.connect import InitializedTransport
from jsonrpc_bindings.transport import Memory, pair

TESTS = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
INFO = {"name": "a", "version": "1"}


def run(work: Callable[[], Awaitable[Any]]) -> None:
    async def main() -> None:
        await asyncio.wait_for(work(), 30)

    asyncio.run(main())


class Echo(Agent):
    """An agent that says what it was told."""

    async def on_prompt(self, turn: Turn) -> str:
        await turn.send_message(turn.text)
        return "end_turn"


class Listener(Client):
    """A client that notes what it is sent."""

    def __init__(self, folder: Path) -> None:
        super().__init__(allowed_roots=[folder])
        self.updates: list[Any] = []

    async def on_update(self, session: ClientSession, update: Any) -> None:  # noqa: ARG002
        self.updates.append(update)


@pytest.mark.parametrize(
    ("agent", "client", "version"),
    [
        ((1, 2), (1, 2), 2),
        ((1, 2), (1,), 1),
        ((1,), (1, 2), 1),
        pytest.param((1, 2), (2,), 2, marks=pytest.mark.exhaustive),
        pytest.param((2,), (1, 2), 2, marks=pytest.mark.exhaustive),
    ],
)
def test_programs_agree_on_a_version_and_talk(
    agent: tuple[int, ...], client: tuple[int, ...], version: int, tmp_path: Path
) -> None:
    breaches: list[Any] = []
    program = "from acp_session import run_agent; from session.test_negotiation import Echo; "
    program += f"run_agent(Echo(), versions={agent})"

    async def work() -> None:
        command = [sys.executable, "-W", "error", "-c", program]
        options: Any = {"env": ENVIRONMENT, "monitor": Monitor(), "on_event": breaches.append, "strict": True}
        versions: Any = client
        async with spawn_agent(command, Client(allowed_roots=[tmp_path]), versions=versions, **options) as found:
            assert found.version == version
            session = await found.new_session(tmp_path)
            assert (await session.prompt("tide")).stop_reason == "end_turn"

    run(work)
    assert breaches == []


# --- what the wire shows ---------------------------------------------------------------------------------------------


class Wire:
    """A client that writes and reads lines, at an agent that negotiates."""

    def __init__(self, versions: tuple[int, ...] = (1, 2)) -> None:
        near, far = pair()
        self.link: Memory = near
        self.serving = asyncio.ensure_future(serve_agent(Echo(), far, versions=versions))

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


@pytest.mark.parametrize(("asked", "spoken"), [(1, 1), (2, 2), (3, 2), (65535, 2)])
def test_an_agent_answers_with_the_newest_version_that_the_client_may_speak(asked: int, spoken: int) -> None:
    async def work() -> None:
        wire = Wire()
        answer = await wire.ask(0, "initialize", protocolVersion=asked, info=INFO)
        assert answer["result"]["protocolVersion"] == spoken
        await wire.end()

    run(work)


def test_what_comes_before_a_usable_initialize_is_answered_with_an_error_and_the_connection_lives_on(
    tmp_path: Path,
) -> None:
    async def work() -> None:
        wire = Wire()
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
        found = await wire.ask(4, "initialize", protocolVersion=2)  # no info: v2 demands it
        assert found["error"]["code"] == -32602
        found = await wire.ask(5, "initialize", protocolVersion=1)  # and the client goes back to v1
        assert found["result"]["protocolVersion"] == 1
        found = await wire.ask(6, "session/new", cwd=str(tmp_path), mcpServers=[])
        assert found["result"]["sessionId"]
        for number, version in ((7, 2), (8, 1)):  # too late: v1 is spoken
            found = await wire.ask(number, "initialize", protocolVersion=version, info=INFO)
            assert (found["id"], found["error"]["code"]) == (number, -32600)
            assert "a connection is initialized once" in found["error"]["message"]
        await wire.end()

    run(work)


def test_a_client_may_try_versions_until_its_first_other_request(tmp_path: Path) -> None:
    async def work() -> None:
        wire = Wire()
        for number, version in enumerate((2, 1, 2, 2)):
            found = await wire.ask(number, "initialize", protocolVersion=version, info=INFO)
            assert found["result"]["protocolVersion"] == version
        found = await wire.ask(5, "session/new", cwd=str(tmp_path))
        assert found["result"]["sessionId"]
        found = await wire.ask(6, "initialize", protocolVersion=2, info=INFO)
        assert (found["id"], found["error"]["code"]) == (6, -32600)
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
            async with connect_agent(near, Client()):
                pass
        assert (found.value.version, found.value.known) == (7, (1, 2))
        await answering

    run(work)


def test_a_client_goes_back_to_v1_where_an_agent_cannot_answer_v2_and_hears_what_came_before(tmp_path: Path) -> None:
    async def work() -> None:
        near, far = pair()
        client = Listener(tmp_path)

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
            asked = json.loads(await far.receive() or b"")
            far.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"sessionId": "s"}}).encode())

        answering = asyncio.ensure_future(answer())
        async with connect_agent(near, client) as agreed:
            assert agreed.version == 1
            await agreed.new_session(tmp_path)
            while not client.updates:
                await asyncio.sleep(0)
        await answering

    run(work)


@pytest.mark.parametrize(
    ("versions", "result", "spoken"),
    [
        ((1, 2), {"agentCapabilities": {"loadSession": True}}, 1),  # as the examples of the Python SDK answer
        ((1, 2), {"info": {"name": "tides", "version": "1"}, "capabilities": {}}, 2),
        ((2,), {"agentCapabilities": {}}, None),
    ],
)
def test_an_agent_that_repeats_the_version_of_the_request_is_spoken_to_in_that_of_its_answer(
    versions: tuple[int, ...], result: dict[str, Any], spoken: int | None
) -> None:
    async def work() -> None:
        near, far = pair()

        async def answer() -> None:
            asked = json.loads(await far.receive() or b"")
            repeated = {"protocolVersion": asked["params"]["protocolVersion"], **result}
            far.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": repeated}).encode())

        answering = asyncio.ensure_future(answer())
        with nullcontext() if spoken else pytest.raises(InvalidMessage, match="'info' is required"):
            async with connect_agent(near, Client(), versions=versions) as agreed:
                assert agreed.version == spoken
        await answering

    run(work)


def test_an_agent_that_ends_or_refuses_everything_is_told() -> None:
    async def work() -> None:
        near, far = pair()
        await far.close()
        with pytest.raises(ConnectionClosed):
            async with connect_agent(near, Client()):
                pass
        near, far = pair()

        async def refuse() -> None:
            while (line := await far.receive()) is not None:
                error = {"code": -32000, "message": "no"}
                far.send(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": error}).encode())

        refusing = asyncio.ensure_future(refuse())
        with pytest.raises(PeerError) as found:
            async with connect_agent(near, Client()):
                pass
        assert found.value.code == -32000
        await refusing

    run(work)


@pytest.mark.parametrize("versions", [(), (3,), (1, 3)])
def test_versions_that_are_not_spoken_are_a_mistake(versions: Any) -> None:
    near, _ = pair()

    async def work() -> None:
        with pytest.raises(ValueError, match="version"):
            await serve_agent(Echo(), near, versions=versions)
        with pytest.raises(ValueError, match="version"):
            async with connect_agent(near, Client(), versions=versions):
                pass

    run(work)


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
            async with connect_agent(near, Client()):
                pass
        await saying

    run(work)


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ('"result":null', "/result/protocolVersion"),
        ('"result":[]', "/result/protocolVersion"),
        ('"result":{"protocolVersion":"1"}', "/result/protocolVersion"),
        ('"result":{"protocolVersion":1.5}', "/result/protocolVersion"),
        ('"error":null', "/error"),
        ('"error":"no"', "/error"),
        ('"error":{"code":"x","message":"no"}', "/error"),
        ('"error":{"code":-32000}', "/error"),
    ],
)
def test_an_answer_to_initialize_that_breaks_the_schema_is_called_that(answer: str, place: str) -> None:
    async def work() -> None:
        near, far = pair()

        async def say() -> None:
            while (line := await far.receive()) is not None:
                far.send(f'{{"jsonrpc":"2.0","id":{json.loads(line)["id"]},{answer}}}'.encode())

        saying = asyncio.ensure_future(say())
        with pytest.raises(InvalidMessage) as found:
            async with connect_agent(near, Client()):
                pass
        assert (found.value.method, found.value.place) == ("initialize", place)
        await saying

    run(work)


def test_an_initialize_that_is_too_large_is_answered_by_its_id() -> None:
    async def work() -> None:
        wire = Wire()
        wire.write(b'{"jsonrpc":"2.0","id":3,"method":"initialize","params":[' + b"[]," * 600_000 + b"[]]}")
        found = await wire.read()
        assert (found["id"], found["error"]["code"]) == (3, -32600)
        await wire.end()

    run(work)


@pytest.mark.parametrize(("agent", "client"), [(1, 2), (2, 1)])
def test_programs_without_a_version_in_common_say_so(agent: int, client: int) -> None:
    async def work() -> None:
        near, far = pair()
        serving = asyncio.ensure_future(serve_agent(Echo(), far, versions=(agent,)))
        with pytest.raises(UnsupportedVersion, match=f"version {agent} of the protocol, not {client}") as found:
            async with connect_agent(near, Client(), versions=(client,)):
                pass
        assert found.value.version == agent
        await serving

    run(work)


def test_an_agent_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_session.connect.INITIALIZE_TIMEOUT", 0.05)

    async def work() -> None:
        near, _ = pair()
        with pytest.raises(TimeoutError):
            async with connect_agent(near, Client()):
                pass

    run(work)


def test_what_a_flood_before_the_answer_leaves_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_session.connect.MAX_EARLY_SIZE", 1000)

    async def work() -> None:
        near, far = pair()
        line = json.dumps({"jsonrpc": "2.0", "method": "_x", "params": ["x" * 300]}).encode()
        for _ in range(20):
            far.send(line)
        far.send(json.dumps({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 2}}).encode())
        transport = InitializedTransport(near)
        await transport.initialize([{}], {2})
        transport.send(b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}')
        await far.close()
        received = [await transport.receive() for _ in range(4)]
        assert received[1:] == [line, line, None]

    run(work)
