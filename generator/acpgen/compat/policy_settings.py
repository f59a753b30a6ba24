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

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from acpgen.compat.compare import side
from acpgen.compat.project_policy import LOWERED, Area, Policy, PolicyEntry, Promise
from acpgen.compat.sources import open_input
from acpgen.errors import Fault, Faults, did_you_mean
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.load import place

if TYPE_CHECKING:
    from acpgen.compat.findings import Report
    from acpgen.config import Config


def policy(table: Mapping[str, Any], at: str, rules: Iterable[str], notes: Iterable[str] = ()) -> Policy:
    """Build the policy from a table of the file `at`; `rules` are the ids of all rules, `notes` those without a severity.

    The structure of the table has been validated when the file was read. Raises `Faults`.
    """
    faults = [*_rule_faults(table.get("severity", ()), at, tuple(rules), frozenset(notes))]
    if faults:
        raise Faults(faults)
    promise: Promise | Mapping[str, Promise] = table.get("promise", "full")
    transitive, docs = table.get("transitive", False), table.get("docs", "")
    return Policy(
        promise=promise if isinstance(promise, str) else "full",
        promises={} if isinstance(promise, str) else promise,
        entries=tuple(_entries(table)),
        since=transitive if isinstance(transitive, str) else "" if transitive else None,
        formats=table.get("formats") == "asserted",
        docs=docs and f"{docs.rstrip('/')}/",
        is_explicit="promise" in table,
    )


def _rule_faults(
    rows: Iterable[Mapping[str, str]], at: str, rules: Sequence[str], notes: Collection[str]
) -> Iterator[Fault]:
    """The faults of rules that do not exist or have no severity."""
    for index, row in enumerate(rows):
        key, rule = f"tool.acpgen.compat.severity.{index}.rule", row.get("rule")
        if rule is not None and rule not in rules:
            yield UNKNOWN_NAME(at=f"{at}: {key}", kind="rule", name=rule, hint=did_you_mean(rule, rules))
        if rule in notes:
            expected = f"a rule whose findings have a severity; {rule!r} only reports notes"
            yield BAD_SETTING(at=at, key=key, expected=expected, hint="Correct this setting.")


def _entries(table: Mapping[str, Any]) -> Iterator[PolicyEntry]:
    for row in table.get("severity", ()):
        area = Area(row["at"]) if "at" in row else None
        yield PolicyEntry("severity", row["severity"], row["reason"].strip(), row.get("rule", ""), area)
    for area, reason in table.get("experimental", {}).items():
        yield PolicyEntry("experimental", LOWERED, reason.strip(), area=Area(area))
    for area, row in table.get("deprecated", {}).items():
        sunset = date.fromisoformat(str(row["sunset"]))
        yield PolicyEntry("deprecated", LOWERED, row["reason"].strip(), area=Area(area), sunset=sunset)


# --- roles -----------------------------------------------------------------------------------------------------------


def require_roles(policy: Policy, reports: Iterable[Report], project: Config) -> None:
    """Check the roles that `promise` names: raises `Faults` if neither a report nor a protocol of the project has one.

    Nothing is checked if nothing has roles or a protocol of the project cannot be read.
    """
    role_names = {role for report in reports for role in report.named.roles}
    if policy.promises.keys() <= role_names:
        return
    try:
        role_names.update(_roles(project))
    except Faults:
        return
    if not role_names:
        return
    faults: list[Fault] = [
        UNKNOWN_NAME(
            at=f"{place(project.file)}: tool.acpgen.compat.promise.{role}",
            kind="role",
            name=role,
            hint=_hint(role, sorted(role_names)),
        )
        for role in policy.promises
        if role not in role_names
    ]
    if faults:
        raise Faults(faults)


def _roles(project: Config) -> Iterator[str]:
    """The roles of the protocols of a project. Raises `Faults`."""
    for name in project.protocols:
        source = project.root / project.schema / name
        yield from side(open_input(source, methods=project.profile(name)), unstable=True).meaning.protocol.sides


def _hint(role: str, role_names: list[str]) -> str:
    roles = f"The roles are {', '.join(map(repr, role_names))}."
    guess = did_you_mean(role, role_names)
    return f"{guess} {roles}" if guess.startswith("Did") else roles
