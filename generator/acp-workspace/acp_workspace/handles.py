"""Handles of workspace roots: a root is granted as a directory that is opened once and stays open.

A root is opened from `/` without links and held by its descriptor. Everything in it is opened from that descriptor, so no path is
trusted twice. The path is checked again before each use only to notice that another directory has taken its place.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from .mechanism import Mechanism, mechanism, open_from_top

Identity = tuple[int, int]
"""The identity of a directory: device and inode. The numbers are not reused while the directory is held open."""

MOST_LINKS: Final = 40
"""The maximum number of links followed in one path, as on Linux."""
LONGEST_PATH: Final = 4096
"""The maximum length of a path in bytes."""
MOST_PARTS: Final = 512
"""The maximum number of components of a real path."""


@dataclass
class AccessDenied(Exception):
    """A path that is refused. `path` is the requested path, `reason` the end of a sentence; neither reveals what lies outside the roots."""

    path: str
    reason: str

    __hash__ = Exception.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.reason), self.__dict__

    def __str__(self) -> str:
        return f"access to {self.path!r} is refused: {self.reason}"


class Handle:
    """A directory that is held open until `close`, or until it is garbage collected. Any thread may use and close it."""

    __slots__ = ("_descriptor", "_lock")

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        self._lock = threading.Lock()

    @contextmanager
    def opened(self, path: str) -> Generator[int, None, None]:
        """A descriptor that is valid until the block ends, even if the handle is closed. Raises `AccessDenied` if the handle is closed."""
        with self._lock:
            if self._descriptor is None:
                raise AccessDenied(path, "the workspace root is closed")
            own = os.dup(self._descriptor)
        try:
            yield own
        finally:
            os.close(own)

    def close(self) -> None:
        """Release the directory. A second call does nothing."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Root:
    """A directory that may be used, with all its content.

    `path` is the declared path, `real` its real path at that time, `identity` that of the directory, `handle` holds it open: another
    directory in the same place is refused. Without a handle nothing is opened.
    """

    path: str
    real: str
    identity: Identity
    handle: Handle | None = field(default=None, compare=False, repr=False)

    def close(self) -> None:
        """Release the directory: nothing can be opened in it any more."""
        if self.handle is not None:
            self.handle.close()


def bind(path: str) -> Root:
    """Open the directory at `path` as a root.

    Raises `OSError` if there is none, `AccessDenied` if roots cannot be enforced, or if a part of the path changes meanwhile: the root
    is the directory that was opened.
    """
    require_enforceable(path)
    require_plain(path)
    real = resolve_path(path)
    folder = _open_real(real, path)
    try:
        folder_identity = identity(folder)
        if identity_of(os.stat(path)) != folder_identity:  # noqa: PTH116 - links and `..` as the system takes them
            raise AccessDenied(path, _CHANGED)
    except BaseException:
        os.close(folder)
        raise
    return Root(path, real, folder_identity, Handle(folder))


_CHANGED: Final = "a part of its path changed while it was opened"


@contextmanager
def opened_root(root: Root) -> Generator[int, None, None]:
    """The descriptor of the root's directory.

    Raises `AccessDenied` if it is closed, if another directory has taken its place or a link is on its path, and on a platform without
    guarantees; `OSError` if there is no directory any more.
    """
    require_enforceable(root.path)
    if root.handle is None:
        raise AccessDenied(root.path, "the workspace root is not open")
    with root.handle.opened(root.path) as folder:
        there = _open_real(root.real, root.path)
        try:
            if identity(there) != root.identity:
                raise AccessDenied(
                    root.path, "the directory was replaced by another one since it became a workspace root"
                )
        finally:
            os.close(there)
        yield folder


def _open_real(real: str, path: str) -> int:
    """Open the directory at a real path. Raises `AccessDenied` if a link is on the path now, `OSError`."""
    try:
        return open_from_top([part for part in real.split("/") if part])
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise AccessDenied(path, _CHANGED) from None
        raise


def require_enforceable(path: str) -> None:
    """Raise `AccessDenied` on a platform that cannot enforce roots."""
    if mechanism() is Mechanism.NONE:
        raise AccessDenied(path, "this platform cannot keep an access inside its root")


def resolve_path(path: str, climb: Callable[[str], None] = lambda real: None) -> str:
    """The real path, as far as it exists. `climb` is called with the real path so far before a `..` of `path` itself is followed.

    Raises `OSError` (ELOOP) for more than `MOST_LINKS` links, with the last of them.
    """
    real: list[str] = []
    waiting = [(name, True) for name in _reversed_names(path)]
    links = 0
    while waiting:
        name, is_given = waiting.pop()
        if name == "..":
            if is_given:
                climb("/" + "/".join(real))
            del real[-1:]
            continue
        real.append(name)
        if len(real) > MOST_PARTS:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), "/" + "/".join(real))
        here = "/" + "/".join(real)
        target = _target(here)
        if target is None:
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), here)
        del real[0 if target.startswith("/") else -1 :]
        waiting += [(step, False) for step in _reversed_names(target)]
    return "/" + "/".join(real)


def _reversed_names(path: str) -> list[str]:
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def _target(path: str) -> str | None:
    """The target of a link; `None` for anything else, including missing and inaccessible files: opening decides."""
    try:
        return os.readlink(path)  # noqa: PTH115 - a name that is no Unicode text must come through
    except OSError:
        return None


def require_plain(path: str) -> None:
    """Raise `AccessDenied` for a path that is not an absolute path of this platform, or is too long."""
    if "\0" in path:
        raise AccessDenied(path, "a path must not contain a NUL character")
    if not path.startswith("/"):
        raise AccessDenied(path, "the path is not absolute")
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        raise AccessDenied(path, "the path is not Unicode text") from None
    if length > LONGEST_PATH:
        raise AccessDenied(path[:256], f"the path is longer than {LONGEST_PATH} bytes")


def identity(descriptor: int) -> Identity:
    """The identity of an open file or directory."""
    return identity_of(os.fstat(descriptor))


def identity_of(status: os.stat_result) -> Identity:
    """The identity of a file or directory from its status."""
    return status.st_dev, status.st_ino
