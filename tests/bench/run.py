"""Prints how generating and the generated bindings compare with what people use today. Measures; judges nothing.

    python -m venv .venv && .venv/bin/pip install -e '.[dev,bench]' && .venv/bin/python tests/bench/run.py

Ratios are medians of paired runs in one session: A, B, A, B, … Whole processes are timed for generating and importing, calls in
one process for decoding. Reads the upstream schemas that `python tests/evidence.py` brings.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:1] = [str(ROOT / "tests")]  # in place of this folder

import evidence  # noqa: E402 - the tests' folder is on the path only now

BINDINGS = ROOT / "generated" / "python" / "acp-bindings"
BIN = Path(sys.executable).parent

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


def process(command: Sequence[str], **environment: str) -> float:
    """Seconds of a whole process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env={**os.environ, **environment})
    return time.perf_counter() - start


def calls(function: Callable[[], object], count: int = 20_000) -> float:
    """Seconds of one call, in a loop."""
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count


def paired(name: str, ours: Callable[[], float], theirs: Callable[[], float], unit: float, runs: int = 7) -> None:
    """Run both in turn and print the medians and the median of the ratios."""
    ours()
    theirs()
    pairs = [(ours(), theirs()) for _ in range(runs)]
    ratio = statistics.median(a / b for a, b in pairs)
    low, high = min(a / b for a, b in pairs), max(a / b for a, b in pairs)
    mine, other = (statistics.median(column) * unit for column in zip(*pairs, strict=True))
    print(f"{name:<58} {mine:8.2f} {other:8.2f}   {ratio:5.2f}  ({low:.2f} to {high:.2f})")


def generating() -> None:
    """ACP v1 and v2 with all three targets, against datamodel-codegen on the same two files."""
    files = [evidence.path(f"upstream/acp-{version}-newest/schema.json") for version in ("v1", "v2")]
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        outputs: list[str] = []
        for version, file in zip(("v1", "v2"), files, strict=True):
            (project / "schema" / "acp" / version).mkdir(parents=True)
            (project / "schema" / "acp" / version / "schema.json").write_bytes(file.read_bytes())
        both = '["acp/v1", "acp/v2"]'
        outputs.append('[tool.acpgen.outputs."out/python"]\ntarget = "python"')
        outputs.append('packages = { "acp/v1" = "bench.v1", "acp/v2" = "bench.v2" }')
        outputs.append(f'[tool.acpgen.outputs."out/schema"]\ntarget = "bundle"\nprotocols = {both}')
        outputs.append(f'[tool.acpgen.outputs."out/ir"]\ntarget = "ir"\nprotocols = {both}')
        (project / "pyproject.toml").write_text("\n".join(['[tool.acpgen]\nschema = "schema"', *outputs]) + "\n")

        def ours() -> float:
            subprocess.run(["rm", "-rf", "out", ".acpgen-cache"], cwd=project, check=True)
            start = time.perf_counter()
            subprocess.run([BIN / "acpgen", "generate"], cwd=project, check=True, capture_output=True)
            return time.perf_counter() - start

        def theirs() -> float:
            return sum(
                process(
                    [
                        *(str(BIN / "datamodel-codegen"), "--input", str(file), "--input-file-type", "jsonschema"),
                        *("--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin"),
                        *("--output", str(project / "models.py")),
                    ]
                )
                for file in files
            )

        paired("generate v1 and v2, 3 targets / datamodel-codegen twice, s", ours, theirs, 1)


def importing() -> None:
    """A fresh interpreter that imports, less one that imports nothing."""
    empty = statistics.median(process([sys.executable, "-c", "pass"]) for _ in range(5))

    def importer(module: str) -> Callable[[], float]:
        return lambda: process([sys.executable, "-c", f"import {module}"], PYTHONPATH=str(BINDINGS)) - empty

    paired("import acp_bindings.v1 / acp.schema, ms", importer("acp_bindings.v1"), importer("acp.schema"), 1000)
    paired("import acp_bindings.v2 / acp.schema, ms", importer("acp_bindings.v2"), importer("acp.schema"), 1000)


def decoding() -> None:
    """A typical session update, from the line to typed values and back."""
    sys.path.insert(0, str(BINDINGS))
    from acp.schema import SessionNotification  # type: ignore[import-not-found,unused-ignore]
    from acp_bindings import v1

    line = json.dumps(UPDATE).encode()

    def decode() -> object:
        return v1.decode(line, sender="agent")

    def sdk_decode() -> object:
        return SessionNotification.model_validate(json.loads(line)["params"])

    message, model = decode(), SessionNotification.model_validate(UPDATE["params"])

    def sdk_encode() -> object:
        payload = model.model_dump(mode="json", by_alias=True, exclude_none=True)
        return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": payload}).encode()

    paired("decode a session update / official SDK, us", lambda: calls(decode), lambda: calls(sdk_decode), 1e6)
    paired(
        "encode a session update / official SDK, us",
        lambda: calls(lambda: v1.encode(message)),
        lambda: calls(sdk_encode),
        1e6,
    )


def main() -> None:
    print(f"{'ours / theirs':<58} {'ours':>8} {'theirs':>8}   ratio")
    generating()
    importing()
    decoding()


if __name__ == "__main__":
    main()
