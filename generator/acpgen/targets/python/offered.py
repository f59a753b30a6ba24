"""What generated Python offers beside the types of the schema, and what it is called where the schema has that name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from acpgen.targets.python.naming import Names

PUBLIC: Final[Mapping[str, str]] = {
    "UNENFORCED": "_tables",
    **dict.fromkeys(
        ("METHODS", "AnyNotificationParams", "AnyRequestParams", "AnyResult", "Message", "Sender"), "methods"
    ),
    **dict.fromkeys(("decode", "decode_as", "encode"), "methods"),
    **dict.fromkeys(("validate", "validate_as"), "strict"),
}
"""What a package offers, with the module that has it."""

SHARED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("DecodeError", "Dropped", "EncodeError", "Problem"), "errors"),
    **dict.fromkeys(("MISSING", "Unknown"), "model"),
    **dict.fromkeys(("MissingExtra", "Violation"), "strict"),
    **dict.fromkeys(("ErrorObject", "ErrorResponse", "Notification", "Request", "Response"), "jsonrpc"),
    "Method": "contract",
    "encode_strictly": "sending",
}
"""What one file has to offer of the run-time package, with its module there."""


def public(offered: Iterable[str], names: Names) -> Mapping[str, str]:
    """The names under which something is offered: where the schema has that name, the schema keeps it."""
    every = frozenset(offered)
    found: dict[str, str] = {}
    for name in sorted(every):
        other = name
        while other in names.taken or (other != name and other in every):
            other = f"Any{name}" if other == name and name.istitle() else f"{other}_"
        found[name] = other
    return found


def moved(called: Mapping[str, str], of: str = "the package") -> list[str]:
    """Sentences on what is called otherwise than it should be."""
    return [
        f"`{other}` is {of}'s own `{name}`: the schema defines a `{name}`, too."
        for name, other in called.items()
        if other != name
    ]


def in_order(names: Iterable[str]) -> list[str]:
    """Names as `__all__` has them: constants first."""
    return sorted(names, key=lambda name: (not name.isupper(), name))
