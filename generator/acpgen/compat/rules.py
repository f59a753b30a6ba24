"""The rules of the check as one table: the change, the conditions, the effect on peers, and the messages.

Above the rules for a kind of change stands what identifies the change, and what peers refuse because of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from acpgen import ir
from acpgen.compat.changes import OTHER, Change, FieldChange, Kind, LimitChange
from acpgen.compat.diff.pairs import EXTENSION, Pair
from acpgen.compat.diff.shapes import Constants, Objects, find_kind
from acpgen.compat.findings import NO_ACTION, Revision, get_opposite
from acpgen.compat.protocol.culprits import (
    NULL,
    make_member_culprit,
    make_refused_culprit,
    make_value_culprit,
    require_member,
    select_type,
    write_type,
)
from acpgen.compat.protocol.sender_schemas import META, write_schema
from acpgen.compat.rule import NEW_FROM_OLD, NEW_TO_OLD, OLD_FROM_NEW, OLD_TO_NEW, ChangeKind, Judgement, Rule
from acpgen.input.numbers import dumps
from acpgen.input.walk import BY_KIND, Schema

if TYPE_CHECKING:
    from schema_inclusion import Culprit

VERSION: Final = 6
"""The version of the rules. Increase it with each change of the rules or of the check that alters the findings of kept releases.

The next `acpgen generate` then recomputes their verdicts (`releases/*/verdicts.json`). An exhaustive test fails until it is increased.
"""

Table: TypeAlias = "tuple[ChangeKind | Rule, ...]"
"""Rows of a few lines, with their columns in one order, each below its kind of change if the rules for that share something."""

_REVIEW: Final = "Review both places, and waive the finding if it is harmless."


def _get_capability(change: Change) -> str | None:
    capability: str | None = change.part.capability
    return capability


def _advise_gate(change: Change) -> str:
    """The advice to gate an addition; if it already has a gate, with a new capability of the receiver."""
    gate = "'x-capability'" if _get_capability(change) is None else "a new capability of the peer that receives it"
    return f"Gate it with {gate}, so that it is never sent to old peers."


def _suggest_rename(old: object, likely: str | None) -> str:
    """The advice to declare the likely rename of a removed member; empty without a candidate."""
    return "" if likely is None else f"If {old!r} was renamed to {likely!r}, declare it on {likely!r} with 'x-was'. "


def _make_any_culprit(_: Change, pair: Pair, sender: Revision) -> Culprit:
    """Any value that is sent and refused."""
    return make_refused_culprit(write_type(pair.on(sender)), pair, sender)


# --- methods -------------------------------------------------------------------------------------------------------------


def _is_moved(change: Any) -> bool:
    pairs = zip(change.old, change.new, strict=False)
    return any(old != new and (old in change.new or new in change.old) for old, new in pairs)


METHODS: Final[Table] = (
    ChangeKind("method", words={
        "unaware": lambda c: "answer it with the error -32601" if c.part.kind == "request" else "ignore it",
    }),
    Rule("method-added", "method-added", "added", gate=_get_capability, ungated="old peers {unaware}", mirror="method-removed",
         doc="A method is new. A peer that does not know it answers a request with -32601 and ignores a "
             "notification, so nothing breaks.",
         message="The {new.kind} {new.name!r} was added.",
         advice=lambda c: NO_ACTION if c.new.capability else
         "Gate it with 'x-capability', so that callers know whether the peer supports it."),
    Rule("method-removed", "method-removed", "lost", sender="old", renamed="method-renamed", unaware=("new",),
         doc="A method was removed: it can no longer be called.",
         message="The {old.kind} {old.name!r} was removed; new peers {unaware}.",
         advice="Keep the method until the next major version, or declare its replacement with 'x-was'."),
    Rule("method-renamed", "method-changed", "lost", sender="old", unaware=("old", "new"), unmirrored="a rename back is a rename",
         doc="A method has a new name (`x-was`): neither revision understands the other's name for it.",
         message="The {old.kind} {old.name!r} was renamed to {new.name!r}.",
         advice="Handle both names, and send the new name only to peers of the new version."),
    Rule("method-kind-changed", "method-kind", "lost", sender="old", unaware=("old", "new"),
         unmirrored="a change of kind is its own mirror",
         doc="A request became a notification or the reverse: one side waits for a response that is never sent, or "
             "receives one that it did not request.",
         message="The {old.kind} {old.name!r} became a {new.kind}.",
         advice="Keep the method as it was, and add the new kind under another method name."),
    ChangeKind("positions", subject="{before} to {now}", words={
        "before": lambda c: ", ".join(map(repr, c.old)), "now": lambda c: ", ".join(map(repr, c.new)),
    }),
    Rule("position-changed", "positions", lambda c: "lost" if _is_moved(c) else "otherwise",
         between=(OLD_TO_NEW, NEW_TO_OLD), unmirrored="a change back is a change",
         doc="A param that is sent by position has another position, or its position has another param, and a "
             "message that both revisions accept says something else. Peers that send params by name do not notice.",
         message="The positions of the params are now {now} (previously {before}); peers of one revision read the values "
                 "of the other as other params.",
         advice="Keep the order, and add new optional params at the end."),
    Rule("null-result-allowed", "null-result-added", "added", mirror="null-result-withdrawn",
         doc="A result of null now stands for the empty result (`x-null: omitted`).",
         message="A null result is now read as an empty result.",
         advice="Keep sending an object: old peers reject null."),
    Rule("null-result-withdrawn", "null-result-removed", "otherwise",
         doc="A null result no longer means the empty result: it is now an error.",
         message="A null result is now rejected; previously it was read as an empty result.",
         advice="Keep 'x-null: omitted' while old peers may send null."),
    Rule("batch-allowed", "batch-added", "unknown", sender="new", when=lambda c: not c.name, mirror="batch-withdrawn",
         doc="A message may now be an array of messages, or a request may be part of one; an old peer rejects that.",
         message="A message may now be a batch (an array of messages); old peers reject batches.",
         advice="Send batches only to peers that have negotiated the new version."),
    Rule("batch-allowed", "batch-added", "unknown", when=lambda c: bool(c.name),
         message="{name!r} may now be part of a batch; old peers need not accept that.",
         advice="Send it in batches only to peers that have negotiated the new version."),
    Rule("batch-withdrawn", "batch-removed", "refused", sender="old", when=lambda c: not c.name,
         doc="A message may no longer be an array of messages, or a request may no longer be part of one (`x-batch`).",
         message="Batches (arrays of messages) are now rejected.", advice="Keep accepting batches until the next major version."),
    Rule("batch-withdrawn", "batch-removed", "otherwise", when=lambda c: bool(c.name),
         message="{name!r} may no longer be part of a batch; old peers may still send it in one.",
         advice="Keep accepting it in batches until the next major version."),
)  # fmt: skip


# --- fields --------------------------------------------------------------------------------------------------------------


def _is_closed(objects: Objects) -> bool:
    return isinstance(objects.extra, ir.Nothing)


def _is_plain(change: Any) -> bool:
    """Whether a field is optional, and old receivers accept and ignore its name."""
    return not change.part.required and not _is_closed(change.within.old) and not change.is_extension


def _is_removed(change: Any) -> bool:
    """Whether a removed field was optional and is not an extension."""
    return not change.part.required and not change.part.name.startswith("_")


def _is_undeclared(change: Any) -> bool:
    return not change.part.required and change.part.name.startswith("_")


def _make_field_culprit(change: FieldChange, pair: Pair, sender: Revision) -> Culprit | None:
    """The field that only the sender has, or objects without the receiver's required field; for a rename, the sender's name."""
    field, opposite = change.on(sender) or change.part, get_opposite(sender)
    if change.how == "changed":
        return make_refused_culprit(require_member(field.name), pair, sender)
    if change.on(sender) is not None:
        return make_member_culprit(field.name) if _is_closed(change.within.on(opposite)) else None
    if field.required:
        return make_value_culprit(_exclude_member(field.name))
    schema = write_schema(field.type) if change.schema is None else change.schema
    return make_member_culprit(field.name, refused=schema) if change.is_extension else None


def _exclude_member(name: str) -> Schema:
    return {"type": "object", "not": {"required": [name]}}


def _match_names(patterns: Sequence[str]) -> Schema:
    return {"anyOf": [{"pattern": pattern} for pattern in patterns]}


def _make_undeclared_culprit(change: Change, pair: Pair, sender: Revision) -> Culprit | None:
    """A member that matches one of the patterns, or any undeclared one, if the sender accepts it."""
    patterns = change.on(sender)
    if patterns is None:
        return None
    matching: Schema = {"type": "object", "not": {"propertyNames": {"not": _match_names(patterns)}}}
    return make_refused_culprit(matching, pair, sender) if patterns else make_member_culprit(EXTENSION)


def _write_declared(change: Change, sender: Revision) -> Schema:
    """Objects with no other members than those that a closed object accepts."""
    if change.part:
        return {"propertyNames": {"not": _match_names(change.part)}}
    return {"propertyNames": {"enum": [field.name for field in change.within.on(get_opposite(sender)).fields]}}


def _describe_undeclared(change: Change) -> str:
    """The values that are now rejected or accepted for undeclared members."""
    now = "rejected" if change.new is None else "accepted"
    if not change.part:
        return (
            f"Whether more values with undeclared members are now {now} could not be decided; peers do not send these."
        )
    example = dumps(change.part[0], ensure_ascii=False)
    return f"Some values with undeclared members are now {now}, such as {example}; peers do not send these."


def _describe_default(default: ir.Default | None) -> str:
    return "unspecified" if default is None else dumps(default.value, ensure_ascii=False)


_NULL_NOW: Final = {"clears": "clears the value", "omitted": "means the same as an omitted field"}
_NULL_BEFORE: Final = {"clears": "cleared the value", "omitted": "meant the same as an omitted field"}
_INVALID: Final = {
    "default_on_error": "an invalid value was",
    "skip_invalid_items": "invalid items were",
    "default_on_null": "null was",
}


def _describe_leniency(change: Change) -> str:
    """The effect of a change of leniency on a field: `'limit' is now decoded strictly; previously an invalid value was …`."""
    subject = _INVALID[change.detail]
    if change.detail == "skip_invalid_items":
        instead = "skipped"
    else:
        instead = f"read {change.part}" if change.part else "declared as lenient, but without a value to fall back to"
    if change.new is None:
        return f"{change.name!r} is now decoded strictly; previously {subject} {instead}."
    now = subject.replace(" was", " is").replace(" were", " are")
    return f"{change.name!r} is now decoded leniently: {now} {instead}; previously {subject} an error."


FIELDS: Final[Table] = (
    ChangeKind("field", within=lambda c: "*" if c.pattern else c.part.name,
               subject=lambda c: c.old.name if c.how == "changed" else c.pattern, culprit=_make_field_culprit,
               lost=lambda c: make_member_culprit((c.old or c.new).name), words={
        "by_keyword": lambda c: "" if c.by in ("", "properties") else f" of {c.by!r}",
        "freely": lambda c: "any object" if c.part.name == META else "anything",
        "seems": lambda c: _suggest_rename(c.old.name, c.likely),
    }),
    Rule("field-added", "field-added", "claimed", when=lambda c: _is_plain(c) and not c.pattern, gate=_get_capability,
         mirror="field-removed",
         doc="An optional field is new in an object that accepts undeclared members. Old receivers ignore it. The "
             "name, which was free, is claimed: as languages the new schema is narrower, between peers nothing "
             "breaks, since a sender sends what its schema declares.",
         message="The optional field {new.name!r}{by_keyword} was added."),
    Rule("field-added", "field-added", "claimed", when=lambda c: _is_plain(c) and bool(c.pattern),
         message="Fields whose names match {pattern!r} were added."),
    Rule("extension-declared", "field-added", "taken", sender="old",
         when=lambda c: c.is_extension and c.new.name.startswith("_"), mirror="extension-undeclared",
         doc="A name that begins with an underscore has a form now, or a name in what was a map of any values. Such "
             "names are free, so old peers may send anything under this one. Only `_meta` has a form of its own: an "
             "object. Where the new form accepts all of that, it is `field-added`.",
         message="The extension field {new.name!r} was added with its own type; old peers may send {freely} under that name.",
         advice="Accept any value there, or take a name without an underscore."),
    Rule("extension-declared", "field-added", "taken", sender="old",
         when=lambda c: c.is_extension and not c.new.name.startswith("_"),
         message="The field {new.name!r} was added with a form of its own to what was a map of any values; old peers "
                 "may send anything under that name.",
         advice="Accept any value there, or put the field into its own object."),
    Rule("closed-field-added", "field-added", "unknown", sender="new",
         when=lambda c: not c.new.required and _is_closed(c.within.old), gate=_get_capability, ungated="",
         unmirrored="field-removed judges the removal, from closed objects too",
         doc="An optional field was added to an object that rejects undeclared members, so a strict old receiver "
             "rejects it.",
         message="The optional field {new.name!r} was added to a closed object; old peers reject unknown members.",
         advice=_advise_gate),
    Rule("required-field-added", "field-added", "refused", sender="old", when=lambda c: c.new.required,
         mirror="required-field-removed",
         doc="A required field was added: messages of old senders lack it.",
         message="The required field {new.name!r} was added; old peers do not send it.",
         advice="Make it optional, and define what its absence means."),
    Rule("field-removed", "field-removed", "lost", sender="old", renamed="field-renamed",
         when=lambda c: _is_removed(c) and not c.by and not _is_closed(c.within.new),
         doc="An optional field was removed. New receivers accept messages with it but ignore its value. Names that "
             "begin with an underscore are extensions and stay allowed everywhere: see `extension-undeclared`.",
         message="The field {old.name!r} was removed; new peers ignore it.",
         advice="{seems}Keep it as optional until the next major version, and document its replacement."),
    Rule("field-removed", "field-removed", "refused", sender="old",
         when=lambda c: _is_removed(c) and not c.by and _is_closed(c.within.new),
         message="The field {old.name!r} was removed; new peers reject it.",
         advice="{seems}Keep it as optional until the next major version, and document its replacement."),
    Rule("field-removed", "field-removed", "lost", sender="old",
         when=lambda c: _is_removed(c) and bool(c.by) and not c.pattern,
         message="The field {old.name!r}{by_keyword} was removed; new peers ignore it.",
         advice="Keep it until the next major version, and document its replacement."),
    Rule("field-removed", "field-removed", "lost", sender="old", when=lambda c: _is_removed(c) and bool(c.pattern),
         message="Fields whose names match {pattern!r} were removed; new peers ignore them, such as {old.name!r}.",
         advice="Keep the pattern until the next major version, and document its replacement."),
    Rule("required-field-removed", "field-removed", "refused", sender="new", renamed="field-renamed", when=lambda c: c.old.required,
         doc="A required field was removed: new senders omit it, and old receivers reject that.",
         message="The required field {old.name!r} was removed; old peers reject messages without it.",
         advice="{seems}Keep sending it until the next major version."),
    Rule("field-renamed", "field-changed", "lost", sender="old", or_lost=True, unmirrored="a rename back is a rename",
         doc="A field has another name, as `x-was` declares. Peers of one revision ignore the other's name for it, "
             "and reject a message without their own name for a required field. The contents are compared under the "
             "new name.",
         message="The field {old.name!r} was renamed to {new.name!r}; peers of one revision ignore the name of the "
                 "other.",
         advice="Keep {old.name!r} beside {new.name!r} until the next major version, and read either."),
    Rule("extension-undeclared", "field-removed", "taken", sender="new",
         when=lambda c: _is_undeclared(c) and c.is_extension,
         doc="A name that begins with an underscore, such as `_meta`, is no longer declared. Peers may send it all "
             "the same, since such names are reserved for extensions; its form is not checked any more. Where new "
             "peers may send what old ones refuse, that is risky.",
         message="The extension field {old.name!r} is no longer declared; new peers may send {freely} under that name.",
         advice="Declare it until the next major version."),
    Rule("extension-undeclared", "field-removed", "refused", sender="old",
         when=lambda c: _is_undeclared(c) and _is_closed(c.within.new),
         message="The extension field {old.name!r} is no longer declared; new peers reject it.",
         advice="Declare it again."),
    Rule("extension-undeclared", "field-removed", "added",
         when=lambda c: _is_undeclared(c) and not c.is_extension and not _is_closed(c.within.new),
         message="The extension field {old.name!r} is no longer declared; its value is not checked.",
         advice="Declare it if generated code should offer it."),
    ChangeKind("required", within="{part.name}", culprit=lambda c, _, sender: (
        make_value_culprit(_exclude_member(c.part.name)) if c.on(sender) is None else None)),
    Rule("field-became-required", "required-added", "refused", sender="old", mirror="field-became-optional",
         doc="A field is now required: old senders may omit it.",
         message="The field {new.name!r} is now required; old peers may omit it.",
         advice="Keep it optional, and define what its absence means."),
    Rule("field-became-optional", "required-removed", "refused", sender="new",
         doc="A field may now be omitted: new receivers accept that, old ones reject it.",
         message="The field {old.name!r} is now optional; old peers reject messages without it.",
         advice="Keep it required, or send messages without it only to peers of the new version."),
    ChangeKind("openness", culprit=_make_undeclared_culprit, remainder=_write_declared, words={
        "members": lambda c: f"Members whose names match {' or '.join(map(repr, c.part))}" if c.part else "Undeclared members",
    }),
    Rule("object-closed", "openness-removed", "refused", sender="old", when=lambda c: not c.old, mirror="object-opened",
         doc="Undeclared members are now rejected, extensions included.",
         message="Undeclared members are now rejected, extensions included.",
         advice="Keep the object open: receivers must ignore extensions, whose names begin with an underscore."),
    Rule("object-closed", "openness-removed", "refused", sender="old", when=lambda c: bool(c.old),
         message="{members} are now rejected.", advice="Keep the pattern until the next major version."),
    Rule("object-opened", "openness-added", "unknown", sender="new",
         doc="Undeclared members are now accepted; old receivers reject them.",
         message="{members} are now accepted; old peers reject them.",
         advice=lambda c: f"Send {'them' if c.new else 'extensions'} only to peers of the new version."),
    Rule("undeclared-narrowed", "undeclared-removed", "claimed", mirror="undeclared-widened",
         doc="Values are refused now for members that no schema declares, such as by `dependentRequired`. A sender "
             "sends what its schema declares, so old and new peers understand each other; whoever sends more, or "
             "checks stored documents, meets the difference.",
         message=_describe_undeclared, advice="Declare the members that the new constraint applies to."),
    Rule("undeclared-widened", "undeclared-added", "added",
         doc="Values are accepted now that were refused for members which no schema declares. A sender sends what "
             "its schema declares, so old and new peers understand each other.",
         message=_describe_undeclared, advice="Declare these members before any peer sends them."),
    ChangeKind("default", within="{name}",
               subject=lambda c: "" if c.detail == "grown" else f"{_describe_default(c.old)} {_describe_default(c.new)}",
               lost=lambda c: make_value_culprit(_exclude_member(c.name)),
               words={"before": lambda c: _describe_default(c.old), "now": lambda c: _describe_default(c.new)}),
    Rule("default-changed", "default", "otherwise", sender="old", when=lambda c: c.detail != "grown",
         unmirrored="a change back is a change",
         doc="The meaning of an omitted field has changed: two peers read the same message differently. A required "
             "field is never omitted, and lenient decoding never replaces an invalid value by its default, so a "
             "change of its default is editorial.",
         message="The default of {name!r} is now {now} (previously {before}).",
         advice="Keep the default, or always send the value."),
    Rule("default-grown", "default", when=lambda c: c.detail == "grown",
         unmirrored="a default that shrinks is default-changed",
         doc="A default now includes the defaults of fields that were added to its object. Its meaning is unchanged.",
         message="The default of {name!r} now includes the defaults of added fields."),
    ChangeKind("null-meaning", within="{name}", subject=lambda c: "" if c.how == "changed" else str(c.new),
               lost=lambda c: make_member_culprit(c.name, NULL)),
    Rule("null-meaning-changed", "null-meaning-changed", "otherwise", sender="old", unmirrored="a change back is a change",
         doc="Null cleared the value and now means the same as omission, or the reverse (`x-null`).",
         message=lambda c: f"Null in {c.name!r} now {_NULL_NOW[c.new]} (previously it {_NULL_BEFORE[c.old]}).",
         advice="Use another field or value for the new meaning of null."),
    Rule("null-meaning-declared", "null-meaning", when=lambda c: c.how != "changed", unmirrored="it judges both directions",
         doc="The meaning of null is now declared (`x-null`), or no longer declared. What is accepted stays the same.",
         message=lambda c: f"The meaning of null in {c.name!r} is {'no longer' if c.new is None else 'now'} declared."),
    ChangeKind("leniency", within="{name}", subject="{detail} {part}"),
    Rule("leniency-added", "leniency-added", "added", mirror="leniency-withdrawn",
         doc="Receivers decode this field more leniently (`x-deserialize-…`). What is valid stays the same.",
         message=_describe_leniency),
    Rule("leniency-withdrawn", "leniency-removed", "otherwise",
         doc="Receivers decode this field more strictly (`x-deserialize-…`). What is valid stays the same, so a peer "
             "that keeps to the schema is not affected.",
         message=_describe_leniency,
         advice="Document it in the release notes: peers that send invalid values now get errors."),
    ChangeKind("gate", within="{name}", subject=lambda c: " ".join(filter(None, (c.detail, c.old, c.new)))),
    Rule("gate-added", "gate-added", "otherwise", between=(OLD_FROM_NEW, OLD_TO_NEW), mirror="gate-removed",
         doc="Something that was sent to every peer is now sent only to peers that advertise a capability. Old peers "
             "do not advertise it and no longer receive it; new peers that do not advertise it still receive it from "
             "old ones.",
         message="The {detail} is now sent only to peers that advertise {new}; previously it was sent to every peer.",
         advice="Treat a peer that does not advertise the capability as before."),
    Rule("gate-removed", "gate-removed", "otherwise", between=(NEW_TO_OLD, NEW_FROM_OLD),
         doc="Something is now sent without checking a capability first. Old peers that do not advertise the "
             "capability do not expect it, and old senders still require new peers to advertise it.",
         message="The {detail} is now sent to every peer; previously only to peers that advertise {old}.",
         advice="Keep the gate: peers without the capability do not expect it."),
    Rule("gate-moved", "gate-changed", "otherwise", between=(OLD_FROM_NEW, NEW_FROM_OLD), unmirrored="a move back is a move",
         doc="Another capability gates something: a peer that advertises only the capability of its own revision "
             "does not receive it from the other revision.",
         message="The {detail} is now gated by {new} (previously by {old}).",
         advice="Accept either capability until the next major version."),
    ChangeKind("demand", within="{name}", subject=lambda c: str(c.new)),
    Rule("demand-changed", "demand", "otherwise", when=lambda c: c.new is not None, gate=lambda c: c.new,
         unmirrored="it judges both directions",
         doc="The capability that requires a peer to send a field (`x-required-with`) has changed: some peers rely "
             "on a field that others do not send. The schema still accepts messages without it.",
         message="The field {name!r} must now be sent by peers that advertise {new}.",
         advice="Require it only together with a new capability."),
    Rule("demand-changed", "demand-removed", "otherwise", between=(NEW_TO_OLD,),
         message="The field {name!r} is no longer required of any peer; old peers may rely on it.",
         advice="Keep sending it to peers of the old revision."),
)  # fmt: skip


# --- types ---------------------------------------------------------------------------------------------------------------


def _make_null_culprit(change: Change, pair: Pair, sender: Revision) -> Culprit | None:
    if change.on(sender) is None:
        return None
    return make_member_culprit(change.name, NULL) if change.name else make_refused_culprit(NULL, pair, sender)


def _make_type_culprit(change: Change, pair: Pair, sender: Revision) -> Culprit | None:
    alternatives = change.on(sender)
    if alternatives is None:
        return None
    kinds: Schema = {} if ir.Anything() in alternatives else {"type": [*dict.fromkeys(map(find_kind, alternatives))]}
    return make_refused_culprit(kinds, pair, sender)


def _make_limit_culprit(change: LimitChange, pair: Pair, sender: Revision) -> Culprit | None:
    """A value that violates one of the receiver's limits; if one is not known as a schema, any value of their type that is sent."""
    limit = next((limit for limit in change.split() if limit.admitted_by == sender), None)
    if limit is None:
        return None
    kinds = [kind for kind, keywords in BY_KIND.items() if limit.keyword in keywords]
    of_type: Schema = {"type": kinds[0]} if kinds else {}
    demands = [part.demand for part in limit.all]
    sent: Schema = {"allOf": [write_type(pair.on(sender)), of_type]}
    violation: Schema = {**of_type, "not": {"allOf": demands}} if all(demands) else sent
    return make_refused_culprit(violation, pair, sender)


def _describe_limit(change: Any) -> str:
    """The text for a limit: `Must contain at least 1 item (previously any number)`."""
    rejects, accepts = "rejects values that were accepted", "accepts values that were rejected"
    both = len(change.directions) > 1
    if change.keyword == OTHER:
        change_text = f"{rejects}, and {accepts}" if both else rejects if change.admitted_by == "old" else accepts
        at = f" at {change.detail!r}" if change.detail else ""
        return f"The new schema {change_text} before; the witness contains one{at}."
    verb = "contain" if change.keyword in ("minItems", "maxItems", "uniqueItems") else "be"
    must = "Must" if change.admitted_by == "old" else "May now"
    more = "; each revision rejects values of the other" if both else ""
    return f"{must} {verb} {change.new} (previously {change.old}){more}."


def _describe_kinds(alternatives: Any) -> str:
    """The JSON kinds of alternatives; `None` stands for every kind."""
    return "None" if ir.Anything() in alternatives else ", ".join(map(find_kind, alternatives))


TYPES: Final[Table] = (
    ChangeKind("null", within="{name}", subject="null", culprit=_make_null_culprit, words={
        "to_lenient": lambda c: "; lenient receivers read it as an omitted field" if c.name else "",
        "unless_lenient": lambda c: " unless they decode leniently" if c.name else "",
    }),
    Rule("null-forbidden", "null-removed", lambda c: "unknown" if c.name else "refused", sender="old",
         mirror="null-allowed",
         doc="Null was accepted and is now rejected. A receiver that decodes the field leniently reads null as "
             "omission.",
         message="Null is now rejected{to_lenient}.",
         advice="Keep accepting null from old peers; omit the field instead of sending null."),
    Rule("null-allowed", "null-added", lambda c: "unknown" if c.name else "refused", sender="new",
         doc="Null is now accepted; old receivers reject it, unless they decode the field leniently.",
         message="Null is now accepted; old peers reject it{unless_lenient}.",
         advice="Send no null to old peers: omit the field, or send another value."),
    ChangeKind("type", culprit=_make_type_culprit,
               subject=lambda c: " to ".join(_describe_kinds(shape) for shape in (c.old, c.new) if shape is not None)),
    Rule("type-narrowed", "type-removed", "refused", sender="old", mirror="type-widened",
         doc="Values of a JSON type that were accepted are now rejected.",
         message="The type is now {detail}.", advice="Keep the old type, and add a field for the new one."),
    Rule("type-widened", "type-added", "refused", sender="new",
         doc="Values of another JSON type are now accepted; old receivers reject them.",
         message="The type is now {detail}.",
         advice="Keep the old type and add a field for the new one, or gate the new values with a capability."),
    Rule("type-changed", "type-changed", "refused", sender="old", unmirrored="a change back is a change",
         doc="Values of one JSON type were replaced by values of another: each revision rejects what the other sends.",
         message="The type is now {detail}.", advice="Keep the old type, and add a field for the new one."),
    ChangeKind("limit", within="{name}", culprit=_make_limit_culprit,
               subject=lambda c: None if c.keyword == OTHER else f"{c.keyword} {c.old} {c.new}"),
    Rule("limit-changed", "limit", "refused", sender="old", when=lambda c: len(c.directions) > 1, unmirrored="a change back is a change",
         doc="A length, range, pattern, set of constants or item count rejects values that it accepted, and accepts "
             "values that it rejected.",
         message=_describe_limit, advice="Keep the old limit, and add a field for the new values."),
    Rule("limit-tightened", "limit", "refused", sender="old", when=lambda c: c.directions == ("old",),
         mirror="limit-loosened",
         doc="A length, range, pattern, set of constants or number of items rejects values that it accepted.",
         message=_describe_limit, advice="Keep the old limit for receivers; apply the new one to senders only."),
    Rule("limit-loosened", "limit", "refused", sender="new", when=lambda c: c.directions == ("new",),
         doc="A length, range, pattern, set of constants or number of items accepts more; old receivers reject that.",
         message=_describe_limit, advice="Keep to the old limit when sending, unless the peer is known to be new."),
    ChangeKind("format", subject="{old} {new}", culprit=lambda c, _, sender: next(
                   (make_value_culprit({"const": text}) for by, text in c.refused if by == sender), None), words={
        "is_now": lambda c: f"is now {c.new or 'unspecified'} (previously {c.old or 'unspecified'})",
        "reason": lambda c: c.detail.rstrip("."),
    }),
    Rule("format-changed", "format", when=lambda c: c.keyword == "format" and not c.refused and not c.detail,
         unmirrored="a change back is a change",
         doc="`format` or `contentEncoding` has changed. They annotate and refuse nothing, unless the project's "
             "policy asserts formats: then what texts the other revision refuses is proven. An encoding is never "
             "asserted: a peer that decodes reads the texts differently.",
         message="The format {is_now}."),
    Rule("format-changed", "format", when=lambda c: c.keyword != "format",
         message="The encoding of the content {is_now}. No value is rejected; a peer that decodes reads the texts differently."),
    Rule("format-changed", "format", "refused", sender=lambda c: c.refused[0][0], when=lambda c: bool(c.refused),
         message="The format {is_now}.",
         advice=lambda c: "Keep to the old format when sending, unless the peer is known to be new."
         if c.refused[0][0] == "new" else "Keep the old format for receivers; apply the new one to senders only."),
    Rule("format-changed", "format", "undetermined", when=lambda c: bool(c.detail) and not c.refused,
         message="The format {is_now}. What it rejects could not be decided: {reason}.", advice=_REVIEW),
)  # fmt: skip


# --- constants, variants and alternatives --------------------------------------------------------------------------------


def _write_value(value: ir.JSON) -> str:
    """A constant for display: strings in quotes, anything else as JSON."""
    return repr(value) if isinstance(value, str) else dumps(value)


def _describe_kept(change: Change) -> str:
    is_tolerant = change.within.old.openness == "tolerated"
    return "; strict old peers reject it, others keep it ('x-unknown: keep')" if is_tolerant else ""


def _is_beside_default(change: Change) -> bool:
    """Whether a variant is new beside an untagged branch that may accept it."""
    union = change.within.old
    return union.default is not None and (union.openness == "closed" or change.new.tag == union.default_tag)


def _has_default(change: Change) -> bool:
    """Whether a branch accepts unknown tags on the side that does not keep them."""
    strict = change.within.new if change.old == "open" else change.within.old
    return getattr(strict, "default", None) is not None


def _describe_alternative(alternative: Any) -> str:
    if isinstance(alternative, ir.Array):
        inner = alternative.items
        return f"array of {inner.name}" if isinstance(inner, ir.Ref) else "array"
    return getattr(alternative, "name", None) or "object"


def _identify_alternative(change: Change) -> str | None:
    named = getattr(change.part, "items", change.part)
    return _describe_alternative(change.part) if getattr(named, "name", "") else None


def _make_part_culprit(change: Change, pair: Pair, sender: Revision) -> Culprit | None:
    """The values of the part that only the sender has."""
    part = change.on(sender)
    match change.kind:
        case _ if part is None:
            return None
        case "value":
            schema: Schema = {"const": part.value}
        case "variant":
            tag = change.within.on(sender).tag
            schema = {**write_type(ir.Ref(part.type)), **require_member(tag, {"const": part.tag})}
        case _:
            schema = write_type(ir.Ref(part) if change.kind == "untagged" else select_type(part, ir.Anything()))
    return make_refused_culprit(schema, pair, sender)


def _write_unknown(change: Change) -> Schema:
    """The schema of a tag or constant that is in no revision."""
    union = change.within.new
    if isinstance(union, Constants):
        return {"enum": [EXTENSION, -1_000_001]}  # a number that no enumeration has
    return require_member(union.tag, {"const": EXTENSION})


def _write_known(change: Change, sender: Revision) -> Schema:
    """The schema of the tags or constants that the receiver knows."""
    union = change.within.on(get_opposite(sender))
    if isinstance(union, Constants):
        return {"enum": [constant.value for constant in union.values]}
    return require_member(union.tag, {"enum": [variant.tag for variant in union.variants]})


UNIONS: Final[Table] = (
    ChangeKind("value", subject="{part.value!r}", culprit=_make_part_culprit, words={
        "value": lambda c: _write_value(c.part.value),
        "formerly": lambda c: "" if c.declared is None else f" (renamed from {c.declared!r})",
        "gone": lambda c: "was removed" if c.declared is None else f"was renamed to {c.declared!r}",
        "kept": _describe_kept,
        "seems": lambda c: _suggest_rename(c.old.value, c.likely),
    }),
    Rule("value-added", "value-added", "claimed", when=lambda c: c.within.old.openness != "closed", gate=_get_capability,
         mirror="value-removed",
         doc="An open or tolerated set of constants has a new one. Old receivers keep unknown values.",
         message="The value {value} was added{formerly}{kept}."),
    Rule("closed-value-added", "value-added", "unknown", sender="new", when=lambda c: c.within.old.openness == "closed",
         gate=_get_capability, ungated="", mirror="closed-value-removed",
         doc="A closed set of constants has a new one; a strict old receiver rejects it.",
         message="The value {value} was added{formerly} to a closed set; old peers reject unknown values.",
         advice=_advise_gate),
    Rule("value-removed", "value-removed", "lost", sender="old", when=lambda c: c.within.new.openness == "open",
         doc="A constant of an open set was removed: new receivers accept it and do not know its meaning.",
         message="The value {value} {gone}; new peers accept it but do not know its meaning.",
         advice="{seems}Keep the value until the next major version."),
    Rule("closed-value-removed", "value-removed", "refused", sender="old", when=lambda c: c.within.new.openness != "open",
         doc="A constant of a closed or tolerated set was removed: new receivers reject it.",
         message="The value {value} {gone}; new peers reject it.", advice="{seems}Keep the value until the next major version."),
    ChangeKind("values", lost=lambda c: make_value_culprit({"const": c.old.values[0].value}) if c.old else None),
    Rule("values-named", "values-added", "claimed", mirror="values-unnamed",
         doc="A free string or number now has known constants, and stays free.",
         message="Some values now have a defined meaning."),
    Rule("values-unnamed", "values-removed", "lost", sender="old",
         doc="An open set of constants is now a free string or number: its values are accepted and have no declared "
             "meaning.",
         message="Its values are still accepted but no longer have a defined meaning.",
         advice="Keep the constants until the next major version."),
    ChangeKind("variant", within="({part.tag})", culprit=_make_part_culprit,
               subject=lambda c: repr(c.old.tag) if c.how == "changed" else "", words={
        "tag": lambda c: _write_value(c.part.tag),
        "kept": _describe_kept,
        "seems": lambda c: _suggest_rename(c.old.tag, c.likely),
    }),
    Rule("variant-added", "variant-added", "claimed", gate=_get_capability, mirror="variant-removed",
         when=lambda c: c.within.old.openness != "closed" and c.new.tag != c.within.old.default_tag,
         doc="An open or tolerated union has a new variant. Old receivers keep variants that they do not know. So it "
             "is where the branch without a tag knows values of the tag and takes others: an open enumeration has "
             "become the tag of variants.",
         message="The variant {tag} was added{kept}."),
    Rule("closed-variant-added", "variant-added", "unknown", sender="new",
         when=lambda c: c.within.old.openness == "closed" and c.within.old.default is None, gate=_get_capability,
         ungated="", mirror="closed-variant-removed",
         doc="A closed union has a new variant; a strict old receiver rejects it.",
         message="The variant {tag} was added to a closed union; old peers reject unknown variants.",
         advice=_advise_gate),
    Rule("variant-beside-default-added", "variant-added", "otherwise", sender="new", or_lost=True,
         when=_is_beside_default, gate=_get_capability, ungated="", unmirrored="variant-removed judges the removal",
         doc="A tagged variant was added next to a branch without a tag: old receivers decode it as that branch, or "
             "reject it.",
         message="The variant {tag} was added; old peers decode it as {within.old.default} or reject it.",
         advice=_advise_gate),
    Rule("variant-removed", "variant-removed", "lost", sender="old", renamed="variant-renamed", or_lost=True,
         when=lambda c: c.within.new.openness == "open" or c.within.new.default is not None,
         doc="A variant was removed and new receivers do not reject it: they keep it as unknown, or decode it as the "
             "branch without a tag.",
         message="The variant {tag} was removed; new peers do not know its meaning.",
         advice="{seems}Keep the variant until the next major version."),
    Rule("closed-variant-removed", "variant-removed", "refused", sender="old", renamed="variant-renamed",
         when=lambda c: c.within.new.openness != "open" and c.within.new.default is None,
         doc="A variant of a closed or tolerated union was removed: new receivers reject it.",
         message="The variant {tag} was removed; new peers reject it.",
         advice="{seems}Keep the variant until the next major version."),
    Rule("variant-renamed", "variant-changed", "lost", sender="old", or_lost=True, unmirrored="a rename back is a rename",
         doc="A variant has another tag, as `x-was` declares. Each revision knows only its own tag. The contents are "
             "compared under the new tag.",
         message="The variant {old.tag!r} was renamed to {new.tag!r}; peers of one revision do not know the tag of "
                 "the other.",
         advice="Keep {old.tag!r} beside {new.tag!r} until the next major version, and read either."),
    ChangeKind("untagged", within="({part})", culprit=_make_part_culprit),
    Rule("untagged-variant-added", "untagged-added", sender="new", mirror="untagged-variant-removed",
         effect=lambda c: "otherwise" if c.within.old.openness == "open" else "unknown",
         doc="A branch without a tag was added. Old receivers reject values without a known tag, and new ones may "
             "decode such values as this branch.",
         message="The branch {new}, which has no discriminator value, was added.",
         advice="Give the branch a discriminator value of its own."),
    Rule("untagged-variant-removed", "untagged-removed", "refused", sender="old",
         doc="The branch without a tag was removed: values without a known tag are now rejected.",
         message="The branch {old}, which has no discriminator value, was removed.",
         advice="Keep the branch until the next major version."),
    ChangeKind("unknown", remainder=_write_known, culprit=lambda c, pair, sender: (
                   make_refused_culprit(_write_unknown(c), pair, sender) if c.on(sender) == "open" else None),
               lost=lambda c: make_value_culprit(_write_unknown(c)), words={
        "sort": lambda c: "values" if isinstance(c.within.new, Constants) else "variants",
        "kept": _describe_kept,
    }),
    Rule("unknown-refused", "unknown", "refused", sender="old", when=lambda c: c.old == "open" and not _has_default(c),
         mirror="unknown-accepted",
         doc="The schema accepted unknown tags or constants, and now rejects them, extensions included.",
         message="Unknown {sort} are now rejected, extensions included.",
         advice="Keep it open: receivers must keep extensions, whose names begin with an underscore."),
    Rule("unknown-refused", "unknown", "otherwise", sender="old", when=lambda c: c.old == "open" and _has_default(c),
         message="Unknown {sort} are now decoded as the branch without a discriminator value, extensions included.",
         advice="Keep it open: receivers must keep extensions, whose names begin with an underscore."),
    Rule("unknown-accepted", "unknown", sender="new", when=lambda c: c.new == "open",
         effect=lambda c: "unknown" if c.old == "closed" and not _has_default(c) else "claimed",
         doc="The schema now accepts unknown tags or constants; a strict old receiver rejects them.",
         message="Unknown {sort} are now accepted{kept}.",
         advice="Send extensions only to peers of the new version."),
    Rule("tolerance-added", "unknown", "added", when=lambda c: (c.old, c.new) == ("closed", "tolerated"),
         mirror="tolerance-withdrawn",
         doc="Receivers now keep tags or constants that they do not know (`x-unknown: keep`). What is valid stays "
             "the same.",
         message="Receivers now keep unknown {sort} (previously they rejected them)."),
    Rule("tolerance-withdrawn", "unknown", "otherwise", when=lambda c: (c.old, c.new) == ("tolerated", "closed"),
         doc="Receivers kept unknown tags or constants (`x-unknown: keep`), and now reject them.",
         message="Receivers now reject unknown {sort} (previously they kept them).",
         advice="Keep 'x-unknown: keep': newer peers may send what this version does not know."),
    ChangeKind("tag", subject="{old.tag} {new.tag}", culprit=_make_any_culprit),
    Rule("tag-renamed", "tag", effect=lambda c: "lost" if c.new.openness == "open" else "refused", sender="old",
         unmirrored="a rename back is a rename",
         doc="The discriminator is now another member: neither revision recognises the other's variants.",
         message="The discriminator is now {new.tag!r} (previously {old.tag!r}).",
         advice="Keep sending the old discriminator together with the new one."),
    ChangeKind("alternative", subject=_identify_alternative, culprit=_make_part_culprit,
               words={"alternative": lambda c: _describe_alternative(c.part)}),
    Rule("alternative-added", "alternative-added", "unknown", sender="new", or_lost=True, mirror="alternative-removed",
         doc="One more shape is accepted; old receivers reject it, or decode it as one that they know.",
         message="The alternative {alternative} was added; no capability can gate it, since it has no discriminator value.",
         advice="Add a discriminator, or put the new alternative into a field of its own."),
    Rule("alternative-removed", "alternative-removed", "refused", sender="old", or_lost=True,
         doc="One of several shapes was removed: it is now rejected, or decoded as another.",
         message="The alternative {alternative} was removed.",
         advice="Keep the alternative until the next major version."),
)  # fmt: skip


# --- what could not be compared, definitions and files -------------------------------------------------------------------

_MANY: Final = 6
"""The maximum number of names in a message; the others are counted."""

_NO_MESSAGE: Final = "{subject} is written differently, in a way that no message can show"
_STRUCTURE: Final = {
    "": f"{_NO_MESSAGE}.",
    "elsewhere": f"{_NO_MESSAGE} except for what other findings report.",
    "framed": f"{_NO_MESSAGE}, unless it is not a message of this protocol.",
    "files": "The files differ only in ways that no message can show.",
    "classes": "Generated code differs in {listed}, in a way that no message can show.",
    "copied": "Only one revision defines {name!r}. No message refers to it, and a variant in messages has the same meaning.",
    "carried": "{name!r} frames messages and {written}; the messages themselves are compared method by method.",
    "content": "{name!r} describes the content of its texts differently ('contentMediaType', 'contentSchema'). "
    "No value is rejected; a peer that reads the content reads it differently.",
    "gates": "{name!r} now names the capability that gates it or a part of it. Whether it was gated before is not known: the old schema "
    "names no gates.",
    "unstable": "Definitions and fields marked 'x-unstable' differ and were not compared: {listed}.",
}
"""The texts about files, by the detail of the change."""


def _join_names(names: tuple[str, ...]) -> str:
    more = len(names) - _MANY
    return ", ".join(map(repr, names[:_MANY])) + (f" and {more} more" if more > 0 else "")


def _describe_structure(change: Change) -> str:
    names = _join_names(change.new or ())
    difference = "is written differently" if change.old_at and change.new_at else "is only in one revision"
    noun = "file" if (change.new_at or change.old_at).endswith(f"{change.name}#") else "definition"
    subject = f"The {noun} {change.name!r}" if change.name else "The root schema"
    return _STRUCTURE[change.detail].format(subject=subject, name=change.name, written=difference, listed=names)


SCHEMAS: Final[Table] = (
    ChangeKind("undecided", within="{name}", subject=None, culprit=_make_any_culprit),
    Rule("inclusion-undecided", "undecided", "undetermined", unmirrored="it judges both directions",
         doc="Something differs, and it could not be proven whether the difference breaks a peer. It is never "
             "treated as safe.",
         message="Changed, and the effect could not be decided: {detail}.", advice=_REVIEW),
    ChangeKind("not-compared", subject=None),
    Rule("not-compared", "not-compared", "undetermined", unmirrored="it judges both directions",
         doc="Something differs that was not compared, because it is not understood or its place is not read. It is "
             "never treated as safe.",
         message="Changed, and not compared: {detail}.", advice=_REVIEW),
    ChangeKind("definition", subject=lambda c: f"{c.old} {c.new}" if c.how == "changed" else "",
               words={"generated": lambda c: "" if c.declared else " Generated classes are renamed."}),
    Rule("definition-added", "definition-added", "added", mirror="definition-removed",
         doc="A definition was added that no message reaches: a separate document, or a definition that is not used "
             "yet.",
         message="The definition {new!r} was added; no message uses it."),
    Rule("definition-removed", "definition-removed", "undetermined",
         doc="A definition was removed that no message reached: whether anyone reads or writes documents of that "
             "kind is unknown.",
         message="The definition {old!r} was removed; no message used it, so who depends on it is unknown.",
         advice="Keep it, declare its replacement with 'x-was', or waive the finding if nobody depends on it."),
    Rule("definition-renamed", "definition-changed", "renamed", unmirrored="a rename back is a rename",
         doc="A definition has another name. No message shows it; generated code has another class, unless `x-was` "
             "declares the old name.",
         message="The definition {old!r} was renamed to {new!r}.{generated}",
         advice=lambda c: NO_ACTION if c.declared else
         "Declare the old name with 'x-was', so that generated code can keep it."),
    ChangeKind("text", subject="{name}"),
    Rule("text-reworded", "text", unmirrored="it judges both directions",
         doc="A description has changed.",
         message="The description of {name} changed."),
    ChangeKind("structure", within="{name}", subject=lambda c: " ".join((c.name, *(c.new or ()))).strip()),
    Rule("schema-restructured", "structure", unmirrored="it judges both directions",
         doc="The files differ in something that nothing a peer sends can notice: titles, examples, order, where a "
             "definition lives. A definition that is written differently and accepts the same is named. Generated "
             "code may differ all the same. Without `--unstable`, what is marked `x-unstable` and differs is named "
             "too: it is promised to nobody.",
         message=_describe_structure,
         advice=lambda c: "Add '--unstable' to compare them." if c.detail == "unstable" else NO_ACTION),
)  # fmt: skip

WITHOUT_CHANGE: Final[Table] = (
    Rule("language-narrowed", mirror="language-widened",
         doc="Something that is valid under the old schema is not valid under the new one."),
    Rule("language-widened",
         doc="Something that is valid under the new schema is not valid under the old one."),
    Rule("language-undecided", unmirrored="it judges both directions",
         doc="Whether everything valid under one schema is valid under the other was neither proven nor refuted. It "
             "is never treated as safe."),
    Rule("keyword-ignored", unmirrored="it judges both directions",
         doc="A keyword that has no effect where it stands has changed: it is misspelt, `$ref` hides it, or the "
             "draft that the file names does not know it. No message is accepted or refused because of it, so that "
             "no finding is about it. It is a note and counts for nothing."),
    Rule("policy-applied", unmirrored="a policy that changes nothing needs no note",
         doc="The project's policy, `[tool.acpgen.compat]`, gives findings another severity than the check does. "
             "What it lowers stays in the report with the severity that the check found."),
    Rule("policy-unused", unmirrored="an entry that is used needs no note",
         doc="Entries of the project's policy are about no finding of this comparison: nothing there has changed, or "
             "what they name is written otherwise. It is a note and counts for nothing."),
    Rule("waiver-expired", unmirrored="a waiver that has not expired needs no note",
         doc="A waiver is past its date, or its release or a later one is kept in `schema/releases`, or none is "
             "kept, so that nobody knows. What it accepted counts again, unless another one accepts it; the waiver "
             "itself is a note."),
    Rule("waiver-unused", unmirrored="a waiver that is used needs no note",
         doc="A waiver matches no finding: what it accepted has been merged, is gone, or has changed. It is a note "
             "and counts for nothing. A waiver holds for every comparison until its end, so that a comparison with "
             "the last release still finds it."),
)  # fmt: skip
"""The rules for schemas that are compared as such, for keywords without effect, for the policy and for waivers."""
# --- the whole table -------------------------------------------------------------------------------------------------

_TABLE: Final[Table] = (*METHODS, *FIELDS, *TYPES, *UNIONS, *SCHEMAS, *WITHOUT_CHANGE)
RULES: Final = tuple(row for row in _TABLE if isinstance(row, Rule))
KINDS: Final[Mapping[Kind, ChangeKind]] = {
    **{kind: ChangeKind(kind) for kind in get_args(Kind)},
    **{row.kind: row for row in _TABLE if isinstance(row, ChangeKind)},
}
_BY_KIND: Final[Mapping[Kind, tuple[Rule, ...]]] = {
    kind: tuple(row for row in RULES if kind in (row.on, row.on.rpartition("-")[0])) for kind in KINDS
}


def judge(change: Change) -> Judgement:
    """The result of the rule that applies to a change."""
    rules = [row for row in _BY_KIND[change.kind] if row.on in (change.kind, change.what) and row.when(change)]
    assert len(rules) == 1, f"{len(rules)} rules speak for {change}"
    return KINDS[change.kind].apply(rules[0], change)
