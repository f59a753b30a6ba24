"""The files around the code: what a reader, a fresh machine and a host for CI rely on."""

from __future__ import annotations

import importlib
import os
import posixpath
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from click.testing import CliRunner
from packaging.requirements import Requirement

from acpgen import __version__, config
from test_docs import anchors, links

ROOT = Path(__file__).parents[1]
check_jsonschema: Any = importlib.import_module("check_jsonschema")  # it comes without types


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def shell_blocks() -> list[str]:
    """The fenced blocks of the README that a shell can run."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", read("README.md"), re.MULTILINE | re.DOTALL)
    return [body for language, body in fenced if language in ("", "sh", "bash", "shell", "console", "zsh")]


def pyproject() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))


def files() -> list[Path]:
    """Files that are ours to publish."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("this is not a git checkout")
    return [ROOT / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]


# --- README and CI ---------------------------------------------------------------------------------------------------


def test_the_readme_has_exactly_two_shell_blocks_install_then_set_up_and_test() -> None:
    first, second = shell_blocks()
    assert first.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert first.rstrip().endswith("-e generator/acp-session")
    assert second.startswith("python3 -m venv .venv && .venv/bin/pip install")
    set_up, test = second.splitlines()
    assert set_up.endswith(".venv/bin/python tests/evidence.py")
    assert test.startswith(".venv/bin/pytest")


def test_the_blocks_of_the_readme_are_shell(tmp_path: Path) -> None:
    for block in shell_blocks():
        subprocess.run(["bash", "-n", "-c", block], cwd=tmp_path, check=True)


def test_ci_finds_the_blocks_of_the_readme_and_runs_every_check() -> None:
    script = read(".ci/run")
    subprocess.run(["bash", "-n", str(ROOT / ".ci/run")], check=True)
    awk = re.search(r"^block\(\) \{\n.*?^\}$", script, re.MULTILINE | re.DOTALL)
    assert awk is not None
    for number, block in enumerate(shell_blocks(), 1):
        found = subprocess.run(
            ["bash", "-c", f"{awk.group()}\nblock {number}"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert found.stdout == block
    tests = script.index("$(block 2 | tail -n 1)")
    for step in (
        "ruff check",
        "ruff format --check",
        "bin/mypy",
        "bin/pyright",
        "acpgen lint",
        "acpgen generate --check",
    ):
        assert script.index("$(block 2 | sed '$d')") < script.index(step) < tests
    assert script.index("export CI=") < tests < script.index('-m exhaustive --slice "$(tenth)"')
    assert script.endswith('tail -n 1 "$log"\n'), "the summary of the tests comes last"
    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert script.splitlines()[3] == "set -euo pipefail"


@pytest.mark.parametrize("schema", ["vendor.github-workflows", "custom.github-workflows-require-timeout"])
def test_the_host_understands_every_workflow(schema: str) -> None:
    workflows = sorted(map(str, (ROOT / ".github/workflows").glob("*.yml")))
    checked = CliRunner().invoke(check_jsonschema.main, ["--builtin-schema", schema, *workflows])
    assert checked.exit_code == 0, checked.output


def test_the_workflow_runs_the_same_script() -> None:
    workflow = ROOT / ".github/workflows/ci.yml"
    steps = yaml.safe_load(workflow.read_text())["jobs"]["ci"]["steps"]
    assert steps[-1]["run"] == "bash .ci/run"
    for file in (".ci/run", ".github/workflows/docs.yml", ".github/workflows/release.yml"):
        assert "acpgen generate --check --no-cache\n" in read(file), file


def test_ten_commits_run_all_exhaustive_tests_and_each_night_does(tmp_path: Path) -> None:
    function = re.search(r"^tenth\(\) \{\n.*?^\}$", read(".ci/run"), re.MULTILINE | re.DOTALL)
    assert function is not None

    def tenth() -> str:
        command = ["bash", "-euo", "pipefail", "-c", f"{function.group()}\ntenth"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words], cwd=tmp_path, check=True)

    assert re.fullmatch(r"\d/10", tenth()), "without git, by the day"
    git("init", "--quiet")
    found: list[str] = []
    for _ in range(10):
        git("commit", "--quiet", "--allow-empty", "--message=x")
        found.append(tenth())
    assert sorted(found) == [f"{number}/10" for number in range(10)]
    ci, nightly = (yaml.safe_load(read(f".github/workflows/{name}.yml")) for name in ("ci", "nightly"))
    assert ci["jobs"]["ci"]["steps"][0]["with"]["fetch-depth"] == 0, "git counts all commits"
    assert "schedule" in nightly[True]  # YAML 1.1 reads the key `on` as true
    assert nightly["jobs"]["exhaustive"]["steps"][-1]["run"] == "bash .ci/run exhaustive"


def test_the_hook_runs_the_check() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load(read(".pre-commit-hooks.yaml"))}
    hook = hooks["acpgen-check"]
    assert hook["entry"] == "acpgen generate --check"
    assert hook["pass_filenames"] is False


def test_our_own_hooks_run_what_ci_runs() -> None:
    """CI may add options: it trusts no cache."""
    (local,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert local["repo"] == "local"
    script = [line.split() for line in read(".ci/run").splitlines()]
    for hook in local["hooks"]:
        assert hook["language"] == "system"
        entry = hook["entry"].split()
        assert any(line[: len(entry)] == entry for line in script), hook["id"]
        assert (ROOT / hook["entry"].split()[0]).parent == ROOT / ".venv" / "bin"


# --- decisions -------------------------------------------------------------------------------------------------------

DECISIONS = ROOT / "generator" / "decisions"


def test_every_link_of_the_markdown_leads_to_a_file_and_an_anchor_of_the_repository() -> None:
    """As a forge shows it: from the pages that are written by hand, to whatever they lead to."""
    pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "schema/README.md"]
    pages += [path.relative_to(ROOT).as_posix() for path in (ROOT / "generator").rglob("*.md")]

    @cache
    def anchors_of(page: str) -> frozenset[str]:
        return frozenset(anchors(read(page)))

    seen: set[str] = set()
    broken: list[str] = []
    while pages:
        page = pages.pop()
        if page in seen:
            continue
        seen.add(page)
        for link in links(read(page)):
            address, _, anchor = unquote(link).partition("#")
            if re.match(r"\w+:", address):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), address)) if address else page
            if not (ROOT / target).exists():
                broken.append(f"{page}: {link}")
            elif target.endswith(".md"):
                if anchor and anchor not in anchors_of(target):
                    broken.append(f"{page}: {link}")
                pages.append(target)
    assert broken == []
    assert len(seen) > 100


def test_every_decision_is_listed_under_its_title() -> None:
    listed = dict(re.findall(r"^- \[(.+)\]\((.+)\)$", (DECISIONS / "README.md").read_text("utf-8"), re.MULTILINE))
    written = {
        page.read_text("utf-8").splitlines()[0].removeprefix("# "): page.name
        for page in DECISIONS.glob("*.md")
        if page.name not in ("README.md", "glossary.md")
    }
    assert listed == written


def test_the_glossary_is_in_order() -> None:
    words = re.findall(r"^\| (\S.*?) \| ", (DECISIONS / "glossary.md").read_text("utf-8"), re.MULTILINE)[2:]
    assert words == sorted(words)
    assert len(words) > 20


# --- what runs in CI and in a release is named by what it is -----------------------------------------------------------


def lock() -> dict[str, str]:
    """The versions of `requirements-ci.txt`, by name."""
    found = dict(re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([\w.!+-]+)", read("requirements-ci.txt"), re.MULTILINE))
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found.items()}


def test_every_row_of_the_lock_has_a_hash_and_names_no_place() -> None:
    rows = read("requirements-ci.txt").replace("\\\n", "").splitlines()
    assert len(rows) == len(lock()) > 50
    for row in rows:
        assert re.fullmatch(r"[\w.,\[\]-]+==[\w.!+-]+(?: ; [^@]*?)?(?: +--hash=sha256:[0-9a-f]{64})+", row.strip()), (
            row[:80]
        )


def test_the_systems_of_users_are_tested() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["systems"]
    assert job["strategy"]["matrix"]["system"] == ["windows-latest", "macos-latest"]
    (tests,) = [step["run"] for step in job["steps"] if "pytest" in step.get("run", "")]
    paths = [word for word in tests.split() if word.startswith("tests/")]
    assert paths and all((ROOT / path).exists() for path in paths)


def workflows() -> list[Path]:
    found = [*(ROOT / ".github").rglob("*.yml"), *(ROOT / ".github").rglob("*.yaml")]
    assert len(found) >= 5
    return found


def test_every_action_of_others_is_named_by_its_commit() -> None:
    names = [
        name
        for file in workflows()
        for name in re.findall(r"^\s*(?:- )?uses: (.+)$", file.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(names) > 10
    for name in names:
        assert re.fullmatch(r"\./[\w./-]+|[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", name), name


def test_an_action_has_one_commit() -> None:
    found = {name for file in workflows() for name in re.findall(r"uses: (\S+@[0-9a-f]{40})", file.read_text("utf-8"))}
    assert len({name.split("@")[0] for name in found}) == len(found)


def test_no_checkout_leaves_its_token_behind() -> None:
    for file in workflows():
        workflow: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
        jobs: dict[str, dict[str, Any]] = workflow.get("jobs", {})
        for job in jobs.values():
            steps: list[dict[str, Any]] = job.get("steps", [])
            for step in steps:
                if step.get("uses", "").startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False, file


def test_workflows_install_what_the_lock_has_by_hash() -> None:
    locked = re.compile(r"--require-hashes -r (requirements-ci\.txt|\"\$GITHUB_ACTION_PATH/\.\./requirements\.txt\")")
    for file in workflows():
        for line in file.read_text("utf-8").splitlines():
            if "pip install " in line and "$PACKAGE" not in line:
                assert locked.search(line) or "--no-deps --no-build-isolation" in line, line


def test_an_action_installs_what_acpgen_needs_by_hash_before_acpgen() -> None:
    ran = subprocess.run(
        [sys.executable, ".ci/lock.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    rows = lock()
    part = re.findall(r"^([\w.-]+)==", read(".github/actions/requirements.txt"), re.MULTILINE)
    assert {"pydantic-core", "jinja2", "colorama", "hatchling"} <= set(part) < set(rows)
    assert not {"pytest", "mypy", "playwright"} & set(part)
    for file in (ROOT / ".github/actions").rglob("action.yml"):
        first: str = yaml.safe_load(file.read_text("utf-8"))["runs"]["steps"][0]["run"]
        assert [line.split("pip install ")[1] for line in first.splitlines()] == [
            '--quiet --require-hashes -r "$GITHUB_ACTION_PATH/../requirements.txt"',
            '--quiet --no-build-isolation -- "$PACKAGE"',
        ]


def test_an_action_installs_the_version_that_it_belongs_to() -> None:
    for file in (ROOT / ".github/actions").rglob("action.yml"):
        package = yaml.safe_load(file.read_text("utf-8"))["inputs"]["package"]
        assert package["default"] == f"acpgen=={__version__}", file


def test_every_promise_about_security_names_tests_that_exist() -> None:
    promises = read("SECURITY.md").split("## What is promised")[1].split("## What is not promised")[0]
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", promises)
    assert len(named) > 20
    for file, name in named:
        assert re.search(rf"^(?:async )?def {name}\(", read(file), re.MULTILINE), (file, name)
    rows = [row for row in promises.splitlines() if row.startswith("| ") and not row.startswith(("| Promise", "| ---"))]
    assert rows
    assert all("::test_" in row for row in rows)


# --- packaging -------------------------------------------------------------------------------------------------------


def test_the_lock_has_a_version_of_every_requirement_and_nothing_but_the_lock_is_exact() -> None:
    locked = lock()
    project = pyproject()["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in ("dev", "docs") for each in project["optional-dependencies"][extra]),
    ]
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(locked[requirement.name])
    assert not [requirement for requirement in project["dependencies"] if "==" in requirement]


def test_what_the_output_depends_on_is_what_the_shortcut_watches() -> None:
    from acpgen.files.cache import DEPENDENCIES

    assert {"datamodel-code-generator", "jinja2", "jsonschema-rs", "msgspec", "ruff"} <= {*DEPENDENCIES}


def test_our_own_configuration_is_one() -> None:
    found = config.read(ROOT)
    assert found is not None
    for protocol in found.protocols:
        assert (ROOT / found.schema / protocol).is_dir(), protocol


def test_the_licence_is_the_one_that_the_project_names() -> None:
    assert pyproject()["project"]["license"] == "Apache-2.0"
    text = read("LICENSE")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_version_is_in_the_changelog_or_unreleased() -> None:
    assert f"## {__version__}" in read("CHANGELOG.md") or "## Unreleased" in read("CHANGELOG.md")


# --- what must not be in any file ------------------------------------------------------------------------------------


def test_no_file_names_a_registry_or_a_path_of_this_machine() -> None:
    forbidden = [
        "".join(parts).encode()
        for parts in (
            ("py", "pi.org"),
            ("python", "hosted.org"),
            ("registry.", "npmjs"),
            ("/opt/", "pypi"),
            ("/opt/", "wheels"),
            ("/work", "/"),
            ("/root/", ".pyenv"),
        )
    ]
    for path in files():
        if path.is_file():
            content = path.read_bytes()
            assert not [word for word in forbidden if word in content], path


def test_no_file_holds_a_merge_conflict_or_a_byte_order_mark() -> None:
    for path in files():
        if path.is_file() and "golden/faults" not in path.as_posix():
            content = path.read_bytes()
            assert not content.startswith(b"\xef\xbb\xbf"), path
            assert not re.search(rb"^(<{7} |>{7} )", content, re.MULTILINE), path


def test_what_tools_leave_behind_is_ignored() -> None:
    ignored = read(".gitignore").split()
    assert {".venv/", "__pycache__/", ".hypothesis/", ".pytest_cache/", "dist/"} <= set(ignored)
