"""Accepts findings from the command line: what `acpgen diff --waive` adds to the file of waivers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from acpgen.compat.findings import Finding, Report, Spot
from acpgen.compat.release_names import is_date, is_out, is_release
from acpgen.compat.waivers import Waiver, is_waived, parsed, waive
from acpgen.errors import BadSetting, Fault, Faults, NotAppendable, UnknownName, did_you_mean
from acpgen.schema.numbers import dumps


@dataclass(frozen=True, slots=True)
class Decision:
    """Findings that are accepted from now on, by fingerprint, with the reason, and the last day on which that holds, or the release with
    which it ends.
    """

    fingerprints: tuple[str, ...]
    reason: str
    until: date | str


def decision(fingerprints: Sequence[str], reason: str | None, until: str | None, today: date) -> Decision | None:
    """What `--waive`, `--reason` and `--until` say together; `None` without any. Raises `Faults`."""
    faults: list[Fault] = []
    if not fingerprints:
        given = (("--reason", reason), ("--until", until))
        alone = "given together with --waive FINGERPRINT"
        faults.extend(BadSetting(at=name, key="it", expected=alone) for name, value in given if value is not None)
    elif reason is None or not reason.strip():
        faults.append(
            BadSetting(at="--waive", key="--reason", expected="a sentence that says why the finding is accepted")
        )
    end = _end(until)
    if fingerprints and (end is None or (isinstance(end, date) and end < today)):
        expected = "today or a later date, such as 2027-01-31, or a future release, such as 1.7.0"
        faults.append(BadSetting(at="--waive", key="--until", expected=expected))
    if faults:
        raise Faults(faults)
    return None if end is None else Decision(tuple(dict.fromkeys(fingerprints)), (reason or "").strip(), end)


def with_waivers(
    text: str, at: str, report: Report, decided: Decision, today: date, releases: Sequence[str] = ()
) -> str:
    """The file of waivers `at`, whose text is `text`, with those that are decided at its end; all else stays as it is.

    `report` is the comparison without waivers, `releases` are those of the protocol that are kept. Raises `Faults`: no finding has a
    fingerprint, one is accepted already, the release is no release to come, or the file has a form to which nothing can be added.
    """
    before = parsed(text, at)
    standing = waive(report, before, today, releases)
    faults: list[Fault] = list(_no_end(decided, releases))
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


def _no_end(decided: Decision, releases: Sequence[str]) -> Iterator[Fault]:
    """What is wrong with a release as an end."""
    if isinstance(decided.until, date):
        return
    if not releases:
        expected = "a date: no releases of what is compared are kept in schema/releases"
        yield BadSetting(at="--waive", key="--until", expected=expected)
    elif is_out(decided.until, releases):
        yield BadSetting(
            at="--waive", key="--until", expected=f"a release after {releases[-1]}, the newest kept release"
        )


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
    end = decided.until
    lines.append(f"reason = {_string(decided.reason)}")
    lines.append(f"expires = {end.isoformat()}" if isinstance(end, date) else f"until = {_string(end)}")
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
    written = dumps(value, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\ud800-\udfff]", lambda found: _escaped(found[0]), written)


def _escaped(character: str) -> str:
    """A control as an escape; half a surrogate pair, which no file holds, as the sign for what cannot be read."""
    return "\ufffd" if "\ud800" <= character <= "\udfff" else f"\\u{ord(character):04X}"


def _end(text: str | None) -> date | str | None:
    """The day or the release that a text names."""
    if text is None or not is_date(text):
        return text if text is not None and is_release(text) else None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
