"""Repairs of a report: its findings with the edits that end them, or the reason why there are none.

Each proposal is judged by the whole comparison, made again with the edited files: first each alone, then all at once. The number of
comparisons is limited, so the outcome is the same on each machine.
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

from acpgen.compat.compare import side
from acpgen.compat.faults import NOT_REPAIRABLE
from acpgen.compat.findings import FilePatch, Finding, Fix, Repair, Report, SourcePosition, Suggestion
from acpgen.compat.repair.proposals import EFFORTS, Effort, Proposal, Proposals, describe
from acpgen.compat.repair.reversals import Edits, combine
from acpgen.compat.repair.sides import Sides
from acpgen.errors import Fault, Faults
from acpgen.input.load import Document, check, parse_json, read_bytes
from acpgen.input.text_edits import edited, lines_changed, patch

if TYPE_CHECKING:
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.compat.sources import Input

BUDGET: Final = 200
"""As many comparisons are made for the repairs of one report of small schemas."""
SCALE: Final = 30_000
"""For large ones: definitions of both sides times comparisons."""
_SPARED: Final = 4
"""As many comparisons are left for all repairs at once when each has been tried alone."""
_BAD: Final = ("breaking", "undecided", "risky")


@dataclass(frozen=True, slots=True)
class RepairResult:
    """A report with repairs, the new side, and the texts of its files that all repairs together change, by path."""

    report: Report
    new: Input = field(repr=False)
    texts: Mapping[str, str] = field(repr=False)

    @property
    def edited(self) -> Input:
        """The new side with all repairs. Raises `Faults`."""
        return with_texts(self.new, self.texts)

    @property
    def difference(self) -> str:
        """What changes in the files, as a unified diff."""
        found: list[str] = []
        for each in (each for each in self.new.documents.documents if each.path in self.texts):
            at, *texts = self.new.at(each.path), each.text, self.texts[each.path]
            before, after = (text.splitlines(keepends=True) for text in texts)
            found += (
                line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
                for line in difflib.unified_diff(before, after, at, at)
            )
        return "".join(found)

    def find_targets(self) -> Mapping[str, str]:
        """The texts by the file that each belongs to: one of the working tree, as it was when it was read. Raises `Faults`."""
        found: dict[str, str] = {}
        faults: list[Fault] = []
        known: Mapping[str, bytes] = dict(self.new.source.files) if self.new.source is not None else {}
        for path, text in self.texts.items():
            at = self.new.at(path)
            why = _obstacle(Path(at), known.get(path))
            faults += [NOT_REPAIRABLE(at=at, reason=why)] if why else []
            found[os.path.realpath(at)] = text
        if faults:
            raise Faults(faults)
        return found

    def tell(self, *, is_written: bool) -> Iterator[str]:
        """What was repaired and what was not, in lines for people."""
        for finding in self.report.findings:
            if finding.repair_sentence:
                yield f"{finding.rule} {finding.declaration or finding.location}: {finding.repair_sentence}"
        names = ", ".join(map(self.new.at, self.texts))
        yield f"Written: {names}." if is_written else "Nothing was written."


def _obstacle(file: Path, content: bytes | None) -> str:
    """Why a file cannot take the repairs; empty if it can."""
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
    """The report with a repair, or the reason why there is none, on each breaking or risky finding.

    `compare` makes the report of the old side and another new one. `budget` is how many comparisons may be made; without, as many as
    suit the size of the schemas.
    """

    @cache
    def meaning() -> SchemaRevision | None:
        try:
            return None if report.mode == "language" else side(new, unstable=unstable).meaning
        except Faults:
            return None

    sides = Sides(old, new)
    limit = max(20, min(BUDGET, SCALE // max(len(sides.before) + len(sides.after), 1))) if budget is None else budget
    wanted = [each for each in report.findings if _needs_repair(each)]
    offered = {id(each): [*Proposals(each, sides, meaning)] for each in wanted}
    search = _Search(_Outcome(report), sides, wanted, offered, compare, limit)
    search.run()
    findings = tuple(search.with_repair(each) if _needs_repair(each) else each for each in report.findings)
    edits = search.edits(search.accepted) or {}
    if search.outcome is None or not edits:
        return RepairResult(replace(report, findings=findings), new, {})
    ended = sum(search.outcome.ends(each, search.before) for each in wanted)
    fix = Fix(search.outcome.report.verdict, ended, len(wanted), _patches(edits, new))
    return RepairResult(replace(report, findings=findings, fix=fix), new, texts(new, edits))


@dataclass
class _Search:
    """The repairs of one report: the proposal that ends each finding, and those that hold together, with the report that they leave."""

    before: _Outcome
    sides: Sides
    wanted: Sequence[Finding]
    offered: Mapping[int, Sequence[Proposal]]
    compare: Callable[[Input], Report]
    limit: int
    spent: int = 0
    chosen: dict[int, Proposal] = field(default_factory=dict[int, Proposal])
    failed: dict[int, list[str]] = field(default_factory=lambda: defaultdict[int, list[str]](list))
    accepted: list[Proposal] = field(default_factory=list[Proposal])
    outcome: _Outcome | None = None
    known: dict[object, _Outcome | str] = field(default_factory=dict[object, "_Outcome | str"])

    def run(self) -> None:
        """Find a repair for each finding that needs one, as long as the budget lasts."""
        for effort in EFFORTS:
            for finding in self.wanted:
                self._alone(finding, effort)
            fresh = {each.identity: each for each in self.chosen.values() if each not in self.accepted}
            self._together(list(fresh.values()))

    def _alone(self, finding: Finding, effort: Effort) -> None:
        for proposal in self.offered[id(finding)] if id(finding) not in self.chosen else ():
            if proposal.effort != effort:
                continue
            outcome = self._judge([proposal], self.limit - _SPARED)
            if not isinstance(outcome, str) and outcome.ends(finding, self.before):
                left = [each for each in self.wanted if id(each) not in self.chosen and outcome.ends(each, self.before)]
                least, outcome = self._reduce(proposal, left if effort == "revert all" else [finding], outcome)
                for other in self.wanted:
                    if outcome.ends(other, self.before):
                        self.chosen.setdefault(id(other), least)
                return
            self.failed[id(finding)].append(outcome if isinstance(outcome, str) else "the finding stays")

    def _reduce(self, proposal: Proposal, ended: list[Finding], outcome: _Outcome) -> tuple[Proposal, _Outcome]:
        """A proposal without what these findings do not need, in halves down to single definitions, then down to single edits.

        It takes no more of the budget than leaves as much for each other finding.
        """
        others = sum(id(each) not in self.chosen and each not in ended for each in self.wanted)
        limit = self.spent + (self.limit - _SPARED - self.spent) // (others + 1)
        for unit in (self.sides.edited, attrgetter("identity")):
            units = list(dict.fromkeys(map(unit, proposal.parts)))
            size = len(units) // 2
            while size:
                start = 0
                while start < len(units) > size:
                    gone = units[start : start + size]
                    parts = self.sides.complete(each for each in proposal.parts if unit(each) not in gone)
                    less = replace(proposal, parts=parts)
                    left = self._judge([less], limit)
                    if isinstance(left, _Outcome) and all(left.ends(each, self.before) for each in ended):
                        proposal, outcome = less, left
                        del units[start : start + size]
                    else:
                        start += size
                size //= 2
        return replace(proposal, description=proposal.description or describe(proposal.parts)), outcome

    def _together(self, group: list[Proposal]) -> None:
        """Accept what of a group holds beside what is accepted; where something does harm, halves tell what."""
        trial = [*self.accepted, *group]
        ended = [each for each in self.wanted if self.chosen.get(id(each)) in trial]
        outcome = self._judge(trial, self.limit) if group else ""
        if isinstance(outcome, _Outcome) and all(outcome.ends(each, self.before) for each in ended):
            self.accepted, self.outcome = trial, outcome
        elif len(group) > 1:
            self._together(group[: len(group) // 2])
            self._together(group[len(group) // 2 :])

    def _judge(self, proposals: Sequence[Proposal], limit: int) -> _Outcome | str:
        """The report on the edited files, if nothing there is worse; otherwise the reason why the edits do not hold."""
        edits = self.edits(proposals)
        known: frozenset[Any] = frozenset[Any]().union(*(each.identity for each in proposals))
        if edits is None:
            return "it contradicts the repair of another finding"
        if known not in self.known and self.spent < limit:
            self.spent += 1
            try:
                outcome = _Outcome(self.compare(with_texts(self.sides.new, texts(self.sides.new, edits))))
                worse = next(outcome.harms(self.before), None)
                self.known[known] = outcome if worse is None else _reason(worse)
            except Faults:  # about edits that nobody has seen
                self.known[known] = "the restored part does not fit into the new schema"
        return self.known.get(known, "the budget is spent")

    def edits(self, proposals: Iterable[Proposal]) -> Edits | None:
        values = {each.path: each.value for each in self.sides.new.documents.documents}
        return combine([part for each in proposals for part in each.parts], values)

    def with_repair(self, finding: Finding) -> Finding:
        """A finding with its repair, or the reason why it has none."""
        proposal = self.chosen.get(id(finding))
        if proposal is None:
            return replace(finding, no_repair=self._why_not(finding))
        patches = _patches(self.edits([proposal]) or {}, self.sides.new)
        why = "" if proposal.keeps else _why(finding)
        return replace(finding, repair=Repair(proposal.description, proposal.keeps, why, patches))

    def _why_not(self, finding: Finding) -> str:
        if self.spent >= self.limit - _SPARED:
            return f"The budget of {self.limit} comparisons was spent before a repair was found."
        failed = self.failed[id(finding)]
        if not failed:
            return "No repair is known for this rule: nothing in the new schema can be put back."
        return (
            f"{'1 edit was' if len(failed) == 1 else f'{len(failed)} edits were'} tried, and none works: {failed[-1]}."
        )


def _why(finding: Finding) -> str:
    """Why old and new peers cannot both be served while the change stands."""
    senders = {sender for each in finding.reaches for sender in each.senders}
    if senders == {"old"}:
        return "Old peers may send it, so the new schema must accept it."
    if senders == {"new"}:
        return "New peers may send it, and old peers reject it, whatever the new schema says."
    return "Old and new peers would read the same message differently."


# --- what an edit does to the findings -------------------------------------------------------------------------------


def _needs_repair(finding: Finding) -> bool:
    """Whether a finding is one that repairs are made for."""
    counted = any(each.severity in _BAD and each.waived is None for each in finding.reaches)
    return finding.severity in ("breaking", "risky") and finding.waived is None and counted


def _keys(finding: Finding) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a finding is about, and what causes it."""
    cause = ("cause", finding.rule, _plain(finding.old), _plain(finding.new))
    return (finding.rule, finding.declaration or finding.location), cause


def _plain(position: SourcePosition | None) -> str:
    """A place without indices, which edits move."""
    return "" if position is None else re.sub(r"/\d+(?=/|$)", "/", str(position))


class _Outcome:
    """A report, with how many findings are about each thing and from each cause, by severity: a worse one counts for those below it."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.bad = [each for level in _BAD for each in report.findings if each.severity == level]
        self.fingerprints = {each.fingerprint for each in self.bad}
        self.claims = Counter(claim for each in self.bad for claim in _claims(each))

    def ends(self, finding: Finding, before: _Outcome) -> bool:
        """Whether a finding is there no more, nor another of its kind in its place, whatever that is called."""
        if finding.fingerprint in self.fingerprints:
            return False
        return all(self.claims[(*key, _BAD[-1])] < before.claims[(*key, _BAD[-1])] for key in _keys(finding))

    def harms(self, before: _Outcome) -> Iterator[Finding]:
        """What is worse than before an edit, worst first.

        A finding that comes to light at another message is none that is new, if its cause stood there before.
        """
        left = before.claims.copy()
        for each in self.bad:
            left.subtract(_claims(each))
            if all(left[(*key, each.severity)] < 0 for key in _keys(each)):
                yield each


def _claims(finding: Finding) -> list[tuple[str, ...]]:
    return [(*key, level) for key in _keys(finding) for level in _BAD[_BAD.index(finding.severity) :]]


def _reason(worse: Finding) -> str:
    where = f" at {worse.location}" if worse.location else ""
    return f"{worse.severity} {worse.rule}{where} would replace it"


# --- texts -----------------------------------------------------------------------------------------------------------


def with_texts(given: Input, changed: Mapping[str, str]) -> Input:
    """The given with other texts for some of its files, by path. Raises `Faults`."""
    documents = list(given.documents.documents)
    for index, each in enumerate(documents):
        if each.path in changed:
            at = given.at(each.path)
            value = parse_json(changed[each.path], at)
            faults = list(check(value, at, given.documents.reference_values))
            if faults:
                raise Faults(faults)
            documents[index] = Document(each.path, value, changed[each.path])
    return replace(given, documents=replace(given.documents, documents=tuple(documents)))


def texts(given: Input, edits: Edits) -> dict[str, str]:
    """The edited files, by path."""
    before = {each.path: each.text for each in given.documents.documents}
    return {path: edited(before[path], each) for path, each in edits.items()}


def _patches(edits: Edits, given: Input) -> tuple[FilePatch, ...]:
    before, after = {each.path: each.text for each in given.documents.documents}, texts(given, edits)
    found: list[FilePatch] = []
    for path in sorted(edits):
        changed = lines_changed(before[path], after[path])
        suggestions = tuple(Suggestion(first, last, "\n".join(lines)) for first, last, lines in changed)
        found.append(FilePatch(given.at(path), tuple(patch(edits[path])), suggestions))
    return tuple(found)
