"""Repairs every pair of adjacent files of folders, such as all versions that a repository had of a schema. No part of CI.

    python tests/bench/repairs.py [--every N] FOLDER…

The files of a folder are compared in the order of their names, or with `--every` only each Nth pair with a breaking or risky finding.
Prints for each folder how many such findings there are and how many a repair ends, by rule the reasons of the others, and what must
not be: crashes, patches that the comparison does not confirm, lines that change and that no edit is about.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from compat.repaired import Tally, judged  # noqa: E402 - the tests' folder is on the path only now


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    asked = parser.parse_args()
    for folder in asked.folders:
        tally = Tally()
        for old, new in list(pairwise(sorted(folder.glob("*.json"))))[:: asked.every]:
            judged(tally, old, new)
        share = f"{tally.repaired / tally.findings:.0%}" if tally.findings else "none"
        print(
            f"{folder}: {tally.pairs} pairs with findings, {tally.findings} findings, {tally.repaired} repaired ({share}), "
            f"{tally.kept} of them keep the change; {tally.fixed} pairs wholly repaired; {tally.checks} patches judged again, "
            f"{len(tally.complaints)} complaints; {tally.unread} pairs that cannot be read"
        )
        for reason, count in tally.reasons.most_common():
            print(f"  {count:4} {reason}")
        for each in tally.complaints:
            print(f"  ! {each[:300]}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
