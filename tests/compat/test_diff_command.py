"""`acpgen diff` and `acpgen rules`, as people call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import commands
from compat.protocols import ROOT, go, protocol

SMALL = protocol({})
LARGER = protocol({"GoRequest": go({"id": {"type": "string"}, "cwd": {"type": "string"}}, ("id", "cwd"))})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.json").write_text(json.dumps(SMALL))
    (tmp_path / "b.json").write_text(json.dumps(LARGER))
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = commands.acpgen(arguments, cwd=folder)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_comparison_loads_no_grammar_of_formats(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    command = [sys.executable, "-X", "importtime", "-m", "acpgen", "diff", "--no-cache", "a.json", "b.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode == 1
    assert "jsonschema" in loaded
    assert not {"rfc3987_syntax.syntax_helpers", "lark"} & loaded


def test_exit_codes_say_fine_found_and_unusable(folder: Path) -> None:
    assert run(folder, "diff", "a.json", "a.json").returncode == 0
    assert run(folder, "diff", "a.json", "b.json").returncode == 1
    assert run(folder, "diff", "a.json", "b.json", "--fail-on", "never").returncode == 0
    assert (
        run(folder, "diff", "a.json", "b.json", "--fail-on", "never", "--fail-on-bindings", "breaking").returncode == 1
    )
    for wrong in (["a.json", "c.json"], ["a.json", "b.json", "--mode", "x"], ["a.json", "b.json", "--format", "x"]):
        done = run(folder, "diff", *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.strip()


def test_a_machine_format_stands_alone_on_standard_output(folder: Path) -> None:
    done = run(folder, "diff", "a.json", "b.json", "--format", "json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["verdict"] == "breaking"


def test_a_report_is_written_to_a_file_and_nothing_is_printed(folder: Path) -> None:
    done = run(folder, "diff", "a.json", "b.json", "--format", "html", "--output", "report.html")
    assert (done.stdout, done.stderr) == ("", "")
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert run(folder, "diff", "a.json", "b.json", "--output", "a.json/report.txt").returncode == 2


def test_waivers_are_read_from_the_file_that_is_named(folder: Path) -> None:
    (finding,) = json.loads(run(folder, "diff", "a.json", "b.json", "--format", "json").stdout)["findings"]
    entry = f'[[waiver]]\nrule = "{finding["rule"]}"\nfingerprint = "{finding["fingerprint"]}"\nreason = "x"\nexpires = 9999-12-31\n'
    (folder / "w.toml").write_text(entry)
    assert run(folder, "diff", "a.json", "b.json", "--waivers", "w.toml").returncode == 0


def test_language_mode_asks_about_the_documents_themselves(folder: Path) -> None:
    (folder / "old.json").write_text('{"type": "integer"}')
    (folder / "new.json").write_text('{"type": "integer", "minimum": 0}')
    done = run(folder, "diff", "old.json", "new.json", "--mode", "language", "--format", "json")
    report = json.loads(done.stdout)
    assert (report["verdict"], report["backward"], report["forward"]) == ("breaking", "no", "yes")
    assert report["language"] == {"backward": "no", "forward": "yes"}
    assert report["findings"][0]["witness"]["value"] == -1


@pytest.mark.parametrize("mode", ["protocol", "language"])
def test_a_draft_that_is_not_known_is_a_fault_with_a_hint(folder: Path, mode: str) -> None:
    for name, more in (("old", {}), ("new", {"type": "object"})):
        schema = {"$schema": "https://example.com/own", "properties": {"a": {}}, **more}
        (folder / f"{name}.json").write_text(json.dumps(schema))
    done = run(folder, "diff", "old.json", "new.json", "--mode", mode)
    assert done.returncode == 2 and done.stderr.count("names 'https://example.com/own'") == 2
    done = run(folder, "diff", "old.json", "new.json", "--mode", mode, "--ref", "https://example.com/own=draft-07")
    assert done.returncode == 1 and "breaking" in done.stdout


def test_unstable_parts_are_compared_on_demand(folder: Path) -> None:
    marked = {**LARGER["$defs"]["GoRequest"]}
    marked["properties"] = {**marked["properties"], "cwd": {"type": "string", "x-unstable": True}}
    (folder / "c.json").write_text(json.dumps(protocol({"GoRequest": {**marked, "required": ["id", "cwd"]}})))
    assert run(folder, "diff", "a.json", "c.json").returncode == 0
    assert run(folder, "diff", "a.json", "c.json", "--unstable").returncode == 1


def test_rules_are_listed_in_three_formats(folder: Path) -> None:
    texts = {name: run(folder, "rules", "--format", name).stdout for name in ("text", "json", "markdown")}
    ids = [entry["id"] for entry in json.loads(texts["json"])]
    assert all(f"\n## {name}\n" in texts["markdown"] for name in ids)
    assert all(name in texts["text"] for name in ids)
    assert run(folder, "rules", "--format", "x").returncode == 2


def test_one_run_writes_several_reports(folder: Path) -> None:
    wanted = [
        "--output",
        "text=-",
        "--output",
        "html=out/report.html",
        "--output",
        "sarif=report.sarif",
        "--output",
        "x=y.json",
    ]
    done = run(folder, "diff", "a.json", "b.json", *wanted[:-2], "--output", "json=./x=y.json")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("a.json → b.json")
    assert (folder / "out" / "report.html").read_text().startswith("<!doctype html>")
    assert json.loads((folder / "report.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((folder / "x=y.json").read_text())["verdict"] == "breaking"
    quiet = run(folder, "diff", "a.json", "b.json", "--output", "json=only.json")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (1, "", "")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            ["--output", "htm=r"],
            "--output: there is no format 'htm'.\nhint: Did you mean 'html'? Known names: 'badge', ",
        ),
        (["--output", "html="], "--output: 'html=' must be FORMAT=FILE"),
        (["--output", "json"], "--output: 'json' must be FORMAT=FILE such as json=report.json"),
        (["--output", "new.HTML"], "--output: 'new.HTML' must be 'html=new.HTML', or --format beside it"),
        (["--output", "text=-", "--output", "-"], "a place of its own"),
        (["--output", "html=r", "--output", "json=./r"], "a place of its own"),
        (["--output", "html=r", "--format", "json"], "--format: 'json' must be left out"),
    ],
)
def test_outputs_that_cannot_be_meant_are_faults_and_nothing_is_written(
    folder: Path, wanted: list[str], said: str
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done = run(folder, "diff", "a.json", "b.json", *wanted)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    "output", ["json=b.json", "html=./b.json", "json=a.json", "json=part.json", "compat-waivers.toml", "pyproject.toml"]
)
def test_no_report_is_written_over_what_is_compared_or_accepts_findings(folder: Path, output: str) -> None:
    (folder / "compat-waivers.toml").write_text("")
    (folder / "pyproject.toml").write_text("[tool.acpgen.compat]\n")
    (folder / "part.json").write_text('{"type": "string"}')
    (folder / "b.json").write_text(json.dumps({**LARGER, "$defs": {**LARGER["$defs"], "Part": {"$ref": "part.json"}}}))
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = run(folder, "diff", "a.json", "b.json", "--output", output)
    assert (done.returncode, done.stdout) == (2, "")
    assert "must be another file than those that are read" in done.stderr
    told = run(folder, "history", "a.json", "b.json", "--output", "json=b.json")
    assert (told.returncode, told.stdout) == (2, "")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("command", ["diff", "history"])
def test_where_one_report_cannot_be_written_none_is(folder: Path, command: str) -> None:
    (folder / "r.txt").write_text("as it was")
    wanted = [
        "--output",
        "text=r.txt",
        "--output",
        "json=new.json",
        "--output",
        "html=a.json/r.html",
        "--output",
        "markdown=-",
    ]
    done = run(folder, command, "a.json", "b.json", *wanted)
    assert (done.returncode, done.stdout) == (2, "")
    assert "a.json/r.html: it cannot be written" in done.stderr
    assert (folder / "r.txt").read_text() == "as it was"
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "b.json", "r.txt"]
    assert run(folder, command, "a.json", "b.json", "--output", ".").returncode == 2


def test_a_reader_that_goes_away_changes_no_exit_code(folder: Path) -> None:
    command = f"{sys.executable} -m acpgen diff a.json b.json --format json; echo $? >code"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    done = subprocess.run(
        ["bash", "-c", f"({command}) | true"], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    assert (folder / "code").read_text() == "1\n", done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("instead", "told"),
    [
        ("None", "error: this is a defect of acpgen (TypeError)"),
        ("lambda *_, **__: bytearray(1 << 62)", "error: the memory that this process may have is used up."),
    ],
)
def test_what_ends_a_command_is_told_and_is_no_finding(folder: Path, instead: str, told: str) -> None:
    broken = f"import acpgen.compat.command as c, acpgen.cli, sys; c.read_inputs = {instead}"
    code = f"{broken}; sys.argv[1:] = ['diff', 'a.json', 'b.json']; acpgen.cli.main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-2].startswith(told)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/Nope"},
        {"$ref": "nope.json"},
        {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
    ],
    ids=["dangling", "missing-file", "loop"],
)
@pytest.mark.parametrize("names", [("old/schema.json", "new/schema.json"), ("old", "new")], ids=["files", "folders"])
def test_faults_name_the_files_as_they_were_given(tmp_path: Path, names: tuple[str, str], schema: object) -> None:
    for name, value in (("old", SMALL), ("new", schema)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "schema.json").write_text(json.dumps(value))
    done = run(tmp_path, "diff", *names)
    assert done.returncode == 2
    assert done.stderr.startswith("error: new/schema.json:"), done.stderr


def test_the_merge_base_needs_a_revision(folder: Path) -> None:
    done = run(folder, "diff", "a.json", "b.json", "--merge-base")
    assert (done.returncode, done.stdout) == (2, "")
    assert "a.json: '--merge-base' cannot be used: OLD names no git revision" in done.stderr


def test_a_project_without_outputs_is_compared(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.acpgen]\n")
    (folder / "schema/acme/v1").mkdir(parents=True)
    (folder / "schema/acme/v1/s.json").write_text(json.dumps(SMALL))
    assert run(folder, "diff", "acme/v1", "acme/v1").returncode == 0
    assert "tool.acpgen.outputs must be" in run(folder, "generate").stderr


def test_a_finding_is_accepted_from_the_command_line(folder: Path) -> None:
    (finding,) = json.loads(run(folder, "diff", "a.json", "b.json", "--format", "json").stdout)["findings"]
    decided = ("--waive", finding["fingerprint"], "--reason", "Nobody has it.", "--until", "9999-12-31")
    (folder / "compat-waivers.toml").write_text("# ours\n")
    refused = run(folder, "diff", "a.json", "b.json", *decided, "--waive", "x")
    assert (refused.returncode, (folder / "compat-waivers.toml").read_text()) == (2, "# ours\n")
    unwritable = run(folder, "diff", "a.json", "b.json", *decided, "--output", "a.json/x")
    assert (unwritable.returncode, (folder / "compat-waivers.toml").read_text()) == (2, "# ours\n")
    done = run(folder, "diff", "a.json", "b.json", *decided)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Waived until 9999-12-31: Nobody has it." in done.stdout
    assert (folder / "compat-waivers.toml").read_text().startswith("# ours\n\n[[waiver]]\nrule = ")
    assert run(folder, "diff", "a.json", "b.json").returncode == 0
    assert run(folder, "diff", "a.json", "b.json", *decided).returncode == 2
    other = run(folder, "diff", "a.json", "b.json", *decided, "--waivers", "w.toml")
    assert (other.returncode, (folder / "w.toml").exists()) == (0, True)
    assert run(folder, "diff", "a.json", "b.json", "--waivers", "none.toml").returncode == 2


def test_repairs_are_written_and_what_is_left_is_reported(folder: Path) -> None:
    before = json.dumps(LARGER, indent=3) + "\n"
    (folder / "b.json").write_text(before)
    shown = run(folder, "diff", "a.json", "b.json", "--repair", "--format", "json")
    assert json.loads(shown.stdout)["fix"]["verdict"] == "additive"
    assert shown.returncode == 1
    dry = run(folder, "diff", "a.json", "b.json", "--fix", "--dry-run")
    assert dry.returncode == 1
    assert dry.stdout.startswith("--- b.json\n+++ b.json\n@@ ")
    assert (folder / "b.json").read_text() == before
    done = run(folder, "diff", "a.json", "b.json", "--fix", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["verdict"] == "additive"
    assert "Make 'cwd' optional." in done.stderr
    assert done.stderr.endswith("Written: b.json.\n")
    changed = set(before.splitlines()) ^ set((folder / "b.json").read_text().splitlines())
    assert {line.strip(' ,"') for line in changed} == {"cwd", "id"}
    again = run(folder, "diff", "a.json", "b.json", "--fix")
    assert (again.returncode, again.stderr) == (0, "Nothing was written.\n")


def test_suggestions_stand_in_fences_on_the_lines_that_change(folder: Path) -> None:
    (folder / "b.json").write_text(json.dumps(LARGER, indent=2))
    text = run(folder, "diff", "a.json", "b.json", "--repair", "--format", "markdown").stdout
    assert "```suggestion" in text
    commands = run(folder, "diff", "a.json", "b.json", "--repair", "--format", "github").stdout
    lines = (folder / "b.json").read_text().splitlines()
    first = next(index for index, line in enumerate(lines, 1) if line.strip() == '"id",')
    assert f"::notice file=b.json,line={first},endLine={first + 1},title=repair" in commands


def test_a_dry_run_needs_fix(folder: Path) -> None:
    done = run(folder, "diff", "a.json", "b.json", "--dry-run")
    assert done.returncode == 2
    assert "--dry-run needs --fix" in done.stderr


def test_rules_show_what_the_policy_of_the_project_says_of_them(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.acpgen.compat]\npromise = { agent = "backward" }\nformats = "asserted"\n'
        '[[tool.acpgen.compat.severity]]\nrule = "field-removed"\nat = "s/go"\nseverity = "risky"\nreason = "Nobody reads it."\n'
        '[tool.acpgen.compat.experimental]\n"s/new" = "The proposal is open."\n'
        '[tool.acpgen.compat.deprecated]\n"s/old" = { sunset = 2027-01-31, reason = "s/go does it." }\n'
    )
    text = " ".join(run(folder, "rules").stdout.split())
    for said in (
        "promise: backward to agent, full to all others",
        "experimental: s/new: The proposal is open.",
        "→ Here at s/go: risky. Nobody reads it.",
        "→ Here at s/old: additive. from 2027-01-31 on: s/go does it.",
        "formats: asserted",
    ):
        assert said in text
    assert "Here at s/go: risky." in run(folder, "rules", "--format", "markdown").stdout
    entries = {each["id"]: each for each in json.loads(run(folder, "rules", "--format", "json").stdout)}
    assert entries["field-removed"]["severities"] == ["breaking"]
    assert entries["field-removed"]["policy"][0] == {"at": "s/go", "severity": "risky", "reason": "Nobody reads it."}
    assert entries["text-reworded"]["policy"] == []
    one = run(folder, "rules", "field-removed")
    assert one.stdout.startswith("field-removed\n\n")
    assert "```" not in one.stdout
    assert "Here at s/go: risky." in one.stdout
    assert "\n\nBad\n\n" in one.stdout
    wrong = run(folder, "rules", "field-remove")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Did you mean 'field-removed'?" in wrong.stderr
    (folder / "pyproject.toml").write_text('[tool.acpgen.compat]\npromise = "x"\n')
    assert run(folder, "rules").returncode == 2
