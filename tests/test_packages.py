"""The packages that acpgen shares modules with: what modules of them may import, and how acpgen comes by what it shares."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest
from packaging.requirements import Requirement

from acpgen import embedded
from acpgen.targets.python.distribution import MSGSPEC, OF_RUNTIME

ROOT: Final = Path(__file__).parents[1]
GENERATOR: Final = ROOT / "generator" / "acpgen"
SESSION: Final = ROOT / "generator" / "acp-session" / "acp_session"
RUNTIME: Final = ROOT / "generator" / "jsonrpc_bindings"

WORKSPACE: Final = ROOT / "generator" / "acp-workspace" / "acp_workspace"
MONITOR: Final = ROOT / "generator" / "acp-monitor" / "acp_monitor"

BINDINGS: Final = {"acp_bindings", "mcp_bindings"}
PYDANTIC: Final = {"pydantic", "pydantic_core"}
OUTSIDE: Final = {
    RUNTIME: {"jiter", "jsonschema_rs", "msgspec", *PYDANTIC},  # type checkers would ask for what its extra installs
    SESSION: {"acp_bindings", "acp_session", "acp_workspace", "jsonrpc_bindings"},
    WORKSPACE: {*BINDINGS, "acp_workspace", "jsonrpc_bindings"},
    MONITOR: {"acp_bindings", "acp_monitor", "jiter", "jsonrpc_bindings"},
}
"""What the modules of a package may need besides the standard library."""


def neighbours(path: Path, folder: Path) -> set[str]:
    """What a module imports of its own package when it runs: modules directly in `folder`."""
    found: set[str] = set()
    running = [node for node in ast.parse(path.read_text("utf-8")).body if not is_for_checkers(node)]
    for node in (inner for outer in running for inner in ast.walk(outer)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{folder.name}."):
            found.add((node.module or "").split(".")[1])
        if isinstance(node, ast.ImportFrom) and node.level:
            place = path.parents[node.level - 1].relative_to(folder).parts
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {".".join((*place, name)).split(".")[0] for name in names}
    return found


def foreign(path: Path) -> set[str]:
    """The packages besides its own and the standard library that a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found - sys.stdlib_module_names


@pytest.mark.parametrize("folder", [RUNTIME, SESSION, WORKSPACE, MONITOR], ids=lambda folder: folder.name)
def test_no_modules_of_a_package_import_one_another_in_a_circle(folder: Path) -> None:
    graph: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        graph.setdefault(own, set()).update(neighbours(path, folder) - {own})
    graph.pop("__init__")
    assert set(TopologicalSorter(graph).static_order()) - {"__init__"} == graph.keys()


@pytest.mark.parametrize("folder", OUTSIDE, ids=lambda folder: folder.name)
def test_a_shared_package_needs_nothing_else_and_does_not_know_the_generator(folder: Path) -> None:
    for path in folder.rglob("*.py"):
        assert foreign(path) <= OUTSIDE[folder], path


def test_a_type_checker_needs_no_package_of_an_extra(tmp_path: Path) -> None:
    for name in OUTSIDE[RUNTIME]:
        (tmp_path / f"{name}.pyi").write_text("from typing import Any\ndef __getattr__(name: str) -> Any: ...\n")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-site-packages", "--follow-imports=silent"),
            *("--config-file=", "-m", "jsonrpc_bindings.websocket"),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": os.pathsep.join((str(RUNTIME.parent), str(tmp_path))), "PYTHONUTF8": "1"},
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_pydantic_is_a_guest_that_one_module_alone_knows() -> None:
    users = {path.stem for path in RUNTIME.glob("*.py") if foreign(path) & PYDANTIC}
    assert users == {"pydantic_guest"}
    code = "import sys, acp_bindings.v1, jsonrpc_bindings.peers; print(*sys.modules)"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path)
    assert PYDANTIC.isdisjoint(run.stdout.split())


def test_a_copy_of_the_run_time_asks_for_what_the_run_time_asks_for() -> None:
    declared = tomllib.loads((RUNTIME / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert sorted(declared) == sorted((MSGSPEC, *OF_RUNTIME))
    needed = {Requirement(each).name.replace("-", "_") for each in declared}
    assert needed == OUTSIDE[RUNTIME] - PYDANTIC


def is_for_checkers(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_acpgen_imports_shared_modules_under_their_own_names_for_type_checkers_alone() -> None:
    """Another version of these packages may be installed, or none."""
    for path in GENERATOR.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        running = [node for node in tree.body if not is_for_checkers(node)]
        names = {name for node in running for inner in ast.walk(node) for name in imported(inner)}
        assert names.isdisjoint({*BINDINGS, "acp_monitor", "acp_session", "acp_workspace", "jsonrpc_bindings"}), path


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    return {(node.module or "").split(".")[0]} if isinstance(node, ast.ImportFrom) else set()


def test_what_type_checkers_take_for_a_shared_module_is_the_file_that_is_loaded() -> None:
    (block,) = [
        node for node in ast.parse((GENERATOR / "embedded.py").read_text("utf-8")).body if is_for_checkers(node)
    ]
    assert isinstance(block, ast.If)
    told = {
        alias.asname or alias.name: f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }
    assert told
    for name, module in told.items():
        shared: ModuleType = getattr(embedded, name)
        loaded = shared.__name__
        assert loaded.removeprefix("acpgen.") == module
    with pytest.raises(AttributeError):
        _ = vars(embedded)["__getattr__"]("records")


def test_what_acpgen_shares_loads_neither_codecs_nor_bindings() -> None:
    code = (
        "import sys; from acpgen import embedded\n"
        "for name in (*embedded.RUNTIME, 'monitor', 'versions'): getattr(embedded, name)\n"
        "ours = ('acpgen.acp_monitor', 'acpgen.jsonrpc_bindings')\n"
        "print(*sorted(name for name in sys.modules if name.startswith(ours) or name.split('.')[0] in "
        f"{sorted({*BINDINGS, 'acp_monitor', 'jsonrpc_bindings', 'pydantic'})}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(GENERATOR.parent), "PYTHONUTF8": "1"},
    )
    loaded = set(run.stdout.split())
    monitor = {f"acpgen.acp_monitor.{path.stem}".removesuffix(".__init__") for path in MONITOR.glob("*.py")}
    runtime = {
        f"acpgen.jsonrpc_bindings.{name}"
        for name in (
            *(
                "annotations",
                "contract",
                "discriminators",
                "partial_message",
                "engine",
                "errors",
                "explain",
                "framing",
                "module_registry",
                "json_types",
                "parse",
            ),
            *(
                "failures",
                "fields",
                "pipes",
                "pointers",
                "process_tree",
                "routing",
                "stdio",
                "strict",
                "supervisor",
                "tail",
            ),
        )
    }
    assert loaded == {"acpgen.jsonrpc_bindings", *monitor, *runtime}
