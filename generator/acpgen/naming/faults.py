"""Faults in the names that a user chooses."""

from __future__ import annotations

from acpgen.errors import FaultKind

NAMED_BY_POSITION = FaultKind(
    "named-by-position",
    "this entry of the names counts the variants of a union, and would name another one after an insertion.",
    "Name the variant by its tag: {instead!r}.",
)
