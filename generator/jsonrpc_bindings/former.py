"""Names that a package had before: they still work, and say what to write now."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping


def former_names(module: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a module some of whose names have changed. `names` maps a former name to the one of now."""

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        message = f"{module}.{name} is now called {names[name]}. The former name will be removed in the next release."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], names[name])

    return find
