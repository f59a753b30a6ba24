"""The checks of `acpgen lint` on schema files: the dialect, the meta-schema and the house rules.

In: schema files. Out: remarks with their places. A rule is one function from a `Subject` to remarks. Its name with dashes is its
public id, its docstring its documentation.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from acpgen.config.docs_inputs import select_schemas
from acpgen.errors import Fault, Faults, suggest_name
from acpgen.input.dialect import locate_dialect
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.load import NO_REFERENCES, References, Source, display_path, parse_unchecked, read
from acpgen.input.positions import find_positions
from acpgen.input.step_budget import limit_steps
from acpgen.lint import dialect, meaning, structure, words
from acpgen.lint.subject import Remark, Subject
from acpgen.pointers import split_pointer

Rule: TypeAlias = Callable[[Subject], Iterable[Remark]]

RULES: Final[tuple[Rule, ...]] = (
    dialect.schema_malformed,
    dialect.keyword_unknown,
    dialect.keyword_misplaced,
    dialect.keyword_wrong,
    dialect.keyword_meaningless,
    words.description_missing,
    words.example_refused,
    words.variant_example_missing,
    words.method_example_missing,
    structure.reference_dangling,
    structure.reference_looping,
    structure.reference_ambiguous,
    structure.reference_unmarked,
    structure.definition_unused,
    structure.name_colliding,
    structure.bundle_refused,
    structure.union_half_marked,
    structure.default_overlapping,
    meaning.null_meaning_missing,
    meaning.null_meaning_misplaced,
    meaning.leniency_forbidden,
    meaning.gate_dangling,
    meaning.gate_misplaced,
    meaning.gate_missing,
    meaning.capability_unused,
    meaning.capability_contradicted,
    meaning.method_mismatched,
    meaning.method_unlisted,
)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A violation of a rule. `file` is the path as displayed; `pointer` is the JSON Pointer into the file, as a URI fragment."""

    file: str
    line: int
    column: int
    pointer: str
    rule: str
    message: str


def require_rules(levels: Iterable[str], at: str) -> None:
    """Raise `Faults` for every key of `[tool.acpgen.lint]` that is not a rule."""
    rule_ids = [name_rule(rule) for rule in RULES]
    faults = [
        UNKNOWN_NAME(at=f"{at}: tool.acpgen.lint", kind="rule", name=name, hint=suggest_name(name, rule_ids))
        for name in levels
        if name not in rule_ids
    ]
    if faults:
        raise Faults(faults)


def name_rule(rule: Rule) -> str:
    """The public name of a rule: `description-missing`."""
    return rule.__name__.replace("_", "-")


def lint(source: Source) -> tuple[Finding, ...]:
    """The findings of all rules in one protocol, ordered by file and line.

    Raises `Faults` if a text is not JSON.
    """
    documents = parse_unchecked(source)
    subject = Subject(source, documents)
    broken = tuple(dialect.schema_malformed(subject))
    rules = (dialect.schema_malformed,) if broken else RULES
    try:
        with limit_steps(documents.documents[0].path, documents.size):
            return tuple(sorted({_make_finding(subject, rule, remark) for rule in rules for remark in rule(subject)}))
    except Faults as caught:
        raise Faults(fault.move_to(source.locate(fault.at)) for fault in caught.faults) from None


def lint_paths(
    paths: Sequence[Path], projects: Collection[Path] = (), references: References = NO_REFERENCES
) -> tuple[Finding, ...]:
    """The findings in the protocols at `paths`: folders of one protocol, folders of such folders, or single files.

    `projects` are the schema folders of projects. A file below one is read with the protocol that it belongs to, and only its own
    findings are returned; a project's files for the docs are not schemas. `references` maps URIs to files or drafts. Raises `Faults`.
    """
    faults: list[Fault] = []
    findings: set[Finding] = set()
    for path in paths:
        try:
            findings.update(_lint_path(path, projects, references))
        except Faults as caught:
            faults.extend(caught.faults)
    if faults:
        raise Faults(faults)
    return tuple(sorted(findings))


def _lint_path(path: Path, projects: Collection[Path], references: References) -> Iterator[Finding]:
    absolute = Path(os.path.realpath(path))
    schema = next((folder for folder in projects if absolute.is_relative_to(folder.resolve())), None)
    if schema is not None and absolute == schema.resolve():
        for protocol in find_protocols(select_schemas(read(path, references=references))):
            yield from lint(protocol)
        return
    if schema is not None and path.is_file():
        requested_file = display_path(path)
        for protocol in find_protocols(select_schemas(read(schema, references=references))):
            file = next((path_ for path_, _ in protocol.files if protocol.locate(path_) == requested_file), None)
            if file is not None:
                findings = lint(protocol)
                yield from (finding for finding in findings if finding.file == requested_file)
                extended = protocol.source_maps[file].at if file in protocol.source_maps else requested_file
                base_findings = {finding for finding in findings if finding.file == extended != requested_file}
                yield from base_findings.difference(
                    lint_paths([Path(extended)], projects, references) if base_findings else ()
                )
        return
    for protocol in find_protocols(read(path, references=references)):
        yield from lint(protocol)


def find_protocols(source: Source) -> Iterator[Source]:
    """Yield the protocols in a folder: each outermost folder with schema files is one, together with the folders inside it."""
    files = [(path, content) for path, content in source.files if path != locate_dialect().name]
    folders = {posixpath.dirname(path) for path, _ in files}
    tops = [folder for folder in folders if not any(_is_inside(folder, outer) for outer in folders - {folder})]
    for top in sorted(tops):
        below = tuple((path[len(top) :].lstrip("/"), content) for path, content in files if _is_inside(path, top))
        root = posixpath.join(source.root, top) if top else source.root
        origins = {
            path[len(top) :].lstrip("/"): source_map
            for path, source_map in source.source_maps.items()
            if _is_inside(path, top)
        }
        yield replace(source, name=top or source.name, root=root, files=below, source_maps=origins)


def _is_inside(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _make_finding(subject: Subject, rule: Rule, remark: Remark) -> Finding:
    at = subject.source.locate(remark.at)
    file, _, fragment = at.partition("#")
    text_positions = find_positions(_read_text(subject, remark.at))
    # What the bundle made of several places stands near the first of them.
    offset, _ = text_positions.find_nearest(split_pointer(fragment))
    line, column = text_positions.locate_offset(offset)
    return Finding(file, line, column, f"#{fragment}", name_rule(rule), remark.sentence)


def _read_text(subject: Subject, at: str) -> str:
    """The source text for a location, as its author wrote it."""
    file, _, fragment = at.partition("#")
    document, source_map = subject.found.find(file), subject.source.source_maps.get(file)
    assert document is not None, file
    if source_map is None:
        return document.text
    is_own, _ = source_map.find_origin(split_pointer(fragment))
    return (source_map.overlay if is_own else source_map.base).decode()
