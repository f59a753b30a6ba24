"""Both hosts over a connection in memory: the life of sessions, roots that cannot disagree, turns and their cancellation, state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import ErrorResponse, Request, Response, v1

from acp_session.agent_host import AgentHost
from acp_session.client_base import OpenSession
from acp_session.client_host import ClientHost
from acp_session.permission import Prompt
from acp_session.transcript import Transcript
from acp_session.turn import Turn
from acp_workspace.containment import guarantees
from acp_workspace.errors import INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, REFUSED, RequestError
from acp_workspace.filesystem import FileEvent
from acp_workspace.terminals import TerminalPolicy
from acp_workspace.workspace import RootSet
from workspace.conftest import descriptors

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

OPTIONS = [
    v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    v1.PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Pair:
    """A client and an agent; what one sends, the other handles in the next turn of the loop, as bytes."""

    def __init__(self, base: Path, run: Callable[[Pair, Turn], Awaitable[str]] | None = None, **named: Any) -> None:
        for name in ("app", "lib", "outside"):
            (base / name).mkdir(exist_ok=True)
            (base / name / "a").write_text(name)
        self.base = base
        self.app, self.lib = str(base / "app"), str(base / "lib")
        self.run = run
        self.sent: list[str] = []
        self.refused: set[str] = set()
        self.agent = AgentHost(self.to_client)
        named = {"granted": [self.app, self.lib], "terminals": TerminalPolicy(grace=0.1), **named}
        self.client = ClientHost(self.call, self.to_agent, **named)

    async def call(self, method: str, params: Any) -> Any:
        await asyncio.sleep(0)
        self.sent.append(method)
        if method in self.refused:
            raise RequestError(-32603, "not today")
        handlers: dict[str, Callable[[Any], Awaitable[Any]]] = {
            "initialize": self.initialize,
            "session/new": self.agent.new,
            "session/load": self.agent.load,
            "session/resume": self.agent.resume,
            "session/fork": self.agent.fork,
            "session/list": self.agent.list_sessions,
            "session/close": self.agent.close,
            "session/delete": self.agent.delete,
            "session/prompt": lambda params: self.agent.prompt(params, self.work),
        }
        message = v1.decode(v1.encode(Request(1, method, params)), sender="client")
        assert isinstance(message, Request)
        result = await handlers[method](message.params)
        return v1.decode(v1.encode(Response(1, result, method)), sender="agent", pending={1: method}).result  # type: ignore[union-attr]

    async def initialize(self, _: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=self.agent.capabilities())

    async def work(self, turn: Turn) -> Any:
        assert self.run is not None
        return await self.run(self, turn)

    def to_client(self, _: str, params: Any) -> None:
        self.client.notice(params)

    def to_agent(self, method: str, params: Any) -> None:
        self.sent.append(method)
        self.agent.cancel(params)

    async def ask(self, params: Any) -> Any:
        """What the agent asks of the client: the result, or the code of the error."""
        answer = await self.client.answer(Request(1, "x", params))
        return answer.error.code if isinstance(answer, ErrorResponse) else answer.result

    async def read(self, session: str, path: str) -> Any:
        found = await self.ask(v1.ReadTextFileRequest(session_id=session, path=f"{self.base}/{path}"))
        return found.content if isinstance(found, v1.ReadTextFileResponse) else found


def play(base: Path, work: Callable[[Pair], Awaitable[Any]], run: Any = None, **named: Any) -> Any:
    async def main() -> Any:
        pair = Pair(base, run, **named)
        await pair.client.initialize()
        try:
            return await asyncio.wait_for(work(pair), 60)
        finally:
            await pair.client.aclose()
            await pair.agent.aclose()

    return asyncio.run(main())


class Follower:
    def __init__(self) -> None:
        self.told: list[tuple[str, ...] | None] = []

    async def follow(self, roots: RootSet | None) -> None:
        self.told.append(None if roots is None else roots.scope.paths)


# --- the life of a session -------------------------------------------------------------------------------------------


def test_all_parts_have_the_roots_of_the_session_whatever_happens_to_it(tmp_path: Path, mechanism: str) -> None:
    async def work(pair: Pair) -> None:
        client, follower = pair.client, Follower()
        session = (await client.new(pair.app, [pair.lib])).id
        await client.follow(session, follower)

        async def served() -> list[Any]:
            found = [await pair.read(session, path) for path in ("app/a", "lib/a")]
            for path in (pair.app, pair.lib):
                made = await pair.ask(v1.CreateTerminalRequest(session_id=session, command="true", cwd=path))
                found.append(made if isinstance(made, int) else "ran")
            return found

        assert await served() == ["app", "lib", "ran", "ran"]
        await client.load(session, pair.app)  # fewer roots
        assert await served() == ["app", REFUSED, "ran", REFUSED]
        assert pair.agent.roots(session).scope.paths == (pair.app,)
        await client.resume(session, pair.lib)  # others
        assert await served() == [REFUSED, "lib", REFUSED, "ran"]
        pair.refused = {"session/load"}
        with pytest.raises(RequestError, match="not today"):
            await client.load(session, pair.app, [pair.lib])
        assert await served() == [REFUSED, "lib", REFUSED, "ran"]  # as before
        with pytest.raises(RequestError, match="not granted"):
            await client.load(session, f"{tmp_path}/outside")
        assert await served() == [REFUSED, "lib", REFUSED, "ran"]
        await client.close(session)
        assert await served() == [INVALID_PARAMS] * 4
        assert follower.told == [(pair.app, pair.lib), (pair.app,), (pair.lib,), None]
        with pytest.raises(RequestError):
            pair.agent.roots(session)

    play(tmp_path, work)


@pytest.mark.parametrize("end", ["close", "delete", "aclose"])
@pytest.mark.parametrize("refused", [False, True])
def test_nothing_is_served_after_the_end_even_where_the_agent_refuses(tmp_path: Path, end: str, refused: bool) -> None:
    async def work(pair: Pair) -> None:
        session = (await pair.client.new(pair.app)).id
        await pair.ask(v1.CreateTerminalRequest(session_id=session, command="sleep", args=["60"]))
        pair.refused = {f"session/{end}"} if refused else set()
        try:
            await (pair.client.aclose() if end == "aclose" else getattr(pair.client, end)(session))
        except RequestError:
            assert refused
        assert isinstance(await pair.read(session, "app/a"), int)
        assert not pair.client.sessions

    play(tmp_path, work)


def test_while_a_load_is_under_way_its_roots_are_in_force_and_no_others(tmp_path: Path) -> None:
    async def work(pair: Pair) -> None:
        session = (await pair.client.new(pair.app, [pair.lib])).id
        found: list[Any] = []
        load = pair.agent.load

        async def loading(request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
            found.extend([await pair.read(session, "app/a"), await pair.read(session, "lib/a")])
            return await load(request)

        pair.agent.load = loading  # type: ignore[method-assign]
        await pair.client.load(session, pair.lib)
        assert found == [REFUSED, "lib"]

    play(tmp_path, work)


def test_a_load_that_fails_leaves_the_state_and_nothing_open(tmp_path: Path) -> None:
    async def work(pair: Pair) -> None:
        session = await pair.client.new(pair.app)
        pair.agent.sessions[session.id].history.clear()
        await pair.agent.sessions[session.id].update(v1.AgentMessageChunk(content=v1.TextContent(text="kept")))
        before = descriptors()
        pair.refused = {"session/load", "session/resume"}
        for change in (pair.client.load, pair.client.resume):
            for name in (session.id, "unknown"):
                with pytest.raises(RequestError, match="not today"):
                    await change(name, pair.lib)
        assert descriptors() == before
        assert [one.text for one in session.transcript.messages] == ["kept"]
        assert set(pair.client.sessions) == {session.id}

    play(tmp_path, work)


def test_a_load_tells_the_history_again_and_a_resume_does_not(tmp_path: Path) -> None:
    async def run(pair: Pair, turn: Turn) -> str:
        await turn.say("high ")
        await turn.say("tide")
        return "end_turn"

    async def work(pair: Pair) -> None:
        session = await pair.client.new(pair.app)
        await pair.client.prompt(session.id, [v1.TextContent(text="?")])
        whole = [("user", "?"), ("agent", "high tide")]
        for again in (pair.client.load, pair.client.resume):
            assert spoken(await again(session.id, pair.app)) == whole
        await pair.client.close(session.id)
        assert spoken(await pair.client.load(session.id, pair.app)) == whole
        fork = await pair.client.fork(session.id, pair.lib)
        assert fork.id != session.id
        assert pair.client.roots(fork.id).scope.paths == (pair.lib,)

    play(tmp_path, work, run)


def spoken(session: OpenSession[Transcript]) -> list[tuple[str, str]]:
    return [(one.speaker, one.text) for one in session.transcript.messages]


@pytest.mark.parametrize("echo", [False, True])
def test_what_the_user_said_is_told_again_once(tmp_path: Path, echo: bool) -> None:
    async def run(pair: Pair, turn: Turn) -> str:
        for block in turn.prompt if echo else ():
            await turn.session.update(v1.UserMessageChunk(content=block, message_id=f"m{len(pair.sent)}"))
        return "end_turn"

    async def work(pair: Pair) -> None:
        session = await pair.client.new(pair.app)
        for words in (("ebb", " and flow"), ("ebb",), ("ebb", "ebb")):
            await pair.client.prompt(session.id, [v1.TextContent(text=word) for word in words])
        said = [("user", "ebb and flow"), ("user", "ebb"), ("user", "ebbebb")]
        assert spoken(session) == (said if echo else [])  # nothing is told of it in the turn itself
        assert spoken(await pair.client.load(session.id, pair.app)) == said
        fork = await pair.client.fork(session.id, pair.app)
        await pair.client.prompt(fork.id, "slack")
        assert spoken(await pair.client.load(fork.id, pair.app)) == [*said, ("user", "slack")]

    play(tmp_path, work, run)


def test_sessions_are_listed_in_pages_by_their_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_session.agent_base.PAGE", 2)

    async def work(pair: Pair) -> None:
        ids = [(await pair.client.new(pair.app, [pair.lib] if number % 2 else [])).id for number in range(5)]
        assert {one.session_id for one in await pair.client.list_sessions()} == set(ids)
        assert pair.sent.count("session/list") == 3
        few = await pair.client.list_sessions(cwd=pair.app, additional=[f"{pair.lib}/", pair.lib])
        assert {one.session_id for one in few} == set(ids[1::2])
        await pair.client.delete(ids[1])
        assert {one.session_id for one in await pair.client.list_sessions(additional=[pair.lib])} == {ids[3]}
        await pair.client.delete(ids[1])
        with pytest.raises(RequestError):
            await pair.agent.list_sessions(v1.ListSessionsRequest(cursor="other"))

    play(tmp_path, work)


def test_pages_that_do_not_end_are_an_error(tmp_path: Path) -> None:
    async def work(pair: Pair) -> None:
        async def listing(request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
            return v1.ListSessionsResponse(sessions=[], next_cursor="again")

        pair.agent.list_sessions = listing  # type: ignore[method-assign]
        with pytest.raises(RequestError, match="do not end"):
            await pair.client.list_sessions()

    play(tmp_path, work)


def test_what_the_agent_does_not_advertise_is_not_sent(tmp_path: Path) -> None:
    async def work(pair: Pair) -> None:
        assert pair.client.agent is not None
        pair.client.agent.agent_capabilities = v1.AgentCapabilities()
        sent = list(pair.sent)
        client = pair.client
        for ask in (client.load, client.resume, client.fork):
            with pytest.raises(RequestError) as caught:
                await ask("s", pair.app)
            assert caught.value.code == METHOD_NOT_FOUND
        for other in (client.list_sessions(), client.delete("s")):
            with pytest.raises(RequestError):
                await other
        with pytest.raises(RequestError, match="additionalDirectories"):
            await client.new(pair.app, [pair.lib])
        assert pair.sent == sent
        await client.close((await client.new(pair.app)).id)  # what is not advertised ends here alone
        assert "session/close" not in pair.sent

    play(tmp_path, work)


def test_what_comes_before_the_answer_to_session_new_is_not_lost(tmp_path: Path) -> None:
    async def work(pair: Pair) -> None:
        new = pair.agent.new
        reading: list[asyncio.Task[Any]] = []

        async def eager(request: v1.NewSessionRequest) -> v1.NewSessionResponse:
            result = await new(request)
            commands = [v1.AvailableCommand(name="plan", description="Plan")]
            await pair.agent.sessions[result.session_id].update(v1.AvailableCommandsUpdate(available_commands=commands))
            reading.append(asyncio.create_task(pair.read(result.session_id, "app/a")))
            await asyncio.sleep(0)
            return result

        pair.agent.new = eager  # type: ignore[method-assign]
        session = await pair.client.new(pair.app)
        assert [one.name for one in session.transcript.commands] == ["plan"]
        assert await reading[0] == "app"

    play(tmp_path, work)


# --- turns -----------------------------------------------------------------------------------------------------------


def asked(session: str) -> v1.RequestPermissionRequest:
    call = v1.ToolCallUpdate(tool_call_id="c", title="Run it")
    return v1.RequestPermissionRequest(session_id=session, tool_call=call, options=OPTIONS)


def test_a_turn_streams_asks_edits_and_runs(tmp_path: Path) -> None:
    events: list[Any] = []

    async def run(pair: Pair, turn: Turn) -> str:
        session = turn.session.id
        await turn.say("working")
        answer = await pair.ask(asked(session))
        assert answer.outcome.option_id == "yes"
        await pair.ask(v1.WriteTextFileRequest(session_id=session, path=f"{pair.app}/new", content="text"))
        made = await pair.ask(v1.CreateTerminalRequest(session_id=session, command="cat", args=["new"]))
        content: list[v1.ToolCallContent] = [v1.Terminal(terminal_id=made.terminal_id)]
        await turn.session.update(v1.SessionToolCallUpdate(tool_call_id="c", status="in_progress", content=content))
        await pair.ask(v1.WaitForTerminalExitRequest(session_id=session, terminal_id=made.terminal_id))
        await pair.ask(v1.ReleaseTerminalRequest(session_id=session, terminal_id=made.terminal_id))
        await turn.session.update(v1.SessionToolCallUpdate(tool_call_id="c", status="completed"))
        return "end_turn"

    def approve(_: object) -> bool:
        return True

    async def ask(prompt: Prompt) -> str:
        return prompt.options[0].option_id

    async def work(pair: Pair) -> None:
        session = await pair.client.new(pair.app)
        assert (await pair.client.prompt(session.id, [v1.TextContent(text="go")])).stop_reason == "end_turn"
        call = session.transcript.calls["c"].now
        assert (call.title, call.status) == ("Run it", "completed")
        assert isinstance(call.content, list)
        terminal = call.content[0]
        assert isinstance(terminal, v1.Terminal)
        assert pair.client.terminals is not None

    play(tmp_path, work, run, permission=ask, approve=approve, audit=events.append)
    assert sum(isinstance(one, FileEvent) for one in events) == 2
    assert {one.phase for one in events} == {"started", "done"}


@pytest.mark.parametrize("wait", ["permission", "approval of a file", "approval of a command", "terminal", "nothing"])
@pytest.mark.parametrize("stubborn", [False, True])
def test_cancelling_a_turn_answers_and_ends_what_is_open(tmp_path: Path, wait: str, stubborn: bool) -> None:
    reached: list[str] = []
    answers: list[Any] = []

    async def run(pair: Pair, turn: Turn) -> str:
        session = turn.session.id
        await turn.session.update(v1.ToolCall(tool_call_id="c", title="Run it"))
        reached.append(wait)
        open_: dict[str, Any] = {
            "permission": asked(session),
            "approval of a file": v1.WriteTextFileRequest(session_id=session, path=f"{pair.app}/new", content=""),
            "approval of a command": v1.CreateTerminalRequest(session_id=session, command="true"),
        }
        try:
            if wait == "terminal":
                pair.client._approve = None  # pyright: ignore[reportPrivateUsage]
                assert pair.client.terminals is not None
                pair.client.terminals._approve = None  # pyright: ignore[reportPrivateUsage]
                made = await pair.ask(v1.CreateTerminalRequest(session_id=session, command="sleep", args=["60"]))
                reached.append("runs")
                waiting = v1.WaitForTerminalExitRequest(session_id=session, terminal_id=made.terminal_id)
                answers.append(await asyncio.shield(asyncio.create_task(pair.ask(waiting))))
            elif wait == "nothing":
                await asyncio.sleep(60)
            else:
                asking = asyncio.create_task(pair.ask(open_[wait]))
                asking.add_done_callback(lambda task: answers.append(task.result()))
                await asyncio.shield(asking)
        except asyncio.CancelledError:
            if stubborn:
                return "end_turn"
            raise
        return "end_turn"

    async def forever(_: object) -> Any:
        reached.append("asked")
        await asyncio.sleep(60)

    async def work(pair: Pair) -> None:
        session = await pair.client.new(pair.app)
        turn = asyncio.create_task(pair.client.prompt(session.id, [v1.TextContent(text="go")]))
        while len(reached) < (1 if wait == "nothing" else 2):
            await asyncio.sleep(0.001)
        with pytest.raises(RequestError, match="in a turn"):
            await pair.client.prompt(session.id, [])
        await pair.client.cancel(session.id)
        assert (await turn).stop_reason == "cancelled"
        assert session.transcript.calls["c"].is_cancelled
        for _ in range(100):
            await asyncio.sleep(0.001)
        if wait == "permission":
            assert [one.outcome for one in answers] == [v1.CancelledPermissionOutcome()]
        elif wait.startswith("approval"):
            assert answers == [REFUSED]
            assert not (tmp_path / "app/new").exists()
        elif wait == "terminal":
            terminals = pair.client.terminals
            assert terminals is not None
            running = terminals._sessions[session.id].running  # pyright: ignore[reportPrivateUsage]
            assert all(child.state.exit is not None for child in running.values())
        # what is asked between the cancellation and the next turn is answered at once
        late = await pair.ask(asked(session.id))
        assert late.outcome == v1.CancelledPermissionOutcome()

    play(tmp_path, work, run, permission=forever, approve=forever)


@pytest.mark.parametrize("fails", [False, True])
def test_a_turn_that_is_cancelled_once_its_work_has_ended_is_cancelled_all_the_same(
    tmp_path: Path, *, fails: bool
) -> None:
    async def main() -> None:
        sent: list[object] = []
        host = AgentHost(lambda method, params: sent.append(method))
        session = (await host.new(v1.NewSessionRequest(cwd=str(tmp_path), mcp_servers=[]))).session_id

        async def run(turn: Turn) -> v1.StopReason:
            asyncio.get_running_loop().call_soon(host.cancel, v1.CancelNotification(session_id=session))
            if fails:
                raise ValueError("no more")
            return "end_turn"

        request = v1.PromptRequest(session_id=session, prompt=[])
        assert (await host.prompt(request, run)).stop_reason == "cancelled"

        async def rest(turn: Turn) -> v1.StopReason:
            return "end_turn"

        assert (await host.prompt(request, rest)).stop_reason == "end_turn"

    asyncio.run(main())


def test_no_command_starts_between_the_cancellation_of_a_turn_and_its_end(tmp_path: Path) -> None:
    found: list[Any] = []

    async def run(pair: Pair, turn: Turn) -> str:
        command = v1.CreateTerminalRequest(session_id=turn.session.id, command="touch", args=["ran"])
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            found.append(await pair.ask(command))
        return "end_turn"

    async def work(pair: Pair) -> None:
        session = (await pair.client.new(pair.app)).id
        turn = asyncio.create_task(pair.client.prompt(session, []))
        await asyncio.sleep(0.01)
        await pair.client.cancel(session)
        assert (await turn).stop_reason == "cancelled"
        assert found == [REFUSED]
        later = await pair.ask(v1.CreateTerminalRequest(session_id=session, command="true"))
        assert isinstance(later, v1.CreateTerminalResponse)

    play(tmp_path, work, run)
    assert not (tmp_path / "app/ran").exists()


def yes(_: Prompt) -> str:
    return "yes"


def test_the_next_turn_after_a_cancelled_one_asks_again(tmp_path: Path) -> None:
    async def run(pair: Pair, turn: Turn) -> str:
        if len(turn.prompt) == 1:
            await asyncio.sleep(60)
        answer = await pair.ask(asked(turn.session.id))
        return "end_turn" if isinstance(answer.outcome, v1.SelectedPermissionOutcome) else "refusal"

    async def work(pair: Pair) -> None:
        session = (await pair.client.new(pair.app)).id
        text = v1.TextContent(text="go")
        first = asyncio.create_task(pair.client.prompt(session, [text]))
        await asyncio.sleep(0.01)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert pair.sent[-1] == "session/cancel"
        for _ in range(10):
            await asyncio.sleep(0)
        assert (await pair.client.prompt(session, [text, text])).stop_reason == "end_turn"

    play(tmp_path, work, run, permission=yes)


@pytest.mark.parametrize("end", ["close", "aclose"])
def test_the_end_of_a_session_answers_what_is_open(tmp_path: Path, end: str) -> None:
    async def forever(_: object) -> Any:
        await asyncio.sleep(60)

    async def work(pair: Pair) -> None:
        session = (await pair.client.new(pair.app)).id
        asking = asyncio.create_task(pair.ask(asked(session)))
        await asyncio.sleep(0.01)
        await (pair.client.close(session) if end == "close" else pair.client.aclose())
        assert (await asking).outcome == v1.CancelledPermissionOutcome()

    play(tmp_path, work, permission=forever)


def test_an_agent_that_fails_in_a_turn_says_so_and_may_be_asked_again(tmp_path: Path) -> None:
    async def run(pair: Pair, turn: Turn) -> str:
        raise RequestError(-32603, "broken")

    async def work(pair: Pair) -> None:
        session = (await pair.client.new(pair.app)).id
        for _ in range(2):
            with pytest.raises(RequestError, match="broken"):
                await pair.client.prompt(session, [])

    play(tmp_path, work, run)


def test_a_turn_that_nobody_cancelled_does_not_end_as_cancelled(tmp_path: Path) -> None:
    async def run(pair: Pair, turn: Turn) -> str:
        raise asyncio.CancelledError

    async def work(pair: Pair) -> None:
        session = await pair.client.new(pair.app)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="cancelled from within"):
                await pair.client.prompt(session.id, "Go")

    play(tmp_path, work, run)


def test_what_names_no_session_is_refused(tmp_path: Path) -> None:
    async def work(pair: Pair) -> None:
        assert await pair.ask(asked("none")) == INVALID_PARAMS
        assert await pair.read("none", "app/a") == INVALID_PARAMS
        assert await pair.ask(v1.ListSessionsRequest()) == METHOD_NOT_FOUND
        with pytest.raises(RequestError) as caught:
            await pair.agent.load(v1.LoadSessionRequest(session_id="none", cwd=pair.app, mcp_servers=[]))
        assert caught.value.code == NOT_FOUND

    play(tmp_path, work)


def test_what_is_not_configured_is_not_offered(tmp_path: Path) -> None:
    async def work(pair: Pair) -> None:
        session = (await pair.client.new(pair.app)).id
        found = pair.client.capabilities()
        assert (found.terminal, found.fs.read_text_file) == (False, False)
        assert await pair.read(session, "app/a") == METHOD_NOT_FOUND
        assert await pair.ask(v1.CreateTerminalRequest(session_id=session, command="true")) == METHOD_NOT_FOUND

    play(tmp_path, work, files=None, terminals=None)
