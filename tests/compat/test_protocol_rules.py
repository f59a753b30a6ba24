"""Every rule in cases of its own: a folder with an old and a new schema, and all that is found between them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, get_args

import pytest
from jsonschema_rs import validator_for

from acpgen.compat.catalogue import PAGES, as_json, as_markdown, as_text, list_rules, write_pages
from acpgen.compat.changes import Kind
from acpgen.compat.compare import compare, read_revision
from acpgen.compat.findings import SEVERITIES, Finding, Report, Revision
from acpgen.compat.rule import EFFECTS, Flow, Gate, RuleEffect, decide_severity
from acpgen.compat.rules import RULES
from acpgen.compat.sources import open_input
from acpgen.input.load import read_data
from acpgen.resources import RULE_EXAMPLES
from compat import rule_examples
from compat.histories import SIDES, Pair, routed
from compat.protocols import ROOT, validates

MIRRORS = {row.id: row.mirror for row in RULES if row.mirror}
CASES = Path(__file__).parent / "cases"
AGAIN = "pages show what the cases no longer say: pytest --rewrite-goldens"
SCHEMA = ROOT / "generator" / "acpgen" / "compat" / "check_report.schema.json"


def cases() -> list[Path]:
    return sorted(path.parent for path in CASES.glob("*/*/old.json"))


@cache
def examples_of_cases() -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """The findings that pages show of each case, each with the rule of the page."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for rule, pairs in read_data(RULE_EXAMPLES).items():
        for pair in (pairs["bad"], pairs["good"]):
            if "finding" in pair:
                found.setdefault(pair["case"], []).append((rule, pair["finding"]))
    return found


Judge: TypeAlias = Callable[[Finding, Revision, Any, bool], bool]
"""Whether it says of a message that a revision takes it, or does not."""


def judge_of(case: Path, report: Report) -> Judge:
    """A second validator: of the files in language mode, and of the messages that a finding is about otherwise."""
    files = case / "old.json", case / "new.json"
    _, policy = rule_examples.policy_of(case)
    if report.mode == "language":
        plain = {side: validator_for(json.loads(file.read_text())) for side, file in zip(SIDES, files, strict=True)}
        return lambda _, side, value, verdict: plain[side].is_valid(value) is verdict
    old, new = (read_revision(open_input(file, checked=True, unstable=False), unstable=False) for file in files)
    pair = Pair(old, new, files, report)
    return lambda finding, side, value, verdict: any(
        pair.accepts(side, held, value, formats=policy.formats) is verdict for held in routed(pair, finding, side)
    )


def is_proven(judge: Judge, finding: Finding, value: Any) -> bool:
    """Whether a revision accepts the message and the other refuses it, or one carries what is lost."""
    witness = finding.witness
    assert witness is not None
    taken: list[Revision] = [side for side in (witness.accepted_by, witness.carried_by) if side is not None]
    refused: list[Revision] = [] if witness.refused_by is None else [witness.refused_by]
    return all(judge(finding, side, value, True) for side in taken) and all(
        judge(finding, side, value, False) for side in refused
    )


def test_there_are_cases_and_each_rule_has_a_folder_of_its_own() -> None:
    assert {path.name for path in CASES.iterdir()} == {entry.id for entry in list_rules()}


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_case_finds_all_that_it_should_and_nothing_else(case: Path, request: pytest.FixtureRequest) -> None:
    """Whoever improves a message or a sentence rewrites no expectation: a judge confirms the message, and the page shows the sentence."""
    report = rule_examples.report_of(case)
    found = rule_examples.data_of(report, case)
    is_rewriting = request.config.getoption("rewrite_goldens")
    if is_rewriting:
        assert not os.environ.get("CI"), "goldens are rewritten by people, and read before they are committed"
        text = json.dumps(rule_examples.pin(found), indent=2, ensure_ascii=False)
        (case / "expected.json").write_text(f"{text}\n", "utf-8")
    assert rule_examples.pin(found) == rule_examples.expectation_of(case)
    assert case.parent.name in {each["rule"] for each in (*found["findings"], *found["notes"])}, (
        "the rule does not fire in its own case"
    )
    assert validates(json.loads(SCHEMA.read_text()), found)
    judge = judge_of(case, report)
    for finding in report.findings:
        if finding.witness is not None:
            assert is_proven(judge, finding, finding.witness.value), finding
    name = f"{case.parent.name}/{case.name}"
    for rule, shown in () if is_rewriting else examples_of_cases().get(name, ()):
        index = rule_examples.choose(found["findings"], rule, case)
        assert index is not None
        told = rule_examples.describe(found["findings"][index])
        assert {**told, "witness": shown.get("witness")} == {"witness": None, **shown}, AGAIN
        assert "witness" not in shown or is_proven(judge, report.findings[index], shown["witness"]), AGAIN


def test_every_kind_of_change_has_a_rule_and_every_rule_a_kind() -> None:
    sides = ("", "-added", "-removed", "-changed")
    known = {f"{kind}{side}" for kind in get_args(Kind) for side in sides}
    judged = {row.on for row in RULES if row.on}
    assert judged <= known
    for kind in get_args(Kind):
        assert any(f"{kind}{side}" in judged for side in sides), kind


def test_every_rule_has_its_mirror_or_a_reason_why_there_is_none() -> None:
    ids = {entry.id for entry in list_rules()}
    unmirrored = {row.id for row in RULES if row.unmirrored.strip()}
    mirrored = {*MIRRORS, *MIRRORS.values()}
    assert mirrored | unmirrored == ids
    assert not mirrored & unmirrored
    assert len(MIRRORS) == len(set(MIRRORS.values()))


@pytest.mark.parametrize(("rule", "mirror"), MIRRORS.items())
def test_a_mirror_fires_when_its_rules_case_is_turned_around(rule: str, mirror: str) -> None:
    fired: set[str] = set()
    mode = rule_examples.mode_of(rule)
    for case in (CASES / rule).iterdir():
        fired |= {finding.rule for finding in compare(case / "new.json", case / "old.json", mode=mode).findings}
    assert mirror in fired


def test_the_pages_of_rules_show_pairs_from_the_cases(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("rewrite_goldens"):
        assert not os.environ.get("CI"), "goldens are rewritten by people, and read before they are committed"
        rule_examples.FILE.write_text(rule_examples.text(), encoding="utf-8")
        read_data.cache_clear()
    shown = json.loads(rule_examples.FILE.read_text("utf-8"))
    for pairs in shown.values():
        for pair in (pairs["bad"], pairs["good"]):
            for key in ("message", "witness"):  # which the test of the case compares
                pair.get("finding", {}).pop(key, None)
    assert shown == rule_examples.examples(), AGAIN
    shown = read_data(RULE_EXAMPLES)
    assert set(shown) == {entry.id for entry in list_rules()}
    for rule, pairs in shown.items():
        assert pairs["severities"], rule
        assert pairs["bad"]["counts"] and not pairs["good"]["counts"], (
            f"{rule}: none of its cases harms, or all do: name the case of another rule in BAD or GOOD of rule_examples.py"
        )
        assert rule in {pairs[kind]["case"].partition("/")[0] for kind in ("bad", "good")} or rule.startswith("waiver-")
        for kind in ("bad", "good"):
            assert (CASES / pairs[kind]["case"] / "expected.json").exists()


def test_the_printed_lists_of_rules_are_one_list() -> None:
    ids = [entry.id for entry in list_rules()]
    assert [entry["id"] for entry in json.loads(as_json())] == ids
    assert [line.removeprefix("## ") for line in as_markdown().splitlines() if line.startswith("## ")] == ids
    assert [line for line in as_text().splitlines() if line and not line.startswith(" ")] == ids
    assert max(map(len, as_text().splitlines())) <= 80


def test_every_rule_has_a_page_whose_links_lead_to_others() -> None:
    made = write_pages()
    assert set(made) == {entry.page for entry in list_rules()}
    for path, text in made.items():
        name = path.removeprefix(f"{PAGES}/").removesuffix(".md")
        assert text.startswith(f"# {name}\n")
        assert text.count("\n## ") == 2
        for link in re.findall(r"\]\(([^)#]+)", text):
            assert link == "../compatibility.md" or f"{PAGES}/{link}" in made, (path, link)


def test_every_rule_is_documented_in_sentences() -> None:
    for entry in list_rules():
        assert entry.doc.endswith((".", "`.")), entry.id
        assert entry.doc[0].isupper() or entry.doc[0] == "`", entry.id


def test_a_gate_makes_nothing_worse_and_what_nobody_is_sent_breaks_nobody() -> None:
    assert set(EFFECTS) == set(get_args(RuleEffect))
    for effect in get_args(RuleEffect):
        for flow in get_args(Flow):
            ranks = [SEVERITIES.index(decide_severity(effect, flow, gate)) for gate in ("none", "known", "fresh")]
            assert ranks == sorted(ranks) and ranks[0] == ranks[1], (effect, flow)
        assert {decide_severity(effect, "nobody", gate) for gate in get_args(Gate)} == {"editorial"}
