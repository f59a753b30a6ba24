"""Recognition of unions: by their tags, never by trying branches in turn.

A *tagged* union has a property whose constants discriminate its branches: each branch owns one or several. Beside the tagged branches
there may be one *fallback* (the tag is any string but the known ones) and one *default* (the tag may be omitted). Every other union is
discriminated *by shape*.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct

from acpgen.input.equality import get_kind, index_by_key, is_equal, make_key, to_integer
from acpgen.input.step_budget import spend
from acpgen.input.walk import Schema, is_array, is_object, select_assertions, strip_prose
from acpgen.pointers import read_reference

if TYPE_CHECKING:
    from acpgen.input.schema_nodes import Node, ObjectShape

Tag: TypeAlias = "str | int | float | bool"
Tags: TypeAlias = Mapping[Hashable, Tag]
"""Tags by their JSON equality key."""


class Tagged(Struct, frozen=True):
    """A tagged union: the positions of its branches by role. `variants` maps each tag to the branch that owns it.

    The default branch is for objects without a tag; it may own tags, too.
    """

    tag: str
    variants: tuple[tuple[int, Tag], ...]
    fallback: int | None
    default: int | None

    @property
    def first_tags(self) -> dict[int, Tag]:
        """The tag that names a branch: the first one that it owns."""
        return dict(reversed(self.variants))

    @property
    def own_branches(self) -> tuple[int, ...]:
        """The branches with known tags and the default one: all but a fallback."""
        indices = (*(index for index, _ in self.variants), *([] if self.default is None else [self.default]))
        return tuple(dict.fromkeys(indices))

    def select(self, places: Sequence[int]) -> Tagged:
        """The same union with its branches at these places of a longer list."""
        variants = tuple((places[index], tag) for index, tag in self.variants)
        roles = (None if role is None else places[role] for role in (self.fallback, self.default))
        return Tagged(self.tag, variants, *roles)


def find_constant(schema: object) -> Tag | None:
    """The only value that a schema admits, if given by `const` or a single `enum` value."""
    if not is_object(schema):
        return None
    if "const" in schema and isinstance(schema["const"], str | int | float | bool):
        return schema["const"]
    values = schema.get("enum")
    if is_array(values) and len(values) == 1 and isinstance(values[0], str | int | float | bool):
        return values[0]
    return None


def list_values(schema: Schema) -> list[Any] | None:
    """The constants that `const` and `enum` of a schema allow; `None` if it has neither."""
    if "const" in schema and is_array(schema.get("enum")):
        return [schema["const"]] if any(is_equal(schema["const"], value) for value in schema["enum"]) else []
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if is_array(schema.get("enum")) else None


def list_constants(schema: object) -> list[Any] | None:
    """The values that a schema admits, if it is a list of constants and nothing else."""
    demands = select_assertions(schema) if is_object(schema) else {}
    values = list_values(demands) if demands.keys() <= {"const", "enum", "type"} else None
    return None if values is None else [value for value in values if is_of_type(value, demands)]


def find_common(lists: Sequence[Sequence[Any]]) -> list[Any]:
    """The values that all lists share, each once."""
    spend(sum(map(len, lists)))
    first, *further = map(index_by_key, lists)
    return [value for key, value in first.items() if all(key in keys for keys in further)]


def is_of_type(value: Any, schema: Schema) -> bool:
    """Whether a value has one of the types that a schema names."""
    if "type" not in schema:
        return True
    names, kind = list_type_names(schema), get_kind(value)
    return kind in names or (kind == "number" and "integer" in names and to_integer(value) is not None)


def read_excluded_tags(negated: object) -> dict[str, dict[Hashable, Tag]] | None:
    """The constants per property that a `not` refuses; `None` if the `not` says anything else."""
    if not is_object(negated):
        return None
    if set(negated) <= {"anyOf", "description"} and is_array(negated.get("anyOf")):
        union_of_branches: dict[str, dict[Hashable, Tag]] = {}
        for branch in negated["anyOf"]:
            constants_of_branch = read_excluded_tags(branch)
            if constants_of_branch is None:
                return None
            for name, values in constants_of_branch.items():
                union_of_branches.setdefault(name, {}).update(values)
        return union_of_branches
    properties = negated.get("properties")
    required = negated.get("required")
    if not set(negated) <= {"type", "properties", "required"} or not is_object(properties):
        return None
    if len(properties) != 1 or required != list(properties) or negated.get("type", "object") != "object":
        return None
    ((name, schema),) = properties.items()
    values_of_property = list_constants(schema)
    if values_of_property is None or not all(isinstance(value, str | int | float) for value in values_of_property):
        return None
    return {name: index_by_key(values_of_property)}


def read_excluded_text(negated: object) -> tuple[str, str | None] | None:
    """The property that a `not` forbids to hold any string, or any but one, and that one; `None` if the `not` says anything else."""
    properties = negated.get("properties") if is_object(negated) else None
    if not is_object(negated) or not is_object(properties) or len(properties) != 1:
        return None
    ((name, schema),) = properties.items()
    siblings = {key: value for key, value in negated.items() if key != "properties"}
    if siblings not in ({"type": "object", "required": [name]}, {"required": [name]}) or not is_object(schema):
        return None
    allowed_value = find_constant(schema.get("not"))
    whole = {"type": "string"} if allowed_value is None else {"type": "string", "not": schema["not"]}
    return (name, allowed_value if isinstance(allowed_value, str) else None) if schema == whole else None


def recognise(shapes: Sequence[ObjectShape]) -> Tagged | None:
    """The tagged union of branches with these shapes; `None` if no tag discriminates them."""
    if not shapes or not all(shape.is_object for shape in shapes):
        return None
    marks: dict[str, dict[int, Tags]] = {}
    for index, shape in enumerate(shapes):
        for name in (name for name in shape.properties if name in shape.required):
            if tags := shape.find_tags(name):
                marks.setdefault(name, {})[index] = tags
    candidates = [
        candidate
        for name, tags_by_index in marks.items()
        if (candidate := _find_by_tag(name, tags_by_index, shapes)) is not None
    ]
    return max(candidates, key=lambda candidate: (len(candidate.first_tags), -len(candidate.variants)), default=None)


def _find_by_tag(name: str, marks: Mapping[int, Tags], shapes: Sequence[ObjectShape]) -> Tagged | None:
    spend(len(shapes))
    variants = [(index, tag) for index, branch_tags in marks.items() for tag in branch_tags.values()]
    untagged = [index for index in range(len(shapes)) if index not in marks]
    tags = index_by_key(tag for _, tag in variants)
    if len(tags) != len(variants) or len(untagged) > 2:
        return None
    fallbacks = [i for i in untagged if _is_fallback(name, tags, shapes[i])]
    defaults = [i for i in untagged if i not in fallbacks]
    if len(fallbacks) > 1 or len(defaults) > 1:
        return None
    if fallbacks and defaults and not _gives_way(name, tags, shapes[fallbacks[0]], shapes[defaults[0]]):
        return None
    for index in defaults:
        default_tags = shapes[index].find_tags(name)
        if default_tags.keys().isdisjoint(tags) and all(
            default_tags.keys() <= shapes[fallback].excluded[name].keys() for fallback in fallbacks
        ):
            variants += [(index, tag) for tag in default_tags.values()]
    if len(variants) > 1 and len({index for index, _ in variants}) == 1:
        return None  # an enumeration of one branch is no mark
    return Tagged(name, tuple(variants), *(positions[0] if positions else None for positions in (fallbacks, defaults)))


def _is_fallback(name: str, tags: Tags, shape: ObjectShape) -> bool:
    """Whether a branch takes objects whose tag is a string other than the known ones."""
    if name not in shape.required or not tags.keys() <= shape.excluded.get(name, {}).keys():
        return False
    return any(sub.kinds <= _TEXT for sub in shape.properties.get(name, ()))


def _gives_way(name: str, tags: Tags, fallback: ObjectShape, default: ObjectShape) -> bool:
    """Whether the fallback takes every object of the default branch whose tag is a string but none of the known tags."""
    excluded_keys = fallback.excluded[name].keys() - tags.keys()
    if name in default.closed:
        allowed_value = default.closed[name]
        return allowed_value is None or make_key(allowed_value) in excluded_keys
    if any("string" not in sub.kinds for sub in default.properties.get(name, ())):
        return True
    return (
        not excluded_keys
        and not fallback.says_more
        and fallback.required <= default.required | {name}
        and all(strip_prose(sub.schema) == {"type": "string"} for sub in fallback.properties[name])
        and all(
            not sub.demands
            or any(
                is_equal(strip_prose(sub.schema), strip_prose(default_sub.schema))
                for default_sub in default.properties.get(key, ())
            )
            for key, subs in fallback.properties.items()
            if key != name
            for sub in subs
        )
    )


_TEXT: Final = frozenset({"string"})


# --- single keywords -------------------------------------------------------------------------------------------------


def list_type_names(schema: Schema) -> list[str]:
    """The values of `type`; empty without it."""
    names = schema.get("type", [])
    return names if is_array(names) else [names]


def list_types(schema: Schema) -> frozenset[str]:
    """The values of `type`, with integer as number."""
    return frozenset("number" if name == "integer" else name for name in list_type_names(schema))


def find_own_tag(union: Tagged, default: Node) -> str | None:
    """The tag under which the default branch can be written: the string that it allows, or its title if that is a word."""
    closed = default.shape.closed
    if union.default in union.first_tags:
        return None
    if union.tag in closed or union.fallback is not None:
        return closed.get(union.tag)
    title = default.says.get("title")
    is_tag = isinstance(title, str) and re.fullmatch(r"[A-Za-z0-9_.-]+", title) is not None
    return title if is_tag and title not in {tag for _, tag in union.variants} else None


def find_lone_reference(schema: object) -> str | None:
    """The definition that a schema only refers to (`$ref`, or `allOf` of one), annotations aside."""
    spend()
    if not is_object(schema):
        return None
    demands = select_assertions(schema).keys()
    if demands == {"$ref"}:
        return read_reference(schema["$ref"])
    if demands == {"allOf"} and len(schema["allOf"]) == 1:
        return find_lone_reference(schema["allOf"][0])
    return None


def is_null(schema: object) -> bool:
    """Whether a schema admits exactly null."""
    spend()
    if is_object(schema) and select_assertions(schema).keys() == {"type"}:
        return schema["type"] in ("null", ["null"])
    return list_constants(schema) == [None]


def find_branches(schema: Schema) -> tuple[str, list[Any]] | None:
    """The keyword and branches of the first union directly in `schema`."""
    for keyword in ("oneOf", "anyOf"):
        if is_array(schema.get(keyword)) and schema[keyword]:
            return keyword, schema[keyword]
    return None
