"""Options of the test suite."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

import evidence

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


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "evidence(*names): what others published and the test reads; without it the test is skipped, in CI it fails",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("evidence"):
        evidence.need(*marker.args)
