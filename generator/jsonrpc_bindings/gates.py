"""What each side advertised in `initialize`, and the methods that are not available for lack of a capability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .contract import Method
from .json_types import is_object
from .writers import to_builtins

OPENING: Final = "initialize"
"""The request in which both sides advertise: the requester in the params, the other side in the result."""


class Gates:
    """The capability gates of one connection. While a side has not advertised anything, none of its gates is closed."""

    def __init__(self, methods: Mapping[str, Method[Any, Any]]) -> None:
        self._gates = {
            (method.name, method.kind == "request"): method.capability
            for method in methods.values()
            if method.capability is not None
        }
        self._payloads: dict[str, Any] = {}

    def is_advertised(self, capability: str) -> bool | None:
        """Whether a capability, such as `agent:agentCapabilities.loadSession`, was advertised; `None` before its side has sent its part
        of `initialize`.
        """
        side, _, path = capability.partition(":")
        if side not in self._payloads:
            return None
        value = self._payloads[side]
        for step in path.split("."):
            value = value.get(step) if is_object(value) else None
        return value is True or is_object(value)

    def find_closed_gate(self, method: str, *, is_request: bool) -> str | None:
        """The capability that a method needs and that was not advertised; `None` if there is none."""
        gate = self._gates.get((method, is_request))
        return gate if gate is not None and self.is_advertised(gate) is False else None

    def note(self, method: str, side: str, payload: Any) -> None:
        """Record what a side advertises in the params or the result of a method."""
        if method == OPENING:
            self._payloads[side] = to_builtins(payload)
