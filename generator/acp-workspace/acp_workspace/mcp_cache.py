"""The roots of an MCP client, as a server uses them.

Source: MCP, "Roots", revisions 2025-06-18, 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from mcp_bindings import roots

from .containment import AccessDenied, Place, Root, open_file, places, reach
from .errors import refusal
from .mcp_uris import Target, path_of
from .scope import MOST_ROOTS, Scope

Answer: TypeAlias = "roots.ListRootsResult | Mapping[str, Any]"
"""The result of `roots/list`: decoded, or as JSON, in which a malformed entry does not affect the others."""

INPUT_REQUEST: Final[Mapping[str, str]] = {"method": "roots/list"}
"""The entry of `inputRequests` by which a server of 2026-07-28 asks for roots; pass the response to `bind_roots`."""


class RootsUnsupported(LookupError):
    """The client has not declared the `roots` capability, so it is not asked."""


class _Listed:
    """A root as the client lists it, and its current directory or file."""

    def __init__(self, uri: str, path: str) -> None:
        self.uri = uri
        self._path = path
        self._target: Target | None = None
        self.reason = ""

    def now(self) -> Target | None:
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
        self._listed = tuple(entries)
        self._malformed = tuple(malformed)

    def _now(self) -> tuple[Target, ...]:
        return tuple(target for one in self._listed if (target := one.now()) is not None)

    @property
    def roots(self) -> tuple[Root, ...]:
        """The directories that are currently usable, in the client's order."""
        return tuple(one.root for one in self._now() if one.file is None)

    @property
    def files(self) -> tuple[str, ...]:
        """The real paths of roots that are files and currently usable."""
        return tuple(one.real for one in self._now() if one.file is not None)

    @property
    def unusable(self) -> tuple[tuple[str, str], ...]:
        """The URIs that are currently unusable, with the reason; malformed ones come last."""
        return (*((one.uri, one.reason) for one in self._listed if one.now() is None), *self._malformed)

    def contains(self, path: str) -> bool:
        """Whether an absolute path is in a root, following links. For planning: only `open` decides."""
        try:
            return bool(self._places(path))
        except (AccessDenied, OSError):
            return False

    def open(self, path: str) -> int:
        """Open a file or directory for reading, proven to be in a root, and return its descriptor. The caller closes it.

        Raises `RequestError` -32001 if it is outside the roots, `OSError` if it cannot be opened: a root may have become unavailable.
        """
        now = self._now()

        def use(place: Place) -> int:
            if not any(one.holds(place) for one in now):
                raise AccessDenied(path, "it is outside the roots")
            return open_file(place.root, place.parts, os.O_RDONLY)

        try:
            return reach([one.root for one in now], path, use)
        except AccessDenied as error:
            if any(one.holds(path) and one.now() is None for one in self._listed):
                raise FileNotFoundError(errno.ENOENT, "the root does not exist at the moment", path) from None
            raise refusal(path, error.reason) from None

    def require(self, path: str) -> tuple[Place, ...]:
        """The places that an absolute path leads to. Raises `RequestError` -32001 if it is outside the roots."""
        try:
            matches = self._places(path)
        except AccessDenied as error:
            raise refusal(path, error.reason) from None
        except OSError:
            raise refusal(path, "a link in the path is broken") from None
        if not matches:
            raise refusal(path, "it is outside the roots")
        return matches

    def _places(self, path: str) -> tuple[Place, ...]:
        now = self._now()
        matches = places([one.root for one in now], path)
        return tuple(place for place in matches if any(one.holds(place) for one in now))


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
    uris = list(_uris(result))
    entries: list[_Listed] = []
    malformed: list[tuple[str, str]] = []
    for uri, reason in uris[:MOST_ROOTS]:
        try:
            if reason:
                raise ValueError(reason)
            entries.append(_Listed(uri, path_of(uri)))
        except ValueError as error:
            malformed.append((uri, str(error)))
    malformed += [(uri, f"the list has more than {MOST_ROOTS} roots") for uri, _ in uris[MOST_ROOTS:]]
    return ServerRoots(entries, malformed)


def _uris(result: Answer) -> Iterator[tuple[str, str]]:
    if isinstance(result, roots.ListRootsResult):
        yield from ((root.uri, "") for root in result.roots)
        return
    entries = result.get("roots")
    if not isinstance(entries, list):
        raise ValueError("a result of roots/list must have an array 'roots'")
    for entry in cast("list[object]", entries):
        uri = cast("Mapping[str, object]", entry).get("uri") if isinstance(entry, Mapping) else None
        yield (uri, "") if isinstance(uri, str) else (str(uri)[:200], "an entry must be an object with a 'uri'")
