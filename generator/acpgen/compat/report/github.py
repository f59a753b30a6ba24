"""The report as workflow commands of GitHub Actions, which show findings beside the changed lines.

https://docs.github.com/en/actions/writing-workflows/choosing-what-your-workflow-does/workflow-commands-for-github-actions
"""

from __future__ import annotations

from typing import Final

from acpgen.compat.findings import Finding, Note, Report, Spot, Suggestion
from acpgen.compat.report import repairs, wording

MOST: Final = 10
"""As many annotations of a level GitHub shows of one step; it drops what comes after them."""

_LEVELS: Final = {"breaking": "error", "undecided": "error", "risky": "warning"}


def workflow_commands(report: Report, _: str = "risky") -> str:
    """One line a finding or note, the worst first, as many of each level as GitHub shows, and a last one that counts everything.

    What breaks nobody, or is waived, is in that count alone.
    """
    found = [each for each in report.findings if each.severity in _LEVELS and each.waived is None]
    advised: set[str] = set()
    shown: list[str] = []
    for level in ("error", "warning"):
        for each in _chosen([each for each in found if _LEVELS[each.severity] == level]):
            shown.append(_line(each, advised=each.advice in advised))
            advised.add(each.advice)
    notes = [_note(each) for each in report.notes][: MOST - 1]
    notes += [_suggestion(each, *place) for each in found for place in repairs.suggested(each)][: MOST - 1 - len(notes)]
    if report.findings or report.notes:
        left = len(found) - len(shown) + max(0, len(report.notes) - MOST + 1)
        more = f"\nNot shown here: {left}. See the summary, or --format json." if left else ""
        notes.append(_command("notice", None, f"verdict: {report.verdict}", wording.tally(report) + more))
    return "".join(f"{line}\n" for line in (*dict.fromkeys(shown), *notes))


def _chosen(findings: list[Finding]) -> list[Finding]:
    """As many findings as GitHub shows: of more than that, one of those that say the same."""
    if len(findings) > MOST:
        findings = [group[0] for block in wording.blocks(findings) for _, group in block.alike]
    return findings[:MOST]


def _line(finding: Finding, *, advised: bool) -> str:
    """What a finding says, and what to do unless that was `advised` before."""
    name, reached = wording.name(finding), wording.reached(finding)
    about = f"{name} ({reached})" if reached else name
    text = f"{about}: {finding.message}" if about else finding.message
    text += f" [{finding.fingerprint}]" if advised else f"\n{finding.advice} [{finding.fingerprint}]"
    if repair := repairs.sentence(finding):
        text += f"\n{repair}"
    return _command(_LEVELS[finding.severity], finding.new or finding.old, f"{finding.severity}: {finding.rule}", text)


def _suggestion(finding: Finding, file: str, suggestion: Suggestion) -> str:
    """The lines that repair a finding, as a suggestion at their place."""
    fence = repairs.fenced(suggestion.text)
    text = f"{finding.repair.description if finding.repair else ''}\n{fence}suggestion\n{suggestion.text}\n{fence}"
    place = {"file": repairs.inside(file), "line": str(suggestion.first), "endLine": str(suggestion.last)}
    joined = ",".join(
        f"{key}={_property(value)}" for key, value in {**place, "title": f"repair: {finding.rule}"}.items()
    )
    return f"::notice {joined}::{_data(text)}"


def _note(note: Note) -> str:
    return _command("notice", note.at, f"note: {note.rule}", f"{note.message}\n{note.advice}")


def _command(level: str, spot: Spot | None, title: str, text: str) -> str:
    properties = {"title": title}
    if spot is not None:
        # A file at a git revision has no place among the changed lines; its path inside the repository does.
        properties = {"file": wording.path(spot), "line": str(spot.line), "col": str(spot.column), **properties}
    joined = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {joined}::{_data(text)}"


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
