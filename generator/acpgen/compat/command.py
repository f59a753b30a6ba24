"""What stands behind `acpgen diff`: its options, the comparison with waivers applied, and the report as text."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from acpgen.compat import report as reports
from acpgen.compat.compare import both
from acpgen.compat.compare import compared as compared_sides
from acpgen.compat.findings import FailOn, Mode, Report, fails
from acpgen.compat.waivers import read, standard_file, waive
from acpgen.config import find_profile
from acpgen.errors import Faults, UnknownName, did_you_mean
from acpgen.schema.load import NO_REFERENCES, References

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpgen.compat.fixing import Fixed
    from acpgen.compat.sources import Input


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare, how to write, and what to stop at."""

    mode: Mode
    output_format: str
    fail_on: str
    fail_on_bindings: str


def options(mode: str, output_format: str, fail_on: str, fail_on_bindings: str) -> Options:
    """The options as given on the command line. Raises `Faults` for words that are not known."""
    given: tuple[tuple[str, str, str, Iterable[str]], ...] = (
        ("--mode", "mode", mode, get_args(Mode)),
        ("--format", "format", output_format, reports.FORMATS),
        ("--fail-on", "level", fail_on, get_args(FailOn)),
        ("--fail-on-bindings", "level", fail_on_bindings, ("never", "breaking", "additive")),
    )
    faults = [
        UnknownName(at=option, kind=kind, name=value, hint=did_you_mean(value, known))
        for option, kind, value, known in given
        if value not in known
    ]
    if faults:
        raise Faults(faults)
    return Options(cast("Mode", mode), output_format, fail_on, fail_on_bindings)


def compared(
    old: str,
    new: str,
    chosen: Options,
    waivers: Path | None,
    *,
    unstable: bool,
    references: References = NO_REFERENCES,
    methods: str | None = None,
    repair: bool = False,
) -> Report:
    """The report, with the waivers of the file given or of the standard one applied, and with repairs. Raises `Faults`."""
    sides, report = _read(old, new, chosen, waivers, unstable, references, methods)
    if not repair:
        return report
    from acpgen.compat.fixing import with_repairs

    return with_repairs(report, *sides, mode=chosen.mode, unstable=unstable).report


def fixed(
    old: str,
    new: str,
    chosen: Options,
    waivers: Path | None,
    *,
    unstable: bool,
    references: References = NO_REFERENCES,
    methods: str | None = None,
    dry_run: bool = False,
) -> Fixed:
    """Repair what can be repaired in the files of the new side. Raises `Faults`; then nothing was written."""
    from acpgen.compat.fixing import fixed as made
    from acpgen.compat.fixing import with_repairs

    sides, report = _read(old, new, chosen, waivers, unstable, references, methods)
    return made(with_repairs(report, *sides, mode=chosen.mode, unstable=unstable), sides[1], dry_run=dry_run)


def _read(
    old: str,
    new: str,
    chosen: Options,
    waivers: Path | None,
    unstable: bool,
    references: References,
    methods: str | None,
) -> tuple[tuple[Input, Input], Report]:
    """Both sides, and the report with waivers applied. Raises `Faults`."""
    gc.set_threshold(200_000)  # nearly all that is made now lives until the report is written
    file = waivers or standard_file()
    accepted = read(file) if file is not None else ()
    profile = None if methods is None else find_profile(methods)
    sides = both(old, new, mode=chosen.mode, unstable=unstable, references=references, methods=profile)
    report = compared_sides(*sides, mode=chosen.mode, unstable=unstable)
    return sides, waive(report, accepted, date.today()) if accepted else report


def written(report: Report, chosen: Options, *, coloured: bool = False) -> str:
    """The report in the chosen format."""
    if coloured and chosen.output_format == "text":
        from acpgen.compat.report import text

        return text.coloured(report)
    return reports.written(report, chosen.output_format, chosen.fail_on)


def stops(report: Report, chosen: Options) -> bool:
    """Whether the command exits with 1."""
    return fails(report, chosen.fail_on, chosen.fail_on_bindings)
