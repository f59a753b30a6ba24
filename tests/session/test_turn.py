"""What an agent does in a turn, by clients of both versions: what they show, what they are asked, and what is left when a turn ends."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, NotAdvertised, PeerError, RequestError, v1, v2

from acp_session import Agent, Client, connect_in_memory
from acp_session.errors import InvalidMessage
from acp_session.services import LocalServices
from acp_session.session import Session
from acp_session.store import MemoryStore, StoredSession
from acp_session.turn import CommandResult, Diff, Turn
from acp_workspace.containment import guarantees
from acp_workspace.errors import REFUSED
from acp_workspace.filesystem import FilePolicy

from .raw_client import FORMS, Answer, RawClient, Refused, choose, reply, talking
from .test_agent import Working, both, echo, play

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

Work = Callable[[Turn], Awaitable[str | None]]


def talk(folder: Path, version: int, work: Work, **options: Any) -> RawClient:
    """The client after one turn."""

    async def whole() -> RawClient:
        async with talking(Working(work), version, **options) as client:
            assert await client.prompt(await client.new(folder), "What is the tide?") == "end_turn"
            return client

    found: RawClient = play(whole)
    return found


# --- what is shown ---------------------------------------------------------------------------------------------------


@both
def test_pieces_that_follow_each_other_are_one_message(tmp_path: Path, version: int) -> None:
    async def work(turn: Turn) -> None:
        await turn.send_thought("Hm")
        await turn.send_thought("...")
        await turn.send_message("Low")
        await turn.send_message(v2.TextContent(text=" tide"))
        async with turn.tool_call("Look"):
            pass
        await turn.send_message(turn.text)

    client = talk(tmp_path, version, work)
    pieces = [one for one in client.updates() if one["sessionUpdate"].startswith("agent_")]
    ids = list(dict.fromkeys(one["messageId"] for one in pieces))
    said = {id_: "".join(one["content"]["text"] for one in pieces if one["messageId"] == id_) for id_ in ids}
    assert list(said.values()) == ["Hm...", "Low tide", "What is the tide?"]


@both
def test_a_tool_call_shows_text_diffs_blocks_and_places(tmp_path: Path, version: int) -> None:
    async def work(turn: Turn) -> None:
        diff = Diff(Path("tide.txt"), "low\n", "high\n")
        link = v2.ResourceLink(name="table", uri="file:///table")
        async with turn.tool_call(
            "Edit",
            kind="edit",
            content=[diff, "why", link],
            locations=["tide.txt", (tmp_path / "a", 3)],
            raw_input={"n": 1},
        ) as call:
            assert (call.title, call.kind, call.status) == ("Edit", "edit", "pending")
            await call.add_content("more")
            await call.update(title="Edited", locations=[Path("b")], raw_output=[1])

    client = talk(tmp_path, version, work)
    first, *_ = [one for one in client.updates() if "toolCallId" in one]
    assert first["locations"] == [{"path": str(tmp_path / "tide.txt")}, {"path": str(tmp_path / "a"), "line": 3}]
    assert first["rawInput"] == {"n": 1}
    assert [one["type"] for one in first["content"]] == ["diff", "content", "content"]
    if version == 1:
        assert first["content"][0] == {
            "type": "diff",
            "path": str(tmp_path / "tide.txt"),
            "oldText": "low\n",
            "newText": "high\n",
        }
    (call,) = client.calls().values()
    assert (call["title"], call["status"], call["rawOutput"]) == ("Edited", "completed", [1])
    assert [one["content"].get("text") for one in call["content"][1:]] == ["why", None, "more"]
    assert call["locations"] == [{"path": str(tmp_path / "b")}]


@both
def test_a_tool_call_that_is_cancelled_in_a_turn_that_goes_on_has_ended(tmp_path: Path, version: int) -> None:
    async def show(turn: Turn) -> None:
        async with turn.tool_call("Wait"):
            await asyncio.Event().wait()

    async def work(turn: Turn) -> None:
        showing = asyncio.create_task(show(turn))
        while not turn.session.history[1:]:
            await asyncio.sleep(0)
        showing.cancel()
        await asyncio.wait([showing])

    client = talk(tmp_path, version, work)
    (call,) = client.calls().values()
    assert call["status"] == ("failed" if version == 1 else "cancelled")


@both
def test_a_plan_is_shown_and_replaced(tmp_path: Path, version: int) -> None:
    async def work(turn: Turn) -> None:
        await turn.update_plan(["Look", "Say"])
        done = v2.PlanEntry(content="Look", priority="high", status="completed")
        await turn.update_plan([done, "Say"])

    client = talk(tmp_path, version, work)
    plans = [one if version == 1 else one["plan"] for one in client.updates() if "plan" in one["sessionUpdate"]]
    assert [[entry["status"] for entry in one["entries"]] for one in plans] == [
        ["pending", "pending"],
        ["completed", "pending"],
    ]


# --- what is asked ---------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(("answer", "allowed"), [("always", True), ("no", False), ("none", False), (None, False)])
def test_only_an_offered_option_that_allows_is_consent_and_it_is_kept(
    tmp_path: Path, version: int, answer: str | None, allowed: bool
) -> None:
    options = [
        v2.PermissionOption(option_id="always", name="Always", kind="allow_always"),
        v2.PermissionOption(option_id="no", name="No", kind="reject_once"),
    ]
    found: list[Any] = []

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Ask") as call:
            found.append(await call.request_permission(title="Do it?", description="Now", options=options))
            found.append(None if call.chosen_option is None else call.chosen_option.kind)
        found.append(await turn.request_permission("Go on?", options=options))

    client = talk(tmp_path, version, work, answers={"session/request_permission": choose(answer)})
    kinds = {"always": "allow_always", "no": "reject_once"}
    assert found == [allowed, kinds.get(answer or ""), allowed]
    assert client.statuses()[0] == ("completed" if allowed else "failed")
    assert len(client.asked) == 2


@both
def test_the_user_fills_in_a_form_or_visits_a_page(tmp_path: Path, version: int) -> None:
    found: list[Any] = []

    async def work(turn: Turn) -> None:
        fields: dict[str, v2.ElicitationPropertySchema] = {
            "port": v2.IntegerPropertySchema(title="Port"),
            "name": v2.StringPropertySchema(),
        }
        async with turn.tool_call("Ask") as call:
            found.append(await turn.ask("Which port?", fields, required=["port"], tool_call=call))
        found.append(await turn.ask("Again?", fields))
        found.append(await turn.ask_url("Look there", "https://tides.example"))

    answers = reply({"action": "accept", "content": {"port": 8080}}, {"action": "decline"}, {"action": "accept"})
    client = talk(tmp_path, version, work, capabilities=FORMS, answers={"elicitation/create": answers})
    assert found == [{"port": 8080}, None, True]
    first, second, third = (one["params"] for one in client.asked)
    assert (first["message"], first["requestedSchema"]["required"]) == ("Which port?", ["port"])
    assert first["toolCallId"] in client.calls()
    assert second["requestedSchema"]["required"] == ["port", "name"]
    assert (third["mode"], third["url"]) == ("url", "https://tides.example")


@both
@pytest.mark.parametrize(
    "content",
    [{}, {"port": "x"}, {"port": True}, {"port": 1.5}, {"port": -1}, {"port": 10}, {"port": 1, "color": "green"}],
)
def test_a_form_that_is_not_filled_in_as_asked_is_an_error(tmp_path: Path, version: int, content: Any) -> None:
    async def work(turn: Turn) -> None:
        color = v2.StringPropertySchema(enum=["red", "blue"])
        with pytest.raises(InvalidMessage) as wrong:
            await turn.ask(
                "?", {"port": v2.IntegerPropertySchema(minimum=0, maximum=9), "color": color}, required=["port"]
            )
        assert wrong.value.method == "elicitation/create"
        assert wrong.value.place == ("/content/color" if "color" in content else "/content/port")

    answer = {"action": "accept", "content": content}
    talk(tmp_path, version, work, capabilities=FORMS, answers={"elicitation/create": reply(answer)})


FORM: dict[str, v2.ElicitationPropertySchema] = {
    "code": v2.StringPropertySchema(min_length=2, max_length=3, pattern="^[A-Z]+$"),
    "kinds": v2.MultiSelectPropertySchema(
        min_items=1, max_items=2, items=v2.StringMultiSelectItems(enum=["sail", "motor", "oar"])
    ),
    "berths": v2.MultiSelectPropertySchema(
        items=v2.TitledMultiSelectItems(
            any_of=[v2.EnumOption(const="a", title="A"), v2.EnumOption(const="b", title="B")]
        )
    ),
    "size": v2.IntegerPropertySchema(),
    "hue": v2.decode_as(v2.ElicitationPropertySchema, {"type": "_hue", "of": 3}),
}


@both
@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"code": "A"}, "/content/code"),
        ({"code": "ABCD"}, "/content/code"),
        ({"code": "a1"}, "/content/code"),
        ({"kinds": ["plane"]}, "/content/kinds/0"),
        ({"kinds": []}, "/content/kinds"),
        ({"kinds": ["sail", "motor", "oar"]}, "/content/kinds"),
        ({"kinds": "sail"}, "/content/kinds"),
        ({"berths": ["a", "c"]}, "/content/berths/1"),
        ({"size": 10**400}, None),
        ({"size": 2.0, "code": "ABC", "kinds": ["oar"], "berths": ["b", "a"], "hue": "any"}, None),
    ],
)
def test_all_that_a_field_says_of_its_value_is_checked(
    tmp_path: Path, version: int, content: Any, place: str | None
) -> None:
    found: list[Any] = []

    async def work(turn: Turn) -> None:
        try:
            found.append(await turn.ask("?", FORM, required=[]))
        except InvalidMessage as wrong:
            found.append(wrong.place)

    answer = {"action": "accept", "content": content}
    talk(tmp_path, version, work, capabilities=FORMS, answers={"elicitation/create": reply(answer)})
    assert found == [content if place is None else place]


@both
def test_a_field_with_a_pattern_that_is_none_is_not_asked_for(tmp_path: Path, version: int) -> None:
    async def work(turn: Turn) -> None:
        with pytest.raises(ValueError, match=r"pattern|regex"):
            await turn.ask("?", {"name": v2.StringPropertySchema(pattern="(")})

    assert not talk(tmp_path, version, work, capabilities=FORMS).asked


@both
def test_an_answer_that_is_not_valid_is_an_error_of_the_package(tmp_path: Path, version: int) -> None:
    async def work(turn: Turn) -> None:
        with pytest.raises(InvalidMessage) as wrong:
            await turn.request_permission("Go on?")
        assert wrong.value.method == "session/request_permission"

    talk(tmp_path, version, work, answers={"session/request_permission": reply({"outcome": 3})})


@both
def test_what_the_client_does_not_advertise_is_not_asked_for_and_can_be_known(tmp_path: Path, version: int) -> None:
    async def work(turn: Turn) -> None:
        can = turn.session.client_capabilities
        assert (can.ask, can.ask_url) == (False, False)
        with pytest.raises(NotAdvertised):
            await turn.ask("?", {})
        with pytest.raises(NotAdvertised):
            await turn.ask_url("?", "https://tides.example")
        if version == 1:
            assert (can.read_text_file, can.write_text_file, can.run_command) == (False,) * 3
            for call in (turn.read_text_file("a"), turn.write_text_file("a", ""), turn.run_command("true")):
                with pytest.raises(NotAdvertised):
                    await call

    client = talk(tmp_path, version, work, is_machine=False)
    assert client.asked == []
    assert client.calls() == {}


def test_work_waits_until_the_last_of_several_questions_ends_whichever_way(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        first = asyncio.create_task(turn.request_permission("1"))
        second = asyncio.create_task(turn.request_permission("2"))
        third = asyncio.create_task(turn.request_permission("3"))
        await first
        second.cancel()
        with pytest.raises(PeerError):
            await third

    async def answer(params: dict[str, Any]) -> Any:
        await asyncio.sleep(0.01 * int(params["title"]))
        if params["title"] == "3":
            raise Refused({"code": -32603, "message": "no"})
        return {"outcome": {"outcome": "cancelled"}}

    client = talk(tmp_path, 2, work, answers={"session/request_permission": answer})
    states = [one["state"] for one in client.updates() if "state" in one]
    assert states == ["running", *["requires_action"] * 3, "running", "idle"]


# --- files and commands ----------------------------------------------------------------------------------------------


@both
def test_files_are_read_and_written_in_the_directory_of_the_session(tmp_path: Path, version: int) -> None:
    found: list[str] = []

    async def work(turn: Turn) -> None:
        await turn.write_text_file("low.txt", "one\ntwo\nthree\n")
        await turn.write_text_file(tmp_path / "high.txt", "x")
        found.append(await turn.read_text_file(Path("low.txt")))
        found.append(await turn.read_text_file("low.txt", line=2, limit=1))
        refusal: Any = PeerError if version == 1 else RequestError
        with pytest.raises(refusal) as missing:
            async with turn.tool_call("Read"):
                await turn.read_text_file("none.txt")
        found.append(str(missing.value.code))

    client = talk(tmp_path, version, work)
    assert found == ["one\ntwo\nthree\n", "two\n", "-32002"]
    assert (tmp_path / "high.txt").read_text() == "x"
    assert client.statuses() == ["failed"]


def test_files_and_commands_of_an_agent_of_version_2_stay_in_the_roots_of_the_session(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "app" / "link").symlink_to(tmp_path / "secret")

    async def work(turn: Turn) -> None:
        for path in (tmp_path / "secret", "../secret", "link"):
            for call in (turn.read_text_file(path), turn.write_text_file(path, "y")):
                with pytest.raises(RequestError) as refused:
                    await call
                assert refused.value.code == -32001
        with pytest.raises(RequestError) as refused:
            await turn.run_command("true", cwd=tmp_path)
        assert refused.value.code == -32001
        with pytest.raises(RequestError) as missing:
            await turn.run_command("no-such-program")
        assert missing.value.code == -32002

    client = talk(tmp_path / "app", 2, work)
    assert (tmp_path / "secret").read_text() == "x"
    assert client.statuses() == ["failed", "failed"]


@both
def test_commands_say_what_they_wrote_and_how_they_ended(tmp_path: Path, version: int) -> None:
    found: list[CommandResult] = []

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Look", kind="execute", content="first") as call:
            script = "echo $TIDE; pwd; exit 3"
            found.append(await turn.run_command("sh", "-c", script, env={"TIDE": "low"}, tool_call=call))
        (tmp_path / "deep").mkdir()
        found.append(await turn.run_command("pwd", cwd="deep"))
        found.append(await turn.run_command("false"))

    client = talk(tmp_path, version, work)
    assert found[:2] == [CommandResult(f"low\n{tmp_path}\n", 3), CommandResult(f"{tmp_path}/deep\n", 0)]
    assert client.statuses() == ["completed", "completed", "failed"]
    first, second, _ = client.calls().values()
    assert [one["type"] for one in first["content"]] == ["content", "terminal"]
    assert (second["title"], second["kind"]) == ("pwd", "execute")
    if version == 2:
        shown = {one["terminalId"]: one["command"] for one in client.updates() if "command" in one}
        assert list(shown.values()) == ["sh -c 'echo $TIDE; pwd; exit 3'", "pwd", "false"]
        chunks = [one for one in client.updates() if one["sessionUpdate"] == "terminal_output_chunk"]
        output = b"".join(base64.b64decode(one["data"]) for one in chunks).decode()
        assert output == f"low\n{tmp_path}\n{tmp_path}/deep\n"


def test_a_command_that_takes_too_long_or_says_too_much_is_cut(tmp_path: Path) -> None:
    found: list[CommandResult] = []

    async def work(turn: Turn) -> None:
        found.append(await turn.run_command("sh", "-c", "echo low; sleep 60", timeout=0.2))
        found.append(await turn.run_command("sh", "-c", "echo 1234567890", output_limit=4))
        kept.extend(one for one in turn.session.history if isinstance(one, v2.TerminalUpdate) and one.exit_status)

    kept: list[v2.TerminalUpdate] = []
    talk(tmp_path, 2, work)
    assert [base64.b64decode(one.output.data) for one in kept if one.output] == [b"low\n", b"890\n"]
    slow, long = found
    assert (slow.output, slow.exit_code, slow.timed_out) == ("low\n", None, True)
    assert slow.signal is not None
    assert long == CommandResult("890\n", 0, truncated=True)


def test_a_command_that_was_ended_for_its_time_has_failed_though_it_says_it_has_not(tmp_path: Path) -> None:
    found: list[CommandResult] = []

    async def work(turn: Turn) -> None:
        script = "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done"
        found.append(await turn.run_command("sh", "-c", script, timeout=0.5))

    client = talk(tmp_path, 2, work)
    assert (found[0].exit_code, found[0].timed_out) == (0, True)
    assert client.statuses() == ["failed"]


def test_the_output_of_a_command_is_asked_for_once_though_the_client_refuses_it(tmp_path: Path) -> None:
    def refuse(_: Any) -> Any:
        raise Refused({"code": -32603, "message": "no output today"})

    async def work(turn: Turn) -> None:
        with pytest.raises(PeerError, match="no output today"):
            await turn.run_command("true")

    async def converse() -> None:
        async with talking(Working(work), 1, answers={"terminal/output": refuse}) as client:
            await client.prompt(await client.new(tmp_path))
            methods = [message["method"] for message in client.asked]
            assert methods[-2:] == ["terminal/output", "terminal/release"]
            assert methods.count("terminal/output") == 1

    play(converse)


@pytest.mark.parametrize("silent", [["terminal/wait_for_exit"], ["terminal/wait_for_exit", "terminal/kill"]])
def test_a_client_that_waits_for_what_a_killed_command_has_started_holds_no_turn_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: list[str]
) -> None:
    async def wait(params: Any) -> Any:
        await asyncio.Event().wait()

    async def work(turn: Turn) -> None:
        found.append(await turn.run_command("sh", "-c", "echo low", timeout=0.05))

    monkeypatch.setattr("acp_session.turn.KILL_TIMEOUT", 0.05)
    found: list[CommandResult] = []
    output = reply({"output": "low\n", "truncated": False})
    answers = {"terminal/output": output, **dict.fromkeys(silent, wait)}
    client = talk(tmp_path, 1, work, answers=answers)
    assert found == [CommandResult("low\n", timed_out=True)]
    assert client.statuses() == ["failed"]


def test_the_output_of_a_command_is_shown_to_a_client_that_loads_the_session_and_has_no_such_terminal(
    tmp_path: Path,
) -> None:
    async def work(turn: Turn) -> None:
        await turn.run_command("sh", "-c", "echo low; exit 3")

    async def whole() -> tuple[RawClient, RawClient]:
        agent = Working(work)
        async with talking(agent, 1) as first:
            id_ = await first.new(tmp_path)
            await first.prompt(id_)
        async with talking(agent, 1) as second:
            await second.load(id_, tmp_path)
            await second.until(second.calls)
        async with talking(agent, 2) as newer:
            await newer.request("session/resume", sessionId=id_, cwd=str(tmp_path), replayFrom={"type": "start"})
            await newer.until(newer.calls)
        return second, newer

    older, newer = play(whole)
    (call,) = older.calls().values()
    assert call["content"][0]["content"]["text"] == "```console\n$ sh -c 'echo low; exit 3'\nlow\n[ended with 3]\n```"
    (terminal,) = [one for one in newer.updates() if one["sessionUpdate"] == "terminal_update"]
    assert (base64.b64decode(terminal["output"]["data"]), terminal["exitStatus"]) == (b"low\n", {"exitCode": 3})


def test_the_history_keeps_what_each_command_of_a_client_wrote_also_one_that_was_cancelled(tmp_path: Path) -> None:
    """Each connection of the client counts its terminals from the beginning."""

    async def wait(params: Any) -> Any:
        await asyncio.Event().wait()

    async def work(turn: Turn) -> None:
        await turn.run_command("echo", turn.text)

    async def whole() -> RawClient:
        agent, output = Working(work), reply({"output": "cut\n", "truncated": False})
        async with talking(agent, 1) as first:
            id_ = await first.new(tmp_path)
            await first.prompt(id_, "low")
        async with talking(agent, 1, answers={"terminal/wait_for_exit": wait, "terminal/output": output}) as second:
            await second.load(id_, tmp_path)
            prompt = asyncio.create_task(second.prompt(id_, "high"))
            await second.until(lambda: any(one["method"].endswith("wait_for_exit") for one in second.asked))
            second.cancel(id_)
            assert await prompt == "cancelled"
        async with talking(agent, 1) as third:
            await third.load(id_, tmp_path)
            await third.until(lambda: len(third.calls()) > 1)
        return third

    shown = [call["content"][0]["content"]["text"] for call in play(whole).calls().values()]
    assert shown == ["```console\n$ echo low\nlow\n[ended with 0]\n```", "```console\n$ echo high\ncut\n[ended]\n```"]


@both
def test_a_client_that_loads_an_open_session_still_has_the_output_of_its_commands(tmp_path: Path, version: int) -> None:
    async def run(turn: Turn) -> None:
        await turn.run_command("echo", "low")

    async def work() -> None:
        client = Client(allowed_roots=[tmp_path])
        async with connect_in_memory(Working(run), client, versions=(version,)) as agent:
            session = await agent.new_session(tmp_path)
            await session.prompt("Go")
            await agent.load_session(session.id, tmp_path)
            (call,) = session.transcript.tool_calls.values()
            shown = [one.terminal_id for one in call.current.content or () if isinstance(one, v2.Terminal)]
            assert [session.transcript.terminals[one].text for one in shown] == ["low\n"]

    play(work)


def test_the_user_stops_a_command_and_the_turn_goes_on(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        result = await turn.run_command("sh", "-c", "echo low; sleep 60")
        await turn.send_message(f"{result.exit_code} {result.signal}")

    async def whole() -> None:
        async with talking(Working(work), 2) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            terminal = await client.until(
                lambda: [one["terminalId"] for one in client.updates() if one["sessionUpdate"].endswith("output_chunk")]
            )
            await client.request("terminal/cancel", sessionId=id_, terminalId=terminal[0])
            assert await prompt == "end_turn"
            assert client.text().startswith("None SIG")
            with pytest.raises(Refused) as ended:
                await client.request("terminal/cancel", sessionId=id_, terminalId=terminal[0])
            assert ended.value.code == -32602
            begun = len(client.notes)
            await client.load(id_, tmp_path)
            again = [one for one in client.updates(id_, begun) if one.get("terminalId") == terminal[0]]
            assert [sorted(one) for one in again if "command" in one] != []
            assert base64.b64decode(again[-1]["output"]["data"]) == b"low\n"

    play(whole)


def test_a_command_ends_with_its_turn(tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        await turn.run_command("sh", "-c", "echo $$ > pid; echo begun; sleep 60; touch late")

    async def whole() -> None:
        async with talking(Working(work), 2) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(lambda: any("data" in one for one in client.updates()))
            client.cancel(id_)
            assert await prompt == "cancelled"
            assert client.statuses() == ["cancelled"]
        pid = int((tmp_path / "pid").read_text())
        assert not Path(f"/proc/{pid}").exists()

    play(whole)


# --- what is left ----------------------------------------------------------------------------------------------------


async def leave_open(turn: Turn) -> None:
    """Leaves a tool call open, and ends another."""
    await turn.session.send_update(v2.SessionToolCallUpdate(tool_call_id="open", title="Open", status="pending"))
    await turn.session.send_update(v2.SessionToolCallUpdate(tool_call_id="ended", title="Ended", status="completed"))
    await turn.session.send_update(v2.SessionToolCallUpdate(tool_call_id="beside", title="Beside"))
    await turn.session.set_background([v2.BackgroundToolCall(tool_call_id="beside")])
    if turn.text == "fail":
        raise ValueError(turn.text)
    await asyncio.sleep(60)


@both
@pytest.mark.parametrize("way", ["cancel", "fail", "close", "leave"])
def test_no_tool_call_stays_open_after_its_turn_in_history_or_replay(
    tmp_path: Path, version: int, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def whole() -> None:
        agent = Working(leave_open)
        async with talking(agent, version) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_, way))
            await client.until(lambda: "beside" in client.calls())
            if way == "cancel":
                client.cancel(id_)
            elif way == "close":
                await client.request("session/close", sessionId=id_)
            elif way == "leave":
                await client.link.close()
                prompt.cancel()
            if way == "fail":
                with pytest.raises(Refused):
                    await prompt
            elif way != "leave":
                assert await prompt == "cancelled"
        async with talking(agent, version) as client:
            await client.load(id_, tmp_path)
            end = "failed" if version == 1 or way == "fail" else "cancelled"
            statuses = {key: call.get("status") for key, call in client.calls().items()}
            assert (statuses["open"], statuses["ended"]) == (end, "completed")
            assert statuses["beside"] in (None, "pending")  # it goes on

    play(whole)


@both
def test_a_fork_shares_nothing_with_its_source_and_has_no_tool_call_that_never_ends(
    tmp_path: Path, version: int
) -> None:
    going = asyncio.Event()

    async def work(turn: Turn) -> None:
        seen = turn.session.data.setdefault("seen", [])
        seen.append(turn.text)
        await turn.send_message(",".join(seen))
        if turn.text == "wait":
            async with turn.tool_call("Wait"):
                await going.wait()

    async def whole() -> None:
        async with talking(Working(work), version) as client:
            id_ = await client.new(tmp_path)
            await client.prompt(id_, "1")
            prompt = asyncio.create_task(client.prompt(id_, "wait"))
            await client.until(client.calls)
            made = await client.request("session/fork", sessionId=id_, cwd=str(tmp_path), mcpServers=[])
            fork = made["sessionId"]
            begun = len(client.notes)
            await client.load(fork, tmp_path)
            (copied,) = [one for one in client.updates(fork, begun) if one.get("status") in ("failed", "cancelled")]
            assert copied["toolCallId"] in client.calls(id_)
            going.set()
            assert await prompt == "end_turn"
            assert client.calls(id_)[copied["toolCallId"]]["status"] == "completed"
            for one, text in ((fork, "1,wait,2"), (id_, "1,wait,3")):
                await client.prompt(one, text[-1])
                assert client.text(one).endswith(text)

    play(whole)


def test_data_that_cannot_be_copied_fails_the_fork_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(turn: Turn) -> None:
        turn.session.data["lock"] = threading.Lock()
        await turn.send_message("kept")

    async def whole() -> str:
        async with talking(Working(work), 2) as client:
            id_ = await client.new(tmp_path)
            await client.prompt(id_)
            with pytest.raises(Refused) as failed:
                await client.request("session/fork", sessionId=id_, cwd=str(tmp_path), mcpServers=[])
            assert failed.value.code == -32603
            assert len((await client.request("session/list"))["sessions"]) == 1
            assert await client.prompt(id_) == "end_turn"
            return id_

    with caplog.at_level(logging.ERROR, "acp_session"):
        id_ = play(whole)
    assert {getattr(one, "session_id", None) for one in caplog.records} == {id_}


def test_a_session_that_is_closed_is_of_no_use_to_who_still_holds_it(tmp_path: Path) -> None:
    held: list[Turn] = []

    async def work(turn: Turn) -> None:
        held.append(turn)
        await echo(turn)

    async def whole() -> None:
        agent = Working(work)
        async with talking(agent, 2) as client:
            id_ = await client.new(tmp_path)
            await client.prompt(id_, "1")
            await client.request("session/close", sessionId=id_)
            with pytest.raises(ConnectionClosed, match=id_):
                await held[0].send_message("late")
            with pytest.raises(ConnectionClosed):
                await held[0].session.set_title("late")
            found = await agent.store.load(id_)
            assert found is not None
            assert found.title is None

    play(whole)


def test_a_prompt_after_one_that_was_cancelled_waits_for_its_end_in_version_1(tmp_path: Path) -> None:
    going = asyncio.Event()

    async def stubborn(turn: Turn) -> None:
        await turn.send_message(turn.text)
        if turn.text == "1":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            await going.wait()

    async def whole() -> None:
        async with talking(Working(stubborn), 1) as client:
            id_ = await client.new(tmp_path)
            first = asyncio.create_task(client.prompt(id_, "1"))
            await client.until(client.text)
            with pytest.raises(Refused) as busy:
                await client.prompt(id_, "?")
            assert busy.value.code == -32602
            client.cancel(id_)
            second = asyncio.create_task(client.prompt(id_, "2"))
            third = asyncio.create_task(client.prompt(id_, "3"))
            await asyncio.sleep(0.01)
            assert not second.done()
            client.cancel(id_)
            assert await second == await third == "cancelled"
            last = asyncio.create_task(client.prompt(id_, "4"))
            await asyncio.sleep(0.01)
            going.set()
            assert await first == "cancelled"
            assert await last == "end_turn"
            assert client.text() == "14"

    play(whole)


# --- at every message ------------------------------------------------------------------------------------------------


async def everything(turn: Turn) -> None:
    await turn.send_thought("Hm.")
    await turn.update_plan(["All"])
    async with turn.tool_call("Write", kind="edit", content=[Diff("a", None, "b")]) as call:
        if await call.request_permission():
            await turn.write_text_file("a", "b")
            await turn.read_text_file("a")
    await turn.ask("Which?", {"port": v2.IntegerPropertySchema()})
    await turn.run_command("echo", "tide")
    await turn.send_message("Done.")


ANSWERS: dict[str, Any] = {"elicitation/create": reply({"action": "decline"})}


async def heard(client: RawClient, count: int) -> None:
    """Wait until so many more messages have come."""
    begun = len(client.notes) + len(client.asked)
    await client.until(lambda: len(client.notes) + len(client.asked) >= begun + count)


@both
def test_a_turn_can_be_cancelled_at_every_message_and_the_next_one_runs(tmp_path: Path, version: int) -> None:
    async def whole() -> None:
        ends: list[str] = []
        async with talking(Working(everything), version, capabilities=FORMS, answers=ANSWERS) as client:
            for count in range(1, 100):
                id_ = await client.new(tmp_path)
                prompt = asyncio.create_task(client.prompt(id_))
                waiting = asyncio.create_task(heard(client, count))
                await asyncio.wait([prompt, waiting], return_when=asyncio.FIRST_COMPLETED)
                client.cancel(id_)
                ends.append(await prompt)
                waiting.cancel()
                assert all(one["status"] in ("completed", "failed", "cancelled") for one in client.calls(id_).values())
                if ends[-1] == "end_turn":
                    break
                assert ends[-1] == "cancelled"
                assert await client.prompt(id_) == "end_turn"
        assert ends.count("cancelled") > 10

    play(whole)


@both
def test_a_turn_is_cancelled_however_soon_after_its_prompt(tmp_path: Path, version: int) -> None:
    async def whole() -> None:
        async with talking(Working(everything), version, capabilities=FORMS, answers=ANSWERS) as client:
            id_ = await client.new(tmp_path)
            prompt = {"sessionId": id_, "prompt": [{"type": "text", "text": "Go"}]}
            waiting = client.begin("session/prompt", **prompt)
            client.cancel(id_)
            found: Any
            (found,) = await asyncio.gather(waiting, return_exceptions=True)
            if version == 1:
                assert found["stopReason"] == "cancelled"
            elif not isinstance(found, Refused):
                await client.until(lambda: any(one.get("stopReason") == "cancelled" for one in client.updates(id_)))
            assert client.text(id_) == ""
            assert await client.prompt(id_) == "end_turn"

    play(whole)


@both
def test_a_turn_that_is_cancelled_once_its_work_has_ended_is_cancelled_all_the_same(
    tmp_path: Path, version: int
) -> None:
    class Slow(MemoryStore):
        client: RawClient | None = None

        async def save(self, session: StoredSession) -> None:
            await super().save(session)
            if self.client is not None and session.title == "done":
                self.client.cancel(session.id)
                await asyncio.sleep(0.02)

    async def work(turn: Turn) -> None:
        await turn.session.set_title("done")

    async def whole() -> None:
        store = Slow()
        async with talking(Working(work, store=store), version) as client:
            store.client = client
            assert await client.prompt(await client.new(tmp_path)) == "cancelled"

    play(whole)


@both
def test_a_client_may_die_at_every_message_and_its_session_is_kept(tmp_path: Path, version: int) -> None:
    async def whole() -> None:
        agent, count = Working(everything, store=MemoryStore()), 0
        for count in range(100):
            async with talking(agent, version, capabilities=FORMS, answers=ANSWERS) as client:
                id_ = await client.new(tmp_path)
                prompt = asyncio.create_task(client.prompt(id_))
                waiting = asyncio.create_task(heard(client, count))
                await asyncio.wait([prompt, waiting], return_when=asyncio.FIRST_COMPLETED)
                await client.link.close()
                is_whole = prompt.done()
                for task in (prompt, waiting):
                    task.cancel()
                    with contextlib.suppress(BaseException):
                        await task
            assert agent.owners == {}
            found = await agent.store.load(id_)
            assert found is not None
            statuses: dict[str, Any] = {}
            for one in found.history:
                if isinstance(one, v2.SessionToolCallUpdate) and isinstance(one.status, str):
                    statuses[one.tool_call_id] = one.status
            assert set(statuses.values()) <= {"completed", "failed", "cancelled"}
            if is_whole:
                break
        assert count > 10

    play(whole)


@both
def test_a_client_may_die_before_it_has_said_anything_and_while_it_says_hello(version: int) -> None:
    async def whole() -> None:
        for hello in (True, False):
            agent = Working(echo)
            async with talking(agent, version) as client:
                if hello:
                    client.begin("session/list")
                await client.link.close()
            assert agent.owners == {}

    play(whole)


@both
def test_a_command_takes_paths(tmp_path: Path, version: int) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "tide.txt").touch()

    async def work(turn: Turn) -> None:
        assert (await turn.run_command(Path("ls"), Path("sub"))).output == "tide.txt\n"

    (call,) = talk(tmp_path, version, work).calls().values()
    assert call["title"] == "ls sub"


def test_a_command_whose_turn_is_cancelled_before_its_terminal_is_known_is_released(tmp_path: Path) -> None:
    known = asyncio.Event()

    async def create(params: Any) -> Any:
        with contextlib.suppress(asyncio.CancelledError):
            await known.wait()
        return {"terminalId": "late"}

    async def run(turn: Turn) -> None:
        await turn.run_command("sleep", "60")

    async def work() -> None:
        async with talking(Working(run), 1, answers={"terminal/create": create}) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(lambda: client.asked)
            client.cancel(id_)
            assert await prompt == "cancelled"
            known.set()
            released = {"sessionId": id_, "terminalId": "late"}
            await client.until(lambda: released in [one["params"] for one in client.asked])

    play(work)


def test_a_terminal_whose_release_is_never_answered_does_not_hold_its_turn_up(tmp_path: Path) -> None:
    over = asyncio.Event()

    async def run(turn: Turn) -> None:
        await turn.run_command("true")

    async def work() -> None:
        async def wait(_: Any) -> bool:
            return await over.wait()

        never: dict[str, Answer] = {"terminal/release": wait}
        async with talking(Working(run), 1, answers=never, grace=0.02) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            await client.until(lambda: any(one["method"] == "terminal/release" for one in client.asked))
            client.cancel(id_)
            assert await prompt == "cancelled"
            over.set()

    play(work)


def test_the_user_stops_one_tool_call_that_offers_it(tmp_path: Path) -> None:
    class Stopping(Working):
        stop: asyncio.Event

        async def on_cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
            await session.send_update(v2.SessionToolCallUpdate(tool_call_id=tool_call_id, status="cancelled"))
            self.stop.set()

    async def run(turn: Turn) -> None:
        async with turn.tool_call("Wait") as call:
            can = v2.ToolCallCapabilities(cancel=v2.ToolCallCancelCapabilities())
            await turn.session.send_update(v2.SessionToolCallUpdate(tool_call_id=call.id, capabilities=can))
            await agent.stop.wait()
            call.status = "cancelled"

    agent = Stopping(run)

    async def work() -> None:
        agent.stop = asyncio.Event()
        async with talking(agent, 2) as client:
            id_ = await client.new(tmp_path)
            prompt = asyncio.create_task(client.prompt(id_))
            (call,) = await client.until(client.calls)
            at = {"sessionId": id_, "toolCallId": call}
            await client.until(lambda: "capabilities" in client.calls()[call])
            await client.request("tool_call/cancel", **at)
            assert await prompt == "end_turn"
            assert client.statuses() == ["cancelled"]
            for wrong in (at, {**at, "toolCallId": "none"}):
                with pytest.raises(Refused) as refused:
                    await client.request("tool_call/cancel", **wrong)
                assert refused.value.code == -32602

    play(work)


def test_where_the_agents_machine_runs_no_commands_the_client_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def capabilities(_: LocalServices) -> v1.ClientCapabilities:
        return v1.ClientCapabilities(fs=v1.FileSystemCapabilities())

    monkeypatch.setattr(LocalServices, "capabilities", capabilities)
    found: list[str] = []

    async def run(turn: Turn) -> None:
        with pytest.raises(RequestError) as refused:
            await turn.run_command("true")
        found.append(refused.value.message)

    assert talk(tmp_path, 2, run).calls() == {}
    assert "agent's machine" in found[0]


@pytest.mark.parametrize(("files", "expected"), [(FilePolicy(), REFUSED), (FilePolicy(denied_for_writing=()), None)])
def test_the_author_of_an_agent_decides_which_files_it_writes_on_its_own_machine(
    tmp_path: Path, files: FilePolicy, expected: int | None
) -> None:
    class Writing(Agent):
        async def on_prompt(self, turn: Turn) -> str:
            try:
                await turn.write_text_file(".github/workflows/ci.yml", "on: push\n")
            except RequestError as error:  # of this machine: the client was not asked
                return f"_{error.code}"
            return "_written"

    async def work() -> None:
        agent, client = Writing(files=files), Client(allowed_roots=[tmp_path])
        async with connect_in_memory(agent, client, versions=(2,)) as connection:
            session = await connection.new_session(tmp_path)
            result = await session.prompt("Write")
            assert result.stop_reason == ("_written" if expected is None else f"_{expected}")

    play(work)
