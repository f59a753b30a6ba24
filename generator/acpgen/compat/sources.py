"""What OLD and NEW may be: a protocol of this repository, a file, a folder, or either at a git revision.

Such as `acp/v1`, `schema.json`, `schema/acp/v1`, `main:acp/v1`, `v1.2.0:path/to/schema.json`. A folder is one schema in many files,
but for folders as ACP publishes them, with `schema.json` and beside it `schema.unstable.json`: these are two editions of one schema.
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
"""What can be compared: one of the above, or documents that were loaded."""


@dataclass(frozen=True, slots=True)
class Input:
    """One side of a comparison: how people call it, its documents, and where they were found, if they were files.

    `methods` is the profile that a person or the project names for it.
    """

    label: str
    documents: Documents = field(repr=False)
    source: Source | None = field(default=None, repr=False)
    methods: Profile | None = None

    def at(self, path: str) -> str:
        """The place of one file, for people."""
        return path if self.source is None else self.source.at(path)

    @property
    def places(self) -> tuple[str, ...]:
        """The places of the files that were read."""
        return () if self.source is None else self.source.places


_STABLE: Final = "schema.json"
_UNSTABLE: Final = "schema.unstable.json"


def open_input(
    given: Comparable,
    *,
    checked: bool = True,
    unstable: bool = False,
    references: References = NO_REFERENCES,
    methods: Profile | None = None,
) -> Input:
    """Read one side. `checked`: every document must be a schema that its meta-schema allows. `unstable` picks the edition.

    `references` say what addresses mean. `methods` is the profile of both sides; without, the one that the project names for
    the protocol. What it says of methods that only one side has is no fault.

    Raises `Faults`.
    """
    profile = None if methods is None else replace(methods, how="evident")
    if isinstance(given, Documents):
        return Input(given.name, given, methods=profile)
    given = given if isinstance(given, str) else Path(given)
    source = find_source(given)
    if profile is None and isinstance(given, str):
        profile = configured_profile(given)
    return make_input(source, str(given), profile, checked=checked, unstable=unstable, references=references)


def make_input(
    source: Source,
    label: str,
    methods: Profile | None,
    *,
    checked: bool = True,
    unstable: bool = False,
    references: References = NO_REFERENCES,
) -> Input:
    """One side whose files are read. Raises `Faults`."""
    edition = with_references(_edition(source, unstable=unstable), references)
    return Input(label, parse(edition) if checked else parse_unchecked(edition), edition, methods)


def configured_profile(given: str) -> Profile | None:
    """The profile that the project names for a protocol, here or at a revision. Raises `Faults`."""
    _, colon, rest = given.partition(":")
    name, project = rest if colon else given, _project()
    profile = project.profile(name) if project is not None and name in project.protocols else None
    return None if profile is None else replace(profile, how="evident")


def find_source(given: str | Path) -> Source:
    """The files of a path, a protocol or a revision. Raises `Faults`."""
    text = str(given)
    protocol = protocol_folder(text)
    if protocol is not None and protocol.exists():
        return read(protocol, name=text)
    if isinstance(given, Path) or _exists(Path(given)):
        return read(Path(given))
    canonical = protocols.find(text)
    if canonical is not None:
        return read(canonical, name=text)
    at_revision = _revision(text)
    if at_revision is None:
        raise Faults([protocols.unknown(text)])
    from acpgen.input.git_revisions import read_revision  # most comparisons are of files

    revision, rest = at_revision
    inside = protocol_folder(rest)
    return read_revision(revision, ([inside] if inside is not None else []) + [Path(rest)], name=rest)


def files_here(given: str) -> tuple[str, ...]:
    """The files in the working tree that a name stands for, whatever revision it asks for; none where it is not here."""
    at_revision = _at_revision(given)
    try:
        return find_source(given if at_revision is None else at_revision[1]).places
    except Faults:
        return ()


def at_merge_base(old: str, new: str) -> tuple[str, MergeBase]:
    """OLD at the merge base of its revision and that of NEW, or of `HEAD` where NEW is a file. Raises `Faults`: OLD is at no revision."""
    before, after = _at_revision(old), _at_revision(new)
    if before is None:
        raise Faults([NOT_AT_A_REVISION(at=old)])
    from acpgen.input.git_revisions import merge_base

    base = merge_base(before[0], "HEAD" if after is None else after[0])
    return f"{base.short}:{before[1]}", base


def is_new(old: str, new: str) -> bool:
    """Whether OLD's revision does not have what NEW is. Raises `Faults` where either cannot be read for another reason."""
    if _at_revision(old) is None:
        return False
    find_source(new)
    try:
        find_source(old)
    except Faults as caught:
        if all(fault.kind == NOT_FOUND for fault in caught.faults):
            return True
        raise
    return False


def _at_revision(given: str) -> tuple[str, str] | None:
    """The revision and what is meant at it; `None` for files that are here."""
    protocol = protocol_folder(given)
    is_here = (protocol is not None and protocol.exists()) or _exists(Path(given)) or protocols.find(given) is not None
    return None if is_here else _revision(given)


def _revision(text: str) -> tuple[str, str] | None:
    revision, colon, rest = text.partition(":")
    return (revision, rest) if colon and revision and rest else None


def _edition(source: Source, *, unstable: bool) -> Source:
    """The files of one edition, where a folder holds two."""
    if not {_STABLE, _UNSTABLE} <= {path for path, _ in source.files}:
        return source
    left_out = _STABLE if unstable else _UNSTABLE
    return replace(source, files=tuple(each for each in source.files if each[0] != left_out))


def protocol_folder(name: str) -> Path | None:
    """Where the project keeps a protocol of this name; `None` without a project, or if it is no such name."""
    project = _project() if config.is_protocol(name) else None
    return None if project is None else project.root / project.schema / name


def _project() -> config.Config | None:
    """The project here; `None` for none, and where its configuration cannot be read."""
    try:
        return config.find(Path.cwd())
    except Faults:
        return None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
