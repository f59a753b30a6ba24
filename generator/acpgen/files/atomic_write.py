"""Atomic writes: files, or whole folders, are replaced together or not at all.

Single files are written beside their places and renamed over them; a failure puts back what was there. A folder that is all ours is built
beside its place and exchanged with it in one step: killed at any moment, the old one or the new one stands. Where the system cannot
exchange, two renames do, and the next run puts back what a kill between them left aside.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import stat
import sys
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from acpgen.errors import Fault, Faults, shown
from acpgen.files.faults import NOT_EMPTY, NOT_RESTORED, UNWRITABLE
from acpgen.input.load import place

MANIFEST: Final = ".acpgen.json"
"""The file that marks a folder as ours."""

_EXCHANGE: Final = 2


# --- single files ----------------------------------------------------------------------------------------------------


def replace_file(path: Path, text: str) -> None:
    """Write one small file of our own; a link is followed, a pipe or device is written to. Raises `OSError`."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def replace_files(texts: Mapping[Path, str]) -> None:
    """Write small files of our own, all of them or none; links are followed, pipes and devices written to at the end. Raises `Faults`."""
    targets = {path: Path(os.path.realpath(path)) if path.is_symlink() else path for path in texts}
    devices = [path for path, target in targets.items() if target.exists() and not target.is_file()]
    with replaced({targets[path]: text.encode() for path, text in texts.items() if path not in devices}):
        for path in devices:
            with unwritable(path):
                path.write_text(texts[path], encoding="utf-8")


def require_files(paths: Iterable[Path]) -> None:
    """Raise `Faults` where `replace_files` could not write these files: what they are to hold may take minutes."""
    faults: list[Fault] = []
    for path in paths:
        target = Path(os.path.realpath(path))
        reason = os.strerror(errno.EISDIR) if target.is_dir() else hindrance(target)
        if reason is not None:
            faults.append(UNWRITABLE(at=place(path) or ".", reason=reason))
    if faults:
        raise Faults(faults)


def hindrance(path: Path) -> str | None:
    """Why nothing can be made beside a path; `None` if something can. What is no file, such as a pipe, is written to."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        return None
    above = next(each for each in Path(os.path.abspath(path)).parents if os.path.lexists(each))
    if not above.is_dir():
        return os.strerror(errno.ENOTDIR)
    return None if os.access(above, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)


def save(folder: Path, written: Mapping[str, str], removed: Iterable[str] = ()) -> None:
    """Write and remove files of a folder that people edit, all or none. A path that is absolute is taken as it is. Raises `Faults`.

    Files whose names begin with a dot are written last: killed between two files, the base of an adoption still is the old one, and
    adopting again does the rest. What a killed run left beside files is removed when the next one in these folders has succeeded.
    """
    ordered = sorted(written, key=lambda path: (path.startswith("."), path))
    contents: dict[Path, bytes | None] = {folder / path: None for path in removed}
    contents |= {folder / path: written[path].encode() for path in ordered}
    with replaced(contents):
        pass
    remove_leftovers({at.parent for at in contents})


@contextlib.contextmanager
def replaced(contents: Mapping[Path, bytes | None]) -> Generator[None]:
    """Replace files in this order, or remove those of `None`; where that or the block fails, all are as they were. Raises `Faults`.

    All contents are on the disk beside their places before the first file changes. A link is replaced and not followed.
    """
    aside: list[Path] = []
    lost: list[Path] = []
    at = Path()

    def put_back() -> None:
        lost.extend(each for each in reversed(aside) if not _is_put_back(each))

    try:
        with contextlib.ExitStack() as undo:
            undo.callback(put_back)
            for at, content in contents.items():
                if content is not None:
                    at.parent.mkdir(parents=True, exist_ok=True)
                    _create(_beside(at, "new"), content, like=at)
            for at in contents:
                _put_aside(at)
                aside.append(at)
            for at, content in contents.items():
                if content is not None:
                    os.replace(_beside(at, "new"), at)
                else:
                    at.unlink(missing_ok=True)
            yield
            undo.pop_all()
    except OSError as error:
        left = ", ".join(shown(place(_beside(each, "old"))) for each in lost)
        fault = NOT_RESTORED(place(at), reason=str(error.strerror), left=left) if left else None
        raise Faults([fault or UNWRITABLE(place(at), reason=str(error.strerror))]) from None
    finally:
        for each in contents:
            for beside in (_beside(each, "new"), *([] if each in lost else [_beside(each, "old")])):
                with contextlib.suppress(OSError):
                    beside.unlink(missing_ok=True)


def put(path: Path, content: bytes) -> None:
    """Put a file that is on the disk in place of another. Raises `OSError`."""
    _create(_beside(path, "new"), content, like=path)
    os.replace(_beside(path, "new"), path)


def remove_leftovers(folders: Iterable[Path]) -> None:
    """Remove what runs that were killed left beside the files of folders."""
    for folder in folders:
        with contextlib.suppress(OSError):
            for left in [*folder.glob(".*.acpgen-old"), *folder.glob(".*.acpgen-new")]:
                if left.is_file() and not left.is_symlink():
                    left.unlink()


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.acpgen-{kind}")


def _put_aside(path: Path) -> None:
    """Keep what stands at a place under another name, from which it comes back without room on the disk."""
    aside = _beside(path, "old")
    aside.unlink(missing_ok=True)
    if not os.path.lexists(path):
        return
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:  # a file system without links
        _create(aside, path.read_bytes(), like=path)


def _is_put_back(path: Path) -> bool:
    """Put back what stood at a place, or nothing if nothing did; whether that could be done."""
    aside = _beside(path, "old")
    try:
        if not os.path.lexists(aside):
            path.unlink(missing_ok=True)
        elif not (os.path.lexists(path) and os.path.samestat(aside.lstat(), path.lstat())):
            os.replace(aside, path)
    except OSError:
        return False
    return True


def _create(path: Path, content: bytes, like: Path) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        with contextlib.suppress(OSError):
            os.fchmod(file.fileno(), like.stat().st_mode & 0o777)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


# --- folders ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def create_folder(folder: Path, files: Mapping[str, bytes]) -> Generator[None]:
    """A new folder with these files, made as a whole or not at all; it goes again where the block fails.

    An empty folder that is there is filled, and emptied again: somebody may stand in it, and it stays the folder that it is. So is one
    that only is a git repository, which stays too. Raises `Faults`: there is something at its place, or it cannot be written.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(_contents(folder)))):
        raise Faults([NOT_EMPTY(at=place(folder) or folder.resolve().as_posix())])
    folder = Path(os.path.abspath(folder))
    is_new, is_begun, is_whole = not folder.exists(), False, False
    staged = _staged(folder if is_new else folder / "project")
    try:
        with unwritable(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            if is_new:
                shutil.rmtree(staged, ignore_errors=True)  # of a run that was killed
            staged.mkdir()
            try:
                _write_files(staged, files)
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


def replace_folders(folders: Mapping[Path, Mapping[str, bytes]]) -> None:
    """Build all folders, then put each in the place of the one there. A failure puts back those that were done. Raises `Faults`.

    Files that stay as they are keep their identity and time. Each folder holds a manifest.
    """
    done: list[Path] = []
    at = Path()
    try:
        for at, files in folders.items():
            _build(at, files)
        _sync([path for folder in folders for path in (_staged(folder), *_staged(folder).rglob("*"))])
        for at in folders:
            _swap(_staged(at), at)
            done.append(at)
        _sync(sorted({folder.parent for folder in done}))
        for at in done:
            _mark(at)
    except OSError as error:
        for folder in reversed(done):
            with contextlib.suppress(OSError):
                _swap_back(folder)
        raise Faults([UNWRITABLE(at=place(at), reason=str(error.strerror))]) from None
    finally:
        for folder in folders:
            with contextlib.suppress(OSError):
                recover(folder)


def recover(folder: Path) -> None:
    """Finish what an earlier run left: put an old folder back where none stands, and remove what lies beside. Raises `OSError`."""
    aside = _aside(folder)
    if aside.is_dir() and not aside.is_symlink() and not folder.exists():
        os.rename(aside, folder)
    for left in (aside, _staged(folder)):
        _remove(left)


@contextlib.contextmanager
def locked(parent: Path) -> Generator[None]:
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
def unwritable(path: Path) -> Generator[None]:
    """Raise `Faults` where the block raises `OSError`."""
    try:
        yield
    except OSError as error:
        raise Faults([UNWRITABLE(at=place(path), reason=str(error.strerror))]) from None


def _staged(folder: Path) -> Path:
    """Where the new folder is built, and after an exchange the old one waits to be removed."""
    return _beside(folder, "new")


def _aside(folder: Path) -> Path:
    """Where the old folder waits between two renames."""
    return _beside(folder, "old")


def _build(folder: Path, files: Mapping[str, bytes]) -> None:
    staged = _staged(folder)
    staged.mkdir()
    _write_files(staged, {MANIFEST: files[MANIFEST]})  # first: from here on the folder is known as ours
    _write_files(staged, {path: content for path, content in files.items() if path != MANIFEST}, before=folder)
    if folder.is_dir():
        shutil.copymode(folder, staged)


def _write_files(folder: Path, files: Mapping[str, bytes], before: Path | None = None) -> None:
    """Write files into a folder; those that are as `before` are links to these."""
    for parent in sorted({str(Path(path).parent) for path in files}):
        (folder / parent).mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        if before is not None and read_file(before / path) == content:
            with contextlib.suppress(OSError):
                os.link(before / path, folder / path, follow_symlinks=False)
                continue
        (folder / path).write_bytes(content)


def read_file(path: Path) -> bytes | None:
    """The content of a regular file; `None` for anything else. Raises `Faults`."""
    try:
        return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Faults([UNWRITABLE(at=place(path), reason=str(error.strerror))]) from None


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
    """Put a staged folder in the place of another; what was there stays beside it until `recover`."""
    if not folder.exists():
        os.rename(staged, folder)
    elif not _exchange(staged, folder):
        os.rename(folder, _aside(folder))
        os.rename(staged, folder)


def _mark(folder: Path) -> None:
    """Mark the old folder of a swap: it was ours or empty, even if no manifest said so."""
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


def _remove(left: Path) -> None:
    """Remove a folder of ours, the manifest last, so that a half removed one is still known as ours."""
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
