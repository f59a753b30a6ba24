"""A whole run: which outputs, which of them need work, what they would hold, and the writing of all of them together."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acpgen.bundle.faults import UNUSED_NAME, unused_name
from acpgen.commands.faults import NO_OUTPUT
from acpgen.config import Config, docs_inputs, quoted, read_names
from acpgen.errors import Fault, Faults, did_you_mean, distinct
from acpgen.files import Change, Files, Tree, difference, is_ours, replace_files, require_folder, write
from acpgen.files.cache import NO_CACHE, Cache, Code, Memory, Outputs, all_code, key_of, user_cache
from acpgen.input.faults import BAD_SETTING, TOO_DEEP, TOO_MUCH_WORK, UNKNOWN_NAME
from acpgen.input.load import NO_REFERENCES, References, Source, parse, place, read
from acpgen.methods.faults import UNUSED_RULE
from acpgen.naming.faults import NAMED_BY_POSITION
from acpgen.targets.built_in import BUILT_IN
from acpgen.targets.pipeline import merge, require_targets, understand

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.bundle.bundle import Bundle
    from acpgen.meaning import unenforced
    from acpgen.methods.profile import Profile
    from acpgen.publish.versions import Version
    from acpgen.targets.interface import Settings, Target


Progress: TypeAlias = Callable[[int, int, str], None]
"""Told before each step: steps done, steps in all, and what comes next."""

Reading: TypeAlias = tuple[Path, bool]
"""A protocol as a target wants it: its source, and whether variants and their bodies are apart (`Target.is_apart`)."""

PartPlace: TypeAlias = tuple[Path, int]
"""An output folder, and the number of a part of it."""

CachedPart: TypeAlias = "Mapping[str, Any]"
"""The `files` of a part, its `gaps` (`None` where it has no bindings) and its `notes`."""

Meanings: TypeAlias = "Mapping[Reading, tuple[ir.Protocol, Bundle]]"
"""What each protocol means, by its source."""


NO_OPTIONS: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Part:
    """What one target makes of one protocol in an output."""

    source: Path
    protocol: str | None
    target: str
    package: str = ""
    distribution: str | None = None
    version: str | None = None
    license: str | None = None
    prefix: str = ""
    module: str = ""
    options: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)

    @property
    def label(self) -> str:
        return self.protocol or self.source.name

    @property
    def is_documented(self) -> bool:
        """Whether it is the docs of a protocol of a project, which are made together with those of others."""
        return self.target == "docs" and bool(self.prefix)


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did, or would have done. `fresh` are the outputs that needed no work.

    `gaps` says of each protocol with bindings what no validator enforces, `notes` what of the schemas means nothing: place
    and sentence. `methods` says in lines what methods were found where work was done.
    """

    changes: tuple[Change, ...]
    fresh: tuple[Path, ...]
    gaps: Mapping[str, unenforced.Gaps] = field(repr=False)
    trees: tuple[Tree, ...] = field(repr=False)
    notes: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    methods: tuple[str, ...] = ()

    @property
    def is_covered(self) -> bool:
        """Whether decoding enforces every keyword."""
        return not any(self.gaps.values())

    @property
    def is_drift(self) -> bool:
        return any(not change.is_none for change in self.changes)

    def difference(self) -> Iterator[str]:
        """Lines of a unified diff of all outputs."""
        for tree, change in zip(self.trees, self.changes, strict=True):
            yield from difference(tree, change)


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
    faults += [
        _without_output(name, config) for name in targets if name not in {output.target for output in config.outputs}
    ]
    if faults:
        raise Faults(faults)
    outputs = tuple(
        OutputFolder(
            folder=config.root / output.folder,
            root=config.root,
            shared=output.shared,
            key=f"tool.acpgen.outputs.{quoted(output.folder)}.options",
            parts=tuple(
                Part(
                    source=config.root / config.schema / member.protocol,
                    protocol=member.protocol,
                    target=output.target,
                    package=member.package or (config.package(member.protocol) if output.target == "docs" else ""),
                    distribution=output.distribution,
                    version=output.version,
                    license=output.license,
                    prefix=member.prefix,
                    module=config.module(member.protocol) if output.target == "docs" else "",
                    options=output.options,
                )
                for member in output.members
            ),
        )
        for output in config.outputs
        if not targets or output.target in targets
        if not protocols or any(member.protocol in protocols for member in output.members)
    )
    parts = {part.source: part for output in outputs for part in output.parts}
    profiles = {source: config.profile(part.protocol or "") for source, part in parts.items()} if config.methods else {}
    return Work(
        at=place(config.file),
        outputs=outputs,
        methods={source: profile for source, profile in profiles.items() if profile is not None},
        cache=user_cache() if cache is None else cache,
        schema=config.root / config.schema,
        references=config.references if references is None else references,
        names=config.names,
        names_of=config.names_of,
        names_at=f"{place(config.file)}: tool.acpgen.names",
        protocols=frozenset(config.protocols),
    )


def _without_output(target: str, config: Config) -> Fault:
    """The fault of a target that no output of a project has: it exists, or it does not."""
    from acpgen.targets.installed import TARGETS

    if target in TARGETS:
        return NO_OUTPUT(at=place(config.file), target=target, protocol=next(iter(config.protocols), "PROTOCOL"))
    known = {output.target for output in config.outputs}
    return UNKNOWN_NAME(at=place(config.file), kind="target", name=target, hint=did_you_mean(target, known))


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
    parts = tuple(Part(schema, protocol, target, package, options=options) for target in dict.fromkeys(targets))
    return Work(
        at="--target",
        outputs=(OutputFolder(Path(os.path.abspath(out)), parts),),
        cache=user_cache() if cache is None else cache,
        names=read_names(names) if names is not None else {},
        names_at=place(names) if names is not None else "",
        keep_unknown=keep_unknown,
        references=references,
        methods={schema: methods} if methods is not None else {},
    )


def run(work: Work, *, check: bool = False, progress: Progress = lambda done, total, step: None) -> Outcome:
    """Make every output that needs it. `check` writes nothing. Raises `Faults`; then no output has changed."""
    sources = _read(work)
    materials = _materials(work)
    code = all_code()
    hashes = {
        output.folder: _inputs(work, output, sources, materials, code)
        if not output.shared and all(part.target in BUILT_IN for part in output.parts)
        else None
        for output in work.outputs
    }
    cached = Outputs(work.cache, code)
    fresh = {output.folder for output in work.outputs if cached.is_fresh(output.folder, hashes[output.folder])}
    stale = [output for output in work.outputs if output.folder not in fresh]
    for output in [] if check else stale:  # a folder that an earlier run wrote may have lost its manifest alone
        if not (output.shared or is_ours(output.folder) or cached.is_known(output.folder)):
            require_folder(Tree(output.folder, {}, output.root))
    parts = _cached_parts(work, stale, sources, cached)
    meanings: Meanings = _meanings(work, stale, parts, sources, progress) if stale else {}
    materials, verdicts = _release_verdicts(work, stale, sources, materials, check=check)
    trees = _trees(work, stale, parts, sources, meanings, materials, cached, progress) if stale else ()
    changes = write(trees, dry=check)
    if not check:
        replace_files({tree.folder / path: text for tree, _ in verdicts for path, text in tree.files.items()})
    gaps = {output.folder: _gaps(output, parts) for output in stale}
    notes = {output.folder: _notes(output, parts) for output in stale}
    if verdicts:
        hashes |= {each.folder: _inputs(work, each, sources, materials, code) for each in stale if hashes[each.folder]}
    for tree, change in zip(trees, changes, strict=True):
        if not check or change.is_none:
            cached.record(tree, hashes[tree.folder], gaps[tree.folder], notes[tree.folder])
    gaps.update({folder: cached.gaps(folder) for folder in fresh})
    merged = {label: gap for output in work.outputs for label, gap in gaps[output.folder].items()}
    notes.update({folder: cached.notes(folder) for folder in fresh})
    notes_shown = dict.fromkeys(note for output in work.outputs for note in notes[output.folder])
    labels = {part.source: part.label for part in _protocols(work.outputs)}
    read = {source: meaning for (source, _), meaning in meanings.items()}
    said = tuple(line for source, meaning in read.items() for line in _describe_methods(labels[source], meaning))
    return Outcome(
        changes=(*changes, *(change for _, change in verdicts)),
        fresh=tuple(sorted(fresh)),
        gaps=merged,
        trees=(*trees, *(tree for tree, _ in verdicts)),
        notes=tuple(notes_shown),
        methods=said,
    )


def _describe_methods(label: str, meaning: tuple[ir.Protocol, Bundle]) -> Iterable[str]:
    """What methods were found in a protocol, in lines."""
    from acpgen.meaning import method_summary

    return method_summary.describe_methods(label, *meaning)


def _gaps(output: OutputFolder, parts: Mapping[PartPlace, CachedPart]) -> Mapping[str, unenforced.Gaps]:
    """What the bindings in an output do not enforce, by protocol."""
    found = ((part, parts[output.folder, index]) for index, part in enumerate(output.parts))
    return {part.label: each["gaps"] for part, each in found if each["gaps"] is not None}


def _notes(output: OutputFolder, parts: Mapping[PartPlace, CachedPart]) -> tuple[tuple[str, str], ...]:
    """What the schemas of an output hold that means nothing: place and sentence."""
    found = (note for index in range(len(output.parts)) for note in parts[output.folder, index]["notes"])
    return tuple(dict.fromkeys((at, sentence) for at, sentence in found))


def _read(work: Work) -> Mapping[Path, Source]:
    """The schema files of every protocol of the work. Raises `Faults`."""
    faults: list[Fault] = []
    sources: dict[Path, Source] = {}
    for part in _protocols(work.outputs):
        if part.protocol is not None and not os.path.exists(part.source):
            faults.append(_missing(work.at, part.source, part.protocol))
            continue
        try:
            sources[part.source] = read(part.source, name=part.protocol, references=work.references)
        except Faults as caught:
            faults.extend(caught.faults)
    if faults:
        raise Faults(distinct(faults))
    return sources


def _materials(work: Work) -> Mapping[Path, docs_inputs.Files]:
    """What lies beside the schemas for each output that holds docs. Raises `Faults`."""
    if work.schema is None:
        return {}
    return {
        output.folder: docs_inputs.read(work.schema, output.documented) for output in work.outputs if output.documented
    }


def _release_verdicts(
    work: Work,
    outputs: Iterable[OutputFolder],
    sources: Mapping[Path, Source],
    materials: Mapping[Path, docs_inputs.Files],
    *,
    check: bool,
) -> tuple[Mapping[Path, docs_inputs.Files], Sequence[tuple[Tree, Change]]]:
    """The material with a verdict on each release, and the files of verdicts that change. Raises `Faults`.

    A check, and a run without results of earlier ones, computes one known verdict again: the schemas draw it.
    """
    documented = [output.folder for output in outputs if output.folder in materials]
    if work.schema is None or not documented:
        return materials, ()
    from acpgen.publish.release_verdicts import complete, plan_updates

    schemas = {
        output.folder: b"".join(content for part in output.parts for _, content in sources[part.source].files)
        for output in outputs
        if check or work.cache == NO_CACHE
    }
    after = {folder: complete(materials[folder], schemas.get(folder, b"")) for folder in documented}
    return {**materials, **after}, plan_updates(
        work.schema, [(materials[folder], after[folder]) for folder in documented]
    )


def _missing(at: str, source: Path, protocol: str) -> Fault:
    schema = source.parents[protocol.count("/")]
    folders = {path.parent.relative_to(schema).as_posix() for path in schema.rglob("*.json")} - {"."}
    known = {folder for folder in folders if not docs_inputs.is_material(f"{folder}/")}
    hint = did_you_mean(protocol, known) or f"Put its schema into {place(source)}/."
    return UNKNOWN_NAME(at=at, kind="protocol", name=protocol, hint=hint)


def _protocols(outputs: Iterable[OutputFolder]) -> Sequence[Part]:
    """One part of each protocol, in the order in which they are first named."""
    first: dict[Path, Part] = {}
    for output in outputs:
        for part in output.parts:
            first.setdefault(part.source, part)
    return tuple(first.values())


def _readings(outputs: Iterable[OutputFolder], parts: Mapping[PartPlace, CachedPart]) -> Sequence[Reading]:
    """Each protocol and way to read it of which parts are to be made, in the order in which they are first named."""
    every = ((output.folder, index, part) for output in outputs for index, part in enumerate(output.parts))
    return [*dict.fromkeys(_reading(part) for folder, index, part in every if (folder, index) not in parts)]


def _reading(part: Part) -> Reading:
    from acpgen.targets.installed import TARGETS

    return part.source, TARGETS[part.target].is_apart


def _inputs(
    work: Work,
    output: OutputFolder,
    sources: Mapping[Path, Source],
    materials: Mapping[Path, docs_inputs.Files],
    code: Code,
) -> str:
    """A hash of all that goes into an output."""
    beside = materials[output.folder].files if output.folder in materials else ()
    parts = (_part_inputs(work, part, sources, code) for part in output.parts)
    return key_of("inputs", *parts, *(each for file in beside for each in file))


def _part_inputs(work: Work, part: Part, sources: Mapping[Path, Source], code: Code) -> str:
    """A hash of all that one part is made from."""
    source = sources[part.source]
    options = {
        "part": asdict(replace(part, source=Path())),
        "name": source.name,
        "taken": dict(source.taken),
        "names": [dict(work.names), dict(work.names_of.get(part.label, {}))],
        "shared": bool(work.protocols),
        "keep_unknown": work.keep_unknown,
        "methods": repr(work.methods.get(part.source)),
    }
    written = json.dumps(options, sort_keys=True, default=repr)
    counts = f"{len(source.files)} {len(source.references)}"
    return key_of(
        "part", code.digest, written, counts, *(each for file in source.files + source.references for each in file)
    )


def _part_name(part: Part) -> str:
    return f"{part.target} {part.prefix} {part.package} {part.label}"


def _cached_parts(
    work: Work, outputs: Iterable[OutputFolder], sources: Mapping[Path, Source], cached: Outputs
) -> dict[PartPlace, CachedPart]:
    """The parts of outputs whose inputs are those of an earlier run. Docs are about several protocols and are none of them."""
    return {
        (output.folder, index): found
        for output in outputs
        for index, part in enumerate(output.parts)
        if part.target in BUILT_IN and not part.is_documented
        if (found := cached.find_part(output.folder, _part_name(part), _part_inputs(work, part, sources, cached.code)))
    }


def _steps(outputs: Sequence[OutputFolder]) -> int:
    """The steps of a run: reading each protocol, making each part, and writing."""
    return len(_protocols(outputs)) + sum(len(output.parts) for output in outputs) + 1


def _meanings(
    work: Work,
    outputs: Sequence[OutputFolder],
    parts: Mapping[PartPlace, CachedPart],
    sources: Mapping[Path, Source],
    progress: Progress,
) -> Meanings:
    """What the protocols mean of which parts are to be made; all where names are chosen for all. Raises `Faults` of all together."""
    from acpgen.targets.installed import TARGETS

    require_targets((part.target for output in outputs for part in output.parts), TARGETS, at=work.at)
    for output in outputs:
        for part in output.parts:
            _settings(part, output, work)
    total = _steps(outputs)
    meanings: dict[Reading, tuple[ir.Protocol, Bundle]] = {}
    faults: list[Fault] = []
    wanted = _readings(outputs, {} if work.names else parts)
    for done, part in enumerate(_protocols(outputs)):
        readings = [reading for reading in wanted if reading[0] == part.source]
        progress(done, total, f"reading {part.label}")
        if not readings:
            continue
        try:
            documents = parse(sources[part.source])
        except Faults as caught:
            faults.extend(caught.faults)
            continue
        try:
            for reading in readings:
                meanings[reading] = understand(
                    documents,
                    names={**work.names, **work.names_of.get(part.label, {})},
                    shared=frozenset(work.names) if work.protocols else frozenset[str](),
                    keep_unknown=work.keep_unknown,
                    methods=work.methods.get(part.source),
                    is_apart=reading[1],
                    cache=work.cache if work.schema is not None else NO_CACHE,
                )
        except Faults as caught:
            located = (_located(fault, work, sources[part.source]) for fault in caught.faults)
            faults.extend(located)
    if not faults and {part.label for part in _protocols(outputs)} >= work.protocols:
        faults += [unused_name(f"{work.names_at}: {key}") for key in _unmatched(work, meanings)]
    if faults:
        raise Faults(distinct(faults))
    return meanings


def _unmatched(work: Work, meanings: Meanings) -> list[str]:
    """The entries for all protocols that match nothing in any."""
    missing = [bundled.unmatched for _, bundled in meanings.values()]
    return sorted(key for key in work.names if work.protocols and all(key in unmatched for unmatched in missing))


def _trees(
    work: Work,
    outputs: Sequence[OutputFolder],
    parts: dict[PartPlace, CachedPart],
    sources: Mapping[Path, Source],
    meanings: Meanings,
    materials: Mapping[Path, docs_inputs.Files],
    cached: Outputs,
    progress: Progress,
) -> tuple[Tree, ...]:
    """What the outputs are to hold; the parts that are made now are added to the others. Raises `Faults`."""
    from acpgen.targets.installed import TARGETS

    done, total = len(_protocols(outputs)), _steps(outputs)
    trees: list[Tree] = []
    for output in outputs:
        made: list[Files] = []
        versions: list[Version] = []
        for index, part in enumerate(output.parts):
            progress(done, total, f"{part.target} of {part.label}")
            settings, source, at = _settings(part, output, work), sources[part.source], (output.folder, index)
            if part.is_documented:
                from acpgen.publish.versions import Version

                meaning = meanings[_reading(part)]
                versions.append(Version(*meaning, settings, source.at, source.extends))
                parts[at] = _part({}, part, meaning, source)
                continue
            done += 1
            if at not in parts:
                meaning = meanings[_reading(part)]
                parts[at] = _part(_rendered(TARGETS[part.target], meaning, settings, source), part, meaning, source)
                if part.target in BUILT_IN:
                    inputs = _part_inputs(work, part, sources, cached.code)
                    cached.keep_part(output.folder, _part_name(part), inputs, parts[at])
            made.append(parts[at]["files"])
        if versions:
            from acpgen import publish

            def before(page: str, done: int = done) -> None:
                progress(done, total, f"docs: {page}")

            beside = docs_inputs.parsed(materials[output.folder]) if output.folder in materials else docs_inputs.NONE
            made.append(
                publish.documents(versions, beside, memory=Memory(forgets=True, before=before), cache=cached.cache)
            )
            done += len(versions)
        trees.append(Tree(output.folder, merge(made, place(output.folder)), output.root, shared=output.shared))
    progress(done, total, "writing")
    return tuple(trees)


def _part(files: Files, part: Part, meaning: tuple[ir.Protocol, Bundle], source: Source) -> CachedPart:
    """What is known of a part: its files, what its bindings do not enforce, and what of its schema means nothing."""
    from acpgen.meaning import unenforced

    gaps: dict[str, dict[str, str]] | None = None
    if part.target == "python":
        found = unenforced.gaps(*meaning).items()
        gaps = {name: {source.at(at): reason for at, reason in places.items()} for name, places in found}
    return {
        "files": {**files},
        "gaps": gaps,
        "notes": [
            *([source.at(note.at), note.what()] for note in meaning[1].notes),
            *([source.at(at), told] for at, told in meaning[1].unread_remarks()),
        ],
    }


def _rendered(target: Target, meaning: tuple[ir.Protocol, Bundle], settings: Settings, source: Source) -> Files:
    """What a target makes. Raises `Faults`, with the file as people know it where the work on its schema was stopped."""
    try:
        return target(*meaning, settings)
    except Faults as caught:
        stopped = (TOO_DEEP, TOO_MUCH_WORK)
        raise Faults([f.move_to(source.at(f.at)) if f.kind in stopped else f for f in caught.faults]) from None


def _settings(part: Part, output: OutputFolder, work: Work) -> Settings:
    """What the target of a part is told. Raises `Faults` of options that it does not have."""
    from acpgen.targets.installed import with_options
    from acpgen.targets.interface import Settings

    settings = Settings(part.package, part.distribution, part.version, part.license, part.prefix, part.module)
    return with_options(part.target, settings, part.options, work.at if output.key else "--option", output.key)


def _located(fault: Fault, work: Work, source: Source) -> Fault:
    if fault.kind == UNUSED_RULE:
        return fault
    if fault.kind in (NAMED_BY_POSITION, UNUSED_NAME):
        return fault.move_to(f"{work.names_at}: {fault.at}")
    return fault.move_to(source.at(fault.at))
