"""The outcome of a probe, written for people and for machines."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, TypeAlias, cast

from acpgen.probe.conformance import Conformance

ProbeWriter: TypeAlias = Callable[[Conformance], str]

FORMATS: Final = {
    "text": "as_text.text",
    "json": "as_json.json_text",
    "junit": "as_junit.junit",
    "sarif": "as_sarif.sarif",
    "html": "as_html.html_page",
    "badge": "as_badge.badge",
}
"""The function that writes each format, imported when it is asked for."""


def written(report: Conformance, name: str) -> str:
    """The report in one format, or as `coloured` text."""
    module, _, function = FORMATS.get(name, f"as_text.{name}").partition(".")
    return cast("ProbeWriter", getattr(import_module(f"acpgen.probe.report.{module}"), function))(report)
