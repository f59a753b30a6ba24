"""The rules about methods, what stands for their results, and batches."""

from __future__ import annotations

from typing import Final

from acpgen.compat.findings import NO_ACTION
from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.rules.judgement import UNASKED, UNASKED_OF_NEW, Judgement

_UNKNOWN_METHOD: Final = {
    "request": "old peers answer it with the error -32601",
    "notification": "old peers ignore it",
}
_UNKNOWN_METHOD_NOW: Final = {
    "request": "new peers answer it with the error -32601",
    "notification": "new peers ignore it",
}


def method_added(fact: f.MethodAdded) -> Judgement:
    """A method is new. A peer that does not know it answers a request with -32601 and ignores a notification, so nothing breaks."""
    method = fact.method
    return Judgement(
        "added",
        f"The {method.kind} {method.name!r} was added.",
        NO_ACTION
        if method.capability
        else "Gate it with 'x-capability', so that callers know whether the peer supports it.",
        gate=method.capability,
        ungated=_UNKNOWN_METHOD[method.kind],
    )


def method_removed(fact: f.MethodRemoved) -> Judgement | None:
    """A method was removed: it can no longer be called."""
    if fact.heir is not None:
        return None
    return Judgement(
        "lost",
        f"The {fact.method.kind} {fact.method.name!r} was removed; {_UNKNOWN_METHOD_NOW[fact.method.kind]}.",
        "Keep the method until the next major version, or declare its replacement with 'x-was'.",
        carried_by="old",
    )


def method_renamed(fact: f.MethodRemoved) -> Judgement | None:
    """A method has a new name (`x-was`): neither revision understands the other's name for it."""
    if fact.heir is None:
        return None
    return Judgement(
        "lost",
        f"The {fact.method.kind} {fact.method.name!r} was renamed to {fact.heir!r}.",
        "Handle both names, and send the new name only to peers of the new version.",
        carried_by="old",
    )


def method_kind_changed(fact: f.MethodKindChanged) -> Judgement:
    """A request became a notification or the reverse: one side waits for a response that is never sent, or receives one that it did not
    request.
    """
    return Judgement(
        "lost",
        f"The {fact.old.kind} {fact.old.name!r} became a {fact.new.kind}.",
        "Keep the method as it was, and add the new kind under another method name.",
        carried_by="old",
    )


def position_changed(fact: f.PositionsChanged) -> Judgement:
    """A param that is sent by position has another position, or its position has another param, and a message that both revisions
    accept says something else. Peers that send params by name do not notice.
    """
    words = [", ".join(map(repr, names)) for names in (fact.old, fact.new)]
    return Judgement(
        "lost" if fact.is_moved else "otherwise",
        f"The positions of the params are now {words[1]} (previously {words[0]}); peers of one revision read the values of the "
        "other as other params.",
        "Keep the order, and add new optional params at the end.",
        subject=f"{words[0]} to {words[1]}",
        between=(UNASKED_OF_NEW, UNASKED),
    )


def null_result_allowed(fact: f.NullResultChanged) -> Judgement | None:
    """A result of null now stands for the empty result (`x-null: omitted`)."""
    if not fact.allowed:
        return None
    return Judgement(
        "added", "A null result is now read as an empty result.", "Keep sending an object: old peers reject null."
    )


def null_result_withdrawn(fact: f.NullResultChanged) -> Judgement | None:
    """A null result no longer means the empty result: it is now an error."""
    if fact.allowed:
        return None
    return Judgement(
        "otherwise",
        "A null result is now rejected; previously it was read as an empty result.",
        "Keep 'x-null: omitted' while old peers may send null.",
    )


def batch_allowed(fact: f.BatchChanged) -> Judgement | None:
    """A message may now be an array of messages, or a request may be part of one; an old peer rejects that."""
    if not fact.allowed:
        return None
    if fact.method:
        return Judgement(
            "unknown",
            f"{fact.method!r} may now be part of a batch; old peers need not accept that.",
            "Send it in batches only to peers that have negotiated the new version.",
        )
    return Judgement(
        "unknown",
        "A message may now be a batch (an array of messages); old peers reject batches.",
        "Send batches only to peers that have negotiated the new version.",
        accepted_by="new",
    )


def batch_withdrawn(fact: f.BatchChanged) -> Judgement | None:
    """A message may no longer be an array of messages, or a request may no longer be part of one (`x-batch`)."""
    if fact.allowed:
        return None
    if fact.method:
        return Judgement(
            "otherwise",
            f"{fact.method!r} may no longer be part of a batch; old peers may still send it in one.",
            "Keep accepting it in batches until the next major version.",
        )
    return Judgement(
        "refused",
        "Batches (arrays of messages) are now rejected.",
        "Keep accepting batches until the next major version.",
        accepted_by="old",
    )
