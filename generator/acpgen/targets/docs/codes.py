"""Error codes: their titles, and which of them the response to a method may have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from acpgen import ir
from acpgen.diagnostics.markup import split_sentences
from acpgen.naming.identifiers import ERROR_CODES
from acpgen.targets.docs.type_text import list_type_references

_STANDARD: Final = (
    (-32700, "Parse error", "What arrived is not JSON."),
    (-32600, "Invalid request", "What arrived is JSON but no message of JSON-RPC."),
    (-32601, "Method not found", "The receiver does not have the method."),
    (-32602, "Invalid params", "The parameters do not fit the method."),
    (-32603, "Internal error", "The receiver failed for a reason of its own."),
)
"""The codes that JSON-RPC 2.0 defines, for protocols without `ErrorCode`."""

_ANY_REQUEST: Final = (-32601, -32602, -32603, -32800)
"""The error codes that the response to any request may have, as far as the protocol has them."""

_IN_TEXT: Final = re.compile(r"-32\d{3}\b")


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One error code with its title and description."""

    code: int
    title: str
    doc: str


def list_error_codes(protocol: ir.Protocol) -> tuple[ErrorCode, ...]:
    """The error codes of the protocol, in the order of its schema."""
    definition = protocol.definitions.get(ERROR_CODES)
    if not isinstance(definition, ir.Enum):
        return tuple(ErrorCode(*row) for row in _STANDARD)
    return tuple(
        ErrorCode(value.value, value.title or "", value.doc)
        for value in definition.values
        if isinstance(value.value, int)
    )


@dataclass(frozen=True, slots=True)
class CodeMentions:
    """The mentions of a code in the texts about a method: the sentences that name it, and whether one is in the method's own texts."""

    sentences: tuple[str, ...] = ()
    is_own: bool = False


def list_response_codes(protocol: ir.Protocol, method: ir.Method) -> tuple[tuple[ErrorCode, CodeMentions], ...]:
    """The error codes that the response to a request may have, each with the sentences that describe when."""
    if method.kind != "request":
        return ()
    method_texts, all_texts = (
        group_by_code(texts) for texts in (_list_descriptions(protocol, method), _list_texts(protocol, method))
    )
    mentions = {
        code: CodeMentions((*method_texts.get(code, ()), *all_texts.get(code, ())), code in method_texts)
        for code in {*method_texts, *all_texts}
    }
    return tuple(
        (code, mentions.get(code.code, CodeMentions()))
        for code in list_error_codes(protocol)
        if code.code in mentions or code.code in _ANY_REQUEST
    )


def group_methods_by_code(protocol: ir.Protocol) -> dict[int, list[str]]:
    """For each error code, the methods whose texts name it."""
    method_names: dict[int, list[str]] = {error_code.code: [] for error_code in list_error_codes(protocol)}
    for method in protocol.methods:
        for error_code, mentions in list_response_codes(protocol, method):
            if mentions.sentences:
                method_names[error_code.code].append(method.name)
    return method_names


def find_codes(text: str) -> tuple[int, ...]:
    """The error codes that a text names, without duplicates."""
    return tuple(map(int, dict.fromkeys(_IN_TEXT.findall(text))))


def group_by_code(texts: Iterable[str]) -> dict[int, tuple[str, ...]]:
    """The sentences that name each code."""
    sentences_by_code: dict[int, tuple[str, ...]] = {}
    for sentence in dict.fromkeys(sentence for text in texts for sentence in split_sentences(text)):
        for code in find_codes(sentence):
            sentences_by_code[code] = (*sentences_by_code.get(code, ()), sentence)
    return sentences_by_code


def _list_descriptions(protocol: ir.Protocol, method: ir.Method) -> Iterator[str]:
    """Yield the descriptions of a method, its params, its result and their fields, in every branch of unions."""
    yield method.doc
    for name in filter(None, (method.params, method.result)):
        for definition in _walk_branches(protocol, name):
            yield definition.doc
            yield from (field.doc for field in _list_fields(definition))


def _list_texts(protocol: ir.Protocol, method: ir.Method) -> Iterator[str]:
    """Yield the descriptions of the types in the params. Types in the result are left out: they do not describe why the request fails."""
    for definition in _walk_branches(protocol, method.params) if method.params is not None else ():
        for field in _list_fields(definition):
            yield from (protocol.definitions[inner].doc for inner in list_type_references(field.type))


def _list_fields(definition: ir.Definition) -> tuple[ir.Field, ...]:
    return definition.fields if isinstance(definition, ir.Record) else ()


def _walk_branches(protocol: ir.Protocol, name: str, through: frozenset[str] = frozenset()) -> Iterator[ir.Definition]:
    """Yield a definition and, for a union, the definitions of its branches; fallback branches included."""
    definition = protocol.definitions[name]
    yield definition
    if isinstance(definition, ir.TaggedUnion) and name not in through:
        fallbacks = (definition.fallback, definition.default, *definition.fallback_shapes)
        for inner in filter(None, (*(variant.type for variant in definition.variants), *fallbacks)):
            yield from _walk_branches(protocol, inner, through | {name})
