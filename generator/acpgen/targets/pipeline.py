"""The pipeline: documents become files. Pure; `project` adds folders, caches and the choice of what to make."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from acpgen.errors import Faults, did_you_mean
from acpgen.files.cache import NO_CACHE, Cache, Outputs, key_of, own_code
from acpgen.files.serialization import from_json, to_json
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.targets.faults import PATH_CLASH

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.bundle.bundle import Bundle
    from acpgen.files import Files
    from acpgen.input.load import Documents
    from acpgen.methods.profile import Profile
    from acpgen.targets.interface import Settings

Made: TypeAlias = "Mapping[str, Files]"
"""The files of each target, by its name."""

_NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


def generate(
    protocol: Documents,
    targets: Mapping[str, Settings] | Iterable[str],
    *,
    names: Mapping[str, str] = _NO_NAMES,
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
    made: dict[str, Files] = {}
    used = {name: TARGETS[name] for name in chosen}
    given: Any = {"names": names, "keep_unknown": keep_unknown, "methods": methods}
    readings = {target.is_apart for target in used.values()}
    read = {is_apart: understand(protocol, is_apart=is_apart, **given) for is_apart in readings}
    for name, settings in chosen.items():
        made[name] = used[name](*read[used[name].is_apart], settings)
    return made


def understand(
    protocol: Documents,
    *,
    names: Mapping[str, str] = _NO_NAMES,
    shared: Collection[str] = (),
    keep_unknown: bool = False,
    methods: Profile | None = None,
    is_apart: bool = False,
    cache: Cache = NO_CACHE,
) -> tuple[ir.Protocol, Bundle]:
    """What a protocol means, and the one JSON Schema that says it. `names`, `shared` and `is_apart` as in `bundle`.

    What an earlier run understood of the same files is in the `cache`: of each protocol below the current folder, one state for each way
    to read it. Raises `Faults`.
    """
    from acpgen.bundle.bundle import bundle
    from acpgen.input.step_budget import bounded
    from acpgen.meaning.lower import lower

    known = Outputs(cache, own_code()) if cache.folder is not None else None
    how = repr((sorted(names.items()), sorted(shared), keep_unknown, methods, is_apart))
    inputs = key_of(*protocol.inputs(), known.code.digest) if known is not None else ""
    if known is not None and (found := known.find_part(Path(protocol.name), how, inputs)) is not None:
        return cast("tuple[ir.Protocol, Bundle]", from_json(found["meaning"], _records()))
    with bounded(protocol.documents[0].path, protocol.size):
        bundled = bundle(protocol, names=names, shared=shared, methods=methods, is_apart=is_apart)
        meaning = lower(bundled, keep_unknown=keep_unknown), bundled
    if known is not None:
        known.keep_part(Path(protocol.name), how, inputs, {"meaning": to_json(meaning)})
    return meaning


@functools.cache
def _records() -> Mapping[str, type]:
    """The classes of which the meaning of a protocol is made, by name."""
    from acpgen import errors, ir
    from acpgen.bundle import bundle
    from acpgen.methods import discovery, profile

    modules = (errors, ir, bundle, discovery, profile)
    return {name: found for each in modules for name, found in vars(each).items() if isinstance(found, type)}


def require_targets(names: Iterable[str], known: Iterable[str], at: str = "targets") -> None:
    """Raise `Faults` for every name that is no target."""
    known = tuple(known)
    faults = [
        UNKNOWN_NAME(at=at, kind="target", name=name, hint=did_you_mean(name, known))
        for name in dict.fromkeys(names)
        if name not in known
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
