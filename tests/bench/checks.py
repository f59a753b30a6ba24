"""Prints what checks cost: nothing where a package has none, beside the bindings of another revision, and what they take where it has.

    .venv/bin/python tests/bench/checks.py [REVISION]

Ratios are medians of paired runs: A, B, A, B, … Each side is a process of its own that measures when it is told to.
"""

from __future__ import annotations

import io
import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BINDINGS = "generated/python/acp-bindings"
COUNT = 20_000
RUNS = 31

MEASURE = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
{setup}
call()
print("ready", flush=True)
for count in sys.stdin:
    start = time.process_time()
    for _ in range(int(count)):
        call()
    print(time.process_time() - start, flush=True)
"""

UPDATE = {
    "jsonrpc": "2.0",
    "method": "session/update",
    "params": {
        "sessionId": "sess_7f3a",
        "update": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "The parser now accepts a trailing comma; two tests changed."},
        },
    },
}
DECODE = f"""
from acp_bindings import v1
line = {json.dumps(UPDATE)!r}.encode()
call = lambda: v1.decode(line, sender="agent")
"""
MINED = """
from mine import {name}
import mine
value = {{"points": [{{"x": index, "y": index + 1, "label": "p"}} for index in range(20)]}}
call = lambda: mine.decode_as({name}, value)
"""
POINT = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}, "label": {"type": "string"}},
    "required": ["x", "y"],
}


class Side:
    """One side of a comparison."""

    def __init__(self, setup: str, folder: Path) -> None:
        command = [sys.executable, "-c", MEASURE.format(setup=setup), str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._read()

    def seconds(self, count: int) -> float:
        """Processor time of so many calls."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return float(self._read())

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def paired(name: str, one: Side, other: Side, count: int) -> None:
    """Print the medians in microseconds and the median of the ratios."""
    pairs = [(one.seconds(count), other.seconds(count)) for _ in range(RUNS)]
    ratios = sorted(a / b for a, b in pairs)
    mine, theirs = (statistics.median(column) / count * 1e6 for column in zip(*pairs, strict=True))
    middle = ratios[RUNS // 4], ratios[-RUNS // 4]
    print(
        f"{name:<52} {mine:8.2f} {theirs:8.2f}   {statistics.median(ratios):5.3f}  ({middle[0]:.3f} to {middle[1]:.3f})"
    )
    one.close()
    other.close()


def bindings_of(revision: str, folder: Path) -> Path:
    """The bindings of ACP as a revision has them."""
    archive = subprocess.run(["git", "archive", revision, BINDINGS], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / BINDINGS


def checked_bindings(folder: Path) -> Path:
    """Bindings of a made-up schema in which one type needs a check and an equal one does not."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "Line": {
                "type": "object",
                "properties": {"points": {"type": "array", "items": {"$ref": "#/$defs/Point"}}},
            },
            "CheckedLine": {
                "type": "object",
                "properties": {"points": {"type": "array", "items": {"$ref": "#/$defs/CheckedPoint"}}},
            },
            "Point": POINT,
            "CheckedPoint": {**POINT, "dependentRequired": {"label": ["x"]}},
        },
    }
    (folder / "mine.json").write_text(json.dumps(schema), encoding="utf-8")
    made = folder / "made"
    command = ["-m", "acpgen", "generate", "--schema", "mine.json", "--package", "mine", "--out", str(made)]
    subprocess.run([sys.executable, *command], cwd=folder, check=True, capture_output=True)
    return made


def main(revision: str) -> None:
    """Measure everything."""
    print(f"{'microseconds a call':<52} {'A':>8} {'B':>8}   ratio  (middle half)")
    with tempfile.TemporaryDirectory() as folder:
        now, then = Side(DECODE, ROOT / BINDINGS), Side(DECODE, bindings_of(revision, Path(folder)))
        paired(f"ACP v1, decode an update: now, {revision}"[:52], now, then, COUNT)
        made = checked_bindings(Path(folder))
        one, other = (Side(MINED.format(name=name), made) for name in ("CheckedLine", "Line"))
        paired("20 records: each checked, none checked", one, other, COUNT // 20)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "main")
