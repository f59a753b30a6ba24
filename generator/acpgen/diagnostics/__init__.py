"""Reports of all commands: one model, and one writer for each format.

In: a report, and the destinations that a user names. Out: the text of each. `model` is what a report holds, `outputs` reads destinations.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias, cast

if TYPE_CHECKING:
    from acpgen.diagnostics.model import DiagnosticReport
    from acpgen.ir import JSON

Writer: TypeAlias = "Callable[[DiagnosticReport], str | JSON]"

FORMATS: Final = {
    "text": "text.write_text",
    "json": "badge.make_json",
    "markdown": "markdown.write_markdown",
    "html": "page.write_page",
    "github": "github.write_commands",
    "gitlab": "gitlab.make_code_quality",
    "sarif": "sarif.make_sarif",
    "junit": "junit.write_junit",
    "badge": "badge.make_badge",
}
"""The writer of each format, which returns text or JSON; imported on first use."""

_WRITERS: Final = {**FORMATS, "coloured": "text.write_coloured"}


def write_report(report: DiagnosticReport, name: str) -> str:
    """Write a report in one format, or as `coloured` text."""
    from acpgen.input.numbers import dumps  # commands list the formats and start without it

    module, _, function = _WRITERS[name].partition(".")
    output = cast("Writer", getattr(import_module(f"acpgen.diagnostics.{module}"), function))(report)
    return output if isinstance(output, str) else dumps(output, indent=2, ensure_ascii=False) + "\n"
