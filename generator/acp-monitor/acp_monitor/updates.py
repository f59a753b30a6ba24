"""The subjects of session updates: messages, tool calls, content and background work."""

from __future__ import annotations

from typing import Any, Final

from .bounded import make_key
from .json_values import get_text, show

MESSAGES: Final = frozenset(
    {
        *("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"),
        *("user_message", "agent_message", "agent_thought"),
    }
)
USER_MESSAGES: Final = frozenset({"user_message_chunk", "user_message"})
TOOL_CALLS: Final = frozenset({"tool_call", "tool_call_update", "tool_call_content_chunk"})
HISTORY: Final = MESSAGES | TOOL_CALLS | {"plan", "plan_update"}

OPEN_STATUSES: Final = frozenset({"pending", "in_progress", "paused"})
"""Statuses of tool calls that have not ended."""

BUSY: Final = frozenset({"running", "requires_action"})
"""States with work in the foreground."""

ENCODED: Final = {"image": "data", "audio": "data", "resource": "blob"}
"""Kinds of content with base64 text, with the field that holds it."""

OUTPUTS: Final = ("terminal_output_chunk", "terminal_update")
"""Updates that hold base64 text themselves."""

CONTENT_TYPES: Final = frozenset({*ENCODED, "resource_link", "diff"})
"""The types of objects that the rules on content look at."""

_BACKGROUND: Final = {"terminal": "terminalId", "tool_call": "toolCallId"}
"""The fields that identify background work, by its type."""


def make_update_key(update: Any) -> str | None:
    """The key of the message or tool call that an update is about; `None` for other updates."""
    kind = get_text(update, "sessionUpdate")
    if kind in MESSAGES:
        name = get_text(update, "messageId")
        return None if name is None else f"message {make_key(name)}"
    if kind in TOOL_CALLS:
        name = get_text(update, "toolCallId")
        return None if name is None else f"tool call {make_key(name)}"
    return None


def make_background_key(entry: Any) -> str | None:
    """The key of a terminal or tool call in a list of background work; `None` for other kinds of work."""
    field = _BACKGROUND.get(get_text(entry, "type") or "")
    name = get_text(entry, field) if field is not None else None
    return None if name is None else f"{field} {make_key(name)}"


def describe_background(entry: Any) -> str:
    """Such work in a sentence."""
    kind = "terminal" if get_text(entry, "type") == "terminal" else "tool_call"
    return f"the {kind.replace('_', ' ')} {show(get_text(entry, _BACKGROUND[kind]))}"
