"""The docstrings of the fields of classes, from the source of their module, for `help` and `inspect`. Imported on demand."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any


def read_docstrings(cls: Any) -> dict[str, str]:
    """The docstrings of the fields of a class and its bases, by name; empty if the source is not available."""
    docstrings: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        docstrings |= _read_module(base.__module__).get(base.__qualname__, {})
    return docstrings


@cache
def _read_module(name: str) -> Mapping[str, Mapping[str, str]]:
    try:
        tree = ast.parse(inspect.getsource(sys.modules[name]))
    except (OSError, TypeError, KeyError, SyntaxError):
        return {}
    return {node.name: dict(_list_docstrings(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _list_docstrings(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, following in zip(node.body, node.body[1:], strict=False):
        match field, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
            case _:
                continue
