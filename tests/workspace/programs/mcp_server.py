"""A server made with the package `mcp`: its one tool tells which roots the client has, and how often they were said to change."""

from __future__ import annotations

import asyncio
import importlib
import json
import warnings
from typing import Any

types: Any = importlib.import_module("mcp_types")
lowlevel: Any = importlib.import_module("mcp.server")
stdio: Any = importlib.import_module("mcp.server.stdio")

warnings.simplefilter("ignore")  # roots are deprecated there, and that is what is tested
changes = 0


async def list_tools(context: Any, params: Any) -> Any:
    return types.ListToolsResult(tools=[types.Tool(name="roots", input_schema={"type": "object"})])


async def call_tool(context: Any, params: Any) -> Any:
    try:
        found = await context.session.list_roots()
        told: Any = [[str(root.uri), root.name] for root in found.roots]
    except Exception as error:  # noqa: BLE001 - told to the test, whatever it is
        told = {"code": getattr(getattr(error, "error", None), "code", None), "message": str(error)}
    text = json.dumps({"roots": told, "changes": changes})
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def roots_changed(context: Any, params: Any) -> None:
    global changes
    changes += 1


async def main() -> None:
    server = lowlevel.Server(
        "roots", on_list_tools=list_tools, on_call_tool=call_tool, on_roots_list_changed=roots_changed
    )
    async with stdio.stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


asyncio.run(main())
