"""Output folders. A file `.acpgen.json` in each lists what was written and marks the folder as ours; no other folder is touched, unless
it is empty. A shared folder holds files of others too: there only the listed files are replaced or removed.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from acpgen.errors import Fault, Faults
from acpgen.files.atomic_write import (
    MANIFEST,
    hindrance,
    locked,
    put,
    read_file,
    recover,
    remove_leftovers,
    replace_folders,
    replaced,
    unwritable,
)
from acpgen.files.faults import CURRENT_FOLDER, FOREIGN_FILE, FOREIGN_FOLDER, NOT_A_FOLDER, STRAY_FILE, UNWRITABLE
from acpgen.input.load import place

Files: TypeAlias = Mapping[str, str]
"""What a folder holds: text by path, relative and with `/`."""

CACHES: Final = frozenset({"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store"})
"""What other tools leave in a folder. It goes with the old tree and is nobody's loss."""

_SEGMENT: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.@+-]+")
_QUOTED: Final = re.compile(r'"([^"\\\n]+)"')
_OURS: Final = '"generator": "acpgen"'
_FILES: Final = '"files":'


@dataclass(frozen=True, slots=True, init=False)
class Tree:
    """An output folder and all that it is to hold. No folder between `root` and it may be a link.

    A `shared` one holds files of others too: its files are written among them, and only what an earlier run wrote is replaced or removed.
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


@dataclass(frozen=True, slots=True)
class Change:
    """What a tree means for its folder: paths to write, to leave and to remove, and strays, which we did not write.

    In a `shared` folder only what stands where a file of the tree belongs is a stray.
    """

    folder: Path
    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    strays: tuple[str, ...]
    shared: bool = False

    @property
    def is_none(self) -> bool:
        """Whether the folder is as the tree says."""
        return not (self.written or self.removed or self.strays)


def is_file(path: str, text: str) -> bool:
    """Whether a path may be written in an output, and a text be encoded."""
    if path == MANIFEST or not all(_SEGMENT.fullmatch(part) for part in path.split("/")):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_behind_link(folder: Path, path: str) -> bool:
    """Whether something that is no folder stands on the way from a folder to a file in it."""
    steps = path.split("/")[:-1]
    parents = [folder.joinpath(*steps[: length + 1]) for length in range(len(steps))]
    return any(os.path.lexists(parent) and (parent.is_symlink() or not parent.is_dir()) for parent in parents)


def write(trees: Iterable[Tree], *, dry: bool = False) -> tuple[Change, ...]:
    """Make every folder hold its tree; all trees are built before the first folder changes. `dry` only looks.

    Raises `Faults` where a folder is not ours, holds strays, or cannot be written; then no folder has changed.
    """
    trees = tuple(trees)
    refused: list[Fault] = [NOT_A_FOLDER(at=_name(tree.folder)) for tree in trees if not _is_place_for_folder(tree)]
    if refused:
        raise Faults(refused)
    if dry:
        return tuple(compare(tree) for tree in trees)
    with contextlib.ExitStack() as locks:
        for parent in sorted({tree.folder.parent for tree in trees}):
            with unwritable(parent):
                parent.mkdir(parents=True, exist_ok=True)
                locks.enter_context(locked(parent))
        for tree in trees:
            if not tree.shared:
                with unwritable(tree.folder):
                    recover(tree.folder)
        changes = tuple(compare(tree) for tree in trees)
        refused = [fault for change in changes for fault in _refusals(change)]
        if refused:
            raise Faults(refused)
        pairs = [*zip(trees, changes, strict=True)]
        shared = [(tree, change, _listed(tree.folder) | tree.files.keys()) for tree, change in pairs if tree.shared]
        with replaced({path: content for each in shared for path, content in _contents(*each)}):
            replace_folders({t.folder: _encoded(t.files) for t, change in pairs if not (t.shared or change.is_none)})
        for each in shared:
            _finish(*each)
    return changes


def require_folder(tree: Tree) -> None:
    """Raise `Faults` where a folder of our own could not take a tree, whatever it holds: to make one may take minutes."""
    if not _is_place_for_folder(tree):
        raise Faults([NOT_A_FOLDER(at=_name(tree.folder))])
    reason = hindrance(tree.folder)
    if reason is not None:
        raise Faults([UNWRITABLE(at=place(tree.folder), reason=reason)])
    ours = _listed(tree.folder)
    strays = (path for path in _paths(tree.folder) if path not in ours)
    shown = tuple(strays if ours else islice(strays, 1))
    faults = list(_refusals(Change(tree.folder, (), (), removed=tuple(ours), strays=shown)))
    if faults:
        raise Faults(faults)


def is_ours(folder: Path) -> bool:
    """Whether a folder holds the manifest of an earlier run."""
    return bool(_listed(folder))


def compare(tree: Tree) -> Change:
    """What would change in a folder if it were made to hold its tree."""
    files = _encoded(tree.files)
    ours = _listed(tree.folder)
    if tree.shared:
        blocked = {path for path in {*files, *ours} if is_behind_link(tree.folder, path)}
        there = {path for path in {*files, *ours} - blocked if os.path.lexists(tree.folder / path)}
        present = {path: read_file(tree.folder / path) for path in there | (blocked & files.keys() - {MANIFEST})}
        ours -= blocked
    else:
        present = {path: read_file(tree.folder / path) for path in _paths(tree.folder)}
    written = [path for path, content in files.items() if present.get(path) != content]
    removed = [path for path in present if path not in files and path in ours]
    strays = [path for path in present if path not in ours and (path not in files or path in written)]
    return Change(
        folder=tree.folder,
        written=tuple(sorted(written)),
        unchanged=tuple(sorted(path for path in files if path not in written)),
        removed=tuple(sorted(removed)),
        strays=tuple(sorted(strays)),
        shared=tree.shared,
    )


def difference(tree: Tree, change: Change) -> Iterator[str]:
    """Lines of a unified diff from a folder to its tree."""
    files = _encoded(tree.files)
    for path in sorted({*change.written, *change.removed, *change.strays}):
        name = place(tree.folder / path)
        if path in change.strays and path not in files:
            yield f"Only in {place(tree.folder)}, and not written by acpgen: {path}"
            continue
        old = read_file(tree.folder / path)
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


def digest(folder: Path) -> str | None:
    """A hash of all that a folder holds, caches left out; `None` where there is no folder."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return None
    return _digest((path, read_file(folder / path)) for path in sorted(_paths(folder)))


def digest_of(tree: Tree) -> str:
    """The same of a folder that holds its tree."""
    return _digest(sorted(_encoded(tree.files).items()))


def _digest(files: Iterable[tuple[str, bytes | None]]) -> str:
    summary = hashlib.sha256()
    for path, content in files:
        summary.update(f"{path}\0{-1 if content is None else len(content)}\0".encode(errors="surrogateescape"))
        summary.update(content or b"")
    return summary.hexdigest()


def _is_place_for_folder(tree: Tree) -> bool:
    """Whether a folder is there or could be made, without a link on the way."""
    folder = tree.folder
    if os.path.lexists(folder) and (os.path.islink(folder) or not os.path.isdir(folder)):
        return False
    if tree.root is None:
        return True
    expected = Path(os.path.realpath(tree.root)) / folder.relative_to(tree.root)
    return Path(os.path.realpath(folder)) == expected


def _refusals(change: Change) -> Iterator[Fault]:
    """Why this change must not be made."""
    if change.shared:
        yield from (FOREIGN_FILE(at=place(change.folder / path)) for path in change.strays)
        return
    if change.strays and not _listed(change.folder):
        yield FOREIGN_FOLDER(at=_name(change.folder))
        return
    for path in change.strays:
        yield STRAY_FILE(at=place(change.folder / path))
    if not change.is_none and Path(os.path.realpath(os.curdir)).is_relative_to(os.path.realpath(change.folder)):
        yield CURRENT_FOLDER(at=_name(change.folder))


def _name(folder: Path) -> str:
    """A folder as people know it, the current one by its own name."""
    return place(folder) or folder.resolve().name


def _paths(folder: Path) -> Iterator[str]:
    """Paths of all that lies in a folder and is neither a folder nor a cache; links are not followed."""
    try:
        with os.scandir(folder) as scan:
            entries = [entry for entry in scan if entry.name not in CACHES]
    except FileNotFoundError:
        return
    except OSError as error:
        raise Faults([UNWRITABLE(at=place(folder), reason=str(error.strerror))]) from None
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from (f"{entry.name}/{path}" for path in _paths(folder / entry.name))
        else:
            yield entry.name


def _listed(folder: Path) -> frozenset[str]:
    """The files that the manifest of a folder lists, itself included; empty where it is not ours.

    The quoted words of the text are enough, so a manifest with the marks of a merge conflict still says what is ours.
    """
    text = (read_file(folder / MANIFEST) or b"").decode(errors="replace")
    words = _QUOTED.findall(text.partition(_FILES)[2])
    paths = {path for path in words if all(_SEGMENT.fullmatch(part) for part in path.split("/"))}
    return frozenset({MANIFEST, *paths}) if _OURS in text else frozenset()


def _encoded(files: Files) -> dict[str, bytes]:
    """The files and the manifest that lists them, as bytes."""
    assert MANIFEST not in files
    for path in files:
        parents = {"/".join(path.split("/")[:length]) for length in range(1, path.count("/") + 1)}
        assert all(_SEGMENT.fullmatch(part) for part in path.split("/")), f"{path!r} is no plain relative path"
        assert not parents & files.keys(), f"{path!r} lies in a file"
    return {**{path: text.encode() for path, text in files.items()}, MANIFEST: _manifest(files)}


def _manifest(paths: Iterable[str]) -> bytes:
    listed = ",\n".join(f'    "{path}"' for path in sorted(paths))
    return f"{{\n  {_OURS},\n  {_FILES} [\n{listed}\n  ]\n}}\n".encode()


# --- files among those of others -------------------------------------------------------------------------------------


def _contents(tree: Tree, change: Change, listed: Iterable[str]) -> Iterator[tuple[Path, bytes | None]]:
    """What a shared folder is to gain and to lose, first a manifest of all of it: the run after one that was killed knows it by that."""
    if change.is_none:
        return
    yield tree.folder / MANIFEST, _manifest({*listed} - {MANIFEST})
    yield from ((tree.folder / path, tree.files[path].encode()) for path in change.written if path != MANIFEST)
    yield from ((tree.folder / path, None) for path in change.removed)


def _finish(tree: Tree, change: Change, listed: Iterable[str]) -> None:
    """Drop what runs that were killed left beside files, and folders that are empty now; then the manifest says what stands."""
    remove_leftovers({(tree.folder / path).parent for path in listed if not is_behind_link(tree.folder, path)})
    for path in change.removed:
        for parent in (tree.folder / path).relative_to(tree.folder).parents[:-1]:
            with contextlib.suppress(OSError):
                (tree.folder / parent).rmdir()
    if not change.is_none:
        with unwritable(tree.folder):
            put(tree.folder / MANIFEST, _manifest(tree.files))
