"""Several Python modules as one: their imports once, then their classes in the order given."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from sys import stdlib_module_names
from typing import Final

_LINE: Final = 88
"""Characters of an import that stays on one line, as the emitter writes it."""


def joined(modules: Sequence[str], module: str) -> str:
    """The source of one module that has all classes of several. They share their docstring, and import names from modules alone.

    What they import from `module`, the one that is made, stands beside them there.
    """
    if len(modules) == 1:
        return modules[0]
    imported: dict[str, set[str]] = {}
    bodies: list[str] = []
    docstring = ""
    for source in modules:
        tree = ast.parse(source)
        first = next(node for node in tree.body if isinstance(node, ast.ClassDef))
        lines = source.splitlines(keepends=True)
        bodies.append("".join(lines[first.lineno - 1 :]).strip("\n"))
        docstring = "".join(lines[: tree.body[0].end_lineno]).strip("\n")
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                imported.setdefault(node.module, set()).update(
                    alias.name if alias.asname is None else f"{alias.name} as {alias.asname}" for alias in node.names
                )
    imported.pop(module, None)
    blocks = [docstring, *_imports(imported), *(f"\n{body}" for body in bodies)]
    return "\n\n".join(blocks) + "\n"


def _imports(imported: dict[str, set[str]]) -> list[str]:
    """The imports in blocks: of what is to come, of the standard library, of the rest."""
    blocks: list[list[str]] = [[], [], []]
    for module, names in sorted(imported.items()):
        top = module.partition(".")[0]
        blocks[0 if top == "__future__" else 1 if top in stdlib_module_names else 2].append(import_of(module, names))
    return ["\n".join(block) for block in blocks if block]


def import_of(module: str, names: Collection[str], widest: int = _LINE) -> str:
    """The source of an import, on one line if that has `widest` characters at most. Names may be written `A as B`."""
    one_line = f"from {module} import {', '.join(sorted(names))}"
    lines = "".join(f"    {name},\n" for name in sorted(names))
    return one_line if len(one_line) <= widest else f"from {module} import (\n{lines})"
