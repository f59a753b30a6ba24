"""What the client's half of a connection does alike in v1 and v2: its sessions, their roots, and what is told of them.

A session begins, changes and ends in one place, so that whatever serves it cannot disagree about its roots.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from acp_bindings import UNSET

from acp_workspace.errors import METHOD_NOT_FOUND, RequestError, invalid_params
from acp_workspace.hooks import maybe_await
from acp_workspace.workspace import ClientWorkspace, RootSet
from jsonrpc_bindings.pending import Sent

T = TypeVar("T")

Call: TypeAlias = "Callable[[str, Any], Awaitable[Any]]"
"""Sends a request, named by its method, and returns the typed result. What it raises is passed on."""
Notify: TypeAlias = "Callable[[str, Any], Awaitable[object] | object]"
"""Sends a notification."""

Elicit: TypeAlias = "Callable[[Any], Awaitable[Any] | Any]"
"""Asks the user for input: the params of `elicitation/create`, and its result, of the version that is spoken."""
Waiting: TypeAlias = "Callable[[object], Sent | None]"
"""The request of ours of an id, while it waits for its answer: `Connection.sent`."""

InitializeResult: TypeAlias = "Callable[[], Any]"
"""What the agent answered to an `initialize` that the host did not send; `None` where it did not answer any."""

MOST_PAGES: Final = 1000
"""Pages of `session/list` that are asked for."""
_MOST_EARLY: Final = 10_000
"""Updates that are kept for sessions whose ids are not known yet."""
_BIRTH: Final = 1.0
"""Seconds that a request of the agent waits for the id of its session to become known here."""


class FollowsRoots(Protocol):
    """What is told of the roots of a session whenever they change, such as `RootsProvider` for MCP servers; `None` at its end."""

    async def follow(self, roots: RootSet | None) -> object:
        """Take the roots as they are now; `None`: the session has ended."""
        ...


class KeepsState(Protocol):
    """What keeps the state of a session from its updates."""

    def begun(self, result: object) -> None:
        """Take in the result of the request that opened the session."""
        ...


K = TypeVar("K", bound=KeepsState)


@dataclass(slots=True, eq=False)
class OpenSession(Generic[K]):
    """An open session: its id, and what the agent has told of it. `stopped` is set from the cancellation of a turn to the next one."""

    id: str
    transcript: K
    followers: list[FollowsRoots] = field(default_factory=list[FollowsRoots])
    is_in_turn: bool = False
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Task[Any] | None = None
    cancellations: int = 0

    async def until_stopped(self, work: Awaitable[T]) -> T | None:
        """The result of something that a person decides, or `None` where the turn or the session ends first."""
        task = asyncio.ensure_future(work)
        ending = asyncio.ensure_future(self.stopped.wait())
        try:
            await asyncio.wait((task, ending), return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() and not self.stopped.is_set() else None
        finally:
            ending.cancel()
            task.cancel()


class ClientSessions(Generic[K]):
    """The sessions of a client, over one connection to one agent; `empty` makes the state of a new one."""

    def __init__(
        self,
        call: Call,
        notify: Notify,
        empty: Callable[[], K],
        granted: Iterable[str],
        elicit: Elicit | None,
        modes: Collection[str],
        waiting: Waiting | None,
        overrides: Collection[str],
    ) -> None:
        self._elicit, self._waiting, self._overrides = elicit, waiting, frozenset(overrides)
        is_asked = elicit is not None or "elicitation/create" in self._overrides
        self._modes: frozenset[str] = frozenset(modes if is_asked else ())
        self._call = call
        self._notify = notify
        self._empty = empty
        self.workspace = ClientWorkspace(granted)
        self.sessions: dict[str, OpenSession[K]] = {}
        self._underway: dict[str, RootSet] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._births: set[asyncio.Future[None]] = set()
        self._early: dict[str, list[Any]] = {}

    # --- what the versions differ in

    def _refuse_second_initialize(self, agent: object) -> None:
        """Raise `RequestError` -32602 where `initialize` was answered already."""
        if agent is not None:
            raise invalid_params("the connection is initialized already; open sessions, and do not call 'initialize'")

    @property
    def _has_roots(self) -> bool:
        """Whether the agent takes additional roots."""
        raise NotImplementedError

    def _updated(self, session: OpenSession[K], update: Any) -> None:
        """Take in an update of an open session."""
        raise NotImplementedError

    async def _let_go(self, session_id: str) -> None:
        """End what serves a session."""

    # --- the rest

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force. While `session/load` or `resume` is under way they are those that it asks for."""
        found = self._underway.get(session_id)
        return self.workspace.roots(session_id) if found is None else found

    async def follow(self, session_id: str, follower: FollowsRoots) -> None:
        """Tell something of the roots of a session, now and whenever they change."""
        self._session(session_id).followers.append(follower)
        await follower.follow(self.roots(session_id))

    async def _elicited(self, params: Any, cancelled: T) -> T:
        """What the user answers to a question, `cancelled` where what it belongs to ends first: the turn, or the request that it names.

        Raises `RequestError`: -32601 where nobody is to be asked, -32602 for a mode that is not offered, a session that is not open, or a
        request that does not wait for its answer.
        """
        if self._elicit is None:
            raise RequestError(
                METHOD_NOT_FOUND, "elicitation/create is not supported", {"method": "elicitation/create"}
            )
        if params.mode not in self._modes:
            raise invalid_params("this elicitation mode is not supported", pointer="/mode")
        request_id = getattr(params, "request_id", UNSET)
        if request_id is UNSET:
            session = self._session(params.session_id)
            found: T | None = await session.until_stopped(maybe_await(self._elicit(params)))
        elif self._waiting is None:
            found = await maybe_await(self._elicit(params))
        else:
            sent = self._waiting(request_id)
            if sent is None:
                raise invalid_params("no request with this id is pending", pointer="/requestId")
            found = await _until(sent.answer, maybe_await(self._elicit(params)))
        return cancelled if found is None else found

    def _require(self, method: str, offered: object) -> None:
        if offered is None or offered is False:
            raise RequestError(METHOD_NOT_FOUND, f"the agent does not advertise {method}", {"method": method})

    def _heard(self, session_id: str, update: Any) -> None:
        """Take in an update; it is kept where a session begins at this moment whose id is not known yet."""
        session = self.sessions.get(session_id)
        if session is not None:
            self._updated(session, update)
        elif self._births and sum(len(one) for one in self._early.values()) < _MOST_EARLY:
            self._early.setdefault(session_id, []).append(update)

    def _session(self, session_id: str) -> OpenSession[K]:
        found = self.sessions.get(session_id)
        if found is None:
            raise invalid_params("there is no such session", pointer="/sessionId")
        return found

    def _named(self, roots: RootSet, mcp_servers: Sequence[Any]) -> dict[str, Any]:
        return {
            "cwd": roots.scope.cwd,
            "additional_directories": self.workspace.additional_directories(roots, advertised=self._has_roots),
            "mcp_servers": list(mcp_servers),
        }

    async def _born(self, method: str, request: object, roots: RootSet) -> OpenSession[K]:
        """A session begins. What the agent sends about it may be read before its id is known here: it is kept until then."""
        birth: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._births.add(birth)
        try:
            result = await self._call(method, request)
            session = await self._began(result.session_id, roots, result, self._empty())
        except BaseException:
            roots.close()
            raise
        finally:
            self._births.discard(birth)
            birth.set_result(None)
            if not self._births:
                self._early.clear()
        return session

    async def _until_known(self, params: object) -> None:
        """Wait for a session that begins at this moment."""
        session_id = getattr(params, "session_id", None)
        if isinstance(session_id, str) and session_id not in self.sessions and self._births:
            await asyncio.wait(tuple(self._births), timeout=_BIRTH, return_when=asyncio.FIRST_COMPLETED)

    @asynccontextmanager
    async def _changing(
        self,
        session_id: str,
        cwd: str,
        additional: Sequence[str],
        mcp_servers: Sequence[Any],
        transcript: K,
    ) -> AsyncGenerator[tuple[dict[str, Any], K, Callable[[object], Awaitable[OpenSession[K]]]], None]:
        """The roots of a session change, if what is done meanwhile succeeds; one change at a time."""
        async with self._locks.setdefault(session_id, asyncio.Lock()):
            roots = self.workspace.prepare(cwd, additional, advertised=self._has_roots)
            before = self.sessions.get(session_id)
            kept = None if before is None else before.transcript
            session = before or OpenSession(session_id, transcript)
            session.transcript = transcript
            self.sessions[session_id] = session
            self._underway[session_id] = roots
            succeeded = False

            async def began(result: object) -> OpenSession[K]:
                nonlocal succeeded
                succeeded = True
                return await self._began(session_id, roots, result, transcript)

            try:
                yield self._named(roots, mcp_servers), transcript, began
            finally:
                self._underway.pop(session_id, None)
                if not succeeded:
                    roots.close()
                    if kept is None:
                        await self._end(session_id)
                    else:
                        session.transcript = kept

    async def _began(self, session_id: str, roots: RootSet, result: object, transcript: K) -> OpenSession[K]:
        session = self.sessions.setdefault(session_id, OpenSession(session_id, transcript))
        session.transcript = transcript
        transcript.begun(result)
        self.workspace.establish(session_id, roots)
        self._underway.pop(session_id, None)
        for update in self._early.pop(session_id, ()):
            self._updated(session, update)
        for follower in session.followers:
            await follower.follow(roots)
        return session

    async def _end(self, session_id: str) -> None:
        """Nothing is served for a session any more."""
        session = self.sessions.pop(session_id, None)
        self.workspace.forget(session_id)
        if session is not None:
            session.stopped.set()
        await self._let_go(session_id)
        for follower in () if session is None else session.followers:
            await follower.follow(None)


def retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Look at how a task has ended, so that nobody complains where nobody waits for it any more."""
    if not task.cancelled():
        task.exception()


async def _until(end: asyncio.Future[Any], work: Awaitable[T]) -> T | None:
    """The result of something, or `None` where the end comes first."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task, end), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() and not end.done() else None
    finally:
        task.cancel()


async def every_page(ask: Callable[[str | None], Awaitable[Any]]) -> list[Any]:
    """The sessions of all pages of `session/list`. Raises `RequestError` where the pages do not end."""
    found: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MOST_PAGES):
        page = await ask(cursor)
        found += page.sessions
        cursor = page.next_cursor
        if cursor is None:
            return found
        if cursor in seen:
            break
        seen.add(cursor)
    raise invalid_params("the pages of session/list do not end", pages=len(seen))
