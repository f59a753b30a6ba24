"""The hosts of v2 over a connection in memory, between themselves and, through the adapters, with those of v1."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import PeerError, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_monitor import Monitor
from acp_session.adapter import as_v1, as_v2
from acp_session.hosted import HostedAgent as HostedAgent1
from acp_session.hosted import HostedClient as HostedClient1
from acp_session.permission import Prompt
from acp_session.turn import Turn as Turn1
from acp_session.v2.agent_host import Turn
from acp_session.v2.client_host import ClientHost, End
from acp_session.v2.hosted import HostedAgent, HostedClient
from acp_session.v2.transcript import Call, Message, Transcript
from acp_workspace.containment import guarantees
from acp_workspace.errors import RequestError
from jsonrpc_bindings.transport import pair

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")


def yes(_: Prompt) -> str:
    return "yes"


ME = v2.Implementation(name="lantern", version="1")
HELLO = "Hello"
YES = v2.PermissionOption(option_id="yes", name="Yes", kind="allow_once")


class Agent(HostedAgent):
    """An agent of v2: `work` is what it does in a turn."""

    def __init__(self, work: Callable[[Agent, Turn], Awaitable[str]]) -> None:
        super().__init__(ME)
        self.work = work

    async def turn(self, turn: Turn) -> str:
        return await self.work(self, turn)


class Agent1(HostedAgent1):
    """An agent of v1: `work` is what it does in a turn."""

    def __init__(self, work: Callable[[Agent1, Turn1], Awaitable[Any]]) -> None:
        super().__init__()
        self.work = work

    async def turn(self, turn: Turn1) -> v1.StopReason:
        found: v1.StopReason = await self.work(self, turn)
        return found


class Scene:
    """A client, an agent, what the monitor says, and folders."""

    def __init__(self, base: Path) -> None:
        self.app, self.lib = str(base / "app"), str(base / "lib")
        for path in (self.app, self.lib):
            Path(path).mkdir()
        self.breaches: list[str] = []
        self.monitor = Monitor()

    @property
    def options(self) -> dict[str, Any]:
        def told(what: object) -> None:
            self.breaches.append(str(what))

        return {"strict": True, "monitor": self.monitor, "told": told}

    @asynccontextmanager
    async def met(
        self, work: Callable[[Agent, Turn], Awaitable[str]], ask: Callable[[Prompt], Any] = yes
    ) -> AsyncGenerator[tuple[ClientHost, Agent]]:
        client, agent = HostedClient(granted=[self.app, self.lib], permission=ask), Agent(work)
        async with peers2.join(agent, client, **self.options):
            await client.host.initialize(ME)
            yield client.host, agent
            await client.host.aclose()
            await agent.host.aclose()
        self.breaches += map(str, self.monitor.finish())


@pytest.fixture(name="scene")
def make_scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def play(work: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await asyncio.wait_for(work(), 60)

    return asyncio.run(main())


async def busy(_: Agent, turn: Turn) -> str:
    session = turn.session
    await turn.say("One ", "a")
    await turn.say("moment.", "a")
    await session.tell(sessionUpdate="tool_call_update", toolCallId="c", title="Run", kind="execute")
    subject = v2.ToolCallPermissionSubject(tool_call=v2.ToolCallUpdate(tool_call_id="c", status="pending"))
    request = v2.RequestPermissionRequest(session_id=session.id, title="Run", subject=subject, options=[YES])
    if not (await turn.ask(request)).allowed:
        return "end_turn"
    data = base64.b64encode(b"42 bytes\n").decode()
    await session.tell(sessionUpdate="terminal_update", terminalId="t", command="wc", cwd=session.scope.cwd)
    await session.tell(sessionUpdate="terminal_output_chunk", terminalId="t", data=data)
    shown = {"type": "terminal", "terminalId": "t"}
    await session.tell(sessionUpdate="tool_call_update", toolCallId="c", status="completed", content=[shown])
    await session.tell(sessionUpdate="agent_message", messageId="b", content=[{"type": "text", "text": "Done."}])
    return "end_turn"


async def endless(agent: Agent, turn: Turn) -> str:
    await turn.session.tell(sessionUpdate="tool_call_update", toolCallId="c", title="Wait", status="in_progress")
    async with turn.blocked():
        request = v2.RequestPermissionRequest(session_id=turn.session.id, title="Go on?", options=[YES])
        await agent.client.session_request_permission(request)
    return "end_turn"


# --- both hosts of v2 ------------------------------------------------------------------------------------------------


def test_a_turn_of_v2_keeps_all_that_is_told_and_ends_with_its_reason(scene: Scene) -> None:
    asked: list[Prompt] = []

    def ask(prompt: Prompt) -> str:
        asked.append(prompt)
        return "yes"

    async def work() -> None:
        async with scene.met(busy, ask) as (client, _):
            session = await client.new(scene.app, [scene.lib])
            assert await client.turn(session.id, HELLO) == End("end_turn")
            seen = session.transcript
            assert [(one.speaker, one.text) for one in seen.messages] == [
                ("user", "Hello"),
                ("agent", "One moment."),
                ("agent", "Done."),
            ]
            assert [type(one) for one in seen.entries] == [Message, Message, Call, Message]
            assert (seen.calls["c"].now.status, seen.calls["c"].now.title) == ("completed", "Run")
            assert seen.terminals["t"].text == "42 bytes\n"
            assert (seen.state, seen.stop_reason, seen.unknown) == ("idle", "end_turn", 0)
            assert [one.title for one in asked] == ["Run"]
            await client.close(session.id)

    play(work)
    assert scene.breaches == []


def test_the_life_of_a_session_of_v2_and_roots_that_change_with_it(scene: Scene) -> None:
    async def work() -> None:
        async with scene.met(busy) as (client, agent):
            session = await client.new(scene.app, [scene.lib])
            await client.turn(session.id, HELLO)
            told = [v2.encode(one) for one in agent.host.sessions[session.id].history]
            again = await client.load(session.id, scene.app)
            assert again is session
            assert [one.text for one in again.transcript.messages] == ["Hello", "One moment.", "Done."]
            assert client.roots(session.id).scope.paths == (scene.app,) == agent.host.roots(session.id).scope.paths
            before = again.transcript
            assert (await client.resume(session.id, scene.app, [scene.lib])).transcript is before
            assert [v2.encode(one) for one in agent.host.sessions[session.id].history] == told
            fork = await client.fork(session.id, scene.lib)
            assert {one.session_id for one in await client.list_sessions()} == {session.id, fork.id}
            assert [one.session_id for one in await client.list_sessions(scene.lib)] == [fork.id]
            await client.close(session.id)
            with pytest.raises(RequestError, match="no such session"):
                await client.prompt(session.id, HELLO)
            with pytest.raises(RequestError, match="not granted"):
                await client.load(session.id, "/")
            await client.delete(session.id)
            assert [one.session_id for one in await client.list_sessions()] == [fork.id]
            with pytest.raises(PeerError) as failed:
                await client.load(session.id, scene.app)
            assert failed.value.code == -32002

    play(work)
    assert scene.breaches == []


def test_cancelling_answers_open_requests_and_stops_prompts_that_wait(scene: Scene) -> None:
    waiting = asyncio.Event()

    async def ask(prompt: Prompt) -> str:
        waiting.set()
        await asyncio.sleep(60)
        return "yes"

    async def work() -> None:
        async with scene.met(endless, ask) as (client, _):
            session = await client.new(scene.app)
            turn = asyncio.ensure_future(client.turn(session.id, HELLO))
            await waiting.wait()
            second = asyncio.ensure_future(client.prompt(session.id, HELLO))
            await asyncio.sleep(0.01)
            await client.cancel(session.id)
            assert session.transcript.calls["c"].is_cancelled
            assert (await turn).stop_reason == "cancelled"
            with pytest.raises(PeerError) as failed:
                await second
            assert failed.value.code == -32800
            assert session.transcript.state == "idle"

    play(work)
    assert scene.breaches == []


def test_a_caller_that_is_cancelled_cancels_the_work_and_a_close_ends_it(scene: Scene) -> None:
    waiting = asyncio.Event()

    async def ask(prompt: Prompt) -> str | None:
        waiting.set()
        await asyncio.sleep(60)
        return None

    async def work() -> None:
        async with scene.met(endless, ask) as (client, agent):
            session = await client.new(scene.app)
            turn = asyncio.ensure_future(client.turn(session.id, HELLO))
            await waiting.wait()
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            while session.transcript.state != "idle":
                await asyncio.sleep(0)
            assert session.transcript.stop_reason == "cancelled"
            waiting.clear()
            turn = asyncio.ensure_future(client.turn(session.id, HELLO))
            await waiting.wait()
            await client.close(session.id)
            assert (await turn).stop_reason == "cancelled"
            assert not agent.host.sessions[session.id].is_open

    play(work)
    assert scene.breaches == []


@pytest.mark.parametrize(
    ("error", "logged"), [(RuntimeError("a secret"), "a secret"), (asyncio.CancelledError(), "cancelled from within")]
)
def test_work_that_fails_ends_as_failed_and_the_session_lives_on(
    scene: Scene, caplog: pytest.LogCaptureFixture, error: BaseException, logged: str
) -> None:
    async def fail(_: Agent, turn: Turn) -> str:
        if len(turn.session.history) > 1:
            return "end_turn"
        raise error

    async def work() -> None:
        async with scene.met(fail) as (client, _):
            session = await client.new(scene.app)
            end = await client.turn(session.id, HELLO)
            assert end.error is not None
            assert (end.stop_reason, end.error.code, end.error.message) == ("error", -32603, "internal error")
            assert (await client.turn(session.id, HELLO)).stop_reason == "end_turn"

    play(work)
    assert scene.breaches == []
    assert logged in caplog.text


SPOKEN = v2.AudioContent(data="", mime_type="audio/wav")
CHART: Any = v2.decode_as(v2.ContentBlock, {"type": "_chart", "rows": 3})
STDIO = v2.McpServerStdio(name="tides", command="/bin/tides")
HTTP = v2.McpServerHttp(name="tides", url="https://tides.example")
WIRE: Any = v2.decode_as(v2.McpServer, {"type": "_wire", "name": "tides"})
HEARING: dict[str, Any] = {
    "prompt": v2.PromptCapabilities(audio=v2.PromptAudioCapabilities()),
    "mcp": v2.McpCapabilities(http=v2.McpHttpCapabilities()),
}


@pytest.mark.parametrize(
    ("options", "offers", "wrong"),
    [
        ({}, {}, {"audio", "_chart", "stdio", "http", "_wire"}),
        ({}, HEARING, {"_chart", "stdio", "_wire"}),
        ({"types": ("_chart", "_wire")}, HEARING, {"stdio"}),
        ({"offers": None}, {}, {"_chart", "_wire"}),
    ],
)
def test_content_and_servers_that_are_not_supported_are_refused_wherever_they_come(
    scene: Scene, options: dict[str, Any], offers: dict[str, Any], wrong: set[str]
) -> None:
    class Choosy(HostedAgent):
        async def turn(self, turn: Turn) -> str:  # noqa: ARG002
            return "end_turn"

        def capabilities(self) -> v2.AgentCapabilities:
            return self.host.capabilities(**offers)

    async def refused(place: str, call: Awaitable[Any]) -> bool:
        outcome: Any
        (outcome,) = await asyncio.gather(call, return_exceptions=True)
        if not isinstance(outcome, PeerError):
            assert not isinstance(outcome, BaseException), outcome
            return False
        assert (outcome.code, outcome.data) == (-32602, {"pointer": place})
        return True

    async def work() -> None:
        async with peers2.join(Choosy(ME, **options), HostedClient(granted=[scene.app]), gates=False) as (agent, _):
            await agent.initialize(v2.InitializeRequest(protocol_version=2, info=ME))
            id_ = (await agent.session_new(v2.NewSessionRequest(cwd=scene.app))).session_id
            found: set[str] = set()
            for block in (v2.TextContent(text="?"), SPOKEN, CHART):
                request = v2.PromptRequest(session_id=id_, prompt=[v2.TextContent(text="1"), block])
                found |= {block.type} if await refused("/prompt/1", agent.session_prompt(request)) else set[str]()
            for server in (STDIO, HTTP, WIRE):
                named: dict[str, Any] = {"cwd": scene.app, "mcp_servers": [server]}
                calls = [
                    agent.session_new(v2.NewSessionRequest(**named)),
                    agent.session_load(v2.LoadSessionRequest(session_id=id_, **named)),
                    agent.session_resume(v2.ResumeSessionRequest(session_id=id_, **named)),
                    agent.session_fork(v2.ForkSessionRequest(session_id=id_, **named)),
                ]
                told = {await refused("/mcpServers/0", call) for call in calls}
                assert len(told) == 1
                found |= {server.type} if told == {True} else set[str]()
            assert found == wrong

    play(work)


def test_an_agent_that_dies_wakes_whoever_waits_for_the_end(scene: Scene) -> None:
    async def die(agent: Agent, _: Turn) -> str:
        await agent.connection.transport.close()
        return "end_turn"

    async def work() -> None:
        client, agent = HostedClient(granted=[scene.app]), Agent(die)
        async with peers2.join(agent, client):
            await client.host.initialize(ME)
            session = await client.host.new(scene.app)
            turn = asyncio.ensure_future(client.host.turn(session.id, HELLO))
            await client.connection.ended()
            await client.host.aclose()
            with pytest.raises(ConnectionError):
                await turn

    play(work)


# --- with the hosts of v1 --------------------------------------------------------------------------------------------


def test_a_hosted_client_of_v2_drives_a_hosted_agent_of_v1(scene: Scene) -> None:
    async def say(agent: Agent1, turn: Turn1) -> str:
        await turn.say("High ")
        await turn.say("tide.")
        call = v1.ToolCallUpdate(tool_call_id="c", title="Look")
        ask = v1.RequestPermissionRequest(
            session_id=turn.session.id,
            tool_call=call,
            options=[v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        chosen = await agent.client.session_request_permission(ask)
        return "end_turn" if chosen.outcome.outcome == "selected" else "refusal"

    async def work() -> None:
        near, far = pair()
        client, agent = HostedClient(granted=[scene.app], permission=yes), Agent1(say)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(peers1.connect_client(agent, far))
            face = await stack.enter_async_context(as_v2(near))
            await stack.enter_async_context(peers2.join(face, client, **scene.options))
            host = client.host
            await host.initialize(ME)
            session = await host.new(scene.app)
            assert (await host.turn(session.id, HELLO)).stop_reason == "end_turn"
            assert [one.text for one in session.transcript.messages] == ["Hello", "High tide."]
            await host.load(session.id, scene.app)
            assert [one.text for one in session.transcript.messages] == ["Hello", "High tide."]
            await host.close(session.id)
            await host.aclose()

    play(work)
    assert scene.breaches == []


def test_a_hosted_client_of_v1_drives_a_hosted_agent_of_v2(scene: Scene) -> None:
    async def work() -> None:
        near, far = pair()
        client, agent = HostedClient1(granted=[scene.app], permission=yes), Agent(busy)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(peers2.connect_client(agent, far))
            face = await stack.enter_async_context(as_v1(near))
            await stack.enter_async_context(peers1.join(face, client, **scene.options))
            host = client.host
            await host.initialize(v1.Implementation(name="lantern", version="1"))
            session = await host.new(scene.app)
            reply = await host.prompt(session.id, "Hello")
            assert reply.stop_reason == "end_turn"
            assert [one.text for one in session.transcript.messages] == ["One moment.", "Done."]
            found: Any = session.transcript.calls["c"].now.content
            (item,) = found
            assert "42 bytes" in json.loads(v1.encode(item))["content"]["text"]
            await host.load(session.id, scene.app)
            assert [one.text for one in session.transcript.messages] == ["Hello", "One moment.", "Done."]
            await host.close(session.id)
            await host.aclose()

    play(work)
    assert scene.breaches == []


# --- the state of a session of v2 ------------------------------------------------------------------------------------


def fed(*updates: dict[str, Any], **named: Any) -> Transcript:
    transcript = Transcript(**named)
    for update in updates:
        made = v2.decode_as(v2.UpdateSessionNotification, {"sessionId": "s", "update": update})
        transcript.apply(made.update)
    return transcript


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_messages_are_replaced_added_to_and_cleared_by_their_id() -> None:
    def message(content: Any, **more: Any) -> dict[str, Any]:
        return {"sessionUpdate": "agent_message", "messageId": "a", "content": content, **more}

    piece = {"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": words("B")}
    assert fed(message([words("A")]), piece).messages[0].text == "AB"
    assert fed(piece, message([words("C")]), piece).messages[0].text == "CB"
    assert fed(piece, message(None)).messages[0].text == ""
    without = {"sessionUpdate": "agent_message", "messageId": "a", "_meta": {"x": 1}}
    found = fed(piece, without).messages[0]
    assert (found.text, found.meta) == ("B", {"x": 1})
    assert [one.speaker for one in fed(piece, {**piece, "sessionUpdate": "user_message_chunk"}).messages] == [
        "agent",
        "user",
    ]


def test_tool_calls_terminals_and_plans_are_patched() -> None:
    item = {"type": "content", "content": words("x")}
    seen = fed(
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "T", "kind": "read", "rawInput": {"a": 1}},
        {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": item},
        {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": item},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": None, "capabilities": {"cancel": {}}},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "w6Q="},
        {"sessionUpdate": "terminal_update", "terminalId": "t", "output": {"data": "Yg=="}, "command": "ls"},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "Yw=="},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "no base64"},
        {"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 3}},
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": []}},
        {"sessionUpdate": "plan_update", "plan": {"type": "_map", "planId": "m", "x": 1}},
        {"sessionUpdate": "_tide", "metres": 2},
        {"sessionUpdate": "state_update", "state": "_low", "x": 1},
    )
    call = seen.calls["c"]
    content: Any = call.now.content
    assert (call.now.title, call.now.kind, call.now.raw_input, len(content)) == ("T", None, {"a": 1}, 2)
    assert call.may_cancel and not seen.terminals["t"].may_cancel
    terminal = seen.terminals["t"]
    assert (terminal.text, terminal.command, terminal.exit.exit_code if terminal.exit else 0) == ("bc", "ls", 3)
    assert (set(seen.plans), seen.unknown, seen.malformed, seen.state) == ({"p", "m"}, 1, 1, "_low")


def test_a_transcript_of_v2_stays_within_its_limit() -> None:
    pieces = [
        {"sessionUpdate": "agent_message_chunk", "messageId": f"{number // 3}", "content": words("x" * 100)}
        for number in range(12)
    ]
    seen = fed(*pieces, most=500)
    assert len(seen.messages) == 1 and seen.dropped == 3
    assert len(fed(*pieces[:3], most=400).messages[0].pieces) == 2
