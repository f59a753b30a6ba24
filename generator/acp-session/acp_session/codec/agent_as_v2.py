"""An agent of v2 whose work one of v1 does.

Sources: the pages of both versions on initialization, session setup; the migration page.
"""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import Any, Final, TypeVar, cast

from acp_bindings import RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1

from acp_session.diffs import as_object
from acp_workspace.errors import INVALID_PARAMS, UNSUPPORTED_VERSION, invalid_params
from acp_workspace.scope import matches, parse_scope

from .handshakes import answer_to_v2, request_to_v1
from .losses import Place
from .messages import into_v1, into_v2, types_of, with_supported_roots
from .tables import METHODS
from .v1_client import ClientForV1
from .v1_turns import TurnsOfV1
from .walker import MEANING, Json, without

R = TypeVar("R")

OLDER: Final = {newer: older for older, newer in METHODS.items()}


class AgentAsV2(TurnsOfV1):
    """An agent of v2 that has one of v1 do its work.

    `client` is the client of v2, where it is an object of this process; else serve a connection with this. `services` are the files and
    terminals for the agent. Connect `v1_client` to the agent of v1, and set `agent` to the calls to it, before anything is asked. `losses`
    counts what could not be carried over; `on_loss` gets each.
    """

    @cached_property
    def v1_client(self) -> ClientForV1:
        """What the agent of v1 sees."""
        return ClientForV1(self)

    # --- the beginning

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        if params.protocol_version < 2:
            data = {"requested": params.protocol_version, "supported": [2]}
            raise RequestError(UNSUPPORTED_VERSION, "this agent speaks version 2", data)
        place = self.losses.place("initialize")
        body = request_to_v1(to_builtins(params), place, self.services.capabilities())
        answer = await self.agent.initialize(into_v1(v1.InitializeRequest, body, place))
        if answer.protocol_version != 1:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer.protocol_version}, not 1")
        self._can = answer.agent_capabilities
        return into_v2(v2.InitializeResponse, answer_to_v2(to_builtins(answer), place), place)

    async def auth_login(self, params: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
        return await self._pass("auth/login", v2.LoginAuthResponse, params)

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:
        return await self._pass("auth/logout", v2.LogoutAuthResponse, params)

    async def _pass(self, method: str, answer: type[R], params: Any) -> R:
        """The answer to a request that both versions have."""
        place = self.losses.place(method, session_id=getattr(params, "session_id", None))
        return into_v2(answer, await self._ask(OLDER.get(method, method), to_builtins(params), place), place)

    async def _ask(self, method: str, body: Json, place: Place) -> Json:
        """The answer of the agent to a request of v1."""
        type_, _ = types_of(peers1.Agent, method)
        made = self._to_v1.convert(type_.__name__, with_supported_roots(body, self._can), place)
        call = getattr(self.agent, peers1.Agent.requests[method])
        return as_object(to_builtins(await call(into_v1(type_, made, place))))

    # --- the life of a session

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        return await self._open("session/new", v2.NewSessionResponse, params)

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        return await self._open("session/fork", v2.ForkSessionResponse, params)

    async def _open(self, method: str, answer: type[R], params: Any) -> R:
        place = self.losses.place(method)
        async with self.services.opening(params) as establish:
            found = await self._ask(method, to_builtins(params), place)
            establish(str(found["sessionId"]))
        return into_v2(answer, self._opened(str(found["sessionId"]), params, found, place), place)

    async def session_load(self, params: v2.LoadSessionRequest, /) -> v2.LoadSessionResponse:
        place = self.losses.place("session/load", session_id=params.session_id)
        found = await self._reopen(params, to_builtins(params), place, replays=True)
        return into_v2(v2.LoadSessionResponse, found, place)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        """An agent that can only load does so, and what it replays is not passed on."""
        place = self.losses.place("session/resume", session_id=params.session_id)
        body = to_builtins(params)
        replay = as_object(body.pop("replayFrom", None))
        if replay.get("type", "start") != "start":
            raise invalid_params("this agent replays only from the start", pointer="/replayFrom")
        found = await self._reopen(params, body, place, replays=bool(replay))
        return into_v2(v2.ResumeSessionResponse, found, place)

    async def _reopen(self, params: Any, body: Json, place: Place, *, replays: bool) -> Json:
        session = self.session(params.session_id)
        async with self.services.opening(params, session.id) as establish:
            if not replays and self._can.session_capabilities.resume is not None:
                found = await self._ask("session/resume", body, place)
            elif self._can.load_session:
                session.is_muted = not replays
                try:
                    found = await self._ask("session/load", body, place)
                finally:
                    session.is_muted = False
                session.to_v2.pause()
            else:
                raise RequestError(INVALID_PARAMS, "the agent cannot replay a session", {"pointer": "/replayFrom"})
            establish(session.id)
        made = self._opened(session.id, params, found, place)
        await self.report_state(session, "idle" if session.turn is None else "running")
        return made

    def _opened(self, session_id: str, params: Any, answer: Json, place: Place) -> Json:
        """The answer in the terms of v2, but for its type."""
        session = self.session(session_id)
        session.cwd = params.cwd
        session.additional = list(to_builtins(params).get("additionalDirectories") or ())
        session.to_v2.options.begin(answer, place)
        if "availableCommands" in answer:
            place.at("availableCommands").lose(MEANING)
        options = session.to_v2.options.all()
        given = {"configOptions": options} if options or answer.get("configOptions") is not None else {}
        return {**without(answer, "modes", "configOptions", "availableCommands"), **given}

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """For an agent that has no list, the sessions of this connection."""
        if self._can.session_capabilities.list_ is not None:
            return await self._pass("session/list", v2.ListSessionsResponse, params)
        place = self.losses.place("session/list")
        place.lose("the agent cannot list sessions; these are the sessions of this connection", kind="changed")
        infos = [
            {"sessionId": one.id, "cwd": found.cwd, "additionalDirectories": list(found.additional)}
            for one in self.sessions.values()
            if one.cwd
            and matches(
                found := parse_scope(one.cwd, one.additional), cwd=params.cwd, additional=params.additional_directories
            )
        ]
        return into_v2(v2.ListSessionsResponse, {"sessions": infos}, place)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """For an agent that cannot close, the turn is cancelled and the session is left."""
        place = self.losses.place("session/close", session_id=params.session_id)
        session = self.sessions.get(params.session_id)
        answer: Json = {}
        if self._can.session_capabilities.close is not None:
            if session is not None:
                self._stop(session)
            answer = await self._ask("session/close", to_builtins(params), place)
        elif session is None:
            raise RequestError(-32002, "there is no such session", {"sessionId": params.session_id})
        else:
            place.lose("the agent cannot close a session; its turn is cancelled, and it stays", kind="changed")
            await self._cancel(session, {"sessionId": session.id})
        if session is not None and session.work is not None:
            await asyncio.wait([session.work])
        await self._ended(params.session_id)
        return into_v2(v2.CloseSessionResponse, answer, place)

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        session = self.sessions.get(params.session_id)
        if session is not None and session.work is not None:
            await self._cancel(session, {"sessionId": session.id})
        answer = await self._pass("session/delete", v2.DeleteSessionResponse, params)
        if session is not None and session.work is not None:
            await asyncio.wait([session.work])
        await self._ended(params.session_id)
        return answer

    async def _ended(self, session_id: str) -> None:
        await self.services.end(session_id)
        self.sessions.pop(session_id, None)

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        """The option that stands for modes sets the mode."""
        place = self.losses.place("session/set_config_option", session_id=params.session_id)
        body = to_builtins(params)
        options = self.session(params.session_id).to_v2.options
        if body["configId"] == options.mode_option:
            mode = {**without(body, "configId", "type", "value"), "modeId": body.get("value")}
            request = into_v1(v1.SetSessionModeRequest, mode, place)
            answer = to_builtins(await self.agent.session_set_mode(request))
            options.set_mode(str(body.get("value")))
        else:
            asked = without(body, "type") if body.get("type") == "id" else body
            setting: Any = into_v1(cast("Any", v1.SetSessionConfigOptionRequest), asked, place)
            answer = to_builtins(await self.agent.session_set_config_option(setting))
            options.replace(answer.get("configOptions") or (), place.at("configOptions"))
        return into_v2(v2.SetSessionConfigOptionResponse, {**answer, "configOptions": options.all()}, place)

    async def terminal_cancel(self, params: v2.CancelTerminalRequest, /) -> v2.CancelTerminalResponse:
        """Terminals of the services can be stopped."""
        await self.services.cancel_terminal(params.session_id, params.terminal_id)
        return v2.CancelTerminalResponse()

    async def tool_call_cancel(self, _: v2.CancelToolCallRequest, /) -> v2.CancelToolCallResponse:
        """No tool call of an agent of v1 is one that the client may stop."""
        raise invalid_params("this tool call cannot be cancelled on its own", pointer="/toolCallId")

    async def extension_request(self, method: str, params: Any) -> Any:
        """Pass on a request that both versions leave to the peers."""
        return await self.agent.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        """Pass on a notification that both versions leave to the peers."""
        await self.agent.extension_notification(method, params)
