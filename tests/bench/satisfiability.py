"""Prints how the prover answers the schemas of "Witness Generation for JSON Schema". Measures; judges nothing, and is no part of CI.

    git clone https://github.com/sdbs-uni-p/JSONSchemaWitnessGeneration
    python tests/bench/satisfiability.py JSONSchemaWitnessGeneration [--set GitHub] [--list]

Each schema is asked whether anything is valid under it. The data set says by its folders which ones are satisfiable. A schema that
names no draft, or none that exists, is read in the draft that a schema inside it names; otherwise in draft-04 where its limits say
`exclusiveMaximum: true`, and in draft-07 where they do not. `--list` prints every answer that is open, over time,
slower than a second or differs from the folder.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from schema_inclusion import Dialect, Satisfiability, Verdict, is_satisfiable

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from bench.figures import Times, counted, processor, show  # noqa: E402 - the tests' folder is on the path only now

PLACE: Final = "artifacts/JSONAlgebra/JsonSchema_To_Algebra/expDataset"
SETS: Final = {
    "GitHub": ("github/sat", "github/unsat", "github/excluded-ours"),
    "Kubernetes": ("kubernetes/sat", "kubernetes/unsat"),
    "Snowplow": ("snowplow/ours", "snowplow/excluded-ours"),
    "WashingtonPost": ("wp",),
    "Handwritten": ("handwritten/sat", "handwritten/unsat"),
    "Containment": ("containment/sat", "containment/unsat"),
}
COLUMNS: Final = ("as the folder says", "otherwise", "open", "over time")
SECONDS: Final = 60
DRAFTS: Final = {"04": Dialect.DRAFT_04, "06": Dialect.DRAFT_06, "07": Dialect.DRAFT_07}
_NAMED: Final = re.compile(r'"\$schema": "http://json-schema\.org/draft-(0[467])/schema#?"')
_OLDEST: Final = re.compile(r'"exclusiveM(?:in|ax)imum": (?:true|false)')


@dataclass(frozen=True, slots=True)
class Answer:
    """One schema: whether its folder says that it is satisfiable, what is answered (nothing if over time), and the time."""

    name: str
    truth: bool
    said: Satisfiability | None
    seconds: float

    @property
    def column(self) -> str:
        if self.said is None:
            return "over time"
        if self.said.verdict is Verdict.UNDECIDED:
            return "open"
        return "as the folder says" if (self.said.verdict is Verdict.YES) is self.truth else "otherwise"


class OverTime(BaseException):
    """A question took longer than the limit. No `Exception`: nothing between here and the question may catch it."""


def _stop(*_: object) -> NoReturn:
    raise OverTime


def draft(schema: Any) -> Dialect:
    """The draft of a schema that names none."""
    text = json.dumps(schema)
    named = _NAMED.search(text)
    if named is not None:
        return DRAFTS[named[1]]
    return Dialect.DRAFT_04 if _OLDEST.search(text) else Dialect.DRAFT_07


def asked(schema: Any) -> Satisfiability | None:
    """The answer, or nothing if it takes too long."""
    dialect = draft(schema)
    signal.alarm(SECONDS)
    try:
        return is_satisfiable(schema, dialect=dialect)
    except OverTime:
        return None
    finally:
        signal.alarm(0)


def read(path: Path) -> Any:
    """The schema of a file, without the name of a draft that does not exist."""
    schema: Any = json.loads(path.read_text("utf-8-sig"))
    named = json.dumps({"$schema": schema["$schema"]}) if isinstance(schema, dict) and "$schema" in schema else ""
    if named and _NAMED.search(named) is None:
        del schema["$schema"]
    return cast("Any", schema)


def answers(root: Path, folders: tuple[str, ...]) -> Iterator[Answer]:
    """The answers to all schemas of a set."""
    for folder in folders:
        for path in sorted((root / PLACE / folder).rglob("*.json")):
            schema = read(path)
            started = processor()
            said = asked(schema)
            name = path.relative_to(root / PLACE).as_posix()
            yield Answer(name, "/unsat/" not in name, said, processor() - started)


def row(name: str, found: list[Answer]) -> list[str]:
    """A row of the table."""
    times = Times.of(found)
    shown = (times.median, times.p95, times.mean, times.longest)
    return [name, str(len(found)), *counted(found, COLUMNS), *(f"{each:.3f}" for each in shown)]


def described(answer: Answer) -> str:
    """What is open, slow or otherwise, and why."""
    said = answer.said
    if said is None:
        return f"over time: {answer.name}"
    shown = json.dumps(said.instance.value)[:300] if said.instance is not None else said.reason
    return f"{answer.column}: {answer.name}: {answer.seconds:.2f} s: {said.verdict.value}: {shown}"


def main() -> None:
    parser = argparse.ArgumentParser(description="How the prover answers the schemas of the witness generation paper.")
    parser.add_argument("data", type=Path, help="a clone of the reproduction package")
    parser.add_argument("--set", action="append", choices=SETS, help="only this set")
    parser.add_argument("--list", action="store_true", help="every answer that is open, slow or differs")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _stop)
    table = [["set", "schemas", *COLUMNS, "over 1 s", "median s", "p95 s", "mean s", "max s"]]
    for name in options.set or SETS:
        found: list[Answer] = []
        for answer in answers(options.data, SETS[name]):
            found.append(answer)
            if options.list and (answer.column != COLUMNS[0] or answer.seconds > 1):
                print(described(answer), flush=True)
        table.append(row(name, found))
    show(table)


if __name__ == "__main__":
    main()
