"""Files, commands and consent: what a client does for an agent of v1, and what its author overrides."""

# ruff: noqa: ARG002 - overrides

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import NotAdvertised, v1, v2

from acp_session import Client, ClientSession, PeerError, PermissionRequest, PromptResult
from acp_workspace.containment import guarantees
from acp_workspace.filesystem import ServiceEvent
from acp_workspace.terminals import TerminalPolicy
from session.raw_agents import NO, YES, Script, connected

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    for name in ("app", "lib"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text(name)
    return str(tmp_path / "app"), str(tmp_path / "lib")


def play(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


async def code(work: Awaitable[Any]) -> Any:
    """The result, or the code of the error."""
    try:
        return await work
    except PeerError as error:
        return error.code
    except NotAdvertised:
        return "not advertised"


async def read(agent: Any, session: str, path: str) -> Any:
    found = await code(agent.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=session, path=path)))
    return found.content if isinstance(found, v1.ReadTextFileResponse) else found


async def write(agent: Any, session: str, path: str, content: str = "new") -> Any:
    request = v1.WriteTextFileRequest(session_id=session, path=path, content=content)
    found = await code(agent.client.fs_write_text_file(request))
    return "written" if isinstance(found, v1.WriteTextFileResponse) else found


async def run(agent: Any, session: str, *command: str, **more: Any) -> Any:
    name, *args = command
    request = v1.CreateTerminalRequest(session_id=session, command=name, args=args, **more)
    made = await code(agent.client.terminal_create(request))
    if not isinstance(made, v1.CreateTerminalResponse):
        return made
    at: dict[str, Any] = {"session_id": session, "terminal_id": made.terminal_id}
    await agent.client.terminal_wait_for_exit(v1.WaitForTerminalExitRequest(**at))
    output = (await agent.client.terminal_output(v1.TerminalOutputRequest(**at))).output
    shown = {"type": "terminal", "terminalId": made.terminal_id}
    await agent.call(session, "run", title="Run", status="completed", content=[shown])
    await agent.client.terminal_release(v1.ReleaseTerminalRequest(**at))
    return output


def test_files_and_commands_stay_inside_the_roots_of_their_session(folders: tuple[str, str]) -> None:
    app, lib = folders

    async def work() -> None:
        async with connected(1, Script(), Client(allowed_roots=folders)) as (agent, raw):
            session = await agent.new_session(app, additional_directories=[lib])
            assert [await read(raw, session.id, f"{root}/a") for root in folders] == ["app", "lib"]
            assert await read(raw, session.id, "/etc/passwd") == -32001
            assert await run(raw, session.id, "cat", "a", cwd=lib) == "lib"
            assert await run(raw, session.id, "true", cwd="/") == -32001
            await agent.load_session(session.id, app)
            assert [await read(raw, session.id, f"{root}/a") for root in folders] == ["app", -32001]
            assert await write(raw, session.id, f"{lib}/b") == -32001
            assert await run(raw, session.id, "true", cwd=lib) == -32001
            assert [await write(raw, session.id, f"{app}/b"), await read(raw, "none", f"{app}/a")] == [
                "written",
                -32602,
            ]
            await session.close()
            assert [await read(raw, session.id, f"{app}/a"), await run(raw, session.id, "true")] == [-32602, -32602]

    play(work)


def test_while_a_load_is_under_way_its_roots_are_in_force(folders: tuple[str, str]) -> None:
    app, lib = folders
    script, found = Script(), list[Any]()

    async def work() -> None:
        async with connected(1, script, Client(allowed_roots=folders)) as (agent, _):
            session = await agent.new_session(app)

            async def look(raw: Any, name: str) -> None:
                found.extend([await read(raw, name, f"{root}/a") for root in folders])

            script.before_answer = look
            await agent.load_session(session.id, lib)

    play(work)
    assert found == [-32001, "lib"]


def test_a_request_before_the_answer_to_session_new_is_served(folders: tuple[str, str]) -> None:
    script, found = Script(), list[Any]()
    asking: list[asyncio.Task[None]] = []

    async def early(raw: Any, session: str) -> None:
        async def look() -> None:
            found.append(await read(raw, session, f"{folders[0]}/a"))

        asking.append(asyncio.ensure_future(look()))
        await asyncio.sleep(0.01)

    script.before_answer = early

    async def work() -> None:
        async with connected(1, script, Client(allowed_roots=folders)) as (agent, _):
            await agent.new_session(folders[0])
            await asyncio.wait(asking)

    play(work)
    assert found == ["app"]


def test_commands_are_shown_as_terminals_and_the_user_can_stop_one(folders: tuple[str, str]) -> None:
    app, _ = folders
    client = Client(allowed_roots=folders, terminals=TerminalPolicy(grace=0.1))

    async def work() -> None:
        async with connected(1, Script(), client) as (agent, raw):
            session = await agent.new_session(app)
            assert await run(raw, session.id, "echo", "high tide") == "high tide\n"
            (shown,) = session.transcript.terminals.values()
            assert (shown.command, shown.cwd, shown.text) == ("echo 'high tide'", app, "high tide\n")
            assert shown.exit_status is not None and shown.exit_status.exit_code == 0
            (item,) = session.transcript.tool_calls["run"].current.content or ()  # type: ignore[misc]
            assert isinstance(item, v2.Terminal) and item.terminal_id == shown.terminal_id
            running = asyncio.ensure_future(run(raw, session.id, "sleep", "60"))
            while len(session.transcript.terminals) < 2:
                await asyncio.sleep(0.01)
            (name,) = set(session.transcript.terminals) - {shown.terminal_id}
            while not session.transcript.terminals[name].can_cancel:
                await asyncio.sleep(0.01)
            await session.cancel_terminal(name)
            assert await running == ""
            with pytest.raises(ValueError, match="cannot be stopped"):
                await session.cancel_terminal("none")

    play(work)


class Deciding(Client):
    """Somebody decides, or nobody."""

    def __init__(self, answer: Any, **options: Any) -> None:
        super().__init__(**options)
        self.answer = answer
        self.requests: list[Any] = []
        self.waiting = asyncio.Event()
        self.events: list[tuple[str, str, str]] = []

    async def approve(self, request: Any) -> bool:
        self.requests.append(request)
        self.waiting.set()
        if self.answer is None:
            await asyncio.sleep(60)
        return self.answer  # type: ignore[no-any-return]

    async def on_service_event(self, event: ServiceEvent) -> None:
        self.events.append(("file" if event.action in ("read", "write") else "terminal", event.action, event.phase))


@pytest.mark.parametrize(
    ("answer", "expected"), [(True, ["written", ""]), (False, [-32001] * 2), ("yes", [-32001] * 2)]
)
def test_only_true_lets_a_write_and_a_command_pass(folders: tuple[str, str], answer: Any, expected: list[Any]) -> None:
    app, _ = folders

    async def work() -> None:
        client = Deciding(answer, allowed_roots=folders)
        async with connected(1, Script(), client) as (agent, raw):
            session = await agent.new_session(app)
            found = [await write(raw, session.id, f"{app}/a"), await run(raw, session.id, "true")]
            assert found == expected
            assert [await read(raw, session.id, f"{app}/a")] == ["new" if answer is True else "app"]
            wanted, command = client.requests
            assert (wanted.path, wanted.content, command.command) == (f"{app}/a", "new", "true")
            last = "done" if answer is True else "failed"
            assert client.events[:2] == [("file", "write", "started"), ("file", "write", last)]

    play(work)


@pytest.mark.parametrize("wanted", ["write", "run"])
def test_cancelling_refuses_what_awaits_approval_and_ends_commands(folders: tuple[str, str], wanted: str) -> None:
    app, _ = folders
    found: list[Any] = []

    async def turn(raw: Any, session: str) -> str:
        work = write(raw, session, f"{app}/a") if wanted == "write" else run(raw, session, "true")
        try:
            found.append(await asyncio.shield(asyncio.ensure_future(work)))
        except asyncio.CancelledError:
            found.append(await run(raw, session, "true"))  # no command starts before the cancelled turn has ended
            raise
        return "end_turn"

    async def work() -> None:
        client = Deciding(None, allowed_roots=folders)
        async with connected(1, Script(turn), client) as (agent, _):
            session = await agent.new_session(app)
            prompt = asyncio.ensure_future(session.prompt("Hello"))
            await client.waiting.wait()
            await session.cancel()
            assert await prompt == PromptResult("cancelled")

    play(work)
    assert found == [-32001]
    assert Path(app, "a").read_text() == "app"


def test_cancelling_ends_the_commands_that_run(folders: tuple[str, str]) -> None:
    found: list[Any] = []

    async def turn(raw: Any, session: str) -> str:
        running = asyncio.ensure_future(run(raw, session, "sleep", "60"))
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            found.append(await running)
            raise
        return "end_turn"

    async def work() -> None:
        client = Client(allowed_roots=folders, terminals=TerminalPolicy(grace=0.1))
        async with connected(1, Script(turn), client) as (agent, _):
            session = await agent.new_session(folders[0])
            prompt = asyncio.ensure_future(session.prompt("Hello"))
            while not session.transcript.terminals:
                await asyncio.sleep(0.01)
            await session.cancel()
            assert await prompt == PromptResult("cancelled")

    play(work)
    assert found == [""]


# --- what an author overrides ----------------------------------------------------------------------------------------


class Virtual(Client):
    """Files that are nowhere, and one command."""

    async def read_text_file(self, session: ClientSession, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        if not request.path.endswith("/virtual"):
            return await super().read_text_file(session, request)
        return v1.ReadTextFileResponse(content=f"{session.id}: {request.path}")

    async def create_terminal(
        self, session: ClientSession, request: v1.CreateTerminalRequest
    ) -> v1.CreateTerminalResponse:
        return v1.CreateTerminalResponse(terminal_id="own")

    async def terminal_output(
        self, session: ClientSession, request: v1.TerminalOutputRequest
    ) -> v1.TerminalOutputResponse:
        return v1.TerminalOutputResponse(output=request.terminal_id, truncated=False)

    async def wait_for_terminal_exit(
        self, session: ClientSession, request: v1.WaitForTerminalExitRequest
    ) -> v1.WaitForTerminalExitResponse:
        return v1.WaitForTerminalExitResponse(exit_code=0)

    async def kill_terminal(self, session: ClientSession, request: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        return v1.KillTerminalResponse()

    async def release_terminal(
        self, session: ClientSession, request: v1.ReleaseTerminalRequest
    ) -> v1.ReleaseTerminalResponse:
        return v1.ReleaseTerminalResponse()


def test_an_override_wins_and_super_does_the_work(folders: tuple[str, str]) -> None:
    app, _ = folders

    async def work() -> None:
        async with connected(1, Script(), Virtual(allowed_roots=folders)) as (agent, raw):
            session = await agent.new_session(app)
            assert await read(raw, session.id, "/virtual") == "s1: /virtual"
            assert await read(raw, session.id, f"{app}/a") == "app"
            assert await run(raw, session.id, "true") == "own"

    play(work)


class Reads(Client):
    read_text_file = Virtual.read_text_file


class Half(Client):
    """All but `create_terminal`."""

    terminal_output = Virtual.terminal_output
    wait_for_terminal_exit = Virtual.wait_for_terminal_exit
    kill_terminal = Virtual.kill_terminal
    release_terminal = Virtual.release_terminal


class Asks(Client):
    async def on_elicitation(
        self, session: ClientSession | None, request: v2.CreateElicitationRequest
    ) -> v2.CreateElicitationResponse:
        return v2.ElicitationDeclineAction()


NOTHING: dict[str, Any] = {"files": None, "terminals": None}
URL: dict[str, Any] = {"elicitation": ("url",)}


@pytest.mark.parametrize(
    ("client", "offers"),
    [
        (Client(), ["read", "write", "terminal"]),
        (Client(**NOTHING), []),
        (Reads(**NOTHING), ["read"]),
        (Virtual(**NOTHING), ["read", "terminal"]),
        (Half(**NOTHING), []),
        (Asks(**NOTHING), ["form"]),
        (Asks(**NOTHING, **URL), ["url"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Client) else "-".join(value),
)
def test_what_is_configured_or_overridden_is_advertised_and_no_more(client: Client, offers: list[str]) -> None:
    script = Script()

    async def work() -> None:
        async with connected(1, script, client):
            pass

    play(work)
    (request,) = script.asked("initialize")
    told: v1.ClientCapabilities = request.client_capabilities
    found = {
        "read": told.fs.read_text_file,
        "write": told.fs.write_text_file,
        "terminal": told.terminal,
        "form": told.elicitation is not None and told.elicitation.form is not None,
        "url": told.elicitation is not None and told.elicitation.url is not None,
    }
    assert [name for name, value in found.items() if value] == offers


# --- permission ------------------------------------------------------------------------------------------------------


class Choosing(Client):
    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
        return "yes"


@pytest.mark.parametrize(
    ("client", "subject", "outcome"),
    [
        (Choosing(), {"type": "_lock", "number": 3}, "cancelled"),
        (Choosing(unknown_subjects="ask"), {"type": "_lock", "number": 3}, "selected"),
        (Choosing(), {"type": "command", "command": "ls", "cwd": "/"}, "selected"),
        (Choosing(), None, "selected"),
        (Client(), None, "cancelled"),
    ],
)
def test_prompts_about_unknown_subjects_are_declined_unless_the_author_handles_them(
    folders: tuple[str, str], client: Client, subject: Any, outcome: str
) -> None:
    client.allowed_roots = folders

    async def work() -> None:
        async with connected(2, Script(), client) as (agent, raw):
            session = await agent.new_session(folders[0])
            body = {"sessionId": session.id, "title": "Open?", "options": [YES, NO], "subject": subject}
            request = v2.decode_as(v2.RequestPermissionRequest, body)
            answer = await raw.client.session_request_permission(request)
            assert answer.outcome.outcome == outcome

    play(work)


def test_an_option_that_was_not_offered_is_no_consent(folders: tuple[str, str]) -> None:
    class Wrong(Client):
        async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
            return "always"

    async def work() -> None:
        async with connected(2, Script(), Wrong(allowed_roots=folders)) as (agent, raw):
            session = await agent.new_session(folders[0])
            assert await raw.ask(session.id, "May I?") == "cancelled"

    play(work)
