"""The pairs that the page of each rule shows, taken from the cases: a change that harms, and one with the same aim that does not."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any, Final

CASES: Final = Path(__file__).parent / "cases"
FILE: Final = Path(__file__).parents[2] / "generator" / "acpgen" / "compat" / "rule_examples.json"

_HARMFUL: Final = ("breaking", "undecided", "risky")
_RANKS: Final = ("breaking", "undecided", "risky", "note", "additive", "editorial")
_CONTEXT: Final = 4

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
    found = json.loads((case / "expected.json").read_text())["findings"]
    return sorted({each["severity"] for each in found if each["rule"] == rule}, key=_RANKS.index) or ["note"]


def _pair(name: str, rule: str) -> dict[str, Any]:
    case = CASES / name
    expected = json.loads((case / "expected.json").read_text())
    findings = [each for each in expected["findings"] if each["rule"] in (rule, case.parent.name)] or expected[
        "findings"
    ]
    first = findings[0] if findings else None
    pair: dict[str, Any] = {
        "case": name,
        "verdict": expected["verdict"],
        "counts": expected["failing"] > 0,
        "difference": _difference(case),
        "files": {path.name: path.read_text() for path in sorted(case.glob("*.toml"))},
    }
    if first is not None:
        pair["finding"] = {key: first[key] for key in ("rule", "severity", "message", "breaks")}
        if "witness" in first:
            pair["finding"]["witness"] = first["witness"]["value"]
    return pair


def _difference(case: Path) -> str:
    old, new = (json.dumps(json.loads((case / f"{name}.json").read_text()), indent=2) for name in ("old", "new"))
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=_CONTEXT)
    return "\n".join(line for line in lines if not line.startswith(("--- ", "+++ "))) + "\n"


def text() -> str:
    """The file of examples."""
    return json.dumps(examples(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
