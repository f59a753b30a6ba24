"""Formats that nothing here can assert, where a project's policy asserts formats: what these refuse is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from acpgen.input.walk import inside


def count_unknown_formats(schemas: Iterable[object]) -> Counter[str]:
    """How often the schemas, and those in them, name each format that cannot be asserted."""
    from schema_inclusion import FORMATS

    found: Counter[str] = Counter()
    for schema in schemas:
        for _, one in inside(schema):
            name = one.get("format")
            if isinstance(name, str) and name not in FORMATS:
                found[name] += 1
    return found


def doubt_about(old: Counter[str], new: Counter[str]) -> str:
    """Why a proof about two schemas with these formats proves nothing; empty where it does: both name the same."""
    names = sorted(name for name in {*old, *new} if old[name] != new[name])
    return f"what the format {names[0]!r} refuses is not known" if names else ""
