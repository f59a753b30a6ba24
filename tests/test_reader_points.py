"""What readers of the command line stumbled over: each point as they see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen.bundle.bundle import bundle
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.waivers import read
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.publish import migration
from commands import acpgen
from compat.protocols import Schema, compared, go, protocol

TYPES: Final[dict[str, Any]] = {"$defs": {"Tide": {"type": "object", "properties": {"metres": {"type": "integer"}}}}}


def put(file: Path, value: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")
    return file


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder beside two revisions of a schema."""
    changed = json.loads(json.dumps(TYPES).replace("integer", "string"))
    put(tmp_path / "old.json", TYPES)
    put(tmp_path / "new.json", changed)
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def test_paths_stay_as_they_were_given(here: Path) -> None:
    told = acpgen(["diff", "../old.json", "../new.json"], cwd=here).stdout.decode()
    assert "    old ../old.json:1:" in told
    assert str(here.parent) not in told
    missing = acpgen(["lint", "../nothing.json"], cwd=here).stderr.decode()
    assert missing.startswith("error: ../nothing.json: ")


def test_a_waiver_has_paths_relative_to_its_file(here: Path) -> None:
    given = [str(here.parent / name) for name in ("old.json", "new.json")]
    report = json.loads(acpgen(["diff", *given, "--format", "json"], cwd=here).stdout)
    fingerprint = report["findings"][0]["fingerprint"]
    decided = ["--waive", fingerprint, "--reason", "Nobody sends it.", "--until", "2999-01-01"]
    assert acpgen(["diff", *given, "--waivers", "waivers.toml", *decided], cwd=here).returncode == 0
    (waiver,) = read(here / "waivers.toml")
    assert waiver.old.startswith("../old.json#/")
    assert acpgen(["diff", *given, "--waivers", "waivers.toml"], cwd=here).returncode == 0


@pytest.mark.parametrize("value", [True, False, {}])
def test_a_file_that_says_nothing_is_a_schema_for_every_command(tmp_path: Path, value: Any) -> None:
    put(tmp_path / "all.json", value)
    made = acpgen(["generate", "--schema", "all.json", "--target", "bundle", "--out", "out"], cwd=tmp_path)
    compared = acpgen(["diff", "all.json", "all.json"], cwd=tmp_path)
    assert (made.returncode, compared.returncode) == (0, 0), made.stderr
    assert b"schema-malformed" not in acpgen(["lint", "all.json"], cwd=tmp_path).stdout


def test_history_outside_a_repository_says_what_to_do(here: Path) -> None:
    told = acpgen(["history", "HEAD", "--", "../old.json"], cwd=here).stderr.decode()
    assert "the current folder is in no git repository" in told
    assert "acpgen history OLDEST.json NEWEST.json" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ("diff", "../old.json", "../new.json", "--report-url", "nowhere"),
        ("history", "--limit", "0", "../old.json"),
        ("history", "--since", "2999-01-01", "HEAD", "--", "../old.json"),
        ("history", "--since", "2020-01-01", "../old.json", "../new.json"),
        ("diff", "../old.json", "../new.json", "--waivers", "../waivers.toml"),
    ],
)
def test_an_error_about_an_option_has_a_hint(here: Path, arguments: tuple[str, ...]) -> None:
    (here.parent / "waivers.toml").write_text("[[waiver]]\nrule = 'x'\n")
    told = acpgen(arguments, cwd=here)
    lines = told.stderr.decode().splitlines()
    assert told.returncode == 2
    assert [line.partition(":")[0] for line in lines] == ["error", "hint"] * (len(lines) // 2), lines


def test_what_is_not_read_of_openrpc_is_said_by_every_command(tmp_path: Path) -> None:
    result = {"name": "sum", "schema": {"type": "integer"}}
    method = {"name": "add", "params": [], "result": result, "errors": [{"code": 5, "message": "too high"}]}
    put(tmp_path / "sums.json", {"openrpc": "1.2.6", "info": {"title": "Sums", "version": "1"}, "methods": [method]})
    made = acpgen(["generate", "--schema", "sums.json", "--target", "bundle", "--out", "out"], cwd=tmp_path)
    told = "'errors of add' is not read, and has no effect."
    assert f"note: sums.json#: {told}" in made.stderr.decode()
    assert f"sums.json:1:1: keyword-meaningless: {told}" in acpgen(["lint", "sums.json"], cwd=tmp_path).stdout.decode()


def params(form: Any) -> Schema:
    return protocol({"GoRequest": go({"x": form})})


def test_a_guide_without_checklists_promises_none(tmp_path: Path) -> None:
    files = [put(tmp_path / name / "p.json", params({"type": name})) for name in ("integer", "string")]
    old, new = (SchemaRevision(lower(made), made) for made in map(bundle, map(load, files)))
    pages = "".join(text for _, text in migration.make_guide(old, new).values())
    assert "hecklist" not in pages
    assert "Send the new type only, and expect it." in pages


def test_a_type_of_any_value_is_not_told_as_itself() -> None:
    known = {"type": "object", "properties": {"a": {"type": "string"}}}
    report = compared(params({}), params({"anyOf": [known, {}]}))
    assert not any("any value (previously any value)" in each.message for each in report.findings)
