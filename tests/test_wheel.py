"""The wheel works outside the repository: built, installed into an empty environment, it generates what Python imports."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.build import build_sdist

import evidence

ROOT = Path(__file__).parents[1]
UPSTREAM = "upstream/acp-v1-newest/schema.json"

LIKE_UPSTREAM: dict[str, object] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Agent Client Protocol",
    "$defs": {
        "PromptRequest": {
            "description": "A prompt of the user.",
            "type": "object",
            "properties": {
                "sessionId": {"type": "string"},
                "prompt": {"type": "array", "items": {"$ref": "#/$defs/ContentBlock"}},
                "_meta": {"type": ["object", "null"], "additionalProperties": True},
            },
            "required": ["sessionId", "prompt"],
            "x-method": "session/prompt",
            "x-side": "agent",
        },
        "PromptResponse": {"type": "object", "x-method": "session/prompt", "x-side": "agent"},
        "TextContent": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "ContentBlock": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"type": {"const": "text", "type": "string"}},
                    "required": ["type"],
                    "allOf": [{"$ref": "#/$defs/TextContent"}],
                }
            ]
        },
    },
}

CHECK = """
from acme import v1
line = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}}'
message = v1.decode(line, sender="client")
import json
assert json.loads(v1.encode(message)) == json.loads(line)
print("session/prompt" in v1.METHODS)
"""

CONVERSATION = (
    b'{"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}}\n'
    b'{"from":"agent","message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}}\n'
    b'{"from":"agent","message":{"jsonrpc":"2.0","id":2,"result":{}}}\n'
)
"""The last line answers a request that nobody has sent: only the monitor knows."""


def call(*arguments: str | Path, cwd: Path, code: int = 0) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    ran = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env={**environment, "XDG_CACHE_HOME": str(cwd / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_holds_code_templates_and_the_monitor_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {
        "acpgen/cli.py",
        "acpgen/commands/generate.py",
        "acpgen/py.typed",
        "schema_inclusion/__main__.py",
        "schema_inclusion/py.typed",
    } <= names
    templates = {
        f"acpgen/templates/{path.relative_to(ROOT / 'templates').as_posix()}"
        for path in (ROOT / "templates").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert templates
    assert templates <= names
    monitor = {path.name for path in (ROOT / "generator/acp-monitor/acp_monitor").iterdir() if path.is_file()}
    assert {name for name in names if "acp_monitor" in name.split("/")} == {
        f"acpgen/acp_monitor/{name}" for name in monitor
    }
    runtime = {path.name for path in (ROOT / "generator/jsonrpc_bindings").glob("*.py")} | {"py.typed"}
    assert {name for name in names if "jsonrpc_bindings" in name.split("/")} == {
        f"acpgen/jsonrpc_bindings/{name}" for name in runtime
    }
    others = {name for name in names if not name.startswith(("acpgen/", "schema_inclusion/"))}
    assert {name.split("/")[0] for name in others} == {wheel.name.split("-py3")[0] + ".dist-info"}
    assert not [name for name in names - templates if "__pycache__" in name or name.endswith("pyproject.toml")]


def test_the_source_archive_holds_what_the_wheel_is_built_from_and_no_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / build_sdist(str(tmp_path))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "schema/acp/v1/prompt.json",
        "templates/python/peers.py.jinja2",
    } <= names
    assert {name.partition("/")[0] for name in names} <= {
        *(
            "generator",
            "schema",
            "templates",
            "CHANGELOG.md",
            "LICENSE",
            "PKG-INFO",
            "README.md",
            "pyproject.toml",
            ".gitignore",
        ),
    }


def test_nothing_that_users_have_as_well_is_pinned(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    needed = [line for line in metadata.get_all("Requires-Dist") or () if "extra ==" not in line]
    assert needed and not [line for line in needed if "==" in line]
    assert {f"Operating System :: {each}" for each in ("MacOS", "Microsoft :: Windows", "POSIX :: Linux")} <= {
        *(metadata.get_all("Classifier") or ())
    }
    assert metadata.get_all("Project-URL")


@pytest.fixture(
    scope="module", params=["beside", pytest.param("installed", marks=pytest.mark.exhaustive)], name="programs"
)
def make_programs(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel, and what it needs: installed, or by default what is here."""
    folder = tmp_path_factory.mktemp("environment")
    pip = [] if request.param == "installed" else ["--without-pip"]
    call(sys.executable, "-m", "venv", *pip, folder / "venv", cwd=folder)
    found = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    if request.param == "beside":
        (place,) = (folder / "venv").rglob("site-packages")
        # In a file of paths, what another such file adds is not followed: acpgen itself is found in the wheel alone.
        (place / "beside.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path), "utf-8")
        options = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
        call(sys.executable, "-m", "pip", "--python", found / "python", "install", *options, wheel, cwd=folder)
        return found
    # A wheel that was just made has no hash in the lock, and with hashes pip wants one for everything.
    versions = re.findall(
        r"^[\w.-]+==[^\s\\]+(?: ; [^\\\n]+)?", (ROOT / "requirements-ci.txt").read_text("utf-8"), re.MULTILINE
    )
    (folder / "versions.txt").write_text("\n".join(versions), encoding="utf-8")
    call(
        *(found / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("-c", folder / "versions.txt", wheel),
        cwd=folder,
    )
    return found


def test_an_installed_wheel_generates_in_an_empty_folder_what_python_imports(programs: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "schema.json").write_text(json.dumps(LIKE_UPSTREAM), encoding="utf-8")
    call(
        programs / "acpgen",
        "generate",
        "--schema",
        "../schema.json",
        "--package",
        "acme.v1",
        "--out",
        "made",
        cwd=empty,
    )
    assert call(programs / "python", "-c", CHECK, cwd=empty / "made") == "True\n"
    call(
        *(programs / "acpgen", "generate", "--check", "--schema", "../schema.json", "--package", "acme.v1"),
        *("--out", "made"),
        cwd=empty,
    )
    (empty / "said.jsonl").write_bytes(CONVERSATION)
    judged = call(programs / "acpgen", "validate", "--session", "said.jsonl", cwd=empty, code=1)
    assert "must response-without-request" in judged


def test_an_installed_wheel_knows_protocols_by_name(programs: Path, tmp_path: Path) -> None:
    acpgen = programs / "acpgen"
    call(acpgen, "generate", "--schema", "acp/v1", "--package", "acme.v1", "--out", "made", cwd=tmp_path)
    assert call(programs / "python", "-c", CHECK, cwd=tmp_path / "made") == "True\n"
    assert "identical" in call(acpgen, "diff", "mcp/2025-06-18", "mcp/2025-06-18", cwd=tmp_path)
    assert "older revisions" in call(
        acpgen, "history", "acp/v1", "--limit", "2", "--format", "json", cwd=tmp_path, code=1
    )
    call(acpgen, "lint", "acp/unstable/v1", cwd=tmp_path)


@pytest.mark.exhaustive
@pytest.mark.evidence(UPSTREAM)
def test_an_installed_wheel_generates_from_a_published_schema(programs: Path, tmp_path: Path) -> None:
    file = evidence.path(UPSTREAM)
    call(programs / "acpgen", "generate", "--schema", file, "--package", "acme.v1", "--out", "real", cwd=tmp_path)
    assert call(programs / "python", "-c", CHECK, cwd=tmp_path / "real") == "True\n"
