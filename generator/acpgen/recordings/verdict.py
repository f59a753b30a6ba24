"""The verdict on a recording: small, whatever the recording contains, and convertible to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

MOST_FINDINGS: Final = 10
"""The maximum number of findings of a recording, the first of each kind."""


@dataclass(frozen=True, slots=True, order=True)
class RuleKey:
    """A rule that lines break. `level` is must, should or note; empty if lines are judged one by one."""

    name: str
    level: str = ""

    def __str__(self) -> str:
        return f"{self.level} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Finding:
    """The first line that shows a kind of problem: its file, its number there, and the text of `acpgen validate`.

    `rule` and `level` are those of its first problem; both are empty if it was not judged.
    """

    file: str
    line: int
    text: str
    rule: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a recording: the numbers of valid, invalid and unjudged lines, and how often each rule is broken.

    `recording` is its path or URL, `bytes` the number of bytes read, decompressed. `agent` and `client` are name and version of the
    programs from the handshake, cut to 100 characters. `failure` says why reading or judging ended early; the lines before it count.
    """

    recording: str
    bytes: int = 0
    valid: int = 0
    invalid: int = 0
    not_judged: int = 0
    rules: tuple[tuple[RuleKey, int], ...] = ()
    agent: str = ""
    client: str = ""
    findings: tuple[Finding, ...] = ()
    failure: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether it has lines, and all of them were judged."""
        return not self.failure and not self.not_judged and bool(self.valid or self.invalid)

    @property
    def is_well(self) -> bool:
        """Whether everything was judged and nothing is invalid."""
        return self.is_judged and not self.invalid

    def as_json(self) -> dict[str, Any]:
        """The verdict as a JSON object."""
        rules = [{"rule": rule.name, "level": rule.level or None, "times": times} for rule, times in self.rules]
        fields = asdict(self)
        lines = {name: fields.pop(name) for name in ("valid", "invalid", "not_judged")}
        return fields | {"rules": rules, "lines": lines}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Parse the output of `as_json`. Raises `ValueError` for anything else."""
        try:
            rules = tuple((RuleKey(row["rule"], row["level"] or ""), int(row["times"])) for row in value["rules"])
            findings = tuple(Finding(**row) for row in value["findings"])
            members: dict[str, Any] = {**value, **value["lines"], "rules": rules, "findings": findings}
            del members["lines"]
            return cls(**members)
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no verdict: {error!r}") from None
