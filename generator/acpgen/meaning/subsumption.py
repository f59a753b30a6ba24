"""Several schemas for one value: which is the narrowest, what it implies, and the intersection of all as one schema; and which schemas
are records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, product
from math import lcm, prod
from typing import Any, Final

from acpgen.input.equality import get_kind, is_equal, make_key
from acpgen.input.numbers import MOST_DIGITS
from acpgen.input.schema_nodes import ALL_KINDS, OBJECTS, Node
from acpgen.input.step_budget import spend
from acpgen.input.tagged_unions import is_of_type, list_type_names, list_types, list_values
from acpgen.input.walk import ASSERTIONS, BY_KIND, Schema, is_object, select_assertions

TIGHTENED: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), min),
}
"""Limit keywords, each with the function that selects the tighter of two limits."""

_OF_LEAVES: Final = frozenset({*TIGHTENED, "type", "multipleOf", "pattern", "items", "uniqueItems", "x-integer"})
"""Keywords that have a type in the IR without other schemas for the same value."""

_TELLING: Final = frozenset(
    {
        *("$ref", "type", "const", "enum", "pattern", "properties", "patternProperties", "additionalProperties"),
        *("items", "prefixItems", "allOf", "anyOf", "oneOf"),
    }
)
"""Keywords of a branch that determine its type."""


def find_narrowest(nodes: list[Node]) -> int:
    """The index of the narrowest schema: one that implies all others, else the one with the fewest JSON types, then the most specific."""
    if len(nodes) == 1:
        return 0

    def says_all(index: int) -> bool:
        return all(implies(nodes[index], node) for node in nodes)

    return min(range(len(nodes)), key=lambda index: (not says_all(index), *_measure_width(nodes[index]), index))


def _measure_width(node: Node) -> tuple[int, int]:
    if not is_object(node.schema):
        return (0, 0) if node.refuses_all else (len(ALL_KINDS), 9)
    if node.constant is not None:
        return (0, 1)
    kind_count = len(node.kinds)
    if node.reference is not None or "enum" in node.demands:
        return kind_count, 0
    if any(not _TELLING.isdisjoint(branch.says) for branch in node.branches):
        return kind_count, 1
    if node.demands - {"type", "not", "if", "then", "else", "anyOf", "oneOf"}:
        return kind_count, 2
    return kind_count, 3 if node.demands == frozenset({"type"}) else 4


def implies(narrow: Node, wide: Node, memo: dict[tuple[int, str], bool] | None = None) -> bool:
    """Whether each value of the type made from `narrow` is certainly valid against `wide`.

    `memo` caches results for definitions during the recursion.
    """
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
    demands = select_assertions(wide.says)
    if any(is_equal(demands, select_assertions(part.says)) for part in (narrow, *narrow.parts)):
        return True
    if wide.demands <= {"type"}:
        return is_within(narrow, wide)
    if wide.demands == frozenset({"anyOf"}):
        return any(implies(narrow, branch, memo) for branch in wide.get_subschemas("anyOf"))
    if wide.demands <= TIGHTENED.keys() | {"type"} and narrow.demands <= _OF_LEAVES:
        limits = wide.demands - {"type"}
        return is_within(narrow, wide) and all(
            key in narrow.says and TIGHTENED[key](narrow.says[key], wide.says[key]) == narrow.says[key]
            for key in limits
        )
    constants = list_values(narrow.says)
    return constants is not None and "x-integer" not in wide.demands and all(admits(wide, value) for value in constants)


def is_within(node: Node, owner: Node, memo: dict[str, bool] | None = None) -> bool:
    """Whether a schema accepts only values of the types in `owner`. `memo` caches results for definitions during the recursion."""
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
    constants = list_values(node.says)
    if constants is not None:
        return all(is_of_type(value, owner.says) for value in constants)
    if node.types and all(
        name in owner.types or (name == "integer" and "number" in owner.types) for name in node.types
    ):
        return True
    if node.union is not None:
        return all(is_within(branch, owner, memo) for branch in node.union[1])
    return node.kinds <= list_types(owner.says) - ({"number"} if "number" not in owner.types else set())


def admits(node: Node, value: Any, memo: dict[str, bool] | None = None) -> bool:
    """Whether a schema certainly accepts a constant, considering only constants and types. `memo` caches results for definitions."""
    memo = {} if memo is None else memo
    if not is_object(node.schema):
        return node.schema is True
    if not node.demands <= _OF_CONSTANTS or not is_of_type(value, node.says):
        return False
    constants = list_values(node.says)
    name = node.target
    if name is not None and name not in memo:
        memo[name] = False  # until it is known
        memo[name] = admits(node.schemas[name], value, memo)
    return (
        (constants is None or any(is_equal(value, constant) for constant in constants))
        and all(admits(part, value, memo) for part in node.get_subschemas("allOf"))
        and (name is None or memo[name])
        and ("anyOf" not in node.demands or any(admits(branch, value, memo) for branch in node.get_subschemas("anyOf")))
    )


_OF_CONSTANTS: Final = frozenset({"type", "const", "enum", "$ref", "anyOf", "allOf"})


def list_keys(schema: Any) -> set[Any] | None:
    """The equality keys of the constants of a schema; `None` if it lists none, or if some of them are not scalars."""
    constants = list_values(schema) if is_object(schema) else None
    if constants is None or any(isinstance(value, dict | list) for value in constants):
        return None
    return {make_key(value) for value in constants}


def are_apart(nodes: list[Node]) -> bool:
    """Whether no value matches two of these schemas, considering only JSON types, constants, and the fields of objects."""
    objects = [node for node in nodes if node.kinds == OBJECTS]
    if len(objects) > 1 and all(_differ(*pair) for pair in combinations(objects, 2)):
        # One may stand for all: they are apart from each other.
        nodes = [node for node in nodes if node not in objects[1:]]
    key_sets = [list_keys(node.schema) for node in nodes]
    open_kinds = [node.kinds for node, key_set in zip(nodes, key_sets, strict=True) if key_set is None]
    if sum(map(len, open_kinds)) > len(frozenset[str]().union(*open_kinds)):
        return False
    constants = [key for key_set in key_sets for key in key_set or ()]
    open_ = frozenset[str]().union(*open_kinds)
    return len(set(constants)) == len(constants) and not any(kind in open_ for kind, _ in constants)


def _differ(left: Node, right: Node) -> bool:
    """Whether an object certainly matches at most one of two schemas, due to a field that one requires and the other rejects."""
    shapes = left.shape, right.shape
    for refuses, (first, second) in ((right, shapes), (left, shapes[::-1])):
        names = find_allowed_fields(refuses)
        if names is not None and not first.required <= names:
            return True
        for name in first.required & first.properties.keys() & second.properties.keys():
            pairs = product(*([list_keys(sub.schema) for sub in shape.properties[name]] for shape in (first, second)))
            if any(
                left_keys is not None and right_keys is not None and left_keys.isdisjoint(right_keys)
                for left_keys, right_keys in pairs
            ):
                return True
    return False


def find_allowed_fields(node: Node) -> frozenset[str] | None:
    """The only fields that a schema allows in an object; `None` if it does not limit them."""
    name_sets = [
        frozenset(part.says.get("properties", ()))
        for part in node.all_parts
        if part.says.get("additionalProperties") is False and not part.says.get("patternProperties")
    ]
    return name_sets[0].intersection(*name_sets) if name_sets else None


def add_owner_type(branch: Node, owner: Node) -> Node:
    """A branch of a union, combined with the `type` beside the union."""
    if is_within(branch, owner) or branch.refuses_all:
        return branch
    if branch.schema is True:
        return branch.make({"type": owner.says["type"]})
    if branch.reference is not None:
        return branch
    if "type" not in branch.says:
        return branch.with_keywords(type=owner.says["type"])
    types = [name for name in branch.types if name in owner.types or (name == "integer" and "number" in owner.types)]
    if "number" in branch.types and "integer" in owner.types and "number" not in owner.types:
        types.append("integer")
    return branch.with_keywords(type=types) if types else branch.make(False)


# --- the intersection ---

MOST_BRANCHES: Final = 64
"""The maximum number of branches of a product of unions."""


def intersect(nodes: list[Node]) -> Node | None:
    """The intersection of several schemas; `None` if it cannot be written as a schema that has a type.

    Scalars and arrays are merged; a union becomes a union of its branches, each combined with all sibling assertions.
    """
    intersection = _Intersection()
    return intersection.build(nodes[0]) if all(map(intersection.add, nodes)) else None


class _Intersection:
    """The schemas added so far: merged keywords, and unions whose branches each need to be combined with the rest."""

    def __init__(self) -> None:
        self.leaf: Schema = {}
        self.unions: list[tuple[str, list[Any]]] = []
        self.referred: set[str] = set()

    def add(self, node: Node) -> bool:
        """Add a schema. False if it has an assertion that cannot be merged."""
        if node.refuses_all:
            self.leaf["enum"] = []
        assertions = select_assertions(node.says)
        assertions.pop("$ref", None)
        name = node.target
        if name is not None and name not in self.referred:
            self.referred.add(name)
            if not self.add(node.schemas[name]):
                return False
        for keyword in ("anyOf", "oneOf"):
            if keyword in assertions:
                self.unions.append((keyword, assertions.pop(keyword)))
        assertions.pop("allOf", None)
        is_merged = all(self._merge_keyword(node, keyword, value) for keyword, value in assertions.items())
        return is_merged and all(self.add(part) for part in node.get_subschemas("allOf"))

    def _merge_keyword(self, node: Node, keyword: str, value: Any) -> bool:
        """Merge one keyword. False if that is not possible."""
        if keyword in ("const", "enum"):
            keyword, value = "enum", list_values({keyword: value})
        if keyword not in self.leaf:
            self.leaf[keyword] = value
            return keyword in TIGHTENED or keyword in _OTHERS
        current = self.leaf[keyword]
        match keyword:
            case "type":
                self.leaf[keyword] = _merge_types(list_type_names(self.leaf), list_type_names({keyword: value}))
            case "enum":
                self.leaf[keyword] = [
                    constant for constant in current if any(is_equal(constant, candidate) for candidate in value)
                ]
            case "multipleOf" if isinstance(current, int) and isinstance(value, int):
                self.leaf[keyword] = multiple = lcm(current, value)
                return multiple < _UNWRITTEN
            case "items" if implies(node.make(value, "items"), node.make(current, "items")):
                self.leaf[keyword] = value
            case "items":
                return implies(node.make(current, "items"), node.make(value, "items"))
            case "uniqueItems":
                self.leaf[keyword] = current or value
            case _ if keyword in TIGHTENED:
                self.leaf[keyword] = TIGHTENED[keyword](current, value)
            case _:
                return is_equal(current, value)
        return True

    def build(self, node: Node) -> Node | None:
        """The merged schema; `None` if there is none."""
        if "enum" in self.leaf:
            constants = [value for value in self.leaf["enum"] if is_of_type(value, self.leaf)]
            if any(BY_KIND[get_kind(value)] & self.leaf.keys() for value in constants):
                return None
            self.leaf = {"enum": constants}
        if self.leaf.get("type") == [] or self.leaf.get("enum") == []:
            return node.make(False)
        if not self.unions:
            return node.make(self.leaf)
        if prod(len(branches) for _, branches in self.unions) > MOST_BRANCHES:
            return None
        (keyword, branches), *unions = self.unions
        beside = [*([self.leaf] if self.leaf else []), *({key: alternatives} for key, alternatives in unions)]
        whole = [{"allOf": [branch, *beside]} if beside else branch for branch in branches]
        satisfiable = [schema for schema in whole if node.make(schema).kinds]
        return node.make({keyword: satisfiable} if satisfiable else False)


_UNWRITTEN: Final[int] = 10**MOST_DIGITS
"""Numbers from here on cannot be written in a schema."""


def _merge_types(first: list[str], second: list[str]) -> list[str]:
    common = [name for name in first if name in second]
    is_integer = ("number" in first and "integer" in second) or ("integer" in first and "number" in second)
    return [*common, "integer"] if is_integer and "number" not in common and "integer" not in common else common


_OTHERS: Final = frozenset({"type", "enum", "multipleOf", "items", "pattern", "uniqueItems"})
"""Keywords that can be merged, in addition to limits."""


# --- records: objects with named fields ---


def is_record(node: Node) -> bool:
    """Whether a schema accepts only objects and declares fields, or asserts nothing else."""
    if node.kinds != OBJECTS or "const" in node.says or "enum" in node.says:
        return False
    if node.union is not None:
        fields = node.fields  # the union does not stand alone: it narrows the record
        return bool(node.says.get("properties")) or bool(
            fields and all(branch.narrows(fields) for branch in node.branches)
        )
    if "additionalProperties" in node.says and not node.says.get("properties"):
        return bool(node.parts) and bool(node.fields)
    return node.reference is None and (not node.parts or "properties" in node.says or bool(node.fields))


def find_body(node: Node) -> str | None:
    """The name of the record whose fields a variant adds to its tag; the first one if there are several."""
    return next((part.reference for part in node.parts if part.reference is not None), None)


def find_base(node: Node) -> str | None:
    """The body that a record may extend: a record none of whose fields is changed; `None` if there is none."""
    name = find_body(node)
    if name is None or not is_record(node.schemas[name]):
        return None
    above = node.schemas[name]
    base_fields, fields = above.fields, node.fields
    is_kept = all(
        is_equal([node.schema for node in fields[key]], [node.schema for node in nodes])
        for key, nodes in base_fields.items()
    )
    undeclared = above.required - base_fields.keys()  # a base has fields of these, too
    if undeclared and not (undeclared.isdisjoint(fields) and says_nothing(node.says.get("additionalProperties", True))):
        return None
    return name if is_kept and node.required & set(base_fields) == above.required & set(base_fields) else None


def names_fields(node: Node) -> bool:
    """Whether a schema declares fields, also accepts other values than objects, and otherwise only narrows the objects."""
    if "object" not in node.kinds or any(keyword in node.says for keyword in ("$ref", "const", "enum")):
        return False
    fields = node.fields
    beside = [branch for keyword in ("allOf", "anyOf", "oneOf") for branch in node.get_subschemas(keyword)]
    return bool(fields) and all("type" not in branch.says and branch.narrows(fields) for branch in beside)


# --- what asserts nothing ---


def says_nothing(schema: Any) -> bool:
    """Whether a schema certainly accepts every value."""
    return schema is True or (is_object(schema) and all(is_idle(schema, key) for key in schema if key in ASSERTIONS))


def is_idle(schema: Schema, keyword: str) -> bool:
    """Whether an assertion, with the value it has, rejects nothing."""
    value = schema[keyword]
    match keyword:
        case "additionalProperties" | "items" | "propertyNames" | "unevaluatedItems" | "unevaluatedProperties":
            return says_nothing(value)
        case "properties" | "patternProperties" | "dependentSchemas":
            return all(map(says_nothing, value.values()))
        case "prefixItems" | "allOf":
            return all(map(says_nothing, value))
        case "anyOf":
            return any(map(says_nothing, value))
        case "required" | "uniqueItems" | "minItems" | "minLength" | "minProperties" | "not":
            return not value and value != {}
        case "dependentRequired":
            return not any(value.values())
        case "if":
            return "then" not in schema and "else" not in schema
        case "then" | "else":
            return True  # the keyword `if` decides it
        case "minContains" | "maxContains":
            return "contains" not in schema
        case _:
            return False
