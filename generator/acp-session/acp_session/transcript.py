"""What a session looks like to its user: computed from the updates of the agent, as typed data.

Updates change what they name by its id: what is left out stays, null clears, a value replaces, pieces are added.

Sources: the pages of v2 on prompts, content, tool calls, plans, commands, configuration; the RFDs on terminal output, message updates.
"""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from acp_bindings import UNSET, Unknown, v2

from .modes import Mode, mode_option, modes_of

Role: TypeAlias = Literal["user", "agent", "thought"]

_ROLES: Final[dict[str, Role]] = {"user_message": "user", "agent_message": "agent", "agent_thought": "thought"}
_CHANGEABLE: Final = (
    *("kind", "status", "title", "name", "content", "locations", "raw_input", "raw_output", "capabilities", "meta"),
)
_TERMINAL: Final = ("command", "cwd", "exit_status", "size", "capabilities")
FINAL_STATUSES: Final = ("completed", "failed", "cancelled")
"""The statuses of a tool call that has ended."""
_MIN_SIZE: Final = 64
"""Characters that an entry, a terminal or a plan counts as, however short it is."""

MAX_SIZE: Final = 64 * 1024 * 1024
"""Characters of content that a transcript keeps; what is oldest goes first."""
MAX_OUTPUT: Final = 1024 * 1024
"""Bytes of a terminal's output that are kept; the oldest go first."""


@dataclass(slots=True)
class Message:
    """A message of the user or the agent, or a thought: its content as it is now."""

    role: Role
    message_id: str
    content: list[v2.ContentBlock] = field(default_factory=list[Any])
    meta: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text of all blocks that are text.

        >>> Message("agent", "m", [v2.TextContent(text="high "), v2.TextContent(text="tide")]).text
        'high tide'
        """
        return "".join(block.text for block in self.content if isinstance(block, v2.TextContent))


@dataclass(slots=True)
class ToolCallState:
    """A tool call as it stands now; `current` has a value for what was reported and not cleared. `is_cancelled`: it was cancelled before
    it had ended, and the agent has not reported otherwise.
    """

    current: v2.ToolCallUpdate
    is_cancelled: bool = False

    @property
    def id(self) -> str:
        """The id of the tool call."""
        return self.current.tool_call_id

    @property
    def title(self) -> str:
        """Its title; empty where it has none."""
        return self.current.title if isinstance(self.current.title, str) else ""

    @property
    def status(self) -> str | None:
        """Its last status; `None` before the first."""
        return self.current.status if isinstance(self.current.status, str) else None

    @property
    def can_cancel(self) -> bool:
        """Whether the client may stop this tool call alone."""
        found = self.current.capabilities
        return isinstance(found, v2.ToolCallCapabilities) and found.cancel is not None


@dataclass(slots=True)
class TerminalState:
    """A terminal: the end of its output as bytes, whether earlier output was dropped, and how its command ended."""

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
        """The output as text; bytes that are no UTF-8 are replaced. Escape sequences stay: do not send it to a terminal of yours."""
        return self.output.decode("utf-8", "replace")

    @property
    def can_cancel(self) -> bool:
        """Whether the client may stop what runs here."""
        return self.capabilities is not None and self.capabilities.cancel is not None

    def apply(self, update: v2.TerminalUpdate | v2.TerminalOutputChunk) -> bool:
        """Take an update in; whether its output is base64."""
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
    """A compaction of the context: its last status, and its summary."""

    compaction_id: str
    status: str | None = None
    error: str | None = None
    summary: list[v2.ContentBlock] = field(default_factory=list[Any])


Entry: TypeAlias = Message | ToolCallState | Compaction | v2.Notice
E = TypeVar("E", bound=Entry)


class Transcript:
    """The state of one session. `entries` stand in the order in which they began; everything else is what was reported last.

    `state` is what the session does in the foreground, `None` before it is reported; `stop_reason` and `error` say why work ended last, and
    `background` what goes on beside (`None`: not reported). `unknown` counts updates of kinds that this version does not know, `malformed`
    output that is not base64; `dropped` entries, parts of a lone one, terminals and plans that went to stay within `max_size` characters.
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
        self._sizes: dict[object, int] = {}
        self._messages: dict[tuple[Role, str], Message] = {}
        self._tool_calls: dict[str, ToolCallState] = {}
        self._cancelled: set[str] = set()

    def _messages_of(self, *roles: Role) -> tuple[Message, ...]:
        return tuple(one for one in self.entries if isinstance(one, Message) and one.role in roles)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages and thoughts, in order."""
        return self._messages_of("user", "agent", "thought")

    @property
    def user_messages(self) -> tuple[Message, ...]:
        """The messages of the user, in order."""
        return self._messages_of("user")

    @property
    def agent_messages(self) -> tuple[Message, ...]:
        """The messages of the agent, in order."""
        return self._messages_of("agent")

    @property
    def thoughts(self) -> tuple[Message, ...]:
        """The thoughts of the agent, in order."""
        return self._messages_of("thought")

    @property
    def plan(self) -> tuple[v2.PlanEntry, ...]:
        """The steps of all plans, in order."""
        return tuple(step for plan in self.plans.values() if isinstance(plan, v2.PlanItems) for step in plan.entries)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that the session can be in."""
        return modes_of(mode_option(self.config_options))

    @property
    def current_mode(self) -> str | None:
        """The id of the mode that the session is in; `None` where it has no modes."""
        option = mode_option(self.config_options)
        return None if option is None else option.current_value

    @property
    def tool_calls(self) -> dict[str, ToolCallState]:
        """The tool calls by their ids, in order."""
        return {one.id: one for one in self.entries if isinstance(one, ToolCallState)}

    def fork(self) -> Transcript:
        """A transcript that begins with what stands in this one. Ids count anew: what the other session reports changes none of it."""
        found = deepcopy(self)
        found._messages.clear()
        found._tool_calls.clear()
        copies = {id(old): id(new) for old, new in zip(self.entries, found.entries, strict=True)}
        found._sizes = {copies[key] if isinstance(key, int) else key: size for key, size in self._sizes.items()}
        return found

    def set_initial_state(self, result: object) -> None:
        """Take options and commands from the result of `session/new`, `load`, `resume` or `fork`."""
        options, commands = getattr(result, "config_options", None), getattr(result, "available_commands", None)
        if isinstance(options, list):
            self.config_options = tuple(cast("list[v2.SessionConfigOption]", options))
        if isinstance(commands, list):
            self.commands = tuple(cast("list[v2.AvailableCommand]", commands))

    def apply(self, update: Any) -> None:
        """Take an update in. One of an unknown kind is counted and changes nothing else."""
        match update:
            case v2.UserMessageChunk() | v2.AgentMessageChunk() | v2.AgentThoughtChunk():
                message = self._message(update.session_update.removesuffix("_chunk"), update.message_id)
                message.content.append(update.content)
                self._grow(message, update.content)
            case v2.UserMessage() | v2.AgentMessage() | v2.AgentThought():
                self._replace_message(update)
            case v2.ToolCallUpdate():
                self.update_tool_call(update)
            case v2.ToolCallContentChunk():
                call = self._call(update.tool_call_id)
                call.current = call.current.__replace__(content=[*_content_of(call), update.content])
                self._grow(call, update.content)
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
                self._enter(update)
                self._resize(id(update), _size(update))
            case _ if getattr(update, "session_update", None) == "state_update":
                self._update_state(update)
            case _:
                self.unknown += 1

    def update_tool_call(self, update: v2.ToolCallUpdate) -> None:
        """Change a tool call, or begin one that is not known yet."""
        found = self._call(update.tool_call_id)
        given = {name: getattr(update, name) for name in _CHANGEABLE if getattr(update, name) is not UNSET}
        found.current = found.current.__replace__(**given)
        if update.status is not UNSET:
            found.is_cancelled = update.status == "cancelled"
        self._resize(id(found), _size(found.current))

    def end(self) -> None:
        """Note that nothing more will be reported: the work has ended, and so have its tool calls."""
        self.mark_cancelled()
        if self.state is not None:
            self.state = "idle"

    def mark_cancelled(self) -> tuple[str, ...]:
        """Mark the tool calls that have not ended as cancelled, as when the user cancels the work; their ids."""
        found = [one for one in self._tool_calls.values() if one.status not in FINAL_STATUSES]
        for one in found:
            one.is_cancelled = True
        ids = tuple(one.id for one in found)
        self._cancelled.update(ids)
        return ids

    def _message(self, kind: str, message_id: str) -> Message:
        key = _ROLES[kind], message_id
        if key not in self._messages:
            self._messages[key] = self._enter(Message(*key))
        return self._messages[key]

    def _replace_message(self, update: v2.UserMessage | v2.AgentMessage | v2.AgentThought) -> None:
        message = self._message(update.session_update, update.message_id)
        if update.content is not UNSET:
            message.content = list(update.content or ())
        if update.meta is not UNSET:
            message.meta = update.meta
        self._resize(id(message), sum(map(_size, message.content)) + len(json.dumps(message.meta)))

    def _call(self, tool_call_id: str) -> ToolCallState:
        if tool_call_id not in self._tool_calls:
            entry = ToolCallState(v2.ToolCallUpdate(tool_call_id=tool_call_id))
            self._tool_calls[tool_call_id] = self._enter(entry)
        return self._tool_calls[tool_call_id]

    def _update_terminal(self, update: v2.TerminalUpdate | v2.TerminalOutputChunk) -> None:
        found = self.terminals.setdefault(update.terminal_id, TerminalState(update.terminal_id))
        self.malformed += not found.apply(update)
        words = sum(len(word) for word in (found.terminal_id, found.command, found.cwd) if word)
        parts = (found.exit_status, found.size, found.capabilities)
        size = len(found.output) + words + sum(map(_size, filter(None, parts)))
        self._resize(("terminal", update.terminal_id), size, is_last=True)

    def _update_plan(self, plan: v2.PlanUpdateContent) -> None:
        name = plan.payload.get("planId") if isinstance(plan, Unknown) else plan.plan_id
        if isinstance(name, str):
            self.plans[name] = plan
            self._resize(("plan", name), _size(plan), is_last=True)
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
                for call in map(self._tool_calls.get, self._cancelled):
                    if call is not None and call.status == "failed":
                        call.is_cancelled = True
            self._cancelled.clear()

    def _update_compaction(self, update: v2.CompactionUpdate | v2.CompactionSummaryChunk) -> None:
        same = (
            one for one in self.entries if isinstance(one, Compaction) and one.compaction_id == update.compaction_id
        )
        found = next(same, None) or self._enter(Compaction(update.compaction_id))
        if isinstance(update, v2.CompactionSummaryChunk):
            found.summary.append(update.content)
        else:
            found.status = update.status
            if update.summary is not UNSET:
                found.summary = list(update.summary or ())
            if update.error is not UNSET:
                found.error = update.error
        self._resize(id(found), sum(map(_size, found.summary)))

    def _enter(self, entry: E) -> E:
        self.entries.append(entry)
        self._sizes[id(entry)] = 0
        self._size += _MIN_SIZE
        return entry

    def _grow(self, entry: Entry, piece: Any) -> None:
        self._resize(id(entry), self._sizes[id(entry)] + _size(piece))

    def _resize(self, key: object, size: int, *, is_last: bool = False) -> None:
        """An entry, a terminal or a plan is so large now. What `is_last` counts as the newest from then on."""
        before = self._sizes.pop(key, None) if is_last else self._sizes[key]
        self._sizes[key] = size
        self._size += max(size, _MIN_SIZE) - (0 if before is None else max(before, _MIN_SIZE))
        while self._size > self._max_size and self._drop():
            self.dropped += 1

    def _drop(self) -> bool:
        """Drop the oldest entry, terminal or plan, or the first part of a lone entry; whether there was any."""
        key = next(iter(self._sizes))
        if len(self._sizes) == 1:
            pieces = _pieces(self.entries[0]) if self.entries else []
            if len(pieces) < 2:
                return False
            size = _size(pieces.pop(0))
            self._sizes[key] -= size
        else:
            size = max(self._sizes.pop(key), _MIN_SIZE)
            match key:
                case "terminal", str(name):
                    del self.terminals[name]
                case "plan", str(name):
                    del self.plans[name]
                case _:
                    oldest = self.entries.pop(0)
                    if isinstance(oldest, ToolCallState):
                        self._tool_calls.pop(oldest.id, None)
                    elif isinstance(oldest, Message):
                        self._messages.pop((oldest.role, oldest.message_id), None)
        self._size -= size
        return True


def _content_of(call: ToolCallState) -> list[v2.ToolCallContent]:
    return call.current.content if isinstance(call.current.content, list) else []


def _pieces(entry: Entry) -> list[Any]:
    """The parts of an entry of which the oldest may go."""
    match entry:
        case Message():
            return entry.content
        case Compaction():
            return entry.summary
        case ToolCallState():
            return _content_of(entry)
        case _:
            return []


def _size(model: Any) -> int:
    """Characters of a piece, about: those of its long texts."""
    return len(model.text) + 64 if isinstance(model, v2.TextContent) else len(v2.encode(model))
