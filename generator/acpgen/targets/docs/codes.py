"""Error codes: what they are called, and which of them the answer to a method may carry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from acpgen import ir
from acpgen.targets.docs.types import references

_STANDARD: Final = (
    (-32700, "Parse error", "What arrived is not JSON."),
    (-32600, "Invalid request", "What arrived is JSON but no message of JSON-RPC."),
    (-32601, "Method not found", "The receiver does not have the method."),
    (-32602, "Invalid params", "The parameters do not fit the method."),
    (-32603, "Internal error", "The receiver failed for a reason of its own."),
)
"""What JSON-RPC 2.0 itself defines, for protocols that have no `ErrorCode`."""

_ANY_REQUEST: Final = (-32601, -32602, -32603, -32800)
"""What every request may be answered with, where the protocol has the code."""

_IN_TEXT: Final = re.compile(r"-32\d{3}\b")


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One code with its title and what it says."""

    code: int
    title: str
    doc: str


def error_codes(protocol: ir.Protocol) -> tuple[ErrorCode, ...]:
    """The codes of the protocol, in the order of its schema."""
    found = protocol.definitions.get("ErrorCode")
    if not isinstance(found, ir.Enum):
        return tuple(ErrorCode(*row) for row in _STANDARD)
    return tuple(
        ErrorCode(value.value, value.title or "", value.doc) for value in found.values if isinstance(value.value, int)
    )


def codes_of(protocol: ir.Protocol, method: ir.Method) -> tuple[tuple[ErrorCode, bool], ...]:
    """The codes with which a request may be answered; true with those that the texts of the method itself name."""
    if method.kind != "request":
        return ()
    named = {int(code) for text in _texts(protocol, method) for code in _IN_TEXT.findall(text)}
    return tuple(
        (code, code.code in named) for code in error_codes(protocol) if code.code in named or code.code in _ANY_REQUEST
    )


def _texts(protocol: ir.Protocol, method: ir.Method) -> Iterator[str]:
    """What is said about a method, its params, its result, their fields, and the variants of their unions."""
    yield method.doc
    for name in filter(None, (method.params, method.result)):
        definition = protocol.definitions[name]
        yield definition.doc
        if isinstance(definition, ir.TaggedUnion):
            yield from (variant.doc for variant in definition.variants)
            yield from (protocol.definitions[other].doc for other in (definition.fallback, definition.default) if other)
        for field in definition.fields if isinstance(definition, ir.Record) else ():
            yield field.doc
            yield from (protocol.definitions[inner].doc for inner in references(field.type))
