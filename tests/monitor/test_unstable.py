"""What only the unstable channel has: a note says where it is, once; and the channel's own bindings and validators hold it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from acp_bindings import v1 as stable
from acp_bindings.unstable import v1, v2
from acp_bindings.v1 import methods as judged

from acp_monitor import Breach, Monitor
from acpgen.messages import validators
from jsonrpc_bindings.module_registry import SchemaModule
from jsonrpc_bindings.strict import Strict

KEY = {"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": "HARBOUR_KEY"}]}
USAGE = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
UPDATE = {"sessionId": "s", "update": {"sessionUpdate": "plan_removed", "planId": "p"}}
SAID: list[tuple[str, dict[str, Any]]] = [
    ("client", {"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {"plan": {}}}}),
    (
        "agent",
        {"id": 0, "result": {"protocolVersion": 1, "authMethods": [KEY], "agentCapabilities": {"providers": {}}}},
    ),
    ("client", {"id": 1, "method": "providers/list", "params": {}}),
    ("agent", {"id": 1, "result": {"providers": []}}),
    ("client", {"id": 2, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
    ("agent", {"id": 2, "result": {"sessionId": "s", "neverHeardOf": 1}}),
    ("client", {"id": 3, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}),
    ("agent", {"method": "session/update", "params": UPDATE}),
    ("agent", {"method": "session/update", "params": UPDATE}),
    ("agent", {"id": 3, "result": {"stopReason": "end_turn", "usage": USAGE}}),
]


def heard(monitor: Monitor) -> list[Breach]:
    found = [breach for who, body in SAID for breach in monitor.observe(who, {"jsonrpc": "2.0", **body})]
    return [*found, *monitor.finish()]


@pytest.mark.parametrize(
    "make", [Monitor, lambda: validators.make_monitor(validators.read_versions(()))], ids=["bindings", "acpgen"]
)
def test_what_only_the_unstable_channel_has_is_noted_once_with_its_place(make: Any) -> None:
    notes = [breach for breach in heard(make()) if breach.rule == "only-unstable"]
    assert [(note.index, note.pointer) for note in notes] == [
        (0, "/params/clientCapabilities/plan"),
        (1, "/result/authMethods/0/type"),
        (1, "/result/authMethods/0/vars"),
        (1, "/result/agentCapabilities/providers"),
        (2, "/method"),
        (7, "/params/update/sessionUpdate"),
        (7, "/params/update/planId"),
        (9, "/result/usage"),
    ]
    assert {note.level for note in notes} == {"note"}
    assert notes[4].sentence == "the method 'providers/list' is not in acp/v1; the unstable acp/unstable/v1 has it"


@pytest.mark.parametrize(
    "make", [Monitor, lambda: validators.make_monitor(validators.read_versions(()))], ids=["bindings", "acpgen"]
)
def test_one_note_tells_of_a_field_and_a_way_to_log_in_of_an_unknown_type_is_no_breach(make: Any) -> None:
    found = heard(make())
    noted = {(breach.index, breach.pointer) for breach in found if breach.rule == "only-unstable"}
    assert not [
        breach for breach in found if breach.rule == "field-unknown" and (breach.index, breach.pointer) in noted
    ]
    assert [breach.level for breach in found if breach.pointer == "/result/authMethods/0/type"] == ["note", "note"]


def test_by_the_unstable_channel_nothing_of_it_is_wrong() -> None:
    assert not heard(validators.make_monitor(validators.read_versions(["acp/unstable/v1"]), fixed=True))


def test_the_channel_has_types_for_what_agents_ship() -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "authMethods": [KEY]}}).encode()
    answer: Any = v1.decode(line, sender="agent", method="initialize")
    (method,) = answer.result.auth_methods
    assert isinstance(method, v1.AuthMethodEnvVar)
    assert method.vars[0].name == "HARBOUR_KEY"
    assert json.loads(v1.encode(answer)) == json.loads(line)
    unknown: Any = stable.decode(line, sender="agent", method="initialize")
    assert type(unknown.result.auth_methods[0]).__name__ == "UnknownAuthMethod"
    assert v1.METHODS["providers/list"].unstable
    assert v2.METHODS["auth/status_update"].unstable
    assert not v1.METHODS["session/new"].unstable
    usage: Any = v1.decode_as(v1.PromptResponse, {"stopReason": "end_turn", "usage": USAGE})
    assert usage.usage == v1.Usage(total_tokens=3, input_tokens=2, output_tokens=1)


def test_what_one_connection_has_no_channel_for_is_noted_on_another_that_has() -> None:
    """They share the forms of messages of which nothing is to be said. Of a variant that peers made up the protocol knows no fields."""
    schema = judged.STRICT.schema
    known = Strict(judged.STRICT.contract.methods, SchemaModule("", lambda: schema))
    newer = json.loads(json.dumps(schema))
    newer["$defs"]["CreateElicitationResponse"].setdefault("properties", {})["tide"] = {"type": "string"}
    channel = Strict(judged.STRICT.contract.methods, SchemaModule("", lambda: newer))

    def notes(monitor: Monitor) -> list[str]:
        asked = {"message": "?", "mode": "url", "url": "https://a.example", "elicitationId": "e", "requestId": 1}
        monitor.observe("agent", {"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": asked})
        answer = {"jsonrpc": "2.0", "id": 7, "result": {"action": "_later", "tide": "high"}}
        return [breach.pointer for breach in monitor.observe("client", answer) if breach.rule == "only-unstable"]

    assert notes(Monitor([known], fixed=True)) == []
    assert notes(Monitor([known], fixed=True, unstable=lambda: [channel])) == ["/result/tide"]
