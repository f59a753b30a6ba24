"""Unions discriminated by the one key that an object has, as Rust's serde writes them."""

from __future__ import annotations

from collections.abc import Mapping

from acpgen import ir


def keys_of(union: ir.AnyOf, definitions: Mapping[str, ir.Definition]) -> tuple[str | None, ...]:
    """The key that each branch of a union alone has, `None` for those that take no objects; empty where keys do not tell them apart."""
    found = [_key(one, definitions) for one in union.types]
    known = [key for key in found if key is not None]
    others = [one for one, key in zip(union.types, found, strict=True) if key is None]
    is_told = known and len(set(known)) == len(known) and not any(takes_objects(one, definitions) for one in others)
    return tuple(found) if is_told else ()


def _key(type_: ir.Type, definitions: Mapping[str, ir.Definition]) -> str | None:
    record = definitions[type_.name] if isinstance(type_, ir.Ref) else None
    if not isinstance(record, ir.Record) or record.extra != ir.Nothing() or len(record.fields) != 1:
        return None
    (field,) = record.fields
    return field.name if field.required else None


def takes_objects(
    type_: ir.Type, definitions: Mapping[str, ir.Definition], through: frozenset[str] = frozenset()
) -> bool:
    """Whether a type takes any object."""
    match type_:
        case ir.Anything() | ir.Map():
            return True
        case ir.AnyOf(types=types):
            return any(takes_objects(one, definitions, through) for one in types)
        case ir.Ref(name=name):
            definition = definitions[name]
            if isinstance(definition, ir.Alias) and name not in through:
                return takes_objects(definition.type, definitions, through | {name})
            return isinstance(definition, ir.Record | ir.TaggedUnion)
        case _:
            return False
