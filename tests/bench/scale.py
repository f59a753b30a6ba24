"""Prints processor time and memory of `acpgen generate` for 1, 10 and 50 copies of ACP v2 in one schema. Measures; judges nothing.

    .venv/bin/python tests/bench/scale.py [COPIES …]

The time is also given as a multiple of what as many runs with one copy take, whose start of the program is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from acpgen.input.walk import is_array, is_object

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "generated" / "schema" / "acp" / "v2" / "schema.json"


def main() -> None:
    """Measure as many copies as the arguments say."""
    counts = [int(argument) for argument in sys.argv[1:]] or [1, 10, 50]
    with tempfile.TemporaryDirectory() as folder:
        measured(Path(folder), 0)  # which compiles what is imported
        start = measured(Path(folder), 0)[0]
        one = measured(Path(folder), 1)[0] - start
        print(f"{'copies':>6} {'seconds':>8} {'of linear':>10} {'MB':>6}")
        for count in counts:
            seconds, memory = measured(Path(folder), count)
            print(f"{count:>6} {seconds:>8.1f} {(seconds - start) / (one * count):>10.2f} {memory:>6.0f}")


def measured(folder: Path, count: int) -> tuple[float, float]:
    """Seconds of processor time and megabytes of one run; of the least schema there is, for no copy."""
    path = folder / f"copies{count}-{time.monotonic_ns()}.json"
    path.write_text(json.dumps(copies(count) if count else {"title": "Nothing", "type": "object"}), "utf-8")
    command = [
        str(Path(sys.executable).parent / "acpgen"),
        "generate",
        "--package",
        "copies.all",
        "--schema",
        str(path),
    ]
    with subprocess.Popen([*command, "--out", str(path.with_suffix(""))], stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        told = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
    assert status == 0, told.decode()
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def copies(count: int) -> dict[str, Any]:
    """A schema with every definition of ACP v2 so many times, each with names of its own."""
    schema = json.loads(SCHEMA.read_text("utf-8"))
    definitions = {
        f"C{index}{name}": renamed(definition, index)
        for index in range(count)
        for name, definition in schema["$defs"].items()
    }
    return {"$schema": schema["$schema"], "$defs": definitions}


def renamed(value: Any, index: int) -> Any:
    """A schema of the copy with this number."""
    if is_array(value):
        return [renamed(item, index) for item in value]
    if not is_object(value):
        return value
    own: dict[str, Any] = {key: renamed(item, index) for key, item in value.items() if key != "x-name"}
    if isinstance(own.get("$ref"), str):
        own["$ref"] = own["$ref"].replace("#/$defs/", f"#/$defs/C{index}")
    if isinstance(own.get("x-method"), str):
        own["x-method"] += f"/{index}"
    return own


if __name__ == "__main__":
    main()
