"""`acpgen validate`: one verdict a line, counts for people, exit codes, and no memory of what went by."""

from __future__ import annotations

import codecs
import gc
import gzip
import io
import json
import os
import select
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import commands
import tiers
from acpgen.messages import recording, validators
from acpgen.messages.validate import Counts, LineVerdict, judge_conversation, judge_lines
from monitor.cases import CASES
from monitor.scripts import OPTIONS, Said, client, mcp, numbers, opened, permission, prompt, result, v1

ROOT = Path(__file__).parents[1]


def acpgen(*arguments: str | Path, given: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    return commands.acpgen(arguments, given, cwd)


def lines(*messages: Any) -> bytes:
    return b"".join(
        message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n" for message in messages
    )


def recorded(*said: Said) -> bytes:
    return lines(*({"from": sender, "message": message} for sender, message in said))


GOOD: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}
BAD: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": "a", "mcpServers": []}}


def test_every_line_gets_a_verdict_and_people_a_summary(tmp_path: Path) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_bytes(lines(GOOD, BAD, b"\n", b"nonsense\n"))
    ran = acpgen("validate", file, "--protocol", "acp/v1", "--sender", "client", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.decode().splitlines() == [
        "1: ok client request session/list",
        "2: invalid client request session/new: /params/cwd: an absolute path is expected, not 'a'",
        "4: invalid client message: this is not JSON: expected true, false or null at column 2; put text in double quotes",
    ]
    told = ran.stderr.decode()
    assert "2 lines of 3 invalid." in told
    assert "pattern" in told
    assert "session/new" in told


MESSAGE = json.dumps(GOOD).encode()


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (
            b"Content-Length: %d\r\n\r\n%s" % (len(MESSAGE), MESSAGE),
            "This is a header of LSP or DAP: write messages without",
        ),
        (MESSAGE + b"Content-Length: 9\r\n\r\n", "A header of LSP or DAP follows: write messages without"),
        (MESSAGE.decode().encode("utf-16"), "This is UTF-16: convert the file to UTF-8"),
        (MESSAGE.decode().encode("utf-16-be"), "This is UTF-16: convert the file to UTF-8"),
        (b"\0" * 512, "These are NUL characters, which a crash leaves at the end of a file: remove them"),
        (gzip.compress(MESSAGE, mtime=0), "This is gzip: give the file a name that ends in .gz"),
        (b"\x1e" + MESSAGE, "This begins with a record separator: remove it"),
        (b"\xef\xbb\xbf" * 2 + MESSAGE, "A byte order mark stands before it: remove it"),
        (b"data: " + MESSAGE, "This is an event stream: write what stands behind 'data:' alone"),
        (json.dumps(GOOD, indent=2).encode(), "Where a message takes several lines, write it in one"),
        (b"10:00:00 DEBUG -> " + MESSAGE, "Where other text stands before or behind a message, remove it"),
        (MESSAGE + b"\r" + MESSAGE, "A carriage return does not end a line: end each with a line feed"),
    ],
)
def test_messages_in_another_form_are_told_with_what_to_do(content: bytes, first: str) -> None:
    ran = acpgen("validate", "-", given=content)
    assert ran.returncode == 1
    (line, *_) = ran.stdout.decode().splitlines()
    assert line.startswith("1: invalid message: this is not JSON: ")
    assert line.endswith(f". {first}")


def test_a_recording_in_another_form_is_told_with_what_to_do() -> None:
    recorded = [{"from": "client", "message": GOOD}]
    content = lines(b"10:00 -> " + MESSAGE + b"\n", GOOD, recorded, {"direction": "out", "message": GOOD})
    ran = acpgen("validate", "-", "--session", given=content)
    assert ran.returncode == 1
    wanted = '{"from": "client", "message": …}'
    advice = "Where other text stands before or behind a message, remove it"
    assert ran.stdout.decode().splitlines() == [
        f"1: invalid message: this is not JSON: something follows the value at column 3; send each message by itself. {advice}",
        f"2: invalid message: this is a message alone: write {wanted}, or judge each message by itself, without --session",
        "3: invalid message: this is an array of recorded lines: write each in a line of its own",
        f"4: invalid message: a recorded line is an object that says who sent the message: write {wanted}",
    ]
    (*_, last) = acpgen("validate", "-", given=content).stdout.decode().splitlines()
    assert last == ran.stdout.decode().splitlines()[-1]


@pytest.mark.parametrize("options", [[], ["--session"]])
def test_a_line_that_cannot_be_read_is_told_with_its_place_and_reason(options: list[str]) -> None:
    ran = acpgen("validate", "-", *options, given=b'{"from": "client", x}\n' + b"[" * 5000)
    assert ran.stdout.decode().splitlines()[:2] == [
        "1: invalid message: this is not JSON: expected a key in double quotes at column 20",
        "2: invalid message: this is not JSON: this is nested too deep at column 202",
    ]


@pytest.mark.parametrize("options", [[], ["--session"]])
def test_a_recorded_message_that_is_a_json_string_is_none(options: list[str]) -> None:
    """Also where the string holds the JSON of a message."""
    ran = acpgen("validate", "-", *options, given=lines({"from": "client", "message": json.dumps(GOOD)}))
    assert ran.returncode == 1
    assert "a JSON-RPC message is an object, not '{" in ran.stdout.decode()


def test_json_verdicts_have_pointer_schema_sentence_code_and_rule() -> None:
    ran = acpgen("validate", "-", "--format", "json", "--sender", "client", given=lines(GOOD, BAD))
    first, second = map(json.loads, ran.stdout.splitlines())
    assert first == {
        "line": 1,
        "valid": True,
        "from": "client",
        "kind": "request",
        "method": "session/list",
        "problems": [],
    }
    assert second["valid"] is False
    assert second["problems"] == [
        {
            "rule": "pattern",
            "pointer": "/params/cwd",
            "schema": "#/$defs/AbsolutePath/pattern",
            "sentence": "an absolute path is expected, not 'a'",
            "code": -32602,
        }
    ]


def test_nothing_invalid_exits_with_zero_and_reads_a_pipe_by_default() -> None:
    ran = acpgen("validate", given=lines(GOOD))
    assert (ran.returncode, ran.stdout) == (0, b"1: ok client request session/list\n")
    assert ran.stderr.decode() == "1 line valid.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.jsonl",), "no such file"),
        (("-", "--protocol", "acp/v9"), "there is no protocol 'acp/v9'"),
        (("-", "--sender", "server"), "--sender"),
        (("-", "--protocol", "acp/v1", "--protocol", "mcp/2025-06-18"), "acp/v1 is spoken by client and agent"),
        (("-", "--format", "xml"), "--format"),
        (("-", "--session", "--sender", "agent"), "exclude each other"),
    ],
)
def test_unusable_input_exits_with_two(arguments: tuple[str, ...], words: str) -> None:
    ran = acpgen("validate", *arguments)
    assert ran.returncode == 2
    assert words in ran.stderr.decode()


def test_any_schema_file_judges(tmp_path: Path) -> None:
    schema = tmp_path / "acme.json"
    schema.write_text(
        json.dumps(
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$defs": {
                    "PingRequest": {
                        "type": "object",
                        "properties": {"count": {"type": "integer"}},
                        "required": ["count"],
                        "x-method": "ping",
                        "x-side": "agent",
                    },
                    "PingResponse": {"type": "object", "x-method": "ping", "x-side": "agent"},
                },
            }
        )
    )
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"count": "one"}}
    ran = acpgen("validate", "--protocol", schema, given=lines(ping), cwd=tmp_path)
    assert b"/params/count: an integer is expected" in ran.stdout


@pytest.mark.parametrize("options", [[], ["--session"]])
def test_a_schema_without_methods_judges_no_messages(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "thing.json").write_text('{"$defs": {"Thing": {"type": "object", "properties": {"a": {}}}}}')
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    ran = acpgen("validate", "--protocol", "thing.json", *options, given=lines(message), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert "thing.json: the verdict on a stream of messages cannot be made: no profile finds" in ran.stderr.decode()


def test_the_version_is_the_one_that_initialize_names() -> None:
    info = {"name": "a", "version": "1"}
    asked = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": 2, "info": info, "capabilities": {}},
    }
    permission_ = {
        "jsonrpc": "2.0",
        "id": 5,
        "method": "session/request_permission",
        "params": {"sessionId": "s", "title": "May I?", "options": OPTIONS},
    }
    ran = acpgen("validate", given=lines(asked, permission_))
    assert ran.stdout.decode().splitlines() == [
        "1: ok client request initialize",
        "2: ok agent request session/request_permission",
    ]
    assert acpgen("validate", given=lines(permission_)).returncode == 1, "version 1 wants a toolCall"


def test_results_are_judged_by_the_request_that_they_answer() -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"sessions": 7}}
    verdicts = list(judge_lines(read(lines(GOOD, answer, answer)), strict(), None))
    assert [(v.sender, v.method, v.is_valid) for v in verdicts] == [
        ("client", "session/list", True),
        ("agent", "session/list", False),
        ("client", "", True),
    ]
    assert "not judged" in verdicts[2].note


def test_who_sent_a_batch_is_told_from_what_it_holds() -> None:
    info = {"name": "a", "version": "1"}
    begin = {"protocolVersion": 2, "info": info, "capabilities": {}}
    said: list[Any] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin},
        [{"jsonrpc": "2.0", "method": "_x"}, {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}],
        [{"jsonrpc": "2.0", "id": 1, "result": {"action": 7}}],
        [],
    ]
    verdicts = list(judge_lines(read(lines(*said)), strict(), None))
    assert [verdict.sender for verdict in verdicts] == ["client", "agent", "client", "client"]
    assert [problem.pointer for problem in verdicts[2].problems] == ["/0/result/action"]


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_fault() -> None:
    for form in (lines(GOOD, GOOD), recorded(*v1(), *opened())):
        content = codecs.BOM_UTF8 + form.replace(b"\n", b"\r\n")
        assert acpgen("validate", given=content).returncode == 0
    assert acpgen("validate", "--session", given=content).returncode == 0
    assert acpgen("validate", given=lines(GOOD) + codecs.BOM_UTF8 + lines(GOOD)).returncode == 1, "only at the start"


@pytest.mark.parametrize("buffered", [1, 2, 3, 7, 8192])
@pytest.mark.parametrize("blank", [b"", b" \t\r", b"   "])
def test_blank_lines_count_as_lines_however_they_lie_in_the_buffer(buffered: int, blank: bytes) -> None:
    parts = [b"", blank, b"{}", blank, blank, b" [] ", b"", b"0", *[blank] * 20, b"1 ", blank, b"  2"]
    content = b"\n".join(parts)
    found = list(recording.read_lines(io.BufferedReader(io.BytesIO(content), buffered)))
    whole = [(number, part.strip()) for number, part in enumerate(parts, 1) if part.strip()]
    assert [(line.number, line.content) for line in found] == whole
    assert [content[: line.end].count(b"\n") for line in found[:-1]] == [number for number, _ in whole[:-1]]


def test_blank_lines_are_passed_over_a_buffer_at_a_time() -> None:
    stream = mock.Mock(wraps=io.BufferedReader(io.BytesIO(b"\r\n" * 1_000_000), 1 << 16))
    assert not list(recording.read_lines(stream))
    assert stream.readline.call_count < 100


def test_after_a_line_that_is_too_long_the_monitor_concludes_nothing_from_it() -> None:
    content = recorded(*v1(), *opened(answer={"_meta": {"x": "y" * 3000}}), prompt())
    found = list(
        judge_conversation(
            recording.read_lines(io.BufferedReader(io.BytesIO(content)), longest=2000),
            validators.make_monitor(strict().values()),
        )
    )
    rules = [(verdict.line, [problem.rule for problem in verdict.problems]) for verdict in found if verdict.problems]
    assert rules == [(4, ["messages-missed"]), (5, ["request-unanswered"])]
    assert [verdict.line for verdict in found if verdict.counts_as == "not judged"] == [4]


def test_a_recording_is_judged_line_by_line_without_session_too() -> None:
    said = [*v1(), *opened(), prompt(), result("agent", "p", {"stopReason": "bored"})]
    verdicts = list(judge_lines(read(recorded(*said)), strict(), None))
    assert [verdict.is_valid for verdict in verdicts] == [True] * 5 + [False]
    assert verdicts[-1].problems[0].pointer == "/result/stopReason"


@pytest.mark.parametrize("case", tiers.sample(CASES, 20, lambda case: f"{case.rule} {case.name}".strip()))
def test_a_recorded_conversation_is_judged_by_the_monitor(case: Any) -> None:
    verdicts = list(judge_conversation(read(recorded_case(case)), validators.make_monitor(strict().values())))
    found = {problem.rule: (verdict.line, problem) for verdict in verdicts for problem in verdict.problems}
    line, problem = found[case.rule]
    assert line == (len(case.said) if case.end else len(case.said) + case.at + 1)
    since = case.at if case.end and case.earlier is None else case.earlier
    assert problem.earlier == (None if since is None else len(case.said) + since + 1)
    assert sorted(numbers(problem.requirements)) == sorted(case.requirements)


def test_the_command_tells_breaches_of_a_recording_by_line_and_exits_with_one(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(recorded_case(next(case for case in CASES if case.rule == "roots-kept")))
    ran = acpgen("validate", "--session", file)
    assert ran.returncode == 1
    assert ran.stdout.decode().startswith("6: invalid agent result session/list: must roots-kept (requirement 22): ")
    assert ran.stdout.decode().rstrip().endswith("[line 3]")
    assert b"roots-kept" in ran.stderr
    notes = tmp_path / "notes.jsonl"
    notes.write_bytes(recorded_case(next(case for case in CASES if case.rule == "result-null")))
    ran = acpgen("validate", "--session", notes, "--format", "json")
    assert ran.returncode == 0, "a note is no breach"
    assert json.loads(ran.stdout)["problems"][0]["level"] == "note"


def recorded_case(case: Any) -> bytes:
    return b"".join(
        recording.write_record(
            sender, message if isinstance(message, bytes) else json.dumps(message).encode(), "2026-11-21T12:00:00Z"
        )
        for sender, message in case.said
    )


def test_a_conversation_without_a_breach_prints_nothing_and_exits_with_zero(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(
        recorded(
            *v1(),
            *opened(),
            prompt(),
            permission(),
            result("client", "ask", {"outcome": {"outcome": "cancelled"}}),
            result("agent", "p", {"stopReason": "end_turn"}),
        )
    )
    ran = acpgen("validate", "--session", file)
    assert (ran.returncode, ran.stdout) == (0, b""), ran.stdout
    assert b"valid." in ran.stderr


def test_what_is_noted_at_the_end_counts_as_no_line() -> None:
    ran = acpgen("validate", "--session", given=recorded(*v1(), *opened(), prompt()))
    assert ran.returncode == 0
    assert ran.stdout.decode().endswith("'session/prompt' of the client was never answered [line 5]\n")
    assert ran.stderr.decode().splitlines() == ["5 lines valid.", "Notes: request-unanswered 1."]


UNKNOWN: Said = ("agent", {"jsonrpc": "2.0", "id": "init", "result": {"protocolVersion": 7}})
LATER: Said = ("client", {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": 5}})
BARE: list[Said] = [
    ("client", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 99}}),
    ("agent", {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 99}}),
]
MODE = {"sessionId": "s", "modeId": "m"}
ORPHAN: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"sessions": 7}}
GAP = b'{"from": "client", "gap": true}\n'
BOTH = [
    GOOD,
    {"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/a"}},
]


@pytest.mark.parametrize(
    ("options", "content", "counts"),
    [
        ("", b"", (0, 0)),
        ("--session", b"", (0, 0)),
        ("", b"\n \n\r\n", (0, 0)),
        ("--session --protocol acp/v1", b"\n", (0, 0)),
        ("", recorded(v1()[0], UNKNOWN), (1, 1)),
        ("--session", recorded(v1()[0], UNKNOWN), (1, 1)),
        ("", recorded(*BARE), (1, 1)),
        ("--session", recorded(*BARE), (1, 1)),
        ("", recorded(v1()[0], UNKNOWN, LATER), (1, 2)),
        ("--session", recorded(v1()[0], UNKNOWN, LATER), (1, 2)),
        ("", lines(GOOD, {**ORPHAN, "id": 2}), (1, 1)),
        ("--sender agent", lines(ORPHAN), (0, 1)),
        ("--protocol acp/v1", lines(*BOTH, ORPHAN), (2, 1)),
        ("--protocol acp/v2", lines([ORPHAN, ORPHAN]), (0, 1)),
        ("", recorded(*v1()) + GAP, (2, 1)),
        ("--session", recorded(*v1()) + GAP, (2, 1)),
        ("--session", recorded(*v1()) + GAP + recorded(("agent", ORPHAN)), (2, 2)),
        ("--protocol mcp/2025-06-18", lines({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), (0, 1)),
        ("--protocol mcp/2025-06-18 --session", recorded(*mcp({})[:3], client("tools/list", id_=9)), (3, 1)),
        ("", lines({"jsonrpc": "2.0", "method": "$/progress", "params": 7}), (0, 1)),
        ("--session", recorded(*v1(), client("$/progress", 7)), (2, 1)),
    ],
)
def test_what_is_not_judged_is_neither_valid_nor_exit_code_zero(
    options: str, content: bytes, counts: tuple[int, int]
) -> None:
    ran = acpgen("validate", *options.split(), "--format", "json", given=content)
    valid, unjudged = counts
    told = ran.stdout.decode().splitlines()
    assert ran.returncode == 1, told
    assert json.loads(told[-1]) == {"valid": valid, "invalid": 0, "not_judged": unjudged}
    assert (b"nothing was judged" if counts == (0, 0) else b"not judged") in ran.stderr
    assert b"valid." not in ran.stderr
    if "--session" not in options:
        assert [json.loads(line)["valid"] for line in told[:-1]].count(None) == unjudged
    text = acpgen("validate", *options.split(), "--allow-unjudged", given=content)
    assert text.returncode == 0, text.stdout
    assert b": invalid" not in text.stdout


WITHOUT_VERSION: list[Said] = [
    ("client", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
    ("agent", {"jsonrpc": "2.0", "id": 0, "result": {"agentCapabilities": {}}}),
]
ONLY_V1: Said = ("client", {"jsonrpc": "2.0", "id": 1, "method": "session/set_mode", "params": MODE})
BAD_IN_BOTH: Said = client("session/new", {"cwd": 5, "mcpServers": []}, id_=2)


@pytest.mark.parametrize("options", ["", "--session"])
def test_without_a_version_only_what_all_versions_say_alike_is_judged(options: str) -> None:
    ran = acpgen("validate", *options.split(), "--format", "json", given=recorded(ONLY_V1))
    assert ran.returncode == 1
    assert b'"not_judged": 1' in ran.stdout or options
    assert b"name the protocol to judge by (--protocol)" in ran.stdout
    named = acpgen("validate", *options.split(), "--protocol", "acp/v2", given=recorded(ONLY_V1))
    assert b"invalid client request session/set_mode" in named.stdout
    ran = acpgen("validate", *options.split(), given=recorded(*WITHOUT_VERSION, ONLY_V1, BAD_IN_BOTH))
    told = ran.stdout.decode()
    assert "2: invalid agent result initialize" in told
    assert "4: invalid client request session/new" in told and "/params/cwd: a string is expected, not 5" in told
    assert "3: not judged client request session/set_mode: no `initialize` has named the version" in told or options
    assert "1 not judged" in ran.stderr.decode() or options


@pytest.mark.parametrize("protocol", ["acp/v1", "acp/v2"])
@pytest.mark.parametrize("options", ["", "--session"])
def test_a_protocol_that_is_named_judges_though_the_answer_names_no_version(options: str, protocol: str) -> None:
    given = recorded(*WITHOUT_VERSION, BAD_IN_BOTH)
    ran = acpgen("validate", *options.split(), "--protocol", protocol, given=given)
    assert ran.returncode == 1
    assert b"/params/cwd: a string is expected, not 5" in ran.stdout
    assert b"not judged" not in ran.stdout + ran.stderr


def test_what_is_invalid_stays_invalid_where_something_else_is_not_judged() -> None:
    ran = acpgen("validate", "--allow-unjudged", given=lines(GOOD, BAD, {**ORPHAN, "id": 9}))
    assert ran.returncode == 1
    assert ran.stderr.decode().splitlines()[-1] == "1 line of 3 invalid, 1 not judged."
    assert ran.stdout.decode().splitlines()[-1].startswith("3: not judged client result: ")


@pytest.mark.parametrize("session", [True, False])
@pytest.mark.parametrize(
    ("protocol", "handshake", "differs"),
    [
        ("acp/v1", [v1()[0], result("agent", "init", {"agentCapabilities": {}})], False),
        ("acp/v1", [v1()[0], result("agent", "init", {"protocolVersion": 7})], True),
        ("acp/v1", [v1()[0], result("agent", "init", {"protocolVersion": 2})], True),
        ("acp/v1", v1(), False),
        ("acp/v1", [], False),
    ],
)
def test_a_protocol_that_was_named_judges_whatever_the_handshake_says(
    protocol: str, handshake: list[Said], differs: bool, session: bool
) -> None:
    new = client("session/new", {"cwd": 5, "mcpServers": []}, id_=1)
    options = ["--session"] if session else []
    ran = acpgen("validate", "--protocol", protocol, *options, given=recorded(*handshake, new))
    assert ran.returncode == 1
    assert "/params/cwd" in ran.stdout.decode().splitlines()[-1 if not session else -2]
    assert (b"version-differs" in ran.stderr) == differs


@pytest.mark.parametrize("session", [True, False])
def test_another_version_than_the_one_that_was_named_is_a_finding(session: bool) -> None:
    options = ["--session"] if session else []
    for agreed, code in (("2025-11-25", 1), ("2025-06-18", 0)):
        content = recorded(*mcp({}, agreed), ("client", {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}))
        ran = acpgen("validate", "--protocol", "mcp/2025-06-18", *options, given=content)
        assert ran.returncode == code, ran.stdout
    content = recorded(*mcp({}, "2025-11-25"), ("client", {"jsonrpc": "2.0", "id": 1, "result": {"roots": [7]}}))
    ran = acpgen("validate", "--protocol", "mcp/2025-06-18", *options, given=content)
    assert b"/result/roots/0" in ran.stdout
    assert b"'2025-11-25' was negotiated" in ran.stdout


def test_a_protocol_of_ones_own_without_a_version_is_judged_after_its_handshake(tmp_path: Path) -> None:
    schema = tmp_path / "acme.json"
    count = {"count": {"type": "integer"}}
    ping: dict[str, Any] = {"type": "object", "x-method": "ping", "x-side": "agent", "properties": count}
    begin: dict[str, Any] = {"type": "object", "x-method": "initialize", "x-side": "agent"}
    definitions = {"InitializeRequest": begin, "InitializeResponse": begin, "PingRequest": ping, "PingResponse": ping}
    schema.write_text(json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}))
    for answer in ({}, {"protocolVersion": "1.0"}):
        said = [client("initialize", {}, id_=0), result("agent", 0, answer), client("ping", {"count": "one"}, id_=1)]
        for options in ([], ["--session"]):
            ran = acpgen("validate", "--protocol", schema, *options, given=recorded(*said), cwd=tmp_path)
            assert b"3: invalid client request ping: " in ran.stdout
            assert b"/params/count: an integer is expected" in ran.stdout


TWICE = b'{"jsonrpc": "2.0", "id": 7, "method": "session/list", "params": {"cwd": "/a", "cwd": "/b"}}'


@pytest.mark.parametrize("options", [[], ["--session"], ["--protocol", "acp/v2"]])
@pytest.mark.parametrize("form", ['{"from": "client", "message": %s}', '{ "message" :%s , "from":"client"}', "%s"])
def test_a_key_that_stands_twice_is_a_finding_with_its_place(form: str, options: list[str]) -> None:
    if form == "%s" and "--session" in options:
        return
    content = (form % TWICE.decode()).encode() + b"\n"
    ran = acpgen("validate", *options, "--format", "json", given=content)
    assert ran.returncode == 1
    problems = [problem for line in ran.stdout.splitlines() for problem in json.loads(line)["problems"]]
    assert [problem["pointer"] for problem in problems if problem["rule"] == "duplicate-key"] == ["/params/cwd"]


@pytest.mark.parametrize("options", [[], ["--session"]])
def test_a_recorded_line_that_says_two_things_is_none(options: list[str]) -> None:
    good = json.dumps(GOOD)
    for content in (
        f'{{"from": "client", "from": "agent", "message": {good}}}',
        f'{{"from": "client", "message": {good}, "message": 7}}',
    ):
        ran = acpgen("validate", *options, "--format", "json", given=content.encode())
        assert ran.returncode == 1
        assert "recording" in [problem["rule"] for problem in json.loads(ran.stdout.splitlines()[0])["problems"]]


def test_a_long_name_of_a_method_is_kept_in_part() -> None:
    summary = Counts()
    summary.add(LineVerdict(1, "client", "request", "_" + "m" * 100_000))
    assert all(len(name) < 1000 for name in summary.valid)


def test_lines_that_are_no_recording_are_told_and_the_numbers_stay_those_of_the_file() -> None:
    content = lines(b"\n", b"noise\n", {"from": "nobody", "message": {}}, {"from": "client"}) + recorded(prompt())
    verdicts = list(judge_conversation(read(content), validators.make_monitor(strict().values())))
    assert [(v.line, v.problems[0].rule) for v in verdicts[:3]] == [
        (2, "recording"),
        (3, "recording"),
        (4, "recording"),
    ]
    assert {problem.rule for problem in verdicts[3].problems} == {"message-before-initialize", "session-not-open"}
    assert verdicts[3].line == 5


def test_a_line_that_is_too_long_is_passed_over_and_said_to_be() -> None:
    content = b"x" * 1000 + b"\n" + json.dumps(GOOD).encode()
    found = list(recording.read_lines(io.BufferedReader(io.BytesIO(content)), longest=100))
    assert [(line.number, line.is_whole) for line in found] == [(1, False), (2, True)]
    verdicts = list(judge_lines(found, strict(), None))
    assert [(verdict.counts_as, verdict.note) for verdict in verdicts] == [
        ("not judged", "the line is too long"),
        ("valid", ""),
    ]


def test_what_is_judged_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acpgen.messages.validate.MOST_REQUESTS", 100)

    def endless(count: int) -> Iterator[bytes]:
        for number in range(count):
            yield json.dumps({**GOOD, "id": number, "params": {"cursor": "x" * 200}}).encode() + b"\n"

    def peak(count: int) -> int:
        gc.collect()
        tracemalloc.start()
        summary = Counts()
        numbered = (recording.Line(number, line.strip(), 0) for number, line in enumerate(endless(count)))
        for verdict in judge_lines(numbered, strict(), None):
            summary.add(verdict)
            if not verdict.line % 100:
                gc.collect()  # cycles that wait for a collection are not kept
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(500)
    assert peak(2500) < 1.5 * peak(500)


def test_the_summary_stays_small_whatever_methods_are_made_up() -> None:
    summary = Counts()
    for number in range(5000):
        summary.add(LineVerdict(number, "client", "request", f"_m{number}"))
    assert len(summary.valid) <= 513
    assert summary.valid["(others)"] == 5000 - 512


def test_text_of_messages_is_shown_and_never_obeyed() -> None:
    evil: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "\x1b[2Jwipe", "params": {}}
    ran = acpgen("validate", "-", given=lines(evil))
    assert b"\x1b" not in ran.stdout + ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_verdicts_that_cannot_be_written_are_a_fault_of_one_line() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "acpgen", "validate"],
            input=lines(GOOD) * 20_000,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment,
        )
    assert ran.returncode == 2
    first, *rest = ran.stderr.decode().splitlines()
    assert first.startswith("error: standard output: ")
    assert "Traceback" not in "".join(rest)


def test_a_progress_bar_on_the_terminal_leaves_the_verdicts_where_they_go(tmp_path: Path) -> None:
    """The bar appears after a second; the verdicts go to a file before and after."""
    if not hasattr(os, "openpty"):
        pytest.skip("there are no terminals here")
    terminal, screen = os.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator"), "TERM": "xterm"}
    with (tmp_path / "verdicts").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "acpgen", "validate"],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=screen,
            env=environment,
        )
        os.close(screen)
        assert process.stdin is not None
        shown = b""
        while b"line" not in shown:
            for _ in range(100):
                process.stdin.write(lines(GOOD))
            process.stdin.flush()
            time.sleep(0.05)
            if select.select([terminal], [], [], 0)[0]:
                shown += os.read(terminal, 4096)
        for _ in range(100):
            process.stdin.write(lines(GOOD))
        process.stdin.close()
        assert process.wait(60) == 0
    os.close(terminal)
    verdicts = (tmp_path / "verdicts").read_text().splitlines()
    assert len(verdicts) % 100 == 0
    assert verdicts == [f"{number}: ok client request session/list" for number in range(1, len(verdicts) + 1)]


@cache
def strict() -> dict[Any, Any]:
    return {
        one.contract.version: one for one in (validators.read_strict(validators.find(name)) for name in validators.ACP)
    }


def read(content: bytes) -> Iterator[recording.Line]:
    return recording.read_lines(io.BufferedReader(io.BytesIO(content)))
