"""MCP roots: which directories a client tells its servers about, and what a server makes of them.

For bridges and for clients of both protocols. MCP has deprecated roots from its revision 2026-07-28 on; this follows 2025-06-18, and new
programs pass directories to a server as arguments of a tool or in its settings instead. Needs the extra `acp-session[mcp]`.

`RootsProvider` is the client's half, `RootsCache` the server's, `from_workspace` maps the roots of an ACP session. Types are those of
`mcp_bindings.roots`; connections stay yours: both are given functions that send.

Source: MCP 2025-06-18, "Roots".
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import quote, unquote_to_bytes, urlsplit

try:
    from mcp_bindings import MISSING, ErrorResponse, Request, Response, roots
except ModuleNotFoundError as missing:
    raise ImportError("MCP roots need the bindings: install 'acp-session[mcp]'") from missing

from .containment import (
    Place,
    Refused,
    Root,
    bind,
    contains,
    open_file,
    open_syncable_folder,
    places,
    reach,
    require_enforceable,
)
from .errors import INTERNAL_ERROR, METHOD_NOT_FOUND, RequestError, refused
from .workspace import MOST_ROOTS, RootSet, normalise

Consent: TypeAlias = "Callable[[str], Awaitable[bool]]"
"""Asks the user whether a directory may be shown to servers."""

LIST: Final = "roots/list"
LIST_CHANGED: Final = "notifications/roots/list_changed"


# --- paths and URIs --------------------------------------------------------------------------------------------------


def uri_of(path: str) -> str:
    """The `file://` URI of an absolute path. Raises `ValueError` for any other.

    >>> uri_of("/srv/tide data/é#1")
    'file:///srv/tide%20data/%C3%A9%231'
    """
    if not path.startswith("/") or "\0" in path:
        raise ValueError("only an absolute path has a file URI")
    if ".." in path.split("/"):
        raise ValueError("a path with '..' is not shown as a root")
    return "file://" + quote(os.fsencode(path), safe="/")


def path_of(uri: str) -> str:
    """The path that a root's URI names. Raises `ValueError` for anything that is not a plain, local `file://` URI.

    Refused are other schemes and hosts, queries and fragments, relative paths, and whatever could climb: `.` and `..`, also written with
    percent signs, encoded separators, backslashes and NUL (MCP, "Security Considerations": validate all root URIs).

    >>> path_of("file:///srv/tide%20data"), path_of("file://localhost/srv/")
    ('/srv/tide data', '/srv')
    >>> path_of("file:///srv/%2e%2e/etc")
    Traceback (most recent call last):
    ValueError: the URI climbs: it holds '.' or '..'
    """
    if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in uri) or "\\" in uri:
        raise ValueError("a URI holds neither spaces, control characters nor backslashes")
    parts = urlsplit(uri)
    if not uri.lower().startswith("file://"):
        raise ValueError("a root is a file:// URI")
    if parts.netloc.lower() not in ("", "localhost"):
        raise ValueError("a root lies on this machine")
    if "?" in uri or "#" in uri:
        raise ValueError("a root has neither query nor fragment")
    if not parts.path.startswith("/"):
        raise ValueError("a root is an absolute path")
    segments = [unquote_to_bytes(segment) for segment in parts.path.split("/")]
    if any(segment in (b".", b"..") for segment in segments):
        raise ValueError("the URI climbs: it holds '.' or '..'")
    if any(b"/" in segment or b"\\" in segment or b"\0" in segment for segment in segments):
        raise ValueError("a separator or NUL is hidden in the URI")
    try:
        names = [segment.decode() for segment in segments if segment]
    except UnicodeDecodeError:
        raise ValueError("the URI is not UTF-8") from None
    return "/" + "/".join(names)


def from_workspace(workspace: RootSet) -> list[roots.Root]:
    """The roots of an ACP session as MCP roots: the same directories in the same order, `cwd` first, by their real paths.

    ACP fixes the roots for as long as a session lasts, so there is nothing to announce until a lifecycle request sets others.
    """
    return [_shown(root, None) for root in workspace.roots]


def _shown(root: Root, name: str | None) -> roots.Root:
    return roots.Root(uri=uri_of(root.real), name=name or os.path.basename(root.real) or "/")  # noqa: PTH119


# --- the client's half -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exposed:
    """A directory that servers are told about, and its name for people."""

    root: Root
    name: str | None = None

    @property
    def is_accessible(self) -> bool:
        """Whether this very directory is still there and may be listed."""
        try:
            os.close(open_syncable_folder(self.root, ()))
        except (OSError, Refused):
            return False
        return True


class RootsProvider:
    """The roots of an MCP client, for one connection.

    Put `capability()` into the client's capabilities, give requests to `answer`, and let `watch` run. A directory becomes a root only
    with the user's consent, only while it can be used, and only as the directory it was when consent was given.

    `notify` sends a notification's method to the server. With `supported=False` there is no capability, and `roots/list` is -32601.
    """

    def __init__(
        self,
        consent: Consent,
        notify: Callable[[str], Awaitable[None]],
        *,
        supported: bool = True,
        list_changed: bool = True,
    ) -> None:
        self._consent = consent
        self._notify = notify
        self.supported = supported
        self.list_changed = list_changed
        self._exposed: list[Exposed] = []
        self._told: tuple[str, ...] = ()

    def capability(self) -> roots.RootsCapability | None:
        """The value of `capabilities.roots`; `None` where the member is left out."""
        return roots.RootsCapability(list_changed=self.list_changed) if self.supported else None

    async def expose(self, path: str, name: str | None = None) -> None:
        """Add a directory, after asking for consent. Raises `RequestError` -32001 where it cannot be used or is not granted."""
        try:
            require_enforceable(path)
            exposed = Exposed(bind(path), name)
        except (OSError, Refused):
            raise refused(path, "it is no directory that can be used") from None
        if not exposed.is_accessible:
            raise refused(path, "it may not be listed")
        if not await self._consent(exposed.root.real):
            raise refused(path, "the user has not granted it")
        if all(other.root.real != exposed.root.real for other in self._exposed):
            self._exposed.append(exposed)
        await self.check()

    async def expose_workspace(self, workspace: RootSet) -> None:
        """Add the roots of an ACP session in their order; see `expose`."""
        for root in workspace.roots:
            await self.expose(root.path)

    async def withdraw(self, path: str) -> None:
        """Take a directory away again, named as it was exposed or by its real path. Raises `LookupError` where it is not exposed."""
        plain = normalise(path)
        kept = [one for one in self._exposed if plain not in (normalise(one.root.path), one.root.real)]
        if len(kept) == len(self._exposed):
            raise LookupError(f"{path!r} is not exposed")
        self._exposed = kept
        await self.check()

    async def check(self) -> bool:
        """Look whether the roots that can be used are others than the server was told, and announce it if they are; whether they were."""
        current = tuple(root.uri for root in self.current())
        if current == self._told:
            return False
        self._told = current
        if self.supported and self.list_changed:
            await self._notify(LIST_CHANGED)
        return True

    async def watch(self, interval: float = 2.0) -> None:
        """Check every `interval` seconds until cancelled: a root may vanish or become unreadable at any time."""
        while True:
            await asyncio.sleep(interval)
            await self.check()

    def current(self) -> list[roots.Root]:
        """The roots that can be used at this moment, in the order of their exposure."""
        return [_shown(exposed.root, exposed.name) for exposed in self._exposed if exposed.is_accessible]

    def allows(self, path: str) -> bool:
        """Whether an absolute path lies in an exposed root, links followed; for requests that the client carries out for a server."""
        return contains([exposed.root for exposed in self._exposed], path)

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
            raise RequestError(METHOD_NOT_FOUND, "this is no method about roots", {"method": method})
        try:
            current = self.current()
        except (OSError, ValueError) as error:
            raise RequestError(INTERNAL_ERROR, "the roots cannot be listed", {"reason": type(error).__name__}) from None
        self._told = tuple(root.uri for root in current)
        return roots.ListRootsResult(roots=current)


# --- the server's half -----------------------------------------------------------------------------------------------


class RootsUnsupported(LookupError):
    """The client has not declared the `roots` capability, so it is not asked."""


@dataclass(frozen=True, slots=True)
class ServerRoots:
    """What a client has exposed, as a server can use it: roots in the client's order, and the URIs that cannot be used, with the reason."""

    roots: tuple[Root, ...]
    unusable: tuple[tuple[str, str], ...] = ()

    def contains(self, path: str) -> bool:
        """Whether an absolute path lies in a root, links followed. For planning; `open` decides."""
        return contains(self.roots, path)

    def open(self, path: str) -> int:
        """Open a file or directory for reading by descriptor, proven to lie in a root. The caller closes it.

        Raises `RequestError` -32001 where it lies outside, `OSError` where it cannot be opened: a root may have become unavailable.
        """
        try:
            return reach(self.roots, path, lambda place: open_file(place.root, place.parts, os.O_RDONLY))
        except Refused as error:
            raise refused(path, error.reason) from None

    def require(self, path: str) -> tuple[Place, ...]:
        """Where an absolute path leads. Raises `RequestError` -32001 where it leads outside the roots."""
        try:
            found = places(self.roots, path)
        except Refused as error:
            raise refused(path, error.reason) from None
        except OSError:
            raise refused(path, "a link on its way leads nowhere") from None
        if not found:
            raise refused(path, "it lies outside the roots")
        return found


class RootsCache:
    """The roots of the client, for an MCP server: asked for once, and again after each change.

    `capabilities` are the client's, from `initialize`. `ask` sends `roots/list` and returns the result; call `changed` on
    `notifications/roots/list_changed`. A client that announces no changes is asked each time.
    """

    def __init__(
        self, capabilities: roots.ClientCapabilities, ask: Callable[[], Awaitable[roots.ListRootsResult]]
    ) -> None:
        declared = capabilities.roots
        self.supported = isinstance(declared, roots.RootsCapability)
        self.announces = isinstance(declared, roots.RootsCapability) and declared.list_changed is True
        self._ask = ask
        self._current: ServerRoots | None = None
        self._generation = 0
        self._lock = asyncio.Lock()

    def changed(self) -> None:
        """Forget what was learnt: the client has announced a change."""
        self._generation += 1
        self._current = None

    async def current(self) -> ServerRoots:
        """The roots, asked for if need be. Raises `RootsUnsupported`, and what `ask` raises."""
        if not self.supported:
            raise RootsUnsupported("the client has not declared the capability 'roots'")
        async with self._lock:
            while self._current is None:
                generation = self._generation
                found = bound(await self._ask())
                if not self.announces:
                    return found
                if generation == self._generation:
                    self._current = found
            return self._current


def bound(result: roots.ListRootsResult) -> ServerRoots:
    """A client's answer as roots of this machine. What is no plain `file://` URI or no directory that can be used is kept apart."""
    usable: list[Root] = []
    unusable = [(root.uri, f"the list has more than {MOST_ROOTS} roots") for root in result.roots[MOST_ROOTS:]]
    for root in result.roots[:MOST_ROOTS]:
        try:
            usable.append(bind(path_of(root.uri)))
        except ValueError as error:
            unusable.append((root.uri, str(error)))
        except Refused as error:
            unusable.append((root.uri, error.reason))
        except OSError as error:
            unusable.append((root.uri, os.strerror(error.errno or 0).lower()))
    return ServerRoots(tuple(usable), tuple(unusable))


def client_capabilities(provider: RootsProvider) -> roots.ClientCapabilities:
    """The client's capabilities for `initialize`, with `roots` if the provider supports it."""
    capability = provider.capability()
    return roots.ClientCapabilities(roots=MISSING if capability is None else capability)
