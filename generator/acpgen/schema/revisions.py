"""Reads schemas from git: files at a revision, and where two lines of history part. Git is asked for objects alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acpgen.errors import Fault, Faults, LinkRefused, NoMergeBase, NoRevision, NotFound, TooLarge
from acpgen.schema.load import LARGEST, Source

if TYPE_CHECKING:
    import subprocess


@dataclass(frozen=True, slots=True)
class MergeBase:
    """The newest commit that two revisions have in common."""

    commit: str
    one: str
    other: str

    @property
    def short(self) -> str:
        return self.commit[:12]


def merge_base(one: str, other: str = "HEAD") -> MergeBase:
    """Where two revisions part. Raises `Faults`: no such revision, or they have nothing in common that is here."""
    commits = [_commit(revision) for revision in (one, other)]
    done = _run(["merge-base", *commits], one)
    if done.returncode or not done.stdout.strip():
        raise Faults([NoMergeBase(at=one, other=other, is_shallow=_is_shallow(one))])
    return MergeBase(done.stdout.decode().strip(), one, other)


def read_revision(revision: str, paths: Sequence[Path], *, name: str) -> Source:
    """The bytes of a schema as a git revision has it: of the first of the paths that is there, file or folder.

    Relative paths are looked up below the current folder, then below the repository's root. Git is asked for objects alone, so no
    filter, hook or driver runs. Raises `Faults`.
    """
    top = Path(os.fsdecode(_git(["rev-parse", "--show-toplevel"], revision)).removesuffix("\n"))
    commit = _commit(revision)
    below = [Path(os.path.abspath(path)) for path in paths] + [top / path for path in paths if not path.is_absolute()]
    for path in dict.fromkeys(Path(os.path.realpath(each.parent)) / each.name for each in below):
        if path.is_relative_to(top):
            wanted = path.relative_to(top).as_posix()
            entries = _git(["ls-tree", "-r", "-z", "--full-tree", commit, "--", wanted], revision)
            found = _listed(entries, wanted)
            if found:
                return _from_git(revision, wanted, name, found)
    raise Faults([NotFound(at=f"{revision}:{paths[-1].as_posix()}")])


def _listed(entries: bytes, wanted: str) -> list[tuple[str, str, str]]:
    """Mode, object and path of the schema files that git lists; hidden files and folders are left out."""
    found: list[tuple[str, str, str]] = []
    for entry in entries.split(b"\0")[:-1]:
        about, _, path = os.fsdecode(entry).partition("\t")
        mode, _, identity = about.split(" ")
        inside = path.removeprefix(wanted).lstrip("/")
        hidden = any(part.startswith(".") for part in inside.split("/"))
        if path == wanted or (path.endswith(".json") and not hidden):
            found.append((mode, identity, path))
    return sorted(found, key=lambda each: each[2])


def _from_git(revision: str, wanted: str, name: str, found: list[tuple[str, str, str]]) -> Source:
    is_file = found[0][2] == wanted
    folder = wanted.rpartition("/")[0] if is_file else wanted
    faults: list[Fault] = []
    files: list[tuple[str, bytes]] = []
    size = 0
    for mode, identity, path in found:
        if mode not in ("100644", "100755"):
            faults.append(LinkRefused(at=f"{revision}:{path}"))
            continue
        size += int(_git(["cat-file", "-s", identity], revision))
        if size > LARGEST:
            faults.append(TooLarge(at=f"{revision}:{path}", limit=LARGEST))
            break
        content = _git(["cat-file", "blob", identity], revision)
        files.append((path.removeprefix(folder).lstrip("/"), content))
    if faults:
        raise Faults(faults)
    return Source(name, f"{revision}:{folder}", tuple(files))


def _commit(revision: str) -> str:
    """The commit of a revision. Raises `Faults`."""
    found = _verified(revision)
    if found is None:
        _git(["rev-parse", "--git-dir"], revision)
        raise Faults([NoRevision(at=revision, reason=_missing(revision))])
    return found


def _missing(revision: str) -> str:
    """Why there is no such revision, as far as git can tell."""
    reason = "this repository has no such revision"
    remote = f"origin/{revision}"
    if _verified(f"refs/remotes/{remote}") is not None:
        return f"{reason}, but it has {remote!r}"
    if _is_shallow(revision):
        return f"{reason}; the clone is shallow, so fetch it ('git fetch origin {revision}', or 'fetch-depth: 0' of actions/checkout)"
    return reason


def _verified(revision: str) -> str | None:
    options = ["--verify", "--quiet", "--end-of-options"]
    done = _run(["rev-parse", *options, f"{revision}^{{commit}}"], revision)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def _is_shallow(revision: str) -> bool:
    return _git(["rev-parse", "--is-shallow-repository"], revision).strip() == b"true"


def _git(arguments: Sequence[str], revision: str) -> bytes:
    """What git prints. Raises `Faults` where there is no git, no repository, or no such revision."""
    done = _run(arguments, revision)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise Faults([NoRevision(at=revision, reason=reason or "this repository has no such revision")])
    return done.stdout


def _run(arguments: Sequence[str], revision: str) -> subprocess.CompletedProcess[bytes]:
    import subprocess  # only where a revision is named

    try:
        return subprocess.run(["git", "--no-pager", *arguments], capture_output=True, check=False)  # noqa: S603, S607
    except OSError as error:
        raise Faults([NoRevision(at=revision, reason=f"git cannot be run: {error.strerror}")]) from None
