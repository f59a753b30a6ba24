"""Where an agent keeps its sessions: in memory, in files that outlast the program, or in a store of its author's own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from acp_bindings import UNSET, DecodeError, to_builtins, v2

from .arguments import omit_none
from .log import LOG

if sys.platform != "win32":
    import fcntl

T = TypeVar("T")

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SUFFIX: Final = ".jsonl"


@dataclass(slots=True)
class StoredSession:
    """A session as a store keeps it. `data` is the author's; `history` is what was sent of the session, and what the user said; `calls`
    counts the tool calls, so that their ids stay unique. `user` is whose it is. `revision` is the store's own.
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
        """The session as `session/list` shows it."""
        return v2.SessionInfo(
            session_id=self.id,
            cwd=self.cwd,
            additional_directories=list(self.additional_directories),
            **omit_none(title=self.title, updated_at=self.updated_at),
        )

    def copy(self) -> StoredSession:
        """A copy that shares nothing that changes."""
        return replace(
            self,
            data=deepcopy(self.data),
            config_options=list(self.config_options),
            commands=list(self.commands),
            history=list(self.history),
            revision=None,
        )


class Store(Protocol):
    """Keeps sessions. An error that it raises fails the request, or is logged where no request waits."""

    async def save(self, session: StoredSession) -> None:
        """Keep a session in place of what was kept of it. The object belongs to the caller: keep a copy."""
        ...

    async def load(self, session_id: str) -> StoredSession | None:
        """A session; `None` where there is none of this id, which comes from the client as it is."""
        ...

    async def list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        """All sessions of a user, in any order; `None`: those of nobody."""
        ...

    async def delete(self, session_id: str) -> None:
        """Forget a session. One that is not there is no error."""
        ...


class MemoryStore:
    """Keeps sessions as long as the program runs."""

    def __init__(self) -> None:
        self._sessions: dict[str, StoredSession] = {}

    async def save(self, session: StoredSession) -> None:
        """See `Store`."""
        self._sessions[session.id] = session.copy()

    async def load(self, session_id: str) -> StoredSession | None:
        """See `Store`."""
        found = self._sessions.get(session_id)
        return None if found is None else found.copy()

    async def list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        """See `Store`."""
        return [session.info() for session in self._sessions.values() if session.user == user]

    async def delete(self, session_id: str) -> None:
        """See `Store`."""
        self._sessions.pop(session_id, None)


class FileStore:
    """Keeps each session in a file of a folder, which is made where it is missing and belongs to the user alone.

    The first line of a file has the session without its history, each further line an update. A file holds the session as it was before
    or after a save, and never a part of it. `session.data` must be JSON. A file that cannot be read is logged and left alone. A thread
    reads and writes, in the order of the calls.

    Several processes may share a folder. What another one has saved or deleted since a session was loaded or saved here is not
    overwritten: `save` raises `RuntimeError`, until the session is loaded again. On Windows, and on file systems without locks, two that
    save one session in the same instant are not kept apart.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder: Path = Path(folder).expanduser()
        self._thread = ThreadPoolExecutor(1, "acp_session_store")

    async def save(self, session: StoredSession) -> None:
        """See `Store`. Raises `ValueError` where `data` is not JSON, `RuntimeError`, and `OSError`."""
        await self._run(self._save, session, self._path(session.id), _header(session), tuple(session.history))

    async def load(self, session_id: str) -> StoredSession | None:
        """See `Store`. Raises `ValueError` for a file that cannot be read."""
        return None if _ID.fullmatch(session_id) is None else await self._run(self._load, self._path(session_id))

    async def list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        """See `Store`."""
        return await self._run(self._list, user)

    async def delete(self, session_id: str) -> None:
        """See `Store`."""
        if _ID.fullmatch(session_id) is not None:
            await self._run(self._path(session_id).unlink, True)

    async def _run(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _save(self, session: StoredSession, path: Path, header: str, history: Sequence[v2.SessionUpdate]) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=self.folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(f"{header}\n")
                file.writelines(f"{json.dumps(to_builtins(one))}\n" for one in history)
                file.flush()
                os.fsync(file.fileno())
                revision = _revision(os.fstat(file.fileno()))
            with _locked(self.folder):
                found = _revision(path.stat()) if path.exists() else None
                if session.revision is not None and session.revision != found:
                    raise RuntimeError(f"{path}: another process has changed the session: load it again")
                os.replace(name, path)
            session.revision = revision
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _load(self, path: Path) -> StoredSession | None:
        try:
            with path.open(encoding="utf-8", newline="\n") as file:
                revision = _revision(os.fstat(file.fileno()))
                first, *rest = file.read().removesuffix("\n").split("\n")
            session = _session(first)
            session.history = [v2.decode_as(v2.SessionUpdate, json.loads(line)) for line in rest]
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, DecodeError) as error:
            raise ValueError(f"{path}: the stored session cannot be read: {error}") from error
        session.revision = revision
        return session

    def _list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        found: list[v2.SessionInfo] = []
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            try:
                with path.open(encoding="utf-8") as file:
                    session = _session(file.readline())
            except FileNotFoundError:
                continue  # deleted meanwhile
            except (OSError, ValueError, TypeError, KeyError, DecodeError) as error:
                LOG.error("%s: the stored session cannot be read, and is not listed: %s", path, error)
            else:
                found += [session.info()] if session.user == user else []
        return found

    def _path(self, session_id: str) -> Path:
        if _ID.fullmatch(session_id) is None:
            raise ValueError(f"a session with the id {session_id!r} cannot be a file: use letters, digits, '-' and '_'")
        return self.folder / f"{session_id}{_SUFFIX}"


def _revision(found: os.stat_result) -> tuple[int, int]:
    return found.st_ino, found.st_mtime_ns


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Keep other processes out, where there are locks."""
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


def _header(session: StoredSession) -> str:
    fields = {
        "info": to_builtins(session.info()),
        "data": session.data,
        "configOptions": to_builtins(session.config_options),
        "commands": to_builtins(session.commands),
        "calls": session.calls,
        "user": session.user,
    }
    try:
        return json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the session {session.id} cannot be stored: its data must be JSON: {error}") from error


def _session(line: str) -> StoredSession:
    found: Any = json.loads(line)
    info = v2.decode_as(v2.SessionInfo, found["info"])
    roots = info.additional_directories
    return StoredSession(
        id=info.session_id,
        cwd=info.cwd,
        additional_directories=() if roots is UNSET else tuple(roots),
        title=info.title,
        updated_at=info.updated_at,
        data=dict(found["data"]),
        config_options=[v2.decode_as(v2.SessionConfigOption, one) for one in found["configOptions"]],
        commands=[v2.decode_as(v2.AvailableCommand, one) for one in found["commands"]],
        calls=int(found["calls"]),
        user=found["user"],
    )
