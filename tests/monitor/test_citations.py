"""What is cited for a breach is of the version that judged it, and binds the side that is at fault."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen.messages import validators
from acpgen.probe import driver, registry
from commands import strict_once
from monitor.cases import CASES, MCP_CASES
from monitor.scripts import Said, agent, client, opened, prompt, result, v1, v2
from monitor.shipped import FOLDER, conversation

ROOT: Final = Path(__file__).parents[2]
TABLE: Final[dict[str, Any]] = json.loads((ROOT / "schema" / "requirements.json").read_text("utf-8"))
OF_DOCUMENT: Final = {document["id"]: document["protocols"] for document in TABLE["documents"]}
ROWS: Final[dict[int | str, dict[str, Any]]] = {row.get("number", row.get("id")): row for row in TABLE["rules"]}
MCP: Final = "mcp/2025-06-18"


def protocols(identifier: int | str) -> Sequence[str]:
    row = ROWS[identifier]
    found: Sequence[str] = row.get("protocols", OF_DOCUMENT[row["document"]])
    return found


def strict(protocol: str) -> Any:
    return strict_once(validators.find(protocol))


def conversations(protocol: str) -> Iterator[Sequence[Said]]:
    """All that the tests have, whatever version it was made for: what it breaks in another one is cited by that."""
    yield from (case.said for case in (MCP_CASES if protocol == MCP else CASES))
    if protocol != MCP:
        yield from (conversation(path.stem) for path in sorted(FOLDER.glob("*.jsonl")))


@pytest.mark.parametrize(
    "protocol",
    [
        *("acp/v1", "acp/v2", MCP),
        *(pytest.param(f"acp/unstable/{version}", marks=pytest.mark.exhaustive) for version in ("v1", "v2")),
    ],
)
def test_every_breach_of_every_rule_cites_the_version_that_judged(protocol: str) -> None:
    cited: dict[str, set[int | str]] = {}
    known = strict(protocol)
    for said in conversations(protocol):
        monitor = validators.make_monitor([known], fixed=True)
        lines = [(who, one if isinstance(one, bytes) else json.dumps(one).encode()) for who, one in said]
        found = [breach for who, line in lines for breach in monitor.observe(who, line)]
        for breach in (*found, *monitor.finish()):
            cited.setdefault(breach.rule, set()).update(breach.requirements)
    assert len(cited) > (5 if protocol == MCP else 60)
    stable = protocol.replace("/unstable/", "/")
    wrong = {(rule, one) for rule, ids in cited.items() for one in ids if stable not in protocols(one)}
    assert not wrong


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", registry.load())
def test_what_a_case_of_the_probe_cites_is_of_the_version_and_binds_the_program(name: str, version: int) -> None:
    case = registry.load()[name]
    if version not in case.versions and case.start != "program":
        return
    rows = [ROWS[one] for one in case.list_requirements(version)]
    assert all(f"acp/v{version}" in protocols(one) for one in case.list_requirements(version))
    for side in case.sides:
        assert not rows or rows[0]["who"] in (side, "both", "schema"), rows[0]["id"]


@pytest.mark.parametrize(
    ("said", "cited"),
    [
        (
            [*v1(), client("session/new", {"cwd": "tide", "mcpServers": []}, id_=1)],
            "acp/v1/session-setup/working-directory/1",
        ),
        ([*v1(), client("session/load", {"sessionId": "s"}, id_=1)], "acp/v1/session-setup/loading-a-session/1"),
        ([*v1(), opened()[0], result("agent", "new", {})], "acp/v1/session-setup/creating-a-session/2"),
        (
            [*v1(), *opened(), agent("terminal/create", {"sessionId": "s", "command": "ls", "cwd": "tide"}, id_=1)],
            "acp/v1/terminals/executing-commands/1",
        ),
        ([*v2(), *opened(), prompt(), result("agent", "p", {})], "acp/v2/schema/promptrequest/6"),
        (
            [*v2(), client("session/resume", {"sessionId": "s", "cwd": "tide"}, id_=1)],
            "acp/v2/session-setup/working-directory/1",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_of_the_wrong_shape_cites_what_the_documents_say_of_it(said: Sequence[Said], cited: str) -> None:
    monitor = validators.make_monitor(strict(protocol) for protocol in validators.ACP)
    found = [breach for who, message in said for breach in monitor.observe(who, message)]
    assert found and {breach.rule for breach in found} <= {"params-malformed", "result-malformed"}
    assert cited in {one for breach in found for one in breach.requirements}


REFUSES: Final = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    wanted = asked["params"]["protocolVersion"] if asked["method"] == "initialize" else None
    answer = {"error": {"code": -32603, "message": "no"}}
    if wanted == %d:
        answer = {"result": {"protocolVersion": %d, "info": {"name": "a", "version": "1"}}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""
"""An agent that answers `initialize` for one version alone, and refuses all else."""


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_breach_of_the_handshake_cites_the_version_that_is_spoken(version: int) -> None:
    command = (sys.executable, "-c", REFUSES % (version, version))
    report = driver.run(driver.ProbeOptions(command, seed=1, seconds=2.0, cases=("initialization",)))
    found = [one for one in report.findings if one.rule.startswith("initialization/") and one.level == "must"]
    assert [one.rule for one in found] == [f"initialization/{'newer-version' if version else 'answer'}"]
    assert [str(one.clause.number).split("/")[:2] for one in found] == [["acp", f"v{version or 1}"]]
