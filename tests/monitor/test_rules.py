"""The monitor names what is broken, where, since when and by which requirement, and nothing else."""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tiers
from acp_monitor import bounded, paths
from acpgen import embedded
from acpgen.input.walk import is_array, is_object
from acpgen.messages import validators
from acpgen.messages.redaction import Redactor
from monitor.cases import CASES, MCP_CASES
from monitor.quiet import QUIET, QUIET_MCP
from monitor.scripts import (
    Case,
    Said,
    agent,
    client,
    error,
    info,
    listed,
    mcp,
    numbers,
    opened,
    permission,
    prompt,
    read,
    result,
    v1,
)

ROOT = Path(__file__).parents[2]
RULES = embedded.monitor.RULES
JUNK: tuple[Any, ...] = (
    *(None, True, 7, 1.5, "", "s", [], {}, [[]], {"sessionId": []}, "x" * 3000, -1, ["/a"], {"a": {}}),
)
FOLLOW = {"request-unanswered", "not-judged"}
"""Notes at the end of a conversation that is cut off, or that was not judged to its end."""


@cache
def strict(*protocols: str) -> tuple[Any, ...]:
    return tuple(validators.read_strict(validators.find(protocol)) for protocol in protocols)


def monitor(case: Case) -> Any:
    return fixed("mcp/2025-06-18") if case in MCP_CASES else embedded.monitor.Monitor(strict(*validators.ACP))


def fixed(*protocols: str) -> Any:
    return validators.make_monitor(strict(*protocols), fixed=True)


def hear(monitor: Any, said: Said) -> tuple[Any, ...]:
    sender, message = said
    line = message if isinstance(message, bytes) else json.dumps(message).encode()
    found: tuple[Any, ...] = monitor.observe(sender, line)
    return found


def named(case: Case) -> str:
    return f"{case.rule}: {case.name}" if case.name else case.rule


@pytest.mark.parametrize("case", [*CASES, *MCP_CASES], ids=named)
def test_a_breach_is_named_at_its_place_with_its_cause_and_nothing_is_said_before(case: Case) -> None:
    listener, found = monitor(case), list[Any]()
    wanted = len(case.said) + case.at
    for index, said in enumerate(case.said):
        heard = hear(listener, said)
        assert index >= wanted or {breach.rule for breach in heard} <= case.others, (index, *map(str, heard))
        found += heard
    ended = list(listener.finish())
    breaches = [breach for breach in (ended if case.end else found) if breach.rule == case.rule]
    assert breaches, [str(breach) for breach in found + ended]
    for breach in breaches:
        assert breach.index == wanted, str(breach)
        assert breach.pointer == case.pointer or breach.pointer.startswith(f"{case.pointer}/"), str(breach)
        assert sorted(numbers(breach.requirements)) == sorted(case.requirements), str(breach)
        assert breach.earlier == (None if case.earlier is None else len(case.said) + case.earlier), str(breach)
        assert breach.level == (case.level or RULES[case.rule].level)
        assert len(str(breach)) < 700
    others = {breach.rule for breach in found + ended} - {case.rule} - case.others - FOLLOW
    assert not others, [str(breach) for breach in found + ended if breach.rule in others]


def test_every_rule_fires_in_a_case_of_its_own() -> None:
    assert {case.rule for case in (*CASES, *MCP_CASES)} == set(RULES)


def test_a_request_that_gives_a_key_twice_may_be_refused_as_such() -> None:
    listener = embedded.monitor.Monitor(strict(*validators.ACP))
    twice = ("client", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"_acme/x"}')
    found = [breach for said in [*v1(), twice, error("agent", 2, -32600)] for breach in hear(listener, said)]
    assert [breach.rule for breach in found] == ["duplicate-key"]


@pytest.mark.parametrize("stray", [b"}{", b'{"jsonrpc":"2.0","id":6.5,"method":"session/list"}'])
def test_an_error_that_answers_an_unreadable_line_answers_no_request_whose_id_is_null(stray: bytes) -> None:
    listener = monitor(CASES[0])
    asked = ("client", b'{"jsonrpc":"2.0","id":null,"method":"session/list","params":{}}')
    answers = [error("agent", None, -32600), result("agent", None, {"sessions": []})]
    found = [breach for said in [*v1(), asked, ("client", stray), *answers] for breach in hear(listener, said)]
    assert {breach.sender for breach in found} == {"client"}
    assert not [breach for breach in listener.finish() if breach.level != "note"]


@pytest.mark.parametrize("name", [*QUIET, *QUIET_MCP])
def test_nothing_is_said_where_nobody_does_anything_wrong(name: str) -> None:
    protocols = strict("mcp/2025-06-18") if name in QUIET_MCP else strict(*validators.ACP)
    listener = embedded.monitor.Monitor(protocols)
    found = [breach for said in {**QUIET, **QUIET_MCP}[name] for breach in hear(listener, said)]
    breaches = [breach for breach in (*found, *listener.finish()) if breach.level != "note"]
    assert not breaches, "\n".join(map(str, breaches))


TOLD_OF_TEXT = (
    *("paths of one platform have several spellings", "choices of every kind", "patches with absolute paths"),
    *("icons to be fetched", "questions one after another", "a terminal keeps what it may keep"),
    *("roots are listed in another spelling", "a source is given other roots while it is forked"),
    "stopReason of an extension",
)
"""Conversations in which rules look at texts that a redacted recording does not have."""
CONVERSATIONS = {**QUIET, **{named(case): case.said for case in CASES}}
SAMPLE = {*TOLD_OF_TEXT, *tiers.draw(CONVERSATIONS, 9)}


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in SAMPLE else pytest.mark.exhaustive) for one in CONVERSATIONS]
)
def test_what_is_said_of_a_redacted_recording_is_said_of_the_conversation_too(name: str) -> None:
    listener = embedded.monitor.Monitor(strict(*validators.ACP))
    found = [breach for said in CONVERSATIONS[name] for breach in hear(listener, said)]
    unread = {breach.index for breach in found if breach.rule == "not-json"}
    known = {(one.rule, one.index) for one in (*found, *listener.finish())}
    redacted = [one for one in judge_redacted(CONVERSATIONS[name]) if one.index not in unread]
    assert {(one.rule, one.index) for one in redacted} <= known, "\n".join(map(str, redacted))


def test_a_message_whose_id_was_redacted_is_not_judged_and_nothing_is_concluded_from_it() -> None:
    said = [*opened(), client("session/close", {"sessionId": "s"}, id_="new"), result("agent", "new", {})]
    assert {breach.rule for breach in judge_redacted(said, "^(new|init)$")} == {"not-judged"}


def judge_redacted(said: Iterable[Said], *patterns: str) -> list[Any]:
    """What the monitor says of a conversation that was recorded with `--redact`."""
    redactor = Redactor(patterns, lambda: strict(*validators.ACP))
    listener, found = embedded.monitor.Monitor(strict(*validators.ACP)), list[Any]()
    for sender, message in said:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        found += listener.observe(sender, redactor.redact_line(sender, line))
    return [*found, *listener.finish()]


def test_a_directory_that_is_no_absolute_path_says_nothing_about_files() -> None:
    listener = embedded.monitor.Monitor(strict(*validators.ACP))
    said = [*v1(), *opened(cwd="tide"), read("/srv/a"), result("client", "r", {"content": ""})]
    assert {breach.rule for one in said for breach in hear(listener, one)} == {"params-malformed"}


@pytest.mark.parametrize("code", [-32602, -32000])
def test_an_agent_may_ask_for_a_login_before_it_looks_at_roots(code: int) -> None:
    listener = monitor(CASES[0])
    new = client("session/new", {"cwd": "/a", "mcpServers": [], "additionalDirectories": ["b"]}, id_=1)
    found = [breach for said in (*v1(), new, error("agent", 1, code)) for breach in hear(listener, said)]
    assert [(breach.rule, breach.sender) for breach in found] == [("roots-malformed", "client")]


def test_a_number_with_a_fraction_of_zero_is_the_integer_that_it_is_in_json() -> None:
    listener = monitor(CASES[0])
    refusal = ("agent", b'{"jsonrpc":"2.0","id":7,"error":{"code":-32601.0,"message":"no"}}')
    said = (*v1(), client("_acme/x", {}, id_=7), refusal)
    assert [breach.rule for one in said for breach in hear(listener, one)] == []


def test_what_is_left_open_is_told_of_the_side_that_asked() -> None:
    listener = monitor(CASES[0])
    for said in (*v1(), *opened(), permission()):
        hear(listener, said)
    (note,) = listener.finish()
    assert (note.sender, note.method, note.index) == ("agent", "session/request_permission", 4)


def test_every_name_of_a_breach_is_a_rule_or_a_remark_that_is_explained() -> None:
    sources = [*Path(bounded.__file__).parent.glob("*.py"), Path(validators.__file__)]
    calls = [
        node for file in sources for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)
    ]
    named = {
        call.args[0].value
        for call in calls
        if ast.unparse(call.func).rpartition(".")[2] in ("Breach", "_make_remark")
        and isinstance(call.args[0], ast.Constant)
    }
    assert named == set(embedded.monitor.REMARKS)
    assert not named & set(RULES)


def test_every_rule_says_what_it_is_about() -> None:
    for name, rule in RULES.items():
        assert rule.id == name == rule.check.__name__.replace("_", "-")
        assert rule.doc[0].isupper() or rule.doc.startswith("`")
        assert rule.doc.endswith("."), name
        assert all(1 <= number <= 113 for number in numbers(rule.requirements))


@pytest.mark.parametrize("seed", tiers.sample(range(40), 15))
def test_no_order_of_messages_makes_the_monitor_raise(seed: int) -> None:
    chance = random.Random(seed)
    pool = [said for case in CASES for said in case.said]
    listener = monitor(CASES[0])
    for _ in range(300):
        sender, message = chance.choice(pool)
        if chance.random() < 0.2:
            sender = chance.choice(["client", "agent"])
        if chance.random() < 0.3 and not isinstance(message, bytes):
            message = damaged(message, chance)
        hear(listener, (sender, message))
        if chance.random() < 0.01:
            listener.lose()
    listener.finish()


def damaged(value: Any, chance: random.Random) -> Any:
    """The value with one place of it replaced by something else."""
    if is_object(value) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        return {**value, key: damaged(value[key], chance)}
    if is_array(value) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        return [damaged(item, chance) if index == place else item for index, item in enumerate(value)]
    return chance.choice(JUNK)


def test_after_a_gap_nothing_is_concluded_from_what_was_not_seen() -> None:
    for case in CASES:
        listener = monitor(case)
        (note,) = listener.lose()
        assert note.level == "note"
        for said in case.said[-1:]:
            rules = {breach.rule for breach in hear(listener, said)}
            assert not rules & {
                *("response-without-request", "session-not-open", "message-before-initialize", "terminal-not-open"),
                *("cancel-of-unknown-request",),
            }, (named(case), rules)


def test_what_the_monitor_remembers_is_bounded() -> None:
    listener = monitor(CASES[0])
    for said in CASES[0].said[:2]:
        hear(listener, said)
    long = "x" * 10_000
    for number in range(bounded.MAX_REQUESTS + 500):
        hear(
            listener,
            (
                "client",
                {
                    "jsonrpc": "2.0",
                    "id": f"{long}{number}",
                    "method": "session/new",
                    "params": {"cwd": "/a", "mcpServers": []},
                },
            ),
        )
    connection = listener._connection
    assert len(connection.pending["client"]) == bounded.MAX_REQUESTS
    assert all(len(name) <= 257 for name in connection.pending["client"]._entries)
    assert not hear(listener, ("agent", {"jsonrpc": "2.0", "id": f"{long}0", "result": {"sessionId": "s"}}))
    for number in range(bounded.MAX_SESSIONS + 100):
        new: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "session/new",
            "params": {"cwd": "/a", "mcpServers": []},
        }
        hear(listener, ("client", new))
        hear(listener, ("agent", {"jsonrpc": "2.0", "id": number, "result": {"sessionId": f"s{number}"}}))
    assert len(connection.sessions) == bounded.MAX_SESSIONS
    late = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s0"}}
    assert not hear(listener, ("client", late)), "a forgotten session is not said to be unknown"


LONG = "x" * 1_000_000


def held(said: Iterable[Said], listener: Any) -> int:
    """The bytes that a monitor holds after a conversation, which is made as it goes."""
    tracemalloc.start()
    for one in said:
        hear(listener, one)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size


@pytest.mark.parametrize(
    "params",
    [
        {"cwd": LONG, "mcpServers": []},
        {"sessionId": LONG, "cwd": "/a", "mcpServers": []},
        {"cwd": "/a", "mcpServers": [], "additionalDirectories": [f"/{LONG}"]},
        {"sessionId": "s", "path": f"/{LONG}"},
    ],
    ids=["cwd", "session", "roots", "path"],
)
@pytest.mark.parametrize(
    "method",
    [
        "session/load",
        pytest.param("fs/read_text_file", marks=pytest.mark.exhaustive),
        f"_{LONG}",
        pytest.param("session/request_permission", marks=pytest.mark.exhaustive),
    ],
)
def test_long_texts_of_open_requests_are_not_kept(method: str, params: dict[str, Any]) -> None:
    listener = monitor(CASES[0])
    for said in v1():
        hear(listener, said)
    requests = (("client", {"jsonrpc": "2.0", "id": n, "method": method, "params": params}) for n in range(20))
    assert held(requests, listener) < 1_000_000
    assert all(len(str(breach)) < 1000 for breach in listener.finish())


def test_what_is_too_long_to_be_kept_is_said_and_never_counts_as_judged() -> None:
    listener = monitor(CASES[0])
    for said in v1():
        hear(listener, said)
    for params, field in (
        ({"cwd": f"/{LONG}"}, "'cwd'"),
        ({"cwd": "/a", "additionalDirectories": [f"/{LONG}"]}, "additionalDirectories"),
    ):
        assert not hear(listener, client("session/new", {"mcpServers": [], **params}, id_=field))
        assert field in listener.unjudged
    assert [note.rule for note in listener.finish()].count("not-judged") == 2


def test_ids_that_are_long_are_told_from_one_another() -> None:
    listener = monitor(CASES[0])
    for said in (*v1(), *opened(f"{LONG}a")):
        hear(listener, said)
    assert not hear(listener, prompt(session=f"{LONG}a"))
    assert [breach.rule for breach in hear(listener, prompt(session=f"{LONG}b", id_=2))] == ["session-not-open"]
    assert not hear(listener, client("session/cancel", {"sessionId": f"{LONG}a"}))
    (breach,) = hear(listener, error("agent", "p", -32603))
    assert breach.rule == "cancelled-prompt-failed", "the turn of this session was cancelled"


def crowd(sessions: int, options: int, values: int) -> Iterator[Said]:
    for number in range(sessions):
        offered = [
            {
                "id": f"o{option}",
                "name": "o",
                "type": "select",
                "currentValue": "v",
                "options": [{"value": f"{number} {option} {value}", "name": "v"} for value in range(values)],
            }
            for option in range(options)
        ]
        yield from opened(f"s{number}", id_=number, answer={"configOptions": offered})


def test_options_of_many_sessions_take_little_room() -> None:
    listener = monitor(CASES[0])
    for said in v1():
        hear(listener, said)
    assert held(crowd(10, 50, 40), listener) < 2_000_000
    assert not listener.unjudged
    for value, rules in (("3 4 5", []), ("3 4 x", ["config-option-not-offered"])):
        wanted = {"sessionId": "s3", "configId": "o4", "value": value}
        found = hear(listener, client("session/set_config_option", wanted, id_=f"set {value}"))
        assert [breach.rule for breach in found] == rules


def test_sessions_for_which_there_is_no_room_are_let_go_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[f"{embedded.monitor.__name__}.bounded"], "MAX_BYTES", 100_000)
    listener = monitor(CASES[0])
    reasons: set[str] = set()
    for said in (*v1(), *crowd(20, 10, 50)):
        hear(listener, said)
        reasons.add(listener.unjudged)
    assert any("more sessions than are kept" in reason for reason in reasons)
    assert not hear(listener, prompt(session="s0")), "what was let go is not said to be unknown"
    assert [note.rule for note in listener.finish() if note.rule == "not-judged"]


def test_all_tables_of_a_connection_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[f"{embedded.monitor.__name__}.bounded"], "MAX_BYTES", 400_000)
    listener = monitor(CASES[0])
    wide = "\U0001f600" * 250
    for said in v1():
        hear(listener, said)

    def filling() -> Iterator[Said]:
        for number in range(300):
            name = f"{number}{wide}"
            yield from opened(name, id_=f"new {name}")
            yield ("client", {"jsonrpc": "2.0", "id": f"open {name}", "method": "_x", "params": {}})
            yield ("agent", {"jsonrpc": "2.0", "id": f"open {name}", "method": "_x", "params": {}})
            update: dict[str, Any] = {
                "sessionUpdate": "tool_call_update",
                "toolCallId": name,
                "capabilities": {"cancel": {}},
            }
            yield (
                "agent",
                {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": name, "update": update}},
            )

    assert held(filling(), listener) < 1_200_000
    connection = listener._connection
    assert connection.sessions.evicted and connection.pending["client"].evicted and connection.pending["agent"].evicted
    assert not hear(listener, prompt(session=f"0{wide}", id_=1)), "what was let go is not said to be unknown"


def test_what_is_written_again_or_taken_out_gives_its_bytes_back() -> None:
    budget = bounded.MemoryBudget()
    one: bounded.BoundedTable[str, str] = bounded.BoundedTable(3, len, budget=budget)
    other: bounded.BoundedTable[str, str] = bounded.BoundedTable(3, len, budget=budget)
    for value in ("a" * 100, "a"):
        one["x"] = value
    other["y"] = "b"
    assert budget.used == one.used + other.used < 1000
    one.pop("x")
    other.clear()
    assert budget.used == one.used == other.used == 0


def test_the_place_of_a_breach_is_cut_where_it_is_very_long() -> None:
    listener = monitor(CASES[0])
    for said in v1():
        hear(listener, said)
    found = hear(listener, client("session/new", {"cwd": "/a", "mcpServers": [], LONG: 1}, id_=1))
    assert found and all(len(breach.pointer) < 1000 and len(str(breach)) < 2000 for breach in found)


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        (
            {"modes": {"currentModeId": "0", "availableModes": [{"id": str(n), "name": "m"} for n in range(1100)]}},
            "mode",
        ),
        (
            {
                "configOptions": [
                    {
                        "id": "o",
                        "name": "o",
                        "type": "select",
                        "currentValue": "0",
                        "options": [{"value": str(n), "name": "v"} for n in range(20_000)],
                    }
                ]
            },
            "option",
        ),
    ],
    ids=["modes", "options"],
)
def test_what_is_offered_beyond_what_is_kept_is_not_said_to_be_missing(answer: dict[str, Any], asked: str) -> None:
    listener = monitor(CASES[0])
    for said in (*v1(), *opened(answer=answer)):
        hear(listener, said)
    assert listener.unjudged
    wanted = {"modeId": "1099"} if asked == "mode" else {"configId": "o", "value": "19999"}
    method = "session/set_mode" if asked == "mode" else "session/set_config_option"
    for said in (*opened(method="session/resume", id_=8), client(method, {"sessionId": "s", **wanted}, id_=9)):
        assert not hear(listener, said)


def test_a_login_beyond_the_methods_that_are_kept_is_not_said_to_be_missing() -> None:
    listener = monitor(CASES[0])
    for said in v1(authMethods=[{"id": str(number), "name": "m"} for number in range(1100)]):
        hear(listener, said)
    assert listener.unjudged
    assert not hear(listener, client("authenticate", {"methodId": "1099"}, id_=1))


def test_ids_of_text_and_numbers_are_apart_and_each_side_has_its_own() -> None:
    listener = monitor(CASES[0])
    for said in CASES[0].said[:2]:
        hear(listener, said)
    for name in (1, "1", 2, "2"):
        assert not hear(listener, ("client", {"jsonrpc": "2.0", "id": name, "method": "_x"}))
        assert not hear(listener, ("agent", {"jsonrpc": "2.0", "id": name, "method": "_x"}))
    (breach,) = hear(listener, ("client", {"jsonrpc": "2.0", "id": 1, "method": "_x"}))
    assert breach.rule == "id-in-use"


def test_a_sender_that_the_protocol_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="server"):
        monitor(CASES[0]).observe("server", b"{}")


def test_pending_version_two_is_judged_as_such_before_the_answer_comes() -> None:
    listener = monitor(CASES[0])
    asked = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {}}
    assert not hear(listener, ("client", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}))
    assert listener.version == 2
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {}}}
    assert not hear(listener, ("agent", answer))
    assert listener.version == 1


def test_the_monitor_of_the_distribution_knows_the_versions_of_the_installed_bindings() -> None:
    code = (
        "from acp_monitor import Monitor\n"
        "monitor = Monitor()\n"
        "for breach in monitor.observe('client', b'7'): print(breach)\n"
        "print(monitor.finish(), monitor.version)\n"
    )
    paths = [ROOT / "generator/acp-monitor", ROOT / "generated/python/acp-bindings"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    first, last = ran.stdout.splitlines()
    assert first.startswith("must: message 0 from the client: envelope-malformed (requirement acp/v1/")
    assert last == "() 1"


def begun(version: Any) -> list[Said]:
    """The handshake of version 1 with this in the place of the version in its answer."""
    answer: dict[str, Any] = {"agentCapabilities": {}}
    answer |= {} if version is None else {"protocolVersion": version}
    return [v1()[0], result("agent", "init", answer)]


@pytest.mark.parametrize("code", [-32600, -32700])
def test_a_request_that_is_refused_without_an_id_is_answered(code: int) -> None:
    listener = monitor(CASES[0])
    for said in (*v1(), *opened(), prompt(), error("agent", None, code)):
        assert not hear(listener, said)
    assert not listener.finish()


@pytest.mark.parametrize("wrong", [{"id": 1.5}, {"jsonrpc": "1.0", "id": 7}])
def test_an_extension_that_is_no_request_may_be_refused_as_such(wrong: dict[str, Any]) -> None:
    listener = monitor(CASES[0])
    for said in v1():
        assert not hear(listener, said)
    asked: dict[str, Any] = {"jsonrpc": "2.0", "method": "_acme.dev/x", "params": {}, **wrong}
    assert hear(listener, ("client", asked))
    assert not [each for each in hear(listener, error("agent", wrong["id"], -32600)) if "extension" in each.rule]


@pytest.mark.parametrize(
    ("roots", "words"), [({}, "outside the only root"), ({"additionalDirectories": ["/more"]}, "outside the 2 roots")]
)
def test_roots_that_a_fork_takes_over_are_counted(roots: dict[str, Any], words: str) -> None:
    listener = monitor(CASES[0])
    asked = agent("fs/read_text_file", {"sessionId": "f", "path": "/elsewhere"}, id_="r")
    fork = opened("f", id_="fork", method="session/fork", source="s")
    for said in (*v1(), *opened(**roots), *fork, asked):
        assert not [each for each in hear(listener, said) if each.level == "must"]
    (found,) = hear(listener, result("client", "r", {"content": ""}))
    assert (found.rule, words in found.sentence) == ("file-access-outside-roots", True)


def test_which_of_two_requests_is_refused_without_an_id_is_left_open() -> None:
    listener = monitor(CASES[0])
    for said in (*v1(), *opened(), prompt(), prompt(id_=2), error("agent", None, -32600)):
        assert not hear(listener, said)
    notes = listener.finish()
    assert [(note.level, note.rule, note.earlier) for note in notes] == [("note", "request-unanswered", 6)] * 2
    assert all("without an id" in note.sentence for note in notes)


def test_a_refusal_without_an_id_goes_to_the_line_that_was_no_message() -> None:
    listener = monitor(CASES[0])
    for said in (*v1(), *opened(), prompt(), ("client", b"{"), error("agent", None, -32700)):
        hear(listener, said)
    assert [note.rule for note in listener.finish()] == ["request-unanswered"]


def test_after_a_gap_nothing_is_said_of_the_roots_of_a_fork() -> None:
    listener = monitor(CASES[0])
    listener.lose()
    said = [*opened("f", method="session/fork", source="s"), *listed(info("f", additionalDirectories=["/z"]))]
    assert not [breach for one in said for breach in hear(listener, one)]


def test_of_keys_that_stand_twice_the_last_counts_and_nobody_else_is_blamed() -> None:
    listener = monitor(CASES[0])
    asked = b'{"jsonrpc":"2.0","id":1,"id":2,"method":"session/list","params":{}}'
    found = [breach for said in (*v1(), ("client", asked)) for breach in hear(listener, said)]
    assert [(breach.rule, breach.level, breach.pointer) for breach in found] == [("duplicate-key", "must", "/id")]
    assert not hear(listener, result("agent", 2, {"sessions": []}))
    assert not listener.finish()


BAD: Said = client("session/new", {"cwd": 5, "mcpServers": []}, id_="bad")


def test_what_is_of_an_unknown_version_is_not_judged_and_that_is_said() -> None:
    listener = monitor(CASES[0])
    asked, answered = begun(7)
    hear(listener, asked)
    assert not listener.unjudged
    assert [breach.rule for breach in hear(listener, answered)] == ["version-unknown"]
    assert "no schema is known" in listener.unjudged
    for said in (BAD, client("_x"), error("agent", "bad", -32602)):
        assert not hear(listener, said)
        assert "no schema is known" in listener.unjudged
    (note,) = listener.finish()
    assert (note.rule, note.level, note.index) == ("not-judged", "note", 1)
    assert note.sentence.startswith("4 messages were not judged, or only in part, from this one on: ")


@pytest.mark.parametrize("version", [None, "1", True, {}, [1], 1.0])
def test_a_handshake_that_names_no_version_leaves_the_one_that_was_asked_for(version: Any) -> None:
    listener = monitor(CASES[0])
    for said in begun(version):
        hear(listener, said)
    assert [breach.pointer for breach in hear(listener, BAD)] == ["/params/cwd"]
    assert not listener.unjudged


@pytest.mark.parametrize("version", [None, 2, 7, "x"])
def test_a_protocol_that_was_named_judges_whatever_version_is_agreed_on(version: Any) -> None:
    listener = fixed("acp/v1")
    found = [breach.rule for said in begun(version) for breach in hear(listener, said)]
    assert ("version-differs" in found) == isinstance(version, int)
    assert [breach.pointer for breach in hear(listener, BAD)] == ["/params/cwd"]
    assert not listener.unjudged


def test_what_an_unknown_version_has_at_its_beginning_is_no_breach_of_a_known_one() -> None:
    listener = monitor(CASES[0])
    asked = client("initialize", {"protocolVersion": 99, "clientCapabilities": "all"}, id_=0)
    for said in (asked, result("agent", 0, {"protocolVersion": 99, "agentCapabilities": "all"})):
        assert [breach.rule for breach in hear(listener, said) if breach.level != "note"] == []
        assert listener.unjudged


def test_rules_of_the_other_version_are_not_asked_about_requests_and_answers() -> None:
    listener = monitor(CASES[0])
    asked: dict[str, Any] = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "t"},
        "options": [],
        "title": " ",
        "subject": {"type": "x"},
    }
    heard = [*v1(), *opened(), agent("session/request_permission", asked, id_="ask"), error("client", "ask", -32603)]
    found = {breach.rule for said in heard for breach in hear(listener, said)}
    assert not found & {name for name, rule in RULES.items() if rule.protocols == ("acp/v2",)}, found


def test_methods_of_mcp_that_the_schema_does_not_hold_are_not_judged() -> None:
    listener = fixed("mcp/2025-06-18")
    for said in mcp({}):
        hear(listener, said)
    for said in (client("tools/list", {}, id_=7), result("server", 7, {"tools": []})):
        assert not hear(listener, said)
        assert listener.unjudged
    assert not hear(listener, client("_acme/x"))
    assert not listener.unjudged, "what may be anything is judged"
    for said in (client("tools/list", {}, id_=8), error("server", 8, -32601)):
        hear(listener, said)
    assert not listener.unjudged, "an error is the same for every method"
    assert [(breach.rule, breach.sentence[:10]) for breach in listener.finish()][-1] == ("not-judged", "3 messages")


def test_a_protocol_without_a_handshake_begins_with_anything(tmp_path: Path) -> None:
    schema = tmp_path / "tide.json"
    schema.write_text(
        json.dumps(
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$defs": {
                    "TideNotification": {
                        "type": "object",
                        "properties": {"height": {"type": "number"}},
                        "x-method": "tide",
                        "x-side": "server",
                    }
                },
            }
        )
    )
    listener = validators.make_monitor([validators.read_strict(validators.find(str(schema)))], fixed=True)
    assert listener.sides == ("client", "server")
    assert not hear(listener, client("tide", {"height": 1}))
    assert [breach.rule for breach in hear(listener, client("tide", {"height": "1"}))] == ["params-malformed"]


@pytest.mark.parametrize("agreed", ["protocolVersion", "capabilities"])
def test_a_handshake_is_one_that_agrees_on_a_version(agreed: str, tmp_path: Path) -> None:
    def definition(method: str, side: str, **properties: Any) -> dict[str, Any]:
        return {"type": "object", "properties": properties, "x-method": method, "x-side": side}

    schema = tmp_path / "tide.json"
    handshake = definition("initialize", "server")
    definitions: dict[str, Any] = {
        "InitializeRequest": {**handshake, "allOf": [{"$ref": "#/$defs/Opening"}]},
        "InitializeResponse": definition("initialize", "server"),
        "LogNotification": definition("log", "client"),
        "Opening": {"properties": {agreed: {}}},
    }
    schema.write_text(json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}))
    listener = validators.make_monitor([validators.read_strict(validators.find(str(schema)))], fixed=True)
    told = [
        breach.rule
        for said in (client("initialize", {}, id_=1), ("server", client("log", {})[1]), client("initialize", {}, id_=2))
        for breach in hear(listener, said)
    ]
    assert told == (["message-before-initialize", "initialize-repeated"] if agreed == "protocolVersion" else [])


def test_a_client_of_mcp_that_says_too_early_that_it_is_ready_has_said_so() -> None:
    """The client broke a rule; the server that goes on, and the client that does, break none."""
    opening, answer, ready, asked = mcp({})
    listener = fixed("mcp/2025-06-18")
    spoken = (opening, ready, answer, asked, client("tools/list", {}, id_=7), result("client", 1, {"roots": []}))
    heard = [breach.rule for said in spoken for breach in hear(listener, said)]
    assert heard == ["message-before-initialize"]
    assert not {"initialized-not-sent", "request-before-initialized"} & {each.rule for each in listener.finish()}


def test_roots_are_compared_by_what_their_text_means() -> None:
    assert (
        paths.find_root_fault("/a~1b/additionalDirectories/0", {"a/b": {"additionalDirectories": [7]}}) == "no string"
    )
    assert paths.is_inside("/a/b/../c", ("/a",))
    assert paths.is_inside("/a", ("/a/",))
    assert not paths.is_inside("/ab", ("/a",))
    assert not paths.is_inside("/a/../b", ("/a",))
    assert paths.is_inside("c:/Work/x", ("C:\\work",))
    assert paths.is_inside("/anything", ("/",))
    assert paths.normalize_roots(["/a/", "/b", "/a", "/c"], "/c/.") == ("/a", "/b")


@pytest.mark.parametrize("kind", [{}, [], None, 7, {"a": []}])
def test_an_update_whose_kind_is_no_text_is_observed_in_an_unknown_version(kind: object) -> None:
    listener = monitor(CASES[0])
    for said in (*begun(7), *opened()):
        hear(listener, said)
    update: dict[str, Any] = {"sessionUpdate": kind, "content": {"type": "text", "text": "a"}, "messageId": "m"}
    for _ in range(2):
        hear(
            listener,
            ("agent", {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}),
        )
    assert listener.finish()
