"""The sentences that docstrings add to those of the schema: on null, omission, capabilities and stability."""

from __future__ import annotations

from acpgen import ir
from acpgen.input.numbers import dumps


def describe_field(field: ir.Field) -> str:
    """The docstring of a field: its description, and then what the type does not express."""
    notes: list[str] = []
    if field.default is not None and not field.required:
        notes.append(f"Omitted means {dumps(field.default.value, ensure_ascii=False)}.")
    if field.null == "clears":
        notes.append("Null clears the value; omitted leaves it unchanged.")
    if field.capability is not None:
        notes.append(f"{describe_gate(field.capability)}.")
    if field.required_with is not None:
        notes.append(f"Required once advertised: {describe_gate(field.required_with, 'by')}.")
    if field.unstable:
        notes.append("Unstable: may change in any version.")
    return "\n\n".join(part for part in (field.doc, " ".join(notes)) if part)


def describe_gate(capability: str, how: str = "Only with the capability") -> str:
    """A capability such as `agent:agentCapabilities.loadSession`, in words."""
    side, _, path = capability.partition(":")
    if how == "by":
        return f"`{path}` of the {side}"
    return f"{how} `{path}` of the {side}"
