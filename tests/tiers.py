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
"""Seconds that the functions of tests took in the last recorded run of each tier; what takes less than a second is left out."""

DEFAULT: Final = "default"
EXHAUSTIVE: Final = "exhaustive"

_SEED: Final = "1"


def sample(cases: Iterable[T], size: int, name: Callable[[T], str] = str, *, by: str = "") -> list[Any]:
    """Parameters of a test: `size` of the cases, drawn by a seed, run by default, and the others are marked `exhaustive`.

    A case that is added changes the draw of at most one other. `name` makes the id of a case; ids must differ. Tests that draw
    from the same cases `by` a word of their own do not all draw the same.
    """
    found = list(cases)
    chosen = {name(case) for case in draw(found, size, lambda case: f"{by} {name(case)}".lstrip())}
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


def function_name(item: pytest.Item) -> str:
    """The file and the function of a test, without its parameters."""
    return item.nodeid.partition("[")[0]


def tier_of(item: pytest.Item) -> str:
    """The tier in which a test runs."""
    return EXHAUSTIVE if item.get_closest_marker("exhaustive") else DEFAULT


def read_durations() -> Mapping[str, Mapping[str, float]]:
    """The recorded seconds by tier and function: of one function, each tier runs other parameters."""
    return json.loads(DURATIONS.read_text("utf-8")) if DURATIONS.exists() else {}


def write_durations(seconds: Mapping[str, Mapping[str, float]]) -> None:
    """Write what functions took into the file of durations, where what did not run stays as it was, unless it is gone."""
    known = read_durations()
    found = {tier: {**known.get(tier, {}), **seconds.get(tier, {})} for tier in (DEFAULT, EXHAUSTIVE)}
    slow = {
        tier: {name: round(took) for name, took in sorted(each.items()) if took >= 1 and is_present(name)}
        for tier, each in found.items()
    }
    DURATIONS.write_text(json.dumps(slow, indent=1) + "\n", "utf-8")


def is_present(name: str) -> bool:
    """Whether there is a function of tests of this name, in this file."""
    file, _, function = name.partition("::")
    path = DURATIONS.parents[1] / file
    return path.is_file() and f"def {function.rpartition('::')[2]}(" in path.read_text("utf-8")


def _sum_seconds(items: Iterable[pytest.Item], key: Callable[[pytest.Item], str]) -> dict[str, float]:
    """The recorded seconds of tests, summed by a key of each; a function counts once in a tier."""
    known = read_durations()
    took: dict[str, float] = {}
    for each, (tier, function) in {(key(item), (tier_of(item), function_name(item))): None for item in items}:
        took[each] = took.get(each, 0) + known.get(tier, {}).get(function, 0)
    return took


def sort_by_duration(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests by their files, those in front that take long: no processor waits at the end for one that came last.

    Before all others comes one file that needs the built site: until it is there, all others that need it wait.
    """
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(_file_name(item.nodeid), []).append(item)
    took = _sum_seconds(items, lambda item: _file_name(item.nodeid))
    ordered = sorted(files, key=lambda file: -took[file])
    of_site = [file for file in ordered if any("built" in getattr(each, "fixturenames", ()) for each in files[file])]
    return [item for file in dict.fromkeys((*of_site[:1], *ordered)) for item in files[file]]


def _file_name(name: str) -> str:
    return name.partition("::")[0]


def select_slice(items: list[pytest.Item], number: int, count: int) -> list[pytest.Item]:
    """One of `count` slices of the tests, which take about the same time; a function is never divided."""
    known = _sum_seconds(items, function_name)
    took = [0.0] * count
    chosen: set[str] = set()
    for function in sorted(known, key=lambda each: (-known[each], each)):
        least = took.index(min(took))
        took[least] += known[function] + 0.1
        if least == number % count:
            chosen.add(function)
    return [item for item in items if function_name(item) in chosen]
