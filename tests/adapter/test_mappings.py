"""The mappings themselves: what both versions have goes there and back as it was, and whatever comes out is right in its version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, cast

import pytest
from acp_bindings import RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v1.methods import STRICT as V1
from acp_bindings.v2 import peers as peers2
from acp_bindings.v2.methods import STRICT as V2
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_monitor.undeclared import get_types
from acp_session.adapter import Loss, Losses
from acp_session.codec.relay import decode
from acp_session.codec.to_v1 import ToV1
from acp_session.codec.to_v2 import ToV2

VECTORS: Final = Path(__file__).parents[2] / "generated" / "vectors" / "acp"
SETTLED = settings(max_examples=60, derandomize=True, deadline=None)


def decode_v1(type_: Any, body: Any, at: Any) -> Any:
    return decode(peers1.Agent, type_, body, at)


def decode_v2(type_: Any, body: Any, at: Any) -> Any:
    return decode(peers2.Agent, type_, body, at)


def place() -> tuple[list[Loss], Any]:
    found: list[Loss] = []
    return found, Losses(found.append).make_place("session/update", "update")


def to_v1() -> ToV1:
    return ToV1({"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}})


# --- there and back --------------------------------------------------------------------------------------------------

drawn: Final[Any] = st
NAMES: Final[Any] = drawn.sampled_from(["a", "b", "c"])
TEXTS: Final[Any] = drawn.text(alphabet="ab \n\u00e9`", max_size=6)
META: Final[Any] = {"_meta": drawn.dictionaries(NAMES, drawn.integers(), max_size=2)}
BLOCKS: Final[Any] = drawn.one_of(
    drawn.fixed_dictionaries({"type": drawn.just("text"), "text": TEXTS}, optional=META),
    drawn.just({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
    drawn.just({"type": "resource_link", "name": "a", "uri": "file:///a", "size": 3}),
    drawn.just({"type": "text", "text": "x", "annotations": {"audience": ["user"], "priority": 0.5}}),
)
DIFFS: Final[Any] = drawn.fixed_dictionaries(
    {"type": drawn.just("diff"), "path": drawn.just("/w/a"), "newText": TEXTS}, optional={"oldText": TEXTS}
)
CONTENTS: Final[Any] = drawn.fixed_dictionaries({"type": drawn.just("content"), "content": BLOCKS})
ITEMS: Final[Any] = drawn.lists(drawn.one_of(CONTENTS, DIFFS), max_size=3)
OPTION: Final[dict[str, Any]] = {
    "id": "m",
    "name": "Model",
    "category": "model",
    "type": "select",
    "currentValue": "a",
    "options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}],
}
DETAILS: Final[Any] = drawn.fixed_dictionaries(
    {},
    optional={
        "kind": drawn.sampled_from(["read", "edit", "execute"]),
        "status": drawn.sampled_from(["pending", "in_progress", "completed", "failed"]),
        "content": ITEMS,
        "locations": drawn.just([{"path": "/w/a", "line": 2}]),
        "rawInput": drawn.dictionaries(NAMES, drawn.integers(), max_size=2),
        "name": NAMES,
    },
)
CHUNKS: Final[Any] = drawn.sampled_from(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"])
STEP: Final[Any] = {"content": TEXTS, "priority": drawn.just("high"), "status": drawn.just("pending")}
OTHERS: Final[Any] = drawn.one_of(
    drawn.fixed_dictionaries({"sessionUpdate": CHUNKS, "messageId": NAMES, "content": BLOCKS}, optional=META),
    drawn.fixed_dictionaries(
        {"sessionUpdate": drawn.just("plan"), "entries": drawn.lists(drawn.fixed_dictionaries(STEP), max_size=2)},
        optional=META,
    ),
    drawn.sampled_from(
        [
            {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "x", "description": "y"}]},
            {
                "sessionUpdate": "available_commands_update",
                "availableCommands": [{"name": "x", "description": "y", "input": {"hint": "z"}}],
            },
            {"sessionUpdate": "config_option_update", "configOptions": [OPTION]},
            {"sessionUpdate": "session_info_update", "title": "T"},
            {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 1.5, "currency": "EUR"}},
            {"sessionUpdate": "notice", "severity": "info", "title": "N"},
            {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"},
        ]
    ),
)


CONVERSATIONS: Final[Any] = drawn.lists(drawn.one_of(OTHERS, drawn.tuples(NAMES, DETAILS)), min_size=1, max_size=6)
"""Updates of v1 that v2 has a place for; a pair is a tool call and its details."""


def told(parts: list[Any]) -> list[dict[str, Any]]:
    """The updates: a tool call is announced by the first of its own."""
    known: set[str] = set()
    updates: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, dict):
            updates.append(cast("dict[str, Any]", part))
            continue
        call, details = part
        kind = {"sessionUpdate": "tool_call_update"} if call in known else {"sessionUpdate": "tool_call", "title": "T"}
        known.add(call)
        updates.append({**kind, "toolCallId": call, **details})
    return updates


@SETTLED
@given(CONVERSATIONS)
def test_what_both_versions_have_goes_to_v2_and_back_as_it_was(parts: list[Any]) -> None:
    losses, at = place()
    up, down = ToV2(), to_v1()
    for update in told(parts):
        converted = up.update(update, at)
        made = decode_v2(v2.UpdateSessionNotification, {"sessionId": "s", "update": converted}, at)
        assert not v2.validate(_notification(v2.encode(made)), sender="agent")
        back = down.update(to_builtins(made)["update"], at) or []
        final = [to_builtins(decode_v1(v1.SessionNotification, {"sessionId": "s", "update": one}, at)) for one in back]
        assert [one["update"] for one in final] == [update]
    assert losses == []


HELLO: Final[dict[str, Any]] = {
    "protocolVersion": 1,
    "clientInfo": {"name": "a", "version": "1"},
    "clientCapabilities": {
        "auth": {"terminal": True},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "_meta": {"x": 1},
    },
}
ANSWER: Final[dict[str, Any]] = {
    "protocolVersion": 1,
    "agentInfo": {"name": "a", "version": "1"},
    "agentCapabilities": {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": False},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}},
        "auth": {"logout": {}},
        "_meta": {"x": 1},
    },
    "authMethods": [
        {"id": "k", "name": "Key"},
        {"type": "terminal", "id": "t", "name": "T", "args": ["x"], "env": {"A": "b"}},
    ],
}


def test_the_handshake_goes_to_v2_and_back_as_it_was() -> None:
    losses, at = place()
    for name, body in (("InitializeRequest", HELLO), ("InitializeResponse", ANSWER)):
        found = to_builtins(decode_v2(getattr(v2, name), ToV2().convert(name, body, at), at))
        assert to_builtins(decode_v1(getattr(v1, name), ToV1().convert(name, found, at), at)) == body
    assert losses == []


# --- whatever the schema permits -------------------------------------------------------------------------------------


def _notification(params: bytes) -> Any:
    return {"jsonrpc": "2.0", "method": "session/update", "params": json.loads(params)}


def within(version: int, kind: str, value: Any) -> Any | None:
    """An update that holds a value of one of the types that updates are made of."""
    call: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": "c"}
    plan: dict[str, Any] = {"sessionUpdate": "plan", "entries": [value]}
    if version == 2:
        plan = {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [value]}}
    return {
        "SessionUpdate": value,
        "ContentBlock": {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": value},
        "ToolCallContent": {**call, "content": [value]},
        "ToolCallLocation": {**call, "locations": [value]},
        "ToolKind": {**call, "kind": value},
        "ToolCallStatus": {**call, "status": value},
        "PlanEntry": plan,
        "SessionConfigOption": {"sessionUpdate": "config_option_update", "configOptions": [value]},
        "AvailableCommand": {"sessionUpdate": "available_commands_update", "availableCommands": [value]},
        **({"ToolCall": {"sessionUpdate": "tool_call", **value}} if version == 1 and kind == "ToolCall" else {}),
        **({"ToolCallUpdate": {**value, **call}} if kind == "ToolCallUpdate" else {}),
        **({"TerminalUpdate": {**value, "sessionUpdate": "terminal_update"}} if kind == "TerminalUpdate" else {}),
    }.get(kind)


def rows(version: int) -> list[Any]:
    """All updates among the vectors that an implementation of the version reads, and those with parts that it reads."""
    folder = VECTORS / f"v{version}"
    found: list[Any] = []
    for path in sorted([*folder.glob("types/*.jsonl"), folder / "methods" / "session-update.jsonl"]):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            if not row["decodes"] or "message" not in row:
                continue
            update = within(version, row.get("type", ""), row["message"])
            if update is not None:
                found.append({"sessionId": "s", "update": update})
            elif row.get("method") == "session/update" and "params" in row["message"]:
                found.append(row["message"]["params"])
    return found


def test_every_update_of_v1_becomes_right_ones_of_v2_or_a_loss() -> None:
    seen = 0
    for params in rows(1):
        losses, at = place()
        update = to_builtins(v1.decode_as(v1.SessionNotification, params))["update"]
        found = ToV2().update(update, at)
        if found is None:
            assert losses, update
            continue
        try:
            made = decode_v2(v2.UpdateSessionNotification, {"sessionId": "s", "update": found}, at)
        except RequestError:
            assert losses
            continue
        assert not v2.validate(_notification(v2.encode(made)), sender="agent"), (update, found)
        seen += 1
    assert seen > 50


def test_every_update_of_v2_becomes_right_ones_of_v1_or_a_loss_or_is_one_of_state() -> None:
    seen = 0
    link = {
        "type": "resource_link",
        "name": "tides",
        "uri": "https://t.example",
        "icons": [{"src": "https://t.example"}],
    }
    linked = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": link}
    for params in [*rows(2), {"sessionId": "s", "update": linked}]:
        losses, at = place()
        update = to_builtins(v2.decode_as(v2.UpdateSessionNotification, params))["update"]
        if update["sessionUpdate"] == "state_update":
            continue
        found = to_v1().update(update, at)
        for one in found or []:
            try:
                made = decode_v1(v1.SessionNotification, {"sessionId": "s", "update": one}, at)
            except RequestError:
                assert losses
                continue
            assert not v1.validate(_notification(v1.encode(made)), sender="agent"), (update, one)
            assert undeclared(1, one) <= undeclared(2, update), (update, one)
            seen += 1
        assert found or losses or _says_nothing(update), update
    assert seen > 50


def undeclared(version: int, update: Any) -> set[str]:
    """The names of the fields of an update that its version does not have."""
    strict, name = (V1, "SessionNotification") if version == 1 else (V2, "UpdateSessionNotification")
    found = get_types(strict).find_undeclared(name, {"sessionId": "s", "update": update})
    return {str(one.path[-1]) for one in found if one.kind == "field"}


def _says_nothing(update: dict[str, Any]) -> bool:
    """Whether there is nothing in an update that a client of v1 could be told: a message without content, a terminal in no tool call."""
    kind = update["sessionUpdate"]
    return kind.startswith("terminal_") or (kind in ("user_message", "agent_message", "agent_thought"))


@pytest.mark.parametrize("version", [1, 2])
def test_there_are_vectors_for_every_kind_of_update(version: int) -> None:
    assert len({params["update"].get("sessionUpdate") for params in rows(version)}) >= 14


def test_the_output_of_terminals_is_kept_for_the_newest_only() -> None:
    walker, (_, at) = to_v1(), place()
    for number in range(65):
        walker.update({"sessionUpdate": "terminal_update", "terminalId": f"t{number}", "command": "make"}, at)

    def shown(terminal: str) -> str:
        content = [{"type": "terminal", "terminalId": terminal}]
        call = {"sessionUpdate": "tool_call_update", "toolCallId": terminal, "title": "x", "content": content}
        (update,) = walker.update(call, at) or []
        text: str = update["content"][0]["content"]["text"]
        return text

    assert ("make" in shown("t0"), "make" in shown("t64")) == (False, True)


def test_a_message_without_an_id_gets_none_that_the_agent_uses_itself() -> None:
    walker, (_, at) = ToV2(), place()
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    updates = [walker.update(update, at) or {} for update in ({**chunk, "messageId": "message_1"}, chunk, chunk)]
    named, first, second = (update["messageId"] for update in updates)
    assert named == "message_1" != first == second


def test_the_tool_calls_of_an_agent_of_v1_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_session.codec.walker.MAX_KEPT", 3)
    walker, (_, at) = ToV2(), place()
    for number in range(5):
        walker.update({"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "T"}, at)

    def is_known(call: str) -> bool:
        update = walker.update({"sessionUpdate": "tool_call", "toolCallId": call, "title": "T"}, at)
        return "locations" in (update or {})

    assert (is_known("c4"), is_known("c0")) == (True, False)


@pytest.mark.parametrize(("is_result", "code", "part"), [(False, -32602, "/params"), (True, -32603, "/result")])
def test_what_the_other_version_cannot_hold_is_refused_as_the_params_or_the_result_that_it_is(
    is_result: bool, code: int, part: str
) -> None:
    _, at = place()
    with pytest.raises(RequestError) as refused:
        decode(peers2.Agent, v2.NewSessionResponse, {}, at, is_result=is_result)
    assert refused.value.code == code
    assert all(problem["pointer"].startswith(part) for problem in refused.value.data["problems"])
