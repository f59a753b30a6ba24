"""Measures acpgen and its bindings against the usual alternatives, and writes the page of the docs about it. No part of CI.

    .venv/bin/python tests/bench/run.py [PART…]

The parts are `bindings`, `size`, `commands` and `scale`; without, all of them. Ratios are medians of paired runs in one session, and times
are processor time. The rows that are measured take the place of the former ones in `speed.json`. Reads the upstream schemas that
`python tests/evidence.py` brings.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = (
    "generator",
    "generator/acp-session",
    "generator/acp-workspace",
    "generator/acp-monitor",
    "generated/python/acp-bindings",
    "tests",
)
sys.path[:1] = [str(ROOT / folder) for folder in HERE]  # in place of this folder

from bench import bindings_size, bindings_speed, commands_speed  # noqa: E402 - the tests' folder is on the path only now
from bench.timed import Row  # noqa: E402

RESULTS = Path(__file__).with_name("speed.json")
PAGE = ROOT / "schema" / "pages" / "speed.md"
PARTS: dict[str, Callable[[], Iterator[Any]]] = {
    "bindings": bindings_speed.rows,
    "size": bindings_size.rows,
    "commands": commands_speed.rows,
    "scale": commands_speed.scaled,
}


BEFORE = {
    "decode, a mix": "1.22",
    "decode, an unknown field in each": "2.1",
    "decode, explicit nulls": "2.0",
    "encode, a mix": "0.79",
    "strict verdict on a parsed message": "20",
    "memory of a decoded message": "1.10",
    "import v1": "0.36",
    "the types of ACP v1, with documentation": "6,701, without documentation",
    "the run-time, with the connection": "9,458",
    "`acpgen generate` of ACP v2, target python": "1.15",
    "`acpgen diff` of the last two releases of ACP v1": "0.45 to 0.52 s",
    "`acpgen generate` of 50 copies of ACP v2 in one schema, memory": "1,500 MB",
}
"""Ratios of the rows, as they were when the goals were set."""

LIMITS = (
    "- **decode**: of a mix msgspec takes two fifths; to write the message again, which proves that nothing was lost, takes a fifth. The",
    "  rest is Python. Where a field is unknown the line is parsed a second time, into plain values, and looked through for it.",
    "- **an unknown variant**: msgspec refuses the line; it is parsed into plain values, written again to see that no key is given twice,",
    "  and read by msgspec once more, with another tag.",
    "- **16,000 records, an unknown field in each**: to keep the field of a record takes 2 µs: a dictionary, what holds it, and the count.",
    "- **encode, a mix**: msgspec goes through a message three times; half of it is the check of types, without which a message could",
    "  be sent that its receiver rejects. The ratio is between 0.24 and 0.27 from run to run.",
    "- **encode, an unknown field in each**: after its check the message is written twice, since its notes are found while it is written.",
    "- **monitor**: a message is parsed, judged, looked at for its form, and shown to the rules that may concern it.",
    "- **the run-time**: the connection, with pipes, processes and WebSocket, takes a third of its lines, the judge and its sentences",
    "  a sixth.",
    "- **generate**: datamodel-code-generator makes the records of ours too, 44 % of the time; to read the schema and what it means takes",
    "  24 %, the formatter 6 %.",
    "- **diff**: of a comparison, to read both sides and what they mean takes a third, the rules and their proofs a third, and to load the",
    "  code a quarter. Of one that was made before, typer, with pydantic, which it loads to convert arguments, takes a fifth.",
    "- **one description changed**: what depends on the protocol is compared and made again: its changelog, the guides from it and to it,",
    "  its bindings and vectors. Each protocol is read, and the pages of all are laid out.",
)


def main() -> None:
    """Measure, and write the results and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", choices=PARTS, help="one of the parts above")
    new: dict[str, Any] = {}
    for part in parser.parse_args().parts or PARTS:
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
        "The messages are those of ACP v1. A mix is 1,600 different ones of eight kinds: chunks, tool calls and their updates, plans,",
        "prompts, requests for permission, results. No line profits from those before it. Where a field is unknown or null, one is so in",
        "the body of each message and in each update. The bindings keep unknown fields and variants, and refuse duplicate keys; the SDK,",
        "msgspec and pydantic alone do neither. msgspec reads our classes, pydantic those of the SDK. The modules in TypeScript",
        "have [tables of their own](typescript.md#size-and-speed).",
    ]
    heads = ("What", "acpgen", "Other", "Compared with", "Earlier ratio", "Ratio", "Spread", "Goal")
    for part in (one for one in PARTS if one in known):
        table = known[part]
        lines += ["", f"## {part.capitalize()}", "", f"Measured on {table['measured']}: {table['machine']}.", ""]
        lines += [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
        lines += [
            f"| {' | '.join([*row[:4], BEFORE.get(row[0], '') if row[6] else '', *row[4:]])} |" for row in table["rows"]
        ]
    lines += ["", "## Limits", "", "What prevents reaching the missed goals, measured by hand:", "", *LIMITS]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
