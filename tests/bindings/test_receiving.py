"""What the schema of a package says beyond its classes: leniency, tolerated variants, and what readers do not know."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest

from acpgen.bundle.unknown_variants import make_receiver_definitions
from acpgen.input.tagged_unions import Tagged
from bindings.subjects import Subjects
from jsonrpc_bindings.codec import Codec
from jsonrpc_bindings.contract import Method
from jsonrpc_bindings.errors import DecodeError, Dropped
from jsonrpc_bindings.module_registry import SchemaModule
from jsonrpc_bindings.receiving import Receiving

SOURCE = """
from __future__ import annotations
from typing import Annotated, Any, ClassVar, Literal, TypeAlias
from jsonrpc_bindings.annotations import Tagged
from jsonrpc_bindings.records import Record, Unknown, field

class Text(Record, tag_field="type", tag="text"):
    type: ClassVar[Literal["text"]] = "text"
    text: str

class UnknownBlock(Unknown, tag_field="type", known=("text",)):
    type: str

Block: TypeAlias = Annotated["Text | UnknownBlock", Tagged("type")]
Kind: TypeAlias = Literal["a", "b"] | str

class Params(Record):
    blocks: list[Block]
    note: str | None = None
    must: list[str] = field(name="must")
    env: list[str] = []
    kind: Kind = "a"

class Unique(Record, judged=True):
    items: list[int]

class Named(Record, judged=True):
    id: str
"""
DEFINITIONS: dict[str, Any] = {
    "Named": {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "patternProperties": {"^x-": {"type": "integer"}},
    },
    "Text": {
        "type": "object",
        "properties": {"type": {"type": "string", "const": "text"}, "text": {"type": "string"}},
        "required": ["type", "text"],
    },
    "Block": {"oneOf": [{"$ref": "#/$defs/Text"}], "x-unknown": "keep"},
    "Kind": {"enum": ["a", "b"], "x-unknown": "keep"},
    "Params": {
        "type": "object",
        "properties": {
            "blocks": {
                "type": "array",
                "items": {"$ref": "#/$defs/Block"},
                "x-deserialize-skip-invalid-items": True,
            },
            "note": {"type": ["string", "null"], "x-deserialize-default-on-error": True},
            "must": {"type": "array", "items": {"type": "string"}, "x-deserialize-default-on-error": True},
            "env": {"type": "array", "items": {"type": "string"}, "x-deserialize-default-on-null": True},
            "kind": {"$ref": "#/$defs/Kind"},
        },
        "required": ["blocks", "must"],
    },
    "Unique": {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}},
        "required": ["items"],
    },
}
UNIONS = {"Block": Tagged("type", ((0, "text"),), None, None)}
RECEIVING: dict[str, Any] = {
    **make_receiver_definitions(DEFINITIONS, UNIONS, ["Block", "Kind"], {"Block": "UnknownBlock"}),
    "Named": {**DEFINITIONS["Named"], "unevaluatedProperties": False},
}
SCHEMA: dict[str, Any] = {"x-protocol": {"receiving": RECEIVING}, "$defs": DEFINITIONS}


@pytest.fixture(scope="module")
def package() -> Any:
    module = ModuleType("receiving_protocol")
    sys.modules[module.__name__] = module
    exec(SOURCE, vars(module))
    found: Any = module
    methods: dict[str, Method[Any, Any]] = {
        "tell": Method("tell", "client", "notification", found.Params),
        "set": Method("set", "client", "notification", found.Unique),
        "name": Method("name", "client", "notification", found.Named),
    }
    found.codec = Codec(methods, Receiving(SchemaModule(module.__name__, lambda: SCHEMA)), sides=("agent", "client"))
    return found


def tell(package: Any, params: Any, *, lenient: bool = True, method: str = "tell") -> tuple[Any, list[Dropped]]:
    drops: list[Dropped] = []
    line = json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()
    found = package.codec.decode(line, sender="agent", on_drop=drops.append, lenient=lenient)
    return json.loads(package.codec.encode(found))["params"], drops


def test_what_is_tolerated_is_kept(package: Any) -> None:
    params = {"blocks": [{"type": "_x", "y": 1}], "must": [], "kind": "c", "note": None}
    assert tell(package, params, lenient=False) == (params, [])


def test_what_may_be_dropped_is_dropped_and_told(package: Any) -> None:
    text = {"type": "text", "text": "a"}
    bad = {"blocks": [5, text, {"type": "text"}, text], "note": 5, "must": "x", "env": None}
    params, drops = tell(package, bad)
    assert params == {"blocks": [text, text], "must": []}
    assert {drop.pointer: drop.value for drop in drops} == {
        "/params/blocks/0": 5,
        "/params/blocks/2": {"type": "text"},
        "/params/env": None,
        "/params/must": "x",
        "/params/note": 5,
    }
    problem = next(drop.problem for drop in drops if drop.pointer == "/params/note")
    assert (problem.pointer, problem.schema) == ("/params/note", "#/$defs/Params/properties/note/type")
    assert problem.sentence.endswith("is expected, not 5")


def test_without_leniency_nothing_is_dropped(package: Any) -> None:
    with pytest.raises(DecodeError) as caught:
        tell(package, {"blocks": [5], "must": [], "note": 5}, lenient=False)
    assert {problem.pointer for problem in caught.value.problems} == {"/params/blocks/0", "/params/note"}
    with pytest.raises(DecodeError, match="the field 'blocks' is required"):
        tell(package, {"must": []})
    assert tell(package, {"blocks": []})[0] == {"blocks": [], "must": []}


def test_the_schema_says_more_than_the_fields(package: Any) -> None:
    assert tell(package, {"items": [1, 2.0]}, method="set")[0] == {"items": [1, 2]}
    with pytest.raises(DecodeError, match="must be unique"):
        tell(package, {"items": [1, 1]}, method="set")
    with pytest.raises(DecodeError, match="must be unique"):
        package.Unique(items=[2, 2])


def test_the_schema_for_pydantic_is_the_published_one(package: Any) -> None:
    pydantic = pytest.importorskip("pydantic")
    schema = pydantic.TypeAdapter(package.Params).json_schema()
    kind = schema["properties"]["kind"]
    assert "string" not in str(kind)
    assert "'enum': ['a', 'b']" in str(kind)
    assert "UnknownBlock" not in str(schema)


def test_fields_whose_names_match_no_pattern_are_refused_where_unknown_fields_are(package: Any) -> None:
    params = {"id": "a", "x-one": 1}
    assert tell(package, params, method="name")[0] == params
    with pytest.raises(DecodeError) as caught:
        tell(package, {**params, "more": 1}, method="name")
    (problem,) = caught.value.problems
    assert (problem.pointer, problem.schema) == ("/params", "#/$defs/Named")
    assert problem.sentence == "'more' is not allowed here"
    with pytest.raises(DecodeError, match="'more' is not allowed here"):
        package.Named(id="a", extra={"more": 1})


@pytest.mark.parametrize("levels", [1, 12])
def test_branches_that_keep_unknown_values_refuse_no_value_that_one_alone_accepts(
    subjects: Subjects, levels: int
) -> None:
    first, second = {"enum": ["a", "b"]}, {"enum": ["b", "c"]}
    lists: dict[str, Any] = {
        "oneOf": [{"type": "array", "items": {"$ref": f"#/$defs/{name}"}} for name in ("First", "Second")]
    }
    for level in range(levels):
        lists = {"oneOf": [lists, {"type": "integer", "minimum": level, "maximum": level}]}
    name = f"kept_lists_{levels}"
    subject = subjects.small(name, {"First": first, "Second": second, "Lists": lists}, keep_unknown=True)
    for value in (["a"], ["c"], ["a", "a"], ["of the future"], 0):
        assert subject.encoded(subject.module.decode_as("Lists", value)) == value
    if levels == 1:
        (problem,) = subject.problems("Lists", ["b"])
        assert "more than one of the alternatives fits" in problem.sentence
    assert len(json.dumps(subject.tolerant_schema)) < 60_000
