"""Yes or no first, then what is wrong, up to a limit: a message that is wrong in each of its items costs no more than one that is right.

pydantic keeps every error of a value, some hundred bytes each, and a wrong item takes three: `{},`. So the validators here are built from
the schemas of its own with one change. The first ends at the first wrong item of an array, and says whether a value is taken. The
second ignores what comes after so many errors, and says what is wrong with a value that the first has refused.

Each error holds a copy of the keys on the way to it, and a key of a map is as long as a peer likes. So the first tells one error for
each value of a map, and the second ignores values once those keys take too much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import CoreConfig, ErrorDetails, PydanticCustomError, SchemaValidator, core_schema

from .json_types import is_object
from .model import Reading

MOST: Final = 2_000
"""After so many errors the rest of a value is not looked at. Errors of one item are told whole."""
MOST_TEXT: Final = 1 << 18
"""How many characters the keys of maps in these errors may have; values behind more are not looked at."""


class Judge:
    """Judges values by a type, as strictly as records do."""

    __slots__ = ("_built", "_telling", "core_schema")

    def __init__(self, type_: Any) -> None:
        rebuild = getattr(type_, "model_rebuild", None)
        if rebuild is not None:
            rebuild()  # an adapter that builds the record itself forgets its configuration
        self.core_schema: Final[Mapping[str, Any]] = dict(
            TypeAdapter(type_, config=None if rebuild is not None else _TOLD).core_schema
        )
        self._built: SchemaValidator | None = None
        self._telling: SchemaValidator | None = None

    def decoded(self, value: Any, reading: Reading | None = None) -> Any:
        """The value as its type has it. Raises `ValidationError` with some of what is wrong."""
        return self._general.validate_python(value, context=reading, by_alias=True, by_name=False)

    def takes(self, value: Any) -> bool:
        """Whether a value is one of the type."""
        return self._general.isinstance_python(value, by_alias=True, by_name=False)

    @property
    def _general(self) -> SchemaValidator:
        if self._built is None:
            self._built = _validator(changed(self.core_schema, _ended_early))
        return self._built

    def errors(self, value: Any) -> list[ErrorDetails]:
        """What is wrong with a value that is not taken, up to a limit. Empty where that cannot be told in so many steps."""
        if self._telling is None:
            self._telling = _validator(changed(self.core_schema, _counted))
        try:
            self._telling.validate_python(value, context=Reading(), by_alias=True, by_name=False)
        except ValidationError as error:
            return error.errors(include_url=False)
        except RecursionError:
            return []
        return []


_TOLD: Final = ConfigDict(strict=True, allow_inf_nan=False, ser_json_inf_nan="constants")
STRICT: Final = CoreConfig(strict=True, allow_inf_nan=False, ser_json_inf_nan="constants")

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
    if not isinstance(schema.get("type"), str):  # names of fields or tags, with their schemas
        return {key: changed(part, change) for key, part in schema.items()}
    return change({key: part if key in _NO_SCHEMAS else changed(part, change) for key, part in schema.items()})


def _ended_early(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value that is refused at the first of its items that is wrong, with one error of each value of a map."""
    made, named = fail_fast(schema), _VALUES.get(schema["type"])
    if named not in schema:
        return made
    return {**made, named: core_schema.no_info_wrap_validator_function(_with_one_error, schema[named])}


def fail_fast(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value that is refused at the first of its items that is wrong."""
    return {**schema, "fail_fast": True} if schema["type"] in ("list", "dict", "tuple") else schema


def with_short_keys(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a map that is refused where a key is long, whatever stands there."""
    if _VALUES.get(schema["type"]) not in schema:
        return schema
    return _wrapped(schema, lambda inner: core_schema.no_info_before_validator_function(_refuse_long_keys, inner))


def _wrapped(schema: dict[str, Any], wrap: Callable[[Any], Any]) -> dict[str, Any]:
    """A schema with a function around it, which takes over the name by which others refer to the schema."""
    around = dict(wrap({key: part for key, part in schema.items() if key != "ref"}))
    return {**around, "ref": schema["ref"]} if "ref" in schema else around


_VALUES: Final = {"dict": "values_schema", "model-fields": "extras_schema"}
"""What a map calls the schema of its values, and a record that of its further fields."""


def _with_one_error(value: Any, handler: core_schema.ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("value", "the value is not what stands here") from None


def _refuse_long_keys(value: Any) -> Any:
    if is_object(value) and _longest_key(value) > _SHORT:
        raise PydanticCustomError("key", "a key is long")
    return value


_SHORT: Final = 1_000


def _longest_key(value: Mapping[str, Any]) -> int:
    return max(map(len, value), default=0)


def _counted(schema: dict[str, Any]) -> dict[str, Any]:
    match schema["type"]:
        case "list":
            return (
                {**schema, "items_schema": _with_count(schema["items_schema"])} if "items_schema" in schema else schema
            )
        case "dict" | "model-fields":
            named = _VALUES[schema["type"]]
            if named not in schema:
                return schema
            made = {**schema, named: _with_count(schema[named])}
            return _wrapped(made, lambda inner: core_schema.with_info_wrap_validator_function(_keyed, inner))
        case "tuple":
            return {**schema, "items_schema": [_with_count(item) for item in schema["items_schema"]]}
        case _:
            return schema


def _keyed(value: Any, handler: core_schema.ValidatorFunctionWrapHandler, info: core_schema.ValidationInfo[Any]) -> Any:
    reading: Reading = info.context
    before = reading.keys
    reading.keys = before + (_longest_key(value) if is_object(value) else 0)
    try:
        return handler(value)
    finally:
        reading.keys = before


def _with_count(schema: Any) -> core_schema.CoreSchema:
    return core_schema.with_info_wrap_validator_function(_count, schema)


def _count(value: Any, handler: core_schema.ValidatorFunctionWrapHandler, info: core_schema.ValidationInfo[Any]) -> Any:
    reading: Reading = info.context
    before, text = reading.errors, reading.text
    if before >= MOST or text + reading.keys > MOST_TEXT:
        return value
    try:
        return handler(value)
    except ValidationError as error:
        reading.errors = max(reading.errors, before + error.error_count())
        reading.text = max(reading.text, text + reading.keys * error.error_count())
        raise
