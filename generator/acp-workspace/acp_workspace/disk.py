"""The backend for files on this machine's disk, confined to the roots of a session.

Sources: the file-system page; the RFD on `additionalDirectories`, "Client responsibilities".
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from threading import Lock
from typing import Final, TypeVar

from . import text
from .atomic import Old, Target, abandon, overwrite, prepare, read_at_most, recover, replace
from .backend import Access, Lines
from .containment import AccessDenied, Place, Root, bind, guarantees, open_folder, open_regular, reach
from .errors import failure, os_failure, refusal
from .policy import FilePolicy, belongs_to_repository, is_denied, may_belong_to_repository
from .workers import Busy, Workers
from .workspace import Roots, RootSet

T = TypeVar("T")

_TRIES: Final = 4
_REPOSITORY: Final = Lock()


class DiskBackend:
    """The files of this machine. Nothing is opened if access cannot be confined to a root (`containment.guarantees`).

    `workers` runs the work; the default has four threads.
    """

    def __init__(self, policy: FilePolicy, workers: Workers | None = None) -> None:
        self._policy = policy
        self._workers = workers or Workers()

    @property
    def is_usable(self) -> bool:
        """Whether access can be confined to a root on this platform."""
        return guarantees().enforced

    async def locate(self, access: Access, path: str, *, writing: bool) -> str:
        """The real path of a file, proven to be in a root by opening it. See `FileBackend`."""

        def work(roots: RootSet, check: Callable[[], None]) -> str:
            check()
            return reach(roots.roots, path, lambda place: _locate(place, self._policy, writing=writing))

        return await self._run(access, path, work)

    async def read(self, access: Access, path: str, lines: Lines) -> str:
        """Read the text of a file, or lines of it. See `FileBackend`."""

        def work(roots: RootSet, check: Callable[[], None]) -> str:
            return _read(roots, path, lines, self._policy, check)

        return await self._run(access, path, work)

    async def write(self, access: Access, path: str, content: str, *, approved: str | None = None) -> str:
        """Write the text of a file atomically. See `FileBackend`."""

        def work(roots: RootSet, check: Callable[[], None]) -> str:
            real = _write(roots, path, content, self._policy, check, approved)
            access.done(real)
            return real

        return await self._run(access, path, work, weight=len(content))

    async def clean(self, roots: Roots) -> tuple[str, ...]:
        """Remove the temporary files that a killed program left in the roots and among the backups; return their paths."""
        removed_paths: list[str] = []
        if isinstance(roots, RootSet):
            removed_paths += await self._workers.run(lambda check: _recover(roots.roots, check))
        if self._policy.backups is not None:
            backups = self._policy.backups
            removed_paths += await self._workers.run(lambda check: _recover_backups(backups, check))
        return tuple(dict.fromkeys(removed_paths))

    def close(self) -> None:
        """Stop the threads."""
        self._workers.close()

    async def _run(
        self, access: Access, path: str, work: Callable[[RootSet, Callable[[], None]], T], *, weight: int = 0
    ) -> T:
        roots = access.roots
        if not isinstance(roots, RootSet):
            raise refusal(path, "the workspace roots of this session are not bound to directories of this machine")

        def run(stop: Callable[[], None]) -> T:
            def check() -> None:
                stop()
                access.check()

            check()  # it may have waited for a thread
            return _map_errors(path, lambda: work(roots, check))

        try:
            return await self._workers.run(run, weight=weight)
        except Busy:
            raise failure(path, "too many requests for files are under way; try again later") from None


def _locate(place: Place, policy: FilePolicy, *, writing: bool) -> str:
    _require_allowed(place, policy, writing=writing)
    try:
        os.close(open_regular(place.root, place.parts, os.O_WRONLY if writing else os.O_RDONLY))
    except FileNotFoundError:
        os.close(open_folder(place.root, ()))  # raises it again where the root is gone; a missing file may be written
    return place.real


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(roots: RootSet, path: str, requested: Lines, policy: FilePolicy, check: Callable[[], None]) -> str:
    def opened(place: Place) -> int:
        _require_allowed(place, policy, writing=False)
        return open_regular(place.root, place.parts, os.O_RDONLY)

    file = reach(roots.roots, path, opened)
    try:
        status = os.fstat(file)
        if status.st_nlink > 1 and policy.hard_links == "refuse":
            raise AccessDenied(path, "the file has other hard links, which may be outside the workspace roots")
        # It may grow while it is read.
        raw = read_at_most(file, policy.max_read + 1) if status.st_size <= policy.max_read else None
        check()
        if raw is not None and len(raw) <= policy.max_read:
            return text.lines(text.decode_text(raw, policy.fallback_encoding), requested.line, requested.limit)
        if requested.is_all:
            raise failure(
                path, f"the file is larger than {policy.max_read} bytes; ask for lines with 'line' and 'limit'"
            )
        return _lines(file, path, requested, policy, check)
    except text.NotText as error:
        raise failure(path, f"the file cannot be read as text: {error}") from None
    finally:
        os.close(file)


def _lines(file: int, path: str, requested: Lines, policy: FilePolicy, check: Callable[[], None]) -> str:
    """The requested lines of a file that is too large to be read as a whole."""

    def chunks() -> Iterator[bytes]:
        os.lseek(file, 0, os.SEEK_SET)
        remaining = policy.max_look
        while chunk := os.read(file, min(remaining, 1 << 18)):
            check()
            remaining -= len(chunk)
            yield chunk
            if not remaining:
                raise failure(path, f"the lines are beyond the first {policy.max_look} bytes of the file")

    try:
        return text.lines_of(chunks, requested.line, requested.limit, policy.max_read, policy.fallback_encoding)
    except text.TooLong:
        raise failure(path, f"the lines are larger than {policy.max_read} bytes; ask for fewer") from None


# --- writing ---------------------------------------------------------------------------------------------------------


def _write(
    roots: RootSet, path: str, content: str, policy: FilePolicy, check: Callable[[], None], approved: str | None
) -> str:
    """Write a file and return its real path."""

    def prepared(place: Place) -> tuple[Place, Target]:
        _require_allowed(place, policy, writing=True)
        if approved is not None and place.real != approved:
            raise AccessDenied(path, "the path now leads to a different file than the approved one")
        return place, prepare(place.root, place.parts)

    for tries_left in range(_TRIES, 0, -1):
        place, target = reach(roots.roots, path, prepared)
        try:
            new = _compose(path, target, content, policy)
        except BaseException:
            abandon(target)
            raise
        try:
            with _repository_guard(place, policy) as require_no_repository:

                def check_all() -> None:
                    require_no_repository()
                    check()

                if policy.in_place == "when-needed" and target.is_fixed:
                    overwrite(target, new, durable=policy.durable, check=check_all)
                else:
                    replace(target, new, durable=policy.durable, check=check_all)
        except FileNotFoundError:
            if tries_left == 1:
                raise
            continue  # the directory went away under our hands: look again
        return place.real
    raise AssertionError("the last try returns or raises")


def _compose(path: str, target: Target, content: str, policy: FilePolicy) -> bytes:
    """Back up the old file if the policy asks for it, and return the bytes to write."""
    old = target.old
    if old is None:
        return content.encode()
    if policy.backups is not None:
        _back_up(path, target.name, old, policy)
    if not policy.keep_form or (old.has_other_names and policy.hard_links == "refuse"):
        return content.encode()
    raw = old.read(max(policy.max_read, policy.max_write))
    is_whole = len(raw) >= old.status.st_size
    new = text.encode_text(content, text.form_of(raw, policy.fallback_encoding, is_whole=is_whole))
    if len(new) > policy.max_write:
        raise failure(path, f"the content is larger than {policy.max_write} bytes")
    return new


def _back_up(path: str, name: str, old: Old, policy: FilePolicy) -> None:
    assert policy.backups is not None
    if not old.is_readable:
        raise failure(path, "the old file may not be read, so it cannot be backed up")
    if old.has_other_names and policy.hard_links == "refuse":
        raise AccessDenied(
            path, "the old file has other hard links, which may be outside the workspace roots; it is not copied"
        )
    most = max(policy.max_read, policy.max_write)
    raw = old.read(most + 1)
    if len(raw) > most:
        raise failure(path, f"the old file is larger than {most} bytes, so it cannot be backed up")
    time = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    short = os.fsdecode(os.fsencode(name)[:150])
    parts = (f"{short}.{time}.{secrets.token_hex(4)}.bak",)
    with _backup_root(policy.backups) as root:
        replace(prepare(root, parts), raw, durable=policy.durable, mode=0o600)


@contextmanager
def _backup_root(path: str) -> Generator[Root, None, None]:
    os.makedirs(path, mode=0o700, exist_ok=True)  # noqa: PTH103
    root = bind(path)
    try:
        yield root
    finally:
        root.close()


def _recover(roots: Iterable[Root], check: Callable[[], None]) -> list[str]:
    return [f"{root.path.rstrip('/')}/{path}" for root in roots for path in recover(root, check)]


def _recover_backups(path: str, check: Callable[[], None]) -> list[str]:
    with _backup_root(path) as root:
        return _recover((root,), check)


# --- both ------------------------------------------------------------------------------------------------------------


def _require_allowed(place: Place, policy: FilePolicy, *, writing: bool) -> None:
    if place.path.endswith(("/", "/.")):
        # What the path says is a directory. Where it is a file, there is no such directory.
        with suppress(FileNotFoundError):
            os.close(open_folder(place.root, place.parts))
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place.path)
    objection = policy.objection(place, writing=writing)
    if objection is not None:
        raise AccessDenied(place.path, objection)
    if writing:
        _require_no_repository(place, policy)


@contextmanager
def _repository_guard(place: Place, policy: FilePolicy) -> Generator[Callable[[], None], None, None]:
    """The final check of a write. Writes that could complete a repository are serialized, so that no two complete one together."""
    with _REPOSITORY if may_belong_to_repository(place.parts) else nullcontext():
        yield lambda: _require_no_repository(place, policy)


def _require_no_repository(place: Place, policy: FilePolicy) -> None:
    if is_denied((".git",), policy.denied_for_writing) and belongs_to_repository(place.root.real, place.parts):
        raise AccessDenied(
            place.path, "git takes its folder for a repository then, and runs what the settings there say"
        )


def _map_errors(path: str, work: Callable[[], T]) -> T:
    """Run `work`, and convert errors of the operating system and of checks to error responses."""
    try:
        return work()
    except AccessDenied as error:
        raise refusal(path, error.reason) from None
    except OSError as error:
        raise os_failure(path, error) from None
