"""The report as workflow commands of GitHub Actions, which show diagnostics beside the changed lines.

https://docs.github.com/en/actions/writing-workflows/choosing-what-your-workflow-does/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acpgen.diagnostics import outline
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, Replacement
from acpgen.errors import visible

MOST: Final = 10
"""As many annotations of a level GitHub shows of one step; it drops what comes after them."""


def write_commands(report: DiagnosticReport) -> str:
    """One line a diagnostic or note, the worst first, as many of each level as GitHub shows, and a last one that counts everything.

    What breaks nobody, or is waived, is in that count alone.
    """
    found = [each for each in report.diagnostics if each.level in ("error", "warning") and not each.waived]
    advised: set[str] = set()
    shown: list[str] = []
    for level in ("error", "warning"):
        for each in _choose_shown([each for each in found if each.level == level]):
            shown.append(_line(each, advised=each.advice in advised))
            advised.add(each.advice)
    told = [each for each in report.diagnostics if each.severity == "note"]
    notes = [_command("notice", f"note: {each.rule}", _describe(each), _place(each)) for each in told[: MOST - 1]]
    edits = [_edit(each, edit) for each in found for edit in each.replacements]
    lines = [*dict.fromkeys(shown), *notes, *edits[: MOST - 1 - len(notes)]]
    if report.diagnostics or report.code:
        left = len(found) - len(shown) + len(told) - len(notes)
        more = f"\nNot shown here: {left}. See the summary, or --format json." if left else ""
        level = "error" if report.code and not report.failing else "notice"
        lines.append(_command(level, f"verdict: {report.verdict}", f"{report.summary}{more}"))
    return "".join(f"{line}\n" for line in lines)


def _choose_shown(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """As many as GitHub shows: of more than that, one of those that say the same."""
    if len(diagnostics) > MOST:
        diagnostics = [found[0] for group in outline.group_by_rule(diagnostics) for _, found in group.alike]
    return diagnostics[:MOST]


def _line(diagnostic: Diagnostic, *, advised: bool) -> str:
    """What a diagnostic says, and what to do unless that was `advised` before."""
    level = "error" if diagnostic.level == "error" else "warning"
    message = _describe(diagnostic, advised=advised)
    return _command(level, f"{diagnostic.severity}: {diagnostic.rule}", message, _place(diagnostic))


def _describe(diagnostic: Diagnostic, *, advised: bool = False) -> str:
    message = outline.write_headline(diagnostic)
    message += f"\n{diagnostic.advice}" if diagnostic.advice and not advised else ""
    message += f" [{diagnostic.fingerprint}]" if diagnostic.fingerprint else ""
    return f"{message}\n{diagnostic.repair}" if diagnostic.repair else message


def _edit(diagnostic: Diagnostic, edit: Replacement) -> str:
    """The lines that repair something, as a suggestion at their place."""
    marks = outline.choose_fence(edit.text)
    suggestion = f"{diagnostic.repair}\n{marks}suggestion\n{edit.text}\n{marks}"
    place = {"file": edit.file, "line": str(edit.first), "endLine": str(edit.last)}
    return _command("notice", f"repair: {diagnostic.rule}", suggestion, place)


def _place(diagnostic: Diagnostic) -> Mapping[str, str]:
    # A file at a git revision has no place among the changed lines; its path inside the repository does.
    for each in diagnostic.locations:
        numbers = {"line": each.line, "col": each.column}
        return {"file": each.file, **{key: str(number) for key, number in numbers.items() if number}}
    return {}


def _command(level: str, title: str, text: str, place: Mapping[str, str] | None = None) -> str:
    joined = ",".join(f"{key}={_property(value)}" for key, value in {**(place or {}), "title": title}.items())
    return f"::{level} {joined}::{_data(text)}"


def _data(value: str) -> str:
    return "%0A".join(visible(line).replace("%", "%25") for line in value.split("\n"))


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
