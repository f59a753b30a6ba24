"""Regular expressions in a plain spelling mean what they meant, to every engine."""

from __future__ import annotations

from itertools import product

import jsonschema_rs
import pytest

from acpgen.meaning.patterns import in_rust
from acpgen.schema.expressions import LONGEST_TRIED, is_usable, plain_expression


@pytest.mark.parametrize(
    ("written", "plain", "matching", "other"),
    [
        (r"^\0$", r"^\x00$", "\0", "0"),
        (r"^[\b]$", r"^[\x08]$", "\b", "b"),
        (r"\bb", r"\bb", "a b", "ab"),
        ("^[^]$", r"^[\s\S]$", "\n", ""),
        ("a|[]", "a|(?!)", "a", "b"),
        (r"^\uD83D\uDE00$", "^\U0001f600$", "\U0001f600", "\ud83d"),
        (r"^[\ud83d\ude00-\uD83D\uDE02]$", "^[\U0001f600-\U0001f602]$", "\U0001f601", "\U0001f603"),
        (r"^\[]$", r"^\[]$", "[]", "["),
        (r"^[[\]]$", r"^[[\]]$", "]", "x"),
        (r"^\\0$", r"^\\0$", "\\0", "\0"),
    ],
)
def test_what_is_rarely_read_is_spelled_plainly(written: str, plain: str, matching: str, other: str) -> None:
    assert plain_expression(written) == plain
    assert is_usable(plain)
    judge = jsonschema_rs.Draft202012Validator({"pattern": plain})
    assert judge.is_valid(matching)
    if other.isprintable() or other == "\0":
        assert not judge.is_valid(other)


def test_every_other_short_expression_stays_as_it_is() -> None:
    for length in range(6):
        for found in product("a[]^\\-", repeat=length):
            written = "".join(found)
            if "[]" not in written and "[^]" not in written:
                assert plain_expression(written) == written


@pytest.mark.parametrize("around", ["(?=a)", "(?<!b)", r"(a)\1"])
def test_what_looks_around_is_usable_up_to_a_length_and_what_does_not_is_at_any(around: str) -> None:
    for length in (LONGEST_TRIED, LONGEST_TRIED + 1):
        assert is_usable("a" * length)
        assert is_usable(around + "a" * (length - len(around))) is (length == LONGEST_TRIED)


@pytest.mark.parametrize("pattern", [r"(?<n>a)\k<n>", "^(a{1,1000}){1,1000}$"])
def test_what_the_validators_cannot_judge_by_is_not_usable(pattern: str) -> None:
    assert not is_usable(plain_expression(pattern))
    assert in_rust(pattern) is None
