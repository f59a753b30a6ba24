"""File access confined to a directory.

A root is a directory that is opened once, from `/` and without links, and stays open. Everything in it is opened from its descriptor, so
no path is trusted twice; its path is only checked again to notice that another directory has taken its place.

A path is first resolved as a hint, following links and `..`. The hint proves nothing; opening does: the real path is opened beneath the
root's descriptor, without following links or crossing mount points (`acp_workspace.mechanism`). If a component was replaced in between,
opening fails. So links inside the roots work as long as they lead into a root, and no others do. `guarantees()` describes what holds on
this platform.

Sources: the RFD on `additionalDirectories`, sections "Validation and error handling" and "Security considerations".
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from .mechanism import FOLDER, NEVER_WAITING, Held, get_mechanism, open_beneath, open_from_top
from .mechanism import Guarantees as Guarantees
from .mechanism import Mechanism as Mechanism
from .mechanism import guarantees as guarantees

T = TypeVar("T")

Identity = tuple[int, int]
"""The identity of a directory: device and inode. The numbers are not reused while the directory is held open."""

ATTEMPTS: Final = 3
"""The number of attempts to resolve a path that changes meanwhile, before it is refused."""
MOST_LINKS: Final = 40
"""The maximum number of links followed in one path, as on Linux."""
LONGEST_PATH: Final = 4096
"""The maximum length of a path in bytes."""
MOST_PARTS: Final = 512
"""The maximum number of components of a real path."""

_CHANGED: Final = "a part of its path changed while it was opened"
_OUTSIDE: Final = "it is outside the workspace roots"


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


# --- roots -----------------------------------------------------------------------------------------------------------


class Handle:
    """A directory that is held open until `close`, or until it is garbage collected. Any thread may use and close it."""

    __slots__ = ("_descriptor", "_lock")

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        self._lock = threading.Lock()

    def duplicate(self) -> int | None:
        """A descriptor of its own for the caller, which stays valid after `close`; `None` if the handle is closed."""
        with self._lock:
            return None if self._descriptor is None else os.dup(self._descriptor)

    def close(self) -> None:
        """Release the directory. A second call does nothing."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    __del__ = close


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

    @contextmanager
    def open_directory(self) -> Generator[int, None, None]:
        """The descriptor of the directory, valid until the block ends.

        Raises `AccessDenied` if the root is closed, if another directory has taken its place or a link is on its path, and on a platform
        without guarantees; `OSError` if there is no directory any more.
        """
        require_enforceable(self.path)
        descriptor = None if self.handle is None else self.handle.duplicate()
        if descriptor is None:
            raise AccessDenied(self.path, f"the workspace root is {'not open' if self.handle is None else 'closed'}")
        with Held(descriptor):
            with Held(_open_real(self.real, self.path)) as current:
                if read_identity(current) != self.identity:
                    reason = "the directory was replaced by another one since it became a workspace root"
                    raise AccessDenied(self.path, reason)
            yield descriptor

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
    handle = Handle(folder)
    try:
        root = Root(path, real, read_identity(folder), handle)
        if make_identity(os.stat(path)) != root.identity:  # noqa: PTH116 - links and `..` as the system takes them
            raise AccessDenied(path, _CHANGED)
    except BaseException:
        handle.close()
        raise
    return root


def _open_real(real: str, path: str) -> int:
    """Open the directory at a real path. Raises `AccessDenied` if a link is on the path now, `OSError`."""
    try:
        return open_from_top(split_path(real))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise AccessDenied(path, _CHANGED) from None
        raise


def require_enforceable(path: str) -> None:
    """Raise `AccessDenied` on a platform that cannot enforce roots."""
    if get_mechanism() is Mechanism.NONE:
        raise AccessDenied(path, "this platform cannot keep an access inside its root")


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


def read_identity(descriptor: int) -> Identity:
    """The identity of an open file or directory."""
    return make_identity(os.fstat(descriptor))


def make_identity(status: os.stat_result) -> Identity:
    """The identity of a file or directory from its status."""
    return status.st_dev, status.st_ino


# --- where a path leads ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """The destination of a path: a root and the components beneath it, free of links and `..`. Only a hint until it has been opened."""

    root: Root
    parts: tuple[str, ...]
    path: str

    @property
    def real(self) -> str:
        """The real path, as far as known."""
        return os.path.join(self.root.real, *self.parts)  # noqa: PTH118 - the path may hold anything


def resolve_path(path: str, climb: Callable[[str], None] = lambda real: None) -> str:
    """The real path, as far as it exists. `climb` is called with the real path so far before a `..` of `path` itself is followed.

    Raises `OSError` (ELOOP) for more than `MOST_LINKS` links, with the last of them.
    """
    real: list[str] = []
    waiting = [(name, True) for name in reversed(split_path(path))]
    links = 0
    while waiting:
        name, is_given = waiting.pop()
        if name == "..":
            if is_given:
                climb("/" + "/".join(real))
            del real[-1:]
            continue
        real.append(name)
        link = "/" + "/".join(real)
        if len(real) > MOST_PARTS:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), link)
        try:
            target = os.readlink(link)  # noqa: PTH115 - a name that is no Unicode text must come through
        except OSError:
            continue  # no link, missing or inaccessible: opening decides
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), link)
        del real[0 if target.startswith("/") else -1 :]
        waiting += [(step, False) for step in reversed(split_path(target))]
    return "/" + "/".join(real)


def split_path(path: str) -> list[str]:
    """The names on a path, without empty ones and `.`."""
    return [name for name in path.split("/") if name not in ("", ".")]


def find_places(roots: Sequence[Root], path: str) -> tuple[Place, ...]:
    """All roots that contain an absolute path, in order, after following links and `..`; empty if it is outside all roots.

    A `..` in the path is followed only inside the roots and on the way to them; so nothing outside is revealed, except that a link there
    leads into a root. Raises `AccessDenied` if this cannot be decided, and `OSError` (ELOOP) for too many links.
    """
    require_plain(path)
    above = {parent for root in roots for declared in (root.path, root.real) for parent in _with_parents(declared)}

    def climb(real: str) -> None:
        if real in above:
            return
        if not _find_beneath(roots, real, path):
            raise AccessDenied(path, _OUTSIDE)
        try:
            is_folder = stat.S_ISDIR(os.lstat(real).st_mode)
        except OSError:
            is_folder = False
        if not is_folder:
            raise AccessDenied(path, "'..' follows something that is not a directory")

    try:
        return _find_beneath(roots, resolve_path(path, climb), path)
    except OSError as error:
        if not _find_beneath(roots, os.path.dirname(os.fsdecode(error.filename)), path):  # noqa: PTH120
            raise AccessDenied(path, _OUTSIDE) from None
        raise


def _with_parents(path: str) -> list[str]:
    names = split_path(path)
    return ["/" + "/".join(names[:length]) for length in range(len(names) + 1)]


def contains(roots: Sequence[Root], path: str) -> bool:
    """Whether a path currently leads into a root. For display and planning: only opening decides."""
    try:
        return bool(find_places(roots, path))
    except (AccessDenied, OSError):
        return False


def _find_beneath(roots: Sequence[Root], real: str, path: str) -> tuple[Place, ...]:
    matches: list[Place] = []
    chain: list[tuple[Identity, tuple[str, ...]]] | None = None
    for root in roots:
        base = root.real.rstrip("/")
        if real == root.real or real.startswith(f"{base}/"):
            matches.append(Place(root, tuple(split_path(real[len(base) :])), path))
            continue
        if chain is None:
            chain = _list_ancestors(real)
        matches.extend(Place(root, parts, path) for number, parts in chain if number == root.identity)
    return tuple(matches)


def _list_ancestors(real: str) -> list[tuple[Identity, tuple[str, ...]]]:
    """The directories on a real path, each with the components beneath it: finds a root under another spelling of its name."""
    parts = split_path(real)
    ancestors: list[tuple[Identity, tuple[str, ...]]] = []
    for length in range(len(parts), 0, -1):
        try:
            status = os.lstat("/" + "/".join(parts[:length]))
        except OSError:
            continue
        ancestors.append((make_identity(status), tuple(parts[length:])))
    return ancestors


def is_within(roots: Sequence[Root], inner: Root) -> bool:
    """Whether `inner` is one of `roots` or lies in one, proven by opening it from there."""
    for place in (place for root in roots for place in _find_beneath([root], inner.real, inner.path)):
        try:
            with Held(open_folder(place.root, place.parts)) as folder:
                if read_identity(folder) == inner.identity:
                    return True
        except (OSError, AccessDenied):
            continue
    return False


# --- opening ---------------------------------------------------------------------------------------------------------


def reach(roots: Sequence[Root], path: str, use: Callable[[Place], T]) -> T:
    """Call `use`, which opens a place that `path` leads to, and return its result.

    The first root that contains the path is tried first. If a component turns out to be a link, the path has changed and is resolved
    again, up to `ATTEMPTS` times. A place behind a mount point is tried from the next root, which may be the mount itself. Raises
    `AccessDenied`, and what `use` raises.
    """
    require_enforceable(path)
    for _ in range(ATTEMPTS):
        reason = _OUTSIDE
        try:
            for place in find_places(roots, path):
                try:
                    return use(place)
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    reason = "it is behind a mount point that is not a workspace root itself"
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
        else:
            raise AccessDenied(path, reason)
    raise AccessDenied(path, "a link in the path keeps changing or is broken")


def open_folder(root: Root, parts: Sequence[str], flags: int = FOLDER) -> int:
    """Open a directory beneath `root`, as a base, or with `SYNCABLE_FOLDER` for listing and syncing it.

    Raises `OSError` (ELOOP: a link, EXDEV: a mount point), `AccessDenied`.
    """
    require_names(parts)
    with root.open_directory() as base:
        return open_beneath(base, parts, flags)


def open_file(root: Root, parts: Sequence[str], flags: int) -> int:
    """Open a path beneath `root`; never blocks on a pipe or acquires a controlling terminal. Raises as `open_folder` does."""
    return open_folder(root, parts, flags | NEVER_WAITING)


def open_regular(root: Root, parts: Sequence[str], flags: int) -> int:
    """Like `open_file`, for a regular file only; a device is not even opened. Raises `OSError` (EISDIR, EINVAL) for anything else."""
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), root.path)
    with Held(open_folder(root, parts[:-1])) as folder:
        return open_regular_in(folder, parts[-1], flags)


def open_regular_in(folder: int, name: str, flags: int) -> int:
    """Like `open_regular`, for a name in an open directory."""
    require_names((name,))
    _require_regular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, name)
    file = open_beneath(folder, (name,), flags | NEVER_WAITING)
    try:
        _require_regular(os.fstat(file).st_mode, name)
    except BaseException:
        os.close(file)
        raise
    return file


def _require_regular(mode: int, name: str) -> None:
    if not stat.S_ISREG(mode):
        number = errno.ELOOP if stat.S_ISLNK(mode) else errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(number, os.strerror(number), name)


def require_names(parts: Sequence[str]) -> None:
    """Raise `ValueError` for components that are not names, such as `..`."""
    for name in parts:
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} is not a file name")
