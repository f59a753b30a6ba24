"""Puts `schema/requirements.json` in order: documents, ids, the tests that try each row, the layout, and the index of them that the
monitor has.

    python tests/requirements_file.py              write the file as it must be
    python tests/requirements_file.py --check      say whether it is so; exits 1 if it is not
    python tests/requirements_file.py ROWS.json    take in the documents and rules of another file of this form first

A row of ROWS.json needs no `id` and no `tests`: a row without an id gets the next place in its section.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from acpgen.adopt import layout
from acpgen.publish.requirement_table import make_slug

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "schema" / "requirements.json"
MONITOR: Final = ROOT / "generator" / "acp-monitor" / "acp_monitor" / "requirements.json"

HOMES: Final = {
    "schema": "tests/test_requirements_schema.py::test_the_schema_holds_the_requirement",
    "lint": "tests/test_requirements.py::test_lint_finds_what_breaks_the_requirement",
    "monitor": "tests/test_requirements.py::test_the_monitor_names_the_requirement",
    "functions": "tests/{package}/test_requirements.py::test_the_requirement_is_kept",
    "probe": "tests/test_requirements.py::test_the_probe_has_the_case",
}
"""The test that tries every requirement enforced in this way, one by one."""

KEYS: Final = (
    *("number", "id", "document", "section", "protocols", "level", "who", "says", "methods"),
    *("schema", "validator", "lint", "monitor", "functions", "bindings", "probe", "documentation", "tests"),
)


def identity(row: Mapping[str, Any]) -> int | str:
    found: int | str = row["number"] if "number" in row else row["id"]
    return found


def label(identifier: int | str) -> str:
    """How the tests name a requirement."""
    return f"req-{identifier:03}" if isinstance(identifier, int) else identifier


def home(way: str, identifier: int | str, functions: Sequence[str] = ()) -> str:
    package = "session" if any(name.startswith("acp_session") for name in functions) else "workspace"
    return f"{HOMES[way].format(package=package)}[{label(identifier)}]"


def ordered(table: dict[str, Any]) -> dict[str, Any]:
    """The table as its file must hold it."""
    places = {document["id"]: place for place, document in enumerate(table["documents"])}
    sections: dict[tuple[str, str], int] = {}
    for row in table["rules"]:
        if "number" not in row:
            section = (row["document"], make_slug(row["section"]))
            taken = int(str(row.get("id", "0")).rpartition("/")[2])
            sections[section] = max(sections.get(section, 0), taken)
    for row in table["rules"]:
        if "number" not in row and "id" not in row:
            section = (row["document"], make_slug(row["section"]))
            sections[section] += 1
            row["id"] = f"{'/'.join(section)}/{sections[section]}"
    first: dict[tuple[str, str], int] = {}
    for place, row in enumerate(table["rules"]):
        first.setdefault((row["document"], row["section"]), place)
    rows: list[dict[str, Any]] = sorted(
        table["rules"],
        key=lambda row: (places[row["document"]], row.get("number", first[row["document"], row["section"]])),
    )
    return {"documents": table["documents"], "rules": [tested(row) for row in rows]}


def tested(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its keys in order, and with the tests of its ways before the others that it names."""
    homes = [home(way, identity(row), row.get("functions", ())) for way in HOMES if way in row]
    every = tuple(f"{at.format(package=package)}[" for at in HOMES.values() for package in ("session", "workspace"))
    others = [name for name in row.get("tests", ()) if not name.startswith(every)]
    tests = {"tests": [*homes, *others]} if homes or others else {}
    whole = {**{key: value for key, value in row.items() if key != "tests"}, **tests}
    return {key: whole[key] for key in sorted(whole, key=KEYS.index)}


def merged(table: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both tables in one; a document or rule that both have is taken from the other. A rule without an id is the one of its document
    that says the same, if there is one.
    """
    documents = {document["id"]: document for document in (*table["documents"], *other["documents"])}
    ids = {(row["document"], row["says"]): row["id"] for row in table["rules"] if "id" in row}
    rows = [row if "number" in row or "id" in row else found(row, ids) for row in other["rules"]]
    replaced = {identity(row): row for row in rows if "number" in row or "id" in row}
    kept = [replaced.pop(identity(row), row) for row in table["rules"]]
    added = [row for row in rows if "id" not in row and "number" not in row]
    return {"documents": list(documents.values()), "rules": [*kept, *replaced.values(), *added]}


def found(row: dict[str, Any], ids: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    known = ids.get((row["document"], row["says"]))
    return row if known is None else {**row, "id": known}


def of_monitor(table: Mapping[str, Any]) -> str:
    """The monitor's index: for each protocol the requirements behind a rule, a rule and a word, or a field that the schema checks."""
    protocols = {document["id"]: document["protocols"] for document in table["documents"]}
    found: dict[str, dict[str, list[int | str]]] = {}
    for row in table["rules"]:
        entries = [
            (protocol, entry)
            for entry in row.get("monitor", ())
            for protocol in row.get("protocols", protocols[row["document"]])
        ]
        for protocol, key in (*entries, *(fields(row) if "id" in row else ())):
            ids = found.setdefault(protocol, {}).setdefault(key, [])
            ids += [] if identity(row) in ids else [identity(row)]
    blocks = [
        f"{quoted(protocol)}: {{\n"
        + ",\n".join(f"{quoted(key)}: {quoted(ids)}" for key, ids in sorted(keys.items()))
        + "\n}"
        for protocol, keys in sorted(found.items())
    ]
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def fields(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields in which the schema enforces a requirement, with their protocols."""
    keywords = set(row.get("validator", ()))
    for place in row.get("schema", ()):
        for where in place["at"]:
            protocol, _, pointer = where.partition("#/$defs/")
            match pointer.split("/"):
                case [name, "required"] if "required" in keywords:
                    yield from ((protocol, f"{name} without {field}") for field in place.get("has", ()))
                case [name, "properties", field] if keywords - {"required"}:
                    yield protocol, f"{name}/{field}"
                case _:
                    pass


def quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def wanted(table: dict[str, Any]) -> dict[Path, str]:
    """Both files as they must be."""
    whole = ordered(table)
    return {FILE: layout.format_document(whole), MONITOR: of_monitor(whole)}


def main(arguments: list[str]) -> int:
    table = json.loads(FILE.read_text("utf-8"))
    for name in arguments:
        if not re.match("--", name):
            table = merged(table, json.loads(Path(name).read_text("utf-8")))
    files = wanted(table)
    wrong = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in arguments:
        for path in wrong:
            print(f"{path.relative_to(ROOT)} is not in order: run python tests/requirements_file.py")
        return 1 if wrong else 0
    for path in wrong:
        path.write_text(files[path], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
