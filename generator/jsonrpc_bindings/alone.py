"""Records that are a variant of a union and stand alone as well. Their tag is written where they are a variant, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

from pydantic import BaseModel, GetCoreSchemaHandler, ValidationError
from pydantic_core import InitErrorDetails, core_schema

from .json_types import is_object
from .model import variant_tag, wire_names

_Handler = core_schema.SerializerFunctionWrapHandler


class Alone(NamedTuple):
    """Such a record where it stands alone, as in `Annotated[ToolCallUpdate, Alone("sessionUpdate")]`.

    The tag of its variant is not written. A member of that name is one that the schema does not know here.
    """

    field: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            _Reading(self.field, source),
            handler(source),
            serialization=core_schema.wrap_serializer_function_ser_schema(Writing(self.field, None)),
        )


def as_variant(branch: Any, field: str, tag: Any, schema: core_schema.CoreSchema) -> core_schema.CoreSchema:
    """The schema of a union's branch, which writes the tag if the record does not have it of itself."""
    if not isinstance(branch, type) or variant_tag(branch) != field:
        return schema
    return written_by(Writing(field, tag), schema)


def written_by(writing: Writing | WritingOther, schema: core_schema.CoreSchema) -> core_schema.CoreSchema:
    """The schema of a union's branch that is written in a way of its own."""
    serialization = core_schema.wrap_serializer_function_ser_schema(writing)
    if schema["type"] != "definition-ref":
        return core_schema.no_info_after_validator_function(_same, schema, serialization=serialization)
    return cast("core_schema.CoreSchema", {**schema, "serialization": serialization})


def _same(value: Any) -> Any:
    return value


class _Reading:
    """Reads a record that stands alone: a member that is called like the tag is kept, dropped or refused like any unknown one."""

    __slots__ = ("field", "model")

    def __init__(self, field: str, model: type[BaseModel]) -> None:
        self.field: Final = field
        self.model: Final = model

    def __call__(self, value: Any, handler: Callable[[Any], Any]) -> Any:
        if not is_object(value) or self.field not in value:
            return handler(value)
        stray = value[self.field]
        unknown = self.model.model_config.get("extra")
        if unknown == "forbid":
            error = InitErrorDetails(type="extra_forbidden", loc=(self.field,), input=stray)
            raise ValidationError.from_exception_data(self.model.__name__, [error])
        record = handler({key: item for key, item in value.items() if key != self.field})
        if unknown == "allow":
            record.__pydantic_extra__[self.field] = stray
            record.__pydantic_fields_set__.add(self.field)
        return record


class WritingOther:
    """Writes a record of one branch of a union; refuses it where `branch_of` names another, as a tag in `model_extra` makes it."""

    __slots__ = ("__name__", "branch", "branch_of")

    def __init__(self, branch_of: Callable[[Any], str | None], branch: str) -> None:
        self.__name__: Final = f"as {branch}"
        self.branch_of: Final = branch_of
        self.branch: Final = branch

    def __call__(self, record: Any, handler: _Handler) -> Any:
        if isinstance(record, BaseModel) and self.branch_of(record) != self.branch:
            raise ValueError("its tag is that of another variant")
        return handler(record)

    def leaves(self, record: BaseModel) -> bool:
        """Whether a record is written as it is, whatever it holds."""
        return not record.__pydantic_extra__


class Writing:
    """Writes a record with a tag, or without where that is `None`."""

    __slots__ = ("__name__", "field", "names", "tag")

    def __init__(self, field: str, tag: Any) -> None:
        self.__name__: Final = f"as if {field} were {tag!r}"
        self.field: Final = field
        self.tag: Final = tag
        self.names: dict[type[BaseModel], str] = {}

    def __call__(self, record: Any, handler: _Handler) -> Any:
        return handler(self._settled(record) if isinstance(record, BaseModel) else record)

    def leaves(self, record: BaseModel) -> bool:
        """Whether a record is written as it is."""
        return self._settled(record) is record

    def _settled(self, record: BaseModel) -> BaseModel:
        model = type(record)
        if variant_tag(model) != self.field:
            return record
        name = self.names.get(model)
        if name is None:
            wire = wire_names(model)
            name = self.names[model] = next(one for one in wire if wire[one] == self.field)
        is_set, held = name in record.__pydantic_fields_set__, record.__dict__[name]
        if self.tag is None:
            if not is_set or held != model.__pydantic_fields__[name].default:
                return record
            record = record.model_copy()
            record.__pydantic_fields_set__.discard(name)
            return record
        is_stray = self.field in (record.__pydantic_extra__ or {})
        if is_set and held == self.tag and not is_stray:
            return record
        record = record.model_copy()
        object.__setattr__(record, name, self.tag)
        record.__pydantic_fields_set__.add(name)
        if is_stray:
            (record.__pydantic_extra__ or {}).pop(self.field)
        return record
