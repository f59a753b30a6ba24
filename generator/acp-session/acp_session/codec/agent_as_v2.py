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
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final

from acp_bindings import UNSET, ConnectionClosed, RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.background import CancelScope
from acp_session.diffs import as_object
from acp_session.prompts import TurnQueue
from acp_session.services import SERVICE_METHODS, Local, LocalServices
from acp_workspace.approval import ApprovalRequest, Approve
from acp_workspace.errors import INTERNAL_ERROR, NOT_FOUND, UNSUPPORTED_VERSION, invalid_params, refusal
from acp_workspace.hooks import maybe_await
from acp_workspace.scope import matches, parse_scope
from acp_workspace.workspace import ClientWorkspace, RootSet
from jsonrpc_bindings.peers import Side

from .losses import OnLoss, Place
from .relay import AgentRelay, Calls, ClientRelay, Handler, LocalCalls, decode, relay_errors, with_id_of_client
from .tables import METHODS
from .to_v1 import CARRIER_METHOD, TURN_STATES, ToV1, is_carried, offer_services
from .to_v2 import ToV2
from .walker import Json, omit

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
        super().__init__(on_loss, ToV1(has_switches=True, has_notices=True, has_compaction=True))
        offered = local or Local(files=None, terminals=None)
        self._policy = None if offered.files is None and offered.terminals is None else offered.root_policy
        self.workspace = ClientWorkspace()
        approve = None if offered.approve is None else self._approval(offered.approve)
        self.services = services or LocalServices(replace(offered, approve=approve), self.send, self.workspace)
        self._client = None if client is None else LocalCalls(client)
        self._accept_timeout = accept_timeout

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
    def calls_to_client(self) -> Calls:
        """The calls to the client of v2: an object, or the peer at the far end of the connection that this serves."""
        return self._client or self.connection

    async def close(self) -> None:
        await self.services.close()
        self.workspace.close()
        await super().close()

    async def end_turns(self) -> None:
        for session in tuple(self.sessions.values()):
            await session.finish()

    def new_session(self, session_id: str) -> Session:
        return Session(session_id, ToV2(lambda: self.services.terminals(session_id)))

    async def _initialize(self, body: Json, place: Place) -> Json:
        if body["protocolVersion"] < 2:
            data = {"requested": body["protocolVersion"], "supported": [2]}
            raise RequestError(UNSUPPORTED_VERSION, "this agent speaks version 2", data)
        request = offer_services(self.walker.convert("InitializeRequest", body, place), self.services.capabilities())
        answer = await self.request("initialize", request, place)
        if answer["protocolVersion"] != 1:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer['protocolVersion']}, not 1")
        self.capabilities = as_object(answer.get("agentCapabilities"))
        found: Json = ToV2().convert("InitializeResponse", answer, place)
        return found

    async def _pass(self, body: Json, place: Place) -> Json:
        return await self.pass_on(V1_METHODS.get(place.method, place.method), body, place)

    @asynccontextmanager
    async def open_session(self, body: Json, session_id: str | None = None) -> AsyncGenerator[RootSet | None]:
        """Open a session with the roots of these params, if something of this machine is served. Raises `RequestError` for roots that
        cannot be bound or that the policy refuses.
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
        """An agent that can only load does so, and what it replays is not passed on."""
        session, replay = self.session(body["sessionId"]), as_object(body.pop("replayFrom", None))
        if replay.get("type", "start") != "start":
            raise invalid_params("this agent replays only from the start", "/replayFrom")
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
                raise invalid_params("the agent cannot replay a session", "/replayFrom")
            found = self._convert_answer(answer, body, roots, place)
        await self.report_state(session, "idle" if session.turn is None else "running")
        return found

    def _convert_answer(self, answer: Json, body: Json, roots: RootSet | None, place: Place) -> Json:
        """The answer that opens a session with these roots, in the terms of v2."""
        session = self.session(str(answer.get("sessionId", body.get("sessionId"))))
        if roots is not None:
            self.workspace.establish(session.id, roots)
        session.cwd, session.additional = body["cwd"], list(body.get("additionalDirectories") or ())
        found: Json = session.to_v2.convert("NewSessionResponse", answer, place)
        return found

    async def _list(self, body: Json, place: Place) -> Json:
        """For an agent that has no list, the sessions of this connection."""
        if self.offers("list"):
            return await self._pass(body, place)
        place.lose("the agent cannot list sessions; these are the sessions of this connection", kind="changed")
        scopes = [(one.id, parse_scope(one.cwd, one.additional)) for one in self.sessions.values() if one.cwd]
        infos = [
            {"sessionId": session_id, "cwd": scope.cwd, "additionalDirectories": list(scope.additional)}
            for session_id, scope in scopes
            if matches(scope, cwd=body.get("cwd"), additional=body.get("additionalDirectories", UNSET))
        ]
        return {"sessions": infos}

    async def _close(self, body: Json, place: Place) -> Json:
        """For an agent that cannot close, the turn is cancelled and the session is left."""
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
        """The option that stands for modes sets the mode."""
        options = self.session(body["sessionId"]).to_v2.options
        if body["configId"] == options.mode_option:
            mode = {**omit(body, "configId", "type", "value"), "modeId": body.get("value")}
            answer = await self.request("session/set_mode", mode, place)
            options.set_mode(str(body.get("value")))
        else:
            setting = omit(body, "type") if body.get("type") == "id" else body
            answer = await self.request("session/set_config_option", setting, place)
            options.replace(answer.get("configOptions") or (), place.at("configOptions"))
        return {**answer, "configOptions": options.all()}

    async def _cancel_terminal(self, body: Json, _: Place) -> Json:
        """Terminals of the services can be stopped."""
        await self.services.cancel_terminal(body["sessionId"], body["terminalId"])
        return {}

    async def _cancel_tool_call(self, _: Json, __: Place) -> Json:
        """No tool call of an agent of v1 is one that the client may stop."""
        raise invalid_params("this tool call cannot be cancelled on its own", "/toolCallId")

    async def _prompt(self, body: Json, place: Place) -> Json:
        request = decode(peers1.Agent, v1.PromptRequest, self.walker.convert("PromptRequest", body, place), place)
        session = self.session(body["sessionId"])
        await session.queue.wait()
        turn = session.turn = Turn(session.to_v2.message_id(), body["prompt"])
        session.to_v2.pause()
        session.work = self.background.start(self._work(session, turn, request))
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

    async def _work(self, session: Session, turn: Turn, request: v1.PromptRequest) -> None:
        """One turn: from the prompt to the answer of v1, which becomes the state `idle`."""
        end: Json
        try:
            asking = self.far.request("session/prompt", request, timeout=math.inf)  # a turn has no limit
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
        with suppress(ConnectionClosed):  # nobody listens any more
            await self.v1_client.notify(
                "session/update", {**(more or {}), "sessionId": session_id, "update": update}, place
            )

    handlers: ClassVar[Mapping[str, Handler]] = {
        "initialize": _initialize,
        **dict.fromkeys(("auth/login", "auth/logout"), _pass),
        **dict.fromkeys(("session/new", "session/fork"), _open),
        **dict.fromkeys(("session/load", "session/resume"), _reopen),
        "session/list": _list,
        "session/close": _close,
        "session/delete": _delete,
        "session/set_config_option": _set_config_option,
        "session/prompt": _prompt,
        "session/cancel": _cancel_session,
        "terminal/cancel": _cancel_terminal,
        "tool_call/cancel": _cancel_tool_call,
    }


class ClientForV1(ClientRelay, peers1.Client):
    """What the agent of v1 sees: its client, whose files and terminals are services."""

    far_side = peers2.Client
    codec: AgentAsV2

    async def answer(self, method: str, params: Any) -> Any:
        """The result of a request: files and terminals are for the services, the rest for the client."""
        if method not in SERVICE_METHODS:
            return await super().answer(method, params)
        session = self.codec.sessions.get(params.session_id)
        if session is not None:
            await self.codec.report_start(session)
            if method == "terminal/create" and session.scope.is_cancelled:
                raise refusal(params.command, "the turn was cancelled")
        await self.codec.workspace.wait_known(params.session_id)
        return await self.codec.services.answer(method, params)

    async def _update(self, body: Json, place: Place) -> None:
        session = self.codec.session(body["sessionId"])
        found = session.to_v2.update(body["update"], place.at("update"))
        if session.is_muted:
            return
        await self.codec.report_start(session)
        for one in found:
            with suppress(RequestError):  # reported as a loss
                await self.codec.send(session.id, one, omit(body, "sessionId", "update"))

    async def _request_permission(self, body: Json, place: Place) -> Json:
        """Where the turn is cancelled meanwhile, that is the answer, and the client is asked no more."""
        session = self.codec.session(body["sessionId"])
        request = session.to_v2.convert("RequestPermissionRequest", body, place)
        await self.codec.report_start(session)
        if session.turn is not None and not session.scope.is_cancelled:
            await self.codec.report_state(session, "requires_action")
        try:
            answer = await session.scope.run(lambda: self.request("session/request_permission", request, place))
        finally:
            if session.turn is not None and not session.scope.is_waiting and not session.scope.is_cancelled:
                await self.codec.report_state(session, "running")
        cancelled = {"outcome": {"outcome": "cancelled"}}
        found: Json = self.codec.walker.convert("RequestPermissionResponse", answer or cancelled, place)
        return found

    async def _elicit(self, body: Json, place: Place) -> Json:
        """Where the turn is cancelled meanwhile, the client is asked no more."""
        sent = self.connection.sent(body.get("requestId"))
        session_id = body.get("sessionId") if sent is None else getattr(sent.params, "session_id", None)
        session = self.codec.sessions.get(str(session_id))
        if session is not None:
            await self.codec.report_start(session)
        request = with_id_of_client(body, place, None if self.codec.is_local else self.connection)
        if request.get("mode") == "form":
            request["requestedSchema"] = {
                "type": "object",
                "properties": {},
                **as_object(request.get("requestedSchema")),
            }
        scope = CancelScope() if session is None else session.scope
        return await scope.run(lambda: self.request("elicitation/create", request, place)) or {"action": "cancel"}

    async def _carried(self, body: Any, place: Place) -> None:
        """What another codec has carried through v1 is the update of v2 again."""
        found = to_builtins(decode(peers2.Client, v2.UpdateSessionNotification, as_object(body), place))
        session, update = self.codec.session(found["sessionId"]), found["update"]
        if session.is_muted:
            return
        if not is_carried(update):
            place.at("update").lose("only what v1 has no form for is carried", update)
            return
        await self.codec.report_start(session)
        if update.get("state") in TURN_STATES:  # the turn of v1 says the state; the background is carried
            update = {**omit(update, "stopReason", "error"), **session.state}
        await self.codec.send(session.id, update, omit(found, "sessionId", "update"))

    handlers: ClassVar[Mapping[str, Handler]] = {
        "session/update": _update,
        "session/request_permission": _request_permission,
        "elicitation/create": _elicit,
        "elicitation/complete": ClientRelay.complete,
        CARRIER_METHOD: _carried,
    }
