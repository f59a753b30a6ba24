"""Adjacent revisions of real histories, judged by what the comparison does not use: a sample of what the bench does as a whole."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from compat.histories import judged
from compat.protocols import releases

PAIRS = [(old, new) for version in ("v1", "v2") for old, new in pairwise(releases(version))][::6]


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=lambda path: path.stem)
def test_a_step_of_a_real_history_survives_every_attack(old: Path, new: Path) -> None:
    outcome = judged(old, new, samples=3)
    assert not outcome.fault
    assert [each for each in outcome.complaints if "is no:" in each or each.startswith("crash")] == []
    said_yes = outcome.report is not None and "yes" in (outcome.report.wire.backward, outcome.report.wire.forward)
    assert outcome.attacks or not said_yes
