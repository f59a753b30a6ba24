"""What the updates of a session are about: messages, tool calls, and work in the background."""

from __future__ import annotations

from typing import Any, Final

from .bounded import key
from .json_values import shown, text

MESSAGES: Final = frozenset(
    {
        *("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"),
        *("user_message", "agent_message", "agent_thought"),
    }
)
CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk"})
USER_MESSAGES: Final = frozenset({"user_message_chunk", "user_message"})
TOOL_CALLS: Final = frozenset({"tool_call", "tool_call_update", "tool_call_content_chunk"})
HISTORY: Final = MESSAGES | TOOL_CALLS | {"plan", "plan_update"}

OPEN_STATUSES: Final = frozenset({"pending", "in_progress", "paused"})
"""Statuses of tool calls that are not their end."""

BUSY: Final = frozenset({"running", "requires_action"})
"""States in which there is work in the foreground."""

_BACKGROUND: Final = {"terminal": "terminalId", "tool_call": "toolCallId"}
"""The fields that name work in the background, by its type."""


def update_key(update: Any) -> str | None:
    """The key of the message or tool call that an update is about; `None` for other updates."""
    kind = text(update, "sessionUpdate")
    if kind in MESSAGES:
        name = text(update, "messageId")
        return None if name is None else f"message {key(name)}"
    if kind in TOOL_CALLS:
        name = text(update, "toolCallId")
        return None if name is None else f"tool call {key(name)}"
    return None


def background_key(listed: Any) -> str | None:
    """The key of a terminal or tool call that a list of work in the background names; `None` for work of another kind."""
    field = _BACKGROUND.get(text(listed, "type") or "")
    name = text(listed, field) if field is not None else None
    return None if name is None else f"{field} {key(name)}"


def background_name(listed: Any) -> str:
    """Such work in a sentence."""
    kind = "terminal" if text(listed, "type") == "terminal" else "tool_call"
    return f"the {kind.replace('_', ' ')} {shown(text(listed, _BACKGROUND[kind]))}"
