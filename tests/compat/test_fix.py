"""`acpgen diff --fix` writes all files or none: whatever the system refuses, every file is as it was, and the fault says what."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen.errors import Faults
from acpgen.files import save
from compat.protocols import ROOT, go, protocol

ENVIRONMENT: Final = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A schema in two files, each with a change that breaks, as large as some blocks of a disk."""
    definitions = {name: go({"a": {"type": "string"}}) for name in ("GoRequest", "TellNotification")}
    old = protocol({**definitions, "GoResponse": None})
    for side, required in (("old", []), ("new", ["a"])):
        (tmp_path / side).mkdir()
        for name in definitions:
            schema = {**old["$defs"][name], "required": required, "$comment": "tide " * 2000}
            text = json.dumps({"$schema": old["$schema"], "$defs": {name: schema}}, indent=2)
            (tmp_path / side / f"{name}.json").write_text(text)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def fix(folder: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    command = f"{before}exec {sys.executable} -m acpgen diff old new --fix"
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )


def test_both_files_are_repaired(folder: Path) -> None:
    done = fix(folder)
    assert done.returncode == 0, done.stderr
    assert "Written: new/GoRequest.json, new/TellNotification.json." in done.stdout + done.stderr
    assert [path.name for path in folder.rglob(".*")] == []


def test_a_write_that_ends_half_way_changes_nothing(folder: Path) -> None:
    before = contents(folder)
    done = fix(folder, "ulimit -f 4; ")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: new/GoRequest.json: it cannot be written (File too large). Nothing was changed."
    )
    assert contents(folder) == before


def refusing(function: Callable[..., Any], code: int, turn: int) -> Callable[..., Any]:
    """A function of the system that refuses from its n-th call on."""
    calls: list[object] = []

    def refused(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) >= turn:
            raise OSError(code, os.strerror(code))
        return function(*arguments, **options)

    return refused


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize(("name", "turn"), [("fsync", 1), ("fsync", 2), ("replace", 1), ("link", 1)])
def test_what_the_system_refuses_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int, name: str, turn: int
) -> None:
    monkeypatch.chdir(folder)
    before = contents(folder)
    refused = refusing(getattr(os, name), code, turn)
    monkeypatch.setattr(os, name, refused)
    if name == "link":
        monkeypatch.setattr(os, "fsync", refusing(os.fsync, code, 3))  # nor can a copy be made
    with pytest.raises(Faults) as caught:
        save(
            Path(),
            {"new/GoRequest.json": "{}", "new/TellNotification.json": "{}"},
            [] if name == "replace" else ["old/GoRequest.json"],
        )
    (fault,) = caught.value.faults
    assert f"it cannot be written ({os.strerror(code)}). Nothing was changed." in str(fault)
    monkeypatch.undo()
    assert contents(folder) == before


def test_a_file_system_without_links_is_written_as_well(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refusing(os.link, errno.EPERM, 1))
    save(folder, {"new/GoRequest.json": "{}", "new/more/one.json": "1"}, ["old/GoRequest.json"])
    assert (folder / "new/GoRequest.json").read_text() == "{}"
    assert not (folder / "old/GoRequest.json").exists()
    assert [path.name for path in folder.rglob(".*")] == []


@pytest.mark.parametrize("with_links", [True, False])
def test_what_was_replaced_comes_back(folder: Path, monkeypatch: pytest.MonkeyPatch, with_links: bool) -> None:
    """The second file cannot take its place, and no room is left on the disk."""
    before = contents(folder)
    replace, calls = os.replace, list[object]()

    def replaced(one: Path, other: Path) -> None:
        calls.append(one)
        if len(calls) == 2:
            monkeypatch.setattr(os, "fsync", refusing(os.fsync, errno.ENOSPC, 1))
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        replace(one, other)

    if not with_links:
        monkeypatch.setattr(os, "link", refusing(os.link, errno.EPERM, 1))
    monkeypatch.setattr(os, "replace", replaced)
    with pytest.raises(Faults, match="Nothing was changed"):
        save(folder, {f"new/{name}.json": "{}" for name in ("GoRequest", "TellNotification")})
    assert contents(folder) == before


def test_what_cannot_come_back_is_told_and_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk takes nothing from the second file on."""
    before = contents(folder)
    monkeypatch.setattr(os, "replace", refusing(os.replace, errno.EROFS, 2))
    with pytest.raises(Faults, match="Their old text is in") as caught:
        save(folder, {f"new/{name}.json": "{}" for name in ("GoRequest", "TellNotification")})
    assert "Nothing was changed" not in str(caught.value.faults[0])
    assert (folder / "new/.GoRequest.json.acpgen-old").read_bytes() == before["new/GoRequest.json"]
    assert (folder / "new/TellNotification.json").read_bytes() == before["new/TellNotification.json"]


def test_a_process_that_is_killed_between_two_files_leaves_each_whole_and_the_next_run_ends_it(folder: Path) -> None:
    before = contents(folder)
    killed = (
        "import os\nreal, turns = os.replace, []\n"
        "def replace(*given, **options):\n"
        "    turns.extend(['new'] if 'acpgen-new' in str(given[0]) else [])\n"
        "    if len(turns) == 2:\n"
        "        os.kill(os.getpid(), 9)\n"
        "    real(*given, **options)\n"
        "os.replace = replace\n"
    )
    assert in_process(folder, killed).returncode == -9
    names = [f"new/{name}.json" for name in ("GoRequest", "TellNotification")]
    after = contents(folder)
    assert after[names[0]] != before[names[0]]
    assert after[names[1]] == before[names[1]]
    assert all(json.loads(after[name]) for name in names)
    assert list(folder.rglob(".*.acpgen-old"))
    assert fix(folder).returncode == 0
    assert [path.name for path in folder.rglob(".*")] == []


def test_a_file_that_has_changed_since_it_was_read_is_not_written(folder: Path) -> None:
    edited = (
        "from pathlib import Path\nfrom acpgen.compat.repair import repair as room\nreal = room.repair\n"
        "def repair(*given, **options):\n"
        "    Path('new/GoRequest.json').write_text('{}')\n"
        "    return real(*given, **options)\n"
        "room.repair = repair\n"
    )
    before = contents(folder)
    done = in_process(folder, edited)
    reason = "it has changed since it was read; run the command again"
    assert done.stderr.startswith(
        f"error: new/GoRequest.json: no repair can be written here: {reason}. Nothing was changed."
    )
    assert (done.returncode, contents(folder)) == (2, {**before, "new/GoRequest.json": b"{}"})


def in_process(folder: Path, prepared: str) -> subprocess.CompletedProcess[str]:
    """`--fix` in a process in which something else is prepared before."""
    run = f"{prepared}import runpy, sys\nsys.argv[1:] = ['diff', 'old', 'new', '--fix']\nrunpy.run_module('acpgen', run_name='__main__')\n"
    command = [sys.executable, "-c", run]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
