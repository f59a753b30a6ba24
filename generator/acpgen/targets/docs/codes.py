"""Error codes: what they are called, and which of them the answer to a method may carry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from acpgen import ir
from acpgen.diagnostics.markup import sentences
from acpgen.naming.identifiers import ERROR_CODES
from acpgen.targets.docs.type_text import references

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
    found = protocol.definitions.get(ERROR_CODES)
    if not isinstance(found, ir.Enum):
        return tuple(ErrorCode(*row) for row in _STANDARD)
    return tuple(
        ErrorCode(value.value, value.title or "", value.doc) for value in found.values if isinstance(value.value, int)
    )


@dataclass(frozen=True, slots=True)
class CodeMentions:
    """What the texts about a method say of a code: the sentences that name it, and whether one is the method's own."""

    sentences: tuple[str, ...] = ()
    is_own: bool = False


def codes_of(protocol: ir.Protocol, method: ir.Method) -> tuple[tuple[ErrorCode, CodeMentions], ...]:
    """The codes with which a request may be answered, each with the sentences that say when."""
    if method.kind != "request":
        return ()
    own, others = (_named(texts) for texts in (_own_texts(protocol, method), _texts_of_params(protocol, method)))
    said = {code: CodeMentions((*own.get(code, ()), *others.get(code, ())), code in own) for code in {*own, *others}}
    return tuple(
        (code, said.get(code.code, CodeMentions()))
        for code in error_codes(protocol)
        if code.code in said or code.code in _ANY_REQUEST
    )


def methods_of_codes(protocol: ir.Protocol) -> dict[int, list[str]]:
    """For each code the methods about which a text names it."""
    named: dict[int, list[str]] = {found.code: [] for found in error_codes(protocol)}
    for method in protocol.methods:
        for found, mentions in codes_of(protocol, method):
            if mentions.sentences:
                named[found.code].append(method.name)
    return named


def codes_in(text: str) -> tuple[int, ...]:
    """The error codes that a text names, each once."""
    return tuple(map(int, dict.fromkeys(_IN_TEXT.findall(text))))


def _named(texts: Iterable[str]) -> dict[int, tuple[str, ...]]:
    """The sentences that name each code."""
    found: dict[int, tuple[str, ...]] = {}
    for sentence in dict.fromkeys(sentence for text in texts for sentence in sentences(text)):
        for code in codes_in(sentence):
            found[code] = (*found.get(code, ()), sentence)
    return found


def _own_texts(protocol: ir.Protocol, method: ir.Method) -> Iterator[str]:
    """What is said about a method, its params, its result and their fields, in every branch of unions."""
    yield method.doc
    for name in filter(None, (method.params, method.result)):
        for definition in _branches(protocol, name):
            yield definition.doc
            yield from (field.doc for field in _fields(definition))


def _texts_of_params(protocol: ir.Protocol, method: ir.Method) -> Iterator[str]:
    """What is said about the types of the params. What a result refers to is not what the request fails for."""
    for definition in _branches(protocol, method.params) if method.params is not None else ():
        for field in _fields(definition):
            yield from (protocol.definitions[inner].doc for inner in references(field.type))


def _fields(definition: ir.Definition) -> tuple[ir.Field, ...]:
    return definition.fields if isinstance(definition, ir.Record) else ()


def _branches(protocol: ir.Protocol, name: str, through: frozenset[str] = frozenset()) -> Iterator[ir.Definition]:
    """A definition and, of a union, what its branches hold; variants speak for themselves too."""
    definition = protocol.definitions[name]
    yield definition
    if isinstance(definition, ir.TaggedUnion) and name not in through:
        others = (definition.fallback, definition.default, *definition.fallback_shapes)
        for inner in filter(None, (*(variant.type for variant in definition.variants), *others)):
            yield from _branches(protocol, inner, through | {name})
