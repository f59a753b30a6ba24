"""An agent and a client of ACP v1 for tests, on the shipped connection, and what a test needs around them."""

from __future__ import annotations

import asyncio
import gc
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp_bindings import RequestError, v1
from acp_bindings.v1 import peers

from jsonrpc_bindings.transport import Memory, pair


class Agent(peers.Agent):
    """Answers by the text of a prompt."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []
        self.at_work = 0
        self.most = 0
        self.go = asyncio.Event()

    async def initialize(self, _: v1.InitializeRequest, /) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=params.cwd)

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        (block,) = params.prompt
        assert isinstance(block, v1.TextContent)
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        try:
            return await self.turn(params.session_id, block.text)
        except asyncio.CancelledError:
            self.cancelled.append(block.text)
            raise
        finally:
            self.at_work -= 1

    async def turn(self, session: str, wish: str) -> v1.PromptResponse:
        match wish:
            case "wait":
                await self.go.wait()
            case "fail":
                raise ValueError("a secret of the agent")
            case "refuse":
                raise RequestError(-32000, "log in first", {"why": "tide"})
            case "params":
                raise RequestError.invalid_params("/params/prompt/0/text", "no such wish")
            case "nothing":
                return None  # type: ignore[return-value]
            case "other":
                return v1.NewSessionResponse(session_id="x")  # type: ignore[return-value]
            case "ask":
                await self.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=session, path="/tide"))
            case "stream":
                for number in range(100):
                    await self.client.session_update(said(session, str(number)))
            case _:
                pass
        return v1.PromptResponse(stop_reason="end_turn")


class Client(peers.Client):
    """Collects what the agent says."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.in_update: Callable[[str], Awaitable[object]] | None = None
        self.text = asyncio.Event()
        self.ready = asyncio.Event()

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        match params.update:
            case v1.AgentMessageChunk(content=v1.TextContent(text=text)):
                if self.in_update is not None:
                    await self.in_update(text)
                self.heard.append(text)
            case _:
                pass

    async def extension_notification(self, method: str, params: Any) -> None:
        assert (method, params) == ("_ready", None)
        self.ready.set()

    async def fs_read_text_file(self, _: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        await self.text.wait()
        return v1.ReadTextFileResponse(content="low")


def said(session: str, text: str) -> v1.SessionNotification:
    chunk = v1.AgentMessageChunk(content=v1.TextContent(text=text))
    return v1.SessionNotification(session_id=session, update=chunk)


def wish(text: str, session: str = "s") -> v1.PromptRequest:
    return v1.PromptRequest(session_id=session, prompt=[v1.TextContent(text=text)])


def run(test: Callable[[], Awaitable[object]], seconds: float = 60) -> None:
    """Run a test, and find that nothing of it is left: no task, no descriptor."""
    gc.collect()  # what earlier tests left behind closes its descriptors now
    before = descriptors()

    async def whole() -> None:
        async with asyncio.timeout(seconds):
            await test()
        await asyncio.sleep(0)
        left = {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}
        assert not left, left

    asyncio.run(whole())
    assert descriptors() == before


def descriptors() -> int:
    folder = Path("/dev/fd")
    return len(os.listdir(folder)) if folder.exists() else 0


class Raw:
    """A peer that says what it likes."""

    def __init__(self, end: Memory) -> None:
        self.end = end

    def say(self, *messages: Any) -> None:
        for message in messages:
            self.end.send(message if isinstance(message, bytes) else json.dumps(message).encode())

    async def hear(self) -> Any:
        line = await self.end.receive()
        return None if line is None else json.loads(line)


def call(id_: Any, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}


@asynccontextmanager
async def raw_client(agent: Agent | None = None, **options: Any) -> AsyncGenerator[Raw]:
    """A peer that says what it likes to an agent."""
    far, near = pair()
    async with peers.connect_client(agent or Agent(), near, **options):
        yield Raw(far)
    await far.close()


@asynccontextmanager
async def raw_agent(client: Client | None = None, **options: Any) -> AsyncGenerator[tuple[Raw, peers.RemoteAgent]]:
    """A client, and an agent that says what it likes."""
    far, near = pair()
    async with peers.connect_agent(client or Client(), near, **options) as agent:
        yield Raw(far), agent
    await far.close()
