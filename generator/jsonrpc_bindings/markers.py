"""Annotations that tell pydantic how a union is discriminated. They stand in `Annotated[A | B, …]`, in the order of the union."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, Unpack, cast, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import MISSING, PydanticCustomError, PydanticKnownError, core_schema

from .alone import WritingOther, as_variant, written_by
from .json_types import Numeric, Scalar, comparable, integer_of, is_array, is_object, is_sequence
from .judging import Judge
from .model import holds_constant, value_of
from .patterns import matcher

KNOWN: Final = "acpgen_known"
"""Where the core schema of an open set of constants has those that are known."""

LABEL: Final = "\0"
"""What the label of a union's branch in an error's location begins with; no generated key does."""

Tag: TypeAlias = "str | int | float | bool"

FALLBACK: Final = f"{LABEL}fallback"
DEFAULT: Final = f"{LABEL}default"


class Tagged(NamedTuple):
    """A union discriminated by the constants in one field.

    The union lists the variants in the order of `tags`, each with its tag or tags, then the fallback's `fallbacks` classes, then the
    default branch. A known tag goes to its variant and nowhere else, unless `default_admits_known`: then the default branch is tried after
    it.
    `fallback_exclusive`: an unknown tag that two of the fallback's classes accept is refused. The default branch is for objects
    without a tag, or with one of `default_tags`; unknown tags go to it only where `default_admits_unknown`. `closed`: the fallback keeps
    what only looks like the default branch.
    """

    field: str
    tags: tuple[Tag | tuple[Tag, ...], ...]
    fallbacks: int = 0
    fallback_exclusive: bool = False
    default: bool = False
    default_admits_known: bool = False
    default_admits_unknown: bool = False
    default_tags: tuple[Tag, ...] = ()
    closed: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        branches = get_args(source) or (source,)
        schemas = [handler.generate_schema(branch) for branch in branches]
        known = len(self.tags)
        assert len(schemas) == known + self.fallbacks + self.default, self.field
        choices: dict[Any, core_schema.CoreSchema] = {}
        branch_of = self._discriminator()
        for index, tags in enumerate(self.tags):
            label, schema = _label(tags), schemas[index]
            if not isinstance(tags, tuple):
                schema = as_variant(branches[index], self.field, tags, schema)
            choices[label] = schema
            if self.default_admits_known:
                choices[label] = core_schema.union_schema(
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

    def _discriminator(self) -> Discriminator:
        labels = {_key(tag): _label(own) for own in self.tags for tag in _each(own)}
        labels |= {_key(tag): DEFAULT for tag in self.default_tags}
        return Discriminator(
            self.field,
            labels,
            absent=DEFAULT if self.default else None,
            beside=DEFAULT if self.default else None,
            other=FALLBACK if self.fallbacks else DEFAULT if self.default_admits_unknown else None,
            is_closed=self.closed or self.default_admits_unknown,
        )


class Discriminator:
    """Names the branch of a tagged union that a value belongs to; `None` where there is none."""

    __slots__ = ("__name__", "absent", "beside", "classes", "field", "is_closed", "labels", "other", "quick", "stray")

    def __init__(
        self,
        field: str,
        labels: Mapping[_Key, str],
        *,
        absent: str | None,
        beside: str | None,
        other: str | None = None,
        is_closed: bool = False,
    ) -> None:
        self.__name__ = f"by {field}"
        self.field = field
        self.labels = labels
        self.absent = absent
        self.beside = beside
        self.other = other
        self.is_closed = is_closed
        self.quick: dict[Any, str] = {tag: label for (_, tag), label in self.labels.items() if isinstance(tag, str)}
        are_texts = len(self.quick) == len(self.labels)
        self.stray = absent or (other if are_texts else None)  # a fallback takes texts alone, and says so
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
        return self.beside

    def _by_tag(self, tag: Any) -> str | None:
        if tag is _ABSENT:
            return self.absent
        found = self.labels.get(_key(tag)) if isinstance(tag, str | int | float) else None
        if found is not None:
            return found
        return self.other if isinstance(tag, str) else self.stray


_ABSENT: Final = object()


def _key(value: Scalar) -> _Key:
    """What tells a JSON scalar from others: 1.0 is 1, true is not."""
    return isinstance(value, bool), integer_of(value) if isinstance(value, float) and value.is_integer() else value


_Key: TypeAlias = "tuple[bool, Scalar]"


def _each(tags: Tag | tuple[Tag, ...]) -> tuple[Tag, ...]:
    return tags if isinstance(tags, tuple) else (tags,)


def _label(branch: object) -> str:
    return f"{LABEL}{branch!r}"


class Shapes(NamedTuple):
    """A union whose branches are tried in order. `exclusive`: a value that two branches accept is refused.

    `keys`: which branch an object may be of is told by the one key that it has; `None` for branches that take no objects. `tags`: which
    branches an object may be of is told by the constant in its field `field`, of which each branch takes these; the `optional` ones, by
    position, take objects without it. Branches that take no objects have no tags.
    """

    exclusive: bool = False
    keys: tuple[str | None, ...] = ()
    field: str = ""
    tags: tuple[Tag | tuple[Tag, ...], ...] = ()
    optional: tuple[int, ...] = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        branches = get_args(source) or (source,)
        schemas = [handler.generate_schema(branch) for branch in branches]
        if self.keys:
            union = _by_key(self.keys, schemas)
        elif self.tags:
            union = self._by_tag(branches, schemas)
        else:
            union = _by_shape(schemas, drops=any(map(_drops, branches)))
        if not self.exclusive:
            return union
        return core_schema.no_info_wrap_validator_function(_Exclusive(get_args(source)), union)

    def _by_tag(self, branches: Sequence[Any], schemas: Sequence[core_schema.CoreSchema]) -> core_schema.CoreSchema:
        """The branches that take a tag, by shape where it is several."""
        owners: dict[_Key, tuple[int, ...]] = {}
        for index, own in enumerate(self.tags):
            for tag in _each(own):
                owners[_key(tag)] = (*owners.get(_key(tag), ()), index)
        groups: dict[tuple[int, ...], None] = dict.fromkeys(
            [*owners.values(), *([self.optional] if self.optional else [])]
        )
        choices: dict[Any, core_schema.CoreSchema] = {
            _label(group): schemas[group[0]]
            if len(group) == 1
            else _by_shape([schemas[index] for index in group], drops=any(_drops(branches[index]) for index in group))
            for group in groups
        }
        others = [schema for schema, own in zip(schemas, self.tags, strict=True) if own == ()]
        if others:
            choices[DEFAULT] = others[0] if len(others) == 1 else _by_shape(others)
        branch_of = Discriminator(
            self.field,
            {key: _label(group) for key, group in owners.items()},
            absent=_label(self.optional) if self.optional else None,
            beside=DEFAULT if others else None,
        )
        return core_schema.tagged_union_schema(choices, branch_of)


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
    return _FromFraction(integer_of(value)) if isinstance(value, float) and value.is_integer() else value


class _FromFraction(int):
    """An integer that was written with a fraction of zero."""


class Exact:
    """A set of constants that Python would confuse: as JSON, true is not 1, and 1.0 is."""

    def __init__(self, *values: Scalar) -> None:
        self.values = {_key(value): value for value in values}
        self.expected = ", ".join(repr(value) for value in values) or "a number that no double is equal to"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._constant)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"enum": list(self.values.values())}

    def _constant(self, value: Any) -> Any:
        key = _key(value) if value is None or isinstance(value, str | int | float) else None
        if key not in self.values:
            raise PydanticKnownError("literal_error", {"expected": self.expected})
        return self.values[key]


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
    return _key(value)


class Bounds(NamedTuple):
    """A number within limits that are larger than binary numbers are exact, compared as the decimal numbers that are written; or that are
    told as the schema has them.

    `written` are these: no number is equal to them that is read of a message. Each stands beside the name of the limit that judges.
    """

    ge: int | float | None = None
    le: int | float | None = None
    gt: int | float | None = None
    lt: int | float | None = None
    written: tuple[tuple[str, str], ...] = ()

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
            raise PydanticKnownError("greater_than_equal", {"ge": self._told("ge", self.ge)})
        if self.le is not None and not number <= comparable(self.le):
            raise PydanticKnownError("less_than_equal", {"le": self._told("le", self.le)})
        if self.gt is not None and not number > comparable(self.gt):
            raise PydanticKnownError("greater_than", {"gt": self._told("gt", self.gt)})
        if self.lt is not None and not number < comparable(self.lt):
            raise PydanticKnownError("less_than", {"lt": self._told("lt", self.lt)})
        return value

    def _told(self, name: str, limit: Numeric) -> Numeric | str:
        return dict(self.written).get(name, limit)


class Pattern(NamedTuple):
    """A text in which a pattern of JSON Schema is found; `written` is the pattern in the syntax of the engine."""

    pattern: str
    written: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}

    def _checked(self, value: str) -> str:
        if not matcher(self.written)(value):
            raise PydanticKnownError("string_pattern_mismatch", {"pattern": self.pattern})
        return value


class MultipleOf(NamedTuple):
    """A number that is a whole multiple of `step`, both read as the decimal numbers that they are written as.

    The step is text where no double is equal to it.
    """

    step: int | float | str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "multipleOf": float(self.step) if isinstance(self.step, str) else self.step}

    def _checked(self, value: Numeric) -> Numeric:
        if _exactly(value) % _exactly(self.step):
            raise PydanticKnownError("multiple_of", {"multiple_of": self.step})
        return value


class WithoutFraction:
    """An integer that is written without a fraction: draft-04 takes `1.0` for none, and later drafts do."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self._written, handler(source))

    def _written(self, value: Any) -> Any:
        if isinstance(value, float | _FromFraction):
            raise PydanticCustomError("int_without_fraction", "Input should be an integer without a fraction")
        return value


def _exactly(number: Numeric | str) -> Fraction:
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


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
