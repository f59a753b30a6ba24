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

from .containment import AccessDenied, Place, Root, bind, open_file, open_regular, opened_root, places, reach
from .errors import refused
from .mcp_uris import path_of
from .scope import MOST_ROOTS, Scope

Answer: TypeAlias = "roots.ListRootsResult | Mapping[str, Any]"
"""The result of `roots/list`: decoded, or as JSON, of which one malformed entry does not lose the others."""

INPUT_REQUEST: Final[Mapping[str, str]] = {"method": "roots/list"}
"""What a server of 2026-07-28 puts into `inputRequests` to ask for roots; give the response to `bound`."""


class RootsUnsupported(LookupError):
    """The client has not declared the `roots` capability, so it is not asked."""


class _Listed:
    """A root as the client named it, and what stands there now: a directory, or a file in one."""

    def __init__(self, uri: str, path: str) -> None:
        self.uri = uri
        self._path = path
        self._root: Root | None = None
        self._file: str | None = None
        self.reason = ""

    def now(self) -> tuple[Root, str | None] | None:
        """The directory, and the name of the file in it; bound anew where another one stands there by now, or one for the first time."""
        if self._root is not None and self._is_there(self._root):
            return self._root, self._file
        if self._root is not None:
            self._root.close()
            self._root = None
        try:
            self._bind()
        except AccessDenied as error:
            self.reason = error.reason
        except OSError as error:
            self.reason = os.strerror(error.errno or 0).lower()
        return None if self._root is None else (self._root, self._file)

    def holds(self, path: str) -> bool:
        """Whether a path lies in the root by its text."""
        return bool(Scope(self._path, flavour="posix").locate(path))

    def _bind(self) -> None:
        self._file = None
        try:
            self._root = bind(self._path)
        except NotADirectoryError:
            real = os.path.realpath(self._path)
            root = bind(os.path.dirname(real))  # noqa: PTH120
            try:
                os.close(open_regular(root, (os.path.basename(real),), os.O_RDONLY))  # noqa: PTH119
            except BaseException:
                root.close()
                raise
            self._root, self._file = root, os.path.basename(real)  # noqa: PTH119

    def _is_there(self, root: Root) -> bool:
        try:
            if self._file is not None:
                os.close(open_regular(root, (self._file,), os.O_RDONLY))
            else:
                with opened_root(root):
                    pass
        except (OSError, AccessDenied):
            return False
        return True


class ServerRoots:
    """What a client has exposed, as a server can use it. Every use looks anew: a root that is made after it was listed, or removed and made
    again, is usable from then on.
    """

    def __init__(self, listed: Sequence[_Listed], malformed: Iterable[tuple[str, str]] = ()) -> None:
        self._listed = tuple(listed)
        self._malformed = tuple(malformed)

    def _now(self) -> Iterator[tuple[Root, str | None]]:
        for one in self._listed:
            found = one.now()
            if found is not None:
                yield found

    @property
    def roots(self) -> tuple[Root, ...]:
        """The directories that can be used at this moment, in the client's order."""
        return tuple(root for root, file in self._now() if file is None)

    @property
    def files(self) -> tuple[str, ...]:
        """The real paths of the roots that are files and can be used at this moment."""
        return tuple(f"{root.real.rstrip('/')}/{file}" for root, file in self._now() if file is not None)

    @property
    def unusable(self) -> tuple[tuple[str, str], ...]:
        """The URIs that cannot be used at this moment, with the reason: those that never can come last."""
        return (*((one.uri, one.reason) for one in self._listed if one.now() is None), *self._malformed)

    def contains(self, path: str) -> bool:
        """Whether an absolute path lies in a root, links followed. For planning; `open` decides."""
        try:
            return bool(self._places(path))
        except (AccessDenied, OSError):
            return False

    def open(self, path: str) -> int:
        """Open a file or directory for reading by descriptor, proven to lie in a root. The caller closes it.

        Raises `RequestError` -32001 where it lies outside, `OSError` where it cannot be opened: a root may have become unavailable.
        """
        now = tuple(self._now())

        def use(place: Place) -> int:
            if not _is_within(place, now):
                raise AccessDenied(path, "it is outside the roots")
            return open_file(place.root, place.parts, os.O_RDONLY)

        try:
            return reach([root for root, _ in now], path, use)
        except AccessDenied as error:
            if any(one.holds(path) and one.now() is None for one in self._listed):
                raise FileNotFoundError(errno.ENOENT, "the root does not exist at the moment", path) from None
            raise refused(path, error.reason) from None

    def require(self, path: str) -> tuple[Place, ...]:
        """Where an absolute path leads. Raises `RequestError` -32001 where it leads outside the roots."""
        try:
            found = self._places(path)
        except AccessDenied as error:
            raise refused(path, error.reason) from None
        except OSError:
            raise refused(path, "a link in the path is broken") from None
        if not found:
            raise refused(path, "it is outside the roots")
        return found

    def _places(self, path: str) -> tuple[Place, ...]:
        now = tuple(self._now())
        return tuple(place for place in places([root for root, _ in now], path) if _is_within(place, now))


def _is_within(place: Place, now: Sequence[tuple[Root, str | None]]) -> bool:
    """Whether a place in the directory of a root lies in the root itself, which may be a file in it."""
    return any(
        root is place.root and file in (None, *(place.parts if len(place.parts) == 1 else ())) for root, file in now
    )


class RootsCache:
    """The roots of the client, for an MCP server: asked for once, and again after each change.

    `capabilities` are the client's, from `initialize` or from the request that is served. `ask` sends `roots/list` and returns the
    result; call `changed` on `notifications/roots/list_changed`. A client that announces no changes, as from 2026-07-28 on none does, is
    asked each time.
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


def bound(result: Answer) -> ServerRoots:
    """A client's answer as roots of this machine. What is no plain `file://` URI, or malformed, is kept apart and loses no other root.

    Raises `ValueError` for JSON that is no result of `roots/list` at all.
    """
    uris = list(_uris(result))
    listed: list[_Listed] = []
    malformed: list[tuple[str, str]] = []
    for uri, reason in uris[:MOST_ROOTS]:
        try:
            if reason:
                raise ValueError(reason)
            listed.append(_Listed(uri, path_of(uri)))
        except ValueError as error:
            malformed.append((uri, str(error)))
    malformed += [(uri, f"the list has more than {MOST_ROOTS} roots") for uri, _ in uris[MOST_ROOTS:]]
    return ServerRoots(listed, malformed)


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
