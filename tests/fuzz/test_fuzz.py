"""Every target on its corpus, and on inputs drawn from that: the same in every run, many more of them by `pytest -m exhaustive`.

For an hour by hand: `python -m fuzz TARGET --seconds 3600` (see `__main__.py` there).
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tiers
from fuzz.targets import CORPORA, TARGETS, TOKENS, corpus, mutated

MANY = 30
"""How many times as much the whole tests draw."""
EXAMPLES = {"decode": 100, "validate": 80, "monitor": 40, "load": 40, "diff": 12, "contain": 200, "connect": 40}
EDITS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1 << 16), st.integers(0, 1 << 16)), max_size=8)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_stands_its_corpus(target: str) -> None:
    run, name = TARGETS[target]
    for data in corpus(name):
        run(data)


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_target_stands_what_is_drawn_from_its_corpus(target: str, whole: bool) -> None:
    run, name = TARGETS[target]

    @settings(
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=EXAMPLES[target] * (MANY if whole else 1),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(st.sampled_from(corpus(name)), EDITS)
    def stand(data: bytes, edits: list[tuple[int, int, int]]) -> None:
        run(mutated(data, edits, name))

    stand()


def test_each_corpus_is_small_and_has_tokens() -> None:
    folders = {path.name for path in CORPORA.iterdir()}
    assert folders == TOKENS.keys() == {name for _, name in TARGETS.values()}
    assert sum(path.stat().st_size for path in CORPORA.rglob("*") if path.is_file()) < 50_000
