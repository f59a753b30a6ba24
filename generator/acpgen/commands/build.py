"""A run of `generate`: find the outputs that are out of date, render them, and write all of them together."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from acpgen.bundle.faults import UNUSED_NAME, report_unused_name
from acpgen.commands.project import OutputFolder, Part, Work
from acpgen.config import docs_inputs, protocols
from acpgen.errors import Fault, Faults, drop_duplicates, suggest_name
from acpgen.files import Change, Files, Tree, diff_lines, is_ours, replace_files, require_folder, write
from acpgen.files.cache import NO_CACHE, Remarks, find_remarks, hash_all_code, keep_remarks, make_key, make_place_key
from acpgen.input.faults import TOO_DEEP, TOO_MUCH_WORK, UNKNOWN_NAME
from acpgen.input.load import Source, display_path, parse, read
from acpgen.meaning.understanding import understand
from acpgen.methods.faults import UNUSED_RULE
from acpgen.naming.faults import NAMED_BY_POSITION
from acpgen.targets.built_in import BUILT_IN
from acpgen.targets.pipeline import merge, require_targets

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.bundle.bundle import Bundle
    from acpgen.meaning import unenforced
    from acpgen.publish.versions import Version
    from acpgen.targets.settings import Settings


Progress: TypeAlias = Callable[[int, int, str], None]
"""Called before each step, with the number of finished steps, the total number of steps, and the name of the next step."""

Meaning: TypeAlias = "tuple[ir.Protocol, Bundle]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did, or would have done. `fresh` are the outputs that were up to date.

    `gaps` maps each protocol with bindings to the keywords that no validator enforces; `notes` are pairs of a place in a schema and a
    sentence about what has no effect there. `methods` are lines that describe the methods found in the protocols that this run analyzed.
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

    def list_difference(self) -> Iterator[str]:
        """Yield the lines of a unified diff of all outputs."""
        for tree, change in zip(self.trees, self.changes, strict=True):
            yield from diff_lines(tree, change)


def run(work: Work, *, check: bool = False, progress: Progress = lambda finished, total, step: None) -> Outcome:
    """Generate every output that is out of date; with `check`, write nothing. Raises `Faults`; then no output has changed."""
    return _Build(work, progress).run(check=check)


class _Build:
    """One run: its inputs, and its parts, cached or rendered, each with its `files`, `gaps` (`None` without bindings) and `notes`."""

    def __init__(self, work: Work, progress: Progress) -> None:
        self._work, self._progress = work, progress
        self._done = self._steps = 0
        self._sources = _read_sources(work)
        self._docs_inputs = read_docs_inputs(work)
        self._code = hash_all_code()
        self._inputs = {part: self._hash_part(part) for output in work.outputs for part in output.parts}
        self._parts: dict[Part, Mapping[str, Any]] = {}

    def run(self, *, check: bool) -> Outcome:
        work = self._work
        inputs = {output.folder: self._hash_output(output) for output in work.outputs}
        earlier = {folder: find_remarks(work.cache, folder, inputs[folder]) for folder in inputs}
        fresh = {folder: remarks for folder, remarks in earlier.items() if remarks is not None}
        stale = [output for output in work.outputs if output.folder not in fresh]
        for output in [] if check else stale:  # a folder that an earlier run wrote may have lost its manifest alone
            if not (output.shared or is_ours(output.folder) or work.cache.has(make_place_key(output.folder))):
                require_folder(Tree(output.folder, {}, output.root))
        self._find_parts(stale)
        self._steps = len(_list_protocols(stale)) + sum(len(output.parts) for output in stale) + 1
        meanings = self._read_meanings(stale)
        verdicts = self._complete_verdicts(stale, check=check)
        trees = tuple(self._make_tree(output, meanings) for output in stale)
        if stale:
            self._step("writing")
        changes = write(trees, dry=check)
        if not check:
            replace_files(
                {tree.folder / path: text.encode() for tree, _ in verdicts for path, text in tree.files.items()}
            )
        if verdicts:
            inputs |= {output.folder: self._hash_output(output) for output in stale}
        remarks = {output.folder: self._list_remarks(output) for output in stale}
        for tree, change in zip(trees, changes, strict=True):
            if (not check or change.is_none) and self._code.is_as_it_was:
                keep_remarks(work.cache, tree, inputs[tree.folder], remarks[tree.folder])
        remarks |= fresh
        gaps, notes = self._locate_remarks(remarks)
        return Outcome(
            changes=(*changes, *(change for _, change in verdicts)),
            fresh=tuple(sorted(fresh)),
            gaps=gaps,
            trees=(*trees, *(tree for tree, _ in verdicts)),
            notes=notes,
            methods=tuple(self._describe_methods(meanings)),
        )

    def _step(self, name: str, steps: int = 1) -> None:
        self._progress(self._done, self._steps, name)
        self._done += steps

    # --- what earlier runs made ---

    def _hash_output(self, output: OutputFolder) -> str | None:
        """A hash of all inputs of an output; `None` if its folder is shared, or if a target that is not built in renders a part of it."""
        if output.shared or any(part.target not in BUILT_IN for part in output.parts):
            return None
        beside = self._docs_inputs[output.folder].files if output.folder in self._docs_inputs else ()
        parts = (self._inputs[part] for part in output.parts)
        return make_key("inputs", *parts, *(text for file in beside for text in file))

    def _hash_part(self, part: Part) -> str:
        """A hash of all inputs of a part."""
        work, source = self._work, self._sources[part.source]
        options = {
            "part": [part.protocol, part.target, astuple(part.settings), part.options],
            "name": source.name,
            "source_maps": dict(source.source_maps),
            "names": [dict(work.names), dict(work.names_of.get(part.label, {}))],
            "shared": bool(work.protocols),
            "keep_unknown": work.keep_unknown,
            "methods": repr(work.methods.get(part.source)),
        }
        options_text = json.dumps(options, sort_keys=True, default=repr)
        counts = f"{len(source.files)} {len(source.references)}"
        contents = (text for file in source.files + source.references for text in file)
        return make_key("part", self._code.digest, options_text, counts, *contents)

    def _find_parts(self, outputs: Iterable[OutputFolder]) -> None:
        """Load the parts whose inputs have not changed from the cache. Documentation parts are skipped: their pages depend on several
        protocols.
        """
        for part in (part for output in outputs for part in output.parts):
            if part.target in BUILT_IN and not part.is_documented:
                entry: Any = self._work.cache.find(make_place_key(part.folder, part.name), self._inputs[part])
                if entry is not None:
                    self._parts[part] = entry

    def _list_remarks(self, output: OutputFolder) -> Remarks:
        """The unenforced keywords of an output's bindings, and the notes on its schemas, by protocol."""
        parts = [(part.label, self._parts[part]) for part in output.parts]
        return {
            "gaps": {label: entry["gaps"] for label, entry in parts if entry["gaps"] is not None},
            "notes": {label: entry["notes"] for label, entry in parts},
        }

    def _locate_remarks(
        self, remarks: Mapping[Path, Remarks]
    ) -> tuple[Mapping[str, unenforced.Gaps], tuple[tuple[str, str], ...]]:
        """The gaps and the notes of all outputs, with their places as they are displayed in the current folder."""
        gaps: dict[str, unenforced.Gaps] = {}
        notes: dict[tuple[str, str], None] = {}
        for part in (part for output in self._work.outputs for part in output.parts):
            at, output_remarks = self._sources[part.source].locate, remarks[part.folder]
            notes |= dict.fromkeys((at(path), sentence) for path, sentence in output_remarks["notes"][part.label])
            if part.label in output_remarks["gaps"]:
                definitions = output_remarks["gaps"][part.label].items()
                gaps[part.label] = {
                    name: {at(path): reason for path, reason in places.items()} for name, places in definitions
                }
        return gaps, tuple(notes)

    # --- what the protocols mean ---

    def _read_meanings(self, outputs: Sequence[OutputFolder]) -> Mapping[Path, Meaning]:
        """The meanings of the protocols that have parts to render; of all protocols if names are chosen for all. Raises all `Faults`
        together.
        """
        if not outputs:
            return {}
        from acpgen.targets.installed import TARGETS

        work, parts = self._work, [part for output in outputs for part in output.parts]
        require_targets((part.target for part in parts), TARGETS, at=work.at)
        for output in outputs:
            for part in output.parts:
                self._make_settings(part, output)
        sources = {part.source for part in parts if work.names or part not in self._parts}
        meanings: dict[Path, Meaning] = {}
        faults: list[Fault] = []
        for part in _list_protocols(outputs):
            self._step(f"reading {part.label}")
            try:
                if part.source in sources:
                    meanings[part.source] = self._understand(part)
            except Faults as caught:
                faults.extend(caught.faults)
        if not faults and {part.label for part in _list_protocols(outputs)} >= work.protocols:
            faults += [report_unused_name(f"{work.names_at}: {key}") for key in _find_unused_names(work, meanings)]
        if faults:
            raise Faults(drop_duplicates(faults))
        return meanings

    def _understand(self, part: Part) -> Meaning:
        """The meaning of a protocol. Raises `Faults`, located in the user's files."""
        work, source = self._work, self._sources[part.source]
        documents = parse(source)
        try:
            return understand(
                documents,
                names={**work.names, **work.names_of.get(part.label, {})},
                shared=frozenset(work.names) if work.protocols else frozenset[str](),
                keep_unknown=work.keep_unknown,
                methods=work.methods.get(part.source),
                cache=work.cache if work.schema is not None else NO_CACHE,
            )
        except Faults as caught:
            raise Faults(_locate_fault(fault, work, source) for fault in caught.faults) from None

    def _describe_methods(self, meanings: Mapping[Path, Meaning]) -> Iterator[str]:
        """Yield lines that describe the methods found in each protocol."""
        if not meanings:
            return
        from acpgen.meaning import method_summary

        labels = {part.source: part.label for part in _list_protocols(self._work.outputs)}
        for source, meaning in meanings.items():
            yield from method_summary.describe_methods(labels[source], *meaning)

    # --- what the outputs are to hold ---

    def _complete_verdicts(self, outputs: Iterable[OutputFolder], *, check: bool) -> Sequence[tuple[Tree, Change]]:
        """Complete the verdicts of the releases in the docs; return the files of verdicts that change. Raises `Faults`.

        A check, and a run without a cache, also recomputes one existing verdict, selected by the content of the schemas.
        """
        documented = [output for output in outputs if output.folder in self._docs_inputs]
        if self._work.schema is None or not documented:
            return ()
        from acpgen.publish.release_verdicts import complete, plan_updates

        pairs: list[tuple[docs_inputs.Files, docs_inputs.Files]] = []
        for output in documented:
            before, schemas = self._docs_inputs[output.folder], b""
            if check or self._work.cache == NO_CACHE:
                schemas = b"".join(text for part in output.parts for _, text in self._sources[part.source].files)
            self._docs_inputs[output.folder] = complete(before, schemas)
            pairs.append((before, self._docs_inputs[output.folder]))
        return plan_updates(self._work.schema, pairs)

    def _make_tree(self, output: OutputFolder, meanings: Mapping[Path, Meaning]) -> Tree:
        """The expected files of an output; newly rendered parts are added to `_parts`. Raises `Faults`."""
        files: list[Files] = []
        versions: list[Version] = []
        for part in output.parts:
            self._step(f"{part.target} of {part.label}", steps=int(not part.is_documented))
            if part.is_documented:
                from acpgen.publish.versions import Version

                source, meaning = self._sources[part.source], meanings[part.source]
                versions.append(Version(*meaning, self._make_settings(part, output), source.locate, source.extends))
                self._parts[part] = self._make_entry({}, part, meaning)
                continue
            if part not in self._parts:
                meaning = meanings[part.source]
                self._parts[part] = self._make_entry(self._render(part, output, meaning), part, meaning)
                if part.target in BUILT_IN and self._code.is_as_it_was:
                    self._work.cache.keep(
                        make_place_key(part.folder, part.name), {**self._parts[part]}, self._inputs[part]
                    )
            files.append(self._parts[part]["files"])
        if versions:
            from acpgen import publish
            from acpgen.publish.memory import Memory

            memory = Memory(forgets=True, before=lambda page: self._step(f"docs: {page}", steps=0))
            beside = docs_inputs.NONE
            if output.folder in self._docs_inputs:
                beside = docs_inputs.parse_docs_inputs(self._docs_inputs[output.folder])
            files.append(publish.map_texts(publish.make_pages(versions, beside, memory=memory, cache=self._work.cache)))
            self._done += len(versions)
        return Tree(output.folder, merge(files, display_path(output.folder)), output.root, shared=output.shared)

    def _make_entry(self, files: Files, part: Part, meaning: Meaning) -> Mapping[str, Any]:
        """The record of a part: its files, what its bindings do not enforce, and notes on what has no effect in its schema."""
        from acpgen.meaning import unenforced

        bundle = meaning[1]
        gaps = unenforced.find_gaps(*meaning) if part.target == "python" else None
        notes = [*((note.at, note.join_text()) for note in bundle.notes), *bundle.describe_unread()]
        return {"files": {**files}, "gaps": gaps, "notes": notes}

    def _render(self, part: Part, output: OutputFolder, meaning: Meaning) -> Files:
        """The files that a target renders. Raises `Faults`, located in the user's file if the work on its schema was stopped."""
        from acpgen.targets.installed import TARGETS

        at, stopped = self._sources[part.source].locate, (TOO_DEEP, TOO_MUCH_WORK)
        try:
            return TARGETS[part.target](*meaning, self._make_settings(part, output))
        except Faults as caught:
            raise Faults(
                fault.move_to(at(fault.at)) if fault.kind in stopped else fault for fault in caught.faults
            ) from None

    def _make_settings(self, part: Part, output: OutputFolder) -> Settings:
        """The settings of a part's target. Raises `Faults` for options that the target does not have."""
        from acpgen.targets.installed import with_options

        at = self._work.at if output.key else "--option"
        return with_options(part.target, replace(part.settings, cache=self._work.cache), part.options, at, output.key)


def _read_sources(work: Work) -> Mapping[Path, Source]:
    """Read the schema files of every protocol of the work. Raises `Faults`."""
    faults: list[Fault] = []
    sources: dict[Path, Source] = {}
    for part in _list_protocols(work.outputs):
        if part.protocol is not None and not os.path.exists(part.source):
            faults.append(_report_missing(work.at, part.source, part.protocol))
            continue
        try:
            sources[part.source] = read(part.source, name=part.protocol, references=work.references)
        except Faults as caught:
            faults.extend(caught.faults)
    if faults:
        raise Faults(drop_duplicates(faults))
    return sources


def read_docs_inputs(work: Work) -> dict[Path, docs_inputs.Files]:
    """Read the docs inputs beside the schemas, for each output that holds docs. Raises `Faults`."""
    if work.schema is None:
        return {}
    return {
        output.folder: docs_inputs.read(work.schema, output.documented) for output in work.outputs if output.documented
    }


def _report_missing(at: str, source: Path, protocol: str) -> Fault:
    names = protocols.list_names_in(source.parents[protocol.count("/")])
    hint = suggest_name(protocol, names) or f"Put its schema into {display_path(source)}/."
    return UNKNOWN_NAME(at=at, kind="protocol", name=protocol, hint=hint)


def _list_protocols(outputs: Iterable[OutputFolder]) -> Sequence[Part]:
    """One part of each protocol, in order of first occurrence."""
    first: dict[Path, Part] = {}
    for output in outputs:
        for part in output.parts:
            first.setdefault(part.source, part)
    return tuple(first.values())


def _find_unused_names(work: Work, meanings: Mapping[Path, Meaning]) -> list[str]:
    """The names chosen for all protocols whose places no protocol has."""
    unmatched = [bundle.unmatched for _, bundle in meanings.values()]
    return sorted(key for key in work.names if work.protocols and all(key in keys for keys in unmatched))


def _locate_fault(fault: Fault, work: Work, source: Source) -> Fault:
    if fault.kind == UNUSED_RULE:
        return fault
    if fault.kind in (NAMED_BY_POSITION, UNUSED_NAME):
        return fault.move_to(f"{work.names_at}: {fault.at}")
    return fault.move_to(source.locate(fault.at))
