"""The generated package as Python: constructing, matching, comparing, copying, importing."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from acpgen import ir
from bindings.instances import Chooser, Instances, smallest
from bindings.subjects import SOURCES, Subject, Subjects, parameters, same
from jsonrpc_bindings import UNSET, DecodeError, EncodeError


@pytest.fixture(scope="session")
def v1(subjects: Subjects) -> Subject:
    """The bindings of ACP v1."""
    return subjects("acp_v1")


@pytest.fixture(scope="session")
def kept(subjects: Subjects) -> Subject:
    """Our own bindings of ACP v1, which keep unknown variants."""
    return subjects("own_v1")


# --- constructing ----------------------------------------------------------------------------------------------------


def test_a_variant_writes_its_tag_though_nobody_set_it(v1: Subject) -> None:
    assert v1.encoded(v1.module.TextContent(text="hi")) == {"type": "text", "text": "hi"}
    chunk = v1.module.AgentMessageChunk(content=v1.module.TextContent(text="hi"))
    note = v1.runtime.Notification("session/update", v1.module.SessionNotification(session_id="s", update=chunk))
    assert v1.encoded(note) == {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "s",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}},
        },
    }


def test_both_names_of_a_field_construct_and_only_the_wire_name_decodes(v1: Subject) -> None:
    assert v1.encoded(v1.module.CancelNotification(session_id="s")) == {"sessionId": "s"}
    assert v1.encoded(v1.module.CancelNotification(sessionId="s")) == {"sessionId": "s"}
    assert v1.problems("CancelNotification", {"session_id": "s"})[0].sentence.startswith(
        "the field 'sessionId' is required"
    )


@pytest.mark.parametrize("source", parameters(SOURCES))
def test_what_is_constructed_from_the_smallest_value_equals_what_is_decoded(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    built = 0
    for record in subject.protocol.definitions.values():
        if not isinstance(record, ir.Record) or any(field.type == ir.Nothing() for field in record.fields):
            continue
        value = smallest(subject.meaning, record.name)
        found = subject.module.decode_as(subject.type(record.name), value)
        constants = {
            field.name for field in record.fields if isinstance(field.type, ir.Constant) and len(field.type.values) == 1
        }
        names = subject.names.fields[record.name]
        given = {names[field.name]: getattr(found, names[field.name]) for field in record.fields if field.name in value}
        again = subject.type(record.name)(
            **{name: one for name, one in given.items() if name not in {names[c] for c in constants}}
        )
        assert again == found
        assert same(subject.encoded(again), value), record.name
        built += 1
    assert built > 5


def test_omitted_null_and_value_are_three_things(v1: Subject) -> None:
    info = v1.module.SessionInfoUpdate
    assert v1.encoded(info()) == {"sessionUpdate": "session_info_update"}
    assert v1.encoded(info(title=None)) == {"sessionUpdate": "session_info_update", "title": None}
    assert v1.encoded(info(title="t")) == {"sessionUpdate": "session_info_update", "title": "t"}
    assert info().title is UNSET
    assert info(title=None).title is None
    written = info()
    written.title = None
    assert v1.encoded(written)["title"] is None
    written.title = UNSET
    assert v1.encoded(written) == {"sessionUpdate": "session_info_update"}


def test_what_does_not_fit_is_refused_when_constructed(v1: Subject) -> None:
    text, chunk = v1.module.TextContent, v1.module.AgentMessageChunk
    builds: list[Callable[[], Any]] = [
        lambda: text(text=5),
        lambda: text(),
        lambda: text(text="x", type="image"),
        lambda: chunk(content=5),
        lambda: chunk(content=chunk(content=text(text="x"))),
        lambda: v1.module.PlanEntry(content="c", priority="new", status="pending"),
        lambda: v1.module.NewSessionRequest(cwd="/w", mcp_servers=None),
    ]
    for build in builds:
        with pytest.raises(DecodeError):
            build()


def test_what_does_not_fit_is_refused_when_assigned(v1: Subject) -> None:
    block = v1.module.TextContent(text="hi")
    for name, bad in (("text", 5), ("text", None), ("text", UNSET), ("type", "image"), ("meta", 5)):
        with pytest.raises(DecodeError):
            setattr(block, name, bad)
    block.meta = {"a": 1}
    assert v1.encoded(block) == {"type": "text", "text": "hi", "_meta": {"a": 1}}


def test_an_attribute_that_a_record_does_not_have_is_refused_when_assigned(kept: Subject) -> None:
    capabilities = kept.module.AgentCapabilities()
    for name, near in (
        ("load_sesion", "load_session"),
        ("loadSession", "load_session"),
        ("loadSesion", "load_session"),
    ):
        with pytest.raises(AttributeError, match=f"did you mean '{near}'"):
            setattr(capabilities, name, True)
    for name in ("extra", "copy", "more"):
        with pytest.raises(
            AttributeError, match="no such field; what the schema does not know goes into 'unknown_fields'"
        ):
            setattr(capabilities, name, {"x": 1})
    assert kept.encoded(capabilities) == {}
    capabilities.unknown_fields["more"] = 2
    assert kept.encoded(capabilities) == {"more": 2}
    came = kept.module.decode_as(kept.type("AgentCapabilities"), {"more": 1})
    came.unknown_fields["more"] = 2
    assert kept.encoded(came) == {"more": 2}
    unknown = kept.module.UnknownContentBlock(type="_chart")
    unknown.unknown_fields["points"] = [1]
    assert unknown.payload == {"type": "_chart", "points": [1]}


def test_a_class_of_ones_own_has_methods_and_properties_that_are_assigned(kept: Subject) -> None:
    class Own(kept.module.TextContent):  # type: ignore[name-defined, misc]
        @property
        def words(self) -> list[str]:
            return str(self.text).split()

        @words.setter
        def words(self, words: list[str]) -> None:
            self.text = " ".join(words)

    block = Own(text="a")
    block.words = ["b", "c"]
    assert (block.words, kept.encoded(block)) == (["b", "c"], {"type": "text", "text": "b c"})
    with pytest.raises(AttributeError, match="no such field"):
        block.length = 7


def test_fields_of_a_class_of_ones_own_are_sent_wherever_it_stands(kept: Subject) -> None:
    class Own(kept.module.TextContent):  # type: ignore[name-defined, misc]
        rank: int = 3

    sent = {"type": "text", "text": "a", "rank": 4}
    block = Own(text="a", rank=4)
    assert kept.encoded(block) == sent
    prompt = kept.module.PromptRequest(session_id="s", prompt=[block, kept.module.TextContent(text="b")])
    assert kept.encoded(prompt)["prompt"][0] == sent
    chunk = kept.module.AgentMessageChunk(content=block)
    assert kept.encoded(kept.module.SessionNotification(session_id="s", update=chunk))["update"]["content"] == sent


def test_a_class_of_ones_own_may_be_the_first_that_asks_for_the_types_of_its_base(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from acp_bindings import v1\nclass Own(v1.ClientCapabilities):\n    rank: int = 1\n"
        "made = Own(rank=2)\nmade.fs.read_text_file = True\nprint(v1.encode(made).decode())\n"
    )
    folder = Path(__file__).parents[2] / "generated" / "python" / "acp-bindings"
    done = subprocess.run(
        [sys.executable, "own.py"], cwd=tmp_path, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ('{"rank":2,"fs":{"readTextFile":true}}\n', "")


def test_what_is_a_field_is_not_written_from_unknown_fields(kept: Subject) -> None:
    for name in ("text", "type"):
        text = kept.module.TextContent(text="a")
        text.unknown_fields[name] = "other"
        for value in (text, kept.module.AgentMessageChunk(content=text)):
            with pytest.raises(EncodeError, match=f"'{name}' is a field of it"):
                kept.module.encode(value)
    capabilities = kept.module.AgentCapabilities()
    capabilities.unknown_fields["loadSession"] = "other"
    with pytest.raises(EncodeError, match="/loadSession: true or false is expected"):
        kept.module.encode(capabilities)


def test_unknown_fields_are_of_the_type_that_the_schema_gives_them(subjects: Subjects) -> None:
    typed = {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    sealed = {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": False}
    found = subjects.small("typed_unknown_fields", {"Typed": typed, "Sealed": sealed})
    for name, value, said in (
        ("Typed", "x", "/more: an integer is expected"),
        ("Sealed", 1, "'more' is not allowed here"),
    ):
        record = found.type(name)(id="a")
        record.unknown_fields["more"] = value
        with pytest.raises(EncodeError, match=said):
            found.module.encode(record)


def test_a_variant_without_a_tag_is_not_written_with_the_tag_of_another_whose_fields_it_lacks(kept: Subject) -> None:
    module = kept.module
    server = module.McpServerStdio(name="n", command="/c", args=[], env=[])
    request = module.NewSessionRequest(cwd="/", mcp_servers=[server])
    plain = kept.encoded(request)
    held = request.mcp_servers[0]
    held.unknown_fields["type"] = "http"
    with pytest.raises(EncodeError, match="/mcpServers/0: the field 'url' is required"):
        module.encode(request)
    held.unknown_fields.clear()
    held.unknown_fields["more"] = 1
    plain["mcpServers"][0]["more"] = 1
    assert kept.encoded(request) == plain


def test_a_field_that_is_deleted_is_omitted_and_a_required_one_is_not_deleted(kept: Subject) -> None:
    text = kept.module.TextContent(text="a", meta={"b": 1}, extra={"c": 1})
    for name in ("text", "type"):
        with pytest.raises(AttributeError, match=f"the field '{name}' is required"):
            delattr(text, name)
    del text.meta
    del text.unknown_fields["c"]
    assert (text.meta, kept.encoded(text)) == (None, {"type": "text", "text": "a"})


def test_a_plain_object_that_is_passed_or_assigned_is_read_as_json_of_the_schema(kept: Subject) -> None:
    request = kept.module.InitializeRequest(protocol_version=1)
    value = {"fs": {"readTextFile": True}, "terminal": True}
    request.client_capabilities = value
    built = kept.module.InitializeRequest(protocol_version=1, client_capabilities=value)
    assert request == built
    assert built.client_capabilities.fs.read_text_file is True
    assert kept.encoded(request) == {"protocolVersion": 1, "clientCapabilities": value}
    with pytest.raises(DecodeError, match="/client_capabilities/fs/readTextFile: true or false is expected"):
        request.client_capabilities = {"fs": {"readTextFile": 1}}


def test_one_field_by_both_its_names_is_refused(kept: Subject) -> None:
    with pytest.raises(DecodeError, match="this is 'load_session', which is given as well"):
        kept.module.AgentCapabilities(load_session=True, loadSession=False)
    with pytest.raises(DecodeError, match="this is 'session_update', which is given as well"):
        kept.module.UnknownSessionUpdate(session_update="_a", sessionUpdate="_b")


def test_what_was_smuggled_into_a_list_is_judged_when_it_is_written(v1: Subject) -> None:
    prompt = v1.module.PromptRequest(session_id="s", prompt=[v1.module.TextContent(text="hi")])
    prompt.prompt.append({"type": "text", "text": "plain"})
    assert v1.encoded(prompt)["prompt"][1] == {"type": "text", "text": "plain"}
    for wrong in ({"type": "text"}, {"type": "text", "text": 5}, 5, object(), float("nan")):
        prompt.prompt[1] = wrong
        with pytest.raises(EncodeError):
            v1.module.encode(prompt)


def test_an_unknown_variant_is_refused_when_constructed_with_a_known_tag(kept: Subject) -> None:
    unknown = kept.module.UnknownContentBlock
    block = unknown(type="_vendor.chart", points=[1, 2])
    assert block.is_extension
    assert block.payload == {"type": "_vendor.chart", "points": [1, 2]}
    chunk = kept.module.AgentMessageChunk(content=block)
    assert kept.encoded(chunk)["content"] == block.payload
    for tag in ("text", "image", "resource_link"):
        with pytest.raises(DecodeError, match="is known and has a class of its own"):
            unknown(type=tag, text="x")
    with pytest.raises(DecodeError):
        unknown(points=[1])


def test_unknown_fields_can_be_set_and_read(v1: Subject) -> None:
    block = v1.module.TextContent(text="hi", extra={"x-vendor": {"a": 1}})
    assert block.unknown_fields == {"x-vendor": {"a": 1}}
    assert v1.encoded(block) == {"type": "text", "text": "hi", "x-vendor": {"a": 1}}
    block.unknown_fields["y"] = 2
    assert v1.encoded(block)["y"] == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"lines": 3}, "/lines: no such field; did you mean 'line'?"),
        ({"sesionId": "s"}, "/sesionId: no such field; did you mean 'session_id'?"),
        ({"_vendor": 1}, "/_vendor: no such field; what the schema does not know goes into 'extra'"),
        ({"extra": {"line": 3}}, "/line: this is a field of the record: pass it by its name, not in 'extra'"),
        ({"extra": {"session_id": "t"}}, "/session_id: this is a field of the record"),
        ({"extra": [1]}, "/extra: an object with the further fields is needed here"),
        ({"extra": {1: 2}}, "/extra: an object with the further fields is needed here"),
    ],
)
def test_a_constructor_takes_fields_alone_and_says_which_one_is_meant(
    v1: Subject, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        v1.module.ReadTextFileRequest(session_id="s", path="/a", **given)
    assert told in str(caught.value)


def test_decoding_keeps_what_a_constructor_does_not_take(v1: Subject) -> None:
    value = {"sessionId": "s", "path": "/a", "lines": 3, "extra": 4}
    found = v1.module.decode_as(v1.module.ReadTextFileRequest, value)
    assert v1.encoded(found) == value
    found.unknown_fields["lines"] = 5
    assert v1.encoded(found)["lines"] == 5


def test_a_copy_takes_changes_of_fields_by_either_name(v1: Subject) -> None:
    request = v1.module.ReadTextFileRequest(session_id="s", path="/a")
    for name in ("session_id", "sessionId"):
        assert v1.encoded(request.__replace__(**{name: "t"})) == {"sessionId": "t", "path": "/a"}
    with pytest.raises(AttributeError, match="did you mean 'line'"):
        request.__replace__(lines=3)
    with pytest.raises(DecodeError, match="an integer or null is expected"):
        request.__replace__(line="three")


def test_a_record_that_is_made_of_further_fields_takes_them(subjects: Subjects) -> None:
    typed = {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    named = {"type": "object", "properties": {"extra": {"type": "string"}}}
    found = subjects.small("further_fields", {"Typed": typed, "Named": named})
    assert found.encoded(found.type("Typed")(id="x", extra={"b": 2})) == {"id": "x", "b": 2}
    with pytest.raises(DecodeError, match="/a: an integer is expected, not 'x'"):
        found.type("Typed")(extra={"a": "x"})
    assert found.encoded(found.type("Named")(extra_="x", extra={"more": 1})) == {"extra": "x", "more": 1}


def test_no_door_is_named_where_there_is_none(subjects: Subjects) -> None:
    sealed = {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": False}
    found = subjects.small("sealed_record", {"Sealed": sealed})
    for make in (lambda: found.type("Sealed")(zzzz=1), lambda: setattr(found.type("Sealed")(), "zzzz", 1)):
        with pytest.raises((DecodeError, AttributeError), match=r"no such field$"):
            make()


# --- what was set is sent ----------------------------------------------------------------------------------------------


def test_what_is_set_inside_a_default_is_sent_and_what_is_not_touched_is_not(kept: Subject) -> None:
    capabilities, response = kept.module.ClientCapabilities(), kept.module.InitializeResponse(protocol_version=1)
    assert (kept.encoded(capabilities), kept.encoded(response)) == ({}, {"protocolVersion": 1})
    capabilities.fs.read_text_file = True
    assert kept.encoded(capabilities) == {"fs": {"readTextFile": True}}
    response.auth_methods.append(kept.module.AuthMethodAgent(id="a", name="n"))
    response.agent_capabilities.session_capabilities.unknown_fields["x"] = [1]
    sent = {
        "protocolVersion": 1,
        "authMethods": [{"id": "a", "name": "n"}],
        "agentCapabilities": {"sessionCapabilities": {"x": [1]}},
    }
    for one in (response, copy.copy(response), copy.deepcopy(response)):
        assert kept.encoded(one) == sent
    response.agent_capabilities.session_capabilities.unknown_fields["x"].append(2)
    sent["agentCapabilities"]["sessionCapabilities"]["x"] = [1, 2]  # type: ignore[index]
    answer = kept.runtime.Response(1, response)
    assert kept.encoded(answer)["result"] == sent
    assert repr(response) == "InitializeResponse(protocol_version=1)"


def test_a_value_set_to_the_default_is_sent_too(kept: Subject) -> None:
    request = kept.module.InitializeRequest(protocol_version=1)
    request.client_capabilities.fs.write_text_file = False
    assert kept.encoded(request)["clientCapabilities"] == {"fs": {"writeTextFile": False}}


def test_what_is_set_is_sent_from_any_depth_and_any_container(kept: Subject) -> None:
    capabilities = kept.module.ClientCapabilities()
    prompt = kept.module.PromptRequest(session_id="s", prompt=[], meta={"of": [capabilities]})
    prompt.unknown_fields["more"] = {"as well": capabilities}
    capabilities.auth.terminal = True
    sent = {"auth": {"terminal": True}}
    assert kept.encoded(prompt) == {"sessionId": "s", "prompt": [], "_meta": {"of": [sent]}, "more": {"as well": sent}}


def test_what_a_peer_left_out_is_sent_once_it_is_set(kept: Subject) -> None:
    nested: dict[str, Any] = {"agentCapabilities": {"promptCapabilities": {}}}
    cases: tuple[dict[str, Any], ...] = ({}, {"authMethods": []}, {"agentCapabilities": {}}, nested)
    for came in cases:
        value = {"protocolVersion": 1, **came}
        response = kept.module.decode_as(kept.type("InitializeResponse"), value)
        assert kept.encoded(response) == value
        response.agent_capabilities.prompt_capabilities.image = True
        assert kept.encoded(response) == {**value, "agentCapabilities": {"promptCapabilities": {"image": True}}}


def test_defaults_that_a_field_has_of_its_own_are_sent_with_what_is_set_in_them(subjects: Subjects) -> None:
    inner = {"type": "object", "properties": {"a": {"type": "integer", "default": 0}, "b": {"type": "string"}}}
    fields: dict[str, Any] = {
        "other": {"$ref": "#/$defs/Inner", "default": {"a": 1}},
        "same": {"$ref": "#/$defs/Inner", "default": {"a": 0}},
        "list": {"type": "array", "items": {"$ref": "#/$defs/Inner"}, "default": []},
        "next": {"$ref": "#/$defs/Outer"},
    }
    outer: dict[str, Any] = {"type": "object", "properties": fields}
    found = subjects.small("changed_defaults", {"Inner": inner, "Outer": outer})
    value = found.type("Outer")()
    value.other.b = value.same.b = "x"
    assert value.other.a == 1
    value.list_.append(found.type("Inner")(b="y"))
    sent = {"other": {"a": 1, "b": "x"}, "same": {"b": "x"}, "list": [{"b": "y"}]}
    assert found.encoded(value) == sent
    assert found.encoded(found.type("Outer")(next=value)) == {"next": sent}
    value.list_.clear()
    assert "list" not in found.encoded(value)


def test_a_default_that_cannot_be_made_is_left_missing(subjects: Subjects) -> None:
    def holder(name: str, default: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"in": {"$ref": f"#/$defs/{name}", "default": default}}}

    definitions: dict[str, Any] = {
        "Loop": holder("Back", {}),
        "Back": holder("Loop", {}),
        "Strict": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        "Union": {"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
        "A": {"type": "object", "properties": {"t": {"const": "a"}}, "required": ["t"]},
        "B": {"type": "object", "properties": {"t": {"const": "b"}}, "required": ["t"]},
        "ToStrict": holder("Strict", {}),
        "ToUnion": holder("Union", {"t": "a"}),
    }
    found = subjects.small("unmade_defaults", definitions)
    for name in ("Loop", "ToStrict"):
        assert found.encoded(found.module.decode_as(found.type(name), {})) == {}
        assert found.type(name)().in_ is UNSET
    assert found.encoded(found.module.decode_as(found.type("ToUnion"), {})) == {}
    assert found.type("ToUnion")().in_ == found.type("A")()


def test_params_that_were_absent_are_written_once_something_in_a_default_is_set(subjects: Subjects) -> None:
    options = {"type": "object", "properties": {"deep": {"type": "boolean"}}}
    fields: dict[str, Any] = {"options": {"$ref": "#/$defs/Options", "default": {}}}
    request: dict[str, Any] = {"type": "object", "properties": fields, "x-method": "look", "x-side": "agent"}
    found = subjects.small("absent_defaults", {"Options": options, "LookRequest": request})
    message = found.module.decode({"jsonrpc": "2.0", "id": 1, "method": "look"}, sender="client")
    assert "params" not in found.encoded(message)
    message.params.options.deep = True
    assert found.encoded(message)["params"] == {"options": {"deep": True}}


# --- matching --------------------------------------------------------------------------------------------------------


TOLD = """
def told(message):
    match v1.decode(message, sender="agent", pending={1: "session/new"}):
        case Notification(params=v1.SessionNotification(update=v1.AgentMessageChunk(content=v1.TextContent(text=text)))):
            return f"text {text}"
        case Notification(params=v1.SessionNotification(update=v1.AgentMessageChunk(content=Unknown(tag=tag)))):
            return f"unknown content {tag}"
        case Notification(params=v1.SessionNotification(update=Unknown(tag=tag))):
            return f"unknown update {tag}"
        case Request(id, "session/request_permission", v1.RequestPermissionRequest(options=[first, *_])):
            return f"asked {id} {first.name}"
        case Response(result=v1.NewSessionResponse(session_id=session)):
            return f"new {session}"
        case ErrorResponse(error=error):
            return f"failed {error.code}"
"""


def test_match_tells_messages_and_variants_apart(kept: Subject) -> None:
    names: dict[str, Any] = {**vars(kept.runtime), "v1": kept.module}
    exec(TOLD, names)
    told = names["told"]

    def update(value: Any) -> Any:
        return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": value}}

    chunk = {"sessionUpdate": "agent_message_chunk"}
    ask = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "t"},
        "options": [{"optionId": "o", "name": "Yes", "kind": "allow_once"}],
    }
    assert told(update({**chunk, "content": {"type": "text", "text": "hi"}})) == "text hi"
    assert told(update({**chunk, "content": {"type": "_chart"}})) == "unknown content _chart"
    assert told(update({"sessionUpdate": "mood"})) == "unknown update mood"
    assert told({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": ask}) == "asked 7 Yes"
    assert told({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}) == "new s"
    assert told({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "m"}}) == "failed -32603"


# --- values ----------------------------------------------------------------------------------------------------------


def some_values(subject: Subject) -> Iterator[tuple[str, Any]]:
    """A few decoded values of every definition."""
    instances = Instances(subject.meaning)
    for name in subject.protocol.definitions:
        for index in range(3):
            value = instances.valid(Chooser((name, index)), name)
            if subject.meaning.accepts(name, value):
                yield name, subject.module.decode_as(subject.type(name), value)


@pytest.mark.parametrize("source", ["acp_v1_keep", "acp_v2", "mcp_november", "own_v2"])
def test_equality_copies_and_pickles_keep_everything(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    seen = 0
    for name, value in some_values(subject):
        written = subject.module.encode(value)
        for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert again == value, name
            assert subject.module.encode(again) == written
        seen += 1
    assert seen > 200


def test_messages_compare_and_survive_copies(v1: Subject) -> None:
    message: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "session/new",
        "params": {"cwd": "/w", "mcpServers": []},
        "x": [1],
    }
    found = v1.module.decode(message, sender="client")
    again = v1.module.decode(message, sender="client")
    assert found == again
    assert found != v1.module.decode({**message, "id": 2}, sender="client")
    for one in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert one == found
        assert same(v1.encoded(one), message)


def test_the_missing_value_stays_itself_when_copied() -> None:
    assert copy.copy(UNSET) is UNSET
    assert copy.deepcopy(UNSET) is UNSET
    assert pickle.loads(pickle.dumps(UNSET)) is UNSET


def test_a_value_shows_itself_in_words(v1: Subject) -> None:
    assert repr(v1.module.CancelNotification(session_id="s")) == "CancelNotification(session_id='s')"


# --- importing -------------------------------------------------------------------------------------------------------


def test_importing_and_using_the_package_needs_its_run_time_and_two_parsers_alone(subjects: Subjects) -> None:
    v1 = subjects("acp_v1")
    program = f"""
import sys
import {v1.top}.api as v1
line = v1.encode(v1.TextContent(text="hi"))
v1.decode(b'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":1}}}}', sender="client")
foreign = {{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names) - {{"{v1.top}", "__main__"}}
print(*sorted(name for name in foreign if not name.startswith("_")))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(subjects.folder)!r}); exec({program!r})"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    known = {"jiter", "jsonrpc_bindings", "msgspec", "typing_extensions"}
    assert set(done.stdout.split()) <= known
    assert not done.stderr


def test_each_module_can_be_the_first_that_is_imported(subjects: Subjects) -> None:
    v1 = subjects("acp_v1")
    for module in ("models", "methods"):
        done = subprocess.run(
            [
                sys.executable,
                "-I",
                "-c",
                f"import sys; sys.path.insert(0, {str(subjects.folder)!r}); import {v1.top}.api.{module}",
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("source", parameters(SOURCES))
def test_everything_that_the_package_exports_is_there(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    exported = subject.module.__all__
    assert len(set(exported)) == len(exported)
    assert all(hasattr(subject.module, name) for name in exported)
    assert set(subject.names.classes.values()) <= set(exported)
    for name in subject.names.classes.values():
        adapter_type = getattr(subject.module, name)
        assert adapter_type is not None
