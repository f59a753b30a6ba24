"""Words and order that the formats for people share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from acpgen.compat.findings import (
    NO_ACTION,
    SEVERITIES,
    Coverage,
    Finding,
    Inclusion,
    Report,
    Revision,
    Severity,
    Spot,
    Witness,
    counts,
    lowered,
    opposite,
    raised,
)
from acpgen.ir import JSON
from acpgen.schema.numbers import dumps

NOTES = "Notes"
THE_ROOT: Final = "the root"
"""Stands for the name of a root, which has none."""
HEAVY: Final[tuple[Severity, ...]] = ("breaking", "undecided", "risky")
"""The severities that somebody must look at."""


@dataclass(frozen=True, slots=True)
class Block:
    """The findings of one rule and severity."""

    severity: Severity
    rule: str
    findings: tuple[Finding, ...]

    @property
    def alike(self) -> list[tuple[str, list[Finding]]]:
        """The findings that say the same of different names, with what they say; those that there are most of come first."""
        groups: dict[str, list[Finding]] = {}
        for each in self.findings:
            groups.setdefault(_nameless(each), []).append(each)
        return [
            (said if len(group) > 1 else group[0].message, group)
            for said, group in sorted(groups.items(), key=lambda group: -len(group[1]))
        ]

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do, each piece of advice once: each sentence, where the findings are given several."""
        given = dict.fromkeys(each.advice for each in self.findings if each.advice not in ("", NO_ACTION))
        if len(given) < 2:
            return tuple(given)
        sentences = [[f"{each.rstrip('.')}." for each in advice.split(". ")] for advice in given]
        shared = [each for each in sentences[0] if all(each in others for others in sentences)]
        own = dict.fromkeys(each for others in sentences for each in others if each not in shared)
        return (*own, *shared)

    @property
    def size(self) -> str:
        """How many findings there are, where there are several: ` (7)`."""
        return f" ({len(self.findings)})" if len(self.findings) > 1 else ""


def blocks(findings: Iterable[Finding], severities: Iterable[Severity] = SEVERITIES) -> list[Block]:
    """The findings by severity and rule: worst first, then those that there are most of."""
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.severity, each.rule), []).append(each)
    wanted = tuple(severities)
    found = [Block(severity, rule, tuple(group)) for (severity, rule), group in groups.items() if severity in wanted]
    return sorted(found, key=lambda block: (SEVERITIES.index(block.severity), -len(block.findings), block.rule))


def _nameless(finding: Finding) -> str:
    """What a finding says, without the name of what changed: that stands beside it."""
    names = (finding.method or "", *re.split(r"[.()]+", finding.location.rstrip(")")))
    for name in filter(None, reversed(names)):
        if finding.message.startswith(f"{name!r} is "):
            return f"Is {finding.message.removeprefix(f'{name!r} is ')}"
        for named in (f" in {name!r}", f" of {name!r}", f" {name!r}"):
            if named in finding.message:
                return finding.message.replace(named, "", 1)
    return finding.message


def by_method(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings by the first method that reaches them."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.method or "no method", []).append(finding)
    return groups


def name(finding: Finding) -> str:
    """What changed, wherever it is used."""
    return finding.declaration or finding.location


def listed(finding: Finding) -> str:
    """What changed, as a list names it: the root of a schema has no name of its own."""
    return name(finding) or THE_ROOT


def reached(finding: Finding, *, way: bool = True) -> str:
    """Which messages hold it, and who sends them: `session/prompt, client → agent`, `15 methods: session/new, …; both ways`. Where no
    method does, where else it is: `also in 6 places: Cat, …`.
    """
    methods = [each for each in finding.methods if each != name(finding)]
    others = elsewhere(finding)
    parts = [f"{counted(len(methods), 'method')}: {methods[0]}, …" if len(methods) > 1 else "".join(methods)]
    if others:
        parts.append(f"also in {counted(len(others), 'place')}: {others[0]}{', …' if len(others) > 1 else ''}")
    if way and finding.reaches and (finding.flow != "both" or methods):
        parts.append(direction(finding))
    return ("; " if len(methods) > 1 else ", ").join(filter(None, parts))


def elsewhere(finding: Finding) -> list[str]:
    """The places beside the declaration that have the change, if no method reaches any of them."""
    if finding.methods:
        return []
    places = dict.fromkeys(reach.location for reach in finding.reaches)
    return [each or THE_ROOT for each in places if each != name(finding)]


def direction(finding: Finding) -> str:
    """Who sends to whom in the messages that hold it, and of which revision, where an exchange fails: `old client → new agent`."""
    if not finding.reaches:
        return flow(finding.flow)
    weighty = [each for each in finding.reaches if each.severity == finding.severity]
    ways: set[tuple[str, Revision | None]] = {(each.flow, each.sender) for each in weighty}
    senders: set[Revision | None] = {each.sender for each in weighty}
    if len(ways) > 1:
        sender = senders.pop() if len(senders) == 1 else None
        return "both ways" if sender is None else f"{sender} → {opposite(sender)}, both ways"
    ((name, sender),) = ways
    one, arrow, another = name.partition("-to-")
    if sender is None:
        return flow(name)
    return f"{sender} {one} → {opposite(sender)} {another}" if arrow else f"{sender} → {opposite(sender)}"


def flow(name: str) -> str:
    """Who sends to whom: `client → agent`."""
    sender, arrow, receiver = name.partition("-to-")
    return f"{sender} → {receiver}" if arrow else "either side"


def proof(witness: Witness) -> str:
    """What a witness shows."""
    if witness.carried_by is not None:
        return f"Only the {witness.carried_by} revision understands all of this message:"
    return f"The {witness.accepted_by} revision accepts this message; the {witness.refused_by} revision rejects it:"


def message(value: JSON, width: int) -> str:
    """A JSON value on one line if it fits, else indented."""
    line = dumps(value, ensure_ascii=False)
    return line if len(line) <= width else dumps(value, indent=2, ensure_ascii=False)


def tally(report: Report) -> str:
    """How many findings there are of each severity, and how many notes."""
    parts = [f"{count} {severity}{_waived(report, severity)}" for severity, count in counts(report).items()]
    if report.notes:
        parts.append(counted(len(report.notes), "note"))
    ruled = ((len(lowered(report)), "lowered"), (len(raised(report)), "raised"))
    told = [f"{counted(count, 'finding')} {what} by policy" for count, what in ruled if count]
    return "; ".join(filter(None, (", ".join(parts), ", ".join(told))))


def _waived(report: Report, severity: Severity) -> str:
    """How many of the findings of a severity are waived: ` (1 of them waived)`, ` (waived)` where all are."""
    found = [finding.waived is not None for finding in report.findings if finding.severity == severity]
    if not any(found):
        return ""
    return " (waived)" if all(found) else f" ({sum(found)} of them waived)"


def overview(found: Sequence[Block], severity: Severity) -> str:
    """How many findings there are of each rule: `field-removed 7, method-removed 2`."""
    mine = [block for block in found if block.severity == severity]
    return ", ".join(f"{block.rule} {len(block.findings)}" for block in mine)


def some(names: Sequence[str], room: int) -> str:
    """As many names as fit into so many characters, at least one, and how many more there are."""
    shown: list[str] = []
    size = 0
    for each in names:
        size += len(each) + 2
        if shown and size > room:
            return f"{', '.join(shown)} and {len(names) - len(shown)} more"
        shown.append(each)
    return ", ".join(shown)


def place(spot: Spot | None) -> str:
    """`file:line:column`, or a dash."""
    return "—" if spot is None else f"{spot.file}:{spot.line}:{spot.column}"


def path(spot: Spot) -> str:
    """The file without the revision that it was read at: where services look for it in the repository."""
    return spot.file.partition(":")[2] or spot.file


def summary(report: Report) -> list[tuple[str, str]]:
    """The verdicts beside the main one, in words."""
    wire = report.wire
    if report.unruled is not None or report.earlier is not None:
        rest = summary(replace(report, unruled=None, earlier=None))
        return [
            *rest,
            *([("earlier releases", _earlier(report.earlier))] if report.earlier is not None else []),
            *_policy(report),
        ]
    if report.merge_base is not None:
        base = report.merge_base
        rest = summary(replace(report, merge_base=None))
        return [("old revision", f"{base.short}, the merge base of {base.one} and {base.other}"), *rest]
    if report.mode == "language":
        return [
            ("schema inclusion", _inclusion(wire)),
            ("generated code", report.bindings),
        ]
    rows = [
        ("old peers to new peers", wire.backward),
        ("new peers to old peers", wire.forward),
        ("schema inclusion", f"{_inclusion(report.language)}{_unsent(report)}"),
        ("generated code", report.bindings),
    ]
    return rows if report.coverage is None else [*rows, ("compared", _coverage(report.coverage))]


def _policy(report: Report) -> list[tuple[str, str]]:
    """What the project's policy has changed: `3 lowered, 1 raised; without it: breaking`."""
    if report.unruled is None:
        return []
    changed = ((len(lowered(report)), "lowered"), (len(raised(report)), "raised"))
    told = ", ".join(f"{count} {what}" for count, what in changed if count)
    return [("policy", f"{told}; without it: {report.unruled}")]


def _earlier(releases: tuple[str, ...]) -> str:
    match releases:
        case (first, *_, last):
            return f"compared too, from {first} to {last}"
        case (only,):
            return f"{only} compared too"
        case _:
            return "no release of this protocol is kept"


def _inclusion(found: Inclusion) -> str:
    return f"old ⊆ new {found.backward}; new ⊆ old {found.forward}"


def _unsent(report: Report) -> str:
    """Why plain schemas say no where peers understand each other, if they do."""
    ways = (report.wire.backward, report.language.backward), (report.wire.forward, report.language.forward)
    return " (this includes values that no peer sends, such as undeclared members)" if ("yes", "no") in ways else ""


def _coverage(coverage: Coverage) -> str:
    """`76 methods, 240 of 240 definitions`, `the root`, and how many other parts of the files were not."""
    definitions = f"{coverage.compared} of {counted(coverage.definitions, 'definition')}"
    others = len(coverage.not_compared) - (coverage.definitions - coverage.compared)
    rest = f"; not compared: {counted(others, 'other part')}" if others else ""
    if not coverage.methods and not coverage.definitions:
        return f"{THE_ROOT}{rest}"  # what has neither method nor definition nor root is refused
    return f"{counted(coverage.methods, 'method')}, {definitions}{rest}"


def counted(count: int, noun: str) -> str:
    """`1 method`, `2 methods`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
