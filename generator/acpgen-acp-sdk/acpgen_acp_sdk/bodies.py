"""Variants and their bodies: where acpgen has one definition, the SDK has a class for the body and one below it for the variant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from acpgen.plugins import class_name, ir


def split_variants(protocol: ir.Protocol) -> ir.Protocol:
    """The protocol with two definitions for each that is the variant of a union: the body, and the variant with the union's fields."""
    definitions = dict(protocol.definitions)
    for union in protocol.definitions.values():
        if isinstance(union, ir.TaggedUnion):
            definitions[union.name] = _split_union(union, definitions)
    return replace(protocol, definitions=definitions)


def _split_union(union: ir.TaggedUnion, definitions: dict[str, ir.Definition]) -> ir.TaggedUnion:
    """The union of variants that are definitions of their own; they are added, and their bodies lose the union's fields."""
    variants: list[ir.Variant] = []
    for variant in union.variants:
        body = definitions[variant.type]
        if body.at.startswith(f"{union.at}/"):
            variants.append(variant)
            continue
        name = _name(variant, union, definitions)
        match body:
            case ir.Record():
                added = {field.name for field in body.fields if not field.at.startswith(f"{body.at}/")}
                definitions |= {
                    body.name: _without(body, added),
                    name: replace(body, name=name, base=body.name, doc=variant.doc),
                }
            case ir.Alias(type=ir.AnyOf() as shapes):
                types = tuple(
                    _split_shape(each, body.name, name, _shared(union, definitions), definitions)
                    for each in shapes.types
                )
                definitions[name] = ir.Alias(name, replace(shapes, types=types), doc=variant.doc)
            case _:
                pass
        variants.append(replace(variant, type=name, body=body.name))
    return replace(union, variants=tuple(variants))


def _split_shape(
    shape: ir.Type, body: str, name: str, added: Collection[str], definitions: dict[str, ir.Definition]
) -> ir.Type:
    """The shape of a variant in the place of that of a body; both are added."""
    record = definitions[shape.name] if isinstance(shape, ir.Ref) else None
    if not isinstance(record, ir.Record):
        return shape
    fields = sorted(record.fields, key=lambda field: field.name not in added)
    whole = replace(record, name=record.name.replace(body, name), fields=tuple(fields))
    definitions |= {record.name: _without(record, added), whole.name: whole}
    return ir.Ref(whole.name)


def _name(variant: ir.Variant, union: ir.TaggedUnion, taken: Collection[str]) -> str:
    word = class_name(str(variant.tag))
    return f"{word}{union.name}" if f"{word}{union.name}" not in taken else f"{union.name}{word}Variant"


def _shared(union: ir.TaggedUnion, definitions: Mapping[str, ir.Definition]) -> Collection[str]:
    """The fields that the union itself declares, which its fallback has too."""
    fallback = definitions.get(union.fallback or "")
    return {union.tag, *(field.name for field in fallback.fields)} if isinstance(fallback, ir.Record) else {union.tag}


def _without(record: ir.Record, added: Collection[str]) -> ir.Record:
    return replace(record, fields=tuple(field for field in record.fields if field.name not in added))
