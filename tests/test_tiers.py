"""The two tiers of the suite: samples that stay, slices that are disjoint and hold everything, and the order."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tiers


def items(*names: str, is_exhaustive: bool = False) -> list[Any]:
    def marker(name: str) -> object:
        return pytest.mark.exhaustive if is_exhaustive and name == "exhaustive" else None

    return [SimpleNamespace(nodeid=name, get_closest_marker=marker) for name in names]


def by_default(cases: list[Any]) -> set[str]:
    return {str(case.id) for case in cases if not case.marks}


def test_a_sample_is_of_its_size_and_every_other_case_is_exhaustive() -> None:
    cases = tiers.sample(range(50), 7)
    assert [case.values for case in cases] == [(number,) for number in range(50)]
    assert len(by_default(cases)) == 7
    assert all([mark.name for mark in case.marks] in ([], ["exhaustive"]) for case in cases)
    assert by_default(tiers.sample(["a", "b"], 5)) == {"a", "b"}


def test_a_sample_is_the_same_each_time_and_in_any_order() -> None:
    names = [f"case {number}" for number in range(50)]
    assert by_default(tiers.sample(names, 7)) == by_default(tiers.sample(reversed(names), 7))


def test_a_case_that_is_added_changes_the_draw_of_at_most_one_other() -> None:
    before = by_default(tiers.sample(range(50), 7))
    assert len(before & by_default(tiers.sample(range(51), 7))) >= 6
    assert len(before & by_default(tiers.sample(range(1, 50), 7))) >= 6


def test_tests_that_draw_from_the_same_cases_do_not_all_draw_the_same() -> None:
    drawn = [by_default(tiers.sample(["mypy", "pyright"], 1, by=f"place {number}")) for number in range(20)]
    assert {"mypy"} in drawn and {"pyright"} in drawn
    assert all(len(each) == 1 for each in drawn)
    assert [case.id for case in tiers.sample(["mypy", "pyright"], 1, by="place 1")] == ["mypy", "pyright"]


def test_what_a_tier_took_changes_nothing_that_is_known_of_the_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tiers, "DURATIONS", tmp_path / "tests" / "durations.json")
    (tmp_path / "tests").mkdir()
    (tmp_path / "a.py").write_text("def test_1() -> None: ...\ndef test_2() -> None: ...\n")
    (tmp_path / "b.py").write_text("def test() -> None: ...\n")
    tiers.write_durations(
        {"default": {"a.py::test_1": 3.0, "a.py::test_2": 4.0, "a.py::test_3": 5.0, "c.py::test_1": 6.0}}
    )
    tiers.write_durations({"exhaustive": {"a.py::test_1": 90.0}})
    tiers.write_durations({"default": {"a.py::test_1": 2.0, "a.py::test_2": 0.4}})
    assert tiers.read_durations() == {"default": {"a.py::test_1": 2}, "exhaustive": {"a.py::test_1": 90}}
    by_tier = [items("a.py::test_1"), items("a.py::test_1", is_exhaustive=True), items("b.py::test")]
    assert [item.nodeid for item in tiers.sort_by_duration([*by_tier[2], *by_tier[1]])] == [
        "a.py::test_1",
        "b.py::test",
    ]
    tiers.write_durations({"exhaustive": {"b.py::test": 5.0}, "default": {"b.py::test": 9.0}})
    assert [item.nodeid for item in tiers.sort_by_duration([*by_tier[0], *by_tier[2]])] == [
        "b.py::test",
        "a.py::test_1",
    ]


@pytest.mark.parametrize("count", [1, 3, 10])
def test_slices_are_disjoint_and_hold_every_test(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = items(*(f"a.py::test_{number}[{case}]" for number in range(30) for case in "xy"), "b.py::test_long")
    monkeypatch.setattr(tiers, "read_durations", lambda: {"default": {"b.py::test_long": 100.0, "a.py::test_3": 20.0}})
    slices = [[item.nodeid for item in tiers.select_slice(found, number, count)] for number in range(count)]
    assert sorted(name for each in slices for name in each) == sorted(item.nodeid for item in found)
    functions = [{name.partition("[")[0] for name in each} for each in slices]
    assert sum(map(len, functions)) == 31, "a function is never divided"
    if count > 1:
        assert ["b.py::test_long"] in slices, "what takes long has a slice of its own"


def test_long_files_come_first_and_the_tests_of_a_file_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    found = items("a.py::test_1", "a.py::test_2", "b.py::test_1", "b.py::test_2", "c.py::test_1")
    monkeypatch.setattr(
        tiers, "read_durations", lambda: {"default": {"a.py::test_2": 5.0, "b.py::test_1": 3.0, "b.py::test_2": 3.0}}
    )
    ordered = [item.nodeid for item in tiers.sort_by_duration(found)]
    assert ordered == ["b.py::test_1", "b.py::test_2", "a.py::test_1", "a.py::test_2", "c.py::test_1"]


def test_one_file_that_looks_at_the_built_site_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    found = items("a.py::test", "b.py::test", "c.py::test", "d.py::test")
    found[0].fixturenames = found[3].fixturenames = ["built"]
    monkeypatch.setattr(tiers, "read_durations", lambda: {"default": {"d.py::test": 2.0, "c.py::test": 3.0}})
    ordered = [item.nodeid for item in tiers.sort_by_duration(found)]
    assert ordered == ["d.py::test", "c.py::test", "a.py::test", "b.py::test"]
