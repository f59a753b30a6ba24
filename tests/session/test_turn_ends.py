"""What a turn leaves behind, whichever way it ends: tool calls, states, messages, room for the next prompt; forks share nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from acp_bindings import PeerError, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_monitor import Monitor
from acp_session.agent_host import AgentHost
from acp_session.hosted import HostedAgent as HostedAgent1
from acp_session.hosted import HostedClient as HostedClient1
from acp_session.permission import Prompt
from acp_session.transcript import Call, Transcript
from acp_session.turn import Turn as Turn1
from acp_session.v2.agent_host import Turn as Turn2
from acp_session.v2.hosted import HostedAgent as HostedAgent2
from acp_session.v2.hosted import HostedClient as HostedClient2
from acp_workspace.containment import guarantees

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

ME = v2.Implementation(name="lantern", version="1")
YES = v2.PermissionOption(option_id="yes", name="Yes", kind="allow_once")


class Agent1(HostedAgent1):
    def __init__(self, work: Callable[[Turn1], Awaitable[Any]]) -> None:
        super().__init__()
        self.work = work

    async def turn(self, turn: Turn1) -> v1.StopReason:
        found: v1.StopReason | None = await self.work(turn)
        return found or "end_turn"


class Agent2(HostedAgent2):
    def __init__(self, work: Callable[[Turn2], Awaitable[Any]]) -> None:
        super().__init__(ME)
        self.work = work

    async def turn(self, turn: Turn2) -> str:
        return await self.work(turn) or "end_turn"


class Client2(HostedClient2):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.states: list[str] = []

    async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
        state = getattr(params.update, "state", None)
        if state is not None:
            self.states.append(state)


def play(agent: Any, client: Any, talk: Callable[[Any], Awaitable[Any]]) -> Any:
    """What a conversation came to, which the monitor must find right."""
    breaches: list[str] = []
    monitor = Monitor()

    def told(breach: object) -> None:
        breaches.append(str(breach))

    async def whole() -> Any:
        options: Any = {"strict": True, "monitor": monitor, "told": told}
        peers: Any = peers1 if isinstance(client, HostedClient1) else peers2
        info: list[Any] = [] if isinstance(client, HostedClient1) else [ME]
        async with asyncio.timeout(30), peers.join(agent, client, **options):
            await client.host.initialize(*info)
            return await talk(client.host)

    found = asyncio.run(whole())
    assert breaches == []
    assert [str(one) for one in monitor.finish()] == []
    return found


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


def statuses(session: Any) -> dict[str, Any]:
    """What the client sees of each tool call: its status, and whether it counts as cancelled."""
    return {id_: (one.now.status, one.is_cancelled) for id_, one in session.transcript.calls.items()}


# --- tool calls ------------------------------------------------------------------------------------------------------


async def work1(turn: Turn1) -> None:
    """Leaves tool calls in every state, and waits, or fails."""
    await turn.session.update(v1.ToolCall(tool_call_id="done", title="Done", status="completed"))
    await turn.session.update(v1.SessionToolCallUpdate(tool_call_id="done", title="Done at last"))
    await turn.session.update(v1.ToolCall(tool_call_id="new", title="New"))
    await turn.session.update(v1.ToolCall(tool_call_id="open", title="Open", status="pending"))
    await turn.session.update(v1.SessionToolCallUpdate(tool_call_id="open", status="in_progress"))
    async with turn.tool("By the turn"):
        if turn.text == "fail":
            raise ValueError("low tide")
        await asyncio.sleep(60)


async def work2(turn: Turn2) -> None:
    for call, status in (("done", "completed"), ("new", None), ("open", "in_progress"), ("halted", "paused")):
        given: Any = {} if status is None else {"status": status}
        await turn.session.update(v2.SessionToolCallUpdate(tool_call_id=call, title=call, **given))
    await turn.session.update(v2.SessionToolCallUpdate(tool_call_id="done", title="Done at last"))
    if turn.text == "fail":
        raise ValueError("low tide")
    await asyncio.sleep(60)


async def cancelled(host: Any, way: str) -> Any:
    """A session whose first turn was cancelled, or failed."""
    session = await host.new("/")
    send = host.prompt if isinstance(host.sessions[session.id].transcript, Transcript) else host.turn
    turn = asyncio.ensure_future(send(session.id, "fail" if way == "fail" else "wait"))
    if way == "fail":
        await asyncio.wait([turn])
        turn.exception()
        return session
    await until(lambda: len(session.transcript.calls) > 3)
    if way == "timeout":
        turn.cancel()
        await asyncio.wait([turn])
        await until(lambda: not session.is_in_turn)
    else:
        await getattr(host, way)(session.id)
        assert (await turn).stop_reason == "cancelled"
    return session


@pytest.mark.parametrize("way", ["cancel", "timeout", "close", "fail"])
def test_no_tool_call_of_v1_stays_open_after_its_turn_in_history_or_replay(way: str) -> None:
    async def talk(host: Any) -> None:
        session = await cancelled(host, way)
        marked = way in ("cancel", "timeout")
        ended = {"done": ("completed", False), **dict.fromkeys(("new", "open", "call_1"), ("failed", marked))}
        if way != "close":
            assert statuses(session) == ended
        again = await host.load(session.id, "/")
        assert {id_: status for id_, (status, _) in statuses(again).items()} == {
            id_: status for id_, (status, _) in ended.items()
        }
        assert again.transcript.calls["done"].now.title == "Done at last"

    play(Agent1(work1), HostedClient1(granted=["/"]), talk)


@pytest.mark.parametrize("way", ["cancel", "timeout", "close", "fail"])
def test_no_tool_call_of_v2_stays_open_after_its_work_in_history_or_replay(way: str) -> None:
    async def talk(host: Any) -> None:
        session = await cancelled(host, way)
        await until(lambda: session.transcript.state == "idle")
        end = "failed" if way == "fail" else "cancelled"
        ended = {"done": "completed", **dict.fromkeys(("new", "open", "halted"), end)}
        for one in (session, await host.load(session.id, "/")):
            assert {id_: status for id_, (status, _) in statuses(one).items()} == ended
            assert one.transcript.calls["new"].is_cancelled is (end == "cancelled")

    play(Agent2(work2), Client2(granted=["/"]), talk)


def test_a_tool_call_that_ended_before_or_goes_on_by_itself_is_left_alone() -> None:
    async def work(turn: Turn2) -> None:
        update = v2.SessionToolCallUpdate(tool_call_id=turn.text, title="Watch", status="in_progress")
        await turn.session.update(update)
        if turn.text == "beside":
            turn.session.background = [v2.BackgroundToolCall(tool_call_id="beside")]
        await asyncio.sleep(60 if turn.text == "last" else 0)

    async def talk(host: Any) -> None:
        session = await host.new("/")
        for text in ("first", "beside"):
            await host.turn(session.id, text)
        turn = asyncio.ensure_future(host.turn(session.id, "last"))
        await until(lambda: "last" in session.transcript.calls)
        await host.cancel(session.id)
        await turn
        found = {id_: status for id_, (status, _) in statuses(session).items()}
        assert found == {"first": "in_progress", "beside": "in_progress", "last": "cancelled"}

    play(Agent2(work), Client2(granted=["/"]), talk)


def test_a_call_that_completes_after_the_cancellation_has_completed() -> None:
    async def work(turn: Turn1) -> None:
        async with turn.tool("Save"):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return

    async def talk(host: Any) -> None:
        session = await host.new("/")
        turn = asyncio.ensure_future(host.prompt(session.id, "?"))
        await until(lambda: bool(session.transcript.calls))
        await host.cancel(session.id)
        assert (await turn).stop_reason == "cancelled"
        assert statuses(session) == {"call_1": ("completed", False)}

    play(Agent1(work), HostedClient1(granted=["/"]), talk)


def test_the_history_is_right_even_where_nobody_listens_any_more() -> None:
    async def whole() -> None:
        agent, client = Agent1(work1), HostedClient1(granted=["/"])
        async with asyncio.timeout(30), peers1.join(agent, client):
            await client.host.initialize()
            session = await client.host.new("/")
            turn = asyncio.ensure_future(client.host.prompt(session.id, "wait"))
            await until(lambda: len(session.transcript.calls) > 3)
        await asyncio.wait([turn])
        turn.exception()
        transcript = Transcript()
        for update in agent.host.sessions[session.id].history:
            transcript.apply(update)
        assert {one.now.status for one in transcript.entries if isinstance(one, Call)} == {"completed", "failed"}

    asyncio.run(whole())


# --- forks -----------------------------------------------------------------------------------------------------------


def test_a_fork_shares_nothing_with_its_source() -> None:
    async def whole() -> None:
        for version, host in ((v1, AgentHost(lambda method, params: None)), (v2, Agent2(work2).host)):
            roots: Any = {"cwd": "/", "mcp_servers": []}
            made: Any = await host.new(version.NewSessionRequest(**roots))
            source: Any = host.sessions[made.session_id]
            source.state = {"files": ["a"]}
            option = {"name": "C", "type": "select", "currentValue": "v", "options": [{"name": "V", "value": "v"}]}
            key = "id" if version is v1 else "configId"
            source.options = [version.decode_as(version.SessionConfigOption, {key: "c", **option})]
            chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "a"}}
            source.keep(version.decode_as(version.SessionUpdate, chunk))
            if version is v1:
                mode = v1.SessionMode(id="ask", name="Ask")
                source.modes = v1.SessionModeState(current_mode_id="ask", available_modes=[mode])
            forked: Any = await host.fork(version.ForkSessionRequest(session_id=source.id, **roots))
            fork: Any = host.sessions[forked.session_id]
            assert (fork.state, fork.options, fork.history) == (source.state, source.options, source.history)
            fork.state["files"].append("b")
            fork.options[0].name = "D"
            fork.options.append(fork.options[0])
            fork.history[0].content.text = "b"
            assert source.state == {"files": ["a"]}
            assert [one.name for one in source.options] == ["C"]
            assert source.history[0].content.text == "a"
            if version is v1:
                fork.modes.current_mode_id = "code"
                assert source.modes.current_mode_id == "ask"
            await host.aclose()

    asyncio.run(whole())


def test_a_fork_of_a_turn_has_no_tool_call_that_never_ends_and_its_source_goes_on() -> None:
    async def talk(host: Any) -> None:
        session = await host.new("/")
        turn = asyncio.ensure_future(host.prompt(session.id, "wait"))
        await until(lambda: len(session.transcript.calls) > 3)
        fork = await host.fork(session.id, "/")
        again = await host.load(fork.id, "/")
        assert {status for status, _ in statuses(again).values()} == {"completed", "failed"}
        assert statuses(session)["open"] == ("in_progress", False)
        await host.cancel(session.id)
        await turn

    play(Agent1(work1), HostedClient1(granted=["/"]), talk)


def test_a_state_that_cannot_be_copied_fails_the_fork_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent1(work1)

    async def talk(host: Any) -> None:
        session = await host.new("/")
        agent.host.sessions[session.id].state = (one for one in [1])
        with pytest.raises(PeerError):
            await host.fork(session.id, "/")
        assert list(agent.host.sessions) == [session.id]

    play(agent, HostedClient1(granted=["/"]), talk)
    assert "cannot pickle" in caplog.text


# --- states of v2 ----------------------------------------------------------------------------------------------------


async def ask(turn: Turn2, title: str) -> None:
    await turn.ask(v2.RequestPermissionRequest(session_id=turn.session.id, title=title, options=[YES]))


def test_work_goes_on_after_a_question_that_fails() -> None:
    async def work(turn: Turn2) -> None:
        with pytest.raises(ValueError, match="ebb"):
            async with turn.blocked():
                raise ValueError("ebb")
        assert turn.session.doing == "running"
        await turn.say("on", "m")

    client = Client2(granted=["/"])

    async def talk(host: Any) -> None:
        session = await host.new("/")
        assert (await host.turn(session.id, "?")).stop_reason == "end_turn"

    play(Agent2(work), client, talk)
    assert client.states == ["running", "requires_action", "running", "idle"]


def test_work_waits_until_the_last_of_several_questions_ends() -> None:
    answers = {"first": asyncio.Event(), "second": asyncio.Event()}
    seen: list[tuple[str, str]] = []

    async def permission(prompt: Prompt) -> str:
        await answers[prompt.title].wait()
        return "yes"

    async def work(turn: Turn2) -> None:
        asking = {title: asyncio.create_task(ask(turn, title)) for title in answers}
        for title, answer in answers.items():
            await asyncio.sleep(0.01)
            seen.append((f"before {title}", turn.session.doing))
            answer.set()
            await asking[title]
        seen.append(("after", turn.session.doing))

    client = Client2(granted=["/"], permission=permission)

    async def talk(host: Any) -> None:
        session = await host.new("/")
        await host.turn(session.id, "?")

    play(Agent2(work), client, talk)
    waits = "requires_action"
    assert seen == [("before first", waits), ("before second", waits), ("after", "running")]
    assert client.states[-2:] == ["running", "idle"]
    assert client.states.count("running") == 2


def test_a_question_that_is_cancelled_alone_lets_work_go_on_and_one_that_outlives_its_turn_tells_nothing() -> None:
    async def forever(prompt: Prompt) -> None:
        await asyncio.sleep(60)

    left: list[asyncio.Task[None]] = []

    async def work(turn: Turn2) -> None:
        if turn.text == "second":
            left[0].cancel()
            await asyncio.wait(left)
            assert turn.session.doing == "running"
            async with turn.blocked():
                assert str(turn.session.doing) == "requires_action"
            return
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await ask(turn, "first")
        left.append(asyncio.create_task(ask(turn, "left")))
        await asyncio.sleep(0.01)

    client = Client2(granted=["/"], permission=forever)

    async def talk(host: Any) -> None:
        session = await host.new("/")
        await host.turn(session.id, "first")
        assert session.transcript.state == "idle"
        await host.turn(session.id, "second")

    play(Agent2(work), client, talk)
    waits = "requires_action"
    assert client.states == ["running", waits, "running", waits, "idle", "running", waits, "running", "idle"]


# --- messages of v1 --------------------------------------------------------------------------------------------------


def test_what_is_said_in_successive_turns_stays_apart() -> None:
    async def work(turn: Turn1) -> None:
        for piece in turn.text.split():
            await turn.say(piece)

    async def talk(host: Any) -> list[str]:
        session = await host.new("/")
        for text in ("high tide", "low tide", "", "slack"):
            await host.prompt(session.id, text)
        live = [one.text for one in session.transcript.messages]
        again = await host.load(session.id, "/")
        said = [(one.speaker, one.text) for one in again.transcript.messages if one.text]
        expected = [("user", "high tide"), ("agent", "hightide"), ("user", "low tide"), ("agent", "lowtide")]
        assert said == [*expected, ("user", "slack"), ("agent", "slack")]
        return live

    assert play(Agent1(work), HostedClient1(granted=["/"]), talk) == ["hightide", "lowtide", "slack"]


def test_what_an_agent_tells_of_the_user_in_successive_turns_stays_apart() -> None:
    async def work(turn: Turn1) -> None:
        for block in turn.prompt:
            await turn.session.update(v1.UserMessageChunk(content=block))

    async def talk(host: Any) -> None:
        session = await host.new("/")
        for text in ("ebb", "flow"):
            await host.prompt(session.id, text)
        for one in (session, await host.load(session.id, "/")):
            assert [message.text for message in one.transcript.messages] == ["ebb", "flow"]

    play(Agent1(work), HostedClient1(granted=["/"]), talk)


# --- the next prompt -------------------------------------------------------------------------------------------------


def slow(stopping: float) -> Callable[[Any], Awaitable[None]]:
    async def work(turn: Any) -> None:
        if turn.text != "next":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(stopping)  # it takes its time to stop
                raise

    return work


@pytest.mark.parametrize("stopping", [0, 0.05])
@pytest.mark.parametrize("times", [1, 3])
def test_after_a_prompt_of_v1_that_took_too_long_the_next_is_possible(stopping: float, times: int) -> None:
    async def talk(host: Any) -> None:
        session = await host.new("/")
        for _ in range(times):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await host.prompt(session.id, "first")
        assert (await host.prompt(session.id, "next")).stop_reason == "end_turn"

    play(Agent1(slow(stopping)), HostedClient1(granted=["/"]), talk)


@pytest.mark.parametrize("stopping", [0, 0.05])
@pytest.mark.parametrize("times", [1, 3])
def test_after_a_prompt_of_v2_that_took_too_long_the_next_is_possible(stopping: float, times: int) -> None:
    async def talk(host: Any) -> None:
        session = await host.new("/")
        for _ in range(times):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await host.turn(session.id, "first")
        assert (await host.turn(session.id, "next")).stop_reason == "end_turn"

    play(Agent2(slow(stopping)), Client2(granted=["/"]), talk)


def test_what_is_told_late_of_work_that_was_cancelled_ends_no_other() -> None:
    async def work(turn: Turn2) -> None:
        if turn.text == "next":
            await asyncio.sleep(0.02)
            return
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)
            await turn.session.become("running")  # while the next prompt is on its way
            raise

    async def talk(host: Any) -> None:
        session = await host.new("/")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await host.turn(session.id, "first")
        assert (await host.turn(session.id, "next")).stop_reason == "end_turn"

    play(Agent2(work), Client2(granted=["/"]), talk)


def test_a_prompt_that_is_taken_back_by_its_request_alone_leaves_room_for_the_next() -> None:
    async def whole() -> None:
        client = HostedClient1(granted=["/"])
        async with asyncio.timeout(30), peers1.join(Agent1(slow(0.02)), client) as (calls, _):
            await calls.initialize(v1.InitializeRequest(protocol_version=1))
            session = await calls.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))

            def prompt(text: str) -> v1.PromptRequest:
                return v1.PromptRequest(session_id=session.session_id, prompt=[v1.TextContent(text=text)])

            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await calls.session_prompt(prompt("first"))
            assert (await calls.session_prompt(prompt("next"))).stop_reason == "end_turn"

    asyncio.run(whole())


def test_a_connection_with_a_time_limit_lets_the_next_prompt_through() -> None:
    async def whole() -> None:
        client = HostedClient1(granted=["/"])
        async with asyncio.timeout(30), peers1.join(Agent1(slow(0.02)), client, timeout=0.2):
            await client.host.initialize()
            session = await client.host.new("/")
            with pytest.raises(TimeoutError):
                await client.host.prompt(session.id, "first")
            assert (await client.host.prompt(session.id, "next")).stop_reason == "end_turn"

    asyncio.run(whole())


def test_a_prompt_that_waits_for_a_cancelled_turn_is_not_sent_where_it_is_cancelled_too() -> None:
    texts: list[str] = []

    async def work(turn: Turn1) -> None:
        texts.append(turn.text)
        await slow(0.05)(turn)

    async def talk(host: Any) -> None:
        session = await host.new("/")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await host.prompt(session.id, "first")
        waiting = asyncio.create_task(host.prompt(session.id, "second"))
        await asyncio.sleep(0)
        await host.cancel(session.id)
        assert (await waiting).stop_reason == "cancelled"
        assert (await host.prompt(session.id, "next")).stop_reason == "end_turn"
        assert texts == ["first", "next"]

    play(Agent1(work), HostedClient1(granted=["/"]), talk)


def test_a_caller_that_is_cancelled_after_the_end_of_the_session_is_just_cancelled() -> None:
    async def talk(host: Any) -> None:
        session = await host.new("/")
        turn = asyncio.create_task(host.prompt(session.id, "first"))
        await asyncio.sleep(0.01)
        closing = asyncio.create_task(host.delete(session.id))
        await until(lambda: session.id not in host.sessions)
        turn.cancel()
        await asyncio.wait([turn, closing])
        assert turn.cancelled() or turn.exception() is None

    play(Agent1(slow(0)), HostedClient1(granted=["/"]), talk)
