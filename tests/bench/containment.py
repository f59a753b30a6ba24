"""Prints how the prover answers the JSON Schema containment test suite. Measures; judges nothing, and is no part of CI.

    git clone https://github.com/sdbs-uni-p/json-schema-containment-testsuite
    python tests/bench/containment.py json-schema-containment-testsuite [--list]

Each pair of schemas is asked both ways, in the draft of its folder. The suite's folder `draft4` writes `const`, which draft-04 does not
know: there it is asked as `enum`. `--list` prints every answer that is open or differs from the suite's ground truth, with its reason.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from schema_inclusion import Dialect, Relation, Verdict, compare

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from bench.figures import Times, counted, processor, show  # noqa: E402 - the tests' folder is on the path only now

DRAFTS: Final = {
    "draft4": Dialect.DRAFT_04,
    "draft6": Dialect.DRAFT_06,
    "draft7": Dialect.DRAFT_07,
    "draft2019-09": Dialect.DRAFT_2019_09,
    "draft2020-12": Dialect.DRAFT_2020_12,
}
COLUMNS: Final = ("as the suite says", "otherwise", "open")


@dataclass(frozen=True, slots=True)
class Answer:
    """One direction of one pair: what the suite says and what is answered, in which time for both directions."""

    draft: str
    name: str
    truth: bool
    relation: Relation
    seconds: float

    @property
    def column(self) -> str:
        if self.relation.verdict is Verdict.UNDECIDED:
            return "open"
        return "as the suite says" if (self.relation.verdict is Verdict.YES) is self.truth else "otherwise"


def answers(suite: Path, draft: str) -> Iterator[Answer]:
    """The answers to all pairs of a draft."""
    for path in sorted((suite / "tests" / draft).rglob("*.json")):
        for case in json.loads(path.read_text("utf-8")):
            old, new = (as_meant(case[key], draft) for key in ("schema1", "schema2"))
            started = processor()
            comparison = compare(old, new, dialect=DRAFTS[draft])
            seconds = processor() - started
            directions = {"s1SubsetEqOfs2": comparison.backward, "s2SubsetEqOfs1": comparison.forward}
            for key, truth in case["tests"].items():
                name = f"{path.relative_to(suite / 'tests').as_posix()} {case['id']} {key}"
                yield Answer(draft, name, truth, directions[key], seconds)


def as_meant(schema: Any, draft: str) -> Any:
    """The schema with the keywords of its draft."""
    if draft != "draft4":
        return schema
    if isinstance(schema, list):
        listed = cast("Any", schema)
        return [as_meant(each, draft) for each in listed]
    if not isinstance(schema, dict):
        return schema
    known = cast("dict[str, Any]", schema)
    meant: dict[str, Any] = {
        key: value if key == "enum" else as_meant(value, draft) for key, value in known.items() if key != "const"
    }
    return {**meant, "enum": [known["const"]]} if "const" in known else meant


def row(name: str, found: list[Answer]) -> list[str]:
    """A row of the table."""
    times = Times.of(found)
    shown = (times.median, times.p95, times.longest)
    return [name, str(len(found)), *counted(found, COLUMNS), *(f"{each * 1000:,.1f}" for each in shown)]


def described(answer: Answer) -> str:
    """What is open or otherwise, and why."""
    relation = answer.relation
    said: Any = json.dumps(relation.witness.value) if relation.witness is not None else relation.reason
    return f"{answer.column}: {answer.name}: {relation.verdict.value}: {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description="How the prover answers the containment test suite.")
    parser.add_argument("suite", type=Path, help="a clone of the suite")
    parser.add_argument("--draft", action="append", choices=DRAFTS, help="only this draft")
    parser.add_argument("--list", action="store_true", help="every answer that is open or differs")
    options = parser.parse_args()
    table = [["draft", "questions", *COLUMNS, "over 1 s", "median ms", "p95 ms", "max ms"]]
    everything: list[Answer] = []
    for draft in options.draft or DRAFTS:
        found = list(answers(options.suite, draft))
        table.append(row(draft, found))
        everything += found
        if options.list:
            print("\n".join(described(each) for each in found if each.column != COLUMNS[0]))
    table.append(row("all", everything))
    show(table)


if __name__ == "__main__":
    main()
