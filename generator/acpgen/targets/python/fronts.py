"""Which unions are one record but for what a field says."""

from __future__ import annotations

from acpgen import ir


def branches(union: ir.TaggedUnion, protocol: ir.Protocol) -> list[ir.Record]:
    """The records of a union; empty where one of its branches is no record."""
    names = [variant.type for variant in union.variants]
    names += [name for name in (union.fallback, *union.fallback_shapes, union.default) if name is not None]
    found = [protocol.definitions[name] for name in dict.fromkeys(names)]
    records = [one for one in found if isinstance(one, ir.Record)]
    return records if len(records) == len(found) else []


def has_front(union: ir.TaggedUnion, protocol: ir.Protocol) -> bool:
    """Whether a union is one record whose optional field also tells its variants apart.

    That is so where the branch without the tag has the fields that all variants have, and two of these add nothing but a constant.
    """
    records = branches(union, protocol)
    default = protocol.definitions.get(union.default or "")
    if not records or not isinstance(default, ir.Record) or union.fallback_shapes or union.default_admits_known:
        return False
    shared = _without(default, union.tag)
    tags = [variant.tag for variant in union.variants]
    declares = any(field.name == union.tag and not field.required for field in default.fields)
    return (
        declares
        and all(isinstance(tag, str) for tag in tags)
        and all(shared.items() <= _without(record, union.tag).items() for record in records)
        and sum(_without(record, union.tag) == shared for record in records if record is not default) > 1
    )


def _without(record: ir.Record, tag: str) -> dict[str, ir.Field]:
    return {field.name: field for field in record.fields if field.name != tag}
