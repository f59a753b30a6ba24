"""The rules: each judges one fact, or leaves it to another rule.

A rule is one small function; its name with dashes is its public id, its docstring its documentation. `MIRRORS` names the rule that
judges the change in the other direction, or says why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from acpgen import ir
from acpgen.compat.findings import Revision
from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.candidates import (
    EXTENSION,
    Leaf,
    also,
    exactly,
    having,
    items,
    of_alternative,
    of_definition,
    of_many_kinds,
    smallest,
    without,
)
from acpgen.compat.protocol.policy import Weight


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says of a fact.

    A refusal names the revision that accepts (`accepted_by`), a loss the one that carries the meaning (`carried_by`); with both, a
    refusal is looked for first. `leaf` makes values that show it. `gate` is the capability that holds an addition back. `within` is
    the place inside the pair, `subject` what tells this finding from others of the same rule at the same place: `None` where only the
    two texts do.
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


Rule: TypeAlias = Callable[[Any], Judgement | None]

_GATE: Final = "Gate it with 'x-capability', so that no old peer is sent it."
_MAJOR: Final = "Keep it until the next major version."


# --- methods ---------------------------------------------------------------------------------------------------------


def method_added(fact: f.MethodAdded) -> Judgement:
    """A method is new. A peer that does not know it answers a request with -32601 and ignores a notification, so nothing breaks."""
    method = fact.method
    ungated = (
        "" if method.capability else " No capability gates it: an old peer answers -32601, or ignores a notification."
    )
    return Judgement(
        "added",
        f"The {method.kind} {method.name!r} is new.{ungated}",
        "Nothing needs to be done."
        if method.capability
        else "Gate it with 'x-capability', so that callers need not try.",
        gate=method.capability,
    )


def method_removed(fact: f.MethodRemoved) -> Judgement | None:
    """A method is gone: what it did cannot be asked for any more."""
    if fact.heir is not None:
        return None
    return Judgement(
        "lost",
        f"The {fact.method.kind} {fact.method.name!r} is gone; a peer that still sends it is not understood.",
        "Keep the method, or say with 'x-was' on another one that it takes its place.",
        carried_by="old",
    )


def method_renamed(fact: f.MethodRemoved) -> Judgement | None:
    """A method has a new name (`x-was`): peers do not understand each other's name for it."""
    if fact.heir is None:
        return None
    return Judgement(
        "lost",
        f"The {fact.method.kind} {fact.method.name!r} is called {fact.heir!r} now.",
        f"Handle both names for a while, and send {fact.heir!r} to peers of the new version only.",
        carried_by="old",
    )


def method_kind_changed(fact: f.MethodKindChanged) -> Judgement:
    """A request became a notification or the reverse: one side waits for an answer that never comes, or gets one unasked."""
    return Judgement(
        "lost",
        f"The {fact.old.kind} {fact.old.name!r} is a {fact.new.kind} now.",
        "Give the new kind a method name of its own.",
        carried_by="old",
    )


def null_result_allowed(fact: f.NullResultChanged) -> Judgement | None:
    """A result of null now stands for the empty result (`x-null: omitted`)."""
    if not fact.allowed:
        return None
    return Judgement("added", "A result of null now stands for the empty result.", "Keep sending an object.")


def null_result_withdrawn(fact: f.NullResultChanged) -> Judgement | None:
    """A result of null no longer stands for the empty result: it is an error now."""
    if fact.allowed:
        return None
    return Judgement(
        "otherwise",
        "A result of null no longer stands for the empty result.",
        "Keep 'x-null: omitted' while old peers may answer null.",
    )


def batch_allowed(fact: f.BatchChanged) -> Judgement | None:
    """A message may now be an array of messages; an old peer refuses that."""
    if not fact.allowed:
        return None
    return Judgement(
        "unknown",
        "Messages may now come in batches, which an old peer refuses.",
        "Send batches only to peers that have agreed on the new version.",
        accepted_by="new",
    )


def batch_withdrawn(fact: f.BatchChanged) -> Judgement | None:
    """A message may no longer be an array of messages."""
    if fact.allowed:
        return None
    return Judgement(
        "refused",
        "Messages may no longer come in batches.",
        "Keep accepting batches until the next major version.",
        accepted_by="old",
    )


def _gone(heir: str | None) -> str:
    """What became of something: it is gone, or called otherwise (`x-was`)."""
    return "gone" if heir is None else f"called {heir!r} now"


def _formerly(was: str | None) -> str:
    return "" if was is None else f" (it was {was!r})"


# --- fields ----------------------------------------------------------------------------------------------------------


def field_added(fact: f.FieldAdded) -> Judgement | None:
    """An optional field is new in an object that accepts undeclared members. Old receivers ignore it. The name, which was free, is
    claimed: as languages the new schema is narrower, between peers nothing breaks, since a sender sends what its schema declares.
    """
    if fact.field.required or isinstance(fact.old.extra, ir.Nothing):
        return None
    name = fact.field.name
    return Judgement(
        "claimed",
        f"The optional field {name!r} is new{_formerly(fact.was)}.",
        "Nothing needs to be done.",
        within=name,
        gate=fact.field.capability,
    )


def closed_field_added(fact: f.FieldAdded) -> Judgement | None:
    """An optional field is new in an object that refuses undeclared members, so a strict old receiver refuses it."""
    if fact.field.required or not isinstance(fact.old.extra, ir.Nothing):
        return None
    name = fact.field.name
    missing = "" if fact.field.capability else " No capability gates it."
    return Judgement(
        "unknown",
        f"The optional field {name!r} is new{_formerly(fact.was)} in an object that old peers take for complete.{missing}",
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
        f"The new field {name!r}{_formerly(fact.was)} is required, and old peers do not send it.",
        "Make it optional, and say what its absence means.",
        within=name,
        accepted_by="old",
        leaf=without(name),
    )


def field_removed(fact: f.FieldRemoved) -> Judgement | None:
    """An optional field is gone. Nothing may be refused, but what it said is not heard any more. Names that begin with an underscore
    are extensions and stay allowed everywhere: see `extension-undeclared`.
    """
    name = fact.field.name
    if fact.field.required or name.startswith("_"):
        return None
    shut = isinstance(fact.new.extra, ir.Nothing)
    return Judgement(
        "refused" if shut else "lost",
        f"The field {name!r} is {_gone(fact.heir)}; {'new peers refuse it' if shut else 'what it says is no longer heard'}.",
        f"Keep it as optional and say what replaces it. {_MAJOR}",
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
        f"The field {name!r} is {_gone(fact.heir)}, and old peers require it.",
        f"Keep sending it. {_MAJOR}",
        within=name,
        accepted_by="new",
        leaf=without(name),
    )


def extension_undeclared(fact: f.FieldRemoved) -> Judgement | None:
    """A name that begins with an underscore, such as `_meta`, is no longer declared. Peers may send it all the same, since such names
    are reserved for extensions; its form is simply not checked any more.
    """
    name = fact.field.name
    if fact.field.required or not name.startswith("_"):
        return None
    if isinstance(fact.new.extra, ir.Nothing):
        return Judgement(
            "refused",
            f"The extension field {name!r} is no longer declared, and new peers refuse it.",
            "Declare it again.",
            within=name,
            accepted_by="old",
            leaf=having(name),
        )
    return Judgement(
        "added",
        f"The extension field {name!r} is no longer declared; its form is not checked any more.",
        "Declare it where bindings should offer it.",
        within=name,
    )


def field_became_required(fact: f.RequirednessChanged) -> Judgement | None:
    """A field must be there now: old senders may leave it out."""
    if not fact.required:
        return None
    return Judgement(
        "refused",
        f"The field {fact.field.name!r} is required now; old peers may leave it out.",
        "Keep it optional, and say what its absence means.",
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
        f"The field {fact.field.name!r} may be left out now; old peers refuse that.",
        "Keep sending it to old peers: keep it required, or gate the new behaviour with a capability.",
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
        f"An omitted {fact.name!r} meant {_default(fact.old)} and means {_default(fact.new)} now.",
        "Keep the default, or send the value explicitly.",
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
        f"The default of {fact.name!r} names added fields too.",
        "Nothing needs to be done.",
        within=fact.name,
    )


def null_meaning_changed(fact: f.NullMeaningChanged) -> Judgement | None:
    """Null cleared the value and now equals leaving it out, or the reverse (`x-null`)."""
    if fact.old is None or fact.new is None:
        return None
    return Judgement(
        "otherwise",
        f"Null in {fact.name!r} used to {_NULL[fact.old]}, and {_NULL_NOW[fact.new]} now.",
        "Use another field or value for the new meaning.",
        within=fact.name,
        carried_by="old",
        leaf=having(fact.name, None),
    )


def null_meaning_declared(fact: f.NullMeaningChanged) -> Judgement | None:
    """What null means is said now (`x-null`), or no longer said. What is accepted stays the same."""
    if fact.old is not None and fact.new is not None:
        return None
    word = "is said now" if fact.old is None else "is no longer said"
    return Judgement(
        "reworded",
        f"What null means in {fact.name!r} {word}.",
        "Nothing needs to be done.",
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
        "Nothing needs to be done.",
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
        "Say so in the release notes: peers that sent invalid values now see errors.",
        within=fact.name,
        subject=f"{fact.keyword} {fact.instead}",
    )


def gate_added(fact: f.GateChanged) -> Judgement | None:
    """Something that everybody was sent is sent only to peers that advertise a capability. Old peers do not advertise it, and get it no
    more.
    """
    if fact.new is None or fact.old is not None:
        return None
    return Judgement(
        "otherwise",
        f"The {fact.what} is sent only to peers that advertise {fact.new}.",
        "Let the absence of the capability mean what it meant before.",
        within=fact.within,
        subject=f"{fact.what} {fact.new}",
    )


def gate_removed(fact: f.GateChanged) -> Judgement | None:
    """Something is sent without asking for a capability first. Old peers that do not advertise it did not expect it."""
    if fact.old is None or fact.new is not None:
        return None
    return Judgement(
        "otherwise",
        f"The {fact.what} is sent without regard to {fact.old}.",
        "Keep the gate while peers without the capability exist.",
        within=fact.within,
        subject=f"{fact.what} {fact.old}",
    )


def gate_moved(fact: f.GateChanged) -> Judgement | None:
    """Another capability gates something: old peers that advertised the old one get it no more, or unasked."""
    if fact.old is None or fact.new is None:
        return None
    return Judgement(
        "otherwise",
        f"The {fact.what} was gated by {fact.old} and is gated by {fact.new} now.",
        "Accept either capability for a while.",
        within=fact.within,
        subject=f"{fact.what} {fact.old} {fact.new}",
    )


def demand_changed(fact: f.DemandChanged) -> Judgement | None:
    """The capability that obliges a peer to send a field (`x-required-with`) has changed. The schema accepts messages without it
    all the same.
    """
    return Judgement(
        "otherwise" if fact.new is not None else "added",
        f"The field {fact.name!r} {'must be sent by a peer that advertises ' + fact.new if fact.new else 'is no longer demanded'}.",
        "Demand it only together with a new capability.",
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
        "Members that are not declared are refused now, extensions among them.",
        "Leave the object open: extensions begin with an underscore and must be ignored.",
        accepted_by="old",
        leaf=also(EXTENSION, True),
    )


def object_opened(fact: f.ObjectOpennessChanged) -> Judgement | None:
    """Undeclared members are accepted now; old receivers refuse them."""
    if not fact.is_open:
        return None
    return Judgement(
        "unknown",
        "Members that are not declared are accepted now; old peers refuse them.",
        "Send extensions only to peers of the new version.",
        accepted_by="new",
        leaf=also(EXTENSION, True),
    )


# --- types -----------------------------------------------------------------------------------------------------------


def null_forbidden(fact: f.NullChanged) -> Judgement | None:
    """Null was accepted and is refused now. Where decoding is lenient, receivers read it as an omitted field."""
    if fact.allowed:
        return None
    return Judgement(
        "unknown" if fact.lenient else "refused",
        f"Null is refused now{'; lenient receivers read it as an omitted field' if fact.lenient else ''}.",
        "Leave the field out instead of sending null, and keep accepting null from old peers.",
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
        f"Null is accepted now; old peers refuse it{' unless they decode leniently' if fact.lenient else ''}.",
        "Leave the field out instead of sending null.",
        within=fact.name or "",
        accepted_by="new",
        leaf=exactly(None) if fact.name is None else having(fact.name, None),
        subject="null",
    )


def type_narrowed(fact: f.KindChanged) -> Judgement | None:
    """Values of a JSON type that were accepted are refused now."""
    if fact.admitted_by != "old":
        return None
    return Judgement(
        "refused",
        f"It was {fact.old_kinds} and is {fact.new_kinds} now.",
        "Add a field of the new type beside the old one.",
        accepted_by="old",
        leaf=of_many_kinds if fact.alternative is None else of_alternative(fact.alternative),
        subject=f"{fact.kind}",
    )


def type_widened(fact: f.KindChanged) -> Judgement | None:
    """Values of another JSON type are accepted now; old receivers refuse them."""
    if fact.admitted_by != "new":
        return None
    return Judgement(
        "refused",
        f"It was {fact.old_kinds} and is {fact.new_kinds} now.",
        "Add a field of the new type beside the old one, or gate the new values with a capability.",
        accepted_by="new",
        leaf=of_many_kinds if fact.alternative is None else of_alternative(fact.alternative),
        subject=f"{fact.kind}",
    )


def limit_tightened(fact: f.LimitChanged) -> Judgement | None:
    """A length, range, pattern, set of constants or number of items refuses what it accepted."""
    if fact.admitted_by != "old":
        return None
    return Judgement(
        "refused",
        _limit_words(fact, "accepted are refused now"),
        "Keep accepting what was accepted; ask senders to keep to the new limit.",
        accepted_by="old",
        leaf=_limit_leaf(fact),
        subject=_limit_subject(fact),
    )


def limit_loosened(fact: f.LimitChanged) -> Judgement | None:
    """A length, range, pattern, set of constants or number of items accepts more; old receivers refuse that."""
    if fact.admitted_by != "new":
        return None
    return Judgement(
        "refused",
        _limit_words(fact, "refused are accepted now"),
        "Send what the old limit accepts, unless the peer is known to be new.",
        accepted_by="new",
        leaf=_limit_leaf(fact),
        subject=_limit_subject(fact),
    )


def format_changed(fact: f.FormatChanged) -> Judgement:
    """`format` or `contentEncoding` has changed. They annotate and refuse nothing."""
    return Judgement(
        "reworded",
        f"The format was {fact.old or 'not said'} and is {fact.new or 'not said'} now.",
        "Nothing needs to be done.",
        subject=f"{fact.old} {fact.new}",
    )


def value_added(fact: f.ValueAdded) -> Judgement | None:
    """An open or tolerated set of constants has a new one. Old receivers keep values that they do not know."""
    if fact.old.openness == "closed":
        return None
    value = fact.value.value
    return Judgement(
        "claimed",
        f"The value {value!r} is new{_formerly(fact.was)}{_note(fact.old.openness)}.",
        "Nothing needs to be done.",
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
        f"The value {value!r} is new{_formerly(fact.was)} in a set that old peers take for complete.{missing}",
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
        f"The value {value!r} is {_gone(fact.heir)}; new peers accept it and do not know what it means.",
        f"Keep the value. {_MAJOR}",
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
        f"The value {value!r} is {_gone(fact.heir)}; new peers refuse it.",
        f"Keep the value. {_MAJOR}",
        accepted_by="old",
        leaf=exactly(value),
        subject=repr(value),
    )


def values_named(_: f.ValuesNamed) -> Judgement:
    """A free string or number has known constants now, and stays free."""
    return Judgement("claimed", "Some values have a known meaning now.", "Nothing needs to be done.")


def values_unnamed(fact: f.ValuesUnnamed) -> Judgement:
    """An open set of constants is a free string or number now: its values are accepted and mean nothing."""
    value = fact.old.values[0].value
    return Judgement(
        "lost",
        "Its values are accepted and have no known meaning any more.",
        f"Keep the constants. {_MAJOR}",
        carried_by="old",
        leaf=exactly(value),
    )


def variant_added(fact: f.VariantAdded) -> Judgement | None:
    """An open or tolerated union has a new variant. Old receivers keep variants that they do not know."""
    if fact.old.openness == "closed" or fact.variant.tag == fact.old.default_tag:
        return None
    tag = fact.variant.tag
    return Judgement(
        "claimed",
        f"The variant {tag!r} is new{_formerly(fact.was)}{_note(fact.old.openness)}.",
        "Nothing needs to be done.",
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
        f"The variant {tag!r} is new{_formerly(fact.was)} in a union that old peers take for complete.{missing}",
        _GATE,
        within=f"({tag})",
        accepted_by="new",
        leaf=of_definition(fact.variant.type),
        gate=fact.variant.capability,
    )


def variant_beside_default_added(fact: f.VariantAdded) -> Judgement | None:
    """A tagged variant is new beside a branch without a tag: old receivers take it for that branch, or refuse it."""
    tag = fact.variant.tag
    if fact.old.default is None or (fact.old.openness != "closed" and tag != fact.old.default_tag):
        return None
    missing = "" if fact.variant.capability else " No capability gates it."
    return Judgement(
        "otherwise",
        f"Old peers have no variant {tag!r}; they decode it as {fact.old.default} or refuse it.{missing}",
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
        f"The variant {tag!r} is {_gone(fact.heir)}; new peers do not know what it means.",
        f"Keep the variant. {_MAJOR}",
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
        f"The variant {tag!r} is {_gone(fact.heir)}; new peers refuse it.",
        f"Keep the variant. {_MAJOR}",
        within=f"({tag})",
        accepted_by="old",
        leaf=of_definition(fact.variant.type),
    )


def untagged_variant_added(fact: f.UntaggedChanged) -> Judgement | None:
    """A branch without a tag is new. Old receivers refuse what has no known tag, and new ones may take for it what they refused."""
    if not fact.added:
        return None
    return Judgement(
        "unknown" if fact.other.openness != "open" else "otherwise",
        f"{fact.branch} is a new branch without a tag.",
        "Give the branch a tag of its own.",
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
        f"{fact.branch}, the branch without a tag, is gone.",
        f"Keep the branch. {_MAJOR}",
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
        f"{_SORTS[fact.sort]} that are not known are {'taken for the one without a tag' if taken else 'refused'} now, "
        "extensions among them.",
        "Leave it open: extensions begin with an underscore and must be kept.",
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
        f"{_SORTS[fact.sort]} that are not known are accepted now{_note(fact.old)}.",
        "Send extensions only to peers of the new version.",
        accepted_by="new" if strict else None,
        leaf=_unknown_leaf(fact),
    )


def tolerance_added(fact: f.OpennessChanged) -> Judgement | None:
    """Receivers now keep tags or constants that they do not know (`x-unknown: keep`). What is valid stays the same."""
    if fact.old != "closed" or fact.new != "tolerated":
        return None
    return Judgement(
        "added", f"{_SORTS[fact.sort]} that are not known are kept when receiving.", "Nothing needs to be done."
    )


def tolerance_withdrawn(fact: f.OpennessChanged) -> Judgement | None:
    """Receivers kept tags or constants that they did not know (`x-unknown: keep`), and refuse them now."""
    if fact.old != "tolerated" or fact.new != "closed":
        return None
    return Judgement(
        "otherwise",
        f"{_SORTS[fact.sort]} that are not known were kept when receiving, and are refused now.",
        "Keep 'x-unknown: keep': newer peers may send what this version does not know.",
    )


def tag_renamed(fact: f.TagRenamed) -> Judgement:
    """The discriminator is another member now: neither side recognises the other's variants."""
    return Judgement(
        "refused" if fact.new.openness != "open" else "lost",
        f"The discriminator was {fact.old.tag!r} and is {fact.new.tag!r} now.",
        "Keep the old member and add the new one beside it.",
        accepted_by="old" if fact.new.openness != "open" else None,
        carried_by="old" if fact.new.openness == "open" else None,
        leaf=smallest,
        subject=f"{fact.old.tag} {fact.new.tag}",
    )


def alternative_added(fact: f.AlternativeChanged) -> Judgement | None:
    """One more shape is accepted; old receivers refuse it, or take it for one that they know."""
    if not fact.added:
        return None
    return Judgement(
        "unknown",
        f"{_alternative(fact)} is a new alternative. No capability can gate it, since it has no tag.",
        "Give the alternatives a tag, or put the new one into a field of its own.",
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
        f"{_alternative(fact)} is no longer an alternative.",
        f"Keep the alternative. {_MAJOR}",
        accepted_by="old",
        carried_by="old",
        leaf=of_alternative(fact.alternative),
        subject=_alternative_subject(fact),
    )


def inclusion_undecided(fact: f.Undetermined) -> Judgement:
    """Something differs, and neither that it breaks nor that it does not could be proven. Never taken for safe."""
    return Judgement(
        "undetermined",
        f"This differs, and who breaks could not be proven: {fact.reason}.",
        "Look at both places, and accept the finding with a waiver if it is harmless.",
        subject=None,
    )


def definition_added(fact: f.DefinitionAdded) -> Judgement:
    """A definition is new and no message reaches it: a document of its own, or one that is not used yet."""
    return Judgement(
        "added", f"The definition {fact.name!r} is new; no message reaches it.", "Nothing needs to be done."
    )


def definition_removed(fact: f.DefinitionRemoved) -> Judgement:
    """A definition is gone that no message reached: whether anybody reads or writes documents of that kind is not known."""
    return Judgement(
        "undetermined",
        f"The definition {fact.name!r} is gone. No message reached it, so who needs it could not be told.",
        "Keep it, name its heir with 'x-was', or accept the finding with a waiver if nobody needs it.",
    )


def not_compared(fact: f.NotCompared) -> Judgement:
    """Something differs that was not compared, since it is not understood or stands where nothing is read. Never taken for safe."""
    return Judgement(
        "undetermined",
        f"This differs and was not compared: {fact.reason}.",
        "Look at both places, and accept the finding with a waiver if it is harmless.",
        subject=None,
    )


# --- paper -----------------------------------------------------------------------------------------------------------


def definition_renamed(fact: f.DefinitionRenamed) -> Judgement:
    """A definition has another name. No message can notice; generated code has another class, unless `x-was` declares the old name."""
    note = "" if fact.declared else " Generated classes change their names."
    return Judgement(
        "renamed",
        f"The definition {fact.old} is called {fact.new} now.{note}",
        "Nothing needs to be done."
        if fact.declared
        else "Declare the old name with 'x-was', so that bindings can keep it.",
        subject=f"{fact.old} {fact.new}",
    )


def text_reworded(fact: f.Reworded) -> Judgement:
    """A description has changed."""
    return Judgement(
        "reworded", f"The description of {fact.what} has changed.", "Nothing needs to be done.", subject=fact.what
    )


def schema_restructured(_: f.Restructured) -> Judgement:
    """The files differ in something that nothing a peer sends can notice: titles, examples, order, where a definition lives."""
    return Judgement(
        "reworded", "The files differ in something that nothing a peer sends can notice.", "Nothing needs to be done."
    )


RULES: Mapping[type[f.Fact], tuple[Rule, ...]] = {
    f.MethodAdded: (method_added,),
    f.MethodRemoved: (method_removed, method_renamed),
    f.MethodKindChanged: (method_kind_changed,),
    f.NullResultChanged: (null_result_allowed, null_result_withdrawn),
    f.BatchChanged: (batch_allowed, batch_withdrawn),
    f.FieldAdded: (field_added, closed_field_added, required_field_added),
    f.FieldRemoved: (field_removed, required_field_removed, extension_undeclared),
    f.RequirednessChanged: (field_became_required, field_became_optional),
    f.DefaultChanged: (default_changed, default_grown),
    f.NullMeaningChanged: (null_meaning_changed, null_meaning_declared),
    f.LeniencyChanged: (leniency_added, leniency_withdrawn),
    f.GateChanged: (gate_added, gate_removed, gate_moved),
    f.DemandChanged: (demand_changed,),
    f.ObjectOpennessChanged: (object_closed, object_opened),
    f.NullChanged: (null_forbidden, null_allowed),
    f.KindChanged: (type_narrowed, type_widened),
    f.LimitChanged: (limit_tightened, limit_loosened),
    f.FormatChanged: (format_changed,),
    f.ValueAdded: (value_added, closed_value_added),
    f.ValueRemoved: (value_removed, closed_value_removed),
    f.ValuesNamed: (values_named,),
    f.ValuesUnnamed: (values_unnamed,),
    f.VariantAdded: (variant_added, closed_variant_added, variant_beside_default_added),
    f.VariantRemoved: (variant_removed, closed_variant_removed),
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
    "null-result-allowed": "null-result-withdrawn",
    "batch-allowed": "batch-withdrawn",
    "field-added": "field-removed",
    "required-field-added": "required-field-removed",
    "field-became-required": "field-became-optional",
    "leniency-added": "leniency-withdrawn",
    "gate-added": "gate-removed",
    "object-closed": "object-opened",
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
    "closed-field-added": "field-removed judges the removal, from closed objects too",
    "extension-undeclared": "declaring an extension is field-added",
    "default-changed": "a change back is a change",
    "default-grown": "a default that shrinks is default-changed",
    "null-meaning-changed": "a change back is a change",
    "null-meaning-declared": "it judges both directions",
    "gate-moved": "a move back is a move",
    "demand-changed": "it judges both directions",
    "format-changed": "a change back is a change",
    "variant-beside-default-added": "variant-removed judges the removal",
    "tag-renamed": "a rename back is a rename",
    "inclusion-undecided": "it judges both directions",
    "not-compared": "it judges both directions",
    "definition-renamed": "a rename back is a rename",
    "text-reworded": "it judges both directions",
    "schema-restructured": "it judges both directions",
    "language-undecided": "it judges both directions",
    "policy-applied": "a policy that changes nothing needs no note",
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


_NULL: Final = {"clears": "clear the value", "omitted": "stand for an omitted field"}
_NULL_NOW: Final = {"clears": "clears it", "omitted": "stands for an omitted field"}
_INVALID: Final = {
    "default_on_error": "An invalid value of",
    "skip_invalid_items": "An invalid item of",
    "default_on_null": "Null in",
}
_SORTS: Final = {"union": "Variants", "enum": "Values"}


def _leniency(fact: f.LeniencyChanged) -> str:
    subject = f"{_INVALID[fact.keyword]} {fact.name!r} is"
    if fact.keyword == "skip_invalid_items":
        now, was = "skipped", "it was skipped"
    elif fact.instead:
        now, was = f"read {fact.instead}", f"it was read {fact.instead}"
    else:
        now, was = (
            "declared as lenient, with nothing to read instead,",
            "it was declared as lenient, with nothing to read instead",
        )
    return (
        f"{subject} {now} now; previously it was an error."
        if fact.added
        else f"{subject} an error now; previously {was}."
    )


def _note(openness: ir.Openness) -> str:
    return "; strict old peers refuse it, receivers keep it ('x-unknown: keep')" if openness == "tolerated" else ""


def _default(default: ir.Default | None) -> str:
    return "nothing in particular" if default is None else f"{default.value!r}"


def _alternative(fact: f.AlternativeChanged) -> str:
    alternative = fact.alternative
    if isinstance(alternative, ir.Array):
        inner = alternative.items
        return f"a list of {inner.name}" if isinstance(inner, ir.Ref) else "a list"
    name = getattr(alternative, "name", None)
    return name or "an object"


def _alternative_subject(fact: f.AlternativeChanged) -> str | None:
    """The name of an alternative; what has none is told by the two texts alone."""
    alternative = fact.alternative
    named = alternative.items if isinstance(alternative, ir.Array) else alternative
    return _alternative(fact) if getattr(named, "name", "") else None


def _limit_subject(fact: f.LimitChanged) -> str | None:
    return None if fact.keyword == f.OTHER else f"{fact.keyword} {fact.old} {fact.new}"


def _limit_words(fact: f.LimitChanged, change: str) -> str:
    if fact.keyword == f.OTHER:
        return f"Some values that were {change}: the message holds one."
    return f"Accepted was {fact.old}; now it is {fact.new} ({fact.keyword})."


def _limit_leaf(fact: f.LimitChanged) -> Leaf:
    if fact.items is None:
        return exactly(fact.value)
    return items(fact.items, equal=fact.keyword == "uniqueItems")


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
