"""The updates of a session from v1 to v2.

Sources: the pages of both versions on prompts, tool calls, plans, commands, configuration; the migration page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from acp_session.diffs import as_object

from .losses import Place
from .options import OptionsOfV1
from .parts import Json, block_to_v2, blocks_to_v2, command_to_v2, item_to_v2, without

PLAN: Final = "plan"
"""The id of the one plan that a session of v1 has."""
ONLY_V2: Final = frozenset(
    {
        *("user_message", "agent_message", "agent_thought", "state_update", "tool_call_content_chunk"),
        *("terminal_update", "terminal_output_chunk", "plan_update"),
    }
)
CHUNKS: Final = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
CLEARABLE: Final = ("name", "title", "kind", "status", "rawInput", "rawOutput")
LISTS: Final = ("content", "locations")


class Upward:
    """One session of an agent of v1: what it sends, in the terms of v2.

    v2 demands ids of messages: a run of pieces of one kind without an id is a message, and gets one. `terminals` are those that may stand
    in tool calls.
    """

    def __init__(self, terminals: Callable[[], Collection[str] | None]) -> None:
        self.options = OptionsOfV1()
        self._terminals = terminals
        self._numbers = 0
        self._run: tuple[str, str] | None = None
        self._calls: set[str] = set()

    def message_id(self) -> str:
        """An id for a message that has none."""
        self._numbers += 1
        return f"message_{self._numbers}"

    def pause(self) -> None:
        """What follows belongs to no message that came before."""
        self._run = None

    def update(self, update: Json, place: Place) -> list[Json]:
        """The updates of v2 that say the same."""
        kind = str(update.get("sessionUpdate"))
        if kind not in CHUNKS:
            self.pause()
        match kind:
            case "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk":
                content = block_to_v2(update.get("content"), place.at("content"))
                return [{**update, "messageId": self._of(kind, update.get("messageId")), "content": content}]
            case "tool_call":
                return [self._announced(update, place)]
            case "tool_call_update":
                self._calls.add(str(update.get("toolCallId")))
                return [self.tool_call(update, place)]
            case "plan":
                rest = without(update, "entries", "_meta")
                plan = {"type": "items", "planId": PLAN, "entries": update.get("entries", [])}
                meta = {"_meta": update["_meta"]} if "_meta" in update else {}
                return [{**rest, "sessionUpdate": "plan_update", "plan": plan, **meta}]
            case "available_commands_update":
                return [{**update, "availableCommands": [command_to_v2(one) for one in update["availableCommands"]]}]
            case "current_mode_update":
                self.options.set_mode(str(update.get("currentModeId")))
                rest = without(update, "currentModeId")
                return [{**rest, "sessionUpdate": "config_option_update", "configOptions": self.options.all()}]
            case "config_option_update":
                self.options.replace(update.get("configOptions") or (), place.at("configOptions"))
                return [{**update, "configOptions": self.options.all()}]
            case "compaction_update" if isinstance(update.get("summary"), list):
                return [{**update, "summary": blocks_to_v2(update["summary"], place.at("summary"))}]
            case "compaction_summary_chunk":
                return [{**update, "content": block_to_v2(update.get("content"), place.at("content"))}]
            case "usage_update" if update.get("cost", 0) is None:
                return [without(update, "cost")]
            case _ if kind in ONLY_V2:
                place.lose("v1 does not define this update, and v2 gives it a meaning", update)
                return []
            case _:
                return [update]

    def tool_call(self, update: Json, place: Place) -> Json:
        """A tool call as an update or a request for permission tells it: what is null in v1 says nothing."""
        made = {
            key: value for key, value in update.items() if value is not None or key not in (*CLEARABLE, *LISTS, "_meta")
        }
        if "capabilities" in made:
            place.at("capabilities").lose("v1 does not define this field, and v2 gives it a meaning")
            del made["capabilities"]
        if "content" in made:
            at = place.at("content")
            items: list[Any] = made["content"] or []
            found = [item_to_v2(one, at.at(index), self._terminals()) for index, one in enumerate(items)]
            made["content"] = [one for one in found if one is not None]
        if "locations" in made:
            locations: list[Any] = made["locations"] or []
            made["locations"] = [_location(one, place.at("locations", i)) for i, one in enumerate(locations)]
        return made

    def _announced(self, update: Json, place: Place) -> Json:
        """A tool call that appears. Announced again it is as it is then: what is left out goes."""
        call = str(update.get("toolCallId"))
        made = {**self.tool_call(update, place), "sessionUpdate": "tool_call_update"}
        if call in self._calls:
            made = {**dict.fromkeys((*CLEARABLE, *LISTS)), "kind": "other", "status": "pending", **made}
        self._calls.add(call)
        return made

    def _of(self, kind: str, message_id: object) -> str:
        if isinstance(message_id, str):
            self._run = None
            return message_id
        if self._run is None or self._run[0] != kind:
            self._run = kind, self.message_id()
        return self._run[1]


def _location(location: Any, place: Place) -> Any:
    source = as_object(location)
    if source.get("line") != 0:
        return location
    place.at("line").lose("lines count from 1 in v2", 0)
    return without(source, "line")
