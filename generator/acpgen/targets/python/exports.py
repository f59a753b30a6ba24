"""The exports of generated Python other than the types of the schema, and their names if the schema defines the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from acpgen.targets.python.naming import Names

PUBLIC: Final = (
    *("METHODS", "UNENFORCED", "AnyNotificationParams", "AnyRequestParams", "AnyResult", "Message", "Sender"),
    *("decode", "decode_as", "encode", "validate", "validate_as"),
)
"""The exports of a package other than its types; defined in `methods.py`."""


OWN: Final = frozenset(
    {
        *PUBLIC,
        *("TYPE_CHECKING", "Any", "Final", "Literal", "Mapping", "TypeAlias"),
        *("CODEC", "STRICT"),
    }
)
"""All names of `methods.py` that may also be the name of a type; lower-case names cannot."""


def find_clashes(names: Names) -> Mapping[str, str]:
    """The names of `OWN` that clash with a type, each with its name in a single module."""
    public_names = {**{name: f"_{name}" for name in OWN}, **name_exports(PUBLIC, names)}
    return {name: public_names[name] for name in sorted(OWN & names.module_names)}


def name_exports(exported_names: Iterable[str], names: Names) -> Mapping[str, str]:
    """The exported name of each name: the schema's types have precedence, so a clashing name is changed."""
    every = frozenset(exported_names)
    public_names: dict[str, str] = {}
    for name in sorted(every):
        public_name = name
        while public_name in names.module_names or (public_name != name and public_name in every):
            public_name = f"Any{name}" if public_name == name and name.istitle() else f"{public_name}_"
        public_names[name] = public_name
    return public_names


def describe_renamings(public_names: Mapping[str, str], of: str = "the package") -> list[str]:
    """Sentences on the exports that had to be renamed."""
    return [
        f"`{public_name}` is {of}'s own `{name}`: the schema defines a `{name}`, too."
        for name, public_name in public_names.items()
        if public_name != name
    ]


def sort_exports(names: Iterable[str]) -> list[str]:
    """Names in the order of `__all__`: constants first."""
    return sorted(names, key=lambda name: (not name.isupper(), name))
