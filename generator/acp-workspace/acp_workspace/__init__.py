"""The workspace of an agent: roots, files confined to them, terminals, MCP roots.

Import the module you need: `acp_workspace.workspace` (workspace roots), `acp_workspace.filesystem` (the file-system capability),
`acp_workspace.terminals` (commands), `acp_workspace.mcp_roots` (MCP roots), `acp_workspace.containment` (access confined to a directory,
and what this platform guarantees).
"""
