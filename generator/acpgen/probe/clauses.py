"""What the specifications demand, as far as a case of the probe tries it: where it stands, how strongly, and in our own words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

Strength: TypeAlias = Literal["must", "should", "note"]
"""`must` and `should` are breaches. A `note` is worth knowing: the documents say less than SHOULD, or nothing."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A demand. `number` is that of the table of requirements, or its id there, where it has one."""

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
