"""What a connection is told: how its protocol stands on the wire, who handles what comes, and what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

if TYPE_CHECKING:
    from .codec import Codec
    from .strict import Strict


class Watcher(Protocol):
    """Sees every message of both directions, like `acp_monitor.Monitor`, and returns what it finds wrong."""

    def observe(self, sender: str, line: Any) -> Iterable[object]:
        """Take in one message that `sender` sent."""
        ...


class Options(TypedDict, total=False):
    """What a connection is asked for.

    `strict`: nothing is sent that the schema forbids. `monitor` sees every message; what it finds goes to `on_event`, like
    everything that is ignored; without `on_event`, to the log. `timeout`: seconds that a request waits for its answer. `concurrency`:
    reading pauses while so many requests are at work. `gates`: what needs a capability is checked against what was advertised. `grace`:
    seconds that handlers have to finish once the peer has ended. `values`: a message that holds more is refused before it is read.
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
    """The notification that takes a request back, and the field that names the request."""

    method: str
    field: str


@dataclass(frozen=True)
class Wire:
    """What a protocol version says about its connections. Generated."""

    codec: Codec[Any, Any]
    judge: Callable[[], Strict]
    cancellation: Cancellation | None = None


class Handler(Protocol):
    """What one side does with the calls of the other."""

    async def serve(self, method: str, params: Any) -> Any:
        """The result of a request. Raises `RequestError` to answer with an error."""
        ...

    async def handle_notification(self, method: str, params: Any) -> None:
        """Take note of a notification."""
        ...

    async def disconnected(self) -> None:
        """Release what belongs to the connection: it is closed."""
        ...
