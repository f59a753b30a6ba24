"""The demands of the specifications that cases of the probe test: source, strength, and text in our own words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

Strength: TypeAlias = Literal["must", "should", "note"]
"""`must` and `should` are violations. A `note` is information: the documents say less than SHOULD, or nothing."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A demand. `number` is its number or id in the table of requirements, if it is there."""

    document: str
    section: str
    strength: Strength
    says: str
    number: int | str | None = None

    def __str__(self) -> str:
        number = f"requirement {self.number}" if self.number is not None else ""
        return f"{', '.join(part for part in (self.document, self.section, number) if part)}: {self.says}"


RPC: Final = "JSON-RPC 2.0"
ACP: Final = "Agent Client Protocol"

CLAUSES: Final[Mapping[str, Clause]] = {
    name: Clause(*row) for name, row in json.loads(Path(__file__).with_name("clauses.json").read_bytes()).items()
}
"""The clauses that cases name."""
