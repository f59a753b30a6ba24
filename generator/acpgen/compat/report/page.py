"""The report as one HTML page for people: summary, filter, old beside new, witnesses to copy. It needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from acpgen.compat.findings import SEVERITIES, Finding, Note, Report, Spot, Witness, counts
from acpgen.compat.report import repairs, wording
from acpgen.compat.rule_pages import address
from acpgen.errors import visible
from acpgen.markup import content_policy
from acpgen.schema.numbers import dumps

LONGEST: Final = 30_000
"""Characters. A page that fits shows the message and both schemas with each finding, a longer one a message of those that say the same."""

LONGEST_EXCERPT: Final = 24
"""Lines of a source that a finding shows."""

_SENTENCES: Final = {
    "breaking": "Some exchange that worked now fails, or silently changes its meaning.",
    "undecided": "The check could not prove that nothing breaks.",
    "risky": "Tolerant peers still work; strict old peers reject the message.",
    "additive": "Old and new peers understand each other; something was added.",
    "editorial": "No message shows the change.",
    "identical": "Nothing differs.",
}


def html_page(report: Report, _: str = "risky") -> str:
    """The report as a page, in the fullest form that fits."""
    page = "\n".join(_lines(report, full=True)) + "\n"
    return page if len(page) <= LONGEST else "\n".join(_lines(report, full=False)) + "\n"


def _lines(report: Report, *, full: bool) -> Iterator[str]:
    title = f"{report.old} → {report.new}"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style=STYLE, script=_SCRIPT)}">'
    yield f"<title>{_text(title)}: {report.verdict}</title><style>{STYLE}</style></head><body>"
    yield '<header><p class="kicker">Compatibility</p>'
    yield f"<h1><code>{_text(report.old)}</code> <span>→</span> <code>{_text(report.new)}</code></h1>"
    yield f'<p class="verdict {report.verdict}"><strong>{report.verdict}</strong> {_SENTENCES[report.verdict]}</p>'
    yield "<dl>"
    for name, value in wording.summary(report):
        yield f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>"
    yield "</dl></header>"
    yield from _filter(report)
    yield "<main>"
    if not full:
        yield '<p class="facts">Of equal findings, only one shows its message. All messages and places: --format json.'
    for block in wording.blocks(report.findings, wording.HEAVY):
        yield from _block(block, full=full)
    for block in wording.blocks(report.findings, ("additive", "editorial")):
        yield from _folded(block, full=full)
    rules = list(dict.fromkeys(finding.rule for finding in report.findings)) if report.docs else []
    if rules:
        links = ", ".join(f'<a href="{_text(address(report.docs, rule))}">{_text(rule)}</a>' for rule in rules)
        yield f"<p>Rules: {links}</p>"
    if report.notes:
        yield f"<aside><h2>{wording.NOTES} <small>{len(report.notes)}</small></h2>"
        yield from map(_note, report.notes)
        yield "</aside>"
    yield '<p id="none" hidden>No finding passes the filter.</p></main>'
    yield f"<script>{_SCRIPT}</script></body></html>"


def _block(block: wording.Block, *, full: bool) -> Iterator[str]:
    """The findings of one rule: what several say is said once, and so is the advice."""
    yield from _opened("section", block)
    yield f"{_heading(block)}</h2>"
    for advice in block.advice:
        yield f'<p class="advice">{_text(advice)}</p>'
    for said, findings in block.alike:
        if len(findings) > 1:
            yield f'<p class="said">{_text(said)}</p>'
        proven = min(findings, key=_proof_size)
        for finding in findings:
            yield from _finding(finding, said=len(findings) == 1, proven=full or finding is proven, full=full)
    yield "</section>"


def _folded(block: wording.Block, *, full: bool) -> Iterator[str]:
    """The findings of one rule that break nobody, as a list."""
    yield from _opened("section", block)
    yield f"<details><summary>{_heading(block)}</h2></summary><ul>"
    for finding in block.findings:
        name = wording.name(finding)
        told = f" {_text(finding.message)}" if full or not name else ""
        head = f"<code>{_text(name)}</code>" if name else ""
        yield f"<li>{head}{_methods(finding) if full else ''}{told}"
    yield "</ul></details></section>"


def _opened(tag: str, block: wording.Block) -> Iterator[str]:
    yield f'<{tag} class="{block.severity}" data-severity="{block.severity}">'


def _heading(block: wording.Block) -> str:
    return f'<h2><span class="badge">{block.severity}</span> {_text(block.rule)} <small>{len(block.findings)}</small>'


def _methods(finding: Finding) -> str:
    """The methods that reach what changed; folded where there are several."""
    names = [each for each in finding.methods if each != wording.name(finding)]
    if len(names) < 2:
        return "".join(f" <small>{_text(each)}</small>" for each in names)
    return f" <details><summary>{len(names)} methods</summary>{_text(', '.join(names))}</details>"


def _filter(report: Report) -> Iterator[str]:
    found = counts(report)
    if not found:
        return
    yield '<form id="filter" role="search">'
    yield '<input id="query" type="search" placeholder="Method, rule, place or word" aria-label="Filter findings">'
    for severity in SEVERITIES:
        if severity in found:
            checked = "" if severity == "editorial" and len(found) > 1 else " checked"
            yield (
                f'<label class="{severity}"><input type="checkbox" value="{severity}"{checked}> '
                f"{severity} <b>{found[severity]}</b></label>"
            )
    yield '<output id="shown" aria-live="polite"></output></form>'


def _proof_size(finding: Finding) -> float:
    return float("inf") if finding.witness is None else len(dumps(finding.witness.value))


def _finding(finding: Finding, *, said: bool, proven: bool, full: bool) -> Iterator[str]:
    name, way = wording.listed(finding), f"{_text(wording.direction(finding))} · " if finding.breaks else ""
    facts = f"<small>{way}{_text(finding.fingerprint)}</small>"
    yield f'<article id="{_text(finding.fingerprint)}"><h3><code>{_text(name)}</code>{_methods(finding)} {facts}</h3>'
    if said:
        yield f"<p>{_text(finding.message)}"
    if finding.waived is not None:
        yield f'<p class="waived">Waived until {finding.waived.until}: {_text(finding.waived.reason)}'
    yield from _repair(finding)
    if finding.witness is not None and proven:
        body = _text(dumps(finding.witness.value, ensure_ascii=False), lines=True)
        yield f"<details><summary>{_text(_shown(finding.witness))}</summary><pre>{body}</pre></details>"
    if full and (finding.old is not None or finding.new is not None):
        yield '<details><summary>Old and new schema</summary><div class="sides">'
        yield from _side("Old", finding.old)
        yield from _side("New", finding.new)
        yield "</div></details>"
    yield "</article>"


def _repair(finding: Finding) -> Iterator[str]:
    """What repairs a finding, and the lines that it changes."""
    if told := repairs.sentence(finding):
        yield f"<p>{_text(told)}"
    for file, each in repairs.suggested(finding):
        place = f"{repairs.inside(file)}:{each.first}-{each.last}"
        yield f"<details><summary>Edit of <code>{_text(place)}</code></summary>"
        yield f"<pre>{_text(each.text, lines=True)}</pre></details>"


def _shown(witness: Witness) -> str:
    """What a witness shows, in a few words."""
    if witness.carried_by is not None:
        return f"Message: only {witness.carried_by} understands"
    return f"Message: {witness.accepted_by} accepts, {witness.refused_by} rejects"


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
    lines = dumps(spot.value, indent=2, ensure_ascii=False).splitlines()
    return "\n".join([*lines[:LONGEST_EXCERPT], "…"] if len(lines) > LONGEST_EXCERPT else lines)


def _text(value: str, *, lines: bool = False) -> str:
    shown = "\n".join(visible(line) for line in value.split("\n")) if lines else visible(value)
    return escape(shown, quote=not lines)


STYLE: Final = """
:root{color-scheme:light dark;--back:#fbfbfa;--card:#fff;--ink:#1d1f23;--soft:#5c626d;--line:#e2e3e6;--code:#f3f4f6;
--breaking:#b42318;--undecided:#7a3ea1;--risky:#8a5100;--additive:#17734a;--editorial:#5c626d;--identical:#17734a}
@media(prefers-color-scheme:dark){:root{--back:#14161a;--card:#1c1f25;--ink:#e7e9ee;--soft:#9aa2b1;--line:#2c313a;--code:#242932;
--breaking:#ff8f85;--undecided:#d6a4f5;--risky:#f2b84b;--additive:#5fd39a;--editorial:#9aa2b1;--identical:#5fd39a}}
*{box-sizing:border-box}
body{overflow-wrap:anywhere;margin:0 auto;padding:2rem 1.25rem 4rem;max-width:62rem;background:var(--back);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
h1{font-size:1.4rem;font-weight:600;margin:0 0 .75rem}h1 span,small,.kicker,.facts,dt,output,summary{color:var(--soft)}
.kicker,dt,output,.facts,small{font-size:.85rem;font-weight:400}.kicker{margin:0}
.verdict{margin:0 0 1rem;padding:.7rem 1rem;border-left:4px solid var(--tone);background:var(--card)}
.verdict strong{color:var(--tone);text-transform:capitalize;margin-right:.5rem}
.breaking{--tone:var(--breaking)}.undecided{--tone:var(--undecided)}.risky{--tone:var(--risky)}
.additive{--tone:var(--additive)}.editorial{--tone:var(--editorial)}.identical{--tone:var(--identical)}
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
[hidden]{display:none!important}@media print{form,button{display:none}}
"""

_SCRIPT: Final = """
"use strict";
const items = [...document.querySelectorAll("article, section li")];
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
  for (const section of document.querySelectorAll("section")) {
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
