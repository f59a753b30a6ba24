"""Repairs of a report: its findings with edits that remove them, or the reason why there are none.

Each proposal is checked by a complete comparison with the edited files: first each alone, then all together. The number of comparisons
is limited, so the result is the same on every machine.
"""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acpgen.compat.compare import read_side
from acpgen.compat.faults import NOT_REPAIRABLE
from acpgen.compat.findings import FilePatch, Finding, Fix, Repair, Report, SourcePosition, Suggestion
from acpgen.compat.repair.proposals import EFFORTS, Effort, Proposal, Proposals, describe
from acpgen.compat.repair.reversals import Edits, combine
from acpgen.compat.repair.schema_files import SchemaPair
from acpgen.errors import Fault, Faults
from acpgen.input.load import Document, check, parse_json, read_bytes
from acpgen.input.text_edits import apply_edits, diff_lines, patch

if TYPE_CHECKING:
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.compat.sources import Input

BUDGET: Final = 200
"""The maximum number of comparisons for the repairs of one report, for small schemas."""
SCALE: Final = 30_000
"""The limit for large schemas: definitions of both sides times comparisons."""
_SPARED: Final = 4
"""The number of comparisons reserved for all repairs together after each has been tried alone."""
_BAD: Final = ("breaking", "undecided", "risky")


@dataclass(frozen=True, slots=True)
class RepairResult:
    """A report with repairs, the new side, and the texts of the files that all repairs together change, by path."""

    report: Report
    new: Input = field(repr=False)
    texts: Mapping[str, str] = field(repr=False)

    @property
    def edited(self) -> Input:
        """The new side with all repairs. Raises `Faults`."""
        return with_texts(self.new, self.texts)

    @property
    def difference(self) -> str:
        """The changes of the files as a unified diff."""
        lines: list[str] = []
        for document in (document for document in self.new.documents.documents if document.path in self.texts):
            at, *texts = self.new.locate(document.path), document.text, self.texts[document.path]
            before, after = (text.splitlines(keepends=True) for text in texts)
            lines += (
                line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
                for line in difflib.unified_diff(before, after, at, at)
            )
        return "".join(lines)

    def find_targets(self) -> Mapping[str, str]:
        """The texts by the file to write: a file of the working tree that is unchanged since it was read. Raises `Faults`."""
        targets: dict[str, str] = {}
        faults: list[Fault] = []
        source_files: Mapping[str, bytes] = dict(self.new.source.files) if self.new.source is not None else {}
        for path, text in self.texts.items():
            at = self.new.locate(path)
            why = _find_obstacle(Path(at), source_files.get(path))
            faults += [NOT_REPAIRABLE(at=at, reason=why)] if why else []
            targets[os.path.realpath(at)] = text
        if faults:
            raise Faults(faults)
        return targets

    def tell(self, *, is_written: bool) -> Iterator[str]:
        """Yield lines for display on what was repaired and what was not."""
        for finding in self.report.findings:
            if finding.repair_sentence:
                yield f"{finding.rule} {finding.declaration or finding.location}: {finding.repair_sentence}"
        names = ", ".join(map(self.new.locate, self.texts))
        yield f"Written: {names}." if is_written else "Nothing was written."


def _find_obstacle(file: Path, content: bytes | None) -> str:
    """The reason why a file cannot be edited; empty if it can."""
    try:
        now = read_bytes(file) if file.is_file() else None
    except (Faults, OSError, ValueError):
        now = None
    if content is None or now is None:
        return "it is not a file of the working tree; name files of the working tree as NEW"
    return "" if now == content else "it has changed since it was read; run the command again"


def repair(
    report: Report,
    old: Input,
    new: Input,
    compare: Callable[[Input], Report],
    *,
    unstable: bool = False,
    budget: int | None = None,
) -> RepairResult:
    """Add a repair, or the reason why there is none, to each breaking or risky finding of a report.

    `compare` returns the report on the old side and another new one. `budget` is the maximum number of comparisons; by default it
    depends on the size of the schemas.
    """

    @cache
    def read_meaning() -> SchemaRevision | None:
        try:
            return None if report.mode == "language" else read_side(new, unstable=unstable).meaning
        except Faults:
            return None

    search = _Search(report, SchemaPair(old, new), read_meaning, compare, budget)
    findings = search.run()
    edits = search.combine_edits(search.accepted) or {}
    if search.outcome is None or not edits:
        return RepairResult(replace(report, findings=findings), new, {})
    ended = sum(search.outcome.ends(finding, search.before) for finding in search.wanted)
    fix = Fix(search.outcome.report.verdict, ended, len(search.wanted), _write_patches(edits, new))
    return RepairResult(replace(report, findings=findings, fix=fix), new, edit_texts(new, edits))


class _Search:
    """The search for the repairs of one report.

    `offered` are the proposals for each finding, `proposals` the least one, `accepted` the compatible ones, `outcome` the report that these
    leave.
    """

    def __init__(
        self,
        report: Report,
        sides: SchemaPair,
        meaning: Callable[[], SchemaRevision | None],
        compare: Callable[[Input], Report],
        budget: int | None,
    ) -> None:
        definition_count = len(sides.old.definitions) + len(sides.new.definitions)
        self.limit = max(20, min(BUDGET, SCALE // max(definition_count, 1))) if budget is None else budget
        self.before = _Outcome(report)
        self.sides = sides
        self.compare = compare
        self.wanted = [finding for finding in report.findings if _needs_repair(finding)]
        self.offered = {id(finding): [*Proposals(finding, sides, meaning)] for finding in self.wanted}
        self.proposals: dict[int, Proposal] = {}
        self.failures: dict[int, list[str]] = defaultdict(list)
        self.accepted: list[Proposal] = []
        self.outcome: _Outcome | None = None
        self.spent = 0
        self.outcomes: dict[object, _Outcome | str] = {}

    def run(self) -> tuple[Finding, ...]:
        """The findings, with a repair for each that needs one, within the budget."""
        for effort in EFFORTS:
            for finding in self.wanted:
                self._try_each(finding, effort)
            additions = {
                proposal.identity: proposal for proposal in self.proposals.values() if proposal not in self.accepted
            }
            self._try_together(list(additions.values()))
        findings = self.before.report.findings
        return tuple(self._with_repair(finding) if id(finding) in self.offered else finding for finding in findings)

    def _try_each(self, finding: Finding, effort: Effort) -> None:
        for proposal in self.offered[id(finding)] if id(finding) not in self.proposals else ():
            if proposal.effort != effort:
                continue
            outcome = self._judge([proposal], self.limit - _SPARED)
            if not isinstance(outcome, str) and outcome.ends(finding, self.before):
                ended = [
                    candidate
                    for candidate in self.wanted
                    if id(candidate) not in self.proposals and outcome.ends(candidate, self.before)
                ]
                least, outcome = self._reduce(proposal, ended if effort == "revert all" else [finding], outcome)
                for ended_finding in self.wanted:
                    if outcome.ends(ended_finding, self.before):
                        self.proposals.setdefault(id(ended_finding), least)
                return
            self.failures[id(finding)].append(outcome if isinstance(outcome, str) else "the finding stays")

    def _reduce(self, proposal: Proposal, ended: list[Finding], outcome: _Outcome) -> tuple[Proposal, _Outcome]:
        """Minimize a proposal: drop edits that the findings do not need, by halves, first by definition, then individually.

        It leaves an equal share of the budget for each other finding.
        """
        waiting = sum(id(finding) not in self.proposals and finding not in ended for finding in self.wanted)
        limit = self.spent + (self.limit - _SPARED - self.spent) // (waiting + 1)
        for unit in (self.sides.find_changed_definition, attrgetter("key")):
            units = list(dict.fromkeys(map(unit, proposal.parts)))
            size = len(units) // 2
            while size:
                start = 0
                while start < len(units) > size:
                    removed_units = units[start : start + size]
                    parts = self.sides.complete(part for part in proposal.parts if unit(part) not in removed_units)
                    less = replace(proposal, parts=parts)
                    reduced_outcome = self._judge([less], limit)
                    if isinstance(reduced_outcome, _Outcome) and all(
                        reduced_outcome.ends(finding, self.before) for finding in ended
                    ):
                        proposal, outcome = less, reduced_outcome
                        del units[start : start + size]
                    else:
                        start += size
                size //= 2
        return replace(proposal, description=proposal.description or describe(proposal.parts)), outcome

    def _try_together(self, group: list[Proposal]) -> None:
        """Accept the proposals of a group that are compatible with the accepted ones; if the group fails, try its halves."""
        trial = [*self.accepted, *group]
        ended = [finding for finding in self.wanted if self.proposals.get(id(finding)) in trial]
        outcome = self._judge(trial, self.limit) if group else ""
        if isinstance(outcome, _Outcome) and all(outcome.ends(finding, self.before) for finding in ended):
            self.accepted, self.outcome = trial, outcome
        elif len(group) > 1:
            self._try_together(group[: len(group) // 2])
            self._try_together(group[len(group) // 2 :])

    def _judge(self, proposals: Sequence[Proposal], limit: int) -> _Outcome | str:
        """The outcome on the edited files if nothing becomes worse; otherwise the reason why the edits are rejected."""
        edits = self.combine_edits(proposals)
        key: frozenset[Any] = frozenset[Any]().union(*(proposal.identity for proposal in proposals))
        if edits is None:
            return "it contradicts the repair of another finding"
        if key not in self.outcomes and self.spent < limit:
            self.spent += 1
            try:
                outcome = _Outcome(
                    self.compare(with_texts(self.sides.new.input, edit_texts(self.sides.new.input, edits)))
                )
                worse = next(outcome.find_harms(self.before), None)
                self.outcomes[key] = outcome if worse is None else _describe_reason(worse)
            except Faults:  # about edits that nobody has seen
                self.outcomes[key] = "the restored part does not fit into the new schema"
        return self.outcomes.get(key, "the budget is spent")

    def combine_edits(self, proposals: Iterable[Proposal]) -> Edits | None:
        return combine([part for proposal in proposals for part in proposal.parts], self.sides.new.values)

    def _with_repair(self, finding: Finding) -> Finding:
        """A finding with its repair, or with the reason why it has none."""
        proposal = self.proposals.get(id(finding))
        if proposal is None:
            return replace(finding, no_repair=self._explain_failure(finding))
        patches = _write_patches(self.combine_edits([proposal]) or {}, self.sides.new.input)
        why = "" if proposal.keeps else _explain(finding)
        return replace(finding, repair=Repair(proposal.description, proposal.keeps, why, patches))

    def _explain_failure(self, finding: Finding) -> str:
        if self.spent >= self.limit - _SPARED:
            return f"The budget of {self.limit} comparisons was spent before a repair was found."
        reasons = self.failures[id(finding)]
        if not reasons:
            return "No repair is known for this rule: nothing in the new schema can be put back."
        count = "1 edit was" if len(reasons) == 1 else f"{len(reasons)} edits were"
        return f"{count} tried, and none works: {reasons[-1]}."


def _explain(finding: Finding) -> str:
    senders = {sender for reach in finding.reaches for sender in reach.senders}
    if senders == {"old"}:
        return "Old peers may send it, so the new schema must accept it."
    if senders == {"new"}:
        return "New peers may send it, and old peers reject it, whatever the new schema says."
    return "Old and new peers would read the same message differently."


# --- what an edit does to the findings -------------------------------------------------------------------------------


def _needs_repair(finding: Finding) -> bool:
    has_bad_reach = any(reach.severity in _BAD and reach.waived is None for reach in finding.reaches)
    return finding.severity in ("breaking", "risky") and finding.waived is None and has_bad_reach


def _make_keys(finding: Finding) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The identity of a finding and of its cause."""
    cause = ("cause", finding.rule, _drop_indexes(finding.old), _drop_indexes(finding.new))
    return (finding.rule, finding.declaration or finding.location), cause


def _drop_indexes(position: SourcePosition | None) -> str:
    """A place without indexes, because edits shift them."""
    return "" if position is None else re.sub(r"/\d+(?=/|$)", "/", str(position))


class _Outcome:
    """A report with the number of findings for each identity and cause, by severity; a severity includes all worse ones."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.bad = [finding for level in _BAD for finding in report.findings if finding.severity == level]
        self.fingerprints = {finding.fingerprint for finding in self.bad}
        self.counts = Counter(key for finding in self.bad for key in _list_keys_by_level(finding))

    def ends(self, finding: Finding, before: _Outcome) -> bool:
        """Whether a finding is gone, and no other of its identity or cause replaces it."""
        if finding.fingerprint in self.fingerprints:
            return False
        return all(self.counts[(*key, _BAD[-1])] < before.counts[(*key, _BAD[-1])] for key in _make_keys(finding))

    def find_harms(self, before: _Outcome) -> Iterator[Finding]:
        """Yield findings that are worse than before an edit, worst first.

        A finding at another message is not new if its cause already existed.
        """
        remaining = before.counts.copy()
        for finding in self.bad:
            remaining.subtract(_list_keys_by_level(finding))
            if all(remaining[(*key, finding.severity)] < 0 for key in _make_keys(finding)):
                yield finding


def _list_keys_by_level(finding: Finding) -> list[tuple[str, ...]]:
    return [(*key, level) for key in _make_keys(finding) for level in _BAD[_BAD.index(finding.severity) :]]


def _describe_reason(worse: Finding) -> str:
    where = f" at {worse.location}" if worse.location else ""
    return f"{worse.severity} {worse.rule}{where} would replace it"


# --- texts -----------------------------------------------------------------------------------------------------------


def with_texts(side_input: Input, new_texts: Mapping[str, str]) -> Input:
    """An input with the texts of some files replaced, by path. Raises `Faults`."""
    documents, values = list(side_input.documents.documents), side_input.documents.values_by_uri
    for index, document in enumerate(documents):
        if document.path in new_texts:
            at, text = side_input.locate(document.path), new_texts[document.path]
            value = parse_json(text, at)
            faults = list(check(value, at, values))
            if faults:
                raise Faults(faults)
            documents[index] = Document(document.path, value, text)
    return replace(side_input, documents=replace(side_input.documents, documents=tuple(documents)))


def edit_texts(side_input: Input, edits: Edits) -> dict[str, str]:
    """The edited files, by path."""
    before = {file.path: file.text for file in side_input.documents.documents}
    return {path: apply_edits(before[path], file_edits) for path, file_edits in edits.items()}


def _write_patches(edits: Edits, side_input: Input) -> tuple[FilePatch, ...]:
    before, after = {file.path: file.text for file in side_input.documents.documents}, edit_texts(side_input, edits)
    patches: list[FilePatch] = []
    for path in sorted(edits):
        line_changes = diff_lines(before[path], after[path])
        suggestions = tuple(Suggestion(first, last, "\n".join(lines)) for first, last, lines in line_changes)
        patches.append(FilePatch(side_input.locate(path), tuple(patch(edits[path])), suggestions))
    return tuple(patches)
