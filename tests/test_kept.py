"""What is kept of earlier runs, and on which code it depends: never a stale, damaged or foreign answer."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from acpgen import kept, material, provenance, publish
from acpgen.compat import compare, remembering
from acpgen.compat import guide as guiding
from acpgen.compat.history import recall
from acpgen.compat.protocol.check.check import check
from acpgen.ir import JSON
from acpgen.kept import NOTHING, UNUSED, Kept, user_cache
from acpgen.pipeline import understand
from acpgen.publish import history, outlines
from acpgen.publish.history import Past, histories
from acpgen.schema.load import load
from acpgen.targets import Settings

ROOT = Path(__file__).parents[1]
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


def names_in(path: Path) -> Iterator[str]:
    """All that a module imports, by its syntax."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_module(name: str) -> bool:
    root, *rest = name.split(".")
    path = (ROOT / "generator" / root).joinpath(*rest)
    return root in ("acpgen", "schema_inclusion") and (path.is_dir() or path.with_suffix(".py").is_file())


ENTRIES = (
    recall.COMPARING,
    history.OUTLINING,
    publish.timelines.MODULES,
    publish.changelog.MODULES,
    publish.GUIDING,
)


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_code_of_a_result_is_all_that_its_modules_import(entry: tuple[str, ...]) -> None:
    found = provenance.closure(entry)
    assert set(entry) <= found.keys()
    for path in found.values():
        for name in names_in(path):
            module = name if is_module(name) else name.rpartition(".")[0]
            assert not is_module(module) or module in found, (path, name)


def test_no_module_is_run_by_a_comparison_that_is_not_among_its_code() -> None:
    """Told by what the interpreter has loaded, but for packages that only hold others."""
    script = """
import sys
from acpgen.compat.compare import checked, side
from acpgen.compat.history import recall
from acpgen.compat.remembering import as_data, from_data
from acpgen.compat.sources import opened
before = set(sys.modules)
one, two = (side(opened(f"schema/releases/acp/v2/{name}.json"), unstable=False) for name in ("1.5.0", "1.6.0"))
from_data(as_data(checked(one, two)))
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith(("acpgen.", "schema_inclusion"))}
    packages = {"acpgen.compat", "acpgen.meaning", "acpgen.schema"}
    packages |= {f"acpgen.compat.{name}" for name in ("history", "protocol", "protocol.check", "protocol.rules")}
    assert ours > {"acpgen.compat.protocol.rules.rulebook", "schema_inclusion.comparer"}
    assert ours - packages <= provenance.closure(recall.COMPARING).keys()


def test_code_depends_on_the_bytes_of_modules_and_data_and_on_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dialect.json").write_text("{}")
    monkeypatch.setattr("acpgen.resources.schema", lambda: tmp_path)
    known = {provenance.code.__wrapped__("acpgen.ir").digest}
    known.add(provenance.code.__wrapped__("acpgen.errors").digest)
    looked = provenance.code.__wrapped__("acpgen.ir")
    (tmp_path / "dialect.json").write_text("{ }")
    assert not looked.is_as_it_was
    known.add(provenance.code.__wrapped__("acpgen.ir").digest)

    def version(_: str) -> str:
        return "0"

    monkeypatch.setattr(provenance, "version", version)
    known.add(provenance.code.__wrapped__("acpgen.ir").digest)
    assert len(known) == 4
    assert provenance.code("acpgen.ir") is provenance.code("acpgen.ir")


def test_a_result_whose_code_changed_meanwhile_is_not_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    changed = provenance.Code("0" * 64, (("there is no such file", 1, 1),))
    still = provenance.Code("0" * 64, ())
    assert kept.once(changed, "kind", ["a"], lambda: 1) == 1
    assert kept.once(still, "kind", ["a"], lambda: 2) == 2
    assert kept.once(still, "kind", ["a"], lambda: 3) == 2
    assert kept.once(still, "another", ["a"], lambda: 4) == 4
    assert kept.once(still, "kind", ["a", ""], lambda: 5) == 5


def test_keys_tell_parts_apart() -> None:
    code = provenance.Code("0" * 64, ())
    parts: tuple[list[str], ...] = (["ab"], ["a", "b"], ["a", "b", ""], ["", "ab"], ["\ud800"], [])
    assert len({kept.key(code, "kind", each) for each in parts}) == len(parts)


# --- what is kept of releases ----------------------------------------------------------------------------------------


@cache
def beside() -> material.Material:
    return material.parsed(material.read(ROOT / "schema", ["acp/v2"]))


def releases(kept: Kept) -> list[Past]:
    return [Past(each, kept) for each in beside().releases["acp/v2"].releases]


def test_a_comparison_and_an_outline_are_read_as_they_were_written() -> None:
    past = releases(NOTHING)
    for old, new in [*pairwise(past)][:3]:
        found = compare.checked(old.side, new.side)
        assert found.judged
        assert remembering.from_data(remembering.as_data(found)) == found
    for each in past:
        found_outline = outlines.outline(each.revised)
        assert len(found_outline.types) > 100 and len(found_outline.methods) > 10 and found_outline.own
        assert outlines.from_data(outlines.as_data(found_outline)) == found_outline


SMALL: dict[str, Any] = {
    "$defs": {
        "GoRequest": {"type": "object", "x-method": "go", "x-side": "agent", "properties": {"id": {"type": "string"}}}
    }
}


def small(
    folder: Path, required: list[str], *, is_known: bool = False
) -> tuple[list[publish.Version], material.Material]:
    """A protocol with two releases, of which the second one demands something."""
    changed = json.loads(json.dumps(SMALL))
    changed["$defs"]["GoRequest"]["required"] = required
    for path, value in {
        "p/v1/all.json": changed,
        "releases/p/v1/1.0.json": SMALL,
        "releases/p/v1/2.0.json": changed,
        "releases/p/v1/index.json": {"about": "", "versions": ["1.0", "2.0"]},
    }.items():
        file = folder / "schema" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))
    known = understand(load(folder / "schema" / "p/v1", name="p/v1"))
    content = hashlib.sha256(json.dumps(changed).encode()).hexdigest() if is_known else ""
    version = publish.Version(*known, Settings(prefix="p/v1"), content=content)
    return [version], material.parsed(material.read(folder / "schema", ["p/v1"]))


def test_pages_are_the_same_with_a_cache_and_without_and_change_with_what_they_tell_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(tmp_path / "cache")
    versions, given = small(tmp_path, ["id"])
    plain = publish.documents(versions, given)
    assert publish.documents(versions, given, kept=kept) == plain
    made: list[str] = []

    def counted(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **how: Any) -> Any:
            made.append(what)
            return function(*given, **how)

        return called

    monkeypatch.setattr(recall, "checked", counted("comparison", compare.checked))
    monkeypatch.setattr(history, "side", counted("release", compare.side))
    assert publish.documents(versions, given, kept=kept) == plain
    assert made == ["release"]  # the newest one, which is compared with the schema of today
    versions, given = small(tmp_path, [])
    other = publish.documents(versions, given, kept=kept)
    assert "comparison" in made
    assert other == publish.documents(versions, given)
    assert other["p/v1/history.md"] != plain["p/v1/history.md"]


def test_what_compares_the_schema_of_today_is_kept_and_changes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, made = Kept(tmp_path / "cache"), list[str]()

    def counted(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **how: Any) -> Any:
            made.append(what)
            return function(*given, **how)

        return called

    def told(required: list[str], *, without: bool = False) -> dict[str, str]:
        versions, given = small(tmp_path, required, is_known=True)
        following = replace(versions[0].protocol, name="p/v2")
        content = f"another than {versions[0].content}"
        later = replace(versions[0], protocol=following, settings=Settings(prefix="p/v2"), content=content)
        return dict(publish.documents([*versions, later], given, kept=NOTHING if without else kept))

    monkeypatch.setattr("acpgen.publish.changelog.check", counted("own", check))
    monkeypatch.setattr(guiding, "guide", counted("guide", guiding.guide))
    first = told(["id"])
    assert sorted(made) == ["guide", "own"]
    assert told(["id"]) == first == told(["id"], without=True)
    assert sorted(made) == ["guide", "guide", "own", "own"]
    other = told([])
    assert sorted(made) == ["guide", "guide", "guide", "own", "own", "own"]
    assert other == told([], without=True)
    assert other["p/migration-v1-v2.md"] and other["p/v1/changelog.md"] != first["p/v1/changelog.md"]


def test_an_answer_that_depends_on_the_load_of_the_machine_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(tmp_path / "cache")
    versions, given = small(tmp_path, ["id"])
    counts = iter(range(10))
    monkeypatch.setattr(remembering, "unanswered", lambda: next(counts))
    for _ in range(2):
        histories(versions, given, kept)["p/v1"].comparisons.steps  # noqa: B018
    assert next(counts) == 4
