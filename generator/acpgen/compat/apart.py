"""Work that cannot be interrupted runs in a subprocess with a time budget: large automata, the engine, unsafe patterns."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Final, cast

from acpgen.compat.values import Json

SECONDS: Final = 1.0

_CHILD: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from acpgen.compat.apart import child; sys.exit(child(sys.argv[2]))"
)


class OutOfTime(Exception):
    """The subprocess did not answer within its budget, or not at all."""


def asked(module: str, order: Json, *, seconds: float = SECONDS) -> Json:
    """What the function `serve` of a module answers to the order. Raises `OutOfTime`."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and a module of ours
            [sys.executable, "-c", _CHILD, str(Path(__file__).parents[2]), module],
            input=json.dumps(order),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError, ValueError, RecursionError) as fault:
        raise OutOfTime from fault
    if done.returncode != 0:
        raise OutOfTime
    return cast("Json", json.loads(done.stdout))


def child(module: str) -> int:
    """The subprocess: an order on standard input, the module's answer on standard output."""
    answer: Json = importlib.import_module(module).serve(json.load(sys.stdin))
    json.dump(answer, sys.stdout)
    return 0
