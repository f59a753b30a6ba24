"""Asks the language prover where the facts of a pair leave a doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpgen import ir
from acpgen.compat.findings import Answer, Revision
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.protocol.walk import Pair
from acpgen.walk import Schema, pointer

if TYPE_CHECKING:
    from acpgen.compat.language import Comparer

STEPS = 20_000
"""Steps of one question: a third of a second."""


class Doubts:
    """Inclusion of pairs of definitions. Asked only when needed, each question once."""

    def __init__(self, old: Revised, new: Revised) -> None:
        self._sides = old, new
        self._comparer: Comparer | None = None
        self._answers: dict[tuple[str, str, Revision, bool], Answer] = {}

    def included(self, pair: Pair, sender: Revision, *, declared: bool = True) -> Answer:
        """Whether everything that the sender's side of a pair accepts is accepted by the other; `undecided` without definitions.

        `declared` keeps the sender to members that it declares, and to extensions.
        """
        if not isinstance(pair.old, ir.Ref) or not isinstance(pair.new, ir.Ref):
            return "undecided"
        key = (pair.old.name, pair.new.name, sender, declared)
        if key not in self._answers:
            self._answers[key] = self._asked(*key)
        return self._answers[key]

    def _asked(self, old: str, new: str, sender: Revision, declared: bool) -> Answer:
        from acpgen.compat.language import Comparer

        if any(name not in side.bundle.definitions for name, side in zip((old, new), self._sides, strict=True)):
            return "undecided"
        if self._comparer is None:
            self._comparer = Comparer(self._sides[0].bundle.schema, self._sides[1].bundle.schema, steps=STEPS)
        before: Schema = {"$ref": pointer("$defs", old)}
        after: Schema = {"$ref": pointer("$defs", new)}
        if sender == "old":
            kept = _declared(self._sides[0].definitions[old]) if declared else {}
            relation = self._comparer.include(before | kept, after)
        else:
            kept = _declared(self._sides[1].definitions[new]) if declared else {}
            relation = self._comparer.include_back(after | kept, before)
        return relation.verdict.value


def _declared(definition: ir.Definition) -> Schema:
    """What keeps a sender to the members that its record declares, and to extensions."""
    if not isinstance(definition, ir.Record) or definition.extra != ir.Anything():
        return {}
    names = [field.name for field in definition.fields]
    return {"propertyNames": {"anyOf": [{"enum": names}, {"pattern": "^_"}]}} if names else {}
