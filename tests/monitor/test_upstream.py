"""The names that the monitor knows as unstable upstream are those that upstream's newest unstable schemas have beyond ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evidence
from acp_monitor import unstable as names
from acpgen.messages import validators


def fields(node: Any, definitions: Any, seen: frozenset[str] = frozenset()) -> set[str]:
    """The fields of a record, with those of what it refers to and of its variants."""
    found = set(node.get("properties", ()))
    for part in (part for key in ("allOf", "anyOf", "oneOf") for part in node.get(key, ())):
        found |= fields(part, definitions, seen)
    reference = node.get("$ref", "").removeprefix("#/$defs/")
    if reference and reference not in seen:
        found |= fields(definitions[reference], definitions, seen | {reference})
    return found


@pytest.mark.evidence("upstream/acp-v1-newest/schema.unstable.json")
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_every_unstable_name_is_known_and_none_of_them_is_stable_here(version: str) -> None:
    theirs = json.loads(evidence.path(f"upstream/acp-{version}-newest/schema.unstable.json").read_text("utf-8"))[
        "$defs"
    ]
    stable = json.loads(evidence.path(f"upstream/acp-{version}-newest/schema.json").read_text("utf-8"))["$defs"]
    strict = validators.read_strict(validators.find(f"acp/{version}"))
    ours = strict.schema["$defs"]
    known = names.UNSTABLE_FIELDS[f"acp/{version}"]
    for name in theirs.keys() & ours.keys():
        if ours[name].get("additionalProperties") is True:
            continue  # any field goes
        own = fields(ours[name], ours)
        unstable = set(theirs[name].get("properties", ())) - set(stable.get(name, {}).get("properties", ()))
        assert unstable - own <= known.get(name, frozenset()), name
        assert not known.get(name, frozenset()) & own, name
    methods = {row.name for row in strict.contract.methods}
    unstable = {each["x-method"] for each in theirs.values() if "x-method" in each}
    assert (
        unstable - methods - {each.get("x-method") for each in stable.values()}
        <= names.UNSTABLE_METHODS[f"acp/{version}"]
    )
    assert not names.UNSTABLE_METHODS[f"acp/{version}"] & methods
