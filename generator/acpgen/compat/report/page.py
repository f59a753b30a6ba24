"""The report as one HTML page for people: summary, filter, old beside new, witnesses to copy. It needs nothing from anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Final

from acpgen.compat.findings import SEVERITIES, Finding, Note, Report, Spot, counts
from acpgen.compat.report import repairs, wording
from acpgen.errors import visible

LONGEST_EXCERPT: Final = 24
"""Lines of a source that a finding shows."""

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_SENTENCES: Final = {
    "breaking": "Some exchange that worked fails, or silently means something else.",
    "undecided": "The check could not prove that nothing breaks.",
    "risky": "Tolerant peers get along; strict old peers refuse.",
    "additive": "Old and new peers understand each other. Something is new.",
    "editorial": "No message can notice what has changed.",
    "identical": "Nothing differs.",
}


def html_page(report: Report, _: str = "risky") -> str:
    """The report as a page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    title = f"{report.old} → {report.new}"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield f"<title>{_text(title)}: {report.verdict}</title><style>{_STYLE}</style></head><body>"
    yield '<header><p class="kicker">Compatibility</p>'
    yield f"<h1><code>{_text(report.old)}</code> <span>→</span> <code>{_text(report.new)}</code></h1>"
    yield f'<p class="verdict {report.verdict}"><strong>{report.verdict}</strong> {_SENTENCES[report.verdict]}</p>'
    yield "<dl>"
    for name, value in wording.summary(report):
        yield f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>"
    yield "</dl></header>"
    yield from _filter(report)
    yield "<main>"
    for heading, findings in wording.by_method(report.findings).items():
        mark = "code" if findings[0].method is not None else "span"
        yield f"<section><h2><{mark}>{_text(heading)}</{mark}> <small>{len(findings)}</small></h2>"
        for finding in findings:
            yield from _finding(finding)
        yield "</section>"
    if report.notes:
        yield f"<aside><h2><span>{wording.NOTES}</span> <small>{len(report.notes)}</small></h2>"
        yield from map(_note, report.notes)
        yield "</aside>"
    yield '<p id="none" hidden>No finding passes the filter.</p></main>'
    yield f"<script>{_SCRIPT}</script></body></html>"


def _filter(report: Report) -> Iterator[str]:
    found = counts(report)
    if not found:
        return
    yield '<form id="filter" role="search" onsubmit="return false">'
    yield '<input id="query" type="search" placeholder="Method, rule, place or word" aria-label="Filter findings">'
    for severity in SEVERITIES:
        if severity in found:
            checked = "" if severity == "editorial" and len(found) > 1 else " checked"
            yield (
                f'<label class="{severity}"><input type="checkbox" value="{severity}"{checked}> '
                f"{severity} <b>{found[severity]}</b></label>"
            )
    yield '<output id="shown" aria-live="polite"></output></form>'


def _finding(finding: Finding) -> Iterator[str]:
    yield f'<article class="{finding.severity}" data-severity="{finding.severity}" id="{_text(finding.fingerprint)}">'
    yield f'<h3><span class="badge">{finding.severity}</span> {_text(finding.rule)}'
    if finding.location:
        yield f' <code class="place">{_text(finding.location)}</code>'
    yield "</h3>"
    yield f'<p class="message">{_text(finding.message)}</p>'
    if finding.breaks:
        yield f'<p class="breaks">Breaks {_text(finding.breaks)}.</p>'
    if finding.waived is not None:
        yield f'<p class="waived">Waived until {finding.waived.expires}: {_text(finding.waived.reason)}</p>'
    if finding.severity != "editorial":
        if finding.advice != "Nothing needs to be done.":
            yield f'<p class="advice">{_text(finding.advice)}</p>'
        yield from _repair(finding)
        if finding.witness is not None:
            body = _text(wording.message(finding.witness.value, 90), lines=True)
            yield f'<figure class="witness"><figcaption>{_text(wording.proof(finding.witness))}'
            yield f'<button type="button">Copy</button></figcaption><pre>{body}</pre></figure>'
    if finding.old is not None or finding.new is not None:
        yield '<details><summary>Old beside new</summary><div class="sides">'
        yield from _side("Old", finding.old)
        yield from _side("New", finding.new)
        yield "</div></details>"
    facts = f"{_text(wording.flow(finding))} · {finding.effect} · <code>{_text(finding.fingerprint)}</code>"
    yield f'<p class="facts">{facts}</p></article>'


def _repair(finding: Finding) -> Iterator[str]:
    """What repairs a finding, and the lines that it changes."""
    if told := repairs.sentence(finding):
        yield f"<p>{_text(told)}</p>"
    for file, each in repairs.suggested(finding):
        place = f"{repairs.inside(file)}:{each.first}-{each.last}"
        yield f"<details><summary>Edit of <code>{_text(place)}</code></summary>"
        yield f"<pre>{_text(each.text, lines=True)}</pre></details>"


def _note(note: Note) -> str:
    told = f"{_text(note.rule)} <code>{_text(wording.place(note.at))}</code>"
    return f"<p>{told}<br>{_text(note.message)} {_text(note.advice)}</p>"


def _side(name: str, spot: Spot | None) -> Iterator[str]:
    if spot is None:
        yield f'<figure><figcaption>{name}</figcaption><p class="nothing">not there</p></figure>'
        return
    yield f"<figure><figcaption>{name} <code>{_text(wording.place(spot))}</code></figcaption>"
    yield f"<pre>{_text(_excerpt(spot), lines=True)}</pre></figure>" if spot.value is not None else "</figure>"


def _excerpt(spot: Spot) -> str:
    """The beginning of what stands in a place."""
    lines = json.dumps(spot.value, indent=2, ensure_ascii=False).splitlines()
    return "\n".join([*lines[:LONGEST_EXCERPT], "…"] if len(lines) > LONGEST_EXCERPT else lines)


def _text(value: str, *, lines: bool = False) -> str:
    shown = "\n".join(visible(line) for line in value.split("\n")) if lines else visible(value)
    return escape(shown)


_STYLE: Final = """
:root { color-scheme: light dark; --back: #fbfbfa; --card: #fff; --ink: #1d1f23; --soft: #5c626d; --line: #e2e3e6; --code: #f3f4f6;
  --breaking: #b42318; --undecided: #7a3ea1; --risky: #9a5b00; --additive: #1a7f4b;
  --editorial: #5c626d; --identical: #1a7f4b; }
@media (prefers-color-scheme: dark) { :root { --back: #14161a; --card: #1c1f25; --ink: #e7e9ee; --soft: #9aa2b1; --line: #2c313a;
  --code: #242932; --breaking: #ff8f85; --undecided: #d6a4f5; --risky: #f2b84b; --additive: #5fd39a;
  --editorial: #9aa2b1; --identical: #5fd39a; } }
* { box-sizing: border-box; }
body { overflow-wrap: anywhere; margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; background: var(--back); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; font-weight: 600; margin: 0 0 .75rem; } h1 span { color: var(--soft); }
.kicker { margin: 0; color: var(--soft); font-size: .85rem; }
.verdict { margin: 0 0 1rem; padding: .7rem 1rem; border-left: 4px solid var(--tone); background: var(--card); }
.verdict strong { color: var(--tone); text-transform: capitalize; margin-right: .5rem; }
.breaking { --tone: var(--breaking); } .undecided { --tone: var(--undecided); } .risky { --tone: var(--risky); }
.additive { --tone: var(--additive); } .editorial { --tone: var(--editorial); } .identical { --tone: var(--identical); }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 0; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-weight: 600; }
form { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem .9rem; align-items: center; margin: 1.25rem 0 0;
  padding: .75rem 0; background: var(--back); border-bottom: 1px solid var(--line); }
form input[type=search] { flex: 1 1 14rem; padding: .45rem .7rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .4rem; }
form label { color: var(--tone); white-space: nowrap; cursor: pointer; } form b { font-weight: 600; }
output { color: var(--soft); font-size: .85rem; }
h2 { margin: 2rem 0 .75rem; font-size: 1.15rem; } h2 small { color: var(--soft); font-weight: 400; }
article { margin: 0 0 .75rem; padding: .9rem 1.1rem; background: var(--card); border: 1px solid var(--line);
  border-left: 4px solid var(--tone);
  border-radius: .4rem; }
h3 { margin: 0; font-size: 1rem; font-weight: 600; display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: baseline; }
.badge { color: var(--tone); text-transform: capitalize; } .place { font-weight: 400; color: var(--soft); }
article p { margin: .35rem 0 0; } .breaks { color: var(--tone); } .advice::before { content: "→ "; color: var(--soft); }
.facts { color: var(--soft); font-size: .8rem; } .waived { font-style: italic; } .nothing { color: var(--soft); }
figure { margin: .6rem 0 0; min-width: 0; } figcaption { display: flex; gap: .6rem; justify-content: space-between; align-items: center;
  color: var(--soft); font-size: .85rem; }
pre { margin: .3rem 0 0; padding: .7rem .9rem; background: var(--code); border-radius: .3rem; white-space: pre-wrap;
  max-height: 26rem; overflow: auto; }
button { font: inherit; font-size: .8rem; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .3rem;
  padding: .1rem .6rem; cursor: pointer; white-space: nowrap; } button:hover, button:focus-visible { border-color: currentColor; }
details { margin-top: .5rem; } summary { cursor: pointer; color: var(--soft); font-size: .85rem; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: .8rem; }
[hidden] { display: none !important; }
@media print { form, button { display: none; } details { display: block; } }
"""

_SCRIPT: Final = """
"use strict";
const articles = [...document.querySelectorAll("article")];
const boxes = [...document.querySelectorAll("#filter input[type=checkbox]")];
const query = document.getElementById("query");
for (const article of articles) {
  const heading = article.closest("section").querySelector("h2").textContent;
  article.words = (heading + " " + article.textContent).toLowerCase();
}
function filter() {
  const wanted = new Set(boxes.filter(box => box.checked).map(box => box.value));
  const words = query.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  for (const article of articles) {
    const visible = wanted.has(article.dataset.severity) && words.every(word => article.words.includes(word));
    article.hidden = !visible;
    shown += visible;
  }
  for (const section of document.querySelectorAll("section")) section.hidden = !section.querySelector("article:not([hidden])");
  document.getElementById("none").hidden = shown > 0;
  document.getElementById("shown").textContent = shown + " of " + articles.length;
}
if (query) {
  document.getElementById("filter").addEventListener("input", filter);
  filter();
}
function select(pre) {
  const range = document.createRange();
  range.selectNodeContents(pre);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}
document.addEventListener("click", async event => {
  const button = event.target.closest("figure.witness button");
  if (!button) return;
  const pre = button.closest("figure").querySelector("pre");
  try {
    await navigator.clipboard.writeText(pre.textContent);
  } catch {
    select(pre);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});
"""
