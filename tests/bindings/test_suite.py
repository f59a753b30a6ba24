"""The JSON Schema test suite by way of the bindings: decode is right on every keyword, or says where it is not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any, Final

import pytest

import evidence
from acpgen import ir
from acpgen.errors import Faults
from acpgen.meaning.lower import lower
from acpgen.pointers import place_parts
from acpgen.schema.bundle import Bundle, bundle
from acpgen.schema.load import load
from acpgen.schema.unions import lone_reference
from acpgen.schema.walk import is_object
from acpgen.targets import TARGETS, Settings
from acpgen.targets.python.naming import name_all
from bindings.subjects import Subjects

SUITES: Final = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}


@dataclass
class Outcome:
    """What became of the rows of a suite. `wrong` are those that decode judged otherwise and that nothing lists."""

    right: int = 0
    listed: int = 0
    wrong: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    refused: Counter[str] = field(default_factory=Counter[str])


@pytest.fixture(scope="module", params=SUITES)
def outcome(request: pytest.FixtureRequest, subjects: Subjects) -> tuple[str, Outcome]:
    suite = str(request.param)
    evidence.need(f"json-schema-test-suite/{suite}")
    return suite, run(suite, subjects.folder)


def run(suite: str, folder: Path) -> Outcome:
    """Judge every row of a suite by a package that is generated from its schema alone. All packages share one run-time package."""
    found = Outcome()
    written: set[str] = set()
    for number, (name, group) in enumerate(groups(suite)):
        package = f"suite_{suite.replace('-', '_')}.group{number}"
        try:
            judge, lists = bindings(with_dialect(group["schema"], SUITES[suite]), package, folder, written)
        except Faults as faults:
            found.refused[type(faults.faults[0]).__name__] += len(group["tests"])
            continue
        for row in group["tests"]:
            if judge(row["data"]) is row["valid"]:
                found.right += 1
            elif lists and not row["valid"]:
                found.listed += 1
            else:
                found.wrong.append((name, group["description"], row["description"]))
    return found


def groups(suite: str) -> Iterator[tuple[str, Any]]:
    """The required groups of rows, each with the file that it stands in."""
    for path in sorted(evidence.path(f"json-schema-test-suite/{suite}").glob("*.json")):
        yield from ((path.stem, group) for group in json.loads(path.read_text("utf-8")))


def with_dialect(schema: Any, dialect: str) -> dict[str, Any]:
    """A schema as a file has it: an object that says its dialect."""
    return {"$schema": dialect, **(schema if is_object(schema) else {"allOf": [schema]})}


def bindings(
    schema: dict[str, Any], package: str, folder: Path, written: set[str]
) -> tuple[Callable[[Any], bool], Mapping[str, Any]]:
    """What judges values of a root schema by decoding them, and `UNENFORCED`."""
    file = folder / f"{package.partition('.')[2]}.json"
    file.write_text(json.dumps(schema), "utf-8")
    made = bundle(load(file))
    protocol = lower(made)
    for path, text in TARGETS["python"](protocol, made, Settings(package=package)).items():
        if path not in written:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
            written.add(path)
    invalidate_caches()
    module, runtime = import_module(package), import_module(f"{package.partition('.')[0]}.runtime")
    type_ = getattr(module, name_all(protocol).classes[root(protocol, made, schema)])

    def judge(value: Any) -> bool:
        try:
            module.decode_as(type_, value, lenient=False)
        except runtime.DecodeError:
            return False
        return True

    return judge, module.UNENFORCED


def root(protocol: ir.Protocol, made: Bundle, schema: dict[str, Any]) -> str:
    """The definition of the root: its own, or, of one that only refers, what it leads to."""
    own = next((one.name for one in protocol.definitions.values() if not place_parts(one.at)), None)
    if own is not None:
        return own
    referred = lone_reference(made.schema)
    if referred is None:  # the bundle's root lists what stands in it
        reference = schema.get("$ref", "")
        parts = target_parts(schema, reference)
        referred = next(one.name for one in protocol.definitions.values() if place_parts(one.at) == parts)
    return referred


def target_parts(schema: dict[str, Any], reference: str) -> tuple[str, ...]:
    """The keys that a chain of references leads to."""
    from urllib.parse import unquote

    parts = place_parts(unquote(reference))
    inner: Any = schema
    for part in parts:
        inner = inner[part]
    return target_parts(schema, inner["$ref"]) if is_object(inner) and set(inner) == {"$ref"} else parts


def test_decode_is_right_on_every_row_or_lists_what_it_leaves(outcome: tuple[str, Outcome]) -> None:
    _, found = outcome
    assert not found.wrong


FLOORS: Final = {"draft2020-12": (1135, 0, 125), "draft7": (846, 0, 70)}
"""Rows that are right at least, rows that are listed at most, and rows whose schema is refused for a named reason at most."""


def test_as_many_rows_are_right_as_ever(outcome: tuple[str, Outcome]) -> None:
    suite, found = outcome
    right, listed, refused = FLOORS[suite]
    assert found.right >= right, found
    assert found.listed <= listed, found
    assert found.refused.total() <= refused, found.refused
