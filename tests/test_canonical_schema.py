"""The canonical files: their form, their dialect, and what they must say whatever upstream says."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

import evidence
import published
from acpgen import ir
from acpgen.input.dialect import locate_dialect, read_keywords, read_meta_schema
from acpgen.input.load import Documents, load
from acpgen.input.walk import list_children
from oracle.values import is_array, is_object

ROOT: Final = Path(__file__).parents[1]
SCHEMA: Final = ROOT / "schema"
PROTOCOLS: Final = ("acp/v1", "acp/v2", "mcp/2025-06-18")
FILES: Final = sorted(path for protocol in PROTOCOLS for path in (SCHEMA / protocol).glob("[!.]*.json"))
OVERLAYS: Final = sorted((SCHEMA / "acp" / "unstable").glob("*/*.json"))
STANDARD: Final = "https://json-schema.org/draft/2020-12/schema"

AREAS: Final = {
    "acp/v1": "authentication commands compaction configuration content elicitation environment extensibility file-system "
    "initialize jsonrpc mcp-servers notices paths permission plan prompt session terminal tool-calls updates",
    "acp/v2": "authentication commands compaction configuration content diffs elicitation environment extensibility "
    "initialize jsonrpc mcp-servers notices paths permission plan prompt session state terminal tool-calls updates",
    "mcp/2025-06-18": "initialize jsonrpc roots",
}

_V1_SESSION, _V1_CLIENT = "agent:agentCapabilities.sessionCapabilities", "client:clientCapabilities"
_V2_SESSION, _V2_CLIENT = "agent:capabilities.session", "client:capabilities"

METHODS: Final = {
    "acp/v1": {
        "initialize": ("agent", None),
        "authenticate": ("agent", None),
        "logout": ("agent", "agent:agentCapabilities.auth.logout"),
        "session/new": ("agent", None),
        "session/load": ("agent", "agent:agentCapabilities.loadSession"),
        "session/list": ("agent", f"{_V1_SESSION}.list"),
        "session/resume": ("agent", f"{_V1_SESSION}.resume"),
        "session/fork": ("agent", f"{_V1_SESSION}.fork"),
        "session/delete": ("agent", f"{_V1_SESSION}.delete"),
        "session/close": ("agent", f"{_V1_SESSION}.close"),
        "session/set_mode": ("agent", None),
        "session/set_config_option": ("agent", None),
        "session/prompt": ("agent", None),
        "session/cancel": ("agent", None),
        "session/update": ("client", None),
        "session/request_permission": ("client", None),
        "fs/read_text_file": ("client", f"{_V1_CLIENT}.fs.readTextFile"),
        "fs/write_text_file": ("client", f"{_V1_CLIENT}.fs.writeTextFile"),
        "terminal/create": ("client", f"{_V1_CLIENT}.terminal"),
        "terminal/output": ("client", f"{_V1_CLIENT}.terminal"),
        "terminal/wait_for_exit": ("client", f"{_V1_CLIENT}.terminal"),
        "terminal/kill": ("client", f"{_V1_CLIENT}.terminal"),
        "terminal/release": ("client", f"{_V1_CLIENT}.terminal"),
        "elicitation/create": ("client", f"{_V1_CLIENT}.elicitation"),
        "elicitation/complete": ("client", f"{_V1_CLIENT}.elicitation.url"),
        "$/cancel_request": ("protocol", None),
    },
    "acp/v2": {
        "initialize": ("agent", None),
        "auth/login": ("agent", None),
        "auth/logout": ("agent", None),
        "session/new": ("agent", _V2_SESSION),
        "session/load": ("agent", _V2_SESSION),
        "session/list": ("agent", _V2_SESSION),
        "session/resume": ("agent", _V2_SESSION),
        "session/close": ("agent", _V2_SESSION),
        "session/prompt": ("agent", _V2_SESSION),
        "session/cancel": ("agent", _V2_SESSION),
        "session/update": ("client", _V2_SESSION),
        "session/fork": ("agent", f"{_V2_SESSION}.fork"),
        "session/delete": ("agent", f"{_V2_SESSION}.delete"),
        "session/set_config_option": ("agent", _V2_SESSION),
        "session/request_permission": ("client", None),
        "elicitation/create": ("client", f"{_V2_CLIENT}.elicitation"),
        "elicitation/complete": ("client", f"{_V2_CLIENT}.elicitation.url"),
        "terminal/cancel": ("agent", None),
        "tool_call/cancel": ("agent", None),
        "$/cancel_request": ("protocol", None),
    },
    "mcp/2025-06-18": {
        "initialize": ("server", None),
        "notifications/initialized": ("server", None),
        "roots/list": ("client", "client:capabilities.roots"),
        "notifications/roots/list_changed": ("server", "client:capabilities.roots.listChanged"),
    },
}

CLEARED: Final = {
    "acp/v1": {"SessionInfoUpdate": "title updatedAt", "CompactionUpdate": "summary error _meta"},
    "acp/v2": {
        "AgentMessage": "content _meta",
        "AgentThought": "content _meta",
        "CompactionUpdate": "summary error _meta",
        "SessionInfoUpdate": "title updatedAt _meta",
        "TerminalUpdate": "command cwd output exitStatus size capabilities _meta",
        "ToolCallUpdate": "name title kind status content locations rawInput rawOutput capabilities _meta",
        "UsageUpdate": "cost",
        "UserMessage": "content _meta",
    },
    "mcp/2025-06-18": {},
}
"""The fields in which null removes a value, by definition."""

OPENNESS: Final = {
    "tolerated": "AuthMethod SessionUpdate ContentBlock ToolCallContent SessionConfigOption ToolKind ToolCallStatus "
    "PlanEntryPriority PlanEntryStatus Role StringFormat",
    "closed": "McpServer SetSessionConfigOptionRequest RequestPermissionOutcome StopReason PermissionOptionKind ElicitationSchemaType",
    "open": "CreateElicitationRequest CreateElicitationResponse ElicitationPropertySchema MultiSelectItems CompactionStatus "
    "SessionConfigOptionCategory ErrorCode NoticeSeverity",
}
"""What v1 does with tags and values that it does not know."""


@cache
def documents(protocol: str) -> Documents:
    return load(SCHEMA / protocol, name=protocol)


def meaning(protocol: str) -> ir.Protocol:
    return published.version(protocol).protocol


jsonschema: Any = importlib.import_module("jsonschema")  # it comes without types


def judges(schema: object) -> tuple[bool, bool]:
    """What both judges say of a schema, read as one of the dialect."""
    dialect = dict(read_meta_schema())
    fast = jsonschema_rs.Draft202012Validator(dialect).is_valid(schema)
    return fast, bool(jsonschema.Draft202012Validator(dialect).is_valid(schema))


def schemas(value: Any) -> Iterator[dict[str, Any]]:
    """A schema and all inside it."""
    if is_object(value):
        yield value
        for _, child in list_children(value):
            yield from schemas(child)


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --- form ------------------------------------------------------------------------------------------------------------


def test_every_area_has_its_file(protocol: str) -> None:
    assert {path.stem for path in (SCHEMA / protocol).glob("[!.]*.json")} == set(AREAS[protocol].split())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SCHEMA).as_posix())
def test_a_file_names_standard_json_schema_says_what_it_is_and_ends_with_a_newline(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "\t" not in text
    assert "\\u" not in text
    value = json.loads(text)
    assert list(value)[:3] == ["$schema", "title", "description"]
    assert list(value)[-1] == "$defs"
    assert value["$schema"] == STANDARD
    assert "$id" not in value


def test_only_the_envelopes_file_has_a_root(protocol: str) -> None:
    rooted = [d.path for d in documents(protocol).documents if isinstance(d.value, dict) and "anyOf" in d.value]
    assert rooted == ["jsonrpc.json"]


def test_a_message_is_json_rpc_2(protocol: str) -> None:
    versions = [
        schema["properties"]["jsonrpc"]
        for document in documents(protocol).documents
        for schema in schemas(document.value)
        if "jsonrpc" in schema.get("properties", {})
    ]
    assert versions
    assert all((version["type"], version["const"]) == ("string", "2.0") for version in versions)


# --- dialect ---------------------------------------------------------------------------------------------------------


def test_the_dialect_is_itself_valid_and_standard_judges_agree_about_it() -> None:
    dialect = dict(read_meta_schema())
    assert jsonschema_rs.Draft202012Validator({"$ref": STANDARD}).is_valid(dialect)
    jsonschema.Draft202012Validator.check_schema(dialect)
    assert dialect["$dynamicAnchor"] == "meta"
    assert dialect["$vocabulary"][f"{STANDARD.removesuffix('schema')}vocab/core"] is True
    assert locate_dialect() == SCHEMA / "dialect.json"


@pytest.mark.parametrize("path", [*FILES, *OVERLAYS], ids=lambda path: path.relative_to(SCHEMA).as_posix())
def test_every_file_is_of_the_dialect(path: Path) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    assert jsonschema_rs.Draft202012Validator(dict(read_meta_schema())).is_valid(value)


def test_every_keyword_of_the_dialect_is_on_its_page_and_used() -> None:
    used = {key for path in [*FILES, *OVERLAYS] for schema in schemas(json.loads(path.read_bytes())) for key in schema}
    page = (SCHEMA.parent / "generated" / "docs" / "dialect.md").read_text(encoding="utf-8")
    for keyword, description in read_keywords().items():
        assert f"\n## `{keyword}`\n" in page
        assert description.endswith(".")
    unused = {"x-sides": "our protocols have the sides that need no declaration", "x-integer": "bundles of draft-04"}
    assert set(read_keywords()) - used == unused.keys()


NESTED: Final[list[dict[str, Any]]] = [
    {"$defs": {"A": {}}},
    {"properties": {"a": {"items": {}}}},
    {"anyOf": [{"not": {"properties": {"a": {}}}}]},
    {"additionalProperties": {"oneOf": [{"allOf": [{}]}]}},
]


def innermost(schema: Any) -> dict[str, Any]:
    *_, last = schemas(schema)
    return last


@pytest.mark.parametrize("schema", NESTED, ids=json.dumps)
def test_an_unknown_keyword_is_refused_at_any_depth_by_every_judge(schema: dict[str, Any]) -> None:
    copied: dict[str, Any] = json.loads(json.dumps(schema))
    assert judges(copied) == (True, True)
    innermost(copied)["x-something"] = True
    assert judges(copied) == (False, False)
    del innermost(copied)["x-something"]
    innermost(copied)["minimum"] = "one"
    assert judges(copied) == (False, False)


GOOD: Final[tuple[dict[str, Any], ...]] = (
    {
        "$defs": {
            "A": {"x-method": "a/b", "x-side": "agent", "x-batch": "never", "x-capability": "agent:capabilities.a"}
        }
    },
    {"$defs": {"A": {"x-unknown": "keep", "oneOf": [{"const": "a", "x-name": "A", "x-unstable": True}]}}},
    {"$defs": {"A": {"x-was": ["#/$defs/B", "old/method"], "x-null": "omitted", "x-docs-ignore": True}}},
    {
        "properties": {
            "a": {"x-required-with": "client:a.b", "x-null": "clears", "x-gates": "nothing", "x-name": "Name"}
        }
    },
    {"properties": {"a": {"type": "array", "items": {"x-name": "Entry"}, "x-deserialize-skip-invalid-items": True}}},
    {"properties": {"a": {"x-deserialize-default-on-error": True, "x-deserialize-default-on-null": True}}},
    {"anyOf": [{"x-capability": "server:capabilities.tools", "x-docs-ignore": True}]},
    {"type": "string", "format": "absolute-path"},
)
BAD: Final[tuple[dict[str, Any], ...]] = (
    {"$defs": {"A": {"x-method": "a/b"}}},
    {"$defs": {"A": {"x-method": "a b", "x-side": "agent"}}},
    {"$defs": {"A": {"x-method": "a/b", "x-side": "2 users"}}},
    {"$defs": {"A": {"x-batch": "never"}}},
    {"$defs": {"A": {"x-method": "a", "x-side": "agent", "x-batch": "always"}}},
    {"$defs": {"A": {"x-capability": "agentCapabilities.a"}}},
    {"$defs": {"A": {"x-capability": "agent:a..b"}}},
    {"$defs": {"A": {"x-required-with": "agent:a"}}},
    {"$defs": {"A": {"x-unknown": "keep"}}},
    {"$defs": {"A": {"x-unknown": "drop", "enum": ["a"]}}},
    {"$defs": {"A": {"x-was": "B"}}},
    {"$defs": {"A": {"x-was": []}}},
    {"$defs": {"A": {"x-name": "not a name"}}},
    {"$defs": {"A": {"x-unstable": False}}},
    {"properties": {"a": {"x-method": "a", "x-side": "agent"}}},
    {"properties": {"a": {"x-docs-ignore": True}}},
    {"properties": {"a": {"x-null": None}}},
    {"properties": {"a": {"x-gates": "everything"}}},
    {"properties": {"a": {"x-deserialize-skip-invalid-items": True}}},
    {"properties": {"a": {"x-deserialize-default-on-error": "yes"}}},
    {"properties": {"a": {"x-null": "omitted", "x-deserialize-default-on-null": True}}},
    {"properties": {"a": {"items": {"x-null": "omitted"}}}},
    {"anyOf": [{"x-null": "omitted"}]},
    {"anyOf": [{"x-required-with": "agent:a"}]},
    {"not": {"x-capability": "agent:a"}},
    {"format": "absolute-path"},
    {"type": "string", "format": "absolute-path", "pattern": "^/"},
    {"$schema": STANDARD, "x-unstable": True},
    {"$schema": "http://json-schema.org/draft-07/schema#"},
)


@pytest.mark.parametrize("schema", GOOD, ids=json.dumps)
def test_keywords_are_accepted_where_they_belong(schema: dict[str, Any]) -> None:
    assert judges(schema) == (True, True)


@pytest.mark.parametrize("schema", BAD, ids=json.dumps)
def test_keywords_are_refused_elsewhere_and_with_other_values(schema: dict[str, Any]) -> None:
    assert judges(schema) == (False, False)


# --- content ---------------------------------------------------------------------------------------------------------


def test_the_methods_have_their_sides_and_gates(protocol: str) -> None:
    found = {method.name: (method.side, method.capability) for method in meaning(protocol).methods}
    assert found == METHODS[protocol]


def test_v2_has_eight_methods_behind_the_session_capability_alone() -> None:
    baseline = {f"session/{name}" for name in ("new", "load", "list", "resume", "close", "prompt", "cancel", "update")}
    assert all(METHODS["acp/v2"][name][1] == _V2_SESSION for name in baseline)
    assert baseline <= {method.name for method in meaning("acp/v2").methods}


def test_forking_alone_is_unstable_and_all_of_it_is(protocol: str) -> None:
    meant = meaning(protocol)
    unstable = {name for name, definition in meant.definitions.items() if definition.unstable}
    methods = {method.name for method in meant.methods if method.unstable}
    if protocol.startswith("acp/"):
        assert unstable == {"SessionForkCapabilities", "ForkSessionRequest", "ForkSessionResponse"}
        assert methods == {"session/fork"}
    else:
        assert (unstable, methods) == (set(), set())


def test_the_handshake_and_what_opens_a_session_are_never_batched() -> None:
    never = {method.name for method in meaning("acp/v2").methods if method.batch == "never"}
    opening = {"session/new", "session/load", "session/resume"}
    assert never == {"initialize", "auth/login", "session/prompt", *opening}
    assert meaning("acp/v2").batch
    assert not meaning("acp/v1").batch


def test_null_removes_a_value_exactly_in_these_fields(protocol: str) -> None:
    found: dict[str, set[str]] = {}
    for definition in meaning(protocol).definitions.values():
        for field in definition.fields if isinstance(definition, ir.Record) else ():
            if field.null == "clears":
                found.setdefault(field.owner, set()).add(field.name)
    assert found == {name: set(fields.split()) for name, fields in CLEARED[protocol].items()}


def test_v1_keeps_unknown_tags_where_they_only_inform() -> None:
    found: dict[str, set[str]] = {"tolerated": set(), "closed": set(), "open": set()}
    for name, definition in meaning("acp/v1").definitions.items():
        if isinstance(definition, ir.TaggedUnion | ir.Enum):
            found[definition.openness].add(name)
    assert found == {openness: set(names.split()) for openness, names in OPENNESS.items()}


def test_v2_is_open_but_for_the_types_of_elicitation_schemas() -> None:
    unions = {
        name: definition.openness
        for name, definition in meaning("acp/v2").definitions.items()
        if isinstance(definition, ir.TaggedUnion | ir.Enum)
    }
    assert {name for name, openness in unions.items() if openness != "open"} == {"ElicitationSchemaType"}


@pytest.mark.parametrize("version", ["acp/v1", "acp/v2"])
def test_extra_roots_and_permission_prompts_are_never_forgiven(version: str) -> None:
    checked = 0
    for name, definition in meaning(version).definitions.items():
        for field in definition.fields if isinstance(definition, ir.Record) else ():
            is_roots = field.name == "additionalDirectories" and name != "SessionCapabilities"
            is_prompt = name == "RequestPermissionRequest" and field.name in ("title", "options", "subject")
            if is_roots or is_prompt:
                assert field.leniency == ir.Leniency(), f"{name}.{field.name}"
                assert field.capability or field.required_with or is_prompt
                checked += 1
    assert checked >= 7


def test_results_that_peers_send_as_null_are_read_as_empty() -> None:
    emptied = {method.name for method in meaning("acp/v1").methods if method.null_result}
    assert emptied == {
        *("authenticate", "logout", "session/load", "session/resume", "session/delete", "session/close"),
        *("session/set_mode", "fs/write_text_file", "terminal/kill", "terminal/release"),
    }


def test_no_generated_name_ends_in_a_number_and_nothing_is_left_to_the_strict_validator(protocol: str) -> None:
    for name, definition in meaning(protocol).definitions.items():
        assert not re.search(r"\d$", name)
        assert definition.unenforced == ()


def test_no_object_refuses_fields_that_it_does_not_know(protocol: str) -> None:
    for document in documents(protocol).documents:
        for schema in schemas(document.value):
            assert schema.get("additionalProperties", True) is not False
            assert schema.get("unevaluatedProperties", True) is not False


# --- words -----------------------------------------------------------------------------------------------------------


def runs(text: str, length: int = 8) -> Iterator[str]:
    """Every run of so many words."""
    words = re.findall(r"[a-z0-9_/$]+", text.lower())
    return (" ".join(words[start : start + length]) for start in range(len(words) - length + 1))


def descriptions(value: Any) -> Iterator[str]:
    if is_object(value):
        for key, inner in value.items():
            if key == "description" and isinstance(inner, str):
                yield inner
            yield from descriptions(inner)
    elif is_array(value):
        for inner in value:
            yield from descriptions(inner)


def test_no_eight_words_in_a_row_are_upstreams() -> None:
    published = evidence.known("upstream/*/schema*.json")
    evidence.need(*published)
    theirs = {
        run
        for name in published
        for text in descriptions(json.loads(evidence.path(name).read_bytes()))
        for run in runs(text)
    }
    assert len(theirs) > 10_000
    ours = [text for path in (*FILES, SCHEMA / "dialect.json") for text in descriptions(json.loads(path.read_bytes()))]
    assert [text for text in ours if theirs.intersection(runs(text))] == []
