"""`acpgen probe`: an agent that is right breaks nothing, and one with a defect breaks exactly what the defect is about."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

import commands
import tiers
from acpgen import diagnostics
from acpgen.probe import driver, probe_command, registry
from acpgen.probe.conformance import Conformance
from acpgen.probe.probe_report import make_report

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
SECONDS: Final = 2.0
"""What an answer may take: the agents here answer at once, and a busy machine is no finding."""

DEFECTS: Final[dict[str, tuple[tuple[str, ...], set[tuple[str, str]]]]] = {
    "agrees on any version": (
        ("initialization",),
        {("initialization/newer-version", "must"), ("initialization/older-version", "note")},
    ),
    "refuses newer versions": (("initialization",), {("initialization/newer-version", "must")}),
    "only version 1 when asked for more": (("initialization",), {("initialization/newer-version", "must")}),
    "is initialized twice": (("v1/initialization/repeated",), {("initialization/repeated", "note")}),
    "ends at malformed versions": (("initialization",), {("initialization/malformed-version", "must")}),
    "ends at early requests": (("initialization",), {("initialization/early-request", "should")}),
    "refuses _meta": (("extensibility",), {("extensibility/meta", "must")}),
    "text between messages": (("initialization/answer",), {("not-json", "must")}),
    "answers unknown methods": (("v1/json-rpc/unknown-method",), {("json-rpc/unknown-method", "must")}),
    "wrong code": (
        ("v1/json-rpc/unknown-method", "v1/extensibility"),
        {("json-rpc/unknown-method", "must"), ("extension-refused-otherwise", "note")},
    ),
    "silent about extensions": (("v1/extensibility",), {("extensibility/unknown-request", "must")}),
    "answers notifications": (("v1/json-rpc/unknown-notification",), {("json-rpc/unknown-notification", "must")}),
    "ends at unknown notifications": (
        ("v1/json-rpc/unknown-notification",),
        {("json-rpc/unknown-notification", "must")},
    ),
    "ends at unknown sessions": (("v1/json-rpc/unknown-session",), {("json-rpc/unknown-session", "must")}),
    "prompts in no session": (("v1/json-rpc/unknown-session",), {("json-rpc/unknown-session", "note")}),
    "opens any session": (
        ("v1/session-setup/load-unknown", "v1/session-setup/resume-unknown"),
        {("session-setup/load-unknown", "note"), ("session-setup/resume-unknown", "note")},
    ),
    "negative ids": (("v1/json-rpc/ids",), {("json-rpc/ids", "must"), ("response-without-request", "must")}),
    "ids as doubles": (("v1/json-rpc/id-of-64-bits",), {("json-rpc/id-of-64-bits", "should")}),
    "internal error for params": (("v1/json-rpc/params-malformed",), {("json-rpc/params-malformed", "should")}),
    "one id for all sessions": (
        ("v1/session-setup/new",),
        {("session-setup/new", "must"), ("session-id-in-use", "must")},
    ),
    "number for a session": (("v1/session-setup/new",), {("result-malformed", "must")}),
    "takes any cursor": (("v1/session-list",), {("session-list/invalid-cursor", "should")}),
    "deletes only what is there": (
        ("v1/session-delete",),
        {("session-delete/unknown", "should"), ("repeated-delete-refused", "should")},
    ),
    "lists what was deleted": (("v1/session-delete",), {("deleted-session-listed", "must")}),
    "refuses its own modes": (("v1/session-modes",), {("session-modes/set", "must")}),
    "text alone": (("v1/prompt-turn/text", "v1/prompt-turn/resource-link"), {("prompt-turn/resource-link", "must")}),
    "error when cancelled": (("v1/prompt-turn/cancel-after-update",), {("cancelled-prompt-failed", "must")}),
    "end_turn when cancelled": (("v1/prompt-turn/cancel-after-update",), {("cancelled-turn-ended-otherwise", "must")}),
    "speaks after the end": (("v1/prompt-turn/cancel-after-update",), {("update-after-cancelled", "must")}),
    "speaks long after the end": (("v1/prompt-turn/cancel-after-update",), {("update-after-cancelled", "must")}),
    "calls what is not advertised": (
        ("v1/client-methods/not-advertised",),
        {("method-used-without-capability", "must")},
    ),
    "silent about unknown methods": (
        ("v1/json-rpc/unknown-method", "v1/json-rpc/ids", "v1/json-rpc/params-drawn", "v1/transports"),
        {("json-rpc/unknown-method", "must")},
    ),
    "resumes with history": (
        ("v1/prompt-turn/text", "v1/session-setup/resume-after-restart"),
        {("history-not-requested", "must")},
    ),
    "uses released terminals": (("v1/client-methods/served",), {("terminal-not-open", "must")}),
    "loads without history": (
        ("v1/prompt-turn/text", "v1/session-setup/load-after-restart"),
        {("session-setup/load-after-restart", "must")},
    ),
    "loads without the user": (
        ("v1/prompt-turn/text", "v1/session-setup/load", "v1/session-setup/load-after-restart"),
        {("session-setup/load", "must"), ("session-setup/load-after-restart", "must")},
    ),
    "takes any option": (("v2/session-config-options/unknown",), {("session-config-options/unknown", "must")}),
    "takes any value": (("v2/session-config-options/unknown",), {("session-config-options/unknown", "must")}),
    "accepts too late": (("v2/prompt-turn/text",), {("prompt-turn/text", "must")}),
    "takes any block": (("v2/content/unknown-block",), {("content/unknown-block", "must")}),
    "takes any transport": (("v2/session-setup/unknown-transport",), {("session-setup/unknown-transport", "must")}),
    "waits for permission": (
        ("v2/prompt-turn/cancel-unanswered-permission",),
        {("prompt-turn/cancel-unanswered-permission", "must")},
    ),
    "fails after insertion": (("v2/prompt-turn/text",), {("prompt-turn/text", "must")}),
    "holds prompts": (("v2/prompt-turn/cancel-at-once", "v2/session-setup/close-during-turn"), set()),
    "fails at what is held": (
        ("v2/session-setup/close-during-turn",),
        {("session-setup/close-during-turn", "must")},
    ),
    "counts on an answer": (("v1/client-methods/refused",), {("client-methods/refused", "must")}),
    "closes before the turn ends": (
        ("v1/session-setup/close-during-turn",),
        {("session-setup/close-during-turn", "must")},
    ),
    "splits at separators": (
        ("v1/transports/separators-in-text",),
        {("transports/separators-in-text", "must")},
    ),
    "ends at a blank line": (("v1/transports/blank-lines",), {("transports/blank-lines", "should")}),
    "ends at junk": (("v1/transports/junk",), {("transports/junk", "should")}),
    "ends at a long line": (("v1/transports/long-line",), {("transports/long-line", "should")}),
    "answers a batch of notifications": (
        ("v2/transports/batch-of-notifications",),
        {("transports/batch-of-notifications", "must"), ("batch-empty", "must")},
    ),
    "counts tokens": (("v1/prompt-turn/text",), {("only-unstable", "note")}),
    "goes on after the end": (("v1/extensibility",), {("transports/end-of-input", "note")}),
}
"""What each defect of the agent breaks, in these cases, and at which level."""


ALSO: Final = {("cancelled-turn-ended-otherwise", "note"), ("notification-answered", "must")}
"""What is told on a busy machine as well: a turn had ended before its cancellation was read, or no request waited for an answer when one
came to a notification.
"""


def written(report: Conformance, name: str) -> str:
    """The outcome in a format."""
    return diagnostics.write_report(make_report(report), name)


def agent(defect: str = "") -> tuple[str, ...]:
    return (sys.executable, str(HERE / "agent.py"), *([defect] if defect else []))


def probed(*cases: str, defect: str = "", **more: Any) -> Conformance:
    return driver.run(driver.ProbeOptions(agent(defect), seed=7, seconds=SECONDS, cases=cases, **more))


def told(report: Conformance) -> set[tuple[str, str]]:
    return {(finding.rule, finding.level) for finding in report.findings}


def test_an_agent_that_is_right_breaks_nothing_and_is_reached_everywhere() -> None:
    report = probed()
    assert not report.findings, written(report, "text")
    assert report.verdict == "passes"
    assert report.versions == (1, 2)
    missed = {one.case: one.reason for one in report.not_reached}
    assert set(missed) == {
        "v1/session-setup/additional-directories",
        "v2/session-setup/additional-directories",
    }, missed
    table = registry.load()
    wanted = {
        registry.name_case(case, version)
        for case in table.values()
        if "agent" in case.sides and not case.is_extra
        for version in case.versions
    }
    assert set(report.reached) | set(missed) == wanted


@pytest.mark.parametrize("defect", tiers.sample(DEFECTS, 8))
def test_a_defect_is_found_where_it_is(defect: str) -> None:
    cases, wanted = DEFECTS[defect]
    report = probed(*cases, defect=defect)
    assert told(report) - ALSO <= wanted <= told(report), written(report, "text")
    assert report.verdict == ("breaks" if any(level == "must" for _, level in wanted) else "passes")
    for finding in report.findings:
        assert finding.transcript
        assert finding.message
        assert finding.clause.says.endswith(".")


def test_a_turn_that_goes_on_though_it_was_cancelled_is_told_as_such() -> None:
    report = probed("v1/prompt-turn/cancel-at-once", defect="never ends a turn")
    assert told(report) == {("prompt-turn/cancel-at-once", "must"), ("cancelled-request-unanswered", "must")}
    assert report.findings[0].message.startswith(
        f"'session/prompt' was not answered within {SECONDS:g} s of its cancellation"
    )


def test_a_session_that_does_not_exist_cites_what_the_specification_says_of_sessions() -> None:
    report = probed("v1/session-setup/load-unknown", defect="opens any session")
    assert [one.clause.section for one in report.findings] == ["Session setup: session ID"]


def test_a_broken_must_cites_a_requirement_that_says_must() -> None:
    report = probed("v1/prompt-turn/cancel-after-update", defect="end_turn when cancelled")
    (finding,) = (
        one for one in report.findings if one.rule == "cancelled-turn-ended-otherwise" and one.level == "must"
    )
    assert finding.clause.number == "acp/v1/prompt-turn/cancellation/5"


def test_what_cannot_be_reached_without_a_login_is_said_with_the_reason() -> None:
    report = probed("v1/session-setup", "v1/prompt-turn", defect="needs a login")
    assert not report.findings, written(report, "text")
    missed = {one.case: one.reason for one in report.not_reached}
    assert missed["v1/prompt-turn/text"] == (
        "session/new needs a login: -32000 Authentication required. "
        "Log in with the program itself, then add --keep-home; see the guide 'Log in'"
    )
    assert missed["v1/session-setup/new"] == missed["v1/prompt-turn/text"]


def test_turns_of_version_2_that_end_with_an_error_judge_nothing() -> None:
    report = probed("v2/prompt-turn", defect="fails in each turn")
    assert not report.findings, written(report, "text")
    missed = {one.case: one.reason for one in report.not_reached}
    assert missed["v2/prompt-turn/text"] == "session/prompt ended with an error: -32603 the model is gone"
    assert missed["v2/prompt-turn/cancel-after-update"] == missed["v2/prompt-turn/text"]
    assert not {one for one in report.reached if one.endswith(("/text", "/cancel-after-update"))}, report.reached


LISTING: Final[dict[str, set[tuple[str, str]]]] = {
    "": {("registry/login-methods", "must")},
    "has a login": set(),
    "needs a login that it offers": set(),
    "has a login in a terminal": set(),
    "has an old login in a terminal": set(),
    "has a login by a variable": {("registry/login-methods", "must")},
    "has one id for two logins": {("registry/login-methods", "must")},
    "needs a login": {("registry/login-methods", "must"), ("registry/session-or-login", "should")},
    "has no name": {("registry/login-methods", "must"), ("registry/name-and-version", "should")},
    "text between messages": {("registry/login-methods", "must"), ("not-json", "must")},
}
"""What a registry would hold against an agent."""


@pytest.mark.parametrize("defect", LISTING)
def test_what_registries_check_is_checked_when_it_is_asked_for(defect: str) -> None:
    report = probed(*registry.OF_REGISTRIES, defect=defect)
    assert {one for one in told(report) if one[1] != "note"} == LISTING[defect], written(report, "text")
    assert report.code == int(any(level == "must" for _, level in LISTING[defect]))


def test_the_option_for_registries_is_a_choice_of_cases() -> None:
    listed = run("--registry", "--list").stdout
    assert "registry/login-methods" in listed and "prompt-turn" not in listed
    for more in (["--case", "transports"], ["--client"]):
        refused = run("--registry", *more, "--", *agent())
        assert (refused.returncode, "--registry and " in refused.stderr) == (2, True)
    silent = run("--registry", "--timeout", "0.3", "--", *agent("says nothing"))
    assert silent.returncode == 1


def test_text_before_the_handshake_breaks_a_requirement_of_the_version_that_the_agent_speaks() -> None:
    code = """
import json, sys
print("Starting up...", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": 1}}), flush=True)
"""
    cases = ("initialization/answer",)
    report = driver.run(driver.ProbeOptions((sys.executable, "-c", code), seed=7, seconds=SECONDS, cases=cases))
    cited = [one.clause.number for one in report.findings if one.rule == "not-json"]
    assert cited == ["acp/v1/transports/stdio/5"], written(report, "text")


@pytest.mark.parametrize("defect", ["ends at once", "says nothing"])
def test_an_agent_that_says_nothing_never_passes(defect: str) -> None:
    report = driver.run(driver.ProbeOptions(agent(defect), seed=7, seconds=0.3))
    assert report.verdict == "not judged"
    assert report.code == 1
    assert not report.reached
    assert all("the program" in one.reason or "version" in one.reason for one in report.not_reached)


def test_a_program_that_answers_nothing_but_words_is_found_out() -> None:
    code = "import sys\nfor line in sys.stdin: print('what?', flush=True)"
    report = driver.run(driver.ProbeOptions((sys.executable, "-c", code), seed=7, seconds=0.5))
    assert ("not-json", "must") in told(report)
    assert report.code == 1


@pytest.mark.parametrize("version", ["[1]", '{"major": 1}'])
def test_a_version_and_ids_of_sessions_that_are_no_texts_end_no_probe(version: str) -> None:
    ask = '{"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": {"sessionId": [], "options": [{}]}}'
    program = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        f"    print({ask!r}, flush=True)\n"
        f"    result = {{'protocolVersion': {version}}}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': json.loads(line).get('id'), 'result': result}), flush=True)\n"
    )
    command = (sys.executable, "-S", "-c", program)
    report = driver.run(driver.ProbeOptions(command, seed=7, seconds=1.0, cases=("initialization",)))
    assert ("result-malformed", "must") in told(report), written(report, "text")


@pytest.mark.parametrize(
    ("program", "reason", "error"),
    [
        ("", "the program ended with exit code 0 before it answered `initialize`", ""),
        (
            "import sys; sys.exit('no key')",
            "the program ended with exit code 1 before it answered `initialize`",
            "no key\n",
        ),
        (
            "import os, time; os.close(1); time.sleep(50)",
            "the program closed its standard output before it answered `initialize`",
            "",
        ),
        ("while 1: input()", "the program sent nothing within 1.2 s of `initialize`", ""),
        (
            "print('Hello'); input(); raise SystemExit(1)",
            "the program ended with exit code 1 before it answered `initialize`",
            "",
        ),
        ("while 1: print('y')", "the program sent output, but no answer, within 1.2 s of `initialize`", ""),
        (
            "import os\nwhile 1: os.write(1, bytes(1 << 20))",
            "the program sent a line of more than 32 MiB before it answered `initialize`",
            "",
        ),
        (
            "import os; os.kill(os.getpid(), 9)",
            "the program was ended by signal 9 before it answered `initialize`",
            "",
        ),
    ],
)
def test_a_program_that_does_not_answer_is_told_as_it_is(program: str, reason: str, error: str) -> None:
    command = (sys.executable, "-S", "-c", program)
    patience = 0.3 if " sent " in reason else 10  # only what does not end is waited for
    report = driver.run(driver.ProbeOptions(command, seed=1, seconds=patience, total=60))
    assert {one.reason for one in report.not_reached} == {reason}
    assert (report.code, report.versions) == (1, ())
    assert report.errors.endswith(error)
    assert (f"  {error.strip()}\n" in written(report, "text")) or not error


def test_a_report_that_cannot_be_written_is_told_before_the_program_starts(tmp_path: Path) -> None:
    started = tmp_path / "started"
    program = [sys.executable, "-c", f"open({str(started)!r}, 'w')"]
    ran = run("--output", f"json={tmp_path}", "--", *program)
    assert (ran.returncode, started.exists()) == (2, False), ran.stderr


def test_the_time_for_all_is_kept_and_what_was_left_out_is_said() -> None:
    report = probed(total=1.0)
    assert report.seconds < 10
    assert any(one.reason == "the time limit of the whole probe, 1 s, was reached" for one in report.not_reached)


def test_nothing_of_the_program_is_left_behind(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    code = (
        "import subprocess, sys, os\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    )
    command_ = (sys.executable, "-c", code, str(HERE / "agent.py"))
    report = driver.run(driver.ProbeOptions(command_, seed=7, seconds=SECONDS, cases=("initialization/answer",)))
    assert report.reached
    state = Path(f"/proc/{mark.read_text()}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z", "it has ended, if nobody has taken note yet"


def test_the_program_has_a_home_of_its_own_and_few_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_TIDE", "1")
    monkeypatch.setenv("PASSED_TIDE", "2")
    seen = tmp_path / "seen"
    code = f"import os, json; open({str(seen)!r}, 'w').write(json.dumps(dict(os.environ)))"
    driver.run(
        driver.ProbeOptions(
            (sys.executable, "-c", code),
            seed=1,
            seconds=0.3,
            cases=("initialization/answer",),
            variables=("PASSED_TIDE",),
        )
    )
    found = json.loads(seen.read_text())
    assert "SECRET_TIDE" not in found
    assert found["PASSED_TIDE"] == "2"
    assert found["HOME"] != os.environ.get("HOME")
    assert not Path(found["HOME"]).exists(), "the scratch folder is gone"


# --- the command -----------------------------------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    ran = commands.acpgen(["probe", *arguments])
    return subprocess.CompletedProcess(arguments, ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def test_where_one_report_cannot_be_written_none_is(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    wanted = [
        "--output",
        f"json={tmp_path / 'r.json'}",
        "--output",
        f"junit={tmp_path / 'plain' / 'r.xml'}",
        "--output",
        "-",
    ]
    done = run(*wanted, "--case", "v1/json-rpc/unknown-method", "--", *agent("wrong code"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "r.xml: it cannot be written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


def test_the_report_in_json_has_what_is_promised() -> None:
    done = run("--format", "json", "--seed", "5", "--case", "v1/json-rpc/unknown-method", "--", *agent("wrong code"))
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["seed"] == 5
    assert report["reached"] == ["v1/json-rpc/unknown-method"]
    assert report["not_reached"] == []
    (finding,) = report["findings"]
    assert set(finding) == {"rule", "requirement", "level", "message", "transcript", "reproduce"}
    assert finding["level"] == "must"
    assert finding["transcript"][-1]["message"]["error"]["code"] == -32603
    assert json.loads(finding["reproduce"]["message"])["method"].startswith("acpgen/")


def test_the_same_seed_says_the_same() -> None:
    def drawn(seed: str) -> list[str]:
        arguments = (
            "--format",
            "json",
            "--seed",
            seed,
            "--case",
            "v1/json-rpc/unknown-method",
            "--",
            *agent("wrong code"),
        )
        return [finding["reproduce"]["message"] for finding in json.loads(run(*arguments).stdout)["findings"]]

    assert drawn("5") == drawn("5") != drawn("6")


def test_the_list_names_every_case_and_strict_ones_apart() -> None:
    done = run("--list")
    assert done.returncode == 0
    demanded, advised = done.stdout.split("Advised, or not said (strict)")
    for case in registry.load().values():
        if "agent" in case.sides:
            assert f"  {case.id}" in (advised if case.is_strict else demanded)
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_a_case_that_does_not_exist_is_refused() -> None:
    done = run("--case", "transports/junkk", "--", *agent())
    assert done.returncode == 2
    assert "there is no case 'transports/junkk'" in done.stderr
    assert "transports/junk" in done.stderr


def test_a_command_that_does_not_start_exits_with_two() -> None:
    done = run("--", "no-such-agent")
    assert done.returncode == 2
    assert "no-such-agent: this command cannot be started" in done.stderr
    assert run().returncode == 2


def test_the_text_fits_80_columns_and_strict_counts_what_is_advised() -> None:
    arguments = ("--seed", "1", "--case", "v1/transports/blank-lines", "--", *agent("ends at a blank line"))
    done = run(*arguments)
    assert done.returncode == 0, done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "SHOULD  transports/blank-lines" in done.stdout
    assert run("--strict", *arguments).returncode == 1


def test_a_baseline_lets_known_findings_pass_and_tells_what_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    arguments = ("--seed", "1", "--case", "v1/json-rpc/unknown-method")
    assert run("--write-baseline", str(file), *arguments, "--", *agent("wrong code")).returncode == 0
    known = run("--baseline", str(file), *arguments, "--", *agent("wrong code"))
    assert known.returncode == 0, known.stdout
    assert "1 known finding" in known.stdout
    gone = run("--baseline", str(file), *arguments, "--", *agent())
    assert gone.returncode == 0
    assert "note  json-rpc/unknown-method\n  The baseline holds it, and it no longer occurs" in gone.stdout
    other = run("--baseline", str(file), *arguments, "--", *agent("answers unknown methods"))
    assert other.returncode in (0, 1)
    (tmp_path / "bad.json").write_text("[]")
    refused = run("--baseline", str(tmp_path / "bad.json"), *arguments, "--", *agent())
    assert refused.returncode == 2
    assert "this is no baseline" in refused.stderr


def test_names_of_cases_choose_by_section_and_version() -> None:
    names = ["initialization/answer", "v1/transports/junk", "v2/transports/junk", "v1/json-rpc/ids"]
    assert registry.select_cases(["transports"], names) == {"v1/transports/junk", "v2/transports/junk"}
    assert registry.select_cases(["v1"], names) == {"v1/transports/junk", "v1/json-rpc/ids"}
    assert registry.select_cases(["transports/junk"], names) == {"v1/transports/junk", "v2/transports/junk"}
    assert registry.select_cases(["transport"], names) == set()
    assert probe_command.choose_seed(3) == 3


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"])
open(sys.argv[1] + ".new", "w").write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""
"""An agent that says nothing and heeds no signal, with a process of its own."""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look at processes")
def test_nothing_of_the_agent_is_left_when_the_probe_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "told"
    command = [sys.executable, "-m", "acpgen", "probe", "--", sys.executable, "-c", STUBBORN, str(told)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not told.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    process.kill()
    process.wait(60)
    while not all(has_ended(int(one)) for one in told.read_text().split()):
        assert time.monotonic() < until + 60, "an orphan"
        time.sleep(0.05)


def has_ended(process: int) -> bool:
    """Whether a process is gone, or only waits to be collected."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
