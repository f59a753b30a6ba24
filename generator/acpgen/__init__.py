"""Generate typed bindings, bundled schemas and documentation from the JSON Schema of JSON-RPC protocols.

`load` reads a schema, `generate` renders files, `write` writes files into folders, `compare` reports who breaks between two revisions.
Errors in the input are raised as `Faults`, one line each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acpgen.compat.compare import compare as compare
    from acpgen.config import find_profile
    from acpgen.errors import Fault as Fault
    from acpgen.errors import Faults as Faults
    from acpgen.files import Files as Files
    from acpgen.files import Tree as Tree
    from acpgen.files import write as write
    from acpgen.input.load import Document as Document
    from acpgen.input.load import Documents as Documents
    from acpgen.input.load import load as load
    from acpgen.methods.profile import Profile as Profile
    from acpgen.targets.interface import Settings as Settings
    from acpgen.targets.pipeline import generate as generate

    profile = find_profile

__version__ = "0.1.0"

_PATHS: Final = {
    "Document": "acpgen.input.load.Document",
    "Documents": "acpgen.input.load.Documents",
    "Fault": "acpgen.errors.Fault",
    "Faults": "acpgen.errors.Faults",
    "Files": "acpgen.files.Files",
    "Profile": "acpgen.methods.profile.Profile",
    "Settings": "acpgen.targets.interface.Settings",
    "Tree": "acpgen.files.Tree",
    "compare": "acpgen.compat.compare.compare",
    "generate": "acpgen.targets.pipeline.generate",
    "load": "acpgen.input.load.load",
    "profile": "acpgen.config.find_profile",
    "write": "acpgen.files.write",
}
"""The public names, and the objects that they name."""

__all__ = [*_PATHS]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    """Import a public name on first access, so that `import acpgen` itself stays fast."""
    if name not in _PATHS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = _PATHS[name].rpartition(".")
    value: object = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    """The names of the module, including those that are imported on first access, for `dir`, `help` and completion."""
    return sorted({*globals(), *_PATHS})
