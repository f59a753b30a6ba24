"""The codec between a peer of v1 and an agent or a client that is an object of this process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import NotAdvertised, PeerError, RequestError, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.adapter import AgentAsV1, AgentAsV2
from acp_session.codec.relay import LocalCalls
from acp_session.services import Local
from adapter.programs import ME1, ME2, Agent1, Agent2, Client1, Client2, run, words
from jsonrpc_bindings.transport import pair

NEW1 = v1.NewSessionRequest(cwd="/w", mcp_servers=[])
PROMPT1 = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="Hello")])
PROMPT2 = v2.PromptRequest(session_id="s", prompt=[v2.TextContent(text="Hello")])


def calls_to(codec: AgentAsV2) -> peers2.RemoteAgent:
    """The calls of a client that is an object of this process."""
    calls: Any = LocalCalls(codec)
    return peers2.RemoteAgent(calls)


class LocalAgent(Agent2):
    """An agent of v2 that has no connection of its own."""

    def __init__(self, codec: AgentAsV1, script: Any) -> None:
        super().__init__(script)
        self.codec = codec

    @property
    def client(self) -> Any:
        calls: Any = LocalCalls(self.codec.v2_client)
        return peers2.RemoteClient(calls)


def test_an_object_that_is_an_agent_of_v2_serves_a_client_of_v1() -> None:
    async def script(agent: Agent2, session: str) -> Any:
        await agent.say(session, sessionUpdate="agent_message_chunk", messageId="a", content=words("tide"))
        asked = v2.RequestPermissionRequest(
            session_id=session,
            title="Go?",
            options=[v2.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
            subject=v2.ToolCallPermissionSubject(tool_call=v2.ToolCallUpdate(tool_call_id="c", title="Go?")),
        )
        answer = await agent.client.session_request_permission(asked)
        assert isinstance(answer.outcome, v2.SelectedPermissionOutcome)
        return {"stopReason": "end_turn"}

    async def work() -> None:
        codec = AgentAsV1()
        agent = LocalAgent(codec, script)
        codec.agent = agent
        client = Client1()
        async with peers1.join(codec, client) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_new(NEW1)
            assert (await calls.session_prompt(PROMPT1)).stop_reason == "end_turn"
        await codec.close()
        assert client.updates == [
            {"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": words("tide")},
        ]
        assert codec.losses.counts.total() == 0

    run(work)


def test_the_files_and_terminals_of_a_client_of_v1_are_those_that_it_advertised() -> None:
    class Serving(Client1):
        async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
            return v1.ReadTextFileResponse(content=f"{params.path}:{params.line}")

        async def terminal_create(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
            assert (params.command, params.args) == ("wc", ["-c"])
            return v1.CreateTerminalResponse(terminal_id="t")

        async def terminal_wait_for_exit(self, _: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
            return v1.WaitForTerminalExitResponse(exit_code=3)

        async def terminal_output(self, _: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
            return v1.TerminalOutputResponse(output="5", truncated=False)

        async def terminal_release(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
            released.append(params.terminal_id)
            return v1.ReleaseTerminalResponse()

    released: list[str] = []

    async def script(agent: Agent2, session: str) -> Any:
        assert isinstance(agent, LocalAgent)
        services = agent.codec.client_services
        named: Any = {"session_id": session}
        found = await services.answer("fs/read_text_file", v1.ReadTextFileRequest(path="/w/a", line=2, **named))
        assert found.content == "/w/a:2"
        assert (services.capabilities().fs.write_text_file, services.capabilities().terminal) == (False, True)
        with pytest.raises(NotAdvertised):
            await services.answer("fs/write_text_file", v1.WriteTextFileRequest(path="/w/a", content="x", **named))
        made = await services.answer("terminal/create", v1.CreateTerminalRequest(command="wc", args=["-c"], **named))
        named["terminal_id"] = made.terminal_id
        shown = {"type": "terminal", "terminalId": made.terminal_id}
        await agent.say(session, sessionUpdate="tool_call_update", toolCallId="c", title="Count", content=[shown])
        assert (await services.answer("terminal/wait_for_exit", v1.WaitForTerminalExitRequest(**named))).exit_code == 3
        assert (await services.answer("terminal/output", v1.TerminalOutputRequest(**named))).output == "5"
        await services.answer("terminal/release", v1.ReleaseTerminalRequest(**named))
        return {"stopReason": "end_turn"}

    async def work() -> None:
        codec = AgentAsV1()
        codec.agent = LocalAgent(codec, script)
        client = Serving()
        fs = v1.FileSystemCapabilities(read_text_file=True)
        can = v1.ClientCapabilities(fs=fs, terminal=True)
        async with peers1.join(codec, client) as (calls, _):
            await calls.initialize(v1.InitializeRequest(protocol_version=1, client_capabilities=can))
            await calls.session_new(NEW1)
            assert (await calls.session_prompt(PROMPT1)).stop_reason == "end_turn"
        await codec.close()
        assert released == ["t"]
        assert client.updates[0]["content"] == [{"type": "terminal", "terminalId": "t"}]

    run(work)


def test_an_object_that_is_a_client_of_v2_uses_an_agent_of_v1(tmp_path: Path) -> None:
    async def script(agent: Agent1, session: str) -> str:
        note = v1.WriteTextFileRequest(session_id=session, path=str(tmp_path / "a"), content="tide\n")
        await agent.client.fs_write_text_file(note)
        await agent.say(session, sessionUpdate="agent_message_chunk", content=words("done"))
        return "end_turn"

    async def work() -> None:
        client, agent = Client2(), Agent1(script)
        near, far = pair()
        codec = AgentAsV2(client, local=Local())
        async with peers1.connect_client(agent, far), peers1.connect_agent(codec.v1_client, near) as calls:
            codec.agent = calls
            me = calls_to(codec)
            await me.initialize(ME2)
            await me.session_new(v2.NewSessionRequest(cwd=str(tmp_path)))
            await me.session_prompt(PROMPT2)
            await client.idle.wait()
            with pytest.raises(NotAdvertised):
                await me.session_delete(v2.DeleteSessionRequest(session_id="s"))
        await codec.close()
        kinds = [one["sessionUpdate"] for one in client.updates]
        assert kinds == ["user_message", "state_update", "agent_message_chunk", "state_update"]
        assert (tmp_path / "a").read_text() == "tide\n"

    run(work)


def test_an_agent_of_v1_that_dies_ends_the_turn_of_a_client_that_is_an_object() -> None:
    async def die(agent: Agent1, session: str) -> str:
        await agent.say(session, sessionUpdate="agent_message_chunk", content=words("..."))
        await agent.connection.transport.close()
        return "end_turn"

    async def work() -> None:
        client = Client2()
        near, far = pair()
        codec = AgentAsV2(client)
        async with peers1.connect_client(Agent1(die), far), peers1.connect_agent(codec.v1_client, near) as calls:
            codec.agent = calls
            following = asyncio.ensure_future(codec.follow_agent())
            await calls_to(codec).initialize(ME2)
            await calls_to(codec).session_new(v2.NewSessionRequest(cwd="/w"))
            await calls_to(codec).session_prompt(PROMPT2)
            await following
            assert client.updates[-1]["stopReason"] == "error"
        await codec.close()

    run(work)


def test_a_prompt_that_waits_for_another_is_refused_when_the_session_is_cancelled() -> None:
    async def never(agent: Agent1, session: str) -> str:
        await agent.say(session, sessionUpdate="agent_message_chunk", content=words("..."))
        await asyncio.sleep(60)
        return "end_turn"

    async def work() -> None:
        client = Client2()
        near, far = pair()
        codec = AgentAsV2(client)
        async with peers1.connect_client(Agent1(never), far), peers1.connect_agent(codec.v1_client, near) as calls:
            codec.agent = calls
            await calls_to(codec).initialize(ME2)
            await calls_to(codec).session_new(v2.NewSessionRequest(cwd="/w"))
            await calls_to(codec).session_prompt(PROMPT2)
            waiting = asyncio.ensure_future(calls_to(codec).session_prompt(PROMPT2))
            await asyncio.sleep(0.01)
            await calls_to(codec).session_cancel(v2.CancelSessionNotification(session_id="s"))
            with pytest.raises(RequestError) as failed:
                await waiting
            assert failed.value.code == -32800
            await client.idle.wait()
            again = asyncio.ensure_future(calls_to(codec).session_prompt(PROMPT2))  # the turn is free again
            await again
        await codec.close()

    run(work)


def test_a_waiting_prompt_that_is_cancelled_twice_leaves_the_turn_to_the_first() -> None:
    going = asyncio.Event()

    async def wait(agent: Agent1, session: str) -> str:
        await agent.say(session, sessionUpdate="agent_message_chunk", content=words("..."))
        await going.wait()
        return "end_turn"

    async def work() -> None:
        client, agent = Client2(), Agent1(wait)
        agent.is_patient = True
        near, far = pair()
        codec = AgentAsV2(client)
        async with peers1.connect_client(agent, far), peers1.connect_agent(codec.v1_client, near) as calls:
            codec.agent = calls
            await calls_to(codec).initialize(ME2)
            await calls_to(codec).session_new(v2.NewSessionRequest(cwd="/w"))
            await calls_to(codec).session_prompt(PROMPT2)
            waiting = asyncio.ensure_future(calls_to(codec).session_prompt(PROMPT2))
            await asyncio.sleep(0.01)
            cancelling = asyncio.ensure_future(
                calls_to(codec).session_cancel(v2.CancelSessionNotification(session_id="s"))
            )
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting, cancelling])
            following = asyncio.ensure_future(calls_to(codec).session_prompt(PROMPT2))
            await asyncio.sleep(0.05)
            assert len([one for one in agent.heard if isinstance(one, v1.PromptRequest)]) == 1
            going.set()
            await following
        await codec.close()

    run(work)


def test_a_prompt_that_cannot_be_sent_fails_and_the_next_one_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def end(agent: Agent1, session: str) -> str:
        return "end_turn"

    async def fail(*_: Any, **__: Any) -> Any:
        raise TimeoutError("no room")

    async def work() -> None:
        client = Client2()
        near, far = pair()
        codec = AgentAsV2(client)
        async with peers1.connect_client(Agent1(end), far), peers1.connect_agent(codec.v1_client, near) as calls:
            codec.agent = calls
            await calls_to(codec).initialize(ME2)
            await calls_to(codec).session_new(v2.NewSessionRequest(cwd="/w"))
            with monkeypatch.context() as patch:
                patch.setattr(calls.connection, "request", fail)
                with pytest.raises(RequestError, match="no room"):
                    await calls_to(codec).session_prompt(PROMPT2)
            await calls_to(codec).session_prompt(PROMPT2)
            await client.idle.wait()
        await codec.close()

    run(work)


def test_a_load_that_is_refused_leaves_a_session_of_v1_as_it_was() -> None:
    option = {
        "configId": "mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": "plan",
        "options": [{"value": "plan", "name": "Plan"}],
    }

    class Refusing(LocalAgent):
        async def session_resume(self, _: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
            raise RequestError(-32000, "not now")

    async def wait(agent: Agent2, session: str) -> Any:
        await agent.say(session, sessionUpdate="agent_message", messageId="a", content=[words("once")])
        loaded.set()
        await going.wait()
        await agent.say(session, sessionUpdate="agent_message", messageId="a", content=[words("once")])
        return {"stopReason": "end_turn"}

    loaded, going = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        codec = AgentAsV1()
        agent = Refusing(codec, wait)
        agent.options = [option]
        codec.agent = agent
        client = Client1()
        async with peers1.join(codec, client) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_new(NEW1)
            prompt = asyncio.ensure_future(calls.session_prompt(PROMPT1))
            await loaded.wait()
            with pytest.raises(PeerError, match="not now"):
                await calls.session_load(v1.LoadSessionRequest(session_id="s", cwd="/w", mcp_servers=[]))
            await calls.session_set_mode(v1.SetSessionModeRequest(session_id="s", mode_id="plan"))
            going.set()
            assert (await prompt).stop_reason == "end_turn"
        await codec.close()
        texts = [one["content"]["text"] for one in client.updates if "content" in one]
        assert texts == ["once"]

    run(work)


def test_updates_of_concurrent_work_do_not_mix_for_a_client_of_v1() -> None:
    async def script(agent: Agent2, session: str) -> Any:
        def message(name: str) -> Any:
            content = [words(f"{name}{number}") for number in range(3)]
            return agent.say(session, sessionUpdate="agent_message", messageId=name, content=content)

        await asyncio.gather(message("a"), message("b"))
        return {"stopReason": "end_turn"}

    class Slow:
        def __init__(self, connection: Any) -> None:
            self._connection = connection

        async def notify(self, method: str, params: Any) -> None:
            await asyncio.sleep(0)
            await self._connection.notify(method, params)

    class ToSlow(AgentAsV1):
        @property
        def calls_to_client(self) -> Any:
            return Slow(self.connection)

    async def work() -> None:
        codec, client = ToSlow(), Client1()
        codec.agent = LocalAgent(codec, script)
        async with peers1.join(codec, client) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_new(NEW1)
            await calls.session_prompt(PROMPT1)
        await codec.close()
        assert [one["content"]["text"] for one in client.updates] == ["a0", "a1", "a2", "b0", "b1", "b2"]

    run(work)


def test_updates_about_sessions_that_nobody_opened_are_not_kept_for_ever() -> None:
    async def flood(agent: Any, session: str) -> Any:
        more = {} if isinstance(agent, Agent1) else {"messageId": "a"}
        for name in (*(f"other{number}" for number in range(300)), session):
            await agent.say(name, sessionUpdate="agent_message_chunk", content=words("..."), **more)
        return "end_turn" if isinstance(agent, Agent1) else {"stopReason": "end_turn"}

    async def work() -> None:
        client = Client2()
        newer = AgentAsV2(client)
        near, far = pair()
        async with peers1.connect_client(Agent1(flood), far), peers1.connect_agent(newer.v1_client, near) as calls:
            newer.agent = calls
            await calls_to(newer).initialize(ME2)
            await calls_to(newer).session_new(v2.NewSessionRequest(cwd="/w"))
            await calls_to(newer).session_prompt(PROMPT2)
            await client.idle.wait()
            assert len(newer.sessions) <= 101
            assert "s" in newer.sessions
        await newer.close()
        older = AgentAsV1()
        older.agent = LocalAgent(older, flood)
        async with peers1.join(older, Client1()) as (remote, _):
            await remote.initialize(ME1)
            await remote.session_new(NEW1)
            await remote.session_prompt(PROMPT1)
            assert len(older.sessions) <= 101
            assert "s" in older.sessions
        await older.close()

    run(work)
