"""Several schemas for one value: which says most, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, product
from typing import Any, Final

from acpgen.input.equality import same
from acpgen.input.schema_nodes import ALL_KINDS, OBJECTS, Node
from acpgen.input.step_budget import spend
from acpgen.input.tagged_unions import is_of_type, types_of
from acpgen.input.walk import ASSERTIONS, is_object
from acpgen.meaning.constants import keys, says_nothing, values
from acpgen.meaning.members import is_record

TIGHTENED: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), min),
}
"""Limits, each with which of two is tighter."""

_OF_LEAVES: Final = frozenset({*TIGHTENED, "type", "multipleOf", "pattern", "items", "uniqueItems", "x-integer"})
"""Keywords that make a type without the help of other schemas for the same value."""

_TELLING: Final = frozenset(
    {
        *("$ref", "type", "const", "enum", "pattern", "properties", "patternProperties", "additionalProperties"),
        *("items", "prefixItems", "allOf", "anyOf", "oneOf"),
    }
)
"""Keywords of a branch that make a type of it."""


def narrowest(nodes: list[Node]) -> int:
    """The position of the schema that says most: all that the others say, then the fewest types, then the most about them."""
    if len(nodes) == 1:
        return 0

    def says_all(index: int) -> bool:
        return all(implies(nodes[index], one) for one in nodes)

    return min(range(len(nodes)), key=lambda index: (not says_all(index), *_width(nodes[index]), index))


def _width(node: Node) -> tuple[int, int]:
    if not is_object(node.schema):
        return (0, 0) if node.refuses_all else (len(ALL_KINDS), 9)
    if node.constant is not None:
        return (0, 1)
    accepted = len(node.kinds)
    if node.reference is not None or "enum" in node.demands:
        return accepted, 0
    if any(not _TELLING.isdisjoint(branch.says) for branch in node.branches):
        return accepted, 1
    if node.demands - {"type", "not", "if", "then", "else", "anyOf", "oneOf"}:
        return accepted, 2
    return accepted, 3 if node.demands == frozenset({"type"}) else 4


def implies(narrow: Node, wide: Node, memo: dict[tuple[int, str], bool] | None = None) -> bool:
    """Whether a value of the type made of `narrow` is surely one that `wide` accepts. `memo` remembers definitions between its calls."""
    spend()
    memo = {} if memo is None else memo
    if narrow.schema is wide.schema or narrow.refuses_all or says_nothing(wide.schema):
        return True
    if not is_object(narrow.schema) or not is_object(wide.schema):
        return False
    if wide.reference is not None and wide.reference in narrow.lineage:
        return True
    if wide.reference is not None:
        key = (id(narrow.schema), wide.reference)
        if key not in memo:
            memo[key] = False  # until it is known
            memo[key] = implies(narrow, wide.schemas[wide.reference], memo)
        return memo[key]
    if narrow.referred is not None and not is_record(narrow.referred):
        return implies(narrow.referred, wide, memo)
    demands = {key: value for key, value in wide.says.items() if key in ASSERTIONS}
    if same(demands, {key: value for key, value in narrow.says.items() if key in ASSERTIONS}):
        return True
    if any(
        same(demands, {key: value for key, value in part.says.items() if key in ASSERTIONS}) for part in narrow.parts
    ):
        return True
    if wide.demands <= {"type"}:
        return is_within(narrow, wide)
    if wide.demands == frozenset({"anyOf"}):
        return any(implies(narrow, branch, memo) for branch in wide.each("anyOf"))
    if wide.demands <= TIGHTENED.keys() | {"type"} and narrow.demands <= _OF_LEAVES:
        limits = wide.demands - {"type"}
        return is_within(narrow, wide) and all(
            key in narrow.says and TIGHTENED[key](narrow.says[key], wide.says[key]) == narrow.says[key]
            for key in limits
        )
    listed = values(narrow.says)
    return listed is not None and "x-integer" not in wide.demands and all(admits(wide, value) for value in listed)


def is_within(node: Node, owner: Node, memo: dict[str, bool] | None = None) -> bool:
    """Whether a schema accepts nothing but values of the types that `owner` names. `memo` remembers definitions between its calls."""
    memo = {} if memo is None else memo
    if "type" not in owner.says:
        return True
    if not is_object(node.schema):
        return node.refuses_all
    if node.reference is not None:
        if node.reference not in memo:
            memo[node.reference] = False  # until it is known
            memo[node.reference] = is_within(node.schemas[node.reference], owner, memo)
        return memo[node.reference]
    listed = values(node.says)
    if listed is not None:
        return all(is_of_type(value, owner.says) for value in listed)
    if node.types and all(
        name in owner.types or (name == "integer" and "number" in owner.types) for name in node.types
    ):
        return True
    if node.union is not None:
        return all(is_within(branch, owner, memo) for branch in node.union[1])
    return node.kinds <= types_of(owner.says) - ({"number"} if "number" not in owner.types else set())


def admits(node: Node, value: Any, memo: dict[str, bool] | None = None) -> bool:
    """Whether a schema surely accepts a constant, by constants and types alone. `memo` remembers definitions between its calls."""
    memo = {} if memo is None else memo
    if not is_object(node.schema):
        return node.schema is True
    if not node.demands <= _OF_CONSTANTS or not is_of_type(value, node.says):
        return False
    listed = values(node.says)
    name = node.target
    if name is not None and name not in memo:
        memo[name] = False  # until it is known
        memo[name] = admits(node.schemas[name], value, memo)
    return (
        (listed is None or any(same(value, one) for one in listed))
        and all(admits(part, value, memo) for part in node.each("allOf"))
        and (name is None or memo[name])
        and ("anyOf" not in node.demands or any(admits(branch, value, memo) for branch in node.each("anyOf")))
    )


_OF_CONSTANTS: Final = frozenset({"type", "const", "enum", "$ref", "anyOf", "allOf"})


def are_apart(nodes: list[Node]) -> bool:
    """Whether no value can be of two of these schemas, judged by JSON types and constants alone."""
    objects = [node for node in nodes if node.kinds == OBJECTS]
    if len(objects) > 1 and all(_differ(*pair) for pair in combinations(objects, 2)):
        nodes = [
            node for node in nodes if node not in objects[1:]
        ]  # one may stand for all: they are apart from each other
    listed = [keys(node.schema) for node in nodes]
    open_kinds = [node.kinds for node, found in zip(nodes, listed, strict=True) if found is None]
    if sum(map(len, open_kinds)) > len(frozenset[str]().union(*open_kinds)):
        return False
    constants = [key for found in listed for key in found or ()]
    open_ = frozenset[str]().union(*open_kinds)
    return len(set(constants)) == len(constants) and not any(kind in open_ for kind, _ in constants)


def _differ(one: Node, other: Node) -> bool:
    """Whether an object is surely of one of two schemas at most: by a field that one asks for and the other cannot have so."""
    shapes = one.shape, other.shape
    for refuses, (first, second) in ((other, shapes), (one, shapes[::-1])):
        names = fields_at_most(refuses)
        if names is not None and not first.required <= names:
            return True
        for name in first.required & first.properties.keys() & second.properties.keys():
            pairs = product(*([keys(sub.schema) for sub in shape.properties[name]] for shape in (first, second)))
            if any(mine is not None and yours is not None and mine.isdisjoint(yours) for mine, yours in pairs):
                return True
    return False


def fields_at_most(node: Node) -> frozenset[str] | None:
    """The only fields that a schema lets an object have; `None` where it does not say."""
    found = [
        frozenset(part.says.get("properties", ()))
        for part in node.whole
        if part.says.get("additionalProperties") is False and not part.says.get("patternProperties")
    ]
    return found[0].intersection(*found) if found else None


def of_type(branch: Node, owner: Node) -> Node:
    """A branch of a union with the `type` that stands beside the union written into it."""
    if is_within(branch, owner) or branch.refuses_all:
        return branch
    if branch.schema is True:
        return branch.make({"type": owner.says["type"]})
    if branch.reference is not None:
        return branch
    if "type" not in branch.says:
        return branch.with_keywords(type=owner.says["type"])
    both = [name for name in branch.types if name in owner.types or (name == "integer" and "number" in owner.types)]
    if "number" in branch.types and "integer" in owner.types and "number" not in owner.types:
        both.append("integer")
    return branch.with_keywords(type=both) if both else branch.make(False)
