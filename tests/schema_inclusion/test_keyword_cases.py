"""Language mode on a table of pairs, keyword by keyword, with the verdicts that their meaning demands.

`open` names the directions in which the check gives no answer and says why; a wrong answer fails everywhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schema_inclusion import Relation, Verdict, compare
from schema_inclusion.document import open_document
from schema_inclusion.validation import DocumentValidator

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "keyword_cases.json").read_text())
SIDES = {"backward": ("old", "new"), "forward": ("new", "old")}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_no_verdict_is_wrong_and_what_is_open_is_explained(case: dict[str, Any]) -> None:
    comparison = compare(case["old"], case["new"])
    for direction, (sender, receiver) in SIDES.items():
        relation: Relation = getattr(comparison, direction)
        if direction in case.get("open", ()):
            assert relation.verdict is Verdict.UNDECIDED
            assert relation.reason
            continue
        assert relation.verdict is (Verdict.YES if case[direction] else Verdict.NO), relation.reason
        if relation.witness is not None:
            judges = [DocumentValidator(open_document(case[side])).of(case[side]) for side in (sender, receiver)]
            assert [each.accepts(relation.witness.value) for each in judges] == [True, False]


def test_nearly_all_questions_are_answered() -> None:
    assert sum(len(case.get("open", ())) for case in CASES) <= len(CASES) // 30
