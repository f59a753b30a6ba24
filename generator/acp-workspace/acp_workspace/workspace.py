"""Workspace roots: the directories that a session may use, from the request on the wire to the bound root set.

The effective roots are ordered: `[cwd, *additionalDirectories]`. A `Scope` is that list as text (`acp_workspace.scope`); a `RootSet` is
a scope bound to real directories, against which paths are checked (`acp_workspace.containment`). `AgentWorkspace` has the rules for the
agent of one connection, `ClientWorkspace` those for the client.

Source: the RFD on `additionalDirectories` (2026-03-24), cited as "RFD" with its section.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Protocol, Self, TypeAlias, TypeVar, cast

from acp_bindings import UNSET

from .containment import AccessDenied, Root, bind, contains, is_within, open_file, reach
from .errors import NOT_FOUND, REFUSED, RequestError, make_invalid_params, make_refusal
from .scope import (
    LifecycleRequest,
    Scope,
    SessionRequest,
    is_absolute,
    list_entries,
    matches,
    normalise,
    parse_scope,
    request_scope,
    require_filter,
)

T = TypeVar("T")

RootPolicy: TypeAlias = "Callable[[str], str | None]"
"""A policy: for a directory, it returns why it cannot be granted, or `None` if it can.

It is called with a root's declared (normalized) path and, if links lead elsewhere, with the real path too: no root is granted by its
spelling alone.
"""
_OPENING_TIMEOUT: Final = 1.0
"""The seconds that a request of the agent waits for the id of its session to become known here."""


# --- roots as directories --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RootSet:
    """A scope bound to directories, against which the session's file accesses are checked; `cwd` first.

    The directories are held open, a descriptor each, so that a replaced root is noticed and refused. They are closed by `close`, at the
    end of a `with` block, or when the set is garbage collected.
    """

    scope: Scope
    roots: tuple[Root, ...]

    @classmethod
    def bind(cls, scope: Scope, policy: RootPolicy = lambda path: None) -> RootSet:
        """Bind every root or none. `policy` is asked for each one, by its declared and by its real path.

        Raises `RequestError` that names the entry: -32002 if there is no such directory, -32001 if it is refused.
        """
        roots: list[Root] = []
        try:
            for index, path in enumerate(scope.paths):
                roots.append(_bind_root(_describe_entry(index), path, policy))
        except BaseException:
            _close(roots)
            raise
        return cls(scope, tuple(roots))

    def close(self) -> None:
        """Release the directories: nothing can be opened in them any more. Open descriptors stay valid."""
        _close(self.roots)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def contains(self, path: str) -> bool:
        """Whether a path, resolved against `cwd` and following links, is in a root; `False` if that cannot be decided.

        For display and planning: each access proves it again by opening.
        """
        try:
            return contains(self.roots, self.scope.absolute(path))
        except RequestError:
            return False

    def open(self, path: str) -> int:
        """Open a file or directory for reading, proven to be in a root, and return its descriptor. The caller closes it.

        Raises `RequestError` -32001 if it is outside the roots, `OSError` if it cannot be opened.
        """
        try:
            return reach(self.roots, self.scope.absolute(path), lambda at: open_file(at.root, at.parts, os.O_RDONLY))
        except AccessDenied as error:
            raise make_refusal(path, error.reason) from None

    def discover(self, *names: str) -> dict[str, list[str]]:
        """The paths of files or directories in the roots, by relative name (RFD, "Agent behavior expectations").

        Those in earlier roots come first and take precedence; paths that lead out of their root are skipped. "Discovery is not equivalent
        to trust" (RFD, "Security considerations"): ask before you run what is there, or treat it as an instruction.
        """
        paths: dict[str, list[str]] = {name: [] for name in names}
        for name, root in product(paths, self.roots):
            path = f"{root.path.rstrip('/')}/{name}"
            with suppress(OSError, AccessDenied):
                os.close(reach([root], path, lambda at: open_file(at.root, at.parts, os.O_RDONLY)))
                paths[name].append(path)
        return paths


Roots: TypeAlias = "RootSet | Scope"
"""The roots of a session: bound to directories of this machine, or as text if the files are elsewhere."""


class RootsSource(Protocol):
    """A provider of the roots of sessions. Services ask for them at each request and keep none."""

    def roots(self, session_id: str) -> Roots:
        """The roots in force. Raises `RequestError` -32602 for a session without roots."""
        ...


def get_session_roots(source: RootsSource | Mapping[str, Roots], session_id: str) -> Roots:
    """The roots in force for a session, from a provider or a mapping. Raises `RequestError` -32602 for a session without roots."""
    if not isinstance(source, Mapping):
        return source.roots(session_id)
    roots = source.get(session_id)
    if roots is None:
        raise make_invalid_params("no workspace roots are known for this session", "/sessionId")
    return roots


def _describe_entry(index: int) -> str:
    """The name of the root at an index of a root set, for messages."""
    return f"additionalDirectories[{index - 1}]" if index else "cwd"


def _bind_root(entry: str, path: str, policy: RootPolicy = lambda path: None) -> Root:
    def require_granted(name: str) -> None:
        reason = policy(name)
        if reason is not None:
            raise _make_root_refusal(path, entry, reason)

    require_granted(path)
    try:
        root = bind(path)
    except FileNotFoundError:
        raise RequestError(NOT_FOUND, f"{entry} is not an existing directory", {"path": path, "entry": entry}) from None
    except NotADirectoryError:
        raise _make_root_refusal(path, entry, "it is not a directory") from None
    except OSError as error:
        raise _make_root_refusal(path, entry, os.strerror(error.errno or errno.EIO).lower()) from None
    except AccessDenied as error:
        raise _make_root_refusal(path, entry, error.reason) from None
    if root.real != path:
        try:
            require_granted(root.real)
        except BaseException:
            root.close()
            raise
    return root


def _close(roots: Iterable[Root]) -> None:
    for root in roots:
        root.close()


def _make_root_refusal(path: str, entry: str, reason: str) -> RequestError:
    return RequestError(REFUSED, f"{entry} is refused: {reason}", {"path": path, "entry": entry})


# --- the agent of a connection ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AgentWorkspace:
    """The rules for the agent of one connection: the roots that result from a lifecycle request (RFD, "Request-specific behavior").

    `advertised` says whether the agent advertises `additionalDirectories`, `policy` decides about each root.
    """

    advertised: bool = True
    policy: RootPolicy = lambda path: None

    def bind(self, request: LifecycleRequest) -> RootSet:
        """Bind the roots for `session/new`, `session/load`, `session/resume` and `session/fork`: all requested roots, never fewer.

        The list of the request is the whole list: it replaces any stored one, a fork inherits none, and an omitted list is empty. Call
        this before anything is created. Raises `RequestError`.
        """
        scope = request_scope(request)
        if not self.advertised and list_entries(request.additional_directories):
            message = "this agent does not support additionalDirectories, and roots are never dropped silently"
            raise make_invalid_params(message, "/additionalDirectories")
        return RootSet.bind(scope, self.policy)

    @staticmethod
    def filter_sessions(sessions: Iterable[T], request: LifecycleRequest, scope_of: Callable[[T], Scope]) -> list[T]:
        """The sessions that pass the filters of `session/list`, in order; see `matches`. Raises `RequestError` -32602."""
        cwd, additional = request.cwd, request.additional_directories
        require_filter(cwd, additional)
        return [session for session in sessions if matches(scope_of(session), cwd=cwd, additional=additional)]


# --- the client of a connection --------------------------------------------------------------------------------------


class ClientWorkspace:
    """The rules for a client: the directories that it sends, and the roots in force for each session (RFD, "Client responsibilities").

    Only what the user has granted is sent or enforced: `allowed_roots` and `allow` name directories, each with all its content.
    """

    def __init__(self, allowed_roots: Iterable[str] = ()) -> None:
        self._allowed: list[Root] = []
        self._sessions: dict[str, RootSet] = {}
        self._reopened: dict[str, RootSet] = {}
        self._openings: set[asyncio.Future[None]] = set()
        self._established: set[str] = set()
        self._has_ended = False
        for path in allowed_roots:
            self.allow(path)

    def allow(self, path: str) -> None:
        """Grant a directory on behalf of the user. Raises `RequestError` if it cannot be bound."""
        if not is_absolute(path):
            raise make_invalid_params("a granted directory must be an absolute path", path=path)
        self._allowed.append(_bind_root("the granted directory", normalise(path)))

    def prepare(self, cwd: str, additional: Sequence[str] = (), *, advertised: bool) -> RootSet:
        """Bind the roots to send with a lifecycle request: absolute, without duplicates, all of them granted.

        `advertised` says whether the agent advertises `additionalDirectories`. Send `scope.cwd` and the result of
        `additional_directories`: the full list, even on load and resume, since the agent remembers none. Raises `RequestError`: -32602
        for malformed entries or if the agent does not support additional roots, -32001 for a directory that the user has not granted.
        """
        scope = parse_scope(cwd, list(additional))
        if scope.additional and not advertised:
            message = "the agent does not support additionalDirectories; name none, if the user agrees to 'cwd' alone"
            raise make_invalid_params(message, "/additionalDirectories")
        return self._bind_scope(scope)

    @staticmethod
    def additional_directories(roots: RootSet, *, advertised: bool) -> Any:
        """The value for the field `additional_directories` of a request: the full list, or `UNSET` to omit it."""
        return roots.scope.as_listed() if advertised else UNSET

    @asynccontextmanager
    async def open_session(self, roots: RootSet, session_id: str | None = None) -> AsyncGenerator[None]:
        """Open a session with these roots; without an id it is a new one.

        Call `establish` in the block once the agent has accepted the request: otherwise the earlier roots stay in force, and these are
        closed. In the block, requests of a session with an id use the new roots.
        """
        opening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if session_id is None:
            self._openings.add(opening)
        else:
            self._reopened[session_id] = roots
        try:
            yield
        finally:
            if session_id is not None and self._reopened.get(session_id) is roots:
                del self._reopened[session_id]
            if not any(root_set is roots for root_set in self._sessions.values()):
                roots.close()
            self._openings.discard(opening)
            opening.set_result(None)

    @property
    def is_opening(self) -> bool:
        """Whether a session is being opened whose id is not known yet."""
        return bool(self._openings)

    async def wait_known(self, session_id: str) -> None:
        """Wait until a session has roots, no session is being opened any more, or a second has passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_OPENING_TIMEOUT):
                while self._openings:
                    with suppress(RequestError):
                        self.roots(session_id)
                        return
                    await asyncio.wait(tuple(self._openings), return_when=asyncio.FIRST_COMPLETED)

    def establish(self, session_id: str, roots: RootSet) -> None:
        """Set the roots of a session whose lifecycle request the agent has accepted. Its earlier roots are closed."""
        before = self._sessions.get(session_id)
        if before is not None and before is not roots:
            before.close()
        self._sessions[session_id] = roots
        self._established.add(session_id)

    def learn(self, info: SessionRequest) -> RootSet:
        """Adopt the roots of a session from `session/list`, and return those in force.

        They are in force until a lifecycle request sets others; roots that this client has set itself stay. A list cannot widen what the
        user has granted: then this raises `RequestError` -32001, and the session has no roots.
        """
        if info.session_id in self._established:
            return self._sessions[info.session_id]
        self._sessions.pop(info.session_id, None)
        roots = self._bind_scope(request_scope(info))
        self._sessions[info.session_id] = roots
        return roots

    def forget(self, session_id: str) -> None:
        """Close the roots of a session that has ended, so that nothing is opened for it any more."""
        roots = self._sessions.pop(session_id, None)
        if roots is not None:
            roots.close()
        self._established.discard(session_id)

    def close(self) -> None:
        """Close all roots, those of sessions and the granted ones, because the connection has ended."""
        for session_id in tuple(self._sessions):
            self.forget(session_id)
        _close(self._allowed)
        self._allowed.clear()
        self._has_ended = True

    def roots(self, session_id: str) -> RootSet:
        """The roots in force for a session; while it is being reopened, those of the request.

        Raises `RequestError` -32602 for a session without roots.
        """
        return self._reopened.get(session_id) or cast("RootSet", get_session_roots(self._sessions, session_id))

    def _bind_scope(self, scope: Scope) -> RootSet:
        roots = RootSet.bind(scope)
        for index, root in enumerate(roots.roots):
            if not is_within(self._allowed, root):
                roots.close()
                ended = "the connection of this workspace has ended, so its grants have ended; create a new workspace"
                is_over = self._has_ended and not self._allowed
                raise _make_root_refusal(
                    root.path, _describe_entry(index), ended if is_over else "the user has not granted it"
                )
        return roots
