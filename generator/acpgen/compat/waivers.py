"""Findings that a project accepts, each with a reason and an end: `compat-waivers.toml`.

    [[waiver]]
    rule = "closed-variant-added"
    old = "schema/acp/v1/updates.json#/$defs/SessionUpdate"
    new = "schema/acp/v1/updates.json#/$defs/SessionUpdate/oneOf/11"
    fingerprint = "0123456789abcdef"
    reason = "Every released client ignores unknown updates."
    expires = 2027-01-31                     # the last day, or
    until = "1.7.0"                          # the release with which it ends, in place of 'expires'

A waiver is matched by rule and fingerprint, and by the places without list indices; a git revision before a file does not count. The
fingerprint of a finding covers all messages that hold what changed, that of one of its `reaches` this kind of message alone.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final, cast

from acpgen import config
from acpgen.compat.findings import Finding, Note, Report, Spot, Waived
from acpgen.compat.numbering import is_out, is_release
from acpgen.errors import BadSetting, Fault, Faults, NotToml, UnknownKey, did_you_mean
from acpgen.schema.load import decode, place, read_bytes

FILE: Final = "compat-waivers.toml"

_KEYS: Final = ("rule", "old", "new", "fingerprint", "reason", "expires", "until")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One accepted finding, until the day `expires` is over or the release `until` is kept. `at` is its place in the file of waivers."""

    rule: str
    fingerprint: str
    reason: str
    expires: date | None = None
    until: str = ""
    old: str = ""
    new: str = ""
    at: str = ""
    line: int = 1

    @property
    def waived(self) -> Waived:
        """What is said of the findings that it accepts."""
        return Waived(self.reason, "" if self.expires is None else self.expires.isoformat(), self.until)

    def end(self, today: date, releases: Sequence[str]) -> str:
        """How it came to its end; empty while it holds. `releases` are those of the protocol that are kept."""
        if self.expires is not None:
            return f"expired on {self.expires.isoformat()}" if self.expires < today else ""
        if not releases:
            return f"holds until release {self.until}, and no releases of what is compared are kept"
        return f"ended with release {self.until}" if is_out(self.until, releases) else ""


def standard_file() -> Path:
    """The file of waivers beside the nearest pyproject.toml with `[tool.acpgen]`, or in the current folder. Nothing need be there.

    Raises `Faults` where that configuration cannot be read.
    """
    project = config.around(Path.cwd())
    return (Path.cwd() if project is None else project.root) / FILE


def read(path: Path) -> tuple[Waiver, ...]:
    """The waivers in a file. Raises `Faults`."""
    at = place(path)
    return parsed(decode(read_bytes(path), at), at)


def parsed(text: str, at: str) -> tuple[Waiver, ...]:
    """The waivers in the text of the file `at`. Raises `Faults`."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Faults([NotToml(at=at, reason=str(error))]) from None
    faults: list[Fault] = [
        UnknownKey(at=at, key=key, hint=did_you_mean(key, ("waiver",))) for key in table if key != "waiver"
    ]
    entries: Any = table.get("waiver", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in cast("list[object]", entries)):
        raise Faults([*faults, BadSetting(at=at, key="waiver", expected="a list of tables: [[waiver]]")])
    tables = cast("list[dict[str, object]]", entries)
    lines = [
        index for index, line in enumerate(text.splitlines(), 1) if re.fullmatch(r"\s*\[\[\s*waiver\s*\]\].*", line)
    ]
    waivers: list[Waiver] = []
    for index, entry in enumerate(tables):
        line = lines[index] if len(lines) == len(tables) else 1
        waivers.extend(_waiver(entry, at, index, line, faults))
    if faults:
        raise Faults(faults)
    return tuple(waivers)


def _waiver(entry: dict[str, object], at: str, index: int, line: int, faults: list[Fault]) -> Iterable[Waiver]:
    key = f"waiver.{index}"
    known = len(faults)
    faults.extend(
        UnknownKey(at=f"{at}:{line}:1", key=f"{key}.{name}", hint=did_you_mean(name, _KEYS))
        for name in entry
        if name not in _KEYS
    )
    faults.extend(
        BadSetting(at=f"{at}:{line}:1", key=f"{key}.{name}", expected="a string that is not empty")
        for name in ("rule", "fingerprint", "reason")
        if not isinstance(entry.get(name), str) or not str(entry[name]).strip()
    )
    faults.extend(
        BadSetting(at=f"{at}:{line}:1", key=f"{key}.{name}", expected="a file and a pointer")
        for name in ("old", "new")
        if not isinstance(entry.get(name, ""), str)
    )
    expires, until = entry.get("expires"), entry.get("until", "")
    if isinstance(expires, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", expires):
        with contextlib.suppress(ValueError):
            expires = date.fromisoformat(expires)
    if "until" in entry and not (isinstance(until, str) and is_release(until)):
        expected = "the release with which it ends, such as '1.7.0'; a day goes into 'expires'"
        faults.append(BadSetting(at=f"{at}:{line}:1", key=f"{key}.until", expected=expected))
    if "until" in entry and "expires" in entry:
        expected = "left out where 'expires' is given"
        faults.append(BadSetting(at=f"{at}:{line}:1", key=f"{key}.until", expected=expected))
    if "until" not in entry and not isinstance(expires, date):
        faults.append(BadSetting(at=f"{at}:{line}:1", key=f"{key}.expires", expected="a date, such as 2027-01-31"))
    if len(faults) == known:
        yield Waiver(
            rule=str(entry["rule"]),
            fingerprint=str(entry["fingerprint"]),
            reason=str(entry["reason"]),
            expires=date(expires.year, expires.month, expires.day) if isinstance(expires, date) else None,
            until=str(until),
            old=str(entry.get("old", "")),
            new=str(entry.get("new", "")),
            at=at,
            line=line,
        )


def waive(report: Report, waivers: Iterable[Waiver], today: date, releases: Sequence[str] = ()) -> Report:
    """The report with accepted findings marked, and a note for each waiver that has expired or matches nothing. `releases` are those of
    the protocol that are kept.
    """
    findings = list(report.findings)
    notes = list(report.notes)
    for waiver in sorted(waivers, key=lambda each: bool(each.end(today, releases))):
        waived, end = waiver.waived, waiver.end(today, releases)
        matched = {
            index: _with(waived, finding, waiver.fingerprint)
            for index, finding in enumerate(findings)
            if _matches(waiver, finding)
        }
        is_doubled = all(is_waived(findings[each], waiver.fingerprint) for each in matched)
        if not matched:
            notes.append(waiver_unused(waiver))
        elif end:
            notes.append(waiver_expired(waiver, end, renewed=is_doubled))
        elif is_doubled:
            notes.append(
                _note(waiver, "waiver-unused", "accepts the same findings as another waiver", "Remove one of them.")
            )
        else:
            for index, finding in matched.items():
                findings[index] = finding
    return replace(report, findings=tuple(findings), notes=tuple(notes))


def _with(waived: Waived, finding: Finding, fingerprint: str) -> Finding:
    """The finding waived: as a whole by its own fingerprint, else as far as its messages are, and as a whole once all of them are."""
    if fingerprint == finding.fingerprint:
        return replace(finding, waived=waived)
    reaches = tuple(
        replace(each, waived=waived) if each.fingerprint == fingerprint else each for each in finding.reaches
    )
    whole = finding.waived or (waived if all(each.waived is not None for each in reaches) else None)
    return replace(finding, reaches=reaches, waived=whole)


def is_waived(finding: Finding, fingerprint: str) -> bool:
    """Whether what a fingerprint stands for, a finding or one of its messages, is waived."""
    reaches = [each.waived is not None for each in finding.reaches if each.fingerprint == fingerprint]
    return finding.waived is not None or (bool(reaches) and all(reaches))


def waiver_expired(waiver: Waiver, end: str, *, renewed: bool = False) -> Note:
    """The note of a waiver past its end."""
    if renewed:
        return _note(waiver, "waiver-expired", f"{end}, and another waiver accepts the same findings", "Remove it.")
    advice = "Fix the accepted finding, or decide again and give the waiver a new end."
    return _note(waiver, "waiver-expired", f"{end}: the findings that it accepted count again", advice)


def waiver_unused(waiver: Waiver) -> Note:
    """The note of a waiver that matches no finding."""
    advice = "Keep it until the accepted change is released, then remove it."
    return _note(waiver, "waiver-unused", "matches no finding", advice)


def _note(waiver: Waiver, rule: str, what: str, advice: str) -> Note:
    told = f"The waiver for {waiver.rule} ({waiver.fingerprint}) {what}."
    return Note(rule, told, advice, Spot(waiver.at, "", waiver.line, 1))


def _matches(waiver: Waiver, finding: Finding) -> bool:
    return (
        waiver.rule == finding.rule
        and waiver.fingerprint in (finding.fingerprint, *(reach.fingerprint for reach in finding.reaches))
        and _same_place(waiver.old, finding.old)
        and _same_place(waiver.new, finding.new)
    )


def _same_place(wanted: str, spot: Spot | None) -> bool:
    """Whether a place is the one that a waiver names; nothing named fits every place."""
    if not wanted or spot is None:
        return True
    file, _, fragment = wanted.partition("#")
    ours, theirs = (name.rpartition(":")[2].lstrip("./") for name in (file, spot.file))
    alike = ours == theirs or ours.endswith(f"/{theirs}") or theirs.endswith(f"/{ours}")
    return alike and _without_indices(fragment) == _without_indices(spot.pointer)


def _without_indices(pointer: str) -> str:
    return "/".join(part for part in pointer.split("/") if not part.isdecimal())
