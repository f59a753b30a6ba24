"""Compare two JSON Schema files, or decide whether any value is valid under one.

    python -m schema_inclusion old.json new.json
    python -m schema_inclusion schema.json

Exit codes: 0 yes, 1 no, 2 a file or an option that cannot be read, 3 undecided. With two files the question is whether everything valid
under the old schema is valid under the new one; `--need` asks for the reverse or for both.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NoReturn

from schema_inclusion.answers import Relation, Satisfiability, Verdict, Witness
from schema_inclusion.comparer import STEPS, compare, is_satisfiable
from schema_inclusion.document import Dialect, list_keywords
from schema_inclusion.formats import FORMATS, UnknownFormat, require_known
from schema_inclusion.values import Json, dumps, loads

EXIT_CODES: Final = {Verdict.YES: 0, Verdict.NO: 1, Verdict.UNDECIDED: 3}
UNREADABLE: Final = 2
DRAFTS: Final = {dialect.name.removeprefix("DRAFT_").replace("_", "-"): dialect for dialect in Dialect}
HEADINGS: Final = {
    "backward": "Is everything valid under the old schema valid under the new one?",
    "forward": "Is everything valid under the new schema valid under the old one?",
    "satisfiable": "Is anything valid under the schema?",
}


class Unreadable(ValueError):
    """A file that holds no JSON value or no schema; the message is one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code."""
    parser = _make_parser()
    options = parser.parse_args(arguments)
    if len(options.files) > 2:
        parser.error("name one file or two")
    try:
        schemas = [read(path) for path in options.files]
    except Unreadable as fault:
        print(fault, file=sys.stderr)
        return UNREADABLE
    answers = _answer(schemas, options.steps, options.formats, DRAFTS.get(options.draft))
    print(_format_json(answers) if options.json else "\n".join(_format_text(answers)))
    requested_answers = [
        answer for name, answer in answers.items() if options.need in (name, "both") or name == "satisfiable"
    ]
    return _find_exit_code([answer.verdict for answer in requested_answers])


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m schema_inclusion",
        description="Whether everything valid under one JSON Schema is valid under another, with proof.",
        epilog="Exit codes: 0 yes, 1 no, 2 a file or an option that cannot be read, 3 undecided.",
    )
    add = parser.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="old and new; or one schema: is anything valid under it?")
    add("--json", action="store_true", help="print the answer as JSON")
    add(
        "--need",
        choices=("backward", "forward", "both"),
        default="backward",
        help="the direction that the exit code is about: old in new (backward, the default), new in old, or both",
    )
    add("--draft", choices=DRAFTS, help="the draft of a schema without $schema; its keywords tell if it is not given")
    add("--steps", type=_parse_steps, default=STEPS, help="the budget of one question, the same on every machine")
    add(
        "--formats",
        type=_parse_formats,
        default=frozenset(),
        metavar="NAMES",
        help="formats to assert, such as date,uri; or all",
    )
    return parser


def _parse_formats(text: str) -> frozenset[str]:
    try:
        return frozenset(FORMATS) if text == "all" else require_known(text.split(","))
    except UnknownFormat as fault:
        raise argparse.ArgumentTypeError(str(fault)) from None


def _parse_steps(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of steps")
    return int(text)


def read(path: Path) -> Json:
    """Read the JSON Schema of a file.

    Raises `Unreadable`, also for a non-empty object without any keyword: as a schema, it would accept everything.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        value = _parse(text)
    except OSError as fault:
        raise Unreadable(f"{path}: cannot be read: {fault.strerror or fault}. Name a file.") from fault
    except RecursionError as fault:
        raise Unreadable(f"{path}: is nested too deeply to be read.") from fault
    except ValueError as fault:
        raise Unreadable(
            f"{path}: is not JSON that can be read: {str(fault).splitlines()[0]}. Name a JSON Schema."
        ) from fault
    if isinstance(value, dict) and value and not any(key in list_keywords() or key.startswith("x-") for key in value):
        raise Unreadable(f"{path}: is not a JSON Schema: none of its members is a keyword. Name a JSON Schema.")
    return value


def _parse(text: str) -> Json:
    value: Json = loads(text, parse_constant=_refuse, object_pairs_hook=_collect_members)
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _collect_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object gives {json.dumps(next(name for name in names if names.count(name) > 1))} twice")
    return members


def _answer(
    schemas: Sequence[Json], steps: int, formats: frozenset[str], dialect: Dialect | None
) -> dict[str, Relation] | dict[str, Satisfiability]:
    if len(schemas) == 1:
        return {"satisfiable": is_satisfiable(schemas[0], steps=steps, formats=formats, dialect=dialect)}
    comparison = compare(schemas[0], schemas[1], steps=steps, formats=formats, dialect=dialect)
    return {"backward": comparison.backward, "forward": comparison.forward}


def _find_exit_code(verdicts: Sequence[Verdict]) -> int:
    """The exit code of the worst verdict."""
    worst = next(verdict for verdict in (Verdict.NO, Verdict.UNDECIDED, Verdict.YES) if verdict in verdicts)
    return EXIT_CODES[worst]


def _find_value(answer: Relation | Satisfiability) -> tuple[str, Witness | None]:
    """The label and the value of an answer."""
    return ("witness", answer.witness) if isinstance(answer, Relation) else ("instance", answer.instance)


def _format_json(answers: dict[str, Relation] | dict[str, Satisfiability]) -> str:
    return dumps({name: _to_data(answer) for name, answer in answers.items()}, indent=2)


def _to_data(answer: Relation | Satisfiability) -> dict[str, Json]:
    data: dict[str, Json] = {"verdict": answer.verdict.value, "reason": answer.reason}
    name, witness = _find_value(answer)
    if witness is not None:
        data[name] = {"value": witness.value, "verified": witness.verified}
    return data


def _format_text(answers: dict[str, Relation] | dict[str, Satisfiability]) -> Iterator[str]:
    for heading, answer in answers.items():
        yield f"{HEADINGS[heading]} {answer.verdict.value}"
        yield f"  {answer.reason}"
        name, witness = _find_value(answer)
        if witness is not None:
            yield f"  {name}: {dumps(witness.value)}"


if __name__ == "__main__":
    sys.exit(main())
