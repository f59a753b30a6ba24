"""One list of findings, written for people and for machines."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, TypeAlias, cast

from acpgen.compat.findings import Report

Writer: TypeAlias = Callable[[Report, str], str]
"""Writes a report; the second argument is the level at which findings count as failures."""

FORMATS: Final = {
    "text": "text.text",
    "json": "data.json_text",
    "markdown": "markdown.markdown",
    "html": "page.html_page",
    "github": "github.workflow_commands",
    "gitlab": "gitlab.code_quality",
    "sarif": "sarif.sarif",
    "junit": "junit.junit",
}
"""The function that writes each format, imported when it is asked for."""

_WRITERS: Final = {**FORMATS, "coloured": "text.coloured"}


def written(report: Report, name: str, fail_on: str = "risky") -> str:
    """The report in one format, or as `coloured` text."""
    module, _, function = _WRITERS[name].partition(".")
    writer = cast("Writer", getattr(import_module(f"acpgen.compat.report.{module}"), function))
    return writer(report, fail_on)
