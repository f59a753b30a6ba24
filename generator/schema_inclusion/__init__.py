"""Decide whether everything valid under one JSON Schema is valid under another: by a proof, a witness, or "undecided".

`compare` answers both directions for two documents, `include` one, and `is_satisfiable` whether any value is valid at all. A `Comparer`
answers many questions about the schemas of two documents and caches what it has proven; a `Culprit` at a path inside a value restricts a
question to the values that contain it.

`schema_inclusion.patterns` (texts that match regular expressions), `schema_inclusion.values` (exact equality and numbers) and
`schema_inclusion.once` (`jsonschema` validators that follow each reference once per value) are public as well, and so is
`schema_inclusion.validation.open_validator`, which validates values as the witnesses are; all other modules are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from schema_inclusion.answers import Comparison as Comparison
    from schema_inclusion.answers import Relation as Relation
    from schema_inclusion.answers import Satisfiability as Satisfiability
    from schema_inclusion.answers import Verdict as Verdict
    from schema_inclusion.answers import Witness as Witness
    from schema_inclusion.budget import Allowance as Allowance
    from schema_inclusion.comparer import Comparer as Comparer
    from schema_inclusion.comparer import compare as compare
    from schema_inclusion.comparer import include as include
    from schema_inclusion.comparer import is_satisfiable as is_satisfiable
    from schema_inclusion.culprits import Culprit as Culprit
    from schema_inclusion.culprits import Part as Part
    from schema_inclusion.document import Dialect as Dialect
    from schema_inclusion.formats import FORMATS as FORMATS
    from schema_inclusion.formats import UnknownFormat as UnknownFormat

__version__ = "0.1.0"

_MODULES: Final = {
    "FORMATS": "formats",
    "Allowance": "budget",
    "Comparer": "comparer",
    "Comparison": "answers",
    "Culprit": "culprits",
    "Dialect": "document",
    "Part": "culprits",
    "Relation": "answers",
    "Satisfiability": "answers",
    "UnknownFormat": "formats",
    "Verdict": "answers",
    "Witness": "answers",
    "compare": "comparer",
    "include": "comparer",
    "is_satisfiable": "comparer",
}
"""The public names with the modules that define them."""

__all__ = [*_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """Import a public name on first access, so that importing only patterns and values stays cheap."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """The names for `dir`, `help` and completion, including those imported on first access."""
    return sorted({*globals(), *_MODULES})
