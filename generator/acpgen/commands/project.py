"""What a run is to make: the outputs of a project, or one output from one schema."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from acpgen.commands.faults import NO_OUTPUT
from acpgen.config import Config, Member, Output, quoted, read_names
from acpgen.errors import Fault, Faults, did_you_mean
from acpgen.files.cache import NO_CACHE, Cache, user_cache
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.load import NO_REFERENCES, References, place
from acpgen.targets.settings import Settings

if TYPE_CHECKING:
    from acpgen.methods.profile import Profile

NO_OPTIONS: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Part:
    """What one target makes of one protocol in an output folder."""

    folder: Path
    source: Path
    protocol: str | None
    target: str
    settings: Settings
    options: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)
    """Those that people gave; the target declares which there are."""

    @property
    def label(self) -> str:
        return self.protocol or self.source.name

    @property
    def name(self) -> str:
        """What tells it from the other parts of its folder."""
        return f"{self.target} {self.settings.prefix} {self.settings.package} {self.label}"

    @property
    def is_documented(self) -> bool:
        """Whether it is the docs of a protocol of a project, which are made together with those of others."""
        return self.target == "docs" and bool(self.settings.prefix)


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """A folder and the parts that fill it. `root`, where there is one, is the project that the folder must lie in.

    Where `shared`, other files lie in it too. `key` is where the options of its targets are given.
    """

    folder: Path
    parts: tuple[Part, ...]
    root: Path | None = None
    shared: bool = False
    key: str = ""

    @property
    def documented(self) -> tuple[str, ...]:
        """The protocols whose docs it holds, as those of a project."""
        return tuple(part.label for part in self.parts if part.is_documented)


@dataclass(frozen=True, slots=True)
class Work:
    """What a run is to make. `at` is where its targets and protocols are named; faults of them point there. `methods` are the profiles
    that say where methods stand, by source.

    `names` are chosen for all protocols, `names_of` for one of them; `protocols` are all that there are.
    `schema` is the folder beside whose protocols the material of their docs lies; `None` outside a project. `references` say what
    addresses mean. `cache` is where results of earlier runs are found and kept.
    """

    at: str
    outputs: tuple[OutputFolder, ...]
    cache: Cache = NO_CACHE
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    names_at: str = ""
    names_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, "Mapping[str, str]"])
    protocols: frozenset[str] = frozenset()
    keep_unknown: bool = False
    schema: Path | None = None
    references: References = field(default_factory=dict[str, "str | os.PathLike[str]"])
    methods: Mapping[Path, Profile] = field(default_factory=dict[Path, "Profile"])


def configured(
    config: Config,
    protocols: Sequence[str] = (),
    targets: Sequence[str] = (),
    references: References | None = None,
    *,
    cache: Cache | None = None,
) -> Work:
    """The outputs of a project that hold any of `protocols` (all, if empty) and come from any of `targets` (likewise).

    An output that holds one of the protocols is made whole. `references` stand for those of the project, `cache` for the user's.
    Raises `Faults`.
    """
    if not config.outputs:
        expected = "a table with one entry for each output folder"
        hint = 'Add one: [tool.acpgen.outputs."FOLDER"].'
        raise Faults([BAD_SETTING(at=place(config.file), key="tool.acpgen.outputs", expected=expected, hint=hint)])
    faults: list[Fault] = [
        UNKNOWN_NAME(at=place(config.file), kind="protocol", name=name, hint=did_you_mean(name, config.protocols))
        for name in protocols
        if name not in config.protocols
    ]
    known = {output.target for output in config.outputs.values()}
    faults += [_without_output(name, config) for name in targets if name not in known]
    if faults:
        raise Faults(faults)
    outputs = tuple(
        _output_folder(config, folder, output)
        for folder, output in config.outputs.items()
        if not targets or output.target in targets
        if not protocols or any(member.protocol in protocols for member in output.members)
    )
    parts = {part.source: part for output in outputs for part in output.parts}
    profiles = {source: config.profile(part.protocol or "") for source, part in parts.items()}
    return Work(
        at=place(config.file),
        outputs=outputs,
        methods={source: profile for source, profile in profiles.items() if profile is not None},
        cache=user_cache() if cache is None else cache,
        schema=config.root / config.schema,
        references=config.reference_files if references is None else references,
        names=config.shared_names,
        names_of=config.own_names,
        names_at=f"{place(config.file)}: tool.acpgen.names",
        protocols=frozenset(config.protocols),
    )


def _output_folder(config: Config, name: str, output: Output) -> OutputFolder:
    return OutputFolder(
        folder=config.root / name,
        root=config.root,
        shared=output.shared,
        key=f"tool.acpgen.outputs.{quoted(name)}.options",
        parts=tuple(_part(config, name, output, member) for member in output.members),
    )


def _part(config: Config, name: str, output: Output, member: Member) -> Part:
    is_docs = output.target == "docs"
    settings = Settings(
        package=member.package or (config.package(member.protocol) if is_docs else ""),
        distribution=output.distribution,
        version=output.version,
        license=output.license,
        prefix=member.prefix,
        module=config.module(member.protocol) if is_docs else "",
    )
    source = config.root / config.schema / member.protocol
    return Part(config.root / name, source, member.protocol, output.target, settings, output.options)


def _without_output(target: str, config: Config) -> Fault:
    """The fault of a target that no output of a project has: it exists, or it does not."""
    from acpgen.targets.installed import TARGETS

    if target in TARGETS:
        return NO_OUTPUT(at=place(config.file), target=target, protocol=next(iter(config.protocols), "PROTOCOL"))
    names = {output.target for output in config.outputs.values()}
    return UNKNOWN_NAME(at=place(config.file), kind="target", name=target, hint=did_you_mean(target, names))


def single(
    schema: Path,
    package: str,
    targets: Sequence[str],
    out: Path,
    names: Path | None = None,
    *,
    keep_unknown: bool = False,
    references: References = NO_REFERENCES,
    methods: Profile | None = None,
    cache: Cache | None = None,
    options: Mapping[str, object] = NO_OPTIONS,
    protocol: str | None = None,
) -> Work:
    """One output made from one schema, which belongs to no project. `cache` stands for the user's, `options` are those of the
    targets, `protocol` is the name of the schema; without it, the file or folder lends its own. Raises `Faults`.
    """
    folder, settings = Path(os.path.abspath(out)), Settings(package)
    parts = tuple(Part(folder, schema, protocol, target, settings, options) for target in dict.fromkeys(targets))
    return Work(
        at="--target",
        outputs=(OutputFolder(folder, parts),),
        cache=user_cache() if cache is None else cache,
        names=read_names(names) if names is not None else {},
        names_at=place(names) if names is not None else "",
        keep_unknown=keep_unknown,
        references=references,
        methods={schema: methods} if methods is not None else {},
    )
