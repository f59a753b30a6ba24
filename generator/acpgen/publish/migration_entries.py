"""The entries of a migration guide: a finding with what its reader does, and what takes the place of what is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from acpgen import ir
from acpgen.compat.findings import Reach
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.markup import code, plain, prose, quoting
from acpgen.pointers import place_parts

INSTEAD: Final[Mapping[str, str]] = {
    "alternative-added": "Be ready to receive this new form.",
    "alternative-removed": "Do not send this form any more.",
    "batch-allowed": "Be ready to receive messages in batches.",
    "batch-withdrawn": "Send each message on its own, not in batches.",
    "closed-field-added": "You may send it.",
    "closed-value-added": "Be ready to receive it.",
    "closed-value-removed": "Do not send this value any more.",
    "closed-variant-added": "Be ready to receive it.",
    "closed-variant-removed": "Do not send this variant any more.",
    "default-changed": "Send the value instead of leaving it out.",
    "demand-changed": "See which capability requires it now.",
    "extension-declared": "Send nothing else under the name.",
    "extension-undeclared": "It stays allowed as an extension.",
    "field-added": "You may send it.",
    "field-became-optional": "Be ready to receive messages without it.",
    "field-became-required": "Always send it.",
    "field-removed": "Stop sending it: receivers ignore it.",
    "field-renamed": "Use the new name.",
    "gate-added": "Send it only to peers that advertise the capability.",
    "gate-moved": "Check the new capability before you send it.",
    "gate-removed": "Be ready to receive it without having advertised anything.",
    "leniency-added": "Invalid values are decoded leniently now.",
    "leniency-withdrawn": "Send valid values.",
    "limit-changed": "Observe the new limit.",
    "limit-loosened": "Be ready to receive more values.",
    "limit-tightened": "Observe the new limit.",
    "method-added": "You may send it where its description allows it.",
    "method-kind-changed": "Requests are answered, notifications are not: change whether you wait for an answer.",
    "method-removed": "Do not send it any more.",
    "method-renamed": "Use the new name.",
    "null-allowed": "Be ready to receive null.",
    "null-forbidden": "Send a value instead of null; leave the field out where it is optional.",
    "null-meaning-changed": "Check what null means before you send it.",
    "null-result-withdrawn": "Answer with an object, not with null.",
    "object-closed": "Send declared members only.",
    "object-opened": "Be ready to receive members that are not declared.",
    "position-changed": "Send each item at its new position.",
    "required-field-added": "Send it.",
    "required-field-removed": "Stop sending it, and do not require it of others.",
    "tag-renamed": "Name the variant in the new member.",
    "tolerance-added": "Keep unknown variants.",
    "tolerance-withdrawn": "Reject unknown variants.",
    "type-changed": "Send the new type only.",
    "type-narrowed": "Send the new type only.",
    "type-widened": "Be ready to receive the new type.",
    "undeclared-narrowed": "Send declared members only.",
    "unknown-accepted": "Keep unknown values instead of rejecting them.",
    "unknown-refused": "Send known values only.",
    "untagged-variant-added": "Be ready to receive this form without a tag.",
    "untagged-variant-removed": "Give every variant its tag.",
    "value-added": "You may send it; be ready to receive it.",
    "value-removed": "Do not send this value any more.",
    "values-named": "Some values have a known meaning now.",
    "values-unnamed": "Do not rely on known values.",
    "variant-added": "You may send it; be ready to receive it.",
    "variant-beside-default-added": "Be ready to receive it.",
    "variant-renamed": "Use the new tag.",
    "variant-removed": "Do not send this variant any more.",
}
"""What a reader does about a finding. What is not listed needs nothing to be done."""

REMOVED: Final = frozenset(
    {
        *(
            "closed-value-removed",
            "closed-variant-removed",
            "field-removed",
            "method-removed",
            "required-field-removed",
        ),
        *("untagged-variant-removed", "value-removed", "variant-removed"),
    }
)
"""The rules about what only the old version has."""

REPLACED: Final = frozenset({"default-changed", "null-forbidden", "type-changed", "type-narrowed", "type-widened"})
"""The rules about what has another form now, which `x-migration` tells better than the difference of the schemas."""

_UNSAID: Final = "The schema does not say whether there is a replacement."


def demands(each: Reach, old: SchemaRevision, new: SchemaRevision) -> bool:
    """Whether a reader must act; not on a default of which the new version says in words what its absence means."""
    is_said = each.rule == "default-changed" and _key(each, old) in new.bundle.migration
    return each.severity in ("breaking", "undecided", "risky") and not is_said


def grouped(found: list[Reach], old: SchemaRevision, new: SchemaRevision) -> Iterator[str]:
    """One entry a finding; findings about leniency that say the same of several fields share one."""
    by_rule: dict[tuple[str, str, str], list[Reach]] = {}
    for each in found:
        said = _nameless(each) if each.rule.startswith("leniency") else ""
        by_rule.setdefault((each.rule, each.flow, said), []).append(each)
    for (rule, _, said), group in by_rule.items():
        if said and len(group) > 1:
            places = ", ".join(dict.fromkeys(code(each.location) for each in group))
            yield f"- {places} ({_who(group[0])}): {quoting(said)} {INSTEAD[rule]}"
            continue
        for each in group:
            yield _entry(each, old, new)


def _nameless(each: Reach) -> str:
    """What a finding about a field says, without the name of the field."""
    name = repr(each.location.rpartition(".")[2])
    said = each.message.removeprefix(f"{name} ")
    return said[:1].upper() + said[1:]


def _entry(each: Reach, old: SchemaRevision, new: SchemaRevision) -> str:
    note = new.bundle.migration.get(_key(each, old))
    instead = INSTEAD.get(each.rule, "")
    if each.rule in REMOVED:
        does = f"{_gone(each)} {prose(note)}" if note else f"{quoting(each.message)} {instead} {_UNSAID}"
    elif note and each.rule in REPLACED:
        does = prose(note)
    elif each.rule == "gate-added" and (advertiser := _advertiser(each)) == each.flow.partition("-to-")[0]:
        capability = str(each.subject).rpartition(":")[2]
        does = f"It is sent only once the {plain(advertiser)} has advertised {code(capability)}. Advertise it before you send this."
    else:
        does = f"{quoting(each.message)} {instead}"
    return f"- {code(each.location)} ({_who(each)}): {does}".rstrip()


def _gone(each: Reach) -> str:
    """That something is gone, where another sentence says what takes its place: a field may have gone to another place."""
    name = each.location.rpartition(".")[2]
    return quoting(f"The field {name!r} was removed from here." if "field" in each.rule else each.message)


def _advertiser(each: Reach) -> str:
    """The side that advertises the capability which a finding about a gate names."""
    return str(each.subject).rpartition(" ")[2].partition(":")[0]


def _key(each: Reach, old: SchemaRevision) -> str:
    """What `x-migration` calls the old thing that a finding is about."""
    if each.rule == "method-removed":
        return each.method or ""
    if each.rule == "untagged-variant-removed":
        return each.location.rpartition("(")[2].rstrip(")")
    return _members(old).get(each.old_at) or _field_key(each.old_at)


def _members(side: SchemaRevision) -> dict[str, str]:
    """The variants and values of a version by their places."""
    found: dict[str, str] = {}
    for definition in side.definitions.values():
        match definition:
            case ir.TaggedUnion():
                found |= {variant.at: f"{definition.name}({variant.tag})" for variant in definition.variants}
            case ir.Enum():
                found |= {value.at: f"{definition.name}({value.value})" for value in definition.values}
            case _:
                pass
    return found


def _field_key(at: str) -> str:
    """The name of the definition or field at a place, a field's with the fields on the way to it; empty where there is none."""
    parts = place_parts(at)
    names = [name for before, name in pairwise(parts) if before == "properties"]
    return ".".join((parts[1], *names)) if len(parts) == 2 or (len(parts) > 1 and names) else ""


def _who(each: Reach) -> str:
    sender, arrow, receiver = each.flow.partition("-to-")
    return f"{sender} → {receiver}" if arrow else "either side"
