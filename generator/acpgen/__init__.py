"""From JSON Schema of JSON-RPC protocols to typed bindings, bundles and documents.

`load` reads a schema, `generate` turns it into files, `write` puts files into folders, `compare` says who breaks between two
revisions. What is wrong with the input is raised as
`Faults`, one line each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acpgen.compat.compare import compare
    from acpgen.config import find_profile as profile
    from acpgen.errors import Fault, Faults
    from acpgen.files import Files, Tree, write
    from acpgen.pipeline import generate
    from acpgen.schema.load import Document, Documents, load
    from acpgen.schema.profile import Profile
    from acpgen.targets import Settings

__version__ = "0.1.0"
__all__ = [
    "Document",
    "Documents",
    "Fault",
    "Faults",
    "Files",
    "Profile",
    "Settings",
    "Tree",
    "compare",
    "generate",
    "load",
    "profile",
    "write",
]


def __getattr__(name: str) -> object:
    """Import what is asked for, so that `import acpgen` itself stays cheap."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home: object
    if name == "compare":
        from acpgen.compat import compare as home
    elif name == "profile":
        from acpgen.config import find_profile

        return find_profile
    elif name in ("Fault", "Faults"):
        from acpgen import errors as home
    elif name in ("Files", "Tree", "write"):
        from acpgen import files as home
    elif name == "generate":
        from acpgen import pipeline as home
    elif name == "Profile":
        from acpgen.schema import profile as home
    elif name == "Settings":
        from acpgen import targets as home
    else:
        from acpgen.schema import load as home
    found: object = getattr(home, name)
    return found


def __dir__() -> list[str]:
    """What is imported when it is asked for is there as well: for `dir`, `help` and completion."""
    return sorted({*globals(), *__all__})
