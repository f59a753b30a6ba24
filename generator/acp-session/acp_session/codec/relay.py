"""The common part of both directions of the codec: convert a message of one version, and pass it on in the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from acp_bindings import ConnectionClosed, DecodeError, NotAdvertised, PeerError, RequestError, to_builtins

from acp_session.background import Background
from acp_session.diffs import as_object
from acp_session.errors import answer_to, describe_problems
from acp_workspace.errors import INTERNAL_ERROR, INVALID_PARAMS, make_invalid_params
from jsonrpc_bindings.connection import Connection
from jsonrpc_bindings.peers import Remote, Side

from .losses import Losses, OnLoss, Place
from .walker import Json, Walker, omit

T = TypeVar("T")
S = TypeVar("S")

MAX_UNUSED: Final = 100
"""The maximum number of unused sessions that are kept."""

Handler: TypeAlias = "Callable[[Json, Place], Awaitable[Any]]"
"""Handles the messages of one method; params and result are JSON."""


class Calls(Protocol):
    """The calls to a peer: a connection, or `LocalCalls`."""

    async def request(self, method: str, params: Any = None, /, *, timeout: float | None = None) -> Any:
        """Send a request and return its result. Raises `PeerError` or `RequestError` for an error response."""
        ...

    async def notify(self, method: str, params: Any = None, /) -> None:
        """Send a notification."""
        ...


class LocalCalls:
    """The calls to a side that is an object of this process. Its errors are raised unchanged."""

    def __init__(self, side: Side) -> None:
        self._side = side

    async def request(self, method: str, params: Any = None, /, *, timeout: float | None = None) -> Any:  # noqa: ARG002
        """See `Calls`."""
        return await (self._side.answer if isinstance(self._side, Relay) else self._side.serve)(method, params)

    async def notify(self, method: str, params: Any = None, /) -> None:
        """See `Calls`."""
        await self._side.handle_notification(method, params)


def decode(side: type[Side], type_: Any, body: Any, place: Place, *, is_result: bool = False) -> Any:
    """Decode JSON to a type of the version that a side speaks.

    Values that its types do not accept are omitted where that is permitted, and reported as losses. Raises `RequestError`: -32602 for
    params, which are then not sent, -32603 for a result.
    """
    try:
        return side.wire.codec.decode_as(type_, body, on_drop=place.lose_dropped)
    except DecodeError as error:
        for problem in error.problems:
            place.lose(problem.sentence, pointer=problem.pointer)
        message = f"the other version of the protocol cannot hold this message: {error}"
        code, part = (INTERNAL_ERROR, "/result") if is_result else (INVALID_PARAMS, "/params")
        raise RequestError(code, message, describe_problems(error, part)) from None


async def relay_errors(work: Awaitable[T]) -> T:
    """Await a call to the peer, and raise its errors as `RequestError`."""
    try:
        return await work
    except (PeerError, NotAdvertised, ConnectionClosed, DecodeError, TimeoutError) as error:
        raise answer_to(error) from error


class Relay(Side):
    """A side of one version that relays its messages to a peer of the other, which serves `far_side`.

    `handlers` has the handler of each method. Extension messages are passed on unchanged.
    """

    far_side: ClassVar[type[Side]]
    handlers: Mapping[str, Handler]
    losses: Losses

    @property
    @abstractmethod
    def far(self) -> Calls:
        """The calls to the peer."""

    async def serve(self, method: str, params: Any) -> Any:
        return await relay_errors(self.answer(method, params))

    async def answer(self, method: str, params: Any) -> Any:
        """The result of a request. Errors of the peer are raised unchanged."""
        handler, row = self.handlers.get(method), self.wire.codec.route(method, is_request=True)
        if handler is None or row is None:
            return await self.far.request(method, params)
        place = self._make_place(method, params)
        return decode(type(self), row.result, await handler(to_builtins(params), place), place, is_result=True)

    async def handle_notification(self, method: str, params: Any) -> None:
        handler = self.handlers.get(method)
        with suppress(RequestError, ConnectionClosed):  # what cannot be converted is reported as a loss
            if handler is not None:
                await handler(to_builtins(params), self._make_place(method, params))
            elif method not in self.notifications:
                await self.far.notify(method, params)

    def _make_place(self, method: str, params: Any) -> Place:
        return self.losses.make_place(method, session_id=getattr(params, "session_id", None))

    async def request(self, method: str, body: Json, place: Place) -> Json:
        """Send the peer a request of its version, and return the result."""
        params = decode(self.far_side, self._find_params(method, is_request=True), body, place)
        answer: Json = to_builtins(await self.far.request(method, params)) or {}
        return answer

    async def notify(self, method: str, body: Json, place: Place) -> None:
        """Send the peer a notification of its version."""
        params = decode(self.far_side, self._find_params(method, is_request=False), body, place)
        await self.far.notify(method, params)

    def _find_params(self, method: str, *, is_request: bool) -> Any:
        row = self.far_side.wire.codec.route(method, is_request=is_request)
        assert row is not None
        return row.params


class AgentRelay(Relay, Generic[S]):
    """An agent of one version whose work is done by `agent`, an agent of the other.

    `walker` converts messages outside sessions, `capabilities` are the v1 capabilities of the agent.
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
        return self.agent.connection if isinstance(self.agent, Remote) else LocalCalls(self.agent)

    @property
    def calls_to_client(self) -> Calls:
        """The calls to the client."""
        return self.connection

    def offers(self, name: str) -> bool:
        """Whether the agent advertises this session capability."""
        return as_object(self.capabilities.get("sessionCapabilities")).get(name) is not None

    async def pass_on(self, method: str, body: Json, place: Place, **fields: Any) -> Json:
        """Convert a request by its row in the table, send it with `fields` of the agent's version, and return the result.

        Raises `RequestError` -32602 for additional roots that the agent does not support.

        Source: the RFD on `additionalDirectories`, section on capabilities: without the capability the field MUST NOT be sent.
        """
        if not self.offers("additionalDirectories"):
            if body.get("additionalDirectories"):
                raise make_invalid_params("the agent does not support additional roots", "/additionalDirectories")
            body = omit(body, "additionalDirectories")
        name = self._find_params(method, is_request=True).__name__
        return await self.request(method, {**self.walker.convert(name, body, place), **fields}, place)

    @abstractmethod
    def make_session(self, session_id: str) -> S:
        """Create the state of a new session."""

    def get_session(self, session_id: str) -> S:
        """The state of a session, created if needed; if there are too many unused ones, the oldest is deleted."""
        state = self.sessions.get(session_id)
        if state is None:
            unused = [name for name, session in self.sessions.items() if not getattr(session, "is_used", False)]
            if len(unused) >= MAX_UNUSED:
                del self.sessions[unused[0]]
            state = self.sessions[session_id] = self.make_session(session_id)
        return state

    @abstractmethod
    async def end_turns(self) -> None:
        """End the turns with an error, because the agent has ended."""

    async def follow_agent(self) -> None:
        """Wait until the agent has ended; then end its turns with an error, and close the connection to the client, if there is one."""
        await self.agent.connection.ended()
        await self.end_turns()
        if self._connection is not None:
            await self._connection.close()

    async def close(self) -> None:
        """Cancel the background tasks."""
        await self.background.close()


class ClientRelay(Relay):
    """The client that an agent of one version sees; the real client is that of `codec`, and speaks the other."""

    def __init__(self, codec: AgentRelay[Any], handlers: Mapping[str, Handler]) -> None:
        self._codec = codec
        self.losses = codec.losses
        self.handlers = {**handlers, "elicitation/complete": self._complete}

    @property
    def far(self) -> Calls:
        return self._codec.calls_to_client

    async def _complete(self, body: Json, place: Place) -> None:
        await self.notify("elicitation/complete", body, place)


def with_id_of_client(body: Json, place: Place, sent_by: Connection | None) -> Json:
    """Replace the id of the codec's own request in an elicitation by the id of the client's request whose handler sent it.

    `sent_by` is the connection to the agent; without it, agent and client use the same ids. If the client's request already has its
    response, as a v2 prompt does, the elicitation belongs to the session. Raises `RequestError` -32602 for a request that is not
    pending, or one without a session whose client request has its response.
    """
    if "requestId" not in body or sent_by is None:
        return body
    pending_request = sent_by.find_request(body["requestId"])
    if pending_request is None:
        raise make_invalid_params("no request with this id is pending", "/requestId")
    if pending_request.within is not None and not pending_request.within.is_done:
        return {**body, "requestId": pending_request.within.id}
    session_id = getattr(pending_request.params, "session_id", None)
    if session_id is None:
        place.descend("requestId").lose("the client no longer waits for this request", body["requestId"])
        raise make_invalid_params("the client no longer waits for this request", "/requestId")
    sentence = "the client already has its answer; the elicitation belongs to the session"
    place.descend("requestId").lose(sentence, kind="changed")
    return {**omit(body, "requestId"), "sessionId": session_id}
