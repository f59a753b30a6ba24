"""What OLD and NEW may be, and the places that findings name."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from acpgen.bundle.bundle import DIALECT
from acpgen.compat.compare import compare
from acpgen.compat.findings import Mode
from acpgen.compat.sources import find_source
from acpgen.errors import Fault, Faults
from acpgen.input.faults import LINK_REFUSED, NO_REPOSITORY, NO_REVISION, NOT_FOUND, UNKNOWN_NAME
from acpgen.pointers import resolve
from compat.protocols import RELEASES, Schema, go, migration, protocol

SMALL = protocol({})
LARGER = protocol({"GoRequest": go({"id": {"type": "string"}, "cwd": {"type": "string"}}, ("id", "cwd"))})


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def write(path: Path, schema: Schema) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(schema, indent=2))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose first commit, tagged v1, has a small protocol, and whose working tree has a larger one."""
    (tmp_path / "pyproject.toml").write_text('[tool.acpgen.outputs.out]\ntarget = "bundle"\nprotocols = ["acme/v1"]\n')
    write(tmp_path / "schema" / "acme" / "v1" / "a.json", SMALL)
    write(tmp_path / "schema" / "acme" / "v1" / ".hidden.json", {"nothing": 1})
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    git(tmp_path, "tag", "v1")
    write(tmp_path / "schema" / "acme" / "v1" / "a.json", LARGER)
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_with_two_editions_is_read_as_one_of_them(tmp_path: Path) -> None:
    both, stable, unstable = tmp_path / "both", tmp_path / "stable", tmp_path / "unstable"
    for folder in (both, stable):
        write(folder / "schema.json", SMALL)
    for folder in (both, unstable):
        write(folder / "schema.unstable.json", LARGER)
    assert compare(stable, both).verdict == "identical"
    assert compare(unstable, both, unstable=True).verdict == "identical"
    assert compare(both, unstable).verdict == "breaking"


def the_fault(old: str, new: str) -> Fault:
    with pytest.raises(Faults) as caught:
        compare(old, new)
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize(
    "old",
    ["main:acme/v1", "v1:acme/v1", "HEAD:schema/acme/v1", "HEAD:schema/acme/v1/a.json", "v1:schema/acme/v1/"],
)
@pytest.mark.parametrize("new", ["acme/v1", "schema/acme/v1", "schema/acme/v1/a.json"])
def test_a_protocol_a_file_and_a_folder_are_found_on_disk_and_at_a_revision(project: Path, old: str, new: str) -> None:
    report = compare(old, new)
    assert [finding.rule for finding in report.findings] == ["required-field-added"]
    (finding,) = report.findings
    assert finding.old is not None
    assert finding.new is not None
    revision = old.partition(":")[0]
    assert finding.old.file == f"{revision}:schema/acme/v1/a.json"
    assert finding.new.file == "schema/acme/v1/a.json"
    lines = (project / finding.new.file).read_text().splitlines()
    assert lines[finding.new.line - 1][finding.new.column - 1 :].startswith('"cwd"')


def test_a_revision_is_found_from_a_folder_inside_the_repository(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "inner")
    assert compare("main:acme/v1", "acme/v1").verdict == "breaking"
    assert compare("main:schema/acme/v1/a.json", "../schema/acme/v1/a.json").verdict == "breaking"


def test_what_git_does_not_have_is_a_fault_that_says_so(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert the_fault("nope:acme/v1", "acme/v1").kind == NO_REVISION
    assert the_fault("main:acme/v9", "acme/v1").kind == NOT_FOUND
    assert the_fault("acme/v9.json", "acme/v1").kind == NOT_FOUND
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert the_fault("main:x.json", str(project / "schema")).kind == NO_REPOSITORY


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("acme/v9", "Known versions of 'acme': 'acme/v1'."),
        ("acne/v1", "Did you mean 'acme/v1'?"),
        ("x", "Known names: 'acme/v1', 'acp/"),
    ],
)
def test_a_protocol_that_is_not_there_names_those_that_are(project: Path, name: str, hint: str) -> None:
    fault = the_fault("acme/v1", name)
    assert fault.kind == UNKNOWN_NAME
    assert str(fault).startswith(f"{name}: there is no file, folder or protocol {name!r}. ")
    assert hint in str(fault)


@pytest.mark.parametrize("mode", ["protocol", "language"])
@pytest.mark.parametrize(
    ("old", "new", "answers"),
    [
        (False, False, ("yes", "yes")),
        (True, False, ("no", "yes")),
        (False, {"$schema": DIALECT}, ("yes", "no")),
        (
            {"$schema": DIALECT, "type": "object", "required": ["a"], "additionalProperties": False},
            False,
            ("yes", "yes"),
        ),
        ({"$schema": DIALECT, "type": "string"}, True, ("yes", "no")),
        ({}, True, ("yes", "yes")),
    ],
)
def test_a_file_may_be_a_boolean_or_say_nothing(
    tmp_path: Path, mode: Mode, old: object, new: object, answers: tuple[str, str]
) -> None:
    for name, value in (("old.json", old), ("new.json", new)):
        (tmp_path / name).write_text(json.dumps(value))
    report = compare(tmp_path / "old.json", tmp_path / "new.json", mode=mode)
    assert (report.wire.backward, report.wire.forward) == answers
    assert (report.language.backward, report.language.forward) == answers
    assert (report.verdict in ("identical", "editorial")) == (answers == ("yes", "yes"))


@pytest.mark.parametrize(
    "revision", ["--help", "-c", "--output=x", "main --", "$(touch x)", "`touch x`", "main;touch x"]
)
def test_a_revision_is_never_an_option_nor_a_command(project: Path, revision: str) -> None:
    assert the_fault(f"{revision}:acme/v1", "acme/v1").kind == NO_REVISION
    assert not (project / "x").exists()


def test_a_link_at_a_revision_is_refused(project: Path) -> None:
    (project / "schema" / "acme" / "v1" / "b.json").symlink_to("/etc/passwd")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "two")
    assert the_fault("HEAD:acme/v1", "v1:acme/v1").kind == LINK_REFUSED


def test_both_sides_faults_are_told_together(project: Path) -> None:
    with pytest.raises(Faults) as caught:
        compare("acme/v8", "acme/v9")
    assert len(caught.value.faults) == 2


def test_paths_and_loaded_documents_are_the_same_source(project: Path) -> None:
    import acpgen

    path = project / "schema" / "acme" / "v1"
    assert acpgen.compare(path, acpgen.load(path)).verdict == "identical"
    assert find_source(path).files == find_source("acme/v1").files


def test_every_finding_names_a_place_that_exists_on_both_sides() -> None:
    @cache
    def read(file: str) -> Any:
        return json.loads(Path(file).read_text())

    for report in (migration(), compare(RELEASES / "v1/0.4.0.json", RELEASES / "v1/0.13.5.json")):
        for finding in report.findings:
            assert finding.old is not None or finding.new is not None
            for spot in (finding.old, finding.new):
                if spot is not None:
                    value = resolve(read(spot.file), spot.pointer)
                    assert value == spot.value or spot.value is None
