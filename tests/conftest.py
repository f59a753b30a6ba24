"""Options of the test suite."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

import pytest
import typer.main
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import evidence
import tiers

if TYPE_CHECKING:
    from bindings.subjects import Subjects

pytest_plugins = ("browsing",)

TESTS: Final = Path(__file__).parent
LARGEST_WORKER: Final = 500_000_000
"""Bytes of memory above which a worker forgets what can be made again."""
GROWTH: Final = 100_000_000
"""Bytes by which it grows until it forgets again: to look through all that it holds takes half a second."""
_limit = [LARGEST_WORKER]

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
# What hypothesis draws does not depend on which modules a worker has imported, and it reads none of them.
providers._get_local_constants = lambda: providers._local_constants
# The commands of an application are made of its functions once in a process, and not for each call.
typer.main.get_command = cache(typer.main.get_command)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-goldens",
        action="store_true",
        dest="rewrite_goldens",
        help="write what the targets make over their goldens, to be read in the diff; refused where CI is set",
    )
    parser.addoption("--slice", metavar="K/N", help="run slice K of N: tests that together take an Nth of the time")
    parser.addoption(
        "--record-durations", action="store_true", help="write what each function took to tests/durations.json"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "evidence(*names): what others published and the test reads; without it the test is skipped, in CI it fails",
    )
    config.addinivalue_line("markers", "exhaustive: runs nightly and by `pytest -m exhaustive`, and not by default")
    if config.getoption("--record-durations"):
        config.pluginmanager.register(Durations(), "durations")
    cache = getattr(config, "cache", None)
    if cache is not None:  # what mypy learns of the standard library and of the bindings, it learns once for all tests
        os.environ["MYPY_CACHE_DIR"] = str(cache.mkdir(f"mypy-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers more than processors for `-n auto`: tests wait for programs and clocks, and a worker stays below 1 GB."""
    allowed = getattr(os, "sched_getaffinity", None)
    return (len(allowed(0)) if allowed else os.cpu_count() or 1) + 2


class Durations:
    """Sums what the functions of tests take in each tier, and writes it at the end."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {tiers.DEFAULT: {}, tiers.EXHAUSTIVE: {}}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        took = self.seconds[tiers.EXHAUSTIVE if "exhaustive" in report.keywords else tiers.DEFAULT]
        function = report.nodeid.partition("[")[0]
        took[function] = took.get(function, 0.0) + report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):
            tiers.write_durations(self.seconds)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--slice")
    if wanted:
        number, _, count = wanted.partition("/")
        if not (number.isdecimal() and count.isdecimal() and int(count)):
            raise pytest.UsageError(f"--slice {wanted}: write a number and a count, such as 3/10")
        kept = tiers.select_slice(items, int(number), int(count))
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept
    items[:] = tiers.sort_by_duration(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()  # what is imported and found stays to the end: no collection of garbage looks through it
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(10_000, 20, 10)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What a module made ends with its last test, and in a large worker what modules beside the tests made; what stays, no later
    collection looks through again.
    """
    if nextitem is not None and nextitem.path == item.path:
        return
    assert isinstance(item, pytest.Function)
    assert isinstance(item.module, ModuleType)
    _forget(item.module)
    if _resident() > _limit[0]:
        for module in list(sys.modules.values()):
            if Path(getattr(module, "__file__", None) or "/").is_relative_to(TESTS):
                _forget(module)
        gc.unfreeze()
        for each in gc.get_objects():
            if type(each).__name__ == "Engine":  # of the bindings, of the command, and of packages that have their own
                each.forget()
        gc.collect()
        _limit[0] = max(LARGEST_WORKER, _resident() + GROWTH)
    gc.collect()
    gc.freeze()


def _forget(module: ModuleType) -> None:
    """Clear what the functions of a module remember."""
    for found in list(vars(module).values()):
        if hasattr(found, "cache_clear") and getattr(found, "__module__", "") == module.__name__:
            found.cache_clear()


def _resident() -> int:
    """The bytes of memory that this process holds; 0 where the system does not say it."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096
    except OSError:
        return 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("evidence"):
        evidence.need(*marker.args)


@pytest.fixture(scope="session")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Subjects:
    """The bindings under test, by name: generated once a process for all tests."""
    from bindings.subjects import Subjects

    return Subjects(tmp_path_factory.mktemp("subjects"))
