"""What a sender answers for: `encode` with `strict`."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from acpgen import ir
from bindings.instances import smallest
from bindings.subjects import SOURCES, Subject, Subjects, parameters
from jsonrpc_bindings.fields import put


@pytest.fixture(scope="session")
def own(subjects: Subjects) -> Subject:
    """Our own bindings of ACP v1, whose sets are closed and tolerated."""
    return subjects("own_v1")


@pytest.fixture(scope="session")
def open_(subjects: Subjects) -> Subject:
    """Our own bindings of ACP v2, whose sets are open."""
    return subjects("own_v2")


def refused(subject: Subject, value: Any) -> list[str]:
    """What a strict judgement says of a value, which is written without one."""
    assert subject.module.encode(value)
    with pytest.raises(subject.runtime.EncodeError) as caught:
        subject.module.encode(value, strict=True)
    assert caught.value.problems
    assert str(caught.value) == "; ".join(map(str, caught.value.problems))
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems
    return [str(problem) for problem in caught.value.problems]


def test_values_that_the_schema_does_not_name_are_refused_and_extensions_are_not(own: Subject, open_: Subject) -> None:
    def update(subject: Subject, status: str) -> Any:
        value = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": status}
        return subject.module.decode_as(subject.type("SessionUpdate"), value)

    for subject in (own, open_):
        (said,) = refused(subject, update(subject, "oops"))
        assert said.startswith("/status: 'oops' is not one of the known values 'c")
        for status in ("completed", "_oops"):
            written = subject.module.encode(update(subject, status))
            assert subject.module.encode(update(subject, status), strict=True) == written


def test_a_value_of_a_set_that_is_open_is_built_checked(own: Subject, open_: Subject) -> None:
    for subject in (own, open_):
        status = subject.type("ToolCallStatus")
        for good in ("completed", "_oops"):
            assert subject.module.decode_as(status, good, strict=True) == good
        assert subject.module.decode_as(status, "oops") == "oops"
        with pytest.raises(subject.runtime.DecodeError) as caught:
            subject.module.decode_as(status, "oops", strict=True)
        (problem,) = caught.value.problems
        assert (problem.pointer, problem.sentence.partition(" of")[0]) == ("", "'oops' is not one")


def test_a_record_is_built_checked_of_json_at_any_depth(own: Subject) -> None:
    value = {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFil": True}, "_vendor": 1}}
    module = own.module
    assert own.encoded(module.decode_as(module.InitializeRequest, value)) == value
    with pytest.raises(
        own.runtime.DecodeError,
        match=r"^/clientCapabilities/fs/readTextFil: no such field; did you mean 'read_text_file'",
    ):
        module.decode_as(module.InitializeRequest, value, strict=True)
    value["clientCapabilities"] = {"fs": {"readTextFile": True}, "_vendor": 1}
    assert own.encoded(module.decode_as("InitializeRequest", value, strict=True)) == value


def test_nothing_is_dropped_from_what_is_built_checked(own: Subject) -> None:
    value = {"protocolVersion": 1, "authMethods": [{"name": "n"}]}
    assert not own.module.decode_as(own.module.InitializeResponse, value).auth_methods
    with pytest.raises(own.runtime.DecodeError, match="/authMethods/0"):
        own.module.decode_as(own.module.InitializeResponse, value, strict=True)


def test_values_in_lists_and_maps_are_judged_at_their_places(subjects: Subjects) -> None:
    level = {"anyOf": [{"const": "low"}, {"const": "high"}, {"type": "string"}]}
    fields: dict[str, Any] = {
        "list": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/Level"}}},
        "map": {"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}]}},
        "either": {"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "array", "items": {"type": "string"}}]},
        "any": {},
    }
    found = subjects.small("named_levels", {"Level": level, "Thing": {"type": "object", "properties": fields}})
    bad = {"list": [["low"], ["high", "x"]], "map": {"a": None, "b": "y"}, "either": "z", "any": ["w"]}
    said = refused(found, found.module.decode_as(found.type("Thing"), bad))
    assert [one.split(":")[0] for one in said] == ["/list/1/1", "/map/b", "/either"]
    good = {"list": [["low"], ["high", "_x"]], "map": {"b": "low"}, "either": ["z"], "any": {"a": "b"}}
    assert found.module.encode(found.module.decode_as(found.type("Thing"), good), strict=True)


def test_a_string_that_a_branch_describes_is_named_beside_constants(subjects: Subjects) -> None:
    check = {"anyOf": [{"enum": ["tide", "reef"]}, {"type": "string", "pattern": "[*]$"}]}
    fields = {"check": check, "checks": {"anyOf": [{"type": "array", "items": check}, {"type": "null"}]}}
    found = subjects.small("described_texts", {"Checks": {"type": "object", "properties": fields}})
    value = found.module.decode_as(found.type("Checks"), {"check": "re*", "checks": ["tide", "ti*"]})
    assert found.module.encode(value, strict=True) == found.module.encode(value)


def test_variants_that_the_schema_does_not_name_are_refused(own: Subject) -> None:
    module, runtime = own.module, own.runtime

    def note(tag: str) -> Any:
        update = module.UnknownSessionUpdate(session_update=tag, metres=2.5)
        return runtime.Notification("session/update", module.SessionNotification(session_id="s", update=update))

    (said,) = refused(own, note("tide"))
    assert said.startswith(
        "/params/update/sessionUpdate: 'tide' is not one of the known values 'agent_message_chunk', "
    )
    assert module.encode(note("_tide"), strict=True) == module.encode(note("_tide"))
    with pytest.raises(runtime.EncodeError, match="no batches"):
        module.encode([note("_x"), note("tide")], strict=True)


def test_fields_that_the_schema_does_not_name_are_refused(own: Subject) -> None:
    request = own.module.ReadTextFileRequest(session_id="s", path="/a", extra={"lines": 3, "_vendor": 1})
    assert refused(own, request) == ["/lines: no such field; did you mean 'line'?"]
    message = own.runtime.Request(1, "fs/read_text_file", request, {"idd": 2, "_x": 1})
    assert refused(own, message) == [
        "/idd: no such field; did you mean 'id'?",
        "/params/lines: no such field; did you mean 'line'?",
    ]


def test_fields_are_free_where_the_schema_speaks_of_further_ones(subjects: Subjects) -> None:
    free = {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": True}
    typed = {**free, "additionalProperties": {"enum": ["low", "high"]}}
    found = subjects.small("free_fields", {"Free": free, "Typed": typed, "Plain": {**free, "additionalProperties": {}}})
    for name in ("Free", "Plain"):
        assert found.module.encode(found.type(name)(id="x", extra={"more": 1}), strict=True)
    assert found.module.encode(found.type("Typed")(id="x", extra={"more": "low"}), strict=True)


def test_fields_are_named_by_the_patterns_that_their_names_match(subjects: Subjects) -> None:
    schema = {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}}
    found = subjects.small("patterned_fields", {"Free": schema})
    assert found.module.encode(found.type("Free")(extra={"x-one": 1}), strict=True)
    assert refused(found, found.type("Free")(extra={"x-one": 1, "more": 1})) == ["/more: no such field"]


def test_what_decode_refuses_is_refused_before_it_is_sent(own: Subject) -> None:
    module, runtime = own.module, own.runtime
    request = module.ValueIdSetSessionConfigOptionRequest(session_id="s", config_id="c", value="v")
    request.unknown_fields["type"] = "boolean"
    for value in (request, runtime.Request(1, "session/set_config_option", request)):
        for strict in (False, True):
            with pytest.raises(runtime.EncodeError, match=r"excluded here|true or false is expected"):
                module.encode(value, strict=strict)
    path = module.ReadTextFileRequest(session_id="s", path="/a")
    put(path, "path", "a")
    for value in (path, runtime.Request(1, "fs/read_text_file", path), {"a": [path]}):
        with pytest.raises(runtime.EncodeError, match="/path: an absolute path is expected"):
            module.encode(value)
    assert refused(own, runtime.Request(1, "no/such", {})) == ["/method: the method 'no/such' is not known"]
    assert module.encode(runtime.Request(1, "_mine", {"a": 1}), strict=True)


def test_a_response_is_judged_by_its_method_or_by_the_class_of_its_result(own: Subject) -> None:
    module, runtime = own.module, own.runtime
    result = module.ReadTextFileResponse(content="c", extra={"contents": "d"})
    told = ["/result/contents: no such field; did you mean 'content'?"]
    assert refused(own, runtime.Response(1, result, "fs/read_text_file")) == told
    assert refused(own, runtime.Response(1, result)) == told
    assert refused(own, runtime.Response(1, {"content": "c"}))[0].endswith("the response does not name it")
    error = module.Error(code=-32603, message="m")
    assert module.encode(runtime.ErrorResponse(1, error), strict=True)
    assert module.encode(runtime.ErrorResponse(1, error, "fs/read_text_file"), strict=True)


@pytest.mark.parametrize("source", parameters(SOURCES))
def test_the_smallest_value_of_each_definition_may_be_sent(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    for record in subject.protocol.definitions.values():
        if isinstance(record, ir.Record) and not any(field.type == ir.Nothing() for field in record.fields):
            class_ = subject.type(record.name)
            value = subject.module.decode_as(class_, smallest(subject.meaning, record.name))
            if not isinstance(value, subject.runtime.Unknown):
                assert subject.module.encode(value, strict=True) == subject.module.encode(value)
