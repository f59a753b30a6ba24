"""One meaning of a pattern: a JavaScript engine, and all that judges by patterns here, on the same patterns and texts.

`decode` and the strict validators stand for whole packages; the engines are asked for many more patterns.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import jsonschema_rs
import pytest
from pydantic_core import SchemaValidator, core_schema

import javascript
from acpgen.input.expressions import describe_fault, matches, translate_pattern, translate_to_python
from bindings.patterns_drawn import FIXED, TEXTS, drawn
from bindings.subjects import Subject, Subjects
from jsonrpc_bindings.receiving import translate_to_engine
from schema_inclusion.ecma import compile_pattern
from schema_inclusion.patterns import matches as is_found
from schema_inclusion.syntax import UnsupportedPattern, parse

Answers: TypeAlias = "tuple[str, list[bool]] | None"
Judge: TypeAlias = "Callable[[str], bool | None]"

RUN: Final = """
const [patterns, texts] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answers = patterns.map((pattern) => {
  for (const flags of ["u", ""]) {
    try {
      const found = new RegExp(pattern, flags);
      return [flags, texts.map((text) => found.test(text))];
    } catch {}
  }
  return null;
});
console.log(JSON.stringify(answers));
"""

WHOLE: Final = (
    *(
        r"^\<a\>$",
        r"^\<",
        r"^[\<\>a-z]+$",
        r"\Z",
        r"\A",
        "^]$",
        "^a{,3}$",
        "^.+$",
        "^.$",
        "a$",
        "^[^a]$",
        "^[^]*$",
        "[]",
    ),
    *(
        r"^\d$",
        r"^\D$",
        r"^\w$",
        r"^\W$",
        r"^\s$",
        r"^\S$",
        r"\ba",
        r"\B",
        r"^[\w-.]+$",
        r"^\u{1F600}$",
        r"^\ud83d\ude00$",
    ),
    *(
        r"^\cA$",
        r"^\0$",
        r"^\1$",
        r"^\😀.$",
        "^[^😀]$",
        r"^\-.$",
        r"^\-.*$",
        r"^\-?.{1,40}$",
        r"^\p{Lu}$",
        r"^\p{greek}$",
    ),
    *(r"^(?<x>a|b)\k<x>$", r"^(.)\1$", "(?<!a)b", "(?P<x>a)", "(?i)a", "[z-a]", r"^\x41$", r"^[\b]$"),
)
"""The patterns that whole packages are made of."""

PATTERNS: Final = tuple(dict.fromkeys([*FIXED, *WHOLE, *drawn(500, 35)]))


@cache
def answers() -> Mapping[str, Answers]:
    """What a JavaScript engine makes of the patterns: the flags with which each is one, and whether it is found in each text."""
    try:
        command = [javascript.node(), "-e", RUN]
    except javascript.Unreachable as reason:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(reason))
    ran = subprocess.run(command, input=json.dumps([PATTERNS, TEXTS]), capture_output=True, text=True, check=True)
    return dict(zip(PATTERNS, json.loads(ran.stdout), strict=True))


def wrong(pattern: str, judge: Judge, right: Sequence[bool], *, loose: bool = False) -> list[str]:
    """The texts that a judge judges otherwise. A loose one may take texts with characters beyond U+FFFF."""
    return [
        text
        for text, is_right in zip(TEXTS, right, strict=True)
        if (found := judge(text)) is not None and found is not is_right
        if not (loose and found and max(map(ord, text)) > 0xFFFF)
    ]


def test_what_is_a_pattern_and_with_which_flag_is_as_a_javascript_engine_has_it() -> None:
    found: Counter[str] = Counter()
    for pattern, answer in answers().items():
        assert (not describe_fault(pattern)) is (answer is not None), pattern
        if answer is None:
            found["none"] += 1
            continue
        try:
            assert parse(pattern).is_unicode is (answer[0] == "u"), pattern
        except UnsupportedPattern:
            found["not read"] += 1
        found[answer[0] or "without"] += 1
    assert min(found["u"], found["without"]) > 200, found
    assert found["none"] > 50, found
    assert found["not read"] < 25, found


def _linear(pattern: str) -> Judge | None:
    written = translate_pattern(pattern).linear
    return None if written is None else SchemaValidator(core_schema.str_schema(pattern=written)).isinstance_python


def _strict(pattern: str) -> Judge | None:
    written = translate_pattern(pattern).strict
    return None if written is None else jsonschema_rs.Draft202012Validator({"pattern": written}).is_valid


def _samples(pattern: str) -> Judge | None:
    found = translate_pattern(pattern)
    return None if found.strict is None or found.gap else lambda text: matches(pattern, text)


def _validators_of_the_prover(pattern: str) -> Judge | None:
    try:
        found = compile_pattern(pattern)
    except re.error:
        return None
    return lambda text: found.search(text) is not None


def _automata(pattern: str) -> Judge | None:
    return lambda text: is_found(pattern, text)


@pytest.mark.parametrize(
    ("engine", "most_silent"),
    [(_linear, 330), (_strict, 30), (_samples, 140), (_validators_of_the_prover, 160), (_automata, 2_000)],
)
def test_every_engine_finds_what_a_javascript_engine_finds(
    engine: Callable[[str], Judge | None], most_silent: int
) -> None:
    silent = 0
    for pattern, answer in answers().items():
        if answer is None:
            continue
        judge = engine(pattern)
        if judge is None:
            silent += 1
            continue
        assert not wrong(pattern, judge, answer[1], loose=bool(translate_pattern(pattern).gap)), pattern
    assert silent < most_silent


# --- whole packages --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def package(subjects: Subjects) -> Subject:
    """The bindings of definitions by each of these patterns: texts, names of members, and members by their names."""
    definitions: dict[str, Any] = {}
    for number, pattern in enumerate(WHOLE):
        definitions[f"Text{number}"] = {"type": "string", "pattern": pattern}
        definitions[f"Names{number}"] = {"type": "object", "propertyNames": {"pattern": pattern}}
        definitions[f"Keys{number}"] = {
            "type": "object",
            "patternProperties": {pattern: {"type": "integer"}},
            "additionalProperties": {"type": "string"},
        }
    return subjects.small("patterns", definitions)


def decodes(package: Subject, name: str, value: Any) -> bool:
    """Whether `decode` takes a value."""
    try:
        package.module.decode_as(package.type(name), value)
    except package.runtime.DecodeError:
        return False
    return True


def validates(package: Subject, name: str, value: Any) -> bool:
    """Whether the strict validator of the package takes a value."""
    return not package.module.validate_as(name, value)


@pytest.mark.parametrize("judge", [decodes, validates])
def test_packages_judge_as_a_javascript_engine_and_list_what_they_do_not(
    package: Subject, judge: Callable[[Subject, str, Any], bool]
) -> None:
    for number, pattern in enumerate(WHOLE):
        answer = answers()[pattern]
        found = translate_pattern(pattern)
        is_left = bool(found.gap)
        listed = package.module.UNENFORCED.get(f"Text{number}", ())
        assert ([place.rpartition("/")[2] for place in listed] == ["pattern"]) is is_left, pattern
        for text, right in zip(TEXTS, answer[1] if answer is not None else [True] * len(TEXTS), strict=True):
            rows = [
                (f"Text{number}", text, right),
                (f"Names{number}", {text: 1}, right),
                (f"Keys{number}", {text: 1}, right),
                (f"Keys{number}", {text: "a"}, not right),
            ]
            for name, value, is_valid in rows:
                taken = judge(package, name, value)
                assert taken is is_valid or (taken and is_left), (pattern, name, value)


@pytest.mark.parametrize("pattern", [r"^\<a\>$", "^.+$", r"^\d$", r"^[\w-.]+$", r"^\-?.{1,40}$"])
def test_messages_name_the_pattern_of_the_schema(package: Subject, pattern: str) -> None:
    number = WHOLE.index(pattern)
    (decoded,) = package.problems(f"Text{number}", "\n")
    (validated,) = package.module.validate_as(f"Text{number}", "\n")
    assert decoded.sentence == validated.sentence == f"'\\n' does not match the pattern {pattern!r}"
    assert validated.schema == f"#/$defs/Text{number}/pattern"


def test_places_name_the_pattern_of_the_schema(package: Subject) -> None:
    number = WHOLE.index(r"^\d$")
    (found,) = package.module.validate_as(f"Keys{number}", {"1": "a"})
    assert found.schema == f"#/$defs/Keys{number}/patternProperties/^\\d$/type"


def test_what_no_engine_has_refuses_nothing_wherever_it_stands(subjects: Subjects) -> None:
    none: Any = {"type": "string", "pattern": "(?P<x>a)"}
    some: Any = {"type": "string", "maxLength": 2}
    package = subjects.small(
        "none",
        {
            "Plain": none,
            "Not": {"type": "string", "not": {"$ref": "#/$defs/Plain"}},
            "OneOf": {"oneOf": [none, some]},
            "If": {"type": "string", "if": none, "then": {"const": "a"}, "else": {"const": "b"}},
            "Contains": {"type": "array", "contains": none, "maxContains": 1},
            "Keys": {"type": "object", "patternProperties": {"(?P<x>a)": True}, "additionalProperties": False},
            "Rest": {
                "type": "object",
                "allOf": [{"patternProperties": {"(?P<x>a)": True}}],
                "unevaluatedProperties": False,
            },
        },
    )
    values: dict[str, list[Any]] = {
        **{name: ["a", "b", "abc"] for name in ("Plain", "Not", "OneOf")},
        "If": ["a", "b"],
        "Contains": [["a", "b"], ["a"]],
        "Keys": [{"a": 1}, {"b": 1}],
        "Rest": [{"a": 1}, {"b": 1}],
    }
    for name, accepted in values.items():
        for value in accepted:
            assert decodes(package, name, value), (name, value)
            assert validates(package, name, value), (name, value)
        assert not validates(package, name, 5)
        assert package.module.UNENFORCED[name]


def test_a_pattern_of_an_annotation_is_found_by_the_engine_where_python_finds_it() -> None:
    """A type that the schema has no name for is judged by its annotation."""
    told = 0
    for pattern in (*FIXED, *drawn(300, 5)):
        written = None if describe_fault(pattern) else translate_to_python(pattern)
        if written is not None:
            told += 1
            judge = jsonschema_rs.Draft202012Validator({"pattern": translate_to_engine(written)})
            assert [judge.is_valid(text) for text in TEXTS] == [bool(re.search(written, text)) for text in TEXTS], (
                pattern
            )
    assert told > 100


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "(a*)*b", "^(?:a?){30}a{30}$", "a+$", "^(a+)+(?!x)$"])
def test_a_pattern_that_may_be_tried_for_ages_is_left_to_the_engine(subjects: Subjects, pattern: str) -> None:
    text = {"type": "string", "pattern": pattern}
    definitions = {"Text": text, "Record": {"type": "object", "properties": {"text": text}}}
    number = abs(hash(pattern))
    subject = subjects.small(f"ages_{number}", definitions, shared="ages")
    hostile = "a" * 20_000 + "!"
    before = time.process_time()
    for name, value in (("Text", hostile), ("Record", {"text": hostile})):
        subject.problems(name, value)
    with pytest.raises(subject.runtime.DecodeError):
        subject.type("Record")(text=hostile)
    record = subject.type("Record")()
    with pytest.raises(subject.runtime.DecodeError):
        record.text = hostile
    assert time.process_time() - before < 5
