"""A session as its client sees it: prompts, modes, options, and the agent's updates."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from acp_bindings import v2

from acp_workspace.filesystem import FileSystem
from acp_workspace.terminals import Terminals
from jsonrpc_bindings.errors import INTERNAL_ERROR, REQUEST_CANCELLED
from jsonrpc_bindings.peers import refuse_unserved

from .agent import PROMPT_CAPABILITIES
from .arguments import make_content_block
from .background import CancelScope
from .errors import PeerError, RequestError, make_error
from .log import SessionLog
from .modes import Mode, find_mode_option, with_value
from .prompts import OpenPrompts
from .transcript import Transcript

if TYPE_CHECKING:
    from acp_workspace.workspace import RootSet

    from .client_core import ClientCore

T = TypeVar("T")

PromptContent: TypeAlias = "str | v2.ContentBlock | Sequence[str | v2.ContentBlock]"
"""The content of a prompt: a text or a content block, or several."""


class FollowsRoots(Protocol):
    """Something that follows the roots of a session whenever they change, such as `RootsProvider` for MCP servers."""

    async def follow(self, roots: RootSet | None) -> object:
        """Apply the current roots; `None` if the session has ended."""
        ...


@dataclass(frozen=True, slots=True)
class PromptResult:
    """How the work on a prompt ended: the stop reason; `None` if the agent does not report it."""

    stop_reason: str | None


class ClientSession:
    """An open session, created by `AgentConnection`. `id` is the agent's id for it, `transcript` holds the agent's updates.

    `previous` is the transcript before a load, until the replay begins. `log` writes to the logger `acp_session`, with this id.
    """

    def __init__(self, core: ClientCore, session_id: str, transcript: Transcript) -> None:
        self._core = core
        self.id = session_id
        self.log = SessionLog(session_id)
        self.transcript = transcript
        self.previous: Transcript | None = None
        self.followers: list[FollowsRoots] = []
        self.pending_updates: deque[v2.SessionUpdate] = deque()
        self.prompts: OpenPrompts[PromptResult] = OpenPrompts()
        self.scope = CancelScope()
        self._is_open = True

    def __repr__(self) -> str:
        return f"<ClientSession {self.id!r}>"

    @property
    def is_open(self) -> bool:
        """Whether the session can be used, i.e. was not closed or deleted."""
        return self._is_open

    @property
    def root_set(self) -> RootSet:
        """The bound directories that the session may use. Raises `RequestError` -32602 once it is closed."""
        return self._core.workspace.roots(self.id)

    @property
    def roots(self) -> tuple[str, ...]:
        """The directories that the session may use, `cwd` first."""
        return self.root_set.scope.paths

    @property
    def cwd(self) -> str:
        """The working directory."""
        return self.root_set.scope.cwd

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes of the session."""
        return self.transcript.modes

    @property
    def current_mode(self) -> str | None:
        """The id of the current mode; `None` if the session has no modes."""
        return self.transcript.current_mode

    @property
    def config_options(self) -> tuple[v2.SessionConfigOption, ...]:
        """The configuration options with their values, including the mode."""
        return self.transcript.config_options

    @property
    def files(self) -> FileSystem:
        """This machine's files in the roots of the session. Raises `RequestError` -32601 if none are advertised."""
        if self._core.services.files is None:
            raise refuse_unserved("fs")
        return self._core.services.files

    @property
    def terminals(self) -> Terminals:
        """The commands that run here for the session. Raises `RequestError` -32601 if none are advertised."""
        if self._core.services.commands is None:
            raise refuse_unserved("terminal")
        return self._core.services.commands

    def prompt(self, prompt: PromptContent) -> Coroutine[Any, Any, PromptResult]:
        """Send a prompt, and return when the work on it has ended.

        If this call is cancelled or times out, it cancels the work. After work that was cancelled, it first waits for the end of that
        work. `cancel` ends every prompt that was called before it, sent or not.

        Raises `PeerError` if the agent refuses the prompt or the work fails, `NotAdvertised` for content of a type that the agent does
        not accept, `ConnectionClosed`, and `ValueError` for a closed session or invalid content.
        """
        return self._prompt(prompt, self.scope.cancellations)

    async def _prompt(self, prompt: PromptContent, cancellations: int) -> PromptResult:
        self._require_open()
        parts: Any = prompt if isinstance(prompt, Sequence) and not isinstance(prompt, str) else [prompt]
        request = v2.PromptRequest(session_id=self.id, prompt=[make_content_block(part) for part in parts])
        self._core.require_types("session/prompt", request.prompt, "prompt", PROMPT_CAPABILITIES)
        while self.scope.is_cancelled and self.prompts.open:
            await self.prompts.wait_until_ended()
            await asyncio.sleep(0)
            self._require_open()
        if self.scope.cancellations != cancellations:
            return PromptResult("cancelled")
        self.scope.reset()

        async def send() -> str:
            self._require_open()  # it was not closed in the meantime
            if self.scope.cancellations != cancellations:
                raise RequestError(REQUEST_CANCELLED, "the prompt was cancelled")
            # it may wait for the work before it
            return str((await self._core.request("session/prompt", request, timeout=math.inf)).message_id)

        try:
            return await self.prompts.wait_for_end(send())
        except (asyncio.CancelledError, TimeoutError):
            if self._is_open:
                await self._core.attempt(self.cancel())
            raise
        except (PeerError, RequestError) as error:
            if error.code == REQUEST_CANCELLED:
                return PromptResult("cancelled")
            raise
        finally:
            self._note_end()

    async def cancel(self) -> None:
        """Cancel the work of the session; `prompt` returns when the agent has stopped.

        Pending permission requests get the outcome `cancelled`, pending approvals are refused, running commands are killed, and
        unfinished tool calls are marked as cancelled.
        """
        self._require_open()
        self.scope.cancel()
        try:
            await self._core.calls.notify("session/cancel", v2.CancelSessionNotification(session_id=self.id))
        finally:
            self.transcript.mark_cancelled()
            self._note_end()

    async def set_mode(self, mode_id: str) -> None:
        """Set the mode. Raises `ValueError` for a mode that the session does not have."""
        option = find_mode_option(self.config_options)
        if option is None or mode_id not in {mode.id for mode in self.modes}:
            choices = ", ".join(mode.id for mode in self.modes) or "none"
            raise ValueError(f"the session has no mode {mode_id!r}; its modes: {choices}")
        await self.set_config_option(option.config_id, mode_id)

    async def set_config_option(self, config_id: str, value: str | bool) -> None:
        """Set an option to the id of a value, or a boolean option to true or false.

        Raises `ValueError` for an option or a value that the session does not have.
        """
        self._require_open()
        options = [option for option in self.config_options if option.config_id == config_id]
        if not any(isinstance(option, v2.UnknownSessionConfigOption) for option in options):
            with_value(options, config_id, value)
        fields: Any = {"session_id": self.id, "config_id": config_id, "value": value}
        is_switch = isinstance(value, bool)
        type_ = v2.BooleanSetSessionConfigOptionRequest if is_switch else v2.IdSetSessionConfigOptionRequest
        request = type_(**fields)
        self.transcript.set_initial_state(await self._core.request("session/set_config_option", request))

    async def cancel_tool_call(self, tool_call_id: str) -> None:
        """Cancel one tool call. Raises `ValueError` if the tool call does not advertise this."""
        call = self.transcript.tool_calls.get(tool_call_id)
        if call is None or not call.can_cancel:
            raise ValueError(f"the tool call {tool_call_id!r} cannot be cancelled on its own")
        request = v2.CancelToolCallRequest(session_id=self.id, tool_call_id=tool_call_id)
        await self._core.request("tool_call/cancel", request)

    async def cancel_terminal(self, terminal_id: str) -> None:
        """Kill the command of one terminal. Raises `ValueError` if the terminal does not advertise this."""
        terminal = self.transcript.terminals.get(terminal_id)
        if terminal is None or not terminal.can_cancel:
            raise ValueError(f"the terminal {terminal_id!r} cannot be stopped")
        request = v2.CancelTerminalRequest(session_id=self.id, terminal_id=terminal_id)
        await self._core.request("terminal/cancel", request)

    async def close(self) -> None:
        """Close the session; it stays in the list and can be opened again.

        No other call is possible from now on, and whatever the agent responds, nothing is served for the session any more.
        """
        self._require_open()
        await self._core.close_session(self.id)

    async def delete(self) -> None:
        """Delete the session, like `AgentConnection.delete_session`."""
        await self._core.delete_session(self.id)

    async def follow_roots(self, follower: FollowsRoots) -> None:
        """Call `follower` with the roots of the session, now and whenever they change; with `None` when the session ends."""
        self.followers.append(follower)
        await follower.follow(self.root_set)

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T | None:
        """Ask the user and return the decision; `None` if the work or the session ends first, or was cancelled already.

        If asking raises an exception other than `RequestError`, this is logged, and the result is `None`.
        """
        try:
            return await self.scope.run(question)
        except RequestError:
            raise
        except Exception:
            self.log.exception("asking the user failed")
            return None

    def record(self, update: v2.SessionUpdate) -> None:
        """Record an update in the transcript, and in the state of the open prompts."""
        transcript = self.transcript
        transcript.apply(update)
        if isinstance(update, v2.UserMessage | v2.UserMessageChunk):
            self.previous = None  # the replay has begun
            self.prompts.record_user_message(update.message_id)
        elif self.previous is not None:
            self.previous.apply(update)
        if getattr(update, "session_update", None) == "state_update":
            if transcript.state != "idle":
                self.prompts.record_running()
            elif transcript.stop_reason == "error":
                self._fail(transcript.error)
            else:
                end = PromptResult(transcript.stop_reason)
                self.prompts.record_idle(end, is_cancelled=end.stop_reason == "cancelled")
            self._note_end()

    def _note_end(self) -> None:
        """Allow requests to the user again once no work goes on."""
        is_working = self.transcript.state not in (None, "idle")
        if self._is_open and not is_working and all(prompt.completion.done() for prompt in self.prompts.open):
            self.scope.reset()

    def _fail(self, error: v2.Error | None) -> None:
        if self._core.connection.is_ended:  # whoever waits gets `ConnectionClosed`
            return
        details = error or v2.Error(code=INTERNAL_ERROR, message="the work has failed")
        request_error = RequestError(details.code, details.message, details.data)
        self.prompts.record_idle(make_error("session/prompt", request_error, error))

    def begin_end(self) -> None:
        """Send nothing more for the session: it is being closed or deleted."""
        self._is_open = False

    def end(self, error: Exception) -> None:
        """End the session: calls that wait for its work raise this error."""
        self._is_open = False
        self.scope.cancel()
        self.transcript.end()
        self.prompts.fail(error)

    def _require_open(self) -> None:
        self._core.require_agent()
        if not self._is_open:
            raise ValueError(f"the session {self.id!r} is closed")
