"""Every rule in cases of its own: a folder with an old and a new schema, and all that is found between them."""

from __future__ import annotations

import json
import os
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from acpgen import config
from acpgen.compat.catalogue import PAGES, as_json, as_markdown, as_text, catalogue, examples
from acpgen.compat.command import of_project, spot_of
from acpgen.compat.compare import compare
from acpgen.compat.findings import Mode
from acpgen.compat.promises import judged
from acpgen.compat.protocol import facts
from acpgen.compat.protocol.policy import EFFECTS, SEVERITY
from acpgen.compat.protocol.rules.rulebook import MIRRORS, RULES, UNMIRRORED
from acpgen.compat.report.data import as_data
from acpgen.compat.rule_pages import pages
from acpgen.compat.waivers import read, waive
from acpgen.schema.load import place
from compat import rule_examples
from compat.protocols import ROOT, validates

CASES = Path(__file__).parent / "cases"
SCHEMA = ROOT / "generator" / "acpgen" / "compat" / "report" / "report.schema.json"


def cases() -> list[Path]:
    return sorted(path.parent for path in CASES.glob("*/*/old.json"))


def outcome(case: Path) -> dict[str, Any]:
    """What the check says of a case; files are named as in the folder."""
    mode: Mode = "language" if case.parent.name.startswith("language-") else "protocol"
    project = config.read(case) if (case / "pyproject.toml").exists() else None
    promised = of_project(project)
    report = compare(case / "old.json", case / "new.json", mode=mode, formats=promised.formats)
    report = judged(report, promised, date(2026, 7, 1), spot_of(project))
    waivers = case / "compat-waivers.toml"
    if waivers.exists():
        report = waive(report, read(waivers), date(2026, 7, 1))
    data = as_data(report)
    text = json.dumps(data)
    for folder in (case.as_posix(), place(case)):
        text = text.replace(f"{folder}/", "")
    return json.loads(text)  # type: ignore[no-any-return]


def test_there_are_cases_and_each_rule_has_a_folder_of_its_own() -> None:
    assert {path.name for path in CASES.iterdir()} == {entry.id for entry in catalogue()}


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_case_finds_all_that_it_should_and_nothing_else(case: Path, request: pytest.FixtureRequest) -> None:
    expected = case / "expected.json"
    found = outcome(case)
    if request.config.getoption("rewrite_goldens"):
        assert not os.environ.get("CI"), "goldens are rewritten by people, and read before they are committed"
        expected.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    assert found == json.loads(expected.read_text())
    assert case.parent.name in {each["rule"] for each in (*found["findings"], *found["notes"])}, (
        "the rule does not fire in its own case"
    )
    assert validates(json.loads(SCHEMA.read_text()), found)


def test_exactly_one_rule_speaks_for_each_kind_of_fact_and_every_kind_has_one() -> None:
    kinds = {value for value in vars(facts).values() if isinstance(value, type) and issubclass(value, facts.Placed)}
    assert set(RULES) == kinds - {facts.Placed}


def test_every_rule_has_its_mirror_or_a_reason_why_there_is_none() -> None:
    ids = {entry.id for entry in catalogue()}
    mirrored = {*MIRRORS, *MIRRORS.values()}
    assert mirrored | set(UNMIRRORED) == ids
    assert not mirrored & set(UNMIRRORED)
    assert len(MIRRORS) == len(set(MIRRORS.values()))
    assert all(reason.strip() for reason in UNMIRRORED.values())


@pytest.mark.parametrize(("rule", "mirror"), MIRRORS.items())
def test_a_mirror_fires_when_its_rules_case_is_turned_around(rule: str, mirror: str) -> None:
    fired: set[str] = set()
    mode: Mode = "language" if rule.startswith("language-") else "protocol"
    for case in (CASES / rule).iterdir():
        fired |= {finding.rule for finding in compare(case / "new.json", case / "old.json", mode=mode).findings}
    assert mirror in fired


def test_the_printed_lists_of_rules_are_one_list() -> None:
    ids = [entry.id for entry in catalogue()]
    assert [entry["id"] for entry in json.loads(as_json())] == ids
    assert [line.removeprefix("## ") for line in as_markdown().splitlines() if line.startswith("## ")] == ids
    assert [line for line in as_text().splitlines() if line and not line.startswith(" ")] == ids
    assert max(map(len, as_text().splitlines())) <= 80


def test_the_pages_of_rules_show_pairs_from_the_cases(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("rewrite_goldens"):
        assert not os.environ.get("CI"), "goldens are rewritten by people, and read before they are committed"
        rule_examples.FILE.write_text(rule_examples.text(), encoding="utf-8")
    assert rule_examples.FILE.read_text("utf-8") == rule_examples.text()
    shown = examples()
    assert set(shown) == {entry.id for entry in catalogue()}
    for rule, pairs in shown.items():
        assert pairs["severities"], rule
        assert pairs["bad"]["counts"] and not pairs["good"]["counts"], rule
        assert rule in {pairs[kind]["case"].partition("/")[0] for kind in ("bad", "good")} or rule.startswith("waiver-")
        for kind in ("bad", "good"):
            assert (CASES / pairs[kind]["case"] / "expected.json").exists()


def test_every_rule_has_a_page_whose_links_lead_to_others() -> None:
    made = pages()
    assert set(made) == {entry.page for entry in catalogue()}
    for path, text in made.items():
        name = path.removeprefix(f"{PAGES}/").removesuffix(".md")
        assert text.startswith(f"# {name}\n")
        assert text.count("\n## ") == 2
        for link in re.findall(r"\]\(([^)#]+)", text):
            assert link == "../compatibility.md" or f"{PAGES}/{link}" in made, (path, link)


def test_every_rule_is_documented_in_sentences() -> None:
    for entry in catalogue():
        assert entry.doc.endswith((".", "`.")), entry.id
        assert entry.doc[0].isupper() or entry.doc[0] == "`", entry.id


def test_the_policy_answers_for_every_effect_flow_and_gate() -> None:
    weights, flows, gates = (set(column) for column in zip(*SEVERITY, strict=True))
    assert weights == set(EFFECTS)
    assert len(SEVERITY) == len(weights) * len(flows) * len(gates)
    assert all(severity == "editorial" for (_, flow, _), severity in SEVERITY.items() if flow == "nobody")
