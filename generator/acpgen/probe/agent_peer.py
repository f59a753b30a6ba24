"""The agent that the probe plays for a client: it serves requests and holds the answer to a prompt while cases run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Final

from acpgen.input.walk import is_object
from acpgen.pointers import find_value
from acpgen.probe.connection import AnswerLater, RequestError

EARLY_UPDATE: Final = "early update"
"""Asks `Trial.initialize` for a run of the client in which an update of its session comes before the answer to `session/new`."""


class Agent:
    """Answers the requests of a client. `offers` overrides the version in its answer to `initialize`.

    If `notify` is set, it sends an update of a session before the answer to `session/new`.
    """

    def __init__(self, *, offers: int | None = None) -> None:
        self.offers = offers
        self.notify: Callable[[str, Any], object] | None = None
        self.version: int | None = None
        self.initialize_params: dict[str, Any] = {}
        """The params of `initialize`."""
        self.sessions: dict[str, str] = {}
        """The folders of the sessions, by id."""
        self.called_methods: list[str] = []
        self.holds = True
        """Whether prompts wait."""
        self._numbers = count(1)

    def __call__(self, method: str, params: Any) -> Any:
        """The result of a request. Raises `RequestError`, and `AnswerLater` for a prompt."""
        self.called_methods.append(method)
        body: dict[str, Any] = params if is_object(params) else {}
        if method == "initialize":
            return self._initialize(body)
        if method in ("authenticate", "auth/login"):
            raise RequestError(-32602, "no such authentication method")
        if method == "session/new":
            name = f"probe-session-{next(self._numbers)}"
            self.sessions[name] = str(body.get("cwd"))
            if self.notify is not None:
                commands = [{"name": "probe", "description": "Probe"}]
                update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
                self.notify("session/update", {"sessionId": name, "update": update})
            return {"sessionId": name}
        if method == "session/prompt" and str(body.get("sessionId")) in self.sessions:
            if self.holds or self.version == 2:
                raise AnswerLater
            return {"stopReason": "end_turn"}
        if method in ("session/list", "session/close") and self.version == 2:
            return {"sessions": []} if method == "session/list" else {}
        raise RequestError(-32602 if method == "session/prompt" else -32601, f"{method} is not served here")

    def _initialize(self, body: dict[str, Any]) -> Any:
        requested = body.get("protocolVersion")
        self.initialize_params = body
        spoken: int = 2 if type(requested) is int and requested == 2 else 1
        self.version = spoken
        version = spoken if self.offers is None else self.offers
        info = {"name": "acpgen-probe", "version": "1.0"}
        if spoken == 2:
            return {"protocolVersion": version, "info": info, "capabilities": {"session": {}}}
        return {"protocolVersion": version, "agentInfo": info, "agentCapabilities": {}}

    def is_advertised(self, *path: str) -> bool:
        """Whether the client advertises a capability, at a path below its capabilities."""
        field = "capabilities" if self.version == 2 else "clientCapabilities"
        value = find_value(self.initialize_params, (field, *path))
        return value is True or is_object(value)
