"""A mode of a session, as agent and client see it in both versions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mode:
    """A way in which an agent works, such as asking first or planning only."""

    id: str
    name: str
    description: str | None = None
