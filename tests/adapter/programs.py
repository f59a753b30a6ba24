"""Agents and clients of both versions that the adapters are tried with, and what watches them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from acp_bindings import to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_monitor import Monitor
from acp_session.adapter import AgentAsV1, AgentAsV2, Loss, as_v1, as_v2
from jsonrpc_bindings.transport import pair

ME2 = v2.InitializeRequest(protocol_version=2, info=v2.Implementation(name="lantern", version="1"))
ME1 = v1.InitializeRequest(
    protocol_version=1,
    client_info=v1.Implementation(name="lantern", version="1"),
    client_capabilities=v1.ClientCapabilities(
        session=v1.ClientSessionCapabilities(
            notices=v1.NoticeCapabilities(),
            compaction=v1.CompactionCapabilities(),
            config_options=v1.SessionConfigOptionsCapabilities(boolean=v1.BooleanConfigOptionCapabilities()),
        )
    ),
)
YES1 = v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")
YES2 = v2.PermissionOption(option_id="yes", name="Yes", kind="allow_once")


def update1(session: str, **fields: Any) -> v1.SessionNotification:
    return v1.decode_as(v1.SessionNotification, {"sessionId": session, "update": fields})


def update2(session: str, **fields: Any) -> v2.UpdateSessionNotification:
    return v2.decode_as(v2.UpdateSessionNotification, {"sessionId": session, "update": fields})


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


class Agent1(peers1.Agent):
    """An agent of v1: `script` is what it does in a turn."""

    def __init__(self, script: Callable[[Agent1, str], Awaitable[str]] | None = None, **capabilities: Any) -> None:
        self.script = script
        self.can: dict[str, Any] = {
            "loadSession": True,
            "sessionCapabilities": {"close": {}, "resume": {}, "list": {}},
            **capabilities,
        }
        self.heard: list[Any] = []
        self.modes: Any = None
        self.options: Any = None
        self.turn: asyncio.Task[Any] | None = None
        self.is_patient = False

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        self.heard.append(params)
        return v1.decode_as(
            v1.InitializeResponse,
            {"protocolVersion": 1, "agentCapabilities": self.can, "agentInfo": {"name": "compass", "version": "2"}},
        )

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        self.heard.append(params)
        more = {"modes": self.modes} if self.modes else {}
        more |= {"configOptions": self.options} if self.options else {}
        return v1.decode_as(v1.NewSessionResponse, {"sessionId": "s", **more})

    async def session_load(self, _: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
        await self.client.session_update(update1("s", sessionUpdate="user_message_chunk", content=words("before")))
        await self.client.session_update(update1("s", sessionUpdate="agent_message_chunk", content=words("then")))
        return v1.LoadSessionResponse()

    async def session_resume(self, _: v1.ResumeSessionRequest, /) -> v1.ResumeSessionResponse:
        return v1.ResumeSessionResponse()

    async def session_list(self, _: v1.ListSessionsRequest, /) -> v1.ListSessionsResponse:
        return v1.ListSessionsResponse(sessions=[v1.SessionInfo(session_id="s", cwd="/w")])

    async def session_close(self, _: v1.CloseSessionRequest, /) -> v1.CloseSessionResponse:
        if self.turn is not None:
            self.turn.cancel()
        return v1.CloseSessionResponse()

    async def session_set_mode(self, params: v1.SetSessionModeRequest, /) -> v1.SetSessionModeResponse:
        self.heard.append(params)
        return v1.SetSessionModeResponse()

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        self.heard.append(params)
        if self.turn is not None and not self.is_patient:
            self.turn.cancel()

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        self.heard.append(params)
        assert self.script is not None
        self.turn = asyncio.ensure_future(self.script(self, params.session_id))
        stop: Any
        try:
            await asyncio.wait([self.turn])
            stop = "cancelled" if self.turn.cancelled() else self.turn.result()
        finally:
            self.turn = None
        return v1.PromptResponse(stop_reason=stop)

    async def say(self, session: str, **fields: Any) -> None:
        await self.client.session_update(update1(session, **fields))


class Agent2(peers2.Agent):
    """An agent of v2: `script` is what it does in a turn."""

    def __init__(self, script: Callable[[Agent2, str], Awaitable[Any]] | None = None) -> None:
        self.script = script
        self.heard: list[Any] = []
        self.options: Any = None
        self.turn: asyncio.Task[Any] | None = None

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        self.heard.append(params)
        can: dict[str, Any] = {"session": {"prompt": {"image": {}}, "mcp": {"stdio": {}, "http": {}}, "delete": {}}}
        return v2.decode_as(
            v2.InitializeResponse,
            {"protocolVersion": 2, "info": {"name": "compass", "version": "2"}, "capabilities": can},
        )

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        self.heard.append(params)
        return v2.decode_as(
            v2.NewSessionResponse, {"sessionId": "s", **({"configOptions": self.options} if self.options else {})}
        )

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        self.heard.append(params)
        if params.replay_from is not None:
            await self.say("s", sessionUpdate="user_message", messageId="u0", content=[words("before")])
            await self.say("s", sessionUpdate="agent_message", messageId="a0", content=[words("then")])
        await self.say("s", sessionUpdate="state_update", state="idle")
        return v2.ResumeSessionResponse()

    async def session_list(self, _: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        return v2.ListSessionsResponse(sessions=[v2.SessionInfo(session_id="s", cwd="/w")])

    async def session_close(self, _: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        if self.turn is not None:
            self.turn.cancel()
            await asyncio.wait([self.turn])
        return v2.CloseSessionResponse()

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        self.heard.append(params)
        return v2.decode_as(v2.SetSessionConfigOptionResponse, {"configOptions": self.options})

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        self.heard.append(params)
        if self.turn is not None:
            self.turn.cancel()

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        self.heard.append(params)
        self.turn = asyncio.ensure_future(self._work(params))
        return v2.PromptResponse(message_id="u1")

    async def _work(self, params: v2.PromptRequest) -> None:
        session = params.session_id
        blocks = to_builtins(params.prompt)
        await self.say(session, sessionUpdate="user_message", messageId="u1", content=blocks)
        await self.say(session, sessionUpdate="state_update", state="running")
        assert self.script is not None
        try:
            end = await self.script(self, session)
        except asyncio.CancelledError:
            end = {"stopReason": "cancelled"}
        await self.say(session, sessionUpdate="state_update", state="idle", **end)

    async def say(self, session: str, **fields: Any) -> None:
        await self.client.session_update(update2(session, **fields))


class Client1(peers1.Client):
    """A client of v1 that notes what it hears and consents to everything."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.carried: list[Any] = []
        self.asked: list[v1.RequestPermissionRequest] = []
        self.is_slow = False

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        self.updates.append(to_builtins(params.update))

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        self.asked.append(params)
        if self.is_slow:
            await asyncio.sleep(60)
        return v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id="yes"))

    async def extension_notification(self, method: str, params: Any) -> None:
        self.carried.append((method, params))


class Client2(peers2.Client):
    """A client of v2 that notes what it hears and consents to everything."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[v2.RequestPermissionRequest] = []
        self.idle = asyncio.Event()
        self.waiting = asyncio.Event()
        self.is_slow = False

    async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
        update = to_builtins(params.update)
        self.updates.append(update)
        if update.get("state") == "idle":
            self.idle.set()

    async def session_request_permission(self, params: v2.RequestPermissionRequest, /) -> v2.RequestPermissionResponse:
        self.asked.append(params)
        self.waiting.set()
        if self.is_slow:
            await asyncio.sleep(60)
        return v2.RequestPermissionResponse(outcome=v2.SelectedPermissionOutcome(option_id="yes"))


class Setting:
    """What the monitors of both connections and the adapter have told."""

    def __init__(self) -> None:
        self.breaches: list[str] = []
        self.losses: list[Loss] = []
        self.front = Monitor()
        self.back = Monitor()

    def options(self, monitor: Monitor, name: str) -> Any:
        def told(what: object) -> None:
            self.breaches.append(f"{name}: {what}")

        return {"monitor": monitor, "on_event": told, "strict": True}

    def finish(self) -> None:
        for name, monitor in (("front", self.front), ("back", self.back)):
            self.breaches += [f"{name}: {one}" for one in monitor.finish()]


@asynccontextmanager
async def client2_with_agent1(
    client: Client2, agent: peers1.Agent, setting: Setting, **named: Any
) -> AsyncGenerator[tuple[peers2.RemoteAgent, AgentAsV2]]:
    """A client of v2 and an agent of v1, with the adapter between them."""
    near, far = pair()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(peers1.connect_client(agent, far))
        adapter = await stack.enter_async_context(
            as_v2(near, on_loss=setting.losses.append, **setting.options(setting.back, "back"), **named)
        )
        calls, _ = await stack.enter_async_context(
            peers2.join(adapter, client, **setting.options(setting.front, "front"))
        )
        yield calls, adapter


@asynccontextmanager
async def client1_with_agent2(
    client: Client1, agent: peers2.Agent, setting: Setting, **named: Any
) -> AsyncGenerator[tuple[peers1.RemoteAgent, AgentAsV1]]:
    """A client of v1 and an agent of v2, with the adapter between them."""
    near, far = pair()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(peers2.connect_client(agent, far))
        adapter = await stack.enter_async_context(
            as_v1(near, on_loss=setting.losses.append, **setting.options(setting.back, "back"), **named)
        )
        calls, _ = await stack.enter_async_context(
            peers1.join(adapter, client, **setting.options(setting.front, "front"))
        )
        yield calls, adapter


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await asyncio.wait_for(work(), 30)

    return asyncio.run(main())
