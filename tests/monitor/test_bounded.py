"""Tables of bounded size, and the keys of ids in them."""

from __future__ import annotations

import pytest

from acp_monitor import bounded
from acp_monitor.bounded import MAX_KEY, BoundedTable, MemoryBudget, make_key, shorten

IDS = ("1", "s1", "n1", "null", "", 1, 2, 2**70, 2**70 + 1, 0.12345671, 0.12345672, 1.5, None, "x" * 300, "x" * 301)


def test_ids_that_differ_have_keys_that_differ() -> None:
    keys = {make_key(each) for each in IDS}
    assert len(keys) == len(IDS) and None not in keys


def test_numbers_that_are_equal_have_one_key() -> None:
    assert make_key(1) == make_key(1.0) and make_key(2**70) == make_key(float(2**70)) and make_key(-0.0) == make_key(0)


@pytest.mark.parametrize("value", [True, False, [], {}])
def test_what_is_no_id_has_no_key(value: object) -> None:
    assert make_key(value) is None


def test_a_text_is_kept_whole_up_to_its_limit_and_then_as_its_beginning_and_digest() -> None:
    whole, long = "a" * (MAX_KEY - 1), "a" * MAX_KEY
    assert shorten(whole) == whole
    assert shorten(long).startswith("a" * 120 + "…") and len(shorten(long * 1000)) < MAX_KEY
    assert len({shorten(long + tail) for tail in ("", "a", "b")}) == 3
    assert make_key(shorten(long)) == make_key(long)


def test_a_table_keeps_what_was_written_last_and_says_that_it_evicted() -> None:
    dropped: list[str] = []
    table = BoundedTable[str, int](2, on_evict=lambda: dropped.append("one"))
    assert (len(table), table.get("a"), table.pop("a")) == (0, None, None)
    for name, value in (("a", 1), ("b", 2), ("a", 3)):
        table[name] = value
    assert (list(table.values()), table.evicted) == ([2, 3], False)
    table["c"] = 4
    assert (list(table.values()), table.evicted, dropped) == ([3, 4], True, ["one"])


def test_a_table_counts_what_it_holds_and_nothing_when_it_is_empty() -> None:
    table = BoundedTable[str, str](9, size=len)
    table["a"] = "x" * 1000
    once = table.used
    assert once > 1000 + bounded.ENTRY
    table["a"] = "x" * 10
    assert table.used == once - 990
    table["b"] = "x" * 10
    assert table.used == 2 * (once - 990)
    assert table.pop("a") == "x" * 10 and table.used == once - 990
    table.clear()
    assert (table.used, len(table), table.evicted) == (0, 0, True)
    empty = BoundedTable[str, str](9)
    empty.clear()
    assert not empty.evicted


def test_tables_share_a_budget_and_the_oldest_entry_of_any_gives_way() -> None:
    budget = MemoryBudget()
    one, other = (BoundedTable[str, int](99, size=lambda size: size, budget=budget) for _ in range(2))
    one["a"] = bounded.MAX_BYTES // 2
    other["b"] = bounded.MAX_BYTES // 4
    one["c"] = 10
    assert budget.used == one.used + other.used <= bounded.MAX_BYTES and not (one.evicted or other.evicted)
    other["d"] = bounded.MAX_BYTES // 2
    assert one.get("a") is None and (one.evicted, other.evicted) == (True, False)
    assert (one.get("c"), list(other.values())) == (10, [bounded.MAX_BYTES // 4, bounded.MAX_BYTES // 2])
    other["e"] = bounded.MAX_BYTES // 4
    assert (other.get("b"), one.get("c"), one.evicted, other.evicted) == (None, 10, True, True)
    other["f"] = bounded.MAX_BYTES // 2
    assert one.get("c") is None and other.get("d") is None
    assert budget.used == other.used + one.used <= bounded.MAX_BYTES
    other.clear()
    assert budget.used == 0


def test_what_fills_the_budget_exactly_stays() -> None:
    budget = MemoryBudget()
    table = BoundedTable[str, int](9, size=lambda size: size, budget=budget)
    table["a"] = 0
    rest = bounded.MAX_BYTES - 2 * table.used
    table["b"] = rest
    assert budget.used == bounded.MAX_BYTES and len(table) == 2
    table["c"] = 0
    assert [*table.values()] == [rest, 0]


def test_the_size_of_a_value_is_that_of_all_that_it_holds() -> None:
    long = "x" * 1000
    table = BoundedTable[str, str](9)
    empty = bounded.measure(table)
    table["a"] = long
    holders: tuple[object, ...] = ([long], (long,), frozenset({long}), {long: 1}, {"a": {"b": [long]}}, table)
    assert all(bounded.measure(one) > bounded.measure(long) > 1000 for one in holders)
    assert 0 < empty < bounded.measure(table) - 1000
