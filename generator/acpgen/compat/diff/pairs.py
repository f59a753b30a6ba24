"""Pairs of types for the same place of messages, the steps from one pair to another, and changes with their places."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.renames import Member, describe_content, find_declared_renames, find_likely_renames, name_of
from acpgen.compat.diff.shapes import Alternative
from acpgen.compat.findings import Revision, Sides
from acpgen.compat.protocol.revision import SchemaRevision, scan_references

if TYPE_CHECKING:
    from schema_inclusion import Comparer

_K = TypeVar("_K")
_M = TypeVar("_M", bound=Member)

EXTENSION: Final = "_example"
"""A name that a peer may always send: extensions begin with an underscore."""

StepKind: TypeAlias = Literal["field", "item", "value", "variant", "untagged", "alternative"]

INNER: Final = frozenset({"field", "item", "value"})
"""The steps to values inside a value; a branch is about the value itself, and another branch may accept it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step from a pair to a pair inside it; `old` and `new` select an alternative on each side.

    `was` is the name on the old side if it differs; `tag` is the tag member of a renamed variant.
    """

    kind: StepKind
    name: str | int | float | bool = ""
    old: Alternative | None = None
    new: Alternative | None = None
    was: str | int | float | bool | None = None
    tag: str = ""
    old_at: str = field(default="", compare=False)
    new_at: str = field(default="", compare=False)

    def on(self, revision: Revision) -> str | int | float | bool:
        """The name on one side."""
        return self.name if revision == "new" or self.was is None else self.was


@dataclass(frozen=True, slots=True)
class Pair:
    """Two types that apply to the same place of messages.

    `tag` is the tag member of a union around the pair, which was already compared. With `free`, any value is accepted at the place, and
    the types only say how it is read.
    """

    old: ir.Type
    new: ir.Type
    tag: str | None = None
    free: bool = False

    def on(self, revision: Revision) -> ir.Type:
        """The type of one side."""
        return self.old if revision == "old" else self.new

    @property
    def is_named(self) -> bool:
        """Whether either side is a definition, so that the pair may recur inside itself."""
        return isinstance(self.old, ir.Ref) or isinstance(self.new, ir.Ref)

    @property
    def is_union(self) -> bool:
        """Whether either side is a union with a definition, such as a nullable definition."""
        unions = (type_.types for type_ in (self.old, self.new) if isinstance(type_, ir.AnyOf))
        return any(isinstance(branch, ir.Ref) for types in unions for branch in types)


@dataclass(slots=True)
class PairNode:
    """The results for a pair: its own changes, and the pairs inside it. `free` as in `Pair`."""

    free: bool
    changes: list[Change] = field(default_factory=list[Change])
    children: list[tuple[Step, Pair]] = field(default_factory=list[tuple[Step, Pair]])


@dataclass(frozen=True, slots=True)
class Declaration:
    """The innermost pair of definitions around a change, and the number of steps to it from the params or result."""

    pair: Pair
    depth: int = 0

    @property
    def names(self) -> Sides[str | None]:
        """The names of the definitions; `None` for a side with an inline type."""
        old, new = self.pair.old, self.pair.new
        return Sides(old.name if isinstance(old, ir.Ref) else None, new.name if isinstance(new, ir.Ref) else None)


@dataclass(frozen=True, slots=True)
class PlacedChange:
    """A change with the steps that lead to it from the params or result. `free` as in `Pair`.

    `old_at` and `new_at` are the places in the sources: of the change itself, or of the nearest step that has one. `declaration` is
    where the change is declared, `named` the nearest declaration around it that the sources name; both are the root if there is nothing
    nearer.
    """

    change: Change
    steps: tuple[Step, ...]
    pair: Pair
    free: bool = False
    declaration: Declaration | None = None
    named: Declaration | None = None

    @property
    def old_at(self) -> str:
        return self.change.old_at or next((step.old_at for step in reversed(self.steps) if step.old_at), "")

    @property
    def new_at(self) -> str:
        return self.change.new_at or next((step.new_at for step in reversed(self.steps) if step.new_at), "")


FindForm: TypeAlias = "Callable[[ir.Type, Revision], object | None]"
"""Finds the normal form of a type of a revision: the same object for types that accept the same values; `None` if it is unknown."""

DOUBT: Final = "the keywords that constrain it cannot be compared one by one"


class Comparison:
    """The comparison of one pair of two revisions: the shapes of both sides, and the node that collects the results.

    `rewritten` are the definitions that differ or lead to one that does, `comparer` is the prover for scalars, which refer to none.
    `find_form` finds normal forms.
    """

    def __init__(
        self,
        revisions: Sides[SchemaRevision],
        rewritten: frozenset[str],
        comparer: Comparer,
        find_form: FindForm,
        node: PairNode,
        pair: Pair,
    ) -> None:
        self.revisions = revisions
        self.before, self.after = revisions
        self.rewritten = rewritten
        self.comparer = comparer
        self.find_form = find_form
        self.node = node
        self.pair = pair
        self.old = self.before.get_shape(pair.old)
        self.new = self.after.get_shape(pair.new)
        self.old_at = self.before.locate_type(pair.old)
        self.new_at = self.after.locate_type(pair.new)

    @property
    def places(self) -> ChangePlaces:
        """The places of the pair."""
        return {"old_at": self.old_at, "new_at": self.new_at}

    def note(self, *changes: Change) -> None:
        """Record changes."""
        self.node.changes.extend(changes)

    def add_doubt(self, old: Iterable[str], new: Iterable[str], at: ChangePlaces) -> None:
        """Record the demands of both sides that cannot be compared one by one, if they or definitions that they refer to differ."""
        before, after = tuple(sorted(old)), tuple(sorted(new))
        if before != after or self.is_rewritten(before):
            self.note(Change("undecided", within=Sides(before, after), detail=DOUBT, **at))

    def is_rewritten(self, demands: Iterable[str]) -> bool:
        """Whether demands refer to definitions that differ between the revisions, or that lead to such."""
        return any(not self.rewritten.isdisjoint(scan_references(text)) for text in demands)

    def add_child(self, step: Step, old: ir.Type, new: ir.Type, tag: str | None = None) -> None:
        """Record a pair inside this one."""
        self.node.children.append((step, Pair(old, new, tag, self.node.free)))

    def pair_members(
        self, old: Mapping[_K, _M], new: Mapping[_K, _M], tags: Collection[str] = ()
    ) -> Iterator[tuple[_M | None, _M | None, str | None]]:
        """Yield the members of both sides in pairs, by key or declared rename, then those that only the new side has.

        A member that only the old side has comes with its likely new name. `tags` are the tag members of variants.
        """
        renames = find_declared_renames(old, new)
        removed_members = [member for key, member in old.items() if key not in new and key not in renames]
        added_members = [member for key, member in new.items() if key not in old and key not in renames.values()]
        likely = find_likely_renames(
            {name_of(member): describe_content(member, self.before.texts, tags) for member in removed_members},
            {name_of(member): describe_content(member, self.after.texts, tags) for member in added_members},
        )
        for key, member in old.items():
            yield member, new.get(renames.get(key, key)), likely.get(name_of(member))
        yield from ((None, member, None) for member in added_members)

    def note_gate(self, what: str, within: str, old: str | None, new: str | None, old_at: str, new_at: str) -> None:
        """Record that an element requires a different capability."""
        if old != new and not (old is None and self.before.may_gate(new)):
            at: ChangePlaces = {"old_at": old_at or self.old_at, "new_at": new_at or self.new_at}
            self.note(Change("gate", old, new, name=within, detail=what, **at))

    def note_description(self, what: str, old: str, new: str, old_at: str, new_at: str) -> None:
        """Record a changed description."""
        if old != new:
            self.note(Change("text", old, new, name=what, old_at=old_at or self.old_at, new_at=new_at or self.new_at))
