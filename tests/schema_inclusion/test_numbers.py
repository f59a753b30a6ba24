"""Numbers are exact: as the text of a schema writes them, and as the values of Python are meant."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from schema_inclusion import Comparer, Verdict, compare, is_satisfiable
from schema_inclusion.__main__ import main
from schema_inclusion.values import ExactNumber, dumps, is_equal, loads

EXPANSION = "0.1000000000000000055511151231257827021181583404541015625"
"""All digits of the double that stands for 0.1."""


def ask(folder: Path, old: str, new: str) -> int:
    for name, text in (("old", old), ("new", new)):
        (folder / f"{name}.json").write_text(text, "utf-8")
    return main([str(folder / "old.json"), str(folder / "new.json")])


def decimal(text: str) -> Any:
    """A number that a program may give, though its type is not one of JSON."""
    return Decimal(text)


def verdicts(old: str, new: str) -> tuple[str, str]:
    found = compare(loads(old), loads(new))
    return found.backward.verdict.value, found.forward.verdict.value


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward"),
    [
        ('{"maximum": 0.10000000000000000000001}', '{"maximum": 0.1}', "no", "yes"),
        ('{"minimum": 0.10000000000000000000001}', '{"minimum": 0.1}', "yes", "no"),
        ('{"exclusiveMaximum": 0.1}', '{"maximum": 0.09999999999999999999999}', "no", "yes"),
        ('{"const": 9007199254740993}', '{"const": 9007199254740993.0}', "yes", "yes"),
        ('{"const": 9007199254740993}', '{"const": 9007199254740992.0}', "no", "no"),
        ('{"enum": [1e400]}', '{"type": "integer"}', "yes", "no"),
        ('{"enum": [1e999]}', '{"type": "null"}', "no", "no"),
        ('{"properties": {"a": {"enum": [1e999, 1]}}}', '{"properties": {"a": {"enum": [null, 1]}}}', "no", "no"),
        ('{"const": 1e999}', '{"const": 10e998}', "yes", "yes"),
        ('{"const": 1e-400}', '{"const": 0}', "no", "no"),
        ('{"const": 1e-400}', '{"exclusiveMinimum": 0}', "yes", "no"),
        ('{"enum": [[0.1]]}', f'{{"enum": [[{EXPANSION}]]}}', "no", "no"),
        ('{"const": {"a": -0.0}}', '{"const": {"a": 0}}', "yes", "yes"),
        ('{"multipleOf": 0.02}', '{"multipleOf": 0.01}', "yes", "no"),
        ('{"multipleOf": 0.10000000000000000000001}', '{"multipleOf": 0.1}', "no", "no"),
        ('{"enum": [2.50, 0.1e1]}', '{"enum": [2.5, 1]}', "yes", "yes"),
        ('{"maximum": 1e307}', '{"maximum": 1e308}', "yes", "no"),
        ('{"const": 18446744073709551616}', '{"const": 18446744073709551617}', "no", "no"),
    ],
)
def test_schemas_are_compared_by_the_numbers_that_they_write(old: str, new: str, backward: str, forward: str) -> None:
    assert verdicts(old, new) == (backward, forward)
    assert verdicts(new, old) == (forward, backward)


def test_the_command_reads_and_writes_exact_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(tmp_path, '{"const": 0.10000000000000000000001}', '{"maximum": 0.1}') == 1
    assert "witness: 0.10000000000000000000001\n" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["1e999999999", "-1e-999999999", f"1e{'9' * 40}", "9" * 5_000, f"0.{'3' * 5_000}"])
def test_a_number_of_too_many_digits_makes_a_file_unreadable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str
) -> None:
    assert ask(tmp_path, f'{{"maximum": {number}}}', '{"maximum": 1}') == 2
    assert "more than 4000 digits" in capsys.readouterr().err


def test_a_zero_is_zero_whatever_its_exponent(tmp_path: Path) -> None:
    assert ask(tmp_path, '{"const": 0e999999999}', '{"const": 0.0e-999999999}') == 0


@pytest.mark.parametrize(
    "number",
    [
        float("inf"),
        float("-inf"),
        float("nan"),
        Decimal("Infinity"),
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
        10**5000,
    ],
    ids=["inf", "-inf", "nan", "Infinity", "1e999999999", "1e-999999999", "10**5000"],
)
def test_a_python_value_that_is_not_json_is_undecided_with_its_place(number: Any) -> None:
    nested: Any = {"properties": {"a/b": {"enum": [1, number]}}}
    schemas: tuple[Any, ...] = ({"enum": [1, number]}, nested)
    for schema in schemas:
        for found in (compare(schema, {"type": "null"}), compare({"type": "null"}, schema)):
            for relation in (found.backward, found.forward):
                assert relation.verdict is Verdict.UNDECIDED and "is not JSON" in relation.reason
        assert is_satisfiable(schema).verdict is Verdict.UNDECIDED
        inside = Comparer(True, True).compare(schema, schema)
        assert inside.backward.verdict is Verdict.UNDECIDED and not inside.same
    assert "'/properties/a~1b/enum/1'" in compare(nested, True).backward.reason


def test_a_decimal_is_the_number_that_it_is() -> None:
    tenth, expansion, more = (decimal(text) for text in ("0.1", EXPANSION, "0.10000000000000000000001"))
    assert compare({"maximum": tenth}, {"maximum": 0.1}).same
    assert compare({"maximum": expansion}, {"maximum": 0.1}).forward.verdict is Verdict.YES
    found = compare({"const": more}, {"maximum": 0.1}).backward
    assert found.witness is not None and str(found.witness.value) == "0.10000000000000000000001"


@pytest.mark.parametrize("levels", [pytest.param(700, marks=pytest.mark.exhaustive), 900])
def test_an_exact_number_deep_inside_changes_no_answer(levels: int, tmp_path: Path) -> None:
    def constant(number: Any) -> Any:
        for _ in range(levels):
            number = [number]
        return {"const": number}

    plain, others = constant(0.5), cast("tuple[Any, ...]", ({"type": "array"}, {"type": "string"}))
    wanted = is_satisfiable(plain), [compare(plain, other) for other in others]
    for number in (loads("0.10000000000000000000001"), decimal("0.10000000000000000000001"), decimal("0.5")):
        schema = constant(number)
        assert (is_satisfiable(schema), [compare(schema, other) for other in others]) == wanted
        assert compare(schema, schema).same
    brackets = "[" * levels, "]" * levels
    codes = {
        ask(tmp_path, f'{{"const": {brackets[0]}{number}{brackets[1]}}}', '{"type": "array"}')
        for number in ("0.5", "0.10000000000000000000001")
    }
    assert codes == {0}


@pytest.mark.parametrize("text", ["0.10000000000000000000001", "-1e-400", EXPANSION, "9007199254740993.5", "1.5e-3080"])
def test_a_number_that_no_double_equals_keeps_its_text(text: str) -> None:
    value = loads(text)
    assert isinstance(value, ExactNumber) and dumps(value) == str(value) == f"{value}" == text
    for twin in (copy.deepcopy(value), pickle.loads(pickle.dumps(value)), loads(dumps({"a": [value]}))["a"][0]):
        assert twin == value and is_equal(twin, value) and hash(twin) == hash(value)
    nearest = float(value)
    assert value != nearest and not is_equal(value, nearest) and (value < nearest) is not (nearest < value)
    assert dumps({"number 1": [value, "number "]}, sort_keys=True) == f'{{"number 1": [{text}, "number "]}}'


@pytest.mark.parametrize(
    "text", ["2.50", "0.1e1", "1e23", "1.0", "-0.0", "1e-7", "5e-324", "17", "123456789012345678901"]
)
def test_every_other_number_is_the_plain_one_of_python(text: str) -> None:
    assert type(loads(text)) in (int, float) and is_equal(loads(text), loads(f"[{text}]")[0])


OLDEST: Any = {"$schema": "http://json-schema.org/draft-04/schema#"}
RECORD: Any = {"properties": {"n": {"type": ["integer", "null"]}, "l": {"items": {"type": "integer"}}}}
WRITTEN: Any = {"type": "integer", "x-integer": "draft-04"}


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward"),
    [
        ({**OLDEST, "type": "integer"}, {"type": "integer"}, "yes", "no"),
        ({**OLDEST, **RECORD}, RECORD, "yes", "no"),
        ({**OLDEST, "type": "integer"}, WRITTEN, "yes", "yes"),
        ({**OLDEST, **RECORD}, {**OLDEST, **RECORD, "type": "object"}, "no", "yes"),
        ({"items": WRITTEN, "type": "array"}, {"items": {**WRITTEN, "minimum": 0}, "type": "array"}, "no", "yes"),
        ({**OLDEST, "enum": [1]}, {"enum": [1.0]}, "yes", "yes"),
        ({**OLDEST, "type": "integer", "enum": [1]}, {"enum": [1.0]}, "yes", "no"),
        ({**OLDEST, "not": {"type": "integer"}}, {"not": {"type": "integer"}}, "no", "yes"),
        ({**OLDEST, "anyOf": [{"type": "integer"}, {"type": "string"}]}, {"type": ["integer", "string"]}, "yes", "no"),
        ({"type": "integer", "x-integer": "other"}, {"type": "integer"}, "yes", "yes"),
    ],
)
def test_an_integer_of_draft_04_is_written_without_a_fraction(old: Any, new: Any, backward: str, forward: str) -> None:
    found = compare(old, new)
    assert (found.backward.verdict.value, found.forward.verdict.value) == (backward, forward)
