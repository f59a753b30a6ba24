"""Whole conversations through the adapters: a client of one version drives an agent of the other, and both monitors are silent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from acp_bindings import PeerError, RequestError, v1, v2

from adapter.programs import (
    ME1,
    ME2,
    YES1,
    YES2,
    Agent1,
    Agent2,
    Client1,
    Client2,
    Setting,
    client1_with_agent2,
    client2_with_agent1,
    run,
    words,
)

PROMPT1 = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="Hello")])
PROMPT2 = v2.PromptRequest(session_id="s", prompt=[v2.TextContent(text="Hello")])
NEW1 = v1.NewSessionRequest(cwd="/w", mcp_servers=[])
NEW2 = v2.NewSessionRequest(cwd="/w")


def kinds(updates: list[Any]) -> list[str]:
    return [one["sessionUpdate"] + (f":{one['state']}" if "state" in one else "") for one in updates]


async def busy1(agent: Agent1, session: str) -> str:
    await agent.say(session, sessionUpdate="agent_message_chunk", content=words("One "))
    await agent.say(session, sessionUpdate="agent_message_chunk", content=words("moment."))
    await agent.say(session, sessionUpdate="agent_thought_chunk", content=words("Hm."))
    await agent.say(session, sessionUpdate="tool_call", toolCallId="c", title="Edit", kind="edit", status="pending")
    await agent.say(
        session, sessionUpdate="plan", entries=[{"content": "Look", "priority": "high", "status": "in_progress"}]
    )
    ask = v1.RequestPermissionRequest(session_id=session, tool_call=v1.ToolCallUpdate(tool_call_id="c"), options=[YES1])
    answer = await agent.client.session_request_permission(ask)
    assert answer.outcome.outcome == "selected"
    diff = {"type": "diff", "path": "/w/a", "oldText": "a\n", "newText": "b\n"}
    await agent.say(session, sessionUpdate="tool_call_update", toolCallId="c", status="completed", content=[diff])
    await agent.say(session, sessionUpdate="agent_message_chunk", content=words("Done."))
    return "end_turn"


async def busy2(agent: Agent2, session: str) -> Any:
    await agent.say(session, sessionUpdate="agent_message_chunk", messageId="a1", content=words("One "))
    await agent.say(session, sessionUpdate="agent_message_chunk", messageId="a1", content=words("moment."))
    await agent.say(session, sessionUpdate="tool_call_update", toolCallId="c", title="Edit", kind="edit")
    plan = {"type": "items", "planId": "p", "entries": [{"content": "Look", "priority": "low", "status": "pending"}]}
    await agent.say(session, sessionUpdate="plan_update", plan=plan)
    await agent.say(session, sessionUpdate="state_update", state="requires_action")
    subject = v2.ToolCallPermissionSubject(tool_call=v2.ToolCallUpdate(tool_call_id="c", title="Edit"))
    ask = v2.RequestPermissionRequest(session_id=session, title="Edit", subject=subject, options=[YES2])
    assert (await agent.client.session_request_permission(ask)).outcome.outcome == "selected"
    await agent.say(session, sessionUpdate="state_update", state="running")
    await agent.say(session, sessionUpdate="tool_call_update", toolCallId="c", status="in_progress")
    piece = {"type": "content", "content": words("half")}
    await agent.say(session, sessionUpdate="tool_call_content_chunk", toolCallId="c", content=piece)
    await agent.say(session, sessionUpdate="tool_call_content_chunk", toolCallId="c", content=piece)
    await agent.say(session, sessionUpdate="tool_call_update", toolCallId="c", status="completed")
    await agent.say(session, sessionUpdate="agent_message", messageId="a2", content=[words("Done."), words("!")])
    return {"stopReason": "end_turn"}


def test_a_client_of_v2_drives_an_agent_of_v1() -> None:
    async def work() -> None:
        agent, client, setting = Agent1(busy1), Client2(), Setting()
        async with client2_with_agent1(client, agent, setting) as (calls, adapter):
            found = await calls.initialize(ME2)
            assert (found.protocol_version, found.info.name) == (2, "compass")
            assert (await calls.session_new(NEW2)).session_id == "s"
            accepted = await calls.session_prompt(PROMPT2)
            await client.idle.wait()
            assert kinds(client.updates) == [
                *("user_message", "state_update:running", "agent_message_chunk", "agent_message_chunk"),
                *("agent_thought_chunk", "tool_call_update", "plan_update", "state_update:requires_action"),
                *("state_update:running", "tool_call_update", "agent_message_chunk", "state_update:idle"),
            ]
            first, second, thought, last = (client.updates[index]["messageId"] for index in (2, 3, 4, 10))
            assert client.updates[0]["messageId"] == accepted.message_id
            assert first == second and len({accepted.message_id, first, thought, last}) == 4
            assert client.updates[-1]["stopReason"] == "end_turn"
            assert client.updates[9]["content"][0]["changes"][0]["path"] == "/w/a"
            listed = await calls.session_list(v2.ListSessionsRequest())
            assert [one.session_id for one in listed.sessions] == ["s"]
            await calls.session_close(v2.CloseSessionRequest(session_id="s"))
            assert adapter.losses.counts.total() == 0
        setting.finish()
        assert setting.breaches == []

    run(work)


def test_a_client_of_v1_drives_an_agent_of_v2() -> None:
    async def work() -> None:
        agent, client, setting = Agent2(busy2), Client1(), Setting()
        async with client1_with_agent2(client, agent, setting) as (calls, adapter):
            found = await calls.initialize(ME1)
            assert found.protocol_version == 1
            assert found.agent_capabilities.load_session
            assert found.agent_capabilities.prompt_capabilities.image
            await calls.session_new(NEW1)
            assert (await calls.session_prompt(PROMPT1)).stop_reason == "end_turn"
            assert kinds(client.updates) == [
                *("agent_message_chunk", "agent_message_chunk", "tool_call", "plan", "tool_call_update"),
                *("tool_call_update", "tool_call_update", "tool_call_update"),
                *("agent_message_chunk", "agent_message_chunk"),
            ]
            assert len(client.updates[6]["content"]) == 2
            assert client.asked[0].tool_call.tool_call_id == "c"
            await calls.session_close(v1.CloseSessionRequest(session_id="s"))
            assert adapter.losses.counts.total() == 0
        setting.finish()
        assert setting.breaches == []

    run(work)


def test_a_session_that_is_resumed_before_its_prompt_is_refused_is_idle() -> None:
    resumed = asyncio.Event()

    async def refuse(agent: Agent1, session: str) -> str:
        await resumed.wait()
        raise RequestError(-32000, "log in")

    async def work() -> None:
        client, setting = Client2(), Setting()
        async with client2_with_agent1(client, Agent1(refuse), setting, accept_timeout=60) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(NEW2)
            prompting = asyncio.ensure_future(calls.session_prompt(PROMPT2))
            await calls.session_resume(v2.ResumeSessionRequest(session_id="s", cwd="/w"))
            resumed.set()
            with pytest.raises(PeerError, match="log in"):
                await prompting
            assert kinds(client.updates) == ["state_update:idle"]

    run(work)


def test_a_turn_is_cancelled_with_its_request_for_permission_by_a_client_of_v2() -> None:
    async def wait(agent: Agent1, session: str) -> str:
        call = v1.ToolCallUpdate(tool_call_id="c")
        ask = v1.RequestPermissionRequest(session_id=session, tool_call=call, options=[YES1])
        outcomes.append((await agent.client.session_request_permission(ask)).outcome.outcome)
        return "cancelled"

    outcomes: list[str] = []

    async def work() -> None:
        agent, client, setting = Agent1(wait), Client2(), Setting()
        client.is_slow = True
        async with client2_with_agent1(client, agent, setting) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(NEW2)
            await calls.session_prompt(PROMPT2)
            second = asyncio.ensure_future(calls.session_prompt(PROMPT2))  # waits for its turn
            await client.waiting.wait()
            agent.is_patient = True  # the turn ends by the answer
            await calls.session_cancel(v2.CancelSessionNotification(session_id="s"))
            await client.idle.wait()
            with pytest.raises(PeerError) as failed:
                await second
            assert failed.value.code == -32800
            assert client.updates[-1]["stopReason"] == "cancelled"
        assert outcomes == ["cancelled"]
        setting.finish()
        assert setting.breaches == []

    run(work)


def test_a_turn_is_cancelled_by_a_client_of_v1() -> None:
    async def wait(agent: Agent2, session: str) -> Any:
        await agent.say(session, sessionUpdate="agent_message_chunk", messageId="a", content=words("..."))
        await asyncio.sleep(60)

    async def work() -> None:
        agent, client, setting = Agent2(wait), Client1(), Setting()
        async with client1_with_agent2(client, agent, setting) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_new(NEW1)
            prompt = asyncio.ensure_future(calls.session_prompt(PROMPT1))
            while not client.updates:
                await asyncio.sleep(0)
            await calls.session_cancel(v1.CancelNotification(session_id="s"))
            assert (await prompt).stop_reason == "cancelled"
        setting.finish()
        assert setting.breaches == []

    run(work)


def test_a_prompt_that_an_agent_of_v1_refuses_is_refused_and_one_that_fails_later_ends_as_failed() -> None:
    async def fail(agent: Agent1, session: str) -> str:
        if len(agent.heard) > 3:
            await agent.say(session, sessionUpdate="agent_message_chunk", content=words("..."))
        raise RequestError(-32000, "log in first")

    async def work() -> None:
        agent, client, setting = Agent1(fail), Client2(), Setting()
        async with client2_with_agent1(client, agent, setting) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(NEW2)
            with pytest.raises(PeerError) as failed:
                await calls.session_prompt(PROMPT2)
            assert (failed.value.code, client.updates) == (-32000, [])
            await calls.session_prompt(PROMPT2)
            await client.idle.wait()
            assert client.updates[-1]["stopReason"] == "error"
            assert client.updates[-1]["error"]["code"] == -32000
        setting.finish()
        assert setting.breaches == []

    run(work)


def test_modes_of_v1_are_an_option_of_v2_and_the_other_way_round() -> None:
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}

    async def change(agent: Agent1, session: str) -> str:
        await agent.say(session, sessionUpdate="current_mode_update", currentModeId="ask")
        return "end_turn"

    async def up() -> None:
        agent, client, setting = Agent1(change), Client2(), Setting()
        agent.modes = modes
        async with client2_with_agent1(client, agent, setting) as (calls, _):
            await calls.initialize(ME2)
            made: Any = await calls.session_new(NEW2)
            (option,) = made.config_options
            assert (option.config_id, option.category, option.current_value) == ("mode", "mode", "ask")
            chosen: Any = v2.decode_as(
                v2.SetSessionConfigOptionRequest,
                {"sessionId": "s", "configId": "mode", "type": "id", "value": "code"},
            )
            changed: Any = await calls.session_set_config_option(chosen)
            assert changed.config_options[0].current_value == "code"
            assert agent.heard[-1].mode_id == "code"
            await calls.session_prompt(PROMPT2)
            await client.idle.wait()
            (update,) = [one for one in client.updates if one["sessionUpdate"] == "config_option_update"]
            assert update["configOptions"][0]["currentValue"] == "ask"
        setting.finish()
        assert setting.breaches == []

    option = {
        "configId": "m",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": "ask",
        "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}],
    }

    async def down() -> None:
        agent, client, setting = Agent2(busy2), Client1(), Setting()
        agent.options = [option]
        async with client1_with_agent2(client, agent, setting) as (calls, _):
            await calls.initialize(ME1)
            found = await calls.session_new(NEW1)
            assert found.modes is not None
            assert [one.id for one in found.modes.available_modes] == ["ask", "code"]
            agent.options = [{**option, "currentValue": "code"}]
            await calls.session_set_mode(v1.SetSessionModeRequest(session_id="s", mode_id="code"))
            assert agent.heard[-1].value == "code"
        setting.finish()
        assert setting.breaches == []

    run(up)
    run(down)


def test_a_session_is_played_back_in_both_directions() -> None:
    async def up() -> None:
        agent, client, setting = Agent1(busy1), Client2(), Setting()
        async with client2_with_agent1(client, agent, setting) as (calls, _):
            await calls.initialize(ME2)
            start = v2.ReplayFromStart()
            await calls.session_resume(v2.ResumeSessionRequest(session_id="s", cwd="/w", replay_from=start))
            assert kinds(client.updates) == ["user_message_chunk", "agent_message_chunk", "state_update:idle"]
            await calls.session_resume(v2.ResumeSessionRequest(session_id="s", cwd="/w"))
            assert kinds(client.updates[3:]) == ["state_update:idle"]
        setting.finish()
        assert setting.breaches == []

    async def down() -> None:
        agent, client, setting = Agent2(busy2), Client1(), Setting()
        async with client1_with_agent2(client, agent, setting) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_load(v1.LoadSessionRequest(session_id="s", cwd="/w", mcp_servers=[]))
            assert kinds(client.updates) == ["user_message_chunk", "agent_message_chunk"]
            await calls.session_resume(v1.ResumeSessionRequest(session_id="s", cwd="/w"))
            assert len(client.updates) == 2
        setting.finish()
        assert setting.breaches == []

    run(up)
    run(down)
