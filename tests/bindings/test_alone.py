"""A record that is a variant and stands alone as well is one class: its tag is on the wire where it is a variant, and only there."""

from __future__ import annotations

from typing import Any, Final

import pytest

from acpgen.targets.python.alone import shared_bodies
from bindings.subjects import Subject, Subjects, parameters

TAG: Final = {"sessionUpdate": "tool_call_update"}
BODY: Final = {"toolCallId": "t", "title": "Read"}


@pytest.fixture(scope="module", params=parameters(["own_v1", "own_v2", "own_unstable_v1", "acp_v2"]))
def subject(request: pytest.FixtureRequest, subjects: Subjects) -> Subject:
    return subjects(request.param)


def asked(subject: Subject, call: Any) -> Any:
    """A place where the record stands alone."""
    if subject.name.endswith("v1"):
        return subject.module.RequestPermissionRequest(session_id="s", tool_call=call, options=[])
    return subject.module.ToolCallPermissionSubject(tool_call=call)


def notification(subject: Subject) -> Any:
    return getattr(subject.module, "SessionNotification", None) or subject.module.UpdateSessionNotification


def place(subject: Subject) -> Any:
    return (
        subject.module.RequestPermissionRequest
        if subject.name.endswith("v1")
        else subject.module.ToolCallPermissionSubject
    )


def whole(subject: Subject, call: Any) -> dict[str, Any]:
    v1: dict[str, Any] = {"sessionId": "s", "options": []}
    return {**v1, "toolCall": call} if subject.name.endswith("v1") else {"type": "tool_call", "toolCall": call}


def test_it_goes_into_an_update_as_it_is(subject: Subject) -> None:
    module = subject.module
    call = module.ToolCallUpdate(tool_call_id="t", title="Read")
    made = notification(subject)(session_id="s", update=call)
    wanted = {"sessionId": "s", "update": {**TAG, **BODY}}
    assert subject.encoded(made) == wanted
    read = module.decode_as(type(made), wanted)
    assert read == made
    assert type(read.update) is module.ToolCallUpdate
    assert read.update.session_update == "tool_call_update"
    assert list(subject.encoded(made)["update"]) == list(wanted["update"])
    assert made.model_dump(mode="json")["update"] == wanted["update"]
    assert made.model_dump(by_alias=False)["update"]["session_update"] == "tool_call_update"
    assert call.model_fields_set == {"tool_call_id", "title"}
    read.update = call
    assert subject.encoded(read) == wanted
    assert module.encode(made, strict=True) == module.encode(made)


def test_it_stands_alone_without_the_tag(subject: Subject) -> None:
    module = subject.module
    made = asked(subject, module.ToolCallUpdate(tool_call_id="t", title="Read"))
    assert subject.encoded(made) == whole(subject, BODY)
    assert module.decode_as(type(made), whole(subject, BODY)) == made
    assert module.encode(made, strict=True) == module.encode(made)


def test_what_came_in_an_update_is_asked_about_without_the_tag(subject: Subject) -> None:
    module = subject.module
    update = module.decode_as(module.SessionUpdate, {**TAG, **BODY, "more": 1})
    assert subject.encoded(update) == {**TAG, **BODY, "more": 1}
    assert subject.encoded(asked(subject, update)) == whole(subject, {**BODY, "more": 1})
    assert subject.encoded(update) == {**TAG, **BODY, "more": 1}


@pytest.mark.parametrize("stray", ["tool_call_update", "other", 5, None, {"a": [1]}])
def test_where_it_stands_alone_the_tag_is_a_field_like_any_unknown_one(subject: Subject, stray: Any) -> None:
    module = subject.module
    value = whole(subject, {**BODY, "sessionUpdate": stray})
    read = module.decode_as(place(subject), value)
    assert subject.encoded(read) == value
    moved = module.decode_as(module.SessionUpdate, {**TAG, **BODY})
    assert read.tool_call.session_update == moved.session_update
    sent = notification(subject)(session_id="s", update=read.tool_call)
    assert subject.encoded(sent)["update"] == {**TAG, **BODY}
    alone = module.decode_as(module.ToolCallUpdate, {**BODY, "sessionUpdate": stray})
    assert subject.encoded(alone) == {**BODY, "sessionUpdate": stray}


def test_a_wrong_tag_cannot_be_constructed(subject: Subject) -> None:
    with pytest.raises(ValueError, match="tool_call_update"):
        subject.module.ToolCallUpdate(tool_call_id="t", session_update="other")


def test_the_variant_is_a_type_that_asks_for_the_tag(subject: Subject) -> None:
    module = subject.module
    read = module.decode_as("SessionToolCallUpdate", {**TAG, **BODY})
    assert type(read) is module.ToolCallUpdate
    assert subject.encoded(read) == {**TAG, **BODY}
    assert subject.problems("SessionToolCallUpdate", BODY)


def test_errors_have_their_places(subject: Subject) -> None:
    found = subject.problems("SessionUpdate", {**TAG, "toolCallId": 5})
    assert [problem.pointer for problem in found] == ["/toolCallId"]
    with pytest.raises(subject.runtime.DecodeError) as caught:
        subject.module.decode_as(place(subject), whole(subject, {"toolCallId": 5, "sessionUpdate": 1}), lenient=False)
    assert [problem.pointer for problem in caught.value.problems] == ["/toolCall/toolCallId"]


A: Final = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def branch(tag: str, name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"k": {"const": tag}}, "required": ["k"], "$ref": f"#/$defs/{name}"}


HOLDER: Final = {
    "type": "object",
    "properties": {
        "one": {"$ref": "#/$defs/A"},
        "list": {"type": "array", "items": {"$ref": "#/$defs/A"}},
        "map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/A"}},
        "none": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
        "either": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]},
        "variants": {"type": "array", "items": {"$ref": "#/$defs/U"}},
        "variantMap": {"type": "object", "additionalProperties": {"$ref": "#/$defs/U"}},
    },
}


def small(**others: Any) -> dict[str, Any]:
    other = {"type": "object", "properties": {"b": {"type": "string"}}}
    return {"A": A, "B": other, "Holder": HOLDER, "U": {"oneOf": [branch("a", "A"), branch("b", "B")]}, **others}


def test_at_every_depth(subjects: Subjects) -> None:
    subject = subjects.small("alone", small())
    module = subject.module
    assert [one.body for one in shared_bodies(subject.protocol).values()] == ["A"]
    a = module.A(a=1)
    b = module.decode_as(module.U, {"k": "a", "a": 2})
    holder = module.Holder(one=a, list=[a, b], map={"x": b}, none=b, either=b, variants=[a], variant_map={"y": a})
    holder.variants.append(module.A(a=3))
    holder.list_.append(a)
    wanted = {
        "one": {"a": 1},
        "list": [{"a": 1}, {"a": 2}, {"a": 1}],
        "map": {"x": {"a": 2}},
        "none": {"a": 2},
        "either": {"a": 2},
        "variants": [{"k": "a", "a": 1}, {"k": "a", "a": 3}],
        "variantMap": {"y": {"k": "a", "a": 1}},
    }
    assert subject.encoded(holder) == wanted
    assert module.decode_as(module.Holder, wanted) == holder
    assert subject.encoded(module.decode_as(module.Holder, wanted)) == wanted


def test_a_body_of_two_variants_or_of_two_unions_has_classes_beside_it(subjects: Subjects) -> None:
    two = small(U={"oneOf": [branch("a", "A"), branch("c", "A"), branch("b", "B")]})
    unions = small(V={"oneOf": [branch("x", "A"), branch("b", "B")]})
    closed = small(A={**A, "additionalProperties": False})
    for index, definitions in enumerate([two, unions, closed]):
        assert not shared_bodies(subjects.small(f"alone_not{index}", definitions).protocol)
