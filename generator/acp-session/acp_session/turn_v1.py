"""A turn of an agent: what the user said, and what the agent says, asks and does until it ends.

    async def turn(turn: Turn) -> v1.StopReason:
        await turn.say("I write a note.")
        async with turn.tool("Write note.txt", kind="edit") as tool:
            if await tool.is_allowed():
                await turn.write("note.txt", "tide")
        return "end_turn"

Paths may be relative: to the working directory of the session. A failure raises what the connection raises, such as `PeerError` where the
client refuses, and `NotAdvertised` where it does not offer it.

Sources: the pages of v1 on prompt turns, content, tool calls, file system, terminals.
"""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from acp_bindings import UNSET, ConnectionClosed, v1

from .agent_session import Session
from .permission import Decision, decide

Call: TypeAlias = "Callable[[str, Any], Awaitable[Any]]"
"""Sends a request, named by its method, and returns the typed result. What it raises is passed on."""

ONCE: Final = (
    v1.PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
    v1.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
)
"""What the user may choose between where nothing else is offered."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command: what it wrote, of which the beginning is missing where `is_truncated`, and how it ended."""

    output: str
    exit_code: int | None = None
    signal: str | None = None
    is_truncated: bool = False


@dataclass(slots=True, eq=False)
class Tool:
    """A tool call that the client shows; `Turn.tool` begins and ends it."""

    turn: Turn
    id: str
    title: str
    kind: v1.ToolKind
    status: v1.ToolCallStatus = "pending"

    async def is_allowed(self, options: Sequence[v1.PermissionOption] = ONCE) -> bool:
        """Ask the user whether it may be done: only an offered option that allows is consent. The call has failed where it is none."""
        return (await self.ask(options)).allowed

    async def ask(self, options: Sequence[v1.PermissionOption] = ONCE) -> Decision:
        """Ask the user, and say what was decided and why. The tool call goes on where it is allowed, and has failed otherwise."""
        about = v1.ToolCallUpdate(tool_call_id=self.id, title=self.title, kind=self.kind, status=self.status)
        request = v1.RequestPermissionRequest(session_id=self.turn.session.id, tool_call=about, options=list(options))
        decision = decide(request, await self.turn.call("session/request_permission", request))
        await self.update(status="in_progress" if decision.allowed else "failed")
        return decision

    async def update(self, *, status: v1.ToolCallStatus | None = None, **fields: Any) -> None:
        """Tell the client what has changed: a status, or other fields of a tool call, such as `content`."""
        if status is not None:
            self.status = status
            fields["status"] = status
        await self.turn.session.update(v1.SessionToolCallUpdate(tool_call_id=self.id, **fields))


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """One turn: its session, and what the user said. `requests` is how it asks the client."""

    session: Session
    prompt: tuple[v1.ContentBlock, ...]
    requests: Call | None = None

    @property
    def text(self) -> str:
        """What the user typed: the text blocks of the prompt, one after another."""
        return "\n".join(block.text for block in self.prompt if isinstance(block, v1.TextContent))

    # --- what the agent says

    async def say(self, text: str) -> None:
        """Send a piece of the agent's message."""
        await self.session.update(v1.AgentMessageChunk(content=v1.TextContent(text=text)))

    async def think(self, text: str) -> None:
        """Send a piece of what the agent thinks."""
        await self.session.update(v1.AgentThoughtChunk(content=v1.TextContent(text=text)))

    @asynccontextmanager
    async def tool(self, title: str, *, kind: v1.ToolKind = "other", **fields: Any) -> AsyncGenerator[Tool, None]:
        """Show a tool call for as long as the block runs. It has `completed` with the block, unless something was raised or refused: then
        it has `failed`. `fields` are further ones of a tool call, such as `locations`.
        """
        self.session.calls += 1
        tool = Tool(self, f"call_{self.session.calls}", title, kind)
        await self.session.update(
            v1.ToolCall(tool_call_id=tool.id, title=title, kind=kind, status=tool.status, **fields)
        )
        try:
            yield tool
        except Exception:
            with suppress(ConnectionClosed):
                await tool.update(status="failed")
            raise
        if tool.status != "failed":
            await tool.update(status="completed")

    # --- what the agent asks of the client

    async def call(self, method: str, params: object) -> Any:
        """Send a request to the client, and return the typed result. Raises `RuntimeError` where the host was given no `call`."""
        if self.requests is None:
            raise RuntimeError("this host cannot send requests: it was created without 'call'")
        return await self.requests(method, params)

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file, or `limit` lines of it from `line` on, counted from 1."""
        given = {"line": line, "limit": limit}
        window: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        request = v1.ReadTextFileRequest(session_id=self.session.id, path=self.path(path), **window)
        found: v1.ReadTextFileResponse = await self.call("fs/read_text_file", request)
        return found.content

    async def write(self, path: str, content: str) -> None:
        """Write a text file, whole."""
        request = v1.WriteTextFileRequest(session_id=self.session.id, path=self.path(path), content=content)
        await self.call("fs/write_text_file", request)

    async def run(
        self,
        command: str,
        *arguments: str,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        limit: int | None = None,
        tool: Tool | None = None,
    ) -> Ran:
        """Run a command in a terminal of the client to its end, and release the terminal, also where this is cancelled. `limit` bounds the
        output in bytes; the client shows the terminal in `tool`.
        """
        named: dict[str, Any] = {} if limit is None else {"output_byte_limit": limit}
        if env:
            named["env"] = [v1.EnvVariable(name=name, value=value) for name, value in env.items()]
        request = v1.CreateTerminalRequest(
            session_id=self.session.id,
            command=command,
            args=list(arguments),
            cwd=self.path(cwd or "."),
            **named,
        )
        created: v1.CreateTerminalResponse = await self.call("terminal/create", request)
        at: dict[str, Any] = {"session_id": self.session.id, "terminal_id": created.terminal_id}
        try:
            if tool is not None:
                await tool.update(content=[v1.Terminal(terminal_id=created.terminal_id)])
            await self.call("terminal/wait_for_exit", v1.WaitForTerminalExitRequest(**at))
            told: v1.TerminalOutputResponse = await self.call("terminal/output", v1.TerminalOutputRequest(**at))
        finally:
            with suppress(ConnectionClosed):
                await self.call("terminal/release", v1.ReleaseTerminalRequest(**at))
        ended = told.exit_status
        if not isinstance(ended, v1.TerminalExitStatus):
            return Ran(told.output, is_truncated=told.truncated)
        return Ran(told.output, _given(ended.exit_code), _given(ended.signal), told.truncated)

    def path(self, path: str) -> str:
        """A path as requests have it: absolute, by the rules of the session's platform."""
        rules: Any = posixpath if self.session.scope.flavour == "posix" else ntpath
        joined: str = self.session.scope.cwd if path == "." else rules.join(self.session.scope.cwd, path)
        return joined


def _given(value: Any) -> Any:
    return None if value is UNSET else value
