"""Variants of unions and their bodies: the intersection of two schemas of one object, and which bodies become one with their variant.

A definition is such a body if one branch of one union refers to it, and nothing else does. If a second branch, a field or a method
refers to it, it stays a definition of its own, beside those of its variants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final

from acpgen.input.equality import is_equal
from acpgen.input.schema_nodes import Schemas
from acpgen.input.step_budget import spend
from acpgen.input.tagged_unions import find_branches, find_constant, find_lone_reference, list_type_names, list_types
from acpgen.input.walk import (
    Schema,
    asserts,
    find_cycles,
    find_reachable,
    is_array,
    is_object,
    list_references,
    select_annotations,
    select_assertions,
)


def find_variant_bodies(
    schemas: Schemas, root: Schema, *, framing: Collection[str], alone: Collection[str]
) -> tuple[Mapping[tuple[str, int], str], Mapping[str, int]]:
    """The body that only one branch refers to, by union and index of the branch, and the number of owners above each body.

    `framing` definitions own nothing; those in `alone` have no owner.
    """
    edges = {name: [*list_references(schema)] for name, schema in schemas.written.items()}
    of_root = [*list_references(root)]
    count = Counter(name for names in (of_root, *edges.values()) for name in names)
    has_owner = {*edges} - _find_entries(edges, of_root) - {*alone}
    branches: dict[str, tuple[str, int]] = {}
    for union, node in schemas.items():
        for index, branch in enumerate(node.branches if union not in framing else ()):
            bodies = [part.reference for part in branch.parts if part.reference is not None]
            if len(bodies) == 1 and bodies[0] != union and count[bodies[0]] == 1 and bodies[0] in has_owner:
                branches[bodies[0]] = (union, index)
    above = {
        name: find_reachable([name], lambda body: [branches[body][0]] if body in branches else []) for name in branches
    }
    depths = {name: len(owners) - 1 for name, owners in above.items() if any(owner not in branches for owner in owners)}
    return {branches[name]: name for name in depths}, depths


def _find_entries(edges: Mapping[str, Collection[str]], of_root: Collection[str]) -> frozenset[str]:
    """The definitions to which nothing leads but what they lead to themselves: a message may be each of them, without a tag."""
    components = {name: number for number, names in enumerate(find_cycles(edges)) for name in names}
    entered = {components[target] for name in edges for target in edges[name] if components[target] != components[name]}
    entered.update(components[name] for name in of_root)
    return frozenset(name for name in edges if components[name] not in entered)


def subtract_body(whole: Schema, body: str) -> Schema:
    """What a branch demands in addition to its body."""
    demands = {key: value for key, value in whole.items() if key not in ("$ref", "allOf")}
    if "$ref" in whole and find_lone_reference({"$ref": whole["$ref"]}) != body:
        demands["$ref"] = whole["$ref"]
    parts = [part for part in whole.get("allOf", ()) if find_lone_reference(part) != body]
    return {**demands, "allOf": parts} if parts else demands


def merge_body(body: Schema, demands: Schema, definitions: Mapping[str, Schema]) -> Schema | None:
    """The body merged with what its variant demands in addition; `None` if one schema cannot express both.

    Annotations of the body take precedence.
    """
    if not is_mergeable(body, demands) or (find_branches(body) is not None and find_branches(demands) is not None):
        return None
    combined = merge(body, demands, definitions)
    annotation_keywords = {
        key: value for key, value in demands.items() if key.startswith("x-") and key != "x-name" and not asserts(key)
    }
    annotation_keywords |= select_annotations(body)
    if is_array(annotation_keywords.get("examples")):
        annotation_keywords["examples"] = [
            whole for example in annotation_keywords["examples"] if (whole := _complete(example, combined)) is not None
        ]
    return {**annotation_keywords, **select_assertions(combined)}


def _complete(example: Any, schema: Schema) -> Any:
    """An example of a body completed with the variant's tag; `None` if other required members are missing."""
    if not is_object(example):
        return None
    tags = {
        name: value for name, sub in schema.get("properties", {}).items() if (value := find_constant(sub)) is not None
    }
    required = schema.get("required", ())
    whole = {**{name: value for name, value in tags.items() if name in required}, **example}
    return whole if all(name in whole for name in required) else None


# --- the intersection of two schemas of one object ---


def merge(base: Schema, branch: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """One object schema that demands what both demand; tags come first, and annotations of `branch` take precedence."""
    spend(1 + len(base.get("properties", ())) + len(branch.get("properties", ())))
    result = select_annotations(branch)
    result["type"] = "object"
    branch_fields, base_fields = branch.get("properties", {}), base.get("properties", {})
    tags = {name: sub for name, sub in {**base_fields, **branch_fields}.items() if find_constant(sub) is not None}
    properties = {
        name: _intersect(base_fields[name], sub, definitions) if name in base_fields and name in branch_fields else sub
        for name, sub in tags.items()
    }
    for name, sub in {**base_fields, **branch_fields}.items():
        if name not in properties:
            is_shared = name in base_fields and name in branch_fields
            properties[name] = _intersect(base_fields[name], branch_fields[name], definitions) if is_shared else sub
    if properties:
        result["properties"] = properties
    required = dict.fromkeys([*branch.get("required", ()), *base.get("required", ())])
    if required:
        result["required"] = [name for name in properties if name in required] + [
            n for n in required if n not in properties
        ]
    for schema in (base, branch):
        for key, value in schema.items():
            if key in ("properties", "required", "type") or not asserts(key):
                continue
            if key == "$ref":
                result.setdefault("allOf", []).append({"$ref": value})
            elif key == "allOf":
                result.setdefault("allOf", []).extend(value)
            elif key == "unevaluatedProperties" and value is True:
                continue
            elif key == "additionalProperties":
                result[key] = next(iter(_list_rests(base, branch)), value)
            elif key in result and not is_equal(result[key], value):
                result.setdefault("allOf", []).append({key: value})
            else:
                result[key] = value
    spend(2 * len(result.get("allOf", ())))
    if "allOf" in result:  # at the end, where a reader expects it
        result["allOf"] = list({repr(part): part for part in result.pop("allOf")}.values())
    return result


def is_mergeable(left: Schema, right: Schema) -> bool:
    """Whether two schemas for one object can be merged into one schema object.

    They cannot if keywords on undeclared fields, or keywords that depend on others, would change their meaning.
    """
    if not _CONDITIONAL.isdisjoint(left) and not _CONDITIONAL.isdisjoint(right):
        return False
    if not all("object" in list_types(schema) for schema in (left, right) if "type" in schema):
        return False  # one of them takes no object
    rests, patterns = (
        _list_rests(left, right),
        [schema["patternProperties"] for schema in (left, right) if "patternProperties" in schema],
    )
    if rests and not (is_equal(rests[0], rests[-1]) and (not patterns or is_equal(patterns[0], patterns[-1]))):
        return False
    return all(_leaves_alone(first, second) for first, second in ((left, right), (right, left)))


def _list_rests(*schemas: Schema) -> list[Any]:
    """The `additionalProperties` of those schemas that restrict them."""
    return [
        schema["additionalProperties"]
        for schema in schemas
        if schema.get("additionalProperties", True) not in (True, {})
    ]


def _leaves_alone(schema: Schema, addition: Schema) -> bool:
    """Whether the meaning of a schema for undeclared fields stays the same if another one is merged with it."""
    if schema.get("unevaluatedProperties", True) is not True:
        return not any(asserts(key) and key not in ("required", "type") for key in addition)
    if schema.get("additionalProperties", True) in (True, {}):
        return True
    covers_names = set(addition.get("properties", ())) <= set(schema.get("properties", ()))
    return covers_names and addition.get("patternProperties", {}).keys() <= schema.get("patternProperties", {}).keys()


_CONDITIONAL: Final = frozenset({"if", "then", "else"})


def _intersect(base: Any, branch: Any, definitions: Mapping[str, Schema]) -> Any:
    """The schema of a property that both sides declare."""
    if is_equal(base, branch) or base is True or branch is True:
        return base if branch is True else branch
    if not is_object(base) or not is_object(branch):
        return False
    notes, demands = select_annotations(base), select_assertions(base)
    if not demands or _admits_all(demands, branch, definitions):
        return {**notes, **branch}
    if not any(asserts(key) for key in branch):
        return {**base, **branch}
    return {**notes, "allOf": [demands, branch]}


def _admits_all(demands: Schema, branch: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether a schema of types or constants alone certainly accepts all that `branch` accepts, considering only these."""
    reference = find_lone_reference(demands)
    if reference is not None:
        demands = select_assertions(definitions.get(reference, {}))
    constants = demands.get("enum")
    if demands.keys() <= {"type", "enum"} and is_array(constants) and find_constant(branch) is not None:
        return any(is_equal(find_constant(branch), value) for value in constants)
    if set(demands) != {"type"}:
        return False
    types, branch_types = list_type_names(demands), list_type_names(branch)
    if isinstance(find_constant(branch), str):
        return "string" in types
    return bool(branch_types) and set(branch_types) <= set(types)
