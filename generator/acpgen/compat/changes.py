"""What differs between two paired parts of two revisions, without any judgement. Rules judge changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, TypedDict

from acpgen import ir
from acpgen.compat.findings import Revision
from acpgen.input.walk import Schema

Kind: TypeAlias = Literal[
    "method",
    "method-kind",
    "positions",
    "null-result",
    "batch",
    "field",
    "required",
    "default",
    "null-meaning",
    "leniency",
    "gate",
    "demand",
    "openness",
    "undeclared",
    "null",
    "type",
    "limit",
    "format",
    "value",
    "values",
    "variant",
    "untagged",
    "unknown",
    "tag",
    "alternative",
    "undecided",
    "definition",
    "not-compared",
    "text",
    "structure",
]
"""What a change is about, and what `old`, `new`, `name` and `detail` hold:

method: a method; of a rename, both · method-kind: a method that was a request and is a notification, or the reverse ·
positions: the params by position · null-result: whether null stands for the empty result ·
batch: whether a message may be an array of messages, or a request of the method `name` a part of one ·
field: a field of an object; of a rename by `x-was`, both · required: a field, where it must be there ·
default: what an omitted field stands for; `detail` is "grown" where the new one is the old one with more members ·
null-meaning: what null in a field means ·
leniency: how receivers read what does not fit, by the keyword `detail` ·
gate: the capability without which something is not sent; `detail` says what, `name` where ·
demand: the capability that makes a field required (`x-required-with`) ·
openness: patterns of the members that are accepted undeclared, none for any ·
undeclared: a value for members that neither declares, as far as one was found, that one revision accepts and the other refuses ·
null: whether null is admitted; with the `name` of a field, its receivers are lenient where it is not ·
type: alternatives of JSON kinds that one revision alone admits, `ir.Anything` for every value; `detail` names all kinds of both ·
limit, format: what `LimitChange` and `FormatChange` hold · value: a constant · values: the constants of a type that is free all the same ·
variant: a tagged variant; of a rename, both · untagged: the branch without a tag ·
unknown: what happens to tags or constants that are not known · tag: the unions, where another member tells variants apart ·
alternative: one of several shapes of the same kind ·
undecided: a difference that could not be taken apart, for the reason `detail`, or that is `within` these definitions alone ·
definition: a definition that no message reaches; of a rename, both names ·
not-compared: something of which nothing is known, for the reason `detail` · text: a description ·
structure: files that differ in nothing that a message shows; `new` are classes of generated code that differ, `detail` says why else.
"""

OTHER: Final = "other keywords"
"""Stands for the keywords that no change names: what they refuse is known by a value only."""


class ChangePlaces(TypedDict):
    """Where both sides of a change stand: `file#/pointer`."""

    old_at: str
    new_at: str


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs: `old` and `new` are what each revision has, `None` where it has nothing; `within` is what holds them.

    `declared` is the name that it has on the other side as `x-was` declares it, `likely` the one that it seems to have there.
    """

    kind: Kind
    old: Any = None
    new: Any = None
    within: tuple[Any, Any] = (None, None)
    name: str = ""
    detail: str = ""
    declared: str | None = None
    likely: str | None = None
    old_at: str = field(default="", compare=False, kw_only=True)
    new_at: str = field(default="", compare=False, kw_only=True)

    @property
    def what(self) -> str:
        """The kind, and whether it was added, removed or changed."""
        return f"{self.kind}-{'added' if self.old is None else 'removed' if self.new is None else 'changed'}"

    @property
    def one(self) -> Any:
        """What the one side has that has it; of both, the new one."""
        return self.old if self.new is None else self.new

    @property
    def is_documentation(self) -> bool:
        """Whether it is a change of files alone: reported once, not once for each method."""
        return self.kind in ("text", "structure") or self.what == "definition-changed"

    @property
    def parts(self) -> tuple[Change, ...]:
        """Both directions of a changed type or limit, each as a change of its own; itself where it has one."""
        both = self.kind == "type" and self.old is not None and self.new is not None
        return (replace(self, new=None), replace(self, old=None)) if both else (self,)


@dataclass(frozen=True, slots=True)
class FieldChange(Change):
    """A field that one revision alone has. `harmless`: of what peers may send under a name for extensions, nothing is refused.

    `by` is the keyword that declares it, where that is none of the record's own fields: `then`, `dependentSchemas`. By
    `patternProperties` it is every field that the `pattern` matches and none of `others`, which are the names and patterns of the other
    revision; the field is an example of them.
    """

    by: str = ""
    pattern: str = ""
    others: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    harmless: bool = False

    @property
    def is_extension(self) -> bool:
        """Whether peers that do not know the field may send its name: as an extension, or in a map, whose members have any name."""
        other = self.within[0 if self.old is None else 1]
        is_free = self.one.name.startswith("_") or other.is_map
        return is_free and not self.one.required and isinstance(other.extra, ir.Anything) and not self.harmless


@dataclass(frozen=True, slots=True)
class LimitChange(Change):
    """A limit on values of one kind that refuses what the other revision admits; `demand` is the limit as a schema, where it is known.

    `more` are the other limits of the same declaration.
    """

    keyword: str = OTHER
    admitted_by: Revision = "old"
    demand: Schema | None = field(default=None, hash=False)
    more: tuple[LimitChange, ...] = ()

    @property
    def all(self) -> tuple[LimitChange, ...]:
        """Each limit alone."""
        return (replace(self, more=()), *self.more)

    @property
    def parts(self) -> tuple[LimitChange, ...]:
        """The limits of each direction as a change of their own."""
        return tuple(join_limits([each for each in self.all if each.admitted_by == side]) for side in self.directions)

    @property
    def directions(self) -> tuple[Revision, ...]:
        """The revisions that admit what the other refuses."""
        return tuple(side for side in _SIDES if any(each.admitted_by == side for each in self.all))


_SIDES: Final[tuple[Revision, ...]] = ("old", "new")


def join_limits(limits: Sequence[LimitChange]) -> LimitChange:
    """The limits of one declaration as one change."""
    first, *others = sorted(limits, key=lambda each: _SIDES.index(each.admitted_by))
    return replace(first, more=tuple(others)) if others else first


def unexplained_limit(admitted_by: Revision, at: ChangePlaces) -> LimitChange:
    """That one revision admits what the other refuses, by keywords that no change names."""
    return LimitChange("limit", "", "", admitted_by=admitted_by, **at)


@dataclass(frozen=True, slots=True)
class FormatChange(Change):
    """What `format` or `contentEncoding` says, of the strings `within` both sides.

    Where formats are asserted, `refused` are texts of the revision named that the other refuses for its format, `doubtful` the
    revisions of which it is not known whether they refuse any, and `detail` says why.
    """

    keyword: Literal["format", "contentEncoding"] = "format"
    refused: tuple[tuple[Revision, str], ...] = ()
    doubtful: tuple[Revision, ...] = ()

    @property
    def what(self) -> str:
        return "format-changed"
