"""Peers of any protocol: what a stranger gets from `acpgen generate` alone, and how names are told apart."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

import pytest

import evidence
import tiers
from acpgen.bundle.bundle import bundle
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.naming.identifiers import make_method_names
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from peers.harbour import run


def made(schema: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    """The package of a schema, ready to be imported."""
    source = folder / f"{name}.json"
    source.write_text(json.dumps(schema), "utf-8")
    found = bundle(load(source, name=name))
    for path, text in TARGETS["python"](lower(found), found, Settings(package=name)).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    invalidate_caches()
    return folder / name


def message(method: str, side: str, **fields: Any) -> dict[str, Any]:
    properties = {key: value for key, value in fields.items() if not key.startswith("_")}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "x-method": method,
        "x-side": side,
    }


TEXT = {"type": "string"}

CHESS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "x-sides": ["player", "table", "ask-request"],
    "$defs": {
        "MoveRequest": message("game/move", "table", square=TEXT),
        "MoveResponse": message("game/move", "table", reply=TEXT),
        "ClockNotification": message("clock/tick", "player", seconds={"type": "integer"}),
        "ResignNotification": message("game/resign", "table"),
        "AskRequest": message("ask", "player", text=TEXT),
        "AskResponse": message("ask", "player", answer=TEXT),
        "StopNotification": message("stop/cancel", "table", requestId={"type": ["integer", "string"]}),
        "Table": {"type": "object", "properties": {"legs": {"type": "integer"}}},
        "BringRequest": message("bring", "table", table={"$ref": "#/$defs/Table"}),
        "BringResponse": {"$ref": "#/$defs/Table", "x-method": "bring", "x-side": "table"},
    },
}


def test_a_strangers_protocol_has_working_peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(CHESS, tmp_path, monkeypatch, "strange_chess")
    chess: Any = import_module("strange_chess")
    peers: Any = import_module("strange_chess.peers")
    runtime: Any = import_module("strange_chess.runtime")
    said: list[Any] = []

    class Table(peers.Table):  # type: ignore[misc]
        async def game_move(self, params: Any, /) -> Any:
            await self.player.clock_tick(chess.ClockNotification(seconds=3))
            asked = await self.player.ask(chess.AskRequest(text="sure?"))
            return chess.MoveResponse(reply=params.square + asked.answer)

        async def game_resign(self, params: Any, /) -> None:
            said.append(params)

    class Player(peers.Player):  # type: ignore[misc]
        async def clock_tick(self, params: Any, /) -> None:
            said.append(params.seconds)

        async def ask(self, params: Any, /) -> Any:
            return chess.AskResponse(answer="!" if params.text == "sure?" else "?")

    async def test() -> None:
        sides = {"player": Player(), "table": Table()}
        async with peers.join(sides["player"], sides["table"]) as (_, table):
            assert (await table.game_move(chess.MoveRequest(square="e4"))).reply == "e4!"
            await table.game_resign()
            with pytest.raises(runtime.PeerError) as failed:
                await table.bring(chess.BringRequest(table=chess.Table()))
            assert failed.value.code == -32601
        assert said[0] == 3
        assert isinstance(said[1], chess.ResignNotification)

    run(test)
    assert peers.WIRE.cancellation.method == "stop/cancel"
    assert peers.AskRequest.peer_side == "player"  # a side is called like a definition, and both are there
    assert chess.AskRequest(text="x").text == "x"


def test_who_has_no_methods_has_no_peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"Tide": {"type": "object"}}}
    folder = made(schema, tmp_path, monkeypatch, "no_methods")
    assert not (folder / "peers.py").exists()
    import_module("no_methods")


def test_a_protocol_in_which_only_one_side_is_called_has_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"ReadRequest": message("tide/read", "server"), "ReadResponse": message("tide/read", "server")},
    }
    made(schema, tmp_path, monkeypatch, "called_only")
    package: Any = import_module("called_only")
    peers: Any = import_module("called_only.peers")

    class Server(peers.Server):  # type: ignore[misc]
        async def tide_read(self, _: Any, /) -> Any:
            return package.ReadResponse()

    async def test() -> None:
        async with peers.join(peers.Client(), Server()) as (_, server):
            assert await server.tide_read() == package.ReadResponse()

    run(test)


def test_names_of_coroutines_never_collide_and_never_hide_what_a_side_has() -> None:
    wire = [
        "session/set_mode",
        "session/setMode",
        "serve",
        "class",
        "$/cancel",
        "3d",
        "",
        "__init__",
        "tide/lesen",
        "é",
    ]
    names = make_method_names({f"{name} request": name for name in wire}, used={"serve"})
    assert names["session/setMode request"] == "session_set_mode"
    assert names["$/cancel request"] == "cancel"
    assert names["class request"] == "class_"
    assert len(set(names.values())) == len(wire)
    assert all(name.isidentifier() and not name.startswith("_") for name in names.values()), names
    assert "serve" not in names.values()
    again = make_method_names({f"{name} request": name for name in reversed(wire)}, used={"serve"})
    assert dict(again) == dict(names)


def test_a_name_that_is_a_request_and_a_notification_has_two_coroutines() -> None:
    from acp_bindings.unstable.v1 import peers

    assert peers.Proxy.requests["proxy/successor"] != peers.Proxy.notifications["proxy/successor"]


@pytest.mark.parametrize("name", ["mcp-2025-06-18", "mcp-2025-11-25"])
def test_every_revision_of_mcp_has_peers_that_talk(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence.need(f"upstream/{name}/schema.json")
    schema = json.loads(evidence.path(f"upstream/{name}/schema.json").read_text("utf-8"))
    package = name.replace("-", "_")
    made(schema, tmp_path, monkeypatch, package)
    mcp: Any = import_module(package)
    peers: Any = import_module(f"{package}.peers")
    assert peers.WIRE.cancellation.method == "notifications/cancelled"

    class Server(peers.Server):  # type: ignore[misc]
        async def tools_call(self, params: Any, /) -> Any:
            await self.client.notifications_message(
                mcp.decode_as(mcp.LoggingMessageNotificationParams, {"level": "info", "data": 1})
            )
            return mcp.decode_as(mcp.CallToolResult, {"content": [{"type": "text", "text": params.name}]})

        async def ping(self, _: Any, /) -> Any:
            return mcp.decode_as(mcp.Result, {})

    async def test() -> None:
        async with peers.join(peers.Client(), Server()) as (_, server):
            await server.ping()
            params = mcp.methods.METHODS["tools/call"].params
            result = await server.tools_call(mcp.decode_as(params, {"name": "tide"}))
            assert json.loads(mcp.encode(result))["content"][0]["text"] == "tide"

    run(test)


def test_a_call_without_any_possible_result_can_be_written_for_type_checkers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = {"name": "ban", "params": [], "result": {"name": "none", "schema": False}}
    schema = {"openrpc": "1.2.6", "info": {"title": "bans", "version": "1"}, "methods": [method]}
    text = (made(schema, tmp_path, monkeypatch, "bans") / "peers.py").read_text("utf-8")
    assert text.count("/) -> Any:") == 2  # after a call that never returns, mypy allows no return
    import_module("bans.peers")


@pytest.mark.parametrize("checker", tiers.sample(["mypy", "pyright"], 1, by="test_generated"))
def test_the_result_of_a_method_is_known_to_type_checkers(checker: str, tmp_path: Path) -> None:
    program = tmp_path / "typed.py"
    program.write_text(
        """
from acp_bindings import v1
from jsonrpc_bindings.contract import Method
from acp_bindings.v1 import peers

PROMPT: Method[v1.PromptRequest, v1.PromptResponse] = v1.METHODS["session/prompt"]
CANCEL: Method[v1.CancelNotification, None] = v1.METHODS["session/cancel"]
WRONG: Method[v1.PromptRequest, v1.NewSessionResponse] = v1.METHODS["session/prompt"]


def any_of(name: str) -> str:
    return v1.METHODS[name].side


async def work(agent: peers.RemoteAgent, params: v1.PromptRequest) -> None:
    one: v1.PromptResponse = await agent.session_prompt(params)
    two: v1.PromptResponse = await agent.connection.request(v1.METHODS["session/prompt"], params)
    wrong: v1.NewSessionResponse = await agent.session_prompt(params)
    await agent.session_prompt(v1.CancelNotification(session_id="s"))
    await agent.connection.request(v1.METHODS["session/prompt"], v1.CancelNotification(session_id="s"))
    print(one, two, wrong)


class Agent(peers.Agent):
    async def session_prompt(self, params: v1.NewSessionRequest, /) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason="end_turn")
""",
        "utf-8",
    )
    bindings = Path(__file__).parents[2] / "generated" / "python" / "acp-bindings"
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "extraPaths": [str(bindings)]})
    )
    config = tmp_path / "mypy.ini"
    config.write_text(f"[mypy]\nstrict = true\nmypy_path = {bindings}\n")
    commands = {
        "mypy": ["mypy", "--config-file", str(config), str(program)],
        "pyright": ["pyright", "--pythonpath", sys.executable, "-p", str(tmp_path)],
    }
    done = subprocess.run(
        [sys.executable, "-m", *commands[checker]],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=tmp_path,
    )
    wrong = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "typed.py:" in line and "error" in line}
    assert wrong == {8, 18, 19, 20, 25}, done.stdout


def test_sides_may_be_called_like_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, sides in enumerate(
        [["kind", "peers"], ["Any", "class"], ["self", "wire"], ["a-b", "a_b"], ["remote", "side"], ["stderr", "cwd"]]
    ):
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "x-sides": sides,
            "$defs": {"ReadRequest": message("read", sides[1]), "ReadResponse": message("read", sides[1])},
        }
        made(schema, tmp_path, monkeypatch, f"sides_{number}")
        peers: Any = import_module(f"sides_{number}.peers")
        package: Any = import_module(f"sides_{number}")
        named: list[Any] = [getattr(peers, name) for name in dir(peers)]
        found: list[Any] = [one for one in named if isinstance(one, type) and issubclass(one, peers.peers.Side)]
        first, second = sorted(found, key=lambda side: sides.index(side.side))

        async def test(first: Any = first, second: Any = second, peers: Any = peers, package: Any = package) -> None:
            async def read(_: object, __: object) -> Any:
                return package.ReadResponse()

            served: Any = type("Served", (second,), {"read": read})
            async with peers.join(first(), served()) as (_, calls):
                assert await calls.read() == package.ReadResponse()

        run(test)
