"""Read schemas from git: at one revision, and at each commit that changed them.

git only reads objects: no command runs a filter, hook, driver or pager, and nothing is fetched.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

from acpgen.errors import Fault, Faults, show
from acpgen.input.faults import (
    BAD_SETTING,
    LINK_REFUSED,
    NO_MERGE_BASE,
    NO_REPOSITORY,
    NO_REVISION,
    NOT_FOUND,
    SHALLOW_CLONE,
    TOO_LARGE,
)
from acpgen.input.file_discovery import discover_files
from acpgen.input.load import LARGEST, Source, parse_strict
from acpgen.input.overlay import extend_files

if TYPE_CHECKING:
    import subprocess


@dataclass(frozen=True, slots=True)
class Location:
    """The location of a schema in a repository: a file or folder of one commit, relative to the root."""

    commit: str
    path: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changed a schema. `path` is the schema's path in it, `time` is in seconds since 1970, `day` an ISO date."""

    identity: str
    parents: tuple[str, ...]
    time: int
    day: str
    subject: str
    tags: tuple[str, ...]
    path: str

    @property
    def name(self) -> str:
        """The abbreviated commit hash."""
        return self.identity[:10]


@dataclass(frozen=True, slots=True)
class Move:
    """A commit that moved a schema to another path."""

    commit: Commit
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Log:
    """The commits that changed a schema along first parents, newest first, and those that moved it.

    `is_shallow`: the repository lacks the history before some commit.
    """

    commits: tuple[Commit, ...]
    moves: tuple[Move, ...] = ()
    is_shallow: bool = False


def read_revision(revision: str, paths: Sequence[Path], *, name: str) -> Source:
    """Read a schema at a git revision: the first of the paths that exists, file or folder.

    Relative paths are resolved against the current folder, then against the root of the repository. Raises `Faults`.
    """
    return Contents(revision).read_source(locate(revision, paths), name=name, label=revision)


def locate(revision: str, paths: Sequence[Path]) -> Location:
    """The first of the paths that a revision has. Raises `Faults`."""
    commit = resolve_commit(revision)
    for path in _relate_to_root(revision, paths):
        if _run_git(["ls-tree", "-z", "--full-tree", commit, "--", path], revision):
            return Location(commit, path)
    raise Faults([NOT_FOUND(at=f"{revision}:{paths[-1].as_posix()}")])


def is_revision(name: str) -> bool:
    """Whether a name is a commit, branch or tag of this repository."""
    try:
        return _resolve(name.rpartition("..")[2] or "HEAD") is not None
    except Faults:
        return False


def resolve_commit(revision: str) -> str:
    """The commit hash of a revision. Raises `Faults`."""
    commit = _resolve(revision)
    if commit is None:
        _run_git(["rev-parse", "--git-dir"], revision)
        raise Faults([NO_REVISION(at=revision, reason=_explain_missing(revision))])
    return commit


@dataclass(frozen=True, slots=True)
class MergeBase:
    """The newest common ancestor of two revisions."""

    commit: str
    one: str
    other: str

    @property
    def short(self) -> str:
        """The abbreviated commit hash."""
        return self.commit[:10]


def merge_base(left: str, right: str = "HEAD") -> MergeBase:
    """The merge base of two revisions. Raises `Faults` if a revision does not exist or there is no common commit in the clone."""
    process = _run(["merge-base", resolve_commit(left), resolve_commit(right)], left)
    if process.returncode or not process.stdout.strip():
        kind = SHALLOW_CLONE if _is_shallow(left) else NO_MERGE_BASE
        raise Faults([kind(left, other=right)])
    return MergeBase(process.stdout.decode().strip(), left, right)


def _resolve(revision: str) -> str | None:
    options = ["--verify", "--quiet", "--end-of-options"]
    process = _run(["rev-parse", *options, f"{revision}^{{commit}}"], revision)
    return process.stdout.decode().strip() if process.returncode == 0 else None


def _explain_missing(revision: str) -> str:
    """Why a revision does not exist, as far as git can tell."""
    reason = "this repository has no such revision"
    remote = f"origin/{revision}"
    if _resolve(f"refs/remotes/{remote}") is not None:
        return f"{reason}, but it has {remote!r}"
    if _is_shallow(revision):
        return f"{reason}; the clone is shallow, so fetch it ('git fetch origin {revision}', or 'fetch-depth: 0' of actions/checkout)"
    return reason


def _is_shallow(revision: str) -> bool:
    return _run_git(["rev-parse", "--is-shallow-repository"], revision).strip() == b"true"


def convert_date(since: str) -> int:
    """Convert a date as git understands it, such as `2026-01-31` or `2 weeks ago`, to seconds since 1970. Raises `Faults`.

    A day starts at midnight; git itself would use the current time of day. git takes what it does not understand for the present, so a
    time that is not in the past is refused.
    """
    expected = "a time that has passed, such as 2026-01-31 or '3 months ago'"
    wrong = Faults([BAD_SETTING(at="--since", key=show(since), expected=expected, hint="Correct it, or leave it out.")])
    now = int(time())
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", since):
        try:
            seconds = int(datetime.fromisoformat(since).timestamp())
        except (ValueError, OverflowError):
            raise wrong from None
    else:
        seconds = int(_run_git(["rev-parse", f"--since={since}"], since).decode().strip().rpartition("=")[2])
    if seconds >= now:
        raise wrong
    return seconds


def list_ancestors(commit: str) -> frozenset[str]:
    """A commit and its ancestors. Raises `Faults`."""
    return frozenset(_run_git(["rev-list", commit], commit).decode().split())


def log(place: Location, referenced_paths: Sequence[str] = ()) -> Log:
    """The commits up to `place` that changed a schema, along first parents and through renames. Raises `Faults`.

    `referenced_paths` are paths of files that the schema refers to: commits that change one of them count too.
    """
    commits: list[Commit] = []
    moves: list[Move] = []
    tip, path = place.commit, place.path
    while True:
        section = _list_commits(tip, path)
        if section and referenced_paths:
            whole = _list_commits(tip, path, *referenced_paths)
            section = whole[: [commit.identity for commit in whole].index(section[-1].identity) + 1]
        commits += section
        if not section or not section[-1].parents:
            break
        oldest = section[-1]
        former = _find_former_path(oldest, path)
        if former is None:
            break
        moves.append(Move(oldest, former, path))
        tip, path = oldest.parents[0], former
    return Log(tuple(commits), tuple(moves), _is_shallow(place.commit))


def _relate_to_root(revision: str, paths: Sequence[Path]) -> list[str]:
    """The paths relative to the root of the repository: resolved against the current folder first, then against the root."""
    top = Path(os.fsdecode(_run_git(["rev-parse", "--show-toplevel"], revision)).removesuffix("\n"))
    below = [Path(os.path.abspath(path)) for path in paths] + [top / path for path in paths if not path.is_absolute()]
    real = dict.fromkeys(Path(os.path.realpath(path.parent)) / path.name for path in below)
    return [path.relative_to(top).as_posix() for path in real if path.is_relative_to(top)]


_FIELDS: Final = ("%H", "%P", "%ct", "%cs", "%D", "%s")


def _list_commits(tip: str, path: str, *files: str) -> list[Commit]:
    pattern = f"--format=tformat:{'%x00'.join(_FIELDS)}"
    output = _run_git(["--literal-pathspecs", "rev-list", "--first-parent", pattern, tip, "--", path, *files], tip)
    commits: list[Commit] = []
    for line in output.decode(errors="replace").split("\n"):
        parts = line.split("\0", len(_FIELDS) - 1)
        if len(parts) == len(_FIELDS):
            full, parents, time, day, names, subject = parts
            tags = [name.removeprefix("tag: ") for name in names.split(", ") if name.startswith("tag: ")]
            commits.append(Commit(full, tuple(parents.split()), int(time), day, subject, tuple(sorted(tags)), path))
    return commits


def _find_former_path(commit: Commit, path: str) -> str | None:
    """The previous path of what a commit moved to `path`, judged by the renames of files; `None` if it is new."""
    options = ["-r", "-z", "-M", "-l2000", "--name-status", "--diff-filter=R", "--no-commit-id"]
    fields = os.fsdecode(_run_git(["diff-tree", *options, commit.parents[0], commit.identity], commit.name)).split("\0")
    renames = list(zip(fields[1::3], fields[2::3], strict=False))
    for old, new in renames:
        if new == path:
            return old
    counts = Counter(
        old.removesuffix(f"/{new.removeprefix(f'{path}/')}")
        for old, new in renames
        if new.startswith(f"{path}/") and old.endswith(f"/{new.removeprefix(f'{path}/')}")
    )
    return max(counts, key=lambda folder: (counts[folder], folder)) if counts else None


class Contents:
    """Read files of commits; a blob that two schemas read one after the other share is read once. `revision` is the name used in faults."""

    def __init__(self, revision: str) -> None:
        self._revision = revision
        self._contents: dict[str, bytes] = {}
        self._former: dict[str, bytes] = {}
        self._listings: dict[Location, dict[str, _Blob]] = {}

    def read_source(self, place: Location, *, name: str, label: str) -> Source:
        """The files of a schema in a commit; `label` is the commit's name for users. Raises `Faults`."""
        self._former, self._contents = self._contents, {}
        folder, files, references = self._read_schema(place, label)

        def read_folder(subfolder: str) -> tuple[tuple[str, bytes], ...]:
            path = posixpath.normpath(posixpath.join(folder, subfolder))
            return self._read_schema(replace(place, path=path), label)[1]

        root = f"{label}:{folder}"
        whole, parts_by_path = extend_files(files, root, read_folder, parse_strict)
        return Source(name, root, whole, references, parts_by_path)

    def find_referenced_files(self, place: Location) -> tuple[str, ...]:
        """The files that a schema of a single file refers to, relative to the root; empty for a folder and for files that cannot be
        read.
        """
        try:
            folder, _, references = self._read_schema(place, place.commit)
        except Faults:
            return ()
        return tuple(posixpath.join(folder, path) for _, path, _ in references)

    def _read_schema(
        self, place: Location, label: str
    ) -> tuple[str, tuple[tuple[str, bytes], ...], tuple[tuple[str, str, bytes], ...]]:
        """The folder of a schema in a commit, its files, and what a single file refers to. Raises `Faults`."""
        blobs = self._list_blobs(place)
        if not blobs:
            raise Faults([NOT_FOUND(at=f"{label}:{place.path}")])
        if place.path not in blobs:
            contents = self._read(blobs, label)
            return place.path, tuple((path[len(place.path) :].lstrip("/"), contents[path]) for path in blobs), ()
        folder, _, name = place.path.rpartition("/")
        content = self._read(blobs, label)[place.path]
        read_below = partial(self._read_below, replace(place, path=folder), label)
        return folder, ((name, content),), discover_files(name, content, LARGEST, read_below)

    def _read_below(self, folder: Location, label: str, path: str, room: int) -> bytes | None:
        """Read a file below a folder of a commit; `None` if there is none."""
        at = posixpath.join(folder.path, path)
        blobs = self._list_blobs(folder)
        return self._read({at: blobs[at]}, label, room)[at] if at in blobs else None

    def _list_blobs(self, place: Location) -> dict[str, _Blob]:
        """The schema files of a commit by path, sorted, without hidden files and folders."""
        if place in self._listings:
            return self._listings[place]
        below = ["--", place.path] if place.path else []
        output = _run_git(["ls-tree", "-r", "-l", "-z", "--full-tree", place.commit, *below], self._revision)
        blobs: dict[str, _Blob] = {}
        for entry in output.split(b"\0")[:-1]:
            about, _, path = os.fsdecode(entry).partition("\t")
            mode, _, identity, size = about.split()
            below_place = path.removeprefix(place.path).lstrip("/")
            is_hidden = any(part.startswith(".") for part in below_place.split("/"))
            if path == place.path or (path.endswith(".json") and not is_hidden):
                blobs[path] = _Blob(mode, identity, size)
        self._listings = {place: dict(sorted(blobs.items()))}
        return self._listings[place]

    def _read(self, blobs: Mapping[str, _Blob], label: str, room: int = LARGEST) -> dict[str, bytes]:
        """The contents of blobs by path. Raises `Faults` for links, and for more than `room` bytes in total."""
        regular = {path: blob for path, blob in blobs.items() if blob.mode in ("100644", "100755")}
        faults: list[Fault] = [LINK_REFUSED(at=f"{label}:{path}") for path in blobs if path not in regular]
        for path, blob in regular.items():
            if not blob.size.isdecimal():
                reason = f"the object {blob.identity} is not in this repository"
                raise Faults([NO_REVISION(at=self._revision, reason=reason)])
            room -= int(blob.size)
            if room < 0:
                faults.append(TOO_LARGE(at=f"{label}:{path}", mebibytes=LARGEST >> 20))
                break
        if faults:
            raise Faults(faults)
        identities = dict.fromkeys(blob.identity for blob in regular.values())
        self._contents |= {identity: self._former[identity] for identity in identities if identity in self._former}
        missing = [identity for identity in identities if identity not in self._contents]
        output = _run_git(["cat-file", "--batch"], self._revision, missing) if missing else b""
        start = 0
        for identity in missing:
            end = output.index(b"\n", start)
            size = int(output[start:end].rpartition(b" ")[2])
            self._contents[identity] = output[end + 1 : end + 1 + size]
            start = end + size + 2
        return {path: self._contents[blob.identity] for path, blob in regular.items()}


@dataclass(frozen=True, slots=True)
class _Blob:
    """An entry of `git ls-tree`. `size` is in bytes, and no number if the object is missing."""

    mode: str
    identity: str
    size: str


def _run_git(arguments: Sequence[str], revision: str, lines: Sequence[str] = ()) -> bytes:
    """The output of git for these arguments and input lines. Raises `Faults` if there is no git, no repository or no such revision."""
    process = _run(arguments, revision, lines)
    if process.returncode:
        if b"not a git repository" in process.stderr:
            raise Faults([NO_REPOSITORY(at=revision)])
        reason = process.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise Faults([NO_REVISION(at=revision, reason=reason or "this repository has no such revision")])
    return process.stdout


def _run(arguments: Sequence[str], revision: str, lines: Sequence[str] = ()) -> subprocess.CompletedProcess[bytes]:
    """Run git once. Raises `Faults` if there is no git."""
    import subprocess  # only where a revision is named

    stdin = "".join(f"{line}\n" for line in lines).encode()
    surroundings = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    try:
        return subprocess.run(  # noqa: S603
            ["git", "--no-pager", *arguments],  # noqa: S607
            input=stdin,
            capture_output=True,
            check=False,
            env=surroundings,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds a null character"
        raise Faults([NO_REVISION(at=revision, reason=f"git cannot be run: {reason}")]) from None
