"""Reads schemas out of git: at one revision, and at every commit that changed them.

Git is asked for objects alone, by commands that run no filter, hook, driver or pager, and nothing is fetched.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

from acpgen.errors import Fault, Faults, shown
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
from acpgen.input.file_discovery import siblings
from acpgen.input.load import LARGEST, Source, parsed
from acpgen.input.overlay import extended

if TYPE_CHECKING:
    import subprocess

MOST_MOVES: Final = 50
"""As many times a schema is followed to the place that it had before."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where a schema stands in a repository: a file or folder, relative to the top, as one commit has it."""

    commit: str
    path: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changed a schema. `path` is where the schema stood, `time` in seconds since 1970, `day` an ISO date."""

    identity: str
    parents: tuple[str, ...]
    time: int
    day: str
    subject: str
    tags: tuple[str, ...]
    path: str

    @property
    def name(self) -> str:
        """As many digits as people need."""
        return self.identity[:10]


@dataclass(frozen=True, slots=True)
class Move:
    """A commit that moved a schema to another place."""

    commit: Commit
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Log:
    """The commits that changed a schema along first parents, newest first, and those of them that moved it.

    `is_shallow`: the repository lacks what came before some commit.
    """

    commits: tuple[Commit, ...]
    moves: tuple[Move, ...] = ()
    is_shallow: bool = False


def read_revision(revision: str, paths: Sequence[Path], *, name: str) -> Source:
    """The bytes of a schema as a git revision has it: of the first of the paths that is there, file or folder.

    Relative paths are looked up below the current folder, then below the repository's root. Raises `Faults`.
    """
    return Contents(revision).source(locate(revision, paths), name=name, shown=revision)


def locate(revision: str, paths: Sequence[Path]) -> Location:
    """The first of the paths that a revision has. Raises `Faults`."""
    commit = identity(revision)
    for wanted in _inside(revision, paths):
        if _git(["ls-tree", "-z", "--full-tree", commit, "--", wanted], revision):
            return Location(commit, wanted)
    raise Faults([NOT_FOUND(at=f"{revision}:{paths[-1].as_posix()}")])


def is_revision(name: str) -> bool:
    """Whether a name is that of a commit, branch or tag here."""
    try:
        return _named(name.rpartition("..")[2] or "HEAD") is not None
    except Faults:
        return False


def identity(revision: str) -> str:
    """The commit that a revision names. Raises `Faults`."""
    found = _named(revision)
    if found is None:
        _git(["rev-parse", "--git-dir"], revision)
        raise Faults([NO_REVISION(at=revision, reason=_missing(revision))])
    return found


@dataclass(frozen=True, slots=True)
class MergeBase:
    """The newest commit that two revisions have in common."""

    commit: str
    one: str
    other: str

    @property
    def short(self) -> str:
        """As many digits as people need."""
        return self.commit[:10]


def merge_base(one: str, other: str = "HEAD") -> MergeBase:
    """Where two revisions part. Raises `Faults`: no such revision, or they have nothing in common that is here."""
    done = _run(["merge-base", identity(one), identity(other)], one)
    if done.returncode or not done.stdout.strip():
        kind = SHALLOW_CLONE if _is_shallow(one) else NO_MERGE_BASE
        raise Faults([kind(one, other=other)])
    return MergeBase(done.stdout.decode().strip(), one, other)


def _named(revision: str) -> str | None:
    options = ["--verify", "--quiet", "--end-of-options"]
    done = _run(["rev-parse", *options, f"{revision}^{{commit}}"], revision)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def _missing(revision: str) -> str:
    """Why there is no such revision, as far as git can tell."""
    reason = "this repository has no such revision"
    remote = f"origin/{revision}"
    if _named(f"refs/remotes/{remote}") is not None:
        return f"{reason}, but it has {remote!r}"
    if _is_shallow(revision):
        return f"{reason}; the clone is shallow, so fetch it ('git fetch origin {revision}', or 'fetch-depth: 0' of actions/checkout)"
    return reason


def _is_shallow(revision: str) -> bool:
    return _git(["rev-parse", "--is-shallow-repository"], revision).strip() == b"true"


def age(since: str) -> int:
    """The time that a date means to git, such as `2026-01-31` or `2 weeks ago`, in seconds since 1970. Raises `Faults`.

    A day begins at midnight; git alone would take the time of day that it is now. What git does not understand means the present to it,
    and is refused.
    """
    expected = "a time that has passed, such as 2026-01-31 or '3 months ago'"
    wrong = Faults(
        [BAD_SETTING(at="--since", key=shown(since), expected=expected, hint="Correct it, or leave it out.")]
    )
    now = int(time())
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", since):
        try:
            told = int(datetime.fromisoformat(since).timestamp())
        except (ValueError, OverflowError):
            raise wrong from None
    else:
        told = int(_git(["rev-parse", f"--since={since}"], since).decode().strip().rpartition("=")[2])
    if told >= now:
        raise wrong
    return told


def ancestors(commit: str) -> frozenset[str]:
    """A commit and all before it. Raises `Faults`."""
    return frozenset(_git(["rev-list", commit], commit).decode().split())


def log(place: Location, beside: Sequence[str] = ()) -> Log:
    """The commits up to one that changed a schema, along first parents and back to where it stood before. Raises `Faults`.

    `beside` are paths of files that the schema refers to: commits that change one of them count too.
    """
    commits: list[Commit] = []
    moves: list[Move] = []
    tip, path = place.commit, place.path
    while True:
        found = _commits(tip, path)
        if found and beside:
            whole = _commits(tip, path, *beside)
            found = whole[: [each.identity for each in whole].index(found[-1].identity) + 1]
        commits += found
        if not found or not found[-1].parents or len(moves) == MOST_MOVES:
            break
        oldest = found[-1]
        former = _former(oldest, path)
        if former is None:
            break
        moves.append(Move(oldest, former, path))
        tip, path = oldest.parents[0], former
    told = _git(["rev-parse", "--is-shallow-repository"], place.commit).strip()
    return Log(tuple(commits), tuple(moves), told == b"true")


def _inside(revision: str, paths: Sequence[Path]) -> list[str]:
    """The paths relative to the top of the repository: below the current folder, then below the top."""
    top = Path(os.fsdecode(_git(["rev-parse", "--show-toplevel"], revision)).removesuffix("\n"))
    below = [Path(os.path.abspath(path)) for path in paths] + [top / path for path in paths if not path.is_absolute()]
    real = dict.fromkeys(Path(os.path.realpath(each.parent)) / each.name for each in below)
    return [path.relative_to(top).as_posix() for path in real if path.is_relative_to(top)]


_FIELDS: Final = ("%H", "%P", "%ct", "%cs", "%D", "%s")


def _commits(tip: str, path: str, *beside: str) -> list[Commit]:
    pattern = f"--format=tformat:{'%x00'.join(_FIELDS)}"
    told = _git(["--literal-pathspecs", "rev-list", "--first-parent", pattern, tip, "--", path, *beside], tip)
    found: list[Commit] = []
    for line in told.decode(errors="replace").split("\n"):
        parts = line.split("\0", len(_FIELDS) - 1)
        if len(parts) == len(_FIELDS):
            full, parents, time, day, names, subject = parts
            tags = [name.removeprefix("tag: ") for name in names.split(", ") if name.startswith("tag: ")]
            found.append(Commit(full, tuple(parents.split()), int(time), day, subject, tuple(sorted(tags)), path))
    return found


def _former(commit: Commit, path: str) -> str | None:
    """Where what a commit put at a path stood before, told by files that moved; `None` where it is new."""
    options = ["-r", "-z", "-M", "-l2000", "--name-status", "--diff-filter=R", "--no-commit-id"]
    told = os.fsdecode(_git(["diff-tree", *options, commit.parents[0], commit.identity], commit.name)).split("\0")
    moved = list(zip(told[1::3], told[2::3], strict=False))
    for old, new in moved:
        if new == path:
            return old
    homes = Counter(
        old.removesuffix(f"/{new.removeprefix(f'{path}/')}")
        for old, new in moved
        if new.startswith(f"{path}/") and old.endswith(f"/{new.removeprefix(f'{path}/')}")
    )
    return max(homes, key=lambda home: (homes[home], home)) if homes else None


class Contents:
    """Reads files of commits; a content that several commits hold is read once. `revision` is what faults name."""

    def __init__(self, revision: str) -> None:
        self._revision = revision
        self._contents: dict[str, bytes] = {}
        self._size = 0

    def source(self, place: Location, *, name: str, shown: str) -> Source:
        """The files of a schema as a commit has them; `shown` is what people call the commit. Raises `Faults`."""

        def read_folder(other: str) -> tuple[tuple[str, bytes], ...]:
            return self._files(replace(place, path=posixpath.normpath(posixpath.join(folder, other))), shown)[1]

        folder, files = self._files(place, shown)
        root = f"{shown}:{folder}"
        whole, taken = extended(files, root, read_folder, parsed)
        return Source(name, root, whole, self._beside(place, files, shown), taken)

    def _beside(
        self, place: Location, files: tuple[tuple[str, bytes], ...], shown: str
    ) -> tuple[tuple[str, str, bytes], ...]:
        """What a schema of one file refers to, as `Source.references` has it."""
        folder, _, name = place.path.rpartition("/")
        if [path for path, _ in files] != [name]:
            return ()
        return siblings(*files[0], self._below(replace(place, path=folder), shown, LARGEST - len(files[0][1])))

    def beside(self, place: Location) -> tuple[str, ...]:
        """The files that a schema of one file refers to, relative to the top; none of a folder, and of what cannot be read."""
        try:
            folder, files = self._files(place, place.commit)
            found = self._beside(place, files, place.commit)
        except Faults:
            return ()
        return tuple(posixpath.join(folder, path) for _, path, _ in found)

    def _files(self, place: Location, shown: str) -> tuple[str, tuple[tuple[str, bytes], ...]]:
        """The folder of a schema in a commit, and its files with their contents. Raises `Faults`."""
        found = self._listed(place)
        if not found:
            raise Faults([NOT_FOUND(at=f"{shown}:{place.path}")])
        is_file = found[0].path == place.path
        folder = place.path.rpartition("/")[0] if is_file else place.path
        regular = [each for each in found if each.mode in ("100644", "100755")]
        faults: list[Fault] = [LINK_REFUSED(at=f"{shown}:{each.path}") for each in found if each not in regular]
        sizes = self._sizes([each.identity for each in regular])
        total = 0
        for each in regular:
            total += sizes[each.identity]
            if total > LARGEST:
                faults.append(TOO_LARGE(at=f"{shown}:{each.path}", mebibytes=LARGEST >> 20))
                break
        if faults:
            raise Faults(faults)
        contents = self._read([each.identity for each in regular])
        return folder, tuple((each.path.removeprefix(folder).lstrip("/"), contents[each.identity]) for each in regular)

    def _below(self, folder: Location, shown: str, room: int) -> Callable[[str], bytes | None]:
        """Reads files below a folder of a commit, of so many bytes together."""
        blobs: dict[str, _Blob] = {}

        def read_one(path: str) -> bytes | None:
            nonlocal room, blobs
            at = posixpath.join(folder.path, path)
            blobs = blobs or {each.path: each for each in self._listed(folder)}
            blob = blobs.get(at)
            if blob is None:
                return None
            if blob.mode not in ("100644", "100755"):
                raise Faults([LINK_REFUSED(at=f"{shown}:{at}")])
            room -= self._sizes([blob.identity])[blob.identity]
            if room < 0:
                raise Faults([TOO_LARGE(at=f"{shown}:{at}", mebibytes=LARGEST >> 20)])
            return self._read([blob.identity])[blob.identity]

        return read_one

    def _listed(self, place: Location) -> list[_Blob]:
        """The schema files of a commit; hidden files and folders are left out."""
        below = ["--", place.path] if place.path else []
        told = _git(["ls-tree", "-r", "-z", "--full-tree", place.commit, *below], self._revision)
        found: list[_Blob] = []
        for entry in told.split(b"\0")[:-1]:
            about, _, path = os.fsdecode(entry).partition("\t")
            mode, _, identity = about.split(" ")
            inside = path.removeprefix(place.path).lstrip("/")
            is_hidden = any(part.startswith(".") for part in inside.split("/"))
            if path == place.path or (path.endswith(".json") and not is_hidden):
                found.append(_Blob(mode, identity, path))
        return sorted(found, key=lambda each: each.path)

    def _sizes(self, identities: Sequence[str]) -> Mapping[str, int]:
        found = {each: len(self._contents[each]) for each in identities if each in self._contents}
        missing = [each for each in identities if each not in found]
        told = _git(["cat-file", "--batch-check"], self._revision, missing).decode() if missing else ""
        for line in told.splitlines():
            identity, _, rest = line.partition(" ")
            kind, _, size = rest.partition(" ")
            if kind != "blob":
                raise Faults(
                    [NO_REVISION(at=self._revision, reason=f"the object {identity} is not in this repository")]
                )
            found[identity] = int(size)
        return found

    def _read(self, identities: Sequence[str]) -> Mapping[str, bytes]:
        found = {each: self._contents[each] for each in identities if each in self._contents}
        missing = list(dict.fromkeys(each for each in identities if each not in found))
        told = _git(["cat-file", "--batch"], self._revision, missing) if missing else b""
        start = 0
        for identity in missing:
            end = told.index(b"\n", start)
            size = int(told[start:end].rpartition(b" ")[2])
            found[identity] = told[end + 1 : end + 1 + size]
            start = end + size + 2
        self._keep(found)
        return found

    def _keep(self, contents: Mapping[str, bytes]) -> None:
        """Remember contents for the next commit, as many as memory should hold."""
        fresh = {identity: content for identity, content in contents.items() if identity not in self._contents}
        self._size += sum(map(len, fresh.values()))
        if self._size > _MOST_KEPT:
            self._contents = dict(contents)
            self._size = sum(map(len, contents.values()))
        else:
            self._contents.update(fresh)


_MOST_KEPT: Final = 64 << 20
"""Bytes of contents that are kept for the next commit."""


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file as git lists it."""

    mode: str
    identity: str
    path: str


def _git(arguments: Sequence[str], revision: str, lines: Sequence[str] = ()) -> bytes:
    """What git prints, given these lines. Raises `Faults` where there is no git, no repository, or no such revision."""
    done = _run(arguments, revision, lines)
    if done.returncode:
        if b"not a git repository" in done.stderr:
            raise Faults([NO_REPOSITORY(at=revision)])
        reason = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise Faults([NO_REVISION(at=revision, reason=reason or "this repository has no such revision")])
    return done.stdout


def _run(arguments: Sequence[str], revision: str, lines: Sequence[str] = ()) -> subprocess.CompletedProcess[bytes]:
    """One run of git. Raises `Faults` where there is no git."""
    import subprocess  # only where a revision is named

    given = "".join(f"{line}\n" for line in lines).encode()
    surroundings = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    try:
        return subprocess.run(  # noqa: S603
            ["git", "--no-pager", *arguments],  # noqa: S607
            input=given,
            capture_output=True,
            check=False,
            env=surroundings,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds a null character"
        raise Faults([NO_REVISION(at=revision, reason=f"git cannot be run: {reason}")]) from None
