"""The generated types as pydantic's ecosystem meets them: JSON Schema, descriptions, signatures, routes and tools."""

from __future__ import annotations

import inspect
import json
import pydoc
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from types import FunctionType
from typing import Annotated, Any, Final, Literal, Union, get_origin

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError, create_model

import tiers
from acpgen import ir
from bindings.subjects import OWN, Subject, Subjects, parameters
from jsonrpc_bindings import Record
from jsonrpc_bindings.fields import get_shape
from schema_inclusion import Verdict, compare

MODES: tuple[Literal["validation"], Literal["serialization"]] = ("validation", "serialization")
JUDGED = (*OWN, "acp_v1", "acp_v2", "mcp_june", "mcp_november")


@pytest.fixture(scope="session")
def own(subjects: Subjects) -> Subject:
    """Our own bindings of ACP v1."""
    return subjects("own_v1")


def json_schema(type_: Any, mode: Any = "validation") -> dict[str, Any]:
    """What pydantic says of a class or an alias."""
    return TypeAdapter(type_).json_schema(mode=mode)


def types(subject: Subject) -> Iterator[tuple[str, Any]]:
    """Every class and alias by its definition."""
    for name in subject.protocol.definitions:
        yield name, subject.type(name)


def meant(subject: Subject, name: str) -> dict[str, Any]:
    """What the schema says of a definition."""
    return {"$defs": subject.bundle.definitions, "$ref": f"#/$defs/{name}"}


# --- JSON Schema -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("source", parameters(JUDGED))
def test_the_json_schema_of_every_type_means_what_the_schema_says(subjects: Subjects, source: str, whole: bool) -> None:
    subject = subjects(source)
    found_types = dict(types(subject))
    judged = 0
    for name in found_types if whole else tiers.draw(found_types, 15):
        type_ = found_types[name]
        found = json_schema(type_)
        assert json_schema(type_, "serialization") == found, name
        Draft202012Validator.check_schema(found)
        if name not in subject.bundle.definitions:  # receivers alone know it
            assert issubclass(type_, subject.runtime.Unknown)
            continue
        said = compare(meant(subject, name), found)
        assert said.backward.verdict is Verdict.YES, (name, said)
        is_of_texts = get_origin(type_) is Union  # constants and `str` beside them: nothing says why that is there
        assert said.forward.verdict is Verdict.YES or is_of_texts, (name, said)
        judged += 1
    assert judged > (10 if whole else 5)


def test_a_variant_that_receivers_alone_know_takes_every_tag_but_the_known_ones(own: Subject) -> None:
    schema: Any = Draft202012Validator(json_schema(own.module.UnknownContentBlock))
    assert schema.is_valid({"type": "chart", "points": [1]})
    for bad in ({"type": "text", "text": "x"}, {}, {"type": 1}):
        assert not schema.is_valid(bad)


def test_keywords_that_types_cannot_say_and_aliases_in_themselves_are_in_the_json_schema(subjects: Subjects) -> None:
    definitions: dict[str, Any] = {
        "Even": {"type": "array", "items": {"$ref": "#/$defs/Odd"}, "maxItems": 2},
        "Odd": {
            "anyOf": [{"$ref": "#/$defs/Even"}, {"type": "object", "additionalProperties": {"$ref": "#/$defs/Odd"}}]
        },
        "Beside": {"type": "object", "properties": {"x": {"schema": {"$ref": "#/nowhere"}}}},
        "Value": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"$ref": "#/$defs/Odd"}]},
        "Rule": {"anyOf": [{"type": "boolean"}, {"type": "object", "properties": {"but": {"$ref": "#/$defs/Rule"}}}]},
        "Holder": {"type": "object", "properties": {"odd": {"$ref": "#/$defs/Odd"}, "even": {"$ref": "#/$defs/Even"}}},
        "Pair": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/Few"}, "pair": {"$ref": "#/$defs/Pair"}},
            "dependentRequired": {"a": ["b"]},
        },
        "Few": {"type": "array", "contains": {"const": 1}, "items": {"$ref": "#/$defs/One/properties/x"}},
        "One": {"type": "object", "properties": {"x": {"type": ["integer", "null"], "multipleOf": 0.5}}},
    }
    subject = subjects.small("pydantic_keywords", definitions)
    for name, type_ in types(subject):
        said = compare(meant(subject, name), json_schema(type_))
        assert (said.backward.verdict, said.forward.verdict) == (Verdict.YES, Verdict.YES), name


def test_types_of_both_versions_keep_apart_in_one_document(subjects: Subjects, own: Subject) -> None:
    other = subjects("own_v2")
    pair = create_model("Pair", one=(own.type("ContentBlock"), ...), two=(other.type("ContentBlock"), ...))
    found = pair.model_json_schema()
    Draft202012Validator.check_schema(found)
    one, two = (found["properties"][name]["$ref"] for name in ("one", "two"))
    assert one != two
    for subject, ref in ((own, one), (other, two)):
        said = compare(meant(subject, "ContentBlock"), {"$ref": ref, "$defs": found["$defs"]})
        assert (said.backward.verdict, said.forward.verdict) == (Verdict.YES, Verdict.YES)


def test_a_class_that_extends_one_of_ours_says_its_own_fields_too(own: Subject) -> None:
    class Tide(own.module.ReadTextFileRequest):  # type: ignore[name-defined, misc]
        """With a depth."""

        depth: float
        """How deep."""

    found = json_schema(Tide)
    assert found["title"] == "Tide"
    assert found["required"] == ["sessionId", "path", "depth"]
    validator: Any = Draft202012Validator(found)
    assert validator.is_valid({"sessionId": "s", "path": "/a", "depth": 1.5})
    assert not validator.is_valid({"sessionId": "s", "path": "/a"})
    assert not validator.is_valid({"sessionId": "s", "path": "a", "depth": 1.5})
    assert Tide(session_id="s", path="/a", depth=1.0).depth == 1.0


# --- reading and dumping --------------------------------------------------------------------------------------------


def test_reading_takes_the_names_of_the_schema_wherever_one_reads(own: Subject) -> None:
    module, class_ = own.module, own.module.ReadTextFileRequest
    good, python = {"sessionId": "s", "path": "/a"}, {"session_id": "s", "path": "/a"}
    expected, adapter = class_(session_id="s", path="/a"), TypeAdapter[Any](class_)
    assert module.decode_as(class_, good) == module.decode_as("ReadTextFileRequest", good) == expected
    assert adapter.validate_python(good) == adapter.validate_json(json.dumps(good)) == expected
    assert adapter.validate_python(expected) is expected
    assert not module.validate_as("ReadTextFileRequest", good)
    assert module.validate_as(class_, python)
    reads: tuple[Any, ...] = (adapter.validate_python, partial(module.decode_as, "ReadTextFileRequest"))
    for read in reads:
        with pytest.raises(ValueError, match=r"sessionId"):
            read(python)
    for read in (module.decode_as, module.validate_as):
        with pytest.raises(KeyError):
            read("NoSuchThing", good)


ALIASES: list[tuple[str, Any, Any]] = [
    ("ProtocolVersion", (0, 65535), (-1, 65536, None)),
    ("AbsolutePath", ("/a", "C:\\a"), ("a", "", 5)),
    (
        "ContentBlock",
        ({"type": "text", "text": "a"}, {"type": "_chart"}),
        ({"type": "text"}, {"type": "image"}, []),
    ),
    ("McpServer", ({"name": "n", "command": "/c", "args": [], "env": []},), ({"type": "http", "name": "n"}, {})),
    ("ElicitationContentValue", ("a", 1, 1.5, True, ["a"]), (None, dict[str, Any](), [1])),
    ("NumberPropertySchema", ({"type": "number", "minimum": 1.5},), ({"type": "number", "minimum": "1"}, 5)),
    ("PermissionOptionKind", ("allow_once",), ("hum", 5)),
    ("ToolKind", ("read", "hum"), (5, None)),
]


@pytest.mark.parametrize(("name", "good", "bad"), ALIASES)
def test_an_alias_is_a_field_of_a_model(own: Subject, name: str, good: Any, bad: Any) -> None:
    model: Any = create_model("Model", one=(own.type(name), ...))
    judge: Any = Draft202012Validator(model.model_json_schema())
    for value in good:
        assert json.loads(model(one=value).model_dump_json()) == model(one=value).model_dump() == {"one": value}
        assert judge.is_valid({"one": value}) or value == {"type": "_chart"}
    for value in bad:
        with pytest.raises(ValidationError):
            model(one=value)
        assert not judge.is_valid({"one": value})


NAMESAKES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("LogoutRequest", {"meta": {"a": 1}}),
    ("LogoutRequest", {"meta": 1, "_meta": None}),
    ("InitializeRequest", {"protocolVersion": 1, "clientCapabilities": {"fs": {"read_text_file": True}}}),
    ("PromptRequest", {"sessionId": "s", "prompt": [{"type": "text", "text": "a", "meta": 2}]}),
)


@pytest.mark.parametrize(("name", "value"), NAMESAKES)
def test_a_field_that_is_called_like_an_attribute_stays_a_field_of_its_own(
    own: Subject, name: str, value: dict[str, Any]
) -> None:
    class_ = getattr(own.module, name)
    adapter = TypeAdapter[Any](class_)
    for read in (adapter.validate_python(value), adapter.validate_json(json.dumps(value))):
        assert own.encoded(read) == adapter.dump_python(read) == adapter.dump_python(read, mode="json") == value
        assert read == own.module.decode_as(class_, value)


def test_a_dump_of_a_model_has_what_is_sent(own: Subject) -> None:
    capabilities = own.module.ClientCapabilities()
    model: Any = create_model("Model", one=(own.module.ClientCapabilities, ...))
    assert model(one=capabilities).model_dump() == {"one": {}}
    capabilities.fs.read_text_file = True
    sent = {"one": {"fs": {"readTextFile": True}}}
    assert model(one=capabilities).model_dump() == json.loads(model(one=capabilities).model_dump_json()) == sent
    assert own.encoded(capabilities) == sent["one"]


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["own_v1", "own_v2", "own_roots"])
def test_every_field_has_the_words_of_the_schema(subjects: Subjects, source: str) -> None:
    subject, seen = subjects(source), 0
    for record in subject.protocol.definitions.values():
        if not isinstance(record, ir.Record):
            continue
        class_ = subject.type(record.name)
        for field in record.fields:
            found = inspect.getattr_static(class_, subject.names.fields[record.name][field.name], None)
            if found is None or isinstance(found, str | int) or not field.doc:  # a tag
                continue
            words = " ".join((inspect.getdoc(found) or "").split())
            assert words.startswith(" ".join(field.doc.split())), (record.name, field.name)
            seen += 1
    assert seen > 5


def test_help_on_a_class_is_its_documentation(own: Subject) -> None:
    told = pydoc.plain(pydoc.render_doc(own.module.ReadTextFileRequest))
    signature = "ReadTextFileRequest(*, session_id: 'SessionId', path: 'AbsolutePath'"
    assert signature in " ".join(told.replace("|", " ").split()).replace(
        "( ", "("
    )  # from Python 3.13 on in several lines
    assert "Parameters of `fs/read_text_file`" in told
    assert "How many lines to return at most." in told  # of a field that may be omitted
    assert "The file to read." in told  # of one that may not


def test_the_json_schema_has_the_words_too(own: Subject) -> None:
    found = json_schema(own.module.ReadTextFileRequest)
    assert found["title"] == "ReadTextFileRequest"
    assert found["description"].startswith("Parameters of `fs/read_text_file`: the agent asks the client for the text")
    assert found["properties"]["limit"]["description"].startswith("How many lines to return at most.")
    assert json_schema(own.type("ToolCall"))["properties"]["kind"]["description"].startswith("What sort of tool")


def test_where_the_source_is_not_there_no_words_are(own: Subject) -> None:
    program = f"""
import sys, zipimport, inspect
sys.path.insert(0, {str(own_folder(own))!r})
def gone(*_): raise OSError
inspect.getsource = gone
import {own.top}.api as v1
v1.ReadTextFileRequest(session_id="s", path="/a")
print(inspect.getdoc(v1.ReadTextFileRequest.path), inspect.getdoc(v1.ReadTextFileRequest.limit))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["None", "None"]


def own_folder(subject: Subject) -> str:
    """The folder that the package lies in."""
    return str(subject.module.__path__[0]).rpartition(f"/{subject.top}")[0]


def test_the_signature_of_a_class_is_right_from_the_start(own: Subject) -> None:
    program = f"""
import sys, inspect
sys.path.insert(0, {own_folder(own)!r})
import {own.top}.api as v1
before = str(inspect.signature(v1.WriteTextFileRequest))
v1.WriteTextFileRequest(session_id="s", path="/a", content="c")
print(before == str(inspect.signature(v1.WriteTextFileRequest)), before)
print(inspect.signature(v1.ClientCapabilities).parameters["fs"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    same, _, signature = done.stdout.splitlines()[0].partition(" ")
    assert same == "True"
    told = "session_id: 'SessionId', path: 'AbsolutePath', content: 'str', meta: 'Meta' = None, extra: 'Mapping[str, Any]' = {}"
    assert signature == f"(*, {told})"
    assert "FileSystemCapabilities" in done.stdout.splitlines()[1]


def test_the_parameters_of_every_class_are_its_fields(subjects: Subjects) -> None:
    subject = subjects("own_v2")
    for name, type_ in types(subject):
        if isinstance(type_, type) and issubclass(type_, Record):
            constants = get_shape(type_).constants
            fields = [one for wire, one in subject.names.fields[name].items() if wire not in constants]
            assert {*inspect.signature(type_).parameters} == {*fields, "extra"}, name


# --- who builds on it ------------------------------------------------------------------------------------------------


# FastAPI mutes this warning while it builds; types that are built when they are first used come later.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")
def test_a_route_of_fastapi_takes_and_describes_a_type(own: Subject) -> None:
    fastapi = pytest.importorskip("fastapi")
    testing = pytest.importorskip("fastapi.testclient")
    app = fastapi.FastAPI()
    request, block = own.type("PromptRequest"), own.type("ContentBlock")

    def prompt(body: Any) -> Any:
        return body.prompt[0]

    prompt.__annotations__ = {"body": Annotated[request, fastapi.Body()], "return": block}
    app.post("/prompt", response_model_exclude_unset=True)(prompt)
    document = app.openapi()
    components = document["components"]["schemas"]
    operation = document["paths"]["/prompt"]["post"]
    sent = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    given = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    for ref, name in ((sent, "PromptRequest"), (given, "ContentBlock")):
        schema = json.loads(json.dumps({"$ref": ref, "$defs": components}).replace("#/components/schemas/", "#/$defs/"))
        said = compare(meant(own, name), schema)
        assert (said.backward.verdict, said.forward.verdict) == (Verdict.YES, Verdict.YES)
    with testing.TestClient(app) as client:
        value = {"type": "text", "text": "hi", "_meta": {"a": 1}, "more": 2}
        answer = client.post("/prompt", json={"sessionId": "s", "prompt": [value]})
        assert (answer.status_code, answer.json()) == (200, value)
        bad = client.post("/prompt", json={"sessionId": "s", "prompt": [{"type": "text"}]})
        assert bad.status_code == 422


BODIES: Final[dict[str, tuple[tuple[str, Any], ...]]] = {
    "own_v1": (
        ("PromptRequest", {"sessionId": "s", "prompt": []}),
        ("ContentBlock", {"type": "text", "text": "hi"}),
        ("ContentBlock", {"type": "tide", "metres": 2.5}),
        ("SessionUpdate", {"sessionUpdate": "tool_call_update", "toolCallId": "t"}),
        ("McpServer", {"name": "n", "command": "/c", "args": [], "env": []}),
        ("AuthMethod", {"id": "i", "name": "n"}),
        ("ReadTextFileRequest", {"sessionId": "s", "path": "/a", "line": 3}),
    ),
    "own_v2": (
        ("StateUpdate", {"sessionUpdate": "state_update", "state": "running"}),
        ("IdleStateUpdate", {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
        ("ContentBlock", {"type": "text", "text": "hi"}),
        ("SessionUpdate", {"sessionUpdate": "tool_call_update", "toolCallId": "t"}),
    ),
}


@pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")
@pytest.mark.parametrize("source", BODIES)
def test_a_route_of_fastapi_takes_unions_and_classes_that_stand_for_several_as_its_body(
    subjects: Subjects, source: str
) -> None:
    """As the page on reading says: FastAPI takes for a body what is a record, and other types where `Body()` says so."""
    fastapi = pytest.importorskip("fastapi")
    testing = pytest.importorskip("fastapi.testclient")
    subject = subjects(source)
    app = fastapi.FastAPI()

    def same(body: Any) -> Any:
        return body

    for number, (name, _) in enumerate(BODIES[source]):
        type_ = getattr(subject.module, name)
        route = FunctionType(same.__code__, globals())
        route.__annotations__ = {"body": Annotated[type_, fastapi.Body()], "return": type_}
        app.post(f"/{number}", response_model_exclude_unset=True)(route)
    paths = app.openapi()["paths"]
    with testing.TestClient(app) as client:
        for number, (name, value) in enumerate(BODIES[source]):
            assert "parameters" not in paths[f"/{number}"]["post"], name
            answer = client.post(f"/{number}", json=value)
            assert (answer.status_code, answer.json()) == (200, value), name
            assert client.post(f"/{number}", json=[]).status_code == 422, name


def test_a_tool_is_made_of_a_class_and_its_arguments_are_read_back(own: Subject) -> None:
    class_ = own.module.ReadTextFileRequest
    tool = {
        "type": "function",
        "function": {
            "name": class_.__name__,
            "description": inspect.getdoc(class_),
            "parameters": json_schema(class_),
        },
    }
    parameters: Any = json.loads(json.dumps(tool))["function"]["parameters"]
    assert (parameters["type"], parameters["required"]) == ("object", ["sessionId", "path"])
    assert all("description" in found for found in parameters["properties"].values())
    arguments = '{"sessionId": "s", "path": "/a", "line": 3}'
    judge: Any = Draft202012Validator(parameters)
    judge.validate(json.loads(arguments))
    assert TypeAdapter[Any](class_).validate_json(arguments) == class_(session_id="s", path="/a", line=3)


def test_many_types_share_one_set_of_definitions(own: Subject) -> None:
    classes = [type_ for _, type_ in types(own) if isinstance(type_, type) and issubclass(type_, Record)]
    inputs: Any = [(type_, mode, TypeAdapter[Any](type_)) for type_ in classes for mode in MODES]
    _, document = TypeAdapter.json_schemas([((one.__name__, mode), mode, adapter) for one, mode, adapter in inputs])
    definitions = document["$defs"]
    assert {class_.__name__ for class_ in classes} <= definitions.keys()
    assert not [name for name in definitions if "__" in name or name.endswith(("-Input", "-Output"))]
