"""Agents on the official TypeScript SDK, of the version that the client does not speak: the adapter is in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from acp_bindings import v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

import evidence
from acp_monitor import Monitor
from acp_session.adapter import as_v1, as_v2
from adapter.programs import ME1, ME2, Client1, Client2, run
from adapter.test_conversations import NEW1, NEW2, kinds
from interop.pairs import typescript_sdk
from javascript import Unreachable
from jsonrpc_bindings.child import Child
from jsonrpc_bindings.framing import LIMIT, make_framing

LINES = make_framing("lines", LIMIT)
OPTION = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}


def command(version: int, folder: Path, *updates: dict[str, Any], request: dict[str, Any]) -> list[str]:
    """What starts an agent that says and asks this on the prompt `hello`."""
    asked = {"method": "session/request_permission", "params": request}
    scenario = folder / "scenario.json"
    scenario.write_text(json.dumps([{"name": "hello", "updates": updates, "requests": [asked]}]), "utf-8")
    try:
        program = typescript_sdk()
    except Unreachable as reason:
        evidence.lack(str(reason))
        raise
    return program.command("agent", version, scenario)


def test_a_client_of_v2_drives_an_agent_of_v1_on_the_typescript_sdk(tmp_path: Path) -> None:
    found = command(
        1,
        tmp_path,
        {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "kind": "read"},
        {"sessionUpdate": "plan", "entries": []},
        request={"toolCall": {"toolCallId": "c"}, "options": [OPTION]},
    )
    breaches: list[object] = []

    async def work() -> None:
        client = Client2()
        back: Any = {"monitor": Monitor(), "on_event": breaches.append}
        front: Any = {**back, "monitor": Monitor()}
        child = await Child.start(found, LINES)
        async with as_v2(child, **back) as adapter, peers2.join(adapter, client, **front) as (calls, _):
            await calls.initialize(ME2)
            session = (await calls.session_new(NEW2)).session_id
            block = v2.TextContent(text="hello")
            await calls.session_prompt(v2.PromptRequest(session_id=session, prompt=[block]))
            await client.idle.wait()
        assert kinds(client.updates) == [
            *("user_message", "state_update:running", "tool_call_update", "plan_update"),
            *("state_update:requires_action", "state_update:running", "agent_message_chunk", "state_update:idle"),
        ]
        assert client.updates[-1]["stopReason"] == "end_turn"
        echo = json.loads(client.updates[-2]["content"]["text"])
        assert echo.get("trouble") is None and echo["answers"][0]["outcome"]["outcome"] == "selected"

    run(work)
    assert breaches == []


def test_a_client_of_v1_drives_an_agent_of_v2_on_the_typescript_sdk(tmp_path: Path) -> None:
    call = {"toolCallId": "c", "title": "Look"}
    found = command(
        2,
        tmp_path,
        {"sessionUpdate": "tool_call_update", **call, "kind": "read"},
        {"sessionUpdate": "agent_message", "messageId": "a", "content": [{"type": "text", "text": "Hello"}]},
        request={"title": "Look?", "subject": {"type": "tool_call", "toolCall": call}, "options": [OPTION]},
    )
    breaches: list[object] = []

    async def work() -> None:
        client = Client1()
        back: Any = {"monitor": Monitor(), "on_event": breaches.append}
        front: Any = {**back, "monitor": Monitor()}
        child = await Child.start(found, LINES)
        async with as_v1(child, **back) as adapter, peers1.join(adapter, client, **front) as (calls, _):
            await calls.initialize(ME1)
            session = (await calls.session_new(NEW1)).session_id
            block = v1.TextContent(text="hello")
            answer = await calls.session_prompt(v1.PromptRequest(session_id=session, prompt=[block]))
            assert answer.stop_reason == "end_turn"
        shown = ["tool_call", "agent_message_chunk", "tool_call_update", "agent_message_chunk"]  # its title again
        assert kinds(client.updates) == shown
        assert client.asked[0].tool_call.title == "Look?\nLook"

    run(work)
    assert breaches == []
