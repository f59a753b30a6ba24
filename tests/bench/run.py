"""Measures acpgen and its bindings against the usual alternatives, and writes the page of the docs about it. No part of CI.

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


BEFORE = {
    "decode a line": "1.1 to 1.2",
    "encode a message": "1.0",
    "strict verdict on a parsed message": "11",
    "decode and strict verdict of one line": "2",
    "monitor a conversation, a message": "1.5 to 2",
    "memory of a decoded message": "1.1",
    "import v1 and decode a first message": "0.43",
    "import v2 and decode a first message": "0.46",
    "`acpgen generate` of ACP v2, target python": "1.15",
    "`acpgen diff` of the last two releases of ACP v1": "0.45 to 0.52 s",
    "`acpgen generate` of 50 copies of ACP v2 in one schema, memory": "1,500 MB",
}
"""Ratios of the rows, as they were when the goals were set."""

LIMITS = (
    "- **decode**: pydantic alone, with bare classes of the same fields, takes 1.2 µs for the params of a chunk of a message, where the",
    "  SDK takes 4.2 µs and `decode` 2.4 µs; the rest is the envelope, the record around it, and to know that no key occurs twice. An",
    "  update unlike earlier ones takes 1.4 times what the SDK takes.",
    "- **encode**: a record is first made plain values, 1.7 µs for the three records of a chunk, and written by pydantic's core, 0.4 µs.",
    "  Further fields, and values that do not fit, go the general way, which takes 4 µs.",
    "- **decode and strict verdict**: the line is parsed twice, once by each.",
    "- **monitor**: a message that is no chunk of text is parsed, judged, looked at for its form, and shown to the few rules that may",
    "  concern it, which takes 20 to 26 µs.",
    "- **memory**: each record that keeps unknown fields holds a dictionary for them, 64 bytes while it is empty.",
    "- **import**: pydantic with one class of one field takes 0.22 of `acp.schema`. The classes of a version take 40 ms of ours.",
    "- **generate**: datamodel-code-generator makes the records of ours too, 44 % of the time; to read the schema and what it means takes",
    "  24 %, the formatter 6 %.",
    "- **diff**: of a comparison, to read both sides and what they mean takes a third, the rules and their proofs a third, and to load the",
    "  code a quarter. Of one that was made before, typer, with pydantic, which it loads to convert arguments, takes a fifth, and to make",
    "  data classes a quarter.",
    "- **one description changed**: what depends on the protocol is compared and made again: its changelog, the guides from it and to it,",
    "  its bindings and vectors. Each protocol is read, and the pages of all are laid out.",
)


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
        "This page compares the processor time of acpgen and the generated bindings with that of the usual alternatives, as medians of",
        "paired runs in alternating order. The ratio is acpgen divided by the other, so lower is better. The spread shows the effect of a",
        "busy machine. The goals are those of the project, not all of which are reached; the earlier ratio is that of when they were set.",
        "`python tests/bench/run.py` writes this page again.",
        "",
        "The messages are 4,000 different ones of a conversation in ACP v1: updates of several kinds, prompts, results. The bindings keep",
        "unknown fields and variants, and refuse duplicate keys; the SDK does neither. Updates of a turn mostly differ in one string. The",
        "decoder and the monitor use that: they do not parse again the beginning and the end that a line shares with an earlier one.",
    ]
    heads = ("What", "acpgen", "Other", "Compared with", "Earlier ratio", "Ratio", "Spread", "Goal")
    for part in (one for one in PARTS if one in known):
        table = known[part]
        lines += ["", f"## {part.capitalize()}", "", f"Measured on {table['measured']}: {table['machine']}.", ""]
        lines += [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
        lines += [f"| {' | '.join([*row[:4], BEFORE.get(row[0], ''), *row[4:]])} |" for row in table["rows"]]
    lines += ["", "## Limits", "", "What prevents reaching the missed goals, measured by hand:", "", *LIMITS]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
