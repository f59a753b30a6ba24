"""Whether everything valid under one JSON Schema is valid under another: a proof, a witness, or "undecided".

`compare` answers both directions for two documents, `include` one, `is_satisfiable` asks whether anything is valid at all.
A `Comparer` answers many questions about the schemas of two documents and remembers what it has proven. `unanswered` counts what was
left to time: an answer during which it grew may be another one on another machine.
`schema_inclusion.patterns` (texts of regular expressions), `schema_inclusion.values` (exact equality and numbers) and
`schema_inclusion.once` (validators of `jsonschema` that judge what is met again once) are public as well; all other modules are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schema_inclusion.answers import Comparison, Relation, Satisfiability, Verdict, Witness
    from schema_inclusion.apart import unanswered
    from schema_inclusion.budget import Allowance
    from schema_inclusion.comparer import Comparer, compare, include, is_satisfiable
    from schema_inclusion.document import Dialect
    from schema_inclusion.formats import FORMATS, UnknownFormat

__version__ = "0.1.0"
__all__ = [
    "FORMATS",
    "Allowance",
    "Comparer",
    "Comparison",
    "Dialect",
    "Relation",
    "Satisfiability",
    "UnknownFormat",
    "Verdict",
    "Witness",
    "compare",
    "include",
    "is_satisfiable",
    "unanswered",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for, so that patterns and values alone stay cheap."""
    if name in ("Comparison", "Relation", "Satisfiability", "Verdict", "Witness"):
        from schema_inclusion import answers

        return getattr(answers, name)
    if name == "Allowance":
        from schema_inclusion.budget import Allowance

        return Allowance
    if name == "Dialect":
        from schema_inclusion.document import Dialect

        return Dialect
    if name == "unanswered":
        from schema_inclusion.apart import unanswered

        return unanswered
    if name in ("FORMATS", "UnknownFormat"):
        from schema_inclusion import formats

        return getattr(formats, name)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from schema_inclusion import comparer

    return getattr(comparer, name)
