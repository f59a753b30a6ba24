"""The differences between v1 and v2 as data: `TABLE` by names of the schema's definitions, and `METHODS`.

Everything else is the same.

A test compares the tables with both schemas: every difference must be listed.

Sources: the schemas of both versions; the migration page of v2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acp_bindings import v1

from acp_session.arguments import list_values

from .walker import Flag, Object, Row, Union, Values

_TOOL_CALL: Final = {
    "content": "ToolCallContent",
    "locations": "ToolCallLocation",
    "kind": "ToolKind",
    "status": "ToolCallStatus",
}
_CANCEL: Final = {"capabilities": "in v1 a client cannot cancel one tool call"}
_SETUP: Final = Object(fields={"mcpServers": "McpServer"}, v1_needs={"mcpServers": []})
_ANSWER: Final = Object(code=frozenset({"modes", "configOptions", "availableCommands"}))
_CHUNK: Final = Object(fields={"content": "ContentBlock"}, code=frozenset({"messageId"}))
_CONFIG_OPTION: Final = Object(rename={"id": "configId"}, fields={"options": "SessionConfigSelectGroup"})

CONTENT_BLOCK: Final = Union(
    rows={
        "text": "TextContent",
        "image": "ImageContent",
        "audio": "AudioContent",
        "resource_link": "ResourceLink",
        "resource": "EmbeddedResource",
    }
)
OPTION_KIND: Final = Values(v1_values=list_values(v1.PermissionOptionKind))
SESSION_UPDATE: Final = Union(
    tag="sessionUpdate",
    rows={
        **dict.fromkeys(("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"), "ContentChunk"),
        "tool_call_update": "ToolCallUpdate",
        "available_commands_update": "AvailableCommandsUpdate",
        "config_option_update": "ConfigOptionUpdate",
        "compaction_update": "CompactionUpdate",
        "compaction_summary_chunk": "CompactionSummaryChunk",
        **dict.fromkeys(("session_info_update", "usage_update", "notice"), ""),
    },
    only_v1=frozenset({"tool_call", "plan", "current_mode_update"}),
    only_v2=frozenset(
        {
            *("user_message", "agent_message", "agent_thought", "state_update", "tool_call_content_chunk"),
            *("terminal_update", "terminal_output_chunk", "plan_update"),
        }
    ),
    lost="v1 has no such update",
)
PROMPT_WORDS: Final = ("title", "description", "subject")
"""The fields of a permission request that only v2 has."""
OPENING_ANSWERS: Final = ("NewSessionResponse", "LoadSessionResponse", "ForkSessionResponse", "ResumeSessionResponse")
"""The results that open a session."""

TABLE: Final[Mapping[str, Row]] = {
    # content
    "ContentBlock": CONTENT_BLOCK,
    **dict.fromkeys(
        ("TextContent", "ImageContent", "AudioContent", "EmbeddedResource"),
        Object(fields={"annotations": "Annotations"}),
    ),
    "ResourceLink": Object(fields={"annotations": "Annotations"}, only_v2={"icons": "a link of v1 has no icons"}),
    "Annotations": Object(fields={"audience": "Role"}),
    "Role": Values(v1_values=list_values(v1.Role)),
    # tool calls
    "ToolCall": Object(fields=_TOOL_CALL, only_v2=_CANCEL, code=frozenset({"title"})),
    "ToolCallUpdate": Object(fields=_TOOL_CALL, only_v2=_CANCEL),
    "ToolCallContent": Union(rows={"content": "Content", "diff": "Diff", "terminal": "Terminal"}),
    "Content": Object(fields={"content": "ContentBlock"}),
    "Diff": Object(code=frozenset({"path", "oldText", "newText", "changes", "patch"})),
    "ToolKind": Values(v1_values=list_values(v1.ToolKind), fallback="other"),
    "ToolCallStatus": Values(
        v1_values=list_values(v1.ToolCallStatus),
        nearest={"paused": "in_progress", "cancelled": "failed"},
        fallback="in_progress",
    ),
    # plans
    "PlanEntry": Object(fields={"priority": "PlanEntryPriority", "status": "PlanEntryStatus"}),
    "PlanEntryPriority": Values(v1_values=list_values(v1.PlanEntryPriority), fallback="medium"),
    "PlanEntryStatus": Values(
        v1_values=list_values(v1.PlanEntryStatus), nearest={"cancelled": "completed"}, fallback="pending"
    ),
    # options and commands
    "SessionConfigOption": Union(
        rows={"select": "SessionConfigSelect", "boolean": "SessionConfigBoolean"}, lost="v1 has no option of this type"
    ),
    "SessionConfigSelect": _CONFIG_OPTION,
    "SessionConfigBoolean": Object(rename=_CONFIG_OPTION.rename),
    "SessionConfigSelectGroup": Object(rename={"group": "groupId"}),
    "AvailableCommand": Union(rows={"command": "Command"}, default="command", lost="v1 has no command of this type"),
    "Command": Object(fields={"input": "AvailableCommandInput"}),
    "AvailableCommandInput": Union(
        rows={"text": "TextCommandInput"}, default="text", lost="v1 has no input of this type"
    ),
    # sessions
    **dict.fromkeys(("NewSessionRequest", "LoadSessionRequest", "ForkSessionRequest"), _SETUP),
    "ResumeSessionRequest": Object(
        fields=_SETUP.fields,
        v1_needs=_SETUP.v1_needs,
        only_v2={"replayFrom": "in v1 `session/load` plays a session back"},
    ),
    **dict.fromkeys(OPENING_ANSWERS, _ANSWER),
    "McpServer": Union(
        rows={"stdio": "McpServerStdio", "http": "McpServerHttp"}, default="stdio", only_v1=frozenset({"sse"})
    ),
    "McpServerStdio": Object(v1_needs={"args": [], "env": []}),
    "McpServerHttp": Object(v1_needs={"headers": []}),
    "PromptRequest": Object(fields={"prompt": "ContentBlock"}),
    "PromptResponse": Object(code=frozenset({"stopReason", "messageId"})),
    "PermissionOption": Object(fields={"kind": "PermissionOptionKind"}),
    "PermissionOptionKind": OPTION_KIND,
    "RequestPermissionRequest": Object(
        fields={"options": "PermissionOption"}, code=frozenset({"toolCall", *PROMPT_WORDS})
    ),
    "RequestPermissionResponse": Object(fields={"outcome": "RequestPermissionOutcome"}),
    "RequestPermissionOutcome": Union(tag="outcome", rows={"selected": "", "cancelled": ""}),
    "CancelledPermissionOutcome": Object(only_v2={"_meta": ""}, code=frozenset({"outcome"})),
    "SetSessionConfigOptionRequest": Union(rows={"boolean": ""}, only_v2=frozenset({"id"})),
    # the handshake
    "InitializeRequest": Object(
        rename={"clientInfo": "info", "clientCapabilities": "capabilities"},
        fields={"clientInfo": "Implementation", "clientCapabilities": "ClientCapabilities"},
    ),
    "InitializeResponse": Object(
        rename={"agentInfo": "info", "agentCapabilities": "capabilities"},
        fields={"agentInfo": "Implementation", "agentCapabilities": "AgentCapabilities", "authMethods": "AuthMethod"},
    ),
    "ClientCapabilities": Object(
        fields={"auth": "AuthCapabilities"},
        only_v1={
            "fs": "an agent of v2 does not use the files of the client",
            "terminal": "an agent of v2 does not use terminals of the client",
            "session": "",
        },
        v1_needs={
            "auth": {"terminal": False},
            "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        },
    ),
    "AuthCapabilities": Object(fields={"terminal": "Flag"}, v1_needs={"terminal": False}),
    "AgentCapabilities": Object(
        fields={"auth": "AgentAuthCapabilities"},
        code=frozenset({"loadSession", "promptCapabilities", "mcpCapabilities", "sessionCapabilities", "session"}),
        v1_needs={"auth": {}},
    ),
    "SessionCapabilities": Object(
        only_v1=dict.fromkeys(("close", "list", "resume"), ""),
        v1_needs={"close": {}, "list": {}, "resume": {}},
        code=frozenset({"mcp", "prompt"}),
    ),
    "PromptCapabilities": Object(
        fields=dict.fromkeys(("image", "audio", "embeddedContext"), "Flag"),
        v1_needs=dict.fromkeys(("image", "audio", "embeddedContext"), False),
    ),
    "McpCapabilities": Object(
        fields={"http": "Flag"},
        only_v1={"sse": "v2 has no MCP servers over SSE"},
        v1_needs={"http": False, "sse": False},
        v2_needs={"stdio": {}},
        code=frozenset({"stdio"}),
    ),
    "AgentAuthCapabilities": Object(only_v1={"logout": ""}),
    "Flag": Flag(),
    "AuthMethod": Union(
        rows={"agent": "AuthMethodAgent", "terminal": "AuthMethodTerminal"},
        default="agent",
        lost="v1 has no authentication method of this type",
    ),
    "AuthMethodAgent": Object(rename={"id": "methodId"}),
    "AuthMethodTerminal": Object(rename={"id": "methodId"}),
    # updates
    "SessionUpdate": SESSION_UPDATE,
    "ContentChunk": _CHUNK,
    "AvailableCommandsUpdate": Object(fields={"availableCommands": "AvailableCommand"}),
    "ConfigOptionUpdate": Object(code=frozenset({"configOptions"})),
    "CompactionUpdate": Object(fields={"summary": "ContentBlock"}),
    "CompactionSummaryChunk": Object(fields={"content": "ContentBlock"}),
    "SessionUpdatePlan": Object(fields={"entries": "PlanEntry"}),
}

METHODS: Final[Mapping[str, str]] = {"authenticate": "auth/login", "logout": "auth/logout"}
"""Methods of v1 that have another name in v2."""
