"""The rules about types, limits and formats."""

from __future__ import annotations

from dataclasses import replace

from acpgen.compat.diff.shapes import Alternative, kind_of
from acpgen.compat.findings import NO_ACTION
from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.rules.judgement import Judgement


def null_forbidden(fact: f.NullChanged) -> Judgement | None:
    """Null was accepted and is now rejected. A receiver that decodes the field leniently reads null as omission."""
    if fact.allowed:
        return None
    return Judgement(
        "unknown" if fact.lenient else "refused",
        f"Null is now rejected{'; lenient receivers read it as an omitted field' if fact.lenient else ''}.",
        "Keep accepting null from old peers; omit the field instead of sending null.",
        within=fact.name or "",
        accepted_by="old",
        subject="null",
    )


def null_allowed(fact: f.NullChanged) -> Judgement | None:
    """Null is now accepted; old receivers reject it, unless they decode the field leniently."""
    if not fact.allowed:
        return None
    return Judgement(
        "unknown" if fact.lenient else "refused",
        f"Null is now accepted; old peers reject it{' unless they decode leniently' if fact.lenient else ''}.",
        "Omit the field instead of sending null.",
        within=fact.name or "",
        accepted_by="new",
        subject="null",
    )


def type_narrowed(fact: f.KindChanged) -> Judgement | None:
    """Values of a JSON type that were accepted are now rejected."""
    if fact.come or fact.anything == "new":
        return None
    return Judgement(
        "refused",
        f"The type is now {fact.new_kinds} (previously {fact.old_kinds}).",
        "Keep the old type, and add a field for the new one.",
        accepted_by="old",
        subject=_kinds(fact.gone),
    )


def type_widened(fact: f.KindChanged) -> Judgement | None:
    """Values of another JSON type are now accepted; old receivers reject them."""
    if fact.gone or fact.anything == "old":
        return None
    return Judgement(
        "refused",
        f"The type is now {fact.new_kinds} (previously {fact.old_kinds}).",
        "Keep the old type and add a field for the new one, or gate the new values with a capability.",
        accepted_by="new",
        subject=_kinds(fact.come),
    )


def type_changed(fact: f.KindChanged) -> Judgement | None:
    """Values of one JSON type were replaced by values of another: each revision rejects what the other sends."""
    if not fact.gone or not fact.come:
        return None
    return Judgement(
        "refused",
        f"The type is now {fact.new_kinds} (previously {fact.old_kinds}).",
        "Keep the old type, and add a field for the new one.",
        accepted_by="old",
        subject=f"{_kinds(fact.gone)} to {_kinds(fact.come)}",
    )


def _kinds(alternatives: tuple[Alternative, ...]) -> str:
    """The JSON kinds of alternatives; `None` stands for every kind."""
    return ", ".join(map(kind_of, alternatives)) or "None"


def limit_changed(fact: f.LimitChanged) -> Judgement | None:
    """A length, range, pattern, set of constants or item count rejects values that it accepted, and accepts values that it rejected."""
    if len(fact.directions) < 2:
        return None
    words = _limit_words(fact, "rejects values that were accepted, and accepts values that were rejected")
    return Judgement(
        "refused",
        words if fact.keyword == f.OTHER else f"{words.removesuffix('.')}; each revision rejects values of the other.",
        "Keep the old limit, and add a field for the new values.",
        accepted_by="old",
        subject=_limit_subject(fact),
    )


def limit_tightened(fact: f.LimitChanged) -> Judgement | None:
    """A length, range, pattern, set of constants or number of items rejects values that it accepted."""
    if fact.directions != ("old",):
        return None
    return Judgement(
        "refused",
        _limit_words(fact, "rejects values that were accepted"),
        "Keep the old limit for receivers; apply the new one to senders only.",
        accepted_by="old",
        subject=_limit_subject(fact),
    )


def limit_loosened(fact: f.LimitChanged) -> Judgement | None:
    """A length, range, pattern, set of constants or number of items accepts more; old receivers reject that."""
    if fact.directions != ("new",):
        return None
    return Judgement(
        "refused",
        _limit_words(fact, "accepts values that were rejected"),
        "Keep to the old limit when sending, unless the peer is known to be new.",
        accepted_by="new",
        subject=_limit_subject(fact),
    )


def format_changed(fact: f.FormatChanged) -> Judgement:
    """`format` or `contentEncoding` has changed. They annotate and refuse nothing, unless the project's policy asserts formats: then what
    texts the other revision refuses is proven. An encoding is never asserted: a peer that decodes reads the texts differently.
    """
    message = f"The format is now {fact.new or 'unspecified'} (previously {fact.old or 'unspecified'})."
    if fact.keyword != "format":
        message = (
            f"The encoding of the content is now {fact.new or 'unspecified'} (previously {fact.old or 'unspecified'}). "
            "No value is rejected; a peer that decodes reads the texts differently."
        )
    told = Judgement("reworded", message, NO_ACTION, subject=f"{fact.old} {fact.new}")
    if fact.refused:
        sender, _ = fact.refused[0]
        advice = "Keep the old format for receivers; apply the new one to senders only."
        if sender == "new":
            advice = "Keep to the old format when sending, unless the peer is known to be new."
        return replace(told, weight="refused", advice=advice, accepted_by=sender)
    if fact.doubt:
        advice = "Review both places, and waive the finding if it is harmless."
        message = f"{message} What it rejects could not be decided: {fact.doubt.rstrip('.')}."
        return replace(told, weight="undetermined", message=message, advice=advice)
    return told


def _limit_subject(fact: f.LimitChanged) -> str | None:
    return None if fact.keyword == f.OTHER else f"{fact.keyword} {fact.old} {fact.new}"


def _limit_words(fact: f.LimitChanged, change: str) -> str:
    """`Must contain at least 1 item (previously any number)`."""
    if fact.keyword == f.OTHER:
        return f"The new schema {change} before; the witness contains one."
    of_items = fact.keyword in ("minItems", "maxItems", "uniqueItems")
    verb = "contain" if of_items else "be"
    must = "Must" if fact.admitted_by == "old" else "May now"
    return f"{must} {verb} {fact.new} (previously {fact.old})."
