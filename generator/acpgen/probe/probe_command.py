"""What `acpgen probe` does: reads what is asked, runs the probe, and writes the reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import SystemRandom
from typing import Any, Final

from acpgen.config.faults import BAD_PROJECT_FILE
from acpgen.errors import Faults, suggest_name
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.load import display_path, read_bytes
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.messages import validators
from acpgen.probe import registry
from acpgen.probe.conformance import Conformance
from acpgen.probe.registry import ProbeCase

SEEDS: Final = 1 << 31


def choose_seed(requested: int | None) -> int:
    """The seed of the random part: the one that is given, or a drawn one."""
    return SystemRandom().randrange(SEEDS) if requested is None else requested


def find_cases(names: Sequence[str], side: str) -> list[ProbeCase]:
    """The cases of a side below these names. Raises `Faults` for a name that has none."""
    table = [case for case in registry.load().values() if side in case.sides]
    case_names = [registry.name_case(case, version) for case in table for version in case.versions]
    for name in names:
        if not registry.select_cases([name], case_names):
            known_names = [*case_names, *(case.id for case in table), *(case.id.partition("/")[0] for case in table)]
            raise Faults(
                [UNKNOWN_NAME(at="--case", kind="case", name=name, hint=suggest_name(name, dict.fromkeys(known_names)))]
            )
    return [
        case
        for case in table
        if not names or registry.select_cases(names, [registry.name_case(case, version) for version in case.versions])
    ]


def choose_versions(protocols: Sequence[str]) -> tuple[int, ...]:
    """The versions of ACP that are named. Raises `Faults` for other protocols, and says what there is for those of MCP."""
    versions = {"acp/v1": 1, "acp/v2": 2}
    for name in protocols:
        if name.startswith("mcp/"):
            subject = f"A probe of {name}"
            reason = (
                "the cases are those of ACP, and of MCP this project has the schema of the handshake and of roots alone"
            )
            remedy = (
                f"Judge what a server or client of MCP says in use: acpgen tap --protocol {name} -- COMMAND, "
                f"or acpgen validate --session FILE --protocol {name} for a recording"
            )
            raise Faults([UNSUPPORTED(at="--protocol", subject=subject, reason=reason, remedy=remedy)])
        if name not in versions:
            raise Faults([UNKNOWN_NAME(at="--protocol", kind="protocol", name=name, hint=suggest_name(name, versions))])
    return tuple(dict.fromkeys(versions[name] for name in protocols)) or (1, 2)


def list_cases(table: Sequence[ProbeCase]) -> str:
    """The cases for people: those of MUSTs first, strict ones apart."""
    from acpgen.diagnostics.columns import strip_colours, wrap

    lines: list[str] = []
    for heading, is_strict in (("Demanded (MUST)", False), ("Advised, or not said (strict)", True)):
        group = [case for case in table if case.is_strict == is_strict]
        if group:
            lines += ["", heading] if lines else [heading]
        for case in group:
            where = "" if case.start == "program" else f"  v{', v'.join(map(str, case.versions))}"
            lines.append(f"  {case.id}{where}")
            lines += wrap(" ".join(case.doc.split()), "      ")
            clause = case.find_clause(case.versions[0])
            lines += wrap(f"{clause.document}, {clause.section}", "      ")
            rows = dict.fromkeys(row for version in case.versions for row in case.list_requirements(version))
            if rows:
                lines += wrap(f"Requirements: {', '.join(map(str, rows))}", "      ")
    return strip_colours("\n".join(lines)) + "\n"


def apply_baseline(report: Conformance, baseline: Mapping[str, Any]) -> None:
    """Move findings that a baseline contains out of the report, and note which of them no longer occur."""
    rows = {str(row["fingerprint"]): row for row in baseline["findings"]}
    report.known = [finding for finding in report.findings if finding.fingerprint in rows]
    report.findings = [finding for finding in report.findings if finding.fingerprint not in rows]
    known_fingerprints = {finding.fingerprint for finding in report.known}
    reached = set(report.reached)
    report.gone = [row for mark, row in rows.items() if mark not in known_fingerprints and row.get("case") in reached]


def render_baseline(report: Conformance) -> str:
    """The findings of a report as a baseline."""
    rows = [
        {name: getattr(finding, name) for name in ("fingerprint", "case", "rule", "level", "message")}
        for finding in report.findings
    ]
    return json.dumps({"findings": sorted(rows, key=lambda row: (row["case"], row["fingerprint"]))}, indent=2) + "\n"


def read_baseline(path: Path) -> Mapping[str, Any]:
    """Read a baseline. Raises `Faults` for an invalid file."""
    try:
        value, _ = validators.read(read_bytes(path))
    except ValueError:
        value = None
    rows = value.get("findings") if is_object(value) else None
    if not is_array(rows) or not all(is_object(row) and isinstance(row.get("fingerprint"), str) for row in rows):
        reason = "this is no baseline: an object with 'findings', each with a 'fingerprint'"
        raise Faults([BAD_PROJECT_FILE(at=display_path(path), reason=reason, remedy="Write one with --write-baseline")])
    return value  # type: ignore[no-any-return]
