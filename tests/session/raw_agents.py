"""Agents of v1 and v2 on the generated peers alone, that play the same script: what a client has to live with, whoever wrote the agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from acp_bindings import v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session import AgentConnection, Client, RequestError, connect_agent
from jsonrpc_bindings.transport import pair

YES = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}
TEXT = "text"


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


class Script:
    """What both agents do in a turn, and what they have been asked. `play` is the turn: it returns the reason of its end."""

    def __init__(self, play: Play | None = None, *, has_roots: bool = True, can_load: bool = True) -> None:
        self.play: Play = play or _nothing
        self.has_roots, self.can_load = has_roots, can_load
        self.requests: list[tuple[str, Any]] = []
        self.history: list[dict[str, Any]] = []
        self.refused: set[str] = set()
        self.cancelled: list[str] = []
        self.before_answer: Callable[[Any, str], Awaitable[None]] | None = None
        self.number = 0

    def note(self, method: str, params: Any) -> None:
        self.requests.append((method, params))
        if method in self.refused:
            raise RequestError(-32602, "not today")

    def asked(self, method: str) -> list[Any]:
        return [params for name, params in self.requests if name == method]

    async def opened(self, agent: Any) -> str:
        self.number += 1
        session_id = f"s{self.number}"
        if self.before_answer is not None:
            await self.before_answer(agent, session_id)
        return session_id


class Agent1(peers1.Agent):
    def __init__(self, script: Script) -> None:
        self.script = script
        self.turns: dict[str, asyncio.Task[Any]] = {}

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        self.script.note("initialize", params)
        yes: dict[str, Any] = {key: {} for key in ("list", "resume", "fork", "close", "delete")}
        if self.script.has_roots:
            yes["additionalDirectories"] = {}
        if not self.script.can_load:
            yes = {}
        capabilities: dict[str, Any] = {
            "loadSession": self.script.can_load,
            "sessionCapabilities": yes,
            "auth": {"logout": {}} if self.script.can_load else {},
        }
        answer: dict[str, Any] = {
            "protocolVersion": 1,
            "agentCapabilities": capabilities,
            "authMethods": [{"id": "key", "name": "Key"}],
        }
        return v1.decode_as(v1.InitializeResponse, answer)

    async def update(self, session_id: str, update: dict[str, Any]) -> None:
        self.script.history.append(update)
        body = {"sessionId": session_id, "update": update}
        await self.client.session_update(v1.decode_as(v1.SessionNotification, body))

    async def say(self, session_id: str, words: str, message_id: str | None = None) -> None:
        chunk: dict[str, Any] = {"sessionUpdate": "agent_message_chunk", "content": text(words)}
        await self.update(session_id, chunk if message_id is None else {**chunk, "messageId": message_id})

    async def call(self, session_id: str, call: str, **fields: Any) -> None:
        await self.update(session_id, {"sessionUpdate": "tool_call_update", "toolCallId": call, **fields})

    async def ask(self, session_id: str, title: str, call: str = "c") -> str:
        body = {"sessionId": session_id, "toolCall": {"toolCallId": call, "title": title}, "options": [YES, NO]}
        answer = await self.client.session_request_permission(v1.decode_as(v1.RequestPermissionRequest, body))
        return getattr(answer.outcome, "option_id", "cancelled")

    async def question(self, scope: dict[str, Any], mode: str = "form") -> str:
        return await _question(self.client, v1, scope, mode)

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        self.script.note("session/new", params)
        modes = {
            "currentModeId": "ask",
            "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
        }
        switch = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
        body = {"sessionId": await self.script.opened(self), "modes": modes, "configOptions": [switch]}
        return v1.decode_as(v1.NewSessionResponse, body)

    async def session_load(self, params: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
        self.script.note("session/load", params)
        if self.script.before_answer is not None:
            await self.script.before_answer(self, params.session_id)
        for update in tuple(self.script.history):
            body = {"sessionId": params.session_id, "update": update}
            await self.client.session_update(v1.decode_as(v1.SessionNotification, body))
        return v1.LoadSessionResponse()

    async def session_resume(self, params: v1.ResumeSessionRequest, /) -> v1.ResumeSessionResponse:
        self.script.note("session/resume", params)
        return v1.ResumeSessionResponse()

    async def session_fork(self, params: v1.ForkSessionRequest, /) -> v1.ForkSessionResponse:
        self.script.note("session/fork", params)
        return v1.ForkSessionResponse(session_id=await self.script.opened(self))

    async def session_list(self, params: v1.ListSessionsRequest, /) -> v1.ListSessionsResponse:
        self.script.note("session/list", params)
        return v1.decode_as(v1.ListSessionsResponse, _page(params.cursor))

    async def session_close(self, params: v1.CloseSessionRequest, /) -> v1.CloseSessionResponse:
        self.script.note("session/close", params)
        return v1.CloseSessionResponse()

    async def session_delete(self, params: v1.DeleteSessionRequest, /) -> v1.DeleteSessionResponse:
        self.script.note("session/delete", params)
        return v1.DeleteSessionResponse()

    async def session_set_mode(self, params: v1.SetSessionModeRequest, /) -> v1.SetSessionModeResponse:
        self.script.note("mode", params.mode_id)
        return v1.SetSessionModeResponse()

    async def session_set_config_option(
        self, params: v1.SetSessionConfigOptionRequest, /
    ) -> v1.SetSessionConfigOptionResponse:
        self.script.note("option", (params.config_id, params.value))
        switch = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": params.value}
        return v1.decode_as(v1.SetSessionConfigOptionResponse, {"configOptions": [switch]})

    async def authenticate(self, params: v1.AuthenticateRequest, /) -> v1.AuthenticateResponse:
        self.script.note("login", params.method_id)
        if self.script.before_answer is not None:
            await self.script.before_answer(self, str(self.connection.serving))
        return v1.AuthenticateResponse()

    async def logout(self, params: v1.LogoutRequest, /) -> v1.LogoutResponse:
        self.script.note("logout", params)
        return v1.LogoutResponse()

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        self.script.note("session/prompt", params)
        for block in params.prompt:
            self.script.history.append({"sessionUpdate": "user_message_chunk", "content": v1_json(block)})
        turn = self.turns[params.session_id] = asyncio.ensure_future(self.script.play(self, params.session_id))
        await asyncio.wait([turn])
        reason: Any = "cancelled" if turn.cancelled() else turn.result()
        return v1.PromptResponse(stop_reason=reason)

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        self.script.cancelled.append(params.session_id)
        _cancel(self.turns.get(params.session_id))


class Agent2(peers2.Agent):
    def __init__(self, script: Script) -> None:
        self.script = script
        self.turns: dict[str, asyncio.Task[Any]] = {}
        self.working: set[asyncio.Task[Any]] = set()

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        self.script.note("initialize", params)
        session: dict[str, Any] = {"fork": {}, "delete": {}, "mcp": {"stdio": {}}}
        if self.script.has_roots:
            session["additionalDirectories"] = {}
        answer: dict[str, Any] = {
            "protocolVersion": 2,
            "info": {"name": "raw", "version": "1"},
            "capabilities": {"session": session},
            "authMethods": [{"type": "agent", "methodId": "key", "name": "Key"}],
        }
        return v2.decode_as(v2.InitializeResponse, answer)

    async def update(self, session_id: str, update: dict[str, Any]) -> None:
        self.script.history.append(update)
        body = {"sessionId": session_id, "update": update}
        await self.client.session_update(v2.decode_as(v2.UpdateSessionNotification, body))

    async def say(self, session_id: str, words: str, message_id: str | None = None) -> None:
        self.script.number += 1
        name = message_id or f"m{self.script.number}"
        await self.update(
            session_id, {"sessionUpdate": "agent_message_chunk", "messageId": name, "content": text(words)}
        )

    async def call(self, session_id: str, call: str, **fields: Any) -> None:
        await self.update(session_id, {"sessionUpdate": "tool_call_update", "toolCallId": call, **fields})

    async def ask(self, session_id: str, title: str, call: str = "c") -> str:
        subject = {"type": "tool_call", "toolCall": {"toolCallId": call, "title": title}}
        body = {"sessionId": session_id, "title": title, "subject": subject, "options": [YES, NO]}
        answer = await self.client.session_request_permission(v2.decode_as(v2.RequestPermissionRequest, body))
        return getattr(answer.outcome, "option_id", "cancelled")

    async def question(self, scope: dict[str, Any], mode: str = "form") -> str:
        return await _question(self.client, v2, scope, mode)

    def options(self, mode: str = "ask", *, is_fast: bool = False) -> list[dict[str, Any]]:
        values = [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]
        select = {"configId": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": mode}
        return [
            {**select, "options": values},
            {"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": is_fast},
        ]

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        self.script.note("session/new", params)
        body = {"sessionId": await self.script.opened(self), "configOptions": self.options()}
        return v2.decode_as(v2.NewSessionResponse, body)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        replays = params.replay_from is not None
        self.script.note("session/load" if replays else "session/resume", params)
        if replays and self.script.before_answer is not None:
            await self.script.before_answer(self, params.session_id)
        for update in tuple(self.script.history) if replays else ():
            body = {"sessionId": params.session_id, "update": update}
            await self.client.session_update(v2.decode_as(v2.UpdateSessionNotification, body))
        return v2.ResumeSessionResponse()

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        self.script.note("session/fork", params)
        return v2.ForkSessionResponse(session_id=await self.script.opened(self))

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        self.script.note("session/list", params)
        return v2.decode_as(v2.ListSessionsResponse, _page(params.cursor))

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        self.script.note("session/close", params)
        return v2.CloseSessionResponse()

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        self.script.note("session/delete", params)
        return v2.DeleteSessionResponse()

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        value: Any = params.value
        if params.config_id == "mode":
            self.script.note("mode", value)
            options = self.options(value)
        else:
            self.script.note("option", (params.config_id, value))
            options = self.options(is_fast=value)
        return v2.decode_as(v2.SetSessionConfigOptionResponse, {"configOptions": options})

    async def auth_login(self, params: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
        self.script.note("login", params.method_id)
        if self.script.before_answer is not None:
            await self.script.before_answer(self, str(self.connection.serving))
        return v2.LoginAuthResponse()

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:
        self.script.note("logout", params)
        return v2.LogoutAuthResponse()

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        self.script.note("session/prompt", params)
        self.script.number += 1
        message_id = f"u{self.script.number}"
        work = asyncio.ensure_future(self._work(params, message_id))
        self.working.add(work)
        work.add_done_callback(self.working.discard)
        return v2.PromptResponse(message_id=message_id)

    async def _work(self, params: v2.PromptRequest, message_id: str) -> None:
        session_id = params.session_id
        content = [v2_json(block) for block in params.prompt]
        await self.update(session_id, {"sessionUpdate": "user_message", "messageId": message_id, "content": content})
        await self.update(session_id, {"sessionUpdate": "state_update", "state": "running"})
        turn = self.turns[session_id] = asyncio.ensure_future(self.script.play(self, session_id))
        await asyncio.wait([turn])
        end: dict[str, Any] = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"}
        if not turn.cancelled() and (error := turn.exception()) is not None:
            assert isinstance(error, RequestError)
            end |= {"stopReason": "error", "error": error.as_json()}
        elif not turn.cancelled():
            end["stopReason"] = turn.result()
        await self.update(session_id, end)

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        self.script.cancelled.append(params.session_id)
        _cancel(self.turns.get(params.session_id))


Raw: TypeAlias = "Agent1 | Agent2"
Play: TypeAlias = "Callable[[Any, str], Awaitable[str]]"


@asynccontextmanager
async def connected(
    version: int, script: Script, client: Client, **options: Any
) -> AsyncGenerator[tuple[AgentConnection, Any]]:
    """A client and an agent of this version, and the agent itself."""
    near, far = pair()
    agent: Any = (Agent1 if version == 1 else Agent2)(script)
    peers: Any = peers1 if version == 1 else peers2
    connecting = connect_agent(near, client, versions=(1,) if version == 1 else (1, 2), **options)
    async with asyncio.timeout(30), peers.connect_client(agent, far), connecting as found:
        yield found, agent


async def _nothing(agent: Any, session_id: str) -> str:
    return "end_turn"


def _cancel(turn: asyncio.Task[Any] | None) -> None:
    if turn is not None:
        turn.cancel()


def _page(cursor: str | None) -> dict[str, Any]:
    """Two pages of sessions."""
    number = int(cursor or 0)
    info = {"sessionId": f"old{number}", "cwd": "/srv", "additionalDirectories": ["/lib"]}
    return {"sessions": [info], **({"nextCursor": "1"} if number == 0 else {})}


async def _question(client: Any, version: Any, scope: dict[str, Any], mode: str) -> str:
    form: dict[str, Any] = {"requestedSchema": {"type": "object", "properties": {}}}
    url = {"elicitationId": "e", "url": "https://harbor.example/"}
    body: dict[str, Any] = {"mode": mode, "message": "?", **scope, **(form if mode == "form" else url)}
    answer = await client.elicitation_create(version.decode_as(version.CreateElicitationRequest, body))
    return str(answer.action)


def v1_json(block: Any) -> Any:
    from acp_bindings import to_builtins

    return to_builtins(block)


v2_json = v1_json


def words(messages: Sequence[Any]) -> list[str]:
    return [message.text for message in messages]
