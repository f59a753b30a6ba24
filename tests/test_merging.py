"""Two branches that each add something to the schema, and each generate, merge line by line into what both together generate."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from acpgen import config
from acpgen.commands import build, project

ROOT: Final = Path(__file__).parents[1]
Files: TypeAlias = Mapping[str, str]

DOCS: Final = '["acp/v1", "acp/v2", "mcp/2025-06-18"]'
PROJECT: Final = f"""
[tool.acpgen]
schema = "schema"
[tool.acpgen.outputs."generated/python/acp-bindings"]
target = "python"
distribution = "acp-bindings"
packages = {{ "acp/v2" = "acp_bindings.v2" }}
[tool.acpgen.outputs."generated/schema"]
target = "bundle"
protocols = ["acp/v2"]
[tool.acpgen.outputs."generated/ir"]
target = "ir"
protocols = ["acp/v2"]
[tool.acpgen.outputs."generated/typescript"]
target = "typescript"
packages = {{ "acp/v2" = "v2" }}
[tool.acpgen.outputs."generated/docs"]
target = "docs"
protocols = {DOCS}
[tool.acpgen.outputs."generated/vectors"]
target = "vectors"
protocols = ["acp/v2"]
"""
"""Every target, of the schemas of this repository with all that lies beside them."""


RELEASES: Final = 1


def test_the_project_has_every_target(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    ours = {output.target for output in configuration(ROOT).outputs.values()}
    assert ours <= {output.target for output in configuration(tmp_path).outputs.values()}


def configuration(folder: Path) -> config.Config:
    found = config.read(folder)
    assert found is not None
    return found


def checkout(folder: Path, text: str) -> Path:
    """A project of the schemas of this repository, and of each protocol the newest release alone: their history takes most of the time."""
    shutil.copytree(ROOT / "schema", folder / "schema")
    for index in (folder / "schema" / "releases").rglob("index.json"):
        told = json.loads(index.read_text("utf-8"))
        for version in told["versions"][:-RELEASES]:
            (index.parent / f"{version}.json").unlink()
            told.get("dates", {}).pop(version, None)
        told["versions"] = told["versions"][-RELEASES:]
        index.write_text(json.dumps(told), "utf-8")
    (folder / "pyproject.toml").write_text(text)
    if DOCS not in text:  # what tells of the other protocols
        (folder / "schema" / "requirements.json").unlink()
        shutil.rmtree(folder / "schema" / "pages")
    return folder


def generated(folder: Path, *, check: bool = False) -> build.Outcome:
    return build.run(project.plan_outputs(configuration(folder)), check=check)


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for top in ("schema", "generated")
        for path in (folder / top).rglob("*")
        if path.is_file()
    }


def add_field(folder: Path, file: str, definition: str, name: str, schema: Mapping[str, Any]) -> None:
    """Add an optional field to a definition, as an edit of a few lines."""
    path = folder / "schema" / "acp" / "v2" / file
    before, found, rest = path.read_text("utf-8").partition(f'\n    "{definition}": {{')
    inside, properties, after = rest.partition('"properties": {')
    assert found and properties
    path.write_text(f'{before}{found}{inside}{properties}\n        "{name}": {json.dumps(schema)},{after}', "utf-8")
    assert name in json.loads(path.read_text("utf-8"))["$defs"][definition]["properties"]


def add_definition(folder: Path, file: str, before: str, name: str, schema: Mapping[str, Any]) -> None:
    """Add a definition in front of another one."""
    path = folder / "schema" / "acp" / "v2" / file
    head, found, rest = path.read_text("utf-8").partition(f'\n    "{before}": {{')
    assert found
    path.write_text(f'{head}\n    "{name}": {json.dumps(schema, indent=2)},{found}{rest}', "utf-8")
    assert name in json.loads(path.read_text("utf-8"))["$defs"]


def first(folder: Path) -> None:
    """A field of `session/prompt`; a type, and a field of `session/new` that refers to it."""
    add_field(folder, "prompt.json", "PromptRequest", "tide", {"type": ["string", "null"], "description": "The tide."})
    moon = {"type": "object", "description": "The moon.", "properties": {"phase": {"type": "string"}}}
    add_definition(folder, "session.json", "NewSessionRequest", "Moon", moon)
    add_field(folder, "session.json", "NewSessionRequest", "moon", {"$ref": "#/$defs/Moon"})


def second(folder: Path) -> None:
    """A field of `auth/login`; a type, and a field of `session/list` that refers to it, in a file that the other branch edits too."""
    add_field(
        folder, "authentication.json", "LoginAuthRequest", "reef", {"type": "integer", "description": "The reef."}
    )
    coral = {"type": "object", "description": "Coral.", "properties": {"colour": {"type": "string"}}}
    add_definition(folder, "session.json", "ListSessionsRequest", "Coral", coral)
    add_field(folder, "session.json", "ListSessionsRequest", "coral", {"$ref": "#/$defs/Coral"})


def merged(base: Files, ours: Files, theirs: Files, folder: Path) -> tuple[dict[str, str], list[str]]:
    """Three trees merged file by file as git does it, and the files in which lines collide."""
    found: dict[str, str] = {}
    collided: list[str] = []
    for path in sorted({*base, *ours, *theirs}):
        old, one, two = base.get(path), ours.get(path), theirs.get(path)
        text = two if one == old else one
        if one is not None and two is not None and old not in (one, two) and one != two:
            text, count = merge_file(old or "", one, two, folder)
            collided += [path] if count else []
        if text is not None:
            found[path] = text
    return found, collided


def merge_file(base: str, ours: str, theirs: str, folder: Path) -> tuple[str, int]:
    folder.mkdir(exist_ok=True)
    names = {"ours": ours, "base": base, "theirs": theirs}
    for name, text in names.items():
        (folder / name).write_text(text, "utf-8")
    ran = subprocess.run(
        ["git", "merge-file", "-p", *names], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )
    assert 0 <= ran.returncode < 128, ran.stderr
    return ran.stdout, ran.returncode


def branch(base: Path, folder: Path, edit: Callable[[Path], None]) -> Files:
    """A branch off `base`, edited and generated."""
    shutil.copytree(base, folder)
    edit(folder)
    assert generated(folder).is_drift
    return files(folder)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(PROJECT.replace(DOCS, '["acp/v2"]'), id="docs of one"),
        pytest.param(PROJECT, id="docs of all", marks=pytest.mark.exhaustive),
    ],
)
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = checkout(tmp_path_factory.mktemp("merging") / "base", request.param)
    generated(folder)
    return folder


TIDE: Final = {"type": "integer", "description": "The tide."}


def tide_of_logins(folder: Path) -> None:
    """A field that the other branch adds to another method, with the same words."""
    add_field(folder, "authentication.json", "LoginAuthRequest", "tide", TIDE)


def tide_of_prompts(folder: Path) -> None:
    """The same field of another method."""
    add_field(folder, "prompt.json", "PromptRequest", "tide", TIDE)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (first, second, ("`Moon`", "`Coral`")),
        pytest.param(tide_of_logins, tide_of_prompts, ("`Meta`",), marks=pytest.mark.exhaustive),
    ],
)
def test_two_additions_that_are_generated_apart_merge_into_what_both_make(
    one: Callable[[Path], None], other: Callable[[Path], None], told: tuple[str, ...], base: Path, tmp_path: Path
) -> None:
    ours, theirs = branch(base, tmp_path / "ours", one), branch(base, tmp_path / "theirs", other)
    found, collided = merged(files(base), ours, theirs, tmp_path / "three")
    assert not collided
    both = tmp_path / "both"
    for path, text in {"pyproject.toml": (base / "pyproject.toml").read_text("utf-8"), **found}.items():
        (both / path).parent.mkdir(parents=True, exist_ok=True)
        (both / path).write_text(text, "utf-8")
    outcome = generated(both, check=True)
    assert not outcome.is_drift, "\n".join(outcome.list_difference())
    docs = found["generated/docs/acp/v2/types.md"]
    assert all(name in docs for name in told)
