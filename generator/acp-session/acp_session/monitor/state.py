"""What the monitor knows of a connection. Bounded: what is let go makes the rules that would need it silent, not wrong, and is said."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from .events import Event, items, reach, text
from .json_types import is_array, is_object
from .rootpaths import Misfit, are_too_many, distinct, listed_roots, misfit
from .versions import is_named, is_unknown, spoken

if TYPE_CHECKING:
    from acp_bindings.runtime.strict import Strict

K = TypeVar("K")
V = TypeVar("V")

Options: TypeAlias = "dict[str, bytes | None]"
"""Configuration options: by id the digests of their values, `None` where any value goes."""

LONGEST_KEY: Final = 256
"""Characters of an id or a name that are kept; of a longer one its beginning and a digest are."""

LONGEST_PATH: Final = 4096
"""Characters of a path that are kept."""

MOST_REQUESTS: Final = 4096
MOST_SESSIONS: Final = 4096
MOST_PARTS: Final = 1024
"""Ids of terminals, tool calls, options and the like that are kept for one session."""

MOST_VALUES: Final = 16 * MOST_PARTS
"""Values of all options of one session that are kept."""

ROOM: Final = 16 << 20
"""Bytes, about, that one table holds."""

_DIGEST: Final = 8


class Recent(Generic[K, V]):
    """A table of the entries written last, as far as there is room for them. `forgot` says whether any were dropped.

    `size` tells about how many bytes an entry takes when it is written, `forgetting` is called when one is dropped.
    """

    __slots__ = ("_entries", "_forgetting", "_size", "_taken", "capacity", "forgot")

    def __init__(
        self, capacity: int, size: Callable[[V], int] = lambda _: 0, forgetting: Callable[[], None] = lambda: None
    ) -> None:
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size, self._taken, self._forgetting = size, 0, forgetting
        self.capacity = capacity
        self.forgot = False

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key)
        self._entries[key] = value, self._size(value)
        self._taken += self._entries[key][1]
        while len(self._entries) > self.capacity or self._taken > ROOM:
            self._taken -= self._entries.popitem(last=False)[1][1]
            self.forgot = True
            self._forgetting()

    def get(self, key: K) -> V | None:
        """The entry of a key, if it is still there."""
        found = self._entries.get(key)
        return None if found is None else found[0]

    def pop(self, key: K) -> V | None:
        """Take an entry out."""
        found = self._entries.pop(key, None)
        if found is None:
            return None
        self._taken -= found[1]
        return found[0]

    def values(self) -> Iterator[V]:
        """The entries, oldest first."""
        for value, _ in self._entries.values():
            yield value

    def clear(self) -> None:
        """Forget everything."""
        self.forgot = self.forgot or bool(self._entries)
        self._entries.clear()
        self._taken = 0

    def __len__(self) -> int:
        return len(self._entries)


def key(value: object) -> str | None:
    """A short key for an id: text and numbers apart; `None` for what is no id. A brief text has the key of the whole one."""
    if isinstance(value, str):
        return f"s{brief(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return brief(f"n{value:g}" if isinstance(value, float) and not value.is_integer() else f"n{int(value)}")
    return "null" if value is None else None


def brief(value: str) -> str:
    """A text, or of a long one its beginning and its digest."""
    if len(value) < LONGEST_KEY:
        return value
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{value[:120]}… ({len(value)} characters, SHA-256 {digest})"


def _size(*texts: str | None) -> int:
    """About how many bytes these texts take."""
    return sum(60 + 2 * len(value) for value in texts if value is not None)


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

    def size(self) -> int:
        """About how many bytes it takes."""
        texts = (*(self.roots or ()), *(self.source_roots or ()), *(self.options or ()))
        return 400 + _size(self.method, self.session, self.cwd, self.path, *texts)


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
    `stoppable` says what ever offered to be cancelled. `crowded`: it has more modes or options than are kept.
    """

    opened: int
    origin: str
    roots: tuple[str, ...] | None = None
    inherited: tuple[str, ...] = ()
    cwd: str | None = None
    opening: int | None = None
    settled: int | None = None
    closing: int | None = None
    closed: int | None = None
    modes: frozenset[str] | None = None
    options: Options | None = None
    withdrawn: Options | None = None
    crowded: bool = False
    terminals: Recent[str, Terminal] = field(default_factory=lambda: Recent[str, Terminal](MOST_PARTS))
    stoppable: Recent[str, bool] = field(default_factory=lambda: Recent[str, bool](MOST_PARTS))

    def size(self) -> int:
        """About how many bytes it takes."""
        parts = 400 * (len(self.terminals) + len(self.stoppable))
        options = _size_of_options(self.options or {}) + _size_of_options(self.withdrawn or {})
        return 1000 + parts + options + _size(self.cwd, *(self.roots or ()), *self.inherited, *(self.modes or ()))


@dataclass(slots=True)
class Listed:
    """A session as a list last showed it."""

    index: int
    roots: tuple[str, ...] | None

    def size(self) -> int:
        """About how many bytes it takes."""
        return 200 + _size(*(self.roots or ()))


class Connection:
    """Everything known of one connection.

    `strict` judges by the version in force; `None` where the peers agreed on one that is not among `protocols`. With `is_fixed` they
    judge whatever the peers agree on. `is_named`: `initialize` named one of `protocols`; where it did not, any of them may be spoken, and
    `strict` is the first. `whole`: every message since the beginning was seen; where not, rules that rest on the absence
    of an earlier message are silent.
    """

    def __init__(self, protocols: Mapping[Any, Strict], *, is_fixed: bool = False) -> None:
        self.protocols = protocols
        self.is_fixed = is_fixed
        self.has_handshake = any(strict.route("initialize", is_request=True) for strict in protocols.values())
        first = next(iter(protocols.values()))
        self.strict: Strict | None = first
        self.is_named = False
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
        self.early = Recent[str, Options](MOST_REQUESTS, _size_of_options, self._forgetting("options"))
        """Options of sessions whose id the client has not been told yet."""
        self.pending = {
            side: Recent[str, Pending](MOST_REQUESTS, Pending.size, self._forgetting("open requests"))
            for side in self.sides
        }
        self.answered = {side: Recent[str, int](MOST_REQUESTS) for side in self.sides}
        self.sessions = Recent[str, Session](MOST_SESSIONS, Session.size, self._forgetting("sessions"))
        self.listed = Recent[str, Listed](MOST_SESSIONS, Listed.size)
        self.deleted = Recent[str, int](MOST_SESSIONS, forgetting=self._forgetting("deleted sessions"))
        self.let_go: list[str] = []
        """What the message taken in last made the monitor let go, as reasons why something is not judged."""
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

    @property
    def others(self) -> tuple[Strict, ...]:
        """What may judge as well as `strict`, since nobody has named a version."""
        if self.is_named or self.strict is None:
            return ()
        return tuple(strict for strict in self.protocols.values() if strict is not self.strict)

    def is_said(self, version: object) -> bool:
        """Whether this is a version as protocols have them, known or not."""
        return is_named(version, self.protocols) or is_unknown(version, self.protocols)

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
        return distinct((*session.roots, *session.inherited, *known)) if session.closed is None else known

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
        self.let_go = []
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
        request = Pending(event.sender, brief(event.method), event.index, _brief(text(event.body, "sessionId")))
        request.well_formed = not event.problems
        kinds: set[Misfit | None] = {misfit(problem.pointer, event.value) for problem in event.problems}
        request.malformed_roots = frozenset(kind for kind in kinds if kind is not None)
        if event.method in ("session/new", "session/load", "session/resume", "session/fork", "session/list"):
            request.has_roots = reach(event.body, "additionalDirectories") is not None
            request.roots = self._roots(event.body)
            request.source_roots = self.in_force(request.session) if event.method == "session/fork" else ()
            request.cwd = self._path(event.body, "cwd")
        elif event.method.startswith("fs/"):
            request.path = self._path(event.body, "path")
        elif event.method == "session/request_permission":
            request.options = self._ids([text(option, "optionId") for option in items(event.body, "options")])
        self.pending[event.sender][name] = request
        self.answered[event.sender].pop(name)
        if event.method == "initialize":
            self._offer(event, event.body)
            if self.asked is None:
                self.asked, self.refused = event.index, None
            version = reach(event.body, "protocolVersion")
            self.strict = self.speaking(version) or self.strict
            self.is_named = is_named(version, self.protocols)
        session = self.session(request.session)
        if event.method in ("session/load", "session/resume") and request.session is not None:
            if session is None:
                session = self._session(event.index, event.method)
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
                    if concerned and key(request.session) == key(event.session) and request.stopped is None:
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
                options = self._options(update)
                self.early.forgot = self.early.forgot or options is None
                self.early[key(event.session) or ""] = options or {}
            return
        match update.get("sessionUpdate"):
            case "config_option_update":
                session.withdrawn = session.options
                self._offer_options(session, update)
            case "tool_call_update" | "terminal_update" as kind if "capabilities" in update:
                field_ = "terminalId" if kind == "terminal_update" else "toolCallId"
                name = f"{field_} {key(text(update, field_))}"
                offers = is_offer(reach(update, "capabilities", "cancel"))
                session.stoppable[name] = offers or bool(session.stoppable.get(name))
            case _:
                return
        self.sessions[key(event.session) or ""] = session

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
                self._offer_options(session, event.body)
                self.sessions[key(request.session) or ""] = session
            case "terminal/create" if session is not None:
                session.terminals[key(text(event.body, "terminalId")) or ""] = Terminal(event.index)
                self.sessions[key(request.session) or ""] = session
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
        version = reach(event.body, "protocolVersion")
        self.strict, self.is_named = self.speaking(version), is_named(version, self.protocols)
        self._offer(event, event.body)
        methods: dict[str, str] = {}
        for method in items(event.body, "authMethods"):
            name = text(method, "methodId") or text(method, "id")
            if name is not None:
                methods[key(name) or ""] = brief(text(method, "type") or "agent")
        self.auth_methods = methods if self._ids(list(methods)) is not None else None

    def _open(self, name: str, request: Pending, event: Event) -> None:
        session = self._session(request.index, request.method)
        session.roots, session.cwd = request.roots, request.cwd
        session.settled = event.index
        if request.method == "session/fork" and not request.has_roots:
            then, now = request.source_roots, self.in_force(request.session)
            session.inherited = distinct((*(then or ()), *(now or ())))
            if then is None or now is None:
                session.roots = None
                self._let_go("the roots that are in force for the source of a fork are not known")
        session.modes, session.options = frozenset(), self.early.pop(key(name) or "") or {}
        session.crowded = self.early.forgot
        before = self.session(name)
        if before is not None:
            session.terminals, session.stoppable = before.terminals, before.stoppable
            session.modes, session.options = before.modes or frozenset(), before.options or {}
            session.crowded = before.crowded
        if is_object(reach(event.body, "modes")):
            modes = self._ids([text(mode, "id") for mode in items(event.body, "modes", "availableModes")])
            session.modes, session.crowded = modes, session.crowded or modes is None
        if is_array(reach(event.body, "configOptions")):
            self._offer_options(session, event.body)
        self.sessions[key(name) or ""] = session
        self.deleted.pop(key(name) or "")

    def _list(self, event: Event) -> None:
        for info in items(event.body, "sessions"):
            name = text(info, "sessionId")
            if name is not None and reach(info, "additionalDirectories") is not None:
                self.listed[key(name) or ""] = Listed(event.index, self._roots(info))

    # --- what is kept of a message, and what is let go ---

    def _let_go(self, what: str) -> None:
        self.let_go.append(f"{what}: what depends on that is not judged")

    def _forgetting(self, what: str) -> Callable[[], None]:
        return partial(self._let_go, f"there are more {what} than are kept")

    def _session(self, opened: int, origin: str) -> Session:
        forgetting = self._forgetting("terminals and tool calls of a session")
        return Session(
            opened,
            origin,
            terminals=Recent(MOST_PARTS, forgetting=forgetting),
            stoppable=Recent(MOST_PARTS, forgetting=forgetting),
        )

    def _path(self, body: Any, name: str) -> str | None:
        path = text(body, name)
        if path is None or len(path) <= LONGEST_PATH:
            return path
        self._let_go(f"the field {name!r} is too long to be kept")
        return None

    def _roots(self, body: Any) -> tuple[str, ...] | None:
        if are_too_many(body):
            self._let_go("the roots are too many or too long to be kept")
        return listed_roots(body)

    def _ids(self, names: list[str | None]) -> frozenset[str] | None:
        """The keys of what is offered; `None` where there are more than are kept."""
        if len(names) > MOST_PARTS:
            self._let_go("more is offered than is kept")
            return None
        return frozenset(key(name) or "" for name in names if name is not None)

    def _options(self, body: Any) -> Options | None:
        found = offered_options(body)
        if found is None:
            self._let_go("there are more options or values of options than are kept")
        return found

    def _offer_options(self, session: Session, body: Any) -> None:
        found = self._options(body)
        session.options, session.crowded = found or {}, session.crowded or found is None


def offered_options(value: Any) -> Options | None:
    """The configuration options in a message; `None` where they are more than are kept."""
    found: Options = {}
    offered, count = items(value, "configOptions"), 0
    for option in offered:
        name = text(option, "configId") or text(option, "id")
        if name is None:
            continue
        choices = [one for choice in items(option, "options") for one in items(choice, "options") or [choice]]
        values = {digest(text(one, "value") or "") for one in choices}
        count += len(values)
        if count > MOST_VALUES or len(offered) > MOST_PARTS:
            return None
        found[key(name) or ""] = b"".join(sorted(values)) if text(option, "type") == "select" else None
    return found


def digest(value: str) -> bytes:
    """What is kept of the value of an option."""
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def is_offered(value: str, digests: bytes) -> bool:
    """Whether a value is among those of an option."""
    wanted = digest(value)
    return any(digests.startswith(wanted, place) for place in range(0, len(digests), _DIGEST))


def _size_of_options(options: Options) -> int:
    return sum(150 + len(values or b"") + _size(name) for name, values in options.items())


def _brief(value: str | None) -> str | None:
    return None if value is None else brief(value)


def is_offer(value: object) -> bool:
    """Whether a value advertises: an object or true."""
    return value is True or is_object(value)


def _gates(protocols: Iterable[Strict]) -> Mapping[str, frozenset[str]]:
    """The paths of all capabilities that anything depends on, by the side that advertises."""
    found: dict[str, set[str]] = {}
    for strict in protocols:
        contract = strict.contract
        gates = [method.capability for method in contract.methods]
        for gated in contract.gated.values():
            gates.extend(gated.values.values())
            for member in (*gated.fields.values(), *gated.variants.values()):
                gates.extend((member.capability, member.required_with))
        for gate in gates:
            if gate is not None:
                side, _, path = gate.partition(":")
                found.setdefault(side, set()).add(path)
    return {side: frozenset(paths) for side, paths in found.items()}
