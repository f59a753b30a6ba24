"""Judges the comparison of random pairs of small protocols for as long as you like. No part of CI.

    python tests/bench/drawn_pairs.py [--seconds N] [--seed N]

Draws pairs as `tests/compat/drawn.py` does, from one seed on. Prints what must not be, with the seed that shows it: crashes, definitions
that are written differently and that no finding names, messages that contradict a "yes", and witnesses that a validator does not confirm.
At the end it prints how many pairs, messages and witnesses there were, and how many directions were undecided. Exits with 1 where there is
any complaint.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from compat.drawn import drawn_pair  # noqa: E402 - the tests' folder is on the path only now
from compat.histories import DIRECTIONS, RELATIONS, judged  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    end, counts = time.monotonic() + asked.seconds, Counter[str]()
    seed = asked.seed
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.json" for name in ("old", "new")]
        while time.monotonic() < end:
            for file, schema in zip(files, drawn_pair(seed), strict=True):
                file.write_text(json.dumps(schema), "utf-8")
            outcome = judged(files[0], files[1])
            counts.update(pairs=1, messages=outcome.attacks, witnesses=outcome.witnesses)
            counts.update(complaints=len(outcome.complaints), faults=bool(outcome.fault))
            if outcome.report is not None:
                report = outcome.report
                answers = [getattr(getattr(report, relation), way) for relation in RELATIONS for way, *_ in DIRECTIONS]
                counts.update(f"directions {answer}" for answer in answers)
                counts.update(open="undecided" in answers)
            for complaint in outcome.complaints:
                print(f"seed {seed}: {complaint}", flush=True)
            seed += 1
    print(f"seeds {asked.seed} to {seed - 1}: {counts['pairs']} pairs, {counts['faults']} of them no schemas")
    print(f"{counts['messages']} messages and {counts['witnesses']} witnesses, {counts['complaints']} complaints")
    print("directions:", ", ".join(f"{counts[f'directions {word}']} {word}" for word in ("yes", "no", "undecided")))
    print(f"pairs with a direction that is undecided: {counts['open']}")
    sys.exit(1 if counts["complaints"] else 0)


if __name__ == "__main__":
    main()
