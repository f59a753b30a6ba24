"""What one version cannot hold: it is told, counted, and goes on as near as can be, or in a form that the way back reads."""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from typing import Any

import pytest
from acp_bindings import PeerError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.adapter import CARRIER, as_v1, as_v2
from adapter.programs import (
    ME1,
    ME2,
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
from jsonrpc_bindings.transport import pair

PROMPT1 = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="Hello")])
PROMPT2 = v2.PromptRequest(session_id="s", prompt=[v2.TextContent(text="Hello")])
NEW1 = v1.NewSessionRequest(cwd="/w", mcp_servers=[])
NEW2 = v2.NewSessionRequest(cwd="/w")


def down(*updates: dict[str, Any], end: dict[str, Any] | None = None) -> tuple[Client1, Setting, Any]:
    """What a client of v1 hears of these updates of v2, and the answer to its prompt."""

    async def tell(agent: Agent2, session: str) -> Any:
        for one in updates:
            await agent.say(session, **one)
        return end or {"stopReason": "end_turn"}

    async def work() -> tuple[Client1, Setting, Any]:
        client, setting = Client1(), Setting()
        async with client1_with_agent2(client, Agent2(tell), setting) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_new(NEW1)
            try:
                answer: Any = await calls.session_prompt(PROMPT1)
            except PeerError as error:
                answer = error
        return client, setting, answer

    found: tuple[Client1, Setting, Any] = run(work)
    assert found[1].breaches == []
    return found


def up(*updates: dict[str, Any]) -> tuple[Client2, Setting]:
    """What a client of v2 hears of these updates of v1, without message and states."""

    async def tell(agent: Agent1, session: str) -> str:
        for one in updates:
            await agent.say(session, **one)
        return "end_turn"

    async def work() -> tuple[Client2, Setting]:
        client, setting = Client2(), Setting()
        async with client2_with_agent1(client, Agent1(tell), setting) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(NEW2)
            await calls.session_prompt(PROMPT2)
            await client.idle.wait()
        client.updates = client.updates[2:-1]
        return client, setting

    return run(work)  # type: ignore[no-any-return]


def sentences(setting: Setting) -> list[str]:
    return [str(one) for one in setting.losses]


def test_a_message_that_changes_is_said_again_and_what_it_adds_is_a_piece() -> None:
    def message(*content: Any) -> dict[str, Any]:
        return {"sessionUpdate": "agent_message", "messageId": "a", "content": list(content)}

    client, setting, _ = down(
        message(words("A")),
        message(words("A"), words("B")),
        message(words("A"), words("B")),
        message(words("C")),
        {"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": words("D")},
        {"sessionUpdate": "agent_message", "messageId": "a", "content": None},
    )
    assert [(one["messageId"], one["content"]["text"]) for one in client.updates] == [
        ("a", "A"),
        ("a", "B"),
        ("a~1", "C"),
        ("a~1", "D"),
    ]
    assert sentences(setting) == [
        "session/update /update/content: v1 cannot change a message; it is sent again as a new message (changed)",
        "session/update /update/content: v1 cannot retract a message (dropped)",
    ]


def test_a_terminal_of_the_agent_is_shown_as_text_that_is_told_again_as_it_grows_and_at_the_end() -> None:
    def output(text: str) -> dict[str, Any]:
        data = base64.b64encode(text.encode()).decode()
        return {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data}

    shown = {"type": "terminal", "terminalId": "t"}
    client, setting, _ = down(
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c",
            "title": "Test",
            "kind": "execute",
            "content": [shown],
        },
        {"sessionUpdate": "terminal_update", "terminalId": "t", "command": "make ```", "cwd": "/w"},
        output("one\n"),
        output("two\n"),
    )
    texts = [one["content"][0]["content"]["text"] for one in client.updates]
    assert texts == ["```console\n```", "````console\n$ make ```\n````", "````console\n$ make ```\none\ntwo\n````"]
    assert Counter(one.kind for one in setting.losses) == {"changed": 3}


def test_words_that_v1_does_not_have_are_told_as_the_nearest() -> None:
    client, setting, answer = down(
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "_dance", "status": "paused", "name": "dance"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "cancelled", "kind": None},
        {
            "sessionUpdate": "plan_update",
            "plan": {
                "type": "items",
                "planId": "p",
                "entries": [{"content": "x", "priority": "_x", "status": "cancelled"}],
            },
        },
        end={"stopReason": "_tide"},
    )
    assert client.updates == [
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c",
            "title": "dance",
            "name": "dance",
            "kind": "other",
            "status": "in_progress",
        },
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"},
        {"sessionUpdate": "plan", "entries": [{"content": "x", "priority": "medium", "status": "completed"}]},
    ]
    assert answer.stop_reason == "end_turn"
    assert [(one.pointer, one.value, one.kind) for one in setting.losses] == [
        ("/update/kind", "_dance", "changed"),
        ("/update/status", "paused", "changed"),
        ("/update/title", None, "added"),
        ("/update/kind", None, "dropped"),
        ("/update/status", "cancelled", "changed"),
        ("/update/plan/entries/0/priority", "_x", "changed"),
        ("/update/plan/entries/0/status", "cancelled", "changed"),
        ("/stopReason", "_tide", "changed"),
    ]


def test_work_that_ends_in_an_error_is_an_error_of_the_prompt() -> None:
    _, setting, answer = down(end={"stopReason": "error", "error": {"code": -32603, "message": "The tide is out."}})
    assert (answer.code, answer.message) == (-32603, "The tide is out.")
    assert setting.losses == []


def test_updates_that_only_v2_has_are_carried_through_v1_and_come_out_as_they_were() -> None:
    told: list[dict[str, Any]] = [
        {"sessionUpdate": "_tide", "metres": 2.5},
        {"sessionUpdate": "plan_update", "plan": {"type": "_map", "planId": "m", "places": []}},
        {"sessionUpdate": "state_update", "state": "_waiting", "until": "noon"},
    ]
    client, setting, _ = down(*told)
    assert client.updates == []
    assert [params["update"] for _, params in client.carried] == told
    assert {one.kind for one in setting.losses} == {"carried"}

    async def tell(agent: Agent2, session: str) -> Any:
        for one in told:
            await agent.say(session, **one)
        chart = {"type": "_chart", "points": [1, 2]}
        await agent.say(session, sessionUpdate="agent_message_chunk", messageId="a", content=chart)
        return {"stopReason": "end_turn"}

    async def through_both() -> list[Any]:
        far = Client2()
        ends = pair(), pair()
        async with (
            peers2.connect_client(Agent2(tell), ends[0][0]),
            as_v1(ends[0][1]) as middle,
            peers1.connect_client(middle, ends[1][0]),
            as_v2(ends[1][1]) as front,
            peers2.join(front, far) as (calls, _),
        ):
            await calls.initialize(ME2)
            await calls.session_new(NEW2)
            await calls.session_prompt(PROMPT2)
            await far.idle.wait()
        return far.updates

    found = run(through_both)
    assert [one for one in found if one in told] == told
    assert [one["content"] for one in found if "points" in one.get("content", {})] == [
        {"type": "_chart", "points": [1, 2]}
    ]


def test_an_unknown_update_of_v1_stays_what_it_is_unless_v2_would_understand_it() -> None:
    client, setting = up(
        {"sessionUpdate": "_tide", "metres": 2.5},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "AAAA"},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "_chart", "points": []}},
    )
    assert client.updates[0] == {"sessionUpdate": "_tide", "metres": 2.5}
    assert [one["sessionUpdate"] for one in client.updates] == ["_tide", "agent_message_chunk"]
    (loss,) = setting.losses
    assert (loss.kind, loss.pointer) == ("dropped", "/update")


def test_what_the_types_of_v2_do_not_take_is_left_out_and_told() -> None:
    content = {"type": "text", "text": "x", "annotations": {"priority": 7}}
    location = {"path": "/w/a", "line": 0}
    terminal = {"type": "terminal", "terminalId": "t"}
    client, setting = up(
        {"sessionUpdate": "agent_message_chunk", "content": content},
        {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "locations": [location], "content": [terminal]},
    )
    assert client.updates[1]["locations"] == [{"path": "/w/a"}]
    assert client.updates[1]["content"] == []
    assert [one.pointer for one in setting.losses] == [
        "/update/content/annotations/priority",
        "/update/content/0",
        "/update/locations/0/line",
    ]


def test_a_prompt_of_v2_keeps_its_words_in_the_title_for_a_client_of_v1() -> None:
    async def ask(agent: Agent2, session: str) -> Any:
        subject = v2.CommandPermissionSubject(command="make", cwd="/w")
        yes = v2.PermissionOption(option_id="yes", name="Yes", kind="allow_once")
        odd = v2.PermissionOption(option_id="odd", name="Odd", kind="_maybe")
        request = v2.RequestPermissionRequest(
            session_id=session, title="Run it?", description="It builds.", subject=subject, options=[yes, odd]
        )
        outcomes.append((await agent.client.session_request_permission(request)).outcome.outcome)
        return {"stopReason": "end_turn"}

    outcomes: list[str] = []

    async def work() -> None:
        client, setting = Client1(), Setting()
        async with client1_with_agent2(client, Agent2(ask), setting) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_new(NEW1)
            await calls.session_prompt(PROMPT1)
        assert client.asked[0].tool_call.title == "Run it?\nmake\nIt builds."
        assert [one.option_id for one in client.asked[0].options] == ["yes"]
        assert outcomes == ["selected"]
        assert [(one.pointer, one.kind) for one in setting.losses] == [("/title", "changed"), ("/options/1", "dropped")]
        assert setting.breaches == []

    run(work)


@pytest.mark.parametrize("version", [1, 2])
def test_when_the_agent_dies_in_a_turn_the_turn_ends_and_so_does_the_connection(version: int) -> None:
    async def up() -> None:
        async def die(agent: Agent1, session: str) -> str:
            await agent.say(session, sessionUpdate="agent_message_chunk", content=words("..."))
            await agent.connection.transport.close()
            return "end_turn"

        client, setting = Client2(), Setting()
        async with client2_with_agent1(client, Agent1(die), setting) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(NEW2)
            await calls.session_prompt(PROMPT2)
            await client.idle.wait()
            assert client.updates[-1]["stopReason"] == "error"
            await calls.connection.ended()

    async def down() -> None:
        async def die(agent: Agent2, session: str) -> Any:
            await agent.connection.transport.close()
            await asyncio.sleep(60)

        client, setting = Client1(), Setting()
        async with client1_with_agent2(client, Agent2(die), setting) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_new(NEW1)
            with pytest.raises((PeerError, ConnectionError)):
                await calls.session_prompt(PROMPT1)
            await calls.connection.ended()

    run(up if version == 2 else down)


def test_an_agent_that_does_not_answer_in_time_is_an_error_that_says_so(caplog: pytest.LogCaptureFixture) -> None:
    class Mute(Agent1):
        async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
            await asyncio.Event().wait()
            raise AssertionError(params)

    async def work() -> None:
        async with client2_with_agent1(Client2(), Mute(), Setting(), timeout=0.1) as (calls, _):
            await calls.initialize(ME2)
            with pytest.raises(PeerError, match="has not answered in time"):
                await calls.session_new(NEW2)

    run(work)
    assert not caplog.records


def test_an_adapter_leaves_no_work_of_a_client_that_is_gone() -> None:
    class Deaf(Agent2):
        async def session_cancel(self, _: v2.CancelSessionNotification, /) -> None:
            return

    async def work() -> None:
        has_begun = asyncio.Event()

        async def wait(_agent: Agent2, _session: str) -> Any:
            has_begun.set()
            await asyncio.Event().wait()

        before = asyncio.all_tasks()
        async with client1_with_agent2(Client1(), Deaf(wait), Setting()) as (calls, _):
            await calls.initialize(ME1)
            await calls.session_new(NEW1)
            prompt = asyncio.ensure_future(calls.session_prompt(PROMPT1))
            await has_begun.wait()
            prompt.cancel()
        await asyncio.sleep(0.1)
        assert not [task for task in asyncio.all_tasks() - before if "_follow" in repr(task)]

    run(work)


def test_a_request_that_cannot_be_carried_over_is_refused_with_its_place() -> None:
    async def work() -> None:
        client, setting = Client1(), Setting()
        async with client1_with_agent2(client, Agent2(), setting) as (calls, adapter):
            await calls.initialize(ME1)
            server = v1.McpServerSse(name="x", url="https://example.com", headers=[])
            with pytest.raises(PeerError) as failed:
                await calls.session_new(v1.NewSessionRequest(cwd="/w", mcp_servers=[server]))
            assert failed.value.code == -32602
            assert adapter.losses.counts == {("session/new", "dropped"): 1}
            assert [one["pointer"] for one in failed.value.data["problems"]] == ["/params/mcpServers/0"]

    run(work)


def test_further_roots_that_the_agent_did_not_advertise_are_refused_before_it_hears_of_them() -> None:
    async def work() -> None:
        agent, setting = Agent1(), Setting()
        async with client2_with_agent1(Client2(), agent, setting) as (calls, _):
            await calls.initialize(ME2)
            with pytest.raises(PeerError, match="not support additional roots") as failed:
                await calls.session_new(v2.NewSessionRequest(cwd="/w", additional_directories=["/x"]))
            sentence = "the agent does not support additional roots"
            problem = {"pointer": "/params/additionalDirectories", "message": sentence}
            assert (failed.value.code, failed.value.data) == (-32602, {"problems": [problem]})
            await calls.session_new(v2.NewSessionRequest(cwd="/w", additional_directories=[]))
        assert [type(one) for one in agent.heard] == [v1.InitializeRequest, v1.NewSessionRequest]
        assert "additionalDirectories" not in to_builtins(agent.heard[1])
        assert not [one for one in setting.breaches if one.startswith("back")]

    run(work)


def test_an_agent_of_v2_does_not_hear_of_further_roots_that_it_did_not_advertise() -> None:
    async def work() -> None:
        setting = Setting()
        async with client1_with_agent2(Client1(), Agent2(), setting) as (calls, _):
            await calls.initialize(ME1)
            with pytest.raises(PeerError, match="not support additional roots"):
                await calls.session_new(v1.NewSessionRequest(cwd="/w", mcp_servers=[], additional_directories=["/x"]))
            assert (await calls.session_new(NEW1)).session_id
        assert not [one for one in setting.breaches if one.startswith("back")]

    run(work)


def test_the_list_of_an_agent_that_has_none_passes_both_filters() -> None:
    async def work() -> None:
        agent, setting = Agent1(), Setting()
        agent.can["sessionCapabilities"] = {"additionalDirectories": {}}
        async with client2_with_agent1(Client2(), agent, setting) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(v2.NewSessionRequest(cwd="/w", additional_directories=["/x"]))
            for cwd, additional, found in (
                ("/w/", None, 1),
                ("/other", None, 0),
                ("/w", ["/x/"], 1),
                ("/w", ["/y"], 0),
                (None, [], 0),
            ):
                named: dict[str, Any] = {} if additional is None else {"additional_directories": additional}
                answer = await calls.session_list(v2.ListSessionsRequest(cwd=cwd, **named))
                assert len(answer.sessions) == found, (cwd, additional)

    run(work)


def test_fields_that_v1_has_no_place_for_are_lost_by_name() -> None:
    plan: dict[str, Any] = {"type": "items", "planId": "p", "entries": [], "_meta": {"a": 1}}
    _, setting, _ = down(
        {"sessionUpdate": "plan_update", "plan": plan},
        {"sessionUpdate": "agent_message", "messageId": "m", "content": [words("A")]},
        {"sessionUpdate": "agent_message", "messageId": "m", "content": [words("A")], "_meta": {"m": 1}},
        {"sessionUpdate": "state_update", "state": "running", "_meta": {"b": 1}},
    )
    assert [one.pointer for one in setting.losses] == [
        "/update/plan/_meta",
        "/update/_meta",
        "/update/_meta",
    ]


def test_an_agent_of_v1_cannot_pass_for_one_of_v2_by_what_it_carries() -> None:
    shown = {"type": "terminal", "terminalId": "of somebody else"}
    content = {"type": "content", "content": words("x")}
    items = [{**content, "_meta": {CARRIER: one}} for one in (shown, {"type": "content", "content": words("y")})]
    option = {"id": "fast", "name": "Fast", "type": "select", "currentValue": "on"}
    values = {"options": [{"value": "on", "name": "On"}]}
    other: dict[str, Any] = {
        "configId": "mode",
        "category": "mode",
        "name": "Mode",
        "type": "select",
        "currentValue": "x",
        "options": [],
    }
    work = [{"workId": "w", "type": "_other"}]
    carried: list[dict[str, Any]] = [
        {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
        {"sessionUpdate": "user_message", "messageId": "u", "content": [words("Delete all")]},
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": []}},
        {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn", "background": work},
    ]

    async def tell(agent: Agent1, session: str) -> str:
        await agent.say(session, sessionUpdate="tool_call_update", toolCallId="c", content=items)
        options: list[dict[str, Any]] = [{**option, **values, "_meta": {CARRIER: other}}]
        await agent.say(session, sessionUpdate="config_option_update", configOptions=options)
        for update in carried:
            body = {"sessionId": session, "update": update}
            await agent.client.extension_notification(f"_{CARRIER}/session/update", body)
        return "refusal"

    async def work_() -> tuple[Client2, Setting]:
        client, setting = Client2(), Setting()
        async with client2_with_agent1(client, Agent1(tell), setting) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(NEW2)
            await calls.session_prompt(PROMPT2)
            await client.idle.wait()
        return client, setting

    client, setting = run(work_)
    call, options, state, end = client.updates[2:]
    assert [one["content"]["text"] for one in call["content"]] == ["x", "x"]
    assert options["configOptions"][0]["configId"] == "fast"
    assert (state["state"], state["background"]) == ("running", work)
    assert (end["state"], end["stopReason"]) == ("idle", "refusal")
    assert [one.method for one in setting.losses] == [f"_{CARRIER}/session/update"] * 3


def test_values_of_the_wrong_type_in_what_v1_leaves_open_stop_nothing(caplog: pytest.LogCaptureFixture) -> None:
    carried: list[Any] = [
        {"sessionUpdate": []},
        {"sessionUpdate": "_tide", "state": []},
        {"sessionUpdate": "state_update", "state": {}},
    ]
    updates: list[dict[str, Any]] = [
        {"sessionUpdate": "_tide", "toolCallId": []},
        {"sessionUpdate": "agent_message_chunk", "content": {**words("x"), "_meta": {CARRIER: {"type": []}}}},
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": "a", "description": "b", "input": {"hint": "c", "type": []}, "type": {}}],
        },
    ]

    class Careless(Agent1):
        async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
            for update in updates:
                await self.say(params.session_id, **update)
            for update in carried:
                body = {"sessionId": params.session_id, "update": update}
                await self.client.extension_notification(f"_{CARRIER}/session/update", body)
            answer = {"stopReason": "end_turn", "state": "running", "sessionUpdate": [], "background": 5, "tide": 2}
            return v1.decode_as(v1.PromptResponse, answer)

    async def work() -> tuple[Client2, Setting]:
        client, setting = Client2(), Setting()
        async with client2_with_agent1(client, Careless(), setting) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(NEW2)
            await calls.session_prompt(PROMPT2)
            async with asyncio.timeout(5):
                await client.idle.wait()
        return client, setting

    client, setting = run(work)
    end = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn", "tide": 2}
    assert client.updates[-1] == end
    assert [update["sessionUpdate"] for update in client.updates[2:4]] == ["_tide", "agent_message_chunk"]
    assert {"sessionUpdate": "_tide", "state": []} in client.updates
    assert not caplog.records
    assert {loss.pointer for loss in setting.losses} >= {"/state", "/sessionUpdate", "/background", "/update/state"}
