"""What the monitor knows of a connection. Bounded: what is forgotten makes the rules that would need it silent, not wrong."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from .events import Event, items, reach, text
from .json_types import is_array, is_object
from .rootpaths import Misfit, listed_roots, misfit
from .versions import is_unknown, spoken

if TYPE_CHECKING:
    from acp_bindings.runtime.strict import Strict

K = TypeVar("K")
V = TypeVar("V")

Options: TypeAlias = "dict[str, frozenset[str] | None]"
"""Configuration options: by id the ids of their values, `None` where any value goes."""

LONGEST_KEY: Final = 256
"""Characters of an id that are kept; of a longer one a digest is."""

MOST_REQUESTS: Final = 4096
MOST_SESSIONS: Final = 4096
MOST_PARTS: Final = 1024
"""Ids of terminals, tool calls, options and the like that are kept for one session."""


class Recent(Generic[K, V]):
    """A table of the entries written last. `forgot` says whether any were dropped."""

    __slots__ = ("_entries", "capacity", "forgot")

    def __init__(self, capacity: int) -> None:
        self._entries: OrderedDict[K, V] = OrderedDict()
        self.capacity = capacity
        self.forgot = False

    def __setitem__(self, key: K, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self.capacity:
            self._entries.popitem(last=False)
            self.forgot = True

    def get(self, key: K) -> V | None:
        """The entry of a key, if it is still there."""
        return self._entries.get(key)

    def pop(self, key: K) -> V | None:
        """Take an entry out."""
        return self._entries.pop(key, None)

    def values(self) -> Iterator[V]:
        """The entries, oldest first."""
        yield from self._entries.values()

    def clear(self) -> None:
        """Forget everything."""
        self.forgot = self.forgot or bool(self._entries)
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)


def key(value: object) -> str | None:
    """A short key for an id: text and numbers apart, long text as a digest; `None` for what is no id."""
    if isinstance(value, str):
        whole = f"s{value}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        whole = f"n{value:g}" if isinstance(value, float) and not value.is_integer() else f"n{int(value)}"
    elif value is None:
        return "null"
    else:
        return None
    if len(whole) <= LONGEST_KEY:
        return whole
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class Pending:
    """A request that waits for its answer, with what is needed to judge that.

    `roots` are its additional directories, `None` where they were malformed. `has_roots`: the field was there. `options` are the
    ids that a permission request offers. `cancelled` is the message that cancelled it, `stopped` the one that cancelled its turn.
    `source_roots` are those that were in force for the source of a fork, `None` where they are not known. `refused` is an error
    without an id that may have refused it; `is_refused`, that it can have refused nothing else.
    """

    sender: str
    method: str
    index: int
    session: str | None = None
    roots: tuple[str, ...] | None = None
    has_roots: bool = False
    cwd: str | None = None
    path: str | None = None
    options: frozenset[str] | None = None
    cancelled: int | None = None
    stopped: int | None = None
    well_formed: bool = True
    malformed_roots: frozenset[Misfit] = frozenset()
    source_roots: tuple[str, ...] | None = ()
    refused: int | None = None
    is_refused: bool = False


@dataclass(slots=True)
class Terminal:
    """A terminal of the client; `released` is the message that gave it up."""

    created: int
    released: int | None = None


@dataclass(slots=True)
class Session:
    """A session of this connection. Indices are those of messages; `None` where there was none yet.

    `opening` is a load or resume that waits for its answer, `settled` the answer that opened the session. `roots` is `None` where they
    are not known; `inherited` are those that a fork may have taken over besides. `withdrawn` are the options before the agent last
    changed them of its own accord: a client may not have read of it.
    `stoppable` says what ever offered to be cancelled.
    """

    opened: int
    origin: str
    roots: tuple[str, ...] | None = None
    had_roots: bool = False
    inherited: tuple[str, ...] = ()
    cwd: str | None = None
    opening: int | None = None
    settled: int | None = None
    closing: int | None = None
    closed: int | None = None
    modes: frozenset[str] | None = None
    options: Options | None = None
    withdrawn: Options | None = None
    terminals: Recent[str, Terminal] = field(default_factory=lambda: Recent[str, Terminal](MOST_PARTS))
    stoppable: Recent[str, bool] = field(default_factory=lambda: Recent[str, bool](MOST_PARTS))


@dataclass(slots=True)
class Listed:
    """A session as a list last showed it."""

    index: int
    roots: tuple[str, ...] | None


class Connection:
    """Everything known of one connection.

    `strict` judges by the version in force; `None` where the peers agreed on one that is not among `protocols`. With `is_fixed` they
    judge whatever the peers agree on. `whole`: every message since the beginning was seen; where not, rules that rest on the absence
    of an earlier message are silent.
    """

    def __init__(self, protocols: Mapping[Any, Strict], *, is_fixed: bool = False) -> None:
        self.protocols = protocols
        self.is_fixed = is_fixed
        self.has_handshake = any(strict.route("initialize", is_request=True) for strict in protocols.values())
        first = next(iter(protocols.values()))
        self.strict: Strict | None = first
        self.gates: Mapping[str, frozenset[str]] = _gates(protocols.values())
        self.sides: tuple[str, str] = first.contract.peers
        self.whole = True
        self.asked: int | None = None
        self.initialized: int | None = None
        self.refused: int | None = None
        self.advertised: dict[str, frozenset[str]] = {}
        self.advertised_at: dict[str, int] = {}
        self.auth_methods: dict[str, str] | None = None
        self.heard: dict[str, int] = {}
        """The last call that waits for an answer, or answer, of each side."""
        self.early = Recent[str, Options](MOST_REQUESTS)
        """Options of sessions whose id the client has not been told yet."""
        self.pending = {side: Recent[str, Pending](MOST_REQUESTS) for side in self.sides}
        self.answered = {side: Recent[str, int](MOST_REQUESTS) for side in self.sides}
        self.sessions = Recent[str, Session](MOST_SESSIONS)
        self.listed = Recent[str, Listed](MOST_SESSIONS)
        self.deleted = Recent[str, int](MOST_SESSIONS)
        self.strays = dict.fromkeys(self.sides, 0)
        """Lines of each side that were no message, and may be refused without an id."""
        self.told: set[str] = set()

    # --- questions ---

    @property
    def version(self) -> int | str | None:
        """The protocol version in force, as far as the monitor knows it."""
        return self.strict.contract.version if self.strict is not None else None

    def is_unknown(self, version: object) -> bool:
        """Whether this is a version as protocols have them, and none of those that are known."""
        return is_unknown(version, self.protocols)

    def speaking(self, version: object) -> Strict | None:
        """What judges once a handshake names a version: the one in force, where it names none or where that is fixed."""
        return spoken(version, self.protocols, self.strict, is_fixed=self.is_fixed)

    def other(self, side: str) -> str:
        """The peer of a side."""
        return self.sides[1] if side == self.sides[0] else self.sides[0]

    def advertises(self, gate: str) -> bool | None:
        """Whether a capability was advertised; `None` while its side has not said."""
        side, _, path = gate.partition(":")
        found = self.advertised.get(side)
        return None if found is None else path in found

    def session(self, name: str | None) -> Session | None:
        """A session that was opened on this connection, closed ones included."""
        return None if name is None else self.sessions.get(key(name) or "")

    def in_force(self, name: str | None) -> tuple[str, ...] | None:
        """The roots of a session that are in force for this client on this connection; `None` where they are not known."""
        session, listed = self.session(name), self.listed.get(key(name) or "")
        known = () if listed is None else listed.roots
        if session is None:
            is_whole = self.whole and not self.sessions.forgot and not self.listed.forgot
            return known if listed is not None or is_whole else None
        if session.roots is None or known is None:
            return None
        return (*session.roots, *session.inherited, *known) if session.closed is None else known

    def is_opening(self) -> bool:
        """Whether a request that makes a session waits for its answer, so that ids may come that nobody knows yet."""
        return any(
            request.method in ("session/new", "session/fork")
            for side in self.sides
            for request in self.pending[side].values()
        )

    def once(self, mark: str) -> bool:
        """Whether this is the first time that this is asked."""
        if mark in self.told:
            return False
        self.told.add(mark)
        return True

    # --- changes ---

    def lose(self) -> None:
        """Messages went by unseen: from here on nothing is concluded from what is not known."""
        self.whole = False
        for side in self.sides:
            self.pending[side].clear()
            self.answered[side].clear()
        self.sessions.clear()
        self.listed.clear()
        self.deleted.clear()

    def apply(self, event: Event) -> None:
        """Take in a message, after the rules have judged it."""
        if event.kind in ("request", "result", "error"):
            self.heard[event.sender] = event.index
        match event.kind:
            case "unreadable" | "malformed":
                self.strays[event.sender] += 1
            case "error" if event.id is None and event.request is None:
                self._refusal(event)
            case "request":
                self._request(event)
            case "notification":
                self._notification(event)
            case "result" | "error":
                self._answer(event)
            case _:
                pass

    def _request(self, event: Event) -> None:
        name = key(event.id)
        if name is None:
            return
        request = Pending(event.sender, event.method, event.index, text(event.body, "sessionId"))
        request.well_formed = not event.problems
        kinds: set[Misfit | None] = {misfit(problem.pointer, event.value) for problem in event.problems}
        request.malformed_roots = frozenset(kind for kind in kinds if kind is not None)
        if event.method in ("session/new", "session/load", "session/resume", "session/fork", "session/list"):
            request.has_roots = reach(event.body, "additionalDirectories") is not None
            request.roots = listed_roots(event.body)
            request.source_roots = self.in_force(request.session) if event.method == "session/fork" else ()
            request.cwd = text(event.body, "cwd")
        elif event.method.startswith("fs/"):
            path = text(event.body, "path")
            request.path = path if path is not None and len(path) <= 4096 else None
        elif event.method == "session/request_permission":
            ids = [text(option, "optionId") for option in items(event.body, "options")]
            request.options = (
                frozenset(key(name) or "" for name in ids if name is not None) if len(ids) <= MOST_PARTS else None
            )
        self.pending[event.sender][name] = request
        self.answered[event.sender].pop(name)
        if event.method == "initialize":
            self._offer(event, event.body)
            if self.asked is None:
                self.asked, self.refused = event.index, None
            self.strict = self.speaking(reach(event.body, "protocolVersion")) or self.strict
        session = self.session(request.session)
        if event.method in ("session/load", "session/resume") and request.session is not None:
            if session is None:
                session = Session(event.index, event.method)
                self.sessions[key(request.session) or ""] = session
            session.opening = event.index
        elif event.method == "session/close" and session is not None:
            session.closing = event.index
        elif event.method == "terminal/release" and session is not None:
            terminal = session.terminals.get(key(text(event.body, "terminalId")) or "")
            if terminal is not None and terminal.released is None:
                terminal.released = event.index

    def _notification(self, event: Event) -> None:
        if event.method == "$/cancel_request":
            found = self.pending[event.sender].get(key(reach(event.body, "requestId")) or "")
            if found is not None and found.cancelled is None:
                found.cancelled = event.index
        elif event.method == "session/cancel":
            for side in self.sides:
                for request in self.pending[side].values():
                    concerned = request.method in ("session/prompt", "session/request_permission")
                    if concerned and request.session == event.session and request.stopped is None:
                        request.stopped = event.index
                        request.cancelled = event.index if request.cancelled is None else request.cancelled
        elif event.method == "session/update":
            self._update(event)

    def _update(self, event: Event) -> None:
        session = self.session(event.session)
        update = reach(event.body, "update")
        if not is_object(update):
            return
        if session is None:
            if update.get("sessionUpdate") == "config_option_update" and self.is_opening():
                self.early[key(event.session) or ""] = offered_options(update)
            return
        match update.get("sessionUpdate"):
            case "config_option_update":
                session.withdrawn, session.options = session.options, offered_options(update)
            case "tool_call_update" | "terminal_update" as kind if "capabilities" in update:
                field_ = "terminalId" if kind == "terminal_update" else "toolCallId"
                name = f"{field_} {key(text(update, field_))}"
                offers = is_offer(reach(update, "capabilities", "cancel"))
                session.stoppable[name] = offers or bool(session.stoppable.get(name))
            case _:
                pass

    def _answer(self, event: Event) -> None:
        asker = event.receiver
        name = key(event.id)
        if name is None or event.request is None:
            return
        request = event.request
        self.pending[asker].pop(name)
        self.answered[asker][name] = event.index
        session = self.session(request.session)
        if event.kind == "error":
            if request.method == "initialize" and request.index == self.asked:
                self.asked, self.refused = None, event.index
            if session is not None:
                self._failed(request, session)
            return
        match request.method:
            case "initialize":
                self._initialized(event)
            case "session/new" | "session/fork":
                opened = text(event.body, "sessionId")
                if opened is not None:
                    self._open(opened, request, event)
            case "session/load" | "session/resume" if request.session is not None:
                self._open(request.session, request, event)
            case "session/close" if session is not None:
                session.closed, session.closing = event.index, None
            case "session/delete" if request.session is not None:
                self.deleted[key(request.session) or ""] = event.index
            case "session/list":
                self._list(event)
            case "session/set_config_option" if session is not None:
                session.options = offered_options(event.body)
            case "terminal/create" if session is not None:
                session.terminals[key(text(event.body, "terminalId")) or ""] = Terminal(event.index)
            case _:
                pass

    def _refusal(self, event: Event) -> None:
        """Take in an error without an id: it answers a line that could not be read, or one of the open requests."""
        strays, open_ = self.strays[event.receiver], list(self.pending[event.receiver].values())
        self.strays[event.receiver] = max(strays - 1, 0)
        for request in open_:
            request.refused = event.index
            request.is_refused = request.is_refused or (len(open_) == 1 and not strays)
            session = self.session(request.session)
            if request.method == "initialize" and request.index == self.asked:
                self.asked, self.refused = None, event.index
            elif request.method == "session/close" and session is not None and session.closing == request.index:
                session.closing = None

    def _failed(self, request: Pending, session: Session) -> None:
        if request.method in ("session/load", "session/resume") and session.opening == request.index:
            session.opening = None
            if session.opened == request.index and request.session is not None:
                self.sessions.pop(key(request.session) or "")
        elif request.method == "session/close" and session.closing == request.index:
            session.closing = None

    def _offer(self, event: Event, payload: Any) -> None:
        """Take in what a side advertises in its part of `initialize`."""
        paths = self.gates.get(event.sender, frozenset())
        self.advertised[event.sender] = frozenset(path for path in paths if is_offer(reach(payload, *path.split("."))))
        self.advertised_at[event.sender] = event.index

    def _initialized(self, event: Event) -> None:
        self.initialized = event.index
        self.strict = self.speaking(reach(event.body, "protocolVersion"))
        self._offer(event, event.body)
        methods: dict[str, str] = {}
        for method in items(event.body, "authMethods")[:MOST_PARTS]:
            name = text(method, "methodId") or text(method, "id")
            if name is not None:
                methods[key(name) or ""] = text(method, "type") or "agent"
        self.auth_methods = methods

    def _open(self, name: str, request: Pending, event: Event) -> None:
        session = Session(request.index, request.method, request.roots, request.has_roots, cwd=request.cwd)
        session.settled = event.index
        if request.method == "session/fork" and not request.has_roots:
            before, now = request.source_roots, self.in_force(request.session)
            session.inherited = (*(before or ()), *(now or ()))
            session.roots = session.roots if before is not None and now is not None else None
        session.modes, session.options = frozenset(), self.early.pop(key(name) or "") or {}
        before = self.session(name)
        if before is not None:
            session.terminals, session.stoppable = before.terminals, before.stoppable
            session.modes, session.options = before.modes or frozenset(), before.options or {}
        if is_object(reach(event.body, "modes")):
            modes = [text(mode, "id") for mode in items(event.body, "modes", "availableModes")]
            session.modes = frozenset(key(mode) or "" for mode in modes[:MOST_PARTS] if mode is not None)
        if is_array(reach(event.body, "configOptions")):
            session.options = offered_options(event.body)
        self.sessions[key(name) or ""] = session
        self.deleted.pop(key(name) or "")

    def _list(self, event: Event) -> None:
        for info in items(event.body, "sessions"):
            name = text(info, "sessionId")
            if name is not None and reach(info, "additionalDirectories") is not None:
                self.listed[key(name) or ""] = Listed(event.index, listed_roots(info))


def offered_options(value: Any) -> Options:
    """The configuration options in a message."""
    found: Options = {}
    for option in items(value, "configOptions")[:MOST_PARTS]:
        name = text(option, "configId") or text(option, "id")
        if name is None:
            continue
        values: set[str] = set()
        for choice in items(option, "options"):
            inner = items(choice, "options") or [choice]
            values.update(key(text(one, "value")) or "" for one in inner[:MOST_PARTS])
        is_selection = text(option, "type") == "select" and len(values) <= MOST_PARTS
        found[key(name) or ""] = frozenset(values) if is_selection else None
    return found


def is_offer(value: object) -> bool:
    """Whether a value advertises: an object or true."""
    return value is True or is_object(value)


def _gates(protocols: Iterable[Strict]) -> Mapping[str, frozenset[str]]:
    """The paths of all capabilities that anything depends on, by the side that advertises."""
    found: dict[str, set[str]] = {}
    for strict in protocols:
        contract = strict.contract
        gates = [route.capability for route in contract.routes]
        for gated in contract.gated.values():
            gates.extend(gated.values.values())
            for member in (*gated.fields.values(), *gated.variants.values()):
                gates.extend((member.capability, member.required_with))
        for gate in gates:
            if gate is not None:
                side, _, path = gate.partition(":")
                found.setdefault(side, set()).add(path)
    return {side: frozenset(paths) for side, paths in found.items()}
