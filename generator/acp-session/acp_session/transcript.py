"""The state of a session as its user sees it, computed from the agent's updates as typed data.

Updates change the item with their id: missing fields stay, null clears a field, a value replaces it, chunks are appended.

Sources: the pages of v2 on prompts, content, tool calls, plans, commands, configuration; the RFDs on terminal output, message updates.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from acp_bindings import UNSET, Unknown, v2

from .modes import Mode, find_mode_option, list_modes

Role: TypeAlias = Literal["user", "agent", "thought"]

_ROLES: Final[dict[str, Role]] = {"user_message": "user", "agent_message": "agent", "agent_thought": "thought"}
_CHANGEABLE: Final = (
    *("kind", "status", "title", "name", "content", "locations", "raw_input", "raw_output", "capabilities", "meta"),
)
_TERMINAL: Final = ("command", "cwd", "exit_status", "size", "capabilities")
FINAL_STATUSES: Final = ("completed", "failed", "cancelled")
"""The statuses of a tool call that has ended."""
_MIN_SIZE: Final = 64
"""The minimum number of characters that an entry, a terminal or a plan counts as."""

MAX_SIZE: Final = 64 * 1024 * 1024
"""The maximum number of characters of content in a transcript; the oldest are dropped first."""
MAX_OUTPUT: Final = 1024 * 1024
"""The maximum bytes of a terminal's output that are kept; the oldest are dropped first."""


@dataclass(slots=True)
class Message:
    """A message of the user or the agent, or a thought, with its current content."""

    role: Role
    message_id: str
    content: list[v2.ContentBlock] = field(default_factory=list[Any])
    meta: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The concatenated text blocks.

        >>> Message("agent", "m", [v2.TextContent(text="high "), v2.TextContent(text="tide")]).text
        'high tide'
        """
        return "".join(block.text for block in self.content if isinstance(block, v2.TextContent))


@dataclass(slots=True)
class ToolCallState:
    """The current state of a tool call; `current` has a value for each field that was reported and not cleared.

    `is_cancelled`: it was cancelled before it had ended, and the agent has not reported otherwise.
    """

    current: v2.ToolCallUpdate
    is_cancelled: bool = False

    @property
    def id(self) -> str:
        """The id of the tool call."""
        return self.current.tool_call_id

    @property
    def title(self) -> str:
        """The title; empty if there is none."""
        return self.current.title if isinstance(self.current.title, str) else ""

    @property
    def status(self) -> str | None:
        """The last status; `None` before the first."""
        return self.current.status if isinstance(self.current.status, str) else None

    @property
    def can_cancel(self) -> bool:
        """Whether the client may cancel this tool call alone: it has not ended, and the agent offers it."""
        if self.is_cancelled or self.status in FINAL_STATUSES:
            return False
        capabilities = self.current.capabilities
        return isinstance(capabilities, v2.ToolCallCapabilities) and capabilities.cancel is not None


@dataclass(slots=True)
class TerminalState:
    """A terminal: the end of its output in bytes, whether earlier output was dropped, and the exit status of its command."""

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    output: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    exit_status: v2.TerminalExitStatus | None = None
    size: v2.TerminalSize | None = None
    capabilities: v2.TerminalCapabilities | None = None
    most: int = field(default=MAX_OUTPUT, repr=False)

    @property
    def text(self) -> str:
        """The output as text; invalid UTF-8 is replaced. It may contain escape sequences: do not write it to your own terminal."""
        return self.output.decode("utf-8", "replace")

    @property
    def can_cancel(self) -> bool:
        """Whether the client may stop the command: it has not ended, and the agent offers it."""
        has_ended = self.exit_status is not None
        return not has_ended and self.capabilities is not None and self.capabilities.cancel is not None

    def apply(self, update: v2.TerminalUpdate | v2.TerminalOutputChunk) -> bool:
        """Apply an update; return whether its output is valid base64."""
        data = getattr(update, "data", "")
        if isinstance(update, v2.TerminalUpdate):
            for name in _TERMINAL:
                if getattr(update, name) is not UNSET:
                    setattr(self, name, getattr(update, name))
            if update.output is not UNSET:
                self.output.clear()
                self.truncated = False
                data = "" if update.output is None else update.output.data
        try:
            self.output += base64.b64decode(data, validate=True)
        except ValueError:
            return False
        excess = len(self.output) - self.most
        if excess > 0:
            del self.output[:excess]
            self.truncated = True
        return True


@dataclass(slots=True)
class Compaction:
    """A compaction of the context, with its last status and its summary."""

    compaction_id: str
    status: str | None = None
    error: str | None = None
    summary: list[v2.ContentBlock] = field(default_factory=list[Any])


Entry: TypeAlias = Message | ToolCallState | Compaction | v2.Notice
E = TypeVar("E", bound=Entry)
Key: TypeAlias = "tuple[object, ...]"
"""What an entry, a terminal or a plan is known by: its kind, and its id."""
_REPLACED: Final = ("terminal", "plan")
"""The kinds that are no entries, and count as new whenever they change."""


class Transcript:
    """The state of one session. `entries` are in the order in which they began; everything else has the last reported value.

    `state` is the foreground state, `None` before it is reported; `stop_reason` and `error` say why work last ended, `background` lists
    the background work (`None`: not reported). `unknown` counts updates of unknown kinds, `malformed` output that is not base64,
    `dropped` the entries, parts of a lone entry, terminals and plans that were dropped to stay within `max_size` characters.
    """

    def __init__(self, *, max_size: int = MAX_SIZE) -> None:
        self.entries: list[Entry] = []
        self.terminals: dict[str, TerminalState] = {}
        self.plans: dict[str, v2.PlanUpdateContent] = {}
        self.commands: tuple[v2.AvailableCommand, ...] = ()
        self.config_options: tuple[v2.SessionConfigOption, ...] = ()
        self.usage: v2.UsageUpdate | None = None
        self.title: str | None = None
        self.updated_at: str | None = None
        self.state: str | None = None
        self.stop_reason: str | None = None
        self.error: v2.Error | None = None
        self.background: tuple[v2.BackgroundWork, ...] | None = None
        self.unknown: int = 0
        self.malformed: int = 0
        self.dropped: int = 0
        self._max_size = max_size
        self._size = 0
        self._sizes: dict[Key, int] = {}
        self._current: dict[Key, Entry] = {}
        self._cancelled: list[ToolCallState] = []

    def _list_messages(self, *roles: Role) -> tuple[Message, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Message) and entry.role in roles)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages and thoughts, in order."""
        return self._list_messages("user", "agent", "thought")

    @property
    def user_messages(self) -> tuple[Message, ...]:
        """The messages of the user, in order."""
        return self._list_messages("user")

    @property
    def agent_messages(self) -> tuple[Message, ...]:
        """The messages of the agent, in order."""
        return self._list_messages("agent")

    @property
    def thoughts(self) -> tuple[Message, ...]:
        """The thoughts of the agent, in order."""
        return self._list_messages("thought")

    @property
    def plan(self) -> tuple[v2.PlanEntry, ...]:
        """The entries of all plans, in order."""
        return tuple(step for plan in self.plans.values() if isinstance(plan, v2.PlanItems) for step in plan.entries)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes of the session."""
        return list_modes(find_mode_option(self.config_options))

    @property
    def current_mode(self) -> str | None:
        """The id of the current mode; `None` if the session has no modes."""
        option = find_mode_option(self.config_options)
        return None if option is None else option.current_value

    @property
    def tool_calls(self) -> dict[str, ToolCallState]:
        """The tool calls by id, in order."""
        return {entry.id: entry for entry in self.entries if isinstance(entry, ToolCallState)}

    def fork(self) -> Transcript:
        """A transcript that begins with a copy of this one, without its work. Ids start afresh: updates of the forked session change no
        copied entry.
        """
        copy = deepcopy(self)
        copy.end()
        copy.background = None
        for terminal in copy.terminals.values():
            terminal.capabilities = None
        copy._current.clear()
        copy._cancelled.clear()
        copy._sizes = {key if key[0] in _REPLACED else ("copy", *key): size for key, size in self._sizes.items()}
        return copy

    def set_initial_state(self, result: object) -> None:
        """Set options and commands from the result of `session/new`, `load`, `resume` or `fork`."""
        options, commands = getattr(result, "config_options", None), getattr(result, "available_commands", None)
        if isinstance(options, list):
            self.config_options = tuple(cast("list[v2.SessionConfigOption]", options))
        if isinstance(commands, list):
            self.commands = tuple(cast("list[v2.AvailableCommand]", commands))

    def apply(self, update: Any) -> None:
        """Apply an update. An update of an unknown kind is only counted."""
        match update:
            case v2.UserMessageChunk() | v2.AgentMessageChunk() | v2.AgentThoughtChunk():
                key, message = self._get_message(update.session_update.removesuffix("_chunk"), update.message_id)
                message.content.append(update.content)
                self._grow(key, update.content)
            case v2.UserMessage() | v2.AgentMessage() | v2.AgentThought():
                self._replace_message(update)
            case v2.ToolCallUpdate():
                self.update_tool_call(update)
            case v2.ToolCallContentChunk():
                key, call = self._get_call(update.tool_call_id)
                call.current = call.current.__replace__(content=[*_list_content(call), update.content])
                self._grow(key, update.content)
            case v2.TerminalUpdate() | v2.TerminalOutputChunk():
                self._update_terminal(update)
            case v2.PlanUpdate():
                self._update_plan(update.plan)
            case v2.AvailableCommandsUpdate():
                self.commands = tuple(update.available_commands)
            case v2.ConfigOptionUpdate():
                self.config_options = tuple(update.config_options)
            case v2.SessionInfoUpdate():
                self.title = self.title if update.title is UNSET else update.title
                self.updated_at = self.updated_at if update.updated_at is UNSET else update.updated_at
            case v2.UsageUpdate():
                self.usage = update
            case v2.CompactionUpdate() | v2.CompactionSummaryChunk():
                self._update_compaction(update)
            case v2.Notice():
                key, _ = self._get(("notice", id(update)), lambda: update)
                self._resize(key, _estimate_size(update))
            case _ if getattr(update, "session_update", None) == "state_update":
                self._update_state(update)
            case _:
                self.unknown += 1

    def take_terminals(self, earlier: Transcript) -> None:
        """Take over the terminals of an earlier transcript: those for a v1 agent are the client's, which the agent does not replay."""
        for name, terminal in earlier.terminals.items():
            self.terminals[name] = terminal
            self._update_terminal(v2.TerminalUpdate(terminal_id=name))

    def update_tool_call(self, update: v2.ToolCallUpdate) -> None:
        """Update a tool call, or begin it if it is unknown."""
        key, call = self._get_call(update.tool_call_id)
        changes = {name: getattr(update, name) for name in _CHANGEABLE if getattr(update, name) is not UNSET}
        call.current = call.current.__replace__(**changes)
        if update.status is not UNSET:
            call.is_cancelled = update.status == "cancelled"
        self._resize(key, _estimate_size(call.current))

    def end(self) -> None:
        """Record that the session has ended, with its work and tool calls."""
        self.mark_cancelled()
        if self.state is not None:
            self.state = "idle"

    def mark_cancelled(self) -> None:
        """Mark unfinished tool calls as cancelled, as when the user cancels the work."""
        for entry in self._current.values():
            if isinstance(entry, ToolCallState) and entry.status not in FINAL_STATUSES:
                entry.is_cancelled = True
                self._cancelled.append(entry)

    def _get_message(self, kind: str, message_id: str) -> tuple[Key, Message]:
        role = _ROLES[kind]
        return self._get((role, message_id), lambda: Message(role, message_id))

    def _get_call(self, tool_call_id: str) -> tuple[Key, ToolCallState]:
        return self._get(
            ("tool_call", tool_call_id), lambda: ToolCallState(v2.ToolCallUpdate(tool_call_id=tool_call_id))
        )

    def _replace_message(self, update: v2.UserMessage | v2.AgentMessage | v2.AgentThought) -> None:
        key, message = self._get_message(update.session_update, update.message_id)
        if update.content is not UNSET:
            message.content = list(update.content or ())
        if update.meta is not UNSET:
            message.meta = update.meta
        self._resize(key, sum(map(_estimate_size, message.content)) + len(json.dumps(message.meta)))

    def _update_terminal(self, update: v2.TerminalUpdate | v2.TerminalOutputChunk) -> None:
        terminal = self.terminals.setdefault(update.terminal_id, TerminalState(update.terminal_id))
        self.malformed += not terminal.apply(update)
        words = sum(len(word) for word in (terminal.terminal_id, terminal.command, terminal.cwd) if word)
        parts = (terminal.exit_status, terminal.size, terminal.capabilities)
        size = len(terminal.output) + words + sum(map(_estimate_size, filter(None, parts)))
        self._resize(("terminal", update.terminal_id), size)

    def _update_plan(self, plan: v2.PlanUpdateContent) -> None:
        name = plan.payload.get("planId") if isinstance(plan, Unknown) else plan.plan_id
        if isinstance(name, str):
            self.plans[name] = plan
            self._resize(("plan", name), _estimate_size(plan))
        else:
            self.unknown += 1

    def _update_state(self, update: Any) -> None:
        self.state = update.state
        background = getattr(update, "background", None)
        if isinstance(background, list):
            self.background = tuple(cast("list[v2.BackgroundWork]", background))
        if self.state == "idle":
            reason, error = getattr(update, "stop_reason", None), getattr(update, "error", None)
            self.stop_reason = reason if isinstance(reason, str) else None
            self.error = error if isinstance(error, v2.Error) else None
            if reason == "cancelled":  # an agent of v1 has no other status for what was cancelled than `failed`
                for call in self._cancelled:
                    call.is_cancelled = call.is_cancelled or call.status == "failed"
            self._cancelled.clear()

    def _update_compaction(self, update: v2.CompactionUpdate | v2.CompactionSummaryChunk) -> None:
        key, compaction = self._get(("compaction", update.compaction_id), lambda: Compaction(update.compaction_id))
        if isinstance(update, v2.CompactionSummaryChunk):
            compaction.summary.append(update.content)
        else:
            compaction.status = update.status
            if update.summary is not UNSET:
                compaction.summary = list(update.summary or ())
            if update.error is not UNSET:
                compaction.error = update.error
        self._resize(key, sum(map(_estimate_size, compaction.summary)))

    def _get(self, key: Key, make: Callable[[], E]) -> tuple[Key, E]:
        """The current entry with a key, which begins if there is none."""
        if key not in self._current:
            entry = self._current[key] = make()
            self.entries.append(entry)
            self._sizes[key] = 0
            self._size += _MIN_SIZE
        return key, cast("E", self._current[key])

    def _grow(self, key: Key, piece: Any) -> None:
        self._resize(key, self._sizes[key] + _estimate_size(piece))

    def _resize(self, key: Key, size: int) -> None:
        """Set the size of an entry, a terminal or a plan. What is replaced as a whole then counts as the newest."""
        before = self._sizes.pop(key, None) if key[0] in _REPLACED else self._sizes[key]
        self._sizes[key] = size
        self._size += max(size, _MIN_SIZE) - (0 if before is None else max(before, _MIN_SIZE))
        while self._size > self._max_size and self._drop():
            self.dropped += 1

    def _drop(self) -> bool:
        """Drop the oldest entry, terminal or plan, or the first part of a lone entry; return whether anything was dropped."""
        key = next(iter(self._sizes))
        if len(self._sizes) == 1:
            pieces = _list_pieces(self.entries[0]) if self.entries else []
            if len(pieces) < 2:
                return False
            size = _estimate_size(pieces.pop(0))
            self._sizes[key] -= size
        else:
            size = max(self._sizes.pop(key), _MIN_SIZE)
            match key:
                case "terminal", str(name):
                    del self.terminals[name]
                case "plan", str(name):
                    del self.plans[name]
                case _:
                    del self.entries[0]
                    self._current.pop(key, None)
        self._size -= size
        return True


def _list_content(call: ToolCallState) -> list[v2.ToolCallContent]:
    return call.current.content if isinstance(call.current.content, list) else []


def _list_pieces(entry: Entry) -> list[Any]:
    """The parts of an entry of which the oldest may be dropped."""
    match entry:
        case Message():
            return entry.content
        case Compaction():
            return entry.summary
        case ToolCallState():
            return _list_content(entry)
        case _:
            return []


def _estimate_size(model: Any) -> int:
    """The approximate number of characters of a value."""
    return len(model.text) + 64 if isinstance(model, v2.TextContent) else len(v2.encode(model))
