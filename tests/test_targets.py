"""Goldens of every target: `tests/golden/targets/<case>/schema.json` and what each target makes of it in `out/<target>/`."""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datamodel_code_generator
import pytest

import tiers
from acpgen import ir
from acpgen.bundle.bundle import bundle
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from acpgen.targets.python import models
from jsonrpc_bindings import DecodeError, Record

CASES = sorted(path.parent.name for path in Path(__file__).parent.glob("golden/targets/*/schema.json"))
GOLDEN = Path(__file__).parent / "golden" / "targets"
SCHEMA = Path(__file__).parents[1] / "schema"


def made(case: str, target: str) -> dict[str, str]:
    bundled = bundle(load(GOLDEN / case / "schema.json", name=case))
    files = TARGETS[target](lower(bundled), bundled, settings(case, target))
    return {path: text for path, text in files.items() if not path.startswith("runtime.")}  # which no schema changes


def settings(case: str, target: str) -> Settings:
    return Settings(package=f"golden_{case}", options={"runtime": "package"} if target == "python" else {})


def kept(case: str, target: str) -> dict[str, str]:
    folder = GOLDEN / case / "out" / target
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("case", CASES)
def test_a_target_makes_what_its_golden_holds(case: str, target: str, request: pytest.FixtureRequest) -> None:
    files = made(case, target)
    if request.config.getoption("rewrite_goldens"):
        assert "CI" not in os.environ, "goldens are never rewritten in CI"
        folder = GOLDEN / case / "out" / target
        for path in kept(case, target):
            (folder / path).unlink()
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
    assert files == kept(case, target)


def test_settings_of_tools_around_the_current_folder_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[0]
    monkeypatch.chdir(tmp_path)
    lengths = "[tool.black]\nline-length = 40\n[tool.ruff]\nline-length = 50\n[tool.isort]\nline_length = 30\n"
    for settings in (f"{lengths}[tool.datamodel-codegen]\nbuiltin-format-line-length = 33\n", "this is [ no TOML"):
        (tmp_path / "pyproject.toml").write_text(settings, "utf-8")
        assert made(case, "python") == kept(case, "python")


def test_every_target_has_a_golden() -> None:
    for case in CASES:
        assert {path.name for path in (GOLDEN / case / "out").iterdir()} == set(TARGETS)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The Python goldens, importable."""
    folder = tmp_path_factory.mktemp("golden")
    for case in CASES:
        for path, text in made(case, "python").items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.mark.parametrize("case", CASES)
def test_golden_code_imports_and_every_class_builds(case: str, packages: Path) -> None:
    module: Any = importlib.import_module(f"golden_{case}")
    classes = [getattr(module, name) for name in module.__all__]
    records: list[Any] = [found for found in classes if isinstance(found, type) and issubclass(found, Record)]
    assert records
    for record in records:
        with pytest.raises(DecodeError):
            module.decode_as(record, 5)


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("checker", tiers.sample(["mypy", "pyright"], 1, by="test_targets"))
def test_golden_code_is_typed_strictly(checker: str, packages: Path, whole: bool) -> None:
    checked = [f"golden_{case}" for case in (CASES if whole else tiers.draw(CASES, 2))]
    if checker == "mypy":
        command = [sys.executable, "-m", "mypy", "--strict", *checked]
    else:
        settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "include": checked}
        (packages / "pyrightconfig.json").write_text(json.dumps(settings))
        command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(packages)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=packages, check=False)
    assert run.returncode == 0, run.stdout


def test_no_text_of_a_schema_becomes_code(packages: Path) -> None:
    """Every text position of a schema holds something that would break out of a literal; none does."""
    calm = {"golden_hostile", "Evil"}
    for path in (packages / "golden_hostile").glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.Name) and node.id in ("os", "system")), path
            assert not (isinstance(node, ast.Import | ast.ImportFrom) and _imports(node) & {"os", "subprocess"}), path
    assert calm
    module: Any = importlib.import_module("golden_hostile")
    for text, inside in ((hostile_text(), "import os"), (next(iter(module.METHODS)), '__import__("os")')):
        assert text.startswith('"""') and inside in text and text.endswith("\x00")
        assert {type(node) for node in ast.parse(text.__repr__()).body} == {ast.Expr}


def hostile_text() -> str:
    """What stands in every place of the schema that takes any text. Names of methods have no blanks, and so another one."""
    schema = json.loads((GOLDEN / "hostile" / "schema.json").read_text("utf-8"))
    return str(schema["$defs"]["Evil"]["properties"]["const"]["const"])


def _imports(node: ast.Import | ast.ImportFrom) -> set[str]:
    names = {alias.name for alias in node.names}
    return names | ({node.module} if isinstance(node, ast.ImportFrom) and node.module else set())


def test_hostile_texts_come_back_as_they_were(packages: Path) -> None:
    module: Any = importlib.import_module("golden_hostile")
    text, name = hostile_text(), next(iter(module.METHODS))
    evil = module.decode_as(module.Evil, {"const": text})
    assert module.encode(evil) == module.encode({"const": text})
    assert evil.default == text
    union = module.decode_as(module.Union, {'t"ag': text})
    assert not isinstance(union, module.UnknownUnion)
    assert isinstance(module.decode_as(module.Union, {'t"ag': "new"}), module.UnknownUnion)
    assert module.METHODS[name].name == name


def test_equal_input_gives_equal_bytes() -> None:
    for case in CASES:
        for target in TARGETS:
            assert made(case, target) == made(case, target)


@pytest.mark.parametrize("at_once", tiers.sample([1, 40], 1))
def test_records_that_are_emitted_in_lots_are_those_that_are_emitted_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = bundle(load(SCHEMA / "acp" / "v2", name="acp/v2"))
    protocol = lower(bundled)

    def parts() -> tuple[dict[str, str], set[str], list[str]]:
        text = TARGETS["python"](protocol, bundled, Settings(package="lots"))["lots/models.py"]
        tree = ast.parse(text)
        classes = {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.ClassDef)}
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        ordered = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        return classes, {f"{node.module}.{alias.name}" for node in imports for alias in node.names}, ordered

    whole = parts()
    monkeypatch.setattr(models, "_AT_ONCE", at_once)
    lots = parts()
    assert (lots[0], lots[1]) == (whole[0], whole[1])
    bases = {record.name: record.base for record in protocol.definitions.values() if isinstance(record, ir.Record)}
    assert all(lots[2].index(base) < lots[2].index(name) for name, base in bases.items() if base is not None)


@pytest.mark.parametrize("case", ["records", "hostile", "unions"])
def test_the_emitter_runs_once_whatever_classes_are_called(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records have classes called `Any` and `Record`; the names that their module imports give way."""
    plain, runs = datamodel_code_generator.generate, list[int]()

    def counted(*arguments: Any, **options: Any) -> Any:
        runs.append(1)
        return plain(*arguments, **options)

    monkeypatch.setattr(datamodel_code_generator, "generate", counted)
    made(case, "python")
    assert runs == [1]


def test_the_emitter_does_not_run_again_where_only_descriptions_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = (GOLDEN / "records" / "schema.json").read_text("utf-8")
    changed = schema.replace('"description": "', '"description": "Now: ')
    assert changed != schema

    def python(text: str, cache: Cache) -> str:
        (tmp_path / "schema.json").write_text(text, "utf-8")
        bundled = bundle(load(tmp_path / "schema.json", name="records"))
        settings = Settings(package="records", cache=cache)
        return TARGETS["python"](lower(bundled), bundled, settings)["records/models.py"]

    cache = Cache(tmp_path / "cache")
    expected = [python(schema, NO_CACHE), python(changed, NO_CACHE)]
    assert [python(schema, cache)] == expected[:1]
    monkeypatch.delattr(datamodel_code_generator, "generate")
    assert [python(schema, cache), python(changed, cache)] == expected
