"""Judges the comparison of each change of a keyword of JSON Schema at each place, with `jsonschema` as the judge. No part of CI.

    python tests/bench/keyword_table.py [PART/PARTS]

Prints what must not be: a "yes" that a value contradicts, and a change of what is accepted that no finding tells. With `2/8`, only every
eighth cell, from the third one on.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from compat.keyword_table import cells, complaints  # noqa: E402 - the tests' folder is on the path only now


def main() -> None:
    part, _, parts = (sys.argv[1] if len(sys.argv) > 1 else "0/1").partition("/")
    judged = list(cells())[int(part) :: int(parts)]
    found = 0
    for each in judged:
        for complaint in complaints(each):
            found += 1
            print(complaint, flush=True)
    shown = sum(1 for each in judged if any(each.refuted))
    print(
        f"{len(judged)} cells, {shown} with a value that shows the change, {found} complaints; {time.process_time():.0f} s"
    )
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
