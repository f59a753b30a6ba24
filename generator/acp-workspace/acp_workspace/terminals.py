"""The terminals of a v1 client: `terminal/create`, `output`, `wait_for_exit`, `kill` and `release`.

    terminals = Terminals(workspace, TerminalPolicy(), approve=ask_the_user)
    capabilities = v1.ClientCapabilities(terminal=terminals.is_offered)
    result = await terminals.create(request.params)              # or `terminals.answer(request)` for a whole message

A command runs in a directory that provably lies in a root of its session, without input, its output and errors as one text. What it does
there is held by nothing: a command may open any file that its user may (`acp_workspace.sandbox`). What it started ends with `aclose`, or
with this program, daemons included; `limits` says what does not.

Errors are `RequestError`: -32002 for a terminal, program or directory that does not exist, -32001 for what roots, policy or user refuse,
-32602 for malformed params, -32603 for anything else.

Source: the terminals page of v1.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar

from acp_bindings import UNSET, ErrorResponse, Request, Response, v1

from jsonrpc_bindings.supervisor import GUARD, Program

from .approval import Approve, CommandWish, require_approval
from .containment import AccessDenied, Place, guarantees, open_folder, reach
from .errors import METHOD_NOT_FOUND, NOT_FOUND, RequestError, failed, invalid_params, not_found, refused
from .hooks import UNEXPECTED, awaited
from .processes import Command, Exit, discard, start
from .tail import Tail
from .workers import Busy, Workers
from .workspace import RootSet, RootsOf

__all__ = ["Shown", "TerminalEvent", "TerminalPolicy", "Terminals"]

T = TypeVar("T")

Action: TypeAlias = Literal["create", "output", "wait", "kill", "release"]
Phase: TypeAlias = Literal["started", "done", "failed"]


@dataclass(frozen=True, slots=True)
class TerminalPolicy:
    """Bounds on the terminals of a client.

    `output`: bytes of output that are kept where the agent sets no limit; `most_output`: where it sets one. `most_running`: terminals of a
    session that are not released; `most_kept`: released ones whose output is still shown. `grace`: seconds that a command has to
    end by itself when it is killed. `environment`: the variables that a command gets besides those that the agent sets; `None`: those
    of this program, which may hold secrets.

    Raises `ValueError` for a bound below 0.
    """

    output: int = 1024 * 1024
    most_output: int = 16 * 1024 * 1024
    most_running: int = 32
    most_kept: int = 64
    grace: float = 1.0
    environment: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if min(self.output, self.most_output, self.most_running, self.most_kept, self.grace) < 0:
            raise ValueError("a bound is 0 or more")


@dataclass(frozen=True, slots=True)
class TerminalEvent:
    """Something that happens to a terminal, for the user to see: it starts, is done, or failed. `subject` is the command, or the
    terminal's id as the agent sent it: escape it where you show it.
    """

    session_id: str
    subject: str
    action: Action
    phase: Phase
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a terminal shows: the end of its output, whether earlier output was dropped, and how its command ended (`None`: it runs)."""

    output: str
    truncated: bool
    exit: Exit | None
    is_released: bool = False


Notify: TypeAlias = "Callable[[TerminalEvent], Awaitable[object] | object]"
Show: TypeAlias = "Callable[[str, str, str], object]"
"""Told session, terminal and text of each piece of output, in the event loop."""


@dataclass(slots=True)
class _Session:
    running: dict[str, Command] = field(default_factory=dict[str, Command])
    starting: int = 0
    stops: int = 0
    kept: dict[str, Shown] = field(default_factory=dict[str, Shown])
    wanted: set[str] = field(default_factory=set[str])


class Terminals:
    """Handlers for the five methods, for any number of sessions of one event loop.

    `roots` says which roots a session has: a `ClientWorkspace`, a `ClientHost`. `approve` is asked before each command; `None` runs it.
    `notify` is told of every request and its end, refusals included; `show` of output as it comes.
    """

    def __init__(
        self,
        roots: RootsOf,
        policy: TerminalPolicy | None = None,
        *,
        approve: Approve | None = None,
        notify: Notify = lambda event: None,
        show: Show = lambda session_id, terminal_id, text: None,
        workers: Workers | None = None,
    ) -> None:
        self.policy = policy or TerminalPolicy()
        self._roots = roots
        self._approve = approve
        self._notify = notify
        self._show = show
        self._workers = workers or Workers()
        self._sessions: dict[str, _Session] = {}
        self._is_closed = False

    @property
    def is_offered(self) -> bool:
        """The value of the capability `terminal`: whether commands can be held to a directory in the roots here."""
        return guarantees().enforced and not self._is_closed

    @property
    def limits(self) -> tuple[str, ...]:
        """What is not promised, as sentences."""
        return (*_LIMITS, *(() if GUARD.works else ("The commands of a killed program keep running.",)))

    # --- the five methods

    async def create(self, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        """Handle `terminal/create`: start a command, and return the terminal's id at once. Raises `RequestError`."""
        found = await self._told(params.session_id, params.command, "create", self._created(params))
        return v1.CreateTerminalResponse(terminal_id=found)

    async def output(self, params: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        """Handle `terminal/output`: what the command has printed so far, and how it ended if it has. Raises `RequestError`."""

        async def work() -> v1.TerminalOutputResponse:
            shown = _shown(self._child(params.session_id, params.terminal_id))
            status = None if shown.exit is None else v1.TerminalExitStatus(**_status(shown.exit))
            return v1.TerminalOutputResponse(output=shown.output, truncated=shown.truncated, exit_status=status)

        return await self._told(params.session_id, params.terminal_id, "output", work())

    async def wait_for_exit(self, params: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        """Handle `terminal/wait_for_exit`: wait until the command has ended, in whatever way. Raises `RequestError`."""

        async def work() -> v1.WaitForTerminalExitResponse:
            child = self._child(params.session_id, params.terminal_id)
            ended = asyncio.ensure_future(child.wait())
            try:
                await asyncio.wait([ended])
                if ended.cancelled():
                    raise failed(params.terminal_id, "the terminal was released, and its command could not be ended")
                return v1.WaitForTerminalExitResponse(**_status(ended.result()))
            finally:
                ended.cancel()

        return await self._told(params.session_id, params.terminal_id, "wait", work())

    async def kill(self, params: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        """Handle `terminal/kill`: end the command with all that it started; the terminal stays. Raises `RequestError`.

        It is asked to end, and made to after `grace` seconds; the answer comes when it has ended.
        """

        async def work() -> None:
            await self._child(params.session_id, params.terminal_id).kill(self.policy.grace)

        await self._told(params.session_id, params.terminal_id, "kill", work())
        return v1.KillTerminalResponse()

    async def release(self, params: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        """Handle `terminal/release`: end the command and forget the terminal; `keep` says what is still shown. Raises `RequestError`."""

        async def work() -> None:
            self._child(params.session_id, params.terminal_id)
            await self._released(params.session_id, params.terminal_id)

        await self._told(params.session_id, params.terminal_id, "release", work())
        return v1.ReleaseTerminalResponse()

    async def answer(self, request: Request[Any]) -> Response[Any] | ErrorResponse[v1.Error]:
        """Answer a decoded request of the five methods as a message; any other method is -32601."""
        try:
            match request.params:
                case v1.CreateTerminalRequest() as params:
                    result: Any = await self.create(params)
                case v1.TerminalOutputRequest() as params:
                    result = await self.output(params)
                case v1.WaitForTerminalExitRequest() as params:
                    result = await self.wait_for_exit(params)
                case v1.KillTerminalRequest() as params:
                    result = await self.kill(params)
                case v1.ReleaseTerminalRequest() as params:
                    result = await self.release(params)
                case _:
                    raise RequestError(METHOD_NOT_FOUND, "this is not a terminal method", {"method": request.method})
        except RequestError as error:
            body = v1.Error(code=error.code, message=error.message, data=error.data)
            return ErrorResponse(request.id, body, request.method)
        return Response(request.id, result, request.method)

    # --- what the user sees

    def keep(self, session_id: str, terminal_id: str) -> bool:
        """Go on showing a terminal after its release, as for one that stands in a tool call; whether there is one (terminals page,
        "Embedding in Tool Calls").
        """
        session = self._sessions.get(session_id)
        if session is None or not (terminal_id in session.running or terminal_id in session.kept):
            return False
        session.wanted.add(terminal_id)
        return True

    def shown(self, session_id: str, terminal_id: str) -> Shown | None:
        """What a terminal shows, a released one only where `keep` asked for it; `None` where there is none."""
        session = self._sessions.get(session_id)
        if session is None:
            return None
        child = session.running.get(terminal_id)
        return session.kept.get(terminal_id) if child is None else _shown(child)

    async def ended(self, session_id: str, terminal_id: str) -> Exit | None:
        """How the command of a terminal ended, once it has; `None` where there is no such terminal, or nobody knows. Told to no hook."""
        session = self._sessions.get(session_id)
        child = None if session is None else session.running.get(terminal_id)
        if child is None:
            return None
        waiting = asyncio.ensure_future(child.wait())
        try:
            await asyncio.wait([waiting])
            return None if waiting.cancelled() else waiting.result()
        finally:
            waiting.cancel()

    # --- ends

    async def stop(self, session_id: str) -> None:
        """End the commands of a session, as when its turn is cancelled. Terminals and their output stay."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.stops += 1  # for those that are being started
            await asyncio.gather(*(child.kill(self.policy.grace) for child in session.running.values()))

    async def end(self, session_id: str) -> None:
        """Release all terminals of a session that has ended, and forget what they showed."""
        session = self._sessions.get(session_id)
        if session is not None:
            await asyncio.gather(*(self._released(session_id, one) for one in tuple(session.running)))
            self._sessions.pop(session_id, None)

    async def aclose(self) -> None:
        """End everything; nothing can be started any more. Call it when the connection has ended."""
        self._is_closed = True
        await asyncio.gather(*(self.end(session_id) for session_id in tuple(self._sessions)))
        self._workers.close()

    # --- the work

    async def _created(self, params: v1.CreateTerminalRequest) -> str:
        roots = self._roots.roots(params.session_id)
        path = roots.scope.cwd if params.cwd is None else params.cwd
        wish = CommandWish(
            params.session_id,
            _plain(params.command, "/command"),
            tuple(_plain(one, f"/args/{index}") for index, one in enumerate(_listed(params.args))),
            path,
            _variables(params),
        )
        if not path.startswith("/"):
            raise invalid_params("'cwd' must be an absolute path", path=path, pointer="/cwd")
        session = self._sessions.setdefault(params.session_id, _Session())
        if len(session.running) + session.starting >= self.policy.most_running:
            raise failed(params.command, f"the session has {self.policy.most_running} terminals; release one")
        session.starting += 1
        state = (session, session.stops, roots)
        try:
            await require_approval(self._approve, wish, params.command)
            asked = params.output_byte_limit
            limit = self.policy.output if asked is None else min(asked, self.policy.most_output)
            child, terminal_id = await self._started(wish, roots, limit, lambda: self._require_current(wish, state))
        finally:
            session.starting -= 1
        session.running[terminal_id] = child
        return terminal_id

    async def _started(
        self, wish: CommandWish, roots: RootSet, limit: int, require_current: Callable[[], None]
    ) -> tuple[Command, str]:
        require_current()  # the user may have taken a while
        inherited = os.environ if self.policy.environment is None else self.policy.environment
        environment = {**inherited, **wish.environment}
        made: list[tuple[Program, int]] = []

        def run(check: Callable[[], None]) -> None:
            check()
            folder = _opened(roots, wish.cwd)
            try:
                check()
                made.append(start(wish.command, wish.arguments, environment, folder))
            except (FileNotFoundError, NotADirectoryError):
                raise RequestError(NOT_FOUND, "there is no such program", {"command": wish.command}) from None
            except PermissionError:
                raise refused(wish.command, "the operating system does not permit running it") from None
            except OSError as error:
                reason = os.strerror(error.errno or 0).lower()
                raise failed(wish.command, f"the command cannot be started: {reason}") from None
            finally:
                os.close(folder)

        try:
            await self._workers.run(run)
            require_current()
        except Busy:
            raise failed(wish.command, "too many requests are under way; try again later") from None
        except BaseException:
            for unwanted in made:
                discard(*unwanted)
            raise
        program, source = made[0]
        terminal_id = f"term_{secrets.token_hex(8)}"

        def show(text: str) -> None:
            self._show(wish.session_id, terminal_id, text)

        return Command(program, source, Tail(limit), show), terminal_id

    def _require_current(self, wish: CommandWish, state: tuple[_Session, int, RootSet]) -> None:
        """Refuse where session, turn or roots are no longer those in which the command was asked for."""
        session, stops, roots = state
        if self._sessions.get(wish.session_id) is not session or session.stops != stops:
            raise refused(wish.command, "the session or its turn has ended")
        if self._roots.roots(wish.session_id) is not roots:
            raise refused(wish.command, "the workspace roots of the session have changed")

    def _child(self, session_id: str, terminal_id: str) -> Command:
        session = self._sessions.get(session_id)
        child = None if session is None else session.running.get(terminal_id)
        if child is None:
            raise RequestError(NOT_FOUND, "there is no such terminal", {"terminalId": terminal_id})
        return child

    async def _released(self, session_id: str, terminal_id: str) -> None:
        session = self._sessions[session_id]
        child = session.running.pop(terminal_id)  # from now on the id is void
        try:
            await child.kill(self.policy.grace)
        finally:
            shown = _shown(child)
            child.close()
            if terminal_id in session.wanted:
                session.kept[terminal_id] = Shown(shown.output, shown.truncated, shown.exit, is_released=True)
                for oldest in list(session.kept)[: max(0, len(session.kept) - self.policy.most_kept)]:
                    del session.kept[oldest]
                    session.wanted.discard(oldest)

    async def _told(self, session_id: str, subject: str, action: Action, work: Coroutine[Any, Any, T]) -> T:
        async def tell(phase: Phase, reason: str = "") -> None:
            await awaited(self._notify(TerminalEvent(session_id, subject, action, phase, reason)))

        try:
            await tell("started")
            if not self.is_offered:
                raise RequestError(METHOD_NOT_FOUND, f"terminal/{action} is not supported here")
            result = await work
        except RequestError as error:
            await tell("failed", error.message)
            raise
        except asyncio.CancelledError:
            await tell("failed", "the request was cancelled")
            raise
        except Exception:
            await tell("failed", UNEXPECTED)
            raise
        finally:
            work.close()  # where it was not begun
        await tell("done")
        return result


_LIMITS: Final = (
    "A command may open any file and any connection that its user may open: run it in a sandbox.",
    "A process that has a session of its own, no parent, and a cleared environment is not ended with its terminal."
    if sys.platform == "linux"
    else "A process that has a group of its own is not ended with its terminal.",
)


def _shown(child: Command) -> Shown:
    return Shown(child.tail.text, child.tail.is_cut, child.exit)


def _status(found: Exit) -> dict[str, Any]:
    return {"exit_code": found.code, "signal": found.signal}


def _listed(value: Any) -> Any:
    return () if value is UNSET else value


def _plain(text: str, pointer: str) -> str:
    """Text that a program can be given."""
    if "\0" in text:
        raise invalid_params("a command must not contain a NUL character", pointer=pointer)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise invalid_params("the text is not Unicode", pointer=pointer) from None
    if not text and pointer == "/command":
        raise invalid_params("'command' must not be empty", pointer=pointer)
    return text


def _variables(params: v1.CreateTerminalRequest) -> dict[str, str]:
    found: dict[str, str] = {}
    for index, one in enumerate(_listed(params.env)):
        name = _plain(one.name, f"/env/{index}/name")
        if not name or "=" in name:
            raise invalid_params(
                "the name of a variable must not be empty or contain '='", pointer=f"/env/{index}/name"
            )
        found[name] = _plain(one.value, f"/env/{index}/value")
    return found


def _opened(roots: RootSet, path: str) -> int:
    """The working directory, proven to lie in a root."""

    def use(place: Place) -> int:
        return open_folder(place.root, place.parts)

    try:
        return reach(roots.roots, path, use)
    except AccessDenied as error:
        raise refused(path, error.reason) from None
    except FileNotFoundError:
        raise not_found(path) from None
    except NotADirectoryError:
        raise failed(path, "it is not a directory") from None
    except PermissionError:
        raise refused(path, "the operating system does not permit it") from None
    except OSError as error:
        raise refused(path, os.strerror(error.errno or 0).lower()) from None
