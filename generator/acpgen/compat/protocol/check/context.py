"""The context of a check: two revisions, everything asked about them within one budget, and how a judgement of a change becomes a
finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.definitions import Walk
from acpgen.compat.diff.methods import pair_methods
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import BUDGET, NO_ACTION, Effect, Reach, Revision, Sides, Witness, get_opposite
from acpgen.compat.protocol.acceptance import Acceptance
from acpgen.compat.protocol.check.counterparts import (
    DIRECTIONS,
    Cause,
    MessagePair,
    UnreachedDefinitions,
    extend_location,
    find_shared_roots,
    find_unreached,
    get_names,
    list_content_definitions,
    list_groups,
    list_messages,
    list_routes,
    make_document_pair,
)
from acpgen.compat.protocol.check.frames import Frame, find_frames
from acpgen.compat.protocol.messages import NO_ROUTE, WitnessValidator
from acpgen.compat.protocol.revision import SchemaRevision, list_fields
from acpgen.compat.protocol.revision import find_rewritten_definitions as rewritten_names
from acpgen.compat.rule import EFFECTS, NEW_TO_OLD, OLD_FROM_NEW, OLD_TO_NEW, Gate, Judgement, decide_severity
from acpgen.compat.rules import judge
from schema_inclusion import Allowance

UNPROVEN: Final = "No message that proves it was found, so the finding is undecided."


class Context:
    """Two revisions with the walk that collects changes, the validator of witnesses and the prover, all within one budget."""

    def __init__(self, old: SchemaRevision, new: SchemaRevision, budget: int = BUDGET, formats: bool = False) -> None:
        self.budget = budget
        self.formats = formats
        self.allowance = Allowance(budget)
        self.revisions = Sides(old, new)
        self.old = old
        self.new = new
        self.validator = WitnessValidator(old, new, self.allowance, formats=formats)
        self.contents = list_content_definitions(old, new, self.rewritten)
        self.acceptance = Acceptance(old, new, self.allowance, self.contents, formats=formats)
        self.walk = self.make_walk()
        self.routes = [*list_routes(old, new)]

    def make_walk(self) -> Walk:
        """A walk over pairs of types, in which nothing was visited yet."""
        return Walk(self.old, self.new, self.rewritten, self.acceptance.find_form)

    @cached_property
    def methods(self) -> Sequence[tuple[ir.Method, ir.Method]]:
        """The methods that both revisions have."""
        return [*pair_methods(self.old, self.new)]

    @cached_property
    def roots(self) -> Mapping[str, str]:
        """The definitions that represent root schemas, with their labels."""
        return find_shared_roots(self.old, self.new)

    @cached_property
    def rewritten(self) -> frozenset[str]:
        """The definitions whose text differs between the revisions."""
        return rewritten_names(self.old, self.new, list_groups(self.old, self.new))

    @cached_property
    def messages(self) -> dict[Revision, set[str]]:
        """The definitions of whole messages."""
        return {"old": list_messages(self.old), "new": list_messages(self.new)}

    @cached_property
    def frames(self) -> list[Frame]:
        """What frames messages and differs between the revisions."""
        return [*find_frames(self)]

    @cached_property
    def held(self) -> tuple[Pair, ...]:
        """The pairs that messages contain."""
        for messages in self.routes:
            self.walk.visit(messages.pair)
        return tuple(self.walk.nodes)

    @cached_property
    def cover(self) -> UnreachedDefinitions:
        """The definitions that no message contains."""
        paired = [names for pair in self.held if (names := get_names(pair)) is not None]
        return find_unreached(self.old, self.new, paired)

    @cached_property
    def pairs(self) -> list[MessagePair]:
        """Everything that is compared: what messages contain, and the definitions outside of messages.

        A definition that the sources do not declare and that is already compared inside another is left out.
        """
        documents = [replace(make_document_pair(old, new, new), alone=True) for old, new in self.cover.alone]
        pairs = [*self.routes, *(document for document in documents if self.walk.is_declared(document.pair))]
        for messages in pairs[len(self.routes) :]:
            self.walk.visit(messages.pair)
        old_names, new_names = self.walk.list_names("old"), self.walk.list_names("new")
        undeclared = (document for document in documents if not self.walk.is_declared(document.pair))
        pairs += (
            pair for pair in undeclared if pair.old.content not in old_names and pair.new.content not in new_names
        )
        return pairs

    def is_changed(self, messages: MessagePair) -> bool:
        """Whether a kind of message has changed, or is written differently although no change explains it."""
        old, new = messages.old.content, messages.new.content
        is_rewritten = old is not None and new is not None and (old != new or old in self.rewritten)
        return self.walk.is_changed(messages.pair) or is_rewritten

    # --- the prover ---

    def is_included(self, pair: Pair, *, declared: bool) -> bool:
        """Whether each side of a pair accepts everything that the other side accepts or, with `declared`, declares."""
        return all(self.acceptance.is_included(pair, sender, declared=declared) == "yes" for sender, _ in DIRECTIONS)

    def find_refusals(self, pair: Pair) -> Iterator[tuple[Revision, Revision]]:
        """Yield the directions in which a value of the sender's definition may be refused, undeclared members included."""
        for sender, receiver in DIRECTIONS:
            if self.acceptance.is_included(pair, sender, declared=False) != "yes":
                yield sender, receiver

    # --- findings ---

    def reach(
        self,
        judgement: Judgement,
        messages: MessagePair,
        change: Change,
        location: str,
        witness: Witness | None = None,
        *,
        proven: bool = False,
        cause: Cause | None = None,
    ) -> Reach:
        """The finding that a judgement makes for one kind of message; undecided if no witness shows it and it is not `proven` otherwise."""
        gate = self._find_gate(judgement.gate, messages)
        severity = decide_severity(judgement.effect, messages.flow, gate)
        text = f"{judgement.message}{self._describe_ungated(judgement)}"
        if gate == "known" and judgement.gate is not None:
            text = f"{text} Its gate {judgement.gate} may already be advertised by old peers."
        wants = judgement.accepted_by is not None or judgement.carried_by is not None
        refuses: tuple[Revision, ...] = ()
        doubtful: tuple[Revision, ...] = ("old", "new") if judgement.effect == "undetermined" else ()
        if severity in ("breaking", "risky") and wants and witness is None and not proven:
            doubtful = (get_opposite(judgement.accepted_by),) if judgement.accepted_by is not None else ()
            if self.allowance.is_spent:  # with more steps, a message might show it
                losing = () if judgement.carried_by is None else (get_opposite(judgement.carried_by),)
                doubtful = tuple(dict.fromkeys((*doubtful, *judgement.unaware, *losing)))
            severity, text = "undecided", f"{text} {UNPROVEN}"
        elif witness is not None and witness.refused_by is not None and severity in ("breaking", "risky"):
            refuses = (witness.refused_by,)
        else:
            refuses = judgement.unaware
        is_cut_off = severity == "undecided" and self.allowance.is_spent
        if is_cut_off:
            steps = "1 step" if self.budget == 1 else f"{self.budget} steps"
            text = f"{text} Undecided: budget. The budget of {steps} is spent; raise it with '--budget'."
        method, place = messages.method, extend_location(location, judgement.within)
        finding_cause = cause or Cause(method if method is not None else place, (method, place), judgement.message)
        return Reach(
            rule=judgement.rule,
            severity=severity,
            effect=_find_effect(judgement, witness),
            method=method,
            flow=messages.flow_name,
            location=place,
            old_at=change.old_at,
            new_at=change.new_at,
            message=text,
            advice=NO_ACTION if gate == "fresh" and severity == "additive" else judgement.advice,
            breaks=describe_break(judgement, messages) if severity in ("breaking", "risky") else "",
            subject=judgement.subject,
            witness=witness if severity in ("breaking", "risky", "additive") else None,
            declaration=finding_cause.declaration,
            cause=finding_cause.key,
            statement=finding_cause.statement,
            refuses=refuses,
            doubtful=doubtful,
            sender=judgement.accepted_by or judgement.carried_by,
            is_cut_off=is_cut_off,
        )

    def report_editorial(self, change: Change) -> Reach:
        """The finding of a change that concerns only the files."""
        judgement = judge(change)
        old, old_rest = self.old.find_owner(change.old_at, declared=True)
        new, new_rest = self.new.find_owner(change.new_at, declared=True)
        label = judgement.within or ((new or old) + list_fields(new_rest if new else old_rest)).lstrip(".")
        cause = Cause(label, (old, new, label), judgement.message)
        nobody = MessagePair(NO_ROUTE, NO_ROUTE, "nobody")
        return self.reach(judgement, nobody, change, "", proven=True, cause=cause)

    def report_definition(self, change: Change, name: str, doubtful: Sequence[Revision] | None = None) -> Reach:
        """The finding of a change of a definition that no message contains; `doubtful` are the revisions that may refuse something."""
        reach = self.reach(judge(change), make_document_pair(name, name, name), change, name, proven=True)
        return reach if doubtful is None else replace(reach, doubtful=tuple(doubtful))

    def report_not_compared(
        self, name: str, reason: str, doubtful: Sequence[Revision] | None, at: ChangePlaces | None = None
    ) -> Reach:
        """The finding that a part was not compared; `doubtful` as in `report_definition`."""
        change = Change("not-compared", name=name, detail=reason, **(at or self.locate(name, name)))
        return self.report_definition(change, name, doubtful)

    def locate(self, old: str, new: str) -> ChangePlaces:
        """The places of definitions in the sources; empty for a definition that a side does not have."""
        return {"old_at": self.old.bundle.origins.get(old, ""), "new_at": self.new.bundle.origins.get(new, "")}

    def locate_roots(self) -> ChangePlaces:
        """The places of the roots in the sources."""
        first_places = (next(iter(side.bundle.origins.values()), "") for side in self.revisions)
        old_at, new_at = (f"{at.partition('#')[0]}#" if at else "" for at in first_places)
        return {"old_at": old_at, "new_at": new_at}

    def _describe_ungated(self, judgement: Judgement) -> str:
        """The sentence that no capability in the schema gates an addition; empty if one does."""
        if judgement.gate is not None or judgement.ungated is None:
            return ""
        rest = f": {judgement.ungated}" if judgement.ungated else ""
        if self.new.gates_unknown:
            return f" Whether a capability gates it is not known for this release, whose schema names none{rest}."
        return f" No capability gates it{rest}."

    def _find_gate(self, capability: str | None, messages: MessagePair) -> Gate:
        """Whether a capability gates an addition: the receiver must advertise it, and old peers must not."""
        if capability is None or capability.partition(":")[0] != messages.receiver:
            return "none"
        return "known" if self.old.advertises(capability) else "fresh"


def _find_effect(judgement: Judgement, witness: Witness | None) -> Effect:
    """The effect of a finding on messages, as far as its witness shows it."""
    if witness is None:
        return EFFECTS[judgement.effect][0]
    return "refused" if witness.refused_by is not None else "lost"


def describe_break(judgement: Judgement, messages: MessagePair) -> str:
    """The exchange that fails, in words."""
    default = (
        NEW_TO_OLD if judgement.accepted_by == "new" else OLD_FROM_NEW if judgement.carried_by == "new" else OLD_TO_NEW
    )
    exchanges = judgement.between or (default,)
    return "; ".join(exchange.format(sender=messages.sender, receiver=messages.receiver) for exchange in exchanges)
