"""The imports of a module of Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

_INNER: Final = ("body", "handlers", "orelse", "finalbody", "cases")
"""Where statements hold statements. Imports are statements, so expressions, which are nearly all of a module, are not looked at."""


def imports_from(source: str) -> Iterator[ast.ImportFrom]:
    """Every `from … import …` of a module, wherever it stands, in the order of its lines."""
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ImportFrom):
            yield node
        pending += reversed(
            [inner for name in _INNER for inner in getattr(node, name, ()) if isinstance(inner, ast.AST)]
        )
