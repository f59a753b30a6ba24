"""The entries of a migration guide: a finding with what its reader does, and what takes the place of what is gone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from acpgen import ir
from acpgen.compat.guide.actions import INSTEAD, REMOVED, REPLACED
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.revision import Revised
from acpgen.markup import code, plain, prose, quoting
from acpgen.pointers import place_parts

_UNTOLD: Final = "The schema does not say whether there is a replacement."


def demands(each: Judged, old: Revised, new: Revised) -> bool:
    """Whether a reader must act; not on a default of which the new version says in words what its absence means."""
    is_told = each.rule == "default-changed" and _key(each, old) in new.bundle.migration
    return each.severity in ("breaking", "undecided", "risky") and not is_told


def grouped(found: list[Judged], old: Revised, new: Revised) -> Iterator[str]:
    """One entry a finding; findings about leniency that say the same of several fields share one."""
    by_rule: dict[tuple[str, str, str], list[Judged]] = {}
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


def _nameless(each: Judged) -> str:
    """What a finding about a field says, without the name of the field."""
    name = repr(each.location.rpartition(".")[2])
    said = each.message.removeprefix(f"{name} ")
    return said[:1].upper() + said[1:]


def _entry(each: Judged, old: Revised, new: Revised) -> str:
    told = new.bundle.migration.get(_key(each, old))
    instead = INSTEAD.get(each.rule, "")
    if each.rule in REMOVED:
        does = f"{_gone(each)} {prose(told)}" if told else f"{quoting(each.message)} {instead} {_UNTOLD}"
    elif told and each.rule in REPLACED:
        does = prose(told)
    elif each.rule == "gate-added" and (advertiser := _advertiser(each)) == each.flow.partition("-to-")[0]:
        capability = str(each.subject).rpartition(":")[2]
        does = f"It is sent only once the {plain(advertiser)} has advertised {code(capability)}. Advertise it before you send this."
    else:
        does = f"{quoting(each.message)} {instead}"
    return f"- {code(each.location)} ({_who(each)}): {does}".rstrip()


def _gone(each: Judged) -> str:
    """That something is gone, where another sentence says what takes its place: a field may have gone to another place."""
    name = each.location.rpartition(".")[2]
    return quoting(f"The field {name!r} was removed from here." if "field" in each.rule else each.message)


def _advertiser(each: Judged) -> str:
    """The side that advertises the capability which a finding about a gate names."""
    return str(each.subject).rpartition(" ")[2].partition(":")[0]


def _key(each: Judged, old: Revised) -> str:
    """What `x-migration` calls the old thing that a finding is about."""
    if each.rule == "method-removed":
        return each.method or ""
    if each.rule == "untagged-variant-removed":
        return each.location.rpartition("(")[2].rstrip(")")
    return _members(old).get(each.old_at) or _field_key(each.old_at)


def _members(side: Revised) -> dict[str, str]:
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


def _who(each: Judged) -> str:
    sender, arrow, receiver = each.flow.partition("-to-")
    return f"{sender} → {receiver}" if arrow else "either side"
