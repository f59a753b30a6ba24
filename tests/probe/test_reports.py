"""The reports of a probe: one outcome, in each format well formed and saying the same; and what runs it in CI."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest
import yaml
from markdown_it import MarkdownIt

import commands
from acpgen.diagnostics import FORMATS
from acpgen.probe import probe_command
from acpgen.probe.clauses import Clause
from acpgen.probe.conformance import Conformance, ProbeFinding, SkippedCase, TranscriptLine
from bench import probes
from probe.test_probe import probed, written

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
ACTION: Final = ROOT / ".github" / "actions" / "probe"
CLAUSE: Final = Clause("A <document>", "1 & 2", "must", "Tides come back.", 7)
HOSTILE: Final = b'{"text": "<script>alert(1)</script> \x1b[31m \xff"}'


def outcome(*, level: Any = "must", judged: bool = True) -> Conformance:
    rows = (
        TranscriptLine("client", b'{"id": 1}'),
        TranscriptLine("agent", b"", is_gap=True),
        TranscriptLine("agent", HOSTILE),
    )
    found = ProbeFinding(
        "tide/ebb", "v1/tide/ebb", CLAUSE, level, "no tide <b>here</b> \x1b[31m", rows, b'{"id": 1}', "ebb", 2
    )
    report = Conformance(("my agent", "--acp"), "agent", 7, program={"name": "<agent>", "version": "1"})
    if judged:
        report.versions, report.findings, report.reached = (1,), [found], ["v1/tide/ebb", "v1/tide/flow"]
    report.not_reached = [SkippedCase("v1/tide/night", "it needs a <login>")]
    report.errors = "no \x1b[2Jway"
    return report


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("judged", [True, False])
def test_no_format_hands_on_what_a_program_says_as_more_than_text(name: str, judged: bool) -> None:
    text = written(outcome(judged=judged), name)
    assert "\x1b" not in text
    shown = MarkdownIt("commonmark").render(text) if name == "markdown" else text
    assert "<script>alert" not in shown or name not in ("html", "junit", "markdown")


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_the_end_of_standard_error_has_one_heading(name: str) -> None:
    text = written(outcome(judged=False), name)
    assert (text.count("The program wrote to its standard error."), text.count("It ends with:")) == (1, 1)


def test_what_the_same_messages_prove_is_told_with_them_once() -> None:
    report = outcome()
    report.findings.append(replace(report.findings[0], message="no flood either", place="flood"))
    report.findings.append(replace(report.findings[0], transcript=report.findings[0].transcript[:1], place="low"))
    text = written(report, "text")
    assert text.index("no tide") < text.index("no flood either") < text.index("A <document>")
    assert (text.count("no tide"), text.count("A <document>"), text.count('{"id": 1}')) == (2, 2, 2)


def test_of_a_long_message_the_part_that_is_wrong_is_shown() -> None:
    report = outcome()
    message = json.dumps({"result": {"a": "x" * 9000, "tide": {"metres": "low"}, "b": "y" * 9000}}).encode()
    row = TranscriptLine("agent", message)
    report.findings = [replace(report.findings[0], transcript=(row,), place="initialize /result/tide/metres")]
    told = "".join(written(report, "text").split())
    assert '"metres":"low"' in told
    assert len(told) < 3200
    assert "characters;--formatjsonhasallofthem)" in told
    report.findings = [replace(report.findings[0], transcript=(row,), place="initialize /result/zone/*")]
    assert '{"result":{"a":"x' in "".join(written(report, "text").split())


def test_junit_has_a_case_for_each_case() -> None:
    root = ET.fromstring(written(outcome(), "junit"))
    assert root.attrib["tests"] == "3"
    assert root.attrib["failures"] == "1"
    cases = {f"{one.attrib['classname']}/{one.attrib['name']}": one for one in root.iter("testcase")}
    assert set(cases) == {"v1/tide/ebb", "v1/tide/flow", "v1/tide/night"}
    assert "A <document>" in "".join(cases["v1/tide/ebb"].itertext())
    skipped = cases["v1/tide/night"].find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == "it needs a <login>"
    advised = ET.fromstring(written(outcome(level="should"), "junit"))
    assert advised.attrib["failures"] == "0"
    nothing = ET.fromstring(written(outcome(judged=False), "junit"))
    assert nothing.attrib["errors"] == "1"


def test_sarif_levels_are_those_of_the_documents() -> None:
    (run,) = json.loads(written(outcome(), "sarif"))["runs"]
    (result,) = run["results"]
    assert result["level"] == "error"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "tide/ebb"
    assert result["partialFingerprints"]
    (run,) = json.loads(written(outcome(judged=False), "sarif"))["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False


def test_the_page_is_one_that_a_browser_reads() -> None:
    open_: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - as the base class has it
            if tag not in ("meta", "input"):
                open_.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_.pop() == tag

    page = written(outcome(), "html")
    Reader().feed(page)
    assert not open_
    assert "&lt;script&gt;" in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_badge_says_no_more_than_was_judged() -> None:
    assert json.loads(written(outcome(), "badge"))["message"] == "1 MUST broken"
    assert json.loads(written(outcome(level="note"), "badge"))["message"] == "2 cases, no MUST broken"
    assert json.loads(written(outcome(judged=False), "badge"))["message"] == "not judged"


def test_a_baseline_forgets_nothing_that_was_not_tried_again() -> None:
    before = outcome()
    kept = json.loads(probe_command.render_baseline(before))
    after = outcome()
    after.findings = []
    probe_command.apply_baseline(after, kept)
    assert [row["rule"] for row in after.gone] == ["tide/ebb"]
    after = outcome()
    after.findings, after.reached = [], ["v1/tide/flow"]
    probe_command.apply_baseline(after, kept)
    assert after.gone == [], "its case did not run"
    again = outcome()
    probe_command.apply_baseline(again, kept)
    assert (again.findings, len(again.known), again.code) == ([], 1, 0)


def test_the_transcript_of_a_finding_is_a_recording(tmp_path: Path) -> None:
    report = probed("v1/json-rpc/unknown-method", defect="wrong code")
    (finding,) = json.loads(written(report, "json"))["findings"]
    tape = tmp_path / "tape.jsonl"
    tape.write_text("".join(json.dumps(row) + "\n" for row in finding["transcript"]))
    done = commands.acpgen(["validate", "--session", tape])
    assert b"recording" not in done.stdout, done.stdout
    assert done.returncode in (0, 1)


def test_the_page_of_shipped_agents_says_what_was_measured() -> None:
    rows = json.loads(probes.RESULTS.read_text("utf-8"))
    assert probes.PAGE.read_text("utf-8") == probes.page(rows)
    assert all(row["seconds"] < 600 for row in rows.values())


# --- in CI -----------------------------------------------------------------------------------------------------------


def test_the_hook_runs_the_probe() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    hook = hooks["acpgen-probe"]
    assert hook["pass_filenames"] is False
    command = [*shlex.split(hook["entry"]), "--seed", "1", "--case", "initialization/answer", "--", sys.executable]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [*command, str(HERE / "agent.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("defect", "code", "verdict"), [("", 0, "passes"), ("wrong code", 1, "breaks")])
def test_the_action_probes_and_tells(tmp_path: Path, defect: str, code: int, verdict: str) -> None:
    description: Any = yaml.safe_load((ACTION / "action.yml").read_text())
    step = description["runs"]["steps"][-1]
    given = {
        "command": shlex.join([sys.executable, str(HERE / "agent.py"), defect]),
        "seed": "1",
        "junit": str(tmp_path / "j"),
    }
    values: dict[str, str] = {
        name: given.get(name, str(row.get("default", ""))) for name, row in description["inputs"].items()
    }
    environment: dict[str, str] = {
        name: values[text[len("${{ inputs.") : -len(" }}")]] for name, text in step["env"].items()
    }
    (tmp_path / "acpgen").write_text(
        f'#!/bin/sh\nshift\nexec {sys.executable} -m acpgen probe --case v1/json-rpc/unknown-method "$@"\n'
    )
    (tmp_path / "acpgen").chmod(0o755)
    environment |= {
        "PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "generator"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    done = subprocess.run(["bash", str(ACTION / "probe")], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert f"verdict={verdict}" in (tmp_path / "output").read_text()
    assert "```text" in (tmp_path / "summary").read_text()
    ET.parse(tmp_path / "j")
