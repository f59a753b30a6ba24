"""A connection between two peers in memory: matching, order, limits, cancellation, and the end."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, DecodeError, EncodeError, NotAdvertised, NotStrict, PeerError, v1
from acp_bindings.v1 import peers

from acp_monitor import Monitor
from jsonrpc_bindings.transport import pair
from peers.harbour import Agent, Client, call, raw_agent, raw_client, run, said, wish

HELLO = v1.InitializeRequest(protocol_version=1)
OPEN: dict[str, Any] = {"cwd": "/", "mcpServers": []}


def test_calls_are_typed_and_updates_come_before_the_answer() -> None:
    async def test() -> None:
        client = Client()
        async with peers.join(Agent(), client) as (agent, _):
            assert (await agent.initialize(HELLO)).protocol_version == 1
            new = await agent.session_new(v1.NewSessionRequest(cwd="/srv", mcp_servers=[]))
            assert new.session_id == "/srv"
            assert (await agent.session_prompt(wish("stream"))).stop_reason == "end_turn"
            assert client.heard == [str(number) for number in range(100)]

    run(test)


def test_a_thousand_requests_at_once_are_each_answered_once() -> None:
    async def test() -> None:
        async with peers.join(Agent(), Client()) as (agent, _):
            asked = (agent.session_new(v1.NewSessionRequest(cwd=f"/{n}", mcp_servers=[])) for n in range(1000))
            assert [new.session_id for new in await asyncio.gather(*asked)] == [f"/{n}" for n in range(1000)]

    run(test)


def test_no_more_requests_are_at_work_than_are_allowed_and_those_that_wait_for_the_peer_do_not_count() -> None:
    async def test() -> None:
        ours, client = Agent(), Client()
        ours.go.set()
        async with peers.join(ours, client, concurrency=3) as (agent, _):
            client.text.set()
            await asyncio.gather(*(agent.session_prompt(wish("wait")) for _ in range(50)))
            assert ours.most <= 3
            client.text.clear()
            asking = [asyncio.create_task(agent.session_prompt(wish("ask"))) for _ in range(20)]
            while ours.at_work < 20:
                await asyncio.sleep(0)
            client.text.set()
            await asyncio.gather(*asking)

    run(test)


def test_handlers_that_all_wait_are_bounded_too() -> None:
    async def test() -> None:
        async with raw_client(concurrency=2) as raw:
            prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": "ask"}]}
            raw.say(*(call(number, "session/prompt", prompt) for number in range(40)))
            answers = [await raw.hear() for _ in range(40)]
            refused = [answer for answer in answers if "error" in answer]
            assert len(refused) == 40 - 2 * 16
            assert {answer["error"]["code"] for answer in refused} == {-32603}

    run(test)


def test_a_slow_reader_slows_the_sender_and_loses_nothing() -> None:
    async def test() -> None:
        client = Client()
        unread: list[int] = []
        sent = 0

        async def slow(text: str) -> None:
            await asyncio.sleep(0.001 if int(text) % 50 == 0 else 0)
            unread.append(sent - len(client.heard))

        client.in_update = slow
        async with peers.join(Agent(), client, capacity=2000) as (_, to_client):
            for number in range(500):
                await to_client.session_update(said("s", str(number)))
                sent += 1
            while len(client.heard) < 500:
                await asyncio.sleep(0)
        assert client.heard == [str(number) for number in range(500)]
        assert max(unread) < 20

    run(test)


def test_a_notification_handler_that_waits_for_the_peer_does_not_stop_the_connection() -> None:
    async def test() -> None:
        client = Client()
        async with peers.join(Agent(), client) as (agent, to_client):

            async def ask(text: str) -> None:
                if text == "0":
                    await agent.session_prompt(wish("stream"))

            client.in_update = ask
            await to_client.session_update(said("s", "0"))
            while len(client.heard) < 101:
                await asyncio.sleep(0)

    run(test)


def test_a_request_begins_before_the_notification_after_it_is_handled() -> None:
    async def test() -> None:
        order: list[str] = []

        class Ordered(Agent):
            async def session_prompt(self, _: v1.PromptRequest, /) -> v1.PromptResponse:
                order.append("prompt")
                return v1.PromptResponse(stop_reason="cancelled")

            async def session_cancel(self, _: v1.CancelNotification, /) -> None:
                order.append("cancel")

        async with peers.join(Ordered(), Client()) as (agent, _):
            waiting = asyncio.create_task(agent.session_prompt(wish("x")))
            await asyncio.sleep(0)
            await agent.session_cancel(v1.CancelNotification(session_id="s"))
            await waiting
        assert order == ["prompt", "cancel"]

    run(test)


# --- errors ---


@pytest.mark.parametrize(
    ("text", "code", "message", "data"),
    [
        ("fail", -32603, "internal error", None),
        ("nothing", -32603, "internal error", None),
        ("other", -32603, "internal error", None),
        ("refuse", -32000, "log in first", {"why": "tide"}),
        (
            "params",
            -32602,
            "/params/prompt/0/text: no such wish",
            {"problems": [{"pointer": "/params/prompt/0/text", "message": "no such wish"}]},
        ),
    ],
)
def test_a_failure_of_a_handler_is_answered_by_the_table_and_leaks_nothing(
    text: str, code: int, message: str, data: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        async with peers.join(Agent(), Client()) as (agent, _):
            with pytest.raises(PeerError) as failed:
                await agent.session_prompt(wish(text))
            assert (failed.value.code, failed.value.message, failed.value.data) == (code, message, data)
            assert isinstance(failed.value.error, v1.Error)

    with caplog.at_level(logging.ERROR):
        run(test)
    assert ("a secret of the agent" in caplog.text) is (text == "fail")


def test_what_is_not_served_is_not_found_and_what_was_not_advertised_is_not_asked() -> None:
    async def test() -> None:
        async with peers.join(Agent(), Client()) as (agent, client):
            with pytest.raises(PeerError) as failed:
                await agent.authenticate(v1.AuthenticateRequest(method_id="m"))
            assert failed.value.code == -32601
            await agent.initialize(HELLO)
            load = v1.LoadSessionRequest(session_id="s", cwd="/", mcp_servers=[])
            with pytest.raises(NotAdvertised, match=r"`agentCapabilities\.loadSession`, which the agent did not"):
                await agent.session_load(load)
            with pytest.raises(NotAdvertised):
                await client.fs_read_text_file(v1.ReadTextFileRequest(session_id="s", path="/tide"))
        async with peers.join(Agent(), Client(), gates=False) as (agent, _):
            await agent.initialize(HELLO)
            with pytest.raises(PeerError) as failed:
                await agent.session_load(load)
            assert failed.value.code == -32601

    run(test)


def test_a_peer_that_uses_what_was_not_advertised_is_refused_although_it_is_served() -> None:
    class Loads(Agent):
        async def session_load(self, _: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
            return v1.LoadSessionResponse()

    async def test() -> None:
        async with raw_client(Loads()) as raw:
            raw.say(call(1, "session/load", {"sessionId": "s", **OPEN}))
            assert "result" in await raw.hear()  # nobody has said anything yet
            raw.say(call(2, "initialize", {"protocolVersion": 1}))
            await raw.hear()
            raw.say(call(3, "session/load", {"sessionId": "s", **OPEN}))
            assert (await raw.hear())["error"]["code"] == -32601

    run(test)


def test_extension_methods_come_and_go_as_plain_json() -> None:
    class Extended(Agent):
        async def extension_request(self, method: str, params: Any) -> Any:
            return (
                {"method": method, "params": params}
                if method == "_tide/read"
                else await super().extension_request(method, params)
            )

    async def test() -> None:
        async with peers.join(Extended(), Client()) as (agent, _):
            assert await agent.extension_request("_tide/read", {"at": 3}) == {
                "method": "_tide/read",
                "params": {"at": 3},
            }
            await agent.extension_notification("_tide/turned")
            with pytest.raises(PeerError) as failed:
                await agent.extension_request("_moon")
            assert failed.value.code == -32601

    run(test)


def test_under_strict_nothing_is_sent_that_the_schema_forbids() -> None:
    class Wrong(Agent):
        async def initialize(self, _: v1.InitializeRequest, /) -> v1.InitializeResponse:
            return v1.InitializeResponse(protocol_version=1, auth_methods=[v1.UnknownAuthMethod(type="tide")])

    async def test() -> None:
        async with peers.join(Wrong(), Client(), strict=True) as (agent, _):
            with pytest.raises(NotStrict) as wrong:
                await agent.session_prompt(
                    v1.PromptRequest(session_id="s", prompt=[v1.UnknownContentBlock(type="hologram")])
                )
            assert "/params/prompt/0" in str(wrong.value)
            request = v1.NewSessionRequest(cwd="/", mcp_servers=[])
            request.mcp_servers.append("tide")  # type: ignore[arg-type]
            with pytest.raises(EncodeError, match="/mcpServers/0: an object is expected"):
                await agent.session_new(request)
            with pytest.raises(PeerError) as failed:
                await agent.initialize(HELLO)
            assert failed.value.code == -32603

    run(test)


def test_a_monitor_sees_both_directions() -> None:
    async def test() -> None:
        breaches: list[object] = []
        async with peers.join(Agent(), Client(), monitor=Monitor(), on_event=breaches.append) as (agent, _):
            await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
        assert "initialize" in str(breaches[0])

    run(test)


# --- cancellation ---


def test_a_request_that_is_cancelled_is_taken_back() -> None:
    async def test() -> None:
        ours = Agent()
        async with peers.join(ours, Client()) as (agent, _):
            waiting = asyncio.create_task(agent.session_prompt(wish("wait")))
            while not ours.at_work:
                await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            while ours.at_work:
                await asyncio.sleep(0)
            assert ours.cancelled == ["wait"]
            with pytest.raises(TimeoutError):
                await agent.connection.request("session/prompt", wish("wait"), timeout=0.01)
            await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))  # late answers disturb nobody

    run(test)


def test_a_time_out_may_be_set_for_all_requests() -> None:
    async def test() -> None:
        async with peers.join(Agent(), Client(), timeout=0.01) as (agent, _):
            with pytest.raises(TimeoutError):
                await agent.session_prompt(wish("wait"))

    run(test)


def test_a_request_that_the_peer_takes_back_is_answered_as_cancelled() -> None:
    async def test() -> None:
        async with raw_client() as raw:
            prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": "wait"}]}
            raw.say(call("a", "session/prompt", prompt), call("b", "session/prompt", prompt))
            cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "a"}}
            raw.say(
                cancel, cancel, {**cancel, "params": {"requestId": "none"}}, {**cancel, "params": {"requestId": None}}
            )
            answer = await raw.hear()
            assert (answer["id"], answer["error"]["code"]) == ("a", -32800)
            raw.say(call(1, "session/new", OPEN))
            assert (await raw.hear())["id"] == 1

    run(test)


@pytest.mark.parametrize("steps", range(40))
def test_whoever_is_cancelled_at_any_await_leaves_nothing_behind(steps: int) -> None:
    """The caller is cancelled after a number of turns of the event loop: before, inside and after each await."""

    async def test() -> None:
        ours, client = Agent(), Client()
        client.text.set()

        async def work() -> None:
            async with peers.join(ours, client, capacity=100) as (agent, _):
                await agent.initialize(HELLO)
                await agent.session_prompt(wish("stream"))
                await agent.session_prompt(wish("wait"))

        task = asyncio.create_task(work())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not ours.at_work

    run(test)


# --- the end ---


def test_the_end_of_the_peer_wakes_every_waiter() -> None:
    async def test() -> None:
        async with raw_agent() as (raw, agent):
            waiting = [asyncio.create_task(agent.session_prompt(wish("wait"))) for _ in range(10)]
            for _ in waiting:
                await raw.hear()
            await raw.end.close()
            for found in await asyncio.gather(*waiting, return_exceptions=True):
                assert isinstance(found, ConnectionClosed)
                assert str(found) == "the agent has ended"
            with pytest.raises(ConnectionClosed):
                await agent.session_prompt(wish("x"))
            with pytest.raises(ConnectionClosed):
                await agent.session_cancel(v1.CancelNotification(session_id="s"))

    run(test)


def test_the_end_wakes_whoever_waits_until_the_peer_reads() -> None:
    async def test() -> None:
        far, near = pair(10)
        async with peers.connect_agent(Client(), near) as agent:
            waiting = asyncio.create_task(agent.session_prompt(wish("x")))
            telling = asyncio.create_task(agent.session_cancel(v1.CancelNotification(session_id="s")))
            await asyncio.sleep(0)
            await far.close()
            found = await asyncio.gather(waiting, telling, return_exceptions=True)
            assert [type(one) for one in found] == [ConnectionClosed, ConnectionClosed]

    run(test)


def test_leaving_the_block_ends_what_runs() -> None:
    async def test() -> None:
        ours = Agent()
        async with peers.join(ours, Client()) as (agent, _):
            waiting = asyncio.create_task(agent.session_prompt(wish("wait")))
            while not ours.at_work:
                await asyncio.sleep(0)
        with pytest.raises(ConnectionClosed):
            await waiting
        assert not ours.at_work

    run(test)


def test_an_error_in_the_block_comes_out_as_it_is() -> None:
    async def test() -> None:
        with pytest.raises(KeyError):
            async with peers.join(Agent(), Client()):
                raise KeyError("tide")

    run(test)


def test_a_side_serves_one_connection_at_a_time() -> None:
    async def test() -> None:
        ours = Agent()
        with pytest.raises(RuntimeError, match="is not connected"):
            _ = ours.connection
        async with peers.join(ours, Client()):
            with pytest.raises(RuntimeError, match="connected already"):
                async with peers.join(ours, Client()):
                    pass
        async with peers.join(ours, Client()) as (agent, _):
            await agent.initialize(HELLO)

    run(test)


def test_an_answer_that_cannot_be_read_fails_its_request_alone() -> None:
    async def test() -> None:
        async with raw_agent() as (raw, agent):
            waiting = asyncio.create_task(agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
            number = (await raw.hear())["id"]
            raw.say({"jsonrpc": "2.0", "id": number, "result": {"sessionId": 5}})
            with pytest.raises(DecodeError) as wrong:
                await waiting
            assert wrong.value.problems[0].pointer == "/result/sessionId"

    run(test)


# --- the end, for whoever serves -------------------------------------------------------------------------------------


def test_each_side_hears_once_that_its_connection_is_closed_and_its_failure_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[str] = []

    class Leaving(Agent):
        async def disconnected(self) -> None:
            heard.append("agent")
            raise ValueError("the tide")

    class Left(Client):
        async def disconnected(self) -> None:
            heard.append("client")
            assert self.connection.is_ended

    async def test() -> None:
        client = Left()
        async with peers.join(Leaving(), client):
            pass
        await client.connection.close()

    run(test)
    assert sorted(heard) == ["agent", "client"]
    assert "'disconnected' failed" in caplog.text
