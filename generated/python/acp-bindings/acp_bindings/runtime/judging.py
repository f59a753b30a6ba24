"""Yes or no first, then what is wrong, up to a limit: a message that is wrong in each of its items costs no more than one that is right.

pydantic keeps every error of a value, some hundred bytes each, and a wrong item takes three: `{},`. So the validators here are built from
the schemas of its own with one change. The first ends at the first wrong item of an array, and says whether a value is taken. The
second passes over what comes after so many errors, and says what is wrong with a value that the first has refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import CoreConfig, ErrorDetails, SchemaValidator, core_schema

from .json_types import is_object
from .model import Reading

MOST: Final = 2_000
"""After so many errors the rest of a value is not looked at. Errors of one item are told whole."""


class Judge:
    """Judges values by a type, as strictly as records do."""

    __slots__ = ("_built", "_telling", "core_schema")

    def __init__(self, type_: Any) -> None:
        rebuild = getattr(type_, "model_rebuild", None)
        if rebuild is not None:
            rebuild()  # an adapter that builds the record itself forgets its configuration
        self.core_schema: Final[Mapping[str, Any]] = dict(
            TypeAdapter(
                type_, config=None if rebuild is not None else _TOLD
            ).core_schema
        )
        self._built: SchemaValidator | None = None
        self._telling: SchemaValidator | None = None

    def decoded(self, value: Any, reading: Reading | None = None) -> Any:
        """The value as its type has it. Raises `ValidationError` with some of what is wrong."""
        return self._general.validate_python(
            value, context=reading, by_alias=True, by_name=False
        )

    def takes(self, value: Any) -> bool:
        """Whether a value is one of the type."""
        return self._general.isinstance_python(value, by_alias=True, by_name=False)

    @property
    def _general(self) -> SchemaValidator:
        if self._built is None:
            self._built = _validator(changed(self.core_schema, ended_early))
        return self._built

    def errors(self, value: Any) -> list[ErrorDetails]:
        """What is wrong with a value that is not taken, up to a limit. Empty where that cannot be told in so many steps."""
        if self._telling is None:
            self._telling = _validator(changed(self.core_schema, _counted))
        try:
            self._telling.validate_python(
                value, context=Reading(), by_alias=True, by_name=False
            )
        except ValidationError as error:
            return error.errors(include_url=False)
        except RecursionError:
            return []
        return []


_TOLD: Final = ConfigDict(
    strict=True, allow_inf_nan=False, ser_json_inf_nan="constants"
)
STRICT: Final = CoreConfig(
    strict=True, allow_inf_nan=False, ser_json_inf_nan="constants"
)

Change = Callable[[dict[str, Any]], dict[str, Any]]

_NO_SCHEMAS: Final = frozenset(
    {
        "metadata",
        "serialization",
        "config",
        "default",
        "default_factory",
        "expected",
        "cls",
        "function",
        "discriminator",
    }
)
"""What a schema of pydantic has beside schemas."""


def _validator(schema: Any) -> SchemaValidator:
    """A validator of a schema, which is not to use what the classes below were built with.

    What records share stands beside them, out of reach of their own configuration. A release of pydantic that cannot leave aside what was
    built judges the same, and only the bound is lost.
    """
    try:
        return SchemaValidator(schema, STRICT, _use_prebuilt=False)
    except TypeError:
        return SchemaValidator(schema, STRICT)


def changed(schema: Any, change: Change) -> Any:
    """The schema with a change in each schema that it holds."""
    if isinstance(schema, list | tuple):
        parts = [changed(part, change) for part in cast("list[Any]", schema)]
        return parts if isinstance(schema, list) else tuple(parts)
    if not is_object(schema):
        return schema
    if not isinstance(
        schema.get("type"), str
    ):  # names of fields or tags, with their schemas
        return {key: changed(part, change) for key, part in schema.items()}
    return change(
        {
            key: part if key in _NO_SCHEMAS else changed(part, change)
            for key, part in schema.items()
        }
    )


def ended_early(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value that is refused at the first of its items that is wrong."""
    return (
        {**schema, "fail_fast": True}
        if schema["type"] in ("list", "dict", "tuple")
        else schema
    )


def _counted(schema: dict[str, Any]) -> dict[str, Any]:
    match schema["type"]:
        case "list" | "dict" | "model-fields":
            named = {"list": "items_schema", "dict": "values_schema"}.get(
                schema["type"], "extras_schema"
            )
            return (
                {**schema, named: _with_count(schema[named])}
                if named in schema
                else schema
            )
        case "tuple":
            return {
                **schema,
                "items_schema": [_with_count(item) for item in schema["items_schema"]],
            }
        case _:
            return schema


def _with_count(schema: Any) -> core_schema.CoreSchema:
    return core_schema.with_info_wrap_validator_function(_count, schema)


def _count(
    value: Any,
    handler: core_schema.ValidatorFunctionWrapHandler,
    info: core_schema.ValidationInfo[Any],
) -> Any:
    reading: Reading = info.context
    before = reading.errors
    if before >= MOST:
        return value
    try:
        return handler(value)
    except ValidationError as error:
        reading.errors = max(reading.errors, before + error.error_count())
        raise
