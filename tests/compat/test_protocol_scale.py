"""Nothing grows faster than the schemas do. Work is counted, never timed."""

from __future__ import annotations

import copy
import json
import sys
from types import FrameType
from typing import Any

import pytest

from acpgen.bundle.bundle import bundle
from acpgen.compat.protocol.check.check import check
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.meaning.lower import lower
from compat.protocols import RELEASES, Schema, compared, documents, go, protocol


def revised(schema: Schema) -> SchemaRevision:
    bundled = bundle(documents(schema))
    return SchemaRevision(lower(bundled), bundled)


def calls(function: Any, *arguments: Any) -> int:
    """How many Python functions of ours are called."""
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call" and "acpgen" in frame.f_code.co_filename

    sys.setprofile(profile)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return count


def copies(schema: Schema, count: int) -> Schema:
    """A protocol with so many independent copies of every definition and method."""
    whole: Schema = {"$schema": schema["$schema"], "$defs": {}}
    for index in range(count):
        text = json.dumps(schema["$defs"])
        text = text.replace('"#/$defs/', f'"#/$defs/N{index}').replace('"x-method": "', f'"x-method": "{index}/')
        whole["$defs"].update({f"N{index}{name}": value for name, value in json.loads(text).items()})
    return whole


def test_four_times_the_schema_is_four_times_the_work() -> None:
    old = json.loads((RELEASES / "v1" / "0.6.1.json").read_text())
    new = json.loads((RELEASES / "v1" / "0.6.2.json").read_text())
    once = calls(check, revised(copies(old, 1)), revised(copies(new, 1)))
    four = calls(check, revised(copies(old, 4)), revised(copies(new, 4)))
    assert four <= 4.4 * once


def shared(methods: int) -> Schema:
    """Many methods that all reach one large family of definitions."""
    family: Schema = {
        f"Part{index}": go({"next": {"$ref": f"#/$defs/Part{index + 1}"}, "text": {"type": "string"}})
        for index in range(60)
    }
    family["Part60"] = go({"text": {"type": "string"}})
    for index in range(methods):
        family[f"M{index}Request"] = {
            **go({"part": {"$ref": "#/$defs/Part0"}}),
            "x-method": f"m/{index}",
            "x-side": "agent",
        }
    return protocol(family)


def test_what_does_not_differ_is_not_walked_again_for_each_method() -> None:
    few, many = (calls(check, revised(shared(n)), revised(shared(n))) for n in (5, 50))
    assert many < 4 * few


@pytest.mark.parametrize("depth", [4, 12])
def test_nested_alternatives_end_in_a_verdict(depth: int) -> None:
    def nested(level: int, leaf: str) -> Schema:
        if level == 0:
            return {"type": leaf}
        inner = nested(level - 1, leaf)
        return {"anyOf": [{"allOf": [inner]}, {"type": "array", "items": inner}, {"type": "null"}]}

    old = protocol({"GoRequest": go({"x": nested(min(6, depth), "string")})})
    new = protocol({"GoRequest": go({"x": nested(min(6, depth), "integer")})})
    assert compared(old, old).verdict == "identical"
    assert compared(old, new).verdict in ("breaking", "undecided")


def test_unions_of_many_overlapping_records_end_in_a_verdict() -> None:
    def union(count: int, extra: str) -> Schema:
        records = [
            go(
                {f"f{bit}": {"const": bool(index >> bit & 1)} for bit in range(7)} | {extra: {"type": "string"}},
                (extra,),
            )
            for index in range(count)
        ]
        return protocol({"GoRequest": go({"x": {"anyOf": records}})})

    assert compared(union(64, "a"), union(64, "a")).verdict == "identical"
    assert compared(union(64, "a"), union(64, "b")).verdict in ("breaking", "undecided")
    one_of = copy.deepcopy(union(40, "a"))
    properties = one_of["$defs"]["GoRequest"]["properties"]
    properties["x"] = {"oneOf": properties["x"]["anyOf"]}
    assert compared(union(40, "a"), one_of).verdict in ("breaking", "undecided", "editorial")


def test_recursive_definitions_are_compared_by_assuming_what_is_being_compared() -> None:
    def tree(leaf: str) -> Schema:
        node = go({"left": {"$ref": "#/$defs/Tree"}, "right": {"$ref": "#/$defs/Tree"}, "value": {"type": leaf}})
        return protocol({"Tree": node, "GoRequest": go({"tree": {"$ref": "#/$defs/Tree"}})})

    assert compared(tree("string"), tree("string")).verdict == "identical"
    report = compared(tree("string"), tree("integer"))
    assert {finding.location for finding in report.findings} == {"params.tree.value"}
    assert all(finding.witness is not None for finding in report.findings)


def test_a_change_below_many_nullable_references_is_placed_once() -> None:
    def graph(leaf: str) -> Schema:
        def node(index: int) -> Schema:
            others = ((3 * index + step) % 30 for step in range(3))
            nullable = {f"to{to}": {"anyOf": [{"$ref": f"#/$defs/Node{to}"}, {"type": "null"}]} for to in others}
            return go({"value": {"type": leaf if index == 17 else "string"}, **nullable})

        nodes = {f"Node{index}": node(index) for index in range(30)}
        return protocol({**nodes, "GoRequest": go({"first": {"$ref": "#/$defs/Node1"}})})

    (finding,) = compared(graph("string"), graph("integer")).findings
    assert [each.location for each in finding.reaches] == ["params.first.to5.to17.value"]


def test_a_definition_that_requires_itself_has_no_value_and_is_not_waited_for() -> None:
    def loop(leaf: str) -> Schema:
        node = go({"again": {"$ref": "#/$defs/Loop"}, "value": {"type": leaf}}, ("again",))
        return protocol({"Loop": node, "GoRequest": go({"loop": {"$ref": "#/$defs/Loop"}})})

    assert compared(loop("string"), loop("integer")).verdict in ("undecided", "editorial")
