"""A client on the one core: the same program with an agent of v1 and of v2."""

# ruff: noqa: ARG002 - overrides

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import UNSET, v2

from acp_session import (
    Agent,
    Client,
    ClientSession,
    ConnectionClosed,
    Error,
    InvalidMessage,
    NotAdvertised,
    PeerError,
    PermissionRequest,
    PromptResult,
    RequestError,
    Session,
    Turn,
    connect_agent,
    connect_in_memory,
)
from acp_session.transcript import Message, ToolCallState
from acp_workspace.containment import guarantees
from jsonrpc_bindings.transport import pair
from session.raw_agents import Script, connected, text, words
from workspace.conftest import descriptors

pytestmark = [
    pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root"),
    pytest.mark.parametrize("version", [1, 2]),
]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    for name in ("app", "lib"):
        (tmp_path / name).mkdir()
    return str(tmp_path / "app"), str(tmp_path / "lib")


def play(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


class Yes(Client):
    """Allows everything, and remembers what it saw."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.updates: list[tuple[str, str]] = []
        self.requests: list[PermissionRequest] = []

    async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
        self.updates.append((session.id, str(getattr(update, "session_update", None))))

    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
        self.requests.append(request)
        return "yes"


async def busy(agent: Any, session: str) -> str:
    await agent.say(session, "One moment.")
    diff = {"type": "content", "content": text("old -> new")}
    await agent.call(session, "c", title="Write", kind="edit", status="pending", content=[diff])
    if await agent.ask(session, "Write note.txt") != "yes":
        return "refusal"
    await agent.call(session, "c", status="completed")
    await agent.say(session, "Done.", "b")
    return "end_turn"


# --- sessions --------------------------------------------------------------------------------------------------------


def test_a_prompt_ends_with_its_reason_and_the_transcript_keeps_what_was_reported(
    version: int, folders: tuple[str, str]
) -> None:
    script, client = Script(busy), Yes(allowed_roots=folders)

    async def work() -> None:
        async with connected(version, script, client) as (agent, _):
            assert (agent.version, len(agent.auth_methods), agent.can_load_session) == (version, 1, True)
            session = await agent.new_session(folders[0], additional_directories=[folders[1]])
            assert (session.roots, session.cwd) == (folders, folders[0])
            assert await session.prompt(["Write ", v2.TextContent(text="a note")]) == PromptResult("end_turn")
            seen = session.transcript
            assert words(seen.user_messages) == ["Write a note"]
            assert words(seen.agent_messages) == ["One moment.", "Done."]
            assert [type(one) for one in seen.entries] == [Message, Message, ToolCallState, Message]
            (call,) = seen.tool_calls.values()
            assert (call.id, call.status, call.is_cancelled) == ("c", "completed", False)
            assert (seen.state, seen.stop_reason, seen.unknown) == ("idle", "end_turn", 0)

    play(work)
    (request,) = client.requests
    assert request.title == "Write note.txt"
    assert request.tool_call is not None
    assert isinstance(request.tool_call.content, list)  # what was reported of the call before is in the request
    assert [option.option_id for option in request.options] == ["yes", "no"]
    assert ("s1", "tool_call_update") in client.updates


def test_relative_paths_count_from_cwd(version: int, folders: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(folders[0]).parent)
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=["app", Path("lib")])) as (agent, _):
            session = await agent.new_session(Path("app"), additional_directories=[Path("..", "lib")])
            assert session.roots == (folders[0], f"{folders[0]}/../lib")

    play(work)


def test_roots_are_named_in_full_and_change_with_the_session(version: int, folders: tuple[str, str]) -> None:
    script = Script(busy)

    async def work() -> None:
        async with connected(version, script, Yes(allowed_roots=folders)) as (agent, _):
            app, lib = folders
            session = await agent.new_session(app, additional_directories=[lib])
            await session.prompt("Hello")
            loaded = await agent.load_session(session.id, app)
            assert loaded is session
            assert list(session.roots) == [app]
            assert script.asked("session/load")[0].additional_directories == []
            before = session.transcript
            assert (words(before.user_messages), len(before.tool_calls)) == (["Hello"], 1)
            await agent.resume_session(session.id, lib, additional_directories=[app])
            assert session.roots == (lib, app)
            assert script.asked("session/resume")[0].additional_directories == [app]
            assert session.transcript is before
            fork = await agent.fork_session(session.id, lib)
            assert (fork.roots, script.asked("session/fork")[0].additional_directories) == ((lib,), [])
            assert words(fork.transcript.user_messages) == ["Hello"]
            fork.transcript.messages[0].content.clear()
            assert words(session.transcript.user_messages) == ["Hello"]
            assert set(agent.sessions) == {session.id, fork.id}
            await fork.close()
            await session.delete()
            assert not (fork.is_open or session.is_open or agent.sessions)
            with pytest.raises(ValueError, match="is closed"):
                await session.prompt("Hello")
            with pytest.raises(RequestError, match="no workspace roots"):
                session.roots  # noqa: B018

    play(work)


def test_a_session_that_is_being_closed_is_used_no_more_and_can_be_loaded_at_once(
    version: int, folders: tuple[str, str]
) -> None:
    script = Script(busy)

    async def work() -> None:
        async with connected(version, script, Yes(allowed_roots=folders)) as (agent, _):
            app, _lib = folders
            session = await agent.new_session(app)
            prompt, closing = asyncio.create_task(session.prompt("Hello")), asyncio.create_task(session.close())
            await asyncio.sleep(0)
            assert not session.is_open
            with pytest.raises(ValueError, match="is closed"):
                await prompt
            for attempt in (session.prompt("Hello"), session.cancel(), session.set_mode("plan"), session.close()):
                with pytest.raises(ValueError, match=r"is closed|no mode"):
                    await attempt
            again = await agent.load_session(session.id, app)
            assert closing.done()
            assert not script.asked("session/prompt")
            assert (again.is_open, again.roots, dict(agent.sessions)) == (True, (app,), {again.id: again})
            assert (await again.prompt("Hello")).stop_reason == "end_turn"

    play(work)


def test_a_follower_that_fails_keeps_no_session_from_ending(
    version: int, folders: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    class Failing:
        async def follow(self, roots: object) -> None:
            if roots is None:
                raise OSError("gone")

    async def work() -> None:
        async with connected(version, Script(busy), Yes(allowed_roots=folders)) as (agent, _):
            sessions = [await agent.new_session(folders[0]) for _ in range(2)]
            for session in sessions:
                await session.follow_roots(Failing())
            await sessions[0].close()
        assert not any(session.is_open for session in sessions)

    play(work)
    assert "a follower of the roots" in caplog.text


def test_what_the_agent_does_not_offer_is_refused_before_the_wire(version: int, folders: tuple[str, str]) -> None:
    script = Script(has_roots=False, can_load=False)

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, _):
            assert agent.capabilities.session is not None
            assert agent.capabilities.session.additional_directories is None
            with pytest.raises(NotAdvertised, match="additionalDirectories"):
                await agent.new_session(folders[0], additional_directories=[folders[1]])
            with pytest.raises(NotAdvertised, match="additionalDirectories"):
                await agent.list_sessions(additional_directories=[])
            session = await agent.new_session(folders[0])
            assert script.asked("session/new")[0].additional_directories is UNSET
            if version == 1:
                assert not agent.can_load_session
                for wrong in (agent.load_session, agent.resume_session, agent.fork_session):
                    with pytest.raises(NotAdvertised):
                        await wrong(session.id, folders[0])
                with pytest.raises(NotAdvertised):
                    await session.delete()
        assert {method for method, _ in script.requests} == {"initialize", "session/new"}

    play(work)


def test_directories_that_are_not_allowed_are_local_mistakes(version: int, folders: tuple[str, str]) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=[folders[0]])) as (agent, _):
            session = await agent.new_session(folders[0])
            for cwd, additional in ((folders[1], []), (folders[0], [folders[1]]), (folders[0], ["missing"])):
                with pytest.raises(ValueError, match=r"not granted|existing directory|not allowed"):
                    await agent.new_session(cwd, additional_directories=additional)
            with pytest.raises(ValueError, match=r"granted|allowed"):
                await agent.load_session(session.id, "/")
            assert session.roots == (folders[0],)

    play(work)
    assert len(script.asked("session/new")) == 1


def test_a_load_that_is_refused_leaves_the_session_as_it_was(version: int, folders: tuple[str, str]) -> None:
    script = Script(busy)

    async def work() -> None:
        async with connected(version, script, Yes(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0], additional_directories=[folders[1]])
            await session.prompt("Hello")
            before, is_open = session.transcript, descriptors()
            script.refused = {"session/load"}
            with pytest.raises(PeerError, match="not today"):
                await agent.load_session(session.id, folders[0])
            with pytest.raises(PeerError, match="not today"):
                await agent.load_session("unknown", folders[0])
            assert (session.transcript, session.roots, set(agent.sessions)) == (before, folders, {session.id})
            assert descriptors() == is_open

    play(work)


def test_nothing_is_served_after_the_end_even_where_the_agent_refuses(version: int, folders: tuple[str, str]) -> None:
    script = Script()
    script.refused = {"session/close", "session/delete"}

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, _):
            for end in ("close", "delete"):
                session = await agent.new_session(folders[0])
                with pytest.raises(PeerError, match="not today"):
                    await getattr(session, end)()
                assert not session.is_open

    play(work)


def test_sessions_are_listed_page_by_page_with_their_roots(version: int, folders: tuple[str, str]) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, _):
            found = await agent.list_sessions(cwd=folders[0], additional_directories=["b"])
            assert [one.session_id for one in found] == ["old0", "old1"]
            assert [(one.cwd, one.additional_directories) for one in found] == [("/srv", ["/lib"])] * 2
        assert script.asked("session/list")[1].additional_directories == [f"{folders[0]}/b"]

    play(work)


# --- what comes early, late, or about something else -----------------------------------------------------------------


def test_what_comes_before_the_answer_to_session_new_is_not_lost(version: int, folders: tuple[str, str]) -> None:
    """Zed issue 60199: an agent reports as soon as it has a session, which the client knows by the answer alone."""
    script, client = Script(), Yes(allowed_roots=folders)
    answers: list[str] = []
    asking: list[asyncio.Task[None]] = []

    async def early(agent: Any, session: str) -> None:
        await agent.say(session, "Welcome")
        kind = {"type": "command"} if version == 2 else {}
        commands = [{"name": "tide", "description": "?", **kind}]
        await agent.update(session, {"sessionUpdate": "available_commands_update", "availableCommands": commands})

        async def ask() -> None:
            answers.append(await agent.ask(session, "May I?"))

        asking.append(asyncio.ensure_future(ask()))
        await asyncio.sleep(0)

    script.before_answer = early

    async def work() -> None:
        async with connected(version, script, client) as (agent, _):
            session = await agent.new_session(folders[0])
            assert words(session.transcript.agent_messages) == ["Welcome"]
            assert [command.name for command in session.transcript.commands] == ["tide"]
            await asyncio.wait(asking)
            fork = await agent.fork_session(session.id, folders[0])
            assert words(fork.transcript.agent_messages)[-1:] == ["Welcome"]

    play(work)
    assert answers[0] == "yes"
    assert client.updates[:2] == [("s1", "agent_message_chunk"), ("s1", "available_commands_update")]


def test_what_comes_early_is_shown_before_what_comes_next(version: int, folders: tuple[str, str]) -> None:
    shown: list[str] = []

    class Slow(Client):
        async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
            await asyncio.sleep(0.01)
            assert isinstance(update, v2.AgentMessageChunk | v2.ConfigOptionUpdate)
            if isinstance(update, v2.AgentMessageChunk) and isinstance(update.content, v2.TextContent):
                shown.append(update.content.text)

    late: list[asyncio.Task[None]] = []

    async def early(raw: Any, session: str) -> None:
        for words_ in ("1", "2", "3"):
            await raw.say(session, words_)

        async def rest() -> None:
            await asyncio.sleep(0.005)
            for words_ in ("4", "5"):
                await raw.say(session, words_)

        late.append(asyncio.ensure_future(rest()))

    script = Script()
    script.before_answer = early

    async def work() -> None:
        async with connected(version, script, Slow(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            await asyncio.wait(late)
            while len(shown) < 5:
                await asyncio.sleep(0.01)
            assert "".join(words(session.transcript.agent_messages)) == "12345"

    play(work)
    assert shown == ["1", "2", "3", "4", "5"]


def test_a_request_waits_for_its_session_and_not_for_another(version: int, folders: tuple[str, str]) -> None:
    answers: list[str] = []
    asking: list[asyncio.Task[None]] = []

    async def early(raw: Any, session: str) -> None:
        async def ask() -> None:
            answers.append(await raw.ask(session, "May I?"))

        if session == "s2":
            asking.append(asyncio.ensure_future(ask()))
            await asyncio.sleep(0.1)
        else:
            await asyncio.sleep(0.02)

    script = Script()
    script.before_answer = early

    async def work() -> None:
        async with connected(version, script, Yes(allowed_roots=folders)) as (agent, _):
            await asyncio.gather(*(agent.new_session(folders[0]) for _ in range(2)))
            await asyncio.gather(*asking)

    play(work)
    assert answers == ["yes"]


@pytest.mark.parametrize("opens", ["load", "new"])
def test_a_session_whose_opening_is_cancelled_is_closed_at_the_agent(
    version: int, folders: tuple[str, str], opens: str
) -> None:
    reached: list[asyncio.Event] = []

    class Slow(Client):
        async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
            reached[0].set()
            await asyncio.sleep(60)

    async def early(raw: Any, session: str) -> None:
        if opens == "load":
            reached[0].set()
        else:
            await raw.say(session, "Welcome")

    script = Script()
    script.before_answer = early

    async def work() -> None:
        reached.append(asyncio.Event())
        async with connected(version, script, Slow(allowed_roots=folders)) as (agent, _):
            opening = agent.new_session(folders[0]) if opens == "new" else agent.load_session("s1", folders[0])
            task = asyncio.ensure_future(opening)
            await reached[0].wait()
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            assert agent.sessions == {}
            while not script.asked("session/close"):
                await asyncio.sleep(0.01)
            assert [one.session_id for one in script.asked("session/close")] == ["s1"]

    play(work)


def test_updates_about_something_stale_lose_nothing(
    version: int, folders: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Zed issue 64538: a tool call that nobody has announced, a value that is not offered, a kind that is not known."""
    script, client = Script(), Yes(allowed_roots=folders)

    async def work() -> None:
        async with connected(version, script, client) as (agent, raw):
            session = await agent.new_session(folders[0])
            await raw.call(session.id, "never", status="completed", title="Late")
            await raw.update(session.id, {"sessionUpdate": "_tide", "height": 3})
            for number in range(300):
                await raw.update("gone", {"sessionUpdate": "_tide"})
                await raw.update(f"gone{number}", {"sessionUpdate": "_tide"})
            await raw.say(session.id, "Here")
            while not session.transcript.messages:
                await asyncio.sleep(0)
            assert session.transcript.tool_calls["never"].title == "Late"
            assert session.transcript.unknown == 1
            assert words(session.transcript.agent_messages) == ["Here"]

    with caplog.at_level(logging.WARNING, logger="acp_session"):
        play(work)
    told = [record.getMessage() for record in caplog.records if "updates are dropped" in record.getMessage()]
    assert told[0] == "session gone: updates are dropped, since the session is not open"
    assert len(told) == 100  # and not one for each


def test_an_error_in_on_update_is_logged_with_the_session_and_costs_nothing(
    version: int, folders: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Client):
        async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
            raise RuntimeError("a defect")

    async def work() -> None:
        async with connected(version, Script(busy), Broken(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            assert (await session.prompt("Hello")).stop_reason == "refusal"

    play(work)
    assert "session s1: 'on_update' failed" in caplog.text


# --- modes and options -----------------------------------------------------------------------------------------------


def test_modes_are_the_same_in_both_versions(version: int, folders: tuple[str, str]) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, raw):
            session = await agent.new_session(folders[0])
            assert [(mode.id, mode.name) for mode in session.modes] == [("ask", "Ask"), ("code", "Code")]
            assert session.current_mode == "ask"
            await session.set_mode("code")
            assert session.current_mode == "code"
            await session.set_config_option("fast", True)
            (fast,) = [one for one in session.config_options if one.type == "boolean"]
            assert fast.current_value is True
            with pytest.raises(ValueError, match="no mode 'sail'; its modes: ask, code"):
                await session.set_mode("sail")
            if version == 1:
                await raw.update(session.id, {"sessionUpdate": "current_mode_update", "currentModeId": "ask"})
            else:
                await raw.update(
                    session.id, {"sessionUpdate": "config_option_update", "configOptions": raw.options("ask")}
                )
            while session.current_mode != "ask":
                await asyncio.sleep(0)

    play(work)
    assert script.requests[-2:] == [("mode", "code"), ("option", ("fast", True))]


def test_a_mode_that_is_set_before_the_answer_to_a_new_session_leaves_the_modes_as_they_are(
    version: int, folders: tuple[str, str]
) -> None:
    script = Script()

    async def early(raw: Any, session: str) -> None:
        if version == 1:
            await raw.update(session, {"sessionUpdate": "current_mode_update", "currentModeId": "code"})
        else:
            await raw.update(session, {"sessionUpdate": "config_option_update", "configOptions": raw.options("code")})

    script.before_answer = early

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            assert [mode.id for mode in session.modes] == ["ask", "code"]
            assert session.current_mode == "code"
            assert [one.config_id for one in session.config_options] == ["mode", "fast"]

    play(work)


def test_what_an_agent_reports_while_it_refuses_to_load_an_open_session_is_kept(
    version: int, folders: tuple[str, str]
) -> None:
    script = Script(busy)

    async def refuse(raw: Any, session: str) -> None:
        await raw.say(session, "I am busy.")
        raise RequestError(-32000, "not now")

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            script.before_answer = refuse
            with pytest.raises(PeerError, match="not now"):
                await agent.load_session(session.id, folders[0])
            assert words(session.transcript.agent_messages) == ["I am busy."]

    play(work)


def test_the_user_cancels_one_tool_call_where_the_agent_offers_it(version: int, folders: tuple[str, str]) -> None:
    class Offering(Agent):
        async def on_prompt(self, turn: Turn) -> None:
            self.cancelled = asyncio.Event()
            async with turn.tool_call("Look") as call:
                offered = v2.ToolCallCapabilities(cancel=v2.ToolCallCancelCapabilities())
                await turn.session.send_update(v2.SessionToolCallUpdate(tool_call_id=call.id, capabilities=offered))
                await turn.send_message("Stop me.")
                await self.cancelled.wait()
                await call.update(status="cancelled")

        async def on_cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
            self.cancelled.set()

    async def work() -> None:
        client = Yes(allowed_roots=folders)
        async with connect_in_memory(Offering(), client, versions=(version,)) as agent:
            session = await agent.new_session(folders[0])
            prompting = asyncio.create_task(session.prompt("Look"))
            while not session.transcript.agent_messages:
                await asyncio.sleep(0)
            if version == 2:
                await session.cancel_tool_call("call_1")
                assert (await prompting).stop_reason == "end_turn"
            with pytest.raises(ValueError, match="the tool call 'call_1' cannot be cancelled on its own"):
                await session.cancel_tool_call("call_1")
            await session.cancel()
            await prompting

    play(work)


def test_the_user_logs_in_and_out(version: int, folders: tuple[str, str]) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, _):
            await agent.authenticate("key")
            with pytest.raises(ValueError, match="no method of authentication 'lock'; it has key"):
                await agent.authenticate("lock")
            await agent.logout()

    play(work)
    assert [method for method, _ in script.requests] == ["initialize", "login", "logout"]


# --- cancellation ----------------------------------------------------------------------------------------------------


class Slow(Client):
    """Asks, and nobody answers."""

    asked: asyncio.Event

    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
        self.asked.set()
        await asyncio.sleep(60)
        return "yes"


async def stubborn(agent: Any, session: str) -> str:
    """Goes on until it has its answer, whoever cancels."""
    await agent.call(session, "c", title="Wait", status="in_progress")
    try:
        answer = await agent.ask(session, "Go on?")
    except asyncio.CancelledError:
        answer = "cancelled"
    await agent.call(session, "c", status="failed")
    return str(answer if answer == "cancelled" else "end_turn")


def test_cancelling_answers_open_requests_and_marks_what_was_open(version: int, folders: tuple[str, str]) -> None:
    script, client = Script(stubborn), Slow(allowed_roots=folders)

    async def work() -> None:
        client.asked = asyncio.Event()
        async with connected(version, script, client) as (agent, _):
            session = await agent.new_session(folders[0])
            prompt = asyncio.ensure_future(session.prompt("Hello"))
            await client.asked.wait()
            await session.cancel()
            assert session.transcript.tool_calls["c"].is_cancelled
            following = asyncio.ensure_future(session.prompt("Next"))
            assert await prompt == PromptResult("cancelled")
            assert session.transcript.tool_calls["c"].is_cancelled  # the agent has only `failed` to say so
            client.asked.clear()
            await client.asked.wait()  # the next prompt asks again
            await session.cancel()
            assert await following == PromptResult("cancelled")

    play(work)
    assert script.cancelled == ["s1", "s1"]


def test_nobody_is_asked_once_the_work_is_cancelled_and_again_when_it_has_ended(
    version: int, folders: tuple[str, str]
) -> None:
    answers: list[str] = []

    async def late(agent: Any, session: str) -> str:
        try:
            await agent.call(session, "c", title="Wait", status="in_progress")
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            answers.append(await agent.ask(session, "Still?"))
        return "cancelled"

    client = Yes(allowed_roots=folders)

    async def work() -> None:
        async with connected(version, Script(late), client) as (agent, raw):
            session = await agent.new_session(folders[0])
            prompt = asyncio.ensure_future(session.prompt("Hello"))
            while not session.transcript.tool_calls:
                await asyncio.sleep(0.01)
            await session.cancel()
            assert await prompt == PromptResult("cancelled")
            assert (answers, client.requests) == (["cancelled"], [])
            for _ in range(2):
                assert await raw.ask(session.id, "In the background?") == "yes"
                await session.cancel()  # there is nothing to stop

    play(work)


def test_a_caller_that_is_cancelled_or_out_of_time_cancels_the_work(version: int, folders: tuple[str, str]) -> None:
    script, client = Script(stubborn), Slow(allowed_roots=folders)

    async def work() -> None:
        client.asked = asyncio.Event()
        async with connected(version, script, client) as (agent, _):
            session = await agent.new_session(folders[0])
            prompt = asyncio.ensure_future(session.prompt("Hello"))
            await client.asked.wait()
            prompt.cancel()
            await asyncio.wait([prompt])
            assert prompt.cancelled()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await session.prompt("Hello")
            script.play = busy
            client.on_permission = Yes().on_permission  # type: ignore[method-assign]
            assert await session.prompt("Hello") == PromptResult("end_turn")

    play(work)
    assert script.cancelled[0] == "s1"


def test_the_end_of_a_session_answers_what_is_open(version: int, folders: tuple[str, str]) -> None:
    script, client = Script(stubborn), Slow(allowed_roots=folders)

    async def work() -> None:
        client.asked = asyncio.Event()
        async with connected(version, script, client) as (agent, _):
            session = await agent.new_session(folders[0])
            prompt = asyncio.ensure_future(session.prompt("Hello"))
            await client.asked.wait()
            await session.close()
            try:
                assert (await prompt).stop_reason == "cancelled"
            except ConnectionClosed as error:
                assert "closed" in str(error)  # noqa: PT017

    play(work)


# --- what fails ------------------------------------------------------------------------------------------------------


def test_work_that_fails_is_an_error_of_the_peer_and_the_session_lives_on(
    version: int, folders: tuple[str, str]
) -> None:
    async def fail(agent: Any, session: str) -> str:
        await agent.say(session, "Oh")
        raise RequestError(-32042, "no wind", {"knots": 0})

    script = Script(fail)

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            with pytest.raises(PeerError) as failed:
                await session.prompt("Sail")
            assert (failed.value.code, failed.value.message, failed.value.data) == (-32042, "no wind", {"knots": 0})
            assert failed.value.method == "session/prompt"
            assert isinstance(failed.value, Error)
            script.play = busy
            assert (await session.prompt("Sail")).stop_reason == "refusal"
            script.refused = {"session/prompt"}
            with pytest.raises(PeerError, match="not today"):
                await session.prompt("Sail")

    play(work)


@pytest.mark.parametrize("state", ["idle", "working", "asking", "opening"])
def test_an_agent_that_dies_wakes_whoever_waits(
    version: int, folders: tuple[str, str], state: str, caplog: pytest.LogCaptureFixture
) -> None:
    reached: list[asyncio.Event] = []

    async def hang(agent: Any, session: str) -> str:
        reached[0].set()
        if state == "asking":
            await agent.ask(session, "Go on?")
        await asyncio.sleep(60)
        return "end_turn"

    script, client = Script(hang), Slow(allowed_roots=folders)

    async def work() -> None:
        client.asked = asyncio.Event()
        reached.append(asyncio.Event())
        async with connected(version, script, client) as (agent, raw):
            session = await agent.new_session(folders[0])
            waiting: asyncio.Future[Any] = asyncio.ensure_future(agent.wait_closed())
            if state in ("working", "asking"):
                waiting = asyncio.ensure_future(session.prompt("Hello"))
                await (client.asked if state == "asking" else reached[0]).wait()
            elif state == "opening":

                async def never(agent: Any, session: str) -> None:
                    reached[0].set()
                    await asyncio.sleep(60)

                script.before_answer = never
                waiting = asyncio.ensure_future(agent.new_session(folders[0]))
                await reached[0].wait()
            await raw.connection.transport.close()
            if state == "idle":
                await waiting
            else:
                with pytest.raises(ConnectionClosed, match="the agent has ended"):
                    await waiting
            with pytest.raises((ConnectionClosed, ValueError)):
                await session.prompt("Hello")

    play(work)
    assert "dropped" not in caplog.text  # nothing was: the agent is gone


def test_an_answer_that_breaks_the_schema_says_where(version: int, folders: tuple[str, str]) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, raw):
            transport = raw.connection.transport
            send = transport.send

            def wrong_send(message: bytes) -> None:
                send(message.replace(b'"sessionId":"s1"', b'"sessionId":5'))

            transport.send = wrong_send
            with pytest.raises(InvalidMessage) as wrong:
                await agent.new_session(folders[0])
            assert (wrong.value.method, wrong.value.place) == ("session/new", "/result/sessionId")

    play(work)


# --- questions for input ---------------------------------------------------------------------------------------------


class Asking(Client):
    async def on_elicitation(
        self, session: ClientSession | None, request: v2.CreateElicitationRequest
    ) -> v2.CreateElicitationResponse:
        return v2.ElicitationAcceptAction() if session is None else v2.ElicitationDeclineAction()


def test_questions_are_asked_where_they_belong_and_refused_otherwise(version: int, folders: tuple[str, str]) -> None:
    found: list[Any] = []

    async def ask(agent: Any, scope: dict[str, Any], mode: str = "form") -> None:
        try:
            found.append(await agent.question(scope, mode))
        except PeerError as error:
            found.append(error.code)
        except NotAdvertised:
            found.append("not advertised")

    async def turn(agent: Any, session: str) -> str:
        await ask(agent, {"sessionId": session})
        await ask(agent, {"sessionId": "none"})
        await ask(agent, {"sessionId": session}, "url")
        return "end_turn"

    async def login(agent: Any, number: str) -> None:
        if number.isdigit():
            await ask(agent, {"requestId": int(number)})
            await ask(agent, {"requestId": int(number) + 7})

    script = Script(turn)
    script.before_answer = login

    async def work() -> None:
        async with connected(version, script, Asking(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            await session.prompt("Hello")
            await agent.authenticate("key")
        async with connected(version, Script(turn), Client(allowed_roots=folders)) as (agent, _):
            await (await agent.new_session(folders[0])).prompt("Hello")

    play(work)
    assert found[:5] == ["decline", -32602, found[2], "accept", -32602]
    assert found[2] in (-32602, "not advertised")
    assert set(found[5:]) == {"not advertised"}


# --- after the end ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_closed_here", [False, True], ids=["the agent ends", "closed here"])
def test_whatever_is_asked_once_the_connection_has_ended_says_so(
    version: int, is_closed_here: bool, folders: tuple[str, str]
) -> None:
    async def work() -> None:
        async with connected(version, Script(), Client(allowed_roots=folders)) as (agent, raw):
            session = await agent.new_session(folders[0])
            await (agent if is_closed_here else raw.connection).close()
            await agent.wait_closed()
            calls: list[Callable[[], Awaitable[Any]]] = [
                lambda: session.prompt("Hello"),
                lambda: session.set_config_option("fast", True),
                lambda: session.set_mode("code"),
                session.cancel,
                session.close,
                session.delete,
                agent.list_sessions,
                lambda: agent.new_session(folders[0]),
                lambda: agent.load_session(session.id, folders[0]),
                lambda: agent.resume_session(session.id, folders[0]),
                lambda: agent.fork_session(session.id, folders[0]),
            ]
            for _ in range(2):
                for call in calls:
                    with pytest.raises(ConnectionClosed):
                        await call()
                await asyncio.sleep(0.01)  # by now all has been told that the agent has ended

    play(work)


def test_an_answer_to_a_prompt_that_breaks_the_schema_says_where(version: int, folders: tuple[str, str]) -> None:
    if version == 2:  # the end of a prompt is no answer
        return

    async def work() -> None:
        near, far = pair()
        answers: dict[str, Any] = {
            "initialize": {"protocolVersion": 1},
            "session/new": {"sessionId": "s"},
            "session/prompt": {"stopReason": 5},
        }

        async def answer() -> None:
            is_said = False
            while (line := await far.receive()) is not None:
                asked = json.loads(line)
                if asked["method"] == "session/prompt" and is_said:
                    update = {"sessionUpdate": "agent_message_chunk", "content": text("Hm")}
                    body = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
                    far.send(json.dumps({"jsonrpc": "2.0", **body}).encode())
                is_said = asked["method"] == "session/prompt"
                body = {"jsonrpc": "2.0", "id": asked["id"], "result": answers[asked["method"]]}
                far.send(json.dumps(body).encode())

        answering = asyncio.ensure_future(answer())
        async with connect_agent(near, Client(allowed_roots=folders)) as agent:
            session = await agent.new_session(folders[0])
            for _ in range(2):  # before a sign of life, and after one
                with pytest.raises(InvalidMessage) as found:
                    await session.prompt("Hello")
                assert (found.value.method, found.value.place) == ("session/prompt", "/result/stopReason")
        await answering

    play(work)


def test_the_data_of_an_error_is_plain_json(version: int, folders: tuple[str, str]) -> None:
    async def refuse(agent: Any, session: str) -> str:
        await agent.say(session, "Hm")
        raise RequestError(-32050, "no quota", {"left": 0})

    async def work() -> None:
        async with connected(version, Script(refuse), Client(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            with pytest.raises(PeerError) as found:
                await session.prompt("Hello")
            assert (found.value.code, found.value.data) == (-32050, {"left": 0})

    play(work)


@pytest.mark.parametrize("answer", ["raises", "nonsense"])
def test_a_permission_prompt_that_fails_is_no_consent_and_the_log_names_the_session(
    version: int, answer: str, folders: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Client):
        async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
            if answer == "raises":
                raise RuntimeError("no window")
            return answer

    async def work() -> None:
        async with connected(version, Script(busy), Broken(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            assert await session.prompt("Write") == PromptResult("refusal")

    with caplog.at_level(logging.ERROR):
        play(work)
    (record,) = caplog.records
    assert (record.name, "session s1: " in record.getMessage()) == ("acp_session", True)
    assert ("no window" if answer == "raises" else "'nonsense' was not offered") in caplog.text


def test_a_prompt_may_be_one_content_block(version: int, folders: tuple[str, str]) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            for prompt in (v2.TextContent(text="Hello"), (v2.TextContent(text="Hello"),), "Hello"):
                assert await session.prompt(prompt) == PromptResult("end_turn")
            assert [[block.text for block in params.prompt] for params in script.asked("session/prompt")] == 3 * [
                ["Hello"]
            ]

    play(work)


def test_commands_are_known_once_a_session_is_opened_again(version: int, folders: tuple[str, str]) -> None:
    class Offering(Agent):
        async def on_new_session(self, session: Session) -> None:
            await session.set_commands([v2.Command(name="test", description="Run the tests")])

    async def work() -> None:
        client = Client(allowed_roots=folders)
        async with connect_in_memory(Offering(), client, versions=(version,)) as agent:
            session = await agent.new_session(folders[0])
            for open_again in (agent.load_session, agent.resume_session):
                await session.close()
                session = await open_again(session.id, folders[0])
                assert [command.name for command in session.transcript.commands] == ["test"]

    play(work)


def test_a_tool_call_keeps_its_title_when_permission_is_asked_in_other_words(
    version: int, folders: tuple[str, str]
) -> None:
    class Asking(Agent):
        async def on_prompt(self, turn: Turn) -> str:
            async with turn.tool_call("Write note.txt") as call:
                await call.request_permission(title="May I write?", description="It is new.")
            return "end_turn"

    client = Yes(allowed_roots=folders)

    async def work() -> None:
        async with connect_in_memory(Asking(), client, versions=(version,)) as agent:
            session = await agent.new_session(folders[0])
            await session.prompt("Write")
            (call,) = session.transcript.tool_calls.values()
            assert call.title == "Write note.txt"

    play(work)
    assert client.requests[0].title.startswith("May I write?")


@pytest.mark.parametrize("answer", ["allow", "reject", None])
def test_a_permission_request_without_a_tool_call_leaves_no_open_tool_call(
    version: int, answer: str | None, folders: tuple[str, str]
) -> None:
    class Asking(Agent):
        async def on_prompt(self, turn: Turn) -> str:
            for _ in range(2):
                assert await turn.request_permission("Go on?") is (answer == "allow")
            return "end_turn"

    class Answering(Client):
        async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
            shown = session.transcript.tool_calls.values()
            assert [call.status for call in shown] == (["pending"] if version == 1 else [])
            return answer

    async def work() -> None:
        async with connect_in_memory(Asking(), Answering(allowed_roots=folders), versions=(version,)) as agent:
            session = await agent.new_session(folders[0])
            assert await session.prompt("Go") == PromptResult("end_turn")
            calls = [(call.title, call.status) for call in session.transcript.tool_calls.values()]
            status = "completed" if answer == "allow" else "failed"
            assert calls == ([("Go on?", status)] if version == 1 else [])

    play(work)


def test_a_cancelled_permission_request_without_a_tool_call_leaves_no_open_tool_call(
    version: int, folders: tuple[str, str]
) -> None:
    class Asking(Agent):
        async def on_prompt(self, turn: Turn) -> str:
            await turn.request_permission("Go on?")
            return "end_turn"

    class Waiting(Client):
        async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
            await session.cancel()
            return "allow"

    async def work() -> None:
        async with connect_in_memory(Asking(), Waiting(allowed_roots=folders), versions=(version,)) as agent:
            session = await agent.new_session(folders[0])
            assert await session.prompt("Go") == PromptResult("cancelled")
            calls = [(call.status, call.is_cancelled) for call in session.transcript.tool_calls.values()]
            assert calls == ([("failed", True)] if version == 1 else [])

    play(work)


def test_a_transcript_shows_no_work_once_the_agent_has_ended(version: int, folders: tuple[str, str]) -> None:
    async def die(agent: Any, session: str) -> str:
        await agent.call(session, "c", title="Look", status="in_progress")
        await agent.connection.close()
        return "end_turn"

    async def work() -> None:
        async with connected(version, Script(die), Client(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(folders[0])
            with pytest.raises(ConnectionClosed):
                await session.prompt("Look")
            (call,) = session.transcript.tool_calls.values()
            assert (session.transcript.state, call.is_cancelled) == ("idle", True)

    play(work)


def test_the_log_of_an_agent_that_uses_the_files_of_its_client_says_nothing_of_a_loss(
    version: int, folders: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with connect_in_memory(Agent(), Client(allowed_roots=folders), versions=(version,)) as agent:
            await agent.new_session(folders[0])

    with caplog.at_level(logging.INFO, "acp_session"):
        play(work)
    assert "does not use" not in caplog.text


@pytest.mark.parametrize("how", ["close", "delete"])
def test_a_session_may_end_while_a_prompt_is_worked_on(version: int, how: str, folders: tuple[str, str]) -> None:
    begun = asyncio.Event()

    class Long(Agent):
        async def on_prompt(self, turn: Turn) -> str:
            begun.set()
            await asyncio.sleep(60)
            return "end_turn"

    async def work() -> None:
        async with connect_in_memory(Long(), Client(allowed_roots=folders), versions=(version,)) as agent:
            session = await agent.new_session(folders[0])
            prompt = asyncio.ensure_future(session.prompt("Wait"))
            await begun.wait()
            await getattr(session, how)()
            assert await prompt == PromptResult("cancelled")
            assert not agent.sessions

    play(work)


@pytest.mark.parametrize("how", ["close", "delete"])
def test_a_session_may_end_in_a_permission_prompt(version: int, how: str, folders: tuple[str, str]) -> None:
    class Asking(Agent):
        async def on_prompt(self, turn: Turn) -> str:
            async with turn.tool_call("Write") as call:
                await call.request_permission()
            return "end_turn"

    class Leaving(Client):
        async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
            await getattr(session, how)()
            return "allow"

    async def work() -> None:
        async with connect_in_memory(Asking(), Leaving(allowed_roots=folders), versions=(version,)) as agent:
            session = await agent.new_session(folders[0])
            assert await session.prompt("Write") == PromptResult("cancelled")
            (call,) = session.transcript.tool_calls.values()
            assert call.status == "cancelled" or (version, call.status) == (1, "failed")
            while agent.sessions:
                await asyncio.sleep(0)
            listed = await agent.list_sessions()
            assert len(listed) == (how == "close")

    play(work)


def test_a_session_that_is_loaded_while_a_prompt_is_worked_on_keeps_what_the_user_said(
    version: int, folders: tuple[str, str]
) -> None:
    said, goes_on = asyncio.Event(), asyncio.Event()

    class Slow(Agent):
        async def on_prompt(self, turn: Turn) -> str:
            await turn.send_message("One ")
            said.set()
            await goes_on.wait()
            await turn.send_message("moment.")
            return "end_turn"

    async def work() -> None:
        async with connect_in_memory(Slow(), Client(allowed_roots=folders), versions=(version,)) as agent:
            session = await agent.new_session(folders[0])
            prompt = asyncio.ensure_future(session.prompt("Hello"))
            await said.wait()
            while not session.transcript.agent_messages:
                await asyncio.sleep(0)
            await agent.load_session(session.id, folders[0])
            goes_on.set()
            assert await prompt == PromptResult("end_turn")
            assert words(session.transcript.user_messages) == ["Hello"]
            assert "".join(words(session.transcript.agent_messages)) == "One moment."

    play(work)
