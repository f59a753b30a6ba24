"""An agent, written once: what clients of both versions see of its sessions and turns."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, RequestError, v2

from acp_session.agent import Agent, AuthRequired
from acp_session.client import Client
from acp_session.modes import Mode
from acp_session.serving import run_agent, serve_agent
from acp_session.session import ClientConnection, Session
from acp_session.store import MemoryStore, StoredSession
from acp_session.turn import Diff, Turn
from acp_workspace.containment import guarantees
from jsonrpc_bindings.failures import INTERNAL
from jsonrpc_bindings.transport import pair

from .raw_client import FORMS, RawClient, Refused, choose, place, talking

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

both = pytest.mark.parametrize("version", [1, 2])


def play(work: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await asyncio.wait_for(work(), 30)

    return asyncio.run(main())


class Notes(Agent):
    """The agent of the guide."""

    async def on_prompt(self, turn: Turn) -> str:
        await turn.send_message("I write a note.")
        async with turn.tool_call(
            "Write note.txt", kind="edit", content=[Diff("note.txt", None, "tide\n")], locations=["note.txt"]
        ) as call:
            if await call.request_permission():
                await turn.write_text_file("note.txt", "tide\n")
        result = await turn.run_command("wc", "-c", "note.txt")
        await turn.send_message(f"Byte count: {result.output}")
        return "end_turn"


class Working(Agent):
    """`work` is what it does in a turn."""

    def __init__(self, work: Callable[[Turn], Awaitable[str | None]], **options: Any) -> None:
        super().__init__(**options)
        self.work = work

    async def on_prompt(self, turn: Turn) -> str:
        return await self.work(turn) or "end_turn"


async def echo(turn: Turn) -> None:
    await turn.send_message(turn.text)


# --- a turn ----------------------------------------------------------------------------------------------------------


@both
def test_the_agent_of_the_guide_writes_its_note(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        async with talking(Notes(), version) as client:
            id_ = await client.new(tmp_path)
            assert await client.prompt(id_) == "end_turn"
            assert client.text() == "I write a note.Byte count: 5 note.txt\n"
            assert client.statuses() == ["completed", "completed"]
            write, count = client.calls().values()
            assert write["locations"] == [{"path": str(tmp_path / "note.txt")}]
            assert (write["kind"], count["kind"], count["title"]) == ("edit", "execute", "wc -c note.txt")
            assert count["content"][0]["type"] == "terminal"
            (asked,) = [one["params"] for one in client.asked if one["method"] == "session/request_permission"]
            about = asked["toolCall"] if version == 1 else asked["subject"]["toolCall"]
            assert (about["title"], about["kind"], about["locations"]) == ("Write note.txt", "edit", write["locations"])
            assert about["content"] == write["content"]
            assert about["content"][0]["type"] == "diff"

    play(work)
    assert (tmp_path / "note.txt").read_text() == "tide\n"


@both
def test_what_the_user_rejects_is_not_done_and_the_tool_call_has_failed(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        async with talking(Notes(), version, answers={"session/request_permission": choose("reject")}) as client:
            assert await client.prompt(await client.new(tmp_path)) == "end_turn"
            assert client.statuses()[0] == "failed"

    play(work)
    assert not (tmp_path / "note.txt").exists()


@both
def test_a_turn_that_is_cancelled_ends_so_and_its_tool_calls_end(tmp_path: Path, version: int) -> None:
    ended: list[str] = []

    async def wait(turn: Turn) -> None:
        async with turn.tool_call("Wait"):
            try:
                await asyncio.sleep(60)
            finally:
                ended.append("work")

    class Cancelling(Working):
        async def on_cancel(self, session: Session) -> None:
            ended.append(session.id)

    async def work() -> None:
        async with talking(Cancelling(wait), version) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(client.calls)
            client.cancel(id_)
            assert await prompt == "cancelled"
            assert client.statuses() == ["failed" if version == 1 else "cancelled"]
            assert sorted(ended) == sorted(["work", id_])
            client.cancel(id_)  # nothing is under way
            assert await client.request("session/list") is not None
            assert len(ended) == 2

    play(work)


@both
@pytest.mark.parametrize("swallow", [True, False])
def test_a_turn_ends_as_cancelled_whatever_the_author_makes_of_it(tmp_path: Path, version: int, swallow: bool) -> None:
    async def stubborn(turn: Turn) -> str:
        await turn.send_message("1")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if swallow:
                await turn.send_message("2")
                return "end_turn"
            raise ValueError("whatever") from None
        return "end_turn"

    async def work() -> None:
        async with talking(Working(stubborn), version) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(client.text)
            client.cancel(id_)
            assert await prompt == "cancelled"
            assert client.text() == ("12" if swallow else "1")

    play(work)


def test_what_has_failed_is_not_kept_by_the_error_that_is_sent(tmp_path: Path) -> None:
    class Failing(Agent):
        async def on_new_session(self, session: Session) -> None:
            raise RuntimeError(session.id)

    async def work() -> None:
        async with talking(Failing(), 2) as client:
            for _ in range(2):
                with pytest.raises(Refused):
                    await client.new(tmp_path)

    play(work)
    assert (INTERNAL.__traceback__, INTERNAL.__cause__) == (None, None)


@both
def test_work_that_goes_on_after_its_cancellation_holds_nothing_up(tmp_path: Path, version: int) -> None:
    over = asyncio.Event()

    async def deaf(turn: Turn) -> None:
        await turn.send_message(turn.text)
        while turn.text == "1" and not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()

    async def work() -> None:
        async with talking(Working(deaf), version, grace=0.02) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_, "1"))
            await client.until(client.text)
            client.cancel(id_)
            assert await prompt == "cancelled"
            assert await client.prompt(id_, "2") == "end_turn"
            prompt = asyncio.create_task(client.prompt(id_, "1"))
            await client.until(lambda: client.text() == "121")
            await client.request("session/close", sessionId=id_)
            assert await prompt == "cancelled"
            over.set()

    play(work)


@both
def test_a_turn_that_breaks_outside_the_work_of_the_agent_ends_as_failed(tmp_path: Path, version: int) -> None:
    async def fail(turn: Turn) -> None:
        raise RequestError(-32000, "no JSON", {"why": object()})

    async def work() -> None:
        async with talking(Working(fail), version) as client:
            id_ = await client.new(tmp_path)
            for _ in range(2):
                with pytest.raises(Refused) as failed:
                    await client.prompt(id_)
                assert (failed.value.code, failed.value.message) == (-32603, "internal error")

    play(work)


@both
def test_a_permission_request_is_withdrawn_when_its_turn_is_cancelled(tmp_path: Path, version: int) -> None:
    async def ask(turn: Turn) -> None:
        async with turn.tool_call("Ask") as call:
            await call.request_permission()

    async def never(params: Any) -> Any:
        await asyncio.sleep(60)

    async def work() -> None:
        async with talking(Working(ask), version, answers={"session/request_permission": never}) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(lambda: client.asked)
            client.cancel(id_)
            assert await prompt == "cancelled"
            assert [one["method"] for one in client.notes if one["method"] != "session/update"] == ["$/cancel_request"]
            client.answers["session/request_permission"] = choose("allow")
            assert await client.prompt(id_) == "end_turn"

    play(work)


@both
def test_work_is_cancelled_before_it_reads_an_answer_that_follows_the_cancellation(
    tmp_path: Path, version: int
) -> None:
    async def whole() -> RawClient:
        def answer(params: dict[str, Any]) -> Any:
            client.cancel(params["sessionId"])
            return {"outcome": {"outcome": "cancelled"}}

        async with talking(Working(work), version, answers={"session/request_permission": answer}) as client:
            assert await client.prompt(await client.new(tmp_path)) == "cancelled"
            return client

    async def work(turn: Turn) -> None:
        await turn.request_permission("Go on?")
        await turn.send_message("I may not.")

    assert not play(whole).text()


@both
def test_a_failure_is_answered_and_logged_with_the_id_of_the_session_and_says_nothing_of_itself(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(turn: Turn) -> None:
        async with turn.tool_call("Fail"):
            if turn.text == "known":
                raise RequestError(-32000, "log in", {"why": "tide"})
            raise ValueError("a secret")

    async def work() -> str:
        async with talking(Working(fail), version) as client:
            id_ = await client.new(tmp_path)
            with pytest.raises(Refused) as failed:
                await client.prompt(id_)
            assert (failed.value.code, failed.value.message) == (-32603, "internal error")
            with pytest.raises(Refused) as known:
                await client.prompt(id_, "known")
            assert (known.value.code, known.value.data) == (-32000, {"why": "tide"})
            assert client.statuses() == ["failed", "failed"]
            assert await client.new(tmp_path) != id_
            return id_

    with caplog.at_level(logging.ERROR):
        id_ = play(work)
    (record,) = [one for one in caplog.records if one.name == "acp_session"]
    assert id_ in record.getMessage()
    assert getattr(record, "session_id", None) == id_
    assert record.exc_info is not None
    assert "a secret" in str(record.exc_info[1])


@both
def test_an_agent_without_work_says_so_in_its_log(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with talking(Agent(), version) as client:
            with pytest.raises(Refused):
                await client.prompt(await client.new(tmp_path))

    play(work)
    assert "override 'on_prompt'" in caplog.text


def test_prompts_wait_for_the_turn_before_them_and_go_with_a_cancellation(tmp_path: Path) -> None:
    going = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await turn.send_message(turn.text)
        await going.wait()

    async def work() -> None:
        async with talking(Working(slow), 2) as client:
            id_ = await client.new(tmp_path)
            first = asyncio.create_task(client.prompt(id_, "1"))
            await client.until(client.text)
            second, third = (asyncio.create_task(client.prompt(id_, text)) for text in "23")
            await asyncio.sleep(0.01)
            assert client.text() == "1"
            client.cancel(id_)
            assert await first == "cancelled"
            for waiting in (second, third):
                with pytest.raises(Refused) as refused:
                    await waiting
                assert refused.value.code == -32800
            going.set()
            assert await client.prompt(id_, "4") == "end_turn"
            assert client.text() == "14"

    play(work)


# --- sessions --------------------------------------------------------------------------------------------------------


@both
def test_a_session_knows_its_roots_its_servers_and_its_client(tmp_path: Path, version: int) -> None:
    seen: list[Session] = []

    class Curious(Agent):
        async def on_new_session(self, session: Session) -> None:
            seen.append(session)

        async def on_prompt(self, turn: Turn) -> str:  # noqa: ARG002
            return "end_turn"

    async def work() -> None:
        for name in ("app", "lib"):
            (tmp_path / name).mkdir()
        app, lib = str(tmp_path / "app"), str(tmp_path / "lib")
        server = {"name": "tides", "command": "/bin/tides", "args": ["-v"], "env": []}
        server |= {} if version == 1 else {"type": "stdio"}
        async with talking(Curious(), version, capabilities=FORMS) as client:
            params = {"cwd": app, "additionalDirectories": [lib], "mcpServers": [server]}
            found = await client.request("session/new", **params)
            (session,) = seen
            assert found["sessionId"] == session.id
            assert (session.cwd, session.roots) == (app, (app, lib))
            (known,) = session.mcp_servers
            assert isinstance(known, v2.McpServerStdio)
            assert (known.name, known.command, known.args) == ("tides", "/bin/tides", ["-v"])
            assert session.client_info is not None
            assert session.client_info.name == "raw"
            can = session.client_capabilities
            assert (can.read_text_file, can.write_text_file, can.run_command, can.ask) == (True,) * 4
            (listed,) = (await client.request("session/list"))["sessions"]
            assert (listed["cwd"], listed["additionalDirectories"]) == (app, [lib])

    play(work)


def test_a_client_of_version_1_that_gives_no_name_has_none(tmp_path: Path) -> None:
    async def whole() -> None:
        near, far = pair()
        serving = asyncio.create_task(serve_agent(Working(work), near))
        client = RawClient(1, far)
        await client.request("initialize", protocolVersion=1)
        assert await client.prompt(await client.new(tmp_path)) == "end_turn"
        await far.close()
        await serving

    async def work(turn: Turn) -> None:
        assert turn.session.client_info is None

    play(whole)


@both
def test_the_life_of_a_session_is_told_to_the_agent_and_kept_without_a_line_of_its_own(
    tmp_path: Path, version: int
) -> None:
    told: list[str] = []

    class Living(Agent):
        async def on_new_session(self, session: Session) -> None:
            session.data["tide"] = ["low"]
            told.append("new")

        async def on_load_session(self, session: Session) -> None:
            told.append(f"load {session.data['tide']}")

        async def on_resume_session(self, session: Session) -> None:  # noqa: ARG002
            told.append("resume")

        async def on_fork_session(self, session: Session) -> None:
            session.data["tide"].append("high")
            told.append("fork")

        async def on_close_session(self, session: Session) -> None:  # noqa: ARG002
            told.append("close")

        async def on_delete_session(self, session: Session) -> None:
            told.append(f"delete {session.data['tide']}")

        async def on_prompt(self, turn: Turn) -> str:
            async with turn.tool_call("Look"):
                await turn.send_message("Low.")
            return "end_turn"

    async def work() -> None:
        where: dict[str, Any] = {"cwd": str(tmp_path), "mcpServers": []}
        async with talking(Living(), version) as client:
            id_ = await client.new(tmp_path)
            await client.prompt(id_, "Now?")
            before = [one for one in client.updates() if "state" not in one]
            begun = len(client.notes)
            await client.load(id_, tmp_path)
            again = [one for one in client.updates(id_, begun) if "state" not in one]
            said = [one for one in again if one["sessionUpdate"].startswith("user_message")]
            assert len(said) == 1
            assert [one for one in again if one not in said] == [one for one in before if one not in said]
            fork = (await client.request("session/fork", sessionId=id_, **where))["sessionId"]
            await client.request("session/close", sessionId=id_)
            with pytest.raises(Refused) as closed:
                await client.prompt(id_)
            assert (closed.value.code, place(closed.value)) == (-32602, "/params/sessionId")
            await client.request("session/resume", sessionId=id_, **where)
            assert await client.prompt(id_) == "end_turn"
            listed = (await client.request("session/list"))["sessions"]
            assert [one["sessionId"] for one in listed] == [id_, fork]
            await client.request("session/delete", sessionId=id_)
            await client.request("session/delete", sessionId=id_)
            assert [one["sessionId"] for one in (await client.request("session/list"))["sessions"]] == [fork]
            for method in ("session/load", "session/resume", "session/fork"):
                with pytest.raises(Refused) as gone:
                    await client.request(method, sessionId=id_, **where)
                assert gone.value.code == -32002
            with pytest.raises(Refused) as gone:
                await client.prompt(id_)
            assert gone.value.code == -32002
        assert told == ["new", "load ['low']", "fork", "close", "resume", "delete ['low']", "close", "close"]

    play(work)


@both
def test_a_request_that_fails_leaves_a_session_as_it_was(tmp_path: Path, version: int) -> None:
    class Wary(Working):
        async def on_load_session(self, session: Session) -> None:
            if session.cwd.endswith("lib"):
                raise RequestError(-32602, "not there")

        async def on_new_session(self, session: Session) -> None:
            await session.set_title("Draft")
            if session.cwd.endswith("lib"):
                raise ValueError("not there")

    async def where(turn: Turn) -> None:
        await turn.send_message(turn.session.cwd)

    async def work() -> None:
        for name in ("app", "lib"):
            (tmp_path / name).mkdir()
        async with talking(Wary(where), version) as client:
            id_ = await client.new(tmp_path / "app")
            with pytest.raises(Refused) as refused:
                await client.load(id_, tmp_path / "lib")
            assert refused.value.code == -32602
            with pytest.raises(Refused) as missing:
                await client.load(id_, tmp_path / "none")
            assert missing.value.code == -32002
            await client.prompt(id_)
            assert client.text() == str(tmp_path / "app")
            with pytest.raises(Refused) as failed:
                await client.new(tmp_path / "lib")
            assert failed.value.code == -32603
            (listed,) = (await client.request("session/list"))["sessions"]
            assert (listed["sessionId"], listed["title"]) == (id_, "Draft")

    play(work)


@both
def test_roots_are_those_of_the_last_request_and_held_to_the_policy(tmp_path: Path, version: int) -> None:
    async def read(turn: Turn) -> None:
        await turn.send_message(await turn.read_text_file(turn.text))

    async def work() -> None:
        for name in ("app", "lib", "other"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "tide.txt").write_text(name)
        app, lib = str(tmp_path / "app"), str(tmp_path / "lib")
        agent = Working(read, allowed_roots=[app, tmp_path / "lib"])
        async with talking(agent, version) as client:
            for wrong in ({"cwd": str(tmp_path / "other")}, {"cwd": app, "additionalDirectories": [str(tmp_path)]}):
                with pytest.raises(Refused) as refused:
                    await client.request("session/new", mcpServers=[], **wrong)
                assert refused.value.code == -32602
            id_ = await client.new(app, additionalDirectories=[lib])
            await client.prompt(id_, str(tmp_path / "lib" / "tide.txt"))
            await client.prompt(id_, "tide.txt")
            assert client.text() == "libapp"
            await client.load(id_, app)
            if version == 2:  # in version 1 the files are the client's to hold
                with pytest.raises(Refused):
                    await client.prompt(id_, str(tmp_path / "lib" / "tide.txt"))

    play(work)


@both
def test_an_agent_of_one_root_refuses_more(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        async with talking(Working(echo, additional_directories=False), version) as client:
            with pytest.raises(Refused) as refused:
                await client.new(tmp_path, additionalDirectories=[str(tmp_path)])
            assert refused.value.code == -32602
            await client.new(tmp_path)
            (listed,) = (await client.request("session/list"))["sessions"]
            assert "additionalDirectories" not in listed

    play(work)


@both
def test_sessions_are_listed_in_pages_newest_first(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        (tmp_path / "lib").mkdir()
        async with talking(Working(echo), version) as client:
            ids = [await client.new(tmp_path) for _ in range(101)]
            other = await client.new(tmp_path / "lib")
            first = await client.request("session/list", cwd=str(tmp_path))
            second = await client.request("session/list", cwd=str(tmp_path), cursor=first["nextCursor"])
            found = [one["sessionId"] for one in first["sessions"] + second["sessions"]]
            assert sorted(found) == sorted(ids)
            assert (len(first["sessions"]), second.get("nextCursor")) == (100, None)
            with pytest.raises(Refused) as refused:
                await client.request("session/list", cursor="tide")
            assert refused.value.code == -32602
            await client.prompt(ids[0])
            newest = (await client.request("session/list"))["sessions"]
            assert [one["sessionId"] for one in newest[:2]] == [ids[0], other]

    play(work)


@both
def test_a_session_that_is_used_between_two_pages_loses_no_other(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        async with talking(Working(echo), version) as client:
            ids = [await client.new(tmp_path) for _ in range(103)]
            first = await client.request("session/list")
            await client.prompt(first["sessions"][-1]["sessionId"])
            second = await client.request("session/list", cursor=first["nextCursor"])
            assert [one["sessionId"] for one in second["sessions"]] == ids[2::-1]
            await client.request("session/delete", sessionId=first["sessions"][-1]["sessionId"])
            assert await client.request("session/list", cursor=first["nextCursor"]) == second
            for wrong in ("[" * 10_000, "[1, 2]", "{}", ""):
                with pytest.raises(Refused) as refused:
                    await client.request("session/list", cursor=wrong)
                assert refused.value.code == -32602

    play(work)


def test_a_prompt_without_content_is_accepted_in_version_1_and_refused_in_version_2(tmp_path: Path) -> None:
    texts: list[str] = []

    async def listen(turn: Turn) -> None:
        texts.append(turn.text)

    async def work() -> None:
        async with talking(Working(listen), 1) as client:
            session = await client.new(tmp_path)
            assert await client.request("session/prompt", sessionId=session, prompt=[]) == {"stopReason": "end_turn"}
        async with talking(Working(listen), 2) as client:
            with pytest.raises(Refused) as refused:
                await client.request("session/prompt", sessionId=await client.new(tmp_path), prompt=[])
            assert (refused.value.code, place(refused.value)) == (-32602, "/params/prompt")
        assert texts == [""]

    play(work)


@both
def test_content_and_servers_that_are_not_advertised_are_refused(tmp_path: Path, version: int) -> None:
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    server: dict[str, Any] = {"type": "http", "name": "tides", "url": "https://tides.example", "headers": []}

    async def work() -> None:
        for agent, wrong in (
            (Working(echo), {"image", "http"}),
            (Working(echo, prompt_types=("image",), mcp_transports=("http",)), set[str]()),
        ):
            async with talking(agent, version) as client:
                id_ = await client.new(tmp_path)
                found = set[str]()
                for method in ("session/new", "session/load", "session/resume", "session/fork"):
                    named = {} if method == "session/new" else {"sessionId": id_}
                    try:
                        await client.request(method, cwd=str(tmp_path), mcpServers=[server], **named)
                    except Refused as refused:
                        assert (refused.code, place(refused)) == (-32602, "/params/mcpServers/0")  # noqa: PT017
                        found.add("http")
                try:
                    await client.prompt(id_, content=[{"type": "text", "text": "?"}, image])
                except Refused as refused:
                    assert (refused.code, place(refused)) == (-32602, "/params/prompt/1")  # noqa: PT017
                    found.add("image")
                assert found == wrong

    play(work)


# --- settings and users ----------------------------------------------------------------------------------------------


class Moody(Agent):
    """Has modes, options and commands."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[tuple[str, Any]] = []

    async def on_new_session(self, session: Session) -> None:
        await session.set_modes([Mode("ask", "Ask"), Mode("plan", "Plan", "Only plans")], current="ask")
        small, large = (v2.SessionConfigSelectOption(value=one, name=one.title()) for one in ("small", "large"))
        model = v2.SessionConfigSelect(config_id="model", name="Model", current_value="small", options=[small, large])
        await session.set_config_options([model])
        await session.set_commands([v2.Command(name="tide", description="Say the tide")])

    async def on_set_mode(self, session: Session, mode_id: str) -> None:  # noqa: ARG002
        self.chosen.append(("mode", mode_id))

    async def on_set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:  # noqa: ARG002
        if value == "large":
            raise RequestError(-32602, "too large")
        self.chosen.append((config_id, value))

    async def on_prompt(self, turn: Turn) -> str:
        session = turn.session
        await turn.send_message(f"{session.mode} {session.config['model']}")
        if turn.text == "change":
            await session.set_mode("ask")
        return "end_turn"


def test_modes_are_modes_to_a_client_of_version_1(tmp_path: Path) -> None:
    async def work() -> None:
        agent = Moody()
        async with talking(agent, 1) as client:
            made = await client.request("session/new", cwd=str(tmp_path), mcpServers=[])
            id_ = made["sessionId"]
            assert made["modes"]["currentModeId"] == "ask"
            assert [one["id"] for one in made["modes"]["availableModes"]] == ["ask", "plan"]
            await client.request("session/set_mode", sessionId=id_, modeId="plan")
            await client.prompt(id_, "change")
            assert client.text() == "plan small"
            assert {"sessionUpdate": "current_mode_update", "currentModeId": "ask"} in client.updates()
            commands = [one for one in client.updates() if one["sessionUpdate"] == "available_commands_update"]
            assert commands[0]["availableCommands"][0]["name"] == "tide"
            with pytest.raises(Refused) as refused:
                await client.request("session/set_mode", sessionId=id_, modeId="none")
            assert (refused.value.code, place(refused.value)) == (-32602, "/params/modeId")
        assert agent.chosen == [("mode", "plan")]

    play(work)


@both
def test_options_are_set_by_the_user_where_the_agent_agrees(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        agent = Moody()
        async with talking(agent, version) as client:
            made = await client.request("session/new", cwd=str(tmp_path), mcpServers=[])
            id_ = made["sessionId"]
            name = "id" if version == 1 else "configId"
            assert {one[name] for one in made["configOptions"]} == {"mode", "model"}
            for option, value, at in (
                ("model", "large", ""),
                ("model", "huge", "/value"),
                ("pace", "huge", "/configId"),
            ):
                with pytest.raises(Refused) as refused:
                    await client.request("session/set_config_option", **chosen(version, id_, option, value))
                assert refused.value.code == -32602
                assert not at or place(refused.value) == f"/params{at}"
            found = await client.request("session/set_config_option", **chosen(version, id_, "mode", "plan"))
            values = {one[name]: one["currentValue"] for one in found["configOptions"]}
            assert values == {"mode": "plan", "model": "small"}
            await client.prompt(id_)
            assert client.text() == "plan small"
        assert agent.chosen == [("mode", "plan")]

    play(work)


@both
def test_modes_can_be_withdrawn(tmp_path: Path, version: int) -> None:
    async def withdraw(turn: Turn) -> None:
        await turn.session.set_modes([Mode("ask", "Ask")], current="ask")
        assert turn.session.mode == "ask"
        await turn.session.set_modes([], current="")
        assert not (turn.session.modes or turn.session.config)
        with pytest.raises(ValueError, match="several values"):
            await turn.request_permission("Go on?", options="allow")  # type: ignore[arg-type]

    async def work() -> None:
        async with talking(Working(withdraw), version) as client:
            id_ = await client.new(tmp_path)
            assert await client.prompt(id_) == "end_turn"
            *_, last = [one for one in client.updates(id_) if one["sessionUpdate"] == "config_option_update"]
            assert last["configOptions"] == []

    play(work)


@both
def test_a_switch_takes_its_two_values_and_no_other_text(tmp_path: Path, version: int) -> None:
    class Switch(Agent):
        async def on_new_session(self, session: Session) -> None:
            fast = v2.SessionConfigBoolean(config_id="fast", name="Fast", current_value=True)
            await session.set_config_options([fast])
            sessions.append(session)

    async def work() -> None:
        async with talking(Switch(), version) as client:
            id_ = await client.new(tmp_path)
            for value in ("banana", "on", "False", ""):
                with pytest.raises(Refused) as refused:
                    await client.request("session/set_config_option", **chosen(version, id_, "fast", value))
                assert refused.value.code == -32602
            (session,) = sessions
            assert session.config == {"fast": True}
            if version == 1:
                await client.request("session/set_config_option", **chosen(version, id_, "fast", "false"))
                assert session.config == {"fast": False}

    sessions: list[Session] = []
    play(work)


def chosen(version: int, id_: str, option: str, value: str) -> dict[str, Any]:
    return {"sessionId": id_, "configId": option, "value": value} | ({} if version == 1 else {"type": "id"})


def test_the_mode_is_the_option_of_that_category_and_nothing_else(tmp_path: Path) -> None:
    choices = [v2.SessionConfigSelectOption(value=one, name=one) for one in ("ask", "plan")]
    option = v2.SessionConfigSelect(
        config_id="approval", name="Approval", category="mode", current_value="ask", options=choices
    )
    store = MemoryStore()

    class Deciding(Moody):
        async def on_new_session(self, session: Session) -> None:
            with pytest.raises(ValueError, match="set_modes"):
                await session.set_config_options([option])

        async def on_prompt(self, turn: Turn) -> str:
            await turn.send_message(f"{turn.session.mode} {turn.session.config_options}")
            await turn.session.set_mode("ask")
            return "end_turn"

    async def work() -> None:
        agent = Deciding()
        agent.store = store
        stored = StoredSession("foreign", str(tmp_path), config_options=[option])
        await store.save(stored)
        async with talking(agent, 2) as client:
            await client.new(tmp_path)
            await client.load("foreign", tmp_path)
            await client.request("session/set_config_option", **chosen(2, "foreign", "approval", "plan"))
            await client.prompt("foreign")
            assert client.text() == "plan ()"
        assert agent.chosen == [("mode", "plan")]

    play(work)


def test_what_an_author_sets_wrongly_is_a_value_error(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        session = turn.session
        with pytest.raises(ValueError, match="'none' is not one of"):
            await session.set_modes([Mode("ask", "Ask")], current="none")
        with pytest.raises(ValueError, match="no option 'mode'"):
            await session.set_mode("none")
        with pytest.raises(ValueError, match="has no option 'none'"):
            await session.set_config_option("none", True)
        with pytest.raises(ValueError, match="title"):
            await turn.request_permission(" ")
        with pytest.raises(ValueError, match="option"):
            await turn.request_permission("Go on?", options=[])

    async def whole() -> None:
        async with talking(Working(work), 2) as client:
            assert await client.prompt(await client.new(tmp_path)) == "end_turn"

    play(whole)
    with pytest.raises(ValueError, match="on_authenticate"):
        Agent(auth_methods=[v2.AuthMethodAgent(method_id="key", name="Key")])

    class Locked(Agent):
        async def on_authenticate(self, connection: ClientConnection, method_id: str) -> None:
            """There is no way out."""

    with pytest.raises(ValueError, match="on_logout"):
        Locked(auth_methods=[v2.AuthMethodAgent(method_id="key", name="Key")])


@pytest.mark.parametrize(
    ("side", "name"),
    [
        *((Agent, name) for name in ("allowed_roots", "prompt_types", "mcp_transports")),
        *((Client, name) for name in ("allowed_roots", "elicitation")),
    ],
)
def test_a_text_in_place_of_several_is_refused(side: Any, name: str) -> None:
    for text in ("/srv/app", b"/srv/app"):
        with pytest.raises(ValueError, match=f"'{name}' takes several values"):
            side(**{name: text})


class Guarded(Working):
    """The method by which a user logs in is the name of the user."""

    async def on_authenticate(self, connection: ClientConnection, method_id: str) -> None:
        connection.user = method_id

    async def on_logout(self, connection: ClientConnection) -> None:
        pass

    async def on_new_session(self, session: Session) -> None:
        if session.connection.user is None:
            raise AuthRequired

    async def on_extension_request(self, connection: ClientConnection, method: str, params: Any) -> Any:
        return [connection.user, method, params]


@both
def test_a_session_is_there_only_for_the_user_who_began_it(tmp_path: Path, version: int) -> None:
    login, logout = ("authenticate", "logout") if version == 1 else ("auth/login", "auth/logout")
    where: dict[str, Any] = {"cwd": str(tmp_path), "mcpServers": []}
    going = asyncio.Event()

    async def wait(turn: Turn) -> None:
        await turn.send_message("a")
        await going.wait()

    async def listed(client: RawClient) -> list[str]:
        return [one["sessionId"] for one in (await client.request("session/list"))["sessions"]]

    async def work() -> None:
        methods = [v2.AuthMethodAgent(method_id=name, name=name) for name in ("ada", "eve")]
        agent = Guarded(wait, auth_methods=methods)
        async with (
            talking(agent, version) as ada,
            talking(agent, version) as eve,
            talking(agent, version, user="ada") as phone,
        ):
            await ada.request(login, methodId="ada")
            await eve.request(login, methodId="eve")
            assert (await eve.request("_who"))[0] == "eve"
            id_ = await ada.new(tmp_path)
            prompt = asyncio.create_task(ada.prompt(id_))
            await ada.until(ada.text)
            for method in ("load", "resume", "fork", "close"):
                with pytest.raises(Refused) as refused:
                    await eve.request(f"session/{method}", sessionId=id_, **({} if method == "close" else where))
                assert refused.value.code == -32002
            with pytest.raises(Refused) as refused:
                await eve.prompt(id_)
            assert refused.value.code == -32002
            await eve.request("session/delete", sessionId=id_)
            assert (await listed(eve), await listed(phone)) == ([], [id_])
            going.set()
            assert await prompt == "end_turn"
            await ada.request(logout)
            with pytest.raises(Refused) as refused:
                await ada.prompt(id_)
            assert (refused.value.code, await listed(ada)) == (-32002, [])
            await phone.load(id_, tmp_path)
            assert await phone.prompt(id_) == "end_turn"

    play(work)


@both
def test_a_deletion_can_be_refused_before_anything_is_given_up(tmp_path: Path, version: int) -> None:
    going = asyncio.Event()

    class Keeping(Working):
        async def on_delete_session(self, session: Session) -> None:  # noqa: ARG002
            raise RequestError(-32602, "kept")

    async def wait(turn: Turn) -> None:
        await turn.send_message("a")
        await going.wait()

    async def work() -> None:
        async with talking(Keeping(wait), version) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(client.text)
            with pytest.raises(Refused) as refused:
                await client.request("session/delete", sessionId=id_)
            assert refused.value.message == "kept"
            going.set()
            assert await prompt == "end_turn"

    play(work)


@both
def test_nothing_is_sent_for_a_session_that_is_deleted_and_not_open(tmp_path: Path, version: int) -> None:
    found: list[str] = []

    class Deleting(Working):
        async def on_delete_session(self, session: Session) -> None:
            found.append(session.id)
            with pytest.raises(ConnectionClosed, match="is closed"):
                await session.set_title("Gone")

    async def work() -> None:
        async with talking(Deleting(echo), version) as client:
            id_ = await client.new(tmp_path)
            await client.request("session/close", sessionId=id_)
            await client.request("session/delete", sessionId=id_)
            assert found == [id_]
            assert not (await client.request("session/list"))["sessions"]

    play(work)


@both
def test_users_log_in_by_what_is_offered(tmp_path: Path, version: int) -> None:
    login, logout = ("authenticate", "logout") if version == 1 else ("auth/login", "auth/logout")

    async def work() -> None:
        agent = Guarded(echo, auth_methods=[v2.AuthMethodAgent(method_id="key", name="Key")])
        async with talking(agent, version) as client:
            with pytest.raises(Refused) as refused:
                await client.new(tmp_path)
            assert refused.value.code == -32000
            with pytest.raises(Refused) as unknown:
                await client.request(login, methodId="none")
            assert unknown.value.code == -32602
            await client.request(login, methodId="key")
            await client.new(tmp_path)
            await client.request(logout)
            with pytest.raises(Refused):
                await client.new(tmp_path)

    play(work)


@both
def test_what_nobody_wrote_is_answered_as_not_served(version: int) -> None:
    async def work() -> None:
        async with talking(Agent(), version) as client:
            for method in ("_tide", "authenticate" if version == 1 else "auth/login"):
                with pytest.raises(Refused) as refused:
                    await client.request(method, methodId="key")
                assert refused.value.code in (-32601, -32602)

    play(work)


@both
def test_requests_beyond_the_protocol_reach_the_agent(version: int) -> None:
    class Extended(Agent):
        async def on_extension_request(self, connection: ClientConnection, method: str, params: Any) -> Any:  # noqa: ARG002
            return {method: params}

    async def work() -> None:
        async with talking(Extended(), version) as client:
            assert await client.request("_tide", at=3) == {"_tide": {"at": 3}}

    play(work)


# --- connections -----------------------------------------------------------------------------------------------------


@both
def test_one_agent_serves_many_clients_and_a_session_goes_to_the_last_that_loads_it(
    tmp_path: Path, version: int
) -> None:
    stopped: list[str] = []

    async def wait(turn: Turn) -> None:
        if turn.text == "wait":
            try:
                await asyncio.sleep(60)
            finally:
                stopped.append(turn.session.id)
        await turn.send_message(turn.text)

    async def work() -> None:
        agent = Working(wait)
        async with talking(agent, version) as one, talking(agent, 3 - version) as two:
            id_ = await one.new(tmp_path)
            prompt = asyncio.create_task(one.prompt(id_, "wait"))
            await asyncio.sleep(0.02)
            await two.load(id_, tmp_path)
            assert await prompt == "cancelled"
            assert stopped == [id_]
            with pytest.raises(Refused) as closed:
                await one.prompt(id_)
            assert closed.value.code == -32602
            assert await two.prompt(id_, "here") == "end_turn"
            assert two.text(id_) == "here"

    play(work)


@both
def test_what_is_set_beside_the_answer_to_a_new_session_reaches_the_client(tmp_path: Path, version: int) -> None:
    class Late(Working):
        steps: asyncio.Task[None]
        pause = 0

        async def on_new_session(self, session: Session) -> None:
            self.steps = asyncio.create_task(self.set(session))

        async def set(self, session: Session) -> None:
            for _ in range(self.pause):
                await asyncio.sleep(0)
            await session.set_commands([v2.Command(name="tide", description="Say it")])
            await session.set_modes([Mode("ask", "Ask")], current="ask")

    async def work() -> None:
        agent = Late(echo)
        async with talking(agent, version) as client:
            for agent.pause in range(4):
                made = await client.request("session/new", cwd=str(tmp_path), mcpServers=[])
                await agent.steps
                await client.request("session/list")
                shown = str([made, *client.updates(made["sessionId"])])
                assert "tide" in shown
                assert "'ask'" in shown
                stored = await agent.store.load(made["sessionId"])
                assert stored is not None
                assert [one.name for one in stored.commands] == ["tide"]
                assert stored.config_options

    play(work)


@both
def test_a_session_that_is_loaded_during_its_turn_shows_every_piece_once(tmp_path: Path, version: int) -> None:
    going = asyncio.Event()

    class Slow(Working):
        async def on_load_session(self, session: Session) -> None:  # noqa: ARG002
            going.set()
            await asyncio.sleep(0.01)

    async def count(turn: Turn) -> None:
        await turn.send_message("a")
        await going.wait()
        for one in "bcdefghij":
            await turn.send_message(one)
            await asyncio.sleep(0.002)

    async def work() -> None:
        async with talking(Slow(count), version) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(client.text)
            begun = len(client.notes)
            await client.load(id_, tmp_path)
            assert await prompt == "end_turn"
            chunks = [one for one in client.updates(id_, begun) if one["sessionUpdate"] == "agent_message_chunk"]
            assert "".join(one["content"]["text"] for one in chunks) == "abcdefghij"
            assert len({one.get("messageId") for one in chunks}) == 1

    play(work)


@both
def test_what_a_turn_sends_during_a_load_that_is_refused_is_not_lost(tmp_path: Path, version: int) -> None:
    class Wary(Working):
        async def on_load_session(self, session: Session) -> None:
            going.set()
            await sent.wait()
            await session.set_commands([v2.Command(name="tide", description="Say it")])
            raise RequestError(-32602, "not now")

    going, sent = asyncio.Event(), asyncio.Event()

    async def speak(turn: Turn) -> None:
        await turn.send_message("a")
        await going.wait()
        await turn.send_message("b")
        sent.set()

    async def work() -> None:
        async with talking(Wary(speak), version) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(client.text)
            with pytest.raises(Refused):
                await client.load(id_, tmp_path)
            assert await prompt == "end_turn"
            assert client.text(id_) == "ab"
            assert "available_commands_update" in [one["sessionUpdate"] for one in client.updates(id_)]

    play(work)


@both
def test_a_session_that_closes_takes_nothing_more_in(tmp_path: Path, version: int) -> None:
    turns: list[str] = []

    class Slow(Working):
        async def on_close_session(self, session: Session) -> None:  # noqa: ARG002
            await asyncio.sleep(0.02)

    async def note(turn: Turn) -> None:
        turns.append(turn.text)

    async def work() -> None:
        async with talking(Slow(note), version) as client:
            id_ = await client.new(tmp_path)
            closing = client.begin("session/close", sessionId=id_)
            prompt = client.begin("session/prompt", sessionId=id_, prompt=[{"type": "text", "text": "late"}])
            with pytest.raises(Refused) as refused:
                await prompt
            assert refused.value.code == -32602
            await closing
            assert turns == []

    play(work)


@both
def test_a_thousand_requests_at_once_are_all_answered(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        async with talking(Working(echo), version) as client:
            ids = await asyncio.gather(*(client.new(tmp_path) for _ in range(500)))
            ends = await asyncio.gather(*(client.prompt(id_, id_) for id_ in ids))
            assert set(ends) == {"end_turn"}
            assert all(client.text(id_) == id_ for id_ in ids)

    play(work)


PROGRAM = """
import sys
from acp_session import Agent, Turn, run_agent

class Loud(Agent):
    async def on_prompt(self, turn: Turn) -> str:
        print("printed")
        await turn.send_message("sent")
        return "end_turn"

run_agent(Loud())
print("after", file=sys.stderr)
"""


@asynccontextmanager
async def program(version: int) -> AsyncGenerator[tuple[RawClient, asyncio.subprocess.Process]]:
    """The client of a program that is the agent."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    child = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1, stderr=-1, env=environment)
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        client = RawClient(version, Pipes(child.stdout, child.stdin))
        await client.initialize()
        yield client, child
        await client.reading
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no shell that closes descriptors")
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)], ids=str)
def test_a_program_whose_standard_streams_are_closed_ends_as_one_without_a_client(closed: tuple[int, ...]) -> None:
    command = 'exec "$@" </dev/null ' + " ".join(f"{number}>&-" for number in closed)
    arguments = ["sh", "-c", command, "sh", sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(arguments, capture_output=True, env=environment, timeout=30)
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert ran.stderr == (b"" if 2 in closed else b"after\n")


async def errors(child: asyncio.subprocess.Process) -> tuple[str, int]:
    """What a program that ends wrote on standard error, and its exit code."""
    assert child.stderr is not None
    return (await child.stderr.read()).decode(), await child.wait()


@both
def test_one_call_is_the_whole_main_of_a_program(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        async with program(version) as (client, child):
            await client.prompt(await client.new(tmp_path))
            assert client.text() == "sent"
            await client.link.close()
            assert await errors(child) == ("printed\nafter\n", 0)

    play(work)


def test_a_program_that_is_interrupted_ends_without_a_traceback() -> None:
    async def work() -> None:
        async with program(2) as (_, child):
            child.send_signal(signal.SIGINT)
            assert await errors(child) == ("", 130)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # programs of a run in the background ignore it
    try:
        play(work)
    finally:
        signal.signal(signal.SIGINT, before)


class Pipes:
    """The ends of a program as a transport."""

    is_full = False

    def __init__(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._source, self._sink = source, sink

    async def receive(self) -> bytes | None:
        return await self._source.readline() or None

    def send(self, message: bytes) -> None:
        self._sink.write(message + b"\n")

    async def drain(self) -> None:
        await self._sink.drain()

    async def close(self) -> None:
        self._sink.close()


def test_inside_an_event_loop_the_other_function_is_named() -> None:
    async def work() -> None:
        with pytest.raises(RuntimeError, match="serve_agent"):
            run_agent(Agent())

    play(work)
    with pytest.raises(ValueError, match="must name 1, 2 or both"):
        run_agent(Agent(), versions=(3,))


def test_a_version_that_is_not_spoken_is_refused(tmp_path: Path) -> None:
    async def work() -> None:
        with pytest.raises(Refused) as refused:
            async with talking(Agent(), 1, versions=(2,)):
                pass
        assert refused.value.code == -32022
        async with talking(Working(echo), 7, versions=(1, 2)) as client:
            assert isinstance(client, RawClient)

    play(work)
