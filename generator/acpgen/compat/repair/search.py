"""Which candidates hold: each is judged by the whole comparison, made again with the edited files.

First all findings are repaired together, each by its first candidate that holds; then what is not needed is left out, and each repair
is tried alone. The number of comparisons is limited, so the outcome is the same on each machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acpgen.compat.findings import SEVERITIES, Finding, Report, Spot
from acpgen.compat.repair.attempts import Candidate, Edits, FileEdit, combined
from acpgen.compat.repair.case import Case
from acpgen.compat.repair.plans import candidates
from acpgen.compat.repair.restoring import described
from acpgen.errors import Faults

if TYPE_CHECKING:
    from acpgen.compat.repair.ground import Ground

Recheck: TypeAlias = Callable[[Edits], Report]
"""The comparison with the new files edited. Raises `Faults` where these cannot be read any more."""

BAD: Final = ("breaking", "undecided", "risky")


@dataclass(slots=True)
class Attempt:
    """A finding on its way to a repair."""

    finding: Finding
    options: Iterator[Candidate]
    chosen: Candidate | None = None
    settled: bool = False
    alone: bool = False
    shares: Attempt | None = None
    failed: str = ""


@dataclass(slots=True)
class Search:
    """The repairs of one report."""

    ground: Ground
    report: Report
    recheck: Recheck
    budget: int
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    spent: int = 0
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    outcome: Report | None = None

    def run(self) -> None:
        """Find a repair for each finding that needs one, as long as the budget lasts."""
        wanted = [each for each in self.report.findings if needs_repair(each)]
        self.attempts = [Attempt(each, candidates(Case(each, self.ground))) for each in wanted]
        self._together()
        self._alone()

    @property
    def exhausted(self) -> bool:
        return self.spent >= self.budget

    def accepted(self) -> list[Attempt]:
        """The findings with a repair of their own that holds."""
        return [each for each in self.attempts if each.settled and each.chosen is not None]

    # --- all together ---

    def _together(self) -> None:
        while not self.exhausted:
            open_ = [each for each in self.attempts if not each.settled]
            for each in open_:
                each.chosen = next(each.options, None)
            tried = [each for each in open_ if each.chosen is not None]
            if not tried:
                return
            self._settle(tried)

    def _settle(self, tried: list[Attempt]) -> None:
        """Keep what ends its finding and does no harm; where something does harm, halves tell what."""
        pending = [tried]
        while pending and not self.exhausted:
            group = pending.pop()
            group = [each for each in group if not each.settled]
            if not group:
                continue
            outcome = self._judged([*self._parts(self.accepted()), *self._parts(group)])
            if isinstance(outcome, Report):
                worse = harms(self.report, outcome)
                if not worse:
                    self._keep(group, outcome)
                    continue
                why, suspects = told(worse[0]), self._suspects(group, worse)
            else:
                why, suspects = outcome, []
            if len(group) == 1:
                group[0].failed = why
            elif 0 < len(suspects) < len(group):
                pending += [suspects, [each for each in group if each not in suspects]]
            else:
                middle = len(group) // 2
                pending += [group[middle:], group[:middle]]

    def _keep(self, group: list[Attempt], outcome: Report) -> None:
        """Settle what ended its finding."""
        for each in self.attempts:
            if not each.settled and is_gone(each.finding, self.report, outcome):
                each.settled = True
                if each not in group:
                    each.chosen = None  # the repairs of others have ended it
        for each in group:
            if not each.settled:
                each.failed = "the finding stays"

    def _suspects(self, group: list[Attempt], worse: Iterable[Finding]) -> list[Attempt]:
        """Those whose edits are made in a definition in which something is worse now."""
        ground = self.ground
        places = [ground.place(each.new, ground.new) for each in worse]
        around = {(at.path, at.keys[:2]) for at in places if at is not None}
        return [
            each
            for each in group
            if each.chosen is not None and any((part.path, part.edit.at[:2]) in around for part in each.chosen.parts)
        ]

    def _parts(self, attempts: Iterable[Attempt]) -> list[FileEdit]:
        return [part for each in attempts if each.chosen is not None for part in each.chosen.parts]

    def _judged(self, parts: Sequence[FileEdit]) -> Report | str:
        """The report on the edited files; the reason why there is none."""
        edits = combined(parts, self.values)
        if edits is None:
            return "it contradicts the repair of another finding"
        self.spent += 1
        try:
            return self.recheck(edits)
        except Faults as faults:
            return f"the edited schema cannot be read: {faults.faults[0]}"

    # --- each alone, as little as holds ---

    def _alone(self) -> None:
        """Try each repair alone, leave out what it does not need, and let it stand for all findings that it ends."""
        before = {index: each.chosen for index, each in enumerate(self.attempts)}
        owners: list[Attempt] = []
        for each in self.accepted():
            twin = next((owner for owner in owners if _same(owner.chosen, each.chosen)), None)
            if twin is not None:
                each.shares, each.alone = twin, twin.alone
            if each.shares is not None:
                continue
            owners.append(each)
            outcome = self._ends(each.finding, each.chosen) or self._wider(each)
            if outcome is None:
                continue
            each.alone = True
            outcome = self._reduced(each, outcome)
            if each.chosen is not None and each.chosen.divisible:
                each.chosen = replace(each.chosen, description=described(each.chosen.parts))
            self._shared(each, owners, outcome)
        for each in self.attempts:
            if each.shares is not None:
                each.chosen = each.shares.chosen
        self.outcome = self._whole() or self._mended(before)
        if self.outcome is None:
            for index, each in enumerate(self.attempts):
                each.chosen, each.alone, each.shares = before[index], False, None
            self.outcome = self._whole()

    def _mended(self, before: Mapping[int, Candidate | None]) -> Report | None:
        """The report with the first repair as it was whose reduction the others do not bear."""
        for index, each in enumerate(self.attempts):
            if (
                each.shares is None
                and each.chosen is not None
                and each.chosen is not before[index]
                and not self.exhausted
            ):
                less, each.chosen = each.chosen, before[index]
                outcome = self._whole()
                if outcome is not None:
                    return outcome
                each.chosen = less
        return None

    def _wider(self, each: Attempt) -> Report | None:
        """Another candidate that ends the finding alone, where the one that was chosen needs others."""
        chosen = each.chosen
        for option in each.options:
            outcome = self._ends(each.finding, option)
            if outcome is not None:
                each.chosen = option
                return outcome
            if self.exhausted:
                break
        each.chosen = chosen
        return None

    def _shared(self, owner: Attempt, owners: list[Attempt], outcome: Report) -> None:
        """Findings that the repair of another ends need none of their own, unless theirs keeps what this one takes back."""
        assert owner.chosen is not None
        for other in self.attempts:
            if other.settled and other.shares is None and other not in owners:
                loses = other.chosen is not None and other.chosen.keeps and not owner.chosen.keeps
                if not loses and is_gone(other.finding, self.report, outcome):
                    other.shares, other.alone = owner, True

    def _ends(self, finding: Finding, candidate: Candidate | None) -> Report | None:
        """The report with one repair alone, if it ends the finding and does no harm."""
        if candidate is None or self.exhausted:
            return None
        outcome = self._judged(candidate.parts)
        holds = isinstance(outcome, Report) and not harms(self.report, outcome)
        return outcome if holds and isinstance(outcome, Report) and is_gone(finding, self.report, outcome) else None

    def _reduced(self, each: Attempt, outcome: Report) -> Report:
        """Leave out what a divisible repair does not need, half by half and then one by one."""
        chosen: Candidate | None = each.chosen
        assert chosen is not None
        size = len(chosen.parts) // 2 if chosen.divisible else 0
        while size:
            start = 0
            while start < len(chosen.parts) > size:
                less = replace(chosen, parts=chosen.parts[:start] + chosen.parts[start + size :])
                left = self._ends(each.finding, less)
                if left is None:
                    start += size
                else:
                    each.chosen, chosen, outcome = less, less, left
            size //= 2
        return outcome

    def _whole(self) -> Report | None:
        """The report with all repairs at once, if all findings that they are for are gone and nothing is worse."""
        parts = self._parts(self.accepted())
        outcome = self._judged(parts) if parts else self.report
        if not isinstance(outcome, Report) or harms(self.report, outcome):
            return None
        settled = [each for each in self.attempts if each.settled]
        return outcome if all(is_gone(each.finding, self.report, outcome) for each in settled) else None


def _same(one: Candidate | None, other: Candidate | None) -> bool:
    return one is not None and other is not None and one.identity == other.identity


def needs_repair(finding: Finding) -> bool:
    """Whether a finding is one that repairs are made for."""
    counted = any(each.severity in BAD and each.waived is None for each in finding.reaches)
    return finding.severity in ("breaking", "risky") and finding.waived is None and (counted or not finding.reaches)


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _where(finding: Finding) -> tuple[str, ...]:
    return finding.rule, finding.declaration or finding.location


def _cause(finding: Finding) -> tuple[str, ...]:
    return finding.rule, _plain(finding.old), _plain(finding.new)


def _plain(spot: Spot | None) -> str:
    """A place without indices, which edits move."""
    return "" if spot is None else re.sub(r"/\d+(?=/|$)", "/", str(spot))


def is_gone(finding: Finding, before: Report, after: Report) -> bool:
    """Whether a finding is there no more, nor another of its kind in its place."""
    if any(each.fingerprint == finding.fingerprint and each.severity in BAD for each in after.findings):
        return False
    counts = [Counter(_where(each) for each in report.findings if each.severity in BAD) for report in (before, after)]
    return counts[1][_where(finding)] < counts[0][_where(finding)]


def harms(before: Report, after: Report) -> list[Finding]:
    """What is worse after an edit.

    A finding that comes to light at another message is none that is new, if its cause stood there before.
    """
    known: dict[tuple[str, ...], int] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    for each in before.findings:
        for key in (_where(each), ("", *_cause(each))):
            known[key] = min(known.get(key, len(SEVERITIES)), _rank(each))
            counts[key] += each.severity in BAD
    found: list[Finding] = []
    for each in after.findings:
        if each.severity not in BAD:
            continue
        keys = _where(each), ("", *_cause(each))
        for key in keys:
            counts[key] -= 1
        is_worse = _rank(each) < min(known.get(key, len(SEVERITIES)) for key in keys)
        if is_worse or all(counts[key] < 0 for key in keys):
            found.append(each)
    return found


def told(worse: Finding) -> str:
    """What an edit would bring, in words."""
    where = f" at {worse.location}" if worse.location else ""
    return f"{worse.severity} {worse.rule}{where} would take its place"
