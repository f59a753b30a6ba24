"""Questions for input through the adapters: one that belongs to a request names the request that the client has sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from acp_bindings import PeerError, v1, v2

from adapter.programs import (
    ME1,
    ME2,
    Agent1,
    Agent2,
    Client1,
    Client2,
    Setting,
    client1_with_agent2,
    client2_with_agent1,
    run,
)

FORM: dict[str, Any] = {
    "mode": "form",
    "message": "Which pier?",
    "requestedSchema": {"type": "object", "properties": {"pier": {"type": "integer"}}},
}
HELLO1 = ME1.__replace__(
    client_capabilities=v1.ClientCapabilities(
        elicitation=v1.ElicitationCapabilities(form=v1.ElicitationFormCapabilities())
    )
)
HELLO2 = ME2.__replace__(
    capabilities=v2.ClientCapabilities(elicitation=v2.ElicitationCapabilities(form=v2.ElicitationFormCapabilities()))
)


async def ask(agent: Any, version: Any, **scope: Any) -> str:
    question = version.decode_as(version.CreateElicitationRequest, {**FORM, **scope})
    try:
        return str((await agent.client.elicitation_create(question)).action)
    except PeerError as error:
        return str(error.code)


class AskingAgent1(Agent1):
    answers: list[str]

    async def authenticate(self, _: v1.AuthenticateRequest, /) -> v1.AuthenticateResponse:
        self.answers = [await ask(self, v1, requestId=self.connection.serving), await ask(self, v1, requestId=77)]
        return v1.AuthenticateResponse()

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        self.answers = [
            await ask(self, v1, requestId=self.connection.serving),
            await ask(self, v1, sessionId=params.session_id),
        ]
        return v1.PromptResponse(stop_reason="end_turn")


class AskingAgent2(Agent2):
    answers: list[str]

    async def auth_login(self, _: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
        self.answers = [await ask(self, v2, requestId=self.connection.serving), await ask(self, v2, requestId=77)]
        return v2.LoginAuthResponse()

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        self.answers = [await ask(self, v2, requestId=self.connection.serving)]
        return await super().session_prompt(params)


async def nothing(agent: Agent2, session: str) -> Any:
    return {"stopReason": "end_turn"}


class AnsweringClient1(Client1):
    about: list[Any]

    async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        self.about.append(about(self, params))
        return v1.ElicitationAcceptAction(content={"pier": 4})


class AnsweringClient2(Client2):
    about: list[Any]

    async def elicitation_create(self, params: v2.CreateElicitationRequest, /) -> v2.CreateElicitationResponse:
        self.about.append(about(self, params))
        if self.is_slow:
            self.waiting.set()
            await asyncio.sleep(60)
        return v2.ElicitationAcceptAction(content={"pier": 4})


def about(client: Any, params: Any) -> Any:
    """The method of the request of ours that a question names, or the session."""
    if getattr(params, "request_id", None) is None:
        return params.session_id
    sent = client.connection.find_request(params.request_id)
    return None if sent is None else sent.method


def test_a_question_of_an_agent_of_v1_names_the_request_of_the_client_of_v2_or_the_session() -> None:
    async def work() -> None:
        agent, client, setting = AskingAgent1(), AnsweringClient2(), Setting()
        client.about = []
        async with client2_with_agent1(client, agent, setting) as (calls, adapter):
            await calls.initialize(HELLO2)
            await calls.session_list(v2.ListSessionsRequest())  # ids differ on both sides of the adapter
            await calls.auth_login(v2.LoginAuthRequest(method_id="m"))
            assert (client.about, agent.answers) == (["auth/login"], ["accept", "-32602"])
            client.about.clear()
            await calls.session_new(v2.NewSessionRequest(cwd="/w"))
            await calls.session_prompt(v2.PromptRequest(session_id="s", prompt=[v2.TextContent(text="Hello")]))
            await client.idle.wait()
            assert (client.about, agent.answers) == (["s", "s"], ["accept", "accept"])
            assert adapter.losses.counts == {("elicitation/create", "changed"): 1}
            assert client.updates[0]["sessionUpdate"] == "user_message"
            states = [one["state"] for one in client.updates[1:]]
            assert states == ["running", *("requires_action", "running") * 2, "idle"]

    run(work)


def test_a_question_of_an_agent_of_v2_names_the_request_of_the_client_of_v1() -> None:
    async def work() -> None:
        agent, client, setting = AskingAgent2(nothing), AnsweringClient1(), Setting()
        client.about = []
        async with client1_with_agent2(client, agent, setting) as (calls, adapter):
            await calls.initialize(HELLO1)
            await calls.session_list(v1.ListSessionsRequest())
            await calls.authenticate(v1.AuthenticateRequest(method_id="m"))
            assert (client.about, agent.answers) == (["authenticate"], ["accept", "-32602"])
            client.about.clear()
            await calls.session_new(v1.NewSessionRequest(cwd="/w", mcp_servers=[]))
            prompt = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="Hello")])
            assert (await calls.session_prompt(prompt)).stop_reason == "end_turn"
            assert (client.about, agent.answers) == (["session/prompt"], ["accept"])
            assert adapter.losses.counts.total() == 0

    run(work)


@pytest.mark.parametrize("scope", ["request", "session"])
def test_a_question_that_is_open_when_the_turn_is_cancelled_is_cancelled_with_it(scope: str) -> None:
    class Agent(Agent1):
        answer = ""

        async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
            named = {"request": {"requestId": self.connection.serving}, "session": {"sessionId": params.session_id}}
            self.answer = await ask(self, v1, **named[scope])
            return v1.PromptResponse(stop_reason="cancelled")

    async def work() -> None:
        agent, client, setting = Agent(), AnsweringClient2(), Setting()
        client.about, client.is_slow = [], True
        async with client2_with_agent1(client, agent, setting) as (calls, _):
            await calls.initialize(HELLO2)
            await calls.session_new(v2.NewSessionRequest(cwd="/w"))
            await calls.session_prompt(v2.PromptRequest(session_id="s", prompt=[v2.TextContent(text="Hello")]))
            await client.waiting.wait()
            await calls.session_cancel(v2.CancelSessionNotification(session_id="s"))
            await client.idle.wait()
            assert (client.updates[-1]["stopReason"], agent.answer) == ("cancelled", "cancel")

    run(work)
