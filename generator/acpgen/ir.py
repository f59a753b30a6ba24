"""The intermediate representation (IR) of a protocol: frozen values without behaviour, with wire names only.

`lower` builds a `Protocol` from a bundle; every target and the compatibility check read it. Types refer to one another only through
`Ref`, so each value is a finite tree, and two protocols are equal if `==` is true. `doc` and `at` (`file#/json/pointer` in the source)
are ignored by `==`. `interchange` serializes the IR as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

VERSION: Final = "1.2"
"""The version of the IR. The minor number increases with additions, the major number with removals and changes of meaning."""

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

Openness: TypeAlias = Literal["open", "tolerated", "closed"]
"""Open: the schema accepts unknown tags. Tolerated: the schema is closed, but the decoder keeps unknown tags. Closed: unknown tags are
refused.
"""

NullMeaning: TypeAlias = Literal["clears", "omitted"]

Side: TypeAlias = str
"""The name of a peer in the schema or a profile; `both` and `protocol` mean either peer."""

EITHER: Final = ("both", "protocol")

Envelope: TypeAlias = Literal["json-rpc", "json-rpc-unversioned", "dap"]
"""The message format: JSON-RPC 2.0, the same without the member `jsonrpc`, or the messages of the Debug Adapter Protocol."""

Stream: TypeAlias = Literal["lines", "headers"]
"""The framing of messages in a byte stream: one message per line, or a header with the length before each message."""

Omitted: TypeAlias = Literal["object", "array", "null", "nothing", "refused"]
"""What omitted params are decoded as: an empty object or array, null, or nothing, whatever their type; `refused` means that they are
required.
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
    """A number, or an integer if `integer` is set. `1.0` is an integer, unless `without_fraction` is set, as in draft-04."""

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
    """A string. `format` is an annotation only; lengths count code points."""

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
    """A list whose items are all of the type `items`."""

    items: Type
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Tuple:
    """A list that begins with one item for each type in `first`; further items are of the type `rest`. Its limits count all items."""

    first: tuple[Type, ...]
    rest: Type
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Map:
    """An object with arbitrary keys, whose values are all of the type `values`."""

    values: Type


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to the definition of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A union: at least one of `types` matches (exactly one if `exclusive`), tried in this order. `Null`, if present, is last."""

    types: tuple[Type, ...]
    exclusive: bool = False


Type: TypeAlias = Anything | Nothing | Null | Boolean | Number | String | Constant | Array | Tuple | Map | Ref | AnyOf


# --- members ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leniency:
    """The lenient decoding of a field (`x-deserialize-…`)."""

    default_on_error: bool = False
    skip_invalid_items: bool = False
    default_on_null: bool = False


@dataclass(frozen=True, slots=True)
class Default:
    """The value that an omitted field stands for."""

    value: JSON = field(hash=False)


@dataclass(frozen=True, slots=True)
class Field:
    """A property of a record. `type` includes `Null` if null is allowed; `null` gives the meaning of null.

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
    """A tag of a tagged union: `type` names the record or union of the whole object, including the tag.

    A branch that has several tags is a variant for each of them, all with the same `type`. `body` names the definition whose content the
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

    `base` names the record whose fields are all among `fields` unchanged (the body of a union's variant). `extra` is the type of
    additional properties: `Anything` keeps them, `Nothing` refuses them. `excluded` lists, per field, constants that the field must not
    have: the fallback of an open union excludes the known tags.
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
    """A union discriminated by constants of the field `tag`.

    `fallback` names the record of unknown tags (open and tolerated unions). If that record must also match one of several shapes,
    `fallback_shapes` names their records, which extend it; exactly one must match if `fallback_exclusive`. `default` names the branch
    whose tag may be omitted, if there is one; the same branch may also be the type of variants. If `default_admits_known`, it also
    accepts objects with a known tag that the variant of that tag refuses. It is for objects without a tag, or with `default_tag`: if the
    schema accepts others too, `fallback` names the record that keeps them, even in a closed union, or `default_admits_unknown` means
    that they cannot be distinguished from the default branch.
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
    """A set of constants. If open or tolerated, it keeps other values of the type `base` unchanged."""

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
    """A name for any other type: a scalar, a list, a union without a tag."""

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
    """A method. The peer `side` receives it; the response to a request goes the other way.

    `params` and `result` name definitions; `None` means that the schema does not define them. `omitted` is what omitted params are
    decoded as. `null_result`: a null result stands for the empty result; `optional_result`: a response may have no result. `was` lists
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
    """A version of a protocol, in the order of the schema. `batch`: a message may be an array of messages.

    `sides` are the peers; the first one opens the connection, if that is known. `framing` are the definitions of whole messages, such as
    a request with its `id` and `method`, if the schema has any; they are JSON Schema, because no other definition refers to them.
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
        """The names of closed unions and enumerations whose unknown values are kept."""
        sets = (definition for definition in self.definitions.values() if isinstance(definition, TaggedUnion | Enum))
        return frozenset(definition.name for definition in sets if definition.openness == "tolerated")

    @property
    def fallbacks(self) -> Mapping[str, str]:
        """The fallback record of unknown tags, by union."""
        unions = (union for union in self.definitions.values() if isinstance(union, TaggedUnion))
        return {union.name: union.fallback for union in unions if union.fallback is not None}
