"""Bad input of every kind: one line per fault with file, place and remedy, exit 2, and nothing is written.

Each folder of `golden/faults` is a project. `command.txt` holds the arguments (`generate`, if absent; `cd DIR: …` runs them
elsewhere), `setup.sh` prepares what a repository cannot hold, `error.txt` is standard error, and what lies in `packages` is installed.
A project without pyproject.toml has the protocol `p`, bundled into `out`, which was generated before.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

import commands
import tiers
from acpgen import cli, compare, errors, generate
from acpgen.bundle.faults import FOREIGN_KEYWORD, HIDDEN_KEYWORD, MISSPELT_KEYWORD, STRAY_DEFINITION, UNKNOWN_KEYWORD
from acpgen.commands import terminal
from acpgen.commands.errors import find_fault_kinds
from acpgen.errors import FaultKind
from acpgen.files import Tree, write
from acpgen.files.faults import NOT_RESTORED
from acpgen.input import step_budget
from acpgen.input.faults import DUPLICATE_KEY, NOT_FOUND
from acpgen.input.load import Document, Documents, Source, parse
from acpgen.input.step_budget import join_steps
from acpgen.input.walk import is_array, is_object
from acpgen.lint import lint
from acpgen.messages import validators

CASES = Path(__file__).parent / "golden" / "faults"
GENERATOR = Path(__file__).parents[1] / "generator" / "acpgen"
PYPROJECT = """\
[tool.acpgen]
schema = "schema"

[tool.acpgen.outputs."out"]
target = "bundle"
protocols = ["p"]
"""


@dataclass(frozen=True)
class Result:
    """What a case did: exit code, both streams, the kinds of faults, and whether any file changed."""

    code: object
    out: str
    err: str
    kinds: frozenset[FaultKind]
    is_untouched: bool


def snapshot(folder: Path) -> dict[str, object]:
    """All that lies in a folder, but for what Python keeps of the modules that it has compiled."""
    found: dict[str, object] = {}
    for path in sorted(each for each in folder.rglob("*") if "__pycache__" not in each.parts):
        name = path.relative_to(folder).as_posix()
        found[name] = (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
    return found


@cache
def run(case: Path) -> Result:
    with TemporaryDirectory() as temporary:
        project = Path(temporary) / "project"
        shutil.copytree(case, project)
        for name in ("command.txt", "setup.sh", "error.txt"):
            (project / name).unlink(missing_ok=True)
        if not (project / "pyproject.toml").exists():
            (project / "pyproject.toml").write_text(PYPROJECT)
        write([Tree(project / "out", {"p/schema.json": "old"})])
        if (case / "setup.sh").exists():
            subprocess.run(["bash", "-eu", str(case / "setup.sh")], cwd=project, check=True)
        command = (case / "command.txt").read_text().strip() if (case / "command.txt").exists() else "generate"
        where = project
        if command.startswith("cd "):
            folder, command = command.removeprefix("cd ").split(": ")
            where = project / folder
        return run_in(project, where, command.split())


def run_in(project: Path, where: Path, arguments: list[str]) -> Result:
    kinds: set[FaultKind] = set()
    out, err = io.StringIO(), io.StringIO()
    before = snapshot(project)
    show = terminal.show_faults

    def recorded(faults: errors.Faults) -> None:
        kinds.update(fault.kind for fault in faults.faults)
        show(faults)

    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.chdir(where)
        patch.setenv("XDG_CACHE_HOME", str(project.parent / "cache"))
        patch.setattr(terminal, "show_faults", recorded)
        patch.setattr(step_budget, "STEPS", step_budget.STEPS // 10)  # what takes too long is told a tenth of the way
        if (project / "packages").is_dir():
            patch.setattr(sys, "path", [str(project / "packages"), *sys.path])
        with pytest.raises(SystemExit) as stopped, join_steps():  # as `main` counts
            cli.app(arguments, prog_name="acpgen")
    return Result(
        code=stopped.value.code,
        out=out.getvalue(),
        err=err.getvalue().replace(str(project), "PROJECT"),
        kinds=frozenset(kinds),
        is_untouched=snapshot(project) == before,
    )


def cases() -> list[Path]:
    return sorted(path for path in CASES.iterdir() if path.is_dir())


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_bad_input_is_told_line_by_line_and_changes_nothing(case: Path, request: pytest.FixtureRequest) -> None:
    result = run(case)
    assert (result.code, result.out) == (2, "")
    assert result.is_untouched
    assert result.kinds, "the input was good, or the usage wrong"
    if request.config.getoption("rewrite_goldens"):
        assert not os.environ.get("CI"), "goldens are rewritten by people, and read before they are committed"
        (case / "error.txt").write_text(result.err, encoding="utf-8")
    assert result.err == (case / "error.txt").read_text(encoding="utf-8")
    for line in result.err.splitlines():
        assert line.isprintable()
        assert line.startswith(("error: ", "hint: "))
        assert line.endswith((".", "?"))


NOTES = {STRAY_DEFINITION, FOREIGN_KEYWORD, HIDDEN_KEYWORD, MISSPELT_KEYWORD, UNKNOWN_KEYWORD}
"""What is left out and stops nothing."""

ELSEWHERE = {NOT_RESTORED}
"""What needs a disk that fails twice: `compat/test_fix.py` raises it."""


def test_every_kind_of_fault_is_in_a_case() -> None:
    raised = set[FaultKind]().union(*(run(case).kinds for case in cases()))
    assert {*find_fault_kinds().values()} - NOTES - ELSEWHERE == raised


def test_every_kind_of_fault_says_what_to_do() -> None:
    modules = [
        path
        for path in GENERATOR.rglob("*.py")
        if re.search(r"^[A-Z_]+ = FaultKind\(", path.read_text("utf-8"), re.MULTILINE)
    ]
    count = sum(len(re.findall(r"^[A-Z_]+ = FaultKind\(", path.read_text("utf-8"), re.MULTILINE)) for path in modules)
    assert count == len(find_fault_kinds()), "two kinds have one id, or a module is not listed"
    for kind in find_fault_kinds().values():
        error, hint = kind.make_example()
        assert error and (hint or kind.about or kind == UNKNOWN_KEYWORD)  # that one may be somebody's annotation


def test_every_fault_is_made_with_the_values_of_its_kind() -> None:
    """Where it is made: what raises it may be met by no test."""
    fields = {name.upper().replace("-", "_"): kind.fields for name, kind in find_fault_kinds().items()}
    made = 0
    for path in GENERATOR.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in fields:
                given = {keyword.arg for keyword in node.keywords} - {"at"}
                assert given == fields[node.func.id], f"{path}:{node.lineno}"
                made += 1
    assert made > 100


def test_errors_lists_what_can_be_wrong_and_what_to_do() -> None:
    shown = commands.acpgen(["errors", "duplicate-key"])
    assert shown.stdout.decode() == (
        "duplicate-key\n    the key 'KEY' occurs twice in one object. Remove or rename one of the two.\n"
    )
    listed = json.loads(commands.acpgen(["errors", "--format", "json"]).stdout)["errors"]
    assert [row["id"] for row in listed] == sorted(find_fault_kinds())
    refused = commands.acpgen(["errors", "duplicate-keys"])
    assert refused.returncode == 2
    assert b"Did you mean 'duplicate-key'?" in refused.stderr


def test_every_fault_can_be_compared_copied_and_noted() -> None:
    import copy
    import pickle

    fault = DUPLICATE_KEY(at="x.json:1:2", key="k")
    assert fault == pickle.loads(pickle.dumps(fault)) == copy.copy(fault)
    assert fault != DUPLICATE_KEY(at="x.json:1:3", key="k")
    fault.add_note("seen")


def test_a_fault_is_one_short_line_whatever_the_input_holds() -> None:
    fault = DUPLICATE_KEY(at="\x1b]0;x\x07\n\u202e", key="k" * 100_000)
    assert str(fault).isprintable()
    assert len(str(fault)) < 300
    assert len(str(NOT_FOUND(at="x" * 100_000))) < 700


@pytest.mark.parametrize(
    "arguments",
    [
        ["generate", "--bogus"],
        ["generate", "--check", "--watch"],
        ["generate", "--package", "a"],
        ["generate", "--out", "x"],
        ["generate", "--names", "x"],
        ["generate", "--keep-unknown"],
        ["generate", "p", "--schema", "x.json", "--out", "made"],
        ["generate", "--schema", "x.json", "--package", "a"],
        ["generate", "--schema", "x.json", "--out", "made"],
        ["generate", "--schema", "x.json", "--out", "made", "--package", "no-package"],
        ["generate", "--schema", ".", "--out", "made", "--package", "a"],
        ["nonsense"],
        [],
    ],
)
def test_wrong_usage_exits_with_2_and_changes_nothing(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    result = run_in(tmp_path, tmp_path, arguments)
    assert result.code == 2
    assert result.is_untouched
    assert result.err.startswith("error: ") if arguments else "Usage: acpgen" in result.err
    assert not arguments or "\nhint: " in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("options", [[], ["--schema", "x.json", "--package", "a", "--out", "made"]])
def test_a_current_folder_that_is_gone_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SystemExit) as stopped:
        cli.app(["generate", *options], prog_name="acpgen")
    assert stopped.value.code == 2
    told = "error: the current folder: there is no such file or folder.\nhint: Correct the path.\n"
    assert capsys.readouterr().err == told


# --- damaged schemas -------------------------------------------------------------------------------------------------

DOORS: Final[dict[str, Any]] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "$id": "https://example.org/doors",
    "title": "Door",
    "type": "object",
    "properties": {"locks": {"type": "array", "items": {"$ref": "#/definitions/v2/Lock"}, "minItems": 1}, "$ref": True},
    "patternProperties": {"^x-": {"type": ["string", "null"], "default": None}},
    "additionalProperties": False,
    "dependencies": {"locks": ["hinge"], "hinge": {"required": ["locks"]}},
    "definitions": {
        "v2": {
            "Lock": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "bolt"}, "size": {"minimum": 1}},
                        "required": ["kind"],
                    },
                    {
                        "allOf": [
                            {"$ref": "#/definitions/Base"},
                            {"properties": {"kind": {"const": "code"}}, "required": ["kind"]},
                        ]
                    },
                ],
                "examples": [{"kind": "bolt"}],
                "x-unknown": "keep",
            }
        },
        "Base": {
            "properties": {
                "of": {"anyOf": [{"$ref": "#"}, {"type": "null"}], "x-null": "clears"},
                "id": {"pattern": "^a"},
            },
            "definitions": {
                "Pair": {"items": [{"type": "integer"}, {"enum": ["a", "b", None]}], "additionalItems": False}
            },
        },
        "OpenRequest": {
            "type": "object",
            "x-method": "door/open",
            "x-side": "server",
            "properties": {
                "pair": {"$ref": "#/definitions/Base/definitions/Pair"},
                "how": {"type": "string", "enum": ["slowly", "fast"], "x-capability": "server:door.speed"},
                "map": {"type": "object", "additionalProperties": {"type": "number", "multipleOf": 0.5}},
            },
            "required": ["how"],
        },
        "OpenResponse": {"type": "object", "x-method": "door/open", "x-side": "server", "not": {"required": ["error"]}},
        "Frame": {
            "x-docs-ignore": True,
            "if": {"type": "array"},
            "then": {"contains": {"$ref": "#/definitions/v2/Lock"}},
        },
    },
}
VALUES: Final[tuple[Any, ...]] = (
    None,
    3,
    2.0,
    -1,
    "text",
    "",
    [],
    ["a"],
    {},
    {"a": {}},
    True,
    False,
    "#/definitions/v2",
)
USES: Final[tuple[Callable[[Documents], object], ...]] = (
    lambda documents: generate(documents, ["bundle", "ir", "docs", "vectors"]),
    lambda documents: compare(documents, documents),
    lambda documents: compare(documents, Documents("doors", (whole(DOORS),)), mode="language"),
    lambda documents: validators.read_strict(documents).judge(
        {"jsonrpc": "2.0", "id": 1, "method": "door/open"}, sender="client"
    ),
)


def spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container of a value with each of its keys or indices."""
    inside: list[tuple[Any, Any]] = (
        [*value.items()] if is_object(value) else [*enumerate(value)] if is_array(value) else []
    )
    for key, inner in inside:
        yield value, key
        yield from spots(inner)


def damaged(seed: int) -> Any:
    """The schema with a few values replaced, taken out or put elsewhere."""
    choose = random.Random(seed)
    value: Any = copy.deepcopy(DOORS)
    for _ in range(choose.randint(1, 3)):
        within, key = choose.choice(list(spots(value)))
        other, from_key = choose.choice(list(spots(DOORS)))
        if choose.random() < 0.6:
            within[key] = copy.deepcopy(choose.choice(VALUES))
        elif is_object(within) and choose.random() < 0.3:
            del within[key]
        elif is_object(within) and is_object(other):
            within[from_key] = copy.deepcopy(other[from_key])
    return value


def source(value: Any) -> Source:
    return Source("doors", "", (("door.json", json.dumps(value).encode()),))


def whole(value: Any) -> Document:
    return Document("door.json", value, json.dumps(value))


def test_the_schema_that_is_damaged_is_a_good_one() -> None:
    documents = parse(source(DOORS))
    for use in USES:
        use(documents)


@pytest.mark.parametrize("block", tiers.sample(range(3), 1))
def test_a_damaged_schema_is_used_or_refused_by_faults_and_nothing_else(block: int) -> None:
    used = 0
    for seed in range(block * 20, block * 20 + 20):
        value = damaged(seed)
        lint(source(value))
        with contextlib.suppress(errors.Faults):
            documents = parse(source(value))
            for use in USES:
                with contextlib.suppress(errors.Faults):
                    use(documents)
                    used += 1
    assert used > 8, "nearly all copies were refused, so that little was tried"
