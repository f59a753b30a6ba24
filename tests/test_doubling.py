"""Nothing of 1 KB takes long, in steps that are the same on each machine: it is done, or it says why it is not."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Final

import pytest

import tiers
from acpgen import Faults, lint
from acpgen.bundle.unknown_variants import make_receiver_definitions
from acpgen.compat.compare import compare
from acpgen.compat.findings import Mode
from acpgen.errors import FaultKind
from acpgen.input.complexity import MOST_PATHS, count_paths
from acpgen.input.faults import TOO_MANY_PATHS, TOO_MUCH_WORK
from acpgen.input.load import Documents, Source, parse
from acpgen.ir import Ref
from acpgen.meaning.samples import LARGEST, Unmakeable, Values
from acpgen.meaning.understanding import understand
from acpgen.messages.validators import read_strict
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from doubling import LONGER, SHAPES, level, protocol

SECONDS: Final = 60
"""Of processor time, where about one is needed: not a measure, but an end for what has none."""


class NoEnd(BaseException):
    """What is under way would double once more at each level."""


@contextmanager
def ending() -> Generator[None]:
    """Stops what does not end."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise NoEnd

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def refusals(make: Callable[[], object]) -> set[FaultKind]:
    """The kinds of faults by which something is not made; none where it is."""
    with ending():
        try:
            make()
        except Faults as faults:
            return {fault.kind for fault in faults.faults}
    return set()


def source(shape: str, *, changed: bool = False) -> Source:
    text = json.dumps(protocol(shape, changed=changed), separators=(",", ":"))
    return Source("p", "", (("p.json", text.encode()),))


def documents(shape: str, *, changed: bool = False) -> Documents:
    return parse(source(shape, changed=changed))


@pytest.mark.parametrize("target", ["docs", "vectors"])
@pytest.mark.parametrize("shape", tiers.sample(SHAPES, 5))
def test_every_target_is_made_of_little_or_says_why_it_is_not(shape: str, target: str) -> None:
    make = TARGETS[target]
    assert refusals(lambda: make(*understand(documents(shape)), Settings())) <= {TOO_MANY_PATHS}


@pytest.mark.parametrize("shape", LONGER)
def test_vectors_are_made_of_a_few_kilobytes_that_double(shape: str) -> None:
    assert not refusals(lambda: TARGETS["vectors"](*understand(documents(shape)), Settings()))


@pytest.mark.parametrize("shape", ["with-and-without", "variants-by-many-keys"])
def test_unions_that_multiply_become_few_definitions(shape: str) -> None:
    known, _ = understand(documents(shape))
    assert len(known.definitions) < 300
    assert {f"L{number}" for number in range(len(SHAPES[shape]))} <= set(known.definitions)


def test_what_receivers_accept_of_unions_in_unions_grows_by_the_same_with_each() -> None:
    def measure(depth: int) -> int:
        union: dict[str, object] = {"type": "object", "properties": {"kind": {"$ref": "#/$defs/Kind"}}}
        for number in range(depth):
            union = {"oneOf": [union, {"type": "object", "required": [f"k{number}"]}]}
        unions = {"Kind": None, "Union": None}
        return len(json.dumps(make_receiver_definitions({"Kind": {"enum": ["a"]}, "Union": union}, unions, ["Kind"])))

    sizes = [measure(depth) for depth in (5, 7, 9)]
    assert sizes[2] - sizes[1] < 1.1 * (sizes[1] - sizes[0])


@pytest.mark.parametrize("mode", ["protocol", "language"])
@pytest.mark.parametrize("shape", tiers.sample(SHAPES, 5))
def test_two_revisions_are_compared(shape: str, mode: Mode) -> None:
    assert not refusals(lambda: compare(documents(shape), documents(shape, changed=True), mode=mode))


@pytest.mark.parametrize("shape", tiers.sample(SHAPES, 5))
def test_lint_and_the_strict_validator_end(shape: str) -> None:
    assert not refusals(lambda: lint.lint(source(shape)))
    assert refusals(lambda: read_strict(documents(shape))) <= {TOO_MANY_PATHS}


def test_ways_are_counted_from_the_leaves_on() -> None:
    assert count_paths({"A": {"allOf": [level(1), level(1)]}, "L1": {"type": "string"}}) == {"L1": 1, "A": 5}
    assert count_paths({"L0": {"anyOf": [level(0), {"if": True, "then": level(1)}]}})["L0"] == 7
    found = count_paths({**SHAPES["all-of"]})
    assert found["L0"] > 2**10 and min(found.values()) == 1
    long = {f"L{number}": level(number + 1) for number in range(20_000)} | {"L20000": {}}
    assert count_paths(long)["L0"] == 20_001


def test_unevaluated_keywords_inside_each_other_are_refused_before_they_multiply() -> None:
    nested: dict[str, object] = {"type": "object"}
    for _ in range(40):
        nested = {"allOf": [nested], "unevaluatedProperties": False}
    known = understand(parse(Source("p", "", (("p.json", json.dumps({"$defs": {"A": nested}}).encode()),))))
    for target, fault in (("docs", TOO_MANY_PATHS), ("vectors", TOO_MANY_PATHS), ("typescript", TOO_MUCH_WORK)):
        assert refusals(partial(TARGETS[target], *known, Settings())) == {fault}


def test_a_fault_names_the_first_definition_that_is_too_much() -> None:
    definitions = {f"L{n}": {"oneOf": [level(n + 1), level(n + 1)]} for n in range(40)} | {"L40": {"type": "string"}}
    request = {"type": "object", "properties": {"x": level(0)}, "x-method": "go", "x-side": "agent"}
    text = json.dumps({"$defs": {**definitions, "GoRequest": request}})
    known = understand(parse(Source("p", "", (("p.json", text.encode()),))))
    with pytest.raises(Faults) as caught:
        TARGETS["docs"](*known, Settings())
    (fault,) = caught.value.faults
    assert fault.kind == TOO_MANY_PATHS
    name = fault.at.removeprefix("p.json#/$defs/")
    below = f"L{int(name[1:]) + 1}"
    found = count_paths(known[1].definitions)
    assert found[below] <= MOST_PATHS < found[name]


def test_values_that_would_be_too_large_are_not_made() -> None:
    values = Values(understand(documents("fields"))[0].definitions)
    names = [name for name in values.definitions if name.startswith("L")]
    made = 0
    for name in names:
        with suppress(Unmakeable):
            assert len(json.dumps(values.make_small(name))) < 20 * LARGEST
            made += 1
    assert 0 < made <= len(names)
    with ending():
        many = Values(understand(documents("many-items"))[0].definitions)
        with pytest.raises(Unmakeable):
            many.make(Ref("L0"))
        assert [*many.damage(Ref("L0"))]
