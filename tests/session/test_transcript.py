"""The state of a session as its updates make it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from acp_bindings import v2

from acp_session.modes import Mode
from acp_session.transcript import Compaction, Message, ToolCallState, Transcript
from session.raw_agents import text


def fed(*updates: dict[str, Any], **named: Any) -> Transcript:
    transcript = Transcript(**named)
    for update in updates:
        made = v2.decode_as(v2.UpdateSessionNotification, {"sessionId": "s", "update": update})
        transcript.apply(made.update)
    return transcript


def chunk(kind: str, words: str, message_id: str) -> dict[str, Any]:
    return {"sessionUpdate": f"{kind}_chunk", "messageId": message_id, "content": text(words)}


def call(tool_call_id: str, **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": tool_call_id, **fields}


def test_entries_of_user_and_agent_stand_apart_and_in_order() -> None:
    transcript = fed(
        chunk("user_message", "a", "1"),
        chunk("user_message", "b", "1"),
        chunk("agent_thought", "c", "2"),
        chunk("agent_message", "d", "2"),
        call("t", title="T"),
        chunk("agent_message", "e", "2"),
    )
    found = [(one.role, one.text) if isinstance(one, Message) else type(one) for one in transcript.entries]
    assert found == [("user", "ab"), ("thought", "c"), ("agent", "de"), ToolCallState]
    groups = (transcript.user_messages, transcript.agent_messages, transcript.thoughts)
    assert [[one.text for one in group] for group in groups] == [["ab"], ["de"], ["c"]]


def test_messages_are_replaced_added_to_and_cleared_by_their_id() -> None:
    def message(content: Any, **more: Any) -> dict[str, Any]:
        return {"sessionUpdate": "agent_message", "messageId": "a", "content": content, **more}

    piece = chunk("agent_message", "B", "a")
    assert fed(message([text("A")]), piece).messages[0].text == "AB"
    assert fed(piece, message([text("C")]), piece).messages[0].text == "CB"
    assert fed(piece, message(None)).messages[0].text == ""
    without = {"sessionUpdate": "agent_message", "messageId": "a", "_meta": {"x": 1}}
    found = fed(piece, without).messages[0]
    assert (found.text, found.meta) == ("B", {"x": 1})


def test_tool_calls_terminals_and_plans_are_patched() -> None:
    item = {"type": "content", "content": text("x")}
    entry = {"content": "a", "priority": "high", "status": "pending"}
    seen = fed(
        call("c", title="T", kind="read", rawInput={"a": 1}),
        {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": item},
        {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": item},
        call("c", kind=None, capabilities={"cancel": {}}),
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "w6Q="},
        {"sessionUpdate": "terminal_update", "terminalId": "t", "output": {"data": "Yg=="}, "command": "ls"},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "Yw=="},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "no base64"},
        {"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 3}},
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [entry]}},
        {"sessionUpdate": "plan_update", "plan": {"type": "_map", "planId": "m", "x": 1}},
        {"sessionUpdate": "_tide", "metres": 2},
        {"sessionUpdate": "state_update", "state": "_low", "x": 1},
    )
    found = seen.tool_calls["c"]
    content: Any = found.current.content
    assert (found.title, found.current.kind, found.current.raw_input, len(content)) == ("T", None, {"a": 1}, 2)
    assert found.can_cancel and not seen.terminals["t"].can_cancel
    terminal = seen.terminals["t"]
    status = terminal.exit_status
    assert (terminal.text, terminal.command, status.exit_code if status else 0) == ("bc", "ls", 3)
    assert (set(seen.plans), seen.unknown, seen.malformed, seen.state) == ({"p", "m"}, 1, 1, "_low")
    assert [step.content for step in seen.plan] == ["a"]


def test_cancelled_calls_are_marked_until_the_agent_says_more() -> None:
    transcript = fed(call("done", status="completed"), call("open"), call("late", status="in_progress"))
    transcript.mark_cancelled()

    def marks() -> dict[str, bool]:
        return {name: one.is_cancelled for name, one in transcript.tool_calls.items()}

    assert marks() == {"done": False, "open": True, "late": True}
    transcript.apply(v2.SessionToolCallUpdate(tool_call_id="late", status="failed"))
    assert marks() == {"done": False, "open": True, "late": False}
    transcript.apply(v2.CancelledStopReason())  # `failed` is all that an agent of v1 can say of it
    assert marks() == {"done": False, "open": True, "late": True}


def test_modes_are_the_option_of_their_category() -> None:
    option = {"configId": "m", "name": "Mode", "category": "mode", "type": "select", "currentValue": "b"}
    grouped = [{"groupId": "g", "name": "G", "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]}]
    transcript = fed({"sessionUpdate": "config_option_update", "configOptions": [{**option, "options": grouped}]})
    assert (transcript.modes, transcript.current_mode) == ((Mode("a", "A"), Mode("b", "B")), "b")
    assert (Transcript().modes, Transcript().current_mode) == ((), None)


def test_all_else_is_what_was_reported_last() -> None:
    command = {"type": "command", "name": "c", "description": ""}
    transcript = fed(
        {"sessionUpdate": "available_commands_update", "availableCommands": [command]},
        {"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "2026-01-01T00:00:00Z"},
        {"sessionUpdate": "session_info_update", "updatedAt": None},
        {"sessionUpdate": "usage_update", "used": 1, "size": 2},
    )
    assert transcript.commands[0].name == "c"
    assert (transcript.title, transcript.updated_at) == ("T", None)
    assert transcript.usage is not None
    assert (transcript.usage.used, transcript.unknown) == (1, 0)


def test_a_compaction_is_one_entry() -> None:
    transcript = fed(
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"},
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": text("s")},
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"},
    )
    entry = transcript.entries[0]
    assert isinstance(entry, Compaction)
    assert (entry.status, len(entry.summary), len(transcript.entries)) == ("completed", 1, 1)


def test_the_fork_of_a_session_at_work_does_not_work() -> None:
    background = [{"type": "tool_call", "toolCallId": "c"}]
    offered: dict[str, Any] = {"cancel": {}}
    source = fed(
        call("c", title="Look", status="in_progress", capabilities=offered),
        {"sessionUpdate": "terminal_update", "terminalId": "t", "capabilities": offered},
        {"sessionUpdate": "state_update", "state": "running", "background": background},
    )
    fork = source.fork()
    assert (fork.state, fork.background, fork.tool_calls["c"].is_cancelled) == ("idle", None, True)
    assert not (fork.tool_calls["c"].can_cancel or fork.terminals["t"].can_cancel)
    assert source.state == "running"
    assert source.background
    assert source.tool_calls["c"].can_cancel
    assert source.terminals["t"].can_cancel


def test_what_has_ended_cannot_be_cancelled() -> None:
    offered: dict[str, Any] = {"capabilities": {"cancel": {}}}
    transcript = fed(
        call("c", status="in_progress", **offered),
        call("d", status="completed", **offered),
        {"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 0}, **offered},
    )
    assert [one.can_cancel for one in transcript.tool_calls.values()] == [True, False]
    assert not transcript.terminals["t"].can_cancel
    transcript.mark_cancelled()
    assert not transcript.tool_calls["c"].can_cancel


def test_updates_of_a_fork_change_no_entry_that_it_has_copied() -> None:
    begun: list[dict[str, Any]] = [
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"},
        call("c", title="Old"),
        chunk("agent_message", "old", "m"),
    ]
    fork = fed(*begun).fork()
    for update in (
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"},
        call("c", title="New"),
        chunk("agent_message", "new", "m"),
    ):
        fork.apply(v2.decode_as(v2.SessionUpdate, update))
    old, new = fork.entries[:3], fork.entries[3:]
    assert [getattr(entry, "status", None) for entry in (old[0], new[0])] == ["in_progress", "completed"]
    assert [getattr(entry, "title", None) for entry in (old[1], new[1])] == ["Old", "New"]
    assert [getattr(entry, "text", None) for entry in (old[2], new[2])] == ["old", "new"]


def test_a_fork_begins_with_what_was_there_and_changes_none_of_it() -> None:
    before = fed(chunk("agent_message", "a", "1"), call("c", status="completed"))
    after = before.fork()
    after.apply(v2.AgentMessageChunk(message_id="1", content=v2.TextContent(text="b")))
    after.apply(v2.SessionToolCallUpdate(tool_call_id="c", status="failed"))
    assert [one.text for one in before.messages] == ["a"]
    assert [one.text for one in after.messages] == ["a", "b"]
    assert [one.status for one in after.entries if isinstance(one, ToolCallState)] == ["completed", "failed"]


@pytest.mark.parametrize("kind", ["message", "call"])
def test_a_transcript_is_bounded_and_says_what_went(kind: str) -> None:
    updates = [
        chunk("agent_message", "x" * 100, str(number)) if kind == "message" else call(str(number), title="x" * 100)
        for number in range(50)
    ]
    transcript = fed(*updates, max_size=2000)
    assert transcript.dropped == 50 - len(transcript.entries) > 20
    assert len(transcript.tool_calls) == (0 if kind == "message" else len(transcript.entries))
    last = transcript.entries[-1]
    assert (last.message_id if isinstance(last, Message) else last.id) == "49"  # type: ignore[union-attr]
    assert len(transcript.fork().entries) == len(transcript.entries)


def test_one_long_message_is_bounded_too() -> None:
    transcript = fed(*(chunk("agent_message", "x" * 100, "m") for _ in range(30)), max_size=1000)
    assert (len(transcript.messages[0].text), transcript.dropped) == (600, 24)


def output(number: int) -> dict[str, Any]:
    data = base64.b64encode(b"x" * 100).decode()
    return {"sessionUpdate": "terminal_output_chunk", "terminalId": f"t{number}", "data": data}


def plan(number: int) -> dict[str, Any]:
    steps = [{"content": "x" * 100, "priority": "low", "status": "pending"}]
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": f"p{number}", "entries": steps}}


def test_terminals_plans_and_empty_messages_are_within_the_same_limit() -> None:
    messages = [{"sessionUpdate": "agent_message", "messageId": f"m{number}"} for number in range(200)]
    whole = [one(number) for number in range(100) for one in (output, plan)]
    transcript = fed(*messages, *whole, output(99), max_size=4000)
    assert 0 < len(transcript.terminals) + len(transcript.plans) < 40
    assert (len(transcript.terminals["t99"].output), "p99" in transcript.plans) == (200, True)
    assert len(transcript.entries) < 64
    assert transcript.dropped > 300


def test_a_lone_tool_call_is_bounded() -> None:
    piece = {"type": "content", "content": {"type": "text", "text": "x" * 100}}
    grown = {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": piece}
    transcript = fed(*(grown for _ in range(50)), max_size=2000)
    content = transcript.tool_calls["c"].current.content
    assert isinstance(content, list)
    assert 0 < len(content) < 20
