"""The file-system capability of a v1 client: `fs/read_text_file` and `fs/write_text_file`, held inside the session's roots.

    files = FileSystem(FilePolicy(extensions=frozenset({".py", ".md"})), roots=workspace)
    capabilities = v1.ClientCapabilities(fs=files.capabilities())      # advertises what is configured, and no more
    result = await files.read_text_file(request.params)                # or `files.answer(request)` for a whole message

`roots` is asked at each request which roots the session has (`ClientWorkspace`, a host); without it, `attach` says so. Files lie in a
`Store`: on the disk of this machine where nothing else is named. Nothing is opened for a session without roots, where the store cannot
keep an access inside them, or against the policy. Errors are `RequestError`: -32002 not found, -32001 refused by roots, policy, user or
operating system, -32602 malformed params, -32603 anything else; paths are in `data`, contents never are.

Sources: the file-system page; the RFD on `additionalDirectories`, "Client responsibilities".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from acp_bindings import ErrorResponse, Request, Response, v1

from .approval import Approve, FileWish, require_approval
from .disk import Disk
from .errors import INVALID_PARAMS, METHOD_NOT_FOUND, RequestError, failed, invalid_params, refused
from .hooks import UNEXPECTED, awaited
from .policy import DEFAULT_LIMIT, FilePolicy
from .scope import Scope, is_absolute
from .store import Access, Lines, Scoped, ScopedOf, Store, cut
from .workers import Workers

__all__ = ["DEFAULT_LIMIT", "Buffer", "Changed", "FileEvent", "FilePolicy", "FileSystem", "Notify", "Stage"]

Action: TypeAlias = Literal["read", "write"]
Phase: TypeAlias = Literal["started", "done", "failed"]


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
"""What is told of each file that was read or written."""
Stage: TypeAlias = "Callable[[str], Awaitable[object]]"
"""What a test is told of each step of a write, by its name."""
Buffer: TypeAlias = "Callable[[str], Awaitable[str | None] | str | None]"
"""The unsaved text of a file that is open in the editor, by its path; `None` where it has none."""
Changed: TypeAlias = "Callable[[str], Awaitable[object] | object]"
"""Told the path of a file that was written, for an editor to load it anew."""


class FileSystem:
    """Handlers for the two file methods, for any number of sessions and concurrent requests of one event loop.

    `notify` is told of every step of every request, refusals included, in the event loop; what it returns is awaited where it can be.
    `approve` is asked before each write; `None` lets them pass. `buffer` is asked for unsaved text before a file is read, and `changed`
    told after a write, each by the path of the request and, where links lead elsewhere, by the real path too.
    `stage` is awaited with the real path of every file written; `acp_workspace.versioning.GitStage()` is one. What these raise is an
    error of your program and is passed on unchanged. `workers` runs the work on the disk.
    """

    def __init__(
        self,
        policy: FilePolicy | None = None,
        *,
        roots: ScopedOf | None = None,
        store: Store | None = None,
        notify: Notify = lambda event: None,
        approve: Approve | None = None,
        buffer: Buffer | None = None,
        changed: Changed | None = None,
        stage: Stage | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.policy = policy or FilePolicy()
        self.store: Store = store or Disk(self.policy, workers)
        self._source = roots
        self._notify = notify
        self._approve = approve
        self._buffer = buffer
        self._changed = changed
        self._stage = stage
        self._sessions: dict[str, Scoped] = {}

    def capabilities(self) -> v1.FileSystemCapabilities:
        """What to advertise: the methods that the policy allows, where they are safe.

        >>> FileSystem(FilePolicy(write=False)).capabilities()
        FileSystemCapabilities(read_text_file=True, write_text_file=False)
        """
        safe = self.store.is_usable
        return v1.FileSystemCapabilities(
            read_text_file=self.policy.read and safe, write_text_file=self.policy.write and safe
        )

    async def attach(self, session_id: str, roots: Scoped, *, clean: bool = True) -> tuple[str, ...]:
        """Let a session use these roots and no others; call it when a lifecycle request has set them, and again when another one
        changes them. They are in force at once, also for requests that are under way.

        With `clean`, temporary files that a killed client left in the roots are then removed, and their paths returned. That looks
        into every folder of the roots once; requests are served meanwhile. Raises `OSError` where the folder for backups cannot be made,
        `TypeError` where `roots` says which roots a session has.
        """
        if self._source is not None:
            raise TypeError("the roots come from what 'roots' names; there is nothing to attach")
        self._sessions[session_id] = roots
        return await self.store.clean(roots) if clean else ()

    async def clean(self, session_id: str) -> tuple[str, ...]:
        """Remove the temporary files that a killed client left in the roots of a session; their paths. Raises as `attach` does."""
        return await self.store.clean(self._scoped(session_id))

    def detach(self, session_id: str) -> None:
        """Let a session use nothing any more. A request that is under way fails, unless it has changed its file already."""
        self._sessions.pop(session_id, None)

    def close(self) -> None:
        """Let no session use anything any more, and let the threads end."""
        self._sessions.clear()
        self._source = None
        self.store.close()

    async def read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        """Handle `fs/read_text_file`: the text of a file, or `limit` lines from `line` on (counted from 1).

        What the editor has not saved comes before what the store has. The text is decoded; a byte order mark is no part of it. Line
        ends are as in the file. A file that is larger than `max_read` is read as far as the lines that are asked for. Raises
        `RequestError`.
        """
        wanted = Lines(params.line, params.limit)

        async def work(access: Access) -> str:
            unsaved = await self._unsaved(access, params.path)
            if unsaved is not None:
                access.check()
                return cut(params.path, unsaved, wanted, self.policy)
            return await self.store.read(access, params.path, wanted)

        return v1.ReadTextFileResponse(content=await self._told(params.session_id, params.path, "read", work))

    async def write_text_file(self, params: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        """Handle `fs/write_text_file`: make the file hold the text, old content or new and never a mixture; missing folders are made.

        If the request is cancelled, the file is left alone or has been replaced when the cancellation arrives; nothing happens
        later. Raises `RequestError`.
        """

        async def work(access: Access) -> str:
            _require_writable_text(params.path, params.content, self.policy)
            approved: str | None = None
            if self._approve is not None:
                approved = await self.store.locate(access, params.path, writing=True)
                wish = FileWish(params.session_id, params.path, approved, params.content)
                await require_approval(self._approve, wish, params.path)
                access.check()
            return await self.store.write(access, params.path, params.content, approved=approved)

        real = await self._told(params.session_id, params.path, "write", work)
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
                    raise RequestError(METHOD_NOT_FOUND, "this is not a file system method")
        except RequestError as error:
            body = v1.Error(code=error.code, message=error.message, data=error.data)
            return ErrorResponse(request.id, body, request.method)
        return Response(request.id, result, request.method)

    def _roots(self, session_id: str, action: Action) -> Scoped:
        allowed = self.policy.read if action == "read" else self.policy.write
        if not allowed or not self.store.is_usable:
            method = f"fs/{action}_text_file"
            raise RequestError(METHOD_NOT_FOUND, f"{method} is not supported here", {"method": method})
        return self._scoped(session_id)

    def _scoped(self, session_id: str) -> Scoped:
        if self._source is not None:
            return self._source.roots(session_id)
        roots = self._sessions.get(session_id)
        if roots is None:
            raise invalid_params("no workspace roots are known for this session", pointer="/sessionId")
        return roots

    async def _unsaved(self, access: Access, path: str) -> str | None:
        if self._buffer is None:
            return None
        real = await self.store.locate(access, path, writing=False)
        for name in dict.fromkeys((path, real)):
            content = await awaited(self._buffer(name))
            if content is not None:
                return content
        return None

    async def _told(self, session_id: str, path: str, action: Action, work: Callable[[Access], Awaitable[str]]) -> str:
        """Do the work of a request, and tell of its beginning and its end."""
        done: list[str] = []

        async def tell(phase: Phase, reason: str = "") -> None:
            await awaited(self._notify(FileEvent(session_id, path, action, phase, reason)))

        async def tell_done() -> None:
            try:
                if self._changed is not None:
                    for name in dict.fromkeys((path, *done)) if done else ():
                        await awaited(self._changed(name))
            finally:
                await tell("done")

        await tell("started")
        try:
            roots = self._roots(session_id, action)
            _require_absolute(path, roots)
            found = await work(Access(roots, lambda: self._require_current(session_id, path, roots), done.append))
        except RequestError as error:
            await tell("failed", error.message)
            raise
        except asyncio.CancelledError:
            await (tell_done() if done else tell("failed", "the request was cancelled"))
            raise
        except Exception:
            await (tell_done() if done else tell("failed", UNEXPECTED))
            raise
        await tell_done()
        return found

    def _require_current(self, session_id: str, path: str, roots: Scoped) -> None:
        try:
            is_current = self._scoped(session_id) == roots
        except RequestError:
            is_current = False
        if not is_current:
            raise refused(path, "the workspace roots of the session have changed")


def _require_absolute(path: str, roots: Scoped) -> None:
    flavour = roots.flavour if isinstance(roots, Scope) else roots.scope.flavour
    if not is_absolute(path, flavour):
        raise RequestError(INVALID_PARAMS, "'path' must be an absolute path", {"path": path, "pointer": "/path"})


def _require_writable_text(path: str, content: str, policy: FilePolicy) -> None:
    try:
        size = len(content.encode())
    except UnicodeEncodeError:
        raise invalid_params("'content' is not Unicode text", pointer="/content", path=path) from None
    if "\0" in content:
        raise invalid_params("'content' is binary: it contains NUL characters", pointer="/content", path=path)
    if size > policy.max_write:
        raise failed(path, f"the content is larger than {policy.max_write} bytes")
