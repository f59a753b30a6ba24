"""An agent of v1 that asks its client for files and terminals, and a client of v2: the adapter serves them, and shows the terminals."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import PeerError, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session import Agent, Client, Turn, connect_agent, serve_agent
from acp_session.adapter import Local, as_v1, as_v2
from acp_session.services import LocalServices
from acp_workspace.approval import ApprovalRequest, CommandApprovalRequest
from acp_workspace.filesystem import FilePolicy
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import ClientWorkspace, RootSet
from adapter.programs import ME2, Agent1, Client2, Setting, client2_with_agent1, run, words
from examples.agent import Notes
from jsonrpc_bindings.transport import pair

Json = dict[str, Any]


def new(folder: Path, *more: Path) -> v2.NewSessionRequest:
    named: dict[str, Any] = {"additional_directories": [str(one) for one in more]} if more else {}
    return v2.NewSessionRequest(cwd=str(folder), **named)


def prompt() -> v2.PromptRequest:
    return v2.PromptRequest(session_id="s", prompt=[v2.TextContent(text="Hello")])


def shell(script: str, **more: Any) -> v1.CreateTerminalRequest:
    return v1.CreateTerminalRequest(session_id="s", command="sh", args=["-c", script], **more)


def of(terminal: str) -> Json:
    return {"session_id": "s", "terminal_id": terminal}


def screen(updates: list[Json], terminal: str) -> tuple[str, Any]:
    """What a client of v2 shows of a terminal: its output, and how it ended."""
    output, end = b"", None
    for one in updates:
        if one.get("terminalId") != terminal:
            continue
        if one["sessionUpdate"] == "terminal_output_chunk":
            output += base64.b64decode(one["data"])
        if "output" in one:
            output = base64.b64decode(one["output"]["data"])
        end = one.get("exitStatus", end)
    return output.decode(), end


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_files_and_terminals_are_served_and_a_terminal_is_shown_as_one_of_v2(tmp_path: Path) -> None:
    terminals: list[str] = []

    async def work_of(agent: Agent1, session: str) -> str:
        note = str(tmp_path / "note.txt")
        await agent.client.fs_write_text_file(v1.WriteTextFileRequest(session_id=session, path=note, content="tide\n"))
        text = await agent.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=session, path=note))
        assert text.content == "tide\n"
        made = await agent.client.terminal_create(shell("cat note.txt; printf 'caf\\303\\251'; exit 3"))
        terminals.append(made.terminal_id)
        shown = {"type": "terminal", "terminalId": made.terminal_id}
        await agent.say(session, sessionUpdate="tool_call", toolCallId="c", title="Cat", content=[shown])
        ended = await agent.client.terminal_wait_for_exit(v1.WaitForTerminalExitRequest(**of(made.terminal_id)))
        assert (ended.exit_code, ended.signal) == (3, None)
        found = await agent.client.terminal_output(v1.TerminalOutputRequest(**of(made.terminal_id)))
        assert found.output == "tide\ncafé"
        await agent.client.terminal_release(v1.ReleaseTerminalRequest(**of(made.terminal_id)))
        return "end_turn"

    async def work() -> None:
        agent, client, setting = Agent1(work_of), Client2(), Setting()
        async with client2_with_agent1(client, agent, setting, local=Local()) as (calls, adapter):
            await calls.initialize(ME2)
            advertised = agent.heard[0].client_capabilities
            assert (advertised.fs.read_text_file, advertised.fs.write_text_file, advertised.terminal) == (True,) * 3
            await calls.session_new(new(tmp_path))
            await calls.session_prompt(prompt())
            await client.idle.wait()
            (terminal,) = terminals
            first = next(one for one in client.updates if one.get("terminalId") == terminal)
            assert first == {
                "sessionUpdate": "terminal_update",
                "terminalId": terminal,
                "command": "sh -c 'cat note.txt; printf '\"'\"'caf\\303\\251'\"'\"'; exit 3'",
                "cwd": str(tmp_path),
                "capabilities": {"cancel": {}},
            }
            assert screen(client.updates, terminal) == ("tide\ncafé", {"exitCode": 3})
            (call,) = [one for one in client.updates if one["sessionUpdate"] == "tool_call_update"]
            assert call["content"] == [{"type": "terminal", "terminalId": terminal}]
            kinds = [one["sessionUpdate"] for one in client.updates]
            assert kinds[:2] == ["user_message", "state_update"] and kinds[-1] == "state_update"
            assert client.updates[-1]["stopReason"] == "end_turn"
            assert adapter.losses.counts.total() == 0
        setting.finish()
        assert setting.breaches == []

    run(work)


def test_what_lies_outside_the_roots_is_refused_also_after_they_have_changed_and_nothing_is_served_after_the_end(
    tmp_path: Path,
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "a").write_text(folder.name)
    found: list[Any] = []

    async def read(agent: Agent1, session: str) -> str:
        for path in (one / "a", two / "a", Path("/etc/hostname")):
            request = v1.ReadTextFileRequest(session_id=session, path=str(path))
            try:
                found.append((await agent.client.fs_read_text_file(request)).content)
            except PeerError as error:
                found.append(error.code)
        return "end_turn"

    async def work() -> None:
        agent, client, setting = Agent1(read), Client2(), Setting()
        agent.can["sessionCapabilities"]["additionalDirectories"] = {}
        async with client2_with_agent1(client, agent, setting, local=Local()) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(new(one, two))
            await calls.session_prompt(prompt())
            await client.idle.wait()
            client.idle.clear()
            await calls.session_resume(v2.ResumeSessionRequest(session_id="s", cwd=str(one)))
            client.idle.clear()
            await calls.session_prompt(prompt())
            await client.idle.wait()
            await calls.session_close(v2.CloseSessionRequest(session_id="s"))
            await read(agent, "s")
        assert found == ["one", "two", -32001, "one", -32001, -32001, -32602, -32602, -32602]

    run(work)


def test_directories_that_are_not_granted_are_refused_before_the_agent_hears_of_them(tmp_path: Path) -> None:
    def grant(path: str) -> str | None:
        return None if path.startswith(str(tmp_path)) else "it is not yours"

    async def work() -> None:
        agent, client, setting = Agent1(), Client2(), Setting()
        async with client2_with_agent1(client, agent, setting, local=Local(root_policy=grant)) as (calls, _):
            await calls.initialize(ME2)
            for folder, code in ((Path("/"), -32001), (tmp_path / "none", -32002)):
                with pytest.raises(PeerError) as failed:
                    await calls.session_new(new(folder))
                assert failed.value.code == code
            assert len(agent.heard) == 1
            await calls.session_new(new(tmp_path))

    run(work)


def test_the_end_of_a_turn_ends_its_commands_and_what_awaits_approval(tmp_path: Path) -> None:
    found: list[Any] = []
    asked: list[ApprovalRequest] = []

    async def approve(wish: ApprovalRequest) -> bool:
        asked.append(wish)
        if isinstance(wish, CommandApprovalRequest):
            return True
        await asyncio.sleep(60)
        return True

    async def work_of(agent: Agent1, session: str) -> str:
        made = await agent.client.terminal_create(shell("echo $$; sleep 60"))
        await until(lambda: screen(client.updates, made.terminal_id)[0].endswith("\n"))
        found.append(int(screen(client.updates, made.terminal_id)[0]))
        write = v1.WriteTextFileRequest(session_id=session, path=str(tmp_path / "a"), content="x")
        for request in (agent.client.fs_write_text_file(write), agent.client.terminal_create(shell("echo late"))):
            with pytest.raises(PeerError) as failed:
                await request
            found.append(failed.value.code)
        ended = await agent.client.terminal_wait_for_exit(v1.WaitForTerminalExitRequest(**of(made.terminal_id)))
        found.append(ended.signal)
        return "cancelled"

    client = Client2()

    async def work() -> None:
        agent, setting = Agent1(work_of), Setting()
        agent.is_patient = True
        async with client2_with_agent1(client, agent, setting, local=Local(approve=approve)) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(new(tmp_path))
            await calls.session_prompt(prompt())
            await until(lambda: len(asked) == 2)
            await calls.session_cancel(v2.CancelSessionNotification(session_id="s"))
            await client.idle.wait()
            assert client.updates[-1]["stopReason"] == "cancelled"
        pid, *rest = found
        assert rest == [-32001, -32001, "SIGTERM"]
        assert not is_alive(pid) and not (tmp_path / "a").exists()
        setting.finish()
        assert setting.breaches == []

    run(work)


def test_the_client_of_v2_stops_a_terminal_once(tmp_path: Path) -> None:
    async def work_of(agent: Agent1, session: str) -> str:
        made = await agent.client.terminal_create(shell("sleep 60"))
        await agent.say(session, sessionUpdate="agent_message_chunk", content=words(made.terminal_id))
        ended = await agent.client.terminal_wait_for_exit(v1.WaitForTerminalExitRequest(**of(made.terminal_id)))
        return "end_turn" if ended.signal == "SIGTERM" else "refusal"

    async def work() -> None:
        agent, client, setting = Agent1(work_of), Client2(), Setting()
        async with client2_with_agent1(client, agent, setting, local=Local()) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(new(tmp_path))
            await calls.session_prompt(prompt())
            await until(lambda: any(one["sessionUpdate"] == "agent_message_chunk" for one in client.updates))
            (terminal,) = {one["terminalId"] for one in client.updates if "terminalId" in one}
            request = v2.CancelTerminalRequest(session_id="s", terminal_id=terminal)
            await calls.terminal_cancel(request)
            await client.idle.wait()
            assert client.updates[-1]["stopReason"] == "end_turn"
            await until(lambda: screen(client.updates, terminal)[1] is not None)
            assert screen(client.updates, terminal)[1] == {"signal": "SIGTERM"}
            for again in (request, v2.CancelTerminalRequest(session_id="s", terminal_id="none")):
                with pytest.raises(PeerError) as failed:
                    await calls.terminal_cancel(again)
                assert failed.value.code == -32602
        setting.finish()
        (breach,) = setting.breaches  # the last of these requests is one
        assert "cancel-not-offered" in breach and "'none'" in breach

    run(work)


def test_output_that_comes_faster_than_the_client_reads_is_bounded_and_its_end_is_shown(tmp_path: Path) -> None:
    class Slow(Client2):
        async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
            await super().session_update(params)
            if isinstance(params.update, v2.TerminalOutputChunk):
                await reading.wait()

    much = 16 * 1024 * 1024
    reading = asyncio.Event()
    terminals: list[str] = []

    async def work_of(agent: Agent1, session: str) -> str:
        made = await agent.client.terminal_create(shell(f"head -c {much} /dev/zero | tr '\\0' x; echo END"))
        terminals.append(made.terminal_id)
        await agent.client.terminal_wait_for_exit(v1.WaitForTerminalExitRequest(**of(made.terminal_id)))
        reading.set()
        await agent.client.terminal_release(v1.ReleaseTerminalRequest(**of(made.terminal_id)))
        return "end_turn"

    async def work() -> None:
        agent, client, setting = Agent1(work_of), Slow(), Setting()
        async with client2_with_agent1(client, agent, setting, local=Local()) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(new(tmp_path))
            await calls.session_prompt(prompt())
            await client.idle.wait()
            output, end = screen(client.updates, terminals[0])
            assert output.endswith("xEND\n") and len(output) < much and end == {"exitCode": 0}

    run(work)


def test_only_what_is_configured_is_offered_and_the_rest_is_not_served(tmp_path: Path) -> None:
    async def work_of(agent: Agent1, session: str) -> str:
        write = v1.WriteTextFileRequest(session_id=session, path=str(tmp_path / "a"), content="x")
        for request in (agent.client.fs_write_text_file(write), agent.client.terminal_create(shell("true"))):
            with pytest.raises(Exception, match=r"did not advertise|not served"):
                await request
        return "end_turn"

    async def work() -> None:
        agent, client, setting = Agent1(work_of), Client2(), Setting()
        local = Local(files=FilePolicy(write=False), terminals=None)
        async with client2_with_agent1(client, agent, setting, local=local) as (calls, _):
            await calls.initialize(ME2)
            advertised = agent.heard[0].client_capabilities
            assert (advertised.fs.read_text_file, advertised.fs.write_text_file) == (True, False)
            assert not advertised.terminal
            await calls.session_new(new(tmp_path))
            await calls.session_prompt(prompt())
            await client.idle.wait()
            assert client.updates[-1]["stopReason"] == "end_turn"

    run(work)


def test_an_agent_that_speaks_v1_alone_serves_a_client_of_v2(tmp_path: Path) -> None:
    class Consenting(Client2):
        async def session_request_permission(
            self, params: v2.RequestPermissionRequest, /
        ) -> v2.RequestPermissionResponse:
            outcome = v2.SelectedPermissionOutcome(option_id=params.options[0].option_id)
            return v2.RequestPermissionResponse(outcome=outcome)

    async def work() -> None:
        client = Consenting()
        near, far = pair()
        serving = asyncio.ensure_future(serve_agent(Notes(), far, versions=(1,)))
        async with as_v2(near, local=Local()) as adapter, peers2.join(adapter, client) as (calls, _):
            await calls.initialize(ME2)
            session = await calls.session_new(new(tmp_path))
            request = v2.PromptRequest(session_id=session.session_id, prompt=[v2.TextContent(text="Go")])
            await calls.session_prompt(request)
            await client.idle.wait()
        await serving
        assert (tmp_path / "note.txt").read_text() == "tide\n"
        assert client.updates[-1]["stopReason"] == "end_turn"
        (terminal,) = {one["terminalId"] for one in client.updates if "terminalId" in one}
        assert screen(client.updates, terminal) == ("5 note.txt\n", {"exitCode": 0})

    run(work)


def test_a_client_of_v1_reads_the_output_of_an_agent_that_speaks_v2_alone(tmp_path: Path) -> None:
    class Counting(Agent):
        async def on_prompt(self, turn: Turn) -> None:
            await turn.run_command("echo", "tide")

    async def work() -> None:
        (near, far), (here, there) = pair(), pair()
        serving = asyncio.ensure_future(serve_agent(Counting(), far, versions=(2,)))
        client = Client(allowed_roots=[tmp_path])
        async with (
            as_v1(near) as adapter,
            peers1.connect_client(adapter, there),
            connect_agent(here, client, versions=(1,)) as agent,
        ):
            session = await agent.new_session(tmp_path)
            await session.prompt("Count")
            (call,) = session.transcript.tool_calls.values()
        await serving
        shown = v2.TextContent(text="```console\n$ echo tide\ntide\n[ended with 0]\n```")
        assert call.current.content == [v2.Content(content=shown)]

    run(work)


def test_of_released_terminals_the_latest_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_session.services.MAX_RELEASED", 3)

    async def work() -> None:
        async def send(session: str, update: Json) -> None:
            assert (session, update["sessionUpdate"]) == ("s", "terminal_update")

        workspace, ids = ClientWorkspace(), list[str]()
        services = LocalServices(Local(), send, workspace)
        workspace.establish("s", RootSet.bind(parse_scope(str(tmp_path))))
        for _ in range(6):
            made = await services.answer("terminal/create", shell("true"))
            ids.append(made.terminal_id)
            await services.answer("terminal/release", v1.ReleaseTerminalRequest(**of(ids[-1])))
        assert list(services.list_terminals("s") or ()) == ids[3:]
        await services.close()

    run(work)


def test_a_consent_that_comes_after_the_cancellation_is_none(tmp_path: Path) -> None:
    asked, late = asyncio.Event(), asyncio.Event()
    found: list[int] = []

    async def approve(_: ApprovalRequest) -> bool:
        asked.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await late.wait()
        return True

    async def write(agent: Agent1, session: str) -> str:
        request = v1.WriteTextFileRequest(session_id=session, path=str(tmp_path / "a"), content="tide")
        try:
            await agent.client.fs_write_text_file(request)
        except PeerError as error:
            found.append(error.code)
        return "cancelled"

    async def work() -> None:
        client, agent, setting = Client2(), Agent1(write), Setting()
        agent.is_patient = True
        async with client2_with_agent1(client, agent, setting, local=Local(approve=approve)) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(new(tmp_path))
            await calls.session_prompt(prompt())
            await asked.wait()
            await calls.session_cancel(v2.CancelSessionNotification(session_id="s"))
            await asyncio.wait_for(client.idle.wait(), 5)  # it does not wait for whoever is asked
            late.set()

    run(work)
    assert (found, (tmp_path / "a").exists()) == ([-32001], False)


def test_nobody_is_asked_about_a_write_once_the_turn_is_cancelled_and_again_in_the_next(tmp_path: Path) -> None:
    asked: list[str] = []
    codes: list[object] = []
    begun, going, turns = asyncio.Event(), asyncio.Event(), [True, False]

    async def approve(request: ApprovalRequest) -> bool:
        asked.append(request.session_id)
        return True

    async def stubborn(agent: Agent1, session: str) -> str:
        if turns.pop(0):
            await agent.say(session, sessionUpdate="agent_message_chunk", content=words("..."))
            begun.set()
            await going.wait()
        request = v1.WriteTextFileRequest(session_id=session, path=str(tmp_path / "late"), content="x")
        try:
            await agent.client.fs_write_text_file(request)
            codes.append(None)
        except PeerError as error:
            codes.append(error.code)
        return "end_turn"

    async def work() -> None:
        agent, client, setting = Agent1(stubborn), Client2(), Setting()
        agent.is_patient = True
        async with client2_with_agent1(client, agent, setting, local=Local(approve=approve)) as (calls, _):
            await calls.initialize(ME2)
            await calls.session_new(new(tmp_path))
            await calls.session_prompt(prompt())
            await begun.wait()
            await calls.session_cancel(v2.CancelSessionNotification(session_id="s"))
            await asyncio.sleep(0.05)
            going.set()
            await client.idle.wait()
            assert (asked, codes, (tmp_path / "late").exists()) == ([], [-32001], False)
            client.idle.clear()
            await calls.session_prompt(prompt())
            await client.idle.wait()
            assert (asked, codes, (tmp_path / "late").read_text()) == (["s"], [-32001, None], "x")

    run(work)
