"""An agent of v1 as one of v2.

    async with as_v2(link_to_the_agent) as agent, peers.join(agent, client) as (calls, _):
        await calls.initialize(v2.InitializeRequest(protocol_version=2, info=me))

Files and terminals of the client, which v2 does not have, are offered to the agent where `local` serves them on this machine.

Sources: the pages of both versions on initialization, session setup; the migration page.
"""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import Any, cast

from acp_bindings import RequestError, to_builtins, v1, v2

from acp_session.diffs import as_object
from acp_workspace.errors import INVALID_PARAMS, UNSUPPORTED_VERSION, invalid_params
from acp_workspace.scope import matches, scope

from . import handshakes
from .forwarding import into_v1, into_v2, with_supported_roots
from .losses import Place
from .parts import Json, server_to_v1, without
from .v1_client import ClientForV1
from .v1_turns import TurnsOfV1


class AgentAsV2(TurnsOfV1):
    """An agent of v2 that has one of v1 do its work.

    `client` is the client of v2, where it is an object of this process; else serve a connection with this (`peers.join`). `services` are
    the files and terminals for the agent. Connect `v1_client` to the agent of v1, and set `agent` to the calls to it, before anything is
    asked. `losses` counts what could not be carried over; `on_loss` is told of each.
    """

    @cached_property
    def v1_client(self) -> ClientForV1:
        """What the agent of v1 sees."""
        return ClientForV1(self)

    # --- the beginning

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        """See the generated class."""
        if params.protocol_version < 2:
            data = {"requested": params.protocol_version, "supported": [2]}
            raise RequestError(UNSUPPORTED_VERSION, "this agent speaks version 2", data)
        place = self.losses.place("initialize")
        body = handshakes.request_to_v1(to_builtins(params), place, self.services.capabilities())
        answer = await self.agent.initialize(into_v1(v1.InitializeRequest, body, place))
        if answer.protocol_version != 1:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer.protocol_version}, not 1")
        self._can = answer.agent_capabilities
        return into_v2(v2.InitializeResponse, handshakes.answer_to_v2(to_builtins(answer), place), place)

    async def auth_login(self, params: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
        """See the generated class."""
        place = self.losses.place("auth/login")
        answer = await self.agent.authenticate(into_v1(v1.AuthenticateRequest, to_builtins(params), place))
        return into_v2(v2.LoginAuthResponse, to_builtins(answer), place)

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:
        """See the generated class."""
        place = self.losses.place("auth/logout")
        answer = await self.agent.logout(into_v1(v1.LogoutRequest, to_builtins(params), place))
        return into_v2(v2.LogoutAuthResponse, to_builtins(answer), place)

    # --- the life of a session

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/new")
        request = into_v1(v1.NewSessionRequest, self._setup(to_builtins(params)), place)
        async with self.services.opening(params) as establish:
            answer = to_builtins(await self.agent.session_new(request))
            establish(str(answer["sessionId"]))
        self._opened(str(answer["sessionId"]), params, answer, place)
        return into_v2(v2.NewSessionResponse, self._set_up(str(answer["sessionId"]), answer), place)

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/fork")
        request = into_v1(v1.ForkSessionRequest, self._setup(to_builtins(params)), place)
        async with self.services.opening(params) as establish:
            answer = to_builtins(await self.agent.session_fork(request))
            establish(str(answer["sessionId"]))
        self._opened(str(answer["sessionId"]), params, answer, place)
        return into_v2(v2.ForkSessionResponse, self._set_up(str(answer["sessionId"]), answer), place)

    async def session_load(self, params: v2.LoadSessionRequest, /) -> v2.LoadSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/load")
        async with self.services.opening(params, params.session_id) as establish:
            answer = await self._load(to_builtins(params), place)
            establish(params.session_id)
        self._opened(params.session_id, params, answer, place)
        await self._current(self.session(params.session_id))
        return into_v2(v2.LoadSessionResponse, self._set_up(params.session_id, answer), place)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        """See the generated class. An agent that can only load does so, and what it tells again is not passed on."""
        place = self.losses.place("session/resume")
        body = to_builtins(params)
        replay = as_object(body.pop("replayFrom", None))
        session = self.session(params.session_id)
        if replay.get("type", "start") != "start":
            raise invalid_params("this agent replays only from the start", pointer="/replayFrom")
        async with self.services.opening(params, params.session_id) as establish:
            if replay:
                answer = await self._load(body, place)
            elif self._can.session_capabilities.resume is not None:
                request = into_v1(v1.ResumeSessionRequest, self._setup(body), place)
                answer = to_builtins(await self.agent.session_resume(request))
            else:
                session.is_muted = True
                try:
                    answer = await self._load(body, place)
                finally:
                    session.is_muted = False
            establish(params.session_id)
        self._opened(params.session_id, params, answer, place)
        await self._current(session)
        return into_v2(v2.ResumeSessionResponse, self._set_up(params.session_id, answer), place)

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """See the generated class. For an agent that has no list, the sessions of this connection."""
        place = self.losses.place("session/list")
        if self._can.session_capabilities.list_ is None:
            place.lose("the agent cannot list sessions; these are the sessions of this connection", kind="changed")
            scopes = {one.id: scope(one.cwd, one.additional) for one in self.sessions.values() if one.cwd}
            cwd, additional = params.cwd, params.additional_directories
            infos = [
                {"sessionId": id_, "cwd": one.cwd, "additionalDirectories": list(one.additional)}
                for id_, one in scopes.items()
                if matches(one, cwd=cwd, additional=additional)
            ]
            return into_v2(v2.ListSessionsResponse, {"sessions": infos}, place)
        request = into_v1(v1.ListSessionsRequest, with_supported_roots(to_builtins(params), self._can), place)
        return into_v2(v2.ListSessionsResponse, to_builtins(await self.agent.session_list(request)), place)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """See the generated class. For an agent that cannot close, the turn is cancelled and the session is left."""
        place = self.losses.place("session/close")
        session = self.sessions.get(params.session_id)
        if self._can.session_capabilities.close is not None:
            if session is not None:
                self._stop(session)
            request = into_v1(v1.CloseSessionRequest, to_builtins(params), place)
            answer = to_builtins(await self.agent.session_close(request))
        elif session is None:
            raise RequestError(-32002, "there is no such session", {"sessionId": params.session_id})
        else:
            place.lose("the agent cannot close a session; its turn is cancelled, and it stays", kind="changed")
            await self._cancel(session, {"sessionId": session.id})
            answer = {}
        if session is not None and session.work is not None:
            await asyncio.wait([session.work])
        await self._ended(params.session_id)
        return into_v2(v2.CloseSessionResponse, answer, place)

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        """See the generated class."""
        place = self.losses.place("session/delete")
        request = into_v1(v1.DeleteSessionRequest, to_builtins(params), place)
        answer = to_builtins(await self.agent.session_delete(request))
        await self._ended(params.session_id)
        return into_v2(v2.DeleteSessionResponse, answer, place)

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        """See the generated class. The option that stands for modes sets the mode."""
        place = self.losses.place("session/set_config_option")
        body = to_builtins(params)
        options = self.session(str(body["sessionId"])).upward.options
        if body["configId"] == options.mode_option:
            mode = {**without(body, "configId", "type", "value"), "modeId": body.get("value")}
            answer = to_builtins(await self.agent.session_set_mode(into_v1(v1.SetSessionModeRequest, mode, place)))
            options.set_mode(str(body.get("value")))
        else:
            asked = without(body, "type") if body.get("type") == "id" else body
            request: Any = into_v1(cast("Any", v1.SetSessionConfigOptionRequest), asked, place)
            answer = to_builtins(await self.agent.session_set_config_option(request))
            options.replace(answer.get("configOptions") or (), place.at("configOptions"))
        return into_v2(v2.SetSessionConfigOptionResponse, {**answer, "configOptions": options.all()}, place)

    async def terminal_cancel(self, params: v2.CancelTerminalRequest, /) -> v2.CancelTerminalResponse:
        """See the generated class. Terminals that are served here can be stopped."""
        await self.services.cancel_terminal(params.session_id, params.terminal_id)
        return v2.CancelTerminalResponse()

    async def tool_call_cancel(self, _: v2.CancelToolCallRequest, /) -> v2.CancelToolCallResponse:
        """See the generated class. No tool call of an agent of v1 is one that the client may stop."""
        raise invalid_params("this tool call cannot be cancelled on its own", pointer="/toolCallId")

    async def extension_request(self, method: str, params: Any) -> Any:
        """Pass on a request that both versions leave to the peers."""
        return await self.agent.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        """Pass on a notification that both versions leave to the peers."""
        await self.agent.extension_notification(method, params)

    async def _ended(self, session_id: str) -> None:
        await self.services.end(session_id)
        self.sessions.pop(session_id, None)

    def _setup(self, body: Json) -> Json:
        body = with_supported_roots(body, self._can)
        return {**body, "mcpServers": [server_to_v1(one) for one in body.get("mcpServers") or ()]}

    def _set_up(self, session_id: str, answer: Json) -> Json:
        options = self.session(session_id).upward.options.all()
        given = {"configOptions": options} if options or answer.get("configOptions") is not None else {}
        return {**without(answer, "modes", "configOptions", "availableCommands"), **given}

    def _opened(self, session_id: str, params: Any, answer: Json, place: Place) -> None:
        session = self.session(session_id)
        session.cwd = params.cwd
        session.additional = list(to_builtins(params).get("additionalDirectories") or ())
        session.upward.options.begin(answer, place)
        if "availableCommands" in answer:
            place.at("availableCommands").lose("v1 does not define this field, and v2 gives it a meaning")

    async def _load(self, body: Json, place: Place) -> Json:
        if not self._can.load_session:
            raise RequestError(INVALID_PARAMS, "the agent cannot replay a session", {"pointer": "/replayFrom"})
        request = into_v1(v1.LoadSessionRequest, self._setup(body), place)
        answer = to_builtins(await self.agent.session_load(request))
        self.session(request.session_id).upward.pause()
        return answer
