"""What the strict validator says of what is wrong: exact inside unions, with pointers, codes and suggestions, and never an exception."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

import tiers
from acpgen import ir
from acpgen.input.walk import is_object
from acpgen.pointers import resolve, write_plain_pointer
from jsonrpc_bindings.engine import Engine
from validators.drawn import damaged, least
from validators.judges import NAMES, UPSTREAM, subject

ROOT = Path(__file__).parents[2]
ALL = [*NAMES, *UPSTREAM]


def request(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def update(**fields: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": fields}}


@pytest.mark.parametrize("name", tiers.sample(ALL, 3))
def test_a_known_tag_with_a_bad_body_is_explained_by_its_variant_alone(name: str) -> None:
    judged = subject(name)
    explained = 0
    for union in judged.protocol.definitions.values():
        if not isinstance(union, ir.TaggedUnion) or union.default_admits_known:
            continue
        for variant in union.variants:
            record = judged.protocol.definitions[variant.type]
            if not isinstance(record, ir.Record):
                continue
            sound = least(judged.protocol, variant.type)
            for field in record.fields:
                if not field.required or field.name == union.tag or field.type == ir.Anything():
                    continue
                for broken in (
                    {key: item for key, item in sound.items() if key != field.name},
                    {**sound, field.name: object_or_text(sound[field.name])},
                ):
                    alone = judged.strict.validate_as(variant.type, broken)
                    inside = judged.strict.validate_as(union.name, broken)
                    if not alone:
                        continue
                    assert {(p.pointer, p.sentence) for p in inside} == {(p.pointer, p.sentence) for p in alone}, (
                        union.name,
                        broken,
                    )
                    explained += 1
    assert explained > 0 or not any(isinstance(d, ir.TaggedUnion) for d in judged.protocol.definitions.values())


def object_or_text(value: Any) -> Any:
    return 7 if isinstance(value, str) else "seven"


@pytest.mark.parametrize("name", tiers.sample(ALL, 3))
def test_an_unknown_tag_is_one_problem_that_lists_the_known_tags(name: str) -> None:
    judged = subject(name)
    for union in judged.protocol.definitions.values():
        if not isinstance(union, ir.TaggedUnion) or union.openness == "open" or union.default is not None:
            continue
        sound = least(judged.protocol, union.variants[0].type)
        problems = judged.strict.validate_as(union.name, {**sound, union.tag: "no such tag"})
        assert [(problem.pointer, problem.rule) for problem in problems] == [(f"/{union.tag}", "tag")], (
            union.name,
            problems,
        )
        assert all(repr(variant.tag) in problems[0].sentence for variant in union.variants[:20])


@pytest.mark.parametrize("name", NAMES)
def test_all_problems_are_told_at_once_and_their_pointers_lead_somewhere(name: str) -> None:
    judged, chance = subject(name), random.Random(name)
    told = 0
    for definition in judged.protocol.definitions:
        if definition not in judged.bundle.definitions:
            continue
        examples = judged.bundle.definitions[definition].get("examples") or [least(judged.protocol, definition)]
        for _ in range(8):
            instance = damaged(damaged(chance.choice(examples), chance), chance)
            problems = judged.strict.validate_as(definition, instance)
            assert len({(p.pointer, p.schema, p.sentence) for p in problems}) == len(problems)
            for problem in problems:
                told += 1
                resolve(instance, problem.pointer)
                resolve(judged.bundle.schema, problem.schema)
                assert problem.code == -32602
                assert problem.sentence[0] != " "
                assert len(problem.sentence) < 2000
    assert told > 50


@pytest.mark.parametrize("name", NAMES)
def test_every_field_that_is_wrong_is_told_where_no_union_stands_in_between(name: str) -> None:
    """Two required fields broken at once give two problems, those that `jsonschema` finds too."""
    judged = subject(name)
    for definition in judged.protocol.definitions.values():
        if not isinstance(definition, ir.Record) or definition.name not in judged.bundle.definitions:
            continue
        required = [field.name for field in definition.fields if field.required and isinstance(field.type, ir.String)]
        if len(required) < 2:
            continue
        broken: dict[str, Any] = {**least(judged.protocol, definition.name), required[0]: 7, required[1]: []}
        problems = judged.strict.validate_as(definition.name, broken)
        validator: Any = Draft202012Validator(
            {"$ref": f"#/$defs/{definition.name}", "$defs": judged.bundle.schema["$defs"]}
        )
        theirs = {"".join(f"/{part}" for part in error.absolute_path) for error in validator.iter_errors(broken)}
        assert {problem.pointer for problem in problems} == theirs


@pytest.mark.parametrize(
    ("message", "sender", "pointer", "rule", "code", "words"),
    [
        (
            request("fs/read_text_file", {"sessionId": "s", "uri": "/a"}),
            "agent",
            "/params",
            "required",
            -32602,
            "did you mean 'path'",
        ),
        (
            request("fs/write_text_file", {"sessionId": "s", "path": "a", "content": ""}),
            "agent",
            "/params/path",
            "pattern",
            -32602,
            "absolute",
        ),
        (request("session/promt", {}), "client", "/method", "method", -32601, "did you mean 'session/prompt'"),
        (request("session/request_permission", {}), "client", "/method", "method", -32601, "handled by the client"),
        (request("session/cancel", {"sessionId": "s"}), "client", "/method", "method", -32601, "is a notification"),
        (
            request("session/prompt", {"session_id": "s", "prompt": []}),
            "client",
            "/params",
            "required",
            -32602,
            "did you mean 'sessionId'",
        ),
        (
            request("session/new", {"cwd": "/a", "mcpservers": []}),
            "client",
            "/params",
            "required",
            -32602,
            "did you mean 'mcpServers'",
        ),
        (
            update(sessionUpdate="agent_mesage_chunk", content={}),
            "agent",
            "/params/update/sessionUpdate",
            "tag",
            -32602,
            "did you mean 'agent_message_chunk'",
        ),
        (
            update(session_update="plan", entries=[]),
            "agent",
            "/params/update",
            "required",
            -32602,
            "did you mean 'sessionUpdate'",
        ),
        (
            update(sessionUpdate="plan", entries=[{"content": "a", "priority": "hihg", "status": "pending"}]),
            "agent",
            "/params/update/entries/0/priority",
            "enum",
            -32602,
            "did you mean 'high'",
        ),
        ({"jsonrpc": "1.0", "id": 1, "method": "_x"}, "client", "/jsonrpc", "envelope", -32600, '"2.0"'),
        (
            {"jsonrpc": "2.0", "id": 1.5, "method": "_x"},
            "client",
            "/id",
            "envelope",
            -32600,
            "an integer, a string or null",
        ),
        ({"jsonrpc": "2.0", "id": 1, "methd": "_x"}, "client", "", "envelope", -32600, "did you mean 'method'"),
        (
            {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": ""}},
            "client",
            "",
            "envelope",
            -32600,
            "not both",
        ),
        ({"jsonrpc": "2.0", "result": {}}, "client", "", "envelope", -32600, "'id'"),
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": "1", "message": ""}},
            "client",
            "/error/code",
            "type",
            -32600,
            "an integer",
        ),
        ([], "client", "", "envelope", -32600, "an object"),
        (7, "client", "", "envelope", -32600, "not 7"),
        (b"{", "client", "", "json", -32700, "not JSON"),
        (b"\xff\xfe", "client", "", "json", -32700, "not JSON"),
        (b'{"jsonrpc":"2.0","method":"_x","params":[1e999]}', "client", "", "json", -32700, "not JSON"),
        (b'{"jsonrpc":"2.0","method":"_x","params":NaN}', "client", "", "json", -32700, "not JSON"),
        (b'{"jsonrpc":"2.0","method":"_x","params":"\\udc00"}', "client", "", "json", -32700, "not JSON"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "client", "", "json", -32700, "not JSON"),
    ],
    ids=lambda value: str(value)[:40] if is_object(value) or isinstance(value, bytes) else None,
)
def test_a_problem_says_where_what_and_which_code(
    message: Any, sender: str, pointer: str, rule: str, code: int, words: str
) -> None:
    before = copy.deepcopy(message)
    problems = subject("acp/v1").strict.validate(message, sender=sender)
    assert message == before
    first = problems[0]
    assert (first.pointer, first.rule, first.code) == (pointer, rule, code), problems
    assert words in first.sentence, first
    assert str(first).endswith(first.sentence)


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"params": {"a": float("nan")}}, "/params/a"),
        ({"params": ["\ud800"]}, "/params/0"),
        ({"a/b": {"c~d": float("inf")}}, "/a~1b/c~0d"),
        ({"\udfff": 1}, ""),
        ({"a": {1, 2}}, "/a"),
        ({"a": b""}, "/a"),
    ],
    ids=str,
)
def test_what_no_json_holds_gets_a_verdict_with_its_place(value: Any, pointer: str) -> None:
    for problems in (
        subject("acp/v2").strict.validate({"jsonrpc": "2.0", "method": "_x", **value}, sender="client"),
        subject("acp/v2").strict.validate_as("Meta", value),
    ):
        assert [(p.pointer, p.code, p.rule) for p in problems] == [(pointer, -32700, "json")]


def test_nesting_of_any_depth_gets_a_verdict() -> None:
    nested: Any = {}
    for _ in range(100_000):
        nested = {"a": nested}
    judged = subject("acp/v1").strict
    assert [p.rule for p in judged.validate({"jsonrpc": "2.0", "method": "_x", "params": nested}, sender="client")] == [
        "json"
    ]
    shallow: Any = {}
    for _ in range(100):
        shallow = {"a": shallow}
    assert not judged.validate({"jsonrpc": "2.0", "method": "_x", "params": shallow}, sender="client")


def test_values_are_not_echoed_beyond_eighty_characters() -> None:
    long = "x" * 5000
    for message in (
        request(long, {}),
        request("session/prompt", long),
        {"jsonrpc": long, "id": [long], "method": {"a": long}},
        update(sessionUpdate=long),
        update(sessionUpdate="plan", entries=[{"content": "a", "priority": long, "status": long, long: 1}]),
    ):
        problems = subject("acp/v1").strict.validate(message, sender="client") + subject("acp/v1").strict.validate(
            message, sender="agent"
        )
        assert problems
        assert all("x" * 81 not in problem.sentence for problem in problems)


def test_a_batch_is_judged_message_by_message_where_the_protocol_has_batches() -> None:
    one = request("session/list", {})
    two: dict[str, Any] = {"jsonrpc": "2.0", "method": "session/cancel", "params": {}}
    v1, v2 = subject("acp/v1").strict, subject("acp/v2").strict
    assert not v2.validate([one], sender="client")
    assert [(p.pointer, p.rule) for p in v2.validate([one, two], sender="client")] == [("/1/params", "required")]
    assert [p.pointer for p in v2.validate([], sender="client")] == [""]
    assert v1.validate([one], sender="client")[0].rule == "envelope"
    mixed = v2.validate([one, {"jsonrpc": "2.0", "id": 1, "result": {}}], sender="client")
    assert [(p.pointer, p.rule) for p in mixed] == [("/1", "envelope")]


def test_a_result_is_judged_by_the_method_of_its_request() -> None:
    judged = subject("acp/v1").strict
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "bored"}}
    assert not judged.validate(answer, sender="agent")
    (problem,) = judged.validate(answer, sender="agent", method="session/prompt")
    assert (problem.pointer, problem.code) == ("/result/stopReason", -32602)
    assert judged.validate(answer, sender="client", method="session/prompt")[0].rule == "envelope"
    assert not judged.validate(answer, sender="client", method="_mine")
    null = {"jsonrpc": "2.0", "id": 1, "result": None}
    assert judged.validate(null, sender="client", method="fs/write_text_file"), (
        "strictly the schema, which wants an object"
    )


def test_what_is_no_definition_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="Nothing"):
        subject("acp/v1").strict.validate_as("Nothing", {})


def run(code: str) -> str:
    paths = [str(ROOT / "generated/python/acp-bindings")]
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


generated = pytest.mark.skipif(
    not (ROOT / "generated/python/acp-bindings/acp_bindings/v1/_schema.json").exists(),
    reason="the bindings are not generated",
)


@generated
def test_the_bindings_load_engine_and_schema_only_when_they_judge() -> None:
    out = run(
        "from acp_bindings import v1\n"
        "read = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and str(args[0]).endswith('_schema.json') and read.append(1))\n"
        'line = b\'{"jsonrpc":"2.0","id":1,"method":"session/list"}\'\n'
        "v1.decode(line, sender='client')\n"
        "print('jsonschema_rs' in sys.modules, bool(read))\n"
        "print(v1.validate(line, sender='client'), 'jsonschema_rs' in sys.modules)\n"
        "print([p.pointer for p in v1.validate_as(v1.NewSessionRequest, {'cwd': 'a', 'mcpServers': []})])\n"
        "print([p.pointer for p in v1.validate_as(v1.ContentBlock, {'type': 'text'})])\n"
    )
    assert out.splitlines() == ["False False", "() True", "['/cwd']", "['']"]


@generated
@pytest.mark.parametrize("version", [1, 2])
def test_the_generated_package_judges_as_the_tool_does(version: int) -> None:
    from acp_bindings import v1, v2

    from validators.drawn import corpus

    package: Any = v1 if version == 1 else v2
    tool = subject(f"acp/v{version}").strict
    for row in corpus(version):
        if row["kind"] not in ("request", "notification", "result", "error"):
            continue
        sender, line = (row["direction"] or "client->agent").split("->")[0], json.dumps(row["message"])
        theirs = package.validate(line, sender=sender, method=row["method"])
        ours = tool.validate(line, sender=sender, method=row["method"])
        assert [(p.pointer, p.schema, p.sentence, p.code, p.rule) for p in theirs] == [
            (p.pointer, p.schema, p.sentence, p.code, p.rule) for p in ours
        ]


# --- large values and many problems ----------------------------------------------------------------------------------


BAD_CONTENT: Any = {"type": "content", "content": {"type": "text"}}


def with_bad_items(count: int) -> dict[str, Any]:
    return update(sessionUpdate="tool_call", toolCallId="t", title="x", content=[BAD_CONTENT] * count)


def test_as_many_problems_are_told_as_are_wanted_and_that_there_are_more() -> None:
    strict = subject("acp/v1").strict
    for count, limit in ((99, 100), (100, 100), (4000, 100), (101, 100), (7, 7), (8, 7), (3, 0)):
        problems = strict.validate(with_bad_items(count), sender="agent", limit=limit)
        pointers = [f"/params/update/content/{index}/content/text" for index in range(min(count, limit))]
        assert [problem.pointer.removesuffix("/text") + "/text" for problem in problems[:limit]] == pointers
        rest = [(problem.rule, problem.code, problem.sentence) for problem in problems[limit:]]
        assert rest == ([("more", -32602, f"there are more problems than these {limit}")] if count > limit else [])
    assert len(strict.validate(with_bad_items(4000), sender="agent")) == 101
    assert len(strict.validate(with_bad_items(1000), sender="agent", limit=None)) == 1000
    assert len(strict.judge(with_bad_items(4000), sender="agent")) == 101
    assert len(strict.validate_as("Plan", {"entries": [{}] * 200}, limit=50)) == 51
    batch = subject("acp/v2").strict
    calls = [{"jsonrpc": "2.0", "id": 1.5, "method": "session/new", "params": {"cwd": "/"}}] * 500
    assert len(batch.validate(calls, sender="client")) == 101


def engine_of(schema: Mapping[str, Any]) -> Engine:
    """What judges by a schema whose patterns jsonschema-rs takes as they are."""
    return Engine(lambda: schema, dict)


def test_an_engine_keeps_few_validators_and_judges_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsonrpc_bindings.engine.CAPACITY", 4)
    fields = {f"f{index}": {"$ref": f"#/$defs/D{index % 10}", "description": "d"} for index in range(20)}
    limits = {f"f{index}": {"$ref": f"#/$defs/D{index % 10}", "maximum": 90} for index in range(20, 40)}
    bounds = {f"D{index}": {"type": "integer", "minimum": index} for index in range(10)}
    engine = engine_of({"$defs": {"Doc": {"type": "object", "properties": {**fields, **limits}}, **bounds}})
    for _ in range(2):
        for index in range(40):
            place = ("$defs", "Doc", "properties", f"f{index}")
            least, most = index % 10, 90 if index >= 20 else 1000
            assert [engine.is_valid(place, value) for value in (least - 1, least, most, most + 1)] == [
                *(False, True, True),
                index < 20,
            ]
            (problem,) = engine.find_problems(place, least - 1)
            assert problem.schema == f"#/$defs/D{index % 10}/minimum"
            assert len(engine._validators) <= 4


LARGE: Final[list[tuple[str, Any]]] = [
    ("SessionNotification", with_bad_items(4000)["params"]),
    (
        "SessionNotification",
        update(sessionUpdate="agent_message_chunk", content=[{"type": "text"}] * 4000)["params"],
    ),
    (
        "NewSessionRequest",
        {"cwd": "/w", "mcpServers": [{"name": "n", "command": "c", "args": [], "env": []}] * 4000},
    ),
    ("NewSessionRequest", {"cwd": "/w", "mcpServers": [[0] * 10] * 4000}),
    ("InitializeResponse", {"protocolVersion": 1, "authMethods": [{"type": "terminal", "env": {"A": 1}}] * 4000}),
    (
        "AuthMethod",
        {"type": "terminal", "id": "i", "name": "n", "env": {str(index): index for index in range(4000)}},
    ),
    ("PromptRequest", {"sessionId": "s", "prompt": "x" * 200_000}),
]


@pytest.mark.parametrize(("definition", "value"), LARGE)
def test_a_large_value_is_judged_only_as_far_as_its_problems_are_asked_for(definition: str, value: Any) -> None:
    strict = subject("acp/v1").strict
    engine, judged = engine_of(strict.schema), list[int]()
    is_valid = engine.is_valid

    def counted(place: Any, part: Any) -> bool:
        judged.append(len(json.dumps(part)))
        return is_valid(place, part)

    engine.is_valid = counted  # type: ignore[method-assign, assignment]
    told: list[Any] = list(islice(engine.find_problems(("$defs", definition), value), 100))
    assert told
    most = 32 * len(json.dumps(value))  # each branch of the unions that hold it, and the pieces that are told
    assert sum(judged) < most
    assert len(judged) < 18 * len(told) + 40


def test_a_name_that_was_meant_is_looked_for_among_the_first_names_of_an_object() -> None:
    params: dict[str, Any] = {"sesionId": "s", **{f"sdionseI{number}": 0 for number in range(100_000)}}
    found = engine_of(subject("acp/v1").strict.schema).find_problems(("$defs", "PromptRequest"), params)
    told = sorted(said.sentence for said in found)
    assert told == [
        "the field 'prompt' is required",
        "the field 'sessionId' is required; 'sesionId' is not known here, did you mean 'sessionId'?",
    ]


def test_large_values_get_a_verdict_whatever_the_keyword() -> None:
    large = {str(index): [index] for index in range(200)}
    many = [{"a": index} for index in range(200)]
    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({"items": {"type": "object"}, "uniqueItems": True}, [*many, many[0]], "uniqueItems"),
        ({"items": {"type": "object"}, "maxItems": 10}, many, "maxItems"),
        ({"items": False, "prefixItems": [True]}, many, "false"),
        ({"items": True, "contains": {"type": "string"}}, many, "contains"),
        ({"properties": {"0": True}, "additionalProperties": False}, large, "additionalProperties"),
        ({"properties": {"0": True}, "propertyNames": {"pattern": "^x"}}, large, "propertyNames"),
        ({"properties": {"0": True}, "not": {"required": ["0"]}}, large, "not"),
        ({"properties": {"0": True}, "if": {"required": ["0"]}, "then": {"required": ["x"]}}, large, "required"),
        ({"properties": {"0": True}, "const": 1}, large, "const"),
        ({"properties": {"0": True}, "patternProperties": {"^1": False}}, large, "false"),
        ({"allOf": [{"required": ["0"]}], "unevaluatedProperties": False}, large, "unevaluatedProperties"),
        ({"oneOf": [{"required": ["0"]}, {"required": ["1"]}]}, large, "oneOf"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, large, "type"),
        ({"additionalProperties": {"items": {"type": "string"}}}, large, "type"),
        ({"$ref": "#/$defs/A~1~0%20b%25", "required": ["x"]}, large, "required"),
    ]
    for schema, value, rule in cases:
        definitions = {"Thing": schema, "A/~ b%": {"type": "object"}}

        found = list(engine_of({"$defs": definitions}).find_problems(("$defs", "Thing"), value))
        assert rule in {said.rule for said in found}, (schema, found)
        for said in found:
            resolve({"$defs": definitions}, said.schema)
            resolve(value, write_plain_pointer(*said.path))


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        (
            {"propertyNames": {"pattern": "^x"}},
            {"y": 1},
            "the name 'y' is not allowed here: 'y' does not match the pattern '^x'",
        ),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "the field 'b' is required beside 'a'"),
        (
            {"anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]},
            {"d": 1},
            "the field 'a' is required (the nearest of 2 alternatives)",
        ),
        (
            {"anyOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"required": ["c", "d"]}]},
            {"e": 1},
            "the field 'a' is required (the nearest of 2 alternatives)",
        ),
        (
            {"oneOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "object"}]},
            "c",
            "'c' is not one of 'a', 'b' (the nearest of 2 alternatives)",
        ),
        ({"oneOf": [{"enum": ["a", "b"]}, {"type": "object"}]}, [], "an object is expected, not an array"),
        (
            {"oneOf": [{"properties": {"t": {"const": tag}}, "required": ["t"]} for tag in ("one", "two", None)]},
            {"t": "three"},
            "'three' is not a known value of 't', which are 'one', 'two', null",
        ),
        (
            {"oneOf": [{"properties": {"t": {"const": tag}}} for tag in ("one", None)]},
            {"t": "three"},
            "'three' is not a known value of 't', which are 'one', null",
        ),
    ],
    ids=str,
)
def test_a_sentence_names_what_is_wrong_and_what_else_may_stand(schema: Any, value: Any, sentence: str) -> None:
    (said,) = engine_of({"$defs": {"Thing": schema}}).find_problems(("$defs", "Thing"), value)
    assert said.sentence == sentence


def test_a_union_that_is_a_branch_of_itself_is_explained() -> None:
    schema = {"minimum": 1, "anyOf": [{"$ref": "#/$defs/Thing"}, {"type": "string"}, {"minimum": 2}]}
    found = engine_of({"$defs": {"Thing": schema}}).find_problems(("$defs", "Thing"), 0)
    assert "the number must be 1 or more" in {said.sentence for said in found}


def test_a_large_value_that_is_nested_deep_gets_a_verdict() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "bad": {"type": "string"}}}
    engine = engine_of({"$defs": {"Node": node}})
    for wrong in ([0] * 500, 0):
        value: Any = {"bad": wrong}
        for _ in range(140):
            value = {"next": value, **{str(index): index for index in range(3)}}
        (problem,) = engine.find_problems(("$defs", "Node"), value)
        assert problem.path == (*["next"] * 140, "bad")


def test_a_field_that_is_missing_is_named_beside_the_sentence() -> None:
    strict = subject("acp/v1").strict
    (lacking,) = strict.validate_as("ReadTextFileRequest", {"sessionId": "s", "uri": "/a"})
    (wrong,) = strict.validate_as("ReadTextFileRequest", {"sessionId": "s", "path": 7})
    assert (lacking.rule, lacking.missing) == ("required", "path")
    assert "'path'" in lacking.sentence
    assert wrong.missing == ""


@pytest.mark.parametrize("name", ["1", "01", "007", "12345678901234567890", "-1", "a"])
def test_a_member_is_named_as_it_is_whatever_its_name(name: str) -> None:
    answer: dict[str, Any] = {"action": "accept", "content": {"b": "c", name: {}}}
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": answer}
    problems = subject("acp/v1").strict.validate(message, sender="client", method="elicitation/create")
    assert [problem.pointer for problem in problems] == [f"/result/content/{name}"]


def test_a_member_without_a_name_is_told_where_it_is() -> None:
    answer: dict[str, Any] = {"action": "accept", "content": {"": {}}}
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": answer}
    problems = subject("acp/v1").strict.validate(message, sender="client", method="elicitation/create")
    assert [problem.pointer for problem in problems] == ["/result/content/"]
