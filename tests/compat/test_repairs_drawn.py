"""Repairs of random changes: whatever is offered is applied by somebody else and judged again.

All draw the same in every run, many more of them by `pytest -m exhaustive`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiers
from compat.drawn import drawn_pair
from compat.repaired import Tally, judged
from test_edits import STYLES


@pytest.mark.parametrize("seed", tiers.sample(range(120), 8))
def test_every_repair_of_a_random_change_holds(seed: int, tmp_path: Path) -> None:
    tally = Tally()
    files = tmp_path / "old.json", tmp_path / "new.json"
    style = list(STYLES.values())[seed % len(STYLES)]
    for file, schema in zip(files, drawn_pair(seed), strict=True):
        file.write_text(style(schema), "utf-8", newline="")
    judged(tally, *files)
    assert tally.complaints == []
    assert tally.unread == 0
    assert all(not reason.endswith(": ") for reason in tally.reasons), "what has no repair says why"
    assert json.loads(files[1].read_text("utf-8")) == drawn_pair(seed)[1], "nothing is written but by '--fix'"
