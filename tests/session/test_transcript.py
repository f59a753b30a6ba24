"""The state of a session, from its updates."""

from __future__ import annotations

import json
from typing import Any

import pytest
from acp_bindings import v1

from acp_session.transcript import Call, Compaction, Message, Transcript


def fed(*updates: dict[str, Any], **named: Any) -> Transcript:
    """A transcript of updates as they stand on the wire."""
    transcript = Transcript(**named)
    for update in updates:
        params = {"sessionId": "s", "update": update}
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})
        message: Any = v1.decode(line, sender="agent")
        transcript.apply(message.params.update)
    return transcript


def said(kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"sessionUpdate": f"{kind}_chunk", "content": {"type": "text", "text": text}, **more}


def test_pieces_make_messages_and_other_entries_end_them() -> None:
    transcript = fed(
        said("user_message", "a"),
        said("user_message", "b"),
        said("agent_thought", "c"),
        said("agent_message", "d"),
        {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"},
        said("agent_message", "e"),
        {"sessionUpdate": "plan", "entries": []},
        said("agent_message", "f"),
    )
    found = [(one.speaker, one.text) if isinstance(one, Message) else type(one) for one in transcript.entries]
    assert found == [("user", "ab"), ("thought", "c"), ("agent", "d"), Call, ("agent", "ef")]


def test_pieces_with_an_id_find_their_message() -> None:
    transcript = fed(
        said("agent_message", "a", messageId="1"),
        said("agent_message", "x", messageId="2"),
        said("agent_message", "b", messageId="1"),
        said("agent_message", "n"),
        said("agent_thought", "t", messageId="1"),
        said("agent_message", "m"),
    )
    assert [(one.message_id, one.text) for one in transcript.messages] == [
        *(("1", "ab"), ("2", "x"), (None, "n"), ("1", "t"), (None, "m"))
    ]


def test_a_tool_call_changes_by_what_has_a_value() -> None:
    transcript = fed(
        {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T", "kind": "read", "rawInput": {"a": 1}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress", "title": None},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "locations": [{"path": "/a"}]},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "locations": [], "status": "completed"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "u", "title": "new"},
    )
    call = transcript.calls["t"].now
    assert (call.title, call.kind, call.status, call.raw_input, call.locations) == (
        "T",
        "read",
        "completed",
        {"a": 1},
        [],
    )
    assert transcript.calls["u"].now.title == "new"
    assert len(transcript.entries) == 2


def test_cancelled_calls_are_marked_until_the_agent_says_more() -> None:
    transcript = fed(
        {"sessionUpdate": "tool_call", "toolCallId": "done", "title": "", "status": "completed"},
        {"sessionUpdate": "tool_call", "toolCallId": "open", "title": ""},
        {"sessionUpdate": "tool_call", "toolCallId": "late", "title": "", "status": "in_progress"},
    )
    assert transcript.cancel() == ("open", "late")
    transcript.changed(v1.ToolCallUpdate(tool_call_id="late", status="failed"))
    assert {name: one.is_cancelled for name, one in transcript.calls.items()} == {
        "done": False,
        "open": True,
        "late": False,
    }


def test_all_else_is_what_was_said_last() -> None:
    transcript = fed(
        {"sessionUpdate": "plan", "entries": [{"content": "a", "priority": "high", "status": "pending"}]},
        {"sessionUpdate": "plan", "entries": [{"content": "b", "priority": "high", "status": "pending"}]},
        {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
        {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "c", "description": ""}]},
        {"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "2026-01-01T00:00:00Z"},
        {"sessionUpdate": "session_info_update", "updatedAt": None},
        {"sessionUpdate": "usage_update", "used": 1, "size": 2},
        {"sessionUpdate": "_tide", "level": 3},
    )
    assert [one.content for one in transcript.plan] == ["b"]
    assert (transcript.current_mode, transcript.commands[0].name) == ("ask", "c")
    assert (transcript.title, transcript.updated_at) == ("T", None)
    assert transcript.usage is not None
    assert (transcript.usage.used, transcript.unknown) == (1, 1)


def test_a_compaction_is_one_entry() -> None:
    transcript = fed(
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"},
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": {"type": "text", "text": "s"}},
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"},
    )
    entry = transcript.entries[0]
    assert isinstance(entry, Compaction)
    assert (entry.status, len(entry.summary), len(transcript.entries)) == ("completed", 1, 1)


@pytest.mark.parametrize("kind", ["message", "call"])
def test_a_transcript_is_bounded_and_says_what_went(kind: str) -> None:
    updates = [
        said("agent_message", "x" * 100, messageId=str(number))
        if kind == "message"
        else {"sessionUpdate": "tool_call", "toolCallId": str(number), "title": "x" * 100}
        for number in range(50)
    ]
    transcript = fed(*updates, most=2000)
    assert transcript.dropped == 50 - len(transcript.entries) > 20
    assert len(transcript.calls) == (0 if kind == "message" else len(transcript.entries))
    last = transcript.entries[-1]
    assert (last.message_id if isinstance(last, Message) else last.now.tool_call_id) == "49"  # type: ignore[union-attr]


def test_one_long_message_is_bounded_too() -> None:
    transcript = fed(*(said("agent_message", "x" * 100) for _ in range(30)), most=1000)
    assert (len(transcript.messages[0].text), transcript.dropped) == (600, 24)
