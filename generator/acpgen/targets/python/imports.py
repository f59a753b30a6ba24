"""The imports of a Python module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

_INNER: Final = ("body", "handlers", "orelse", "finalbody", "cases")
"""The fields with nested statements. Imports are statements, so expressions, nearly all of a module, are skipped."""


def list_imports(source: str) -> Iterator[ast.ImportFrom]:
    """Yield every `from … import …` of a module at any depth, in line order."""
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ImportFrom):
            yield node
        pending += reversed(
            [inner for name in _INNER for inner in getattr(node, name, ()) if isinstance(inner, ast.AST)]
        )
