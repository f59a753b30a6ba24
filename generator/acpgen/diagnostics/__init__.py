"""Reports of all commands: one model, and one writer for each format."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from acpgen.input.numbers import dumps

if TYPE_CHECKING:
    from acpgen.diagnostics.model import DiagnosticReport
    from acpgen.ir import JSON

Writer: TypeAlias = "Callable[[DiagnosticReport], str | JSON]"

FORMATS: Final = {
    "text": "text.text",
    "json": "badge.whole_report",
    "markdown": "markdown.markdown",
    "html": "page.html_page",
    "github": "github.workflow_commands",
    "gitlab": "gitlab.code_quality",
    "sarif": "sarif.sarif",
    "junit": "junit.junit",
    "badge": "badge.badge",
}
"""The function that makes the text or the JSON of each format, imported when it is asked for."""

_WRITERS: Final = {**FORMATS, "coloured": "text.coloured"}


def write_report(report: DiagnosticReport, name: str) -> str:
    """The report in one format, or as `coloured` text."""
    module, _, function = _WRITERS[name].partition(".")
    made = cast("Writer", getattr(import_module(f"acpgen.diagnostics.{module}"), function))(report)
    return made if isinstance(made, str) else dumps(made, indent=2, ensure_ascii=False) + "\n"
