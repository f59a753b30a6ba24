"""The run-time half of ACP: what no type can hold.

Import the module you need: `acp_session.workspace` (workspace roots), `acp_session.filesystem` (the file-system capability),
`acp_session.permission` (permission requests, and their mapping between v1 and v2), `acp_session.mcp_roots` (MCP roots),
`acp_session.containment` (access that cannot leave a directory, and what this platform guarantees), `acp_session.monitor`
(the rules of a conversation).
"""
