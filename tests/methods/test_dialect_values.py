"""Wrong values of every keyword of the dialect are refused by every command that reads a schema, with file, line and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from acpgen import Faults, compare
from acpgen.input.dialect import read_keywords
from acpgen.input.faults import MALFORMED_KEYWORD, UNKNOWN_SIDE
from acpgen.meaning.understanding import understand
from acpgen.messages import validators
from methods.made import documents, own

WRONG: Final[dict[str, Any]] = {
    **{name: 3 for name in read_keywords() if name not in ("x-extends", "x-adds")},  # those: tests/test_overlays.py
    "x-side": ["tower"],
    "x-sides": ["tower"],
    "x-batch": "always",
    "x-capability": "loadSession",
    "x-gates": "all",
    "x-null": "nothing",
    "x-unknown": True,
    "x-unstable": "yes",
    "x-name": "lower case",
    "x-was": "#/$defs/Old",
    "x-docs-ignore": 1,
    "x-integer": "draft-06",
    "x-deserialize-default-on-error": "yes",
    "x-deserialize-skip-invalid-items": False,
    "x-deserialize-default-on-null": None,
}
"""A wrong value of each keyword: none takes a number."""


@pytest.mark.parametrize("keyword", WRONG)
def test_a_wrong_value_is_refused_with_file_pointer_and_remedy(keyword: str) -> None:
    on_file = keyword in ("x-sides", "x-migration")
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "array", "items": {}}}}
    given = documents(
        {
            **({keyword: WRONG[keyword]} if on_file else {}),
            "$defs": {"A": {**schema, **({} if on_file else {keyword: WRONG[keyword]})}},
        }
    )
    commands: list[Callable[[], Any]] = [
        lambda: understand(given),
        lambda: validators.read_strict(given),
        lambda: compare(given, documents({"$defs": {}})),
    ]
    for read in commands:
        with pytest.raises(Faults) as caught:
            read()
        (fault,) = caught.value.faults
        assert fault.kind == MALFORMED_KEYWORD
        assert fault.at == ("schema.json#" if on_file else "schema.json#/$defs/A")
        assert str(fault).endswith(".") and f"'{keyword}' must be " in str(fault)


def test_a_side_that_nobody_is_is_refused_wherever_it_is_named() -> None:
    schema = {
        "type": "object",
        "x-method": "land",
        "x-side": "towr",
        "x-capability": "plain:capabilities.land",
        "properties": {"a": {"x-required-with": "towr:capabilities.a"}},
    }
    for sides, known in ((["plane", "tower"], "Did you mean 'tower'?"), (None, "Known names: 'agent'")):
        value = {**({"x-sides": sides} if sides else {}), "$defs": {"LandRequest": schema}}
        with pytest.raises(Faults) as caught:
            understand(documents(value))
        faults = caught.value.faults
        assert [(fault.kind, fault.values["keyword"]) for fault in faults if fault.kind == UNKNOWN_SIDE] == [
            (UNKNOWN_SIDE, "x-side"),
            (UNKNOWN_SIDE, "x-capability"),
            (UNKNOWN_SIDE, "x-required-with"),
        ]
        assert known in str(faults[0]) and "'x-sides'" in str(faults[0])


def test_sides_are_declared_by_a_file_or_by_a_profile() -> None:
    schema = {"type": "object", "x-method": "land", "x-side": "tower", "x-capability": "plane:capabilities.land"}
    given = {
        "$defs": {"LandRequest": schema, "LandResponse": {"type": "object", "x-method": "land", "x-side": "tower"}}
    }
    protocol, found = understand(documents({"x-sides": ["plane", "tower"], **given}))
    assert (protocol.sides, protocol.methods[0].side) == (("plane", "tower"), "tower")
    assert "x-sides" not in json.dumps(found.schema)
    methods = own(sides=["plane", "tower"], marked=True)
    assert understand(documents(given), methods=methods)[0].sides == ("plane", "tower")
