"""The report as one HTML page for people: summary, filter, old beside new, evidence to copy. It needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from acpgen.diagnostics import outline
from acpgen.diagnostics.markup import content_policy
from acpgen.diagnostics.model import (
    Diagnostic,
    DiagnosticReport,
    Replacement,
    ReportTable,
    Snippet,
    SourceLocation,
    tone,
)
from acpgen.diagnostics.outline import Item, RuleGroup
from acpgen.errors import visible
from acpgen.input.numbers import dumps

LONGEST: Final = 30_000
"""Characters. A page that fits shows the evidence and both schemas with each diagnostic, a longer one the evidence of those that say the
same once.
"""

LONGEST_EXCERPT: Final = 24
"""Lines of a source that a diagnostic shows."""


def html_page(report: DiagnosticReport) -> str:
    """The report as a page, in the fullest form that fits."""
    page = "\n".join(_lines(report, full=True)) + "\n"
    is_whole = report.layout == "full" or len(page) <= LONGEST
    return page if is_whole else "\n".join(_lines(report, full=False)) + "\n"


def _lines(report: DiagnosticReport, *, full: bool) -> Iterator[str]:
    verdict, _, rest = report.sentence.partition(":")
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style=_STYLE, script=_SCRIPT)}">'
    yield f"<title>{_text(report.title)}: {report.verdict}</title><style>{_STYLE}</style></head><body>"
    yield f'<header><p class="kicker">{_text(report.label)}</p>'
    sides = (f"<code>{_text(side)}</code>" for side in report.title.split(" → "))
    yield f"<h1>{' <span>→</span> '.join(sides)}</h1>"
    yield f'<p class="verdict {tone(report.verdict)}"><strong>{_text(verdict)}</strong>{_text(rest)}</p>'
    yield "<dl>"
    for name, value in (("result", report.summary), *report.facts):
        yield f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>" if value else ""
    yield "</dl>"
    yield from (f"<p>{_text(remark)}</p>" for remark in report.remarks)
    yield "</header>"
    yield from _filter(report)
    yield "<main>"
    for table in report.tables:
        yield from _table(table)
    if not full:
        yield '<p class="facts">Of equal findings, only one shows its evidence. All evidence and places: --format json.</p>'
    for group in outline.groups(report.diagnostics, heavy=True):
        yield from _group(group, full=full)
    for group in outline.groups(report.diagnostics, heavy=False):
        yield from _folded(group, full=full)
    if report.links:
        links = (f'<a href="{_text(url)}">{_text(rule)}</a>' for rule, url in report.links.items())
        yield f"<p>Rules: {', '.join(links)}</p>"
    yield from _cases(report)
    yield '<p id="none" hidden>No finding passes the filter.</p></main>'
    yield f"<script>{_SCRIPT}</script></body></html>"


def _group(group: RuleGroup, *, full: bool) -> Iterator[str]:
    """The diagnostics of one rule: what several say is said once, and so is the advice."""
    yield f"{_section(group)}{_heading(group)}</h2>"
    for advice in group.advice:
        yield f'<p class="advice">{_text(advice)}</p>'
    for said, found in group.alike:
        if len(found) > 1:
            yield f'<p class="said">{_text(said)}</p>'
        proven = min(found, key=_size)
        for each in found:
            yield from _diagnostic(each, said=len(found) == 1, proven=full or each is proven, full=full)
    yield "</section>"


def _folded(group: RuleGroup, *, full: bool) -> Iterator[str]:
    """The diagnostics of one rule that break nobody, as a list; editorial ones by file."""
    yield f"{_section(group)}<details><summary>{_heading(group)}</h2></summary><ul>"
    if group.severity == "editorial":
        yield from (f"<li><code>{_text(file)}</code></li>" for file in group.by_file)
    for each in () if group.severity == "editorial" else group.diagnostics:
        message = f" {_text(each.message)}" if full or not each.subject else ""
        head = f"<code>{_text(each.subject)}</code>" if each.subject else ""
        yield f"<li>{head}{_reached(each) if full else ''}{message}</li>"
    yield "</ul></details></section>"


def _section(group: RuleGroup) -> str:
    return f'<section class="{tone(group.severity)}" data-severity="{group.severity}">'


def _heading(group: RuleGroup) -> str:
    return f'<h2><span class="badge">{group.severity}</span> {_text(group.rule)} <small>{group.count}</small>'


def _reached(diagnostic: Diagnostic) -> str:
    """The methods or places that it reaches; folded where there are several."""
    reach = _text(outline.reach(diagnostic))
    if len(diagnostic.reached) < 2:
        return f" <small>{reach}</small>" if reach else ""
    return f" <details><summary>{reach}</summary>{_text(', '.join(diagnostic.reached))}</details>"


def _filter(report: DiagnosticReport) -> Iterator[str]:
    found = outline.counts(report.diagnostics)
    if not found:
        return
    yield '<form id="filter" role="search">'
    yield '<input id="query" type="search" placeholder="Rule, place or word" aria-label="Filter findings">'
    for severity, count in found.items():
        checked = "" if severity == "editorial" and len(found) > 1 else " checked"
        yield f'<label class="{tone(severity)}"><input type="checkbox" value="{severity}"{checked}> {severity} <b>{count}</b></label>'
    yield '<output id="shown" aria-live="polite"></output></form>'


def _size(diagnostic: Diagnostic) -> float:
    """The size of the evidence; that which has none comes last."""
    return sum(len(line) for each in diagnostic.evidence for line in _body(each)) or float("inf")


def _diagnostic(diagnostic: Diagnostic, *, said: bool, proven: bool, full: bool) -> Iterator[str]:
    mark = _text(diagnostic.fingerprint)
    identity = f' id="{mark}"' if mark else ""
    yield f"<article{identity}><h3><code>{_text(outline.name(diagnostic))}</code>"
    yield f"{_reached(diagnostic)} <small>{mark}</small></h3>"
    if said:
        yield f"<p>{_text(diagnostic.message)}{outline.times(diagnostic)}</p>"
    for line in outline.details(diagnostic):
        match line:
            case Item(_, parts, False):
                yield f"<p>{_text(''.join(parts))}</p>"
            case Replacement(text=text):
                yield _fold(f"Edit of <code>{_text(str(line))}</code>", text.split("\n"))
            case Snippet(caption) if proven:
                yield _fold(_text(caption.rstrip(":")), _body(line))
            case _:
                pass
    sides = {each.label: each for each in diagnostic.locations if each.value is not None}
    if full and sides:
        sides_html = "".join(_side(label, sides.get(label)) for label in ("old", "new"))
        yield f'<details><summary>Old and new schema</summary><div class="sides">{sides_html}</div></details>'
    elif full and diagnostic.locations:
        yield f'<p class="facts">{_text(", ".join(map(str, diagnostic.locations)))}</p>'
    yield "</article>"


def _body(snippet: Snippet) -> list[str]:
    return [*snippet.lines] or [dumps(snippet.value, ensure_ascii=False)]


def _fold(caption: str, lines: list[str]) -> str:
    return f"<details><summary>{caption}</summary>{_pre(lines)}</details>"


def _pre(lines: list[str]) -> str:
    shown = "\n".join(escape(visible(line), quote=False) for line in lines)
    return f"<pre>{shown}</pre>"


def _cases(report: DiagnosticReport) -> Iterator[str]:
    """The tests that were skipped, by the reason, and those that found nothing."""
    if report.skipped:
        yield "<section><h2>Skipped</h2><dl>"
        for reason, names in report.reasons.items():
            yield f"<div><dt>{_text(reason)}</dt><dd>{_text(', '.join(names))}</dd></div>"
        yield "</dl></section>"
    if report.passed:
        yield f"<section><h2>Judged</h2><p>{_text(', '.join(report.passed))}</p></section>"


def _table(table: ReportTable) -> Iterator[str]:
    heads = "".join(f"<th scope=col>{column.name}</th>" for column in table.columns)
    yield f'<section><h2>{_text(table.title)}</h2><div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>'
    for name, *cells in table.rows:
        cells_html = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
        yield f'<tr class="{tone(cells[0])}"><th scope=row><code>{_text(name)}</code></th>{cells_html}</tr>'
    yield "</tbody></table></div></section>"


def _side(name: str, place: SourceLocation | None) -> str:
    if place is None:
        return f"<figure><figcaption>{name.title()}</figcaption><p>not there</p></figure>"
    lines = outline.json_lines(place.value)
    lines = [*lines[:LONGEST_EXCERPT], "…"] if len(lines) > LONGEST_EXCERPT else lines
    return f"<figure><figcaption>{name.title()} <code>{_text(str(place))}</code></figcaption>{_pre(lines)}</figure>"


def _text(value: str) -> str:
    return escape(visible(value))


_STYLE: Final = """
:root{color-scheme:light dark;--back:#fbfbfa;--card:#fff;--ink:#1d1f23;--soft:#5c626d;--line:#e2e3e6;--code:#f3f4f6;
--bad:#b42318;--unknown:#7a3ea1;--warning:#8a5100;--good:#17734a;--quiet:#5c626d}
@media(prefers-color-scheme:dark){:root{--back:#14161a;--card:#1c1f25;--ink:#e7e9ee;--soft:#9aa2b1;--line:#2c313a;--code:#242932;
--bad:#ff8f85;--unknown:#d6a4f5;--warning:#f2b84b;--good:#5fd39a;--quiet:#9aa2b1}}
*{box-sizing:border-box}
body{overflow-wrap:anywhere;margin:0 auto;padding:2rem 1.25rem 4rem;max-width:62rem;background:var(--back);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
h1{font-size:1.4rem;font-weight:600;margin:0 0 .75rem}h1 span,small,.kicker,.facts,dt,output,summary{color:var(--soft)}
.kicker,dt,output,.facts,small{font-size:.85rem;font-weight:400}.kicker{margin:0}
.verdict{margin:0 0 1rem;padding:.7rem 1rem;border-left:4px solid var(--tone);background:var(--card)}
.verdict strong{color:var(--tone);text-transform:capitalize;margin-right:.5rem}
.bad{--tone:var(--bad)}.unknown{--tone:var(--unknown)}.warning{--tone:var(--warning)}.good{--tone:var(--good)}.quiet{--tone:var(--quiet)}
dl{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:0}dd{margin:0;font-weight:600}
form{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:.3rem .9rem;align-items:center;margin:1.25rem 0 0;padding:.6rem 0;
background:var(--back);border-bottom:1px solid var(--line)}
form input[type=search]{flex:1 1 14rem;padding:.45rem .7rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:.4rem}form label{color:var(--tone);white-space:nowrap;cursor:pointer}
h2{display:inline-block;margin:1.6rem 0 .4rem;font-size:1.1rem}section>details h2{margin:.6rem 0}
.badge{color:var(--tone);text-transform:capitalize}
article{margin:.5rem 0;padding:.6rem .9rem;background:var(--card);border:1px solid var(--line);
border-left:4px solid var(--tone);border-radius:.4rem}
h3{margin:0;font-size:1rem;font-weight:600;display:flex;flex-wrap:wrap;gap:0 .6rem}
h3>:last-child{margin-left:auto}p{margin:.3rem 0}.advice::before{content:"→ ";color:var(--soft)}.said{margin:.8rem 0 .2rem}
.waived{font-style:italic}figure{margin:.6rem 0 0;min-width:0}summary{cursor:pointer;font-size:.85rem}
h3 details,li details{display:inline-block;font-weight:400}ul{margin:.2rem 0 1rem;padding-left:1.4rem}
pre{margin:.3rem 0 0;padding:.7rem .9rem;background:var(--code);border-radius:.3rem;white-space:pre-wrap;max-height:26rem;overflow:auto}
button{font:inherit;font-size:.8rem;color:inherit;background:none;border:1px solid var(--line);border-radius:.3rem;padding:.1rem .6rem;
margin-top:.3rem;cursor:pointer}.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:.8rem}
.wide{overflow-x:auto}table{border-collapse:collapse}th,td{padding:.3rem .6rem;text-align:left;vertical-align:top;
border-bottom:1px solid var(--line);overflow-wrap:normal}th{font-weight:400;white-space:nowrap}td:first-of-type{color:var(--tone)}
[hidden]{display:none!important}@media print{form,button{display:none}}
"""

_SCRIPT: Final = """
"use strict";
const items = [...document.querySelectorAll("section[data-severity] article, section[data-severity] li")];
const boxes = [...document.querySelectorAll("#filter input[type=checkbox]")];
const query = document.getElementById("query");
for (const item of items) {
  const section = item.closest("section");
  item.words = (section.querySelector("h2").textContent + " " + item.textContent).toLowerCase();
  item.severity = section.dataset.severity;
}
function filter() {
  const wanted = new Set(boxes.filter(box => box.checked).map(box => box.value));
  const words = query.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  for (const item of items) {
    item.hidden = !wanted.has(item.severity) || !words.every(word => item.words.includes(word));
    shown += !item.hidden;
  }
  for (const section of document.querySelectorAll("section[data-severity]")) {
    section.hidden = !section.querySelector("article:not([hidden]), li:not([hidden])");
    for (const said of section.querySelectorAll(".said")) {
      let next = said.nextElementSibling;
      while (next && next.tagName === "ARTICLE" && next.hidden) next = next.nextElementSibling;
      said.hidden = !next || next.tagName !== "ARTICLE";
    }
  }
  document.getElementById("none").hidden = shown > 0;
  document.getElementById("shown").textContent = shown + " of " + items.length;
}
if (query) {
  document.getElementById("filter").addEventListener("input", filter);
  document.getElementById("filter").addEventListener("submit", event => event.preventDefault());
  filter();
}
for (const pre of document.querySelectorAll("summary + pre")) {
  try { pre.textContent = JSON.stringify(JSON.parse(pre.textContent), null, 2); } catch {}
  const button = document.createElement("button");
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
    } catch {
      getSelection().selectAllChildren(pre);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  pre.after(button);
}
"""
