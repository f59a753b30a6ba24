"""Capabilities of releases whose schemas do not say what they gate: today's, or not known, and never none."""

from __future__ import annotations

from typing import Any

import pytest

from acpgen.compat.compare import compare
from compat.protocols import RELEASES, ROOT, Schema, compared, found, go, protocol

GATE: Schema = {"x-capability": "agent:agentCapabilities.audio"}


def schema(*tags: str, gates: Schema = {}, capability: str = "audio", capable: bool = True) -> Schema:  # noqa: B006
    """A request that sends one of several variants, and the handshake in which the agent says what it can do."""
    branches: list[Any] = [{**go({"t": {"const": tag}}, ("t",)), **(gates if tag == "audio" else {})} for tag in tags]
    marks = {"x-method": "initialize", "x-side": "agent"}
    handshake: Schema = {
        "InitializeRequest": {**go({}), **marks},
        "InitializeResponse": {**go({"agentCapabilities": go({capability: {"type": "boolean"}})}), **marks},
    }
    return protocol({"GoRequest": go({"block": {"oneOf": branches}}), **(handshake if capable else {})})


def test_a_gate_is_no_news_where_the_old_schema_names_none_and_has_the_capability() -> None:
    old = schema("text", "audio")
    first = compared(old, schema("text", "audio", gates=GATE))
    assert not found(first, "gate-added")
    (told,) = found(first, "schema-restructured")
    assert (
        "now names the capability that gates it or a part of it. Whether it was gated before is not known"
        in told.message
    )
    assert found(
        compared(schema("text", "audio", capability="other"), schema("text", "audio", gates=GATE)), "gate-added"
    )
    assert found(compared(schema("text", "audio", gates=GATE), old), "gate-removed")


def test_a_schema_that_says_that_a_capability_gates_nothing_knows_its_gates() -> None:
    old, new = schema("text", "audio"), schema("text", "audio", gates=GATE)
    capabilities = old["$defs"]["InitializeResponse"]["properties"]["agentCapabilities"]["properties"]
    capabilities["audio"]["x-gates"] = "nothing"
    assert found(compared(old, new), "gate-added")


@pytest.mark.parametrize(
    ("capability", "advice"),
    [
        ("agent:agentCapabilities.audio", "new capability of the peer that receives it"),
        ("client:clientCapabilities.audio", "new capability of the peer that receives it"),
        ("agent:agentCapabilities.fresh", "No action is needed."),
    ],
)
def test_the_advice_knows_the_gate_that_stands(capability: str, advice: str) -> None:
    new = schema("text", "audio", gates={"x-capability": capability})
    (added,) = found(compared(schema("text"), new), "closed-variant-added")
    assert advice in added.advice


def test_the_advice_about_null_fits_a_whole_result() -> None:
    old = schema("text")
    new = schema("text")
    old["$defs"]["GoResponse"] = go({})
    new["$defs"]["GoResponse"] = {**go({}), "type": ["object", "null"]}
    (added,) = found(compared(old, new), "null-allowed")
    assert "or send another value" in added.advice


@pytest.mark.parametrize(
    ("gates", "capable", "says"),
    [
        ({}, True, "Whether a capability gates it is not known for this release"),
        ({}, False, "No capability gates it."),
        (GATE, True, "may already be advertised by old peers"),
    ],
)
def test_a_schema_that_names_no_gates_does_not_say_that_there_are_none(gates: Schema, capable: bool, says: str) -> None:
    report = compared(schema("text", capable=capable), schema("text", "audio", gates=gates, capable=capable))
    (added,) = found(report, "closed-variant-added")
    assert says in added.message


def test_no_published_release_of_acp_says_that_nothing_gates_what_it_adds() -> None:
    report = compare(RELEASES / "v1" / "0.10.8.json", RELEASES / "v1" / "0.13.5.json")
    messages = [each.message for each in report.findings]
    assert not any("No capability gates it" in each for each in messages)
    assert sum("is not known for this release" in each for each in messages) > 3


def test_gates_of_today_are_those_of_the_last_release() -> None:
    report = compare(RELEASES / "v1" / "0.13.5.json", ROOT / "schema" / "acp" / "v1")
    assert not [each for each in report.findings if each.rule in ("gate-added", "demand-changed")]
