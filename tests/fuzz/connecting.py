"""The shipped connection with a peer that says anything: bytes in chunks of any size, answers or a clean end, and nothing that stays."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Final

from acp_bindings import RequestError, v1
from acp_bindings.v1 import peers

from jsonrpc_bindings.framing import Kind, make_framing
from jsonrpc_bindings.pipes import Pipes

LIMIT: Final = 4_000
"""Of one message: the corpus has longer ones."""

SECONDS: Final = 60
"""After which what is under way has no end."""


class _Wire(Pipes):
    """A pipe that is fed by hand, and keeps what is sent."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(make_framing(kind, LIMIT))
        self.sent: list[bytes] = []

    def say(self, data: bytes) -> None:
        self._reader.feed_data(data)

    def end(self) -> None:
        self._reader.feed_eof()

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    async def close(self) -> None:
        self._reader.feed_eof()


class _Agent(peers.Agent):
    """Serves what the corpus asks for, and asks the client back."""

    async def initialize(self, _: v1.InitializeRequest, /) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=params.cwd)

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        wanted = v1.ReadTextFileRequest(session_id=params.session_id, path="/x")
        try:
            async with asyncio.timeout(0.01):
                await self.client.fs_read_text_file(wanted)
        except Exception:  # noqa: BLE001 - whatever the peer makes of it: an answer that cannot be read, an error, silence, its end
            raise RequestError(-32000, "the file cannot be read") from None
        return v1.PromptResponse(stop_reason="end_turn")


def connect(data: bytes) -> None:
    """What a peer says ends in answers or in a clean end: each answer is JSON, none comes without a message, no task stays.

    The first byte chooses the size of the chunks, and whether messages are lines or have headers.
    """
    if not data:
        return
    kind: Kind = "headers" if data[0] % 7 == 0 else "lines"
    size, said = 1 + data[0] * 4, data[1:]
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # failures of handlers are told there, and are none of the connection
    try:
        asyncio.run(_talk(kind, said, size))
    finally:
        logging.disable(before)


async def _talk(kind: Kind, said: bytes, size: int) -> None:
    wire = _Wire(kind)
    async with asyncio.timeout(SECONDS):
        async with peers.connect_client(_Agent(), wire, on_event=lambda _: None):
            for at in range(0, len(said), size):
                wire.say(said[at : at + size])
                await asyncio.sleep(0)
            wire.end()
            await asyncio.sleep(0.02)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, left
    answers = [json.loads(line) for line in wire.sent]
    assert all(each["jsonrpc"] == "2.0" for each in answers)
    assert len(answers) <= 2 * (said.count(b"\n") + said.count(b"\r\n\r\n") + 2), "more was said than was heard"
