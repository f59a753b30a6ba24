"""Records: constructors, assignments, what was omitted, unknown fields, copies."""

from __future__ import annotations

import copy
import inspect
import pickle
from enum import StrEnum
from typing import Any

import pytest

from bindings import notes_protocol
from bindings.notes_protocol import (
    Abilities,
    Body,
    BodyUpdate,
    Closed,
    Everything,
    Picture,
    Progress,
    Text,
    UnknownPart,
)
from jsonrpc_bindings import Request, construct, to_builtins
from jsonrpc_bindings.errors import LIMIT, DecodeError, EncodeError
from jsonrpc_bindings.records import UNSET
from jsonrpc_bindings.writers import to_plain
from test_doubling import ending

loose: Any = notes_protocol
"""For calls that a type checker refuses."""


def test_an_omitted_field_reads_as_its_default_and_stays_omitted() -> None:
    one = Text(text="a")
    assert (one.mime_type, one.title, one.type) == (None, UNSET, "text")
    assert to_plain(one) == {"type": "text", "text": "a"}
    assert Picture(data="").size == 1


def test_what_is_set_is_sent() -> None:
    assert to_plain(Text(text="a", mime_type=None, title=None)) == {
        "type": "text",
        "text": "a",
        "mimeType": None,
        "title": None,
    }
    assert to_plain(Picture(data="", size=1)) == {"type": "picture", "data": "", "size": 1}


class Colour(StrEnum):
    RED = "red"


def test_a_record_as_plain_json_has_what_is_set_by_the_names_of_the_schema() -> None:
    one = Body(call_id="c", parts=[Text(text="a", title=None), UnknownPart(type="_x", data=[1])], extra={"more": (1,)})
    parts = [{"type": "text", "text": "a", "title": None}, {"type": "_x", "data": [1]}]
    assert to_builtins(one) == {"callId": "c", "parts": parts, "more": [1]}
    assert to_builtins([one.parts, None]) == [parts, None]
    assert [type(item) for item in to_builtins([Colour.RED, True, 1, 1.5])] == [str, bool, int, float]


@pytest.mark.parametrize("value", [Request(1, "m", Text(text="a")), float("nan"), {1: 2}, object()])
def test_what_is_no_value_of_json_is_not_made_plain(value: object) -> None:
    with pytest.raises(EncodeError):
        to_builtins(value)


def test_what_is_nested_too_deep_is_not_made_plain() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(EncodeError, match="too deep"):
        to_builtins(value)


def test_equal_records_are_compared_once_at_each_depth() -> None:
    """Each part was compared again for each record around it: three times as long for each level."""

    def nest(depth: int, name: Any) -> Any:
        tree = notes_protocol.Tree(name="leaf", extra={"value": name})
        for _ in range(depth):
            tree = notes_protocol.Tree(name="a", children=[tree])
        return tree

    with ending():
        assert nest(60, 1) == nest(60, 1.0)
        for other in (True, 2, [1], {"a": 1}, None):
            assert nest(60, 1) != nest(60, other)
        assert nest(3, [1]) != nest(3, (1,)) and nest(3, [1]) != nest(3, [1, 2]) and nest(3, {"a": 1}) != nest(3, {})
    assert nest(1, 1) != {"name": "a", "children": [{"name": "leaf", "value": 1}]}


def test_a_default_that_is_changed_in_place_is_sent() -> None:
    one = Everything(update=Progress(done=1))
    assert one.abilities.image is False
    assert "abilities" not in to_plain(one)
    one.abilities.tags.append("x")
    assert to_plain(one)["abilities"] == {"tags": ["x"]}
    assert one != Everything(update=Progress(done=1))


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: loose.Text(text=5), "a string is expected, not 5"),
        (lambda: loose.Text(), "the field 'text' is required"),
        (lambda: loose.Text(text="", tite="a"), "did you mean 'title'?"),
        (lambda: loose.Text(text="", zzz=1), "what the schema does not know goes into 'extra'"),
        (lambda: loose.Text(text="", mimeType="a", mime_type="b"), "which is given as well"),
        (lambda: loose.Text(text="", extra={"text": 1}), "pass it by its name"),
        (lambda: loose.Text(text="", type="picture"), "'picture' is not 'text', the only value allowed here"),
        (lambda: loose.Picture(data="", size=101), "may be 100 at most"),
        (lambda: loose.Picture(data="", size=True), "an integer is expected"),
        (lambda: loose.UnknownPart(type="text"), "is known and has a class of its own"),
        (lambda: loose.UnknownPart(), "the field 'type' is required"),
        (lambda: loose.Closed(name="", extra={"x": 1}), "/x: no further fields are allowed here"),
        (lambda: loose.Counts(total=1, extra={"x": -1}), "/x: the number must be 0 or more"),
        (lambda: loose.Forgetful(name="", extra={"x": 1}), "drops"),
        (lambda: loose.Other(name="", extra={"type": "http"}), "one of the values that are excluded here"),
        (lambda: loose.Everything(update=loose.Progress(done=1), code="A"), "does not match the pattern"),
        (lambda: loose.Progress(done=float("nan")), "not finite"),
        (lambda: loose.Everything(update=Progress(done=1), meta={1: 2}), "the keys of an object are strings"),
        (lambda: loose.Tree(name="", children=[loose.Text(text="")]), "children"),
    ],
)
def test_a_constructor_says_what_is_wrong(build: Any, said: str) -> None:
    with pytest.raises(DecodeError, match=r"(?s).*" + said.replace("?", r"\?")):
        build()


def test_a_constructor_looks_for_names_like_those_that_are_reported_only(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def count(name: str, _: object) -> str:
        names.append(name)
        return "no such field"

    monkeypatch.setattr(construct, "describe_unknown_field", count)
    with pytest.raises(DecodeError) as caught:
        loose.Text(text="a", **{f"field{number}": 1 for number in range(300)})
    assert caught.value.problems[-1].sentence == "there are more problems than these 100"
    assert len(names) == LIMIT + 1


def test_a_constructor_takes_names_of_the_schema_and_plain_objects() -> None:
    assert loose.Text(text="a", mimeType="b") == Text(text="a", mime_type="b")
    assert loose.Body(call_id="c", parts=[{"type": "text", "text": "a"}]).parts == [Text(text="a")]
    assert to_plain(Closed(name="a")) == {"version": "1", "name": "a"}
    with pytest.raises(TypeError):
        loose.Text("a")


def test_further_fields() -> None:
    one = Text(text="a", extra={"x": 1})
    assert one.unknown_fields == {"x": 1}
    one.unknown_fields["y"] = [Text(text="b")]
    assert to_plain(one) == {"type": "text", "text": "a", "x": 1, "y": [{"type": "text", "text": "b"}]}
    assert to_plain(loose.UnknownPart(type="_x", data=[1], note="n")) == {"type": "_x", "note": "n", "data": [1]}
    assert UnknownPart(type="_x").is_extension
    assert UnknownPart(type="x").is_reserved


def test_an_assignment_is_checked() -> None:
    one = Text(text="a")
    one.text, one.title = "b", None
    assert to_plain(one) == {"type": "text", "text": "b", "title": None}
    with pytest.raises(DecodeError, match="a string is expected"):
        one.text = 5  # type: ignore[assignment]
    with pytest.raises(AttributeError, match="did you mean 'title'"):
        one.tite = "a"  # type: ignore[attr-defined]
    del one.title
    assert one.title is UNSET
    with pytest.raises(AttributeError, match="is required"):
        del one.text
    assert one.text == "b"


def test_a_body_is_a_variant_and_stands_alone() -> None:
    variant = BodyUpdate(call_id="c")
    assert isinstance(variant, Body)
    one = loose.Everything(update=Body(call_id="c"), alone=variant)
    assert to_plain(one) == {"update": {"kind": "body", "callId": "c"}, "alone": {"callId": "c"}}


def test_copies_are_equal_and_apart() -> None:
    one = Everything(
        update=BodyUpdate(call_id="c", parts=[loose.UnknownPart(type="_x", z=[1])], extra={"q": {"a": [1]}}),
        meta={"a": [1]},
    )
    one.abilities.image = True
    for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (other, to_plain(other)) == (one, to_plain(one))
        assert isinstance(other.update, BodyUpdate)
        other.update.unknown_fields["q"]["a"].append(2)
        assert other != one
    near = copy.copy(one)
    near.code = "b"
    assert (one.code, near.code) == ("a", "b")
    assert one.__replace__(code="c").code == "c"


def test_equality_is_that_of_what_is_sent() -> None:
    assert Text(text="a") != Text(text="a", title=None)
    assert Picture(data="") != Picture(data="", size=1)
    assert Text(text="a") != Text(text="a", extra={"x": 1})
    assert Abilities(image=True) != Abilities()
    assert Text(text="a", extra={"x": [{"y": 1}]}) != Text(text="a", extra={"x": [{"y": True}]})
    assert Text(text="a", extra={"x": [{"y": 1}]}) == Text(text="a", extra={"x": [{"y": 1.0}]})
    with pytest.raises(TypeError):
        hash(Text(text="a"))


def test_a_record_shows_what_is_set() -> None:
    assert repr(Text(text="a", extra={"x": 1})) == "Text(text='a', extra={'x': 1})"
    assert repr(UnknownPart(type="_x")) == "UnknownPart(type='_x')"
    assert list(inspect.signature(Text).parameters) == ["text", "mime_type", "title", "extra"]


def test_match() -> None:
    found: list[Any] = []
    for part in (Text(text="a"), UnknownPart(type="_x")):
        match part:
            case Text(text=text):
                found.append(text)
            case UnknownPart(type=type_):
                found.append(type_)
    assert found == ["a", "_x"]
