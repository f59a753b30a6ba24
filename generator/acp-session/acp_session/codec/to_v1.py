"""The conversion of v2 messages to v1.

v1 cannot retract what was sent, has one plan, no display of terminals, and fewer states. The values that v2 patches are kept here, so
that v1 gets the whole. What v1 cannot represent is sent as readable text with the original in `_meta`, from which the conversion to v2
restores it; updates that have no form in v1 at all are sent as an extension notification (`CARRIER_METHOD`) with unchanged params.

Sources: the pages of both versions on prompts, tool calls, plans, commands, configuration; the migration page; the RFD on terminal
output.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from acp_bindings import to_builtins, v1, v2

from acp_session.diffs import as_object, diff_to_v1
from acp_session.permission import GENERIC_TITLE, make_title
from acp_session.transcript import TerminalState
from acp_workspace.errors import make_invalid_params

from .losses import CARRIER, Place
from .tables import OPENING_ANSWERS, OPTION_KIND, PROMPT_WORDS, SESSION_UPDATE, TABLE
from .to_v2 import CHUNK_KINDS, CLEARABLE_FIELDS, LIST_FIELDS, SWITCH_VALUES, find_mode
from .walker import CONFLICT, Hook, Json, Walker, get_or_add, omit, with_original

CARRIER_METHOD: Final = f"_{CARRIER}/session/update"
"""The extension notification that carries a v2 update to a receiver that supports it."""
GATES: Final = {"notice": "notices", "compaction_update": "compaction", "compaction_summary_chunk": "compaction"}
"""Updates that a v1 client accepts if it advertises this session capability."""
TURN_STATES: Final = frozenset({"running", "requires_action", "idle"})
"""The states that follow from the turns of v1."""
DEFAULT_TITLE: Final = "Tool call"
MAX_TERMINALS: Final = 64
"""The maximum number of terminals whose output is kept."""
MIN_NEWS: Final = 1024
"""The minimum bytes of new output for which a terminal is sent again."""


@dataclass(slots=True)
class _Message:
    """The digests of the content that was sent for a message, and how often it was sent again because it had changed."""

    digests: list[bytes] = field(default_factory=list[bytes])
    versions: int = 0


@dataclass(slots=True)
class _Call:
    content: list[Any] = field(default_factory=list[Any])
    sent_fields: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class _Terminal:
    """A terminal of the agent, how many bytes of its output were sent, and how many are new since."""

    state: TerminalState
    sent: int = 0
    new: int = 0
    is_changed: bool = False

    def apply(self, update: Json) -> None:
        """Apply a `terminal_update` or a `terminal_output_chunk`."""
        before = 0 if "output" in update else len(self.state.output)
        if not self.state.apply(v2.decode_as(v2.SessionUpdate, update)):
            self.state.output += b"[output that is not base64]"
        self.new += max(0, len(self.state.output) - before) or len(update.get("data", ""))
        self.is_changed |= not update.keys().isdisjoint(("output", "command", "exitStatus"))

    def has_news(self, *, is_last: bool = False) -> bool:
        """Whether enough has changed to send the terminal: growing output is sent again once it is half as long again, and at the end."""
        return self.is_changed or self.new >= (1 if is_last else max(MIN_NEWS, self.sent // 2))

    def mark_sent(self) -> None:
        """Record that the current text is sent."""
        self.sent, self.new, self.is_changed = len(self.state.output), 0, False

    @property
    def text(self) -> str:
        """The command, the output and the exit status, on lines of their own; invalid UTF-8 is replaced."""
        state, status = self.state, self.state.exit_status
        lines = [f"$ {state.command}" if state.command else "", state.text.removesuffix("\n")]
        if status is not None:
            code, signal = status.exit_code, status.signal
            lines.append(f"[ended{f' with {code}' if code is not None else ''}{f' by {signal}' if signal else ''}]")
        return "\n".join(filter(None, lines))


class ToV1(Walker):
    """The converter for a session, or for messages outside sessions.

    `takes` are the client's capabilities for sessions: updates that it does not accept are carried, and a boolean option is sent as a
    selection of two values. `terminals` are those of the client, which may occur in tool calls.
    """

    def __init__(self, takes: Mapping[str, Any] = {}, terminals: Callable[[], Collection[str]] = tuple) -> None:
        hooks: dict[str, Hook] = {
            "InitializeRequest": self._initialize_params,
            "InitializeResponse": self._initialize_result,
            **dict.fromkeys(OPENING_ANSWERS, self._convert_opening),
            "RequestPermissionRequest": self.convert_permission,
            "RequestPermissionOutcome?": self._convert_unknown_outcome,
            "AgentCapabilities": self._convert_capabilities,
            "ContentBlock?": self._convert_unknown_block,
            "ToolCallContent?": self._convert_unknown_item,
            "Diff": self._diff,
            "Terminal": self._convert_terminal,
            "ToolCallUpdate": self.convert_tool_call,
            "SessionConfigBoolean": self._switch,
            "AuthMethodTerminal": self._convert_terminal_method,
            "McpServer?": lambda server, place: server,
        }
        super().__init__(1, TABLE, hooks)
        self._takes = takes
        self._client_terminals = terminals
        self._options: list[Json] = []
        self._messages: dict[tuple[str, str], _Message] = {}
        self._calls: dict[str, _Call] = {}
        self._plans: dict[str, list[Json]] = {}
        self._terminals: dict[str, _Terminal] = {}

    def update(self, update: Json, place: Place) -> list[Json] | None:
        """Convert an update to v1 updates, in order; `None` for an update without a form in v1, which the caller must carry."""
        kind = str(update.get("sessionUpdate"))
        match kind:
            case _ if kind in CHUNK_KINDS:
                message = get_or_add(self._messages, (kind, str(update.get("messageId"))), _Message)
                message.digests.append(_hash_content(update.get("content")))
                return [_rename(message, self.convert("SessionUpdate", update, place))]
            case "user_message" | "agent_message" | "agent_thought":
                return self._convert_message(f"{kind}_chunk", update, place)
            case "tool_call_update":
                return [self._convert_tool_call_update(update, place)]
            case "tool_call_content_chunk":
                return [self._convert_tool_call_chunk(update, place)]
            case "terminal_update" | "terminal_output_chunk":
                name = str(update.get("terminalId"))
                terminal = get_or_add(self._terminals, name, lambda: _Terminal(TerminalState(name)), MAX_TERMINALS)
                terminal.apply(update)
                return self._show(name, terminal, place) if terminal.has_news() else []
            case "plan_update":
                return self._merge_plans(update, place)
            case "config_option_update":
                return self._convert_config_options(update, place)
            case _:
                pass
        is_known = kind in SESSION_UPDATE.rows
        if is_known and (kind not in GATES or self._takes.get(GATES[kind]) is not None):
            return [self.convert("SessionUpdate", update, place)]
        sentence = "the client does not accept this update" if is_known else "v1 has no such update"
        place.lose(sentence, update, "carried")
        return None

    def flush(self, place: Place) -> list[Json]:
        """The updates for terminal output that v1 was not sent yet, for the end of the work."""
        late = [(name, terminal) for name, terminal in self._terminals.items() if terminal.has_news(is_last=True)]
        return [update for name, terminal in late for update in self._show(name, terminal, place)]

    def _convert_message(self, kind: str, update: Json, place: Place) -> list[Json]:
        """Convert a whole message to chunks for its new content. A message whose earlier content has changed is sent as a new message."""
        message = get_or_add(self._messages, (kind, str(update.get("messageId"))), _Message)
        if "content" not in update:
            place.lose_fields(update, "sessionUpdate", "messageId")
            return []
        content: Sequence[Any] = update["content"] or ()
        digests, start, at = [_hash_content(block) for block in content], len(message.digests), place.descend("content")
        if digests[:start] != message.digests:
            if not content:
                at.lose("v1 cannot retract a message", update["content"])
                return []
            at.lose("v1 cannot change a message; it is sent again as a new message", kind="changed")
            message.versions += 1
            start = 0
        message.digests = digests
        if len(content) == start:
            place.lose_fields(update, "sessionUpdate", "messageId", "content")
        envelope = {**omit(update, "content"), "sessionUpdate": kind}
        blocks = [
            self.convert("ContentBlock", content[index], at.descend(index)) for index in range(start, len(content))
        ]
        return [_rename(message, {**envelope, "content": block}) for block in blocks]

    def convert_tool_call(self, update: Json, place: Place) -> Json:
        """Convert a tool call in an update or a permission request; it is kept, so that later updates are complete."""
        call = get_or_add(self._calls, str(update.get("toolCallId")), _Call)
        source: Json = {key: [] if value is None and key in LIST_FIELDS else value for key, value in update.items()}
        for key in CLEARABLE_FIELDS:
            if key in source and source[key] is None:
                del source[key]
                if key in call.sent_fields:
                    place.descend(key).lose("v1 cannot clear a field", None)
        if "content" in source:
            call.content = list(source["content"])
        result: Json = self.convert_row("ToolCallUpdate", source, place)
        call.sent_fields |= result.keys()
        return result

    def _convert_tool_call_update(self, update: Json, place: Place) -> Json:
        is_new = str(update.get("toolCallId")) not in self._calls
        call = self.convert_tool_call(update, place)
        return _announce(call, place.descend("title")) if is_new else call

    def _convert_tool_call_chunk(self, update: Json, place: Place) -> Json:
        """Convert a tool call whose content grows: v1 is sent all of it."""
        call_id = str(update.get("toolCallId"))
        is_new = call_id not in self._calls
        call = get_or_add(self._calls, call_id, _Call)
        call.content.append(update.get("content"))
        if update.get("_meta"):
            place.descend("_meta").lose("v1 has no content chunks", update["_meta"])
        result = self._make_content_update(call_id, call, place)
        return _announce(result, place) if is_new else result

    def _make_content_update(self, call_id: str, call: _Call, place: Place) -> Json:
        content = self.convert("ToolCallContent", call.content, place.descend("content"))
        return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "content": content}

    def _show(self, name: str, terminal: _Terminal, place: Place) -> list[Json]:
        """Updates for the tool calls that show a terminal of the agent, with its current text."""
        terminal.mark_sent()
        calls = [
            (call_id, call)
            for call_id, call in self._calls.items()
            if any(as_object(content).get("terminalId") == name for content in call.content)
        ]
        return [self._make_content_update(call_id, call, place) for call_id, call in calls]

    def _merge_plans(self, update: Json, place: Place) -> list[Json] | None:
        """Merge all plans of the session into one."""
        plan, at = as_object(update.get("plan")), place.descend("plan")
        if plan.get("type") != "items":
            at.lose("v1 has no plan of this type", plan, "carried")
            return None
        name = str(plan.get("planId"))
        steps = self.convert("PlanEntry", list(plan.get("entries") or ()), at.descend("entries"))
        get_or_add(self._plans, name, list[Json])[:] = steps
        if len(self._plans) > 1:
            at.descend("planId").lose("a session of v1 has one plan; it holds the steps of all plans", name, "changed")
        at.lose_fields(plan, "type", "planId", "entries")
        whole = [step for steps in self._plans.values() for step in steps]
        return [{**omit(update, "plan"), "sessionUpdate": "plan", "entries": whole}]

    def _convert_config_options(self, update: Json, place: Place) -> list[Json]:
        before = self.mode
        options = self.replace_options(update.get("configOptions") or (), place.descend("configOptions"))
        updates: list[Json] = [{**update, "configOptions": options}]
        mode = self.mode
        if mode is not None and before is not None and mode.get("currentValue") != before.get("currentValue"):
            updates.append({"sessionUpdate": "current_mode_update", "currentModeId": mode.get("currentValue")})
        return updates

    def replace_options(self, options: Sequence[Any], place: Place) -> list[Json]:
        """Replace all options of the agent, and return them for v1."""
        self._options = [as_object(option) for option in options]
        result: list[Json] = self.convert("SessionConfigOption", self._options, place)
        return result

    def find_option(self, config_id: object) -> Json | None:
        """The option with this id."""
        return next((option for option in self._options if option.get("configId") == config_id), None)

    @property
    def mode(self) -> Json | None:
        """The option that represents the mode; it is also sent as modes, for v1 clients that support only these."""
        return find_mode(self._options)

    @property
    def modes(self) -> list[Json]:
        """The values of that option as modes."""
        values: list[Json] = []
        for choice in map(as_object, as_object(self.mode).get("options") or ()):
            values += map(as_object, choice["options"]) if "groupId" in choice else [choice]
        return [{**omit(choice, "value"), "id": choice.get("value")} for choice in values]

    def _convert_opening(self, answer: Json, place: Place) -> Json:
        """Convert the response that opens a session; modes are separate, and v1 sends commands by an update."""
        result = omit(answer, "configOptions", "availableCommands", "modes")
        if answer.get("configOptions") is not None:
            result["configOptions"] = self.replace_options(answer["configOptions"], place.descend("configOptions"))
        option = self.mode
        if option is not None:
            result["modes"] = {"currentModeId": option.get("currentValue"), "availableModes": self.modes}
        return result

    def _initialize_params(self, body: Json, place: Place) -> Json:
        """The params of `initialize`."""
        result: Json = self.convert_row("InitializeRequest", {"capabilities": {}, **body, "protocolVersion": 1}, place)
        return result

    def _initialize_result(self, body: Json, place: Place) -> Json:
        """The result of `initialize`."""
        source: Json = {"capabilities": {}, "authMethods": [], **body, "protocolVersion": 1}
        result: Json = self.convert_row("InitializeResponse", source, place)
        if result["authMethods"]:
            result["agentCapabilities"]["auth"] = {**result["agentCapabilities"]["auth"], "logout": {}}
        return result

    def convert_permission(self, body: Json, place: Place) -> Json:
        """Convert a permission request.

        v1 has no prompt text besides the tool call: it is put into the call's title, so that the user reads all of it. A prompt without
        a tool call gets one, which ends with the answer: its id is derived from the request, and a command becomes its input. Raises
        `RequestError` -32602 if v1 has none of the options; that is no consent.
        """
        subject, text, call = as_object(body.get("subject")), None, dict[str, Any]()
        match subject.get("type"):
            case "tool_call":
                call = as_object(subject["toolCall"])
                text = call.get("title")
                place.descend("subject").lose_fields(subject, "type", "toolCall")
            case "command":
                text = subject["command"]
                call_id = subject.get("toolCallId")
                call = {"toolCallId": call_id} if call_id else _make_call(body)
                call |= {"kind": "execute", "rawInput": {"command": text, "cwd": subject["cwd"]}}
                place.descend("subject").lose_fields(subject, "type", "toolCallId", "command", "cwd")
            case kind:
                call = _make_call(body)
                if kind is not None:
                    place.descend("subject").lose("v1 asks about tool calls only", subject, "carried")
                    call = with_original(call, subject)
        words = (body.get("title"), text, body.get("description"))
        title = "\n".join(dict.fromkeys(word for word in words if isinstance(word, str) and word.strip()))
        if subject.get("type") != "tool_call" or body.get("description") or body.get("title") != make_title(text):
            place.descend("title").lose("v1 has no prompt text; it is put into the tool call's title", kind="changed")
            call = {**call, "title": title or GENERIC_TITLE}
        if "toolCall" in body:
            place.descend("toolCall").lose(CONFLICT, body["toolCall"])
        options = [option for option in body["options"] if option["kind"] in OPTION_KIND.v1_values]
        for index, option in enumerate(body["options"]):
            if option not in options:
                place.descend("options", index).lose("v1 has no option of this kind", option)
        if not options:
            raise make_invalid_params("none of the options can be offered to a client of v1", "/options")
        call = self.convert("ToolCallUpdate", call, place.descend("subject", "toolCall"))
        return {**omit(body, "toolCall", *PROMPT_WORDS), "toolCall": call, "options": options}

    def _convert_unknown_outcome(self, outcome: Json, place: Place) -> Json:
        place.lose("v1 has no such outcome; it does not count as consent", outcome, "changed")
        return {"outcome": "cancelled"}

    def _convert_capabilities(self, capabilities: Json, place: Place) -> Json:
        session, at = as_object(capabilities.get("session")), place.descend("session")
        has_sessions = isinstance(capabilities.get("session"), dict)
        mcp = as_object(session.get("mcp"))
        if not has_sessions:
            at.lose("an agent of v1 always has sessions; requests for them are refused")
        elif not isinstance(mcp.get("stdio"), dict):
            at.descend("mcp", "stdio").lose("in v1 every agent starts MCP servers", kind="added")
        session_capabilities = omit(session, "prompt", "mcp")
        return {
            **self.convert_row("AgentCapabilities", omit(capabilities, "session"), place),
            "loadSession": has_sessions,
            "promptCapabilities": self.convert(
                "PromptCapabilities", as_object(session.get("prompt")), at.descend("prompt")
            ),
            "mcpCapabilities": self.convert("McpCapabilities", omit(mcp, "stdio"), at.descend("mcp")),
            "sessionCapabilities": self.convert("SessionCapabilities", session_capabilities, at)
            if has_sessions
            else {},
        }

    def _convert_unknown_block(self, block: Any, place: Place) -> Json:
        place.lose("v1 has no content of this type", block, "carried")
        return with_original({"type": "text", "text": f"[{block.get('type')}]"}, block)

    def _convert_unknown_item(self, item: Any, place: Place) -> Json:
        place.lose("v1 has no content of this type", item, "carried")
        return _as_text(f"[{item.get('type')}]", item)

    def _diff(self, diff: Json, place: Place) -> Json:
        v1_diff = diff_to_v1(diff)
        if v1_diff is not None:
            return v1_diff
        place.lose("v1 shows the old and the new text of one file", diff, "carried")
        return _as_text(_describe_changes(diff), diff)

    def _convert_terminal(self, item: Json, place: Place) -> Json:
        name = str(item.get("terminalId"))
        if name in self._client_terminals():
            return item
        place.lose("the client owns terminals in v1; the output of this one is sent as text", item, "changed")
        text = self._terminals[name].text if name in self._terminals else ""
        return {"type": "content", "content": {"type": "text", "text": _fence(text, "console")}}

    def _switch(self, option: Json, place: Place) -> Json:
        result: Json = self.convert_row("SessionConfigBoolean", option, place)
        if as_object(self._takes.get("configOptions")).get("boolean") is not None:
            return result
        place.lose("the client has no boolean options; a choice of two is offered", option, "carried")
        names = [{"value": SWITCH_VALUES[True], "name": "On"}, {"value": SWITCH_VALUES[False], "name": "Off"}]
        now = SWITCH_VALUES[option.get("currentValue") is True]
        return with_original({**result, "type": "select", "currentValue": now, "options": names}, option)

    def _convert_terminal_method(self, method: Json, place: Place) -> Json:
        result: Json = self.convert_row("AuthMethodTerminal", method, place)
        if isinstance(result.get("env"), list):
            variables = [as_object(variable) for variable in result["env"]]
            result["env"] = {variable["name"]: variable["value"] for variable in variables}
            if any(variable.keys() - {"name", "value"} for variable in variables):
                place.descend("env").lose("v1 has only names and values", method["env"], "changed")
        return result


def offer_services(params: Json, capabilities: v1.ClientCapabilities) -> Json:
    """Add to the params of `initialize` the files and terminals for a v1 agent, which v2 does not have."""
    if capabilities.terminal or capabilities.fs.read_text_file or capabilities.fs.write_text_file:
        services = to_builtins(capabilities)
        params["clientCapabilities"] |= {key: services[key] for key in ("fs", "terminal") if key in services}
    return params


def is_carried(update: Json) -> bool:
    """Whether v1 carries this v2 update. Updates that have a form in v1, or that end work, are never carried."""
    kind = update.get("sessionUpdate")
    match kind:
        case "plan_update":
            return as_object(update.get("plan")).get("type") != "items"
        case "state_update":
            return bool(update.get("background")) or update.get("state") not in TURN_STATES
        case _:
            return kind in GATES or kind not in {*SESSION_UPDATE.rows, *SESSION_UPDATE.only_v2}


def _rename(message: _Message, chunk: Json) -> Json:
    return chunk if not message.versions else {**chunk, "messageId": f"{chunk['messageId']}~{message.versions}"}


def _announce(call: Json, place: Place) -> Json:
    if "title" not in call:
        place.lose("a tool call of v1 has a title", kind="added")
        call["title"] = call.get("name") or DEFAULT_TITLE
    return {**call, "sessionUpdate": "tool_call"}


def _as_text(text: str, source: Json) -> Json:
    return with_original({"type": "content", "content": {"type": "text", "text": text}}, source)


def _describe_changes(diff: Json) -> str:
    """A diff as readable text: its patch, or a line for each file."""
    patch = as_object(diff.get("patch")).get("text")
    if isinstance(patch, str) and patch:
        return _fence(patch, "diff")
    return "\n".join(
        f"{change.get('operation', 'change')} {' → '.join(str(change[key]) for key in ('oldPath', 'path') if key in change)}"
        for change in map(as_object, diff.get("changes") or ())
    )


def _fence(text: str, language: str) -> str:
    """Put text into a Markdown code block whose fence does not occur in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}"


def _make_call(body: Json) -> Json:
    """A tool call for a permission request that has none; its id is unique, but equal requests get equal ids."""
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return {"toolCallId": f"permission_{digest[:16]}", "status": "pending"}


def _hash_content(content: Any) -> bytes:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
