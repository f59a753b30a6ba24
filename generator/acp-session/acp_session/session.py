"""A session of an agent: what its author uses, its history, and its turns."""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypeVar, cast

from acp_bindings import UNSET, ConnectionClosed, RequestError, to_builtins, v2
from acp_bindings.v2.peers import RemoteClient

from acp_workspace.scope import parse_scope
from acp_workspace.workspace import RootSet
from jsonrpc_bindings import UnsetType
from jsonrpc_bindings.failures import INTERNAL
from jsonrpc_bindings.parse import parse

from .arguments import omit_none
from .background import UNATTENDED, retrieve_exception
from .errors import answer_to_hook
from .log import SessionLog
from .modes import MODE, Mode, find_mode_option, list_modes, with_value
from .prompts import TurnQueue
from .services import Services
from .store import Store, StoredSession
from .transcript import FINAL_STATUSES, TerminalState

U = TypeVar("U", bound=v2.SessionUpdate)

MAX_HISTORY: Final = 100_000
"""The maximum number of updates that a session keeps; the oldest are dropped first."""
MESSAGE_KINDS: Final = ("agent_message_chunk", "agent_thought_chunk", "state_update")
"""The kinds of updates that do not end the current message."""
STOP_REASONS: Final = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
"""The reasons for which a turn may end."""
CANCELLED: Final[dict[str, Any]] = {"stopReason": "cancelled"}

OnPrompt: TypeAlias = "Callable[[str], Coroutine[Any, Any, object]]"
"""Does the work on the prompt whose message has this id; returns the stop reason."""


_IS_ABANDONED: Final[ContextVar[asyncio.Event | None]] = ContextVar("acp_session_is_abandoned", default=None)
"""Set for the work of a turn that goes on although it was cancelled."""


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """What a turn can do with this client, by the names of the methods of `Turn`.

    Files and commands are the client's in version 1, and those of the agent's own machine in version 2.
    """

    read_text_file: bool = False
    write_text_file: bool = False
    run_command: bool = False
    ask: bool = False
    ask_url: bool = False


@dataclass(slots=True, eq=False)
class ClientConnection:
    """A connection to a client in a `version` of the protocol. `user` is who is logged in; `None` if nobody is.

    A session belongs to the user of the connection that created it; other users cannot see it.
    """

    version: int
    client: RemoteClient
    services: Services
    info: v2.Implementation | None
    capabilities: ClientCapabilities
    user: str | None = None


class Session:
    """A session of an agent.

    `data` belongs to the author: the store keeps it, and a fork gets a copy. `mcp_servers` are those that the client named when it
    opened the session. `log` writes to the logger `acp_session`, with the session's id.

    Work that continues after its cancellation, with everything it has started, can no longer use the session or the client: it gets
    `ConnectionClosed`.
    """

    def __init__(
        self, stored: StoredSession, connection: ClientConnection, store: Store, *, is_closed: bool = False
    ) -> None:
        self.log = SessionLog(stored.id)
        self.mcp_servers: tuple[v2.McpServer, ...] = ()
        self.connection = connection
        self.stored = stored
        self.root_set: RootSet | None = None
        self.closing: asyncio.Task[None] | None = None
        self.work: asyncio.Task[None] | None = None
        self._running: asyncio.Task[object] | None = None
        self.queue = TurnQueue()
        self._stop_event = asyncio.Event()
        self._store = store
        self._state = "idle"
        self._turn: str | None = None
        self._background: list[v2.BackgroundWork] | None = None
        self._is_opening, self._is_closed = True, is_closed
        self._pending: list[v2.SessionUpdate] | None = None
        self._calls: set[str] = set()
        self._message: tuple[str, str] | None = None
        self._terminals: dict[str, TerminalState] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.stored.id

    @property
    def cwd(self) -> str:
        """The working directory, an absolute path. Relative paths are resolved against it."""
        return self.stored.cwd

    @property
    def roots(self) -> tuple[str, ...]:
        """The directories of the session, `cwd` first."""
        return (self.stored.cwd, *self.stored.additional_directories)

    @property
    def data(self) -> dict[str, Any]:
        """The author's own data of the session."""
        return self.stored.data

    @property
    def client_info(self) -> v2.Implementation | None:
        """The name and version of the client; `None` if it did not send them."""
        return self.connection.info

    @property
    def client_capabilities(self) -> ClientCapabilities:
        """What a turn can do with this client."""
        return self.connection.capabilities

    @property
    def history(self) -> Sequence[v2.SessionUpdate]:
        """The user's messages and the agent's updates, in order."""
        return tuple(self.stored.history)

    @property
    def client(self) -> RemoteClient:
        """The calls to the client, such as `extension_request`."""
        self._require_work()
        return self.connection.client

    @property
    def services(self) -> Services:
        """The provider of files and commands."""
        self._require_work()
        return self.connection.services

    def absolute(self, path: str | os.PathLike[str]) -> str:
        """Make a path absolute: a relative path is resolved against `cwd`."""
        text = os.fspath(path)
        return self.cwd if text == "." else parse_scope(self.cwd, flavour=None).absolute(text)

    @property
    def title(self) -> str | None:
        """The title that clients show."""
        return self.stored.title

    async def set_title(self, title: str | None) -> None:
        """Set the title of the session."""
        await self.send_update(v2.SessionInfoUpdate(title=title))
        await self._save_between_turns()

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that are offered to the user."""
        return list_modes(self._mode_option)

    @property
    def mode(self) -> str | None:
        """The id of the current mode; `None` if the session has no modes."""
        return None if self._mode_option is None else self._mode_option.current_value

    async def set_modes(self, modes: Sequence[Mode], current: str) -> None:
        """Offer modes; an empty sequence withdraws them. Raises `ValueError` if `current` is not one of them."""
        values = [_make_choice(mode) for mode in modes]
        if values and current not in (mode.value for mode in values):
            raise ValueError(f"the mode {current!r} is not one of {[mode.value for mode in values]}")
        options = list(self.config_options)
        if values:
            option = v2.SessionConfigSelect(
                config_id=MODE, name="Mode", category=MODE, current_value=current, options=values
            )
            options.insert(0, option)
        await self._set_options(options)

    async def set_mode(self, mode_id: str) -> None:
        """Set the mode, if the agent itself changes it. Raises `ValueError` for a mode that is not offered."""
        await self.set_config_option(MODE if self._mode_option is None else self._mode_option.config_id, mode_id)

    @property
    def config_options(self) -> tuple[v2.SessionConfigOption, ...]:
        """The options that are offered to the user, without the modes."""
        return tuple(option for option in self.stored.config_options if option is not self._mode_option)

    @property
    def config(self) -> Mapping[str, str | bool]:
        """The current values of all options by id; the mode of `set_modes` has the id `mode`."""
        return {
            option.config_id: option.current_value
            for option in self.stored.config_options
            if isinstance(option, v2.SessionConfigSelect | v2.SessionConfigBoolean)
        }

    async def set_config_options(self, options: Sequence[v2.SessionConfigOption]) -> None:
        """Offer options instead of the previous ones.

        Modes are unaffected: they are set by `set_modes`, as the option of category `mode`. Raises `ValueError` for such an option, the
        id `mode`, or duplicate ids.
        """
        ids, mode = [option.config_id for option in options], self._mode_option
        if MODE in ids or len(set(ids)) != len(ids):
            raise ValueError(f"options need ids of their own, and {MODE!r} is that of the modes: {ids}")
        if find_mode_option(options) is not None:
            raise ValueError(f"an option of category {MODE!r} is the mode of the session: offer it by 'set_modes'")
        await self._set_options([*([] if mode is None else [mode]), *options])

    async def set_config_option(self, config_id: str, value: str | bool) -> None:
        """Set the value of an option. Raises `ValueError` for an unknown option or value."""
        await self._set_options(with_value(self.stored.config_options, config_id, value))

    async def set_commands(self, commands: Sequence[v2.AvailableCommand]) -> None:
        """Offer commands instead of the previous ones."""
        self._require_work()
        update = copy_update(v2.AvailableCommandsUpdate(available_commands=list(commands)))
        self.stored.commands = list(update.available_commands)
        await self._send(update)
        await self._save_between_turns()

    async def _set_options(self, options: list[v2.SessionConfigOption]) -> None:
        self._require_work()
        update = copy_update(v2.ConfigOptionUpdate(config_options=list(options)))
        self.stored.config_options = list(update.config_options)
        await self._send(update)
        await self._save_between_turns()

    async def replace_options(self, options: list[v2.SessionConfigOption]) -> None:
        """Replace the options without an update, because a response contains them."""
        self.stored.config_options = options
        await self._save_between_turns()

    @property
    def _mode_option(self) -> v2.SessionConfigSelect | None:
        return find_mode_option(self.stored.config_options)

    async def set_background(self, work: Sequence[v2.BackgroundWork]) -> None:
        """Report work that goes on besides the turns and is not cancelled with them. Version 1 cannot express it."""
        self._require_work()
        self._background = list(work)
        await self._send_state(self._state)

    async def send_update(self, update: v2.SessionUpdate) -> None:
        """Send any update of the protocol, and add it to the history as it is now. Raises `EncodeError` for what JSON cannot express."""
        self._require_work()
        await self.send_own(copy_update(update))

    async def send_own(self, update: v2.SessionUpdate) -> None:
        """Send an update that can be sent and that nobody else holds, and add it to the history."""
        self._require_work()
        if isinstance(update, v2.SessionInfoUpdate) and update.title is not UNSET:
            self.stored.title = update.title
        self.keep(update)
        await self._send(update)

    def find_message_id(self, kind: str) -> str:
        """The id of the message that a chunk belongs to: consecutive chunks of one kind form one message."""
        if self._message is None or self._message[0] != kind:
            self._message = kind, f"msg_{secrets.token_hex(8)}"
        return self._message[1]

    def call_id(self) -> str:
        """A new tool call id."""
        self.stored.calls += 1
        return f"call_{self.stored.calls}"

    async def set_state(self, turn: str, state: str) -> None:
        """Report the foreground state of the session, if the turn with this message has not ended."""
        if turn == self._turn:
            await self._send_state(state)

    async def show_terminal(self, update: v2.TerminalUpdate | v2.TerminalOutputChunk, limit: int) -> None:
        """Send a terminal's update. The history keeps its command, and its end with the last `limit` bytes of the output."""
        terminal = self._terminals.setdefault(update.terminal_id, TerminalState(update.terminal_id, most=limit))
        terminal.apply(update)
        if isinstance(update, v2.TerminalUpdate) and isinstance(update.exit_status, v2.TerminalExitStatus):
            del self._terminals[update.terminal_id]
            self.keep(update.__replace__(output=_get_output(terminal)))
        elif isinstance(update, v2.TerminalUpdate) and update.output is UNSET:
            self.keep(update.__replace__(capabilities=None))
        with suppress(ConnectionError):  # nobody listens any more
            await self._send(update)

    def rename_terminal(self, terminal_id: str) -> None:
        """Give a terminal of the history another id, because a client of version 1 uses its id for a new one."""
        history, new_id = self.stored.history, f"{terminal_id}~{secrets.token_hex(4)}"
        if any(isinstance(update, v2.TerminalUpdate) and update.terminal_id == terminal_id for update in history):
            history[:] = [_rename_terminal(update, terminal_id, new_id) for update in history]

    def _require_work(self) -> None:
        """Raise `ConnectionClosed` in work that goes on after its cancellation."""
        is_abandoned = _IS_ABANDONED.get()
        if is_abandoned is not None and is_abandoned.is_set():
            raise ConnectionClosed(
                "the turn was cancelled, and has ended without its work: nothing more is done for it"
            )

    def keep(self, update: v2.SessionUpdate) -> None:
        """Add an update to the history."""
        history = self.stored.history
        history.append(update)
        del history[: max(0, len(history) - MAX_HISTORY)]
        call = getattr(update, "tool_call_id", None)
        if call is not None:
            self._calls.add(call)
        self.stored.updated_at = datetime.now(UTC).isoformat()

    async def _send(self, update: v2.SessionUpdate) -> None:
        """Send an update without adding it to the history. It is held back while the session is being opened."""
        if getattr(update, "session_update", None) not in MESSAGE_KINDS:
            self._message = None
        if self._is_closed:
            raise ConnectionClosed(f"the session {self.id} is closed")
        if self._pending is not None:
            self._pending.append(update)
        else:
            await self._deliver(update)

    async def _deliver(self, update: v2.SessionUpdate) -> None:
        await self.connection.client.session_update(v2.UpdateSessionNotification(session_id=self.id, update=update))

    async def _send_state(self, state: str, **fields: Any) -> None:
        """Report the foreground state of the session."""
        self._state = state
        body = {"sessionUpdate": "state_update", "state": state, **fields}
        if self._background is not None:
            body["background"] = to_builtins(self._background)
        await self._send(v2.decode_as(v2.StateUpdate, body, lenient=False))

    async def _save_between_turns(self) -> None:
        """Save the session, unless a turn is running, which saves it at its end."""
        if not self._is_opening and self._state == "idle":
            await self._save()

    async def _save(self) -> None:
        """Save the session. Errors of the store are only logged."""
        try:
            if not self._is_closed:
                await self._store.save(self.stored)
        except Exception:
            self.log.exception("the store did not save it")

    @asynccontextmanager
    async def open(self, roots: RootSet, servers: Sequence[v2.McpServer] | UnsetType) -> AsyncGenerator[None]:
        """Use these roots and MCP servers, unless the block raises. Updates are held back until `finish_opening`."""
        record = self.stored
        before = self.root_set, self.mcp_servers, record.cwd, record.additional_directories
        self.root_set, self.mcp_servers = roots, () if servers is UNSET else tuple(servers)
        record.cwd, record.additional_directories = roots.scope.cwd, roots.scope.additional
        self._is_opening, self._pending = True, []
        try:
            yield
        except BaseException:
            self.root_set, self.mcp_servers, record.cwd, record.additional_directories = before
            self._is_opening = False
            roots.close()
            if self.root_set is not None:
                await self._release()
                await self._save_between_turns()
            raise
        if before[0] is not None:
            before[0].close()

    async def save(self) -> None:
        """Save the session, and let later settings save it too. Raises what the store raises."""
        self._is_opening = False
        await self._store.save(self.stored)

    def offer(self) -> dict[str, Any]:
        """The options and commands as fields of a response; they are removed from the updates that are held back."""
        self._drop_settings()
        fields = {"config_options": list(self.stored.config_options), "available_commands": list(self.stored.commands)}
        return {name: value for name, value in fields.items() if value}

    def _drop_settings(self) -> None:
        if self._pending is not None:
            settings = v2.ConfigOptionUpdate | v2.AvailableCommandsUpdate
            self._pending = [update for update in self._pending if not isinstance(update, settings)]

    async def finish_opening(self, *, is_replayed: bool = False, is_new: bool = False) -> None:
        """Send the history if it is to be replayed, then the updates that were held back, and the current state."""
        if not is_new:
            self._drop_settings()  # the answer is still to come
        if is_replayed:
            with suppress(ConnectionError):
                await self._replay()
        await self._release()
        # A turn that begins or ends reports its state itself.
        if not is_new and (self._state != "idle" or self.work is None):
            with suppress(ConnectionError):
                await self._send_state(self._state)

    async def _replay(self) -> None:
        """Send the history and the output of running terminals. New updates are sent after these."""
        history, terminal_updates = list(self.stored.history), v2.TerminalUpdate | v2.TerminalOutputChunk
        history_ids = {id(update) for update in history}
        self._pending = [
            update
            for update in self._pending or ()
            if id(update) not in history_ids and not isinstance(update, terminal_updates)
        ]
        outputs = [
            v2.TerminalUpdate(terminal_id=terminal.terminal_id, output=_get_output(terminal))
            for terminal in self._terminals.values()
        ]
        for update in (*history, *outputs):
            await self._deliver(update)

    async def _release(self) -> None:
        """Send the updates that were held back, in order."""
        with suppress(ConnectionError):  # nobody listens any more
            while self._pending:
                await self._deliver(self._pending.pop(0))
        self._pending = None

    def stop(self) -> None:
        """Cancel the turn and the waiting prompts."""
        self.queue.cancel()
        if self.work is not None and not self.is_stopped:
            self._stop_event.set()
            self._turn = None  # its state is its end
            # At once, before it reads an answer that the client has sent after the cancellation.
            if self._running is not None:
                self._running.cancel()

    async def end_work(self) -> None:
        """End all work, with its updates, and close the roots."""
        self.stop()
        while self.work is not None:
            await asyncio.wait([self.work])
        await self.connection.services.end(self.id)
        if self.root_set is not None:
            self.root_set.close()

    async def close(self) -> None:
        """Save and close the session; it cannot be used any more."""
        await self._save()
        self._is_closed = True

    @property
    def is_stopped(self) -> bool:
        """Whether the turn was cancelled."""
        return self._stop_event.is_set()

    async def prompt(self, content: Sequence[v2.ContentBlock], on_prompt: OnPrompt, grace: float) -> str:
        """Accept a prompt once the previous turn has ended, start its work, and return the id of its message.

        Work that continues after its cancellation is abandoned after `grace` seconds.
        """
        await self.queue.wait()
        message = v2.UserMessage(message_id=f"msg_{secrets.token_hex(8)}", content=list(content))
        self._stop_event.clear()
        self.work = asyncio.create_task(self._work(message, on_prompt, grace))
        return message.message_id

    async def _work(self, message: v2.UserMessage, on_prompt: OnPrompt, grace: float) -> None:
        """Run one turn. Only the agent's work can be cancelled: the message and the end are always sent."""
        try:
            self._calls, self._turn = set(), message.message_id
            self.keep(message)
            await self._save()
            with suppress(ConnectionError):  # nobody listens any more
                await self._send(message)
                await self._send_state("running")
            await self._end(await self._run(message.message_id, on_prompt, grace))
        except Exception:
            self.log.exception("a turn failed")
            try:
                await self._end(_describe_failure(INTERNAL))
            except Exception:
                self.log.exception("the end of a turn was not sent")
        finally:
            self.work = None
            self.queue.finish()

    async def _run(self, message_id: str, on_prompt: OnPrompt, grace: float) -> dict[str, Any]:
        """Run the agent's work and return the fields of its end."""
        if self._stop_event.is_set():
            return CANCELLED
        is_abandoned = asyncio.Event()

        async def run() -> object:
            _IS_ABANDONED.set(is_abandoned)
            return await on_prompt(message_id)

        running = self._running = asyncio.create_task(run())
        stopping = asyncio.create_task(self._stop_event.wait())
        await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        self._running = None
        if self._stop_event.is_set():
            await asyncio.wait([running], timeout=grace)
            if not running.done():
                self.log.error("'on_prompt' goes on although it was cancelled; its turn has ended without it")
                is_abandoned.set()
            UNATTENDED.start(running).add_done_callback(retrieve_exception)
        return CANCELLED if self._stop_event.is_set() or running.cancelling() else self._find_reason(running)

    def _find_reason(self, running: asyncio.Task[object]) -> dict[str, Any]:
        error = RuntimeError("cancelled from within") if running.cancelled() else running.exception()
        reason = None if error is not None else running.result() or STOP_REASONS[0]
        if error is None and not (isinstance(reason, str) and (reason in STOP_REASONS or reason.startswith("_"))):
            error = ValueError(f"'on_prompt' returned {reason!r}, which is none of {', '.join(STOP_REASONS)}")
        if error is None:
            return {"stopReason": reason}
        request_error = answer_to_hook(error)
        if isinstance(error, ConnectionClosed):  # a client that ends during a turn is no fault of its author
            self.log.warning("'on_prompt' failed: %s", error)
        elif request_error is None:
            self.log.error("'on_prompt' failed", exc_info=error)
        return _describe_failure(request_error or INTERNAL)

    async def _end(self, reason: dict[str, Any]) -> None:
        """Send the end of the work, and that of its open tool calls if it was cancelled or failed."""
        self._turn, self._state = None, "idle"
        background_ids = {
            work.tool_call_id for work in self._background or () if isinstance(work, v2.BackgroundToolCall)
        }
        calls: Collection[str] = self._calls - background_ids if reason["stopReason"] in ("error", "cancelled") else ()
        updates = self.end_calls(calls, "failed" if reason["stopReason"] == "error" else "cancelled")
        await self._save()
        with suppress(ConnectionError):
            for update in updates:
                await self._send(update)
            # the client may have cancelled before it knew of the end
            await self._send_state("idle", **(CANCELLED if self._stop_event.is_set() else reason))

    def end_calls(
        self, calls: Collection[str] | None = None, status: v2.ToolCallStatus = "cancelled"
    ) -> list[v2.SessionUpdate]:
        """End the open ones of these tool calls, by default of all; add the updates to the history, and return them."""
        statuses: dict[str, str | None] = {}
        for update in self.stored.history:
            call, now = getattr(update, "tool_call_id", None), getattr(update, "status", None)
            if call is not None and (calls is None or call in calls):
                statuses[call] = now if isinstance(now, str) else statuses.get(call)
        open_calls = [call for call, now in statuses.items() if now not in FINAL_STATUSES]
        updates: list[v2.SessionUpdate] = [
            v2.SessionToolCallUpdate(tool_call_id=call, status=status) for call in open_calls
        ]
        for update in updates:
            self.keep(update)
        return updates


def copy_update(update: U) -> U:
    """A copy of an update, as its receiver would decode it. Raises `EncodeError`: what cannot be sent must not be in a history."""
    return cast("U", v2.decode_as(v2.SessionUpdate, parse(v2.encode(update)), lenient=False))


def _rename_terminal(update: v2.SessionUpdate, terminal_id: str, new_id: str) -> v2.SessionUpdate:
    if isinstance(update, v2.TerminalUpdate) and update.terminal_id == terminal_id:
        return update.__replace__(terminal_id=new_id)
    if isinstance(update, v2.SessionToolCallUpdate) and isinstance(update.content, list):
        terminal = v2.Terminal(terminal_id=terminal_id)
        return update.__replace__(
            content=[v2.Terminal(terminal_id=new_id) if part == terminal else part for part in update.content]
        )
    return update


def _describe_failure(error: RequestError) -> dict[str, Any]:
    return {"stopReason": "error", "error": error.as_json()}


def _make_choice(mode: Mode) -> v2.SessionConfigSelectOption:
    return v2.SessionConfigSelectOption(value=mode.id, name=mode.name, **omit_none(description=mode.description))


def _get_output(terminal: TerminalState) -> v2.TerminalOutput:
    return v2.TerminalOutput(data=base64.b64encode(terminal.output).decode())
