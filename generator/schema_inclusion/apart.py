"""Work that cannot be interrupted runs in a subprocess with a time budget: unsafe patterns, values that exhaust the stack."""

from __future__ import annotations

import importlib
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, cast

from schema_inclusion.imports import without_formats
from schema_inclusion.values import Json, dumps, loads

SECONDS: Final = 1
"""Of processor time, after what starting takes: a busy machine changes no verdict."""
LONGEST_WAIT: Final = 15.0
"""Seconds by the clock, where processor time cannot be limited or the machine is very busy."""

_CHILD: Final = "import sys; sys.path.insert(0, sys.argv[1]); from schema_inclusion.apart import child; sys.exit(child(sys.argv[2]))"


class OutOfTime(Exception):
    """The subprocess did not answer within its budget, or not at all."""


_unanswered = 0


def unanswered() -> int:
    """How many orders of this process had no answer. What was decided without one may be decided otherwise another time."""
    return _unanswered


def asked(module: str, order: Json) -> Json:
    """What the function `serve` of a module answers to the order. Raises `OutOfTime`."""
    global _unanswered
    _unanswered += 1
    answer = _asked(module, order)
    _unanswered -= 1
    return answer


def _asked(module: str, order: Json) -> Json:
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and a module of ours
            [sys.executable, "-P", "-c", _CHILD, str(Path(__file__).parents[1]), module],
            input=dumps(order),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LONGEST_WAIT,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError, ValueError, RecursionError) as fault:
        raise OutOfTime from fault
    if done.returncode != 0:
        raise OutOfTime
    return cast("Json", loads(done.stdout))


def child(module: str) -> int:
    """The subprocess: an order on standard input, the module's answer on standard output."""
    without_formats()
    serve = importlib.import_module(module).serve
    order = loads(sys.stdin.read())
    _limit(SECONDS)
    answer: Json = serve(order)
    sys.stdout.write(dumps(answer))
    return 0


def _limit(seconds: int) -> None:
    """Ends this process once it has used so much processor time from now on, and not before."""
    if sys.platform != "win32":
        import resource

        limit = math.ceil(time.process_time()) + seconds
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
