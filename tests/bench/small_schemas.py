"""Processor time and memory of what acpgen does with schemas of 1 KB that double at each level.

    python tests/bench/small_schemas.py [SHAPE]...

Each step runs in a process of its own, which ends after 30 seconds of processor time or at 1 GiB. No process starts from nothing: modules
are loaded before.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from acpgen import Documents, Faults, lint
from acpgen.compat.compare import compare
from acpgen.input.load import Source, parse
from acpgen.input.walk import Schema
from acpgen.meaning.understanding import understand
from acpgen.messages.validators import strict
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from doubling import SHAPES, protocol  # noqa: E402 - the tests' folder is on the path only now

SECONDS: Final = 30
BYTES: Final = 1 << 30
NAMES: Final = ("bundle", "docs", "python", "vectors")


PLAIN: Final[Schema] = {
    "$defs": {
        "GoRequest": {"type": "object", "properties": {"x": {"type": "string"}}, "x-method": "go", "x-side": "agent"}
    }
}
"""What is asked before anything is measured, so that all modules are loaded."""


def source(schema: Schema) -> Source:
    return Source("p", "", (("p.json", json.dumps(schema, separators=(",", ":")).encode()),))


def made(target: str, documents: Documents) -> object:
    return TARGETS[target](*understand(documents), Settings(package="p.q"))


def steps(before: Schema, after: Schema) -> Mapping[str, Callable[[], object]]:
    old, new = (parse(source(schema)) for schema in (before, after))
    return {
        "diff": lambda: compare(old, new),
        "diff --mode language": lambda: compare(old, new, mode="language"),
        **{f"generate --target {target}": partial(made, target, old) for target in NAMES},
        "lint": lambda: lint.lint(source(before)),
        "validate": lambda: strict(old),
    }


def measured(step: Callable[[], object]) -> str:
    """Seconds and megabytes of a step, and what became of it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        begun = time.process_time()
        try:
            step()
            said = "done"
        except Faults as faults:
            said = f"refused: {type(faults.faults[0]).__name__}"
        except MemoryError:
            said = "OUT OF MEMORY"
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        os.write(writing, f"{time.process_time() - begun:6.2f} s {used:4} MB  {said}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        answer = told.read()
    os.waitpid(child, 0)
    return answer or f"STOPPED after {SECONDS} s"


def main() -> None:
    for step in steps(PLAIN, {**PLAIN, "type": "object"}).values():
        step()
    for shape in sys.argv[1:] or SHAPES:
        for name, step in steps(protocol(shape), protocol(shape, changed=True)).items():
            print(f"{shape:24} {name:28} {measured(step)}", flush=True)


if __name__ == "__main__":
    main()
