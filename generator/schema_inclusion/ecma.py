r"""Make `jsonschema` validators that read patterns as ECMA-262 does, and decimal numbers exactly.

`jsonschema` passes patterns to Python's `re` unchanged, where `\d` matches digits of all scripts, `$` matches before a final newline,
and a dot matches three of the four line terminators; and it divides binary fractions where a schema has decimal ones. Here `re` gets a
translation of the pattern. Where `re` could take unbounded time, an engine of `jsonschema-rs` is used: the linear one, or one that
counts its steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Final

import jsonschema
import jsonschema.exceptions
import jsonschema.validators
import jsonschema_rs

from schema_inclusion.formats import FORMATS, is_of
from schema_inclusion.once import spend
from schema_inclusion.regex import may_backtrack
from schema_inclusion.spelling import spell_for_python, spell_for_rust
from schema_inclusion.syntax import UnsupportedPattern
from schema_inclusion.values import to_exact

LONGEST_AT_ONCE: Final = 20
"""The maximum length of texts that `re` matches, whatever the pattern."""

MOST_BACKTRACKS: Final = 100_000
"""The maximum number of backtracks in a text of up to a thousand characters: a tenth of a second to a second.

Fewer in a longer one, but at least some for each character.
"""
CHARACTERS_A_STEP: Final = 100_000
"""The number of characters that such a search reads for one step of the validation of a value."""


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for Python. Raises `re.error` if Python cannot match it as ECMA-262 does."""
    try:
        return re.compile(spell_for_python(pattern), re.ASCII)
    except (UnsupportedPattern, OverflowError) as fault:
        raise re.error(str(fault)) from None


@lru_cache(maxsize=1024)
def _make_engine(pattern: str, limit: int) -> tuple[jsonschema_rs.Validator, bool]:
    """An engine for a pattern, and whether it is linear; otherwise it backtracks at most `limit` times.

    Raises `re.error` if there is no such engine.
    """
    try:
        spelling = spell_for_rust(pattern)
        if spelling.gap:
            raise re.error(spelling.gap)
        is_linear = spelling.linear is not None
        options = jsonschema_rs.RegexOptions() if is_linear else jsonschema_rs.FancyRegexOptions(backtrack_limit=limit)
        translation = spelling.linear or spelling.backtracking
        return jsonschema_rs.validator_for({"pattern": translation}, pattern_options=options), is_linear
    except ValueError as fault:
        raise re.error(str(fault)) from None


def _is_found(pattern: str, text: str) -> bool:
    if len(text) <= LONGEST_AT_ONCE or not may_backtrack(pattern):
        return compile_pattern(pattern).search(text) is not None
    magnitude = len(text).bit_length()
    limit = max(MOST_BACKTRACKS >> max(0, magnitude - 10), 1 << min(magnitude + 1, 16))
    engine, is_linear = _make_engine(pattern, limit)
    if is_linear:
        return engine.is_valid(text)
    spend(1 + limit * len(text) // CHARACTERS_A_STEP)
    error = next(engine.iter_errors(text), None)
    if error is not None and isinstance(error.kind, jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded):
        raise re.error("it takes too many steps")
    return error is None


def _check_pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not _is_found(pattern, instance):
        yield jsonschema.exceptions.ValidationError(f"{instance!r} does not match {pattern!r}")


def _check_pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, inner in patterns.items():
        for name, value in instance.items():
            if _is_found(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _check_additional_properties(validator: Any, demand: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in schema.get("properties", {}) or any(_is_found(pattern, name) for pattern in patterns):
            continue
        if demand is False:
            yield jsonschema.exceptions.ValidationError(f"{name!r} is one property too many")
        else:
            yield from validator.descend(value, demand, path=name)


def _to_fraction(value: int | float) -> Fraction:
    number = to_exact(value)
    if number is None:
        raise ValueError(f"{value} is not a number of JSON")
    return number


def _check_multiple_of(validator: Any, step: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "number") and (_to_fraction(instance) / _to_fraction(step)).denominator != 1:
        yield jsonschema.exceptions.ValidationError(f"{instance!r} is not a multiple of {step!r}")


def _check_written_integer(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if value == "draft-04" and isinstance(instance, float) and validator.is_type(instance, "integer"):
        yield jsonschema.exceptions.ValidationError(f"{instance!r} is written with a fraction")


def _make_format(formats: frozenset[str]) -> Callable[[Any, Any, Any, Any], Iterator[Any]]:
    """The keyword `format`. It raises `ValueError` where our own bounds and an independent validator contradict each other."""

    def keyword(validator: Any, name: Any, instance: Any, _schema: Any) -> Iterator[Any]:
        if name not in formats or not validator.is_type(instance, "string"):
            return
        bounds, is_valid = FORMATS[name], is_of(name, instance)
        surely, possibly = _is_found(bounds.surely, instance), _is_found(bounds.possibly, instance)
        if (surely and not is_valid) or (is_valid and not possibly):
            raise ValueError(f"validators disagree on the format {name!r}")
        if not is_valid:
            yield jsonschema.exceptions.ValidationError(f"{instance!r} is no {name!r}")

    return keyword


@cache
def make_ecma_validators(plain: Any, formats: frozenset[str] | None = None) -> Any:
    """The class of validators with these keywords instead of its own. It asserts the formats; `None` leaves `format` unchanged.

    A validator raises `re.error` if Python cannot match a pattern as ECMA-262 does.
    """
    extend: Any = getattr(jsonschema.validators, "extend")  # noqa: B009 - it has no types
    keywords: dict[str, Any] = {
        "pattern": _check_pattern,
        "patternProperties": _check_pattern_properties,
        "additionalProperties": _check_additional_properties,
        "multipleOf": _check_multiple_of,
        "x-integer": _check_written_integer,
    }
    return extend(plain, keywords if formats is None else {**keywords, "format": _make_format(formats)})
