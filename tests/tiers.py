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
"""Seconds that the functions of tests took in the last recorded run; what takes less than a second is left out."""

_SEED: Final = "1"


def sample(cases: Iterable[T], size: int, name: Callable[[T], str] = str) -> list[Any]:
    """Parameters of a test: `size` of the cases, drawn by a seed, run by default, and the others are marked `exhaustive`.

    A case that is added changes the draw of at most one other. `name` makes the id of a case; ids must differ.
    """
    found = list(cases)
    chosen = {name(case) for case in draw(found, size, name)}
    return [
        pytest.param(case, id=name(case), marks=() if name(case) in chosen else pytest.mark.exhaustive)
        for case in found
    ]


def draw(cases: Iterable[T], size: int, name: Callable[[T], str] = str) -> list[T]:
    """Draw `size` of the cases by a seed; they keep their order. A case that is added changes at most one of them."""
    found = list(cases)
    chosen = set(sorted(map(name, found), key=_rank)[:size])
    return [case for case in found if name(case) in chosen]


EXTENTS: Final = (pytest.param(False, id="sample"), pytest.param(True, id="whole", marks=pytest.mark.exhaustive))
"""Parameters of a test that goes through many inputs itself: whether it tries all of them, or a sample as by default."""


def _rank(name: str) -> str:
    return sha256(f"{_SEED} {name}".encode()).hexdigest()


def function_of(item: pytest.Item) -> str:
    """The file and the function of a test, without its parameters."""
    return item.nodeid.partition("[")[0]


def durations() -> Mapping[str, float]:
    """The recorded seconds by function."""
    return json.loads(DURATIONS.read_text("utf-8")) if DURATIONS.exists() else {}


def record(seconds: Mapping[str, float]) -> None:
    """Write the file of durations."""
    slow = {name: round(took) for name, took in sorted(seconds.items()) if took >= 1}
    DURATIONS.write_text(json.dumps(slow, indent=1) + "\n", "utf-8")


def longest_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests by their files, those in front that take long: no processor waits at the end for one that came last.

    The tests of a file stay together, so that what a module prepares is made once.
    """
    known = durations()
    took: dict[str, float] = {}
    for function in {function_of(item): None for item in items}:
        took[_file_of(function)] = took.get(_file_of(function), 0) + known.get(function, 0)
    return sorted(items, key=lambda item: -took[_file_of(item.nodeid)])


def _file_of(name: str) -> str:
    return name.partition("::")[0]


def slice_of(items: list[pytest.Item], number: int, count: int) -> list[pytest.Item]:
    """One of `count` slices of the tests, which take about the same time; a function is never divided."""
    known = durations()
    functions = dict.fromkeys(map(function_of, items))
    took = [0.0] * count
    chosen: set[str] = set()
    for function in sorted(functions, key=lambda each: (-known.get(each, 0), each)):
        least = took.index(min(took))
        took[least] += known.get(function, 0) + 0.1
        if least == number % count:
            chosen.add(function)
    return [item for item in items if function_of(item) in chosen]
