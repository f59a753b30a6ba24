"""Branches of unions that own several tags: the tag leads to its branch, and what is wrong is told of that branch."""

from __future__ import annotations

import re
from typing import Any, Final

import jsonschema_rs
import pytest

from bindings.subjects import Subject, Subjects, same


def branch(tags: Any, *required: str, **fields: str) -> dict[str, Any]:
    """A record with fields of some types, which `op` tells from others."""
    properties = {"op": tags, **{name: {"type": kind} for name, kind in fields.items()}}
    return {"type": "object", "properties": properties, "required": list(required)}


def listed(*tags: Any) -> dict[str, Any]:
    return {"enum": list(tags)}


ADD: Final = branch({"const": "add"}, "op", n="integer")
PLAIN: Final = [ADD, branch(listed("sub", "mul"), "op", m="integer"), branch(listed("neg", "abs"), "op", m="string")]
RESULTS: Final = [
    {"type": "object", "properties": {"reason": listed("end", "limit")}, "required": ["reason"]},
    {"type": "object", "properties": {"models": {"type": "array"}}, "required": ["models"]},
]
DEFINITIONS: Final[dict[str, Any]] = {
    "Inline": {"oneOf": PLAIN},
    "Any": {"anyOf": PLAIN},
    "Sign": listed("neg", "abs"),
    "Referred": {
        "anyOf": [
            ADD,
            branch({"oneOf": [{"const": "sub"}, {"const": "mul"}]}, "op", m="integer"),
            branch({"allOf": [{"$ref": "#/$defs/Sign"}]}, "op", m="string"),
        ]
    },
    "Alone": {"type": "object", "properties": {"sign": {"$ref": "#/$defs/Sign"}}},
    "Result": {"anyOf": RESULTS},
    "One": {"oneOf": RESULTS},
    "Nested": {
        "oneOf": [
            ADD,
            {"anyOf": [branch({"const": "sub"}, "op", m="integer"), branch({"const": "mul"}, "op", m="integer")]},
            branch(listed("neg", "abs"), "op", m="string"),
        ]
    },
    "Omitted": {"oneOf": [*PLAIN[:2], branch(listed("neg", "abs"), m="string")]},
    "Shared": {"anyOf": [*PLAIN, branch(listed("add", "inc"), "op", "m", m="boolean")]},
    "Numbers": {"oneOf": [branch(listed(1, 2), "op", m="integer"), branch(listed(3, True), "op", m="string")]},
    "Fractions": {"oneOf": [branch(listed(1, 2, 3), "op", m="integer"), branch({"const": 4.5}, "op", m="string")]},
    "Mixed": {"oneOf": [branch({"const": 1}, "op", m="integer"), branch({"const": "a"}, "op", m="string")]},
    "Overlap": {
        "oneOf": [
            {"oneOf": [branch({"const": 1}, "op"), branch({"const": 2}, "op")]},
            branch({"type": "number"}, "op"),
        ]
    },
}
ALIKE: Final = ("Inline", "Any", "Referred", "Nested", "Omitted", "Shared")
TAGS: Final = ("add", "sub", "mul", "neg", "abs")


@pytest.fixture(scope="session")
def tags(subjects: Subjects) -> Subject:
    """Bindings of unions whose branches own several tags."""
    return subjects.keep(subjects.small("tags", DEFINITIONS))


@pytest.fixture(scope="session")
def tags_kept(subjects: Subjects) -> Subject:
    """The same where unknown tags are kept."""
    return subjects.keep(subjects.small("tags_kept", DEFINITIONS, keep_unknown=True))


@pytest.mark.parametrize("name", [*ALIKE, "Numbers"])
@pytest.mark.parametrize("keeps", [False, True])
def test_a_branch_takes_each_of_its_tags(tags: Subject, tags_kept: Subject, name: str, keeps: bool) -> None:
    subject = tags_kept if keeps else tags
    judge = jsonschema_rs.validator_for({**tags.bundle.schema, "$ref": f"#/$defs/{name}"})
    known = () if name == "Numbers" else (*TAGS, "inc") if name == "Shared" else TAGS
    values = [
        {**({} if tag is None else {"op": tag}), **body}
        for tag in (*TAGS, "inc", 1, 2.0, 3, True, None, 7)
        for body in ({}, {"m": 1}, {"m": "x"}, {"m": True}, {"n": "x"}, {"x": 1})
    ]
    for value in values:
        problems = subject.module.validate_as(subject.type(name), value)
        assert (not problems) is judge.is_valid(value), value
        if judge.is_valid(value):
            found = subject.module.decode_as(subject.type(name), value)
            assert same(subject.encoded(found), value)
            assert not subject.module.validate_as(type(found), value)
        elif keeps and isinstance(value.get("op"), str) and value["op"] not in known:
            assert isinstance(subject.module.decode_as(subject.type(name), value), subject.runtime.Unknown)
        else:
            subject.problems(name, value)


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("keeps", [False, True])
def test_what_is_wrong_under_a_known_tag_is_told_of_its_branch(
    tags: Subject, tags_kept: Subject, name: str, keeps: bool
) -> None:
    subject = tags_kept if keeps else tags
    for tag, wrong in (("sub", "1"), ("mul", "1"), ("neg", 1), ("abs", 1)):
        value = {"op": tag, "m": wrong}
        assert [one.pointer for one in subject.problems(name, value)] == ["/m"], value
        assert [one.pointer for one in subject.module.validate_as(subject.type(name), value)] == ["/m"], value
    assert {type(subject.module.decode_as(subject.type(name), {"op": tag})) for tag in ("neg", "abs")} == {
        type(subject.module.decode_as(subject.type(name), {"op": "abs", "m": "x"}))
    }


@pytest.mark.parametrize("name", ALIKE)
def test_an_unknown_tag_is_told_with_all_that_are_known(tags: Subject, name: str) -> None:
    (problem,) = tags.problems(name, {"op": "zzz"})
    (violation,) = tags.module.validate_as(tags.type(name), {"op": "zzz"})
    for one in (problem, violation):
        assert one.pointer == "/op"
        assert all(re.search(rf"known.*'{tag}'", one.sentence) for tag in TAGS), one.sentence


@pytest.mark.parametrize("name", ALIKE)
def test_an_unknown_tag_is_kept_as_unknown_or_refused(tags_kept: Subject, name: str) -> None:
    value = {"op": "zzz", "m": [1]}
    if name == "Shared":
        assert tags_kept.problems(name, value)
        return
    found = tags_kept.module.decode_as(tags_kept.type(name), value)
    assert isinstance(found, tags_kept.runtime.Unknown)
    assert same(tags_kept.encoded(found), value)


def test_an_enumeration_keeps_values_where_it_tells_no_branches_apart(tags_kept: Subject) -> None:
    found = tags_kept.module.decode_as(tags_kept.type("Alone"), {"sign": "zzz"})
    assert found.sign == "zzz"
    found = tags_kept.module.decode_as(tags_kept.type("Result"), {"reason": "zzz"})
    assert found.reason == "zzz"
    value: dict[str, Any] = {"reason": "zzz", "models": []}
    assert same(tags_kept.encoded(tags_kept.module.decode_as(tags_kept.type("One"), value)), value)


def test_a_variant_is_named_after_its_first_tag(tags: Subject) -> None:
    names = {tag: type(tags.module.decode_as(tags.type("Inline"), {"op": tag})).__name__ for tag in TAGS}
    assert names == {"add": "AddInline", "sub": "SubInline", "mul": "SubInline", "neg": "NegInline", "abs": "NegInline"}


@pytest.mark.parametrize(("tag", "is_valid"), [(1, False), (1.0, False), (2.0, False), (3, True), (3.0, True)])
def test_a_tag_is_the_same_with_and_without_a_fraction_of_zero_where_one_branch_alone_may_fit(
    tags: Subject, tag: float, is_valid: bool
) -> None:
    assert (not tags.module.validate_as(tags.type("Overlap"), {"op": tag})) is is_valid
    if is_valid:
        assert same(tags.encoded(tags.module.decode_as(tags.type("Overlap"), {"op": tag})), {"op": tag})
    else:
        (problem,) = tags.problems("Overlap", {"op": tag})
        assert "more than one" in problem.sentence


@pytest.mark.parametrize(
    ("name", "known"), [("Numbers", "1, 2, 3, true"), ("Fractions", "1, 2, 3, 4.5"), ("Mixed", "1, 'a'")]
)
@pytest.mark.parametrize("tag", [9, 4.7, False, None])
@pytest.mark.parametrize("keeps", [False, True])
def test_an_unknown_tag_that_is_no_text_is_told_with_all_that_are_known_where_they_are_not_all_text(
    tags: Subject, tags_kept: Subject, name: str, known: str, tag: Any, keeps: bool
) -> None:
    """Unknown tags are kept where they are text."""
    (problem,) = (tags_kept if keeps else tags).problems(name, {"op": tag})
    assert problem.pointer == "/op"
    told = problem.sentence.endswith(f"is not a known value of 'op', which are {known}")
    assert told or (keeps and problem.sentence.startswith("a string is expected, not "))


def test_an_unknown_tag_that_is_no_text_is_told_to_be_none_where_all_that_are_known_are(tags_kept: Subject) -> None:
    (problem,) = tags_kept.problems("Inline", {"op": 9})
    assert str(problem) == "/op: a string is expected, not 9"
