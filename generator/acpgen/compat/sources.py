"""The inputs OLD and NEW: a protocol of this repository, a file, a folder, or one of them at a git revision.

Examples: `acp/v1`, `schema.json`, `schema/acp/v1`, `main:acp/v1`, `v1.2.0:path/to/schema.json`. A folder is one schema in several files,
except for folders as ACP publishes them, with `schema.json` beside `schema.unstable.json`: these are two editions of one schema.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen import config
from acpgen.compat.faults import NOT_AT_A_REVISION
from acpgen.config import protocols
from acpgen.errors import Faults
from acpgen.input.faults import NOT_FOUND
from acpgen.input.load import (
    NO_REFERENCES,
    Documents,
    References,
    Source,
    parse,
    parse_unchecked,
    read,
    with_references,
)
from acpgen.methods.profile import Profile

if TYPE_CHECKING:
    from acpgen.input.git_revisions import MergeBase

Comparable: TypeAlias = "str | os.PathLike[str] | Documents"
"""An input of a comparison: one of the above, or loaded documents."""


@dataclass(frozen=True, slots=True)
class Input:
    """One side of a comparison: its display name, its documents, and their source if they were read from files.

    `methods` is the profile from the command line or the project's configuration.
    """

    label: str
    documents: Documents = field(repr=False)
    source: Source | None = field(default=None, repr=False)
    methods: Profile | None = None

    def locate(self, path: str) -> str:
        """The display name of a file."""
        return path if self.source is None else self.source.locate(path)

    @property
    def places(self) -> tuple[str, ...]:
        """The display names of the files that were read."""
        return () if self.source is None else self.source.places


_STABLE: Final = "schema.json"
_UNSTABLE: Final = "schema.unstable.json"


def open_input(
    comparable: Comparable,
    *,
    checked: bool = True,
    unstable: bool = False,
    references: References = NO_REFERENCES,
    methods: Profile | None = None,
) -> Input:
    """Read one side.

    `checked`: every document must be valid under its meta-schema. `unstable` selects the edition. `references` resolves URIs. `methods`
    is the profile of both sides, by default the one that the project configures for the protocol; entries for methods that only one side
    has are no fault. Raises `Faults`.
    """
    profile = None if methods is None else replace(methods, how="evident")
    if isinstance(comparable, Documents):
        return Input(comparable.name, comparable, methods=profile)
    comparable = comparable if isinstance(comparable, str) else Path(comparable)
    source = find_source(comparable)
    if profile is None and isinstance(comparable, str):
        profile = find_configured_profile(comparable)
    return make_input(source, str(comparable), profile, checked=checked, unstable=unstable, references=references)


def make_input(
    source: Source,
    label: str,
    methods: Profile | None,
    *,
    checked: bool = True,
    unstable: bool = False,
    references: References = NO_REFERENCES,
) -> Input:
    """The input of a source. Raises `Faults`."""
    edition = with_references(_select_edition(source, unstable=unstable), references)
    return Input(label, parse(edition) if checked else parse_unchecked(edition, drafts=True), edition, methods)


def find_configured_profile(text: str) -> Profile | None:
    """The profile that the project configures for a protocol, in the working tree or at a revision. Raises `Faults`."""
    _, colon, rest = text.partition(":")
    name, project = rest if colon else text, _find_project()
    profile = project.read_profile(name) if project is not None and name in project.protocols else None
    return None if profile is None else replace(profile, how="evident")


def find_source(location: str | Path) -> Source:
    """Read the files of a path, of a protocol, or of either at a revision. Raises `Faults`."""
    text = str(location)
    protocol = find_protocol_folder(text)
    if protocol is not None and protocol.exists():
        return read(protocol, name=text)
    if isinstance(location, Path) or _is_there(Path(location)):
        return read(Path(location))
    canonical = protocols.find(text)
    if canonical is not None:
        return read(canonical, name=text)
    at_revision = _split_revision(text)
    if at_revision is None:
        raise Faults([protocols.report_unknown(text)])
    from acpgen.input.git_revisions import read_revision  # most comparisons are of files

    revision, rest = at_revision
    folder = find_protocol_folder(rest)
    return read_revision(revision, ([folder] if folder is not None else []) + [Path(rest)], name=rest)


def find_files(name: str) -> tuple[str, ...]:
    """The files in the working tree that a name denotes, ignoring its revision; none if it does not exist there."""
    at_revision = _split_place(name)
    try:
        return find_source(name if at_revision is None else at_revision[1]).places
    except Faults:
        return ()


def find_at_merge_base(old: str, new: str) -> tuple[str, MergeBase]:
    """OLD at the merge base of its revision and that of NEW, or of `HEAD` if NEW is a file. Raises `Faults` if OLD is at no revision."""
    before, after = _split_place(old), _split_place(new)
    if before is None:
        raise Faults([NOT_AT_A_REVISION(at=old)])
    from acpgen.input.git_revisions import merge_base

    base = merge_base(before[0], "HEAD" if after is None else after[0])
    return f"{base.short}:{before[1]}", base


def is_new(old: str, new: str) -> bool:
    """Whether OLD's revision does not contain NEW. Raises `Faults` if either cannot be read for another reason."""
    if _split_place(old) is None:
        return False
    find_source(new)
    try:
        find_source(old)
    except Faults as caught:
        if all(fault.kind == NOT_FOUND for fault in caught.faults):
            return True
        raise
    return False


def _split_place(name: str) -> tuple[str, str] | None:
    """The revision and the name at it; `None` for files in the working tree."""
    protocol = find_protocol_folder(name)
    is_here = (protocol is not None and protocol.exists()) or _is_there(Path(name)) or protocols.find(name) is not None
    return None if is_here else _split_revision(name)


def _split_revision(text: str) -> tuple[str, str] | None:
    revision, colon, rest = text.partition(":")
    return (revision, rest) if colon and revision and rest else None


def _select_edition(source: Source, *, unstable: bool) -> Source:
    """The files of one edition if a folder contains two."""
    if not {_STABLE, _UNSTABLE} <= {path for path, _ in source.files}:
        return source
    left_out = _STABLE if unstable else _UNSTABLE
    return replace(source, files=tuple(file for file in source.files if file[0] != left_out))


def find_protocol_folder(name: str) -> Path | None:
    """The project's folder of a protocol; `None` without a project, or if the name is not that of a protocol."""
    project = _find_project() if config.is_protocol(name) else None
    return None if project is None else project.schema_folder / name


def _find_project() -> config.Config | None:
    """The project of the current folder; `None` if there is none or its configuration cannot be read."""
    try:
        return config.find(Path.cwd())
    except Faults:
        return None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
