"""Repairs on the command line: `--repair` shows them, `--fix` makes them in the files of the new side."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acpgen.compat.compare import compared, reported, side
from acpgen.compat.repair.repair import Repaired, difference, repaired
from acpgen.compat.report import repairs
from acpgen.errors import Faults, NotRepairable
from acpgen.save import save
from acpgen.schema.load import read_bytes

if TYPE_CHECKING:
    from acpgen.compat.findings import Mode, Report
    from acpgen.compat.sources import Input


@dataclass(frozen=True, slots=True)
class Fixed:
    """What `--fix` did: the report with the repairs, what changes in the files as a unified diff, and the files that were written."""

    report: Report
    difference: str
    written: tuple[str, ...]

    def told(self) -> Iterator[str]:
        """What was repaired and what was not, in lines for people."""
        for finding in self.report.findings:
            said = repairs.sentence(finding)
            if said:
                yield f"{finding.rule} {finding.declaration or finding.location}: {said}"
        yield f"Written: {', '.join(self.written)}." if self.written else "Nothing was written."


def with_repairs(report: Report, old: Input, new: Input, *, mode: Mode, unstable: bool) -> Repaired:
    """The report of two sides with a repair, or the reason why there is none, on each breaking or risky finding."""
    if mode == "language":
        return repaired(report, old, new, compared=lambda edited: compared(old, edited, mode=mode), meant=lambda: None)
    before, after = side(old, unstable=unstable), side(new, unstable=unstable)
    return repaired(
        report,
        old,
        new,
        compared=lambda edited: reported(before, side(edited, unstable=unstable)),
        meant=lambda: after.meaning,
    )


def fixed(found: Repaired, new: Input, *, dry_run: bool) -> Fixed:
    """Make all repairs in the files of the new side, or say what would change. Raises `Faults`; then nothing was written."""
    targets = _targets(new, found.texts)
    if not dry_run:
        save(Path(), targets)
    names = tuple(new.at(path) for path in found.texts)
    return Fixed(found.report, difference(new, found.texts), () if dry_run else names)


def _targets(new: Input, texts: Mapping[str, str]) -> dict[str, str]:
    """The texts by the file that each belongs to: one of the working tree, as it was when it was read. Raises `Faults`."""
    found: dict[str, str] = {}
    faults: list[NotRepairable] = []
    known: Mapping[str, bytes] = dict(new.source.files) if new.source is not None else {}
    for path, text in texts.items():
        at = new.at(path)
        why = _obstacle(Path(at), known.get(path))
        if why:
            faults.append(NotRepairable(at=at, reason=why))
        found[os.path.realpath(at)] = text
    if faults:
        raise Faults(faults)
    return found


def _obstacle(file: Path, content: bytes | None) -> str:
    """Why a file cannot take the repairs; empty if it can."""
    try:
        now = read_bytes(file) if file.is_file() else None
    except (Faults, OSError, ValueError):
        now = None
    if content is None or now is None:
        return "it is no file of the working tree"
    return "" if now == content else "it has changed since it was read"
