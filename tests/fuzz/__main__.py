"""Fuzzes one target for as long as you like, from its corpus, and stops at the first defect with the input that shows it.

    cd tests && python -m fuzz TARGET [--seconds N] [--seed N]

With atheris installed, its coverage leads; without, edits are drawn at random. Either way the seed makes a run the same again.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_PARTS = ("generator", "generator/acp-monitor", "generator/acp-workspace", "generated/python/acp-bindings")
sys.path[:0] = [str(_ROOT / part) for part in _PARTS]

from fuzz.targets import CORPORA, TARGETS, corpus, known, mutated  # noqa: E402 - what it imports is on the path only now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", metavar="TARGET", type=known)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    run, name = TARGETS[asked.target]
    if importlib.util.find_spec("atheris") is not None:
        atheris: Any = importlib.import_module("atheris")
        atheris.instrument_all()
        found = tempfile.mkdtemp(prefix=f"fuzz-{asked.target}-")
        options = [f"-max_total_time={asked.seconds}", f"-seed={asked.seed}", f"-artifact_prefix={found}/"]
        atheris.Setup([sys.argv[0], *options, found, str(CORPORA / name)], run)
        atheris.Fuzz()
        return
    drawn, known_inputs = random.Random(asked.seed), corpus(name)
    end, tried = time.monotonic() + asked.seconds, 0
    while time.monotonic() < end:
        edits = [tuple(drawn.randrange(1 << 20) for _ in range(3)) for _ in range(drawn.randrange(8))]
        data = mutated(drawn.choice(known_inputs), [(kind, at, choice) for kind, at, choice in edits], name)
        tried += 1
        try:
            run(data)
        except Exception:  # noqa: BLE001 - whatever it is, it is a defect
            traceback.print_exc()
            shown = Path(tempfile.mkdtemp(prefix=f"fuzz-{asked.target}-")) / "input"
            shown.write_bytes(data)
            raise SystemExit(
                f"{asked.target}: input {tried} of seed {asked.seed} is a defect; it lies in {shown}"
            ) from None
    print(f"{asked.target}: {tried} inputs of seed {asked.seed}, no defect")


if __name__ == "__main__":
    main()
