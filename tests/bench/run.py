"""Measures acpgen and its bindings beside what people use, and writes the page of the docs about it. Judges nothing; no part of CI.

    .venv/bin/python tests/bench/run.py [PART…]

The parts are `bindings`, `commands` and `scale`; without, all of them. Ratios are medians of paired runs in one session, and times are
processor time. The rows that are measured take the place of the former ones in `speed.json`. Reads the upstream schemas that
`python tests/evidence.py` brings.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = ("generator", "generator/acp-session", "generated/python/acp-bindings", "tests")
sys.path[:1] = [str(ROOT / folder) for folder in HERE]  # in place of this folder

from bench import bindings_speed, commands_speed  # noqa: E402 - the tests' folder is on the path only now
from bench.timed import Row  # noqa: E402

RESULTS = Path(__file__).with_name("speed.json")
PAGE = ROOT / "schema" / "pages" / "speed.md"
PARTS = {"bindings": bindings_speed.rows, "commands": commands_speed.rows, "scale": commands_speed.scaled}


def main() -> None:
    """Measure, and write the results and the page."""
    wanted = sys.argv[1:] or list(PARTS)
    new: dict[str, Any] = {}
    for part in wanted:
        found: list[tuple[str, ...]] = []
        for row in PARTS[part]():
            found.append(row.cells if isinstance(row, Row) else row)
            print(" | ".join(found[-1]), flush=True)
        new[part] = {"measured": datetime.now(UTC).date().isoformat(), "machine": machine(), "rows": found}
    known: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    known |= new
    RESULTS.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page(known), "utf-8")


def machine() -> str:
    """What it ran on."""
    one, _, _ = os.getloadavg()
    busy = "" if one < 1 else f", busy with other work (load {one:.0f})"
    return f"Python {platform.python_version()} on {os.cpu_count()} processors of {platform.machine()}{busy}"


def page(known: dict[str, Any]) -> str:
    """The page of the docs."""
    lines = [
        "# Speed",
        "",
        "What acpgen and the generated bindings take, beside what people use: medians of paired runs, one after the other in turn,",
        "in processor time. The ratio is ours to theirs, so that less is better; what a busy machine does to it shows in the spread.",
        "The goals are those that the project set itself; not all are reached. `python tests/bench/run.py` writes this page anew.",
        "",
        "The messages are those of a conversation in ACP v1: updates of several kinds, prompts, results. The bindings keep unknown",
        "fields and variants, and refuse keys that are given twice; the SDK does neither.",
    ]
    heads = ("What", "Ours", "Theirs", "Beside", "Ratio", "Spread", "Goal")
    for part in (one for one in PARTS if one in known):
        table = known[part]
        lines += ["", f"## {part.capitalize()}", "", f"Measured on {table['measured']}: {table['machine']}.", ""]
        lines += [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
        lines += [f"| {' | '.join(row)} |" for row in table["rows"]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
