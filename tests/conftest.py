"""Options of the test suite."""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

import evidence
import tiers

pytest_plugins = ("browsing",)

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


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


class Durations:
    """Sums what the functions of tests take, and writes it at the end."""

    def __init__(self) -> None:
        self.seconds = dict(tiers.read_durations())
        self.seen: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        function = report.nodeid.partition("[")[0]
        if function not in self.seen:
            self.seen.add(function)
            self.seconds[function] = 0.0
        self.seconds[function] += report.duration

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


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # what was imported and found stays to the end: no collection looks through it again


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("evidence"):
        evidence.need(*marker.args)
