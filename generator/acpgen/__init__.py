"""From JSON Schema of JSON-RPC protocols to typed bindings, bundles and documents.

`load` reads a schema, `generate` turns it into files, `write` puts files into folders, `compare` says who breaks between two
revisions. What is wrong with the input is raised as
`Faults`, one line each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# These functions carry the names of their modules, so they are bound here and now; their modules import nothing heavy.
from acpgen.errors import Fault, Faults
from acpgen.generate import generate
from acpgen.schema.load import Document, Documents, load
from acpgen.schema.profile import Profile
from acpgen.write import Files, Tree, write

if TYPE_CHECKING:
    from acpgen.compat.compare import compare
    from acpgen.config import find_profile as profile
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
    """Import the targets and the compatibility check when they are asked for, so that `import acpgen` itself stays cheap."""
    if name == "compare":
        from acpgen.compat.compare import compare

        return compare
    if name == "profile":
        from acpgen.config import find_profile

        return find_profile
    if name != "Settings":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from acpgen.targets import Settings

    return Settings
