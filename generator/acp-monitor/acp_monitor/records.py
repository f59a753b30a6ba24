"""Records of a request, a session and a terminal, and of what a side offers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from .bounded import MAX_OPTION_VALUES, MAX_PARTS, BoundedTable, make_key
from .json_values import get_items, get_text, is_object, reach
from .paths import RootFault, read_roots

Options: TypeAlias = "dict[str, bytes | None]"
"""Configuration options: digests of their values by id, `None` if any value is valid."""

_DIGEST: Final = 8


class Scope:
    """The directory and the roots that a request or a list names. `body` holds its members that matter later, `...` in place of one that
    is too long.
    """

    __slots__ = ()

    body: dict[str, Any]

    @property
    def has_roots(self) -> bool:
        """Whether it names roots, even if none."""
        return reach(self.body, "additionalDirectories") is not None

    @property
    def roots(self) -> tuple[str, ...] | None:
        """The additional directories; `None` if they are malformed or were not kept."""
        return read_roots(self.body)

    @property
    def cwd(self) -> str | None:
        """The working directory."""
        return get_text(self.body, "cwd")


@dataclass(slots=True)
class Pending(Scope):
    """An open request, with what its answer is judged by.

    `withdrawal` is the `$/cancel_request` for it, `cancellation` the message that cancelled its turn, `close_request` the request that
    closes its session, `close_answer` the answer to that. `source_roots` are those in force for the source of a fork, `None` if unknown.
    `refusal` is an error without an id that may have refused it; `is_refused`: it can have refused nothing else. `has_unknown_subject`:
    it asks permission for an unknown kind of subject.
    """

    sender: str
    method: str
    index: int
    session: str | None = None
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    withdrawal: int | None = None
    cancellation: int | None = None
    close_request: int | None = None
    close_answer: int | None = None
    well_formed: bool = True
    root_faults: frozenset[RootFault] = frozenset()
    source_roots: tuple[str, ...] | None = ()
    refusal: int | None = None
    is_refused: bool = False
    has_unknown_subject: bool = False

    @property
    def first_cancellation(self) -> int | None:
        """The first message that cancelled it in any way."""
        return min(
            (at for at in (self.withdrawal, self.cancellation, self.close_answer) if at is not None), default=None
        )

    @property
    def replays(self) -> bool:
        """Whether it asks for the history of a session."""
        return self.method == "session/load" or reach(self.body, "replayFrom") is not None


@dataclass(slots=True)
class Terminal:
    """A terminal of the client; `released` is the message that released it, `limit` the number of bytes of output that it stores."""

    released: int | None = None
    limit: int | None = None


@dataclass(slots=True)
class Session:
    """A session of this connection. Indices are those of messages; `None` if there was none yet.

    `opener` is the request that opened it, `open_answer` the answer; `reopen_request` is an open load or resume. `replays`: the last of
    these asked for the history; `was_open`: the session was open here before it. `inherited_roots` are those that a fork may have
    inherited beside its own; `None` if unknown. `previous_options` are those before the agent's own last change, which a client may not
    have read. `state` is the state last reported, in the message `state_report`; `work` holds what the foreground work has named.
    `cancellation` is the message that cancelled that work, `cancelled_end` the one that reported it. `user_messages` are those that the
    agent has sent, `unreported_prompts` the accepted prompts without such a message. `known_work` maps the terminals and tool calls that
    updates have named to whether their end was reported; `background` maps those in the last state to their names in words, `None` until
    a state lists any. `stoppable` says what ever offered to be cancelled. `is_crowded`: it has more modes or options than are stored.
    """

    opener: Pending
    on_evict: Callable[[], None] = lambda: None
    inherited_roots: tuple[str, ...] | None = ()
    reopen_request: int | None = None
    open_answer: int | None = None
    close_request: int | None = None
    close_answer: int | None = None
    modes: frozenset[str] | None = None
    options: Options | None = None
    previous_options: Options | None = None
    is_crowded: bool = False
    replays: bool = False
    was_open: bool = False
    last_prompt: int | None = None
    state: str | None = None
    state_report: int | None = None
    cancellation: int | None = None
    cancelled_end: int | None = None
    background: Mapping[str, str] | None = None
    work: BoundedTable[str, bool] = field(init=False)
    user_messages: BoundedTable[str, int] = field(init=False)
    unreported_prompts: BoundedTable[str, int] = field(init=False)
    terminals: BoundedTable[str, Terminal] = field(init=False)
    stoppable: BoundedTable[str, bool] = field(init=False)
    known_work: BoundedTable[str, bool] = field(init=False)

    def __post_init__(self) -> None:
        for name in ("work", "user_messages", "unreported_prompts", "terminals", "stoppable"):
            setattr(self, name, BoundedTable[str, Any](MAX_PARTS, on_evict=self.on_evict))
        self.known_work = BoundedTable[str, bool](MAX_PARTS)  # the rules that read it say nothing once it has evicted

    @property
    def is_settled(self) -> bool:
        """Whether it is open and settled: not replayed, not being opened or closed, not cancelled."""
        is_open = self.reopen_request is None and self.close_request is None and self.close_answer is None
        return is_open and self.cancelled_end is None and not self.replays

    @property
    def roots(self) -> tuple[str, ...] | None:
        """Its additional directories, as far as this connection shows them; `None` if unknown."""
        opened_roots = None if self.open_answer is None else self.opener.roots
        return None if opened_roots is None or self.inherited_roots is None else opened_roots

    @property
    def size(self) -> int:
        """The number of bytes of the tables that updates fill."""
        return self.work.used + self.user_messages.used + self.known_work.used


@dataclass(slots=True)
class Listed(Scope):
    """A session as a list last showed it."""

    index: int
    body: dict[str, Any]


def is_offer(value: object) -> bool:
    """Whether a value advertises: an object or true."""
    return value is True or is_object(value)


def read_options(value: Any) -> Options | None:
    """The configuration options in a message; `None` if there are more than are stored."""
    digests: Options = {}
    options, count = get_items(value, "configOptions"), 0
    for option in options:
        name = get_text(option, "configId") or get_text(option, "id")
        if name is None:
            continue
        choices = [leaf for choice in get_items(option, "options") for leaf in get_items(choice, "options") or [choice]]
        values = {_hash_value(get_text(leaf, "value") or "") for leaf in choices}
        count += len(values)
        if count > MAX_OPTION_VALUES or len(options) > MAX_PARTS:
            return None
        digests[make_key(name) or ""] = b"".join(sorted(values)) if get_text(option, "type") == "select" else None
    return digests


def is_offered(value: str, digests: bytes) -> bool:
    """Whether a value is one of those of an option."""
    digest = _hash_value(value)
    return any(digests.startswith(digest, place) for place in range(0, len(digests), _DIGEST))


def _hash_value(value: str) -> bytes:
    """The stored digest of the value of an option."""
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
