"""Real conversations with the official SDKs on the other side, the tap between.

The monitor says nothing but what an SDK really does against the documents. `FINDINGS` lists that, with the requirement and the reason.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evidence
import javascript
import tiers
from acpgen.messages import recording, validators
from acpgen.messages.validate import judge_conversation
from monitor.scripts import numbers

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PEERS = HERE / "peers"
BINDINGS = ROOT / "generated" / "python" / "acp-bindings"

Finding = tuple[str, tuple[int, ...]]

NO_FILTER: Finding = ("list-result-outside-filter", (9, 11))
"""The SDK drops `additionalDirectories` from `session/list`: upstream removed the filter that the document demands, so an agent on the SDK
never sees it and answers as if there were none."""

NO_LOAD: Finding = ("advertised-method-missing", (65,))
"""The SDK has no `session/load` in version 2: upstream folded it into `session/resume`, which the document does not."""

FINDINGS: Mapping[str, tuple[Finding, ...]] = {
    "ours v1": (),
    "ours v2": (),
    "python": (NO_FILTER,),
    "typescript v1": (NO_FILTER,),
    "typescript v2": (NO_FILTER, NO_LOAD),
}
"""What each agent does against the documents, where its client asks for it. Clients do nothing against them."""

ACCEPTED: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "ours v1": (),
    "ours v2": (),
    # Only a value that is no array is refused; entries that are null, no string, empty or relative are dropped or passed on.
    "python": ((15, 37, 44), (15, 37, 44), (37, 39, 44), (14, 37, 40, 44), (37, 41, 44)),
    # Null in place of the array is read as none; an entry may be empty or relative, as paths are judged in prose alone.
    "typescript v1": ((15, 37, 44), (14, 37, 40, 44), (37, 41, 44)),
    "typescript v2": ((15, 37, 44), (14, 37, 40, 44), (37, 41, 44)),
}
"""The malformed roots that each agent accepts, by requirement."""


def npm_packages() -> Path:
    """A folder with the packages of the TypeScript peers."""
    try:
        return javascript.packages(**{"@agentclientprotocol/sdk": "2.4.0", "zod": "4.6.7"})
    except javascript.Unreachable as reason:
        evidence.lack(str(reason))


def command(peer: str, role: str) -> list[str]:
    """How a peer is started."""
    kind, _, version = peer.partition(" ")
    match kind:
        case "ours":
            return [sys.executable, str(PEERS / f"ours_{role}_{version}.py")]
        case "python":
            if importlib.util.find_spec("acp") is None:
                pytest.skip("agent-client-protocol is not installed")
            return [sys.executable, str(PEERS / f"sdk_{role}.py")]
        case _:
            peer_file = npm_packages() / f"{role}_{version}.{os.getpid()}.mjs"
            shutil.copy(PEERS / f"{role}_{version}.mjs", peer_file)  # node finds packages beside the file
            return [javascript.node(), str(peer_file)]


def converse(client: list[str], agent: list[str], folder: Path) -> list[dict[str, Any]]:
    """Run both with the tap between, and return what the monitor reported."""
    (folder / "extra").mkdir()
    report, tape = folder / "report.jsonl", folder / "tape.jsonl"
    tap = [
        sys.executable,
        "-m",
        "acpgen",
        "tap",
        "--record",
        str(tape),
        "--report",
        str(report),
        "--format",
        "json",
        "--",
    ]
    paths = [ROOT / "generator", ROOT / "tests", BINDINGS]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    ran = subprocess.run(
        [*client, *tap, *agent], capture_output=True, text=True, check=False, env=environment, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr, ran.stderr
    return [json.loads(line) for line in report.read_text().splitlines()]


def replayed(folder: Path) -> list[tuple[str, tuple[int, ...]]]:
    """What the monitor says of the recording."""
    monitor = validators.make_monitor([validators.read_strict(validators.find(name)) for name in validators.ACP])
    with (folder / "tape.jsonl").open("rb") as file:
        verdicts = list(judge_conversation(recording.read_lines(file), monitor))
    return [(problem.rule, numbers(problem.requirements)) for verdict in verdicts for problem in verdict.problems]


def filters(folder: Path) -> bool:
    """Whether the client asked for a filtered list that would be empty."""
    return '"params":{"additionalDirectories":[]}' in (folder / "tape.jsonl").read_text().replace(" ", "")


PAIRS = [
    ("ours v1", "ours v1"),
    ("ours v1", "python"),
    ("python", "ours v1"),
    ("python", "python"),
    ("ours v1", "typescript v1"),
    ("typescript v1", "ours v1"),
    ("typescript v1", "python"),
    ("python", "typescript v1"),
    ("ours v2", "ours v2"),
    ("ours v2", "typescript v2"),
    ("typescript v2", "ours v2"),
    ("typescript v2", "typescript v2"),
]


@pytest.mark.parametrize("pair", tiers.sample(PAIRS, 1, " to ".join))
def test_the_monitor_is_silent_but_for_what_an_sdk_does_against_the_documents(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    client, agent = pair
    rows = converse([*command(client, "client"), str(tmp_path)], command(agent, "agent"), tmp_path)
    asked = {NO_FILTER: filters(tmp_path), NO_LOAD: client == "ours v2"}
    wanted = [finding for finding in FINDINGS[agent] if asked[finding]]
    assert [(row["rule"], numbers(row.get("requirements", ()))) for row in rows] == wanted, rows
    assert {row["from"] for row in rows} <= {"agent"}
    assert replayed(tmp_path) == wanted
    said = [json.loads(line)["message"] for line in (tmp_path / "tape.jsonl").read_text().splitlines()]
    calls = [message for message in said if "method" in message]
    methods = {message["method"] for message in calls}
    opening = ("session/new", "session/resume")
    for call in calls:
        if call["method"] in opening:
            assert call["params"]["additionalDirectories"] == [f"{tmp_path}/extra"]
    assert {"cwd": str(tmp_path)} in [call["params"] for call in calls if call["method"] == "session/list"]
    assert {"initialize", "session/new", "session/prompt", "session/update", "session/request_permission"} <= methods
    assert {"session/cancel", "session/list", "session/resume", "session/close", "elicitation/create"} <= methods
    if "v2" not in client:
        assert {
            "fs/read_text_file",
            "fs/write_text_file",
            "terminal/create",
            "terminal/release",
            "session/load",
        } <= methods


@pytest.mark.parametrize("agent", tiers.sample(ACCEPTED, 1))
def test_what_an_agent_accepts_of_malformed_roots_is_named(agent: str, tmp_path: Path) -> None:
    version = "2" if "v2" in agent else "1"
    probe = [sys.executable, str(PEERS / "probe.py"), str(tmp_path), version]
    rows = converse(probe, command(agent, "agent"), tmp_path)
    of_agent = [(row["rule"], tuple(sorted(numbers(row["requirements"])))) for row in rows if row["from"] == "agent"]
    assert of_agent == [("malformed-roots-accepted", numbers) for numbers in ACCEPTED[agent]]
    assert {row["rule"] for row in rows if row["from"] == "client"} == {"roots-malformed"}
    assert len(rows) - len(of_agent) == 6
