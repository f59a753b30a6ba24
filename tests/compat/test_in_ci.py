"""The check where changes are reviewed: the action, the workflow and the hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from compat.protocols import ROOT, go, protocol

ACTION = ROOT / ".github" / "actions" / "compat"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit of a small schema and a command `acpgen` of its own."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "acpgen"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT / "generator"} exec {sys.executable} -m acpgen "$@"\n')
    command.chmod(0o755)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "s.json").write_text(json.dumps(protocol({})))
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "s.json")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def compare(repository: Path, **inputs: str) -> tuple[int, str, str, str]:
    """What the action does: exit code, log, summary and outputs."""
    summary, output = repository / "summary.md", repository / "output"
    defaults = {
        "NEW": "s.json",
        "OLD": "",
        "MODE": "protocol",
        "FAIL_ON": "risky",
        "FAIL_ON_BINDINGS": "never",
        "WAIVERS": "",
    }
    environment = {
        **os.environ,
        **defaults,
        "REPORT": "",
        "BASE": git(repository, "rev-parse", "HEAD"),
        "PATH": f"{repository / 'bin'}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_OUTPUT": str(output),
        **inputs,
    }
    done = subprocess.run(
        ["bash", str(ACTION / "compare")], cwd=repository, env=environment, capture_output=True, text=True, check=False
    )
    texts = [path.read_text() if path.exists() else "" for path in (summary, output)]
    return done.returncode, done.stdout + done.stderr, texts[0], texts[1]


def break_it(repository: Path) -> None:
    fields = {"id": {"type": "string"}, "cwd": {"type": "string"}}
    (repository / "s.json").write_text(json.dumps(protocol({"GoRequest": go(fields, ("id", "cwd"))})))


def test_the_action_annotates_summarises_and_fails_at_a_breaking_change(repository: Path) -> None:
    break_it(repository)
    code, log, summary, output = compare(repository, REPORT="report.html")
    assert code == 1, log
    assert "::error file=s.json,line=" in log
    assert summary.startswith("### Compatibility of")
    assert output == "verdict=breaking\n"
    assert (repository / "report.html").exists()


def test_the_action_passes_what_it_is_told_to_pass(repository: Path) -> None:
    assert compare(repository)[0] == 0
    break_it(repository)
    assert compare(repository, FAIL_ON="never")[0] == 0


def test_the_action_has_nothing_to_compare_a_new_schema_with(repository: Path) -> None:
    (repository / "t.json").write_text(json.dumps(protocol({})))
    code, log, summary, _ = compare(repository, NEW="t.json")
    assert code == 0, log
    assert "nothing to compare" in summary


def test_the_action_fails_loudly_where_the_schema_cannot_be_read(repository: Path) -> None:
    (repository / "s.json").write_text("{")
    code, log, _, _ = compare(repository)
    assert code == 2
    assert "not JSON" in log


def test_the_action_hands_every_input_to_the_script_and_none_to_the_shell() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    used = json.dumps(action["runs"])
    for name in action["inputs"]:
        assert f"inputs.{name} }}}}" in used
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_the_workflow_compares_every_protocol_of_the_repository() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "compat.yml").read_text())
    protocols = workflow["jobs"]["compat"]["strategy"]["matrix"]["protocol"]
    present = {path.parent.relative_to(ROOT / "schema").as_posix() for path in (ROOT / "schema").glob("*/*/*.json")}
    assert set(protocols) == present
    assert workflow["permissions"] == {"contents": "read"}


def test_the_hook_runs_the_command_on_a_change_of_the_schema() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert hooks["acpgen-diff"]["entry"] == "acpgen diff"
    assert hooks["acpgen-diff"]["pass_filenames"] is False
