"""The destinations of a run's reports: standard output or a file, each with its format."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from acpgen.diagnostics import FORMATS, write_report
from acpgen.diagnostics.model import DiagnosticReport
from acpgen.errors import Fault, Faults, show, suggest_values
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.load import display_path

STANDARD: Final = "-"

_PAIR: Final = re.compile(r"([A-Za-z][A-Za-z-]*)=(.*)", re.DOTALL)


class Destination(Struct, frozen=True):
    """The destination of a report: its format and its file; `None` is standard output."""

    format: str
    file: Path | None


def parse_destinations(arguments: Sequence[str], output_format: str | None) -> tuple[Destination, ...]:
    """Parse the values of `--output`: `FORMAT=FILE`, or `FILE` in the format of `--format`; without any, standard output in that format.

    Raises `Faults`: an unknown format, a duplicate destination, `--format` if every output has its own format, and, if no format is
    given, a file whose extension is the name of one.
    """
    faults: list[Fault] = []
    if output_format is not None and output_format not in FORMATS:
        faults.append(_make_format_fault("--format", output_format))
    destinations: tuple[Destination, ...] = (Destination(output_format or "text", None),)
    if arguments:
        destinations = tuple(_parse_destination(argument, output_format, faults) for argument in arguments)
        if output_format is not None and all(_PAIR.fullmatch(argument) for argument in arguments):
            faults.append(
                _make_setting_fault(output_format, "left out where each --output says its own format", "--format")
            )
    places = [STANDARD if destination.file is None else display_path(destination.file) for destination in destinations]
    duplicates = (place for number, place in enumerate(places) if place in places[:number])
    faults.extend(_make_setting_fault(place, "a place of its own: only one report goes there") for place in duplicates)
    if faults:
        raise Faults(faults)
    return destinations


def render_reports(
    report: DiagnosticReport, destinations: Iterable[Destination], *, coloured: bool
) -> Mapping[Path | None, str]:
    """The content of each destination; `coloured` applies to text on standard output."""
    shown_here = Destination("text", None)
    return {
        to.file: write_report(report, "coloured" if coloured and to == shown_here else to.format) for to in destinations
    }


def _parse_destination(argument: str, output_format: str | None, faults: list[Fault]) -> Destination:
    """Parse a value of `--output`. A file whose name is a format, or has one as extension, would receive text; that is a fault."""
    pair = _PAIR.fullmatch(argument)
    name, file = pair.groups() if pair else (output_format or "text", argument)
    ending = Path(argument).suffix[1:].lower()
    if pair and name not in FORMATS:
        faults.append(_make_format_fault("--output", name))
    if not file or "\0" in file:
        faults.append(
            _make_setting_fault(argument, "FORMAT=FILE such as html=report.html, FILE, or - for standard output")
        )
    elif output_format is None and argument in FORMATS:
        expected = f"FORMAT=FILE such as {argument}=report.{argument}, or another name of a file: this one is a format"
        faults.append(_make_setting_fault(argument, expected))
    elif output_format is None and not pair and ending in FORMATS and ending != "text":
        expected = f"{show(f'{ending}={argument}')}, or --format beside it; without a format the report is text"
        faults.append(_make_setting_fault(argument, expected))
    return Destination(name, None if file == STANDARD else Path(file))


def require_apart(
    outputs: Iterable[Path | None], read: Iterable[str | os.PathLike[str] | None], at: str = "--output"
) -> None:
    """Raise `Faults` if a report would overwrite a file that was read for it; `at` is the option that names the report."""
    input_paths = {os.path.realpath(path) for path in read if path is not None}
    over = [path for path in outputs if path is not None and os.path.realpath(path) in input_paths]
    if over:
        raise Faults(
            _make_setting_fault(display_path(path), "another file than those that are read", at) for path in over
        )


def _make_setting_fault(argument: str, expected: str, at: str = "--output") -> Fault:
    return BAD_SETTING(at=at, key=show(argument), expected=expected, hint="Correct it.")


def _make_format_fault(at: str, name: str) -> Fault:
    return UNKNOWN_NAME(at=at, kind="format", name=name, hint=suggest_values(name, FORMATS))
