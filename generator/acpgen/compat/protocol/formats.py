"""Formats that nothing here can assert, where a project's policy asserts formats: what these refuse is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from acpgen.input.walk import inside

if TYPE_CHECKING:
    from schema_inclusion import Relation


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


def doubt_formats(relation: Relation, old: Counter[str], new: Counter[str]) -> Relation:
    """The relation of two schemas with these formats: where they name others, what is proven is not, and what is refused is."""
    names = sorted(name for name in {*old, *new} if old[name] != new[name])
    if relation.witness is not None or not names:
        return relation
    reason = f"what the format {names[0]!r} refuses is not known."
    return replace(relation, verdict=type(relation.verdict).UNDECIDED, reason=reason)
