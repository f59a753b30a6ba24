"""One mistake that is made a thousand times is told a few times, and every line of it still counts."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from acp_monitor import Breach, Folding
from acp_monitor.bounded import MAX_MARKS
from acpgen import embedded
from acpgen.messages import recording, validators
from acpgen.messages.validate import Counts, fold_repeats, judge_conversation, write_text
from monitor.scripts import Said, client, info, listed, opened, update, v1

ROOT = Path(__file__).parents[2]
TIMES = 2000
WRONG = update("gone", sessionUpdate="agent_message_chunk", content={"type": "text", "text": "hi"})


def recorded(*said: Said) -> bytes:
    return b"".join(json.dumps({"from": who, "message": message}).encode() + b"\n" for who, message in said)


def breach(sentence: str, pointer: str = "", index: int = 0) -> Breach:
    return Breach("session-not-open", "must", (), index, "agent", "session/update", pointer, None, sentence)


def test_repeats_are_told_at_powers_of_ten_and_none_is_lost() -> None:
    folding: Folding[int] = Folding()
    told = [(number, folding.take("a", number)) for number in range(1, 12_346)]
    told = [each for each in told if each[1]]
    assert told == [*((number, 1) for number in range(1, 11)), (100, 90), (1000, 900), (10_000, 9000)]
    assert list(folding.list_omitted()) == [(12_345, 2345)]
    assert not list(folding.list_omitted())


def test_of_more_marks_than_are_kept_each_is_told() -> None:
    folding: Folding[int] = Folding()
    counts = [folding.take(number, number) for _ in range(11) for number in range(MAX_MARKS + 5)]
    assert counts[-MAX_MARKS - 5 :] == [0] * MAX_MARKS + [1] * 5
    assert sum(counts) + sum(count for _, count in folding.list_omitted()) == 11 * (MAX_MARKS + 5)


def test_breaches_differ_by_what_they_say_and_not_by_where_in_an_array() -> None:
    assert breach("a", "/result/sessions/0/cwd").mark == breach("a", "/result/sessions/17/cwd", 9).mark
    assert breach("a", "/a").mark != breach("a", "/b").mark
    assert breach("a").mark != breach("b").mark


def test_one_wrong_session_of_many_updates_gives_a_few_lines_and_counts_each() -> None:
    lines = list(recording.read_lines(io.BufferedReader(io.BytesIO(recorded(*v1(), *opened(), *[WRONG] * TIMES)))))
    verdicts = list(
        judge_conversation(lines, validators.make_monitor([validators.read_strict(validators.find("acp/v1"))]))
    )
    summary = Counts()
    for verdict in verdicts:
        summary.add(verdict)
    assert summary.invalid == {"session/update": TIMES}
    told = [write_text(verdict) for verdict in fold_repeats(verdict for verdict in verdicts if verdict.problems)]
    assert len(told) == 13  # ten, 100, 1000, and the rest
    assert told[0].startswith("5: invalid agent notification session/update: must session-not-open")
    assert told[-1].startswith("2004: invalid")
    assert told[-1].endswith(" [1000 more like it, up to this one]")


def test_a_line_with_a_repeat_and_something_new_is_told_whole() -> None:
    wrong = client("session/prompt", {"sessionId": "gone", "prompt": []}, id_=7)
    lines = list(
        recording.read_lines(io.BufferedReader(io.BytesIO(recorded(*v1(), *[WRONG] * 11, wrong, *listed(info())))))
    )
    verdicts = judge_conversation(lines, validators.make_monitor([validators.read_strict(validators.find("acp/v1"))]))
    told = [verdict.line for verdict in fold_repeats(verdict for verdict in verdicts if verdict.problems)]
    assert told == [*range(3, 13), 14, 16, 13], "the end is line 16, and what was left out comes last"


def test_tap_folds_and_says_how_often(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    messages: list[Any] = [message for _, message in (*v1(), *opened())]
    agent = f"import sys; [print(line) for line in {[json.dumps(WRONG[1])] * 250!r}]; sys.stdin.read()"
    command = [
        sys.executable,
        "-m",
        "acpgen",
        "tap",
        "--format",
        "json",
        "--report",
        str(report),
        "--protocol",
        "acp/v1",
    ]
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages[:1])
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, "--", sys.executable, "-c", agent], stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    ) as process:
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.flush()
        while process.poll() is None and sum(counts(report)) < 100:  # the monitor has begun to listen
            time.sleep(0.1)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert counts(report) == [*[1] * 10, 90, 150]


def counts(report: Path) -> list[int]:
    rows = [json.loads(line) for line in report.read_text("utf-8").splitlines()] if report.exists() else []
    return [row.get("count", 1) for row in rows if row["rule"] == "session-not-open"]


def test_the_monitor_says_that_there_are_no_modes_and_not_that_one_is_missing_among_none() -> None:
    monitor = embedded.monitor.Monitor([validators.read_strict(validators.find("acp/v1"))])
    asked = client("session/set_mode", {"sessionId": "s", "modeId": "zzz"}, id_=9)
    found = [each for who, message in (*v1(), *opened(), asked) for each in monitor.observe(who, message)]
    assert [each.sentence for each in found] == ["the session offers no modes"]
