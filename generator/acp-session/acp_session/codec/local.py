"""Files and terminals that an agent of v1 asks its client for, and that v2 leaves to the agent: served on the machine of the adapter.

    async with as_v2(link, local=Local(grant=only_below_srv, approve=ask_the_user)) as agent: ...

Each session has the roots that the client of v2 named for it. A file is read or written, and a command started, in these alone. A terminal
is shown to the client as one of v2, with its output as it comes, and the client may stop it.

Sources: the pages of v1 on the file system and on terminals; the RFD on `additionalDirectories`; the migration page of v2.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from acp_bindings import v1

from acp_workspace.approval import Approve, Wish
from acp_workspace.errors import invalid_params
from acp_workspace.filesystem import Buffer, Changed, FileEvent, FilePolicy, FileSystem, Stage
from acp_workspace.hooks import awaited
from acp_workspace.scope import LifecycleRequest, requested
from acp_workspace.store import Store
from acp_workspace.terminals import TerminalEvent, TerminalPolicy, Terminals
from acp_workspace.workspace import Grant, RootSet
from jsonrpc_bindings.peers import unserved

Audit: TypeAlias = "Callable[[FileEvent | TerminalEvent], Awaitable[object] | object]"
"""Told of every step of every request for files and terminals, refusals included."""

_BIRTH: Final = 1.0
"""Seconds that a request of the agent waits for the id of its session to become known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """What an agent of v1 may use of the adapter's machine. `grant` says which directories that the client names may be roots; the other
    fields are those of `ClientHost`. `None` for `files` or `terminals` offers none of them.
    """

    grant: Grant = lambda path: None
    files: FilePolicy | None = FilePolicy()  # noqa: RUF009 - frozen
    terminals: TerminalPolicy | None = TerminalPolicy()  # noqa: RUF009 - frozen
    store: Store | None = None
    approve: Approve | None = None
    buffer: Buffer | None = None
    changed: Changed | None = None
    stage: Stage | None = None
    audit: Audit = lambda event: None


NOTHING: Final = Local(files=None, terminals=None)
"""Neither files nor terminals."""


class LocalServices:
    """`Services` on this machine, for the sessions whose roots it knows."""

    def __init__(self, local: Local) -> None:
        self._grant = local.grant
        self._approve = local.approve
        self._show: Callable[[str, str, str], object] = lambda session_id, terminal_id, text: None
        self._roots: dict[str, RootSet] = {}
        self._underway: dict[str, RootSet] = {}
        self._births: set[asyncio.Future[None]] = set()
        self._asking: dict[str, set[asyncio.Future[bool]]] = {}
        self.files: FileSystem | None = None
        self.terminals: Terminals | None = None
        hooks: dict[str, Any] = {
            "approve": None if local.approve is None else self._approved,
            "notify": local.audit,
        }
        if local.files is not None:
            hooks_of_files: dict[str, Any] = {"buffer": local.buffer, "changed": local.changed, "stage": local.stage}
            self.files = FileSystem(local.files, roots=self, store=local.store, **hooks, **hooks_of_files)
        if local.terminals is not None:
            self.terminals = Terminals(self, local.terminals, **hooks, show=lambda *output: self._show(*output))

    def capabilities(self) -> v1.ClientCapabilities:
        """What is configured and can be kept on this machine, and no more."""
        fs = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        return v1.ClientCapabilities(fs=fs, terminal=self.terminals is not None and self.terminals.is_offered)

    def connect(self, show: Callable[[str, str, str], object]) -> None:
        """See `Services`."""
        self._show = show

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force; while a session is taken up, those that the client asks for. Raises `RequestError` -32602."""
        found = self._underway.get(session_id) or self._roots.get(session_id)
        if found is None:
            raise invalid_params("no workspace roots are known for this session", pointer="/sessionId")
        return found

    # --- the life of a session

    @asynccontextmanager
    async def opening(
        self, params: LifecycleRequest, session_id: str | None = None
    ) -> AsyncGenerator[Callable[[str], None]]:
        """A session gets these roots, if what is done meanwhile succeeds and calls what it is given with the session's id.

        Raises `RequestError` for roots that cannot be bound or are not granted.
        """
        if self.files is None and self.terminals is None:
            yield lambda found_id: None
            return
        roots = RootSet.bind(requested(params), self._grant)
        is_kept = False

        def establish(found_id: str) -> None:
            nonlocal is_kept
            is_kept = True
            before = self._roots.get(found_id)
            self._roots[found_id] = roots
            if before is not None:
                before.close()

        birth: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._births.add(birth)
        if session_id is not None:
            self._underway[session_id] = roots
        try:
            yield establish
        finally:
            if session_id is not None and self._underway.get(session_id) is roots:
                del self._underway[session_id]
            if not is_kept:
                roots.close()
            self._births.discard(birth)
            birth.set_result(None)

    async def stop(self, session_id: str) -> None:
        """See `Services`."""
        for asking in tuple(self._asking.get(session_id, ())):
            asking.cancel()
        if self.terminals is not None:
            await self.terminals.stop(session_id)

    async def end(self, session_id: str) -> None:
        """Serve a session no more: its commands end, and its roots are closed."""
        roots = self._roots.pop(session_id, None)
        if roots is not None:
            roots.close()
        if self.terminals is not None:
            await self.terminals.end(session_id)

    async def close(self) -> None:
        """End everything."""
        if self.terminals is not None:
            await self.terminals.aclose()
        if self.files is not None:
            self.files.close()
        for roots in self._roots.values():
            roots.close()
        self._roots.clear()

    # --- the requests of the agent

    async def read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        """See `Services`."""
        return await (await self._files(params.session_id, "fs/read_text_file")).read_text_file(params)

    async def write_text_file(self, params: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        """See `Services`."""
        return await (await self._files(params.session_id, "fs/write_text_file")).write_text_file(params)

    async def create_terminal(self, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        """See `Services`."""
        return await (await self._terminals(params.session_id, "terminal/create")).create(params)

    async def terminal_output(self, params: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        """See `Services`."""
        return await (await self._terminals(params.session_id, "terminal/output")).output(params)

    async def wait_for_terminal_exit(self, params: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        """See `Services`."""
        return await (await self._terminals(params.session_id, "terminal/wait_for_exit")).wait_for_exit(params)

    async def kill_terminal(self, params: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        """See `Services`."""
        return await (await self._terminals(params.session_id, "terminal/kill")).kill(params)

    async def release_terminal(self, params: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        """See `Services`."""
        return await (await self._terminals(params.session_id, "terminal/release")).release(params)

    async def _files(self, session_id: str, method: str) -> FileSystem:
        if self.files is None:
            raise unserved(method)
        await self._known(session_id)
        return self.files

    async def _terminals(self, session_id: str, method: str) -> Terminals:
        if self.terminals is None:
            raise unserved(method)
        await self._known(session_id)
        return self.terminals

    async def _known(self, session_id: str) -> None:
        """Wait for a session that begins at this moment."""
        if session_id not in self._roots and session_id not in self._underway and self._births:
            await asyncio.wait(tuple(self._births), timeout=_BIRTH, return_when=asyncio.FIRST_COMPLETED)

    async def _approved(self, wish: Wish) -> bool:
        assert self._approve is not None
        asking = asyncio.ensure_future(awaited(self._approve(wish)))
        waiting = self._asking.setdefault(wish.session_id, set())
        waiting.add(asking)
        try:
            await asyncio.wait([asking])
        except asyncio.CancelledError:
            asking.cancel()
            raise
        finally:
            waiting.discard(asking)
        return not asking.cancelled() and asking.result() is True
