"""Runs every client of the matrix with every agent, and says what became of each exchange."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from acpgen.input.walk import is_array, is_object
from conformance.implementations import PYTHON_SDK, TYPESCRIPT_SDK, ZOD, python_paths
from interop.scenario import Exchange, Judged, Line, Seen, exchanges, frozen, judged
from javascript import node, packages

PEERS: Final = Path(__file__).with_name("peers")
ROOT: Final = Path(__file__).parents[2]
BINDINGS: Final = ROOT / "generated" / "python" / "acp-bindings"
SECONDS: Final = 300.0
"""What one run of a client may take."""


@dataclass(frozen=True)
class Program:
    """An SDK whose client and agent take part. `before` and `after` are its arguments around those that all have."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def command(self, side: str, version: int, scenario: Path) -> list[str]:
        return [*self.before, side, str(version), str(scenario), *self.after]


@dataclass(frozen=True)
class Pair:
    """One cell of the matrix."""

    version: int
    client: str
    agent: str
    found: tuple[Judged, ...]


OURS: Final = "acp-bindings (ours)"
PYTHON: Final = " ".join(PYTHON_SDK)
TYPESCRIPT: Final = " ".join(TYPESCRIPT_SDK)
SPEAKS: Final = {OURS: (1, 2), PYTHON: (1,), TYPESCRIPT: (1, 2)}
"""The versions of the protocol that each has."""


def ours() -> Program:
    return Program(OURS, (sys.executable, str(PEERS / "ours.py")), (), (("PYTHONPATH", str(BINDINGS)),))


def python_sdk() -> Program:
    """Raises `Unreachable`."""
    paths = os.pathsep.join(python_paths())
    return Program(PYTHON, (sys.executable, "-W", "ignore", str(PEERS / "python_sdk.py")), (), (("PYTHONPATH", paths),))


def typescript_sdk() -> Program:
    """Raises `Unreachable`."""
    name, version = TYPESCRIPT_SDK
    sdk = packages(**{name: version, "zod": ZOD}) / "node_modules" / name
    return Program(TYPESCRIPT, (node(), str(PEERS / "typescript_sdk.mjs")), (str(sdk),))


MAKERS: Final = {OURS: ours, PYTHON: python_sdk, TYPESCRIPT: typescript_sdk}


def run(client: Program, agent: Program, version: int, names: Iterable[str] | None = None) -> Pair:
    """One cell. A connection that is lost in an exchange is opened again for those that follow it."""
    wanted = [one for one in exchanges(version) if names is None or one.name in set(names)]
    opening = [one for one in exchanges(version) if one.name in ("initialize", "session")]
    found: dict[str, Judged] = {}
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing)
        scenario = folder / "scenario.json"
        scenario.write_text(json.dumps([_row(one) for one in exchanges(version)]), "utf-8")
        while left := [one for one in wanted if one.name not in found]:
            order = [*opening, *(one for one in left if one not in opening)]
            seen, lines = _talk(client, agent, version, scenario, order)
            for exchange in order:
                if exchange not in left or exchange.name in found:
                    continue
                said = seen.get(exchange.name, Seen(error="the client ended without a word", is_over=True))
                found[exchange.name] = judged(exchange, said, lines.get(exchange.name, []), version)
                if exchange.name not in seen or "connection" in said.error.lower():
                    break  # what follows was not tried
    return Pair(version, client.name, agent.name, tuple(found[one.name] for one in wanted))


def _row(exchange: Exchange) -> dict[str, Any]:
    keys = ("name", "blocks", "meta", "updates", "requests", "call", "cancel")
    return {key: value for key in keys if (value := getattr(exchange, key)) not in (None, (), False)}


def _talk(
    client: Program, agent: Program, version: int, scenario: Path, order: Sequence[Exchange]
) -> tuple[dict[str, Seen], dict[str, list[Line]]]:
    """What a client says about exchanges with an agent, and the messages of each, as they passed."""
    record = scenario.with_name("record.jsonl")
    record.unlink(missing_ok=True)
    tapped = [
        sys.executable,
        str(PEERS / "relay.py"),
        str(record),
        *_with(agent),
        *agent.command("agent", version, scenario),
    ]
    command = [*client.command("client", version, scenario), ",".join(one.name for one in order), "--", *tapped]
    environment = {**os.environ, **dict(client.variables)}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS, check=False)
        output = ran.stdout
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else late.stdout or ""
    seen: dict[str, Seen] = {}
    for text in output.split("\n")[:-1]:
        row = json.loads(text)
        name = row.pop("name")
        seen[name] = Seen(**frozen(row))
    return seen, _by_exchange(record, order)


def _with(program: Program) -> list[str]:
    """What sets the variables of a program that another one starts."""
    return [f"{name}={value}" for name, value in program.variables]


def _by_exchange(record: Path, order: Sequence[Exchange]) -> dict[str, list[Line]]:
    """The messages of each exchange: those from its request on until the next one's."""
    calls = {one.call["method"]: one.name for one in order if one.call is not None}
    found: dict[str, list[Line]] = {}
    current = ""
    for text in record.read_text("utf-8").split("\n")[:-1] if record.exists() else ():
        row = json.loads(text)
        message = row["message"]
        if row["from"] == "client" and is_object(message) and "id" in message and "method" in message:
            params = message.get("params")
            blocks = params.get("prompt") if is_object(params) else None
            first = blocks[0] if is_array(blocks) and blocks else None
            begins = first.get("text") if is_object(first) else calls.get(message["method"])
            current = begins if isinstance(begins, str) else current
        if is_object(message):
            found.setdefault(current, []).append(Line(row["from"], message))
    return found
