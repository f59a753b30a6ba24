"""Reports of all commands: one model, and one writer for each format."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, TypeAlias, cast

from acpgen.diagnostics.model import DiagnosticReport

Writer: TypeAlias = Callable[[DiagnosticReport], str]

FORMATS: Final = {
    "text": "text.text",
    "json": "badge.json_text",
    "markdown": "markdown.markdown",
    "html": "page.html_page",
    "github": "github.workflow_commands",
    "gitlab": "gitlab.code_quality",
    "sarif": "sarif.sarif",
    "junit": "junit.junit",
    "badge": "badge.badge",
}
"""The function that writes each format, imported when it is asked for."""

_WRITERS: Final = {**FORMATS, "coloured": "text.coloured"}


def written(report: DiagnosticReport, name: str) -> str:
    """The report in one format, or as `coloured` text."""
    module, _, function = _WRITERS[name].partition(".")
    return cast("Writer", getattr(import_module(f"acpgen.diagnostics.{module}"), function))(report)
