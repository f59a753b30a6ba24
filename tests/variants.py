"""Variants whose body upstream's files have as a definition of its own, without the tag."""

from __future__ import annotations

from collections.abc import Mapping

from acpgen import ir
from acpgen.naming.identifiers import make_class_name


def bodies(protocol: ir.Protocol) -> Mapping[str, str]:
    """Each definition that is a body with the tag of its one variant, with the name of tag and union: `TextContent`, `TextContentBlock`."""
    found: dict[str, str] = {}
    for union in (one for one in protocol.definitions.values() if isinstance(one, ir.TaggedUnion)):
        for variant in union.variants:
            if _is_tagged_by_its_union(protocol, union.tag, variant.type):
                word, base = make_class_name(str(variant.tag)), make_class_name(union.name)
                name = f"{word}{base}"
                found.setdefault(variant.type, f"{base}{word}Variant" if name == variant.type else name)
    return found


def _is_tagged_by_its_union(protocol: ir.Protocol, tag: str, name: str) -> bool:
    match protocol.definitions[name]:
        case ir.Record(fields=fields, at=at):
            return any(one.name == tag and not one.at.startswith(f"{at}/") for one in fields)
        case _:
            return True
