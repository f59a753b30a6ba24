"""Where the reports of one run go: each in its format to standard output or to a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acpgen.diagnostics import FORMATS, write_report
from acpgen.diagnostics.model import DiagnosticReport
from acpgen.errors import Fault, Faults, allowed_values, shown
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.load import place

STANDARD: Final = "-"

_PAIR: Final = re.compile(r"([A-Za-z][A-Za-z-]*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Destination:
    """Where one report goes: its format and its file; `None` is standard output."""

    format: str
    file: Path | None


def parse_destinations(given: Sequence[str], output_format: str | None) -> tuple[Destination, ...]:
    """What `--output` says, each `FORMAT=FILE`, or `FILE` in the format of `--format`; without any, standard output in that format.

    Raises `Faults`: a format that is not known, one place twice, `--format` where every output has a format of its own, and where no format
    is said, a file whose name ends with one.
    """
    faults: list[Fault] = []
    if output_format is not None and output_format not in FORMATS:
        faults.append(_unknown_format("--format", output_format))
    found: tuple[Destination, ...] = (Destination(output_format or "text", None),)
    if given:
        found = tuple(_parse_destination(each, output_format, faults) for each in given)
        if output_format is not None and all(_PAIR.fullmatch(each) for each in given):
            faults.append(_bad_setting(output_format, "left out where each --output says its own format", "--format"))
    places = [STANDARD if each.file is None else place(each.file) for each in found]
    taken = (each for number, each in enumerate(places) if each in places[:number])
    faults.extend(_bad_setting(each, "a place of its own: only one report goes there") for each in taken)
    if faults:
        raise Faults(faults)
    return found


def render_reports(
    report: DiagnosticReport, destinations: Iterable[Destination], *, coloured: bool
) -> Mapping[Path | None, str]:
    """What goes to each place; text on a standard output has colours where that shows them."""
    shown_here = Destination("text", None)
    return {
        to.file: write_report(report, "coloured" if coloured and to == shown_here else to.format) for to in destinations
    }


def _parse_destination(given: str, output_format: str | None, faults: list[Fault]) -> Destination:
    """What one `--output` says. A report as text would stand in a file whose name is a format, or ends with one."""
    pair = _PAIR.fullmatch(given)
    name, file = pair.groups() if pair else (output_format or "text", given)
    ending = Path(given).suffix[1:].lower()
    if pair and name not in FORMATS:
        faults.append(_unknown_format("--output", name))
    if not file or "\0" in file:
        faults.append(_bad_setting(given, "FORMAT=FILE such as html=report.html, FILE, or - for standard output"))
    elif output_format is None and given in FORMATS:
        expected = f"FORMAT=FILE such as {given}=report.{given}, or another name of a file: this one is a format"
        faults.append(_bad_setting(given, expected))
    elif output_format is None and not pair and ending in FORMATS and ending != "text":
        expected = f"{shown(f'{ending}={given}')}, or --format beside it; without a format the report is text"
        faults.append(_bad_setting(given, expected))
    return Destination(name, None if file == STANDARD else Path(file))


def require_apart(written: Iterable[Path | None], read: Iterable[str | os.PathLike[str] | None]) -> None:
    """Raises `Faults` where a report would be written over a file that was read for it."""
    known = {os.path.realpath(each) for each in read if each is not None}
    over = [each for each in written if each is not None and os.path.realpath(each) in known]
    if over:
        raise Faults(_bad_setting(place(each), "another file than those that are read") for each in over)


def _bad_setting(given: str, expected: str, at: str = "--output") -> Fault:
    return BAD_SETTING(at=at, key=shown(given), expected=expected, hint="Correct it.")


def _unknown_format(at: str, name: str) -> Fault:
    return UNKNOWN_NAME(at=at, kind="format", name=name, hint=allowed_values(name, FORMATS))
