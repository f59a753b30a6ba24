"""The rules of the check as one table: which change, when, what it does to whom, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from acpgen import ir
from acpgen.compat.changes import OTHER, Change
from acpgen.compat.diff.shapes import Constants, kind_of
from acpgen.compat.findings import NO_ACTION, Effect, Revision, Severity
from acpgen.compat.protocol.declared import META
from acpgen.schema.numbers import dumps

VERSION: Final = 2
"""Raise it with each change, of rules or of the check around them, after which releases that are kept get other findings. The next
`acpgen generate` then makes the verdicts beside them anew (`releases/*/verdicts.json`). An exhaustive test fails until it is raised.
"""

Weight: TypeAlias = Literal[
    "refused", "unknown", "taken", "otherwise", "lost", "claimed", "added", "renamed", "reworded", "undetermined"
]
"""What a change does to messages, finer than the effect that is reported:

refused: a value that one side sends is refused by the other ·
unknown: a strict receiver of a closed shape refuses a name that it does not know ·
taken: a name that peers may use for extensions as they like has one form on the other side ·
otherwise: nothing is refused, and something is read differently ·
lost: a name stops carrying its meaning ·
claimed: a name that was free has a meaning now ·
added: something new that disturbs nobody ·
renamed, reworded: no message can notice ·
undetermined: neither proven nor refuted.
"""

Gate: TypeAlias = Literal["none", "fresh", "known"]
"""fresh: behind a capability that no old peer can advertise, so no old peer is sent it. known: an old peer may advertise it."""

Flow: TypeAlias = Literal["to-handler", "to-caller", "both", "nobody"]
"""Who is sent it: the side that handles the method (params), the one that calls it (results), either, or nobody: no method leads there."""

EFFECTS: Final[Mapping[Weight, tuple[Effect, Severity, Severity]]] = {
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
"""The effect that is reported, the severity on the wire, and the severity behind a fresh gate."""


def severity_of(weight: Weight, flow: Flow, gate: Gate) -> Severity:
    """How bad a change is. Both exchanges are always asked, an old sender with a new receiver and a new sender with an old one, so the
    flow decides only who breaks; what nobody is sent breaks nobody.
    """
    _, plain, fresh = EFFECTS[weight]
    return "editorial" if flow == "nobody" else fresh if gate == "fresh" else plain


Text: TypeAlias = "str | Callable[[Any], str | None]"
"""Words about a change: a template over what the change holds and `_WORDS`, or a function that makes them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says of a change.

    A refusal names the revision that accepts (`accepted_by`), a loss the one that carries the meaning (`carried_by`); with both, a
    refusal is looked for first.
    `gate` is the capability that holds an addition back; `ungated` says what happens without one, `None` of what no capability can gate.
    `within` is the place inside the pair, `subject` what tells this finding from
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
    gate: str | None = None
    ungated: str | None = None
    between: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row. Rows of one `id` are one rule, and the first of them has its documentation, and its mirror or why it has none.

    `on` is a kind of change, or `Change.what`; empty for findings that come from no change. `when` decides among the rows of one kind:
    exactly one speaks. the other columns are as in `Judgement`.
    """

    id: str
    doc: str = ""
    mirror: str = ""
    unmirrored: str = ""
    on: str = ""
    when: Callable[[Any], bool] = lambda _: True
    effect: Weight | Callable[[Any], Weight] = "reworded"
    message: Text = ""
    advice: Text = NO_ACTION
    accepted_by: Revision | Callable[[Any], Revision | None] | None = None
    carried_by: Revision | Callable[[Any], Revision | None] | None = None
    gate: Callable[[Any], str | None] = lambda _: None
    ungated: Text | None = None
    between: tuple[str, ...] = ()

    def speaks_for(self, change: Change) -> bool:
        """Whether this row judges a change."""
        return self.on in (change.kind, change.what) and self.when(change)

    def judge(self, change: Change) -> Judgement:
        """What it says of a change."""

        def of(cell: Any) -> Any:
            return (
                cell(change) if callable(cell) else cell.format_map(_Words(change)) if isinstance(cell, str) else cell
            )

        return Judgement(
            weight=of(self.effect),
            message=of(self.message),
            advice=of(self.advice),
            within=of(_WITHIN.get(change.kind, "")),
            subject=of(_SUBJECT.get(change.what, _SUBJECT.get(change.kind, ""))),
            accepted_by=of(self.accepted_by),
            carried_by=of(self.carried_by),
            gate=self.gate(change),
            ungated=of(self.ungated),
            between=self.between,
        )


def judge(change: Change) -> tuple[str, Judgement]:
    """The rule that speaks for a change, and what it says."""
    rows = [row for row in _BY_KIND[change.kind] if row.speaks_for(change)]
    assert len(rows) == 1, f"{len(rows)} rules speak for {change}"
    return rows[0].id, rows[0].judge(change)


# --- words -----------------------------------------------------------------------------------------------------------

_GATE: Final = "Gate it with 'x-capability', so that it is never sent to old peers."
_KEEP: Final = "until the next major version"
_REVIEW: Final = "Review both places, and waive the finding if it is harmless."
_UNASKED: Final = "a new {sender} that talks to an old {receiver}"
_UNASKED_OF_NEW: Final = "an old {sender} that talks to a new {receiver}"
_UNSENT: Final = "an old {receiver} that receives from a new {sender}"
_UNSENT_TO_NEW: Final = "a new {receiver} that receives from an old {sender}"


class _Words(dict[str, Any]):
    """What a template may name: words about a change, and what it holds."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        self.change = change

    def __missing__(self, key: str) -> Any:
        made = _WORDS.get(key)
        return getattr(self.change, key) if made is None else made(self.change)


def _raw(change: Change) -> Any:
    """The name, tag or value of a member."""
    one = change.one
    return one.tag if isinstance(one, ir.Variant) else one.value if isinstance(one, ir.EnumValue) else one.name


def _value(value: ir.JSON) -> str:
    """A constant: text in quotes, anything else as JSON."""
    return repr(value) if isinstance(value, str) else dumps(value)


def _alternative(change: Change) -> str:
    if isinstance(change.one, ir.Array):
        inner = change.one.items
        return f"array of {inner.name}" if isinstance(inner, ir.Ref) else "array"
    return getattr(change.one, "name", None) or "object"


def _seems(change: Change) -> str:
    """An advice where a new member may be the old one."""
    seems = change.likely
    return (
        "" if seems is None else f"If {_raw(change)!r} was renamed to {seems!r}, declare it on {seems!r} with 'x-was'. "
    )


_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "value": lambda c: _value(_raw(c)),
    "exact_value": lambda c: repr(_raw(c)),
    "seems": _seems,
    "by_keyword": lambda c: "" if c.by in ("", "properties") else f" of {c.by!r}",
    "freely": lambda c: "any object" if c.one.name == META else "anything",
    "members": lambda c: (
        f"Members whose names match {' or '.join(map(repr, c.one))}" if c.one else "Undeclared members"
    ),
    "gone": lambda c: "was removed" if c.declared is None else f"was renamed to {c.declared!r}",
    "formerly": lambda c: "" if c.declared is None else f" (renamed from {c.declared!r})",
    "kept": lambda c: _KEPT if c.within[0].openness == "tolerated" else "",
    "sort": lambda c: "values" if isinstance(c.within[1], Constants) else "variants",
    "alternative": _alternative,
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


def _leniency(change: Change) -> str:
    """What a change of leniency means for a field: `'limit' is now decoded strictly; previously an invalid value was …`."""
    subject = _INVALID[change.detail]
    if change.detail == "skip_invalid_items":
        instead = "skipped"
    else:
        instead = f"read {change.one}" if change.one else "declared as lenient, but without a value to fall back to"
    if change.new is None:
        return f"{change.name!r} is now decoded strictly; previously {subject} {instead}."
    now = subject.replace(" was", " is").replace(" were", " are")
    return f"{change.name!r} is now decoded leniently: {now} {instead}; previously {subject} an error."


def _default(default: ir.Default | None) -> str:
    return "unspecified" if default is None else dumps(default.value, ensure_ascii=False)


def _undeclared(change: Change) -> str:
    """What is now rejected or accepted for members that nobody declares."""
    now = "rejected" if change.new is None else "accepted"
    if not change.one:
        return (
            f"Whether more values with undeclared members are now {now} could not be decided; peers do not send these."
        )
    such = dumps(change.one[0], ensure_ascii=False)
    return f"Some values with undeclared members are now {now}, such as {such}; peers do not send these."


def _limit(change: Any) -> str:
    """`Must contain at least 1 item (previously any number)`."""
    rejects, accepts = "rejects values that were accepted", "accepts values that were rejected"
    both = len(change.directions) > 1
    if change.keyword == OTHER:
        said = f"{rejects}, and {accepts}" if both else rejects if change.admitted_by == "old" else accepts
        return f"The new schema {said} before; the witness contains one."
    verb = "contain" if change.keyword in ("minItems", "maxItems", "uniqueItems") else "be"
    must = "Must" if change.admitted_by == "old" else "May now"
    more = "; each revision rejects values of the other" if both else ""
    return f"{must} {verb} {change.new} (previously {change.old}){more}."


def _kinds(alternatives: Any) -> str:
    """The JSON kinds of alternatives; `None` stands for every kind."""
    return "None" if ir.Anything() in alternatives else ", ".join(map(kind_of, alternatives))


def _positions(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names))


def _is_moved(change: Change) -> bool:
    """Whether a param that both revisions have stands at another position."""
    others = [(one, other) for one, other in zip(change.old, change.new, strict=False) if one != other]
    return any(one in change.new or other in change.old for one, other in others)


_MANY: Final = 6
"""As many names are told one by one."""

_NO_MESSAGE: Final = "The definition {name!r} is written differently, in a way that no message can show"
_STRUCTURE: Final = {
    "": f"{_NO_MESSAGE}.",
    "told": f"{_NO_MESSAGE} except for what other findings report.",
    "framed": f"{_NO_MESSAGE}, unless it is not a message of this protocol.",
    "copied": "Only one revision defines {name!r}. No message refers to it, and a variant in messages has the same meaning.",
    "carried": "{name!r} frames messages and {written}; the messages themselves are compared method by method.",
    "content": "{name!r} describes the content of its texts differently ('contentMediaType', 'contentSchema'). "
    "No value is rejected; a peer that reads the content reads it differently.",
    "unstable": "Definitions and fields marked 'x-unstable' differ and were not compared: {listed}.",
}


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _MANY
    return ", ".join(map(repr, names[:_MANY])) + (f" and {more} more" if more > 0 else "")


def _structure(change: Change) -> str:
    listed = _listed(change.new or ())
    written = "is written differently" if change.old_at and change.new_at else "is only in one revision"
    if change.detail or change.name:
        return _STRUCTURE[change.detail].format(name=change.name, written=written, listed=listed)
    if change.new:
        return f"Generated code differs in {', '.join(map(repr, change.new))}, in a way that no message can show."
    return "The files differ only in ways that no message can show."


_WITHIN: Final[Mapping[str, Text]] = {
    "field": lambda c: "*" if c.pattern else c.one.name,
    "required": "{one.name}",
    **dict.fromkeys(("default", "null-meaning", "leniency", "gate", "demand", "null", "structure"), "{name}"),
    "variant": "({one.tag})",
    "untagged": "({one})",
}
"""The place of a change in its pair, by kind."""

_SUBJECT: Final[Mapping[str, Text | None]] = {
    "positions": lambda c: f"{_positions(c.old)} to {_positions(c.new)}",
    "field": "{pattern}",
    "field-changed": "{old.name}",
    "default": lambda c: "" if c.detail == "grown" else f"{_default(c.old)} {_default(c.new)}",
    "null-meaning-changed": "",
    **dict.fromkeys(("null-meaning", "demand"), "{new}"),
    "leniency": "{detail} {one}",
    "gate-added": "{detail} {new}",
    "gate-removed": "{detail} {old}",
    "gate-changed": "{detail} {old} {new}",
    "null": "null",
    "type": lambda c: " to ".join(_kinds(each) for each in (c.old, c.new) if each is not None),
    "limit": lambda c: None if c.keyword == OTHER else f"{c.keyword} {c.old} {c.new}",
    **dict.fromkeys(("format", "definition-changed"), "{old} {new}"),
    "value": "{exact_value}",
    "variant-changed": "{old.tag!r}",
    "tag": "{old.tag} {new.tag}",
    "alternative": lambda c: _alternative(c) if getattr(getattr(c.one, "items", c.one), "name", "") else None,
    **dict.fromkeys(("undecided", "not-compared"), None),
    "text": "{name}",
    "structure": lambda c: " ".join((c.name, *(c.new or ()))).strip(),
}
"""What tells a change from others of its rule at its place, by kind or `Change.what`; `None` where only the two texts do."""


# --- conditions ------------------------------------------------------------------------------------------------------


def _shut(objects: Any) -> bool:
    """Whether an object refuses members that it does not declare."""
    return isinstance(objects.extra, ir.Nothing)


def _is_plain(change: Any) -> bool:
    """Whether a field may be left out and old receivers take its name for nothing."""
    return not change.one.required and not _shut(change.within[0]) and not change.is_extension


def _is_removed(change: Any) -> bool:
    """Whether a field that is gone could be left out, and is no extension."""
    return not change.one.required and not change.one.name.startswith("_")


def _is_undeclared(change: Any) -> bool:
    return not change.one.required and change.one.name.startswith("_")


def _has_default(change: Change) -> bool:
    """Whether a branch takes the tags that are not known where they are not kept."""
    return getattr(change.within[1 if change.old == "open" else 0], "default", None) is not None


def _stays_open(change: Any) -> bool:
    """Whether an untagged branch that is new takes what was kept as unknown."""
    return bool(change.within[0].openness == "open")


def _capability(change: Change) -> str | None:
    capability: str | None = change.one.capability
    return capability


# --- the table -------------------------------------------------------------------------------------------------------

RULES: Final[tuple[Rule, ...]] = (
    # methods
    Rule(
        id="method-added",
        doc="A method is new. A peer that does not know it answers a request with -32601 and ignores a notification, so nothing breaks.",
        mirror="method-removed",
        on="method-added",
        effect="added",
        message="The {one.kind} {one.name!r} was added.",
        advice=lambda c: (
            NO_ACTION
            if c.one.capability
            else "Gate it with 'x-capability', so that callers know whether the peer supports it."
        ),
        gate=_capability,
        ungated="{as_before}",
    ),
    Rule(
        id="method-removed",
        doc="A method was removed: it can no longer be called.",
        on="method-removed",
        effect="lost",
        message="The {old.kind} {old.name!r} was removed; {as_now}.",
        advice=f"Keep the method {_KEEP}, or declare its replacement with 'x-was'.",
        carried_by="old",
    ),
    Rule(
        id="method-renamed",
        doc="A method has a new name (`x-was`): neither revision understands the other's name for it.",
        unmirrored="a rename back is a rename",
        on="method-changed",
        effect="lost",
        message="The {old.kind} {old.name!r} was renamed to {new.name!r}.",
        advice="Handle both names, and send the new name only to peers of the new version.",
        carried_by="old",
    ),
    Rule(
        id="method-kind-changed",
        doc="A request became a notification or the reverse: one side waits for a response that is never sent, or receives one that "
        "it did not request.",
        unmirrored="a change of kind is its own mirror",
        on="method-kind",
        effect="lost",
        message="The {old.kind} {old.name!r} became a {new.kind}.",
        advice="Keep the method as it was, and add the new kind under another method name.",
        carried_by="old",
    ),
    Rule(
        id="position-changed",
        doc="A param that is sent by position has another position, or its position has another param, and a message that both "
        "revisions accept says something else. Peers that send params by name do not notice.",
        unmirrored="a change back is a change",
        on="positions",
        effect=lambda c: "lost" if _is_moved(c) else "otherwise",
        message=lambda c: (
            f"The positions of the params are now {_positions(c.new)} (previously {_positions(c.old)}); peers of one revision "
            "read the values of the other as other params."
        ),
        advice="Keep the order, and add new optional params at the end.",
        between=(_UNASKED_OF_NEW, _UNASKED),
    ),
    Rule(
        id="null-result-allowed",
        doc="A result of null now stands for the empty result (`x-null: omitted`).",
        mirror="null-result-withdrawn",
        on="null-result-added",
        effect="added",
        message="A null result is now read as an empty result.",
        advice="Keep sending an object: old peers reject null.",
    ),
    Rule(
        id="null-result-withdrawn",
        doc="A null result no longer means the empty result: it is now an error.",
        on="null-result-removed",
        effect="otherwise",
        message="A null result is now rejected; previously it was read as an empty result.",
        advice="Keep 'x-null: omitted' while old peers may send null.",
    ),
    Rule(
        id="batch-allowed",
        doc="A message may now be an array of messages, or a request may be part of one; an old peer rejects that.",
        mirror="batch-withdrawn",
        on="batch-added",
        when=lambda c: not c.name,
        effect="unknown",
        message="A message may now be a batch (an array of messages); old peers reject batches.",
        advice="Send batches only to peers that have negotiated the new version.",
        accepted_by="new",
    ),
    Rule(
        id="batch-allowed",
        on="batch-added",
        when=lambda c: bool(c.name),
        effect="unknown",
        message="{name!r} may now be part of a batch; old peers need not accept that.",
        advice="Send it in batches only to peers that have negotiated the new version.",
    ),
    Rule(
        id="batch-withdrawn",
        doc="A message may no longer be an array of messages, or a request may no longer be part of one (`x-batch`).",
        on="batch-removed",
        when=lambda c: not c.name,
        effect="refused",
        message="Batches (arrays of messages) are now rejected.",
        advice=f"Keep accepting batches {_KEEP}.",
        accepted_by="old",
    ),
    Rule(
        id="batch-withdrawn",
        on="batch-removed",
        when=lambda c: bool(c.name),
        effect="otherwise",
        message="{name!r} may no longer be part of a batch; old peers may still send it in one.",
        advice=f"Keep accepting it in batches {_KEEP}.",
    ),
    # fields
    Rule(
        id="field-added",
        doc="An optional field is new in an object that accepts undeclared members. Old receivers ignore it. The name, which was "
        "free, is claimed: as languages the new schema is narrower, between peers nothing breaks, since a sender sends what its "
        "schema declares.",
        mirror="field-removed",
        on="field-added",
        when=lambda c: _is_plain(c) and not c.pattern,
        effect="claimed",
        message="The optional field {one.name!r}{by_keyword} was added.",
        gate=_capability,
    ),
    Rule(
        id="field-added",
        on="field-added",
        when=lambda c: _is_plain(c) and bool(c.pattern),
        effect="claimed",
        message="Fields whose names match {pattern!r} were added.",
    ),
    Rule(
        id="extension-declared",
        doc="A name that begins with an underscore has a form now, or a name in what was a map of any values. Such names are free, so "
        "old peers may send anything under this one. Only `_meta` has a form of its own: an object. Where the new form accepts "
        "all of that, it is `field-added`.",
        mirror="extension-undeclared",
        on="field-added",
        when=lambda c: c.is_extension and c.one.name.startswith("_"),
        effect="taken",
        message="The extension field {one.name!r} was added with its own type; old peers may send {freely} under that name.",
        advice="Accept any value there, or take a name without an underscore.",
        accepted_by="old",
    ),
    Rule(
        id="extension-declared",
        on="field-added",
        when=lambda c: c.is_extension and not c.one.name.startswith("_"),
        effect="taken",
        message="The field {one.name!r} was added with a form of its own to what was a map of any values; old peers may send "
        "anything under that name.",
        advice="Accept any value there, or put the field into its own object.",
        accepted_by="old",
    ),
    Rule(
        id="closed-field-added",
        doc="An optional field was added to an object that rejects undeclared members, so a strict old receiver rejects it.",
        unmirrored="field-removed judges the removal, from closed objects too",
        on="field-added",
        when=lambda c: not c.one.required and _shut(c.within[0]),
        effect="unknown",
        message="The optional field {one.name!r} was added to a closed object; old peers reject unknown members.",
        advice=_GATE,
        accepted_by="new",
        gate=_capability,
        ungated="",
    ),
    Rule(
        id="required-field-added",
        doc="A required field was added: messages of old senders lack it.",
        mirror="required-field-removed",
        on="field-added",
        when=lambda c: c.one.required,
        effect="refused",
        message="The required field {one.name!r} was added; old peers do not send it.",
        advice="Make it optional, and define what its absence means.",
        accepted_by="old",
    ),
    Rule(
        id="field-removed",
        doc="An optional field was removed. New receivers accept messages with it but ignore its value. Names that begin with an "
        "underscore are extensions and stay allowed everywhere: see `extension-undeclared`.",
        on="field-removed",
        when=lambda c: _is_removed(c) and not c.by and not _shut(c.within[1]),
        effect="lost",
        message="The field {one.name!r} was removed; new peers ignore it.",
        advice=f"{{seems}}Keep it as optional {_KEEP}, and document its replacement.",
        carried_by="old",
    ),
    Rule(
        id="field-removed",
        on="field-removed",
        when=lambda c: _is_removed(c) and not c.by and _shut(c.within[1]),
        effect="refused",
        message="The field {one.name!r} was removed; new peers reject it.",
        advice=f"{{seems}}Keep it as optional {_KEEP}, and document its replacement.",
        accepted_by="old",
    ),
    Rule(
        id="field-removed",
        on="field-removed",
        when=lambda c: _is_removed(c) and bool(c.by) and not c.pattern,
        effect="lost",
        message="The field {one.name!r}{by_keyword} was removed; new peers ignore it.",
        advice=f"Keep it {_KEEP}, and document its replacement.",
        carried_by="old",
    ),
    Rule(
        id="field-removed",
        on="field-removed",
        when=lambda c: _is_removed(c) and bool(c.pattern),
        effect="lost",
        message="Fields whose names match {pattern!r} were removed; new peers ignore them, such as {one.name!r}.",
        advice=f"Keep the pattern {_KEEP}, and document its replacement.",
        carried_by="old",
    ),
    Rule(
        id="required-field-removed",
        doc="A required field was removed: new senders omit it, and old receivers reject that.",
        on="field-removed",
        when=lambda c: c.one.required,
        effect="refused",
        message="The required field {one.name!r} was removed; old peers reject messages without it.",
        advice=f"{{seems}}Keep sending it {_KEEP}.",
        accepted_by="new",
    ),
    Rule(
        id="field-renamed",
        doc="A field has another name, as `x-was` declares. Peers of one revision ignore the other's name for it, and reject a "
        "message without their own name for a required field. The contents are compared under the new name.",
        unmirrored="a rename back is a rename",
        on="field-changed",
        effect="lost",
        message="The field {old.name!r} was renamed to {new.name!r}; peers of one revision ignore the name of the other.",
        advice=f"Keep {{old.name!r}} beside {{new.name!r}} {_KEEP}, and read either.",
        accepted_by="old",
        carried_by="old",
    ),
    Rule(
        id="extension-undeclared",
        doc="A name that begins with an underscore, such as `_meta`, is no longer declared. Peers may send it all the same, since "
        "such names are reserved for extensions; its form is not checked any more. Where new peers may send what old ones refuse, "
        "that is risky.",
        on="field-removed",
        when=lambda c: _is_undeclared(c) and c.is_extension,
        effect="taken",
        message="The extension field {one.name!r} is no longer declared; new peers may send {freely} under that name.",
        advice=f"Declare it {_KEEP}.",
        accepted_by="new",
    ),
    Rule(
        id="extension-undeclared",
        on="field-removed",
        when=lambda c: _is_undeclared(c) and _shut(c.within[1]),
        effect="refused",
        message="The extension field {one.name!r} is no longer declared; new peers reject it.",
        advice="Declare it again.",
        accepted_by="old",
    ),
    Rule(
        id="extension-undeclared",
        on="field-removed",
        when=lambda c: _is_undeclared(c) and not c.is_extension and not _shut(c.within[1]),
        effect="added",
        message="The extension field {one.name!r} is no longer declared; its value is not checked.",
        advice="Declare it if generated code should offer it.",
    ),
    Rule(
        id="field-became-required",
        doc="A field is now required: old senders may omit it.",
        mirror="field-became-optional",
        on="required-added",
        effect="refused",
        message="The field {one.name!r} is now required; old peers may omit it.",
        advice="Keep it optional, and define what its absence means.",
        accepted_by="old",
    ),
    Rule(
        id="field-became-optional",
        doc="A field may now be omitted: new receivers accept that, old ones reject it.",
        on="required-removed",
        effect="refused",
        message="The field {one.name!r} is now optional; old peers reject messages without it.",
        advice="Keep it required, or send messages without it only to peers of the new version.",
        accepted_by="new",
    ),
    Rule(
        id="object-closed",
        doc="Undeclared members are now rejected, extensions included.",
        mirror="object-opened",
        on="openness-removed",
        when=lambda c: not c.one,
        effect="refused",
        message="Undeclared members are now rejected, extensions included.",
        advice="Keep the object open: receivers must ignore extensions, whose names begin with an underscore.",
        accepted_by="old",
    ),
    Rule(
        id="object-closed",
        on="openness-removed",
        when=lambda c: bool(c.one),
        effect="refused",
        message="{members} are now rejected.",
        advice=f"Keep the pattern {_KEEP}.",
        accepted_by="old",
    ),
    Rule(
        id="object-opened",
        doc="Undeclared members are now accepted; old receivers reject them.",
        on="openness-added",
        effect="unknown",
        message="{members} are now accepted; old peers reject them.",
        advice=lambda c: f"Send {'them' if c.one else 'extensions'} only to peers of the new version.",
        accepted_by="new",
    ),
    Rule(
        id="undeclared-narrowed",
        doc="Values are refused now for members that no schema declares, such as by `dependentRequired`. A sender sends what its "
        "schema declares, so old and new peers understand each other; whoever sends more, or checks stored documents, meets the "
        "difference.",
        mirror="undeclared-widened",
        on="undeclared-removed",
        effect="claimed",
        message=_undeclared,
        advice="Declare the members that the new constraint applies to.",
    ),
    Rule(
        id="undeclared-widened",
        doc="Values are accepted now that were refused for members which no schema declares. A sender sends what its schema declares, "
        "so old and new peers understand each other.",
        on="undeclared-added",
        effect="added",
        message=_undeclared,
        advice="Declare these members before any peer sends them.",
    ),
    # what a field means beside its type
    Rule(
        id="default-changed",
        doc="The meaning of an omitted field has changed: two peers read the same message differently. A required field is never "
        "omitted, and lenient decoding never replaces an invalid value by its default, so a change of its default is editorial.",
        unmirrored="a change back is a change",
        on="default",
        when=lambda c: c.detail != "grown",
        effect="otherwise",
        message=lambda c: f"The default of {c.name!r} is now {_default(c.new)} (previously {_default(c.old)}).",
        advice="Keep the default, or always send the value.",
        carried_by="old",
    ),
    Rule(
        id="default-grown",
        doc="A default now includes the defaults of fields that were added to its object. Its meaning is unchanged.",
        unmirrored="a default that shrinks is default-changed",
        on="default",
        when=lambda c: c.detail == "grown",
        message="The default of {name!r} now includes the defaults of added fields.",
    ),
    Rule(
        id="null-meaning-changed",
        doc="Null cleared the value and now means the same as omission, or the reverse (`x-null`).",
        unmirrored="a change back is a change",
        on="null-meaning-changed",
        effect="otherwise",
        message=lambda c: f"Null in {c.name!r} now {_NULL[c.new]} (previously it {_NULL_BEFORE[c.old]}).",
        advice="Use another field or value for the new meaning of null.",
        carried_by="old",
    ),
    Rule(
        id="null-meaning-declared",
        doc="The meaning of null is now declared (`x-null`), or no longer declared. What is accepted stays the same.",
        unmirrored="it judges both directions",
        on="null-meaning",
        when=lambda c: None in (c.old, c.new),
        message=lambda c: f"The meaning of null in {c.name!r} is {'no longer' if c.new is None else 'now'} declared.",
    ),
    Rule(
        id="leniency-added",
        doc="Receivers decode this field more leniently (`x-deserialize-…`). What is valid stays the same.",
        mirror="leniency-withdrawn",
        on="leniency-added",
        effect="added",
        message=_leniency,
    ),
    Rule(
        id="leniency-withdrawn",
        doc="Receivers decode this field more strictly (`x-deserialize-…`). What is valid stays the same, so a peer that keeps to the "
        "schema is not affected.",
        on="leniency-removed",
        effect="otherwise",
        message=_leniency,
        advice="Document it in the release notes: peers that send invalid values now get errors.",
    ),
    Rule(
        id="gate-added",
        doc="Something that was sent to every peer is now sent only to peers that advertise a capability. Old peers do not advertise "
        "it and no longer receive it; new peers that do not advertise it still receive it from old ones.",
        mirror="gate-removed",
        on="gate-added",
        effect="otherwise",
        message="The {detail} is now sent only to peers that advertise {new}; previously it was sent to every peer.",
        advice="Treat a peer that does not advertise the capability as before.",
        between=(_UNSENT, _UNASKED_OF_NEW),
    ),
    Rule(
        id="gate-removed",
        doc="Something is now sent without checking a capability first. Old peers that do not advertise the capability do not expect "
        "it, and old senders still require new peers to advertise it.",
        on="gate-removed",
        effect="otherwise",
        message="The {detail} is now sent to every peer; previously only to peers that advertise {old}.",
        advice="Keep the gate: peers without the capability do not expect it.",
        between=(_UNASKED, _UNSENT_TO_NEW),
    ),
    Rule(
        id="gate-moved",
        doc="Another capability gates something: a peer that advertises only the capability of its own revision does not receive it "
        "from the other revision.",
        unmirrored="a move back is a move",
        on="gate-changed",
        effect="otherwise",
        message="The {detail} is now gated by {new} (previously by {old}).",
        advice=f"Accept either capability {_KEEP}.",
        between=(_UNSENT, _UNSENT_TO_NEW),
    ),
    Rule(
        id="demand-changed",
        doc="The capability that requires a peer to send a field (`x-required-with`) has changed: some peers rely on a field that "
        "others do not send. The schema still accepts messages without it.",
        unmirrored="it judges both directions",
        on="demand",
        when=lambda c: c.new is not None,
        effect="otherwise",
        message="The field {name!r} must now be sent by peers that advertise {new}.",
        advice="Require it only together with a new capability.",
        gate=lambda c: c.new,
    ),
    Rule(
        id="demand-changed",
        on="demand-removed",
        effect="otherwise",
        message="The field {name!r} is no longer required of any peer; old peers may rely on it.",
        advice="Keep sending it to peers of the old revision.",
        between=(_UNASKED,),
    ),
    # types
    Rule(
        id="null-forbidden",
        doc="Null was accepted and is now rejected. A receiver that decodes the field leniently reads null as omission.",
        mirror="null-allowed",
        on="null-removed",
        effect=lambda c: "unknown" if c.name else "refused",
        message=lambda c: f"Null is now rejected{'; lenient receivers read it as an omitted field' if c.name else ''}.",
        advice="Keep accepting null from old peers; omit the field instead of sending null.",
        accepted_by="old",
    ),
    Rule(
        id="null-allowed",
        doc="Null is now accepted; old receivers reject it, unless they decode the field leniently.",
        on="null-added",
        effect=lambda c: "unknown" if c.name else "refused",
        message=lambda c: (
            f"Null is now accepted; old peers reject it{' unless they decode leniently' if c.name else ''}."
        ),
        advice="Omit the field instead of sending null.",
        accepted_by="new",
    ),
    Rule(
        id="type-narrowed",
        doc="Values of a JSON type that were accepted are now rejected.",
        mirror="type-widened",
        on="type-removed",
        effect="refused",
        message="The type is now {detail}.",
        advice="Keep the old type, and add a field for the new one.",
        accepted_by="old",
    ),
    Rule(
        id="type-widened",
        doc="Values of another JSON type are now accepted; old receivers reject them.",
        on="type-added",
        effect="refused",
        message="The type is now {detail}.",
        advice="Keep the old type and add a field for the new one, or gate the new values with a capability.",
        accepted_by="new",
    ),
    Rule(
        id="type-changed",
        doc="Values of one JSON type were replaced by values of another: each revision rejects what the other sends.",
        unmirrored="a change back is a change",
        on="type-changed",
        effect="refused",
        message="The type is now {detail}.",
        advice="Keep the old type, and add a field for the new one.",
        accepted_by="old",
    ),
    Rule(
        id="limit-changed",
        doc="A length, range, pattern, set of constants or item count rejects values that it accepted, and accepts values that it "
        "rejected.",
        unmirrored="a change back is a change",
        on="limit",
        when=lambda c: len(c.directions) > 1,
        effect="refused",
        message=_limit,
        advice="Keep the old limit, and add a field for the new values.",
        accepted_by="old",
    ),
    Rule(
        id="limit-tightened",
        doc="A length, range, pattern, set of constants or number of items rejects values that it accepted.",
        mirror="limit-loosened",
        on="limit",
        when=lambda c: c.directions == ("old",),
        effect="refused",
        message=_limit,
        advice="Keep the old limit for receivers; apply the new one to senders only.",
        accepted_by="old",
    ),
    Rule(
        id="limit-loosened",
        doc="A length, range, pattern, set of constants or number of items accepts more; old receivers reject that.",
        on="limit",
        when=lambda c: c.directions == ("new",),
        effect="refused",
        message=_limit,
        advice="Keep to the old limit when sending, unless the peer is known to be new.",
        accepted_by="new",
    ),
    Rule(
        id="format-changed",
        doc="`format` or `contentEncoding` has changed. They annotate and refuse nothing, unless the project's policy asserts "
        "formats: then what texts the other revision refuses is proven. An encoding is never asserted: a peer that decodes reads "
        "the texts differently.",
        unmirrored="a change back is a change",
        on="format",
        when=lambda c: c.keyword == "format" and not c.refused and not c.detail,
        message="The format is now {now} (previously {before}).",
    ),
    Rule(
        id="format-changed",
        on="format",
        when=lambda c: c.keyword != "format",
        message="The encoding of the content is now {now} (previously {before}). "
        "No value is rejected; a peer that decodes reads the texts differently.",
    ),
    Rule(
        id="format-changed",
        on="format",
        when=lambda c: bool(c.refused),
        effect="refused",
        message="The format is now {now} (previously {before}).",
        advice=lambda c: (
            "Keep to the old format when sending, unless the peer is known to be new."
            if c.refused[0][0] == "new"
            else "Keep the old format for receivers; apply the new one to senders only."
        ),
        accepted_by=lambda c: c.refused[0][0],
    ),
    Rule(
        id="format-changed",
        on="format",
        when=lambda c: bool(c.detail) and not c.refused,
        effect="undetermined",
        message=lambda c: (
            f"The format is now {c.new or 'unspecified'} (previously {c.old or 'unspecified'}). "
            f"What it rejects could not be decided: {c.detail.rstrip('.')}."
        ),
        advice=_REVIEW,
    ),
    # constants, variants, alternatives
    Rule(
        id="value-added",
        doc="An open or tolerated set of constants has a new one. Old receivers keep unknown values.",
        mirror="value-removed",
        on="value-added",
        when=lambda c: c.within[0].openness != "closed",
        effect="claimed",
        message="The value {value} was added{formerly}{kept}.",
        gate=_capability,
    ),
    Rule(
        id="closed-value-added",
        doc="A closed set of constants has a new one; a strict old receiver rejects it.",
        mirror="closed-value-removed",
        on="value-added",
        when=lambda c: c.within[0].openness == "closed",
        effect="unknown",
        message="The value {value} was added{formerly} to a closed set; old peers reject unknown values.",
        advice=_GATE,
        accepted_by="new",
        gate=_capability,
        ungated="",
    ),
    Rule(
        id="value-removed",
        doc="A constant of an open set was removed: new receivers accept it and do not know its meaning.",
        on="value-removed",
        when=lambda c: c.within[1].openness == "open",
        effect="lost",
        message="The value {value} {gone}; new peers accept it but do not know its meaning.",
        advice=f"{{seems}}Keep the value {_KEEP}.",
        carried_by="old",
    ),
    Rule(
        id="closed-value-removed",
        doc="A constant of a closed or tolerated set was removed: new receivers reject it.",
        on="value-removed",
        when=lambda c: c.within[1].openness != "open",
        effect="refused",
        message="The value {value} {gone}; new peers reject it.",
        advice=f"{{seems}}Keep the value {_KEEP}.",
        accepted_by="old",
    ),
    Rule(
        id="values-named",
        doc="A free string or number now has known constants, and stays free.",
        mirror="values-unnamed",
        on="values-added",
        effect="claimed",
        message="Some values now have a defined meaning.",
    ),
    Rule(
        id="values-unnamed",
        doc="An open set of constants is now a free string or number: its values are accepted and have no declared meaning.",
        on="values-removed",
        effect="lost",
        message="Its values are still accepted but no longer have a defined meaning.",
        advice=f"Keep the constants {_KEEP}.",
        carried_by="old",
    ),
    Rule(
        id="variant-added",
        doc="An open or tolerated union has a new variant. Old receivers keep variants that they do not know. So it is where the "
        "branch without a tag knows values of the tag and takes others: an open enumeration has become the tag of variants.",
        mirror="variant-removed",
        on="variant-added",
        when=lambda c: c.within[0].openness != "closed" and c.one.tag != c.within[0].default_tag,
        effect="claimed",
        message="The variant {value} was added{kept}.",
        gate=_capability,
    ),
    Rule(
        id="closed-variant-added",
        doc="A closed union has a new variant; a strict old receiver rejects it.",
        mirror="closed-variant-removed",
        on="variant-added",
        when=lambda c: c.within[0].openness == "closed" and c.within[0].default is None,
        effect="unknown",
        message="The variant {value} was added to a closed union; old peers reject unknown variants.",
        advice=_GATE,
        accepted_by="new",
        gate=_capability,
        ungated="",
    ),
    Rule(
        id="variant-beside-default-added",
        doc="A tagged variant was added next to a branch without a tag: old receivers decode it as that branch, or reject it.",
        unmirrored="variant-removed judges the removal",
        on="variant-added",
        when=lambda c: (
            c.within[0].default is not None
            and (c.within[0].openness == "closed" or c.one.tag == c.within[0].default_tag)
        ),
        effect="otherwise",
        message="The variant {value} was added; old peers decode it as {within[0].default} or reject it.",
        advice=_GATE,
        accepted_by="new",
        carried_by="new",
        gate=_capability,
        ungated="",
    ),
    Rule(
        id="variant-removed",
        doc="A variant was removed and new receivers do not reject it: they keep it as unknown, or decode it as the branch without a tag.",
        on="variant-removed",
        when=lambda c: c.within[1].openness == "open" or c.within[1].default is not None,
        effect="lost",
        message="The variant {value} was removed; new peers do not know its meaning.",
        advice=f"{{seems}}Keep the variant {_KEEP}.",
        accepted_by="old",
        carried_by="old",
    ),
    Rule(
        id="closed-variant-removed",
        doc="A variant of a closed or tolerated union was removed: new receivers reject it.",
        on="variant-removed",
        when=lambda c: c.within[1].openness != "open" and c.within[1].default is None,
        effect="refused",
        message="The variant {value} was removed; new peers reject it.",
        advice=f"{{seems}}Keep the variant {_KEEP}.",
        accepted_by="old",
    ),
    Rule(
        id="variant-renamed",
        doc="A variant has another tag, as `x-was` declares. Each revision knows only its own tag. The contents are compared under "
        "the new tag.",
        unmirrored="a rename back is a rename",
        on="variant-changed",
        effect="lost",
        message="The variant {old.tag!r} was renamed to {new.tag!r}; peers of one revision do not know the tag of the other.",
        advice=f"Keep {{old.tag!r}} beside {{new.tag!r}} {_KEEP}, and read either.",
        accepted_by="old",
        carried_by="old",
    ),
    Rule(
        id="untagged-variant-added",
        doc="A branch without a tag was added. Old receivers reject values without a known tag, and new ones may decode such values "
        "as this branch.",
        mirror="untagged-variant-removed",
        on="untagged-added",
        effect=lambda c: "otherwise" if _stays_open(c) else "unknown",
        message="The branch {one}, which has no discriminator value, was added.",
        advice="Give the branch a discriminator value of its own.",
        accepted_by=lambda c: None if _stays_open(c) else "new",
        carried_by=lambda c: "new" if _stays_open(c) else None,
    ),
    Rule(
        id="untagged-variant-removed",
        doc="The branch without a tag was removed: values without a known tag are now rejected.",
        on="untagged-removed",
        effect="refused",
        message="The branch {one}, which has no discriminator value, was removed.",
        advice=f"Keep the branch {_KEEP}.",
        accepted_by="old",
    ),
    Rule(
        id="unknown-refused",
        doc="The schema accepted unknown tags or constants, and now rejects them, extensions included.",
        mirror="unknown-accepted",
        on="unknown",
        when=lambda c: c.old == "open" and not _has_default(c),
        effect="refused",
        message="Unknown {sort} are now rejected, extensions included.",
        advice="Keep it open: receivers must keep extensions, whose names begin with an underscore.",
        accepted_by="old",
    ),
    Rule(
        id="unknown-refused",
        on="unknown",
        when=lambda c: c.old == "open" and _has_default(c),
        effect="otherwise",
        message="Unknown {sort} are now decoded as the branch without a discriminator value, extensions included.",
        advice="Keep it open: receivers must keep extensions, whose names begin with an underscore.",
        carried_by="old",
    ),
    Rule(
        id="unknown-accepted",
        doc="The schema now accepts unknown tags or constants; a strict old receiver rejects them.",
        on="unknown",
        when=lambda c: c.new == "open",
        effect=lambda c: "unknown" if c.old == "closed" and not _has_default(c) else "claimed",
        message="Unknown {sort} are now accepted{kept}.",
        advice="Send extensions only to peers of the new version.",
        accepted_by=lambda c: "new" if c.old == "closed" and not _has_default(c) else None,
    ),
    Rule(
        id="tolerance-added",
        doc="Receivers now keep tags or constants that they do not know (`x-unknown: keep`). What is valid stays the same.",
        mirror="tolerance-withdrawn",
        on="unknown",
        when=lambda c: (c.old, c.new) == ("closed", "tolerated"),
        effect="added",
        message="Receivers now keep unknown {sort} (previously they rejected them).",
    ),
    Rule(
        id="tolerance-withdrawn",
        doc="Receivers kept unknown tags or constants (`x-unknown: keep`), and now reject them.",
        on="unknown",
        when=lambda c: (c.old, c.new) == ("tolerated", "closed"),
        effect="otherwise",
        message="Receivers now reject unknown {sort} (previously they kept them).",
        advice="Keep 'x-unknown: keep': newer peers may send what this version does not know.",
    ),
    Rule(
        id="tag-renamed",
        doc="The discriminator is now another member: neither revision recognises the other's variants.",
        unmirrored="a rename back is a rename",
        on="tag",
        effect=lambda c: "lost" if c.new.openness == "open" else "refused",
        message="The discriminator is now {new.tag!r} (previously {old.tag!r}).",
        advice="Keep sending the old discriminator together with the new one.",
        accepted_by=lambda c: None if c.new.openness == "open" else "old",
        carried_by=lambda c: "old" if c.new.openness == "open" else None,
    ),
    Rule(
        id="alternative-added",
        doc="One more shape is accepted; old receivers reject it, or decode it as one that they know.",
        mirror="alternative-removed",
        on="alternative-added",
        effect="unknown",
        message="The alternative {alternative} was added; no capability can gate it, since it has no discriminator value.",
        advice="Add a discriminator, or put the new alternative into a field of its own.",
        accepted_by="new",
        carried_by="new",
    ),
    Rule(
        id="alternative-removed",
        doc="One of several shapes was removed: it is now rejected, or decoded as another.",
        on="alternative-removed",
        effect="refused",
        message="The alternative {alternative} was removed.",
        advice=f"Keep the alternative {_KEEP}.",
        accepted_by="old",
        carried_by="old",
    ),
    # what could not be compared, definitions and files
    Rule(
        id="inclusion-undecided",
        doc="Something differs, and it could not be proven whether the difference breaks a peer. It is never treated as safe.",
        unmirrored="it judges both directions",
        on="undecided",
        effect="undetermined",
        message="Changed, and the effect could not be decided: {detail}.",
        advice=_REVIEW,
    ),
    Rule(
        id="not-compared",
        doc="Something differs that was not compared, because it is not understood or its place is not read. It is never treated as safe.",
        unmirrored="it judges both directions",
        on="not-compared",
        effect="undetermined",
        message="Changed, and not compared: {detail}.",
        advice=_REVIEW,
    ),
    Rule(
        id="definition-added",
        doc="A definition was added that no message reaches: a separate document, or a definition that is not used yet.",
        mirror="definition-removed",
        on="definition-added",
        effect="added",
        message="The definition {one!r} was added; no message uses it.",
    ),
    Rule(
        id="definition-removed",
        doc="A definition was removed that no message reached: whether anyone reads or writes documents of that kind is unknown.",
        on="definition-removed",
        effect="undetermined",
        message="The definition {one!r} was removed; no message used it, so who depends on it is unknown.",
        advice="Keep it, declare its replacement with 'x-was', or waive the finding if nobody depends on it.",
    ),
    Rule(
        id="definition-renamed",
        doc="A definition has another name. No message shows it; generated code has another class, unless `x-was` declares the old name.",
        unmirrored="a rename back is a rename",
        on="definition-changed",
        effect="renamed",
        message=lambda c: (
            f"The definition {c.old!r} was renamed to {c.new!r}.{'' if c.declared else ' Generated classes are renamed.'}"
        ),
        advice=lambda c: (
            NO_ACTION if c.declared else "Declare the old name with 'x-was', so that generated code can keep it."
        ),
    ),
    Rule(
        id="text-reworded",
        doc="A description has changed.",
        unmirrored="it judges both directions",
        on="text",
        message="The description of {name} changed.",
    ),
    Rule(
        id="schema-restructured",
        doc="The files differ in something that nothing a peer sends can notice: titles, examples, order, where a definition lives. A "
        "definition that is written differently and accepts the same is named. Generated code may differ all the same. Without "
        "`--unstable`, what is marked `x-unstable` and differs is named too: it is promised to nobody.",
        unmirrored="it judges both directions",
        on="structure",
        message=_structure,
        advice=lambda c: "Add '--unstable' to compare them." if c.detail == "unstable" else NO_ACTION,
    ),
    # what comes from no change: schemas that are compared as such, keywords without effect, the policy and waivers
    Rule(
        id="language-narrowed",
        doc="Something that is valid under the old schema is not valid under the new one.",
        mirror="language-widened",
    ),
    Rule(
        id="language-widened",
        doc="Something that is valid under the new schema is not valid under the old one.",
    ),
    Rule(
        id="language-undecided",
        doc="Whether everything valid under one schema is valid under the other was neither proven nor refuted. It is never treated "
        "as safe.",
        unmirrored="it judges both directions",
    ),
    Rule(
        id="keyword-ignored",
        doc="A keyword that has no effect where it stands has changed: it is misspelt, `$ref` hides it, or the draft that the file "
        "names does not know it. No message is accepted or refused because of it, so that no finding is about it. It is a note "
        "and counts for nothing.",
        unmirrored="it judges both directions",
    ),
    Rule(
        id="policy-applied",
        doc="The project's policy, `[tool.acpgen.compat]`, gives findings another severity than the check does. What it lowers stays "
        "in the report with the severity that the check found.",
        unmirrored="a policy that changes nothing needs no note",
    ),
    Rule(
        id="policy-unused",
        doc="Entries of the project's policy are about no finding of this comparison: nothing there has changed, or what they name is "
        "written otherwise. It is a note and counts for nothing.",
        unmirrored="an entry that is used needs no note",
    ),
    Rule(
        id="waiver-expired",
        doc="A waiver is past its date, or its release or a later one is kept in `schema/releases`, or none is kept, so that nobody "
        "knows. What it accepted counts again, unless another one accepts it; the waiver itself is a note.",
        unmirrored="a waiver that has not expired needs no note",
    ),
    Rule(
        id="waiver-unused",
        doc="A waiver matches no finding: what it accepted has been merged, is gone, or has changed. It is a note and counts for "
        "nothing. A waiver holds for every comparison until its end, so that a comparison with the last release still finds it.",
        unmirrored="a waiver that is used needs no note",
    ),
)
"""Every rule, by subject."""

_BY_KIND: Final[Mapping[str, tuple[Rule, ...]]] = {
    kind: tuple(row for row in RULES if row.on == kind or row.on.rpartition("-")[0] == kind)
    for kind in dict.fromkeys(kind for row in RULES for kind in (row.on, row.on.rpartition("-")[0]))
}
