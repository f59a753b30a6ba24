"""Targets: a function each from the meaning of one protocol version to files. They do not know one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final, TypeAlias

from acpgen import ir
from acpgen.bundle import Bundle


@dataclass(frozen=True, slots=True)
class Settings:
    """How an output wants its files: the dotted package, the distribution around it with its version, the folder for this protocol."""

    package: str = ""
    distribution: str | None = None
    version: str | None = None
    prefix: str = ""


Target: TypeAlias = Callable[[ir.Protocol, Bundle, Settings], Mapping[str, str]]
"""From a protocol to its files: text by relative path with forward slashes. Equal input gives equal bytes."""

_BUILT_IN: Final = {
    "bundle": "acpgen.targets.bundle:render",
    "docs": "acpgen.targets.docs:render",
    "ir": "acpgen.targets.ir:render",
    "python": "acpgen.targets.python:render",
    "session": "acpgen.targets.session:render",
    "vectors": "acpgen.targets.vectors:render",
}


class _Targets(Mapping[str, Target]):
    """Targets by name: the built-in ones, then entry points of the group `acpgen.targets`. Loaded when first used."""

    def __getitem__(self, name: str) -> Target:
        if name in _BUILT_IN:
            module, _, function = _BUILT_IN[name].partition(":")
            found: Target = getattr(import_module(module), function)
            return found
        for entry in entry_points(group="acpgen.targets", name=name):
            loaded: Target = entry.load()
            return loaded
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        yield from _BUILT_IN
        yield from sorted(entry.name for entry in entry_points(group="acpgen.targets") if entry.name not in _BUILT_IN)

    def __len__(self) -> int:
        return sum(1 for _ in self)


TARGETS: Final[Mapping[str, Target]] = _Targets()
