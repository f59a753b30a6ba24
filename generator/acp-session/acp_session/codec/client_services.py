"""The files and terminals of a client of v1, for an agent that is written in the terms of v2.

Sources: the pages of v1 on the file system and on terminals.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from acp_bindings import ConnectionClosed, NotAdvertised, PeerError, v1

if TYPE_CHECKING:
    from .agent_as_v1 import AgentAsV1


class ClientServices:
    """What a client of v1 offers. Each call raises `NotAdvertised` before anything is sent where it does not offer that, `PeerError` where
    it refuses, `ConnectionClosed`.
    """

    def __init__(self, codec: AgentAsV1) -> None:
        self._codec = codec

    @property
    def can_read(self) -> bool:
        """Whether the client reads text files for the agent."""
        return self._codec.client_capabilities.fs.read_text_file

    @property
    def can_write(self) -> bool:
        """Whether the client writes text files for the agent."""
        return self._codec.client_capabilities.fs.write_text_file

    @property
    def can_run(self) -> bool:
        """Whether the client runs commands for the agent."""
        return self._codec.client_capabilities.terminal

    async def read_text_file(
        self, session_id: str, path: str, *, line: int | None = None, limit: int | None = None
    ) -> str:
        """The text of a file, or `limit` lines of it from `line` on, counted from 1. The path is absolute."""
        self._require(self.can_read, "fs/read_text_file", "fs.readTextFile")
        given = {"line": line, "limit": limit}
        window: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        request = v1.ReadTextFileRequest(session_id=session_id, path=path, **window)
        return (await self._codec.client.fs_read_text_file(request)).content

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        """Write a text file, whole. The path is absolute."""
        self._require(self.can_write, "fs/write_text_file", "fs.writeTextFile")
        request = v1.WriteTextFileRequest(session_id=session_id, path=path, content=content)
        await self._codec.client.fs_write_text_file(request)

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
    ) -> AsyncGenerator[ClientTerminal]:
        """A command in a terminal of the client, which is released at the end. Its id may stand in tool calls as that of a terminal."""
        self._require(self.can_run, "terminal/create", "terminal")
        named: dict[str, Any] = {} if limit is None else {"output_byte_limit": limit}
        if cwd is not None:
            named["cwd"] = cwd
        if env:
            named["env"] = [v1.EnvVariable(name=name, value=value) for name, value in env.items()]
        request = v1.CreateTerminalRequest(session_id=session_id, command=command, args=list(arguments), **named)
        terminal_id = (await self._codec.client.terminal_create(request)).terminal_id
        self._codec.session(session_id).client_terminals.add(terminal_id)
        try:
            yield ClientTerminal(self._codec, session_id, terminal_id)
        finally:
            with suppress(ConnectionClosed, PeerError):
                await self._codec.client.terminal_release(
                    v1.ReleaseTerminalRequest(session_id=session_id, terminal_id=terminal_id)
                )

    def _require(self, is_offered: bool, method: str, capability: str) -> None:
        if not is_offered:
            raise NotAdvertised(method, f"client:clientCapabilities.{capability}")


class ClientTerminal:
    """A terminal of the client."""

    def __init__(self, codec: AgentAsV1, session_id: str, terminal_id: str) -> None:
        self.id = terminal_id
        self._codec = codec
        self._named: Any = {"session_id": session_id, "terminal_id": terminal_id}

    async def wait(self) -> v1.WaitForTerminalExitResponse:
        """Wait for the end of the command."""
        return await self._codec.client.terminal_wait_for_exit(v1.WaitForTerminalExitRequest(**self._named))

    async def output(self) -> v1.TerminalOutputResponse:
        """The output so far, whether earlier output was dropped, and how the command has ended."""
        return await self._codec.client.terminal_output(v1.TerminalOutputRequest(**self._named))

    async def kill(self) -> None:
        """End the command. Its output can still be read."""
        await self._codec.client.terminal_kill(v1.KillTerminalRequest(**self._named))
