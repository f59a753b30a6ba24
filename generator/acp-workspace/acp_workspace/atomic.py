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
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Self

from .containment import (
    MOST_PARTS,
    AccessDenied,
    Identity,
    Root,
    make_identity,
    open_folder,
    open_regular_in,
    read_identity,
    require_names,
)
from .mechanism import FOLDER, SYNCABLE_FOLDER, Held, open_beneath

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


def read_at_most(descriptor: int, limit: int) -> bytes:
    """Read at most `limit` bytes from the current position."""
    chunks: list[bytes] = []
    while limit > 0 and (chunk := os.read(descriptor, min(limit, 1 << 20))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


# --- folders that are made -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Folder:
    """An open directory, and the directories on its path that were created for it, outermost first: names, and what their parents are."""

    descriptor: int
    new_folders: list[tuple[str, Identity]] = field(default_factory=list[tuple[str, Identity]])

    def close(self) -> None:
        """Close the directory. Created directories stay."""
        os.close(self.descriptor)

    def remove_created(self) -> None:
        """Remove the created directories, innermost first, as far as they are empty and in their original place."""
        for parent, name in self._climb():
            try:
                os.rmdir(name, dir_fd=parent)
            except OSError:
                return

    def sync_created(self, sync: Callable[[int], None]) -> None:
        """Call `sync` with readable descriptors of the directory and of the parents of created directories."""
        for folder in chain([self.descriptor], (parent for parent, _ in self._climb())):
            try:
                readable = os.open(".", SYNCABLE_FOLDER, dir_fd=folder)
            except (PermissionError, FileNotFoundError):
                continue  # may be written and not read, or is gone already
            with Held(readable):
                sync(readable)

    def _climb(self) -> Generator[tuple[int, str], None, None]:
        """Yield the parents of created directories, innermost first, with the created names.

        `..` is followed only to the directory that the way down came from, one step for each, however deep they are.
        """
        folder = os.dup(self.descriptor)
        try:
            for name, expected in reversed(self.new_folders):
                try:
                    parent = os.open("..", FOLDER, dir_fd=folder)
                except OSError:
                    return
                os.close(folder)
                folder = parent
                if read_identity(parent) != expected:
                    return
                yield parent, name
        finally:
            os.close(folder)


def make_folder(root: Root, parts: Sequence[str]) -> Folder:
    """Like `open_folder`, but create missing directories. They are removed again if not all can be created."""
    require_names(parts)
    with root.open_directory() as base:
        folder = Folder(os.dup(base))
    try:
        for name in parts:
            try:
                following = open_beneath(folder.descriptor, (name,), FOLDER)
            except FileNotFoundError:
                parent = read_identity(folder.descriptor)
                try:
                    os.mkdir(name, 0o777, dir_fd=folder.descriptor)
                    folder.new_folders.append((name, parent))
                except FileExistsError:  # what somebody else made meanwhile stays, and so does what lies above it
                    folder.new_folders.clear()
                following = open_beneath(folder.descriptor, (name,), FOLDER)
            os.close(folder.descriptor)
            folder.descriptor = following
    except BaseException:
        folder.remove_created()
        folder.close()
        raise
    return folder


# --- one write -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Target:
    """A file about to be written: its directory and the existing file, both open until the end of the `with` block.

    Directories that were created for it are removed then, unless it was written.
    """

    root: Root
    parts: tuple[str, ...]
    folder: Folder
    old: Old | None
    is_written: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.is_written:
            self.folder.remove_created()
        self.folder.close()
        if self.old is not None:
            os.close(self.old.descriptor)

    @property
    def name(self) -> str:
        """The file's name in its directory."""
        return self.parts[-1]

    def replace(
        self,
        content: bytes,
        *,
        durable: bool = True,
        mode: int | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Replace the content of the file atomically.

        Mode (without set-user-id and similar bits), owner, group, access list and user attributes of an old file are kept as far as
        permitted; if the group or the access list cannot be kept, nobody gains rights by that. A new file gets `mode` or the default one.
        With `durable`, file and directory are synced to disk when this returns. `check` is called last before the file changes and may
        raise to stop it.

        Raises `OSError`, `AccessDenied` if the directory was moved meanwhile, and what `check` raises; then the file is unchanged, and no
        temporary file remains. Only an error in syncing the directory may come after the file has changed.
        """
        folder = self.folder.descriptor
        permissions = mode if mode is not None else 0o666 if self.old is None else 0o600
        with _open_temporary(folder, permissions) as (name, file):
            _fill(file, content)
            if self.old is not None:
                _take_over(file, self.old)
            if durable:
                _sync(file)
            check()
            self._require_in_place()
            os.replace(name, self.name, src_dir_fd=folder, dst_dir_fd=folder)
            self.is_written = True
        if durable:
            self.folder.sync_created(_sync)

    def _require_in_place(self) -> None:
        """Raise `AccessDenied` if the path no longer leads to the open directory."""
        try:
            folder = open_folder(self.root, self.parts[:-1])
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV):
                raise
            raise AccessDenied("/".join(self.parts), "its directory was moved or removed meanwhile") from None
        with Held(folder):
            if read_identity(folder) != read_identity(self.folder.descriptor):
                raise AccessDenied("/".join(self.parts), "its directory was replaced meanwhile")


def prepare(root: Root, parts: Sequence[str]) -> Target:
    """Open the directory of a file, creating it if missing, and the file if it exists.

    Raises `OSError`: ELOOP for a link, EISDIR and EINVAL if it is not a regular file, EACCES if it is not writable; `AccessDenied`.
    """
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), root.path)
    folder = make_folder(root, parts[:-1])
    try:  # a rename would not ask whether the file may be written
        file, is_readable = _open_old(folder.descriptor, parts[-1], os.O_RDWR)
        old = Old(os.fstat(file), file, is_readable)
    except FileNotFoundError:
        old = None
    except BaseException:
        folder.remove_created()
        folder.close()
        raise
    return Target(root, tuple(parts), folder, old)


def _open_old(folder: int, name: str, flags: int) -> tuple[int, bool]:
    """Open a file, only for writing if it may not be read; the second item is whether it may."""
    try:
        return open_regular_in(folder, name, flags), True
    except PermissionError:
        return open_regular_in(folder, name, os.O_WRONLY), False


@contextmanager
def _open_temporary(folder: int, permissions: int) -> Generator[tuple[str, int], None, None]:
    """A locked temporary file in a directory; it is removed if the block fails."""
    while True:
        name = f".acp-session-{secrets.token_hex(16)}.tmp"
        with Held(os.open(name, _CREATE, permissions, dir_fd=folder)) as file:
            try:
                with suppress(OSError):  # no locks on this file system: `recover` cannot lock either
                    _lock(file)
                if os.fstat(file).st_nlink:  # nobody took it for a dead one's before it was locked
                    yield name, file
                    return
            except BaseException:
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
                raise


def _fill(file: int, content: bytes) -> None:
    remaining = memoryview(content)
    while remaining:
        remaining = remaining[os.write(file, remaining) :]


def _take_over(file: int, old: Old) -> None:
    status = os.fstat(file)
    mode = stat.S_IMODE(old.status.st_mode) & 0o777
    access = _access_list(old.descriptor)
    if old.status.st_gid != status.st_gid:
        try:
            os.fchown(file, -1, old.status.st_gid)
        except PermissionError:
            # Another group must not get the rights of the old one, nor the old one those of all others.
            mode = mode & 0o700 if access is not None else mode & (0o700 | mode >> 3 & 0o007)
            access = None
    if old.status.st_uid != status.st_uid:
        with suppress(PermissionError):
            os.fchown(file, old.status.st_uid, -1)
    # With a list, the mode shows its mask in place of the group's rights.
    os.fchmod(file, mode if access is None else mode & 0o700)
    if sys.platform == "linux":
        if access is not None:
            with suppress(OSError):
                os.setxattr(file, _ACCESS_LIST, access)
        with suppress(OSError):  # not every file system has attributes
            for name in os.listxattr(old.descriptor):
                if name.startswith("user."):
                    with suppress(OSError):  # one that is not taken keeps no other from being
                        os.setxattr(file, name, os.getxattr(old.descriptor, name))


_ACCESS_LIST: Final = "system.posix_acl_access"


def _access_list(descriptor: int) -> bytes | None:
    if sys.platform != "linux":
        return None
    try:
        return os.getxattr(descriptor, _ACCESS_LIST)
    except OSError:  # there is none, or the file system has no such lists
        return None


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
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


# --- recovery --------------------------------------------------------------------------------------------------------


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
            folder = open_folder(root, parts, SYNCABLE_FOLDER)
        except (OSError, AccessDenied):
            continue
        with Held(folder), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False) and len(parts) < MOST_PARTS:
                    waiting.append((*parts, entry.name))
                elif TEMPORARY.fullmatch(entry.name) and _remove_stale(folder, entry.name):
                    removed_paths.append("/".join((*parts, entry.name)))
    return tuple(sorted(removed_paths))


def _remove_stale(folder: int, name: str) -> bool:
    try:
        with Held(_open_old(folder, name, os.O_RDONLY)[0]) as file:
            _lock(file)
            if make_identity(os.stat(name, dir_fd=folder, follow_symlinks=False)) != read_identity(file):
                return False
            os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True
