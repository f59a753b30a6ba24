"""One side of a conversation by a function of method and params, on the connection that the bindings ship."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from acp_bindings import PeerError, RequestError
from acp_bindings.v1 import peers as v1_peers
from acp_bindings.v2 import peers as v2_peers

from jsonrpc_bindings.child import Child
from jsonrpc_bindings.connection import Connection
from jsonrpc_bindings.framing import Lines
from jsonrpc_bindings.stdio import StandardStreams

__all__ = ["Handler", "Peer", "RequestError", "on_stdio", "with_agent"]

Side = Literal["agent", "client"]
Handler = Callable[[str, Any], Awaitable[Any]]


class Peer:
    """One side. `handle` answers a request with its typed result, and is told notifications too. Capabilities are not checked."""

    def __init__(self, codec: Any, side: Side, transport: Any) -> None:
        wire = v1_peers.WIRE if codec.__name__.endswith("v1") else v2_peers.WIRE
        other: Side = "client" if side == "agent" else "agent"
        self.handle: Handler | None = None
        self.connection = Connection(wire, side, other, self, transport, gates=False)

    async def serve(self, method: str, params: Any) -> Any:
        assert self.handle is not None
        return await self.handle(method, params)

    async def handle_notification(self, method: str, params: Any) -> None:
        await self.serve(method, params)

    async def disconnected(self) -> None:
        """Nothing is held."""

    async def request(self, method: str, params: Any) -> Any:
        """The result of a request. Raises `RequestError`."""
        try:
            return await self.connection.request(method, params)
        except PeerError as failed:
            raise RequestError(failed.code, failed.message, failed.data) from None

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        await self.connection.notify(method, params)


async def on_stdio(codec: Any, side: Side, make: Callable[[Any], Handler]) -> None:
    """Be one side of the process's own standard input and output, until the input ends."""
    peer = Peer(codec, side, await StandardStreams.open(Lines()))
    peer.handle = make(peer)
    await peer.connection.run()


async def with_agent(
    codec: Any, command: Sequence[str], make: Callable[[], Handler], work: Callable[[Peer], Awaitable[None]]
) -> int:
    """Start an agent, do the client's work with it, let it end, and return its exit code."""
    child = await Child.start(command, Lines(), grace=30)
    peer = Peer(codec, "client", child)
    peer.handle = make()
    peer.connection.start()
    try:
        await work(peer)
    finally:
        await peer.connection.close()
    assert child.returncode is not None
    return child.returncode
