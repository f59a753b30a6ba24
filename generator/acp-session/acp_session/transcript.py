"""What a session looks like to its user: kept from the updates of the agent, as typed data.

    transcript.apply(notification.update)
    for entry in transcript.entries: ...

Sources: the pages of v1 on prompt turns, content, tool calls, plans, modes, commands and configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from acp_bindings import UNSET, Unknown, v1

from .bounded import Bounded

Speaker: TypeAlias = Literal["user", "agent", "thought"]

MOST: Final = 64 * 1024 * 1024
"""Characters of content that a transcript keeps; the oldest entries go first."""


@dataclass(slots=True)
class Message:
    """What was said in one go: its pieces, in their order. `text` is that of the pieces that are text."""

    speaker: Speaker
    message_id: str | None = None
    pieces: list[v1.ContentBlock] = field(default_factory=list[Any])

    @property
    def text(self) -> str:
        """The text of all pieces that are text.

        >>> Message("agent", pieces=[v1.TextContent(text="high "), v1.TextContent(text="tide")]).text
        'high tide'
        """
        return "".join(piece.text for piece in self.pieces if isinstance(piece, v1.TextContent))


@dataclass(slots=True)
class Call:
    """A tool call as it stands now. `is_cancelled`: the turn was cancelled before it had ended, and the agent has not said otherwise."""

    now: v1.ToolCall
    is_cancelled: bool = False


@dataclass(slots=True)
class Compaction:
    """A compaction of the context: its last status, and the pieces of its summary."""

    compaction_id: str
    status: str | None = None
    error: str | None = None
    summary: list[v1.ContentBlock] = field(default_factory=list[Any])


Entry: TypeAlias = Message | Call | Compaction | v1.Notice


class Transcript(Bounded[Entry]):
    """The state of one session. `entries` stand in the order in which they began; everything else is what was said last.

    `unknown` counts updates of kinds that this version does not know; `dropped` counts entries, and
    pieces of a lone one, that went to stay within `most` characters.
    """

    def __init__(self, *, most: int = MOST) -> None:
        super().__init__(most)
        self.calls: dict[str, Call] = {}
        self.plan: tuple[v1.PlanEntry, ...] = ()
        self.modes: tuple[v1.SessionMode, ...] = ()
        self.current_mode: str | None = None
        self.commands: tuple[v1.AvailableCommand, ...] = ()
        self.options: tuple[v1.SessionConfigOption, ...] = ()
        self.usage: v1.UsageUpdate | None = None
        self.title: str | None = None
        self.updated_at: str | None = None
        self.unknown: int = 0
        self._before: Entry | None = None
        self._cancelled: set[str] = set()

    @property
    def messages(self) -> tuple[Message, ...]:
        """What was said, in order."""
        return tuple(one for one in self.entries if isinstance(one, Message))

    def begun(self, result: object) -> None:
        """Take modes and options from the result of `session/new`, `load`, `resume` or `fork`."""
        modes, options = getattr(result, "modes", None), getattr(result, "config_options", None)
        if isinstance(modes, v1.SessionModeState):
            self.modes, self.current_mode = tuple(modes.available_modes), modes.current_mode_id
        if isinstance(options, list):
            self.options = tuple(cast("list[v1.SessionConfigOption]", options))

    def apply(self, update: v1.SessionUpdate) -> None:
        """Take an update in. One of an unknown kind is counted and changes nothing else."""
        match update:
            case v1.UserMessageChunk():
                self._said("user", update)
            case v1.AgentMessageChunk():
                self._said("agent", update)
            case v1.AgentThoughtChunk():
                self._said("thought", update)
            case v1.ToolCall():
                self._called(update)
            case v1.ToolCallUpdate():
                self.changed(update)
            case v1.Plan():
                self.plan = tuple(update.entries)
            case v1.AvailableCommandsUpdate():
                self.commands = tuple(update.available_commands)
            case v1.CurrentModeUpdate():
                self.current_mode = update.current_mode_id
            case v1.ConfigOptionUpdate():
                self.options = tuple(update.config_options)
            case v1.SessionInfoUpdate():
                self.title = self.title if update.title is UNSET else update.title
                self.updated_at = self.updated_at if update.updated_at is UNSET else update.updated_at
            case v1.UsageUpdate():
                self.usage = update
            case v1.CompactionUpdate() | v1.CompactionSummaryChunk():
                self._compacted(update)
            case v1.Notice():
                self._entered(update, _size(update))
            case Unknown():
                self.unknown += 1

    def changed(self, update: v1.ToolCallUpdate) -> None:
        """Change a tool call: what null or absence stands for stays. One that is not known yet begins, as in a request for permission."""
        found = self.calls.get(update.tool_call_id)
        if found is None:
            title = update.title or update.name or ""
            found = self._called(v1.ToolCall(tool_call_id=update.tool_call_id, title=title))
        values = {name: getattr(update, name) for name in _CHANGEABLE}
        given = {name: value for name, value in values.items() if value is not None and value is not UNSET}
        found.now = found.now.__replace__(**given)
        if update.status is not None:
            found.is_cancelled = False
        self._grown(found, _size(found.now))

    def begin_turn(self) -> None:
        """A turn begins: a piece without an id goes on with no message that was there before."""
        self._before = self.entries[-1] if self.entries else None

    def end_turn(self, *, is_cancelled: bool = False) -> None:
        """A turn has ended, as `begin_turn`. Where it was cancelled, the tool calls that were marked and have failed since are marked
        again: v1 has no other status for them.
        """
        self.begin_turn()
        for call in map(self.calls.get, self._cancelled if is_cancelled else ()):
            if call is not None and call.now.status == "failed":
                call.is_cancelled = True
        self._cancelled.clear()

    def cancel(self) -> tuple[str, ...]:
        """Mark the tool calls that have not ended as cancelled, as when the user cancels the turn; their ids."""
        found = [one for one in self.calls.values() if one.now.status not in ("completed", "failed")]
        for one in found:
            one.is_cancelled = True
        ids = tuple(one.now.tool_call_id for one in found)
        self._cancelled.update(ids)
        return ids

    # --- parts

    def _said(self, speaker: Speaker, chunk: v1.ContentChunk) -> None:
        message = self._message(speaker, chunk.message_id)
        if message is None:
            message = Message(speaker, chunk.message_id)
            self._entered(message, 0)
        message.pieces.append(chunk.content)
        self._added(message, _size(chunk.content))

    def _message(self, speaker: Speaker, message_id: str | None) -> Message | None:
        """The message that a piece goes on with: that of its id, else the last entry of the turn where it is one without an id."""
        if message_id is None:
            last = self.entries[-1] if self.entries else None
            is_same = isinstance(last, Message) and (last.speaker, last.message_id) == (speaker, None)
            return last if isinstance(last, Message) and is_same and last is not self._before else None
        for entry in reversed(self.entries[-_NEAR:]):
            if isinstance(entry, Message) and (entry.speaker, entry.message_id) == (speaker, message_id):
                return entry
        return None

    def _called(self, call: v1.ToolCall) -> Call:
        found = self.calls.get(call.tool_call_id)
        if found is None:
            found = Call(call)
            self.calls[call.tool_call_id] = found
            self._entered(found, _size(call))
        else:  # announced again: as it is now
            found.now, found.is_cancelled = call, False
            self._grown(found, _size(call))
        return found

    def _compacted(self, update: v1.CompactionUpdate | v1.CompactionSummaryChunk) -> None:
        same = [
            one for one in self.entries if isinstance(one, Compaction) and one.compaction_id == update.compaction_id
        ]
        found = same[0] if same else Compaction(update.compaction_id)
        if not same:
            self._entered(found, 0)
        if isinstance(update, v1.CompactionSummaryChunk):
            found.summary.append(update.content)
        else:
            found.status = update.status
            if update.summary is not UNSET:
                found.summary = list(update.summary or ())
            if update.error is not UNSET:
                found.error = update.error
        self._grown(found, sum(_size(piece) for piece in found.summary))

    def _shortened(self, entry: Entry) -> int | None:
        return _size(entry.pieces.pop(0)) if isinstance(entry, Message) and len(entry.pieces) > 1 else None

    def _forgotten(self, entry: Entry) -> None:
        if isinstance(entry, Call):
            self.calls.pop(entry.now.tool_call_id, None)


_CHANGEABLE: Final = ("kind", "status", "title", "name", "content", "locations", "raw_input", "raw_output", "meta")
_NEAR: Final = 1000
"""Entries that are looked through for the message that a piece belongs to."""


def _size(model: Any) -> int:
    """Characters of a piece, about: those of its long texts."""
    if isinstance(model, v1.TextContent):
        return len(model.text) + 64
    return len(v1.encode(model))
