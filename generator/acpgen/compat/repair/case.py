"""One finding that is to be repaired: where it stands on both sides, and what differs there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from acpgen.compat.repair.attempts import FileEdit, added
from acpgen.compat.repair.ground import At, Ground
from acpgen.compat.repair.reversals import reversals
from acpgen.schema.walk import DEFINITIONS, is_array, is_object

if TYPE_CHECKING:
    from acpgen.compat.findings import Finding
    from acpgen.compat.sources import Input
    from acpgen.schema.edits import Keys


@dataclass(frozen=True)
class Case:
    """A finding on its ground."""

    finding: Finding
    ground: Ground

    @cached_property
    def old_at(self) -> At | None:
        return self.ground.place(self.finding.old, self.ground.old)

    @cached_property
    def new_at(self) -> At | None:
        return self.ground.place(self.finding.new, self.ground.new)

    @cached_property
    def old_definition(self) -> tuple[str | None, At] | None:
        if self.old_at is not None:
            return self._definition(self.old_at, self.ground.old, self.new_at, self.ground.new)
        name = self.new_definition[0] if self.new_definition is not None else None
        return (name, self.ground.before[name]) if name is not None and name in self.ground.before else None

    @cached_property
    def new_definition(self) -> tuple[str | None, At] | None:
        if self.new_at is None:
            return None
        return self._definition(self.new_at, self.ground.new, self.old_at, self.ground.old)

    def _definition(self, at: At, side: Input, other: At | None, across: Input) -> tuple[str | None, At]:
        """The definition around a place.

        Where the place is a definition as a whole that another one refers to, in which the other side has its place, it is that other
        one; where the other side has a field inside of what this place refers to, it is what is referred to.
        """
        found = self.ground.definition(at, side)
        known = self.ground.before if side is self.ground.old else self.ground.after
        if other is not None and found[1].keys == at.keys:
            around = self.ground.definition(other, across)[0]
            if around not in (None, found[0]) and around in known and self._refers(known[around], found[0], side):
                return around, known[around]
        if other is None or other.keys[-2:-1] != ("properties",) or at.keys[-2:-1] == ("properties",):
            return found
        name = self.ground.definition(other, across)[0]
        led = [] if name == found[0] else list(self.ground.leads(at, side))
        return next((each for each in led if each[0] == name), led[0] if len(led) == 1 else found)

    def _refers(self, at: At, name: str | None, side: Input) -> bool:
        """Whether a branch of what a place holds refers to a definition."""
        value = self.ground.value(at, side)
        lists = [(key, value.get(key)) for key in ("anyOf", "oneOf")] if is_object(value) else []
        branches = [(key, index) for key, items in lists if is_array(items) for index in range(len(items))]
        return any(each[0] == name for branch in branches for each in self.ground.leads(at.below(*branch), side))

    @property
    def is_elsewhere(self) -> bool:
        """Whether the sides have their places in two definitions that have nothing to do with one another."""
        one, other = (None if each is None else each[0] for each in (self.old_definition, self.new_definition))
        return (
            one != other
            and one is not None
            and other is not None
            and (one in self.ground.after or other in self.ground.before)
        )

    @property
    def is_renamed(self) -> bool:
        """Whether the finding is about another name for something that is declared under both."""
        return self.finding.rule in ("field-renamed", "variant-renamed")

    @cached_property
    def member(self) -> str | None:
        """The name of the field that the finding is about: the one that it had, if it has another now."""
        for at in (self.old_at, self.new_at) if self.is_renamed else (self.new_at, self.old_at):
            if at is not None and len(at.keys) > 1 and at.keys[-2] == "properties":
                return str(at.keys[-1])
        return None

    @cached_property
    def anchor(self) -> At | None:
        """The place in the new file that the finding is about, whether anything stands there or not."""
        if self.new_at is None or self.new_definition is None:
            return None
        if self.old_at is None or self.old_definition is None:
            return self.new_at
        base = self.new_definition[1]
        inside = self.old_at.keys[len(self.old_definition[1].keys) :]
        around = self.new_at.keys[len(base.keys) :] if self.new_at.keys[: len(base.keys)] == base.keys else ()
        if not self.is_renamed and _is_branch(around) and _is_branch(inside[:-2]) and len(inside) == len(around) + 2:
            return self.new_at.below(*inside[-2:])
        if self.is_renamed or len(inside) > len(around):
            return At(base.path, (*base.keys, *inside))
        return self.new_at

    @cached_property
    def atoms(self) -> tuple[FileEdit, ...]:
        """What to change in the definition around so that it says what the old one says."""
        if self.old_definition is None or self.new_definition is None or self.is_elsewhere:
            return ()
        return tuple(between(self.ground, self.old_definition[1], self.new_definition[1]))

    @property
    def receiver(self) -> str:
        """The peer that is sent what the finding is about; empty if it is either."""
        return self.finding.flow.rpartition("-to-")[2] if "-to-" in self.finding.flow else ""

    def value(self, at: At) -> Any:
        """What stands at a place of the new side; `None` for nothing."""
        try:
            return self.ground.value(at, self.ground.new)
        except KeyError:
            return None


def _is_branch(keys: Keys) -> bool:
    """Whether keys lead to an item of a list that they begin with."""
    return len(keys) == 2 and isinstance(keys[1], int)


def between(ground: Ground, old: At, new: At) -> Iterator[FileEdit]:
    """The edits that make what stands at a place of the new side say what stands at one of the old side."""
    before, after = ground.value(old, ground.old), ground.value(new, ground.new)
    if not new.keys and is_object(before) and is_object(after):
        before, after = (
            {key: value for key, value in side.items() if key not in DEFINITIONS} for side in (before, after)
        )
    wanted = ground.translated(before, old.path, new.path)
    yield from (FileEdit(new.path, edit) for edit in reversals(wanted, after, new.keys))


def complete(ground: Ground, parts: Iterable[FileEdit]) -> tuple[FileEdit, ...]:
    """The edits with the definitions that they refer to and the new side has not."""
    found = {(part.path, part.edit.at, part.edit.op, _last(part)): part for part in parts}
    for part in list(found.values()):
        for name in ground.missing(part.edit.value, part.path):
            again = restored(ground, name)
            found.setdefault((again.path, again.edit.at, again.edit.op, ""), again)
    return tuple(found.values())


def _last(part: FileEdit) -> str:
    """What tells items apart that are added at one place; of members there is one at each."""
    return part.edit.identity if part.edit.at and isinstance(part.edit.at[-1], int) else ""


def restored(ground: Ground, name: str, value: Any = None) -> FileEdit:
    """The definition that the old side alone has, behind the one that it follows there."""
    home, keys = ground.home(name), list(ground.before)
    earlier = [
        each for each in keys[: keys.index(name)] if ground.home(each).path == home.path and each in ground.after
    ]
    root = ground.value(At(home.path), ground.new)
    text = ground.as_new(name) if value is None else value
    if is_object(root) and home.keys[0] not in root:
        for key in reversed(home.keys[1:]):
            text = {key: text}
        return added(At(home.path, home.keys[:1]), text)
    after = str(ground.after[earlier[-1]].keys[-1]) if earlier and len(home.keys) == 2 else None
    return added(home, text, after)
