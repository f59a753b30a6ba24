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
import os
import secrets
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias, TypeVar

from acp_bindings import ErrorResponse, Request, Response, v1

from . import text
from .atomic import TEMPORARY, Old, Target, abandon, prepare, read_at_most, recover, replace
from .containment import Place, Refused, Root, bind, guarantees, open_regular, reach
from .errors import INVALID_PARAMS, METHOD_NOT_FOUND, RequestError, failed, invalid_params, not_found, refused
from .sensitive import SECRETS, VERSION_CONTROL, folded, is_denied
from .workspace import RootSet

T = TypeVar("T")

DEFAULT_LIMIT: Final = 10 * 1024 * 1024
"""10 MiB, the limit of the file-system page."""

_TRIES: Final = 4


@dataclass(frozen=True, slots=True)
class FilePolicy:
    """What a client lets an agent do with files inside the roots. Sizes are in bytes.

    `read`, `write`: which of the two methods there are. `max_read`, `max_write`: the size of a file that is read, and of one that is
    written. `extensions`: if given, only names that end in one of them (with the dot, in any case; `""` admits names without one).
    `denied`, `denied_for_writing`: wildcards for single names, of files and folders anywhere below a root, that are off limits.
    `hard_links`: whether a file that has further names, which may lie outside, is read. `fallback_encoding`: how to read what is not
    UTF-8 and has no byte order mark; `None` refuses it. `keep_form`: whether a write keeps the encoding, mark and line ends of the
    file it replaces. `backups`: a folder, best outside the roots, that gets the old content before each write
    (`<name>.<time>.<random>.bak`, readable by its owner only); an old file larger than both limits is not replaced then. `durable`:
    whether a write is on the disk before it is answered.

    Raises `ValueError` for a setting that would protect nothing, `LookupError` for an encoding that does not exist.
    """

    read: bool = True
    write: bool = True
    max_read: int = DEFAULT_LIMIT
    max_write: int = DEFAULT_LIMIT
    extensions: frozenset[str] | None = None
    denied: tuple[str, ...] = SECRETS
    denied_for_writing: tuple[str, ...] = VERSION_CONTROL
    hard_links: Literal["refuse", "read"] = "refuse"
    fallback_encoding: str | None = None
    keep_form: bool = True
    backups: str | None = None
    durable: bool = True

    def __post_init__(self) -> None:
        if self.max_read < 0 or self.max_write < 0:
            raise ValueError("a limit is a number of bytes, 0 or more")
        if self.hard_links not in ("refuse", "read"):
            raise ValueError("'hard_links' is 'refuse' or 'read'")
        for patterns in (self.denied, self.denied_for_writing):
            if isinstance(patterns, str):
                raise ValueError(f"wildcards are a tuple: ({patterns!r},)")
            for pattern in patterns:
                if not pattern or "/" in pattern:
                    raise ValueError(f"the wildcard {pattern!r} matches no name: names hold no '/'")
        for extension in self.extensions or ():
            if extension and not extension.startswith("."):
                raise ValueError(f"the extension {extension!r} must begin with a dot")
        if self.fallback_encoding is not None:
            "".encode(self.fallback_encoding)  # raises LookupError for an unknown name
        if self.backups is not None and not os.path.isabs(self.backups):  # noqa: PTH117
            raise ValueError("the folder for backups must be an absolute path")

    def objection(self, place: Place, *, writing: bool) -> str | None:
        """Why a place is off limits, as the end of a sentence, or `None`.

        >>> root = Root("/srv", "/srv", (0, 0))
        >>> FilePolicy().objection(Place(root, (".env",), "/srv/.env"), writing=False)
        'the name is one that secrets have'
        >>> FilePolicy(extensions=frozenset({".md"})).objection(Place(root, ("a.exe",), "/srv/a.exe"), writing=False)
        "files of the type '.exe' are not allowed"
        """
        asked = _asked(place)
        names = (*place.parts, *asked)
        if is_denied(names, self.denied):
            return "the name is one that secrets have"
        if any(TEMPORARY.fullmatch(name) for name in names):
            return "the name belongs to a file that is being written"
        if writing and is_denied(names, self.denied_for_writing):
            return "version control keeps its own data there"
        if self.extensions is not None:
            for name in (*place.parts[-1:], *asked[-1:]):
                if not _ends_in(folded(name), self.extensions):
                    extension = os.path.splitext(folded(name))[1][:80]  # noqa: PTH122
                    return (
                        f"files of the type {extension!r} are not allowed"
                        if extension
                        else "files without a type are not allowed"
                    )
        return None


def _asked(place: Place) -> tuple[str, ...]:
    """The names of the path as it was asked for, without those that it shares with its root: a link may have the telling name."""
    names = _names(place.path)
    shared = (_shared(names, _names(declared)) for declared in (place.root.path, place.root.real))
    return names[max(shared) :] or names[-1:]


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name not in ("", "."))


def _shared(names: tuple[str, ...], others: tuple[str, ...]) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(names, others, strict=False)) if a != b), min(len(names), len(others))
    )


def _ends_in(name: str, extensions: Iterable[str]) -> bool:
    has_none = not os.path.splitext(name)[1]  # noqa: PTH122
    return any(
        name.endswith(end) and len(name) > len(end) if end else has_none
        for end in (extension.casefold() for extension in extensions)
    )


@dataclass(frozen=True, slots=True)
class FileEvent:
    """Something that happens to a file, for the user to see: it starts, is done, or failed. Contents are never part of it.

    `path` is what the agent sent, whatever characters it holds: escape it where you show it.
    """

    session_id: str
    path: str
    action: Literal["read", "write"]
    phase: Literal["started", "done", "failed"]
    reason: str = ""


Notify: TypeAlias = "Callable[[FileEvent], object]"
Stage: TypeAlias = "Callable[[str], Awaitable[object]]"


class FileSystem:
    """Handlers for the two file methods, for any number of sessions and concurrent requests of one event loop.

    `notify` is told of every step of every request, in the event loop. `stage` is awaited with the real path of every file written;
    `acp_session.versioning.GitStage()` is one. What these two raise is an error of your program and is passed on unchanged.
    """

    def __init__(
        self,
        policy: FilePolicy | None = None,
        *,
        notify: Notify = lambda event: None,
        stage: Stage | None = None,
    ) -> None:
        self.policy = policy or FilePolicy()
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
            backups = (
                [] if self.policy.backups is None else [await asyncio.to_thread(_backup_root, self.policy.backups)]
            )
            for root in (*roots.roots, *backups):
                removed.extend(f"{root.path.rstrip('/')}/{path}" for path in await asyncio.to_thread(recover, root))
        return tuple(dict.fromkeys(removed))

    def detach(self, session_id: str) -> None:
        """Let a session use nothing any more. A request that is under way fails, unless it has changed its file already."""
        self._sessions.pop(session_id, None)

    async def read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        """Handle `fs/read_text_file`: the text of a file, or `limit` lines from `line` on (counted from 1).

        The text is decoded; a byte order mark is no part of it. Line ends are as in the file. Raises `RequestError`.
        """
        roots = self._roots(params.session_id, "fs/read_text_file", allowed=self.policy.read)
        path = _absolute(params.path)

        def work(check: Callable[[], None]) -> str:
            whole = _read(roots, path, self.policy, check)
            return text.lines(whole, params.line, params.limit)

        content = await self._told(params.session_id, roots, path, "read", work)
        return v1.ReadTextFileResponse(content=content)

    async def write_text_file(self, params: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        """Handle `fs/write_text_file`: make the file hold the text, old content or new and never a mixture; missing folders are made.

        If the request is cancelled, the file is left alone or has been replaced when the cancellation arrives; nothing happens
        later. Raises `RequestError`.
        """
        roots = self._roots(params.session_id, "fs/write_text_file", allowed=self.policy.write)
        path = _absolute(params.path)
        _require_writable_text(path, params.content, self.policy)
        real = await self._told(
            params.session_id,
            roots,
            path,
            "write",
            lambda check: _write(roots, path, params.content, self.policy, check),
        )
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

    def _roots(self, session_id: str, method: str, *, allowed: bool) -> RootSet:
        if not allowed or not guarantees().enforced:
            raise RequestError(METHOD_NOT_FOUND, f"{method} is not supported here", {"method": method})
        roots = self._sessions.get(session_id)
        if roots is None:
            raise invalid_params("no workspace roots are known for this session", pointer="/sessionId")
        return roots

    async def _told(
        self,
        session_id: str,
        roots: RootSet,
        path: str,
        action: Literal["read", "write"],
        work: Callable[[Callable[[], None]], T],
    ) -> T:
        finished: list[T] = []

        def run(check: Callable[[], None]) -> None:
            def check_roots_too() -> None:
                check()
                if self._sessions.get(session_id) != roots:
                    raise refused(path, "the session has other workspace roots by now")

            check_roots_too()  # it may have waited for a thread
            finished.append(_mapped(path, lambda: work(check_roots_too)))

        self._notify(FileEvent(session_id, path, action, "started"))
        try:
            await _in_thread(run)
        except RequestError as error:
            self._notify(FileEvent(session_id, path, action, "failed", error.message))
            raise
        except asyncio.CancelledError:
            stopped = FileEvent(session_id, path, action, "failed", "the request was cancelled")
            self._notify(FileEvent(session_id, path, action, "done") if finished else stopped)
            raise
        self._notify(FileEvent(session_id, path, action, "done"))
        return finished[0]


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(roots: RootSet, path: str, policy: FilePolicy, check: Callable[[], None]) -> str:
    def opened(place: Place) -> int:
        _require_allowed(place, policy, writing=False)
        return open_regular(place.root, place.parts, os.O_RDONLY)

    file = reach(roots.roots, path, opened)
    try:
        status = os.fstat(file)
        if status.st_nlink > 1 and policy.hard_links == "refuse":
            raise Refused(path, "the file has further names, which may lie outside the workspace roots")
        if status.st_size > policy.max_read:
            raise failed(path, f"the file is larger than {policy.max_read} bytes")
        raw = read_at_most(file, policy.max_read + 1)  # it may grow while it is read
    finally:
        os.close(file)
    check()
    if len(raw) > policy.max_read:
        raise failed(path, f"the file is larger than {policy.max_read} bytes")
    try:
        return text.decoded(raw, policy.fallback_encoding)
    except text.NotText as error:
        raise failed(path, f"the file cannot be read as text: {error}") from None


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
    replace(prepare(_backup_root(policy.backups), parts), raw, durable=policy.durable, mode=0o600)


def _backup_root(path: str) -> Root:
    os.makedirs(path, mode=0o700, exist_ok=True)  # noqa: PTH103
    return bind(path)


# --- both ------------------------------------------------------------------------------------------------------------


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise RequestError(INVALID_PARAMS, "'path' must be an absolute path", {"path": path, "pointer": "/path"})
    return path


def _require_allowed(place: Place, policy: FilePolicy, *, writing: bool) -> None:
    if place.path.endswith(("/", "/.")):
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


class _Stopped(Exception):
    """The request was cancelled before anything was changed."""


async def _in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Run `work` in a thread. A cancellation is told to it by the function it is given, and waits until it has ended."""
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise _Stopped

    task = asyncio.ensure_future(asyncio.to_thread(work, check))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, so that nobody complains
        raise
