"""Content of a message that its protocol does not have, but the protocol's unstable channel does: methods, fields and variants.

Also the names in upstream's unstable schemas, past or present, beyond those of this project. `tests/monitor/test_upstream.py` compares
the names with upstream's newest files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from .events import Event, Finding
from .json_values import Path, reach, show
from .undeclared import get_types

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

MAX_NOTES: Final = 1024
"""The maximum number of notes of one connection; no note is repeated."""


class UnstableChannels:
    """The unstable channels of some protocols, which `read` returns on demand. Each note is reported once."""

    def __init__(self, read: Callable[[], Iterable[Strict]]) -> None:
        self._read = read
        self._channels: dict[Any, Strict] | None = None
        self._reported: set[tuple[str, str, str | None]] = set()

    def look(self, event: Event, strict: Strict | None) -> Iterator[Finding]:
        """Yield the parts of a message that only the unstable channel of its version has."""
        if strict is None or event.kind not in ("request", "notification", "result"):
            return
        if event.route is None:
            if event.kind != "result" and not event.method.startswith(("_", "$/")):
                channel = self._find_channel(strict)
                is_there = channel is not None and channel.route(event.method, is_request=event.kind == "request")
                if channel is not None and is_there and self._is_news(event.method, "method", None):
                    yield _make_finding((*event.at, "method"), f"the method {show(event.method)}", channel, strict)
            return
        channel = self._find_channel(strict) if event.undeclared else None
        route = channel and channel.route(event.method, is_request=event.kind != "notification")
        definition: Any = route and (route.result if event.kind == "result" else route.params)
        if channel is None or not definition:
            return
        declared, values = get_types(channel).find_declared(definition, event.body), set[Path]()
        for path, _, kind in event.undeclared:
            name, value = str(path[-1]), reach(event.body, *path)
            if path not in declared or path in values:
                continue
            if kind.endswith("value"):
                values.add(path)
                if self._is_news(event.method, name, value):
                    yield _make_finding(event.extend_path(*path), f"{show(value)} as {name!r}", channel, strict)
            elif self._is_news(event.method, name, None):
                yield _make_finding(event.extend_path(*path), f"the field {show(name)}", channel, strict)

    def has_reported(self, method: str, field: str, value: str | None = None) -> bool:
        """Whether a field of the messages of a method was reported, or a value of it."""
        return (method, field, value) in self._reported

    def _find_channel(self, strict: Strict) -> Strict | None:
        if len(self._reported) >= MAX_NOTES:
            return None
        if self._channels is None:
            self._channels = {channel.contract.version: channel for channel in self._read()}
        return self._channels.get(strict.contract.version)

    def _is_news(self, method: str, name: str, value: str | None) -> bool:
        mark = (method, name, value)
        is_news = mark not in self._reported
        self._reported.add(mark)
        return is_news


def _make_finding(path: Path, subject: str, channel: Strict, strict: Strict) -> Finding:
    return Finding(path, f"{subject} is not in {strict.contract.name}; the unstable {channel.contract.name} has it")


_COMMON: Final[Mapping[str, frozenset[str]]] = {
    "AgentAuthCapabilities": frozenset({"status"}),
    "AgentCapabilities": frozenset({"nes", "positionEncoding", "providers"}),
    "ForkSessionRequest": frozenset({"systemPrompt"}),
    "ListSessionsRequest": frozenset({"archived"}),
    "McpCapabilities": frozenset({"acp"}),
    "NewSessionRequest": frozenset({"systemPrompt"}),
    "ResumeSessionRequest": frozenset({"systemPrompt"}),
    "SessionCapabilities": frozenset({"archive", "status", "systemPrompt", "title"}),
    "SessionInfo": frozenset({"archived"}),
}

UNSTABLE_FIELDS: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "acp/v1": {
        **_COMMON,
        "ClientCapabilities": frozenset({"nes", "plan", "planCapabilities", "positionEncodings", "subagents"}),
        "ForkSessionResponse": frozenset({"models"}),
        "LoadSessionRequest": frozenset({"systemPrompt"}),
        "LoadSessionResponse": frozenset({"models"}),
        "NewSessionResponse": frozenset({"models"}),
        "PromptRequest": frozenset({"messageId"}),
        "PromptResponse": frozenset({"usage", "userMessageId"}),
        "ResumeSessionResponse": frozenset({"models"}),
        "SessionCapabilities": _COMMON["SessionCapabilities"] | {"stop"},
    },
    "acp/v2": {
        **_COMMON,
        "ClientCapabilities": frozenset({"nes", "positionEncodings"}),
        "IdleStateUpdate": frozenset({"usage"}),
    },
}
"""Fields by protocol and definition."""

_METHODS: Final = frozenset(
    {
        *("auth/status", "auth/status_update", "mcp/connect", "mcp/disconnect", "mcp/message"),
        *("document/didChange", "document/didClose", "document/didFocus", "document/didOpen", "document/didSave"),
        *("nes/accept", "nes/close", "nes/reject", "nes/start", "nes/suggest"),
        *("providers/disable", "providers/list", "providers/set", "proxy/initialize", "proxy/successor"),
        *("session/archive", "session/set_title", "session/status", "session/unarchive"),
    }
)

UNSTABLE_METHODS: Final[Mapping[str, frozenset[str]]] = {
    "acp/v1": _METHODS | {"session/elicitation", "session/elicitation/complete", "session/set_model", "session/stop"},
    "acp/v2": _METHODS,
}
"""Methods by protocol."""
