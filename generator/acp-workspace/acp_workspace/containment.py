"""File access confined to a directory.

A path is first resolved as a hint, following links and `..`. The hint proves nothing; opening does: the real path is opened beneath the
descriptor that holds the root (`acp_workspace.handles`), without following links or crossing mount points (`acp_workspace.mechanism`).
If a component was replaced in between, opening fails. So links inside the roots work as long as they lead into a root, and no others do.
`guarantees()` describes what holds on this platform.

Sources: the RFD on `additionalDirectories`, sections "Validation and error handling" and "Security considerations".
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from .handles import (
    AccessDenied,
    Identity,
    Root,
    bind,
    identity,
    identity_of,
    opened_root,
    require_enforceable,
    require_plain,
    resolve_path,
)
from .mechanism import FOLDER, NEVER_WAITING, SYNCABLE_FOLDER, Guarantees, Mechanism, guarantees, open_beneath

__all__ = [
    "ATTEMPTS",
    "AccessDenied",
    "Folder",
    "Guarantees",
    "Mechanism",
    "Place",
    "Root",
    "bind",
    "contains",
    "guarantees",
    "identity",
    "is_within",
    "make_folder",
    "open_file",
    "open_folder",
    "open_regular",
    "open_regular_in",
    "open_syncable_folder",
    "opened_root",
    "places",
    "reach",
    "require_enforceable",
]

T = TypeVar("T")

ATTEMPTS: Final = 3
"""The number of attempts to resolve a path that changes meanwhile, before it is refused."""


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


# --- where a path leads ----------------------------------------------------------------------------------------------


def places(roots: Sequence[Root], path: str) -> tuple[Place, ...]:
    """All roots that contain an absolute path, in order, after following links and `..`; empty if it is outside all roots.

    A `..` in the path is followed only inside the roots and on the way to them; so nothing outside is revealed, except that a link there
    leads into a root. Raises `AccessDenied` if this cannot be decided, and `OSError` (ELOOP) for too many links.
    """
    require_plain(path)
    above = {parent for root in roots for declared in (root.path, root.real) for parent in _parents(declared)}

    def climb(real: str) -> None:
        if real in above:
            return
        if not _beneath(roots, real, path):
            raise AccessDenied(path, _OUTSIDE)
        if not stat.S_ISDIR(_mode(real)):
            raise AccessDenied(path, "'..' follows something that is not a directory")

    try:
        return _beneath(roots, resolve_path(path, climb), path)
    except OSError as error:
        if not _beneath(roots, os.path.dirname(os.fsdecode(error.filename)), path):  # noqa: PTH120
            raise AccessDenied(path, _OUTSIDE) from None
        raise


def _parents(path: str) -> list[str]:
    """The path and its ancestors."""
    names = [name for name in path.split("/") if name]
    return ["/" + "/".join(names[:length]) for length in range(len(names) + 1)]


_OUTSIDE: Final = "it is outside the workspace roots"


def contains(roots: Sequence[Root], path: str) -> bool:
    """Whether a path currently leads into a root. For display and planning: only opening decides."""
    try:
        return bool(places(roots, path))
    except (AccessDenied, OSError):
        return False


def _beneath(roots: Sequence[Root], real: str, path: str) -> tuple[Place, ...]:
    matches: list[Place] = []
    chain: list[tuple[Identity, tuple[str, ...]]] | None = None
    for root in roots:
        base = root.real.rstrip("/")
        if real == root.real or real.startswith(f"{base}/"):
            matches.append(Place(root, tuple(part for part in real[len(base) :].split("/") if part), path))
            continue
        if chain is None:
            chain = _ancestors(real)
        matches.extend(Place(root, parts, path) for number, parts in chain if number == root.identity)
    return tuple(matches)


def _ancestors(real: str) -> list[tuple[Identity, tuple[str, ...]]]:
    """The directories on a real path, each with the components beneath it: finds a root under another spelling of its name."""
    parts = [part for part in real.split("/") if part]
    ancestors: list[tuple[Identity, tuple[str, ...]]] = []
    for length in range(len(parts), 0, -1):
        try:
            status = os.lstat("/" + "/".join(parts[:length]))
        except OSError:
            continue
        ancestors.append((identity_of(status), tuple(parts[length:])))
    return ancestors


def is_within(roots: Sequence[Root], inner: Root) -> bool:
    """Whether `inner` is one of `roots` or lies in one, proven by opening it from there."""
    for root in roots:
        for place in _beneath([root], inner.real, inner.path):
            try:
                folder = open_folder(root, place.parts)
            except (OSError, AccessDenied):
                continue
            try:
                if identity(folder) == inner.identity:
                    return True
            finally:
                os.close(folder)
    return False


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


# --- opening ---------------------------------------------------------------------------------------------------------


def reach(roots: Sequence[Root], path: str, use: Callable[[Place], T]) -> T:
    """Call `use`, which opens a place that `path` leads to, and return its result.

    The first root that contains the path is tried first. If a component turns out to be a link, the path has changed and is resolved
    again, up to `ATTEMPTS` times. A place behind a mount point is tried from the next root, which may be the mount itself. Raises
    `AccessDenied`, and what `use` raises.
    """
    require_enforceable(path)
    for _ in range(ATTEMPTS):
        try:
            candidates = places(roots, path)
            if not candidates:
                raise AccessDenied(path, _OUTSIDE)
            return _first(candidates, use)
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise AccessDenied(path, "it is behind a mount point that is not a workspace root itself") from None
            if error.errno != errno.ELOOP:
                raise
    raise AccessDenied(path, "a link in the path keeps changing or is broken")


def _first(candidates: Sequence[Place], use: Callable[[Place], T]) -> T:
    for place in candidates[:-1]:
        try:
            return use(place)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    return use(candidates[-1])


def open_folder(root: Root, parts: Sequence[str]) -> int:
    """Open a directory beneath `root`, only as a base. Raises `OSError` (ELOOP: a link, EXDEV: a mount point), `AccessDenied`."""
    return _open(root, parts, FOLDER)


def open_syncable_folder(root: Root, parts: Sequence[str]) -> int:
    """Like `open_folder`, for listing and syncing; requires permission to read the directory."""
    return _open(root, parts, SYNCABLE_FOLDER)


def open_file(root: Root, parts: Sequence[str], flags: int) -> int:
    """Open a path beneath `root`; never blocks on a pipe or acquires a controlling terminal. Raises as `open_folder` does."""
    return _open(root, parts, flags | NEVER_WAITING)


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
    """Like `open_regular`, for a name in an open directory."""
    _require_names((name,))
    _require_regular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, name)
    file = open_beneath(folder, (name,), flags | NEVER_WAITING)
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


# --- folders that are made ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Folder:
    """An open directory, and the directories on its path that were created for it: names and parents, outermost first."""

    descriptor: int
    made: tuple[str, ...] = ()
    above: tuple[Identity, ...] = ()

    def close(self) -> None:
        """Close the directory. Created directories stay."""
        os.close(self.descriptor)

    def remove_made(self) -> None:
        """Remove the created directories, innermost first, as far as they are empty and in their original place."""
        for parent, name in self._climb():
            try:
                os.rmdir(name, dir_fd=parent)
            except OSError:
                return

    def sync_made(self, sync: Callable[[int], None]) -> None:
        """Call `sync` with readable descriptors of the directory and of the parents of created directories."""
        _sync(self.descriptor, sync)
        for parent, _ in self._climb():
            _sync(parent, sync)

    def _climb(self) -> Generator[tuple[int, str], None, None]:
        """Yield the parents of created directories, innermost first, with the created names.

        `..` is followed only to the directory that the way down came from, one step for each, however deep they are.
        """
        folder = os.dup(self.descriptor)
        try:
            for name, expected in zip(reversed(self.made), reversed(self.above), strict=True):
                try:
                    parent = os.open("..", FOLDER, dir_fd=folder)
                except OSError:
                    return
                os.close(folder)
                folder = parent
                if identity(parent) != expected:
                    return
                yield parent, name
        finally:
            os.close(folder)


def _sync(folder: int, sync: Callable[[int], None]) -> None:
    try:
        readable = os.open(".", SYNCABLE_FOLDER, dir_fd=folder)
    except (PermissionError, FileNotFoundError):
        return  # may be written and not read, or is gone already
    try:
        sync(readable)
    finally:
        os.close(readable)


def make_folder(root: Root, parts: Sequence[str]) -> Folder:
    """Like `open_folder`, but create missing directories. They are removed again if not all can be created."""
    _require_names(parts)
    with opened_root(root) as base:
        folder = Folder(os.dup(base))
        try:
            for name in parts:
                try:
                    following = open_beneath(folder.descriptor, (name,), FOLDER)
                except FileNotFoundError:
                    above = identity(folder.descriptor)
                    if _make(folder.descriptor, name):
                        folder.made, folder.above = (*folder.made, name), (*folder.above, above)
                    else:  # what somebody else made meanwhile stays, and so does what lies above it
                        folder.made, folder.above = (), ()
                    following = open_beneath(folder.descriptor, (name,), FOLDER)
                os.close(folder.descriptor)
                folder.descriptor = following
        except BaseException:
            folder.remove_made()
            folder.close()
            raise
    return folder


def _make(folder: int, name: str) -> bool:
    try:
        os.mkdir(name, 0o777, dir_fd=folder)
    except FileExistsError:
        return False
    return True


def _open(root: Root, parts: Sequence[str], flags: int) -> int:
    _require_names(parts)
    with opened_root(root) as base:
        return open_beneath(base, parts, flags)


def _require_names(parts: Sequence[str]) -> None:
    for name in parts:
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} is not a file name")
