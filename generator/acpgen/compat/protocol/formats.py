"""Formats that cannot be asserted here, for projects whose policy asserts formats: what they refuse is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from acpgen.input.walk import inside

if TYPE_CHECKING:
    from schema_inclusion import Relation


def count_unknown_formats(schemas: Iterable[object]) -> Counter[str]:
    """How often the schemas and their subschemas name each format that cannot be asserted."""
    from schema_inclusion import FORMATS

    counts: Counter[str] = Counter()
    for schema in schemas:
        for _, one in inside(schema):
            name = one.get("format")
            if isinstance(name, str) and name not in FORMATS:
                counts[name] += 1
    return counts


def doubt_formats(relation: Relation, old: Counter[str], new: Counter[str]) -> Relation:
    """The relation of two schemas with these formats; if the formats differ, an inclusion becomes undecided, while a refusal stays."""
    names = sorted(name for name in {*old, *new} if old[name] != new[name])
    if relation.witness is not None or not names:
        return relation
    reason = f"what the format {names[0]!r} refuses is not known."
    return replace(relation, verdict=type(relation.verdict).UNDECIDED, reason=reason)
