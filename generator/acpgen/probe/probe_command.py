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
    table = [one for one in registry.load().values() if side in one.sides]
    every = [registry.name_case(one, version) for one in table for version in one.versions]
    for name in names:
        if not registry.select_cases([name], every):
            known = [*every, *(one.id for one in table), *(one.id.partition("/")[0] for one in table)]
            raise Faults(
                [UNKNOWN_NAME(at="--case", kind="case", name=name, hint=suggest_name(name, dict.fromkeys(known)))]
            )
    return [
        one
        for one in table
        if not names or registry.select_cases(names, [registry.name_case(one, version) for version in one.versions])
    ]


def choose_versions(protocols: Sequence[str]) -> tuple[int, ...]:
    """The versions of ACP that are named. Raises `Faults` for other protocols, and says what there is for those of MCP."""
    known = {"acp/v1": 1, "acp/v2": 2}
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
        if name not in known:
            raise Faults([UNKNOWN_NAME(at="--protocol", kind="protocol", name=name, hint=suggest_name(name, known))])
    return tuple(dict.fromkeys(known[name] for name in protocols)) or (1, 2)


def list_cases(table: Sequence[ProbeCase]) -> str:
    """The cases for people: those of MUSTs first, strict ones apart."""
    from acpgen.diagnostics.columns import strip_colours, wrap

    lines: list[str] = []
    for heading, is_strict in (("Demanded (MUST)", False), ("Advised, or not said (strict)", True)):
        group = [one for one in table if one.is_strict == is_strict]
        if group:
            lines += ["", heading] if lines else [heading]
        for one in group:
            where = "" if one.start == "program" else f"  v{', v'.join(map(str, one.versions))}"
            lines.append(f"  {one.id}{where}")
            lines += wrap(" ".join(one.doc.split()), "      ")
            clause = one.find_clause(one.versions[0])
            lines += wrap(f"{clause.document}, {clause.section}", "      ")
            rows = dict.fromkeys(row for version in one.versions for row in one.list_requirements(version))
            if rows:
                lines += wrap(f"Requirements: {', '.join(map(str, rows))}", "      ")
    return strip_colours("\n".join(lines)) + "\n"


def apply_baseline(report: Conformance, baseline: Mapping[str, Any]) -> None:
    """Move findings that a baseline contains out of the report, and note which of them no longer occur."""
    rows = {str(row["fingerprint"]): row for row in baseline["findings"]}
    report.known = [one for one in report.findings if one.fingerprint in rows]
    report.findings = [one for one in report.findings if one.fingerprint not in rows]
    known_fingerprints = {one.fingerprint for one in report.known}
    reached = set(report.reached)
    report.gone = [row for mark, row in rows.items() if mark not in known_fingerprints and row.get("case") in reached]


def render_baseline(report: Conformance) -> str:
    """The findings of a report as a baseline."""
    rows = [
        {"fingerprint": one.fingerprint, "case": one.case, "rule": one.rule, "level": one.level, "message": one.message}
        for one in report.findings
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
