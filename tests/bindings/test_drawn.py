"""Decoding beside the reference: schemas drawn with keywords of every kind are judged as the reference does, or listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tiers
from acpgen.bundle.faults import NAME_COLLISION, REFERENCE_LOOP
from acpgen.errors import Faults
from bindings.drawn import Maker
from bindings.instances import Chooser, Drawn
from bindings.subjects import Subject, Subjects, forget
from bindings.test_differences import unenforced

NAMES: Final = ("Ant", "Bee", "Cow")

_NUMBERS: Final = count()


def package(subjects: Subjects, definitions: Mapping[str, Any]) -> Subject | None:
    """The bindings of definitions; `None` where they are refused for a reason that chance often gives."""
    try:
        return subjects.small(f"drawn_definitions_{next(_NUMBERS)}", definitions, shared="drawn_definitions")
    except Faults as faults:
        if all(fault.kind in (NAME_COLLISION, REFERENCE_LOOP) for fault in faults.faults):
            return None
        raise


def verdict(subject: Subject, name: str, value: Any) -> bool:
    """Whether decoding accepts a value. Whatever it raises but its own error fails the test."""
    try:
        subject.module.decode_as(subject.type(name), value, lenient=False)
    except subject.runtime.DecodeError:
        return False
    return True


def compare(subjects: Subjects, maker: Maker, values: int) -> Counter[str]:
    """Judge drawn values by drawn definitions. Returns what came of it."""
    definitions = maker.definitions()
    found: Counter[str] = Counter()
    subject = package(subjects, definitions)
    if subject is None:
        return Counter(refused=1)
    for name in NAMES:
        judge = jsonschema_rs.Draft202012Validator({"$defs": definitions, "$ref": f"#/$defs/{name}"})
        lists = unenforced(subject, name)
        for value in (maker.value() for _ in range(values)):
            expected, accepted = judge.is_valid(value), verdict(subject, name, value)
            assert accepted or not expected, ("valid and refused", name, value, definitions)
            assert accepted is expected or lists, ("invalid, accepted and not listed", name, value, definitions)
            found["valid" if expected else "invalid" if not accepted else "listed"] += 1
    forget(subject.module.__name__)
    return found


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_drawn_schemas_are_judged_as_by_the_reference_or_listed(subjects: Subjects, whole: bool) -> None:
    @given(st.data())
    @settings(
        max_examples=200 if whole else 10,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    def judge(data: st.DataObject) -> None:
        compare(subjects, Maker(Drawn(data), NAMES), values=6)

    judge()


@pytest.mark.parametrize("seed", tiers.sample(range(8), 1))
def test_schemas_from_a_seed_are_judged_as_by_the_reference_or_listed(subjects: Subjects, seed: int) -> None:
    found: Counter[str] = Counter()
    for number in range(60):
        found += compare(subjects, Maker(Chooser((seed, number)), NAMES), values=40)
    assert found["valid"] > 200
    assert found["invalid"] > 1000
    assert found["listed"] < found["valid"]
