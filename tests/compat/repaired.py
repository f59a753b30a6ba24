"""What must hold of the repairs of any two revisions: each patch, applied by somebody else, ends its finding and does no other harm; all of
them together make the promised verdict, and change no character that no edit is about.
"""

from __future__ import annotations

import difflib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from acpgen.compat.compare import compare, read_inputs
from acpgen.compat.findings import Finding, Report
from acpgen.compat.repair.repair import RepairResult, repair
from acpgen.compat.report_cache import Comparer
from acpgen.errors import Faults
from test_edits import applied

BETTER: Final = ("identical", "editorial", "additive")


@dataclass
class Tally:
    """What came of the pairs that were repaired."""

    pairs: int = 0
    findings: int = 0
    repaired: int = 0
    kept: int = 0
    fixed: int = 0
    checks: int = 0
    unread: int = 0
    rules: Counter[str] = field(default_factory=Counter[str])
    reasons: Counter[str] = field(default_factory=Counter[str])
    complaints: list[str] = field(default_factory=list[str])


def judged(tally: Tally, old: Path, new: Path) -> None:
    """Repair one pair, and let the comparison judge each patch again."""
    try:
        sides = read_inputs(old, new, unstable=True)
        comparing = Comparer("protocol", unstable=True)
        report = comparing(*sides)
        wanted = bad(report)
        if not wanted:
            return
        found = repair(report, *sides, lambda side: comparing(sides[0], side), unstable=True)
    except Faults:
        tally.unread += 1
        return
    except (Exception, RecursionError) as caught:  # noqa: BLE001 - a crash is what is looked for
        tally.complaints.append(f"crash: {type(caught).__name__}: {caught}")
        return
    tally.pairs += 1
    for finding in bad(found.report):
        tally.findings += 1
        tally.repaired += finding.repair is not None
        tally.kept += finding.repair is not None and finding.repair.keeps_change
        if finding.repair is None:
            tally.rules[finding.rule] += 1
            tally.reasons[f"{finding.rule}: {re.sub(r' at [^ ]+', '', finding.no_repair)}"] += 1
    tally.fixed += found.report.fix is not None and found.report.fix.verdict in BETTER
    tally.complaints += (f"{old.stem} {new.stem} {each}" for each in complaints(tally, old, new, report, found))


def bad(report: Report) -> list[Finding]:
    return [each for each in report.findings if each.severity in ("breaking", "risky") and each.waived is None]


def complaints(tally: Tally, old: Path, new: Path, before: Report, found: RepairResult) -> Iterator[str]:
    """What is wrong with the repairs of a pair: each patch alone, and all of them as a text."""
    text = new.read_text("utf-8")
    value = json.loads(text)
    known: set[str] = set()
    for finding in bad(found.report):
        if finding.repair is None:
            continue
        (file,) = finding.repair.files
        patch = json.dumps(file.patch)
        if patch in known:
            continue
        known.add(patch)
        tally.checks += 1
        after = again(old, json.dumps(applied(value, list(file.patch))))
        if isinstance(after, str):
            yield f"{finding.rule} {finding.location}: {after}"
            continue
        if finding.fingerprint in {each.fingerprint for each in bad(after)}:
            yield f"{finding.rule} {finding.location}: the finding stays"
        if len(bad(after)) > len(bad(before)):
            yield f"{finding.rule} {finding.location}: {len(bad(after)) - len(bad(before))} findings more"
    fix = found.report.fix
    if fix is None:
        return
    (file,) = fix.files
    (whole,) = found.texts.values()
    tally.checks += 1
    if applied(value, list(file.patch)) != json.loads(whole):
        yield "the text is not what the patch makes"
    after = again(old, whole)
    if isinstance(after, str):
        yield f"all repairs: {after}"
    elif after.verdict != fix.verdict:
        yield f"all repairs: {after.verdict} in place of {fix.verdict}"
    elif fix.ended == fix.findings and after.verdict not in BETTER and before.verdict != "undecided":
        open_ = {each.fingerprint for each in before.findings if each.severity == "undecided"}
        worse = [each for each in after.findings if each.severity not in ("additive", "editorial")]
        left = sorted({each.rule for each in worse if each.fingerprint not in open_})
        if left and not set(left) <= {"not-compared", "inclusion-undecided"}:
            yield f"all repairs leave {after.verdict}: {', '.join(left)}"
    yield from reformatted(text, whole, value)


def again(old: Path, text: str) -> Report | str:
    """The report with another text on the new side; what is wrong where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "new.json"
        file.write_text(text, "utf-8")
        try:
            return compare(old, file, unstable=True)
        except Faults as faults:
            return str(faults.faults[0])


def reformatted(before: str, after: str, value: Any) -> Iterator[str]:
    """Lines that are written anew though they say the same."""
    if before.endswith("\n") != after.endswith("\n"):
        yield "the end of the file has changed"
    one, other = before.splitlines(), after.splitlines()
    for tag, first, last, start, end in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "replace" and "".join("".join(one[first:last]).split()) == "".join("".join(other[start:end]).split()):
            yield f"line {first + 1} is laid out anew: {one[first]!r}"
