"""How lenient decoding treats an invalid value, in words: exactly what `decode` of the generated bindings does.

`USUAL` is the text for most fields, explained on the page of messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from acpgen import ir
from acpgen.diagnostics.markup import Markdown, write_prose
from acpgen.meaning.samples import find_array, read_instead
from acpgen.targets.docs.page_paths import MESSAGES, Linker
from acpgen.targets.docs.type_text import admits_null

LENIENT: Final = "lenient"
USUAL: Final = "an invalid value is read as if the field were omitted"
STRICT: Final = (
    "Declared as lenient, but an invalid value is an error: a required field has no other value that fits in its place."
)
TAG: Final = "a tag that is not a string is read as if the field were omitted"


def has_leniency(protocol: ir.Protocol) -> bool:
    """Whether any field of the protocol is lenient."""
    records = (definition for definition in protocol.definitions.values() if isinstance(definition, ir.Record))
    return any(any(_list_clauses(record, field, protocol)) for record in records for field in record.fields)


def describe_leniency(record: ir.Record, field: ir.Field, protocol: ir.Protocol, linker: Linker) -> Markdown:
    """A mark for a field that declares leniency, with its effect if that is not `USUAL`; empty for other fields."""
    if field.leniency == ir.Leniency():
        return Markdown()
    clauses = "; ".join(_list_clauses(record, field, protocol))
    if not clauses:
        return write_prose(STRICT) if field.required else Markdown()
    mark = linker.link(Markdown(LENIENT), MESSAGES, LENIENT)
    return mark if clauses == USUAL else Markdown(f"{mark}: {write_prose(clauses)}.")


def _list_clauses(record: ir.Record, field: ir.Field, protocol: ir.Protocol) -> Iterator[str]:
    leniency, array = field.leniency, find_array(field.type, protocol.definitions)
    min_items = (array.min_items or 0) if array is not None else 0
    instead = read_instead(field, protocol.definitions)
    skips = leniency.skip_invalid_items and array is not None
    if skips:
        limit = f" as long as at least {min_items} {'remains' if min_items == 1 else 'remain'}"
        is_limited = min_items and not (leniency.default_on_error and instead)
        yield f"invalid items are dropped{limit if is_limited else ''}"
    if leniency.default_on_error and instead:
        yield f"{_describe_invalid(field, skips=skips, min_items=min_items)} is read {instead}"
    elif leniency.default_on_null and instead and not admits_null(field.type, protocol):
        yield f"null is read {instead}"
    elif leniency.default_on_error and _is_read_without(record, field, protocol):
        yield TAG


def _describe_invalid(field: ir.Field, *, skips: bool, min_items: int) -> str:
    if not skips:
        return "an invalid or missing value" if field.required else "an invalid value"
    if field.required:
        return "any other invalid or missing value"
    return "any other invalid value" + (", also an array that becomes too short," if min_items else "")


def _is_read_without(record: ir.Record, field: ir.Field, protocol: ir.Protocol) -> bool:
    """Whether a field is the tag of a union whose default branch, the one without a tag, decodes it leniently."""
    return any(
        _has_lenient(protocol.definitions.get(union.default or ""), field.name)
        for union in protocol.definitions.values()
        if isinstance(union, ir.TaggedUnion) and union.tag == field.name and record.name in _find_tagged_records(union)
    )


def _find_tagged_records(union: ir.TaggedUnion) -> set[str | None]:
    """The records of a union that have a tag; empty if a tag is not a string, as "not a tag" then has no short description."""
    if not all(isinstance(variant.tag, str) for variant in union.variants):
        return set()
    return {*(variant.type for variant in union.variants), union.fallback, *union.fallback_shapes}


def _has_lenient(definition: ir.Definition | None, name: str) -> bool:
    fields = definition.fields if isinstance(definition, ir.Record) else ()
    return any(field.name == name and field.leniency.default_on_error and not field.required for field in fields)
