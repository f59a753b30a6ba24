"""A sample of the table of keywords, places and changes; `tests/bench/keyword_table.py` judges all of it."""

from __future__ import annotations

import random

import pytest

import tiers
from compat.keyword_table import DRAFTS, KEYWORDS, PLACES, Cell, cells, complaints

SAMPLED = tiers.sample(random.Random(20_260_114).sample(list(cells()), 120), 30)


@pytest.mark.parametrize("cell", SAMPLED)
def test_no_change_of_a_keyword_is_safe_where_a_value_says_otherwise(cell: Cell) -> None:
    assert list(complaints(cell)) == []


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_the_values_of_a_keyword_show_each_of_its_changes(keyword: str) -> None:
    """Else the table would find nothing wrong there."""
    for each in (cell for cell in cells() if cell.keyword == keyword and cell.place == "property"):
        assert any(each.refuted), str(each)


def test_each_keyword_is_changed_at_each_place() -> None:
    found = {(each.keyword, each.place) for each in cells()}
    apart = {
        (keyword, place)
        for keyword, one in KEYWORDS.items()
        for place, other in PLACES.items()
        if {one.draft, other.draft} >= set(DRAFTS)
    }
    assert found == {(keyword, place) for keyword in KEYWORDS for place in PLACES} - apart
