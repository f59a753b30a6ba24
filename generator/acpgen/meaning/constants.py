"""Constants of schemas, and keywords that refuse nothing as they stand."""

from __future__ import annotations

from typing import Any

from acpgen import ir
from acpgen.input.equality import key_of, kind_of, same, whole
from acpgen.input.tagged_unions import constant
from acpgen.input.walk import ASSERTIONS, Schema, is_array, is_object


def values(schema: Schema) -> list[Any] | None:
    """The constants that a schema lists; `None` where it lists none."""
    if "const" in schema and is_array(schema.get("enum")):
        return [schema["const"]] if any(same(schema["const"], value) for value in schema["enum"]) else []
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if is_array(schema.get("enum")) else None


def keys(schema: Any) -> set[Any] | None:
    """The constants that a schema lists, by what tells them apart; `None` where it lists none, or some that are no scalars."""
    listed = values(schema) if is_object(schema) else None
    if listed is None or any(isinstance(value, dict | list) for value in listed):
        return None
    return {key_of(value) for value in listed}


def example(branch: Schema) -> Any:
    """A value of a branch of an enumeration."""
    value = constant(branch)
    return value if value is not None else "" if branch.get("type") == "string" else 0


def overlap(listed: list[ir.EnumValue], base: ir.Type | None) -> bool:
    """Whether some value is of two branches of an enumeration."""
    known = {key_of(value.value) for value in listed}
    kind = None if base is None else "string" if base == ir.String() else "number"
    return len(known) < len(listed) or any(kind_of(value.value) == kind for value in listed)


def any_like(listed: list[Any]) -> ir.Type:
    """A type of all values of the JSON types that some constants have."""
    accepted = {kind_of(value) for value in listed}
    scalars = tuple(value for value in listed if kind_of(value) not in ("object", "array", "null"))
    types: list[ir.Type] = [
        *([ir.Constant(scalars)] if scalars else []),
        *([ir.Array(ir.Anything())] if "array" in accepted else []),
        *([ir.Map(ir.Anything())] if "object" in accepted else []),
        *([ir.Null()] if "null" in accepted else []),
    ]
    return types[0] if len(types) == 1 else ir.AnyOf(tuple(types))


def count(schema: Schema, keyword: str) -> int | None:
    """A limit of a length; JSON Schema admits 2.0 for 2."""
    return whole(schema[keyword]) if keyword in schema else None


def says_nothing(schema: Any) -> bool:
    """Whether a schema surely accepts every value."""
    return schema is True or (is_object(schema) and all(is_idle(schema, key) for key in schema if key in ASSERTIONS))


def is_idle(schema: Schema, keyword: str) -> bool:
    """Whether an assertion refuses nothing as it stands."""
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
            return True  # told by `if`
        case "minContains" | "maxContains":
            return "contains" not in schema
        case _:
            return False
