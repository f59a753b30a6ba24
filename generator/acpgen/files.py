"""The one writer. An output folder is replaced as a whole or not at all: killed at any moment, the old tree or the new one stands.

The new tree is built beside the folder, brought to the disk, and exchanged with it in one step. Where the system cannot exchange,
two renames do, and the next run puts back what a kill between them left aside. A file `.acpgen.json` in the tree lists what was
written and marks the folder as ours; no other folder is ever touched, unless it is empty.
"""

from __future__ import annotations

import contextlib
import ctypes
import difflib
import errno
import hashlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from acpgen.among import Placing, is_behind_link, placed
from acpgen.errors import (
    CurrentFolder,
    Fault,
    Faults,
    ForeignFile,
    ForeignFolder,
    NotAFolder,
    NotEmpty,
    StrayFile,
    Unwritable,
)
from acpgen.input.load import place

Files: TypeAlias = Mapping[str, str]
"""What a folder holds: text by path, relative and with `/`."""

MANIFEST: Final = ".acpgen.json"
CACHES: Final = frozenset({"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store"})
"""What other tools leave in a folder. It goes with the old tree and is nobody's loss."""

_SEGMENT: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.@+-]+")
_QUOTED: Final = re.compile(r'"([^"\\\n]+)"')
_OURS: Final = '"generator": "acpgen"'
_FILES: Final = '"files":'
_EXCHANGE: Final = 2


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


def write(trees: Iterable[Tree], *, dry: bool = False) -> tuple[Change, ...]:
    """Make every folder hold its tree; all trees are built before the first folder changes. `dry` only looks.

    Raises `Faults` where a folder is not ours, holds strays, or cannot be written; then no folder has changed.
    """
    trees = tuple(trees)
    refused: list[Fault] = [
        NotAFolder(at=place(tree.folder) or ".") for tree in trees if not _is_place_for_folder(tree)
    ]
    if refused:
        raise Faults(refused)
    if dry:
        return tuple(compare(tree) for tree in trees)
    with contextlib.ExitStack() as locks:
        for parent in sorted({tree.folder.parent for tree in trees}):
            with _unwritable(parent):
                parent.mkdir(parents=True, exist_ok=True)
                locks.enter_context(_locked(parent))
        for tree in trees:
            with _unwritable(tree.folder):
                if not tree.shared:
                    _recover(tree.folder)
        changes = tuple(compare(tree) for tree in trees)
        refused = [fault for change in changes for fault in _refusals(change)]
        if refused:
            raise Faults(refused)
        changing = [tree for tree, change in zip(trees, changes, strict=True) if not change.is_none]
        try:
            with placed(_placing(tree) for tree in changing if tree.shared):
                _replace([tree for tree in changing if not tree.shared])
        except OSError as error:
            at = next((tree.folder for tree in changing if tree.shared), Path())
            raise Faults([Unwritable(at=place(Path(error.filename or at)), reason=str(error.strerror))]) from None
    return changes


def require_folder(tree: Tree) -> None:
    """Raise `Faults` where a folder of our own could not take a tree, whatever it holds: to make one may take minutes."""
    if not _is_place_for_folder(tree):
        raise Faults([NotAFolder(at=place(tree.folder) or ".")])
    reason = _hindrance(tree.folder)
    if reason is not None:
        raise Faults([Unwritable(at=place(tree.folder), reason=reason)])
    ours = _listed(tree.folder)
    strays = (path for path in _paths(tree.folder) if path not in ours)
    found = tuple(strays if ours else islice(strays, 1))
    faults = list(_refusals(Change(tree.folder, (), (), removed=tuple(ours), strays=found)))
    if faults:
        raise Faults(faults)


def is_ours(folder: Path) -> bool:
    """Whether a folder holds the manifest of an earlier run."""
    return bool(_listed(folder))


def require_files(paths: Iterable[Path]) -> None:
    """Raise `Faults` where `replace_files` could not write these files: what they are to hold may take minutes."""
    faults: list[Fault] = []
    for path in paths:
        target = Path(os.path.realpath(path))
        reason = os.strerror(errno.EISDIR) if target.is_dir() else _hindrance(target)
        if reason is not None:
            faults.append(Unwritable(at=place(path) or ".", reason=reason))
    if faults:
        raise Faults(faults)


def _hindrance(path: Path) -> str | None:
    """Why nothing can be made beside a path; `None` if something can. What is no file, such as a pipe, is written to."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        return None
    above = next(each for each in Path(os.path.abspath(path)).parents if os.path.lexists(each))
    if not above.is_dir():
        return os.strerror(errno.ENOTDIR)
    return None if os.access(above, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)


def compare(tree: Tree) -> Change:
    """What would change in a folder if it were made to hold its tree."""
    files = _with_manifest(tree.files)
    ours = _listed(tree.folder)
    if tree.shared:
        blocked = {path for path in {*files, *ours} if is_behind_link(tree.folder, path)}
        there = {path for path in {*files, *ours} - blocked if os.path.lexists(tree.folder / path)}
        present = {path: _read(tree.folder / path) for path in there | (blocked & files.keys() - {MANIFEST})}
        ours -= blocked
    else:
        present = {path: _read(tree.folder / path) for path in _paths(tree.folder)}
    written = [path for path, text in files.items() if present.get(path) != text.encode()]
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
    files = _with_manifest(tree.files)
    for path in sorted({*change.written, *change.removed, *change.strays}):
        name = place(tree.folder / path)
        if path in change.strays and path not in files:
            yield f"Only in {place(tree.folder)}, and not written by acpgen: {path}"
            continue
        old = _read(tree.folder / path)
        before = "" if old is None else old.decode(errors="replace")
        after = files.get(path, "")
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
    return _digest((path, _read(folder / path)) for path in sorted(_paths(folder)))


def digest_of(tree: Tree) -> str:
    """The same of a folder that holds its tree."""
    return _digest((path, text.encode()) for path, text in sorted(_with_manifest(tree.files).items()))


def _digest(files: Iterable[tuple[str, bytes | None]]) -> str:
    summary = hashlib.sha256()
    for path, content in files:
        summary.update(f"{path}\0{-1 if content is None else len(content)}\0".encode(errors="surrogateescape"))
        summary.update(content or b"")
    return summary.hexdigest()


@contextlib.contextmanager
def created(folder: Path, files: Mapping[str, bytes]) -> Generator[None]:
    """A new folder with these files, made as a whole or not at all; it goes again where the block fails.

    An empty folder that is there is filled, and emptied again: somebody may stand in it, and it stays the folder that it is. So is one
    that only is a git repository, which stays too. Raises `Faults`: there is something at its place, or it cannot be written.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(_contents(folder)))):
        raise Faults([NotEmpty(at=place(folder) or folder.resolve().as_posix())])
    folder = Path(os.path.abspath(folder))
    is_new, is_begun, is_whole = not folder.exists(), False, False
    staged = _staged(folder if is_new else folder / "project")
    try:
        with _unwritable(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            if is_new:
                shutil.rmtree(staged, ignore_errors=True)  # of a run that was killed
            staged.mkdir()
            try:
                for path, content in files.items():
                    (staged / path).parent.mkdir(parents=True, exist_ok=True)
                    _create(staged / path, content)
                if is_new:
                    os.rename(staged, folder)
                    is_begun = True
                else:
                    is_begun = True
                    for entry in sorted(staged.iterdir()):
                        os.rename(entry, folder / entry.name)
            finally:
                shutil.rmtree(staged, ignore_errors=True)
        yield
        is_whole = True
    finally:
        if is_begun and not is_whole:
            _empty(folder)
            if is_new:
                folder.rmdir()


def _contents(folder: Path) -> list[Path]:
    """What a folder holds, but for its git repository."""
    return [entry for entry in folder.iterdir() if entry.name != ".git"]


def _empty(folder: Path) -> None:
    """Remove what a folder holds, and leave the folder and its git repository."""
    for entry in _contents(folder):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def replace_file(path: Path, text: str) -> None:
    """Write one small file of our own, whole or not at all. What is no file, such as a pipe, is written to. Raises `OSError`."""
    with contextlib.ExitStack() as stack:
        _replacing(path, text, stack)()


def replace_files(texts: Mapping[Path, str]) -> None:
    """Write small files of our own, all of them whole or none; pipes and devices last. Raises `Faults`."""
    at = ""
    try:
        with contextlib.ExitStack() as stack:
            steps: list[tuple[str, Callable[[], object]]] = []
            for path, text in sorted(texts.items(), key=lambda each: each[0].exists() and not each[0].is_file()):
                at = place(path)
                steps.append((at, _replacing(path, text, stack)))
            for name, step in steps:
                at = name
                step()
    except OSError as error:
        raise Faults([Unwritable(at=at, reason=str(error.strerror))]) from None


def _replacing(path: Path, text: str, stack: contextlib.ExitStack) -> Callable[[], object]:
    """Write a file's new content beside it, and return the step that puts it in place. Raises `OSError`."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return partial(target.write_text, text, encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    stack.callback(beside.unlink, missing_ok=True)
    beside.write_text(text, encoding="utf-8")
    return partial(os.replace, beside, target)


# --- what is there ---------------------------------------------------------------------------------------------------


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
    at = place(change.folder)
    if change.shared:
        yield from (ForeignFile(at=place(change.folder / path)) for path in change.strays)
        return
    if change.strays and not _listed(change.folder):
        yield ForeignFolder(at=at or ".")
        return
    for path in change.strays:
        yield StrayFile(at=place(change.folder / path))
    if not change.is_none and Path(os.path.realpath(os.curdir)).is_relative_to(os.path.realpath(change.folder)):
        yield CurrentFolder(at=at or ".")


def _paths(folder: Path) -> Iterator[str]:
    """Paths of all that lies in a folder and is neither a folder nor a cache; links are not followed."""
    try:
        with os.scandir(folder) as scan:
            entries = [entry for entry in scan if entry.name not in CACHES]
    except FileNotFoundError:
        return
    except OSError as error:
        raise Faults([Unwritable(at=place(folder), reason=str(error.strerror))]) from None
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from (f"{entry.name}/{path}" for path in _paths(folder / entry.name))
        else:
            yield entry.name


def _read(path: Path) -> bytes | None:
    """The content of a regular file; `None` for anything else."""
    try:
        return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Faults([Unwritable(at=place(path), reason=str(error.strerror))]) from None


def _listed(folder: Path) -> frozenset[str]:
    """The files that the manifest of a folder lists, itself included; empty where it is not ours.

    The quoted words of the text are enough, so a manifest with the marks of a merge conflict still says what is ours.
    """
    text = (_read(folder / MANIFEST) or b"").decode(errors="replace")
    words = _QUOTED.findall(text.partition(_FILES)[2])
    paths = {path for path in words if all(_SEGMENT.fullmatch(part) for part in path.split("/"))}
    return frozenset({MANIFEST, *paths}) if _OURS in text else frozenset()


def _with_manifest(files: Files) -> dict[str, str]:
    """The files and the manifest that lists them."""
    assert MANIFEST not in files
    for path in files:
        parents = {"/".join(path.split("/")[:length]) for length in range(1, path.count("/") + 1)}
        assert all(_SEGMENT.fullmatch(part) for part in path.split("/")), f"{path!r} is no plain relative path"
        assert not parents & files.keys(), f"{path!r} lies in a file"
    return {**files, MANIFEST: _manifest(files)}


def _manifest(paths: Iterable[str]) -> str:
    listed = ",\n".join(f'    "{path}"' for path in sorted(paths))
    return f"{{\n  {_OURS},\n  {_FILES} [\n{listed}\n  ]\n}}\n"


def _placing(tree: Tree) -> Placing:
    """What a shared folder is to gain and to lose."""
    change, files = compare(tree), _with_manifest(tree.files)
    before = _listed(tree.folder) - {MANIFEST}
    written = {path: files[path] for path in change.written if path != MANIFEST}
    listed = tuple(sorted({*before, *tree.files}))
    return Placing(tree.folder, MANIFEST, _manifest(listed), files[MANIFEST], written, change.removed, listed)


# --- replacing -------------------------------------------------------------------------------------------------------


def _staged(folder: Path) -> Path:
    """Where the new tree is built, and after an exchange the old tree waits to be removed."""
    return folder.with_name(f".{folder.name}.acpgen-new")


def _aside(folder: Path) -> Path:
    """Where the old tree waits between two renames."""
    return folder.with_name(f".{folder.name}.acpgen-old")


def _replace(trees: list[Tree]) -> None:
    """Build all trees, then put each in the place of its folder. A failure puts back those that were done."""
    done: list[Path] = []
    at = Path()
    try:
        for tree in trees:
            at = tree.folder
            _build(tree)
        _sync([path for tree in trees for path in (_staged(tree.folder), *_staged(tree.folder).rglob("*"))])
        for tree in trees:
            at = tree.folder
            _swap(_staged(at), at)
            done.append(at)
        _sync(sorted({folder.parent for folder in done}))
        for folder in done:
            at = folder
            _mark(folder)
    except OSError as error:
        for folder in reversed(done):
            with contextlib.suppress(OSError):
                _swap_back(folder)
        raise Faults([Unwritable(at=place(at), reason=str(error.strerror))]) from None
    finally:
        for tree in trees:
            with contextlib.suppress(OSError):
                _recover(tree.folder)


def _build(tree: Tree) -> None:
    """Write a tree beside its folder. Files that stay as they are keep their identity and time."""
    staged, folder = _staged(tree.folder), tree.folder
    files = _with_manifest(tree.files)
    staged.mkdir()
    _create(staged / MANIFEST, files[MANIFEST].encode())  # first: from here on the folder is known as ours
    for parent in sorted({str(Path(path).parent) for path in files} - {"."}):
        (staged / parent).mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        if path == MANIFEST:
            continue
        content = text.encode()
        if _read(folder / path) == content:
            with contextlib.suppress(OSError):
                os.link(folder / path, staged / path, follow_symlinks=False)
                continue
        _create(staged / path, content)
    if folder.is_dir():
        shutil.copymode(folder, staged)


def _create(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)


def _sync(paths: Sequence[Path]) -> None:
    """Bring files and folders to the disk; together, which takes a tenth of the time that it takes one by one."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=8) as pool:
        for _ in pool.map(_sync_one, paths):
            pass


def _sync_one(path: Path) -> None:
    if sys.platform == "win32" and path.is_dir():  # a folder cannot be opened there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _swap(staged: Path, folder: Path) -> None:
    """Put a staged tree in the place of a folder; what was there stays beside it until `_recover`."""
    if not folder.exists():
        os.rename(staged, folder)
    elif not _exchange(staged, folder):
        os.rename(folder, _aside(folder))
        os.rename(staged, folder)


def _mark(folder: Path) -> None:
    """Mark the old tree of a swap: it was ours or empty, even if no manifest said so."""
    for old in (_staged(folder), _aside(folder)):
        if old.exists():
            (old / MANIFEST).touch()


def _swap_back(folder: Path) -> None:
    if _aside(folder).exists():
        os.rename(folder, _staged(folder))
        os.rename(_aside(folder), folder)
    elif _staged(folder).exists():
        _exchange(_staged(folder), folder)
    else:
        os.rename(folder, _staged(folder))


def _exchange(one: Path, other: Path) -> bool:
    """Let two paths change places in one step; false where the system cannot."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
    if renameat2 is None:
        return False
    here = ctypes.c_int(-100)
    if renameat2(here, os.fsencode(one), here, os.fsencode(other), ctypes.c_uint(_EXCHANGE)) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(one))


def _recover(folder: Path) -> None:
    """Finish what an earlier run left: put an old tree back where no tree stands, and remove what lies beside."""
    aside = _aside(folder)
    if aside.is_dir() and not aside.is_symlink() and not folder.exists():
        os.rename(aside, folder)
    for left in (aside, _staged(folder)):
        _remove(left)


def _remove(left: Path) -> None:
    """Remove a tree of ours, the manifest last, so that a half removed one is still known as ours."""
    if left.is_symlink() or not left.is_dir():
        return
    names = [name for name in os.listdir(left) if name != MANIFEST]
    if names and not (left / MANIFEST).is_file():
        raise FileExistsError(errno.EEXIST, f"the folder {left.name!r} beside it is in the way")
    for name in names:
        path = left / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    (left / MANIFEST).unlink(missing_ok=True)
    left.rmdir()


@contextlib.contextmanager
def _locked(parent: Path) -> Generator[None]:
    """Keep other runs out of the folders below `parent`, where the system knows such locks."""
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


@contextlib.contextmanager
def _unwritable(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise Faults([Unwritable(at=place(folder), reason=str(error.strerror))]) from None
