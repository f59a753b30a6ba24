"""`acpgen history` on repositories, releases and files."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import commands
from acpgen.compat import history_report
from acpgen.compat.history.history_command import compare_history
from acpgen.compat.history.revision_sources import HistoryOptions
from acpgen.compat.history.timeline import Timeline
from acpgen.diagnostics.outputs import parse_destinations
from acpgen.errors import FaultKind, Faults
from acpgen.input.faults import BAD_SETTING, NO_REVISION, NOT_FOUND
from acpgen.input.git_revisions import locate, log
from compat.protocols import Schema, go, protocol, validates

SMALL = protocol({})
GROWN = protocol({"GoRequest": go({"id": {"type": "string"}, "cwd": {"type": "string"}}, ("id",))})
BROKEN = protocol({"GoRequest": go({"id": {"type": "string"}, "cwd": {"type": "string"}}, ("id", "cwd"))})

SHAPE = json.loads((Path(history_report.__file__).parent / "history_report.schema.json").read_text("utf-8"))


def git(folder: Path, *arguments: str, day: str = "2026-01-01") -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    dates = {"GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, env={**os.environ, **dates}
    )
    return done.stdout.decode().strip()


def commit(folder: Path, path: str, schema: Schema | str, subject: str, day: str = "2026-01-01") -> str:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(schema if isinstance(schema, str) else json.dumps(schema, indent=2))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", subject, day=day)
    return git(folder, "rev-parse", "HEAD")[:10]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of(path: str, *given: str, **options: Any) -> Timeline:
    return compare_history(HistoryOptions(given=given, path=path, **options))


def verdicts(found: Timeline) -> list[str]:
    return [each.report.verdict if each.report is not None else "not compared" for each in found.steps]


def test_a_schema_is_followed_through_all_its_moves(repository: Path) -> None:
    text = json.dumps(SMALL, indent=2)
    stream = [
        f"commit refs/heads/main\ncommitter t <t@t> {1_700_000_000 + number} +0000\ndata 4\nmove\n"
        f"deleteall\nM 644 inline s{number}.json\ndata {len(text)}\n{text}\n"
        for number in range(60)
    ]
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repository, check=True, input="".join(stream).encode())
    assert len(log(locate("main", [Path("s59.json")])).commits) == 60


def test_the_commits_that_changed_a_schema_are_compared_and_the_first_that_broke_it_is_named(repository: Path) -> None:
    commit(repository, "s/a.json", SMALL, "one")
    commit(repository, "other.txt", "x", "not the schema")
    commit(repository, "s/a.json", GROWN, "two")
    third = commit(repository, "s/a.json", BROKEN, "three")
    git(repository, "tag", "v2.0.0")
    found = of("s", "main")
    assert [each.subject for each in found.milestones] == ["one", "two", "three"]
    assert verdicts(found) == ["additive", "breaking"]
    (grave,) = (each for each in found.origins if each.severity == "breaking")
    assert (grave.rule, grave.new) == ("required-field-added", third)
    assert found.milestones[-1].tags == ("v2.0.0",)
    assert of("s/a.json").steps == of("s/a.json", "HEAD").steps


def test_commits_that_change_only_what_a_file_refers_to_are_steps(repository: Path) -> None:
    part = {"$defs": {"Text": {"type": "string"}}}
    refers = protocol({"GoRequest": go({"id": {"$ref": "parts/text.json#/$defs/Text"}}, ("id",))})
    commit(repository, "s/parts/text.json", part, "before there was a schema")
    commit(repository, "s/a.json", refers, "one")
    commit(repository, "s/parts/other.json", part, "not referred to")
    short = commit(repository, "s/parts/text.json", {"$defs": {"Text": {"type": "string", "maxLength": 9}}}, "shorter")
    found = of("s/a.json", "main")
    assert [each.subject for each in found.milestones] == ["one", "shorter"]
    assert verdicts(found) == ["breaking"]
    assert {each.new for each in found.origins} == {short}
    assert "s/parts/text.json" in " ".join(found.notes)
    assert verdicts(of("s", "main"))[-1] == "breaking"


def test_a_commit_that_cannot_be_read_is_a_row_with_the_reason(repository: Path) -> None:
    commit(repository, "a.json", SMALL, "one")
    commit(repository, "a.json", "{", "no JSON")
    (repository / "a.json").unlink()
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "gone")
    commit(repository, "a.json", BROKEN, "back")
    found = of("a.json", "main")
    assert ["".join(each.unread).partition(": ")[0] for each in found.milestones] == [
        "",
        f"{found.milestones[1].name}:a.json:1:2",
        f"{found.milestones[2].name}:a.json",
        "",
    ]
    assert verdicts(found) == ["breaking"]
    assert found.fails("breaking")


def test_a_merge_is_one_step_whatever_its_branch_did(repository: Path) -> None:
    commit(repository, "a.json", SMALL, "one")
    git(repository, "switch", "-q", "-c", "side")
    commit(repository, "a.json", BROKEN, "broken")
    commit(repository, "a.json", GROWN, "mended")
    git(repository, "switch", "-q", "main")
    commit(repository, "b.txt", "x", "elsewhere")
    git(repository, "merge", "-q", "--no-ff", "-m", "merged", "side")
    found = of("a.json", "main")
    assert [each.subject for each in found.milestones] == ["one", "merged"]
    assert verdicts(found) == ["additive"]
    assert "1 here" in " ".join(found.notes)


def test_a_schema_is_followed_to_where_it_stood_before(repository: Path) -> None:
    commit(repository, "old/a.json", SMALL, "one")
    commit(repository, "old/a.json", GROWN, "two")
    (repository / "new").mkdir()
    git(repository, "mv", "old", "new/v1")
    git(repository, "commit", "-q", "-m", "moved")
    commit(repository, "new/v1/a.json", BROKEN, "three")
    for path in ("new/v1", "new/v1/a.json"):
        found = of(path, "main")
        assert [each.subject for each in found.milestones] == ["one", "two", "moved", "three"]
        assert verdicts(found) == ["additive", "identical", "breaking"]
        (note,) = found.notes
        assert f"from {path.replace('new/v1', 'old')} to {path}" in note


def test_ranges_dates_and_limits_say_what_they_leave_out_and_begin_with_the_state_before(repository: Path) -> None:
    names: list[str] = []
    for number, schema in enumerate((SMALL, GROWN, BROKEN, GROWN, SMALL)):
        names.append(commit(repository, "a.json", schema, f"c{number}", f"2026-01-0{number + 1}"))
        commit(repository, "other.txt", str(number), "elsewhere", f"2026-01-0{number + 1}")
    whole = of("a.json", "main")
    assert len(whole.milestones) == 5
    assert not whole.notes
    for found, subjects, left in (
        (of("a.json", f"{names[1]}..main"), ["c1", "c2", "c3", "c4"], "1 earlier"),
        (of("a.json", f"{names[1]}.."), ["c1", "c2", "c3", "c4"], "1 earlier"),
        (of("a.json", "main", since="2026-01-04"), ["c2", "c3", "c4"], "2 earlier"),
        (of("a.json", "main", limit=2), ["c3", "c4"], "3 earlier"),
        (of("a.json", "main~5..main", limit=3), ["c2", "c3", "c4"], "2 earlier"),
    ):
        assert [each.subject for each in found.milestones] == subjects
        assert left in " ".join(found.notes)
        assert "left out by --limit, --since or a range" in " ".join(found.notes)


def test_a_protocol_of_the_project_is_read_from_its_folder_at_each_commit(repository: Path) -> None:
    (repository / "pyproject.toml").write_text(
        '[tool.acpgen.outputs.out]\ntarget = "bundle"\nprotocols = ["acme/v1"]\n'
    )
    commit(repository, "schema/acme/v1/a.json", SMALL, "one")
    commit(repository, "schema/acme/v1/a.json", BROKEN, "two")
    assert verdicts(of("acme/v1", "main")) == ["breaking"]
    assert verdicts(compare_history(HistoryOptions(("acme/v1",)))) == ["breaking"]  # no release is kept
    releases = repository / "schema" / "releases" / "acme" / "v1"
    releases.mkdir(parents=True)
    for name, schema in (("1.0.0", SMALL), ("1.1.0", GROWN)):
        (releases / f"{name}.json").write_text(json.dumps(schema))
    (releases / "index.json").write_text('{"about": "", "versions": ["1.0.0", "1.1.0"]}')
    kept = compare_history(HistoryOptions(("acme/v1",)))
    assert [each.name for each in kept.milestones] == ["1.0.0", "1.1.0"]
    assert kept.steps[0].bump.is_enough
    index = '{"about": "", "versions": ["1.0.0", "1.1.0"], "titles": {"1.1.0": "Public preview"}}'
    (releases / "index.json").write_text(index)
    titled = compare_history(HistoryOptions(("acme/v1",)))
    assert [each.label for each in titled.milestones] == ["1.0.0", "Public preview"]
    assert [each.name for each in titled.milestones] == ["1.0.0", "1.1.0"] and titled.steps[0].bump.is_enough


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (HistoryOptions(("acme/v1",)), "schema/acme/v1/a.json"),
        (HistoryOptions(("acme/v1",)), "schema/releases/acme/v1/1.0.0.json"),
        (HistoryOptions(("acme/v1",)), "schema/releases/acme/v1/index.json"),
        (HistoryOptions(("main",), "acme/v1"), "schema/acme/v1/a.json"),
        (HistoryOptions(("main",), "schema/acme/v1"), "schema/acme/v1/../v1/a.json"),
        (HistoryOptions(("main:acme/v1", "schema/acme/v1")), "schema/acme/v1/a.json"),
        (HistoryOptions(("main:schema/acme/v1/a.json", "b.json")), "schema/acme/v1/a.json"),
        (HistoryOptions(("b.json", "b.json")), "part.json"),
        (HistoryOptions(("b.json", "b.json"), waivers=Path("w.toml")), "w.toml"),
        (HistoryOptions(("b.json", "b.json"), references={"https://example.com/part": "part.json"}), "part.json"),
        (HistoryOptions(("b.json", "b.json"), methods="p.json"), "p.json"),
        (HistoryOptions(("main",), "acme/v1"), "pyproject.toml"),
    ],
)
def test_no_history_is_written_over_what_is_compared(repository: Path, options: HistoryOptions, output: str) -> None:
    (repository / "pyproject.toml").write_text(
        '[tool.acpgen.outputs.out]\ntarget = "bundle"\nprotocols = ["acme/v1"]\n'
    )
    (repository / "part.json").write_text("{}")
    (repository / "p.json").write_text('{"sides": ["agent", "client"], "marked": true}')
    (repository / "w.toml").write_text("")
    (repository / "b.json").write_text(json.dumps({**SMALL, "$defs": {"Part": {"$ref": "part.json"}}}))
    commit(repository, "schema/acme/v1/a.json", SMALL, "one")
    releases = repository / "schema" / "releases" / "acme" / "v1"
    releases.mkdir(parents=True)
    (releases / "1.0.0.json").write_text(json.dumps(SMALL))
    (releases / "index.json").write_text('{"about": "", "versions": ["1.0.0"]}')
    with pytest.raises(Faults, match="must be another file than those that are read"):
        compare_history(replace(options, destinations=parse_destinations(["-", f"html={output}"], None)))
    compare_history(replace(options, destinations=parse_destinations(["report.txt"], None)))


def test_files_are_compared_in_the_order_given_and_waivers_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, schema in (("a", SMALL), ("b", BROKEN), ("c", BROKEN)):
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
    found = compare_history(HistoryOptions(("a.json", "b.json", "c.json")))
    assert verdicts(found) == ["breaking", "identical"]
    assert [each.name for each in compare_history(HistoryOptions(("a.json", "b.json", "a.json"))).milestones] == [
        "a.json (1)",
        "b.json",
        "a.json (3)",
    ]
    assert found.steps[0].report is not None
    (finding,) = found.steps[0].report.findings
    (tmp_path / "w.toml").write_text(
        f'[[waiver]]\nrule = "{finding.rule}"\nfingerprint = "{finding.fingerprint}"\nreason = "x"\nexpires = 9999-12-31\n'
    )
    assert found.fails("breaking")
    assert not compare_history(HistoryOptions(("a.json", "b.json"), waivers=tmp_path / "w.toml")).fails("breaking")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (HistoryOptions(("main",), "nothing.json"), NOT_FOUND),
        (HistoryOptions(("nowhere",), "a.json"), NO_REVISION),
        (HistoryOptions(("--all",), "a.json"), NO_REVISION),
        (HistoryOptions(("nowhere..main",), "a.json"), NO_REVISION),
        (HistoryOptions(("main", "more"), "a.json"), BAD_SETTING),
        (HistoryOptions(("a.json", "nothing.json")), NOT_FOUND),
        (HistoryOptions(("a.json", "a.json"), since="2026-01-01"), BAD_SETTING),
        (HistoryOptions(("main",), "a.json", since="blurb"), BAD_SETTING),
        (HistoryOptions(("main",), "a.json", since="2026-13-45"), BAD_SETTING),
        (HistoryOptions(("main",), "a.json", since="9999-01-01"), BAD_SETTING),
    ],
    ids=lambda value: "" if isinstance(value, HistoryOptions) else value.id,
)
def test_what_cannot_be_asked_is_a_fault(repository: Path, options: HistoryOptions, fault: FaultKind) -> None:
    commit(repository, "a.json", SMALL, "one")
    with pytest.raises(Faults) as caught:
        compare_history(options)
    assert caught.value.faults[0].kind == fault, caught.value


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = commands.acpgen(["history", *arguments], cwd=folder)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_the_command_prints_a_history_and_its_exit_code_says_what_counts(repository: Path) -> None:
    commit(repository, "a.json", SMALL, "one")
    commit(repository, "a.json", GROWN, "two")
    assert run(repository, "main", "--", "a.json").returncode == 0
    commit(repository, "a.json", BROKEN, "three")
    done = run(repository, "main", "--", "a.json", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    value = json.loads(done.stdout)
    assert validates(SHAPE, value)
    assert [each["verdict"] for each in value["steps"]] == ["additive", "breaking"]
    assert run(repository, "--fail-on", "never", "--", "a.json").returncode == 0
    several = run(
        repository, "main", "--output", "html=h.html", "--output", "json=h.json", "--output", "-", "--", "a.json"
    )
    assert several.returncode == 1 and "breaking" in several.stdout
    assert (repository / "h.html").read_text().startswith("<!doctype html>")
    assert json.loads((repository / "h.json").read_text()) == value
    for unsaid in (("--output", "h.html"), ("--format", "xml"), ("--output", "xml=h.xml")):
        assert run(repository, "main", *unsaid, "--", "a.json").returncode == 2, unsaid
    for wrong in ((), ("main", "--"), ("main", "--", "b.json"), ("--", "a.json", "--limit", "0")):
        done = run(repository, *wrong)
        assert (done.returncode, done.stdout) == (2, ""), wrong
        assert done.stderr


def test_a_branch_without_a_path_is_told_how_to_name_one(repository: Path) -> None:
    commit(repository, "a.json", SMALL, "one")
    done = run(repository, "main")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: main: a revision must be followed by what is compared.\n"
        "hint: Write: acpgen history main -- and a protocol, file or folder.\n"
    )


def test_a_shallow_clone_and_a_repository_without_commits_are_told(repository: Path) -> None:
    assert run(repository, "--", "a.json").returncode == 2
    commit(repository, "a.json", SMALL, "one")
    commit(repository, "a.json", BROKEN, "two")
    git(repository, "clone", "-q", "--depth", "1", f"file://{repository}", str(repository / "shallow"))
    done = run(repository / "shallow", "--", "a.json")
    assert done.returncode == 0
    assert "shallow" in done.stdout


def test_a_budget_bounds_the_proofs_of_each_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, schema in (("a", SMALL), ("b", BROKEN)):
        Path(f"{name}.json").write_text(json.dumps(schema))
    (stride,) = compare_history(HistoryOptions(("a.json", "b.json"))).steps
    assert stride.report is not None
    assert stride.report.verdict == "breaking"
    (stride,) = compare_history(HistoryOptions(("a.json", "b.json"), budget=1)).steps
    assert stride.report is not None
    assert stride.report.verdict == "undecided"
    assert any("budget" in each.message for each in stride.report.findings)
