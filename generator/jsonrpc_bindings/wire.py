"""The configuration of a connection: its protocol, its handler, and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

if TYPE_CHECKING:
    from .codec import Codec
    from .framing import Kind
    from .strict import Strict


class Watcher(Protocol):
    """Observes every message of both directions, like `acp_monitor.Monitor`, and returns what is wrong."""

    def observe(self, sender: str, line: Any) -> Iterable[object]:
        """Observe one message that `sender` sent."""
        ...


class Options(TypedDict, total=False):
    """The options of a connection.

    `strict`: no message is sent that violates the schema. `monitor` observes every message; its findings go to `on_event`, like
    everything that is ignored; without `on_event`, to the log. `timeout`: seconds that a request waits for its response. `concurrency`:
    reading pauses while this number of requests is being served. `gates`: methods that need a capability are checked against what was
    advertised. `grace`: seconds that handlers have to finish once the peer has ended. `values`: a message of more values is refused
    before it is decoded.
    """

    strict: bool
    monitor: Watcher | None
    on_event: Callable[[object], object] | None
    timeout: float | None
    concurrency: int
    gates: bool
    grace: float
    values: int


@dataclass(frozen=True)
class Cancellation:
    """The notification that cancels a request, and the field that has the id of the request."""

    method: str
    field: str


@dataclass(frozen=True)
class Wire:
    """The properties of a protocol version that its connections need; `kind` is the usual framing of its messages. Generated."""

    codec: Codec[Any, Any]
    judge: Callable[[], Strict]
    cancellation: Cancellation | None = None
    kind: Kind = "lines"


class Handler(Protocol):
    """Handles the requests and notifications of the other side."""

    async def serve(self, method: str, params: Any) -> Any:
        """Serve a request and return its result. Raises `RequestError` for an error response."""
        ...

    async def handle_notification(self, method: str, params: Any) -> None:
        """Handle a notification."""
        ...

    async def disconnected(self) -> None:
        """Release what belongs to the connection, which is closed."""
        ...
