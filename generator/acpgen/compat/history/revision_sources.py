"""The revisions of a history: commits of git, the releases that a project keeps, or files and whatever else `acpgen diff` compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from acpgen import material, protocols
from acpgen.compat import sources
from acpgen.compat.compare import side
from acpgen.compat.history.steps import Read
from acpgen.compat.history.timeline import Milestone
from acpgen.compat.sources import Input
from acpgen.errors import Faults
from acpgen.input import git_revisions
from acpgen.input.load import NO_REFERENCES, Documents, References
from acpgen.methods.profile import Profile

MOST: Final = 50
"""As many revisions are compared if nobody asks for more."""


@dataclass(frozen=True, slots=True)
class RevisionReader:
    """How revisions are read: with what is marked unstable, what addresses mean, and the profile of all of them."""

    unstable: bool = False
    references: References = field(default_factory=lambda: NO_REFERENCES)
    methods: Profile | None = None

    def read(self, milestone: Milestone, opened: Callable[[], Input]) -> Read:
        """A revision, or why it cannot be read."""
        try:
            return Read(milestone, side(opened(), unstable=self.unstable))
        except Faults as faults:
            reasons = tuple(dict.fromkeys(map(str, faults.faults)))
            return Read(Milestone(milestone.name, milestone.subject, milestone.day, milestone.tags, reasons), None)


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of a history, oldest first. `notes` say what was left out, and where the schema stood before, `files` are the files
    in the working tree that were read or that a revision has too.
    """

    about: str
    revisions: tuple[Read, ...]
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def from_paths(given: Sequence[str], reader: RevisionReader, most: int = MOST) -> Revisions:
    """Files, folders, protocols, or any of them at a git revision, in the order given. Raises `Faults` for those that are not there."""
    notes = _left_out(len(given) - most, "older")
    found = [(each, sources.found(each)) for each in given[-most:]]

    def read() -> Iterator[Read]:
        for number, (name, source) in enumerate(found):
            profile = reader.methods or sources.configured(name)
            label = name if [each for each, _ in found].count(name) == 1 else f"{name} ({number + 1})"
            yield reader.read(
                Milestone(label),
                partial(
                    sources.understood, source, name, profile, unstable=reader.unstable, references=reader.references
                ),
            )

    files = tuple(path for each in given for path in sources.files_here(each))
    return Revisions(f"{given[0]} … {given[-1]}", tuple(read()), notes, files)


def from_releases(protocol: str, reader: RevisionReader, most: int = MOST) -> Revisions | None:
    """The releases of a protocol that the project or acpgen keeps; `None` where there are none. Raises `Faults`."""
    folder = protocols.with_releases(protocol)
    if folder is None:
        return None
    kept = material.parsed(material.read(folder, [protocol])).releases.get(protocol)
    if kept is None or not kept.releases:
        return None
    profile = reader.methods or sources.configured(protocol)
    releases = kept.releases[-most:]
    named = [Milestone(each.version, tags=(each.title,) if each.title else ()) for each in releases]
    read = (
        reader.read(milestone, _input(each.documents, profile)) for milestone, each in zip(named, releases, strict=True)
    )
    files = (*sources.files_here(protocol), *map(str, (folder / material.RELEASES / protocol).iterdir()))
    return Revisions(protocol, tuple(read), _left_out(len(kept.releases) - most, "older"), files)


def from_git(
    revision: str, path: str, reader: RevisionReader, *, since: str | None = None, most: int = MOST
) -> Revisions:
    """The commits of a revision, or of a range `A..B`, that changed a schema: along first parents, and back through its moves.

    Of a range, and with `since`, the state before comes first. Raises `Faults`.
    """
    base, dots, tip = revision.rpartition("..")
    tip = (tip or "HEAD") if dots else revision
    inside = sources.protocol_folder(path)
    place = git_revisions.locate(tip, ([inside] if inside is not None else []) + [Path(path)])
    contents = git_revisions.Contents(tip)
    beside = contents.beside(place)
    log = git_revisions.log(place, beside)
    commits = list(log.commits)
    start = len(commits)
    if dots:
        start = min(start, _before(commits, base or "HEAD"))
    if since is not None:
        oldest = git_revisions.age(since)
        start = min(start, next((n for n, each in enumerate(commits) if each.time < oldest), len(commits)))
    chosen = commits[: start + 1][:most][::-1]
    notes = [
        f"{move.commit.name} moved the schema from {move.old} to {move.new}."
        for move in log.moves
        if move.commit in chosen
    ]
    merges = sum(len(each.parents) > 1 for each in chosen)
    notes += [f"Merges count as one step each, whatever they brought: {merges} here."] if merges else []
    notes += ["This clone is shallow: what came before is not here."] if log.is_shallow else []
    notes += _left_out(len(commits) - len(chosen), "earlier")
    if beside:
        notes.append(f"Changes of the files that the schema refers to count: {', '.join(beside)}.")
    profile = reader.methods or sources.configured(path)

    def read(commit: git_revisions.Commit) -> Read:
        milestone = Milestone(commit.name, commit.subject, commit.day, commit.tags)

        def opened() -> Input:
            location = git_revisions.Location(commit.identity, commit.path)
            source = contents.source(location, name=path, shown=commit.name)
            return sources.understood(
                source, f"{commit.name}:{path}", profile, unstable=reader.unstable, references=reader.references
            )

        return reader.read(milestone, opened)

    return Revisions(f"{revision} -- {path}", tuple(map(read, chosen)), tuple(notes), sources.files_here(path))


def _before(commits: Sequence[git_revisions.Commit], base: str) -> int:
    """The number of the newest commit that is no newer than a revision."""
    reached = git_revisions.ancestors(git_revisions.identity(base))
    return next((number for number, each in enumerate(commits) if each.identity in reached), len(commits))


def _input(documents: Documents, profile: Profile | None) -> Callable[[], Input]:
    return lambda: sources.opened(documents, methods=profile)


def _left_out(count: int, which: str) -> tuple[str, ...]:
    if count <= 0:
        return ()
    return (f"{count} {which} {'revision was' if count == 1 else 'revisions were'} left out: see --limit and --since.",)
