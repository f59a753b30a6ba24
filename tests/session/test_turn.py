"""What an agent does in a turn, by few words, over a connection in memory to a client that serves real files and commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import NotAdvertised, PeerError, v1
from acp_bindings.v1 import peers

from acp_session.agent_host import AgentHost
from acp_session.hosted import HostedAgent, HostedClient
from acp_session.permission import Prompt
from acp_session.turn import Ran, Turn
from acp_workspace.containment import guarantees
from acp_workspace.errors import RequestError

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

Work = Callable[[Turn], Awaitable[Any]]


class Agent(HostedAgent):
    def __init__(self, work: Work, **options: Any) -> None:
        super().__init__(v1.Implementation(name="tide", version="1"), **options)
        self.work = work
        self.found: Any = None

    async def turn(self, turn: Turn) -> v1.StopReason:
        self.found = await self.work(turn)
        return "end_turn"


class Client(HostedClient):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.updates: list[Any] = []

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        self.updates.append(params.update)


def talk(folder: Path, work: Work, **options: Any) -> tuple[Any, list[Any]]:
    """What a turn returned, and the updates that the client saw."""
    (folder / "app").mkdir(exist_ok=True)

    async def whole() -> tuple[Any, list[Any]]:
        agent, client = Agent(work), Client(granted=[str(folder / "app")], **options)
        async with asyncio.timeout(60), peers.join(agent, client):
            hello = await client.host.initialize()
            assert isinstance(hello.agent_info, v1.Implementation)
            session = await client.host.new(str(folder / "app"))
            answer = await client.host.prompt(session.id, "What is the tide?")
            assert answer.stop_reason == "end_turn"
        assert not client.host.sessions
        return agent.found, client.updates

    return asyncio.run(whole())


def test_the_text_of_a_prompt_is_what_its_text_blocks_say(tmp_path: Path) -> None:
    async def work(turn: Turn) -> str:
        return turn.text

    assert talk(tmp_path, work)[0] == "What is the tide?"


def test_files_are_read_and_written_in_the_directory_of_the_session(tmp_path: Path) -> None:
    async def work(turn: Turn) -> Any:
        await turn.write("low.txt", "one\ntwo\nthree\n")
        await turn.write(turn.path("high.txt"), "x")
        return await turn.read("low.txt"), await turn.read("low.txt", line=2, limit=1)

    found, _ = talk(tmp_path, work)
    assert found == ("one\ntwo\nthree\n", "two\n")
    assert (tmp_path / "app" / "high.txt").read_text() == "x"


def test_what_the_client_refuses_is_raised_and_fails_the_tool_call(tmp_path: Path) -> None:
    async def work(turn: Turn) -> Any:
        with pytest.raises(PeerError) as refused:
            async with turn.tool("Read secrets", kind="read", locations=[v1.ToolCallLocation(path="/etc/passwd")]):
                await turn.read("/etc/passwd")
        return refused.value.code

    found, updates = talk(tmp_path, work)
    assert found == -32001
    assert [(one.tool_call_id, one.status) for one in updates] == [("call_1", "pending"), ("call_1", "failed")]
    assert updates[0].locations[0].path == "/etc/passwd"


def test_what_the_client_does_not_offer_is_not_asked_for(tmp_path: Path) -> None:
    async def work(turn: Turn) -> Any:
        with pytest.raises(NotAdvertised):
            await turn.run("true")
        with pytest.raises(NotAdvertised):
            await turn.read("low.txt")

    talk(tmp_path, work, terminals=None, files=None)


def test_commands_tell_their_output_and_how_they_ended(tmp_path: Path) -> None:
    async def work(turn: Turn) -> Any:
        async with turn.tool("Look", kind="execute") as tool:
            plain = await turn.run("sh", "-c", "echo $TIDE; pwd; exit 3", env={"TIDE": "low"}, tool=tool)
        (tmp_path / "app" / "deep").mkdir()
        return plain, await turn.run("pwd", cwd="deep"), await turn.run("sh", "-c", "echo 1234567890", limit=4)

    found, updates = talk(tmp_path, work)
    app = tmp_path / "app"
    assert found == (Ran(f"low\n{app}\n", 3), Ran(f"{app}/deep\n", 0), Ran("890\n", 0, is_truncated=True))
    shown = [item["type"] for one in updates for item in json.loads(v1.encode(one)).get("content") or ()]
    assert shown == ["terminal"]


def test_a_command_that_is_cancelled_with_its_turn_is_released(tmp_path: Path) -> None:
    async def whole() -> None:
        (tmp_path / "app").mkdir()
        begun, ended = asyncio.Event(), asyncio.Event()

        async def work(turn: Turn) -> None:
            try:
                await turn.run("sh", "-c", "echo begun; sleep 600")
            finally:
                ended.set()

        def show(session: str, terminal: str, text: str) -> None:
            begun.set()

        agent = Agent(work)
        client = Client(granted=[str(tmp_path / "app")], show=show)
        async with asyncio.timeout(60), peers.join(agent, client):
            await client.host.initialize()
            session = await client.host.new(str(tmp_path / "app"))
            asked = asyncio.create_task(client.host.prompt(session.id, "Go"))
            await begun.wait()
            await client.host.cancel(session.id)
            assert (await asked).stop_reason == "cancelled"
            await ended.wait()
            assert client.host.terminals is not None

    asyncio.run(whole())


@pytest.mark.parametrize(
    ("answer", "allowed", "status"),
    [("allow", True, "completed"), ("reject", False, "failed"), (None, False, "failed")],
)
def test_a_tool_call_goes_on_only_where_the_user_allows_it(
    tmp_path: Path, answer: str | None, allowed: bool, status: str
) -> None:
    prompts: list[Prompt] = []

    def choose(prompt: Prompt) -> str | None:
        prompts.append(prompt)
        return answer

    async def work(turn: Turn) -> bool:
        async with turn.tool("Write it", kind="edit") as tool:
            return await tool.is_allowed()

    found, updates = talk(tmp_path, work, permission=choose)
    assert found is allowed
    assert [(prompt.title, [one.name for one in prompt.options]) for prompt in prompts] == [
        ("Write it", ["Allow", "Reject"])
    ]
    assert updates[-1].status == status


def test_tool_calls_are_counted_and_told_again_when_a_session_is_loaded(tmp_path: Path) -> None:
    async def whole() -> None:
        async def work(turn: Turn) -> None:
            await turn.think("Hm.")
            async with turn.tool("One"):
                await turn.say("Low.")

        (tmp_path / "app").mkdir()
        client = Client(granted=[str(tmp_path / "app")])
        async with asyncio.timeout(60), peers.join(Agent(work), client):
            await client.host.initialize()
            session = await client.host.new(str(tmp_path / "app"))
            for _ in range(2):
                await client.host.prompt(session.id, "Go")
            before = list(client.updates)
            await client.host.load(session.id, str(tmp_path / "app"))
            again = client.updates[len(before) :]
            assert [one for one in again if not isinstance(one, v1.UserMessageChunk)] == before
            assert [isinstance(one, v1.UserMessageChunk) for one in again] == [True, *[False] * 4] * 2
            ids = [one.tool_call_id for one in before if hasattr(one, "title")]
            assert list(dict.fromkeys(ids)) == ["call_1", "call_2"]

    asyncio.run(whole())


def test_sessions_are_listed_closed_resumed_forked_and_deleted_by_the_agent_without_a_line_of_its_own(
    tmp_path: Path,
) -> None:
    async def whole() -> None:
        async def work(turn: Turn) -> None:
            await turn.say("Low.")

        (tmp_path / "app").mkdir()
        app, client = str(tmp_path / "app"), Client(granted=[str(tmp_path / "app")])
        async with asyncio.timeout(60), peers.join(Agent(work), client):
            host = client.host
            await host.initialize()
            session = await host.new(app)
            await host.prompt(session.id, "Go")
            fork = await host.fork(session.id, app)
            await host.close(session.id)
            await host.resume(session.id, app)
            assert {one.session_id for one in await host.list_sessions()} == {session.id, fork.id}
            await host.delete(fork.id)
            assert [one.session_id for one in await host.list_sessions()] == [session.id]

    asyncio.run(whole())


def test_an_agent_without_turns_says_so_in_its_log_and_answers_an_internal_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def whole() -> None:
        (tmp_path / "app").mkdir()
        client = Client(granted=[str(tmp_path / "app")])
        async with asyncio.timeout(60), peers.join(HostedAgent(), client):
            await client.host.initialize()
            session = await client.host.new(str(tmp_path / "app"))
            with pytest.raises(PeerError) as failed:
                await client.host.prompt(session.id, "Go")
            assert failed.value.code == -32603

    asyncio.run(whole())
    assert "override 'turn'" in caplog.text


def test_a_host_that_was_given_no_way_to_ask_says_so() -> None:
    async def whole() -> None:
        async def run(turn: Turn) -> v1.StopReason:
            await turn.read("a")
            return "end_turn"

        host = AgentHost(lambda method, params: None)
        session = await host.new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
        with pytest.raises(RuntimeError, match="without 'call'"):
            await host.prompt(v1.PromptRequest(session_id=session.session_id, prompt=[]), run)
        await host.aclose()

    asyncio.run(whole())


def test_the_sessions_of_both_hosts_end_with_the_connection(tmp_path: Path) -> None:
    async def whole() -> None:
        stopped: list[str] = []

        async def work(turn: Turn) -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                stopped.append(turn.text)
                raise

        (tmp_path / "app").mkdir()
        agent, client = Agent(work), Client(granted=[str(tmp_path / "app")])
        async with asyncio.timeout(60), peers.join(agent, client):
            await client.host.initialize()
            session = await client.host.new(str(tmp_path / "app"))
            asked = asyncio.create_task(client.host.prompt(session.id, "Wait"))
            while agent.host.sessions[session.id].turn is None:
                await asyncio.sleep(0.01)
        with pytest.raises(ConnectionError):
            await asked
        assert stopped == ["Wait"]
        assert not agent.host.sessions[session.id].is_open
        with pytest.raises(RequestError):
            client.host.roots(session.id)

    asyncio.run(whole())
