"""What a package has beyond types: the checks of what they do not say, and what even these leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from acpgen import ir
from acpgen.meaning.checks import Checks, checks
from acpgen.meaning.unenforced import Gaps, gaps_of
from acpgen.schema.bundle import Bundle
from acpgen.targets.python.literals import json_literal, literal


@dataclass(frozen=True, slots=True)
class Beyond:
    """The checks of a package, and what is not enforced even so. `of_more` are the definitions that speak of fields they do not name."""

    checks: Checks
    gaps: Gaps
    of_more: frozenset[str]

    def of(self, name: str, table: str = "CHECKS") -> str:
        """The check of a definition as source; empty where it has none. `table` is what the module calls the checks."""
        judge = self.checks.by.get(name)
        return f"{table}[{literal(judge)}]" if judge is not None else ""

    def with_gaps(self, doc: str, name: str) -> str:
        """The text of a docstring with what decoding does not enforce."""
        places = self.gaps.get(name, ())
        if not places:
            return doc
        listed = [f"- `{place}`" for place in places]
        return "\n".join([*([doc, ""] if doc else []), "Not enforced by `decode`:", "", *listed])


def beyond(protocol: ir.Protocol, bundle: Bundle) -> Beyond:
    """What a protocol needs beyond types."""
    found = checks(protocol, bundle)
    of_more = {
        name
        for name, schema in bundle.definitions.items()
        if any(schema.get(keyword) not in (None, False) for keyword in _OF_MORE)
    }
    return Beyond(found, gaps_of(found, bundle), frozenset(of_more))


_OF_MORE: Final = ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")


def check_view(found: Checks) -> dict[str, Any]:
    """The checks, for the template `unions.py`."""
    return {"patterns": _entries(found.patterns), "openings": _entries(found.openings)}


def _entries(table: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(literal(key), json_literal(value)) for key, value in table.items()]
