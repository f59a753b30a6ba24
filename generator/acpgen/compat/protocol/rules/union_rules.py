"""The rules about sets of constants, variants and alternatives."""

from __future__ import annotations

from typing import Final

from acpgen import ir
from acpgen.compat.findings import NO_ACTION
from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.rules.judgement import GATE, Judgement, seems
from acpgen.schema.numbers import dumps

_SORTS: Final = {"union": "variants", "enum": "values"}


def value_added(fact: f.ValueAdded) -> Judgement | None:
    """An open or tolerated set of constants has a new one. Old receivers keep unknown values."""
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
    """A closed set of constants has a new one; a strict old receiver rejects it."""
    if fact.old.openness != "closed":
        return None
    value = fact.value.value
    return Judgement(
        "unknown",
        f"The value {_value(value)} was added{_formerly(fact.was)} to a closed set; old peers reject unknown values.",
        GATE,
        accepted_by="new",
        subject=repr(value),
        gate=fact.value.capability,
        ungated="",
    )


def value_removed(fact: f.ValueRemoved) -> Judgement | None:
    """A constant of an open set was removed: new receivers accept it and do not know its meaning."""
    if fact.new.openness != "open":
        return None
    value = fact.value.value
    return Judgement(
        "lost",
        f"The value {_value(value)} {_gone(fact.heir)}; new peers accept it but do not know its meaning.",
        f"{seems(value, fact.seems)}Keep the value until the next major version.",
        carried_by="old",
        subject=repr(value),
    )


def closed_value_removed(fact: f.ValueRemoved) -> Judgement | None:
    """A constant of a closed or tolerated set was removed: new receivers reject it."""
    if fact.new.openness == "open":
        return None
    value = fact.value.value
    return Judgement(
        "refused",
        f"The value {_value(value)} {_gone(fact.heir)}; new peers reject it.",
        f"{seems(value, fact.seems)}Keep the value until the next major version.",
        accepted_by="old",
        subject=repr(value),
    )


def values_named(_: f.ValuesNamed) -> Judgement:
    """A free string or number now has known constants, and stays free."""
    return Judgement("claimed", "Some values now have a defined meaning.", NO_ACTION)


def values_unnamed(_: f.ValuesUnnamed) -> Judgement:
    """An open set of constants is now a free string or number: its values are accepted and have no declared meaning."""
    return Judgement(
        "lost",
        "Its values are still accepted but no longer have a defined meaning.",
        "Keep the constants until the next major version.",
        carried_by="old",
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
    """A closed union has a new variant; a strict old receiver rejects it."""
    if fact.old.openness != "closed" or fact.old.default is not None:
        return None
    tag = fact.variant.tag
    return Judgement(
        "unknown",
        f"The variant {_value(tag)} was added to a closed union; old peers reject unknown variants.",
        GATE,
        within=f"({tag})",
        accepted_by="new",
        gate=fact.variant.capability,
        ungated="",
    )


def variant_beside_default_added(fact: f.VariantAdded) -> Judgement | None:
    """A tagged variant was added next to a branch without a tag: old receivers decode it as that branch, or reject it."""
    tag = fact.variant.tag
    kept = fact.old.openness != "closed" or fact.foreseen
    if fact.old.default is None or (kept and tag != fact.old.default_tag):
        return None
    return Judgement(
        "otherwise",
        f"The variant {_value(tag)} was added; old peers decode it as {fact.old.default} or reject it.",
        GATE,
        within=f"({tag})",
        accepted_by="new",
        carried_by="new",
        gate=fact.variant.capability,
        ungated="",
    )


def variant_removed(fact: f.VariantRemoved) -> Judgement | None:
    """A variant was removed and new receivers do not reject it: they keep it as unknown, or decode it as the branch without a tag."""
    if fact.new.openness != "open" and fact.new.default is None:
        return None
    tag = fact.variant.tag
    return Judgement(
        "lost",
        f"The variant {_value(tag)} was removed; new peers do not know its meaning.",
        f"{seems(tag, fact.seems)}Keep the variant until the next major version.",
        within=f"({tag})",
        accepted_by="old",
        carried_by="old",
    )


def closed_variant_removed(fact: f.VariantRemoved) -> Judgement | None:
    """A variant of a closed or tolerated union was removed: new receivers reject it."""
    if fact.new.openness == "open" or fact.new.default is not None:
        return None
    tag = fact.variant.tag
    return Judgement(
        "refused",
        f"The variant {_value(tag)} was removed; new peers reject it.",
        f"{seems(tag, fact.seems)}Keep the variant until the next major version.",
        within=f"({tag})",
        accepted_by="old",
    )


def variant_renamed(fact: f.VariantRenamed) -> Judgement | None:
    """A variant has another tag, as `x-was` declares. Each revision knows only its own tag. The contents are compared under the new tag."""
    was, tag = fact.was.tag, fact.variant.tag
    return Judgement(
        "lost",
        f"The variant {was!r} was renamed to {tag!r}; peers of one revision do not know the tag of the other.",
        f"Keep {was!r} beside {tag!r} until the next major version, and read either.",
        within=f"({tag})",
        subject=repr(was),
        accepted_by="old",
        carried_by="old",
    )


def untagged_variant_added(fact: f.UntaggedChanged) -> Judgement | None:
    """A branch without a tag was added. Old receivers reject values without a known tag, and new ones may decode such values as this
    branch.
    """
    if not fact.added:
        return None
    return Judgement(
        "unknown" if fact.other.openness != "open" else "otherwise",
        f"The branch {fact.branch}, which has no discriminator value, was added.",
        "Give the branch a discriminator value of its own.",
        within=f"({fact.branch})",
        accepted_by="new" if fact.other.openness != "open" else None,
        carried_by="new" if fact.other.openness == "open" else None,
    )


def untagged_variant_removed(fact: f.UntaggedChanged) -> Judgement | None:
    """The branch without a tag was removed: values without a known tag are now rejected."""
    if fact.added:
        return None
    return Judgement(
        "refused",
        f"The branch {fact.branch}, which has no discriminator value, was removed.",
        "Keep the branch until the next major version.",
        within=f"({fact.branch})",
        accepted_by="old",
    )


def unknown_refused(fact: f.OpennessChanged) -> Judgement | None:
    """The schema accepted unknown tags or constants, and now rejects them, extensions included."""
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
    )


def unknown_accepted(fact: f.OpennessChanged) -> Judgement | None:
    """The schema now accepts unknown tags or constants; a strict old receiver rejects them."""
    if fact.new != "open" or fact.old == "open":
        return None
    strict = fact.old == "closed" and not fact.has_default
    return Judgement(
        "unknown" if strict else "claimed",
        f"Unknown {_SORTS[fact.sort]} are now accepted{_note(fact.old)}.",
        "Send extensions only to peers of the new version.",
        accepted_by="new" if strict else None,
    )


def tolerance_added(fact: f.OpennessChanged) -> Judgement | None:
    """Receivers now keep tags or constants that they do not know (`x-unknown: keep`). What is valid stays the same."""
    if fact.old != "closed" or fact.new != "tolerated":
        return None
    return Judgement(
        "added", f"Receivers now keep unknown {_SORTS[fact.sort]} (previously they rejected them).", NO_ACTION
    )


def tolerance_withdrawn(fact: f.OpennessChanged) -> Judgement | None:
    """Receivers kept unknown tags or constants (`x-unknown: keep`), and now reject them."""
    if fact.old != "tolerated" or fact.new != "closed":
        return None
    return Judgement(
        "otherwise",
        f"Receivers now reject unknown {_SORTS[fact.sort]} (previously they kept them).",
        "Keep 'x-unknown: keep': newer peers may send what this version does not know.",
    )


def tag_renamed(fact: f.TagRenamed) -> Judgement:
    """The discriminator is now another member: neither revision recognises the other's variants."""
    return Judgement(
        "refused" if fact.new.openness != "open" else "lost",
        f"The discriminator is now {fact.new.tag!r} (previously {fact.old.tag!r}).",
        "Keep sending the old discriminator together with the new one.",
        accepted_by="old" if fact.new.openness != "open" else None,
        carried_by="old" if fact.new.openness == "open" else None,
        subject=f"{fact.old.tag} {fact.new.tag}",
    )


def alternative_added(fact: f.AlternativeChanged) -> Judgement | None:
    """One more shape is accepted; old receivers reject it, or decode it as one that they know."""
    if not fact.added:
        return None
    return Judgement(
        "unknown",
        f"The alternative {_alternative(fact)} was added; no capability can gate it, since it has no discriminator value.",
        "Add a discriminator, or put the new alternative into a field of its own.",
        accepted_by="new",
        carried_by="new",
        subject=_alternative_subject(fact),
    )


def alternative_removed(fact: f.AlternativeChanged) -> Judgement | None:
    """One of several shapes was removed: it is now rejected, or decoded as another."""
    if fact.added:
        return None
    return Judgement(
        "refused",
        f"The alternative {_alternative(fact)} was removed.",
        "Keep the alternative until the next major version.",
        accepted_by="old",
        carried_by="old",
        subject=_alternative_subject(fact),
    )


def _gone(heir: str | None) -> str:
    """That something was removed, or has another name (`x-was`)."""
    return "was removed" if heir is None else f"was renamed to {heir!r}"


def _formerly(was: str | None) -> str:
    return "" if was is None else f" (renamed from {was!r})"


def _value(value: ir.JSON) -> str:
    """A constant: text in quotes, anything else as JSON."""
    return repr(value) if isinstance(value, str) else dumps(value)


def _note(openness: ir.Openness) -> str:
    return "; strict old peers reject it, others keep it ('x-unknown: keep')" if openness == "tolerated" else ""


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
