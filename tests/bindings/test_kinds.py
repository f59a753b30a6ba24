"""A union that is one record but for what a field says: one class stands for all variants, and builds the one that is meant."""

from __future__ import annotations

import inspect
import pickle
from copy import deepcopy
from typing import Any, Final

import pytest
from pydantic import TypeAdapter, ValidationError, create_model

from acpgen import ir
from acpgen.targets.python.fronts import has_front
from acpgen.targets.python.naming import name_all
from bindings.subjects import Subject, Subjects

REASONS: Final = {
    "end_turn": "EndTurnStopReason",
    "max_tokens": "MaxTokensStopReason",
    "max_turn_requests": "MaxTurnRequestsStopReason",
    "refusal": "RefusalStopReason",
    "cancelled": "CancelledStopReason",
    "error": "ErrorStopReason",
}
TAGS: Final = {"sessionUpdate": "state_update", "state": "idle"}


@pytest.fixture(scope="module")
def own(subjects: Subjects) -> Subject:
    return subjects("own_v2")


@pytest.mark.parametrize("reason", REASONS)
def test_the_variant_that_is_meant_is_built_and_goes_into_an_update(own: Subject, reason: str) -> None:
    v2 = own.module
    made = v2.IdleStateUpdate(stop_reason=reason, background=[])
    assert type(made) is getattr(v2, REASONS[reason])
    assert isinstance(made, v2.IdleStateUpdate)
    assert made == v2.IdleStateUpdate(stopReason=reason, background=[])
    sent = own.encoded(v2.UpdateSessionNotification(session_id="s", update=made))
    assert sent["update"] == {**TAGS, "stopReason": reason, "background": []}
    assert v2.decode_as(v2.SessionUpdate, sent["update"]) == made
    made.background = None
    assert own.encoded(made) == {**TAGS, "stopReason": reason, "background": None}
    assert pickle.loads(pickle.dumps(made)) == made == deepcopy(made) == made.model_copy()


@pytest.mark.parametrize("given", [{}, {"stop_reason": None}])
def test_without_a_reason_it_is_the_variant_that_has_none(own: Subject, given: dict[str, Any]) -> None:
    made = own.module.IdleStateUpdate(**given)
    assert type(made) is own.module.NoStopReason
    assert own.encoded(made) == {**TAGS, **({"stopReason": None} if given else {})}


def test_fields_of_one_variant_are_taken_with_its_reason_alone(own: Subject) -> None:
    v2 = own.module
    failure = v2.Error(code=-32603, message="no answer")
    assert v2.IdleStateUpdate(stop_reason="error", error=failure).error == failure
    with pytest.raises(ValidationError, match="no such field"):
        v2.IdleStateUpdate(stop_reason="end_turn", error=failure)
    assert own.encoded(v2.IdleStateUpdate(stop_reason="refusal", extra={"why": 1}))["why"] == 1


def test_what_the_schema_does_not_say_is_refused_with_the_nearest(own: Subject) -> None:
    anything: list[Any] = [True, 5, ["end_turn"], {}]
    wrong: list[tuple[Any, str]] = [
        ("end_trun", "did you mean 'end_turn'\\?"),
        ("_budget_spent", "there are 'end_turn', .*UnknownIdleStateUpdate"),
        *((one, "the schema has no such value") for one in anything),
    ]
    for reason, told in wrong:
        with pytest.raises(ValidationError, match=told) as caught:
            own.module.IdleStateUpdate(stop_reason=reason)
        assert caught.value.errors()[0]["loc"] == ("stop_reason",)


@pytest.mark.parametrize(
    "value",
    [
        {**TAGS},
        {**TAGS, "stopReason": None},
        {**TAGS, "stopReason": "refusal", "more": 1},
        {**TAGS, "stopReason": "error", "error": {"code": 1, "message": "m"}},
        {**TAGS, "stopReason": "_budget_spent", "spent": 1},
    ],
)
def test_as_a_type_it_is_the_union(own: Subject, value: dict[str, Any]) -> None:
    v2 = own.module

    held: Any = create_model("Held", idle=(v2.IdleStateUpdate, ...))
    read = v2.decode_as(v2.IdleStateUpdate, value)
    assert own.encoded(read) == value
    assert isinstance(read, v2.IdleStateUpdate)
    assert read == v2.decode_as("IdleStateUpdate", value) == v2.decode_as(v2.AnyIdleStateUpdate, value)
    assert read == held.model_validate({"idle": value}).idle
    assert v2.validate_as(v2.IdleStateUpdate, value) == v2.validate_as("IdleStateUpdate", value) == ()
    with pytest.raises(own.runtime.DecodeError):
        v2.decode_as(v2.IdleStateUpdate, {**value, "state": "running"})


def test_pydantic_and_inspect_describe_it(own: Subject) -> None:
    v2 = own.module
    one, other = (TypeAdapter(type_).json_schema() for type_ in (v2.IdleStateUpdate, v2.AnyIdleStateUpdate))
    assert one == other
    names = list(inspect.signature(v2.IdleStateUpdate).parameters)
    assert names[0] == "stop_reason"
    assert {"background", "meta", "error", "extra"} <= set(names)
    assert "error" not in inspect.signature(v2.EndTurnStopReason).parameters


def test_it_holds_for_no_other_class(own: Subject) -> None:
    v2 = own.module
    assert not isinstance(v2.RunningStateUpdate(), v2.IdleStateUpdate)
    assert not issubclass(v2.RunningStateUpdate, v2.IdleStateUpdate)
    assert issubclass(v2.UnknownIdleStateUpdate, v2.IdleStateUpdate)


def variant(tag: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"how": {"const": tag}, **fields}, "required": ["how"]}


PLAIN: Final = [variant("a-b"), variant("c d")]
NONE: Final = {"title": "none", "type": "object", "properties": {"how": {"type": "null"}}}
AT: Final = {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}


def test_of_any_schema_and_beside_a_type_of_that_name(subjects: Subjects) -> None:
    thing = {**AT, "anyOf": [*PLAIN, variant("e", self={"type": "string"}, cls={"type": "integer"}), NONE]}
    taken = {"type": "object", "properties": {"n": {"type": "integer"}}}
    subject = subjects.small(
        "kinds_small",
        {"Thing": thing, "AnyThing": taken, "List": {"type": "array", "items": {"$ref": "#/$defs/Thing"}}},
    )
    module = subject.module
    assert module.AnyThing(n=1).n == 1
    made = [module.Thing(how=how, at=1) for how in ("a-b", "c d", None)]
    made += [module.Thing(at=2), module.Thing(how="e", at=3, self="x", cls=1)]
    wanted = [
        {"at": 1, "how": "a-b"},
        {"at": 1, "how": "c d"},
        {"at": 1, "how": None},
        {"at": 2},
        {"at": 3, "how": "e", "self": "x", "cls": 1},
    ]
    assert [subject.encoded(one) for one in made] == wanted
    assert module.decode_as("List", wanted) == made
    assert module.decode_as(module.Thing, wanted[4]) == made[4]
    with pytest.raises(ValidationError, match="at\n"):
        module.Thing(how="e")


@pytest.mark.parametrize(
    "branches",
    [
        [variant("a"), variant("b")],  # the tag is not optional
        [variant("a", x={"type": "string"}), variant("b", y={"type": "string"}), NONE],  # they are different records
        [variant("a"), variant("b"), {**NONE, "properties": {"how": {"type": "null"}, "z": {"type": "string"}}}],
    ],
)
def test_other_unions_stay_types_alone(subjects: Subjects, branches: list[Any]) -> None:
    subject = subjects.small(f"kinds_not{len(repr(branches))}", {"Thing": {**AT, "anyOf": branches}})
    unions = [one for one in subject.protocol.definitions.values() if isinstance(one, ir.TaggedUnion)]
    assert not any(has_front(one, subject.protocol) for one in unions)
    assert not name_all(subject.protocol).fronts


def test_a_field_may_be_called_like_the_receiver_of_a_method(subjects: Subjects) -> None:
    fields = {"self": {"type": "string"}, "cls": {"type": "string"}}
    known = {"type": "object", "properties": {"k": {"const": "a"}, **fields}, "required": ["k"]}
    other = {
        "title": "other",
        "type": "object",
        "properties": {"k": {"type": "string"}, **fields},
        "required": ["k"],
        "not": {"properties": {"k": {"const": "a"}}, "required": ["k"]},
    }
    subject = subjects.small("kinds_self", {"U": {"anyOf": [known, other]}})
    value = {"k": "b", "self": "x", "cls": "y"}
    made = subject.module.UnknownU(**value)
    assert subject.encoded(made) == value
    assert subject.module.decode_as("U", value) == made
