"""Terminals of a v1 client: `terminal/create`, `output`, `wait_for_exit`, `kill` and `release`.

    terminals = Terminals(workspace, TerminalPolicy(), approve=ask_the_user)
    capabilities = v1.ClientCapabilities(terminal=terminals.is_offered)
    result = await terminals.create(request.params)              # or `terminals.start(session_id, "ls")`, without a request

A command starts in a directory that provably is in a root of its session, without input; its output and errors are one text. It is not
confined there: a command may open any file that its user may (`acp_workspace.sandbox`). Its descendants, including daemons, end with
`aclose` or with this program; SECURITY.md lists the exceptions.

Errors are `RequestError`: -32002 for a terminal, program or directory that does not exist, -32001 if roots, policy or user refuse,
-32602 for malformed params, -32603 for anything else.

Source: the terminals page of v1.
"""

from __future__ import annotations

import asyncio
import functools
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from acp_bindings import UNSET, v1

from jsonrpc_bindings import supervisor
from jsonrpc_bindings.supervisor import Exit, Program
from jsonrpc_bindings.tail import Tail

from .approval import Approve, CommandApprovalRequest, require_approval
from .containment import guarantees, open_folder, reach
from .errors import (
    METHOD_NOT_FOUND,
    NOT_FOUND,
    RequestError,
    convert_os_errors,
    make_failure,
    make_invalid_params,
    make_refusal,
)
from .hooks import Action, OnEvent, ServiceEvent, Steps
from .mechanism import Held
from .workers import Busy, Workers
from .workspace import Roots, RootSet, RootsSource, get_session_roots

__all__ = ["OnEvent", "OnOutput", "ServiceEvent", "Terminal", "TerminalPolicy", "Terminals"]

_CHUNK: Final = 65536
_DRAINED: Final = 1 << 20
"""The maximum bytes that are read at once when a command has ended: more than a pipe holds."""


@dataclass(frozen=True, slots=True)
class TerminalPolicy:
    """Limits on the terminals of a client.

    `output`: the bytes of output that are kept if the agent sets no limit; `most_output`: the maximum if it sets one. `most_running`:
    the maximum number of unreleased terminals of a session. `grace`: the seconds between terminating and killing a command.
    `environment`: the variables that a command gets besides those that the agent sets; `None`: those of this program, which may contain
    secrets.

    Raises `ValueError` for a limit below 0.
    """

    output: int = 1024 * 1024
    most_output: int = 16 * 1024 * 1024
    most_running: int = 32
    grace: float = 1.0
    environment: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if min(self.output, self.most_output, self.most_running, self.grace) < 0:
            raise ValueError("a bound is 0 or more")


OnOutput: TypeAlias = "Callable[[str, str, str], object]"
"""Called with session id, terminal id and text of each chunk of output, in the event loop."""


@dataclass(slots=True)
class _Session:
    running: dict[str, Terminal] = field(default_factory=dict[str, "Terminal"])
    starting: int = 0
    stops: int = 0


class Terminal:
    """A command that was started, with the end of its output. Its descendants end with it. Use it in one event loop."""

    def __init__(
        self,
        terminal_id: str,
        session: _Session,
        program: Program,
        *,
        limit: int,
        grace: float,
        on_output: Callable[[str], object],
    ) -> None:
        assert program.stdout is not None
        self.id = terminal_id
        self.limit = limit
        self.tail = Tail(limit)
        self._session = session
        self._program = program
        self._grace = grace
        self._source = program.stdout
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[Exit] = self._loop.create_future()
        os.set_blocking(self._source.fileno(), False)
        self._loop.add_reader(self._source, self._read)
        program.watch(self._notice_exit)
        session.running[terminal_id] = self

    @property
    def exit(self) -> Exit | None:
        """The exit status; `None` while the command runs."""
        return self._ended.result() if self._ended.done() and not self._ended.cancelled() else None

    @property
    def state(self) -> v1.TerminalOutputResponse:
        """The terminal's state: the end of its output, whether earlier output was dropped, and the exit status if the command has ended."""
        status = None if self.exit is None else v1.TerminalExitStatus(exit_code=self.exit.code, signal=self.exit.signal)
        return v1.TerminalOutputResponse(output=self.tail.text, truncated=self.tail.is_cut, exit_status=status)

    async def wait(self) -> Exit:
        """Wait until the command has ended. Raises `RequestError` if it was released and could not be ended."""
        await asyncio.wait([self._ended])
        if self.exit is None:
            raise make_failure(self.id, "the terminal was released, and its command could not be ended")
        return self.exit

    async def kill(self) -> None:
        """Terminate the command and all its descendants, and kill them after the grace period.

        Returns when it has ended, or cannot be ended.
        """
        for pause in self._program.ending(self._grace):
            await asyncio.sleep(pause)
        if self.exit is None:
            await asyncio.wait([self._ended], timeout=max(self._grace, 1.0))
        if self.exit is not None:
            self._drain()

    async def release(self) -> None:
        """Kill the command and release the terminal. A second call does nothing."""
        if self._session.running.pop(self.id, None) is None:  # from now on the id is void
            return
        try:
            await self.kill()
        finally:
            self._program.close()
            self._close_source()
            self._ended.cancel()

    def _read(self) -> bool:
        """Read the available output; return whether there may be more."""
        try:
            chunk = os.read(self._source.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        text = self.tail.add(chunk, is_last=not chunk)
        if not chunk:
            self._close_source()
        if text:
            self._on_output(text)
        return bool(chunk)

    def _drain(self) -> None:
        for _ in range(_DRAINED // _CHUNK):
            if self._source.closed or not self._read():
                return

    def _close_source(self) -> None:
        if not self._source.closed:
            self._loop.remove_reader(self._source)
            self._source.close()

    def _notice_exit(self) -> None:
        if not self._ended.done():
            self._drain()
            self._ended.set_result(self._program.exit or Exit(None, None))


class Terminals:
    """Runs commands, for any number of sessions of one event loop: for an agent itself (`start`), and as request handlers of a client.

    `roots` provides the roots of each session: a `ClientWorkspace`, or a mapping. `approve` is asked before each command; `None` allows
    all. `on_event` is called with each request and its end, refusals included; `on_output` with output as it arrives.
    """

    def __init__(
        self,
        roots: RootsSource | Mapping[str, Roots],
        policy: TerminalPolicy | None = None,
        *,
        approve: Approve | None = None,
        on_event: OnEvent = lambda event: None,
        on_output: OnOutput = lambda session_id, terminal_id, text: None,
    ) -> None:
        self.policy = policy or TerminalPolicy()
        self._source = roots
        self._approve = approve
        self._on_event = on_event
        self._on_output = on_output
        self._workers = Workers()
        self._sessions: dict[str, _Session] = {}
        self._is_closed = False

    @property
    def is_offered(self) -> bool:
        """The value of the capability `terminal`: whether the working directory of commands can be confined to the roots here."""
        return guarantees().enforced and not self._is_closed

    async def start(
        self,
        session_id: str,
        command: str,
        arguments: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        output_limit: int | None = None,
    ) -> Terminal:
        """Start a command in a directory of the session's roots, by default the first root. Raises `RequestError`."""
        async with Steps(self._on_event, session_id, command, "create"):
            self._require_offered("create")
            return await self._start(session_id, command, arguments, env or {}, cwd, output_limit)

    # --- the five methods of v1

    async def create(self, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        """Handle `terminal/create`: start a command, and return the terminal's id at once. Raises `RequestError`."""
        terminal = await self.start(
            params.session_id,
            params.command,
            () if params.args is UNSET else params.args,
            env={} if params.env is UNSET else {variable.name: variable.value for variable in params.env},
            cwd=params.cwd,
            output_limit=params.output_byte_limit,
        )
        return v1.CreateTerminalResponse(terminal_id=terminal.id)

    async def output(self, params: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        """Handle `terminal/output`: return the output so far, and the exit status if the command has ended. Raises `RequestError`."""
        async with self._find_terminal(params, "output") as terminal:
            return terminal.state

    async def wait_for_exit(self, params: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        """Handle `terminal/wait_for_exit`: wait until the command has ended. Raises `RequestError`."""
        async with self._find_terminal(params, "wait") as terminal:
            exit_status = await terminal.wait()
        return v1.WaitForTerminalExitResponse(exit_code=exit_status.code, signal=exit_status.signal)

    async def kill(self, params: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        """Handle `terminal/kill`: end the command with all its descendants; the terminal stays. Raises `RequestError`.

        The command is terminated, and killed after `grace` seconds; the response is sent when it has ended.
        """
        async with self._find_terminal(params, "kill") as terminal:
            await terminal.kill()
        return v1.KillTerminalResponse()

    async def release(self, params: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        """Handle `terminal/release`: kill the command and release the terminal. Raises `RequestError`."""
        async with self._find_terminal(params, "release") as terminal:
            await terminal.release()
        return v1.ReleaseTerminalResponse()

    def find(self, session_id: str, terminal_id: str) -> Terminal | None:
        """The terminal with this id; `None` if it does not exist or was released."""
        session = self._sessions.get(session_id)
        return None if session is None else session.running.get(terminal_id)

    # --- ends

    async def stop(self, session_id: str) -> None:
        """Kill the commands of a session, for example when its turn is cancelled. Terminals and their output stay."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.stops += 1  # for those that are being started
            await asyncio.gather(*(terminal.kill() for terminal in session.running.values()))

    async def end(self, session_id: str) -> None:
        """Release all terminals of a session that has ended."""
        session = self._sessions.get(session_id)
        if session is not None:
            await asyncio.gather(*(terminal.release() for terminal in tuple(session.running.values())))
            self._sessions.pop(session_id, None)

    async def aclose(self) -> None:
        """Release everything; no more commands can be started. Call it when the connection has ended."""
        self._is_closed = True
        await asyncio.gather(*(self.end(session_id) for session_id in tuple(self._sessions)))
        self._workers.close()

    # --- the work

    async def _start(
        self,
        session_id: str,
        command: str,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        cwd: str | None,
        output_limit: int | None,
    ) -> Terminal:
        roots = self._get_roots(session_id, command)
        path = roots.scope.cwd if cwd is None else cwd
        request = CommandApprovalRequest(
            session_id,
            _require_text(command, "/command"),
            tuple(_require_text(argument, f"/args/{index}") for index, argument in enumerate(arguments)),
            _require_text(path, "/cwd"),
            _check_variables(variables),
        )
        if not path.startswith("/"):
            raise make_invalid_params("'cwd' must be an absolute path", "/cwd", path=path)
        session = self._sessions.setdefault(session_id, _Session())
        if len(session.running) + session.starting >= self.policy.most_running:
            raise make_failure(command, f"the session has {self.policy.most_running} terminals; release one")
        stops = session.stops

        def require_current() -> None:
            """Raise `RequestError` if the session, turn or roots have changed since the command was requested."""
            if self._sessions.get(session_id) is not session or session.stops != stops:
                raise make_refusal(command, "the session or its turn has ended")
            if self._get_roots(session_id, command) is not roots:
                raise make_refusal(command, "the workspace roots of the session have changed")

        session.starting += 1
        try:
            await require_approval(self._approve, request, command)
            require_current()  # the user may have taken a while
            program = await self._run(request, roots, require_current)
        finally:
            session.starting -= 1
        terminal_id = f"term_{secrets.token_hex(8)}"
        return Terminal(
            terminal_id,
            session,
            program,
            limit=self.policy.output if output_limit is None else min(output_limit, self.policy.most_output),
            grace=self.policy.grace,
            on_output=functools.partial(self._on_output, session_id, terminal_id),
        )

    async def _run(
        self, request: CommandApprovalRequest, roots: RootSet, require_current: Callable[[], None]
    ) -> Program:
        inherited = os.environ if self.policy.environment is None else self.policy.environment
        environment = {**inherited, **request.environment}
        programs: list[Program] = []

        def run(check: Callable[[], None]) -> None:
            with Held(_open_folder(roots, request.cwd)) as folder:
                check()
                try:
                    programs.append(start(request.command, request.arguments, environment, folder))
                except (FileNotFoundError, NotADirectoryError):
                    raise RequestError(NOT_FOUND, "there is no such program", {"command": request.command}) from None
                except PermissionError:
                    raise make_refusal(request.command, "the operating system does not permit running it") from None
                except OSError as error:
                    reason = os.strerror(error.errno or 0).lower()
                    raise make_failure(request.command, f"the command cannot be started: {reason}") from None

        try:
            await self._workers.run(run)
            require_current()
        except Busy:
            raise make_failure(request.command, "too many requests are under way; try again later") from None
        except BaseException:
            for unwanted in programs:
                unwanted.close()
                if unwanted.stdout is not None:
                    unwanted.stdout.close()
            raise
        return programs[0]

    def _get_roots(self, session_id: str, command: str) -> RootSet:
        roots = get_session_roots(self._source, session_id)
        if not isinstance(roots, RootSet):
            raise make_refusal(
                command, "the workspace roots of this session are not bound to directories of this machine"
            )
        return roots

    @asynccontextmanager
    async def _find_terminal(self, params: _TerminalRequest, action: Action) -> AsyncGenerator[Terminal]:
        async with Steps(self._on_event, params.session_id, params.terminal_id, action):
            self._require_offered(action)
            terminal = self.find(params.session_id, params.terminal_id)
            if terminal is None:
                raise RequestError(NOT_FOUND, "there is no such terminal", {"terminalId": params.terminal_id})
            yield terminal

    def _require_offered(self, action: Action) -> None:
        if not self.is_offered:
            raise RequestError(METHOD_NOT_FOUND, f"terminal/{action} is not supported here")


class _TerminalRequest(Protocol):
    @property
    def session_id(self) -> str: ...
    @property
    def terminal_id(self) -> str: ...


def _require_text(text: str, pointer: str) -> str:
    """Check text that is passed to a program."""
    if "\0" in text:
        raise make_invalid_params("the text must not contain a NUL character", pointer)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise make_invalid_params("the text is not Unicode", pointer) from None
    if not text and pointer == "/command":
        raise make_invalid_params("'command' must not be empty", pointer)
    return text


def _check_variables(variables: Mapping[str, str]) -> dict[str, str]:
    for index, name in enumerate(variables):
        pointer = f"/env/{index}/name"
        if not _require_text(name, pointer) or "=" in name:
            raise make_invalid_params("the name of a variable must not be empty or contain '='", pointer)
    return {name: _require_text(value, f"/env/{index}/value") for index, (name, value) in enumerate(variables.items())}


def _open_folder(roots: RootSet, path: str) -> int:
    """Open the working directory, proven to be in a root."""
    with convert_os_errors(path):
        try:
            return reach(roots.roots, path, lambda place: open_folder(place.root, place.parts))
        except NotADirectoryError:
            raise make_failure(path, "it is not a directory") from None


def start(command: str, arguments: Sequence[str], environment: Mapping[str, str], folder: int | None = None) -> Program:
    """Start a command, optionally in an open directory.

    It has no input; its standard output and error are one stream, `Program.stdout`. Raises `OSError`, `ValueError` for a NUL character.
    """
    # Python changes the directory in the child before it closes descriptors.
    by_name = sys.platform == "linux" and os.path.isdir(f"/proc/self/fd/{folder}")
    return supervisor.start(
        [command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=f"/proc/self/fd/{folder}" if by_name else None,
        preexec_fn=None if by_name or folder is None else functools.partial(os.fchdir, folder),
    )
