"""What is kept of a recording that was judged. It is small, whatever the recording holds, and survives JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

MOST_FINDINGS: Final = 10
"""Findings of a recording that are kept, the first of each kind."""


@dataclass(frozen=True, slots=True, order=True)
class RuleKey:
    """A rule that lines break. `level` is must, should or note; empty where lines are judged one by one."""

    name: str
    level: str = ""

    def __str__(self) -> str:
        return f"{self.level} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Finding:
    """The first line that shows a kind of problem: the file that it is in, its number there, and what `acpgen validate` says of it.

    `rule` and `level` are those of its first problem; both are empty where it was not judged.
    """

    file: str
    line: int
    text: str
    rule: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a recording: how many of its lines are right, wrong and not judged, and how often which rule is broken.

    `recording` is its path or URL, `bytes` what was read, decompressed. `agent` and `client` are name and version of the programs as their
    handshake tells them, cut to 100 characters. `failure` says why reading or judging ended early; the lines before it count.
    """

    recording: str
    bytes: int = 0
    right: int = 0
    wrong: int = 0
    not_judged: int = 0
    rules: tuple[tuple[RuleKey, int], ...] = ()
    agent: str = ""
    client: str = ""
    findings: tuple[Finding, ...] = ()
    failure: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether it has a line, and each of them was judged."""
        return not self.failure and not self.not_judged and bool(self.right or self.wrong)

    @property
    def is_well(self) -> bool:
        """Whether all was judged and nothing is wrong."""
        return self.is_judged and not self.wrong

    def as_json(self) -> dict[str, Any]:
        """The verdict as an object of JSON."""
        rules = [{"rule": rule.name, "level": rule.level or None, "times": times} for rule, times in self.rules]
        return asdict(self) | {"rules": rules}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The verdict that `as_json` gave. Raises `ValueError` for anything else."""
        try:
            rules = tuple((RuleKey(row["rule"], row["level"] or ""), int(row["times"])) for row in value["rules"])
            findings = tuple(Finding(**row) for row in value["findings"])
            members: dict[str, Any] = {**value, "rules": rules, "findings": findings}
            return cls(**members)
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no verdict: {error!r}") from None
