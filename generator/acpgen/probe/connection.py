"""One connection to the program under test: what is sent and received, in order, judged by the monitor, and answered like a peer would."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, Final

from acpgen.input.walk import is_array, is_object
from acpgen.messages import validators
from acpgen.pointers import find_value
from acpgen.probe.child import Child
from acpgen.probe.conformance import TranscriptLine

if TYPE_CHECKING:
    from acp_monitor import Breach, Monitor

SHOWN: Final = 12
"""The maximum number of transcript lines in a finding."""

LONGEST_SHOWN: Final = 4000
"""The maximum number of bytes of a line in a finding."""

_DRAIN: Final = 1.0
"""The maximum number of seconds to read lines that have already arrived."""


class TimeIsUp(Exception):
    """The time limit of the whole probe is reached."""


@dataclass(slots=True)
class Clock:
    """Time limits in seconds: for an answer, for a start, and the end of the whole probe."""

    answer: float
    start: float
    until: float

    def limit_seconds(self, seconds: float) -> float:
        """As much of these seconds as there is. Raises `TimeIsUp` where there is nothing."""
        seconds_left = self.until - time.monotonic()
        if seconds_left <= 0:
            raise TimeIsUp
        return min(seconds, seconds_left)


def as_list(value: Any) -> list[Any]:
    """An array, or an empty one for any other value."""
    return value if is_array(value) else []


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message of the program: its index in the transcript, its value, and the index of the request that it answers."""

    index: int
    value: Mapping[str, Any]
    request_index: int | None = None

    def reach(self, *path: str) -> Any:
        """The value at a path of members; `None` if there is none."""
        return find_value(self.value, path)

    @property
    def code(self) -> Any:
        """The code of its error; `None` without an error."""
        return self.reach("error", "code")

    @property
    def reason(self) -> str:
        """Its error in words."""
        if not is_object(self.value.get("error")):
            return "no error"
        message = str(self.reach("error", "message"))
        return f"{self.code} {message[:120]}"

    @property
    def result(self) -> Any:
        return self.value.get("result")

    def get_update_field(self, name: str) -> Any:
        """A field of the update that it contains."""
        return self.reach("params", "update", name)


class AnswerLater(Exception):
    """Raised by what answers requests of the program: this one is answered later."""


class RequestError(Exception):
    """The error that a request of the program gets."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class CaseBreach:
    """A violation that the monitor reported, with the case that ran."""

    breach: Breach
    case: str
    sent: bytes


class Connection:
    """A connection to a running program. `probe_side` and `program_side` are the sides of the protocol that both take.

    Everything goes through one transcript: what had arrived before something is sent stands before it.
    """

    def __init__(
        self,
        child: Child,
        monitor: Monitor,
        clock: Clock,
        answerer: Callable[[str, Any], Any],
        probe_side: str = "client",
        program_side: str = "agent",
    ) -> None:
        self.child, self.clock, self.probe_side, self.program_side = child, clock, probe_side, program_side
        self._monitor, self._answerer = monitor, answerer
        self.rows: list[TranscriptLine] = []
        self.breaches: list[CaseBreach] = []
        self.answers: dict[str, list[ReceivedMessage]] = {}
        """Responses by the id that they carry, as JSON."""
        self.calls: list[ReceivedMessage] = []
        """Requests and notifications of the program."""
        self.bare: list[ReceivedMessage] = []
        """Responses without an id, or with null."""
        self.case = ""
        self.sent = b""
        self.is_judged = True
        """Whether what the monitor sees counts. It does not where the probe was first to break the order of messages."""
        self.delay = 0.0
        """Seconds by which requests of the program are answered late."""
        self.tolerated: set[str] = set()
        """Ids that may come back though the monitor saw no request with them: of lines that readers take in different ways."""
        self.open_requests: list[tuple[Any, str, Any]] = []
        """Requests of the program that wait for an answer: id, method and params."""
        self.request_indices: dict[str, int] = {}
        """The places of the requests that were sent, by their ids as JSON."""
        self.silence = ""
        """Why the first request has no answer; empty where it has one."""
        self.at_end: list[Callable[[], None]] = []
        self.batches: list[tuple[int, list[Any]]] = []
        self._delayed: deque[tuple[float, Any, str, Any]] = deque()
        self._was_over: bool | None = None
        self._ids = count(1)

    # --- sending ---

    def make_id(self) -> int:
        """An unused id."""
        return next(self._ids)

    def send(self, message: Any, *, quiet: bool = False) -> int:
        """Send a message: a value, or bytes as they are, with a line end behind them. Returns its place in the transcript."""
        self.drain()
        data = message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False).encode()
        index = self._note(self.probe_side, data)
        if not quiet:
            self.sent = data
        self.child.write(data + b"\n")
        return index

    def send_pieces(self, data: bytes, cuts: Sequence[int]) -> None:
        """Send a line in pieces that end at these places, with pauses between them."""
        self.drain()
        self._note(self.probe_side, data.removesuffix(b"\n"))
        self.sent = data.removesuffix(b"\n")
        for begin, end in pairwise((0, *cuts, len(data))):
            self.child.write(data[begin:end])
            time.sleep(0.03)

    def send_lines(self, lines: Sequence[bytes]) -> None:
        """Send several messages in one write."""
        self.drain()
        for line in lines:
            self._note(self.probe_side, line)
            self.sent = line
        self.child.write(b"".join(line + b"\n" for line in lines))

    def call(self, method: str, params: Any = None, id_: Any = ...) -> Any:
        """Send a request, and return its id."""
        name = self.make_id() if id_ is ... else id_
        message = {"jsonrpc": "2.0", "id": name, "method": method} | ({} if params is None else {"params": params})
        self.request_indices[write_id(name)] = self.send(message)
        return name

    def notify(self, method: str, params: Any = None) -> int:
        """Send a notification."""
        return self.send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))

    # --- receiving ---

    def answer(self, id_: Any, seconds: float | None = None) -> ReceivedMessage | None:
        """The response with this id, if it arrives in time."""
        name = write_id(id_)
        self.wait(lambda: name in self.answers, self.clock.answer if seconds is None else seconds)
        responses = self.answers.get(name)
        return responses[0] if responses else None

    def ask(self, method: str, params: Any = None, seconds: float | None = None) -> ReceivedMessage | None:
        """Send a request and wait for its response."""
        return self.answer(self.call(method, params), seconds)

    def list_calls(self, method: str, since: int) -> list[ReceivedMessage]:
        """The calls of a method by the program, from an index of the transcript on."""
        return [call for call in self.calls if call.index >= since and call.value.get("method") == method]

    def wait(self, is_done: Callable[[], bool], seconds: float) -> bool:
        """Read messages until a condition holds, the time is up, or the program has ended."""
        until = time.monotonic() + self.clock.limit_seconds(seconds)
        while not is_done():
            seconds_left = until - time.monotonic()
            if seconds_left <= 0 or self.child.has_ended:
                self.clock.limit_seconds(1)
                return False
            self._answer_delayed()
            self._take(min(seconds_left, 0.05 if self._delayed else seconds_left))
        return True

    def drain(self) -> None:
        """Read what has already arrived; from a program that never stops, for a limited time."""
        until = time.monotonic() + _DRAIN
        while self._take(0) and time.monotonic() < until:
            pass
        self._answer_delayed()

    @property
    def version(self) -> int | str | None:
        """The protocol version in force."""
        return self._monitor.version

    @property
    def who(self) -> str:
        """The noun for the program in sentences."""
        return "client" if self.probe_side == "agent" else "program"

    @property
    def is_idle(self) -> bool:
        """Whether all requests are answered, judged by the last one."""
        return (
            bool(self.answers) and max(responses[-1].index for responses in self.answers.values()) >= len(self.rows) - 2
        )

    @property
    def is_over(self) -> bool:
        """Whether the program ended, or closed its output, before the connection was closed."""
        return self.child.has_ended if self._was_over is None else self._was_over

    def close(self, patience: float = 2.0) -> bool:
        """Close the connection as a client does. Returns whether the program ended by itself."""
        self.drain()
        self._was_over = self.child.has_ended
        self.child.close_input()
        until = time.monotonic() + patience
        while time.monotonic() < until and not self.child.has_ended:
            self._take(0.05)
        ended = self.child.has_ended and self.child.wait(max(0.2, until - time.monotonic())) is not None
        self.child.end()
        for _ in range(1000):
            if not self._take(0):
                break
        for check in self.at_end:
            check()
        self._note_breaches(self._monitor.finish())
        return ended

    def _take(self, seconds: float) -> bool:
        """Read one line, if there is one."""
        arrival = self.child.read_line(seconds)
        if arrival is None:
            return False
        line = arrival[1]
        index = self._note(self.program_side, line) if line.strip() else -1
        if index < 0:
            return True
        try:
            value, _ = validators.read(line)
        except ValueError:
            return True
        if is_array(value):
            self.batches.append((index, value))
        for message in value if is_array(value) else [value]:
            if is_object(message):
                self._receive(ReceivedMessage(index, message))
        return True

    def _receive(self, message: ReceivedMessage) -> None:
        value = message.value
        if isinstance(value.get("method"), str):
            self.calls.append(message)
            if "id" in value:
                self._reply(value["id"], value["method"], value.get("params"))
        elif "result" in value or "error" in value:
            if value.get("id") is None:
                self.bare.append(message)
            name = write_id(value.get("id"))
            self.answers.setdefault(name, []).append(replace(message, request_index=self.request_indices.get(name)))

    def _reply(self, id_: Any, method: str, params: Any) -> None:
        if self.delay:
            self._delayed.append((time.monotonic() + self.delay, id_, method, params))
        else:
            self._answer(id_, method, params)

    def _answer(self, id_: Any, method: str, params: Any) -> None:
        try:
            reply = {"jsonrpc": "2.0", "id": id_, "result": self._answerer(method, params)}
        except AnswerLater:
            self.open_requests.append((id_, method, params))
            return
        except RequestError as refusal:
            reply = {"jsonrpc": "2.0", "id": id_, "error": {"code": refusal.code, "message": str(refusal)}}
        self.reply(reply)

    def reply(self, message: Mapping[str, Any]) -> None:
        """Send a response, which is not what a case sends of its own."""
        data = json.dumps(message, ensure_ascii=False).encode()
        self._note(self.probe_side, data)
        self.child.write(data + b"\n")

    def answer_delayed_now(self) -> None:
        """Send the delayed answers now."""
        while self._delayed:
            self._answer(*self._delayed.popleft()[1:])

    def _answer_delayed(self) -> None:
        while self._delayed and self._delayed[0][0] <= time.monotonic():
            self._answer(*self._delayed.popleft()[1:])

    def _note(self, sender: str, data: bytes) -> int:
        index = len(self.rows)
        self.rows.append(TranscriptLine(sender, data))
        self._note_breaches(self._monitor.observe(sender, data, index=index))
        return index

    def _note_breaches(self, breaches: tuple[Breach, ...]) -> None:
        self.breaches += [CaseBreach(breach, self.case, self.sent) for breach in breaches]

    # --- showing ---

    def cut_excerpt(self, *indices: int | None) -> tuple[TranscriptLine, ...]:
        """The lines of the transcript from the first of these indices to the last; only the ends of a long range."""
        indices_shown = sorted({index for index in indices if index is not None and 0 <= index < len(self.rows)})
        if not indices_shown:
            indices_shown = [max(0, len(self.rows) - 4), len(self.rows) - 1] if self.rows else []
        if not indices_shown:
            return ()
        span = list(range(indices_shown[0], indices_shown[-1] + 1))
        if len(span) > SHOWN:
            near = {*indices_shown, *span[-SHOWN // 2 :]}
            span = sorted(near)[-SHOWN:]
            if indices_shown[0] not in span:
                span = [indices_shown[0], *span[1:]]
        rows: list[TranscriptLine] = []
        for number, index in enumerate(span):
            if number and index != span[number - 1] + 1:
                rows.append(TranscriptLine(self.rows[index].sender, b"", is_gap=True))
            rows.append(_cut(self.rows[index]))
        return tuple(rows)


def _cut(row: TranscriptLine) -> TranscriptLine:
    if len(row.message) <= LONGEST_SHOWN:
        return row
    excess = len(row.message) - LONGEST_SHOWN
    return TranscriptLine(row.sender, row.message[:LONGEST_SHOWN] + f"… ({excess} more bytes)".encode())


def write_id(id_: Any) -> str:
    """An id by type and value, so that 1 and "1" differ and 1 and 1.0 do not, as in JSON."""
    if isinstance(id_, float) and id_.is_integer():
        id_ = int(id_)
    return json.dumps(id_, sort_keys=True)
