"""The cases, by section of the specification."""

from __future__ import annotations

from typing import Final

MODULES: Final = (
    "initialization",
    "json_rpc",
    "extensibility",
    "sessions",
    "prompts",
    "refusals",
    "session_reopening",
    "client_services",
    "transport",
    "version_negotiation",
    "registries",
)
"""Every module of cases, in the order in which they run: what may disturb a program comes last."""
