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
    from acpgen.schema.edits import Keys

Recheck: TypeAlias = Callable[[Edits], Report]
"""The comparison with the new files edited. Raises `Faults` where these cannot be read any more."""

BAD: Final = ("breaking", "undecided", "risky")

UNREADABLE: Final = "the restored part does not fit into the new schema"
"""Why an edit does not hold that leaves a schema which cannot be read."""

STAYS: Final = "the finding stays"
"""Why an edit does not hold that ends nothing."""

_SPARED: Final = 4
"""As many comparisons are left for all repairs at once when each has been tried alone."""


@dataclass(slots=True)
class Attempt:
    """A finding on its way to a repair.

    `joint` is what is done for it where all findings are repaired at once, `chosen` what may end it by itself, and `alone` whether that
    does. `failed` says why the last candidate of those `tried` did not hold.
    """

    finding: Finding
    options: Iterator[Candidate]
    chosen: Candidate | None = None
    joint: Candidate | None = None
    last: Candidate | None = None
    settled: bool = False
    alone: bool = False
    ended_by: Attempt | None = None
    failed: str = ""
    over: bool = False
    tried: list[Candidate] = field(default_factory=list[Candidate])

    @property
    def told(self) -> Candidate | None:
        """What the finding is told to be repaired by."""
        if not self.settled:
            return None
        if self.alone:
            return self.chosen
        if self.joint is not None:
            return self.joint
        return None if self.ended_by is None else self.ended_by.joint


@dataclass(slots=True)
class Search:
    """The repairs of one report. `outcome` is the report with all of them at once, `None` where there are none."""

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
        self._rest()
        self._alone()
        self._less()

    @property
    def exhausted(self) -> bool:
        return self.spent >= self.budget

    def accepted(self) -> list[Attempt]:
        """The findings for which something is done where all are repaired at once."""
        return [each for each in self.attempts if each.settled and each.joint is not None]

    # --- all together ---

    def _together(self) -> None:
        while not self.exhausted:
            open_ = [each for each in self.attempts if not each.settled and not each.over]
            for each in open_:
                each.chosen = each.joint = next(each.options, None)
                each.over = each.chosen is None
                each.last = each.chosen or each.last
                each.tried += [] if each.chosen is None else [each.chosen]
            tried = [each for each in open_ if not each.over]
            if not tried:
                return
            self._settle(tried)

    def _settle(self, tried: list[Attempt]) -> None:
        """Keep what ends its finding and does no harm; where something does harm, halves tell what."""
        pending = [tried]
        while pending and not self.exhausted:
            group = [each for each in pending.pop() if not each.settled]
            if not group:
                continue
            outcome = self._judged([*_parts(self.accepted()), *_parts(group)])
            if isinstance(outcome, Report):
                worse = self._worse(outcome)
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

    def _worse(self, outcome: Report) -> list[Finding]:
        """What is worse than it was, and what was ended and is there again."""
        back = [
            each.finding for each in self.attempts if each.settled and not is_gone(each.finding, self.report, outcome)
        ]
        return [*harms(self.report, outcome), *back]

    def _keep(self, group: list[Attempt], outcome: Report) -> None:
        """Settle what ended its finding."""
        self.outcome = outcome
        for each in self.attempts:
            if not each.settled and is_gone(each.finding, self.report, outcome):
                each.settled = True
                if each not in group:
                    each.chosen = each.joint = None
                    each.ended_by = self._ender(each, group)
        for each in group:
            if not each.settled:
                each.failed = STAYS

    def _ender(self, ended: Attempt, group: list[Attempt]) -> Attempt | None:
        """The finding whose repair ends another one too: the one that was tried, or the only one that edits the same definition."""
        if len(group) == 1:
            return group[0]
        case = Case(ended.finding, self.ground)
        places = [found[1] for found in (case.new_definition, case.old_definition) if found is not None]
        around = {(at.path, at.keys[:2]) for at in places}
        near = [each for each in (*group, *self.accepted()) if _edits(each, around)]
        return near[0] if len({each.joint.identity for each in near if each.joint is not None}) == 1 else None

    def _suspects(self, group: list[Attempt], worse: Iterable[Finding]) -> list[Attempt]:
        """Those whose edits are made in a definition in which something is worse now."""
        ground = self.ground
        places = [ground.place(each.new, ground.new) for each in worse]
        around = {(at.path, at.keys[:2]) for at in places if at is not None}
        return [each for each in group if _edits(each, around)]

    def _judged(self, parts: Sequence[FileEdit]) -> Report | str:
        """The report on the edited files; the reason why there is none."""
        edits = combined(parts, self.values)
        if edits is None:
            return "it contradicts the repair of another finding"
        self.spent += 1
        try:
            return self.recheck(edits)
        except Faults:
            return UNREADABLE  # the fault is about edits that nobody has seen

    def _rest(self) -> None:
        """What is left takes as much back as it can, all of it or one finding after the other, in place of repairs that it contradicts."""
        open_ = [each for each in self.attempts if not each.settled and each.last is not None and each.over]
        groups = [open_, *([each] for each in open_ if len(open_) > 1)]
        for group in groups:
            left = [each for each in group if not each.settled]
            if left and not self.exhausted:
                self._instead(left)

    def _instead(self, group: list[Attempt]) -> None:
        for each in group:
            each.joint = each.last
        parts = _parts(group)
        displaced = [each for each in self.accepted() if combined([*_parts([each]), *parts], self.values) is None]
        kept = [each for each in self.accepted() if each not in displaced]
        outcome = self._judged([*_parts(kept), *parts])
        if not isinstance(outcome, Report) or self._worse(outcome):
            for each in group:
                each.joint = None
            return
        for each in displaced:
            each.joint, each.ended_by = None, self._ender(each, group)
        self._keep(group, outcome)
        for each in group:
            each.chosen = each.joint if each.settled else None

    # --- each alone, as little as holds ---

    def _alone(self) -> None:
        """Try each repair alone, then leave out what it does not need, and let it stand for all findings that it ends."""
        outcomes: list[tuple[Attempt, Report]] = []
        known: dict[frozenset[tuple[str, str]], Report | None] = {}
        for each in self.attempts:
            if not each.settled or each.chosen is None:
                continue
            if each.chosen.identity not in known:
                known[each.chosen.identity] = self._alone_with(each.chosen)
            outcome = known[each.chosen.identity]
            if outcome is not None and is_gone(each.finding, self.report, outcome):
                each.alone = True
            else:
                outcome = self._wider(each)
            if outcome is not None:
                outcomes.append((each, outcome))
        outcomes.sort(key=lambda pair: pair[0].chosen is None or not pair[0].chosen.keeps)
        owners: set[int] = set()
        shared: set[int] = set()
        for each, outcome in outcomes:
            if id(each) not in shared:
                owners.add(id(each))
                shared |= self._share(each, self._reduce(each, outcome), owners)

    def _alone_with(self, candidate: Candidate) -> Report | None:
        """The report with one repair, if it does no harm."""
        if self._spared:
            return None
        outcome = self._judged(candidate.parts)
        return outcome if isinstance(outcome, Report) and not harms(self.report, outcome) else None

    @property
    def _spared(self) -> bool:
        """Whether what is left of the budget is for all repairs at once."""
        return self.spent >= self.budget - _SPARED

    def _wider(self, each: Attempt) -> Report | None:
        """The report with another candidate that ends the finding alone, where the one that was chosen needs others."""
        for option in each.options:
            outcome = self._alone_with(option)
            if outcome is not None and is_gone(each.finding, self.report, outcome):
                each.chosen, each.alone = option, True
                return outcome
        return None

    def _share(self, owner: Attempt, outcome: Report, owners: set[int]) -> set[int]:
        """Findings that the repair of another ends need none of their own, unless theirs keeps what this one takes back."""
        found: set[int] = set()
        assert owner.chosen is not None
        for other in self.attempts:
            if not other.settled or id(other) in owners or not is_gone(other.finding, self.report, outcome):
                continue
            if other.chosen is None or other.chosen.keeps <= owner.chosen.keeps:
                other.chosen, other.alone = owner.chosen, True
                found.add(id(other))
        return found

    def _reduce(self, each: Attempt, outcome: Report) -> Report:
        """Leave out what a divisible repair does not need, half by half and then one by one."""
        chosen = each.chosen
        assert chosen is not None
        if not chosen.divisible:
            return outcome
        size = len(chosen.parts) // 2
        while size:
            start = 0
            while start < len(chosen.parts) > size:
                less = replace(chosen, parts=chosen.parts[:start] + chosen.parts[start + size :])
                left = self._alone_with(less)
                if left is not None and is_gone(each.finding, self.report, left):
                    chosen, outcome = less, left
                else:
                    start += size
            size //= 2
        each.chosen = replace(chosen, description=described(chosen.parts))
        return outcome

    # --- all together, as little as holds ---

    def _less(self) -> None:
        """Take for all at once what holds alone, but where the others do not bear it."""
        before = {index: each.joint for index, each in enumerate(self.attempts)}
        changed = [each for each in self.accepted() if each.alone and each.chosen is not None]
        changed = [each for each in changed if not _same(each.chosen, each.joint)]
        for each in changed:
            each.joint = each.chosen
        while changed and not self.exhausted:
            outcome = self._judged(_parts(self.accepted()))
            worse = self._worse(outcome) if isinstance(outcome, Report) else []
            if isinstance(outcome, Report) and not worse:
                self.outcome = outcome
                return
            suspects = self._suspects(changed, worse) or changed
            for index, each in enumerate(self.attempts):
                if each in suspects:
                    each.joint = before[index]
            changed = [each for each in changed if each not in suspects]
        for index, each in enumerate(self.attempts):
            each.joint = before[index]


def _parts(attempts: Iterable[Attempt]) -> list[FileEdit]:
    return [part for each in attempts if each.joint is not None for part in each.joint.parts]


def _edits(each: Attempt, around: set[tuple[str, Keys]]) -> bool:
    """Whether the repair of a finding is made in one of these definitions."""
    return each.joint is not None and any((part.path, part.edit.at[:2]) in around for part in each.joint.parts)


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
    """Whether a finding is there no more, nor another of its kind in its place, whatever that is called."""
    if any(each.fingerprint == finding.fingerprint and each.severity in BAD for each in after.findings):
        return False
    for key in (_where, _cause):
        counts = [
            sum(key(each) == key(finding) and each.severity in BAD for each in side.findings)
            for side in (before, after)
        ]
        if counts[1] >= counts[0]:
            return False
    return True


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
    return f"{worse.severity} {worse.rule}{where} would replace it"
