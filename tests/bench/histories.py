"""Judges the comparison of each two adjacent files of folders, such as all versions that a repository had of a schema. No part of CI.

    python tests/bench/histories.py FOLDER…

The files of a folder are compared in the order of their names. Prints what must not be: crashes, definitions that are written
differently and that no finding names, messages that contradict a "yes", and witnesses that a validator does not confirm.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from compat.histories import judged  # noqa: E402 - the tests' folder is on the path only now


def main() -> None:
    for folder in sys.argv[1:]:
        outcomes = [judged(old, new) for old, new in pairwise(sorted(Path(folder).glob("*.json")))]
        for each in outcomes:
            for complaint in (*each.complaints, *([each.fault] if each.fault else [])):
                print(f"  {each.old} {each.new} {complaint[:400]}")
        verdicts = Counter("fault" if each.report is None else each.report.verdict for each in outcomes)
        attacks, witnesses = (sum(getattr(each, name) for each in outcomes) for name in ("attacks", "witnesses"))
        print(
            f"{folder}: {len(outcomes)} pairs, {dict(verdicts)}, {attacks} messages tried, {witnesses} witnesses judged",
            flush=True,
        )


if __name__ == "__main__":
    main()
