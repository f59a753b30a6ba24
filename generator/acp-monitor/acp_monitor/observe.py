"""The monitor: finds what each message refers to, and asks the rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any, Final

from .alike import Alike
from .beyond import Beyond
from .events import Event, Found, Kind, Level, Path, Requirement, json_pointer, pointer_steps, reach, text
from .intake import apply, changes_nothing
from .json_types import is_array, is_object
from .kept import LONGEST_POINTER, MOST_BREACHES, MOST_PARTS, MOST_READ, brief, key
from .objects import WORDS, contents
from .requirements import BEHIND, NUMBERED
from .rule import ACP, Sees
from .rules import RULES, Rule
from .shapes import Shapes
from .state import Connection
from .versions import NO_SCHEMA, unclear

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict, Violation

    from .shapes import Unknown


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that a message breaks.

    `index` counts the lines of both directions, `pointer` is a JSON Pointer into the line (into the batch, for one; of one with
    over 4,096 characters the beginning and a digest), `earlier` the
    index of the message that makes this one a breach. `count` is for how many of its kind it stands, itself the last. `requirements`
    are numbers and ids of the table of requirements; none where only the schema or JSON-RPC says it. `level`: `must` and `should` are
    breaches, a `note` is not.
    """

    rule: str
    level: Level
    requirements: tuple[Requirement, ...]
    index: int
    sender: str
    method: str
    pointer: str
    earlier: int | None
    sentence: str
    count: int = 1

    @property
    def mark(self) -> Hashable:
        """What repeats of it have in common: all but the message and places in arrays."""
        place = tuple("*" if step.isdigit() else step for step in pointer_steps(self.pointer))
        return (self.rule, self.level, self.sender, self.method, place, self.sentence)

    def __str__(self) -> str:
        numbers = f" ({cited(self.requirements)})" if self.requirements else ""
        since = f" [since message {self.earlier}]" if self.earlier is not None else ""
        where = f" at {self.pointer}" if self.pointer else ""
        often = f" [{self.count} more like it, up to this one]" if self.count > 1 else ""
        who = f" from the {self.sender}" if self.sender else ""
        return f"{self.level}: message {self.index}{who}: {self.rule}{numbers}: {self.sentence}{where}{since}{often}"


def cited(requirements: Sequence[Requirement]) -> str:
    """The requirements behind a breach in a line of text: the first few, which are the nearest, and how many more there are."""
    more = len(requirements) - CITED
    names = ", ".join(map(str, requirements[:CITED]))
    return f"requirement {names}" if more <= 0 else f"requirement {names} and {more} more"


CITED: Final = 3

LEVELS: Final[tuple[Level, ...]] = ("must", "should", "note")
"""From the highest to the lowest."""


class Monitor:
    """The monitor of one connection. `protocols` are the versions that it knows (`acp_bindings.v1.methods.STRICT`); without, those of
    ACP in `acp_bindings`, for which jsonschema-rs must be installed. Raises `ImportError` where it is not.

    With `fixed` they judge whatever version the peers agree on; without, what is of a version that is not known is not judged. Until
    `initialize` names one of several versions, all of them judge, and what they judge differently is not judged. Where a
    message holds what only the unstable channel of its version has, a note says so; `unstable` gives these channels when one is needed.
    A line that holds more `values` than these is not read: it counts as missed, like those of `lose`. Where a line breaks more than
    `limit`, a last breach with the rule `more`, of the highest level among those left out, counts them.
    """

    def __init__(
        self,
        protocols: Iterable[Strict] | None = None,
        *,
        fixed: bool = False,
        unstable: Callable[[], Iterable[Strict]] | None = None,
        values: int = MOST_READ,
        limit: int = MOST_BREACHES,
    ) -> None:
        known: Mapping[Any, Strict] = {strict.contract.version: strict for strict in protocols or _installed()}
        self._connection: Final = Connection(known, is_fixed=fixed)
        self._chosen: dict[tuple[Kind, str, str, str], tuple[Rule, ...]] = {}
        nothing: Callable[[], Iterable[Strict]] = tuple
        self._beyond: Final = Beyond(unstable or (_installed_channels if protocols is None else nothing))
        self._values: Final = values
        self._limit: Final = limit
        self._index = 0
        self._alike: Final = Alike()
        self._is_idle = False
        self._reasons: list[str] = []
        self._unjudged: dict[str, _Unjudged] = {}

    @property
    def sides(self) -> tuple[str, str]:
        """The two sides of the connection, the client first."""
        return self._connection.sides

    @property
    def unjudged(self) -> str:
        """Why the line last taken in was not judged, or not all of it; empty where it was. `finish` sums these up."""
        return "; ".join(self._reasons)

    @property
    def version(self) -> int | str | None:
        """The protocol version in force; `None` where it is one that the monitor does not know."""
        return self._connection.version

    def observe(self, sender: str, line: Any, *, index: int | None = None) -> tuple[Breach, ...]:
        """Take in one line that `sender` sent, as UTF-8 text or parsed JSON, and return what it breaks.

        `index` is what the line is called in breaches, such as its number in a file; without, lines are counted from 0. Never raises for
        what stands in a line; `ValueError` for a sender that the protocol does not have.
        """
        if sender not in self._connection.sides:
            raise ValueError(f"the sender is one of {self._connection.sides}, not {sender!r}")
        index = self._index if index is None else index
        self._index = index + 1
        self._reasons = []
        if line.__class__ is bytes and len(line) <= self._values and self._alike.has(sender, line):
            self._connection.notified[sender] = index
            return ()
        self._is_idle = False
        found, value = self._read(index, sender, line)
        if not self._is_idle:
            self._alike.forget()
        elif line.__class__ is bytes and not found and not self._reasons and self._connection.strict is not None:
            self._alike.learn(sender, line, value, (self._connection.strict, *self._connection.others))
        return found

    def _read(self, index: int, sender: str, line: Any) -> tuple[tuple[Breach, ...], Any]:
        """What a line breaks, and the value that it holds."""
        reader = self._connection.strict or next(iter(self._connection.protocols.values()))
        value, problems = reader.read(line, values=self._values)
        if any(problem.rule == "size" for problem in problems):
            return self._pass_over(index, sender, problems[0].sentence), None
        if any(problem.rule == "json" for problem in problems):
            event = self._event("unreadable", index, sender, None, problems=problems)
            apply(self._connection, event)
            return self._first(self._judge(event)), None
        if is_array(value) and (reader.contract.batch or self._connection.strict is None):
            return self._first(self._batch(index, sender, value, problems)), None
        return self._first(self._message(index, sender, value, (), problems)), value

    def _first(self, found: Iterator[Breach]) -> tuple[Breach, ...]:
        """As many breaches as are told, and one for all others. What the line changes is taken in to its end."""
        first = tuple(islice(found, self._limit))
        last: Breach | None = None
        for count, breach in enumerate(found, 1):
            levels: tuple[Level, ...] = (breach.level, breach.level if last is None else last.level)
            level: Level = next(each for each in LEVELS if each in levels)
            sentence = f"further findings of this line are omitted: it has more than {self._limit} findings"
            last = Breach("more", level, (), breach.index, breach.sender, "", "", None, sentence, count)
        return first if last is None else (*first, last)

    def _pass_over(self, index: int, sender: str, reason: str) -> tuple[Breach, ...]:
        """Count a line that is not read among what was not judged, and give up what it may have changed."""
        self._connection.lose()
        self._count(reason, index, sender)
        return (Breach("messages-missed", "note", (), index, sender, "", "", None, f"{reason}, and was not read"),)

    def lose(self, sentence: str = "some messages were missed") -> tuple[Breach, ...]:
        """Say that messages were missed: what is known of open requests and sessions is given up. Returns a note of it."""
        self._connection.lose()
        self._alike.forget()
        self._reasons = [sentence]
        return (Breach("messages-missed", "note", (), self._index, self._connection.sides[0], "", "", None, sentence),)

    def finish(self) -> tuple[Breach, ...]:
        """Say that the conversation has ended, and return what is left open, and notes of what was not judged."""
        left = self._judge(self._event("end", self._index, self._connection.sides[0], None))
        return (*left, *starmap(_not_judged, self._unjudged.items()))

    def _batch(self, index: int, sender: str, value: list[Any], repeated: tuple[Violation, ...]) -> Iterator[Breach]:
        if self._connection.strict is not None:
            yield from self._judge(self._event("batch", index, sender, value))
        for place, item in enumerate(value):
            inside = [problem for problem in repeated if problem.pointer.startswith(f"/{place}/")]
            own = (replace(problem, pointer=problem.pointer.removeprefix(f"/{place}")) for problem in inside)
            yield from self._message(index, sender, item, (place,), tuple(own))

    def _message(
        self, index: int, sender: str, value: Any, at: Path, repeated: tuple[Violation, ...]
    ) -> Iterator[Breach]:
        event = self._event(_kind(value), index, sender, value, at)
        event.repeated = repeated
        self._note(event)
        news = [] if event.is_plain else [_unstable(event, found) for found in self._beyond.look(event, event.strict)]
        yield from (breach for breach in self._judge(event) if not self._is_told(event, breach))
        yield from news
        self._learn(event)
        self._is_idle = not at and changes_nothing(self._connection, event)
        if self._is_idle:
            self._connection.notified[sender] = index
            return
        self._apply(event)
        for place, item in enumerate(value if is_array(value) and not at else ()):
            # A batch where there are none: what it holds is not judged, but may be answered all the same.
            self._apply(self._event(_kind(item), index, sender, item, (place,)))

    def _learn(self, event: Event) -> None:
        """Keep the form of a message of which nothing is to be said: most are like an earlier one."""
        if event.form is None or event.is_plain or event.unknown or event.uses or event.contents:
            return
        strict, definition = event.strict, event.definition
        if strict is None or definition is None or event.method == "initialize":  # which is in all versions at once
            return
        if self._beyond.has_all(strict, definition, event.body):
            _shapes_of(strict).keep_plain(event.form)

    def _is_told(self, event: Event, breach: Breach) -> bool:
        """Whether a note about a field or a value says what one about the unstable channel has said already, and more exactly."""
        if breach.rule not in ("field-unknown", "value-unknown") or breach.level != "note":
            return False
        steps = pointer_steps(breach.pointer)
        if breach.rule == "field-unknown":
            return self._beyond.has_told(event.method, steps[-1])
        return self._beyond.has_told_value(event.method, steps[-1], _at(event.value, steps))

    def _apply(self, event: Event) -> None:
        apply(self._connection, event)
        for reason in self._connection.let_go:
            self._miss(reason, event)

    def _event(
        self, kind: Kind, index: int, sender: str, value: Any, at: Path = (), problems: tuple[Any, ...] = ()
    ) -> Event:
        """A message with all that it refers to, judged by the schema."""
        connection = self._connection
        event = Event(index, sender, connection.other(sender), kind, value, at=at, problems=problems)
        if kind in ("unreadable", "batch", "end"):
            return event
        strict = connection.strict
        if kind in ("result", "error"):
            event.id, event.body = value.get("id"), value[kind]
            event.request = connection.pending[event.receiver].get(key(event.id) or "")
            event.method = event.request.method if event.request is not None else ""
        elif kind in ("request", "notification"):
            event.method, event.id, params = value["method"], value.get("id"), value.get("params")
            event.body = {} if params is None else params
        is_foreign, others = False, connection.others
        if event.method == "initialize" and kind in ("request", "result"):
            version = reach(event.body, "protocolVersion")
            speaking = connection.speaking(version)
            strict, is_foreign = speaking or strict, speaking is None
            others = () if connection.is_said(version) else others
        event.strict = strict
        if strict is None:
            event.unjudged = NO_SCHEMA
        else:
            event.route = strict.route(event.method, is_request=kind != "notification")
            if event.route is None and event.method and kind != "error":
                event.unjudged = strict.contract.unjudged(event.method, is_request=kind != "notification")
            event.problems = strict.judge(value, sender=sender, method=event.method or None)
            judged = [other.judge(value, sender=sender, method=event.method or None) for other in others]
            if any(bool(problems) != bool(event.problems) for problems in judged):
                event.problems = tuple(problem for problem in event.problems if problem.rule == "envelope")
                event.unjudged = unclear(connection.protocols)
            if is_foreign and (event.problems or kind == "result"):  # what is wrong here may be right in that version
                event.problems = tuple(problem for problem in event.problems if problem.rule == "envelope")
                event.unjudged = NO_SCHEMA
            if not event.unjudged:
                self._look(event, strict)
        if not event.is_plain:
            event.contents = contents(event)
        return event

    def _look(self, event: Event, strict: Strict) -> None:
        """Find what of a message depends on capabilities, and what its types do not have."""
        definition = event.definition
        is_acp = strict.contract.name in ACP
        if is_acp and definition is not None:
            shapes = _shapes_of(strict)
            event.form = shapes.form(definition, event.body)
            if event.form in shapes.plain:
                event.is_plain = True
                return
        if definition is not None and definition in strict.contract.gated:
            event.uses = tuple(strict.contract.uses(definition, event.body, event.below()))
        if is_acp:
            stopped = partial(self._miss, PARTLY, event)
            found = self._unknown(event, strict, stopped)
            event.unknown = tuple(islice(found, MOST_PARTS))
            if next(found, None) is not None:
                stopped()

    def _unknown(self, event: Event, strict: Strict, stopped: Callable[[], None]) -> Iterator[Unknown]:
        """The fields that the types of a message do not have; `stopped` is called where not all of it was looked at. The request of
        the handshake is in all versions at once, as a client may offer several.
        """
        if event.definition is None:
            return
        others: list[set[Path]] = []
        if event.method == "initialize" and event.kind == "request":
            if self._connection.is_unknown(reach(event.body, "protocolVersion")):
                return
            for other in self._connection.protocols.values():
                route = other.route(event.method, is_request=True)
                definition: Any = route and route.params
                if other is not strict and definition is not None:
                    others.append({one.path for one in _shapes_of(other).unknown(definition, event.body)})
        for found in _shapes_of(strict).unknown(event.definition, event.body, stopped, event.form):
            if all(found.path in each for each in others):
                yield found

    def _note(self, event: Event) -> None:
        """Count what is not judged. An answer whose request was not seen is either a breach, or lost with what was missed before."""
        if event.unjudged:
            self._miss(event.unjudged, event)
        elif event.kind == "result" and event.request is None and ORPHAN not in self._reasons:
            self._reasons.append(ORPHAN)

    def _miss(self, reason: str, event: Event) -> None:
        self._count(reason, event.index, event.sender)

    def _count(self, reason: str, index: int, sender: str) -> None:
        self._unjudged.setdefault(reason, _Unjudged(index, sender)).count += 1
        if reason not in self._reasons:
            self._reasons.append(reason)

    def _judge(self, event: Event) -> Iterator[Breach]:
        seen = self._seen(event)
        for rule in self._rules(event):
            if rule.sees in seen:
                for found in rule.check(event, self._connection):
                    yield _breach(rule, event, found, self._connection)

    def _seen(self, event: Event) -> set[Sees]:
        """What there is of a message that rules look at."""
        seen: set[Sees] = {"all"}
        if event.problems:
            seen.add("problems")
        if event.unknown:
            seen.add("unknown")
        if event.uses:
            seen.add("uses")
        if event.contents:
            seen.add("contents")
        if event.repeated:
            seen.add("repeated")
        if event.at:
            seen.add("batch")
        if event.kind in ("request", "notification"):
            if event.route is not None and event.route.capability is not None:
                seen.add("gate")
            if self._connection.initialized is None:
                seen.add("handshake")
            session = self._connection.session(event.session)
            if session is None or not session.is_settled:
                seen.add("session")
        return seen

    def _rules(self, event: Event) -> tuple[Rule, ...]:
        """The rules that may look at a message. Names that peers make up do not fill the table."""
        kind, method, update, strict = event.kind, event.method, "", self._connection.strict
        protocol = "" if strict is None else strict.contract.name
        if method not in _NAMED:
            method = ""
        if kind == "notification":
            told = text(event.body, "update", "sessionUpdate")
            update = told if told in _UPDATES else ""
        chosen = self._chosen.get((kind, method, update, protocol))
        if chosen is None:
            is_acp = protocol in ACP
            chosen = tuple(
                rule
                for rule in RULES.values()
                if kind in rule.kinds and (not rule.methods or method in rule.methods)
                if kind != "notification" or not rule.updates or update in rule.updates
                if not is_acp or not rule.protocols or protocol in rule.protocols
            )
            self._chosen[kind, method, update, protocol] = chosen
        return chosen


@lru_cache(16)
def _shapes_of(strict: Strict) -> Shapes:
    """The types of a protocol, which its monitors share: to read them takes as long as to judge a hundred messages."""
    return Shapes(strict.schema, words=WORDS)


PARTLY: Final = "the message is too large to be searched for undeclared fields and values"
ORPHAN: Final = "the result was not judged: its request was not seen"


@dataclass(slots=True)
class _Unjudged:
    """How many messages were not judged for a reason, and the first of them."""

    index: int
    sender: str
    count: int = 0


def _not_judged(reason: str, found: _Unjudged) -> Breach:
    messages = "1 message was" if found.count == 1 else f"{found.count} messages were"
    sentence = f"{messages} not judged, or only in part, from this one on: {reason}"
    return Breach("not-judged", "note", (), found.index, found.sender, "", "", None, sentence)


_NAMED: Final = frozenset(method for rule in RULES.values() for method in rule.methods)
_UPDATES: Final = frozenset(update for rule in RULES.values() for update in rule.updates)


def _kind(value: Any) -> Kind:
    if not is_object(value):
        return "malformed"
    if "method" in value:
        return "malformed" if not isinstance(value["method"], str) else "request" if "id" in value else "notification"
    return "error" if "error" in value else "result" if "result" in value else "malformed"


def _at(value: Any, steps: Sequence[str]) -> Any:
    """What stands at the steps of a pointer."""
    for step in steps:
        value = reach(value, int(step) if is_array(value) and step.isdigit() else step)
    return value


def _breach(rule: Rule, event: Event, found: Found, connection: Connection) -> Breach:
    requirements = rule.requirements if found.requirements is None else found.requirements
    about = event if found.about is None else found.about
    strict = event.strict or connection.strict
    if strict is not None:
        protocol = strict.contract.name.replace("/unstable/", "/")  # a channel has the documents of its version
        requirements = tuple(
            each for each in requirements if not isinstance(each, int) or protocol in NUMBERED.get(each, ())
        )
        words = BEHIND.get(rule.id, {}).get(protocol, {})
        named = (found.word, about.method, about.sender, "")
        ids = (each for word in dict.fromkeys(named) for each in words.get(word, ()))
        requirements = tuple(dict.fromkeys((*requirements, *ids)))
    return Breach(
        rule.id,
        rule.level if found.level is None else found.level,
        requirements,
        about.index,
        about.sender,
        brief(about.method),
        brief(json_pointer(found.path), LONGEST_POINTER),
        found.earlier,
        found.sentence,
    )


def _unstable(event: Event, found: Found) -> Breach:
    place, method = brief(json_pointer(found.path), LONGEST_POINTER), brief(event.method)
    return Breach("only-unstable", "note", (), event.index, event.sender, method, place, None, found.sentence)


def _installed_channels() -> tuple[Strict, ...]:
    """The unstable channels of ACP in the installed bindings."""
    from acp_bindings.unstable.v1.methods import STRICT as V1
    from acp_bindings.unstable.v2.methods import STRICT as V2

    return (V1, V2)


def _installed() -> tuple[Strict, ...]:
    """ACP in the versions of the installed bindings."""
    from acp_bindings.v1.methods import STRICT as V1
    from acp_bindings.v2.methods import STRICT as V2

    return (V1, V2)
