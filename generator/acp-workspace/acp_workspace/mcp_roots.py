"""MCP roots: which directories and files a client tells its servers about, and what a server makes of them.

For bridges and for clients of both protocols. MCP has deprecated roots from its revision 2026-07-28 on: new programs pass directories to
a server as arguments of a tool or in its settings instead. Needs `mcp-bindings`.

`RootsProvider` is the client's half, `RootsCache` the server's, `from_workspace` maps the roots of an ACP session. Types are those of
`mcp_bindings.roots`; connections stay yours: both are given functions that send.

Source: MCP, "Roots", revisions 2025-06-18, 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

from importlib import import_module

try:
    import_module("mcp_bindings")
except ModuleNotFoundError as missing:
    raise ImportError(
        "MCP roots need the bindings: install 'mcp-bindings', in a clone from generated/python/mcp-bindings"
    ) from missing

from .mcp_cache import INPUT_REQUEST, RootsCache, RootsUnsupported, ServerRoots, bound
from .mcp_provider import (
    CAPABILITIES,
    LIST,
    LIST_CHANGED,
    Consent,
    Exposed,
    Revision,
    RootsProvider,
    client_capabilities,
    from_workspace,
)
from .mcp_uris import path_of, uri_of

__all__ = [
    "CAPABILITIES",
    "INPUT_REQUEST",
    "LIST",
    "LIST_CHANGED",
    "Consent",
    "Exposed",
    "Revision",
    "RootsCache",
    "RootsProvider",
    "RootsUnsupported",
    "ServerRoots",
    "bound",
    "client_capabilities",
    "from_workspace",
    "path_of",
    "uri_of",
]
