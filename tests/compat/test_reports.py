"""One list of findings in eight formats, each read by something that knows the format."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import junitparser
import pytest
import sarif_pydantic  # type: ignore[import-untyped]
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from acpgen.compat.check_report import as_data, check_report
from acpgen.compat.compare import compare
from acpgen.compat.findings import (
    Finding,
    Inclusion,
    Note,
    Reach,
    Report,
    SourcePosition,
    Waiver,
    count_severities,
    fails,
    list_failing,
)
from acpgen.diagnostics.columns import count_columns, fold
from compat.protocols import Schema, compared, documents, go, migration, protocol, validates, written

SCHEMA = json.loads((Path(__file__).parents[2] / "generator/acpgen/compat/check_report.schema.json").read_text())
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

HOSTILE = "</script><script>alert(1)</script> `x` ``` | [a](b) @all <b>\x1b[31m\u202e %0A::error::"
METHOD = HOSTILE.replace(" ", "")
"""The same for the name of a method, which has no blanks."""


@pytest.fixture(scope="module", name="migration")
def between_versions() -> Report:
    return migration()


@pytest.fixture(scope="module")
def hostile() -> Report:
    """A report in which every text that a schema may choose is hostile."""
    field: Schema = {"type": "string", "description": HOSTILE, "default": HOSTILE}
    old = protocol({"GoRequest": {**go({HOSTILE: field, "mode": {"enum": ["a", HOSTILE]}}), "x-method": METHOD}})
    new = protocol({"GoRequest": {**go({"mode": {"enum": ["a", "b"]}}), "x-method": METHOD}})
    return compared(old, new)


def test_json_follows_its_own_schema_whatever_a_schema_says(migration: Report, hostile: Report) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for report in (migration, hostile):
        assert validates(SCHEMA, json.loads(written(report, "json")))


def test_the_schema_of_the_report_refuses_what_the_contract_does_not_know(migration: Report) -> None:
    data: Any = as_data(migration)
    damages: tuple[dict[str, Any], ...] = (
        {"verdict": "fine"},
        {"backward": None},
        {"findings": [{}]},
        {"language": {}},
    )
    for damage in damages:
        assert not validates(SCHEMA, {**data, **damage})


def test_sarif_is_read_by_models_of_sarif_2_1_0(migration: Report, hostile: Report) -> None:
    for report in (migration, hostile):
        text = written(report, "sarif")
        sarif = sarif_pydantic.Sarif.model_validate_json(text)
        (run,) = sarif.runs
        assert run.results is not None
        rules = [rule.id for rule in run.tool.driver.rules or ()]
        assert len(rules) == len(set(rules))
        results = json.loads(text)["runs"][0]["results"]
        assert sum(raw.get("occurrenceCount", 1) for raw in results) == len(report.findings)
        for raw in results:
            assert rules[raw["ruleIndex"]] == raw["ruleId"]
            assert raw["level"] in ("error", "warning", "note")
            for location in raw["locations"]:
                assert re.fullmatch(r"[A-Za-z0-9._~/%:@+-]+", location["physicalLocation"]["artifactLocation"]["uri"])


def test_junit_is_read_by_a_parser_and_counts_failures(migration: Report, hostile: Report) -> None:
    for report in (migration, hostile):
        parsed = junitparser.JUnitXml.fromstring(written(report, "junit", "risky").encode())
        cases = [case for suite in parsed for case in suite]
        failed = [case for case in cases if any(isinstance(result, junitparser.Failure) for result in case.result)]
        assert len(cases) == len(check_report(report).diagnostics)
        assert len(failed) == len(list_failing(report, "risky")) > 0
    nothing = compared(protocol({}), protocol({}))
    (suite,) = list(junitparser.JUnitXml.fromstring(written(nothing, "junit").encode()))
    assert (suite.tests, suite.failures) == (1, 0)


def test_annotations_are_one_command_a_line_that_nothing_in_a_schema_can_break(
    hostile: Report, migration: Report
) -> None:
    spot = r" file=[^,:]+,line=\d+,col=\d+,title=[^,:]+%3A [a-z-]+"
    pattern = re.compile(rf"::((error|warning|notice){spot}|notice title=verdict%3A [a-z]+)::[^\r\n]+")
    for report in (hostile, migration):
        lines = written(report, "github").splitlines()
        assert lines
        assert all(pattern.fullmatch(line) for line in lines), [line for line in lines if not pattern.fullmatch(line)][
            :1
        ]
        assert len(lines) <= 1 + sum(each.severity in ("breaking", "undecided", "risky") for each in report.findings)
        assert re.search(r"\d+ (breaking|risky)", lines[-1])


def test_text_fits_eighty_columns_and_obeys_no_schema(migration: Report, hostile: Report) -> None:
    for report in (migration, hostile):
        text = written(report, "text")
        assert max(map(len, text.splitlines())) <= 80
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\x1b[1;31m" in written(report, "coloured")


@pytest.mark.parametrize("word", ["提案の題名" * 30, "e\u0301" * 90, "x" * 200, "長い " * 60])
def test_text_folds_by_the_columns_of_a_terminal(word: str) -> None:
    assert max(count_columns(line) for line in fold(word, 76)) <= 76
    assert "".join(fold(word, 76)).replace(" ", "") == word.replace(" ", "")


def test_a_report_on_languages_speaks_of_schemas() -> None:
    report = compare(documents({"type": "string"}), documents({"type": "integer"}), mode="language")
    lines = written(report, "text").splitlines()
    assert "breaking  language-narrowed" in lines
    assert not any("peer" in line for line in lines)


LENIENCY = {
    "x-deserialize-default-on-error": "an invalid value was",
    "x-deserialize-skip-invalid-items": "invalid items were",
    "x-deserialize-default-on-null": "null was",
}


@pytest.mark.parametrize(("keyword", "subject"), LENIENCY.items())
def test_a_change_of_leniency_says_what_was_and_what_is(keyword: str, subject: str) -> None:
    strict = protocol({})
    lenient = protocol({"GoRequest": go({"id": {"type": "string", keyword: True}}, ("id",))})
    (withdrawn,) = compared(lenient, strict).findings
    (added,) = compared(strict, lenient).findings
    assert withdrawn.message.startswith(f"'id' is now decoded strictly; previously {subject} ")
    assert added.message.startswith("'id' is now decoded leniently: ")
    assert added.message.endswith(f"; previously {subject} an error.")


def test_null_that_fell_back_as_any_invalid_value_does_is_no_change() -> None:
    sides = [
        protocol({"GoRequest": go({"id": {"type": "array", f"x-deserialize-default-on-{what}": True}}, ("id",))})
        for what in ("error", "null")
    ]
    (finding,) = compared(*sides).findings
    assert finding.message == "'id' is now decoded strictly; previously an invalid value was read as an empty array."


def test_the_summary_names_both_directions_of_schema_inclusion() -> None:
    more = protocol({"GoRequest": go({"id": {"type": "string"}, "cwd": {"type": "string"}}, ("id", "cwd"))})
    for report in (compared(protocol({}), more), compared({"type": "number"}, {"type": "integer"}, mode="language")):
        assert "schema inclusion: old ⊆ new no; new ⊆ old yes" in " ".join(written(report, "text").split())
    assert "1 finding fails `--fail-on risky`." in written(compared(protocol({}), more), "markdown")


def test_text_begins_with_a_summary_and_tells_each_rule_once_the_worst_first(migration: Report) -> None:
    lines = written(migration, "text").splitlines()
    rules = [
        line.split(" (")[0] for line in lines if re.match(r"(breaking|risky|undecided)  [a-z-]+( \(\d+\))?$", line)
    ]
    assert len(rules) == len(set(rules)) > 10
    severities = [line.split()[0] for line in rules]
    assert severities == sorted(severities, key=["breaking", "undecided", "risky"].index)
    advice = [line for line in lines if line.startswith("  → ")]
    assert max(advice.count(each) for each in advice) <= 4
    screen = "\n".join(lines[:24])
    for severity, count in count_severities(migration).items():
        assert f"{count} {severity}" in screen
        assert f"\n{severity} " in screen


def test_text_names_every_finding_that_somebody_must_look_at(migration: Report) -> None:
    told = " ".join(written(migration, "text").split())
    for each in migration.findings:
        if each.severity in ("breaking", "undecided", "risky"):
            assert each.declaration in told


def test_a_short_report_shows_each_proof_and_a_long_one_says_where_they_are(migration: Report) -> None:
    short = compared(protocol({}), protocol({"GoRequest": go({"id": {"type": "string", "maxLength": 3}}, ("id",))}))
    where = "--format json"
    for form in ("text", "markdown"):
        assert where not in written(short, form)
        assert short.findings[0].fingerprint in written(short, form)
        assert '"method": "s/go"' in written(short, form)
        assert where in written(migration, form)


def test_annotations_are_as_many_as_github_shows_and_of_different_kinds() -> None:
    def schema(limit: int) -> Schema:
        many = {f"f{index}": {"type": "string", "maxLength": limit} for index in range(30)}
        return protocol({"GoRequest": go(many)})

    lines = written(compared(schema(9), schema(3)), "github").splitlines()
    assert len(lines) == 2
    assert lines[-1].endswith("::30 breaking%0ANot shown here: 29. See the summary, or --format json.")
    few = {name: {"type": "string"} for name in ("a", "b", "c")}
    text = written(compared(protocol({"GoRequest": go(few)}), protocol({"GoRequest": go(few, tuple(few))})), "github")
    assert text.count("::error ") == 3 and "Not shown" not in text


def test_long_reports_are_short_and_json_holds_all(migration: Report) -> None:
    assert written(migration, "text").count("\n") < 300
    assert len(written(migration, "markdown")) < 6_000
    assert len(written(migration, "html")) < 100_000
    assert written(migration, "github").count("\n") <= 30
    data: Any = as_data(migration)
    assert len(data["findings"]) == len(migration.findings)
    assert sum(len(each["reaches"]) for each in data["findings"]) > len(data["findings"])


def test_markdown_keeps_hostile_text_as_text_and_fits_a_comment(hostile: Report, migration: Report) -> None:
    page = MarkdownIt("commonmark").enable("table").render(written(hostile, "markdown"))
    assert set(re.findall(r"<(?!/)([a-z0-9]+)", page)) <= {
        *("h3", "h4", "p", "strong", "em", "code", "pre", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"),
        *("details", "summary"),
    }
    assert "@all" not in re.sub(r"<code.*?</code>", "", page, flags=re.DOTALL)
    assert len(written(migration, "markdown")) < 65_536
    assert written(migration, "markdown").startswith("### Compatibility of `")


def test_a_page_holds_no_markup_of_a_schema_and_asks_nobody_for_anything(hostile: Report) -> None:
    page = written(hostile, "html")
    assert "alert(1)" in page
    assert page.count("<script>") == page.count("</script>") == 1
    assert "default-src 'none'" in page
    assert "unsafe" not in page.split("Content-Security-Policy")[1].split(">")[0]
    assert not re.search(r"(?:src|href)=|@import|url\(", page)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_page_works_in_a_real_browser(tmp_path: Path, migration: Report) -> None:
    probe = """<script>
      const wait = () => {
        const count = () => document.querySelectorAll("article:not([hidden]), section li:not([hidden])").length;
        const before = count();
        const query = document.getElementById("query");
        query.value = "session/new field-removed";
        query.dispatchEvent(new Event("input", {bubbles: true}));
        const after = count();
        document.title = "probe " + before + " " + after + " " + document.getElementById("shown").textContent;
      };
      addEventListener("load", wait);
      addEventListener("error", event => { document.title = "error " + event.message; });
    </script></body>"""
    # Only what the page was written with runs in it: the script of the test must be let in by its hash.
    title, told = dom(tmp_path, written(migration, "html").replace("</body>", probe))
    assert not title.startswith(("probe", "error")) and "Content Security Policy" in told
    hash_of = base64.b64encode(
        hashlib.sha256(probe.split("<script>")[1].split("</script>")[0].encode()).digest()
    ).decode()
    let_in = written(migration, "html").replace("script-src ", f"script-src 'sha256-{hash_of}' ")
    title, told = dom(tmp_path, let_in.replace("</body>", probe))
    assert "CONSOLE" not in told
    _, before, after, *shown = title.split()
    assert 0 < int(after) < int(before)
    assert shown == [after, "of", str(len(check_report(migration).diagnostics))]


def dom(folder: Path, text: str) -> tuple[str, str]:
    """The title of a page once its scripts have run, and what the browser logged."""
    page = folder / "report.html"
    page.write_text(text, "utf-8")
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--v=0",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None
    return title[1], done.stderr


def test_markdown_fits_a_comment_whatever_there_is_to_tell() -> None:
    reach = replace(finding("breaking").first, declaration="a" * 700)
    many = tuple(Finding((replace(reach, rule=f"rule-{n}"),), "f") for n in range(90))
    inclusion = Inclusion("no", "yes")
    report = Report("protocol", "a", "b", "breaking", inclusion, inclusion, "breaking", many)
    url = "https://acme.example/runs/1"
    for whole, said in (("", "`acpgen diff --format html`"), (url, f"[the whole report]({url})")):
        shown = written(replace(report, whole=whole), "markdown")
        assert 60_000 < len(shown) < 65_536
        assert shown.count("<details>") == shown.count("</details>")
        assert said in shown.splitlines()[-1]


def test_reports_link_the_page_of_each_rule_on_the_site_of_the_docs() -> None:
    report = replace(compared(protocol({}), protocol({"GoRequest": None})), docs="https://acme.example/docs/")
    rule = report.findings[0].rule
    url = f"https://acme.example/docs/compatibility/{rule}.html"
    for name in ("markdown", "html", "sarif"):
        assert url in written(report, name), name
        assert "https://acme.example" not in written(replace(report, docs=""), name)
    described = json.loads(written(report, "sarif"))["runs"][0]["tool"]["driver"]["rules"]
    assert all("## Bad" in each["help"]["markdown"] for each in described)


def test_code_quality_has_what_gitlab_reads_and_no_fingerprint_twice() -> None:
    spot = SourcePosition("main:schema/a.json", "/$defs/A", 7, 3)
    findings = (
        replace(finding("breaking"), new=spot),
        replace(finding("risky"), old=spot),
        finding("additive"),
        finding("editorial"),
        finding("breaking", waived=True),
    )
    note = Note("waiver-unused", "It matches nothing.", "Remove it.", SourcePosition("w.toml", "", 2, 1))
    inclusion = Inclusion("no", "yes")
    report = Report("protocol", "a", "b", "breaking", inclusion, inclusion, "breaking", findings, (note,))
    entries = json.loads(written(report, "gitlab"))
    assert [each["severity"] for each in entries] == ["critical", "minor", "info", "info", "info"]
    assert all(set(each) == {"description", "check_name", "fingerprint", "severity", "location"} for each in entries)
    assert entries[0]["location"] == entries[1]["location"] == {"path": "schema/a.json", "lines": {"begin": 7}}
    assert entries[-1]["location"] == {"path": "w.toml", "lines": {"begin": 2}}
    assert "Waived until 2027-01-01: because" in entries[3]["description"]
    assert len({each["fingerprint"] for each in entries}) == len(entries)


def finding(severity: Any, *, waived: bool = False) -> Finding:
    accepted = Waiver("r", "f", "because", date(2027, 1, 1)) if waived else None
    reach = Reach(
        rule="r", severity=severity, effect="refused", method=None, flow="both", location="", message="m", advice="a"
    )
    return Finding((reach,), "f", waived=accepted)


def report(*findings: Finding, bindings: Any = "identical") -> Report:
    found = compared(protocol({}), protocol({}))
    return Report(found.mode, "o", "n", "identical", found.wire, found.language, bindings, findings)


def test_the_summary_says_which_findings_are_waived() -> None:
    one, other = finding("breaking"), finding("breaking", waived=True)
    some, all_ = (check_report(report(each, other, finding("risky"))) for each in (one, other))
    assert (some.summary, all_.summary) == ("2 breaking (1 of them waived), 1 risky", "2 breaking (waived), 1 risky")


def test_fail_on_counts_what_is_bad_enough_and_always_what_is_undecided() -> None:
    stops = {
        "breaking": ["breaking", "undecided"],
        "risky": ["breaking", "undecided", "risky"],
        "additive": ["breaking", "undecided", "risky", "additive"],
        "never": [],
    }
    for level, expected in stops.items():
        stopping = [
            severity
            for severity in ("breaking", "undecided", "risky", "additive", "editorial")
            if fails(report(finding(severity)), level)
        ]
        assert stopping == expected
    assert not fails(report(finding("breaking", waived=True)), "risky")


def test_fail_on_bindings_looks_at_generated_code_alone() -> None:
    assert not fails(report(bindings="breaking"), "risky")
    assert fails(report(bindings="breaking"), "never", "breaking")
    assert not fails(report(bindings="additive"), "never", "breaking")
    assert fails(report(bindings="additive"), "never", "additive")


def test_counts_name_what_occurs_worst_first() -> None:
    assert list(count_severities(report(finding("risky"), finding("breaking"), finding("risky"))).items()) == [
        ("breaking", 1),
        ("risky", 2),
    ]


def test_a_list_of_names_has_a_name_for_the_root() -> None:
    old, new = ({"type": kind, "$defs": {"B": {"type": kind}}} for kind in ("integer", "number"))
    report = compared(old, new, mode="language")
    assert [each.location for each in report.findings] == ["", "B"]
    assert "\n  the root, B\n" in written(report, "text")
    assert "`language-widened` (2): the root, `B`" in written(report, "markdown")
    assert "<code></code>" not in written(report, "html")


def test_a_root_with_a_title_is_not_named_beside_itself() -> None:
    old = {**go({"kind": {"type": "string"}}), "title": "Mix"}
    report = compared(old, {**old, "minProperties": 1})
    (finding,) = (finding for finding in report.findings if finding.severity == "breaking")
    assert (finding.declaration, finding.location) == ("", "")


def test_a_place_in_a_declaration_says_which_members_have_any_name() -> None:
    old, new = (
        {"properties": {"env": {"additionalProperties": {"properties": {"n": {"properties": {"m": schema}}}}}}}
        for schema in (True, {"type": "string"})
    )
    report = compared(old, new, mode="language")
    assert [each.location for each in report.findings] == ["env.*.n.m"]
    assert written(report, "text").count("env.*.n.m") == 1


def test_a_finding_on_schemas_stands_where_the_refused_part_does() -> None:
    def write(**args: Any) -> Schema:
        return {"$defs": {"A": {"properties": {"args": {"type": "array", "items": args}, "env": {"enum": [1]}}}}}

    (finding,) = compared(write(), write(type="string"), mode="language").findings
    assert str(finding.new).endswith("#/$defs/A/properties/args/items")
    (finding,) = compared({"$defs": {"A": {}}}, write(), mode="language").findings
    assert (str(finding.old).partition("#")[2], finding.location) == ("/$defs/A", "A.args")
    assert str(finding.new).endswith("#/$defs/A/properties/args")


def test_definitions_with_the_same_name_have_those_around_them_in_theirs() -> None:
    def nest(inner: Schema) -> Schema:
        return {"$defs": {"P": inner, "Q": inner}}

    old, new = (
        {"$defs": {"A": nest({"type": kind}), "B": {"$defs": {"P": {"type": kind}}}}} for kind in ("number", "integer")
    )
    found = compared(old, new, mode="language").findings
    assert {each.location for each in found} == {"A/P", "B/P", "Q"}
    found = compared(old, {"$defs": {"A": {}, "B": {}}}, mode="language").findings
    assert {each.location for each in found} == {"A/P", "B/P", "Q"}


def test_values_of_one_rule_are_one_list() -> None:
    old, new = (
        {"$defs": {"Unit": {"enum": values}, "M": go({"u": {"$ref": "#/$defs/Unit"}})}}
        for values in (["a"], ["a", "b", "c d", *map(str, range(20))])
    )
    report = compared(old, new)
    text = " ".join(written(report, "text").split())
    assert "The value was added to a closed set; old peers reject unknown values. No capability gates it." in text
    assert text.count("was added to a closed set") == 1
    assert "Unit 'b'" in text and "Unit 'c d'" in text


def test_a_schema_that_is_nothing_but_a_root_is_compared() -> None:
    report = compared({"type": "integer"}, {"type": "number"})
    assert "compared: the root" in " ".join(written(report, "text").split())
    changed = compared({"type": "integer", "$defs": {"B": {}}}, {"type": "number", "$defs": {"B": {}}})
    assert "compared: 0 methods, 1 of 1 definition" in " ".join(written(changed, "text").split())
