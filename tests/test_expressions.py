"""Regular expressions in a plain spelling mean what they meant, to every engine."""

from __future__ import annotations

import json
from itertools import product

import jsonschema_rs
import pytest

from acpgen import Faults
from acpgen.errors import TooMuchWork
from acpgen.generate import understand
from acpgen.meaning.patterns import in_rust
from acpgen.schema.expressions import LARGEST, LONGEST_TRIED, is_usable, plain_expression, size
from acpgen.schema.load import Source, parse
from hostile_schemas import TEXT, protocol
from test_doubling import ending


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


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [
        ("^a+(b|c)?$", 0),
        (r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}$", 2 * (8 + 4 + 1) * 3),
        ("^.{1,700}$", 1_400),
        (r"^\p{L}{1,}x{2}$", 3 * 32),
        (r"^(?:\w{20}){30}$", 21 * 30 * 32),
        ("^.{14000}$", 28_000),
        ("^(.{99999}){99999}{999999999}$", LARGEST),
    ],
)
def test_an_expression_counts_as_large_as_it_is_with_what_is_repeated(pattern: str, steps: int) -> None:
    assert size(pattern) == steps


def test_an_expression_is_measured_in_time_that_grows_with_it() -> None:
    with ending():
        for part in ("{", "{1", "{1}", "){1}", "\\", "{1,"):
            assert size(part * 300_000) <= LARGEST


def test_many_large_expressions_are_refused_before_all_of_them_are_made() -> None:
    given = protocol({"L0": {"patternProperties": {f"a.{{{number}}}b|^.*{number}$": TEXT for number in range(14_000)}}})
    with pytest.raises(Faults) as caught:
        understand(parse(Source("p", "", (("p.json", json.dumps(given).encode()),))))
    assert {type(fault) for fault in caught.value.faults} == {TooMuchWork}


@pytest.mark.parametrize("around", ["(?=a)", "(?<!b)", r"(a)\1"])
def test_what_looks_around_is_usable_up_to_a_length_and_what_does_not_is_at_any(around: str) -> None:
    for length in (LONGEST_TRIED, LONGEST_TRIED + 1):
        assert is_usable("a" * length)
        assert is_usable(around + "a" * (length - len(around))) is (length == LONGEST_TRIED)


@pytest.mark.parametrize("pattern", [r"(?<n>a)\k<n>", "^(a{1,1000}){1,1000}$"])
def test_what_the_validators_cannot_judge_by_is_not_usable(pattern: str) -> None:
    assert not is_usable(plain_expression(pattern))
    assert in_rust(pattern) is None
