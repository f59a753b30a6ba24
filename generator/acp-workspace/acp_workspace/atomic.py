"""Atomic replacement of files: a reader sees the old content or the new, even after a crash.

The new content is written to a temporary file in the same directory and synced to disk; the temporary file takes over mode and owner of
the old file, and then its name. It is locked while its writer lives; `recover` removes those whose writer is gone.

Source: the file-system page, section "writeTextFile()", "Secure Implementation".
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from .containment import (
    AccessDenied,
    Folder,
    Root,
    identity,
    make_folder,
    open_folder,
    open_regular_in,
    open_syncable_folder,
)
from .handles import MOST_PARTS, identity_of

if sys.platform != "win32":
    import fcntl

TEMPORARY: Final = re.compile(r"\.acp-session-[0-9a-f]{32}\.tmp")
"""The pattern of names of temporary files."""

_CREATE: Final[int] = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class Old:
    """The file that is about to be replaced: its status, an open descriptor, and whether it is readable."""

    status: os.stat_result
    descriptor: int
    is_readable: bool

    @property
    def has_other_names(self) -> bool:
        """Whether the file has other hard links, which may be anywhere."""
        return self.status.st_nlink > 1

    def read(self, limit: int) -> bytes:
        """Read at most `limit` bytes from the start; empty if the file is not readable."""
        if not self.is_readable:
            return b""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        return read_at_most(self.descriptor, limit)


@dataclass(slots=True)
class Target:
    """A file about to be written: its open directory, including directories created for it, and the existing file."""

    root: Root
    parts: tuple[str, ...]
    within: Folder
    old: Old | None

    @property
    def folder(self) -> int:
        """The descriptor of the directory."""
        return self.within.descriptor

    @property
    def name(self) -> str:
        """The file's name in its directory."""
        return self.parts[-1]

    @property
    def is_fixed(self) -> bool:
        """Whether the file is writable but its directory is not, so that it cannot be replaced."""
        return self.old is not None and not os.access(".", os.W_OK | os.X_OK, dir_fd=self.folder, effective_ids=True)


def prepare(root: Root, parts: Sequence[str]) -> Target:
    """Open the directory of a file, creating it if missing, and the file if it exists.

    Raises `OSError`: ELOOP for a link, EISDIR and EINVAL if it is not a regular file, EACCES if it is not writable; `AccessDenied`. Pass
    the target to `replace` or to `abandon`.
    """
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), root.path)
    folder = make_folder(root, parts[:-1])
    try:
        return Target(root, tuple(parts), folder, _existing(folder.descriptor, parts[-1]))
    except BaseException:
        folder.remove_made()
        folder.close()
        raise


def abandon(target: Target) -> None:
    """Close a target and remove the directories that were created for it."""
    target.within.remove_made()
    _close(target)


def replace(
    target: Target,
    content: bytes,
    *,
    durable: bool = True,
    mode: int | None = None,
    check: Callable[[], None] = lambda: None,
) -> None:
    """Replace the content of a file atomically, and close the target.

    Mode (without set-user-id and similar bits), owner, group, access list and user attributes of an old file are kept as far as
    permitted; if the group or the access list cannot be kept, nobody gains rights by that. A new file gets `mode` or the default one.
    With `durable`, file and directory are synced to disk when this returns. `check` is called last before the file changes and may raise
    to stop it.

    Raises `OSError`, `AccessDenied` if the directory was moved meanwhile, and what `check` raises; then the file is unchanged, and no
    temporary file and no new directory remains. Only an error in syncing the directory may come after the file has changed.
    """
    try:
        _exchange(target, content, durable, mode, check)
    except BaseException:
        abandon(target)
        raise
    try:
        if durable:
            target.within.sync_made(_sync)
    finally:
        _close(target)


def overwrite(
    target: Target, content: bytes, *, durable: bool = True, check: Callable[[], None] = lambda: None
) -> None:
    """Overwrite a file in place, and close the target. Only this can leave mixed content after a crash.

    Space for the new content is allocated first, so a full disk changes nothing. Raises as `replace` does, and `AccessDenied` for a file
    with other hard links, which would change too.
    """
    old = target.old
    try:
        if old is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target.name)
        if old.has_other_names:
            raise AccessDenied(
                "/".join(target.parts), "the file has other hard links, and its directory is not writable"
            )
        if len(content) > old.status.st_size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(old.descriptor, 0, len(content))
        try:
            check()
            _require_in_place(target)
        except BaseException:
            os.ftruncate(old.descriptor, old.status.st_size)
            raise
        os.lseek(old.descriptor, 0, os.SEEK_SET)
        _fill(old.descriptor, content)
        os.ftruncate(old.descriptor, len(content))
        if durable:
            _sync(old.descriptor)
    finally:
        _close(target)


def recover(root: Root, check: Callable[[], None] = lambda: None) -> tuple[str, ...]:
    """Remove the temporary files that a killed program left in a root, and return their paths relative to it.

    Those of living writers stay. Other file systems mounted below the root, unreadable directories, and directories deeper than the
    maximum path depth are skipped. `check` is called for each directory and may raise to stop.
    """
    removed_paths: list[str] = []
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        check()
        parts = waiting.pop()
        try:
            folder = open_syncable_folder(root, parts)
        except (OSError, AccessDenied):
            continue
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False) and len(parts) < MOST_PARTS:
                        waiting.append((*parts, entry.name))
                    elif TEMPORARY.fullmatch(entry.name) and _remove_stale(folder, entry.name):
                        removed_paths.append("/".join((*parts, entry.name)))
        finally:
            os.close(folder)
    return tuple(sorted(removed_paths))


def read_at_most(descriptor: int, limit: int) -> bytes:
    """Read at most `limit` bytes from the current position."""
    chunks: list[bytes] = []
    while limit > 0:
        chunk = os.read(descriptor, min(limit, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


# --- one write -------------------------------------------------------------------------------------------------------


def _existing(folder: int, name: str) -> Old | None:
    try:  # a rename would not ask whether the file may be written
        file, is_readable = open_regular_in(folder, name, os.O_RDWR), True
    except FileNotFoundError:
        return None
    except PermissionError:
        file, is_readable = open_regular_in(folder, name, os.O_WRONLY), False
    return Old(os.fstat(file), file, is_readable)


def _exchange(target: Target, content: bytes, durable: bool, mode: int | None, check: Callable[[], None]) -> None:
    with _temporary(target, mode) as (name, file):
        _fill(file, content)
        if target.old is not None:
            _take_over(file, target.old)
        if durable:
            _sync(file)
        check()
        _require_in_place(target)
        os.replace(name, target.name, src_dir_fd=target.folder, dst_dir_fd=target.folder)


@contextmanager
def _temporary(target: Target, mode: int | None) -> Generator[tuple[str, int], None, None]:
    """A locked temporary file in the target's directory; it is removed unless it is renamed."""
    while True:
        name = f".acp-session-{secrets.token_hex(16)}.tmp"
        permissions = mode if mode is not None else 0o666 if target.old is None else 0o600
        file = os.open(name, _CREATE, permissions, dir_fd=target.folder)
        try:
            _lock(file)
            if os.fstat(file).st_nlink:  # nobody took it for a dead one's before it was locked
                yield name, file
                return
        except BaseException:
            with suppress(OSError):
                os.unlink(name, dir_fd=target.folder)
            raise
        finally:
            os.close(file)


def _fill(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def _take_over(file: int, old: Old) -> None:
    own = os.fstat(file)
    mode = stat.S_IMODE(old.status.st_mode) & 0o777
    access = _access_list(old.descriptor)
    if old.status.st_gid != own.st_gid:
        try:
            os.fchown(file, -1, old.status.st_gid)
        except (
            PermissionError
        ):  # another group must not get the rights of the old one, nor the old one those of all others
            mode = mode & 0o700 if access is not None else mode & (0o700 | mode >> 3 & 0o007)
            access = None
    if old.status.st_uid != own.st_uid:
        with suppress(PermissionError):
            os.fchown(file, old.status.st_uid, -1)
    os.fchmod(
        file, mode if access is None else mode & 0o700
    )  # with a list, the mode shows its mask in place of the group's rights
    if sys.platform == "linux":
        if access is not None:
            with suppress(OSError):
                os.setxattr(file, _ACCESS_LIST, access)
        _take_over_attributes(file, old.descriptor)


_ACCESS_LIST: Final = "system.posix_acl_access"


def _access_list(descriptor: int) -> bytes | None:
    if sys.platform != "linux":
        return None
    try:
        return os.getxattr(descriptor, _ACCESS_LIST)
    except OSError:  # there is none, or the file system has no such lists
        return None


def _take_over_attributes(file: int, old: int) -> None:
    with suppress(OSError):  # not every file system has attributes
        for name in os.listxattr(old):
            if name.startswith("user."):
                with suppress(OSError):  # one that is not taken keeps no other from being
                    os.setxattr(file, name, os.getxattr(old, name))


def _require_in_place(target: Target) -> None:
    """Raise `AccessDenied` if the path no longer leads to the open directory."""
    try:
        folder = open_folder(target.root, target.parts[:-1])
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV):
            raise
        raise AccessDenied("/".join(target.parts), "its directory was moved or removed meanwhile") from None
    try:
        if identity(folder) != identity(target.folder):
            raise AccessDenied("/".join(target.parts), "its directory was replaced meanwhile")
    finally:
        os.close(folder)


def _sync(descriptor: int) -> None:
    if sys.platform == "darwin":
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # the file system has nothing to bring to a disk
            raise


def _lock(file: int) -> None:
    if sys.platform != "win32":
        with suppress(OSError):  # no locks on this file system: `recover` cannot lock either, and leaves the file alone
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_stale(folder: int, name: str) -> bool:
    try:
        file = _lockable(folder, name)
    except OSError:
        return False
    try:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if identity_of(status) != identity(file):
            return False
        os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def _lockable(folder: int, name: str) -> int:
    try:
        return open_regular_in(folder, name, os.O_RDONLY)
    except PermissionError:
        return open_regular_in(folder, name, os.O_WRONLY)


def _close(target: Target) -> None:
    target.within.close()
    if target.old is not None:
        os.close(target.old.descriptor)
