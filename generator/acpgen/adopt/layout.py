"""The layout of the canonical files: an indentation of two spaces per level; a value that fits on one line is on one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acpgen.input.numbers import dumps
from acpgen.input.walk import is_object

WIDTH: Final = 120


def format_document(document: Mapping[str, Any]) -> str:
    """Format a schema file. The document itself and its `$defs` are spread over lines even if they would fit on one."""
    return _spread(document, 0) + "\n"


def format_compact(document: Mapping[str, Any]) -> str:
    """Format a file that is compared but rarely read: one line for each member, and for each definition."""
    members = [
        f"{format_line(key)}: {_format_rows(value) if key == '$defs' else format_line(value, tight=True)}"
        for key, value in document.items()
    ]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _format_rows(definitions: Mapping[str, Any]) -> str:
    rows = [f"  {format_line(name)}: {format_line(value, tight=True)}" for name, value in definitions.items()]
    return "{\n" + ",\n".join(rows) + "\n}" if rows else "{}"


def _format_value(value: Any, indent: int, before: int, *, spread: bool = False) -> str:
    """Format a value that begins `before` characters from the left of its line."""
    whole = format_line(value)
    if not isinstance(value, dict | list) or not value or (not spread and before + len(whole) + 1 <= WIDTH):
        return whole
    return _spread(value, indent)


def _spread(value: Any, indent: int) -> str:
    """Format an object or array with each member on lines of its own."""
    margin = " " * (indent + 2)
    if is_object(value):
        heads = {key: f"{margin}{format_line(key)}: " for key in value}
        rows = [heads[k] + _format_value(v, indent + 2, len(heads[k]), spread=k == "$defs") for k, v in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{' ' * indent}}}"
    rows = [margin + _format_value(item, indent + 2, len(margin)) for item in value]
    return "[\n" + ",\n".join(rows) + f"\n{' ' * indent}]"


def format_line(value: Any, *, tight: bool = False) -> str:
    """Format a value on one line."""
    return dumps(value, ensure_ascii=False, separators=(",", ":") if tight else None)
