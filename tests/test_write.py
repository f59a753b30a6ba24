"""Writing: folders hold all that they are to hold or stay as they are, and only if they are ours; killed, every file is whole."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from acpgen.errors import Fault, FaultKind, Faults
from acpgen.files import (
    MANIFEST,
    Change,
    Tree,
    compare,
    diff_lines,
    hash_folder,
    replace_files,
    require_files,
    require_folder,
    write,
    write_reports,
)
from acpgen.files.faults import FOREIGN_FOLDER, NOT_A_FOLDER, STRAY_FILE, UNWRITABLE

OLD = {"a.txt": "old\n", "kept.txt": "kept\n", "gone/b.txt": "b\n"}
NEW = {"a.txt": "new\n", "kept.txt": "kept\n", "added/c.txt": "é\r\n"}


def contents(folder: Path) -> dict[str, bytes]:
    """Everything in a folder, the manifest left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def whole_contents(folder: Path) -> dict[str, bytes]:
    """The same without what a run that was stopped left beside files."""
    return {path: text for path, text in contents(folder).items() if ".acpgen-" not in path}


def encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


def faults_of(*trees: Tree) -> tuple[Fault, ...]:
    with pytest.raises(Faults) as caught:
        write(trees)
    return caught.value.faults


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "out"


# --- what is written -------------------------------------------------------------------------------------------------


def test_a_new_folder_holds_the_files_and_nothing_is_left_beside_it(out: Path) -> None:
    (change,) = write([Tree(out, OLD)])
    assert contents(out) == encoded(OLD)
    assert change.written == (".acpgen.json", "a.txt", "gone/b.txt", "kept.txt")
    assert os.listdir(out.parent) == ["out"]


def test_the_difference_between_trees_is_told_and_made(out: Path) -> None:
    write([Tree(out, OLD)])
    tree = Tree(out, NEW)
    expected = Change(
        folder=out,
        written=(".acpgen.json", "a.txt", "added/c.txt"),
        unchanged=("kept.txt",),
        removed=("gone/b.txt",),
        strays=(),
    )
    assert compare(tree) == expected
    assert write([tree], dry=True) == (expected,)
    assert contents(out) == encoded(OLD)
    assert write([tree]) == (expected,)
    assert contents(out) == encoded(NEW)
    assert not (out / "gone").exists()
    assert os.listdir(out.parent) == ["out"]


def test_files_that_stay_keep_their_identity_and_a_folder_that_stays_is_not_touched(out: Path) -> None:
    write([Tree(out, OLD)])
    before = (out / "kept.txt").stat()
    write([Tree(out, NEW)])
    assert ((out / "kept.txt").stat().st_ino, (out / "kept.txt").stat().st_mtime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
    )
    folder = out.stat()
    (change,) = write([Tree(out, NEW)])
    assert change.is_none
    assert (out.stat().st_ino, out.stat().st_mtime_ns) == (folder.st_ino, folder.st_mtime_ns)


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(out: Path, tmp_path: Path) -> None:
    write([Tree(out, OLD)])
    (tmp_path / "elsewhere").write_text("old\n")
    (out / "a.txt").unlink()
    (out / "a.txt").symlink_to(tmp_path / "elsewhere")
    assert write([Tree(out, OLD)])[0].written == ("a.txt",)
    assert not (out / "a.txt").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "old\n"


def test_the_mode_of_the_folder_stays(out: Path) -> None:
    write([Tree(out, OLD)])
    out.chmod(0o750)
    write([Tree(out, NEW)])
    assert out.stat().st_mode & 0o777 == 0o750


def test_the_manifest_lists_what_was_written_and_nothing_that_changes_by_itself(out: Path) -> None:
    write([Tree(out, OLD)])
    assert (out / MANIFEST).read_text() == (
        '{\n  "generator": "acpgen",\n  "files": [\n    "a.txt",\n    "gone/b.txt",\n    "kept.txt"\n  ]\n}\n'
    )


def test_an_empty_tree_is_a_tree(out: Path) -> None:
    write([Tree(out, OLD)])
    write([Tree(out, {})])
    assert contents(out) == {}
    assert write([Tree(out, {})])[0].is_none


@pytest.mark.parametrize(
    "path",
    ["../x", "/x", "a/../../x", "a//b", "a/", "", ".", "a\\b", "C:x", "a\0b", "a b", "é", "-\n", MANIFEST],
)
def test_a_path_that_could_leave_the_folder_is_a_bug_of_ours(out: Path, path: str) -> None:
    with pytest.raises(AssertionError):
        write([Tree(out, {path: ""})])
    assert not out.exists()


def test_a_digest_sees_every_file_and_no_cache(out: Path) -> None:
    assert hash_folder(out) is None
    write([Tree(out, OLD)])
    before = hash_folder(out)
    (out / "__pycache__").mkdir()
    (out / "__pycache__" / "x.pyc").write_text("x")
    assert hash_folder(out) == before
    (out / "stray").write_text("")
    assert hash_folder(out) != before


# --- whose folder it is ----------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_ours_is_never_touched(out: Path) -> None:
    out.mkdir(parents=True)
    (out / "precious").write_text("1")
    assert faults_of(Tree(out, NEW)) == (FOREIGN_FOLDER(at=out.as_posix()),)
    assert contents(out) == {"precious": b"1"}
    (out / MANIFEST).write_text("{}")
    assert faults_of(Tree(out, NEW)) == (FOREIGN_FOLDER(at=out.as_posix()),)
    assert contents(out) == {"precious": b"1"}


def test_what_cannot_be_written_is_told_before_the_work_for_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "full" / "deep").mkdir(parents=True)
    (tmp_path / "full" / "precious").write_text("1")
    (tmp_path / "ours").mkdir()
    write([Tree(tmp_path / "ours", OLD)])

    def refused(check: Callable[[], None]) -> tuple[Fault, ...]:
        with pytest.raises(Faults) as caught:
            check()
        return caught.value.faults

    def fault_of(folder: Path) -> FaultKind:
        (fault,) = refused(lambda: require_folder(Tree(folder, {})))
        return fault.kind

    for folder in ("new", "ours", "new/deep", "full/deep"):
        require_folder(Tree(tmp_path / folder, {}))
    assert fault_of(tmp_path / "full") is FOREIGN_FOLDER
    assert fault_of(tmp_path / "file") is NOT_A_FOLDER
    assert fault_of(tmp_path / "file" / "below") is UNWRITABLE
    (tmp_path / "ours" / "mine").write_text("")
    assert fault_of(tmp_path / "ours") is STRAY_FILE
    require_files([tmp_path / "new" / "report.html", tmp_path / "file", Path(os.devnull)])
    reasons = [str(fault) for fault in refused(lambda: require_files([tmp_path / "full", tmp_path / "file" / "a"]))]
    assert ["Is a directory" in reasons[0], "Not a directory" in reasons[1]] == [True, True]
    assert not (tmp_path / "new").exists()


def test_an_empty_folder_and_one_with_caches_alone_may_be_used(out: Path) -> None:
    out.mkdir(parents=True)
    write([Tree(out, NEW)])
    assert contents(out) == encoded(NEW)
    other = out.with_name("other")
    (other / "__pycache__").mkdir(parents=True)
    write([Tree(other, NEW)])
    assert contents(other) == encoded(NEW)
    assert sorted(os.listdir(out.parent)) == ["other", "out"]


def test_a_file_that_we_did_not_write_is_a_fault_and_in_a_dry_run_a_difference(out: Path) -> None:
    write([Tree(out, OLD)])
    (out / "gone" / "mine.txt").write_text("1")
    assert faults_of(Tree(out, OLD)) == (STRAY_FILE(at=(out / "gone/mine.txt").as_posix()),)
    (change,) = write([Tree(out, OLD)], dry=True)
    assert change.strays == ("gone/mine.txt",)
    assert list(diff_lines(Tree(out, OLD), change)) == [
        f"Only in {out.as_posix()}, and not written by acpgen: gone/mine.txt"
    ]


def test_a_file_of_the_user_at_a_path_that_we_come_to_need_is_not_overwritten(out: Path) -> None:
    write([Tree(out, OLD)])
    (out / "added").mkdir()
    (out / "added" / "c.txt").write_text("mine")
    assert faults_of(Tree(out, NEW)) == (STRAY_FILE(at=(out / "added/c.txt").as_posix()),)


def test_a_lost_manifest_is_written_again_if_all_else_is_as_it_should_be(out: Path) -> None:
    write([Tree(out, OLD)])
    (out / MANIFEST).unlink()
    assert write([Tree(out, OLD)])[0].written == (MANIFEST,)
    assert os.listdir(out.parent) == ["out"]
    assert write([Tree(out, OLD)])[0].is_none
    (out / MANIFEST).unlink()
    assert faults_of(Tree(out, NEW)) == (FOREIGN_FOLDER(at=out.as_posix()),)


def test_a_manifest_with_the_marks_of_a_merge_conflict_still_says_what_is_ours(out: Path) -> None:
    write([Tree(out, OLD)])
    text = (out / MANIFEST).read_text()
    (out / MANIFEST).write_text(
        text.replace('    "a.txt",\n', '<<<<<<< HEAD\n    "a.txt",\n=======\n    "z",\n>>>>>>> b\n')
    )
    write([Tree(out, NEW)])
    assert contents(out) == encoded(NEW)


# --- where it lies ---------------------------------------------------------------------------------------------------


def test_an_output_that_is_a_file_or_a_link_is_refused(out: Path, tmp_path: Path) -> None:
    out.parent.mkdir()
    out.write_text("1")
    assert faults_of(Tree(out, NEW)) == (NOT_A_FOLDER(at=out.as_posix()),)
    assert out.read_text() == "1"
    out.unlink()
    (tmp_path / "real").mkdir()
    out.symlink_to(tmp_path / "real")
    assert faults_of(Tree(out, NEW)) == (NOT_A_FOLDER(at=out.as_posix()),)
    assert not list((tmp_path / "real").iterdir())


def test_a_link_between_the_project_and_its_output_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "generated").symlink_to(tmp_path / "elsewhere")
    out = tmp_path / "project" / "generated" / "x"
    assert faults_of(Tree(out, NEW, root=tmp_path / "project")) == (NOT_A_FOLDER(at=out.as_posix()),)
    (tmp_path / "alias").symlink_to(tmp_path / "project")
    write([Tree(tmp_path / "alias" / "y", NEW, root=tmp_path / "alias")])
    assert contents(tmp_path / "project" / "y") == encoded(NEW)


def test_a_file_on_the_way_to_an_output_is_a_fault(out: Path) -> None:
    out.parent.write_text("1")
    (fault,) = faults_of(Tree(out, NEW))
    assert fault.kind == UNWRITABLE
    assert fault.at == out.parent.as_posix()


def test_the_folder_in_which_the_user_stands_is_written_and_stays(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write([Tree(out, OLD)])
    monkeypatch.chdir(out)
    write([Tree(out, NEW)])
    assert sorted(os.listdir()) == [MANIFEST, "a.txt", "added", "kept.txt"]


def test_a_file_and_a_folder_of_files_take_the_places_of_each_other(out: Path) -> None:
    files, folders = {"a": "1", "b/c": "1", "b/d/e": "1"}, {"a/x/y": "2", "b": "2"}
    write([Tree(out, files)])
    (out / "b" / "__pycache__").mkdir()
    (out / "b" / "__pycache__" / "x.pyc").write_text("x")
    for tree in (folders, files, folders):
        write([Tree(out, tree)])
        assert contents(out) == encoded(tree)


def test_a_folder_that_becomes_empty_goes_with_what_other_tools_cached_in_it(out: Path) -> None:
    write([Tree(out, OLD)])
    (out / "gone" / "__pycache__").mkdir()
    (out / "gone" / "__pycache__" / "b.pyc").write_text("x")
    write([Tree(out, NEW)])
    assert not (out / "gone").exists()


# --- failure ---------------------------------------------------------------------------------------------------------


STEPS = ("os.mkdir", "os.replace", "os.fsync", "os.link", "os.unlink", "os.rmdir", "os.scandir")


def before_each_step(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Call `act` before every step of a write that reaches the disk."""
    for name in STEPS:
        owner, _, attribute = name.rpartition(".")
        original = getattr(sys.modules[owner], attribute)

        def step(*args: Any, original: Any = original, **options: Any) -> Any:
            act()
            return original(*args, **options)

        monkeypatch.setattr(sys.modules[owner], attribute, step)


def killed_at(number: int, trees: list[Tree]) -> bool:
    """Write in a process that kills itself before its step `number`; whether it came so far."""
    child = os.fork()
    if child == 0:
        steps = count()

        def act() -> None:
            if next(steps) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        before_each_step(pytest.MonkeyPatch(), act)
        write(trees)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize(
    "before", [OLD, pytest.param({}, marks=pytest.mark.exhaustive), pytest.param(None, marks=pytest.mark.exhaustive)]
)
def test_killed_at_any_step_each_file_is_the_old_or_the_new_one_and_the_next_run_does_the_rest(
    tmp_path: Path, before: dict[str, str] | None
) -> None:
    wanted = {path: {OLD.get(path), NEW.get(path)} for path in {*OLD, *NEW}}
    for number in count():
        out = tmp_path / str(number) / "out"
        if before is not None:
            write([Tree(out, before)])
        else:
            out.parent.mkdir()
        killed = killed_at(number, [Tree(out, NEW)])
        held = whole_contents(out)
        assert all(text.decode() in wanted[path] for path, text in held.items())
        assert {path for path in before or () if path in NEW} <= held.keys()
        write([Tree(out, NEW)])
        assert contents(out) == encoded(NEW)
        assert os.listdir(out.parent) == ["out"]
        if not killed:
            assert number > 10
            break


def test_killed_at_any_step_among_files_of_others_each_file_is_whole_and_the_next_run_leaves_nothing_beside(
    tmp_path: Path,
) -> None:
    old, new = {"a": "1", "b/c": "1", "gone": "1", "same": "1"}, {"a": "2", "b/c": "2", "more/d": "2", "same": "1"}
    for number in count():
        out = tmp_path / str(number)
        write([Tree(out, old, shared=True)])
        (out / "theirs").write_text("theirs")
        killed = killed_at(number, [Tree(out, new, shared=True)])
        held = whole_contents(out)
        assert held.pop("theirs") == b"theirs"
        assert all(text in (b"1", b"2") for path, text in held.items() if path != MANIFEST)
        write([Tree(out, new, shared=True)])
        assert contents(out) == {**encoded(new), "theirs": b"theirs"}
        assert not list(out.rglob("*.acpgen-*"))
        if not killed:
            assert number > 10
            break


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_failing_at_any_step_no_output_changes_or_all_do(tmp_path: Path, failure: type[BaseException]) -> None:
    for number in count():
        folder = tmp_path / str(number)
        first, second, third = folder / "first", folder / "second", folder / "third"
        write([Tree(first, OLD), Tree(second, OLD)])
        steps = count()
        states: list[dict[str, str] | None]

        def act(number: int = number, steps: Iterator[int] = steps) -> None:
            if next(steps) == number:
                raise failure(errno.ENOSPC, "No space left on device")

        with pytest.MonkeyPatch.context() as patch:
            before_each_step(patch, act)
            try:
                write([Tree(first, NEW), Tree(second, NEW), Tree(third, NEW)])
            except Faults as faults:
                states = [OLD, OLD, None] if faults.faults[0].kind == UNWRITABLE else [{}]
            except KeyboardInterrupt:
                states = []
            else:
                states = [NEW, NEW, NEW]
        for place, state in zip((first, second, third), states, strict=False):
            assert (contents(place) if place.exists() else None) == (None if state is None else encoded(state)), number
        if not states:
            assert whole_contents(first) in (encoded(OLD), encoded(NEW))
        write([Tree(first, NEW), Tree(second, NEW), Tree(third, NEW)])
        assert sorted(os.listdir(folder)) == ["first", "second", "third"]
        if next(steps) <= number:
            assert number > 40
            break


def test_runs_at_the_same_time_leave_one_whole_tree(out: Path) -> None:
    trees = [{f"{n}/{m}.txt": f"{n}" for m in range(12)} for n in range(4)]
    failed: list[BaseException] = []

    def work(files: dict[str, str]) -> None:
        try:
            for _ in range(6):
                write([Tree(out, files)])
        except Faults as faults:
            failed.append(faults)

    threads = [threading.Thread(target=work, args=(files,)) for files in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert contents(out) in [encoded(files) for files in trees]
    assert os.listdir(out.parent) == ["out"]


# --- the difference --------------------------------------------------------------------------------------------------


def test_the_difference_is_a_unified_diff(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write([Tree(out, {"a.txt": "1\n2\n", "b.txt": "b\n"})])
    monkeypatch.chdir(out.parent)
    tree = Tree(out, {"a.txt": "1\n3\n", "c.txt": "", "d.txt": "d\n"})
    lines = list(diff_lines(tree, compare(tree)))
    assert lines[0] == "--- a/out/.acpgen.json"
    assert lines[lines.index("--- a/out/a.txt") :] == [
        *("--- a/out/a.txt", "+++ b/out/a.txt", "@@ -1,2 +1,2 @@", " 1", "-2", "+3"),
        *("--- a/out/b.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-b"),
        "out/c.txt: an empty file, or other line ends",
        *("--- /dev/null", "+++ b/out/d.txt", "@@ -0,0 +1 @@", "+d"),
    ]


# --- single files ----------------------------------------------------------------------------------------------------


def test_a_report_is_written_where_a_link_leads(tmp_path: Path) -> None:
    file, link = tmp_path / "there" / "report.md", tmp_path / "link.md"
    write_reports({file: "old"})
    link.symlink_to(file)
    write_reports({link: "new"})
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link.md", "report.md", "there"]


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    write_reports({pipe: "said"})
    reader.join(10)
    assert heard == ["said"]
    assert pipe.is_fifo()
    with pytest.raises(Faults, match="directory"):
        write_reports({tmp_path: "text"})


def test_a_file_that_cannot_be_written_leaves_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    file, more = tmp_path / "report.md", tmp_path / "new" / "report.md"
    replace_files({file: b"old"})
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(Faults, match="no space"):
        replace_files({file: b"new", more: b"new"})
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
    assert file.read_text() == "old"
