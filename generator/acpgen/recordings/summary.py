"""One summary of many verdicts, independent of the order and grouping of merges."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from acpgen.recordings.verdict import RuleKey, Verdict

MOST_PROGRAMS: Final = 1000
"""The maximum number of programs that are counted separately; the rest is counted together, since a recording can claim any name."""

MOST_WORST: Final = 20
"""The maximum number of recordings that are named for their invalid lines."""


@dataclass(frozen=True, slots=True)
class Share:
    """Recordings of a kind: their number, how many of them have an invalid line, and the number of invalid lines."""

    recordings: int = 0
    with_invalid: int = 0
    invalid: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(
            self.recordings + other.recordings, self.with_invalid + other.with_invalid, self.invalid + other.invalid
        )


@dataclass(frozen=True, slots=True)
class BreachCount:
    """How often a rule was broken, and in how many recordings."""

    times: int = 0
    recordings: int = 0

    def __add__(self, other: BreachCount) -> BreachCount:
        return BreachCount(self.times + other.times, self.recordings + other.recordings)


@dataclass(frozen=True, slots=True, order=True)
class Worst:
    """A recording and the number of its invalid lines; sorted descending."""

    rank: int
    recording: str

    @property
    def invalid(self) -> int:
        return -self.rank


@dataclass(frozen=True, slots=True)
class Summary:
    """The merged verdicts. `well` counts recordings that were judged completely without problems, `failed` those that could not be read
    to the end.

    `agents` has a share for each program, under an empty name for recordings that name none; `other_agents` is the share of those beyond
    `MOST_PROGRAMS`.
    """

    recordings: int = 0
    well: int = 0
    with_invalid: int = 0
    not_wholly_judged: int = 0
    failed: int = 0
    bytes: int = 0
    valid: int = 0
    invalid: int = 0
    not_judged: int = 0
    rules: Mapping[RuleKey, BreachCount] = field(default_factory=dict[RuleKey, BreachCount])
    agents: Mapping[str, Share] = field(default_factory=dict[str, Share])
    other_agents: Share = Share()
    worst: tuple[Worst, ...] = ()

    @property
    def is_judged(self) -> bool:
        """Whether there was a recording, and each was judged completely."""
        return bool(self.recordings) and not self.not_wholly_judged

    def as_json(self) -> dict[str, Any]:
        """The summary as a JSON object, in a fixed order."""
        rules = [
            {"rule": rule.name, "level": rule.level or None, "times": broken.times, "recordings": broken.recordings}
            for rule, broken in sort_by_count(self)
        ]
        agents = [{"agent": name or None} | asdict(share) for name, share in sort_by_invalid(self)]
        return {
            "recordings": self.recordings,
            "well": self.well,
            "with_invalid": self.with_invalid,
            "not_wholly_judged": self.not_wholly_judged,
            "failed": self.failed,
            "bytes": self.bytes,
            "lines": {"valid": self.valid, "invalid": self.invalid, "not_judged": self.not_judged},
            "rules": rules,
            "agents": agents,
            "other_agents": asdict(self.other_agents),
            "worst": [{"recording": worst.recording, "invalid": worst.invalid} for worst in self.worst],
        }


def summarise(verdicts: Iterable[Verdict | Summary]) -> Summary:
    """Merge verdicts and summaries of other verdicts. The order makes no difference.

    >>> parts = [Verdict("a", valid=2), Verdict("b", invalid=1), Verdict("c", valid=1, failure="it ends early")]
    >>> summarise(parts) == summarise([summarise(parts[2:]), *reversed(parts[:2])])
    True
    """
    counts: Counter[str] = Counter()
    rules: dict[RuleKey, BreachCount] = {}
    agents: dict[str, Share] = {}
    other_share = Share()
    worst: list[Worst] = []
    for part in verdicts:
        summary = part if isinstance(part, Summary) else _summarise_one(part)
        counts.update({name: getattr(summary, name) for name in _COUNTS})
        for rule, broken in summary.rules.items():
            rules[rule] = rules.get(rule, BreachCount()) + broken
        for agent, share in summary.agents.items():
            agents[agent] = agents.get(agent, Share()) + share
        other_share += summary.other_agents
        if len(agents) > 2 * MOST_PROGRAMS:
            agents, excess = _cut_to_bound(agents)
            other_share += excess
        worst.extend(summary.worst)
        if len(worst) > 100 * MOST_WORST:
            worst = sorted(worst)[:MOST_WORST]
    agents, excess = _cut_to_bound(agents)
    return Summary(
        **{name: counts[name] for name in _COUNTS},
        rules=dict(sorted(rules.items())),
        agents=dict(sorted(agents.items())),
        other_agents=other_share + excess,
        worst=tuple(sorted(worst)[:MOST_WORST]),
    )


def sort_by_count(summary: Summary) -> list[tuple[RuleKey, BreachCount]]:
    """The rules, most often broken first."""
    return sorted(summary.rules.items(), key=lambda row: (-row[1].times, row[0]))


def sort_by_invalid(summary: Summary) -> list[tuple[str, Share]]:
    """The agents, most invalid lines first."""
    return sorted(summary.agents.items(), key=lambda row: (-row[1].invalid, -row[1].recordings, row[0]))


_COUNTS: Final = (
    *("recordings", "well", "with_invalid", "not_wholly_judged", "failed"),
    *("bytes", "valid", "invalid", "not_judged"),
)


def _summarise_one(verdict: Verdict) -> Summary:
    return Summary(
        recordings=1,
        well=int(verdict.is_well),
        with_invalid=int(bool(verdict.invalid)),
        not_wholly_judged=int(not verdict.is_judged),
        failed=int(bool(verdict.failure)),
        bytes=verdict.bytes,
        valid=verdict.valid,
        invalid=verdict.invalid,
        not_judged=verdict.not_judged,
        rules={rule: BreachCount(times, 1) for rule, times in verdict.rules},
        agents={verdict.agent: Share(1, int(bool(verdict.invalid)), verdict.invalid)},
        worst=(Worst(-verdict.invalid, verdict.recording),) if verdict.invalid else (),
    )


def _cut_to_bound(agents: dict[str, Share]) -> tuple[dict[str, Share], Share]:
    """The agents whose names have the smallest hashes, and the share of the rest.

    A name among the smallest of all is among the smallest of every part that contains it, so its count is complete for any grouping.
    """
    named = sorted(filter(None, agents), key=_hash)
    counted = {name: agents[name] for name in ("", *named[:MOST_PROGRAMS]) if name in agents}
    return counted, sum((agents[name] for name in named[MOST_PROGRAMS:]), Share())


def _hash(name: str) -> bytes:
    return hashlib.sha256(name.encode(errors="surrogatepass")).digest()
