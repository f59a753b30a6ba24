"""What generated Python offers beside the types of the schema, and what it is called where the schema has that name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from acpgen.targets.python.naming import Names

PUBLIC: Final = (
    *("METHODS", "UNENFORCED", "AnyNotificationParams", "AnyRequestParams", "AnyResult", "Message", "Sender"),
    *("decode", "decode_as", "encode", "validate", "validate_as"),
)
"""What a package offers beside its types; `methods.py` has it."""


OWN: Final = frozenset(
    {
        *PUBLIC,
        *("TYPE_CHECKING", "Any", "Final", "Literal", "Mapping", "TypeAlias"),
        *("CODEC", "STRICT"),
    }
)
"""All names of `methods.py` that a type may have as well: those in small letters cannot be types."""


def own_names(names: Names) -> Mapping[str, str]:
    """What one module with everything calls what a type has the name of."""
    called = {**{name: f"_{name}" for name in OWN}, **public(PUBLIC, names)}
    return {name: called[name] for name in sorted(OWN & names.module_names)}


def public(offered: Iterable[str], names: Names) -> Mapping[str, str]:
    """The names under which something is offered: where the schema has that name, the schema keeps it."""
    every = frozenset(offered)
    found: dict[str, str] = {}
    for name in sorted(every):
        other = name
        while other in names.module_names or (other != name and other in every):
            other = f"Any{name}" if other == name and name.istitle() else f"{other}_"
        found[name] = other
    return found


def renaming_notes(called: Mapping[str, str], of: str = "the package") -> list[str]:
    """Sentences on what is called otherwise than it should be."""
    return [
        f"`{other}` is {of}'s own `{name}`: the schema defines a `{name}`, too."
        for name, other in called.items()
        if other != name
    ]


def in_order(names: Iterable[str]) -> list[str]:
    """Names as `__all__` has them: constants first."""
    return sorted(names, key=lambda name: (not name.isupper(), name))
