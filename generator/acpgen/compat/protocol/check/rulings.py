"""A judgement becomes a finding: its severity, whom it breaks, and what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acpgen.compat.changes import Change
from acpgen.compat.findings import Effect, Revision, Witness, opposite
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.located import within_of
from acpgen.compat.protocol.check.routes import Joined, document
from acpgen.compat.protocol.messages import Route
from acpgen.compat.protocol.revision import fields_on
from acpgen.compat.rules import EFFECTS, Gate, Judgement, judge, severity_of

_UNHEARD: Final[Mapping[str, tuple[Revision, ...]]] = {
    "method-removed": ("new",),
    "method-renamed": ("old", "new"),
    "method-kind-changed": ("old", "new"),
}
"""Rules about methods that one revision or the other does not know, and so does not accept."""

UNPROVEN: Final = "No message that proves it was found, so the finding is undecided."


@dataclass(frozen=True, slots=True)
class Cause:
    """What a finding is about, however many messages hold it: its name for people, what tells it from others, and what its rule says."""

    declaration: str
    key: tuple[str | None, ...]
    said: str


class Rulings:
    """Makes findings of judgements."""

    def __init__(self, on: Inquiry) -> None:
        self.on = on

    def judged(
        self,
        rule: str,
        judgement: Judgement,
        joined: Joined,
        change: Change,
        method: str | None,
        location: str,
        witness: Witness | None,
        *,
        proven: bool = False,
        cause: Cause | None = None,
    ) -> Judged:
        """The finding of a judgement: undecided where no witness shows what it says, and it is not `proven` otherwise."""
        gate = self._gate(judgement.gate, joined)
        severity = severity_of(judgement.weight, joined.flow, gate)
        text = f"{judgement.message}{self._ungated(judgement)}"
        if gate == "known" and judgement.gate is not None:
            text = f"{text} Its gate {judgement.gate} may already be advertised by old peers."
        wants = judgement.accepted_by is not None or judgement.carried_by is not None
        refuses: tuple[Revision, ...] = ()
        doubtful: tuple[Revision, ...] = ("old", "new") if judgement.weight == "undetermined" else ()
        refused_by: Revision = "new" if judgement.accepted_by == "old" else "old"
        if severity in ("breaking", "risky") and wants and witness is None and not proven:
            doubtful = (refused_by,) if judgement.accepted_by is not None else ()
            if self.on.allowance.is_spent:  # with more steps, a message might show it
                lost: tuple[Revision, ...] = (opposite(judgement.carried_by),) if judgement.carried_by else ()
                doubtful = tuple(dict.fromkeys((*doubtful, *_UNHEARD.get(rule, ()), *lost)))
            severity, text = "undecided", f"{text} {UNPROVEN}"
        elif witness is not None and witness.refused_by is not None and severity in ("breaking", "risky"):
            refuses = (witness.refused_by,)
        elif rule in _UNHEARD:
            refuses = _UNHEARD[rule]
        is_cut_off = severity == "undecided" and self.on.allowance.is_spent
        if is_cut_off:
            text = f"{text} {_spent(self.on.budget)}"
        shown = severity in ("breaking", "risky", "additive")
        place = within_of(location, judgement.within)
        whole = cause or Cause(method if method is not None else place, (method, place), judgement.message)
        return Judged(
            rule=rule,
            severity=severity,
            effect=_effect(judgement, witness),
            method=method,
            flow=joined.flow_name,
            location=place,
            old_at=change.old_at,
            new_at=change.new_at,
            message=text,
            advice=judgement.advice,
            breaks=breaks_of(judgement, joined) if severity in ("breaking", "risky") else "",
            subject=judgement.subject,
            witness=witness if shown else None,
            declaration=whole.declaration,
            cause=whole.key,
            said=whole.said,
            refuses=refuses,
            doubtful=doubtful,
            sender=judgement.accepted_by or judgement.carried_by,
            is_cut_off=is_cut_off,
        )

    def on_paper(self, change: Change) -> Judged:
        """The finding of a change about files alone."""
        rule, judgement = judge(change)
        nobody = Joined((Route("document", None), None), (Route("document", None), None), "nobody", "peer", "peer")
        (old, below), (new, rest) = (
            side.owner(at, declared=True) for side, at in ((self.on.old, change.old_at), (self.on.new, change.new_at))
        )
        label = judgement.within or ((new or old) + fields_on(rest if new else below)).lstrip(".")
        cause = Cause(label, (old, new, label), judgement.message)
        return self.judged(rule, judgement, nobody, change, None, "", None, proven=True, cause=cause)

    def of_definition(self, change: Change, name: str) -> Judged:
        """The finding of a change about a definition that no message holds."""
        rule, judgement = judge(change)
        return self.judged(rule, judgement, document(name, name, name), change, None, name, None, proven=True)

    def _ungated(self, judgement: Judgement) -> str:
        """The sentence on what is new and that no capability gates, as far as its schema says so; empty where one does."""
        if judgement.gate is not None or judgement.ungated is None:
            return ""
        rest = f": {judgement.ungated}" if judgement.ungated else ""
        if self.on.new.gates_unknown:
            return f" Whether a capability gates it is not known for this release, whose schema names none{rest}."
        return f" No capability gates it{rest}."

    def _gate(self, capability: str | None, joined: Joined) -> Gate:
        """Whether a capability holds back what is new: it must be asked of the side that is sent it, and old peers must not have it."""
        if capability is None or capability.partition(":")[0] != joined.receiver:
            return "none"
        return "known" if self.on.old.advertises(capability) else "fresh"


def _effect(judgement: Judgement, witness: Witness | None) -> Effect:
    """What a finding does to messages, as far as its witness shows it."""
    if witness is None:
        return EFFECTS[judgement.weight][0]
    return "refused" if witness.refused_by is not None else "lost"


def breaks_of(judgement: Judgement, joined: Joined) -> str:
    """Which exchange fails, in words."""
    sender, receiver = joined.sender, joined.receiver
    if judgement.between:
        return "; ".join(each.format(sender=sender, receiver=receiver) for each in judgement.between)
    if judgement.accepted_by == "new":
        return f"a new {sender} that talks to an old {receiver}"
    if judgement.carried_by == "new":
        return f"an old {receiver} that receives from a new {sender}"
    return f"an old {sender} that talks to a new {receiver}"


def _spent(steps: int) -> str:
    """Why it is undecided where the steps of the run were not enough."""
    budget = "1 step" if steps == 1 else f"{steps} steps"
    return f"Undecided: budget. The budget of {budget} is spent; raise it with '--budget'."
