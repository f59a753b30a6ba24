"""Accepted findings: matched by rule, place and fingerprint, with a reason and a date."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from acpgen.compat.faults import NOT_APPENDABLE
from acpgen.compat.findings import Finding, Report, Waiver, fails
from acpgen.compat.waivers import find_waiver_file, make_waivers, parse_waivers, read, waive, with_waivers
from acpgen.config.faults import NOT_TOML, UNKNOWN_KEY
from acpgen.errors import FaultKind, Faults
from acpgen.input.faults import BAD_SETTING
from compat.protocols import FORMATS, ROOT, Schema, compared, found, go, protocol, validates, written

TODAY = date(2026, 7, 1)
OLD = protocol({})
SCHEMA = json.loads((ROOT / "generator/acpgen/compat/check_report.schema.json").read_text())


def required(*names: str) -> Schema:
    fields = {name: {"type": "string"} for name in ("id", *names)}
    return protocol({"GoRequest": go(fields, ("id", *names))})


def breaking() -> Report:
    return compared(OLD, required("cwd"))


def waiver(finding: Finding, **changes: Any) -> Waiver:
    plain = Waiver(finding.rule, finding.fingerprint, "because", date(2026, 12, 31), at="w.toml")
    return replace(plain, **changes)


def the_finding(report: Report) -> Finding:
    (finding,) = found(report, "required-field-added")
    return finding


def test_a_waived_finding_stays_in_the_report_and_stops_nothing() -> None:
    report = breaking()
    accepted = waive(report, [waiver(the_finding(report))], TODAY)
    assert the_finding(accepted).waived is not None
    assert accepted.verdict == "breaking"
    assert fails(report, "risky")
    assert not fails(accepted, "risky")


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "field-added"},
        {"fingerprint": "0" * 16},
        {"new": "schema.json#/$defs/Other"},
        {"old": "other.json#/$defs/GoRequest"},
    ],
)
def test_a_waiver_that_names_something_else_accepts_nothing_and_is_a_note(changes: dict[str, str]) -> None:
    report = breaking()
    accepted = waive(report, [waiver(the_finding(report), **changes)], TODAY)
    assert the_finding(accepted).waived is None
    assert [each.rule for each in accepted.notes] == ["waiver-unused"]
    assert fails(accepted, "risky")


def test_an_unused_waiver_is_told_and_counts_for_nothing() -> None:
    merged = compared(required("cwd"), required("cwd"))
    accepted = waive(merged, [waiver(the_finding(breaking()))], TODAY)
    assert (accepted.verdict, accepted.findings) == ("identical", ())
    assert not any(fails(accepted, level) for level in ("additive", "risky", "breaking", "never"))
    (note,) = accepted.notes
    assert (note.rule, str(note.at)) == ("waiver-unused", "w.toml#")
    for name in FORMATS:
        assert "waiver-unused" in written(accepted, name), name
        assert "waiver-unused" not in written(merged, name), name
    assert validates(SCHEMA, json.loads(written(accepted, "json")))
    assert "IDENTICAL  1 note" in written(accepted, "text")


def test_a_second_waiver_of_the_same_finding_is_told() -> None:
    report = breaking()
    finding = the_finding(report)
    accepted = waive(report, [waiver(finding, reason="one"), waiver(finding, reason="two", line=9)], TODAY)
    held = the_finding(accepted).waived
    assert held is not None and held.reason == "one"
    (note,) = accepted.notes
    assert (note.rule, note.at.line) == ("waiver-unused", 9)
    assert "accepts the same findings as another waiver" in note.message


def test_a_waiver_is_matched_by_place_whatever_the_revision_or_the_index_in_a_list() -> None:
    finding = the_finding(breaking())
    assert finding.new is not None
    for place in (
        "schema.json#/$defs/GoRequest/properties/cwd",
        "main:schema.json#/$defs/GoRequest/properties/cwd",
        "some/folder/schema.json#/$defs/GoRequest/properties/cwd",
    ):
        accepted = waive(breaking(), [waiver(finding, new=place)], TODAY)
        assert the_finding(accepted).waived is not None, place


def test_a_waiver_accepts_until_its_date_and_what_it_accepted_counts_afterwards() -> None:
    report = breaking()
    last = waive(report, [waiver(the_finding(report), expires=TODAY)], TODAY)
    assert the_finding(last).waived is not None
    late = waive(report, [waiver(the_finding(report), expires=date(2026, 6, 30))], TODAY)
    assert the_finding(late).waived is None
    assert [each.rule for each in late.findings] == ["required-field-added"]
    assert [each.rule for each in late.notes] == ["waiver-expired"]
    assert fails(late, "risky")
    expired = waiver(the_finding(report), expires=date(2026, 6, 30))
    both = waive(report, [expired, waiver(the_finding(report))], TODAY)
    assert not fails(both, "risky")
    assert ["another waiver accepts the same" in each.message for each in both.notes] == [True]


def test_fingerprints_do_not_change_with_edits_elsewhere() -> None:
    before = the_finding(breaking()).fingerprint
    others: list[Schema] = [
        {**required("cwd"), "title": "Another"},
        protocol({**required("cwd")["$defs"], "More": {"type": "string"}}),
        {**required("cwd"), "$defs": dict(reversed(required("cwd")["$defs"].items()))},
        json.loads(json.dumps(required("cwd")).replace('"text"', '"words"')),
    ]
    for new in others:
        assert before in {each.fingerprint for each in compared(OLD, new).findings}
    assert len({each.fingerprint for each in compared(OLD, required("cwd", "other")).findings}) == 2


def worst_of(report: Report) -> Finding:
    return report.findings[0]


def limited(least: int) -> Schema:
    field = {"type": "integer", "minimum": least}
    return protocol({"GoRequest": go({"text": {"type": "string"}, "count": field})})


def test_a_waiver_does_not_cover_a_later_and_worse_change_of_the_same_kind() -> None:
    accepted = worst_of(compared(limited(0), limited(1)))
    worse = compared(limited(0), limited(1_000_000))
    assert worst_of(worse).rule == accepted.rule == "limit-tightened"
    assert fails(waive(worse, [waiver(accepted)], TODAY), "risky")
    assert not fails(waive(compared(limited(0), limited(1)), [waiver(accepted)], TODAY), "risky")


@pytest.mark.parametrize("severity", ["breaking", "undecided"])
def test_a_waiver_of_what_no_rule_takes_apart_covers_no_other_text(severity: str) -> None:
    def document(pattern: str) -> Schema:
        inside = {"not": {"type": "string", "pattern": pattern}}
        return {"$defs": {"Alone": inside if severity == "breaking" else {}}, "dependencies": {"a": inside}}

    def prints(new: str) -> set[str]:
        found = compared(document("a"), document(new)).findings
        return {each.fingerprint for each in found if each.severity == severity}

    assert prints("b")
    assert prints("b") == prints("b")
    assert not prints("b") & prints("c")


def test_a_waiver_does_not_cover_what_changes_behind_a_reference() -> None:
    def schema(longest: int) -> Schema:
        field = {"type": "object", "propertyNames": {"$ref": "#/$defs/Bad"}}
        return protocol({"GoRequest": go({"p": field}), "Bad": {"type": "string", "maxLength": longest}})

    accepted, worse = (worst_of(compared(schema(100), schema(longest))) for longest in (99, 0))
    assert (accepted.rule, accepted.location) == (worse.rule, worse.location)
    assert accepted.fingerprint != worse.fingerprint


def test_a_waiver_of_one_list_covers_no_other() -> None:
    lists: list[Schema] = [{"type": "array", "items": {"type": name}} for name in ("string", "integer")]

    def schema(*left: Schema) -> Schema:
        return protocol({"GoRequest": go({"p": {"anyOf": [*left, {"type": "string"}]}})})

    gone = [worst_of(compared(schema(*lists), schema(left))) for left in lists]
    assert [each.rule for each in gone] == ["alternative-removed"] * 2
    assert gone[0].fingerprint != gone[1].fingerprint


def test_a_waiver_in_language_mode_is_for_the_two_schemas_that_it_was_written_for() -> None:
    old = {"type": "string", "maxLength": 9}
    accepted, worse = (
        compared(old, new, mode="language") for new in ({**old, "maxLength": 8}, {**old, "maxLength": 0})
    )
    marked = waive(worse, [waiver(worst_of(accepted))], TODAY)
    assert fails(marked, "risky")
    assert [each.rule for each in marked.notes] == ["waiver-unused"]
    assert not fails(waive(accepted, [waiver(worst_of(accepted))], TODAY), "risky")


def test_a_waiver_does_not_cover_the_loss_of_the_gate_of_what_it_accepted() -> None:
    def schema(gate: str | None) -> Schema:
        note = {"type": "string", **({"x-capability": gate} if gate else {})}
        caps = {
            "type": "object",
            "properties": {"caps": {"type": "object", "properties": {"note": {"type": "object"}}}},
        }
        told = {
            "InitializeRequest": {"type": "object", "x-method": "initialize", "x-side": "agent"},
            "InitializeResponse": {
                **(caps if gate else {"type": "object"}),
                "x-method": "initialize",
                "x-side": "agent",
            },
        }
        fields = {"id": {"type": "string"}, "note": note}
        return protocol({"GoRequest": go(fields, additionalProperties=False), **told})

    before = protocol(
        {**schema(None)["$defs"], "GoRequest": go({"id": {"type": "string"}}, additionalProperties=False)}
    )
    (gated,), (ungated,) = (
        found(compared(before, schema(gate)), "closed-field-added") for gate in ("agent:caps.note", None)
    )
    assert (gated.severity, ungated.severity) == ("additive", "risky")
    assert gated.fingerprint != ungated.fingerprint
    assert fails(waive(compared(before, schema(None)), [waiver(gated)], TODAY), "risky")


@pytest.mark.parametrize("edit", ["words", "elsewhere", "a field of the name of a keyword"])
def test_edits_elsewhere_do_not_change_what_is_known_by_its_text_alone(edit: str) -> None:
    def schema(longest: int, *, edited: bool = False) -> Schema:
        bad: Schema = {"type": "string", "maxLength": longest}
        if edited and edit == "words":
            bad = {**bad, "description": "Bad.", "title": "No", "$comment": "x", "examples": ["a"]}
        kept = {"title": {"type": "string"}} if edit.startswith("a field") and edited else {}
        field = {"type": "object", "propertyNames": {"$ref": "#/$defs/Bad"}}
        more = {"More": {"type": "string"}} if edited and edit == "elsewhere" else {}
        return protocol({"GoRequest": go({"p": field}), "TellNotification": go(kept), "Bad": bad, **more})

    first, edited, worse = (
        worst_of(compared(schema(100, edited=is_edited), schema(longest, edited=is_edited))).fingerprint
        for longest, is_edited in ((99, False), (99, True), (98, False))
    )
    assert first == edited != worse


def test_edits_elsewhere_do_not_change_what_is_known_by_two_schemas() -> None:
    def schema(longest: int, **more: Any) -> Schema:
        return {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"title": {"maxLength": longest}}}, **more}}

    def known(old: Schema, new: Schema) -> str:
        return worst_of(compared(old, new, mode="language")).fingerprint

    first = known(schema(9), schema(8))
    assert first == known(schema(9), schema(8, B={"type": "string"}))
    assert first == known({**schema(9), "title": "T"}, {**schema(8), "description": "D"})
    assert first != known(schema(9), schema(7))
    assert first != known(schema(9), schema(8, A={"properties": {"title": {"maxLength": 8}, "x": False}}))
    assert first == known({**schema(9), "$anchor": "a"}, schema(8))


def test_fingerprints_of_different_findings_differ() -> None:
    report = compared(required("a", "b"), protocol({"GoRequest": go({"id": {"type": "integer"}})}))
    prints = [each.fingerprint for each in report.findings]
    assert len(prints) == len(set(prints)) > 3


def test_a_file_of_waivers_is_read_with_dates_in_either_notation(tmp_path: Path) -> None:
    path = tmp_path / "compat-waivers.toml"
    entry = '[[waiver]]\nrule = "r"\nfingerprint = "f"\nreason = "x"\nexpires = {}\n'
    path.write_text("# ours\n" + entry.format("2027-01-31") + entry.format('"2027-01-31"'))
    first, second = read(path)
    assert first.expires == second.expires == date(2027, 1, 31)
    assert (first.line, second.line) == (2, 7)


@pytest.mark.parametrize(
    ("text", "kind", "named"),
    [
        ("[[waiver", NOT_TOML, ""),
        ("[waiver]\nrule = 1", BAD_SETTING, "waiver"),
        ("[[waivers]]", UNKNOWN_KEY, "waivers"),
        ('[[waiver]]\nfingerprint = "f"\nreason = "x"\nexpires = 2027-01-31', BAD_SETTING, "waiver.0.rule"),
        (
            '[[waiver]]\nrule = "r"\nfingerprint = "f"\nreason = " "\nexpires = 2027-01-31',
            BAD_SETTING,
            "waiver.0.reason",
        ),
        ('[[waiver]]\nrule = "r"\nfingerprint = "f"\nreason = "x"\nexpires = "soon"', BAD_SETTING, "waiver.0.expires"),
        (
            '[[waiver]]\nrule = "r"\nfingerprint = "f"\nreason = "x"\nexpires = 2027-01-31\nmessage = "m"',
            UNKNOWN_KEY,
            "waiver.0.message",
        ),
    ],
)
def test_a_malformed_file_of_waivers_is_a_fault_with_file_and_key(
    tmp_path: Path, text: str, kind: FaultKind, named: str
) -> None:
    path = tmp_path / "compat-waivers.toml"
    path.write_text(text)
    with pytest.raises(Faults) as caught:
        read(path)
    (fault,) = caught.value.faults
    assert fault.kind == kind
    assert "compat-waivers.toml" in str(fault)
    assert named in str(fault)


def test_the_standard_file_lies_beside_pyproject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.acpgen.outputs.out]\ntarget = "bundle"\nprotocols = ["a"]\n')
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert find_waiver_file() == tmp_path / "compat-waivers.toml"
    (tmp_path / "pyproject.toml").write_text("[tool.acpgen]\nscheme = 1\n")
    with pytest.raises(Faults):
        find_waiver_file()


def taken(fingerprints: Sequence[str], reason: str = "Because.", until: str = "2026-12-31") -> Sequence[Waiver]:
    return make_waivers(fingerprints, reason, until, TODAY)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# ours\n",
        "# no newline at the end",
        '# é\r\n[[waiver]]\r\nrule = "r"\r\nfingerprint = "f"\r\nreason = "x"\r\nexpires = 2027-01-31\r\n',
    ],
)
def test_a_decision_is_added_to_what_is_there_and_covers_its_finding(before: str) -> None:
    report = breaking()
    finding = the_finding(report)
    reason = 'It "is" \\ so:\n\x7f\x00\u0085 ü \U0001f600'
    text = with_waivers(before, "w.toml", report, taken([finding.fingerprint], reason), TODAY)
    assert text.startswith(before)
    added = parse_waivers(text, "w.toml")[-1]
    assert (added.rule, added.reason, added.expires) == (finding.rule, reason, date(2026, 12, 31))
    accepted = waive(report, [added], TODAY)
    assert the_finding(accepted).waived is not None
    with pytest.raises(Faults, match=r"a finding that still counts; w\.toml accepts this one already"):
        with_waivers(text, "w.toml", report, taken([finding.fingerprint]), TODAY)
    later = date(2027, 1, 1)
    renewed = with_waivers(text, "w.toml", report, taken([finding.fingerprint], until="2027-01-01"), later)
    assert the_finding(waive(report, parse_waivers(renewed, "w.toml"), later)).waived is not None


def test_a_decision_about_what_was_not_found_is_refused() -> None:
    finding = the_finding(breaking())
    near = f"{finding.fingerprint[:-1]}x"
    with pytest.raises(Faults) as caught:
        with_waivers("", "w.toml", breaking(), taken([finding.fingerprint, near]), TODAY)
    (fault,) = caught.value.faults
    assert f"there is no finding {near!r}. Did you mean {finding.fingerprint!r}?" in str(fault)


def test_a_decision_is_not_added_where_the_file_has_no_room_for_it() -> None:
    entry = '{ rule = "r", fingerprint = "f", reason = "x", expires = 2027-01-31 }'
    report = breaking()
    with pytest.raises(Faults) as caught:
        with_waivers(f"waiver = [{entry}]\n", "w.toml", report, taken([the_finding(report).fingerprint]), TODAY)
    assert [fault.kind for fault in caught.value.faults] == [NOT_APPENDABLE]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((["f"], None, "2026-12-31"), ["--reason"]),
        ((["f"], " ", None), ["--reason", "--until"]),
        ((["f"], "x", "2026-06-30"), ["--until"]),
        ((["f"], "x", "2026-02-30"), ["--until"]),
        ((["f"], "x", "tomorrow"), ["--until"]),
        ((["f"], "x", "1.7.0 or so"), ["--until"]),
        ((list[str](), "x", "2026-12-31"), ["--reason", "--until"]),
    ],
)
def test_a_decision_needs_a_finding_a_reason_and_a_day(
    given: tuple[list[str], str | None, str | None], named: list[str]
) -> None:
    with pytest.raises(Faults) as caught:
        make_waivers(*given, TODAY)
    texts = [str(fault) for fault in caught.value.faults]
    assert len(texts) == len(named)
    assert all(name in text for name, text in zip(named, texts, strict=True))


KEPT = ("1.5.0", "1.6.0")


@pytest.mark.parametrize(
    ("until", "kept", "is_over"),
    [
        ("1.7.0", KEPT, False),
        ("1.7.0", ("1.6.0", "1.7.0-rc.1"), False),
        ("1.7.0", ("1.6.0", "1.7.0"), True),
        ("1.7.0", ("1.6.0", "1.8.0"), True),
        ("1.7", ("v1.7.0",), True),
        ("1.10.0", ("1.9.0",), False),
        ("1.7.0-rc.1", ("1.7.0",), True),
        ("1.7.0", (), True),
    ],
)
def test_a_waiver_ends_with_its_release_or_a_later_one(until: str, kept: tuple[str, ...], is_over: bool) -> None:
    report = breaking()
    found = waive(report, [waiver(the_finding(report), expires=None, until=until)], TODAY, kept)
    assert (the_finding(found).waived is None) is is_over
    assert fails(found, "risky") is is_over
    assert [each.rule for each in found.notes] == (["waiver-expired"] if is_over else [])
    said = "no releases of what is compared are kept" if not kept else f"ended with release {until}"
    assert all(said in each.message for each in found.notes)


def test_the_release_that_ends_a_waiver_stands_in_every_report() -> None:
    report = breaking()
    found = waive(report, [waiver(the_finding(report), expires=None, until="1.7.0")], TODAY, KEPT)
    for name in ("text", "markdown", "html", "gitlab", "junit"):
        assert "aived until release 1.7.0" in " ".join(written(found, name).split()), name
    data = json.loads(written(found, "json"))
    assert data["findings"][0]["waived"] == {"reason": "because", "until": "1.7.0"}
    assert validates(SCHEMA, data)


def test_a_decision_may_hold_until_a_release_to_come() -> None:
    report = breaking()
    finding = the_finding(report)
    text = with_waivers("", "w.toml", report, taken([finding.fingerprint], until="1.7.0"), TODAY, KEPT)
    (added,) = parse_waivers(text, "w.toml")
    assert (added.expires, added.until) == (None, "1.7.0")
    assert the_finding(waive(report, [added], TODAY, KEPT)).waived is not None
    for until, kept, said in (
        ("1.6.0", KEPT, "a release after 1.6.0, the newest kept release"),
        ("1.7.0", (), "no releases of what is compared are kept"),
    ):
        with pytest.raises(Faults, match=said):
            with_waivers("", "w.toml", report, taken([finding.fingerprint], until=until), TODAY, kept)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ('until = "1.7.0"\nexpires = 2027-01-31', "until must be left out where 'expires' is given"),
        ('until = "2027-01-31"', "a day goes into 'expires'"),
        ("until = 2027-01-31", "a day goes into 'expires'"),
        ('until = ""', "until must be the release with which it ends"),
        ("", "expires must be a date"),
    ],
)
def test_a_waiver_has_one_end(end: str, said: str) -> None:
    with pytest.raises(Faults) as caught:
        parse_waivers(f'[[waiver]]\nrule = "r"\nfingerprint = "f"\nreason = "x"\n{end}\n', "w.toml")
    (fault,) = caught.value.faults
    assert said in str(fault)


def test_no_decision_is_none() -> None:
    assert make_waivers([], None, None, TODAY) == ()


def test_one_message_of_a_finding_is_accepted_by_its_own_fingerprint() -> None:
    def schema(*required: str) -> Schema:
        part = {"type": "object", "properties": {"a": {"type": "string"}}, "required": list(required)}
        holds = go({"part": {"$ref": "#/$defs/Part"}})
        return protocol({"GoRequest": holds, "GoResponse": holds, "Part": part})

    report = compared(schema(), schema("a"))
    (finding,) = (each for each in report.findings if len(each.reaches) > 1)
    texts = [""]
    for reach in finding.reaches:
        assert fails(waive(report, parse_waivers(texts[-1], "w"), TODAY), "risky")
        texts.append(with_waivers(texts[-1], "w", report, taken([reach.fingerprint]), TODAY))
        with pytest.raises(Faults):
            with_waivers(texts[-1], "w", report, taken([reach.fingerprint]), TODAY)
    assert not fails(waive(report, parse_waivers(texts[-1], "w"), TODAY), "risky")
