"""Splitting of variants and bodies: for one definition of acpgen, the SDK has a class for the body and a subclass for the variant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from acpgen.plugins import ir, make_class_name


def split_variants(protocol: ir.Protocol) -> ir.Protocol:
    """The protocol with two definitions for each variant of a union: the body, and the variant with the union's fields."""
    definitions = dict(protocol.definitions)
    for union in protocol.definitions.values():
        if isinstance(union, ir.TaggedUnion):
            definitions[union.name] = _split_union(union, definitions)
    return replace(protocol, definitions=definitions)


def _split_union(union: ir.TaggedUnion, definitions: dict[str, ir.Definition]) -> ir.TaggedUnion:
    """The union with variants as separate definitions, which are added; their bodies lose the union's fields."""
    variants: list[ir.Variant] = []
    for variant in union.variants:
        body = definitions[variant.type]
        if body.at.startswith(f"{union.at}/"):
            variants.append(variant)
            continue
        name = _name(variant, union, definitions)
        match body:
            case ir.Record():
                union_fields = {field.name for field in body.fields if not field.at.startswith(f"{body.at}/")}
                definitions |= {
                    body.name: _without(body, union_fields),
                    name: replace(body, name=name, base=body.name, doc=variant.doc),
                }
            case ir.Alias(type=ir.AnyOf() as shapes):
                types = tuple(
                    _split_shape(shape, body.name, name, _find_shared_fields(union, definitions), definitions)
                    for shape in shapes.types
                )
                definitions[name] = ir.Alias(name, replace(shapes, types=types), doc=variant.doc)
            case _:
                pass
        variants.append(replace(variant, type=name, body=body.name))
    return replace(union, variants=tuple(variants))


def _split_shape(
    shape: ir.Type, body: str, name: str, union_fields: Collection[str], definitions: dict[str, ir.Definition]
) -> ir.Type:
    """The shape of a variant, derived from that of a body; the definitions of both are added."""
    record = definitions[shape.name] if isinstance(shape, ir.Ref) else None
    if not isinstance(record, ir.Record):
        return shape
    fields = sorted(record.fields, key=lambda field: field.name not in union_fields)
    whole = replace(record, name=record.name.replace(body, name), fields=tuple(fields))
    definitions |= {record.name: _without(record, union_fields), whole.name: whole}
    return ir.Ref(whole.name)


def _name(variant: ir.Variant, union: ir.TaggedUnion, used_names: Collection[str]) -> str:
    word = make_class_name(str(variant.tag))
    return f"{word}{union.name}" if f"{word}{union.name}" not in used_names else f"{union.name}{word}Variant"


def _find_shared_fields(union: ir.TaggedUnion, definitions: Mapping[str, ir.Definition]) -> Collection[str]:
    """The fields that the union itself declares, which are also fields of its fallback."""
    fallback = definitions.get(union.fallback or "")
    return {union.tag, *(field.name for field in fallback.fields)} if isinstance(fallback, ir.Record) else {union.tag}


def _without(record: ir.Record, removed_fields: Collection[str]) -> ir.Record:
    return replace(record, fields=tuple(field for field in record.fields if field.name not in removed_fields))
