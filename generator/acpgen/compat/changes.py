"""The differences between two paired parts of two revisions, without classification: the rules classify changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, TypedDict

from acpgen import ir
from acpgen.compat.findings import REVISIONS, Revision, Sides
from acpgen.input.numbers import loads
from acpgen.input.walk import Schema

Kind: TypeAlias = Literal[
    "method",  # a method; for a rename, both
    "method-kind",  # a request method that became a notification, or the reverse
    "positions",  # positional params
    "null-result",  # whether null stands for the empty result
    "batch",  # whether a message may be an array of messages, or whether a request of the method `name` may be part of one
    "field",  # a field of an object; for a rename by `x-was`, both
    "required",  # a field, where its presence is required
    "default",  # the value that an omitted field stands for; `detail` is "grown" if the new one is the old one with more members
    "null-meaning",  # the meaning of null in a field
    "leniency",  # how receivers decode invalid values, by the keyword `detail`
    "gate",  # the capability without which something is not sent; `detail` says what, `name` where
    "demand",  # the capability that makes a field required (`x-required-with`)
    "openness",  # patterns of the undeclared members that are accepted, none for any
    "undeclared",  # a value for members that neither revision declares, if one was found, that only one revision accepts
    "null",  # whether null is accepted; with the `name` of a field, its receivers decode it leniently where it is not
    "type",  # alternatives of JSON kinds that only one revision accepts, `ir.Anything` for every value; `detail` names all kinds of both
    "limit",  # see `LimitChange`
    "format",  # see `FormatChange`
    "value",  # a constant
    "values",  # the constants of an open type
    "variant",  # a tagged variant; for a rename, both
    "untagged",  # the branch without a tag
    "unknown",  # how unknown tags or constants are handled
    "tag",  # the unions, if their discriminators differ
    "alternative",  # one of several shapes of the same kind
    "undecided",  # a difference that could not be analysed, for the reason `detail`; `within` are the texts of keywords that may differ
    "definition",  # a definition that no message reaches; for a rename, both names
    "not-compared",  # a part about which nothing is known, for the reason `detail`
    "text",  # a description
    "structure",  # files that differ without any effect on messages; `new` are the classes that differ, `detail` any other cause
]
"""What a change is about: what `old`, `new`, `name` and `detail` contain."""

How: TypeAlias = Literal["added", "removed", "changed"]

OTHER: Final = "other keywords"
"""The keyword of a limit that no change names: its effect is known only from a value that it rejects."""


class ChangePlaces(TypedDict):
    """The places of both sides of a change: `file#/pointer`."""

    old_at: str
    new_at: str


_NOTHING: Final[Sides[Any]] = Sides(None, None)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    `old` and `new` are the parts of each revision, `None` where it has none; `within` are the parts that contain them. `declared` is its
    name on the other side according to `x-was`, `likely` the probable one.
    """

    kind: Kind
    old: Any = None
    new: Any = None
    within: Sides[Any] = _NOTHING
    name: str = ""
    detail: str = ""
    declared: str | None = None
    likely: str | None = None
    old_at: str = field(default="", compare=False, kw_only=True)
    new_at: str = field(default="", compare=False, kw_only=True)

    @property
    def how(self) -> How:
        """Whether the old revision, the new one or neither lacks the part."""
        return "added" if self.old is None else "removed" if self.new is None else "changed"

    @property
    def what(self) -> str:
        """The kind with "added", "removed" or "changed"."""
        return f"{self.kind}-{self.how}"

    def on(self, revision: Revision) -> Any:
        """The part of one revision; `None` if it has none."""
        return self.old if revision == "old" else self.new

    @property
    def part(self) -> Any:
        """The part of the revision that has one; if both have one, the new part."""
        return self.old if self.new is None else self.new

    @property
    def is_documentation(self) -> bool:
        """Whether the change affects only files, so that it is reported once and not for each method."""
        return self.kind in ("text", "structure") or self.what == "definition-changed"

    def split(self) -> tuple[Change, ...]:
        """The two directions of a changed type or limit, each as a separate change; the change itself if it has only one."""
        both = self.kind == "type" and self.old is not None and self.new is not None
        return (replace(self, new=None), replace(self, old=None)) if both else (self,)


@dataclass(frozen=True, slots=True)
class FieldChange(Change):
    """A field that only one revision has.

    `harmless`: no value that peers may send under an extension name is rejected. `by` is the keyword that declares the field with
    `schema`, if it is not one of the record's own fields: `then`, `dependentSchemas`. For `patternProperties`, the change is about every
    field that matches `pattern` and none of the names and patterns that the opposite revision declares: `opposite_names` and
    `opposite_patterns`; the field is an example.
    """

    by: str = ""
    schema: Schema | bool | None = field(default=None, hash=False)
    pattern: str = ""
    opposite_names: tuple[str, ...] = ()
    opposite_patterns: tuple[str, ...] = ()
    harmless: bool = False

    @property
    def is_extension(self) -> bool:
        """Whether peers that do not know the field may send its name: as an extension, or in a map, which accepts any name."""
        opposite = self.within.old if self.old is None else self.within.new
        is_free = self.part.name.startswith("_") or opposite.is_map
        return is_free and not self.part.required and isinstance(opposite.extra, ir.Anything) and not self.harmless


@dataclass(frozen=True, slots=True)
class LimitChange(Change):
    """A limit on values of one kind that rejects values the other revision accepts.

    `demand` is the limit as a schema, if known. `more` are the other limits of the same declaration.
    """

    keyword: str = OTHER
    admitted_by: Revision = "old"
    demand: Schema | None = field(default=None, hash=False)
    more: tuple[LimitChange, ...] = ()

    @property
    def all(self) -> tuple[LimitChange, ...]:
        """Each limit as a separate change."""
        return (replace(self, more=()), *self.more)

    def split(self) -> tuple[LimitChange, ...]:
        """The limits of each direction, as one change per direction."""
        return tuple(
            join_limits([limit for limit in self.all if limit.admitted_by == side]) for side in self.directions
        )

    @property
    def directions(self) -> tuple[Revision, ...]:
        """The revisions that accept values the other rejects."""
        return tuple(side for side in REVISIONS if any(limit.admitted_by == side for limit in self.all))


@dataclass(frozen=True, slots=True)
class DemandChange(Change):
    """Keywords of a list or map inside a record; `within` are their texts, `path` leads there, and `name` is the field."""

    path: tuple[str, ...] = ()

    def write_demand(self, receiver: Revision) -> Schema:
        """What a receiver demands of a record by these keywords."""
        schema: Schema = {"allOf": [{}, *map(loads, self.within.on(receiver))]}
        for keyword in reversed(self.path[2:]):
            schema = {keyword: schema}
        return {"properties": {self.path[1]: schema}}


def join_limits(limits: Sequence[LimitChange]) -> LimitChange:
    """Join the limits of one declaration into one change."""
    first, *more = sorted(limits, key=lambda limit: REVISIONS.index(limit.admitted_by))
    return replace(first, more=tuple(more)) if more else first


def make_unexplained_limit(admitted_by: Revision, at: ChangePlaces) -> LimitChange:
    """The change for values that one revision accepts and the other rejects by keywords that no change names."""
    return LimitChange("limit", "", "", admitted_by=admitted_by, **at)


@dataclass(frozen=True, slots=True)
class FormatChange(Change):
    """A change of `format` or `contentEncoding` in the strings `within` both sides.

    If formats are asserted, `refused` are strings of the named revision that the other rejects because of its format, and `doubtful` the
    revisions for which it is unknown whether they reject any; `detail` is the reason.
    """

    keyword: Literal["format", "contentEncoding"] = "format"
    refused: tuple[tuple[Revision, str], ...] = ()
    doubtful: tuple[Revision, ...] = ()
