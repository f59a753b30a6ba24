"""Schemas that others published: each generates or is refused for a known reason, and decoding and strict validation judge as it says."""

from __future__ import annotations

import copy
import posixpath
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urljoin

import jsonschema_rs
import pytest
from pydantic import TypeAdapter

import evidence
import tiers
from acpgen import ir
from acpgen.bundle.bundle import bundle
from acpgen.errors import Faults
from acpgen.input.drafts import find_written_place
from acpgen.input.load import load
from acpgen.meaning.definition_order import references
from acpgen.meaning.lower import lower
from acpgen.pointers import split_place
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from bindings.drawing import Drawing
from bindings.instances import Chooser, damage
from bindings.subjects import Source, Subject, Subjects, same

VALUES: Final = 24
LIMIT: Final = 3000
"""How many values each definition is tried with, and the definitions of one schema together."""

NO_SCHEMA: Final = frozenset({"extra", "tool", "openrpc-petstore"})
PUBLISHED: Final = [
    name
    for name in (*evidence.known("published/*/*.json", "wild/*.json"), "wild/cyclonedx-1.6-dir")
    if evidence.path(name).stem not in NO_SCHEMA
]

REFUSED: Final[Mapping[str, str]] = {
    "published/check-jsonschema/drone-ci.json": "reference-not-given",
    "published/check-jsonschema/meltano.json": "not-a-schema",
    "published/validate-pyproject/partial-tox.schema.json": "reference-not-given",
    "published/validate-pyproject/pdm.schema.json": "reference-not-given",
    "wild/dap.json": "unsupported",
    "wild/jsonrpc-meta.json": "unknown-dialect",
    "wild/openrpc-meta.json": "unknown-dialect",
    "wild/pyproject.json": "reference-not-given",
}
"""The schemas that nothing can be made of, each with the fault that says why."""

ACCEPTED: Final = [name for name in PUBLISHED if name not in REFUSED]


def package_name(name: str) -> str:
    """The name of a published schema as that of a package."""
    return "".join(character if character.isalnum() else "_" for character in name)


Place: TypeAlias = tuple[str, tuple[str, ...]]
"""A file, and the keys that lead to a schema there."""


class Original:
    """The judge of a schema as its authors wrote it."""

    def __init__(self, subject: Subject) -> None:
        self.sources = subject.bundle.sources
        self.bases = {
            path: str(source.get("$id", source.get("id", f"urn:{path}"))) for path, source in self.sources.items()
        }
        beside = {
            urljoin(base, posixpath.basename(path)): path
            for base in (self.bases.values() if len(self.sources) > 1 else ())  # files that name one another
            for path in self.sources
        }
        known = {**beside, **{base.rstrip("#"): path for path, base in self.bases.items()}}
        self.registry = jsonschema_rs.Registry([(address, self.sources[path]) for address, path in known.items()])

    def named(self, subject: Subject) -> dict[str, Place]:
        """The definitions that have a name in the schema, and where: of several that are made of one, the one itself."""
        found: dict[Place, str] = {}
        for definition in subject.protocol.definitions.values():
            at = find_written_place(definition.at, self.sources)
            place = at.partition("#")[0], tuple(split_place(at))
            is_named = all(part in ("definitions", "$defs") for part in place[1][::2]) and len(place[1]) % 2 == 0
            if is_named and definition.name in subject.bundle.schema["$defs"]:
                known = found.get(place)
                if known is None or len(definition.name) < len(known):
                    found[place] = definition.name
        return {name: place for place, name in found.items()}

    def at(self, place: Place) -> Callable[[Any], bool]:
        """The verdict of the schema at a place."""
        path, parts = place
        source = self.sources[path]
        fragment = "".join(f"/{quote(part.replace('~', '~0').replace('/', '~1'))}" for part in parts)
        schema = {"$schema": source.get("$schema", "https://json-schema.org/draft/2020-12/schema")}
        schema["$ref"] = f"{self.bases[path].rstrip('#')}#{fragment}"
        judge = jsonschema_rs.validator_for(schema, registry=self.registry, retriever=_nowhere, validate_formats=False)
        return judge.is_valid


def _nowhere(uri: str) -> Any:
    raise AssertionError(f"{uri} is not in the folder")


def inexact(protocol: ir.Protocol, listed: Mapping[str, Any]) -> set[str]:
    """The definitions that decoding judges more widely than the schema, or that lead to one."""
    users: dict[str, set[str]] = {}
    for name, definition in protocol.definitions.items():
        for other in references(definition):
            users.setdefault(other, set()).add(name)
    found, pending = set(listed), list(listed)
    while pending:
        new = users.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return found


def values(subject: Subject, place: Place, count: int) -> Iterator[Any]:
    """Values of a definition, every other one with damage done to it."""
    path, parts = place
    document = subject.bundle.sources[path]
    drawing, choose = Drawing(document), Chooser(f"{path}{parts}")
    schema: Any = document
    for part in parts:
        schema = schema[part]
    for index in range(count):
        value = drawing.value(choose, schema)
        yield copy.deepcopy(damage(choose, value) if index % 2 else value)


@pytest.mark.parametrize("name", REFUSED)
def test_of_some_nothing_can_be_made_and_the_fault_says_why(name: str, subjects: Subjects) -> None:
    evidence.need(name)
    with pytest.raises(Faults) as caught:
        subjects.make(package_name(name), Source(evidence.path(name), name))
    assert {fault.kind.id for fault in caught.value.faults} == {REFUSED[name]}


@pytest.fixture
def subject(name: str, subjects: Subjects) -> Iterator[Subject]:
    """The bindings of a published schema, which one test needs."""
    evidence.need(name)
    yield subjects.make(package_name(name), Source(evidence.path(name), name))
    subjects.forget(package_name(name))


@pytest.mark.parametrize("name", tiers.sample(ACCEPTED, 5))
def test_decoding_and_strict_validation_judge_as_the_schema_says(name: str, subject: Subject) -> None:
    original, wider = Original(subject), inexact(subject.protocol, subject.module.UNENFORCED)
    seen: Counter[str] = Counter()
    wrong: list[tuple[str, str, Any]] = []
    for definition in subject.protocol.definitions:
        TypeAdapter(subject.type(definition))
    named = original.named(subject)
    count = max(4, min(VALUES, LIMIT // max(1, len(named))))
    for definition, place in named.items():
        type_, judge = subject.type(definition), original.at(place)
        for value in values(subject, place, count):
            expected = judge(value)
            seen["valid" if expected else "invalid"] += 1
            if (subject.module.validate_as(definition, value, limit=1) == ()) is not expected:
                wrong.append(("strict", definition, value))
            try:
                decoded = subject.module.decode_as(type_, value, lenient=False)
            except subject.runtime.DecodeError:
                if expected:
                    wrong.append(("decode refuses", definition, value))
                continue
            if not expected and definition not in wider:
                wrong.append(("decode accepts", definition, value))
            if expected and not same(subject.encoded(decoded), value):
                wrong.append(("not written back", definition, value))
    assert not wrong, (len(wrong), seen, wrong[:5])
    assert seen["valid"] and seen["invalid"], seen


@pytest.mark.exhaustive
def test_the_packages_are_clean_under_strict_mypy(tmp_path: Path) -> None:
    """All of them below one package, so that the run time is checked once."""
    for name in ACCEPTED:
        if name.startswith("wild/") and not evidence.path(name).exists():
            continue
        evidence.need(name)
        found = bundle(load(evidence.path(name)))
        settings = Settings(package=f"published.{package_name(name)}")
        for path, text in TARGETS["python"](lower(found), found, settings).items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
