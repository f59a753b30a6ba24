"""Validates JSON Lines of messages, one by one or as a conversation. Only counts and open requests are stored."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from acpgen import embedded
from acpgen.input.walk import is_array, is_object
from acpgen.messages import validators
from acpgen.messages.recording import Line, RecordedMessage, find_remedy, is_recorded, parse_line

if TYPE_CHECKING:
    from acp_monitor import Breach, Folding, Monitor
    from jsonrpc_bindings.strict import Strict, Violation

MOST_REQUESTS: Final = 4096
"""The maximum number of open requests. Responses to older ones are validated as envelopes only."""

LONGEST_NAME: Final = 256
"""The maximum number of stored characters of a method name. No protocol has longer ones."""

_LONG: Final = "the line is too long"
_DENSE: Final = "the line holds more values than are read"
_MISSING: Final = "the recording has a gap here"
_ORPHAN: Final = "the result was not judged: its request was not seen"
_AMBIGUOUS: Final = (
    "the result was not judged: both sides have an open request with this id, and nobody says who answers"
)
_PARTLY: Final = "some messages were not judged, or not wholly"


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A problem of a line. `code` is a fitting JSON-RPC error code; `level` and the rest are set in a conversation. `count` is the
    number of problems that it stands for, itself the last.
    """

    rule: str
    sentence: str
    pointer: str = ""
    schema: str = ""
    code: int | None = None
    level: str = ""
    requirements: tuple[int | str, ...] = ()
    earlier: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """The verdict on one line. `kind` is request, notification, result, error, batch, message, blank, gap or end; `earlier` lines are
    numbered like `line`. `count` is the number of lines that it stands for, itself the last. `note` says why the line, or a part of it,
    was not judged.
    """

    line: int
    sender: str
    kind: str
    method: str
    problems: tuple[LineProblem, ...] = ()
    note: str = ""
    end: int = 0
    count: int = 1

    @property
    def is_valid(self) -> bool:
        """Whether it has no problems; notes do not count."""
        return all(problem.level == "note" for problem in self.problems)

    @property
    def mark(self) -> Hashable:
        """What lines with the same verdict share: everything but their numbers and array indices."""
        problems = tuple(
            (problem.rule, problem.level, _make_place(problem.pointer), problem.sentence) for problem in self.problems
        )
        return (self.sender, self.kind, self.method, problems, self.note)

    @property
    def is_judged(self) -> bool:
        """Whether the whole line was judged. What was not is neither valid nor invalid."""
        return not self.note

    @property
    def counts_as(self) -> Literal["valid", "invalid", "not judged"] | None:
        """The counter that the line adds to. The end is not a line: it only adds what is invalid there."""
        if not self.is_valid:
            return "invalid"
        if self.kind == "end":
            return None
        return "valid" if self.is_judged else "not judged"


@dataclass(slots=True)
class Counts:
    """Counts of verdicts, by method and by rule."""

    valid: Counter[str] = field(default_factory=Counter[str])
    invalid: Counter[str] = field(default_factory=Counter[str])
    unjudged: Counter[str] = field(default_factory=Counter[str])
    rules: Counter[str] = field(default_factory=Counter[str])

    def add(self, verdict: LineVerdict) -> None:
        """Count one verdict."""
        name = verdict.method[:LONGEST_NAME] or f"({verdict.kind})"
        counts = {"valid": self.valid, "invalid": self.invalid, "not judged": self.unjudged}
        if not any(name in count for count in counts.values()) and sum(map(len, counts.values())) >= 512:
            name = "(others)"
        if verdict.counts_as is not None:
            counts[verdict.counts_as][name] += 1
        self.rules.update(problem.rule for problem in verdict.problems)

    @property
    def sums(self) -> tuple[int, int, int]:
        """The numbers of lines that were valid, invalid and not judged."""
        valid, invalid, unjudged = (sum(count.values()) for count in (self.valid, self.invalid, self.unjudged))
        return valid, invalid, unjudged

    @property
    def is_judged(self) -> bool:
        """Whether there were lines, and all of them were judged."""
        return not self.unjudged and bool(self.valid or self.invalid)


@dataclass(slots=True)
class _Open:
    """The open requests of a stream, by the requesting side and the id; the oldest are dropped first."""

    methods: OrderedDict[tuple[str, int], str] = field(default_factory=OrderedDict[tuple[str, int], str])

    def ask(self, sender: str, id_: object, method: str) -> None:
        self.methods[sender, _make_key(id_)] = method[:LONGEST_NAME]
        if len(self.methods) > MOST_REQUESTS:
            self.methods.popitem(last=False)

    def answer(self, asker: str, id_: object) -> str | None:
        return self.methods.pop((asker, _make_key(id_)), None)

    def list_askers(self, id_: object, sides: Iterable[str]) -> list[str]:
        return [side for side in sides if (side, _make_key(id_)) in self.methods]


def judge_lines(
    lines: Iterable[Line], protocols: Mapping[Any, Strict], sender: str | None, *, fixed: bool = False
) -> Iterator[LineVerdict]:
    """Yield a verdict for each line: a message, or the line of a recording.

    `sender` is that of lines that name none; without it, the sender is inferred from the method or from the open request. Of several
    versions, the one that `initialize` names validates. Until one is named, all of them do, and lines on which they disagree are not
    judged. Messages of another version are not judged; with `fixed` they are, and the version is a problem.
    """
    reader = next(iter(protocols.values()))
    strict: Strict | None = reader
    is_named = False
    sides = validators.find_peers(reader)
    open_requests = _Open()
    for line in lines:
        value, violations = reader.read(line.content) if line.is_whole else (None, ())
        problems = tuple(map(_make_problem, violations))
        if not line.is_whole:
            yield LineVerdict(line.number, "", "message", "", note=_LONG, end=line.end)
            continue
        if any(problem.rule == "json" for problem in problems):
            unread = tuple(
                replace(problem, sentence=_with_remedy(problem.sentence, line.content)) for problem in problems
            )
            yield LineVerdict(line.number, sender or "", "message", "", unread, end=line.end)
            continue
        if any(problem.rule == "size" for problem in problems):
            yield LineVerdict(line.number, sender or "", "message", "", note=problems[0].sentence, end=line.end)
            continue
        speaker = sender
        if is_recorded(value):
            content, problems = parse_line(value, sides), tuple(map(_move_inside, problems))
            if not isinstance(content, RecordedMessage):
                problem = LineProblem("recording", content, code=-32600)
                yield LineVerdict(line.number, "", "message", "", (problem, *problems), end=line.end)
                continue
            if content.is_gap:
                yield LineVerdict(line.number, content.sender, "gap", "", problems, _MISSING, line.end)
                continue
            if content.is_blank:
                yield LineVerdict(line.number, content.sender, "blank", "", problems, end=line.end)
                continue
            speaker, value = content.sender, content.message
        judges = _make_judges(strict, () if is_named else protocols.values())
        message = _Message(value, judges, sides, open_requests, speaker)
        spoken = (
            embedded.versions.choose_version(message.version, protocols, strict, is_fixed=fixed)
            if message.is_handshake
            else strict
        )
        if message.is_handshake:
            is_named = embedded.versions.is_named(message.version, protocols)
            judges = () if is_named or embedded.versions.is_unknown(message.version, protocols) else judges
        verdict = message.make_verdict(spoken or strict, line)
        if any(message.make_verdict(judge, line).is_valid != verdict.is_valid for judge in judges[1:]):
            verdict = replace(_find_envelope(verdict), note=embedded.versions.describe_disagreement(protocols))
        if spoken is None and (message.is_agreed or not verdict.is_valid):  # what is invalid here may be valid there
            verdict = replace(_find_envelope(verdict), note=embedded.versions.NO_SCHEMA)
        difference = _find_difference(message, protocols) if fixed else ()
        yield replace(verdict, problems=(*problems, *verdict.problems, *difference))
        strict = spoken or (strict if message.kind == "request" else None)


def _make_judges(strict: Strict | None, judges: Iterable[Strict]) -> tuple[Strict, ...]:
    """The validators of a message: the one in force, then those that may be."""
    return () if strict is None else (strict, *(judge for judge in judges if judge is not strict))


def _find_envelope(verdict: LineVerdict) -> LineVerdict:
    """A verdict on the envelope only, which all versions share."""
    return replace(verdict, problems=tuple(problem for problem in verdict.problems if problem.rule == "envelope"))


def _move_inside(problem: LineProblem) -> LineProblem:
    """A duplicate key of a recorded line: in the message, or in the line itself, whose content is then unclear."""
    if problem.pointer.startswith("/message/"):
        return replace(problem, pointer=problem.pointer.removeprefix("/message"))
    return replace(problem, rule="recording")


def _find_difference(message: _Message, protocols: Mapping[Any, Strict]) -> Iterator[LineProblem]:
    """Yield a problem if the peers negotiated a version other than the required one."""
    if message.kind == "result" and embedded.versions.is_unknown(message.version, protocols):
        versions = " and ".join(map(repr, protocols))
        sentence = f"version {message.version!r} was negotiated; messages are judged by {versions}"
        yield LineProblem("version-differs", sentence, "/result/protocolVersion", code=-32600)


class _Message:
    """A message with its sender and method, as far as the stream shows them."""

    def __init__(
        self, value: Any, judges: Sequence[Strict], sides: tuple[str, ...], open_requests: _Open, sender: str | None
    ) -> None:
        self.value, self.open, self.method = value, open_requests, ""
        self.version: object = None
        self.kind = _find_kind(value)
        self._methods: dict[int, str | None] = {}
        speaker = sender or self._find_sender(judges, sides)
        self.sender = speaker or sides[0]
        self.peer = sides[1] if self.sender == sides[0] else sides[0]
        self.askers = (self.peer,) if speaker else sides
        for item in value if is_array(value) else [value]:
            kind = _find_kind(item)
            if kind == "request":
                open_requests.ask(self.sender, item["id"], item["method"])
            if kind in ("request", "notification") and item is value:
                self.method = item["method"]
        if is_object(value) and self.kind in ("result", "error") and len(self._find_requesters(value)) == 1:
            self.method = open_requests.answer(self.peer, value.get("id")) or ""
        if is_object(value) and self.method == "initialize":
            body = value.get("result" if self.kind == "result" else "params")
            self.version = body.get("protocolVersion") if is_object(body) else None

    def _find_sender(self, judges: Sequence[Strict], sides: tuple[str, ...]) -> str | None:
        """Who must have sent it; `None` if both sides may have."""
        for item in self.value if is_array(self.value) else [self.value]:
            kind, receiver = _find_kind(item), None
            if kind in ("request", "notification"):
                routes = [strict.route(item["method"], is_request=kind == "request") for strict in judges]
                receiver = next((route.side for route in routes if route is not None and route.side in sides), None)
            elif kind in ("result", "error"):
                askers = self.open.list_askers(item.get("id"), sides)
                receiver = askers[0] if len(askers) == 1 else None
            if receiver is not None:
                return next(side for side in sides if side != receiver)
        return None

    def _find_requesters(self, item: Mapping[str, Any]) -> list[str]:
        """The sides that may have sent the request of this response."""
        return self.open.list_askers(item.get("id"), self.askers)

    @property
    def is_handshake(self) -> bool:
        """Whether it may name the version of the following messages."""
        return self.method == "initialize" and self.kind in ("request", "result")

    @property
    def is_agreed(self) -> bool:
        """Whether it names the negotiated version, and so belongs to that version itself."""
        return self.is_handshake and self.kind == "result"

    def make_verdict(self, strict: Strict | None, line: Line) -> LineVerdict:
        name = (line.number, self.sender, self.kind, self.method)
        if strict is None:
            return LineVerdict(*name, note=embedded.versions.NO_SCHEMA, end=line.end)
        unjudged = self._list_unjudged(strict)
        problems = strict.judge(
            self.value,
            sender=self.sender,
            method=self.method or None,
            pending=self._find_answered_method if self.kind == "batch" else None,
        )
        invalid = tuple(_make_problem(problem) for problem in problems if problem.pointer not in unjudged)
        return LineVerdict(*name, invalid, "; ".join(dict.fromkeys(unjudged.values())), line.end)

    def _find_answered_method(self, id_: object) -> str | None:
        """The method of the request that an item of a batch answers."""
        if len(self.open.list_askers(id_, self.askers)) == 1:
            self._methods[_make_key(id_)] = self.open.answer(self.peer, id_)
        return self._methods.get(_make_key(id_))

    def _list_unjudged(self, strict: Strict) -> dict[str, str]:
        """Reasons why parts are not judged, by the place that the schema would report."""
        if not is_array(self.value):
            reasons = [("", self.value)]
        else:
            reasons = [(f"/{index}", item) for index, item in enumerate(self.value)] if strict.contract.batch else []
        by_place = {f"{at}/method": self._explain_unjudged(strict, item) for at, item in reasons}
        return {place: reason for place, reason in by_place.items() if reason}

    def _explain_unjudged(self, strict: Strict, item: Any) -> str:
        kind, method = _find_kind(item), ""
        if kind in ("request", "notification"):
            method = item["method"]
        elif kind == "result":
            askers = self._find_requesters(item)
            method = self.method or (
                self.open.methods[askers[0], _make_key(item.get("id"))] if len(askers) == 1 else ""
            )
            if not method:
                return _AMBIGUOUS if askers else _ORPHAN
        if not method:
            return ""
        return embedded.versions.describe_unjudged(strict.contract, method, is_request=kind != "notification")


def judge_conversation(lines: Iterable[Line], monitor: Monitor) -> Iterator[LineVerdict]:
    """Yield a verdict for each line of a recorded conversation, and one at its end for open requests and what was not judged."""
    number, end = 0, 0
    for line in lines:
        number, end = line.number, line.end
        content, repeated = _read_content(line, monitor.sides)
        if isinstance(content, str) and content in (_LONG, _DENSE):
            missed = tuple(map(_make_breach, monitor.lose("a line was not read")))
            yield LineVerdict(number, "", "message", "", missed, content, end)
            continue
        if isinstance(content, str):
            yield LineVerdict(number, "", "message", "", (LineProblem("recording", content), *repeated), end=end)
            continue
        if content.is_gap:
            missed = tuple(map(_make_breach, monitor.lose(_MISSING)))
            yield LineVerdict(number, content.sender, "gap", "", (*repeated, *missed), monitor.unjudged, end)
            continue
        if content.is_blank:
            yield LineVerdict(number, content.sender, "blank", "", repeated, end=end)
            continue
        breaches = monitor.observe(content.sender, content.heard, index=number)
        method = breaches[0].method if breaches else _find_method(content.message)
        problems = (*repeated, *map(_make_breach, breaches))
        yield LineVerdict(number, content.sender, _find_kind(content.message), method, problems, monitor.unjudged, end)
    open_problems = tuple(map(_make_open_problem, monitor.finish()))
    if open_problems:
        is_judged = all(problem.rule != "not-judged" for problem in open_problems)
        yield LineVerdict(number, "", "end", "", open_problems, "" if is_judged else _PARTLY, end)


def _read_content(line: Line, sides: tuple[str, ...]) -> tuple[RecordedMessage | str, tuple[LineProblem, ...]]:
    """The content of a recorded line, with a problem for each duplicate key."""
    if not line.is_whole:
        return _LONG, ()
    try:
        value, repeated = validators.read(line.content)
    except embedded.errors.DecodeError as error:
        if validators.is_too_large(error):
            return _DENSE, ()
        return _with_remedy(error.problems[0].sentence, line.content), ()
    problems = (LineProblem("duplicate-key", sentence, pointer, level="must") for pointer, sentence in repeated)
    return parse_line(value, sides), tuple(map(_move_inside, problems))


def _with_remedy(sentence: str, content: bytes) -> str:
    """The sentence about a line that is not JSON, with what to do if the form of the line is known."""
    advice = find_remedy(content)
    return f"{sentence}. {advice}" if advice else sentence


def fold_repeats(verdicts: Iterable[LineVerdict]) -> Iterator[LineVerdict]:
    """Fold repeated verdicts of a conversation: repeats are reported at each power of ten and at the end, with a count."""
    folding: Folding[LineVerdict] = validators.make_folding()
    for verdict in verdicts:
        count = folding.take(verdict.mark, verdict)
        if count:
            yield replace(verdict, count=count)
    for verdict, count in folding.list_omitted():
        yield replace(verdict, count=count)


def write_json(verdict: LineVerdict) -> str:
    """A verdict as one line of JSON."""
    problems = [
        {key: value for key, value in _list_fields(problem).items() if value not in ("", None, ())}
        for problem in verdict.problems
    ]
    is_valid = verdict.is_valid if verdict.is_judged or not verdict.is_valid else None
    row: dict[str, Any] = {"line": verdict.line, "valid": is_valid, "from": verdict.sender or None}
    row |= {"kind": verdict.kind, "method": verdict.method or None, "problems": problems}
    return json.dumps(row | ({"note": verdict.note} if verdict.note else {}))


def write_counts(summary: Counts) -> str:
    """The counts of valid, invalid and unjudged lines as one line of JSON."""
    return json.dumps(dict(zip(("valid", "invalid", "not_judged"), summary.sums, strict=True)))


def write_breach(breach: Breach) -> str:
    """A breach of a live conversation as one line of JSON."""
    row = {"message": breach.index, "from": breach.sender or None, "method": breach.method or None}
    return json.dumps(
        row | {key: value for key, value in _list_fields(_make_breach(breach)).items() if value not in ("", None)}
    )


def write_text(verdict: LineVerdict) -> str:
    """A verdict as one line of text."""
    who = " ".join(part for part in (verdict.sender, verdict.kind, verdict.method) if part)
    state = "invalid" if not verdict.is_valid else "ok" if verdict.is_judged else "not judged"
    head = f"{verdict.line}: {state} {who}"
    is_told = any(problem.sentence == verdict.note for problem in verdict.problems)
    texts = [_describe_problem(problem) for problem in verdict.problems] + (
        [verdict.note] if verdict.note and not is_told else []
    )
    often = f" [{verdict.count} more like it, up to this one]" if verdict.count > 1 else ""
    return (f"{head}: {'; '.join(texts)}" if texts else head) + often


def _make_place(pointer: str) -> str:
    return "/".join("*" if step.isdigit() else step for step in pointer.split("/"))


def _describe_problem(problem: LineProblem) -> str:
    name = f"{problem.level} {problem.rule}" if problem.level else ""
    numbers = f" ({validators.cite_requirements(problem.requirements)})" if problem.requirements else ""
    since = f" [line {problem.earlier}]" if problem.earlier is not None else ""
    parts = [f"{name}{numbers}", problem.pointer, problem.sentence]
    return f"{': '.join(part for part in parts if part)}{since}"


def _list_fields(problem: LineProblem) -> dict[str, Any]:
    return {
        "rule": problem.rule,
        "level": problem.level,
        "requirements": list(problem.requirements) or None,
        "pointer": problem.pointer,
        "earlier": problem.earlier,
        "schema": problem.schema,
        "sentence": problem.sentence,
        "code": problem.code,
        "count": problem.count if problem.count > 1 else None,
    }


def _make_problem(violation: Violation) -> LineProblem:
    return LineProblem(violation.rule, violation.sentence, violation.pointer, violation.schema, violation.code)


def _make_breach(breach: Breach) -> LineProblem:
    return LineProblem(
        rule=breach.rule,
        sentence=breach.sentence,
        pointer=breach.pointer,
        level=breach.level,
        requirements=breach.requirements,
        earlier=breach.earlier,
        count=breach.count,
    )


def _make_open_problem(breach: Breach) -> LineProblem:
    """A problem at the end refers to the open request, or to what cancelled it."""
    return replace(_make_breach(breach), earlier=breach.index if breach.earlier is None else breach.earlier)


def _find_kind(value: object) -> str:
    if not is_object(value):
        return "batch" if is_array(value) else "message"
    if isinstance(value.get("method"), str):
        return "request" if "id" in value else "notification"
    return "error" if "error" in value else "result" if "result" in value else "message"


def _find_method(value: object) -> str:
    return str(value["method"]) if is_object(value) and isinstance(value.get("method"), str) else ""


def _make_key(value: object) -> int:
    """A key of fixed size for an id; strings and numbers are distinct."""
    return hash((isinstance(value, str), value)) if isinstance(value, str | int | float | None) else 0
