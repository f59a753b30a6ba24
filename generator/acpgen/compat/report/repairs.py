"""How each format tells of repairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from acpgen.compat.findings import FilePatch, Finding, Fix, Report, Suggestion
from acpgen.ir import JSON

LONGEST: Final = 60
"""Lines of suggestions that are shown with one finding."""


def sentence(finding: Finding) -> str:
    """What repairs a finding, or why nothing does; empty where no repair was asked for."""
    repair = finding.repair
    if repair is None:
        return f"No repair: {finding.no_repair}" if finding.no_repair else ""
    together = "" if repair.alone else " It holds together with the repairs of the other findings."
    why = f" {repair.why}" if repair.why else ""
    return f"Repair: {repair.description}{why}{together}"


def summary(report: Report) -> str:
    """What all repairs together come to; empty where there are none."""
    fix = report.fix
    if fix is None:
        return ""
    files = ", ".join(each.file for each in fix.patches)
    findings = "1 finding" if fix.findings == 1 else f"{fix.findings} findings"
    return f"{fix.ended} of {findings} can be repaired, which leaves {fix.verdict}: {files}."


def suggested(finding: Finding) -> Iterator[tuple[str, Suggestion]]:
    """The lines that a repair changes, with the file of each."""
    if finding.repair is not None:
        for each in finding.repair.patches:
            yield from ((each.file, suggestion) for suggestion in each.suggestions)


def markdown(finding: Finding, said: str, margin: str) -> Iterator[str]:
    """The repair of a finding with a suggestion for each place, below an item with this margin; `said` is its sentence as markup."""
    if not said:
        return
    yield f"{margin}{said}"
    places = list(suggested(finding))
    if sum(each.text.count("\n") + 1 for _, each in places) > LONGEST:
        return
    for file, each in places:
        fence = fenced(each.text)
        yield f"\n{margin}{lines(file, each)}\n"
        yield f"{margin}{fence}suggestion"
        yield from (f"{margin}{line}" for line in each.text.split("\n"))
        yield f"{margin}{fence}"


def fenced(text: str) -> str:
    """A fence that nothing in the text ends."""
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))


def lines(file: str, suggestion: Suggestion) -> str:
    """Where a suggestion belongs, as markup."""
    from acpgen.markup import code

    which = (
        f"line {suggestion.first}"
        if suggestion.first == suggestion.last
        else f"lines {suggestion.first} to {suggestion.last}"
    )
    return f"{code(inside(file))}, {which}:"


def inside(file: str) -> str:
    """The path of a file inside its repository: one at a git revision is named by both."""
    return file.partition(":")[2] or file


def data(finding: Finding) -> dict[str, JSON]:
    """What JSON tells of the repair of a finding."""
    repair = finding.repair
    if repair is None:
        return {"no_repair": finding.no_repair} if finding.no_repair else {}
    told: dict[str, JSON] = {
        "description": repair.description,
        "keeps_change": repair.keeps,
        "why_not_kept": repair.why,
        "verified": "alone" if repair.alone else "together",
        "files": [_file(each) for each in repair.patches],
    }
    return {"repair": told}


def fix_data(fix: Fix) -> JSON:
    """What JSON tells of all repairs at once."""
    files: list[JSON] = [{"file": each.file, "patch": list(each.patch)} for each in fix.patches]
    return {"verdict": fix.verdict, "ended": fix.ended, "findings": fix.findings, "files": files}


def _file(each: FilePatch) -> JSON:
    suggestions: list[JSON] = [
        {"first_line": one.first, "last_line": one.last, "text": one.text} for one in each.suggestions
    ]
    return {"file": each.file, "patch": list(each.patch), "suggestions": suggestions}


def sarif(finding: Finding) -> list[JSON]:
    """The repair of a finding as `fixes` of a SARIF result: lines that are deleted, and the text in their place."""
    if finding.repair is None:
        return []
    changes: list[JSON] = []
    for each in finding.repair.patches:
        replacements: list[JSON] = [
            {
                "deletedRegion": {"startLine": one.first, "startColumn": 1, "endLine": one.last + 1, "endColumn": 1},
                "insertedContent": {"text": f"{one.text}\n"},
            }
            for one in each.suggestions
        ]
        changes.append({"artifactLocation": {"uri": quote(inside(each.file))}, "replacements": replacements})
    return [{"description": {"text": finding.repair.description}, "artifactChanges": changes}]
