"""Delivery of reports to files and standard output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from acpgen.commands import terminal

if TYPE_CHECKING:
    from acpgen.diagnostics.model import DiagnosticReport
    from acpgen.diagnostics.outputs import Destination


def print_report(text: str) -> None:
    """Print a report. A closed pipe is ignored, so that the exit code still states the result. Raises `Faults`."""
    try:
        terminal.put(text, end="", flush=True)
    except BrokenPipeError:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.close()


def report_destinations(
    output: Sequence[str] | None, output_format: str | None, read: Iterable[str | os.PathLike[str] | None] = ()
) -> tuple[Destination, ...]:
    """The destinations of `--output` and `--format`.

    Raises `Faults`, before the work begins, if one cannot be written or is a file that is read.
    """
    from acpgen.diagnostics.outputs import parse_destinations, require_apart

    destinations = parse_destinations(output or (), output_format)
    require_places(destination.file for destination in destinations)
    require_apart((destination.file for destination in destinations), read)
    return destinations


def require_places(files: Iterable[Path | None]) -> None:
    """Check, before the work begins, that `deliver` can write these files. Raises `Faults`."""
    from acpgen.files import require_files

    require_files(file for file in files if file is not None)


def deliver(texts: Mapping[Path | None, str]) -> None:
    """Write all files or none, then print the text of `None` on standard output. Raises `Faults`."""
    from acpgen.files import write_reports

    write_reports({file: text for file, text in texts.items() if file is not None})
    if None in texts:
        print_report(texts[None])


def finish(report: DiagnosticReport, destinations: Sequence[Destination]) -> NoReturn:
    """Deliver a report to its destinations, and exit with its exit code. Raises `Faults`."""
    from acpgen.diagnostics.outputs import Destination, render_reports

    texts = {**render_reports(report, destinations, coloured=terminal.is_coloured())}
    if report.layout == "lines" and Destination("text", None) in destinations:
        texts[None] = "".join(f"{terminal.wrap(line, sys.stdout)}\n" for line in texts[None].splitlines())
    deliver(texts)
    raise typer.Exit(report.code)
