"""The conversion of v1 messages to v2.

Sources: the pages of both versions on prompts, tool calls, plans, commands, configuration, modes, session setup; the migration page.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

from acp_session.diffs import as_object, diff_to_v2
from acp_session.modes import MODE
from acp_session.permission import make_title
from acp_workspace.errors import make_invalid_params
from jsonrpc_bindings.pointers import json_pointer

from .losses import Place
from .tables import CONTENT_BLOCK, OPENING_ANSWERS, PROMPT_WORDS, TABLE
from .walker import CONFLICT, NOTHING, Hook, Json, Walker, get_or_add, get_original, omit

UNKNOWN_INFO: Final[Json] = {"name": "unknown", "version": "0"}
"""The implementation info of a peer that does not send it, as v1 allows."""
PLAN_ID: Final = "plan"
"""The id of the one plan that a session of v1 has."""
SWITCH_VALUES: Final = {True: "true", False: "false"}
"""The values of a selection that represents a boolean option."""
CHUNK_KINDS: Final = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
"""Updates that are chunks of messages."""
CLEARABLE_FIELDS: Final = ("name", "title", "kind", "status", "rawInput", "rawOutput", "_meta")
LIST_FIELDS: Final = ("content", "locations")
"""Fields with these names are cleared by null in a v2 tool call; in v1 null leaves them unchanged."""


class ToV2(Walker):
    """The converter for a session, or for messages outside sessions.

    v2 requires message ids: consecutive chunks of one kind without an id form a message and get a new one. `terminals` may occur in tool
    calls; `None` allows all.
    """

    def __init__(self, terminals: Callable[[], Collection[str] | None] = tuple) -> None:
        answer: Json = {"agentCapabilities": {}, "authMethods": []}
        hooks: dict[str, Hook] = {
            "InitializeRequest": partial(
                self._convert_handshake, "InitializeRequest", "clientInfo", {"clientCapabilities": {}}
            ),
            "InitializeResponse": partial(self._convert_handshake, "InitializeResponse", "agentInfo", answer),
            **dict.fromkeys(OPENING_ANSWERS, self._convert_opening),
            "PromptRequest": self._prompt,
            "RequestPermissionRequest": self.convert_permission,
            "AgentCapabilities": self._convert_capabilities,
            "ContentBlock": self._convert_block,
            "ToolCallContent": self._convert_item,
            "Diff": lambda value, place: diff_to_v2(value),
            "Terminal": self._convert_terminal,
            "ToolCallLocation": self._convert_location,
            "ToolCallUpdate": self._convert_tool_call,
            "SessionConfigOption": self._convert_option,
            "AuthMethodTerminal": self._convert_terminal_method,
            "McpServer": self._convert_server,
        }
        super().__init__(2, TABLE, hooks)
        self.options = OptionsOfV1(self)
        self._terminals = terminals
        self._prefix = secrets.token_hex(4)
        self._messages = 0
        self._run: tuple[str, str] | None = None
        self._calls: dict[str, None] = {}
        self._prompts: dict[str, None] = {}

    def make_message_id(self) -> str:
        """A new message id that the agent does not use itself."""
        self._messages += 1
        return f"message_{self._prefix}_{self._messages}"

    def pause(self) -> None:
        """End the current message: later chunks belong to a new one."""
        self._run = None

    def update(self, update: Json, place: Place) -> Json | None:
        """Convert an update to v2; `None` if nothing is to be sent."""
        kind = str(update.get("sessionUpdate"))
        if kind not in CHUNK_KINDS:
            self.pause()
        if str(update.get("toolCallId")) in self._prompts:  # the end of a tool call that stood for a prompt alone
            return None
        match kind:
            case "tool_call":
                return self._announce(update, place)
            case "plan":
                plan = {"type": "items", "planId": PLAN_ID, "entries": update.get("entries", [])}
                return {**omit(update, "entries"), "sessionUpdate": "plan_update", "plan": plan}
            case "current_mode_update":
                self.options.set_mode(str(update.get("currentModeId")))
                options = self.options.list_options()
                if all(option.get("category") != MODE for option in options):
                    place.lose("v2 has no mode without the modes; it is kept until they are known", update, "changed")
                    return None
                fields = omit(update, "currentModeId")
                return {**fields, "sessionUpdate": "config_option_update", "configOptions": options}
            case "config_option_update":
                self.options.replace(update.get("configOptions") or (), place.descend("configOptions"))
                return {**update, "configOptions": self.options.list_options()}
            case "usage_update" if update.get("cost", 0) is None:
                return omit(update, "cost")
            case _:
                pass
        result: Json = self.convert("SessionUpdate", update, place)
        if result is NOTHING:
            return None
        if kind in CHUNK_KINDS:
            result = {**result, "messageId": self._convert_message(kind, update.get("messageId"))}
        elif kind == "tool_call_update":
            get_or_add(self._calls, str(update.get("toolCallId")), lambda: None)
        return result

    def _convert_message(self, kind: str, message_id: object) -> str:
        if isinstance(message_id, str):
            self._run = None
            return message_id
        if self._run is None or self._run[0] != kind:
            self._run = kind, self.make_message_id()
        return self._run[1]

    def _announce(self, update: Json, place: Place) -> Json:
        """Convert the announcement of a tool call. If it was announced before, missing fields are reset."""
        call = str(update.get("toolCallId"))
        result = {**self._convert_tool_call(update, place), "sessionUpdate": "tool_call_update"}
        if call in self._calls:
            defaults = {**dict.fromkeys((*CLEARABLE_FIELDS[:-1], *LIST_FIELDS)), "kind": "other", "status": "pending"}
            result = defaults | result
        get_or_add(self._calls, call, lambda: None)
        return result

    def _convert_handshake(self, name: str, info: str, defaults: Json, body: Json, place: Place) -> Json:
        """Convert the params or the result of `initialize`."""
        result: Json = self.convert_row(name, {**defaults, **body, "protocolVersion": 2}, place)
        if not isinstance(result.get("info"), dict):
            place.descend(info).lose("v2 requires a name and a version", kind="added")
            result["info"] = UNKNOWN_INFO
        return result

    def _convert_opening(self, answer: Json, place: Place) -> Json:
        """Convert the response that opens a session, with its modes among the options."""
        self.options.begin(answer, place)
        if "availableCommands" in answer:
            place.descend("availableCommands").lose(CONFLICT)
        options = self.options.list_options()
        config_options = {"configOptions": options} if options or answer.get("configOptions") is not None else {}
        return {**omit(answer, "modes", "configOptions", "availableCommands"), **config_options}

    def _prompt(self, body: Json, place: Place) -> Json:
        """Convert a prompt; one without content becomes an empty text."""
        if body["prompt"] == []:
            place.descend("prompt").lose("a prompt of v2 has content; an empty text is sent", kind="added")
            body = {**body, "prompt": [{"type": "text", "text": ""}]}
        result: Json = self.convert_row("PromptRequest", body, place)
        return result

    def convert_permission(self, body: Json, place: Place) -> Json:
        """Convert a permission request: the tool call becomes its subject, unless it carries another, and provides its title."""
        for key in PROMPT_WORDS:
            if key in body:
                place.descend(key).lose(CONFLICT, body[key])
        call = self.convert("ToolCallUpdate", body["toolCall"], place.descend("toolCall"))
        options: Json = {}
        for index, option in enumerate(body["options"]):
            if option["optionId"] in options:
                place.descend("options", index, "optionId").lose("in v2 the id of an option is used once", option)
            options.setdefault(option["optionId"], option)
        subject = get_original(body["toolCall"])
        if subject is None or subject["type"] in ("tool_call", "command"):  # which v1 has itself
            subject = {"type": "tool_call", "toolCall": call}
        else:
            get_or_add(self._prompts, str(call.get("toolCallId")), lambda: None)
        return {
            **omit(body, "toolCall", *PROMPT_WORDS),
            "title": make_title(call.get("title")),
            "subject": subject,
            "options": list(options.values()),
        }

    def _convert_capabilities(self, capabilities: Json, place: Place) -> Json:
        def convert_part(row: str, key: str) -> Json:
            result: Json = self.convert(row, as_object(capabilities.get(key)), place.descend(key))
            return result

        session_keys = ("loadSession", "promptCapabilities", "mcpCapabilities", "sessionCapabilities", "session")
        result: Json = self.convert_row("AgentCapabilities", omit(capabilities, *session_keys), place)
        session = {
            **convert_part("SessionCapabilities", "sessionCapabilities"),
            "prompt": convert_part("PromptCapabilities", "promptCapabilities"),
            "mcp": convert_part("McpCapabilities", "mcpCapabilities"),
        }
        return {**(result if result.get("auth") else omit(result, "auth")), "session": session}

    def _convert_tool_call(self, update: Json, place: Place) -> Json:
        nullable = (*CLEARABLE_FIELDS, *LIST_FIELDS)
        source = {key: value for key, value in update.items() if value is not None or key not in nullable}
        result: Json = self.convert_row("ToolCallUpdate", source, place)
        return result

    def _convert_block(self, block: Any, place: Place) -> Any:
        original = get_original(block)
        is_known = original is None or original["type"] in CONTENT_BLOCK.rows
        return self.convert_row("ContentBlock", block, place) if is_known else original

    def _convert_item(self, item: Any, place: Place) -> Any:
        original = get_original(item)
        if original is None or original["type"] in ("content", "terminal"):  # which v1 has itself
            return self.convert_row("ToolCallContent", item, place)
        return original

    def _convert_terminal(self, item: Json, place: Place) -> Any:
        terminals = self._terminals()
        if terminals is None or item.get("terminalId") in terminals:
            return item
        place.lose("the client owns terminals in v1, the agent in v2; this one is unknown", item)
        return NOTHING

    def _convert_location(self, location: Any, place: Place) -> Any:
        if as_object(location).get("line") != 0:
            return location
        place.descend("line").lose("lines count from 1 in v2", 0)
        return omit(location, "line")

    def _convert_option(self, option: Any, place: Place) -> Any:
        source, original = as_object(option), get_original(option)
        if original is not None and original["type"] == "boolean" and original.get("configId") == source.get("id"):
            return {**original, "currentValue": source.get("currentValue") == SWITCH_VALUES[True]}
        if source.get("type") != "select":
            return self.convert_row("SessionConfigOption", source, place)
        choices = [choice for choice in source.get("options") or () if as_object(choice).get("options") != []]
        if not choices:
            place.descend("options").lose("an option of v2 offers at least one value", option)
            return NOTHING
        return self.convert_row("SessionConfigOption", {**source, "options": choices}, place)

    def _convert_server(self, server: Any, place: Place) -> Any:
        if as_object(server).get("type") != "sse":
            return self.convert_row("McpServer", server, place)
        place.lose("v2 has no MCP servers over SSE", server)
        raise make_invalid_params("an MCP server over SSE cannot be used", json_pointer(place.path))

    def _convert_terminal_method(self, method: Any, place: Place) -> Any:
        result: Json = self.convert_row("AuthMethodTerminal", method, place)
        if isinstance(result.get("env"), dict):
            result["env"] = [{"name": name, "value": value} for name, value in as_object(result["env"]).items()]
        return result


def find_mode(options: Sequence[Json]) -> Json | None:
    """The option that represents the mode, see `modes.find_mode_option`."""
    return next(
        (option for option in options if option.get("category") == MODE and option.get("type") == "select"), None
    )


class OptionsOfV1:
    """The modes and options of a v1 agent, as options of v2.

    A v1 agent that has options lists its modes among them too, so only modes without options become an option.
    """

    def __init__(self, walker: Walker) -> None:
        self._walker = walker
        self._modes: Json = {}
        self._options: list[Json] = []

    def begin(self, result: Mapping[str, Any], place: Place) -> None:
        """Initialize from the result of `session/new`, `load`, `resume` or `fork`. A new session keeps a mode that was set before."""
        before, self._modes = self._modes, as_object(result.get("modes"))
        self.replace(result.get("configOptions") or (), place.descend("configOptions"))
        mode_ids = [as_object(mode).get("id") for mode in self._modes.get("availableModes") or ()]
        if "sessionId" in result and before.get("currentModeId") in mode_ids:
            self.set_mode(before["currentModeId"])

    def replace(self, options: Sequence[Any], place: Place) -> None:
        """Replace all options."""
        self._options = self._walker.convert("SessionConfigOption", list(options), place)

    def set_mode(self, mode_id: str) -> None:
        """Set the current mode."""
        self._modes = {**self._modes, "currentModeId": mode_id}
        option = find_mode(self._options)
        if option is not None:
            option["currentValue"] = mode_id

    @property
    def mode_option(self) -> str | None:
        """The id of the option that represents the modes; `None` if there are no modes or the agent has such an option itself."""
        if not self._modes.get("availableModes") or any(option.get("category") == MODE for option in self._options):
            return None
        used_ids = [option.get("configId") for option in self._options]
        return next(name for name in (MODE, *(f"{MODE}{number}" for number in range(2, 1000))) if name not in used_ids)

    def list_options(self) -> list[Json]:
        """All options with their current values."""
        name = self.mode_option
        if name is None:
            return list(self._options)
        values = [{**omit(mode, "id"), "value": mode["id"]} for mode in map(as_object, self._modes["availableModes"])]
        option: Json = {
            **omit(self._modes, "availableModes", "currentModeId"),
            "configId": name,
            "name": "Mode",
            "category": MODE,
            "type": "select",
            "currentValue": self._modes.get("currentModeId"),
            "options": values,
        }
        return [option, *self._options]
