"""What both directions of the codec have: typed messages, the sessions, what is passed on as it is, errors of the far end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar

from acp_bindings import ConnectionClosed, DecodeError, NotAdvertised, PeerError, RequestError, v1, v2

from acp_session.background import Background
from acp_workspace.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, invalid_params
from jsonrpc_bindings.peers import Side

from .losses import Losses, OnLoss, Place
from .walker import Json, omit

T = TypeVar("T")
S = TypeVar("S")

MAX_UNUSED: Final = 100
"""Sessions that are kept although they were not opened here."""


def decode_v1(type_: type[T], body: Json, place: Place) -> T:
    """A typed value of v1. What v1's types do not take is left out where they permit it, and reported. Raises `RequestError` -32602."""
    return _into(v1.decode_as, type_, body, place)


def decode_v2(type_: type[T], body: Json, place: Place) -> T:
    """A typed value of v2, as `decode_v1`."""
    return _into(v2.decode_as, type_, body, place)


def _into(decode_as: Callable[..., T], type_: type[T], body: Json, place: Place) -> T:
    try:
        return decode_as(type_, body, on_drop=place.lose_dropped)
    except DecodeError as error:
        for problem in error.problems:
            place.lose(problem.sentence, pointer=problem.pointer)
        problems = [{"pointer": one.pointer, "reason": one.sentence} for one in error.problems]
        message = "the other version of the protocol cannot hold this message"
        raise invalid_params(message, problems=problems) from None


def types_of(side: type[Side], method: str) -> tuple[Any, Any]:
    """The types of the params and of the result of a request that a side serves."""
    row = side.wire.codec.route(method, is_request=True)
    assert row is not None
    return row.params, row.result


def require_supported_roots(body: Json, can: v1.AgentCapabilities) -> Json:
    """Params that set up a session, for an agent that can do this. Raises `RequestError` -32602 for roots that it does not support.

    Source: the RFD on `additionalDirectories`, section on capabilities: without the capability the field MUST NOT be sent.
    """
    if can.session_capabilities.additional_directories:
        return body
    if body.get("additionalDirectories"):
        raise invalid_params("the agent does not support additional roots", pointer="/additionalDirectories")
    return omit(body, "additionalDirectories")


async def relay_errors(work: Awaitable[T]) -> T:
    """What the far end answers. Its error is passed on as it is; raises `RequestError`."""
    try:
        return await work
    except PeerError as error:
        raise RequestError(error.code, error.message, error.data) from error
    except NotAdvertised as error:
        raise RequestError(METHOD_NOT_FOUND, str(error)) from error
    except ConnectionClosed as error:
        raise RequestError(INTERNAL_ERROR, "the agent behind the adapter has ended") from error
    except DecodeError as error:
        problems = [{"pointer": one.pointer, "message": one.sentence} for one in error.problems]
        raise RequestError(INTERNAL_ERROR, f"the answer cannot be read: {error}", {"problems": problems}) from error


class Relay(Side):
    """A side whose requests the far end answers: its errors, and what both versions leave to the peers, are passed on as they are."""

    @property
    @abstractmethod
    def far(self) -> Any:
        """The agent or the client at the far end."""

    async def serve(self, method: str, params: Any) -> Any:
        return await relay_errors(super().serve(method, params))

    async def extension_request(self, method: str, params: Any) -> Any:
        return await self.far.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        await self.far.extension_notification(method, params)


class AgentRelay(Relay, Generic[S]):
    """An agent of one version that has an `agent` of the other do its work. Its sessions know whether they are used."""

    agent: Any

    def __init__(self, on_loss: OnLoss) -> None:
        self.losses = Losses(on_loss)
        self.sessions: dict[str, S] = {}
        self._background = Background()

    @property
    def far(self) -> Any:
        return self.agent

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
        await self._background.close()
