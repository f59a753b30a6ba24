"""The outcome of a probe as one HTML page that needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from acpgen.compat.report.page import STYLE
from acpgen.errors import visible
from acpgen.markup import content_policy
from acpgen.probe.conformance import Conformance, Proven
from acpgen.probe.report.telling import SENTENCES, again, spoken, summary, times, who

_CLASSES: Final = {"breaks": "breaking", "passes": "identical", "not judged": "undecided"}
_LEVELS: Final = {"must": "breaking", "should": "risky", "note": "editorial"}


def html_page(report: Conformance) -> str:
    """The outcome as a page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Conformance) -> Iterator[str]:
    title = _text(who(report))
    versions = ", ".join(f"v{version}" for version in report.versions) or "none"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style=STYLE)}">'
    yield f"<title>{title}: {report.verdict}</title><style>{STYLE}</style></head><body>"
    yield '<header><p class="kicker">Conformance to the Agent Client Protocol</p>'
    yield f"<h1><code>{title}</code></h1>"
    verdict = f'<p class="verdict {_CLASSES[report.verdict]}"><strong>{report.verdict}</strong>'
    yield f"{verdict} {SENTENCES[report.verdict]}</p>"
    yield "<dl>"
    for name, value in (
        ("Versions", versions),
        ("Result", summary(report)),
        ("Seed", str(report.seed)),
        ("Command", " ".join(report.command)),
    ):
        yield f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>"
    yield "</dl></header><main>"
    for one in report.findings:
        yield from _finding(one, report)
    if report.not_reached:
        yield "<section><h2>Not reached</h2><dl>"
        reasons: dict[str, list[str]] = {}
        for missed in report.not_reached:
            reasons.setdefault(missed.reason, []).append(missed.case)
        for reason, cases in reasons.items():
            yield f"<div><dt>{_text(reason)}</dt><dd>{_text(', '.join(cases))}</dd></div>"
        yield "</dl></section>"
    yield f"<section><h2>Judged</h2><p>{_text(', '.join(report.reached) or 'nothing')}</p></section>"
    yield "</main></body></html>"


def _finding(one: Proven, report: Conformance) -> Iterator[str]:
    yield f'<article class="{_LEVELS[one.level]}" id="{one.fingerprint}">'
    yield f"<h2>{one.level.upper()} <code>{_text(one.rule)}</code></h2>"
    yield f"<p>{_text(one.message)}{times(one)}</p>"
    yield f'<p class="facts">{_text(str(one.clause))} Seen in {_text(one.case)}.</p>'
    rows = "\n".join(spoken(row) for row in one.transcript)
    yield f"<pre>{_text(rows)}</pre>"
    yield f"<p>Again: <code>{_text(again(one, report))}</code></p></article>"


def _text(value: str) -> str:
    return escape("".join(line if line == "\n" else visible(line) for line in value.splitlines(keepends=True)))
