"""Where the reports of one run go: each in its format to standard output or to a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acpgen.diagnostics import FORMATS, written
from acpgen.diagnostics.model import DiagnosticReport
from acpgen.errors import BadSetting, Fault, Faults, UnknownName, did_you_mean, shown
from acpgen.schema.load import place

STANDARD: Final = "-"

_PAIR: Final = re.compile(r"([A-Za-z][A-Za-z-]*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Destination:
    """Where one report goes: its format and its file; `None` is standard output."""

    format: str
    file: Path | None


def outputs(given: Sequence[str], output_format: str | None) -> tuple[Destination, ...]:
    """What `--output` says, each `FORMAT=FILE`, or `FILE` in the format of `--format`; without any, standard output in that format.

    Raises `Faults`: a format that is not known, one place twice, `--format` where every output has a format of its own, and where no format
    is said, a file whose name ends with one.
    """
    known = tuple(FORMATS)
    faults: list[Fault] = []
    if output_format is not None and output_format not in known:
        faults.append(_unknown("--format", output_format, known))
    plain = output_format or "text"
    found: tuple[Destination, ...] = (Destination(plain, None),)
    if given:
        found = tuple(_read(each, plain, known, faults) for each in given)
        if output_format is None:
            faults.extend(_meant(given, known))
        if output_format is not None and all(_PAIR.fullmatch(each) for each in given):
            expected = "left out where each --output says its own format"
            faults.append(BadSetting(at="--format", key=shown(output_format), expected=expected))
    faults.extend(_twice(found))
    if faults:
        raise Faults(faults)
    return found


def texts(
    report: DiagnosticReport, destinations: Iterable[Destination], *, coloured: bool
) -> Mapping[Path | None, str]:
    """What goes to each place; text on a standard output has colours where that shows them."""
    shown_here = Destination("text", None)
    return {to.file: written(report, "coloured" if coloured and to == shown_here else to.format) for to in destinations}


def _read(given: str, plain: str, known: Sequence[str], faults: list[Fault]) -> Destination:
    pair = _PAIR.fullmatch(given)
    name, file = pair.groups() if pair else (plain, given)
    if pair and name not in known:
        faults.append(_unknown("--output", name, known))
    if not file or "\0" in file:
        expected = "FORMAT=FILE such as html=report.html, FILE, or - for standard output"
        faults.append(BadSetting(at="--output", key=shown(given), expected=expected))
    return Destination(name, None if file == STANDARD else Path(file))


def _meant(given: Iterable[str], known: Sequence[str]) -> Iterator[Fault]:
    """The outputs without a format whose file names are one, or end with one: a report as text would stand there."""
    for each in given:
        name = Path(each).suffix[1:].lower()
        if each in known:
            expected = f"FORMAT=FILE such as {each}=report.{each}, or another name of a file: this one is a format"
            yield BadSetting(at="--output", key=shown(each), expected=expected)
        elif _PAIR.fullmatch(each) is None and name in known and name != "text":
            expected = f"{shown(f'{name}={each}')}, or --format beside it; without a format the report is text"
            yield BadSetting(at="--output", key=shown(each), expected=expected)


def _twice(found: Iterable[Destination]) -> Iterator[Fault]:
    seen: set[str] = set()
    for each in found:
        name = STANDARD if each.file is None else place(each.file)
        if name in seen:
            yield BadSetting(at="--output", key=shown(name), expected="a place of its own: only one report goes there")
        seen.add(name)


def require_apart(written: Iterable[Path | None], read: Iterable[str | os.PathLike[str] | None]) -> None:
    """Raises `Faults` where a report would be written over a file that was read for it."""
    known = {os.path.realpath(each) for each in read if each is not None}
    faults = [
        BadSetting(
            at="--output",
            key=shown(place(each)),
            expected="another file than those that are read",
        )
        for each in written
        if each is not None and os.path.realpath(each) in known
    ]
    if faults:
        raise Faults(faults)


def _unknown(at: str, name: str, known: Sequence[str]) -> Fault:
    return UnknownName(at=at, kind="format", name=name, hint=did_you_mean(name, known))
