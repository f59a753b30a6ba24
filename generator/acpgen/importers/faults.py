"""Faults of a document that is not JSON Schema."""

from __future__ import annotations

from acpgen.errors import FaultKind

NOT_THAT_DOCUMENT = FaultKind(
    "not-that-document",
    "this is not {kind}: {reason}.",
    "Correct it, or name another profile with --methods.",
)
