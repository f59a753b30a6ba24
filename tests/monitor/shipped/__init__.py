"""Recorded conversations with shipped agents, with texts of ours in place of theirs. `tests/bench/shipped.py` writes them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
TABLE: Final = FOLDER / "expected.json"


def conversation(name: str) -> list[tuple[str, Any]]:
    """Who says what in a recording."""
    rows = map(json.loads, (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines())
    return [(row["from"], row["message"]) for row in rows]


def kinds(breaches: Iterable[Any]) -> list[dict[str, Any]]:
    """What a monitor said, each kind once with how often it did."""
    fields = ("level", "rule", "from", "method", "pointer")
    found = Counter(
        (one.level, one.rule, one.sender, one.method, re.sub(r"/[0-9]+", "/*", one.pointer)) for one in breaches
    )
    return [{**dict(zip(fields, kind, strict=True)), "times": times} for kind, times in found.items()]
