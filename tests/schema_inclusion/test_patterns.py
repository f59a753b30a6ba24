"""Patterns: what is read, what is found, and inclusion of regular languages against all short texts.

Random patterns are the same in every run; `pytest -m exhaustive` draws many more, and others each time.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evidence
import tiers
from schema_inclusion import include
from schema_inclusion.ecma import compile_pattern
from schema_inclusion.patterns import (
    Example,
    NoText,
    Query,
    TooHard,
    TooLong,
    find_example,
    find_long_example,
    matches,
)
from schema_inclusion.regex import may_backtrack, read
from schema_inclusion.syntax import UnsupportedPattern, parse

MANY = 10
"""How many times as much the whole tests draw."""
SUITE = "json-schema-test-suite/draft2020-12"


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("^abc$", "abc\n", False),  # the end of the text, not before a last line end as in Python
        ("a.c", "a\nc", False),
        ("a|^b$", "xb", False),
        ("(^|,)x(,|$)", "a,x", True),
        (r"\d", "٣", False),
        (r"\s", "\ufeff", True),
        (r"^[\w-]+$", "a-b_1", True),
        ("a{2}", "aa", True),
        ("^a{2,}$", "a", False),
        ("a{", "a{", True),
        ("^(?:ab)*$", "abab", True),
        ("(?<year>[0-9]{4})", "in 2026", True),
        (r"A\x42\u0043", "ABC", True),
        (r"\/", "/", True),
        ("", "", True),
        ("$^", "", True),
        ("$^", "a", False),
        ("[^a]", "a", False),
        (r"[\]a]", "]", True),
        (r"^\cC$", "\x03", True),
        (r"^\cc$", "\x03", True),
        (r"^\cC$", "cC", False),
        (r"^[\cA-\cC]$", "\x02", True),
        (r"^\\cC$", "\\cC", True),
        (r"^[\s\S]$", "\n", True),
        (r"^[\S]$", "\ufeff", False),
        (r"^[^\S]$", "\u2028", True),
        ("^(a+)+$", "a" * 200 + "!", False),
        ("^(?!a)", "", True),
        ("^(?!a)", "ba", True),
        ("^(?!a)", "ab", False),
        ("a(?!b)", "abab", False),
        ("a(?!b)", "aba", True),
        ("(?=a)b", "ab", False),
        ("^(?=.*b)(?=.*c)", "xcxb", True),
        ("^(?=.*b)(?=.*c)", "xcx", False),
        ("^(?:a(?=b)|b)+$", "abab", True),
        ("^(?:a(?=b)|b)+$", "aba", False),
        ("^(?!(?!a))", "a", True),
        ("^(?!(?!a))", "b", False),
        ("(?=^)b", "ab", False),
        ("(?=$)", "ab", True),
        ("a(?=$)", "ab", False),
        (r"(?<!\.)$", "a.", False),
        (r"(?<!\.)$", "a.b", True),
        (r"(?<!\.)$", "", True),
        (r"(?<=[a-c]|x)!", "x!", True),
        (r"(?<=[a-c]|x)!", "!", False),
        (r"\bb", "ab", False),
        (r"\bb", "é b", True),
        (r"\bb", "éb", True),  # a word is ASCII
        (r"\B", "", True),
        (r"\B", "a", False),
        (r"a\Bb", "ab", True),
        (r"[\b]", "\b", True),
        (r"^(?!\s*$).+", " \t", False),
        (r"^(?!\s*$).+", " a", True),
    ],
)
def test_a_pattern_is_searched_as_ecma_262_says(pattern: str, text: str, found: bool) -> None:
    assert matches(pattern, text) is found


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?<=ab)c", "(?<!a*)b", "(?<!^)b", "(?<=)b", r"(a+)\1", r"([a-z])\1", r"\p{L}", "(?i:a)", r"^\-.{1,200}$"),
        *(
            "(?<=a)*",
            r"\b?",
            "^*",
            "(?=a",
            "(?!",
            "(?i)a",
            "(?P<n>a)",
            "(?<n",
            "(?)",
            "(?:?b)",
            "(?<n>a)(?<n>b)",
            r"(?<n>a)\k",
        ),
        *("(a", "a)", "a**", "a++", "*a", "+", "[", "[z-a]", "a{3,2}", "a|+", "{2}", "a|{1,2}", "\\"),
        *(
            "a{100000}",
            "(" * 200 + ")" * 200,
            "(a)" * 300 + "(" * 200 + ")" * 200,
            "a{99999}{99999}",
            "(?:a{99999}){99999}",
        ),
        "(a{900}){900}",
    ],
)
def test_what_is_no_pattern_or_cannot_be_compared_is_refused(pattern: str) -> None:
    assert matches(pattern, "a") is None
    assert isinstance(find_example(Query((pattern,))), TooHard)


@pytest.mark.evidence(SUITE)
def test_the_public_suite_is_answered_rightly_or_not_at_all() -> None:
    answered = 0
    for name in ("pattern", "optional/ecmascript-regex", "optional/non-bmp-regex"):
        for group in json.loads((evidence.path(SUITE) / f"{name}.json").read_text("utf-8")):
            pattern = group["schema"].get("pattern")
            for test in group["tests"] if pattern else ():
                state = matches(pattern, test["data"]) if isinstance(test["data"], str) else None
                assert state in (None, test["valid"]), (pattern, test)
                answered += state is not None
    assert answered > 40


def included(old: str, new: str) -> bool:
    """Whether every text that the old pattern matches is matched by the new one; the answer must be known."""
    answer = find_example(Query((old,), (new,)))
    assert isinstance(answer, (Example, NoText))
    return isinstance(answer, NoText)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("^(a|b)$", "^[ab]$"),
        ("^[ab]$", "^(a|b)$"),
        ("^x-[a-z]+$", "^x-"),
        ("^[a-z]{1,255}$", "^[a-z]{1,256}$"),
        ("^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "^[a-z0-9-]{1,63}$"),
        ("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "^[0-9a-f-]{36}$"),
        (r"^\d{4}-\d{2}$", "^[0-9]{4}-[0-9]{2}$"),
        ("^(/|[A-Za-z]:[/\\\\])", "^(/|[a-zA-Z]:)"),
        ("^(a+)+$", "^a+$"),
        ("a^b", "nothing at all"),
        ("(?=a)b", "nothing at all"),
        ("^(?!a).", "^[^a]"),
        ("^[^a]", "^(?!a)"),
        (r"^(?!\s*$)", r"\S"),
        (r"\S", r"^(?!\s*$)"),
        ("^(?=.*[a-z])(?=.*[0-9])[a-z0-9]*$", "[a-z][0-9]|[0-9][a-z]"),
        ("^(?!.*--)[a-z-]+$", "^[a-z]*(-[a-z]+)*-?$"),
        (r"^(?!.*\.\.)", r"^(?!\.\./)"),
        (r"\bfoo\b", "foo"),
        (r"^[a-z]+(?<!-)$", "^[a-z]+$"),
        (r"^[a-z-]*(?<!-)$", "^([a-z-]*[a-z])?$"),
        (r"^(e)x\1*ample$", "^exe*ample$"),
        ("^exe*ample$", r"^(e)x\1*ample$"),
        (r"""^(["'])[a-z]*\1$""", """^("[a-z]*"|'[a-z]*')$"""),
        ("""^("[a-z]*"|'[a-z]*')$""", r"""^(["'])[a-z]*\1$"""),
        (r"^(?:(ab)|(c){2})x$", r"^(?:(ab)|(c)\2)x$"),
        (r"^(?<x>a|bc)-(d|e)?\k<x>$", "^a-[de]?a$|^bc-[de]?bc$"),
        (r"^(?:(a)\1)+$", "^(?:aa)+$"),
    ],
)
def test_inclusion_is_proven(narrow: str, wide: str) -> None:
    assert included(narrow, wide)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        *(("^a$", "^a"), ("^a", "a"), ("^[a-z]{1,255}$", "^[a-z]{1,256}$"), ("^ab", "^a")),
        *(("a|$^", "^"), ("$^", "$"), ("(?:$|a)(?:b|^)", ""), ("^$|b", "")),
        *(("^(?!a)", ""), (r"\bfoo", "foo"), ("(?<!-)$", "$"), ("^(?!.*ab)", "^(?!ab)"), ("^(?=.*a)(?=.*b)", "a|b")),
    ],
)
def test_inclusion_is_refuted_by_a_text(narrow: str, wide: str) -> None:
    answer = find_example(Query((wide,), (narrow,)))
    assert isinstance(answer, Example)
    assert re.search(wide, answer.text) and not re.search(narrow, answer.text)


def test_lengths_and_excluded_texts_count() -> None:
    assert find_example(Query(("^a*$",), (), 2, 3, frozenset({"aa"}))) == Example("aaa")
    assert find_example(Query(("^a*$",), (), 2, 3, frozenset({"aa", "aaa"}))) == NoText()
    assert find_example(Query(("^a*$",), (), 0, 0)) == Example("")


def test_a_large_search_is_handed_on_and_ends() -> None:
    query = Query(("^(a|b)*a(a|b){14}$",), ("^(b|a)*a[ab]{14}$",))
    assert find_example(query) == TooLong()
    assert isinstance(find_long_example(query), (NoText, TooHard))
    smaller = Query(("^[ab]{0,3000}c$",), ("^[ab]*c$",))
    assert isinstance(find_long_example(smaller), (NoText, TooHard))


@pytest.mark.parametrize(
    "pattern",
    [
        "^" + "".join(f"(?=.*{each})" for each in "abcdefghijklmnop") + ".*$",
        "^(?:(?=.*a)(?=.*b)(?=.{3}c)(?=.{5}d).)*$",
        "(?=(?:(?=.*a(?:(?=.*b(?:(?=.*c).)*).)*).)*)(?:(?=.{40}x).)*$",
        "(?!" * 50 + "a" + ")" * 50,
        "(?=a{2000})" * 4,
    ],
)
def test_look_around_has_a_budget(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schema_inclusion.automaton.MOST_STEPS", 100_000)
    monkeypatch.setattr("schema_inclusion.patterns.MOST_STEPS", 5_000)
    query = Query((pattern, "^[a-z]{60}"), (pattern.replace("a", "(?:a|z)"),))
    assert isinstance(find_example(query), TooLong | TooHard | Example | NoText)
    assert isinstance(find_long_example.__wrapped__(query), TooHard | Example | NoText)
    assert matches(pattern, "abcd" * 200) in (True, False, None)


def test_a_search_through_a_long_text_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "(?:" + "|".join(f"a{{{length}}}b" for length in range(40, 90)) + ")$"
    assert matches(many, "a" * 100) is False
    assert matches("^a*$", "a" * 60_000) is True
    monkeypatch.setattr("schema_inclusion.automaton.MOST_STEPS", 100_000)
    assert matches(many, "a" * 60_000) is None


def test_patterns_that_may_take_for_ever_are_known() -> None:
    assert all(map(may_backtrack, ("^(a+)+$", "(a|aa)+b", "(?=a)", "([a-z]+,)*")))
    assert not any(map(may_backtrack, ("^[a-z]+$", "^(foo|bar)$", "^(ab){3}$", "^x-")))


# Against all short texts.

GROUPS: Final = ("(a)", "(a|b)", "(ab|a)", "(b(a))", "(?:a|(b))", "(?=(a|ab))", "(?!(a))", "(a)+", "(a|b)?", "(a?)")
REFERENCES: Final = ("a", "b", r"\1", r"\2", r"\1*", r"\2+", r"(?=\1)", r"(?!\1)", r"(?:(a)\1)*", "$")


def test_back_references_are_read_as_an_engine_that_has_them_reads_them() -> None:
    chance, texts, decided = random.Random(9), texts_of("ab", 5), 0
    for _ in range(400):
        parts = (chance.choice(chance.choice((GROUPS, REFERENCES))) for _ in range(chance.randrange(2, 6)))
        pattern = chance.choice(("", "^")) + "".join(parts)
        try:
            searching = compile_pattern(pattern).search
        except re.error:
            continue
        states = [matches(pattern, text) for text in texts]
        if None not in states:
            decided += "\\" in pattern
            assert states == [searching(text) is not None for text in texts], pattern
    assert decided > 150


def joined(parts: list[str]) -> str:
    return "".join(parts)


def pattern_strategy() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "^", "$", "a?", "b*", "[a-b]+", "a{1,2}"])
    return st.recursive(
        st.lists(atoms, min_size=1, max_size=4).map(joined),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("|".join),
            inner.map(lambda each: f"({each})"),
            inner.map(lambda each: f"(?:{each})" + "*" if not set(each) & set("^$") else each),
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]})({pair[1]})"),
        ),
        max_leaves=5,
    )


TEXTS = ["".join(each) for length in range(6) for each in itertools.product("abc", repeat=length)]


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_answers_hold_on_all_short_texts(whole: bool) -> None:
    @settings(
        max_examples=150 * (MANY if whole else 1),
        derandomize=not whole,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(pattern_strategy(), pattern_strategy())
    def hold(one: str, other: str) -> None:
        try:
            for each in (one, other):
                read(each)
        except UnsupportedPattern:
            return
        for text in TEXTS[:121]:
            assert matches(one, text) is bool(re.search(one, text))
        answer = find_example(Query((one,), (other,)))
        if isinstance(answer, Example):
            assert matches(one, answer.text) and not matches(other, answer.text)
        elif isinstance(answer, NoText):
            assert not any(matches(one, text) and not matches(other, text) for text in TEXTS)
        else:
            assert not isinstance(answer, TooHard)

    hold()


# Against all short texts, by two other engines.

Tokens: TypeAlias = tuple[str, ...]

_ECMA_SPACE: Final = r"\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
READ_OTHERWISE: Final = {
    "jsonschema-rs": {".": r"[^\n\r\u2028\u2029]"},
    "Python": {
        ".": r"[^\n\r\u2028\u2029]",
        "$": r"\Z",
        r"\d": "[0-9]",
        r"\w": "[0-9A-Za-z_]",
        r"\W": "[^0-9A-Za-z_]",
        r"\s": f"[{_ECMA_SPACE}]",
        r"\S": f"[^{_ECMA_SPACE}]",
        r"\B": r"(?!\b)",
    },
}
"""The known differences: what these engines do not read as ECMA-262 says, and what they have to be given in its place."""


@cache
def engines(tokens: Tokens) -> tuple[Callable[[str], bool], Callable[[str], bool]]:
    """What two engines that know nothing of ours say of texts, each given the pattern so that it means what ECMA-262 says."""
    rust, python = ("".join(known.get(token, token) for token in tokens) for known in READ_OTHERWISE.values())
    searching = re.compile(python).search
    return jsonschema_rs.validator_for({"pattern": rust}).is_valid, lambda text: searching(text) is not None


def texts_of(alphabet: str, longest: int) -> list[str]:
    """All texts over the alphabet up to a length."""
    return ["".join(each) for length in range(longest + 1) for each in itertools.product(alphabet, repeat=length)]


def row(tokens: Tokens, texts: list[str]) -> int:
    """Which of the texts the pattern matches, a bit for each; all engines must agree.

    A pattern that is none with the flag `u` is of UTF-16 code units, which the engine in Rust lacks and the other one is given.
    """
    rust, python = engines(tokens)
    is_unicode = parse("".join(tokens)).is_unicode
    found = 0
    for text in texts:
        other = text.replace("\U00010000", "\U0001f9e9")  # a letter to these engines, and none to ECMA-262
        units = other if is_unicode else in_units(other)
        states = {
            bool(matches("".join(tokens), text)),
            compile_pattern("".join(tokens)).search(text) is not None,
            python(units),
        }
        states |= {rust(other)} if units == other else set()
        assert len(states) == 1, (tokens, text)
        found = found * 2 + states.pop()
    return found


def in_units(text: str) -> str:
    """A text whose characters are the UTF-16 code units of another one."""
    return "".join(map(chr, memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")))


def assert_right(narrow: Tokens, wide: Tokens, narrow_row: int, wide_row: int) -> bool:
    """Holds inclusion of one pattern in another to the texts, and the text of a "no" to all engines; the answer."""
    answer = find_example(Query(("".join(narrow),), ("".join(wide),)))
    assert isinstance(answer, (Example, NoText)), (narrow, wide)
    if isinstance(answer, NoText):
        assert not narrow_row & ~wide_row, (narrow, wide)
        return True
    assert row(narrow, [answer.text]) and not row(wide, [answer.text]), (narrow, wide, answer)
    return False


def readable(tokens: Tokens) -> bool:
    """Whether the pattern is inside what can be compared."""
    try:
        read("".join(tokens))
    except UnsupportedPattern:
        return False
    return True


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_every_pattern_of_few_tokens_is_compared_rightly(whole: bool) -> None:
    """Patterns with the same short texts include one another: four tokens cannot differ on a long text alone."""
    texts = texts_of("ab", 5)
    alike: dict[int, list[Tokens]] = {}
    for length in range(5 if whole else 4):
        for tokens in itertools.product(("a", "^", "$", "|", "[^a]"), repeat=length):
            alike.setdefault(row(tokens, texts), []).append(tokens)
    for found, patterns in alike.items():
        for one, other in itertools.pairwise([*patterns, patterns[0]]):
            assert assert_right(one, other, found, found), (one, other)
    firsts = [(patterns[0], found) for found, patterns in alike.items()]
    for found, patterns in alike.items():
        for tokens in (patterns[0], patterns[-1]):
            for other, wanted in firsts:
                assert assert_right(tokens, other, found, wanted) == (not found & ~wanted)
                assert assert_right(other, tokens, wanted, found) == (not wanted & ~found)
    assert len(firsts) > (30 if whole else 15)


ALPHABETS: Final = ("a\n", "ab", "a\u2028", "b \r", "a1_", "aA-", "a😀")
ATOMS: Final = (
    *(
        "a",
        "b",
        "^",
        "$",
        "^",
        "$",
        "",
        ".",
        "[^a]",
        "[ab]",
        "[^\\n]",
        "[a-c-]",
        "[\\w-]",
        "[$^]",
        "\\-",
        "\\x61",
        "\\u0062",
    ),
    *("\\d", "\\w", "\\s", "\\W", "\\S", "\\n", "\\u2028"),
)
QUANTIFIERS: Final = ("*", "+", "?", "{2}", "{0}", "{1,2}", "{2,}", "*?", "+?", "??", "{0,1}?")


LOOKS: Final = ("(?<=a)", "(?<!a)", "(?<![ab])", "(?<=b|a)", r"\b", r"\B")


def drawn(chance: random.Random, depth: int, *, looks: bool) -> Tokens:
    """A random pattern in tokens, with look-around or without."""
    kind = chance.randrange(8) if depth else 0
    if kind < 2:
        return (chance.choice(LOOKS if looks and not kind and depth else ATOMS),)
    one, other = drawn(chance, depth - 1, looks=looks), drawn(chance, depth - 1, looks=looks)
    if kind < 4:
        return (*one, *other)
    if kind < 5 and looks:
        return (chance.choice(("(?=", "(?!")), *one, ")", *other)
    if kind < 7:
        return ("(?:", *one, "|", *other, ")")
    return ("(?:", *one, "|", ")", chance.choice(QUANTIFIERS))


def rounds(amount: int, seed: int | None, *, looks: bool) -> Iterator[tuple[str, list[Tokens]]]:
    """An alphabet and some patterns, over and over; other patterns each time without a seed."""
    chance = random.Random(seed)
    for index in range(amount):
        patterns = dict.fromkeys(drawn(chance, chance.randrange(1, 5), looks=looks) for _ in range(16))
        yield ALPHABETS[index % len(ALPHABETS)], [tokens for tokens in patterns if readable(tokens)]


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("looks", [False, True])
def test_random_pairs_are_compared_rightly(looks: bool, whole: bool) -> None:
    told: Counter[bool] = Counter()
    amount = len(ALPHABETS) * (2 * MANY if whole else 1)
    for alphabet, patterns in rounds(amount, None if whole else 11, looks=looks):
        texts = texts_of(alphabet, 4)
        rows = {tokens: row(tokens, texts) for tokens in patterns}
        for one, other in itertools.permutations(rows, 2):
            told[assert_right(one, other, rows[one], rows[other])] += 1
    assert min(told[True], told[False]) > 50 * amount, told


@pytest.mark.parametrize(
    ("old", "pattern"),
    [
        ({"const": "b"}, r"^(a)?\1b$"),
        ({"const": "ab"}, r"^(?:(a)|b)*\1$"),
        ({"const": "s"}, r"^(?i:S)$"),
        ({"const": "aa"}, r"^a++$"),
    ],
)
def test_a_pattern_without_a_meaning_or_that_engines_read_otherwise_decides_nothing(old: Any, pattern: str) -> None:
    wanted: Any = {"pattern": pattern}
    for new in (wanted, {"not": wanted}):
        relation = include(old, new)
        assert (relation.verdict.value, relation.witness) == ("undecided", None), new


def test_a_word_ends_where_ecma_262_says() -> None:
    relation = include({"const": {"\xe9a": 1}}, {"patternProperties": {r"\ba": False}})
    assert (relation.verdict.value, relation.witness and relation.witness.value) == ("no", {"\xe9a": 1})


@pytest.mark.parametrize(
    ("value", "pattern", "verdict"),
    [
        ("\U0001f600", r"^\ud83d\ude00$", "yes"),
        ("AaZ", r"\Aa\Z", "yes"),
        ("a", r"\Aa\Z", "no"),
        ("aa", r"^a{,2}$", "no"),
        ("a{,2}", r"^a{,2}$", "yes"),
        ("<a>", r"^\<a\>$", "yes"),
        ("a", r"^\<a\>$", "no"),
        ("a\r", "^.+$", "no"),
        ("]", "^]$", "yes"),
        ("-\U0001f600", r"^\-.$", "no"),
        ("-\U0001f600", r"^\-..$", "yes"),
    ],
)
def test_a_pattern_that_is_none_with_the_flag_u_means_what_it_means_without(
    value: str, pattern: str, verdict: str
) -> None:
    assert include({"const": value}, {"pattern": pattern}).verdict.value == verdict
    assert include({"const": {value: 1}}, {"patternProperties": {pattern: False}}).verdict.value != verdict


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("[]", "a", False),
        ("[^]", "\n", True),
        ("^[a[]$", "[", True),
        ("^[a&&b]$", "&", True),
        (r"^[*+]\+$", "*+", True),
    ],
)
def test_classes_are_read_as_ecma_262_says(pattern: str, text: str, found: bool) -> None:
    assert (compile_pattern(pattern).search(text) is not None) is found
