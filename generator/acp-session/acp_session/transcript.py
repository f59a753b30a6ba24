"""What a session looks like to its user: computed from the updates of the agent, as typed data.

    transcript.apply(notification.update)
    for entry in transcript.entries: ...

Updates change what they name by its id: what is left out stays, null clears, a value replaces, pieces are added.

Sources: the pages of v2 on prompts, content, tool calls, plans, commands, configuration; the RFDs on terminal output, message updates.
"""

from __future__ import annotations

import base64
import binascii
import json
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from acp_bindings import UNSET, Unknown, v2

from .modes import Mode, mode_option, modes_of

Role: TypeAlias = Literal["user", "agent", "thought"]

MAX_SIZE: Final = 64 * 1024 * 1024
"""Characters of content that a transcript keeps; the oldest entries go first."""
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

    @property
    def text(self) -> str:
        """The output as text; bytes that are no UTF-8 are replaced. Escape sequences stay: do not send it to a terminal of yours."""
        return self.output.decode("utf-8", "replace")

    @property
    def can_cancel(self) -> bool:
        """Whether the client may stop what runs here."""
        return self.capabilities is not None and self.capabilities.cancel is not None


@dataclass(slots=True)
class Compaction:
    """A compaction of the context: its last status, and its summary."""

    compaction_id: str
    status: str | None = None
    error: str | None = None
    summary: list[v2.ContentBlock] = field(default_factory=list[Any])


Entry: TypeAlias = Message | ToolCallState | Compaction | v2.Notice


class Transcript:
    """The state of one session. `entries` stand in the order in which they began; everything else is what was reported last.

    `state` is what the session does in the foreground, `None` before it is reported; `stop_reason` and `error` say why work ended last, and
    `background` what goes on beside (`None`: not reported). `unknown` counts updates of kinds that this version does not know, `malformed`
    output that is not base64; `dropped` entries, parts of a lone one, terminals and plans that went to stay within `max_size` characters.
    """

    def __init__(self, *, max_size: int = MAX_SIZE) -> None:
        self.entries: list[Entry] = []
        self.dropped: int = 0
        self._max_size = max_size
        self._size = 0
        self._sizes: dict[int, int] = {}
        self._beside: dict[tuple[Literal["terminals", "plans"], str], int] = {}
        self._beside_size = 0
        self._messages: dict[tuple[Role, str], Message] = {}
        self._tool_calls: dict[str, ToolCallState] = {}
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
        self._cancelled: set[str] = set()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages and thoughts, in order."""
        return tuple(one for one in self.entries if isinstance(one, Message))

    @property
    def user_messages(self) -> tuple[Message, ...]:
        """The messages of the user, in order."""
        return tuple(one for one in self.messages if one.role == "user")

    @property
    def agent_messages(self) -> tuple[Message, ...]:
        """The messages of the agent, in order."""
        return tuple(one for one in self.messages if one.role == "agent")

    @property
    def thoughts(self) -> tuple[Message, ...]:
        """The thoughts of the agent, in order."""
        return tuple(one for one in self.messages if one.role == "thought")

    @property
    def plan(self) -> tuple[v2.PlanEntry, ...]:
        """The steps of all plans, in order."""
        return tuple(step for plan in self.plans.values() if isinstance(plan, v2.PlanItems) for step in plan.entries)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that the session can be in."""
        option = mode_option(self.config_options)
        return () if option is None else modes_of(option)

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
        found._sizes = {id(new): self._sizes[id(old)] for old, new in zip(self.entries, found.entries, strict=True)}
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
            case v2.UserMessageChunk():
                self._append("user", update)
            case v2.AgentMessageChunk():
                self._append("agent", update)
            case v2.AgentThoughtChunk():
                self._append("thought", update)
            case v2.UserMessage():
                self._replace("user", update)
            case v2.AgentMessage():
                self._replace("agent", update)
            case v2.AgentThought():
                self._replace("thought", update)
            case v2.ToolCallUpdate():
                self.update_tool_call(update)
            case v2.ToolCallContentChunk():
                self._append_content(update)
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
                self._enter(update, _size(update))
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
        self._resize(found, _size(found.current))

    def end(self) -> None:
        """Note that nothing more will be reported: the work has ended, and so have its tool calls."""
        self.mark_cancelled()
        if self.state is not None:
            self.state = "idle"

    def mark_cancelled(self) -> tuple[str, ...]:
        """Mark the tool calls that have not ended as cancelled, as when the user cancels the work; their ids."""
        found = [one for one in self._tool_calls.values() if one.status not in ("completed", "failed", "cancelled")]
        for one in found:
            one.is_cancelled = True
        ids = tuple(one.id for one in found)
        self._cancelled.update(ids)
        return ids

    # --- parts

    def _message(self, role: Role, message_id: str) -> Message:
        found = self._messages.get((role, message_id))
        if found is None:
            found = self._messages[role, message_id] = Message(role, message_id)
            self._enter(found, 0)
        return found

    def _append(self, role: Role, chunk: v2.ContentChunk) -> None:
        message = self._message(role, chunk.message_id)
        message.content.append(chunk.content)
        self._extend(message, _size(chunk.content))

    def _replace(self, role: Role, update: v2.UserMessage | v2.AgentMessage | v2.AgentThought) -> None:
        message = self._message(role, update.message_id)
        if update.content is not UNSET:
            message.content = list(update.content or ())
        if update.meta is not UNSET:
            message.meta = update.meta
        self._resize(message, sum(map(_size, message.content)) + len(json.dumps(message.meta)))

    def _call(self, tool_call_id: str) -> ToolCallState:
        found = self._tool_calls.get(tool_call_id)
        if found is None:
            found = self._tool_calls[tool_call_id] = ToolCallState(v2.ToolCallUpdate(tool_call_id=tool_call_id))
            self._enter(found, 0)
        return found

    def _append_content(self, chunk: v2.ToolCallContentChunk) -> None:
        found = self._call(chunk.tool_call_id)
        before = found.current.content if isinstance(found.current.content, list) else []
        found.current = found.current.__replace__(content=[*before, chunk.content])
        self._extend(found, _size(chunk.content))

    def _update_terminal(self, update: v2.TerminalUpdate | v2.TerminalOutputChunk) -> None:
        found = self.terminals.setdefault(update.terminal_id, TerminalState(update.terminal_id))
        if isinstance(update, v2.TerminalOutputChunk):
            self._append_output(found, update.data)
            self._count_terminal(found)
            return
        for name in _TERMINAL:
            value = getattr(update, name)
            if value is not UNSET:
                setattr(found, name, value)
        if update.output is not UNSET:
            found.output.clear()
            found.truncated = False
            if update.output is not None:
                self._append_output(found, update.output.data)
        self._count_terminal(found)

    def _count_terminal(self, terminal: TerminalState) -> None:
        given = (terminal.exit_status, terminal.size, terminal.capabilities)
        words = len(terminal.command or "") + len(terminal.cwd or "") + sum(_size(one) for one in given if one)
        self._count(
            "terminals", terminal.terminal_id, len(terminal.output) + words + len(terminal.terminal_id) + _LEAST
        )

    def _append_output(self, terminal: TerminalState, data: str) -> None:
        try:
            terminal.output += base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            self.malformed += 1
        over = len(terminal.output) - MAX_OUTPUT
        if over > 0:
            del terminal.output[:over]
            terminal.truncated = True

    def _update_plan(self, plan: v2.PlanUpdateContent) -> None:
        name = plan.payload.get("planId") if isinstance(plan, Unknown) else plan.plan_id
        if isinstance(name, str):
            self.plans[name] = plan
            self._count("plans", name, _size(plan) + _LEAST)
        else:
            self.unknown += 1

    def _update_state(self, update: Any) -> None:
        self.state = update.state
        background = getattr(update, "background", None)
        if isinstance(background, list):
            self.background = tuple(cast("list[v2.BackgroundWork]", background))
        if self.state == "idle":
            reason = getattr(update, "stop_reason", None)
            error = getattr(update, "error", None)
            self.stop_reason = reason if isinstance(reason, str) else None
            self.error = error if isinstance(error, v2.Error) else None
            if reason == "cancelled":  # an agent of v1 has no other status for what was cancelled than `failed`
                for call in map(self._tool_calls.get, self._cancelled):
                    if call is not None and call.status == "failed":
                        call.is_cancelled = True
            self._cancelled.clear()

    def _update_compaction(self, update: v2.CompactionUpdate | v2.CompactionSummaryChunk) -> None:
        same = [
            one for one in self.entries if isinstance(one, Compaction) and one.compaction_id == update.compaction_id
        ]
        found = same[0] if same else Compaction(update.compaction_id)
        if not same:
            self._enter(found, 0)
        if isinstance(update, v2.CompactionSummaryChunk):
            found.summary.append(update.content)
        else:
            found.status = update.status
            if update.summary is not UNSET:
                found.summary = list(update.summary or ())
            if update.error is not UNSET:
                found.error = update.error
        self._resize(found, sum(map(_size, found.summary)))

    def _enter(self, entry: Entry, size: int) -> None:
        self.entries.append(entry)
        self._sizes[id(entry)] = 0
        self._size += _LEAST
        self._resize(entry, size)

    def _extend(self, entry: Entry, size: int) -> None:
        """An entry has grown by so much."""
        self._resize(entry, self._sizes.get(id(entry), 0) + size)

    def _resize(self, entry: Entry, size: int) -> None:
        """An entry is so large now."""
        if id(entry) not in self._sizes:  # dropped meanwhile
            return
        self._size += max(size, _LEAST) - max(self._sizes[id(entry)], _LEAST)
        self._sizes[id(entry)] = size
        self._shrink()

    def _count(self, of: Literal["terminals", "plans"], name: str, size: int) -> None:
        """A terminal or a plan is so large now; of these, the one goes first that was not changed for longest."""
        change = size - self._beside.pop((of, name), 0)
        self._beside[of, name] = size
        self._beside_size += change
        self._size += change
        self._shrink()

    def _shrink(self) -> None:
        while self._size > self._max_size:
            if len(self._beside) > 1 and self._beside_size * 2 > self._size:
                (of, name), size = next(iter(self._beside.items()))
                del self._beside[of, name]
                (self.terminals if of == "terminals" else self.plans).pop(name)
                self._beside_size -= size
                self._size -= size
            elif len(self.entries) > 1:
                oldest = self.entries.pop(0)
                self._size -= max(self._sizes.pop(id(oldest)), _LEAST)
                if isinstance(oldest, ToolCallState):
                    self._tool_calls.pop(oldest.id, None)
                elif isinstance(oldest, Message):
                    self._messages.pop((oldest.role, oldest.message_id), None)
            else:
                pieces = _pieces(self.entries[0]) if self.entries else []
                if len(pieces) < 2:
                    return
                piece = _size(pieces.pop(0))
                self._size -= piece
                self._sizes[id(self.entries[0])] -= piece
            self.dropped += 1


_CHANGEABLE: Final = (
    *("kind", "status", "title", "name", "content", "locations", "raw_input", "raw_output", "capabilities", "meta"),
)
_LEAST: Final = 64
"""Characters that an entry counts as, however short it is."""
_TERMINAL: Final = ("command", "cwd", "exit_status", "size", "capabilities")


def _pieces(entry: Entry) -> list[Any]:
    """The parts of an entry of which the oldest may go."""
    match entry:
        case Message():
            return entry.content
        case Compaction():
            return entry.summary
        case ToolCallState() if isinstance(entry.current.content, list):
            return entry.current.content
        case _:
            return []


def _size(model: Any) -> int:
    """Characters of a piece, about: those of its long texts."""
    if isinstance(model, v2.TextContent):
        return len(model.text) + 64
    return len(v2.encode(model))
