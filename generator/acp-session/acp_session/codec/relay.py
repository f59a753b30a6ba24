"""What both directions of the codec have: a message of one version is taken apart, converted, and passed on in the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from acp_bindings import ConnectionClosed, DecodeError, NotAdvertised, PeerError, RequestError, to_builtins

from acp_session.background import Background
from acp_session.diffs import as_object
from acp_session.errors import answer_to, problems_of
from acp_workspace.errors import INVALID_PARAMS, invalid_params
from jsonrpc_bindings.connection import Connection
from jsonrpc_bindings.peers import Remote, Side

from .losses import Losses, OnLoss, Place
from .walker import Json, Walker, omit

T = TypeVar("T")
S = TypeVar("S")

MAX_UNUSED: Final = 100
"""Sessions that are kept although they were not opened here."""

Handler: TypeAlias = "Callable[[Any, Json, Place], Awaitable[Any]]"
"""Answers a message of one method: its params and its result are JSON."""


class Calls(Protocol):
    """The calls to a peer: a connection to the one at its far end, or `LocalCalls`."""

    async def request(self, method: str, params: Any = None, /, *, timeout: float | None = None) -> Any:
        """The result of a request. Raises `PeerError` or `RequestError` where the answer is an error."""
        ...

    async def notify(self, method: str, params: Any = None, /) -> None:
        """Send a notification."""
        ...


class LocalCalls:
    """The calls to a side that is an object of this process. Its errors are raised as they are."""

    def __init__(self, side: Side) -> None:
        self._side = side

    async def request(self, method: str, params: Any = None, /, *, timeout: float | None = None) -> Any:  # noqa: ARG002
        """See `Calls`."""
        return await (self._side.answer if isinstance(self._side, Relay) else self._side.serve)(method, params)

    async def notify(self, method: str, params: Any = None, /) -> None:
        """See `Calls`."""
        await self._side.handle_notification(method, params)


def calls_to(peer: Remote | Side) -> Calls:
    """The calls to a peer at the far end of a connection, or in this process."""
    return peer.connection if isinstance(peer, Remote) else LocalCalls(peer)


def decode(side: type[Side], type_: Any, body: Any, place: Place) -> Any:
    """A typed value of the version that a side speaks. What its types do not take is left out where they permit it, and reported. Raises
    `RequestError` -32602.
    """
    try:
        return side.wire.codec.decode_as(type_, body, on_drop=place.lose_dropped)
    except DecodeError as error:
        for problem in error.problems:
            place.lose(problem.sentence, pointer=problem.pointer)
        message = f"the other version of the protocol cannot hold this message: {error}"
        raise RequestError(INVALID_PARAMS, message, problems_of(error, "/params")) from None


async def relay_errors(work: Awaitable[T]) -> T:
    """What the far end answers. Its error is passed on as it is; raises `RequestError`."""
    try:
        return await work
    except (PeerError, NotAdvertised, ConnectionClosed, DecodeError) as error:
        raise answer_to(error) from error


class Relay(Side):
    """A side of one version whose messages are for a peer of the other. `handlers` has the work of each method; `far_side` is what the peer
    serves. What the schemas leave to the peers is passed on as it is.
    """

    handlers: ClassVar[Mapping[str, Handler]]
    far_side: ClassVar[type[Side]]
    losses: Losses

    @property
    @abstractmethod
    def far(self) -> Calls:
        """The calls to the peer."""

    async def serve(self, method: str, params: Any) -> Any:
        return await relay_errors(self.answer(method, params))

    async def answer(self, method: str, params: Any) -> Any:
        """The result of a request. Errors of the peer are raised as they are."""
        handler, row = self.handlers.get(method), self.wire.codec.route(method, is_request=True)
        if handler is None or row is None:
            return await self.far.request(method, params)
        place = self._place(method, params)
        return decode(type(self), row.result, await handler(self, to_builtins(params), place), place)

    async def handle_notification(self, method: str, params: Any) -> None:
        handler = self.handlers.get(method)
        if handler is not None:
            await handler(self, to_builtins(params), self._place(method, params))
        elif method not in self.notifications:
            await self.far.notify(method, params)

    def _place(self, method: str, params: Any) -> Place:
        return self.losses.place(method, session_id=getattr(params, "session_id", None))

    async def request(self, method: str, body: Json, place: Place) -> Json:
        """What the peer answers to a request of its version."""
        row = self.far_side.wire.codec.route(method, is_request=True)
        assert row is not None
        params = decode(self.far_side, row.params, body, place)
        answer: Json = to_builtins(await self.far.request(method, params)) or {}
        return answer

    async def notify(self, method: str, body: Json, place: Place) -> None:
        """Send the peer a notification of its version."""
        row = self.far_side.wire.codec.route(method, is_request=False)
        assert row is not None
        await self.far.notify(method, decode(self.far_side, row.params, body, place))


class AgentRelay(Relay, Generic[S]):
    """An agent of one version that has an `agent` of the other do its work. Its sessions know whether they are used. `walker` converts what
    belongs to no session, `capabilities` are those of the agent in the terms of v1.
    """

    agent: Any

    def __init__(self, on_loss: OnLoss, walker: Walker) -> None:
        self.losses = Losses(on_loss)
        self.walker = walker
        self.capabilities: Json = {}
        self.sessions: dict[str, S] = {}
        self.background = Background()

    @property
    def far(self) -> Calls:
        return calls_to(self.agent)

    @property
    def calls_to_client(self) -> Calls:
        """The calls to the client."""
        return self.connection

    def offers(self, name: str) -> bool:
        """Whether the agent advertises something for its sessions."""
        return as_object(self.capabilities.get("sessionCapabilities")).get(name) is not None

    async def pass_on(self, method: str, body: Json, place: Place, **more: Any) -> Json:
        """What the agent answers to a request that is converted by its row, with `more` fields of its version. Raises `RequestError` -32602
        for roots that it does not support.

        Source: the RFD on `additionalDirectories`, section on capabilities: without the capability the field MUST NOT be sent.
        """
        if not self.offers("additionalDirectories"):
            if body.get("additionalDirectories"):
                raise invalid_params("the agent does not support additional roots", "/additionalDirectories")
            body = omit(body, "additionalDirectories")
        row = self.far_side.wire.codec.route(method, is_request=True)
        assert row is not None
        return await self.request(method, {**self.walker.convert(row.params.__name__, body, place), **more}, place)

    @abstractmethod
    def new_session(self, session_id: str) -> S:
        """A session that begins."""

    def session(self, session_id: str) -> S:
        """What is known of a session; of those that nobody uses, the oldest makes room for a new one."""
        found = self.sessions.get(session_id)
        if found is None:
            unused = [name for name, one in self.sessions.items() if not getattr(one, "is_used", False)]
            if len(unused) >= MAX_UNUSED:
                del self.sessions[unused[0]]
            found = self.sessions[session_id] = self.new_session(session_id)
        return found

    @abstractmethod
    async def end_turns(self) -> None:
        """End the turns of an agent that has gone, with an error."""

    async def follow_agent(self) -> None:
        """Wait until the agent has gone: turns end with an error, and the connection to the client, if there is one, is closed."""
        await self.agent.connection.ended()
        await self.end_turns()
        if self._connection is not None:
            await self._connection.close()

    async def close(self) -> None:
        """End what runs beside."""
        await self.background.close()


class ClientRelay(Relay):
    """The client that the agent of one version sees, and that speaks the other. `codec` is what the client sees of the agent."""

    def __init__(self, codec: Any) -> None:
        self.codec = codec
        self.losses = codec.losses

    @property
    def far(self) -> Calls:
        calls: Calls = self.codec.calls_to_client
        return calls

    async def complete(self, body: Json, place: Place) -> None:
        """Pass on that the user has finished on a web page."""
        await self.notify("elicitation/complete", body, place)


def with_id_of_client(body: Json, place: Place, sent_by: Connection | None) -> Json:
    """A request for input that names a request of the codec's on `sent_by`: with the client's id, of the request in whose handler that was
    sent. Without `sent_by` agent and client know the same ids.

    Where the client has its answer already, as to a prompt of v2, the request for input belongs to the session. Raises `RequestError`
    -32602 for a request that does not wait for its answer, or that belongs to no session then.
    """
    if "requestId" not in body or sent_by is None:
        return body
    sent = sent_by.sent(body["requestId"])
    if sent is None:
        raise invalid_params("no request with this id is pending", "/requestId")
    if sent.within is not None and not sent.within.is_done:
        return {**body, "requestId": sent.within.id}
    session_id = getattr(sent.params, "session_id", None)
    if session_id is None:
        place.at("requestId").lose("the client no longer waits for this request", body["requestId"])
        raise invalid_params("the client no longer waits for this request", "/requestId")
    sentence = "the client already has its answer; the elicitation belongs to the session"
    place.at("requestId").lose(sentence, kind="changed")
    return {**omit(body, "requestId"), "sessionId": session_id}
