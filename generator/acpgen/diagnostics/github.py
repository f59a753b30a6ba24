"""The report as workflow commands of GitHub Actions, which show diagnostics beside the changed lines.

https://docs.github.com/en/actions/writing-workflows/choosing-what-your-workflow-does/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acpgen.diagnostics import outline
from acpgen.diagnostics.markup import choose_fence
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, Replacement
from acpgen.errors import make_visible

MOST: Final = 10
"""The maximum number of annotations per level that GitHub shows for one step; it drops the rest."""


def write_commands(report: DiagnosticReport) -> str:
    """Write one line per diagnostic or note, worst first, up to GitHub's limit per level, and a last one with the counts of all.

    Diagnostics that break nobody, or are waived, are only in these counts.
    """
    problems = [
        problem for problem in report.diagnostics if problem.level in ("error", "warning") and not problem.waived
    ]
    advised: set[str] = set()
    problem_lines: list[str] = []
    for level in ("error", "warning"):
        for diagnostic in _choose_shown([problem for problem in problems if problem.level == level]):
            problem_lines.append(_write_line(diagnostic, advised=diagnostic.advice in advised))
            advised.add(diagnostic.advice)
    note_diagnostics = [diagnostic for diagnostic in report.diagnostics if diagnostic.severity == "note"]
    notes = [
        _write_command("notice", f"note: {diagnostic.rule}", _describe(diagnostic), _find_place(diagnostic))
        for diagnostic in note_diagnostics[: MOST - 1]
    ]
    edits = [_write_edit(diagnostic, edit) for diagnostic in problems for edit in diagnostic.replacements]
    lines = [*dict.fromkeys(problem_lines), *notes, *edits[: MOST - 1 - len(notes)]]
    if report.diagnostics or report.code:
        omitted_count = len(problems) - len(problem_lines) + len(note_diagnostics) - len(notes)
        remark = f"\nNot shown here: {omitted_count}. See the summary, or --format json." if omitted_count else ""
        level = "error" if report.code and not report.failing else "notice"
        lines.append(_write_command(level, f"verdict: {report.verdict}", f"{report.summary}{remark}"))
    return "".join(f"{line}\n" for line in lines)


def _choose_shown(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """As many diagnostics as GitHub shows; if there are more, only one of those with the same statement."""
    if len(diagnostics) > MOST:
        diagnostics = [similar[0] for group in outline.group_by_rule(diagnostics) for _, similar in group.alike]
    return diagnostics[:MOST]


def _write_line(diagnostic: Diagnostic, *, advised: bool) -> str:
    """The line of a diagnostic, with its advice unless that was already given (`advised`)."""
    level = "error" if diagnostic.level == "error" else "warning"
    message = _describe(diagnostic, advised=advised)
    return _write_command(level, f"{diagnostic.severity}: {diagnostic.rule}", message, _find_place(diagnostic))


def _describe(diagnostic: Diagnostic, *, advised: bool = False) -> str:
    message = outline.write_headline(diagnostic)
    message += f"\n{diagnostic.advice}" if diagnostic.advice and not advised else ""
    message += f" [{diagnostic.fingerprint}]" if diagnostic.fingerprint else ""
    return f"{message}\n{diagnostic.repair}" if diagnostic.repair else message


def _write_edit(diagnostic: Diagnostic, edit: Replacement) -> str:
    """The replacement of lines, as a suggestion at their place."""
    marks = choose_fence(edit.text)
    suggestion = f"{diagnostic.repair}\n{marks}suggestion\n{edit.text}\n{marks}"
    place = {"file": edit.file, "line": str(edit.first), "endLine": str(edit.last)}
    return _write_command("notice", f"repair: {diagnostic.rule}", suggestion, place)


def _find_place(diagnostic: Diagnostic) -> Mapping[str, str]:
    # A file at a git revision has no place among the changed lines; its path inside the repository does.
    for location in diagnostic.locations:
        numbers = {"line": location.line, "col": location.column}
        return {"file": location.file, **{key: str(number) for key, number in numbers.items() if number}}
    return {}


def _write_command(level: str, title: str, text: str, place: Mapping[str, str] | None = None) -> str:
    properties = ",".join(
        f"{key}={_escape_property(value)}" for key, value in {**(place or {}), "title": title}.items()
    )
    return f"::{level} {properties}::{_escape_data(text)}"


def _escape_data(value: str) -> str:
    return "%0A".join(make_visible(line).replace("%", "%25") for line in value.split("\n"))


def _escape_property(value: str) -> str:
    return _escape_data(value).replace(":", "%3A").replace(",", "%2C")
