"""The files and terminals of a client, as an agent asks for them: params and results are those of v1, which alone has requests for them.

An agent of v1 asks its client; an agent of v2 uses the machine that it runs on. `LocalServices` serves both; `ClientServices` asks a
client of v1.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from acp_bindings import v1
from acp_bindings.v1 import peers as peers1

from acp_workspace.errors import invalid_params
from acp_workspace.scope import LifecycleRequest
from jsonrpc_bindings.peers import unserved

SERVICES: Final = {
    "fs/read_text_file": "read_text_file",
    "fs/write_text_file": "write_text_file",
    "terminal/create": "create_terminal",
    "terminal/output": "terminal_output",
    "terminal/wait_for_exit": "wait_for_terminal_exit",
    "terminal/kill": "kill_terminal",
    "terminal/release": "release_terminal",
}
"""Methods of v1 for files and terminals, and what they are called here."""


class Services:
    """What may be overridden; this one offers nothing, and takes no note of sessions. Errors are `RequestError`; a client at the far end of
    a connection raises `PeerError`, `NotAdvertised` and `ConnectionClosed`.
    """

    def capabilities(self) -> v1.ClientCapabilities:
        """What is offered: `fs` and `terminal`."""
        return v1.ClientCapabilities()

    async def answer(self, method: str, _params: Any) -> Any:
        """Answer a request of `SERVICES`."""
        raise unserved(method)

    async def read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        """Read a text file, or some of its lines."""
        return cast("v1.ReadTextFileResponse", await self.answer("fs/read_text_file", params))

    async def write_text_file(self, params: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        """Write a text file, whole."""
        return cast("v1.WriteTextFileResponse", await self.answer("fs/write_text_file", params))

    async def create_terminal(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        """Start a command in a terminal."""
        return cast("v1.CreateTerminalResponse", await self.answer("terminal/create", params))

    async def terminal_output(self, params: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        """The output of a command so far."""
        return cast("v1.TerminalOutputResponse", await self.answer("terminal/output", params))

    async def wait_for_terminal_exit(self, params: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        """Wait for the end of a command."""
        return cast("v1.WaitForTerminalExitResponse", await self.answer("terminal/wait_for_exit", params))

    async def kill_terminal(self, params: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        """End a command."""
        return cast("v1.KillTerminalResponse", await self.answer("terminal/kill", params))

    async def release_terminal(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        """Release a terminal; a command that still runs ends."""
        return cast("v1.ReleaseTerminalResponse", await self.answer("terminal/release", params))

    def terminals(self, _session_id: str) -> Collection[str] | None:
        """The terminals of a session that may stand in tool calls; `None`: all of them."""
        return ()

    async def cancel_terminal(self, _session_id: str, _terminal_id: str) -> None:
        """End a command because the user asks for it. Raises `RequestError` -32602 where none runs."""
        raise invalid_params("there is no such terminal, or it has ended", pointer="/terminalId")

    # --- the life of a session

    @asynccontextmanager
    async def opening(
        self, _params: LifecycleRequest, _session_id: str | None = None
    ) -> AsyncGenerator[Callable[[str], None]]:
        """A session is opened with these roots; without an id it is a new one. What this yields is called with the session's id when the
        agent has agreed; otherwise the roots before stay in force. Until then the requests of a session with an id have the new roots.
        """
        yield lambda session_id: None

    async def stop(self, session_id: str) -> None:
        """The turn was cancelled: end the commands of the session."""

    async def end(self, session_id: str) -> None:
        """The session is closed: serve nothing for it any more."""

    async def close(self) -> None:
        """End everything."""


class ClientServices(Services):
    """The files and terminals of a client of v1 at the far end of a connection. `client` gives the calls to it."""

    def __init__(
        self, client: Callable[[], peers1.RemoteClient], capabilities: Callable[[], v1.ClientCapabilities]
    ) -> None:
        self._client = client
        self._capabilities = capabilities
        self._terminals: dict[str, set[str]] = {}

    def capabilities(self) -> v1.ClientCapabilities:
        """See `Services`: what the client has advertised."""
        return self._capabilities()

    async def answer(self, method: str, params: Any) -> Any:
        """See `Services`. A terminal that is created may stand in tool calls from then on."""
        answer = await getattr(self._client(), peers1.Client.requests[method])(params)
        if method == "terminal/create":
            self._terminals.setdefault(params.session_id, set()).add(answer.terminal_id)
        return answer

    def terminals(self, session_id: str) -> Collection[str]:
        """See `Services`: those that were created here."""
        return self._terminals.get(session_id, ())

    async def end(self, session_id: str) -> None:
        self._terminals.pop(session_id, None)
