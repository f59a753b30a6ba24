"""The findings of `acpgen validate` as a report for all formats: the first message of each kind that is invalid or was not judged."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, SourceLocation
from acpgen.errors import count_noun

if TYPE_CHECKING:
    from acpgen.ir import JSON
    from acpgen.messages.validate import LineProblem, LineVerdict
    from acpgen.recordings.verdict import Verdict

MOST: Final = 1000
"""The maximum number of kinds of invalid messages in a report; lines of further kinds are counted."""

_SEVERITIES: Final = {"must": "MUST", "should": "SHOULD", "note": "note"}
_SENTENCES: Final = {
    "invalid": "Invalid: messages break the schema or the rules of the protocol.",
    "not judged": "Not judged: what was judged is valid, and not everything was.",
    "valid": "Valid: every message was judged, and none is invalid.",
}


@dataclass(slots=True)
class MessageDiagnostics:
    """Collects diagnostics, one for the first of each kind. `allowed`: unjudged lines do not fail."""

    allowed: bool = False
    left_out: int = 0
    _kinds: dict[Hashable, list[Diagnostic]] = field(default_factory=dict[Hashable, list[Diagnostic]])

    def add_line(self, file: str, verdict: LineVerdict) -> None:
        """Add the verdict of a line of a file."""
        if verdict.is_judged and not verdict.problems:
            return
        earlier = self._kinds.get(verdict.mark)
        if earlier is not None:
            self._kinds[verdict.mark] = [
                replace(diagnostic, count=diagnostic.count + verdict.count) for diagnostic in earlier
            ]
        else:
            self._keep(verdict.mark, [*self._report_line(file, verdict)])

    def add_recording(self, verdict: Verdict) -> None:
        """Add the verdict of a recording: the kinds that it names, and why it was not read to the end."""
        for finding in verdict.findings:
            severity = _SEVERITIES.get(finding.level, "error") if finding.rule else "not judged"
            place = SourceLocation(finding.file, finding.line)
            self._keep(finding, [self._make_diagnostic(finding.rule or "not-judged", severity, finding.text, place)])
        if verdict.failure:
            place = SourceLocation(verdict.recording)
            self._keep(verdict, [self._make_diagnostic("not-judged", "not judged", verdict.failure, place)])

    def report(
        self, files: Sequence[str], valid: int = 0, invalid: int = 0, not_judged: int = 0, *, is_judged: bool = False
    ) -> DiagnosticReport:
        """The report on everything that was added from these files, with these numbers of lines."""
        verdict = "invalid" if invalid else "valid" if is_judged else "not judged"
        diagnostics = tuple(diagnostic for group in self._kinds.values() for diagnostic in group)
        summary = f"{count_noun(valid, 'line')} valid, {invalid} invalid, {not_judged} not judged"
        remarks = (f"Further lines that are invalid or were not judged: {self.left_out}.",) if self.left_out else ()
        data: dict[str, JSON] = {
            "verdict": verdict,
            "counts": {"valid": valid, "invalid": invalid, "not_judged": not_judged},
            "findings": [{**diagnostic.properties, "count": diagnostic.count} for diagnostic in diagnostics],
            "left_out": self.left_out,
        }
        return DiagnosticReport(
            command="validate",
            label="Messages",
            title=", ".join(files[:1]) + (f" and {len(files) - 1} more" if files[1:] else ""),
            verdict=verdict,
            sentence=_SENTENCES[verdict],
            summary=summary,
            remarks=remarks,
            diagnostics=diagnostics,
            is_judged=bool(valid or invalid),
            data=lambda: data,
            layout="lines",
            code=int(bool(invalid) or not (is_judged or self.allowed)),
        )

    def _keep(self, kind: Hashable, group: list[Diagnostic]) -> None:
        if len(self._kinds) < MOST:
            self._kinds[kind] = group
        else:
            self.left_out += 1

    def _report_line(self, file: str, verdict: LineVerdict) -> Iterator[Diagnostic]:
        who = " ".join(filter(None, (verdict.sender, verdict.kind, verdict.method)))
        place = SourceLocation(file, verdict.line)
        for problem in verdict.problems:
            diagnostic = self._make_diagnostic(
                problem.rule, _SEVERITIES.get(problem.level, "error"), problem.sentence, place
            )
            message = f"{problem.pointer}: {problem.sentence}" if problem.pointer else problem.sentence
            properties = {**diagnostic.properties, "pointer": problem.pointer}
            yield replace(diagnostic, message=message, subject=who, details=_cite(problem), properties=properties)
        if verdict.note and all(problem.sentence != verdict.note for problem in verdict.problems):
            yield replace(self._make_diagnostic("not-judged", "not judged", verdict.note, place), subject=who)

    def _make_diagnostic(self, rule: str, severity: str, message: str, place: SourceLocation) -> Diagnostic:
        return Diagnostic(
            *(rule, severity, message),
            locations=(place,),
            group=place.file,
            fails=severity != "note" and not (self.allowed and severity == "not judged"),
            properties={"rule": rule, "level": severity, "file": place.file, "line": place.line, "message": message},
        )


def _cite(problem: LineProblem) -> tuple[str, ...]:
    from acpgen.messages import validators

    return (f"Requirements: {validators.cite_requirements(problem.requirements)}.",) if problem.requirements else ()
