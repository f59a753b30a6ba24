"""Peers from `acpgen generate` alone talk to programs that others ship: debugpy, Pyright's language server, the Python SDK of MCP."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

import evidence
from methods.made import documents, package, wild
from peers.harbour import run

HERE: Final = Path(__file__).parent
MCP_SERVER: Final = HERE.parent / "session" / "programs" / "mcp_server.py"
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


# --- the Debug Adapter Protocol: frames of its own, headers ----------------------------------------------------------


def test_a_client_of_dap_talks_to_debugpy(tmp_path: Path) -> None:
    evidence.need("wild/dap.json")
    dap = package(wild("dap"), "debugger_wire", tmp_path)
    peers: Any = peers_of(dap)
    runtime: Any = runtime_of(dap)
    (wheel,) = (evidence.FOLDER / "archives").glob("pypi-debugpy-*")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "debugpy")
    adapter = [sys.executable, "-W", "ignore", "-m", "debugpy.adapter"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "debugpy")}
    heard: list[str] = []

    class Editor(peers.Client):  # type: ignore[misc]
        async def heed(self, method: str, _: Any) -> None:
            heard.append(method)

    async def test() -> None:
        async with peers.spawn_adapter(adapter, Editor(), env=environment, timeout=60) as calls:
            offered = await calls.initialize(dap.InitializeRequestArguments(adapter_id="python"))
            assert offered.supports_conditional_breakpoints is True
            with pytest.raises(runtime.Failed, match="Server is not available"):
                await calls.next(dap.NextArguments(thread_id=1))
        assert heard[:2] == ["output", "output"]

    run_with_a_process(test)


def test_both_sides_of_dap_are_made(tmp_path: Path) -> None:
    evidence.need("wild/dap.json")
    dap = package(wild("dap"), "both_debug", tmp_path)
    peers: Any = peers_of(dap)
    runtime: Any = runtime_of(dap)

    class Adapter(peers.Adapter):  # type: ignore[misc]
        async def initialize(self, _: Any, /) -> Any:
            await self.client.initialized()
            return dap.Capabilities(supports_goto_targets_request=True)

    class Editor(peers.Client):  # type: ignore[misc]
        heard = False

        async def initialized(self, _: Any, /) -> None:
            self.heard = True

    async def test() -> None:
        editor = Editor()
        async with peers.join(editor, Adapter()) as (_, adapter):
            offered = await adapter.initialize(dap.InitializeRequestArguments(adapter_id="tide"))
            assert offered.supports_goto_targets_request is True
            assert editor.heard
            with pytest.raises(runtime.Failed, match="is not served here"):
                await adapter.next(dap.NextArguments(thread_id=1))

    run(test)


# --- the Language Server Protocol: JSON-RPC, headers -----------------------------------------------------------------


def named(name: str) -> dict[str, Any]:
    return {"kind": "reference", "name": name}


def base(name: str) -> dict[str, Any]:
    return {"kind": "base", "name": name}


def structure(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "properties": [{"name": key, "type": type_} for key, type_ in properties.items()]}


LSP: Final[dict[str, Any]] = {
    "metaData": {"version": "3.17.0"},
    "requests": [
        {
            "method": "initialize",
            "params": named("InitializeParams"),
            "result": named("InitializeResult"),
            "messageDirection": "clientToServer",
        },
        {"method": "shutdown", "result": base("null"), "messageDirection": "clientToServer"},
    ],
    "notifications": [
        {"method": "initialized", "params": named("InitializedParams"), "messageDirection": "clientToServer"},
        {"method": "exit", "messageDirection": "clientToServer"},
        {"method": "textDocument/didOpen", "params": named("DidOpenParams"), "messageDirection": "clientToServer"},
        {"method": "window/logMessage", "params": named("LogParams"), "messageDirection": "serverToClient"},
        {
            "method": "textDocument/publishDiagnostics",
            "params": named("DiagnosticsParams"),
            "messageDirection": "serverToClient",
        },
    ],
    "structures": [
        structure("ClientCapabilities"),
        structure("InitializeParams", capabilities=named("ClientCapabilities")),
        structure("ServerCapabilities"),
        structure("InitializeResult", capabilities=named("ServerCapabilities")),
        structure("InitializedParams"),
        structure(
            "Document", uri=base("string"), languageId=base("string"), version=base("integer"), text=base("string")
        ),
        structure("DidOpenParams", textDocument=named("Document")),
        structure("LogParams", type=base("integer"), message=base("string")),
        structure("Diagnostic", message=base("string")),
        structure(
            "DiagnosticsParams", uri=base("string"), diagnostics={"kind": "array", "element": named("Diagnostic")}
        ),
    ],
    "enumerations": [],
    "typeAliases": [],
}


def test_a_client_of_a_meta_model_talks_to_a_language_server(tmp_path: Path) -> None:
    server = shutil.which("pyright-langserver", path=str(Path(sys.executable).parent))
    if server is None:
        evidence.lack("pyright is not installed beside this Python: the extra dev has it")
    lsp = package(documents(LSP), "editor_wire", tmp_path)
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
            hello = lsp.InitializeParams(
                capabilities=lsp.ClientCapabilities(), extra={"processId": None, "rootUri": tmp_path.as_uri()}
            )
            assert (await calls.initialize(hello)).capabilities is not None
            await calls.initialized(lsp.InitializedParams())
            document = lsp.Document(uri=file.as_uri(), language_id="python", version=1, text="level: int = 'low'\n")
            await calls.text_document_did_open(lsp.DidOpenParams(text_document=document))
            assert "is not assignable to declared type" in await found
            await calls.shutdown()
            await calls.exit()

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
            with pytest.raises(runtime.Failed, match="internal error"):
                await server.first()

    run(test)
