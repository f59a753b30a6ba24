"""Judges the comparison of each two adjacent files of folders, such as all versions that a repository had of a schema. No part of CI.

    python tests/bench/histories.py [--pairs N] [--minutes M] FOLDER…

The files of a folder are compared in the order of their names: all adjacent pairs, or N of each folder at even distances. After M minutes
of processor time for each folder no pair is begun; how many were not compared is told. Prints what must not be: crashes, definitions that
are written differently and that no finding names, messages that contradict a "yes", and witnesses that a validator does not confirm. Exits
with 1 where there is any.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from compat.histories import Outcome, judged  # noqa: E402 - the tests' folder is on the path only now


def sampled(pairs: list[tuple[Path, Path]], most: int | None) -> list[tuple[Path, Path]]:
    """So many of the pairs at even distances, the first and the last among them."""
    if most is None or most >= len(pairs):
        return pairs
    return [pairs[number * (len(pairs) - 1) // max(most - 1, 1)] for number in range(most)]


def told(folder: str, most: int | None, minutes: float | None) -> bool:
    """Compares the pairs of a folder, prints what came of it, and says whether there was anything that must not be."""
    adjacent = [*pairwise(sorted(Path(folder).glob("*.json")))]
    outcomes: list[Outcome] = []
    begun = time.process_time()
    for old, new in sampled(adjacent, most):
        if minutes is not None and time.process_time() - begun > minutes * 60:
            break
        outcomes.append(each := judged(old, new))
        for complaint in (*each.complaints, *([each.fault] if each.fault else [])):
            print(f"  {each.old} {each.new} {complaint[:400]}", flush=True)
    verdicts = Counter("fault" if each.report is None else each.report.verdict for each in outcomes)
    attacks, witnesses = (sum(getattr(each, name) for each in outcomes) for name in ("attacks", "witnesses"))
    spent = time.process_time() - begun
    print(
        f"{folder}: {len(outcomes)} of {len(adjacent)} pairs, {len(adjacent) - len(outcomes)} not compared, {dict(verdicts)}, "
        f"{attacks} messages tried, {witnesses} witnesses judged, {spent:.0f} s of processor time",
        flush=True,
    )
    return any(each.complaints for each in outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", metavar="FOLDER", nargs="+")
    parser.add_argument("--pairs", metavar="N", type=int, help="so many pairs of each folder")
    parser.add_argument("--minutes", metavar="M", type=float, help="of processor time for each folder")
    given = parser.parse_args()
    return int(sum([told(folder, given.pairs, given.minutes) for folder in given.folders]) > 0)


if __name__ == "__main__":
    sys.exit(main())
