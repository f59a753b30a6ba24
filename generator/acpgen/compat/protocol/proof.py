"""Asks the language prover where the changes of a pair leave a doubt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from acpgen import ir
from acpgen.compat.diff.pairs import Pair, Step
from acpgen.compat.findings import Answer, Revision, opposite
from acpgen.compat.protocol.declared import DECLARED, SENT, as_sent, schema_of
from acpgen.compat.protocol.formats import unjudged, unknown
from acpgen.compat.protocol.revision import Revised
from acpgen.schema.walk import is_array, is_object, references

if TYPE_CHECKING:
    from acpgen.schema.walk import Schema
    from schema_inclusion import Allowance, Comparer, Relation

STEPS: Final = 20_000
"""Steps of one question: a third of a second. A larger budget of the run gives each a hundredth of it."""


class Doubts:
    """Inclusion of pairs of types. Asked only when needed, each question once."""

    def __init__(self, old: Revised, new: Revised, allowance: Allowance, *, formats: bool = False) -> None:
        """`formats` are asserted, or annotate."""
        self._sides = old, new
        self._formats = formats
        self._allowance = allowance
        self._steps = max(STEPS, allowance.left // 100)
        self._comparer: Comparer | None = None
        self._relations: dict[tuple[ir.Type, ir.Type, Revision, bool, str], Relation] = {}

    def included(self, pair: Pair, sender: Revision, *, declared: bool = True, json_type: str = "") -> Answer:
        """Whether everything that the sender's side of a pair accepts is accepted by the other.

        `declared` keeps the sender to what its schema declares, and to extensions; `json_type` to the values of one type.
        """
        return self._relation(pair, sender, declared, json_type).verdict.value

    def heard(
        self, pair: Pair, alternative: ir.Type, sender: Revision, names: Collection[str] | None = None
    ) -> Relation:
        """Whether all that an alternative of the sender's side of a pair declares, and that this side accepts, is declared by the other
        side too, and not merely let through; of objects with these members alone, where `names` are given.
        """
        alone: list[Schema] = [] if names is None else [{"propertyNames": {"enum": sorted(names)}}]
        sent: Schema = {"allOf": [schema_of(alternative, DECLARED), schema_of(pair.on(sender)), *alone]}
        known: Schema = {"allOf": [schema_of(pair.on(opposite(sender)), DECLARED)]}
        return self.between(*((sent, known) if sender == "old" else (known, sent)), sender)

    def declares(self, pair: Pair, sender: Revision, value: ir.JSON) -> Answer:
        """Whether the receiver's side of a pair declares all of a value, and does not merely let it through."""
        known: Schema = {"allOf": [schema_of(pair.on(opposite(sender)), DECLARED)]}
        sent: Schema = {"const": value}
        return self.between(*((sent, known) if sender == "old" else (known, sent)), sender).verdict.value

    def counterexample(
        self, pair: Pair, sender: Revision, *, declared: bool = True, json_type: str = ""
    ) -> tuple[ir.JSON] | None:
        """A value that the sender's side of a pair accepts and the other refuses, kept to as in `included`; `None` where none was found."""
        witness = self._relation(pair, sender, declared, json_type).witness
        return None if witness is None else (witness.value,)

    def within(self, pair: Pair, sender: Revision, demand: Schema, json_type: str) -> Relation:
        """Whether what the sender's side of a pair declares of one JSON type meets a demand."""
        sent: Schema = {"allOf": [_question(pair.on(sender), SENT), {"type": json_type}]}
        return self.between(*((sent, demand) if sender == "old" else (demand, sent)), sender)

    def inside(self, whole: Pair, steps: Sequence[Step], pair: Pair, sender: Revision) -> Relation | None:
        """Whether what whole values of the sender's side hold where the steps lead is all accepted by the other side of the pair there;
        `None` where the steps cannot be followed. A part of an `allOf` says less of a place than all of its parts.
        """
        taken: Schema = _question(pair.on(opposite(sender)))
        for step in reversed(steps):
            match step.kind:
                case "field":
                    taken = {"properties": {str(step.on(sender)): taken}}
                case "item" if not isinstance(step.name, int):
                    taken = {"items": taken}
                case "variant" if step.tag and step.was is None:
                    variant = {"properties": {step.tag: {"const": step.name}}, "required": [step.tag]}
                    taken = {"if": variant, "then": taken}
                case _:
                    return None
        sent = _question(whole.on(sender), SENT)
        return self.between(*((sent, taken) if sender == "old" else (taken, sent)), sender)

    def _relation(self, pair: Pair, sender: Revision, declared: bool, json_type: str) -> Relation:
        key = (pair.old, pair.new, sender, declared, json_type)
        if key not in self._relations:
            self._relations[key] = self._asked(*key)
        return self._relations[key]

    def between(self, old: Schema, new: Schema, sender: Revision) -> Relation:
        """The relation of two schemas whose references are those of the bundles."""
        comparer = self._opened()
        relation = comparer.include(old, new) if sender == "old" else comparer.include_back(new, old)
        if not self._formats or relation.witness is not None:
            return relation
        reason = unknown(
            *(unjudged(self._reached(schema, side)) for schema, side in zip((old, new), self._sides, strict=True))
        )
        return replace(relation, verdict=type(relation.verdict).UNDECIDED, reason=f"{reason}.") if reason else relation

    def _reached(self, schema: Schema, side: Revised) -> list[Schema]:
        """A schema and the definitions of a side that it leads to."""
        names: dict[str, None] = {}
        pending = [name.removesuffix(SENT).removesuffix(DECLARED) for name in references(schema)]
        while pending:
            name = pending.pop()
            if name in side.written and name not in names:
                names[name] = None
                pending.extend(references(side.written[name]))
        return [schema, *(side.written[name] for name in names)]

    def _asked(self, old: ir.Type, new: ir.Type, sender: Revision, declared: bool, json_type: str) -> Relation:
        suffix = SENT if declared else ""
        before, after = (_question(each, suffix if sender == by else "") for by, each in (("old", old), ("new", new)))
        if json_type:
            before, after = ({"allOf": [each, {"type": json_type}]} for each in (before, after))
        return self.between(before, after, sender)

    def _opened(self) -> Comparer:
        from schema_inclusion import FORMATS, Comparer

        if self._comparer is None:
            documents: list[Any] = [
                {
                    **side.bundle.schema,
                    "$defs": {
                        **side.written,
                        **as_sent(side.meant, side.written),
                        **as_sent(side.meant, side.written, DECLARED),
                    },
                }
                for side in self._sides
            ]
            asserted = tuple(FORMATS) if self._formats else ()
            self._comparer = Comparer(*documents, steps=self._steps, allowance=self._allowance, formats=asserted)
        return self._comparer


def held(value: ir.JSON, steps: Sequence[Step], side: Revision) -> list[ir.JSON]:
    """What stands in a value where fields and items lead."""
    if not steps:
        return [value]
    inner: Sequence[ir.JSON] = ()
    if is_object(value) and steps[0].kind == "field":
        name = str(steps[0].on(side))
        inner = [value[name]] if name in value else ()
    elif is_object(value) and steps[0].kind == "variant":
        inner = [value] if value.get(steps[0].tag) == steps[0].name else ()
    elif is_array(value) and steps[0].kind == "item":
        inner = value
    return [each for one in inner for each in held(one, steps[1:], side)]


def _question(type_: ir.Type, suffix: str = "") -> Schema:
    kept = [schema_of(type_, suffix)] if suffix else []
    return {"allOf": [schema_of(type_), *kept]}
