"""Which modules of the run-time package a generated package carries: those that it needs, and what they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

_OFFERED: Final[Mapping[str, tuple[str, ...]]] = {"peers.py": ("websocket.py",)}
"""Modules that users import and no other module does, by the one that they are for."""

_RELATIVE: Final = re.compile(r"^[ \t]*from \.+(\w*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
"""Read as text: to parse the modules took 4 % of the time of a small `generate`."""


def carried_by(sources: Iterable[str], runtime: str, modules: Mapping[str, str]) -> frozenset[str]:
    """The run-time modules, by file name, that generated sources need. `runtime` is how these name the package, `modules` are all."""
    pending = ["__init__.py", *(name for source in sources for name in _imported(source, runtime) if name in modules)]
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(each for each in _needs(modules[name]) if each in modules)
            pending.extend(_OFFERED.get(name, ()))
    return frozenset(found)


def _imported(source: str, runtime: str) -> Iterator[str]:
    """What a generated source imports from the run-time package, as file names of modules."""
    for inner, names in re.findall(rf"from {re.escape(runtime)}(?:\.(\w+))? import (\([^)]*\)|[^\n]*)", source):
        yield from (f"{each}.py" for each in ([inner] if inner else re.findall(r"\w+", names)))


def _needs(source: str) -> Iterator[str]:
    """What a run-time module imports of others, wherever it does so and whatever for, as file names of modules."""
    for inner, names in _RELATIVE.findall(source):
        yield from (f"{each}.py" for each in ([inner] if inner else re.findall(r"\w+", names)))
