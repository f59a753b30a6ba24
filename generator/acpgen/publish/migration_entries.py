"""The entries of a migration guide: a finding with the action of its reader, and the replacement of what was removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from acpgen import ir
from acpgen.compat.findings import Reach
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.diagnostics.markup import Markdown, escape_line, write_code, write_message, write_prose
from acpgen.input.load import read_data
from acpgen.pointers import split_place

INSTEAD: Final[Mapping[str, tuple[str, str]]] = read_data(Path(__file__).with_name("rule_actions.json"))
"""Who acts on a finding (`sender`, `receiver` or `both`), and how. Rules that are not listed need no action."""

REMOVED: Final = frozenset(
    f"{part}-removed"
    for part in (
        *("closed-value", "closed-variant", "field", "method", "required-field"),
        *("untagged-variant", "value", "variant"),
    )
)
"""The rules about what only the old version has."""

REPLACED: Final = frozenset({"default-changed", "null-forbidden", "type-changed", "type-narrowed", "type-widened"})
"""The rules about what has another form in the new version; `x-migration` describes it better than the difference of the schemas."""


def is_demanded(finding: Reach, old: SchemaRevision, new: SchemaRevision) -> bool:
    """Whether a reader must act.

    Not so for a changed default if the new version describes by `x-migration` what its absence means.
    """
    is_said = finding.rule == "default-changed" and _find_key(finding, old) in new.bundle.migration
    return finding.severity in ("breaking", "undecided", "risky") and not is_said


def find_actor(finding: Reach) -> str:
    """The side that must act on a finding, or both sides."""
    sender, _, receiver = finding.flow.partition("-to-")
    who = INSTEAD[finding.rule][0] if finding.rule in INSTEAD else "both"
    return "both sides" if who == "both" or not receiver else f"the {sender if who == 'sender' else receiver}"


def make_entries(findings: Iterable[Reach], old: SchemaRevision, new: SchemaRevision) -> Iterator[Markdown]:
    """Yield an entry for each action; findings with the same action in several places share one."""
    groups: dict[tuple[str, str], list[Reach]] = {}
    for finding in findings:
        sender, arrow, receiver = finding.flow.partition("-to-")
        name = repr(finding.location.rpartition(".")[2])
        message = finding.message.removeprefix(f"{name} ")
        sentence = _describe(finding, message[:1].upper() + message[1:], old, new)
        groups.setdefault((f"{sender} → {receiver}" if arrow else "either side", sentence), []).append(finding)
    for (who, says), group in groups.items():
        sentence = says if len(group) > 1 else _describe(group[0], group[0].message, old, new)
        places = ", ".join(dict.fromkeys(write_code(finding.location) for finding in group))
        yield Markdown(f"{places} ({who}): {sentence}".rstrip())


def _describe(finding: Reach, message: str, old: SchemaRevision, new: SchemaRevision) -> str:
    """Describe a finding to its reader: its message or the note of the new version, and the action."""
    note = new.bundle.migration.get(_find_key(finding, old))
    _, instead = INSTEAD.get(finding.rule, ("both", ""))
    if finding.rule in REMOVED and note:
        # The note names the replacement: the field may have moved to another place.
        name = finding.location.rpartition(".")[2]
        removal = f"The field {name!r} was removed from here." if "field" in finding.rule else finding.message
        return f"{write_message(removal)} {write_prose(note)}"
    if finding.rule in REMOVED:
        return f"{write_message(message)} {instead} The schema does not say whether there is a replacement."
    if note and finding.rule in REPLACED:
        return write_prose(note)
    advertiser, _, capability = str(finding.subject).rpartition(" ")[2].partition(":")
    if finding.rule == "gate-added" and advertiser == finding.flow.partition("-to-")[0]:
        advertised = f"{escape_line(advertiser)} has advertised {write_code(capability)}"
        return f"It is sent only once the {advertised}. Advertise it before you send this."
    return f"{write_message(message)} {instead}"


def _find_key(finding: Reach, old: SchemaRevision) -> str:
    """The key under which `x-migration` describes the old subject of a finding; empty if it has none.

    That of a field has its definition and the fields that contain it, joined by dots.
    """
    if finding.rule == "method-removed":
        return finding.method or ""
    if finding.rule == "untagged-variant-removed":
        return finding.location.rpartition("(")[2].rstrip(")")
    parts = split_place(finding.old_at)
    names = [name for before, name in pairwise(parts) if before == "properties"]
    field = ".".join((parts[1], *names)) if len(parts) == 2 or (len(parts) > 1 and names) else ""
    return _map_members(old).get(finding.old_at) or field


def _map_members(side: SchemaRevision) -> Mapping[str, str]:
    """The `x-migration` keys of the variants and values of a version, by their places."""
    names: dict[str, str] = {}
    for definition in side.definitions.values():
        if isinstance(definition, ir.TaggedUnion):
            names |= {variant.at: f"{definition.name}({variant.tag})" for variant in definition.variants}
        elif isinstance(definition, ir.Enum):
            names |= {value.at: f"{definition.name}({value.value})" for value in definition.values}
    return names
