"""The backend for files on this machine's disk, confined to the roots of a session.

Sources: the file-system page; the RFD on `additionalDirectories`, "Client responsibilities".
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Final, TypeVar

from . import text
from .atomic import Old, Target, prepare, read_at_most, recover
from .backend import Access
from .containment import AccessDenied, Place, Root, bind, guarantees, open_folder, open_regular, reach
from .errors import convert_os_errors, make_failure, make_refusal
from .mechanism import Held
from .policy import FilePolicy, belongs_to_repository, is_denied, may_belong_to_repository
from .workers import Busy, Workers
from .workspace import Roots, RootSet

T = TypeVar("T")

_TRIES: Final = 4
_REPOSITORY: Final = Lock()
"""Held by a write that could complete a repository, so that no two complete one together."""


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
        return await self._run(access, path, lambda request: request.locate(writing=writing))

    async def read(self, access: Access, path: str, line: int | None, limit: int | None) -> str:
        """Read the text of a file, or lines of it. See `FileBackend`."""
        return await self._run(access, path, lambda request: request.read(line, limit))

    async def write(self, access: Access, path: str, content: str, *, approved: str | None = None) -> str:
        """Write the text of a file atomically. See `FileBackend`."""

        def write(request: _Request) -> str:
            real = request.write(content, approved)
            access.done(real)
            return real

        return await self._run(access, path, write, weight=len(content))

    async def clean(self, roots: Roots) -> tuple[str, ...]:
        """Remove the temporary files that a killed program left in the roots and among the backups; return their paths."""

        def clean(check: Callable[[], None]) -> list[str]:
            removed_paths = _recover(roots.roots if isinstance(roots, RootSet) else (), check)
            if self._policy.backups is not None:
                with _open_backup_root(self._policy.backups) as root:
                    removed_paths += _recover((root,), check)
            return removed_paths

        return tuple(dict.fromkeys(await self._workers.run(clean)))

    def close(self) -> None:
        """Stop the threads."""
        self._workers.close()

    async def _run(self, access: Access, path: str, work: Callable[[_Request], T], *, weight: int = 0) -> T:
        roots = access.roots
        if not isinstance(roots, RootSet):
            raise make_refusal(path, "the workspace roots of this session are not bound to directories of this machine")

        def run(stop: Callable[[], None]) -> T:
            def check() -> None:
                stop()
                access.check()

            check()  # it may have waited for a thread
            with convert_os_errors(path):
                return work(_Request(roots.roots, path, self._policy, check))

        try:
            return await self._workers.run(run, weight=weight)
        except Busy:
            raise make_failure(path, "too many requests for files are under way; try again later") from None


def _recover(roots: Sequence[Root], check: Callable[[], None]) -> list[str]:
    return [f"{root.path.rstrip('/')}/{path}" for root in roots for path in recover(root, check)]


@contextmanager
def _open_backup_root(path: str) -> Generator[Root, None, None]:
    os.makedirs(path, mode=0o700, exist_ok=True)  # noqa: PTH103
    root = bind(path)
    try:
        yield root
    finally:
        root.close()


@dataclass(slots=True)
class _Request:
    """A request for a file, in its thread. `check` raises if the request was cancelled, or its session has other roots now."""

    roots: Sequence[Root]
    path: str
    policy: FilePolicy
    check: Callable[[], None]

    def locate(self, *, writing: bool) -> str:
        """The real path of the file, which need not exist."""
        self.check()

        def locate_place(place: Place) -> str:
            self._require_allowed(place, writing=writing)
            try:
                os.close(open_regular(place.root, place.parts, os.O_WRONLY if writing else os.O_RDONLY))
            except FileNotFoundError:
                os.close(open_folder(place.root, ()))  # raises it again where the root is gone
            return place.real

        return reach(self.roots, self.path, locate_place)

    # --- reading

    def read(self, line: int | None, limit: int | None) -> str:
        """The text of the file, or lines of it."""

        def open_place(place: Place) -> int:
            self._require_allowed(place, writing=False)
            return open_regular(place.root, place.parts, os.O_RDONLY)

        most = self.policy.max_read
        with Held(reach(self.roots, self.path, open_place)) as file:
            status = os.fstat(file)
            if status.st_nlink > 1 and self.policy.hard_links == "refuse":
                reason = "the file has other hard links, which may be outside the workspace roots"
                raise AccessDenied(self.path, reason)
            # It may grow while it is read.
            raw = read_at_most(file, most + 1) if status.st_size <= most else None
            self.check()
            try:
                if raw is not None and len(raw) <= most:
                    whole = text.decode_text(raw, self.policy.fallback_encoding)
                    return text.select_lines(whole, line, limit)
                if line is None and limit is None:
                    reason = f"the file is larger than {most} bytes; ask for lines with 'line' and 'limit'"
                    raise make_failure(self.path, reason)
                return text.read_lines(
                    lambda: self._read_chunks(file),
                    line,
                    limit,
                    most,
                    self.policy.fallback_encoding,
                )
            except text.NotText as error:
                raise make_failure(self.path, f"the file cannot be read as text: {error}") from None
            except text.TooLong:
                raise make_failure(self.path, f"the lines are larger than {most} bytes; ask for fewer") from None

    def _read_chunks(self, file: int) -> Iterator[bytes]:
        os.lseek(file, 0, os.SEEK_SET)
        remaining = self.policy.max_look
        while chunk := os.read(file, min(remaining, 1 << 18)):
            self.check()
            remaining -= len(chunk)
            yield chunk
            if not remaining:
                reason = f"the lines are beyond the first {self.policy.max_look} bytes of the file"
                raise make_failure(self.path, reason)

    # --- writing

    def write(self, content: str, approved: str | None) -> str:
        """Write a file and return its real path."""

        def prepare_place(place: Place) -> tuple[Place, Target]:
            self._require_allowed(place, writing=True)
            if approved is not None and place.real != approved:
                raise AccessDenied(self.path, "the path now leads to a different file than the approved one")
            return place, prepare(place.root, place.parts)

        for tries_left in range(_TRIES, 0, -1):
            place, target = reach(self.roots, self.path, prepare_place)
            with target:
                new = self._compose(target, content)
                try:
                    self._replace(place, target, new)
                except FileNotFoundError:
                    if tries_left == 1:
                        raise
                    continue  # the directory went away under our hands: look again
            return place.real
        raise AssertionError("the last try returns or raises")

    def _replace(self, place: Place, target: Target, new: bytes) -> None:
        def check() -> None:
            self._require_no_repository(place)
            self.check()

        with _REPOSITORY if may_belong_to_repository(place.parts) else nullcontext():
            target.replace(new, durable=self.policy.durable, check=check)

    def _compose(self, target: Target, content: str) -> bytes:
        """Back up the old file if the policy asks for it, and return the bytes to write."""
        old, policy = target.old, self.policy
        if old is None:
            return content.encode()
        if policy.backups is not None:
            self._back_up(target.name, old, policy.backups)
        if not policy.keep_form or (old.has_other_names and policy.hard_links == "refuse"):
            return content.encode()
        raw = old.read(max(policy.max_read, policy.max_write))
        is_whole = len(raw) >= old.status.st_size
        new = text.encode_like(content, raw, policy.fallback_encoding, is_whole=is_whole)
        if len(new) > policy.max_write:
            raise make_failure(self.path, f"the content is larger than {policy.max_write} bytes")
        return new

    def _back_up(self, name: str, old: Old, folder: str) -> None:
        if not old.is_readable:
            raise make_failure(self.path, "the old file may not be read, so it cannot be backed up")
        if old.has_other_names and self.policy.hard_links == "refuse":
            reason = "the old file has other hard links, which may be outside the workspace roots; it is not copied"
            raise AccessDenied(self.path, reason)
        most = max(self.policy.max_read, self.policy.max_write)
        raw = old.read(most + 1)
        if len(raw) > most:
            raise make_failure(self.path, f"the old file is larger than {most} bytes, so it cannot be backed up")
        time = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        short = os.fsdecode(os.fsencode(name)[:150])
        parts = (f"{short}.{time}.{secrets.token_hex(4)}.bak",)
        with _open_backup_root(folder) as root, prepare(root, parts) as copy:
            copy.replace(raw, durable=self.policy.durable, mode=0o600)

    # --- what the policy allows

    def _require_allowed(self, place: Place, *, writing: bool) -> None:
        if place.path.endswith(("/", "/.")):
            # What the path says is a directory. Where it is a file, there is no such directory.
            with suppress(FileNotFoundError):
                os.close(open_folder(place.root, place.parts))
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place.path)
        objection = self.policy.find_objection(place, writing=writing)
        if objection is not None:
            raise AccessDenied(place.path, objection)
        if writing:
            self._require_no_repository(place)

    def _require_no_repository(self, place: Place) -> None:
        is_guarded = is_denied((".git",), self.policy.denied_for_writing)
        if is_guarded and belongs_to_repository(place.root.real, place.parts):
            reason = "git takes its folder for a repository then, and runs what the settings there say"
            raise AccessDenied(place.path, reason)
