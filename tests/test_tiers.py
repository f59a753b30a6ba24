"""The two tiers of the suite: samples that stay, slices that are disjoint and hold everything, and the order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import tiers


def items(*names: str) -> list[Any]:
    return [SimpleNamespace(nodeid=name) for name in names]


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


@pytest.mark.parametrize("count", [1, 3, 10])
def test_slices_are_disjoint_and_hold_every_test(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = items(*(f"a.py::test_{number}[{case}]" for number in range(30) for case in "xy"), "b.py::test_long")
    monkeypatch.setattr(tiers, "read_durations", lambda: {"b.py::test_long": 100.0, "a.py::test_3": 20.0})
    slices = [[item.nodeid for item in tiers.select_slice(found, number, count)] for number in range(count)]
    assert sorted(name for each in slices for name in each) == sorted(item.nodeid for item in found)
    functions = [{name.partition("[")[0] for name in each} for each in slices]
    assert sum(map(len, functions)) == 31, "a function is never divided"
    if count > 1:
        assert ["b.py::test_long"] in slices, "what takes long has a slice of its own"


def test_long_files_come_first_and_the_tests_of_a_file_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    found = items("a.py::test_1", "a.py::test_2", "b.py::test_1", "b.py::test_2", "c.py::test_1")
    monkeypatch.setattr(
        tiers, "read_durations", lambda: {"a.py::test_2": 5.0, "b.py::test_1": 3.0, "b.py::test_2": 3.0}
    )
    ordered = [item.nodeid for item in tiers.sort_by_duration(found)]
    assert ordered == ["b.py::test_1", "b.py::test_2", "a.py::test_1", "a.py::test_2", "c.py::test_1"]
