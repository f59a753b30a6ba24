"""What a protocol's schema means: frozen values without behaviour, in wire names only.

`lower` builds a `Protocol` from a bundle; every target and the compatibility check read it. Types reach one another
only through `Ref`, so each value is a finite tree and two protocols are equal when `==` says so. `doc` and `at`
(`file#/json/pointer` in the source) ride along and take no part in equality. `interchange` writes all of it as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

VERSION: Final = "1.2"
"""The version of this model. The second number grows with what is added, the first one with what is removed or means something else."""

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

Openness: TypeAlias = Literal["open", "tolerated", "closed"]
"""Open: the schema accepts unknown tags. Tolerated: the schema is closed, the decoder keeps them. Closed: refused."""

NullMeaning: TypeAlias = Literal["clears", "omitted"]

Side: TypeAlias = str
"""A peer by the name that the schema or a profile gives it; `both` and `protocol` are either peer."""

Envelope: TypeAlias = Literal["json-rpc", "json-rpc-unversioned", "dap"]
"""How messages stand on the wire: JSON-RPC 2.0, the same without the member `jsonrpc`, or the frames of the Debug Adapter Protocol."""

Stream: TypeAlias = Literal["lines", "headers"]
"""How messages follow one another in a stream of bytes: one a line, or each after a header with its length."""

Omitted: TypeAlias = Literal["object", "array", "null", "nothing", "refused"]
"""What params that are left out are read as: an empty object or array, null, or nothing at all, whatever their type asks for; or that
they must be there.
"""


# --- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Anything:
    """Every JSON value."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No value at all (`false`, or a contradiction)."""


@dataclass(frozen=True, slots=True)
class Null:
    """The JSON value `null`."""


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or an integer where `integer` is set (`1.0` is one, but not where `without_fraction` is set, as draft-04 has it)."""

    integer: bool
    minimum: int | float | None = None
    maximum: int | float | None = None
    exclusive_minimum: int | float | None = None
    exclusive_maximum: int | float | None = None
    multiple_of: int | float | None = None
    format: str | None = None
    without_fraction: bool = False


@dataclass(frozen=True, slots=True)
class String:
    """A string. `format` annotates and never asserts; lengths count code points."""

    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """Exactly one of `values`; JSON scalars only."""

    values: tuple[str | int | float | bool | None, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """A list whose entries are all of `items`."""

    items: Type
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Tuple:
    """A list that begins with one entry of each of `first`; those after them are all of `rest`. Its limits count all entries."""

    first: tuple[Type, ...]
    rest: Type
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Map:
    """An object with free keys, whose values are all of `values`."""

    values: Type


@dataclass(frozen=True, slots=True)
class Ref:
    """The definition of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of `types` (exactly one where `exclusive`), tried in this order. Null, where allowed, is last."""

    types: tuple[Type, ...]
    exclusive: bool = False


Type: TypeAlias = Anything | Nothing | Null | Boolean | Number | String | Constant | Array | Tuple | Map | Ref | AnyOf


# --- members ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leniency:
    """What a receiver decodes leniently in one field (`x-deserialize-…`)."""

    default_on_error: bool = False
    skip_invalid_items: bool = False
    default_on_null: bool = False


@dataclass(frozen=True, slots=True)
class Default:
    """The value that an omitted field stands for."""

    value: JSON = field(hash=False)


@dataclass(frozen=True, slots=True)
class Field:
    """One property of a record. `type` includes `Null` where null is allowed; `null` says what null means.

    `owner` is the definition of the bundle that declares the property: the record, or the body of a variant.
    """

    name: str
    type: Type
    required: bool
    default: Default | None = None
    null: NullMeaning | None = None
    leniency: Leniency = Leniency()
    capability: str | None = None
    required_with: str | None = None
    unstable: bool = False
    owner: str = field(default="", compare=False)
    doc: str = field(default="", compare=False)
    was: tuple[str, ...] = field(default=(), compare=False)
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Variant:
    """One tag of a tagged union: `type` names the record or union that holds the whole object, tag included.

    A branch that owns several tags is a variant for each of them, all with the same `type`. `body` names the definition whose content the
    branch adds to the tag, if it refers to one.
    """

    tag: str | int | float | bool
    type: str
    body: str | None = None
    capability: str | None = None
    unstable: bool = False
    doc: str = field(default="", compare=False)
    was: tuple[str, ...] = field(default=(), compare=False)
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class EnumValue:
    """One constant of an enumeration."""

    value: str | int | float | bool | None
    title: str | None = None
    capability: str | None = None
    unstable: bool = False
    doc: str = field(default="", compare=False)
    was: tuple[str, ...] = field(default=(), compare=False)
    at: str = field(default="", compare=False)


# --- definitions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """An object with named fields, in the order of the schema.

    `base` names the record whose fields are all among `fields` unchanged (the body of a union's variant). `extra` is the type
    of fields that are not named: `Anything` keeps them, `Nothing` refuses them. `excluded` lists, per field, constants that the
    field must not have: the fallback of an open union excludes the known tags.
    """

    name: str
    fields: tuple[Field, ...]
    extra: Type = Anything()
    base: str | None = None
    excluded: tuple[tuple[str, tuple[str | int | float | bool, ...]], ...] = ()
    unstable: bool = False
    unenforced: tuple[str, ...] = ()
    examples: tuple[JSON, ...] = field(default=(), hash=False, compare=False)
    doc: str = field(default="", compare=False)
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TaggedUnion:
    """A union discriminated by the constants in the field `tag`.

    `fallback` names the record of unknown tags (open and tolerated unions); where that record must also have one of several
    shapes, `fallback_shapes` names their records, which extend it; of exactly one, where `fallback_exclusive`. `default` names
    the branch whose tag may be omitted, if there is one, which may be that of variants, too; where `default_admits_known`, it also
    takes objects with a known tag that the tag's own variant refuses. It is for objects without a tag, or with `default_tag`: where
    the schema takes others too, `fallback` names the record that keeps them even of a closed union, or `default_admits_unknown`
    says that none can be told from the default branch.
    """

    name: str
    tag: str
    variants: tuple[Variant, ...]
    openness: Openness
    fallback: str | None = None
    fallback_shapes: tuple[str, ...] = ()
    fallback_exclusive: bool = False
    default: str | None = None
    default_admits_known: bool = False
    default_admits_unknown: bool = False
    default_tag: str | None = None
    unstable: bool = False
    unenforced: tuple[str, ...] = ()
    examples: tuple[JSON, ...] = field(default=(), hash=False, compare=False)
    doc: str = field(default="", compare=False)
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Enum:
    """A set of constants. An open or tolerated one keeps other values of `base` as they are."""

    name: str
    values: tuple[EnumValue, ...]
    openness: Openness
    base: Type
    unstable: bool = False
    unenforced: tuple[str, ...] = ()
    examples: tuple[JSON, ...] = field(default=(), hash=False, compare=False)
    doc: str = field(default="", compare=False)
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for any other type: a scalar, a list, a union discriminated by shape."""

    name: str
    type: Type
    unstable: bool = False
    unenforced: tuple[str, ...] = ()
    examples: tuple[JSON, ...] = field(default=(), hash=False, compare=False)
    doc: str = field(default="", compare=False)
    at: str = field(default="", compare=False)


Definition: TypeAlias = Record | TaggedUnion | Enum | Alias


# --- methods ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Method:
    """One method. `side` handles it; its response, for a request, flows back.

    `params` and `result` name definitions; `None` means the schema says nothing about them. `omitted` says what params stand for that are
    left out. `null_result`: a result of null stands for the empty result; `optional_result`: a response may come without. `was` lists
    earlier names. `positions` are the names of params that may be sent by position, in order.
    """

    name: str
    side: Side
    kind: Literal["request", "notification"]
    params: str | None
    result: str | None
    omitted: Omitted = "object"
    capability: str | None = None
    unstable: bool = False
    null_result: bool = False
    optional_result: bool = False
    batch: Literal["never"] | None = None
    was: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    doc: str = field(default="", compare=False)
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Protocol:
    """One version of one protocol, in the order of the schema. `batch`: a message may be an array of messages.

    `sides` are the peers, whoever opens a connection first where that is known. `framing` are the definitions of whole messages, such
    as a request with its `id` and `method`, where the schema has any: as JSON Schema, since the rest refers to none of them.
    """

    name: str
    version: int | str | None
    definitions: Mapping[str, Definition]
    methods: tuple[Method, ...]
    sides: tuple[Side, ...]
    batch: bool = False
    envelope: Envelope = "json-rpc"
    stream: Stream = "lines"
    framing: Mapping[str, JSON] = field(default_factory=dict[str, JSON], hash=False, compare=False)
    doc: str = field(default="", compare=False)

    @property
    def tolerated(self) -> frozenset[str]:
        """The unions and enumerations that keep what is unknown, though the schema is closed."""
        sets = (one for one in self.definitions.values() if isinstance(one, TaggedUnion | Enum))
        return frozenset(one.name for one in sets if one.openness == "tolerated")

    @property
    def fallbacks(self) -> Mapping[str, str]:
        """The definitions that keep unknown variants, by union."""
        unions = (one for one in self.definitions.values() if isinstance(one, TaggedUnion))
        return {one.name: one.fallback for one in unions if one.fallback is not None}
