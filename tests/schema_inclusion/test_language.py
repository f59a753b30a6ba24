"""Language mode on tables of cases, on real files and on schemas made to exhaust it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, cast

import jsonschema
import jsonschema_rs
import pytest
import referencing
import referencing.exceptions

import evidence
import tiers
from inclusion_cases import CASES, DRAFT_07, INTEGER, STRING, Case, record
from schema_inclusion import Comparer, Relation, Verdict, compare, include, is_satisfiable
from schema_inclusion.document import Dialect, list_schemas, open_document
from schema_inclusion.validation import DocumentValidator
from schema_inclusion.values import Json

CASES_OF_OTHERS = "compat/cases.json"
SUITE = "json-schema-test-suite/draft2020-12"
META: Final = "https://json-schema.org/draft/{}/{}"


def expected(state: bool) -> Verdict:
    return Verdict.YES if state else Verdict.NO


def assert_proven(relation: Relation, accepts: Json, refuses: Json) -> None:
    """A "no" has a witness that the validator confirms, any other verdict has none; each has its reason."""
    if relation.verdict is Verdict.NO:
        assert relation.witness is not None and relation.witness.verified
        value = relation.witness.value
        assert DocumentValidator(open_document(accepts)).of(accepts).accepts(value) is True
        assert DocumentValidator(open_document(refuses)).of(refuses).accepts(value) is False
    else:
        assert relation.witness is None
    assert relation.reason


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_own_cases_are_decided_rightly(case: Case) -> None:
    _, old, new, backward, forward = case
    comparison = compare(old, new)
    assert (comparison.backward.verdict, comparison.forward.verdict) == (expected(backward), expected(forward))
    assert_proven(comparison.backward, old, new)
    assert_proven(comparison.forward, new, old)


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_every_schema_of_the_cases_equals_itself(case: Case) -> None:
    for schema in case[1:3]:
        again = cast("Json", json.loads(json.dumps(schema)))
        if isinstance(again, dict):
            again["description"] = "the same again"
        comparison = compare(schema, again)
        assert comparison.backward.verdict is comparison.forward.verdict is Verdict.YES


@pytest.mark.evidence(CASES_OF_OTHERS)
def test_the_cases_of_others_are_all_decided_rightly() -> None:
    for case in cast("list[dict[str, Json]]", json.loads(evidence.path(CASES_OF_OTHERS).read_text("utf-8"))):
        comparison = compare(case["old"], case["new"])
        verdicts = (comparison.backward.verdict, comparison.forward.verdict)
        assert verdicts == (expected(case["backward"] is True), expected(case["forward"] is True)), case["name"]
        assert_proven(comparison.backward, case["old"], case["new"])
        assert_proven(comparison.forward, case["new"], case["old"])


# Rewrites that change nothing.

TREE: dict[str, Json] = {
    "$defs": {
        "Node": record(
            {"v": {"$ref": "#/$defs/Value"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}, "v"
        ),
        "Value": {"type": ["string", "null"], "maxLength": 8},
        "Block": {
            "oneOf": [
                record({"type": {"const": "text"}, "text": {"$ref": "#/$defs/Value"}}, "type", "text"),
                record({"type": {"const": "node"}, "node": {"$ref": "#/$defs/Node"}}, "type", "node"),
            ]
        },
    },
    "$ref": "#/$defs/Block",
}


def rewritten(change: Callable[[dict[str, Json]], Json]) -> Json:
    """The tree with every schema object changed, from the inside out."""

    def visit(value: Json) -> Json:
        if isinstance(value, list):
            return [visit(each) for each in value]
        if not isinstance(value, dict):
            return value
        inner: dict[str, Json] = {name: visit(each) for name, each in value.items()}
        is_schema = bool({"type", "$ref", "oneOf", "const"} & inner.keys()) and not isinstance(inner.get("type"), dict)
        return change(inner) if is_schema else inner

    return visit(TREE)


def wrapped(schema: dict[str, Json]) -> Json:
    definitions: dict[str, Json] = {name: each for name, each in schema.items() if name == "$defs"}
    return {"allOf": [{name: each for name, each in schema.items() if name != "$defs"}], **definitions}


def single(schema: dict[str, Json]) -> Json:
    definitions: dict[str, Json] = {name: each for name, each in schema.items() if name == "$defs"}
    return {"oneOf": [{name: each for name, each in schema.items() if name != "$defs"}], **definitions}


def shuffled(schema: dict[str, Json]) -> Json:
    turned = dict(reversed(schema.items()))
    branches = turned.get("oneOf")
    if isinstance(branches, list):
        turned["oneOf"] = branches[::-1]
    return turned


def enumerated(schema: dict[str, Json]) -> Json:
    return {
        ("enum" if name == "const" else name): ([each] if name == "const" else each) for name, each in schema.items()
    }


def by_any_of(schema: dict[str, Json]) -> Json:
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return schema
    rest: dict[str, Json] = {name: each for name, each in schema.items() if name != "type"}
    return {"anyOf": [{"type": kind, **rest} for kind in reversed(kinds)]}


def renamed() -> Json:
    return cast("Json", json.loads(json.dumps(TREE).replace("Node", "Twig").replace("Value", "Atom")))


def as_definitions() -> Json:
    return cast("Json", json.loads(json.dumps(TREE).replace("$defs", "definitions")))


@pytest.mark.parametrize(
    "again",
    [
        *(
            pytest.param(rewritten(change), id=change.__name__)
            for change in (wrapped, single, shuffled, enumerated, by_any_of)
        ),
        pytest.param(renamed(), id="renamed"),
        pytest.param(as_definitions(), id="as_definitions"),
    ],
)
def test_equivalent_rewrites_of_a_recursive_type_are_yes_both_ways(again: Json) -> None:
    comparison = compare(TREE, again)
    assert comparison.backward.verdict is comparison.forward.verdict is Verdict.YES


def test_normal_forms_tell_equal_schemas() -> None:
    assert compare({"allOf": [STRING, {"minLength": 1}]}, {"minLength": 1, "type": "string"}).same
    assert compare({"enum": [1, 2]}, {"oneOf": [{"const": 2}, {"const": 1.0}]}).same
    assert not compare(STRING, INTEGER).same


# Real files.


@pytest.mark.parametrize(
    "published", tiers.sample(evidence.known("upstream/*/schema*.json", "history/*/*.schema.json"), 6)
)
def test_every_real_file_equals_itself_whole_and_by_definition(published: str) -> None:
    evidence.need(published)
    text = evidence.path(published).read_text("utf-8")
    old = cast("dict[str, Json]", json.loads(text))
    new: dict[str, Json] = {**cast("dict[str, Json]", json.loads(text)), "description": "again"}
    comparer = Comparer(old, new)
    place = "$defs" if "$defs" in old else "definitions"
    definitions = cast("dict[str, Json]", old[place])
    for name in [None, *definitions]:
        schema: Json = None if name is None else {"$ref": f"#/{place}/{name}"}
        comparison = comparer.compare(schema, schema)
        assert comparison.same, name
        assert comparison.backward.verdict is comparison.forward.verdict is Verdict.YES, name


# The public suite: a value is valid under a schema exactly if the constant is included.


def suite() -> list[tuple[str, Json, list[dict[str, Json]]]]:
    found: list[tuple[str, Json, list[dict[str, Json]]]] = []
    for path in sorted(evidence.path(SUITE).glob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            found += [(f"{path.stem}: {group['description']}", group["schema"], group["tests"])]
    return found


@pytest.mark.evidence(SUITE)
def test_constants_of_the_public_suite_are_included_exactly_if_valid() -> None:
    decided = undecided = 0
    for name, schema, tests in suite():
        if name.startswith(("vocabulary", "dynamicRef", "refRemote")):
            continue  # a dialect of its own, and what lies outside the document
        for test in tests:
            verdict = include({"const": test["data"]}, schema).verdict
            if verdict is Verdict.UNDECIDED:
                undecided += 1
                continue
            decided += 1
            assert verdict is expected(test["valid"] is True), (name, test["description"])
    assert decided > 20 * undecided


# Faults and bounds.


def test_what_is_no_schema_or_of_an_unknown_dialect_is_undecided_and_says_so() -> None:
    assert "meta-schema" in include({"type": "strin"}, STRING).reason
    nothings: list[Json] = [None, 5, "x", [], {"$id": 5}, {"properties": {"a": 5}}]
    for nothing in nothings:
        assert "meta-schema" in include(nothing, STRING).reason
    assert "is not JSON" in include({"maximum": float("inf")}, STRING).reason
    assert "dialect" in include(STRING, {"$schema": "https://example.org/mine"}).reason
    assert "cannot be resolved" in include({"$ref": "#/nowhere"}, STRING).reason
    assert "cannot be resolved" in include(STRING, {"$ref": "https://example.org/elsewhere"}).reason


def test_patterns_beyond_the_prover_are_validated_as_ecma_262_reads_them() -> None:
    """Plain `re` lets a dot match the line end and counts "é" as a word; `jsonschema_rs` lets a dot match it as well."""
    beyond: Json = [{"pattern": "^[\r\u00e9](?<!xy)"}]
    refuted = include({"const": "\r", "allOf": beyond}, {"pattern": "^.$"})
    assert refuted.witness is not None and refuted.witness.value == "\r"
    assert include({"pattern": r"^\w$", "allOf": beyond}, {"pattern": "^[a-z]$"}).verdict is Verdict.UNDECIDED
    assert include({"const": "a\n"}, {"pattern": "^a$"}).verdict is Verdict.NO
    assert include({"patternProperties": {"": False}}, {"additionalProperties": False}).verdict is Verdict.YES
    assert include({"type": "object"}, {"patternProperties": {"": False}}).verdict is Verdict.NO


def test_large_whole_numbers_and_decimal_steps_are_validated_exactly() -> None:
    assert include({"const": 1e308}, {"not": {"type": "integer", "multipleOf": 0.5}}).verdict is Verdict.NO
    assert include({"const": 1e308}, {"multipleOf": 0.123456789}).verdict is Verdict.NO
    assert include({"enum": [0.3, 1.1]}, {"multipleOf": 0.1}).verdict is Verdict.YES
    assert include({"const": 0.3}, {"not": {"multipleOf": 0.1}}).verdict is Verdict.NO


def test_a_schema_of_another_dialect_inside_a_document_is_undecided() -> None:
    """In draft-07 the limit beside the reference says nothing; in the document's dialect it would."""
    inside: Json = {"$schema": DRAFT_07, "$ref": "#/$defs/B", "maxLength": 1}
    old: Json = {"$ref": "#/$defs/A", "$defs": {"A": inside, "B": STRING}}
    assert "another dialect" in include(old, {"type": "string", "maxLength": 1}).reason


def test_what_contains_evaluates_in_2019_09_is_never_part_of_a_proof() -> None:
    """The draft does not say that it evaluates anything; validators let it."""
    counted: Json = {
        "$schema": Dialect.DRAFT_2019_09.value,
        "type": "array",
        "items": [True],
        "contains": {"const": 0},
        "minContains": 0,
        "unevaluatedItems": STRING,
    }
    assert include(counted, {"prefixItems": [True], "items": STRING}).verdict is not Verdict.YES


def test_draft_04_takes_a_number_with_a_fraction_of_zero_for_no_integer() -> None:
    oldest: dict[str, Json] = {"$schema": Dialect.DRAFT_04.value}
    whole, integer = {**oldest, "type": "number", "multipleOf": 1}, {**oldest, "type": "integer"}
    refuted = include(whole, integer)
    assert refuted.witness is not None and isinstance(refuted.witness.value, float)
    assert include(integer, whole).verdict is include(integer, INTEGER).verdict is Verdict.YES
    assert include({**integer, "minimum": 1}, integer).verdict is Verdict.YES


def test_a_recursive_reference_that_can_mean_one_place_is_followed() -> None:
    old: Json = {
        "$schema": Dialect.DRAFT_2019_09.value,
        "type": "object",
        "additionalProperties": {"$recursiveRef": "#"},
    }
    again: Json = {"type": "object", "additionalProperties": {"$ref": "#"}}
    assert compare(old, again).backward.verdict is compare(old, again).forward.verdict is Verdict.YES
    anchored: Json = {**cast("Any", old), "$recursiveAnchor": True}
    assert compare(anchored, again).backward.verdict is compare(anchored, again).forward.verdict is Verdict.YES
    inner: Json = {"$id": "inner", "$recursiveAnchor": True, "items": {"$recursiveRef": "#"}}
    several: Json = {**cast("Any", anchored), "$id": "http://x.example/", "properties": {"a": inner}}
    assert include(several, again).verdict is not Verdict.YES


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("draft", tiers.sample(["2019-09", "2020-12"], 1))
@pytest.mark.evidence(SUITE)
def test_what_the_published_meta_schema_says_is_followed_through_its_dynamic_references(
    draft: str, whole: bool
) -> None:
    """Every schema of the suite, and each with a keyword spoilt deep inside, is asked as a constant."""
    meta: dict[str, Json] = {"$schema": META.format(draft, "schema"), "$ref": META.format(draft, "schema")}
    judge = jsonschema_rs.validator_for(meta)
    spoilt: Json = {"items": {"allOf": [{"properties": {"a": {"not": {"minLength": -1}}}}]}}
    seen = {True: 0, False: 0}
    schemas = [schema for _, schema, _ in suite() if isinstance(schema, dict)]
    chosen = schemas if whole else tiers.draw(schemas, 20)
    for schema in chosen:
        constants: list[Any] = [schema, {**schema, "$defs": {"a": spoilt}}, {**schema, "type": 5}]
        for constant in constants:
            right = judge.is_valid(constant)
            verdict = include({"$schema": META.format(draft, "schema"), "const": constant}, meta).verdict
            assert verdict in (expected(right), Verdict.UNDECIDED), constant
            seen[right] += verdict is not Verdict.UNDECIDED
    assert seen[True] > 0.7 * len(chosen) and seen[False] > 1.4 * len(chosen), seen


@pytest.mark.parametrize(
    ("draft", "anchor"), [("2019-09", {"$recursiveAnchor": True}), ("2020-12", {"$dynamicAnchor": "meta"})]
)
def test_a_document_that_can_change_what_the_meta_schema_means_leaves_its_dynamic_references_open(
    draft: str, anchor: dict[str, Json]
) -> None:
    address = META.format(draft, "schema")
    plain: Json = {"$schema": address, "const": {"properties": {"a": {"type": 5}}}}
    assert include(plain, {"$schema": address, "$ref": address}).verdict is Verdict.NO
    assert include(plain, {"$schema": address, "$id": "http://x.example/", "$ref": f"{address}#"}).verdict is Verdict.NO
    part = META.format(draft, "meta/applicator")
    for other in ({**anchor, "$ref": address}, {"anyOf": [{"$ref": part}, {"$ref": address}]}):
        assert include(plain, {"$schema": address, **cast("Any", other)}).verdict is not Verdict.YES
    hidden: Json = {"$ref": part.removeprefix("https://json-schema.org")}
    beyond: Json = {"$schema": address, "$id": "https://json-schema.org", "not": hidden}
    assert include(plain, beyond).verdict is not Verdict.YES
    elsewhere: Json = {"$schema": address, "x-part": {"$ref": part}, "not": {"$ref": "#/x-part"}}
    assert include(plain, elsewhere).verdict is not Verdict.YES
    # Only what the vocabulary itself says: the type inside is none of its matters.
    assert include(plain, {"$schema": address, "$ref": part}).verdict is not Verdict.NO


@pytest.mark.parametrize("draft", ["2019-09", "2020-12"])
def test_two_documents_that_read_the_published_schemas_differently_are_kept_apart(draft: str) -> None:
    """The part alone takes the constant, the whole meta-schema does not: what was read for one document is wrong for the other."""
    address, part = META.format(draft, "schema"), META.format(draft, "meta/applicator")
    constant: Json = {"const": {"properties": {"a": {"type": 5}}}}
    old: Json = {"$schema": address, "anyOf": [{"$ref": address}, constant]}
    new: Json = {"$schema": address, "not": {"allOf": [{"$ref": part}, constant]}}
    assert include(old, new).verdict is not Verdict.YES
    assert include(new, old).verdict is not Verdict.YES


def test_a_plain_reference_to_one_of_several_dynamic_anchors_is_undecided() -> None:
    """It means the one of its own resource, a string; validators follow the outermost one, which takes anything."""
    a_text: Json = {"$dynamicAnchor": "n", "type": "string"}
    inner: Json = {"$id": "inner", "properties": {"a": {"$ref": "#n"}}, "$defs": {"text": a_text}}
    outer: Json = {"$id": "http://x.example/", "$dynamicAnchor": "n", "$ref": "inner", "$defs": {"inner": inner}}
    assert include(True, outer).verdict is Verdict.UNDECIDED
    alone: Json = {"$ref": "#n", "$defs": {"text": a_text}}
    assert include(alone, STRING).verdict is include(STRING, alone).verdict is Verdict.YES


def test_anchors_where_no_keyword_has_a_schema_count_when_a_reference_leads_there() -> None:
    """`jsonschema` does not see such an anchor and takes the text; by the core specification the outermost one decides."""
    a_text: Json = {"$dynamicAnchor": "n", "type": "string"}
    leaf: Json = {"$id": "leaf", "properties": {"a": {"$dynamicRef": "#n"}}, "$defs": {"n": a_text}}
    outer: Json = {"$id": "http://x.example/inner", "$dynamicAnchor": "n", "type": "object", "$ref": "leaf"}
    defined: Json = {"leaf": leaf, "group": {"outer": outer}}
    texts: Json = {"type": "object", "properties": {"a": STRING}}
    for place in ("#/x-part", "#/$defs/group/outer", "#%2Fx%2Dpart"):
        document: Json = {"$id": "http://x.example/", "$ref": place, "$defs": defined, "x-part": outer}
        assert include(document, texts).verdict is Verdict.UNDECIDED
        assert include(texts, document).verdict is Verdict.UNDECIDED
    alone: Json = {"$ref": "#/$defs/leaf", "$defs": {"leaf": leaf}}
    assert include({"properties": {"a": STRING}}, alone).verdict is Verdict.YES


def test_a_document_is_walked_for_what_is_named_in_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walks: list[None] = []
    plain: Any = referencing.Registry.crawl

    def crawl(registry: Any) -> Any:
        walks.append(None)
        return plain(registry)

    monkeypatch.setattr(referencing.Registry, "crawl", crawl)
    named: Json = {"a": {"$anchor": "a", "type": "string"}, "b": {"$id": "b", "type": "integer"}}
    schema: Json = {"$id": "http://x.example/", "$defs": named, "properties": {"a": {"$ref": "#a"}, "b": {"$ref": "b"}}}
    validator = DocumentValidator(open_document(schema)).of(schema)
    values: list[Json] = [{"a": "", "b": 1}, {"a": 1}, {"b": ""}]
    assert [validator.accepts(value) for value in values] == [True, False, False]
    assert len(walks) == 1


@pytest.mark.parametrize("name", ["", "#", "http://x.example/", META.format("2020-12", "schema"), "inner", 7])
def test_an_identifier_inside_takes_the_place_of_nothing(name: Json) -> None:
    """Validators find the whole and the meta-schemas before they look for what a document names."""
    inner: Json = {"$id": name, "type": "string", "$anchor": "n"}
    for reference in ("#", "http://x.example/", META.format("2020-12", "schema"), "inner", "#n"):
        others: Json = {"$ref": reference}
        schema: Json = {
            "$id": "http://x.example/",
            "type": "object",
            "additionalProperties": others,
            "$defs": {"a": inner},
        }
        judge: Any = jsonschema.Draft202012Validator(cast("Any", schema))
        validator = DocumentValidator(open_document(schema)).of(schema)
        values: list[Json] = [{}, {"a": ""}, {"a": {}}, {"a": {"type": 7}}, {"a": {"a": ""}}]
        for value in values:
            try:
                expected_of_value = judge.is_valid(value)
            except (referencing.exceptions.Unresolvable, AttributeError, KeyError, TypeError, ValueError):
                continue
            assert validator.accepts(value) is expected_of_value, (name, reference, value)


def test_a_reference_that_never_ends_is_undecided() -> None:
    for loop in ({"$ref": "#"}, {"anyOf": [{"$ref": "#"}, STRING]}, {"not": {"$ref": "#"}}):
        assert include(cast("Json", loop), {"type": "integer"}).verdict is Verdict.UNDECIDED


def nested(levels: int, innermost: dict[str, Json], keyword: str) -> Json:
    schema: Json = innermost
    for _ in range(levels):
        schema = {"properties": {"a": schema}} if keyword == "properties" else {keyword: [schema]}
    return schema


def pigeons(holes: int) -> Json:
    """More pigeons than holes, none of them sharing one: nothing, and hard to see."""
    somewhere: list[Json] = [
        {"anyOf": [{"required": [f"{pigeon}-{hole}"]} for hole in range(holes)]} for pigeon in range(holes + 1)
    ]
    apart: list[Json] = [
        {"not": {"required": [f"{one}-{hole}", f"{other}-{hole}"]}}
        for hole in range(holes)
        for one in range(holes + 1)
        for other in range(one)
    ]
    return {"type": "object", "allOf": somewhere + apart}


HOSTILE: list[tuple[str, Json, Json]] = [
    ("pigeons", pigeons(7), False),
    ("deep properties", nested(300, STRING, "properties"), nested(300, INTEGER, "properties")),
    ("deep allOf", nested(300, STRING, "allOf"), nested(300, INTEGER, "allOf")),
    ("deep anyOf", nested(300, STRING, "anyOf"), nested(300, {"type": "string", "minLength": 1}, "anyOf")),
    (
        "untagged union",
        {"anyOf": [record({f"p{i}": INTEGER}) for i in range(80)]},
        {"anyOf": [record({f"p{i}": STRING}) for i in range(80)]},
    ),
    ("large enum", {"enum": [*range(5_000)]}, {"enum": [*range(1, 5_001)]}),
    ("unsafe pattern", {"enum": ["a" * 60 + "!"]}, {"pattern": "^(a+)+$"}),
    ("large automaton", {"pattern": "^(a|b)*a(a|b){18}$"}, {"pattern": "^(b|a)*a[ab]{18}$"}),
    ("huge limits", {"type": "array", "minItems": 10**9}, {"type": "array", "minItems": 10**9 + 1}),
]


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_hostile_schemas_end_without_a_wrong_verdict(old: Json, new: Json) -> None:
    comparison = compare(old, new, steps=5_000)
    assert_proven(comparison.backward, old, new)
    assert_proven(comparison.forward, new, old)


def test_large_tagged_unions_are_decided_within_few_steps() -> None:
    def union(size: int, extra: dict[str, Json]) -> Json:
        return {
            "anyOf": [record({"type": {"const": f"t{i}"}, "n": {"minimum": i}}, "type", **extra) for i in range(size)]
        }

    comparison = compare(union(300, {}), union(300, {"minProperties": 1}), steps=10_000)
    assert comparison.backward.verdict is comparison.forward.verdict is Verdict.YES
    comparison = compare(union(300, {}), union(301, {}), steps=10_000)
    assert (comparison.backward.verdict, comparison.forward.verdict) == (Verdict.YES, Verdict.NO)


def test_untagged_unions_that_refer_to_themselves_are_decided_within_few_steps() -> None:
    def union(extra: dict[str, Json]) -> Json:
        def close(name: str, schema: Json) -> Json:
            return {**record({name: schema, "unit": {"$ref": "#/$defs/Unit"}}, name), "additionalProperties": False}

        many: Json = {"type": "array", "items": {"$ref": "#/$defs/Test"}}
        branches = [*(close(f"p{i}", STRING) for i in range(8)), *(close(name, many) for name in ("and", "or"))]
        unit = {**record({"a": STRING, **extra}), "additionalProperties": False}
        return {"$ref": "#/$defs/Test", "$defs": {"Test": {"anyOf": branches}, "Unit": unit}}

    comparison = compare(union({}), union({"b": STRING}), steps=5_000)
    assert (comparison.backward.verdict, comparison.forward.verdict) == (Verdict.YES, Verdict.NO)


def test_exactly_one_of_many_branches_without_a_required_tag_is_decided_within_few_steps() -> None:
    def branch(kind: int, *names: str) -> dict[str, Json]:
        options: Json = {"type": "object", "properties": dict.fromkeys(names, STRING), "additionalProperties": False}
        configurations: Json = {"type": "object", "additionalProperties": options}
        members: dict[str, Json] = {"kind": {"const": kind}, "options": options, "configurations": configurations}
        return {"type": "object", "properties": members, "additionalProperties": False}

    others = [branch(kind, "a", *(f"n{kind}-{i}" for i in range(6))) for kind in range(1, 15)]
    narrow, wide = branch(0, "a", "b"), branch(15, "a", "b", "c")
    for branches, verdict in (([*others, wide], Verdict.NO), (others, Verdict.YES)):
        only_narrow: Json = {"allOf": [narrow, {"not": {"required": ["kind"]}}, {"oneOf": [narrow, *branches]}]}
        assert is_satisfiable(only_narrow, steps=10_000).verdict is verdict


def test_a_shared_definition_tree_is_not_unfolded_exponentially() -> None:
    def tower(last: dict[str, Json]) -> Json:
        levels: dict[str, Json] = {
            f"L{i}": record({"a": {"$ref": f"#/$defs/L{i + 1}"}, "b": {"$ref": f"#/$defs/L{i + 1}"}}) for i in range(40)
        }
        return {"$ref": "#/$defs/L0", "$defs": {**levels, "L40": last}}

    comparison = compare(tower(STRING), tower({"type": ["string", "null"]}))
    assert (comparison.backward.verdict, comparison.forward.verdict) == (Verdict.YES, Verdict.NO)


def test_the_judge_is_the_one_of_the_dialect() -> None:
    for dialect, name in ((Dialect.DRAFT_07, "Draft7Validator"), (Dialect.DRAFT_2020_12, "Draft202012Validator")):
        root: Json = {"$schema": dialect.value}
        asked: Any = DocumentValidator(open_document(root)).of(root).validator
        assert asked.META_SCHEMA == getattr(jsonschema, name).META_SCHEMA


def test_fragments_take_their_references_from_the_document() -> None:
    old: Json = {"$defs": {"A": STRING}}
    new: Json = {"$defs": {"A": {"type": ["string", "null"]}}}
    comparer = Comparer(old, new)
    schema: Json = {"properties": {"a": {"$ref": "#/$defs/A"}}}
    assert comparer.include(schema, schema).verdict is Verdict.YES
    refuted = comparer.include_back(schema, schema)
    assert refuted.witness is not None and refuted.witness.value == {"a": None}


def test_every_schema_walks_what_is_defined_as_well() -> None:
    assert sum(1 for _ in list_schemas(TREE)) == 13
