"""Repairs on the command line: `--repair` tells them, `--fix` makes them in the files of the new side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpgen.compat import remembering
from acpgen.compat.check_report import repair_sentence
from acpgen.compat.compare import compared, reported, side
from acpgen.compat.findings import BUDGET
from acpgen.errors import Faults, NotRepairable
from acpgen.kept import NOTHING, Kept
from acpgen.save import save
from acpgen.schema.load import read_bytes

if TYPE_CHECKING:
    from acpgen.compat.compare import Side
    from acpgen.compat.findings import Mode, Report
    from acpgen.compat.protocol.revision import Revised
    from acpgen.compat.repair.repair import Repaired
    from acpgen.compat.sources import Input

Repairing: TypeAlias = Literal["no", "tell", "dry", "fix"]
"""What is wanted: nothing, the repairs beside the findings, what they would change in the files, or these files changed."""


@dataclass(frozen=True, slots=True)
class Fixed:
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


class Comparing:
    """Comparisons that share what the old sides mean."""

    def __init__(
        self, mode: Mode, unstable: bool, budget: int = BUDGET, *, formats: bool = False, kept: Kept = NOTHING
    ) -> None:
        self.mode: Mode = mode
        self.unstable = unstable
        self.budget = budget
        self.formats = formats
        self.kept = kept
        self._known: dict[int, tuple[Input, Side]] = {}

    def __call__(self, old: Input, new: Input) -> Report:
        """The report of two sides, as it is kept or made now. Raises `Faults`."""
        return remembering.report(
            old,
            new,
            self.kept,
            lambda: self.made(old, new),
            mode=self.mode,
            unstable=self.unstable,
            budget=self.budget,
            formats=self.formats,
        )

    def made(self, old: Input, new: Input) -> Report:
        """The report of two sides, made now. Raises `Faults`."""
        if self.mode == "language":
            return compared(old, new, mode=self.mode, budget=self.budget, formats=self.formats)
        if id(old) not in self._known:
            self._known[id(old)] = old, side(old, unstable=self.unstable)
        after = side(new, unstable=self.unstable)
        return reported(self._known[id(old)][1], after, budget=self.budget, formats=self.formats)


def fixed(
    report: Report, old: Input, new: Input, again: Callable[[Input], Report], *, unstable: bool, repairing: Repairing
) -> Fixed:
    """The repairs of a report, and for `--fix` what is to be written; `again` makes the report of another new side. Raises `Faults`."""
    from acpgen.compat.repair.repair import difference, with_texts

    found = with_repairs(report, old, new, again, unstable=unstable)
    if repairing == "tell":
        return Fixed(found.report, report, "", {})
    targets = _targets(new, found.texts)
    left = again(with_texts(new, found.texts))
    names = tuple(new.at(path) for path in found.texts)
    return Fixed(found.report, left, difference(new, found.texts), targets if repairing == "fix" else {}, names)


def with_repairs(
    report: Report, old: Input, new: Input, again: Callable[[Input], Report], *, unstable: bool = False
) -> Repaired:
    """The report of two sides with a repair, or the reason why there is none, on each breaking or risky finding."""
    from acpgen.compat.repair.repair import repaired

    def meant() -> Revised | None:
        try:
            return None if report.mode == "language" else side(new, unstable=unstable).meaning
        except Faults:
            return None

    return repaired(report, old, new, compared=again, meant=cache(meant))


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
        return "it is not a file of the working tree; name files of the working tree as NEW"
    return "" if now == content else "it has changed since it was read; run the command again"
