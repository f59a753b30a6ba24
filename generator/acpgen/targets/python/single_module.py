"""Several Python modules joined into one: the imports, merged, and then the rest of each module in order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from itertools import takewhile
from sys import stdlib_module_names
from typing import Final

_LINE: Final = 88
"""The maximum length of an import on one line, as in emitted code."""


def join_modules(modules: Sequence[str], siblings: Callable[[ast.ImportFrom], bool]) -> str:
    """Join modules into the source of one, with the docstring of the first.

    Their only imports must be `from … import` statements before all other statements. Imports from `siblings` are dropped.
    """
    if len(modules) == 1:
        return modules[0]
    imported: dict[str, set[str]] = {}
    bodies: list[str] = []
    for source in modules:
        tree = ast.parse(source)
        head = list(takewhile(_is_head, tree.body))
        lines = source.splitlines(keepends=True)
        bodies.append("".join(lines[head[-1].end_lineno :]).strip("\n"))
        for node in head:
            if isinstance(node, ast.ImportFrom) and node.module is not None and not siblings(node):
                imported.setdefault(node.module, set()).update(
                    alias.name if alias.asname is None else f"{alias.name} as {alias.asname}" for alias in node.names
                )
    docstring = "".join(modules[0].splitlines(keepends=True)[: ast.parse(modules[0]).body[0].end_lineno]).strip("\n")
    blocks = [docstring, *_write_imports(imported), *(f"\n{body}" for body in bodies)]
    return "\n\n".join(blocks) + "\n"


def _is_head(node: ast.stmt) -> bool:
    """Whether a statement belongs to the head of a module: its docstring, imports, and `__all__`."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom() | ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case _:
            return False


def _write_imports(imported: dict[str, set[str]]) -> list[str]:
    """The imports in blocks: `__future__`, the standard library, the rest."""
    blocks: list[list[str]] = [[], [], []]
    for module, names in sorted(imported.items()):
        top = module.partition(".")[0]
        blocks[0 if top == "__future__" else 1 if top in stdlib_module_names else 2].append(write_import(module, names))
    return ["\n".join(block) for block in blocks if block]


def write_import(module: str, names: Collection[str], widest: int = _LINE) -> str:
    """The source of an import, on one line if that has at most `widest` characters. Names may have the form `A as B`."""
    one_line = f"from {module} import {', '.join(sorted(names))}"
    lines = "".join(f"    {name},\n" for name in sorted(names))
    return one_line if len(one_line) <= widest else f"from {module} import (\n{lines})"
