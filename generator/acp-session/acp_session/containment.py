"""Access that cannot leave a directory.

A path is first resolved for a hint: where does it lead, links and `..` followed? The hint proves nothing. The proof is the opening:
the real path is opened beneath the root's own descriptor, and the opening follows no link and crosses no mount point. If something
was swapped in between, the opening fails. So links inside the roots work as long as they lead into a root, and nothing else does.
A root itself is opened from `/` without links: what is granted is what was opened.

Where the kernel has `openat2` (Linux 5.6 and newer) it opens the whole path in one step with `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`,
`RESOLVE_NO_MAGICLINKS` and `RESOLVE_NO_XDEV`. Elsewhere on POSIX every component is opened from the descriptor of the one before with
`O_NOFOLLOW`. Where neither is possible (Windows), everything is refused. `guarantees()` says what holds here.

Sources: the RFD on `additionalDirectories`, sections "Validation and error handling" and "Security considerations".
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final, TypeVar

T = TypeVar("T")

Identity = tuple[int, int]
"""What tells a directory from every other one: device and inode."""

ATTEMPTS: Final = 3
"""How often a path is looked up anew when something on it changes meanwhile, before it is refused."""
MOST_LINKS: Final = 40
"""Links that are followed on one path, as many as Linux follows."""
LONGEST_PATH: Final = 4096
"""Bytes of a path; what is longer is refused."""

_NOT_FOLLOWED: Final[int] = getattr(os, "O_NOFOLLOW", 0)
_CLOSED_ON_EXEC: Final[int] = getattr(os, "O_CLOEXEC", 0)
_FOLDER: Final[int] = (
    getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY) | _NOT_FOLLOWED | _CLOSED_ON_EXEC
)
_SYNCABLE_FOLDER: Final[int] = getattr(os, "O_DIRECTORY", 0) | os.O_RDONLY | _NOT_FOLLOWED | _CLOSED_ON_EXEC

_IS_RELATIVE: Final = bool(_NOT_FOLLOWED) and os.supports_dir_fd.issuperset(
    (os.open, os.stat, os.mkdir, os.unlink, os.rename)
)
"""Whether files can be opened, made and removed relative to a directory."""

_OPENAT2: Final = 437  # the same number on every architecture but Alpha
_WITHOUT_LINKS: Final = 0x04 | 0x02
_BENEATH_WITHOUT_LINKS_OR_MOUNTS: Final = 0x08 | _WITHOUT_LINKS | 0x01


class Mechanism(Enum):
    """What keeps an opening beneath its root."""

    OPENAT2 = "openat2"
    WALK = "walk"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Guarantees:
    """What this platform can promise. Whatever is not promised is refused, never tried.

    `links`: no link, junction or `..` leads out of a root, not even one that is swapped in between check and use. `mounts`: no mount
    point beneath a root is crossed; `bind_mounts`: not even one of the same file system. `atomic`: a write replaces a file as a
    whole. `limits` says in sentences what is not promised.
    """

    mechanism: Mechanism
    links: bool
    mounts: bool
    bind_mounts: bool
    atomic: bool
    limits: tuple[str, ...]

    @property
    def enforced(self) -> bool:
        """Whether roots can be enforced as a security boundary here. If not, nothing is opened at all."""
        return self.mechanism is not Mechanism.NONE


@dataclass
class Refused(Exception):
    """A path that is not opened. `path` is the path as it was asked for, `reason` ends a sentence; neither tells what lies outside."""

    path: str
    reason: str

    __hash__ = Exception.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.reason), self.__dict__

    def __str__(self) -> str:
        return f"access to {self.path!r} is refused: {self.reason}"


@dataclass(frozen=True, slots=True)
class Root:
    """A directory that may be used with all that lies in it.

    `path` is the directory as it was declared, `real` its real path at that time, `identity` the directory itself: another one in the
    same place is refused, unless the root was removed first and the system gave its number to the new one.
    """

    path: str
    real: str
    identity: Identity


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: a root and the components beneath it, free of links and `..`. A hint until it has been opened."""

    root: Root
    parts: tuple[str, ...]
    path: str

    @property
    def real(self) -> str:
        """The real path, as far as known."""
        return os.path.join(self.root.real, *self.parts)  # noqa: PTH118 - the path may hold anything


# --- what holds here -------------------------------------------------------------------------------------------------


def guarantees() -> Guarantees:
    """What this platform can promise.

    >>> guarantees().enforced
    True
    """
    mechanism = _mechanism()
    held = mechanism is not Mechanism.NONE
    by_id = mechanism is Mechanism.OPENAT2 or (mechanism is Mechanism.WALK and sys.platform == "linux")
    limits: list[str] = []
    if not held:
        limits.append("Files cannot be opened relative to a directory here, so nothing is opened.")
    if mechanism is Mechanism.WALK:
        limits.append("The kernel has no openat2: every component of a path is opened by itself, without links.")
    if held and not by_id:
        limits.append("A mount of the same file system beneath a root is not told from a folder.")
    return Guarantees(mechanism, held, held, by_id, held, (*limits, *(_LIMITS if held else ())))


_LIMITS: Final = (
    "A directory moved out of a root while a file in it is written: the write fails by its last check, unless it is moved after that.",
    "A directory made where a removed root was, with the number that the removed one had, is taken for it.",
    "Whoever may write into a root by other means can put content there from outside; only hard links are recognised.",
    "A program that has files of its own access is not held by any of this: put it into a sandbox.",
)


def _mechanism() -> Mechanism:
    if _has_openat2():
        return Mechanism.OPENAT2
    return Mechanism.WALK if _has_walk() else Mechanism.NONE


def _has_walk() -> bool:
    tells_mounts = sys.platform != "linux" or os.path.exists("/proc/self/fdinfo")  # by their ids
    return _IS_RELATIVE and tells_mounts


@cache
def _has_openat2() -> bool:
    """Whether the kernel, and the sandbox around this process, let us use `openat2`."""
    if sys.platform != "linux":
        return False
    base = os.open("/", _FOLDER)
    try:
        os.close(_openat2(base, ".", _FOLDER, 0))
    except OSError:
        return False
    finally:
        os.close(base)
    return True


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


@cache
def _syscall() -> Callable[..., int]:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    function.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    return function


def _openat2(folder: int, path: str, flags: int, mode: int, resolve: int = _BENEATH_WITHOUT_LINKS_OR_MOUNTS) -> int:
    # Without O_NOFOLLOW, which would call a link in the last place "not a directory"; no link is followed all the same.
    how = _OpenHow(flags & ~_NOT_FOLLOWED, mode, resolve)
    name, number = os.fsencode(path), errno.EAGAIN
    for _ in range(64):
        found = int(_syscall()(_OPENAT2, folder, name, ctypes.byref(how), ctypes.sizeof(how)))
        if found >= 0:
            return found
        number = ctypes.get_errno()
        if number not in (errno.EINTR, errno.EAGAIN):
            break
    raise OSError(number, os.strerror(number), path)


# --- roots -----------------------------------------------------------------------------------------------------------


def bind(path: str) -> Root:
    """The directory at `path` as a root. Raises `OSError` where there is none, `Refused` where roots cannot be enforced, and where a
    part of the path changes meanwhile: what is granted is the directory that was opened.
    """
    require_enforceable(path)
    _require_plain(path)
    real = _resolved(path)
    folder = _opened_without_links(real, path)
    try:
        found = _identity(os.fstat(folder))
        if _identity(os.stat(path)) != found:  # noqa: PTH116 - links and `..` as the system takes them
            raise Refused(path, _CHANGED)
        return Root(path, real, found)
    finally:
        os.close(folder)


_CHANGED: Final = "a part of its path changed while it was opened"


def _opened_without_links(real: str, path: str) -> int:
    """Open the directory at a real path from `/`. Raises `Refused` where a link stands on the path by now, `OSError`."""
    parts = [part for part in real.split("/") if part]
    base = os.open("/", _FOLDER)
    try:
        if not parts:
            return os.dup(base)
        if _has_openat2():
            return _openat2(base, "/".join(parts), _FOLDER, 0, _WITHOUT_LINKS)
        return _descended(base, parts, _entered)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(path, _CHANGED) from None
        raise
    finally:
        os.close(base)


def require_enforceable(path: str) -> None:
    """Raise `Refused` on a platform where nothing can be promised."""
    if _mechanism() is Mechanism.NONE:
        raise Refused(path, "this platform cannot keep an access inside its root")


def places(roots: Sequence[Root], path: str) -> tuple[Place, ...]:
    """Every root that an absolute path leads into, in the order of the roots; links and `..` are followed. Empty: outside all.

    What lies outside shows only where a link there leads into a root: a `..` in the path is followed inside the roots and on the way to
    them, and nowhere else. Raises `Refused` for what cannot be decided, and `OSError` (ELOOP) for too many links.
    """
    _require_plain(path)
    above = {parent for root in roots for declared in (root.path, root.real) for parent in _parents(declared)}

    def climb(real: str) -> None:
        if real in above:
            return
        if not _beneath(roots, real, path):
            raise Refused(path, _OUTSIDE)
        if not stat.S_ISDIR(_mode(real)):
            raise Refused(path, "'..' follows something that is no directory")

    try:
        return _beneath(roots, _resolved(path, climb), path)
    except OSError as error:
        if not _beneath(roots, os.path.dirname(os.fsdecode(error.filename)), path):  # noqa: PTH120
            raise Refused(path, _OUTSIDE) from None
        raise


def _parents(path: str) -> list[str]:
    """The path and what lies above it."""
    names = [name for name in path.split("/") if name]
    return ["/" + "/".join(names[:length]) for length in range(len(names) + 1)]


_OUTSIDE: Final = "it lies outside the workspace roots"


def contains(roots: Sequence[Root], path: str) -> bool:
    """Whether a path leads into a root at this moment. For display and for planning: what decides is the opening."""
    try:
        return bool(places(roots, path))
    except (Refused, OSError):
        return False


def _beneath(roots: Sequence[Root], real: str, path: str) -> tuple[Place, ...]:
    found: list[Place] = []
    chain: list[tuple[Identity, tuple[str, ...]]] | None = None
    for root in roots:
        base = root.real.rstrip("/")
        if real == root.real or real.startswith(f"{base}/"):
            found.append(Place(root, tuple(part for part in real[len(base) :].split("/") if part), path))
            continue
        if chain is None:
            chain = _ancestors(real)
        found.extend(Place(root, parts, path) for identity, parts in chain if identity == root.identity)
    return tuple(found)


def _ancestors(real: str) -> list[tuple[Identity, tuple[str, ...]]]:
    """The directories on a real path with what lies beneath each: finds a root under another spelling of its name."""
    parts = [part for part in real.split("/") if part]
    found: list[tuple[Identity, tuple[str, ...]]] = []
    for length in range(len(parts), 0, -1):
        try:
            identity = _identity(os.lstat("/" + "/".join(parts[:length])))
        except OSError:
            continue
        found.append((identity, tuple(parts[length:])))
    return found


def _resolved(path: str, climb: Callable[[str], None] = lambda real: None) -> str:
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


def _require_plain(path: str) -> None:
    if "\0" in path:
        raise Refused(path, "a path holds no NUL character")
    if not path.startswith("/"):
        raise Refused(path, "the path is not absolute")
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        raise Refused(path, "the path is not Unicode text") from None
    if length > LONGEST_PATH:
        raise Refused(path[:256], f"the path is longer than {LONGEST_PATH} bytes")


def is_within(roots: Sequence[Root], inner: Root) -> bool:
    """Whether `inner` is one of `roots` or lies in one, proven by opening it from there."""
    for root in roots:
        for place in _beneath([root], inner.real, inner.path):
            try:
                folder = open_folder(root, place.parts)
            except (OSError, Refused):
                continue
            try:
                if _identity(os.fstat(folder)) == inner.identity:
                    return True
            finally:
                os.close(folder)
    return False


def identity(descriptor: int) -> Identity:
    """What an open descriptor refers to."""
    return _identity(os.fstat(descriptor))


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


# --- opening ---------------------------------------------------------------------------------------------------------


def reach(roots: Sequence[Root], path: str, use: Callable[[Place], T]) -> T:
    """Call `use`, which opens, with a place that `path` leads to, and return what it returns.

    The first root that contains the path is tried first. A place whose components turn out to be links has changed since it was looked
    up: it is looked up again, a few times. A place behind a mount point is tried from the next root, which may be the mount itself.
    Raises `Refused`, and what `use` raises.
    """
    require_enforceable(path)
    for _ in range(ATTEMPTS):
        try:
            found = places(roots, path)
            if not found:
                raise Refused(path, _OUTSIDE)
            return _first(found, use)
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise Refused(path, "it lies behind a mount point that is no workspace root itself") from None
            if error.errno != errno.ELOOP:
                raise
    raise Refused(path, "a link on its way keeps changing or leads nowhere")


def _first(found: Sequence[Place], use: Callable[[Place], T]) -> T:
    for place in found[:-1]:
        try:
            return use(place)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    return use(found[-1])


@contextmanager
def opened_root(root: Root) -> Generator[int, None, None]:
    """The root's directory by descriptor. Raises `Refused` where another directory has taken its place or a link stands on its path, and
    on a platform where nothing can be promised; `OSError` where none is there.
    """
    require_enforceable(root.path)
    folder = _opened_without_links(root.real, root.path)
    try:
        if _identity(os.fstat(folder)) != root.identity:
            raise Refused(root.path, "the directory was replaced by another one since it became a workspace root")
        yield folder
    finally:
        os.close(folder)


def open_folder(root: Root, parts: Sequence[str]) -> int:
    """Open the directory beneath `root`, for use as a base only. Raises `OSError` (ELOOP: a link, EXDEV: a mount point), `Refused`."""
    return _opened(root, parts, _FOLDER)


def open_syncable_folder(root: Root, parts: Sequence[str]) -> int:
    """Like `open_folder`, for listing and for bringing names to the disk; needs the right to read the directory."""
    return _opened(root, parts, _SYNCABLE_FOLDER)


def open_file(root: Root, parts: Sequence[str], flags: int) -> int:
    """Open what lies beneath `root`; never waits for a pipe, never becomes the terminal. Errors as in `open_folder`."""
    return _opened(root, parts, flags | os.O_NONBLOCK | os.O_NOCTTY | _NOT_FOLLOWED | _CLOSED_ON_EXEC)


def open_regular(root: Root, parts: Sequence[str], flags: int) -> int:
    """Like `open_file`, for a regular file only; a device is not even opened. Raises `OSError` (EISDIR, EINVAL) for anything else."""
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), root.path)
    folder = open_folder(root, parts[:-1])
    try:
        return open_regular_in(folder, parts[-1], flags)
    finally:
        os.close(folder)


def open_regular_in(folder: int, name: str, flags: int) -> int:
    """`open_regular` for a name inside an open directory."""
    _require_names((name,))
    _require_regular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, name)
    flags |= os.O_NONBLOCK | os.O_NOCTTY | _NOT_FOLLOWED | _CLOSED_ON_EXEC
    file = _openat2(folder, name, flags, 0) if _has_openat2() else _walked(folder, name, flags)
    try:
        _require_regular(os.fstat(file).st_mode, name)
    except BaseException:
        os.close(file)
        raise
    return file


def _require_regular(mode: int, name: str) -> None:
    if stat.S_ISREG(mode):
        return
    number = errno.ELOOP if stat.S_ISLNK(mode) else errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
    raise OSError(number, os.strerror(number), name)


def make_folder(root: Root, parts: Sequence[str]) -> tuple[int, int]:
    """Like `open_folder`, making what is missing; the second number says how many of the last components are new.

    What was made goes again if the rest cannot be made.
    """
    _require_names(parts)
    made = depth = 0
    with opened_root(root) as base:
        folder = os.dup(base)
        try:
            for name in parts:
                try:
                    following = _step(folder, name)
                except FileNotFoundError:
                    # What somebody else made meanwhile stays, and so does what lies above it.
                    made = made + 1 if _made(folder, name) else 0
                    depth += 1
                    following = _step(folder, name)
                else:
                    depth += 1
                os.close(folder)
                folder = following
        except BaseException:
            os.close(folder)
            remove_folders(root, parts[:depth], made)
            raise
    return folder, made


def remove_folders(root: Root, parts: Sequence[str], count: int) -> None:
    """Remove the last `count` directories of a path again, as far as they are empty."""
    for length in range(len(parts), len(parts) - count, -1):
        try:
            folder = open_folder(root, parts[: length - 1])
        except (OSError, Refused):
            return
        try:
            os.rmdir(parts[length - 1], dir_fd=folder)
        except OSError:
            return
        finally:
            os.close(folder)


def _made(folder: int, name: str) -> bool:
    try:
        os.mkdir(name, 0o777, dir_fd=folder)
    except FileExistsError:
        return False
    return True


def _opened(root: Root, parts: Sequence[str], flags: int) -> int:
    _require_names(parts)
    with opened_root(root) as base:
        if not parts:
            return os.open(".", flags, dir_fd=base)
        if _has_openat2():
            return _openat2(base, "/".join(parts), flags, 0)
        folder = _descended(base, parts[:-1], _walked)
        try:
            return _walked(folder, parts[-1], flags)
        finally:
            os.close(folder)


def _descended(base: int, parts: Sequence[str], enter: Callable[[int, str, int], int]) -> int:
    """Open a directory beneath another one component by component."""
    folder = os.dup(base)
    for name in parts:
        try:
            following = enter(folder, name, _FOLDER)
        finally:
            os.close(folder)
        folder = following
    return folder


def _require_names(parts: Sequence[str]) -> None:
    for name in parts:
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} is no name of a file")


def _step(folder: int, name: str) -> int:
    """Open one directory inside another."""
    return _openat2(folder, name, _FOLDER, 0) if _has_openat2() else _walked(folder, name, _FOLDER)


def _entered(folder: int, name: str, flags: int) -> int:
    """Open what a name in an open directory means, unless it is a link."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def _walked(folder: int, name: str, flags: int) -> int:
    """`_entered`, unless a mount point is crossed."""
    found = _entered(folder, name, flags)
    try:
        if _mount(found) != _mount(folder):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
    except BaseException:
        os.close(found)
        raise
    return found


def _mount(descriptor: int) -> int:
    """What tells one mount from another: its id on Linux, the device elsewhere. Raises `OSError` where it cannot be told."""
    if sys.platform != "linux":
        return os.fstat(descriptor).st_dev
    with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as lines:  # noqa: PTH123
        for line in lines:
            if line.startswith("mnt_id:"):
                return int(line.removeprefix("mnt_id:"))
    raise OSError(errno.EXDEV, "the mount of a file cannot be told")
