"""What a cancellation reaches: a prompt that was not sent yet, work that goes on all the same, a terminal that is being created."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, v1, v2

from acp_session import Agent, Client, ClientConnection, PeerError, Session, Turn, connect_in_memory
from acp_session.services import ClientServices
from acp_session.serving import serve_agent
from acp_workspace.containment import guarantees
from jsonrpc_bindings.transport import pair

from .raw_client import RawClient, talking
from .test_agent import Working, both, echo, play

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")


@both
def test_work_that_is_left_to_itself_can_do_nothing_more_for_its_session(tmp_path: Path, version: int) -> None:
    refusals: list[str] = []
    begun, going, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def stubborn(turn: Turn) -> None:
        begun.set()
        while not going.is_set():
            with suppress(asyncio.CancelledError):
                await going.wait()
        session = turn.session
        attempts: dict[str, Callable[[], Awaitable[object]]] = {
            "message": lambda: turn.send_message("late"),
            "title": lambda: session.set_title("late"),
            "options": lambda: session.set_config_options([]),
            "permission": lambda: turn.request_permission("Still?"),
            "file": lambda: turn.write_text_file("late.txt", "late"),
            "command": lambda: turn.run_command("touch", "late.txt"),
            "child": lambda: asyncio.gather(turn.send_thought("late")),
        }
        for name, attempt in attempts.items():
            with pytest.raises(ConnectionClosed, match="cancelled"):
                await attempt()
            refusals.append(name)
        done.set()

    async def work() -> None:
        agent = Working(stubborn)
        async with talking(agent, version, grace=0.05) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.ensure_future(client.prompt(id_))
            await begun.wait()
            client.cancel(id_)
            assert await prompt == "cancelled"
            before = len(client.notes), len(client.asked)
            going.set()
            await done.wait()
            await asyncio.sleep(0.05)
            assert (len(client.notes), len(client.asked)) == before
            agent.work = echo
            assert await client.prompt(id_, "again") == "end_turn"
            assert client.text(id_) == "again"

    play(work)
    assert refusals == ["message", "title", "options", "permission", "file", "command", "child"]
    assert not (tmp_path / "late.txt").exists()


@both
def test_a_prompt_that_was_not_sent_yet_is_cancelled_too(tmp_path: Path, version: int) -> None:
    prompts: list[str] = []

    class Noting(Agent):
        async def on_prompt(self, turn: Turn) -> str:
            prompts.append(turn.text)
            return "end_turn"

    async def work() -> None:
        client = Client(allowed_roots=[tmp_path])
        async with connect_in_memory(Noting(), client, versions=(version,)) as agent:
            session = await agent.new_session(tmp_path)
            for steps in range(4):
                prompt = asyncio.create_task(session.prompt("one"))
                for _ in range(steps):
                    await asyncio.sleep(0)
                await session.cancel()
                assert (await prompt).stop_reason == "cancelled"
                assert (await session.prompt("two")).stop_reason == "end_turn"
                assert steps or prompts == ["two"]

    play(work)


def test_a_terminal_that_is_being_created_is_cancelled_at_the_client(tmp_path: Path) -> None:
    async def never(_: dict[str, Any]) -> Any:
        await asyncio.sleep(60)

    async def work() -> None:
        async def run(turn: Turn) -> None:
            await turn.run_command("sleep", "60")

        async with talking(Working(run), 1, answers={"terminal/create": never}) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.ensure_future(client.prompt(id_))
            create = await client.until(lambda: [one for one in client.asked if one["method"] == "terminal/create"])
            client.cancel(id_)
            assert await prompt == "cancelled"
            await client.until(
                lambda: [one for one in client.notes if one["method"] == "$/cancel_request"],
            )
            (cancelled,) = [one for one in client.notes if one["method"] == "$/cancel_request"]
            assert cancelled["params"]["requestId"] == create[0]["id"]

    play(work)


@both
def test_hooks_that_never_return_hold_nothing_up(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Hanging(Agent):
        async def on_prompt(self, turn: Turn) -> None:  # noqa: ARG002
            await asyncio.sleep(60)

        async def on_cancel(self, session: Session) -> None:  # noqa: ARG002
            await asyncio.sleep(60)

        async def on_close_session(self, session: Session) -> None:  # noqa: ARG002
            await asyncio.sleep(60)

        async def on_extension_notification(self, connection: ClientConnection, method: str, params: Any) -> None:  # noqa: ARG002
            await asyncio.sleep(60)

    async def work() -> None:
        async with talking(Hanging(), version, grace=0.02) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.ensure_future(client.prompt(id_))
            await asyncio.sleep(0.02)
            client.send({"method": "_tide", "params": {}})
            client.cancel(id_)
            assert await prompt == "cancelled"
            await client.request("session/close", sessionId=id_)
            await client.new(tmp_path)  # closed with the connection

    play(work)
    left = [record.getMessage() for record in caplog.records if "has not returned" in record.getMessage()]
    assert [one.partition("'")[2].partition("'")[0] for one in left] == [
        "on_extension_notification",
        "on_cancel",
        *("on_close_session", "on_close_session"),
    ]


@both
def test_a_session_ends_though_its_hook_fails_before_it_is_a_coroutine(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("low")

    class Wrapped(Agent):
        on_close_session: Any = functools.wraps(Agent.on_close_session)(fail)

    async def work() -> None:
        async with talking(Wrapped(), version) as client:
            id_ = await client.new(tmp_path)
            await client.request("session/close", sessionId=id_)
            await client.load(id_, tmp_path)

    play(work)
    assert "'on_close_session' failed" in caplog.text


@both
def test_what_the_client_does_not_offer_ends_a_turn_with_words_that_say_so(tmp_path: Path, version: int) -> None:
    async def ask(turn: Turn) -> None:
        field = v2.StringPropertySchema(title="Name")
        await turn.ask("Who?", {"name": field})

    async def work() -> None:
        client = Client(allowed_roots=[tmp_path])
        async with connect_in_memory(Working(ask), client, versions=(version,)) as agent:
            session = await agent.new_session(tmp_path)
            with pytest.raises(PeerError, match=r"elicitation/create.*did not advertise") as failed:
                await session.prompt("Ask")
            assert failed.value.code == -32603

    play(work)


def test_the_ids_of_terminals_of_a_client_are_bounded() -> None:
    class Remote:
        number = 0

        async def terminal_create(self, _: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
            self.number += 1
            return v1.CreateTerminalResponse(terminal_id=f"t{self.number}")

    async def work() -> None:
        remote: Any = Remote()
        services = ClientServices(lambda: remote, v1.ClientCapabilities)
        for _ in range(3000):
            await services.answer("terminal/create", v1.CreateTerminalRequest(session_id="s", command="true"))
        known = services.list_terminals("s") or ()
        assert len(known) <= 1000
        assert "t3000" in known

    play(work)


@both
def test_a_client_that_ends_during_a_turn_is_one_line_in_the_log(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    asking = asyncio.Event()

    async def ask(turn: Turn) -> None:
        asking.set()
        await turn.request_permission("Go on?")

    async def never(_: object) -> None:
        await asyncio.Event().wait()

    async def work() -> None:
        async with talking(Working(ask), version, answers={"session/request_permission": never}) as client:
            prompt = asyncio.create_task(client.prompt(await client.new(tmp_path)))
            prompt.add_done_callback(lambda one: one.cancelled() or one.exception())
            await asking.wait()
            await asyncio.sleep(0.01)

    with caplog.at_level("INFO", "acp_session"):
        play(work)
    (line,) = [one for one in caplog.records if "'on_prompt' failed" in one.getMessage()]
    assert not line.exc_info


@both
def test_work_that_only_sends_can_be_cancelled_although_the_client_reads_all_at_once(
    tmp_path: Path, version: int
) -> None:
    sent: list[int] = []

    async def stream(turn: Turn) -> None:
        for number in range(20_000):
            await turn.send_message("tide")
            sent.append(number)

    async def work() -> None:
        near, far = pair(1 << 30)  # never full
        serving = asyncio.create_task(serve_agent(Working(stream), near))
        client = RawClient(version, far)
        await client.initialize()
        id_ = await client.new(tmp_path)
        prompt = asyncio.create_task(client.prompt(id_))
        await client.until(client.text)
        client.cancel(id_)
        assert await prompt == "cancelled"
        await far.close()
        await serving
        client.reading.cancel()

    play(work)
    assert len(sent) < 20_000
