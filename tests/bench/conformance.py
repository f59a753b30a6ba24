"""Prints the page that compares implementations by the conformance vectors, or writes it.

    .venv/bin/python tests/bench/conformance.py [FILE] [--differences]

With `--differences` the rows that are handled otherwise follow on stderr, by implementation.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = ("generator", "generator/acpgen-acp-sdk", "tests")
sys.path[:1] = [str(ROOT / folder) for folder in HERE]  # in place of this folder, which would hide the package

from bindings.subjects import Subjects  # noqa: E402 - the tests' folder is on the path only now
from conformance.report import columns, page  # noqa: E402


def main(arguments: list[str]) -> None:
    """Run everything that can be run here."""
    with tempfile.TemporaryDirectory() as folder:
        found = columns(Subjects(Path(folder)))
    files = [argument for argument in arguments if not argument.startswith("--")]
    if files:
        Path(files[0]).write_text(page(found), encoding="utf-8")
    else:
        print(page(found), end="")
    for column in found if "--differences" in arguments else ():
        if column.outcome is not None:
            for what, ids in (("misjudged", column.outcome.misjudged), ("altered", column.outcome.altered)):
                for id_ in ids:
                    print(f"{column.name}: {what}: {id_}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
