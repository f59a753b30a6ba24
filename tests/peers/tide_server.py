"""A server of MCP on the generated package `answering_wire`: one tool. Started by a test."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any, Final

mcp: Final[Any] = importlib.import_module("answering_wire.v1")
peers: Final[Any] = importlib.import_module("answering_wire.v1.peers")


class Server(peers.Server):  # type: ignore[misc]
    async def initialize(self, params: Any, /) -> Any:
        hello: Any = {
            "protocolVersion": params.protocol_version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tide", "version": "1"},
        }
        return mcp.decode_as("InitializeResult", hello)

    async def tools_list(self, _: Any, /) -> Any:
        place = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
        return mcp.decode_as("ListToolsResult", {"tools": [{"name": "level", "inputSchema": place}]})

    async def tools_call(self, params: Any, /) -> Any:
        text = f"low at {params.arguments['place']}"
        return mcp.decode_as("CallToolResult", {"content": [{"type": "text", "text": text}]})


if __name__ == "__main__":
    asyncio.run(peers.run_server(Server()))
