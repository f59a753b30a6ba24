"""Terminals: output and its limit, ends of all kinds, the working directory, approval, bounds, and that nothing outlives its host."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v1
from hypothesis import given
from hypothesis import strategies as st

from acp_workspace import terminals
from acp_workspace.approval import CommandApprovalRequest
from acp_workspace.containment import Place, Root, guarantees, reach
from acp_workspace.errors import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, REFUSED, RequestError
from acp_workspace.scope import Scope
from acp_workspace.terminals import ServiceEvent, TerminalPolicy, Terminals, start
from acp_workspace.workspace import ClientWorkspace
from jsonrpc_bindings.supervisor import Program
from jsonrpc_bindings.tail import Tail
from workspace.conftest import PATHS, children, descriptors

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep a command in a root")

PROGRAMS = Path(__file__).with_name("programs")


class Client:
    """Terminals for the session `s`, whose roots are `app` and `lib` below a folder."""

    def __init__(self, base: Path, policy: TerminalPolicy | None = None, **named: Any) -> None:
        for name in ("app", "lib", "outside"):
            (base / name).mkdir(exist_ok=True)
        self.base = base
        self.workspace = ClientWorkspace([str(base / "app"), str(base / "lib")])
        self.workspace.establish("s", self.workspace.prepare(f"{base}/app", [f"{base}/lib"], advertised=True))
        self.events: list[ServiceEvent] = []
        named = {"on_event": self.events.append, **named}
        self.terminals = Terminals(self.workspace, policy or TerminalPolicy(grace=0.2), **named)

    async def create(self, command: str, *args: str, session: str = "s", **named: Any) -> str:
        request = v1.CreateTerminalRequest(session_id=session, command=command, args=list(args), **named)
        return (await self.terminals.create(request)).terminal_id

    async def shell(self, script: str, **named: Any) -> str:
        return await self.create("sh", "-c", script, **named)

    async def output(self, terminal: str) -> v1.TerminalOutputResponse:
        return await self.terminals.output(v1.TerminalOutputRequest(session_id="s", terminal_id=terminal))

    def printed(self, terminal: str) -> str:
        found = self.terminals.find("s", terminal)
        return "" if found is None else found.state.output

    async def wait(self, terminal: str, session: str = "s") -> tuple[int | None, str | None]:
        found = await self.terminals.wait_for_exit(
            v1.WaitForTerminalExitRequest(session_id=session, terminal_id=terminal)
        )
        return found.exit_code, found.signal

    async def kill(self, terminal: str) -> None:
        await self.terminals.kill(v1.KillTerminalRequest(session_id="s", terminal_id=terminal))

    async def release(self, terminal: str) -> None:
        await self.terminals.release(v1.ReleaseTerminalRequest(session_id="s", terminal_id=terminal))


def run(
    base: Path, work: Callable[[Client], Awaitable[Any]], policy: TerminalPolicy | None = None, **named: Any
) -> Any:
    """Do something with a client, and close it whatever happens."""

    async def main() -> Any:
        client = Client(base, policy, **named)
        try:
            return await asyncio.wait_for(work(client), 60)
        finally:
            await client.terminals.aclose()

    return asyncio.run(main())


def refusal(base: Path, work: Callable[[Client], Awaitable[Any]], **named: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        run(base, work, **named)
    return caught.value


async def until(met: Callable[[], Any]) -> None:
    """Wait for something that other processes do; half a minute at most."""
    for _ in range(3000):
        if met():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not happen")


def lives(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


# --- output ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(0, 40))
def test_a_tail_is_the_end_of_the_text_cut_between_characters(chunks: list[bytes], limit: int) -> None:
    tail = Tail(limit)
    shown = "".join(tail.add(chunk) for chunk in chunks) + tail.add(b"", is_last=True)
    whole = b"".join(chunks).decode("utf-8", "replace")
    assert shown == whole
    assert whole.endswith(tail.text)
    assert len(tail.text.encode()) <= limit
    assert tail.is_cut == (len(tail.text) < len(whole))
    if tail.is_cut:  # no further character would have fitted
        assert len(whole[-len(tail.text) - 1 :].encode()) > limit


def test_output_and_errors_come_as_one_text_with_the_exit_status(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        terminal = await client.shell("echo out; echo err >&2; exit 3")
        assert await client.wait(terminal) == (3, None)
        found = await client.output(terminal)
        assert (found.output, found.truncated) == ("out\nerr\n", False)
        assert found.exit_status is not None
        assert (found.exit_status.exit_code, found.exit_status.signal) == (3, None)

    run(tmp_path, work)


def test_output_is_there_while_the_command_runs(tmp_path: Path) -> None:
    pieces: list[tuple[str, str]] = []

    async def work(client: Client) -> None:
        terminal = await client.shell("echo begun; read x < ../app/go; echo ended")
        await until(lambda: pieces)
        found = await client.output(terminal)
        assert (found.output, found.exit_status) == ("begun\n", None)
        (tmp_path / "app" / "go").write_text("")
        assert await client.wait(terminal) == (0, None)
        assert "".join(text for _, text in pieces) == (await client.output(terminal)).output == "begun\nended\n"

    def show(session: str, terminal: str, text: str) -> None:
        pieces.append((session, text))

    (tmp_path / "app").mkdir()
    os.mkfifo(tmp_path / "app" / "go")
    run(tmp_path, work, on_output=show)


@pytest.mark.parametrize(("limit", "kept"), [(7, "€€"), (6, "€€"), (5, "€"), (2, ""), (0, ""), (300, "€" * 100)])
def test_the_output_limit_cuts_from_the_beginning_between_characters(tmp_path: Path, limit: int, kept: str) -> None:
    async def work(client: Client) -> None:
        terminal = await client.create("printf", "€" * 100, output_byte_limit=limit)
        assert await client.wait(terminal) == (0, None)
        await until(lambda: client.printed(terminal) == kept)
        found = await client.output(terminal)
        assert (found.output, found.truncated) == (kept, len(kept) < 100)

    run(tmp_path, work)


def test_no_request_keeps_more_output_than_the_policy_admits(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        for limit, most in ((None, 10), (1 << 40, 20)):
            terminal = await client.shell(
                "i=0; while [ $i -lt 400 ]; do echo 0123456789; i=$((i+1)); done", output_byte_limit=limit
            )
            await client.wait(terminal)
            assert len((await client.output(terminal)).output) == most

    run(tmp_path, work, policy=TerminalPolicy(output=10, most_output=20))


def test_what_is_no_text_is_shown_as_such(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        terminal = await client.shell(r"printf 'a\377b\342\202'")
        await client.wait(terminal)
        assert (await client.output(terminal)).output == "a\ufffdb\ufffd"

    run(tmp_path, work)


def test_a_flood_neither_stops_the_command_nor_the_loop(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        terminal = await client.shell("head -c 20000000 /dev/zero | tr '\\0' x; echo end", output_byte_limit=100)
        assert await client.wait(terminal) == (0, None)
        found = await client.output(terminal)
        assert (found.output, found.truncated) == ("x" * 96 + "end\n", True)

    run(tmp_path, work)


# --- ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGRTMIN+3"])
def test_a_signal_is_named(tmp_path: Path, name: str) -> None:
    base, _, more = name.partition("+")
    number = int(getattr(signal, base)) + int(more or 0)

    async def work(client: Client) -> tuple[int | None, str | None]:
        return await client.wait(await client.shell(f"ulimit -c 0; kill -{number} $$; sleep 60"))

    assert run(tmp_path, work) == (None, name)


def test_kill_keeps_the_terminal_and_its_output(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        terminal = await client.shell("echo begun; exec sleep 60")
        await until(lambda: client.printed(terminal))
        waiting = [asyncio.create_task(client.wait(terminal)) for _ in range(3)]
        await client.kill(terminal)
        assert [await one for one in waiting] == [(None, "SIGTERM")] * 3
        found = await client.output(terminal)
        assert found.output == "begun\n"
        assert found.exit_status is not None
        await client.kill(terminal)  # a second time changes nothing
        assert await client.wait(terminal) == (None, "SIGTERM")
        await client.release(terminal)

    run(tmp_path, work)


def test_a_command_that_ignores_being_asked_is_made_to_end(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        terminal = await client.shell("trap '' TERM; echo begun; while :; do sleep 0.1; done")
        await until(lambda: client.printed(terminal))
        await client.kill(terminal)
        assert await client.wait(terminal) == (None, "SIGKILL")

    run(tmp_path, work)


@pytest.mark.parametrize("end", ["kill", "release", "end", "aclose"])
@pytest.mark.parametrize(
    "script",
    [
        "sleep 300 & echo $!; wait",
        "sleep 300 & echo $!",
        "exec bash -mc 'sleep 300 & echo $!; wait' 2>/dev/null",
        "setsid sh -c 'echo $$; exec sleep 300' &",
        "(trap '' TERM HUP; echo $(exec sh -c 'echo $PPID'); while :; do sleep 1; done)",
    ],
)
def test_all_that_a_command_started_ends_with_it(tmp_path: Path, script: str, end: str) -> None:
    async def work(client: Client) -> None:
        terminal = await client.shell(script)
        await until(lambda: client.printed(terminal).endswith("\n"))
        pid = int((await client.output(terminal)).output)
        assert lives(pid)
        if end == "kill":
            await client.kill(terminal)
        elif end == "release":
            await client.release(terminal)
        elif end == "end":
            await client.terminals.end("s")
        else:
            await client.terminals.aclose()
        await until(lambda: not lives(pid))

    run(tmp_path, work)


def test_release_wakes_who_waits_and_voids_the_id(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        terminal = await client.create("sleep", "60")
        waiting = asyncio.create_task(client.wait(terminal))
        await asyncio.sleep(0)
        await client.release(terminal)
        assert await waiting == (None, "SIGTERM")
        for use in (client.output, client.wait, client.kill, client.release):
            with pytest.raises(RequestError) as caught:
                await use(terminal)
            assert (caught.value.code, caught.value.data) == (NOT_FOUND, {"terminalId": terminal})
        assert client.terminals.find("s", terminal) is None

    run(tmp_path, work)


def test_a_cancelled_wait_leaves_the_command_alone(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        terminal = await client.shell("read x < go; exit 0")
        waiting = asyncio.create_task(client.wait(terminal))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await client.output(terminal)).exit_status is None
        assert any(one.reason == "the request was cancelled" for one in client.events)
        (tmp_path / "app" / "go").write_text("")
        assert await client.wait(terminal) == (0, None)

    (tmp_path / "app").mkdir()
    os.mkfifo(tmp_path / "app" / "go")
    run(tmp_path, work)


def test_nothing_is_left_of_a_hundred_terminals(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        first = await client.create("true")  # starts the guard and the threads
        await client.release(first)
        before = descriptors()
        for _ in range(10):
            terminals = await asyncio.gather(*(client.create("echo", "x") for _ in range(10)))
            await asyncio.gather(*(client.wait(one) for one in terminals))
            await asyncio.gather(*(client.release(one) for one in terminals))
        assert descriptors() == before

    others = children()  # of earlier tests in this process
    run(tmp_path, work)
    assert children() <= others


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nothing_outlives_a_host_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    program = str(PROGRAMS / "terminal_host.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)}
    host = subprocess.Popen([sys.executable, program, str(tmp_path / "app")], stdout=subprocess.PIPE, env=environment)
    assert host.stdout is not None
    with host:
        try:
            pids = [int(host.stdout.readline()) for _ in range(4)]
            assert all(lives(pid) for pid in pids)
        finally:
            host.kill()
    asyncio.run(until(lambda: not any(lives(pid) for pid in pids)))


# --- where a command runs, and with what -----------------------------------------------------------------------------


def test_a_command_runs_in_the_first_root_or_where_it_is_told(tmp_path: Path, mechanism: str) -> None:
    async def work(client: Client) -> list[str]:
        (tmp_path / "lib" / "deep").mkdir()
        (tmp_path / "app" / "link").symlink_to("../lib/deep")
        found: list[str] = []
        for cwd in (None, f"{tmp_path}/lib/deep", f"{tmp_path}/app/link"):
            terminal = await client.create("pwd", "-P", cwd=cwd)
            await client.wait(terminal)
            found.append((await client.output(terminal)).output)
        return found

    assert run(tmp_path, work) == [f"{tmp_path}/{name}\n" for name in ("app", "lib/deep", "lib/deep")]


@pytest.mark.parametrize(
    ("cwd", "code"),
    [
        ("outside", REFUSED),
        ("app/out", REFUSED),
        ("app/../outside", REFUSED),
        ("app/none", NOT_FOUND),
        ("app/file", INTERNAL_ERROR),
    ],
)
def test_a_command_runs_nowhere_else(tmp_path: Path, mechanism: str, cwd: str, code: int) -> None:
    async def work(client: Client) -> None:
        (tmp_path / "app" / "out").symlink_to("../outside")
        (tmp_path / "app" / "file").write_text("")
        await client.shell("touch ran", cwd=f"{tmp_path}/{cwd}")

    error = refusal(tmp_path, work)
    assert (error.code, error.data["path"]) == (code, f"{tmp_path}/{cwd}")
    assert not list(tmp_path.glob("**/ran"))


def test_a_folder_that_becomes_a_link_while_the_user_decides_is_not_entered(tmp_path: Path, mechanism: str) -> None:
    def approve(request: object) -> bool:
        (tmp_path / "app" / "sub").rmdir()
        (tmp_path / "app" / "sub").symlink_to("../outside")
        return True

    async def work(client: Client) -> None:
        (tmp_path / "app" / "sub").mkdir()
        await client.shell("touch ran", cwd=f"{tmp_path}/app/sub")

    assert refusal(tmp_path, work, approve=approve).code == REFUSED
    assert not list(tmp_path.glob("**/ran"))


def test_a_folder_that_becomes_a_link_after_it_was_looked_up_is_not_entered(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swapped(roots: Sequence[Root], path: str, use: Callable[[Place], int]) -> int:
        def late(place: Place) -> int:
            folder = tmp_path / "app" / "sub"
            if not folder.is_symlink():
                folder.rmdir()
                folder.symlink_to("../outside")
            return use(place)

        return reach(roots, path, late)

    async def work(client: Client) -> None:
        (tmp_path / "app" / "sub").mkdir()
        await client.shell("touch ran", cwd=f"{tmp_path}/app/sub")

    monkeypatch.setattr(terminals, "reach", swapped)
    assert refusal(tmp_path, work).code == REFUSED
    assert not list(tmp_path.glob("**/ran"))


def test_the_environment_is_the_hosts_or_the_policys_and_the_agents_on_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEPT", "host")
    variables = [v1.EnvVariable(name="A", value="first"), v1.EnvVariable(name="A", value="last")]

    async def work(client: Client) -> str:
        terminal = await client.shell('echo "$A,$KEPT"', env=variables)
        await client.wait(terminal)
        return (await client.output(terminal)).output

    assert run(tmp_path, work) == "last,host\n"
    assert run(tmp_path, work, policy=TerminalPolicy(environment={"PATH": os.defpath})) == "last,\n"


@pytest.mark.parametrize(
    ("named", "pointer"),
    [
        ({"command": "a\0b"}, "/command"),
        ({"command": ""}, "/command"),
        ({"command": "a", "args": ["x", "\0"]}, "/args/1"),
        ({"command": "a", "env": [v1.EnvVariable(name="A=B", value="")]}, "/env/0/name"),
        ({"command": "a", "env": [v1.EnvVariable(name="", value="")]}, "/env/0/name"),
        ({"command": "a", "env": [v1.EnvVariable(name="A", value="\0")]}, "/env/0/value"),
        ({"command": "a", "cwd": "C:\\app"}, "/cwd"),
        ({"command": "a", "cwd": "/a\0"}, "/cwd"),
        ({"command": "a", "session_id": "other"}, "/sessionId"),
    ],
)
def test_malformed_params_are_named(tmp_path: Path, named: dict[str, Any], pointer: str) -> None:
    async def work(client: Client) -> None:
        fields: dict[str, Any] = {"session_id": "s", **named}
        await client.terminals.create(v1.CreateTerminalRequest(**fields))

    error = refusal(tmp_path, work)
    assert (error.code, error.data["problems"][0]["pointer"]) == (INVALID_PARAMS, f"/params{pointer}")


@pytest.mark.parametrize(
    ("command", "code"), [("no-such-program", NOT_FOUND), ("./none", NOT_FOUND), ("./plain", REFUSED)]
)
def test_a_program_that_cannot_run_is_said(tmp_path: Path, command: str, code: int) -> None:
    async def work(client: Client) -> None:
        (tmp_path / "app" / "plain").write_text("")
        await client.create(command)

    error = refusal(tmp_path, work)
    assert (error.code, error.data) == (code, {"command": command} if code == NOT_FOUND else {"path": command})


def test_too_many_arguments_are_an_error_and_no_traceback(tmp_path: Path) -> None:
    error = refusal(tmp_path, lambda client: client.create("echo", *(["x" * 100_000] * 100)))
    assert error.code == INTERNAL_ERROR


# --- who decides -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [False, None, "no", 1])
def test_nothing_but_true_is_consent(tmp_path: Path, answer: Any) -> None:
    asked: list[CommandApprovalRequest] = []

    async def approve(request: CommandApprovalRequest) -> Any:
        asked.append(request)
        return answer

    error = refusal(tmp_path, lambda client: client.create("touch", "ran"), approve=approve)
    assert error.code == REFUSED
    assert [(one.command_line, one.cwd) for one in asked] == [("touch ran", f"{tmp_path}/app")]
    assert not (tmp_path / "app" / "ran").exists()


def test_a_policy_may_say_why(tmp_path: Path) -> None:
    def approve(request: object) -> bool:
        raise RequestError(REFUSED, "nothing is run on Sundays")

    assert (
        refusal(tmp_path, lambda client: client.create("true"), approve=approve).message == "nothing is run on Sundays"
    )


def test_the_audit_hears_the_end_of_a_request_whose_approval_fails(tmp_path: Path) -> None:
    def approve(request: object) -> bool:
        raise ZeroDivisionError

    events: list[ServiceEvent] = []

    async def work(client: Client) -> None:
        with pytest.raises(ZeroDivisionError):
            await client.create("true")

    run(tmp_path, work, approve=approve, on_event=events.append)
    assert [(one.phase, one.reason) for one in events] == [("started", ""), ("failed", "an unexpected error")]


@pytest.mark.parametrize("change", ["roots", "forget", "end", "stop", "aclose"])
def test_a_command_is_not_started_in_what_has_ended_while_the_user_decided(tmp_path: Path, change: str) -> None:
    async def work(client: Client) -> None:
        async def approve(request: object) -> bool:
            if change == "roots":
                client.workspace.establish("s", client.workspace.prepare(f"{tmp_path}/app", advertised=True))
            elif change == "forget":
                client.workspace.forget("s")
            elif change == "end":
                await client.terminals.end("s")
            elif change == "stop":
                await client.terminals.stop("s")
            else:
                await client.terminals.aclose()
            return True

        client.terminals._approve = approve
        await client.create("touch", "ran")

    assert refusal(tmp_path, work).code in (REFUSED, INVALID_PARAMS)
    assert not (tmp_path / "app" / "ran").exists()


def test_stopping_a_session_ends_its_commands_and_keeps_its_terminals(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        client.workspace.establish("t", client.workspace.prepare(f"{tmp_path}/lib", advertised=True))
        mine, other = await client.create("sleep", "60"), await client.create("sleep", "60", session="t")
        await client.terminals.stop("s")
        assert await client.wait(mine) == (None, "SIGTERM")
        shown = client.terminals.find("t", other)
        assert shown is not None
        assert shown.exit is None
        with pytest.raises(RequestError):
            await client.wait(other)  # it belongs to another session

    run(tmp_path, work)


def test_a_session_has_a_bounded_number_of_terminals(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        found = await asyncio.gather(*(client.create("sleep", "60") for _ in range(5)), return_exceptions=True)
        assert sorted(type(one).__name__ for one in found) == ["RequestError"] * 2 + ["str"] * 3
        await client.release(next(one for one in found if isinstance(one, str)))
        await client.create("true")

    run(tmp_path, work, policy=TerminalPolicy(most_running=3, grace=0.2))


def test_every_request_is_told_refusals_included(tmp_path: Path) -> None:
    async def work(client: Client) -> list[ServiceEvent]:
        terminal = await client.create("true")
        await client.wait(terminal)
        await client.release(terminal)
        with pytest.raises(RequestError):
            await client.create("ls", cwd="/")
        return client.events

    events: list[ServiceEvent] = run(tmp_path, work)
    assert [(one.action, one.phase) for one in events] == [
        *(("create", "started"), ("create", "done"), ("wait", "started"), ("wait", "done")),
        *(("release", "started"), ("release", "done"), ("create", "started"), ("create", "failed")),
    ]
    assert events[-1].reason == "access is refused: it is outside the workspace roots"


def test_where_roots_cannot_be_enforced_no_terminal_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(client: Client) -> None:
        monkeypatch.setattr("acp_workspace.mechanism._has_openat2", lambda: False)
        monkeypatch.setattr("acp_workspace.mechanism._has_walk", lambda: False)
        assert not client.terminals.is_offered
        await client.create("true")

    assert refusal(tmp_path, work).code == METHOD_NOT_FOUND


@pytest.mark.parametrize("bound", ["output", "most_running", "grace"])
def test_bounds_are_not_below_zero(bound: str) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        TerminalPolicy(**{bound: -1})  # type: ignore[arg-type]


def test_a_program_runs_a_command_without_a_request(tmp_path: Path) -> None:
    heard: list[str] = []

    async def work(client: Client) -> None:
        script = "echo $TIDE; pwd; exit 3"
        terminal = await client.terminals.start("s", "sh", ["-c", script], env={"TIDE": "high"}, cwd=f"{tmp_path}/lib")
        assert await terminal.wait() == (3, None)
        status = v1.TerminalExitStatus(exit_code=3, signal=None)
        shown = v1.TerminalOutputResponse(output=f"high\n{tmp_path}/lib\n", truncated=False, exit_status=status)
        assert terminal.state == shown
        await terminal.release()
        await terminal.release()
        assert client.terminals.find("s", terminal.id) is None
        sleeper = await client.terminals.start("s", "sleep", ["60"])
        await sleeper.kill()
        assert await sleeper.wait() == (None, "SIGTERM")
        with pytest.raises(RequestError) as caught:
            await client.terminals.start("s", "true", cwd=f"{tmp_path}/outside")
        assert caught.value.code == REFUSED

    def show(_session_id: str, _terminal_id: str, text: str) -> None:
        heard.append(text)

    run(tmp_path, work, on_output=show)
    assert "".join(heard) == f"high\n{tmp_path}/lib\n"


def test_a_command_that_has_begun_when_its_session_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[Program] = []

    async def work(client: Client) -> None:
        def started(*arguments: Any) -> Program:
            program = start(*arguments)
            began.append(program)
            client.workspace.forget("s")
            return program

        monkeypatch.setattr(terminals, "start", started)
        with pytest.raises(RequestError) as caught:
            await client.shell("sleep 60")
        assert caught.value.code == INVALID_PARAMS

    run(tmp_path, work)
    assert [program.has_ended for program in began] == [True]


def test_no_command_runs_in_roots_that_are_text_alone() -> None:
    async def work() -> None:
        await Terminals({"s": Scope("/", (), "posix")}).start("s", "true")

    with pytest.raises(RequestError, match="not bound to directories"):
        asyncio.run(work())
