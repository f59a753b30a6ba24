"""Repairs of a report: its findings with the edits that end them, or the reason why there are none."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from acpgen.compat.findings import FilePatch, Finding, Fix, Repair, Report, Suggestion
from acpgen.compat.repair.attempts import Edits, combined
from acpgen.compat.repair.ground import Ground
from acpgen.compat.repair.plans import OTHERWISE, PLANS
from acpgen.compat.repair.search import STAYS, Attempt, Search
from acpgen.errors import Faults
from acpgen.schema.edits import edited, lines_changed, patch
from acpgen.schema.load import Document, Documents, check, parse_json

if TYPE_CHECKING:
    from acpgen.compat.protocol.revision import Revised
    from acpgen.compat.sources import Input

BUDGET: Final = 200
"""As many comparisons are made for the repairs of one report of small schemas."""

SCALE: Final = 30_000
"""For large ones: definitions of both sides times comparisons."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A report with repairs, and the texts of the files that all of them together change, by path."""

    report: Report
    texts: Mapping[str, str] = field(repr=False)


def repaired(
    report: Report,
    old: Input,
    new: Input,
    *,
    compared: Callable[[Input], Report],
    meant: Callable[[], Revised | None],
    budget: int | None = None,
) -> Repaired:
    """The report with a repair, or the reason why there is none, on each breaking or risky finding.

    `compared` makes the report of the old side and another new one, `meant` the meaning of the new side. `budget` is how many
    comparisons may be made; without, as many as suit the size of the schemas.
    """
    values = {each.path: each.value for each in new.documents.documents}
    ground = Ground(old, new, meant)
    size = len(ground.before) + len(ground.after)
    limit = max(20, min(BUDGET, SCALE // max(size, 1))) if budget is None else budget
    search = Search(ground, report, lambda edits: compared(with_edits(new, edits)), limit, values)
    search.run()
    made = {id(each.finding): each for each in search.attempts}
    findings = tuple(
        _with_repair(finding, made[id(finding)], new, values, search) if id(finding) in made else finding
        for finding in report.findings
    )
    parts = [part for each in search.accepted() if each.joint is not None for part in each.joint.parts]
    edits = combined(parts, values) or {}
    fix = None
    if edits and search.outcome is not None:
        count = sum(each.settled for each in search.attempts)
        fix = Fix(search.outcome.verdict, count, len(search.attempts), _patches(edits, new))
    told = replace(report, findings=findings, fix=fix)
    return Repaired(told, texts(new, edits) if fix is not None else {})


def with_edits(side: Input, edits: Edits) -> Input:
    """The side with its files edited. Raises `Faults` where a file is no schema any more."""
    return with_texts(side, texts(side, edits))


def with_texts(side: Input, changed: Mapping[str, str]) -> Input:
    """The side with other texts for some of its files, by path. Raises `Faults`."""
    documents: list[Document] = []
    for each in side.documents.documents:
        if each.path not in changed:
            documents.append(each)
            continue
        at = side.at(each.path)
        value = parse_json(changed[each.path], at)
        faults = list(check(value, at, side.documents.given))
        if faults:
            raise Faults(faults)
        documents.append(Document(each.path, value, changed[each.path]))
    return replace(side, documents=replace(side.documents, documents=tuple(documents)))


def texts(side: Input, edits: Edits) -> dict[str, str]:
    """The edited files, by path."""
    return {path: edited(_text(side.documents, path), each) for path, each in edits.items()}


def _text(documents: Documents, path: str) -> str:
    return next(each.text for each in documents.documents if each.path == path)


def _with_repair(finding: Finding, attempt: Attempt, new: Input, values: Mapping[str, Any], search: Search) -> Finding:
    chosen = attempt.told
    plan = PLANS.get(finding.rule, OTHERWISE)
    if chosen is None or search.outcome is None:
        return replace(finding, no_repair=_reason(attempt, search, plan.why))
    edits = combined(chosen.parts, values)
    assert edits is not None, "what was judged can be combined"
    repair = Repair(
        description=chosen.description,
        keeps=chosen.keeps,
        why="" if chosen.keeps else plan.why,
        alone=attempt.alone,
        patches=_patches(edits, new),
    )
    return replace(finding, repair=repair)


def _reason(attempt: Attempt, search: Search, why: str) -> str:
    if attempt.settled and search.outcome is not None:
        return "It needs no separate repair: the repairs of other findings resolve it."
    if not attempt.over:
        return f"The budget of {search.budget} comparisons was spent before a repair was found."
    if not attempt.tried:
        return f"{why} The new schema has no place where an edit could restore it.".strip()
    kept = any(each.keeps for each in attempt.tried)
    means = "edits that keep the change and edits that revert it" if kept else "edits that revert the change"
    count = "1 edit was" if len(attempt.tried) == 1 else f"{len(attempt.tried)} edits were"
    return f"{why} {count} tried ({means}), and none works: {attempt.failed or STAYS}.".strip()


def _patches(edits: Edits, side: Input) -> tuple[FilePatch, ...]:
    return tuple(_patch(side, path, edits) for path in sorted(edits))


def _patch(side: Input, path: str, edits: Edits) -> FilePatch:
    before = _text(side.documents, path)
    after = edited(before, edits[path])
    suggestions = tuple(
        Suggestion(first, last, "\n".join(lines)) for first, last, lines in lines_changed(before, after)
    )
    return FilePatch(side.at(path), tuple(patch(edits[path])), suggestions)


def difference(side: Input, changed: Mapping[str, str]) -> str:
    """What changes in the files, as a unified diff."""
    found: list[str] = []
    for path, text in changed.items():
        at = side.at(path)
        before = _text(side.documents, path).splitlines(keepends=True)
        after = text.splitlines(keepends=True)
        found += (
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(before, after, at, at)
        )
    return "".join(found)
