"""Targets: a function each from the meaning of one protocol version to files. They do not know one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Final, TypeAlias, TypeGuard, cast

from acpgen import ir
from acpgen.errors import Faults, TargetFailed, printable
from acpgen.schema.bundle import Bundle
from acpgen.write import is_file


@dataclass(frozen=True, slots=True)
class Settings:
    """How an output wants its files: the dotted package, the distribution around it, the folder for this protocol.

    `version` and `license`, an SPDX expression, are those of the distribution.
    """

    package: str = ""
    distribution: str | None = None
    version: str | None = None
    license: str | None = None
    prefix: str = ""


Target: TypeAlias = Callable[[ir.Protocol, Bundle, Settings], Mapping[str, str]]
"""From a protocol to its files: text by relative path with forward slashes. Equal input gives equal bytes."""

_BUILT_IN: Final = {
    "bundle": "acpgen.targets.bundle:render",
    "docs": "acpgen.targets.docs:render",
    "ir": "acpgen.targets.ir:render",
    "python": "acpgen.targets.python:render",
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
            return _guarded(entry)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        yield from _BUILT_IN
        yield from sorted(entry.name for entry in entry_points(group="acpgen.targets") if entry.name not in _BUILT_IN)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _guarded(entry: EntryPoint) -> Target:
    """The target of another package; whatever goes wrong in it is a fault that names it."""

    def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
        try:
            loaded: Target = entry.load()
            made: object = loaded(protocol, bundle, settings)
        except Faults:
            raise
        except Exception as error:  # code of others may raise anything, and none of it is a bug of ours
            reason = printable(f"{type(error).__name__}: {error}".rstrip(": "))
            raise Faults([TargetFailed(at=entry.value, name=entry.name, reason=reason)]) from error
        if not _is_files(made):
            reason = "it made no mapping from relative paths, with '/', to texts"
            raise Faults([TargetFailed(at=entry.value, name=entry.name, reason=reason)])
        return made

    return render


def _is_files(made: object) -> TypeGuard[Mapping[str, str]]:
    """Whether something is text by path, as the writer takes it."""
    if not isinstance(made, Mapping):
        return False
    table = cast("Mapping[object, object]", made)
    return all(isinstance(path, str) and isinstance(text, str) and is_file(path, text) for path, text in table.items())


TARGETS: Final[Mapping[str, Target]] = _Targets()
