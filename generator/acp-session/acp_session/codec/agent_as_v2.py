"""A v2 agent whose work is done by a v1 agent.

In v1 the response to `session/prompt` ends the turn; in v2 it says that the prompt was accepted, and the end is an update. A v1 agent
does not report acceptance: its first message in the turn counts as that, or `accept_timeout` seconds without an error. Prompts wait for
the end of the turn before them.

Sources: the pages of both versions on initialization, session setup, prompts, cancellation, tool calls, elicitation; the pages of v1 on
the file system and on terminals; the migration page.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from acp_bindings import UNSET, ConnectionClosed, DecodeError, PeerError, RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.background import CancelScope
from acp_session.diffs import as_object
from acp_session.errors import Error, answer_to
from acp_session.prompts import TurnQueue
from acp_session.services import SERVICE_METHODS, Local, LocalServices
from acp_workspace.approval import ApprovalRequest, Approve
from acp_workspace.errors import INTERNAL_ERROR, NOT_FOUND, UNSUPPORTED_VERSION, make_invalid_params, make_refusal
from acp_workspace.hooks import await_result
from acp_workspace.scope import matches, parse_scope, require_filter
from acp_workspace.workspace import ClientWorkspace, RootSet
from jsonrpc_bindings.errors import REQUEST_CANCELLED
from jsonrpc_bindings.peers import Side

from .losses import OnLoss, Place
from .relay import AgentRelay, Calls, ClientRelay, Handler, LocalCalls, decode, with_id_of_client
from .tables import METHODS
from .to_v1 import CARRIER_METHOD, TURN_STATES, ToV1, is_carried, offer_services
from .to_v2 import ToV2
from .walker import CONFLICT, Json, omit

V1_METHODS: Final = {newer: older for older, newer in METHODS.items()}
STATE_FIELDS: Final = ("sessionUpdate", "state", "error", "background")
"""The fields of the state `idle` that the result of a v1 prompt has no part in."""
ACCEPT_TIMEOUT: Final = 0.5
"""The seconds of silence after which a prompt counts as accepted."""


@dataclass(slots=True, eq=False)
class Turn:
    """A prompt that the agent works on. `has_started`: the agent has shown activity. `is_answered`: the response to the client is ready."""

    message_id: str
    content: list[Any]
    has_started: asyncio.Event = field(default_factory=asyncio.Event)
    is_answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_reported: bool = False
    failure: PeerError | RequestError | None = None


@dataclass(slots=True, eq=False)
class Session:
    """A session: its converter, its turn, its last reported state, the queue of prompts, and the requests that end with the turn."""

    id: str
    to_v2: ToV2
    cwd: str = ""
    additional: list[str] = field(default_factory=list[str])
    queue: TurnQueue = field(default_factory=TurnQueue)
    turn: Turn | None = None
    state: Json = field(default_factory=lambda: {"state": "idle"})
    work: asyncio.Future[Any] | None = None
    scope: CancelScope = field(default_factory=CancelScope)
    is_muted: bool = False

    @property
    def is_used(self) -> bool:
        """Whether the session was opened, is being replayed, or has a prompt."""
        return bool(self.cwd) or self.turn is not None or self.queue.is_busy or self.is_muted

    def cancel(self) -> None:
        """Cancel the requests to the user for the rest of this turn."""
        self.scope.cancel()
        if self.turn is None:
            self.scope.reset()

    async def finish(self) -> None:
        """Wait for the end of the turn."""
        if self.work is not None:
            await asyncio.wait([self.work])


class AgentAsV2(AgentRelay[Session], peers2.Agent):
    """A v2 agent whose work is done by a v1 agent.

    `client` is the v2 client if it is an object of this process; otherwise use this to serve a connection. `services` provides the files
    and terminals for the agent; or `local` says what the agent may use on this machine. Connect `v1_client` to the v1 agent, and set
    `agent` to the calls to it, before the first request. `losses` counts the losses of the conversion; `on_loss` gets each.
    """

    far_side = peers1.Agent
    agent: peers1.RemoteAgent

    def __init__(
        self,
        client: Side | None = None,
        services: LocalServices | None = None,
        *,
        local: Local | None = None,
        on_loss: OnLoss = lambda loss: None,
        accept_timeout: float = ACCEPT_TIMEOUT,
    ) -> None:
        super().__init__(on_loss, ToV1())
        local_config = local or Local(files=None, terminals=None)
        self._policy = (
            None if local_config.files is None and local_config.terminals is None else local_config.root_policy
        )
        self.workspace = ClientWorkspace()
        approve = None if local_config.approve is None else self._wrap_approval(local_config.approve)
        self.services = services or LocalServices(replace(local_config, approve=approve), self.send, self.workspace)
        self._client = None if client is None else LocalCalls(client)
        self.handlers = {
            "initialize": self._initialize,
            **dict.fromkeys(("auth/login", "auth/logout"), self._pass),
            **dict.fromkeys(("session/new", "session/fork"), self._open),
            **dict.fromkeys(("session/load", "session/resume"), self._reopen),
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_config_option": self._set_config_option,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel_session,
            "terminal/cancel": self._cancel_terminal,
            "tool_call/cancel": self._cancel_tool_call,
        }
        handlers: Mapping[str, Handler] = {
            "session/update": self._update,
            "session/request_permission": self._request_permission,
            "elicitation/create": self._elicit,
            CARRIER_METHOD: self._restore_update,
        }
        self.v1_client = ClientForV1(self, handlers)
        self._accept_timeout = accept_timeout

    def _wrap_approval(self, approve: Approve) -> Approve:
        async def ask(request: ApprovalRequest) -> bool:
            scope = self.get_session(request.session_id).scope
            return await scope.run(lambda: await_result(approve(request))) is True

        return ask

    @property
    def calls_to_client(self) -> Calls:
        """The calls to the v2 client: an object of this process, or the peer of the connection that this serves."""
        return self._client or self.connection

    async def close(self) -> None:
        await self.services.close()
        self.workspace.close()
        await super().close()

    async def end_turns(self) -> None:
        for session in tuple(self.sessions.values()):
            await session.finish()

    def make_session(self, session_id: str) -> Session:
        return Session(session_id, ToV2(lambda: self.services.list_terminals(session_id)))

    async def _initialize(self, body: Json, place: Place) -> Json:
        if body["protocolVersion"] < 2:
            data = {"requested": body["protocolVersion"], "supported": [2]}
            raise RequestError(UNSUPPORTED_VERSION, "this agent speaks version 2", data)
        request = offer_services(self.walker.convert("InitializeRequest", body, place), self.services.capabilities())
        answer = await self.request("initialize", request, place)
        if answer["protocolVersion"] != 1:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer['protocolVersion']}, not 1")
        self.capabilities = as_object(answer.get("agentCapabilities"))
        result: Json = ToV2().convert("InitializeResponse", answer, place)
        return result

    async def _pass(self, body: Json, place: Place) -> Json:
        return await self.pass_on(V1_METHODS.get(place.method, place.method), body, place)

    @asynccontextmanager
    async def open_session(self, body: Json, session_id: str | None = None) -> AsyncGenerator[RootSet | None]:
        """Open a session with the roots of these params, if anything on this machine is served; otherwise yield `None`.

        Raises `RequestError` for roots that cannot be bound or that the policy refuses.
        """
        if self._policy is None:
            yield None
            return
        roots = RootSet.bind(parse_scope(body["cwd"], body.get("additionalDirectories", UNSET)), self._policy)
        async with self.workspace.open_session(roots, session_id):
            yield roots

    async def _open(self, body: Json, place: Place) -> Json:
        async with self.open_session(body) as roots:
            return self._convert_answer(await self._pass(body, place), body, roots, place)

    async def _reopen(self, body: Json, place: Place) -> Json:
        """Resume or load a session. If the agent can only load, its replay is discarded unless the client asked for it."""
        session, replay = self.get_session(body["sessionId"]), as_object(body.pop("replayFrom", None))
        if replay.get("type", "start") != "start":
            raise make_invalid_params("this agent replays only from the start", "/replayFrom")
        is_replayed = bool(replay) or place.method == "session/load"
        async with self.open_session(body, session.id) as roots:
            if not is_replayed and self.offers("resume"):
                answer = await self.pass_on("session/resume", body, place)
            elif self.capabilities.get("loadSession"):
                session.is_muted = not is_replayed
                try:
                    answer = await self.pass_on("session/load", body, place)
                finally:
                    session.is_muted = False
                session.to_v2.pause()
            else:
                raise make_invalid_params("the agent cannot replay a session", "/replayFrom")
            result = self._convert_answer(answer, body, roots, place)
        is_working = session.turn is not None and session.turn.is_reported
        await self.report_state(session, "running" if is_working else "idle")
        return result

    def _convert_answer(self, answer: Json, body: Json, roots: RootSet | None, place: Place) -> Json:
        """Convert the response that opens a session with these roots to v2."""
        session = self.get_session(str(answer.get("sessionId", body.get("sessionId"))))
        if roots is not None:
            self.workspace.establish(session.id, roots)
        session.cwd, session.additional = body["cwd"], list(body.get("additionalDirectories") or ())
        result: Json = session.to_v2.convert("NewSessionResponse", answer, place)
        return result

    async def _list(self, body: Json, place: Place) -> Json:
        """List the sessions; those of this connection if the agent cannot list."""
        if self.offers("list"):
            return await self._pass(body, place)
        filters = {"cwd": body.get("cwd"), "additional": body.get("additionalDirectories", UNSET)}
        require_filter(**filters)
        place.lose("the agent cannot list sessions; these are the sessions of this connection", kind="changed")
        scopes = [
            (session.id, parse_scope(session.cwd, session.additional))
            for session in self.sessions.values()
            if session.cwd
        ]
        infos = [
            {"sessionId": session_id, "cwd": scope.cwd, "additionalDirectories": list(scope.additional)}
            for session_id, scope in scopes
            if matches(scope, **filters)
        ]
        return {"sessions": infos}

    async def _close(self, body: Json, place: Place) -> Json:
        """Close a session; if the agent cannot, cancel its turn, and leave the session in the agent."""
        session, answer = self.sessions.get(body["sessionId"]), dict[str, Any]()
        if self.offers("close"):
            if session is not None:
                session.cancel()
            answer = await self._pass(body, place)
        elif session is None:
            raise RequestError(NOT_FOUND, "there is no such session", {"sessionId": body["sessionId"]})
        else:
            place.lose("the agent cannot close a session; its turn is cancelled, and it stays", kind="changed")
            await self._cancel({"sessionId": session.id}, place)
        await self._end(body["sessionId"], session)
        return answer

    async def _delete(self, body: Json, place: Place) -> Json:
        session = self.sessions.get(body["sessionId"])
        if session is not None and session.work is not None:
            await self._cancel({"sessionId": session.id}, place)
        answer = await self._pass(body, place)
        await self._end(body["sessionId"], session)
        return answer

    async def _end(self, session_id: str, session: Session | None) -> None:
        if session is not None:
            await session.finish()
        self.workspace.forget(session_id)
        await self.services.end(session_id)
        self.sessions.pop(session_id, None)

    async def _set_config_option(self, body: Json, place: Place) -> Json:
        """Set an option, or the mode if the option represents the modes."""
        options = self.get_session(body["sessionId"]).to_v2.options
        if body["configId"] == options.mode_option:
            mode = {**omit(body, "configId", "type", "value"), "modeId": body.get("value")}
            answer = await self.request("session/set_mode", mode, place)
            options.set_mode(str(body.get("value")))
        else:
            setting = omit(body, "type") if body.get("type") == "id" else body
            answer = await self.request("session/set_config_option", setting, place)
            options.replace(answer.get("configOptions") or (), place.descend("configOptions"))
        return {**answer, "configOptions": options.list_options()}

    async def _cancel_terminal(self, body: Json, _: Place) -> Json:
        """Kill the command of a terminal of the services."""
        await self.services.cancel_terminal(body["sessionId"], body["terminalId"])
        return {}

    async def _cancel_tool_call(self, _: Json, __: Place) -> Json:
        """Refuse: a client cannot cancel a single tool call of a v1 agent."""
        raise make_invalid_params("this tool call cannot be cancelled on its own", "/toolCallId")

    async def _prompt(self, body: Json, place: Place) -> Json:
        request = decode(peers1.Agent, v1.PromptRequest, self.walker.convert("PromptRequest", body, place), place)
        session = self.get_session(body["sessionId"])
        await session.queue.wait()
        turn = session.turn = Turn(session.to_v2.make_message_id(), body["prompt"])
        session.to_v2.pause()
        session.work = self.background.start(self._work(session, turn, request, place))
        starting = asyncio.ensure_future(turn.has_started.wait())
        signs = {starting, session.work}
        try:
            await asyncio.wait(signs, timeout=self._accept_timeout, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._cancel({"sessionId": session.id}, place)
            raise
        finally:
            starting.cancel()
            turn.is_answered.set()
        if turn.failure is not None:
            raise turn.failure
        self.background.start(self.report_start(session))
        return {"messageId": turn.message_id}

    async def _cancel_session(self, body: Json, place: Place) -> None:
        session = self.sessions.get(body["sessionId"])
        if session is not None:
            session.queue.cancel()
        await self._cancel(body, place)

    async def _cancel(self, body: Json, place: Place) -> None:
        session = self.sessions.get(body["sessionId"])
        if session is not None:
            session.cancel()
        with suppress(ConnectionClosed):
            await self.notify("session/cancel", body, place)
        if session is not None:
            await self.services.stop(session.id)

    async def _work(self, session: Session, turn: Turn, request: v1.PromptRequest, place: Place) -> None:
        """Run one turn, from the prompt to the v1 response, which becomes the state `idle`."""
        end: Json
        try:
            if session.scope.is_cancelled:  # before it was sent
                raise RequestError(REQUEST_CANCELLED, "the prompt was cancelled")
            # a turn has no limit
            answer = to_builtins(await self.far.request("session/prompt", request, timeout=math.inf))
            for key in answer.keys() & STATE_FIELDS:
                place.descend(key).lose(CONFLICT, answer[key])
            end = omit(answer, *STATE_FIELDS)
        except Exception as exception:  # noqa: BLE001 - whatever kept the prompt from being sent ends it
            error = (
                answer_to(exception)
                if isinstance(exception, Error | DecodeError)
                else RequestError(INTERNAL_ERROR, str(exception))
            )
            if not turn.has_started.is_set() and not turn.is_answered.is_set():
                turn.failure = exception if isinstance(exception, PeerError) else error
            error_end = {"stopReason": "error", "error": error.as_json()}
            end = {"stopReason": "cancelled"} if session.scope.is_cancelled else error_end
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
        """Report once that the message was accepted and that work goes on; updates of the agent come after that."""
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
        """Report the state of a session."""
        session.state = {"state": state, **(end or {})}
        await self.send(session.id, {"sessionUpdate": "state_update", **session.state})

    async def send(self, session_id: str, update: Json, envelope: Json | None = None) -> None:
        """Send an update to the client."""
        place = self.losses.make_place("session/update", session_id=session_id)
        with suppress(ConnectionClosed):  # nobody listens any more
            await self.v1_client.notify(
                "session/update", {**(envelope or {}), "sessionId": session_id, "update": update}, place
            )

    async def serve_locally(self, method: str, params: Any) -> Any:
        """The result of a request of the agent for files and terminals."""
        session = self.sessions.get(params.session_id)
        if session is not None:
            await self.report_start(session)
            if method == "terminal/create" and session.scope.is_cancelled:
                raise make_refusal(params.command, "the turn was cancelled")
        await self.workspace.wait_known(params.session_id)
        return await self.services.answer(method, params)

    async def _update(self, body: Json, place: Place) -> None:
        session = self.get_session(body["sessionId"])
        update = session.to_v2.update(body["update"], place.descend("update"))
        if session.is_muted:
            return
        await self.report_start(session)
        if update is not None:
            await self.send(session.id, update, omit(body, "sessionId", "update"))

    async def _request_permission(self, body: Json, place: Place) -> Json:
        """Ask the client for permission.

        If the turn is cancelled meanwhile, the outcome is `cancelled`, and the client's response is ignored.
        """
        session = self.get_session(body["sessionId"])
        request = session.to_v2.convert("RequestPermissionRequest", body, place)
        async with self._wait_for_user(session):
            answer = await session.scope.run(
                lambda: self.v1_client.request("session/request_permission", request, place)
            )
        cancelled = {"outcome": {"outcome": "cancelled"}}
        response: Json = self.walker.convert("RequestPermissionResponse", answer or cancelled, place)
        return response

    async def _elicit(self, body: Json, place: Place) -> Json:
        """Ask the client for input. If the turn is cancelled meanwhile, the action is `cancel`, and the client's response is ignored."""
        pending_request = self.v1_client.connection.find_request(body.get("requestId"))
        session_id = (
            body.get("sessionId") if pending_request is None else getattr(pending_request.params, "session_id", None)
        )
        session = self.sessions.get(str(session_id))
        async with nullcontext() if session is None else self._wait_for_user(session):
            request = with_id_of_client(body, place, None if self._client is not None else self.v1_client.connection)
            if request.get("mode") == "form":
                schema = as_object(request.get("requestedSchema"))
                request["requestedSchema"] = {"type": "object", "properties": {}, **schema}
            scope = CancelScope() if session is None else session.scope
            answer = await scope.run(lambda: self.v1_client.request("elicitation/create", request, place))
            return answer or {"action": "cancel"}

    @asynccontextmanager
    async def _wait_for_user(self, session: Session) -> AsyncGenerator[None]:
        """Report that the turn waits for the user while any such block runs."""
        await self.report_start(session)
        if session.turn is not None and not session.scope.is_cancelled:
            await self.report_state(session, "requires_action")
        try:
            yield
        finally:
            if session.turn is not None and not session.scope.is_waiting and not session.scope.is_cancelled:
                await self.report_state(session, "running")

    async def _restore_update(self, body: Any, place: Place) -> None:
        """Restore the v2 update that another codec has carried through v1."""
        notification = to_builtins(decode(peers2.Client, v2.UpdateSessionNotification, as_object(body), place))
        session, update = self.get_session(notification["sessionId"]), notification["update"]
        if session.is_muted:
            return
        if not is_carried(update):
            place.descend("update").lose("only what v1 has no form for is carried", update)
            return
        await self.report_start(session)
        if update["sessionUpdate"] == "state_update" and update["state"] in TURN_STATES:
            # the turn of v1 says the state; the background is carried
            update = {**omit(update, "stopReason", "error"), **session.state}
        await self.send(session.id, update, omit(notification, "sessionId", "update"))


class ClientForV1(ClientRelay, peers1.Client):
    """The client that a v1 agent sees; its files and terminals are those of the services."""

    far_side = peers2.Client
    _codec: AgentAsV2

    async def answer(self, method: str, params: Any) -> Any:
        """The result of a request: the services answer those for files and terminals, the client all others."""
        if method in SERVICE_METHODS:
            return await self._codec.serve_locally(method, params)
        return await super().answer(method, params)
