"""Profiles: what the built-in ones find in published schemas, what others can say, and what is refused."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import pytest

import evidence
from acpgen import Faults, load
from acpgen.config import find_profile
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.meaning.method_summary import describe_methods
from acpgen.meaning.understanding import understand
from acpgen.methods.discovery import Gaps
from acpgen.methods.faults import BAD_PROFILE, NO_METHODS, UNUSED_RULE
from acpgen.methods.profile import list_names, read_built_in
from methods.made import documents, faults_of, kinds_of, meaning, own, rows, wild


def _definitions(name: str) -> dict[str, Any]:
    (one,) = wild(name).documents
    value: Any = one.value
    found: dict[str, Any] = {}
    for key, schema in value["definitions"].items():
        found |= schema if key == "v2" else {key: schema}
    return found


def _constant(schema: Any) -> str | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return values[0] if len(values) == 1 else None


def _read_messages(name: str, method: str = "method") -> dict[str, dict[str, Any]]:
    """The messages of a published schema, as a reader finds them: by the constant in one property."""
    found: dict[str, dict[str, Any]] = {}
    for key, schema in _definitions(name).items():
        forms = [schema, *(part for part in schema.get("allOf", ()) if "$ref" not in part)]
        properties = {field: value for form in forms for field, value in form.get("properties", {}).items()}
        if method in properties and _constant(properties[method]) is not None:
            found[key] = properties
    return found


# --- published schemas -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "requests", "params"), [("a2a-0.2.0", 7, 7), ("a2a-0.3.0", 10, 9)])
def test_every_method_of_a2a_has_its_result(name: str, requests: int, params: int) -> None:
    protocol, found = understand(wild(name))
    assert (found.profile.name, found.profile.how) == ("a2a", "evident")
    assert len(protocol.methods) == requests == len(_read_messages(name))
    assert sum(one.params is not None for one in protocol.methods) == params
    assert all(one.result is not None and one.side == "agent" for one in protocol.methods)
    assert protocol.sides == ("client", "agent")
    results = {one.name: one.result for one in protocol.methods}
    assert results["message/send"] == "SendMessageSuccessResponseResult"
    assert results["tasks/resubscribe"] == results["message/stream"]


@pytest.mark.parametrize(
    ("name", "untyped"), [("codex-0.145.0", set[str]()), ("codex-0.145.0-v2", {"initialize", "fuzzyFileSearch"})]
)
def test_every_result_of_codex_that_the_file_holds_is_found(name: str, untyped: set[str]) -> None:
    protocol, found = understand(wild(name))
    schemas = _definitions(name)
    said = {
        (_constant(branch["properties"]["method"]), union.endswith("Request"), union.startswith("Client"))
        for union in ("ClientRequest", "ServerRequest", "ClientNotification", "ServerNotification")
        for branch in schemas.get(union, {}).get("oneOf", ())
    }
    assert {(one.name, one.kind == "request", one.side == "server") for one in protocol.methods} == said
    assert len(said) == (170 if name == "codex-0.145.0" else 159)
    assert {one.name for one in protocol.methods if one.kind == "request" and one.result is None} == untyped
    written = {one.result for one in protocol.methods if one.result is not None}
    assert written == {key for key in schemas if key.endswith("Response") and key != "JSONRPCResponse"}
    assert protocol.envelope == "json-rpc-unversioned"
    assert (found.profile.name, found.gaps) == ("codex", Gaps())


def test_every_command_and_event_of_dap_has_what_the_schema_says_of_it() -> None:
    protocol, found = understand(wild("dap"))
    requests, events = _read_messages("dap", "command"), _read_messages("dap", "event")
    responses = {
        key.removesuffix("Response")
        for key, schema in _definitions("dap").items()
        if key.endswith("Response")
        and any("body" in part.get("properties", {}) for part in schema.get("allOf", [])[1:])
    }
    answered = {key for key in requests if key.removesuffix("Request") in responses}
    assert {one.name for one in protocol.methods} == {
        *(_constant(one["command"]) for one in requests.values()),
        *(_constant(one["event"]) for one in events.values()),
    }
    assert sum(one.kind == "request" for one in protocol.methods) == len(requests)
    params = [one for one in protocol.methods if one.params is not None]
    held = [one for one in requests.values() if "arguments" in one] + [one for one in events.values() if "body" in one]
    assert len(params) == len(held)
    assert {one.name for one in protocol.methods if one.result is not None} == {
        _constant(requests[key]["command"]) for key in answered
    }
    assert (protocol.envelope, protocol.sides, found.profile.name) == ("dap", ("client", "adapter"), "dap")
    assert {one.name for one in protocol.methods if (one.side, one.kind) == ("client", "request")} <= {
        "runInTerminal",
        "startDebugging",
    }


def test_the_first_revision_of_mcp_with_batches_has_every_result() -> None:
    found = wild("mcp-2025-03-26")
    protocol, bundled = understand(found, names={"#/definitions/JSONRPCMessage/anyOf/5/items": "BatchedAnswer"})
    assert (bundled.profile.name, protocol.sides) == ("mcp", ("client", "server"))
    kinds = [(one.kind, one.result is not None) for one in protocol.methods]
    assert (kinds.count(("request", True)), kinds.count(("notification", False)), len(kinds)) == (15, 9, 24)
    assert all(one.params is not None for one in protocol.methods)
    sides = [one.side for one in protocol.methods]
    assert (sides.count("server"), sides.count("client"), sides.count("both")) == (14, 7, 3)


def test_a_union_of_one_that_is_the_message_itself_says_who_sends_it() -> None:
    cancelled = message("cancelled", params={"$ref": "#/$defs/CancelledParams"})
    schema = {
        "$defs": {
            "CancelledNotification": {**cancelled, "description": "Ends a request."},
            "CancelledParams": NAMED,
            "ClientNotification": cancelled,
            "ClientRequest": message("open", params=NAMED),
            "ClientResult": {"type": "object"},
            "OpenRequest": message("open", params=NAMED),
            "OpenResult": NAMED,
            "ServerNotification": {"anyOf": [{"$ref": "#/$defs/CancelledNotification"}]},
        }
    }
    rules = [
        {"kind": "request", "named": "{name}Request", "results": ["{name}Result"]},
        {"kind": "notification", "named": "{name}Notification"},
    ]
    sent = {"client": ["ClientNotification", "ClientRequest"], "server": ["ServerNotification"]}
    protocol, found = meaning(schema, own(sides=["client", "server"], messages=rules, sent=sent))
    assert rows(protocol) == [
        ("cancelled", "both", "notification", "CancelledParams", None),
        ("open", "server", "request", "OpenRequestParams", "OpenResult"),
    ]
    assert found.gaps == Gaps()
    schema["$defs"]["ClientNotification"] = message("cancelled", params={"type": "object"})
    protocol, found = meaning(schema, own(sides=["client", "server"], messages=rules, sent=sent))
    assert rows(protocol)[0][1] == "client" and found.gaps.doubled == ("schema.json#/$defs/ClientNotification",)


def test_every_revision_of_mcp_is_known_and_has_the_sides_of_its_unions() -> None:
    for name, whole in (
        ("wild/mcp-2025-03-26.json", (15, 9)),
        ("upstream/mcp-2025-11-25/schema.json", (20, 11)),
        ("revisions/mcp-2026-07-28.json", (10, 8)),
    ):
        evidence.need(name)
        given = load(evidence.path(name))
        value: Any = given.documents[0].value
        schemas = value.get("$defs") or value["definitions"]
        said: dict[tuple[str, str], set[str]] = {}
        for side, other in (("Client", "server"), ("Server", "client")):
            for kind in ("Request", "Notification"):
                union = schemas.get(f"{side}{kind}", {"anyOf": []})
                for branch in union.get("anyOf", [union]):
                    one = schemas[branch["$ref"].rpartition("/")[2]] if "$ref" in branch else branch
                    method = _constant(one["properties"]["method"])
                    assert method is not None
                    said.setdefault((method, kind.lower()), set()).add(other)
        protocol, found = understand(given)
        assert (found.profile.name, found.profile.how) == ("mcp", "evident")
        assert {(one.name, one.kind): one.side for one in protocol.methods} == {
            key: "both" if len(sides) == 2 else next(iter(sides)) for key, sides in said.items()
        }
        requests = [one for one in protocol.methods if one.kind == "request"]
        assert (len(requests), len(protocol.methods) - len(requests)) == whole
        assert all(one.params is not None for one in protocol.methods)
        assert all(one.result is not None for one in requests)


def test_the_results_of_mcp_are_those_of_its_responses() -> None:
    evidence.need("revisions/mcp-2026-07-28.json")
    given = load(evidence.path("revisions/mcp-2026-07-28.json"))
    value: Any = given.documents[0].value
    protocol, found = understand(given)
    for one in protocol.methods:
        if one.kind == "request":
            stem = next(
                name.removesuffix("Request")
                for name, schema in value["$defs"].items()
                if name.endswith("Request") and _constant(schema.get("properties", {}).get("method", {})) == one.name
            )
            response = value["$defs"].get(
                f"{stem}ResultResponse", {"properties": {"result": {"$ref": f"/{stem}Result"}}}
            )
            result = response["properties"]["result"]
            said = {part["$ref"].rpartition("/")[2] for part in result.get("anyOf", [result])}
            definition = found.definitions[one.result or ""]
            assert {part["$ref"].rpartition("/")[2] for part in definition.get("anyOf", ())} or {one.result} == said
    assert [text.partition("(")[2] for text in found.gaps.unbound] == [
        "sampling/createMessage)",
        "elicitation/create)",
        "roots/list)",
    ]
    assert any(
        "3 definitions with a constant for a method that no rule finds" in line
        for line in describe_methods("p", protocol, found)
    )


def test_what_was_found_is_told() -> None:
    lines = list(describe_methods("dap", *understand(wild("dap"))))
    assert (
        lines[0].startswith("dap: 6")
        and "by the profile 'dap' (Debug Adapter Protocol, which was detected)" in lines[0]
    )
    assert "frames of the Debug Adapter Protocol" in lines[0]
    assert lines[1].startswith("dap: no type for the result of ") and "launch" in lines[1]


# --- guesses ---------------------------------------------------------------------------------------------------------


def message(method: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"method": {"const": method}, **properties}}


NAMED: Final = {"type": "object", "properties": {"name": {"type": "string"}}}


def test_a_guess_says_what_it_found_and_what_not() -> None:
    schema = {
        "$defs": {
            "OpenRequest": message("open", params=NAMED),
            "OpenResult": NAMED,
            "CloseRequest": message("close"),
            "ClosedNotification": message("closed"),
        }
    }
    protocol, found = meaning(schema)
    assert rows(protocol) == [
        ("open", "both", "request", "OpenRequestParams", "OpenResult"),
        ("close", "both", "request", None, None),
        ("closed", "both", "notification", None, None),
    ]
    assert protocol.sides == ("client", "server")
    first, *others = describe_methods("p", protocol, found)
    assert first == (
        "p: methods were guessed: 3 found by a property 'method' with a constant (2 requests, 1 notification), "
        "params of 1, results of 1 by name."
    )
    assert others == [
        "p: no type for the result of close.",
        "p: the schema does not say who handles open, close, closed; either side may send them.",
        "p: to define where the methods are, give a profile with --methods.",
    ]


def test_a_schema_without_methods_is_none_of_a_protocol_and_nothing_is_told() -> None:
    protocol, found = meaning({"$defs": {"Settings": NAMED, "ColourRequest": NAMED}})
    assert (protocol.methods, protocol.sides, list(describe_methods("p", protocol, found))) == ((), (), [])


def test_a_guess_reads_wrappers_of_results_and_the_sides_that_unions_are_named_after() -> None:
    def wrapped(result: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"jsonrpc": {"const": "2.0"}, "id": {"type": "integer"}, "result": result},
        }

    failure = {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}, "error": NAMED}}
    schema = {
        "$defs": {
            "EditorRequest": {"anyOf": [{"$ref": "#/$defs/OpenRequest"}]},
            "PluginNotification": {"anyOf": [{"$ref": "#/$defs/ReadyNotification"}]},
            "OpenRequest": message("open", params={"type": "array", "items": {"type": "string"}}),
            "OpenResponse": {"anyOf": [{"$ref": "#/$defs/Failed"}, {"$ref": "#/$defs/OpenSuccess"}]},
            "OpenSuccess": wrapped({"type": "integer"}),
            "Failed": failure,
            "ReadyNotification": message("ready"),
        }
    }
    protocol, _ = meaning(schema)
    assert protocol.sides == ("editor", "plugin")
    assert rows(protocol) == [
        ("open", "plugin", "request", "OpenRequestParams", "OpenSuccessResult"),
        ("ready", "editor", "notification", None, None),
    ]


def test_inline_messages_of_a_union_are_found_and_those_with_an_id_are_requests() -> None:
    calls = [message("open", id={"type": "integer"}, params={"$ref": "#/$defs/OpenParams"}), message("gone")]
    schema = {"$defs": {"Call": {"oneOf": calls}, "OpenParams": NAMED, "OpenResponse": NAMED}}
    protocol, _ = meaning(schema)
    assert rows(protocol) == [
        ("open", "both", "request", "OpenParams", "OpenResponse"),
        ("gone", "both", "notification", None, None),
    ]


def test_a_second_message_of_a_method_is_left_out_and_told() -> None:
    schema = {"$defs": {"OpenRequest": message("open", params=NAMED), "ReopenRequest": message("open")}}
    protocol, found = meaning(schema)
    assert [one.params for one in protocol.methods] == ["OpenRequestParams"]
    assert any("schema.json#/$defs/ReopenRequest" in line for line in describe_methods("p", protocol, found))


# --- profiles of one's own -------------------------------------------------------------------------------------------

SIDES: Final = ["plane", "tower"]


def test_a_profile_says_where_all_stands() -> None:
    schema = {
        "$defs": {
            "LandCall": {"allOf": [{"$ref": "#/$defs/Frame"}, message("land", params=NAMED)]},
            "LandReply": {"type": "object", "properties": {"data": {"type": ["string", "null"]}}, "required": ["data"]},
            "TurnSignal": message("turn", params={"type": "null"}),
            "Frame": {"type": "object", "properties": {"params": True, "method": {"type": "string"}}},
        }
    }
    methods = own(
        sides=SIDES,
        messages=[
            {
                "kind": "request",
                "named": "{name}Call",
                "side": "tower",
                "results": ["{name}Reply.data"],
            },
            {"kind": "notification", "named": "{name}Signal"},
        ],
        handled={"plane": ["turn"]},
    )
    protocol, _ = meaning(schema, methods)
    assert protocol.sides == ("plane", "tower")
    assert rows(protocol) == [
        ("land", "tower", "request", "LandCallParams", "LandReplyData"),
        ("turn", "plane", "notification", "TurnSignalParams", None),
    ]
    assert [one.omitted for one in protocol.methods] == ["object", "null"]


def test_definitions_can_be_the_params_and_methods_be_listed_one_by_one() -> None:
    schema = {"$defs": {"GetThingParams": NAMED, "GetThingResult": NAMED, "Tick": NAMED}}
    methods = own(
        sides=SIDES,
        messages=[
            {
                "kind": "request",
                "named": "{name}Params",
                "spelled": "snake_case",
                "side": "tower",
                "results": ["{name}Result"],
            }
        ],
        methods={"clock/tick": {"kind": "notification", "side": "plane", "params": "Tick"}},
    )
    assert rows(meaning(schema, methods)[0]) == [
        ("get_thing", "tower", "request", "GetThingParams", "GetThingResult"),
        ("clock/tick", "plane", "notification", "Tick", None),
    ]


def test_of_definitions_in_groups_the_one_beside_the_message_counts() -> None:
    schema = {
        "$defs": {
            "v1": {"OpenParams": NAMED, "OpenResponse": {"type": "object", "properties": {"old": NAMED}}},
            "v2": {"OpenRequest": message("open"), "OpenResponse": {"type": "object", "properties": {"new": NAMED}}},
        }
    }
    methods = own(sides=SIDES, messages=[{"kind": "request", "named": "{name}Request", "results": ["{name}Response"]}])
    protocol, found = meaning(schema, methods)
    (one,) = protocol.methods
    assert found.origins[one.result or ""] == "schema.json#/$defs/v2/OpenResponse"


def test_each_built_in_profile_is_well_formed_and_known_by_its_name() -> None:
    assert list_names() == ("a2a", "acp", "codex", "dap", "lsp", "mcp", "openrpc")
    assert all(read_built_in(name).sides for name in list_names())
    with pytest.raises(Faults) as caught:
        find_profile("lps")
    (fault,) = caught.value.faults
    assert fault.kind == UNKNOWN_NAME and "'lsp'" in str(fault)


WRONG: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "no sides": ({"marked": True}, "acme.toml#/sides: "),
    "one side": ({"sides": ["a"], "marked": True}, "acme.toml#/sides: "),
    "a reserved side": ({"sides": ["a", "both"], "marked": True}, "acme.toml#/sides/1: "),
    "nothing": ({"sides": SIDES}, "acme.toml#: nothing says where the methods stand"),
    "two at once": ({"sides": SIDES, "marked": True, "document": "openrpc"}, "exclude each other"),
    "an unknown key": ({"sides": SIDES, "marked": True, "method": {}}, "acme.toml#/method: there is no key"),
    "an unknown envelope": ({"sides": SIDES, "marked": True, "envelope": "grpc"}, "acme.toml#/envelope: "),
    "a rule without a place": (
        {"sides": SIDES, "messages": [{"kind": "request"}]},
        "acme.toml#/messages/0: this must be a rule with one",
    ),
    "an unknown side of a rule": (
        {"sides": SIDES, "messages": [{"kind": "request", "named": "{name}X", "side": "towr"}]},
        "acme.toml#/messages/0/side: the side 'towr' is not among 'sides'. Did you mean 'tower'?",
    ),
    "an unknown side of unions": ({"sides": SIDES, "marked": True, "sent": {"ship": ["A"]}}, "acme.toml#/sent/ship: "),
    "a name without a gap": (
        {"sides": SIDES, "messages": [{"kind": "request", "named": "Open"}]},
        "acme.toml#/messages/0/named: ",
    ),
    "an unknown gap": (
        {"sides": SIDES, "messages": [{"kind": "request", "named": "{name}X", "results": ["{stem}Y"]}]},
        "acme.toml#/messages/0/results/0: '{stem}' stands for nothing",
    ),
    "params that the envelope holds elsewhere": (
        {"sides": SIDES, "messages": [{"kind": "notification", "named": "{name}Signal", "params": "data"}]},
        "acme.toml#/messages/0/params: a notification of the envelope 'json-rpc' holds its params in 'params', not in 'data'. Leave ",
    ),
    "a method that the envelope holds elsewhere": (
        {"sides": SIDES, "messages": [{"kind": "request", "named": "{name}Call", "method": "command"}]},
        "acme.toml#/messages/0/method: a request of the envelope 'json-rpc' holds its method in 'method', not in 'command'",
    ),
    "a frame of DAP with the members of JSON-RPC": (
        {"sides": SIDES, "envelope": "dap", "messages": [{"kind": "request", "named": "{name}X", "params": "params"}]},
        "acme.toml#/messages/0/params: a request of the envelope 'dap' holds its params in 'arguments', not in 'params'",
    ),
    "a result of a notification": (
        {"sides": SIDES, "messages": [{"kind": "notification", "named": "{name}X", "results": ["{name}Y"]}]},
        "acme.toml#/messages/0/results: nothing answers a notification",
    ),
    "handled twice": (
        {"sides": SIDES, "marked": True, "handled": {"plane": ["a"], "tower": ["a"]}},
        "acme.toml#/handled/tower/0: 'a' is handled twice",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_profile_is_told_with_its_place(what: str) -> None:
    table, said = WRONG[what]
    with pytest.raises(Faults) as caught:
        own(**table)
    assert all(fault.kind == BAD_PROFILE for fault in caught.value.faults)
    assert said in "\n".join(map(str, caught.value.faults))
    assert all(str(fault).endswith((".", "?")) for fault in caught.value.faults)


def test_a_profile_that_finds_nothing_and_entries_that_match_nothing_are_refused() -> None:
    schema = {"$defs": {"OpenRequest": message("open")}}
    assert kinds_of(schema, own(sides=SIDES, messages=[{"kind": "request", "named": "{name}Call"}])) == [UNUSED_RULE]
    told_only = own(sides=SIDES, messages=[{"kind": "request", "named": "{name}Call"}], unmatched="told")
    assert kinds_of(schema, told_only) == [NO_METHODS]
    assert kinds_of(schema, own(sides=SIDES, marked=True)) == [NO_METHODS]
    assert kinds_of({"$defs": {"A": NAMED}}, read_built_in("mcp")) == [NO_METHODS]
    methods = own(
        sides=SIDES,
        messages=[{"kind": "request", "named": "{name}Request"}],
        handled={"tower": ["opne"]},
        results={"open": "OpenReply"},
        sent={"plane": ["PlaneRequest"]},
    )
    assert faults_of(schema, methods) == [
        "acme.toml#/handled/tower: the schema has no method 'opne'. Correct the name, or remove the entry.",
        "acme.toml#/results/open: the schema has no definition or property 'OpenReply'. Correct the name, or remove the entry.",
        "acme.toml#/sent/plane: the schema has no union 'PlaneRequest'. Correct the name, or remove the entry.",
    ]
    assert set(kinds_of(schema, methods)) == {UNUSED_RULE}


def test_a_result_can_be_one_of_several_definitions() -> None:
    rules = [{"kind": "request", "named": "{name}Request"}]
    schema = {"$defs": {"OpenRequest": message("open"), "Done": NAMED, "Ticket": {"type": "object"}}}
    both = own(
        sides=SIDES, messages=rules, alternatives={"OpenAnswer": ["Done", "Ticket"]}, results={"open": "OpenAnswer"}
    )
    protocol, found = meaning(schema, both)
    assert [one.result for one in protocol.methods] == ["OpenAnswer"]
    assert found.definitions["OpenAnswer"] == {"anyOf": [{"$ref": "#/$defs/Done"}, {"$ref": "#/$defs/Ticket"}]}
    for members, name in ((["Done", "Tocket"], "OpenAnswer"), (["Done", "Ticket"], "OpenRequest")):
        wrong = own(sides=SIDES, messages=rules, alternatives={name: members})
        (told_of,) = faults_of(schema, wrong)
        assert told_of.startswith(f"acme.toml#/alternatives/{name}: the schema lacks one of 'Done' and '{members[1]}'")


def test_a_tool_of_mcp_answers_with_a_result_or_with_a_task() -> None:
    name = "upstream/mcp-2025-11-25/schema.json"
    evidence.need(name)
    protocol, found = understand(load(evidence.path(name)))
    results = {one.name: one.result for one in protocol.methods}
    assert results["tools/call"] == "CallToolAnswer"
    for method, first in (("tools/call", "CallToolResult"), ("elicitation/create", "ElicitResult")):
        branches = [branch["$ref"] for branch in found.definitions[results[method] or ""]["anyOf"]]
        assert branches == [f"#/$defs/{first}", "#/$defs/CreateTaskResult"]


AIR: Final[dict[str, Any]] = {
    "$defs": {
        "LandRequest": message("land", params=NAMED),
        "LandResult": NAMED,
        "TurnRequest": message("turn"),
        "Done": {"type": "object", "maxProperties": 0},
        "WindSignal": message("wind", params=NAMED),
        "Signal": {"type": "object"},
    }
}

_LAND: Final[dict[str, Any]] = {"kind": "request", "named": "{name}Request", "side": "tower"}
_WIND: Final[dict[str, Any]] = {"kind": "notification", "named": "{name}Signal", "side": "plane"}

UNMATCHED: Final[dict[str, tuple[list[dict[str, Any]], str]]] = {
    "a name": (
        [_LAND, {**_WIND, "named": "{name}Sgnal"}],
        "1: the schema has no definition that is called like '{name}Sgnal'",
    ),
    "a form": (
        [_LAND, _WIND, {**_WIND, "named": "L{name}Result"}],
        "2: the definitions called like 'L{name}Result' have no property 'method' that is a constant, so none is a message",
    ),
    "a union": ([_LAND, _WIND, {"kind": "request", "unions": ["Tower"]}], "2: the schema has no union 'Tower'"),
    "a result": (
        [{**_LAND, "results": ["{name}Rslt", "Done"]}, _WIND],
        "0/results/0: for no message of this rule the schema has '{name}Rslt'",
    ),
    "a late rule": (
        [_LAND, _WIND, {**_LAND, "named": "{name}ndRequest"}],
        "2: rules before this one find each message that it would find",
    ),
}


@pytest.mark.parametrize("what", UNMATCHED)
def test_a_rule_that_matches_nothing_is_refused_or_told(what: str) -> None:
    messages, said = UNMATCHED[what]
    assert faults_of(AIR, own(sides=SIDES, messages=messages)) == [
        f"acme.toml#/messages/{said}. Correct the name, or remove the entry."
    ]
    protocol, found = meaning(AIR, own(sides=SIDES, messages=messages, unmatched="told"))
    assert {"land", "turn"} <= {one.name for one in protocol.methods}
    assert f"p: acme.toml#/messages/{said}." in list(describe_methods("p", protocol, found))


def test_alternatives_of_a_result_need_one_message_each() -> None:
    messages = [{**_LAND, "results": ["{name}Result", "Done"]}, _WIND]
    protocol, found = meaning(AIR, own(sides=SIDES, messages=messages))
    assert [one.result for one in protocol.methods] == ["LandResult", "Done", None]
    assert found.gaps == Gaps()


def test_what_no_rule_reads_is_told() -> None:
    schema = {
        "$defs": {
            **AIR["$defs"],
            "LandRequest": {**message("land", params=NAMED, gate=True), "required": ["method", "id", "gate"]},
        }
    }
    protocol, found = meaning(schema, own(sides=SIDES, messages=[{key: _LAND[key] for key in ("kind", "named")}]))
    assert list(describe_methods("p", protocol, found))[2:] == [
        "p: the schema does not say who handles land, turn; either side may send them.",
        "p: 1 definition with a constant for a method that no rule finds, a type alone: schema.json#/$defs/WindSignal (wind).",
        "p: required of a message beside its envelope, neither typed nor checked: 'gate' of schema.json#/$defs/LandRequest.",
    ]


@pytest.mark.parametrize(
    "shape",
    [
        {"properties": {"method": {"const": 3}}},
        {"properties": {"method": True}},
        {"properties": {"method": {"const": "open"}, "params": False}},
        {"allOf": [True, {"properties": {"method": {"const": "open"}}}]},
        {"anyOf": [{"$ref": "#/$defs/OpenRequest"}, {"properties": {"method": {"const": "open"}}}]},
        {"allOf": [{"$ref": "#/$defs/Loop"}], "properties": {"method": {"enum": ["open"]}}},
        {"properties": {"method": {"const": "open"}, "params": {"anyOf": [{"type": "integer"}]}}},
        {"properties": {"method": {"const": ""}}},
        True,
        False,
    ],
)
def test_no_form_of_a_message_ends_in_a_traceback(shape: Any) -> None:
    loop = {"type": "object", "properties": {"next": {"$ref": "#/$defs/OpenRequest"}}}
    schema = {"$defs": {"OpenRequest": shape, "Loop": loop, "OpenResult": {"$ref": "#/$defs/OpenRequest"}}}
    with contextlib.suppress(Faults):
        protocol, found = understand(documents(schema))
        assert list(describe_methods("p", protocol, found)) or not protocol.methods
