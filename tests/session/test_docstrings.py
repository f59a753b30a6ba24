"""Examples in docstrings are true, and what is public says what it is."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "generator" / "acp-session" / "acp_session"
MODULES = (
    *("atomic", "baseline", "containment", "errors", "filesystem", "mcp_roots", "permission", "sensitive", "text"),
    *("handles", "mechanism", "policy", "versioning", "workers", "workspace"),
    *("approval", "processes", "tail", "terminals", "disk", "scope", "store"),
    *("agent_host", "client_host", "transcript", "mcp_cache", "mcp_provider", "mcp_uris"),
    *("agent_session", "hosted", "permission_folding", "sandbox", "turn"),
)
WITH_EXAMPLES = frozenset(MODULES) - {
    "mcp_cache",
    "mcp_provider",
    "mcp_roots",
    "agent_host",
    "agent_session",
    "client_host",
    "hosted",
    "turn",
    "disk",
    "store",
    "workspace",
    "atomic",
    "containment",
    "handles",
    "processes",
    "terminals",
    "workers",
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"acp_session.{name}"))
    assert result.failed == 0
    assert (result.attempted > 0) == (name in WITH_EXAMPLES)


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_has_a_docstring(name: str) -> None:
    tree = ast.parse((PACKAGE / f"{name}.py").read_text("utf-8"))
    assert ast.get_docstring(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        stub = isinstance(node.body[-1], ast.Expr) and ast.unparse(node.body[-1]) == "..."
        assert ast.get_docstring(node) or stub or is_local(tree, node), f"{name}.{node.name}"


def is_local(tree: ast.Module, node: ast.AST) -> bool:
    """Whether a function is defined inside another one."""
    functions = (
        one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one is not node
    )
    return any(inner is node for one in functions for inner in ast.walk(one))


def test_the_package_imports_nothing_before_it_is_needed() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); import acp_session; print('msgspec' in sys.modules);"
        "import acp_session.adapter, acp_session.hosted, acp_session.mcp_roots; print('pydantic' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.stdout == "False\nFalse\n"
