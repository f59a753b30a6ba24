"""A comparison takes no more steps than its budget, and says what it left open for that."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from acpgen.cli import app
from acpgen.compat.check_report import check_report
from acpgen.compat.compare import compare
from acpgen.compat.diff import scalars
from acpgen.compat.findings import BUDGET, Mode, Report
from acpgen.compat.protocol.check.context import UNPROVEN
from acpgen.compat.protocol.messages import WitnessValidator
from compat.protocols import CANONICAL, ROOT, migration
from test_shared_parts import written


@lru_cache(maxsize=2)
def versions(budget: int) -> Report:
    return migration() if budget == BUDGET else compare(*CANONICAL[:2], budget=budget)


def test_what_is_left_when_the_budget_is_spent_is_undecided_and_counted() -> None:
    whole, cut = versions(BUDGET), versions(200)
    open_ = [each for each in cut.findings if "Undecided: budget. The budget of 200 steps is spent" in each.message]
    assert open_
    assert {each.severity for each in open_} == {"undecided"}
    assert whole.coverage is not None
    assert cut.coverage is not None
    assert {each.location or "root" for each in open_} <= {each.name for each in cut.coverage.not_compared}
    assert not whole.coverage.not_compared
    assert not [each for each in whole.findings if "budget" in each.message]
    assert {each.severity for each in cut.findings} >= {each.severity for each in open_}
    assert "yes" not in (cut.language.backward, cut.language.forward)


def test_the_same_budget_gives_the_same_report() -> None:
    releases = [ROOT / "schema/releases/acp/v1" / f"{name}.json" for name in ("0.4.0", "0.10.8")]
    assert compare(*releases, budget=100) == compare(*releases, budget=100)


@pytest.mark.parametrize("budget", [pytest.param(1, marks=pytest.mark.exhaustive), 200])
def test_less_budget_makes_no_finding_milder(budget: int) -> None:
    def severities(report: Report) -> dict[Any, set[str]]:
        found: dict[Any, set[str]] = {}
        for each in report.findings:
            for place in each.reaches or (each,):
                found.setdefault((each.rule, place.method, place.location), set()).add(place.severity)
        return found

    whole, cut = severities(versions(BUDGET)), severities(versions(budget))
    for key, known in whole.items():
        if not known.isdisjoint({"breaking", "risky"}):
            # What no rule could explain then is told of the whole message.
            there = cut.get(key) or {each for found, kinds in cut.items() if found[1] == key[1] for each in kinds}
            assert there <= known | {"undecided"} if key in cut else "undecided" in there, key


CASES = Path(__file__).with_name("cases")


@pytest.mark.parametrize(
    "case",
    [
        "batch-withdrawn/root",
        "field-became-required/params",
        "field-removed/open",
        "limit-tightened/pattern",
        "method-removed/request",
        "null-forbidden/forgiving",
        "variant-removed/taken-for-the-default",
    ],
)
def test_wherever_the_budget_ends_what_breaks_has_its_message_and_the_header_promises_no_more(case: str) -> None:
    def answers(report: Report) -> dict[tuple[str, str], str]:
        return {
            (name, direction): getattr(getattr(report, name), direction)
            for name in ("wire", "language")
            for direction in ("backward", "forward")
        }

    folder = CASES / case
    for mode in get_args(Mode):
        whole = compare(folder / "old.json", folder / "new.json", mode=mode)
        for budget in [*range(1, 16), 20, 30, 60, 90, 150]:
            cut = compare(folder / "old.json", folder / "new.json", mode=mode, budget=budget)
            assert all(each.witness is not None for each in cut.findings if each.severity == "breaking")
            known = answers(whole)
            assert all(answer in ("undecided", known[key]) for key, answer in answers(cut).items()), budget


@pytest.mark.parametrize(
    ("case", "steps"),
    [("field-became-required/params", 150), ("limit-tightened/pattern", 140), ("null-forbidden/forgiving", 110)],
)
def test_a_witness_is_found_and_judged_within_a_few_steps(case: str, steps: int) -> None:
    folder = CASES / case
    whole, cut = (compare(folder / "old.json", folder / "new.json", budget=each) for each in (BUDGET, steps))
    assert cut.findings == whole.findings


def test_what_a_variant_costs_does_not_grow_with_the_union(tmp_path: Path) -> None:
    def union(longest: int) -> Path:
        kinds = {
            f"Kind{at}": {
                "type": "object",
                "properties": {"kind": {"const": f"k{at}"}, "text": {"type": "string", "maxLength": longest}},
                "required": ["kind"],
            }
            for at in range(40)
        }
        item = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}
        params = {"type": "object", "properties": {"item": {"$ref": "#/$defs/Item"}}, "required": ["item"]}
        made = {**kinds, "Item": item, "GoRequest": {**params, "x-method": "go", "x-side": "agent"}}
        path = tmp_path / f"{longest}.json"
        path.write_text(json.dumps({"$defs": made}), "utf-8")
        return path

    report = compare(union(10), union(9), budget=40 * 150)
    assert len(report.findings) == 40
    assert all(each.severity == "breaking" and each.witness is not None for each in report.findings)


def test_one_message_proves_a_change_for_all_places_that_refer_to_it(tmp_path: Path) -> None:
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, values in zip(paths, (["a", "b"], ["a"]), strict=True):
        unit = {"anyOf": [{"enum": values}, {"enum": ["x"]}]}
        fields = {f"field{at}": {"anyOf": [{"$ref": "#/$defs/Unit"}, {"type": "integer"}]} for at in range(300)}
        path.write_text(json.dumps({"type": "object", "properties": fields, "$defs": {"Unit": unit}}), "utf-8")
    (finding,) = compare(*paths, budget=10_000).findings
    assert (finding.rule, finding.severity) == ("closed-value-removed", "breaking")
    assert {each.location for each in finding.reaches} == {f"field{at}" for at in range(300)}
    assert {each.severity for each in finding.reaches} == {"breaking"}


def test_a_message_that_is_not_confirmed_leaves_its_finding_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> bool:
        return False

    monkeypatch.setattr(WitnessValidator, "accepts", nothing)
    folder = CASES / "field-became-required/params"
    report = compare(folder / "old.json", folder / "new.json")
    (finding,) = [each for each in report.findings if each.rule == "field-became-required"]
    assert finding.severity == "undecided" and UNPROVEN in finding.message
    assert finding.witness is None and not finding.breaks
    assert report.wire.backward == "undecided"


@pytest.mark.parametrize("mode", ["protocol", "language"])
def test_a_budget_of_one_step_proves_nothing(tmp_path: Path, mode: Mode) -> None:
    paths = [written(tmp_path, "allOf", kind) for kind in ("integer", "string")]
    report = compare(*paths, mode=mode, budget=1)
    assert report.verdict == "undecided"
    assert any("udget" in each.message for each in report.findings)


def test_what_the_budget_leaves_open_in_one_declaration_is_reported_once_with_its_count(tmp_path: Path) -> None:
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, kinds in zip(paths, (range(20), range(20, 40)), strict=True):
        branches = [{"type": "object", "properties": {f"n{kind}": {"const": kind}}} for kind in kinds]
        path.write_text(json.dumps({"properties": {"item": {"oneOf": branches}}}), "utf-8")
    report = compare(*paths, budget=1)
    diagnostics = check_report(report).diagnostics
    counts = {each.rule: each.count for each in diagnostics if each.severity == "undecided"}
    assert (counts["alternative-added"], counts["alternative-removed"]) == (20, 20)
    assert sum(each.count for each in diagnostics) == len(report.findings)
    assert len(counts) == len([each for each in diagnostics if each.fails])


def test_the_command_takes_the_budget(tmp_path: Path) -> None:
    old, new = (written(tmp_path, "allOf", kind) for kind in ("integer", "string"))
    result = CliRunner().invoke(app, ["diff", str(old), str(new), "--budget", "1", "--format", "json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["verdict"] == "undecided"
    assert CliRunner().invoke(app, ["diff", str(old), str(new), "--budget", "0"]).exit_code == 2


def test_more_alternatives_than_are_compared_each_with_each_are_left_to_the_prover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lengths(longest: int) -> Path:
        """Texts of every other length: those of one side are never those of the other."""
        either = [{"type": "string", "minLength": at, "maxLength": at} for at in range(longest, longest + 10, 2)]
        made = {
            "GoRequest": {
                "type": "object",
                "properties": {"x": {"anyOf": either}},
                "x-method": "go",
                "x-side": "agent",
            }
        }
        path = tmp_path / f"{longest}.json"
        path.write_text(json.dumps({"$defs": made}), "utf-8")
        return path

    monkeypatch.setattr(scalars, "MOST_PAIRS", 20)
    report = compare(lengths(1), lengths(2))
    assert report.verdict == "breaking"
    assert all(each.witness is not None and each.witness.verified for each in report.findings)
    same = compare(lengths(1), lengths(1))
    assert same.verdict == "identical"
