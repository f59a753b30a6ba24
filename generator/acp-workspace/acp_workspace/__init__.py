"""The workspace of an agent: roots, files that cannot leave them, terminals, MCP roots.

Import the module you need: `acp_workspace.workspace` (workspace roots), `acp_workspace.filesystem` (the file-system capability),
`acp_workspace.terminals` (commands), `acp_workspace.mcp_roots` (MCP roots), `acp_workspace.containment` (access that cannot leave a
directory, and what this platform guarantees).
"""
