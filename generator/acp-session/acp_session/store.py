"""Stores for the sessions of an agent: in memory, in files, or the author's own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from acp_bindings import UNSET, to_builtins, v2

from .arguments import omit_none
from .log import LOG

if sys.platform != "win32":
    import fcntl

T = TypeVar("T")

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SUFFIX: Final = ".jsonl"
_UNFINISHED: Final = (".acp_session_", ".tmp")
"""The beginning and the end of the name of a file that is being written."""
MAX_SAVE: Final = 24 * 60 * 60
"""The seconds after which nobody writes such a file any more."""
_DAMAGED: Final = (ValueError, TypeError, LookupError, OverflowError, RecursionError)
"""The errors of reading lines that this package has not written."""


@dataclass(slots=True)
class StoredSession:
    """A session as a store keeps it.

    `data` belongs to the author; `history` has the user's messages and the agent's updates; `calls` counts the tool calls, so that their
    ids stay unique. `user` is the owner. `revision` belongs to the store.
    """

    id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    updated_at: str | None = None
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    config_options: list[v2.SessionConfigOption] = field(default_factory=list[v2.SessionConfigOption])
    commands: list[v2.AvailableCommand] = field(default_factory=list[v2.AvailableCommand])
    calls: int = 0
    user: str | None = None
    history: list[v2.SessionUpdate] = field(default_factory=list[v2.SessionUpdate])
    revision: object = field(default=None, compare=False, repr=False)

    def info(self) -> v2.SessionInfo:
        """The entry of the session in `session/list`."""
        return v2.SessionInfo(
            session_id=self.id,
            cwd=self.cwd,
            additional_directories=list(self.additional_directories),
            **omit_none(title=self.title, updated_at=self.updated_at),
        )

    def copy(self) -> StoredSession:
        """A copy that shares no mutable data."""
        return replace(
            self,
            data=deepcopy(self.data),
            config_options=list(self.config_options),
            commands=list(self.commands),
            history=list(self.history),
            revision=None,
        )

    def to_lines(self) -> Iterator[str]:
        """The session as lines of JSON: first all but its history, then each update. Raises `ValueError` if `data` is not JSON."""
        fields = {
            "info": to_builtins(self.info()),
            "data": self.data,
            "configOptions": to_builtins(self.config_options),
            "commands": to_builtins(self.commands),
            "calls": self.calls,
            "user": self.user,
        }
        try:
            # Unlike `json`, it refuses keys that are no text: they would be others when they are loaded.
            to_builtins(self.data)
            yield json.dumps(fields, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"the session {self.id} cannot be stored: its data must be JSON: {error}") from error
        yield from (json.dumps(to_builtins(update)) for update in self.history)

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> StoredSession:
        """The session that these lines describe; the first alone gives one without its history. Raises `ValueError`."""
        try:
            first, *rest = lines
            fields: Any = json.loads(first)
            info = v2.decode_as(v2.SessionInfo, fields["info"])
            roots = info.additional_directories
            return cls(
                id=info.session_id,
                cwd=info.cwd,
                additional_directories=() if roots is UNSET else tuple(roots),
                title=info.title,
                updated_at=info.updated_at,
                data=dict(fields["data"]),
                config_options=[v2.decode_as(v2.SessionConfigOption, option) for option in fields["configOptions"]],
                commands=[v2.decode_as(v2.AvailableCommand, command) for command in fields["commands"]],
                calls=int(fields["calls"]),
                user=fields["user"],
                history=[v2.decode_as(v2.SessionUpdate, json.loads(line)) for line in rest],
            )
        except _DAMAGED as error:
            raise ValueError(f"the stored session cannot be read: {error}") from error


class Store(Protocol):
    """Stores sessions. An error that it raises fails the request, or is logged if there is no request."""

    async def save(self, session: StoredSession) -> None:
        """Save a session, replacing the version stored before. The object belongs to the caller: store a copy."""
        ...

    async def load(self, session_id: str) -> StoredSession | None:
        """The session with this id, which is the client's unchecked input; `None` if there is none."""
        ...

    async def list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        """All sessions of a user, in any order; with `None`, those without a user."""
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a session. A missing one is no error."""
        ...


class MemoryStore:
    """Stores sessions in memory until the program ends."""

    def __init__(self) -> None:
        self._sessions: dict[str, StoredSession] = {}

    async def save(self, session: StoredSession) -> None:
        """See `Store`."""
        self._sessions[session.id] = session.copy()

    async def load(self, session_id: str) -> StoredSession | None:
        """See `Store`."""
        session = self._sessions.get(session_id)
        return None if session is None else session.copy()

    async def list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        """See `Store`."""
        return [session.info() for session in self._sessions.values() if session.user == user]

    async def delete(self, session_id: str) -> None:
        """See `Store`."""
        self._sessions.pop(session_id, None)


class FileStore:
    """Stores each session in a file of a folder, which is created if missing, accessible to its owner only.

    The first line of a file is the session without its history, each further line an update. Saves are atomic. `session.data` must be
    JSON. A file that cannot be read is logged and left alone. A thread reads and writes, in the order of the calls.

    Several processes may share a folder. If another process has saved or deleted a session since it was loaded or saved here, `save`
    does not overwrite it but raises `RuntimeError`, until the session is loaded again. On Windows, and on file systems without locks,
    two saves of one session at the same instant are not detected. What a process that was killed while saving has left is deleted by
    the first save of a store that is opened a day later.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder: Path = Path(folder).expanduser()
        self._thread = ThreadPoolExecutor(1, "acp_session_store")
        self._has_saved = False

    async def save(self, session: StoredSession) -> None:
        """See `Store`. Raises `ValueError` if `data` is not JSON, `RuntimeError`, and `OSError`."""
        path, lines = self._find_path(session.id), replace(session, history=list(session.history)).to_lines()
        first = next(lines)  # not in the thread: `data` is the author's
        await self._run(self._save, session, path, chain([first], lines))

    async def load(self, session_id: str) -> StoredSession | None:
        """See `Store`. Raises `ValueError` for a file that cannot be read."""
        return None if _ID.fullmatch(session_id) is None else await self._run(self._load, self._find_path(session_id))

    async def list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        """See `Store`."""
        return await self._run(self._list, user)

    async def delete(self, session_id: str) -> None:
        """See `Store`."""
        if _ID.fullmatch(session_id) is not None:
            await self._run(self._find_path(session_id).unlink, True)

    async def _run(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _save(self, session: StoredSession, path: Path, lines: Iterable[str]) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._has_saved:
            self._has_saved = True
            _delete_unfinished(self.folder)
        descriptor, name = tempfile.mkstemp(prefix=_UNFINISHED[0], suffix=_UNFINISHED[1], dir=self.folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
                revision = _make_revision(os.fstat(file.fileno()))
            with _lock(self.folder):
                current_revision = _make_revision(path.stat()) if path.exists() else None
                if session.revision is not None and session.revision != current_revision:
                    raise RuntimeError(f"{path}: another process has changed the session: load it again")
                os.replace(name, path)
            session.revision = revision
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _load(self, path: Path) -> StoredSession | None:
        try:
            with path.open(encoding="utf-8", newline="\n") as file:
                revision = _make_revision(os.fstat(file.fileno()))
                session = StoredSession.from_lines(file.read().removesuffix("\n").split("\n"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        session.revision = revision
        return session

    def _list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        infos: list[v2.SessionInfo] = []
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            try:
                with path.open(encoding="utf-8") as file:
                    session = StoredSession.from_lines([file.readline()])
            except FileNotFoundError:
                continue  # deleted meanwhile
            except (OSError, ValueError) as error:
                LOG.error("%s is not listed: %s", path, error)
            else:
                infos += [session.info()] if session.user == user else []
        return infos

    def _find_path(self, session_id: str) -> Path:
        if _ID.fullmatch(session_id) is None:
            raise ValueError(f"a session with the id {session_id!r} cannot be a file: use letters, digits, '-' and '_'")
        return self.folder / f"{session_id}{_SUFFIX}"


def _delete_unfinished(folder: Path) -> None:
    """Delete the files that processes which were killed while saving have left."""
    for path in folder.glob("*".join(_UNFINISHED)):
        with suppress(OSError):  # another process deletes them too
            if path.stat().st_mtime < time.time() - MAX_SAVE:
                path.unlink()


def _make_revision(status: os.stat_result) -> tuple[int, int]:
    return status.st_ino, status.st_mtime_ns


@contextmanager
def _lock(folder: Path) -> Generator[None]:
    """Lock the folder against other processes, if locks are available."""
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
