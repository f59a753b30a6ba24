"""The page that tells what the Python SDK's names are here: every class of the released module has a row, and each row is true."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from acp_bindings import v1
from acp_bindings.unstable import v1 as unstable_v1

import evidence
import published
from acpgen_acp_sdk.names import CLASSES
from jsonrpc_bindings.fields import get_shape
from variants import bodies

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "schema/pages/sdk-names.md"
RELEASED: Final = "sdk/agent-client-protocol-0.12.1"
SCHEMA: Final = "sdk/acp-v1-1.19.0.unstable.json"

OURS: Final[Mapping[str, str]] = {
    "CreateFormRequestElicitationRequest": "RequestElicitationFormMode",
    "CreateFormSessionElicitationRequest": "SessionElicitationFormMode",
    "CreateUrlRequestElicitationRequest": "RequestElicitationUrlMode",
    "CreateUrlSessionElicitationRequest": "SessionElicitationUrlMode",
    "CancelElicitationResponse": "ElicitationCancelAction",
    "DeclineElicitationResponse": "ElicitationDeclineAction",
    "DeniedOutcome": "CancelledPermissionOutcome",
    "ToolCallProgress": "SessionToolCallUpdate",
}
"""Names that neither the table of `acpgen-acp-sdk` nor those of variants lead to."""

ENVELOPES: Final[Mapping[str, str]] = {
    "AgentErrorMessage": "ErrorResponse",
    "AgentNotification": "Notification",
    "AgentRequest": "Request",
    "AgentResponse": "Response` or `ErrorResponse",
    "AgentResponseMessage": "Response",
    "BaseModel": "jsonrpc_bindings.Record",
    "ClientErrorMessage": "ErrorResponse",
    "ClientNotification": "Notification",
    "ClientRequest": "Request",
    "ClientResponse": "Response` or `ErrorResponse",
    "ClientResponseMessage": "Response",
}
"""What is no definition of the protocol: whole messages, and the base of all classes."""


@cache
def called(name: str) -> Mapping[str, str]:
    """The types that are variants, by the name that tag and union make."""
    return {long: type_ for type_, long in bodies(published.version(name).protocol).items()}


PACKAGES: Final = (("v1", v1, "acp/v1"), ("unstable.v1", unstable_v1, "acp/unstable/v1"))

TOLD: Final = """
import inspect, json
from acp import schema
from pydantic import BaseModel, RootModel

classes = {}
for name, value in vars(schema).items():
    if inspect.isclass(value) and value.__module__ == "acp.schema" and "[" not in name and issubclass(value, BaseModel):
        fields = {} if issubclass(value, RootModel) else value.model_fields
        classes[name] = None if issubclass(value, RootModel) else sorted(field.alias or key for key, field in fields.items())
print(json.dumps(classes))
"""

TEXT: Final = """# From the Python SDK's names to ours

This page maps the {count} classes of `acp.schema`, the Python SDK of the Agent Client Protocol in version 0.12.1, to those of
`acp_bindings`. `v1` is `acp_bindings.v1`, `unstable.v1` is `acp_bindings.unstable.v1`, and a name without either is in
`acp_bindings` itself. A test reads the released module, writes this page, and compares the fields of both classes.

- Attributes have the same names, except that `field_meta` is `meta`. Sets of constants such as `StopReason` have the same names too.
- Discriminators are set automatically: `v1.ToolCall(…)` has its `session_update`.
- The last column lists fields, as on the wire, that one of the two classes lacks. It omits discriminators.

To keep your imports, generate the SDK's own module with acpgen: [Replace your generator](replace-your-generator.md).

| SDK | Here | Fields |
| --- | --- | --- |
{rows}

## What is not here

The unstable channel lacks some unstable parts of upstream's schema: edit suggestions, documents that the client opens, and the
earlier methods for MCP over an ACP connection.

{absent}
"""


@dataclass(frozen=True)
class Row:
    """One class of the SDK. `here` is empty where there is no such type."""

    name: str
    here: str
    fields: str = ""


@pytest.fixture(scope="module")
def released() -> dict[str, list[str] | None]:
    """The classes of the released module, each with its fields by wire name; `None` for what holds one value."""
    evidence.need(RELEASED, SCHEMA)
    folder = evidence.path(RELEASED) / "src"
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", TOLD], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found: dict[str, list[str] | None] = json.loads(run.stdout)
    return found


def row(name: str, fields: list[str] | None) -> Row:
    """What a class of the SDK is here."""
    if name in ENVELOPES:
        return Row(name, f"`{ENVELOPES[name]}`")
    generated = {sdk: ours for ours, sdk in CLASSES.items()}
    plain = name.removeprefix("_")  # in the SDK, the body of a variant that has the name itself
    candidates = [OURS.get(plain), generated.get(plain), plain]
    for candidate in filter(None, candidates):
        for package, module, protocol in PACKAGES:
            now = called(protocol).get(candidate, candidate)
            if now in module.__all__:
                return Row(name, f"`{package}.{now}`", differing(package, getattr(module, now), now, fields))
    return Row(name, "")


def differing(package: str, type_: Any, name: str, fields: list[str] | None) -> str:
    """The fields that one of two classes lacks, but for discriminators."""
    if fields is None or not inspect.isclass(type_):
        return ""
    shape, ours = get_shape(type_), wire(type_)
    discriminators = {*shape.constants, shape.tag_field}
    missing, more = set(fields) - ours - discriminators, ours - set(fields) - discriminators
    beyond = getattr(unstable_v1, name, None) if package == "v1" else None
    elsewhere = missing & (wire(beyond) if inspect.isclass(beyond) else set[str]())
    said = [
        ("in `unstable.v1` alone", elsewhere),
        ("in the SDK alone", missing - elsewhere),
        ("here alone", more),
    ]
    return "; ".join(f"{', '.join(f'`{one}`' for one in sorted(names))} {where}" for where, names in said if names)


def wire(type_: Any) -> set[str]:
    """The fields of a record by the names of the schema; the tag is none of them."""
    return {one.wire for one in get_shape(type_).fields.values()}


def page(rows: list[Row]) -> str:
    """The page, as it should be."""
    lines = [f"| `{one.name}` | {one.here} | {one.fields} |" for one in rows if one.here]
    absent = ", ".join(f"`{one.name}`" for one in rows if not one.here)
    text = TEXT.format(count=len(rows), rows="\n".join(lines), absent=f"{absent}.")
    return text.replace("|  |\n", "| |\n")


def test_every_class_of_the_sdk_has_a_row_or_a_reason(
    released: dict[str, list[str] | None], pytestconfig: pytest.Config
) -> None:
    rows = [row(name, released[name]) for name in sorted(released, key=lambda name: (name.lstrip("_"), name))]
    wanted = page(rows)
    if pytestconfig.getoption("rewrite_goldens") and not os.environ.get("CI"):
        PAGE.write_text(wanted, "utf-8")
    assert PAGE.read_text("utf-8") == wanted
    assert len(rows) == 272


def test_what_is_not_here_is_unstable_upstream(released: dict[str, list[str] | None]) -> None:
    absent = [name for name in released if not row(name, released[name]).here]
    schema = json.loads(evidence.path(SCHEMA).read_text("utf-8"))["$defs"]
    stable = json.loads((ROOT / "schema/acp/v1/.upstream.json").read_text("utf-8"))["$defs"]
    for name in absent:
        definition = name.removesuffix("Variant")  # the SDK's word for a variant beside its body
        assert definition in schema, name
        assert definition not in stable, name


def test_no_row_leads_to_a_false_friend(released: dict[str, list[str] | None]) -> None:
    here = {name: row(name, released[name]).here for name in released}
    literals = {
        "PermissionOptionKind",
        "PlanEntryPriority",
        "PlanEntryStatus",
        "StopReason",
        "ToolCallStatus",
        "ToolKind",
    }
    assert literals <= set(v1.__all__)
    assert here["ResourceContentBlock"] == "`v1.ResourceLink`"
    assert here["EmbeddedResourceContentBlock"] == "`v1.EmbeddedResource`"
    assert here["ToolCallStart"] == "`v1.ToolCall`"
    assert here["AgentMessageChunk"] == "`v1.AgentMessageChunk`"
    assert here["AllowedOutcome"] == "`v1.SelectedPermissionOutcome`"
    for name, envelope in ENVELOPES.items():
        assert here[name] == f"`{envelope}`"
    import acp_bindings

    import jsonrpc_bindings

    assert all(hasattr(acp_bindings, one) for one in ("Request", "Notification", "Response", "ErrorResponse"))
    assert hasattr(jsonrpc_bindings, "Record")
