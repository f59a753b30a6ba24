"""The JSON Schema test suites of five drafts by way of the bindings: decode is right on every keyword, or says where it is not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

import json_schema_suite as suite
import tiers
from acpgen import ir
from acpgen.bundle.bundle import Bundle, bundle
from acpgen.errors import Faults
from acpgen.input.drafts import ALL, Draft
from acpgen.input.load import Document, Documents
from acpgen.input.tagged_unions import find_lone_reference
from acpgen.input.walk import is_object
from acpgen.meaning.lower import lower
from acpgen.pointers import split_place
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from acpgen.targets.python.naming import name_all
from bindings.subjects import Subjects, forget
from jsonrpc_bindings import DecodeError

FILE: Final = "schema.json"

Group: TypeAlias = tuple[str, dict[str, Any], list[dict[str, Any]]]
"""A name, a schema, and values with their verdicts."""


@dataclass
class Outcome:
    """What became of the rows of a suite. `wrong` are those that decode judged otherwise and that nothing lists."""

    right: int = 0
    listed: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    refused: Counter[str] = field(default_factory=Counter[str])


def run(draft: Draft, folder: Path, groups: list[Group]) -> Outcome:
    """Judge the rows of groups of a suite, each by a package that is generated from its schema. All share one run-time package."""
    found = Outcome()
    written: set[str] = set()
    beside = suite.remotes(draft)
    for number, (name, schema, tests) in enumerate(groups):
        package = f"suite_{draft.name.replace('-', '_')}.group{number}"
        documents = Documents(name, (Document(FILE, schema, json.dumps(schema)),), beside)
        try:
            judge, lists = bindings(documents, package, folder, written)
        except Faults as faults:
            found.refused[type(faults.faults[0]).__name__] += len(tests)
            continue
        for row in tests:
            if judge(row["data"]) is row["valid"]:
                found.right += 1
            elif lists and not row["valid"]:
                found.listed += 1
            else:
                found.wrong.append((name, row["description"]))
        forget(package)
    return found


def bindings(
    documents: Documents, package: str, folder: Path, written: set[str]
) -> tuple[Callable[[Any], bool], Mapping[str, Any]]:
    """What judges values of a root schema by decoding them, and `UNENFORCED`."""
    made = bundle(documents)
    protocol = lower(made)
    for path, text in TARGETS["python"](protocol, made, Settings(package, options={"runtime": "package"})).items():
        if path not in written:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
            written.add(path)
    invalidate_caches()
    module = import_module(package)
    schema = documents.documents[0].value
    assert is_object(schema)
    type_ = getattr(module, name_all(protocol).classes[root(protocol, made, schema)])

    def judge(value: Any) -> bool:
        try:
            module.decode_as(type_, value, lenient=False)
        except DecodeError:
            return False
        return True

    return judge, module.UNENFORCED


def root(protocol: ir.Protocol, made: Bundle, schema: dict[str, Any]) -> str:
    """The definition of the root: its own, or, of one that only refers, what it leads to."""
    here = [one for one in protocol.definitions.values() if one.at.startswith(f"{FILE}#")]
    ours = {split_place(one.at): one.name for one in reversed(here)}  # of two at one place, the first is the whole
    own = ours.get(())
    if own is not None:
        return own
    referred = find_lone_reference(made.schema)
    if referred is None:  # the bundle's root lists what stands in it
        reference = schema.get("$ref", "")
        referred = ours[target_parts(schema, reference)]
    return referred


def target_parts(schema: dict[str, Any], reference: str) -> tuple[str, ...]:
    """The keys that a chain of references leads to."""
    from urllib.parse import unquote

    parts = split_place(unquote(reference))
    inner: Any = schema
    for part in parts:
        inner = inner[part]
    return target_parts(schema, inner["$ref"]) if is_object(inner) and set(inner) == {"$ref"} else parts


FLOORS: Final = {
    "draft-04": (610, 0),
    "draft-06": (829, 0),
    "draft-07": (913, 0),
    "2019-09": (1223, 4),
    "2020-12": (1251, 6),
}
"""Rows that are right at least, and rows whose schema is refused for a named reason at most."""


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("draft", ALL, ids=lambda draft: draft.name)
@pytest.mark.evidence(suite.REMOTES, *suite.FOLDERS.values())
def test_decode_is_right_on_every_row_or_lists_what_it_leaves(draft: Draft, subjects: Subjects, whole: bool) -> None:
    groups = list(suite.groups(draft))
    if not whole:
        groups = tiers.draw(groups, 40 if draft == ALL[-1] else 6, name=lambda group: f"{group[0]} {group[1]}")
    found = run(draft, subjects.folder, groups)
    print(
        f"{draft.name}: {found.right} right, {found.listed} listed, {len(found.wrong)} wrong, {found.refused} refused"
    )
    assert not found.wrong
    assert not found.listed
    right, refused = FLOORS[draft.name]
    assert found.right >= (right if whole else sum(len(tests) for _, _, tests in groups) - refused)
    assert found.refused.total() <= refused
