"""Every numbered requirement that a schema can check: what keeps the rule is accepted, what breaks it is refused.

A requirement about the schema itself (a method that must not exist, a marker that is gone) is kept or broken by a fact: `holds`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

import published
from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.publish.requirement_table import SchemaPlaces
from breaking import broken, is_breakable
from requirements_file import identity, label
from validators import judges

SCHEMA: Final = Path(__file__).parents[1] / "schema"
V1, V2, MCP = "acp/v1", "acp/v2", "mcp/2025-06-18"

TABLE: Final[dict[int | str, dict[str, Any]]] = {
    identity(rule): rule for rule in json.loads((SCHEMA / "requirements.json").read_text("utf-8"))["rules"]
}
IDS: Final = [identifier for identifier, rule in TABLE.items() if "schema" in rule]
"""The requirements that a schema checks, alone or together with something else."""

NUMBERS: Final = [identifier for identifier in IDS if isinstance(identifier, int)]
"""Those with values written down here. The others are broken where the table says that the schema checks them."""

EIGHT: Final = tuple(
    f"session/{name}" for name in ("new", "load", "resume", "list", "close", "prompt", "cancel", "update")
)
LIFECYCLE: Final = ("NewSessionRequest", "LoadSessionRequest", "ResumeSessionRequest", "ForkSessionRequest")
BASE: Final[dict[str, Any]] = {"cwd": "/home/mara/tidewatch", "sessionId": "tide-4f81c0", "mcpServers": []}
FIELD: Final = "additionalDirectories"
SESSIONS: Final = "agent:capabilities.session"
ROOTS_GATE: Final = {V1: f"agent:agentCapabilities.sessionCapabilities.{FIELD}", V2: f"{SESSIONS}.{FIELD}"}


@dataclass(frozen=True)
class Check:
    """Instances of one definition: `kept` are accepted, `broken` are refused."""

    number: int
    protocol: str
    definition: str
    kept: tuple[Any, ...]
    broken: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Fact:
    """Something that holds for the schema of a protocol, for the reason that the requirement gives."""

    number: int
    protocol: str
    says: str
    holds: Callable[[ir.Protocol], bool]


def bundled(protocol: str) -> Bundle:
    return published.version(protocol).bundle


def meaning(protocol: str) -> ir.Protocol:
    return published.version(protocol).protocol


@cache
def judge(protocol: str, definition: str) -> jsonschema_rs.Draft202012Validator:
    schema = {**bundled(protocol).schema, "$ref": f"#/$defs/{definition}"}
    return jsonschema_rs.Draft202012Validator({key: value for key, value in schema.items() if key != "anyOf"})


def fields(protocol: ir.Protocol, definition: str) -> dict[str, ir.Field]:
    found = protocol.definitions[definition]
    assert isinstance(found, ir.Record)
    return {field.name: field for field in found.fields}


def methods(protocol: ir.Protocol) -> dict[str, ir.Method]:
    return {method.name: method for method in protocol.methods}


def with_roots(*values: Any, base: dict[str, Any] | None = None) -> tuple[Any, ...]:
    return tuple({**(BASE if base is None else base), FIELD: value} for value in values)


GOOD_ROOTS: Final[tuple[Any, ...]] = (
    [],
    ["/home/mara/almanac"],
    ["/home/mara/almanac", "C:\\work", "C:/srv", "\\\\nas\\almanac"],
)


def roots_of(number: int, kept: tuple[Any, ...], broken: tuple[Any, ...]) -> Iterable[Check]:
    """The same rule on every definition that carries extra roots, in both versions."""
    for protocol in (V1, V2):
        for definition in (*LIFECYCLE, "ListSessionsRequest", "SessionInfo"):
            yield Check(number, protocol, definition, kept, broken)


def no_roots_in(name: str) -> Callable[[ir.Protocol], bool]:
    return lambda protocol: FIELD not in fields(protocol, name)


def strict_field(name: str, field: str) -> Callable[[ir.Protocol], bool]:
    return lambda protocol: fields(protocol, name)[field].leniency == ir.Leniency()


def gate(protocol: ir.Protocol, method: str) -> str | None:
    return methods(protocol)[method].capability


def gate_is(method: str, path: str) -> Callable[[ir.Protocol], bool]:
    return lambda protocol: gate(protocol, method) == path


def gated_roots(name: str) -> Callable[[ir.Protocol], bool]:
    return lambda protocol: fields(protocol, name)[FIELD].capability == ROOTS_GATE[protocol.name]


PERMISSION: Final[dict[str, Any]] = {
    "sessionId": "tide-4f81c0",
    "title": "Run the tests?",
    "options": [{"optionId": "once", "name": "Allow once", "kind": "allow_once"}],
}
CALL: Final[dict[str, Any]] = {"type": "tool_call", "toolCall": {"toolCallId": "call-1"}}
NO_SESSION: Final[tuple[dict[str, Any], ...]] = ({}, {"capabilities": {}}, {"capabilities": {"session": None}})
BAD_CALLS: Final[tuple[Any, ...]] = (
    {"type": "tool_call"},
    {"type": "tool_call", "toolCall": {}},
    {**CALL, "toolCall": 1},
)
READ: Final[dict[str, Any]] = {"sessionId": "tide-4f81c0", "path": "/home/mara/tidewatch/src/forecast.py"}


def without(instance: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in instance.items() if name not in names}


def markers(protocol: ir.Protocol, definition: str) -> set[str]:
    return set(fields(protocol, definition)) - {"_meta"}


CHECKS: Final = (
    Check(3, V1, "SessionCapabilities", ({FIELD: {}}, {}, {FIELD: {"_meta": {}}}), ({FIELD: True}, {FIELD: []})),
    Check(3, V2, "SessionCapabilities", ({FIELD: {}}, {}, {FIELD: {"_meta": {}}}), ({FIELD: True}, {FIELD: []})),
    *(
        Check(4, protocol, definition, (BASE, *with_roots(*GOOD_ROOTS)), with_roots("/home/mara/almanac", {}, 1))
        for protocol in (V1, V2)
        for definition in LIFECYCLE
    ),
    *(
        Check(5, protocol, "ListSessionsRequest", ({}, *with_roots(*GOOD_ROOTS, base={})), with_roots("/a", 7, base={}))
        for protocol in (V1, V2)
    ),
    *(
        Check(6, protocol, "SessionInfo", (without(BASE, "mcpServers"), *with_roots(*GOOD_ROOTS)), with_roots("/a", 7))
        for protocol in (V1, V2)
    ),
    *roots_of(12, with_roots(*GOOD_ROOTS), with_roots([1], [["/a"]], [{}], True)),
    *roots_of(13, with_roots(*GOOD_ROOTS), with_roots(["a"], ["/a", "../b"], ["C:work"], ["\\\\"], [" /a"])),
    *roots_of(14, with_roots(["/a"]), with_roots([""], ["/a", ""])),
    *roots_of(15, (BASE, *with_roots([])), with_roots(None, [None], ["/a", None])),
    *roots_of(38, with_roots([]), with_roots("/a", {}, {"0": "/a"}, 0, False)),
    *roots_of(39, with_roots(["/a"]), with_roots([0], ["/a", True], [["/a"]])),
    *roots_of(40, with_roots(["/"]), with_roots([""])),
    *roots_of(41, with_roots(["/a/.."]), with_roots(["a"], ["/a", "./b"], [".."])),
    *roots_of(42, with_roots(["/a"]), with_roots(["a"], [""], [1], "/a")),
    *roots_of(44, with_roots(["/a", "/b"]), with_roots(["/a", "b"], ["/a", "./b"], ["~/b"], ["file:///b"])),
    *roots_of(51, with_roots(*GOOD_ROOTS), with_roots(["a"], ["/a", "b/c"], ["~"])),
    *(
        Check(62, protocol, definition, (BASE,), (without(BASE, "cwd"),))
        for protocol in (V1, V2)
        for definition in LIFECYCLE
    ),
    Check(
        71,
        V2,
        "InitializeResponse",
        tuple(
            {"protocolVersion": 2, "info": {"name": "compass", "version": "1"}, **capabilities}
            for capabilities in NO_SESSION
        ),
        ({"protocolVersion": 2, "info": {"name": "compass", "version": "1"}, "capabilities": {"session": True}},),
    ),
    Check(
        72,
        V1,
        "AgentCapabilities",
        ({}, {"loadSession": True, "sessionCapabilities": {"list": {}, "resume": {}, "close": {}}}),
        ({"loadSession": {}}, {"sessionCapabilities": {"list": True}}, {"sessionCapabilities": {"close": 1}}),
    ),
    Check(
        74,
        MCP,
        "ClientCapabilities",
        ({"roots": {"listChanged": True}}, {"roots": {}}),
        ({"roots": {"listChanged": 1}},),
    ),
    Check(76, MCP, "ListRootsResult", ({"roots": []}, {"roots": [{"uri": "file:///a"}]}), ({}, {"roots": {}}, [])),
    Check(76, MCP, "ListRootsRequest", ({}, {"_meta": {}}), ([], "roots")),
    Check(
        77, MCP, "Root", ({"uri": "file:///home/mara"},), ({"uri": "https://a.example"}, {"uri": "/home"}, {"uri": ""})
    ),
    Check(
        78, MCP, "Root", ({"uri": "file:///a"}, {"uri": "file:///a", "name": "A"}), ({"uri": "file:///a", "name": 1},)
    ),
    Check(
        89, V2, "RequestPermissionRequest", (PERMISSION, {**PERMISSION, "_meta": {}}), ({**PERMISSION, "sessionId": 1},)
    ),
    Check(
        90, V2, "RequestPermissionRequest", (PERMISSION,), (without(PERMISSION, "title"), {**PERMISSION, "title": None})
    ),
    Check(
        91,
        V2,
        "RequestPermissionRequest",
        (PERMISSION, {**PERMISSION, "description": None}, {**PERMISSION, "description": "All of them."}),
        ({**PERMISSION, "description": 1},),
    ),
    Check(
        92,
        V2,
        "RequestPermissionRequest",
        (PERMISSION, {**PERMISSION, "subject": None}, {**PERMISSION, "subject": CALL}),
        ({**PERMISSION, "subject": {}}, {**PERMISSION, "subject": {"type": None}}),
    ),
    Check(
        93,
        V2,
        "RequestPermissionSubject",
        (CALL, {"type": "_deploy", "target": "staging"}, {"type": "something_later"}),
        ({"toolCall": {"toolCallId": "call-1"}}, {"type": 1}, "tool_call"),
    ),
    Check(
        94,
        V2,
        "RequestPermissionRequest",
        (PERMISSION,),
        (
            without(PERMISSION, "options"),
            {**PERMISSION, "options": None},
            {**PERMISSION, "options": [{"name": "Allow"}]},
        ),
    ),
    Check(
        97,
        V2,
        "RequestPermissionRequest",
        ({**PERMISSION, "subject": CALL}, {**PERMISSION, "subject": {"type": "_tool_call"}}),
        tuple({**PERMISSION, "subject": subject} for subject in BAD_CALLS),
    ),
    Check(
        100,
        V1,
        "RequestPermissionRequest",
        ({**without(PERMISSION, "title"), "toolCall": {"toolCallId": "call-1"}},),
        (PERMISSION, {**PERMISSION, "toolCall": {}}),
    ),
    Check(
        101,
        V2,
        "RequestPermissionRequest",
        ({**PERMISSION, "subject": {"type": "new_kind", "anything": [1]}},),
        ({"sessionId": "s", "subject": {"type": "new_kind"}},),
    ),
    Check(
        102,
        V1,
        "ClientCapabilities",
        ({"fs": {"readTextFile": True, "writeTextFile": False}}, {"fs": {}}, {}),
        ({"fs": {"readTextFile": {}}}, {"fs": {"writeTextFile": "yes"}}, {"fs": True}),
    ),
    Check(
        105,
        V1,
        "ReadTextFileRequest",
        (READ,),
        (without(READ, "path"), {**READ, "path": "src/a.py"}, without(READ, "sessionId")),
    ),
    Check(105, V1, "ReadTextFileRequest", ({**READ, "uri": "kept, and unread"},), ({"sessionId": "s", "uri": "/a"},)),
    Check(105, V1, "ReadTextFileResponse", ({"content": ""},), ({}, {"content": None}, {"content": [1]}, None)),
    Check(
        106,
        V1,
        "WriteTextFileRequest",
        ({**READ, "content": "x"},),
        (READ, {**READ, "content": None}, {**READ, "content": "x", "path": ""}, {"path": "/a", "content": "x"}),
    ),
    Check(106, V1, "WriteTextFileResponse", ({},), ("", [], True)),
)

FACTS: Final = (
    *(
        Fact(
            number,
            protocol,
            f"{name} says nothing about extra roots",
            no_roots_in(name),
        )
        for number, names in (
            (32, ("NewSessionResponse", "LoadSessionResponse", "ResumeSessionResponse", "ForkSessionResponse")),
            (33, ("SessionInfoUpdate",)),
        )
        for protocol in (V1, V2)
        for name in names
    ),
    *(
        Fact(number, protocol, f"{name} is gated", gated_roots(name))
        for number in (1, 2)
        for protocol in (V1, V2)
        for name in (*LIFECYCLE, "ListSessionsRequest")
    ),
    *(
        Fact(
            number,
            protocol,
            "the roots of a listed session are required once they are advertised",
            lambda meant: fields(meant, "SessionInfo")[FIELD].required_with == ROOTS_GATE[meant.name],
        )
        for number in (7, 8)
        for protocol in (V1, V2)
    ),
    *(
        Fact(number, V2, f"{name} needs nothing but sessions", gate_is(name, SESSIONS))
        for number in (65, 67, 71)
        for name in EIGHT
    ),
    Fact(70, V2, "deleting has a marker of its own", gate_is("session/delete", f"{SESSIONS}.delete")),
    Fact(73, MCP, "asking for roots is gated", gate_is("roots/list", "client:capabilities.roots")),
    Fact(
        74,
        MCP,
        "news of changed roots is gated",
        gate_is("notifications/roots/list_changed", "client:capabilities.roots.listChanged"),
    ),
    Fact(95, V2, "unknown subjects are kept", lambda meant: subject(meant)[1] == "open"),
    *(
        Fact(44, protocol, f"a bad root in {name} is never forgiven", strict_field(name, FIELD))
        for protocol in (V1, V2)
        for name in (*LIFECYCLE, "ListSessionsRequest", "SessionInfo")
    ),
    *(
        Fact(64, protocol, "no method is about directories or roots", lambda meant: not roots_in(meant))
        for protocol in (V1, V2)
    ),
    Fact(
        66,
        V2,
        "baseline methods have no markers",
        lambda meant: not {"load", "list", "resume", "close"} & markers(meant, "SessionCapabilities"),
    ),
    Fact(
        66,
        V2,
        "the types of the old markers are gone",
        lambda meant: (
            not {f"Session{name}Capabilities" for name in ("Load", "List", "Resume", "Close")} & set(meant.definitions)
        ),
    ),
    Fact(
        68,
        V2,
        "the optional markers are these, with fork which is unstable",
        lambda meant: markers(meant, "SessionCapabilities") == {"prompt", "mcp", "delete", FIELD, "fork"},
    ),
    Fact(
        69,
        V2,
        "fork is unstable and optional",
        lambda meant: (
            fields(meant, "SessionCapabilities")["fork"].unstable
            and not fields(meant, "SessionCapabilities")["fork"].required
            and methods(meant)["session/fork"].unstable
            and methods(meant)["session/fork"].capability == "agent:capabilities.session.fork"
        ),
    ),
    Fact(71, V2, "session is optional", lambda meant: not fields(meant, "AgentCapabilities")["session"].required),
    Fact(
        72,
        V1,
        "the old markers are still there",
        lambda meant: (
            "loadSession" in markers(meant, "AgentCapabilities")
            and {"list", "resume", "close"} <= markers(meant, "SessionCapabilities")
        ),
    ),
    Fact(
        76,
        MCP,
        "roots/list goes from the server to the client",
        lambda meant: (methods(meant)["roots/list"].side, methods(meant)["roots/list"].kind) == ("client", "request"),
    ),
    Fact(
        89,
        V2,
        "the common fields are exactly these",
        lambda meant: (
            set(fields(meant, "RequestPermissionRequest"))
            == {"sessionId", "title", "description", "options", "subject", "_meta"}
        ),
    ),
    Fact(
        91,
        V2,
        "null is omission",
        lambda meant: fields(meant, "RequestPermissionRequest")["description"].null == "omitted",
    ),
    Fact(
        92, V2, "null is omission", lambda meant: fields(meant, "RequestPermissionRequest")["subject"].null == "omitted"
    ),
    Fact(93, V2, "the subject is an open union tagged by type", lambda meant: subject(meant) == ("type", "open", True)),
    *(
        Fact(97, V2, f"a bad {name} is never forgiven", strict_field("RequestPermissionRequest", name))
        for name in ("title", "options", "subject")
    ),
    Fact(100, V2, "toolCall is gone", lambda meant: "toolCall" not in fields(meant, "RequestPermissionRequest")),
    Fact(100, V1, "toolCall is required", lambda meant: fields(meant, "RequestPermissionRequest")["toolCall"].required),
    Fact(
        104,
        V1,
        "read is gated",
        gate_is("fs/read_text_file", "client:clientCapabilities.fs.readTextFile"),
    ),
    Fact(
        104,
        V1,
        "write is gated",
        gate_is("fs/write_text_file", "client:clientCapabilities.fs.writeTextFile"),
    ),
)


def roots_in(protocol: ir.Protocol) -> list[str]:
    return [name for name in methods(protocol) if "director" in name or "root" in name]


def subject(protocol: ir.Protocol) -> tuple[str, str, bool]:
    union = protocol.definitions["RequestPermissionSubject"]
    assert isinstance(union, ir.TaggedUnion)
    return union.tag, union.openness, "tool_call" in {variant.tag for variant in union.variants}


@pytest.mark.parametrize("identifier", IDS, ids=label)
def test_the_schema_holds_the_requirement(identifier: int | str) -> None:
    """Both the schema and the strict validator accept what keeps the rule and refuse what breaks it, by the keywords of the table."""
    if isinstance(identifier, str):
        refused_where_the_table_says(TABLE[identifier])
        return
    refusing: set[str] = set()
    checks = [check for check in CHECKS if check.number == identifier]
    facts = [fact for fact in FACTS if fact.number == identifier]
    assert checks or facts
    for fact in facts:
        assert fact.holds(meaning(fact.protocol)), fact
    for check in checks:
        validator, strict = judge(check.protocol, check.definition), judges.subject(check.protocol).strict
        assert check.kept
        assert check.broken
        for instance in check.kept:
            assert validator.is_valid(instance), (check.definition, json.dumps(instance))
            assert not strict.validate_as(check.definition, instance)
        for instance in check.broken:
            assert not validator.is_valid(instance), (check.definition, json.dumps(instance))
            problems = strict.validate_as(check.definition, instance)
            assert problems
            assert {problem.code for problem in problems} == {-32602}
            refusing |= {problem.rule for problem in problems}
    assert refusing == set(TABLE[identifier].get("validator", ()))


def refused_where_the_table_says(rule: dict[str, Any]) -> None:
    """Valid values, made wrong at each place of the row, are refused there by the schema and by the validator's keywords."""
    refusing: set[str] = set()
    for place in rule["schema"]:
        found = SchemaPlaces(tuple(place["at"]), tuple(place.get("has", ())), tuple(place.get("lacks", ())))
        for where in found.at if "validator" in rule else ():
            if is_breakable(found, where):
                by = refusals(found, where)
                assert by, (rule["id"], where)
                refusing |= by
    assert refusing >= set(rule.get("validator", ())), (rule["id"], refusing)


def refusals(place: SchemaPlaces, where: str) -> set[str]:
    """The keywords by which the strict validator refuses what is wrong at a place."""
    found: set[str] = set()
    protocol = where.partition("#")[0]
    strict = judges.subject(protocol).strict
    for definition, kept, wrong in broken(place, where):
        validator = judge(protocol, definition)
        assert validator.is_valid(kept), (definition, kept)
        if not validator.is_valid(wrong):
            found |= {problem.rule for problem in strict.validate_as(definition, wrong)}
    return found


def test_every_check_belongs_to_a_requirement_of_the_schema() -> None:
    assert {check.number for check in CHECKS} | {fact.number for fact in FACTS} == set(NUMBERS)
    validated = {number for number in NUMBERS if "validator" in TABLE[number]}
    assert validated == {check.number for check in CHECKS}


GATES: Final = (1, 2, 7, 8, 65, 67, 70, 73, 74, 104)
"""The requirements whose facts are gates."""


@pytest.mark.parametrize("number", [32, 33, 64, 66, 68, 69, *GATES])
def test_a_rule_about_the_schema_fails_where_the_schema_breaks_it(number: int) -> None:
    """What these rules forbid, put into a copy of the canonical files, makes their fact false; so does a copy without any gate."""
    facts = [fact for fact in FACTS if fact.number == number]
    assert facts
    for fact in facts:
        assert not fact.holds(ungated(meaning(fact.protocol)) if number in GATES else broken_copy(fact))


def ungated(protocol: ir.Protocol) -> ir.Protocol:
    """The meaning of the schema without its gates."""
    definitions = {
        name: replace(
            definition,
            fields=tuple(replace(field, capability=None, required_with=None) for field in definition.fields),
        )
        if isinstance(definition, ir.Record)
        else definition
        for name, definition in protocol.definitions.items()
    }
    return replace(
        protocol,
        definitions=definitions,
        methods=tuple(replace(method, capability=None) for method in protocol.methods),
    )


def broken_copy(fact: Fact) -> ir.Protocol:
    """The meaning of the schema with what the requirement forbids put in."""
    meant = meaning(fact.protocol)
    changed = dict(meant.definitions)
    added: tuple[ir.Method, ...] = ()
    new = ir.Field(name=FIELD, type=ir.Array(ir.String()), required=False)
    if fact.number in (32, 33):
        name = fact.says.split()[0]
        changed[name] = with_field(meant, name, new)
    elif fact.number == 64:
        added = (
            ir.Method(
                name="session/set_additional_directories", side="agent", kind="request", params=None, result=None
            ),
        )
    else:
        changed["SessionLoadCapabilities"] = ir.Record(name="SessionLoadCapabilities", fields=())
        old = ir.Field(name="load", type=ir.Ref("SessionLoadCapabilities"), required=False)
        fork = ir.Field(name="fork", type=ir.Ref("SessionForkCapabilities"), required=False, unstable=False)
        changed["SessionCapabilities"] = with_field(meant, "SessionCapabilities", old, fork)
    return ir.Protocol(
        name=meant.name,
        version=meant.version,
        definitions=changed,
        methods=(*meant.methods, *added),
        sides=meant.sides,
        batch=meant.batch,
    )


def with_field(protocol: ir.Protocol, definition: str, *new: ir.Field) -> ir.Record:
    names = {field.name for field in new}
    kept = [field for name, field in fields(protocol, definition).items() if name not in names]
    return ir.Record(name=definition, fields=(*kept, *new))
