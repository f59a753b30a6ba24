"""`acpgen tap`: every byte passes, in order, at once; the monitor listens, and whatever it does nobody notices."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import tiers
from acpgen.messages import recording, validators
from acpgen.messages.tap import Chunk, Listener, Recorder, Splitter, Watcher
from acpgen.messages.validate import judge_conversation, judge_lines
from monitor.cases import CASES
from monitor.scripts import Case, mcp, numbers, opened, prompt, v1

ROOT = Path(__file__).parents[1]

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


def tap(*options: str | Path, agent: Sequence[str], start_new_session: bool = False) -> subprocess.Popen[bytes]:
    """Start the tap. Where nobody reads a report, what it says is held against the smallest protocol, which is soon understood."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator"), "NO_COLOR": "1"}
    if not {"--report", "--protocol"} & set(options):
        options = ("--protocol", "mcp/2025-06-18", *options)
    command = [sys.executable, "-m", "acpgen", "tap", *map(str, options), "--", *agent]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=start_new_session
    )


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_every_byte_passes_untouched_in_both_directions(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    data = (
        bytes(range(256)) * 400 + b"\n" + b'{"jsonrpc": "2.0",  "id":1e0, "method":"_x"}\r\n\n\n' + b"\xff\x00 no end"
    )
    process = tap(
        "--record",
        tape,
        "--report",
        tmp_path / "report",
        agent=python("import sys,shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"),
    )
    out, _ = process.communicate(data * 3, timeout=60)
    assert out == data * 3
    assert process.returncode == 0
    rows = [json.loads(line) for line in tape.read_text().splitlines()]
    assert {row["from"] for row in rows} == {"client", "agent"}
    assert b'"message": {"jsonrpc": "2.0",  "id":1e0, "method":"_x"}}' in tape.read_bytes(), "as it came"
    assert any("text" in row for row in rows)


@pytest.mark.parametrize(("header", "code"), [("Content-Length: 2", 0), ("Content-Length: -2", 1)])
def test_a_stream_that_cannot_be_read_on_has_an_exit_code(tmp_path: Path, header: str, code: int) -> None:
    report = tmp_path / "report"
    sent = f"{header}\r\n\r\n{{}}"
    process = tap("--report", report, agent=python(f"import sys; sys.stdout.write({sent!r})"))
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == (sent.encode(), code)
    assert ("nothing that follows" in report.read_text()) is (code == 1)


def test_standard_error_is_the_agents_own(tmp_path: Path) -> None:
    process = tap(
        "--report",
        tmp_path / "report",
        agent=python("import sys; sys.stderr.buffer.write(bytes(range(256))); sys.exit(3)"),
    )
    _, err = process.communicate(timeout=60)
    assert err == bytes(range(256))
    assert process.returncode == 3


@pytest.mark.parametrize(
    ("code", "wanted"),
    [("import sys; sys.exit(0)", 0), ("import sys; sys.exit(41)", 41), ("import os; os.kill(os.getpid(), 9)", 137)],
)
def test_the_exit_code_is_the_agents(code: str, wanted: int) -> None:
    process = tap(agent=python(code))
    assert process.stdin is not None
    assert process.wait(60) == wanted, "though the client's end is open"
    process.communicate()


def test_a_command_that_does_not_start_exits_with_two_and_leaves_no_recording(tmp_path: Path) -> None:
    process = tap("--record", tmp_path / "talk.jsonl", agent=["no-such-agent"])
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"no-such-agent: this command cannot be started" in err
    assert not [*tmp_path.iterdir()]


def test_a_file_that_cannot_be_written_exits_with_two_before_the_agent_starts(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    process = tap("--record", tmp_path / "no" / "tape", agent=python(f"open({str(mark)!r}, 'w')"))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"cannot be written" in err
    assert not mark.exists()


def test_the_end_of_the_client_reaches_the_agent_which_may_still_answer() -> None:
    process = tap(agent=python("import sys,time; sys.stdin.read(); time.sleep(0.7); print('late')"))
    out, _ = process.communicate(b"", timeout=60)
    assert out == b"late\n"


def test_an_agent_that_closes_its_output_is_seen_to_do_so() -> None:
    process = tap(agent=python("import os,sys; os.close(1); sys.stdin.read()"))
    assert process.stdout is not None
    assert process.stdout.read() == b"", "the end comes while the agent runs"
    process.communicate(b"", timeout=60)
    assert process.returncode == 0


def test_an_agent_ends_when_its_client_is_gone() -> None:
    code = "import sys,time\nwhile True:\n    print('x' * 1000, flush=True); time.sleep(0.01)"
    process = tap("--grace", "0.5", agent=python(code))
    assert process.stdout is not None
    assert process.stdin is not None
    process.stdout.read(10)
    process.stdout.close()
    process.stdin.close()
    assert process.wait(60) != 0
    assert process.stderr is not None
    process.stderr.close()


def test_an_agent_ends_when_its_client_is_gone_though_it_never_reads() -> None:
    process = tap("--grace", "0.5", agent=python("import time; time.sleep(60)"))
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"x" * 60_000)  # as much as fits, twice: into the pipe to the tap, and into the one behind it
    process.stdin.flush()
    process.stdin.write(b"x" * 60_000)
    process.stdout.close()
    process.stdin.close()
    assert process.wait(40) == 128 + signal.SIGTERM
    assert process.stderr is not None
    process.stderr.close()


TOWERS: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "x-sides": ["plane", "tower"],
    "$defs": {
        "LandRequest": {"properties": {"runway": {"type": "string"}}, "x-method": "land", "x-side": "tower"},
        "LandResponse": {"properties": {"at": {"type": "string"}}, "x-method": "land", "x-side": "tower"},
    },
}


def test_a_protocol_of_other_sides_is_judged_and_recorded_by_their_names(tmp_path: Path) -> None:
    schema, tape, report = tmp_path / "towers.json", tmp_path / "tape", tmp_path / "report"
    schema.write_text(json.dumps(TOWERS))
    code = 'import sys\nfor _ in sys.stdin: print(\'{"jsonrpc":"2.0","id":1,"result":{"at":5}}\', flush=True)'
    options = ("--protocol", schema, "--record", tape, "--report", report, "--format", "json")
    process = tap(*options, agent=python(code))
    _, err = process.communicate(b'{"jsonrpc":"2.0","id":1,"method":"land","params":{"runway":7}}\n', timeout=60)
    assert (process.returncode, err) == (0, b"")
    wrong = [("plane", "params-malformed"), ("tower", "result-malformed")]
    assert [(row["from"], row["rule"]) for row in map(json.loads, report.read_text().splitlines())] == wrong
    assert [json.loads(row)["from"] for row in tape.read_text().splitlines()] == ["plane", "tower"]
    judges = validators.read_versions([str(schema)])
    with tape.open("rb") as file:
        verdicts = list(judge_conversation(recording.read_lines(file), validators.make_monitor(judges, fixed=True)))
    assert [(verdict.sender, problem.rule) for verdict in verdicts for problem in verdict.problems] == wrong


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""
"""An agent that heeds neither the end of its input nor a signal, with a process of its own."""


def has_ended(process: int) -> bool:
    """Whether a process is gone, or only waits to be collected."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"


def wait_for_the_end_of(*processes: int) -> None:
    deadline = time.monotonic() + 30
    while not all(map(has_ended, processes)):
        assert time.monotonic() < deadline, "an orphan"
        time.sleep(0.05)


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look at processes")


@needs_proc
def test_an_agent_that_ignores_the_end_of_its_client_is_ended_with_all_that_it_started() -> None:
    process = tap("--grace", "0.5", agent=python(STUBBORN))
    assert process.stdout is not None
    agent, child = map(int, process.stdout.readline().split())
    _, err = process.communicate(b"", timeout=60)
    assert process.returncode == 128 + signal.SIGKILL
    assert b"still ran 0.5 seconds after its client's input had ended" in err
    wait_for_the_end_of(agent, child)


@needs_proc
def test_nothing_of_the_agent_is_left_when_the_tap_is_killed() -> None:
    process = tap(agent=python(STUBBORN))
    assert process.stdout is not None
    agent, child = map(int, process.stdout.readline().split())
    process.kill()
    process.communicate(timeout=60)
    wait_for_the_end_of(agent, child)


@needs_proc
def test_a_command_that_goes_on_after_a_signal_to_end_is_ended_too() -> None:
    """Its client's input stays open all the time."""
    process = tap("--grace", "0.5", agent=python(STUBBORN))
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) != 0
    assert process.stderr is not None
    assert b"0.5 seconds after a signal to end" in process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_messages_of_a_report_are_lines_of_the_recording(tmp_path: Path) -> None:
    tape, report = tmp_path / "tape", tmp_path / "report"
    process = tap("--record", tape, "--report", report, "--format", "json", agent=["cat"])
    _, err = process.communicate(b"\n\n" + b'{"jsonrpc":"2.0","id":1,"method":5}\n', timeout=60)
    assert process.returncode == 0, err
    recorded = tape.read_bytes().splitlines()
    rows = [json.loads(line) for line in report.read_bytes().splitlines()]
    bad = [row["message"] for row in rows if row["rule"] == "envelope-malformed"]
    assert bad
    assert all(b'"method":5' in recorded[number - 1] for number in bad), (bad, recorded)


def test_a_grace_that_is_none_exits_with_two() -> None:
    process = tap("--grace", "-1", agent=["cat"])
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"--grace" in err


def test_blank_lines_are_recorded_and_read_back(tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    process = tap("--record", tape, "--report", tmp_path / "report", agent=["cat"])
    line = b'{"jsonrpc":"2.0","method":"_x"}\n'
    out, _ = process.communicate(b"\n" + line + b" \r\n", timeout=60)
    assert out == b"\n" + line + b" \r\n"
    rows = [json.loads(row) for row in tape.read_text().splitlines() if b'"client"' in row.encode()]
    assert [row.get("text") for row in rows] == ["", None, " \r"]
    with tape.open("rb") as file:
        verdicts = [
            verdict
            for verdict in judge_lines(recording.read_lines(file), strict_versions(), None)
            if verdict.sender == "client"
        ]
    assert [(verdict.kind, verdict.is_valid) for verdict in verdicts] == [
        ("blank", True),
        ("notification", True),
        ("blank", True),
    ]


def strict_versions() -> dict[Any, Any]:
    return {one.contract.version: one for one in validators.read_versions(())}


AGENT_IN_FOREGROUND = """
import os, signal, sys, time
hits = []
def stop(*_):
    hits.append(1)
signal.signal(signal.SIGINT, stop)
sys.stdout.write(sys.stdin.readline()); sys.stdout.flush()
while not hits:
    time.sleep(0.01)
time.sleep(0.5)
sys.stdout.write('{"jsonrpc":"2.0","method":"_interrupted","params":%d}\\n' % len(hits)); sys.stdout.flush()
sys.exit(7)
"""

CLIENT_IN_FOREGROUND = """
import fcntl, json, signal, subprocess, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
signal.signal(signal.SIGINT, lambda *_: None)
process.stdin.write(b'{"jsonrpc":"2.0","method":"_hello"}\\n'); process.stdin.flush()
first = process.stdout.readline()
print("ready", flush=True)
rest = process.stdout.read()
code = process.wait()
with open(sys.argv[1], "w") as file:
    json.dump([first.decode(), rest.decode(), code], file)
"""


def test_ctrl_c_in_the_terminal_reaches_the_agent_once_and_the_recording_is_whole(tmp_path: Path) -> None:
    if not hasattr(os, "openpty"):
        pytest.skip("there are no terminals here")
    tape, seen = tmp_path / "tape", tmp_path / "seen"
    tapped = [sys.executable, "-m", "acpgen", "tap", "--record", str(tape), "--report", str(tmp_path / "report"), "--"]
    command = [*python(CLIENT_IN_FOREGROUND), str(seen), *tapped, *python(AGENT_IN_FOREGROUND)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    terminal, screen = os.openpty()
    client = subprocess.Popen(
        command, stdin=screen, stdout=screen, stderr=screen, env=environment, start_new_session=True
    )
    os.close(screen)
    shown = b""
    while b"ready" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    assert client.wait(60) == 0, os.read(terminal, 4096)
    os.close(terminal)
    hello = '{"jsonrpc":"2.0","method":"_hello"}'
    told = '{"jsonrpc":"2.0","method":"_interrupted","params":1}'
    assert json.loads(seen.read_text()) == [f"{hello}\n", f"{told}\n", 7]
    rows = [json.loads(line) for line in tape.read_text().splitlines()]
    assert [(row["from"], row["message"]) for row in rows] == [
        ("client", json.loads(hello)),
        ("agent", json.loads(hello)),
        ("agent", json.loads(told)),
    ]


def test_a_monitor_that_breaks_takes_nothing_with_it() -> None:
    code = (
        "import sys\nfrom acpgen.messages.tap import end, tap\n"
        f"end(tap([sys.executable, '-c', {ECHO!r}], lambda: 1 // 0, print, lambda told: print(told, file=sys.stderr)))"
    )
    data = b'{"jsonrpc":"2.0","method":"_x"}\n' * 5000
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    ran = subprocess.run(python(code), input=data, capture_output=True, check=False, env=environment, timeout=60)
    assert (ran.returncode, ran.stdout) == (1, data), "not judged is not well, though the agent's own code is 0"
    assert b"ZeroDivisionError" in ran.stderr
    assert b"The monitor ended early" in ran.stderr


def test_a_protocol_that_cannot_be_understood_is_told_in_one_line_and_the_messages_pass(tmp_path: Path) -> None:
    schema = tmp_path / "loop.json"
    schema.write_text(
        '{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"A": {"$ref": "#/$defs/A"}}}'
    )
    report, tape = tmp_path / "report", tmp_path / "tape"
    process = tap("--protocol", schema, "--report", report, "--format", "json", "--record", tape, agent=["cat"])
    out, err = process.communicate(b"{}\n", timeout=60)
    assert (out, process.returncode) == (b"{}\n", 1)
    assert [json.loads(line)["rule"] for line in report.read_bytes().splitlines()] == ["not-judged"]
    assert len(tape.read_bytes().splitlines()) == 2, "what is said is recorded all the same"
    assert b"The monitor ended early: " in err
    assert b"#/$defs/A" in err
    assert b"Traceback" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_what_cannot_be_written_costs_neither_a_message_nor_the_exit_code() -> None:
    line = b'{"jsonrpc":"2.0","method":"tide"}\n'
    agent = ["sh", "-c", "cat; exit 3"]
    judged = ("--protocol", "mcp/2025-06-18")
    for option, name in (("--record", b"recording"), ("--report", b"monitor")):
        process = tap(option, "/dev/full", *judged, agent=agent)
        out, err = process.communicate(line, timeout=60)
        assert (out, process.returncode) == (line, 3)
        assert b"The " + name + b" ended early: " in err
        assert b"Traceback" not in err
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    command = [sys.executable, "-m", "acpgen", "tap", *judged, "--", *agent]
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(command, input=line, stdout=subprocess.PIPE, stderr=full, check=False, env=environment)
    assert (ran.stdout, ran.returncode) == (line, 3)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_what_could_not_be_passed_on_is_told_and_has_an_exit_code() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    command = [sys.executable, "-m", "acpgen", "tap", "--protocol", "mcp/2025-06-18", "--", "cat"]
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            command,
            input=b'{"jsonrpc":"2.0","method":"tide"}\n',
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment,
        )
    assert b"Not all that came from the agent was passed on: No space left on device." in ran.stderr
    assert ran.returncode == 1


def test_a_flood_passes_whole_and_is_recorded_whole(tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    said = [
        {"jsonrpc": "2.0", "method": "_x", "params": {"number": number, "text": "y" * 900}} for number in range(5_000)
    ]
    data = b"".join(json.dumps(message).encode() + b"\n" for message in said)
    process = tap("--record", tape, "--report", tmp_path / "report", agent=["cat"])
    out, err = process.communicate(data, timeout=120)
    assert out == data
    assert b"recording" not in err
    with tape.open("rb") as file:
        rows = [json.loads(line) for line in file]
    for side in ("client", "agent"):
        assert [row["message"]["params"]["number"] for row in rows if row["from"] == side] == list(range(5_000))


@pytest.mark.parametrize("name", tiers.sample(["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"], 2))
def test_signals_are_passed_on(name: str) -> None:
    code = (
        "import os,signal,sys,time\n"  # print is not for handlers: the signal may come while it still writes
        f"signal.signal(signal.{name}, lambda *_: (os.write(1, b'got it\\n'), sys.exit(5)))\n"
        "print('ready', flush=True)\ntime.sleep(60)"
    )
    process = tap(agent=python(code), start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(getattr(signal, name))
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == (b"got it\n", 5)


def test_a_message_is_passed_on_at_once_while_the_monitor_is_still_loading() -> None:
    process = tap(agent=python(ECHO))
    assert process.stdin is not None
    assert process.stdout is not None
    lines: list[bool] = []
    for number in range(300):
        line = (
            json.dumps({"jsonrpc": "2.0", "id": number, "method": "_x", "params": {"text": "y" * 1000}}).encode()
            + b"\n"
        )
        process.stdin.write(line)
        process.stdin.flush()
        lines.append(process.stdout.readline() == line)
    assert all(lines)
    process.communicate(timeout=60)


def test_breaches_are_reported_as_they_happen(tmp_path: Path) -> None:
    report = tmp_path / "report"
    process = tap("--report", report, "--format", "json", agent=python(ECHO))
    assert process.stdin is not None
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"session/promt"}\n')
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while not report.exists() or report.read_bytes().count(b"\n") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    rows = [json.loads(line) for line in report.read_bytes().splitlines()]
    assert ("method-unknown", "client") in {(row["rule"], row["from"]) for row in rows}
    assert process.poll() is None, "the connection goes on"
    process.communicate(timeout=60)


PLAYER = """
import json, sys
said = json.loads(sys.argv[1])
for sender, line in said:
    if sender == "client":
        assert sys.stdin.buffer.readline() == line.encode() + b"\\n", line
    else:
        sys.stdout.buffer.write(line.encode() + b"\\n"); sys.stdout.buffer.flush()
sys.stdin.buffer.read()
"""
"""An agent that reads and says its part of a script."""


def play(case: Case, report: Path) -> list[dict[str, Any]]:
    """Run a script through the tap, the agent in a process of its own, and return what was reported."""
    script = [
        (sender, (message if isinstance(message, bytes) else json.dumps(message).encode()).decode())
        for sender, message in case.said
    ]
    process = tap("--report", report, "--format", "json", agent=[*python(PLAYER), json.dumps(script)])
    assert process.stdin is not None
    assert process.stdout is not None
    for sender, line in script:
        if sender == "client":
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        else:
            assert process.stdout.readline() == line.encode() + b"\n"
    _, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    return [json.loads(line) for line in report.read_bytes().splitlines()]


FIRST = {case.rule: case for case in reversed(CASES)}
"""The first case of each rule; the others are told apart in the monitor's own tests."""


@pytest.mark.parametrize("rule", tiers.sample(FIRST, 2))
def test_a_misbehaving_peer_commits_every_breach_and_each_is_named(rule: str, tmp_path: Path) -> None:
    """Every rule once, over real pipes."""
    case = FIRST[rule]
    found = {row["rule"]: row for row in play(case, tmp_path / "report.jsonl")}
    assert case.rule in found, found
    row = found[case.rule]
    assert row["message"] == len(case.said) + case.at + 1
    assert row.get("earlier") == (None if case.earlier is None else len(case.said) + case.earlier + 1)
    assert numbers(row.get("requirements", ())) == case.requirements


def test_what_listens_names_every_breach() -> None:
    """Every rule once, fed to what listens in the tap."""
    judges = validators.read_versions(())
    for case in FIRST.values():
        found: list[Any] = []
        watcher = Watcher(lambda: validators.make_monitor(judges), found.append)
        for sender, message in case.said:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            watcher.take(chunk(line + b"\n", sender))
        watcher.finish()
        first = next(breach for breach in found if breach.rule == case.rule)
        assert first.index == len(case.said) + case.at + 1


def test_the_sides_are_those_of_the_protocol_in_the_report_and_in_the_recording(tmp_path: Path) -> None:
    script = [(sender, json.dumps(message)) for sender, message in mcp({})]
    bad = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"roots": [7]}})
    report, tape = tmp_path / "report", tmp_path / "tape"
    server = PLAYER.replace('"client"', "sys.argv[2]")
    command = [*python(server), json.dumps([*script, ("client", bad)]), "client"]
    process = tap(
        *("--protocol", "mcp/2025-06-18", "--record", tape, "--report", report, "--format", "json"), agent=command
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for sender, line in [*script, ("client", bad)]:
        if sender == "client":
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        else:
            assert process.stdout.readline() == line.encode() + b"\n"
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    (row,) = map(json.loads, report.read_bytes().splitlines())
    assert (row["rule"], row["from"], row["message"]) == ("result-malformed", "client", 5)
    senders = [json.loads(line)["from"] for line in tape.read_bytes().splitlines()]
    assert senders == ["client", "server", "client", "server", "client"]
    with tape.open("rb") as file:
        listener = validators.make_monitor([validators.read_strict(validators.find("mcp/2025-06-18"))], fixed=True)
        verdicts = list(judge_conversation(recording.read_lines(file), listener))
    assert [verdict.is_valid for verdict in verdicts] == [True] * 4 + [False]


def test_what_was_not_judged_is_in_the_report(tmp_path: Path) -> None:
    report = tmp_path / "report"
    said = [v1()[0], ("agent", {"jsonrpc": "2.0", "id": "init", "result": {"protocolVersion": 7}}), *opened()]
    rows = play(Case("", said, ""), report)
    assert [row["rule"] for row in rows] == ["version-unknown", "not-judged"]
    assert rows[-1]["sentence"].startswith("3 messages were not judged, or only in part, from this one on")
    assert rows[-1]["message"] == 2, "the answer that agrees on the version comes first"


# --- the parts -------------------------------------------------------------------------------------------------------


def chunk(data: bytes | None, sender: str = "client") -> Chunk:
    return Chunk(sender, data, 0.0)


def test_lines_are_put_together_from_chunks_of_both_sides() -> None:
    splitter = Splitter()
    found = [
        line
        for part in (chunk(b"a"), chunk(b"x\ny", "agent"), chunk(b"b\n\nc\nd"), chunk(b"\n", "agent"))
        for line in splitter.split_messages(part)
    ]
    assert found == [("agent", b"x"), ("client", b"ab"), ("client", b"c"), ("agent", b"y")]
    assert list(splitter.flush_rest()) == [("client", b"d")]


def test_after_a_gap_the_rest_of_a_broken_line_is_left_out() -> None:
    splitter = Splitter()
    parts = [chunk(b'{"a":'), chunk(None), chunk(b"1}\nwhole\n")]
    assert [line for part in parts for line in splitter.split_messages(part)] == [
        ("client", MISSED),
        ("client", b"whole"),
    ]


MISSED = "the monitor fell behind, or a line was too long: some messages were missed"


def framed(*messages: bytes) -> bytes:
    return b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(each), each) for each in messages)


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_messages_after_headers_are_put_together_from_chunks(size: int) -> None:
    stream = framed(b'{"a":1}', b'{\n  "b": "\xc3\xa4"\n}', b"") + b"content-TYPE: x\r\nContent-Length: 2\r\n\r\n{}"
    splitter = Splitter(keeps_blank=True)
    parts = [chunk(stream[at : at + size]) for at in range(0, len(stream), size)]
    lines = [chunk(b'{"c":', "agent"), *parts, chunk(b"1}\n", "agent")]
    found = [line for part in lines for line in splitter.split_messages(part)]
    wanted = [b'{"a":1}', b'{\n  "b": "\xc3\xa4"\n}', b"", b"{}"]
    assert found == [*(("client", each) for each in wanted), ("agent", b'{"c":1}')]
    assert list(splitter.flush_rest()) == []


def test_what_cannot_be_read_after_headers_is_told_once() -> None:
    begun = framed(b"{}")
    for broken, sentence in (
        (b"no header\r\n\r\n{}", "a header must state the length of its message exactly once"),
        (None, "the headers of the client were lost with it"),
    ):
        splitter = Splitter()
        found = [line for part in (chunk(begun), chunk(broken), chunk(begun)) for line in splitter.split_messages(part)]
        first, *told = found
        assert first == ("client", b"{}")
        assert sentence in str(told[-1][1]) and all(isinstance(line, str) for _, line in told)
    splitter = Splitter(longest=100)
    found = [*splitter.split_messages(chunk(framed(b"{}", b"x" * 200, b"[]")))]
    assert found == [("client", b"{}"), ("client", "a message is longer than 100 bytes"), ("client", b"[]")]
    splitter = Splitter()
    assert [*splitter.split_messages(chunk(begun[:-1]))] == []
    assert [*splitter.flush_rest()] == [("client", "the stream ends inside a message of the client")]


LEVELS = {
    "openrpc": "1.3.2",
    "info": {"title": "Tides", "version": "1"},
    "methods": [
        {
            "name": "level",
            "params": [{"name": "place", "required": True, "schema": {"type": "string"}}],
            "result": {"name": "level", "schema": {"type": "number"}},
        }
    ],
}


def test_a_server_with_headers_is_judged_and_recorded_by_its_messages(tmp_path: Path) -> None:
    (tmp_path / "levels.json").write_text(json.dumps(LEVELS))
    answers = framed(b'{"jsonrpc":"2.0",\n "id":1,"result":2.5}', b'{"jsonrpc":"2.0","id":2,"result":"high"}')
    calls = framed(
        b'{"jsonrpc":"2.0","id":1,"method":"level","params":{"place":"here"}}',
        b'{"jsonrpc":"2.0","id":2,"method":"level","params":{"place":7}}',
    )
    agent = python(f"import sys; sys.stdin.buffer.read(); sys.stdout.buffer.write({answers!r})")
    tape, report = tmp_path / "tape.jsonl", tmp_path / "report"
    process = tap("--protocol", tmp_path / "levels.json", "--record", tape, "--report", report, agent=agent)
    out, _ = process.communicate(calls, timeout=60)
    assert (out, process.returncode) == (answers, 0)
    rows = [json.loads(line) for line in tape.read_text().splitlines()]
    assert [(row["from"], row["message"]["id"]) for row in rows] == [
        ("client", 1),
        ("client", 2),
        ("server", 1),
        ("server", 2),
    ]
    told = report.read_text().splitlines()
    assert ["message 2 from the client" in told[0], "message 4 from the server" in told[1], len(told)] == [
        True,
        True,
        2,
    ]


def test_a_line_without_end_is_not_held() -> None:
    splitter = Splitter(longest=100)
    parts = [chunk(b"x" * 60), chunk(b"x" * 60), chunk(b"x" * 60), chunk(b"\nnext\n")]
    found = [line for part in parts for line in splitter.split_messages(part)]
    assert found == [("client", MISSED), ("client", b"next")], "and it is told once that it is missing"


def test_a_listener_that_is_slow_never_makes_the_sender_wait_and_hears_of_the_gap() -> None:
    heard: list[bytes | None] = []
    may_go = threading.Event()

    def slow(part: Chunk) -> None:
        may_go.wait(30)
        heard.append(part.data)

    listener = Listener("slow", slow, room=1000)
    began = time.monotonic()
    for _ in range(10_000):
        listener.put(chunk(b"x" * 100))
    took = time.monotonic() - began
    may_go.set()
    listener.close(30)
    assert listener.finished
    assert took < 10
    assert heard.count(b"x" * 100) <= 11
    assert heard[-1] is None
    assert listener.missed == (10_000 - heard.count(b"x" * 100)) * 100


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_listener_that_fails_takes_nothing_with_it() -> None:
    def failing(part: Chunk) -> None:
        raise ZeroDivisionError

    listener = Listener("failing", failing)
    for _ in range(1000):
        listener.put(chunk(b"x" * 100_000))
    listener.close(30)
    assert not listener.finished


def test_the_monitor_is_told_of_a_gap_and_does_not_take_it_for_a_breach() -> None:
    found: list[Any] = []
    watcher = Watcher(
        lambda: validators.make_monitor([validators.read_strict(validators.find("acp/v1"))]), found.append
    )
    said = [(sender, json.dumps(message).encode() + b"\n") for sender, message in [*v1(), *opened(), prompt()]]
    for sender, line in said[:2]:
        watcher.take(chunk(line, sender))
    watcher.take(chunk(None))
    watcher.take(chunk(b'cut off"}\n', "agent"))
    watcher.take(chunk(b'{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}\n', "agent"))
    watcher.finish()
    assert [breach.rule for breach in found] == ["messages-missed"]
    assert found[0].level == "note"


def test_a_gap_is_told_by_the_recording_and_a_replay_does_not_take_it_for_a_breach(tmp_path: Path) -> None:
    said = [(sender, json.dumps(message).encode() + b"\n") for sender, message in [*v1(), *opened(), prompt()]]
    with (tmp_path / "tape").open("wb") as file:
        recorder = Recorder(file)
        for sender, line in said[:2]:
            recorder.take(chunk(line, sender))
        recorder.take(chunk(None))
        recorder.take(chunk(b'cut off"}\n', "agent"))
        recorder.take(chunk(b'{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}\n', "agent"))
    rows = [json.loads(line) for line in (tmp_path / "tape").read_bytes().splitlines()]
    assert [row.get("gap") for row in rows] == [None, None, True, None]
    strict = {
        one.contract.version: one for one in (validators.read_strict(validators.find(name)) for name in validators.ACP)
    }
    with (tmp_path / "tape").open("rb") as file:
        found = list(judge_conversation(recording.read_lines(file), validators.make_monitor(strict.values())))
        assert [[problem.rule for problem in verdict.problems] for verdict in found] == [
            [],
            [],
            ["messages-missed"],
            [],
        ]
        file.seek(0)
        verdicts = list(judge_lines(recording.read_lines(file), strict, None))
    assert [verdict.kind for verdict in verdicts] == ["request", "result", "gap", "result"]
    assert all(verdict.is_valid for verdict in verdicts)


def test_a_recording_holds_each_message_as_it_came(tmp_path: Path) -> None:
    with (tmp_path / "tape").open("wb") as file:
        recorder = Recorder(file)
        recorder.take(chunk(b'{"a" : 1.0}\nno json\n{"b":'))
        recorder.take(chunk(b"2}"))
        recorder.finish()
    rows = (tmp_path / "tape").read_bytes().splitlines()
    assert len(rows) == 3
    assert rows[0] == b'{"from": "client", "at": "1970-01-01T00:00:00.000+00:00", "message": {"a" : 1.0}}'
    assert json.loads(rows[1])["text"] == "no json"
    assert json.loads(rows[2])["message"] == {"b": 2}


def test_the_threads_of_tap_find_the_monitor_complete(tmp_path: Path) -> None:
    script = tmp_path / "threads.py"
    script.write_text("""
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from acpgen import embedded

barrier = Barrier(4)

def ask(_: int) -> object:
    barrier.wait()
    return embedded.versions.find_peers, embedded.monitor.Monitor

with ThreadPoolExecutor(4) as pool:
    assert len(set(pool.map(ask, range(4)))) == 1
""")
    subprocess.run([sys.executable, str(script)], check=True)
