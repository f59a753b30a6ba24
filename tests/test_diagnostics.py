"""The reports of all commands: one model, and each format well formed whatever a report holds."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import junitparser
import pytest
import sarif_pydantic  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from typer.main import get_command

import commands
from acpgen.cli import app
from acpgen.diagnostics import FORMATS, write_report
from acpgen.diagnostics.columns import WIDTH, count_columns
from acpgen.diagnostics.model import (
    Column,
    Diagnostic,
    DiagnosticReport,
    Replacement,
    ReportTable,
    Snippet,
    SourceLocation,
)
from acpgen.messages.validate import LineProblem, LineVerdict
from acpgen.recordings import message_report

HOSTILE: Final = "<script>alert(1)</script>\x1b[2J`|`]]>&\"'\u202e\n\n# x %0A::error::"
MESSAGES: Final = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": 1, "mcpServers": []}}\n'
    b'{"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": 1, "mcpServers": []}}\n'
    b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "a"}}\n'
)


def report(**changes: Any) -> DiagnosticReport:
    place = SourceLocation("a b.json", 3, 4, "#/a", "new", "main", {"x": HOSTILE})
    snippets = (Snippet(HOSTILE, {HOSTILE: 1}), Snippet("Lines", lines=(HOSTILE, "x" * 300)))
    one = Diagnostic(
        *("rule-one", "breaking", HOSTILE, HOSTILE),
        reached=("a", HOSTILE),
        direction=HOSTILE,
        context="a.b(c).d",
        details=(HOSTILE,),
        advice=HOSTILE,
        repair=HOSTILE,
        fingerprint="0f",
        locations=(place, SourceLocation("b.json", label="old")),
        evidence=snippets,
        replacements=(Replacement("a b.json", 3, 3, HOSTILE),),
        group=HOSTILE,
        fails=True,
    )
    others = (
        Diagnostic("rule-two", "additive", "It is new.", "A", group="g"),
        Diagnostic("rule-three", "editorial", "Words.", "A", locations=(place,), count=7),
        Diagnostic("rule-four", "risky", "So be it.", "B", waived=f"Waived: {HOSTILE}", locations=(place,)),
        Diagnostic("case/one", "SHOULD", "It should.", "case/one", group="case", case="one", count=2),
    )
    note = Diagnostic("rule-note", "note", HOSTILE, HOSTILE, locations=(place,), evidence=snippets)
    told: dict[str, Any] = {
        "command": "diff",
        "label": "Compatibility",
        "title": f"{HOSTILE} → b",
        "verdict": "breaking",
        "sentence": f"Breaking: {HOSTILE}",
        "summary": "1 breaking",
        "code": 1,
        "facts": (("fact", HOSTILE),),
        "remarks": (HOSTILE,),
        "diagnostics": (one, *others, note),
        "tables": (ReportTable(HOSTILE, (Column("Name"), Column("Verdict")), ((HOSTILE, "risky"),)),),
        "passed": ("case/two",),
        "skipped": (("case/three", HOSTILE),),
        **changes,
    }
    return DiagnosticReport(**told)


class Elements(HTMLParser):
    """The elements of a page; each that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - as the base class has it
        self.found.append(tag)
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("layout", ["fitted", "full", "lines"])
@pytest.mark.parametrize("name", FORMATS)
def test_text_of_others_is_text_in_every_format(name: str, layout: Any) -> None:
    text = write_report(report(layout=layout), name)
    assert "\x1b" not in text
    if name == "text" and layout != "lines":
        assert max(map(count_columns, text.splitlines())) <= WIDTH
    if name == "html":
        elements = Elements()
        elements.feed(text)
        assert (elements.open, elements.found.count("script")) == ([], 1)
    if name == "markdown":
        assert "<script" not in MarkdownIt("commonmark").enable("table").render(text)
    if name == "github":
        assert all(re.match(r"::(error|warning|notice) ", line) for line in text.splitlines())


def test_services_read_every_report() -> None:
    sarif = write_report(report(), "sarif")
    sarif_pydantic.Sarif.model_validate_json(sarif)
    (run,) = json.loads(sarif)["runs"]
    assert [each["level"] for each in run["results"]] == ["error", "note", "note", "warning", "warning", "note"]
    assert [each.get("occurrenceCount", 1) for each in run["results"]] == [1, 1, 7, 1, 2, 1]
    assert run["results"][0]["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"] == "a%20b.json"
    suites: Any = junitparser.JUnitXml.fromstring(write_report(report(), "junit").encode())
    assert (suites.tests, suites.failures, suites.errors) == (8, 1, 0)
    assert "skipped" not in ET.fromstring(write_report(report(), "junit")).attrib, "Jenkins refuses it there"
    levels = [each["severity"] for each in json.loads(write_report(report(), "gitlab"))]
    assert levels == ["critical", "info", "info", "minor", "info"]
    assert json.loads(write_report(report(), "badge"))["color"] == "red"


def test_an_exit_code_that_no_diagnostic_explains_is_an_error_in_every_service() -> None:
    bare = report(diagnostics=(), verdict="not judged", sentence="Not judged: nothing was there.", is_judged=False)
    suites: Any = junitparser.JUnitXml.fromstring(write_report(bare, "junit").encode())
    assert (suites.errors, suites.failures) == (1, 0)
    assert write_report(bare, "github").splitlines()[-1].startswith("::error title=verdict%3A not judged::")
    assert json.loads(write_report(bare, "sarif"))["runs"][0]["invocations"][0]["executionSuccessful"] is False


def test_editorial_changes_are_one_line_for_each_file_with_their_number() -> None:
    words = [
        Diagnostic("text-reworded", "editorial", "m", f"A{line}", locations=(SourceLocation(file, line),), count=line)
        for file, line in (("a.json", 7), ("b.json", 2), ("a.json", 1))
    ]
    few = report(diagnostics=tuple(words), skipped=(), tables=())
    assert "  a.json: 8\n  b.json: 2\n" in write_report(few, "text")
    assert "text-reworded`: " not in write_report(few, "markdown")
    assert "`text-reworded` (10): `a.json: 8`, `b.json: 2`" in write_report(few, "markdown")
    assert write_report(few, "html").count("<li>") == 2


@pytest.mark.parametrize("count", [2, 40])
def test_a_message_about_several_places_of_a_file_is_told_once_with_each_line(count: int) -> None:
    notes = [
        Diagnostic("some-note", "note", "No effect.", "a.json", locations=(SourceLocation("a.json", line, 5),))
        for line in range(1, count + 1)
    ]
    text = write_report(report(diagnostics=tuple(notes), skipped=(), tables=()), "text")
    assert text.count("No effect.") == 1
    assert [text.count(f"a.json:{line}:5") for line in range(1, count + 1)] == [1] * count


def test_every_command_that_reports_has_every_format() -> None:
    found: dict[str, str] = {}
    commands: dict[str, Any] = vars(get_command(app))["commands"]
    for name, command in commands.items():
        options = {each.opts[0]: each for each in command.params}
        if "--output" in options and "--format" in options:
            found[name] = options["--format"].help
    assert set(found) == {"diff", "history", "lint", "probe", "validate"}
    for told in found.values():
        assert set(re.findall(r"\w+", told)) - {"default", "or"} == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_lint_and_validate_write_every_format(name: str, tmp_path: Path) -> None:
    schema, messages = tmp_path / "s.json", tmp_path / "m.jsonl"
    schema.write_text('{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"A": {"x-nul": 1}}}')
    messages.write_bytes(MESSAGES)
    for command, file, rule in (
        (["lint"], schema, "keyword-unknown"),
        (["validate", "--protocol", "acp/v1"], messages, "type"),
        (["validate", "--protocol", "acp/v1", "--jobs", "1"], messages, "type"),
    ):
        ran = commands.acpgen([*command, file, "--output", f"{name}={tmp_path / 'out'}"])
        assert (ran.returncode, ran.stdout) == (1, b""), ran.stderr
        text = (tmp_path / "out").read_text("utf-8")
        assert rule in text or name == "badge"
        if name == "sarif":
            (run,) = json.loads(text)["runs"]
            assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith(file.name)
        if name == "junit":
            suites: Any = junitparser.JUnitXml.fromstring(text.encode())
            assert suites.failures


def test_messages_that_are_wrong_alike_are_one_diagnostic(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    file.write_bytes(MESSAGES)
    ran = commands.acpgen(
        ["validate", "--protocol", "acp/v1", file, "--output", "-", "--output", f"json={tmp_path / 'o'}"]
    )
    assert ran.stdout.count(b"invalid client request session/new") == 2
    told = json.loads((tmp_path / "o").read_text())
    assert told["counts"] == {"valid": 1, "invalid": 2, "not_judged": 0}
    assert [(each["rule"], each["line"], each["count"]) for each in told["findings"]] == [("type", 1, 2)]


def test_what_a_report_on_messages_does_not_name_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_report, "MOST", 2)
    found = message_report.MessageDiagnostics()
    for line in range(1, 6):
        found.add_line("m", LineVerdict(line, "client", "request", "a", (LineProblem("type", f"number {line}"),)))
    text = write_report(found.report(["m"]), "text")
    assert "m:2: type: number 2\nFurther lines that are invalid or were not judged: 3.\n" in text


@pytest.mark.parametrize("command", [["lint"], ["validate", "--protocol", "acp/v1"]])
def test_no_report_is_written_over_what_is_read(command: list[str], tmp_path: Path) -> None:
    for name in ("s.json", "folder/s.json", "folder/s.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    for read in ("s.json", "folder/s.json", "folder"):
        over = f"folder/s.json{'' if command[0] == 'lint' else 'l'}" if read == "folder" else read
        ran = commands.acpgen([*command, read, "--output", f"text={tmp_path / over}"], cwd=tmp_path)
        assert (ran.returncode, (tmp_path / over).read_text()) == (2, "{}")
        assert b"must be another file than those that are read" in ran.stderr
