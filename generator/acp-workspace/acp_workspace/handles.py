"""Workspace roots as handles: a directory is granted as what was opened, and stays open.

A root is opened from `/` without links and held by descriptor. Everything in it is opened from that descriptor, so no path is trusted
twice. The path is looked at again before each use for one reason: to notice that another directory stands there by now.
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
"""What tells a directory from every other one that exists: device and inode. Nobody gets the numbers of one that is held open."""

MOST_LINKS: Final = 40
"""Links that are followed on one path, as many as Linux follows."""
LONGEST_PATH: Final = 4096
"""Bytes of a path; what is longer is refused."""
MOST_PARTS: Final = 512
"""Components of a real path; what lies deeper is refused."""


@dataclass
class AccessDenied(Exception):
    """A path that is not opened. `path` is the path as it was asked for, `reason` ends a sentence; neither tells what lies outside."""

    path: str
    reason: str

    __hash__ = Exception.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.reason), self.__dict__

    def __str__(self) -> str:
        return f"access to {self.path!r} is refused: {self.reason}"


class Handle:
    """A directory that is held open until `close`, or until nothing refers to it any more. Any thread may use and close it."""

    __slots__ = ("_descriptor", "_lock")

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        self._lock = threading.Lock()

    @contextmanager
    def opened(self, path: str) -> Generator[int, None, None]:
        """A descriptor that stays good until the block ends, whoever closes the handle. Raises `AccessDenied` where it is closed."""
        with self._lock:
            if self._descriptor is None:
                raise AccessDenied(path, "the workspace root is closed")
            own = os.dup(self._descriptor)
        try:
            yield own
        finally:
            os.close(own)

    def close(self) -> None:
        """Let the directory go. A second call does nothing."""
        with self._lock:
            found, self._descriptor = self._descriptor, None
        if found is not None:
            os.close(found)

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Root:
    """A directory that may be used with all that lies in it.

    `path` is the directory as it was declared, `real` its real path at that time, `identity` the directory itself, `handle` holds it open:
    another one in the same place is refused. A root without a handle opens nothing.
    """

    path: str
    real: str
    identity: Identity
    handle: Handle | None = field(default=None, compare=False, repr=False)

    def close(self) -> None:
        """Let the directory go: nothing is opened in it any more."""
        if self.handle is not None:
            self.handle.close()


def bind(path: str) -> Root:
    """The directory at `path` as an open root. Raises `OSError` where there is none, `AccessDenied` where roots cannot be enforced, and
    where a part of the path changes meanwhile: what is granted is the directory that was opened.
    """
    require_enforceable(path)
    require_plain(path)
    real = resolve_path(path)
    folder = _open_real(real, path)
    try:
        found = identity(folder)
        if identity_of(os.stat(path)) != found:  # noqa: PTH116 - links and `..` as the system takes them
            raise AccessDenied(path, _CHANGED)
    except BaseException:
        os.close(folder)
        raise
    return Root(path, real, found, Handle(folder))


_CHANGED: Final = "a part of its path changed while it was opened"


@contextmanager
def opened_root(root: Root) -> Generator[int, None, None]:
    """The root's directory by descriptor. Raises `AccessDenied` where it is closed, where another directory has taken its place or a link
    stands on its path, and on a platform where nothing can be promised; `OSError` where none is there any more.
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
    """Open the directory at a real path. Raises `AccessDenied` where a link stands on the path by now, `OSError`."""
    try:
        return open_from_top([part for part in real.split("/") if part])
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise AccessDenied(path, _CHANGED) from None
        raise


def require_enforceable(path: str) -> None:
    """Raise `AccessDenied` on a platform where nothing can be promised."""
    if mechanism() is Mechanism.NONE:
        raise AccessDenied(path, "this platform cannot keep an access inside its root")


def resolve_path(path: str, climb: Callable[[str], None] = lambda real: None) -> str:
    """The real path, as far as it exists. `climb` is asked, with the real path so far, before a `..` of `path` itself is followed.

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
    """Where a link leads; `None` for everything else, also for what is not there or may not be seen: opening it decides."""
    try:
        return os.readlink(path)  # noqa: PTH115 - a name that is no Unicode text must come through
    except OSError:
        return None


def require_plain(path: str) -> None:
    """Raise `AccessDenied` for what is no absolute path of this platform, or too long a one."""
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
    """What an open descriptor refers to."""
    return identity_of(os.fstat(descriptor))


def identity_of(found: os.stat_result) -> Identity:
    """What a look at a file tells it apart by."""
    return found.st_dev, found.st_ino
