"""What is kept of earlier runs, and on which code it depends: never a stale, damaged or foreign answer."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acpgen import kept, provenance
from acpgen.ir import JSON
from acpgen.kept import NOTHING, UNUSED, Kept, user_cache

KEY = "ab" * 32
OTHER = "ab" + "cd" * 31

NO_MODES = pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")


# --- the folder ------------------------------------------------------------------------------------------------------


def file_of(kept: Kept, key: str) -> Path:
    assert kept.folder is not None
    return kept.folder / key[:2] / f"{key[2:]}.json"


def test_what_is_kept_is_found_as_it_was(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "new" / "folder")
    assert kept.find(KEY) is None
    value: JSON = {"text": "ä\ud800\n", "numbers": [1, 1.0, -0.0, 10**30, None], "none": {}}
    kept.keep(KEY, value)
    assert repr(kept.find(KEY)) == repr(value)
    assert kept.find(OTHER) is None


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    NOTHING.keep(KEY, 1)
    assert NOTHING.find(KEY) is None
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\n1", b"\n1", b"[" * 100_000])
def test_what_is_damaged_is_not_found(tmp_path: Path, damage: bytes) -> None:
    kept = Kept(tmp_path)
    kept.keep(KEY, [1])
    file_of(kept, KEY).write_bytes(damage)
    assert kept.find(KEY) is None
    kept.keep(KEY, [1])
    assert kept.find(KEY) == [1]


def test_a_result_under_another_key_is_not_found(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.keep(KEY, [1])
    file_of(kept, KEY).rename(file_of(kept, OTHER))
    assert kept.find(OTHER) is None


@NO_MODES
def test_what_others_can_write_or_have_linked_is_not_trusted(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.keep(KEY, [1])
    file = file_of(kept, KEY)
    assert file.stat().st_mode & 0o777 == 0o600
    for mode in (0o620, 0o602):
        file.chmod(mode)
        assert kept.find(KEY) is None
    file.chmod(0o600)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert kept.find(KEY) is None
    file.unlink()
    os.mkfifo(file)
    assert kept.find(KEY) is None


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/dev/null/below")):
        kept = Kept(folder)
        kept.keep(KEY, [1])
        assert kept.find(KEY) is None


def test_many_writers_of_one_result_leave_it_whole(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    value: JSON = [*range(20_000)]

    def written(_: int) -> JSON:
        kept.keep(KEY, value)
        return kept.find(KEY)

    with ThreadPoolExecutor(8) as pool:
        assert all(seen in (None, value) for seen in pool.map(written, range(64)))
    assert kept.find(KEY) == value
    assert [path.name for path in file_of(kept, KEY).parent.iterdir()] == [file_of(kept, KEY).name]


def test_what_nobody_asks_for_is_removed_and_what_is_used_stays(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.keep(KEY, [1])
    kept.keep(OTHER, [2])
    old = time.time() - UNUSED - 1
    for path in (file_of(kept, KEY), file_of(kept, OTHER), tmp_path / "swept"):
        os.utime(path, (old, old))
    assert kept.find(OTHER) == [2]
    kept.keep("ef" * 32, [3])
    assert not file_of(kept, KEY).exists()
    assert kept.find(OTHER) == [2]


@pytest.mark.parametrize("base", ["", "relative"])
def test_the_cache_is_that_of_the_user(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert user_cache().folder == tmp_path / ".cache" / "acpgen"

    def nobody() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nobody)
    assert user_cache() == NOTHING


# --- the code --------------------------------------------------------------------------------------------------------


def test_code_depends_on_the_bytes_of_modules_and_data_and_on_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dialect.json").write_text("{}")
    monkeypatch.setattr("acpgen.resources.schema", lambda: tmp_path)
    found = provenance.everything.__wrapped__
    looked = found()
    (tmp_path / "dialect.json").write_text("{ }")
    assert not looked.is_as_it_was
    known = {looked.digest, found().digest}

    def version(_: str) -> str:
        return "0"

    monkeypatch.setattr(provenance, "version", version)
    known.add(found().digest)
    assert len(known) == 3
    assert provenance.everything() is provenance.everything()


def test_keys_tell_parts_apart() -> None:
    code = provenance.Code("0" * 64, ())
    parts: tuple[list[str], ...] = (["ab"], ["a", "b"], ["a", "b", ""], ["", "ab"], ["\ud800"], [])
    assert len({kept.key(code, "kind", each) for each in parts}) == len(parts)
