"""The cases of the rules, and the pairs that the page of each rule shows: a change that harms, and one with the same aim that does not."""

from __future__ import annotations

import difflib
import json
from datetime import date
from pathlib import Path
from typing import Any, Final

from acpgen import config
from acpgen.compat.check_report import as_data
from acpgen.compat.compare import compare
from acpgen.compat.findings import Mode, Report
from acpgen.compat.policy import Policy, apply, find_position, read_project_policy
from acpgen.compat.waivers import read, waive
from acpgen.input.load import display_path

CASES: Final = Path(__file__).parent / "cases"
FILE: Final = Path(__file__).parents[2] / "generator" / "acpgen" / "compat" / "rule_examples.json"

_RANKS: Final = ("breaking", "undecided", "risky", "note", "additive", "editorial")
_CONTEXT: Final = 4

_ANSWERS: Final[tuple[str, ...]] = ("verdict", "backward", "forward", "language", "bindings", "failing", "policy")
_OF_REACHES: Final[tuple[str, ...]] = ("severity", "effect", "method", "flow", "location", "breaks", "waived", "policy")
_OF_PROOFS: Final[tuple[str, ...]] = ("accepted_by", "refused_by", "carried_by")

_OPTIONAL: Final = "field-added/params"
_GATED: Final = "method-added/gated"
_AFTER_ITS_DAY: Final = "policy-applied/deprecated"
_GATED_VARIANT: Final = "closed-variant-added/gated"
_GATED_FIELD: Final = "closed-field-added/gated-by-a-new-capability"
_SAID: Final = "null-meaning-declared/said"
_RENAMED: Final = "definition-renamed/declared"

GOOD: Final = {
    "alternative-added": _GATED_VARIANT,
    "alternative-removed": _AFTER_ITS_DAY,
    "batch-allowed": _GATED,
    "batch-withdrawn": _AFTER_ITS_DAY,
    "closed-value-removed": _AFTER_ITS_DAY,
    "closed-variant-removed": _AFTER_ITS_DAY,
    "default-changed": "default-grown/capabilities",
    "definition-removed": _RENAMED,
    "demand-changed": _OPTIONAL,
    "extension-declared": "field-added/extension",
    "field-became-optional": "field-added/result",
    "field-became-required": _OPTIONAL,
    "field-removed": _AFTER_ITS_DAY,
    "field-renamed": _OPTIONAL,
    "gate-added": _GATED_FIELD,
    "gate-moved": _GATED_FIELD,
    "gate-removed": _GATED_FIELD,
    "inclusion-undecided": _OPTIONAL,
    "keyword-ignored": "keyword-ignored/removed",
    "language-narrowed": "language-widened/type",
    "language-undecided": "language-widened/type",
    "leniency-withdrawn": "leniency-added/items",
    "limit-changed": _OPTIONAL,
    "limit-loosened": _OPTIONAL,
    "limit-tightened": _OPTIONAL,
    "method-kind-changed": _GATED,
    "method-removed": _AFTER_ITS_DAY,
    "method-renamed": _GATED,
    "not-compared": _OPTIONAL,
    "null-allowed": _SAID,
    "null-forbidden": _SAID,
    "null-meaning-changed": _SAID,
    "null-result-withdrawn": "null-result-allowed/result",
    "object-closed": _OPTIONAL,
    "object-opened": _GATED_FIELD,
    "position-changed": _OPTIONAL,
    "required-field-added": _OPTIONAL,
    "required-field-removed": _AFTER_ITS_DAY,
    "tag-renamed": _RENAMED,
    "tolerance-withdrawn": "tolerance-added/union",
    "type-changed": _OPTIONAL,
    "type-narrowed": _OPTIONAL,
    "type-widened": _OPTIONAL,
    "unknown-accepted": "tolerance-added/union",
    "unknown-refused": "tolerance-added/union",
    "untagged-variant-added": _GATED_VARIANT,
    "untagged-variant-removed": _AFTER_ITS_DAY,
    "value-removed": _AFTER_ITS_DAY,
    "values-unnamed": "values-named/string",
    "variant-removed": _AFTER_ITS_DAY,
    "variant-renamed": "variant-added/open",
    "waiver-expired": "required-field-added/waived",
    "waiver-unused": "required-field-added/waived",
}
"""What to do instead, for rules whose own cases all harm: the case that shows it."""

BAD: Final = {
    "closed-field-added": "closed-field-added/ungated",
    "field-removed": "field-removed/open",
    "limit-tightened": "limit-tightened/maximum",
    "limit-loosened": "limit-loosened/maximum",
    "required-field-added": "required-field-added/params",
    "type-narrowed": "type-narrowed/union",
    "unknown-accepted": "unknown-accepted/union",
    "unknown-refused": "unknown-refused/union",
    "default-grown": "default-changed/value",
    "definition-added": "definition-removed/unused",
    "definition-renamed": "definition-removed/unused",
    "extension-undeclared": "field-removed/open",
    "field-added": "required-field-added/params",
    "format-changed": "limit-tightened/pattern",
    "keyword-ignored": "keyword-ignored/corrected",
    "language-widened": "language-narrowed/maximum",
    "leniency-added": "leniency-withdrawn/items",
    "method-added": "method-kind-changed/to-notification",
    "null-meaning-declared": "null-meaning-changed/clears-to-omitted",
    "null-result-allowed": "null-result-withdrawn/result",
    "policy-applied": "method-removed/notification",
    "policy-unused": "method-removed/notification",
    "schema-restructured": "limit-tightened/maximum",
    "text-reworded": "default-changed/value",
    "tolerance-added": "tolerance-withdrawn/union",
    "undeclared-narrowed": "field-became-required/params",
    "undeclared-widened": "object-opened/params",
    "value-added": "closed-value-added/ungated",
    "values-named": "values-unnamed/string",
    "variant-added": "closed-variant-added/ungated",
    "waiver-expired": "waiver-expired/date",
    "waiver-unused": "waiver-unused/another-fingerprint",
}
"""What harms beside it, for rules whose own cases harm nobody; or the plainest of the cases that do."""


def mode_of(rule: str) -> Mode:
    """How the cases of a rule are compared."""
    return "language" if rule.startswith("language-") else "protocol"


def policy_of(case: Path) -> tuple[config.Config | None, Policy]:
    """The project of a case, if it has one, and its policy."""
    project = config.read(case) if (case / "pyproject.toml").exists() else None
    return project, read_project_policy(project)


def report_of(case: Path) -> Report:
    """What the check finds in a case, by its policy and its waivers."""
    project, promised = policy_of(case)
    mode = mode_of(case.parent.name)
    report = compare(case / "old.json", case / "new.json", mode=mode, formats=promised.formats)
    report = apply(report, promised, date(2026, 7, 1), find_position(project))
    waivers = case / "compat-waivers.toml"
    return waive(report, read(waivers), date(2026, 7, 1)) if waivers.exists() else report


def data_of(report: Report, case: Path) -> dict[str, Any]:
    """The report as JSON; files are named as in the folder of the case."""
    text = json.dumps(as_data(report))
    for folder in (case.as_posix(), display_path(case)):
        text = text.replace(f"{folder}/", "")
    return json.loads(text)  # type: ignore[no-any-return]


def pin(found: dict[str, Any]) -> dict[str, Any]:
    """What a case expects of its report: answers, and of each finding rule, severity, effect, direction, place and kind of proof."""
    kept = {key: found[key] for key in _ANSWERS if key in found}
    return {
        **kept,
        "findings": [_finding(each) for each in found["findings"]],
        "notes": [{"rule": each["rule"], "at": each["at"]} for each in found["notes"]],
        "not_compared": [each["name"] for each in found.get("coverage", {}).get("not_compared", ())],
    }


def _finding(found: dict[str, Any]) -> dict[str, Any]:
    places = {key: found[key] for key in ("old", "new")}
    reaches = [_reach(each) for each in found["reaches"]]
    return {"rule": found["rule"], **places, **_reach(found), **({"reaches": reaches} if len(reaches) > 1 else {})}


def _reach(found: dict[str, Any]) -> dict[str, Any]:
    kept = {key: found[key] for key in _OF_REACHES if key in found}
    proof = {key: found["witness"][key] for key in _OF_PROOFS if key in found.get("witness", ())}
    return {**kept, **({"witness": proof} if proof else {})}


def expectation_of(case: Path) -> dict[str, Any]:
    """What a case expects."""
    return json.loads((case / "expected.json").read_text("utf-8"))  # type: ignore[no-any-return]


def examples() -> dict[str, Any]:
    """For each rule its severities, worst first, and the two pairs."""
    return {folder.name: _of(folder.name) for folder in sorted(CASES.iterdir())}


def _of(rule: str) -> dict[str, Any]:
    own = {f"{rule}/{case.name}": _severities(case, rule) for case in sorted((CASES / rule).iterdir())}
    ranked = sorted(own, key=lambda name: (_RANKS.index(own[name][0]), name))
    bad = BAD.get(rule, ranked[0])
    good = GOOD.get(rule, ranked[-1])
    every = {severity for each in own.values() for severity in each}
    return {
        "severities": sorted(every, key=_RANKS.index),
        "bad": _pair(bad, rule),
        "good": _pair(good, rule),
    }


def _severities(case: Path, rule: str) -> list[str]:
    found = expectation_of(case)["findings"]
    return sorted({each["severity"] for each in found if each["rule"] == rule}, key=_RANKS.index) or ["note"]


def _pair(name: str, rule: str) -> dict[str, Any]:
    case = CASES / name
    wanted = expectation_of(case)
    pair: dict[str, Any] = {
        "case": name,
        "verdict": wanted["verdict"],
        "counts": wanted["failing"] > 0,
        "difference": _difference(case),
        "files": {path.name: path.read_text() for path in sorted(case.glob("*.toml"))},
    }
    index = choose(wanted["findings"], rule, case)
    if index is not None:
        pair["finding"] = {key: wanted["findings"][index][key] for key in ("rule", "severity", "breaks")}
    return pair


def choose(findings: list[dict[str, Any]], rule: str, case: Path) -> int | None:
    """Which finding of a case the page of a rule shows: the first of the rule, or of the rule that the case is of, or of all."""
    ranked = [index for index, each in enumerate(findings) if each["rule"] in (rule, case.parent.name)]
    return ranked[0] if ranked else 0 if findings else None


def _difference(case: Path) -> str:
    old, new = (json.dumps(json.loads((case / f"{name}.json").read_text()), indent=2) for name in ("old", "new"))
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=_CONTEXT)
    return "\n".join(line for line in lines if not line.startswith(("--- ", "+++ "))) + "\n"


def text() -> str:
    """The file of examples: with the sentence of each finding that is shown, and the message that proves it."""
    found = examples()
    for rule, pairs in found.items():
        for pair in (pairs["bad"], pairs["good"]):
            case = CASES / pair["case"]
            if "finding" in pair:
                findings = data_of(report_of(case), case)["findings"]
                pair["finding"] = describe(findings[choose(findings, rule, case) or 0])
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def describe(finding: dict[str, Any]) -> dict[str, Any]:
    """What a page shows of a finding."""
    found = {key: finding[key] for key in ("rule", "severity", "message", "breaks")}
    return {**found, "witness": finding["witness"]["value"]} if "witness" in finding else found


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
