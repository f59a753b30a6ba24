"""Files and terminals on this machine: for an agent of v1 that asks its client for them, and for an agent of v2 itself.

    async with as_v2(link, local=Local(root_policy=only_below_srv, approve=ask_the_user)) as agent: ...

Each session has the roots that the client named for it. A file is read or written, and a command started, in these alone. A terminal
is shown to the client as one of v2, with its output as it comes, and the client may stop it.

Sources: the pages of v1 on the file system and on terminals; the RFD on `additionalDirectories`; the migration page of v2.
"""

from __future__ import annotations

import asyncio
from collections import ChainMap, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from acp_bindings import v1

from acp_workspace.approval import ApprovalRequest, Approve
from acp_workspace.backend import FileBackend
from acp_workspace.errors import METHOD_NOT_FOUND, RequestError, invalid_params
from acp_workspace.filesystem import Buffer, FileEvent, FilePolicy, FileSystem, OnChange
from acp_workspace.hooks import maybe_await
from acp_workspace.scope import LifecycleRequest, Scope, request_scope
from acp_workspace.terminals import TerminalEvent, TerminalPolicy, Terminals
from acp_workspace.workspace import RootPolicy, RootSet, RootsSource

from .background import Questions
from .services import Services
from .terminal_display import Displays, Send

Audit: TypeAlias = "Callable[[FileEvent | TerminalEvent], Awaitable[object] | object]"
"""Told of every step of every request for files and terminals, refusals included."""

_BIRTH: Final = 1.0
"""Seconds that a request of the agent waits for the id of its session to become known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """What an agent may use of this machine. `root_policy` says which directories that the client names may be roots; the other fields
    are those of `FileSystem` and `Terminals`. `None` for `files` or `terminals` offers none of them.
    """

    root_policy: RootPolicy = lambda path: None
    files: FilePolicy | None = FilePolicy()  # noqa: RUF009 - frozen
    terminals: TerminalPolicy | None = TerminalPolicy()  # noqa: RUF009 - frozen
    backend: FileBackend | None = None
    approve: Approve | None = None
    buffer: Buffer | None = None
    on_change: OnChange | None = None
    audit: Audit = lambda event: None


_SERVED: Final = {
    "fs/read_text_file": ("files", "read_text_file"),
    "fs/write_text_file": ("files", "write_text_file"),
    "terminal/create": ("commands", "create"),
    "terminal/output": ("commands", "output"),
    "terminal/wait_for_exit": ("commands", "wait_for_exit"),
    "terminal/kill": ("commands", "kill"),
    "terminal/release": ("commands", "release"),
}
"""Which part answers a request, and by which of its methods."""


class LocalServices(Services):
    """`Services` on this machine. `roots` knows the roots of the sessions; terminals are shown by updates of v2, which `send` sends."""

    def __init__(self, roots: RootsSource, local: Local, send: Send) -> None:
        self._roots_source = roots
        self.files: FileSystem | None = None
        self.commands: Terminals | None = None
        hooks: dict[str, Any] = {"approve": local.approve, "on_event": local.audit}
        if local.files is not None:
            hooks_of_files: dict[str, Any] = {"buffer": local.buffer, "on_change": local.on_change}
            self.files = FileSystem(roots, local.files, backend=local.backend, **hooks, **hooks_of_files)
        if local.terminals is not None:
            self.commands = Terminals(roots, local.terminals, **hooks, on_output=self._show_output)
        self._displays = Displays(self.commands, send)

    def capabilities(self) -> v1.ClientCapabilities:
        """What is configured and can be kept on this machine, and no more."""
        fs = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        return v1.ClientCapabilities(fs=fs, terminal=self.commands is not None and self.commands.is_offered)

    async def answer(self, method: str, params: Any) -> Any:
        """See `Services`. A terminal is shown; what it has shown stays when it is released."""
        part, name = _SERVED[method]
        if getattr(self, part) is None:
            raise RequestError(METHOD_NOT_FOUND, "files or terminals are not served here")
        answer = await getattr(getattr(self, part), name)(params)
        await self.show(method, params, answer)
        return answer

    async def show(self, method: str, params: Any, answer: Any) -> None:
        """Show a terminal that was created, if its command runs here, and the end of one that was released."""
        if method == "terminal/release":
            await self._displays.leave(params.session_id, params.terminal_id)
        elif method == "terminal/create" and self._displays.terminal(params.session_id, answer.terminal_id):
            roots = self._roots_source.roots(params.session_id)
            scope = roots if isinstance(roots, Scope) else roots.scope
            self._displays.start(params, answer.terminal_id, scope.cwd if params.cwd is None else params.cwd)

    def terminals(self, session_id: str) -> Collection[str] | None:
        """See `Services`: those that are shown."""
        return self._displays.of(session_id)

    async def cancel_terminal(self, session_id: str, terminal_id: str) -> None:
        """See `Services`. The end may take a moment."""
        self._displays.cancel(session_id, terminal_id)

    async def stop(self, session_id: str) -> None:
        if self.commands is not None:
            await self.commands.stop(session_id)

    async def end(self, session_id: str) -> None:
        if self.commands is not None:
            await self.commands.end(session_id)
        await self._displays.end(session_id)

    async def close(self) -> None:
        if self.commands is not None:
            await self.commands.aclose()
        if self.files is not None:
            self.files.close()
        await self._displays.close()

    def _show_output(self, session_id: str, terminal_id: str, text: str) -> None:
        self._displays.show(session_id, terminal_id, text)


async def until_known(session_id: str, known: Collection[str], creating: Collection[asyncio.Future[None]]) -> None:
    """Wait until a session is known, no session is being created any more, or a second has passed."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_BIRTH):
            while session_id not in known and creating:
                await asyncio.wait(tuple(creating), return_when=asyncio.FIRST_COMPLETED)


class ProxyServices(LocalServices):
    """The services of a proxy, which has the roots of a session from the requests that open it, and asks about nothing whose turn was
    cancelled.
    """

    def __init__(self, local: Local, send: Send) -> None:
        super().__init__(self, replace(local, approve=None if local.approve is None else self._approved), send)
        self._root_policy = local.root_policy
        self._approve = local.approve
        self._roots: dict[str, RootSet] = {}
        self._underway: dict[str, RootSet] = {}
        self._births: set[asyncio.Future[None]] = set()
        self._questions: defaultdict[str, Questions] = defaultdict(Questions)

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force; while a session is taken up, those that the client asks for. Raises `RequestError` -32602."""
        found = self._underway.get(session_id) or self._roots.get(session_id)
        if found is None:
            raise invalid_params("no workspace roots are known for this session", pointer="/sessionId")
        return found

    async def answer(self, method: str, params: Any) -> Any:
        """See `Services`. A request of a session that begins at this moment waits for that."""
        await until_known(params.session_id, ChainMap(self._roots, self._underway), self._births)
        return await super().answer(method, params)

    @asynccontextmanager
    async def opening(
        self, params: LifecycleRequest, session_id: str | None = None
    ) -> AsyncGenerator[Callable[[str], None]]:
        """See `Services`. Raises `RequestError` for roots that cannot be bound or that the policy refuses."""
        if self.files is None and self.commands is None:
            yield lambda found_id: None
            return
        roots = RootSet.bind(request_scope(params), self._root_policy)
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
        """See `Services`. What is being asked is refused."""
        self._questions.pop(session_id, Questions()).cancel()
        await super().stop(session_id)

    async def end(self, session_id: str) -> None:
        """See `Services`. The roots are closed first."""
        self._questions.pop(session_id, Questions()).cancel()
        roots = self._roots.pop(session_id, None)
        if roots is not None:
            roots.close()
        await super().end(session_id)

    async def close(self) -> None:
        await super().close()
        for roots in self._roots.values():
            roots.close()
        self._roots.clear()

    async def _approved(self, request: ApprovalRequest) -> bool:
        assert self._approve is not None
        return await self._questions[request.session_id].ask(maybe_await(self._approve(request))) is True
