"""A history as one HTML page for people: tables, and what each step brought. It needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import Final

from acpgen.compat.history.timeline import Timeline
from acpgen.compat.report.history_words import GRAVE, span_words, step_words, summary
from acpgen.errors import visible
from acpgen.markup import content_policy


def history_page(timeline: Timeline, fail_on: str = "risky") -> str:
    """The history as a page."""
    return "\n".join(_lines(timeline, fail_on)) + "\n"


def _lines(timeline: Timeline, fail_on: str) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style=_STYLE)}">'
    yield f"<title>History of {_text(timeline.about)}</title><style>{_STYLE}</style></head><body>"
    yield f"<header><h1>History of <code>{_text(timeline.about)}</code></h1><p>{_text(summary(timeline, fail_on))}</p>"
    yield from (f"<p>{_text(note)}</p>" for note in timeline.notes)
    yield "</header><main><section><h2>Steps</h2>"
    yield from _steps(timeline)
    yield "</section>"
    yield from _origins(timeline)
    yield "</main></body></html>"


def _steps(timeline: Timeline) -> Iterator[str]:
    reports = {stride.new: stride.report for stride in timeline.strides}
    is_dated = any(each.day for each in timeline.milestones)
    heads = ["Revision", "Messages", "Old to new", "New to old", "Generated code", "Version"]
    heads += ["Day", "Subject"] if is_dated else []
    yield f'<div class="wide"><table><thead><tr>{"".join(f"<th scope=col>{head}</th>" for head in heads)}</tr></thead><tbody>'
    for milestone, verdict, version in step_words(timeline):
        report = reports.get(milestone)
        wire = ("", "", "") if report is None else (report.wire.backward, report.wire.forward, report.bindings)
        why = f"{verdict}: {milestone.unread[0]}" if milestone.unread else verdict
        commit = (milestone.day, milestone.subject) if is_dated else ()
        cells = "".join(f"<td>{_text(cell)}</td>" for cell in (why, *wire, version, *commit))
        yield f'<tr class="{verdict.replace(" ", "-")}"><th scope=row><code>{_text(milestone.label)}</code></th>{cells}</tr>'
    yield "</tbody></table></div>"
    for stride in timeline.strides:
        if stride.failure:
            yield f"<p><code>{_text(stride.new.label)}</code>: {_text(stride.failure)}</p>"


def _origins(timeline: Timeline) -> Iterator[str]:
    grave = [each for each in timeline.origins if each.severity in GRAVE]
    if not grave:
        return
    labels = {each.name: each.label for each in timeline.milestones}
    order = list(labels)
    yield f"<section><h2>{_text(span_words(timeline))}</h2>"
    for (old, new), group in groupby(sorted(grave, key=lambda e: order.index(e.new)), key=lambda e: (e.old, e.new)):
        yield f"<h3>Since <code>{_text(labels[new])}</code>, after <code>{_text(labels[old])}</code></h3><ul>"
        for each in group:
            places = ", ".join(f"<code>{_text(name)}</code>" for name in each.declarations)
            head = f"<b>{each.severity}</b> {_text(each.rule)}"
            yield f'<li class="{each.severity}">{head}: {_text(each.message)} {places}</li>'
        yield "</ul>"
    yield "</section>"


def _text(value: str) -> str:
    return escape(visible(value))


_STYLE: Final = """
:root { color-scheme: light dark; --back: #fbfbfa; --ink: #1d1f23; --soft: #5c626d; --line: #dcdde1;
  --breaking: #b42318; --undecided: #7a3ea1; --risky: #8a5200; --additive: #1a7f4b; }
@media (prefers-color-scheme: dark) { :root { --back: #14161a; --ink: #e7e9ee; --soft: #9aa2b1; --line: #2c313a;
  --breaking: #ff8f85; --undecided: #d6a4f5; --risky: #f2b84b; --additive: #5fd39a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; background: var(--back); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere; }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
h1 { font-size: 1.6rem; } h2 { margin: 2rem 0 .75rem; font-size: 1.2rem; } h3 { font-size: 1rem; }
header p { color: var(--soft); margin: .3rem 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; } th, td { padding: .3rem .6rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); overflow-wrap: normal; } thead th { color: var(--soft); font-weight: 500; white-space: nowrap; }
tbody th { font-weight: 400; white-space: nowrap; } li { margin: .25rem 0; }
.breaking b, .breaking td:first-of-type { color: var(--breaking); } .risky b, .risky td:first-of-type { color: var(--risky); }
.undecided b, .undecided td:first-of-type, .not-compared td:first-of-type, .cannot-be-read td:first-of-type { color: var(--undecided); }
.additive td:first-of-type { color: var(--additive); }
"""
