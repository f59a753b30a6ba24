"""Examples in docstrings are true, and what is public says what it is."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

GENERATOR = Path(__file__).parents[2] / "generator"
MODULES = sorted(
    f"{path.parent.name}.{path.stem}"
    for name in ("session", "workspace")
    for path in (GENERATOR / f"acp-{name}" / f"acp_{name}").glob("*.py")
    if path.stem != "__init__"
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_has_a_docstring(name: str) -> None:
    module = importlib.import_module(name)
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    assert ast.get_docstring(tree)
    owners = {id(node): one.name for one in tree.body if isinstance(one, ast.ClassDef) for node in one.body}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        stub = isinstance(node.body[-1], ast.Expr) and ast.unparse(node.body[-1]) == "..."
        owner = owners.get(id(node))
        inherited = owner is not None and inspect.getdoc(getattr(getattr(module, owner), node.name))
        assert ast.get_docstring(node) or inherited or stub or is_local(tree, node), f"{name}.{node.name}"


def is_local(tree: ast.Module, node: ast.AST) -> bool:
    """Whether a function is defined inside another one."""
    functions = (
        one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one is not node
    )
    return any(inner is node for one in functions for inner in ast.walk(one))


def test_the_package_does_not_import_pydantic() -> None:
    program = "import sys, acp_session.adapter, acp_workspace.mcp_roots; print('pydantic' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.stdout == "False\n"
