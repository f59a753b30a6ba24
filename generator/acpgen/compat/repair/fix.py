"""Repairs on the command line: `--repair` tells them, `--fix` makes them in the files of the new side."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpgen.compat.check_report import repair_sentence
from acpgen.compat.faults import NOT_REPAIRABLE
from acpgen.compat.repair.repair import repair, with_texts
from acpgen.errors import Fault, Faults
from acpgen.files import save
from acpgen.input.load import read_bytes

if TYPE_CHECKING:
    from acpgen.compat.findings import Report
    from acpgen.compat.sources import Input

Repairing: TypeAlias = Literal["no", "tell", "dry", "fix"]
"""What is wanted: nothing, the repairs beside the findings, what they would change in the files, or these files changed."""


@dataclass(frozen=True, slots=True)
class FixResult:
    """Repairs of a report: the report with them, the one that they leave, and what they change in the files, as a unified diff.

    `targets` are the files with their new texts; only `--fix` has any.
    """

    report: Report
    left: Report
    difference: str
    targets: Mapping[str, str] = field(repr=False)
    names: tuple[str, ...] = ()

    def write(self) -> None:
        """Write the files, all of them or none. Raises `Faults`."""
        save(Path(), self.targets)

    def told(self) -> Iterator[str]:
        """What was repaired and what was not, in lines for people."""
        for finding in self.report.findings:
            said = repair_sentence(finding)
            if said:
                yield f"{finding.rule} {finding.declaration or finding.location}: {said}"
        yield f"Written: {', '.join(self.names)}." if self.targets else "Nothing was written."


def fix(
    report: Report, old: Input, new: Input, again: Callable[[Input], Report], *, unstable: bool, repairing: Repairing
) -> FixResult:
    """The repairs of a report, and for `--fix` what is to be written; `again` makes the report of another new side. Raises `Faults`."""
    found = repair(report, old, new, again, unstable=unstable)
    if repairing == "tell":
        return FixResult(found.report, report, "", {})
    targets = _targets(new, found.texts)
    left = again(with_texts(new, found.texts))
    names = tuple(new.at(path) for path in found.texts)
    return FixResult(found.report, left, _difference(new, found.texts), targets if repairing == "fix" else {}, names)


def _targets(new: Input, texts: Mapping[str, str]) -> dict[str, str]:
    """The texts by the file that each belongs to: one of the working tree, as it was when it was read. Raises `Faults`."""
    found: dict[str, str] = {}
    faults: list[Fault] = []
    known: Mapping[str, bytes] = dict(new.source.files) if new.source is not None else {}
    for path, text in texts.items():
        at = new.at(path)
        why = _obstacle(Path(at), known.get(path))
        if why:
            faults.append(NOT_REPAIRABLE(at=at, reason=why))
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
        return "it is not a file of the working tree; name files of the working tree as NEW"
    return "" if now == content else "it has changed since it was read; run the command again"


def _difference(side: Input, changed: Mapping[str, str]) -> str:
    """What changes in the files, as a unified diff."""
    found: list[str] = []
    for each in (each for each in side.documents.documents if each.path in changed):
        at, *texts = side.at(each.path), each.text, changed[each.path]
        before, after = (text.splitlines(keepends=True) for text in texts)
        found += (
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(before, after, at, at)
        )
    return "".join(found)
