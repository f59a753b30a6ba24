"""The pipeline: documents become files. Pure; `project` adds folders, caches and the choice of what to make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from acpgen.errors import Faults, did_you_mean
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.meaning.understanding import NO_NAMES, understand
from acpgen.targets.faults import PATH_CLASH

if TYPE_CHECKING:
    from acpgen.files import Files
    from acpgen.input.load import Documents
    from acpgen.methods.profile import Profile
    from acpgen.targets.interface import Settings

Made: TypeAlias = "Mapping[str, Files]"
"""The files of each target, by its name."""


def generate(
    protocol: Documents,
    targets: Mapping[str, Settings] | Iterable[str],
    *,
    names: Mapping[str, str] = NO_NAMES,
    keep_unknown: bool = False,
    methods: Profile | None = None,
) -> Made:
    """What each target makes of a protocol: text by path, by the name of the target.

    `targets` are names, with settings where one needs them (`{"python": Settings(package="acme.v1")}`). `names` maps places of
    the schema to generated names, as `schema.chosen` says. `keep_unknown` lets receivers keep unknown tags of closed unions.
    `methods` is the profile that says where the methods stand (see `acpgen.profile`). Raises `Faults`.
    """
    from acpgen.targets.installed import TARGETS
    from acpgen.targets.interface import Settings

    chosen: Mapping[str, Settings] = (
        cast("Mapping[str, Settings]", targets) if isinstance(targets, Mapping) else dict.fromkeys(targets, Settings())
    )
    require_targets(chosen, TARGETS)
    used = {name: TARGETS[name] for name in chosen}
    meaning = understand(protocol, names=names, keep_unknown=keep_unknown, methods=methods)
    return {name: used[name](*meaning, settings) for name, settings in chosen.items()}


def require_targets(names: Iterable[str], targets: Iterable[str], at: str = "targets") -> None:
    """Raise `Faults` for every name that is no target."""
    targets = tuple(targets)
    faults = [
        UNKNOWN_NAME(at=at, kind="target", name=name, hint=did_you_mean(name, targets))
        for name in dict.fromkeys(names)
        if name not in targets
    ]
    if faults:
        raise Faults(faults)


def merge(parts: Iterable[Files], at: str) -> Files:
    """One set of files out of several. Raises `Faults` where they disagree about a path."""
    merged: dict[str, str] = {}
    clashes: list[str] = []
    for files in parts:
        clashes.extend(path for path, text in files.items() if merged.get(path, text) != text)
        merged.update(files)
    folders = {path[:end] for path in merged for end, letter in enumerate(path) if letter == "/"}
    clashes.extend(path for path in merged if path.removesuffix(".py") in folders)  # Python imports one of the two
    if clashes:
        raise Faults(PATH_CLASH(at=at, path=path) for path in dict.fromkeys(clashes))
    return merged
