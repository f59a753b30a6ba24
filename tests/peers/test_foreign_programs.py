"""Peers from `acpgen generate` alone talk to programs that others ship: debugpy, Pyright's language server, the Python SDK of MCP."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

import evidence
from acpgen.methods.profile import read_built_in
from methods.made import documents, package
from peers.harbour import run

HERE: Final = Path(__file__).parent
MCP_SERVER: Final = HERE.parent / "workspace" / "programs" / "mcp_server.py"
OUR_SERVER: Final = HERE / "tide_server.py"


def peers_of(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__}.peers")


def runtime_of(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__.partition('.')[0]}.runtime")


def run_with_a_process(test: Callable[[], Awaitable[object]]) -> None:
    """`run`, once the event loop has what it keeps open for processes."""

    async def first() -> None:
        await (await asyncio.create_subprocess_exec(sys.executable, "-c", "")).wait()

    asyncio.run(first())
    run(test, 120)


# --- the Language Server Protocol: JSON-RPC, headers -----------------------------------------------------------------


def message(method: str, side: str, **properties: Any) -> dict[str, Any]:
    return {**structure(**properties), "x-method": method, "x-side": side}


def structure(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


TEXT: Final = {"type": "string"}
WHOLE: Final = {"type": "integer"}
ANY_OBJECT: Final = {"type": "object"}
LSP: Final[dict[str, Any]] = {
    "$defs": {
        "InitializeRequest": message("initialize", "server", capabilities=ANY_OBJECT),
        "InitializeResponse": message("initialize", "server", capabilities=ANY_OBJECT),
        "ShutdownRequest": message("shutdown", "server"),
        "ShutdownResponse": {"type": "null", "x-method": "shutdown", "x-side": "server"},
        "InitializedNotification": message("initialized", "server"),
        "ExitNotification": message("exit", "server"),
        "Document": structure(uri=TEXT, languageId=TEXT, version=WHOLE, text=TEXT),
        "DidOpenNotification": message("textDocument/didOpen", "server", textDocument={"$ref": "#/$defs/Document"}),
        "LogNotification": message("window/logMessage", "client", type=WHOLE, message=TEXT),
        "Diagnostic": structure(message=TEXT),
        "DiagnosticsNotification": message(
            "textDocument/publishDiagnostics",
            "client",
            uri=TEXT,
            diagnostics={"type": "array", "items": {"$ref": "#/$defs/Diagnostic"}},
        ),
    }
}


def test_a_client_with_headers_talks_to_a_language_server(tmp_path: Path) -> None:
    server = shutil.which("pyright-langserver", path=str(Path(sys.executable).parent))
    if server is None:
        evidence.lack("pyright is not installed beside this Python: the extra dev has it")
    lsp = package(documents(LSP), "editor_wire", tmp_path, read_built_in("lsp"))
    peers: Any = peers_of(lsp)
    (tmp_path / "pyrightconfig.json").write_text("{}")
    file = tmp_path / "tide.py"
    file.write_text("")

    async def test() -> None:
        found: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        class Editor(peers.Client):  # type: ignore[misc]
            async def text_document_publish_diagnostics(self, params: Any, /) -> None:
                if params.diagnostics and not found.done():
                    found.set_result(params.diagnostics[0].message)

        async with peers.spawn_server([server, "--stdio"], Editor(), cwd=tmp_path, timeout=100, grace=10) as calls:
            hello = lsp.InitializeRequest(capabilities={}, extra={"processId": None, "rootUri": tmp_path.as_uri()})
            assert (await calls.initialize(hello)).capabilities is not None
            await calls.initialized(lsp.InitializedNotification())
            document = lsp.Document(uri=file.as_uri(), language_id="python", version=1, text="level: int = 'low'\n")
            await calls.text_document_did_open(lsp.DidOpenNotification(text_document=document))
            assert "is not assignable to declared type" in await found
            await calls.shutdown(lsp.ShutdownRequest())
            await calls.exit(lsp.ExitNotification())

    run_with_a_process(test)


# --- MCP: JSON-RPC, lines --------------------------------------------------------------------------------------------


def mcp_package(folder: Path, name: str) -> Any:
    evidence.need("upstream/mcp-2025-11-25/schema.json")
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        evidence.lack("the package mcp is not installed: the extra dev has it")
    schema = json.loads(evidence.path("upstream/mcp-2025-11-25/schema.json").read_text("utf-8"))
    return package(documents(schema), name, folder)


def test_a_client_of_mcp_talks_to_a_server_of_the_python_sdk_and_serves_it_roots(tmp_path: Path) -> None:
    mcp = mcp_package(tmp_path, "asking_wire")
    peers: Any = peers_of(mcp)

    class Client(peers.Client):  # type: ignore[misc]
        async def roots_list(self, _: Any, /) -> Any:
            return mcp.decode_as("ListRootsResult", {"roots": [{"uri": "file:///srv/tide", "name": "tide"}]})

    def params(method: str, value: Any) -> Any:
        return mcp.decode_as(mcp.METHODS[method].params, value)

    async def test() -> None:
        command = [sys.executable, str(MCP_SERVER)]
        async with peers.spawn_server(command, Client(), timeout=60) as server:
            hello: Any = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"roots": {}},
                "clientInfo": {"name": "tide", "version": "1"},
            }
            assert (await server.initialize(params("initialize", hello))).protocol_version == "2025-11-25"
            await server.notifications_initialized()
            tools = json.loads(mcp.encode(await server.tools_list()))["tools"]
            assert [tool["name"] for tool in tools] == ["roots"]
            found = await server.tools_call(params("tools/call", {"name": "roots"}))
            text = json.loads(mcp.encode(found))["content"][0]["text"]
            assert json.loads(text)["roots"] == [["file:///srv/tide", "tide"]]

    run_with_a_process(test)


def test_a_server_of_mcp_is_understood_by_the_client_of_the_python_sdk(tmp_path: Path) -> None:
    mcp_package(tmp_path, "answering_wire")
    stdio: Any = importlib.import_module("mcp.client.stdio")
    sdk: Any = importlib.import_module("mcp")
    paths = [str(tmp_path / "answering_wire"), str(HERE.parent)]

    async def talk() -> tuple[list[str], str]:
        server = sdk.StdioServerParameters(
            command=sys.executable, args=[str(OUR_SERVER)], env={"PYTHONPATH": os.pathsep.join(paths)}
        )
        async with stdio.stdio_client(server) as (reader, writer), sdk.ClientSession(reader, writer) as session:
            await session.initialize()
            tools = await session.list_tools()
            answer = await session.call_tool("level", {"place": "here"})
            return [tool.name for tool in tools.tools], answer.content[0].text

    assert asyncio.run(asyncio.wait_for(talk(), 60)) == (["level"], "low at here")


# --- OpenRPC ---------------------------------------------------------------------------------------------------------


def test_an_openrpc_document_has_peers_over_memory_and_websocket(tmp_path: Path) -> None:
    document = {
        "openrpc": "1.3.2",
        "info": {"title": "Tides", "version": "1"},
        "methods": [
            {
                "name": "level",
                "params": [{"name": "place", "required": True, "schema": {"type": "string"}}],
                "result": {"name": "level", "schema": {"$ref": "#/components/schemas/Level"}},
            }
        ],
        "components": {
            "schemas": {
                "Level": {"type": "object", "properties": {"metres": {"type": "number"}}, "required": ["metres"]}
            }
        },
    }
    tides = package(documents(document), "tides_wire", tmp_path)
    peers: Any = peers_of(tides)
    websocket = importlib.import_module("tides_wire.runtime.websocket")

    class Server(peers.Server):  # type: ignore[misc]
        async def level(self, params: Any, /) -> Any:
            return tides.Level(metres=float(len(params.place)))

    async def test() -> None:
        async with peers.join(peers.Client(), Server()) as (_, server):
            assert (await server.level(tides.decode_as("LevelParams", {"place": "here"}))).metres == 4
        async with websocket.serve(Server) as listener:
            link = await websocket.connect(listener.uri)
            async with peers.connect_server(peers.Client(), link) as server:
                assert (await server.level(tides.decode_as("LevelParams", {"place": "there"}))).metres == 5

    run(test)


def test_a_handler_answers_with_null_where_the_schema_says_so(tmp_path: Path) -> None:
    def method(name: str, schema: Any) -> dict[str, Any]:
        return {"name": name, "params": [], "result": {"name": "result", "schema": schema}}

    level = {"type": "object", "properties": {"metres": {"type": "number"}}}
    document = {
        "openrpc": "1.3.2",
        "info": {"title": "Tides", "version": "1"},
        "methods": [
            method("stop", {"type": "null"}),
            method("last", {"anyOf": [level, {"type": "null"}]}),
            method("first", level),
        ],
    }
    tides = package(documents(document), "null_wire", tmp_path)
    peers: Any = peers_of(tides)
    runtime: Any = runtime_of(tides)

    class Server(peers.Server):  # type: ignore[misc]
        async def stop(self, _: Any, /) -> None:
            return None

        last = first = stop

    async def test() -> None:
        async with peers.join(peers.Client(), Server(), strict=True) as (_, server):
            assert await server.stop() is None
            assert await server.last() is None
            with pytest.raises(runtime.PeerError, match="internal error"):
                await server.first()

    run(test)
