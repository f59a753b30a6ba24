"""What the project's own documents claim about compatibility."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import evidence
import tiers
from acpgen.bundle.bundle import bundle
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.meaning.methods import find_methods
from compat.protocols import CANONICAL, ROOT, Schema, compared, found, validates

V1, V2 = CANONICAL[0], CANONICAL[1]


def bundled(path: Path) -> Schema:
    return copy.deepcopy(bundle(load(path)).schema)


def without_additional_directories(value: Any) -> Any:
    """A schema that has never heard of the field, nor of its capability."""
    if isinstance(value, dict):
        kept = {
            key: without_additional_directories(inner) for key, inner in value.items() if key != "additionalDirectories"
        }
        if "additionalDirectories" in kept.get("required", ()):
            kept["required"] = [name for name in kept["required"] if name != "additionalDirectories"]
        return kept
    return [without_additional_directories(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", tiers.sample([V1, V2], 1, lambda path: path.name))
def test_adding_additional_directories_with_its_capability_is_additive(path: Path) -> None:
    new = bundled(path)
    report = compared(without_additional_directories(new), new)
    assert report.verdict == "additive"
    locations = {finding.location for finding in found(report, "field-added")}
    assert {"params.additionalDirectories", "result.sessions[].additionalDirectories"} <= locations


def test_dropping_capability_markers_of_v2_is_breaking_with_a_witness_for_each() -> None:
    new = bundled(V2)
    old = copy.deepcopy(new)
    markers = ("close", "list", "load", "resume")
    session = old["$defs"]["SessionCapabilities"]["properties"]
    for marker in markers:
        session[marker] = {"anyOf": [{"type": "object"}, {"type": "null"}]}
    report = compared(old, new)
    removed = {finding.location: finding for finding in found(report, "field-removed")}
    assert report.verdict == "breaking"
    for marker in markers:
        finding = removed[f"result.capabilities.session.{marker}"]
        assert finding.witness is not None
        assert finding.witness.carried_by == "old"
        value: Any = finding.witness.value
        assert marker in value["result"]["capabilities"]["session"]


def test_a_permission_request_with_title_and_subject_instead_of_a_tool_call_is_breaking_both_ways() -> None:
    new = bundled(V2)
    old = copy.deepcopy(new)
    request = old["$defs"]["RequestPermissionRequest"]
    for name in ("title", "subject"):
        request["properties"].pop(name)
    request["required"] = [name for name in request["required"] if name != "title"] + ["toolCall"]
    request["properties"]["toolCall"] = {
        "type": "object",
        "properties": {"toolCallId": {"type": "string"}},
        "required": ["toolCallId"],
    }
    report = compared(old, new)
    assert report.verdict == "breaking"
    assert (report.wire.backward, report.wire.forward) == ("no", "no")
    for rule in ("required-field-added", "required-field-removed"):
        (finding,) = found(report, rule)
        assert finding.method == "session/request_permission"
        assert finding.flow == "agent-to-client"
        assert finding.witness is not None


def test_a_new_permission_subject_is_additive() -> None:
    new = bundled(V2)
    old = copy.deepcopy(new)
    union = old["$defs"]["RequestPermissionSubject"]
    (keyword,) = {"anyOf", "oneOf"} & set(union)
    gone = [branch for branch in union[keyword] if "ommand" in branch.get("$ref", "")]
    assert len(gone) == 1
    union[keyword] = [branch for branch in union[keyword] if branch not in gone]
    text = json.dumps(old["$defs"])
    assert '"command"' in text
    fallback = next(schema for name, schema in old["$defs"].items() if name == "UnknownRequestPermissionSubject")
    _forget_tag(fallback, "command")
    report = compared(old, new)
    assert report.verdict == "additive"
    assert [finding.location for finding in found(report, "variant-added")] == ["params.subject(command)"]


def _forget_tag(schema: Any, tag: str) -> None:
    """Take a known tag out of what a fallback excludes."""
    if isinstance(schema, dict):
        if isinstance(schema.get("enum"), list) and tag in schema["enum"]:
            schema["enum"].remove(tag)
        for key, value in schema.items():
            if key == "anyOf" and isinstance(value, list):
                value[:] = [branch for branch in value if f'"{tag}"' not in json.dumps(branch)]
            _forget_tag(value, tag)
    elif isinstance(schema, list):
        for item in schema:
            _forget_tag(item, tag)


UPSTREAM = [
    pytest.param(evidence.path(name), id=name, marks=(pytest.mark.evidence(name), pytest.mark.exhaustive))
    for name in ("upstream/acp-v1-newest/schema.json", "upstream/acp-v2-newest/schema.json")
]


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("path", [*tiers.sample([V1, V2], 1, lambda path: path.name), *UPSTREAM])
def test_a_required_field_planted_in_one_method_is_found_there_with_a_message_that_proves_it(
    path: Path, whole: bool
) -> None:
    old = bundled(path)
    whole_bundle = bundle(load(path))
    methods, _ = find_methods(whole_bundle.make_nodes(), whole_bundle)
    planted = 0
    for method in methods if whole else tiers.draw(methods, 1, lambda method: f"{method.side} {method.name}"):
        for part, name in (("params", method.params), ("result", method.result)):
            if name is None or method.unstable or "properties" not in old["$defs"][name]:
                continue
            new = copy.deepcopy(old)
            schema = new["$defs"][name]
            schema["properties"]["planted"] = {"type": "string"}
            schema["required"] = [*schema.get("required", ()), "planted"]
            report = compared(old, new)
            hits = [
                finding
                for finding in found(report, "required-field-added")
                if (finding.method, finding.location) == (method.name, f"{part}.planted")
            ]
            assert report.verdict == "breaking", name
            assert len(hits) == 1, f"{method.name} {part}"
            assert hits[0].witness is not None
            inner = {"type": "object", "properties": {part: {"$ref": f"#/$defs/{name}"}}}
            value = hits[0].witness.value
            assert validates({**inner, "$defs": old["$defs"]}, value)
            assert not validates({**inner, "$defs": new["$defs"]}, value)
            planted += 1
    assert planted >= (25 if whole else 1), planted


def test_the_methods_of_the_canonical_schemas_are_all_compared() -> None:
    for path in (V1, V2):
        protocol = lower(bundle(load(path)))
        assert protocol.methods, ROOT
