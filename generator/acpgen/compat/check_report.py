"""Converts the outcome of the check into a report that every output format can write. Only this module reads findings for output.

`check_report.schema.json` beside this file specifies the JSON; keys may be added, never renamed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Final

from acpgen.compat.findings import (
    NO_ACTION,
    Coverage,
    Finding,
    Fix,
    Inclusion,
    Note,
    Reach,
    Report,
    Revision,
    SourcePosition,
    Witness,
    count_policy_changes,
    count_severities,
    fails,
    get_opposite,
    list_failing,
)
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, Replacement, RuleDescription, Snippet, SourceLocation
from acpgen.diagnostics.outline import THE_ROOT, tally
from acpgen.errors import count_noun
from acpgen.ir import JSON

VERDICTS: Final = {
    "breaking": "Breaking: some exchange that worked now fails or changes its meaning.",
    "undecided": "Undecided: the check could not prove that nothing breaks.",
    "risky": "Risky: tolerant peers still work, strict old peers reject the message.",
    "additive": "Additive: old and new peers understand each other.",
    "editorial": "Editorial: no message shows the change.",
    "identical": "Identical.",
}


def check_report(report: Report, fail_on: str = "risky", fail_on_bindings: str = "never") -> DiagnosticReport:
    """The outcome of a comparison as a diagnostic report; its levels show which findings make the exit code 1."""
    stopping = {id(finding) for finding in list_failing(report, fail_on)}
    diagnostics = (*_list_diagnostics(report.findings, stopping), *map(_note, report.notes))
    return DiagnosticReport(
        command="diff",
        label="Compatibility",
        title=f"{report.old} → {report.new}",
        verdict=report.verdict,
        sentence=VERDICTS[report.verdict],
        summary="; ".join(filter(None, (tally(diagnostics), _summarize_policy(report)))),
        facts=(*_list_facts(report),),
        remarks=(_fix_words(report.fix),) if report.fix is not None else (),
        diagnostics=diagnostics,
        data=partial(as_data, report, fail_on),
        describe=describe_rules,
        links=_list_links(report),
        threshold=f"--fail-on {fail_on}",
        whole=report.whole,
        code=int(fails(report, fail_on, fail_on_bindings)),
    )


def _list_diagnostics(findings: Sequence[Finding], stopping: Collection[int]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each finding, but a single one for all editorial findings of a rule in a file, and for those of a rule in
    a declaration that the budget left undecided.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        position, is_stopping, is_cut_off = (
            finding.new or finding.old,
            id(finding) in stopping,
            finding.first.is_cut_off,
        )
        is_common = is_cut_off or (finding.severity == "editorial" and not is_stopping)
        if is_common and position is not None and finding.waived is None:
            key = finding.rule, position.file, is_cut_off and finding.declaration, is_stopping
            groups.setdefault(key, []).append(finding)
        else:
            yield _make_diagnostic(finding, fails=is_stopping)
    for group in groups.values():
        first = _make_diagnostic(group[0], fails=id(group[0]) in stopping)
        if len(group) == 1:
            yield first
            continue
        message = f"{first.message} And {count_noun(len(group) - 1, 'more change')} of this kind in the file."
        yield replace(first, message=message, statement="", count=len(group))


def _make_diagnostic(finding: Finding, *, fails: bool) -> Diagnostic:
    name, statement, value = finding.declaration or finding.location, _drop_name(finding), finding.first.subject
    methods = tuple(method for method in finding.methods if method != name)
    places = dict.fromkeys(reach.location or THE_ROOT for reach in finding.reaches if not finding.methods)
    reached = methods or tuple(place for place in places if place != (name or THE_ROOT))
    if value and statement.startswith(f"The value {value} "):
        name, statement = f"{name} {value}".lstrip(), statement.replace(f" {value}", "", 1)
    witness = finding.witness
    properties: dict[str, JSON] = {"effect": finding.effect, "method": finding.method, "flow": finding.flow}
    return Diagnostic(
        rule=finding.rule,
        severity=finding.severity,
        message=finding.message,
        subject=name,
        reached=reached,
        reached_noun="place" if places else "method",
        direction=_describe_direction(finding) if (finding.flow != "both" or methods) else "",
        context=finding.location,
        statement=statement,
        details=(f"Breaks: {finding.breaks}.",) if finding.breaks else (),
        advice="" if finding.advice == NO_ACTION else finding.advice,
        waived=f"Waived until {finding.waived.end}: {finding.waived.reason}" if finding.waived else "",
        repair=finding.repair_sentence,
        fingerprint=finding.fingerprint,
        locations=tuple(
            _make_location(position, label)
            for label, position in (("new", finding.new), ("old", finding.old))
            if position is not None
        ),
        evidence=() if witness is None else (Snippet(_introduce_witness(witness), witness.value),),
        replacements=tuple(
            Replacement(_split(patch.file)[1], suggestion.first_line, suggestion.last_line, suggestion.text)
            for patch in (finding.repair.files if finding.repair else ())
            for suggestion in patch.suggestions
        ),
        group=finding.method or "no method",
        fails=fails,
        properties=properties if witness is None else {**properties, "witness": witness.value},
    )


def _note(note: Note) -> Diagnostic:
    return Diagnostic(
        *(note.rule, "note", note.message, _split(note.at.file)[1]),
        advice=note.advice,
        locations=(_make_location(note.at),),
        group="Notes",
    )


def _make_location(position: SourcePosition, label: str = "") -> SourceLocation:
    revision, path = _split(position.file)
    return SourceLocation(path, position.line, position.column, position.pointer, label, revision, position.value)


def _split(file: str) -> tuple[str, str]:
    """Split a file name `revision:path`; services look up the path in the repository. The revision is empty if there is none."""
    revision, colon, path = file.partition(":")
    return (revision, path) if colon else ("", file)


def _list_links(report: Report) -> dict[str, str]:
    """The URLs of the rule pages on the documentation site of the project."""
    if not report.docs:
        return {}
    from acpgen.compat.catalogue import get_address

    return {finding.rule: get_address(report.docs, finding.rule) for finding in report.findings}


def describe_rules(rules: Collection[str]) -> Sequence[RuleDescription]:
    """The descriptions of the named rules."""
    from acpgen.compat.catalogue import list_rules, write_page

    return [
        RuleDescription(rule.id, f"{rule.doc.split('. ')[0].rstrip('.')}.", rule.doc, write_page(rule, linked=False))
        for rule in list_rules()
        if rule.id in rules
    ]


# --- words -----------------------------------------------------------------------------------------------------------


def _drop_name(finding: Finding) -> str:
    """The message of a finding without the name of the changed part, which is shown beside it."""
    names = (finding.method or "", *re.split(r"[.()]+", finding.location.rstrip(")")), finding.location)
    for name in filter(None, reversed(names)):
        if finding.message.startswith(f"{name!r} is "):
            return f"Is {finding.message.removeprefix(f'{name!r} is ')}"
        for name_phrase in (f" in {name!r}", f" of {name!r}", f" {name!r}"):
            if name_phrase in finding.message:
                return finding.message.replace(name_phrase, "", 1)
    return finding.message


def _describe_direction(finding: Finding) -> str:
    """The direction of the messages that contain the change, with the revisions if an exchange fails: `old client → new agent`."""
    worst = [reach for reach in finding.reaches if reach.severity == finding.severity]
    directions: set[tuple[str, Revision | None]] = {(reach.flow, reach.failing_sender) for reach in worst}
    senders: set[Revision | None] = {sender for _, sender in directions}
    if len(directions) > 1:
        sender = senders.pop() if len(senders) == 1 else None
        return "both ways" if sender is None else f"{sender} → {get_opposite(sender)}, both ways"
    ((flow, sender),) = directions
    role, arrow, receiver = flow.partition("-to-")
    if sender is None:
        return f"{role} → {receiver}" if arrow else "either side"
    return f"{sender} {role} → {get_opposite(sender)} {receiver}" if arrow else f"{sender} → {get_opposite(sender)}"


def _introduce_witness(witness: Witness) -> str:
    if witness.carried_by is not None:
        return f"Only the {witness.carried_by} revision understands all of this message:"
    return f"The {witness.accepted_by} revision accepts this message; the {witness.refused_by} revision rejects it:"


def _fix_words(fix: Fix) -> str:
    files = ", ".join(patch.file for patch in fix.files)
    return f"{fix.ended} of {count_noun(fix.findings, 'finding')} can be repaired, which leaves {fix.verdict}: {files}."


def _summarize_policy(report: Report) -> str:
    """What the project's policy has changed: `3 findings lowered by policy`."""
    counts = count_policy_changes(report).items()
    return ", ".join(f"{count_noun(count, 'finding')} {what} by policy" for what, count in counts if count)


def _list_facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the secondary verdicts as a label and a text."""
    if report.merge_base is not None:
        base = report.merge_base
        yield "old revision", f"{base.short}, the merge base of {base.one} and {base.other}"
    if report.mode == "language":
        yield "schema inclusion", _describe_inclusion(report.wire)
    else:
        yield "old peers to new peers", report.wire.backward
        yield "new peers to old peers", report.wire.forward
        yield "schema inclusion", f"{_describe_inclusion(report.language)}{_describe_unsent(report)}"
    yield "generated code", report.bindings
    if report.coverage is not None:
        yield "compared", _describe_coverage(report.coverage)
    if report.earlier is not None:
        yield "earlier releases", _describe_releases(report.earlier)
    if report.unruled is not None:
        policy_changes = ", ".join(f"{count} {what}" for what, count in count_policy_changes(report).items() if count)
        yield "policy", f"{policy_changes}; without it: {report.unruled}"


def _describe_releases(releases: tuple[str, ...]) -> str:
    match releases:
        case (first, *_, last):
            return f"compared too, from {first} to {last}"
        case (only,):
            return f"{only} compared too"
        case _:
            return "no release of this protocol is kept"


def _describe_inclusion(inclusion: Inclusion) -> str:
    return f"old ⊆ new {inclusion.backward}; new ⊆ old {inclusion.forward}"


def _describe_unsent(report: Report) -> str:
    """A remark for the case that schema inclusion fails although peers understand each other; empty otherwise."""
    answers = (report.wire.backward, report.language.backward), (report.wire.forward, report.language.forward)
    return " (this includes values that no peer sends, such as undeclared members)" if ("yes", "no") in answers else ""


def _describe_coverage(coverage: Coverage) -> str:
    """The compared parts, `76 methods, 240 of 240 definitions` or `the root`, and the number of other parts that were not."""
    definitions = f"{coverage.compared} of {count_noun(coverage.definitions, 'definition')}"
    other_parts = len(coverage.not_compared) - (coverage.definitions - coverage.compared)
    rest = f"; not compared: {count_noun(other_parts, 'other part')}" if other_parts else ""
    if not coverage.methods and not coverage.definitions:
        return f"{THE_ROOT}{rest}"  # what has neither method nor definition nor root is refused
    return f"{count_noun(coverage.methods, 'method')}, {definitions}{rest}"


# --- JSON ------------------------------------------------------------------------------------------------------------


def as_data(report: Report, fail_on: str = "risky") -> dict[str, JSON]:
    """The report as JSON."""
    ruled: JSON = {**count_policy_changes(report), "verdict": report.unruled}
    optional: dict[str, JSON] = {
        "fix": None if report.fix is None else _fix_data(report.fix),
        "coverage": None if report.coverage is None else asdict(report.coverage),
        "docs": report.docs or None,
        "earlier": None if report.earlier is None else list(report.earlier),
        "policy": None if report.unruled is None else ruled,
        "merge_base": None if report.merge_base is None else asdict(report.merge_base),
    }
    return {
        **{name: getattr(report, name) for name in ("mode", "old", "new", "verdict")},
        **asdict(report.wire),
        "language": asdict(report.language),
        "bindings": report.bindings,
        "counts": {str(severity): count for severity, count in count_severities(report).items()},
        "failing": len(list_failing(report, fail_on)),
        "findings": [_convert_finding(finding) for finding in report.findings],
        "notes": [
            {
                **_convert_fields(note, "rule", "message", "advice"),
                "at": str(note.at),
                "position": _convert_position(note.at),
            }
            for note in report.notes
        ],
        **{name: value for name, value in optional.items() if value is not None},
    }


def _convert_finding(finding: Finding) -> dict[str, JSON]:
    return {
        **_convert_fields(finding, "rule", "advice", "declaration"),
        **_reach_data(finding),
        "old": None if finding.old is None else str(finding.old),
        "new": None if finding.new is None else str(finding.new),
        "old_position": _convert_position(finding.old),
        "new_position": _convert_position(finding.new),
        "methods": list(finding.methods),
        "reaches": [{**_reach_data(reach), "sender": reach.failing_sender} for reach in finding.reaches],
        **({"repair": asdict(finding.repair)} if finding.repair else {}),
        **({"no_repair": finding.no_repair} if finding.no_repair and not finding.repair else {}),
    }


def _reach_data(proven: Finding | Reach) -> dict[str, JSON]:
    """The JSON members that a finding and each of its reaches have in common."""
    data = _convert_fields(
        proven, "severity", "effect", "method", "flow", "location", "message", "breaks", "fingerprint"
    )
    if proven.witness is not None:
        facts = asdict(proven.witness).items()
        data["witness"] = {key: value for key, value in facts if key == "value" or value is not None}
    if proven.waived is not None:
        word = "until" if proven.waived.until else "expires"
        data["waived"] = {"reason": proven.waived.reason, word: proven.waived.end.removeprefix("release ")}
    if proven.ruled is not None:
        data["policy"] = asdict(proven.ruled)
    return data


def _convert_fields(value: object, *names: str) -> dict[str, JSON]:
    return {name: getattr(value, name) for name in names}


def _convert_position(position: SourcePosition | None) -> JSON:
    return None if position is None else _convert_fields(position, "file", "line", "column")


def _fix_data(fix: Fix) -> JSON:
    files: list[JSON] = [_convert_fields(patch, "file", "patch") for patch in fix.files]
    return {**_convert_fields(fix, "verdict", "ended", "findings"), "files": files}
