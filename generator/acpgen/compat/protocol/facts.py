"""What differs between two paired parts of two revisions, without any judgement. Rules judge facts.

Every fact holds the places of both sides (`file#/pointer`), which are left out of equality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, TypedDict

from acpgen import ir
from acpgen.compat.diff.shapes import Alternative, Constants, Objects
from acpgen.compat.findings import Revision
from acpgen.schema.walk import Schema


class FactPlaces(TypedDict):
    """Where both sides of a fact stand: `file#/pointer`."""

    old_at: str
    new_at: str


Sort: TypeAlias = Literal["union", "enum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The places of both sides of a fact."""

    old_at: str = field(default="", compare=False)
    new_at: str = field(default="", compare=False)


# --- methods ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MethodAdded(Placed):
    """A method that only the new revision has."""

    method: ir.Method


@dataclass(frozen=True, slots=True)
class MethodRemoved(Placed):
    """`heirs` are methods of the new revision that say, by `x-was`, that they were this one."""

    method: ir.Method
    heir: str | None = None


@dataclass(frozen=True, slots=True)
class MethodKindChanged(Placed):
    """A request that became a notification, or the reverse."""

    old: ir.Method
    new: ir.Method


@dataclass(frozen=True, slots=True)
class PositionsChanged(Placed):
    """Which param stands at which position. `is_moved`: one that both revisions have stands at another one."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    is_moved: bool


@dataclass(frozen=True, slots=True)
class NullResultChanged(Placed):
    """Whether a result of null stands for the empty result."""

    allowed: bool


@dataclass(frozen=True, slots=True)
class BatchChanged(Placed):
    """Whether a message may be an array of messages, or a request of one `method` a part of such an array."""

    allowed: bool
    method: str = ""


# --- fields ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldAdded(Placed):
    """A field that only the new revision has. `harmless`: of what peers may send under a name for extensions, nothing is refused.

    `by` is the keyword that declares it, where that is none of the record's own fields: `then`, `dependentSchemas`. By
    `patternProperties` it is every field that the `pattern` matches and none of `others`, which are the names and patterns of the other
    revision; the field is an example of them.
    """

    old: Objects
    new: Objects
    field: ir.Field
    harmless: bool = False
    by: str = ""
    pattern: str = ""
    others: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def is_extension(self) -> bool:
        """Whether old peers may send anything under the name."""
        return _is_extension(self.field, self.old) and not self.harmless


@dataclass(frozen=True, slots=True)
class FieldRemoved(Placed):
    """A field that only the old revision has. `seems` is a new one that may be it; the rest is as in `FieldAdded`."""

    old: Objects
    new: Objects
    field: ir.Field
    seems: str | None = None
    harmless: bool = False
    by: str = ""
    pattern: str = ""
    others: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def is_extension(self) -> bool:
        """Whether new peers may send anything under the name."""
        return _is_extension(self.field, self.new) and not self.harmless


def _is_extension(field: ir.Field, others: Objects) -> bool:
    """Whether peers that do not know an optional field may send its name: as an extension, or in a map, whose members have any name."""
    is_free = field.name.startswith("_") or others.is_map
    return is_free and not field.required and isinstance(others.extra, ir.Anything)


@dataclass(frozen=True, slots=True)
class FieldRenamed(Placed):
    """A field that says by `x-was` that it was another one."""

    old: Objects
    new: Objects
    was: ir.Field
    field: ir.Field


@dataclass(frozen=True, slots=True)
class RequirednessChanged(Placed):
    """Whether a field must be there."""

    field: ir.Field
    required: bool


@dataclass(frozen=True, slots=True)
class DefaultChanged(Placed):
    """`grown`: the new default is the old one with the defaults of added fields."""

    name: str
    old: ir.Default | None
    new: ir.Default | None
    grown: bool


@dataclass(frozen=True, slots=True)
class NullMeaningChanged(Placed):
    """What null in a field means."""

    name: str
    old: ir.NullMeaning | None
    new: ir.NullMeaning | None


@dataclass(frozen=True, slots=True)
class LeniencyChanged(Placed):
    """How leniently receivers decode a field. `instead` is how the lenient side reads a value that does not fit; empty if nothing is."""

    name: str
    keyword: str
    added: bool
    instead: str


@dataclass(frozen=True, slots=True)
class GateChanged(Placed):
    """The capability that must be advertised before something is sent. `within` is its place in the pair."""

    what: str
    within: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class DemandChanged(Placed):
    """The capability that makes a field required (`x-required-with`)."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class ObjectOpennessChanged(Placed):
    """Whether members that are not declared are accepted; of the revision that accepts them, those alone whose names match one of the
    `patterns`, where there are any.
    """

    is_open: bool
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UndeclaredChanged(Placed):
    """One revision refuses values for members that neither declares. `value` is one that the other accepts, where one was found."""

    refused_by: Revision
    value: tuple[ir.JSON] | None


# --- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NullChanged(Placed):
    """`lenient`: the revision that does not admit null takes it for an omitted field, which is the member `name`."""

    allowed: bool
    lenient: bool
    name: str | None = None


@dataclass(frozen=True, slots=True)
class KindChanged(Placed):
    """The JSON kinds that only one revision admits: `gone` and `come` are the alternatives of these kinds in the old one and the new one.

    `anything` is the revision that admits every value, where the other does not. `old_kinds` and `new_kinds` tell all kinds of each.
    """

    old_kinds: str
    new_kinds: str
    gone: tuple[Alternative, ...] = ()
    come: tuple[Alternative, ...] = ()
    anything: Revision | None = None

    @property
    def parts(self) -> tuple[KindChanged, ...]:
        """Both directions, each as a change of its own; itself where it has one."""
        return (replace(self, come=()), replace(self, gone=())) if self.gone and self.come else (self,)


OTHER: Final = "other keywords"
"""Stands for the keywords that no fact names: what they refuse is known by a value only."""


@dataclass(frozen=True, slots=True)
class LimitChanged(Placed):
    """A limit on values of one kind that refuses what the other revision admits; `value` is such a value, where one is known.

    `items` tells how to make one otherwise: a number of items; `demand` is then the limit as a schema. `more` are the other limits of the
    same declaration.
    """

    keyword: str
    old: str
    new: str
    admitted_by: Revision
    value: ir.JSON = field(default=None, hash=False)
    items: int | None = None
    demand: Schema | None = field(default=None, hash=False)
    more: tuple[LimitChanged, ...] = ()

    @property
    def all(self) -> tuple[LimitChanged, ...]:
        """Each limit alone."""
        return (replace(self, more=()), *self.more)

    @property
    def parts(self) -> tuple[LimitChanged, ...]:
        """The limits of each direction as a change of their own."""
        return tuple(joined([each for each in self.all if each.admitted_by == side]) for side in self.directions)

    @property
    def directions(self) -> tuple[Revision, ...]:
        """The revisions that admit what the other refuses."""
        return tuple(side for side in _SIDES if any(each.admitted_by == side for each in self.all))


_SIDES: Final[tuple[Revision, ...]] = ("old", "new")


def joined(limits: Sequence[LimitChanged]) -> LimitChanged:
    """The limits of one declaration as one change."""
    first, *others = sorted(limits, key=lambda each: _SIDES.index(each.admitted_by))
    return replace(first, more=tuple(others)) if others else first


@dataclass(frozen=True, slots=True)
class FormatChanged(Placed):
    """What `format` or `contentEncoding` says, of the strings of both sides.

    Where formats are asserted, `refused` are texts of the revision named that the other refuses for its format, `doubtful` the
    revisions of which it is not known whether they refuse any, and `doubt` says why.
    """

    old: str | None
    new: str | None
    keyword: Literal["format", "contentEncoding"] = "format"
    strings: tuple[tuple[ir.String, ...], tuple[ir.String, ...]] = ((), ())
    refused: tuple[tuple[Revision, str], ...] = ()
    doubtful: tuple[Revision, ...] = ()
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class ValueAdded(Placed):
    """A constant that only the new revision knows."""

    old: Constants
    new: Constants
    value: ir.EnumValue
    was: str | None = None


@dataclass(frozen=True, slots=True)
class ValueRemoved(Placed):
    """A constant that only the old revision knows. `heir` says by `x-was` that it was this one, `seems` may be it."""

    old: Constants
    new: Constants
    value: ir.EnumValue
    heir: str | None = None
    seems: str | None = None


@dataclass(frozen=True, slots=True)
class ValuesNamed(Placed):
    """A free type gained known constants and stays free."""

    new: Constants


@dataclass(frozen=True, slots=True)
class ValuesUnnamed(Placed):
    """An open set of constants became a free type."""

    old: Constants


@dataclass(frozen=True, slots=True)
class VariantAdded(Placed):
    """A tagged variant that only the new revision knows. `foreseen`: the branch without a tag knows values of the tag, and takes others."""

    old: ir.TaggedUnion
    new: ir.TaggedUnion
    variant: ir.Variant
    foreseen: bool = False


@dataclass(frozen=True, slots=True)
class VariantRemoved(Placed):
    """A tagged variant that only the old revision knows. `seems` is a new one that may be it."""

    old: ir.TaggedUnion
    new: ir.TaggedUnion
    variant: ir.Variant
    seems: str | None = None


@dataclass(frozen=True, slots=True)
class VariantRenamed(Placed):
    """A variant that says by `x-was` that it was another one: it has another tag."""

    old: ir.TaggedUnion
    new: ir.TaggedUnion
    was: ir.Variant
    variant: ir.Variant


@dataclass(frozen=True, slots=True)
class UntaggedChanged(Placed):
    """A branch without a tag that only one revision has."""

    union: ir.TaggedUnion
    branch: str
    added: bool
    other: ir.TaggedUnion


@dataclass(frozen=True, slots=True)
class OpennessChanged(Placed):
    """What happens to tags or constants that are not known. `has_default`: where unknown tags are not kept, a branch takes them."""

    sort: Sort
    name: str
    tag: str | None
    old: ir.Openness
    new: ir.Openness
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class TagRenamed(Placed):
    """The member that tells variants apart."""

    old: ir.TaggedUnion
    new: ir.TaggedUnion


@dataclass(frozen=True, slots=True)
class AlternativeChanged(Placed):
    """One of several shapes of the same kind that only one revision has."""

    alternative: Alternative
    added: bool


@dataclass(frozen=True, slots=True)
class Undetermined(Placed):
    """A difference that was seen and could not be taken apart."""

    reason: str


# --- definitions that no message reaches ---


@dataclass(frozen=True, slots=True)
class DefinitionAdded(Placed):
    """A definition that only the new revision has and no message reaches."""

    name: str


@dataclass(frozen=True, slots=True)
class DefinitionRemoved(Placed):
    """A definition that only the old revision has and no message reaches."""

    name: str


@dataclass(frozen=True, slots=True)
class NotCompared(Placed):
    """Something that differs and of which nothing is known: `name` says what."""

    name: str
    reason: str


# --- paper -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DefinitionRenamed(Placed):
    """A definition with another name; `declared` by `x-was`."""

    old: str
    new: str
    declared: bool


@dataclass(frozen=True, slots=True)
class Reworded(Placed):
    """A description that has changed."""

    what: str


@dataclass(frozen=True, slots=True)
class Restructured(Placed):
    """Something in the files differs that no message can notice and no other fact names; `name` is the definition, empty for the files,
    `classes` those of generated code that differ. `but` is what would notice: messages of which other findings tell. With `copied` one
    revision alone has the definition, and a variant in messages says the same; with `carried` the definition frames messages, and what it
    carries is told elsewhere; with `content` what texts hold is said differently, which no validator asserts; with `unstable` the
    `classes` are what is marked so, differs, and takes no part.
    """

    name: str = ""
    classes: tuple[str, ...] = ()
    but: Literal["", "told", "framed", "copied", "carried", "content", "unstable"] = ""


Fact: TypeAlias = (
    MethodAdded
    | MethodRemoved
    | MethodKindChanged
    | PositionsChanged
    | NullResultChanged
    | BatchChanged
    | FieldAdded
    | FieldRemoved
    | FieldRenamed
    | RequirednessChanged
    | DefaultChanged
    | NullMeaningChanged
    | LeniencyChanged
    | GateChanged
    | DemandChanged
    | ObjectOpennessChanged
    | UndeclaredChanged
    | NullChanged
    | KindChanged
    | LimitChanged
    | FormatChanged
    | ValueAdded
    | ValueRemoved
    | ValuesNamed
    | ValuesUnnamed
    | VariantAdded
    | VariantRemoved
    | VariantRenamed
    | UntaggedChanged
    | OpennessChanged
    | TagRenamed
    | AlternativeChanged
    | Undetermined
    | DefinitionAdded
    | DefinitionRemoved
    | NotCompared
    | DefinitionRenamed
    | Reworded
    | Restructured
)

PAPER: tuple[type[Fact], ...] = (DefinitionRenamed, Reworded, Restructured)
"""Facts about files alone. They are told once, not once for each method."""
