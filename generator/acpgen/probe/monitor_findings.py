"""The violations that the monitor saw, as findings of the probe, with the clauses of the documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from acpgen import embedded
from acpgen.input.walk import is_array, is_object
from acpgen.messages import validators
from acpgen.pointers import find_value
from acpgen.probe.citations import read_requirements as requirements_table
from acpgen.probe.clauses import ACP, RPC, Clause, Strength
from acpgen.probe.conformance import ProbeFinding, SkippedCase
from acpgen.probe.connection import CaseBreach, Connection, write_id

if TYPE_CHECKING:
    from acp_monitor import Breach

_PASSED_OVER: Final = frozenset({"messages-missed", "request-unanswered", "not-judged", "version-unknown"})
"""Rules whose notes say nothing against the program."""

_OWED: Final = frozenset({"cancelled-request-unanswered"})
"""Rules that are about a request of one side and are broken by the other."""

_RPC_RULES: Final = {
    "envelope-malformed": "4 Request object, 5 Response object",
    "response-without-request": "5 Response object",
    "id-in-use": "4 Request object",
    "error-malformed": "5.1 Error object",
    "batch-empty": "6 Batch",
    "batch-mixed": "6 Batch",
}
"""Rules of the monitor based on JSON-RPC, with the section."""

_WORDS: Final[Mapping[Strength, tuple[str, ...]]] = {
    "must": ("MUST", "MUST NOT"),
    "should": ("SHOULD", "SHOULD NOT", "RECOMMENDED"),
    "note": (),
}
"""The RFC 2119 words of each level."""

_SCHEMA_RULES: Final = frozenset(
    {"params-malformed", "result-malformed", "result-null", "method-unknown", "method-misdirected"}
)


def list_breaches(connection: Connection) -> Iterator[ProbeFinding]:
    """Yield the findings of an ended connection from what the monitor saw."""
    for case_breach in connection.breaches:
        breach = case_breach.breach
        at_fault = connection.probe_side if breach.rule in _OWED else connection.program_side
        if breach.rule in _PASSED_OVER or breach.sender != at_fault or _is_tolerated(connection, case_breach):
            continue
        yield ProbeFinding(
            rule=breach.rule,
            case=case_breach.case,
            clause=_choose_clause(
                breach.rule, _find_requirements(breach, connection.version), breach.level, connection.program_side
            ),
            level=breach.level,
            message=f"{breach.method}: {breach.sentence}{_describe_place(breach.pointer)}"
            if breach.method
            else breach.sentence,
            transcript=connection.cut_excerpt(breach.earlier, _find_request(connection, breach.index), breach.index),
            sent=case_breach.sent,
            place=f"{breach.method} {re.sub(r'/[0-9]+', '/*', breach.pointer)}",
            spoken=f"v{connection.version}",
        )


def list_unjudged(connection: Connection) -> Iterator[SkippedCase]:
    """What the monitor did not judge of what the program sent."""
    for case_breach in connection.breaches:
        if case_breach.breach.rule == "not-judged" and case_breach.breach.sender == connection.program_side:
            yield SkippedCase(case_breach.case or "monitor", case_breach.breach.sentence)


def merge(findings: Iterable[ProbeFinding]) -> list[ProbeFinding]:
    """Merge findings that say the same about the same place, with their count."""
    from dataclasses import replace

    findings_by_key: dict[tuple[str, str, str, str], ProbeFinding] = {}
    for finding in findings:
        key = (finding.rule, finding.version, finding.level, finding.place)
        earlier = findings_by_key.get(key)
        findings_by_key[key] = finding if earlier is None else replace(earlier, times=earlier.times + finding.times)
    return sorted(findings_by_key.values(), key=lambda finding: ("must", "should", "note").index(finding.level))


def _is_tolerated(connection: Connection, case_breach: CaseBreach) -> bool:
    """Whether a violation is only an answer to a line that readers may take in different ways."""
    if case_breach.breach.rule not in ("response-without-request", "envelope-malformed", "session-not-open"):
        return False
    if not 0 <= case_breach.breach.index < len(connection.rows):
        return False
    value = _read(connection.rows[case_breach.breach.index].message)
    if case_breach.breach.rule == "session-not-open":
        return write_id(find_value(value, ("params", "sessionId"))) in connection.tolerated
    items = value if is_array(value) else [value]
    return all(is_object(item) and write_id(item.get("id")) in connection.tolerated for item in items)


def _find_request(connection: Connection, index: int) -> int | None:
    """The index of the request that a message answers."""
    if not 0 <= index < len(connection.rows):
        return None
    value = _read(connection.rows[index].message)
    if not is_object(value) or "method" in value or "id" not in value:
        return None
    for at in range(index - 1, -1, -1):
        row = connection.rows[at]
        if row.sender == connection.probe_side and len(row.message) < 100_000:
            request = _read(row.message)
            if is_object(request) and "method" in request and request.get("id") == value["id"]:
                return at
    return None


def _read(text: bytes) -> Any:
    try:
        return validators.read(text)[0]
    except ValueError:
        return None


def _describe_place(pointer: str) -> str:
    return f" (at {pointer})" if pointer else ""


def _find_requirements(breach: Breach, version: int | str | None) -> tuple[int | str, ...]:
    """The requirements behind a violation in the version in force. Before the handshake ends, the monitor cites the newest version."""
    protocol = f"acp/v{version}"
    is_other = all(
        str(id_).startswith("acp/") and not str(id_).startswith(f"{protocol}/") for id_ in breach.requirements
    )
    if version is None or not is_other:
        return breach.requirements
    return (
        embedded.requirements.find_requirements(protocol, breach.rule, (breach.method, breach.sender))
        or breach.requirements
    )


def _choose_clause(rule: str, requirements: tuple[int | str, ...], level: Strength, side: str) -> Clause:
    """What the documents demand of this side where the rule is broken: the first requirement of the finding's level, or the first at all.

    A requirement that binds the other side alone is passed over.
    """
    table = requirements_table()
    binding = [id_ for id_ in requirements if id_ in table and table[id_].who in (side, "both", "schema")]
    if binding:
        nearest = min(binding, key=lambda id_: table[id_].level not in _WORDS[level])
        row = table[nearest]
        return Clause(row.document, row.section, level, row.says, nearest)
    monitor_rule = embedded.monitor.RULES.get(rule)
    says = " ".join(monitor_rule.doc.split()) if monitor_rule is not None else embedded.monitor.REMARKS[rule]
    says = re.split(r"(?<=[.]) ", says)[0]
    if rule in _RPC_RULES:
        return Clause(RPC, _RPC_RULES[rule], level, says)
    if rule == "not-json":
        return Clause(ACP, "Transports: stdio", level, says)
    return Clause(ACP, "Schema" if rule in _SCHEMA_RULES else f"rule {rule} of the monitor", level, says)
