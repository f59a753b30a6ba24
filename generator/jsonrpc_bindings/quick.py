"""The quick way to read a value: by pydantic's core alone, which follows tags, tells fields and refuses without a step in Python.

What is taken is what the general way takes, as the same records; what is refused may still be right, and is read again the general way. So
a schema is changed here only to what takes less: a non-string tag, a variant by default, a long key of a map and an unknown field
that is called like a field in Python are left to the general way, and so is each type whose values are checked by more than their types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import CoreConfig, PydanticKnownError, SchemaValidator, core_schema

from .judging import STRICT, changed, fail_fast, with_short_keys
from .markers import FALLBACK, Discriminator
from .model import AsItCame, Namesakes, Settled, Unknown


def quick_validator(schema: Mapping[str, Any]) -> SchemaValidator | None:
    """A validator of plain JSON values, parsed or as text, by the schema of a type; `None` where only the general way is sure."""
    known = {one["ref"]: one for one in schema.get("definitions", ())}
    try:
        return SchemaValidator(changed(schema, lambda part: _named(part, known)), _CONFIG, _use_prebuilt=False)
    except (_General, TypeError):  # TypeError: this release of pydantic would use what the classes were built with
        return None


_CONFIG: Final[CoreConfig] = {**STRICT, "validate_by_name": False, "validate_by_alias": True}


class _General(Exception):
    """A schema that only the general way reads."""


def _named(schema: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The quick form of a schema, under the name by which others refer to it."""
    made = _quickly(schema, known)
    return {**made, "ref": schema["ref"]} if "ref" in schema else made


def _quickly(schema: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    match schema["type"]:
        case "model":
            config = {**schema.get("config", {}), "validate_by_name": False, "validate_by_alias": True}
            return {**schema, "config": config}
        case "tagged-union" if isinstance(schema["discriminator"], Discriminator):
            return _by_tag(schema, schema["discriminator"], known)
        case "function-wrap":
            if isinstance(schema["function"]["function"], AsItCame):
                return dict(schema["schema"])
            raise _General
        case "function-plain" if isinstance(schema["function"]["function"], Namesakes):
            return _others(schema["function"]["function"])
        case "function-after" if isinstance(schema["function"]["function"], Settled):
            return dict(schema["schema"])
        case "function-before" | "function-after" | "function-plain" if schema["function"]["type"] != "no-info":
            raise _General
        case _:
            return with_short_keys(fail_fast(schema))


def _by_tag(schema: dict[str, Any], discriminator: Discriminator, known: Mapping[str, Any]) -> dict[str, Any]:
    """A union whose variant is told by the core; with the class for unknown variants where no known one fits that."""
    choices = {tag: schema["choices"][label] for tag, label in discriminator.quick.items()}
    if not choices:
        return schema
    union: Any = {**schema, "choices": choices, "discriminator": discriminator.field}
    fallback = schema["choices"].get(FALLBACK)
    model = _model(fallback, known)
    if model is None or not issubclass(model, Unknown) or not choices.keys() <= model.known_tags:
        return dict(union)
    union.pop("ref", None)
    return dict(core_schema.union_schema([union, fallback], mode="left_to_right"))


def _model(schema: Any, known: Mapping[str, Any]) -> type[Any] | None:
    """The class that a schema reads, if it is one."""
    while schema is not None and schema["type"] in ("definition-ref", "function-after", "definitions"):
        schema = known.get(schema["schema_ref"]) if schema["type"] == "definition-ref" else schema["schema"]
    return schema["cls"] if schema is not None and schema["type"] == "model" else None


def _others(namesakes: Namesakes) -> dict[str, Any]:
    """The unknown fields but those that the general way makes a note of."""
    names = namesakes.names

    def read(key: str) -> str:
        if key in names:
            raise PydanticKnownError("extra_forbidden")
        return key

    return dict(core_schema.no_info_plain_validator_function(read))
