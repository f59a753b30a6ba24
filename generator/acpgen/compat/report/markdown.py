"""The report for a comment on a pull request. Text of schemas never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from acpgen.compat.findings import Finding, Report, Spot, Witness, failing
from acpgen.compat.report import repairs, wording
from acpgen.compat.rule_pages import address
from acpgen.markup import code, plain

LONGEST: Final = 5_800
"""Characters. A report that fits shows every finding with its proof; a longer one names them, as far as there is room."""

LONGEST_WITH_REPAIRS: Final = 40_000
"""Characters of a report that suggests edits; a comment on GitHub holds 65,536."""

VERDICTS: Final = {
    "breaking": "Breaking: some exchange that worked now fails or changes its meaning.",
    "undecided": "Undecided: the check could not prove that nothing breaks.",
    "risky": "Risky: tolerant peers still work, strict old peers reject the message.",
    "additive": "Additive: old and new peers understand each other.",
    "editorial": "Editorial: no message shows the change.",
    "identical": "Identical.",
}


def markdown(report: Report, fail_on: str = "risky") -> str:
    """The report as Markdown, in the fullest form that fits."""
    heavy = wording.blocks(report.findings, wording.HEAVY)
    longest = LONGEST if report.fix is None else LONGEST_WITH_REPAIRS
    text = ""
    for forms in _forms(len(heavy)):
        text = "\n".join(_parts(report, fail_on, list(zip(heavy, forms, strict=True)))).rstrip() + "\n"
        if len(text) <= longest:
            break
    return _within_a_comment(text, report)


COMMENT: Final = 65_000
"""Characters that no report exceeds, whatever a schema holds: a comment on GitHub has 65,536."""


def _within_a_comment(text: str, report: Report) -> str:
    """The text, cut after a line where it would be longer than a comment."""
    rest = "The rest does not fit into a comment: "
    rest += f"[the whole report]({report.whole})." if report.whole else "see `acpgen diff --format html`."
    if len(text) <= COMMENT:
        return text
    kept = text[: COMMENT - len(rest) - 40]
    kept = kept[: kept.rfind("\n") + 1]
    fence = ""
    for line in re.findall(r"^ *(`{3,})", kept, re.MULTILINE):
        fence = "" if line == fence else fence or line
    opened = kept.count("<details>") - kept.count("</details>")
    closed = (f"{fence}\n" if fence else "") + "\n</details>\n" * opened
    return f"{kept}{closed}\n_{rest}_\n"


def _forms(count: int) -> Iterator[Sequence[_Form]]:
    """How to tell each of so many rules, the fullest first: all alike, then the first ones at length and the others in a line."""
    yield from ([form] * count for form in (_proven, _listed))
    yield from ([_named] * full + [_summed] * (count - full) for full in range(count, -1, -1))


_ROOM: Final = 400
"""Characters of a list of names."""

_Form: TypeAlias = "Callable[[wording.Block], Iterator[str]]"


def _parts(report: Report, fail_on: str, told: list[tuple[wording.Block, _Form]]) -> Iterator[str]:
    yield f"### Compatibility of {code(report.old)} → {code(report.new)}\n"
    yield f"**{VERDICTS[report.verdict]}**\n"
    stopping = len(failing(report, fail_on))
    if report.findings or report.notes:
        fail = "finding fails" if stopping == 1 else "findings fail"
        yield f"{wording.tally(report)}. {stopping} {fail} `--fail-on {fail_on}`.\n"
    if report.fix is not None:
        yield f"{_said(repairs.summary(report))}\n"
    yield "| | |\n| --- | --- |"
    for name, value in wording.summary(report):
        yield f"| {name} | {_said(value)} |"
    yield ""
    for block, form in told:
        yield from form(block)
    if told:
        yield ""
    if any(form is not _proven for _, form in told):
        there = f"[the whole report]({report.whole})" if report.whole else "`acpgen diff --format json`, or `html`"
        yield f"_All places and proofs: {there}._\n"
    light = wording.blocks(report.findings, ("additive", "editorial"))
    if light:
        count = sum(len(block.findings) for block in light)
        yield f"<details><summary>{count} more, none of which breaks a peer</summary>\n"
        for block in light:
            listed = "" if block.severity == "editorial" else f": {_names(block.findings)}"
            yield f"- {block.severity} `{block.rule}`{block.size}{listed}"
        yield "\n</details>\n"
    rules = list(dict.fromkeys(finding.rule for finding in report.findings if finding.severity in wording.HEAVY))
    if rules and report.docs:
        yield f"Rules: {', '.join(f'[`{rule}`]({address(report.docs, rule)})' for rule in rules)}\n"
    if report.notes:
        yield f"#### {wording.NOTES}\n"
        for note in report.notes:
            yield f"- `{note.rule}` {_place(note.at)}: {_said(note.message)} {_said(note.advice)}"


def _proven(block: wording.Block) -> Iterator[str]:
    """The findings of one rule with their places, the proofs folded."""
    yield f"- **{block.severity}** `{block.rule}`{block.size}"
    for finding in block.findings:
        yield f"  - {_told(finding)}"
        breaks = f"Breaks {_said(finding.breaks)}. " if finding.breaks else ""
        yield f"    {breaks}Old {_place(finding.old)}, new {_place(finding.new)}, `{finding.fingerprint}`."
        if finding.waived is not None:
            yield f"    Waived until {finding.waived.until}: {_said(finding.waived.reason)}"
        if finding.witness is not None:
            yield from _proof(finding.witness)
        yield from repairs.markdown(finding, _said(repairs.sentence(finding)), "    ")
    yield from _advice(block)


def _proof(witness: Witness) -> Iterator[str]:
    lines = wording.message(witness.value, 100).splitlines()
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    told = [
        f"<details><summary>{wording.proof(witness)}</summary>",
        "",
        f"{fence}json",
        *lines,
        fence,
        "",
        "</details>",
    ]
    yield ""
    yield from (f"    {line}".rstrip() for line in told)
    yield ""


def _listed(block: wording.Block) -> Iterator[str]:
    """The findings of one rule, each on a line; what several say is said once."""
    yield f"- **{block.severity}** `{block.rule}`{block.size}"
    for said, findings in block.alike:
        if len(findings) == 1:
            yield f"  - {_told(findings[0])} `{findings[0].fingerprint}`"
            yield from _repaired(findings[0])
            continue
        yield f"  - {_said(said)}"
        for each in findings:
            yield f"    - {_counted(each)} `{each.fingerprint}`"
            yield from _repaired(each)
    yield from _advice(block)


def _repaired(finding: Finding) -> Iterator[str]:
    """What repairs a finding, on a line."""
    if said := _said(repairs.sentence(finding)):
        yield f"      {said}"


def _named(block: wording.Block) -> Iterator[str]:
    """The names of the findings of one rule by what they say."""
    yield f"- **{block.severity}** `{block.rule}`{block.size}"
    for said, findings in block.alike:
        yield f"  - {_said(said)} {_names(findings)}"
    yield from _advice(block)


def _summed(block: wording.Block) -> Iterator[str]:
    """The names of some findings of one rule."""
    yield f"- **{block.severity}** `{block.rule}`{block.size}: {_names(block.findings, _ROOM // 6)}"


def _advice(block: wording.Block) -> Iterator[str]:
    yield from (f"  - → {_said(advice)}" for advice in block.advice)


def _names(findings: Sequence[Finding], room: int = _ROOM) -> str:
    return wording.some([_counted(each) for each in findings], room)


def _told(finding: Finding) -> str:
    name = f"{_counted(finding)} ({_said(wording.direction(finding))}): " if wording.name(finding) else ""
    return f"{name}{_said(finding.message)}"


def _counted(finding: Finding) -> str:
    """The name of a finding, and how many methods reach it, where they are several, or where else it is."""
    name = code(wording.name(finding)) if wording.name(finding) else wording.THE_ROOT
    count, others = len(finding.methods), len(wording.elsewhere(finding))
    if others:
        return f"{name} (also in {wording.counted(others, 'place')})"
    return f"{name} (reached by {wording.counted(count, 'method')})" if count > 1 else name


def _place(spot: Spot | None) -> str:
    return wording.place(spot) if spot is None else code(wording.place(spot))


def _said(text: str) -> str:
    """Text of a schema as it stands. GitHub looks for names to notify after it has resolved references, so they are taken apart."""
    return plain(text).replace("&#64;", "@\u200b")
