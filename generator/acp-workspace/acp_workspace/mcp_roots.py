"""MCP roots: which directories and files a client tells its servers about, and what a server makes of them.

For bridges and for clients of both protocols. MCP has deprecated roots from its revision 2026-07-28 on: new programs pass directories to
a server as arguments of a tool or in its settings instead. Needs `mcp-bindings`.

`RootsProvider` is the client's half, `RootsCache` the server's, `from_workspace` maps the roots of an ACP session. Types are those of
`mcp_bindings.roots`; connections stay yours: both are given functions that send.

Source: MCP, "Roots", revisions 2025-06-18, 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, cast

try:
    from mcp_bindings import ErrorResponse, Request, Response, roots, to_builtins
except ModuleNotFoundError as missing:
    raise ImportError(
        "MCP roots need the bindings: install 'mcp-bindings', in a clone from generated/python/mcp-bindings"
    ) from missing

from .containment import AccessDenied, open_syncable_folder, places, require_enforceable
from .errors import INTERNAL_ERROR, METHOD_NOT_FOUND, RequestError, refusal
from .mcp_cache import INPUT_REQUEST as INPUT_REQUEST
from .mcp_cache import RootsCache as RootsCache
from .mcp_cache import RootsUnsupported as RootsUnsupported
from .mcp_cache import ServerRoots as ServerRoots
from .mcp_cache import bind_roots as bind_roots
from .mcp_uris import Target
from .mcp_uris import path_of as path_of
from .mcp_uris import uri_of as uri_of
from .scope import Scope, normalise
from .workspace import RootSet

Consent: TypeAlias = "Callable[[str], Awaitable[bool]]"
"""Asks the user whether a directory or file may be shown to servers. Only `True` is consent."""
Revision: TypeAlias = Literal["2025-06-18", "2025-11-25", "2026-07-28"]
"""A revision of MCP, as `initialize` settles it. From 2026-07-28 on nothing is announced: servers ask within a request."""

LIST: Final = "roots/list"
"""The request for the roots."""

LIST_CHANGED: Final = "notifications/roots/list_changed"
"""The announcement that they changed."""
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""Where a request of 2026-07-28 carries the client's capabilities in `_meta`."""


def from_workspace(workspace: RootSet | Scope) -> list[roots.Root]:
    """The roots of an ACP session as MCP roots, in their order, `cwd` first: those that are bound by their real paths, those that are text
    as they are, of any platform.

    ACP fixes the roots for as long as a session lasts, so there is nothing to announce until a lifecycle request sets others.
    """
    if isinstance(workspace, RootSet):
        return [_shown(root.real, None) for root in workspace.roots]
    return [
        roots.Root(
            uri=uri_of(path, workspace.flavour), name=path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
        )
        for path in workspace.paths
    ]


def _shown(path: str, name: str | None) -> roots.Root:
    return roots.Root(uri=uri_of(path), name=name or os.path.basename(path) or "/")  # noqa: PTH119


@dataclass(frozen=True, slots=True)
class Exposed(Target):
    """A directory, or a file in one, that servers are told about, and its name for people."""

    name: str | None = None

    @property
    def path(self) -> str:
        """The path as it was exposed."""
        return self.root.path if self.file is None else f"{self.root.path.rstrip('/')}/{self.file}"

    @property
    def is_accessible(self) -> bool:
        """Whether it is still there, and a directory may be listed."""
        if self.file is not None:
            return self.is_there
        try:
            os.close(open_syncable_folder(self.root, ()))
        except (OSError, AccessDenied):
            return False
        return True

    def allows(self, path: str) -> bool:
        """Whether a path lies in it, links followed."""
        try:
            return any(map(self.holds, places([self.root], path)))
        except (OSError, AccessDenied):
            return False


class RootsProvider:
    """The roots of an MCP client, for one connection.

    Put `capability()` into the client's capabilities, give requests to `answer`, call `initialized` when the connection is, and let `watch`
    run. A directory or file becomes a root only with the user's consent, only while it can be used, and, for a directory, only as the
    one it was when consent was given.

    `notify` sends a notification's method to the server. Where it fails, `failure` says so, and it is tried again with the next check.
    Nothing is sent before `initialized`. With `supported=False` there is no capability, and `roots/list` is -32601.
    """

    def __init__(
        self,
        consent: Consent,
        notify: Callable[[str], Awaitable[None]],
        *,
        supported: bool = True,
        list_changed: bool = True,
        revision: Revision = "2025-06-18",
    ) -> None:
        self._consent = consent
        self._notify = notify
        self.supported = supported
        self.list_changed = list_changed and revision != "2026-07-28"
        self.revision: Revision = revision
        self.failure: Exception | None = None
        self._exposed: list[Exposed] = []
        self._followed: frozenset[str] = frozenset()
        self._told: tuple[tuple[str, object], ...] = ()
        self._is_initialized = False
        self._batches = 0
        self._checking = asyncio.Lock()

    # --- what the server is told of the client

    def capability(self) -> roots.RootsCapability | None:
        """The value of `capabilities.roots`; `None` where the member is left out."""
        if not self.supported:
            return None
        return (
            roots.RootsCapability()
            if self.revision == "2026-07-28"
            else roots.RootsCapability(list_changed=self.list_changed)
        )

    def meta(self) -> dict[str, Any]:
        """The member of `_meta` that each request of 2026-07-28 carries; empty where roots are not supported."""
        return {CAPABILITIES: {"roots": {}}} if self.supported else {}

    def initialized(self) -> None:
        """Note that `notifications/initialized` was sent: from now on changes are announced. What is there now, the server asks for."""
        self._is_initialized = True
        self._told = self._current_names()

    # --- what is exposed

    @asynccontextmanager
    async def batch(self) -> AsyncGenerator[None, None]:
        """What is exposed and withdrawn in the block is announced once, at its end.

        async with provider.batch():
            for path in paths:
                await provider.expose(path)
        """
        self._batches += 1
        try:
            yield
        finally:
            self._batches -= 1
            await self._announced()

    async def expose(self, path: str, name: str | None = None) -> None:
        """Add a directory or a file, after asking for consent. One that is exposed already is not asked about again, and gets the name.

        Raises `RequestError` -32001 where it cannot be used or is not granted.
        """
        try:
            require_enforceable(path)
            exposed = replace(Exposed.bind(path), name=name)
        except (OSError, AccessDenied):
            raise refusal(path, "it is not a usable directory or file") from None
        same = [one for one in self._exposed if (one.real, one.root.identity) == (exposed.real, exposed.root.identity)]
        if same:
            exposed.root.close()
            if name is not None:
                self._exposed = [replace(one, name=name) if one in same else one for one in self._exposed]
                await self._announced()
            return
        try:
            if not exposed.is_accessible:
                raise refusal(path, "it cannot be listed")
            if await self._consent(exposed.real) is not True:
                raise refusal(path, "the user has not granted it")
        except BaseException:
            exposed.root.close()
            raise
        self._exposed = [one for one in self._exposed if one.real != exposed.real]  # another directory stood there
        self._exposed.append(exposed)
        await self._announced()

    async def expose_workspace(self, workspace: RootSet) -> None:
        """Add the roots of an ACP session in their order, and announce them once; see `expose`."""
        async with self.batch():
            for root in workspace.roots:
                await self.expose(root.path)

    async def follow(self, workspace: RootSet | None) -> None:
        """Expose the roots of an ACP session and no longer those that it had before; `None`: none any more. One announcement tells it.

        What the user does not grant is left out. A client session calls this whenever its roots change.
        """
        wanted = {} if workspace is None else {root.real: root.path for root in workspace.roots}
        async with self.batch():
            gone = self._followed - wanted.keys()
            self._exposed = [one for one in self._exposed if one.real not in gone]
            followed = self._followed & wanted.keys()
            for real, path in wanted.items():
                try:
                    await self.expose(path)
                except RequestError:
                    continue
                followed |= {real}
            self._followed = frozenset(followed)

    async def rename(self, path: str, name: str | None) -> None:
        """Give an exposed root another name for people; nobody is asked. Raises `LookupError` where it is not exposed."""
        found = self._named(path)
        self._exposed = [replace(one, name=name) if one in found else one for one in self._exposed]
        await self._announced()

    async def withdraw(self, path: str) -> None:
        """Take a root away again, named as it was exposed or by its real path. Raises `LookupError` where it is not exposed."""
        found = self._named(path)
        self._exposed = [one for one in self._exposed if one not in found]
        await self._announced()

    def _named(self, path: str) -> list[Exposed]:
        plain = normalise(path)
        found = [one for one in self._exposed if plain in (normalise(one.path), one.real)]
        if not found:
            raise LookupError(f"{path!r} is not exposed")
        return found

    # --- announcing

    async def check(self) -> bool:
        """Look whether the roots that can be used are others than the server was told, and announce it if they are; whether they were.

        Raises what `notify` raises; then the server counts as not told.
        """
        async with self._checking:
            current = self._current_names()
            if current == self._told:
                self.failure = None
                return False
            if self.supported and self.list_changed and self._is_initialized:
                await self._notify(LIST_CHANGED)
            self._told = current
            self.failure = None
            return True

    async def _announced(self) -> None:
        if self._batches:
            return
        try:
            await self.check()
        except Exception as error:  # noqa: BLE001 - told by `failure`, and tried again
            self.failure = error

    async def watch(self, interval: float = 2.0) -> None:
        """Check every `interval` seconds until cancelled: a root may vanish or become unreadable at any time. Failures end it not."""
        while True:
            await asyncio.sleep(interval)
            await self._announced()

    def _current_names(self) -> tuple[tuple[str, object], ...]:
        return tuple((root.uri, root.name) for root in self.current())

    def current(self) -> list[roots.Root]:
        """The roots that can be used at this moment, in the order of their exposure. One that has no URI is left out."""
        found: list[roots.Root] = []
        for exposed in self._exposed:
            if exposed.is_accessible:
                try:
                    found.append(_shown(exposed.real, exposed.name))
                except ValueError:
                    continue
        return found

    def allows(self, path: str) -> bool:
        """Whether an absolute path lies in an exposed root, links followed; for requests that the client carries out for a server."""
        return any(exposed.allows(path) for exposed in self._exposed)

    # --- answering

    async def answer(self, request: Request[Any]) -> Response[Any] | ErrorResponse[roots.Error]:
        """Answer a decoded `roots/list`: -32601 where roots are not supported or the method is another, -32603 where listing fails."""
        try:
            result = self.list_roots(request.method)
        except RequestError as error:
            body = roots.Error(code=error.code, message=error.message, data=error.data)
            return ErrorResponse(request.id, body, request.method)
        return Response(request.id, result, request.method)

    def list_roots(self, method: str = LIST) -> roots.ListRootsResult:
        """The result of `roots/list`. Raises `RequestError`."""
        if not self.supported:
            reason = {"reason": "Client does not have roots capability"}
            raise RequestError(METHOD_NOT_FOUND, "Roots not supported", reason)
        if method != LIST:
            raise RequestError(METHOD_NOT_FOUND, "this is not a roots method", {"method": method})
        try:
            current = self.current()
        except (OSError, ValueError) as error:
            raise RequestError(INTERNAL_ERROR, "the roots cannot be listed", {"reason": type(error).__name__}) from None
        self._told = tuple((root.uri, root.name) for root in current)
        return roots.ListRootsResult(roots=current)

    def input_responses(self, requests: Mapping[str, object]) -> dict[str, Any]:
        """What a client of 2026-07-28 puts into `inputResponses` for the entries of `inputRequests` that ask for roots; others are left to
        their own handlers. Raises `RequestError` as `list_roots`.
        """
        asked = [
            key
            for key, one in requests.items()
            if isinstance(one, Mapping) and cast("Mapping[str, object]", one).get("method") == LIST
        ]
        return {key: to_builtins(self.list_roots()) for key in asked}


def client_capabilities(provider: RootsProvider) -> roots.ClientCapabilities:
    """The client's capabilities for `initialize`, with `roots` if the provider supports it."""
    capability = provider.capability()
    return roots.ClientCapabilities() if capability is None else roots.ClientCapabilities(roots=capability)
