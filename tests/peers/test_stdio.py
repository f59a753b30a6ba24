"""Connections over standard input and output: real processes, and what is left of them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, DecodeError, v1
from acp_bindings.v1 import peers

from jsonrpc_bindings.child import Child
from jsonrpc_bindings.framing import Lines
from peers.harbour import Client, call, run, wish

TESTS = Path(__file__).parents[1]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(TESTS), *(path for path in sys.path if "bindings" in path)]),
}
posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
HELLO = v1.InitializeRequest(protocol_version=1)


def program(what: str = "") -> list[str]:
    return [sys.executable, "-W", "error", "-m", "peers.program", what]


def spawn(what: str = "", client: Client | None = None, **options: Any) -> Any:
    return peers.spawn_agent(program(what), client or Client(), env=ENVIRONMENT, **options)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_agent_is_started_served_and_ended_and_stray_prints_disturb_nobody(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def test() -> None:
        client = Client()
        async with spawn(client=client) as agent:
            assert (await agent.initialize(HELLO)).protocol_version == 1
            assert (await agent.session_prompt(wish("stream"))).stop_reason == "end_turn"
            child: Child = agent.connection.transport
        assert client.heard == [str(number) for number in range(100)]
        assert child.returncode == 0

    run(test)
    assert capfd.readouterr().err.splitlines() == ["a stray print", "a stray child", "a stray write"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the descriptors of a process cannot be opened")
def test_the_input_of_an_ended_child_is_closed_once_while_somebody_else_holds_it() -> None:
    failures: list[dict[str, Any]] = []

    async def test() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, failure: failures.append(failure))
        child = await Child.start([sys.executable, "-c", "input()"], Lines(1000))
        with Path(f"/proc/{child.pid}/fd/0").open("rb"):
            child.send(b"{}")
            with pytest.raises(ConnectionClosed, match="its exit code is 0"):
                await child.receive()
            await child.close()
            await asyncio.sleep(0)

    run(test)
    assert not failures


def test_a_thousand_requests_over_a_pipe() -> None:
    async def test() -> None:
        async with spawn() as agent:
            asked = (agent.session_new(v1.NewSessionRequest(cwd=f"/{n}", mcp_servers=[])) for n in range(1000))
            assert [new.session_id for new in await asyncio.gather(*asked)] == [f"/{n}" for n in range(1000)]

    run(test)


def test_a_message_of_megabytes_passes_and_one_beyond_the_limit_does_not() -> None:
    async def test() -> None:
        async with spawn() as agent:
            long = "/" + "x" * 3_000_000
            assert (await agent.session_new(v1.NewSessionRequest(cwd=long, mcp_servers=[]))).session_id == long
        told: list[object] = []
        async with spawn(limit=1000, on_event=told.append) as agent:
            with pytest.raises(DecodeError, match="longer than 1000 bytes"):
                await agent.session_new(v1.NewSessionRequest(cwd=long, mcp_servers=[]))
            assert not told

    run(test)


@posix
@pytest.mark.parametrize("what", ["gone", "half", "silent", "deaf"])
def test_an_agent_that_dies_or_never_answers_leaves_nobody_waiting_and_is_ended(what: str) -> None:
    async def test() -> None:
        client = Client()
        async with spawn(what, client, grace=0.3) as agent:
            child: Child = agent.connection.transport
            if what in ("gone", "half"):
                with pytest.raises(ConnectionClosed):
                    await agent.initialize(HELLO)
            else:
                await client.ready.wait()
                with pytest.raises(TimeoutError):
                    await agent.connection.request("initialize", HELLO, timeout=0.01)
                assert is_running(child.pid)
        assert child.returncode == {"gone": 0, "half": 0, "silent": -15, "deaf": -9}[what]

    run(test)


@posix
def test_an_agent_that_is_killed_in_a_turn_wakes_its_client() -> None:
    async def test() -> None:
        async with spawn() as agent:
            await agent.initialize(HELLO)
            with pytest.raises(ConnectionClosed, match="the agent has ended"):
                await agent.session_prompt(wish("die"))
            assert agent.connection.transport.returncode in (None, -9)

    run(test)


FAILING = "import sys; sys.stderr.write('starting\\nno tide table\\n'); "


@pytest.mark.parametrize(
    ("ending", "exit_code", "signal", "message"),
    [
        (
            "sys.exit(3)",
            3,
            None,
            "the agent has ended: its exit code is 3, and its standard error ends with 'no tide table'",
        ),
        ("", 0, None, "the agent has ended: its exit code is 0"),
        pytest.param(
            "sys.stdin.readline(); import os; os.kill(os.getpid(), 9)",
            None,
            "SIGKILL",
            "the agent has ended: it was ended by SIGKILL, and its standard error ends with 'no tide table'",
            marks=posix,
        ),
    ],
)
def test_what_waits_for_an_agent_that_has_ended_learns_how_and_what_it_said_last(
    ending: str, exit_code: int | None, signal: str | None, message: str
) -> None:
    async def test() -> None:
        command = [sys.executable, "-c", FAILING + ending]
        async with peers.spawn_agent(command, Client(), grace=0.3) as agent:
            for _ in range(2):
                with pytest.raises(ConnectionClosed) as caught:
                    await agent.initialize(HELLO)
                assert (caught.value.exit_code, caught.value.signal) == (exit_code, signal)
                assert caught.value.stderr == "starting\nno tide table\n"
                assert str(caught.value) == message

    run(test)


@pytest.mark.parametrize("where", ["ours", "nowhere", "a file"])
def test_the_standard_error_of_an_agent_goes_where_it_is_wanted_and_its_end_is_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], where: str
) -> None:
    async def test() -> None:
        with (tmp_path / "errors").open("w") as file:
            stderr = {"ours": None, "nowhere": subprocess.PIPE, "a file": file}[where]
            command = [sys.executable, "-c", "import sys; sys.stderr.write('x' * 100_000 + 'end\\n')"]
            child = await Child.start(command, Lines(), stderr=stderr)
        while await _received(child) is not None:
            pass
        await child.close()
        assert (len(child.errors), child.errors[-5:]) == (16384, "xend\n")

    run(test)
    assert len(capfd.readouterr().err) == (100_004 if where == "ours" else 0)
    assert (tmp_path / "errors").stat().st_size == (100_004 if where == "a file" else 0)


async def _received(child: Child) -> bytes | None:
    try:
        return await child.receive()
    except ConnectionClosed:
        return None


def test_standard_error_never_mixes_with_messages() -> None:
    async def test() -> None:
        with pytest.raises(ValueError, match="cannot be kept"):
            await Child.start(program(), Lines(), stderr=subprocess.STDOUT)

    run(test)


def test_a_command_that_does_not_exist_says_so() -> None:
    async def test() -> None:
        with pytest.raises(FileNotFoundError):
            async with peers.spawn_agent(["/no/such/agent"]):
                pass

    run(test)


@posix
@pytest.mark.parametrize("delay", [0, 0.01, 0.05, 0.2, 0.6, 1.2])
def test_a_client_that_is_cancelled_at_any_time_leaves_no_process(delay: float) -> None:
    async def test() -> None:
        pids: list[int] = []

        async def work() -> None:
            async with spawn(grace=0.2) as agent:
                pids.append(agent.connection.transport.pid)
                await agent.initialize(HELLO)
                await agent.session_prompt(wish("wait"))

        task = asyncio.create_task(work())
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not any(map(is_running, pids))

    run(test)


def test_ending_that_is_cancelled_ends_the_process_at_once() -> None:
    async def test() -> None:
        child = await Child.start(program("deaf"), Lines(), env=ENVIRONMENT, grace=60)
        closing = asyncio.create_task(child.close())
        await asyncio.sleep(0.01)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert child.returncode is not None
        await child.close()

    run(test)


@posix
def test_each_call_that_ends_a_process_skips_the_waiting_of_all_when_it_is_cancelled() -> None:
    async def test() -> None:
        child = await Child.start(program("deaf"), Lines(), env=ENVIRONMENT, grace=60)
        one, other = asyncio.create_task(child.close()), asyncio.create_task(child.close())
        await asyncio.sleep(0.1)
        other.cancel()
        with pytest.raises(asyncio.CancelledError):
            await other
        assert not is_running(child.pid)
        await asyncio.wait_for(one, 5)

    run(test)


def ran(stdin: Any, stdout: Any = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        program(), stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60, check=False
    )


def test_an_agent_answers_all_that_came_before_the_end_of_its_input(tmp_path: Path) -> None:
    """From a file, into a file, and from the null device as well."""
    lines = tmp_path / "lines.jsonl"
    asked = [call(number, "session/new", {"cwd": f"/{number}", "mcpServers": []}) for number in range(2000)]
    lines.write_text("".join(json.dumps(message) + "\n" for message in asked).rstrip())
    with lines.open("rb") as stdin, (tmp_path / "out.jsonl").open("wb") as stdout:
        done = ran(stdin, stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [answer["result"]["sessionId"] for answer in answers] == [f"/{number}" for number in range(2000)]
    done = ran(subprocess.DEVNULL)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_agent_whose_streams_are_read_and_written_by_threads_is_the_same() -> None:
    async def test() -> None:
        client = Client()
        async with spawn("threads", client) as agent:
            long = "/" + "x" * 3_000_000
            assert (await agent.session_new(v1.NewSessionRequest(cwd=long, mcp_servers=[]))).session_id == long
            asked = (agent.session_new(v1.NewSessionRequest(cwd=f"/{n}", mcp_servers=[])) for n in range(300))
            assert [new.session_id for new in await asyncio.gather(*asked)] == [f"/{n}" for n in range(300)]
            assert (await agent.session_prompt(wish("stream"))).stop_reason == "end_turn"
            child: Child = agent.connection.transport
        assert client.heard == [str(number) for number in range(100)]
        assert child.returncode == 0

    run(test)


@pytest.mark.parametrize("what", ["", "threads"])
def test_an_agent_whose_client_does_not_read_ends_all_the_same(what: str) -> None:
    process = subprocess.Popen(program(what), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": "x" * 100_000}]}
        process.stdin.write(
            b"".join(
                json.dumps(call(n, "session/new", {"cwd": "/" + "y" * 1000, "mcpServers": []})).encode() + b"\n"
                for n in range(500)
            )
        )
        process.stdin.write(json.dumps(call(1, "session/prompt", prompt)).encode() + b"\n")
        process.stdin.close()
        process.stdin = None
        assert process.wait(30) == 0
