"""An agent of v2 whose work one of v1 does.

In v1 the answer to `session/prompt` is the end of the turn; in v2 it says that the prompt was accepted, and the end is an update. The
agent of v1 does not say that it accepts: its first sign of life in the turn counts as that, or `accept_timeout` seconds without an error.
Prompts wait for the end of the turn before them.

Sources: the pages of both versions on initialization, session setup, prompts, cancellation, tool calls, elicitation; the pages of v1 on the
file system and on terminals; the migration page.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeVar, cast

from acp_bindings import ConnectionClosed, RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.background import CancelScope
from acp_session.diffs import as_object
from acp_session.prompts import TurnQueue
from acp_session.services import SERVICE_METHODS, Local, LocalServices, Services
from acp_workspace.approval import ApprovalRequest, Approve
from acp_workspace.errors import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND, UNSUPPORTED_VERSION, invalid_params, refused
from acp_workspace.hooks import maybe_await
from acp_workspace.scope import matches, parse_scope
from jsonrpc_bindings.peers import Side

from .handshakes import answer_to_v2, request_to_v1
from .interfaces import ClientInterface
from .losses import OnLoss, Place
from .messages import AgentRelay, Relay, decode_v1, decode_v2, relay_errors, require_supported_roots, types_of
from .tables import METHODS
from .to_v1 import CARRIER_METHOD, TURN_STATES, ToV1, is_carried
from .to_v2 import ToV2
from .user_requests import elicitation_to_v2, outcome_to_v1, permission_to_v2
from .walker import CONFLICT, Json, omit

R = TypeVar("R")

V1_METHODS: Final = {newer: older for older, newer in METHODS.items()}
ACCEPT_TIMEOUT: Final = 0.5
"""Seconds of silence after which a prompt counts as accepted."""


@dataclass(slots=True, eq=False)
class Turn:
    """A prompt that the agent works on. `has_started`: it gave a sign of life. `is_answered`: the client has its answer."""

    message_id: str
    content: list[Any]
    has_started: asyncio.Event = field(default_factory=asyncio.Event)
    is_answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_reported: bool = False
    failure: RequestError | None = None


@dataclass(slots=True, eq=False)
class Session:
    """A session: what it was sent, its turn, its state as reported last, prompts that wait, and what ends with the turn."""

    id: str
    to_v2: ToV2
    cwd: str = ""
    additional: list[str] = field(default_factory=list[str])
    queue: TurnQueue = field(default_factory=TurnQueue)
    turn: Turn | None = None
    state: Json = field(default_factory=lambda: {"state": "idle"})
    work: asyncio.Task[Any] | None = None
    scope: CancelScope = field(default_factory=CancelScope)
    is_muted: bool = False

    @property
    def is_used(self) -> bool:
        """Whether it was opened, or a prompt is worked on."""
        return bool(self.cwd) or self.turn is not None or self.queue.is_busy or self.is_muted

    def cancel(self) -> None:
        """Ask the user nothing more in this turn."""
        self.scope.cancel()
        if self.turn is None:
            self.scope.reset()

    async def finish(self) -> None:
        """Wait for the end of the turn."""
        if self.work is not None:
            await asyncio.wait([self.work])


class AgentAsV2(AgentRelay[Session], peers2.Agent):
    """An agent of v2 that has one of v1 do its work.

    `client` is the client of v2, where it is an object of this process; else serve a connection with this. `services` are the files and
    terminals for the agent; or `local` says what of this machine it may use. Connect `v1_client` to the agent of v1, and set `agent` to the
    calls to it, before anything is asked. `losses` counts what could not be carried over; `on_loss` gets each.
    """

    agent: peers1.RemoteAgent

    def __init__(
        self,
        client: ClientInterface | None = None,
        services: Services | None = None,
        *,
        local: Local | None = None,
        on_loss: OnLoss = lambda loss: None,
        accept_timeout: float = ACCEPT_TIMEOUT,
    ) -> None:
        super().__init__(on_loss)
        self.services = services or Services()
        if local is not None:
            approve = None if local.approve is None else self._approval(local.approve)
            self.services = LocalServices(replace(local, approve=approve), self.send)
        self._client = client
        self._accept_timeout = accept_timeout
        self._can = v1.AgentCapabilities()
        self._to_v1 = ToV1(has_switches=True, has_notices=True, has_compaction=True)

    def _approval(self, approve: Approve) -> Approve:
        async def ask(request: ApprovalRequest) -> bool:
            scope = self.session(request.session_id).scope
            return await scope.run(lambda: maybe_await(approve(request))) is True

        return ask

    @cached_property
    def v1_client(self) -> ClientForV1:
        """What the agent of v1 sees."""
        return ClientForV1(self)

    @property
    def is_local(self) -> bool:
        """Whether the client is an object of this process."""
        return self._client is not None

    @property
    def client(self) -> Any:
        """The client of v2: an object, or the peer at the far end of the connection that this serves."""
        return super().client if self._client is None else self._client

    async def request(self, method: str, params: Any, *, timeout: float | None = None) -> Any:  # noqa: ARG002
        """Serve a client that is an object of this process. Errors of the agent are raised as they are."""
        return await Side.serve(self, method, params)

    async def notify(self, method: str, params: Any) -> None:
        """Take note of what a client says that is an object of this process."""
        await self.handle_notification(method, params)

    async def close(self) -> None:
        await self.services.close()
        await super().close()

    async def end_turns(self) -> None:
        for session in tuple(self.sessions.values()):
            await session.finish()

    def new_session(self, session_id: str) -> Session:
        return Session(session_id, ToV2(lambda: self.services.terminals(session_id)))

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        if params.protocol_version < 2:
            data = {"requested": params.protocol_version, "supported": [2]}
            raise RequestError(UNSUPPORTED_VERSION, "this agent speaks version 2", data)
        place = self.losses.place("initialize")
        body = request_to_v1(to_builtins(params), place, self.services.capabilities())
        answer = await self.agent.initialize(decode_v1(v1.InitializeRequest, body, place))
        if answer.protocol_version != 1:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer.protocol_version}, not 1")
        self._can = answer.agent_capabilities
        return decode_v2(v2.InitializeResponse, answer_to_v2(to_builtins(answer), place), place)

    async def auth_login(self, params: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
        return await self._pass("auth/login", v2.LoginAuthResponse, params)

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:
        return await self._pass("auth/logout", v2.LogoutAuthResponse, params)

    async def _pass(self, method: str, answer: type[R], params: Any) -> R:
        """The answer to a request that both versions have."""
        place = self.losses.place(method, session_id=getattr(params, "session_id", None))
        return decode_v2(answer, await self._ask(V1_METHODS.get(method, method), to_builtins(params), place), place)

    async def _ask(self, method: str, body: Json, place: Place) -> Json:
        """The answer of the agent to a request of v1."""
        type_, _ = types_of(peers1.Agent, method)
        found = self._to_v1.convert(type_.__name__, require_supported_roots(body, self._can), place)
        call = getattr(self.agent, peers1.Agent.requests[method])
        return as_object(to_builtins(await call(decode_v1(type_, found, place))))

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        return await self._open("session/new", v2.NewSessionResponse, params)

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        return await self._open("session/fork", v2.ForkSessionResponse, params)

    async def _open(self, method: str, answer: type[R], params: Any) -> R:
        place = self.losses.place(method)
        async with self.services.open_session(params) as establish:
            found = await self._ask(method, to_builtins(params), place)
            establish(str(found["sessionId"]))
        return decode_v2(answer, self._convert_answer(str(found["sessionId"]), params, found, place), place)

    async def session_load(self, params: v2.LoadSessionRequest, /) -> v2.LoadSessionResponse:
        place = self.losses.place("session/load", session_id=params.session_id)
        found = await self._reopen(params, to_builtins(params), place, is_replayed=True)
        return decode_v2(v2.LoadSessionResponse, found, place)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        """An agent that can only load does so, and what it replays is not passed on."""
        place = self.losses.place("session/resume", session_id=params.session_id)
        body = to_builtins(params)
        replay = as_object(body.pop("replayFrom", None))
        if replay.get("type", "start") != "start":
            raise invalid_params("this agent replays only from the start", pointer="/replayFrom")
        found = await self._reopen(params, body, place, is_replayed=bool(replay))
        return decode_v2(v2.ResumeSessionResponse, found, place)

    async def _reopen(self, params: Any, body: Json, place: Place, *, is_replayed: bool) -> Json:
        session = self.session(params.session_id)
        async with self.services.open_session(params, session.id) as establish:
            if not is_replayed and self._can.session_capabilities.resume is not None:
                answer = await self._ask("session/resume", body, place)
            elif self._can.load_session:
                session.is_muted = not is_replayed
                try:
                    answer = await self._ask("session/load", body, place)
                finally:
                    session.is_muted = False
                session.to_v2.pause()
            else:
                raise RequestError(INVALID_PARAMS, "the agent cannot replay a session", {"pointer": "/replayFrom"})
            establish(session.id)
        found = self._convert_answer(session.id, params, answer, place)
        await self.report_state(session, "idle" if session.turn is None else "running")
        return found

    def _convert_answer(self, session_id: str, params: Any, answer: Json, place: Place) -> Json:
        """The answer in the terms of v2, but for its type."""
        session = self.session(session_id)
        session.cwd = params.cwd
        session.additional = list(to_builtins(params).get("additionalDirectories") or ())
        session.to_v2.options.begin(answer, place)
        if "availableCommands" in answer:
            place.at("availableCommands").lose(CONFLICT)
        options = session.to_v2.options.all()
        more = {"configOptions": options} if options or answer.get("configOptions") is not None else {}
        return {**omit(answer, "modes", "configOptions", "availableCommands"), **more}

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """For an agent that has no list, the sessions of this connection."""
        if self._can.session_capabilities.list_ is not None:
            return await self._pass("session/list", v2.ListSessionsResponse, params)
        place = self.losses.place("session/list")
        place.lose("the agent cannot list sessions; these are the sessions of this connection", kind="changed")
        scopes = [(one.id, parse_scope(one.cwd, one.additional)) for one in self.sessions.values() if one.cwd]
        infos = [
            {"sessionId": session_id, "cwd": scope.cwd, "additionalDirectories": list(scope.additional)}
            for session_id, scope in scopes
            if matches(scope, cwd=params.cwd, additional=params.additional_directories)
        ]
        return decode_v2(v2.ListSessionsResponse, {"sessions": infos}, place)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """For an agent that cannot close, the turn is cancelled and the session is left."""
        place = self.losses.place("session/close", session_id=params.session_id)
        session = self.sessions.get(params.session_id)
        answer: Json = {}
        if self._can.session_capabilities.close is not None:
            if session is not None:
                session.cancel()
            answer = await self._ask("session/close", to_builtins(params), place)
        elif session is None:
            raise RequestError(NOT_FOUND, "there is no such session", {"sessionId": params.session_id})
        else:
            place.lose("the agent cannot close a session; its turn is cancelled, and it stays", kind="changed")
            await self._cancel(session, {"sessionId": session.id})
        await self._end(params.session_id, session)
        return decode_v2(v2.CloseSessionResponse, answer, place)

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        session = self.sessions.get(params.session_id)
        if session is not None and session.work is not None:
            await self._cancel(session, {"sessionId": session.id})
        answer = await self._pass("session/delete", v2.DeleteSessionResponse, params)
        await self._end(params.session_id, session)
        return answer

    async def _end(self, session_id: str, session: Session | None) -> None:
        if session is not None:
            await session.finish()
        await self.services.end(session_id)
        self.sessions.pop(session_id, None)

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        """The option that stands for modes sets the mode."""
        place = self.losses.place("session/set_config_option", session_id=params.session_id)
        body, options = to_builtins(params), self.session(params.session_id).to_v2.options
        if body["configId"] == options.mode_option:
            mode = {**omit(body, "configId", "type", "value"), "modeId": body.get("value")}
            answer = to_builtins(await self.agent.session_set_mode(decode_v1(v1.SetSessionModeRequest, mode, place)))
            options.set_mode(str(body.get("value")))
        else:
            setting = omit(body, "type") if body.get("type") == "id" else body
            request: Any = decode_v1(cast("Any", v1.SetSessionConfigOptionRequest), setting, place)
            answer = to_builtins(await self.agent.session_set_config_option(request))
            options.replace(answer.get("configOptions") or (), place.at("configOptions"))
        return decode_v2(v2.SetSessionConfigOptionResponse, {**answer, "configOptions": options.all()}, place)

    async def terminal_cancel(self, params: v2.CancelTerminalRequest, /) -> v2.CancelTerminalResponse:
        """Terminals of the services can be stopped."""
        await self.services.cancel_terminal(params.session_id, params.terminal_id)
        return v2.CancelTerminalResponse()

    async def tool_call_cancel(self, _: v2.CancelToolCallRequest, /) -> v2.CancelToolCallResponse:
        """No tool call of an agent of v1 is one that the client may stop."""
        raise invalid_params("this tool call cannot be cancelled on its own", pointer="/toolCallId")

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        place = self.losses.place("session/prompt", session_id=params.session_id)
        body = to_builtins(params)
        request = decode_v1(v1.PromptRequest, self._to_v1.convert("PromptRequest", body, place), place)
        session = self.session(params.session_id)
        await session.queue.wait()
        turn = session.turn = Turn(session.to_v2.message_id(), body["prompt"])
        session.to_v2.pause()
        session.work = self._background.start(self._work(session, turn, request))
        starting = asyncio.ensure_future(turn.has_started.wait())
        signs = {starting, session.work}
        try:
            await asyncio.wait(signs, timeout=self._accept_timeout, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._cancel(session, {"sessionId": session.id})
            raise
        finally:
            starting.cancel()
            turn.is_answered.set()
        if turn.failure is not None:
            raise turn.failure
        self._background.start(self.report_start(session))
        return v2.PromptResponse(message_id=turn.message_id)

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        session = self.sessions.get(params.session_id)
        if session is not None:
            session.queue.cancel()
        await self._cancel(session, to_builtins(params))

    async def _cancel(self, session: Session | None, body: Json) -> None:
        if session is not None:
            session.cancel()
        place = self.losses.place("session/cancel", session_id=body.get("sessionId"))
        with suppress(ConnectionClosed):
            await self.agent.session_cancel(decode_v1(v1.CancelNotification, body, place))
        if session is not None:
            await self.services.stop(session.id)

    async def _work(self, session: Session, turn: Turn, request: v1.PromptRequest) -> None:
        """One turn: from the prompt to the answer of v1, which becomes the state `idle`."""
        end: Json
        try:
            asking = self.agent.connection.request("session/prompt", request, timeout=math.inf)  # a turn has no limit
            end = to_builtins(await relay_errors(asking))
        except Exception as found:  # noqa: BLE001 - whatever kept the prompt from being sent ends it
            error = found if isinstance(found, RequestError) else RequestError(INTERNAL_ERROR, str(found))
            if not turn.has_started.is_set() and not turn.is_answered.is_set():
                turn.failure = error
            failed = {"stopReason": "error", "error": error.as_json()}
            end = {"stopReason": "cancelled"} if session.scope.is_cancelled else failed
        try:
            if turn.failure is None:
                try:
                    await self.report_start(session)
                finally:
                    await self.report_state(session, "idle", end)
        finally:
            session.turn = session.work = None
            session.scope.reset()
            session.to_v2.pause()
            session.queue.finish()

    async def report_start(self, session: Session) -> None:
        """Report once that the message has its place and that work goes on; what the agent sends comes after that."""
        turn = session.turn
        if turn is None:
            return
        turn.has_started.set()
        await turn.is_answered.wait()
        if turn.is_reported or turn.failure is not None:
            return
        turn.is_reported = True
        message = {"sessionUpdate": "user_message", "messageId": turn.message_id, "content": turn.content}
        await self.send(session.id, message)
        await self.report_state(session, "running")

    async def report_state(self, session: Session, state: str, end: Json | None = None) -> None:
        """Report in which state a session is."""
        session.state = {"state": state, **(end or {})}
        await self.send(session.id, {"sessionUpdate": "state_update", **session.state})

    async def send(self, session_id: str, update: Json, more: Json | None = None) -> None:
        """Send an update to the client."""
        place = self.losses.place("session/update", session_id=session_id)
        body = {**(more or {}), "sessionId": session_id, "update": update}
        notification = decode_v2(v2.UpdateSessionNotification, body, place)
        with suppress(ConnectionClosed):  # nobody listens any more
            await self.client.session_update(notification)


class ClientForV1(Relay, peers1.Client):
    """What the agent of v1 sees: its client, whose files and terminals are services."""

    def __init__(self, codec: AgentAsV2) -> None:
        self._codec = codec

    @property
    def far(self) -> Any:
        return self._codec.client

    async def serve(self, method: str, params: Any) -> Any:
        """Answer a request: files and terminals by the services, the rest by the client."""
        if method not in SERVICE_METHODS:
            return await super().serve(method, params)
        session = self._codec.sessions.get(params.session_id)
        if session is not None:
            await self._codec.report_start(session)
            if method == "terminal/create" and session.scope.is_cancelled:
                raise refused(params.command, "the turn was cancelled")
        return await relay_errors(self._codec.services.answer(method, params))

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        session = self._codec.session(params.session_id)
        body = to_builtins(params)
        place = self._codec.losses.place("session/update", "update", session_id=session.id)
        found = session.to_v2.update(body["update"], place)
        if session.is_muted:
            return
        await self._codec.report_start(session)
        for one in found:
            with suppress(RequestError):  # reported as a loss
                await self._codec.send(session.id, one, omit(body, "sessionId", "update"))

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        """Where the turn is cancelled meanwhile, that is the answer, and the client is asked no more."""
        session = self._codec.session(params.session_id)
        place = self._codec.losses.place("session/request_permission", session_id=session.id)
        request = permission_to_v2(params, session.to_v2, place)
        await self._codec.report_start(session)
        if session.turn is not None and not session.scope.is_cancelled:
            await self._codec.report_state(session, "requires_action")
        try:
            answer = await session.scope.run(lambda: self.far.session_request_permission(request))
        finally:
            if session.turn is not None and not session.scope.is_waiting and not session.scope.is_cancelled:
                await self._codec.report_state(session, "running")
        cancelled = v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())
        return cancelled if answer is None else outcome_to_v1(answer, place)

    async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        """Where the turn is cancelled meanwhile, the client is asked no more."""
        place = self._codec.losses.place("elicitation/create", session_id=getattr(params, "session_id", None))
        sent = self.connection.sent(getattr(params, "request_id", None))
        session = self._codec.sessions.get(str(getattr(params if sent is None else sent.params, "session_id", None)))
        if session is not None:
            await self._codec.report_start(session)
        request = elicitation_to_v2(params, place, None if self._codec.is_local else self.connection)
        scope = CancelScope() if session is None else session.scope
        answer = await scope.run(lambda: self.far.elicitation_create(request))
        if answer is None:
            return v1.ElicitationCancelAction()
        return decode_v1(v1.CreateElicitationResponse, to_builtins(answer), place)  # type: ignore[arg-type]

    async def elicitation_complete(self, params: v1.CompleteElicitationNotification, /) -> None:
        place = self._codec.losses.place("elicitation/complete")
        await self.far.elicitation_complete(decode_v2(v2.CompleteElicitationNotification, to_builtins(params), place))

    async def extension_notification(self, method: str, params: Any) -> None:
        """What another codec has carried through v1 is the update of v2 again."""
        if method != CARRIER_METHOD:
            await self.far.extension_notification(method, params)
            return
        place = self._codec.losses.place(CARRIER_METHOD)
        notification = decode_v2(v2.UpdateSessionNotification, as_object(params), place)
        session, update = self._codec.session(notification.session_id), to_builtins(notification.update)
        if session.is_muted:
            return
        if not is_carried(update):
            place.at("update").lose("only what v1 has no form for is carried", update)
            return
        await self._codec.report_start(session)
        if update.get("state") in TURN_STATES:  # the turn of v1 says the state; the background is carried
            update = {**omit(update, "stopReason", "error"), **session.state}
        await self._codec.send(session.id, update, omit(to_builtins(notification), "sessionId", "update"))
