"""The entries of a migration guide: a finding with the action of its reader, and the replacement of what was removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from acpgen import ir
from acpgen.compat.findings import Reach
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.diagnostics.markup import Markdown, code, plain, prose, quoting
from acpgen.pointers import place_parts

Actor: TypeAlias = Literal["sender", "receiver", "both"]

INSTEAD: Final[Mapping[str, tuple[Actor, str]]] = {
    "alternative-added": ("receiver", "Be ready to receive this new form."),
    "alternative-removed": ("sender", "Do not send this form any more."),
    "batch-allowed": ("receiver", "Be ready to receive messages in batches."),
    "batch-withdrawn": ("sender", "Send each message on its own, not in batches."),
    "closed-field-added": ("sender", "You may send it."),
    "closed-value-added": ("receiver", "Be ready to receive it."),
    "closed-value-removed": ("sender", "Do not send this value any more."),
    "closed-variant-added": ("receiver", "Be ready to receive it."),
    "closed-variant-removed": ("sender", "Do not send this variant any more."),
    "default-changed": ("sender", "Send the value instead of leaving it out."),
    "demand-changed": ("sender", "See which capability requires it now."),
    "extension-declared": ("sender", "Send nothing else under the name."),
    "extension-undeclared": ("sender", "It stays allowed as an extension."),
    "field-added": ("sender", "You may send it."),
    "field-became-optional": ("receiver", "Be ready to receive messages without it."),
    "field-became-required": ("sender", "Always send it."),
    "field-removed": ("sender", "Stop sending it: receivers ignore it."),
    "field-renamed": ("both", "Use the new name."),
    "gate-added": ("sender", "Send it only to peers that advertise the capability."),
    "gate-moved": ("sender", "Check the new capability before you send it."),
    "gate-removed": ("receiver", "Be ready to receive it without having advertised anything."),
    "leniency-added": ("receiver", "Invalid values are decoded leniently now."),
    "leniency-withdrawn": ("sender", "Send valid values."),
    "limit-changed": ("both", "Observe the new limit."),
    "limit-loosened": ("receiver", "Be ready to receive more values."),
    "limit-tightened": ("sender", "Observe the new limit."),
    "method-added": ("sender", "You may send it where its description allows it."),
    "method-kind-changed": (
        "both",
        "Requests are answered, notifications are not: change whether you wait for an answer.",
    ),
    "method-removed": ("sender", "Do not send it any more."),
    "method-renamed": ("both", "Use the new name."),
    "null-allowed": ("receiver", "Be ready to receive null."),
    "null-forbidden": ("sender", "Send a value instead of null; leave the field out where it is optional."),
    "null-meaning-changed": ("both", "Check what null means before you send it."),
    "null-result-withdrawn": ("sender", "Answer with an object, not with null."),
    "object-closed": ("sender", "Send declared members only."),
    "object-opened": ("receiver", "Be ready to receive members that are not declared."),
    "position-changed": ("both", "Send each item at its new position, and expect it there."),
    "required-field-added": ("sender", "Send it."),
    "required-field-removed": ("both", "Stop sending it, and do not require it of others."),
    "tag-renamed": ("both", "Name the variant in the new member."),
    "tolerance-added": ("receiver", "Keep unknown variants."),
    "tolerance-withdrawn": ("receiver", "Reject unknown variants."),
    "type-changed": ("both", "Send the new type only, and expect it."),
    "type-narrowed": ("sender", "Send the new type only."),
    "type-widened": ("receiver", "Be ready to receive the new type."),
    "undeclared-narrowed": ("sender", "Send declared members only."),
    "unknown-accepted": ("receiver", "Keep unknown values instead of rejecting them."),
    "unknown-refused": ("sender", "Send known values only."),
    "untagged-variant-added": ("receiver", "Be ready to receive this form without a tag."),
    "untagged-variant-removed": ("sender", "Give every variant its tag."),
    "value-added": ("both", "You may send it; be ready to receive it."),
    "value-removed": ("sender", "Do not send this value any more."),
    "values-named": ("receiver", "Some values have a known meaning now."),
    "values-unnamed": ("receiver", "Do not rely on known values."),
    "variant-added": ("both", "You may send it; be ready to receive it."),
    "variant-beside-default-added": ("receiver", "Be ready to receive it."),
    "variant-renamed": ("both", "Use the new tag."),
    "variant-removed": ("sender", "Do not send this variant any more."),
}
"""Who acts on a finding, and how. Rules that are not listed need no action."""

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
"""The rules about what has another form in the new version; `x-migration` describes it better than the difference of the schemas."""

_UNSAID: Final = "The schema does not say whether there is a replacement."


def is_demanded(each: Reach, old: SchemaRevision, new: SchemaRevision) -> bool:
    """Whether a reader must act.

    Not so for a changed default if the new version describes by `x-migration` what its absence means.
    """
    is_said = each.rule == "default-changed" and _find_key(each, old) in new.bundle.migration
    return each.severity in ("breaking", "undecided", "risky") and not is_said


def find_actor(each: Reach) -> str:
    """The side that must act on a finding, or both sides."""
    sender, _, receiver = each.flow.partition("-to-")
    who = INSTEAD[each.rule][0] if each.rule in INSTEAD else "both"
    return "both sides" if who == "both" or not receiver else f"the {sender if who == 'sender' else receiver}"


def make_entries(findings: Iterable[Reach], old: SchemaRevision, new: SchemaRevision) -> Iterator[Markdown]:
    """Yield an entry for each action; findings with the same action in several places share one."""
    groups: dict[tuple[str, str], list[Reach]] = {}
    for each in findings:
        groups.setdefault((_describe_flow(each), _describe(each, _remove_name(each), old, new)), []).append(each)
    for (who, says), group in groups.items():
        sentence = says if len(group) > 1 else _describe(group[0], group[0].message, old, new)
        yield Markdown(
            f"{', '.join(dict.fromkeys(code(each.location) for each in group))} ({who}): {sentence}".rstrip()
        )


def _remove_name(each: Reach) -> str:
    """The message of a finding about a field, without the field's name at its start."""
    name = repr(each.location.rpartition(".")[2])
    text = each.message.removeprefix(f"{name} ")
    return text[:1].upper() + text[1:]


def _describe(each: Reach, message: str, old: SchemaRevision, new: SchemaRevision) -> str:
    """Describe a finding to its reader: its message or the note of the new version, and the action."""
    note = new.bundle.migration.get(_find_key(each, old))
    _, instead = INSTEAD.get(each.rule, ("both", ""))
    if each.rule in REMOVED:
        return f"{_describe_removal(each)} {prose(note)}" if note else f"{quoting(message)} {instead} {_UNSAID}"
    if note and each.rule in REPLACED:
        return prose(note)
    if each.rule == "gate-added" and (advertiser := _find_advertiser(each)) == each.flow.partition("-to-")[0]:
        capability = str(each.subject).rpartition(":")[2]
        return f"It is sent only once the {plain(advertiser)} has advertised {code(capability)}. Advertise it before you send this."
    return f"{quoting(message)} {instead}"


def _describe_removal(each: Reach) -> str:
    """State a removal where another sentence names the replacement: the field may have moved to another place."""
    name = each.location.rpartition(".")[2]
    return quoting(f"The field {name!r} was removed from here." if "field" in each.rule else each.message)


def _find_advertiser(each: Reach) -> str:
    """The side that advertises the capability named by a finding about a gate."""
    return str(each.subject).rpartition(" ")[2].partition(":")[0]


def _find_key(each: Reach, old: SchemaRevision) -> str:
    """The key under which `x-migration` describes the old subject of a finding."""
    if each.rule == "method-removed":
        return each.method or ""
    if each.rule == "untagged-variant-removed":
        return each.location.rpartition("(")[2].rstrip(")")
    return _map_members(old).get(each.old_at) or _find_field_key(each.old_at)


def _map_members(side: SchemaRevision) -> dict[str, str]:
    """The `x-migration` keys of the variants and values of a version, by their places."""
    names: dict[str, str] = {}
    for definition in side.definitions.values():
        match definition:
            case ir.TaggedUnion():
                names |= {variant.at: f"{definition.name}({variant.tag})" for variant in definition.variants}
            case ir.Enum():
                names |= {value.at: f"{definition.name}({value.value})" for value in definition.values}
            case _:
                pass
    return names


def _find_field_key(at: str) -> str:
    """The name of the definition or field at a place; empty if there is none.

    The name of a field includes its definition and the fields that contain it, joined by dots.
    """
    parts = place_parts(at)
    names = [name for before, name in pairwise(parts) if before == "properties"]
    return ".".join((parts[1], *names)) if len(parts) == 2 or (len(parts) > 1 and names) else ""


def _describe_flow(each: Reach) -> str:
    sender, arrow, receiver = each.flow.partition("-to-")
    return f"{sender} → {receiver}" if arrow else "either side"
