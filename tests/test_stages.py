"""One idea of each stage in one small file: `tests/golden/stages/<stage>/<idea>.json` holds files of a schema, and what the stage makes.

Faults are what some stages make. `pytest --rewrite-goldens` writes what is made; read it in the diff.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from acp_bindings import v1

from acp_session import Agent, Client, Turn, connect_in_memory
from acpgen import compare, config
from acpgen.bundle.bundle import bundle
from acpgen.bundle.collect import collect
from acpgen.commands import build, project
from acpgen.errors import Faults
from acpgen.files.cache import Cache
from acpgen.input.load import Document, Documents, Source, parse
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.interchange import dump
from acpgen.meaning.lower import lower
from acpgen.meaning.methods import find_methods
from acpgen.meaning.understanding import understand
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from jsonrpc_bindings.errors import DecodeError

GOLDEN: Final = Path(__file__).parent / "golden" / "stages"
PACKAGE: Final = Path(__file__).parents[1] / "generator" / "acpgen"


def collected(documents: Documents) -> Any:
    """The definitions of all files, where each stands, and what the root says."""
    made = collect(documents)
    return {"root": made.root, "definitions": made.definitions, "origins": made.origins}


def bundled(documents: Documents) -> Any:
    """The definitions of the one schema."""
    return bundle(documents).definitions


def recognised(documents: Documents) -> Any:
    """The tagged union that each definition is, or how it is told apart otherwise."""
    nodes = bundle(documents).make_nodes()
    unions = {name: node.tagged_union for name, node in nodes.items() if node.union is not None}
    return {
        name: "by shape"
        if found is None
        else {
            "tag": found.tag,
            "variants": [tag for _, tag in found.variants],
            "fallback": found.fallback is not None,
            "default": found.default is not None,
        }
        for name, found in unions.items()
    }


def meant(documents: Documents) -> Any:
    """What each definition means, without the places."""
    return _placeless(dump(lower(bundle(documents)).definitions))


def bound(documents: Documents) -> Any:
    """The methods and the sides."""
    bundled_ = bundle(documents)
    methods, sides = find_methods(bundled_.make_nodes(), bundled_)
    return {"methods": _placeless(dump(methods)), "sides": list(sides)}


STAGES: Final[Mapping[str, Callable[[Documents], Any]]] = {
    "collect": collected,
    "bundle": bundled,
    "unions": recognised,
    "lower": meant,
    "methods": bound,
}


def _placeless(value: Any) -> Any:
    """The same without places and owners."""
    if is_object(value):
        return {key: _placeless(item) for key, item in value.items() if key not in ("at", "owner")}
    return [_placeless(item) for item in value] if is_array(value) else value


def made(stage: str, files: Mapping[str, Any]) -> Any:
    """What a stage makes of files, as JSON; its faults, if it raises them."""
    documents = Documents("p", tuple(Document(path, value, json.dumps(value)) for path, value in files.items()))
    try:
        return json.loads(json.dumps(STAGES[stage](documents)))
    except Faults as caught:
        return {"faults": [str(fault) for fault in caught.faults]}


CASES: Final = sorted(GOLDEN.glob("*/*.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_stage_makes_of_an_idea_what_its_golden_holds(path: Path, request: pytest.FixtureRequest) -> None:
    case = json.loads(path.read_text("utf-8"))
    found = made(path.parent.name, case["files"])
    if request.config.getoption("rewrite_goldens"):
        assert "CI" not in os.environ, "goldens are never rewritten in CI"
        text = json.dumps({**case, "made": found}, indent=2, ensure_ascii=False)
        path.write_text(f"{text}\n", "utf-8")
    assert found == json.loads(path.read_text("utf-8"))["made"]


def test_every_stage_has_ideas_and_every_idea_is_told_in_a_sentence() -> None:
    assert {path.parent.name for path in CASES} == STAGES.keys()
    for path in CASES:
        assert json.loads(path.read_text("utf-8"))["idea"].endswith("."), path


WALK: Final = {
    "Text": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "Block": {
        "oneOf": [
            {"$ref": "#/$defs/Text", "properties": {"type": {"const": "text"}}, "required": ["type"]},
            {"properties": {"type": {"const": "link"}, "to": {"type": ["string", "null"]}}, "required": ["type"]},
        ],
        "type": "object",
    },
}
"""A union of two variants, one of which has a body of its own."""


DECISION: Final = Path(__file__).parents[1] / "generator/decisions/schema-and-ir.md"


def entered_by(call: Callable[[], object]) -> list[str]:
    """The modules that a call enters, in the order in which it first does. It was called before, for what a process finds out once."""
    call()
    modules: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            modules.setdefault(str(frame.f_globals.get("__name__")).removeprefix("acpgen."))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [*modules]


def source_of(definitions: Mapping[str, Any]) -> Source:
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions})
    return Source("p", "", (("p.json", text.encode()),))


def test_the_walk_of_a_definition_is_as_the_decision_draws_it() -> None:
    entered: dict[str, list[str]] = {}
    for module in entered_by(lambda: lower(bundle(parse(source_of(WALK))))):
        room, _, name = module.partition(".")
        if name and (PACKAGE / room).is_dir():
            entered.setdefault(room, []).append(name)
    rows = re.findall(r"^\| `(\w+)/` \| (.*?) \| .* \|$", DECISION.read_text("utf-8"), re.MULTILINE)
    assert [(room, re.findall(r"`(\w+)`", modules)) for room, modules in rows] == [*entered.items()]


def request(**text: Any) -> dict[str, Any]:
    method = {"x-method": "send", "x-side": "agent", "type": "object"}
    return {"SendRequest": {**method, "properties": {"text": {"type": "string", **text}}}, "SendResponse": method}


def decode(text: Any) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": "s", "update": update}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    with suppress(DecodeError):
        v1.decode(json.dumps(message).encode(), sender="agent")


def generate_anew(root: Path, cache: Cache) -> None:
    """Generate a project whose description was edited since the last time."""
    file = root / "schema" / "p" / "v1" / "p.json"
    (root / "pyproject.toml").write_text(
        '[tool.acpgen.outputs.out]\ntarget = "python"\nprotocols = ["p/v1"]\n', "utf-8"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    number = len(file.read_bytes()) if file.exists() else 0
    file.write_bytes(source_of(request(description=f"The text {number}.")).files[0][1])
    build.run(project.plan_outputs(config.find(root), cache=cache))


class Answering(Agent):
    async def on_prompt(self, turn: Turn) -> str:
        await turn.send_message("Done.")
        return "end_turn"


async def converse(folder: Path) -> None:
    async with connect_in_memory(Answering(), Client(allowed_roots=[folder])) as agent:
        await (await agent.new_session(folder)).prompt("Go.")


def test_more_walks_are_as_the_decision_draws_them(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    documents = [parse(source_of(request(**text))) for text in ({}, {"maxLength": 5})]
    walks: Mapping[str, Callable[[], object]] = {
        "A definition becomes Python": lambda: TARGETS["python"](
            *understand(parse(source_of(WALK))), Settings(package="acme.v1")
        ),
        "A message is decoded": lambda: decode("tide"),
        "A message is refused": lambda: decode(1),
        "A field changes": lambda: compare(*documents),
        "A description is edited": lambda: generate_anew(tmp_path, cache),
        "A session": lambda: asyncio.run(converse(tmp_path)),
    }
    rows = re.findall(r"^\| (A [\w ]+) \| (`.*?) \| .* \|$", DECISION.read_text("utf-8"), re.MULTILINE)
    assert [walk for walk, _ in rows] == [*walks]
    for walk, cell in rows:
        modules = [each.removeprefix("jsonrpc_bindings.") for each in entered_by(walks[walk])]
        named = [each.removeprefix("jsonrpc_bindings.") for each in re.findall(r"`([\w.]+)`", cell)]
        assert [each for each in modules if each in named] == named, walk
