"""`acpgen generate`: what it makes, when it does nothing, and what it says."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

import acpgen
import evidence
import tiers
from acpgen import cli
from acpgen.bundle.bundle import bundle
from acpgen.commands import build, outcome_text, project, terminal
from acpgen.config import find
from acpgen.files.cache import Code, hash_all_code, hash_own_code
from acpgen.targets.built_in import BUILT_IN
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Target

ROOT = Path(__file__).parents[1]

PYPROJECT = """\
[tool.acpgen]
schema = "schema"

[tool.acpgen.outputs."generated/python"]
target = "python"
distribution = "acme-bindings"
packages = { "acme/v1" = "acme.v1", "acme/v2" = "acme.v2" }

[tool.acpgen.outputs."generated/schema"]
target = "bundle"
protocols = ["acme/v1"]

[tool.acpgen.outputs."generated/ir"]
target = "ir"
protocols = ["acme/v2"]
"""


def thing(description: str) -> dict[str, object]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "ThingRequest": {
                "description": description,
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
                "x-method": "thing/make",
                "x-side": "agent",
            },
            "ThingResponse": {"type": "object", "x-method": "thing/make", "x-side": "agent"},
        },
    }


@dataclass(frozen=True)
class Ran:
    code: object
    out: str
    err: str


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two protocols and three outputs; the current folder."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    for version in ("v1", "v2"):
        (tmp_path / "schema" / "acme" / version).mkdir(parents=True)
        write_schema(tmp_path, version, f"Makes a thing in {version}.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def write_schema(root: Path, version: str, description: str) -> None:
    (root / "schema" / "acme" / version / "thing.json").write_text(json.dumps(thing(description)), encoding="utf-8")


def run(*arguments: str) -> Ran:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as stopped:
        cli.app(["generate", *arguments], prog_name="acpgen")
    return Ran(stopped.value.code, out.getvalue(), err.getvalue())


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("line-length=x", "error: --option: line-length must be an integer."),
        ("line-lenght=9", "error: --option: the key line-lenght is not known.\nhint: Did you mean 'line-length'?"),
    ],
)
def test_an_option_that_means_nothing_is_told_where_it_was_given(tmp_path: Path, option: str, said: str) -> None:
    schema = tmp_path / "thing.json"
    schema.write_text('{"$defs": {"Thing": {"type": "object", "properties": {"a": {}}}}}')
    out = str(tmp_path / "out")
    ran = run("--schema", str(schema), "--package", "p.v1", "--out", out, "--option", option, "--no-cache")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(said)


def snapshot(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.relative_to(root).as_posix().startswith("cache/")
    }


# --- what it makes ---------------------------------------------------------------------------------------------------


def test_every_output_is_made_and_a_second_run_does_nothing_and_says_so(here: Path) -> None:
    first = run()
    assert (first.code, first.out) == (0, "")
    made = snapshot(here)
    assert {"generated/schema/acme/v1/schema.json", "generated/ir/acme/v2/ir.json"} <= made.keys()
    assert {"generated/python/acme/v1/__init__.py", "generated/python/acme/v2/__init__.py"} <= made.keys()
    second = run()
    assert second == Ran(0, "", "Nothing to do: no input has changed (3 outputs).\n")
    assert snapshot(here) == made


def test_two_runs_give_equal_bytes(here: Path) -> None:
    run()
    made = snapshot(here)
    shutil.rmtree(here / "generated")
    run()
    assert snapshot(here) == made


def test_an_output_that_needs_no_work_is_left_alone_and_the_others_are_made(here: Path) -> None:
    run()
    write_schema(here, "v1", "Makes another thing.")
    ran = run()
    assert "generated/ir  " in ran.err
    assert "up to date" in ran.err
    assert "written generated/schema/acme/v1/schema.json" in ran.err
    assert "Makes another thing." in (here / "generated/schema/acme/v1/schema.json").read_text()


CHANGES: tuple[Callable[[Path], object], ...] = (
    lambda root: write_schema(root, "v1", "Makes another thing."),
    lambda root: (root / "schema/acme/v1/more.json").write_text("{}"),
    lambda root: (root / "generated/schema/acme/v1/schema.json").write_text("{}"),
    lambda root: (root / "generated/schema/acme/v1/schema.json").unlink(),
    lambda root: (root / "generated/schema/.acpgen.json").unlink(),
    lambda root: shutil.rmtree(root / "generated/schema"),
    lambda root: (root / "pyproject.toml").write_text(
        PYPROJECT.replace('protocols = ["acme/v1"]', 'protocols = ["acme/v1", "acme/v2"]')
    ),
)


def test_a_folder_of_others_is_refused_before_the_work(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "understand", None)
    (here / "mine").mkdir()
    (here / "mine" / "precious").write_text("1")
    ran = run("--schema", "schema/acme/v1", "--package", "acme.v1", "--out", "mine")
    assert (ran.code, "mine: this folder is not empty" in ran.err) == (2, True)


@pytest.mark.parametrize("change", CHANGES)
def test_work_is_done_again_when_schema_options_or_output_have_changed(
    here: Path, change: Callable[[Path], object]
) -> None:
    run()
    change(here)
    ran = run()
    assert ran.code == 0
    assert "Nothing to do" not in ran.err
    assert run().err.startswith("Nothing to do")


def configured(root: Path, old: str, new: str) -> None:
    assert old in PYPROJECT
    (root / "pyproject.toml").write_text(PYPROJECT.replace(old, new, 1))


V1 = ("python acme/v1", "bundle acme/v1")
V2 = ("python acme/v2", "ir acme/v2")
REMADE: tuple[tuple[Callable[[Path], object], tuple[str, ...]], ...] = (
    (lambda root: write_schema(root, "v1", "Makes another thing."), V1),
    (lambda root: write_schema(root, "v2", "Makes another thing."), V2),
    (lambda root: (root / "schema/acme/v2/thing.json").rename(root / "schema/acme/v2/other.json"), V2),
    (lambda root: (root / "schema/acme/v1/more.json").write_text('{"$defs": {"More": {"type": "string"}}}'), V1),
    (lambda root: configured(root, '"acme.v2"', '"acme.two"'), ("python acme/v2",)),
    (
        lambda root: configured(root, '"acme-bindings"', '"other"\nlicense = "MIT"'),
        ("python acme/v1", "python acme/v2"),
    ),
    (
        lambda root: configured(root, "[tool", '[tool.acpgen.names."acme/v1"]\nThingRequest = "Wanted"\n\n[tool'),
        V1,
    ),
    (lambda root: configured(root, "[tool", '[tool.acpgen.names]\nThingRequest = "Wanted"\n\n[tool'), (*V1, *V2)),
    (lambda root: (root / "generated/python/acme/v1/__init__.py").unlink(), ()),
)
"""Changes, and the parts of outputs that are made anew."""


@pytest.mark.parametrize(("change", "expected"), REMADE)
def test_a_change_makes_the_parts_anew_that_depend_on_it_and_no_others(
    here: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], expected: tuple[str, ...]
) -> None:
    run()
    made = rendered(monkeypatch)
    change(here)
    assert run().code == 0
    assert sorted(made) == sorted(expected)
    known = snapshot(here)
    shutil.rmtree(here / "generated")
    run("--no-cache")
    assert len(made) == len(expected) + 4
    assert snapshot(here) == known


def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parts that targets are asked for from now on."""
    made: list[str] = []
    call = Target.__call__

    def told(target: Target, protocol: Any, bundle: Any, settings: Any) -> Mapping[str, str]:
        made.append(f"{target.render.__module__.rpartition('.')[2]} {protocol.name}")
        return call(target, protocol, bundle, settings)

    monkeypatch.setattr(Target, "__call__", told)
    return made


def test_all_parts_are_made_anew_when_a_template_has_changed(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    made = rendered(monkeypatch)
    copied = tmp_path / "templates"
    shutil.copytree(ROOT / "templates", copied)
    (copied / "python" / "more.jinja2").write_text("")
    monkeypatch.setattr("acpgen.resources.locate_templates", lambda: copied)
    run()
    assert sorted(made) == sorted((*V1, *V2))


def test_what_was_made_while_a_template_changed_is_not_kept(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "templates"
    shutil.copytree(ROOT / "templates", copied)
    monkeypatch.setattr("acpgen.resources.locate_templates", lambda: copied)
    call = Target.__call__

    def edited(target: Target, protocol: Any, bundle: Any, settings: Any) -> Mapping[str, str]:
        with (copied / "docs" / "home.md.jinja2").open("a") as template:
            template.write(" ")
        return call(target, protocol, bundle, settings)

    with monkeypatch.context() as changed:
        changed.setattr(Target, "__call__", edited)
        run()
    made = rendered(monkeypatch)
    assert "Nothing to do" not in run().err
    assert sorted(made) == sorted((*V1, *V2))


def test_a_change_of_generator_templates_or_dependencies_is_a_change(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    before = hash_all_code().digest
    copied = tmp_path / "templates"
    shutil.copytree(ROOT / "templates", copied)
    monkeypatch.setattr("acpgen.resources.locate_templates", lambda: copied)
    assert hash_all_code().digest == before
    (copied / "python" / "more.jinja2").write_text("")
    assert hash_all_code().digest != before
    assert "Nothing to do" not in run().err


def test_a_change_of_the_monitor_is_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = hash_all_code().digest
    copied = tmp_path / "acp_monitor"
    shutil.copytree(ROOT / "generator/acp-monitor/acp_monitor", copied)
    monkeypatch.setattr("acpgen.embedded.locate_monitor", lambda: copied)
    assert hash_all_code().digest == before
    (copied / "more.py").write_text("")
    assert hash_all_code().digest != before


DOCUMENTED = """
[tool.acpgen]
schema = "schema"

[tool.acpgen.outputs."generated/docs"]
target = "docs"
protocols = ["acme/v1", "acme/v2"]
"""


def edited(path: str, *changes: tuple[str, str]) -> Callable[[Path], object]:
    def edit(root: Path) -> None:
        text = (root / path).read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (root / path).write_text(text)

    return edit


THING = "schema/acme/v{}/thing.json"
EDITS: Mapping[str, Callable[[Path], object]] = {
    "a description": edited(THING.format(2), ("Makes a thing in v2.", "Makes any thing.")),
    "a description of the version before": edited(THING.format(1), ("Makes a thing in v1.", "Made a thing.")),
    "a title": edited(THING.format(2), ('{"$schema"', '{"title": "Things", "$schema"')),
    "an example": edited(THING.format(1), ('"required"', '"examples": [{"name": "ann"}], "required"')),
    "a rule": edited(THING.format(2), ('{"type": "string"}', '{"type": "string", "maxLength": 7}')),
    "a field": edited(
        THING.format(2),
        ('"required": ["name"]', '"required": ["name", "size"]'),
        ('"name": {', '"size": {}, "name": {'),
    ),
    "a note of what moved": edited(
        THING.format(2), ('"$defs"', '"x-migration": {"ThingRequest": "It has a size now."}, "$defs"')
    ),
    "a file": lambda root: (root / "schema/acme/v2/more.json").write_text('{"$defs": {"More": {"type": "string"}}}'),
    "the name of a file": lambda root: (root / THING.format(1)).rename(root / "schema/acme/v1/other.json"),
    "a chosen name": lambda root: (root / "pyproject.toml").write_text(
        f'{DOCUMENTED}\n[tool.acpgen.names."acme/v2"]\nThingRequest = "Wanted"\n'
    ),
    "a page": lambda root: (root / "schema/pages/own.md").write_text("# Own\n"),
}


def test_after_each_kind_of_edit_the_docs_are_those_that_are_made_anew(here: Path) -> None:
    (here / "pyproject.toml").write_text(DOCUMENTED)
    (here / "schema/pages").mkdir()
    assert run().code == 0
    before = snapshot(here)
    for kind, edit in EDITS.items():
        edit(here)
        assert run().code == 0, kind
        known = snapshot(here)
        assert known != before, kind
        shutil.rmtree(here / "generated")
        assert run("--no-cache").code == 0
        assert snapshot(here) == known, kind
        before = known


def test_what_has_not_changed_is_not_understood_again_and_no_word_is_compared(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "pyproject.toml").write_text(DOCUMENTED)
    stray = {"$defs": {"More": {"type": "string"}, "stray": "no schema"}}
    (here / "schema/acme/v1/more.json").write_text(json.dumps(stray))
    said = "more.json#/$defs/stray: this is not a schema"
    assert said in run().err
    understood: list[str] = []
    really = bundle

    def told(documents: Any, **how: Any) -> Any:
        understood.append(documents.name)
        return really(documents, **how)

    monkeypatch.setattr("acpgen.bundle.bundle.bundle", told)
    monkeypatch.setattr("acpgen.compat.protocol.check.check.check", None)
    write_schema(here, "v2", "Makes another thing.")
    ran = run()
    assert (ran.code, said in ran.err) == (0, True)
    assert understood == ["acme/v2"]


def test_a_damaged_or_missing_cache_is_no_fault(here: Path) -> None:
    run()
    kept = [file for file in (here / "cache").rglob("*.json") if file.is_file()]
    assert kept
    for file in kept:
        file.write_text("{")
    assert "Nothing to do" not in run().err
    assert run().err.startswith("Nothing to do")
    shutil.rmtree(here / "cache")
    (here / "cache").write_text("a file in its place")
    assert "Nothing to do" not in run().err
    assert run().code == 0


def test_a_project_brings_no_cache_of_its_own(here: Path) -> None:
    """Whoever sends a project could say with it that its outputs are what its schema makes."""
    run()
    assert {path.relative_to(here).parts[0] for path in here.rglob("*")} == {
        *("cache", "generated", "pyproject.toml", "schema")
    }


def test_without_the_cache_everything_is_made_anew_and_nothing_is_kept(here: Path) -> None:
    made, kept = run("--no-cache"), run("--no-cache")
    assert (made.code, kept.code) == (0, 0)
    assert "Nothing to do" not in kept.err
    assert not (here / "cache").exists()
    held = snapshot(here)
    run()
    assert run().err.startswith("Nothing to do")
    assert snapshot(here) == held
    assert "Nothing to do" not in run("--no-cache").err
    assert run("--check", "--no-cache") == Ran(0, "", "Every output is up to date.\n")


def test_a_check_that_finds_no_difference_is_remembered(here: Path) -> None:
    run("--no-cache")
    assert run("--check").code == 0
    assert run().err.startswith("Nothing to do")
    (here / "generated/schema/acme/v1/schema.json").write_text("{}")
    assert run("--check").code == 1
    assert run("--check").code == 1


def test_what_was_made_while_the_generator_changed_is_not_remembered(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = Code(hash_own_code().digest, (("changed.py", 1, 1),))
    monkeypatch.setattr("acpgen.files.cache.hash_own_code", lambda: changed)
    run()
    assert "Nothing to do" not in run().err


# --- which outputs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["acme/v2"], {"python", "ir"}),
        (["acme/v1"], {"python", "schema"}),
        (["acme/v1", "acme/v2"], {"python", "schema", "ir"}),
        (["--target", "bundle"], {"schema"}),
        (["--target", "bundle", "--target", "ir"], {"schema", "ir"}),
        (["--target", "bundle,ir"], {"schema", "ir"}),
        (["acme/v1", "--target", "python"], {"python"}),
    ],
)
def test_protocols_and_targets_choose_outputs_and_those_are_made_whole(
    here: Path, arguments: list[str], expected: set[str]
) -> None:
    assert run(*arguments).code == 0
    assert {path.name for path in (here / "generated").iterdir()} == expected
    if "python" in expected:
        assert (here / "generated/python/acme/v1").is_dir()
        assert (here / "generated/python/acme/v2").is_dir()


def test_the_command_works_from_a_folder_below(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here / "schema" / "acme")
    assert run().code == 0
    assert (here / "generated" / "schema").is_dir()


def test_an_output_that_leaves_the_configuration_is_left_alone(here: Path) -> None:
    run()
    (here / "pyproject.toml").write_text(PYPROJECT.split('[tool.acpgen.outputs."generated/ir"]')[0])
    assert run().code == 0
    assert (here / "generated/ir/acme/v2/ir.json").exists()


# --- --check ---------------------------------------------------------------------------------------------------------


def test_check_writes_nothing_prints_a_difference_and_exits_1(here: Path) -> None:
    run()
    write_schema(here, "v1", "Makes another thing.")
    before = snapshot(here)
    ran = run("--check", "--target", "bundle")
    assert ran.code == 1
    assert "--- a/generated/schema/acme/v1/schema.json\n+++ b/generated/schema/acme/v1/schema.json\n@@ " in ran.out
    assert '+      "description": "Makes another thing.",' in ran.out
    assert ran.err == ("generated/schema is out of date: 1 file to write. Run: acpgen generate\n")
    assert snapshot(here) == before


def test_check_of_what_was_just_made_is_silent_on_standard_output(here: Path) -> None:
    run()
    for _ in range(2):
        assert run("--check") == Ran(0, "", "Every output is up to date.\n")
        shutil.rmtree(here / "cache")


DAMAGES: tuple[tuple[Callable[[Path], object], str], ...] = (
    (
        lambda out: (out / "mine.txt").write_text("1"),
        "Only in generated/schema, and not written by acpgen: mine.txt",
    ),
    (lambda out: (out / "acme/v1/meta.json").unlink(), "+++ b/generated/schema/acme/v1/meta.json"),
    (lambda out: (out / ".acpgen.json").unlink(), "+++ b/generated/schema/.acpgen.json"),
    (lambda out: (out / "acme/v1/meta.json").write_text(""), "+++ b/generated/schema/acme/v1/meta.json"),
    (lambda out: shutil.rmtree(out), "+++ b/generated/schema/acme/v1/meta.json"),
)


@pytest.mark.parametrize(("damage", "line"), DAMAGES)
def test_check_sees_every_kind_of_drift(here: Path, damage: Callable[[Path], object], line: str) -> None:
    run()
    damage(here / "generated" / "schema")
    ran = run("--check")
    assert ran.code == 1
    assert line in ran.out.splitlines()


def test_a_long_difference_is_cut_and_the_rest_is_counted(here: Path) -> None:
    ran = run("--check")
    assert len(ran.out.splitlines()) == outcome_text.LONGEST_DIFFERENCE
    assert " more lines of difference are not shown." in ran.err
    assert not (here / "generated").exists()


def test_text_of_a_schema_cannot_drive_the_terminal(here: Path) -> None:
    write_schema(here, "v1", "\x1b]0;owned\x07 \x1b[31mred\u202e")
    (here / "schema/acme/v1/\x1b[31m.json").write_text("{")
    ran = run("--check", "--target", "bundle")
    assert ran.code == 2
    (here / "schema/acme/v1/\x1b[31m.json").unlink()
    ran = run("--check", "--target", "bundle")
    assert ran.code == 1
    assert all(line.isprintable() for line in (ran.out + ran.err).splitlines())


# --- --schema --------------------------------------------------------------------------------------------------------


def test_any_schema_goes_in_and_needs_no_project(here: Path) -> None:
    shutil.copy(here / "schema/acme/v1/thing.json", here / "mine.json")
    (here / "pyproject.toml").unlink()
    arguments = ("--schema", "mine.json", "--package", "acme.things", "--out", "made", "--target", "python,bundle,ir")
    assert run(*arguments).code == 0
    assert {"acme", "schema.json", "meta.json", "ir.json"} <= {path.name for path in (here / "made").iterdir()}
    assert "class ThingRequest" in (here / "made/acme/things/models.py").read_text()
    assert run(*arguments).err == "Nothing to do: no input has changed (1 output).\n"
    assert run(*arguments, "--check").code == 0


def test_python_is_the_target_of_a_schema_that_names_none(here: Path) -> None:
    assert run("--schema", "schema/acme/v1", "--package", "p", "--out", "made").code == 0
    assert (here / "made/p/__init__.py").exists()
    assert not (here / "made/schema.json").exists()


def test_a_names_file_names_a_class(here: Path) -> None:
    (here / "names.toml").write_text('"#/$defs/ThingRequest" = "MakeThing"\n')
    arguments = ("--schema", "schema/acme/v1", "--package", "p", "--out", "made")
    assert run(*arguments).code == 0
    assert run(*arguments, "--names", "names.toml").code == 0
    text = (here / "made/p/models.py").read_text()
    assert "class MakeThing" in text
    assert "MakeThing" in (here / "made/p/methods.py").read_text(), (
        "the name in the file still says what it is to its method"
    )
    assert "class ThingRequest" not in text


def test_a_project_names_classes_for_all_protocols_or_for_one(here: Path) -> None:
    config = (here / "pyproject.toml").read_text()

    def names(text: str) -> Ran:
        (here / "pyproject.toml").write_text(f"{config}\n{text}")
        return run()

    ran = names('[tool.acpgen.names]\nThingRequest = "MakeThing"\n')
    assert ran.code == 0, ran.err
    assert any("class MakeThing(" in path.read_text() for path in (here / "generated").rglob("models.py"))
    ran = names('[tool.acpgen.names."acme/v1"]\n"#/$defs/ThingRequest" = "MakeIt"\n')
    assert ran.code == 0, ran.err
    assert any("class MakeIt(" in path.read_text() for path in (here / "generated").rglob("models.py"))
    for text, told in (
        (
            '[tool.acpgen.names]\nThingRequst = "A"\n',
            "tool.acpgen.names: ThingRequst: this entry of the names matches no",
        ),
        ('[tool.acpgen.names."acme/v1"]\nThingRequst = "A"\n', "Did you mean 'ThingRequest'?"),
        ('[tool.acpgen.names."acme/v9"]\nThingRequest = "A"\n', "there is no protocol 'acme/v9'"),
        ("[tool.acpgen.names]\nThingRequest = 3\n", "must be the name of a Python class"),
    ):
        ran = names(text)
        assert ran.code == 2
        assert told in ran.err, ran.err


def test_names_by_position_are_counted_on_standard_error(here: Path) -> None:
    either = {"anyOf": [{"type": "object", "required": [name], "properties": {name: True}} for name in ("a", "b")]}
    (here / "mine.json").write_text(json.dumps({"$defs": {"Either": either, "Thing": {"type": "object"}}}))
    first, second, thing = {"#/$defs/Either/anyOf/0": "A"}, {"#/$defs/Either/anyOf/1": "B"}, {"#/$defs/Thing": "C"}
    told = "by position. Check them again when the schema has changed.\n"
    for names, said in (
        ({**first, **second, **thing}, f"names.json: 2 entries name {told}"),
        (second, f"names.json: 1 entry names {told}"),
        (thing, ""),
    ):
        (here / "names.json").write_text(json.dumps(names))
        ran = run("--schema", "mine.json", "--target", "ir", "--out", "made", "--names", "names.json")
        assert ran.code == 0
        assert ran.err.startswith(said)
        assert ran.err.count("by position") == (1 if said else 0)


def test_keep_unknown_makes_closed_unions_tolerated(here: Path) -> None:
    (here / "mine.json").write_text(json.dumps({"$defs": {"Colour": {"type": "string", "enum": ["red", "blue"]}}}))
    for options, openness in (((), "closed"), (("--keep-unknown",), "tolerated")):
        assert run("--schema", "mine.json", "--target", "ir", "--out", "made", *options).code == 0
        assert json.loads((here / "made/ir.json").read_text())["definitions"]["Colour"]["openness"] == openness


@pytest.mark.parametrize(
    "folder", tiers.sample(["acp-v1-newest", "acp-v2-newest", "mcp-2025-06-18", "mcp-2025-11-25"], 1)
)
def test_a_published_schema_goes_in_unedited(here: Path, folder: str) -> None:
    file = f"upstream/{folder}/schema.json"
    evidence.need(file)
    ran = run(
        *("--schema", str(evidence.path(file)), "--package", "p", "--out", str(here / folder)),
        *("--target", "python,bundle,ir"),
    )
    assert ran.code == 0, ran.err


# --- the library -----------------------------------------------------------------------------------------------------


def test_the_library_has_the_power_of_the_command(here: Path) -> None:
    run()
    documents = acpgen.load(here / "schema/acme/v1", name="acme/v1")
    made = acpgen.generate(documents, {"bundle": acpgen.Settings(prefix="acme/v1")})
    acpgen.write([acpgen.Tree(here / "copy", made["bundle"])])
    assert snapshot(here / "copy") == snapshot(here / "generated/schema")
    assert list(acpgen.generate(documents, ["bundle", "ir"])) == ["bundle", "ir"]


def test_the_library_says_which_target_is_not_known(here: Path) -> None:
    documents = acpgen.load(here / "schema/acme/v1")
    with pytest.raises(acpgen.Faults, match=r"there is no target 'bundel'. Did you mean 'bundle'\?"):
        acpgen.generate(documents, ["bundel"])


def test_the_place_of_a_note_is_found_from_the_current_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = here / "schema" / "acme" / "v1" / "thing.json"
    schema: Any = thing("Makes a thing.")
    schema["$defs"]["ThingRequest"]["requierd"] = []
    file.write_text(json.dumps(schema), encoding="utf-8")
    note = "#/$defs/ThingRequest: 'requierd' is not a keyword"
    assert f"note: schema/acme/v1/thing.json{note}" in run().err
    (here / "deeper").mkdir()
    monkeypatch.chdir(here / "deeper")
    ran = run()
    assert "Nothing to do" in ran.err, "what was noted comes from the earlier run"
    assert f"note: {file}{note}" in ran.err


def test_the_library_takes_paths_as_text_and_as_objects_with_a_path(here: Path) -> None:
    class Somewhere:
        def __init__(self, path: str) -> None:
            self.path = path

        def __fspath__(self) -> str:
            return self.path

    for kind in (str, Somewhere, Path):
        file, out = kind("schema/acme/v1/thing.json"), kind(f"made-{kind.__name__}")
        documents = acpgen.load(file)
        assert acpgen.compare(file, kind("schema/acme/v1")).verdict == "identical"
        acpgen.write([acpgen.Tree(out, acpgen.generate(documents, ["bundle"])["bundle"])])
        assert (here / f"made-{kind.__name__}" / "schema.json").exists()


@pytest.mark.parametrize(
    "made", [None, {"a": 3}, {"/etc/x": ""}, {"a/../b": ""}, {".acpgen.json": ""}, {"a": "\ud800"}, {3: ""}]
)
def test_a_target_of_another_package_that_makes_no_files_is_a_fault(
    here: Path, monkeypatch: pytest.MonkeyPatch, made: object
) -> None:
    class Entry:
        name, value = "odd", "odd_target:render"

        def load(self) -> Callable[..., object]:
            return lambda *_: made

    def entry_points(group: str, name: str = "odd") -> list[Entry]:
        return [Entry()] if (group, name) == ("acpgen.targets", "odd") else []

    monkeypatch.setattr("acpgen.targets.installed.entry_points", entry_points)
    ran = run("--schema", "schema/acme/v1", "--out", "made", "--target", "bundle,odd")
    assert ran.code == 2
    assert ran.err.startswith("error: odd_target:render: the target 'odd' failed: it ")
    assert not (here / "made").exists()


def test_everything_the_package_exports_is_there() -> None:
    assert all(getattr(acpgen, name) is not None for name in acpgen.__all__)
    with pytest.raises(AttributeError):
        getattr(acpgen, "nothing_" * 2)


def imported_by(statement: str) -> set[str]:
    shown = subprocess.run(
        [sys.executable, "-c", f"{statement}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "generator")},
    )
    return set(shown.stdout.split())


def test_importing_the_package_or_the_command_loads_nothing_heavy() -> None:
    heavy = {
        "datamodel_code_generator",
        "jinja2",
        "jsonschema_rs",
        "watchfiles",
        "acpgen.bundle.bundle",
        "acpgen.meaning.lower",
    }
    assert not imported_by("import acpgen") & {*heavy, "typer", "rich", "pydantic"}
    assert not imported_by("import acpgen.cli") & {*heavy, "rich"}


def test_help_loads_the_command_line_alone() -> None:
    loaded = imported_by(
        "import atexit, sys; sys.argv = ['acpgen', '--help']; atexit.register(lambda: print(*sys.modules))\n"
        "import acpgen.cli; acpgen.cli.main()"
    )
    ours = {name for name in loaded if name.startswith(("acpgen.", "schema_inclusion."))}
    light = {"errors", "input", "input.step_budget"}
    assert {name for name in ours if not name.startswith(("acpgen.cli", "acpgen.commands"))} == {
        *(f"acpgen.{name}" for name in light),
        "schema_inclusion.imports",
    }
    assert not loaded & {"json", "pydantic", "rich", "jsonschema_rs", "tomllib"}


def test_a_run_that_has_nothing_to_do_understands_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of what is kept is made from bytes, options and versions alone."""
    command = ["generate", "--schema", "schema/acme/v1", "--package", "acme.v1", "--out", "made"]
    assert run(*command[1:]).code == 0
    monkeypatch.chdir(here)
    loaded = imported_by(
        f"import atexit, sys; sys.argv = ['acpgen', *{command}]; atexit.register(lambda: print(*sys.modules))\n"
        "import acpgen.cli; acpgen.cli.main()"
    )
    assert {"acpgen.commands.build", "acpgen.files.cache"} <= loaded
    understanding = {
        f"acpgen.{name}"
        for name in ("ir", "bundle.bundle", "methods.profile", "input.expressions", "targets.installed")
    }
    assert not loaded & {*understanding, "datamodel_code_generator", "jinja2", "jsonschema", "ruff"}
    assert not {name for name in loaded if name.startswith("schema_inclusion.")} - {
        f"schema_inclusion.{name}" for name in ("imports", "values")
    }


def test_a_target_of_another_package_is_made_anew_each_time(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acpgen.commands.build.BUILT_IN", {*BUILT_IN} - {"ir"})
    work = project.plan_outputs(find(here))
    assert {path.name for path in build.run(work).fresh} == set()
    outcome = build.run(work)
    assert {path.name for path in outcome.fresh} == {"python", "schema"}
    assert [change.is_none for change in outcome.changes] == [True]


def test_progress_counts_every_step(here: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    build.run(project.plan_outputs(find(here)), progress=lambda done, total, step: steps.append((done, total, step)))
    assert [done for done, _, _ in steps] == list(range(len(steps)))
    assert {total for _, total, _ in steps} == {len(steps)}
    assert steps[0][2] == "reading acme/v1"
    assert steps[-1][2] == "writing"


def test_a_target_whose_files_clash_with_another_is_a_fault_and_nothing_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def render(*_: object) -> Mapping[str, str]:
        return {"acme": "a file where another target needs a folder"}

    changed = {**{name: TARGETS[name] for name in TARGETS}, "ir": Target(render)}
    monkeypatch.setattr("acpgen.targets.installed.TARGETS", changed)
    ran = run("--schema", "schema/acme/v1", "--package", "acme", "--out", "made", "--target", "python,ir")
    assert ran.code == 2
    said = "error: made: two protocols or targets need 'acme' for different content.\nhint: Give each its own output.\n"
    assert ran.err == said
    assert not (here / "made").exists()


def test_a_faulty_protocol_leaves_every_output_of_the_run_untouched(here: Path) -> None:
    run()
    before = snapshot(here)
    write_schema(here, "v1", "Makes another thing.")
    (here / "schema/acme/v2/thing.json").write_text("{")
    changed = snapshot(here)
    assert run().code == 2
    assert snapshot(here) == changed
    assert {name for name in before if before[name] != changed[name]} == {
        "schema/acme/v1/thing.json",
        "schema/acme/v2/thing.json",
    }


# --- the terminal ----------------------------------------------------------------------------------------------------


def test_the_table_fits_80_columns_and_goes_to_standard_error(here: Path) -> None:
    (here / "pyproject.toml").write_text(PYPROJECT.replace("generated/ir", f"generated/{'long/' * 30}ir"))
    ran = run()
    assert ran.out == ""
    table = ran.err.split("written generated")[0].splitlines()
    assert table[0].split() == ["output", "written", "unchanged", "removed"]
    assert all(len(line) <= 80 for line in table)


def test_few_changed_files_are_named_and_many_are_counted(here: Path) -> None:
    ran = run("--target", "bundle")
    assert "written generated/schema/acme/v1/meta.json" in ran.err.splitlines()
    ran = run("--target", "python")
    assert "written generated/python/" not in ran.err
    (here / "generated/schema/acme/v1/meta.json").unlink()
    (here / "pyproject.toml").write_text(PYPROJECT.replace('protocols = ["acme/v1"]', 'protocols = ["acme/v2"]'))
    ran = run("--target", "bundle")
    assert "removed generated/schema/acme/v1/schema.json" in ran.err.splitlines()


def in_terminal(arguments: list[str], cwd: Path, environment: Mapping[str, str]) -> str:
    """What the command prints on a terminal."""
    pid, handle = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(sys.executable, [sys.executable, "-m", "acpgen", *arguments], {**os.environ, **environment})
    shown = b""
    with contextlib.suppress(OSError):  # the terminal is gone when its process is
        while chunk := os.read(handle, 4096):
            shown += chunk
    os.waitpid(pid, 0)
    os.close(handle)
    return shown.decode()


def test_a_difference_is_coloured_on_a_terminal_unless_no_color_is_set(here: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT / "generator"), "TERM": "xterm-256color", "COLUMNS": "100"}
    coloured = in_terminal(["generate", "--check", "--target", "bundle"], here, environment)
    assert "\x1b[32m+{" in coloured
    plain = in_terminal(["generate", "--check", "--target", "bundle"], here, {**environment, "NO_COLOR": "1"})
    assert "\x1b[3" not in plain
    assert "+{" in plain


def test_a_progress_bar_appears_after_a_second_and_only_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with terminal.show_progress() as progress:
        progress(0, 2, "reading")
        time.sleep(1.2)
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with terminal.show_progress() as progress:
        progress(0, 2, "reading")
    assert capfd.readouterr().err == ""
    with terminal.show_progress() as progress:
        progress(1, 2, "python of \x1b[31macme")
        time.sleep(1.3)
    shown = capfd.readouterr().err
    assert "python of \\x1b[31macme" in shown
    assert "0:00:01" in shown  # a bar may stand while one output takes long; the time does not


def test_version_and_help_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["--version"], f"acpgen {acpgen.__version__}\n"),
        (["generate", "--help"], "Generate the outputs of a project, or of one schema.\n\nUsage: acpgen generate"),
        (["--help"], "Generate bindings"),
        (["-h"], "Generate bindings"),
    ):
        with pytest.raises(SystemExit) as stopped:
            cli.app(arguments, prog_name="acpgen")
        assert stopped.value.code == 0
        printed = capsys.readouterr()
        assert printed.out.startswith(expected)
        assert printed.err == ""
        assert all(len(line) <= 80 for line in printed.out.splitlines())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("acpgen generate acme/", {"acme/v1", "acme/v2"}),
        ("acpgen generate --target b", {"bundle"}),
        ("acpgen gen", {"generate"}),
    ],
)
def test_the_shell_completes_commands_protocols_and_targets(here: Path, words: str, expected: set[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "acpgen"],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "generator"),
            "_ACPGEN_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        },
    )
    assert set(ran.stdout.split()) == expected


def test_output_that_the_encoding_cannot_hold_is_escaped(here: Path) -> None:
    write_schema(here, "v1", "Makes a thing — ünïcode.")
    ran = subprocess.run(
        [sys.executable, "-m", "acpgen", "generate", "--check", "--target", "bundle"],
        cwd=here,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "generator"), "PYTHONIOENCODING": "ascii"},
    )
    assert ran.returncode == 1
    assert b"Makes a thing \\u2014 \\xfcn\\xefcode." in ran.stdout
    assert b"Traceback" not in ran.stderr


# --- --watch ---------------------------------------------------------------------------------------------------------


@dataclass
class Watching:
    """A command that watches, and what it has said so far."""

    process: subprocess.Popen[str]
    lines: queue.SimpleQueue[str]

    def await_line(self, expected: str, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        seen: list[str] = []
        while (left := deadline - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                seen.append(self.lines.get(timeout=left))
                if expected in seen[-1]:
                    return
        raise AssertionError(f"no line with {expected!r} in {seen}")


def _heed_interrupts() -> None:
    """What a shell runs in the background ignores Ctrl-C, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def watching(here: Path) -> Iterator[Watching]:
    process = subprocess.Popen(
        [sys.executable, "-m", "acpgen", "generate", "--watch", "--target", "bundle"],
        cwd=here,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "generator")},
        preexec_fn=_heed_interrupts,
    )
    assert process.stderr is not None
    lines = queue.SimpleQueue[str]()

    def read(stream: IO[str]) -> None:
        for line in stream:
            lines.put(line)

    reader = threading.Thread(target=read, args=(process.stderr,))
    reader.start()
    try:
        yield Watching(process, lines)
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stderr.close()


def test_watch_makes_outputs_after_each_change_survives_faults_and_ends_on_ctrl_c(
    here: Path, watching: Watching
) -> None:
    schema = here / "generated/schema/acme/v1/schema.json"
    watching.await_line("Watching for changes")
    assert schema.exists()
    write_schema(here, "v1", "Makes a second thing.")
    watching.await_line("written generated/schema/acme/v1/schema.json")
    watching.await_line("Watching for changes")
    assert "Makes a second thing." in schema.read_text()
    (here / "schema/acme/v1/thing.json").write_text("{")
    watching.await_line("schema/acme/v1/thing.json:1:2: this is not JSON")
    watching.await_line("Watching for changes")
    beside = here / "thing.new"  # as editors save: a new file takes the place of the old one
    beside.write_text(json.dumps(thing("Makes a third thing.")))
    beside.rename(here / "schema/acme/v1/thing.json")
    watching.await_line("written generated/schema/acme/v1/schema.json")
    watching.await_line("Watching for changes")
    (here / "pyproject.toml").write_text("[tool.acpgen\n")
    watching.await_line("pyproject.toml:1:13: this is not TOML")
    watching.await_line("Watching for changes")
    (here / "pyproject.toml").write_text(PYPROJECT.replace("generated/schema", "generated/other"))
    watching.await_line("written generated/other/acme/v1/schema.json")
    watching.await_line("Watching for changes")
    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(60) == 0
    assert watching.lines.empty()


def test_watch_without_a_configuration_exits_with_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("--watch").code == 2


# --- what no validator enforces --------------------------------------------------------------------------------------


def write_loose(root: Path) -> None:
    """A schema with many patterns that are none of ECMA-262."""
    words = {f"Word{letter}": {"type": "string", "pattern": "(?P<x>a)"} for letter in "abcdefghij"}
    exact = {"type": "object", "properties": {"name": {"type": "string", "pattern": "^(?!x)"}}}
    (root / "loose.json").write_text(json.dumps({"$defs": {"Exact": exact, **words}}), encoding="utf-8")


LOOSE = ("--schema", "loose.json", "--package", "acme.v1", "--out", "out")


def test_generate_says_at_its_end_what_no_validator_enforces_and_where_the_file_has_it(here: Path) -> None:
    write_loose(here)
    made = run(*LOOSE)
    assert made.code == 0
    head, *lines = made.err.splitlines()[2:]
    assert head.startswith("loose.json: no validator here enforces 10 patterns of 10 definitions; ")
    assert lines[0].startswith("  loose.json#/$defs/Worda/pattern: it is no pattern of ECMA-262: ")
    assert lines[-1] == "  and 2 more patterns"
    tables = (here / "out" / "acme" / "v1" / "methods.py").read_text(encoding="utf-8")
    assert '"loose.json#/$defs/Wordj/pattern"' in tables
    assert '"Exact": (' not in tables


def test_a_pattern_that_no_validator_enforces_has_the_file_as_people_know_it(here: Path) -> None:
    write_loose(here)
    (here / "below").mkdir()
    (here / "loose.json").rename(here / "below" / "loose.json")
    made = run("--schema", "below/loose.json", *LOOSE[2:])
    assert "\n  below/loose.json#/$defs/Worda/pattern: it is no pattern of ECMA-262: " in made.err


def test_help_promises_the_summary_that_there_is(here: Path) -> None:
    marks = {"type": "object", "x-method": "add", "x-side": "agent"}
    (here / "marked.json").write_text(json.dumps({"$defs": {"AddRequest": marks, "AddResponse": marks}}), "utf-8")
    assert not run("--schema", "marked.json", *LOOSE[2:]).err.splitlines()[2:]
    assert "the methods that a profile found and not the schema's x-method" in " ".join(run("--help").out.split())


NAMED = ("--schema", "named.json", "--package", "acme.v1", "--out", "out")


def test_generate_names_the_construct_of_a_pattern_that_no_validator_enforces_and_goes_on(here: Path) -> None:
    patterns = {"Named": "^(?P<x>a)$", "Angle": r"^\<a\>$", "Looks": "^(?!x)"}
    definitions = {name: {"type": "string", "pattern": pattern} for name, pattern in patterns.items()}
    (here / "named.json").write_text(json.dumps({"$defs": definitions}), encoding="utf-8")
    made, again = run(*NAMED), run(*NAMED, "--strict-coverage")
    assert (made.code, again.code) == (0, 1)
    told = [
        (
            "named.json: no validator here enforces 1 pattern of 1 definition; "
            "the package lists every place in UNENFORCED."
        ),
        (
            "  named.json#/$defs/Named/pattern: it is no pattern of ECMA-262: '(?P<x>' at character 2: "
            "a named group is written (?<name>…)"
        ),
    ]
    assert made.err.splitlines()[2:] == told
    assert again.err.splitlines()[1:] == told


def test_a_run_that_has_nothing_to_do_says_it_again(here: Path) -> None:
    write_loose(here)
    first = run(*LOOSE)
    again = run(*LOOSE)
    assert again.err.splitlines()[0] == "Nothing to do: no input has changed (1 output)."
    assert again.err.splitlines()[1:] == first.err.splitlines()[2:]


def test_strict_coverage_exits_1_where_a_keyword_is_left_and_0_where_none_is(here: Path) -> None:
    write_loose(here)
    assert run(*LOOSE, "--strict-coverage").code == 1
    assert (here / "out").is_dir()
    assert run(*LOOSE, "--strict-coverage").code == 1
    assert run(*LOOSE, "--check", "--strict-coverage").code == 1
    assert run(*LOOSE, "--check").code == 0
    assert run("--strict-coverage").code == 0


def test_what_no_bindings_are_made_of_is_not_told(here: Path) -> None:
    write_loose(here)
    made = run("--schema", "loose.json", "--target", "bundle", "--out", "out", "--strict-coverage")
    assert made.code == 0
    assert "enforce" not in made.err


def test_strict_coverage_and_watch_exclude_each_other(here: Path) -> None:
    assert run("--watch", "--strict-coverage").code == 2
