"""What `[tool.acpgen.compat]` makes of a report: never less than was found, and never in silence."""

from __future__ import annotations

import json
import shutil
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from acpgen.compat.catalogue import list_rules
from acpgen.compat.findings import (
    Finding,
    Nameable,
    Report,
    SourcePosition,
    count_policy_changes,
    fails,
    list_failing,
)
from acpgen.compat.policy import NONE, Area, Policy, PolicyEntry, apply, read_policy
from acpgen.config import parse_settings
from acpgen.errors import Faults, suggest_name
from compat.protocols import FORMATS, RELEASES, ROOT, Schema, compared, found, go, protocol, validates, written
from compat.test_diff_command import run

TODAY = date(2026, 7, 1)
AT = SourcePosition("pyproject.toml", "", 1, 1)
RULES = tuple(entry.id for entry in list_rules())
SCHEMA = json.loads((ROOT / "generator/acpgen/compat/check_report.schema.json").read_text())


def settings(text: str) -> Policy:
    table = tomllib.loads(text)
    parse_settings(Path(), {"compat": table})
    return read_policy(table, "pyproject.toml", RULES)


def ruled(report: Report, text: str, today: date = TODAY) -> Report:
    return apply(report, settings(text), today, AT)


def shared(required: tuple[str, ...] = (), **fields: Any) -> Schema:
    """A type that the params and the result of `s/go` and the notification `s/tell` hold."""
    part = go({"a": {"type": "string"}, "b": {"type": "string"}, **fields}, required)
    holders = ("GoRequest", "GoResponse", "TellNotification")
    return protocol({**{name: go({"part": {"$ref": "#/$defs/Part"}}) for name in holders}, "Part": part})


REQUIRED = compared(shared(), shared(("a",)))
"""What old senders of all three messages leave out is refused by new receivers."""

LOOSENED = compared(shared(c={"maximum": 1}), shared(c={"maximum": 2}))
"""What new senders send is refused by old receivers."""


def the_finding(report: Report) -> Finding:
    (finding,) = report.findings
    return finding


def test_the_examples_are_what_they_are_taken_for() -> None:
    for report, rule, sender in ((REQUIRED, "field-became-required", "old"), (LOOSENED, "limit-loosened", "new")):
        finding = the_finding(report)
        assert (finding.rule, {reach.senders for reach in finding.reaches}) == (rule, {(sender,)})
        assert {reach.flow for reach in finding.reaches} == {"client-to-agent", "agent-to-client"}


def test_without_a_policy_nothing_changes() -> None:
    assert ruled(REQUIRED, "") is REQUIRED
    assert settings("") == replace(NONE, promises={})


@pytest.mark.parametrize(
    ("promise", "required", "loosened"),
    [
        ('"full"', "breaking", "breaking"),
        ('"backward"', "breaking", "additive"),
        ('"forward"', "additive", "breaking"),
        ('"none"', "additive", "additive"),
        ('{ agent = "none", client = "none" }', "additive", "additive"),
        ('{ agent = "none" }', "breaking", "breaking"),
        ('{ agent = "forward", client = "forward" }', "additive", "breaking"),
    ],
)
def test_only_what_is_promised_counts(promise: str, required: str, loosened: str) -> None:
    for report, severity in ((REQUIRED, required), (LOOSENED, loosened)):
        told = ruled(report, f"promise = {promise}")
        assert (the_finding(told).severity, told.verdict) == (severity, severity)
        assert fails(told, "risky") == (severity == "breaking")
        assert told.wire == report.wire


def test_a_promise_to_a_role_is_about_what_it_receives() -> None:
    told = the_finding(ruled(REQUIRED, 'promise = { agent = "none" }'))
    assert {(reach.flow, reach.severity) for reach in told.reaches} == {
        ("client-to-agent", "additive"),
        ("agent-to-client", "breaking"),
    }
    assert told.flow == "agent-to-client"
    assert told.witness == told.reaches[0].witness is not None


def test_a_finding_in_a_stable_method_counts_though_an_experimental_one_shares_it() -> None:
    one = ruled(REQUIRED, '[experimental]\n"s/go" = "The proposal is open."')
    assert (the_finding(one).severity, the_finding(one).method) == ("breaking", "s/tell")
    assert count_policy_changes(one)["lowered"] == 1
    both = ruled(REQUIRED, '[experimental]\n"s/*" = "The proposal is open."')
    assert (both.verdict, both.unruled) == ("additive", "breaking")
    assert list_failing(both, "risky") == ()


def test_what_is_lowered_is_told_in_every_format() -> None:
    told = ruled(REQUIRED, '[experimental]\n"s/*" = "The proposal is open."')
    for name in FORMATS:
        text = " ".join(written(told, name).split())
        assert "The policy lowers 1 finding from breaking to additive: Part.a. s/" in text, name
        assert "The proposal is open." in text, name
    for name in ("text", "markdown", "html"):
        assert "1 lowered; without it: breaking" in " ".join(written(told, name).split()), name
    for name in ("text", "markdown", "github"):
        assert "1 finding lowered by policy" in " ".join(written(told, name).split()), name
    data = json.loads(written(told, "json"))
    assert data["policy"] == {"lowered": 1, "raised": 0, "verdict": "breaking"}
    assert data["findings"][0]["policy"]["judged"] == "breaking"
    assert validates(SCHEMA, data)


SUNSET = '[deprecated]\n"s/old" = {{ sunset = {}, reason = "s/go does it." }}'


@pytest.mark.parametrize(("day", "severity"), [("2026-07-01", "additive"), ("2026-07-02", "breaking")])
def test_what_is_deprecated_may_be_removed_from_its_day_on(day: str, severity: str) -> None:
    old = {**go({}), "x-method": "s/old", "x-side": "agent"}
    gone = compared(protocol({"OldNotification": old}), protocol({}))
    told = ruled(gone, SUNSET.format(day))
    assert [each.severity for each in found(told, "method-removed")] == [severity]


def test_what_is_deprecated_may_not_change_otherwise() -> None:
    def with_old(*required: str) -> Schema:
        return protocol({"OldNotification": {**go({"a": {}}, required), "x-method": "s/old", "x-side": "agent"}})

    changed = compared(with_old(), with_old("a"))
    assert ruled(changed, SUNSET.format("2020-01-01")).verdict == "breaking"


LEVEL = '[[severity]]\nseverity = "{}"\nreason = "{}"\n'


def test_the_nearest_level_stands_and_of_two_the_last() -> None:
    rule = LEVEL.format("risky", "by rule") + 'rule = "field-became-required"\n'
    area = LEVEL.format("additive", "by area") + 'at = "#/$defs/Part"\n'
    both = LEVEL.format("breaking", "by both") + 'rule = "field-became-required"\nat = "s/*"\n'
    again = LEVEL.format("editorial", "by rule again") + 'rule = "field-became-required"\n'

    def reason(*levels: str) -> tuple[str, str]:
        told = the_finding(ruled(REQUIRED, "".join(levels)))
        return told.severity, told.ruled.reason if told.ruled else ""

    assert reason(rule) == ("risky", "by rule")
    assert reason(rule, again) == ("editorial", "by rule again")
    assert reason(area, rule) == reason(rule, area) == ("additive", "by area")
    assert reason(both, area, rule) == ("breaking", "")


def test_a_level_raises_too_and_wins_over_what_is_not_promised() -> None:
    added = compared(shared(), shared(c={}))
    told = ruled(added, 'promise = "none"\n' + LEVEL.format("breaking", "Frozen.") + 'at = "s/*"\n')
    assert (told.verdict, told.unruled) == ("breaking", "additive")
    assert count_policy_changes(told) == {"lowered": 0, "raised": 1}
    assert fails(told, "breaking")
    assert "raises 1 finding from additive to breaking" in told.notes[0].message


@pytest.mark.parametrize(
    ("promise", "named", "severity"),
    [
        ("backward", True, "breaking"),
        ("backward", False, "additive"),
        ("forward", True, "additive"),
        ("forward", False, "breaking"),
    ],
)
def test_a_format_that_is_asserted_counts_where_it_is_promised(promise: str, named: bool, severity: str) -> None:
    loose, tight = shared(c={"type": "string"}), shared(c={"type": "string", "format": "uuid"})
    found = compared(*((loose, tight) if named else (tight, loose)), formats=True)
    assert ruled(found, f'formats = "asserted"\npromise = "{promise}"').verdict == severity


@pytest.mark.parametrize(
    ("area", "holds"),
    [
        ("s/go", True),
        ("s/*", True),
        ("s/g", False),
        ("*", True),
        ("s/go params.tool", True),
        ("s/go params", True),
        ("s/go params.to", False),
        ("#/$defs/Tool", True),
        ("#/$defs/To", False),
        ("#/$defs/*/properties", True),
        ("#/$defs/Tool/properties/a/type", False),
        ("a.json#/$defs/Tool", True),
        ("v1/a.json#", True),
        ("schema/*#", True),
        ("v2/a.json#", False),
        ("#", True),
    ],
)
def test_an_area_is_a_method_a_place_in_it_or_a_place_in_a_schema(area: str, holds: bool) -> None:
    reach = replace(the_finding(REQUIRED).reaches[0], method="s/go", location="params.tool[].a")
    spot = SourcePosition("main:schema/v1/a.json", "/$defs/Tool/properties/a", 1, 1)
    assert Area(area).holds(reach, (None, spot)) is holds


def test_findings_of_plain_schemas_are_judged_by_direction_and_place() -> None:
    report = compared({"maximum": 2}, {"maximum": 1}, mode="language")
    assert ruled(report, 'promise = "forward"').verdict == "additive"
    assert ruled(report, 'promise = "backward"').verdict == "breaking"
    assert ruled(report, '[experimental]\n"schema.json#" = "x"').verdict == "additive"


@pytest.mark.parametrize("promise", ["full", "backward", "forward", "none"])
@pytest.mark.parametrize("direction", ["narrowed", "widened"])
def test_what_plain_schemas_are_promised_counts_in_each_direction(promise: str, direction: str) -> None:
    sides: list[Schema] = [{"type": "integer"}, {"type": "number"}]
    report = compared(*(reversed(sides) if direction == "narrowed" else sides), mode="language")
    found = ruled(report, f'promise = "{promise}"')
    is_kept = promise in ("full", "backward" if direction == "narrowed" else "forward")
    assert found.verdict == ("breaking" if is_kept else "additive")
    assert fails(found, "risky") is is_kept
    assert (the_finding(found).breaks != "") is (is_kept or direction == "narrowed")


def test_plain_schemas_promise_the_old_direction_where_nobody_says_what_is_promised() -> None:
    assert ruled(compared({"type": "integer"}, {"type": "number"}, mode="language"), "").verdict == "additive"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('promises = "full"', "tool.acpgen.compat.promises"),
        ('promise = "both"', "tool.acpgen.compat.promise must be one of 'full', 'backward', 'forward' and 'none'"),
        ('promise = { agent = "x" }', "tool.acpgen.compat.promise.agent must be one of"),
        ("transitive = 1", "tool.acpgen.compat.transitive must be true, false, or"),
        ("formats = true", "tool.acpgen.compat.formats must be one of 'annotations' and 'asserted'"),
        ('docs = "docs/"', "tool.acpgen.compat.docs must be the address"),
        ("severity = 1", "tool.acpgen.compat.severity must be a list of tables"),
        ("severity = [1]", "tool.acpgen.compat.severity.0 must be a list of tables"),
        ('[[severity]]\nrule = "field-remove"\nseverity = "risky"\nreason = "x"', "Did you mean 'field-removed'?"),
        ('[[severity]]\nseverity = "risky"\nreason = "x"', "severity.0 must be about something"),
        ('[[severity]]\nat = "a"\nseverity = "undecided"\nreason = "x"', "one of 'breaking', 'risky', 'additive' and"),
        ('[[severity]]\nat = "a"\nseverity = "risky"', "severity.0.reason must be a sentence"),
        ('[[severity]]\nat = "a b c"\nseverity = "risky"\nreason = "x"', "severity.0.at must be a method such as"),
        ('[[severity]]\nat = "#Tool"\nseverity = "risky"\nreason = "x"', "severity.0.at must be a method such as"),
        ('[[severity]]\nat = "a"\nseverity = "risky"\nreason = "x"\nwhen = 1', "severity.0.when"),
        ('experimental = ["s/go"]', "experimental must be a table from areas to reasons"),
        ('[experimental]\n"s/go" = ""', 'experimental."s/go" must be a sentence'),
        ('[deprecated]\n"s/go" = 2027-01-31', 'deprecated."s/go" must be a table with'),
        ('[deprecated]\n"s/go" = { sunset = "soon", reason = "x" }', 'deprecated."s/go".sunset must be the first day'),
        ('[deprecated]\n"s/go" = { sunset = 2027-01-31T00:00:00Z, reason = "x" }', ".sunset must be the first day"),
        ('[deprecated]\n"s/go" = { sunset = 2027-01-31 }', 'deprecated."s/go".reason must be a sentence'),
    ],
)
def test_a_wrong_setting_is_a_fault_with_its_key_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(Faults) as caught:
        settings(text)
    (fault,) = caught.value.faults
    assert str(fault).startswith("pyproject.toml: ")
    assert said in str(fault)


# --- with a project --------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose protocol has two releases: the second lets a field go, the schema of today adds one."""
    (tmp_path / "pyproject.toml").write_text("[tool.acpgen]\n")
    for path, fields in (
        ("schema/acme/v1/s.json", ("id", "new")),
        ("schema/releases/acme/v1/1.0.json", ("id", "gone")),
        ("schema/releases/acme/v1/1.1.json", ("id",)),
        ("old.json", ("id",)),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(json.dumps(protocol({"GoRequest": go({name: {} for name in fields})})))
    (tmp_path / "schema/releases/acme/v1/index.json").write_text('{"about": "", "versions": ["1.0", "1.1"]}')
    return tmp_path


def report_of(project: Path, policy_: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    (project / "pyproject.toml").write_text(f"[tool.acpgen.compat]\n{policy_}\n")
    done = run(project, "diff", "old.json", "acme/v1", "--format", "json", *arguments)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("new", ["acme/v1", "schema/acme/v1"])
def test_a_finding_is_accepted_until_a_release_of_its_protocol(project: Path, new: str) -> None:
    def diff(*arguments: str) -> tuple[int, str]:
        done = run(project, "diff", "schema/releases/acme/v1/1.0.json", new, *arguments)
        return done.returncode, done.stdout + done.stderr

    _, text = diff("--format", "json")
    (broken,) = [each for each in json.loads(text)["findings"] if each["severity"] == "breaking"]
    accepting = ("--waive", broken["fingerprint"], "--reason", "Nobody reads it.", "--until")
    assert diff(*accepting, "1.1") == (
        2,
        "error: --waive: --until must be a release after 1.1, the newest kept release.\nhint: Give the next one, or a date.\n",
    )
    assert diff(*accepting, "1.2")[0] == 0
    assert 'until = "1.2"' in (project / "compat-waivers.toml").read_text()
    code, text = diff()
    assert (code, "Waived until release 1.2" in text) == (0, True)
    kept = project / "schema/releases/acme/v1"
    (kept / "index.json").write_text('{"about": "", "versions": ["1.0", "1.1", "1.2"]}')
    shutil.copyfile(kept / "1.1.json", kept / "1.2.json")
    code, text = diff()
    assert (code, "ended with release 1.2: the findings that it accepted count again" in " ".join(text.split())) == (
        1,
        True,
    )


def test_a_transitive_promise_compares_every_release_that_is_kept(project: Path) -> None:
    code, data = report_of(project, "")
    assert (code, data["verdict"]) == (0, "additive")
    assert "earlier" not in data
    code, data = report_of(project, "transitive = true")
    assert (code, data["verdict"]) == (1, "breaking")
    assert data["earlier"] == [f"schema/releases/acme/v1/{name}.json" for name in ("1.0", "1.1")]
    assert [(each["rule"], each["old"].partition("#")[0]) for each in data["findings"]][:1] == [
        ("field-removed", "schema/releases/acme/v1/1.0.json")
    ]
    assert [each["rule"] for each in data["findings"]] == ["field-removed", "field-added"]
    assert validates(SCHEMA, data)
    code, data = report_of(project, 'transitive = "1.1"')
    assert (code, len(data["earlier"])) == (0, 1)
    code, data = report_of(project, 'transitive = true\npromise = "forward"')
    assert (code, data["policy"]["lowered"]) == (0, 1)


def test_a_transitive_promise_that_finds_no_release_says_so(project: Path) -> None:
    shutil.rmtree(project / "schema/releases")
    (project / "pyproject.toml").write_text("[tool.acpgen.compat]\ntransitive = true\n")
    done = run(project, "diff", "old.json", "acme/v1")
    assert "no release of this protocol is kept" in " ".join(done.stdout.split())


@pytest.mark.parametrize("text", ['transitive = "2.0"', 'promise = "x"'])
def test_a_wrong_policy_stops_the_comparison(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.acpgen.compat]\n{text}\n")
    done = run(project, "diff", "old.json", "acme/v1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: pyproject.toml: tool.acpgen.compat.")


def test_the_releases_of_acp_are_found() -> None:
    from acpgen import config
    from acpgen.compat.project_releases import release_files

    found_ = release_files(config.find(ROOT), "main:acp/v1", "", "pyproject.toml")
    assert [path.parent for path in found_] == [RELEASES / "v1"] * len(found_)
    assert len(found_) > 2


def test_an_entry_that_matches_nothing_is_told_once_and_counts_for_nothing() -> None:
    both = protocol({"GoRequest": go({"id": {"type": "string"}, "note": {"type": "string"}})})
    report = compared(protocol({"GoRequest": go({"id": {"type": "string"}})}), both)
    entries = (
        PolicyEntry("severity", "additive", "Why.", "field-removed"),
        PolicyEntry("severity", "editorial", "Why.", "", Area("s/go params")),
        PolicyEntry("experimental", "additive", "Why.", "", Area("s/gone")),
    )
    found = apply(report, Policy(entries=entries), TODAY, AT)
    unused = [each for each in found.notes if each.rule == "policy-unused"]
    assert [each.message for each in unused] == [
        (
            "2 entries of the policy match no finding: severity of field-removed; experimental 's/gone' (no method of either revision; did "
            "you mean 's/go'?)."
        )
    ]
    assert not fails(found, "risky")


@pytest.mark.parametrize(
    ("area", "lack"),
    [
        ("s/go", ""),
        ("s/*", ""),
        ("s/gone", "no method of either revision; did you mean 's/go'?"),
        ("nothing/like/it", "no method of either revision"),
        ("#/$defs/GoRequest/properties/a", ""),
        ("#/$defs", ""),
        ("#", ""),
        ("#/$defs/*/properties", ""),
        ("#/$defs/Gone", "nothing in either revision is at that place"),
        ("other.json#/$defs/GoRequest", "nothing in either revision is at that place"),
        ("deprecated: true", ""),
    ],
)
def test_an_area_that_neither_revision_has_is_told_so(area: str, lack: str) -> None:
    assert Area(area).explain_mismatch(REQUIRED.named) == lack
    assert Area(area).explain_mismatch(Nameable()) == "", "of plain schemas it is not known"


def test_a_note_on_the_policy_stands_where_the_policy_does(project: Path) -> None:
    table = '[tool.acpgen]\nschema = "schema"\n\n[tool.acpgen.compat.experimental]\n"s/gone" = "Why."\n'
    (project / "pyproject.toml").write_text(table)
    done = run(project, "diff", "old.json", "acme/v1", "--format", "json")
    (note,) = [each for each in json.loads(done.stdout)["notes"] if each["rule"] == "policy-unused"]
    assert (note["position"]["file"], note["position"]["line"]) == ("pyproject.toml", 4)


PROMISE_TO_NOBODY = (
    "error: pyproject.toml: tool.acpgen.compat.promise.agnet: there is no role 'agnet'.\n"
    "hint: Did you mean 'agent'? The roles are "
)


def test_a_promise_to_a_role_that_nothing_has_stops_the_comparison(project: Path) -> None:
    text = '[tool.acpgen.compat]\npromise = { agnet = "none", client = "full" }\n'
    (project / "pyproject.toml").write_text(text)
    for command in (("diff", "old.json", "acme/v1"), ("history", "old.json", "schema/acme/v1")):
        done = run(project, *command)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"{PROMISE_TO_NOBODY}'agent', 'client'.\n"


def test_a_role_of_another_protocol_of_the_project_is_known(project: Path) -> None:
    other = protocol({"GoRequest": {**go({}), "x-side": "server"}, "GoResponse": {**go({}), "x-side": "server"}})
    (project / "schema/other").mkdir(parents=True)
    (project / "schema/other/schema.json").write_text(json.dumps(other))
    out = '[tool.acpgen]\nschema = "schema"\n\n[tool.acpgen.outputs.out]\ntarget = "bundle"\nprotocols = ["other"]\n'
    for role, code in (("server", 0), ("servr", 2)):
        promise = f'[tool.acpgen.compat]\npromise = {{ {role} = "none" }}\n'
        (project / "pyproject.toml").write_text(f"{out}\n{promise}")
        assert run(project, "diff", "old.json", "acme/v1").returncode == code, role


def test_a_promise_to_a_role_is_told_where_nothing_has_roles(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.acpgen.compat]\npromise = { agnet = "full" }\n')
    for name, kind in (("one", "string"), ("two", "integer")):
        (project / f"{name}.json").write_text(json.dumps({"type": kind}))
    done = run(project, "diff", "one.json", "two.json")
    assert "promise to 'agnet' (neither revision has roles)" in " ".join(done.stdout.split())


def test_a_note_has_no_severity_to_be_set() -> None:
    table = tomllib.loads('[[severity]]\nrule = "waiver-unused"\nseverity = "risky"\nreason = "Why."')
    with pytest.raises(Faults) as caught:
        read_policy(table, "pyproject.toml", RULES, ["waiver-unused"])
    assert [str(each) for each in caught.value.faults] == [
        (
            "pyproject.toml: tool.acpgen.compat.severity.0.rule must be a rule whose findings have a severity; 'waiver-unused' "
            "only reports notes. Correct this setting."
        )
    ]


def test_what_a_schema_marks_as_deprecated_may_go_from_its_sunset_on() -> None:
    def with_mark(**mark: Any) -> Schema:
        fields = {"a": {"type": "string", **mark}, "b": {"type": "string"}}
        return protocol({"GoRequest": go(fields)})

    without = protocol({"GoRequest": go({"b": {"type": "string"}})})
    text = "[deprecated]\n'deprecated: true' = { sunset = 2026-07-01, reason = 'It was announced.' }"
    marked = compared(with_mark(deprecated=True), without)
    assert [each.severity for each in ruled(marked, text).findings] == ["additive"]
    assert ruled(marked, text, date(2026, 6, 30)) == marked
    for plain in (compared(with_mark(), without), compared(with_mark(deprecated=False), without)):
        assert ruled(plain, text) == plain


def test_a_rule_that_does_not_exist_is_a_fault_that_counts_the_rules_it_does_not_list() -> None:
    known = [f"rule-{number:02}" for number in range(15)]
    assert suggest_name("nonsense", known).endswith("'rule-11', and 3 more.")
    assert suggest_name("nonsense", known[:12]).endswith("'rule-11'.")
