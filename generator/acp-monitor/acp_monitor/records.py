"""What is kept of one request, one session, one terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from sys import getsizeof
from typing import Any

from .kept import MOST_PARTS, Recent, size_of
from .offers import Options, size_of_options
from .rootpaths import Misfit


@dataclass(slots=True)
class Pending:
    """A request that waits for its answer, with what is needed to judge that.

    `roots` are its additional directories, `None` where they were malformed. `has_roots`: the field was there. `options` are the
    ids that a permission request offers. `withdrawn` is the `$/cancel_request` for it, `stopped` the message that cancelled its turn,
    `closing` the request that closes its session and `closed` the answer to that.
    `source_roots` are those that were in force for the source of a fork, `None` where they are not known. `refused` is an error
    without an id that may have refused it; `is_refused`, that it can have refused nothing else.
    `is_strange`: it asks permission for a kind of subject that is not known. `version` is what `initialize` asks for. `limit`: how many
    lines of a file it asks for, or how many bytes of output its terminal keeps.
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
    withdrawn: int | None = None
    stopped: int | None = None
    closing: int | None = None
    closed: int | None = None
    replays: bool = False
    well_formed: bool = True
    malformed_roots: frozenset[Misfit] = frozenset()
    source_roots: tuple[str, ...] | None = ()
    refused: int | None = None
    is_refused: bool = False
    is_strange: bool = False
    version: int | None = None
    limit: int | None = None

    @property
    def cancelled(self) -> int | None:
        """The first message that cancelled it, in whichever way."""
        return min((at for at in (self.withdrawn, self.stopped, self.closed) if at is not None), default=None)

    def size(self) -> int:
        """About how many bytes it takes."""
        texts = (*(self.roots or ()), *(self.source_roots or ()), *(self.options or ()))
        return (
            600
            + getsizeof(self.version)
            + getsizeof(self.limit)
            + size_of(self.method, self.session, self.cwd, self.path, *texts)
        )


@dataclass(slots=True)
class Terminal:
    """A terminal of the client; `released` is the message that gave it up, `limit` the bytes of output that it keeps."""

    created: int
    released: int | None = None
    limit: int | None = None


@dataclass(slots=True)
class Session:
    """A session of this connection. Indices are those of messages; `None` where there was none yet.

    `opening` is a load or resume that waits for its answer, `settled` the answer that opened the session. `roots` is `None` where they
    are not known; `inherited` are those that a fork may have taken over besides. `withdrawn` are the options before the agent last
    changed them of its own accord: a client may not have read of it.
    `replays`: the request that is opening it, or opened it, asked for its history; `known`: it was open here before that request.
    `prompted` is the last prompt. `state` is what the agent last said that the session does, at `told`; `work` holds the messages and
    tool calls of the work in the foreground. `stopped` is the message that cancelled that work, `over` the one that said so.
    `echoed` are the user messages that the agent has told, `unheard` the accepted prompts whose message it has not told yet.
    `known_work` holds the terminals and tool calls that updates have named, and whether their end was reported; `background` those
    that the last state listed, with their names in words, or `None` while no state has told of such.
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
    replays: bool = False
    known: bool = False
    prompted: int | None = None
    state: str | None = None
    told: int | None = None
    stopped: int | None = None
    over: int | None = None
    work: Recent[str, bool] = field(default_factory=lambda: Recent[str, bool](MOST_PARTS))
    echoed: Recent[str, int] = field(default_factory=lambda: Recent[str, int](MOST_PARTS))
    unheard: Recent[str, int] = field(default_factory=lambda: Recent[str, int](MOST_PARTS))
    terminals: Recent[str, Terminal] = field(default_factory=lambda: Recent[str, Terminal](MOST_PARTS))
    stoppable: Recent[str, bool] = field(default_factory=lambda: Recent[str, bool](MOST_PARTS))
    known_work: Recent[str, bool] = field(default_factory=lambda: Recent[str, bool](MOST_PARTS))
    background: Mapping[str, str] | None = None

    @property
    def is_settled(self) -> bool:
        """Whether it is open, and nothing about it is in question: not played back, not being opened or closed, not cancelled."""
        is_open = self.opening is None and self.closing is None and self.closed is None
        return is_open and self.over is None and not self.replays

    def size(self) -> int:
        """About how many bytes it takes."""
        tables = (self.terminals, self.stoppable, self.work, self.echoed, self.unheard, self.known_work)
        parts = sum(table.taken for table in tables)
        options = size_of_options(self.options or {}) + size_of_options(self.withdrawn or {})
        listed = (*(self.background or {}), *(self.background or {}).values())
        texts = (*listed, self.cwd, self.state, *(self.roots or ()), *self.inherited, *(self.modes or ()))
        return 2000 + parts + options + size_of(*texts)


@dataclass(slots=True)
class Listed:
    """A session as a list last showed it. `has_roots`: the list told its roots, none included."""

    index: int
    roots: tuple[str, ...] | None
    has_roots: bool = True
    cwd: str | None = None

    def size(self) -> int:
        """About how many bytes it takes."""
        return 200 + size_of(self.cwd, *(self.roots or ()))


@dataclass(slots=True)
class Question:
    """A question of the agent to the user that waits for its answer.

    `visit` is the id of a web page, `form` the schema of a form, `length` that of its text; `None` for questions of another mode.
    """

    index: int
    mode: str
    visit: str | None = None
    form: Any = None
    length: int = 0

    def size(self) -> int:
        """About how many bytes it takes."""
        return 300 + 10 * self.length
