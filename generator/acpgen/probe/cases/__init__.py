"""The cases, by section of the specification."""

from __future__ import annotations

from typing import Final

MODULES: Final = (
    "handshakes",
    "messaging",
    "extending",
    "sessions",
    "turns",
    "refusing",
    "reopening",
    "helping",
    "delimiting",
    "openings",
    "listing",
)
"""Every module of cases, in the order in which they run: what may upset a program comes last."""
