"""The two tiers of the suite: what runs by default, and `exhaustive`, which holds what the first one samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")

DURATIONS: Final = Path(__file__).with_name("durations.json")
"""Seconds that the functions of tests seconds in the last recorded run; what takes less than a second is left out."""

_SEED: Final = "1"


def sample(cases: Iterable[T], size: int, name: Callable[[T], str] = str) -> list[Any]:
    """Parameters of a test: `size` of the cases, drawn by a seed, run by default, and the others are marked `exhaustive`.

    A case that is added changes the draw of at most one other. `name` makes the id of a case; ids must differ.
    """
    listed = list(cases)
    drawn = {name(case) for case in draw(listed, size, name)}
    return [
        pytest.param(case, id=name(case), marks=() if name(case) in drawn else pytest.mark.exhaustive)
        for case in listed
    ]


def draw(cases: Iterable[T], size: int, name: Callable[[T], str] = str) -> list[T]:
    """Draw `size` of the cases by a seed; they keep their order. A case that is added changes at most one of them."""
    listed = list(cases)
    drawn = set(sorted(map(name, listed), key=_rank)[:size])
    return [case for case in listed if name(case) in drawn]


EXTENTS: Final = (pytest.param(False, id="sample"), pytest.param(True, id="whole", marks=pytest.mark.exhaustive))
"""Parameters of a test that goes through many inputs itself: whether it tries all of them, or a sample as by default."""


def _rank(name: str) -> str:
    return sha256(f"{_SEED} {name}".encode()).hexdigest()


def function_name(item: pytest.Item) -> str:
    """The file and the function of a test, without its parameters."""
    return item.nodeid.partition("[")[0]


def read_durations() -> Mapping[str, float]:
    """The recorded seconds by function."""
    return json.loads(DURATIONS.read_text("utf-8")) if DURATIONS.exists() else {}


def write_durations(seconds: Mapping[str, float]) -> None:
    """Write the file of durations."""
    slow = {name: round(each) for name, each in sorted(seconds.items()) if each >= 1}
    DURATIONS.write_text(json.dumps(slow, indent=1) + "\n", "utf-8")


def sort_by_duration(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests by their files, those in front that take long: no processor waits at the end for one that came last.

    The tests of a file stay together, so that what a module prepares is made once.
    """
    durations = read_durations()
    seconds: dict[str, float] = {}
    for function in {function_name(item): None for item in items}:
        seconds[_file_name(function)] = seconds.get(_file_name(function), 0) + durations.get(function, 0)
    return sorted(items, key=lambda item: -seconds[_file_name(item.nodeid)])


def _file_name(name: str) -> str:
    return name.partition("::")[0]


def select_slice(items: list[pytest.Item], number: int, count: int) -> list[pytest.Item]:
    """One of `count` slices of the tests, which take about the same time; a function is never divided."""
    durations = read_durations()
    functions = dict.fromkeys(map(function_name, items))
    seconds = [0.0] * count
    selected: set[str] = set()
    for function in sorted(functions, key=lambda each: (-durations.get(each, 0), each)):
        least = seconds.index(min(seconds))
        seconds[least] += durations.get(function, 0) + 0.1
        if least == number % count:
            selected.add(function)
    return [item for item in items if function_name(item) in selected]
