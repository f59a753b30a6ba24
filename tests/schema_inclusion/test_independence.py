"""The package stands by itself: what it imports, which of its modules may know which, and that it works without acpgen."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Final

import schema_inclusion

PACKAGE: Final = Path(schema_inclusion.__file__).parent
ROOT: Final = PACKAGE.parents[1]

LAYERS: Final = (
    {"budget", "code_units", "formula", "imports", "regex", "spelling", "syntax", "unicode_properties", "values"},
    {"answers", "automaton", "constraints", "document", "formats", "results"},
    {"constants", "ecma", "equivalence", "once"},
    {"forms", "patterns", "validation"},
    {"evaluation", "culprits"},
    {"conjunction"},
    {"alternatives", "objects", "scalars", "unevaluated"},
    {"arrays", "factory", "normal"},
    {"inclusion"},
    {"witness"},
    {"comparer"},
    {"__init__", "__main__"},
)
"""A module imports from its own layer and from those above it in this table."""

WITHOUT_ACPGEN: Final = """
import importlib, pathlib, pkgutil, sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "acpgen":
            raise ImportError(name)
sys.meta_path.insert(0, Hidden())
import schema_inclusion
for module in pkgutil.iter_modules(schema_inclusion.__path__):
    importlib.import_module(f"schema_inclusion.{module.name}")
hard = {"pattern": "^(a|b)*a(a|b){9}$"}, {"pattern": "^(b|a)*a[ab]{9}$", "allOf": [{"pattern": "^(a)\\\\1"}]}
for old, new in (({"minimum": 2}, {"minimum": 1}), hard):
    schema_inclusion.compare(old, new)
print(schema_inclusion.include({"minimum": 2}, {"minimum": 1}).verdict.value)
"""


def project() -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))
    table: dict[str, Any] = read["project"]
    return table


def imported(path: Path) -> set[str]:
    """The modules that a file imports, from anywhere in it; of `from schema_inclusion import name` the name as well."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None
            found.add(node.module)
            if node.module == PACKAGE.name:
                found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def layer(module: str) -> int:
    return next(index for index, modules in enumerate(LAYERS) if module in modules)


def test_it_imports_the_standard_library_and_what_its_distribution_needs_and_nothing_else() -> None:
    needed = {re.split(r"[=<>]", each)[0].replace("-", "_") for each in project()["dependencies"]}
    roots = {name.split(".")[0] for path in PACKAGE.glob("*.py") for name in imported(path)}
    named = {name for name in needed if f'"{name}"' in (PACKAGE / "document.py").read_text("utf-8")}
    assert roots - sys.stdlib_module_names - {PACKAGE.name} | named == needed


def test_every_module_has_a_layer_imports_no_layer_below_it_and_none_in_a_circle() -> None:
    modules = {path.stem: path for path in PACKAGE.glob("*.py")}
    assert modules.keys() == set().union(*LAYERS)
    known = {
        module: {name.split(".")[1] for name in imported(path) if name.startswith(f"{PACKAGE.name}.")} & modules.keys()
        for module, path in modules.items()
    }
    for module, ours in known.items():
        late = {name for name in ours if layer(name) > layer(module)}
        assert not late, f"{module} imports {sorted(late)}"
    TopologicalSorter(known).prepare()  # a `CycleError` names the circle


def test_it_works_where_acpgen_cannot_be_imported(tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}){WITHOUT_ACPGEN}"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "yes\n", ran.stderr


def test_its_distribution_needs_what_acpgen_needs_as_well() -> None:
    """acpgen's wheel holds the package, so that what it needs must come with acpgen."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(project()["dependencies"]) <= set(ours["dependencies"])
    assert project()["requires-python"] == ours["requires-python"]


def test_its_names_are_there_and_no_others() -> None:
    for name in schema_inclusion.__all__:
        found = getattr(schema_inclusion, name)
        assert isinstance(found, dict) or found.__module__.startswith("schema_inclusion.")
    assert not hasattr(schema_inclusion, "Prover")
