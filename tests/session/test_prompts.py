"""Prompts that follow one another, take too long, or are cancelled while they wait; messages of successive turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_monitor import Monitor
from acp_session import Agent, Client, ClientSession, ConnectionClosed, PromptResult, Turn, connect_in_memory
from acp_workspace.containment import guarantees
from session.raw_agents import Script, connected, text, words

pytestmark = [
    pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root"),
    pytest.mark.parametrize("version", [1, 2]),
]


class Working(Agent):
    """`work` is what it does in a turn."""

    def __init__(self, work: Callable[[Turn], Awaitable[None]]) -> None:
        super().__init__()
        self.work = work

    async def on_prompt(self, turn: Turn) -> str:
        await self.work(turn)
        return "end_turn"


def play(
    version: int,
    folder: Path,
    work: Callable[[Turn], Awaitable[None]],
    talk: Callable[[ClientSession], Awaitable[None]],
    **options: Any,
) -> None:
    """A conversation, which the monitor must find right."""
    breaches: list[object] = []
    monitor = Monitor()

    async def whole() -> None:
        connecting = connect_in_memory(
            Working(work),
            Client(allowed_roots=[folder]),
            versions=(version,),
            monitor=monitor,
            on_event=breaches.append,
            strict=True,
            **options,
        )
        async with asyncio.timeout(30), connecting as agent:
            await talk(await agent.new_session(folder))

    asyncio.run(whole())
    assert [str(one) for one in (*breaches, *monitor.finish())] == []


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


def test_what_is_said_in_successive_turns_stays_apart(version: int, tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        for piece in turn.text.split():
            await turn.send_message(piece)

    async def talk(session: ClientSession) -> None:
        for prompt in ("high tide", "low tide", "slack"):
            await session.prompt(prompt)
        assert words(session.transcript.user_messages) == ["high tide", "low tide", "slack"]
        assert words(session.transcript.agent_messages) == ["hightide", "lowtide", "slack"]

    play(version, tmp_path, work, talk)


def test_pieces_without_ids_make_a_message_for_each_turn(version: int, tmp_path: Path) -> None:
    async def echo(agent: Any, session: str) -> str:
        if version == 1:
            for piece in ("high", "tide"):
                chunk = {"sessionUpdate": "agent_message_chunk", "content": text(piece)}
                await agent.update(session, chunk)
        return "end_turn"

    async def work() -> None:
        async with connected(version, Script(echo), Client(allowed_roots=[tmp_path])) as (agent, _):
            session = await agent.new_session(tmp_path)
            for prompt in ("ebb", "flow"):
                await session.prompt(prompt)
            assert words(session.transcript.user_messages) == ["ebb", "flow"]
            assert words(session.transcript.agent_messages) == (["hightide"] * 2 if version == 1 else [])

    asyncio.run(work())


def slow(stopping: float, texts: list[str] | None = None) -> Callable[[Turn], Awaitable[None]]:
    async def work(turn: Turn) -> None:
        if texts is not None:
            texts.append(turn.text)
        if turn.text != "next":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(stopping)  # it takes its time to stop
                raise

    return work


def test_a_prompt_that_waits_for_another_has_no_limit_of_time(version: int, tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        await asyncio.sleep(0.3)

    async def talk(session: ClientSession) -> None:
        ends = await asyncio.gather(*(session.prompt(words_) for words_ in ("first", "second")))
        assert ends == [PromptResult("end_turn")] * 2

    play(version, tmp_path, work, talk, timeout=0.2)


@pytest.mark.parametrize("stopping", [0, 0.05])
@pytest.mark.parametrize("times", [1, 3])
def test_after_a_prompt_that_took_too_long_the_next_is_possible(
    version: int, tmp_path: Path, stopping: float, times: int
) -> None:
    async def talk(session: ClientSession) -> None:
        for _ in range(times):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await session.prompt("first")
        assert await session.prompt("next") == PromptResult("end_turn")

    play(version, tmp_path, slow(stopping), talk)


def test_a_prompt_that_waits_for_cancelled_work_is_not_sent_where_it_is_cancelled_too(
    version: int, tmp_path: Path
) -> None:
    texts: list[str] = []

    async def talk(session: ClientSession) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await session.prompt("first")
        waiting = asyncio.create_task(session.prompt("second"))
        await asyncio.sleep(0)
        await session.cancel()
        assert await waiting == PromptResult("cancelled")
        assert await session.prompt("next") == PromptResult("end_turn")

    play(version, tmp_path, slow(0.05, texts), talk)
    assert texts == ["first", "next"]


def test_prompts_that_are_sent_while_the_agent_works_are_answered_each(version: int, tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        await asyncio.sleep(0.01)
        await turn.send_message(turn.text)

    async def talk(session: ClientSession) -> None:
        found = await asyncio.gather(*(session.prompt(str(number)) for number in range(4)))
        assert set(found) == {PromptResult("end_turn")}
        assert words(session.transcript.agent_messages) == ["0", "1", "2", "3"]

    play(version, tmp_path, work, talk)


def test_a_time_limit_of_a_connection_is_for_requests_and_not_for_work(version: int, tmp_path: Path) -> None:
    async def talk(session: ClientSession) -> None:
        prompt = asyncio.ensure_future(session.prompt("first"))
        await asyncio.sleep(0.4)
        assert not prompt.done()
        await session.cancel()
        assert await prompt == PromptResult("cancelled")
        assert await session.prompt("next") == PromptResult("end_turn")

    play(version, tmp_path, slow(0.02), talk, timeout=0.2)


def test_a_late_idle_of_earlier_work_ends_no_other_prompt(version: int, tmp_path: Path) -> None:
    if version == 1:
        pytest.skip("version 1 has no states")

    async def turn(agent: Any, session: str) -> str:
        if len(script.asked("session/prompt")) == 2:
            await agent.update(session, {"sessionUpdate": "state_update", "state": "running"})
            await asyncio.sleep(0.05)
            return "max_tokens"
        return "end_turn"

    script = Script(turn)

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=[tmp_path])) as (agent, raw):
            session = await agent.new_session(tmp_path)
            await session.prompt("first")
            idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
            prompt = asyncio.ensure_future(session.prompt("second"))
            await raw.update(session.id, idle)  # repeated, while the next prompt is on its way
            assert await prompt == PromptResult("max_tokens")

    asyncio.run(work())


def test_a_caller_that_is_cancelled_after_the_end_of_the_session_is_just_cancelled(
    version: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk(session: ClientSession) -> None:
        prompt = asyncio.create_task(session.prompt("first"))
        await asyncio.sleep(0.02)
        closing = asyncio.create_task(session.delete())
        await until(lambda: not session.is_open)
        prompt.cancel()
        await asyncio.wait([prompt, closing])
        assert prompt.cancelled() or isinstance(prompt.exception(), ConnectionClosed | None)

    with caplog.at_level(logging.ERROR):
        play(version, tmp_path, slow(0), talk)
    assert caplog.text == ""
