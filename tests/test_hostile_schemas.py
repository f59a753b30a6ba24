"""Schemas that were written to take long: each ends, and says why where it is not done; how much is allowed is counted in steps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

import tiers
from acpgen import Faults, cli, lint, publish
from acpgen.compat.language import Definitions, list_removed, list_unreferenced
from acpgen.diagnostics.markup import split_sentences
from acpgen.errors import Fault
from acpgen.input import step_budget
from acpgen.input.complexity import LONGEST_CHAIN, require_short_chains
from acpgen.input.faults import TOO_DEEP, TOO_LONG_CHAIN, TOO_MUCH_WORK
from acpgen.input.load import Source, parse
from acpgen.input.schema_nodes import Schemas
from acpgen.meaning.samples import Unmakeable, Values
from acpgen.meaning.understanding import understand
from acpgen.naming.qualifiers import make_branch_words
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from hostile_schemas import SHAPES, TEXT, Schema, alternatives, level, levels, protocol, text
from schema_inclusion import Allowance, Comparer, conjunction
from test_doubling import ending

BIG = (
    "references in a row",
    "references in allOf",
    "deep in not",
    "large enum of numbers",
    "many required",
    "many dangling references",
    "pattern of counts",
    "pointers",
    "a circle of references",
)
"""Shapes that are also tried at just below 1 MB."""


def source(shape: str, size: int) -> Source:
    return Source("p", "", (("p.json", text(shape, size).encode()),))


def steps(work: Callable[[], object]) -> int:
    """The steps that work takes, whether or not it is done in the end."""
    with step_budget.limit_steps("p.json", 0), ending():
        with suppress(Faults):
            work()
        return step_budget.count_steps()


@pytest.mark.parametrize("shape", tiers.sample(SHAPES, 25))
def test_a_schema_is_understood_and_linted_or_refused_within_the_steps_that_it_is_given(shape: str) -> None:
    given = source(shape, SHAPES[shape][1][0])
    assert steps(lambda: understand(parse(given))) <= step_budget.STEPS
    assert steps(lambda: lint.lint(given)) <= step_budget.STEPS


@pytest.mark.parametrize("shape", tiers.sample(BIG, 1))
def test_nearly_a_megabyte_is_read_or_refused_within_the_steps_that_it_is_given(shape: str) -> None:
    given = source(shape, SHAPES[shape][1][-1])
    assert steps(lambda: understand(parse(given))) <= step_budget.STEPS


def test_the_same_work_takes_the_same_steps() -> None:
    given = source("alternatives below alternatives", 8)
    assert steps(lambda: understand(parse(given))) == steps(lambda: understand(parse(given))) > 1000


def test_steps_are_counted_where_something_is_bounded_and_work_inside_of_it_shares_them() -> None:
    step_budget.spend(10**9)
    assert step_budget.count_steps() == 0
    with step_budget.limit_steps("a.json", 0):
        step_budget.spend(5)
        with step_budget.limit_steps("b.json", 0):
            step_budget.spend(2)
        assert step_budget.count_steps() == 7
        step_budget.set_place("a.json#/$defs/A")
        with pytest.raises(Faults) as caught:
            step_budget.spend(step_budget.STEPS)
    assert caught.value.faults == (TOO_MUCH_WORK("a.json#/$defs/A", limit=step_budget.STEPS),)
    with step_budget.limit_steps("a.json", 3 << 20):
        step_budget.spend(3 * step_budget.STEPS)


def test_all_stages_of_a_command_share_the_steps_of_a_protocol() -> None:
    given = source("alternatives below alternatives", 8)
    with step_budget.join_steps():
        meaning, bundled = understand(parse(given))
        with step_budget.limit_steps("p.json", bundled.size):
            understood = step_budget.count_steps()
        TARGETS["vectors"](meaning, bundled, Settings())
        lint.lint(given)
        with step_budget.limit_steps("p.json", bundled.size):
            assert step_budget.count_steps() > understood > 1000
            step_budget.spend(step_budget.STEPS - step_budget.count_steps())
        with step_budget.limit_steps("other.json", 0):
            assert step_budget.count_steps() == 0
        with pytest.raises(Faults) as caught:
            TARGETS["vectors"](meaning, bundled, Settings())
    assert {fault.kind for fault in caught.value.faults} == {TOO_MUCH_WORK}
    TARGETS["vectors"](meaning, bundled, Settings())


def test_lint_shares_the_steps_of_a_protocol_in_whichever_folder_it_lies() -> None:
    given = replace(source("alternatives below alternatives", 8), root="elsewhere/below")
    with step_budget.join_steps():
        _, bundled = understand(parse(given))
        with step_budget.limit_steps("p.json", bundled.size):
            step_budget.spend(step_budget.STEPS - step_budget.count_steps())
        with pytest.raises(Faults) as caught:
            lint.lint(given)
    (fault,) = caught.value.faults
    assert fault.kind == TOO_MUCH_WORK
    assert fault.at.startswith("elsewhere/below/p.json")


@pytest.mark.parametrize("length", [LONGEST_CHAIN, LONGEST_CHAIN + 1])
def test_a_chain_is_as_long_as_the_schemas_that_judge_one_value(length: int) -> None:
    definitions = levels(length - 1, lambda number: level(number + 1))["$defs"]
    del definitions["GoRequest"]
    if length <= LONGEST_CHAIN:
        require_short_chains(definitions, {})
        return
    with pytest.raises(Faults) as caught:
        require_short_chains(definitions, {"L0": "p.json#/$defs/L0"})
    assert caught.value.faults == (TOO_LONG_CHAIN("p.json#/$defs/L0", limit=LONGEST_CHAIN),)


def test_a_chain_through_fields_is_no_chain() -> None:
    definitions = levels(1_000, lambda n: {"type": "object", "properties": {"a": level(n + 1)}})["$defs"]
    require_short_chains(definitions, {})


@pytest.mark.parametrize("inner", [{"items": {}}, {"prefixItems": [{}], "minItems": 1}, {"additionalProperties": {}}])
def test_types_that_lie_in_one_another_are_python_or_refused_with_the_reason(inner: Mapping[str, Any]) -> None:
    def chained(length: int) -> dict[str, Any]:
        kind = "object" if "additionalProperties" in inner else "array"
        texts = (
            json.dumps({"type": kind, **inner}).replace("{}", f'{{"$ref": "#/$defs/L{n + 1}"}}') for n in range(length)
        )
        definitions = {f"L{number}": json.loads(text) for number, text in enumerate(texts)}
        return {"$defs": {**definitions, f"L{length}": {"type": "object", "properties": {"a": {"type": "string"}}}}}

    def package(length: int) -> Mapping[str, str]:
        source = Source("p", "", (("p.json", json.dumps(chained(length)).encode()),))
        return TARGETS["python"](*understand(parse(source)), Settings(package="a.v1"))

    assert "a/v1/models.py" in package(LONGEST_CHAIN)
    with pytest.raises(Faults) as caught:
        package(LONGEST_CHAIN + 1)
    (fault,) = caught.value.faults
    assert (fault.kind, fault.at.partition("#")[2]) == (TOO_LONG_CHAIN, "/$defs/L0")


def test_what_leads_back_to_itself_is_no_chain() -> None:
    require_short_chains({"A": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/A"}]}}, {})


def test_lint_of_what_is_nested_too_deep_is_a_fault() -> None:
    with pytest.raises(Faults) as caught:
        lint.lint(source("deep in not", 200))
    assert {fault.kind for fault in caught.value.faults} == {TOO_DEEP}


@pytest.mark.parametrize("target", ["docs", "vectors"])
def test_targets_count_the_values_that_they_make_and_judge(target: str) -> None:
    meaning, bundled = understand(parse(source("wide oneOf by tag", 100)))
    with step_budget.limit_steps("p.json", 0):
        step_budget.spend(step_budget.STEPS - 50)
        with pytest.raises(Faults) as caught:
            TARGETS[target](meaning, bundled, Settings(package="p.q"))
    assert {fault.kind for fault in caught.value.faults} == {TOO_MUCH_WORK}


def test_the_records_of_a_python_package_are_counted_though_another_tool_emits_them() -> None:
    meaning, bundled = understand(parse(source("wide oneOf by tag", 100)))
    assert steps(lambda: TARGETS["python"](meaning, bundled, Settings(package="p.q"))) > 100 * 100


def test_spaces_in_a_file_allow_for_no_more_steps() -> None:
    given = source("many methods", 10)
    ((name, content),) = given.files
    padded = replace(given, files=((name, b" " * (3 << 20) + content.replace(b",", b" , ")),))
    assert parse(padded).size == parse(given).size > 0


def test_the_pages_of_the_docs_are_counted_though_templates_make_them() -> None:
    meaning, bundled = understand(parse(source("many methods", 100)))
    assert steps(lambda: TARGETS["docs"](meaning, bundled, Settings())) > 100 * 60


def test_the_docs_of_a_project_are_counted_with_all_that_is_made_of_the_protocol() -> None:
    read = understand(parse(source("many methods", 10)))
    version = publish.Version(*read, Settings(package="p.q"), lambda at: f"project/{at}")
    assert steps(lambda: publish.map_texts(publish.make_pages([version]))) > 10 * 60
    with step_budget.join_steps():
        with read[1].limit_steps():
            step_budget.spend(step_budget.STEPS - 50)
        with pytest.raises(Faults) as caught:
            publish.map_texts(publish.make_pages([version]))
    (fault,) = caught.value.faults
    assert fault.kind == TOO_MUCH_WORK
    assert fault.at.startswith("project/p.json")


def test_lint_looks_at_a_union_once_and_not_once_for_each_branch() -> None:
    few, many = (steps(partial(lint.lint, source("wide oneOf by tag", size))) for size in (200, 400))
    assert many < 2.2 * few


def test_a_comparison_of_languages_counts_every_part_of_a_clause_that_it_judges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged, judge = [0], conjunction._find_status

    def counted(*given: Any) -> bool | None:
        judged[0] += 1
        return judge(*given)

    monkeypatch.setattr(conjunction, "_find_status", counted)
    root = cast("Any", {**levels(100, alternatives, {"type": "object"}), "$ref": "#/$defs/L0"})
    allowance = Allowance(1_000_000)
    Comparer(root, {**root, "minProperties": 1}, allowance=allowance).compare()
    assert judged[0] > 10_000
    assert 1_000_000 - allowance.left > judged[0] / 8


@pytest.mark.parametrize("target", ["docs", "vectors"])
def test_records_that_need_one_another_on_and_on_have_no_example_and_end_no_target(target: str) -> None:
    meaning, bundled = understand(parse(source("fields in a row", 400)))
    with ending():
        assert TARGETS[target](meaning, bundled, Settings())
    with pytest.raises(Unmakeable):
        Values(meaning.definitions).make_small("L0")
    assert Values(meaning.definitions).make_small("L390")


def test_definitions_that_lead_to_a_change_however_far_are_compared_in_one_walk() -> None:
    before: dict[str, Any] = {f"L{number}": level(number + 1) for number in range(3_000)}
    before |= {"L3000": {}, "Other": {}, "Gone": {}}
    after: dict[str, Any] = {**{name: each for name, each in before.items() if name != "Gone"}, "L3000": False}
    with ending():
        old, new = (Definitions(cast("Any", {"$defs": each})) for each in (before, after))
        places = {f"#/$defs/L{number}" for number in range(3_001)}
        assert set(list_unreferenced(old, new)) == {(place, place) for place in places}
        assert list_removed(old, new) == ("#/$defs/Gone",)


@pytest.mark.parametrize("branches", [1_000, pytest.param(2_500, marks=pytest.mark.exhaustive)])
def test_a_union_of_thousands_is_python_that_python_and_ruff_read(branches: int) -> None:
    meaning, bundled = understand(parse(source("wide oneOf by tag", branches)))
    with ending():
        files = TARGETS["python"](meaning, bundled, Settings(package="p.q"))
    (models,) = (content for path, content in files.items() if path.endswith("models.py"))
    assert f"T{branches - 1}" in str(models)


def test_fields_whose_names_are_long_take_time_in_proportion() -> None:
    meaning, bundled = understand(parse(source("names that collide", 700)))
    with ending():
        assert TARGETS["python"](meaning, bundled, Settings(package="p.q"))


def test_branches_that_are_alike_are_counted_on_from_one_another() -> None:
    with ending():
        found = make_branch_words(
            [Schemas({}).make_node({"required": [f"a{number % 2}"]}) for number in range(6_000)], None
        )
    assert len(set(found)) == 6_000
    assert found[:6] == ["WithA0", "WithA1", "Any", "AnyAny", "WithA0Variant2", "WithA1Variant2"]


def test_sentences_are_told_apart_in_one_walk() -> None:
    with ending():
        assert list(split_sentences("word " * 100_000)) == [("word " * 100_000).strip()]
        assert len(list(split_sentences("[`*<" * 100_000))) == 1
    assert list(split_sentences("A `b. c` d. An open ` e. F.g")) == ["A `b. c` d.", "An open ` e.", "F.g"]


@pytest.mark.parametrize(
    "command",
    [
        ["generate", "--schema", "p.json", "--package", "p", "--target", "bundle", "--out", "out"],
        ["diff", "p.json", "p.json"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_looks_once_at_each_of_many_faults(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each fault was once compared with the text of all before it."""
    (tmp_path / "p.json").write_text(text("many faults", 300))
    written = Counter[str]()

    def counted(fault: Fault) -> str:
        written[fault.at] += 1
        return f"{fault.at}: told"

    monkeypatch.setattr(Fault, "__str__", counted)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        cli.app(command, prog_name="acpgen")
    assert len(written) == 300
    assert max(written.values()) <= 4


@pytest.mark.parametrize("target", ["docs", "vectors", "python"])
@pytest.mark.parametrize(
    "array", [{"items": TEXT}, {"prefixItems": [TEXT]}, {"prefixItems": [TEXT], "items": TEXT}, {"uniqueItems": True}]
)
def test_no_target_makes_an_array_of_as_many_items_as_somebody_may_write(array: Schema, target: str) -> None:
    given = protocol({"L0": {"type": "array", "minItems": 10**12, "maxItems": 10**12 + 1, **array}})
    meaning, bundled = understand(parse(Source("p", "", (("p.json", json.dumps(given).encode()),))))
    assert TARGETS[target](meaning, bundled, Settings(package="p.q"))
