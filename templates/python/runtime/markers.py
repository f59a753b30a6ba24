"""Annotations that tell pydantic how a union is discriminated. They stand in `Annotated[A | B, …]`, in the order of the union."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Annotated, Any, Final, NamedTuple, Unpack, cast, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import MISSING, PydanticCustomError, PydanticKnownError, core_schema

from .alone import WritingOther, as_variant, written_by
from .json_types import Numeric, Scalar, comparable, integer_of, is_array, is_object, is_sequence
from .judging import Judge
from .model import holds_constant, value_of

KNOWN: Final = "acpgen_known"
"""Where the core schema of an open set of constants has those that are known."""

LABEL: Final = "\0"
"""What the label of a union's branch in an error's location begins with; no generated key does."""

FALLBACK: Final = f"{LABEL}fallback"
DEFAULT: Final = f"{LABEL}default"


class Tagged(NamedTuple):
    """A union discriminated by the constant in one field.

    The union lists the variants in the order of `tags`, then the fallback's `fallbacks` classes, then the default branch. A known
    tag goes to its variant and nowhere else, unless `default_admits_known`: then the default branch is tried after it.
    `fallback_exclusive`: an unknown tag that two of the fallback's classes accept is refused. The default branch is for objects
    without a tag, or with `default_tag`; unknown tags go to it only where `default_admits_unknown`. `closed`: the fallback keeps
    what only looks like the default branch.
    """

    field: str
    tags: tuple[str | int | float | bool, ...]
    fallbacks: int = 0
    fallback_exclusive: bool = False
    default: bool = False
    default_admits_known: bool = False
    default_admits_unknown: bool = False
    default_tag: str | None = None
    closed: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        branches = get_args(source) or (source,)
        schemas = [handler.generate_schema(branch) for branch in branches]
        known = len(self.tags)
        assert len(schemas) == known + self.fallbacks + self.default, self.field
        choices: dict[Any, core_schema.CoreSchema] = {}
        branch_of = Discriminator(self)
        for index, tag in enumerate(self.tags):
            schema = as_variant(branches[index], self.field, tag, schemas[index])
            choices[_label(tag)] = schema
            if self.default_admits_known:
                choices[_label(tag)] = core_schema.union_schema(
                    [(schema, f"{LABEL}variant"), (schemas[-1], f"{LABEL}other")], mode="left_to_right"
                )
        fallbacks = schemas[known : known + self.fallbacks]
        if len(fallbacks) == 1:
            choices[FALLBACK] = fallbacks[0]
        elif fallbacks:
            choices[FALLBACK] = _by_shape(fallbacks)
            if self.fallback_exclusive:
                check = _Exclusive(branches[known : known + self.fallbacks])
                choices[FALLBACK] = core_schema.no_info_wrap_validator_function(check, choices[FALLBACK])
        if self.default:
            choices[DEFAULT] = written_by(WritingOther(branch_of, DEFAULT), schemas[-1])
        return core_schema.tagged_union_schema(choices, branch_of)


class Discriminator:
    """Names the branch of a tagged union that a value belongs to; `None` where there is none."""

    __slots__ = ("__name__", "absent", "classes", "field", "is_closed", "labels", "other", "quick")

    def __init__(self, marker: Tagged) -> None:
        self.__name__ = f"by {marker.field}"
        self.field = marker.field
        self.labels: dict[tuple[type, Any], str] = {(type(tag := _whole(one)), tag): _label(one) for one in marker.tags}
        self.absent = DEFAULT if marker.default else None
        self.other = FALLBACK if marker.fallbacks else DEFAULT if marker.default_admits_unknown else None
        self.is_closed = marker.closed or marker.default_admits_unknown
        if marker.default_tag is not None:
            self.labels[str, marker.default_tag] = DEFAULT
        self.quick: dict[Any, str] = {tag: label for (kind, tag), label in self.labels.items() if kind is str}
        self.classes: dict[type[BaseModel], str | None] = {}

    def __call__(self, value: Any) -> str | None:
        if is_object(value):
            tag = value.get(self.field, _ABSENT)
            return self.quick.get(tag, self.other) if isinstance(tag, str) else self._by_tag(tag)
        kind = value.__class__
        if kind in self.classes:
            return self.classes[kind]
        if isinstance(value, BaseModel):
            tag = value_of(value, self.field)
            found = self.absent if tag is MISSING else self._by_tag(tag)
            if holds_constant(value, self.field):  # then it holds for the whole class
                self.classes[kind] = found
            return found
        return self.absent

    def _by_tag(self, tag: Any) -> str | None:
        if tag is _ABSENT:
            return self.absent
        tag = _whole(tag)
        found = self.labels.get((type(tag), tag)) if isinstance(tag, str | int | float) else None
        if found is not None:
            return found
        return self.other if isinstance(tag, str) else self.absent or self.other


_ABSENT: Final = object()


def _whole(tag: Any) -> Any:
    """A tag as the integer that it is: 1.0 is 1."""
    return integer_of(tag) if isinstance(tag, float) and tag.is_integer() else tag


def _label(tag: Scalar) -> str:
    return f"{LABEL}{tag!r}"


class Shapes(NamedTuple):
    """A union whose branches are tried in order. `exclusive`: a value that two branches accept is refused.

    `keys`: which branch an object may be of is told by the one key that it has; `None` for branches that take no objects.
    """

    exclusive: bool = False
    keys: tuple[str | None, ...] = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        branches = get_args(source) or (source,)
        schemas = [handler.generate_schema(branch) for branch in branches]
        union = _by_key(self.keys, schemas) if self.keys else _by_shape(schemas, drops=any(map(_drops, branches)))
        if not self.exclusive:
            return union
        return core_schema.no_info_wrap_validator_function(_Exclusive(get_args(source)), union)


def _by_shape(schemas: Sequence[core_schema.CoreSchema], *, drops: bool = False) -> core_schema.CoreSchema:
    """The first branch that takes a value; where unknown fields are dropped, the one that names most of the value's fields."""
    return core_schema.union_schema(
        [(schema, f"{LABEL}{index}") for index, schema in enumerate(schemas)],
        mode="smart" if drops else "left_to_right",
    )


def _drops(branch: Any) -> bool:
    """Whether a branch is a record that drops unknown fields."""
    return isinstance(branch, type) and issubclass(branch, BaseModel) and branch.model_config.get("extra") == "ignore"


def _by_key(keys: Sequence[str | None], schemas: Sequence[core_schema.CoreSchema]) -> core_schema.CoreSchema:
    choices: dict[Any, core_schema.CoreSchema] = {
        _label(key): schema for key, schema in zip(keys, schemas, strict=True) if key is not None
    }
    others = [schema for key, schema in zip(keys, schemas, strict=True) if key is None]
    if others:
        choices[DEFAULT] = others[0] if len(others) == 1 else _by_shape(others)
    return core_schema.tagged_union_schema(choices, KeyDiscriminator(keys))


class KeyDiscriminator:
    """Names the branch that the key of an object stands for; other values belong to the branches that take no objects."""

    __slots__ = ("__name__", "other", "variants")

    def __init__(self, keys: Sequence[str | None]) -> None:
        self.__name__ = "by key"
        self.variants = {key: _label(key) for key in keys if key is not None}
        self.other = DEFAULT if None in keys else None

    def __call__(self, value: Any) -> str | None:
        if is_object(value):
            return next((label for key, label in self.variants.items() if key in value), None)
        if isinstance(value, BaseModel):
            held = (label for key, label in self.variants.items() if value_of(value, key) is not MISSING)
            return next(held, self.other)
        return self.other


class _Exclusive:
    """Refuses what more than one branch accepts (`oneOf`)."""

    def __init__(self, branches: Sequence[Any]) -> None:
        self.branches = branches
        self.judge: Judge | None = None

    def __call__(self, value: Any, handler: core_schema.ValidatorFunctionWrapHandler) -> Any:
        result = handler(value)
        if isinstance(value, BaseModel):
            return result
        if self.judge is None:  # now, when all classes are complete
            self.judge = Judge(Annotated[Any, _Each(self.branches)])
        tried = self.judge.decoded((whole(value),) * len(self.branches))
        if sum(one is not _REFUSED for one in tried) > 1:
            raise PydanticCustomError("one_of", "more than one of the alternatives fits, and only one may")
        return result


class _Each:
    """Reads a value by each branch, in a tuple that has it as often. One validator shares what the branches refer to."""

    def __init__(self, branches: Sequence[Any]) -> None:
        self.branches = branches

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        schemas = map(handler.generate_schema, self.branches)
        return core_schema.tuple_schema(
            [core_schema.with_default_schema(one, default=_REFUSED, on_error="default") for one in schemas]
        )


_REFUSED: Final = object()


def whole(value: Any) -> Any:
    """A JSON value with whole numbers as integers, however they were written."""
    if is_object(value):
        return {key: whole(item) for key, item in value.items()}
    if is_array(value):
        return [whole(item) for item in value]
    return integer_of(value) if isinstance(value, float) and value.is_integer() else value


class Exact:
    """A set of constants that Python would confuse: as JSON, true is not 1, and 1.0 is."""

    def __init__(self, *values: Scalar) -> None:
        self.values = {_json_key(value): value for value in values}
        self.expected = ", ".join(repr(value) for value in values)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._constant)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"enum": list(self.values.values())}

    def _constant(self, value: Any) -> Any:
        key = _json_key(value) if value is None or isinstance(value, str | int | float) else None
        if key not in self.values:
            raise PydanticKnownError("literal_error", {"expected": self.expected})
        return self.values[key]


def _json_key(value: Scalar) -> tuple[bool, object]:
    return isinstance(value, bool), comparable(value) if isinstance(value, float) else value


class Open:
    """A set of constants that may grow: the `Literal` documents what is known, other values of the same type are kept."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        *known, base = get_args(source)
        schema: Any = handler.generate_schema(base)
        named = frozenset(value for part in known for value in get_args(part) if isinstance(value, str))
        metadata: dict[str, Any] = {**schema.get("metadata", {}), KNOWN: named}
        schema["metadata"] = metadata
        return cast("core_schema.CoreSchema", schema)


class Positional(NamedTuple):
    """An array whose entries have types by position: a tuple, which decoding makes of a list. The lengths are for a tuple that goes on."""

    min_length: int = 0
    max_length: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        entries = get_args(source)
        rest = _repeated(entries[-1])
        types = (*entries[:-1], *rest) if rest else entries
        schema = core_schema.tuple_schema(
            [handler.generate_schema(entry) for entry in types],
            variadic_item_index=len(types) - 1 if rest else None,
            strict=False,  # JSON has lists
        )
        return core_schema.no_info_before_validator_function(self._counted, schema) if rest else schema

    def _counted(self, value: Any) -> Any:
        if is_sequence(value):
            count = len(value)
            if count < self.min_length:
                raise PydanticKnownError(
                    "too_short", {"field_type": "List", "min_length": self.min_length, "actual_length": count}
                )
            if self.max_length is not None and count > self.max_length:
                raise PydanticKnownError(
                    "too_long", {"field_type": "List", "max_length": self.max_length, "actual_length": count}
                )
        return value


def _repeated(entry: Any) -> tuple[Any, ...]:
    """The type of the entries that `*tuple[…, ...]` stands for; nothing for the type of one entry. Python evaluates it to `Unpack`."""
    if get_origin(entry) is Unpack:
        return get_args(get_args(entry)[0])[:1]
    return get_args(entry)[:1] if getattr(entry, "__unpacked__", False) else ()


class UniqueItems:
    """A list without two items that are the same JSON value."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(_without_repeats, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "uniqueItems": True}


def _without_repeats(value: Any) -> Any:
    if is_sequence(value) and len(set(map(_frozen, value))) < len(value):
        raise PydanticCustomError("unique_items", "the items of the array must be unique")
    return value


def _frozen(value: Any) -> object:
    """A JSON value as something that is equal, and hashes equally, where the values are the same."""
    if isinstance(value, BaseModel):
        value = value.model_dump(by_alias=True, exclude_unset=True)
    if is_object(value):
        return "object", frozenset((key, _frozen(item)) for key, item in value.items())
    if is_sequence(value):
        return "array", tuple(map(_frozen, value))
    return _json_key(value)


class Bounds(NamedTuple):
    """A number within limits that are larger than binary numbers are exact, compared as the decimal numbers that are written."""

    ge: int | float | None = None
    le: int | float | None = None
    gt: int | float | None = None
    lt: int | float | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        words = {"minimum": self.ge, "maximum": self.le, "exclusiveMinimum": self.gt, "exclusiveMaximum": self.lt}
        return {**handler(schema), **{word: limit for word, limit in words.items() if limit is not None}}

    def _checked(self, value: Numeric) -> Numeric:
        number = comparable(value)
        if self.ge is not None and not number >= comparable(self.ge):
            raise PydanticKnownError("greater_than_equal", {"ge": self.ge})
        if self.le is not None and not number <= comparable(self.le):
            raise PydanticKnownError("less_than_equal", {"le": self.le})
        if self.gt is not None and not number > comparable(self.gt):
            raise PydanticKnownError("greater_than", {"gt": self.gt})
        if self.lt is not None and not number < comparable(self.lt):
            raise PydanticKnownError("less_than", {"lt": self.lt})
        return value


class MultipleOf(NamedTuple):
    """A number that is a whole multiple of `step`, both read as the decimal numbers that they are written as."""

    step: int | float

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "multipleOf": self.step}

    def _checked(self, value: Numeric) -> Numeric:
        if _exactly(value) % _exactly(self.step):
            raise PydanticKnownError("multiple_of", {"multiple_of": self.step})
        return value


def _exactly(number: Numeric) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


class _NumberSchema:
    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(_number, serialization=None)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "number"}


def _number(value: Any) -> Numeric:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticKnownError("float_type")
    if isinstance(value, float) and not isfinite(value):
        raise PydanticKnownError("finite_number")
    return value


Number = Annotated[float, _NumberSchema()]
"""Any JSON number. A whole number stays an `int`, however large."""
