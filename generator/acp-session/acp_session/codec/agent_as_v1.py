"""An agent of v2 as one of v1.

    async with as_v1(link_to_the_agent) as agent, peers.join(agent, client) as (calls, _):
        await calls.initialize(v1.InitializeRequest(protocol_version=1))

In v2 the answer to `session/prompt` says that the prompt was accepted; the answer of v1 waits for the state `idle` that ends the work. An
agent of v2 uses neither files nor terminals of the client; what its own terminals show goes on as text. Work that no prompt began
shows by its updates alone.

Sources: the pages of both versions on initialization, session setup, prompts, cancellation, tool calls; the migration page.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

from acp_bindings import ConnectionClosed, PeerError, RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.background import Background
from acp_session.diffs import as_object
from acp_session.endings import Turns
from acp_session.services import ClientServices
from acp_workspace.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, invalid_params
from jsonrpc_bindings.connection import Connection
from jsonrpc_bindings.errors import REQUEST_CANCELLED

from . import handshakes
from .downward import CARRIED, Downward
from .forwarding import forwarded, into_v1, into_v2, with_supported_roots
from .interfaces import AgentInterface
from .losses import Losses, OnLoss, Place
from .parts import ON, Json, blocks_to_v2, server_to_v2, without
from .questions import elicitation_to_v1, permission_to_v1
from .v2_client import ClientForV2

REASONS: Final = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})
BUSY: Final = frozenset({"running", "requires_action"})


@dataclass(slots=True, eq=False)
class _Session:
    id: str
    downward: Downward
    turns: Turns[Json] = field(default_factory=Turns[Json])
    prompts: list[list[Any]] = field(default_factory=list[Any])


class AgentAsV1(peers1.Agent):
    """An agent of v1 that has one of v2 do its work: serve a connection to a client of v1 with this.

    `agent` is the agent of v2: an object of this process, or the calls to a peer, for which `v2_client` serves the connection;
    set it before anything is asked. It calls `v2_client`, and uses the client's files and terminals by `client_services`. `losses` counts
    what could not be carried over; `on_loss` is told of each.
    """

    agent: AgentInterface

    def __init__(self, agent: AgentInterface | None = None, *, on_loss: OnLoss = lambda loss: None) -> None:
        if agent is not None:
            self.agent = agent
        self.losses = Losses(on_loss)
        self.v2_client = ClientForV2(self)
        self.client_services = ClientServices(lambda: self.client, lambda: self.client_capabilities)
        self.sessions: dict[str, _Session] = {}
        self.client_capabilities = v1.ClientCapabilities()
        self._can = v1.AgentCapabilities()
        self._background = Background()

    async def close(self) -> None:
        """End what runs beside."""
        await self._background.close()

    async def follow_agent(self, connection: Connection) -> None:
        """Wait until the agent at the far end of this connection has gone: turns end with an error, and the connection to the client is
        closed.
        """
        await connection.ended()
        error = RequestError(INTERNAL_ERROR, "the agent behind the adapter has ended")
        for session in self.sessions.values():
            session.turns.fail(error)
        await asyncio.sleep(0)
        if self._connection is not None:
            await self._connection.close()

    async def serve(self, method: str, params: Any) -> Any:
        """See `Side`: errors of the agent are passed on as they are."""
        return await forwarded(super().serve(method, params))

    @property
    def agent_connection(self) -> Connection | None:
        """The connection to the agent, where it is not an object of this process."""
        return self.agent.connection if isinstance(self.agent, peers2.RemoteAgent) else None

    def session(self, session_id: str) -> _Session:
        """What is known of a session; one that is new begins."""
        found = self.sessions.get(session_id)
        if found is None:
            takes = self.client_capabilities.session
            options = None if takes is None else takes.config_options
            downward = Downward(
                terminals=lambda: self.client_services.terminals(session_id),
                has_switches=options is not None and options.boolean is not None,
                has_notices=takes is not None and takes.notices is not None,
                has_compaction=takes is not None and takes.compaction is not None,
            )
            found = self.sessions[session_id] = _Session(session_id, downward)
        return found

    # --- the beginning

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        """See the generated class."""
        place = self.losses.place("initialize")
        self.client_capabilities = params.client_capabilities
        request = into_v2(v2.InitializeRequest, handshakes.request_to_v2(to_builtins(params), place), place)
        answer = await self.agent.initialize(request)
        if answer.protocol_version != 2:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer.protocol_version}, not 2")
        told = into_v1(v1.InitializeResponse, handshakes.answer_to_v1(to_builtins(answer), place), place)
        self._can = told.agent_capabilities
        return told

    async def authenticate(self, params: v1.AuthenticateRequest, /) -> v1.AuthenticateResponse:
        """See the generated class."""
        place = self.losses.place("authenticate")
        answer = await self.agent.auth_login(into_v2(v2.LoginAuthRequest, to_builtins(params), place))
        return into_v1(v1.AuthenticateResponse, to_builtins(answer), place)

    async def logout(self, params: v1.LogoutRequest, /) -> v1.LogoutResponse:
        """See the generated class."""
        place = self.losses.place("logout")
        answer = await self.agent.auth_logout(into_v2(v2.LogoutAuthRequest, to_builtins(params), place))
        return into_v1(v1.LogoutResponse, to_builtins(answer), place)

    # --- the life of a session

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/new")
        request = into_v2(v2.NewSessionRequest, self._setup(to_builtins(params), place), place)
        answer = to_builtins(await self.agent.session_new(request))
        made = into_v1(v1.NewSessionResponse, self._set_up(str(answer["sessionId"]), answer, place), place)
        self._background.start(self._announced(made.session_id, answer))
        return made

    async def session_fork(self, params: v1.ForkSessionRequest, /) -> v1.ForkSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/fork")
        request = into_v2(v2.ForkSessionRequest, self._setup(to_builtins(params), place), place)
        answer = to_builtins(await self.agent.session_fork(request))
        made = into_v1(v1.ForkSessionResponse, self._set_up(str(answer["sessionId"]), answer, place), place)
        self._background.start(self._announced(made.session_id, answer))
        return made

    async def session_load(self, params: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
        """See the generated class: `session/resume` that plays back from the start."""
        place = self.losses.place("session/load")
        self.sessions.pop(params.session_id, None)
        body = {**self._setup(to_builtins(params), place), "replayFrom": {"type": "start"}}
        answer = to_builtins(await self.agent.session_resume(into_v2(v2.ResumeSessionRequest, body, place)))
        return into_v1(v1.LoadSessionResponse, self._set_up(params.session_id, answer, place), place)

    async def session_resume(self, params: v1.ResumeSessionRequest, /) -> v1.ResumeSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/resume")
        body = self._setup(to_builtins(params), place)
        if "replayFrom" in body:
            place.at("replayFrom").lose("v1 does not define this field, and v2 gives it a meaning")
            del body["replayFrom"]
        answer = to_builtins(await self.agent.session_resume(into_v2(v2.ResumeSessionRequest, body, place)))
        return into_v1(v1.ResumeSessionResponse, self._set_up(params.session_id, answer, place), place)

    async def session_list(self, params: v1.ListSessionsRequest, /) -> v1.ListSessionsResponse:
        """See the generated class."""
        place = self.losses.place("session/list")
        request = into_v2(v2.ListSessionsRequest, with_supported_roots(to_builtins(params), self._can), place)
        answer = await self.agent.session_list(request)
        return into_v1(v1.ListSessionsResponse, to_builtins(answer), place)

    async def session_close(self, params: v1.CloseSessionRequest, /) -> v1.CloseSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/close")
        answer = await self.agent.session_close(into_v2(v2.CloseSessionRequest, to_builtins(params), place))
        session = self.sessions.pop(params.session_id, None)
        for turn in () if session is None else session.turns.open:
            turn.end({"stopReason": "cancelled"})
        return into_v1(v1.CloseSessionResponse, to_builtins(answer), place)

    async def session_delete(self, params: v1.DeleteSessionRequest, /) -> v1.DeleteSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/delete")
        answer = await self.agent.session_delete(into_v2(v2.DeleteSessionRequest, to_builtins(params), place))
        self.sessions.pop(params.session_id, None)
        return into_v1(v1.DeleteSessionResponse, to_builtins(answer), place)

    async def session_set_mode(self, params: v1.SetSessionModeRequest, /) -> v1.SetSessionModeResponse:
        """See the generated class: the option of category `mode` is set."""
        place = self.losses.place("session/set_mode")
        session = self.session(params.session_id)
        option = session.downward.options.mode
        if option is None:
            raise RequestError(METHOD_NOT_FOUND, "the session has no modes", {"method": "session/set_mode"})
        body = to_builtins(params)
        chosen = {"type": "id", "configId": option.get("configId"), "value": body["modeId"]}
        answer = await self._set({**without(body, "modeId"), **chosen}, session, place)
        return into_v1(v1.SetSessionModeResponse, without(answer, "configOptions"), place)

    async def session_set_config_option(
        self, params: v1.SetSessionConfigOptionRequest, /
    ) -> v1.SetSessionConfigOptionResponse:
        """See the generated class."""
        place = self.losses.place("session/set_config_option")
        body = to_builtins(params)
        session = self.session(str(body["sessionId"]))
        option = session.downward.options.find(body.get("configId"))
        if option is not None and option.get("type") == "boolean" and isinstance(body.get("value"), str):
            body |= {"type": "boolean", "value": body["value"] == ON[True]}
        answer = await self._set({"type": "id", **body}, session, place)
        return into_v1(v1.SetSessionConfigOptionResponse, answer, place)

    async def _set(self, body: Json, session: _Session, place: Place) -> Json:
        request: Any = into_v2(cast("Any", v2.SetSessionConfigOptionRequest), body, place)
        answer = to_builtins(await self.agent.session_set_config_option(request))
        options = session.downward.options.replace(answer.get("configOptions") or (), place.at("configOptions"))
        return {**answer, "configOptions": options}

    def _setup(self, body: Json, place: Place) -> Json:
        body = with_supported_roots(body, self._can)
        servers: list[Any] = []
        for index, one in enumerate(body.get("mcpServers") or ()):
            if as_object(one).get("type") == "sse":
                place.at("mcpServers", index).lose("v2 has no MCP servers over SSE", one)
                raise invalid_params("an MCP server over SSE cannot be used", pointer=f"/mcpServers/{index}")
            servers.append(server_to_v2(one))
        return {**body, "mcpServers": servers}

    def _set_up(self, session_id: str, answer: Json, place: Place) -> Json:
        options = self.session(session_id).downward.options
        made = without(answer, "configOptions", "availableCommands", "modes")
        if answer.get("configOptions") is not None:
            made["configOptions"] = options.replace(answer["configOptions"], place.at("configOptions"))
        modes = options.modes()
        return made if modes is None else {**made, "modes": modes}

    async def _announced(self, session_id: str, answer: Json) -> None:
        """What v2 says in the answer that opens a session, and v1 in an update after it."""
        if answer.get("availableCommands") is not None:
            update = {
                "sessionUpdate": "available_commands_update",
                "availableCommands": answer["availableCommands"],
            }
            await self._told(self.session(session_id), update, {})

    # --- turns

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        """See the generated class."""
        place = self.losses.place("session/prompt")
        body = to_builtins(params)
        body["prompt"] = blocks_to_v2(body["prompt"], place.at("prompt"))
        request = into_v2(v2.PromptRequest, body, place)
        session = self.session(params.session_id)

        async def accepted() -> str:
            return (await self.agent.session_prompt(request)).message_id

        session.prompts.append(body["prompt"])
        try:
            end = await session.turns.wait_for_end(accepted())
        except asyncio.CancelledError:
            with suppress(ConnectionClosed):
                await self.agent.session_cancel(v2.CancelSessionNotification(session_id=session.id))
            raise
        except (PeerError, RequestError) as error:
            if error.code != REQUEST_CANCELLED:
                raise
            return v1.PromptResponse(stop_reason="cancelled")
        finally:
            session.prompts.remove(body["prompt"])
        return into_v1(v1.PromptResponse, self._reply(end, place), place)

    def _reply(self, end: Json, place: Place) -> Json:
        """The answer of v1 to a prompt. Raises `RequestError` where the work ended in an error."""
        reason = end.get("stopReason")
        if reason == "error":
            error = as_object(end.get("error"))
            code, message = error.get("code", INTERNAL_ERROR), error.get("message", "the work has failed")
            raise RequestError(code, message, error.get("data"))
        if reason not in REASONS:
            place.at("stopReason").lose("v1 has no such reason; 'end_turn' is sent instead", reason, "changed")
            reason = "end_turn"
        meta = {"_meta": end["_meta"]} if end.get("_meta") is not None else {}
        return {"stopReason": reason, **meta}

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        """See the generated class."""
        place = self.losses.place("session/cancel")
        await self.agent.session_cancel(into_v2(v2.CancelSessionNotification, to_builtins(params), place))

    async def extension_request(self, method: str, params: Any) -> Any:
        """Pass on a request that both versions leave to the peers."""
        return await self.agent.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        """Pass on a notification that both versions leave to the peers."""
        await self.agent.extension_notification(method, params)

    # --- what the agent sends

    async def updated(self, params: v2.UpdateSessionNotification) -> None:
        """Pass on an update of the agent."""
        session = self.session(params.session_id)
        body = to_builtins(params)
        update, more = body["update"], without(body, "update")
        match update.get("sessionUpdate"):
            case "state_update":
                await self._stated(session, update, more)
            case "user_message" if self._is_echo(session, update):
                pass
            case _:
                await self._told(session, update, more)

    def _is_echo(self, session: _Session, update: Json) -> bool:
        """Whether this is what the client has said itself: in v1 it is not told again."""
        session.turns.hear(str(update.get("messageId")))
        return update.get("content") in session.prompts

    async def _stated(self, session: _Session, update: Json, more: Json) -> None:
        place = self.losses.place("session/update", "update")
        state = update.get("state")
        if update.get("background"):
            place.at("background").lose("v1 does not report background work", update["background"], "carried")
            await self._carry(session, update, more)
        if state in BUSY:
            session.turns.work()
            if not session.turns.open:
                place.at("state").lose("v1 has no work without a prompt; its updates are still sent", state)
        elif state == "idle":
            await self._rest(session, update, place)
        elif not update.get("background"):
            place.at("state").lose("v1 has no such state", update, "carried")
            await self._carry(session, update, more)

    async def _rest(self, session: _Session, update: Json, place: Place) -> None:
        if session.turns.ending():
            await self._send(session, session.downward.flush(place), {})
        session.turns.rest(without(update, "sessionUpdate", "state"))

    async def _told(self, session: _Session, update: Json, more: Json) -> None:
        found = session.downward.update(update, self.losses.place("session/update", "update"))
        if found is None:
            await self._carry(session, update, more)
        else:
            await self._send(session, found, more)

    async def _carry(self, session: _Session, update: Json, more: Json) -> None:
        with suppress(ConnectionClosed):
            await self.client.extension_notification(
                CARRIED, {**without(more, "sessionId"), "sessionId": session.id, "update": update}
            )

    async def _send(self, session: _Session, updates: list[Json], more: Json) -> None:
        place = self.losses.place("session/update")
        for one in updates:
            body = {**without(more, "sessionId"), "sessionId": session.id, "update": one}
            with suppress(ConnectionClosed, RequestError):  # what is refused is told as a loss
                await self.client.session_update(into_v1(v1.SessionNotification, body, place))

    async def asked(self, params: v2.RequestPermissionRequest) -> v2.RequestPermissionResponse:
        """Ask the client for permission: as it is, or with the words of the prompt in the tool call's title."""
        place = self.losses.place("session/request_permission")
        session = self.session(params.session_id)
        request = permission_to_v1(params, session.downward, place)
        answer = await self.client.session_request_permission(request)
        return into_v2(v2.RequestPermissionResponse, to_builtins(answer), place)

    async def elicited(self, params: v2.CreateElicitationRequest) -> v2.CreateElicitationResponse:
        """Ask the user for input."""
        place = self.losses.place("elicitation/create")
        answer: Any = await self.client.elicitation_create(elicitation_to_v1(params, place, self.agent_connection))
        return into_v2(v2.CreateElicitationResponse, to_builtins(answer), place)  # type: ignore[arg-type]
