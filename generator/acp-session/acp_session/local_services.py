"""Files and commands on the machine of the agent, inside the roots of its sessions: what version 2 leaves to the agent."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

from acp_bindings import PeerError, RequestError, v1, v2

from acp_workspace.errors import invalid_params
from acp_workspace.filesystem import FileSystem
from acp_workspace.terminals import Terminals
from acp_workspace.workspace import RootsOf

from .terminal_display import TerminalDisplay, encode_output, exit_status

Send: TypeAlias = "Callable[[str, v2.SessionUpdate, bool], Awaitable[None]]"
"""Sends an update of a session, or makes it a part of the history without sending it."""


class LocalServices:
    """The files and commands of all sessions of one connection, with `roots` that say where. Commands are shown as terminals by `show`.

    What is refused raises `PeerError`, as a client of version 1 would answer.
    """

    def __init__(self, roots: RootsOf, show: Send) -> None:
        self._roots = roots
        self._send = show
        self._files = FileSystem(roots=roots)
        self._terminals = Terminals(roots, show=self._show)
        self._displays: dict[tuple[str, str], TerminalDisplay] = {}
        self._early: dict[tuple[str, str], str] = {}
        self._tasks: dict[tuple[str, str], tuple[asyncio.Task[None], asyncio.Task[None]]] = {}
        self._killing: set[asyncio.Task[None]] = set()

    def capabilities(self) -> v1.ClientCapabilities:
        """What can be kept inside roots on this machine."""
        return v1.ClientCapabilities(fs=self._files.capabilities(), terminal=self._terminals.is_offered)

    async def read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        """See `FileSystem`."""
        async with _as_peer_error("fs/read_text_file"):
            return await self._files.read_text_file(params)

    async def write_text_file(self, params: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        """See `FileSystem`."""
        async with _as_peer_error("fs/write_text_file"):
            return await self._files.write_text_file(params)

    async def create_terminal(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        """Start a command, and show its terminal."""
        async with _as_peer_error("terminal/create"):
            cwd = self._roots.roots(params.session_id).scope.cwd if params.cwd is None else params.cwd
            created = await self._terminals.create(params)
        key = params.session_id, created.terminal_id

        async def send(update: v2.SessionUpdate) -> None:
            with suppress(ConnectionError):  # nobody listens any more
                await self._send(params.session_id, update, False)

        display = self._displays[key] = TerminalDisplay(created.terminal_id, send)
        if key in self._early:
            display.add_output(self._early.pop(key))
        arguments = params.args if isinstance(params.args, list) else []
        command = shlex.join((params.command, *arguments))
        self._tasks[key] = (
            asyncio.create_task(self._watch(key, display)),
            asyncio.create_task(display.run(command, cwd)),
        )
        kept = v2.TerminalUpdate(terminal_id=created.terminal_id, command=command, cwd=cwd)
        await self._send(params.session_id, kept, True)
        await asyncio.sleep(0)  # the terminal is shown before what refers to it
        return created

    async def terminal_output(self, params: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        """See `Terminals`."""
        async with _as_peer_error("terminal/output"):
            return await self._terminals.output(params)

    async def wait_for_terminal_exit(self, params: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        """See `Terminals`."""
        async with _as_peer_error("terminal/wait_for_exit"):
            return await self._terminals.wait_for_exit(params)

    async def kill_terminal(self, params: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        """See `Terminals`."""
        async with _as_peer_error("terminal/kill"):
            return await self._terminals.kill(params)

    async def release_terminal(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        """Release a terminal, once all of it is shown. The client goes on showing what it has shown."""
        key = params.session_id, params.terminal_id
        self._terminals.keep(*key)
        async with _as_peer_error("terminal/release"):
            answer = await self._terminals.release(params)
        await self._released(key)
        shown = self._terminals.shown(*key)
        if shown is not None:
            output = v2.TerminalOutput(data=encode_output(shown.output))
            status = exit_status(shown.exit)
            kept = v2.TerminalUpdate(terminal_id=params.terminal_id, output=output, exit_status=status)
            await self._send(params.session_id, kept, True)
        return answer

    def cancel(self, session_id: str, terminal_id: str) -> None:
        """End a command because the client asks for it; it may take a moment. Raises `RequestError` -32602 where none runs."""
        display = self._displays.get((session_id, terminal_id))
        if display is None or not display.is_running:
            raise invalid_params("there is no such terminal, or it has ended", pointer="/terminalId")
        task = asyncio.create_task(self._kill(session_id, terminal_id))
        self._killing.add(task)
        task.add_done_callback(self._killing.discard)

    async def end(self, session_id: str) -> None:
        """End the commands of a session."""
        await self._terminals.end(session_id)
        for key in [key for key in self._displays if key[0] == session_id]:
            await self._released(key)

    async def close(self) -> None:
        """End everything."""
        await self._terminals.aclose()
        self._files.close()
        for key in tuple(self._displays):
            await self._released(key)

    async def _kill(self, session_id: str, terminal_id: str) -> None:
        with suppress(RequestError):  # it was released meanwhile
            await self._terminals.kill(v1.KillTerminalRequest(session_id=session_id, terminal_id=terminal_id))

    def _show(self, session_id: str, terminal_id: str, text: str) -> None:
        key = session_id, terminal_id
        display = self._displays.get(key)
        if display is None:
            self._early[key] = self._early.get(key, "") + text
        else:
            display.add_output(text)

    async def _watch(self, key: tuple[str, str], display: TerminalDisplay) -> None:
        display.end(await self._terminals.ended(*key))

    async def _released(self, key: tuple[str, str]) -> None:
        display, tasks = self._displays.pop(key, None), self._tasks.pop(key, None)
        if display is not None and tasks is not None:
            await asyncio.wait(tasks[:1])
            display.release()
            await asyncio.wait(tasks[1:])


@asynccontextmanager
async def _as_peer_error(method: str) -> AsyncGenerator[None]:
    try:
        yield
    except RequestError as error:
        body: Any = v1.Error(code=error.code, message=error.message, data=error.data)
        raise PeerError(method, error.code, error.message, error.data, body) from error
