"""The cache: never a stale, damaged or foreign answer, and in memory what may lag is made in the next round."""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acpgen import config, errors, ir
from acpgen.bundle.faults import STRAY_DEFINITION
from acpgen.files.cache import NO_CACHE, UNUSED, Cache, find_user_cache, hash_own_code, make_key
from acpgen.files.serialization import from_json, to_json
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.ir import JSON
from acpgen.publish import site
from acpgen.publish.memory import FORGETFUL, Memory
from acpgen.publish.site import site_files

KEY = "ab" * 32
OTHER = "ab" + "cd" * 31

NO_MODES = pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")


# --- the folder ------------------------------------------------------------------------------------------------------


def file_of(cache: Cache, key: str) -> Path:
    assert cache.folder is not None
    return cache.folder / key[:2] / f"{key[2:]}.json"


def test_what_is_kept_is_found_as_it_was(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new" / "folder")
    assert cache.find(KEY) is None
    value: JSON = {"text": "ä\ud800\n", "numbers": [1, 1.0, -0.0, 10**30, None], "none": {}}
    cache.keep(KEY, value)
    assert repr(cache.find(KEY)) == repr(value)
    assert cache.find(OTHER) is None


def test_of_a_key_the_last_value_is_found_and_only_for_its_own_inputs(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep(KEY, [1], "a")
    assert (cache.find(KEY, "a"), cache.find(KEY, "b"), cache.find(KEY)) == ([1], None, None)
    cache.keep(KEY, [2], "b")
    assert (cache.find(KEY, "a"), cache.find(KEY, "b")) == (None, [2])


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    NO_CACHE.keep(KEY, 1)
    assert NO_CACHE.find(KEY) is None
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\n1", b"\n1", b"[" * 100_000])
def test_what_is_damaged_is_not_found(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    cache.keep(KEY, [1])
    file_of(cache, KEY).write_bytes(damage)
    assert cache.find(KEY) is None
    cache.keep(KEY, [1])
    assert cache.find(KEY) == [1]


def test_a_result_under_another_key_is_not_found(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep(KEY, [1])
    file_of(cache, KEY).rename(file_of(cache, OTHER))
    assert cache.find(OTHER) is None


@NO_MODES
def test_what_others_can_write_or_have_linked_is_not_trusted(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep(KEY, [1])
    file = file_of(cache, KEY)
    assert file.stat().st_mode & 0o777 == 0o600
    for mode in (0o620, 0o602):
        file.chmod(mode)
        assert cache.find(KEY) is None
    file.chmod(0o600)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert cache.find(KEY) is None
    file.unlink()
    os.mkfifo(file)
    assert cache.find(KEY) is None


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/dev/null/below")):
        cache = Cache(folder)
        cache.keep(KEY, [1])
        assert cache.find(KEY) is None


def test_many_writers_of_one_result_leave_it_whole(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    value: JSON = [*range(20_000)]

    def written(_: int) -> JSON:
        cache.keep(KEY, value)
        return cache.find(KEY)

    with ThreadPoolExecutor(8) as pool:
        assert all(seen in (None, value) for seen in pool.map(written, range(64)))
    assert cache.find(KEY) == value
    assert [path.name for path in file_of(cache, KEY).parent.iterdir()] == [file_of(cache, KEY).name]


def test_what_nobody_asks_for_is_removed_and_what_is_used_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep(KEY, [1])
    cache.keep(OTHER, [2])
    old = time.time() - UNUSED - 1
    for path in (file_of(cache, KEY), file_of(cache, OTHER), tmp_path / "swept"):
        os.utime(path, (old, old))
    assert cache.find(OTHER) == [2]
    cache.keep("ef" * 32, [3])
    assert not file_of(cache, KEY).exists()
    assert cache.find(OTHER) == [2]


@pytest.mark.parametrize("base", ["", "relative"])
def test_the_cache_is_that_of_the_user(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert find_user_cache().folder == tmp_path / ".cache" / "acpgen"

    def nobody() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nobody)
    assert find_user_cache() == NO_CACHE


# --- the code --------------------------------------------------------------------------------------------------------


def test_code_depends_on_the_bytes_of_modules_and_data_and_on_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dialect.json").write_text("{}")
    monkeypatch.setattr("acpgen.resources.locate_schema", lambda: tmp_path)
    found = hash_own_code.__wrapped__
    looked = found()
    (tmp_path / "dialect.json").write_text("{ }")
    assert not looked.is_as_it_was
    known = {looked.digest, found().digest}

    def version(_: str) -> str:
        return "0"

    monkeypatch.setattr("importlib.metadata.version", version)
    known.add(found().digest)
    assert len(known) == 3
    assert hash_own_code() is hash_own_code()


def test_records_and_what_stands_between_them_are_read_as_they_were_written() -> None:
    found = ir.Record(
        "A", (ir.Field("a", ir.AnyOf((ir.Null(), ir.Ref("B"))), True, default=ir.Default([{"": [1.0]}])),)
    )
    values: list[object] = [None, True, 1, 1.0, "a", (), ("", "{}"), [""], ["{}"], {"a": [1, {}]}, {}, float("inf")]
    values += [STRAY_DEFINITION("a.json#/$defs/b"), UNKNOWN_NAME("a", kind="b", name="c", hint="d"), (found, {})]
    values += [found, {"A": found}, {"a": ()}, {"": {"a": (found, {})}}, frozenset({"b", "a"}), frozenset()]
    for value in values:
        written = to_json(value)
        read = from_json(json.loads(json.dumps(written)), {**vars(ir), **vars(errors)})
        assert repr(to_json(read)) == repr(written)
        assert (type(read), read) == (type(value), value)


def test_keys_tell_parts_apart() -> None:
    parts: tuple[list[str], ...] = (["ab"], ["a", "b"], ["a", "b", ""], ["", "ab"], ["\ud800"], [])
    assert len({make_key(*each) for each in parts}) == len(parts)


# --- in memory -------------------------------------------------------------------------------------------------------


def asked(memory: Memory, *inputs: object, may_lag: bool = False) -> object:
    return memory.compute_once("kind", inputs, lambda: object(), may_lag=may_lag)


def test_the_last_result_is_taken_again_while_its_inputs_are_equal() -> None:
    memory = Memory()
    first = asked(memory, "a", ["b"])
    assert asked(memory, "a", ["b"]) is first is memory.get_last("kind")
    assert asked(memory, "a", ["c"]) is not first
    assert asked(memory, "a") is not asked(memory, "a", "b")
    assert memory.get_last("other") is None
    assert asked(FORGETFUL, "a") is not asked(FORGETFUL, "a")


def test_what_is_made_is_told_before_and_what_is_taken_again_is_not() -> None:
    told: list[str] = []
    memory = Memory(before=told.append)
    asked(memory, "a")
    asked(memory, "a")
    assert told == ["kind"]
    asked(memory, "b")
    assert told == ["kind", "kind"]


def test_in_a_hurry_only_what_may_lag_lags_and_is_made_in_the_next_round() -> None:
    memory = Memory()
    memory.begin(in_hurry=True)
    first = asked(memory, 1, may_lag=True)
    assert not memory.is_behind
    assert asked(memory, 2, may_lag=True) is first and memory.is_behind
    memory.begin(in_hurry=False)
    second = asked(memory, 2, may_lag=True)
    assert second is not first and not memory.is_behind
    memory.begin(in_hurry=True)
    assert asked(memory, 3) is not second and not memory.is_behind


def test_what_raises_is_asked_again() -> None:
    memory = Memory()
    with pytest.raises(ZeroDivisionError):
        memory.compute_once("kind", (), lambda: 1 / 0)
    assert memory.get_last("kind") is None


def small_project(folder: Path) -> config.Config:
    """Two versions of a protocol, a page by hand and a module."""
    for version in ("v1", "v2"):
        asked: dict[str, object] = {
            "type": "object",
            "x-method": "note/add",
            "x-side": "server",
            "description": f"Adds in {version}.",
        }
        asked |= {"properties": {"count": {"description": "How many.", "default": 1, "examples": [1]}}}
        result = {"type": "object", "x-method": "note/add", "x-side": "server", "description": "Added."}
        (folder / "schema" / "note" / version).mkdir(parents=True)
        text = json.dumps({"$defs": {"AddNoteRequest": asked, "AddNoteResponse": result}})
        (folder / "schema" / "note" / version / "note.json").write_text(text)
    (folder / "schema" / "pages").mkdir()
    (folder / "schema" / "pages" / "more.md").write_text("# More\n\nBy hand.\n")
    (folder / "module.py").write_text('"""A module."""\n\n__all__ = ["add"]\n\n\ndef add() -> None:\n    """Add."""\n')
    (folder / "pyproject.toml").write_text(
        '[tool.acpgen.outputs.docs]\ntarget = "docs"\nprotocols = ["note/v1", "note/v2"]\n'
        '[tool.acpgen.site]\npython = ["module.py"]\n'
    )
    return config.find(folder)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("schema/pages/more.md", "By hand.", "Edited."),
        ("module.py", "A module.", "Edited."),
        ("schema/note/v1/note.json", "Adds in v1.", "Edited."),
        ("schema/note/v1/note.json", '"default": 1', '"default": true'),
        ("schema/note/v2/note.json", '"default": 1', '"default": 1.0'),
        ("schema/note/v2/note.json", '"count": {', '"more": {"type": "string"}, "count": {'),
        ("schema/note/v2/note.json", "AddNote", "PutNote"),
        ("pyproject.toml", "[tool.acpgen.site]", '[tool.acpgen.names]\n"AddNoteRequest" = "Wish"\n[tool.acpgen.site]'),
    ],
)
def test_a_site_of_what_is_remembered_is_the_site_made_anew(tmp_path: Path, file: str, old: str, new: str) -> None:
    """To Python 1, 1.0 and true are equal, and to a page they are not."""
    memory = Memory()

    def docs(memory: Memory) -> site_files.Docs:
        found = config.find(tmp_path)
        return site.make_docs(found, site.read_inputs(found), memory)

    small_project(tmp_path)
    before = docs(memory)
    assert docs(memory) == before == docs(FORGETFUL)
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    wanted = docs(FORGETFUL)
    assert wanted != before
    memory.begin(in_hurry=True)
    docs(memory)
    assert memory.is_behind is (file.startswith("schema/note") or "names" in new)
    memory.begin(in_hurry=False)
    assert docs(memory) == wanted


def test_an_edit_by_hand_makes_no_pages_again_that_hold_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory()
    found = small_project(tmp_path)
    site.make_docs(found, site.read_inputs(found), memory)
    (tmp_path / "schema/pages/more.md").write_text("# More\n\nEdited.\n")

    def fail(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr("acpgen.publish.schemas.write_pages", fail)
    monkeypatch.setattr("acpgen.publish.validation_page.write_page", fail)
    monkeypatch.setattr("acpgen.publish.lint_rules.write_page", fail)
    monkeypatch.setattr("acpgen.publish.parse_table", fail)
    monkeypatch.setattr("acpgen.publish.version_comparison.write_page", fail)
    assert "Edited." in site.make_docs(found, site.read_inputs(found), memory).documents["more.md"]
