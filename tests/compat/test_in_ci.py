"""The check where changes are reviewed: the action, the workflow and the hook."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import tiers
from acpgen.config.docs_inputs import is_docs_input
from compat.protocols import ROOT, Schema, go, protocol

ACTION = ROOT / ".github" / "actions" / "compat"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit of a small schema and a command `acpgen` of its own."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "acpgen"
    ran = f"echo x >>{tmp_path / 'bin' / 'runs'}"
    command.write_text(f'#!/bin/sh\n{ran}\nPYTHONPATH={ROOT / "generator"} exec {sys.executable} -P -m acpgen "$@"\n')
    command.chmod(0o755)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "s.json").write_text(json.dumps(protocol({})))
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "s.json")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def compare(repository: Path, **inputs: str) -> tuple[int, str, str, str]:
    """What the action does: exit code, log, summary and outputs."""
    summary, output = repository / "summary.md", repository / "output"
    defaults = {
        "NEW": "s.json",
        "MODE": "protocol",
        "FAIL_ON": "risky",
        "FAIL_ON_BINDINGS": "never",
        "MERGE_BASE": "true",
        "REPAIR": "true",
    }
    empty = dict.fromkeys(("OLD", "WAIVERS", "REPORT", "SARIF", "COMMENT", "HEAD_SHA"), "")
    environment = {
        **os.environ,
        **defaults,
        **empty,
        "BASE": git(repository, "rev-parse", "HEAD"),
        "PATH": f"{repository / 'bin'}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_OUTPUT": str(output),
        **inputs,
    }
    for path in (summary, output):
        path.unlink(missing_ok=True)
    done = subprocess.run(
        ["bash", str(ACTION / "compare")], cwd=repository, env=environment, capture_output=True, text=True, check=False
    )
    texts = [path.read_text() if path.exists() else "" for path in (summary, output)]
    return done.returncode, done.stdout + done.stderr, texts[0], texts[1]


def break_it(repository: Path) -> None:
    fields = {"id": {"type": "string"}, "cwd": {"type": "string"}}
    (repository / "s.json").write_text(json.dumps(protocol({"GoRequest": go(fields, ("id", "cwd"))})))


def test_the_action_annotates_summarises_and_fails_at_a_breaking_change(repository: Path) -> None:
    break_it(repository)
    code, log, summary, output = compare(repository, REPORT="report.html")
    assert code == 1, log
    assert "::error file=s.json,line=" in log
    assert summary.startswith("### Compatibility of")
    assert output == "exit-code=1\nverdict=breaking\n"
    assert (repository / "report.html").exists()


def test_the_action_suggests_repairs_unless_it_is_told_not_to(repository: Path) -> None:
    break_it(repository)
    _, log, summary, _ = compare(repository)
    assert "```suggestion" in summary
    assert "Make 'cwd' optional" in log
    _, _, summary, _ = compare(repository, REPAIR="false")
    assert "```suggestion" not in summary


def test_the_action_runs_the_check_once_for_all_reports(repository: Path) -> None:
    break_it(repository)
    code, log, _, _ = compare(repository, REPORT="r/report.html", SARIF="r/report.sarif", COMMENT="r/comment.md")
    assert code == 1, log
    assert (repository / "bin" / "runs").read_text() == "x\n"
    assert sorted(path.name for path in (repository / "r").iterdir()) == ["comment.md", "report.html", "report.sarif"]


def test_the_log_obeys_nothing_that_a_schema_says(repository: Path) -> None:
    fields = {"id": {"type": "string"}, "::set-output name=a::b\n::error::c": {"type": "string"}}
    (repository / "s.json").write_text(json.dumps(protocol({"GoRequest": go(fields, tuple(fields))})))
    code, log, _, _ = compare(repository)
    assert code == 1, log
    before, quiet, rest = log.partition("::stop-commands::")
    assert quiet
    assert "\n::error::c" not in before
    assert rest.rstrip().endswith(f"::{rest.split()[0]}::")


@pytest.mark.parametrize("new", tiers.sample(["nope.json", "acp/v9"], 1))
def test_a_wrong_name_is_no_new_schema(repository: Path, new: str) -> None:
    code, log, _, output = compare(repository, NEW=new)
    assert code == 2, log
    assert "error: " in log and "there is no " in log
    assert output == "exit-code=2\n"


def test_a_defect_of_the_tool_is_no_finding(repository: Path) -> None:
    (repository / "bin" / "acpgen").write_text(
        f"#!/bin/sh\nPYTHONPATH={ROOT / 'generator'} exec {sys.executable} -c '"
        "import acpgen.compat.compare as c, acpgen.cli as cli, acpgen.compat.command as command, sys\n"
        "def bad(*a, **k): raise KeyError(1)\n"
        "command.read_inputs = bad\n"
        'cli.main()\' "$@"\n'
    )
    code, log, summary, output = compare(repository)
    assert (code, summary, output) == (2, "", "exit-code=2\n"), log
    assert "this is a defect of acpgen (KeyError)" in log


def commit(repository: Path, schema: Schema, message: str = "more") -> str:
    (repository / "s.json").write_text(json.dumps(schema))
    git(repository, "commit", "-q", "-a", "-m", message)
    return git(repository, "rev-parse", "HEAD")


def grow(*names: str) -> Schema:
    return protocol({"GoRequest": go({name: {"type": "string"} for name in ("id", *names)}, ("id",))})


def moved_on(repository: Path) -> str:
    """A branch `work` that leaves the schema as it is, beside a main that has gained a field. Returns main's commit."""
    git(repository, "checkout", "-q", "-b", "work")
    (repository / "other.txt").write_text("x")
    git(repository, "add", "other.txt")
    git(repository, "commit", "-q", "-m", "other")
    git(repository, "checkout", "-q", "main")
    main = commit(repository, grow("cwd"))
    git(repository, "checkout", "-q", "work")
    return main


def test_a_branch_that_touches_nothing_is_identical_whatever_main_has_gained(repository: Path) -> None:
    main = moved_on(repository)
    code, log, _, output = compare(repository, BASE=main)
    assert (code, output) == (0, "exit-code=0\nverdict=identical\n"), log
    code, _, _, output = compare(repository, BASE=main, MERGE_BASE="false")
    assert (code, output) == (1, "exit-code=1\nverdict=breaking\n")


def test_a_merge_of_the_pull_request_is_compared_with_what_it_is_merged_into(repository: Path) -> None:
    old_main = git(repository, "rev-parse", "HEAD")
    moved_on(repository)
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "work")
    code, log, _, output = compare(repository, BASE=old_main, HEAD_SHA=head)
    assert (code, output) == (0, "exit-code=0\nverdict=identical\n"), log


@pytest.mark.parametrize("checkout", tiers.sample(["merge", "head"], 1))
def test_a_shallow_clone_fetches_what_the_comparison_needs(repository: Path, tmp_path: Path, checkout: str) -> None:
    main = moved_on(repository)
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "-b", "merged", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "work")
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    clone = tmp_path / "clone"
    branch = "merged" if checkout == "merge" else "work"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch", branch, repository.as_uri(), str(clone))
    shutil.copytree(repository / "bin", clone / "bin", symlinks=True)
    code, log, _, output = compare(clone, BASE=main, HEAD_SHA=head)
    assert (code, output) == (0, "exit-code=0\nverdict=identical\n"), log


def test_a_shallow_clone_that_cannot_fetch_says_what_to_do(repository: Path, tmp_path: Path) -> None:
    main = moved_on(repository)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", repository.as_uri(), str(clone))
    shutil.copytree(repository / "bin", clone / "bin", symlinks=True)
    git(clone, "remote", "remove", "origin")
    for base in ("main", main):
        git(clone, "branch", "-f", "main", main)
        code, log, _, output = compare(clone, BASE=base)
        assert (code, output) == (2, "exit-code=2\n"), log
        assert "fetch-depth: 0" in log


def test_the_first_commit_has_nothing_before_it(repository: Path) -> None:
    code, log, summary, _ = compare(repository, BASE="0" * 40)
    assert code == 0, log
    assert "no commit before" in summary


def test_the_first_push_of_a_branch_is_compared_with_the_commit_before(repository: Path) -> None:
    commit(repository, grow("cwd"))
    code, log, _, output = compare(repository, BASE="0" * 40)
    assert (code, output) == (0, "exit-code=0\nverdict=additive\n"), log


def test_the_action_passes_what_it_is_told_to_pass(repository: Path) -> None:
    assert compare(repository)[0] == 0
    break_it(repository)
    assert compare(repository, FAIL_ON="never")[0] == 0


def test_the_action_has_nothing_to_compare_a_new_schema_with(repository: Path) -> None:
    (repository / "t.json").write_text(json.dumps(protocol({})))
    code, log, summary, _ = compare(repository, NEW="t.json")
    assert code == 0, log
    assert "nothing to compare" in summary


def test_the_action_fails_loudly_where_the_schema_cannot_be_read(repository: Path) -> None:
    (repository / "s.json").write_text("{")
    code, log, _, output = compare(repository)
    assert code == 2
    assert "not JSON" in log
    assert "::error title=acpgen diff::Nothing was compared" in log
    assert output == "exit-code=2\n"


def test_the_action_hands_every_input_to_the_script_and_none_to_the_shell() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    used = json.dumps(action["runs"])
    for name in action["inputs"]:
        assert f"inputs.{name} }}}}" in used
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_no_module_of_the_checkout_runs_in_the_check(repository: Path) -> None:
    for name in ("json", "shlex", "sys", "encodings", "sitecustomize"):
        (repository / f"{name}.py").write_text(
            f"open({str(repository / 'ran')!r}, 'w')\nprint('identical')\nraise SystemExit"
        )
    break_it(repository)
    code, log, _, output = compare(repository)
    assert (code, output) == (1, "exit-code=1\nverdict=breaking\n"), log
    assert not (repository / "ran").exists()


@pytest.mark.parametrize("action", ["compat", "probe"])
def test_the_interpreter_of_an_action_imports_nothing_of_the_checkout(action: str) -> None:
    for path in (ACTION.parent / action).iterdir():
        for call in re.findall(r"\bpython (?!3)(\S+)", path.read_text()):
            assert call == "-I", path


def test_the_workflow_compares_every_protocol_of_the_repository() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "compat.yml").read_text())
    protocols = workflow["jobs"]["compat"]["strategy"]["matrix"]["protocol"]
    folders = {path.parent.relative_to(ROOT / "schema").as_posix() for path in (ROOT / "schema").glob("*/*/*.json")}
    assert set(protocols) == {folder for folder in folders if not is_docs_input(f"{folder}/")}
    assert workflow["permissions"] == {"contents": "read"}


def hook(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What pre-commit runs."""
    hooks = {each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert hooks["acpgen-diff"]["pass_filenames"] is False
    command = [*shlex.split(hooks["acpgen-diff"]["entry"]), *arguments]
    environment = {**os.environ, "PATH": f"{repository / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)


def test_the_hook_asks_what_the_branch_changes_and_no_more(repository: Path) -> None:
    moved_on(repository)
    done = hook(repository, "main:s.json", "s.json")
    assert done.returncode == 0, done.stderr
    assert "IDENTICAL" in done.stdout
    assert "merge base of main and HEAD" in " ".join(done.stdout.split())
    break_it(repository)
    assert hook(repository, "main:s.json", "s.json").returncode == 1


def test_the_hook_lets_a_new_schema_in_and_says_so(repository: Path) -> None:
    (repository / "t.json").write_text(json.dumps(protocol({})))
    done = hook(repository, "main:t.json", "t.json")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "nothing to compare it with" in done.stderr
    for wrong in (("main:t.json", "u.json"), ("nope:t.json", "t.json"), ("u.json", "t.json")):
        done = hook(repository, *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr


def recipe(kind: str) -> str:
    """The recipe of a section of the page."""
    page = (ROOT / "schema" / "pages" / "ci.md").read_text("utf-8")
    return page.partition(f"## {kind}\n")[2].partition("```yaml\n")[2].partition("```")[0]


def test_the_recipe_for_gitlab_reports_what_a_merge_request_changes(repository: Path) -> None:
    job = yaml.safe_load(recipe("GitLab"))["compatibility"]
    main = moved_on(repository)
    script = job["script"][-1].replace("acme/v1", "s.json")
    environment = {
        **os.environ,
        "PATH": f"{repository / 'bin'}:{os.environ['PATH']}",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": main,
    }

    def ran() -> int:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=repository,
            env=environment,
            capture_output=True,
            check=False,
        ).returncode

    quality = repository / job["artifacts"]["reports"]["codequality"]
    assert ran() == 0
    assert json.loads(quality.read_text()) == []
    break_it(repository)
    assert ran() == 1
    (entry,) = json.loads(quality.read_text())
    assert (entry["check_name"], entry["location"]["path"]) == ("required-field-added", "s.json")
    assert all((repository / path).exists() for path in job["artifacts"]["paths"])


def test_the_recipes_name_what_there_is() -> None:
    inputs = yaml.safe_load((ACTION / "action.yml").read_text())["inputs"]
    (step,) = (
        each
        for each in yaml.safe_load(recipe("GitHub"))["jobs"]["compatibility"]["steps"]
        if "compat" in each.get("uses", "")
    )
    assert set(step["with"]) <= set(inputs)
    (hook_,) = yaml.safe_load(recipe("pre-commit"))["repos"][0]["hooks"]
    assert hook_["id"] in {each["id"] for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
