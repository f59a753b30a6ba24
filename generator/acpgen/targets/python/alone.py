"""Bodies of one variant that stand alone as well: one class is both, and its tag is written where it is a variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from acpgen import ir
from acpgen.meaning.order import references


@dataclass(frozen=True, slots=True)
class Shared:
    """A record `body` that a variant of one union is with nothing but the `tag` added. `variant` is the definition of the variant."""

    variant: str
    body: str
    tag: ir.Field


def shared_bodies(protocol: ir.Protocol) -> Mapping[str, Shared]:
    """The variants that are nothing but their bodies with a tag, by the definition of the variant.

    Only where the body is that of one variant alone, and is itself no branch of a union that a tag tells apart.
    """
    unions = [one for one in protocol.definitions.values() if isinstance(one, ir.TaggedUnion)]
    branches = Counter(name for union in unions for name in dict.fromkeys(_branches(union)))
    bases = Counter(one.base for one in protocol.definitions.values() if isinstance(one, ir.Record))
    named = _named(protocol)
    found: dict[str, Shared] = {}
    for union in unions:
        for variant in union.variants:
            record = protocol.definitions[variant.type]
            body = protocol.definitions.get(record.base or "") if isinstance(record, ir.Record) else None
            if not isinstance(record, ir.Record) or not isinstance(body, ir.Record):
                continue
            is_alone = branches[record.name] == 1 and not branches[body.name] and bases[body.name] == 1
            if not is_alone or record.name in named or bases[record.name]:
                continue
            tag = _tag(union, record, body)
            if tag is not None:
                found[record.name] = Shared(record.name, body.name, tag)
    return found


def with_shared_bodies(protocol: ir.Protocol, shared: Mapping[str, Shared]) -> ir.Protocol:
    """The protocol as its classes have it: the bodies with their tags. The variants are unions of one, which ask for the tag."""
    if not shared:
        return protocol
    tags = {one.body: one.tag for one in shared.values()}
    definitions: dict[str, ir.Definition] = {}
    for name, one in protocol.definitions.items():
        if isinstance(one, ir.Record) and name in shared:
            definitions[name] = _asking(one, shared[name])
        elif isinstance(one, ir.Record) and name in tags:
            definitions[name] = replace(one, fields=(tags[name], *one.fields))
        elif isinstance(one, ir.TaggedUnion):
            variants = (replace(v, type=shared[v.type].body) if v.type in shared else v for v in one.variants)
            definitions[name] = replace(one, variants=tuple(variants))
        else:
            definitions[name] = one
    return replace(protocol, definitions=definitions)


def _asking(record: ir.Record, shared: Shared) -> ir.TaggedUnion:
    """The type of a variant: its body, with the tag."""
    (tag,) = shared.tag.type.values if isinstance(shared.tag.type, ir.Constant) else ("",)
    variant = ir.Variant(tag=str(tag), type=shared.body)
    return ir.TaggedUnion(
        name=record.name, tag=shared.tag.name, variants=(variant,), openness="closed", doc=record.doc, at=record.at
    )


def _tag(union: ir.TaggedUnion, record: ir.Record, body: ir.Record) -> ir.Field | None:
    """What the record has beside its body, if that is the text of its tag alone."""
    inherited = {field.name for field in body.fields}
    own = [field for field in record.fields if field.name not in inherited]
    is_plain = not (record.excluded or body.excluded or record.unenforced or body.unenforced or body.base is not None)
    is_open = isinstance(record.extra, ir.Anything) and isinstance(body.extra, ir.Anything)
    if not is_plain or not is_open or len(own) != 1:
        return None
    (tag,) = own
    is_text = isinstance(tag.type, ir.Constant) and len(tag.type.values) == 1 and isinstance(tag.type.values[0], str)
    return tag if tag.name == union.tag and tag.required and is_text else None


def _branches(union: ir.TaggedUnion) -> list[str]:
    others = (union.fallback, union.default, *union.fallback_shapes)
    return [*(variant.type for variant in union.variants), *(name for name in others if name is not None)]


def _named(protocol: ir.Protocol) -> set[str]:
    """What fields, aliases and methods refer to."""
    found = {name for method in protocol.methods for name in (method.params, method.result) if name is not None}
    for one in protocol.definitions.values():
        if isinstance(one, ir.Alias):
            found.update(references(one))
        elif isinstance(one, ir.Record):
            found.update(references(replace(one, base=None)))
    return found
