"""Constants of schemas, and keywords that assert nothing with the value they have."""

from __future__ import annotations

from typing import Any

from acpgen import ir
from acpgen.input.equality import key_of, kind_of, same, whole
from acpgen.input.tagged_unions import constant
from acpgen.input.walk import ASSERTIONS, Schema, is_array, is_object


def values(schema: Schema) -> list[Any] | None:
    """The constants that `const` and `enum` of a schema allow; `None` if it has neither."""
    if "const" in schema and is_array(schema.get("enum")):
        return [schema["const"]] if any(same(schema["const"], value) for value in schema["enum"]) else []
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if is_array(schema.get("enum")) else None


def keys(schema: Any) -> set[Any] | None:
    """The equality keys of the constants of a schema; `None` if it lists none, or if some of them are not scalars."""
    constants = values(schema) if is_object(schema) else None
    if constants is None or any(isinstance(value, dict | list) for value in constants):
        return None
    return {key_of(value) for value in constants}


def example(branch: Schema) -> Any:
    """An example value of a branch of an enumeration."""
    value = constant(branch)
    return value if value is not None else "" if branch.get("type") == "string" else 0


def overlap(enum_values: list[ir.EnumValue], base: ir.Type | None) -> bool:
    """Whether some value matches two branches of an enumeration."""
    distinct = {key_of(value.value) for value in enum_values}
    kind = None if base is None else "string" if base == ir.String() else "number"
    return len(distinct) < len(enum_values) or any(kind_of(value.value) == kind for value in enum_values)


def any_like(constants: list[Any]) -> ir.Type:
    """A type of all values that have the JSON type of one of the constants."""
    kinds = {kind_of(value) for value in constants}
    scalars = tuple(value for value in constants if kind_of(value) not in ("object", "array", "null"))
    types: list[ir.Type] = [
        *([ir.Constant(scalars)] if scalars else []),
        *([ir.Array(ir.Anything())] if "array" in kinds else []),
        *([ir.Map(ir.Anything())] if "object" in kinds else []),
        *([ir.Null()] if "null" in kinds else []),
    ]
    return types[0] if len(types) == 1 else ir.AnyOf(tuple(types))


def count(schema: Schema, keyword: str) -> int | None:
    """The value of a length limit as an integer, `None` if absent; JSON Schema admits 2.0 for 2."""
    return whole(schema[keyword]) if keyword in schema else None


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
            return True  # told by `if`
        case "minContains" | "maxContains":
            return "contains" not in schema
        case _:
            return False
