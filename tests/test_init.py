"""`acpgen init`: from schemas to a project that is green, and nothing at all where that fails."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

import evidence
import tiers
from acpgen import config, resources
from acpgen.cli import app
from acpgen.commands import build, scaffold
from acpgen.meaning.understanding import understand


def acpgen(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def schema(**members: Any) -> str:
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Acme", **members})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(folder: Path, code: str) -> str:
    """What a program prints that has the bindings of a project on its path."""
    packages = next((folder / "generated" / "python").iterdir())
    ran = subprocess.run([sys.executable, "-c", code], cwd=packages, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_project_to_begin_with_is_green_and_its_bindings_work(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = acpgen("init", "notes")
    assert made.exit_code == 0, made.output
    monkeypatch.chdir(here / "notes")
    for command in (["lint"], ["generate", "--check"]):
        ran = acpgen(*command)
        assert ran.exit_code == 0, ran.output
    assert "[tool.acpgen.lint]" not in Path("pyproject.toml").read_text("utf-8")
    assert "site/" in Path(".gitignore").read_text("utf-8").split()  # what 'acpgen docs build' writes
    assert "\nA small protocol to begin with: " in Path("generated/docs/notes/v1/index.md").read_text("utf-8")
    told = run(
        here / "notes",
        "from notes import v1\n"
        "import json\n"
        'line = b\'{"jsonrpc":"2.0","method":"note/added","params":{"noteId":"n","note":{"type":"song"}}}\'\n'
        "message = v1.decode(line, sender='server')\n"
        "print(type(message.params.note).__name__, json.loads(v1.encode(message)) == json.loads(line))",
    )
    assert told == "UnknownNote True\n"


def test_two_versions_of_a_protocol_of_ones_own(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = {"type": "object", "properties": {"a": {"type": "string"}}, "x-method": "a/b", "x-side": "agent"}
    (here / "v1.json").write_text(schema(**{"$defs": {"AbRequest": old}}), "utf-8")
    (here / "two").mkdir()
    (here / "two" / "v2.json").write_text(schema(**{"$defs": {"AbRequest": {**old, "required": ["a"]}}}), "utf-8")
    made = acpgen("init", "acme-protocol", "acme/v1=v1.json", "acme/2026-01=two")
    assert made.exit_code == 0, made.output
    monkeypatch.chdir(here / "acme-protocol")
    found = config.find(Path.cwd())
    assert found.protocols == ("acme/v1", "acme/2026-01")
    assert found.lint["description-missing"] == "warning"
    assert acpgen("lint").exit_code == 0
    assert acpgen("generate", "--check").exit_code == 0
    assert acpgen("diff", "acme/v1", "acme/2026-01").exit_code == 1
    run(Path.cwd(), "from acme import v1, v2026_01; v1.decode_as(v1.AbRequest, {}); print(v2026_01.AbRequest)")


def test_protocols_of_several_names_have_a_distribution_each(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.json").write_text(schema(**{"$defs": {"CallRequest": CALL}}), "utf-8")
    made = acpgen(
        "init", "project", "acme/v1=a.json", "acme/v2=a.json", "other=a.json", "--target", "python,typescript"
    )
    assert made.exit_code == 0, made.output
    monkeypatch.chdir(here / "project")
    outputs = config.find(Path.cwd()).outputs
    assert outputs["generated/python/project-acme"].packages == {"acme/v1": "acme.v1", "acme/v2": "acme.v2"}
    assert outputs["generated/typescript/project-other"].packages == {"other": "other.v1"}
    assert "| `other.v1` in `generated/python/project-other` |" in Path("README.md").read_text("utf-8")
    assert acpgen("generate", "--check").exit_code == 0


@pytest.mark.parametrize("name", tiers.sample(["upstream/mcp-2025-11-25/schema.json", "wild/py-ruff.json"], 1))
def test_what_others_published_becomes_a_project(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence.need(name)
    made = acpgen("init", "theirs", f"their/v1={evidence.path(name)}")
    assert made.exit_code == 0, made.output
    monkeypatch.chdir(here / "theirs")
    assert acpgen("lint").exit_code == 0
    assert acpgen("generate", "--check").exit_code == 0


def test_a_schema_that_refuses_its_own_examples_becomes_a_project(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thing = {"type": "object", "properties": {"size": {"type": "integer"}}, "examples": [{"size": "large"}]}
    (here / "a.json").write_text(json.dumps({"$defs": {"Thing": thing}}))
    made = acpgen("init", "theirs", "their/v1=a.json")
    assert made.exit_code == 0, made.output
    assert "The docs leave out the examples that the schema refuses." in made.output
    monkeypatch.chdir(here / "theirs")
    assert "a.json#/$defs/Thing/examples/0" in Path("generated/docs/their/v1/index.md").read_text("utf-8")
    assert acpgen("lint").exit_code == 0
    assert acpgen("generate", "--check").exit_code == 0


CALL = {"type": "object", "x-method": "thing/call", "x-side": "agent"}
COMMON = "https://example.com/common/types.json"


def test_what_lies_elsewhere_and_the_profile_become_files_of_the_project(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "common.json").write_text('{"$defs": {"Id": {"type": "string", "minLength": 2}}}', "utf-8")
    thing = {"type": "object", "properties": {"id": {"$ref": f"{COMMON}#/$defs/Id"}}, "required": ["id"]}
    (here / "v1.json").write_text(schema(**{"$defs": {"Thing": thing, "CallRequest": CALL}}), "utf-8")
    assert acpgen("init", "project", "acme/v1=v1.json").exit_code == 2
    given = "--ref", f"{COMMON}=common.json", "--ref", "https://example.com/meta=2020-12", "--methods", "acp"
    made = acpgen("init", "project", "acme/v1=v1.json", *given)
    assert made.exit_code == 0, made.output
    (here / "common.json").unlink()
    monkeypatch.chdir(here / "project")
    found = config.find(Path.cwd())
    assert {url: str(file) for url, file in found.reference_files.items()} == {
        COMMON: str(Path.cwd() / "references" / "example.com_common_types.json"),
        "https://example.com/meta": "2020-12",
    }
    assert found.methods == "acp"
    assert acpgen("lint").exit_code == 0
    assert acpgen("generate", "--check").exit_code == 0
    told = run(
        Path.cwd(),
        "from acme import v1\nfrom jsonrpc_bindings import DecodeError\n"
        "print(v1.decode_as(v1.Thing, {'id': 'ab'}).id)\n"
        "try: v1.decode_as(v1.Thing, {'id': 'a'})\n"
        "except DecodeError: print('refused')",
    )
    assert told == "ab\nrefused\n"


def test_a_profile_of_ones_own_becomes_a_file_of_the_project(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = (resources.locate_profiles() / "acp.toml").read_bytes()
    (here / "mine.toml").write_bytes(profile)
    (here / "v1.json").write_text(schema(**{"$defs": {"CallRequest": CALL}}), "utf-8")
    made = acpgen("init", "project", "acme/v1=v1.json", "--methods", "mine.toml")
    assert made.exit_code == 0, made.output
    monkeypatch.chdir(here / "project")
    assert Path("methods.toml").read_bytes() == profile
    assert config.find(Path.cwd()).methods == "methods.toml"
    assert acpgen("generate", "--check").exit_code == 0


def test_a_protocol_without_json_rpc_becomes_a_project_without_bindings(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = (resources.locate_profiles() / "acp.toml").read_text("utf-8").replace("\n", '\nenvelope = "dap"\n', 1)
    (here / "mine.toml").write_text(profile, "utf-8")
    (here / "v1.json").write_text(schema(**{"$defs": {"CallRequest": CALL}}), "utf-8")
    given = "init", "project", "acme/v1=v1.json", "--methods", "mine.toml"
    made = acpgen(*given)
    assert made.exit_code == 2 and "--target docs,bundle" in made.output
    made = acpgen(*given, "--target", "docs,ir", "--target", "docs")
    assert made.exit_code == 0, made.output
    monkeypatch.chdir(here / "project")
    assert {output.target for output in config.find(Path.cwd()).outputs.values()} == {"docs", "ir"}
    assert "Python package" not in Path("README.md").read_text("utf-8")
    assert acpgen("generate", "--check").exit_code == 0


def test_two_addresses_that_would_be_one_file_are_refused(here: Path) -> None:
    (here / "common.json").write_text("{}", "utf-8")
    (here / "v1.json").write_text(schema(**{"$defs": {"A": {"type": "object"}}}), "utf-8")
    one, other = "https://example.com/a/b=common.json", "https://example.com/a_b=common.json"
    made = acpgen("init", "project", "acme/v1=v1.json", "--ref", one, "--ref", other)
    assert made.exit_code == 2
    assert "references/example.com_a_b is that of https://example.com/a/b" in " ".join(made.output.split())
    assert not (here / "project").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["acme=nowhere.json"], "nowhere.json"),
        (["acme/v1=bad.json"], "bad.json"),
        (["acme/v-1=good.json", "acme/v_1=good.json"], "both would be the package acme.v_1"),
        (["acme/v1=clash.json"], "clash.json"),
        (["good.json"], "must be PROTOCOL=PATH"),
        (["acme/v1=good.json", "--target", "pyton"], "Did you mean 'python'?"),
        (["../x=good.json"], "must be PROTOCOL=PATH"),
    ],
)
def test_what_cannot_be_used_is_told_and_leaves_nothing(arguments: list[str], told: str, here: Path) -> None:
    (here / "good.json").write_text(schema(type="object"), "utf-8")
    (here / "bad.json").write_text('{"type": 7}', "utf-8")
    (here / "clash.json").write_text(schema(**{"$defs": {"A": {"$ref": "#/$defs/B"}}}), "utf-8")
    before = sorted(here.iterdir())
    made = acpgen("init", "project", *arguments)
    assert made.exit_code == 2
    assert told in made.output
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("folder", ["project", "."])
@pytest.mark.parametrize("given", ["../theirs/clash.json", "../theirs"])
def test_what_a_schema_cannot_mean_is_told_where_it_was_given(folder: str, given: str, here: Path) -> None:
    (here / "theirs").mkdir()
    clash = {"$ref": "#/$defs/B"}
    (here / "theirs" / "clash.json").write_text(schema(**{"$defs": {"A": clash}}), "utf-8")
    (here / "empty").mkdir()
    os.chdir(here / "empty")
    made = acpgen("init", folder, f"acme/v1={given}")
    assert made.exit_code == 2
    column = (here / "theirs" / "clash.json").read_text("utf-8").index('"$ref"') + 1
    assert f"error: ../theirs/clash.json:1:{column}#/$defs/A: " in made.output.replace("\n", "")
    assert "schema/acme" not in made.output
    assert not [*Path().iterdir()]


def test_a_schema_is_understood_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "v1.json").write_text(schema(**{"$defs": {"CallRequest": CALL}}), "utf-8")
    count = list[int]()

    def understood(given: Any, **options: Any) -> Any:
        count.append(1)
        return understand(given, **options)

    monkeypatch.setattr(build, "understand", understood)
    assert acpgen("init", "project", "acme/v1=v1.json").exit_code == 0
    assert count == [1]
    assert not hasattr(scaffold, "understand")


def test_a_folder_with_something_in_it_is_left_alone(here: Path) -> None:
    (here / "project").mkdir()
    (here / "project" / "mine.txt").write_text("mine", "utf-8")
    made = acpgen("init", "project")
    assert made.exit_code == 2
    assert "Name another folder" in made.output
    assert [path.name for path in (here / "project").iterdir()] == ["mine.txt"]
    os.chdir(here / "project")
    assert acpgen("init", ".").output.startswith(f"error: {here}/project: ")


@pytest.mark.parametrize(
    ("name", "title", "package"),
    [
        ("My Tides", "My Tides", "my_tides.v1"),
        ("9 lives", "9 lives", "v9_lives.v1"),
        ("Gezeitenfühler", "Gezeitenfühler", "gezeitenfuhler.v1"),
        ("class", "class", "class_.v1"),
        ("--", "--", "protocol.v1"),
        ("json", "json", "json_protocol.v1"),
        ("nul", "nul", "nul_protocol.v1"),
        ("潮", "潮", "protocol.v1"),
        ("tide/.", "tide", "tide.v1"),
        ("tide/deep/../", "tide", "tide.v1"),
    ],
)
def test_a_project_has_the_name_of_its_folder(name: str, title: str, package: str, here: Path) -> None:
    (here / "tide" / "deep").mkdir(parents=True)
    begun = scaffold.start(Path(name), {})
    assert begun.files["README.md"].decode().startswith(f"# {title}\n")
    (here / "pyproject.toml").write_bytes(begun.files["pyproject.toml"])
    assert {
        each.package for output in config.find(here).outputs.values() for each in output.members if each.package
    } == {package}


@pytest.mark.parametrize("name", ["project", "."])
def test_an_empty_folder_becomes_the_project(name: str, here: Path) -> None:
    (here / "project").mkdir()
    os.chdir(here / "project" / ".." if name == "project" else here / "project")
    is_the_same = (here / "project").stat().st_ino
    made = acpgen("init", name)
    assert made.exit_code == 0, made.output
    assert (here / "project" / "pyproject.toml").is_file() and (here / "project" / "generated").is_dir()
    assert (here / "project").stat().st_ino == is_the_same
    assert f"Read {'' if name == '.' else 'project/'}README.md" in made.output
    assert not [*here.glob("**/.*.acpgen-new")]


def test_a_repository_without_files_becomes_the_project_and_survives_a_failure(here: Path) -> None:
    subprocess.run(["git", "init", "-q", "project"], check=True, cwd=here)
    head = (here / "project" / ".git" / "HEAD").read_bytes()
    (here / "wrong.json").write_text(schema(**{"$defs": {"A": {"$ref": "#/$defs/B"}}}), "utf-8")
    assert acpgen("init", "project", "acme/v1=wrong.json").exit_code == 2
    assert [path.name for path in (here / "project").iterdir()] == [".git"]
    made = acpgen("init", "project")
    assert made.exit_code == 0, made.output
    assert "within the git repository" not in made.output
    assert (here / "project" / ".git" / "HEAD").read_bytes() == head
    assert (here / "project" / "pyproject.toml").is_file()


def test_a_project_below_the_top_of_a_repository_is_told_that_its_workflow_is_not_run(here: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True, cwd=here)
    made = acpgen("init", "parts/project")
    assert made.exit_code == 0, made.output
    said = " ".join(made.output.split())
    assert "parts/project lies within the git repository" in said
    assert "Move .github/workflows and .pre-commit-config.yaml" in said
    (here / "parts" / "other").mkdir()
    os.chdir(here / "parts" / "other")
    assert "other lies within the git repository" in " ".join(acpgen("init", ".").output.split())


# --- levels of lint --------------------------------------------------------------------------------------------------


PROJECT = """
[tool.acpgen.outputs.generated]
target = "bundle"
protocols = ["toy/v1"]

[tool.acpgen.lint]
"""


@pytest.fixture
def project(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (here / "schema" / "toy" / "v1").mkdir(parents=True)
    (here / "schema" / "toy" / "v1" / "toy.json").write_text(schema(**{"$defs": {"A": {"type": "object"}}}), "utf-8")
    return here


@pytest.mark.parametrize(
    ("level", "code", "told"),
    [
        ("error", 1, "description-missing: "),
        ("warning", 0, "(warning)"),
        ("off", 0, "of rules that are off"),
    ],
)
def test_a_rule_has_the_level_that_the_project_gives_it(level: str, code: int, told: str, project: Path) -> None:
    rows = f'definition-unused = "off"\ndescription-missing = "{level}"\n'
    (project / "pyproject.toml").write_text(f"{PROJECT}{rows}", "utf-8")
    for arguments in ([], ["schema/toy/v1/toy.json"]):
        ran = acpgen("lint", *arguments)
        assert ran.exit_code == code, ran.output
        assert told in ran.output


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('description-mising = "off"', "Did you mean 'description-missing'?"),
        ('description-missing = "loud"', "must be one of 'error', 'warning' and 'off'"),
        ("description-missing = 1", "must be one of"),
    ],
)
def test_a_level_that_is_none_is_told(row: str, told: str, project: Path) -> None:
    (project / "pyproject.toml").write_text(f"{PROJECT}{row}\n", "utf-8")
    ran = acpgen("lint")
    assert ran.exit_code == 2
    assert told in ran.output


def test_ci_and_hooks_of_a_project_compare_each_protocol_with_where_the_branch_began(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert acpgen("init", "notes").exit_code == 0
    monkeypatch.chdir(here / "notes")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    workflow = yaml.safe_load(Path(".github/workflows/acpgen.yml").read_text("utf-8"))
    (step,) = [each for each in workflow["jobs"]["schema"]["steps"] if "who breaks" in each.get("name", "")]
    (hook,) = [
        each
        for each in yaml.safe_load(Path(".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
        if each["id"].startswith("acpgen-diff")
    ]
    assert hook["stages"] == ["pre-push"]
    monkeypatch.setenv("BASE", "main")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    commands = [shlex.split(os.path.expandvars(each)) for each in (step["run"], hook["entry"])]
    for command in commands:
        ran = acpgen(*command[1:])
        assert ran.exit_code == 0, ran.output
    schema = next(Path("schema").rglob("*.json"))
    whole = json.loads(schema.read_text("utf-8"))
    whole["$defs"]["AddNoteRequest"]["properties"]["by"] = {"type": "string"}
    whole["$defs"]["AddNoteRequest"]["required"].append("by")
    schema.write_text(json.dumps(whole, indent=2), "utf-8")
    for command in commands:
        assert acpgen(*command[1:]).exit_code == 1
    assert "```suggestion" in Path("summary.md").read_text("utf-8")
