"""What each side advertised in its part of `initialize`, and which methods that leaves closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .contract import Method
from .json_types import is_object
from .writers import to_builtins

OPENING: Final = "initialize"
"""The request in which both sides advertise: whoever asks in the params, whoever answers in the result."""


class Gates:
    """The gates of one connection. A side that has said nothing yet closes none."""

    def __init__(self, methods: Mapping[str, Method[Any, Any]]) -> None:
        self._gates = {
            (row.name, row.kind == "request"): row.capability for row in methods.values() if row.capability is not None
        }
        self._said: dict[str, Any] = {}

    def opening(self, side: str) -> Any:
        """The part of a side in `initialize`, its params or its result, as JSON; `None` before."""
        return self._said.get(side)

    def advertised(self, capability: str) -> bool | None:
        """Whether a capability, such as `agent:agentCapabilities.loadSession`, was advertised; `None` while its side has said nothing."""
        side, _, path = capability.partition(":")
        if side not in self._said:
            return None
        value = self._said[side]
        for step in path.split("."):
            value = value.get(step) if is_object(value) else None
        return value is True or is_object(value)

    def closed(self, method: str, *, is_request: bool) -> str | None:
        """The capability that a method lacks, if it lacks one."""
        gate = self._gates.get((method, is_request))
        return gate if gate is not None and self.advertised(gate) is False else None

    def note(self, method: str, side: str, payload: Any) -> None:
        """Take in what a side advertises in the params or the result of a method."""
        if method == OPENING:
            self._said[side] = to_builtins(payload)
