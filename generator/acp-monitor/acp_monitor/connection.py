"""The state of a connection. It is bounded: rules that need an evicted entry stay silent and are not wrong; evictions are reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from .bounded import MAX_MARKS, MAX_REQUESTS, MAX_SESSIONS, BoundedTable, MemoryBudget, make_key, shorten
from .paths import normalize_roots
from .records import Listed, Options, Pending, Session
from .undeclared import get_types, walk_objects
from .versions import choose_version, find_peers, is_named, is_unknown

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict


READY: Final = "notifications/initialized"
"""The notification by which a client of MCP says that it has read the answer to `initialize`."""


class Connection:
    """Everything known about one connection.

    `strict` validates by the version in force; `None` if the peers negotiated one that is not in `protocols`. With `is_fixed`, the
    given protocols validate whatever the peers negotiate. `is_named`: `initialize` named one of `protocols`; otherwise any of them may
    be spoken, and `strict` is the first. `is_complete`: every message since the start was seen; otherwise rules that rely on the
    absence of an earlier message are silent.
    """

    def __init__(self, protocols: Mapping[Any, Strict], *, is_fixed: bool = False) -> None:
        self.protocols = protocols
        self.is_fixed = is_fixed
        first = next(iter(protocols.values()))
        self.strict: Strict | None = first
        self.is_named = False
        self.capabilities: Mapping[str, frozenset[str]] = find_capabilities(protocols.values())
        self.sides: tuple[str, str] = find_peers(first.contract)
        self.is_complete = True
        self.initialize_request: int | None = None
        self.initialize_answer: int | None = None
        self.first_request: int | None = None
        """The first request of the client that is no part of the handshake."""
        self.initialize_error: int | None = None
        self.ready_notice: int | None = None
        """The notification by which a client of MCP ends the handshake."""
        self.first_work: int | None = None
        """The first message of the client after the handshake was answered that is neither this nor about a ping."""
        self.advertised: dict[str, frozenset[str]] = {}
        self.unclear: dict[str, frozenset[str]] = {}
        self.advertised_at: dict[str, int] = {}
        self.auth_methods: dict[str, str] | None = None
        self.last_read = dict.fromkeys(self.sides, -1)
        """Of each side the last message of the other that it has read for sure, as it has answered that or a later one."""
        self.strays = dict.fromkeys(self.sides, 0)
        """Lines of each side that were no message, and may be refused without an id."""
        self.last_notification: dict[str, int] = {}
        """The last notification of each side."""
        self.shown_roots: tuple[int, bytes] | None = None
        """The last answer with the roots of a client of MCP, and their digest."""
        self.root_change: tuple[int, int] | None = None
        """The answer that showed other roots than one before, where no news of a change has come since."""
        self.evictions: list[str] = []
        """What the message recorded last made the monitor give up, as reasons why something is not judged."""
        budget = MemoryBudget()

        def make_table(noun: str = "", most: int = MAX_REQUESTS) -> Any:
            on_evict = partial(self.report_eviction, f"there are more {noun} than are kept") if noun else lambda: None
            return BoundedTable[str, Any](most, on_evict=on_evict, budget=budget)

        self.early_options: BoundedTable[str, Options] = make_table("options")
        """Options of sessions whose id the client has not received yet."""
        self.early_states: BoundedTable[str, str] = make_table()
        """The states of such sessions."""
        self.pending: dict[str, BoundedTable[str, Pending]] = {side: make_table("open requests") for side in self.sides}
        self.answers: dict[str, BoundedTable[str, int]] = {side: make_table() for side in self.sides}
        self.sessions: BoundedTable[str, Session] = make_table("sessions", MAX_SESSIONS)
        self.listings: BoundedTable[str, Listed] = make_table(most=MAX_SESSIONS)
        self.deletions: BoundedTable[str, int] = make_table("deleted sessions", most=MAX_SESSIONS)
        self.visits: BoundedTable[str, int] = make_table("visits to web pages")
        """When the agent last asked for a visit, by its id."""
        self.cursors: BoundedTable[str, int] = make_table("cursors")
        """The lists that brought each cursor."""
        self._reported: BoundedTable[str, bool] = make_table(most=MAX_MARKS)

    @property
    def version(self) -> int | str | None:
        """The protocol version in force, as far as the monitor knows it."""
        return self.strict.contract.version if self.strict is not None else None

    def is_unknown(self, version: object) -> bool:
        """Whether a value has the form of a version, but is none of the known ones."""
        return is_unknown(version, self.protocols)

    @property
    def others(self) -> tuple[Strict, ...]:
        """The validators beside `strict` that may apply, as long as no version is named."""
        if self.is_named or self.strict is None:
            return ()
        return tuple(strict for strict in self.protocols.values() if strict is not self.strict)

    def choose_validator(self, version: object) -> Strict | None:
        """The validator after a handshake names a version; unchanged if it names none or the protocol is fixed."""
        return choose_version(version, self.protocols, self.strict, is_fixed=self.is_fixed)

    def speak(self, version: object, *, is_agreed: bool) -> None:
        """Record that a handshake named a version, or failed to: requested by one peer, or agreed by both."""
        validator = self.choose_validator(version)
        self.strict = validator if is_agreed else validator or self.strict
        self.is_named = is_named(version, self.protocols)

    @cached_property
    def has_handshake(self) -> bool:
        """Whether `initialize` negotiates a version, as in ACP and MCP. For a method of that name in other protocols nothing is assumed."""
        return any(map(_negotiates, self.protocols.values()))

    def get_peer(self, side: str) -> str:
        """The peer of a side."""
        return self.sides[1] if side == self.sides[0] else self.sides[0]

    def advertises(self, capability: str) -> bool | None:
        """Whether a capability was advertised; `None` if its side has sent no capabilities yet, or this one malformed."""
        side, _, path = capability.partition(":")
        paths = self.advertised.get(side)
        return None if paths is None or path in self.unclear.get(side, ()) else path in paths

    def has_read(self, side: str, index: int | None) -> bool:
        """Whether a side had read a message of the other when it sent its own last one: each side reads in order."""
        return index is not None and self.last_read[side] >= index

    def list_open_requests(self, side: str, method: str, session: str | None) -> list[Pending]:
        """The open requests of a side with this method in this session."""
        session_key = make_key(session)
        requests = (request for request in self.pending[side].values() if request.method == method)
        return [request for request in requests if make_key(request.session) == session_key]

    def awaits_refusal(self, side: str) -> bool:
        """Whether a side sent something that an error without an id may refuse: a line that is no message, or a malformed request."""
        return bool(self.strays[side]) or not all(request.well_formed for request in self.pending[side].values())

    def find_session(self, name: str | None) -> Session | None:
        """A session that was opened on this connection, closed ones included."""
        return None if name is None else self.sessions.get(make_key(name) or "")

    def find_directory(self, name: str | None) -> tuple[str, int] | None:
        """The working directory that a session was opened or listed with, and the index of that message."""
        session, listing = self.find_session(name), self.listings.get(make_key(name) or "")
        if session is not None and session.open_answer is not None and session.opener.cwd is not None:
            return session.opener.cwd, session.opener.index
        return None if listing is None or listing.cwd is None else (listing.cwd, listing.index)

    def find_roots(self, name: str | None) -> tuple[str, ...] | None:
        """The roots of a session that are in force for this client on this connection; `None` if unknown."""
        session, listing = self.find_session(name), self.listings.get(make_key(name) or "")
        listed_roots = () if listing is None or not listing.has_roots else listing.roots
        if session is None:
            is_whole = self.is_complete and not self.sessions.evicted and not self.listings.evicted
            return listed_roots if (listing is not None and listing.has_roots) or is_whole else None
        if session.roots is None or listed_roots is None:
            return None
        return (
            normalize_roots((*session.roots, *(session.inherited_roots or ()), *listed_roots))
            if session.close_answer is None
            else listed_roots
        )

    def lacks(self, table: BoundedTable[str, Any], name: object) -> bool:
        """Whether a table certainly lacks a name: all messages were seen, and none of its entries was evicted."""
        table_key = make_key(name)
        is_whole = self.is_complete and not table.evicted
        return table_key is not None and is_whole and table.get(table_key) is None

    def is_opening(self) -> bool:
        """Whether a request that creates a session is open, so that unknown ids may arrive."""
        return any(
            request.method in ("session/new", "session/fork")
            for side in self.sides
            for request in self.pending[side].values()
        )

    def remember(self, mark: str) -> bool:
        """Whether a mark is new; it is remembered."""
        is_first = self._reported.get(shorten(mark)) is None
        self._reported[shorten(mark)] = True
        return is_first

    def lose(self) -> None:
        """Give up conclusions from what is not known, because messages were missed."""
        self.is_complete = False
        tables: list[BoundedTable[str, Any]] = [*self.pending.values(), *self.answers.values()]
        tables += [self.sessions, self.listings, self.deletions, self.cursors, self.visits]
        for table in tables:
            table.clear()

    def report_eviction(self, reason: str) -> None:
        """Report that a part of a message is not stored."""
        self.evictions.append(f"{reason}: what depends on that is not judged")


def _negotiates(strict: Strict) -> bool:
    """Whether the params of `initialize` name a version, as in ACP and MCP."""
    route = strict.route("initialize", is_request=True)
    params: Any = route and route.params
    return bool(params) and get_types(strict).has_field(params, "protocolVersion")


def find_capabilities(protocols: Iterable[Strict]) -> Mapping[str, frozenset[str]]:
    """The paths of all capabilities on which anything depends, by the side that advertises them."""
    paths_by_side: dict[str, set[str]] = {}
    for strict in protocols:
        names = [method.capability for method in strict.contract.methods]
        names += [part.get(key) for part in walk_objects(strict.schema) for key in ("x-capability", "x-required-with")]
        for name in names:
            if name is not None:
                side, _, path = name.partition(":")
                paths_by_side.setdefault(side, set()).add(path)
    return {side: frozenset(paths) for side, paths in paths_by_side.items()}
