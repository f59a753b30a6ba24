"""Files and terminals that an agent of v1 asks its client for, and that v2 leaves to the agent: served on the machine of the adapter.

    async with as_v2(link, local=Local(root_policy=only_below_srv, approve=ask_the_user)) as agent: ...

Each session has the roots that the client of v2 named for it. A file is read or written, and a command started, in these alone. A terminal
is shown to the client as one of v2, with its output as it comes, and the client may stop it.

Sources: the pages of v1 on the file system and on terminals; the RFD on `additionalDirectories`; the migration page of v2.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from acp_bindings import v1

from acp_session.client_host import Audit
from acp_workspace.approval import Approve
from acp_workspace.backend import FileBackend
from acp_workspace.errors import RequestError, invalid_params
from acp_workspace.filesystem import Buffer, FilePolicy, FileSystem, OnChange
from acp_workspace.scope import LifecycleRequest, request_scope
from acp_workspace.terminals import TerminalPolicy, Terminals
from acp_workspace.workspace import RootPolicy, RootSet

from .displays import Display
from .forwarding import Background
from .parts import Json

_BIRTH: Final = 1.0
"""Seconds that a request of the agent waits for the id of its session to become known here."""

Tell: TypeAlias = "Callable[[str, Json], Awaitable[None]]"
"""Sends an update of v2 for a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """What an agent of v1 may use of the adapter's machine. `root_policy` says which directories that the client names may be roots; the
    other fields are those of `ClientHost`. `None` for `files` or `terminals` offers none of them.
    """

    root_policy: RootPolicy = lambda path: None
    files: FilePolicy | None = FilePolicy()  # noqa: RUF009 - frozen
    terminals: TerminalPolicy | None = TerminalPolicy()  # noqa: RUF009 - frozen
    backend: FileBackend | None = None
    approve: Approve | None = None
    buffer: Buffer | None = None
    on_change: OnChange | None = None
    audit: Audit = lambda event: None


NOTHING: Final = Local(files=None, terminals=None)
"""Neither files nor terminals."""


def offered(local: Local) -> Json:
    """The client capabilities of v1 to advertise: what is configured and can be kept on this machine, and no more."""
    return Serving(local, None).offered


class Serving:
    """The files and terminals of one adapter, for the sessions whose roots it knows. `approve` takes the place of that in `local`."""

    def __init__(self, local: Local, tell: Tell | None, approve: Approve | None = None) -> None:
        self._policy = local.root_policy
        self._tell = tell
        self._background = Background()
        self._roots: dict[str, RootSet] = {}
        self._underway: dict[str, RootSet] = {}
        self._births: set[asyncio.Future[None]] = set()
        self._displays: dict[str, dict[str, Display]] = {}
        self._following: dict[str, tuple[asyncio.Task[Any], asyncio.Task[Any]]] = {}
        self.files: FileSystem | None = None
        self.terminals: Terminals | None = None
        hooks: dict[str, Any] = {"approve": approve, "on_event": local.audit}
        if local.files is not None:
            hooks_of_files: dict[str, Any] = {"buffer": local.buffer, "on_change": local.on_change}
            self.files = FileSystem(self, local.files, backend=local.backend, **hooks, **hooks_of_files)
        if local.terminals is not None:
            self.terminals = Terminals(self, local.terminals, **hooks, on_output=self._shown)

    @property
    def offered(self) -> Json:
        """The client capabilities of v1 that this serves."""
        fs = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        found: Json = {"fs": {"readTextFile": fs.read_text_file, "writeTextFile": fs.write_text_file}}
        found["terminal"] = self.terminals is not None and self.terminals.is_offered
        return found if found["terminal"] or any(found["fs"].values()) else {}

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
        if not self.offered:
            yield lambda found_id: None
            return
        roots = RootSet.bind(request_scope(params), self._policy)
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

    async def known(self, session_id: str) -> None:
        """Wait for a session that begins at this moment."""
        if session_id not in self._roots and session_id not in self._underway and self._births:
            await asyncio.wait(tuple(self._births), timeout=_BIRTH, return_when=asyncio.FIRST_COMPLETED)

    async def stop(self, session_id: str) -> None:
        """End the commands of a session, as when its turn is cancelled."""
        if self.terminals is not None:
            await self.terminals.stop(session_id)

    async def end(self, session_id: str) -> None:
        """Serve a session no more: its commands end, and its roots are closed."""
        roots = self._roots.pop(session_id, None)
        if roots is not None:
            roots.close()
        if self.terminals is not None:
            await self.terminals.end(session_id)
        for display in self._displays.pop(session_id, {}).values():
            await self._left(display)

    async def close(self) -> None:
        """End everything."""
        if self.terminals is not None:
            await self.terminals.aclose()
        if self.files is not None:
            self.files.close()
        await self._background.close()
        for roots in self._roots.values():
            roots.close()
        self._roots.clear()

    # --- terminals

    def displays(self, session_id: str) -> dict[str, Display]:
        """The terminals of a session that may stand in tool calls."""
        return self._displays.setdefault(session_id, {})

    async def created(self, terminals: Terminals, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        """Start a command, and show its terminal to the client."""
        cwd = self.roots(params.session_id).scope.cwd if params.cwd is None else params.cwd
        arguments = params.args if isinstance(params.args, list) else []
        made = await terminals.create(params)
        display = self._display(params.session_id, made.terminal_id)
        self._following[display.id] = (
            self._background.start(self._watched(terminals, params.session_id, display)),
            self._background.start(display.run(shlex.join((params.command, *arguments)), cwd)),
        )
        return made

    async def released(self, terminals: Terminals, params: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        """Release a terminal. The client of v2 goes on showing what it has shown."""
        answer = await terminals.release(params)
        display = self.displays(params.session_id).get(params.terminal_id)
        if display is not None:
            await self._left(display)
        return answer

    async def cancelled(self, session_id: str, terminal_id: str) -> None:
        """End a command because the client asks for it; it may take a moment. Raises `RequestError` -32602 where none runs."""
        display = self._displays.get(session_id, {}).get(terminal_id)
        if self.terminals is None or display is None or not display.is_running:
            raise invalid_params("there is no such terminal, or it has ended", pointer="/terminalId")
        self._background.start(self._killed(self.terminals, session_id, terminal_id))

    async def _killed(self, terminals: Terminals, session_id: str, terminal_id: str) -> None:
        with suppress(RequestError):  # the agent has released it meanwhile
            await terminals.kill(v1.KillTerminalRequest(session_id=session_id, terminal_id=terminal_id))

    def _display(self, session_id: str, terminal_id: str) -> Display:
        async def tell(update: Json) -> None:
            if self._tell is not None:
                await self._tell(session_id, update)

        return self.displays(session_id).setdefault(terminal_id, Display(terminal_id, tell))

    def _shown(self, session_id: str, terminal_id: str, text: str) -> None:
        self._display(session_id, terminal_id).add(text)

    async def _watched(self, terminals: Terminals, session_id: str, display: Display) -> None:
        terminal, found = terminals.find(session_id, display.id), None
        if terminal is not None:
            with suppress(RequestError):  # it was released, and its command could not be ended
                found = await terminal.wait()
        display.end(found)

    async def _left(self, display: Display) -> None:
        tasks = self._following.pop(display.id, None)
        if tasks is not None:
            watching, telling = tasks
            await asyncio.wait([watching])
            display.leave()
            await asyncio.wait([telling])
