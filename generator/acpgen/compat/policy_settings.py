"""Reads `[tool.acpgen.compat]`, the policy of a project.

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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Final, cast, get_args

from acpgen.compat.compare import side
from acpgen.compat.findings import SEVERITIES, Severity
from acpgen.compat.project_policy import LOWERED, Area, Policy, PolicyEntry, Promise
from acpgen.compat.sources import open_input
from acpgen.config import quoted
from acpgen.config.faults import UNKNOWN_KEY
from acpgen.errors import Fault, Faults, did_you_mean
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.load import place

if TYPE_CHECKING:
    from acpgen.compat.findings import Report
    from acpgen.config import Config

_KEY: Final = "tool.acpgen.compat"
_KEYS: Final = ("promise", "transitive", "formats", "docs", "severity", "experimental", "deprecated")
_FORMATS: Final = ("annotations", "asserted")
_CHOSEN: Final = tuple(severity for severity in SEVERITIES if severity != "undecided")
_AREA: Final = re.compile(r"[^\s#]+(?: [^\s#]+)?|[^\s#]*#(?:/.*)?")
_SITE: Final = re.compile(r"https?://[^\s?#]+")
_ROLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def policy(table: Mapping[str, object], at: str, rules: Iterable[str], notes: Iterable[str] = ()) -> Policy:
    """The policy that a table of the file `at` sets; `rules` are all that there are, `notes` those without a severity. Raises `Faults`."""
    reader = _Settings(at, tuple(rules), frozenset(notes), [])
    found = reader.policy(table)
    if reader.faults:
        raise Faults(reader.faults)
    return found


@dataclass(frozen=True, slots=True)
class _Settings:
    """Reads the table; what is wrong goes to `faults`."""

    at: str
    rules: tuple[str, ...]
    notes: frozenset[str]
    faults: list[Fault]

    def policy(self, table: Mapping[str, object]) -> Policy:
        self.known(table, _KEY, _KEYS)
        promise, promises = self.promises(table.get("promise", "full"))
        formats = table.get("formats", "annotations")
        if formats not in _FORMATS:
            self.wrong(f"{_KEY}.formats", _one_of(_FORMATS))
        docs = table.get("docs", "")
        if docs != "" and not (isinstance(docs, str) and _SITE.fullmatch(docs)):
            self.wrong(f"{_KEY}.docs", "the address of the docs, such as 'https://acme.example/docs/'")
        return Policy(
            promise=promise,
            promises=promises,
            entries=(
                *self.levels(table.get("severity", [])),
                *self.experimental(table.get("experimental", {})),
                *self.deprecated(table.get("deprecated", {})),
            ),
            since=self.since(table.get("transitive", False)),
            formats=formats == "asserted",
            docs=f"{docs}".rstrip("/") + "/" if docs else "",
            is_explicit="promise" in table,
        )

    def promises(self, value: object) -> tuple[Promise, Mapping[str, Promise]]:
        if not isinstance(value, dict):
            return self.promise(value, f"{_KEY}.promise"), {}
        found: dict[str, Promise] = {}
        for role, promised in cast("dict[str, object]", value).items():
            key = f"{_KEY}.promise.{quoted(role)}"
            if not _ROLE.fullmatch(role):
                self.wrong(key, "the promise to a role, such as 'agent', 'client' or 'server'")
            found[role] = self.promise(promised, key)
        return "full", found

    def promise(self, value: object, key: str) -> Promise:
        known = next((each for each in get_args(Promise) if each == value), None)
        if known is None:
            self.wrong(key, _one_of(get_args(Promise)))
        return cast("Promise", known or "full")

    def since(self, value: object) -> str | None:
        if isinstance(value, bool):
            return "" if value else None
        if not isinstance(value, str) or not value:
            self.wrong(
                f"{_KEY}.transitive", "true, false, or the first of the kept releases that counts, such as '0.9.0'"
            )
        return str(value)

    def levels(self, value: object) -> Iterator[PolicyEntry]:
        entries = cast("list[object]", value) if isinstance(value, list) else [None]
        for index, entry in enumerate(entries):
            key = f"{_KEY}.severity.{index}" if isinstance(value, list) else f"{_KEY}.severity"
            if not isinstance(entry, dict):
                self.wrong(key, "a list of tables: [[tool.acpgen.compat.severity]]")
                continue
            table = cast("dict[str, object]", entry)
            self.known(table, key, ("rule", "at", "severity", "reason"))
            rule, area = table.get("rule", ""), table.get("at")
            if rule != "" and rule not in self.rules:
                hint = did_you_mean(str(rule), self.rules)
                self.faults.append(UNKNOWN_NAME(at=f"{self.at}: {key}.rule", kind="rule", name=str(rule), hint=hint))
            if rule in self.notes:
                self.wrong(f"{key}.rule", f"a rule whose findings have a severity; {rule!r} only reports notes")
            if not rule and area is None:
                self.wrong(key, "about something: a 'rule', a place 'at' which it holds, or both")
            severity = next((each for each in _CHOSEN if each == table.get("severity")), None)
            if severity is None:
                self.wrong(f"{key}.severity", _one_of(_CHOSEN))
            reason = self.reason(table.get("reason"), f"{key}.reason")
            where = None if area is None else self.area(area, f"{key}.at")
            yield PolicyEntry("severity", cast("Severity", severity or "breaking"), reason, str(rule), where)

    def experimental(self, value: object) -> Iterator[PolicyEntry]:
        for area, reason in self.table(value, f"{_KEY}.experimental", "a table from areas to reasons").items():
            key = f"{_KEY}.experimental.{quoted(area)}"
            yield PolicyEntry("experimental", LOWERED, self.reason(reason, key), area=self.area(area, key))

    def deprecated(self, value: object) -> Iterator[PolicyEntry]:
        expected = "a table from areas to tables with 'sunset' and 'reason'"
        for area, entry in self.table(value, f"{_KEY}.deprecated", expected).items():
            key = f"{_KEY}.deprecated.{quoted(area)}"
            if not isinstance(entry, dict):
                self.wrong(key, "a table with 'sunset' and 'reason'")
                continue
            table = cast("dict[str, object]", entry)
            self.known(table, key, ("sunset", "reason"))
            sunset = table.get("sunset")
            if isinstance(sunset, datetime) or not isinstance(sunset, date):
                self.wrong(f"{key}.sunset", "the first day on which it may be gone, such as 2027-01-31")
                sunset = date.max
            reason = self.reason(table.get("reason"), f"{key}.reason")
            yield PolicyEntry("deprecated", LOWERED, reason, area=self.area(area, key), sunset=sunset)

    def area(self, value: object, key: str) -> Area:
        if not isinstance(value, str) or not _AREA.fullmatch(value):
            self.wrong(
                key,
                "a method such as 'session/*', a place in its messages such as 'session/new params.cwd', or a place in a schema such "
                "as '#/$defs/Tool' or 'schema/acp/v2/*#'",
            )
        return Area(str(value))

    def reason(self, value: object, key: str) -> str:
        if not isinstance(value, str) or not value.strip():
            self.wrong(key, "a sentence that says why")
            return ""
        return value.strip()

    def table(self, value: object, key: str, expected: str) -> Mapping[str, object]:
        if isinstance(value, dict):
            return cast("dict[str, object]", value)
        self.wrong(key, expected)
        return {}

    def known(self, table: Mapping[str, object], key: str, known: Iterable[str]) -> None:
        allowed = tuple(known)
        self.faults.extend(
            UNKNOWN_KEY(at=self.at, key=f"{key}.{quoted(name)}", hint=did_you_mean(name, allowed))
            for name in table
            if name not in allowed
        )

    def wrong(self, key: str, expected: str) -> None:
        self.faults.append(BAD_SETTING(at=self.at, key=key, expected=expected, hint="Correct this setting."))


def _one_of(words: Iterable[str]) -> str:
    *others, last = map(repr, words)
    return f"one of {', '.join(others)} and {last}"


# --- roles -----------------------------------------------------------------------------------------------------------


def require_roles(policy: Policy, reports: Iterable[Report], project: Config) -> None:
    """Raises `Faults` where `promise` names a role that none of the reports knows, nor a protocol of the project.

    Where nothing has roles, or a protocol of the project cannot be read, it is not known.
    """
    known = {role for report in reports for role in report.named.roles}
    if policy.promises.keys() <= known:
        return
    try:
        known.update(_roles(project))
    except Faults:
        return
    if not known:
        return
    faults: list[Fault] = [
        UNKNOWN_NAME(
            at=f"{place(project.file)}: tool.acpgen.compat.promise.{role}",
            kind="role",
            name=role,
            hint=_hint(role, sorted(known)),
        )
        for role in policy.promises
        if role not in known
    ]
    if faults:
        raise Faults(faults)


def _roles(project: Config) -> Iterator[str]:
    """The roles of the protocols of a project. Raises `Faults`."""
    for name in project.protocols:
        source = project.root / project.schema / name
        yield from side(open_input(source, methods=project.profile(name)), unstable=True).meaning.protocol.sides


def _hint(role: str, known: list[str]) -> str:
    roles = f"The roles are {', '.join(map(repr, known))}."
    guess = did_you_mean(role, known)
    return f"{guess} {roles}" if guess.startswith("Did") else roles
