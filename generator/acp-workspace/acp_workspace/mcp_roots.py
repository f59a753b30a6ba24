"""MCP roots: the directories and files that a client exposes to its servers, and how a server uses them.

For bridges and for clients of both protocols. MCP has deprecated roots from its revision 2026-07-28 on: new programs pass directories to
a server as tool arguments or settings instead. Needs `mcp-bindings`.

`RootsProvider` is the client's side, `RootsCache` the server's, `from_workspace` converts the roots of an ACP session. Types are those
of `mcp_bindings.roots`; you keep control of connections: both take functions that send.

Source: MCP, "Roots", revisions 2025-06-18, 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias, cast

try:
    from mcp_bindings import ErrorResponse, Request, Response, roots, to_builtins
except ModuleNotFoundError as missing:
    raise ImportError(
        "MCP roots need the bindings: install 'mcp-bindings', in a clone from generated/python/mcp-bindings"
    ) from missing

from .containment import AccessDenied, Place, Root, find_places, open_file, reach, require_enforceable
from .errors import INTERNAL_ERROR, METHOD_NOT_FOUND, RequestError, make_refusal
from .mcp_uris import Target
from .mcp_uris import make_uri as make_uri
from .mcp_uris import parse_uri as parse_uri
from .scope import MOST_ROOTS, Scope, normalise
from .workspace import RootSet

Consent: TypeAlias = "Callable[[str], Awaitable[bool]]"
"""Asks the user whether a directory or file may be exposed to servers. Only `True` is consent."""
Revision: TypeAlias = Literal["2025-06-18", "2025-11-25", "2026-07-28"]
"""A revision of MCP, as negotiated by `initialize`. From 2026-07-28 on changes are not announced: servers ask within a request."""

LIST: Final = "roots/list"
"""The method of the request for the roots."""

LIST_CHANGED: Final = "notifications/roots/list_changed"
"""The method of the notification that roots have changed."""
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""The key of the client's capabilities in `_meta` of a 2026-07-28 request."""


Answer: TypeAlias = "roots.ListRootsResult | Mapping[str, Any]"
"""The result of `roots/list`: decoded, or as JSON, in which a malformed entry does not affect the others."""

INPUT_REQUEST: Final[Mapping[str, str]] = {"method": "roots/list"}
"""The entry of `inputRequests` by which a server of 2026-07-28 asks for roots; pass the response to `bind_roots`."""


def from_workspace(workspace: RootSet | Scope) -> list[roots.Root]:
    """Convert the roots of an ACP session to MCP roots, in order, `cwd` first.

    Bound roots get their real paths; a scope of any platform keeps its paths. ACP fixes the roots of a session, so there are no changes
    to announce until a lifecycle request sets other roots.
    """
    if isinstance(workspace, RootSet):
        return [_build_root(root.real, None) for root in workspace.roots]
    return [
        roots.Root(
            uri=make_uri(path, workspace.flavour), name=path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
        )
        for path in workspace.paths
    ]


def _build_root(path: str, name: str | None) -> roots.Root:
    return roots.Root(uri=make_uri(path), name=name or os.path.basename(path) or "/")  # noqa: PTH119


class RootsProvider:
    """The roots of an MCP client, for one connection.

    Put `capability()` into the client's capabilities, pass requests to `answer`, call `initialized` when the connection is, and run
    `watch`. A directory or file becomes a root only with the user's consent, only while it is usable, and a directory only as long as it
    is the one that was granted.

    `notify` sends a notification's method to the server. If it fails, `failure` holds the exception, and it is retried at the next
    check. Nothing is sent before `initialized`. With `supported=False` there is no capability, and the response to `roots/list` is error
    -32601.
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
        self._exposed: list[Target] = []
        self._followed: frozenset[str] = frozenset()
        self._reported_roots: tuple[tuple[str, object], ...] = ()
        self._is_initialized = False
        self._batches = 0
        self._checking = asyncio.Lock()

    # --- what the server is told of the client

    def capability(self) -> roots.RootsCapability | None:
        """The value of `capabilities.roots`; `None` to omit the member."""
        if not self.supported:
            return None
        return (
            roots.RootsCapability()
            if self.revision == "2026-07-28"
            else roots.RootsCapability(list_changed=self.list_changed)
        )

    def meta(self) -> dict[str, Any]:
        """The members to add to `_meta` of each 2026-07-28 request; empty if roots are not supported."""
        return {CAPABILITIES: {"roots": {}}} if self.supported else {}

    def initialized(self) -> None:
        """Record that `notifications/initialized` was sent: from now on changes are announced.

        The server requests the initial roots itself.
        """
        self._is_initialized = True
        self._reported_roots = self._list_names()

    # --- what is exposed

    @asynccontextmanager
    async def batch(self) -> AsyncGenerator[None, None]:
        """Announce the changes of the block once, at its end.

        async with provider.batch():
            for path in paths:
                await provider.expose(path)
        """
        self._batches += 1
        try:
            yield
        finally:
            self._batches -= 1
            await self._announce()

    async def expose(self, path: str, name: str | None = None) -> None:
        """Expose a directory or a file, after asking for consent. If it is exposed already, only its display name is set, if any.

        Raises `RequestError` -32001 if it is not usable or not granted.
        """
        try:
            require_enforceable(path)
            exposed = Target.bind(path, name)
        except (OSError, AccessDenied):
            raise make_refusal(path, "it is not a usable directory or file") from None
        key = (exposed.real, exposed.root.identity)
        twins = [target for target in self._exposed if (target.real, target.root.identity) == key]
        if twins:
            exposed.root.close()
            if name is not None:
                self._exposed = [replace(target, name=name) if target in twins else target for target in self._exposed]
                await self._announce()
            return
        try:
            if not exposed.is_accessible:
                raise make_refusal(path, "it cannot be listed")
            if await self._consent(exposed.real) is not True:
                raise make_refusal(path, "the user has not granted it")
        except BaseException:
            exposed.root.close()
            raise
        # another directory stood there
        self._exposed = [target for target in self._exposed if target.real != exposed.real]
        self._exposed.append(exposed)
        await self._announce()

    async def follow(self, workspace: RootSet | None) -> None:
        """Expose the current roots of an ACP session and withdraw its former ones; `None` withdraws all. There is one announcement.

        Roots that the user does not grant are skipped. A client session calls this whenever its roots change.
        """
        requested = {} if workspace is None else {root.real: root.path for root in workspace.roots}
        async with self.batch():
            removed_roots = self._followed - requested.keys()
            self._exposed = [target for target in self._exposed if target.real not in removed_roots]
            followed = self._followed & requested.keys()
            for real, path in requested.items():
                try:
                    await self.expose(path)
                except RequestError:
                    continue
                followed |= {real}
            self._followed = frozenset(followed)

    async def withdraw(self, path: str) -> None:
        """Withdraw a root, by its exposed or its real path. Raises `LookupError` if it is not exposed."""
        plain = normalise(path)
        remaining = [target for target in self._exposed if plain not in (normalise(target.path), target.real)]
        if len(remaining) == len(self._exposed):
            raise LookupError(f"{path!r} is not exposed")
        self._exposed = remaining
        await self._announce()

    # --- announcing

    async def check(self) -> bool:
        """Announce the usable roots if they differ from those that the server knows; return whether they do.

        Raises what `notify` raises; then the announcement is pending.
        """
        async with self._checking:
            current = self._list_names()
            if current == self._reported_roots:
                self.failure = None
                return False
            if self.supported and self.list_changed and self._is_initialized:
                await self._notify(LIST_CHANGED)
            self._reported_roots = current
            self.failure = None
            return True

    async def _announce(self) -> None:
        if self._batches:
            return
        try:
            await self.check()
        except Exception as error:  # noqa: BLE001 - `failure` reports it, and the next check tries again
            self.failure = error

    async def watch(self, interval: float = 2.0) -> None:
        """Check every `interval` seconds until cancelled: a root may vanish or become unreadable at any time. Failures do not stop it."""
        while True:
            await asyncio.sleep(interval)
            await self._announce()

    def _list_names(self) -> tuple[tuple[str, object], ...]:
        return tuple((root.uri, root.name) for root in self.current())

    def current(self) -> list[roots.Root]:
        """The currently usable roots, in the order of exposure. Roots without a URI are skipped."""
        result: list[roots.Root] = []
        for exposed in self._exposed:
            if exposed.is_accessible:
                try:
                    result.append(_build_root(exposed.real, exposed.name))
                except ValueError:
                    continue
        return result

    def allows(self, path: str) -> bool:
        """Whether an absolute path is in an exposed root, following links; for requests that the client performs for a server."""
        return any(target.allows(path) for target in self._exposed)

    # --- answering

    async def answer(self, request: Request[Any]) -> Response[Any] | ErrorResponse[roots.Error]:
        """The response to a decoded `roots/list`.

        It is an error with code -32601 if roots are not supported or for another method, with -32603 if listing fails.
        """
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
        self._reported_roots = tuple((root.uri, root.name) for root in current)
        return roots.ListRootsResult(roots=current)

    def input_responses(self, requests: Mapping[str, object]) -> dict[str, Any]:
        """The entries of `inputResponses` for those `inputRequests` of 2026-07-28 that ask for roots.

        Other entries are left to their own handlers. Raises `RequestError` as `list_roots` does.
        """
        keys = [
            key
            for key, request in requests.items()
            if isinstance(request, Mapping) and cast("Mapping[str, object]", request).get("method") == LIST
        ]
        return {key: to_builtins(self.list_roots()) for key in keys}


def client_capabilities(provider: RootsProvider) -> roots.ClientCapabilities:
    """The client's capabilities for `initialize`, with `roots` if the provider supports it."""
    capability = provider.capability()
    return roots.ClientCapabilities() if capability is None else roots.ClientCapabilities(roots=capability)


# --- the server's side -----------------------------------------------------------------------------------------------


class RootsUnsupported(LookupError):
    """The client has not declared the `roots` capability, so it is not asked."""


class _Listed:
    """A root as the client lists it, and its current directory or file."""

    def __init__(self, uri: str, path: str) -> None:
        self.uri = uri
        self._path = path
        self._target: Target | None = None
        self.reason = ""

    def find_target(self) -> Target | None:
        """The usable target; bound again if it was replaced, or bound for the first time. `None` if there is none."""
        if self._target is not None and not self._target.is_there:
            self._target.root.close()
            self._target = None
        if self._target is None:
            try:
                self._target = Target.bind(self._path)
            except AccessDenied as error:
                self.reason = error.reason
            except OSError as error:
                self.reason = os.strerror(error.errno or 0).lower()
        return self._target

    def holds(self, path: str) -> bool:
        """Whether a path is lexically in the root."""
        return bool(Scope(self._path, flavour="posix").locate(path))


class ServerRoots:
    """The roots that a client has exposed, for use by a server.

    Each use checks them again: a root that is created after it was listed, or removed and created again, is usable from then on.
    """

    def __init__(self, entries: Sequence[_Listed], malformed: Iterable[tuple[str, str]] = ()) -> None:
        self._entries = tuple(entries)
        self._malformed = tuple(malformed)

    def _list_targets(self) -> tuple[Target, ...]:
        return tuple(target for root in self._entries if (target := root.find_target()) is not None)

    @property
    def roots(self) -> tuple[Root, ...]:
        """The directories that are currently usable, in the client's order."""
        return tuple(target.root for target in self._list_targets() if target.file is None)

    @property
    def files(self) -> tuple[str, ...]:
        """The real paths of roots that are files and currently usable."""
        return tuple(target.real for target in self._list_targets() if target.file is not None)

    @property
    def unusable(self) -> tuple[tuple[str, str], ...]:
        """The URIs that are currently unusable, with the reason; malformed ones come last."""
        return (*((root.uri, root.reason) for root in self._entries if root.find_target() is None), *self._malformed)

    def contains(self, path: str) -> bool:
        """Whether an absolute path is in a root, following links. For planning: only `open` decides."""
        try:
            return bool(self._find_places(path))
        except (AccessDenied, OSError):
            return False

    def open(self, path: str) -> int:
        """Open a file or directory for reading, proven to be in a root, and return its descriptor. The caller closes it.

        Raises `RequestError` -32001 if it is outside the roots, `OSError` if it cannot be opened: a root may have become unavailable.
        """
        targets = self._list_targets()

        def use(place: Place) -> int:
            if not any(target.holds(place) for target in targets):
                raise AccessDenied(path, "it is outside the roots")
            return open_file(place.root, place.parts, os.O_RDONLY)

        try:
            return reach([target.root for target in targets], path, use)
        except AccessDenied as error:
            if any(root.holds(path) and root.find_target() is None for root in self._entries):
                raise FileNotFoundError(errno.ENOENT, "the root does not exist at the moment", path) from None
            raise make_refusal(path, error.reason) from None

    def require(self, path: str) -> tuple[Place, ...]:
        """The places that an absolute path leads to. Raises `RequestError` -32001 if it is outside the roots."""
        try:
            matches = self._find_places(path)
        except AccessDenied as error:
            raise make_refusal(path, error.reason) from None
        except OSError:
            raise make_refusal(path, "a link in the path is broken") from None
        if not matches:
            raise make_refusal(path, "it is outside the roots")
        return matches

    def _find_places(self, path: str) -> tuple[Place, ...]:
        targets = self._list_targets()
        matches = find_places([target.root for target in targets], path)
        return tuple(place for place in matches if any(target.holds(place) for target in targets))


class RootsCache:
    """The client's roots for an MCP server: requested once, and again after each change.

    `capabilities` are the client's, from `initialize` or from the current request. `ask` sends `roots/list` and returns the result; call
    `changed` on `notifications/roots/list_changed`. A client that does not announce changes, as none does from 2026-07-28 on, is asked
    each time.
    """

    def __init__(self, capabilities: roots.ClientCapabilities, ask: Callable[[], Awaitable[Answer]]) -> None:
        declared = capabilities.roots
        self.supported = isinstance(declared, roots.RootsCapability)
        self.announces = isinstance(declared, roots.RootsCapability) and declared.list_changed is True
        self._ask = ask
        self._current: ServerRoots | None = None
        self._generation = 0
        self._lock = asyncio.Lock()

    def changed(self) -> None:
        """Discard the cached roots, because the client has announced a change."""
        self._generation += 1
        self._current = None

    async def current(self) -> ServerRoots:
        """The roots, requested if necessary. Raises `RootsUnsupported`, and what `ask` raises."""
        if not self.supported:
            raise RootsUnsupported("the client has not declared the capability 'roots'")
        async with self._lock:
            while self._current is None:
                generation = self._generation
                server_roots = bind_roots(await self._ask())
                if not self.announces:
                    return server_roots
                if generation == self._generation:
                    self._current = server_roots
            return self._current


def bind_roots(result: Answer) -> ServerRoots:
    """Bind the roots of a client's result.

    Entries that are malformed or not plain `file://` URIs are recorded and do not affect the others.

    Raises `ValueError` for JSON that is not a result of `roots/list` at all.
    """
    uris = list(_list_uris(result))
    entries: list[_Listed] = []
    malformed: list[tuple[str, str]] = []
    for uri, reason in uris[:MOST_ROOTS]:
        try:
            if reason:
                raise ValueError(reason)
            entries.append(_Listed(uri, parse_uri(uri)))
        except ValueError as error:
            malformed.append((uri, str(error)))
    malformed += [(uri, f"the list has more than {MOST_ROOTS} roots") for uri, _ in uris[MOST_ROOTS:]]
    return ServerRoots(entries, malformed)


def _list_uris(result: Answer) -> Iterator[tuple[str, str]]:
    if isinstance(result, roots.ListRootsResult):
        yield from ((root.uri, "") for root in result.roots)
        return
    entries = result.get("roots")
    if not isinstance(entries, list):
        raise ValueError("a result of roots/list must have an array 'roots'")
    for entry in cast("list[object]", entries):
        uri = cast("Mapping[str, object]", entry).get("uri") if isinstance(entry, Mapping) else None
        yield (uri, "") if isinstance(uri, str) else (str(uri)[:200], "an entry must be an object with a 'uri'")
