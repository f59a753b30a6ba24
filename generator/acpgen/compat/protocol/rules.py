"""The rules: each judges one fact, or leaves it to another rule.

A rule is one small function; its name with dashes is its public id, its docstring its documentation. `MIRRORS` names the rule that
judges the change in the other direction, or says why there is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from acpgen import ir
from acpgen.compat.findings import NO_ACTION, Revision
from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.candidates import (
    Examples,
    Leaf,
    NoExample,
    also,
    exactly,
    extending,
    having,
    items,
    naming,
    of_alternative,
    of_alternatives,
    of_definition,
    of_many_kinds,
    smallest,
    without,
)
from acpgen.compat.protocol.declared import META
from acpgen.compat.protocol.placed import EXTENSION
from acpgen.compat.protocol.policy import Weight
from acpgen.compat.protocol.shapes import Alternative, kind_of
from acpgen.meaning import texts


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says of a fact.

    A refusal names the revision that accepts (`accepted_by`), a loss the one that carries the meaning (`carried_by`); with both, a
    refusal is looked for first. `leaf` makes values that show it, `back` values of the other revision that may be refused likewise.
    `gate` is the capability that holds an addition back. `within` is the place inside the pair, `subject` what tells this finding from
    others of the same rule at the same place: `None` where only the two texts do. `between` are the exchanges that fail, where neither
    revision's messages are refused or lost: words with `{sender}` and `{receiver}`.
    """

    weight: Weight
    message: str
    advice: str
    within: str = ""
    subject: str | None = ""
    accepted_by: Revision | None = None
    carried_by: Revision | None = None
    leaf: Leaf | None = None
    gate: str | None = None
    back: Leaf | None = None
    between: tuple[str, ...] = ()


Rule: TypeAlias = Callable[[Any], Judgement | None]

_UNSENT: Final = "an old {receiver} that hears a new {sender}"
_UNSENT_TO_NEW: Final = "a new {receiver} that hears an old {sender}"
_UNASKED: Final = "a new {sender} that talks to an old {receiver}"
_UNASKED_OF_NEW: Final = "an old {sender} that talks to a new {receiver}"

_MANY: Final = 6
"""As many names are told one by one."""

_GATE: Final = "Gate it with 'x-capability', so that it is never sent to old peers."


# --- methods ---------------------------------------------------------------------------------------------------------


def method_added(fact: f.MethodAdded) -> Judgement:
    """A method is new. A peer that does not know it answers a request with -32601 and ignores a notification, so nothing breaks."""
    method = fact.method
    ungated = "" if method.capability else f" No capability gates it: {_UNKNOWN_METHOD[method.kind]}."
    return Judgement(
        "added",
        f"The {method.kind} {method.name!r} was added.{ungated}",
        NO_ACTION
        if method.capability
        else "Gate it with 'x-capability', so that callers know whether the peer supports it.",
        gate=method.capability,
    )


def method_removed(fact: f.MethodRemoved) -> Judgement | None:
    """A method is gone: what it did cannot be asked for any more."""
    if fact.heir is not None:
        return None
    return Judgement(
        "lost",
        f"The {fact.method.kind} {fact.method.name!r} was removed; {_UNKNOWN_METHOD_NOW[fact.method.kind]}.",
        "Keep the method until the next major version, or declare its replacement with 'x-was'.",
        carried_by="old",
    )


def method_renamed(fact: f.MethodRemoved) -> Judgement | None:
    """A method has a new name (`x-was`): peers do not understand each other's name for it."""
    if fact.heir is None:
        return None
    return Judgement(
        "lost",
        f"The {fact.method.kind} {fact.method.name!r} was renamed to {fact.heir!r}.",
        "Handle both names, and send the new name only to peers of the new version.",
        carried_by="old",
    )


def method_kind_changed(fact: f.MethodKindChanged) -> Judgement:
    """A request became a notification or the reverse: one side waits for an answer that never comes, or gets one unasked."""
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
        between=(_UNASKED_OF_NEW, _UNASKED),
    )


def null_result_allowed(fact: f.NullResultChanged) -> Judgement | None:
    """A result of null now stands for the empty result (`x-null: omitted`)."""
    if not fact.allowed:
        return None
    return Judgement(
        "added", "A null result is now read as an empty result.", "Keep sending an object: old peers reject null."
    )


def null_result_withdrawn(fact: f.NullResultChanged) -> Judgement | None:
    """A result of null no longer stands for the empty result: it is an error now."""
    if fact.allowed:
        return None
    return Judgement(
        "otherwise",
        "A null result is now rejected; previously it was read as an empty result.",
        "Keep 'x-null: omitted' while old peers may send null.",
    )


def batch_allowed(fact: f.BatchChanged) -> Judgement | None:
    """A message may now be an array of messages; an old peer refuses that."""
    if not fact.allowed:
        return None
    return Judgement(
        "unknown",
        "A message may now be a batch (an array of messages); old peers reject batches.",
        "Send batches only to peers that have negotiated the new version.",
        accepted_by="new",
    )


def batch_withdrawn(fact: f.BatchChanged) -> Judgement | None:
    """A message may no longer be an array of messages."""
    if fact.allowed:
        return None
    return Judgement(
        "refused",
        "Batches (arrays of messages) are now rejected.",
        "Keep accepting batches until the next major version.",
        accepted_by="old",
    )


def _gone(heir: str | None) -> str:
    """What became of something: it was removed, or has another name (`x-was`)."""
    return "was removed" if heir is None else f"was renamed to {heir!r}"


def _formerly(was: str | None) -> str:
    return "" if was is None else f" (renamed from {was!r})"


def _of(by: str) -> str:
    """Words for the keyword that declares a field, where that is not `properties`."""
    return "" if by in ("", "properties") else f" of {by!r}"


def _seems(was: object, seems: str | None) -> str:
    """An advice where a new member may be the old one."""
    return "" if seems is None else f"If {was!r} was renamed to {seems!r}, declare it on {seems!r} with 'x-was'. "


# --- fields ----------------------------------------------------------------------------------------------------------


def field_added(fact: f.FieldAdded) -> Judgement | None:
    """An optional field is new in an object that accepts undeclared members. Old receivers ignore it. The name, which was free, is
    claimed: as languages the new schema is narrower, between peers nothing breaks, since a sender sends what its schema declares.
    """
    if fact.field.required or isinstance(fact.old.extra, ir.Nothing) or fact.is_extension:
        return None
    name = fact.field.name
    if fact.pattern:
        return Judgement(
            "claimed",
            f"Fields whose names match {fact.pattern!r} were added.",
            NO_ACTION,
            within="*",
            subject=fact.pattern,
        )
    return Judgement(
        "claimed",
        f"The optional field {name!r}{_of(fact.by)} was added.",
        NO_ACTION,
        within=name,
        gate=fact.field.capability,
    )


def extension_declared(fact: f.FieldAdded) -> Judgement | None:
    """A name that begins with an underscore has a form now. Such names are free for extensions, so old peers may send anything under
    this one. Only `_meta` has a form of its own: an object. Where the new form accepts all of that, it is `field-added`.
    """
    if not fact.is_extension:
        return None
    name = fact.field.name
    return Judgement(
        "taken",
        f"The extension field {name!r} was added with a form of its own; old peers may send {_freely(name)} under that name.",
        "Accept any value there, or take a name without an underscore.",
        within=name,
        accepted_by="old",
        leaf=extending(name),
    )


def closed_field_added(fact: f.FieldAdded) -> Judgement | None:
    """An optional field is new in an object that refuses undeclared members, so a strict old receiver refuses it."""
    if fact.field.required or not isinstance(fact.old.extra, ir.Nothing):
        return None
    name = fact.field.name
    missing = "" if fact.field.capability else " No capability gates it."
    return Judgement(
        "unknown",
        f"The optional field {name!r} was added to a closed object; old peers reject unknown members.{missing}",
        _GATE,
        within=name,
        accepted_by="new",
        leaf=having(name),
        gate=fact.field.capability,
    )


def required_field_added(fact: f.FieldAdded) -> Judgement | None:
    """A required field is new: what old senders send lacks it."""
    if not fact.field.required:
        return None
    name = fact.field.name
    return Judgement(
        "refused",
        f"The required field {name!r} was added; old peers do not send it.",
        "Make it optional, and define what its absence means.",
        within=name,
        accepted_by="old",
        leaf=without(name),
        back=having(name) if isinstance(fact.old.extra, ir.Nothing) else None,
    )


def field_removed(fact: f.FieldRemoved) -> Judgement | None:
    """An optional field is gone. Nothing may be refused, but what it said is not heard any more. Names that begin with an underscore
    are extensions and stay allowed everywhere: see `extension-undeclared`.
    """
    name = fact.field.name
    if fact.field.required or name.startswith("_"):
        return None
    shut = isinstance(fact.new.extra, ir.Nothing)
    if fact.pattern:
        return Judgement(
            "lost",
            f"Fields whose names match {fact.pattern!r} were removed; new peers ignore them, such as {name!r}.",
            "Keep the pattern until the next major version, and document its replacement.",
            within="*",
            subject=fact.pattern,
            carried_by="old",
            leaf=naming(name, fact.field.type),
        )
    if fact.by:
        return Judgement(
            "lost",
            f"The field {name!r}{_of(fact.by)} was removed; new peers ignore it.",
            "Keep it until the next major version, and document its replacement.",
            within=name,
            carried_by="old",
            leaf=naming(name, fact.field.type),
        )
    return Judgement(
        "refused" if shut else "lost",
        f"The field {name!r} was removed; new peers {'reject it' if shut else 'ignore it'}.",
        f"{_seems(name, fact.seems)}Keep it as optional until the next major version, and document its replacement.",
        within=name,
        accepted_by="old" if shut else None,
        carried_by=None if shut else "old",
        leaf=having(name),
    )


def required_field_removed(fact: f.FieldRemoved) -> Judgement | None:
    """A required field is gone: new senders leave it out, and old receivers refuse that."""
    if not fact.field.required:
        return None
    name = fact.field.name
    return Judgement(
        "refused",
        f"The required field {name!r} was removed; old peers reject messages without it.",
        f"{_seems(name, fact.seems)}Keep sending it until the next major version.",
        within=name,
        accepted_by="new",
        leaf=without(name),
        back=having(name) if isinstance(fact.new.extra, ir.Nothing) else None,
    )


def field_renamed(fact: f.FieldRenamed) -> Judgement | None:
    """A field has another name, as `x-was` declares. Peers of one revision do not hear what those of the other say in it, and miss it
    where it is required. What the two say is compared under the new name.
    """
    was, name = fact.was.name, fact.field.name
    return Judgement(
        "lost",
        f"The field {was!r} was renamed to {name!r}; peers of one revision ignore the name of the other.",
        f"Keep {was!r} beside {name!r} until the next major version, and read either.",
        within=name,
        subject=was,
        accepted_by="old",
        carried_by="old",
        leaf=having(was),
        back=having(name),
    )


def extension_undeclared(fact: f.FieldRemoved) -> Judgement | None:
    """A name that begins with an underscore, such as `_meta`, is no longer declared. Peers may send it all the same, since such names
    are reserved for extensions; its form is not checked any more. Where new peers may send what old ones refuse, that is risky.
    """
    name = fact.field.name
    if fact.field.required or not name.startswith("_"):
        return None
    if fact.is_extension:
        return Judgement(
            "taken",
            f"The extension field {name!r} is no longer declared; new peers may send {_freely(name)} under that name.",
            "Declare it until the next major version.",
            within=name,
            accepted_by="new",
            leaf=extending(name),
        )
    if isinstance(fact.new.extra, ir.Nothing):
        return Judgement(
            "refused",
            f"The extension field {name!r} is no longer declared; new peers reject it.",
            "Declare it again.",
            within=name,
            accepted_by="old",
            leaf=having(name),
        )
    return Judgement(
        "added",
        f"The extension field {name!r} is no longer declared; its value is not checked.",
        "Declare it if generated code should offer it.",
        within=name,
    )


def field_became_required(fact: f.RequirednessChanged) -> Judgement | None:
    """A field must be there now: old senders may leave it out."""
    if not fact.required:
        return None
    return Judgement(
        "refused",
        f"The field {fact.field.name!r} is now required; old peers may omit it.",
        "Keep it optional, and define what its absence means.",
        within=fact.field.name,
        accepted_by="old",
        leaf=without(fact.field.name),
    )


def field_became_optional(fact: f.RequirednessChanged) -> Judgement | None:
    """A field may be left out now: new receivers do not mind, old ones refuse what lacks it."""
    if fact.required:
        return None
    return Judgement(
        "refused",
        f"The field {fact.field.name!r} is now optional; old peers reject messages without it.",
        "Keep it required, or send messages without it only to peers of the new version.",
        within=fact.field.name,
        accepted_by="new",
        leaf=without(fact.field.name),
    )


def default_changed(fact: f.DefaultChanged) -> Judgement | None:
    """What an omitted field stands for has changed: two peers read the same message differently."""
    if fact.grown:
        return None
    return Judgement(
        "otherwise",
        f"The default of {fact.name!r} is now {_default(fact.new)} (previously {_default(fact.old)}).",
        "Keep the default, or always send the value.",
        within=fact.name,
        carried_by="old",
        leaf=without(fact.name),
        subject=f"{_default(fact.old)} {_default(fact.new)}",
    )


def default_grown(fact: f.DefaultChanged) -> Judgement | None:
    """A default gained the defaults of fields that were added to its object. It means what it meant."""
    if not fact.grown:
        return None
    return Judgement(
        "reworded",
        f"The default of {fact.name!r} now includes the defaults of added fields.",
        NO_ACTION,
        within=fact.name,
    )


def null_meaning_changed(fact: f.NullMeaningChanged) -> Judgement | None:
    """Null cleared the value and now equals leaving it out, or the reverse (`x-null`)."""
    if fact.old is None or fact.new is None:
        return None
    return Judgement(
        "otherwise",
        f"Null in {fact.name!r} now {_NULL[fact.new]} (previously it {_NULL_BEFORE[fact.old]}).",
        "Use another field or value for the new meaning of null.",
        within=fact.name,
        carried_by="old",
        leaf=having(fact.name, None),
    )


def null_meaning_declared(fact: f.NullMeaningChanged) -> Judgement | None:
    """What null means is said now (`x-null`), or no longer said. What is accepted stays the same."""
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
    """Something that everybody was sent is sent only to peers that advertise a capability. Old peers do not advertise it, and get it no
    more; new peers that do not advertise it are sent it by old ones.
    """
    if fact.new is None or fact.old is not None:
        return None
    return Judgement(
        "otherwise",
        f"The {fact.what} is now sent only to peers that advertise {fact.new}; previously it was sent to every peer.",
        "Treat a peer that does not advertise the capability as before.",
        within=fact.within,
        subject=f"{fact.what} {fact.new}",
        between=(_UNSENT, _UNASKED_OF_NEW),
    )


def gate_removed(fact: f.GateChanged) -> Judgement | None:
    """Something is sent without asking for a capability first. Old peers that do not advertise it did not expect it, and old senders
    go on to ask new peers for it.
    """
    if fact.old is None or fact.new is not None:
        return None
    return Judgement(
        "otherwise",
        f"The {fact.what} is now sent to every peer; previously only to peers that advertise {fact.old}.",
        "Keep the gate: peers without the capability do not expect it.",
        within=fact.within,
        subject=f"{fact.what} {fact.old}",
        between=(_UNASKED, _UNSENT_TO_NEW),
    )


def gate_moved(fact: f.GateChanged) -> Judgement | None:
    """Another capability gates something: peers that advertise only the one that their revision knows are not sent it by the other."""
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
    """The capability that obliges a peer to send a field (`x-required-with`) has changed. The schema accepts messages without it
    all the same.
    """
    told = (
        "is no longer required of any peer"
        if fact.new is None
        else f"must now be sent by peers that advertise {fact.new}"
    )
    return Judgement(
        "otherwise" if fact.new is not None else "added",
        f"The field {fact.name!r} {told}.",
        "Require it only together with a new capability.",
        within=fact.name,
        subject=str(fact.new),
        gate=fact.new,
    )


def object_closed(fact: f.ObjectOpennessChanged) -> Judgement | None:
    """Undeclared members are refused now, extensions among them."""
    if fact.is_open:
        return None
    return Judgement(
        "refused",
        "Undeclared members are now rejected, extensions included.",
        "Keep the object open: receivers must ignore extensions, whose names begin with an underscore.",
        accepted_by="old",
        leaf=also(EXTENSION, True),
    )


def object_opened(fact: f.ObjectOpennessChanged) -> Judgement | None:
    """Undeclared members are accepted now; old receivers refuse them."""
    if not fact.is_open:
        return None
    return Judgement(
        "unknown",
        "Undeclared members are now accepted; old peers reject them.",
        "Send extensions only to peers of the new version.",
        accepted_by="new",
        leaf=also(EXTENSION, True),
    )


def undeclared_narrowed(fact: f.UndeclaredChanged) -> Judgement | None:
    """Values are refused now for members that no schema declares, such as by `dependentRequired`. A sender sends what its schema
    declares, so old and new peers understand each other; whoever sends more, or checks stored documents, meets the difference.
    """
    if fact.refused_by == "old":
        return None
    return Judgement(
        "claimed",
        _undeclared("rejected", fact),
        "Declare the members that the new demand is about.",
    )


def undeclared_widened(fact: f.UndeclaredChanged) -> Judgement | None:
    """Values are accepted now that were refused for members which no schema declares. A sender sends what its schema declares, so old
    and new peers understand each other.
    """
    if fact.refused_by == "new":
        return None
    return Judgement(
        "added",
        _undeclared("accepted", fact),
        "Declare these members before any peer sends them.",
    )


# --- types -----------------------------------------------------------------------------------------------------------


def null_forbidden(fact: f.NullChanged) -> Judgement | None:
    """Null was accepted and is refused now. Where decoding is lenient, receivers read it as an omitted field."""
    if fact.allowed:
        return None
    return Judgement(
        "unknown" if fact.lenient else "refused",
        f"Null is now rejected{'; lenient receivers read it as an omitted field' if fact.lenient else ''}.",
        "Keep accepting null from old peers; omit the field instead of sending null.",
        within=fact.name or "",
        accepted_by="old",
        leaf=exactly(None) if fact.name is None else having(fact.name, None),
        subject="null",
    )


def null_allowed(fact: f.NullChanged) -> Judgement | None:
    """Null is accepted now; old receivers refuse it, unless they decode the field leniently."""
    if not fact.allowed:
        return None
    return Judgement(
        "unknown" if fact.lenient else "refused",
        f"Null is now accepted; old peers reject it{' unless they decode leniently' if fact.lenient else ''}.",
        "Omit the field instead of sending null.",
        within=fact.name or "",
        accepted_by="new",
        leaf=exactly(None) if fact.name is None else having(fact.name, None),
        subject="null",
    )


def type_narrowed(fact: f.KindChanged) -> Judgement | None:
    """Values of a JSON type that were accepted are refused now."""
    if fact.come or fact.anything == "new":
        return None
    return Judgement(
        "refused",
        f"The type is now {fact.new_kinds} (previously {fact.old_kinds}).",
        "Keep the old type, and add a field for the new one.",
        accepted_by="old",
        leaf=of_alternatives(*fact.gone) if fact.gone else of_many_kinds,
        subject=_kinds(fact.gone),
    )


def type_widened(fact: f.KindChanged) -> Judgement | None:
    """Values of another JSON type are accepted now; old receivers refuse them."""
    if fact.gone or fact.anything == "old":
        return None
    return Judgement(
        "refused",
        f"The type is now {fact.new_kinds} (previously {fact.old_kinds}).",
        "Keep the old type and add a field for the new one, or gate the new values with a capability.",
        accepted_by="new",
        leaf=of_alternatives(*fact.come) if fact.come else of_many_kinds,
        subject=_kinds(fact.come),
    )


def type_changed(fact: f.KindChanged) -> Judgement | None:
    """Values of one JSON type have given way to those of another: each revision refuses what the other sends."""
    if not fact.gone or not fact.come:
        return None
    return Judgement(
        "refused",
        f"The type is now {fact.new_kinds} (previously {fact.old_kinds}).",
        "Keep the old type, and add a field for the new one.",
        accepted_by="old",
        leaf=of_alternatives(*fact.gone),
        back=of_alternatives(*fact.come),
        subject=f"{_kinds(fact.gone)} to {_kinds(fact.come)}",
    )


def _kinds(alternatives: tuple[Alternative, ...]) -> str:
    """The JSON kinds of alternatives; `None` stands for every kind."""
    return ", ".join(map(kind_of, alternatives)) or "None"


def limit_changed(fact: f.LimitChanged) -> Judgement | None:
    """A length, range, pattern, set of constants or number of items refuses what it accepted, and accepts what it refused."""
    if len(fact.directions) < 2:
        return None
    backward, forward = fact.parts
    words = _limit_words(fact, "rejects values that were accepted, and accepts values that were rejected")
    return Judgement(
        "refused",
        words if fact.keyword == f.OTHER else f"{words.removesuffix('.')}; each revision rejects values of the other.",
        "Keep the old limit, and add a field for the new values.",
        accepted_by="old",
        leaf=_limit_leaf(backward),
        back=_limit_leaf(forward),
        subject=_limit_subject(fact),
    )


def limit_tightened(fact: f.LimitChanged) -> Judgement | None:
    """A length, range, pattern, set of constants or number of items refuses what it accepted."""
    if fact.directions != ("old",):
        return None
    return Judgement(
        "refused",
        _limit_words(fact, "rejects values that were accepted"),
        "Keep the old limit for receivers; apply the new one to senders only.",
        accepted_by="old",
        leaf=_limit_leaf(fact),
        subject=_limit_subject(fact),
    )


def limit_loosened(fact: f.LimitChanged) -> Judgement | None:
    """A length, range, pattern, set of constants or number of items accepts more; old receivers refuse that."""
    if fact.directions != ("new",):
        return None
    return Judgement(
        "refused",
        _limit_words(fact, "accepts values that were rejected"),
        "Keep to the old limit when sending, unless the peer is known to be new.",
        accepted_by="new",
        leaf=_limit_leaf(fact),
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
            "It refuses nothing; a peer that decodes reads the texts differently."
        )
    told = Judgement("reworded", message, NO_ACTION, subject=f"{fact.old} {fact.new}")
    if fact.refused:
        (sender, text), *others = fact.refused
        advice = "Keep the old format for receivers; apply the new one to senders only."
        if sender == "new":
            advice = "Keep to the old format when sending, unless the peer is known to be new."
        strings = fact.strings[0 if sender == "old" else 1]
        likely = [shown for each in strings for shown in texts.of_format(each.format)]
        back = exactly(others[0][1]) if others else None
        leaf = exactly(*likely, text)
        return replace(told, weight="refused", advice=advice, accepted_by=sender, leaf=leaf, back=back)
    if fact.doubt:
        advice = "Review both places, and waive the finding if it is harmless."
        message = f"{message} What it refuses could not be decided: {fact.doubt.rstrip('.')}."
        return replace(told, weight="undetermined", message=message, advice=advice)
    return told


def value_added(fact: f.ValueAdded) -> Judgement | None:
    """An open or tolerated set of constants has a new one. Old receivers keep values that they do not know."""
    if fact.old.openness == "closed":
        return None
    value = fact.value.value
    return Judgement(
        "claimed",
        f"The value {_value(value)} was added{_formerly(fact.was)}{_note(fact.old.openness)}.",
        NO_ACTION,
        subject=repr(value),
        gate=fact.value.capability,
    )


def closed_value_added(fact: f.ValueAdded) -> Judgement | None:
    """A closed set of constants has a new one; a strict old receiver refuses it."""
    if fact.old.openness != "closed":
        return None
    value = fact.value.value
    missing = "" if fact.value.capability else " No capability gates it."
    return Judgement(
        "unknown",
        f"The value {_value(value)} was added{_formerly(fact.was)} to a closed set; old peers reject unknown values.{missing}",
        _GATE,
        accepted_by="new",
        leaf=exactly(value),
        subject=repr(value),
        gate=fact.value.capability,
    )


def value_removed(fact: f.ValueRemoved) -> Judgement | None:
    """A constant of an open set is gone: new receivers accept it and do not know what it means."""
    if fact.new.openness != "open":
        return None
    value = fact.value.value
    return Judgement(
        "lost",
        f"The value {_value(value)} {_gone(fact.heir)}; new peers accept it but do not know its meaning.",
        f"{_seems(value, fact.seems)}Keep the value until the next major version.",
        carried_by="old",
        leaf=exactly(value),
        subject=repr(value),
    )


def closed_value_removed(fact: f.ValueRemoved) -> Judgement | None:
    """A constant of a closed or tolerated set is gone: new receivers refuse it."""
    if fact.new.openness == "open":
        return None
    value = fact.value.value
    return Judgement(
        "refused",
        f"The value {_value(value)} {_gone(fact.heir)}; new peers reject it.",
        f"{_seems(value, fact.seems)}Keep the value until the next major version.",
        accepted_by="old",
        leaf=exactly(value),
        subject=repr(value),
    )


def values_named(_: f.ValuesNamed) -> Judgement:
    """A free string or number has known constants now, and stays free."""
    return Judgement("claimed", "Some values now have a defined meaning.", NO_ACTION)


def values_unnamed(fact: f.ValuesUnnamed) -> Judgement:
    """An open set of constants is a free string or number now: its values are accepted and mean nothing."""
    value = fact.old.values[0].value
    return Judgement(
        "lost",
        "Its values are still accepted but no longer have a defined meaning.",
        "Keep the constants until the next major version.",
        carried_by="old",
        leaf=exactly(value),
    )


def variant_added(fact: f.VariantAdded) -> Judgement | None:
    """An open or tolerated union has a new variant. Old receivers keep variants that they do not know. So it is where the branch without
    a tag knows values of the tag and takes others: an open enumeration has become the tag of variants.
    """
    if (fact.old.openness == "closed" and not fact.foreseen) or fact.variant.tag == fact.old.default_tag:
        return None
    tag = fact.variant.tag
    return Judgement(
        "claimed",
        f"The variant {_value(tag)} was added{_note(fact.old.openness)}.",
        NO_ACTION,
        within=f"({tag})",
        gate=fact.variant.capability,
    )


def closed_variant_added(fact: f.VariantAdded) -> Judgement | None:
    """A closed union has a new variant; a strict old receiver refuses it."""
    if fact.old.openness != "closed" or fact.old.default is not None:
        return None
    tag = fact.variant.tag
    missing = "" if fact.variant.capability else " No capability gates it."
    return Judgement(
        "unknown",
        f"The variant {_value(tag)} was added to a closed union; old peers reject unknown variants.{missing}",
        _GATE,
        within=f"({tag})",
        accepted_by="new",
        leaf=of_definition(fact.variant.type),
        gate=fact.variant.capability,
    )


def variant_beside_default_added(fact: f.VariantAdded) -> Judgement | None:
    """A tagged variant is new beside a branch without a tag: old receivers take it for that branch, or refuse it."""
    tag = fact.variant.tag
    kept = fact.old.openness != "closed" or fact.foreseen
    if fact.old.default is None or (kept and tag != fact.old.default_tag):
        return None
    missing = "" if fact.variant.capability else " No capability gates it."
    return Judgement(
        "otherwise",
        f"The variant {_value(tag)} was added; old peers decode it as {fact.old.default} or reject it.{missing}",
        _GATE,
        within=f"({tag})",
        accepted_by="new",
        carried_by="new",
        leaf=of_definition(fact.variant.type),
        gate=fact.variant.capability,
    )


def variant_removed(fact: f.VariantRemoved) -> Judgement | None:
    """A variant is gone and new receivers do not refuse it: they keep it as unknown, or take it for the branch without a tag."""
    if fact.new.openness != "open" and fact.new.default is None:
        return None
    tag = fact.variant.tag
    return Judgement(
        "lost",
        f"The variant {_value(tag)} was removed; new peers do not know its meaning.",
        f"{_seems(tag, fact.seems)}Keep the variant until the next major version.",
        within=f"({tag})",
        accepted_by="old",
        carried_by="old",
        leaf=of_definition(fact.variant.type),
    )


def closed_variant_removed(fact: f.VariantRemoved) -> Judgement | None:
    """A variant of a closed or tolerated union is gone: new receivers refuse it."""
    if fact.new.openness == "open" or fact.new.default is not None:
        return None
    tag = fact.variant.tag
    return Judgement(
        "refused",
        f"The variant {_value(tag)} was removed; new peers reject it.",
        f"{_seems(tag, fact.seems)}Keep the variant until the next major version.",
        within=f"({tag})",
        accepted_by="old",
        leaf=of_definition(fact.variant.type),
    )


def variant_renamed(fact: f.VariantRenamed) -> Judgement | None:
    """A variant has another tag, as `x-was` declares. Each revision knows only its own. What the two hold is compared under the new tag."""
    was, tag = fact.was.tag, fact.variant.tag
    return Judgement(
        "lost",
        f"The variant {was!r} was renamed to {tag!r}; peers of one revision do not know the tag of the other.",
        f"Keep {was!r} beside {tag!r} until the next major version, and read either.",
        within=f"({tag})",
        subject=repr(was),
        accepted_by="old",
        carried_by="old",
        leaf=of_definition(fact.was.type),
        back=of_definition(fact.variant.type),
    )


def untagged_variant_added(fact: f.UntaggedChanged) -> Judgement | None:
    """A branch without a tag is new. Old receivers refuse what has no known tag, and new ones may take for it what they refused."""
    if not fact.added:
        return None
    return Judgement(
        "unknown" if fact.other.openness != "open" else "otherwise",
        f"The branch {fact.branch}, which has no discriminator value, was added.",
        "Give the branch a discriminator value of its own.",
        within=f"({fact.branch})",
        accepted_by="new" if fact.other.openness != "open" else None,
        carried_by="new" if fact.other.openness == "open" else None,
        leaf=of_definition(fact.branch),
    )


def untagged_variant_removed(fact: f.UntaggedChanged) -> Judgement | None:
    """The branch without a tag is gone: what has no known tag is refused now."""
    if fact.added:
        return None
    return Judgement(
        "refused",
        f"The branch {fact.branch}, which has no discriminator value, was removed.",
        "Keep the branch until the next major version.",
        within=f"({fact.branch})",
        accepted_by="old",
        leaf=of_definition(fact.branch),
    )


def unknown_refused(fact: f.OpennessChanged) -> Judgement | None:
    """Tags or constants that are not known were accepted by the schema and are refused now, extensions among them."""
    if fact.old != "open" or fact.new == "open":
        return None
    taken = fact.has_default
    return Judgement(
        "otherwise" if taken else "refused",
        f"Unknown {_SORTS[fact.sort]} are now {'decoded as the branch without a discriminator value' if taken else 'rejected'}, "
        "extensions included.",
        "Keep it open: receivers must keep extensions, whose names begin with an underscore.",
        accepted_by=None if taken else "old",
        carried_by="old" if taken else None,
        leaf=_unknown_leaf(fact),
    )


def unknown_accepted(fact: f.OpennessChanged) -> Judgement | None:
    """Tags or constants that are not known are accepted by the schema now; a strict old receiver refuses them."""
    if fact.new != "open" or fact.old == "open":
        return None
    strict = fact.old == "closed" and not fact.has_default
    return Judgement(
        "unknown" if strict else "claimed",
        f"Unknown {_SORTS[fact.sort]} are now accepted{_note(fact.old)}.",
        "Send extensions only to peers of the new version.",
        accepted_by="new" if strict else None,
        leaf=_unknown_leaf(fact),
    )


def tolerance_added(fact: f.OpennessChanged) -> Judgement | None:
    """Receivers now keep tags or constants that they do not know (`x-unknown: keep`). What is valid stays the same."""
    if fact.old != "closed" or fact.new != "tolerated":
        return None
    return Judgement(
        "added", f"Receivers now keep unknown {_SORTS[fact.sort]} (previously they rejected them).", NO_ACTION
    )


def tolerance_withdrawn(fact: f.OpennessChanged) -> Judgement | None:
    """Receivers kept tags or constants that they did not know (`x-unknown: keep`), and refuse them now."""
    if fact.old != "tolerated" or fact.new != "closed":
        return None
    return Judgement(
        "otherwise",
        f"Receivers now reject unknown {_SORTS[fact.sort]} (previously they kept them).",
        "Keep 'x-unknown: keep': newer peers may send what this version does not know.",
    )


def tag_renamed(fact: f.TagRenamed) -> Judgement:
    """The discriminator is another member now: neither side recognises the other's variants."""
    return Judgement(
        "refused" if fact.new.openness != "open" else "lost",
        f"The discriminator is now {fact.new.tag!r} (previously {fact.old.tag!r}).",
        "Keep sending the old discriminator together with the new one.",
        accepted_by="old" if fact.new.openness != "open" else None,
        carried_by="old" if fact.new.openness == "open" else None,
        leaf=smallest,
        back=smallest,
        subject=f"{fact.old.tag} {fact.new.tag}",
    )


def alternative_added(fact: f.AlternativeChanged) -> Judgement | None:
    """One more shape is accepted; old receivers refuse it, or take it for one that they know."""
    if not fact.added:
        return None
    return Judgement(
        "unknown",
        f"The alternative {_alternative(fact)} was added; no capability can gate it, since it has no discriminator value.",
        "Add a discriminator, or put the new alternative into a field of its own.",
        accepted_by="new",
        carried_by="new",
        leaf=of_alternative(fact.alternative),
        subject=_alternative_subject(fact),
    )


def alternative_removed(fact: f.AlternativeChanged) -> Judgement | None:
    """One of several shapes is gone: it is refused now, or taken for another."""
    if fact.added:
        return None
    return Judgement(
        "refused",
        f"The alternative {_alternative(fact)} was removed.",
        "Keep the alternative until the next major version.",
        accepted_by="old",
        carried_by="old",
        leaf=of_alternative(fact.alternative),
        subject=_alternative_subject(fact),
    )


def inclusion_undecided(fact: f.Undetermined) -> Judgement:
    """Something differs, and neither that it breaks nor that it does not could be proven. Never taken for safe."""
    return Judgement(
        "undetermined",
        f"Changed, and the effect could not be decided: {fact.reason}.",
        "Review both places, and waive the finding if it is harmless.",
        subject=None,
    )


def definition_added(fact: f.DefinitionAdded) -> Judgement:
    """A definition is new and no message reaches it: a document of its own, or one that is not used yet."""
    return Judgement("added", f"The definition {fact.name!r} was added; no message uses it.", NO_ACTION)


def definition_removed(fact: f.DefinitionRemoved) -> Judgement:
    """A definition is gone that no message reached: whether anybody reads or writes documents of that kind is not known."""
    return Judgement(
        "undetermined",
        f"The definition {fact.name!r} was removed; no message used it, so who depends on it is unknown.",
        "Keep it, declare its replacement with 'x-was', or waive the finding if nobody depends on it.",
    )


def not_compared(fact: f.NotCompared) -> Judgement:
    """Something differs that was not compared, since it is not understood or stands where nothing is read. Never taken for safe."""
    return Judgement(
        "undetermined",
        f"Changed, and not compared: {fact.reason}.",
        "Review both places, and waive the finding if it is harmless.",
        subject=None,
    )


# --- paper -----------------------------------------------------------------------------------------------------------


def definition_renamed(fact: f.DefinitionRenamed) -> Judgement:
    """A definition has another name. No message can notice; generated code has another class, unless `x-was` declares the old name."""
    note = "" if fact.declared else " Generated classes are renamed."
    return Judgement(
        "renamed",
        f"The definition {fact.old!r} was renamed to {fact.new!r}.{note}",
        NO_ACTION if fact.declared else "Declare the old name with 'x-was', so that generated code can keep it.",
        subject=f"{fact.old} {fact.new}",
    )


def text_reworded(fact: f.Reworded) -> Judgement:
    """A description has changed."""
    return Judgement("reworded", f"The description of {fact.what} changed.", NO_ACTION, subject=fact.what)


def schema_restructured(fact: f.Restructured) -> Judgement:
    """The files differ in something that nothing a peer sends can notice: titles, examples, order, where a definition lives. A
    definition that is written differently and accepts the same is named. Generated code may differ all the same. Without `--unstable`,
    what is marked `x-unstable` and differs is named too: it is promised to nobody.
    """
    advice = NO_ACTION
    message = "The files differ only in what no message can show."
    if fact.but == "unstable":
        more = len(fact.classes) - _MANY
        listed = ", ".join(map(repr, fact.classes[:_MANY])) + (f" and {more} more" if more > 0 else "")
        message = f"What is marked 'x-unstable' was left out and differs: {listed}."
        advice = "Compare with '--unstable' to have it judged."
    elif fact.but == "copied":
        message = f"One revision alone defines {fact.name!r}. No message refers to it, and a variant in messages says the same."
    elif fact.but == "carried":
        written = "is written differently" if fact.old_at and fact.new_at else "is in one revision alone"
        message = f"{fact.name!r} frames messages and {written}; the messages themselves are compared method by method."
    elif fact.but == "content":
        message = (
            f"{fact.name!r} says differently what its texts hold ('contentMediaType', 'contentSchema'). "
            "It refuses nothing; a peer that reads the content reads it differently."
        )
    elif fact.name:
        message = (
            f"The definition {fact.name!r} is written differently, in a way that no message can show{_BUT[fact.but]}."
        )
    elif fact.classes:
        message = f"Generated code differs in {', '.join(map(repr, fact.classes))}, in a way that no message can show."
    return Judgement(
        "reworded", message, advice, within=fact.name, subject=" ".join((fact.name, *fact.classes)).strip()
    )


RULES: Mapping[type[f.Fact], tuple[Rule, ...]] = {
    f.MethodAdded: (method_added,),
    f.MethodRemoved: (method_removed, method_renamed),
    f.MethodKindChanged: (method_kind_changed,),
    f.PositionsChanged: (position_changed,),
    f.NullResultChanged: (null_result_allowed, null_result_withdrawn),
    f.BatchChanged: (batch_allowed, batch_withdrawn),
    f.FieldAdded: (field_added, extension_declared, closed_field_added, required_field_added),
    f.FieldRemoved: (field_removed, required_field_removed, extension_undeclared),
    f.FieldRenamed: (field_renamed,),
    f.RequirednessChanged: (field_became_required, field_became_optional),
    f.DefaultChanged: (default_changed, default_grown),
    f.NullMeaningChanged: (null_meaning_changed, null_meaning_declared),
    f.LeniencyChanged: (leniency_added, leniency_withdrawn),
    f.GateChanged: (gate_added, gate_removed, gate_moved),
    f.DemandChanged: (demand_changed,),
    f.ObjectOpennessChanged: (object_closed, object_opened),
    f.UndeclaredChanged: (undeclared_narrowed, undeclared_widened),
    f.NullChanged: (null_forbidden, null_allowed),
    f.KindChanged: (type_narrowed, type_widened, type_changed),
    f.LimitChanged: (limit_changed, limit_tightened, limit_loosened),
    f.FormatChanged: (format_changed,),
    f.ValueAdded: (value_added, closed_value_added),
    f.ValueRemoved: (value_removed, closed_value_removed),
    f.ValuesNamed: (values_named,),
    f.ValuesUnnamed: (values_unnamed,),
    f.VariantAdded: (variant_added, closed_variant_added, variant_beside_default_added),
    f.VariantRemoved: (variant_removed, closed_variant_removed),
    f.VariantRenamed: (variant_renamed,),
    f.UntaggedChanged: (untagged_variant_added, untagged_variant_removed),
    f.OpennessChanged: (unknown_refused, unknown_accepted, tolerance_added, tolerance_withdrawn),
    f.TagRenamed: (tag_renamed,),
    f.AlternativeChanged: (alternative_added, alternative_removed),
    f.Undetermined: (inclusion_undecided,),
    f.DefinitionAdded: (definition_added,),
    f.DefinitionRemoved: (definition_removed,),
    f.NotCompared: (not_compared,),
    f.DefinitionRenamed: (definition_renamed,),
    f.Reworded: (text_reworded,),
    f.Restructured: (schema_restructured,),
}
"""The rules by the kind of fact that they judge. Exactly one of them speaks for each fact."""

MIRRORS: Final[Mapping[str, str]] = {
    "method-added": "method-removed",
    "extension-declared": "extension-undeclared",
    "null-result-allowed": "null-result-withdrawn",
    "batch-allowed": "batch-withdrawn",
    "field-added": "field-removed",
    "required-field-added": "required-field-removed",
    "field-became-required": "field-became-optional",
    "leniency-added": "leniency-withdrawn",
    "gate-added": "gate-removed",
    "object-closed": "object-opened",
    "undeclared-narrowed": "undeclared-widened",
    "null-forbidden": "null-allowed",
    "type-narrowed": "type-widened",
    "limit-tightened": "limit-loosened",
    "value-added": "value-removed",
    "closed-value-added": "closed-value-removed",
    "values-named": "values-unnamed",
    "variant-added": "variant-removed",
    "closed-variant-added": "closed-variant-removed",
    "untagged-variant-added": "untagged-variant-removed",
    "unknown-refused": "unknown-accepted",
    "tolerance-added": "tolerance-withdrawn",
    "alternative-added": "alternative-removed",
    "definition-added": "definition-removed",
    "language-narrowed": "language-widened",
}
"""Each pair once: the rule, and the one that judges the change in the other direction."""

UNMIRRORED: Final[Mapping[str, str]] = {
    "method-renamed": "a rename back is a rename",
    "method-kind-changed": "a change of kind is its own mirror",
    "position-changed": "a change back is a change",
    "closed-field-added": "field-removed judges the removal, from closed objects too",
    "default-changed": "a change back is a change",
    "default-grown": "a default that shrinks is default-changed",
    "null-meaning-changed": "a change back is a change",
    "null-meaning-declared": "it judges both directions",
    "gate-moved": "a move back is a move",
    "demand-changed": "it judges both directions",
    "format-changed": "a change back is a change",
    "limit-changed": "a change back is a change",
    "type-changed": "a change back is a change",
    "variant-beside-default-added": "variant-removed judges the removal",
    "field-renamed": "a rename back is a rename",
    "variant-renamed": "a rename back is a rename",
    "tag-renamed": "a rename back is a rename",
    "inclusion-undecided": "it judges both directions",
    "not-compared": "it judges both directions",
    "definition-renamed": "a rename back is a rename",
    "text-reworded": "it judges both directions",
    "schema-restructured": "it judges both directions",
    "language-undecided": "it judges both directions",
    "policy-applied": "a policy that changes nothing needs no note",
    "policy-unused": "an entry that is used needs no note",
    "waiver-expired": "a waiver that has not expired needs no note",
    "waiver-unused": "a waiver that is used needs no note",
}
"""Rules without a mirror, and why."""


def rule_id(rule: Rule) -> str:
    """The public name of a rule: `field-became-required`."""
    return rule.__name__.replace("_", "-")


def judge(fact: f.Fact) -> tuple[str, Judgement]:
    """The rule that speaks for a fact, and what it says."""
    spoken = [(rule_id(rule), judgement) for rule in RULES[type(fact)] if (judgement := rule(fact)) is not None]
    assert len(spoken) == 1, f"{len(spoken)} rules speak for {fact}"
    return spoken[0]


_UNKNOWN_METHOD: Final = {
    "request": "old peers answer it with the error -32601",
    "notification": "old peers ignore it",
}
_UNKNOWN_METHOD_NOW: Final = {
    "request": "new peers answer it with the error -32601",
    "notification": "new peers ignore it",
}
_NULL: Final = {"clears": "clears the value", "omitted": "means the same as an omitted field"}
_NULL_BEFORE: Final = {"clears": "cleared the value", "omitted": "meant the same as an omitted field"}
_INVALID: Final = {
    "default_on_error": "an invalid value was",
    "skip_invalid_items": "invalid items were",
    "default_on_null": "null was",
}
_BUT: Final = {
    "": "",
    "told": " but for what other findings tell",
    "framed": ", unless it is no message of this protocol",
}
_SORTS: Final = {"union": "variants", "enum": "values"}


def _undeclared(now: str, fact: f.UndeclaredChanged) -> str:
    """What is now rejected or accepted for members that nobody declares."""
    if fact.value is None:
        return (
            f"Whether more values with undeclared members are now {now} could not be decided; peers do not send these."
        )
    such = json.dumps(fact.value[0], ensure_ascii=False)
    return f"Some values with undeclared members are now {now}, such as {such}; peers do not send these."


def _leniency(fact: f.LeniencyChanged) -> str:
    """What a change of leniency means for a field: `'limit' is now decoded strictly; previously an invalid value was …`."""
    subject = _INVALID[fact.keyword]
    if fact.keyword == "skip_invalid_items":
        instead = "skipped"
    else:
        instead = f"read {fact.instead}" if fact.instead else "declared as lenient, with nothing to read instead"
    if not fact.added:
        return f"{fact.name!r} is now decoded strictly; previously {subject} {instead}."
    now = subject.replace(" was", " is").replace(" were", " are")
    return f"{fact.name!r} is now decoded leniently: {now} {instead}; previously {subject} an error."


def _freely(name: str) -> str:
    """What peers may send under a name for extensions."""
    return "any object" if name == META else "anything"


def _note(openness: ir.Openness) -> str:
    return "; strict old peers reject it, others keep it ('x-unknown: keep')" if openness == "tolerated" else ""


def _default(default: ir.Default | None) -> str:
    return "unspecified" if default is None else json.dumps(default.value, ensure_ascii=False)


def _alternative(fact: f.AlternativeChanged) -> str:
    alternative = fact.alternative
    if isinstance(alternative, ir.Array):
        inner = alternative.items
        return f"array of {inner.name}" if isinstance(inner, ir.Ref) else "array"
    name = getattr(alternative, "name", None)
    return name or "object"


def _alternative_subject(fact: f.AlternativeChanged) -> str | None:
    """The name of an alternative; what has none is told by the two texts alone."""
    alternative = fact.alternative
    named = alternative.items if isinstance(alternative, ir.Array) else alternative
    return _alternative(fact) if getattr(named, "name", "") else None


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


def _value(value: ir.JSON) -> str:
    """A constant: text in quotes, anything else as JSON."""
    return repr(value) if isinstance(value, str) else json.dumps(value)


def _limit_leaf(fact: f.LimitChanged) -> Leaf:
    leaves = [
        exactly(each.value) if each.items is None else items(each.items, equal=each.keyword == "uniqueItems")
        for each in fact.all
    ]

    def leaf(make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
        for one in leaves:
            with suppress(NoExample):
                yield from one(make, type_)

    return leaf


def _unknown_leaf(fact: f.OpennessChanged) -> Leaf:
    if fact.sort == "enum":
        return exactly(EXTENSION, -1_000_001)
    assert fact.tag is not None
    return of_definition_of_unknown(fact.tag)


def of_definition_of_unknown(tag: str) -> Leaf:
    """A variant of an open union with a tag that nobody knows."""

    def leaf(make: Any, type_: ir.Type) -> Any:
        for each in make.shape(type_).of("object"):
            if isinstance(each, ir.TaggedUnion) and each.fallback is not None:
                for name in each.fallback_shapes or (each.fallback,):
                    value = make.of(ir.Ref(name))
                    if isinstance(value, dict):
                        yield {**value, tag: EXTENSION}

    return leaf
