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
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from acpgen import config
from acpgen.compat.faults import NOT_APPENDABLE
from acpgen.compat.findings import Finding, Note, Report, SourcePosition, Waiver
from acpgen.compat.project_releases import is_date, is_out, is_release
from acpgen.errors import Fault, Faults, suggest_name
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.form import Form
from acpgen.input.load import decode, display_path, read_bytes
from acpgen.input.numbers import dumps

FILE: Final = "compat-waivers.toml"

_HEADING: Final = re.compile(r"\s*\[\[\s*waiver\s*\]\].*")
_FORM: Final = Form(Path(__file__).with_name("waivers.schema.json"), (("release", is_release),))


def find_waiver_file() -> Path:
    """The file of waivers beside the nearest pyproject.toml with `[tool.acpgen]`, or in the current folder; it need not exist.

    Raises `Faults` if that configuration cannot be read.
    """
    project = config.find_config(Path.cwd())
    return (Path.cwd() if project is None else project.root) / FILE


def read(path: Path) -> tuple[Waiver, ...]:
    """The waivers of a file. Raises `Faults`."""
    at = display_path(path)
    return parse_waivers(decode(read_bytes(path), at), at)


def parse_waivers(text: str, at: str) -> tuple[Waiver, ...]:
    """Parse the waivers in the text of the file `at`. Raises `Faults`."""
    table: Any = config.parse_toml(text, at)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _HEADING.fullmatch(line)]

    def find_line(index: int) -> int:
        return lines[index] if len(lines) == len(table["waiver"]) else 1

    faults: list[Fault] = []
    for error in _FORM.list_errors(table):
        where = f"{at}:{find_line(int(error.path[1]))}:1" if len(error.path) > 1 else at
        faults.append(config.report_setting(error, where))
    if faults:
        raise Faults(faults)
    entries: list[dict[str, Any]] = table.get("waiver", [])
    rows = ({**entry, "at": at, "line": find_line(index)} for index, entry in enumerate(entries))
    return tuple(_FORM.convert(entry, Waiver) for entry in rows)


def waive(report: Report, waivers: Iterable[Waiver], today: date, releases: Sequence[str] = ()) -> Report:
    """Mark accepted findings in a report, and add a note for each waiver that has expired or matches nothing.

    `releases` are the kept releases of the protocol.
    """
    findings = list(report.findings)
    notes = list(report.notes)
    ends = [(describe_end(waiver, today, releases), waiver) for waiver in waivers]
    for end, waiver in sorted(ends, key=lambda pair: bool(pair[0])):
        matches = [index for index, finding in enumerate(findings) if _matches(waiver, finding)]
        is_doubled = all(is_waived(findings[index], waiver.fingerprint) for index in matches)
        if end or is_doubled:  # without a match, too
            notes.append(_note(waiver, end, has_match=bool(matches), is_doubled=is_doubled))
            continue
        for index in matches:
            findings[index] = _with(waiver, findings[index])
    return replace(report, findings=tuple(findings), notes=tuple(notes))


def _note(waiver: Waiver, end: str, *, has_match: bool, is_doubled: bool) -> Note:
    """The note on a waiver that accepts nothing: it matches no finding, has ended, or another one accepts the same findings."""
    rule = "waiver-expired" if has_match and end else "waiver-unused"
    if not has_match:
        what, advice = "matches no finding", "Keep it until the accepted change is released, then remove it."
    elif not end:
        what, advice = "accepts the same findings as another waiver", "Remove one of them."
    elif is_doubled:
        what, advice = f"{end}, and another waiver accepts the same findings", "Remove it."
    else:
        what = f"{end}: the findings that it accepted count again"
        advice = "Fix the accepted finding, or decide again and give the waiver a new end."
    sentence = f"The waiver for {waiver.rule} ({waiver.fingerprint}) {what}."
    return Note(rule, sentence, advice, SourcePosition(waiver.at, "", waiver.line, 1))


def describe_end(waiver: Waiver, today: date, releases: Sequence[str]) -> str:
    """The description of how a waiver ended; empty while it is valid. `releases` are the kept releases of the protocol."""
    if waiver.expires is not None:
        return f"expired on {waiver.end}" if waiver.expires < today else ""
    if not releases:
        return f"holds until {waiver.end}, and no releases of what is compared are kept"
    return f"ended with {waiver.end}" if is_out(waiver.until, releases) else ""


def _with(waiver: Waiver, finding: Finding) -> Finding:
    """The finding with a waiver applied: to the whole finding if the fingerprint is its own, otherwise to the matching reaches.

    A finding is waived when all its reaches are.
    """
    if waiver.fingerprint == finding.fingerprint:
        return replace(finding, waived=waiver)
    reaches = tuple(
        replace(reach, waived=waiver) if reach.fingerprint == waiver.fingerprint else reach for reach in finding.reaches
    )
    whole = finding.waived or (waiver if all(reach.waived is not None for reach in reaches) else None)
    return replace(finding, reaches=reaches, waived=whole)


def is_waived(finding: Finding, fingerprint: str) -> bool:
    """Whether the finding, or the reaches of it, with a fingerprint are waived."""
    reaches = [reach.waived is not None for reach in finding.reaches if reach.fingerprint == fingerprint]
    return finding.waived is not None or (bool(reaches) and all(reaches))


def _matches(waiver: Waiver, finding: Finding) -> bool:
    return (
        waiver.rule == finding.rule
        and waiver.fingerprint in finding.fingerprints
        and _is_same_place(waiver.old, finding.old)
        and _is_same_place(waiver.new, finding.new)
    )


def _is_same_place(waived_place: str, position: SourcePosition | None) -> bool:
    """Whether a place is the one in a waiver; an empty one matches every place."""
    if not waived_place or position is None:
        return True
    file, _, fragment = waived_place.partition("#")
    waiver_file, finding_file = (f"/{name.rpartition(':')[2].lstrip('./')}" for name in (file, position.file))
    is_same_file = waiver_file.endswith(finding_file) or finding_file.endswith(waiver_file)
    return is_same_file and _without_indices(fragment) == _without_indices(position.pointer)


def _without_indices(pointer: str) -> str:
    return "/".join(part for part in pointer.split("/") if not part.isdecimal())


# --- decisions on the command line -----------------------------------------------------------------------------------


def make_waivers(fingerprints: Sequence[str], reason: str | None, until: str | None, today: date) -> tuple[Waiver, ...]:
    """The waivers that `--waive`, `--reason` and `--until` request, without rule and places. Raises `Faults`."""
    faults: list[Fault] = []
    if not fingerprints:
        dependent_options = (("--reason", reason), ("--until", until))
        condition = "given together with --waive FINGERPRINT"
        faults.extend(
            BAD_SETTING(at=name, key="it", expected=condition, hint=f"Add --waive FINGERPRINT, or leave {name} out.")
            for name, value in dependent_options
            if value is not None
        )
    elif reason is None or not reason.strip():
        expected = "a sentence that says why the finding is accepted"
        faults.append(BAD_SETTING(at="--waive", key="--reason", expected=expected, hint="Give it: --reason TEXT."))
    end = _end(until)
    if fingerprints and (end is None or (isinstance(end, date) and end < today)):
        expected = "today or a later date, such as 2027-01-31, or a future release, such as 1.7.0"
        hint = "Give it: --until DATE, or --until RELEASE."
        faults.append(BAD_SETTING(at="--waive", key="--until", expected=expected, hint=hint))
    if faults:
        raise Faults(faults)
    expires, release = (end, "") if isinstance(end, date) else (None, end or "")
    return tuple(
        Waiver("", fingerprint, (reason or "").strip(), expires=expires, until=release)
        for fingerprint in dict.fromkeys(fingerprints)
    )


def with_waivers(
    text: str, at: str, report: Report, decided: Sequence[Waiver], today: date, releases: Sequence[str] = ()
) -> str:
    """The text of the waiver file `at` with the new waivers appended; `text` is its current content, which stays unchanged.

    `report` is the comparison without waivers, `releases` are the kept releases of the protocol. Raises `Faults` if no finding has a
    fingerprint, if one is already accepted, if the release is not a future one, or if nothing can be appended to the file.
    """
    before = parse_waivers(text, at)
    standing = waive(report, before, today, releases)
    faults: list[Fault] = list(_report_bad_end(decided[0], releases))
    new_entries: list[str] = []
    for waiver in decided:
        fingerprint = waiver.fingerprint
        matches = [finding for finding in standing.findings if fingerprint in finding.fingerprints]
        if not matches:
            known_fingerprints = [name for finding in report.findings for name in finding.fingerprints]
            faults.append(
                UNKNOWN_NAME(
                    at="--waive", kind="finding", name=fingerprint, hint=suggest_name(fingerprint, known_fingerprints)
                )
            )
        elif all(is_waived(finding, fingerprint) for finding in matches):
            expected, hint = f"a finding that still counts; {at} accepts this one already", "Leave it out."
            faults.append(BAD_SETTING(at="--waive", key=fingerprint, expected=expected, hint=hint))
        else:
            new_entries.append(_write_entry(waiver, matches[0], Path(at).parent))
    if faults:
        raise Faults(faults)
    whole = "\n".join(filter(None, (text.rstrip("\n"), *new_entries))) + "\n" if new_entries else text
    _require_added(whole, at, before, len(new_entries))
    return whole


def _report_bad_end(waiver: Waiver, releases: Sequence[str]) -> Iterator[Fault]:
    if waiver.expires is not None:
        return
    if not releases:
        expected, hint = "a date: no releases of what is compared are kept in schema/releases", "Give it: --until DATE."
        yield BAD_SETTING(at="--waive", key="--until", expected=expected, hint=hint)
    elif is_out(waiver.until, releases):
        expected, hint = f"a release after {releases[-1]}, the newest kept release", "Give the next one, or a date."
        yield BAD_SETTING(at="--waive", key="--until", expected=expected, hint=hint)


def _require_added(text: str, at: str, before: Sequence[Waiver], count: int) -> None:
    """Check that a text contains the previous waivers and the new entries. Raises `Faults` if it cannot be parsed."""
    try:
        after = parse_waivers(text, at)
    except Faults:
        raise Faults([NOT_APPENDABLE(at=at)]) from None
    assert after[: len(before)] == tuple(before) and len(after) == len(before) + count


def _write_entry(waiver: Waiver, finding: Finding, folder: Path) -> str:
    """The text of a waiver for a file in this folder. Paths are relative to it, without a git revision."""
    entry: dict[str, str] = {"rule": finding.rule}
    for side, position in (("old", finding.old), ("new", finding.new)):
        if position is not None:
            path = position.file.rpartition(":")[2]
            relative = path if ":" in position.file else Path(os.path.relpath(path, folder)).as_posix()
            entry[side] = f"{relative}#{position.pointer}"
    entry |= {"fingerprint": waiver.fingerprint, "reason": waiver.reason}
    entry |= {"until": waiver.until} if waiver.until else {}
    lines = ["", "[[waiver]]", *(f"{key} = {_quote(value)}" for key, value in entry.items())]
    return "\n".join([*lines, *([f"expires = {waiver.end}"] if waiver.expires is not None else [])])


def _quote(value: str) -> str:
    """A string as a TOML basic string: control characters are escaped, lone surrogates become U+FFFD."""

    def escape(match: re.Match[str]) -> str:
        return "\ufffd" if "\ud800" <= match[0] <= "\udfff" else f"\\u{ord(match[0]):04X}"

    return re.sub("[\x7f-\x9f\ud800-\udfff]", escape, dumps(value, ensure_ascii=False))


def _end(text: str | None) -> date | str | None:
    """The day or the release in a text; `None` if it is neither."""
    if text is None or not is_date(text):
        return text if text is not None and is_release(text) else None
    with contextlib.suppress(ValueError):
        return date.fromisoformat(text)
    return None
