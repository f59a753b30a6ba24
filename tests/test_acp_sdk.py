"""The target `acp-sdk` in the place of the generator of the Agent Client Protocol's Python SDK: its own tests, its interface, and more."""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import sys
import tomllib
import venv
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import evidence
from acpgen import Faults, ir, plugins
from acpgen.bundle.bundle import Bundle
from acpgen.input.load import load
from acpgen.meaning.understanding import understand
from acpgen.plugins import Settings
from acpgen_acp_sdk import names, target
from acpgen_acp_sdk.bodies import split_variants

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "generator/acpgen-acp-sdk"
RELEASED = "sdk/agent-client-protocol-0.12.1"
SCHEMA = "sdk/acp-v1-1.19.0.unstable.json"

OTHERS = {
    *("OtherAuthMethod", "OtherContentBlock", "OtherMcpServer", "OtherNesSuggestion", "OtherPlanUpdateContent"),
    *("OtherRequestPermissionOutcome", "OtherSessionConfigOption", "OtherSessionUpdate"),
    *("OtherSetSessionConfigOptionRequest", "OtherToolCallContent"),
}
"""The classes that the released module lacks: what unknown variants become."""

MENDED = {
    *("ProviderCurrentConfig.api_type", "ProviderInfo.supported", "SetProviderRequest.api_type"),
    *("SessionConfigOptionBoolean.category", "SessionConfigOptionSelect.category"),
}
"""Fields whose released type takes an object where the schema takes any text."""

TOLD = """
import inspect, json, re, typing
from acp import meta, schema
from pydantic import BaseModel

def plain(hint):
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Annotated:
        return plain(arguments[0])
    if not arguments:
        return getattr(hint, "__name__", repr(hint)) if not isinstance(hint, str) else repr(hint)
    if typing.get_origin(hint) is typing.Literal:
        return sorted(map(repr, arguments))
    parts = [plain(part) for part in arguments]
    name = str(typing.get_origin(hint))
    if "Union" not in name:
        return [name, *parts]
    flat = [inner for part in parts for inner in (part[1:] if part and part[0] == "union" else [part])]
    return ["union", *sorted(flat, key=repr)]

classes = {}
for name, value in vars(schema).items():
    if inspect.isclass(value) and value.__module__ == "acp.schema" and "[" not in name and issubclass(value, BaseModel):
        value.model_rebuild()
        classes[name] = {
            "bases": [one.__name__ for one in value.__mro__ if "[" not in one.__name__],
            "fields": {
                key: {
                    "alias": field.alias,
                    "required": field.is_required(),
                    "doc": " ".join((field.description or "").split()),
                    "type": plain(field.annotation),
                    "default": None if field.is_required() else value.__pydantic_decorators__ and repr(field.default),
                }
                for key, field in value.model_fields.items()
            },
        }
public = [name for name, value in vars(schema).items() if not name.startswith("_") and not inspect.ismodule(value)]
methods = {name: value for name, value in vars(meta).items() if name.isupper()}
print(json.dumps({"classes": classes, "public": public, "methods": methods}))
"""


@cache
def understood() -> tuple[ir.Protocol, Bundle]:
    """What the schema of the SDK means to the target."""
    return understand(load(evidence.path(SCHEMA)))


@pytest.fixture(scope="module")
def released() -> Path:
    evidence.need(RELEASED, SCHEMA)
    return evidence.path(RELEASED)


@pytest.fixture(scope="module")
def ours(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the released source distribution with our two files in their places."""
    copy = tmp_path_factory.mktemp("sdk") / "ours"
    shutil.copytree(released, copy)
    made = target(*understood(), Settings(package="acp"))
    assert set(made) == {"acp/schema.py", "acp/meta.py"}
    for path, text in made.items():
        (copy / "src" / path).write_text(text, "utf-8")
    return copy


def python(sdk: Path, folder: Path) -> Path:
    """A Python in which the SDK is the one of a folder, in all processes that it starts, beside what is installed here."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "here.pth").write_text("\n".join([str(sdk / "src"), *site.getsitepackages()]) + "\n")
    return folder / "bin/python"


def ask(sdk: Path, code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(sdk / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.exhaustive
def test_the_tests_of_the_sdk_pass_as_with_the_released_file(released: Path, ours: Path, tmp_path: Path) -> None:
    if any(find_spec(name) is None for name in ("pytest_asyncio", "httpx", "websockets", "h2")):
        evidence.lack("pytest-asyncio, httpx[http2] and websockets are not installed: the extra dev has them")
    counts: dict[str, int] = {}
    for name, sdk in (("released", released), ("ours", ours)):
        copy = tmp_path / name
        shutil.copytree(sdk, copy)
        counts[name] = passing(copy, python(copy, tmp_path / f"venv-{name}"))
    assert counts == {"released": 199, "ours": 199}


PATIENCE = """
import subprocess

communicate = subprocess.Popen.communicate
subprocess.Popen.communicate = lambda self, input=None, timeout=None: communicate(self, input, timeout and timeout * 30)
"""
"""A plug-in of pytest: some tests of the SDK give a process two seconds to start and answer, which a busy machine needs for less."""


def passing(sdk: Path, interpreter: Path) -> int:
    """How many tests of the SDK pass; none fails."""
    (sdk / "patience.py").write_text(PATIENCE)
    run = subprocess.run(
        [interpreter, "-m", "pytest", "-q", "-p", "patience", "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=sdk,
        env={key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV"))},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    passed = re.search(r"(\d+) passed", run.stdout.splitlines()[-1])
    assert run.returncode == 0 and passed, run.stdout[-4000:]
    return int(passed[1])


def test_the_interface_is_the_released_one_and_ten_classes_more(released: Path, ours: Path) -> None:
    old, new = json.loads(ask(released, TOLD)), json.loads(ask(ours, TOLD))
    assert set(new["classes"]) - set(old["classes"]) == OTHERS
    assert set(old["classes"]) <= set(new["classes"])
    assert set(old["public"]) <= set(new["public"])
    assert new["methods"] == old["methods"]
    assert list(new["methods"]) == ["AGENT_METHODS", "CLIENT_METHODS", "PROTOCOL_VERSION"]
    mended: set[str] = set()
    for name, was in old["classes"].items():
        found: Any = new["classes"][name]
        assert found["bases"] == was["bases"], name
        assert found["fields"].keys() == was["fields"].keys(), name
        for key, field in was["fields"].items():
            own = found["fields"][key]
            assert [own[fact] for fact in ("alias", "required", "doc")] == [
                field[fact] for fact in ("alias", "required", "doc")
            ]
            if without_others(own["type"]) != field["type"]:
                mended.add(f"{name}.{key}")
    assert mended == MENDED


def without_others(told: list[Any] | str) -> list[Any] | str:
    """A type without the classes of unknown variants."""
    if isinstance(told, str):
        return told
    kept = [without_others(part) for part in told if part not in sorted(OTHERS)]
    return kept[1] if kept[0] == "union" and len(kept) == 2 else kept


BOTH = """
import json
from acp import schema
from pydantic import ValidationError
values = json.loads({values!r})
told = []
for name, value in values:
    try:
        told.append(getattr(schema, name).model_validate(value).model_dump(mode="json", by_alias=True, exclude_none=True))
    except ValidationError as error:
        told.append("refused")
print(json.dumps(told))
"""
KNOWN: list[tuple[str, Any]] = [
    ("InitializeRequest", {"protocolVersion": "2024-11-05"}),
    ("InitializeRequest", {"protocolVersion": 1, "clientCapabilities": 3, "_meta": 4}),
    ("InitializeResponse", {"protocolVersion": "7", "authMethods": [{"id": "a", "name": "A"}]}),
    ("InitializeResponse", {"protocolVersion": None}),
    ("PromptRequest", {"sessionId": "s", "prompt": [{"type": "text", "text": "t"}, {"type": "image", "data": "", "mimeType": "x"}]}),
    ("PromptRequest", {"sessionId": "s", "prompt": [{"type": "text"}]}),
    ("PromptRequest", {"session_id": "s", "prompt": []}),
    ("SessionNotification", {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": [{"bad": 1}]}}),
    ("SessionNotification", {"sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": "1"}}),
    ("SessionNotification", {"sessionId": "s", "update": {"sessionUpdate": "current_mode_update", "currentModeId": "m"}}),
    ("ToolCallUpdate", {"toolCallId": "t", "status": "odd", "locations": [{"path": "/a", "line": -1}, 3]}),
    ("NewSessionRequest", {"cwd": "/", "mcpServers": [{"name": "n", "command": "c", "args": [], "env": []}]}),
    ("NewSessionRequest", {"cwd": "/", "mcpServers": [{"type": "http", "name": "n", "url": "u", "headers": []}]}),
    ("RequestPermissionResponse", {"outcome": {"outcome": "selected", "optionId": "o"}}),
    ("ReadTextFileRequest", {"sessionId": "s", "path": "/a", "limit": -4}),
    ("ClientRequest", {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
    ("AgentResponse", {"id": 1, "error": {"code": -32601, "message": "no"}}),
    ("ElicitationFormMode", {"sessionId": "s", "requestedSchema": {"type": "object", "properties": {}}}),
]  # fmt: skip


def test_what_was_understood_means_the_same_and_what_was_refused_is_refused(released: Path, ours: Path) -> None:
    code = BOTH.format(values=json.dumps(KNOWN))
    old, new = json.loads(ask(released, code)), json.loads(ask(ours, code))
    assert old == new
    assert "refused" in old


UNKNOWN: list[tuple[str, Any]] = [
    ("SessionNotification", {"sessionId": "s", "update": {"sessionUpdate": "tide", "metres": 2.5}}),
    ("PromptRequest", {"sessionId": "s", "prompt": [{"type": "hologram", "beams": [1, 2]}]}),
    ("ToolCallUpdate", {"toolCallId": "t", "content": [{"type": "chart", "bars": {"a": 1}}]}),
    ("NewSessionRequest", {"cwd": "/", "mcpServers": [{"type": "quic", "name": "n", "command": "c", "args": [], "env": []}]}),
    ("RequestPermissionResponse", {"outcome": {"outcome": "later", "after": 3}}),
    ("ProviderCurrentConfig", {"apiType": "own", "baseUrl": "u"}),
    ("SessionConfigOptionBoolean", {"type": "boolean", "id": "i", "name": "n", "category": "own", "currentValue": True}),
]  # fmt: skip


def test_unknown_updates_and_blocks_come_through(released: Path, ours: Path) -> None:
    code = BOTH.format(values=json.dumps(UNKNOWN))
    assert json.loads(ask(ours, code)) == [value for _, value in UNKNOWN]
    old = json.loads(ask(released, code))
    assert all(told != value for told, (_, value) in zip(old, UNKNOWN, strict=True))


def test_fields_of_an_unknown_update_are_read_by_their_names(ours: Path) -> None:
    code = (
        "from acp.schema import *\n"
        "u = SessionNotification(session_id='s', update={'sessionUpdate': 'tide', 'seaLevel': 2}).update\n"
        "print(type(u).__name__, u.session_update, u.sessionUpdate, u.seaLevel)\n"
        "print(hasattr(u, 'nothing'), isinstance(OtherAuthMethod(id='a', name='b', type='c'), AuthMethodAgent))\n"
        "try: OtherSessionUpdate(session_update='plan')\n"
        "except ValueError as error: print('a known sessionUpdate has a class of its own' in str(error))\n"
    )
    assert ask(ours, code).splitlines() == ["OtherSessionUpdate tide tide 2", "False True", "True"]


def test_unknown_variants_are_refused_where_the_option_says_so(released: Path) -> None:
    settings = plugins.Settings(package="acp", options={"unknown-variants": "refuse"})
    made = target(*understood(), settings)["acp/schema.py"]
    assert not re.findall(r"class (OtherSessionUpdate|OtherContentBlock)\b", made)


@pytest.mark.parametrize("length", [None, 88])
def test_both_files_are_laid_out_as_the_formatter_of_the_sdk_has_them(
    released: Path, ours: Path, tmp_path: Path, length: int | None
) -> None:
    """With the settings of the SDK itself, and with another length of a line."""
    if length is None:
        checked, settings = ours / "src", ["--config", str(released / "pyproject.toml")]
    else:
        chosen = Settings(package="acp", options={"line-length": length})
        made = target(*understood(), chosen)
        checked, settings = tmp_path, ["--isolated", "--config", f"line-length = {length}"]
        (tmp_path / "acp").mkdir()
        for path, text in made.items():
            (tmp_path / path).write_text(text, "utf-8")
    files = [checked / "acp" / name for name in ("schema.py", "meta.py")]
    run = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--check", "--no-cache", *settings, *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 files already formatted" in run.stdout


def test_a_length_of_a_line_that_nobody_can_keep_is_refused(released: Path) -> None:
    for length in (0, 19, 321):
        with pytest.raises(Faults, match="'line-length' must be from 20 to 320"):
            target(*understood(), Settings(package="acp", options={"line-length": length}))


def test_what_is_no_acp_is_refused_with_a_sentence() -> None:
    for text in plugins.SAMPLES.values():
        with pytest.raises(Faults, match="the target 'acp-sdk' cannot use it: it is not the Agent Client Protocol"):
            target(*plugins.sample(text), Settings())


def test_every_name_of_the_table_is_that_of_a_class(released: Path) -> None:
    protocol = split_variants(understood()[0])
    assert names.CLASSES.keys() <= protocol.definitions.keys()
    assert protocol.definitions.keys() >= names.ROOT_MODELS | names.PUBLIC | names.LITERALS


def test_the_distribution_names_the_target() -> None:
    told = tomllib.loads((PLUGIN / "pyproject.toml").read_text("utf-8"))["project"]
    assert told["entry-points"]["acpgen.targets"] == {"acp-sdk": "acpgen_acp_sdk:target"}
    assert told["dependencies"] == [f"acpgen=={told['version']}"]


def test_the_file_is_one_among_those_of_the_sdk(released: Path, tmp_path: Path) -> None:
    """As the page says: the two old files go, and the rest of the SDK stays as it is."""
    sdk, packages = tmp_path / "sdk", tmp_path / "packages"
    shutil.copytree(released, sdk)
    (packages / "acpgen_acp_sdk-0.1.0.dist-info").mkdir(parents=True)
    (packages / "acpgen_acp_sdk-0.1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: x\nVersion: 0.1.0\n"
    )
    (packages / "acpgen_acp_sdk-0.1.0.dist-info/entry_points.txt").write_text(
        "[acpgen.targets]\nacp-sdk = acpgen_acp_sdk:target\n"
    )
    (sdk / "schema/acp/v1").mkdir(parents=True)
    shutil.copy(evidence.path(SCHEMA), sdk / "schema/acp/v1/schema.json")
    page = (ROOT / "schema/pages/replace-your-generator.md").read_text("utf-8")
    settings, *_ = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    with (sdk / "pyproject.toml").open("a") as file:
        file.write("\n" + settings)
    before = {path: path.read_bytes() for path in sdk.rglob("*") if path.is_file()}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        environment["PYTHONPATH"] = os.pathsep.join(map(str, [ROOT / "generator", PLUGIN, packages]))
        command = [sys.executable, "-m", "acpgen", "generate", *arguments]
        return subprocess.run(command, cwd=sdk, env=environment, capture_output=True, text=True, check=False)

    refused = run()
    assert (refused.returncode, refused.stderr.count("acpgen did not write this file")) == (2, 2)
    (sdk / "src/acp/schema.py").unlink()
    (sdk / "src/acp/meta.py").unlink()
    assert run().returncode == 0
    assert run("--check").returncode == 0
    after = {path: path.read_bytes() for path in sdk.rglob("*") if path.is_file()}
    changed = {path.relative_to(sdk / "src").as_posix() for path in after if after[path] != before.get(path)}
    assert changed == {".acpgen.json", "acp/schema.py", "acp/meta.py"}
    assert before.keys() <= after.keys()
