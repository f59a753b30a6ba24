"""Where the run-time package is: a dependency that packages share, or a copy inside. And how few files a package has."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any, Final

import pytest

import jsonrpc_bindings
from acpgen import embedded, plugins
from acpgen.errors import Faults
from acpgen.targets.installed import TARGETS, with_options
from acpgen.targets.interface import Settings
from acpgen.targets.python.python_options import read_options
from bindings.subjects import forget

PLAIN: Final = (
    '{"$defs": {"Level": {"enum": ["low", "high"]}, '
    '"Thing": {"type": "object", "properties": {"at": {"$ref": "#/$defs/Level"}}}}}'
)
TWO_RECORDS: Final = (
    '{"$defs": {"Owner": {"type": "object", "properties": {"name": {"type": "string"}}}, '
    '"Thing": {"type": "object", "properties": {"owner": {"$ref": "#/$defs/Owner"}}}}}'
)


def made(schema: str, package: str, distribution: str | None = None, **options: Any) -> dict[str, str]:
    protocol, bundle = plugins.sample(schema)
    return dict(TARGETS["python"](protocol, bundle, Settings(package, distribution, options=options)))


def write(files: dict[str, str], folder: Path) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def test_an_embedded_run_time_is_a_copy_of_the_whole_package() -> None:
    files = made(PLAIN, "tides", runtime="embedded")
    copied = {path.removeprefix("tides/runtime/"): text for path, text in files.items() if "/runtime/" in path}
    assert copied == {path.name: path.read_text("utf-8") for path in embedded.locate_runtime().glob("*.py")}
    assert not [path for path, text in files.items() if path not in copied and "import jsonrpc_bindings" in text]


def test_a_package_with_an_embedded_run_time_needs_no_other(tmp_path: Path) -> None:
    write(made(plugins.SAMPLES["methods"], "tides.v1", runtime="embedded"), tmp_path)
    code = (
        "import importlib, pkgutil, sys\nsys.modules['jsonrpc_bindings'] = None\nimport tides\n"
        "for found in pkgutil.walk_packages(tides.__path__, 'tides.'):\n    importlib.import_module(found.name)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=120)


def test_packages_share_the_errors_and_the_unknown_variants_of_the_run_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name in ("shared_one", "shared_two"):
        write(made(PLAIN, name, runtime="package"), tmp_path)
        invalidate_caches()
        with pytest.raises(jsonrpc_bindings.DecodeError, match="/at"):
            import_module(name).decode_as("Thing", {"at": "middle"})
        forget(name)


def test_a_distribution_names_the_run_time_that_a_package_alone_carries() -> None:
    for distribution, runtime, is_named in (
        ("tides", "auto", True),
        ("tides", "embedded", False),
        (None, "auto", False),
        (None, "package", None),
    ):
        files = made(PLAIN, "tides", distribution, runtime=runtime)
        assert ("tides/runtime/__init__.py" in files) == (is_named is False), (distribution, runtime)
        if "pyproject.toml" in files:
            needed = tomllib.loads(files["pyproject.toml"])["project"]["dependencies"]
            assert any(one.startswith("jsonrpc-bindings>=") for one in needed) == is_named
            assert any(one.startswith("msgspec>=") for one in needed)
            assert (
                any(one.startswith("jsonschema-rs>=") for one in needed) != is_named
            )  # the run-time asks for it itself
            assert not any(one.startswith("pydantic") for one in needed)


def test_the_run_time_is_a_typed_distribution_of_the_version_that_packages_ask_for() -> None:
    folder = embedded.locate_runtime()
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "jsonrpc-bindings"
    assert (folder / "py.typed").is_file()
    files = made(PLAIN, "tides", "tides")
    assert f"jsonrpc-bindings>={'.'.join(project['version'].split('.')[:2])}," in files["pyproject.toml"]


@pytest.mark.parametrize(("schema", "package"), [(PLAIN, "tides"), (TWO_RECORDS, "tides"), (TWO_RECORDS, "tides.v1")])
def test_a_schema_of_two_types_makes_six_files_at_most(
    schema: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = f"few_{package}"
    files = made(schema, package, runtime="package")
    assert len(files) <= 6, sorted(files)
    assert sum(text.count("\n") for text in files.values()) < 400
    write(files, tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    module = import_module(package)
    assert module.encode(module.decode_as("Thing", {"tide": 1})) == b'{"tide":1}'
    assert [one.pointer for one in module.validate_as("Thing", [])] == [""]
    forget(package.partition(".")[0])


def test_one_module_has_its_embedded_run_time_beside_it(tmp_path: Path) -> None:
    for package, beside in (("wire", "wire_runtime"), ("tides.wire", "tides/runtime")):
        files = made(PLAIN, package, runtime="embedded", layout="file")
        own = package.replace(".", "/") + ".py"
        assert {path for path in files if not path.startswith(f"{beside}/")} == {own}
        write(files, tmp_path)
        code = (
            f"import sys; sys.modules['jsonrpc_bindings'] = None\nimport {package} as wire\nprint(wire.Thing(at='low'))"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stdout == "Thing(at='low')\n", done.stderr
    assert [*made(PLAIN, "wire", runtime="package", layout="file")] == ["wire.py"]


@pytest.mark.parametrize("package", ["a.runtime", "a.Runtime", "a.runtime.v1"])
def test_a_package_called_like_the_embedded_run_time_is_a_fault(package: str) -> None:
    with pytest.raises(Faults, match=r"a\.runtime holds the modules"):
        read_options(with_options("python", Settings(package=package), {}, "here", "options"))
    assert read_options(with_options("python", Settings(package=package), {"runtime": "package"}, "here", "options"))
