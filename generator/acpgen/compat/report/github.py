"""The report as workflow commands of GitHub Actions, which show findings beside the changed lines.

https://docs.github.com/en/actions/writing-workflows/choosing-what-your-workflow-does/workflow-commands-for-github-actions
"""

from __future__ import annotations

import json
from typing import Final

from acpgen.compat.findings import Finding, Note, Report, Spot
from acpgen.compat.report import wording

_LEVELS: Final = {"breaking": "error", "undecided": "error", "risky": "warning", "additive": "notice"}


def workflow_commands(report: Report, _: str = "risky") -> str:
    """One line a finding or note; what is editorial or waived is left out, since nobody need look at it."""
    lines = [_line(each) for each in report.findings if each.severity in _LEVELS and each.waived is None]
    lines += [_note(each) for each in report.notes]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))


def _line(finding: Finding) -> str:
    spot = finding.new or finding.old
    about = " ".join(part for part in (finding.method, finding.location) if part)
    text = f"{about}: {finding.message}" if about else finding.message
    if finding.breaks:
        text += f"\nBreaks {finding.breaks}."
    if finding.witness is not None:
        text += f"\n{json.dumps(finding.witness.value, ensure_ascii=False)}"
    text += f"\n{finding.advice} [{finding.fingerprint}]"
    return _command(_LEVELS[finding.severity], spot, f"{finding.severity}: {finding.rule}", text)


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
