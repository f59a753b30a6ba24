"""Tagged unions: a known tag with a bad body is an error at the exact place, for every variant of every union."""

from __future__ import annotations

from collections import Counter
from inspect import signature
from typing import Any, Final

import pytest

from acpgen import ir
from acpgen.pointers import resolve, write_plain_pointer
from bindings.instances import smallest, smallest_of, wrong_for
from bindings.meaning import Meaning
from bindings.subjects import SOURCES, Subject, Subjects, parameters, same
from jsonrpc_bindings.engine import Engine


def unions_of(subject: Subject) -> list[ir.TaggedUnion]:
    """The tagged unions of a subject."""
    return [one for one in subject.protocol.definitions.values() if isinstance(one, ir.TaggedUnion)]


def records_of(meaning: Meaning, name: str, tags: tuple[str, ...]) -> list[tuple[ir.Record, tuple[str, ...]]]:
    """The records that a definition may be, each with the tags that it is told by: branches may be unions themselves."""
    definition = meaning.definitions[name]
    match definition:
        case ir.Record():
            return [(definition, tags)]
        case ir.TaggedUnion():
            branches = [*(variant.type for variant in definition.variants), definition.default, definition.fallback]
            inner = (*tags, definition.tag)
            return [found for branch in branches if branch is not None for found in records_of(meaning, branch, inner)]
        case ir.Alias(type=ir.AnyOf(types=types)):
            return [found for one in types if isinstance(one, ir.Ref) for found in records_of(meaning, one.name, tags)]
        case _:
            return []


def whole(meaning: Meaning, record: ir.Record) -> dict[str, Any]:
    """A value of a record with every field, those that cannot be drawn left out."""
    value = smallest(meaning, record.name)
    for field in record.fields:
        value.setdefault(field.name, smallest_of(meaning, field.type))
    found: dict[str, Any] = value
    return found


@pytest.mark.parametrize("source", parameters(SOURCES))
def test_a_bad_body_under_a_known_tag_is_an_error_at_its_exact_place(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    meaning, broken = subject.meaning, Counter[str]()
    for union in unions_of(subject):
        for variant in union.variants:
            for record, tags in records_of(meaning, variant.type, (union.tag,)):
                value = whole(meaning, record)
                assert meaning.accepts(union.name, value), (union.name, variant.tag, value)
                for field in record.fields:
                    if field.name in tags:
                        continue
                    for bad in wrong_for(meaning, field.type):
                        broken[union.name] += refused_at(subject, union, {**value, field.name: bad}, field.name)
    assert set(+broken) == {union.name for union in unions_of(subject)} - WITHOUT_BODIES.get(source, set())


WITHOUT_BODIES: Final[dict[str, set[str]]] = {}


def refused_at(subject: Subject, union: ir.TaggedUnion, value: Any, field: str) -> bool:
    """See that a value is refused at a field of it; false where a foreign default branch takes it."""
    if subject.meaning.accepts(union.name, value):
        assert union.default_admits_known, (union.name, value)
        found = subject.module.decode_as(subject.type(union.name), value, lenient=False)
        assert isinstance(found, subject.type(union.default or ""))
        assert same(subject.encoded(found), value)
        return False
    problems = subject.problems(union.name, value)
    for problem in problems:
        resolve(subject.bundle.schema, problem.schema)
    pointers = {problem.pointer for problem in problems}
    here = write_plain_pointer(field)
    assert here in pointers or any(one.startswith(f"{here}/") for one in pointers), (union.name, field, value, pointers)
    assert all(one == here or one.startswith(f"{here}/") for one in pointers), (union.name, field, value, pointers)
    return True


@pytest.mark.parametrize("source", parameters(SOURCES))
def test_a_required_field_that_is_missing_is_named_and_nothing_else_is(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    meaning = subject.meaning
    for union in unions_of(subject):
        for variant in union.variants:
            for record, tags in records_of(meaning, variant.type, (union.tag,)):
                value = smallest(meaning, record.name)
                for field in record.fields:
                    left = {key: item for key, item in value.items() if key != field.name}
                    if not field.required or field.name in tags or meaning.accepts(union.name, left):
                        continue
                    problems = subject.problems(union.name, left)
                    assert [problem.pointer for problem in problems] == [""], (union.name, field.name, problems)
                    shapes = len(records_of(meaning, variant.type, ())) > 1  # of several, the nearest is told
                    assert field.name in problems[0].sentence or (shapes and "is required" in problems[0].sentence)


# --- beside a default branch -----------------------------------------------------------------------------------------

AUTH: Final = {"id": "key", "name": "Key"}
STDIO: Final[dict[str, Any]] = {"name": "n", "command": "/c", "args": [], "env": []}
CHOICE: Final = {"sessionId": "s", "configId": "c", "value": "v"}

BESIDE: Final[list[tuple[str, dict[str, Any], dict[str, Any], str | None]]] = [
    ("AuthMethod", AUTH, {}, "AuthMethodAgent"),
    ("AuthMethod", AUTH, {"type": "agent"}, "AuthMethodAgent"),
    ("AuthMethod", AUTH, {"type": None}, "AuthMethodAgent"),
    ("AuthMethod", AUTH, {"type": "terminal"}, "AuthMethodTerminal"),
    ("AuthMethod", AUTH, {"type": "env_var", "vars": [{"name": "KEY", "secret": True}]}, "UnknownAuthMethod"),
    ("AuthMethod", AUTH, {"type": "env_var", "env": ["KEY"]}, "UnknownAuthMethod"),
    ("AuthMethod", AUTH, {"type": "_vendor.key"}, "UnknownAuthMethod"),
    ("AuthMethod", AUTH, {"type": ""}, "UnknownAuthMethod"),
    ("AuthMethod", {"id": "key"}, {"type": "env_var"}, None),
    ("AuthMethod", AUTH, {"type": "terminal", "args": "x"}, None),
    ("McpServer", STDIO, {}, "McpServerStdio"),
    ("McpServer", STDIO, {"type": "stdio"}, "McpServerStdio"),
    ("McpServer", STDIO, {"type": "unix"}, "UnknownMcpServer"),
    ("McpServer", {"name": "n", "url": "ws://x"}, {"type": "ws"}, None),
    ("SetSessionConfigOptionRequest", CHOICE, {}, "ValueIdSetSessionConfigOptionRequest"),
    ("SetSessionConfigOptionRequest", CHOICE, {"type": "number"}, "UnknownSetSessionConfigOptionRequest"),
    ("SetSessionConfigOptionRequest", CHOICE, {"type": "number", "value": 5}, None),
]


@pytest.mark.parametrize("source", ["own_v1", "acp_v1", "acp_v1_keep"])
def test_an_object_with_an_unknown_tag_is_never_read_as_one_without(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    for definition, body, more, name in BESIDE:
        value = {**body, **more}
        if name is None:
            if source == "own_v1":
                assert subject.problems(definition, value)
            continue
        found = subject.module.decode_as(subject.type(definition), value, lenient=False)
        assert type(found).__name__ == name, value
        assert isinstance(found, subject.runtime.Unknown) is name.startswith("Unknown")
        assert same(subject.encoded(found), value)
        if name.startswith("Unknown"):
            assert found.tag == more["type"]
            assert subject.encoded(type(found)(**value)) == value


def test_an_unknown_tag_is_told_where_another_branch_is_nearer_than_the_default(subjects: Subjects) -> None:
    subject = subjects("own_v1")
    (problem,) = subject.problems("McpServer", {"type": "ws", "name": "n", "url": "ws://x"})
    assert str(problem) == "/type: 'ws' is not a known value of 'type', which are 'http', 'sse'"
    (problem,) = subject.problems("McpServer", {"type": "stdio", "name": "n", "command": "/x", "args": []})
    assert str(problem) == "(message): the field 'env' is required"


def test_an_unknown_tag_that_the_default_branch_excludes_is_told_alone(subjects: Subjects) -> None:
    other = {
        "type": "object",
        "properties": {"kind": {"type": "string", "not": {"const": "own"}}},
        "required": ["kind"],
    }
    tagged = {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]}
    default = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "not": other}
    subject = subjects.small("stray_tags", {"Union": {"anyOf": [tagged, default]}}, shared="unions")
    (problem,) = subject.problems("Union", {"kind": "z"})
    assert str(problem).startswith("/kind: 'z' is not a known value of 'kind'")


def test_the_default_branch_of_any_union_is_for_objects_without_a_tag(subjects: Subjects) -> None:
    def tagged(**more: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"], **more}

    def union(default: dict[str, Any]) -> dict[str, Any]:
        return {"oneOf": [tagged(), default]}

    plain: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    excluding = {**plain, "not": {"required": ["kind"], "properties": {"kind": {"const": "a"}}}}
    sealed = {**plain, "not": {"required": ["kind"], "properties": {"kind": {"type": "string"}}}}
    own = {**plain, "not": {"required": ["kind"], "properties": {"kind": {"type": "string", "not": {"const": "b"}}}}}
    definitions = {
        "Excluding": union(excluding),
        "Titled": union({**excluding, "title": "b"}),
        "Sealed": union(sealed),
        "Own": union(own),
        "Shut": union({**plain, "additionalProperties": False}),
        "Nullable": union({**plain, "properties": {**plain["properties"], "kind": {"type": "null"}}}),
        "Chosen": union({**plain, "properties": {**plain["properties"], "kind": {"enum": ["b", "c"]}}}),
        "Nested": union({"oneOf": [plain, {"type": "object", "properties": {"y": True}, "required": ["y"]}]}),
        "Kept": {**union(own), "x-unknown": "keep"},
    }
    found = subjects.small("defaults_of_unions", definitions)
    unknown = {"Excluding": "b c", "Titled": "c", "Kept": "c"}
    refused = {"Sealed": "b c", "Own": "c", "Shut": "b c", "Nullable": "b c"}
    for name in definitions:
        for tag in ("b", "c"):
            value = {"kind": tag, "x": 1}
            if tag in refused.get(name, ""):
                assert found.problems(name, value)
                continue
            read = found.module.decode_as(found.type(name), value)
            assert isinstance(read, found.runtime.Unknown) is (tag in unknown.get(name, "")), (name, tag)
            assert found.encoded(read) == value
            assert bool(found.module.validate_as(name, value)) is (name == "Kept" and tag == "c")
        read = found.module.decode_as(found.type(name), {"x": 1})
        assert not isinstance(read, found.runtime.Unknown)
        assert found.encoded(read) == {"x": 1}
    for name in ("Sealed", "Own", "Kept"):
        (problem, *_) = found.module.validate_as(name, {"kind": "c", "x": 1})
        assert (problem.pointer, problem.rule) == ("/kind", "tag")


def test_a_definition_that_only_itself_leads_to_needs_no_tag(subjects: Subjects) -> None:
    tag = {"type": "object", "properties": {"op": {"const": "not"}}, "required": ["op"]}
    other = {"type": "object", "properties": {"op": {"const": "all"}}, "required": ["op"]}
    part = {"oneOf": [other, {"allOf": [{"$ref": "#/$defs/Query"}, tag]}]}
    subject = subjects.small("entry", {"Query": {"type": "object", "properties": {"of": part}}})
    for value in ({}, {"of": {"op": "not", "of": {"op": "all"}}}):
        assert subject.module.validate_as("Query", value) == ()
        assert same(subject.encoded(subject.module.decode_as("Query", value)), value)
    assert subject.problems("Query", {"of": {}})


@pytest.mark.parametrize("keep", [True, False])
def test_of_branches_that_accept_a_value_the_one_that_it_fits_best_is_taken(subjects: Subjects, keep: bool) -> None:
    def thing(kind: str, *others: str) -> dict[str, Any]:
        fields = {name: {"type": "integer"} for name in others}
        return {"type": "object", "properties": {"kind": {"$ref": f"#/$defs/{kind}"}, **fields}}

    definitions = {
        "Old": {"enum": ["a", "b"]},
        "New": {"enum": ["b", "c"]},
        "First": thing("Old", "x"),
        "Second": thing("New", "y", "z"),
        "Union": {"anyOf": [{"$ref": "#/$defs/First"}, {"$ref": "#/$defs/Second"}]},
        "Holder": {"type": "object", "properties": {"one": {"$ref": "#/$defs/Union"}}},
    }
    subject = subjects.small(f"best_branch_{keep}", definitions, keep_unknown=keep)
    values: list[tuple[dict[str, Any], str]] = [
        ({"kind": "c"}, "Second"),  # which the other branch only keeps
        ({"kind": "c", "x": 1}, "Second"),
        ({"kind": "b", "y": 1}, "Second"),
        ({"kind": "b", "x": 1, "y": 1, "z": 1}, "Second"),
        ({"kind": "b", "x": 1, "y": 1}, "First"),
        ({"kind": "b"}, "First"),
        ({"other": 1}, "First"),
    ]
    if keep:
        values += [({"kind": "d", "y": 1}, "Second"), ({"kind": "d"}, "First")]
    for value, name in values:
        assert type(subject.module.decode_as("Union", value)).__name__ == name, value
        holder = subject.module.decode_as("Holder", {"one": value})
        assert type(holder.one).__name__ == name, value
        assert subject.encoded(holder) == {"one": value}
        assert type(subject.type("Holder")(one=value).one).__name__ == name, value
    assert signature(subject.type("First")).parameters["kind"].annotation == "Old | UnsetType"


def test_a_fault_in_a_large_union_compiles_the_branch_of_its_tag_alone(
    subjects: Subjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The validator of each branch of such a union is as large as the schema: of 148 in FHIR, they took seconds."""
    kinds = [f"K{index}" for index in range(40)]
    inside = {"type": "array", "items": {"$ref": "#/$defs/Any"}}
    branches = {
        kind: {"type": "object", "properties": {"kind": {"const": kind}, "inside": inside}, "required": ["kind"]}
        for kind in kinds
    }
    union = {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds]}
    subject = subjects.small("many_kinds", {**branches, "Any": union})
    compiled: list[Any] = []
    compile_ = Engine.compile

    def count(engine: Engine, schema: Any) -> Any:
        compiled.append(schema)
        return compile_(engine, schema)

    monkeypatch.setattr(Engine, "compile", count)
    (problem,) = subject.problems("Any", {"kind": "K7", "inside": [{"kind": "K9", "inside": 1}]}, lenient=True)
    assert (problem.pointer, problem.sentence) == ("/inside/0/inside", "an array is expected, not 1")
    assert len(compiled) < 20


@pytest.mark.parametrize("beside", [{}, {"odd": 0.5}], ids=["ordinary", "judged by the schema"])
def test_a_known_tag_decides_whatever_stands_beside_the_value(beside: dict[str, Any], subjects: Subjects) -> None:
    """A branch that takes any tag may have a place for more fields; the class does not depend on how the message is read."""
    known = {"kind": {"const": "a"}, "x": {"type": "integer"}}
    others = {"kind": {"type": "string"}, "y": {"type": "integer"}}
    either = {"anyOf": [{"$ref": "#/$defs/Known"}, {"$ref": "#/$defs/Any"}]}
    row = {"value": either, "odd": {"type": "number", "multipleOf": 0.5}}
    definitions = {
        "Known": {"type": "object", "properties": known, "required": ["kind"]},
        "Any": {"type": "object", "properties": others, "required": ["kind"]},
        "Row": {"type": "object", "properties": row},
    }
    subject = subjects.small("any_tag", definitions)
    for value, expected in (
        ({"kind": "a", "y": 1}, "Known"),
        ({"kind": "b", "y": 1}, "Any"),
        ({"kind": "a", "x": "-", "y": 1}, "Any"),
    ):
        decoded = subject.module.decode_as(subject.type("Row"), {"value": value, **beside})
        assert type(decoded.value) is subject.type(expected)
    strict = subjects.small("any_tag_alone", definitions, options={"unknown-fields": "refuse"})
    decoded = strict.module.decode_as(strict.type("Row"), {"value": {"kind": "a", "y": 1}, **beside})
    assert type(decoded.value) is strict.type("Any")  # the class of the tag has no place for the field
