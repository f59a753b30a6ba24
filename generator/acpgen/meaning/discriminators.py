"""The discriminator fields of unions.

Their constants are tags, not enumerations that may grow, so unknown values of them are not preserved. Outside of tagged unions, where
nothing keeps an unknown tag, this does not hold for enumerations that have a definition of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from acpgen import ir
from acpgen.input.equality import make_key
from acpgen.input.schema_nodes import OBJECTS, Node, Schemas
from acpgen.input.tagged_unions import find_branches
from acpgen.input.walk import walk_schemas


def find_discriminators(schemas: Schemas) -> dict[str, dict[str, bool]]:
    """The discriminator fields of each record in its unions, by the definition of the record and the name of the field: whether it is the
    tag of a tagged union.
    """
    fields_by_record: dict[str, dict[str, bool]] = {}
    for top in schemas.values():
        for keys, schema in walk_schemas(top.schema):
            if find_branches(schema) is None:
                continue
            node = top.make(schema, *keys) if keys else top
            branches = [branch for branch in node.branches if branch.kinds == OBJECTS]
            for branch, name in _find_tags(node, branches):
                for record in _list_records(branch):
                    fields = fields_by_record.setdefault(record, {})
                    fields[name] = fields.get(name, False) or node.tagged_union is not None
    return fields_by_record


def _find_tags(node: Node, branches: list[Node]) -> Iterator[tuple[Node, str]]:
    """Yield the branches of a union with their tag; without a common tag, with each field whose constants differ between branches.

    One branch may lack the field: it would be the default. For an exclusive union (`oneOf`), any number of branches may.
    """
    if node.tagged_union is not None:
        yield from ((branch, node.tagged_union.tag) for branch in branches)
        return
    is_exclusive = node.union is not None and node.union[0] == "oneOf"
    marks: dict[str, dict[int, frozenset[Hashable]]] = {}
    for index, branch in enumerate(branches):
        for name in branch.shape.properties:
            if tags := branch.shape.find_tags(name):
                marks.setdefault(name, {})[index] = frozenset(tags)
    for name, tags_by_index in marks.items():
        differ, lacking = len(set(tags_by_index.values())) > 1, len(branches) - len(tags_by_index)
        if (differ and lacking < 2) or (is_exclusive and (differ or lacking)):
            yield from ((branches[index], name) for index in tags_by_index)


def _list_records(branch: Node) -> Iterator[str]:
    """Yield the definitions that a branch consists of: the one it refers to with its parts, and the branches of that one if it is a
    union.
    """
    pending, visited = [branch.without("not")], set[str]()
    while pending:
        node = pending.pop().referred
        if node is not None and node.owner not in visited:
            visited.add(node.owner)
            yield from dict.fromkeys(part.owner for part in node.all_parts)
            pending += [branch.without("not") for branch in node.branches]


def group_tags(union: ir.TaggedUnion) -> dict[str, list[str | int | float | bool]]:
    """The tags of each branch of a union, by the definition of the branch."""
    tags_by_name: dict[str, list[str | int | float | bool]] = {}
    for variant in union.variants:
        tags_by_name.setdefault(variant.type, []).append(variant.tag)
    return tags_by_name


def find_type(name: str, member: str, tag: Any, definitions: Mapping[str, ir.Definition]) -> str:
    """The definition of the objects with a tag, among those a variant leads to; nested unions with the same tag member are followed."""
    visited: set[str] = set()
    while isinstance(union := definitions.get(name), ir.TaggedUnion) and union.tag == member and name not in visited:
        visited.add(name)
        name = next((v.type for v in union.variants if make_key(v.tag) == make_key(tag)), name)
    return name


class SharedTag(Struct, frozen=True):
    """A field that discriminates, as far as possible, between records that are tried in order.

    `tags` are the constants of each record for the field; branches that accept no objects have none. `optional` are the positions of the
    records in which the field is not required.
    """

    field: str
    tags: tuple[tuple[ir.JSON, ...], ...]
    optional: tuple[int, ...]


def find_shared_tag(union: ir.AnyOf, definitions: Mapping[str, ir.Definition]) -> SharedTag | None:
    """The field that distinguishes most of the records of a union; `None` if there is none."""
    definitions_by_index = {
        index: definitions[member.name]
        for index, member in enumerate(union.types)
        if takes_objects(member, definitions) and isinstance(member, ir.Ref)
    }
    fields_by_index = {
        index: _list_constants(definition, definitions)
        for index, definition in definitions_by_index.items()
        if isinstance(definition, ir.Record)
    }
    if len(fields_by_index) < sum(takes_objects(member, definitions) for member in union.types):
        return None
    candidates = [
        SharedTag(
            name,
            tuple(
                fields_by_index[index][name][0] if index in fields_by_index else () for index in range(len(union.types))
            ),
            tuple(index for index, fields in fields_by_index.items() if not fields[name][1].required),
        )
        for name in next(iter(fields_by_index.values()), ())
        if all(name in fields for fields in fields_by_index.values())
    ]
    best = max(candidates, key=lambda candidate: _count_groups(candidate.tags), default=None)
    return None if best is None or _count_groups(best.tags) == 1 else best


def _list_constants(
    record: ir.Record, definitions: Mapping[str, ir.Definition]
) -> dict[str, tuple[tuple[ir.JSON, ...], ir.Field]]:
    """The fields of a record whose values are limited to constants, by name, with these constants."""
    constant_fields: dict[str, tuple[tuple[ir.JSON, ...], ir.Field]] = {}
    for field in record.fields:
        type_ = definitions[field.type.name] if isinstance(field.type, ir.Ref) else field.type
        is_closed = isinstance(type_, ir.Enum) and type_.openness == "closed"
        values = [value.value for value in type_.values] if isinstance(type_, ir.Enum) and is_closed else []
        values += type_.values if isinstance(type_, ir.Constant) else ()
        if values and None not in values and field.leniency == ir.Leniency():
            constant_fields[field.name] = tuple(values), field
    return constant_fields


def _count_groups(tags: Sequence[tuple[ir.JSON, ...]]) -> int:
    """The number of distinct sets of branches that the tags select."""
    owners: dict[Hashable, list[int]] = {}
    for index, branch_tags in enumerate(tags):
        for key in {make_key(tag) for tag in branch_tags}:
            owners.setdefault(key, []).append(index)
    return len(set(map(tuple, owners.values())))


def takes_objects(
    type_: ir.Type, definitions: Mapping[str, ir.Definition], through: frozenset[str] = frozenset()
) -> bool:
    """Whether a type accepts any objects."""
    match type_:
        case ir.Anything() | ir.Map():
            return True
        case ir.AnyOf(types=types):
            return any(takes_objects(member, definitions, through) for member in types)
        case ir.Ref(name=name):
            definition = definitions[name]
            if isinstance(definition, ir.Alias) and name not in through:
                return takes_objects(definition.type, definitions, through | {name})
            return isinstance(definition, ir.Record | ir.TaggedUnion)
        case _:
            return False
