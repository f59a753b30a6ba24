"""Proposals for the repair of a finding: first edits that preserve the purpose of the change, then those that restore the old text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from acpgen import ir
from acpgen.compat.repair.reversals import Place, Reversal, find_holder, holds, list_constants
from acpgen.input.drafts import find_draft
from acpgen.input.walk import DEFINITIONS, is_array, is_object
from acpgen.pointers import split_place, write_plain_pointer

if TYPE_CHECKING:
    from acpgen.compat.findings import Finding
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.compat.repair.schema_files import SchemaPair

_BRANCHES: Final = ("anyOf", "oneOf")
_HOLDERS: Final = ("properties", "enum", *_BRANCHES, *DEFINITIONS)
"""The keywords that hold whole fields, constants, branches and definitions."""
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
    def identity(self) -> frozenset[str]:
        return frozenset(part.key for part in self.parts)


@dataclass(frozen=True)
class Proposals:
    """The proposals for one finding; `meaning` returns the lowered new side, computed on demand."""

    finding: Finding
    sides: SchemaPair
    meaning: Callable[[], SchemaRevision | None]

    def __iter__(self) -> Iterator[Proposal]:
        """Yield the proposals without duplicates, best first."""
        visited: set[frozenset[str]] = set()
        for proposal in chain(self._propose_optional(), self._propose_both(), self._propose_reversal()):
            whole = (
                proposal
                if proposal.effort == "revert all"
                else replace(proposal, parts=self.sides.complete(proposal.parts))
            )
            if whole.parts and whole.identity not in visited:
                visited.add(whole.identity)
                yield whole

    @cached_property
    def _old(self) -> Place | None:
        return self.sides.old.find_place(self.finding.old)

    @cached_property
    def _new(self) -> Place | None:
        return self.sides.new.find_place(self.finding.new)

    @cached_property
    def _is_new(self) -> bool:
        """Whether only the new side has the part."""
        return any(edit.op == "remove" and holds(edit.at, self._new) for edit in self.sides.reversals)

    def _propose_optional(self) -> Iterator[Proposal]:
        """Propose to make the new field optional, with its old default, or to gate new parts with a capability."""
        at, demand, gate = self._new, self._find_demand(), self._propose_gate()
        if at is None or demand is None:
            yield from () if gate is None else (gate,)
            return
        sentence = f"Make {at[-1]!r} optional"
        effort: Effort = "keep" if self._is_new else "revert"
        yield Proposal(f"{sentence}.", effort, (demand,))
        default = [edit for edit in self.sides.reversals if edit.op == "add" and edit.at == (*at, "default")]
        yield Proposal(f"{sentence}, with its old default.", effort, (demand, *default))
        if gate is not None:
            yield Proposal(f"{sentence}. {gate.description}", "keep", (demand, *gate.parts))

    def _find_demand(self) -> Reversal | None:
        at = self._new
        if at is None or find_holder(at) != "properties":
            return None
        required = (*at[:-2], "required")
        names = self.sides.new.get_value(required)
        is_required = is_array(names) and at[-1] in names
        return Reversal("remove", (*required, names.index(at[-1]))) if is_required else None

    def _propose_gate(self) -> Proposal | None:
        """Propose to gate a field or branch that only the new side has with a new capability in the `initialize` exchange."""
        new, at, receiver = self.sides.new, self._new, self.finding.flow.partition("-to-")[2]
        value, holder = new.get_value(at), find_holder(at)
        if at is None or not is_object(value) or not receiver or not self._is_new:
            return None
        name = next(map(str, list_constants(value).values()), "") if holder in _BRANCHES else str(at[-1])
        target = self._find_capabilities(receiver) if name and holder in ("properties", *_BRANCHES) else None
        capabilities, path = target or (None, "")
        if capabilities is None or not is_object(new.get_value(capabilities)):
            return None
        place = (*capabilities, "properties")
        declared_members = new.get_value(place)
        words = [word[0].upper() + word[1:] for word in re.split("[^A-Za-z0-9]+", name) if word] or ["addition"]
        key = re.sub("^[0-9]", "v", words[0][0].lower()) + "".join(words)[1:]
        while is_object(declared_members) and key in declared_members:
            key += "2"
        gate = f"{receiver}:{path}.{key}"
        declared: Any = {"description": f"Whether the peer supports {name!r}.", "type": "boolean"}
        is_first = not is_object(declared_members)
        capability = Reversal("add", place, {key: declared}) if is_first else Reversal("add", (*place, key), declared)
        marking = Reversal("replace" if "x-capability" in value else "add", (*at, "x-capability"), gate)
        sentence = f"Send {name!r} only to peers that advertise the new capability {gate}."
        return Proposal(sentence, "keep", (capability, marking))

    def _find_capabilities(self, receiver: str) -> tuple[Place, str] | None:
        """The place of the receiver's capabilities object, and the field that contains it."""
        meaning = self.meaning()
        if meaning is None:
            return None
        texts = "\n".join(document.text for document in self.sides.new.input.documents.documents)
        capability_names = re.findall(rf'"x-capability"\s*:\s*"{re.escape(receiver)}:([^".]+)', texts)
        for method in (method for method in meaning.protocol.methods if method.name == "initialize"):
            record = meaning.definitions.get((method.result if method.side == receiver else method.params) or "")
            for field_ in record.fields if isinstance(record, ir.Record) else ():
                options = field_.type.types if isinstance(field_.type, ir.AnyOf) else (field_.type,)
                names = [option.name for option in options if isinstance(option, ir.Ref)]
                is_capability = field_.name in capability_names or field_.name.lower().endswith("capabilities")
                if len(names) == 1 and is_capability:
                    origin = meaning.bundle.origins[names[0]]
                    return self.sides.new.parse_parts(origin.partition("#")[0], split_place(origin)), field_.name
        return None

    def _propose_both(self) -> Iterator[Proposal]:
        """Propose to keep the removed part beside the new one, marked as deprecated.

        The part is a field, a branch, or a method with all its messages.
        """
        place, sides = self._old, self.sides
        additions = [edit for edit in sides.reversals if edit.op == "add" and edit.old]
        restorations = [edit for edit in additions if holds(place, edit.old) and find_holder(edit.at) in _HOLDERS]
        if place is None or not restorations or not self.finding.rule.endswith(_GONE):
            return
        methods = {_get_method(edit.value) for edit in restorations} - {None}
        restorations += [edit for edit in additions if edit not in restorations and _get_method(edit.value) in methods]
        around = sides.old.find_definition(place)
        rest = [
            edit for edit in additions if sides.find_changed_definition(edit) == around and edit not in restorations
        ]
        demand = self._find_demand() if self.finding.rule.endswith("-renamed") else None
        more = [*self._list_restored_branches(restorations, additions), *([demand] if demand else [])]
        deprecated_parts = [self._deprecate(edit) for edit in restorations]
        keeps = deprecated_parts != restorations
        sentence = f"Keep {self._name(place)}{', marked as deprecated,' if keeps else ''} until the next major version."
        for parts in (deprecated_parts, [*deprecated_parts, *rest]):
            yield Proposal(sentence, "keep" if keeps else "revert", (*parts, *more))

    def _list_restored_branches(
        self, restorations: Iterable[Reversal], additions: Iterable[Reversal]
    ) -> list[Reversal]:
        """The branches of definitions and roots that refer to the restored messages."""
        old, places = self.sides.old, {edit.old for edit in restorations}
        names = {name for name, at in old.definitions.items() if at in places} - self.sides.new.definitions.keys()
        items = [edit for edit in additions if isinstance(edit.at[-1], int) and edit not in restorations]
        return [
            edit
            for edit in items
            if edit.old and names.intersection(old.list_references(old.get_value(edit.old), edit.old[0]))
        ]

    def _deprecate(self, edit: Reversal) -> Reversal:
        """The edit with `deprecated` added to the restored value, if the draft has this keyword."""
        value = {} if edit.value is True and find_holder(edit.at) == "properties" else edit.value
        new = self.sides.new
        draft = find_draft(new.get_value(edit.at[:1]), new.input.documents.values_by_uri)
        if not is_object(value) or draft is None or draft.name not in ("2019-09", "2020-12"):
            return edit
        return replace(edit, value={**value, "deprecated": True})

    def _name(self, place: Place) -> str:
        """The name of the removed part on the old side."""
        if find_holder(place) == "properties":
            return repr(place[-1])
        value = self.sides.old.get_value(place)
        tags = [_get_method(value), *list_constants(value).values(), *([] if is_object(value) else [value])]
        return repr(next((tag for tag in tags if tag is not None), self.finding.location))

    def _propose_reversal(self) -> Iterator[Proposal]:
        """Propose to restore the old text: at the place of the finding, in its definition, in adjacent definitions, everywhere."""
        sides, places = self.sides, ((self._new, self.sides.new), (self._old, self.sides.old))
        names = frozenset(side.find_definition(place) for place, side in places if place is not None)
        yield Proposal("", "revert", tuple(filter(self._is_near, sides.reversals)))
        yield Proposal("", "revert", self._list_edits(names))
        if self._new is not None:
            yield Proposal("", "revert", sides.remove_definition(sides.new.find_definition(self._new)))
        adjacent = (link for link in sides.old.links | sides.new.links if names.intersection(link))
        yield Proposal("", "revert more", self._list_edits(names.union(*adjacent)))
        yield Proposal("", "revert all", sides.reversals)

    def _list_edits(self, names: frozenset[str]) -> tuple[Reversal, ...]:
        return tuple(edit for edit in self.sides.reversals if self.sides.find_changed_definition(edit) in names)

    def _is_near(self, edit: Reversal) -> bool:
        """Whether an edit is at, below or above the place of the finding, or changes whether its field is required."""
        value = self.sides.new.get_value(edit.at) if edit.op == "remove" else edit.value
        names = value if is_array(value) else [value]
        for place, at in ((self._new, edit.at), (self._old, edit.old)):
            is_demand = place is not None and find_holder(place) == "properties" and place[-1] in names
            if holds(place, at) or holds(at, place) or (place and is_demand and holds((*place[:-2], "required"), at)):
                return True
        return False


def _get_method(value: Any) -> str | None:
    return value["x-method"] if is_object(value) and isinstance(value.get("x-method"), str) else None


def describe(parts: tuple[Reversal, ...]) -> str:
    """The description of edits that restore the old text."""
    if len(parts) > _FEW:
        files = len({part.at[0] for part in parts})
        return f"Revert the change: {len(parts)} places get their old text{f' in {files} files' if files > 1 else ''}."
    verbs = {"add": "put back", "remove": "remove", "replace": "restore"}
    words = (f"{verbs[part.op]} {write_plain_pointer(*part.at[1:])}" for part in parts)
    return f"Revert the change: {', '.join(words)}."
