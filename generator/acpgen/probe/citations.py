"""The requirements that reports of the probe cite: rows of `schema/requirements.json`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from acpgen import resources
from acpgen.input.load import read_data


class RequirementRow(NamedTuple):
    """A row of the table: the title of its document, its section, its text, its level, and the side that it binds."""

    document: str
    section: str
    says: str
    level: str
    who: str


@cache
def read_requirements() -> Mapping[int | str, RequirementRow]:
    """Every row by its number or id."""
    table = _read_table()
    titles = {document["id"]: document["title"] for document in table["documents"]}
    return {
        _read_identifier(row): RequirementRow(
            titles.get(row["document"], row["document"]), row["section"], row["says"], row["level"], row["who"]
        )
        for row in table["rules"]
    }


@cache
def list_tested_rows() -> Mapping[str, tuple[int | str, ...]]:
    """The rows that each case tests."""
    rows_by_case: dict[str, list[int | str]] = {}
    for row in _read_table()["rules"]:
        for case in row.get("probe", ()):
            rows_by_case.setdefault(case, []).append(_read_identifier(row))
    return {case: tuple(rows) for case, rows in rows_by_case.items()}


def _read_table() -> Any:
    return read_data(resources.locate_schema() / "requirements.json")


def _read_identifier(row: Any) -> int | str:
    identifier: int | str = row["number"] if "number" in row else row["id"]
    return identifier
