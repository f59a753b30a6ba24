"""`acpgen probe --client`: a client that is right breaks nothing, one with a defect what the defect is about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

import tiers
from acpgen.probe import driver
from acpgen.probe.client_driver import ClientProbing, fill_command
from acpgen.probe.conformance import Conformance
from probe.test_probe import written

HERE: Final = Path(__file__).parent

DEFECTS: Final[dict[str, tuple[str, set[tuple[str, str]]]]] = {
    "chooses what was not offered": ("v1/client/permission", {("permission-outcome-not-offered", "must")}),
    "has no files": ("v1/file-system", {("advertised-method-missing", "must")}),
    "answers notifications": ("v1/json-rpc/unknown-notification", {("json-rpc/unknown-notification", "must")}),
    "answers unknown methods": ("v1/json-rpc/unknown-method", {("json-rpc/unknown-method", "must")}),
    "ends at unknown updates": ("v1/client/unknown-update", {("client/unknown-update", "should")}),
    "ends at early updates": ("v1/client/early-update", {("client/early-update", "should")}),
    "ends at stale updates": ("v1/client/stale-update", {("client/stale-update", "should")}),
    "accepts any mode": ("v1/elicitation/unknown-mode", {("elicitation/unknown-mode", "must")}),
    "ends at unknown completions": (
        "v1/elicitation/unknown-completion",
        {("elicitation/unknown-completion", "must")},
    ),
    "goes on with any version": ("client/version-unknown", {("client/version-unknown", "should")}),
    "opens a session first": ("v1/client/handshake", {("message-before-initialize", "must")}),
}

ALSO: Final = {("notification-answered", "must")}
"""What the monitor says of an answer to a notification that comes while no request waits for one, as on a busy machine."""


def probed(*cases: str, defect: str = "", version: int = 1) -> Conformance:
    command = (sys.executable, str(HERE / "client.py"), defect, str(version))
    return driver.run(driver.ProbeOptions(command, seed=3, seconds=2.0, cases=cases), ClientProbing)


def told(report: Conformance) -> set[tuple[str, str]]:
    return {(finding.rule, finding.level) for finding in report.findings}


@pytest.mark.parametrize("version", [1, 2])
def test_a_client_that_is_right_breaks_nothing(version: int) -> None:
    report = probed(version=version)
    assert not report.findings, written(report, "text")
    assert report.verdict == "passes"
    assert report.side == "client"
    assert report.versions == (version,)
    missed = {one.case: one.reason for one in report.not_reached if one.case.startswith(f"v{version}/")}
    assert set(missed) <= {"v1/file-system/not-advertised"}
    assert f"v{version}/transports/junk" in report.reached


@pytest.mark.parametrize("defect", tiers.sample(DEFECTS, 3))
def test_a_defect_of_a_client_is_found_where_it_is(defect: str) -> None:
    case, wanted = DEFECTS[defect]
    report = probed(case, defect=defect)
    assert told(report) - ALSO <= wanted <= told(report), written(report, "text")
    assert all(finding.transcript for finding in report.findings)


def test_a_client_that_is_there_when_the_time_is_up_is_reported_all_the_same() -> None:
    command = (sys.executable, str(HERE / "client.py"), "answers nothing", "1")
    report = driver.run(driver.ProbeOptions(command, seed=3, seconds=2.0, total=5.0), ClientProbing)
    assert any("whole probe" in one.reason for one in report.not_reached)
    assert report.code == 1


def test_a_prompt_of_a_client_without_its_members_ends_no_probe() -> None:
    report = probed("v2/client/handshake", defect="prompts with nothing", version=2)
    assert ("params-malformed", "must") in told(report), written(report, "text")


def test_a_client_that_sends_no_prompt_is_not_judged_by_cases_that_need_one() -> None:
    report = probed("v1/json-rpc", defect="only greets")
    assert report.verdict == "not judged"
    assert {one.reason for one in report.not_reached} == {"the client sent no prompt: it ended after 'initialize'"}


def test_a_client_that_starts_its_agent_itself_gets_the_command_for_it() -> None:
    assert fill_command(["client", "--agent", "{agent}"], "/s")[2:4] == [sys.executable, "-I"]
    (one,) = fill_command(["run {agent} now"], "/s")
    assert one.startswith("run ")
    assert one.endswith("/s now")
    starts = (
        "import subprocess, sys\n"
        "agent = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "client = subprocess.Popen([sys.executable, sys.argv[1]], stdin=agent.stdout, stdout=agent.stdin)\n"
        "agent.stdin.close(); agent.stdout.close()\n"
        "client.wait(); agent.wait()\n"
    )
    command = (sys.executable, "-c", starts, str(HERE / "client.py"), "{agent}")
    wanted = driver.ProbeOptions(command, seed=3, seconds=2.0, cases=("v1/client",))
    report = driver.run(wanted, ClientProbing)
    assert not report.findings, written(report, "text")
    assert "v1/client/permission" in report.reached
