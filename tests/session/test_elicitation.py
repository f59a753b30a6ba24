"""Questions for input: a hosted client asks the user, and knows the session or the request that a question belongs to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from acp_bindings import PeerError, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.hosted import HostedAgent, HostedClient
from acp_session.turn import Turn
from acp_session.v2.hosted import HostedAgent as HostedAgent2
from acp_session.v2.hosted import HostedClient as HostedClient2

FORM: dict[str, Any] = {
    "mode": "form",
    "message": "Which pier?",
    "requestedSchema": {"type": "object", "properties": {}},
}
URL: dict[str, Any] = {"mode": "url", "message": "Sign in", "elicitationId": "e", "url": "https://harbor.example/"}


async def ask(agent: Any, version: Any, question: dict[str, Any], **scope: Any) -> str:
    try:
        return str(
            (
                await agent.client.elicitation_create(
                    version.decode_as(version.CreateElicitationRequest, {**question, **scope})
                )
            ).action
        )
    except PeerError as error:
        return str(error.code)


def accept(_: object) -> object:
    return v1.ElicitationAcceptAction()


def decline(_: object) -> object:
    return v2.ElicitationDeclineAction()


class Agent1(HostedAgent):
    answers: list[str]

    async def authenticate(self, _: v1.AuthenticateRequest, /) -> v1.AuthenticateResponse:
        mine = self.connection.serving
        self.answers = [
            await ask(self, v1, FORM, requestId=mine),
            await ask(self, v1, FORM, requestId=mine + 7),
            await ask(self, v1, FORM, requestId=None),
            await ask(self, v1, FORM, sessionId="none"),
            await ask(self, v1, URL, requestId=mine),
        ]
        return v1.AuthenticateResponse()

    async def turn(self, turn: Turn) -> v1.StopReason:
        self.answers = [await ask(self, v1, FORM, sessionId=turn.session.id)]
        return "cancelled"


class Agent2(HostedAgent2):
    answers: list[str]

    async def auth_login(self, _: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
        mine = self.connection.serving
        self.answers = [await ask(self, v2, FORM, requestId=mine), await ask(self, v2, FORM, requestId=mine + 7)]
        return v2.LoginAuthResponse()


def test_a_question_is_asked_where_it_belongs_to_a_request_that_waits_and_refused_otherwise() -> None:
    async def work() -> None:
        agent, client = Agent1(), HostedClient(elicit=accept)
        async with peers1.join(agent, client) as (calls, _):
            found = await client.host.initialize()
            assert found.protocol_version == 1
            await calls.authenticate(v1.AuthenticateRequest(method_id="m"))
        assert agent.answers == ["accept", *["-32602"] * 4]

    asyncio.run(work())


def test_the_same_in_v2() -> None:
    async def work() -> None:
        agent, client = (
            Agent2(v2.Implementation(name="compass", version="1")),
            HostedClient2(elicit=decline),
        )
        async with peers2.join(agent, client) as (calls, _):
            await client.host.initialize(v2.Implementation(name="lantern", version="1"))
            await calls.auth_login(v2.LoginAuthRequest(method_id="m"))
        assert agent.answers == ["decline", "-32602"]

    asyncio.run(work())


@pytest.mark.parametrize("end", ["turn", "request"])
def test_a_question_ends_with_what_it_belongs_to(end: str) -> None:
    asked = asyncio.Event()
    ended: list[bool] = []

    async def wait(question: Any) -> Any:
        asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    class Agent(Agent1):
        async def authenticate(self, _: v1.AuthenticateRequest, /) -> v1.AuthenticateResponse:
            number = self.connection.serving

            async def later() -> None:
                self.answers = [await ask(self, v1, FORM, requestId=number)]

            self.asking = asyncio.ensure_future(later())
            await asked.wait()
            return v1.AuthenticateResponse()

    async def work() -> None:
        agent, client = Agent(), HostedClient(elicit=wait, granted=["/"])
        async with peers1.join(agent, client) as (calls, _):
            await client.host.initialize()
            if end == "request":
                await calls.authenticate(v1.AuthenticateRequest(method_id="m"))
                await agent.asking
                assert agent.answers == ["cancel"]
            else:
                session = await client.host.new("/")
                turn = asyncio.ensure_future(client.host.prompt(session.id, "Hello"))
                await asked.wait()
                await client.host.cancel(session.id)
                assert (await turn).stop_reason == "cancelled"
            assert ended == [True]

    asyncio.run(asyncio.wait_for(work(), 20))


def test_nobody_is_asked_without_the_hook() -> None:
    async def work() -> None:
        client = HostedClient()
        assert client.host.capabilities().elicitation is None
        async with peers1.join(Agent1(), client) as (_, back):
            question: Any = v1.decode_as(v1.CreateElicitationRequest, {**FORM, "sessionId": "s"})
            with pytest.raises(PeerError) as failed:
                await back.elicitation_create(question)
            assert failed.value.code == -32601

    asyncio.run(work())
