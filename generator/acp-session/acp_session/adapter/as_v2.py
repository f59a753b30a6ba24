"""An agent of v1 as one of v2.

    async with as_v2(link_to_the_agent) as agent, peers.join(agent, client) as (calls, _):
        await calls.initialize(v2.InitializeRequest(protocol_version=2, info=me))

In v1 the answer to `session/prompt` is the end of the turn; in v2 it says that the prompt was accepted, and the end is an update. The
agent of v1 does not say that it accepts: its first sign of life in the turn counts as that, or `patience` seconds without an error. Prompts
wait for the end of the turn before them. Files and terminals of the client, which v2 does not have, are not offered to the agent.

Sources: the pages of both versions on initialization, session setup, prompts, cancellation, tool calls; the migration page.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Unpack, cast

from acp_bindings import ConnectionEnded, Refused, v1, v2
from acp_bindings.runtime.peers import Options, Transport
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.diffs import as_object
from acp_session.errors import INVALID_PARAMS, UNSUPPORTED_VERSION, invalid_params

from . import handshakes
from .downward import CARRIED
from .forwarding import Background, as_json, follow, forwarded, into_v1, into_v2
from .losses import Losses, Place, Told
from .parts import Json, blocks_to_v1, server_to_v1, without
from .questions import elicitation_to_v2, outcome_to_v1, permission_to_v2
from .upward import Upward

PATIENCE: Final = 0.5


@dataclass(slots=True, eq=False)
class _Turn:
    """A prompt that the agent works on. `begun`: it gave a sign of life. `answered`: the client was told that the prompt is accepted."""

    message_id: str
    content: list[Any]
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_told: bool = False
    is_cancelled: bool = False
    failure: Refused | None = None


@dataclass(slots=True, eq=False)
class _Session:
    id: str
    upward: Upward
    cwd: str = ""
    additional: list[str] = field(default_factory=list[str])
    free: asyncio.Lock = field(default_factory=asyncio.Lock)
    turn: _Turn | None = None
    work: asyncio.Task[Any] | None = None
    waiting: set[asyncio.Task[Any]] = field(default_factory=set[Any])
    asking: set[asyncio.Future[Any]] = field(default_factory=set[Any])
    is_muted: bool = False


@asynccontextmanager
async def as_v2(
    link: Transport,
    *,
    lost: Told = lambda loss: None,
    patience: float = PATIENCE,
    **options: Unpack[Options],
) -> AsyncGenerator[AgentAsV2]:
    """The agent of v1 at the far end of a transport, as an agent of v2 to be connected to a client.

    `lost` hears of each loss; `options` are those of the connection to the agent. When the agent ends, turns end as failed, and the
    connection to the client is closed.
    """
    found = AgentAsV2(lost=lost, patience=patience)
    try:
        async with peers1.connect_agent(found.back, link, **options) as agent:
            found.begin(agent)
            yield found
    finally:
        await found.close()


class AgentAsV2(peers2.Agent):
    """An agent of v2 that has one of v1 do its work. `losses` counts what could not be carried over; made by `as_v2`."""

    def __init__(self, *, lost: Told, patience: float) -> None:
        self.losses = Losses(lost)
        self.back = _Back(self)
        self.sessions: dict[str, _Session] = {}
        self._patience = patience
        self._can = v1.AgentCapabilities()
        self._agent: peers1.RemoteAgent | None = None
        self._background = Background()

    def begin(self, agent: peers1.RemoteAgent) -> None:
        """Work by this agent."""
        self._agent = agent
        self._background.start(follow(agent.connection, self._gone))

    async def close(self) -> None:
        """End what runs beside."""
        await self._background.close()

    async def _gone(self) -> None:
        work = [session.work for session in self.sessions.values() if session.work is not None]
        if work:
            await asyncio.wait(work)
        if self._connection is not None:
            await self._connection.close()

    @property
    def agent(self) -> peers1.RemoteAgent:
        """The calls to the agent of v1."""
        assert self._agent is not None
        return self._agent

    def session(self, session_id: str) -> _Session:
        """What is known of a session; one that is new begins."""
        found = self.sessions.get(session_id)
        if found is None:
            found = self.sessions[session_id] = _Session(session_id, Upward({}))
        return found

    # --- the beginning

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        """See the generated class."""
        if params.protocol_version < 2:
            data = {"requested": params.protocol_version, "supported": [2]}
            raise Refused(UNSUPPORTED_VERSION, "this agent speaks version 2", data)
        place = self.losses.place("initialize")
        body = handshakes.request_to_v1(as_json(params), place, {})
        answer = await forwarded(self.agent.initialize(into_v1(v1.InitializeRequest, body, place)))
        if answer.protocol_version != 1:
            raise Refused(UNSUPPORTED_VERSION, f"the agent speaks version {answer.protocol_version}, not 1")
        self._can = answer.agent_capabilities
        return into_v2(v2.InitializeResponse, handshakes.answer_to_v2(as_json(answer), place), place)

    async def auth_login(self, params: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
        """See the generated class."""
        place = self.losses.place("auth/login")
        answer = await forwarded(self.agent.authenticate(into_v1(v1.AuthenticateRequest, as_json(params), place)))
        return into_v2(v2.LoginAuthResponse, as_json(answer), place)

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:
        """See the generated class."""
        place = self.losses.place("auth/logout")
        answer = await forwarded(self.agent.logout(into_v1(v1.LogoutRequest, as_json(params), place)))
        return into_v2(v2.LogoutAuthResponse, as_json(answer), place)

    # --- the life of a session

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/new")
        request = into_v1(v1.NewSessionRequest, self._setup(as_json(params)), place)
        answer = as_json(await forwarded(self.agent.session_new(request)))
        self._opened(str(answer["sessionId"]), params, answer, place)
        return into_v2(v2.NewSessionResponse, self._set_up(str(answer["sessionId"]), answer), place)

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/fork")
        request = into_v1(v1.ForkSessionRequest, self._setup(as_json(params)), place)
        answer = as_json(await forwarded(self.agent.session_fork(request)))
        self._opened(str(answer["sessionId"]), params, answer, place)
        return into_v2(v2.ForkSessionResponse, self._set_up(str(answer["sessionId"]), answer), place)

    async def session_load(self, params: v2.LoadSessionRequest, /) -> v2.LoadSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/load")
        answer = await self._load(as_json(params), place)
        self._opened(params.session_id, params, answer, place)
        await self._current(self.session(params.session_id))
        return into_v2(v2.LoadSessionResponse, self._set_up(params.session_id, answer), place)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        """See the generated class. An agent that can only load does so, and what it tells again is not passed on."""
        place = self.losses.place("session/resume")
        body = as_json(params)
        replay = as_object(body.pop("replayFrom", None))
        session = self.session(params.session_id)
        if replay.get("type", "start") != "start":
            raise invalid_params("this agent plays back from the start alone", pointer="/replayFrom")
        if replay:
            answer = await self._load(body, place)
        elif self._can.session_capabilities.resume is not None:
            request = into_v1(v1.ResumeSessionRequest, self._setup(body), place)
            answer = as_json(await forwarded(self.agent.session_resume(request)))
        else:
            session.is_muted = True
            try:
                answer = await self._load(body, place)
            finally:
                session.is_muted = False
        self._opened(params.session_id, params, answer, place)
        await self._current(session)
        return into_v2(v2.ResumeSessionResponse, self._set_up(params.session_id, answer), place)

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """See the generated class. For an agent that has no list, the sessions of this connection."""
        place = self.losses.place("session/list")
        if self._can.session_capabilities.list_ is None:
            place.lose("the agent has no list; these are the sessions of this connection", kind="changed")
            named = {params.cwd, None}
            found = [one for one in self.sessions.values() if one.cwd and one.cwd in (named - {None} or {one.cwd})]
            infos = [
                {"sessionId": one.id, "cwd": one.cwd, "additionalDirectories": list(one.additional)} for one in found
            ]
            return into_v2(v2.ListSessionsResponse, {"sessions": infos}, place)
        request = into_v1(v1.ListSessionsRequest, as_json(params), place)
        return into_v2(v2.ListSessionsResponse, as_json(await forwarded(self.agent.session_list(request))), place)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """See the generated class. For an agent that cannot close, the turn is cancelled and the session is left."""
        place = self.losses.place("session/close")
        session = self.sessions.get(params.session_id)
        if self._can.session_capabilities.close is not None:
            if session is not None:
                self._stop(session)
            request = into_v1(v1.CloseSessionRequest, as_json(params), place)
            answer = as_json(await forwarded(self.agent.session_close(request)))
        elif session is None:
            raise Refused(-32002, "there is no such session", {"sessionId": params.session_id})
        else:
            place.lose("the agent cannot close a session; its turn is cancelled, and it stays", kind="changed")
            await self._cancel(session, {"sessionId": session.id})
            answer = {}
        if session is not None and session.work is not None:
            await asyncio.wait([session.work])
        self.sessions.pop(params.session_id, None)
        return into_v2(v2.CloseSessionResponse, answer, place)

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/delete")
        request = into_v1(v1.DeleteSessionRequest, as_json(params), place)
        answer = as_json(await forwarded(self.agent.session_delete(request)))
        self.sessions.pop(params.session_id, None)
        return into_v2(v2.DeleteSessionResponse, answer, place)

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        """See the generated class. The option that stands for modes sets the mode."""
        place = self.losses.place("session/set_config_option")
        body = as_json(params)
        options = self.session(str(body["sessionId"])).upward.options
        if body["configId"] == options.mode_option:
            mode = {**without(body, "configId", "type", "value"), "modeId": body.get("value")}
            answer = as_json(
                await forwarded(self.agent.session_set_mode(into_v1(v1.SetSessionModeRequest, mode, place)))
            )
            options.set_mode(str(body.get("value")))
        else:
            asked = without(body, "type") if body.get("type") == "id" else body
            request: Any = into_v1(cast("Any", v1.SetSessionConfigOptionRequest), asked, place)
            answer = as_json(await forwarded(self.agent.session_set_config_option(request)))
            options.replace(answer.get("configOptions") or (), place.at("configOptions"))
        return into_v2(v2.SetSessionConfigOptionResponse, {**answer, "configOptions": options.all()}, place)

    def _setup(self, body: Json) -> Json:
        return {**body, "mcpServers": [server_to_v1(one) for one in body.get("mcpServers") or ()]}

    def _set_up(self, session_id: str, answer: Json) -> Json:
        options = self.session(session_id).upward.options.all()
        given = {"configOptions": options} if options or answer.get("configOptions") is not None else {}
        return {**without(answer, "modes", "configOptions", "availableCommands"), **given}

    def _opened(self, session_id: str, params: Any, answer: Json, place: Place) -> None:
        session = self.session(session_id)
        session.cwd = params.cwd
        session.additional = list(as_json(params).get("additionalDirectories") or ())
        session.upward.options.begin(answer, place)
        if "availableCommands" in answer:
            place.at("availableCommands").lose("v1 does not define this field, and in v2 it would mean something")

    async def _load(self, body: Json, place: Place) -> Json:
        if not self._can.load_session:
            raise Refused(INVALID_PARAMS, "the agent cannot play back a session", {"pointer": "/replayFrom"})
        request = into_v1(v1.LoadSessionRequest, self._setup(body), place)
        answer = as_json(await forwarded(self.agent.session_load(request)))
        self.session(request.session_id).upward.pause()
        return answer

    # --- turns

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        """See the generated class."""
        place = self.losses.place("session/prompt")
        body = as_json(params)
        request = into_v1(v1.PromptRequest, {**body, "prompt": blocks_to_v1(body["prompt"], place.at("prompt"))}, place)
        session = self.session(params.session_id)
        current = asyncio.current_task()
        assert current is not None
        session.waiting.add(current)
        try:
            await session.free.acquire()
        finally:
            session.waiting.discard(current)
        turn = session.turn = _Turn(session.upward.message_id(), body["prompt"])
        session.upward.pause()
        session.work = self._background.start(self._work(session, turn, request))
        begun = asyncio.ensure_future(turn.begun.wait())
        try:
            await asyncio.wait({begun, session.work}, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._cancel(session, {"sessionId": session.id})
            raise
        finally:
            begun.cancel()
            turn.answered.set()
        if turn.failure is not None:
            raise turn.failure
        self._background.start(self._accepted(session))
        return v2.PromptResponse(message_id=turn.message_id)

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        """See the generated class."""
        session = self.sessions.get(params.session_id)
        if session is not None:
            for task in tuple(session.waiting):
                task.cancel()
        await self._cancel(session, as_json(params))

    async def terminal_cancel(self, _: v2.CancelTerminalRequest, /) -> v2.CancelTerminalResponse:
        """See the generated class. No terminal of an agent of v1 is one that the client may stop."""
        raise invalid_params("this terminal cannot be stopped", pointer="/terminalId")

    async def tool_call_cancel(self, _: v2.CancelToolCallRequest, /) -> v2.CancelToolCallResponse:
        """See the generated class. No tool call of an agent of v1 is one that the client may stop."""
        raise invalid_params("this tool call cannot be stopped alone", pointer="/toolCallId")

    async def extension_request(self, method: str, params: Any) -> Any:
        """Pass on a request that both versions leave to the peers."""
        return await forwarded(self.agent.extension_request(method, params))

    async def extension_notification(self, method: str, params: Any) -> None:
        """Pass on a notification that both versions leave to the peers."""
        await self.agent.extension_notification(method, params)

    async def _work(self, session: _Session, turn: _Turn, request: v1.PromptRequest) -> None:
        """One turn: from the prompt to the answer of v1, which becomes the state `idle`."""
        end: Json
        try:
            answer = as_json(await forwarded(self.agent.session_prompt(request)))
            end = {**without(answer, "stopReason"), "stopReason": answer["stopReason"]}
        except Refused as error:
            if not turn.begun.is_set() and not turn.answered.is_set():
                turn.failure = error
            cause = {"code": error.code, "message": error.message}
            cause |= {} if error.data is None else {"data": error.data}
            end = {"stopReason": "cancelled"} if turn.is_cancelled else {"stopReason": "error", "error": cause}
        try:
            if turn.failure is None:
                await self._accepted(session)
                await self._idle(session, end)
        finally:
            session.turn = session.work = None
            session.upward.pause()
            session.free.release()

    async def _accepted(self, session: _Session) -> None:
        """Tell the client once that its message has its place, and that work goes on; what the agent sends comes after that."""
        turn = session.turn
        if turn is None:
            return
        turn.begun.set()
        await turn.answered.wait()
        if turn.is_told or turn.failure is not None:
            return
        turn.is_told = True
        message = {"sessionUpdate": "user_message", "messageId": turn.message_id, "content": turn.content}
        await self.send(session, message)
        await self.state(session, "running")

    async def _current(self, session: _Session) -> None:
        """The state of a session that is taken up."""
        await self.state(session, "idle" if session.turn is None else "running")

    async def _idle(self, session: _Session, end: Json) -> None:
        await self.send(session, {"sessionUpdate": "state_update", "state": "idle", **end})

    async def state(self, session: _Session, state: str) -> None:
        """Tell in which state the session is."""
        await self.send(session, {"sessionUpdate": "state_update", "state": state})

    async def send(self, session: _Session, update: Json, more: Json | None = None) -> None:
        """Send an update to the client."""
        place = self.losses.place("session/update")
        body = {**(more or {}), "sessionId": session.id, "update": update}
        notification = into_v2(v2.UpdateSessionNotification, body, place)
        with suppress(ConnectionEnded):  # nobody listens any more
            await self.client.session_update(notification)

    def _stop(self, session: _Session) -> None:
        if session.turn is not None:
            session.turn.is_cancelled = True
        for asked in tuple(session.asking):
            asked.cancel()

    async def _cancel(self, session: _Session | None, body: Json) -> None:
        if session is not None:
            self._stop(session)
        place = self.losses.place("session/cancel")
        with suppress(ConnectionEnded):
            await self.agent.session_cancel(into_v1(v1.CancelNotification, body, place))

    # --- what the agent sends

    async def updated(self, params: v1.SessionNotification) -> None:
        """Pass on an update of the agent."""
        session = self.session(params.session_id)
        body = as_json(params)
        place = self.losses.place("session/update", "update")
        found = session.upward.update(body["update"], place)
        if session.is_muted:
            return
        await self._accepted(session)
        for one in found:
            try:
                await self.send(session, one, without(body, "sessionId", "update"))
            except Refused:
                continue  # told as a loss

    async def asked(self, params: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        """Ask the client for permission. Where the turn is cancelled meanwhile, that is the answer, and the client is asked no more."""
        session = self.session(params.session_id)
        place = self.losses.place("session/request_permission")
        request = permission_to_v2(params, session.upward, place)
        await self._accepted(session)
        cancelled = v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())
        if session.turn is not None and session.turn.is_cancelled:
            return cancelled
        if session.turn is not None:
            await self.state(session, "requires_action")
        answering = asyncio.ensure_future(forwarded(self.client.session_request_permission(request)))
        session.asking.add(answering)
        try:
            await asyncio.wait([answering])
        except asyncio.CancelledError:
            answering.cancel()
            raise
        finally:
            session.asking.discard(answering)
            if session.turn is not None and not session.asking and not session.turn.is_cancelled:
                await self.state(session, "running")
        if answering.cancelled():
            return cancelled
        return outcome_to_v1(answering.result(), place)

    async def elicited(self, params: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
        """Ask the user for input."""
        place = self.losses.place("elicitation/create")
        answer: Any = await forwarded(self.client.elicitation_create(elicitation_to_v2(params, place)))
        return into_v1(v1.CreateElicitationResponse, as_json(answer), place)  # type: ignore[arg-type]

    async def carried(self, params: Any) -> None:
        """Send an update of v2 that another adapter has carried through v1."""
        place = self.losses.place(CARRIED)
        notification = into_v2(v2.UpdateSessionNotification, as_object(params), place)
        await self._accepted(self.session(notification.session_id))
        with suppress(ConnectionEnded):
            await self.client.session_update(notification)


class _Back(peers1.Client):
    """What the agent of v1 sees: a client without files and terminals."""

    def __init__(self, front: AgentAsV2) -> None:
        self._front = front

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        await self._front.updated(params)

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        return await self._front.asked(params)

    async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        return await self._front.elicited(params)

    async def elicitation_complete(self, params: v1.CompleteElicitationNotification, /) -> None:
        place = self._front.losses.place("elicitation/complete")
        await self._front.client.elicitation_complete(
            into_v2(v2.CompleteElicitationNotification, as_json(params), place)
        )

    async def extension_request(self, method: str, params: Any) -> Any:
        return await forwarded(self._front.client.extension_request(method, params))

    async def extension_notification(self, method: str, params: Any) -> None:
        if method == CARRIED:
            await self._front.carried(params)
        else:
            await self._front.client.extension_notification(method, params)
