"""The rules about what a field means beside its type: defaults, null, lenient decoding, capabilities."""

from __future__ import annotations

from typing import Final

from acpgen import ir
from acpgen.compat.findings import NO_ACTION
from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.rules.judgement import UNASKED, UNASKED_OF_NEW, Judgement
from acpgen.schema.numbers import dumps

_UNSENT: Final = "an old {receiver} that receives from a new {sender}"
_UNSENT_TO_NEW: Final = "a new {receiver} that receives from an old {sender}"

_NULL: Final = {"clears": "clears the value", "omitted": "means the same as an omitted field"}
_NULL_BEFORE: Final = {"clears": "cleared the value", "omitted": "meant the same as an omitted field"}
_INVALID: Final = {
    "default_on_error": "an invalid value was",
    "skip_invalid_items": "invalid items were",
    "default_on_null": "null was",
}


def default_changed(fact: f.DefaultChanged) -> Judgement | None:
    """The meaning of an omitted field has changed: two peers read the same message differently. A required field is never omitted, and
    lenient decoding never replaces an invalid value by its default, so a change of its default is editorial.
    """
    if fact.grown:
        return None
    return Judgement(
        "otherwise",
        f"The default of {fact.name!r} is now {_default(fact.new)} (previously {_default(fact.old)}).",
        "Keep the default, or always send the value.",
        within=fact.name,
        carried_by="old",
        subject=f"{_default(fact.old)} {_default(fact.new)}",
    )


def default_grown(fact: f.DefaultChanged) -> Judgement | None:
    """A default now includes the defaults of fields that were added to its object. Its meaning is unchanged."""
    if not fact.grown:
        return None
    return Judgement(
        "reworded",
        f"The default of {fact.name!r} now includes the defaults of added fields.",
        NO_ACTION,
        within=fact.name,
    )


def null_meaning_changed(fact: f.NullMeaningChanged) -> Judgement | None:
    """Null cleared the value and now means the same as omission, or the reverse (`x-null`)."""
    if fact.old is None or fact.new is None:
        return None
    return Judgement(
        "otherwise",
        f"Null in {fact.name!r} now {_NULL[fact.new]} (previously it {_NULL_BEFORE[fact.old]}).",
        "Use another field or value for the new meaning of null.",
        within=fact.name,
        carried_by="old",
    )


def null_meaning_declared(fact: f.NullMeaningChanged) -> Judgement | None:
    """The meaning of null is now declared (`x-null`), or no longer declared. What is accepted stays the same."""
    if fact.old is not None and fact.new is not None:
        return None
    word = "is now declared" if fact.old is None else "is no longer declared"
    return Judgement(
        "reworded",
        f"The meaning of null in {fact.name!r} {word}.",
        NO_ACTION,
        within=fact.name,
        subject=str(fact.new),
    )


def leniency_added(fact: f.LeniencyChanged) -> Judgement | None:
    """Receivers decode this field more leniently (`x-deserialize-…`). What is valid stays the same."""
    if not fact.added:
        return None
    return Judgement(
        "added",
        _leniency(fact),
        NO_ACTION,
        within=fact.name,
        subject=f"{fact.keyword} {fact.instead}",
    )


def leniency_withdrawn(fact: f.LeniencyChanged) -> Judgement | None:
    """Receivers decode this field more strictly (`x-deserialize-…`). What is valid stays the same, so a peer that keeps to the schema
    is not affected.
    """
    if fact.added:
        return None
    return Judgement(
        "otherwise",
        _leniency(fact),
        "Document it in the release notes: peers that send invalid values now get errors.",
        within=fact.name,
        subject=f"{fact.keyword} {fact.instead}",
    )


def gate_added(fact: f.GateChanged) -> Judgement | None:
    """Something that was sent to every peer is now sent only to peers that advertise a capability. Old peers do not advertise it and no
    longer receive it; new peers that do not advertise it still receive it from old ones.
    """
    if fact.new is None or fact.old is not None:
        return None
    return Judgement(
        "otherwise",
        f"The {fact.what} is now sent only to peers that advertise {fact.new}; previously it was sent to every peer.",
        "Treat a peer that does not advertise the capability as before.",
        within=fact.within,
        subject=f"{fact.what} {fact.new}",
        between=(_UNSENT, UNASKED_OF_NEW),
    )


def gate_removed(fact: f.GateChanged) -> Judgement | None:
    """Something is now sent without checking a capability first. Old peers that do not advertise the capability do not expect it, and old
    senders still require new peers to advertise it.
    """
    if fact.old is None or fact.new is not None:
        return None
    return Judgement(
        "otherwise",
        f"The {fact.what} is now sent to every peer; previously only to peers that advertise {fact.old}.",
        "Keep the gate: peers without the capability do not expect it.",
        within=fact.within,
        subject=f"{fact.what} {fact.old}",
        between=(UNASKED, _UNSENT_TO_NEW),
    )


def gate_moved(fact: f.GateChanged) -> Judgement | None:
    """Another capability gates something: a peer that advertises only the capability of its own revision does not receive it from the other
    revision.
    """
    if fact.old is None or fact.new is None:
        return None
    return Judgement(
        "otherwise",
        f"The {fact.what} is now gated by {fact.new} (previously by {fact.old}).",
        "Accept either capability until the next major version.",
        within=fact.within,
        subject=f"{fact.what} {fact.old} {fact.new}",
        between=(_UNSENT, _UNSENT_TO_NEW),
    )


def demand_changed(fact: f.DemandChanged) -> Judgement | None:
    """The capability that requires a peer to send a field (`x-required-with`) has changed: some peers rely on a field that others do not
    send. The schema still accepts messages without it.
    """
    told = (
        "is no longer required of any peer; old peers may rely on it"
        if fact.new is None
        else f"must now be sent by peers that advertise {fact.new}"
    )
    return Judgement(
        "otherwise",
        f"The field {fact.name!r} {told}.",
        "Keep sending it to peers of the old revision."
        if fact.new is None
        else "Require it only together with a new capability.",
        within=fact.name,
        subject=str(fact.new),
        gate=fact.new,
        between=(UNASKED,) if fact.new is None else (),
    )


def _leniency(fact: f.LeniencyChanged) -> str:
    """What a change of leniency means for a field: `'limit' is now decoded strictly; previously an invalid value was …`."""
    subject = _INVALID[fact.keyword]
    if fact.keyword == "skip_invalid_items":
        instead = "skipped"
    else:
        instead = f"read {fact.instead}" if fact.instead else "declared as lenient, but without a value to fall back to"
    if not fact.added:
        return f"{fact.name!r} is now decoded strictly; previously {subject} {instead}."
    now = subject.replace(" was", " is").replace(" were", " are")
    return f"{fact.name!r} is now decoded leniently: {now} {instead}; previously {subject} an error."


def _default(default: ir.Default | None) -> str:
    return "unspecified" if default is None else dumps(default.value, ensure_ascii=False)
