"""The pipeline from documents to files. Without side effects; `project` adds folders, caches and the selection of outputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from acpgen.errors import Faults, suggest_name
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.meaning.understanding import NO_NAMES, understand
from acpgen.targets.faults import PATH_CLASH

if TYPE_CHECKING:
    from acpgen.files import Files
    from acpgen.input.load import Documents
    from acpgen.methods.profile import Profile
    from acpgen.targets.interface import Settings

FilesByTarget: TypeAlias = "Mapping[str, Files]"
"""The files of each target, by its name."""


def generate(
    protocol: Documents,
    targets: Mapping[str, Settings] | Iterable[str],
    *,
    names: Mapping[str, str] = NO_NAMES,
    keep_unknown: bool = False,
    methods: Profile | None = None,
) -> FilesByTarget:
    """Generate the files of each target from a protocol: text by path, by the name of the target.

    `targets` are names, with settings where one needs them (`{"python": Settings(package="acme.v1")}`). `names` maps places in the
    schema to generated names, in the forms that `naming.name_overrides` describes. With `keep_unknown`, receivers retain unknown tags of
    closed unions. `methods` is the profile that states where the methods are in the schema (see `acpgen.profile`). Raises `Faults`.
    """
    from acpgen.targets.installed import TARGETS
    from acpgen.targets.interface import Settings

    settings_by_target: Mapping[str, Settings] = (
        cast("Mapping[str, Settings]", targets) if isinstance(targets, Mapping) else dict.fromkeys(targets, Settings())
    )
    require_targets(settings_by_target, TARGETS)
    selected_targets = {name: TARGETS[name] for name in settings_by_target}
    meaning = understand(protocol, names=names, keep_unknown=keep_unknown, methods=methods)
    return {name: selected_targets[name](*meaning, settings) for name, settings in settings_by_target.items()}


def require_targets(names: Iterable[str], targets: Collection[str], at: str = "targets") -> None:
    """Raise `Faults` for every name that is not a target."""
    faults = [
        UNKNOWN_NAME(at=at, kind="target", name=name, hint=suggest_name(name, targets))
        for name in dict.fromkeys(names)
        if name not in targets
    ]
    if faults:
        raise Faults(faults)


def merge(parts: Iterable[Files], at: str) -> Files:
    """Merge several sets of files. Raises `Faults` if two have different content for one path."""
    result: dict[str, str] = {}
    clashes: list[str] = []
    for files in parts:
        clashes.extend(path for path, text in files.items() if result.get(path, text) != text)
        result.update(files)
    folders = {path[:end] for path in result for end, letter in enumerate(path) if letter == "/"}
    clashes.extend(path for path in result if path.removesuffix(".py") in folders)  # Python imports one of the two
    if clashes:
        raise Faults(PATH_CLASH(at=at, path=path) for path in dict.fromkeys(clashes))
    return result
