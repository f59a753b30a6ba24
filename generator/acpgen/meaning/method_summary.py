"""A summary of the methods of a protocol: the profile used, their number, and those without a type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import count_noun
from acpgen.methods.profile import KINDS

_ENVELOPES: Final = {
    "json-rpc": "",
    "json-rpc-unversioned": "Messages have no member 'jsonrpc'.",
    "dap": "Messages have the frames of the Debug Adapter Protocol.",
}


def describe_methods(label: str, protocol: ir.Protocol, bundle: Bundle) -> Iterator[str]:
    """Yield lines of text about the methods of a protocol; none for a schema without methods, unless a profile demands some."""
    methods, profile = protocol.methods, bundle.profile
    requests = [method for method in methods if method.kind == "request"]
    untyped = [method.name for method in requests if method.result is None]
    if not methods:
        if profile.document is not None:
            yield f"{label}: no methods: this is {KINDS[profile.document]} that lists none."
        return
    params_count = sum(method.params is not None for method in methods)
    kinds = f"{count_noun(len(requests), 'request')}, {count_noun(len(methods) - len(requests), 'notification')}"
    coverage = f"params of {params_count}, results of {len(requests) - len(untyped)}"
    if profile.how == "guessed":
        yield f"{label}: methods were guessed: {len(methods)} found by a property 'method' with a constant ({kinds}), {coverage} by name."
    elif profile.how != "marked":  # what the schema says itself needs no telling
        origin = "as named" if profile.how == "named" else "which was detected"
        about = f"by the profile '{profile.name}' ({profile.title}, {origin})"
        yield f"{label}: {count_noun(len(methods), 'method')} {about}: {kinds}, {coverage}. {_ENVELOPES[profile.envelope]}".rstrip()
    if untyped:
        yield f"{label}: no type for the result of {', '.join(untyped)}."
    gaps = bundle.gaps
    anyone = [method.name for method in methods if method.side == "both"]
    if profile.how == "marked":
        sided_methods = {schema.get("x-method") for schema in bundle.definitions.values() if "x-side" in schema}
        silent = [name for name in anyone if name not in sided_methods]
        if silent:
            yield f"{label}: no 'x-side' says who handles {', '.join(silent)}; either side may send them."
    unsent = [name for name in anyone if name in gaps.unsent]
    if unsent:
        yield f"{label}: the schema does not say who handles {', '.join(unsent)}; either side may send them."
    if profile.how == "guessed":
        yield f"{label}: to define where the methods are, give a profile with --methods."
    if gaps.doubled:
        yield f"{label}: left out, because another message has the same method: {', '.join(gaps.doubled)}."
    if gaps.unbound:
        count = count_noun(len(gaps.unbound), "definition")
        alone = "a type alone" if len(gaps.unbound) == 1 else "types alone"
        yield f"{label}: {count} with a constant for a method that no rule finds, {alone}: {', '.join(gaps.unbound)}."
    if gaps.beyond:
        yield f"{label}: required of a message beside its envelope, neither typed nor checked: {', '.join(gaps.beyond)}."
    for entry in gaps.unmatched:
        yield f"{label}: {entry.at}: {entry.values['what_for']}."
