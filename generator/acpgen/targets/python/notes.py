"""The sentences that docstrings add to the schema's own: what null, omission, gates and stability mean."""

from __future__ import annotations

from acpgen import ir
from acpgen.input.numbers import dumps


def field_notes(field: ir.Field) -> str:
    """The docstring of a field: its description, then what the type cannot say."""
    notes: list[str] = []
    if field.default is not None and not field.required:
        notes.append(f"Omitted means {dumps(field.default.value, ensure_ascii=False)}.")
    if field.null == "clears":
        notes.append("Null clears the value; omitted leaves it unchanged.")
    if field.capability is not None:
        notes.append(f"{gate(field.capability)}.")
    if field.required_with is not None:
        notes.append(f"Required once advertised: {gate(field.required_with, 'by')}.")
    if field.unstable:
        notes.append("Unstable: may change in any version.")
    return "\n\n".join(part for part in (field.doc, " ".join(notes)) if part)


def gate(capability: str, how: str = "Only with the capability") -> str:
    """A capability in words: `agent:agentCapabilities.loadSession`."""
    side, _, path = capability.partition(":")
    if how == "by":
        return f"`{path}` of the {side}"
    return f"{how} `{path}` of the {side}"
