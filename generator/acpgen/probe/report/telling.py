"""Sentences and lines that several reports of a probe share."""

from __future__ import annotations

import shlex
from typing import Final

from acpgen.errors import visible
from acpgen.probe.conformance import Conformance, Proven, TranscriptLine

SENTENCES: Final = {
    "breaks": "The program breaks requirements of the specification.",
    "passes": "No MUST is broken in what was reached.",
    "not judged": "Nothing could be judged, so there is no verdict on the program.",
}


def again(one: Proven, report: Conformance) -> str:
    """The command that runs the case of a finding alone."""
    side = " --client" if report.side == "client" else ""
    options = "".join(f" {option}" for option in report.options)
    return f"acpgen probe{side} --case {one.case} --seed {report.seed}{options} -- {shlex.join(report.command)}"


def times(one: Proven) -> str:
    """How often it was seen, where that is more than once."""
    return "" if one.times == 1 else f" ({one.times} times)"


def spoken(row: TranscriptLine, longest: int = 0, key: str = "") -> str:
    """A line of a transcript: who said it, and what. Of one that is longer the beginning, and the part around a key that stands later."""
    if row.is_gap:
        return "…"
    arrow = "→" if row.sender == "client" else "←"
    text = visible(row.message.decode("utf-8", "backslashreplace"))
    if longest and len(text) > longest:
        at = text.find(f'"{visible(key)}"') if key else -1
        half = longest // 2
        if at + len(key) < longest - 2:
            text = f"{text[: longest - 1]}…"
        else:
            start = max(half, at - half // 4)
            part = text[start : start + half]
            text = f"{text[:half]}{'…' if start > half else ''}{part}{'…' if start + half < len(text) else ''}"
    return f"{arrow} {text}"


def who(report: Conformance) -> str:
    """The program under test, by its own words and its command."""
    name = " ".join(str(report.program[key]) for key in ("name", "version") if key in report.program)
    return name or shlex.join(report.command)


def summary(report: Conformance) -> str:
    """The counts in a sentence."""
    counts = report.counts
    parts = [
        f"{counts['must']} broken MUST",
        f"{counts['should']} SHOULD",
        f"{counts['note']} noted",
    ]
    count = len(report.reached)
    judged = f"{count} case{'' if count == 1 else 's'} judged, {len(report.not_reached)} not reached"
    return f"{', '.join(parts)}; {judged}"
