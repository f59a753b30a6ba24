"""The options of a history, and its revisions: git commits, kept releases, or files and other inputs that `acpgen diff` accepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from acpgen.compat import sources
from acpgen.compat.compare import read_side
from acpgen.compat.history.timeline import Milestone
from acpgen.compat.sources import Input
from acpgen.config import docs_inputs, protocols
from acpgen.diagnostics.outputs import Destination
from acpgen.errors import Faults, count_noun
from acpgen.input import git_revisions
from acpgen.input.load import NO_REFERENCES, References, Source
from acpgen.methods.profile import Profile

MOST: Final = 50
"""The default number of revisions to compare."""


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """What to compare and how: `given` are the arguments before `--` on the command line, `path` the one after it, `None` without `--`.

    `destinations` are the formats and files of the report.
    """

    given: tuple[str, ...]
    path: str | None = None
    destinations: tuple[Destination, ...] = (Destination("text", None),)
    since: str | None = None
    limit: int = MOST
    waivers: Path | None = None
    unstable: bool = False
    methods: str | None = None
    budget: int | None = None
    references: References = field(default_factory=lambda: NO_REFERENCES)

    def read(self, milestone: Milestone, open_: Callable[[], Input]) -> Milestone:
        """A milestone with its schema, or with the reasons why it cannot be read."""
        try:
            return replace(milestone, side=read_side(open_(), unstable=self.unstable))
        except Faults as faults:
            return replace(milestone, unread=tuple(dict.fromkeys(map(str, faults.faults))))

    def read_input(self, source: Source, label: str, profile: Profile | None) -> Input:
        """The input of a source. Raises `Faults`."""
        return sources.make_input(source, label, profile, unstable=self.unstable, references=self.references)


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of a history, oldest first.

    `notes` say what was left out and where the schema was before it moved; `files` are the files in the working tree that were read or
    that a revision also contains.
    """

    about: str
    milestones: tuple[Milestone, ...]
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def from_paths(arguments: Sequence[str], options: HistoryOptions, methods: Profile | None) -> Revisions:
    """The revisions for files, folders or protocols, each optionally at a git revision, in the order of the arguments.

    `methods` is the profile of all, by default the one that the project configures for each. Raises `Faults` for those that do not exist.
    """
    located_sources = [(argument, sources.find_source(argument)) for argument in arguments[-options.limit :]]
    names = [name for name, _ in located_sources]
    labels = [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]
    milestones = tuple(
        options.read(
            Milestone(label),
            partial(options.read_input, source, name, methods or sources.find_configured_profile(name)),
        )
        for label, (name, source) in zip(labels, located_sources, strict=True)
    )
    files = tuple(path for argument in arguments for path in sources.find_files(argument))
    return Revisions(
        f"{arguments[0]} … {arguments[-1]}",
        milestones,
        _describe_omission(len(arguments) - options.limit, "older"),
        files,
    )


def from_releases(protocol: str, options: HistoryOptions, methods: Profile | None) -> Revisions | None:
    """The releases of a protocol that the project or acpgen keeps; `None` if there are none. Raises `Faults`."""
    folder = protocols.with_releases(protocol)
    if folder is None:
        return None
    release_index = docs_inputs.parse_docs_inputs(docs_inputs.read(folder, [protocol])).releases.get(protocol)
    if release_index is None or not release_index.releases:
        return None
    profile = methods or sources.find_configured_profile(protocol)
    milestones = tuple(
        options.read(
            Milestone(release.version, tags=(release.title,) if release.title else ()),
            partial(sources.open_input, release.documents, methods=profile),
        )
        for release in release_index.releases[-options.limit :]
    )
    files = (*sources.find_files(protocol), *map(str, (folder / docs_inputs.RELEASES / protocol).iterdir()))
    return Revisions(
        protocol, milestones, _describe_omission(len(release_index.releases) - options.limit, "older"), files
    )


def from_git(revision: str, path: str, options: HistoryOptions, methods: Profile | None) -> Revisions:
    """The commits of a revision, or of a range `A..B`, that changed a schema, along first parents and across renames of its files.

    For a range, and with `--since`, the state before it comes first. Raises `Faults`.
    """
    base, dots, tip = revision.rpartition("..")
    tip = (tip or "HEAD") if dots else revision
    folder = sources.find_protocol_folder(path)
    place = git_revisions.locate(tip, ([folder] if folder is not None else []) + [Path(path)])
    contents = git_revisions.Contents(tip)
    referenced_files = contents.find_referenced_files(place)
    log = git_revisions.log(place, referenced_files)
    start = len(log.commits)
    if dots:  # from the newest commit that is no newer than the base
        reached = git_revisions.list_ancestors(git_revisions.resolve_commit(base or "HEAD"))
        start = next((number for number, commit in enumerate(log.commits) if commit.identity in reached), start)
    if options.since is not None:
        oldest = git_revisions.convert_date(options.since)
        start = min(start, next((number for number, commit in enumerate(log.commits) if commit.time < oldest), start))
    commits = log.commits[: start + 1][: options.limit][::-1]
    moves = [move for move in log.moves if move.commit in commits]
    merges = sum(len(commit.parents) > 1 for commit in commits)
    notes = [f"{move.commit.name} moved the schema from {move.old} to {move.new}." for move in moves]
    notes += [f"Merges count as one step each, whatever they brought: {merges} here."] if merges else []
    notes += ["This clone is shallow: what came before is not here."] if log.is_shallow else []
    notes += _describe_omission(len(log.commits) - len(commits), "earlier")
    if referenced_files:
        notes.append(f"Changes of the files that the schema refers to count: {', '.join(referenced_files)}.")
    profile = methods or sources.find_configured_profile(path)

    def read(commit: git_revisions.Commit) -> Input:
        location = git_revisions.Location(commit.identity, commit.path)
        source = contents.read_source(location, name=path, label=commit.name)
        return options.read_input(source, f"{commit.name}:{path}", profile)

    milestones = tuple(
        options.read(Milestone(commit.name, commit.subject, commit.day, commit.tags), partial(read, commit))
        for commit in commits
    )
    return Revisions(f"{revision} -- {path}", milestones, tuple(notes), sources.find_files(path))


def _describe_omission(count: int, age: str) -> tuple[str, ...]:
    subject = f"{count_noun(count, f'{age} revision')} {'was' if count == 1 else 'were'}"
    return (f"{subject} left out by --limit, --since or a range.",) if count > 0 else ()
