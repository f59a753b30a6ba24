"""The verdict on one recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from jiter import from_json

from acpgen.errors import Faults, make_visible
from acpgen.input.walk import is_object
from acpgen.messages import validate, validators
from acpgen.messages.recording import Line, write_gap
from acpgen.recordings import stores
from acpgen.recordings.criteria import Standard
from acpgen.recordings.stores import File, Recording
from acpgen.recordings.verdict import MOST_FINDINGS, Finding, RuleKey, Verdict

_LONGEST_NAME: Final = 100
_LONGEST_TEXT: Final = 1000
_MOST_LOOKED_AT: Final = 100
"""The number of lines in which a handshake is looked for. It comes first, and later lines may contain the word."""

ACP: Final = Standard()


def judge(recording: Recording | str, standard: Standard = ACP) -> Verdict:
    """Judge a recording, or the file at a path or URL. The verdict depends only on the recording and the standard.

    If a file cannot be read, or judging itself fails, the verdict says so in `failure`. Raises `Faults` if the standard names something
    that does not exist.
    """
    if isinstance(recording, str):
        recording = Recording((File(recording),))
    reading = _Reading(recording, validators.find_peers(standard.get_validators()[0]))
    verdicts = standard.judge_lines(reading.read_lines())
    tally = _Gathered(reading)
    failure = ""
    try:
        for verdict in verdicts:
            tally.add(verdict)
    except Exception as error:  # noqa: BLE001 - one recording must not end the judging of all
        failure = f"acpgen failed here, which is a defect of it: {stores.describe_reason(error)}"
    return tally.make_verdict(recording.name, reading.failure or failure)


@dataclass(slots=True)
class _Reading:
    """The lines of a recording's files with consecutive numbers, and what was learned while reading."""

    recording: Recording
    sides: tuple[str, ...]
    size: int = 0
    failure: str = ""
    agent: str = ""
    client: str = ""
    _starts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def read_lines(self) -> Iterator[Line]:
        """Yield each line until the end, or until something cannot be read."""
        before = 0
        for index, file in enumerate(self.recording.files):
            self._starts.append((before, file.name))
            if index in self.recording.missing:
                yield from (Line(before + 1, write_gap(side, ""), self.size) for side in self.sides)
            start, number = self.size, before
            try:
                for line in stores.read_lines(file.name):
                    number, self.size = before + line.number, start + line.end
                    if number <= _MOST_LOOKED_AT and b'"protocolVersion"' in line.content:
                        self._look(line.content)
                    yield replace(line, number=number, end=self.size)
            except Faults as faults:
                self.failure = str(faults)
                return
            before = number

    def locate_line(self, number: int) -> tuple[str, int]:
        """The file of a line, and its number there."""
        start, name = next((start, name) for start, name in reversed(self._starts) if number > start or not start)
        return name, number - start

    def _look(self, content: bytes) -> None:
        """Record which programs a handshake names."""
        try:
            value = from_json(content, allow_inf_nan=False)
        except ValueError:
            return
        message = value.get("message", value) if is_object(value) else None
        if not is_object(message):
            return
        if not self.client and message.get("method") == "initialize":
            self.client = _describe_program(message.get("params"))
        elif not self.agent and "result" in message:
            self.agent = _describe_program(message["result"])


@dataclass(slots=True)
class _Gathered:
    """The counts and first findings of verdicts on lines."""

    reading: _Reading
    lines: Counter[str] = field(default_factory=Counter[str])
    rules: Counter[RuleKey] = field(default_factory=Counter[RuleKey])
    first: dict[Any, Finding] = field(default_factory=dict[Any, Finding])

    def add(self, verdict: validate.LineVerdict) -> None:
        """Count a verdict as `acpgen validate` does for one file, and keep it if it is the first of its kind."""
        if verdict.counts_as is not None:
            self.lines[verdict.counts_as] += 1
        for problem in verdict.problems:
            self.rules[RuleKey(problem.rule, problem.level)] += problem.count
        if verdict.counts_as in ("invalid", "not judged") and len(self.first) < MOST_FINDINGS:
            file, line = self.reading.locate_line(verdict.line)
            text = make_visible(validate.write_text(replace(verdict, line=line)))
            broken = next((problem for problem in verdict.problems if problem.level != "note"), None)
            rule = ("", "") if broken is None else (broken.rule, broken.level)
            self.first.setdefault(verdict.mark, Finding(file, line, _cut(text, _LONGEST_TEXT), *rule))

    def make_verdict(self, name: str, failure: str) -> Verdict:
        return Verdict(
            recording=name,
            bytes=self.reading.size,
            valid=self.lines["valid"],
            invalid=self.lines["invalid"],
            not_judged=self.lines["not judged"],
            rules=tuple(sorted(self.rules.items())),
            agent=self.reading.agent,
            client=self.reading.client,
            findings=tuple(self.first.values()),
            failure=_cut(failure, _LONGEST_TEXT),
        )


def _describe_program(body: object) -> str:
    """Name and version of the program in a handshake: from `info`, or `agentInfo`, `clientInfo` and the like."""
    if not is_object(body):
        return ""
    for key, value in body.items():
        if key.lower().endswith("info") and is_object(value) and isinstance(value.get("name"), str):
            return _cut(make_visible(f"{value['name']} {_find_version(value)}".strip()), _LONGEST_NAME)
    return ""


def _find_version(info: Mapping[str, Any]) -> str:
    return info["version"] if isinstance(info.get("version"), str) else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
