"""Files are replaced together or not at all.

The new content of every file is on the disk beside its place before the first file changes; then each takes its place by a rename. A
failure puts back what was there. Killed at any moment, each file is the old one or the new one as a whole.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from acpgen.errors import Fault, Faults, shown
from acpgen.files.faults import NOT_EMPTY, NOT_RESTORED, UNWRITABLE
from acpgen.input.load import place


def replace_files(contents: Mapping[Path, bytes | None]) -> None:
    """Replace files in this order, or remove those of `None`; where that fails, all are as they were. A link is replaced and not followed.

    Raises `Faults`.
    """
    folders: list[Path] = []
    aside: list[Path] = []
    lost: list[Path] = []
    at = Path()

    def put_back() -> None:
        lost.extend(each for each in reversed(aside) if not _is_put_back(each))
        _discard(contents, "new")
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                folder.rmdir()

    try:
        with contextlib.ExitStack() as undo:
            undo.callback(put_back)
            for at in dict.fromkeys(path.parent for path, content in contents.items() if content is not None):
                folders += [each for each in (*reversed(at.parents), at) if not each.exists()]
                at.mkdir(parents=True, exist_ok=True)
            with ThreadPoolExecutor(max_workers=8) as pool:  # which takes a tenth of the time of one after the other
                staged = {
                    path: pool.submit(_stage, path, content)
                    for path, content in contents.items()
                    if content is not None
                }
                for at in staged:
                    staged[at].result()
            for at in contents:
                _put_aside(at)
                aside.append(at)
            for at, content in contents.items():
                if content is not None:
                    os.replace(_path_beside(at, "new"), at)
                else:
                    at.unlink(missing_ok=True)
            undo.pop_all()
    except OSError as error:
        left = ", ".join(shown(place(_path_beside(each, "old"))) for each in lost)
        fault = NOT_RESTORED(place(at), reason=str(error.strerror), left=left) if left else None
        raise Faults([fault or UNWRITABLE(place(at), reason=str(error.strerror))]) from None
    finally:
        _discard(contents, "new")
        _discard((each for each in contents if each not in lost), "old")


def remove_leftovers(folders: Iterable[Path]) -> None:
    """Remove what runs that were killed left beside the files of folders."""
    for folder in folders:
        with contextlib.suppress(OSError):
            for left in folder.glob(".*.acpgen-*"):
                if is_leftover(left.name) and left.is_file() and not left.is_symlink():
                    left.unlink()


def is_leftover(name: str) -> bool:
    """Whether a name is one under which content waits beside its place."""
    return name.startswith(".") and name.endswith((".acpgen-new", ".acpgen-old"))


def _path_beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.acpgen-{kind}")


def _discard(paths: Iterable[Path], kind: str) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            _path_beside(path, kind).unlink(missing_ok=True)


def _stage(path: Path, content: bytes, kind: str = "new") -> None:
    """Bring content to the disk beside its place, with the mode of what stands there."""
    beside = _path_beside(path, kind)
    beside.unlink(missing_ok=True)
    with beside.open("xb") as file:
        with contextlib.suppress(OSError):
            os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _put_aside(path: Path) -> None:
    """Keep what stands at a place under another name, from which it comes back without room on the disk."""
    aside = _path_beside(path, "old")
    aside.unlink(missing_ok=True)
    if not os.path.lexists(path):
        return
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:  # a file system without links
        _stage(path, path.read_bytes(), "old")


def _is_put_back(path: Path) -> bool:
    """Put back what stood at a place, or nothing if nothing did; whether that could be done."""
    aside = _path_beside(path, "old")
    try:
        if not os.path.lexists(aside):
            path.unlink(missing_ok=True)
        elif not (os.path.lexists(path) and os.path.samestat(aside.lstat(), path.lstat())):
            os.replace(aside, path)
    except OSError:
        return False
    return True


# --- files that people name or edit ----------------------------------------------------------------------------------


def write_reports(texts: Mapping[Path, str]) -> None:
    """Write files that a user named, all of them or none; links are followed, pipes and devices written to. Raises `Faults`."""
    targets = {path: Path(os.path.realpath(path)) if path.is_symlink() else path for path in texts}
    devices = {path for path, target in targets.items() if target.exists() and not target.is_file()}
    for path in devices:
        with unwritable(path):
            path.write_text(texts[path], encoding="utf-8")
    replace_files({targets[path]: text.encode() for path, text in texts.items() if path not in devices})


def require_files(paths: Iterable[Path]) -> None:
    """Raise `Faults` where `write_reports` could not write these files: what they are to hold may take minutes."""
    faults: list[Fault] = []
    for path in paths:
        target = Path(os.path.realpath(path))
        reason = os.strerror(errno.EISDIR) if target.is_dir() else find_hindrance(target)
        if reason is not None:
            faults.append(UNWRITABLE(at=place(path) or ".", reason=reason))
    if faults:
        raise Faults(faults)


def find_hindrance(path: Path) -> str | None:
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
    adopting again does the rest.
    """
    ordered = sorted(written, key=lambda path: (path.startswith("."), path))
    contents: dict[Path, bytes | None] = {folder / path: None for path in removed}
    contents |= {folder / path: written[path].encode() for path in ordered}
    replace_files(contents)
    remove_leftovers({at.parent for at in contents})


@contextlib.contextmanager
def create_folder(folder: Path, files: Mapping[str, bytes]) -> Generator[None]:
    """A folder with these files; where that or the block fails, it is gone, or as empty as it was. It may be there if it holds nothing, or
    a git repository without files. Raises `Faults`: there is something at its place, or it cannot be written.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(_contents(folder)))):
        raise Faults([NOT_EMPTY(at=place(folder) or folder.resolve().as_posix())])
    folder = Path(os.path.abspath(folder))
    is_new = not folder.exists()
    replace_files({folder / path: content for path, content in files.items()})
    with contextlib.ExitStack() as undo:
        undo.callback(_empty, folder, is_removed=is_new)
        yield
        undo.pop_all()


def _contents(folder: Path) -> list[Path]:
    """What a folder holds, but for its git repository."""
    return [entry for entry in folder.iterdir() if entry.name != ".git"]


def _empty(folder: Path, *, is_removed: bool) -> None:
    for entry in _contents(folder):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    if is_removed:
        folder.rmdir()


@contextlib.contextmanager
def unwritable(path: Path) -> Generator[None]:
    """Raise `Faults` where the block raises `OSError`."""
    try:
        yield
    except OSError as error:
        raise Faults([UNWRITABLE(at=place(path), reason=str(error.strerror))]) from None
