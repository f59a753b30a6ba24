"""Accepts findings from the command line: what `acpgen diff --waive` adds to the file of waivers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from acpgen.compat.findings import Finding, Report, Spot
from acpgen.compat.waivers import Waiver, is_waived, parsed, waive
from acpgen.errors import BadSetting, Fault, Faults, NotAppendable, UnknownName, did_you_mean


@dataclass(frozen=True, slots=True)
class Decision:
    """Findings that are accepted from now on, by fingerprint, with the reason, and the last day on which that holds."""

    fingerprints: tuple[str, ...]
    reason: str
    until: date


def decision(fingerprints: Sequence[str], reason: str | None, until: str | None, today: date) -> Decision | None:
    """What `--waive`, `--reason` and `--until` say together; `None` without any. Raises `Faults`."""
    faults: list[Fault] = []
    if not fingerprints:
        given = (("--reason", reason), ("--until", until))
        alone = "given together with --waive FINGERPRINT"
        faults.extend(BadSetting(at=name, key="it", expected=alone) for name, value in given if value is not None)
    elif reason is None or not reason.strip():
        faults.append(BadSetting(at="--waive", key="--reason", expected="a sentence that says why this is accepted"))
    day = _date(until)
    if fingerprints and (day is None or day < today):
        faults.append(BadSetting(at="--waive", key="--until", expected="a date from today on, such as 2027-01-31"))
    if faults:
        raise Faults(faults)
    return None if day is None else Decision(tuple(dict.fromkeys(fingerprints)), (reason or "").strip(), day)


def with_waivers(text: str, at: str, report: Report, decided: Decision, today: date) -> str:
    """The file of waivers `at`, whose text is `text`, with those that are decided at its end; all else stays as it is.

    `report` is the comparison without waivers. Raises `Faults`: no finding has a fingerprint, one is accepted already, or the file has
    a form to which nothing can be added.
    """
    before = parsed(text, at)
    standing = waive(report, before, today)
    faults: list[Fault] = []
    added: list[str] = []
    for fingerprint in decided.fingerprints:
        found = [each for each in standing.findings if fingerprint in _fingerprints(each)]
        if not found:
            known = [name for each in report.findings for name in _fingerprints(each)]
            faults.append(
                UnknownName(at="--waive", kind="finding", name=fingerprint, hint=did_you_mean(fingerprint, known))
            )
        elif all(is_waived(each, fingerprint) for each in found):
            expected = f"a finding that still counts; {at} accepts this one already"
            faults.append(BadSetting(at="--waive", key=fingerprint, expected=expected))
        else:
            added.append(_entry(found[0], fingerprint, decided))
    if faults:
        raise Faults(faults)
    whole = "\n".join(filter(None, (text.rstrip("\n"), *added))) + "\n" if added else text
    _require_added(whole, at, before, len(added))
    return whole


def _fingerprints(finding: Finding) -> list[str]:
    """That of a finding, and those of the messages that hold what changed."""
    return [finding.fingerprint, *(each.fingerprint for each in finding.reaches)]


def _require_added(text: str, at: str, before: Sequence[Waiver], count: int) -> None:
    """Refuse a text that does not hold what it held before and the new entries."""
    try:
        after = parsed(text, at)
    except Faults:
        raise Faults([NotAppendable(at=at)]) from None
    assert [replace(each, line=1) for each in after[: len(before)]] == [replace(each, line=1) for each in before]
    assert len(after) == len(before) + count


def _entry(finding: Finding, fingerprint: str, decided: Decision) -> str:
    lines = ["", "[[waiver]]", f"rule = {_string(finding.rule)}"]
    lines += [f"{side} = {_string(_place(spot))}" for side, spot in _sides(finding)]
    lines.append(f"fingerprint = {_string(fingerprint)}")
    lines += [f"reason = {_string(decided.reason)}", f"expires = {decided.until.isoformat()}"]
    return "\n".join(lines)


def _sides(finding: Finding) -> Iterator[tuple[str, Spot]]:
    for side, spot in (("old", finding.old), ("new", finding.new)):
        if spot is not None:
            yield side, spot


def _place(spot: Spot) -> str:
    """A place without the revision that it was read at."""
    revision, colon, path = spot.file.partition(":")
    return f"{path if colon else revision}#{spot.pointer}"


def _string(value: str) -> str:
    """A text as a TOML basic string."""
    written = json.dumps(value, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\ud800-\udfff]", lambda found: _escaped(found[0]), written)


def _escaped(character: str) -> str:
    """A control as an escape; half a surrogate pair, which no file holds, as the sign for what cannot be read."""
    return "\ufffd" if "\ud800" <= character <= "\udfff" else f"\\u{ord(character):04X}"


def _date(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text and re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None
    except ValueError:
        return None
