"""Small protocols for tests, and the schemas at hand."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from jsonschema import Draft202012Validator

from acpgen import diagnostics
from acpgen.compat import compare
from acpgen.compat.check_report import check_report
from acpgen.compat.findings import Finding, Mode, Report
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.report_cache import Comparer
from acpgen.compat.sources import Input
from acpgen.files.cache import find_user_cache
from acpgen.input.load import Document, Documents
from acpgen.input.numbers import dumps
from acpgen.input.step_budget import join_steps

ROOT = Path(__file__).parents[2]
RELEASES = ROOT / "schema" / "releases" / "acp"
"""Earlier releases, as facts alone."""

CANONICAL = tuple(ROOT / "schema" / name for name in ("acp/v1", "acp/v2", "mcp/2025-06-18"))

Schema = dict[str, Any]

FORMATS: Final = tuple(name for name in diagnostics.FORMATS if name != "badge")
"""The formats that tell of findings."""


@cache
def migration() -> Report:
    """What changes between the two versions of ACP, compared once for all tests of all workers."""
    return Comparer("protocol", False, cache=find_user_cache())(*compare.read_inputs(*CANONICAL[:2]))


def releases(version: str) -> list[Path]:
    """The releases of a version of ACP, oldest first."""
    index = json.loads((RELEASES / version / "index.json").read_text("utf-8"))
    return [RELEASES / version / f"{name}.json" for name in index["versions"]]


def documents(value: Schema, name: str = "p") -> Documents:
    """One document as `load` gives it. It is copied, so that it may be changed afterwards."""
    text = dumps(value, indent=2)
    return Documents(name, (Document("schema.json", copy.deepcopy(value), text),))


def compared(
    old: Schema, new: Schema, *, mode: Mode = "protocol", unstable: bool = False, formats: bool = False
) -> Report:
    """The report of two schemas."""
    with join_steps():
        sides = compare.read_inputs(documents(old, "old"), documents(new, "new"), mode=mode, unstable=unstable)
        if mode == "language":
            return compare.compare_inputs(*sides, mode=mode, formats=formats)
        before, after = (_side(each, unstable=unstable) for each in sides)
        return compare.compare_sides(before, after, formats=formats)


def written(report: Report, name: str, fail_on: str = "risky") -> str:
    """The report in a format."""
    return diagnostics.write_report(check_report(report, fail_on), name)


def revised(schema: Schema, name: str, *, unstable: bool = False) -> SchemaRevision:
    """The meaning of a schema that is named `old` or `new` in a comparison."""
    return _side(Input(name, documents(schema, name)), unstable=unstable).meaning


_MOST: Final = 4
_SIDES: Final[list[compare.Side]] = []


def _side(given: Input, *, unstable: bool) -> compare.Side:
    """A side with its meaning. The last ones are kept: a test compares one schema with many, or asks for more than the report."""
    for at, known in enumerate(_SIDES):
        if (known.input.label, known.meaning.unstable, _text(known.input)) == (given.label, unstable, _text(given)):
            _SIDES.append(_SIDES.pop(at))
            return known
    made = compare.read_side(given, unstable=unstable)
    _SIDES.append(made)
    del _SIDES[:-_MOST]
    return made


def _text(given: Input) -> str:
    return given.documents.documents[0].text


def found(report: Report, rule: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in report.findings if finding.rule == rule]


def protocol(definitions: Schema, **root: Any) -> Schema:
    """A schema with a request `s/go` that the agent handles, params `GoRequest`, and these definitions."""
    defaults: Schema = {
        "GoRequest": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        "GoResponse": {
            "type": "object",
            "properties": {"_meta": {"type": ["object", "null"], "additionalProperties": True}},
        },
        "TellNotification": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }
    marks = {"GoRequest": ("s/go", "agent"), "GoResponse": ("s/go", "agent"), "TellNotification": ("s/tell", "client")}
    whole = copy.deepcopy({**defaults, **definitions})
    for name, (method, side) in marks.items():
        if name in whole and whole[name] is not None:
            whole[name].setdefault("x-method", method)
            whole[name].setdefault("x-side", side)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {name: schema for name, schema in whole.items() if schema is not None},
        **root,
    }


def go(properties: Schema, required: tuple[str, ...] = (), **more: Any) -> Schema:
    """The params of `s/go`."""
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {}), **more}


def validates(schema: Schema, value: Any) -> bool:
    """Whether `jsonschema` accepts a value."""
    return bool(cast("Any", Draft202012Validator(schema)).is_valid(value))
