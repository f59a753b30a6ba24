"""The base classes of generated records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic_core import MISSING, core_schema

from .constructing import Taken
from .core_schemas import model_parts
from .described import ConstructorSignature, Fields
from .json_types import Scalar, comparable, is_array, is_object
from .published import record_schema
from .references import nest

__all__ = ["MISSING", "Excluding", "Model", "Reading", "Unknown", "UnknownTag"]

if TYPE_CHECKING:
    UnknownTag: TypeAlias = Literal["(unknown)"]
else:
    UnknownTag = str
"""The tag of an unknown variant. For a type checker it is a constant that no known tag is, so that `update.session_update == "tool_call"`
leaves one variant. It is text, which `Unknown.tag` has.
"""


class Model(BaseModel):
    """A record of the protocol.

    A field that was omitted holds its default or `MISSING`, and is omitted again when the record is encoded. Fields that the schema does
    not know are kept in `model_extra` when a message is decoded. A constructor takes fields by their Python names or by the schema's, and
    further ones in `extra`; other names raise `ValidationError`. On the wire only the schema's names count.
    """

    if TYPE_CHECKING:
        extra: InitVar[Mapping[str, Any]] = Field(default={}, kw_only=True)

    model_config = ConfigDict(
        extra="allow",
        strict=True,
        allow_inf_nan=False,
        validate_assignment=True,
        serialize_by_alias=True,
        ser_json_inf_nan="constants",
        defer_build=True,
        protected_namespaces=(),
        polymorphic_serialization=True,
    )

    def __init__(self, /, **data: Any) -> None:
        model = type(self)
        data = taken(model).arguments(model, data)
        for name, wire, value in _constants(model):
            if name not in data and wire not in data:
                data[name] = value
        self.__pydantic_validator__.validate_python(data, self_instance=self, by_alias=True, by_name=True)

    def __init_subclass__(cls, **settings: Any) -> None:
        """A class of somebody's own has the fields of its base, whose types are named where that is."""
        super().__init_subclass__(**settings)
        if (
            "__pydantic_extra__" in cls.__dict__
        ):  # what a class says of its further fields would hide the slot that holds them
            type.__delattr__(cls, "__pydantic_extra__")
        for base in cls.__bases__:
            if base.__module__ != cls.__module__ and issubclass(base, Model) and not base.__pydantic_fields_complete__:
                base.model_rebuild()

    # Decoding does not go through `__init__`: what was omitted on the wire stays omitted.
    __init__.__dict__["__pydantic_base_init__"] = True

    if not TYPE_CHECKING:  # the signatures are pydantic's, the defaults ours

        def __setattr__(self, name: str, value: Any) -> None:
            model = type(self)
            field = model.__pydantic_fields__.get(name)
            if field is None:
                if not (name.startswith("_") or name in (self.__pydantic_extra__ or ()) or _is_own(model, name)):
                    taken(model).attribute(model, name, value)
                super().__setattr__(name, value)
            elif field.frozen or model.model_config.get("frozen"):
                super().__setattr__(name, value)
            else:  # as pydantic, but by the names that a constructor takes
                self.__pydantic_validator__.validate_assignment(self, name, value, by_alias=True, by_name=True)

        def __delattr__(self, name: str) -> None:
            """Leave a field out again: it holds what it held before it was set. Raises `AttributeError` for one that is required."""
            model = type(self)
            field = model.__pydantic_fields__.get(name)
            if field is None or field.frozen or model.model_config.get("frozen"):
                super().__delattr__(name)
            elif field.is_required() or any(name == one for one, _, _ in _constants(model)):
                raise AttributeError(f"the field {name!r} is required")
            else:
                self.__dict__[name] = field.get_default(call_default_factory=True, validated_data={})
                self.__pydantic_fields_set__.discard(name)

        @classmethod
        def model_validate(cls, obj: Any, **options: Any) -> Self:
            """Read a Python value by the names of the schema, as `decode_as` does; `by_name=True` takes those of Python too."""
            return super().model_validate(obj, **_noted(options))

        @classmethod
        def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
            """The same of JSON text."""
            return super().model_validate_json(json_data, **_noted(options))

        def model_dump(self, **options: Any) -> dict[str, Any]:
            """What `encode` writes, as Python values; `exclude_unset=False` adds the defaults."""
            return super().model_dump(**{"exclude_unset": True, **options})

        def model_dump_json(self, **options: Any) -> str:
            """The same as JSON text."""
            return super().model_dump_json(**{"exclude_unset": True, **options})

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        super().__pydantic_on_complete__()
        if "__signature__" in cls.__dict__:
            del cls.__signature__  # pydantic's, by wire names

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> dict[str, Any]:
        return record_schema(cls, wire_names(cls), schema, handler) or handler(schema)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with other values of some fields, which are not checked. Raises `ValidationError` for names that are no fields of it."""
        if update:
            model, names = type(self), taken(type(self))
            kept = self.__pydantic_extra__ or {}
            names.refuse(model, {name: value for name, value in update.items() if name not in kept})
            update = {names.near.get(name, name): value for name, value in update.items()}
        return super().model_copy(update=update, deep=deep)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        ref = f"{cls.__module__}.{cls.__qualname__}:{id(cls)}"  # as pydantic calls it
        return nest(ref, lambda: cls._core_schema(source, handler), lambda: handler.generate_schema(cls), handler)

    @classmethod
    def _core_schema(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        schema = handler(source)
        outer, model, inner = model_parts(handler.resolve_ref_schema(schema))
        fields: dict[str, Any] = inner["fields"]
        if any(_is_changeable(field["schema"]) for field in fields.values()):
            model["serialization"] = core_schema.wrap_serializer_function_ser_schema(write_changed, info_arg=True)
        for name, _, _ in _constants(cls):  # unset is for constructing: the wire must have them
            if fields[name]["schema"]["type"] == "default":
                fields[name]["schema"] = fields[name]["schema"]["schema"]
        for field in fields.values() if variant_tag(cls) else ():
            if field.get("validation_alias") == variant_tag(cls):
                field["schema"]["schema"] = _as_it_came(field["schema"]["schema"])
        wire = {name: str(field.get("validation_alias", name)) for name, field in fields.items()}
        _WIRE_NAMES[cls] = wire
        if "extras_schema" in inner:
            _OF_MORE.add(cls)
        hidden = frozenset(name for name in wire if wire[name] != name)
        if hidden and cls.model_config.get("extra") == "allow" and "extras_keys_schema" not in inner:
            inner["extras_keys_schema"] = core_schema.no_info_plain_validator_function(Namesakes(hidden))
            outer["schema"] = core_schema.no_info_after_validator_function(Settled(hidden), inner)
        return schema


def _is_own(model: type[BaseModel], name: str) -> bool:
    """Whether an attribute is one of a class, which says itself what may be assigned to it."""
    return name in model.__class_vars__ or isinstance(getattr(model, name, None), property | cached_property)


# No annotations: pydantic evaluates those of a base once more for each class.
type.__setattr__(Model, "model_fields", Fields())
type.__setattr__(Model, "__signature__", ConstructorSignature())


def _noted(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a validation, with a context that says so unless there is one of somebody's own."""
    return {**options, "context": Noted() if options.get("context") is None else options["context"]}


def variant_tag(model: type) -> str:
    """The tag, by its wire name, of a record that is a variant and stands alone as well; empty for all others."""
    found: str = getattr(model, "_variant_tag", "")
    return found


def _as_it_came(schema: core_schema.CoreSchema) -> core_schema.CoreSchema:
    """The schema of such a tag: what is decoded alone may have any value there, since the schema does not know it."""
    written = core_schema.simple_ser_schema("any")
    return core_schema.with_info_wrap_validator_function(AsItCame(), schema, serialization=written)


class AsItCame:
    """Reads such a tag."""

    def __call__(
        self, value: Any, handler: core_schema.ValidatorFunctionWrapHandler, info: core_schema.ValidationInfo[Any]
    ) -> Any:
        return value if isinstance(info.context, Reading) else handler(value)


def _is_changeable(schema: Mapping[str, Any]) -> bool:
    """Whether the default of a field may be an object that can be changed in place."""
    return schema["type"] == "default" and ("default_factory" in schema or isinstance(schema["default"], list | dict))


def write_changed(
    record: Any, handler: core_schema.SerializerFunctionWrapHandler, info: core_schema.SerializationInfo[Any]
) -> Any:
    """Write a record; a default that was changed in place counts as set."""
    is_record = isinstance(record, BaseModel)  # else pydantic says what is wrong
    changed = changed_defaults(record) if is_record and info.exclude_unset else []
    if changed:
        record = record.model_copy()
        record.__pydantic_fields_set__.update(changed)
    return handler(record)


def changed_defaults(record: BaseModel) -> list[str]:
    """The fields that nobody set and whose value is no longer what the default makes: something in it was set."""
    fresh = _FRESH.get(type(record))
    if fresh is None:
        fresh = _fresh_defaults(type(record))
    known, held = record.__pydantic_fields_set__, record.__dict__
    return [name for name, made in fresh if name not in known and not _is_untouched(held.get(name, made), made)]


def _fresh_defaults(model: type[BaseModel]) -> tuple[tuple[str, Any], ...]:
    """The defaults that can be changed in place, as they are made. Nobody else holds them."""
    made: list[tuple[str, Any]] = [
        (name, field.get_default(call_default_factory=True))
        for name, field in model.__pydantic_fields__.items()
        if not field.is_required()
    ]
    _FRESH[model] = tuple(
        (name, value) for name, value in made if isinstance(value, BaseModel) or is_object(value) or is_array(value)
    )
    return _FRESH[model]


def _is_untouched(value: Any, made: Any) -> bool:
    """Whether a value is what a default makes: the same, and the same of it set."""
    if type(value) is not type(made):
        return False
    if isinstance(value, BaseModel):
        known = value.__pydantic_fields_set__
        return (
            known == made.__pydantic_fields_set__
            and _is_untouched(value.__pydantic_extra__ or {}, made.__pydantic_extra__ or {})
            and (not known or _is_untouched(value.__dict__, made.__dict__))
            and not changed_defaults(value)
        )
    if is_object(value):
        return value.keys() == made.keys() and all(_is_untouched(item, made[key]) for key, item in value.items())
    if is_array(value):
        return len(value) == len(made) and all(map(_is_untouched, value, made))
    return bool(value == made)


_FRESH: dict[type[BaseModel], tuple[tuple[str, Any], ...]] = {}


class Reading:
    """What is noted while one message is decoded: by `trial` what was checked; `errors` counts what is wrong in items with a limit,
    `keys` the characters of the keys of maps on the way, and `text` those in the errors.
    """

    trial: Any = None
    errors: int = 0
    keys: int = 0
    text: int = 0


class Noted(Reading):
    """What is noted while pydantic validates one record, which judges all in one go."""


class _Namesake(str):
    """The name of an unknown field that is called like a Python name: pydantic counts the field of that name as given."""

    __slots__ = ()


class Namesakes:
    """Marks such names of unknown fields."""

    __slots__ = ("names",)

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def __call__(self, key: str) -> str:
        return _Namesake(key) if key in self.names else key


class Settled:
    """Takes back that fields count as given where only an unknown field is called so."""

    __slots__ = ("names",)

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def __call__(self, read: tuple[dict[str, Any], dict[str, Any] | None, set[str]]) -> Any:
        _, extra, known = read
        if extra and not self.names.isdisjoint(extra):
            known -= {name for name in known if type(name) is _Namesake}  # one that is given was there before
            plain = {str(key): value for key, value in extra.items()}
            extra.clear()
            extra.update(plain)
        return read


def wire_names(model: type[BaseModel]) -> Mapping[str, str]:
    """The wire names of a record's fields by their Python names.

    The validator has them all; `model_fields` lacks those of fields whose types stand further down in the module.
    """
    if model not in _WIRE_NAMES:
        model.model_rebuild()
    return _WIRE_NAMES[model]


_WIRE_NAMES: dict[type[BaseModel], Mapping[str, str]] = {}

_TAKEN: dict[type[BaseModel], Taken] = {}


def taken(model: type[BaseModel]) -> Taken:
    """The names that the constructor of a record takes. A record that is made of further fields takes any."""
    found = _TAKEN.get(model)
    if found is None:
        wire = wire_names(model)
        anything = issubclass(model, Unknown) or model in _OF_MORE
        found = _TAKEN[model] = Taken(
            wire, anything=anything, drops=_drops(model), refuses=model.model_config.get("extra") == "forbid"
        )
    return found


def _drops(model: type[BaseModel]) -> bool:
    """Whether a record drops fields that the schema does not name."""
    return model.model_config.get("extra") == "ignore" or (issubclass(model, Excluding) and model.drops_unknown)


_OF_MORE: set[type[BaseModel]] = set()
"""The records whose schema gives the fields beyond the declared ones a type."""


_CONSTANTS: dict[type[Model], tuple[tuple[str, str, Any], ...]] = {}


def _constants(model: type[Model]) -> tuple[tuple[str, str, Any], ...]:
    """The required fields that can hold one value only, by Python and wire name: nobody needs to set them."""
    known = _CONSTANTS.get(model)
    if known is None:
        known = tuple(
            (name, field.alias or name, get_args(field.annotation)[0])
            for name, field in model.__pydantic_fields__.items()
            if get_origin(field.annotation) is Literal
            and len(get_args(field.annotation)) == 1
            and not field.is_required()
            and (field.alias or name) != variant_tag(model)
        )
        _CONSTANTS[model] = known
    return known


def needed(model: type[BaseModel]) -> frozenset[str]:
    """The fields, by Python name, without which a record is none on the wire: what is required, constants too."""
    found = _NEEDED.get(model)
    if found is None:
        required = {name for name, field in model.__pydantic_fields__.items() if field.is_required()}
        own = {name for name, _, _ in _constants(model)} if issubclass(model, Model) else set[str]()
        found = _NEEDED[model] = frozenset(required | own)
    return found


_NEEDED: dict[type[BaseModel], frozenset[str]] = {}


class Unknown(Model):
    """A variant of an open or tolerated union that this version of the protocol does not know, kept as it came."""

    unknown_tag_field: ClassVar[str]
    known_tags: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> dict[str, Any]:
        found = record_schema(cls, wire_names(cls), schema, handler)
        if found is None:  # receivers alone know it
            found = handler(schema)
            tag = found.get("properties", {}).get(getattr(cls, "unknown_tag_field", ""))
            if tag is not None and cls.known_tags:
                tag["not"] = {"enum": sorted(cls.known_tags)}
        return found

    @property
    def tag(self) -> str:
        """The tag, as it came."""
        return str(value_of(self, self.unknown_tag_field))

    @property
    def payload(self) -> dict[str, Any]:
        """The whole object as JSON, the tag included."""
        return self.model_dump(by_alias=True, exclude_unset=True)

    @property
    def is_extension(self) -> bool:
        """Whether the tag is somebody's extension: it begins with an underscore."""
        return self.tag.startswith("_")

    @property
    def is_reserved(self) -> bool:
        """Whether the tag belongs to a future version of the protocol: it does not begin with an underscore."""
        return not self.is_extension

    @model_validator(mode="after")
    def _refuse_known_tags(self) -> Unknown:
        if self.tag in self.known_tags:
            raise ValueError(f"the tag {self.tag!r} is known and has a class of its own")
        return self


class Excluding(Model):
    """A record that refuses some constants: with them, its object would be another variant.

    The constants may be of fields that it does not declare. `drops_unknown`: such fields are dropped once they were looked at.
    """

    drops_unknown: ClassVar[bool] = False
    excluded_constants: ClassVar[Mapping[str, tuple[str | int | float | bool, ...]]] = {}

    @model_validator(mode="after")
    def _refuse_excluded(self) -> Excluding:
        stray = stray_constant(self)
        if stray is not None:
            raise ValueError(stray)
        extra = self.__pydantic_extra__
        if extra and self.drops_unknown:
            self.__pydantic_fields_set__.difference_update(extra)
            extra.clear()
        return self


def stray_constant(record: Excluding) -> str | None:
    """Says which constant of another variant a record holds; `None` if it holds none."""
    for wire, constants in record.excluded_constants.items():
        value = value_of(record, wire)
        if any(isinstance(value, bool) is isinstance(one, bool) and _is(value, one) for one in constants):
            return f"the value {value!r} of {wire!r} belongs to another variant"
    return None


def _is(value: Any, constant: Scalar) -> bool:
    if isinstance(value, int | float) and isinstance(constant, int | float):
        return comparable(value) == comparable(constant)
    return bool(value == constant)


def holds_constant(record: BaseModel, wire: str) -> bool:
    """Whether the class of a record declares a constant under a wire name."""
    field = type(record).__pydantic_fields__.get(_python_name(record, wire))
    return field is not None and get_origin(field.annotation) is Literal


def value_of(record: BaseModel, wire: str) -> Any:
    """What a record holds under a wire name; `MISSING` where it holds nothing."""
    name = _python_name(record, wire)
    if not name:
        return (record.model_extra or {}).get(wire, MISSING)
    found = record.__dict__.get(name, MISSING)
    return MISSING if found is None and name not in record.__pydantic_fields_set__ else found


def _python_name(record: BaseModel, wire: str) -> str:
    """The attribute of a wire name; empty where the class declares none."""
    name = _PYTHON_NAMES.get((type(record), wire))
    if name is None:
        name = next((name for name, alias in wire_names(type(record)).items() if alias == wire), "")
        _PYTHON_NAMES[type(record), wire] = name
    return name


_PYTHON_NAMES: dict[tuple[type[BaseModel], str], str] = {}
