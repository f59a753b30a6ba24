"""Witnesses with a culprit at a place: what stands there is accepted and refused as asked, and the whole is what every witness is."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from schema_inclusion import Allowance, Comparer, Culprit, Part, Relation, Verdict
from schema_inclusion.values import Json
from schemas_drawn import LEAVES, NAMES, POOL, VALUES, drawing, is_schema, models, pairs

RELEASES: Final = Path(__file__).parents[2] / "schema/releases"

LETTERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "letters": {"type": "array", "items": {"$ref": "#/$defs/Letter"}},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"$ref": "#/$defs/Letter"}]},
    },
    "$defs": {"Letter": {"enum": ["a", "b", "c"]}},
}
FEWER: Final[dict[str, Any]] = {**LETTERS, "$defs": {"Letter": {"enum": ["a", "b"]}}}


def accepts(document: Any, schema: Any, value: Any) -> bool:
    """What the reference judge says of a schema whose references are those of a document."""
    whole = cast("Any", jsonschema.Draft202012Validator(document))
    return bool(whole.evolve(schema=schema).is_valid(value))


def parts(value: Any, step: Any, sender: Any) -> Sequence[Any]:
    """What a step leads to."""
    inside: Any = value
    match step, value:
        case str(), dict():
            return [inside[step]] if step in inside else []
        case int(), list():
            return list(inside[step : step + 1])
        case (Part.ITEM, list()) | (Part.MEMBER, dict()):
            return [*(inside.values() if hasattr(inside, "values") else inside)]
        case dict(), _:
            return [value] if accepts(sender, step, value) else []
        case _:
            return []


def culprits(value: Any, culprit: Culprit, sender: Any, receiver: Any) -> list[Any]:
    """Whatever in a value is what a culprit must be."""
    found = [value]
    for step in culprit.at:
        found = [inner for each in found for inner in parts(each, step, sender)]
    return [
        each
        for each in found
        if accepts(sender, culprit.accepted, each) and not accepts(receiver, culprit.refused, each)
    ]


def confirmed(relation: Relation, culprit: Culprit, old: Any, new: Any, schemas: tuple[Any, Any]) -> bool:
    """Whether a witness is all that it must be."""
    assert relation.witness is not None
    value = relation.witness.value
    refused = accepts(old, schemas[0], value) and not accepts(new, schemas[1], value)
    return refused and bool(culprits(value, culprit, old, new))


@pytest.mark.parametrize(
    ("culprit", "receiver", "witness"),
    [
        (Culprit(("letters", Part.ITEM), {"const": "c"}), None, {"letters": ["c"]}),
        (
            Culprit(("letters", Part.ITEM), {"$ref": "#/$defs/Letter"}, {"$ref": "#/$defs/Letter"}),
            None,
            {"letters": ["c"]},
        ),
        (Culprit(("letters", Part.ITEM), {"const": "a"}), None, None),
        (Culprit(("letters", 1), {"const": "a"}), False, {"letters": ["a", "a"]}),
        (Culprit(("pair", 1), refused={"$ref": "#/$defs/Letter"}), None, {"pair": ["", "c"]}),
        (Culprit(("counts", Part.MEMBER), {"minimum": 4}), False, {"counts": {"": 4}}),
        (Culprit(("counts", {"required": ["x"]}, "x"), {"minimum": 4}), False, {"counts": {"x": 4}}),
        (Culprit(({"required": ["pair"]}, "letters", 0), True), None, {"pair": [], "letters": ["c"]}),
        (Culprit(("absent", "deep"), True), {"properties": {"absent": {"type": "null"}}}, {"absent": {"deep": None}}),
        (Culprit((), {"required": ["other"]}), {"maxProperties": 1}, None),
    ],
    ids=str,
)
def test_a_witness_holds_the_culprit_at_its_place(culprit: Culprit, receiver: Any, witness: Any) -> None:
    comparer = Comparer(LETTERS, FEWER)
    relation = comparer.include(None, receiver, culprit=culprit)
    back = Comparer(FEWER, LETTERS).include_back(None, receiver, culprit=culprit)
    assert relation.verdict is back.verdict
    if witness is None:
        assert relation.verdict is not Verdict.UNDECIDED
    else:
        assert relation.witness is not None and relation.witness.value == witness


def test_of_several_parts_all_are_culprits_if_they_may_be() -> None:
    """Otherwise another item may be why the whole is refused."""
    two: dict[str, Any] = {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 2}
    relation = Comparer(two, {"items": {"enum": [1, 2]}}).include(culprit=Culprit((Part.ITEM,), {"const": 3}))
    assert relation.witness is not None and relation.witness.value == [3, 3]
    relation = Comparer(two, {"items": {"enum": [1, 2]}}).include(culprit=Culprit((Part.ITEM,), {"const": 1}))
    assert relation.verdict is Verdict.YES
    different: dict[str, Any] = {**two, "uniqueItems": True}
    relation = Comparer(different, {"items": {"enum": [1, 2]}}).include(culprit=Culprit((Part.ITEM,), {"const": 3}))
    assert relation.witness is not None and relation.witness.value in ([1, 3], [3, 1], [2, 3], [3, 2])


@pytest.mark.parametrize(
    ("culprit", "reason"),
    [
        (Culprit(("a", {"type": "strin"})), "The culprit's schema is not what its meta-schema allows."),
        (Culprit(accepted={"type": "strin"}), "The culprit's schema is not what its meta-schema allows."),
        (Culprit(refused={"required": "a"}), "The culprit's schema is not what its meta-schema allows."),
        (
            Culprit(accepted={"const": float("inf")}),
            "A schema is not JSON: the number at '/const' is inf, which is not",
        ),
    ],
    ids=str,
)
def test_a_culprit_that_is_no_schema_is_undecided(culprit: Culprit, reason: str) -> None:
    relation = Comparer(LETTERS, FEWER).include(culprit=culprit)
    assert relation.verdict is Verdict.UNDECIDED and relation.reason.startswith(reason)


def changed(old: Any, new: Any, steps: tuple[Any, ...], left: int) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Places in two schemas where they say something else, with what each says there."""
    if old == new or not all(isinstance(each, dict) for each in (old, new)):
        return
    if steps:
        yield steps, old, new
    for name in old.get("properties", {}).keys() & new.get("properties", {}).keys():
        if left:
            yield from changed(old["properties"][name], new["properties"][name], (*steps, name), left - 1)
    for keyword, part in (("items", Part.ITEM), ("additionalProperties", Part.MEMBER)):
        if left and isinstance(old.get(keyword), dict) and isinstance(new.get(keyword), dict):
            yield from changed(old[keyword], new[keyword], (*steps, part), left - 1)


def releases() -> list[tuple[Path, Path]]:
    """Neighbouring releases."""
    folders = [RELEASES / name for name in ("acp/v1", "acp/v2", "mcp")]
    found = [list(folder.glob("[0-9]*.json")) for folder in folders]
    ordered = [
        sorted(each, key=lambda path: [int(part) for part in path.stem.replace("-", ".").split(".") if part.isdigit()])
        for each in found
    ]
    return [pair for each in ordered for pair in itertools.pairwise(each)]


@pytest.mark.parametrize(
    "pair", tiers.sample(releases(), 8, lambda pair: f"{pair[0].parent.name}-{pair[0].stem}-{pair[1].stem}")
)
def test_witnesses_of_real_releases_hold_their_culprits(pair: tuple[Path, Path]) -> None:
    old, new = (json.loads(path.read_text("utf-8")) for path in pair)
    comparer = Comparer(old, new)
    seen: Counter[Verdict] = Counter()
    keyword = "$defs" if "$defs" in old else "definitions"
    for name in sorted(old[keyword].keys() & new.get(keyword, {}).keys()):
        schemas: tuple[Json, Json] = {"$ref": f"#/{keyword}/{name}"}, {"$ref": f"#/{keyword}/{name}"}
        for steps, before, after in changed(old[keyword][name], new[keyword][name], (), 2):
            for ask, one, other, accepted, refused in (
                (comparer.include, old, new, before, after),
                (comparer.include_back, new, old, after, before),
            ):
                culprit = Culprit(steps, accepted, refused)
                relation = ask(*schemas, culprit=culprit)
                seen[relation.verdict] += 1
                if relation.verdict is Verdict.NO:
                    assert confirmed(relation, culprit, one, other, schemas)
    assert seen[Verdict.UNDECIDED] <= 0.02 * seen.total(), seen


STEPS: Final = st.one_of(st.sampled_from([*NAMES, 0, 1, *Part]), LEAVES.filter(lambda schema: isinstance(schema, dict)))


def is_every_part_one(value: Any, steps: Sequence[Any], culprit: Culprit, sender: Any, receiver: Any) -> bool:
    """Whether there is a culprit where the steps lead, and nothing else."""
    if not steps:
        return bool(culprits(value, replace(culprit, at=()), sender, receiver))
    found = parts(value, steps[0], sender)
    return bool(found) and all(is_every_part_one(each, steps[1:], culprit, sender, receiver) for each in found)


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_no_answer_about_a_drawn_culprit_is_refuted(whole: bool) -> None:
    seen: Counter[Verdict] = Counter()

    @drawing(300, whole=whole)
    @given(
        pairs(), st.lists(STEPS, max_size=2), LEAVES, LEAVES, st.sampled_from(["nothing", "refused", "both"]), VALUES
    )
    def hunt(pair: tuple[Any, Any], at: list[Any], accepted: Any, refused: Any, asked: str, value: Json) -> None:
        old, new = pair
        culprit = Culprit(tuple(at), accepted, {"not": {}} if asked == "nothing" else refused)
        schemas = old, new if asked == "both" else False
        if not all(map(is_schema, (old, new, accepted, refused))):
            return
        relation = Comparer(old, new, steps=10_000).include(*schemas, culprit=culprit)
        seen[relation.verdict] += 1
        if relation.verdict is Verdict.NO:
            assert confirmed(relation, culprit, old, new, schemas)
        elif relation.verdict is Verdict.YES:
            one, other = map(jsonschema_rs.validator_for, schemas)
            refuted = [
                each for each in (value, *POOL, *models(old, 3)) if one.is_valid(each) and not other.is_valid(each)
            ]
            assert not any(is_every_part_one(each, at, culprit, old, new) for each in refuted[:20])

    hunt()
    assert seen[Verdict.YES] > 60 and seen[Verdict.NO] > 60, seen
    assert seen[Verdict.UNDECIDED] < 0.02 * seen.total(), seen


def test_a_question_about_a_culprit_ends_undecided_wherever_its_budget_ends() -> None:
    schema: Any = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a+$"}}, "required": ["a"]}
    other: Any = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(aa)+$"}}}
    for steps in range(1, 60):
        comparer = Comparer(schema, other, allowance=Allowance(steps))
        relation = comparer.include(culprit=Culprit(["a"], {}, {"pattern": "^(aa)+$"}))
        assert relation.verdict.value in ("no", "undecided")
