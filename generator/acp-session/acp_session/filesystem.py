"""The file-system capability of a v1 client: `fs/read_text_file` and `fs/write_text_file`, held inside the session's roots.

    files = FileSystem(FilePolicy(extensions=frozenset({".py", ".md"})))
    capabilities = v1.ClientCapabilities(fs=files.capabilities())      # advertises what is configured, and no more
    await files.attach(session_id, roots)                              # a `RootSet` of `acp_session.workspace`
    result = await files.read_text_file(request.params)                # or `files.answer(request)` for a whole message

Nothing is opened for a session without roots, on a platform that cannot keep an access inside them (`containment.guarantees`), or against
the policy. Errors are `RequestError`: -32002 not found, -32001 refused by roots, policy or operating system, -32602 malformed params,
-32603 anything else; paths are in `data`, contents never are.

Sources: the file-system page; the RFD on `additionalDirectories`, "Client responsibilities".
"""

from __future__ import annotations

import asyncio
import errno
import inspect
import os
import secrets
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias, TypeVar

from acp_bindings import ErrorResponse, Request, Response, v1

from . import text
from .atomic import Old, Target, abandon, overwrite, prepare, read_at_most, recover, replace
from .containment import Place, Refused, Root, bind, guarantees, open_folder, open_regular, reach
from .errors import INVALID_PARAMS, METHOD_NOT_FOUND, RequestError, failed, invalid_params, not_found, refused
from .policy import DEFAULT_LIMIT, FilePolicy
from .workers import Busy, Workers
from .workspace import RootSet

__all__ = ["DEFAULT_LIMIT", "FileEvent", "FilePolicy", "FileSystem", "Notify", "Stage"]

Action: TypeAlias = Literal["read", "write"]
Phase: TypeAlias = Literal["started", "done", "failed"]

T = TypeVar("T")

_TRIES: Final = 4


@dataclass(frozen=True, slots=True)
class FileEvent:
    """Something that happens to a file, for the user to see: it starts, is done, or failed. Contents are never part of it.

    `path` is what the agent sent, whatever characters it holds: escape it where you show it.
    """

    session_id: str
    path: str
    action: Action
    phase: Phase
    reason: str = ""


Notify: TypeAlias = "Callable[[FileEvent], Awaitable[object] | object]"
Stage: TypeAlias = "Callable[[str], Awaitable[object]]"


class FileSystem:
    """Handlers for the two file methods, for any number of sessions and concurrent requests of one event loop.

    `notify` is told of every step of every request, refusals included, in the event loop; what it returns is awaited where it can be.
    `stage` is awaited with the real path of every file written; `acp_session.versioning.GitStage()` is one. What these two raise is an
    error of your program and is passed on unchanged. `workers` runs the work; one of its own has four threads.
    """

    def __init__(
        self,
        policy: FilePolicy | None = None,
        *,
        notify: Notify = lambda event: None,
        stage: Stage | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.policy = policy or FilePolicy()
        self._workers = workers or Workers()
        self._notify = notify
        self._stage = stage
        self._sessions: dict[str, RootSet] = {}

    def capabilities(self) -> v1.FileSystemCapabilities:
        """What to advertise: the methods that the policy allows, on a platform where they are safe.

        >>> FileSystem(FilePolicy(write=False)).capabilities()
        FileSystemCapabilities(read_text_file=True, write_text_file=False, meta=None)
        """
        safe = guarantees().enforced
        return v1.FileSystemCapabilities(
            read_text_file=self.policy.read and safe, write_text_file=self.policy.write and safe
        )

    async def attach(self, session_id: str, roots: RootSet, *, clean: bool = True) -> tuple[str, ...]:
        """Let a session use these roots and no others; call it when a lifecycle request has set them, and again when another one
        changes them. They are in force at once, also for requests that are under way.

        With `clean`, temporary files that a killed client left in the roots are then removed, and their paths returned. That looks
        into every folder of the roots once; requests are served meanwhile. Raises `OSError` where the folder for backups cannot be made.
        """
        self._sessions[session_id] = roots
        removed: list[str] = []
        if clean:
            removed += await self._workers.run(lambda check: _recovered(roots.roots, check))
            if self.policy.backups is not None:
                backups = self.policy.backups
                removed += await self._workers.run(lambda check: _recovered_backups(backups, check))
        return tuple(dict.fromkeys(removed))

    def detach(self, session_id: str) -> None:
        """Let a session use nothing any more. A request that is under way fails, unless it has changed its file already."""
        self._sessions.pop(session_id, None)

    def close(self) -> None:
        """Let no session use anything any more, and let the threads end."""
        self._sessions.clear()
        self._workers.close()

    async def read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        """Handle `fs/read_text_file`: the text of a file, or `limit` lines from `line` on (counted from 1).

        The text is decoded; a byte order mark is no part of it. Line ends are as in the file. A file that is larger than `max_read` is
        read as far as the lines that are asked for. Raises `RequestError`.
        """

        def work(roots: RootSet, check: Callable[[], None]) -> str:
            return _read(roots, params, self.policy, check)

        content = await self._told(params.session_id, params.path, "read", work)
        return v1.ReadTextFileResponse(content=content)

    async def write_text_file(self, params: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        """Handle `fs/write_text_file`: make the file hold the text, old content or new and never a mixture; missing folders are made.

        If the request is cancelled, the file is left alone or has been replaced when the cancellation arrives; nothing happens
        later. Raises `RequestError`.
        """

        def work(roots: RootSet, check: Callable[[], None]) -> str:
            _require_writable_text(params.path, params.content, self.policy)
            return _write(roots, params.path, params.content, self.policy, check)

        real = await self._told(params.session_id, params.path, "write", work, weight=len(params.content))
        if self._stage is not None:
            await self._stage(real)
        return v1.WriteTextFileResponse()

    async def answer(self, request: Request[Any]) -> Response[Any] | ErrorResponse[v1.Error]:
        """Answer a decoded request of the two methods as a message; any other method is -32601."""
        try:
            match request.params:
                case v1.ReadTextFileRequest() as params:
                    result: Any = await self.read_text_file(params)
                case v1.WriteTextFileRequest() as params:
                    result = await self.write_text_file(params)
                case _:
                    raise RequestError(METHOD_NOT_FOUND, "this is no method of the file system")
        except RequestError as error:
            body = v1.Error(code=error.code, message=error.message, data=error.data)
            return ErrorResponse(request.id, body, request.method)
        return Response(request.id, result, request.method)

    def _roots(self, session_id: str, action: Action) -> RootSet:
        allowed = self.policy.read if action == "read" else self.policy.write
        if not allowed or not guarantees().enforced:
            method = f"fs/{action}_text_file"
            raise RequestError(METHOD_NOT_FOUND, f"{method} is not supported here", {"method": method})
        roots = self._sessions.get(session_id)
        if roots is None:
            raise invalid_params("no workspace roots are known for this session", pointer="/sessionId")
        return roots

    async def _told(
        self,
        session_id: str,
        path: str,
        action: Action,
        work: Callable[[RootSet, Callable[[], None]], T],
        *,
        weight: int = 0,
    ) -> T:
        """Do the work of a request, and tell of its beginning and its end."""
        finished: list[T] = []

        async def tell(phase: Phase, reason: str = "") -> None:
            found = self._notify(FileEvent(session_id, path, action, phase, reason))
            if inspect.isawaitable(found):
                await found

        await tell("started")
        try:
            await self._done(session_id, path, action, work, weight, finished)
        except RequestError as error:
            await tell("failed", error.message)
            raise
        except asyncio.CancelledError:
            await (tell("done") if finished else tell("failed", "the request was cancelled"))
            raise
        await tell("done")
        return finished[0]

    async def _done(
        self,
        session_id: str,
        path: str,
        action: Action,
        work: Callable[[RootSet, Callable[[], None]], T],
        weight: int,
        finished: list[T],
    ) -> None:
        roots = self._roots(session_id, action)
        _require_absolute(path)

        def run(check: Callable[[], None]) -> None:
            def check_roots_too() -> None:
                check()
                if self._sessions.get(session_id) != roots:
                    raise refused(path, "the session has other workspace roots by now")

            check_roots_too()  # it may have waited for a thread
            finished.append(_mapped(path, lambda: work(roots, check_roots_too)))

        try:
            await self._workers.run(run, weight=weight)
        except Busy:
            raise failed(path, "too many requests for files are under way; try again later") from None


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(roots: RootSet, params: v1.ReadTextFileRequest, policy: FilePolicy, check: Callable[[], None]) -> str:
    path = params.path

    def opened(place: Place) -> int:
        _require_allowed(place, policy, writing=False)
        return open_regular(place.root, place.parts, os.O_RDONLY)

    file = reach(roots.roots, path, opened)
    try:
        status = os.fstat(file)
        if status.st_nlink > 1 and policy.hard_links == "refuse":
            raise Refused(path, "the file has further names, which may lie outside the workspace roots")
        # It may grow while it is read.
        raw = read_at_most(file, policy.max_read + 1) if status.st_size <= policy.max_read else None
        check()
        if raw is not None and len(raw) <= policy.max_read:
            return text.lines(text.decoded(raw, policy.fallback_encoding), params.line, params.limit)
        if params.line is None and params.limit is None:
            raise failed(
                path, f"the file is larger than {policy.max_read} bytes; ask for lines with 'line' and 'limit'"
            )
        return _lines(file, params, policy, check)
    except text.NotText as error:
        raise failed(path, f"the file cannot be read as text: {error}") from None
    finally:
        os.close(file)


def _lines(file: int, params: v1.ReadTextFileRequest, policy: FilePolicy, check: Callable[[], None]) -> str:
    """The lines asked for, of a file that is too large to be read as a whole."""

    def chunks() -> Iterator[bytes]:
        os.lseek(file, 0, os.SEEK_SET)
        left = policy.max_look
        while chunk := os.read(file, min(left, 1 << 18)):
            check()
            left -= len(chunk)
            yield chunk
            if not left:
                raise failed(params.path, f"the lines lie beyond the first {policy.max_look} bytes of the file")

    try:
        return text.lines_of(chunks, params.line, params.limit, policy.max_read, policy.fallback_encoding)
    except text.TooLong:
        raise failed(params.path, f"the lines are larger than {policy.max_read} bytes; ask for fewer") from None


# --- writing ---------------------------------------------------------------------------------------------------------


def _require_writable_text(path: str, content: str, policy: FilePolicy) -> None:
    try:
        size = len(content.encode())
    except UnicodeEncodeError:
        raise invalid_params("'content' is not Unicode text", pointer="/content", path=path) from None
    if "\0" in content:
        raise invalid_params("'content' is binary: it holds NUL characters", pointer="/content", path=path)
    if size > policy.max_write:
        raise failed(path, f"the content is larger than {policy.max_write} bytes")


def _write(roots: RootSet, path: str, content: str, policy: FilePolicy, check: Callable[[], None]) -> str:
    """Write a file and return its real path."""

    def prepared(place: Place) -> tuple[Place, Target]:
        _require_allowed(place, policy, writing=True)
        return place, prepare(place.root, place.parts)

    for tries_left in range(_TRIES, 0, -1):
        place, target = reach(roots.roots, path, prepared)
        try:
            new = _composed(path, target, content, policy)
        except BaseException:
            abandon(target)
            raise
        try:
            if policy.in_place == "when-needed" and target.is_fixed:
                overwrite(target, new, durable=policy.durable, check=check)
            else:
                replace(target, new, durable=policy.durable, check=check)
        except FileNotFoundError:
            if tries_left == 1:
                raise
            continue  # the directory went away under our hands: look again
        return place.real
    raise AssertionError("the last try returns or raises")


def _composed(path: str, target: Target, content: str, policy: FilePolicy) -> bytes:
    """The bytes to write, after the old ones were saved."""
    old = target.old
    if old is None:
        return content.encode()
    if policy.backups is not None:
        _back_up(path, target.name, old, policy)
    if not policy.keep_form or (old.has_other_names and policy.hard_links == "refuse"):
        return content.encode()
    raw = old.read(max(policy.max_read, policy.max_write))
    is_whole = len(raw) >= old.status.st_size
    new = text.encoded(content, text.form_of(raw, policy.fallback_encoding, is_whole=is_whole))
    if len(new) > policy.max_write:
        raise failed(path, f"the content is larger than {policy.max_write} bytes")
    return new


def _back_up(path: str, name: str, old: Old, policy: FilePolicy) -> None:
    assert policy.backups is not None
    if not old.is_readable:
        raise failed(path, "the old file may not be read, so it cannot be backed up")
    if old.has_other_names and policy.hard_links == "refuse":
        raise Refused(
            path, "the old file has further names, which may lie outside the workspace roots; it is not copied"
        )
    most = max(policy.max_read, policy.max_write)
    raw = old.read(most + 1)
    if len(raw) > most:
        raise failed(path, f"the old file is larger than {most} bytes, so it cannot be backed up")
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


def _recovered(roots: Iterable[Root], check: Callable[[], None]) -> list[str]:
    return [f"{root.path.rstrip('/')}/{path}" for root in roots for path in recover(root, check)]


def _recovered_backups(path: str, check: Callable[[], None]) -> list[str]:
    with _backup_root(path) as root:
        return _recovered((root,), check)


# --- both ------------------------------------------------------------------------------------------------------------


def _require_absolute(path: str) -> None:
    if not path.startswith("/"):
        raise RequestError(INVALID_PARAMS, "'path' must be an absolute path", {"path": path, "pointer": "/path"})


def _require_allowed(place: Place, policy: FilePolicy, *, writing: bool) -> None:
    if place.path.endswith(("/", "/.")):
        # What the path says is a directory. Where it is a file, there is no such directory.
        with suppress(FileNotFoundError):
            os.close(open_folder(place.root, place.parts))
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place.path)
    objection = policy.objection(place, writing=writing)
    if objection is not None:
        raise Refused(place.path, objection)


def _mapped(path: str, work: Callable[[], T]) -> T:
    """Run `work`; what the system or a check refuses becomes the error that answers the request."""
    try:
        return work()
    except Refused as error:
        raise refused(path, error.reason) from None
    except OSError as error:
        raise _answered(path, error) from None


def _answered(path: str, error: OSError) -> RequestError:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return not_found(path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return refused(path, "the operating system does not permit it")
        case errno.ELOOP | errno.EXDEV:
            return refused(path, "it leads through a link or a mount point that cannot be followed")
        case errno.EISDIR:
            return failed(path, "it is a directory")
        case errno.EINVAL:
            return failed(path, "it is not a regular file")
        case errno.ENOSPC | errno.EDQUOT:
            return failed(path, "there is no space left; the file is unchanged")
        case errno.EFBIG:
            return failed(path, "the file would be larger than the system allows; it is unchanged")
        case number:
            return failed(path, f"the operating system reports: {os.strerror(number or errno.EIO).lower()}")
