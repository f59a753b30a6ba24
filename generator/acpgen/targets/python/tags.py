"""Which classes declare their own tags, so that msgspec alone can discriminate them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from acpgen import ir
from acpgen.meaning.definition_order import list_parts
from acpgen.meaning.discriminators import find_shared_tag, group_tags

_LARGEST: Final = 2**63
"""Integer tags must be below this, and not below its negative."""


@dataclass(frozen=True, slots=True)
class Tag:
    """The field and the constant that discriminate a record from the others of its union."""

    field: str
    value: str | int


def find_class_tags(protocol: ir.Protocol) -> Mapping[str, Tag]:
    """The tag of each record that declares one, by definition: that of the first union which discriminates it."""
    tags: dict[str, Tag] = {}
    for name, tag in _find_tags(protocol):
        record = protocol.definitions[name]
        if name not in tags and isinstance(record, ir.Record) and _has(record, tag):
            tags[name] = tag
    based = {
        definition.name: definition.base
        for definition in protocol.definitions.values()
        if isinstance(definition, ir.Record)
    }
    return {name: tag for name, tag in tags.items() if not _inherits(name, tag, tags, based, protocol)}


def find_unknown_records(protocol: ir.Protocol) -> Mapping[str, ir.TaggedUnion]:
    """The fallback records, which retain unknown tags, each with its union."""
    return {
        union.fallback: union
        for union in protocol.definitions.values()
        if isinstance(union, ir.TaggedUnion) and union.fallback is not None
    }


def _find_tags(protocol: ir.Protocol) -> Iterator[tuple[str, Tag]]:
    """Yield records with the tags by which unions discriminate them; tagged unions first."""
    for union in protocol.definitions.values():
        if isinstance(union, ir.TaggedUnion):
            for name, values in group_tags(union).items():
                if len(values) == 1 and isinstance(values[0], str | int):
                    yield name, Tag(union.tag, values[0])
    for type_ in _list_unions(protocol):
        tag = find_shared_tag(type_, protocol.definitions)
        if tag is None or tag.optional:
            continue
        for member, constants in zip(type_.types, tag.tags, strict=True):
            if isinstance(member, ir.Ref) and len(constants) == 1 and isinstance(constants[0], str | int):
                yield member.name, Tag(tag.field, constants[0])


def _list_unions(protocol: ir.Protocol) -> Iterator[ir.AnyOf]:
    """Yield the unions inside a protocol that are discriminated by shape."""
    pending: list[ir.Type] = []
    for definition in protocol.definitions.values():
        match definition:
            case ir.Alias(type=type_):
                pending.append(type_)
            case ir.Record(fields=fields, extra=extra):
                pending += [*(field.type for field in fields), extra]
            case _:
                continue
    while pending:
        type_ = pending.pop(0)
        if isinstance(type_, ir.AnyOf):
            yield type_
        pending += list_parts(type_)


def _has(record: ir.Record, tag: Tag) -> bool:
    """Whether a record has the tag as a required constant that msgspec supports."""
    is_small = isinstance(tag.value, str) or (not isinstance(tag.value, bool) and -_LARGEST <= tag.value < _LARGEST)
    return is_small and any(
        field.name == tag.field and field.required and field.type == ir.Constant((tag.value,))
        for field in record.fields
    )


def _inherits(
    name: str, tag: Tag, tags: Mapping[str, Tag], based: Mapping[str, str | None], protocol: ir.Protocol
) -> bool:
    """Whether a base of a record has a tag, or declares the field of this one."""
    base = based[name]
    while base is not None:
        record = protocol.definitions[base]
        if base in tags or not isinstance(record, ir.Record) or any(f.name == tag.field for f in record.fields):
            return True
        base = based.get(base)
    return False
