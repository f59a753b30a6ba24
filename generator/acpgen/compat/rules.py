"""The rules of the check as one table: the change, the conditions, the effect on peers, and the messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal, TypeAlias

from acpgen import ir
from acpgen.compat.changes import OTHER, Change
from acpgen.compat.diff.shapes import Constants, find_kind
from acpgen.compat.findings import NO_ACTION, Effect, Revision, Severity
from acpgen.compat.protocol.sender_schemas import META
from acpgen.input.numbers import dumps

VERSION: Final = 6
"""The version of the rules. Increase it with each change of the rules or of the check that alters the findings of kept releases.

The next `acpgen generate` then recomputes their verdicts (`releases/*/verdicts.json`). An exhaustive test fails until it is increased.
"""

RuleEffect: TypeAlias = Literal[
    "refused", "unknown", "taken", "otherwise", "lost", "claimed", "added", "renamed", "reworded", "undetermined"
]
"""The effect of a change on messages, more specific than the reported effect.

- refused: one side rejects a value that the other sends
- unknown: a strict receiver of a closed shape rejects an unknown name
- taken: a name that peers may use freely for extensions has a specific type on the other side
- otherwise: nothing is rejected, but something is read differently
- lost: a name loses its meaning
- claimed: a name that was free gets a meaning
- added: an addition that affects no peer
- renamed, reworded: without effect on messages
- undetermined: neither proven nor refuted
"""

Gate: TypeAlias = Literal["none", "fresh", "known"]
"""How a capability gates a change; fresh: by a capability that no old peer can advertise, so nothing is sent to old peers; known: by one
that an old peer may advertise.
"""

Flow: TypeAlias = Literal["to-handler", "to-caller", "both", "nobody"]
"""The receivers: the side that handles the method (params), the side that calls it (results), both, or nobody if no method reaches the
part.
"""

EFFECTS: Final[Mapping[RuleEffect, tuple[Effect, Severity, Severity]]] = {
    "refused": ("refused", "breaking", "breaking"),  # what is refused without being new cannot be held back by a gate
    "unknown": ("refused", "risky", "additive"),
    "taken": ("refused", "risky", "risky"),  # who has not heard of the name does not ask for its gate
    "otherwise": ("lost", "risky", "additive"),
    "lost": ("lost", "breaking", "breaking"),
    "claimed": ("claimed", "additive", "additive"),
    "added": ("added", "additive", "additive"),
    "renamed": ("renamed", "editorial", "editorial"),
    "reworded": ("reworded", "editorial", "editorial"),
    "undetermined": ("refused", "undecided", "undecided"),
}
"""The reported effect, the severity between peers, and the severity behind a fresh gate, by effect."""


def decide_severity(effect: RuleEffect, flow: Flow, gate: Gate) -> Severity:
    """The severity of a change.

    Both exchanges are always checked, an old sender with a new receiver and the reverse, so the flow only decides who breaks; a part
    that nobody receives breaks nobody.
    """
    _, plain, fresh = EFFECTS[effect]
    return "editorial" if flow == "nobody" else fresh if gate == "fresh" else plain


Text: TypeAlias = "str | Callable[[Any], str | None]"
"""A text about a change: a template over the attributes of the change and `_WORDS`, or a function that returns the text."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a rule, named by its id, for a change.

    A rejection names the revision that accepts (`accepted_by`), a loss the one that carries the meaning (`carried_by`); with both, a
    rejection is searched first. `gate` is the capability that gates an addition; `ungated` describes the effect without one, `None` if
    no capability can gate it. `within` is the place inside the pair, `subject` identifies the finding among those of the same rule at
    the same place; `None` if only the two texts do. `between` are the failing exchanges if neither revision's messages are rejected or
    lose meaning: texts with `{sender}` and `{receiver}`.
    """

    rule: str
    effect: RuleEffect
    message: str
    advice: str
    within: str = ""
    subject: str | None = ""
    accepted_by: Revision | None = None
    carried_by: Revision | None = None
    gate: str | None = None
    ungated: str | None = None
    between: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table; rows with the same `id` are one rule.

    The first row of a rule has its documentation, and its mirror or the reason for none. `on` is a kind of change, or `Change.what`;
    empty for findings without a change. `when` selects among the rows of one kind: exactly one applies. `sender` is the revision whose
    messages are rejected or lose meaning; with `or_lost`, a rejection is searched first. The other columns are as in `Judgement`.
    """

    id: str
    on: str = ""
    effect: RuleEffect | Callable[[Any], RuleEffect] = "reworded"
    _: KW_ONLY
    sender: Revision | Callable[[Any], Revision] | None = None
    or_lost: bool = False
    when: Callable[[Any], bool] = lambda _: True
    gate: Callable[[Any], str | None] = lambda _: None
    ungated: Text | None = None
    between: tuple[str, ...] = ()
    mirror: str = ""
    unmirrored: str = ""
    doc: str = ""
    message: Text = ""
    advice: Text = NO_ACTION

    def judge(self, change: Change) -> Judgement:
        """The result of the row for a change."""

        def of(cell: Any) -> Any:
            if callable(cell):
                return cell(change)
            return cell.format_map(_Words(change)) if isinstance(cell, str) else cell

        effect, sender = of(self.effect), of(self.sender)
        return Judgement(
            rule=self.id,
            effect=effect,
            message=of(self.message),
            advice=of(self.advice),
            within=of(_WITHIN.get(change.kind, "")),
            subject=of(_SUBJECT.get(change.what, _SUBJECT.get(change.kind, ""))),
            accepted_by=sender if self.or_lost or effect in _REFUSING else None,
            carried_by=sender if self.or_lost or effect in _LOSING else None,
            gate=self.gate(change),
            ungated=of(self.ungated),
            between=self.between,
        )


_REFUSING: Final = ("refused", "unknown", "taken")
_LOSING: Final = ("lost", "otherwise")


def judge(change: Change) -> Judgement:
    """The result of the rule that applies to a change."""
    rows = [row for row in _BY_KIND[change.kind] if row.on in (change.kind, change.what) and row.when(change)]
    assert len(rows) == 1, f"{len(rows)} rules speak for {change}"
    return rows[0].judge(change)


# --- words -----------------------------------------------------------------------------------------------------------

_GATE: Final = "Gate it with 'x-capability', so that it is never sent to old peers."
_GATE_ANEW: Final = "Gate it with a new capability of the peer that receives it, so that it is never sent to old peers."
_GATE_METHOD: Final = "Gate it with 'x-capability', so that callers know whether the peer supports it."
_SEND_OLD: Final = "Keep to the old format when sending, unless the peer is known to be new."
_RECEIVE_OLD: Final = "Keep the old format for receivers; apply the new one to senders only."
_DECLARE: Final = "Declare the old name with 'x-was', so that generated code can keep it."
_KEEP: Final = "until the next major version"
_REVIEW: Final = "Review both places, and waive the finding if it is harmless."
_UNASKED: Final = "a new {sender} that talks to an old {receiver}"
_UNASKED_OF_NEW: Final = "an old {sender} that talks to a new {receiver}"
_UNSENT: Final = "an old {receiver} that receives from a new {sender}"
_UNSENT_TO_NEW: Final = "a new {receiver} that receives from an old {sender}"


class _Words(dict[str, Any]):
    """The names that a template may use: `_WORDS`, and the attributes of the change."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        self.change = change

    def __missing__(self, key: str) -> Any:
        make_word = _WORDS.get(key)
        return getattr(self.change, key) if make_word is None else make_word(self.change)


def _get_raw(change: Change) -> Any:
    """The name, tag or value of a member."""
    one = change.one
    return one.tag if isinstance(one, ir.Variant) else one.value if isinstance(one, ir.EnumValue) else one.name


def _write_value(value: ir.JSON) -> str:
    """A constant for display: strings in quotes, anything else as JSON."""
    return repr(value) if isinstance(value, str) else dumps(value)


def _describe_alternative(change: Change) -> str:
    if isinstance(change.one, ir.Array):
        inner = change.one.items
        return f"array of {inner.name}" if isinstance(inner, ir.Ref) else "array"
    return getattr(change.one, "name", None) or "object"


def _suggest_rename(change: Change) -> str:
    """The advice for a new member that may be a renamed old one; empty without a candidate."""
    seems = change.likely
    return (
        ""
        if seems is None
        else f"If {_get_raw(change)!r} was renamed to {seems!r}, declare it on {seems!r} with 'x-was'. "
    )


_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "value": lambda c: _write_value(_get_raw(c)),
    "exact_value": lambda c: repr(_get_raw(c)),
    "seems": _suggest_rename,
    "by_keyword": lambda c: "" if c.by in ("", "properties") else f" of {c.by!r}",
    "freely": lambda c: "any object" if c.one.name == META else "anything",
    "members": lambda c: (
        f"Members whose names match {' or '.join(map(repr, c.one))}" if c.one else "Undeclared members"
    ),
    "gone": lambda c: "was removed" if c.declared is None else f"was renamed to {c.declared!r}",
    "formerly": lambda c: "" if c.declared is None else f" (renamed from {c.declared!r})",
    "kept": lambda c: _KEPT if c.within[0].openness == "tolerated" else "",
    "sort": lambda c: "values" if isinstance(c.within[1], Constants) else "variants",
    "alternative": _describe_alternative,
    "to_lenient": lambda c: "; lenient receivers read it as an omitted field" if c.name else "",
    "unless_lenient": lambda c: " unless they decode leniently" if c.name else "",
    "generated": lambda c: "" if c.declared else " Generated classes are renamed.",
    "reason": lambda c: c.detail.rstrip("."),
    "now": lambda c: c.new or "unspecified",
    "before": lambda c: c.old or "unspecified",
    "as_before": lambda c: _ERROR_BEFORE[c.one.kind],
    "as_now": lambda c: _ERROR_NOW[c.old.kind],
}

_KEPT: Final = "; strict old peers reject it, others keep it ('x-unknown: keep')"
_ERROR_BEFORE: Final[Mapping[str, str]] = {
    "request": "old peers answer it with the error -32601",
    "notification": "old peers ignore it",
}
_ERROR_NOW: Final[Mapping[str, str]] = {
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


def _describe_leniency(change: Change) -> str:
    """The effect of a change of leniency on a field: `'limit' is now decoded strictly; previously an invalid value was …`."""
    subject = _INVALID[change.detail]
    if change.detail == "skip_invalid_items":
        instead = "skipped"
    else:
        instead = f"read {change.one}" if change.one else "declared as lenient, but without a value to fall back to"
    if change.new is None:
        return f"{change.name!r} is now decoded strictly; previously {subject} {instead}."
    now = subject.replace(" was", " is").replace(" were", " are")
    return f"{change.name!r} is now decoded leniently: {now} {instead}; previously {subject} an error."


def _describe_default(default: ir.Default | None) -> str:
    return "unspecified" if default is None else dumps(default.value, ensure_ascii=False)


def _describe_undeclared(change: Change) -> str:
    """The values that are now rejected or accepted for undeclared members."""
    now = "rejected" if change.new is None else "accepted"
    if not change.one:
        return (
            f"Whether more values with undeclared members are now {now} could not be decided; peers do not send these."
        )
    such = dumps(change.one[0], ensure_ascii=False)
    return f"Some values with undeclared members are now {now}, such as {such}; peers do not send these."


def _limit(change: Any) -> str:
    """The text for a limit: `Must contain at least 1 item (previously any number)`."""
    rejects, accepts = "rejects values that were accepted", "accepts values that were rejected"
    both = len(change.directions) > 1
    if change.keyword == OTHER:
        change_text = f"{rejects}, and {accepts}" if both else rejects if change.admitted_by == "old" else accepts
        return f"The new schema {change_text} before; the witness contains one{f' at {change.detail!r}' if change.detail else ''}."
    verb = "contain" if change.keyword in ("minItems", "maxItems", "uniqueItems") else "be"
    must = "Must" if change.admitted_by == "old" else "May now"
    more = "; each revision rejects values of the other" if both else ""
    return f"{must} {verb} {change.new} (previously {change.old}){more}."


def _describe_kinds(alternatives: Any) -> str:
    """The JSON kinds of alternatives; `None` stands for every kind."""
    return "None" if ir.Anything() in alternatives else ", ".join(map(find_kind, alternatives))


def _join_positions(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names))


def _describe_positions(change: Change) -> str:
    return (
        f"The positions of the params are now {_join_positions(change.new)} (previously {_join_positions(change.old)}); peers of one "
        "revision read the values of the other as other params."
    )


def _is_moved(change: Change) -> bool:
    """Whether a param in both revisions has another position."""
    others = [(one, other) for one, other in zip(change.old, change.new, strict=False) if one != other]
    return any(one in change.new or other in change.old for one, other in others)


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


def _join_names(names: tuple[str, ...]) -> str:
    more = len(names) - _MANY
    return ", ".join(map(repr, names[:_MANY])) + (f" and {more} more" if more > 0 else "")


def _describe_structure(change: Change) -> str:
    names = _join_names(change.new or ())
    difference = "is written differently" if change.old_at and change.new_at else "is only in one revision"
    noun = "file" if (change.new_at or change.old_at).endswith(f"{change.name}#") else "definition"
    subject = f"The {noun} {change.name!r}" if change.name else "The root schema"
    return _STRUCTURE[change.detail].format(subject=subject, name=change.name, written=difference, listed=names)


_WITHIN: Final[Mapping[str, Text]] = {
    "field": lambda c: "*" if c.pattern else c.one.name,
    "required": "{one.name}",
    **dict.fromkeys(("default", "null-meaning", "leniency", "gate", "demand", "null", "structure"), "{name}"),
    **dict.fromkeys(("limit", "undecided"), "{name}"),
    "variant": "({one.tag})",
    "untagged": "({one})",
}
"""The place of a change within its pair, by kind."""

_SUBJECT: Final[Mapping[str, Text | None]] = {
    "positions": lambda c: f"{_join_positions(c.old)} to {_join_positions(c.new)}",
    "field": "{pattern}",
    "field-changed": "{old.name}",
    "default": lambda c: "" if c.detail == "grown" else f"{_describe_default(c.old)} {_describe_default(c.new)}",
    "null-meaning-changed": "",
    **dict.fromkeys(("null-meaning", "demand"), "{new}"),
    "leniency": "{detail} {one}",
    "gate-added": "{detail} {new}",
    "gate-removed": "{detail} {old}",
    "gate-changed": "{detail} {old} {new}",
    "null": "null",
    "type": lambda c: " to ".join(_describe_kinds(each) for each in (c.old, c.new) if each is not None),
    "limit": lambda c: None if c.keyword == OTHER else f"{c.keyword} {c.old} {c.new}",
    **dict.fromkeys(("format", "definition-changed"), "{old} {new}"),
    "value": "{exact_value}",
    "variant-changed": "{old.tag!r}",
    "tag": "{old.tag} {new.tag}",
    "alternative": lambda c: _describe_alternative(c) if getattr(getattr(c.one, "items", c.one), "name", "") else None,
    **dict.fromkeys(("undecided", "not-compared"), None),
    "text": "{name}",
    "structure": lambda c: " ".join((c.name, *(c.new or ()))).strip(),
}
"""The subject of a change among those of its rule at its place, by kind or `Change.what`; `None` if only the two texts identify it."""


# --- conditions ------------------------------------------------------------------------------------------------------


def _shut(objects: Any) -> bool:
    """Whether an object rejects undeclared members."""
    return isinstance(objects.extra, ir.Nothing)


def _is_plain(change: Any) -> bool:
    """Whether a field is optional, and old receivers accept and ignore its name."""
    return not change.one.required and not _shut(change.within[0]) and not change.is_extension


def _is_removed(change: Any) -> bool:
    """Whether a removed field was optional and is not an extension."""
    return not change.one.required and not change.one.name.startswith("_")


def _is_undeclared(change: Any) -> bool:
    return not change.one.required and change.one.name.startswith("_")


def _has_default(change: Change) -> bool:
    """Whether a branch accepts unknown tags on the side that does not keep them."""
    return getattr(change.within[1 if change.old == "open" else 0], "default", None) is not None


def _stays_open(change: Any) -> bool:
    """Whether a new untagged branch accepts what was kept as unknown."""
    return bool(change.within[0].openness == "open")


def _is_beside_default(change: Any) -> bool:
    """Whether a variant is new beside an untagged branch that may accept it."""
    union = change.within[0]
    return union.default is not None and (union.openness == "closed" or change.one.tag == union.default_tag)


def _get_capability(change: Change) -> str | None:
    capability: str | None = change.one.capability
    return capability


def _advise_gate(change: Change) -> str:
    """The advice to gate an addition; if it already has a gate, with a new capability of the receiver."""
    return _GATE if _get_capability(change) is None else _GATE_ANEW


# --- the table -------------------------------------------------------------------------------------------------------


# A row is a few lines, with its columns in one order.
# fmt: off
RULES: Final[tuple[Rule, ...]] = (
    # methods
    Rule("method-added", "method-added", "added", gate=_get_capability, ungated="{as_before}", mirror="method-removed",
         doc="A method is new. A peer that does not know it answers a request with -32601 and ignores a notification, "
             "so nothing breaks.",
         message="The {one.kind} {one.name!r} was added.",
         advice=lambda c: NO_ACTION if c.one.capability else _GATE_METHOD),
    Rule("method-removed", "method-removed", "lost", sender="old",
         doc="A method was removed: it can no longer be called.",
         message="The {old.kind} {old.name!r} was removed; {as_now}.",
         advice=f"Keep the method {_KEEP}, or declare its replacement with 'x-was'."),
    Rule("method-renamed", "method-changed", "lost", sender="old", unmirrored="a rename back is a rename",
         doc="A method has a new name (`x-was`): neither revision understands the other's name for it.",
         message="The {old.kind} {old.name!r} was renamed to {new.name!r}.",
         advice="Handle both names, and send the new name only to peers of the new version."),
    Rule("method-kind-changed", "method-kind", "lost", sender="old", unmirrored="a change of kind is its own mirror",
         doc="A request became a notification or the reverse: one side waits for a response that is never sent, or "
             "receives one that it did not request.",
         message="The {old.kind} {old.name!r} became a {new.kind}.",
         advice="Keep the method as it was, and add the new kind under another method name."),
    Rule("position-changed", "positions", lambda c: "lost" if _is_moved(c) else "otherwise",
         between=(_UNASKED_OF_NEW, _UNASKED), unmirrored="a change back is a change",
         doc="A param that is sent by position has another position, or its position has another param, and a message "
             "that both revisions accept says something else. Peers that send params by name do not notice.",
         message=_describe_positions,
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
         message="Batches (arrays of messages) are now rejected.", advice=f"Keep accepting batches {_KEEP}."),
    Rule("batch-withdrawn", "batch-removed", "otherwise", when=lambda c: bool(c.name),
         message="{name!r} may no longer be part of a batch; old peers may still send it in one.",
         advice=f"Keep accepting it in batches {_KEEP}."),
    # fields
    Rule("field-added", "field-added", "claimed", when=lambda c: _is_plain(c) and not c.pattern, gate=_get_capability,
         mirror="field-removed",
         doc="An optional field is new in an object that accepts undeclared members. Old receivers ignore it. The "
             "name, which was free, is claimed: as languages the new schema is narrower, between peers nothing "
             "breaks, since a sender sends what its schema declares.",
         message="The optional field {one.name!r}{by_keyword} was added."),
    Rule("field-added", "field-added", "claimed", when=lambda c: _is_plain(c) and bool(c.pattern),
         message="Fields whose names match {pattern!r} were added."),
    Rule("extension-declared", "field-added", "taken", sender="old",
         when=lambda c: c.is_extension and c.one.name.startswith("_"), mirror="extension-undeclared",
         doc="A name that begins with an underscore has a form now, or a name in what was a map of any values. Such "
             "names are free, so old peers may send anything under this one. Only `_meta` has a form of its own: an "
             "object. Where the new form accepts all of that, it is `field-added`.",
         message="The extension field {one.name!r} was added with its own type; old peers may send {freely} under "
                 "that name.", advice="Accept any value there, or take a name without an underscore."),
    Rule("extension-declared", "field-added", "taken", sender="old",
         when=lambda c: c.is_extension and not c.one.name.startswith("_"),
         message="The field {one.name!r} was added with a form of its own to what was a map of any values; old peers "
                 "may send anything under that name.",
         advice="Accept any value there, or put the field into its own object."),
    Rule("closed-field-added", "field-added", "unknown", sender="new",
         when=lambda c: not c.one.required and _shut(c.within[0]), gate=_get_capability, ungated="",
         unmirrored="field-removed judges the removal, from closed objects too",
         doc="An optional field was added to an object that rejects undeclared members, so a strict old receiver "
             "rejects it.",
         message="The optional field {one.name!r} was added to a closed object; old peers reject unknown members.",
         advice=_advise_gate),
    Rule("required-field-added", "field-added", "refused", sender="old", when=lambda c: c.one.required,
         mirror="required-field-removed",
         doc="A required field was added: messages of old senders lack it.",
         message="The required field {one.name!r} was added; old peers do not send it.",
         advice="Make it optional, and define what its absence means."),
    Rule("field-removed", "field-removed", "lost", sender="old",
         when=lambda c: _is_removed(c) and not c.by and not _shut(c.within[1]),
         doc="An optional field was removed. New receivers accept messages with it but ignore its value. Names that "
             "begin with an underscore are extensions and stay allowed everywhere: see `extension-undeclared`.",
         message="The field {one.name!r} was removed; new peers ignore it.",
         advice=f"{{seems}}Keep it as optional {_KEEP}, and document its replacement."),
    Rule("field-removed", "field-removed", "refused", sender="old",
         when=lambda c: _is_removed(c) and not c.by and _shut(c.within[1]),
         message="The field {one.name!r} was removed; new peers reject it.",
         advice=f"{{seems}}Keep it as optional {_KEEP}, and document its replacement."),
    Rule("field-removed", "field-removed", "lost", sender="old",
         when=lambda c: _is_removed(c) and bool(c.by) and not c.pattern,
         message="The field {one.name!r}{by_keyword} was removed; new peers ignore it.",
         advice=f"Keep it {_KEEP}, and document its replacement."),
    Rule("field-removed", "field-removed", "lost", sender="old", when=lambda c: _is_removed(c) and bool(c.pattern),
         message="Fields whose names match {pattern!r} were removed; new peers ignore them, such as {one.name!r}.",
         advice=f"Keep the pattern {_KEEP}, and document its replacement."),
    Rule("required-field-removed", "field-removed", "refused", sender="new", when=lambda c: c.one.required,
         doc="A required field was removed: new senders omit it, and old receivers reject that.",
         message="The required field {one.name!r} was removed; old peers reject messages without it.",
         advice=f"{{seems}}Keep sending it {_KEEP}."),
    Rule("field-renamed", "field-changed", "lost", sender="old", or_lost=True, unmirrored="a rename back is a rename",
         doc="A field has another name, as `x-was` declares. Peers of one revision ignore the other's name for it, "
             "and reject a message without their own name for a required field. The contents are compared under the "
             "new name.",
         message="The field {old.name!r} was renamed to {new.name!r}; peers of one revision ignore the name of the "
                 "other.", advice=f"Keep {{old.name!r}} beside {{new.name!r}} {_KEEP}, and read either."),
    Rule("extension-undeclared", "field-removed", "taken", sender="new",
         when=lambda c: _is_undeclared(c) and c.is_extension,
         doc="A name that begins with an underscore, such as `_meta`, is no longer declared. Peers may send it all "
             "the same, since such names are reserved for extensions; its form is not checked any more. Where new "
             "peers may send what old ones refuse, that is risky.",
         message="The extension field {one.name!r} is no longer declared; new peers may send {freely} under that name.",
         advice=f"Declare it {_KEEP}."),
    Rule("extension-undeclared", "field-removed", "refused", sender="old",
         when=lambda c: _is_undeclared(c) and _shut(c.within[1]),
         message="The extension field {one.name!r} is no longer declared; new peers reject it.",
         advice="Declare it again."),
    Rule("extension-undeclared", "field-removed", "added",
         when=lambda c: _is_undeclared(c) and not c.is_extension and not _shut(c.within[1]),
         message="The extension field {one.name!r} is no longer declared; its value is not checked.",
         advice="Declare it if generated code should offer it."),
    Rule("field-became-required", "required-added", "refused", sender="old", mirror="field-became-optional",
         doc="A field is now required: old senders may omit it.",
         message="The field {one.name!r} is now required; old peers may omit it.",
         advice="Keep it optional, and define what its absence means."),
    Rule("field-became-optional", "required-removed", "refused", sender="new",
         doc="A field may now be omitted: new receivers accept that, old ones reject it.",
         message="The field {one.name!r} is now optional; old peers reject messages without it.",
         advice="Keep it required, or send messages without it only to peers of the new version."),
    Rule("object-closed", "openness-removed", "refused", sender="old", when=lambda c: not c.one, mirror="object-opened",
         doc="Undeclared members are now rejected, extensions included.",
         message="Undeclared members are now rejected, extensions included.",
         advice="Keep the object open: receivers must ignore extensions, whose names begin with an underscore."),
    Rule("object-closed", "openness-removed", "refused", sender="old", when=lambda c: bool(c.one),
         message="{members} are now rejected.", advice=f"Keep the pattern {_KEEP}."),
    Rule("object-opened", "openness-added", "unknown", sender="new",
         doc="Undeclared members are now accepted; old receivers reject them.",
         message="{members} are now accepted; old peers reject them.",
         advice=lambda c: f"Send {'them' if c.one else 'extensions'} only to peers of the new version."),
    Rule("undeclared-narrowed", "undeclared-removed", "claimed", mirror="undeclared-widened",
         doc="Values are refused now for members that no schema declares, such as by `dependentRequired`. A sender "
             "sends what its schema declares, so old and new peers understand each other; whoever sends more, or "
             "checks stored documents, meets the difference.",
         message=_describe_undeclared, advice="Declare the members that the new constraint applies to."),
    Rule("undeclared-widened", "undeclared-added", "added",
         doc="Values are accepted now that were refused for members which no schema declares. A sender sends what its "
             "schema declares, so old and new peers understand each other.",
         message=_describe_undeclared, advice="Declare these members before any peer sends them."),
    # what a field means beside its type
    Rule("default-changed", "default", "otherwise", sender="old", when=lambda c: c.detail != "grown",
         unmirrored="a change back is a change",
         doc="The meaning of an omitted field has changed: two peers read the same message differently. A required "
             "field is never omitted, and lenient decoding never replaces an invalid value by its default, so a "
             "change of its default is editorial.",
         message=lambda c: f"The default of {c.name!r} is now {_describe_default(c.new)} (previously {_describe_default(c.old)}).",
         advice="Keep the default, or always send the value."),
    Rule("default-grown", "default", when=lambda c: c.detail == "grown",
         unmirrored="a default that shrinks is default-changed",
         doc="A default now includes the defaults of fields that were added to its object. Its meaning is unchanged.",
         message="The default of {name!r} now includes the defaults of added fields."),
    Rule("null-meaning-changed", "null-meaning-changed", "otherwise", sender="old",
         unmirrored="a change back is a change",
         doc="Null cleared the value and now means the same as omission, or the reverse (`x-null`).",
         message=lambda c: f"Null in {c.name!r} now {_NULL[c.new]} (previously it {_NULL_BEFORE[c.old]}).",
         advice="Use another field or value for the new meaning of null."),
    Rule("null-meaning-declared", "null-meaning", when=lambda c: None in (c.old, c.new),
         unmirrored="it judges both directions",
         doc="The meaning of null is now declared (`x-null`), or no longer declared. What is accepted stays the same.",
         message=lambda c: f"The meaning of null in {c.name!r} is {'no longer' if c.new is None else 'now'} declared."),
    Rule("leniency-added", "leniency-added", "added", mirror="leniency-withdrawn",
         doc="Receivers decode this field more leniently (`x-deserialize-…`). What is valid stays the same.",
         message=_describe_leniency),
    Rule("leniency-withdrawn", "leniency-removed", "otherwise",
         doc="Receivers decode this field more strictly (`x-deserialize-…`). What is valid stays the same, so a peer "
             "that keeps to the schema is not affected.",
         message=_describe_leniency, advice="Document it in the release notes: peers that send invalid values now get errors."),
    Rule("gate-added", "gate-added", "otherwise", between=(_UNSENT, _UNASKED_OF_NEW), mirror="gate-removed",
         doc="Something that was sent to every peer is now sent only to peers that advertise a capability. Old peers "
             "do not advertise it and no longer receive it; new peers that do not advertise it still receive it from "
             "old ones.",
         message="The {detail} is now sent only to peers that advertise {new}; previously it was sent to every peer.",
         advice="Treat a peer that does not advertise the capability as before."),
    Rule("gate-removed", "gate-removed", "otherwise", between=(_UNASKED, _UNSENT_TO_NEW),
         doc="Something is now sent without checking a capability first. Old peers that do not advertise the "
             "capability do not expect it, and old senders still require new peers to advertise it.",
         message="The {detail} is now sent to every peer; previously only to peers that advertise {old}.",
         advice="Keep the gate: peers without the capability do not expect it."),
    Rule("gate-moved", "gate-changed", "otherwise", between=(_UNSENT, _UNSENT_TO_NEW),
         unmirrored="a move back is a move",
         doc="Another capability gates something: a peer that advertises only the capability of its own revision does "
             "not receive it from the other revision.",
         message="The {detail} is now gated by {new} (previously by {old}).",
         advice=f"Accept either capability {_KEEP}."),
    Rule("demand-changed", "demand", "otherwise", when=lambda c: c.new is not None, gate=lambda c: c.new,
         unmirrored="it judges both directions",
         doc="The capability that requires a peer to send a field (`x-required-with`) has changed: some peers rely on "
             "a field that others do not send. The schema still accepts messages without it.",
         message="The field {name!r} must now be sent by peers that advertise {new}.",
         advice="Require it only together with a new capability."),
    Rule("demand-changed", "demand-removed", "otherwise", between=(_UNASKED,),
         message="The field {name!r} is no longer required of any peer; old peers may rely on it.",
         advice="Keep sending it to peers of the old revision."),
    # types
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
    Rule("limit-changed", "limit", "refused", sender="old", when=lambda c: len(c.directions) > 1,
         unmirrored="a change back is a change",
         doc="A length, range, pattern, set of constants or item count rejects values that it accepted, and accepts "
             "values that it rejected.",
         message=_limit, advice="Keep the old limit, and add a field for the new values."),
    Rule("limit-tightened", "limit", "refused", sender="old", when=lambda c: c.directions == ("old",),
         mirror="limit-loosened",
         doc="A length, range, pattern, set of constants or number of items rejects values that it accepted.",
         message=_limit, advice="Keep the old limit for receivers; apply the new one to senders only."),
    Rule("limit-loosened", "limit", "refused", sender="new", when=lambda c: c.directions == ("new",),
         doc="A length, range, pattern, set of constants or number of items accepts more; old receivers reject that.",
         message=_limit, advice="Keep to the old limit when sending, unless the peer is known to be new."),
    Rule("format-changed", "format", when=lambda c: c.keyword == "format" and not c.refused and not c.detail,
         unmirrored="a change back is a change",
         doc="`format` or `contentEncoding` has changed. They annotate and refuse nothing, unless the project's "
             "policy asserts formats: then what texts the other revision refuses is proven. An encoding is never "
             "asserted: a peer that decodes reads the texts differently.",
         message="The format is now {now} (previously {before})."),
    Rule("format-changed", "format", when=lambda c: c.keyword != "format",
         message="The encoding of the content is now {now} (previously {before}). No value is rejected; a peer that "
                 "decodes reads the texts differently."),
    Rule("format-changed", "format", "refused", sender=lambda c: c.refused[0][0], when=lambda c: bool(c.refused),
         message="The format is now {now} (previously {before}).",
         advice=lambda c: _SEND_OLD if c.refused[0][0] == "new" else _RECEIVE_OLD),
    Rule("format-changed", "format", "undetermined", when=lambda c: bool(c.detail) and not c.refused,
         message="The format is now {now} (previously {before}). What it rejects could not be decided: {reason}.",
         advice=_REVIEW),
    # constants, variants, alternatives
    Rule("value-added", "value-added", "claimed", when=lambda c: c.within[0].openness != "closed", gate=_get_capability,
         mirror="value-removed",
         doc="An open or tolerated set of constants has a new one. Old receivers keep unknown values.",
         message="The value {value} was added{formerly}{kept}."),
    Rule("closed-value-added", "value-added", "unknown", sender="new", when=lambda c: c.within[0].openness == "closed",
         gate=_get_capability, ungated="", mirror="closed-value-removed",
         doc="A closed set of constants has a new one; a strict old receiver rejects it.",
         message="The value {value} was added{formerly} to a closed set; old peers reject unknown values.",
         advice=_advise_gate),
    Rule("value-removed", "value-removed", "lost", sender="old", when=lambda c: c.within[1].openness == "open",
         doc="A constant of an open set was removed: new receivers accept it and do not know its meaning.",
         message="The value {value} {gone}; new peers accept it but do not know its meaning.",
         advice=f"{{seems}}Keep the value {_KEEP}."),
    Rule("closed-value-removed", "value-removed", "refused", sender="old",
         when=lambda c: c.within[1].openness != "open",
         doc="A constant of a closed or tolerated set was removed: new receivers reject it.",
         message="The value {value} {gone}; new peers reject it.", advice=f"{{seems}}Keep the value {_KEEP}."),
    Rule("values-named", "values-added", "claimed", mirror="values-unnamed",
         doc="A free string or number now has known constants, and stays free.",
         message="Some values now have a defined meaning."),
    Rule("values-unnamed", "values-removed", "lost", sender="old",
         doc="An open set of constants is now a free string or number: its values are accepted and have no declared "
             "meaning.",
         message="Its values are still accepted but no longer have a defined meaning.",
         advice=f"Keep the constants {_KEEP}."),
    Rule("variant-added", "variant-added", "claimed",
         when=lambda c: c.within[0].openness != "closed" and c.one.tag != c.within[0].default_tag, gate=_get_capability,
         mirror="variant-removed",
         doc="An open or tolerated union has a new variant. Old receivers keep variants that they do not know. So it "
             "is where the branch without a tag knows values of the tag and takes others: an open enumeration has "
             "become the tag of variants.",
         message="The variant {value} was added{kept}."),
    Rule("closed-variant-added", "variant-added", "unknown", sender="new",
         when=lambda c: c.within[0].openness == "closed" and c.within[0].default is None, gate=_get_capability, ungated="",
         mirror="closed-variant-removed",
         doc="A closed union has a new variant; a strict old receiver rejects it.",
         message="The variant {value} was added to a closed union; old peers reject unknown variants.", advice=_advise_gate),
    Rule("variant-beside-default-added", "variant-added", "otherwise", sender="new", or_lost=True,
         when=_is_beside_default, gate=_get_capability, ungated="", unmirrored="variant-removed judges the removal",
         doc="A tagged variant was added next to a branch without a tag: old receivers decode it as that branch, or "
             "reject it.",
         message="The variant {value} was added; old peers decode it as {within[0].default} or reject it.",
         advice=_advise_gate),
    Rule("variant-removed", "variant-removed", "lost", sender="old", or_lost=True,
         when=lambda c: c.within[1].openness == "open" or c.within[1].default is not None,
         doc="A variant was removed and new receivers do not reject it: they keep it as unknown, or decode it as the "
             "branch without a tag.",
         message="The variant {value} was removed; new peers do not know its meaning.",
         advice=f"{{seems}}Keep the variant {_KEEP}."),
    Rule("closed-variant-removed", "variant-removed", "refused", sender="old",
         when=lambda c: c.within[1].openness != "open" and c.within[1].default is None,
         doc="A variant of a closed or tolerated union was removed: new receivers reject it.",
         message="The variant {value} was removed; new peers reject it.", advice=f"{{seems}}Keep the variant {_KEEP}."),
    Rule("variant-renamed", "variant-changed", "lost", sender="old", or_lost=True,
         unmirrored="a rename back is a rename",
         doc="A variant has another tag, as `x-was` declares. Each revision knows only its own tag. The contents are "
             "compared under the new tag.",
         message="The variant {old.tag!r} was renamed to {new.tag!r}; peers of one revision do not know the tag of "
                 "the other.", advice=f"Keep {{old.tag!r}} beside {{new.tag!r}} {_KEEP}, and read either."),
    Rule("untagged-variant-added", "untagged-added", lambda c: "otherwise" if _stays_open(c) else "unknown",
         sender="new", mirror="untagged-variant-removed",
         doc="A branch without a tag was added. Old receivers reject values without a known tag, and new ones may "
             "decode such values as this branch.",
         message="The branch {one}, which has no discriminator value, was added.",
         advice="Give the branch a discriminator value of its own."),
    Rule("untagged-variant-removed", "untagged-removed", "refused", sender="old",
         doc="The branch without a tag was removed: values without a known tag are now rejected.",
         message="The branch {one}, which has no discriminator value, was removed.",
         advice=f"Keep the branch {_KEEP}."),
    Rule("unknown-refused", "unknown", "refused", sender="old", when=lambda c: c.old == "open" and not _has_default(c),
         mirror="unknown-accepted",
         doc="The schema accepted unknown tags or constants, and now rejects them, extensions included.",
         message="Unknown {sort} are now rejected, extensions included.",
         advice="Keep it open: receivers must keep extensions, whose names begin with an underscore."),
    Rule("unknown-refused", "unknown", "otherwise", sender="old", when=lambda c: c.old == "open" and _has_default(c),
         message="Unknown {sort} are now decoded as the branch without a discriminator value, extensions included.",
         advice="Keep it open: receivers must keep extensions, whose names begin with an underscore."),
    Rule("unknown-accepted", "unknown", lambda c: "unknown" if c.old == "closed" and not _has_default(c) else "claimed",
         sender="new", when=lambda c: c.new == "open",
         doc="The schema now accepts unknown tags or constants; a strict old receiver rejects them.",
         message="Unknown {sort} are now accepted{kept}.", advice="Send extensions only to peers of the new version."),
    Rule("tolerance-added", "unknown", "added", when=lambda c: (c.old, c.new) == ("closed", "tolerated"),
         mirror="tolerance-withdrawn",
         doc="Receivers now keep tags or constants that they do not know (`x-unknown: keep`). What is valid stays the "
             "same.",
         message="Receivers now keep unknown {sort} (previously they rejected them)."),
    Rule("tolerance-withdrawn", "unknown", "otherwise", when=lambda c: (c.old, c.new) == ("tolerated", "closed"),
         doc="Receivers kept unknown tags or constants (`x-unknown: keep`), and now reject them.",
         message="Receivers now reject unknown {sort} (previously they kept them).",
         advice="Keep 'x-unknown: keep': newer peers may send what this version does not know."),
    Rule("tag-renamed", "tag", lambda c: "lost" if c.new.openness == "open" else "refused", sender="old",
         unmirrored="a rename back is a rename",
         doc="The discriminator is now another member: neither revision recognises the other's variants.",
         message="The discriminator is now {new.tag!r} (previously {old.tag!r}).",
         advice="Keep sending the old discriminator together with the new one."),
    Rule("alternative-added", "alternative-added", "unknown", sender="new", or_lost=True, mirror="alternative-removed",
         doc="One more shape is accepted; old receivers reject it, or decode it as one that they know.",
         message="The alternative {alternative} was added; no capability can gate it, since it has no discriminator "
                 "value.", advice="Add a discriminator, or put the new alternative into a field of its own."),
    Rule("alternative-removed", "alternative-removed", "refused", sender="old", or_lost=True,
         doc="One of several shapes was removed: it is now rejected, or decoded as another.",
         message="The alternative {alternative} was removed.", advice=f"Keep the alternative {_KEEP}."),
    # what could not be compared, definitions and files
    Rule("inclusion-undecided", "undecided", "undetermined", unmirrored="it judges both directions",
         doc="Something differs, and it could not be proven whether the difference breaks a peer. It is never treated "
             "as safe.",
         message="Changed, and the effect could not be decided: {detail}.", advice=_REVIEW),
    Rule("not-compared", "not-compared", "undetermined", unmirrored="it judges both directions",
         doc="Something differs that was not compared, because it is not understood or its place is not read. It is "
             "never treated as safe.",
         message="Changed, and not compared: {detail}.", advice=_REVIEW),
    Rule("definition-added", "definition-added", "added", mirror="definition-removed",
         doc="A definition was added that no message reaches: a separate document, or a definition that is not used "
             "yet.",
         message="The definition {one!r} was added; no message uses it."),
    Rule("definition-removed", "definition-removed", "undetermined",
         doc="A definition was removed that no message reached: whether anyone reads or writes documents of that kind "
             "is unknown.",
         message="The definition {one!r} was removed; no message used it, so who depends on it is unknown.",
         advice="Keep it, declare its replacement with 'x-was', or waive the finding if nobody depends on it."),
    Rule("definition-renamed", "definition-changed", "renamed", unmirrored="a rename back is a rename",
         doc="A definition has another name. No message shows it; generated code has another class, unless `x-was` "
             "declares the old name.",
         message="The definition {old!r} was renamed to {new!r}.{generated}",
         advice=lambda c: NO_ACTION if c.declared else _DECLARE),
    Rule("text-reworded", "text", unmirrored="it judges both directions",
         doc="A description has changed.",
         message="The description of {name} changed."),
    Rule("schema-restructured", "structure", unmirrored="it judges both directions",
         doc="The files differ in something that nothing a peer sends can notice: titles, examples, order, where a "
             "definition lives. A definition that is written differently and accepts the same is named. Generated "
             "code may differ all the same. Without `--unstable`, what is marked `x-unstable` and differs is named "
             "too: it is promised to nobody.",
         message=_describe_structure,
         advice=lambda c: "Add '--unstable' to compare them." if c.detail == "unstable" else NO_ACTION),
    # what comes from no change: schemas that are compared as such, keywords without effect, the policy and waivers
    Rule("language-narrowed", mirror="language-widened",
         doc="Something that is valid under the old schema is not valid under the new one."),
    Rule("language-widened",
         doc="Something that is valid under the new schema is not valid under the old one."),
    Rule("language-undecided", unmirrored="it judges both directions",
         doc="Whether everything valid under one schema is valid under the other was neither proven nor refuted. It "
             "is never treated as safe."),
    Rule("keyword-ignored", unmirrored="it judges both directions",
         doc="A keyword that has no effect where it stands has changed: it is misspelt, `$ref` hides it, or the draft "
             "that the file names does not know it. No message is accepted or refused because of it, so that no "
             "finding is about it. It is a note and counts for nothing."),
    Rule("policy-applied", unmirrored="a policy that changes nothing needs no note",
         doc="The project's policy, `[tool.acpgen.compat]`, gives findings another severity than the check does. What "
             "it lowers stays in the report with the severity that the check found."),
    Rule("policy-unused", unmirrored="an entry that is used needs no note",
         doc="Entries of the project's policy are about no finding of this comparison: nothing there has changed, or "
             "what they name is written otherwise. It is a note and counts for nothing."),
    Rule("waiver-expired", unmirrored="a waiver that has not expired needs no note",
         doc="A waiver is past its date, or its release or a later one is kept in `schema/releases`, or none is kept, "
             "so that nobody knows. What it accepted counts again, unless another one accepts it; the waiver itself "
             "is a note."),
    Rule("waiver-unused", unmirrored="a waiver that is used needs no note",
         doc="A waiver matches no finding: what it accepted has been merged, is gone, or has changed. It is a note "
             "and counts for nothing. A waiver holds for every comparison until its end, so that a comparison with "
             "the last release still finds it."),
)
# fmt: on
"""All rules, by subject."""

_BY_KIND: Final[Mapping[str, tuple[Rule, ...]]] = {
    kind: tuple(row for row in RULES if row.on == kind or row.on.rpartition("-")[0] == kind)
    for kind in dict.fromkeys(kind for row in RULES for kind in (row.on, row.on.rpartition("-")[0]))
}
