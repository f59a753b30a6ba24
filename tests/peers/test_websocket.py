"""WebSocket as a transport: both roles on loopback, its limits, its close codes, and what is left of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, v1
from acp_bindings.v1 import peers
from websockets import exceptions
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from jsonrpc_bindings import websocket
from peers.harbour import Agent, Client, call, run, said, wish

HELLO = v1.InitializeRequest(protocol_version=1)
BINDINGS = Path(__file__).parents[2] / "generated" / "python" / "acp-bindings"


@asynccontextmanager
async def talking(
    client: Client | None = None, agent: Agent | None = None, **options: Any
) -> AsyncGenerator[peers.RemoteAgent]:
    """A client that is connected to an agent on a server of its own."""
    async with (
        websocket.serve(lambda: agent or Agent(), **options) as server,
        peers.connect_agent(client or Client(), await websocket.connect(server.uri)) as calls,
    ):
        yield calls


@asynccontextmanager
async def raw_server(*said: Any) -> AsyncGenerator[str]:
    """A server that says what it likes to whoever connects: text, bytes, or the close code."""

    async def talk(socket: ServerConnection) -> None:
        await socket.recv()
        for one in said:
            if isinstance(one, int):
                await socket.close(one, "tide")
            else:
                await socket.send(one)
        await socket.wait_closed()

    async with serve(talk, "127.0.0.1", 0, compression=None, close_timeout=1) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/"


def answer(**result: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, **result}})


# --- both roles ------------------------------------------------------------------------------------------------------


def test_a_client_connects_to_an_agent_and_everything_comes_in_its_order() -> None:
    async def test() -> None:
        client = Client()
        async with talking(client) as agent:
            assert (await agent.initialize(HELLO)).protocol_version == 1
            assert (await agent.session_prompt(wish("stream"))).stop_reason == "end_turn"
            assert client.heard == [str(number) for number in range(100)]

    run(test)


def test_an_agent_connects_to_a_client_that_listens() -> None:
    async def test() -> None:
        client, agent = Client(), Agent()
        client.text.set()
        async with (
            websocket.serve(lambda: client) as server,
            peers.connect_client(agent, await websocket.connect(server.uri)) as calls,
        ):
            await calls.session_update(said("s", "high water"))
            answer = await calls.fs_read_text_file(v1.ReadTextFileRequest(session_id="s", path="/tide"))
        assert (client.heard, answer.content) == (["high water"], "low")

    run(test)


def test_each_connection_has_an_object_of_its_own() -> None:
    async def test() -> None:
        made: list[Agent] = []

        def make() -> Agent:
            made.append(Agent())
            return made[-1]

        async with websocket.serve(make) as server:
            for _ in range(3):
                async with peers.connect_agent(Client(), await websocket.connect(server.uri)) as agent:
                    await agent.initialize(HELLO)
        assert len(set(map(id, made))) == 3

    run(test)


def test_a_thousand_requests_at_once_are_all_answered() -> None:
    async def test() -> None:
        async with talking() as agent:
            found = await asyncio.gather(
                *(agent.session_new(v1.NewSessionRequest(cwd=f"/{n}", mcp_servers=[])) for n in range(1000))
            )
            assert [one.session_id for one in found] == [f"/{n}" for n in range(1000)]

    run(test)


def test_what_one_side_sends_is_one_text_frame_for_each_message() -> None:
    async def test() -> None:
        async with websocket.serve(Agent) as server, connect(server.uri) as socket:
            for number in (1, 2):
                await socket.send(json.dumps(call(number, "initialize", {"protocolVersion": 1})))
            frames = [await socket.recv(), await socket.recv()]
        assert all(isinstance(frame, str) for frame in frames)
        assert [json.loads(frame)["id"] for frame in frames] == [1, 2]

    run(test)


# --- limits and what is no message -----------------------------------------------------------------------------------


def test_a_message_that_is_too_long_ends_the_connection_with_1009_and_says_so_on_both_sides() -> None:
    async def test() -> None:
        told: list[object] = []
        async with talking(limit=1000, on_event=told.append) as agent:
            with pytest.raises(ConnectionClosed, match=r"the agent has ended: .* 1009"):
                await agent.session_prompt(wish("x" * 2000))
        assert told == ["a message is longer than 1000 bytes"]

    run(test)


def test_a_peer_hears_when_its_answer_is_too_long() -> None:
    async def test() -> None:
        async with raw_server(answer(_meta={"x": "y" * 5000})) as uri:
            link = await websocket.connect(uri, limit=1000)
            async with peers.connect_agent(Client(), link) as agent:
                with pytest.raises(ConnectionClosed, match="the agent has ended: a message is longer than 1000 bytes"):
                    await agent.initialize(HELLO)

    run(test)


def test_binary_frames_are_ignored_and_told() -> None:
    async def test() -> None:
        told: list[object] = []
        async with raw_server(b"\0\1", answer()) as uri:
            link = await websocket.connect(uri)
            async with peers.connect_agent(Client(), link, on_event=told.append) as agent:
                assert (await agent.initialize(HELLO)).protocol_version == 1
        assert [str(one) for one in told] == ["a binary frame was ignored: messages are text frames"]

    run(test)


def test_text_that_is_no_message_is_answered_and_the_conversation_goes_on() -> None:
    async def test() -> None:
        async with websocket.serve(Agent) as server, connect(server.uri) as socket:
            await socket.send("{")
            refused = json.loads(await socket.recv())
            await socket.send(json.dumps(call(1, "initialize", {"protocolVersion": 1})))
            assert (refused["error"]["code"], refused["id"]) == (-32700, None)
            assert json.loads(await socket.recv())["id"] == 1

    run(test)


def test_a_sender_waits_for_a_reader_that_is_slow_and_nothing_is_lost() -> None:
    async def test() -> None:
        client, go, done = Client(), asyncio.Event(), 0

        async def held(text: str) -> None:
            await go.wait()

        client.in_update = held
        agent = Agent()

        async def flood(session: str, wish: str) -> v1.PromptResponse:
            nonlocal done
            for number in range(200):
                await agent.client.session_update(said(session, f"{number}:{'x' * 100_000}"))
                done = number + 1
            return v1.PromptResponse(stop_reason="end_turn")

        agent.turn = flood  # type: ignore[method-assign]
        async with talking(client, agent) as calls:
            asked = asyncio.create_task(calls.session_prompt(wish("flood")))
            before = -1
            while before != done or not done:
                before = done
                await asyncio.sleep(0.3)
            assert done < 150, "twenty million characters were buffered"
            go.set()
            assert (await asked).stop_reason == "end_turn"
        assert [text.partition(":")[0] for text in client.heard] == [str(number) for number in range(200)]

    run(test)


# --- the end ---------------------------------------------------------------------------------------------------------


def test_the_peer_sees_that_we_are_done_and_a_server_that_it_is_going_away() -> None:
    async def test() -> None:
        codes: list[int | None] = []

        async def note(socket: ServerConnection) -> None:
            await socket.wait_closed()
            codes.append(socket.close_code)

        async with serve(note, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            async with peers.connect_agent(Client(), await websocket.connect(f"ws://127.0.0.1:{port}")):
                pass
        async with websocket.serve(Agent) as listener:
            socket = await connect(listener.uri)
        with pytest.raises(exceptions.ConnectionClosed):
            await socket.recv()
        assert codes == [1000]
        assert socket.close_code == 1001

    run(test)


@pytest.mark.parametrize(
    ("code", "said"),
    [(1000, "the agent has ended$"), (1001, "the agent has ended$"), (1011, r"ended: .* 1011 \(tide\)$")],
)
def test_a_call_says_with_which_code_its_peer_has_ended(code: int, said: str) -> None:
    async def test() -> None:
        async with raw_server(code) as uri, peers.connect_agent(Client(), await websocket.connect(uri)) as agent:
            with pytest.raises(ConnectionClosed, match=said):
                await agent.initialize(HELLO)
            with pytest.raises(ConnectionClosed, match=said):
                await agent.initialize(HELLO)

    run(test)


def test_a_peer_that_is_cut_off_wakes_everybody() -> None:
    async def test() -> None:
        agent = Agent()
        async with websocket.serve(lambda: agent) as server:
            link = await websocket.connect(server.uri)
            async with peers.connect_agent(Client(), link) as calls:
                asked = [asyncio.create_task(calls.session_prompt(wish("wait"))) for _ in range(5)]
                while agent.at_work < 5:
                    await asyncio.sleep(0.01)
                transport = agent.connection.transport
                assert isinstance(transport, websocket.Socket)
                transport._cut()
                for one in asked:
                    with pytest.raises(ConnectionClosed, match=r"1006 \(the connection was cut\)"):
                        await one
        assert len(agent.cancelled) == 5

    run(test)


def test_closing_does_not_wait_for_a_peer_that_does_not_read() -> None:
    async def test() -> None:
        enough = asyncio.Event()

        async def deaf(socket: ServerConnection) -> None:
            await enough.wait()

        async with serve(deaf, "127.0.0.1", 0, max_queue=1, close_timeout=0.1) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            link = await websocket.connect(f"ws://127.0.0.1:{port}", grace=0.2)
            for _ in range(100):
                link.send(b'"' + b"x" * 1_000_000 + b'"')
            assert link.is_full
            waiting = asyncio.create_task(link.drain())
            await link.close()
            with pytest.raises(ConnectionClosed):
                await waiting
            with pytest.raises(ConnectionClosed):
                link.send(b"{}")
            enough.set()

    run(test)


def test_whoever_is_cancelled_while_closing_leaves_nothing() -> None:
    async def test() -> None:
        async with websocket.serve(Agent, grace=5) as server:
            link = await websocket.connect(server.uri, grace=30)
            closing = asyncio.create_task(link.close())
            await asyncio.sleep(0)
            closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing

    run(test)


# --- who may connect -------------------------------------------------------------------------------------------------


def test_pages_of_the_web_other_paths_and_too_many_are_turned_away() -> None:
    async def test() -> None:
        async def status(uri: str, origin: Any = None) -> int:
            with pytest.raises(InvalidStatus) as refused:
                await connect(uri, origin=origin)
            return refused.value.response.status_code

        async with websocket.serve(
            Agent, path="/acp", identity="Acp-Connection-Id", origins=("https://editor.example",), connections=1
        ) as server:
            assert await status(server.uri, "https://evil.example") == 403
            assert await status(server.uri.replace("/acp", "/")) == 404
            async with connect(f"{server.uri}?token=1", origin=Origin("https://editor.example")) as socket:
                assert socket.response is not None
                assert len(socket.response.headers["Acp-Connection-Id"]) == 36
                await socket.send(json.dumps(call(1, "initialize", {"protocolVersion": 1})))
                await socket.recv()
                assert await status(server.uri) == 503
            with pytest.raises(ConnectionRefusedError, match=r"does not answer with a WebSocket: .*404"):
                await websocket.connect(server.uri.replace("/acp", "/other"))
            with pytest.raises(ValueError, match="not the URI of a WebSocket"):
                await websocket.connect(server.uri.replace("ws:", "http:"))
        with pytest.raises(OSError, match="Connect call failed"):
            await websocket.connect(server.uri)

    run(test)


# --- the extra -------------------------------------------------------------------------------------------------------


def test_without_the_extra_the_module_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['websockets'] = None\n"
        "from acp_bindings.v1 import peers\n"
        "try: from jsonrpc_bindings import websocket\n"
        "except ImportError as error: print(type(error).__name__, error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(BINDINGS)}
    )
    assert done.stdout.startswith("ImportError WebSocket needs the package websockets, 15 or newer.")


def test_every_package_with_a_distribution_has_the_extra() -> None:
    for name in ("acp-bindings", "mcp-bindings"):
        text = (BINDINGS.parent / name / "pyproject.toml").read_text("utf-8")
        assert 'websocket = ["websockets>=15"]' in text
