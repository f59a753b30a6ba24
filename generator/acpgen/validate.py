"""Judges JSON Lines of messages, one by one or as a conversation. Nothing is kept but counts and the open requests."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

from acpgen.recording import Line, Said, said
from acpgen.walk import is_array, is_object

if TYPE_CHECKING:
    from acpgen.judge import Breach, Monitor, Strict, Violation

MOST_REQUESTS: Final = 4096
"""Requests whose answers are awaited. Of older ones the answers are judged as envelopes alone."""

_LONG: Final = "the line is too long"
_MISSING: Final = "the recording has a gap here"
_UNJUDGED: Final = "the result was not judged: its request was not seen"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line. `code` is the JSON-RPC error code that fits, `level` and the rest are set in a conversation."""

    rule: str
    sentence: str
    pointer: str = ""
    schema: str = ""
    code: int | None = None
    level: str = ""
    requirements: tuple[int, ...] = ()
    earlier: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one line. `kind` is request, notification, result, error, batch, message, gap or end; `earlier` lines are counted
    as `line` is.
    """

    line: int
    sender: str
    kind: str
    method: str
    problems: tuple[Problem, ...] = ()
    note: str = ""
    end: int = 0

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong; notes are not."""
        return all(problem.level == "note" for problem in self.problems)


@dataclass(slots=True)
class Summary:
    """Counts of verdicts, by method and by rule."""

    valid: Counter[str] = field(default_factory=Counter[str])
    invalid: Counter[str] = field(default_factory=Counter[str])
    rules: Counter[str] = field(default_factory=Counter[str])

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        name = verdict.method or f"({verdict.kind})"
        if name not in self.valid and name not in self.invalid and len(self.valid) + len(self.invalid) >= 512:
            name = "(others)"
        if verdict.kind != "end" or not verdict.is_valid:  # the end is no line, but what is broken there counts
            (self.valid if verdict.is_valid else self.invalid)[name] += 1
        self.rules.update(problem.rule for problem in verdict.problems)


@dataclass(slots=True)
class _Open:
    """The open requests of a stream, by the side that asks and the id; the oldest are forgotten first."""

    methods: OrderedDict[tuple[str, int], str] = field(default_factory=OrderedDict[tuple[str, int], str])

    def ask(self, sender: str, id_: object, method: str) -> None:
        self.methods[sender, _key(id_)] = method
        if len(self.methods) > MOST_REQUESTS:
            self.methods.popitem(last=False)

    def answer(self, asker: str, id_: object) -> str | None:
        return self.methods.pop((asker, _key(id_)), None)

    def askers(self, id_: object, sides: Iterable[str]) -> list[str]:
        return [side for side in sides if (side, _key(id_)) in self.methods]


def judged(lines: Iterable[Line], protocols: Mapping[Any, Strict], sender: str | None) -> Iterator[Verdict]:
    """A verdict for each line: a message, or the line of a recording.

    `sender` sent those that do not say it; without, it is told from the method, or from the request that is answered. Of several
    versions the one that `initialize` names judges, and the first one until then.
    """
    strict = next(iter(protocols.values()))
    sides = sides_of(strict)
    open_ = _Open()
    for line in lines:
        value, unreadable = strict.read(line.content) if line.is_whole else (None, ())
        if not line.is_whole:
            yield Verdict(line.number, "", "message", "", (Problem("json", _LONG, code=-32700),), end=line.end)
            continue
        if unreadable:
            yield Verdict(line.number, sender or "", "message", "", tuple(map(_problem, unreadable)), end=line.end)
            continue
        speaker = sender
        if is_object(value) and "from" in value and "jsonrpc" not in value:
            content = said(value, sides)
            if not isinstance(content, Said):
                yield Verdict(
                    line.number, "", "message", "", (Problem("recording", content, code=-32600),), end=line.end
                )
                continue
            if content.is_gap:
                yield Verdict(line.number, content.sender, "gap", "", note=_MISSING, end=line.end)
                continue
            speaker, value = content.sender, content.message
        found = _Message(value, strict, sides, open_, speaker)
        strict = protocols.get(found.version, strict) if found.version is not None else strict
        yield found.verdict(strict, line)


def sides_of(strict: Strict) -> tuple[str, str]:
    """The two peers of a protocol."""
    return ("client", "server") if "server" in strict.contract.sides else ("client", "agent")


class _Message:
    """A message with its sender and method, as far as the stream tells them."""

    def __init__(self, value: Any, strict: Strict, sides: tuple[str, ...], open_: _Open, sender: str | None) -> None:
        self.value, self.open, self.method, self.note = value, open_, "", ""
        self.version: int | str | None = None
        self.kind = _kind(value)
        self.sender = sender or self._sender(strict, sides) or sides[0]
        self.peer = sides[1] if self.sender == sides[0] else sides[0]
        for item in value if is_array(value) else [value]:
            kind = _kind(item)
            if kind == "request":
                open_.ask(self.sender, item["id"], item["method"])
            if kind in ("request", "notification") and item is value:
                self.method = item["method"]
        if is_object(value) and self.kind in ("result", "error"):
            self.method = open_.answer(self.peer, value.get("id")) or ""
            self.note = _UNJUDGED if not self.method and self.kind == "result" else ""
        if is_object(value) and self.method == "initialize":
            body = value.get("result" if self.kind == "result" else "params")
            found = body.get("protocolVersion") if is_object(body) else None
            self.version = found if isinstance(found, int | str) else None

    def _sender(self, strict: Strict, sides: tuple[str, ...]) -> str | None:
        """Who must have sent it; `None` if both may."""
        for item in self.value if is_array(self.value) else [self.value]:
            kind, other = _kind(item), None
            if kind in ("request", "notification"):
                route = strict.route(item["method"], is_request=kind == "request")
                other = route.side if route is not None and route.side in sides else None
            elif kind in ("result", "error"):
                askers = self.open.askers(item.get("id"), sides)
                other = askers[0] if len(askers) == 1 else None
            if other is not None:
                return next(side for side in sides if side != other)
        return None

    def verdict(self, strict: Strict, line: Line) -> Verdict:
        problems = strict.judge(
            self.value,
            sender=self.sender,
            method=self.method or None,
            pending=(lambda id_: self.open.answer(self.peer, id_)) if self.kind == "batch" else None,
        )
        return Verdict(
            line.number, self.sender, self.kind, self.method, tuple(map(_problem, problems)), self.note, line.end
        )


def conversation(
    lines: Iterable[Line], monitor: Monitor, sides: tuple[str, ...] = ("client", "agent")
) -> Iterator[Verdict]:
    """A verdict for each line of a recorded conversation, and one at its end for what was left open."""
    number, end = 0, 0
    for line in lines:
        number, end = line.number, line.end
        content = _content(line, sides)
        if not isinstance(content, Said):
            missed = () if line.is_whole else tuple(map(_breach, monitor.lose("a line was not read")))
            yield Verdict(number, "", "message", "", (Problem("recording", content), *missed), end=end)
            continue
        if content.is_gap:
            yield Verdict(number, content.sender, "gap", "", tuple(map(_breach, monitor.lose(_MISSING))), end=end)
            continue
        breaches = monitor.observe(content.sender, content.message, index=number)
        method = breaches[0].method if breaches else _method(content.message)
        yield Verdict(number, content.sender, _kind(content.message), method, tuple(map(_breach, breaches)), end=end)
    left = tuple(map(_left_open, monitor.finish()))
    if left:
        yield Verdict(number, "", "end", "", left, end=end)


def _content(line: Line, sides: tuple[str, ...]) -> Said | str:
    if not line.is_whole:
        return _LONG
    try:
        value: object = from_json(line.content, allow_inf_nan=False)
    except ValueError:
        return "the line is not JSON, or is nested too deep"
    return said(value, sides)


def as_json(verdict: Verdict) -> str:
    """A verdict as one line of JSON."""
    problems = [
        {key: value for key, value in _fields(problem).items() if value not in ("", None, ())}
        for problem in verdict.problems
    ]
    row: dict[str, Any] = {"line": verdict.line, "valid": verdict.is_valid, "from": verdict.sender or None}
    row |= {"kind": verdict.kind, "method": verdict.method or None, "problems": problems}
    return json.dumps(row | ({"note": verdict.note} if verdict.note else {}))


def breach_as_json(breach: Breach) -> str:
    """A breach of a conversation that is going on, as one line of JSON."""
    row = {"message": breach.index, "from": breach.sender, "method": breach.method or None}
    return json.dumps(row | {key: value for key, value in _fields(_breach(breach)).items() if value not in ("", None)})


def as_text(verdict: Verdict) -> str:
    """A verdict as one line for people."""
    who = " ".join(part for part in (verdict.sender, verdict.kind, verdict.method) if part)
    head = f"{verdict.line}: {'ok' if verdict.is_valid else 'wrong'} {who}"
    told = [_told(problem) for problem in verdict.problems] + ([verdict.note] if verdict.note else [])
    return f"{head}: {'; '.join(told)}" if told else head


def _told(problem: Problem) -> str:
    name = f"{problem.level} {problem.rule}" if problem.level else ""
    numbers = f" (requirement {', '.join(map(str, problem.requirements))})" if problem.requirements else ""
    since = f" [line {problem.earlier}]" if problem.earlier is not None else ""
    parts = [f"{name}{numbers}", problem.pointer, problem.sentence]
    return f"{': '.join(part for part in parts if part)}{since}"


def _fields(problem: Problem) -> dict[str, Any]:
    return {
        "rule": problem.rule,
        "level": problem.level,
        "requirements": list(problem.requirements) or None,
        "pointer": problem.pointer,
        "earlier": problem.earlier,
        "schema": problem.schema,
        "sentence": problem.sentence,
        "code": problem.code,
    }


def _problem(violation: Violation) -> Problem:
    return Problem(violation.rule, violation.sentence, violation.pointer, violation.schema, violation.code)


def _breach(breach: Breach) -> Problem:
    return Problem(
        rule=breach.rule,
        sentence=breach.sentence,
        pointer=breach.pointer,
        level=breach.level,
        requirements=breach.requirements,
        earlier=breach.earlier,
    )


def _left_open(breach: Breach) -> Problem:
    """What is told at the end refers to the request that was left open, or to what cancelled it."""
    return replace(_breach(breach), earlier=breach.index if breach.earlier is None else breach.earlier)


def _kind(value: object) -> str:
    if not is_object(value):
        return "batch" if is_array(value) else "message"
    if isinstance(value.get("method"), str):
        return "request" if "id" in value else "notification"
    return "error" if "error" in value else "result" if "result" in value else "message"


def _method(value: object) -> str:
    return str(value["method"]) if is_object(value) and isinstance(value.get("method"), str) else ""


def _key(value: object) -> int:
    """A key of fixed size for an id; text and numbers are apart."""
    return hash((isinstance(value, str), value)) if isinstance(value, str | int | float | None) else 0
