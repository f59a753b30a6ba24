"""Protocols by name: what comes with acpgen is found anywhere, and a project's own or a path of that name comes first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from acpgen import resources
from acpgen.config import protocols
from commands import acpgen

RECORDED = b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}\n'


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_protocol_that_comes_with_acpgen_is_found_outside_a_project() -> None:
    assert protocols.find("acp/v1") == resources.locate_schema() / "acp" / "v1"
    assert {"acp/v1", "acp/v2", "acp/unstable/v1", "mcp/2025-06-18"} <= {*protocols.list_names()}
    assert protocols.is_canonical("acp/v1")
    for name in ("acp", "acp/v9", "releases/acp/v1", "pages", "../acp/v1", "x" * 5000, "a\0b", ""):
        assert protocols.find(name) is None
        assert not protocols.is_canonical(name)


def test_a_path_of_that_name_comes_first(elsewhere: Path) -> None:
    (elsewhere / "acp" / "v1").mkdir(parents=True)
    assert protocols.find("acp/v1") is None


def test_a_protocol_of_the_project_comes_before_both(elsewhere: Path) -> None:
    (elsewhere / "pyproject.toml").write_text("[tool.acpgen]\nschema = 'own'\n", "utf-8")
    (elsewhere / "own" / "acp" / "v1").mkdir(parents=True)
    assert protocols.find("acp/v1") == resources.locate_schema() / "acp" / "v1"
    (elsewhere / "own" / "acp" / "v1" / "schema.json").write_text("{}", "utf-8")
    assert protocols.find("acp/v1") == elsewhere / "own" / "acp" / "v1"
    assert not protocols.is_canonical("acp/v1")


def test_every_command_that_reads_a_schema_takes_the_name() -> None:
    assert acpgen(["generate", "--schema", "acp/v2", "--target", "bundle", "--out", "made"]).returncode == 0
    made = json.loads(Path("made/schema.json").read_text("utf-8"))
    committed = Path(__file__).parents[1] / "generated" / "schema" / "acp" / "v2" / "schema.json"
    assert made == json.loads(committed.read_text("utf-8"))
    assert acpgen(["lint", "acp/v1"]).returncode == 0
    assert acpgen(["validate", "--protocol", "acp/v1", "--sender", "client"], RECORDED).returncode == 0
    same = acpgen(["diff", "acp/v1", "acp/v1", "--format", "json"])
    assert (same.returncode, json.loads(same.stdout)["verdict"]) == (0, "identical")
    assert acpgen(["init", "mine", "acp/v1=mcp/2025-06-18"]).returncode == 0
    assert Path("mine/schema/acp/v1").is_dir()
    shutil.rmtree("mine")


def test_the_history_of_such_a_protocol_is_that_of_its_releases() -> None:
    told = acpgen(["history", "mcp/2025-06-18", "--format", "json"])
    assert told.returncode == 2  # no releases are kept, and there is no repository
    told = acpgen(["history", "acp/v1", "--limit", "2", "--format", "json", "--fail-on", "never"])
    assert (told.returncode, told.stderr) == (0, b"")
    assert len(json.loads(told.stdout)["revisions"]) == 2


def test_what_comes_with_acpgen_is_never_edited() -> None:
    refused = acpgen(["diff", "acp/v1", "acp/v2", "--fix"])
    assert refused.returncode == 2
    assert b"comes with acpgen" in refused.stderr
