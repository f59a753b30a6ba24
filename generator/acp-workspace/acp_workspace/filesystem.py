"""The file-system capability of a v1 client: `fs/read_text_file` and `fs/write_text_file`, confined to the session's roots.

    files = FileSystem(workspace, FilePolicy(extensions=frozenset({".py", ".md"})))
    capabilities = v1.ClientCapabilities(fs=files.capabilities())      # advertises what is configured, and no more
    result = await files.read_text_file(request.params)                # or `files.read(session_id, path)`, without a request

Roots are looked up at each request, in a `ClientWorkspace` or a mapping by session. Files are in a `FileBackend`, by default on the disk
of this machine. Nothing is opened for a session without roots, if the backend cannot confine access to them, or against the policy.
Errors are `RequestError`: -32002 not found, -32001 refused by roots, policy, user or operating system, -32602 malformed params, -32603
anything else; paths are in `data`, contents never are.

Sources: the file-system page; the RFD on `additionalDirectories`, "Client responsibilities".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

from acp_bindings import v1

from .approval import Approve, FileApprovalRequest, require_approval
from .backend import Access, FileBackend, cut
from .disk import DiskBackend
from .errors import METHOD_NOT_FOUND, RequestError, make_failure, make_invalid_params, make_refusal
from .hooks import OnChange, OnEvent, ServiceEvent, Steps, await_result
from .policy import DEFAULT_LIMIT, FilePolicy
from .scope import Scope, is_absolute
from .workspace import Roots, RootsSource, get_session_roots

__all__ = ["DEFAULT_LIMIT", "Buffer", "FilePolicy", "FileSystem", "OnChange", "OnEvent", "ServiceEvent"]

Buffer: TypeAlias = "Callable[[str], Awaitable[str | None] | str | None]"
"""The unsaved text of a file that is open in the editor, by path; `None` if there is none."""


class FileSystem:
    """Reads and writes text files, for any number of sessions and concurrent requests of one event loop.

    `roots` provides the roots of each session; a mapping may change at any time, and pending requests then fail, unless they have
    changed their file already. `on_event` is called with every step of every request, refusals included. `approve` is asked before each
    write; `None` allows all. `buffer` is asked for unsaved text before a file is read, and `on_change` is called after a write, each
    with the path of the request and, if links lead elsewhere, with the real path too; `acp_workspace.versioning.GitStage()` is an
    `on_change`. Hooks may be async; their exceptions are errors of your program and propagate unchanged.
    """

    def __init__(
        self,
        roots: RootsSource | Mapping[str, Roots],
        policy: FilePolicy | None = None,
        *,
        backend: FileBackend | None = None,
        on_event: OnEvent = lambda event: None,
        approve: Approve | None = None,
        buffer: Buffer | None = None,
        on_change: OnChange | None = None,
    ) -> None:
        self.policy = policy or FilePolicy()
        self.backend: FileBackend = backend or DiskBackend(self.policy)
        self._source: RootsSource | Mapping[str, Roots] = roots
        self._on_event = on_event
        self._approve = approve
        self._buffer = buffer
        self._on_change = on_change

    def capabilities(self) -> v1.FileSystemCapabilities:
        """The capabilities to advertise: the methods that the policy allows, if the backend is usable.

        >>> FileSystem({}, FilePolicy(write=False)).capabilities()
        FileSystemCapabilities(read_text_file=True, write_text_file=False)
        """
        safe = self.backend.is_usable
        return v1.FileSystemCapabilities(
            read_text_file=self.policy.read and safe, write_text_file=self.policy.write and safe
        )

    async def clean(self, session_id: str) -> tuple[str, ...]:
        """Remove the temporary files that a killed client left in the roots of a session; return their paths.

        This visits every folder of the roots once; requests are served meanwhile. Raises `OSError` if the folder for backups cannot be
        created.
        """
        return await self.backend.clean(get_session_roots(self._source, session_id))

    def close(self) -> None:
        """Remove all roots and stop the threads."""
        self._source = {}
        self.backend.close()

    async def read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        """Handle `fs/read_text_file`. Raises `RequestError`."""
        content = await self.read(params.session_id, params.path, params.line, params.limit)
        return v1.ReadTextFileResponse(content=content)

    async def write_text_file(self, params: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        """Handle `fs/write_text_file`. Raises `RequestError`."""
        await self.write(params.session_id, params.path, params.content)
        return v1.WriteTextFileResponse()

    async def read(self, session_id: str, path: str, line: int | None = None, limit: int | None = None) -> str:
        """Read the text of a file, or `limit` lines from `line` on (counted from 1).

        Unsaved text of the editor takes precedence over the backend. The text is decoded, without a byte order mark; line ends are as in
        the file. A file larger than `max_read` is read only up to the requested lines. Raises `RequestError`.
        """
        async with Steps(self._on_event, session_id, path, "read") as steps:
            access = self._access(session_id, path, "read", steps)
            unsaved = await self._get_unsaved_text(access, path)
            if unsaved is None:
                return await self.backend.read(access, path, line, limit)
            access.check()
            return cut(path, unsaved, line, limit, self.policy)

    async def write(self, session_id: str, path: str, content: str) -> str:
        """Write the text of a file atomically, creating missing folders, and return its real path.

        If the call is cancelled, the file is either unchanged or already replaced when the cancellation arrives; nothing happens later.
        Raises `RequestError`.
        """
        async with Steps(self._on_event, session_id, path, "write", self._on_change) as steps:
            access = self._access(session_id, path, "write", steps)
            _require_writable_text(path, content, self.policy)
            approved: str | None = None
            if self._approve is not None:
                approved = await self.backend.locate(access, path, writing=True)
                await require_approval(self._approve, FileApprovalRequest(session_id, path, approved, content), path)
                access.check()
            return await self.backend.write(access, path, content, approved=approved)

    async def _get_unsaved_text(self, access: Access, path: str) -> str | None:
        if self._buffer is None:
            return None
        real = await self.backend.locate(access, path, writing=False)
        for name in dict.fromkeys((path, real)):
            content = await await_result(self._buffer(name))
            if content is not None:
                return content
        return None

    def _access(self, session_id: str, path: str, action: Literal["read", "write"], steps: Steps) -> Access:
        is_allowed = self.policy.read if action == "read" else self.policy.write
        if not is_allowed or not self.backend.is_usable:
            method = f"fs/{action}_text_file"
            raise RequestError(METHOD_NOT_FOUND, f"{method} is not supported here", {"method": method})
        roots = get_session_roots(self._source, session_id)
        _require_absolute(path, roots)
        return Access(roots, lambda: self._require_current(session_id, path, roots), steps.changed.append)

    def _require_current(self, session_id: str, path: str, roots: Roots) -> None:
        try:
            is_current = get_session_roots(self._source, session_id) == roots
        except RequestError:
            is_current = False
        if not is_current:
            raise make_refusal(path, "the workspace roots of the session have changed")


def _require_absolute(path: str, roots: Roots) -> None:
    flavour = roots.flavour if isinstance(roots, Scope) else roots.scope.flavour
    if not is_absolute(path, flavour):
        raise make_invalid_params("'path' must be an absolute path", "/path", path=path)
    if "\0" in path:
        raise make_invalid_params("'path' must not contain a NUL character", "/path", path=path)


def _require_writable_text(path: str, content: str, policy: FilePolicy) -> None:
    try:
        size = len(content.encode())
    except UnicodeEncodeError:
        raise make_invalid_params("'content' is not Unicode text", "/content", path=path) from None
    if "\0" in content:
        raise make_invalid_params("'content' is binary: it contains NUL characters", "/content", path=path)
    if size > policy.max_write:
        raise make_failure(path, f"the content is larger than {policy.max_write} bytes")
