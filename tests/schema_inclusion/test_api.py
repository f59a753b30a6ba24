"""What the library offers: verdicts with reasons, witnesses with what was said of them, satisfiability, drafts."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

import schema_inclusion
from schema_inclusion import Dialect, Verdict, Witness, compare, comparer, include, is_satisfiable
from schema_inclusion.values import Json

README = Path(schema_inclusion.__file__).with_name("README.md")


def test_the_examples_of_the_readme_are_true() -> None:
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert tried > 4 and not failed


@pytest.mark.parametrize(
    ("accepted", "refused", "verified"),
    [(True, True, True), (True, False, False), (False, True, False), (None, True, False), (True, None, False)],
)
def test_a_witness_is_verified_where_both_sides_were_confirmed(
    accepted: bool | None, refused: bool | None, verified: bool
) -> None:
    assert Witness(0, accepted, refused).verified is verified


def test_a_refusal_without_confirmation_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError):
        comparer.refute(Witness(0, accepted=True, refused=None))


@pytest.mark.parametrize(
    "schema",
    [
        *({keyword: "1"} for keyword in ("maxLength", "minItems", "maxProperties", "minimum", "multipleOf")),
        *({keyword: []} for keyword in ("properties", "patternProperties", "dependentRequired", "dependentSchemas")),
        *({keyword: {}} for keyword in ("allOf", "anyOf", "oneOf", "prefixItems", "enum", "required")),
        {"required": [1]},
        {"dependentRequired": {"a": "b"}},
        {"type": "strin"},
        {"type": ["string", 1]},
        {"minItems": 1.5},
        {"multipleOf": 0},
        {"pattern": 3},
    ],
    ids=str,
)
def test_what_a_malformed_keyword_demands_is_not_known(schema: Any) -> None:
    """Validators differ in what they make of it, so nothing that one of them says is a proof."""
    hidden: Any = {"$ref": "#/unread", "unread": schema}
    behind: Any = {"$ref": "#/unread", "unread": {"a": {"not": schema}, "allOf": [{"$ref": "#/unread/a"}]}}
    inside: Any = {"$ref": "#/$defs/A", "$defs": {"A": hidden | {"$id": "x:a"}}}
    others: tuple[Any, ...] = (True, {"type": ["string", "array"]}, {"type": "number"})
    for new in (schema, hidden, behind, inside):
        for old in others:
            assert include(old, new).verdict is Verdict.UNDECIDED
            assert include(new, old).verdict is Verdict.UNDECIDED
    assert include({"type": "string"}, hidden).reason.startswith("A reference of the new schema leads to what")


def test_a_schema_that_only_a_reference_knows_is_read_like_any_other() -> None:
    hidden: Any = {"$ref": "#/unread", "unread": {"maxLength": 3}}
    assert include({"maxLength": 2}, hidden).verdict is Verdict.YES
    assert include({"maxLength": 4}, hidden).verdict is Verdict.NO


def test_every_yes_says_what_it_rests_on() -> None:
    assert "equal" in include({"minimum": 1}, {"minimum": 1.0}).reason
    assert "Proven" in include({"minimum": 1}, {"minimum": 0}).reason
    beyond: Any = {"type": "string", "pattern": r"(a+)\1"}
    assert include(beyond, {"pattern": "a"}).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("schema", "verdict"),
    [
        (True, Verdict.YES),
        (False, Verdict.NO),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, Verdict.NO),
        ({"required": ["a"], "properties": {"a": {"$ref": "#"}}, "type": "object"}, Verdict.NO),
        ({"anyOf": [{"$ref": "#"}]}, Verdict.UNDECIDED),
        ({"type": "strin"}, Verdict.UNDECIDED),
    ],
)
def test_a_schema_is_satisfiable_exactly_if_it_has_an_instance(schema: Any, verdict: Verdict) -> None:
    answer = is_satisfiable(schema)
    assert answer.verdict is verdict and answer.reason and "old" not in answer.reason
    assert (answer.instance is not None and answer.instance.verified) == (verdict is Verdict.YES)


@pytest.mark.parametrize("dialect", Dialect)
def test_satisfiability_is_asked_in_every_draft(dialect: Dialect) -> None:
    assert is_satisfiable({"type": "null"}, dialect=dialect).verdict is Verdict.YES
    assert is_satisfiable({"enum": [1], "type": "null"}, dialect=dialect).verdict is Verdict.NO
    assert is_satisfiable({"not": {}}, dialect=dialect).verdict is Verdict.NO


def test_a_draft_is_that_of_schemas_that_name_none() -> None:
    guessed: dict[str, Any] = {"exclusiveMinimum": True, "minimum": 1}
    assert compare(guessed, {"minimum": 1}).backward.verdict is Verdict.YES
    assert "meta-schema" in include(guessed, True, dialect=Dialect.DRAFT_07).reason
    named: dict[str, Any] = {"$schema": Dialect.DRAFT_04.value, **guessed}
    assert include(named, {"minimum": 1}, dialect=Dialect.DRAFT_07).verdict is Verdict.YES


def test_items_that_need_not_be_there_contradict_nothing() -> None:
    """What items must be is refuted only where one of them must be there."""
    texts: dict[str, Any] = {"prefixItems": [True, True], "items": {"type": "string"}}
    truths: dict[str, Any] = {"prefixItems": [True, True], "items": {"type": "boolean"}}
    numbers: dict[str, Any] = {"type": "array", "minItems": 2, "prefixItems": [True, True], "items": {"type": "number"}}
    assert is_satisfiable({**numbers, "anyOf": [texts, truths]}).verdict is Verdict.YES
    assert is_satisfiable({**numbers, "minItems": 3, "anyOf": [texts, truths]}).verdict is Verdict.NO


def test_numbers_that_are_left_out_meet_no_list_of_them() -> None:
    left: dict[str, Any] = {"type": ["number", "string"], "not": {"enum": [1, 2]}}
    others: dict[str, Any] = {"type": "string", "minLength": 3}
    positive: dict[str, Any] = {"type": "number", "not": {"enum": [1]}, "minimum": 0}
    assert include({**left, "anyOf": [{"enum": [1]}, others]}, {"type": "string"}).verdict is Verdict.YES
    assert include({**left, "anyOf": [positive, others]}, {"type": "string"}).verdict is Verdict.NO


@pytest.mark.parametrize(
    ("listed", "either"),
    [
        ([1, 5], [{"type": "number", "minimum": 3}, {"type": "string"}]),
        ([1, 5], [{"minimum": 3}, {"maximum": 0}]),
        (["a", "bb"], [{"minLength": 2}, {"pattern": "^z"}]),
        (["a", "bbb", 1, 7], [{"minLength": 3, "minimum": 5}, {"minLength": 2, "maximum": -1}]),
    ],
)
def test_what_one_of_several_values_fulfils_is_not_refuted(listed: list[Any], either: list[Any]) -> None:
    assert include({"enum": listed, "anyOf": either}, False).verdict is Verdict.NO
    assert include({"enum": listed[:1], "anyOf": either}, False).verdict is Verdict.YES


def test_a_question_of_large_documents_gets_more_steps_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparer, "MOST_STEPS", 30_000)
    names = [f"L{number}" for number in range(60)]
    fields: dict[str, Any] = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    definitions: dict[str, Any] = {name: {"type": "object", "properties": fields} for name in names}
    definitions |= {f"M{number}": {} for number in range(8_000)}
    old: dict[str, Any] = {"$defs": definitions, "type": "object", "properties": {"x": {"$ref": "#/$defs/L0"}}}
    allowance = schema_inclusion.Allowance(10_000_000)
    new = {**old, "$defs": {**definitions, "L0": {**definitions["L0"], "title": "The first"}}}
    include({**old, "required": ["x"]}, new, allowance=allowance)
    assert 30_000 <= 10_000_000 - allowance.left < 60_000


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#"]
)
def test_formats_of_the_meta_schema_annotate_in_every_draft(draft: str) -> None:
    """Generators write references such as `Record<string,string>`, and patterns of Python: no draft makes them another schema."""

    def schema(kind: str) -> Any:
        texts = {"type": kind, "pattern": "\\A[a-z]*\\Z"} if kind == "string" else {"type": kind}
        held = {"type": "object", "additionalProperties": texts}
        name = "Record<string,string>"
        return {"$schema": draft, "definitions": {name: held}, "properties": {"a": {"$ref": f"#/definitions/{name}"}}}

    assert compare(schema("string"), schema("string")).backward.verdict is Verdict.YES
    compared = compare(schema("boolean"), {**schema("boolean"), "required": ["a"]})
    assert (compared.backward.verdict, compared.forward.verdict) == (Verdict.NO, Verdict.YES)
    widened = compare(schema("string"), {"$schema": draft, "properties": {"a": {"type": "object"}}})
    assert widened.backward.verdict is Verdict.YES


def test_a_schema_that_is_none_is_told_with_its_place() -> None:
    relation = include({"properties": {"a/b": {"type": "strin"}}}, True)
    assert relation.reason == "The old schema is not what its meta-schema allows, at '/properties/a~1b/type'."


def test_a_number_that_no_text_holds_is_no_witness() -> None:
    steps = [10**398 + odd for odd in range(1, 25, 2)]
    new: Json = {"allOf": [{"type": "integer", "multipleOf": step, "minimum": 1} for step in steps]}
    old: Json = {"allOf": [{"type": "integer", "multipleOf": step, "minimum": 1} for step in steps[1:]]}
    assert compare(new, old).backward.verdict is Verdict.YES
    relation = include(old, new)
    assert (relation.verdict, relation.witness) == (Verdict.UNDECIDED, None)


@pytest.mark.parametrize("mark", ["^", ""])
def test_many_patterns_for_names_are_compared(mark: str) -> None:
    def write(kind: str, rest: str) -> dict[str, Any]:
        patterns = {f"{mark}p{number}_": {"type": kind if number == 5 else "string"} for number in range(20)}
        return {"type": "object", "patternProperties": patterns, "additionalProperties": {"type": rest}}

    assert include(write("string", "integer"), write("null", "integer")).verdict is Verdict.NO
    assert include(write("string", "number"), write("string", "integer")).verdict is Verdict.NO
    assert include(write("string", "integer"), write("string", "number")).verdict is Verdict.YES


def test_many_multiples_of_one_number_use_up_the_steps() -> None:
    multiples: Json = [{"multipleOf": 2 * odd + 1} for odd in range(1, 1000)]
    relation = include({"type": "integer", "allOf": multiples}, {"type": "integer", "allOf": multiples, "minimum": 0})
    assert (relation.verdict, "steps" in relation.reason) == (Verdict.UNDECIDED, True)


TREES: dict[str, Any] = {
    "Leaf": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "Tree": {"anyOf": [{"$ref": "#/$defs/Leaf"}, {"type": "array", "items": {"$ref": "#/$defs/Tree"}}]},
    "Two trees": {"prefixItems": [{"$ref": "#/$defs/Tree"}, {"$ref": "#/$defs/Tree/anyOf/0"}]},
}


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("Two trees", "Two trees", "equal"),
        ("Tree", "Tree", "equal"),
        (["Two trees", "Leaf"], ["Leaf", "Two trees"], "equal"),
        (["Leaf", ["Tree", "Two trees"]], "Two trees", "joins"),
        ("Other", "Other", "no"),
        ("Uses other", "Uses other", "no"),
        (["Tree", "Uses other"], ["Tree", "Uses other"], "no"),
    ],
)
def test_what_both_documents_write_alike_is_not_compared(old: Any, new: Any, answer: str) -> None:
    """Nothing is read of it: no step is spent."""

    def asked(names: Any) -> Any:
        return (
            {"$ref": f"#/$defs/{names.replace(' ', '%20')}"}
            if isinstance(names, str)
            else {"allOf": [asked(name) for name in names]}
        )

    ours: Any
    theirs: Any
    ours, theirs = (
        {"$defs": {**TREES, "Other": {"maxLength": most}, "Uses other": {"items": {"$ref": "#/$defs/Other"}}}}
        for most in (2, 1)
    )
    allowance = schema_inclusion.Allowance(10_000)
    relation = schema_inclusion.Comparer(ours, theirs, allowance=allowance).include(asked(old), asked(new))
    assert answer in (relation.verdict.value, *relation.reason.split(" "), relation.reason.rstrip(".").split(" ")[-1])
    assert (allowance.left == 10_000) is (answer != "no")


@pytest.mark.parametrize(
    "inside",
    [
        {"$id": "https://example.org/inside", "$ref": "#/$defs/A"},
        {"$anchor": "here"},
        {"$dynamicAnchor": "here"},
    ],
)
def test_what_reads_differently_in_another_document_is_compared(inside: dict[str, Any]) -> None:
    """An anchor or an identifier anywhere may change what the same words mean."""
    ours: Any
    theirs: Any
    ours, theirs = (
        {
            "$defs": {
                "A": {"const": value},
                "B": {**inside, "$defs": {"A": {"type": "string"}}},
                "C": {"$ref": "#/$defs/A"},
            }
        }
        for value in (1, 2)
    )
    comparer = schema_inclusion.Comparer(ours, theirs)
    assert comparer.include({"$ref": "#/$defs/C"}, {"$ref": "#/$defs/C"}).verdict is Verdict.NO
    assert comparer.include({"$ref": "#/$defs/B"}, {"$ref": "#/$defs/B"}).verdict is Verdict.YES
