"""Mechanisms for opening a path beneath a directory, and the guarantees of this platform.

If the kernel has `openat2` (Linux 5.6 and newer), the whole path is opened in one step with `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`,
`RESOLVE_NO_MAGICLINKS` and `RESOLVE_NO_XDEV`. On other POSIX systems each component is opened from the descriptor of the one before with
`O_NOFOLLOW`. If neither is possible (Windows), nothing is opened.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

_NOT_FOLLOWED: Final[int] = getattr(os, "O_NOFOLLOW", 0)
_CLOSED_ON_EXEC: Final[int] = getattr(os, "O_CLOEXEC", 0)

FOLDER: Final[int] = (
    getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY) | _NOT_FOLLOWED | _CLOSED_ON_EXEC
)
"""Flags that open a directory only as a base."""
SYNCABLE_FOLDER: Final[int] = getattr(os, "O_DIRECTORY", 0) | os.O_RDONLY | _NOT_FOLLOWED | _CLOSED_ON_EXEC
"""Flags that open a directory for listing and syncing."""
NEVER_WAITING: Final[int] = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _NOT_FOLLOWED | _CLOSED_ON_EXEC
"""Flags that open a file without blocking on a pipe or acquiring a controlling terminal."""

_IS_RELATIVE: Final = bool(_NOT_FOLLOWED) and os.supports_dir_fd.issuperset(
    (os.open, os.stat, os.mkdir, os.unlink, os.rename)
)
"""Whether files can be opened, created and removed relative to a directory."""

_OPENAT2: Final = 437  # the same number on every architecture but Alpha
_WITHOUT_LINKS: Final = 0x04 | 0x02
_BENEATH_WITHOUT_LINKS_OR_MOUNTS: Final = 0x08 | _WITHOUT_LINKS | 0x01


class Mechanism(Enum):
    """The mechanism that confines opening to a root."""

    OPENAT2 = "openat2"
    WALK = "walk"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Guarantees:
    """The guarantees of this platform. Whatever is not guaranteed is refused.

    `limits` lists in sentences what is not guaranteed.
    """

    mechanism: Mechanism
    limits: tuple[str, ...]

    @property
    def enforced(self) -> bool:
        """Whether roots are a security boundary here. If not, nothing is opened at all.

        That means: no link, junction or `..` leads out of a root, not even one that is swapped in between check and use; no mount point
        beneath a root is crossed; and a write replaces a file atomically.
        """
        return self.mechanism is not Mechanism.NONE


def guarantees() -> Guarantees:
    """The guarantees of this platform.

    >>> guarantees().enforced
    True
    """
    kind = get_mechanism()
    if kind is Mechanism.NONE:
        return Guarantees(kind, ("Files cannot be opened relative to a directory here, so nothing is opened.",))
    limits: list[str] = []
    if kind is Mechanism.WALK:
        limits.append("The kernel has no openat2: every component of a path is opened by itself, without links.")
        if sys.platform != "linux":
            limits.append("A mount of the same file system inside a root is not distinguished from a folder.")
    return Guarantees(kind, (*limits, *_LIMITS))


_LIMITS: Final = (
    "A directory moved out of a root while a file in it is written: the write fails by its last check, unless it is moved after that.",
    "Whoever may write into a root by other means can put content there from outside; only hard links are recognised.",
    "None of this restricts a program that opens files by itself: run it in a sandbox.",
)


def get_mechanism() -> Mechanism:
    """The mechanism of this platform."""
    return Mechanism.OPENAT2 if _has_openat2() else Mechanism.WALK if _has_walk() else Mechanism.NONE


def _has_walk() -> bool:
    tells_mounts = sys.platform != "linux" or os.path.exists("/proc/self/fdinfo")  # by their ids
    return _IS_RELATIVE and tells_mounts


@cache
def _has_openat2() -> bool:
    """Whether the kernel, and the sandbox around this process, permit `openat2`."""
    if sys.platform != "linux":
        return False
    with Held(os.open("/", FOLDER)) as base:
        try:
            os.close(_openat2(base, ".", FOLDER))
        except OSError:
            return False
    return True


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


@cache
def _load_syscall() -> Callable[..., int]:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    function.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    return function


def _openat2(folder: int, path: str, flags: int, resolve: int = _BENEATH_WITHOUT_LINKS_OR_MOUNTS) -> int:
    # Without O_NOFOLLOW, which would call a link in the last place "not a directory"; no link is followed all the same.
    how = _OpenHow(flags & ~_NOT_FOLLOWED, 0, resolve)
    name, number = os.fsencode(path), errno.EAGAIN
    for _ in range(64):
        descriptor = int(_load_syscall()(_OPENAT2, folder, name, ctypes.byref(how), ctypes.sizeof(how)))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number not in (errno.EINTR, errno.EAGAIN):
            break
    raise OSError(number, os.strerror(number), path)


class Held:
    """A descriptor that is closed at the end of a `with` block."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def open_beneath(base: int, parts: Sequence[str], flags: int, *, crosses_mounts: bool = False) -> int:
    """Open a path beneath an open directory, in one step if the kernel can; without parts, the directory itself.

    Raises `OSError`: ELOOP for a link on the path, EXDEV for a mount point unless it may be crossed.
    """
    if not parts:
        return os.open(".", flags, dir_fd=base)
    if _has_openat2():
        resolve = _WITHOUT_LINKS if crosses_mounts else _BENEATH_WITHOUT_LINKS_OR_MOUNTS
        return _openat2(base, "/".join(parts), flags, resolve)
    mount = None if crosses_mounts else _identify_mount(base)
    folder = os.dup(base)
    for index, name in enumerate(parts):
        with Held(folder):
            folder = _enter(folder, name, FOLDER if index + 1 < len(parts) else flags)
        try:
            if mount is not None and _identify_mount(folder) != mount:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
        except BaseException:
            os.close(folder)
            raise
    return folder


def open_from_top(parts: Sequence[str]) -> int:
    """Open a directory from `/`, as a base. Mount points are crossed. Raises `OSError` (ELOOP: a link)."""
    with Held(os.open("/", FOLDER)) as base:
        return open_beneath(base, parts, FOLDER, crosses_mounts=True)


def _enter(folder: int, name: str, flags: int) -> int:
    """Open a name in an open directory, unless it is a link."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def _identify_mount(descriptor: int) -> int:
    """The identity of a mount: its id on Linux, the device elsewhere. Raises `OSError` if it cannot be determined."""
    if sys.platform != "linux":
        return os.fstat(descriptor).st_dev
    with Held(os.open(f"/proc/self/fdinfo/{descriptor}", os.O_RDONLY | _CLOSED_ON_EXEC)) as file:
        number = re.search(rb"^mnt_id:\s*(\d+)", os.read(file, 4096), re.MULTILINE)
    if number is None:
        raise OSError(errno.EXDEV, "the mount of a file cannot be determined")
    return int(number[1])
