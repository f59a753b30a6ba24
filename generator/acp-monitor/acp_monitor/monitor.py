"""The monitor: it resolves what each message refers to, and runs the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any, Final

from .bounded import MAX_BREACHES, MAX_PARTS, MAX_POINTER, MAX_VALUES, make_key, shorten
from .breach import LEVELS, Breach
from .connection import Connection
from .events import Event, Finding, Kind, Level
from .json_values import Path, get_text, is_array, is_object, is_redacted, reach, split_pointer, write_pointer
from .requirements import find_requirements
from .rule import ACP, Aspect, Rule
from .rules import RULES
from .transitions import record
from .undeclared import Content, Found, Undeclared, Use, get_types
from .unstable import UnstableChannels
from .versions import NO_SCHEMA, describe_disagreement, describe_unjudged, is_named

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict, Violation

PARTLY: Final = "the message is too large to be searched for undeclared fields and values"
ORPHAN: Final = "the result was not judged: its request was not seen"

_METHODS: Final = frozenset(method for rule in RULES.values() for method in rule.methods)
_UPDATES: Final = frozenset(update for rule in RULES.values() for update in rule.updates)


class Monitor:
    """The monitor of one connection. `protocols` are the versions that it knows (`acp_bindings.v1.methods.STRICT`), by default those of
    ACP in `acp_bindings`, which need jsonschema-rs. Raises `ImportError` if that is missing.

    With `fixed` they validate whatever version the peers negotiate; otherwise messages of an unknown version are not validated. Until
    `initialize` names one of several versions, all of them validate, and messages on which they disagree are not judged. If a message
    contains something that only the unstable channel of its version has, a note says so; `unstable` returns these channels on demand. A
    line with more `values` than these is not read and counts as missed, as in `lose`. If a line has more than `limit` breaches, a last
    one with the rule `more` and the highest level of the omitted ones counts them.
    """

    def __init__(
        self,
        protocols: Iterable[Strict] | None = None,
        *,
        fixed: bool = False,
        unstable: Callable[[], Iterable[Strict]] | None = None,
        values: int = MAX_VALUES,
        limit: int = MAX_BREACHES,
    ) -> None:
        protocols_by_version: Mapping[Any, Strict] = {
            strict.contract.version: strict for strict in protocols or _find_installed()
        }
        self._connection: Final = Connection(protocols_by_version, is_fixed=fixed)
        self._selected: dict[tuple[Kind, str, str | None, Any], tuple[Rule, ...]] = {}
        nothing: Callable[[], Iterable[Strict]] = tuple
        self._unstable: Final = UnstableChannels(
            unstable or (_find_installed_channels if protocols is None else nothing)
        )
        self._values: Final = values
        self._limit: Final = limit
        self._index = 0
        self._reasons: list[str] = []
        self._unjudged: dict[str, _Unjudged] = {}

    @property
    def sides(self) -> tuple[str, str]:
        """The two sides of the connection, the client first."""
        return self._connection.sides

    @property
    def unjudged(self) -> str:
        """Why the last line was not judged, or not completely; empty if it was. `finish` sums these up."""
        return "; ".join(self._reasons)

    @property
    def version(self) -> int | str | None:
        """The protocol version in force; `None` if the monitor does not know it."""
        return self._connection.version

    def observe(self, sender: str, line: Any, *, index: int | None = None) -> tuple[Breach, ...]:
        """Observe one line of `sender`, as UTF-8 text or parsed JSON, and return its breaches.

        `index` is the number of the line in breaches, such as its number in a file; by default, lines are counted from 0. Never
        raises for the content of a line; raises `ValueError` for an unknown sender.
        """
        if sender not in self._connection.sides:
            raise ValueError(f"the sender is one of {self._connection.sides}, not {sender!r}")
        index = self._index if index is None else index
        self._index = index + 1
        self._reasons = []
        return self._limit_breaches(self._read(index, sender, line))

    def lose(self, sentence: str = "some messages were missed") -> tuple[Breach, ...]:
        """Report that messages were missed: knowledge about open requests and sessions is given up. Returns a note."""
        self._connection.lose()
        self._reasons = [sentence]
        return (_make_remark("messages-missed", self._index, self._connection.sides[0], sentence),)

    def finish(self) -> tuple[Breach, ...]:
        """Report the end of the conversation, and return the breaches of open requests and notes about what was not judged."""
        breaches = self._judge(self._make_event("end", self._index, self._connection.sides[0], None))
        return (*breaches, *starmap(_report_unjudged, self._unjudged.items()))

    # --- reading ---

    def _read(self, index: int, sender: str, line: Any) -> Iterator[Breach]:
        reader = self._connection.strict or next(iter(self._connection.protocols.values()))
        value, problems = reader.read(line, values=self._values)
        if any(problem.rule == "size" for problem in problems):
            reason = problems[0].sentence
            self._connection.lose()
            self._count(reason, index, sender)
            yield _make_remark("messages-missed", index, sender, f"{reason}, and was not read")
        elif any(problem.rule == "json" for problem in problems):
            event = self._make_event("unreadable", index, sender, None, problems=problems)
            record(self._connection, event)
            yield from self._judge(event)
        elif is_array(value) and (reader.contract.batch or self._connection.strict is None):
            yield from self._observe_batch(index, sender, value, problems)
        else:
            yield from self._observe_message(index, sender, value, (), problems)

    def _limit_breaches(self, breaches: Iterator[Breach]) -> tuple[Breach, ...]:
        """The breaches up to the limit, and one for all others. State changes are recorded for the whole line."""
        first = tuple(islice(breaches, self._limit))
        count = 0
        level: Level = LEVELS[-1]
        last: Breach | None = None
        for last in breaches:
            count += 1
            level = LEVELS[min(LEVELS.index(level), LEVELS.index(last.level))]
        if last is None:
            return first
        sentence = f"further findings of this line are omitted: it has more than {self._limit} findings"
        return (*first, Breach("more", level, (), last.index, last.sender, "", "", None, sentence, count))

    def _observe_batch(
        self, index: int, sender: str, value: list[Any], duplicates: tuple[Violation, ...]
    ) -> Iterator[Breach]:
        if self._connection.strict is not None:
            yield from self._judge(self._make_event("batch", index, sender, value))
        for place, item in enumerate(value):
            inner = (problem for problem in duplicates if problem.pointer.startswith(f"/{place}/"))
            problems = [replace(problem, pointer=problem.pointer.removeprefix(f"/{place}")) for problem in inner]
            yield from self._observe_message(index, sender, item, (place,), tuple(problems))

    def _observe_message(
        self, index: int, sender: str, value: Any, at: Path, duplicates: tuple[Violation, ...]
    ) -> Iterator[Breach]:
        if is_redacted(reach(value, "id")) or is_redacted(reach(value, "method")):
            self._connection.lose()
            self._count("the id or the method is redacted", index, sender)
            return
        event = self._make_event(_classify(value), index, sender, value, at)
        event.duplicates = duplicates
        self._note_unjudged(event)
        news = list(self._unstable.look(event, event.strict))
        yield from (breach for breach in self._judge(event) if not self._is_reported(event, breach))
        yield from (_report_unstable(event, finding) for finding in news)
        self._record(event)
        for place, item in enumerate(value if is_array(value) and not at else ()):
            # A batch where there are none: what it holds is not judged, but may be answered all the same.
            self._record(self._make_event(_classify(item), index, sender, item, (place,)))

    def _record(self, event: Event) -> None:
        record(self._connection, event)
        for reason in self._connection.evictions:
            self._count(reason, event.index, event.sender)

    def _make_event(
        self, kind: Kind, index: int, sender: str, value: Any, at: Path = (), problems: tuple[Any, ...] = ()
    ) -> Event:
        """A message with everything that it refers to, validated by the schema."""
        connection = self._connection
        event = Event(index, sender, connection.get_peer(sender), kind, value, at=at, problems=problems)
        if kind in ("unreadable", "batch", "end"):
            return event
        if kind in ("result", "error"):
            event.id, event.body = value.get("id"), value[kind]
            if not (kind == "error" and event.id is None and connection.awaits_refusal(event.receiver)):
                event.request = connection.pending[event.receiver].get(make_key(event.id) or "")
            event.method = event.request.method if event.request is not None else ""
        elif kind in ("request", "notification"):
            event.method, event.id, params = value["method"], value.get("id"), value.get("params")
            event.body = {} if params is None else params
        event.session_id = get_text(event.body, "sessionId")
        if event.session_id is None and event.request is not None:
            event.session_id = event.request.session
        event.session = connection.find_session(event.session_id)
        event.update_kind = get_text(event.update, "sessionUpdate")
        strict, is_foreign, candidates = connection.strict, False, connection.others
        if event.method == "initialize" and kind in ("request", "result"):
            version = reach(event.body, "protocolVersion")
            speaking = connection.choose_validator(version)
            strict, is_foreign = speaking or strict, speaking is None
            candidates = () if is_named(version, connection.protocols) or connection.is_unknown(version) else candidates
        event.strict = strict
        if strict is None:
            event.unjudged = NO_SCHEMA
        else:
            self._validate(event, strict, candidates, is_foreign=is_foreign)
        return event

    def _validate(self, event: Event, strict: Strict, candidates: Sequence[Strict], *, is_foreign: bool) -> None:
        """Validate a message. Where another possible version disagrees, the message is not judged."""
        is_request, value, method = event.kind != "notification", event.value, event.method or None
        event.route = strict.route(event.method, is_request=is_request)
        if event.route is None and event.method and event.kind != "error":
            event.unjudged = describe_unjudged(strict.contract, event.method, is_request=is_request)
        event.problems = strict.judge(value, sender=event.sender, method=method)
        judged = [candidate.judge(value, sender=event.sender, method=method) for candidate in candidates]
        unjudged = ""
        if any(bool(problems) != bool(event.problems) for problems in judged):
            unjudged = describe_disagreement(self._connection.protocols)
        elif is_foreign and (event.problems or event.kind == "result"):
            unjudged = NO_SCHEMA  # what is wrong here may be right in that version
        if unjudged:
            event.problems = tuple(problem for problem in event.problems if problem.rule == "envelope")
            event.unjudged = unjudged
        if not event.unjudged and event.definition is not None:
            self._look(event, strict, event.definition)

    def _look(self, event: Event, strict: Strict, definition: str) -> None:
        """Find what depends on capabilities in a message, what its types do not declare, and its content."""
        if strict.contract.name not in ACP:
            return
        on_limit = partial(self._count, PARTLY, event.index, event.sender)
        uses: list[Use] = []
        undeclared: list[Undeclared] = []
        content: list[Content] = []
        for place in self._find_undeclared(event, strict, definition, on_limit):
            if isinstance(place, Use):
                uses.append(place._replace(path=event.extend_path(*place.path)))
            elif isinstance(place, Content):
                content.append(place)
            elif len(undeclared) <= MAX_PARTS:
                undeclared.append(place)
        if len(undeclared) > MAX_PARTS:
            on_limit()
        event.uses, event.undeclared, event.content = tuple(uses), tuple(undeclared[:MAX_PARTS]), tuple(content)

    def _find_undeclared(
        self, event: Event, strict: Strict, definition: str, on_limit: Callable[[], None]
    ) -> Iterator[Found]:
        """Yield the places that `Types.look` finds in a message; `on_limit` is called if not all of it was searched.

        The request of the handshake belongs to all versions at once, since a client may offer several.
        """
        undeclared_paths: list[set[Path]] = []
        if event.method == "initialize" and event.kind == "request":
            if self._connection.is_unknown(reach(event.body, "protocolVersion")):
                return
            for candidate in self._connection.protocols.values():
                route = candidate.route(event.method, is_request=True)
                params: Any = route and route.params
                if candidate is not strict and params is not None:
                    places = get_types(candidate).find_undeclared(params, event.body)
                    undeclared_paths.append({place.path for place in places})
        concerns = partial(self._concerns, event)
        for place in get_types(strict).look(definition, event.body, on_limit, concerns):
            prefixes = {place.path[:length] for length in range(1, len(place.path) + 1)}
            if all(prefixes & paths for paths in undeclared_paths):
                yield place

    def _concerns(self, event: Event, capability: str, is_absent: bool) -> bool:
        """Whether a rule may report a use: of a capability that is not advertised, or of a field that an advertised one requires."""
        side = event.sender if is_absent else event.receiver
        return capability.startswith(f"{side}:") and self._connection.advertises(capability) is is_absent

    # --- rules ---

    def _judge(self, event: Event) -> Iterator[Breach]:
        aspects = self._find_aspects(event)
        for rule in self._select_rules(event):
            if rule.needs in aspects:
                for finding in rule.check(event, self._connection):
                    yield _make_breach(rule, event, finding, self._connection)

    def _find_aspects(self, event: Event) -> set[Aspect]:
        """The aspects of a message that rules look at."""
        aspects: set[Aspect] = {"all"}
        if event.problems:
            aspects.add("problems")
        if event.undeclared:
            aspects.add("undeclared")
        if event.uses:
            aspects.add("uses")
        if event.content:
            aspects.add("content")
        if event.duplicates:
            aspects.add("duplicates")
        if event.at:
            aspects.add("batch")
        if event.kind in ("request", "notification"):
            if event.route is not None and event.route.capability is not None:
                aspects.add("capability")
            if self._connection.initialize_answer is None:
                aspects.add("handshake")
            session = event.session
            if session is None or not session.is_settled:
                aspects.add("session")
        return aspects

    def _select_rules(self, event: Event) -> tuple[Rule, ...]:
        """The rules for a message, cached. Names that peers invent do not fill the cache."""
        kind = event.kind
        method = event.method if event.method in _METHODS else ""
        update = event.update_kind if event.update_kind in _UPDATES else None
        strict = event.strict or self._connection.strict
        version = None if strict is None else strict.contract.version
        mark = (kind, method, update, version)
        rules = self._selected.get(mark)
        if rules is None:
            rules = self._selected[mark] = tuple(
                rule
                for rule in RULES.values()
                if kind in rule.kinds and rule.applies(version)
                if kind == "end" or not rule.methods or method in rule.methods
                if kind != "notification" or not rule.updates or update in rule.updates
            )
        return rules

    def _is_reported(self, event: Event, breach: Breach) -> bool:
        """Whether a note about a field or value repeats, less exactly, one about the unstable channel."""
        if breach.rule not in ("field-unknown", "value-unknown") or breach.level != "note":
            return False
        steps = split_pointer(breach.pointer)
        value = _follow(event.value, steps) if breach.rule == "value-unknown" else None
        return self._unstable.has_reported(event.method, steps[-1], value)

    # --- what is not judged ---

    def _note_unjudged(self, event: Event) -> None:
        """Count what is not judged. A response whose request was not seen is either a breach, or missed earlier."""
        if event.unjudged:
            self._count(event.unjudged, event.index, event.sender)
        elif event.kind == "result" and event.request is None and ORPHAN not in self._reasons:
            self._reasons.append(ORPHAN)

    def _count(self, reason: str, index: int, sender: str) -> None:
        self._unjudged.setdefault(reason, _Unjudged(index, sender)).count += 1
        if reason not in self._reasons:
            self._reasons.append(reason)


@dataclass(slots=True)
class _Unjudged:
    """How many messages were not judged for a reason, and the first of them."""

    index: int
    sender: str
    count: int = 0


def _classify(value: Any) -> Kind:
    if not is_object(value):
        return "malformed"
    if "method" in value:
        return "malformed" if not isinstance(value["method"], str) else "request" if "id" in value else "notification"
    return "error" if "error" in value else "result" if "result" in value else "malformed"


def _follow(value: Any, steps: Sequence[str]) -> Any:
    """The value at the steps of a pointer."""
    for step in steps:
        value = reach(value, int(step) if is_array(value) and step.isdigit() else step)
    return value


def _make_breach(rule: Rule, event: Event, finding: Finding, connection: Connection) -> Breach:
    about = event if finding.about is None else finding.about
    strict = event.strict or connection.strict
    words = (*finding.words, about.method, about.sender)
    return Breach(
        rule.id,
        rule.level if finding.level is None else finding.level,
        () if strict is None else find_requirements(strict.contract.name, rule.id, words),
        about.index,
        about.sender,
        shorten(about.method),
        shorten(write_pointer(finding.path), MAX_POINTER),
        finding.earlier,
        finding.sentence,
    )


def _report_unstable(event: Event, finding: Finding) -> Breach:
    place = shorten(write_pointer(finding.path), MAX_POINTER)
    return Breach(
        "only-unstable", "note", (), event.index, event.sender, shorten(event.method), place, None, finding.sentence
    )


def _report_unjudged(reason: str, unjudged: _Unjudged) -> Breach:
    messages = "1 message was" if unjudged.count == 1 else f"{unjudged.count} messages were"
    sentence = f"{messages} not judged, or only in part, from this one on: {reason}"
    return _make_remark("not-judged", unjudged.index, unjudged.sender, sentence)


def _make_remark(name: str, index: int, sender: str, sentence: str) -> Breach:
    return Breach(name, "note", (), index, sender, "", "", None, sentence)


def _find_installed_channels() -> tuple[Strict, ...]:
    """The unstable channels of ACP in the installed bindings."""
    from acp_bindings.unstable.v1.methods import STRICT as V1
    from acp_bindings.unstable.v2.methods import STRICT as V2

    return (V1, V2)


def _find_installed() -> tuple[Strict, ...]:
    """The versions of ACP in the installed bindings."""
    from acp_bindings.v1.methods import STRICT as V1
    from acp_bindings.v2.methods import STRICT as V2

    return (V1, V2)
