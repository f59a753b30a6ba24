"""A session, as the author of an agent sees it."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Collection, Coroutine, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from acp_bindings import UNSET, ConnectionClosed, to_builtins, v2

from acp_workspace.scope import parse_scope

from .background import Background
from .codec.interfaces import ClientInterface
from .modes import MODE, Mode, mode_option, modes_of, with_value
from .services import Services
from .store import Store, StoredSession

LOG: Final = logging.getLogger("acp_session")

MOST_HISTORY: Final = 100_000
"""Updates of a session that are kept; the oldest go first."""
WITHIN_MESSAGE: Final = ("agent_message_chunk", "agent_thought_chunk", "state_update")
"""The kinds of updates after which a message goes on."""
ENDED: Final = ("completed", "failed", "cancelled")
"""The statuses of a tool call that has ended."""


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """What a turn can do with this client, each by the name of the method of `Turn`. Files and commands are the client's in version 1, and
    those of the agent's own machine in version 2.
    """

    read_text_file: bool = False
    write_text_file: bool = False
    run_command: bool = False
    ask: bool = False
    ask_url: bool = False


@dataclass(slots=True, eq=False)
class ClientConnection:
    """A connection to a client in a `version` of the protocol. `user` is who is logged in, `None` where nobody is.
    A session belongs to the user of the connection that began it; for other users there is no such session.
    """

    version: int
    client: ClientInterface
    services: Services
    info: v2.Implementation | None
    capabilities: ClientCapabilities
    user: str | None = None


class Session:
    """A session of an agent. `data` is the author's own: the store keeps it, and a fork gets a copy. `mcp_servers` are those that the
    client named when it opened the session. `log` writes to the logger `acp_session`, with the session's id.
    """

    def __init__(self, stored: StoredSession, connection: ClientConnection, store: Store) -> None:
        self.log = SessionLog(stored.id)
        self.mcp_servers: tuple[v2.McpServer, ...] = ()
        self._stored = stored
        self.connection = connection
        self._store = store
        self._background: list[v2.BackgroundWork] | None = None
        self._is_opening, self._is_closed = True, False
        self._early: list[v2.SessionUpdate] | None = None
        self._calls: set[str] = set()
        self._message: tuple[str, str] | None = None
        self._late = Background()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    @property
    def id(self) -> str:
        """The id of the session."""
        return self._stored.id

    @property
    def cwd(self) -> str:
        """The working directory, an absolute path. Relative paths count from it."""
        return self._stored.cwd

    @property
    def roots(self) -> tuple[str, ...]:
        """The directories of the session, `cwd` first."""
        return (self._stored.cwd, *self._stored.additional_directories)

    @property
    def data(self) -> dict[str, Any]:
        """What the author keeps of the session."""
        return self._stored.data

    @property
    def client_info(self) -> v2.Implementation | None:
        """What the client says it is."""
        return self.connection.info

    @property
    def client_capabilities(self) -> ClientCapabilities:
        """What a turn can do with this client."""
        return self.connection.capabilities

    @property
    def history(self) -> Sequence[v2.SessionUpdate]:
        """What the user said and the agent sent, in order."""
        return tuple(self._stored.history)

    @property
    def client(self) -> ClientInterface:
        """The calls to the client, such as `extension_request`."""
        return self.connection.client

    @property
    def services(self) -> Services:
        """Who serves files and commands."""
        return self.connection.services

    def absolute(self, path: str | os.PathLike[str]) -> str:
        """A path as an absolute one: a relative path counts from `cwd`."""
        text = os.fspath(path)
        return self.cwd if text == "." else parse_scope(self.cwd, flavour=None).absolute(text)

    # --- title, modes, options, commands

    @property
    def title(self) -> str | None:
        """The title that clients show."""
        return self._stored.title

    async def set_title(self, title: str | None) -> None:
        """Give the session a title."""
        await self.send_update(v2.SessionInfoUpdate(title=title))
        await self._save_between_turns()

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that the user may choose."""
        option = self._mode_option()
        return () if option is None else modes_of(option)

    @property
    def mode(self) -> str | None:
        """The id of the mode that the session is in; `None` where it has no modes."""
        option = self._mode_option()
        return None if option is None else option.current_value

    async def set_modes(self, modes: Sequence[Mode], current: str) -> None:
        """Offer modes; none take the offer back. Raises `ValueError` for a current one that is not among them."""
        values = [_choice(one) for one in modes]
        if values and current not in (one.value for one in values):
            raise ValueError(f"the mode {current!r} is not one of {[one.value for one in values]}")
        option = v2.SessionConfigSelect(
            config_id=MODE, name="Mode", category=MODE, current_value=current, options=values
        )
        await self._set_options([*([option] if values else []), *self.config_options])

    async def set_mode(self, mode_id: str) -> None:
        """Change the mode, as where the agent decides so. Raises `ValueError` for one that is not offered."""
        option = self._mode_option()
        await self.set_config_option(MODE if option is None else option.config_id, mode_id)

    @property
    def config_options(self) -> tuple[v2.SessionConfigOption, ...]:
        """The options that the user may set, without the modes."""
        mode = self._mode_option()
        return tuple(one for one in self._stored.config_options if one is not mode)

    @property
    def config(self) -> Mapping[str, str | bool]:
        """The current values of all options by their ids; the mode that `set_modes` offers is under `mode`."""
        options = self._stored.config_options
        return {
            one.config_id: one.current_value
            for one in options
            if isinstance(one, v2.SessionConfigSelect | v2.SessionConfigBoolean)
        }

    async def set_config_options(self, options: Sequence[v2.SessionConfigOption]) -> None:
        """Offer options in place of those before. Modes stay: `set_modes` has them, as the option of category `mode`."""
        ids, mode = [one.config_id for one in options], self._mode_option()
        if MODE in ids or len(set(ids)) != len(ids):
            raise ValueError(f"options need ids of their own, and {MODE!r} is that of the modes: {ids}")
        if mode_option(options) is not None:
            raise ValueError(f"an option of category {MODE!r} is the mode of the session: offer it by 'set_modes'")
        await self._set_options([*([] if mode is None else [mode]), *options])

    async def set_config_option(self, config_id: str, value: str | bool) -> None:
        """Change the value of an option. Raises `ValueError` for one that is not offered, or a value that it does not have."""
        await self._set_options(with_value(self._stored.config_options, config_id, value))

    async def set_commands(self, commands: Sequence[v2.AvailableCommand]) -> None:
        """Offer commands in place of those before."""
        self._stored.commands = list(commands)
        await self._set(v2.AvailableCommandsUpdate(available_commands=list(commands)))

    async def set_background(self, work: Sequence[v2.BackgroundWork]) -> None:
        """Say what goes on beside the turns: it is not cancelled with them. Version 1 has no word for it."""
        self._background = list(work)
        await self._send_state(self._state)

    async def send_update(self, update: v2.SessionUpdate) -> None:
        """Send any update of the protocol, and keep it in the history."""
        if isinstance(update, v2.SessionInfoUpdate) and update.title is not UNSET:
            self._stored.title = update.title
        self._keep(update)
        await self._send(update)

    def message_id(self, kind: str) -> str:
        """The id of the message that a piece belongs to: pieces of one kind that follow each other are one message."""
        if self._message is None or self._message[0] != kind:
            self._message = kind, f"msg_{secrets.token_hex(8)}"
        return self._message[1]

    def call_id(self) -> str:
        """An id for another tool call."""
        self._stored.calls += 1
        return f"call_{self._stored.calls}"

    async def set_state(self, turn: str, state: str) -> None:
        """Say what the session does in the foreground, in the turn with this message. A turn that has ended says no more."""
        if turn == self._turn:
            await self._send_state(state)

    # --- for the package

    def finish_later(self, work: Coroutine[Any, Any, None]) -> None:
        """Finish something that was cancelled before it could be taken back."""
        self._late.start(work)

    _state: str = "idle"
    _turn: str | None = None

    def _mode_option(self) -> v2.SessionConfigSelect | None:
        return mode_option(self._stored.config_options)

    async def _set_options(self, options: list[v2.SessionConfigOption]) -> None:
        self._stored.config_options = options
        await self._set(v2.ConfigOptionUpdate(config_options=list(options)))

    async def _set(self, update: v2.SessionUpdate) -> None:
        """Send what is new of the session."""
        await self._send(update)
        await self._save_between_turns()

    async def _save_between_turns(self) -> None:
        """Have the store keep what a turn does not keep at its end."""
        if not self._is_opening and self._state == "idle":
            await self._save()

    def _keep(self, update: v2.SessionUpdate) -> None:
        """Make an update a part of the history."""
        history = self._stored.history
        history.append(update)
        del history[: max(0, len(history) - MOST_HISTORY)]
        call = getattr(update, "tool_call_id", None)
        if call is not None:
            self._calls.add(call)
        self._stored.updated_at = datetime.now(UTC).isoformat()

    async def _send(self, update: v2.SessionUpdate) -> None:
        """Send an update that is no part of the history. It is kept back while the session is being opened."""
        if getattr(update, "session_update", None) not in WITHIN_MESSAGE:
            self._message = None
        if self._is_closed:
            raise ConnectionClosed(f"the session {self.id} is closed")
        if self._early is not None:
            self._early.append(update)
        else:
            await self._deliver(update)

    async def _deliver(self, update: v2.SessionUpdate) -> None:
        await self.connection.client.session_update(v2.UpdateSessionNotification(session_id=self.id, update=update))

    async def _send_state(self, state: str, **fields: Any) -> None:
        """Say what the session does in the foreground."""
        self._state = state
        body = {"sessionUpdate": "state_update", "state": state, **fields}
        if self._background is not None:
            body["background"] = to_builtins(self._background)
        await self._send(v2.decode_as(v2.StateUpdate, body, lenient=False))

    async def _save(self) -> None:
        """Have the store keep the session. What the store raises is logged: the work goes on."""
        if self._is_closed:
            return
        try:
            await self._store.save(self._stored)
        except Exception:
            self.log.exception("the store did not save it")

    def _end_calls(self, calls: Collection[str], *, is_failed: bool = False) -> list[v2.SessionUpdate]:
        """Keep, and return, updates that end those of some tool calls that are still open."""
        statuses: dict[str, str | None] = {}
        for update in self._stored.history:
            call, status = getattr(update, "tool_call_id", None), getattr(update, "status", None)
            if call is not None and call in calls:
                statuses[call] = status if isinstance(status, str) else statuses.get(call)
        updates: list[v2.SessionUpdate] = [
            v2.SessionToolCallUpdate(tool_call_id=call, status="failed" if is_failed else "cancelled")
            for call, status in statuses.items()
            if status not in ENDED
        ]
        for update in updates:
            self._keep(update)
        return updates


def _choice(mode: Mode) -> v2.SessionConfigSelectOption:
    named: dict[str, Any] = {} if mode.description is None else {"description": mode.description}
    return v2.SessionConfigSelectOption(value=mode.id, name=mode.name, **named)


class SessionLog(logging.LoggerAdapter[logging.Logger]):
    """The logger `acp_session`, with a session's id in each message and, as `session_id`, in each record."""

    def __init__(self, session_id: str) -> None:
        super().__init__(LOG, {"session_id": session_id})
        self._prefix = f"session {session_id}: "

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """See `logging.LoggerAdapter`."""
        return super().process(f"{self._prefix}{msg}", kwargs)
