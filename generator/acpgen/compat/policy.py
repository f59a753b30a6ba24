"""A project's policy: its promises, and the findings whose severity it changes; read from `[tool.acpgen.compat]`.

A policy never hides findings: what it lowers stays in the report, with the original severity and the reason, and is counted.

[tool.acpgen.compat]
promise = "full"                                 # or { agent = "full", client = "backward" }, by who receives
transitive = true                                # or the first kept release that counts: "0.9.0"
formats = "asserted"                             # or "annotations"
docs = "https://acme.example/docs/"              # reports link the pages of the rules there

[[tool.acpgen.compat.severity]]
rule = "default-changed"
at = "session/new"
severity = "additive"
reason = "Every client sends it."

[tool.acpgen.compat.experimental]
"session/fork" = "The proposal is open."

[tool.acpgen.compat.deprecated]
"session/set_mode" = { sunset = 2027-01-31, reason = "session/set_config_option takes its place." }
"deprecated: true" = { sunset = 2027-06-30, reason = "What the schema marks is gone with version 2." }
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import Struct

from acpgen.compat.findings import (
    SEVERITIES,
    Finding,
    Nameable,
    Note,
    PolicyDecision,
    Reach,
    Report,
    Revision,
    Severity,
    SourcePosition,
    describe_readers,
    find_worst,
    order,
)
from acpgen.errors import Fault, Faults, suggest_name
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.load import decode, display_path, read_bytes

if TYPE_CHECKING:
    from acpgen.compat.catalogue import CatalogueEntry
    from acpgen.config import Config

Promise: TypeAlias = Literal["full", "backward", "forward", "none"]
"""The exchanges between revisions that must work: `backward`, new peers accept what old peers send; `forward`, old peers accept what new
peers send; `full`, both.
"""

LOWERED: Final[Severity] = "additive"
"""The severity of a finding about a part without a promise."""

WIDENED: Final = "language-widened"
"""The rule for values of a plain schema that only new writers send."""

MARKED: Final = "deprecated: true"
"""The area of all parts that a schema itself marks as deprecated."""

_NAMED: Final = 5
"""The maximum number of findings that a note names; the others are counted."""

_HARMFUL: Final = ("breaking", "undecided", "risky")
_KEPT: Final[Mapping[Promise, tuple[Revision, ...]]] = {
    "full": ("old", "new"),
    "backward": ("old",),
    "forward": ("new",),
    "none": (),
}
"""The senders whose messages must be accepted."""


class Area(Struct, frozen=True):
    """A part of a protocol that a policy entry applies to.

    It is a method, such as `session/*`, a place in its messages, such as `session/new params.cwd`, or a place in a schema with
    everything below it, such as `#/$defs/Tool` or `schema/acp/v2/*#`. `*` matches any text; in a pointer, one segment.
    `deprecated: true` is everything that the old revision marks as deprecated.
    """

    written: str

    def explain_mismatch(self, nameable: Nameable) -> str:
        """The reason why the area matches nothing in either revision, for display; empty if it matches or if that is unknown."""
        if self.written == MARKED or nameable == Nameable():
            return ""
        file, mark, fragment = self.written.partition("#")
        if mark:
            meets = any(_is_in(position, file) and _meets(position, fragment) for position in nameable.definitions)
            return "" if meets else "nothing in either revision is at that place"
        method = self.written.partition(" ")[0]
        if any(fnmatchcase(name, method) for name in nameable.methods):
            return ""
        close = get_close_matches(method, nameable.methods, n=1)
        return f"no method of either revision{f'; did you mean {close[0]!r}?' if close else ''}"

    def holds(self, reach: Reach, positions: Iterable[SourcePosition | None]) -> bool:
        """Whether a finding at these positions, in this kind of message, is in the area."""
        if self.written == MARKED:
            return _is_marked(next(iter(positions), None))
        file, mark, fragment = self.written.partition("#")
        if mark:
            return any(_is_below(position, file, fragment) for position in positions if position is not None)
        method, _, location = self.written.partition(" ")
        return reach.method is not None and fnmatchcase(reach.method, method) and _is_within(reach.location, location)


def _is_marked(position: SourcePosition | None) -> bool:
    """Whether the value at a position is marked as deprecated."""
    return position is not None and isinstance(position.value, dict) and position.value.get("deprecated") is True


def _is_below(position: SourcePosition, file: str, fragment: str) -> bool:
    return _is_in(position, file) and fragment.count("/") <= position.pointer.count("/") and _meets(position, fragment)


def _is_in(position: SourcePosition, file: str) -> bool:
    path = position.file.partition(":")[2] or position.file
    return not file or fnmatchcase(path, file) or fnmatchcase(path, f"*/{file}")


def _meets(position: SourcePosition, fragment: str) -> bool:
    """Whether one of the two places is below the other."""
    return all(map(fnmatchcase, position.pointer.split("/")[1:], fragment.split("/")[1:]))


def _is_within(location: str, area: str) -> bool:
    return not area or location == area or (location.startswith(area) and location[len(area)] in ".[(")


class PolicyEntry(Struct, frozen=True):
    """One entry of a policy: the severity for the findings of a rule, of an area, or of a rule in an area, and the reason.

    `table` is its table: "severity" sets any severity, "experimental" lowers harmful findings in its area, "deprecated" lowers removals
    there from the day `sunset` on. Entries of earlier tables take precedence.
    """

    table: Literal["severity", "experimental", "deprecated"]
    severity: Severity
    reason: str
    rule: str = ""
    area: Area | None = None
    sunset: date = date.min

    def holds(self, reach: Reach, positions: Iterable[SourcePosition | None]) -> bool:
        """Whether the entry applies to such a finding, regardless of the date."""
        return self.rule in ("", reach.rule) and (self.area is None or self.area.holds(reach, positions))

    def judges(self, rule: str, today: date, *, is_harmful: bool) -> bool:
        """Whether the entry sets its severity for a finding that it applies to."""
        is_due = self.table != "deprecated" or (is_removal(rule) and today >= self.sunset)
        return self.table == "severity" or (is_harmful and is_due)

    @property
    def why(self) -> str:
        """The reason, with the area if it is experimental or deprecated."""
        area = "" if self.area is None else self.area.written
        since = f"was deprecated until {self.sunset.isoformat()}" if self.table == "deprecated" else "is experimental"
        return self.reason if self.table == "severity" else f"{area} {since}: {self.reason}"

    @property
    def title(self) -> str:
        """The entry as written in the settings."""
        area = "" if self.area is None else repr(self.area.written)
        words = ("of", self.rule, area and f"at {area}") if self.table == "severity" else (area,)
        return " ".join(filter(None, (self.table, *words)))

    @property
    def specificity(self) -> tuple[bool, bool, bool, bool]:
        """The sort key for precedence: by table, then entries with an area before those with only a rule."""
        is_first, is_second = self.table == "severity", self.table == "experimental"
        return is_first, is_second, self.area is not None, bool(self.rule)


@dataclass(frozen=True, slots=True)
class Policy:
    """The content of `[tool.acpgen.compat]`; `promise` applies to all roles not in `promises`.

    `since` is the first of the kept releases to compare as well; empty for all, `None` for none. `formats`: receivers reject values that
    violate a `format`. `docs` is the URL of the documentation site. `is_explicit`: the project sets `promise` itself; otherwise plain
    schemas, which have no roles, only have the backward promise.
    """

    promise: Promise = "full"
    promises: Mapping[str, Promise] = field(default_factory=lambda: MappingProxyType(dict[str, Promise]()))
    entries: tuple[PolicyEntry, ...] = ()
    since: str | None = None
    formats: bool = False
    docs: str = ""
    is_explicit: bool = False


NONE: Final = Policy()
"""The default policy: everything is promised, and the severities of the check are unchanged."""


def read_project_policy(project: Config | None) -> Policy:
    """The policy of a project. Raises `Faults`."""
    if project is None:
        return NONE
    rules: Sequence[CatalogueEntry] = ()
    if "severity" in project.compat:  # nothing else names rules, and to load them takes 0.06 s
        from acpgen.compat.catalogue import list_rules

        rules = list_rules()
    notes = [entry.id for entry in rules if entry.severities == ("note",)]
    return read_policy(project.compat, display_path(project.file), [entry.id for entry in rules], notes)


def find_position(project: Config | None) -> SourcePosition:
    """The position of a project's policy: its first table."""
    if project is None:
        return SourcePosition("pyproject.toml", "", 1, 1)
    at = display_path(project.file)
    lines = decode(read_bytes(project.file), at).splitlines() if project.compat else []
    line_numbers = (
        number for number, line in enumerate(lines, 1) if re.match(r"\s*\[+\s*tool\.acpgen\.compat\b", line)
    )
    return SourcePosition(at, "", next(line_numbers, 1), 1)


def read_policy(table: Mapping[str, Any], at: str, rules: Sequence[str], notes: Sequence[str] = ()) -> Policy:
    """Build the policy from a table of the file `at`; `rules` are the ids of all rules, `notes` those without a severity.

    The structure of the table has been validated when the file was read. Raises `Faults`.
    """
    faults: list[Fault] = []
    entries: list[PolicyEntry] = []
    for index, row in enumerate(table.get("severity", ())):
        key, rule = f"tool.acpgen.compat.severity.{index}.rule", row.get("rule", "")
        if "rule" in row and rule not in rules:
            faults.append(UNKNOWN_NAME(at=f"{at}: {key}", kind="rule", name=rule, hint=suggest_name(rule, rules)))
        if rule in notes:
            expected = f"a rule whose findings have a severity; {rule!r} only reports notes"
            faults.append(BAD_SETTING(at=at, key=key, expected=expected, hint="Correct this setting."))
        area = Area(row["at"]) if "at" in row else None
        entries.append(PolicyEntry("severity", row["severity"], row["reason"].strip(), rule, area))
    if faults:
        raise Faults(faults)
    for area, reason in table.get("experimental", {}).items():
        entries.append(PolicyEntry("experimental", LOWERED, reason.strip(), area=Area(area)))
    for area, row in table.get("deprecated", {}).items():
        sunset = date.fromisoformat(str(row["sunset"]))
        entries.append(PolicyEntry("deprecated", LOWERED, row["reason"].strip(), area=Area(area), sunset=sunset))
    promise: Promise | Mapping[str, Promise] = table.get("promise", "full")
    transitive, docs = table.get("transitive", False), table.get("docs", "")
    return Policy(
        promise=promise if isinstance(promise, str) else "full",
        promises={} if isinstance(promise, str) else promise,
        entries=tuple(entries),
        since=transitive if isinstance(transitive, str) else "" if transitive else None,
        formats=table.get("formats") == "asserted",
        docs=docs and f"{docs.rstrip('/')}/",
        is_explicit="promise" in table,
    )


def require_roles(policy: Policy, reports: Iterable[Report], project: Config) -> None:
    """Check the roles that `promise` names: raises `Faults` if neither a report nor a protocol of the project has one.

    Nothing is checked if nothing has roles or a protocol of the project cannot be read.
    """
    role_names = {role for report in reports for role in report.named.roles}
    if policy.promises.keys() <= role_names:
        return
    try:
        role_names.update(_list_roles(project))
    except Faults:
        return
    roles, faults = sorted(role_names), list[Fault]()
    for role in policy.promises if roles else ():
        if role not in roles:
            guess, listing = suggest_name(role, roles), f"The roles are {', '.join(map(repr, roles))}."
            hint = f"{guess} {listing}" if guess.startswith("Did") else listing
            where = f"{display_path(project.file)}: tool.acpgen.compat.promise.{role}"
            faults.append(UNKNOWN_NAME(at=where, kind="role", name=role, hint=hint))
    if faults:
        raise Faults(faults)


def _list_roles(project: Config) -> Iterator[str]:
    from acpgen.compat.compare import read_side
    from acpgen.compat.sources import open_input

    for name in project.protocols:
        source = project.schema_folder / name
        yield from read_side(
            open_input(source, methods=project.read_profile(name)), unstable=True
        ).meaning.protocol.sides


# --- applying it -----------------------------------------------------------------------------------------------------


def is_removal(rule: str) -> bool:
    """Whether a rule reports the removal of something that peers may use."""
    return rule.endswith("-removed") and rule != "gate-removed"


def apply(report: Report, policy: Policy, today: date, at: SourcePosition) -> Report:
    """Apply a policy to a report: change severities, recompute the verdict, and add a note for each reason.

    `at` is the place of the policy.
    """
    findings = tuple(sorted((_apply_to_finding(finding, policy, today) for finding in report.findings), key=order))
    is_ruled = any(finding.ruled is not None for finding in findings)
    notes = (*_note_applied(findings, at), *_note_unused(report, policy, at))
    if not notes:
        return report
    if not is_ruled:
        return replace(report, notes=(*report.notes, *notes))
    verdict = find_worst(tuple(finding.severity for finding in findings))
    return replace(report, findings=findings, verdict=verdict, unruled=report.verdict, notes=(*report.notes, *notes))


def _note_unused(report: Report, policy: Policy, at: SourcePosition) -> Iterator[Note]:
    """Yield the note on the entries of a policy that match no finding, as written, with what the revisions lack."""
    reached = [(reach, (finding.old, finding.new)) for finding in report.findings for reach in finding.reaches]
    entries = [
        f"promise to {role!r} (neither revision has roles)" for role in policy.promises if not report.named.roles
    ]
    for entry in policy.entries:
        is_marked = entry.area is not None and entry.area.written == MARKED
        if not is_marked and not any(entry.holds(*occurrence) for occurrence in reached):
            lack = "" if entry.area is None else entry.area.explain_mismatch(report.named)
            entries.append(f"{entry.title} ({lack})" if lack else entry.title)
    if entries:
        what = "1 entry of the policy matches" if len(entries) == 1 else f"{len(entries)} entries of the policy match"
        advice = "Nothing there has changed; otherwise, correct the entry."
        yield Note("policy-unused", f"{what} no finding: {'; '.join(entries)}.", advice, at)


def _note_applied(findings: Iterable[Finding], at: SourcePosition) -> Iterator[Note]:
    """Yield a note for each reason and each change of severity, with the findings that it is about."""
    names_by_change: dict[tuple[str, Severity, Severity], list[str]] = {}
    for finding in findings:
        changes: set[tuple[str, Severity, Severity]] = {
            (reach.ruled.reason, reach.ruled.judged, reach.severity) for reach in finding.reaches if reach.ruled
        }
        for change in changes:
            names_by_change.setdefault(change, []).append(finding.declaration or finding.location or "the root")
    for (reason, was, now), names in sorted(names_by_change.items()):
        what = "1 finding" if len(names) == 1 else f"{len(names)} findings"
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        verb = "lowers" if SEVERITIES.index(now) > SEVERITIES.index(was) else "raises"
        message = f"The policy {verb} {what} from {was} to {now}: {', '.join(names[:_NAMED])}{more}. {reason}"
        yield Note("policy-applied", message, "'acpgen rules' shows the whole policy.", at)


def _apply_to_finding(finding: Finding, policy: Policy, today: date) -> Finding:
    """A finding with the policy applied to each reach, worst first."""
    reaches = [_reach(reach, (finding.old, finding.new), policy, today) for reach in finding.reaches]
    reaches.sort(key=lambda reach: SEVERITIES.index(reach.severity))
    return replace(finding, reaches=tuple(reaches))


def _reach(reach: Reach, positions: tuple[SourcePosition | None, ...], policy: Policy, today: date) -> Reach:
    """A reach with the policy applied; `breaks` is set if it makes values that only new writers send breaking."""
    severity, reason = _find_severity(reach, positions, policy, today) or (reach.severity, "")
    if severity == reach.severity:
        return reach
    is_breach = reach.rule == WIDENED and severity == "breaking" and reach.witness is not None
    breaks = describe_readers(reach.witness) if is_breach and reach.witness is not None else reach.breaks
    return replace(reach, severity=severity, ruled=PolicyDecision(reach.severity, reason), breaks=breaks)


def _find_severity(
    reach: Reach, positions: tuple[SourcePosition | None, ...], policy: Policy, today: date
) -> tuple[Severity, str] | None:
    """The severity that a policy sets for a reach, with the reason; `None` if it sets none."""
    is_promised = reach.rule == WIDENED and policy.is_explicit and "new" in _KEPT[policy.promise]
    is_harmful = is_promised or reach.severity in _HARMFUL
    about = [entry for entry in policy.entries if entry.holds(reach, positions)]
    entries = [entry for entry in about if entry.judges(reach.rule, today, is_harmful=is_harmful)]
    if entries:
        entry = max(reversed(entries), key=lambda entry: entry.specificity)
        return entry.severity, entry.why
    if is_promised:
        return "breaking", f"The promise is {policy.promise!r}: old readers accept what new writers send."
    return _find_unpromised(reach, policy) if is_harmful else None


def _find_unpromised(reach: Reach, policy: Policy) -> tuple[Severity, str] | None:
    """The severity of a failure in directions without a promise; `None` if one is promised.

    If the check does not name the sender, it may be either.
    """
    receiver = reach.flow.partition("-to-")[2]
    roles = [receiver] if receiver else ["", *policy.promises]
    senders = reach.senders or ("old", "new")
    promises: set[Promise] = {policy.promises.get(role, policy.promise) for role in roles}
    if any(sender in _KEPT[promise] for sender in senders for promise in promises):
        return None
    directions = " or ".join({"old": "backward", "new": "forward"}[sender] for sender in senders)
    recipient = f" for messages to the {receiver}" if receiver else ""
    return LOWERED, f"No {directions} compatibility is promised{recipient}."
