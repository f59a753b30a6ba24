"""The updates of a session from v2 to v1.

v1 cannot take back what was said, has one plan, no display of terminals, and fewer states. What v2 patches is kept here, so that v1 is told
the whole. What has no form in v1 at all goes on as an extension notification (`CARRIED`), with its params as they were.

Sources: the pages of both versions on prompts, tool calls, plans, commands, configuration; the migration page; the RFD on terminal output.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from acp_session.diffs import as_object

from .losses import CARRIER, Place
from .options import OptionsOfV2
from .parts import Json, block_to_v1, blocks_to_v1, command_to_v1, item_to_v1, without
from .screens import Screen
from .upward import CLEARABLE, LISTS

CARRIED: Final = f"_{CARRIER}/session/update"
"""The notification that carries an update of v2 to those who know it."""
KINDS: Final = {
    one: one
    for one in ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
}
STATUSES: Final = {
    **{one: one for one in ("pending", "in_progress", "completed", "failed")},
    "paused": "in_progress",
    "cancelled": "failed",
}
PRIORITIES: Final = {one: one for one in ("high", "medium", "low")}
STEPS: Final = {**{one: one for one in ("pending", "in_progress", "completed")}, "cancelled": "completed"}
UNTITLED: Final = "Tool call"
MOST: Final = 10_000
"""Messages and tool calls of a session whose state is kept; the oldest go first."""


@dataclass(slots=True)
class _Call:
    content: list[Any] = field(default_factory=list[Any])
    given: set[str] = field(default_factory=set[str])


class Downward:
    """One session of an agent of v2: what it sends, in the terms of v1.

    `terminals` are those of the client, which may stand in tool calls as they are. `gates` are the client's capabilities for notices and
    compaction: without one, such updates are carried.
    """

    def __init__(
        self,
        *,
        has_switches: bool,
        has_notices: bool,
        has_compaction: bool,
        terminals: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self.options = OptionsOfV2(has_switches=has_switches)
        self._gates = {
            "notice": has_notices,
            "compaction_update": has_compaction,
            "compaction_summary_chunk": has_compaction,
        }
        self._messages: dict[tuple[str, str], list[bytes]] = {}
        self._again: dict[tuple[str, str], int] = {}
        self._calls: dict[str, _Call] = {}
        self._plans: dict[str, list[Json]] = {}
        self._screens: dict[str, Screen] = {}
        self._terminals = terminals

    def update(self, update: Json, place: Place) -> list[Json] | None:
        """The updates of v1 that say the same, in order; `None` for one that v1 has no form for, which is to be carried."""
        kind = str(update.get("sessionUpdate"))
        match kind:
            case "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk":
                return [self._chunk(kind, update, place)]
            case "user_message" | "agent_message" | "agent_thought":
                return self._message(f"{kind}_chunk", update, place)
            case "tool_call_update":
                return [self._tool_call(update, place)]
            case "tool_call_content_chunk":
                return [self._grown(update, place)]
            case "terminal_update" | "terminal_output_chunk":
                return self._terminal(update, place)
            case "plan_update":
                return self._plan(update, place)
            case "available_commands_update":
                at = place.at("availableCommands")
                found = [command_to_v1(one, at.at(index)) for index, one in enumerate(update["availableCommands"])]
                return [{**update, "availableCommands": [one for one in found if one is not None]}]
            case "config_option_update":
                return self._options(update, place)
            case "compaction_update" if self._gates[kind] and isinstance(update.get("summary"), list):
                return [{**update, "summary": blocks_to_v1(update["summary"], place.at("summary"))}]
            case "compaction_summary_chunk" if self._gates[kind]:
                return [{**update, "content": block_to_v1(update.get("content"), place.at("content"))}]
            case "session_info_update" | "usage_update":
                return [update]
            case _ if self._gates.get(kind):
                return [update]
            case _:
                reason = "the client does not accept this update" if kind in self._gates else "v1 has no such update"
                place.lose(reason, update, "carried")
                return None

    def flush(self, place: Place) -> list[Json]:
        """What terminals have shown and v1 was not told yet, as when the work has ended."""
        found: list[Json] = []
        for name, screen in self._screens.items():
            if screen.has_more:
                found += self._told(name, screen, place)
        return found

    # --- messages

    def _chunk(self, kind: str, update: Json, place: Place) -> Json:
        self._kept((kind, str(update.get("messageId")))).append(_digest(update.get("content")))
        made = {**update, "content": block_to_v1(update.get("content"), place.at("content"))}
        return self._renamed(kind, made)

    def _message(self, kind: str, update: Json, place: Place) -> list[Json]:
        """A message as a whole: what is new in it, piece by piece. One that says something else now is told as another message."""
        key = kind, str(update.get("messageId"))
        kept = self._kept(key)
        if "content" not in update:
            if update.get("_meta"):
                place.at("_meta").lose("v1 does not change a message", update["_meta"])
            return []
        content: Sequence[Any] = update["content"] or ()
        digests = [_digest(one) for one in content]
        start = len(kept)
        if digests[:start] != kept:
            if not content:
                place.at("content").lose("v1 cannot retract a message", update["content"])
                return []
            place.at("content").lose("v1 cannot change a message; it is sent again as a new message", kind="changed")
            self._again[key] = self._again.get(key, 0) + 1
            start = 0
        kept[:] = digests
        rest = without(update, "sessionUpdate", "content")
        return [
            self._renamed(
                kind, {"sessionUpdate": kind, **rest, "content": block_to_v1(one, place.at("content", start + index))}
            )
            for index, one in enumerate(content[start:])
        ]

    def _kept(self, key: tuple[str, str]) -> list[bytes]:
        while len(self._messages) > MOST:
            self._again.pop(oldest := next(iter(self._messages)), None)
            del self._messages[oldest]
        return self._messages.setdefault(key, [])

    def _renamed(self, kind: str, chunk: Json) -> Json:
        again = self._again.get((kind, str(chunk.get("messageId"))))
        return chunk if again is None else {**chunk, "messageId": f"{chunk['messageId']}~{again}"}

    # --- tool calls

    def tool_call(self, update: Json, place: Place) -> Json:
        """A tool call as an update or a request for permission tells it; it is kept, so that later updates are whole."""
        call = self._call(str(update.get("toolCallId")))
        made = dict(update)
        for key in (*CLEARABLE, "_meta"):
            if key in made and made[key] is None:
                del made[key]
                if key in call.given:
                    place.at(key).lose("v1 cannot clear a field", None)
        if made.pop("capabilities", None) is not None:
            place.at("capabilities").lose("in v1 a client cannot cancel one tool call", update["capabilities"])
        for key in LISTS:
            if key in made and made[key] is None:
                made[key] = []
        if "content" in made:
            call.content = list(made["content"])
            made["content"] = self._items(call, place.at("content"))
        _narrow(made, "kind", KINDS, "other", place)
        _narrow(made, "status", STATUSES, "in_progress", place)
        call.given |= made.keys()
        return made

    def _tool_call(self, update: Json, place: Place) -> Json:
        is_new = str(update.get("toolCallId")) not in self._calls
        made = self.tool_call(update, place)
        if not is_new:
            return made
        if "title" not in made:
            place.at("title").lose("a tool call of v1 has a title", kind="added")
            made["title"] = made.get("name") or UNTITLED
        return {**made, "sessionUpdate": "tool_call"}

    def _grown(self, update: Json, place: Place) -> Json:
        """A tool call whose content grows: v1 is told all of it."""
        call_id = str(update.get("toolCallId"))
        is_new = call_id not in self._calls
        call = self._call(call_id)
        call.content.append(update.get("content"))
        rest = without(update, "content", "_meta", "sessionUpdate")
        if update.get("_meta"):
            place.at("_meta").lose("v1 has no content chunks", update["_meta"])
        made: Json = {"sessionUpdate": "tool_call_update", **rest, "content": self._items(call, place.at("content"))}
        if is_new:
            place.lose("a tool call of v1 has a title", kind="added")
            made |= {"sessionUpdate": "tool_call", "title": UNTITLED}
        return made

    def _call(self, call_id: str) -> _Call:
        while len(self._calls) > MOST:
            del self._calls[next(iter(self._calls))]
        return self._calls.setdefault(call_id, _Call())

    def _items(self, call: _Call, place: Place) -> list[Any]:
        terminals = self._terminals()
        texts = {name: screen.text for name, screen in self._screens.items()}
        return [
            one if as_object(one).get("terminalId") in terminals else item_to_v1(one, place.at(index), texts)
            for index, one in enumerate(call.content)
        ]

    # --- terminals

    def _terminal(self, update: Json, place: Place) -> list[Json]:
        """What a terminal of the agent shows: the tool calls in which it stands are told again when it has shown enough that is new."""
        name = str(update.get("terminalId"))
        screen = self._screens.setdefault(name, Screen())
        screen.take(update)
        return self._told(name, screen, place) if screen.is_worth_telling else []

    def _told(self, name: str, screen: Screen, place: Place) -> list[Json]:
        screen.told()
        return [
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call_id,
                "content": self._items(call, place.at("content")),
            }
            for call_id, call in self._calls.items()
            if any(as_object(one).get("terminalId") == name for one in call.content)
        ]

    # --- the rest

    def _plan(self, update: Json, place: Place) -> list[Json] | None:
        """All plans of the session as one."""
        plan = as_object(update.get("plan"))
        if plan.get("type") != "items":
            place.at("plan").lose("v1 has no plan of this type", plan, "carried")
            return None
        name = str(plan.get("planId"))
        entries = [as_object(one) for one in plan.get("entries") or ()]
        for index, one in enumerate(entries):
            at = place.at("plan", "entries", index)
            entries[index] = entry = dict(one)
            _narrow(entry, "priority", PRIORITIES, "medium", at)
            _narrow(entry, "status", STEPS, "pending", at)
        self._plans[name] = entries
        if len(self._plans) > 1:
            place.at("plan", "planId").lose(
                "a session of v1 has one plan; it holds the steps of all plans", name, "changed"
            )
        whole = [one for steps in self._plans.values() for one in steps]
        return [{**without(update, "plan"), "sessionUpdate": "plan", "entries": whole}]

    def _options(self, update: Json, place: Place) -> list[Json]:
        before = self.options.mode
        found = self.options.replace(update.get("configOptions") or (), place.at("configOptions"))
        made: list[Json] = [{**update, "configOptions": found}]
        mode = self.options.mode
        if mode is not None and before is not None and mode.get("currentValue") != before.get("currentValue"):
            made.append({"sessionUpdate": "current_mode_update", "currentModeId": mode.get("currentValue")})
        return made


def _narrow(source: Json, key: str, known: dict[str, str], other: str, place: Place) -> None:
    """Replace a word that v1 does not have by the nearest that it has."""
    value = source.get(key)
    near = known.get(value, other) if isinstance(value, str) else value
    if near != value:
        place.at(key).lose(f"v1 has no {value!r} here; {near!r} is sent instead", value, "changed")
        source[key] = near


def _digest(content: Any) -> bytes:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
