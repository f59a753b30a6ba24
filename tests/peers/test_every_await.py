"""A conversation that is cancelled at each of its awaits, and one whose peer dies at each message: nothing hangs, nothing is left."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import coroutine
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, PeerError, v1
from acp_bindings.v1 import peers

from jsonrpc_bindings import websocket
from jsonrpc_bindings.transport import Memory, pair
from peers.harbour import Agent, Client, descriptors, said, wish

HELLO = v1.InitializeRequest(
    protocol_version=1,
    client_capabilities=v1.ClientCapabilities(fs=v1.FileSystemCapabilities(read_text_file=True)),
)
MOST = 200
"""Awaits of a conversation; it has fewer."""


class Talker(Agent):
    """Streams, asks the client, and streams."""

    async def turn(self, session: str, wish: str) -> v1.PromptResponse:  # noqa: ARG002
        await self.client.session_update(said(session, "one"))
        await self.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=session, path="/tide"))
        await self.client.session_update(said(session, "two"))
        return v1.PromptResponse(stop_reason="end_turn")


Connected = Callable[[Client], AbstractAsyncContextManager[peers.RemoteAgent]]


@asynccontextmanager
async def in_memory(client: Client) -> AsyncGenerator[peers.RemoteAgent]:
    async with peers.join(Talker(), client) as (agent, _):
        yield agent


@asynccontextmanager
async def over_websocket(client: Client) -> AsyncGenerator[peers.RemoteAgent]:
    async with (
        websocket.serve(Talker, grace=1) as server,
        peers.connect_agent(client, await websocket.connect(server.uri, grace=1)) as agent,
    ):
        yield agent


@asynccontextmanager
async def over_pipes(client: Client) -> AsyncGenerator[peers.RemoteAgent]:
    folder = Path(__file__).parents[1]
    paths = [str(folder), *(path for path in sys.path if "bindings" in path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", "import asyncio; from peers import test_every_await as m; m.be()"]
    async with peers.spawn_agent(command, client, env=environment) as agent:
        yield agent


def be() -> None:
    """Be the agent of a process."""
    asyncio.run(peers.run_agent(Talker()))


async def conversation(connected: Connected) -> None:
    client = Client()
    client.text.set()
    async with connected(client) as agent:
        await agent.initialize(HELLO)
        session = (await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))).session_id
        await agent.session_prompt(wish("go", session))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await agent.session_prompt(wish("go", session))
    assert client.heard[:2] == ["one", "two"]


@coroutine
def cancelled_at(work: Coroutine[Any, Any, Any], number: int) -> Generator[Any, None, int]:
    """Do some work, and cancel the task that does it at its await of this number. The number of awaits that there were."""
    task, count, thrown = asyncio.current_task(), 0, None
    assert task is not None
    while True:
        try:
            waits_for = work.send(None) if thrown is None else work.throw(thrown)
        except StopIteration:
            return count
        count, thrown = count + 1, None
        if count == number:
            task.cancel()
        try:
            yield waits_for
        except BaseException as error:  # noqa: BLE001 - the work gets whatever comes
            thrown = error


def walk(connected: Connected, stride: int) -> int:
    """Cancel the conversation at each await in turn, or at every second, third …; how many there are at least."""
    before = descriptors()
    for number in range(1, MOST, stride):

        async def whole(number: int = number) -> bool:
            task = asyncio.ensure_future(_awaited(cancelled_at(conversation(connected), number)))
            done, _ = await asyncio.wait([task], timeout=60)
            assert done, f"cancelled at await {number}, it hangs"
            await asyncio.sleep(0)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, (number, left)
            if task.cancelled():
                return False
            return bool(task.result() < number)

        is_over = asyncio.run(whole())
        gc.collect()  # asyncio leaves a socket to it whose opening was cancelled
        assert descriptors() <= before + 1, number
        if is_over:
            return number - stride
    raise AssertionError("the walk does not end")


async def _awaited(work: Any) -> Any:
    return await work


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("connected", "stride"),
    [
        pytest.param(in_memory, 1, id="memory"),
        pytest.param(over_websocket, 1, id="websocket"),
        pytest.param(over_pipes, 5, id="pipes"),  # each time, a process begins
        pytest.param(over_pipes, 1, id="pipes-each", marks=pytest.mark.exhaustive),
    ],
)
def test_a_conversation_can_be_cancelled_at_each_of_its_awaits(connected: Connected, stride: int) -> None:
    assert walk(connected, stride) >= 5
    assert not children()


def children() -> list[str]:
    """The processes that are ours, where the system tells."""
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        return []
    found = [one.read_text().split() for one in tasks.glob("*/children")]
    return [pid for pids in found for pid in pids if "test_every_await" in _command(pid)]


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


class Dying:
    """A transport whose end dies in place of sending its message of this number, or after half of what it is to say."""

    def __init__(self, end: Memory, number: int) -> None:
        self.end, self.left = end, number

    async def receive(self) -> bytes | None:
        return await self.end.receive()

    def send(self, message: bytes) -> None:
        self.left -= 1
        if self.left <= 0:
            for queue in (self.end._incoming, self.end._outgoing):
                queue.close()
            raise ConnectionClosed("it died")
        self.end.send(message)

    @property
    def is_full(self) -> bool:
        return self.end.is_full

    async def drain(self) -> None:
        await self.end.drain()

    async def close(self) -> None:
        await self.end.close()


@pytest.mark.parametrize("who", ["agent", "client"])
def test_a_peer_that_dies_at_any_of_its_messages_leaves_nobody_waiting(who: str) -> None:
    finished: list[int] = []

    async def whole(number: int) -> bool:
        near, far = pair()
        ends: dict[str, Any] = {"client": near, "agent": far}
        ends[who] = Dying(ends[who], number)
        client = Client()
        client.text.set()
        async with (
            asyncio.timeout(30),
            peers.connect_client(Talker(), ends["agent"]),
            peers.connect_agent(client, ends["client"]) as agent,
        ):
            try:
                await agent.initialize(HELLO)
                await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
                await agent.session_prompt(wish("go"))
            except (ConnectionClosed, PeerError):
                return False
        return True

    for number in range(1, 20):
        before = descriptors()

        async def clean(number: int = number) -> bool:
            is_done = await whole(number)
            await asyncio.sleep(0)
            assert not asyncio.all_tasks() - {asyncio.current_task()}, number
            return is_done

        if asyncio.run(clean()):
            finished.append(number)
            break
        assert descriptors() == before
    assert finished == [{"agent": 7, "client": 5}[who]]


def test_a_handler_that_is_cancelled_at_any_of_its_awaits_is_answered_and_the_connection_goes_on() -> None:
    class Walking(Talker):
        number = 0

        async def turn(self, session: str, wish: str) -> v1.PromptResponse:
            await _awaited(cancelled_at(super().turn(session, wish), self.number))
            return v1.PromptResponse(stop_reason="end_turn")

    async def whole() -> list[int]:
        agent, client, codes = Walking(), Client(), list[int]()
        client.text.set()
        async with asyncio.timeout(60), peers.join(agent, client) as (calls, _):
            await calls.initialize(HELLO)
            for number in range(1, 10):
                agent.number = number
                try:
                    await calls.session_prompt(wish("go"))
                except PeerError as failed:
                    codes.append(failed.code)
                else:
                    break
            assert (await calls.session_prompt(wish("go"))).stop_reason == "end_turn"
        return codes

    found = asyncio.run(whole())
    assert found and set(found) == {-32800}
