"""A turn of an agent: the user's prompt, and all that the agent sends and does until the turn ends.

Relative paths are resolved against the working directory of the session. A call raises `NotAdvertised` before anything is sent if the
client did not advertise it, `PeerError` if the client refuses it, and `InvalidMessage` for an invalid response. In version 2 files and
commands are those of this machine, which refuses them by a `RequestError` with the same codes.

Sources: the pages of v1 and v2 on prompts, content, tool calls, plans, elicitation; the pages of v1 on the file system and on terminals.
"""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import shlex
from collections.abc import AsyncGenerator, Awaitable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from acp_bindings import (
    UNSET,
    ConnectionClosed,
    DecodeError,
    NotAdvertised,
    RequestError,
    Unknown,
    to_builtins,
    v1,
    v2,
)

from acp_workspace.errors import INTERNAL_ERROR
from jsonrpc_bindings.engine import Engine
from jsonrpc_bindings.pointers import json_pointer
from jsonrpc_bindings.records import Record

from .arguments import make_content_block, omit_none, refuse_text, refuse_unknown
from .background import UNATTENDED
from .diffs import diff_to_v2
from .errors import Error, InvalidMessage, find_path, make_error
from .permission import Decision, ask, decide
from .services import LocalServices, Services
from .session import Session, copy_update
from .transcript import FINAL_STATUSES, MAX_OUTPUT

T = TypeVar("T")

Path: TypeAlias = "str | os.PathLike[str]"
"""A path, as `str` or `PathLike`."""


@dataclass(frozen=True, slots=True)
class Diff:
    """A change of a text file for display: its old text (`None` for a new file) and its new text."""

    path: Path
    old_text: str | None
    new_text: str


Content: TypeAlias = "str | Diff | v2.ContentBlock | v2.ToolCallContent"
"""Content of a tool call: text, a file change, a content block, or a content type of the protocol."""
Location: TypeAlias = "Path | tuple[Path, int] | v2.ToolCallLocation"
"""A file that a tool call affects, optionally with a line, counted from 1."""

ALLOW_OR_REJECT: Final = (
    v2.PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
    v2.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
)
"""The default options of a permission request."""
KILL_TIMEOUT: Final = 5.0
"""The maximum seconds until a command that was killed for its `timeout` has ended; its result then comes without an exit status."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command: its standard output and error as one text, without its beginning if `truncated`.

    `exit_code` is `None` if a `signal` ended the command; `timed_out` if it was killed because it took too long.
    """

    output: str
    exit_code: int | None = None
    signal: str | None = None
    truncated: bool = False
    timed_out: bool = False


@dataclass(slots=True, eq=False)
class ToolCall:
    """A tool call that the client shows. `Turn.tool_call` begins and ends it. `chosen_option` is the option that the user chose last."""

    turn: Turn = field(repr=False)
    id: str
    title: str
    kind: v2.ToolKind
    status: v2.ToolCallStatus = "pending"
    content: tuple[v2.ToolCallContent, ...] = ()
    locations: tuple[v2.ToolCallLocation, ...] = ()
    chosen_option: v2.PermissionOption | None = None

    @property
    def shown(self) -> dict[str, Any]:
        """The fields of an update that shows the whole tool call."""
        lists = {"content": list(self.content), "locations": list(self.locations)}
        nonempty_lists = {name: value for name, value in lists.items() if value}
        return {
            "tool_call_id": self.id,
            "title": self.title,
            "kind": self.kind,
            "status": self.status,
            **nonempty_lists,
        }

    async def update(
        self,
        *,
        title: str | None = None,
        kind: v2.ToolKind | None = None,
        status: v2.ToolCallStatus | None = None,
        content: Content | Iterable[Content] | None = None,
        locations: Iterable[Location] | None = None,
        raw_input: Any = UNSET,
        raw_output: Any = UNSET,
    ) -> None:
        """Send the changes of the tool call. `content` and `locations` replace the previous values."""
        refuse_unknown(v2.ToolKind, kind=kind)
        refuse_unknown(v2.ToolCallStatus, status=status)
        changes: dict[str, Any] = {
            "title": title,
            "kind": kind,
            "status": status,
            "content": None if content is None else self.turn.convert_content(content),
            "locations": None if locations is None else self.turn.convert_locations(locations),
        }
        fields: dict[str, Any] = {"raw_input": raw_input, "raw_output": raw_output}
        for name, value in changes.items():
            if value is not None:
                setattr(self, name, value)
                fields[name] = list(value) if name in ("content", "locations") else value
        await self.turn.session.send_update(v2.SessionToolCallUpdate(tool_call_id=self.id, **fields))

    async def add_content(self, *content: Content) -> None:
        """Append content."""
        await self.update(content=(*self.content, *content))

    async def request_permission(
        self,
        *,
        title: str | None = None,
        description: str | None = None,
        options: Sequence[v2.PermissionOption] = ALLOW_OR_REJECT,
    ) -> bool:
        """Ask the user for permission for this tool call, and return whether it is allowed.

        Only an offered option that allows is consent. The prompt shows the title, kind, content and locations of the tool call. Its
        status becomes `in_progress` if allowed, otherwise `failed`.
        """
        subject = v2.ToolCallPermissionSubject(tool_call=v2.ToolCallUpdate(**self.shown))
        decision = await self.turn.decide(title or self.title, description, options, subject)
        self.chosen_option = next((option for option in options if option.option_id == decision.option_id), None)
        await self.update(status="in_progress" if decision.allowed else "failed")
        return decision.allowed


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """The work on one prompt: its session, the content of the prompt, and the id of its message."""

    session: Session
    prompt: tuple[v2.ContentBlock, ...]
    message_id: str
    questions: set[object] = field(default_factory=set[object], repr=False)

    @property
    def text(self) -> str:
        """The text blocks of the prompt, joined by line feeds."""
        return "\n".join(block.text for block in self.prompt if isinstance(block, v2.TextContent))

    async def send_message(self, content: str | v2.ContentBlock) -> None:
        """Send a chunk of the agent's message. Consecutive chunks form one message."""
        await self._send_chunk(v2.AgentMessageChunk, "message", content)

    async def send_thought(self, content: str | v2.ContentBlock) -> None:
        """Send a chunk of the agent's thoughts."""
        await self._send_chunk(v2.AgentThoughtChunk, "thought", content)

    async def _send_chunk(
        self, type_: type[v2.AgentMessageChunk | v2.AgentThoughtChunk], kind: str, content: str | v2.ContentBlock
    ) -> None:
        send = self.session.send_own if isinstance(content, str) else self.session.send_update
        await send(type_(message_id=self.session.find_message_id(kind), content=make_content_block(content)))

    async def update_plan(self, entries: Iterable[v2.PlanEntry | str], *, plan_id: str = "plan") -> None:
        """Show a plan, replacing the one with this id. A string is a pending step."""
        refuse_text(entries=entries)
        steps = [
            v2.PlanEntry(content=entry, priority="medium", status="pending") if isinstance(entry, str) else entry
            for entry in entries
        ]
        await self.session.send_update(v2.PlanUpdate(plan=v2.PlanItems(plan_id=plan_id, entries=steps)))

    def tool_call(
        self,
        title: str,
        *,
        kind: v2.ToolKind = "other",
        content: Content | Iterable[Content] = (),
        locations: Iterable[Location] = (),
        raw_input: Any = UNSET,
    ) -> AbstractAsyncContextManager[ToolCall]:
        """Show a tool call while the block runs.

        Its status becomes `completed` at the end of the block, `failed` if the block raised, or `cancelled` if it was cancelled. A final
        status that was sent in the block, or by a refused permission request, stays.
        """
        refuse_unknown(v2.ToolKind, kind=kind)
        call = ToolCall(
            self,
            self.session.call_id(),
            title,
            kind,
            content=self.convert_content(content),
            locations=self.convert_locations(locations),
        )
        return self._show(call, raw_input)

    @asynccontextmanager
    async def _show(self, call: ToolCall, raw_input: Any) -> AsyncGenerator[ToolCall]:
        beginning = copy_update(v2.SessionToolCallUpdate(**call.shown, raw_input=raw_input))
        try:
            await self.session.send_own(beginning)
            yield call
        except (Exception, asyncio.CancelledError) as error:
            # the end of a cancelled turn ends its tool calls
            if call.status not in FINAL_STATUSES and not self.session.is_stopped:
                with suppress(ConnectionClosed):
                    await call.update(status="failed" if isinstance(error, Exception) else "cancelled")
            raise
        if call.status not in FINAL_STATUSES:
            await call.update(status="completed")

    async def request_permission(
        self, title: str, *, description: str | None = None, options: Sequence[v2.PermissionOption] = ALLOW_OR_REJECT
    ) -> bool:
        """Ask the user for permission without a tool call; for tool calls use `ToolCall.request_permission`."""
        return (await self.decide(title, description, options)).allowed

    async def decide(
        self,
        title: str,
        description: str | None = None,
        options: Sequence[v2.PermissionOption] = ALLOW_OR_REJECT,
        subject: v2.RequestPermissionSubject | None = None,
    ) -> Decision:
        """Ask the user for permission, and return the decision with its reason.

        Raises `ValueError` for a request without title or options.
        """
        refuse_text(options=options)
        request = ask(self.session.id, title, options, description=description, subject=subject)
        async with self.wait_for_user():
            asking = self.session.client.session_request_permission(request)
            return decide(request, await _with_errors("session/request_permission", asking))

    async def ask(
        self,
        message: str,
        fields: Mapping[str, v2.ElicitationPropertySchema],
        *,
        required: Sequence[str] | None = None,
        title: str | None = None,
        tool_call: ToolCall | None = None,
    ) -> dict[str, Any] | None:
        """Ask the user to fill in a form, and return the values by field name; `None` if the user declines or cancels.

        By default all fields are `required`. Raises `InvalidMessage` for values that do not match the fields, and `ValueError` for a
        pattern that is none.
        """
        self._require(self.session.client_capabilities.ask, "elicitation/create", "elicitation.form")
        refuse_text(required=required)
        required_names = list(fields if required is None else required)
        missing = [name for name in required_names if name not in fields]
        if missing:
            raise ValueError(f"'required' names fields that the form does not have: {', '.join(missing)}")
        schema = v2.ElicitationSchema(
            type="object", properties=dict(fields), required=required_names, **omit_none(title=title)
        )
        engine = _make_engine(schema)
        engine.get_validator(("$defs", _FORM))
        request = v2.SessionElicitationFormMode(message=message, requested_schema=schema, **self._find_scope(tool_call))
        answer = await self._elicit(request)
        if not isinstance(answer, v2.ElicitationAcceptAction):
            return None
        content = dict(answer.content or {})
        _require_answers(engine, content)
        return content

    async def ask_url(self, message: str, url: str, *, tool_call: ToolCall | None = None) -> bool:
        """Ask the user to visit a web page, and return whether the user agrees. The result of the visit is not known yet."""
        self._require(self.session.client_capabilities.ask_url, "elicitation/create", "elicitation.url")
        id_ = f"elicitation_{secrets.token_hex(8)}"
        request = v2.SessionElicitationUrlMode(
            elicitation_id=id_, message=message, url=url, **self._find_scope(tool_call)
        )
        return isinstance(await self._elicit(request), v2.ElicitationAcceptAction)

    def _require(self, is_offered: bool, method: str, capability: str) -> None:
        """Raise `NotAdvertised` for what the client does not offer; `capability` is its path in v2."""
        if not is_offered:
            raise NotAdvertised(method, find_path(self.session.connection.version, f"client:capabilities.{capability}"))

    async def _elicit(self, request: v2.CreateElicitationRequest) -> v2.CreateElicitationResponse:
        async with self.wait_for_user():
            return await _with_errors("elicitation/create", self.session.client.elicitation_create(request))

    def _find_scope(self, tool_call: ToolCall | None) -> dict[str, Any]:
        return omit_none(session_id=self.session.id, tool_call_id=None if tool_call is None else tool_call.id)

    @asynccontextmanager
    async def wait_for_user(self) -> AsyncGenerator[None]:
        """Report that the foreground work waits for the user while any such block runs."""
        question = object()
        self.questions.add(question)
        try:
            await self.session.set_state(self.message_id, "requires_action")
            yield
        finally:
            self.questions.discard(question)
            if not self.questions:
                with suppress(ConnectionError):  # nobody listens any more
                    await self.session.set_state(self.message_id, "running")

    async def read_text_file(self, path: Path, *, line: int | None = None, limit: int | None = None) -> str:
        """Read a text file, or `limit` lines of it from `line` on, counted from 1."""
        window = omit_none(line=line, limit=limit)
        request = v1.ReadTextFileRequest(session_id=self.session.id, path=self.session.absolute(path), **window)
        response: v1.ReadTextFileResponse = await _ask(self.session.services, "fs/read_text_file", request)
        return response.content

    async def write_text_file(self, path: Path, content: str) -> None:
        """Write a whole text file."""
        request = v1.WriteTextFileRequest(session_id=self.session.id, path=self.session.absolute(path), content=content)
        await _ask(self.session.services, "fs/write_text_file", request)

    async def run_command(
        self,
        program: Path,
        *arguments: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float | None = None,
        output_limit: int | None = None,
        tool_call: ToolCall | None = None,
    ) -> CommandResult:
        """Run a command and wait for its end; it is killed if this call is cancelled, or after `timeout` seconds.

        The user sees it in `tool_call`, or in a new tool call. `output_limit`: the maximum bytes of output that are kept, the last ones.
        Only `cwd` is confined to the roots of the session: the command itself may access whatever its user may. Its standard input is
        empty.
        """
        can_run = self.session.client_capabilities.run_command
        if self.session.connection.version == 1:
            self._require(can_run, "terminal/create", "terminal")
        elif not can_run:
            raise RequestError(INTERNAL_ERROR, "the agent's machine cannot keep commands in the roots")
        variables = [v1.EnvVariable(name=name, value=value) for name, value in (env or {}).items()]
        optional_fields = omit_none(output_byte_limit=output_limit, env=variables or None)
        folder = self.session.absolute("." if cwd is None else cwd)
        words = [os.fspath(word) for word in (program, *arguments)]
        request = v1.CreateTerminalRequest(
            session_id=self.session.id, command=words[0], args=words[1:], cwd=folder, **optional_fields
        )
        own_call = self.tool_call(shlex.join(words), kind="execute")
        async with nullcontext(tool_call) if tool_call is not None else own_call as call:
            result = await self._run(request, timeout, call)
            if tool_call is None and (result.timed_out or result.exit_code or result.signal is not None):
                await call.update(status="failed")
            return result

    async def _run(self, request: v1.CreateTerminalRequest, timeout: float | None, call: ToolCall) -> CommandResult:
        services, timed_out = self.session.services, False
        terminal_id = await self._create_terminal(services, request)
        terminal: dict[str, Any] = {"session_id": self.session.id, "terminal_id": terminal_id}
        if self.session.connection.version == 1:
            self.session.rename_terminal(terminal_id)
        release = "terminal/release", v1.ReleaseTerminalRequest(**terminal)
        reading: Awaitable[tuple[v1.TerminalOutputResponse, v1.TerminalExitStatus]] | None = None
        try:
            content = (*call.content, v2.Terminal(terminal_id=terminal_id))
            await call.update(status="in_progress" if call.status == "pending" else None, content=content)
            limit, wait = asyncio.timeout(timeout), v1.WaitForTerminalExitRequest(**terminal)
            try:
                async with limit:
                    await _ask(services, "terminal/wait_for_exit", wait)
            except TimeoutError:
                if not limit.expired():
                    raise
                timed_out = True
                with suppress(TimeoutError):  # a client that waits for what a killed command has started
                    async with asyncio.timeout(KILL_TIMEOUT):
                        await _ask(services, "terminal/kill", v1.KillTerminalRequest(**terminal))
                        await _ask(services, "terminal/wait_for_exit", wait)
            reading = asyncio.ensure_future(self._read_output(services, request, terminal_id))
            output, ended = await asyncio.shield(reading)
        except BaseException:
            # together: a client that never answers must have the release, and the history has what the command wrote
            reading = reading or self._read_output(services, request, terminal_id)
            await asyncio.gather(reading, _ask(services, *release), return_exceptions=True)
            raise
        with suppress(Error):
            await _ask(services, *release)
        return CommandResult(output.output, ended.exit_code, ended.signal, output.truncated, timed_out)

    async def _read_output(
        self, services: Services, request: v1.CreateTerminalRequest, terminal_id: str
    ) -> tuple[v1.TerminalOutputResponse, v1.TerminalExitStatus]:
        """The output of a command, and its exit status as far as it is known. In version 1 the history keeps both."""
        terminal = v1.TerminalOutputRequest(session_id=self.session.id, terminal_id=terminal_id)
        output: v1.TerminalOutputResponse = await _ask(services, "terminal/output", terminal)
        status = output.exit_status
        ended = status if isinstance(status, v1.TerminalExitStatus) else v1.TerminalExitStatus()
        if self.session.connection.version == 1:  # a client that loads the session later has no such terminal
            words = shlex.join([request.command, *(request.args or ())])
            data = base64.b64encode(output.output.encode()[-MAX_OUTPUT:]).decode()
            end = v2.TerminalExitStatus(**omit_none(exit_code=ended.exit_code, signal=ended.signal))
            shown: dict[str, Any] = {"terminal_id": terminal_id, "command": words, "cwd": request.cwd}
            self.session.keep(v2.TerminalUpdate(**shown, output=v2.TerminalOutput(data=data), exit_status=end))
        return output, ended

    async def _create_terminal(self, services: Services, request: v1.CreateTerminalRequest) -> str:
        """Start a command. If this is cancelled meanwhile, the command is killed as soon as its terminal is known."""
        creating = asyncio.ensure_future(_ask(services, "terminal/create", request))
        try:
            return str((await asyncio.shield(creating)).terminal_id)
        except asyncio.CancelledError:
            services.withdraw(request)
            UNATTENDED.start(_release(services, request.session_id, creating))
            raise

    def convert_content(self, content: Content | Iterable[Content]) -> tuple[v2.ToolCallContent, ...]:
        """Convert content to the types of the protocol."""
        if isinstance(content, str | Diff | Record):
            return (self._convert_content(content),)
        return tuple(self._convert_content(part) for part in content)

    def _convert_content(self, item: Any) -> v2.ToolCallContent:
        if isinstance(item, Diff):
            fields: dict[str, Any] = {
                "type": "diff",
                "path": self.session.absolute(item.path),
                "newText": item.new_text,
            }
            fields |= {} if item.old_text is None else {"oldText": item.old_text}
            return v2.decode_as(v2.Diff, diff_to_v2(fields))
        if isinstance(item, v2.Content | v2.Diff | v2.Terminal | v2.UnknownToolCallContent):
            return item
        return v2.Content(content=make_content_block(item))

    def convert_locations(self, locations: Iterable[Location]) -> tuple[v2.ToolCallLocation, ...]:
        """Convert locations to the type of the protocol."""
        refuse_text(locations=locations)
        return tuple(self._convert_location(location) for location in locations)

    def _convert_location(self, location: Location) -> v2.ToolCallLocation:
        if isinstance(location, v2.ToolCallLocation):
            return location
        if isinstance(location, tuple):
            return v2.ToolCallLocation(path=self.session.absolute(location[0]), line=location[1])
        return v2.ToolCallLocation(path=self.session.absolute(location))


async def _release(services: Services, session_id: str, creating: asyncio.Future[Any]) -> None:
    """Release a terminal that is still being created."""
    with suppress(Error):
        id_ = (await creating).terminal_id
        await _ask(services, "terminal/release", v1.ReleaseTerminalRequest(session_id=session_id, terminal_id=id_))


async def _ask(services: Services, method: str, request: Any) -> Any:
    """Send a request to the services and return the result.

    Raises `RequestError` for an error of this machine, which serves version 2, `PeerError` for one of a version 1 client.
    """
    answering = services.answer(method, request)
    return await (answering if isinstance(services, LocalServices) else _with_errors(method, answering))


async def _with_errors(method: str, work: Awaitable[T]) -> T:
    """Await the client's response. Raises `PeerError`, `InvalidMessage`, `ConnectionClosed`, `NotAdvertised`."""
    try:
        return await work
    except (RequestError, DecodeError) as error:
        raise make_error(method, error) from error


def _make_engine(form: v2.ElicitationSchema) -> Engine:
    """Validates the answers to a form, which is a JSON Schema. Fields of unknown types accept anything."""
    schema = to_builtins(form)
    for name, field_ in form.properties.items():
        if isinstance(field_, Unknown) or isinstance(getattr(field_, "items", None), Unknown):
            schema["properties"][name] = {}
    return Engine(lambda: {"$defs": {_FORM: schema}}, dict[str, str])


def _require_answers(engine: Engine, answers: Mapping[str, Any]) -> None:
    """Raise `InvalidMessage` for form values that are missing or do not match their fields."""
    for error in engine.find_problems(("$defs", _FORM), answers):
        path = (*error.path, error.missing) if error.missing else error.path
        raise InvalidMessage("elicitation/create", json_pointer(("content", *path)), error.sentence)


_FORM: Final = "form"
