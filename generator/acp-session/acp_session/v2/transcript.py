"""What a session of v2 looks like to its user: kept from the updates of the agent, as typed data.

    transcript.apply(notification.update)
    for entry in transcript.entries: ...

Updates change what they name by its id: what is left out stays, null clears, a value replaces, pieces are added.

Sources: the pages of v2 on prompts, content, tool calls, plans, commands, configuration; the RFDs on terminal output, message updates.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from acp_bindings import UNSET, Unknown, v2

from acp_session.bounded import Bounded
from acp_session.transcript import MOST, Speaker

MOST_OUTPUT: Final = 1024 * 1024
"""Bytes of a terminal's output that are kept; the oldest go first."""


@dataclass(slots=True)
class Message:
    """A message: its pieces as they are now. `text` is that of the pieces that are text."""

    speaker: Speaker
    message_id: str
    pieces: list[v2.ContentBlock] = field(default_factory=list[Any])
    meta: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text of all pieces that are text."""
        return "".join(piece.text for piece in self.pieces if isinstance(piece, v2.TextContent))


@dataclass(slots=True)
class Call:
    """A tool call as it stands now; `now` has a value for what was said and is not cleared. `is_cancelled`: it was cancelled before it had
    ended, and the agent has not said otherwise.
    """

    now: v2.ToolCallUpdate
    is_cancelled: bool = False

    @property
    def may_cancel(self) -> bool:
        """Whether the client may stop this tool call alone."""
        found = self.now.capabilities
        return isinstance(found, v2.ToolCallCapabilities) and found.cancel is not None


@dataclass(slots=True)
class Terminal:
    """A terminal of the agent: the end of its output as bytes, whether earlier output was dropped, and how its command ended."""

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    output: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    exit: v2.TerminalExitStatus | None = None
    size: v2.TerminalSize | None = None
    capabilities: v2.TerminalCapabilities | None = None

    @property
    def text(self) -> str:
        """The output as text; bytes that are no UTF-8 are replaced. Escape sequences stay: do not send it to a terminal of yours."""
        return self.output.decode("utf-8", "replace")

    @property
    def may_cancel(self) -> bool:
        """Whether the client may stop what runs here."""
        return self.capabilities is not None and self.capabilities.cancel is not None


@dataclass(slots=True)
class Compaction:
    """A compaction of the context: its last status, and the pieces of its summary."""

    compaction_id: str
    status: str | None = None
    error: str | None = None
    summary: list[v2.ContentBlock] = field(default_factory=list[Any])


Entry: TypeAlias = Message | Call | Compaction | v2.Notice


class Transcript(Bounded[Entry]):
    """The state of one session. `entries` stand in the order in which they began; everything else is what was said last.

    `state` is what the session does in the foreground, `None` before it is told; `stop_reason` and `error` say why work ended last, and
    `background` what goes on beside (`None`: not told). `unknown` counts updates of kinds that this version does not know, `malformed`
    output that is not base64; `dropped` entries, and pieces of a lone one, that went to stay within `most` characters.
    """

    def __init__(self, *, most: int = MOST) -> None:
        super().__init__(most)
        self.messages_by_id: dict[tuple[Speaker, str], Message] = {}
        self.calls: dict[str, Call] = {}
        self.terminals: dict[str, Terminal] = {}
        self.plans: dict[str, v2.PlanUpdateContent] = {}
        self.commands: tuple[v2.AvailableCommand, ...] = ()
        self.options: tuple[v2.SessionConfigOption, ...] = ()
        self.usage: v2.UsageUpdate | None = None
        self.title: str | None = None
        self.updated_at: str | None = None
        self.state: str | None = None
        self.stop_reason: str | None = None
        self.error: v2.Error | None = None
        self.background: tuple[v2.BackgroundWork, ...] | None = None
        self.unknown: int = 0
        self.malformed: int = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """What was said, in order."""
        return tuple(one for one in self.entries if isinstance(one, Message))

    def begun(self, result: object) -> None:
        """Take options and commands from the result of `session/new`, `load`, `resume` or `fork`."""
        options, commands = getattr(result, "config_options", None), getattr(result, "available_commands", None)
        if isinstance(options, list):
            self.options = tuple(cast("list[v2.SessionConfigOption]", options))
        if isinstance(commands, list):
            self.commands = tuple(cast("list[v2.AvailableCommand]", commands))

    def apply(self, update: Any) -> None:
        """Take an update in. One of an unknown kind is counted and changes nothing else."""
        match update:
            case v2.UserMessageChunk():
                self._said("user", update)
            case v2.AgentMessageChunk():
                self._said("agent", update)
            case v2.AgentThoughtChunk():
                self._said("thought", update)
            case v2.UserMessage():
                self._rewritten("user", update)
            case v2.AgentMessage():
                self._rewritten("agent", update)
            case v2.AgentThought():
                self._rewritten("thought", update)
            case v2.ToolCallUpdate():
                self.changed(update)
            case v2.ToolCallContentChunk():
                self._extended(update)
            case v2.TerminalUpdate() | v2.TerminalOutputChunk():
                self._shown(update)
            case v2.PlanUpdate():
                self._planned(update.plan)
            case v2.AvailableCommandsUpdate():
                self.commands = tuple(update.available_commands)
            case v2.ConfigOptionUpdate():
                self.options = tuple(update.config_options)
            case v2.SessionInfoUpdate():
                self.title = self.title if update.title is UNSET else update.title
                self.updated_at = self.updated_at if update.updated_at is UNSET else update.updated_at
            case v2.UsageUpdate():
                self.usage = update
            case v2.CompactionUpdate() | v2.CompactionSummaryChunk():
                self._compacted(update)
            case v2.Notice():
                self._entered(update, _size(update))
            case _ if getattr(update, "session_update", None) == "state_update":
                self._stated(update)
            case _:
                self.unknown += 1

    def changed(self, update: v2.ToolCallUpdate) -> None:
        """Change a tool call, or begin one that is not known yet."""
        found = self._call(update.tool_call_id)
        given = {name: getattr(update, name) for name in _CHANGEABLE if getattr(update, name) is not UNSET}
        found.now = found.now.__replace__(**given)
        if update.status is not UNSET:
            found.is_cancelled = update.status == "cancelled"
        self._grown(found, _size(found.now))

    def cancel(self) -> tuple[str, ...]:
        """Mark the tool calls that have not ended as cancelled, as when the user cancels the work; their ids."""
        found = [one for one in self.calls.values() if one.now.status not in ("completed", "failed", "cancelled")]
        for one in found:
            one.is_cancelled = True
        return tuple(one.now.tool_call_id for one in found)

    # --- parts

    def _message(self, speaker: Speaker, message_id: str) -> Message:
        found = self.messages_by_id.get((speaker, message_id))
        if found is None:
            found = self.messages_by_id[speaker, message_id] = Message(speaker, message_id)
            self._entered(found, 0)
        return found

    def _said(self, speaker: Speaker, chunk: v2.ContentChunk) -> None:
        message = self._message(speaker, chunk.message_id)
        message.pieces.append(chunk.content)
        self._added(message, _size(chunk.content))

    def _rewritten(self, speaker: Speaker, update: v2.UserMessage | v2.AgentMessage | v2.AgentThought) -> None:
        message = self._message(speaker, update.message_id)
        if update.content is not UNSET:
            message.pieces = list(update.content or ())
        if update.meta is not UNSET:
            message.meta = update.meta
        self._grown(message, sum(map(_size, message.pieces)))

    def _call(self, tool_call_id: str) -> Call:
        found = self.calls.get(tool_call_id)
        if found is None:
            found = self.calls[tool_call_id] = Call(v2.ToolCallUpdate(tool_call_id=tool_call_id))
            self._entered(found, 0)
        return found

    def _extended(self, chunk: v2.ToolCallContentChunk) -> None:
        found = self._call(chunk.tool_call_id)
        before = found.now.content if isinstance(found.now.content, list) else []
        found.now = found.now.__replace__(content=[*before, chunk.content])
        self._added(found, _size(chunk.content))

    def _shown(self, update: v2.TerminalUpdate | v2.TerminalOutputChunk) -> None:
        found = self.terminals.setdefault(update.terminal_id, Terminal(update.terminal_id))
        if isinstance(update, v2.TerminalOutputChunk):
            self._printed(found, update.data)
            return
        for name, key in _TERMINAL.items():
            value = getattr(update, name)
            if value is not UNSET:
                setattr(found, key, value)
        if update.output is not UNSET:
            found.output.clear()
            found.truncated = False
            if update.output is not None:
                self._printed(found, update.output.data)

    def _printed(self, terminal: Terminal, data: str) -> None:
        try:
            terminal.output += base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            self.malformed += 1
        over = len(terminal.output) - MOST_OUTPUT
        if over > 0:
            del terminal.output[:over]
            terminal.truncated = True

    def _planned(self, plan: v2.PlanUpdateContent) -> None:
        name = plan.payload.get("planId") if isinstance(plan, Unknown) else plan.plan_id
        if isinstance(name, str):
            self.plans[name] = plan
        else:
            self.unknown += 1

    def _stated(self, update: Any) -> None:
        self.state = update.state
        background = getattr(update, "background", None)
        if isinstance(background, list):
            self.background = tuple(cast("list[v2.BackgroundWork]", background))
        if self.state == "idle":
            reason = getattr(update, "stop_reason", None)
            error = getattr(update, "error", None)
            self.stop_reason = reason if isinstance(reason, str) else None
            self.error = error if isinstance(error, v2.Error) else None

    def _compacted(self, update: v2.CompactionUpdate | v2.CompactionSummaryChunk) -> None:
        same = [
            one for one in self.entries if isinstance(one, Compaction) and one.compaction_id == update.compaction_id
        ]
        found = same[0] if same else Compaction(update.compaction_id)
        if not same:
            self._entered(found, 0)
        if isinstance(update, v2.CompactionSummaryChunk):
            found.summary.append(update.content)
        else:
            found.status = update.status
            if update.summary is not UNSET:
                found.summary = list(update.summary or ())
            if update.error is not UNSET:
                found.error = update.error
        self._grown(found, sum(map(_size, found.summary)))

    def _shortened(self, entry: Entry) -> int | None:
        return _size(entry.pieces.pop(0)) if isinstance(entry, Message) and len(entry.pieces) > 1 else None

    def _forgotten(self, entry: Entry) -> None:
        if isinstance(entry, Call):
            self.calls.pop(entry.now.tool_call_id, None)
        elif isinstance(entry, Message):
            self.messages_by_id.pop((entry.speaker, entry.message_id), None)


_CHANGEABLE: Final = (
    *("kind", "status", "title", "name", "content", "locations", "raw_input", "raw_output", "capabilities", "meta"),
)
_TERMINAL: Final = {
    "command": "command",
    "cwd": "cwd",
    "exit_status": "exit",
    "size": "size",
    "capabilities": "capabilities",
}


def _size(model: Any) -> int:
    """Characters of a piece, about: those of its long texts."""
    if isinstance(model, v2.TextContent):
        return len(model.text) + 64
    return len(v2.encode(model))
