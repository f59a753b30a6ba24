"""Hosts on a connection that something else has initialized, such as `negotiation`: they open sessions at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from acp_bindings import v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_monitor import Monitor
from acp_session.hosted import HostedAgent as HostedAgent1
from acp_session.hosted import HostedClient as HostedClient1
from acp_session.negotiation import connect_agent, serve_agent
from acp_session.turn import Turn as Turn1
from acp_session.v2.agent_host import Turn as Turn2
from acp_session.v2.hosted import HostedAgent as HostedAgent2
from acp_session.v2.hosted import HostedClient as HostedClient2
from acp_workspace.containment import guarantees
from acp_workspace.errors import RequestError
from jsonrpc_bindings.transport import pair

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

ME1 = v1.Implementation(name="lantern", version="1")
ME2 = v2.Implementation(name="lantern", version="1")


class Agent1(HostedAgent1):
    def __init__(self) -> None:
        super().__init__()
        self.hello: list[v1.InitializeRequest] = []

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        self.hello.append(params)
        return await super().initialize(params)

    async def turn(self, turn: Turn1) -> v1.StopReason:
        await turn.say("tide")
        return "end_turn"


class Agent2(HostedAgent2):
    def __init__(self) -> None:
        super().__init__(ME2)
        self.hello: list[v2.InitializeRequest] = []

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        self.hello.append(params)
        return await super().initialize(params)

    async def turn(self, turn: Turn2) -> str:
        await turn.say("tide", "m")
        return "end_turn"


def elicit(params: Any) -> None:
    raise AssertionError(params)


class Scene:
    """A client of both versions, an agent of some, and what the monitor says."""

    def __init__(self, agent: str, client: str) -> None:
        self.one, self.two = Agent1(), Agent2()
        self.client1 = HostedClient1(granted=["/"], elicit=elicit)
        self.client2 = HostedClient2(granted=["/"], elicit=elicit)
        self.breaches: list[str] = []
        self.agents = {name: one for name, one in (("v1", self.one), ("v2", self.two)) if name[1] in agent}
        offers: dict[str, Any] = {
            "v1": (self.client1, v1.InitializeRequest(protocol_version=1, client_info=ME1)),
            "v2": (self.client2, v2.InitializeRequest(protocol_version=2, info=ME2)),
        }
        self.offers = {name: offer for name, offer in offers.items() if name[1] in client}

    @asynccontextmanager
    async def met(self) -> AsyncGenerator[Any]:
        near, far = pair()
        monitor = Monitor()

        def told(breach: object) -> None:
            self.breaches.append(str(breach))

        options: Any = {**self.offers, "strict": True, "monitor": monitor, "told": told}
        serving = asyncio.ensure_future(serve_agent(far, **self.agents))  # type: ignore[arg-type]
        connect: Any = connect_agent
        async with asyncio.timeout(30):
            async with connect(near, **options) as agreed:
                yield agreed
            await serving
        self.breaches += map(str, monitor.finish())


@pytest.mark.parametrize("agent", ["1", "2", "1 2"])
@pytest.mark.parametrize("client", ["1", "2", "1 2"])
def test_a_host_opens_sessions_once_the_version_is_negotiated(agent: str, client: str) -> None:
    scene = Scene(agent, client)

    async def work() -> None:
        async with scene.met() as agreed:
            host: Any = (scene.client2 if isinstance(agreed.agent, peers2.RemoteAgent) else scene.client1).host
            assert host.agent == agreed.answer
            session = await host.new("/")
            if host is scene.client1.host:
                assert (await host.prompt(session.id, "?")).stop_reason == "end_turn"
            else:
                assert (await host.turn(session.id, "?")).stop_reason == "end_turn"
            assert [one.text for one in session.transcript.messages if one.speaker == "agent"] == ["tide"]
            with pytest.raises(RequestError, match="initialized already"):
                await host.initialize(ME2 if host is scene.client2.host else ME1)

    asyncio.run(work())
    assert scene.breaches == []
    assert len(scene.one.hello) + len(scene.two.hello) == 1


@pytest.mark.parametrize("agent", ["1", "2"])
@pytest.mark.parametrize("client", ["1", "2"])
def test_after_a_prompt_that_took_too_long_the_next_is_possible_in_every_pair_of_versions(
    agent: str, client: str
) -> None:
    scene = Scene(agent, client)
    begun: list[str] = []

    async def slow(turn: Any) -> Any:
        begun.append(turn.text)
        if turn.text != "next":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(0.02)  # it takes its time to stop
                raise
        return "end_turn"

    async def work() -> None:
        async with scene.met() as agreed:
            host: Any = (scene.client2 if client == "2" else scene.client1).host
            session = await host.new("/")
            send = host.turn if client == "2" else host.prompt
            for number in range(2):
                turn = asyncio.ensure_future(send(session.id, "first"))
                while len(begun) == number:
                    await asyncio.sleep(0)
                turn.cancel()
                await asyncio.wait([turn])
                assert turn.cancelled()
            assert (await send(session.id, "next")).stop_reason == "end_turn"
            if client == "1":  # taken back by `$/cancel_request` alone
                text: list[v1.ContentBlock] = [v1.TextContent(text="first")]
                asking = agreed.agent.session_prompt(v1.PromptRequest(session_id=session.id, prompt=text))
                turn = asyncio.ensure_future(asking)
                while len(begun) == 3:
                    await asyncio.sleep(0)
                turn.cancel()
                await asyncio.wait([turn])
                assert (await send(session.id, "next")).stop_reason == "end_turn"

    scene.one.turn = scene.two.turn = slow  # type: ignore[method-assign]
    asyncio.run(work())
    assert scene.breaches == []


def test_what_a_request_does_not_say_is_advertised_by_the_host() -> None:
    async def told(scene: Scene) -> Any:
        async with scene.met():
            return scene.one.hello[0].client_capabilities if scene.one.hello else scene.two.hello[0].capabilities

    first = Scene("1", "1")
    offered = first.client1.host.capabilities()
    assert offered.fs.read_text_file and offered.terminal
    assert asyncio.run(told(first)) == offered
    second = Scene("2", "2")
    assert asyncio.run(told(second)).elicitation.form is not None
    third = Scene("1", "1")
    none = v1.ClientCapabilities()
    third.offers["v1"] = third.client1, v1.InitializeRequest(protocol_version=1, client_capabilities=none)
    assert asyncio.run(told(third)) == none


def test_a_host_of_a_connection_that_was_initialized_by_hand_opens_sessions() -> None:
    async def work() -> None:
        client, agent = HostedClient1(granted=["/"]), Agent1()
        async with asyncio.timeout(30), peers1.join(agent, client) as (calls, _):
            with pytest.raises(RequestError, match="call 'initialize' first"):
                await client.host.new("/")
            await calls.initialize(v1.InitializeRequest(protocol_version=1))
            await client.host.new("/")
            with pytest.raises(RequestError, match="initialized already"):
                await client.host.initialize()
        assert len(agent.hello) == 1

    asyncio.run(work())


def test_a_host_that_has_initialized_does_not_do_it_again() -> None:
    async def work() -> None:
        client, agent = HostedClient2(granted=["/"]), Agent2()
        async with asyncio.timeout(30), peers2.join(agent, client):
            await client.host.initialize(ME2)
            with pytest.raises(RequestError, match="initialized already"):
                await client.host.initialize(ME2)
        assert len(agent.hello) == 1

    asyncio.run(work())


def test_a_host_initializes_again_where_the_agent_has_another_version() -> None:
    class Newer(Agent1):
        async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
            answer = await super().initialize(params)
            return answer.__replace__(protocol_version=1 if len(self.hello) > 1 else 7)

    async def work() -> None:
        client = HostedClient1(granted=["/"])
        async with asyncio.timeout(30), peers1.join(Newer(), client):
            with pytest.raises(RequestError, match="version 7"):
                await client.host.initialize()
            await client.host.initialize()
            await client.host.new("/")

    asyncio.run(work())
