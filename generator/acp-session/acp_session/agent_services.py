"""Files and commands on the machine of the agent, inside the roots of its sessions: what version 2 leaves to the agent."""

from __future__ import annotations

import asyncio
import base64
import shlex
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeAlias

from acp_bindings import PeerError, RequestError, v1, v2

from acp_workspace.errors import invalid_params
from acp_workspace.filesystem import FileSystem
from acp_workspace.terminals import Terminals
from acp_workspace.workspace import RootsOf

from .background import Background
from .codec.terminal_display import Display

Send: TypeAlias = "Callable[[str, v2.SessionUpdate], Awaitable[None]]"
"""Sends an update of a session."""
Keep: TypeAlias = "Callable[[str, v2.SessionUpdate], None]"
"""Makes an update a part of the history of a session without sending it."""


class AgentServices:
    """The files and commands of the sessions of one connection; `roots` says where. A command is shown as a terminal: its output is sent
    as it comes, and kept once it has ended. What is refused raises `PeerError`, as where a client of version 1 refuses.
    """

    def __init__(self, roots: RootsOf, send: Send, keep: Keep) -> None:
        self._roots = roots
        self._send = send
        self._keep = keep
        self._files = FileSystem(roots=roots)
        self._terminals = Terminals(roots, show=self._show)
        self._displays: dict[tuple[str, str], Display] = {}
        self._background = Background()

    @property
    def can_read(self) -> bool:
        """Whether files can be read inside roots alone on this machine."""
        return self._files.capabilities().read_text_file

    @property
    def can_write(self) -> bool:
        """Whether files can be written inside roots alone on this machine."""
        return self._files.capabilities().write_text_file

    @property
    def can_run(self) -> bool:
        """Whether commands can be started inside roots alone on this machine."""
        return self._terminals.is_offered

    async def read_text_file(
        self, session_id: str, path: str, *, line: int | None = None, limit: int | None = None
    ) -> str:
        """The text of a file, or `limit` lines of it from `line` on, counted from 1."""
        with _as_peer_error("fs/read_text_file"):
            given = {"line": line, "limit": limit}
            window: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
            request = v1.ReadTextFileRequest(session_id=session_id, path=path, **window)
            return (await self._files.read_text_file(request)).content

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        """Write a text file, whole."""
        with _as_peer_error("fs/write_text_file"):
            request = v1.WriteTextFileRequest(session_id=session_id, path=path, content=content)
            await self._files.write_text_file(request)

    @asynccontextmanager
    async def terminal(
        self,
        session_id: str,
        command: str,
        arguments: Sequence[str] = (),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> AsyncGenerator[AgentTerminal]:
        """A command that runs, shown as a terminal. It is ended at the end."""
        with _as_peer_error("terminal/create"):
            request = v1.CreateTerminalRequest(
                session_id=session_id,
                command=command,
                args=list(arguments),
                cwd=cwd,
                env=[v1.EnvVariable(name=name, value=value) for name, value in (env or {}).items()],
                output_byte_limit=limit,
            )
            terminal_id = (await self._terminals.create(request)).terminal_id
        key = session_id, terminal_id
        display = self._display(*key)
        shown, place = shlex.join((command, *arguments)), cwd or self._roots.roots(session_id).scope.cwd
        self._keep(session_id, v2.TerminalUpdate(terminal_id=terminal_id, command=shown, cwd=place))
        watching = self._background.start(self._watch(key, display))
        showing = self._background.start(display.run(shown, place))
        await asyncio.sleep(0)  # the terminal is shown before what refers to it
        try:
            yield AgentTerminal(self._terminals, session_id, terminal_id)
        finally:
            self._terminals.keep(*key)
            with suppress(RequestError):  # the session has ended
                await self._terminals.release(v1.ReleaseTerminalRequest(session_id=session_id, terminal_id=terminal_id))
            await asyncio.wait([watching])
            display.leave()
            await asyncio.wait([showing])
            del self._displays[key]
            self._keep_end(*key)

    def cancel(self, session_id: str, terminal_id: str) -> None:
        """End a command because the client asks for it; it may take a moment. Raises `RequestError` -32602 where none runs."""
        display = self._displays.get((session_id, terminal_id))
        if display is None or not display.is_running:
            raise invalid_params("there is no such terminal, or it has ended", pointer="/terminalId")
        self._background.start(AgentTerminal(self._terminals, session_id, terminal_id).kill())

    async def end(self, session_id: str) -> None:
        """End the commands of a session."""
        await self._terminals.end(session_id)

    async def close(self) -> None:
        """End everything."""
        await self._terminals.aclose()
        self._files.close()
        await self._background.close()

    def _display(self, session_id: str, terminal_id: str) -> Display:
        async def send(update: Any) -> None:
            with suppress(ConnectionError):  # nobody listens any more
                await self._send(session_id, v2.decode_as(v2.SessionUpdate, update))

        return self._displays.setdefault((session_id, terminal_id), Display(terminal_id, send))

    def _show(self, session_id: str, terminal_id: str, text: str) -> None:
        self._display(session_id, terminal_id).add(text)

    async def _watch(self, key: tuple[str, str], display: Display) -> None:
        found = await self._terminals.ended(*key)
        display.end({} if found is None else {"exitCode": found.code, "signal": found.signal})

    def _keep_end(self, session_id: str, terminal_id: str) -> None:
        shown = self._terminals.shown(session_id, terminal_id)
        if shown is not None:
            output = v2.TerminalOutput(data=base64.b64encode(shown.output.encode()).decode())
            found = shown.exit
            status = v2.TerminalExitStatus(
                exit_code=None if found is None else found.code, signal=None if found is None else found.signal
            )
            self._keep(session_id, v2.TerminalUpdate(terminal_id=terminal_id, output=output, exit_status=status))


class AgentTerminal:
    """A command that runs or has run."""

    def __init__(self, terminals: Terminals, session_id: str, terminal_id: str) -> None:
        self.id = terminal_id
        self._terminals = terminals
        self._named: Any = {"session_id": session_id, "terminal_id": terminal_id}

    async def wait(self) -> v1.WaitForTerminalExitResponse:
        """Wait for the end of the command."""
        with _as_peer_error("terminal/wait_for_exit"):
            return await self._terminals.wait_for_exit(v1.WaitForTerminalExitRequest(**self._named))

    async def output(self) -> v1.TerminalOutputResponse:
        """The output so far, whether earlier output was dropped, and how the command has ended."""
        with _as_peer_error("terminal/output"):
            return await self._terminals.output(v1.TerminalOutputRequest(**self._named))

    async def kill(self) -> None:
        """End the command. Its output can still be read."""
        with suppress(RequestError):  # it was released meanwhile
            await self._terminals.kill(v1.KillTerminalRequest(**self._named))


@contextmanager
def _as_peer_error(method: str) -> Generator[None]:
    try:
        yield
    except RequestError as error:
        body: Any = v1.Error(code=error.code, message=error.message, data=error.data)
        raise PeerError(method, error.code, error.message, error.data, body) from error
