"""Reports that are kept: read as they were written, and told again of the same texts under the same names alone."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acpgen.compat.compare import read_inputs
from acpgen.compat.findings import Mode, Report
from acpgen.compat.report_cache import Comparer
from acpgen.compat.sources import Input
from acpgen.errors import Faults
from acpgen.files.cache import Cache, Code
from acpgen.methods.profile import read_built_in
from compat.protocols import go, protocol, releases

SMALL = protocol({})
LARGER = protocol({"GoRequest": go({"id": {"type": "string"}, "cwd": {"type": "string"}}, ("id", "cwd"))})


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of the new sides that were really compared."""
    found: list[str] = []
    really = Comparer.compare

    def counted(self: Comparer, old: Input, new: Input) -> Report:
        found.append(new.label)
        return really(self, old, new)

    monkeypatch.setattr(Comparer, "compare", counted)
    return found


def sides(folder: Path, old: Any = SMALL, new: Any = LARGER, **how: Any) -> tuple[Input, Input]:
    folder.mkdir(exist_ok=True)
    for name, value in (("old.json", old), ("new.json", new)):
        (folder / name).write_text(json.dumps(value))
    return read_inputs(str(folder / "old.json"), str(folder / "new.json"), **how)


@pytest.mark.parametrize("mode", ["protocol", "language"])
def test_a_report_is_read_as_it_was_written(tmp_path: Path, mode: Mode, made: list[str]) -> None:
    files = [*map(str, releases("v1")[-2:])]
    for old, new in (read_inputs(*files, mode=mode), sides(tmp_path / "small", mode=mode)):
        plain = Comparer(mode, unstable=False)(old, new)
        cache = Cache(tmp_path / "cache")
        again = [Comparer(mode, unstable=False, cache=cache)(old, new) for _ in range(2)]
        assert [*map(repr, again)] == [repr(plain)] * 2
        assert plain.findings
    assert len(made) == 4


def others(tmp_path: Path, old: Input, new: Input) -> Iterable[tuple[Comparer, Input, Input]]:
    cache = Cache(tmp_path / "cache")
    usual = Comparer("protocol", unstable=False, cache=cache)
    yield Comparer("language", unstable=False, cache=cache), old, new
    yield Comparer("protocol", unstable=True, cache=cache), old, new
    yield Comparer("protocol", unstable=False, budget=7, cache=cache), old, new
    yield Comparer("protocol", unstable=False, formats=True, cache=cache), old, new
    yield usual, new, old
    yield usual, replace(old, label="another"), new
    yield usual, old, replace(new, methods=replace(read_built_in("acp"), how="evident"))
    yield usual, *sides(tmp_path / "elsewhere")
    yield usual, *sides(tmp_path / "files", new=SMALL)


def test_another_question_is_another_answer(tmp_path: Path, made: list[str]) -> None:
    old, new = sides(tmp_path / "files")
    usual = Comparer("protocol", unstable=False, cache=Cache(tmp_path / "cache"))
    usual(old, new)
    asked = 1
    for comparing, one, other in others(tmp_path, old, new):
        with contextlib.suppress(Faults):
            comparing(one, other)
        asked += 1
        assert len(made) == asked
    usual(old, new)
    assert len(made) == asked


def test_a_report_whose_code_changed_meanwhile_is_not_kept(
    tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = Code("0" * 64, (("there is no such file", 1, 1),))
    monkeypatch.setattr("acpgen.files.cache.hash_own_code", lambda: changed)
    old, new = sides(tmp_path / "files")
    for _ in range(2):
        Comparer("protocol", unstable=False, cache=Cache(tmp_path / "cache"))(old, new)
    assert len(made) == 2
