"""Proposals for the repair of a finding: first edits that preserve the purpose of the change, then those that restore the old text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from acpgen import ir
from acpgen.compat.repair.reversals import FilePlace, Reversal, addition, constants, removal
from acpgen.input.drafts import draft_of
from acpgen.input.text_edits import Edit
from acpgen.input.walk import DEFINITIONS, is_array, is_object
from acpgen.pointers import place_parts, plain_pointer

if TYPE_CHECKING:
    from acpgen.compat.findings import Finding
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.compat.repair.sides import Sides

_BRANCHES: Final = ("anyOf", "oneOf")
_GONE: Final = ("-removed", "-renamed", "-undeclared", "-kind-changed")
"""The endings of rules that report a removal."""
_FEW: Final = 3
"""The maximum number of edits that are described individually."""


Effort: TypeAlias = Literal["keep", "revert", "revert more", "revert all"]
EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)
"""The kinds of proposals; each is tried for all findings before the next. "keep" preserves the purpose of the change, the others restore
the old text: in the definition of the finding, also in adjacent ones, or in all.
"""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Edits that may repair a finding. Unnecessary ones may be omitted."""

    description: str
    effort: Effort
    parts: tuple[Reversal, ...] = field(repr=False)

    @property
    def keeps(self) -> bool:
        """Whether the purpose of the change is preserved."""
        return self.effort == "keep"

    @property
    def identity(self) -> frozenset[tuple[str, str]]:
        return frozenset(part.identity for part in self.parts)


@dataclass(frozen=True)
class Proposals:
    """The proposals for one finding; `meaning` returns the lowered new side, computed on demand."""

    finding: Finding
    sides: Sides
    meaning: Callable[[], SchemaRevision | None]

    def __iter__(self) -> Iterator[Proposal]:
        """Yield the proposals without duplicates, best first."""
        visited: set[frozenset[tuple[str, str]]] = set()
        for proposal in chain(self._optional(), self._beside(), self._reverted()):
            whole = (
                proposal
                if proposal.effort == "revert all"
                else replace(proposal, parts=self.sides.complete(proposal.parts))
            )
            if whole.parts and whole.identity not in visited:
                visited.add(whole.identity)
                yield whole

    @cached_property
    def _old(self) -> FilePlace | None:
        return self.sides.place(self.finding.old, self.sides.old)

    @cached_property
    def _new(self) -> FilePlace | None:
        return self.sides.place(self.finding.new, self.sides.new)

    @cached_property
    def _is_new(self) -> bool:
        """Whether only the new side has the part."""
        return any(each.edit.op == "remove" and each.at.holds(self._new) for each in self.sides.reversals)

    def _value(self, at: FilePlace | None) -> Any:
        return None if at is None else self.sides.value(at, self.sides.new)

    def _optional(self) -> Iterator[Proposal]:
        """Propose to make the new field optional, with its old default, or to gate new parts with a capability."""
        at, demand, gate = self._new, self._demand(), self._gate()
        if at is None or demand is None:
            yield from () if gate is None else (gate,)
            return
        sentence = f"Make {at.keys[-1]!r} optional"
        effort: Effort = "keep" if self._is_new else "revert"
        yield Proposal(f"{sentence}.", effort, (demand,))
        default = [each for each in self.sides.reversals if each.edit.op == "add" and each.at == at.below("default")]
        yield Proposal(f"{sentence}, with its old default.", effort, (demand, *default))
        if gate is not None:
            yield Proposal(f"{sentence}. {gate.description}", "keep", (demand, *gate.parts))

    def _demand(self) -> Reversal | None:
        """The edit that removes the new field from `required`."""
        at = self._new
        names = (
            self._value(FilePlace(at.path, (*at.keys[:-2], "required"))) if at and at.holder == "properties" else None
        )
        if at is None or not is_array(names) or at.keys[-1] not in names:
            return None
        return removal(FilePlace(at.path, (*at.keys[:-2], "required", names.index(at.keys[-1]))), at.keys[-1])

    def _gate(self) -> Proposal | None:
        """Propose to gate a field or branch that only the new side has with a new capability in the `initialize` exchange."""
        at, value, receiver = self._new, self._value(self._new), self.finding.flow.partition("-to-")[2]
        if at is None or not is_object(value) or not receiver or not self._is_new:
            return None
        tags = constants(value).values() if at.holder in _BRANCHES else ()
        name = next(map(str, tags), "") if at.holder in _BRANCHES else str(at.keys[-1])
        capabilities = self._capabilities(receiver) if name and at.holder in ("properties", *_BRANCHES) else None
        if capabilities is None:
            return None
        (holder, path), place = capabilities, capabilities[0].below("properties")
        declared_members = self._value(place)
        if not is_object(self._value(holder)):
            return None
        words = [each[0].upper() + each[1:] for each in re.split("[^A-Za-z0-9]+", name) if each] or ["addition"]
        key = re.sub("^[0-9]", "v", words[0][0].lower()) + "".join(words)[1:]
        while is_object(declared_members) and key in declared_members:
            key += "2"
        gate, mark = f"{receiver}:{path}.{key}", at.below("x-capability")
        declared = {"description": f"Whether the peer supports {name!r}.", "type": "boolean"}
        capability = (
            addition(place.below(key), declared) if is_object(declared_members) else addition(place, {key: declared})
        )
        marking = Reversal(mark.path, Edit("replace" if "x-capability" in value else "add", mark.keys, gate))
        sentence = f"Send {name!r} only to peers that advertise the new capability {gate}."
        return Proposal(sentence, "keep", (capability, marking))

    def _capabilities(self, receiver: str) -> tuple[FilePlace, str] | None:
        """The place of the receiver's capabilities object, and the field that contains it."""
        meaning = self.meaning()
        if meaning is None:
            return None
        texts = "\n".join(each.text for each in self.sides.new.documents.documents)
        capability_names = re.findall(rf'"x-capability"\s*:\s*"{re.escape(receiver)}:([^".]+)', texts)
        for method in (each for each in meaning.protocol.methods if each.name == "initialize"):
            record = meaning.definitions.get((method.result if method.side == receiver else method.params) or "")
            for each in record.fields if isinstance(record, ir.Record) else ():
                options = each.type.types if isinstance(each.type, ir.AnyOf) else (each.type,)
                names = [option.name for option in options if isinstance(option, ir.Ref)]
                if len(names) == 1 and (each.name in capability_names or each.name.lower().endswith("capabilities")):
                    origin = meaning.bundle.origins[names[0]]
                    return self.sides.typed(origin.partition("#")[0], place_parts(origin), self.sides.new), each.name
        return None

    def _beside(self) -> Iterator[Proposal]:
        """Propose to keep the removed part beside the new one, marked as deprecated.

        The part is a field, a branch, or a method with all its messages.
        """
        place, every = self._old, [each for each in self.sides.reversals if each.edit.op == "add" and each.old]
        back = [each for each in every if place and place.holds(each.old) and _is_thing(each.at)]
        if not back or not self.finding.rule.endswith(_GONE):
            return
        methods = {_method(each.value) for each in back} - {None}
        back += [each for each in every if each not in back and _method(each.value) in methods]
        around = frozenset({self.sides.around(place, self.sides.old)} if place else ())
        rest = [each for each in self._edits(around) if each.edit.op == "add" and each.old and each not in back]
        demand = self._demand() if self.finding.rule.endswith("-renamed") else None
        others = [*self._listings(back, every), *([demand] if demand else [])]
        deprecated_parts = [self._deprecated(each) for each in back]
        keeps = deprecated_parts != back
        sentence = f"Keep {self._name()}{', marked as deprecated,' if keeps else ''} until the next major version."
        for parts in (deprecated_parts, [*deprecated_parts, *rest]):
            yield Proposal(sentence, "keep" if keeps else "revert", (*parts, *others))

    def _listings(self, back: Iterable[Reversal], every: Iterable[Reversal]) -> list[Reversal]:
        """The branches of definitions and roots that refer to the restored messages."""
        places = {each.old for each in back}
        names = {name for name, at in self.sides.before.items() if at in places and name not in self.sides.after}
        items = [each for each in every if isinstance(each.edit.at[-1], int) and each not in back]
        return [each for each in items if each.old and names.intersection(self.sides.references(each.old))]

    def _deprecated(self, each: Reversal) -> Reversal:
        """The edit with `deprecated` added to the restored value, if the draft has this keyword."""
        value = {} if each.edit.value is True and each.at.holder == "properties" else each.edit.value
        draft = draft_of(self._value(FilePlace(each.path)), self.sides.new.documents.reference_values)
        if not is_object(value) or draft is None or draft.name not in ("2019-09", "2020-12"):
            return each
        return replace(each, edit=replace(each.edit, value={**value, "deprecated": True}))

    def _name(self) -> str:
        """The name of the removed part on the old side."""
        value = None if self._old is None else self.sides.value(self._old, self.sides.old)
        if self._old is not None and self._old.holder == "properties":
            return repr(self._old.keys[-1])
        tags = [_method(value), *constants(value).values(), *([] if is_object(value) else [value])]
        return repr(next((each for each in tags if each is not None), self.finding.location))

    def _reverted(self) -> Iterator[Proposal]:
        """Propose to restore the old text: at the place of the finding, in its definition, in adjacent definitions, everywhere."""
        sides, places = self.sides, ((self._new, self.sides.new), (self._old, self.sides.old))
        names = frozenset(sides.around(place, side) for place, side in places if place is not None)
        yield Proposal("", "revert", tuple(filter(self._is_near, sides.reversals)))
        yield Proposal("", "revert", self._edits(names))
        if self._new is not None:
            yield Proposal("", "revert", sides.removal_of(sides.around(self._new, sides.new)))
        yield Proposal("", "revert more", self._edits(sides.near(names)))
        yield Proposal("", "revert all", sides.reversals)

    def _edits(self, names: frozenset[str]) -> tuple[Reversal, ...]:
        """The edits of these definitions."""
        return tuple(each for each in self.sides.reversals if self.sides.edited(each) in names)

    def _is_near(self, each: Reversal) -> bool:
        """Whether an edit is at, below or above the place of the finding, or changes whether its field is required."""
        names = each.value if is_array(each.value) else [each.value]
        for place, at in ((self._new, each.at), (self._old, each.old)):
            if place is not None and at is not None:
                required = FilePlace(place.path, (*place.keys[:-2], "required"))
                is_named = place.holder == "properties" and required.holds(at) and place.keys[-1] in names
                if place.holds(at) or at.holds(place) or is_named:
                    return True
        return False


def _is_thing(at: FilePlace) -> bool:
    """Whether a place is that of a whole field, branch, constant or definition."""
    return at.holder in ("properties", "enum", *_BRANCHES, *DEFINITIONS)


def _method(value: Any) -> str | None:
    return value["x-method"] if is_object(value) and isinstance(value.get("x-method"), str) else None


def describe(parts: tuple[Reversal, ...]) -> str:
    """The description of edits that restore the old text."""
    if len(parts) > _FEW:
        files = len({part.path for part in parts})
        return f"Revert the change: {len(parts)} places get their old text{f' in {files} files' if files > 1 else ''}."
    verbs = {"add": "put back", "remove": "remove", "replace": "restore"}
    words = (f"{verbs[part.edit.op]} {plain_pointer(*part.edit.at)}" for part in parts)
    return f"Revert the change: {', '.join(words)}."
