"""The work of a run: the outputs of a project, or one output of one schema."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from acpgen.commands.faults import NO_OUTPUT
from acpgen.config import Config, Member, Output, quote_key, read_names
from acpgen.errors import Fault, Faults, suggest_name
from acpgen.files.cache import NO_CACHE, Cache, find_user_cache
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.load import NO_REFERENCES, References, display_path
from acpgen.targets.settings import Settings

if TYPE_CHECKING:
    from acpgen.methods.profile import Profile

NO_OPTIONS: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Part:
    """One protocol in an output folder, rendered by one target."""

    folder: Path
    source: Path
    protocol: str | None
    target: str
    settings: Settings
    options: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)
    """The options that the user set; the target declares which exist."""

    @property
    def label(self) -> str:
        return self.protocol or self.source.name

    @property
    def name(self) -> str:
        """A key that is unique among the parts of a folder."""
        return f"{self.target} {self.settings.prefix} {self.settings.package} {self.label}"

    @property
    def is_documented(self) -> bool:
        """Whether this is the documentation of a project's protocol, which is rendered together with that of other protocols."""
        return self.target == "docs" and bool(self.settings.prefix)


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """A folder and its parts. `root`, if not `None`, is the project that must contain the folder.

    If `shared`, the folder holds other files too. `key` is the configuration key of its target options.
    """

    folder: Path
    parts: tuple[Part, ...]
    root: Path | None = None
    shared: bool = False
    key: str = ""

    @property
    def documented(self) -> tuple[str, ...]:
        """The protocols of the project that it documents."""
        return tuple(part.label for part in self.parts if part.is_documented)


@dataclass(frozen=True, slots=True)
class Work:
    """The outputs of a run, and its settings.

    `at` is the place where its targets and protocols are named; faults about them point there. `methods` are the method profiles, by
    source. `names` apply to all protocols, `names_of` to one; `protocols` are all protocols of the project. `schema` is the folder of
    the schemas and the docs inputs; `None` outside a project. `references` maps URIs to files. `cache` holds the results of earlier
    runs.
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


def plan_outputs(
    config: Config,
    protocols: Sequence[str] = (),
    targets: Sequence[str] = (),
    references: References | None = None,
    *,
    cache: Cache | None = None,
) -> Work:
    """The outputs of a project that hold any of `protocols` and use any of `targets`; an empty sequence does not filter.

    An output that holds one of the protocols is generated completely. `references` replace those of the project, `cache` the user's.
    Raises `Faults`.
    """
    if not config.outputs:
        expected = "a table with one entry for each output folder"
        hint = 'Add one: [tool.acpgen.outputs."FOLDER"].'
        raise Faults(
            [BAD_SETTING(at=display_path(config.file), key="tool.acpgen.outputs", expected=expected, hint=hint)]
        )
    faults: list[Fault] = [
        UNKNOWN_NAME(
            at=display_path(config.file), kind="protocol", name=name, hint=suggest_name(name, config.protocols)
        )
        for name in protocols
        if name not in config.protocols
    ]
    target_names = {output.target for output in config.outputs.values()}
    faults += [_report_unused_target(name, config) for name in targets if name not in target_names]
    if faults:
        raise Faults(faults)
    outputs = tuple(
        _make_output_folder(config, folder, output)
        for folder, output in config.outputs.items()
        if not targets or output.target in targets
        if not protocols or any(member.protocol in protocols for member in output.members)
    )
    parts = {part.source: part for output in outputs for part in output.parts}
    profiles = {source: config.read_profile(part.protocol or "") for source, part in parts.items()}
    return Work(
        at=display_path(config.file),
        outputs=outputs,
        methods={source: profile for source, profile in profiles.items() if profile is not None},
        cache=find_user_cache() if cache is None else cache,
        schema=config.schema_folder,
        references=config.reference_files if references is None else references,
        names=config.shared_names,
        names_of=config.own_names,
        names_at=f"{display_path(config.file)}: tool.acpgen.names",
        protocols=frozenset(config.protocols),
    )


def _make_output_folder(config: Config, name: str, output: Output) -> OutputFolder:
    return OutputFolder(
        folder=config.root / name,
        root=config.root,
        shared=output.shared,
        key=f"tool.acpgen.outputs.{quote_key(name)}.options",
        parts=tuple(_make_part(config, name, output, member) for member in output.members),
    )


def _make_part(config: Config, name: str, output: Output, member: Member) -> Part:
    is_docs = output.target == "docs"
    settings = Settings(
        package=member.package or (config.find_package(member.protocol) if is_docs else ""),
        distribution=output.distribution,
        version=output.version,
        license=output.license,
        prefix=member.prefix,
        module=config.find_module(member.protocol) if is_docs else "",
    )
    source = config.schema_folder / member.protocol
    return Part(config.root / name, source, member.protocol, output.target, settings, output.options)


def _report_unused_target(target: str, config: Config) -> Fault:
    """The fault for a target that no output of the project uses: an existing target, or an unknown one."""
    from acpgen.targets.installed import TARGETS

    if target in TARGETS:
        return NO_OUTPUT(at=display_path(config.file), target=target, protocol=next(iter(config.protocols), "PROTOCOL"))
    names = {output.target for output in config.outputs.values()}
    return UNKNOWN_NAME(at=display_path(config.file), kind="target", name=target, hint=suggest_name(target, names))


def plan_single(
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
    """One output of one schema outside a project.

    `cache` replaces the user's, `options` are those of the targets, `protocol` is the name of the schema; without it, the name of the
    file or folder is used. Raises `Faults`.
    """
    folder, settings = Path(os.path.abspath(out)), Settings(package)
    parts = tuple(Part(folder, schema, protocol, target, settings, options) for target in dict.fromkeys(targets))
    return Work(
        at="--target",
        outputs=(OutputFolder(folder, parts),),
        cache=find_user_cache() if cache is None else cache,
        names=read_names(names) if names is not None else {},
        names_at=display_path(names) if names is not None else "",
        keep_unknown=keep_unknown,
        references=references,
        methods={schema: methods} if methods is not None else {},
    )
