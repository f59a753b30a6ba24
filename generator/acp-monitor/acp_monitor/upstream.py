"""What the schemas that upstream publishes as unstable have, or had, beyond those of this project: names alone.

`tests/monitor/test_upstream.py` holds them against upstream's newest files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_COMMON: Final[Mapping[str, frozenset[str]]] = {
    "AgentAuthCapabilities": frozenset({"status"}),
    "AgentCapabilities": frozenset({"nes", "positionEncoding", "providers"}),
    "ForkSessionRequest": frozenset({"systemPrompt"}),
    "ListSessionsRequest": frozenset({"archived"}),
    "McpCapabilities": frozenset({"acp"}),
    "NewSessionRequest": frozenset({"systemPrompt"}),
    "ResumeSessionRequest": frozenset({"systemPrompt"}),
    "SessionCapabilities": frozenset({"archive", "status", "systemPrompt", "title"}),
    "SessionInfo": frozenset({"archived"}),
}

UNSTABLE_FIELDS: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "acp/v1": {
        **_COMMON,
        "ClientCapabilities": frozenset({"nes", "plan", "planCapabilities", "positionEncodings", "subagents"}),
        "ForkSessionResponse": frozenset({"models"}),
        "LoadSessionRequest": frozenset({"systemPrompt"}),
        "LoadSessionResponse": frozenset({"models"}),
        "NewSessionResponse": frozenset({"models"}),
        "PromptRequest": frozenset({"messageId"}),
        "PromptResponse": frozenset({"usage", "userMessageId"}),
        "ResumeSessionResponse": frozenset({"models"}),
        "SessionCapabilities": _COMMON["SessionCapabilities"] | {"stop"},
    },
    "acp/v2": {
        **_COMMON,
        "ClientCapabilities": frozenset({"nes", "positionEncodings"}),
        "IdleStateUpdate": frozenset({"usage"}),
    },
}
"""By protocol and definition the fields."""

_METHODS: Final = frozenset(
    {
        *("auth/status", "auth/status_update", "mcp/connect", "mcp/disconnect", "mcp/message"),
        *("document/didChange", "document/didClose", "document/didFocus", "document/didOpen", "document/didSave"),
        *("nes/accept", "nes/close", "nes/reject", "nes/start", "nes/suggest"),
        *("providers/disable", "providers/list", "providers/set", "proxy/initialize", "proxy/successor"),
        *("session/archive", "session/set_title", "session/status", "session/unarchive"),
    }
)

UNSTABLE_METHODS: Final[Mapping[str, frozenset[str]]] = {
    "acp/v1": _METHODS | {"session/elicitation", "session/elicitation/complete", "session/set_model", "session/stop"},
    "acp/v2": _METHODS,
}
"""By protocol the methods."""
