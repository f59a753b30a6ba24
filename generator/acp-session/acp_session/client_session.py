"""A session as its client has it: prompts, modes, options, and what the agent has reported of it."""

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
from jsonrpc_bindings.peers import unserved

from .arguments import content_block
from .background import CancelScope
from .errors import PeerError, RequestError, error_for
from .log import SessionLog
from .modes import Mode, mode_option, with_value
from .permission import PermissionRequest
from .prompts import OpenPrompts
from .transcript import Transcript

if TYPE_CHECKING:
    from acp_workspace.workspace import RootSet

    from .client_core import ClientCore

T = TypeVar("T")

PromptContent: TypeAlias = "str | v2.ContentBlock | Sequence[str | v2.ContentBlock]"
"""What a user says: a text or a content block, or several."""


class FollowsRoots(Protocol):
    """What follows the roots of a session whenever they change, such as `RootsProvider` for MCP servers; `None` at its end."""

    async def follow(self, roots: RootSet | None) -> object:
        """Take the roots as they are now; `None`: the session has ended."""
        ...


@dataclass(frozen=True, slots=True)
class PromptResult:
    """How the work on a prompt has ended: the reason, `None` where the agent does not say it."""

    stop_reason: str | None


class ClientSession:
    """An open session, made by `AgentConnection`. `transcript` is what the agent has reported; `id` is the agent's name for it. `log`
    writes to the logger `acp_session`, with this id.
    """

    def __init__(self, core: ClientCore, session_id: str, transcript: Transcript) -> None:
        self._core = core
        self.id = session_id
        self.log = SessionLog(session_id)
        self.transcript = transcript
        self.followers: list[FollowsRoots] = []
        self.pending_updates: deque[v2.SessionUpdate] = deque()
        self.prompts: OpenPrompts[PromptResult] = OpenPrompts()
        self.scope = CancelScope()
        self._is_open = True

    def __repr__(self) -> str:
        return f"<ClientSession {self.id!r}>"

    @property
    def is_open(self) -> bool:
        """Whether the session can be used; a session that was closed or deleted cannot."""
        return self._is_open

    @property
    def root_set(self) -> RootSet:
        """The directories that the session may use, bound. Raises `RequestError` -32602 once it is closed."""
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
        """The modes that the session can be in."""
        return self.transcript.modes

    @property
    def current_mode(self) -> str | None:
        """The id of the mode that it is in; `None` where it has no modes."""
        return self.transcript.current_mode

    @property
    def config_options(self) -> tuple[v2.SessionConfigOption, ...]:
        """The options with their values, the mode among them."""
        return self.transcript.config_options

    @property
    def files(self) -> FileSystem:
        """The files of this machine in the roots of the session. Raises `RequestError` -32601 where none are offered."""
        if self._core.services.files is None:
            raise unserved("fs")
        return self._core.services.files

    @property
    def terminals(self) -> Terminals:
        """The commands that run here for the session. Raises `RequestError` -32601 where none are offered."""
        if self._core.services.commands is None:
            raise unserved("terminal")
        return self._core.services.commands

    def prompt(self, prompt: PromptContent) -> Coroutine[Any, Any, PromptResult]:
        """Send a prompt, and return when the work on it has ended. Cancelled itself, or out of time, it cancels the work. After work that
        was cancelled it waits for the end of that. `cancel` ends every prompt that was called before it, sent or not.

        Raises `PeerError` where the agent refuses the prompt or the work fails, `NotAdvertised` for content of a type that it does not
        take, `ConnectionClosed`, `ValueError` for a closed session and for a prompt that is no content.
        """
        return self._prompt(prompt, self.scope.cancellations)

    async def _prompt(self, prompt: PromptContent, cancellations: int) -> PromptResult:
        self._require_open()
        parts: Any = prompt if isinstance(prompt, Sequence) and not isinstance(prompt, str) else [prompt]
        request = v2.PromptRequest(session_id=self.id, prompt=[content_block(one) for one in parts])
        self._core.require_prompt(request.prompt)
        while self.scope.is_cancelled and self.prompts.open:
            await self.prompts.wait_until_ended()
            await asyncio.sleep(0)
            self._require_open()
        if self.scope.cancellations != cancellations:
            return PromptResult("cancelled")
        self.scope.reset()

        async def send() -> str:
            # it may wait for the work before it
            return str((await self._core.request("session/prompt", request, timeout=math.inf)).message_id)

        try:
            return await self.prompts.wait_for_end(send())
        except (asyncio.CancelledError, TimeoutError):
            if self._is_open:
                await self._core.attempt(self.cancel())
            raise
        except PeerError as error:
            if error.code == REQUEST_CANCELLED:
                return PromptResult("cancelled")
            raise
        finally:
            self._note_end()

    async def cancel(self) -> None:
        """Stop the work: open requests for permission are answered `cancelled`, what awaits approval is refused, running commands end, and
        tool calls are marked. `prompt` returns when the agent has stopped.
        """
        self._require_open()
        self.scope.cancel()
        try:
            await self._core.calls.notify("session/cancel", v2.CancelSessionNotification(session_id=self.id))
        finally:
            self.transcript.mark_cancelled()
            self._note_end()

    async def set_mode(self, mode_id: str) -> None:
        """Change the mode. Raises `ValueError` for one that the session does not have."""
        option = mode_option(self.config_options)
        if option is None or mode_id not in {mode.id for mode in self.modes}:
            known = ", ".join(mode.id for mode in self.modes) or "none"
            raise ValueError(f"the session has no mode {mode_id!r}; its modes: {known}")
        await self.set_config_option(option.config_id, mode_id)

    async def set_config_option(self, config_id: str, value: str | bool) -> None:
        """Change an option: the id of a value, or true or false for a switch. Raises `ValueError` for an option or a value that the
        session does not have.
        """
        self._require_open()
        found = [one for one in self.config_options if one.config_id == config_id]
        if not any(isinstance(one, v2.UnknownSessionConfigOption) for one in found):
            with_value(found, config_id, value)
        fields: Any = {"session_id": self.id, "config_id": config_id, "value": value}
        is_switch = isinstance(value, bool)
        type_ = v2.BooleanSetSessionConfigOptionRequest if is_switch else v2.IdSetSessionConfigOptionRequest
        request = type_(**fields)
        self.transcript.set_initial_state(await self._core.request("session/set_config_option", request))

    async def cancel_tool_call(self, tool_call_id: str) -> None:
        """Stop one tool call. Raises `ValueError` for one that does not offer it."""
        call = self.transcript.tool_calls.get(tool_call_id)
        if call is None or not call.can_cancel:
            raise ValueError(f"the tool call {tool_call_id!r} cannot be cancelled on its own")
        request = v2.CancelToolCallRequest(session_id=self.id, tool_call_id=tool_call_id)
        await self._core.request("tool_call/cancel", request)

    async def cancel_terminal(self, terminal_id: str) -> None:
        """Stop the command of one terminal. Raises `ValueError` for one that does not offer it."""
        terminal = self.transcript.terminals.get(terminal_id)
        if terminal is None or not terminal.can_cancel:
            raise ValueError(f"the terminal {terminal_id!r} cannot be stopped")
        request = v2.CancelTerminalRequest(session_id=self.id, terminal_id=terminal_id)
        await self._core.request("terminal/cancel", request)

    async def close(self) -> None:
        """End the session; it stays in the list and can be opened again. Whatever the agent answers, nothing is served for it any more."""
        self._require_open()
        await self._core.close_session(self.id)

    async def delete(self) -> None:
        """Have the session removed, as `AgentConnection.delete_session`."""
        await self._core.delete_session(self.id)

    async def follow_roots(self, follower: FollowsRoots) -> None:
        """Call `follower` with the roots of the session, now and whenever they change; with `None` at its end."""
        self.followers.append(follower)
        await follower.follow(self.root_set)

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T | None:
        """What a person decides, or `None` where the work or the session ends first; where it has been cancelled, nobody is asked. What
        asking raises beside `RequestError` is logged, and decides nothing.
        """
        try:
            return await self.scope.run(question)
        except RequestError:
            raise
        except Exception:
            self.log.exception("asking the user failed")
            return None

    def record(self, update: v2.SessionUpdate) -> None:
        """Take an update in."""
        transcript = self.transcript
        transcript.apply(update)
        if isinstance(update, v2.UserMessage | v2.UserMessageChunk):
            self.prompts.record_user_message(update.message_id)
        elif getattr(update, "session_update", None) == "state_update":
            if transcript.state != "idle":
                self.prompts.record_running()
            elif transcript.stop_reason == "error":
                self._fail(transcript.error)
            else:
                end = PromptResult(transcript.stop_reason)
                self.prompts.record_idle(end, is_cancelled=end.stop_reason == "cancelled")
            self._note_end()

    def _note_end(self) -> None:
        """Nothing is cancelled any more once no work goes on."""
        is_working = self.transcript.state not in (None, "idle")
        if self._is_open and not is_working and all(prompt.completion.done() for prompt in self.prompts.open):
            self.scope.reset()

    def _fail(self, error: v2.Error | None) -> None:
        if self._core.connection.is_ended:  # whoever waits gets `ConnectionClosed`
            return
        found = error or v2.Error(code=INTERNAL_ERROR, message="the work has failed")
        failed = RequestError(found.code, found.message, found.data)
        self.prompts.record_idle(error_for("session/prompt", failed, error))

    def end(self, error: Exception) -> None:
        """Note that the session has ended: whoever waits for its work gets this error."""
        self._is_open = False
        self.scope.cancel()
        self.transcript.end()
        self.prompts.fail(error)

    def current_request(self, request: PermissionRequest) -> Any:
        """The tool call of a request for permission as it stands now, with what was reported of it before."""
        call = request.tool_call
        found = None if call is None else self.transcript.tool_calls.get(call.tool_call_id)
        return call if found is None else found.current

    def _require_open(self) -> None:
        self._core.require_agent()
        if not self._is_open:
            raise ValueError(f"the session {self.id!r} is closed")
