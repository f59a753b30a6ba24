"""Three judges agree: JSON Schema on the bundle, the IR's meaning, the generated code."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tiers
from acpgen import ir
from acpgen.pointers import resolve
from bindings.instances import Chooser, Drawn, Instances
from bindings.subjects import SOURCES, Subject, Subjects, parameters, same

VALUES = 3
MANY = 28
"""How many values each definition is tried with by default, and in the whole test."""


@dataclass(frozen=True)
class Judges:
    """Those of one definition."""

    subject: Subject
    name: str

    @cached_property
    def schema(self) -> dict[str, Any]:
        return {"$ref": f"#/$defs/{self.name}", "$defs": self.subject.tolerant_schema["$defs"]}

    @cached_property
    def slow(self) -> Any:
        return jsonschema.Draft202012Validator(self.schema)

    @cached_property
    def fast(self) -> Any:
        return jsonschema_rs.Draft202012Validator(self.schema)

    def agreed(self, value: Any) -> bool:
        """The verdict of all; what is accepted comes back from encoding as it was."""
        expected = bool(self.slow.is_valid(value))
        assert self.fast.is_valid(value) is expected, (self.name, "jsonschema-rs", value)
        assert self.subject.meaning.accepts(self.name, value) is expected, (self.name, "meaning", value)
        if not expected:
            for problem in self.subject.problems(self.name, value):
                resolve(value, problem.pointer)
                resolve(self.subject.bundle.schema, problem.schema)
                assert problem.sentence
            return False
        found = self.subject.module.decode_as(self.subject.type(self.name), value, lenient=False)
        assert same(self.subject.encoded(found), value), (self.name, value, found)
        return True


def judged(subject: Subject) -> list[str]:
    """The definitions that both the bundle and the IR have."""
    return [name for name in subject.protocol.definitions if name in subject.bundle.definitions]


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("source", parameters(SOURCES))
def test_json_schema_and_the_meaning_and_the_bindings_accept_the_same_and_lose_nothing(
    subjects: Subjects, source: str, whole: bool
) -> None:
    subject = subjects(source)
    count = MANY if whole else VALUES
    instances = Instances(subject.meaning)
    verdicts: Counter[bool] = Counter()
    for name in judged(subject):
        judges = Judges(subject, name)
        verdicts.update(judges.agreed(instances.damaged(Chooser((name, index)), name)) for index in range(count))
    assert verdicts[True] > count
    assert verdicts[False] > count


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("source", parameters(SOURCES))
def test_the_judges_agree_on_what_hypothesis_finds(subjects: Subjects, source: str, whole: bool) -> None:
    subject = subjects(source)
    instances, verdicts = Instances(subject.meaning), Counter[bool]()
    known = {name: Judges(subject, name) for name in judged(subject)}

    @settings(
        max_examples=200 if whole else 25,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.data())
    def agree(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(known)))
        verdicts[known[name].agreed(instances.damaged(Drawn(data), name))] += 1

    agree()
    assert verdicts[True] > 0
    assert verdicts[False] > 0


@pytest.mark.parametrize("source", parameters(SOURCES))
def test_every_definition_of_the_meaning_is_judged(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    left = {name for name in subject.protocol.definitions if name not in subject.bundle.definitions}
    assert left == {
        union.fallback
        for union in subject.protocol.definitions.values()
        if isinstance(union, ir.TaggedUnion) and union.openness != "open" and union.fallback is not None
    }
