"""Replace files together or not at all.

The new content of every file is written to disk beside its target before the first file changes; then each is renamed to its target. On
failure, the previous files are restored. If the process is killed at any moment, each file is either the old one or the new one,
complete.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path

from acpgen.errors import Fault, Faults, show
from acpgen.files.faults import NOT_EMPTY, NOT_RESTORED, UNWRITABLE
from acpgen.input.load import display_path


def replace_files(contents: Mapping[Path, bytes | None]) -> None:
    """Replace files in this order, and remove those whose content is `None`; on failure, restore all of them.

    A symbolic link is replaced, not followed. Raises `Faults`.
    """
    if not contents:
        return
    from concurrent.futures import ThreadPoolExecutor  # many commands write nothing

    folders: list[Path] = []
    aside: list[Path] = []
    unrestored_paths: list[Path] = []
    at = Path()

    def put_back() -> None:
        unrestored_paths.extend(path for path in reversed(aside) if not _is_put_back(path))
        _discard(contents, "new")
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                folder.rmdir()

    try:
        with contextlib.ExitStack() as undo:
            undo.callback(put_back)
            for at in dict.fromkeys(path.parent for path, content in contents.items() if content is not None):
                folders += [path for path in (*reversed(at.parents), at) if not path.exists()]
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
                    os.replace(_name_beside(at, "new"), at)
                else:
                    at.unlink(missing_ok=True)
            undo.pop_all()
    except OSError as error:
        backups = ", ".join(show(display_path(_name_beside(path, "old"))) for path in unrestored_paths)
        fault = NOT_RESTORED(display_path(at), reason=str(error.strerror), left=backups) if backups else None
        raise Faults([fault or UNWRITABLE(display_path(at), reason=str(error.strerror))]) from None
    finally:
        _discard(contents, "new")
        _discard((path for path in contents if path not in unrestored_paths), "old")


def remove_leftovers(folders: Iterable[Path]) -> None:
    """Remove the temporary files that killed runs left in folders."""
    for folder in folders:
        with contextlib.suppress(OSError):
            for leftover in folder.glob(".*.acpgen-*"):
                if is_leftover(leftover.name) and leftover.is_file() and not leftover.is_symlink():
                    leftover.unlink()


def is_leftover(name: str) -> bool:
    """Whether a name is that of a temporary file beside a target."""
    return name.startswith(".") and name.endswith((".acpgen-new", ".acpgen-old"))


def _name_beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.acpgen-{kind}")


def _discard(paths: Iterable[Path], kind: str) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            _name_beside(path, kind).unlink(missing_ok=True)


def _stage(path: Path, content: bytes, kind: str = "new") -> None:
    """Write content to disk beside its target, with the mode of the existing file."""
    beside = _name_beside(path, kind)
    beside.unlink(missing_ok=True)
    with beside.open("xb") as file:
        with contextlib.suppress(OSError):
            os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _put_aside(path: Path) -> None:
    """Keep the existing file under another name, from which it can be restored without disk space."""
    aside = _name_beside(path, "old")
    aside.unlink(missing_ok=True)
    if not os.path.lexists(path):
        return
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:  # a file system without links
        _stage(path, path.read_bytes(), "old")


def _is_put_back(path: Path) -> bool:
    """Restore what was at a path, or remove the file if nothing was there; return whether that succeeded."""
    aside = _name_beside(path, "old")
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
    """Write files that the user named, all of them or none; links are followed, pipes and devices written to. Raises `Faults`."""
    targets = {path: Path(os.path.realpath(path)) if path.is_symlink() else path for path in texts}
    devices = {path for path, target in targets.items() if target.exists() and not target.is_file()}
    for path in devices:
        with report_unwritable(path):
            path.write_text(texts[path], encoding="utf-8")
    replace_files({targets[path]: text.encode() for path, text in texts.items() if path not in devices})


def require_files(paths: Iterable[Path]) -> None:
    """Raise `Faults` if `write_reports` could not write these files: a check before their content is computed, which may take minutes."""
    faults: list[Fault] = []
    for path in paths:
        target = Path(os.path.realpath(path))
        reason = os.strerror(errno.EISDIR) if target.is_dir() else find_hindrance(target)
        if reason is not None:
            faults.append(UNWRITABLE(at=display_path(path) or ".", reason=reason))
    if faults:
        raise Faults(faults)


def find_hindrance(path: Path) -> str | None:
    """The reason why no file can be created beside a path; `None` if one can, or if the path is a pipe or device."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        return None
    above = next(parent for parent in Path(os.path.abspath(path)).parents if os.path.lexists(parent))
    if not above.is_dir():
        return os.strerror(errno.ENOTDIR)
    return None if os.access(above, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)


def save(folder: Path, texts: Mapping[str, str], removed: Iterable[str] = ()) -> None:
    """Write and remove files of a folder that users edit, all or none. An absolute path is not joined to the folder. Raises `Faults`.

    Files whose names begin with a dot are written last: if the run is killed between two files, the merge base of an adoption is still
    the old one, and adopting again does the rest.
    """
    ordered = sorted(texts, key=lambda path: (path.startswith("."), path))
    contents: dict[Path, bytes | None] = {folder / path: None for path in removed}
    contents |= {folder / path: texts[path].encode() for path in ordered}
    replace_files(contents)
    remove_leftovers({at.parent for at in contents})


@contextlib.contextmanager
def create_folder(folder: Path, files: Mapping[str, bytes]) -> Generator[None]:
    """Create a folder with these files; if that or the block fails, the folder is removed, or emptied if it existed.

    It may exist if it is empty or holds only a `.git` entry. Raises `Faults` if something else is there, or if it cannot be written.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(_list_contents(folder)))):
        raise Faults([NOT_EMPTY(at=display_path(folder) or folder.resolve().as_posix())])
    folder = Path(os.path.abspath(folder))
    is_new = not folder.exists()
    replace_files({folder / path: content for path, content in files.items()})
    with contextlib.ExitStack() as undo:
        undo.callback(_empty, folder, is_removed=is_new)
        yield
        undo.pop_all()


def _list_contents(folder: Path) -> list[Path]:
    """The entries of a folder except `.git`."""
    return [entry for entry in folder.iterdir() if entry.name != ".git"]


def _empty(folder: Path, *, is_removed: bool) -> None:
    for entry in _list_contents(folder):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    if is_removed:
        folder.rmdir()


@contextlib.contextmanager
def report_unwritable(path: Path) -> Generator[None]:
    """Raise `Faults` if the block raises `OSError`."""
    try:
        yield
    except OSError as error:
        raise Faults([UNWRITABLE(at=display_path(path), reason=str(error.strerror))]) from None
