"""What a case has in hand: a connection at the right place, ways to send messages, and ways to report what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from acpgen.input.walk import is_object
from acpgen.probe.agent_peer import Agent
from acpgen.probe.clauses import CLAUSES, Clause, Strength
from acpgen.probe.client_peer import Client
from acpgen.probe.conformance import ProbeFinding
from acpgen.probe.connection import Connection, ReceivedMessage, write_id
from acpgen.probe.registry import ProbeCase

KNOWN: Final = (1, 2)
"""The known versions of the protocol."""

AUTH_REQUIRED: Final = -32000
PING: Final = "_acpgen.dev/ping"
SLOW: Final = 4.0
"""The factor by which an answer that needs a model or a server may take longer."""


class SkipCase(Exception):
    """A case cannot be judged; the text says why."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """The outcome of `initialize`: the connection, the requested variant and the answer; `client` is set if the probe is the client."""

    connection: Connection
    client: Client | None
    variant: Any
    id: Any
    answer: ReceivedMessage | None
    index: int

    @property
    def version(self) -> Any:
        """The version that the program chose."""
        return None if self.answer is None else self.answer.reach("result", "protocolVersion")

    def find_capability(self, *path: str) -> Any:
        """The advertised value at a path below its capabilities."""
        field = "capabilities" if self.version == 2 else "agentCapabilities"
        return None if self.answer is None else self.answer.reach("result", field, *path)


@dataclass(slots=True)
class Trial:
    """One run of one case. `report` receives findings, also those that only show when the connection has ended."""

    case: ProbeCase
    name: str
    version: int
    random: Random
    folder: Path
    initialize: Callable[[Any], Handshake]
    report: Callable[[ProbeFinding], None]
    start_run: Callable[[], Handshake]
    """Another run of the program, initialized with the same version."""
    bare: Callable[[], Handshake]
    """Another run, initialized by a client that advertises nothing."""
    end: Callable[[Handshake], None]
    handshake: Handshake | None = None
    memory: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the cases on one connection share: sessions, why there are none, and which request it answers as a sign of life."""

    is_lost: bool = False
    """Whether the connection is unusable for other cases."""

    @property
    def connection(self) -> Connection:
        assert self.handshake is not None
        return self.handshake.connection

    @property
    def client(self) -> Client:
        assert self.handshake is not None
        assert self.handshake.client is not None
        return self.handshake.client

    # --- reporting what is wrong ---

    def fail(
        self,
        message: str,
        *at: int | None,
        clause: Clause | str | None = None,
        level: Strength | None = None,
        place: str = "",
        connection: Connection | None = None,
        message_sent: bytes | None = None,
    ) -> None:
        """Report a violation, with the lines at these indices as evidence."""
        broken = CLAUSES[clause] if isinstance(clause, str) else clause or self.case.find_clause(self.spoken)
        where = connection or self.connection
        self.report(
            ProbeFinding(
                rule=self.case.id,
                case=self.name,
                clause=broken,
                level=level or broken.strength,
                message=message,
                transcript=where.cut_excerpt(*at),
                sent=where.sent if message_sent is None else message_sent,
                place=place or broken.section,
            )
        )

    @property
    def spoken(self) -> int:
        """The protocol version of a finding. For a handshake case, it is the negotiated or else the requested version; if neither is
        known, it is the newest that the program speaks.
        """
        if self.case.start != "program" or self.handshake is None:
            return self.version
        requested = 1 if isinstance(self.handshake.variant, str) else self.handshake.variant
        candidates = [candidate for candidate in (self.handshake.version, requested) if candidate in KNOWN]
        return (
            int(candidates[0])
            if candidates
            else max((version for version in KNOWN if self.initialize(version).version == version), default=1)
        )

    def fail_answer(self, response: ReceivedMessage, message: str, **details: Any) -> None:
        """Report a violation that an answer shows, together with its request; `details` are passed to `fail`."""
        self.fail(message, response.request_index, response.index, **details)

    def require_alive(self, subject: str, index: int, clause: Clause | str | None = None) -> bool:
        """Whether the program still answers after what was sent just now; where it does not, that is a breach."""
        connection, sent = self.connection, self.connection.sent
        if self.is_alive():
            return True
        self.is_lost = True
        who, how = connection.who, self.ended if connection.is_over else "stops answering"
        self.fail(f"the {who} {how} after {subject}", index, len(connection.rows) - 1, clause=clause, message_sent=sent)
        return False

    def notify(self, method: str, params: Any, subject: str = "", clause: str | None = None) -> bool:
        """Send a notification: whether the program goes on. That it does not is a breach, and so is an answer."""
        connection, subject = self.connection, subject or f"the notification {method!r}"
        before, index = len(connection.bare), connection.notify(method, params)
        sent = connection.sent
        if not self.require_alive(subject, index, clause):
            return False
        for answer in connection.bare[before : before + 1]:
            self.fail(
                f"{subject} was answered", index, answer.index, clause="no-reply", message_sent=sent, place=method
            )
        return True

    @property
    def ended(self) -> str:
        """How the program ended, as the verb of a sentence."""
        return self.connection.child.describe_end()

    # --- requests ---

    def expect(
        self,
        method: str,
        params: Any = None,
        *,
        seconds: float | None = None,
        clause: str | None = None,
        id_: Any = ...,
    ) -> ReceivedMessage | None:
        """Send a request whose answer takes no work, and return the answer. None at all is a breach, reported when the connection ends."""
        connection = self.connection
        name = connection.call(method, params, id_)
        index = len(connection.rows) - 1
        response = connection.answer(name, seconds)
        if response is None:
            self.require_answer(name, index, method, clause)
        return response

    def require_answer(
        self,
        id_: Any,
        index: int,
        subject: str,
        clause: str | None = None,
        *,
        may_be_refused: bool = False,
        after: str = "",
    ) -> None:
        """Report a violation if this request is unanswered at the end of the connection.

        A malformed request may also be refused by an error without an id. `after` names the start of the wait, if it is not the request.
        """
        connection, sent = self.connection, self.connection.sent
        if connection.is_over:
            self.fail(
                f"the program {self.ended} in place of an answer to {subject!r}", index, clause=clause or "answered"
            )
            return
        waited, place = connection.clock.answer, f"{subject} unanswered"
        later = len(connection.rows)

        def check() -> None:
            if connection.answers.get(write_id(id_)):
                return
            if may_be_refused and any(response.index > index for response in connection.bare):
                return
            answered = any(response.index > later for answers in connection.answers.values() for response in answers)
            also = ", though later requests were answered" if answered else ""
            begun = f" of {after}" if after else ""
            sentence = f"{subject!r} was not answered within {waited:g} s{begun}{also}"
            self.fail(
                sentence,
                index,
                index + 5,
                clause=clause or "answered",
                place=place,
                connection=connection,
                message_sent=sent,
            )

        connection.at_end.append(check)

    def is_alive(self) -> bool:
        """Whether the program still answers. Raises `SkipCase` if there is nothing by which that shows."""
        connection = self.connection
        if connection.is_over:
            return False
        ping_method = self.memory.get("ping")
        if ping_method is not None:
            return connection.ask(*self.choose_ping()) is not None if ping_method else self._skip_silent()
        for method in (PING, "acpgen/ping", *(["session/new"] if connection.probe_side == "client" else [])):
            self.memory["ping"] = method
            if connection.ask(*self.choose_ping(), self.slow if method == "session/new" else None) is not None:
                return True
            if connection.is_over:
                del self.memory["ping"]
                return False
        self.memory["ping"] = ""
        return self._skip_silent()

    def choose_ping(self) -> tuple[str, Any]:
        """A request (method and params) that the program answers as long as it runs, as far as known."""
        if "ping" not in self.memory:
            self.is_alive()
        method = self.memory.get("ping") or PING
        return method, self.make_new_params() if method == "session/new" else None

    def make_ping(self, id_: Any, text: str = "tide") -> dict[str, Any]:
        """A request that contains a text and gets an answer: of an unknown method, or of a known one with the text in `_meta`."""
        method, params = self.choose_ping()
        params_sent = {"text": text} if params is None else {**params, "_meta": {"acpgen.dev/text": text}}
        return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params_sent}

    def _skip_silent(self) -> bool:
        raise SkipCase("the program answers no request for an unknown method, so that no sign of life can be had")

    # --- sessions ---

    def require_session(self, *, anew: bool = False) -> str:
        """A session, of this connection or a new one. Raises `SkipCase` with the reason why there is none."""
        if "no session" in self.memory:
            raise SkipCase(self.memory["no session"])
        if not anew and self.memory.get("sessions"):
            return str(self.memory["sessions"][-1])
        response = self.connection.ask("session/new", self.make_new_params(), self.slow)
        if response is None:
            ended = self.connection.is_over
            reason = (
                "the program ended at session/new" if ended else f"session/new was not answered within {self.slow:g} s"
            )
            self.memory["no session"] = reason
            raise SkipCase(reason)
        if "error" in response.value:
            self.memory["no session"] = self.describe_refusal("session/new", response)
            raise SkipCase(self.memory["no session"])
        name = response.reach("result", "sessionId")
        if not isinstance(name, str):
            self.memory["no session"] = "session/new gave no sessionId"
            raise SkipCase(self.memory["no session"])
        self.memory.setdefault("sessions", []).append(name)
        return name

    def make_new_params(self) -> dict[str, Any]:
        """The params of `session/new` and similar requests."""
        return {"cwd": str(self.folder), "mcpServers": []}

    @property
    def slow(self) -> float:
        """Seconds for an answer that may need a model or a server."""
        return SLOW * self.connection.clock.answer

    def describe_refusal(self, name: str, response: ReceivedMessage) -> str:
        """Why something is unreachable, from the error of its response."""
        return self.describe_failure(name, response, "was refused")

    def describe_failure(self, name: str, response: ReceivedMessage, how: str = "ended with an error") -> str:
        """The same for something that may have begun."""
        if response.code == AUTH_REQUIRED:
            return f"{name} needs a login: {response.reason}. Log in with the program itself, then add --keep-home; see the guide 'Log in'"
        return f"{name} {how}: {response.reason}"

    def advertises(self, *path: str) -> bool:
        """Whether the agent advertises a capability, at a path below its capabilities."""
        assert self.handshake is not None
        value = self.handshake.find_capability(*path)
        return value is True or is_object(value)

    def needs(self, *path: str) -> None:
        """Raise `SkipCase` unless a capability is advertised."""
        if not self.advertises(*path):
            raise SkipCase(f"the agent does not advertise {'.'.join(path)}")

    @contextmanager
    def use_other_run(self, handshake: Handshake) -> Generator[None]:
        """Continue with another run of the program, which ends with the block."""
        outer, memory = self.handshake, self.memory
        self.handshake, self.memory = handshake, {}
        try:
            yield
        finally:
            self.end(handshake)
            self.handshake, self.memory = outer, memory

    # --- the program as a client ---

    def get_agent(self) -> Agent:
        """The agent that the probe plays for a client."""
        agent = self.memory["agent"]
        assert isinstance(agent, Agent)
        return agent

    def get_client_session(self) -> str:
        """The session in which the client waits for its prompt."""
        params = self.connection.open_requests[0][2]
        return str(params["sessionId"])

    def get_client_folder(self) -> str:
        """The folder of that session."""
        return self.get_agent().sessions[self.get_client_session()]

    def is_offered(self, *path: str) -> bool:
        """Whether the client advertises a capability."""
        return self.get_agent().is_advertised(*path)

    def list_updates(self, session: str, since: int = 0) -> list[ReceivedMessage]:
        """The updates of a session from an index of the transcript on."""
        calls = self.connection.list_calls("session/update", since)
        params = [(call, call.value.get("params")) for call in calls]
        return [call for call, body in params if is_object(body) and body.get("sessionId") == session]
