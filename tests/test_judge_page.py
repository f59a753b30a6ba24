"""The judge of the page that judges messages: run by Node.js, against what Python makes of the same vectors, schemas and conversations."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import evidence
import javascript
from acpgen import embedded, publish, resources
from acpgen.messages import recording, validators
from acpgen.publish import validation_page
from monitor.cases import CASES, MCP_CASES
from monitor.quiet import QUIET
from monitor.scripts import Said
from published import PROTOCOLS, versions

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "templates" / "docs" / "site" / "docs" / "assets" / "judge.js"

RUN = """
const judge = require(process.argv[1]);
require(process.argv[2]);
const task = JSON.parse(require("fs").readFileSync(0, "utf8"));
const made = {};
const protocol = (name) => made[name] ??= new judge.Protocol(globalThis.acpProtocols[name]);
const WORK = {
  vector({ protocol: name, row }) {
    const { module } = globalThis.acpProtocols[name];
    const text = row.text ?? JSON.stringify(row.message);
    return module.validate(text, { sender: row.sender, pending: () => row.method }).length ? "invalid" : "valid";
  },
  conversation({ protocol: name, lines }) {
    const told = new judge.Conversation(protocol(name));
    return lines.map((line) => told.line(line));
  },
  example({ protocol: name }) { return globalThis.acpProtocols[name].example; },
  version({ lines, known }) { return judge.versionOf(lines, known) ?? null; },
};
process.stdout.write(JSON.stringify(task.map((one) => WORK[one.work](one))));
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the page loads for each protocol, in one file."""
    path = tmp_path_factory.mktemp("judge") / "protocols.js"
    path.write_text("".join(publish.make_scripts(versions()).values()), "utf-8")
    return path


def judged(data: Path, work: Sequence[dict[str, Any]]) -> list[Any]:
    """What the page makes of each task."""
    try:
        command = [javascript.node(), "-e", RUN, str(SCRIPT), str(data)]
    except javascript.Unreachable as reason:
        evidence.lack(str(reason))
    ran = subprocess.run(command, input=json.dumps(work), capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    found: list[Any] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_vector_gets_the_verdict_that_json_schema_gives_it(name: str, data: Path) -> None:
    folder = ROOT / "generated" / "vectors" / name
    rows = [
        json.loads(line)
        for path in sorted((folder / "methods").glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    found = judged(data, [{"work": "vector", "protocol": name, "row": row} for row in rows])
    wrong = [
        (row["id"], verdict) for row, verdict in zip(rows, found, strict=True) if (verdict == "valid") != row["valid"]
    ]
    assert not wrong, wrong[:10]
    assert len(rows) > 100


def lines(said: Sequence[Said]) -> list[str]:
    return [
        recording.write_record(
            who, message if isinstance(message, bytes) else json.dumps(message).encode(), ""
        ).decode()
        for who, message in said
    ]


@cache
def strict(name: str) -> Any:
    return validators.read_strict(validators.find(name))


def heard(name: str, said: Sequence[Said]) -> list[tuple[bool, bool]]:
    """Of each line, whether the monitor finds a rule of the page broken in it, and whether it finds a reason why the schema refuses it.

    The page keeps to the schema: the monitor has a rule of its own for roots, and only notes what other releases have.
    """
    monitor = validators.make_monitor([strict(name)], fixed=True)
    found: list[tuple[bool, bool]] = []
    for who, message in said:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        breaches = monitor.observe(who, line)
        broken = {breach.rule for breach in breaches if breach.level != "note"} & {*validation_page.RULES}
        excused = {breach.rule for breach in breaches} & {*validation_page.RULES, "roots-malformed", "only-unstable"}
        found.append((bool(broken), bool(broken or excused)))
    return found


def spoken(said: Sequence[Said]) -> str:
    """The protocol of a conversation of the monitor's tests."""
    text = json.dumps([message for _, message in said if not isinstance(message, bytes)])
    return "acp/v2" if '"protocolVersion": 2' in text else "acp/v1"


def test_the_rules_of_the_page_are_the_rules_of_the_monitor_that_the_script_names() -> None:
    script = (resources.locate_templates() / "docs/site/docs/assets/judge.js").read_text("utf-8")
    assert set(validation_page.RULES) == {rule for rule in embedded.monitor.RULES if f'"{rule}"' in script}


def test_conversations_that_break_a_rule_are_wrong_where_the_monitor_says_so_and_nowhere_else(data: Path) -> None:
    said = [
        *((spoken(case.said), case.said) for case in CASES),
        *(("mcp/2025-06-18", case.said) for case in MCP_CASES),
    ]
    work = [{"work": "conversation", "protocol": name, "lines": lines(each)} for name, each in said]
    count = 0
    for (name, each), verdicts in zip(said, judged(data, work), strict=True):
        for one, (is_wrong, may_be), verdict in zip(each, heard(name, each), verdicts, strict=True):
            assert is_wrong <= bool(verdict["problems"]) <= may_be, (name, one, verdict)
            count += is_wrong
    assert count > 50


def test_a_quiet_conversation_has_no_line_that_is_wrong(data: Path) -> None:
    said = [(spoken(each), each) for each in QUIET.values()]
    work = [{"work": "conversation", "protocol": name, "lines": lines(each)} for name, each in said]
    for (name, each), verdicts in zip(said, judged(data, work), strict=True):
        told = zip(each, heard(name, each), verdicts, strict=True)
        wrong = [(one, verdict) for one, (_, may_be), verdict in told if verdict["verdict"] == "invalid" and not may_be]
        assert not wrong, wrong


def lines_of(*values: Any) -> list[str]:
    return [value if isinstance(value, str) else json.dumps(value) for value in values]


def test_hostile_lines_are_wrong_or_not_judged_and_end_nothing(data: Path) -> None:
    call: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "session/new",
        "params": {"cwd": "/", "mcpServers": []},
    }
    hostile = lines_of(
        "[" * 100_000,
        '{"a":' * 5000 + "1" + "}" * 5000,
        "1e999",
        '"\\ud800"',
        '{"from": "client", "message": 1, "message": 2}',
        '{"from": "moon", "message": {}}',
        '{"from": "client", "gap": true}',
        '{"__proto__": {"method": "x"}, "jsonrpc": "2.0"}',
        "\ufeff{}",
        call,
    )
    (verdicts,) = judged(data, [{"work": "conversation", "protocol": "acp/v1", "lines": hostile}])
    assert [each["verdict"] for each in verdicts[:-1]].count("valid") == 0
    assert verdicts[-1]["verdict"] == "valid"


def test_of_plain_messages_the_sender_is_told_by_the_method_and_answers_follow_their_requests(data: Path) -> None:
    messages = lines_of(
        {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
        {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": 7}},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
    )
    (verdicts,) = judged(data, [{"work": "conversation", "protocol": "acp/v1", "lines": messages}])
    assert [each["verdict"] for each in verdicts] == ["valid", "invalid", "not judged"]
    assert [each.get("sender") for each in verdicts] == ["client", "agent", None]
    assert verdicts[1]["problems"][0]["at"] == "/result/sessionId"


def test_the_protocol_is_the_one_that_initialize_agrees_on(data: Path) -> None:
    known = {"acp/v1": 1, "acp/v2": 2, "mcp/2025-06-18": "2025-06-18"}
    asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 2}}
    answered = {"from": "agent", "message": {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}}
    work = [
        {"work": "version", "known": known, "lines": lines_of("no JSON", asked, answered)},
        {"work": "version", "known": known, "lines": lines_of(asked)},
        {"work": "version", "known": known, "lines": lines_of({"jsonrpc": "2.0", "method": "x"})},
    ]
    assert judged(data, work) == ["acp/v1", "acp/v2", None]


def test_the_example_of_each_protocol_is_right(data: Path) -> None:
    examples = judged(data, [{"work": "example", "protocol": name} for name in PROTOCOLS])
    work = [
        {"work": "conversation", "protocol": name, "lines": example.splitlines()}
        for name, example in zip(PROTOCOLS, examples, strict=True)
    ]
    for verdicts in judged(data, work):
        assert len(verdicts) >= 2
        assert {each["verdict"] for each in verdicts} == {"valid"}
