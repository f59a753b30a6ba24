"""The registry of targets: the built-in ones, and those of other packages and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final

from acpgen.errors import Fault, Faults
from acpgen.targets.built_in import BUILT_IN
from acpgen.targets.interface import Render, Settings, Target
from acpgen.targets.options import Option, Value, check_options
from acpgen.targets.outside import GROUP, load_package_target, make_failure
from acpgen.targets.process import find_programs, make_program_target

__all__ = ["TARGETS", "Option", "Render", "Settings", "Target", "list_external_targets", "with_options"]


class _Targets(Mapping[str, Target]):
    """Targets by name: the built-in ones, then entry points of the group `acpgen.targets`, then programs. Loaded on first use.

    A lookup raises `Faults` if the target exists and cannot be loaded.
    """

    def __getitem__(self, name: str) -> Target:
        if name in BUILT_IN:
            module = import_module(f"acpgen.targets.{name}")
            return Target(module.render, BUILT_IN[name], getattr(module, "OPTIONS", ()))
        entries = [*entry_points(group=GROUP, name=name)]
        if len({entry.value for entry in entries}) > 1:
            places = " and ".join(sorted({entry.value for entry in entries}))
            raise make_failure(places, name, "several packages have a target of this name. Remove all but one")
        for entry in entries:
            return load_package_target(entry)
        paths = find_programs()
        if name in paths:
            return make_program_target(name, paths[name])
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in BUILT_IN or name in list_external_targets()

    def __iter__(self) -> Iterator[str]:
        yield from BUILT_IN
        yield from sorted(list_external_targets())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def list_external_targets() -> frozenset[str]:
    """The names of the targets from other packages and programs."""
    return frozenset({*(entry.name for entry in entry_points(group=GROUP)), *find_programs()}) - BUILT_IN.keys()


def find_hidden_targets(name: str | None = None) -> Iterator[Faults]:
    """Yield a fault for each external target, or that of one name, that is hidden by a built-in target of the same name."""
    for entry in entry_points(group=GROUP):
        if entry.name in BUILT_IN and name in (None, entry.name):
            yield make_failure(entry.value, entry.name, "acpgen has a target of this name, which is used")
    for program, path in find_programs().items():
        if program in BUILT_IN and name in (None, program):
            yield make_failure(path, program, "acpgen has a target of this name, which is used")


def with_options(name: str, settings: Settings, values: Mapping[str, object], at: str, key: str) -> Settings:
    """The settings with a value for every option of a target. Raises `Faults` for unknown options and invalid values."""
    faults: list[Fault] = []
    options: Mapping[str, Value] = check_options(TARGETS[name].options, values, at, key, faults)
    if faults:
        raise Faults(faults)
    return replace(settings, options=options)


TARGETS: Final[Mapping[str, Target]] = _Targets()
