"""Output folders. A manifest `.acpgen.json` in each lists the generated files and marks the folder as ours.

Other folders are not touched unless they are empty. A shared folder also holds files of others: there, only the listed files are
replaced or removed.

A run first lists all existing and all future files, and at its end the existing ones: whenever it is killed, the next run knows its
files.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from acpgen.errors import Fault, Faults
from acpgen.files.atomic_write import find_hindrance, is_leftover, remove_leftovers, replace_files, report_unwritable
from acpgen.files.faults import FOREIGN_FILE, FOREIGN_FOLDER, NOT_A_FOLDER, STRAY_FILE, UNWRITABLE
from acpgen.input.load import display_path

Files: TypeAlias = Mapping[str, str]
"""The files of a folder: text by path, relative and with `/`."""

MANIFEST: Final = ".acpgen.json"
"""The manifest, which marks a folder as ours."""

CACHES: Final = frozenset({"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store"})
"""Caches that other tools leave in a folder; they may be removed with it."""

_SEGMENT: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.@+-]+")
_QUOTED: Final = re.compile(r'"([^"\\\n]+)"')
_OURS: Final = '"generator": "acpgen"'
_FILES: Final = '"files":'


@dataclass(frozen=True, slots=True, init=False)
class Tree:
    """An output folder and all files that it must hold. No folder between `root` and it may be a link.

    A `shared` folder also holds files of others: only files that an earlier run wrote are replaced or removed.
    """

    folder: Path
    files: Files = field(repr=False)
    root: Path | None = None
    shared: bool = False

    def __init__(
        self,
        folder: str | os.PathLike[str],
        files: Files,
        root: str | os.PathLike[str] | None = None,
        *,
        shared: bool = False,
    ) -> None:
        object.__setattr__(self, "shared", shared)
        object.__setattr__(self, "folder", Path(folder))
        object.__setattr__(self, "files", files)
        object.__setattr__(self, "root", None if root is None else Path(root))


class Change(Struct, frozen=True):
    """The difference between a folder and its tree: paths to write, to leave and to remove, and strays, which acpgen did not write.

    In a shared folder, only an entry at the path of one of the tree's files is a stray.
    """

    folder: Path
    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    strays: tuple[str, ...]

    @property
    def is_none(self) -> bool:
        """Whether the folder equals its tree."""
        return not (self.written or self.removed or self.strays)


def is_file(path: str, text: str) -> bool:
    """Whether a path is valid in an output and its text can be encoded."""
    if path == MANIFEST or not all(_SEGMENT.fullmatch(part) for part in path.split("/")):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_behind_link(folder: Path, path: str) -> bool:
    """Whether one of the parents of a file, below a folder, exists and is a link or not a folder."""
    parents = [folder / parent for parent in _list_parents(path)]
    return any(os.path.lexists(parent) and (parent.is_symlink() or not parent.is_dir()) for parent in parents)


def write(trees: Iterable[Tree], *, dry: bool = False) -> tuple[Change, ...]:
    """Write every tree to its folder, all of them or none; unchanged files are not touched. `dry` only compares.

    Raises `Faults` if a folder is not ours, contains strays, or cannot be written; then nothing has changed.
    """
    trees = tuple(trees)
    if refusals := [NOT_A_FOLDER(at=_write_name(tree.folder)) for tree in trees if not _is_place_for_folder(tree)]:
        raise Faults(refusals)
    if dry:
        return tuple(compare(tree) for tree in trees)
    with contextlib.ExitStack() as locks:
        for parent in sorted({tree.folder.parent for tree in trees}):
            with report_unwritable(parent):
                parent.mkdir(parents=True, exist_ok=True)
                locks.enter_context(_lock(parent))
        changes = tuple(compare(tree) for tree in trees)
        pairs = [*zip(trees, changes, strict=True)]
        if refusals := [fault for tree, change in pairs for fault in _find_refusals(tree, change.strays)]:
            raise Faults(refusals)
        manifest_paths = {tree.folder: _read_manifest(tree.folder) - {MANIFEST} | tree.files.keys() for tree in trees}
        contents: dict[Path, bytes | None] = {}
        for tree, change in pairs:
            files, cleared_paths = _encode(tree.files), _make_room(change)
            if not change.is_none:
                contents[tree.folder / MANIFEST] = _write_manifest(manifest_paths[tree.folder])
            contents |= {tree.folder / path: files[path] for path in change.written if path != MANIFEST}
            contents |= {tree.folder / path: None for path in change.removed if path not in cleared_paths}
        replace_files(contents)
        for tree in trees:
            _tidy(tree, manifest_paths[tree.folder])
    return changes


def require_folder(tree: Tree) -> None:
    """Raise `Faults` if a folder could not take a tree, whatever its content: a check before a generation that may take minutes.

    The folder must not be shared.
    """
    if not _is_place_for_folder(tree):
        raise Faults([NOT_A_FOLDER(at=_write_name(tree.folder))])
    reason = find_hindrance(tree.folder)
    if reason is not None:
        raise Faults([UNWRITABLE(at=display_path(tree.folder), reason=reason)])
    ours = _read_manifest(tree.folder)
    strays = (path for path in _list_paths(tree.folder) if path not in ours)
    faults = list(_find_refusals(tree, [*(strays if ours else islice(strays, 1))]))
    if faults:
        raise Faults(faults)


def is_ours(folder: Path) -> bool:
    """Whether a folder holds the manifest of an earlier run."""
    return bool(_read_manifest(folder))


def compare(tree: Tree) -> Change:
    """The changes that would make a folder equal to its tree."""
    files = _encode(tree.files)
    ours = _read_manifest(tree.folder)
    if tree.shared:
        blocked = {path for path in {*files, *ours} if is_behind_link(tree.folder, path)}
        existing = {path for path in {*files, *ours} - blocked if os.path.lexists(tree.folder / path)}
        present = {path: _read_file(tree.folder / path) for path in existing | (blocked & files.keys() - {MANIFEST})}
        ours -= blocked
    else:
        present = {path: _read_file(tree.folder / path) for path in _list_paths(tree.folder)}
    paths_to_write = [path for path, content in files.items() if present.get(path) != content]
    paths_to_remove = [path for path in present if path not in files and path in ours]
    strays = [path for path in present if path not in ours and (path not in files or path in paths_to_write)]
    return Change(
        folder=tree.folder,
        written=tuple(sorted(paths_to_write)),
        unchanged=tuple(sorted(path for path in files if path not in paths_to_write)),
        removed=tuple(sorted(paths_to_remove)),
        strays=tuple(sorted(strays)),
    )


def diff_lines(tree: Tree, change: Change) -> Iterator[str]:
    """Yield the lines of a unified diff from a folder to its tree."""
    files = _encode(tree.files)
    for path in sorted({*change.written, *change.removed, *change.strays}):
        name = display_path(tree.folder / path)
        if path in change.strays and path not in files:
            yield f"Only in {display_path(tree.folder)}, and not written by acpgen: {path}"
            continue
        old = _read_file(tree.folder / path)
        before = "" if old is None else old.decode(errors="replace")
        after = files.get(path, b"").decode()
        yield from difflib.unified_diff(
            before.splitlines(),
            after.splitlines(),
            fromfile="/dev/null" if old is None else f"a/{name}",
            tofile=f"b/{name}" if path in files else "/dev/null",
            lineterm="",
        )
        if before.splitlines() == after.splitlines():
            yield f"{name}: {'an empty file, or other line ends' if path in files else 'an empty file, removed'}"


def hash_folder(folder: Path) -> str | None:
    """A hash of all files in a folder, except caches; `None` if there is no folder."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return None
    return _hash((path, _read_file(folder / path)) for path in sorted(_list_paths(folder)))


def hash_tree(tree: Tree) -> str:
    """The hash that `hash_folder` gives for a folder that equals its tree."""
    return _hash(sorted(_encode(tree.files).items()))


def _hash(files: Iterable[tuple[str, bytes | None]]) -> str:
    summary = hashlib.sha256()
    for path, content in files:
        summary.update(f"{path}\0{-1 if content is None else len(content)}\0".encode(errors="surrogateescape"))
        summary.update(content or b"")
    return summary.hexdigest()


def _is_place_for_folder(tree: Tree) -> bool:
    """Whether a folder exists or could be created, without a link between `root` and it."""
    folder = tree.folder
    if os.path.lexists(folder) and (os.path.islink(folder) or not os.path.isdir(folder)):
        return False
    if tree.root is None:
        return True
    expected = Path(os.path.realpath(tree.root)) / folder.relative_to(tree.root)
    return Path(os.path.realpath(folder)) == expected


def _find_refusals(tree: Tree, strays: Iterable[str]) -> Iterator[Fault]:
    """Yield the faults that forbid writing a folder with these strays."""
    if tree.shared or is_ours(tree.folder):
        yield from (
            (FOREIGN_FILE if tree.shared else STRAY_FILE)(at=display_path(tree.folder / path)) for path in strays
        )
    elif strays:
        yield FOREIGN_FOLDER(at=_write_name(tree.folder))


def _write_name(folder: Path) -> str:
    """The displayed name of a folder; for the current folder, its own name."""
    return display_path(folder) or folder.resolve().name


def _list_paths(folder: Path) -> Iterator[str]:
    """Yield the paths of everything in a folder except folders, caches and temporary files; links are not followed."""
    try:
        with os.scandir(folder) as scan:
            entries = [entry for entry in scan if entry.name not in CACHES and not is_leftover(entry.name)]
    except FileNotFoundError:
        return
    except OSError as error:
        raise Faults([UNWRITABLE(at=display_path(folder), reason=str(error.strerror))]) from None
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from (f"{entry.name}/{path}" for path in _list_paths(folder / entry.name))
        else:
            yield entry.name


def _read_manifest(folder: Path) -> frozenset[str]:
    """The files that the manifest of a folder lists, including itself; empty if the folder is not ours.

    Only the quoted strings of the text are read, so a manifest with merge conflict markers still works.
    """
    text = (_read_file(folder / MANIFEST) or b"").decode(errors="replace")
    words = _QUOTED.findall(text.partition(_FILES)[2])
    paths = {path for path in words if all(_SEGMENT.fullmatch(part) for part in path.split("/"))}
    return frozenset({MANIFEST, *paths}) if _OURS in text else frozenset()


def _encode(files: Files) -> dict[str, bytes]:
    """The files and their manifest, as bytes."""
    assert MANIFEST not in files
    for path in files:
        assert all(_SEGMENT.fullmatch(part) for part in path.split("/")), f"{path!r} is no plain relative path"
        assert files.keys().isdisjoint(_list_parents(path)), f"{path!r} lies in a file"
    return {**{path: text.encode() for path, text in files.items()}, MANIFEST: _write_manifest(files)}


def _read_file(path: Path) -> bytes | None:
    """The content of a regular file; `None` for anything else. Raises `Faults`."""
    try:
        return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Faults([UNWRITABLE(at=display_path(path), reason=str(error.strerror))]) from None


def _write_manifest(paths: Iterable[str]) -> bytes:
    rows = ",\n".join(f'    "{path}"' for path in sorted(paths))
    return f"{{\n  {_OURS},\n  {_FILES} [\n{rows}\n  ]\n}}\n".encode()


def _make_room(change: Change) -> list[str]:
    """Remove our files that no rename can replace, and return their paths: files where a folder must be, and files in a folder where a
    file must be.

    Raises `Faults`.
    """
    parent_paths = {parent for path in change.written for parent in _list_parents(path)}
    folders = {path for path in change.written if (at := change.folder / path).is_dir() and not at.is_symlink()}
    blocking_paths = [
        path for path in change.removed if path in parent_paths or not folders.isdisjoint(_list_parents(path))
    ]
    replace_files({change.folder / path: None for path in blocking_paths})
    for path in folders:
        _prune(change.folder / path)
    return blocking_paths


def _tidy(tree: Tree, manifest_paths: Iterable[str]) -> None:
    """Remove temporary files of killed runs and the folders of removed files; then write the final manifest.

    What fails now is done by the next run.
    """
    former = [path for path in manifest_paths if path not in tree.files]
    remove_leftovers({(tree.folder / path).parent for path in manifest_paths if not is_behind_link(tree.folder, path)})
    for parent in (parent for path in former for parent in _list_parents(path)):
        _prune(tree.folder / parent)
    if former:
        with contextlib.suppress(Faults):
            replace_files({tree.folder / MANIFEST: _write_manifest(tree.files)})
        remove_leftovers([tree.folder])


def _prune(folder: Path) -> None:
    """Remove a folder that is empty except for caches of other tools."""
    with contextlib.suppress(Faults):
        if not any(_list_paths(folder)):
            shutil.rmtree(folder, ignore_errors=True)


def _list_parents(path: str) -> Iterator[str]:
    """Yield the parent folders of a file, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


@contextlib.contextmanager
def _lock(parent: Path) -> Generator[None]:
    """Lock the folders below `parent` against other runs, on systems with such locks."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(parent, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
